/*
 * The proof that no access leaves its buffer: what schedules make is proved, by loops, guards, clamps, windows
 * and index maps; what leaves a buffer for some value of what guards it is refused, with the access named.
 * Of random nests the interpreter says whether they leave their buffer.
 */
#include "base/rng.h"
#include "interp/interp.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

/* "" where it is proved, else what is said. */
static const char *said_of(Arena *a, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "t", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s\n%s", err.place, err.text, text);
	if (ir_verify_accesses(ks, &err))
		return "";
	ck_assert_int_eq(err.code, ERR_ILLEGAL);
	return arena_printf(a, "%s: %s", err.place, err.text);
}

static const char *const proved[] = {
	"",
	"fn f(y: out f32[4]) { for i in 0..4 { y[i] = 1.0 } }",
	"fn f(y: out f32[0]) { for i in 0..0 { y[i] = 1.0 } }",
	"fn f(y: out f32[]) { y[] = 1.0 }",
	/* tails: guard, overlap, a bound, what an if says, and code that never runs */
	"fn f(y: out f32[13]) { for o in 0..4 { for i in 0..4 { block b(v: spatial 0..13 = o * 4 + i) where o"
	  " * 4 + i < 13 { y[v] = 1.0 } } } }",
	"fn f(y: out f32[13]) { for o in 0..4 { for i in 0..4 { block b(v: spatial 0..13 = min(o * 4, 9) + i)"
	  " { y[v] = 1.0 } } } }",
	"fn f(y: out f32[13]) { for o in 0..4 { for i in 0..min(4, 13 - o * 4) { y[o * 4 + i] = 1.0 } } }",
	"fn f(y: out f32[13]) { for i in 0..16 { if i < 13 { y[i] = 1.0 } else { y[15 - i] = 1.0 } } }",
	"fn f(y: out f32[4]) { if false { y[7] = 1.0 } }",
	"fn f(y: out f32[4]) { for i in 0..4 { if 3 < i { y[i] = 1.0 } } }",
	"fn f(y: out f32[13]) { for i in 0..16 { y[i] = 1.0 where i < 13 } }",
	/* taps in the padding, by select and by where */
	"fn f(x: in f32[7], y: out f32[7, 3]) { for i in 0..7 { for k in 0..3 {"
	" y[i, k] = select(0 <= i + k - 1 & i + k - 1 < 7, x[i + k - 1], 0.0) } } }",
	"fn f(x: in f32[7], y: out f32[7]) { for i in 0..7 { for k in 0..3 { block b(v: spatial 0..7 = i, u:"
	  " reduce 0..3 = k)"
	" where 1 <= v + u & v + u < 8 { sum y[v] <- x[v + u - 1] } } } }",
	/* what is fused, taken apart in another way, and kept in rings */
	"fn f(y: out f32[13, 24]) { for i_j in 0..312 { y[i_j / 24, i_j % 24] = 1.0 } }",
	"fn f(y: out f32[13, 24]) { for o in 0..6 { for i in 0..64 { block b(v: spatial 0..13 = (o * 64 + i) /"
	  " 24, u: spatial 0..24 ="
	" (o * 64 + i) % 24) where (o * 64 + i) / 72 * 3 + (o * 64 + i) % 72 / 24 < 13 & o * 64 + i < 360 {"
	  " y[v, u] = 1.0 } } } }",
	"fn f(y: out f32[9]) { for i in 0..27 { block b(v: spatial 0..7 = i % 9) where i % 9 / 3 * 3 + i % 9 %"
	  " 3 < 7 { y[v] = 1.0 } } }",
	"fn f(y: out f32[7]) { for h in 0..3 { alloc t: f32[7] @local map (i) -> [i % 4 : 4]"
	" for r in select(0 < h, h * 2 + 1, 0)..h * 2 + 3 { alloc u: f32[3] @local u[r - select(0 < h, h * 2 +"
	  " 1, 0)] = 1.0"
	" t[r] = 1.0 } } }",
	"fn f(x: in f32[5], y: out f32[5, 3]) { for o in 0..2 { for i in 0..4 { alloc t: f32[3] @local for k"
	  " in 0..3 {"
	" y[min(o * 4, 1) + i, k] = select(0 <= min(o * 4, 1) + i + k - 1 & min(o * 4, 1) + i + k - 1 < 5,"
	" t[min(o * 4, 1) + i + k - 1 - max(i + min(o * 4, 1) - 1, 0)], 0.0) } } } }",
	"fn f(y: out f32[3]) { for w in 0..3 { for o in 0..2 { for i in 0..4 {"
	" if o * 4 + i < w * 2 - select(0 < w, w * 2 + 1, 0) + 3 { y[o * 4 + i] = 1.0 } } } } }",
	/* what is reflected at both ends */
	"fn f(x: in f32[4], y: out f32[9]) { for h in 0..9 { y[h] = x[min((h - 1) % 6, 6 - (h - 1) % 6)] } }",
	/* symbols, maps, swizzles */
	"fn f[M in 8..64 step 8](y: out f32[M]) { for i in 0..M / 8 { for j in 0..8 { y[i * 8 + j] = 1.0 } } }",
	"fn f[M in 1..64](y: out f32[M, 24] map (m, n) -> [n / 16 : 2, m : M, n % 16 : 16]) { for i in 0..M {"
	  " y[i, 23] = 1.0 } }",
	"fn f(y: out f32[8, 64] map (h, c) -> [h + 1 : 10, (c ^ h & 7) : 64]) { y[7, 63] = 1.0 }",
	/* vectors */
	"fn f(x: in f32[16], y: out f32[16]) { for i in 0..4 { y[ramp(i * 4, 1, 4)] = x[ramp(i * 4, 1, 4)] } }",
	/* memory: its type's range, a clamp, a check where it is used; a let keeps what was read */
	"fn f(x: in f32[256], at: in u8[4], y: out f32[4]) { for i in 0..4 { y[i] = x[i64(at[i])] } }",
	"fn f(x: in f32[9], at: in i64[4], y: out f32[4]) { for i in 0..4 { y[i] = x[max(min(at[i], 8), 0)] } }",
	"fn f(x: in f32[9], at: in i64[4], y: out f32[4]) { for i in 0..4 { y[i] = select(0 <= at[i] & at[i] <"
	  " 9, x[at[i]], 0.0) } }",
	"fn f(x: in f32[9], at: in i64[4], y: out f32[4]) { for i in 0..4 { let p: i64 = at[i] if 0 <= p & p <"
	  " 9 { y[i] = x[p] } } }",
	/* calls: whole buffers, windows, what the arguments say, names of the caller's that mean something else there */
	"sub fn g(y: inout f32[13], o: i64) { for i in 0..4 { if o * 4 + i < 13 { y[o * 4 + i] = 1.0 } } }"
	"fn f(y: out f32[13]) { for o in 0..4 { call g(y[0:13], o) } }",
	"sub fn g(n: i64, x: inout f32[n]) { for i in 0..n { x[i] = 1.0 } } fn f(x: out f32[8]) { for j in"
	  " 0..4 { call g(j + 1, x[j:j + 1]) } }",
	"sub fn g(y: inout f32[4], k: i64) { for i in 0..4 { y[i - i + k] = 1.0 } } fn f(y: out f32[8]) { for"
	  " i in 0..2 { call g(y[i * 4:4], i) } }",
	"sub fn h(y: inout f32[2]) { y[1] = 1.0 } sub fn g(y: inout f32[4]) { call h(y[2:2]) } fn f(y: out"
	  " f32[8]) { call g(y[4:4]) }",
	"fn f(a: in u8[2, 4], b: in i8[16, 4], y: out i32[2, 16]) { for i in 0..2 {"
	" intrin dpbusd_bcast_i32x16(y[i, 0:16], a[i, 0:4], b[0:16, 0:4]) } }",
	/* a prefetch accesses nothing */
	"fn f(x: in f32[4]) { for i in 0..4 { prefetch x[i + 100] } }",
};

