/*
 * Plans as golden text, what prepare Fns make, and the file that comes of it: twice the same bytes,
 * nothing in it that nobody reads.
 */
#include "golden.h"
#include "suite.h"

#include "compile/bundle_write.h"
#include "compile/compile.h"
#include "interp/interp.h"
#include "compile/net_plan.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "dlc/dlc_runtime.h"

#include <stdio.h>
#include <string.h>

static bool no_prepare(const PrepareJob *job, int n, void *arg, Err *err)
{
	(void)job, (void)n, (void)arg;
	return fail(err, ERR_BUG, "", "a naive set has no prepare Fns");
}

/* `what` is "naive": the plan of the Dag as it is, each task with its naive set. */
static void plan_of(Arena *a, const char *text, const char *what, Text *out)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "golden", text, strlen(text), &err);
	Partition *p = d != NULL ? graph_partition(a, d, &err) : NULL;
	NetPlan *plan = NULL;
	(void)what;
	if (p != NULL) {
		KernelSet **set = arena_array(a, KernelSet *, p->ntask + 1);
		bool ok = true;
		for (int k = 0; ok && k < p->ntask; k++)
			ok = (set[k] = op_naive(ir_new(a), p->task[k]->dag, "k", NAIVE_AS_TYPED, &err)) != NULL;
		plan = ok ? plan_network(a, d, p, set, (PrepareFn){ no_prepare, NULL }, &err) : NULL;
	}
	if (plan == NULL)
		text_add(out, "! %s: %s\n", err.place, err.text);
	else
		plan_print(out, plan);
}

START_TEST(plans_are_the_golden_text)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/compile/plans.t", plan_of, &cases), 0);
	ck_assert_int_ge(cases, 8);
}
END_TEST

/* ---- prepare Fns ---- */

static const char layer[] = "dag n\nin x: f32[4]\nconst w: f32[4] = {1, 2, 3, 4}\ny: f32[4] = mul(x, w)\n"
							"z: f32[4] = transpose(y) perm=[0]\nout z\n";

/* What a trace with a prepare step will make: weights doubled, doubled again, then two kernels. */
static const char prepared[] = "prepare fn twice(c0: const f32[4], p: out f32[4]) {\n"
							   "	for i in 0..4 { block a(vi: spatial 0..4 = i) { p[vi] = c0[vi] + c0[vi] } }\n"
							   "}\n"
							   "prepare fn again(p: const f32[4], q: out f32[4]) {\n"
							   "	for i in 0..4 { block a(vi: spatial 0..4 = i) { q[vi] = p[vi] + p[vi] } }\n"
							   "}\n"
							   "fn first(v0: in f32[4], q: const f32[4], t: work f32[4]) {\n"
							   "	for i in 0..4 { block a(vi: spatial 0..4 = i) { t[vi] = v0[vi] * q[vi] } }\n"
							   "}\n"
							   "fn second(t: work f32[4], v1: out f32[4]) {\n"
							   "	for i in 0..4 { block a(vi: spatial 0..4 = i) { v1[vi] = t[vi] } }\n"
							   "}\n";

/* Jobs done by the interpreter. */
typedef struct Runs {
	Arena *arena; /* of what they make */
	KernelSet *const *set;
	int n; /* jobs done */
} Runs;

static bool interpret_one(const Runs *runs, const PrepareJob *job, Err *err)
{
	const KernelSet *set = runs->set[job->task];
	KernelSet only = *set;
	Arena *a = arena_new();
	int n = job->n + job->nout;
	IrArg *args = arena_array(a, IrArg, n);
	only.fn = arena_array(a, Fn *, only.n);
	only.n = 0;
	for (size_t i = 0; i < set->n; i++)
		if (set->fn[i]->kind == FN_PREPARE)
			only.fn[only.n++] = set->fn[i];
	for (int k = 0; k < n; k++) {
		const Prepared *p = k < job->n ? &job->given[k] : &job->out[k - job->n];
		args[k] = (IrArg){ .name = p->name, .data = p->data };
	}
	InterpRun how = { .seed = 1 };
	bool ok = interp_run_set(&only, args, n, &how, err);
	arena_free(a);
	return ok;
}

