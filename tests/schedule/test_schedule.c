/*
 * Schedules: each primitive before -> after as golden text, traces that print and parse, refusals,
 * and random points of generated spaces against the naive Fn, in floats and modulo a prime.
 */
#include "equal.h"
#include "golden.h"
#include "suite.h"

#include "base/file.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "schedule/sketch.h"

#include <stdio.h>
#include <string.h>

static Target cpu(int threads)
{
	Target t;
	target_host(&t, threads);
	t.vector_bits = 256;
	return t;
}

/* The same on every machine: golden texts ask for its instructions. */
static Target vnni(void)
{
	static const char file[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v4\",\"features\":[\"x86-64-v4\",\"avx512vnni\"]}";
	Target t;
	Err err = { 0 };
	ck_assert_msg(target_parse(&t, "vnni", file, sizeof file - 1, 2, &err), "%s: %s", err.place, err.text);
	return t;
}

/* Any device that has blocks of threads. */
static Target gpu(void)
{
	return (Target){ .kind = TARGET_CUDA, .model = "any", .threads = 1, .vector_bits = 128, .vector_regs = 64 };
}

/* A step keeps accesses provable. */
static void apply_for(Arena *a, Target target, const char *before, const char *what, Text *out)
{
	Err err = { 0 };
	char *trace = arena_printf(a, "%s", what);
	for (char *p = trace; *p != 0; p++)
		if (*p == ';')
			*p = '\n';
	KernelSet *ks = ir_parse_set(ir_new(a), "golden", before, strlen(before), &err);
	Trace *t = ks != NULL ? trace_parse(a, "trace", trace, strlen(trace), &err) : NULL;
	bool proved = ks != NULL && ir_verify_set(ks, NULL) && ir_verify_accesses(ks, NULL);
	if (t == NULL || !ir_verify_set(ks, &err) || !trace_apply(ks, t, NULL, &target, &err) ||
		!ir_verify_set(ks, &err))
		text_add(out, "! %s: %s\n", err.place, err.text);
	else
		ir_print_set(out, ks);
	if (out->n > 0 && text_str(out)[0] != '!' && proved)
		ck_assert_msg(ir_verify_accesses(ks, &err), "%s: %s: %s\n%s", what, err.place, err.text, text_str(out));
}

static void apply(Arena *a, const char *before, const char *what, Text *out)
{
	apply_for(a, vnni(), before, what, out);
}

/* And what came out computes the same. */
static void same_for(Arena *a, Target target, const char *before, const char *what, Text *out)
{
	Err err = { 0 };
	apply_for(a, target, before, what, out);
	if (out->n == 0 || text_str(out)[0] == '!')
		return;
	KernelSet *plain = ir_parse_set(ir_new(a), "golden", before, strlen(before), &err);
	KernelSet *ks = ir_parse_set(ir_new(a), "after", text_str(out), out->n, &err);
	ck_assert_msg(plain != NULL && ks != NULL, "%s: %s", err.place, err.text);
	if (plain->fn[0]->nsym > 0)
		return; /* no symbol has a value here */
	must_equal(plain, ks, INTERP_MODP, 5, what);
	must_equal(plain, ks, INTERP_EXACT, 6, what);
}

static void apply_same(Arena *a, const char *before, const char *what, Text *out)
{
	same_for(a, vnni(), before, what, out);
}

static void bound_same(Arena *a, const char *before, const char *what, Text *out)
{
	same_for(a, gpu(), before, what, out);
}

/* "a100; scope t fragment": the target's name comes first. */
static void cores_same(Arena *a, const char *before, const char *what, Text *out)
{
	const char *end = strstr(what, "; ");
	Target t = named_target(arena_printf(a, "%.*s", (int)(end - what), what), 1);
	same_for(a, t, before, end + 2, out);
}

static const struct {
	const char *path;
	int cases; /* at least */
} golden[] = {
	{ "tests/golden/schedule/prims.t", 12 },
	{ "tests/golden/schedule/reduce.t", 21 },
	{ "tests/golden/schedule/data.t", 17 },
	{ "tests/golden/schedule/prefetch.t", 17 },
	{ "tests/golden/schedule/shape.t", 14 },
	{ "tests/golden/schedule/names.t", 23 },
	{ "tests/golden/schedule/tails.t", 36 },
	{ "tests/golden/schedule/tensor.t", 37 },
	{ "tests/golden/schedule/outline.t", 59 },
};

START_TEST(primitives_give_the_golden_text)
{
	int cases;
	ck_assert_int_eq(golden_run(golden[_i].path, apply, &cases), 0);
	ck_assert_int_ge(cases, golden[_i].cases);
}
END_TEST

/* Copies with borders and whole tiles; rows that are kept; steps of scans. */
static const struct {
	const char *path;
	int cases; /* at least */
} same[] = {
	{ "tests/golden/schedule/pads.t", 22 },
	{ "tests/golden/schedule/rows.t", 40 },
	{ "tests/golden/schedule/stream.t", 4 },
	{ "tests/golden/schedule/trim.t", 20 },
	{ "tests/golden/schedule/steps.t", 14 },
};

START_TEST(what_primitives_give_is_the_same)
{
	int cases;
	ck_assert_int_eq(golden_run(same[_i].path, apply_same, &cases), 0);
	ck_assert_int_ge(cases, same[_i].cases);
}
END_TEST

START_TEST(bound_loops_are_the_same)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/bind.t", bound_same, &cases), 0);
	ck_assert_int_ge(cases, 4);
}
END_TEST