START_TEST(what_stays_inside_is_proved)
{
	Arena *a = arena_new();
	ck_assert_msg(said_of(a, proved[_i])[0] == 0, "%s\n%s", said_of(a, proved[_i]), proved[_i]);
	arena_free(a);
}
END_TEST

static const struct {
	const char *text, *said; /* a part of it */
} outside[] = {
	{ "fn f(x: in f32[4], y: out f32[4]) { for i in 0..4 { block b(v: spatial 0..4 = i) { y[v] = x[v + 1]"
	  " } } }",
		"f:1: block b: index 0 of x is v + 1, which is in 1..4 and not proved to stay within 0..4" },
	{ "fn f(y: out f32[4]) { for i in 0..5 { y[i] = 1.0 } }", "index 0 of y is i, which is in 0..4" },
	{ "fn f(y: out f32[4]) { for i in 0..4 { y[i - 1] = 1.0 } }", "index 0 of y is i - 1, which is in -1..2" },
	{ "fn f(y: inout f32[4, 4]) { for i in 0..4 { sum y[i, i * 2] <- 1.0 } }", "index 1 of y" },
	/* a guard that is one off, that holds elsewhere, or that says the other thing */
	{ "fn f(y: out f32[13]) { for o in 0..4 { for i in 0..4 { if o * 4 + i <= 13 { y[o * 4 + i] = 1.0 } }"
	  " } }", "index 0 of y" },
	{ "fn f(y: out f32[13]) { for i in 0..16 { if i < 13 { y[i] = 1.0 } else { y[i] = 1.0 } } }", "index 0"
	  " of y" },
	{ "fn f(y: out f32[13]) { for i in 0..16 { if i < 13 | i == 14 { y[i] = 1.0 } } }", "index 0 of y" },
	{ "fn f(y: out f32[13], x: in f32[1]) { for i in 0..16 { if 0.0 < x[0] { y[i] = 1.0 } } }", "index 0"
	  " of y" },
	{ "fn f(x: in f32[13], y: out f32[16]) { for i in 0..16 { y[i] = select(i < 13, 0.0, x[i]) } }", "index 0 of x" },
	{ "fn f(y: out f32[13]) { for i in 0..16 { y[i] = 1.0 where i < 14 } }", "index 0 of y" },
	{ "fn f(x: in f32[7], y: out f32[7, 3]) { for i in 0..7 { for k in 0..3 { y[i, k] = select(i + k - 1 <"
	  " 7, x[i + k - 1], 0.0) } } }",
		"index 0 of x is i + k - 1, which is in -1..7" },
	/* an iterator outside of its range: later passes would believe the range */
	{ "fn f(y: out f32[4]) { for i in 0..8 { block b(v: spatial 0..4 = i) { y[v % 4] = 1.0 } } }", "block"
	  " b: iterator v is i" },
	{ "fn f(y: out f32[13]) { for i in 0..16 { block b(v: spatial 0..13 = i) where i < 14 { y[v] = 1.0 } }"
	  " }", "iterator v is i" },
	/* arithmetic that wraps */
	{ "fn f(y: out f32[4]) { for i in 0..4 { for j in 0..9223372036854775807 { if i + j < 4 { y[i + j] ="
	  " 1.0 } } } }", "index 0 of y" },
	{ "fn f(y: out f32[4]) { for i in 0..2 { for j in 0..4 { for k in 0..4 { if i <= j {"
	  " y[i * -9223372036854775808 + k] = 1.0 } } } } }",
		"index 0 of y" },
	/* an index map that folds too much, or too little */
	{ "fn f() { alloc t: f32[8] map (i) -> [i % 4 : 3] }", "dimension 0 of the map of t is i % 4" },
	{ "fn f(y: out f32[24] map (c) -> [c / 16 : 1, c % 16 : 16]) { y[0] = 1.0 }", "dimension 0 of the map"
	  " of y" },
	{ "fn f() { alloc t: f32[8] map (i) -> [i - 1 : 8] }", "the map of t" },
	{ "fn f() { for h in 0..4 { alloc t: f32[8] map (h) -> [h : 4] } }", "the map of t" },
	/* memory that is not clamped; checked once and read again; checked, written, read */
	{ "fn f(x: in f32[9], at: in i64[4], y: out f32[4]) { for i in 0..4 { y[i] = x[at[i]] } }", "index 0"
	  " of x is at[i]" },
	{ "fn f(x: in f32[9], at: in i64[4], y: out f32[4]) { for i in 0..4 { y[i] = x[min(at[i], 8)] } }",
		"index 0 of x" },
	{ "fn f(x: in f32[9], at: work i64[1], y: out f32[4]) { at[0] = 1 if at[0] < 9 & 0 <= at[0] { at[0] ="
	  " 100 y[0] = x[at[0]] } }",
		"index 0 of x is at[0]" },
	{ "fn f(at: in i64[1], y: out f32[4]) { for i in 0..at[0] { y[i] = 1.0 } }", "index 0 of y" },
	{ "fn f(x: in f32[9], at: in i64[9], y: out f32[4]) { for i in 0..4 { y[i] = select(at[i] < 9,"
	  " x[max(at[i + 6], 0)], 0.0) } }",
		"index 0 of at is i + 6" },
	/* calls: windows, lengths, what a sub Fn does with its arguments, and names that are the caller's */
	{ "sub fn g(y: inout f32[4]) { y[0] = 1.0 } fn f(y: out f32[8]) { for i in 0..2 { call g(y[i * 5:4]) } }",
		"index 0 of y is i * 5, and 4 elements from there, which is in 0..5" },
	{ "sub fn g(n: i64, x: inout f32[n]) { for i in 0..n { x[i] = 1.0 } } fn f(x: out f32[8]) { for j in"
	  " 0..4 { call g(j + 2, x[j:j + 1]) } }",
		"x gets j + 1 elements of x where it may use n" },
	{ "sub fn g(y: inout f32[13], o: i64) { for i in 0..4 { y[o * 4 + i] = 1.0 } } fn f(y: out f32[13]) {"
	  " for o in 0..4 { call g(y[0:13], o) } }",
		"g:1: index 0 of y is o * 4 + i, which is in 0..15" },
	{ "sub fn g(y: inout f32[4], k: i64) { for i in 0..100 { if k < 4 { y[i] = 1.0 } } } fn f(y: out"
	  " f32[4]) { for i in 0..4 {"
	  " call g(y[0:4], i) } }",
		"g:1: index 0 of y is i, which is in 0..99" },
	{ "sub fn g(y: inout f32[4], n: i64) { for m in 0..n { y[m] = 1.0 } } fn f(y: out f32[4]) { call"
	  " g(y[0:4], 4) call g(y[0:4], 5) }",
		"g:1: index 0 of y is m" },
};

