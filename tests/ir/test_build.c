/*
 * Element types, constant folding, constructors, walks and copies.
 */
#include "ir/build.h"
#include "ir/node.h"
#include "ir/query.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/walk.h"
#include "base/rng.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

START_TEST(type_names)
{
	static const char *const good[] = { "f32", "f16", "bf16", "f64", "i2", "i4", "i8", "i64",
		"u64", "bool", "f32x16", "boolx2", "u8x4096", "bf16x8" };
	static const char *const bad[] = { "", "f", "f8", "f32x", "f32x1", "f32x0", "f32x4097",
		"i3", "i128", "x", "bool8", "bf32", "f032", "f32x08", "f32x99999999999", "i64 ",
		"F32", "u-8" };
	for (int i = 0; i < LEN(good); i++) {
		DType t;
		char text[DTYPE_TEXT];
		ck_assert_msg(dtype_parse(good[i], strlen(good[i]), &t), "%s", good[i]);
		ck_assert_str_eq(dtype_print(t, text), good[i]);
		ck_assert(dtype_known(t));
	}
	for (int i = 0; i < LEN(bad); i++) {
		DType t;
		ck_assert_msg(!dtype_parse(bad[i], strlen(bad[i]), &t), "%s", bad[i]);
	}
	ck_assert_int_eq(dtype_bytes(DT(INT, 4), 5), 3);
	ck_assert_int_eq(dtype_bytes(F32, 5), 20);
	ck_assert_int_eq(dtype_bytes(F32, INT64_MAX / 8), -1);
	ck_assert_int_eq(dtype_bytes(F32, -1), -1);
}
END_TEST

/* The value of 16 bits as IEEE half (5 bits of exponent) or bfloat16 (8). */
static double decode(unsigned bits, int exponent_bits)
{
	int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
	int e = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
	double f = ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
	double v = e == 0 ? ldexp(f, 1 - bias) : ldexp(1 + f, e - bias);
	if (e == (1 << exponent_bits) - 1)
		v = f == 0 ? INFINITY : NAN;
	return bits >> 15 ? -v : v;
}

/* Every finite value stays; the middle of two goes to the even one, what is beside it to the nearer. */
START_TEST(narrow_floats)
{
	static const DType types[] = { { DT_FLOAT, 16, 1 }, { DT_BFLOAT, 16, 1 } };
	for (int k = 0; k < 2; k++)
		for (unsigned bits = 0; bits < 0x7fff; bits++) {
			int ebits = k == 0 ? 5 : 8;
			double v = decode(bits, ebits), next = decode(bits + 1, ebits);
			if (!isfinite(v))
				break;
			ck_assert(dtype_round(types[k], v) == v);
			ck_assert(dtype_round(types[k], -v) == -v);
			if (!isfinite(next)) {
				ck_assert(isinf(dtype_round(types[k], v * 1.01)));
				continue;
			}
			double middle = (v + next) / 2, even = bits % 2 == 0 ? v : next;
			ck_assert(dtype_round(types[k], middle) == even);
			ck_assert(dtype_round(types[k], nextafter(middle, 0)) == v);
			ck_assert(dtype_round(types[k], nextafter(middle, INFINITY)) == next);
		}
	ck_assert(isnan(dtype_round(F32, NAN)));
	ck_assert(isinf(dtype_round(types[0], 65520)) && dtype_round(types[0], 65519) == 65504);
}
END_TEST

