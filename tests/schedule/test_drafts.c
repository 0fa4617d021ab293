/*
 * Drafts that go on from what earlier traces have in common are those of schedule_draft: the same text, the same
 * number of expressions behind it, the same refusals. The verifier, which drafts are not shown, has nothing to say.
 */
#include "equal.h"
#include "suite.h"

#include "ir/build.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "schedule/drafts.h"

#include <string.h>

static const char *const workloads[] = {
#include "workloads.inc"
};

static const char *const targets[] = { "cpu:znver5", "cuda:gtx1080ti" };

/* Returns whether the trace is legal. */
static bool same_draft(Drafts *d, const Space *s, const Trace *t)
{
	Arena *a = arena_new();
	Err want = { 0 }, err = { 0 };
	const KernelSet *x = schedule_draft(ir_new(a), s->task, s->target, t, &want), *y = drafts_make(d, a, t, &err);
	ck_assert((x != NULL) == (y != NULL));
	ck_assert_str_eq(want.text, err.text);
	if (x != NULL) {
		ck_assert_str_eq(ir_set_str(a, x), ir_set_str(a, y));
		ck_assert_uint_eq(ir_int(x->ir, 1234567891011)->id, ir_int(y->ir, 1234567891011)->id);
		ck_assert_msg(ir_verify_set(y, &err), "%s: %s", err.place, err.text); /* which drafts leave out */
	}
	arena_free(a);
	return x != NULL;
}

typedef struct Many {
	const Space *space;
	const DraftJob *job;
	int taken;
} Many;

static void compare_one(void *arg, int i, Arena *a, const KernelSet *ks)
{
	Many *m = arg;
	const KernelSet *x = schedule_draft(ir_new(a), m->space->task, m->space->target, m->job[i].trace, NULL);
	ck_assert((x != NULL) == (ks != NULL));
	if (x != NULL) {
		ck_assert_str_eq(ir_set_str(a, x), ir_set_str(a, ks));
		ck_assert_uint_eq(ir_int(x->ir, 1234567891011)->id, ir_int(ks->ir, 1234567891011)->id);
	}
	m->taken++;
	arena_free(a);
}

/* All together; some twice, and one that is refused. */
static void same_together(Drafts *d, const Space *s, Trace *const *t, int n)
{
	Arena *a = arena_new();
	DraftJob *job = arena_array(a, DraftJob, 2 * n + 1);
	int m = 0;
	for (int i = 0; i < n; i++) {
		Text text = { .arena = a };
		trace_print(&text, t[i]);
		for (int twice = i % 5 == 0; twice >= 0; twice--)
			job[m++] = (DraftJob){ t[i], text_str(&text) };
	}
	const char *refused = arena_printf(a, "%sunroll nowhere\n", job[0].text);
	job[m++] = (DraftJob){ trace_parse(a, "t", refused, strlen(refused), NULL), refused };
	Many many = { s, job, 0 };
	drafts_each(d, job, m, compare_one, &many);
	ck_assert_int_eq(many.taken, m);
	drafts_each(d, job, 0, compare_one, &many);
	ck_assert_int_eq(many.taken, m);
	arena_free(a);
}

/* Drawn configs, and what differs from each in one knob: most of their steps are common. */
static void draw(const char *dag, const char *name, uint64_t seed)
{
	Arena *a = arena_new();
	Target target = named_target(name, 1);
	Err err = { 0 };
	Space *s = space_new(a, task_of(a, dag), &target, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	Drafts *d = drafts_new(a, s->task, &target);
	Rng rng = rng_seed(seed);
	int legal = 0;
	VEC(Trace *) all = { 0 };
	Drafts *other = drafts_new(a, s->task, &target);
	for (int i = 0; i < suite_count(4, 2, 100); i++) {
		Config c = i == 0 ? s->first : space_sample(s, &rng);
		for (int at = -1; at < c.n; at++) {
			int n = at < 0 ? 1 : space_knob(s, &c, at)->n;
			Config moved = at < 0 ? c : space_move(s, &c, at, (int)rng_below(&rng, (uint64_t)n));
			Trace *t = space_trace(s, &moved, a, &err);
			ck_assert_msg(t != NULL, "%s", err.text);
			legal += same_draft(d, s, t);
			vec_push(a, &all, t);
		}
	}
	same_together(other, s, all.at, (int)all.n); /* which has kept nothing */
	same_together(d, s, all.at, (int)all.n);
	ck_assert_msg(legal > 0 || target_has_blocks(&target), "no config of %s was legal", dag);
	arena_free(a);
}

START_TEST(drafts_are_those_of_whole_traces)
{
	for (int k = 0; k < LEN(targets); k++)
		draw(workloads[_i], targets[k], (uint64_t)_i + 1);
}
END_TEST

/* A trace is refused at its own line, whether what stands before it is kept or not. */
START_TEST(a_refusal_names_its_line)
{
	Arena *a = arena_new();
	Target target = named_target("cpu:znver5", 1);
	Task *task = task_of(a, "dag t\nin x: f32[4,8]\ny: f32[4,8] = relu(x)\nout y\n");
	Err err = { 0 };
	Space *s = space_new(a, task, &target, &err);
	Drafts *d = drafts_new(a, task, &target);
	Text first = { .arena = a };
	Trace *legal = space_trace(s, &s->first, a, &err);
	trace_print(&first, legal);
	for (int k = 0; k < 6; k++) {
		const char *text = arena_printf(a, "%sunroll nowhere%d\n", text_str(&first), k), *line;
		Trace *t = trace_parse(a, "t", text, strlen(text), &err);
		Err at = { 0 };
		ck_assert(t != NULL);
		ck_assert(!same_draft(d, s, t) && drafts_make(d, a, t, &at) == NULL);
		line = arena_printf(a, "t:%zu", legal->step.n + 1);
		ck_assert_str_eq(at.place, line);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("drafts");
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, drafts_are_those_of_whole_traces, 0, LEN(workloads));
	tcase_add_test(t, a_refusal_names_its_line);
	return run_suite("schedule-drafts", t);
}