START_TEST(what_may_leave_its_buffer_is_refused)
{
	Arena *a = arena_new();
	const char *said = said_of(a, outside[_i].text);
	ck_assert_msg(strstr(said, outside[_i].said) != NULL, "\"%s\"\n%s", said, outside[_i].text);
	arena_free(a);
}
END_TEST

/* 2 ^ 40 calls are not walked. */
START_TEST(calls_of_calls_end)
{
	Arena *a = arena_new();
	Text text = { .arena = a };
	text_add(&text, "sub fn g0() {}\n");
	for (int k = 1; k < 40; k++)
		text_add(&text, "sub fn g%d() { call g%d() call g%d() }\n", k, k - 1, k - 1);
	text_add(&text, "fn f() { call g39() }\n");
	ck_assert(strstr(said_of(a, text_str(&text)), "too many calls") != NULL);
	arena_free(a);
}
END_TEST

/* ---- what is proved is so: random indices and conditions, and the interpreter as witness ---- */

static void add_index(Text *t, Rng *rng, int depth)
{
	static const char *const name[] = { "a", "b", "c", "p" };
	int64_t k = 1 + (int64_t)rng_below(rng, 7);
	if (depth == 0) {
		if (rng_below(rng, 4) == 0)
			text_add(t, "%lld", (long long)k);
		else
			text_add(t, "%s", name[rng_below(rng, LEN(name))]);
		return;
	}
	static const char *const op[] = { " + ", " - ", " + ", " - ", " / ", " % ", " * " };
	uint64_t form = rng_below(rng, 10);
	text_add(t, form == 7 ? "min(" : form == 8 ? "max(" : form == 9 ? "select(a < " : "(");
	if (form == 9)
		text_add(t, "%lld, ", (long long)k);
	add_index(t, rng, depth - 1);
	if (form >= 4 && form < 7) {
		text_add(t, "%s%lld)", op[form], (long long)k);
		return;
	}
	text_add(t, "%s", form < 4 ? op[form] : ", ");
	add_index(t, rng, depth - 1);
	text_add(t, ")");
}

