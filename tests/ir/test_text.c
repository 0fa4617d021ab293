/*
 * The written form: golden texts and random programs read back to what they were, and hostile
 * texts are refused with the line and a sentence.
 */
#include "ir/build.h"
#include "ir/random.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "suite.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool all(void)
{
	return getenv("DLC_TEST_ALL") != NULL;
}

static char *read_file(Arena *a, const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	ck_assert_msg(f != NULL, "%s", path);
	char *text = arena_alloc(a, 1 << 20);
	*n = fread(text, 1, 1 << 20, f);
	fclose(f);
	return text;
}

/* ---- golden texts ---- */

START_TEST(golden_texts)
{
	DIR *dir = opendir(TEST_SOURCE "/tests/ir/golden");
	int count = 0;
	ck_assert_ptr_nonnull(dir);
	for (struct dirent *d; (d = readdir(dir)) != NULL;) {
		if (strstr(d->d_name, ".ir") == NULL)
			continue;
		Arena *a = arena_new();
		Err err = { 0 };
		size_t n;
		char *path = arena_printf(a, TEST_SOURCE "/tests/ir/golden/%s", d->d_name);
		char *text = read_file(a, path, &n);
		KernelSet *ks = ir_parse_set(ir_new(a), d->d_name, text, n, &err);
		ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
		ck_assert_msg(ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
		ck_assert_str_eq(ir_set_str(a, ks), text);
		arena_free(a);
		count++;
	}
	closedir(dir);
	ck_assert_int_ge(count, 1);
}
END_TEST

/* ---- expressions: text -> what is printed again ---- */

static const struct {
	const char *text, *printed;
} forms[] = {
	{ "(i + j) + k", "i + j + k" },
	{ "i + (j + k)", "i + (j + k)" },
	{ "(i * j) + k", "i * j + k" },
	{ "i * (j + k)", "i * (j + k)" },
	{ "i - (j - k)", "i - (j - k)" },
	{ "i > j", "j < i" },
	{ "i >= j + 1", "j + 1 <= i" },
	{ "i<-1", "i < -1" },
	{ "i < j & j <= k | b", "i < j & j <= k | b" },
	{ "(i & j) == k", "(i & j) == k" },
	{ "i << 2 + j", "i << 2 + j" },
	{ "(i << 2) + j", "(i << 2) + j" },
	{ "-i * j", "-i * j" },
	{ "-(i * j)", "-(i * j)" },
	{ "-3", "-3" },
	{ "-(3)", "-(3)" },
	{ "--3", "-(-3)" },
	{ "i - -3", "i - -3" },
	{ "- 3", "-3" },
	{ "!b & b", "!b & b" },
	{ "!(b & b)", "!(b & b)" },
	{ "1.5", "1.5" },
	{ "1e2", "100.0" },
	{ "1e20", "1e+20" },
	{ "1.25e-3", "0.00125" },
	{ "0.1", "0.1" },
	{ "-inf", "-inf" },
	{ "-(inf)", "-(inf)" },
	{ "nan", "nan" },
	{ "-0.0", "-0.0" },
	{ "f64(0.1)", "f64(0.1)" },
	{ "f64(-0.1)", "f64(-0.1)" },
	{ "f64(3)", "f64(3.0)" },
	{ "f16(0.1)", "f16(0.0999755859375)" },
	{ "bf16(inf)", "bf16(inf)" },
	{ "i32(3)", "i32(3)" },
	{ "i32(-3)", "i32(-3)" },
	{ "-i32(3)", "-i32(3)" },
	{ "i64(3)", "3" },
	{ "f32(3)", "3.0" },
	{ "i32(1.75)", "i32(1)" },
	{ "u8(nan)", "u8(0)" },
	{ "i8(-inf)", "i8(-128)" },
	{ "u64(18446744073709551615)", "u64(18446744073709551615)" },
	{ "-9223372036854775808", "-9223372036854775808" },
	{ "bool(1)", "true" },
	{ "i32(i)", "i32(i)" },
	{ "i64(i)", "i64(i)" },
	{ "f32(300 + i)", "f32(300 + i)" },
	{ "bits.f32(i32(i))", "bits.f32(i32(i))" },
	{ "select(b, x[i, j], 0.0)", "select(b, x[i, j], 0.0)" },
	{ "s[]", "s[]" },
	{ "x[i, ramp(j, 2, 8)] * splat(2.0, 8)", "x[i, ramp(j, 2, 8)] * splat(2.0, 8)" },
	{ "lane(x[0, ramp(0, 1, 4)], 3)", "lane(x[0, ramp(0, 1, 4)], 3)" },
	{ "dot4(i32(i), u8x4(x[0, ramp(0, 1, 4)]), splat(i8(j), 4))",
		"dot4(i32(i), u8x4(x[0, ramp(0, 1, 4)]), splat(i8(j), 4))" },
	{ "tdiv(i, 3) + tmod(i, 3) + i % 3 + i / 3", "tdiv(i, 3) + tmod(i, 3) + i % 3 + i / 3" },
	{ "fma(1.0, 2.0, 3.0) # a comment", "fma(1.0, 2.0, 3.0)" },
	{ "i.o * 8 + i.i", "i.o * 8 + i.i" },
	{ "exp", "exp" },
};

static const Param *vars(Ir *ir, int *n)
{
	static Param p[9];
	const int64_t shape[] = { 4, 9 };
	const char *const names[] = { "i", "j", "k", "i.o", "i.i", "exp" };
	*n = 9;
	for (int i = 0; i < 6; i++)
		p[i] = (Param){ NULL, ir_name(ir, names[i]), I64 };
	p[6] = (Param){ NULL, ir_name(ir, "b"), BOOL };
	p[7].buf = ir_buf(ir, "x", BUF_IN, F32, "global", shape, 2);
	p[8].buf = ir_buf(ir, "s", BUF_IN, F32, "global", NULL, 0);
	for (int i = 7; i < 9; i++) {
		p[i].name = p[i].buf->name;
		p[i].type = p[i].buf->type;
	}
	return p;
}

START_TEST(expression_forms)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	int n;
	const Param *p = vars(ir, &n);
	Err err = { 0 };
	const Expr *e = ir_parse_expr(ir, forms[_i].text, p, n, &err);
	ck_assert_msg(e != NULL, "%s: %s", forms[_i].text, err.text);
	ck_assert_str_eq(ir_expr_str(a, e), forms[_i].printed);
	ck_assert_ptr_eq(ir_parse_expr(ir, forms[_i].printed, p, n, &err), e);
	arena_free(a);
}
END_TEST