static bool interpret(const PrepareJob *job, int n, void *arg, Err *err)
{
	Runs *runs = arg;
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < job[k].nout; i++)
			job[k].out[i].data = arena_alloc_aligned(runs->arena, (size_t)job[k].out[i].bytes, 64);
		if (!interpret_one(runs, &job[k], err))
			return false;
		runs->n++;
	}
	return true;
}

START_TEST(prepared_constants_are_made_once_and_stored)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text out = { .arena = a };
	Dag *d = dag_parse(a, "n", layer, sizeof layer - 1, &err);
	Partition *p = d != NULL ? graph_partition(a, d, &err) : NULL;
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	KernelSet **set = arena_array(a, KernelSet *, p->ntask);
	for (int k = 0; k < p->ntask; k++) {
		bool mul = strstr(p->task[k]->text, "mul(") != NULL;
		set[k] = mul ? ir_parse_set(ir_new(a), "prepared", prepared, sizeof prepared - 1, &err)
		             : op_naive(ir_new(a), p->task[k]->dag, "k", NAIVE_AS_TYPED, &err);
		ck_assert_msg(set[k] != NULL && ir_verify_set(set[k], &err), "%s: %s", err.place, err.text);
	}
	Runs runs = { a, set, 0 };
	NetPlan *plan = plan_network(a, d, p, set, (PrepareFn){ interpret, &runs }, &err);
	ck_assert_msg(plan != NULL, "%s: %s", err.place, err.text);
	plan_print(&out, plan);
	const float *q = NULL;
	for (size_t i = 0; i < plan->step.n; i++)
		for (int k = 0; k < plan->step.at[i].n; k++)
			if (plan->step.at[i].place[k].kind == PLACE_CONST) {
				ck_assert_str_eq(plan->step.at[i].place[k].name, "q");
				q = plan->constant.at[plan->step.at[i].place[k].index].data;
			}
	ck_assert_msg(q != NULL, "%s", text_str(&out));
	for (int i = 0; i < 4; i++)
		ck_assert(q[i] == 4.0f * (float)(i + 1));
	arena_free(a);
}
END_TEST

/* Steps multiply by w, by other bytes that are equal, and by u: that is twice prepared, and two constants. */
START_TEST(equal_steps_share_what_is_prepared)
{
	enum { STEPS = 300 };
	Arena *a = arena_new();
	Err err = { 0 };
	Text text = { .arena = a };
	text_add(&text, "dag n\nin x0: f32[4]\nconst w: f32[4] = {1, 2, 3, 4}\nconst v: f32[4] = {1, 2, 3, 4}\n"
					"const u: f32[4] = {1, 2, 3, 5}\n");
	for (int k = 0; k < STEPS; k++)
		text_add(&text, "y%d: f32[4] = mul(x%d, %c)\nx%d: f32[4] = slice(y%d) starts=[3] steps=[-1] sizes=[4]\n", k, k,
			"wvu"[k % 3], k + 1, k);
	text_add(&text, "out x%d\n", STEPS);
	Dag *d = dag_parse(a, "n", text_str(&text), strlen(text_str(&text)), &err);
	Partition *p = d != NULL ? graph_partition(a, d, &err) : NULL;
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	ck_assert_int_eq(p->ntask, 2);
	KernelSet **set = arena_array(a, KernelSet *, p->ntask);
	for (int k = 0; k < p->ntask; k++)
		set[k] = strstr(p->task[k]->text, "mul(") != NULL
			? ir_parse_set(ir_new(a), "prepared", prepared, sizeof prepared - 1, &err)
			: op_naive(ir_new(a), p->task[k]->dag, "k", NAIVE_AS_TYPED, &err);
	Runs runs = { a, set, 0 };
	NetPlan *plan = plan_network(a, d, p, set, (PrepareFn){ interpret, &runs }, &err);
	ck_assert_msg(plan != NULL, "%s: %s", err.place, err.text);
	ck_assert_int_eq(plan->step.n, 3 * STEPS);
	ck_assert_int_eq(runs.n, 2);
	ck_assert_uint_eq(plan->constant.n, 6); /* w, u, and twice both of theirs */
	int step = 0;
	for (size_t i = 0; i < plan->step.n; i++)
		for (int k = 0; k < plan->step.at[i].n; k++)
			if (plan->step.at[i].place[k].kind == PLACE_CONST) {
				const float *q = plan->constant.at[plan->step.at[i].place[k].index].data;
				ck_assert(q[0] == 4 && q[3] == (step++ % 3 == 2 ? 20 : 16));
			}
	ck_assert_int_eq(step, STEPS);
	arena_free(a);
}
END_TEST

