/*
 * Properties of CUDA's compute capabilities, rows of capability.def. Code asks here instead of comparing names.
 */
#ifndef TARGET_CAPABILITY_H
#define TARGET_CAPABILITY_H

#include "target/target.h"

typedef struct Capability {
	int number;       /* 80 for sm_80; 0: the target has none */
	const char *code; /* the architecture of its code: "sm_80" */
	int ptx;          /* 65: its code needs PTX 6.5; 0: what the architecture needs */
	int kept;         /* bytes of each block's shared memory that the driver keeps */
	bool copies;      /* asynchronous copies to shared memory */
	bool extremes;    /* maxima and minima of f32 that keep a NaN */
	double f16, tf32; /* multiply-adds per cycle of a unit's matrix units, with f32 sums */
} Capability;

/* The highest capability of the target; a row of zeros if it has none. Never NULL. */
const Capability *target_capability(const Target *t);
/* The k-th, lowest first; NULL past the last. */
const Capability *capability_at(int k);
/*
 * Multiply-adds of factors of that type per cycle in the matrix units of a unit; 0: it has none for them. tf32: f32
 * factors may be rounded to tf32.
 */
double target_matrix_rate(const Target *t, DType factor, bool tf32);

#endif
