/*
 * The verifier: every rule refuses the text that breaks it, by name; what is legal passes; and
 * programs that no text can hold are refused too.
 */
#include "ir/build.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <string.h>

/* The name of the rule that refuses the text, "" if none does. */
static const char *refused_by(Arena *a, const char *text, Err *err)
{
	KernelSet *ks = ir_parse_set(ir_new(a), "t", text, strlen(text), err);
	if (ks != NULL && ir_verify_set(ks, err))
		return "";
	const char *colon = strchr(err->text, ':');
	return colon != NULL ? arena_printf(a, "%.*s", (int)(colon - err->text), err->text)
	                     : err->text;
}

START_TEST(rules)
{
	for (const IrRule *r = ir_verify_rules(); r->name != NULL; r++) {
		Arena *a = arena_new();
		Err err = { 0 };
		ck_assert_str_eq(refused_by(a, r->broken, &err), r->name);
		ck_assert_msg(strlen(err.place) > 0, "%s", r->name);
		arena_free(a);
	}
}
END_TEST

/* Further texts, with the rule that each breaks ("" if it is legal). */
static const struct {
	const char *rule, *text;
} cases[] = {
	{ "", "" },
	{ "", "fn f() {}" },
	{ "", "fn f(y: out f32[4]) { for i in 0..4 { y[i] = 1.0 } for j in 0..4 { y[j] = 2.0 } }" },
	{ "", "fn f(y: out f32[0]) { for i in 0..0 { y[i] = 1.0 } }" },
	{ "", "fn f(y: out f32[4]) { if false { y[7] = 1.0 } }" },
	{ "", "fn f(x: in f32[4], y: out f32[4]) { y[0] = select(1 < 0, x[-1], 0.0) }" },
	{ "", "fn f(y: out f32[4]) { for i in 0..4 { if i < 2 { let a: i64 = i y[a] = 1.0 } else { "
	      "let a: i64 = i - 1 y[a + 1] = 2.0 } } }" },
	{ "", "fn f[M in 8..64 step 8](y: out f32[M]) { for i in 0..M / 8 parallel { for j in i * "
	      "8..i * 8 "
	      "+ 8 vector { y[j] = 1.0 } } }" },
	{ "", "fn f(y: inout f32[8]) { for t in 0..2 { for u in 0..4 { block s(v: scan 0..8 = t * "
	      "4 + u) {"
	      " y[v] = 1.0 } } } }" },
	{ "", "fn f(y: inout f32[8]) { for t in 0..3 { for u in 0..min(3, 8 - t * 3) { block s(v: "
	      "scan "
	      "0..8 = t * 3 + u) { y[v] = 1.0 } } } }" },
	{ "", "fn f(y: inout f32[8]) { for i in 0..8 parallel { alloc p: f32[1] @local block b(r: "
	      "reduce "
	      "0..8 = i) { sum p[0] <- 1.0 } } }" },
	{ "", "fn f(y: inout i32[8]) { for i in 0..8 parallel { block b(r: reduce 0..8 = i) { "
	      "atomic sum "
	      "y[r] <- i32(1) } } }" },
	{ "", "prepare fn p(w: const f32[4], u: out f32[4]) {} fn f(u: const f32[4], y: out "
	      "f32[4]) {}" },
	{ "", "fn f(t: work f32[4, 4] map (i, j) -> [j : 4, i : 4]) {} "
	      "fn g(t: work f32[4, 4] map (a, b) -> [b : 4, a : 4]) {}" },
	{ "", "sub fn g(n: i64, x: in f32[n]) {} fn f(x: in f32[4]) { call g(4, x[0:4]) }" },
	{ "", "fn f(x: in f32[4]) { alloc c: i32[16] @local alloc a: u8[16, 4] @local alloc b: "
	      "i8[16, 4] "
	      "@local intrin dpbusd_i32x16(c[0:16], a[0:16, 0:4], b[0:16, 0:4]) }" },
	{ "", "fn f() { alloc a: f32[4] @vta.acc }" },
	{ "axis", "fn f() { for i in 0..4 bound(grid.x) { for j in 0..4 bound(grid.x) {} } }" },
	{ "axis", "fn f() { for i in 0..4 bound(block.x) { for j in 0..4 bound(grid.x) {} } }" },
	{ "bounds", "fn f(x: in f32[4], y: out f32[4]) { y[0] = x[-1] }" },
	{ "bounds", "fn f[M in 1..8](y: out f32[M]) { y[8] = 1.0 }" },
	{ "bounds", "sub fn g(x: in f32[4]) {} fn f(x: in f32[6]) { call g(x[3:4]) }" },
	{ "bounds", "fn f() { block b(v: spatial 0..4 = 7) {} }" },
	{ "bounds", "fn f() { for i in 0..4 { block b(v: spatial 0..4 = i - 4) {} } }" },
	{ "", "fn f() { for i in 0..4 { block b(v: spatial 0..4 = i - 4) where i > 4 {} } }" },
	{ "", "fn f() { for i in 0..8 { block b(v: spatial 0..4 = i) {} } }" },
	{ "call-args", "sub fn g(x: in f32[4]) {} fn f(x: in f32[6]) { call g(x[0:5]) }" },
	{ "call-args", "sub fn g(x: in f32[4]) {} fn f(x: in f32[6, 6]) { call g(x[0:4, 0:4]) }" },
	{ "call-args", "sub fn g(x: in f32[4] @local) {} fn f(x: in f32[4]) { call g(x[0:4]) }" },
	{ "call-args", "sub fn g(x: in f32[4]) {} fn f(x: in f64[4]) { call g(x[0:4]) }" },
	{ "call-args", "sub fn g() {} fn f() { call g(1) }" },
	{ "call-args", "sub fn g(n: i64) {} fn f(x: in f32[4]) { call g(x[0:4]) }" },
	{ "call", "fn g() {} fn f() { call g() }" },
	{ "recursion", "sub fn g() { call h() } sub fn h() { call g() }" },
	{ "shadowing", "fn f(i: in f32[4]) { for i in 0..4 {} }" },
	{ "shadowing", "fn f() { for i in 0..4 { block b(i: spatial 0..4 = i) {} } }" },
	{ "unique", "fn f() { if true { alloc a: f32[4] } else { alloc a: f32[4] } }" },
	{ "declared", "fn f(y: out f32[4]) { if true { let a: i64 = 1 } y[a] = 1.0 }" },
	{ "declared", "fn f(y: out f32[4]) { if true { alloc a: f32[4] } a[0] = 1.0 }" },
	{ "declared", "fn f(y: out f32[4]) { y[y] = 1.0 }" },
	{ "declared", "fn f(y: out f32[4]) { for i in 0..4 { i[0] = 1.0 } }" },
	{ "store-type", "fn f(y: out f32[4]) { y[ramp(0, 1, 4)] = 1.0 }" },
	{ "store-type", "fn f(y: out f32[4]) { y[0] = splat(1.0, 4) }" },
	{ "mask", "fn f(y: out f32[4]) { y[ramp(0, 1, 4)] = splat(1.0, 4) where true }" },
	{ "index-rank", "fn f(y: out f32[4]) { y[i32(0)] = 1.0 }" },
	{ "index-rank",
		"fn f(y: out f32[4, 4]) { y[ramp(0, 1, 2), ramp(0, 1, 4)] = splat(1.0, 4) }" },
	{ "types", "fn f(y: out f32[4]) { y[0] = ramp(0.0, 1.0, 4) }" },
	{ "types", "fn f(y: out bool[4]) { y[0] = true < false }" },
	{ "types", "fn f(y: out bool[4]) { y[0] = isnan(1) }" },
	{ "types", "fn f(y: out f32[4]) { y[0] = lane(splat(1.0, 4), 4) }" },
	{ "types", "fn f(y: out i32[4]) { y[0] = dot4(i32(1), splat(u8(1), 8), splat(i8(1), 8)) }" },
	{ "types", "fn f(y: out i32[4]) { y[0] = dot4(i32(1), splat(u8(1), 4), splat(i16(1), 4)) }" },
	{ "types", "fn f(y: out i64[4]) { y[0] = dot4(1, splat(u8(1), 4), splat(i8(1), 4)) }" },
	{ "types", "fn f(y: out f32[4]) { y[0] = exp(1) }" },
	{ "types", "fn f(y: out f32[4]) { y[0] = bits.f32(1) }" },
	{ "types", "fn f(y: out f32[4]) { y[0] = 1.0 % 2.0 }" },
	{ "types", "fn f(y: out i64[4]) { y[0] = true + true }" },
	{ "types", "fn f(y: out i64[4]) { y[0] = splat(splat(1, 2), 4) }" },
	{ "reduce-type", "fn f(y: inout f32[4]) { sum y[0] <- splat(1.0, 2) }" },
	{ "monoid", "fn f(y: inout f32[4]) { and y[0] <- 1.0 }" },
	{ "monoid", "fn f(y: inout f32[4]) { sum (y[0], y[1]) <- (1.0, 1.0) }" },
	{ "monoid-types", "monoid m(a: f32; b: f32) { identity (0.0) combine (a + 1) }" },
	{ "monoid-closed", "monoid m(a: f32; a: f32) { identity (0.0) combine (a) }" },
	{ "monoid-closed", "monoid m(a: f32; b: f32) { identity (a) combine (a) }" },
	{ "monoid-unique", "monoid m(a: f32; b: f32) { identity (0.0) combine (a) } "
			   "monoid m(a: f32; b: f32) { identity (0.0) combine (a) }" },
	{ "", "fn f(y: out f32[4]) { block b(r: reduce 0..4 = 0) { init { y[0] = 0.0 } } }" },
	{ "init", "fn f(y: inout f32[4]) { block b(r: reduce 0..4 = 0) { init { y[r] = 0.0 } sum "
		  "y[0] <- "
		  "1.0 } }" },
	{ "init", "fn f(y: inout f32[4]) { block b(r: reduce 0..4 = 0) { init { barrier block } "
		  "sum y[0] "
		  "<- 1.0 } }" },
	{ "scan", "fn f(y: out f32[8]) { for t in 0..2 { for u in 0..4 { block s(v: scan 0..8 = t "
		  "+ u * 2) "
		  "{ y[v] = 1.0 } } } }" },
	{ "scan", "fn f() { for t in 0..4 { for u in 0..8 { block s(v: scan 0..8 = t + u / 2) {} } "
	          "} }" },
	{ "scan", "fn f() { for t in 0..4 { for u in 0..4 { block s(v: scan 0..16 = t * 5 + (u + "
	          "u)) {} } "
		  "} }" },
	{ "", "fn f() { for t in 0..4 { for u in 0..4 { block s(v: scan 0..32 = t * 6 + (u + u)) "
	      "{} } } }" },
	{ "", "fn f() { for t in 0..16 { block s(v: scan 0..8 = t / 2) {} } }" },
	{ "scan", "fn f(y: out f32[8]) { for t in 0..8 { block s(v: scan 0..8 = 7 - t) { y[v] = "
		  "1.0 } } }" },
	{ "scan", "fn f(y: out f32[8]) { for t in 0..8 { let a: i64 = 7 - t block s(v: scan 0..8 = "
		  "a) {} } }" },
	{ "size", "fn f[M in 1..4294967296](x: in f32[M, M]) {}" },
	{ "symbol", "fn f[M in 9..15 step 8]() {}" },
	{ "map", "fn f(x: in f32[4, 4] map (i, i) -> [i : 4]) {}" },
	{ "map", "fn f[M in 1..4](x: in f32[4] map (M) -> [M : 4]) {}" },
	{ "map-closed", "fn f(x: in f32[4] map (i) -> [i : i]) {}" },
	{ "map-closed", "fn f(x: in f32[4] map (i) -> [f32(i) : 4]) {}" },
	{ "shape", "fn f(x: in f32[y[0]], y: in i64[4]) {}" },
	{ "shape", "fn f() { for i in 0..4 { alloc a: f32[i] } }" },
	{ "param-scope", "prepare fn f(x: const f32[4] @local) {}" },
	{ "prepare", "prepare fn f[M in 1..2]() {}" },
	{ "shared-role", "prepare fn p(u: out f32[4]) {} fn f(u: in f32[4]) {}" },
	{ "sub-param", "sub fn f(x: in f32[4] map (i) -> [i : 8]) {}" },
	{ "", "fn f(y: out f32[4] streamed) { y[0] = 1.0 }" },
	{ "streamed", "sub fn f(y: inout f32[4] streamed) {}" },
	{ "streamed", "sub fn f(y: out f32[4] streamed) {}" },
	{ "streamed", "prepare fn f(y: out f32[4] streamed) {}" },
	{ "streamed", "fn f(y: inout f32[4] streamed) {}" },
	{ "async", "fn f(y: out f32[4]) { async { async {} } }" },
	{ "async", "fn f(y: inout f32[4]) { async { sum y[0] <- 1.0 } }" },
	{ "condition", "fn f() { block b() where 1 {} }" },
	{ "read-only", "fn f(x: const f32[4]) { sum x[0] <- 1.0 }" },
	{ "reduce-index",
		"fn f(y: inout f32[4]) { block b(r: reduce 0..4 = 0) { sum y[r / 2] <- 1.0 } }" },
	{ "atomic", "fn f(y: inout i32[4]) { let o = atomic sum y[ramp(0, 1, 4)] <- splat(i32(1), "
		    "4) }" },
};

