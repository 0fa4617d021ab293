/*
 * The generated space cuts the innermost axis of a nest where an index or a condition of it bends, as at the border of
 * a padded tensor. Random borders in all modes compute what the naive Fn does.
 */
#include "equal.h"
#include "suite.h"

#include "schedule/space.h"

#include <string.h>

static Space *space_of(Arena *a, const char *dag, Target *target, int threads)
{
	Err err = { 0 };
	*target = named_target("cpu:znver5", threads);
	Space *s = space_of_any(a, task_of(a, dag), target, &err);
	ck_assert_msg(s != NULL, "%s\n%s", err.text, dag);
	return s;
}

static const char *trace_of(Arena *a, const char *dag, int threads)
{
	Err err = { 0 };
	Target target;
	Text text = { .arena = a };
	Space *s = space_of(a, dag, &target, threads);
	Trace *t = space_trace(s, &s->first, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&text, t);
	return text_str(&text);
}

#define PADDED "dag t\nin x: f32[1,5,9,56]\ny: f32[1,5,15,62] = pad(x) pads=[0,0,3,3,0,0,3,3] mode="

static const struct {
	const char *dag, *steps; /* NULL: the axis stays whole */
	int threads;
} cases[] = {
	{ PADDED "reflect\nout y\n", "cut w 3\nvectorize w\ncut w.2 56\nsplit w.2 16 overlap\nvectorize w.2.i\n"
		"vectorize w.2.2\n", 1 },
	{ PADDED "edge\nout y\n", "cut w 3\nvectorize w\ncut w.2 56\n", 1 },
	{ PADDED "wrap\nout y\n", "cut w 3\nvectorize w\ncut w.2 56\n", 2 },
	{ PADDED "constant\nout y\n", "cut w 3\nvectorize w\ncut w.2 56\n", 1 },
	/* Also where another nest has the border, which is inlined. */
	{ PADDED "edge\nz: f32[1,5,15,62] = relu(y)\nout z\n", "cut w_1 3\nvectorize w_1\ncut w_1.2 56\n", 1 },
	/* Only one end has a border, of a single element and then of more than a vector. */
	{ "dag t\nin x: f32[7,40]\ny: f32[8,41] = pad(x) pads=[0,1,1,0] mode=wrap\nout y\n",
		"cut n 1\nsplit n.2 16 overlap\n", 1 },
	{ "dag t\nin x: f32[7,40]\ny: f32[7,60] = pad(x) pads=[0,0,0,20] mode=reflect\nout y\n",
		"cut n 40\nsplit n 16 overlap\nvectorize n.i\nsplit n.2 16 overlap\n", 1 },
	/* No piece fills a vector; threads share the axis; there are more pieces than code is worth. */
	{ "dag t\nin x: f32[7,3]\ny: f32[7,9] = pad(x) pads=[0,3,0,3] mode=edge\nout y\n", NULL, 1 },
	{ "dag t\nin x: f32[900]\ny: f32[906] = pad(x) pads=[3,3] mode=edge\nout y\n", NULL, 2 },
	{ "dag t\nin x: f32[7,40]\ny: f32[7,400] = pad(x) pads=[0,180,0,180] mode=wrap\nout y\n", NULL, 1 },
	/* Rows alone have a border: one run of memory is copied for each. */
	{ "dag t\nin x: f32[7,40]\ny: f32[9,40] = pad(x) pads=[1,0,1,0] mode=reflect\nout y\n", NULL, 1 },
};

START_TEST(bends_are_cuts)
{
	Arena *a = arena_new();
	const char *trace = trace_of(a, cases[_i].dag, cases[_i].threads);
	bool whole = cases[_i].steps == NULL;
	ck_assert_msg((strstr(trace, whole ? "cut " : cases[_i].steps) == NULL) == whole, "%s", trace);
	arena_free(a);
}
END_TEST

static const char *draw_dag(Arena *a, Rng *rng)
{
	static const char *const mode[] = { "reflect", "edge", "wrap", "constant" };
	static const char *const type[] = { "f32", "f64", "f16", "bf16", "u8", "i64", "i32", "i8" };
	Text out = { .arena = a };
	const char *t = type[rng_below(rng, LEN(type))];
	int64_t size[2], pad[4], large = (int64_t)rng_below(rng, 2) ? 60 : 12;
	for (int k = 0; k < 2; k++)
		size[k] = 1 + (int64_t)rng_below(rng, k == 1 ? 70 : 5);
	for (int k = 0; k < 4; k++)
		pad[k] = (int64_t)rng_below(rng, k % 2 == 1 ? (uint64_t)large : 3);
	long long h = size[0] + pad[0] + pad[2], w = size[1] + pad[1] + pad[3];
	text_add(&out, "dag t\nin x: %s[2,%lld,%lld]\ny: %s[2,%lld,%lld] = pad(x) ", t, (long long)size[0],
		(long long)size[1], t, h, w);
	text_add(&out, "mode=%s pads=[0,%lld,%lld,0,%lld,%lld]\n", mode[rng_below(rng, LEN(mode))], (long long)pad[0],
		(long long)pad[1], (long long)pad[2], (long long)pad[3]);
	if (rng_below(rng, 2))
		text_add(&out, "z: %s[2,%lld,%lld] = add(y, y)\nout z\n", t, h, w);
	else
		text_add(&out, "out y\n");
	return text_str(&out);
}

START_TEST(random_borders_are_right)
{
	int tasks = suite_count(40, 10, 2000), cut = 0;
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int k = 0; k < tasks; k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Target target;
		const char *dag = draw_dag(a, &rng);
		Space *s = space_of(a, dag, &target, 1 + k % 2);
		KernelSet *naive = op_naive(ir_new(a), s->task->dag, "k", NAIVE_AS_TYPED, &err);
		ck_assert_msg(naive != NULL, "%s\n%s", err.text, dag);
		Want want = want_of(a, naive, INTERP_EXACT, 1);
		for (int i = 0; i < 3; i++) {
			Text text = { .arena = a };
			Config c = i > 0 ? space_sample(s, &rng) : s->first;
			Trace *t = space_trace(s, &c, a, &err);
			ck_assert_msg(t != NULL, "%s", err.text);
			text_add(&text, "%s", dag);
			trace_print(&text, t);
			KernelSet *ks = schedule_replay(ir_new(a), s->task, &target, t, &err);
			ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
			must_give(&want, ks, (uint64_t)i, text_str(&text));
			cut += strstr(text_str(&text), "\ncut ") != NULL;
		}
		arena_free(a);
	}
	ck_assert_msg(cut * 10 > tasks, "%d of %d have cuts", cut, tasks);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pieces");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, bends_are_cuts, 0, LEN(cases));
	tcase_add_loop_test(tc, random_borders_are_right, 0, 4);
	return run_suite("pieces", tc);
}
