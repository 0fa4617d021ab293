/*
 * The errors that docs/codegen.md states for exp, log, tanh, ...: measured over dense samples
 * against libm in long double (of f32: every rounding of the scale of the argument; of f64 random
 * ones), and the values at infinities, NaN and zeros. In vector form, for this machine, and of x86-64 for
 * the least level and the one below AVX-512: with and without fma the errors differ, and AVX-512 has forms
 * of its own. Each type has a loop of its own, so that its vectors are full ones.
 */
#include "codegen/codegen.h"
#include "ir/text/ir_text.h"
#include "code_suite.h"
#include "tensors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Func {
	const char *name;
	long double (*want)(long double x);
	double lo, hi; /* of |x| for f32, where the error is stated */
	double ulps32, ulps64;
} Func;

static long double sigmoid(long double x)
{
	return 1 / (1 + expl(-x));
}

/* The bounds of docs/codegen.md. */
static const Func funcs[] = {
	{ "exp", expl, 1e-10, 800, 1.5, 1.5 },
	{ "log", logl, 1e-320, 1e308, 1.5, 1.5 },
	{ "tanh", tanhl, 1e-10, 50, 2, 2 },
	{ "erf", erfl, 1e-10, 10, 2, 4 },
	{ "sigmoid", sigmoid, 1e-10, 800, 3, 3 },
	{ "sin", sinl, 1e-10, 1e6, 1, 2 },
	{ "cos", cosl, 1e-10, 1e6, 1, 2 },
	{ "atan", atanl, 1e-10, 1e8, 2, 2 },
	{ "expm1", expm1l, 1e-10, 800, 2, 2 },
	{ "log1p", log1pl, 1e-10, 1e8, 2, 2 },
};

enum { N = 4096 };

typedef struct Kernel {
	Arena *arena;
	KernelSet *ks;
	Module m;
	Mapped *code;
	double *x64, *y64, *z64;
	float *x32, *y32, *z32;
} Kernel;

