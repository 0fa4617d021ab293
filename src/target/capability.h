/*
 * What the compute capabilities of CUDA's devices have: rows of capability.def. Code asks the target here, and compares
 * no names.
 */
#ifndef TARGET_CAPABILITY_H
#define TARGET_CAPABILITY_H

#include "target/target.h"

typedef struct Capability {
	int number;       /* 80 of sm_80; 0: of a target that has none */
	const char *code; /* the architecture of its code: "sm_80" */
	int ptx;          /* 65: its code needs PTX 6.5; 0: what the architecture needs */
	int kept;         /* bytes of each block's shared memory that the driver keeps */
	bool copies;      /* asynchronous copies to shared memory */
	bool extremes;    /* maxima and minima of f32 that keep a NaN */
	double f16, tf32; /* multiply-adds per cycle of a unit's matrix units, with f32 sums */
} Capability;

/* The highest that the target has; a row of zeros for one that has none. Never NULL. */
const Capability *target_capability(const Target *t);
/* The k-th, lowest first; NULL past the last. */
const Capability *capability_at(int k);
/*
 * Multiply-adds of such factors per cycle that the matrix units of a unit start, 0: there are none. tf32: f32 factors
 * may be rounded to tf32.
 */
double target_matrix_rate(const Target *t, DType factor, bool tf32);

#endif
