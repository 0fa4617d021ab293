/*
 * The interpreter by itself: what each statement and operator means, which mistakes it finds, what
 * the arithmetic modulo a prime keeps of the laws of numbers, and the intrinsics' meanings.
 */
#include "base/rng.h"
#include "ir/build.h"
#include "interp/interp.h"
#include "interp/num.h"
#include "ir/text/intrin.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct Case {
	const char *name, *text, *raises;
	int n;
	double want[8];
} Case;

#define CASE(name, text, ...) \
	{ #name, text, NULL, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), \
		{ __VA_ARGS__ } },
#define RAISES(name, text, says) { #name, text, says, 0, { 0 } },
static const Case cases[] = {
#include "interp_cases.def"
};
#undef CASE
#undef RAISES

static KernelSet *parse(Arena *a, const char *name, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), name, text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s: %s", name, err.place, err.text);
	return ks;
}

START_TEST(case_means_what_it_says)
{
	const Case *c = &cases[_i];
	Arena *a = arena_new();
	KernelSet *ks = parse(a, c->name, c->text);
	for (uint64_t seed = 0; seed < 16; seed++) {
		float x[9] = { 1, 2, 3, 4, 5, 6, 7, 8 };
		int8_t n[1] = { 1 };
		double y[8] = { 0 };
		IrArg arg[] = { { "x", x, 0 }, { "y", y, 0 }, { "n", n, 0 } };
		InterpRun how = { .seed = seed,
			.steps = 100000,
			.memory = 1 << 24,
			.skip_races = seed % 4 == 3 && c->raises == NULL };
		Err err = { 0 };
		bool ok = interp_run_set(ks, arg, 3, &how, &err);
		if (c->raises != NULL) {
			ck_assert_msg(!ok && strstr(err.text, c->raises) != NULL, "%s: %s: %s",
				c->name, err.place, err.text);
			continue;
		}
		ck_assert_msg(ok, "%s: %s: %s", c->name, err.place, err.text);
		for (int k = 0; k < c->n; k++)
			ck_assert_msg(y[k] == c->want[k], "%s: y[%d] is %.17g, not %.17g (seed %d)",
				c->name, k, y[k], c->want[k], (int)seed);
	}
	arena_free(a);
}
END_TEST

/* Random values through memory and back, against the compiler's own float and integer types. */
START_TEST(elements_keep_their_value)
{
	static const DType types[] = { { DT_INT, 2, 1 }, { DT_UINT, 4, 1 }, { DT_INT, 8, 1 },
		{ DT_UINT, 16, 1 }, { DT_INT, 32, 1 }, { DT_UINT, 64, 1 }, { DT_FLOAT, 16, 1 },
		{ DT_BFLOAT, 16, 1 }, { DT_FLOAT, 32, 1 }, { DT_FLOAT, 64, 1 }, { DT_BOOL, 8, 1 } };
	Rng r = rng_seed(11);
	unsigned char data[64 * 8];
	for (int k = 0; k < LEN(types); k++)
		for (int round = 0; round < 2000; round++) {
			int64_t at = (int64_t)rng_below(&r, 60);
			Val v = { .i = dtype_is_float(types[k])
				               ? 0
				               : dtype_wrap(types[k], (int64_t)rng_next(&r)) };
			if (dtype_is_float(types[k]))
				v.f = dtype_round(types[k],
					ldexp(rng_normal(&r), (int)rng_range(&r, -30, 30)));
			Val before = num_load(types[k], data, at + 1);
			memset(data + sizeof data - 8, 0, 8);
			num_store(types[k], data, at, v);
			ck_assert_uint_eq(num_load(types[k], data, at).m, v.m);
			Val after = num_load(types[k], data, at + 1);
			ck_assert(before.m == after.m ||
				  (dtype_is_float(types[k]) && isnan(before.f)));
		}
}
END_TEST

static uint64_t mod2(Node op, uint64_t a, uint64_t b)
{
	Val r = { 0 };
	ck_assert_ptr_null(modp_binary(op, (Val){ .m = a }, (Val){ .m = b }, &r));
	return r.m;
}