static void open_kernel(Kernel *k, const Target *t, const char *expr)
{
	Err err = { 0 };
	k->arena = arena_new();
	char *text = arena_printf(k->arena,
		"fn f(x: in f32[%d], z: in f32[%d], y: out f32[%d], xd: in f64[%d], zd: in "
		"f64[%d], yd: out f64[%d]) {\n"
		"\tfor i in 0..%d vector {\n\t\tlet a: f32 = x[i]\n\t\tlet b: f32 = z[i]\n\t\ty[i] "
		"= %s\n\t}\n"
		"\tfor j in 0..%d vector {\n\t\tlet ad: f64 = xd[j]\n\t\tlet bd: f64 = zd[j]\n\t\tyd[j] = %s\n\t}\n}\n",
		N, N, N, N, N, N, N, expr, N,
		strchr(expr, ',') != NULL ? "pow(ad, bd)" : arena_printf(k->arena, "%.*s(ad)", (int)strcspn(expr, "("), expr));
	k->ks = ir_parse_set(ir_new(k->arena), "f", text, strlen(text), &err);
	ck_assert_msg(k->ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	ck_assert_msg(codegen_compile(k->arena, k->ks, t, NULL, &k->m, &err), "%s: %s", err.place, err.text);
	ck_assert_msg(codegen_map(&k->m, &k->code, &err), "%s", err.text);
	k->x32 = arena_array(k->arena, float, N);
	k->y32 = arena_array(k->arena, float, N);
	k->z32 = arena_array(k->arena, float, N);
	k->x64 = arena_array(k->arena, double, N);
	k->y64 = arena_array(k->arena, double, N);
	k->z64 = arena_array(k->arena, double, N);
}

static void run_kernel(Kernel *k)
{
	Err err = { 0 };
	IrArg arg[] = { { "x", k->x32, 0 }, { "z", k->z32, 0 }, { "y", k->y32, 0 }, { "xd", k->x64, 0 },
		{ "zd", k->z64, 0 }, { "yd", k->y64, 0 } };
	ck_assert_msg(codegen_call(k->ks, &k->m, k->code, arg, LEN(arg), &err), "%s", err.text);
}

static void close_kernel(Kernel *k)
{
	codegen_unmap(k->code);
	arena_free(k->arena);
}

/* Units in the last place of a result with `digits` digits, subnormals included. */
static double ulps(long double want, double got, int digits, int least)
{
	int e;
	double max = digits == 24 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
	if (isnan(want) || isnan(got))
		return isnan(want) && isnan(got) ? 0 : INFINITY;
	if (fabsl(want) > max) /* infinity, and rounding to it */
		return isinf(got) || fabs(got) == max ? 0 : INFINITY;
	if (isinf(got))
		return fabsl(want) > max * (1 - 0x1p-20) ? 0 : INFINITY;
	frexpl(want, &e);
	return (double)(fabsl(want - got) / ldexpl(1, e - digits < least ? least : e - digits));
}

enum { LEVELS = 3 };

static bool choose_level(Target *t, int k)
{
	static const char *const level[LEVELS] = { NULL, "x86-64", "x86-64-v3" };
	char text[64];
	Target host;
	target_host(&host, 1);
	*t = host;
	if (k == 0 || host.arch != ARCH_X86_64)
		return k == 0;
	snprintf(text, sizeof text, "{\"kind\":\"cpu\",\"model\":\"%s\"}", level[k]);
	return target_parse(t, level[k], text, strlen(text), 1, NULL) && target_runs_on(t, &host, NULL);
}

START_TEST(errors)
{
	const Func *f = &funcs[_i / LEVELS];
	Target t;
	Kernel k;
	char expr[32];
	double worst32 = 0, worst64 = 0, at32 = 0, at64 = 0;
	if (!choose_level(&t, _i % LEVELS))
		return;
	Rng rng = rng_seed(0x3a74u + (uint64_t)_i);
	snprintf(expr, sizeof expr, "%s(a)", f->name);
	open_kernel(&k, &t, expr);
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 2000 : 60;
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < N; i++) {
			double s = log(f->lo) + rng_real(&rng) * (log(f->hi) - log(f->lo));
			double x = exp(s) * (rng_below(&rng, 2) ? 1 : -1);
			if (round % 2 == 1) /* evenly, where most of the change is */
				x = (rng_real(&rng) * 2 - 1) * (f->hi > 100 && f->want != logl ? 100 : 8);
			if (f->want == logl)
				x = round % 2 == 1 ? 0.5 + fabs(x) / 8 : fabs(x);
			k.x32[i] = (float)x;
			k.x64[i] = x;
		}
		run_kernel(&k);
		for (int i = 0; i < N; i++) {
			double u = ulps(f->want((long double)k.x32[i]), (double)k.y32[i], 24, -149);
			if (u > worst32)
				worst32 = u, at32 = (double)k.x32[i];
			u = ulps(f->want((long double)k.x64[i]), k.y64[i], 53, -1074);
			if (u > worst64)
				worst64 = u, at64 = k.x64[i];
		}
	}
	close_kernel(&k);
	printf("%-8s %-10s f32 %.2f ulp at %a, f64 %.2f ulp at %a\n", f->name, t.model, worst32, at32, worst64, at64);
	ck_assert_msg(worst32 <= f->ulps32, "%s of f32: %.2f ulp at %a", f->name, worst32, at32);
	ck_assert_msg(worst64 <= f->ulps64, "%s of f64: %.2f ulp at %a", f->name, worst64, at64);
}
END_TEST

