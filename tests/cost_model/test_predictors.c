/*
 * Predictors: those of a few Fns written by hand, what must hold between Fns, and the table of docs/cost_model.md. The
 * values are those of a description of a core that no machine changes.
 */
#include "doc_table.h"
#include "suite.h"

#include "cost_model/cost_model.h"
#include "cost_model/predictor.h"
#include "golden.h"
#include "ir/text/ir_text.h"

#include <math.h>
#include <stdlib.h>

static const char core[] =
	"{\"kind\":\"cpu\",\"model\":\"x86-64-v4\",\"fma_rate\":2,\"fma_latency\":4,\"ghz\":3,\"loads\":2,\"stores\":1,"
	"\"decode\":6,\"cache\":[{\"bytes\":32768},{\"bytes\":1048576},{\"bytes\":16777216}]}";

/* "cpu 2": the core above with two threads; else a name of configs/targets. */
static Target target_of(Arena *a, const char *what)
{
	Target t;
	Err err = { 0 };
	const char *dir = arena_printf(a, "%s/configs/targets", getenv("DLC_SOURCE_ROOT"));
	const char *name = arena_printf(a, "%.*s", (int)strcspn(what, " \n"), what);
	int threads = (int)strtol(what + strcspn(what, " "), NULL, 10);
	bool ok = strcmp(name, "cpu") == 0 ? target_parse(&t, "core", core, sizeof core - 1, threads, &err)
					   : target_resolve(&t, name, threads, &dir, 1, &err);
	ck_assert_msg(ok, "%s: %s", err.place, err.text);
	return t;
}

static double predictors_of(Arena *a, const char *text, const char *target, float row[PREDICTORS])
{
	Err err = { 0 };
	Target t = target_of(a, target);
	Task task = { .flops = 1e6, .bytes = 1e5 };
	KernelSet *ks = ir_parse_set(ir_new(a), "fn", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	double ns = predictor_row(ks, &task, &t, row);
	Cost cost = cost_or_first(NULL, a, &t);
	double estimate = cost_estimate_one(&cost, ks, &task);
	ck_assert_msg(ns == estimate, "%g and %g ns: a tally changes no estimate", ns, estimate);
	for (int k = 0; k < PREDICTORS; k++)
		ck_assert_msg(isfinite(row[k]), "%s", predictor_name(k));
	return ns;
}

static void print_predictors(Arena *a, const char *before, const char *what, Text *out)
{
	float row[PREDICTORS];
	predictors_of(a, before, what, row);
	for (int k = 0; k < PREDICTORS; k++)
		text_add(out, "%s %.3g\n", predictor_name(k), fabsf(row[k]) < 1e-6f ? 0.0 : (double)row[k]);
}

START_TEST(of_fns_written_by_hand)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/cost_model/predictors.t", print_predictors, &cases), 0);
	ck_assert_int_ge(cases, 4);
}
END_TEST

/* A body as text, with its loop along i of so many iterations. */
static const char *loop_of(Arena *a, int n, const char *kind)
{
	return arena_printf(a, "fn k(x: in f32[%d,256], y: out f32[%d,256]) {\nfor i in 0..%d%s {\nfor j in 0..256 {\n"
		"y[i,j] = x[i,j] * 2.0\n}}}\n", n, n, n, kind);
}

/* Twice the iterations are one binary logarithm more of what is counted, and leave what is a share. */
START_TEST(a_loop_twice_as_long)
{
	static const int more[] = { PREDICTOR_instructions, PREDICTOR_asked, PREDICTOR_cycles };
	static const int same[] = { PREDICTOR_multiply_share, PREDICTOR_load_share, PREDICTOR_store_share,
		PREDICTOR_lanes_used, PREDICTOR_registers, PREDICTOR_body, PREDICTOR_trips,
		PREDICTOR_streams, PREDICTOR_written, PREDICTOR_code, PREDICTOR_ghz };
	Arena *a = arena_new();
	float once[PREDICTORS], twice[PREDICTORS];
	predictors_of(a, loop_of(a, 400, ""), "cpu 1", once);
	predictors_of(a, loop_of(a, 800, ""), "cpu 1", twice);
	for (int i = 0; i < LEN(more); i++)
		ck_assert_msg(fabs((double)twice[more[i]] - (double)once[more[i]] - 1) < 0.02, "%s: %g and %g",
			predictor_name(more[i]), (double)once[more[i]], (double)twice[more[i]]);
	for (int i = 0; i < LEN(same); i++)
		ck_assert_msg(fabs((double)twice[same[i]] - (double)once[same[i]]) < 1e-4, "%s: %g and %g",
			predictor_name(same[i]), (double)once[same[i]], (double)twice[same[i]]);
	arena_free(a);
}
END_TEST

/* Three iterations for two threads leave a quarter of the time idle; four leave none. */
START_TEST(threads_without_work_are_idle)
{
	Arena *a = arena_new();
	float three[PREDICTORS], four[PREDICTORS], alone[PREDICTORS];
	predictors_of(a, loop_of(a, 3, " parallel"), "cpu 2", three);
	predictors_of(a, loop_of(a, 4, " parallel"), "cpu 2", four);
	predictors_of(a, loop_of(a, 4, ""), "cpu 2", alone);
	ck_assert(fabs((double)three[PREDICTOR_idle] - 0.25) < 1e-6 && four[PREDICTOR_idle] == 0);
	ck_assert(four[PREDICTOR_parallel] == 1);
	ck_assert(alone[PREDICTOR_parallel] == 0 && four[PREDICTOR_regions] == 1 && alone[PREDICTOR_regions] == 0);
	arena_free(a);
}
END_TEST

