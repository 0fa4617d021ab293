/*
 * What a few lines may cost. Steps that multiply code are refused at a limit of limit.def, with the step and
 * the number, before they have made what is too large; the set stays as it was. What lowering is given may
 * still be too much for LLVM: then it is refused by its weight. docs/schedule.md has the table.
 */
#include "equal.h"
#include "steps.h"
#include "code_suite.h"

#include "base/file.h"
#include "codegen/lower.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "op/steps.h"
#include "schedule/nest.h"
#include "schedule/space.h"

#include <string.h>

static const char conv[] = "dag conv\nin x: f32[1,16,13,29]\nconst w: f32[24,16,3,3]\ny: f32[1,24,13,29] = conv(x, w) "
			   "pads=[1,1,1,1]\nout y\n";
static const char power[] = "dag pow\nin x: f32[60,64]\nin y: f32[60,64]\nz: f32[60,64] = pow(x, y)\nout z\n";

static Target any_target(void)
{
	Target t;
	target_host(&t, 1);
	return t;
}

typedef struct Lab {
	Arena *arena;
	Target target;
	Task *task;
	KernelSet *ks;
	LimitCost cost;
	Err err;
} Lab;

static Lab lab_open(const char *dag)
{
	Lab l = { .arena = arena_new(), .target = any_target() };
	l.task = task_of(l.arena, dag);
	l.ks = op_naive(ir_new(l.arena), l.task->dag, "k", NAIVE_AS_TYPED, &l.err);
	ck_assert(l.ks != NULL);
	return l;
}

static bool take(Lab *l, const char *steps)
{
	Trace *t = trace_parse(l->arena, "t", steps, strlen(steps), &l->err);
	ck_assert_msg(t != NULL, "%s: %s", l->err.place, l->err.text);
	return trace_apply_more(l->ks, t, l->task->dag, &l->target, &l->cost, &l->err);
}

/* Halves every loop again and again, which doubles what stands in it. */
static bool cut_all(Lab *l, Stmt *s)
{
	for (Stmt *next; s != NULL; s = next) {
		int64_t n;
		next = s->next;
		if (s->kind != ST_FOR)
			continue;
		if (!cut_all(l, s->loop.body))
			return false;
		if (nest_extent(s, &n) && n > 1 && !take(l, arena_printf(l->arena, "cut %s %lld\n", s->loop.var,
			(long long)n / 2)))
			return strstr(l->err.text, "64 copies") != NULL && (l->err = (Err){ 0 }, true);
	}
	return true;
}

START_TEST(cuts_end_at_a_limit)
{
	Lab l = lab_open(conv);
	while (cut_all(&l, l.ks->fn[0]->body))
		continue;
	LimitSize size = limit_size(l.ks);
	ck_assert_int_eq(l.err.code, ERR_ILLEGAL);
	ck_assert_msg(strstr(l.err.text, ": the schedule would have ") != NULL && strstr(l.err.text,
		"; one has at most ") != NULL,
		"%s", l.err.text);
	ck_assert_int_le(size.statements, limit_row(LIMIT_statements)->most);
	ck_assert_int_le(size.nodes, limit_row(LIMIT_nodes)->most);
	ck_assert_int_gt(2 * size.nodes, limit_row(LIMIT_nodes)->most / 2);
	ck_assert_int_le((int64_t)arena_used(l.arena), limit_row(LIMIT_memory)->most);
	l.err = (Err){ 0 };
	ck_assert_msg(ir_verify_set(l.ks, &l.err), "%s", l.err.text);
	arena_free(l.arena);
}
END_TEST

/* The twelve lines that kept a compiler for minutes. */
START_TEST(copies_of_unrolled_loops_are_counted_before_they_are_made)
{
	Lab l = lab_open(conv);
	char name[64] = "o";
	ck_assert(take(&l, "unroll kw\nunroll kh\nunroll w\nunroll h\n"));
	bool taken = true;
	for (int i = 0; taken && i < 20; i++) {
		LimitSize before = limit_size(l.ks);
		taken = take(&l, arena_printf(l.arena, "cut %s 1\n", name));
		strcat(name, ".2");
		if (!taken) {
			LimitSize after = limit_size(l.ks);
			ck_assert_int_eq(before.code, after.code);
			ck_assert_int_eq(before.statements, after.statements);
		}
	}
	ck_assert(!taken);
	ck_assert_msg(strncmp(l.err.text, "cut o.2", 7) == 0 && strstr(l.err.text,
		"statements and nodes once unrolled") != NULL,
		"%s", l.err.text);
	arena_free(l.arena);
}
END_TEST

START_TEST(a_weight_is_refused_before_llvm_sees_it)
{
	Lab l = lab_open(power);
	KernelSet *lowered;
	ck_assert(take(&l, "vectorize n\nunroll m\n"));
	ck_assert(!codegen_lower(l.arena, l.ks, &l.target, NULL, NULL, NULL, &lowered, &l.err));
	ck_assert_int_eq(l.err.code, ERR_UNSUPPORTED);
	ck_assert_msg(strncmp(l.err.text, "the code weighs ", 16) == 0, "%s", l.err.text);
	arena_free(l.arena);
}
END_TEST