START_TEST(conversions)
{
	ck_assert_int_eq(dtype_wrap(DT(INT, 8), 200), -56);
	ck_assert_int_eq(dtype_wrap(DT(UINT, 4), -1), 15);
	ck_assert_int_eq(dtype_wrap(DT(INT, 2), 2), -2);
	ck_assert_int_eq(dtype_wrap(BOOL, -7), 1);
	ck_assert_int_eq(dtype_float_to_int(DT(INT, 8), 1e9), 127);
	ck_assert_int_eq(dtype_float_to_int(DT(INT, 8), -1e9), -128);
	ck_assert_int_eq(dtype_float_to_int(DT(UINT, 8), -3.5), 0);
	ck_assert_int_eq(dtype_float_to_int(DT(UINT, 64), 1e30), -1);
	ck_assert_int_eq(dtype_float_to_int(I64, 0x1p63), INT64_MAX);
	ck_assert_int_eq(dtype_float_to_int(I64, -0x1p63), INT64_MIN);
	ck_assert_int_eq(dtype_float_to_int(I64, NAN), 0);
	ck_assert_int_eq(dtype_float_to_int(DT(INT, 32), -2.9), -2);
	Rng rng = rng_seed(7);
	for (int i = 0; i < 100000; i++) {
		int64_t v = (int64_t)(rng_next(&rng) >> rng_below(&rng, 64));
		v = i % 2 == 0 ? v : -v;
		ck_assert(dtype_int_to_float(F32, I64, v) == (double)(float)v);
		ck_assert(dtype_int_to_float(F64, I64, v) == (double)v);
		ck_assert(dtype_int_to_float(F32, DT(UINT, 64), v) == (double)(float)(uint64_t)v);
	}
}
END_TEST

/* op on two integers of a type. */
static const struct {
	Node op;
	DTypeKind kind;
	int bits;
	int64_t a, b, result;
	bool fails;
} int_folds[] = {
	{ IR_ADD, DT_INT, 8, 127, 1, -128, false },
	{ IR_SUB, DT_UINT, 8, 0, 1, 255, false },
	{ IR_MUL, DT_INT, 64, INT64_MAX, 2, -2, false },
	{ IR_DIV, DT_INT, 64, 7, -2, -4, false },
	{ IR_DIV, DT_INT, 64, -7, 2, -4, false },
	{ IR_DIV, DT_INT, 64, -7, -2, 3, false },
	{ IR_MOD, DT_INT, 64, -7, 2, 1, false },
	{ IR_MOD, DT_INT, 64, 7, -2, -1, false },
	{ IR_TDIV, DT_INT, 64, -7, 2, -3, false },
	{ IR_TMOD, DT_INT, 64, -7, 2, -1, false },
	{ IR_DIV, DT_INT, 64, INT64_MIN, -1, INT64_MIN, false },
	{ IR_MOD, DT_INT, 64, INT64_MIN, -1, 0, false },
	{ IR_TMOD, DT_INT, 64, INT64_MIN, -1, 0, false },
	{ IR_DIV, DT_INT, 8, -128, -1, -128, false },
	{ IR_DIV, DT_UINT, 64, -1, 2, INT64_MAX, false },
	{ IR_DIV, DT_INT, 64, 1, 0, 0, true },
	{ IR_TMOD, DT_INT, 64, 1, 0, 0, true },
	{ IR_SHL, DT_INT, 8, 1, 7, -128, false },
	{ IR_SHL, DT_INT, 8, 1, 8, 0, true },
	{ IR_SHR, DT_INT, 8, -128, 7, -1, false },
	{ IR_SHR, DT_UINT, 8, 128, 7, 1, false },
	{ IR_SHR, DT_INT, 8, 1, -1, 0, true },
	{ IR_LT, DT_UINT, 64, 1, -1, 1, false },
	{ IR_LT, DT_INT, 64, 1, -1, 0, false },
	{ IR_MAX, DT_UINT, 64, 1, -1, -1, false },
	{ IR_XOR, DT_INT, 32, 6, 3, 5, false },
	{ IR_EQ, DT_INT, 32, 3, 3, 1, false },
	{ IR_AND, DT_BOOL, 8, 1, 0, 0, false },
};

START_TEST(integer_folding)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	DType t = { (uint8_t)int_folds[_i].kind, (uint8_t)int_folds[_i].bits, 1 };
	const Expr *arg[2] = { ir_const_int(ir, t, int_folds[_i].a),
		ir_const_int(ir, t, int_folds[_i].b) };
	const Expr *e = ir_fold(ir, int_folds[_i].op, ir_result_type(int_folds[_i].op, t), arg, 2);
	ck_assert_int_eq(e == NULL, int_folds[_i].fails);
	if (e != NULL)
		ck_assert_int_eq(e->i, int_folds[_i].result);
	arena_free(a);
}
END_TEST