static uint64_t mod1(Node op, uint64_t a)
{
	Val r = { 0 };
	ck_assert_ptr_null(modp_unary(op, (Val){ .m = a }, &r));
	return r.m;
}

static const char *vector_text(DType t, int lanes, char out[DTYPE_TEXT])
{
	return dtype_print(dtype_vector(t, lanes), out);
}

static const char *all_lanes(Arena *a, int lanes)
{
	return lanes == 1 ? "0" : arena_printf(a, "ramp(0, 1, %d)", lanes);
}

/* y = the lanes of x as lanes of another type: the bytes stay, but for NaNs and what bool holds. */
static void regroup(DType from, DType to, int bits, Rng *r)
{
	Arena *a = arena_new();
	Err err = { 0 };
	char s[DTYPE_TEXT], t[DTYPE_TEXT], v[DTYPE_TEXT];
	int n = bits / from.bits, m = bits / to.bits;
	const char *text =
		arena_printf(a, "fn f(x: in %s[%d], y: out %s[%d]) { y[%s] = bits.%s(x[%s]) }",
			dtype_print(from, s), n, dtype_print(to, t), m, all_lanes(a, m),
			vector_text(to, m, v), all_lanes(a, n));
	KernelSet *ks = parse(a, text, text);
	ck_assert_msg(ir_verify_set(ks, &err), "%s: %s: %s", text, err.place, err.text);
	unsigned char x[32] = { 0 }, y[32] = { 0 };
	for (int k = 0; k < n; k++) {
		Val e = { .i = dtype_is_float(from) ? 0 : dtype_wrap(from, (int64_t)rng_next(r)) };
		if (dtype_is_float(from))
			e.f = dtype_round(from, rng_normal(r));
		num_store(from, x, k, e);
	}
	IrArg arg[] = { { "x", x, 0 }, { "y", y, 0 } };
	bool ok = interp_run_set(ks, arg, 2, &(InterpRun){ .seed = 1, .skip_races = true }, &err);
	ck_assert_msg(ok, "%s: %s: %s", text, err.place, err.text);
	for (int k = 0; k < m; k++) {
		Val want = num_load(to, x, k), got = num_load(to, y, k);
		ck_assert_msg(
			got.m == want.m || (dtype_is_float(to) && isnan(got.f) && isnan(want.f)),
			"%s: lane %d is %llx, not %llx", text, k, (unsigned long long)got.m,
			(unsigned long long)want.m);
	}
	arena_free(a);
}

START_TEST(bits_regroup_as_memory_does)
{
	static const DType types[] = { { DT_INT, 2, 1 }, { DT_UINT, 2, 1 }, { DT_INT, 4, 1 },
		{ DT_UINT, 4, 1 }, { DT_INT, 8, 1 }, { DT_UINT, 8, 1 }, { DT_BOOL, 8, 1 },
		{ DT_INT, 16, 1 }, { DT_UINT, 16, 1 }, { DT_FLOAT, 16, 1 }, { DT_BFLOAT, 16, 1 },
		{ DT_INT, 32, 1 }, { DT_UINT, 32, 1 }, { DT_FLOAT, 32, 1 }, { DT_INT, 64, 1 },
		{ DT_UINT, 64, 1 }, { DT_FLOAT, 64, 1 } };
	Rng r = rng_seed(17);
	for (int bits = 8; bits <= 256; bits *= 2)
		for (int k = 0; k < LEN(types); k++)
			for (int j = 0; j < LEN(types); j++)
				if (types[k].bits <= bits && types[j].bits <= bits)
					regroup(types[k], types[j], bits, &r);
}
END_TEST

