/*
 * Tensors of a run, windows of them, and the last accesses of each element (interp/thread.h says how
 * accesses are ordered).
 */
#ifndef INTERP_MEM_H
#define INTERP_MEM_H

#include "interp/code.h"

typedef struct Epoch {
	uint64_t time;
	uint32_t tid, pc;
} Epoch;

/* Everything done in the subtree of thread tid up to `time`, sorted by tid. */
typedef struct Know {
	uint32_t n, refs;
	struct Known {
		uint64_t time;
		uint32_t tid;
	} at[];
} Know;

/* Who touched an element last; reads since the last write, one in place, more in a list. */
typedef struct Shadow {
	Epoch write;
	union {
		Epoch one;
		struct {
			Epoch *list;
			uint32_t cap;
		} many;
	} read;
	Know *known; /* what the atomics on it carry along */
	uint32_t nread;
	bool atomic; /* the last write was one */
} Shadow;

enum { UNDEFINED, DEFINED, PENDING };

/* A tensor. data, def, shadow, tag have an entry per physical element. */
typedef struct Store {
	const char *name;
	const Fn *fn; /* the first that has it as a parameter; NULL for allocs */
	DType type;
	bool residues; /* uint64_t elements, whatever the type */
	bool result;   /* an out or inout of some Fn */
	bool zero;     /* of that role */
	unsigned char *data;
	uint8_t *def;   /* NULL: all defined */
	Shadow *shadow; /* NULL: nothing to check */
	int64_t *tag;   /* which logical element lies there, plus 1, if several may (a ring) */
	int64_t n;
	int rank, nphys;
	int64_t shape[RANK], extent[RANK];
	const MapProgram *map; /* NULL: identity */
	unsigned char *block; /* of `held` bytes: what of the arrays above is its own */
	size_t held;
	uint64_t born;      /* tells executions of one alloc apart */
} Store;

struct Thread;

/* A window of a tensor. Dimension k of the tensor has index base[k] plus that of dim[k] >= 0. */
typedef struct View {
	Store *store;
	int rank;
	int64_t off, extent[RANK], stride[RANK]; /* off and stride: identity maps only */
	int64_t base[RANK];
	int8_t dim[RANK];
	Store *own;                 /* an alloc made here; NULL for a window */
	const struct Thread *owner; /* the thread that made the view */
	struct View *next;          /* of the same owner */
} View;

#endif
