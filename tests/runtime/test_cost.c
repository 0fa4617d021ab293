/*
 * The promises about running: nothing is allocated, an operator call costs less than a microsecond,
 * and a profile says where the time went.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "kernels.h"
#include "net.h"
#include "runtime/timing.h"

/* The linker sends calls of malloc and its kind here (--wrap), so that they can be counted. */
static atomic_int allocations;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t n);
void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, long offset);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t n);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, long offset);

void *__wrap_malloc(size_t n)
{
	allocations++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	allocations++;
	return __real_aligned_alloc(align, n);
}

void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, long offset)
{
	allocations++;
	return __real_mmap(p, n, prot, flags, fd, offset);
}

static Build *build_nops(int n)
{
	Build *b = build_new();
	uint32_t text = build_text(b, "nop");
	for (int k = 0; k < n; k++) {
		BundleOp *o = &b->op[b->h.op.count++];
		*o = (BundleOp){ .kind = BUNDLE_CALL, .name = text, .entry = KERNEL_nop };
	}
	return b;
}

static double call_ns(int threads)
{
	enum { CALLS = 1000 };
	Net n = net_open(build_nops(CALLS), threads);
	double ns[101];
	for (int k = 0; k < LEN(ns); k++) {
		uint64_t start = timing_wall_ns();
		net_run(&n);
		ns[k] = (double)(timing_wall_ns() - start) / CALLS;
	}
	net_close(&n);
	return timing_summary(ns, LEN(ns)).median;
}

START_TEST(calls_are_quick)
{
	double one = call_ns(1), two = call_ns(2);
	printf("operator call: %.1f ns with one thread, %.1f ns with two\n", one, two);
	ck_assert_double_lt(one, 1000);
}
END_TEST

START_TEST(nothing_is_allocated)
{
	static float unaligned[N + 1];
	int64_t shape[] = { 1, N };
	Net n = net_open(build_add(N), 3);
	DlcTensor t = tensor(unaligned + ((uintptr_t)unaligned % 64 == 0), shape);
	ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &t, NULL), DLC_OK);
	int before = atomic_load(&allocations);
	ck_assert_int_gt(before, 0); /* they are counted */
	int good = 0;                /* Check's own macros allocate */
	before = atomic_load(&allocations);
	for (int k = 0; k < 100; k++)
		good += dlc_instance_run(n.i, NULL) == DLC_OK;
	int after = atomic_load(&allocations);
	ck_assert_int_eq(good, 100);
	ck_assert_int_eq(after, before);
	net_close(&n);
}
END_TEST

START_TEST(profile)
{
	Build *b = build_new();
	build_call(b, KERNEL_nop, NULL, NULL);
	build_call(b, KERNEL_spin, NULL, (int64_t[]){ 1000000 });
	Net n = net_open(b, 1);
	uint64_t ns[2] = { 0, 0 };
	for (int k = 0; k < 3; k++)
		ck_assert_int_eq(dlc_instance_profile(n.i, ns, NULL), DLC_OK);
	ck_assert_uint_gt(ns[1], 10 * ns[0]);
	ck_assert_uint_gt(ns[1], 3 * 100000);
	net_close(&n);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cost");
	tcase_add_test(tc, calls_are_quick);
	tcase_add_test(tc, nothing_is_allocated);
	tcase_add_test(tc, profile);
	return run_suite("cost", tc);
}