/* ---- what is refused, and where ---- */

static const struct {
	const char *text, *place, *message;
} refused[] = {
	{ "fn f( {}", "t:1", "a parameter or ')'" },
	{ "fn f() {\n\tx[0] = \n}", "t:3", "expected an expression, found '}'" },
	{ "fn f() {\n\n\tfor i in 0,4 {}\n}", "t:3", "'..'" },
	{ "fn f() { for i in 0..4 bound {} }", "t:1", "'('" },
	{ "fn f() { block b(v: spitial 0..4 = i) {} }", "t:1", "spatial, reduce or scan" },
	{ "fn f() { y[0] = sqr(1.0) }", "t:1", "did you mean sqrt" },
	{ "fn f() { y[0] = fma(1.0, 2.0) }", "t:1", "fma takes 3 arguments, not 2" },
	{ "fn f() { y[0] = u8(300) }", "t:1", "does not fit" },
	{ "fn f() { y[0] = u8(-1) }", "t:1", "does not fit" },
	{ "fn f() { y[0] = 9223372036854775808 }", "t:1", "does not fit" },
	{ "fn f() { y[0] = 18446744073709551616 }", "t:1", "beyond 64 bits" },
	{ "fn f() { y[0] = 3x }", "t:1", "starts with a digit" },
	{ "fn f() { y[0] = splat(1.0, 1) }", "t:1", "number of lanes is a number from 2" },
	{ "fn f() { y[0] = splat(1.0, n) }", "t:1", "expected the number of lanes, found 'n'" },
	{ "fn f() { y[0] = 1 $ 2 }", "t:1", "means nothing" },
	{ "fn f(x: in f33[4]) {}", "t:1", "element type" },
	{ "fn f(x: in f32[4] map (i) -> []) {}", "t:1", "an expression" },
	{ "fn f() { if true {} else if true {}", "t:1", "the end of the text" },
	{ "fn f() { let a = 1 }", "t:1", "atomic" },
	{ "fn f() { wait -1 }", "t:1", "number of groups" },
	{ "fn f() { (a[0], b[0]) <- (1) }", "t:1", "a statement or '}'" },
	{ "fn f() { m (a[0], b[0]) <- (1) }", "t:1", "the reduction has 2 targets, but 1 values" },
	{ "fn f[M in 0](x: in f32[4]) {}", "t:1", "'..'" },
	{ "monoid m(a: f32; b: f32, c: f32) { identity (0.0) combine (a) }", "t:1", "same number" },
	{ "monoid m(a: f32; b: f64) { identity (0.0) combine (a) }", "t:1", "differ in type" },
	{ "static fn f() {}", "t:1", "fn, prepare fn, sub fn or monoid" },
	{ "fn for() {}", "t:1", "a word of the language" },
};

