/*
 * Kernels for tests, as machine code: C functions in a section of their own, whose bytes are copied
 * into bundles and messages.  They use nothing outside the section, so the copy runs anywhere.
 */
#ifndef TESTS_RUNTIME_KERNELS_H
#define TESTS_RUNTIME_KERNELS_H

#include "runtime/kernel.h"

/* name, buffers, symbols, bytes of workspace per thread */
#define TEST_KERNELS(K) \
	K(add, 3, 1, 0)    /* out = a + b; floats; sym: elements */ \
	K(twice, 2, 1, 0)  /* out = a + a */ \
	K(nop, 0, 0, 0)    /* nothing */ \
	K(step, 1, 1, 0)   /* byte 0 of the buffer is sym > 0; counts in int 1 */ \
	K(store, 1, 1, 0)  /* int64 out[0] = sym */ \
	K(team, 2, 0, 256) /* out[thread] = sum of in[]; through workspace and barrier */ \
	K(refuse, 0, 1, 0) /* returns sym on the last thread */ \
	K(spin, 0, 1, 0)   /* counts to sym */ \
	K(alone, 0, 1, 0)  /* the same on thread 0; the others have nothing to do */ \
	K(crash, 0, 0, 0)  /* an illegal instruction */

enum {
#define K(name, nbuf, nsym, work) KERNEL_##name,
	TEST_KERNELS(K)
#undef K
		KERNEL_COUNT
};

/* The image of all of them, entries in the order above. */
const DlcImage *test_image(void);

#endif
