/*
 * Kernels written by hand in the form that schedules give, beside their naive forms: what code
 * generation has to bring to the machine's roof. tests/codegen/test_kernels.c holds them against the
 * naive form, bench/kernel.c times them.
 *
 * A text (tests/codegen/kernels/FORM.ir) has parameters, $C, and sections: a line `@tile a 0 1` stands
 * for the section behind `== tile` with a, 0, 1 for %1, %2, %3.
 */
#ifndef TESTS_CODEGEN_KERNELS_H
#define TESTS_CODEGEN_KERNELS_H

#include "base/arena.h"

typedef struct HandKernel {
	const char *name, *form, *naive;
	const char *params; /* "C=64 O=64": letters with whole numbers */
	double flops;
	int small; /* of a size for the interpreter */
} HandKernel;

extern const HandKernel hand_kernels[]; /* ends with name == NULL */

/* The text of a form for a row's parameters; NULL if there is no such file. */
char *hand_kernel_text(Arena *a, const char *folder, const char *form, const char *params);

#endif