START_TEST(refusals)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *text = refused[_i].text;
	ck_assert_ptr_null(ir_parse_set(ir_new(a), "t", text, strlen(text), &err));
	ck_assert_int_eq(err.code, ERR_SYNTAX);
	ck_assert_str_eq(err.place, refused[_i].place);
	ck_assert_msg(strstr(err.text, refused[_i].message) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* before + n times `unit` + after, without end or with it: none may crash. */
static const struct {
	const char *before, *unit, *after;
} deep[] = {
	{ "fn f() { if ", "(", "true" },
	{ "fn f() { if ", "!", "true {} }" },
	{ "fn f() { if ", "-", "1 {} }" },
	{ "fn f() { x[0] = 1", " + 1", " }" },
	{ "fn f() { x[0] = 1", " + (1", " }" },
	{ "fn f() { x[0] = ", "x[", " }" },
	{ "fn f() { x[0] = ", "exp(", " }" },
	{ "fn f() { x[0] = ", "f32(", " }" },
	{ "fn f() { x[0] = ", "min(1, ", " }" },
	{ "fn f() { ", "if a {", "" },
	{ "fn f() { if a {}", " else if a {}", " }" },
	{ "fn f() { ", "for i in 0..1 {", "" },
	{ "fn f() { ", "async {", "" },
	{ "fn f() { ", "block b() { init {", "" },
	{ "fn f(x: in f32[1", ", 1", "]) {}" },
	{ "fn f(x: in f32[1] map (a", ", a", ") -> [a : 1]) {}" },
	{ "fn f(x: in f32[1] map (a) -> [a : 1", ", a : 1", "]) {}" },
	{ "fn f(", "x: i64, ", ") {}" },
	{ "fn f[M in 1..2", ", M in 1..2", "]() {}" },
	{ "fn f() { call g(1", ", x[1:2]", ") }" },
	{ "fn f() { sum (x[0]", ", x[0]", ") <- (1) }" },
	{ "fn f() { block b(v: spatial 0..1 = 0", ", v: spatial 0..1 = 0", ") {} }" },
	{ "monoid m(a: f32", ", a: f32", "; b: f32) { identity (1) combine (a) }" },
	{ "", "a.a", "" },
};

START_TEST(deep_nesting)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	Err err = { 0 };
	text_add(&t, "%s", deep[_i].before);
	for (int i = 0; i < 20000; i++)
		text_add(&t, "%s", deep[_i].unit);
	text_add(&t, "%s", deep[_i].after);
	ck_assert_ptr_null(ir_parse_set(ir_new(a), "t", t.at, t.n, &err));
	ck_assert_int_eq(err.code, ERR_SYNTAX);
	arena_free(a);
}
END_TEST