START_TEST(elements_in_other_places_are_the_same)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/place.t", bound_same, &cases), 0);
	ck_assert_int_ge(cases, 18);
}
END_TEST

START_TEST(matrix_instructions_are_the_same)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/cores.t", cores_same, &cases), 0);
	ck_assert_int_ge(cases, 14);
}
END_TEST

static const char *const good[] = {
	"",
	"split i 4\n",
	"split a.o.i 1099511627776 guard\nreorder a b c\nunroll x\nvectorize y_1\nparallel z\n",
	"task 4f1c2a9\nsplit i 2\n",
	"split i 4 as o.2 i.2\nsplit i 4 peel as a b\nfuse a b as c\ncompute_at b l as n o h w\noutline i j as f\n",
	"reorder as b\nsplit as 4 as a as_2\n",
};

START_TEST(traces_print_what_was_parsed)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text out = { .arena = a };
	Trace *t = trace_parse(a, "t", good[_i], strlen(good[_i]), &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&out, t);
	ck_assert_str_eq(text_str(&out), good[_i]);
	arena_free(a);
}
END_TEST

static const struct {
	const char *text, *place;
} bad[] = {
	{ "split i 0", "t:1" },
	{ "split i -7", "t:1" },
	{ "split i", "t:1" },
	{ "\nsplit x 99999999999999999999", "t:2" },
	{ "split i 4 guard more", "t:1" },
	{ "frobnicate i", "t:1" },
	{ "split 3 4", "t:1" },
	{ "split i/j 4", "t:1" },
	{ "split i 2\ntask 1", "t:2" },
	{ "task 1\ntask 2", "t:2" },
	{ "task xyz", "t:1" },
	{ "task 0123456789abcdef0123456789abcdef0", "t:1" },
	{ "reorder", "t:1" },
	{ "split i 4 as", "t:1" },
	{ "split i 4 as a", "t:1" },
	{ "split i 4 as a b c", "t:1" },
	{ "split i 4 as a 7", "t:1" },
	{ "split i 4 as a as", "t:1" },
	{ "unroll i as a", "t:1" },
	{ "split as a b", "t:1" },
	{ "{", "t:1" },
	{ "reorder a b c d e f g h i j k l m n o p q", "t:1" },
};

START_TEST(bad_traces_are_refused_with_their_line)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(trace_parse(a, "t", bad[_i].text, strlen(bad[_i].text), &err) == NULL);
	ck_assert_int_eq(err.code, ERR_SYNTAX);
	ck_assert_str_eq(err.place, bad[_i].place);
	arena_free(a);
}
END_TEST

START_TEST(a_long_text_is_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	char *x = arena_alloc(a, 100001);
	memset(x, 'x', 100000);
	ck_assert(trace_parse(a, "t", x, 100000, &err) == NULL);
	arena_free(a);
}
END_TEST

/* ---- spaces ---- */

static const char *const workloads[] = {
#include "workloads.inc"
#include "rows.inc"
};

static void check_trace(const Task *task, const Target *target, const Trace *t, const Want *want, uint64_t order)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text text = { .arena = a };
	trace_print(&text, t);
	Trace *again = trace_parse(a, "again", text_str(&text), text.n, &err);
	KernelSet *ks = schedule_replay(ir_new(a), task, target, again, &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
	must_give(want, ks, order, text_str(&text));
	arena_free(a);
}

START_TEST(every_sampled_schedule_equals_the_naive_fn)
{
	int samples = suite_count(6, 2, 300);
	Arena *a = arena_new();
	Err err = { 0 };
	Task *task = task_of(a, workloads[_i]);
	Target target = cpu(1 + _i % 2);
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	ck_assert_msg(space_size(space) > 1, "the space of %s has one point", task->label);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	Want want[] = { want_of(a, naive, INTERP_EXACT, 1), want_of(a, naive, INTERP_MODP, 2) };
	Rng rng = rng_seed(11);
	for (int i = 0; i < samples; i++) {
		Config c = i == 0 ? space->first : space_sample(space, &rng);
		Trace *t = space_trace(space, &c, a, &err);
		ck_assert_msg(t != NULL, "%s", err.text);
		check_trace(task, &target, t, &want[i % 2], (uint64_t)i);
	}
	arena_free(a);
}
END_TEST

