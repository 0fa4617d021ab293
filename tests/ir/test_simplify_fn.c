/*
 * Simplification of Fns: golden texts, and random nests, which must store the same values at the
 * same places in the same order, load no more than before, and not change a second time.
 */
#include "suite.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"
#include "trace.h"

#include <time.h>

static Arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static const char *text_of(const Fn *fn)
{
	Text t = { .arena = arena };
	ir_print_fn(&t, fn);
	return text_str(&t);
}

static KernelSet *parse(const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(arena), "case", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s: %s", text, err.place, err.text);
	return ks;
}

static const struct {
	const char *before, *after;
} cases[] = {
#include "simplify_fn_cases.def"
};

START_TEST(fns_simplify_to)
{
	KernelSet *ks = parse(cases[_i].before), *want = parse(cases[_i].after);
	ir_simplify_fn(ks, ks->fn[0]);
	ck_assert_str_eq(text_of(ks->fn[0]), text_of(want->fn[0]));
	ir_simplify_fn(ks, ks->fn[0]);
	ck_assert_str_eq(text_of(ks->fn[0]), text_of(want->fn[0]));
}
END_TEST

static Trace run(Ir *ir, const Fn *fn, int64_t n)
{
	Trace t = { .v = { .ir = ir } };
	bind_name(&t, fn->sym[0].name, n);
	trace_list(&t, fn->body);
	return t;
}

/* The stores, in order. */
static size_t next_write(const Trace *t, size_t i)
{
	while (i < t->touch.n && !t->touch.at[i].write)
		i++;
	return i;
}

static void check_same_stores(const Trace *a, const Trace *b, const char *text)
{
	size_t i = next_write(a, 0), j = next_write(b, 0);
	ck_assert_msg(b->touch.n <= a->touch.n, "%s\nloads more than before", text);
	for (; i < a->touch.n && j < b->touch.n;
		i = next_write(a, i + 1), j = next_write(b, j + 1)) {
		const Touch *x = &a->touch.at[i], *y = &b->touch.at[j];
		ck_assert_msg(strcmp(x->buf, y->buf) == 0 && x->value == y->value &&
				      memcmp(x->at, y->at, sizeof x->at) == 0,
			"%s\n[%lld, %lld] = %lld, [%lld, %lld] = %lld", text, (long long)x->at[0],
			(long long)x->at[1], (long long)x->value, (long long)y->at[0],
			(long long)y->at[1], (long long)y->value);
	}
	ck_assert_msg(i == a->touch.n && j == b->touch.n, "%s\nanother number of stores", text);
}

START_TEST(random_nests_store_the_same)
{
	Rng r = rng_seed(_i == 0 ? 5 : 6);
	int count = getenv("DLC_TEST_ALL") != NULL ? 8000 : 200;
	for (int k = 0; k < count; k++) {
		teardown();
		setup();
				Rng again = r;
		NestGen g = { .ir = ir_new(arena), .r = &r }, same = { .ir = g.ir, .r = &again };
		Fn *fn = nest_fn(&g), *simple = nest_fn(&same);
		KernelSet *ks = ir_set_new(g.ir);
		ir_set_add(ks, fn);
		ir_simplify_fn(ks, simple);
		const char *text = arena_printf(arena, "%s\n%s", text_of(fn), text_of(simple));
		for (int64_t n = 1; n <= 9; n += 2) {
			Trace before = run(g.ir, fn, n), after = run(g.ir, simple, n);
			check_same_stores(&before, &after, text);
		}
	}
}
END_TEST

/* A convolution with split loops, 12 of them, padding in the index: well under a millisecond. */
static const char conv[] =
	"fn conv(x: in f32[1, 64, 56, 56], w: const f32[64, 64, 3, 3], y: out f32[1, 64, 56, 56]) "
        "{\n"
	"for no in 0..1 { for ko in 0..4 parallel { for ho in 0..14 { for wo in 0..4 { for co in "
        "0..8 {\n"
	"for hi in 0..4 { for r in 0..3 { for s in 0..3 { for ci in 0..8 { for wi in 0..14 {\n"
	"for ki in 0..16 vector {\n"
	"block conv(n: spatial 0..1 = no, k: spatial 0..64 = ko*16 + ki, h: spatial 0..56 = ho*4 + "
        "hi,\n"
	"v: spatial 0..56 = wo*14 + wi, c: reduce 0..64 = co*8 + ci, kr: reduce 0..3 = r, ks: "
        "reduce 0..3 = s)\n"
	"where 0 <= ho*4 + hi & ho*4 + hi < 56 & wo*14 + wi < 56 {\n"
	"init { y[n, k, h, v] = 0.0 }\n"
	"sum y[n, k, h, v] <- select(0 <= h + kr - 1 & h + kr - 1 < 56 & 0 <= v + ks - 1 & v + ks "
        "- 1 < 56,\n"
	"x[n, c, h + kr - 1, v + ks - 1], 0.0) * w[k, c, kr, ks] } } } } } } } } } } } } }\n";

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU time, the best of several; the bound leaves room for sanitizers and slow machines. */
START_TEST(a_convolution_takes_little_time)
{
	double best = 1e9;
	for (int k = 0; k < 5; k++) {
		KernelSet *ks = parse(conv);
		double t = seconds();
		ir_simplify_fn(ks, ks->fn[0]);
		t = seconds() - t;
		best = t < best ? t : best;
		ck_assert_ptr_null(strstr(text_of(ks->fn[0]), "where"));
	}
	if (getenv("DLC_TEST_ALL") != NULL)
		printf("ir_simplify_fn of a convolution: %.0f us\n", best * 1e6);
	ck_assert_double_lt(best, 0.02);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("simplify_fn");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, fns_simplify_to, 0, LEN(cases));
	tcase_add_loop_test(tc, random_nests_store_the_same, 0, 2);
	tcase_add_test(tc, a_convolution_takes_little_time);
	return run_suite("ir-simplify-fn", tc);
}