START_TEST(float_folding)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	const Expr *x = ir_const_float(ir, F32, 0.1), *y = ir_const_float(ir, F32, 3);
	ck_assert(ir_mul(ir, x, y)->f == (double)(0.1f * 3.0f));
	ck_assert(ir_div(ir, x, y)->f == (double)(0.1f / 3.0f));
	ck_assert(ir_fma(ir, x, y, x)->f == (double)fmaf(0.1f, 3.0f, 0.1f));
	ck_assert(ir_unary(ir, IR_SQRT, x)->f == (double)sqrtf(0.1f));
	ck_assert(ir_unary(ir, IR_ROUND, ir_const_float(ir, F32, 2.5))->f == 2);
	ck_assert_int_eq(ir_unary(ir, IR_EXP, x)->op, IR_EXP);
	const Expr *nan = ir_const_float(ir, F32, NAN), *inf = ir_const_float(ir, F32, INFINITY);
	ck_assert_ptr_eq(ir_sub(ir, inf, inf), nan);
	ck_assert_ptr_eq(ir_max(ir, x, nan), nan);
	ck_assert(ir_min(ir, inf, x) == x);
	ck_assert_int_eq(ir_eq(ir, nan, nan)->i, 0);
	ck_assert_int_eq(ir_unary(ir, IR_ISNAN, nan)->i, 1);
	const Expr *zero = ir_const_float(ir, F32, 0), *minus = ir_const_float(ir, F32, -0.0);
	ck_assert_ptr_ne(zero, minus);
	ck_assert_int_eq(ir_min(ir, zero, minus)->op, IR_MIN);
	ck_assert_ptr_eq(ir_cast(ir, DT(INT, 8), inf), ir_const_int(ir, DT(INT, 8), 127));
	arena_free(a);
}
END_TEST

/* Constructors: what is asked for -> what comes, in text. */
START_TEST(identities)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	const Expr *i = ir_idx(ir, "i"), *zero = ir_int(ir, 0), *one = ir_int(ir, 1);
	const Expr *x = ir_var(ir, "x", F32), *fzero = ir_const_float(ir, F32, 0);
	const Expr *b = ir_var(ir, "b", BOOL);
	ck_assert_ptr_eq(ir_add(ir, i, zero), i);
	ck_assert_ptr_eq(ir_add(ir, zero, i), i);
	ck_assert_ptr_eq(ir_sub(ir, i, zero), i);
	ck_assert_ptr_eq(ir_mul(ir, i, one), i);
	ck_assert_ptr_eq(ir_mul(ir, i, zero), zero);
	ck_assert_ptr_eq(ir_div(ir, i, one), i);
	ck_assert_ptr_eq(ir_mod(ir, i, one), zero);
	ck_assert_ptr_eq(ir_min(ir, i, i), i);
	ck_assert_ptr_eq(ir_and(ir, b, ir_bool(ir, true)), b);
	ck_assert_ptr_eq(ir_binary(ir, IR_OR, ir_bool(ir, true), b), ir_bool(ir, true));
	ck_assert_ptr_eq(ir_select(ir, ir_bool(ir, false), i, zero), zero);
	ck_assert_ptr_ne(ir_add(ir, x, fzero), x); /* -0.0 + 0.0 is 0.0 */
	ck_assert_ptr_eq(ir_lane(ir, ir_splat(ir, x, 8), 3), x);
	ck_assert_ptr_eq(ir_ramp(ir, i, one, 1), i);
	ck_assert_ptr_eq(ir_add(ir, ir_splat(ir, i, 4), ir_splat(ir, zero, 4)), ir_splat(ir, i, 4));
	ck_assert_ptr_eq(ir_add(ir, i, one), ir_add(ir, ir_idx(ir, "i"), ir_int(ir, 1)));
	ck_assert_int_eq(ir_add(ir, i, one)->depth, 2);
	arena_free(a);
}
END_TEST