static void add_condition(Text *t, Rng *rng)
{
	add_index(t, rng, 1 + (int)rng_below(rng, 2));
	text_add(t, rng_below(rng, 2) ? " < " : " <= ");
	add_index(t, rng, (int)rng_below(rng, 2));
}

/* A nest with a let, an if, a block with a predicate and a range, a call that gets windows: all at random. */
static const char *random_nest(Arena *a, Rng *rng)
{
	Text t = { .arena = a };
	int64_t n = 1 + (int64_t)rng_below(rng, 24), len = 1 + (int64_t)rng_below(rng, (uint64_t)n);
	text_add(&t, "sub fn g(y: inout f32[%lld], p: i64, a: i64) { for b in 0..3 { for c in 0..3 { if ", (long long)len);
	add_condition(&t, rng);
	text_add(&t, " { y[");
	add_index(&t, rng, 1);
	text_add(&t, "] = 1.0 } } } }\nfn f(y: inout f32[%lld]) { for a in 0..%d { for b in 0..%d { for c in ",
		(long long)n,
		1 + (int)rng_below(rng, 6), 1 + (int)rng_below(rng, 6));
	text_add(&t, rng_below(rng, 2) ? "0..4" : "a..min(b + 2, 5)");
	text_add(&t, " { let p: i64 = ");
	static const char *const let[] = { "a * 4 + b", "(a + b) / 2", "min(a * 3, 4) + c", "b % 3 + a" };
	text_add(&t, "%s if ", let[rng_below(rng, LEN(let))]);
	add_condition(&t, rng);
	text_add(&t, " {\n");
	uint64_t kind = rng_below(rng, 4);
	if (kind == 0)
		text_add(&t, "block k(v: spatial 0..%lld = ", (long long)n);
	if (kind == 1)
		text_add(&t, "call g(y[");
	if (kind > 1)
		text_add(&t, "y[");
	add_index(&t, rng, 1 + (int)rng_below(rng, 2));
	if (kind == 0) {
		text_add(&t, ") where ");
		add_condition(&t, rng);
		text_add(&t, " { y[v] = 1.0 }");
	}
	if (kind == 1)
		text_add(&t, ":%lld], c, b)", (long long)len);
	if (kind > 1)
		text_add(&t, "] = 1.0");
	text_add(&t, " } } } } }\n");
	return text_str(&t);
}

