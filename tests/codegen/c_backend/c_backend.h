/*
 * A back end for tests: it prints lowered sets as C, which the system's compiler builds. Its image is the source
 * text of one module, without the dialect's prelude. Kernels have the ABI of runtime/kernel.h and are called
 * C_KERNEL(name): a macro, so that one file may hold several modules.
 */
#ifndef TESTS_CODEGEN_C_BACKEND_H
#define TESTS_CODEGEN_C_BACKEND_H

#include "codegen/backend.h"

extern const Backend backend_c;

/*
 * What differs between languages of C's family: a row of functions and types. One row today; the printer
 * (c_print.c) asks it and writes nothing of this kind itself.
 */
typedef struct CDialect {
	const char *name;
	const char *const *prelude; /* the functions that printed code calls, in parts that C99 can hold; ends with NULL */
	const char *kernel;         /* head of a kernel, with its name as %s */
	const char *sub;            /* head of a sub Fn up to its parameters */
	const char *buffers;        /* of buffer parameter %d, as a void pointer */
	const char *symbols;        /* of symbol %d, as an int64_t */
	const char *thread, *threads, *work; /* of the call */
	const char *barrier;                 /* a statement */
	const char *global;                  /* qualifies pointers to buffers */
	const char *inf, *nan;
} CDialect;
extern const CDialect c_dialect;

/*
 * The text of a lowered set. entry[k].work_bytes of its prepare and run Fns is filled in. ERR_UNSUPPORTED names
 * what it does not print: elements of less than a byte, atomics, bits of another width.
 */
bool c_print_set(Text *out, const BackendJob *job, const CDialect *d);

#endif
