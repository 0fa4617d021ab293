/*
 * The bundle file (.dlcb): a compiled network that is mapped, checked and run, never parsed.
 *
 *     head       at 0: BundleHeader, then its tables and texts        checksum at every load
 *     code       at a multiple of BUNDLE_ALIGN: images (kernel.h)     checksum at every load
 *     constants  at a multiple of BUNDLE_ALIGN                        checksum when asked for
 *
 * Everything is little-endian and fixed in width.  A table is an array inside the head, its offset a multiple of 8
 * from the start of the file.  Rows name rows of other tables by index, texts by their offset in the text table,
 * which ends with a 0.  bundle_check() refuses every index, offset and count that leads outside, so that what runs
 * afterwards need not look again.  The gaps are zero.
 *
 * A writer fills the tables, lays the sections out, sums code and constants, and the head last.
 */
#ifndef RUNTIME_BUNDLE_H
#define RUNTIME_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/bundle_code.h"
#include "runtime/kernel.h"

#define BUNDLE_MAGIC "\211DLCB\r\n\032" /* 8 bytes; a transfer in text mode breaks it */

enum {
	BUNDLE_VERSION = 3,       /* with variants; a bundle without has the first version */
	BUNDLE_FIRST_VERSION = 2, /* its header ends before `variant` */
	BUNDLE_ALIGN = 65536, /* of code and constants in the file: the largest page in use */
	BUNDLE_BUFFER = DLC_CALL_ALIGN, /* of every buffer that a kernel sees */
	BUNDLE_RANK = 16,     /* dimensions of a tensor, at most */
	BUNDLE_DEPTH = 16,    /* loops and ifs inside each other, at most */
	BUNDLE_SUM_FROM = 16, /* head_sum covers the head from this offset (version) on */
};

enum { BUNDLE_ANY = 0, BUNDLE_X86_64 = 1, BUNDLE_AARCH64 = 2, BUNDLE_ARM = 3 }; /* BundleHeader.arch */

typedef struct BundleTable {
	uint32_t offset, count; /* of rows; of bytes in the text table */
} BundleTable;

typedef struct BundleHeader {
	char magic[8];
	uint64_t head_sum; /* bundle_sum() of the head from BUNDLE_SUM_FROM on */
	uint32_t version, header_bytes;
	uint64_t head_bytes, file_bytes; /* file_bytes: the exact size of the file */
	uint64_t code_offset, code_bytes, code_sum;
	uint64_t const_offset, const_bytes, const_sum;
	uint64_t arena_bytes;   /* workspace of one instance, reused between steps */
	uint64_t state_bytes;   /* zeroed when an instance opens, kept from run to run */
	uint32_t arch, device;  /* the host's, ANY where the code is another device's; DLPack's code */
	uint32_t threads, zero; /* it was tuned for, at least 1 */
	BundleTable text;       /* char */
	BundleTable info;       /* BundleInfo */
	BundleTable feature;    /* uint32_t: names of the device's features that must be there ("avx512f") */
	BundleTable sym;        /* BundleSym */
	BundleTable dim;        /* BundleDim */
	BundleTable tensor;     /* BundleTensor: inputs first, then outputs */
	BundleTable image;      /* BundleImage */
	BundleTable entry;      /* BundleEntry */
	BundleTable launch;     /* DlcLaunch */
	BundleTable slot;       /* BundleSlot */
	BundleTable arg;        /* uint32_t: slots */
	BundleTable op;         /* BundleOp */
	BundleTable variant;    /* BundleVariant; none: there is one, which needs all features and has all images */
} BundleHeader;

typedef struct BundleInfo {
	uint32_t key, value; /* texts: model, target, lock, ... */
} BundleInfo;
typedef DlcDim BundleDim; /* a dimension, size, offset or kernel argument; symbols are rows of sym */

/* Values of the symbols' range decide every size: memory is planned at their maxima. */
enum { BUNDLE_SYM_INPUT, BUNDLE_SYM_DERIVED, BUNDLE_SYM_LOOP };
typedef struct BundleSym {
	uint32_t name, kind;
	int64_t min, max;   /* 0 <= min <= max; INPUT: a tensor's dim that is just this symbol binds it */
	uint32_t dim, zero; /* DERIVED: its value, of earlier symbols only */
} BundleSym;

typedef struct BundleTensor {
	uint32_t name;
	uint8_t code, bits, output, zero; /* DLPack */
	uint32_t ndim, dim;               /* shape: dim[dim .. dim + ndim) */
} BundleTensor;

enum { BUNDLE_INPUT, BUNDLE_OUTPUT, BUNDLE_CONST, BUNDLE_WORK, BUNDLE_STATE };
typedef struct BundleSlot {
	uint32_t kind, index;  /* index: among the inputs or outputs; else 0 */
	uint32_t offset, zero; /* a dim: bytes into the tensor, constants, arena or state */
	uint64_t bytes;        /* at the symbols' maxima */
} BundleSlot;

/*
 * The plan is a program; a step runs when the one before is done on all threads.
 *   CALL  entry(arg[arg .. narg), values of dim[dim .. ndim))
 *   COPY  arg = to, from; dim = bytes
 *   LOOP  sym from dim[dim] while < dim[dim + 1], and, with an arg, while its first byte is not 0:
 *         the next `body` steps
 *   IF    the first byte of arg is not 0: the next `body` steps, else the `other` ones after them
 */
enum { BUNDLE_CALL, BUNDLE_COPY, BUNDLE_LOOP, BUNDLE_IF };
typedef struct BundleOp {
	uint32_t kind, name; /* name: what a profile shows */
	uint32_t entry, sym, arg, narg, dim, ndim, body, other;
} BundleOp;

/* XXH64 with seed 0 of n bytes (Yann Collet; BSD): about 10 GB/s, finds damage, not malice. */
uint64_t bundle_sum(const void *bytes, size_t n);

#endif