/* One instruction each, however many: a square, a reciprocal, the number itself. */
START_TEST(powers_that_are_no_calls_weigh_little)
{
	static const char *const power_of[] = { "1.0", "2.0", "-1.0", "3.0" };
	Arena *a = arena_new();
	Err err = { 0 };
	Target t = any_target();
	KernelSet *lowered, *ks;
	const char *text = arena_printf(a,
		"fn k(x: const f32[60,64], y: out f32[60,64]) {\n"
		"for m in 0..60 unrolled { for n in 0..64 vector { y[m, n] = pow(x[m, n], %s) } } }",
		power_of[_i]);
	t.vector_bits = 256;
	ks = ir_parse_set(ir_new(a), "t", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(codegen_lower(a, ks, &t, NULL, NULL, NULL, &lowered, &err) == (_i < 3), "%s", err.text);
	arena_free(a);
}
END_TEST

/* A size is the sum of the Fns', and a loop's share what it adds. */
START_TEST(a_size_counts_copies)
{
	Lab l = lab_open(conv);
	LimitSize plain = limit_size(l.ks);
	ck_assert(take(&l, "cut h 6\n"));
	LimitSize cut = limit_size(l.ks);
	ck_assert_int_eq(cut.statements, plain.statements + 8); /* h w c kh kw conv, init, sum */
	ck_assert(take(&l, "unroll kw\n"));
	LimitSize unrolled = limit_size(l.ks);
	ck_assert_int_eq(unrolled.nodes, cut.nodes);
	ck_assert_int_gt(unrolled.code, cut.code);
	arena_free(l.arena);
}
END_TEST

/* Any steps at all, many of them: each is taken or refused, and what comes out is within the limits. */
START_TEST(long_random_traces_end_within_the_limits)
{
	enum { STEPS = 150 };
	Lab l = lab_open(_i == 0 ? conv : step_workloads[_i]);
	Rng rng = rng_seed((uint64_t)_i);
	for (int i = 0; i < STEPS; i++) {
		static const Prim more[] = { PRIM_cut, PRIM_unroll, PRIM_vectorize, PRIM_split };
		Arena *scratch = arena_new();
		const char *step = i % 2 == 0 ? random_step(scratch, l.ks, &rng)
					      : random_step_of(scratch, l.ks, more[rng_below(&rng, LEN(more))], &rng);
		l.err = (Err){ 0 };
		if (!take(&l, step))
			ck_assert_int_eq(l.err.code, ERR_ILLEGAL);
		arena_free(scratch);
	}
	ck_assert(!strstr(l.err.text, "would have") || limit_size(l.ks).nodes <= 2 * limit_row(LIMIT_nodes)->most);
	l.err = (Err){ 0 };
	ck_assert_msg(ir_verify_set(l.ks, &l.err), "%s", l.err.text);
	arena_free(l.arena);
}
END_TEST

START_TEST(the_documentation_has_each_limit)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes doc;
	const char *path = arena_printf(a, "%s/docs/schedule.md", getenv("DLC_SOURCE_ROOT"));
	ck_assert_msg(file_read(a, path, 1 << 20, &doc, &err), "%s", err.text);
	for (int l = 0; l < LIMIT_COUNT; l++) {
		const LimitRow *r = limit_row((Limit)l);
		const char *row = arena_printf(a, "| %s | %lld | %s | %s |\n", r->name, (long long)r->most, r->unit, r->reason);
		ck_assert_msg(strstr((const char *)doc.at, row) != NULL, "docs/schedule.md lacks %s", row);
	}
	arena_free(a);
}
END_TEST

/* Blanks, comments, empty lines and the end of the last line, at random; a task's name may come first. */
static const char *disguised(Arena *a, const char *steps, Rng *rng)
{
	static const char *const blank[] = { " ", "\t", "   ", " \t " }, *const end[] = { "\n", " # note\n", "\r\n",
		"\n\n \t\n#\n" };
	Text out = { .arena = a };
	if (rng_below(rng, 2) == 0)
		text_add(&out, "# a file\n task%s4f1c2a9\n", blank[rng_below(rng, LEN(blank))]);
	for (const char *p = steps; *p != 0; p++)
		if (*p == ' ')
			text_add(&out, "%s", blank[rng_below(rng, LEN(blank))]);
		else if (*p == '\n')
			text_add(&out, "%s", p[1] == 0 && rng_below(rng, 2) == 0 ? "" : end[rng_below(rng, LEN(end))]);
		else
			text_put(&out, p, 1);
	return text_str(&out);
}

/* The rooms that know steps and those that know text agree on what one schedule is. */
START_TEST(a_schedule_is_its_canonical_text)
{
	Lab l = lab_open(step_workloads[_i]);
	Rng rng = rng_seed((uint64_t)_i + 100);
	Text steps = { .arena = l.arena }, printed = { .arena = l.arena };
	for (int i = 0; i < 30; i++)
		text_add(&steps, "%s", random_step(l.arena, l.ks, &rng));
	const char *text = disguised(l.arena, text_str(&steps), &rng);
	Trace *t = trace_parse(l.arena, "t", text, strlen(text), &l.err);
	ck_assert_msg(t != NULL, "%s: %s\n%s", l.err.place, l.err.text, text);
	t->task = NULL;
	trace_print(&printed, t);
	ck_assert_str_eq(steps_canonical(l.arena, text), text_str(&printed));
	ck_assert_str_eq(steps_canonical(l.arena, text_str(&printed)), text_str(&printed));
	arena_free(l.arena);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("limit");
	tcase_add_test(tc, cuts_end_at_a_limit);
	tcase_add_test(tc, copies_of_unrolled_loops_are_counted_before_they_are_made);
	tcase_add_test(tc, a_weight_is_refused_before_llvm_sees_it);
	tcase_add_loop_test(tc, powers_that_are_no_calls_weigh_little, 0, 4);
	tcase_add_test(tc, a_size_counts_copies);
	tcase_add_loop_test(tc, long_random_traces_end_within_the_limits, 0, 8);
	tcase_add_loop_test(tc, a_schedule_is_its_canonical_text, 0, 8);
	tcase_add_test(tc, the_documentation_has_each_limit);
	return run_code_suite("limit", tc);
}