START_TEST(builtin_monoids)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	ck_assert_ptr_eq(ir_builtin_monoid(ir, "sum", F32), ir_builtin_monoid(ir, "sum", F32));
	ck_assert_int_eq(ir_builtin_monoid(ir, "max", DT(INT, 8))->identity[0]->i, -128);
	ck_assert_int_eq(ir_builtin_monoid(ir, "max", DT(UINT, 64))->identity[0]->i, 0);
	ck_assert_int_eq(ir_builtin_monoid(ir, "min", DT(UINT, 64))->identity[0]->i, -1);
	ck_assert_int_eq(ir_builtin_monoid(ir, "min", I64)->identity[0]->i, INT64_MAX);
	ck_assert(ir_builtin_monoid(ir, "min", F32)->identity[0]->f == (double)INFINITY);
	ck_assert_int_eq(ir_builtin_monoid(ir, "and", DT(UINT, 4))->identity[0]->i, 15);
	ck_assert_int_eq(ir_builtin_monoid(ir, "and", BOOL)->identity[0]->i, 1);
	ck_assert_ptr_null(ir_builtin_monoid(ir, "and", F32));
	ck_assert_ptr_null(ir_builtin_monoid(ir, "sum", BOOL));
	ck_assert_ptr_null(ir_builtin_monoid(ir, "mean", F32));
	arena_free(a);
}
END_TEST

START_TEST(names)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	ir_name(ir, "i.2");
	ck_assert_str_eq(ir_fresh_name(ir, "i"), "i.1");
	ck_assert_str_eq(ir_fresh_name(ir, "i"), "i.3");
	ck_assert_str_eq(ir_fresh_name(ir, "i.3"), "i.4");
	ck_assert_str_eq(ir_fresh_name(ir, "i.o"), "i.o.1");
	ck_assert_str_eq(ir_fresh_name(ir, "j7"), "j7.1");
	ck_assert_ptr_eq(ir_name(ir, "i.4"), ir_name_n(ir, "i.4 and more", 3));
	for (int i = 0; i < 5000; i++)
		ir_fresh_name(ir, "many");
	ck_assert_str_eq(ir_fresh_name(ir, "many"), "many.5001");
	arena_free(a);
}
END_TEST

static void count(const Expr *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

/* A tower of squares has as many nodes as storeys: no walk may see 2^64 of them. */
START_TEST(shared_parts)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	const Expr *e = ir_idx(ir, "i"), *j = ir_idx(ir, "j");
	for (int i = 0; i < 64; i++)
		e = ir_mul(ir, e, e);
	int n = 0;
	ir_each_node(e, count, &n);
	ck_assert_int_eq(n, 65);
	ck_assert(!ir_uses_var(e, "k") && ir_uses_var(e, "i"));
	const Expr *swapped = ir_subst(ir, e, "i", j);
	ck_assert(ir_uses_var(swapped, "j") && !ir_uses_var(swapped, "i"));
	ck_assert_ptr_eq(ir_subst(ir, swapped, "j", ir_idx(ir, "i")), e);
	ck_assert_ptr_eq(ir_subst(ir, e, "k", j), e);
	arena_free(a);
}
END_TEST

/* Whether it names that, and how many different nodes it has: by looking at all of the tree. */
static bool names_it(const Expr *e, const char *name, bool load)
{
	bool is = e->op == (load ? IR_LOAD : IR_VAR) && strcmp(e->name, name) == 0;
	for (int i = 0; i < e->nargs && !is; i++)
		is = names_it(e->arg[i], name, load);
	return is;
}

static int nodes_of(const Expr *e, const Expr **seen, int n)
{
	for (int i = 0; i < e->nargs; i++)
		n = nodes_of(e->arg[i], seen, n);
	for (int i = 0; i < n; i++)
		if (seen[i] == e)
			return n;
	seen[n] = e;
	return n + 1;
}

static const Expr *replaced(Ir *ir, const Expr *e, void *name)
{
	return e->op == IR_VAR && strcmp(e->name, name) == 0 ? ir_idx(ir, "instead") : e;
}

