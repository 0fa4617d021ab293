/*
 * Kernels of tests/runtime (kernels.h there) for the fake driver: `add` and `twice` have one thread for an element;
 * `crash` touches what is no memory.
 */
#include <string.h>

#include "host_kernel.h"

FakeKernel dlc_add, dlc_twice, dlc_nop, dlc_step, dlc_crash;

static void *address(void **argument, int k)
{
	void *p;
	memcpy(&p, argument[k], sizeof p);
	return p;
}

static int64_t symbol(void **argument, int k)
{
	int64_t v;
	memcpy(&v, argument[k], sizeof v);
	return v;
}

const char *dlc_add(void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
	const float *a = address(argument, 0), *b = address(argument, 1);
	float *out = address(argument, 2);
	int64_t n = symbol(argument, 3);
	(void)shared_bytes;
	for (int64_t t = 0; t < (int64_t)grid[0] * block[0] && t < n; t++)
		out[t] = a[t] + b[t];
	return NULL;
}

const char *dlc_twice(void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
	const float *a = address(argument, 0);
	float *out = address(argument, 1);
	int64_t n = symbol(argument, 2);
	(void)shared_bytes;
	for (int64_t t = 0; t < (int64_t)grid[0] * block[0] && t < n; t++)
		out[t] = a[t] + a[t];
	return NULL;
}

const char *dlc_nop(void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
	(void)argument, (void)grid, (void)block, (void)shared_bytes;
	return NULL;
}

const char *dlc_step(void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
	int32_t *out = address(argument, 0);
	(void)grid, (void)block, (void)shared_bytes;
	*(unsigned char *)out = symbol(argument, 1) > 0;
	out[1]++;
	return NULL;
}

const char *dlc_crash(void **argument, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
	volatile uintptr_t nowhere = 8;
	(void)argument, (void)grid, (void)block, (void)shared_bytes;
	*(volatile char *)nowhere = 1;
	return NULL;
}