START_TEST(residues_obey_the_laws)
{
	Rng r = rng_seed(5);
	uint64_t one = interp_modp_of(1), zero = interp_modp_of(0);
	for (int k = 0; k < 3000; k++) {
		uint64_t a = modp_norm(rng_next(&r)), b = modp_norm(rng_next(&r)),
			 c = modp_norm(rng_next(&r));
		ck_assert_uint_eq(mod2(IR_MUL, a, mod2(IR_ADD, b, c)),
			mod2(IR_ADD, mod2(IR_MUL, a, b), mod2(IR_MUL, a, c)));
		ck_assert_uint_eq(mod2(IR_MUL, mod2(IR_DIV, a, b), b), a);
		ck_assert_uint_eq(mod2(IR_SUB, a, a), zero);
		ck_assert_uint_eq(mod2(IR_MAX, a, mod2(IR_MIN, b, c)),
			mod2(IR_MIN, mod2(IR_MAX, a, b), mod2(IR_MAX, a, c)));
		ck_assert(interp_modp_same(mod1(IR_EXP, mod2(IR_ADD, a, b)),
			mod2(IR_MUL, mod1(IR_EXP, a), mod1(IR_EXP, b))));
		ck_assert(interp_modp_same(mod1(IR_SIGMOID, a),
			mod2(IR_DIV, one, mod2(IR_ADD, one, mod1(IR_EXP, mod1(IR_NEG, a))))));
		ck_assert(interp_modp_same(mod1(IR_TANH, a),
			mod2(IR_SUB,
				mod2(IR_MUL, interp_modp_of(2), mod1(IR_SIGMOID, mod2(IR_ADD, a, a))),
				one)));
		ck_assert(!interp_modp_same(mod1(IR_SQRT, a), mod1(IR_ERF, a)));
		double x = rng_normal(&r), y = (double)(float)rng_normal(&r);
		if (x + y - x == y && x + y - y == x)
			ck_assert_uint_eq(
				mod2(IR_ADD, interp_modp_of(x), interp_modp_of(y)), interp_modp_of(x + y));
	}
	ck_assert_uint_eq(mod2(IR_MUL, interp_modp_of(0.125), interp_modp_of(8)), one);
	ck_assert_uint_eq(mod2(IR_POW, interp_modp_of(3), interp_modp_of(4)), interp_modp_of(81));
	ck_assert_uint_eq(mod2(IR_MAX, interp_modp_of(-INFINITY), interp_modp_of(-5)), interp_modp_of(-5));
	ck_assert_uint_eq(mod2(IR_MAX, interp_modp_of(-3), zero), zero);
}
END_TEST

START_TEST(intrinsics_are_legal)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	for (const IrIntrin *row = ir_intrins(); row->name != NULL; row++) {
		KernelSet *ks = parse(a, row->name, row->text);
		Err err = { 0 };
		ck_assert_msg(ir_verify_set(ks, &err), "%s: %s", row->name, err.text);
		const Fn *fn = ir_intrin(ir, row->name);
		ck_assert(fn != NULL && fn->kind == FN_SUB && fn == ir_intrin(ir, row->name));
	}
	ck_assert_ptr_null(ir_intrin(ir, "nothing"));
	arena_free(a);
}
END_TEST

/* Without the check, instances that race give different results in different orders. */
START_TEST(order_is_random)
{
	Arena *a = arena_new();
	KernelSet *ks = parse(
		a, "last", "fn f(y: out f64[1]) { for i in 0..8 parallel { y[0] = f64(i) } }");
	bool seen[8] = { false };
	for (uint64_t seed = 0; seed < 400; seed++) {
		double y = -1;
		IrArg arg = { "y", &y, 0 };
		InterpRun how = { .seed = seed, .skip_races = true };
		ck_assert(interp_run_set(ks, &arg, 1, &how, NULL));
		seen[(int)y] = true;
	}
	for (int k = 0; k < 8; k++)
		ck_assert(seen[k]);
	arena_free(a);
}
END_TEST