START_TEST(powers)
{
	Target t;
	Kernel k;
	double worst32 = 0, worst64 = 0;
	if (!choose_level(&t, _i))
		return;
	Rng rng = rng_seed(0x90u + (uint64_t)_i);
	open_kernel(&k, &t, "pow(a, b)");
	for (int round = 0; round < (getenv("DLC_TEST_ALL") != NULL ? 2000 : 60); round++) {
		for (int i = 0; i < N; i++) {
			double x = exp(rng_normal(&rng) * (round % 2 ? 0.5 : 20)), y = rng_normal(&rng) * (round % 2 ? 50 : 3);
			if (rng_below(&rng, 4) == 0)
				x = -x, y = rint(y);
			k.x32[i] = (float)x;
			k.z32[i] = (float)y;
			k.x64[i] = x;
			k.z64[i] = y;
		}
		run_kernel(&k);
		for (int i = 0; i < N; i++) {
			double u = ulps(powl((long double)k.x32[i], (long double)k.z32[i]), (double)k.y32[i], 24, -149);
			double v = ulps(powl((long double)k.x64[i], (long double)k.z64[i]), k.y64[i], 53, -1074);
			worst32 = u > worst32 ? u : worst32;
			worst64 = v > worst64 ? v : worst64;
		}
	}
	close_kernel(&k);
	printf("pow      %-10s f32 %.2f ulp, f64 %.2f ulp\n", t.model, worst32, worst64);
	ck_assert_msg(worst32 <= 1, "pow of f32: %.2f ulp", worst32);
	ck_assert_msg(worst64 <= 4, "pow of f64: %.2f ulp", worst64);
}
END_TEST

/* Where C says what a function is, so do we; the sign of zero included. */
START_TEST(specials)
{
	static const double x[] = { 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 4, 1e30, -1e30, HUGE_VAL, -HUGE_VAL, NAN };
	static const char *const exprs[] = { "exp(a)", "log(a)", "tanh(a)", "erf(a)", "sigmoid(a)", "sin(a)", "cos(a)",
		"atan(a)", "expm1(a)", "log1p(a)", "pow(a, b)" };
	long double (*const want[])(long double) = { expl, logl, tanhl, erfl, sigmoid, sinl, cosl, atanl, expm1l, log1pl };
	Target t;
	Kernel k;
	if (!choose_level(&t, _i % LEVELS))
		return;
	int which = _i / LEVELS;
	open_kernel(&k, &t, exprs[which]);
	bool pow = which == LEN(want), wave = which == 5 || which == 6;
	for (int i = 0; i < LEN(x) * LEN(x); i++) {
		k.x32[i] = (float)(k.x64[i] = x[i / LEN(x)]);
		k.z32[i] = (float)(k.z64[i] = x[i % LEN(x)]);
	}
	run_kernel(&k);
	for (int i = 0; i < LEN(x) * LEN(x); i++) {
		if (wave && isfinite(k.x64[i]) && fabs(k.x64[i]) > 1e6)
			continue;
		long double w = pow ? powl((long double)k.x64[i], (long double)k.z64[i]) : want[which]((long double)k.x64[i]);
		ck_assert_msg(ulps(w, k.y64[i], 53, -1074) <= 4 && (isnan(w) || !signbit(w) == !signbit(k.y64[i])),
			"f64 %s, %g, %g: %g, not %Lg", exprs[which], k.x64[i], k.z64[i], k.y64[i], w);
		w = pow ? powl((long double)k.x32[i], (long double)k.z32[i]) : want[which]((long double)k.x32[i]);
		ck_assert_msg(ulps(w, (double)k.y32[i], 24, -149) <= 4 && (isnan(w) || !signbit(w) == !signbit(k.y32[i])),
			"f32 %s, %g, %g: %g, not %Lg", exprs[which], k.x64[i], k.z64[i], (double)k.y32[i], w);
	}
	close_kernel(&k);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("math");
	tcase_add_loop_test(tc, errors, 0, LEVELS * LEN(funcs));
	tcase_add_loop_test(tc, powers, 0, LEVELS);
	tcase_add_loop_test(tc, specials, 0, LEVELS * (LEN(funcs) + 1));
	return run_code_suite("codegen-math", tc);
}
