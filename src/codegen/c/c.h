/*
 * Lowered sets as text of C's family. What differs between the languages is a row, CDialect: plain C, in which a
 * vector is an array and a loop over its lanes, and OpenCL C, which has vectors of 2, 4, 8 and 16 lanes. The printer
 * asks the row and writes nothing of this kind itself.
 */
#ifndef CODEGEN_C_C_H
#define CODEGEN_C_C_H

#include "codegen/backend.h"

/* A function that printed code calls, with what it calls before it. NULL ends an array of them. */
typedef struct CFunction {
	const char *name; /* up to the bracket; "max_f32x%d": one for each number of lanes */
	const char *text; /* %d stands for the lanes */
} CFunction;

typedef struct CDialect {
	const char *name;
	const char *const *prelude; /* of all modules of a file, in parts that C99 can hold; ends with NULL */
	const char *head;           /* what stands before a module */
	const CFunction *function;  /* those of them that a module calls stand behind the head; NULL: none */
	const char *const *ints, *const *uints; /* of 8, 16, 32, 64 bits */
	const char *boolean;
	const char *float_end;            /* of a number of type float */
	const char *inf, *nan;
	const char *global, *shared;      /* qualify pointers to buffers and what a block shares */
	const char *barrier;              /* a statement */
	bool vectors; /* it has vector types; integers do not wrap; indices are narrow where they may be */
	bool devices; /* kernels are started by a launch; else a team enters them with a DlcCall */
	bool halves;  /* f16 and bf16, computed in float */
	const char *doubles; /* the feature of targets that have f64; "": all do; NULL: none does */
} CDialect;
extern const CDialect c_dialect, opencl_dialect;

/* What printing a set needs and finds. */
typedef struct CSet {
	const BackendJob *job;
	const CDialect *dialect;
	int64_t *shared_bytes; /* of each entry; NULL: not asked for */
} CSet;

/*
 * The text of a lowered set. entry[k].work_bytes of its prepare and run Fns is filled in. ERR_UNSUPPORTED names
 * what it does not print: elements of less than a byte, some atomics, bits of another width, types the dialect has not.
 */
bool c_print_set(Text *out, const CSet *set);
/* One text of several, each by c_print_set: one head and each function once. */
void c_join(Text *out, Arena *a, const CDialect *d, const char *const *text, size_t n);

#endif