/* Vectors of two lanes, and none at all: the space is smaller, and there is one. */
START_TEST(narrow_machines_have_spaces)
{
	static const char text[] = "dag t\nin x: f64[4,24]\ny: f64[4,24] = relu(x)\nout y\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Task *task = task_of(a, text);
	Target target = cpu(1);
	target.vector_bits = 128 * _i;
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	Trace *t = space_trace(space, &space->first, a, &err);
	Text out = { .arena = a };
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&out, t);
	ck_assert((strstr(text_str(&out), "vectorize") != NULL) == (_i > 0));
	arena_free(a);
}
END_TEST

START_TEST(a_target_without_schedules_is_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = cpu(1);
	target.kind = TARGET_WASM;
	ck_assert(space_new(a, task_of(a, workloads[0]), &target, &err) == NULL);
	ck_assert_int_eq(err.code, ERR_UNSUPPORTED);
	arena_free(a);
}
END_TEST

/* docs/schedule.md */
static char *read_page(Arena *a)
{
	Err err = { 0 };
	Bytes page;
	const char *root = getenv("DLC_SOURCE_ROOT");
	ck_assert_msg(
		file_read(a, arena_printf(a, "%s/docs/schedule.md", root != NULL ? root : "."), 1 << 20, &page, &err),
		"%s", err.text);
	return arena_printf(a, "%.*s", (int)page.n, (const char *)page.at);
}

START_TEST(the_page_has_the_table_of_primitives)
{
	Arena *a = arena_new();
	Text rows = { .arena = a };
	for (int p = 0; p < PRIM_COUNT; p++) {
		const PrimRow *r = prim_row((Prim)p);
		text_add(&rows, "| %s | %s | %s | %s | %s |\n", r->name, r->args, r->makes, r->law, r->needs);
	}
	ck_assert_msg(strstr(read_page(a), text_str(&rows)) != NULL, "docs/schedule.md lacks\n%s", text_str(&rows));
	arena_free(a);
}
END_TEST

/* The n-th text between a line "```kind" and the next "```". */
static char *fenced(Arena *a, const char *page, const char *kind, int n)
{
	const char *from = page, *mark = arena_printf(a, "```%s\n", kind);
	for (int k = 0; k <= n; k++) {
		from = strstr(from, mark);
		ck_assert_msg(from != NULL, "no %s %d there", kind, k);
		from += strlen(mark);
	}
	return arena_printf(a, "%.*s", (int)(strstr(from, "```") - from), from);
}

enum { EXAMPLES = 4, FOR_GPU = 3 /* the last one */ };

START_TEST(the_examples_of_the_page_are_right)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = _i / 2 == FOR_GPU ? gpu() : vnni();
	char *page = read_page(a), *steps = fenced(a, page, "trace", _i / 2);
	Task *task = task_of(a, fenced(a, page, "dag", _i / 2));
	Trace *t = trace_parse(a, "schedule.md", steps, strlen(steps), &err);
	ck_assert_msg(t != NULL && t->step.n > 14, "%s: %s", err.place, err.text);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	Want want = want_of(a, naive, _i % 2 == 0 ? INTERP_MODP : INTERP_EXACT, 1);
	check_trace(task, &target, t, &want, 1);
	arena_free(a);
}
END_TEST

/* A template's column names an algorithm by its text; an algorithm that no template has is never tried. */
START_TEST(every_algorithm_is_in_a_column)
{
	bool has[8] = { false };
	for (const Template *const *t = templates; *t != NULL; t++)
		for (const TemplateAlgo *const *a = (*t)->algo; a != NULL && *a != NULL; a++) {
			int k = 0;
			while (algos[k] != NULL && strcmp(algos[k]->name, (*a)->name) != 0)
				k++;
			ck_assert_msg(algos[k] != NULL, "template %s: there is no algorithm %s", (*t)->name, (*a)->name);
			has[k] = true;
		}
	for (int k = 0; algos[k] != NULL; k++)
		ck_assert_msg(has[k], "no template has %s", algos[k]->name);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("schedule");
	tcase_add_loop_test(tc, primitives_give_the_golden_text, 0, LEN(golden));
	tcase_add_loop_test(tc, what_primitives_give_is_the_same, 0, sizeof same / sizeof *same);
	tcase_add_test(tc, bound_loops_are_the_same);
	tcase_add_test(tc, elements_in_other_places_are_the_same);
	tcase_add_test(tc, matrix_instructions_are_the_same);
	tcase_add_loop_test(tc, traces_print_what_was_parsed, 0, LEN(good));
	tcase_add_loop_test(tc, bad_traces_are_refused_with_their_line, 0, LEN(bad));
	tcase_add_test(tc, a_long_text_is_refused);
	tcase_add_loop_test(tc, every_sampled_schedule_equals_the_naive_fn, 0, LEN(workloads));
	tcase_add_loop_test(tc, narrow_machines_have_spaces, 0, 3);
	tcase_add_test(tc, a_target_without_schedules_is_refused);
	tcase_add_test(tc, every_algorithm_is_in_a_column);
	tcase_add_test(tc, the_page_has_the_table_of_primitives);
	tcase_add_loop_test(tc, the_examples_of_the_page_are_right, 0, 2 * EXAMPLES);
	return run_suite("schedule", tc);
}
