/*
 * The order that matters: whatever the time is, a schedule that is plainly better must be estimated
 * so.  Each row is a workload and two traces, the first the better one.
 */
#include "suite.h"

#include "base/rng.h"
#include "cost_model/cost_model.h"
#include "schedule/space.h"

#include <math.h>
#include <string.h>

static const char conv[] = "dag t\nin v0: f32[1,16,16,16]\nconst c0: f32[16,16,3,3]\n"
			   "v1: f32[1,16,16,16] = conv(v0, c0) pads=[1,1,1,1]\nout v1\n";
static const char dense[] = "dag t\nin v0: f32[4,256]\nconst c0: f32[256,256]\nv1: f32[4,256] = dense(v0, c0)\nout v1\n";
static const char relu[] = "dag t\nin v0: f32[64,64]\nv1: f32[64,64] = relu(v0)\nout v1\n";

static const struct {
	const char *name, *dag;
	int threads;
	const char *better, *worse;
} order[] = {
	{ "a vector beats scalars", conv, 1, "split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n", "" },
	{ "a full vector beats half of one", conv, 1, "split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n",
		"split w 4\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n" },
	{ "neighbours beat strides", conv, 1, "split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n",
		"split h 8\nreorder n o h.o w c kh kw h.i\nvectorize h.i\n" },
	{ "a tile hides the latency of a sum", conv, 1,
		"split w 8\nsplit o 4\nreorder n o.o h w.o c kh kw o.i w.i\nunroll o.i\nvectorize w.i\n",
		"split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n" },
	{ "two threads beat one", conv, 2, "parallel o\n", "" },
	{ "vectors of elements", relu, 1, "split n 8\nvectorize n.i\n", "" },
	{ "unrolled loops cost no branches", dense, 1, "split k 8\nunroll k.i\n", "split k 8\n" },
};

static double estimate(Arena *a, const Task *task, const Target *target, const char *trace)
{
	Err err = { 0 };
	Trace *t = trace_parse(a, "trace", trace, strlen(trace), &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	return cost_models[0]->estimate(ks, task, target);
}

static Target cpu(int threads)
{
	Target t;
	Err err = { 0 };
	static const char text[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\",\"fma_rate\":2,\"fma_latency\":4}";
	ck_assert_msg(target_parse(&t, "t", text, sizeof text - 1, threads, &err), "%s", err.text);
	return t;
}

static const Task *task_of(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	Task *t = d != NULL ? task_new(a, d, &err) : NULL;
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

START_TEST(what_is_plainly_better_ranks_first)
{
	Arena *a = arena_new();
	Target target = cpu(order[_i].threads);
	const Task *task = task_of(a, order[_i].dag);
	double better = estimate(a, task, &target, order[_i].better), worse = estimate(a, task, &target, order[_i].worse);
	ck_assert_msg(better < worse, "%s: %g and %g ns", order[_i].name, better, worse);
	arena_free(a);
}
END_TEST

/* No point of a space is free, endless, or no number; the default is above the middle. */
START_TEST(estimates_are_times)
{
	static const char *const dag[] = { conv, dense, relu };
	Arena *a = arena_new();
	Err err = { 0 };
	Rng rng = rng_seed(5);
	Target target = cpu(1);
	const Task *task = task_of(a, dag[_i]);
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	double first = 0;
	int slower = 0, n = 60;
	for (int i = 0; i < n; i++) {
		Text text = { .arena = a };
		trace_print(&text, space_trace(space, i == 0 ? space->first : space_sample(space, &rng), a, &err));
		double ns = estimate(a, task, &target, text_str(&text));
		ck_assert_msg(isfinite(ns) && ns > 0 && ns < 1e12, "%g ns: %s", ns, text_str(&text));
		first = i == 0 ? ns : first;
		slower += ns >= first;
	}
	ck_assert_msg(slower * 2 >= n, "the default is slower than %d of %d", n - slower, n);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cost_model");
	tcase_add_loop_test(tc, what_is_plainly_better_ranks_first, 0, LEN(order));
	tcase_add_loop_test(tc, estimates_are_times, 0, 3);
	return run_suite("cost_model", tc);
}
