/*
 * Writes bundles for tests, table by table; nothing is checked, so wrong ones can be written too.
 */
#ifndef TESTS_RUNTIME_BUILD_H
#define TESTS_RUNTIME_BUILD_H

#include "runtime/bundle.h"

enum { BUILD_ROWS = 8192, BUILD_TEXT = 65536 };

typedef struct Build {
	BundleHeader h; /* sizes of arena and state, threads, arch: the test's to change */
	char text[BUILD_TEXT];
	BundleInfo info[16];
	uint32_t feature[16];
	BundleSym sym[16];
	BundleDim dim[BUILD_ROWS];
	BundleTensor tensor[16];
	BundleImage image[4];
	BundleEntry entry[16];
	DlcLaunch launch[16];
	BundleSlot slot[64];
	uint32_t arg[BUILD_ROWS];
	BundleOp op[BUILD_ROWS];
	BundleVariant variant[4];
	const char *source; /* an image for a driver instead of the test kernels' machine code; or NULL */
	unsigned char constant[4096];
} Build;

/* An empty one for this machine, with the test kernels as entries; freed with free(). */
Build *build_new(void);
uint32_t build_text(Build *b, const char *text);
uint32_t build_const(Build *b, int64_t value); /* a dim */
uint32_t build_dim(Build *b, int sym, int64_t mul, int64_t add, int64_t div);
uint32_t build_sym(Build *b, const char *name, int kind, int64_t min, int64_t max, uint32_t dim);
/* An f32 tensor of ndim dims, the first of which is row `dim`. */
uint32_t build_tensor(Build *b, const char *name, int output, uint32_t ndim, uint32_t dim);
uint32_t build_slot(Build *b, uint32_t kind, uint32_t index, int64_t offset, uint64_t bytes);
/* A step; slots and dims are copied, dims as values of constants. */
BundleOp *build_call(Build *b, int kernel, const uint32_t *slot, const int64_t *sym);
BundleOp *build_op(Build *b, uint32_t kind, const char *name);
void build_arg(Build *b, BundleOp *o, uint32_t slot);
/* Lays it out and sums it; 64-byte aligned, freed with free(). */
unsigned char *build_finish(Build *b, size_t *size);
/* Sums a changed bundle anew, as far as its header makes sense. */
void build_resum(unsigned char *bytes, size_t size);

/* out = a + b of `n` floats each, through workspace: t = a + b, out = t + c, c constant ones. */
Build *build_add(int64_t n);
/* Then another output, more = a + 1. */
Build *build_add_more(int64_t n);

#endif