START_TEST(oversized_text)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_ptr_null(ir_parse_set(ir_new(a), "t", "", ((size_t)64 << 20) + 1, &err));
	ck_assert_msg(strstr(err.text, "64 MiB") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

START_TEST(expression_refusals)
{
	static const char *const bad[][2] = { { "i + 1.0", "differ in type" },
		{ "q", "not declared" }, { "x[i]] ", "the end of the expression" },
		{ "x[1.0, i]", "i64" }, { "i + ", "expression" },
		{ "select(i, i, i)", "condition" }, { "f32x8(i)", "lanes" }, { "", "expression" } };
	for (int i = 0; i < LEN(bad); i++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Err err = { 0 };
		int n;
		const Param *p = vars(ir, &n);
		ck_assert_ptr_null(ir_parse_expr(ir, bad[i][0], p, n, &err));
		ck_assert_msg(strstr(err.text, bad[i][1]) != NULL, "%s: %s", bad[i][0], err.text);
		arena_free(a);
	}
}
END_TEST

/* Every prefix of a long text ends in a refusal or a set, never in a crash. */
START_TEST(truncations)
{
	Arena *text_arena = arena_new();
	size_t n;
	char *text = read_file(text_arena, TEST_SOURCE "/tests/ir/golden/language.ir", &n);
	for (size_t cut = 0; cut < n; cut++) {
		Arena *a = arena_new();
		Err err = { 0 };
		char *part = arena_copy(a, text, cut + 1);
		KernelSet *ks = ir_parse_set(ir_new(a), "t", part, cut, &err);
		ck_assert(ks != NULL || err.code == ERR_SYNTAX);
		if (ks != NULL)
			ir_verify_set(ks, &err);
		arena_free(a);
	}
	arena_free(text_arena);
}
END_TEST

/* ---- random programs ---- */

START_TEST(random_expressions)
{
	uint64_t seed = 0x5eed0001u + (uint64_t)_i;
	Rng rng = rng_seed(seed);
	for (int round = 0; round < (all() ? 10000 : 1000); round++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Err err = { 0 };
		int n;
		const Param *p = vars(ir, &n);
		DType t = random_type(&rng, RANDOM_ALL);
		if (rng_below(&rng, 4) == 0)
			t = dtype_vector(t, 2 + (int)rng_below(&rng, 7));
		const Expr *e =
			random_expr(&rng, ir, RANDOM_ALL, t, p, n, 1 + (int)rng_below(&rng, 7));
		char *text = ir_expr_str(a, e);
		const Expr *again = ir_parse_expr(ir, text, p, n, &err);
		ck_assert_msg(again != NULL, "seed %llx: %s\n%.3000s", (unsigned long long)seed,
			err.text, text);
		ck_assert_msg(again == e, "seed %llx: %s\n%.3000s", (unsigned long long)seed, text,
			ir_expr_str(a, again));
		arena_free(a);
	}
}
END_TEST

typedef struct Flat {
	Arena *arena;
	VEC(const void *) item; /* kinds and expressions in the order of the text */
} Flat;

static void flatten_expr(const Expr *e, void *arg)
{
	Flat *f = arg;
	vec_push(f->arena, &f->item, e);
}

static bool flatten_stmt(Stmt *s, void *arg)
{
	Flat *f = arg;
	vec_push(f->arena, &f->item, (const void *)(intptr_t)s->kind);
	ir_each_expr(s, flatten_expr, f);
	return true;
}

static void assert_same(Arena *a, const Fn *x, const Fn *y)
{
	Flat fx = { .arena = a }, fy = { .arena = a };
	ir_each_stmt(x->body, flatten_stmt, &fx);
	ir_each_stmt(y->body, flatten_stmt, &fy);
	ck_assert_uint_eq(fx.item.n, fy.item.n);
	ck_assert(
		fx.item.n == 0 || memcmp(fx.item.at, fy.item.at, fx.item.n * sizeof(void *)) == 0);
}

START_TEST(random_sets)
{
	uint64_t seed = 0x5eed1000u + (uint64_t)_i;
	Rng rng = rng_seed(seed);
	for (int round = 0; round < (all() ? 2000 : 200); round++) {
		Arena *a = arena_new();
		Ir *ir = ir_new(a);
		Err err = { 0 };
		KernelSet *ks = random_set(&rng, ir, RANDOM_ALL, 1 + (int)rng_below(&rng, 4));
		const char *text = ir_set_str(a, ks);
		ck_assert_msg(ir_verify_set(ks, &err), "seed %llx: %s %s\n%.3000s",
			(unsigned long long)seed, err.place, err.text, text);
		KernelSet *again = ir_parse_set(ir, "t", text, strlen(text), &err);
		ck_assert_msg(again != NULL, "seed %llx: %s %s\n%.3000s", (unsigned long long)seed,
			err.place, err.text, text);
		ck_assert_str_eq(ir_set_str(a, again), text);
		ck_assert_uint_eq(again->n, ks->n);
		for (size_t i = 0; i < ks->n; i++)
			assert_same(a, ks->fn[i], again->fn[i]);
		ck_assert_msg(ir_verify_set(again, &err), "%s", err.text);
		ck_assert_str_eq(ir_set_str(a, ir_clone_set_into(ir_new(a), ks)), text);
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("text");
	tcase_add_test(tc, golden_texts);
	tcase_add_loop_test(tc, expression_forms, 0, LEN(forms));
	tcase_add_loop_test(tc, refusals, 0, LEN(refused));
	tcase_add_loop_test(tc, deep_nesting, 0, LEN(deep));
	tcase_add_test(tc, oversized_text);
	tcase_add_test(tc, expression_refusals);
	tcase_add_test(tc, truncations);
	tcase_add_loop_test(tc, random_expressions, 0, 10);
	tcase_add_loop_test(tc, random_sets, 0, 10);
	return run_suite("ir-text", tc);
}
