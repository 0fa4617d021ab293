/*
 * The kernels of a device's probe: each target has those of its units, they compile, and where the CUDA toolkit is
 * found they are assembled without spills.
 */
#include "suite.h"

#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/device_probe.h"
#include "measure/method.h"
#include "target/capability.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *target, *products; /* what its matrix units multiply */
} rows[] = {
	{ "cuda:sm_37", "" },
	{ "cuda:sm_70", "" },
	{ "cuda:sm_75", "mma_f16_gflops" },
	{ "cuda:sm_80", "mma_f16_gflops mma_bf16_gflops mma_tf32_gflops" },
	{ "cuda:sm_90", "mma_f16_gflops mma_bf16_gflops mma_tf32_gflops" },
	{ "opencl:generic", "" },
};

static KernelSet *probe_set(Arena *a, const Target *t, double work[PROBE_KINDS])
{
	Err err = { 0 };
	const char *text = probe_text(a, t, work);
	KernelSet *ks = ir_parse_set(ir_new(a), "probe", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	ck_assert_msg(ir_verify_set(ks, &err), "%s: %s\n%s", err.place, err.text, text);
	return ks;
}

static int occurrences(const char *text, const char *word)
{
	int n = 0;
	for (const char *p = strstr(text, word); p != NULL; p = strstr(p + 1, word))
		n++;
	return n;
}

START_TEST(kernels_are_those_of_the_units)
{
	Arena *a = arena_new();
	Target t;
	Err err = { 0 };
	double work[PROBE_KINDS];
	ck_assert_msg(target_resolve(&t, rows[_i].target, 1, NULL, 0, &err), "%s", err.text);
	KernelSet *ks = probe_set(a, &t, work);
	size_t n = 0;
	for (int k = 0; k < PROBE_KINDS; k++) {
		bool product = strstr(rows[_i].products, probe_key((ProbeKind)k)) != NULL;
		ck_assert((work[k] > 0) == (product || k == PROBE_FMA || k == PROBE_MEMORY));
		n += work[k] > 0;
		ck_assert(work[k] == 0 || ir_find_fn(ks, probe_key((ProbeKind)k)) != NULL);
	}
	ck_assert_uint_eq(ks->n, n);
	Module m;
	/* nvJitLink leaks where it is asked for an architecture that it no longer knows. */
	CodegenOptions o = { .resources = target_capability(&t)->number >= 75 };
	ck_assert_msg(codegen_compile(a, ks, &t, &o, &m, &err), "%s: %s", err.place, err.text);
	ck_assert_uint_eq(m.image.nentry, n);
	for (uint32_t k = 0; k < m.image.nentry; k++)
		ck_assert_msg(m.report[k].spills <= 0 && m.report[k].threads == 256, "%s on %s: %d spills, %d threads",
			m.report[k].name, rows[_i].target, (int)m.report[k].spills, (int)m.report[k].threads);
	const char *ptx = (const char *)m.image.bytes;
	if (t.kind == TARGET_CUDA) { /* nothing was joined, moved or split that a probe counts */
		ck_assert_int_eq(occurrences(ptx, "fma.rn.f32"), METHOD_PROBE_CHAINS);
		ck_assert_int_eq(occurrences(ptx, "mma.sync"), METHOD_PROBE_MMA_CHAINS * (int)(n - 2));
		ck_assert_int_eq(occurrences(ptx, ".v4.f32"), METHOD_PROBE_LOADS);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("device_probe");
	tcase_add_loop_test(tc, kernels_are_those_of_the_units, 0, LEN(rows));
	return run_suite("device_probe", tc);
}
