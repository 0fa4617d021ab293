/*
 * Kernels for the fake driver (fake.h), as functions of a shared library that FAKE_CUDA_KERNELS names. A kernel has the
 * name of its .entry, or the library has fake_cuda_find, which gets the image, too. It runs its whole grid.
 */
#ifndef TESTS_FAKE_CUDA_HOST_KERNEL_H
#define TESTS_FAKE_CUDA_HOST_KERNEL_H

#include <stdint.h>

typedef struct FakeLaunch {
	uint32_t grid[3], block[3], shared;
} FakeLaunch;

/* argument[k] points to the 8 bytes of argument k. 0, or the CUresult that the kernel ends with. */
typedef int (*FakeKernel)(const FakeLaunch *how, void *const *argument);
typedef FakeKernel (*FakeFind)(const char *image, const char *name);

#endif
