/*
 * The kernels of tests/runtime (kernels.h there) for the fake driver: `add` and alike, one thread an element of a
 * block, and some that fail.
 */
#include <string.h>

#include "host_kernel.h"

int dlc_add(const FakeLaunch *how, void *const *argument);
int dlc_twice(const FakeLaunch *how, void *const *argument);
int dlc_nop(const FakeLaunch *how, void *const *argument);
int dlc_step(const FakeLaunch *how, void *const *argument);
int dlc_crash(const FakeLaunch *how, void *const *argument);
int dlc_refuse(const FakeLaunch *how, void *const *argument);

static void *address(void *const *argument, int k)
{
	void *p;
	memcpy(&p, argument[k], sizeof p);
	return p;
}

static int64_t symbol(void *const *argument, int k)
{
	int64_t v;
	memcpy(&v, argument[k], sizeof v);
	return v;
}

static int64_t threads(const FakeLaunch *how)
{
	return (int64_t)how->grid[0] * how->block[0];
}

int dlc_add(const FakeLaunch *how, void *const *argument)
{
	const float *a = address(argument, 0), *b = address(argument, 1);
	float *out = address(argument, 2);
	int64_t n = symbol(argument, 3);
	for (int64_t t = 0; t < threads(how) && t < n; t++)
		out[t] = a[t] + b[t];
	return 0;
}

int dlc_twice(const FakeLaunch *how, void *const *argument)
{
	const float *a = address(argument, 0);
	float *out = address(argument, 1);
	int64_t n = symbol(argument, 2);
	for (int64_t t = 0; t < threads(how) && t < n; t++)
		out[t] = a[t] + a[t];
	return 0;
}

int dlc_nop(const FakeLaunch *how, void *const *argument)
{
	(void)how, (void)argument;
	return 0;
}

int dlc_step(const FakeLaunch *how, void *const *argument)
{
	int32_t *out = address(argument, 0);
	(void)how;
	*(unsigned char *)out = symbol(argument, 1) > 0;
	out[1]++;
	return 0;
}

int dlc_crash(const FakeLaunch *how, void *const *argument)
{
	volatile uintptr_t nowhere = 8;
	(void)how, (void)argument;
	*(volatile char *)nowhere = 1;
	return 0;
}

int dlc_refuse(const FakeLaunch *how, void *const *argument)
{
	(void)how;
	return (int)symbol(argument, 0);
}