/* What step last makes of a Task: counters, which all Tasks keep at the same place of an instance's state. */
static const char counted[] = "fn k(v0: in f32[4], n: zero i32[20], v1: out f32[4], m: zero i32[1]) {\n"
							  "	for i in 0..4 { block a(vi: spatial 0..4 = i) { v1[vi] = v0[vi] } }\n"
							  "}\n";

START_TEST(counters_are_state)
{
	static const char chain[] = "dag n\nin x: f32[4]\ny: f32[4] = slice(x) starts=[3] steps=[-1] sizes=[4]\n"
								"z: f32[4] = slice(y) starts=[3] steps=[-1] sizes=[4]\nout z\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Text out = { .arena = a };
	Dag *d = dag_parse(a, "n", chain, sizeof chain - 1, &err);
	Partition *p = d != NULL ? graph_partition(a, d, &err) : NULL;
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	KernelSet **set = arena_array(a, KernelSet *, p->ntask);
	for (int k = 0; k < p->ntask; k++) {
		set[k] = ir_parse_set(ir_new(a), "counted", counted, sizeof counted - 1, &err);
		ck_assert_msg(set[k] != NULL && ir_verify_set(set[k], &err), "%s: %s", err.place, err.text);
	}
	NetPlan *plan = plan_network(a, d, p, set, (PrepareFn){ no_prepare, NULL }, &err);
	ck_assert_msg(plan != NULL, "%s: %s", err.place, err.text);
	plan_print(&out, plan);
	ck_assert_int_eq(plan->step.n, 2);
	ck_assert_int_eq(plan->state_bytes, 192);
	for (size_t i = 0; i < plan->step.n; i++)
		for (int k = 0; k < plan->step.at[i].n; k++) {
			const Place *at = &plan->step.at[i].place[k];
			bool state = strcmp(at->name, "n") == 0 || strcmp(at->name, "m") == 0;
			ck_assert_msg((at->kind == PLACE_STATE) == state, "%s", text_str(&out));
			ck_assert(!state || at->offset == (strcmp(at->name, "m") == 0 ? 128 : 0));
		}
	ck_assert_msg(strstr(text_str(&out), "m:state+128[4]") != NULL, "%s", text_str(&out));
	arena_free(a);
}
END_TEST

/* ---- whole files ---- */

static Compiled *compile_text(Arena *a, const char *text, int threads, bool unscheduled)
{
	Err err = { 0 };
	Target t;
	target_host(&t, threads);
	CompileOptions o = { .target = &t, .unscheduled = unscheduled };
	Dag *d = dag_parse(a, "n", text, strlen(text), &err);
	Compiled *c = d != NULL ? compile_model(a, d, &o, &err) : NULL;
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	return c;
}

static const char *const networks[] = {
	layer,
	/* outputs that are an input, a constant, one value twice, and a view of another output */
	"dag n\nin x: f32[2,6]\nconst w: f32[2,6] = {1,2,3,4,5,6,7,8,9,10,11,12}\ny: f32[2,6] = relu(x)\n"
	"z: f32[12] = reshape(y) shape=[12]\nout y, x, w, y, z\n",
	"dag n\nin x: f32[3,7]\ny: f32[3,7] = softmax(x)\nout y\n",
	"dag n\nin x: f32[0,7]\ny: f32[0,7] = relu(x)\nout y\n", /* an empty tensor */
};

START_TEST(two_builds_are_one_file)
{
	for (int unscheduled = 0; unscheduled < 2; unscheduled++) {
		Arena *a = arena_new(), *b = arena_new();
		Compiled *x = compile_text(a, networks[_i], 1 + _i % 2, unscheduled != 0);
		arena_alloc(b, 12345); /* other addresses */
		Compiled *y = compile_text(b, networks[_i], 1 + _i % 2, unscheduled != 0);
		ck_assert_uint_eq(x->bundle_bytes, y->bundle_bytes);
		ck_assert(memcmp(x->bundle, y->bundle, x->bundle_bytes) == 0);
		ck_assert(
			x->live_bytes <= x->workspace_bytes && (double)x->workspace_bytes <= 1.1 * (double)x->live_bytes + 64);
		arena_free(a);
		arena_free(b);
	}
}
END_TEST