START_TEST(arguments_are_checked)
{
	static const struct {
		const char *text, *says;
		int64_t m;
	} bad[] = {
		{ "fn f[M in 1..8 step 2](y: out f64[M]) { }",
			"must be in [1, 8] and a multiple of 2", 3 },
		{ "fn f[M in 1..8](y: out f64[M]) { }", "must be in [1, 8]", 9 },
		{ "fn f[N in 1..8](y: out f64[N]) { }", "symbol N has no value", 1 },
		{ "fn f(q: in f32[4], y: out f64[1]) { }", "no tensor is given for q", 1 },
		{ "fn f(y: in f64[3] map (i) -> [i : 8]) { }",
			"the padding of y is not zero, at physical element 3", 1 },
	};
	Arena *a = arena_new();
	for (int k = 0; k < LEN(bad); k++) {
		double y[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
		IrArg arg[] = { { "y", y, 0 }, { "M", NULL, bad[k].m } };
		InterpRun how = { 0 };
		Err err = { 0 };
		ck_assert(!interp_run_set(parse(a, "bad", bad[k].text), arg, 2, &how, &err));
		ck_assert_msg(strstr(err.text, bad[k].says) != NULL, "%s", err.text);
	}
	arena_free(a);
}
END_TEST

START_TEST(places_follow_the_map)
{
	Arena *a = arena_new();
	KernelSet *ks = parse(a, "map",
		"fn f[M in 1..8](x: in f32[24, 5] map (c, w) -> [c / 16 : 2, w : 5, c % 16 : 16], "
	        "y: in f32[3, 4], z: in f32[M, 2]) { }");
	const Fn *fn = ks->fn[0];
	IrArg m = { "M", NULL, 7 };
	ck_assert_int_eq(ir_buf_elements(fn->param[0].buf, NULL, 0), 160);
	ck_assert_int_eq(ir_buf_elements(fn->param[2].buf, &m, 1), 14);
	ck_assert_int_eq(ir_buf_elements(fn->param[2].buf, NULL, 0), -1);
	ck_assert_int_eq(
		ir_buf_offset(fn->param[0].buf, (int64_t[]){ 17, 3 }), 1 * 80 + 3 * 16 + 1);
	ck_assert_int_eq(ir_buf_offset(fn->param[1].buf, (int64_t[]){ 2, 1 }), 9);
	ck_assert_int_eq(ir_buf_offset(fn->param[0].buf, (int64_t[]){ 24, 0 }), -1);
	arena_free(a);
}
END_TEST

/* 128^3 multiply-adds: the rate is printed, and must allow oracles over small shapes. */
START_TEST(speed_allows_oracles)
{
	enum { N = 128 };
	static float x[N * N], w[N * N], y[N * N];
	Arena *a = arena_new();
	KernelSet *ks = parse(a, "gemm",
		"fn f(x: in f32[128, 128], w: in f32[128, 128], y: out f32[128, 128]) {"
		" for i in 0..128 parallel { for j in 0..128 { for k in 0..128 { block g(vi: "
	        "spatial 0..128 = i, vj: spatial 0..128 = j,"
		" vk: reduce 0..128 = k) { init { y[vi, vj] = 0.0 } sum y[vi, vj] <- x[vi, vk] * "
	        "w[vk, vj] } } } } }");
	IrArg arg[] = { { "x", x, 0 }, { "w", w, 0 }, { "y", y, 0 } };
	for (int skip = 0; skip < 2; skip++) {
		InterpRun how = { .skip_races = skip };
		clock_t begin = clock();
		ck_assert(interp_run_set(ks, arg, 3, &how, NULL));
		double s = (double)(clock() - begin) / CLOCKS_PER_SEC;
		printf("interpreter: %.1f M multiply-adds/s%s\n", N * N * N / s * 1e-6,
			skip ? " without the race check" : "");
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("interp");
	tcase_add_loop_test(tc, case_means_what_it_says, 0, LEN(cases));
	tcase_add_test(tc, elements_keep_their_value);
	tcase_add_test(tc, bits_regroup_as_memory_does);
	tcase_add_test(tc, residues_obey_the_laws);
	tcase_add_test(tc, intrinsics_are_legal);
	tcase_add_test(tc, order_is_random);
	tcase_add_test(tc, arguments_are_checked);
	tcase_add_test(tc, places_follow_the_map);
	tcase_add_test(tc, speed_allows_oracles);
	return run_suite("interp", tc);
}
