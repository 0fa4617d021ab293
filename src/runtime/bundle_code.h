/*
 * Rows of a bundle's tables that are about its code: images, variants of them, kernels in them. See runtime/bundle.h.
 */
#ifndef RUNTIME_BUNDLE_CODE_H
#define RUNTIME_BUNDLE_CODE_H

#include <stdint.h>

/* A CPU's code is one image, which is all of the code. */
typedef struct BundleImage {
	uint64_t offset, bytes; /* offset: in the code, a multiple of BUNDLE_BUFFER */
} BundleImage;

/*
 * Code for one architecture of the device. A reader takes the first variant whose features the device has and whose
 * images it loads, so the best stands first. All have the same number of images, one variant's after the other's.
 */
typedef struct BundleVariant {
	uint32_t name;              /* text: the target that the code is for */
	uint32_t feature, nfeature; /* rows of feature */
	uint32_t zero;
} BundleVariant;

typedef struct BundleEntry {
	uint32_t name, nbuf, nsym, image; /* name: of the kernel in its image; image: among those of a variant */
	uint64_t offset, work_bytes;      /* in the image; per thread */
	uint32_t launch; /* 1 + its row, whose symbols are numbers of arguments < nsym; 0: a team enters the kernel */
	uint32_t zero;
} BundleEntry;

#endif
