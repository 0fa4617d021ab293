/*
 * Kernels for the fake driver (fake.h): functions of a shared library that FAKE_CUDA_KERNELS names. A kernel has the
 * name of its .entry, or the library has fake_cuda_run, which gets the image and that name, too. It runs the whole
 * grid; argument[k] points to the 8 bytes of argument k. It returns NULL, or what was wrong. Libraries of
 * tests/codegen/fibers/fibers.h have such kernels, and ptx_library.c interprets the image.
 */
#ifndef TESTS_FAKE_CUDA_HOST_KERNEL_H
#define TESTS_FAKE_CUDA_HOST_KERNEL_H

#include <stdint.h>

typedef const char *FakeKernel(void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes);
typedef const char *FakeRun(const char *image, const char *name, void **argument, const uint32_t grid[3],
	const uint32_t block[3], uint32_t shared_bytes);

#endif
