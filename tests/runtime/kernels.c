/*
 * See kernels.h.  Compiled without sanitizers and library calls (meson.build), so that the section
 * is complete in itself.  __start_ and __stop_ are what ELF linkers define for a section so named.
 */
#include "kernels.h"

#include <stdio.h>

#define KERNEL(name) \
	static int name(const DlcCall *c); \
	__attribute__((section("dlc_kernels"), used, noinline)) static int name(const DlcCall *c)

extern const unsigned char __start_dlc_kernels[], __stop_dlc_kernels[];

KERNEL(add)
{
	const float *a = c->buf[0], *b = c->buf[1];
	float *out = c->buf[2];
	for (int64_t i = c->thread; i < c->sym[0]; i += c->threads)
		out[i] = a[i] + b[i];
	return 0;
}

KERNEL(twice)
{
	const float *a = c->buf[0];
	float *out = c->buf[1];
	for (int64_t i = c->thread; i < c->sym[0]; i += c->threads)
		out[i] = a[i] + a[i];
	return 0;
}

KERNEL(nop)
{
	(void)c;
	return 0;
}

KERNEL(step)
{
	unsigned char *flag = c->buf[0];
	int32_t *count = (int32_t *)c->buf[0] + 1;
	if (c->thread == 0) {
		*flag = c->sym[0] > 0;
		*count += 1;
	}
	return 0;
}

KERNEL(store)
{
	int64_t *out = c->buf[0];
	if (c->thread == 0)
		out[0] = c->sym[0];
	return 0;
}

KERNEL(team)
{
	const volatile int64_t *in = c->buf[0];
	int64_t *out = c->buf[1];
	volatile int64_t *work = c->work;
	work[0] = in[c->thread];
	out[c->thread] = work[0];
	if (c->barrier != NULL)
		c->barrier(c->team);
	int64_t sum = 0;
	for (uint32_t i = 0; i < c->threads; i++)
		sum += *(volatile int64_t *)&out[i];
	if (c->barrier != NULL)
		c->barrier(c->team);
	out[c->thread] = sum;
	return 0;
}

KERNEL(refuse)
{
	return c->thread == c->threads - 1 ? (int)c->sym[0] : 0;
}

KERNEL(spin)
{
	for (volatile int64_t i = 0; i < c->sym[0];)
		i = i + 1;
	return 0;
}

KERNEL(alone)
{
	for (volatile int64_t i = 0; i < c->sym[0] && c->thread == 0;)
		i = i + 1;
	return 0;
}

KERNEL(crash)
{
	(void)c;
	__builtin_trap();
}

const DlcImage *test_image(void)
{
	static DlcEntry entry[KERNEL_COUNT];
	static DlcImage image;
	static const DlcKernel kernel[] = {
#define K(name, nbuf, nsym, work) name,
		TEST_KERNELS(K)
#undef K
	};
	int n = 0;
#define K(label, buffers, syms, work) \
	entry[n] = (DlcEntry){ .offset = (uint64_t)((uintptr_t)kernel[n] - (uintptr_t)__start_dlc_kernels), \
		.work_bytes = work, \
		.nbuf = buffers, \
		.nsym = syms }; \
	snprintf(entry[n].name, sizeof entry[n].name, #label); \
	n++;
	TEST_KERNELS(K)
#undef K
	image = (DlcImage){ __start_dlc_kernels, (uint64_t)(__stop_dlc_kernels - __start_dlc_kernels), entry, KERNEL_COUNT,
		DLC_DEVICE_CPU };
	return &image;
}