/* Walks that leave out what cannot be of use find what those find that look at everything. */
START_TEST(walks_find_the_same)
{
	enum { VARS = 40, MOST = 4000 };
	Rng r = rng_seed(5);
	for (int k = 0; k < 300; k++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Param var[VARS];
		char name[VARS][16];
		const Expr **seen = arena_array(a, const Expr *, MOST);
		for (int i = 0; i < VARS; i++) {
			snprintf(name[i], sizeof name[i], "v%d%s", i, i % 2 ? ".0" : "");
			Buf *b = i % 4 == 3 ? ir_buf(ir, name[i], BUF_IN, F32, "global", (int64_t[]){ 8 }, 1) : NULL;
			var[i] = (Param){ b, ir_name(ir, name[i]), b != NULL ? F32 : I64 };
		}
		const Expr *e = random_expr(&r, ir, RANDOM_VECTORS, k % 2 ? F32 : I64, var, VARS, 1 + k % 5);
		int n = 0, most = e->size < MOST ? nodes_of(e, seen, 0) : 0;
		ir_each_node(e, count, &n);
		ck_assert(most == 0 || n == most);
		for (int i = 0; i < VARS; i++) {
			ck_assert_int_eq(ir_uses_var(e, name[i]), names_it(e, name[i], false));
			ck_assert(!names_it(e, name[i], true) || (e->names & ir_name_bit(name[i])) != 0);
			ck_assert(ir_subst(ir, e, name[i], ir_idx(ir, "instead")) == ir_map_expr(ir, e, replaced, name[i]));
		}
		bool loads = false;
		for (int i = 3; i < VARS; i += 4)
			loads = loads || names_it(e, name[i], true);
		ck_assert_int_eq(ir_has_load(e), loads);
		arena_free(a);
	}
}
END_TEST

/* Replaces i by i + 1, and folds on the way; a second map runs inside of the first. */
static const Expr *nested(Ir *ir, const Expr *e, void *arg)
{
	(void)arg;
	return e->op == IR_VAR ? ir_subst(ir, ir_add(ir, e, ir_int(ir, 1)), "none", e) : e;
}

START_TEST(maps_and_clones)
{
	static const char text[] = "fn f(y: out f32[64]) {\n"
				   "\tfor i in 0..4 {\n"
				   "\t\talloc t: f32[8] map (a) -> [a / 2 : 4, a % 2 : 2]\n"
				   "\t\tif i < 2 {\n"
				   "\t\t\ty[i] = y[i * 2]\n"
				   "\t\t} else {\n"
				   "\t\t\tsum y[i] <- t[i]\n"
				   "\t\t}\n"
				   "\t}\n"
				   "}\n";
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	Err err = { 0 };
	Text t = { .arena = a }, u = { .arena = a };
	KernelSet *ks = ir_parse_set(ir, "t", text, strlen(text), &err);
	ck_assert_ptr_nonnull(ks);
	KernelSet *copy = ir_clone_set_into(ir_new(a), ks);
	ir_map_stmt(copy->ir,  copy->fn[0]->body, nested, NULL);
	ir_find_buf(copy->fn[0], "t")->map.n = 0;
	ir_print_stmt(&t, copy->fn[0]->body->loop.body->next, 0);
	ck_assert_str_eq(t.at,
		"if i + 1 < 2 {\n\ty[i + 1] = y[(i + 1) * 2]\n} else {\n\tsum y[i + 1] <- "
		"t[i + 1]\n}\n");
	ir_print_set(&u, ks);
	ck_assert_str_eq(u.at, text);
	ck_assert_ptr_ne(ir_find_buf(ks->fn[0], "t"), ir_find_buf(copy->fn[0], "t"));
	ck_assert_ptr_null(ir_find_buf(ks->fn[0], "q"));
	arena_free(a);
}
END_TEST

/* The table of nodes: names and text forms are unique, so that text is unambiguous. */
START_TEST(node_table)
{
	for (int i = 0; i < IR_NODE_COUNT; i++)
		for (int j = 0; j < i; j++) {
			const NodeRow *x = &ir_node_row[i], *y = &ir_node_row[j];
			bool prefixes = (x->form == FORM_PREFIX) != (y->form == FORM_PREFIX);
			ck_assert_str_ne(x->name, y->name);
			ck_assert(x->text[0] == '\0' || prefixes || strcmp(x->text, y->text) != 0);
		}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("build");
	tcase_add_test(tc, type_names);
	tcase_add_test(tc, narrow_floats);
	tcase_add_test(tc, conversions);
	tcase_add_loop_test(tc, integer_folding, 0, LEN(int_folds));
	tcase_add_test(tc, float_folding);
	tcase_add_test(tc, identities);
	tcase_add_test(tc, builtin_monoids);
	tcase_add_test(tc, names);
	tcase_add_test(tc, shared_parts);
	tcase_add_test(tc, walks_find_the_same);
	tcase_add_test(tc, maps_and_clones);
	tcase_add_test(tc, node_table);
	return run_suite("ir-build", tc);
}