START_TEST(what_is_proved_stays_inside)
{
	Rng rng = rng_seed(0xacce55u + (uint64_t)_i);
	int rounds = getenv("DLC_TEST_ALL") != NULL ? 100000 : 3000, proofs = 0, sound = 0;
	for (int round = 0; round < rounds; round++) {
		Arena *a = arena_new();
		Err err = { 0 };
		float y[32] = { 0 };
		const IrArg arg = { .name = "y", .data = y };
		const InterpRun how = { .seed = 1, .steps = 1000000 };
		const char *text = random_nest(a, &rng);
		KernelSet *ks = ir_parse_set(ir_new(a), "t", text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
		if (ir_verify_set(ks, NULL)) {
			bool proved_it = ir_verify_accesses(ks, NULL), ran = interp_run_set(ks, &arg, 1, &how, &err);
			ck_assert_msg(ran || !proved_it, "%s: %s\n%s", err.place, err.text, text);
			proofs += proved_it;
			sound += ran;
		}
		arena_free(a);
	}
	ck_assert_msg(proofs > sound * 9 / 10, "%d of %d proved", proofs, sound);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("access");
	tcase_add_loop_test(tc, what_stays_inside_is_proved, 0, LEN(proved));
	tcase_add_loop_test(tc, what_may_leave_its_buffer_is_refused, 0, LEN(outside));
	tcase_add_test(tc, calls_of_calls_end);
	tcase_add_loop_test(tc, what_is_proved_stays_inside, 0, 2);
	return run_suite("access", tc);
}