/* dlc tune compiles one Dag with the best schedules and with the default ones. */
START_TEST(a_dag_is_compiled_again)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	target_host(&t, 1);
	CompileOptions o = { .target = &t };
	Dag *d = dag_parse(a, "n", networks[_i], strlen(networks[_i]), &err);
	Compiled *x = compile_model(a, d, &o, &err), *y = x != NULL ? compile_model(a, d, &o, &err) : NULL;
	ck_assert_msg(y != NULL, "%s: %s", err.place, err.text);
	ck_assert_uint_eq(x->bundle_bytes, y->bundle_bytes);
	ck_assert(memcmp(x->bundle, y->bundle, x->bundle_bytes) == 0);
	arena_free(a);
}
END_TEST

START_TEST(files_load_and_run)
{
	Arena *a = arena_new();
	Compiled *c = compile_text(a, networks[_i], 1, false);
	DlcModel *m;
	DlcInstance *i;
	DlcError err = { 0 };
	ck_assert_msg(dlc_model_open_memory(c->bundle, c->bundle_bytes, &m, &err) == DLC_OK, "%s", err.text);
	ck_assert_msg(dlc_model_verify(m, &err) == DLC_OK, "%s", err.text);
	ck_assert_msg(dlc_instance_open(m, 1, &i, &err) == DLC_OK, "%s", err.text);
	for (int k = 0; k < dlc_model_count(m, DLC_INPUT); k++) {
		DlcTensor t;
		ck_assert(dlc_instance_tensor(i, DLC_INPUT, k, &t, &err) == DLC_OK);
		int64_t n = 1;
		for (int d = 0; d < t.ndim; d++)
			n *= t.shape[d];
		for (int64_t j = 0; j < n; j++)
			((float *)t.data)[j] = (float)j - 5;
	}
	ck_assert_msg(dlc_instance_run(i, &err) == DLC_OK, "%s", err.text);
	if (_i == 1) { /* y = relu(x), x, w, y, z = y flat */
		DlcTensor t[5];
		for (int k = 0; k < 5; k++)
			ck_assert(dlc_instance_tensor(i, DLC_OUTPUT, k, &t[k], &err) == DLC_OK);
		for (int j = 0; j < 12; j++) {
			float x = (float)j - 5, y = x > 0 ? x : 0;
			ck_assert(((float *)t[0].data)[j] == y && ((float *)t[1].data)[j] == x);
			ck_assert(((float *)t[2].data)[j] == (float)(j + 1));
			ck_assert(((float *)t[3].data)[j] == y && ((float *)t[4].data)[j] == y);
		}
	}
	dlc_instance_close(i);
	dlc_model_close(m);
	arena_free(a);
}
END_TEST

START_TEST(rows_are_shared_however_many)
{
	enum { N = 20000 };
	Arena *a = arena_new();
	BundleOut *b = bundle_out_new(a);
	uint32_t text[N], slot[N];
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N; i++) {
			char name[32];
			snprintf(name, sizeof name, "kernel.%d", i);
			uint32_t at = bundle_text(b, name), s = bundle_slot(b, BUNDLE_WORK, 0, (uint64_t)i * 64, 64);
			ck_assert_str_eq(b->text.at + at, name);
			if (round == 1)
				ck_assert(at == text[i] && s == slot[i]);
			text[i] = at;
			slot[i] = s;
		}
	ck_assert_uint_eq(b->slot.n, N);
	ck_assert_uint_eq(b->dim.n, N);
	ck_assert_uint_eq(bundle_text(b, ""), 0);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("plan");
	tcase_add_test(tc, plans_are_the_golden_text);
	tcase_add_test(tc, prepared_constants_are_made_once_and_stored);
	tcase_add_test(tc, equal_steps_share_what_is_prepared);
	tcase_add_test(tc, counters_are_state);
	tcase_add_loop_test(tc, two_builds_are_one_file, 0, LEN(networks));
	tcase_add_loop_test(tc, a_dag_is_compiled_again, 0, LEN(networks));
	tcase_add_loop_test(tc, files_load_and_run, 0, LEN(networks));
	tcase_add_test(tc, rows_are_shared_however_many);
	return run_suite("plan", tc);
}