START_TEST(texts)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *rule = refused_by(a, cases[_i].text, &err);
	ck_assert_msg(strcmp(rule, cases[_i].rule) == 0, "wanted %s, got %s for %s", cases[_i].rule,
		err.text, cases[_i].text);
	arena_free(a);
}
END_TEST

/* A Fn whose body a builder made. */
static KernelSet *built(Ir *ir, Buf **y)
{
	const int64_t shape[] = { 4 };
	KernelSet *ks = ir_set_new(ir);
	Fn *fn = ir_fn(ir, "f", FN_RUN);
	*y = ir_buf(ir, "y", BUF_OUT, F32, "global", shape, 1);
	ir_fn_add_buf(ir, fn, *y);
	ir_set_add(ks, fn);
	return ks;
}

static void assert_refused(const KernelSet *ks, const char *rule)
{
	Err err = { 0 };
	ck_assert(!ir_verify_set(ks, &err));
	ck_assert_msg(strncmp(err.text, rule, strlen(rule)) == 0, "%s", err.text);
}

START_TEST(built_programs)
{
	Arena *a = arena_new();
	Ir *ir = ir_new(a);
	Buf *y;
	KernelSet *ks = built(ir, &y);
	const Expr *zero = ir_int(ir, 0), *one = ir_const_float(ir, F32, 1);
	Stmt *good = ir_store(ir, y, &zero, 1, one);
	Err err = { 0 };
	ks->fn[0]->body = good;
	ck_assert(ir_verify_set(ks, &err));

	ks->fn[0]->body = ir_for(ir, "3rd", zero, zero, LOOP_SERIAL, NULL);
	assert_refused(ks, "names");
	ks->fn[0]->body = ir_store(ir, y, &zero, 1, ir_var(ir, "v", F32));
	assert_refused(ks, "declared");
	ks->fn[0]->body = ir_for(ir, "i", zero, ir_int(ir, 4), LOOP_SERIAL,
		ir_store(ir, y, &zero, 1, ir_var(ir, "i", F32)));
	assert_refused(ks, "types");
	ks->fn[0]->body = ir_store(ir, y, &zero, 1, ir_load_named(ir, "y", F64, &zero, 1));
	assert_refused(ks, "types");
	const Expr *deep = ir_load(ir, y, &zero, 1);
	for (int i = 0; i < 300; i++)
		deep = ir_unary(ir, IR_SQRT, deep);
	ks->fn[0]->body = ir_store(ir, y, &zero, 1, deep);
	assert_refused(ks, "depth");
	Stmt *nest = good;
	for (int i = 0; i < 300; i++)
		nest = ir_if(ir, ir_bool(ir, true), nest, NULL);
	ks->fn[0]->body = nest;
	assert_refused(ks, "depth");
	ks->fn[0]->body = good;
	y->rank = 33;
	assert_refused(ks, "rank");
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("verify");
	tcase_add_test(tc, rules);
	tcase_add_loop_test(tc, texts, 0, LEN(cases));
	tcase_add_test(tc, built_programs);
	return run_suite("ir-verify", tc);
}
