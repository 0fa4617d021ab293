/*
 * Writes the file that src/runtime/bundle.h describes. Tables grow in the arena; texts and
 * constant dims are shared; finish lays out the sections and sums them. The bytes depend on
 * nothing but what was added, and with `constants`, whose offsets it has, on what these held already.
 */
#ifndef COMPILE_BUNDLE_WRITE_H
#define COMPILE_BUNDLE_WRITE_H

#include "base/map.h"
#include "base/text.h"
#include "compile/constants.h"
#include "runtime/bundle.h"

typedef struct BundleConst {
	const void *data;
	uint64_t offset, bytes;
} BundleConst;

typedef struct BundleOut {
	Arena *arena;
	Map texts, dims, slots; /* rows that are shared: a text's offset, the dim of a value, the slot of its bytes */
	VEC(char) text;
	VEC(BundleInfo) info;
	VEC(uint32_t) feature;
	VEC(BundleDim) dim;
	VEC(BundleTensor) tensor;
	VEC(BundleImage) image;
	VEC(BundleEntry) entry;
	VEC(DlcLaunch) launch;
	VEC(BundleSlot) slot;
	VEC(uint32_t) arg;
	VEC(BundleOp) op;
	VEC(BundleVariant) variant; /* none: there is one */
	VEC(unsigned char) code;
	uint64_t const_bytes;
	VEC(BundleConst) constant;
	Constants *constants; /* where the constants lie; NULL: in the bundle's own file */
	bool full;            /* they found no memory there */
} BundleOut;

BundleOut *bundle_out_new(Arena *a);
uint32_t bundle_text(BundleOut *b, const char *s);
uint32_t bundle_dim(BundleOut *b, int64_t value);
/* n consecutive dims, as tensors and calls want them; the first one's index. */
uint32_t bundle_dims(BundleOut *b, const int64_t *value, int n);
void bundle_info(BundleOut *b, const char *key, const char *value);
/* A slot of `bytes` at `offset` of its kind's memory; its index. */
uint32_t bundle_slot(BundleOut *b, uint32_t kind, uint32_t index, uint64_t offset, uint64_t bytes);
/* Puts data (borrowed until finish) into the constants and gives its slot. */
uint32_t bundle_const(BundleOut *b, const void *data, uint64_t bytes);
/*
 * Appends an image, at a multiple of `align`, and its entries. Images of machine code become one, as a reader maps
 * them.
 */
void bundle_code(BundleOut *b, const DlcImage *image, uint64_t align);

/* Appends the image of a further variant of a device's code, whose entries are those that bundle_code added. */
void bundle_code_again(BundleOut *b, const DlcImage *image);

typedef struct BundleFacts {
	uint32_t arch, device, threads;
	uint64_t arena_bytes, state_bytes;
} BundleFacts;

/*
 * The file: *size bytes, in the arena, 64-byte aligned. With `constants` it ends before them and has no checksum of
 * them; its header counts all bytes of theirs.
 */
unsigned char *bundle_finish(BundleOut *b, const BundleFacts *facts, size_t *size);

#endif
