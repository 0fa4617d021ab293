/*
 * Inside the room: the images of a bundle's code. Code of a CPU is joined as bytes. A device's code is joined by its
 * back end, since a driver builds one program sooner than many. Then Fns of two Tasks need two names.
 */
#ifndef COMPILE_IMAGES_H
#define COMPILE_IMAGES_H

#include "codegen/codegen.h"
#include "compile/bundle_write.h"

/* Code of all Tasks for one target. */
typedef struct Variant {
	const Target *target;
	Module *module; /* of each Task */
} Variant;

/* Puts what a device should take first to the front: the code for the most features. */
void images_sort(Variant *v, int nv);
/* Adds the features of all variants, and a row of each where there are several. */
void images_put_features(BundleOut *out, const Variant *v, int nv);
/*
 * Adds the images of n Tasks for each variant. Their kernels must be the same; first[k]: the entry that the first one
 * of Task k becomes.
 */
bool images_put(BundleOut *out, const Variant *v, int nv, int n, uint32_t *first, Err *err);

/* The entry of an image that run Fn `fn` of the set begins with. */
uint32_t images_entry(const DlcImage *image, const KernelSet *ks, const char *fn);

#endif