/* Four vectors of x in each iteration, `apart` floats from one to the next; y is prefetched `ahead` vectors ahead. */
static const char *panel_of(Arena *a, int apart, int step, int ahead)
{
	return arena_printf(a, "fn k(x: in f32[65536], y: in f32[4096], z: out f32[64]) {\nfor k in 0..64 {\n"
		"prefetch y[k*16 + %d]\nfor o in 0..4 unrolled {\nfor i in 0..16 vector {\n"
		"z[o*16 + i] = z[o*16 + i] + x[k*%d + o*%d + i] * y[k]\n}}}}\n", 16 * ahead, step, apart);
}

/* Weights in panels are one run of memory; as vectors they are four, a page apart. A prefetch lies some way ahead. */
START_TEST(where_memory_is_touched)
{
	Arena *a = arena_new();
	float panels[PREDICTORS], vectors[PREDICTORS], near[PREDICTORS], further[PREDICTORS];
	predictors_of(a, panel_of(a, 16, 64, 4), "cpu 1", panels);
	predictors_of(a, panel_of(a, 1024, 16, 4), "cpu 1", vectors);
	predictors_of(a, panel_of(a, 1023, 16, 4), "cpu 1", near);
	predictors_of(a, panel_of(a, 16, 64, 8), "cpu 1", further);
	ck_assert_msg(panels[PREDICTOR_places] + 0.5f < vectors[PREDICTOR_places], "%g and %g",
		(double)panels[PREDICTOR_places], (double)vectors[PREDICTOR_places]);
	ck_assert(panels[PREDICTOR_pages] + 0.5f < vectors[PREDICTOR_pages]);
	ck_assert(near[PREDICTOR_pages] == panels[PREDICTOR_pages] && near[PREDICTOR_places] == vectors[PREDICTOR_places]);
	ck_assert(panels[PREDICTOR_step] > vectors[PREDICTOR_step]);
	ck_assert(panels[PREDICTOR_prefetches] == vectors[PREDICTOR_prefetches]);
	ck_assert(fabsf(further[PREDICTOR_prefetch_ahead] - log2f(513)) < 1e-4f);
	ck_assert(fabsf(panels[PREDICTOR_prefetch_ahead] - log2f(257)) < 1e-4f);
	ck_assert(panels[PREDICTOR_prefetch_burst] == 1 && further[PREDICTOR_places] == panels[PREDICTOR_places]);
	arena_free(a);
}
END_TEST

/* Requests in a loop of their own are one burst, and in a tile that does not begin at 0 they are no further ahead. */
START_TEST(how_prefetches_stand)
{
	static const int begin[] = { 0, 8 };
	Arena *a = arena_new();
	float row[LEN(begin)][PREDICTORS];
	for (int i = 0; i < LEN(begin); i++)
		predictors_of(a, arena_printf(a, "fn k(x: in f32[65536], z: out f32[64]) {\nfor k in %d..%d {\n"
			"for f in 0..7 {\nprefetch x[k*64 + 256 + f*16]\n}\nfor i in 0..16 vector {\n"
			"z[i] = z[i] + x[k*64 + i]\n}}}\n", begin[i], begin[i] + 8), "cpu 1", row[i]);
	for (int i = 0; i < LEN(begin); i++) {
		ck_assert_msg(row[i][PREDICTOR_prefetch_burst] == 3, "%g", (double)row[i][PREDICTOR_prefetch_burst]);
		ck_assert(fabsf(row[i][PREDICTOR_prefetch_ahead] - log2f(1025)) < 1e-4f);
	}
	arena_free(a);
}
END_TEST

/* A row's name, order and number make the id; names of operators are in none. */
START_TEST(no_predictor_names_an_operator)
{
	static const char *const operators[] = { "conv", "dense", "matmul", "pool", "softmax", "attention" };
	for (int k = 0; k < PREDICTORS; k++)
		for (int i = 0; i < LEN(operators); i++)
			ck_assert_msg(strstr(predictor_name(k), operators[i]) == NULL, "%s", predictor_name(k));
}
END_TEST

START_TEST(the_page_has_all_predictors)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| predictor | is |\n|---|---|\n");
	for (int k = 0; k < PREDICTORS; k++)
		text_add(&t, "| `%s` | %s |\n", predictor_name(k), predictor_doc(k));
	doc_table("docs/cost_model.md", &t);
	arena_free(a);
}
END_TEST

START_TEST(the_page_has_the_numbers_of_training)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	text_add(&t, "| number of training | is | because |\n|---|---|---|\n");
#define COUNT DOC_CONSTANT
#define RATIO DOC_CONSTANT
#include "cost_model/train.def"
#undef COUNT
#undef RATIO
	doc_table("docs/cost_model.md", &t);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cost_predictors");
	tcase_add_test(tc, of_fns_written_by_hand);
	tcase_add_test(tc, a_loop_twice_as_long);
	tcase_add_test(tc, threads_without_work_are_idle);
	tcase_add_test(tc, where_memory_is_touched);
	tcase_add_test(tc, how_prefetches_stand);
	tcase_add_test(tc, no_predictor_names_an_operator);
	tcase_add_test(tc, the_page_has_all_predictors);
	tcase_add_test(tc, the_page_has_the_numbers_of_training);
	return run_suite("cost_predictors", tc);
}
