/*
 * Which alternative of a region is compiled: the fastest by what the databases have of its Tasks, the first
 * one without that, what a lock says whatever they have learnt since. The network computes the same with any.
 */
#include "compile/recorded.h"
#include "code_suite.h"

#include "compile/compile.h"
#include "compile/lock_file.h"
#include "db/rank.h"
#include "dlc/dlc_runtime.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Two equal residual blocks with projections, between calls that leave them in one layout. */
static const char network[] =
	"dag m\nin r: f32[1,8,6,6]\nconst w1: f32[8,8,3,3]\nconst wp: f32[8,8,1,1]\nx = relu(r)\n"
	"a = conv(x, w1) pads=[1,1,1,1]\nb = relu(a)\nc = conv(b, w1) pads=[1,1,1,1]\np = conv(x, wp)\nd = add(c, p)\n"
	"e = relu(d)\nf = conv(e, w1) pads=[1,1,1,1]\ng = relu(f)\nh = conv(g, w1) pads=[1,1,1,1]\nq = conv(e, wp)\n"
	"i = add(h, q)\ny = relu(i)\nm = reduce_mean(y) axes=[2,3] keep=0\nout m\n";

static const char *const label[] = { "conv3x3 8>8 6 +add+relu", "conv1x1 8>8 6", "conv3x3 8>8 6",
	"conv1x1 8>8 6 +add+relu", "add 1x8x6x6 +relu" };
enum { IN = 8 * 6 * 6, OUT = 8, MS = 1000000 };

typedef struct Lab {
	char folder[SUITE_FOLDER];
	Arena *arena;
	Target target;
	Db *db;
	CompileOptions o;
	Interner *used; /* schedules that have a record */
} Lab;

static Lab *open_lab(void)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	lab->used = interner_new(a);
	ck_assert(suite_folder(lab->folder, "regions"));
	target_host(&lab->target, 1);
	lab->db = db_open(arena_printf(a, "%s/db.sqlite", lab->folder), DB_WRITE, &err);
	ck_assert_msg(lab->db != NULL, "%s", err.text);
	lab->o = (CompileOptions){ .target = &lab->target, .db = &lab->db, .ndb = 1 };
	return lab;
}

static void close_lab(Lab *lab)
{
	db_close(lab->db);
	ck_assert_int_eq(system(arena_printf(lab->arena, "rm -rf %s", lab->folder)), 0);
	arena_free(lab->arena);
}

static Dag *model(Lab *lab)
{
	Err err = { 0 };
	Rng r = rng_seed(5);
	Dag *d = dag_parse(lab->arena, "m", network, sizeof network - 1, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	for (size_t v = 0; v < d->value.n; v++) {
		Value *x = &d->value.at[v];
		int64_t n = shape_elements(x->shape);
		float *data = x->kind == VALUE_CONST ? arena_array(lab->arena, float, n) : NULL;
		for (int64_t i = 0; data != NULL && i < n; i++)
			data[i] = (float)rng_below(&r, 100) / 400 - 0.1f;
		x->data = data;
	}
	return d;
}

static Compiled *compile(Lab *lab)
{
	Err err = { 0 };
	Compiled *c = compile_model(lab->arena, model(lab), &lab->o, &err);
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	ck_assert_int_eq(c->partition->nregion, 2);
	ck_assert_int_eq(c->partition->region[0].taken, c->partition->region[1].taken);
	return c;
}

/* A run of the task's default schedule that took so long. */
static void put(Lab *lab, const Task *task, const char *trace, int64_t ns)
{
	put_recorded(lab->db, &lab->target, task, trace, ns, CODEGEN_EPOCH);
}

/* A schedule of the Task that replays and had no record yet. */
static const char *new_schedule(Lab *lab, const Task *task)
{
	Err err = { 0 };
	Space *space = space_new(lab->arena, task, &lab->target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	Config c = space->first;
	for (Rng rng = rng_seed(1);; c = space_sample(space, &rng)) {
		Text steps = { .arena = lab->arena };
		Trace *t = space_trace(space, &c, lab->arena, &err);
		ck_assert_msg(t != NULL, "%s", err.text);
		text_add(&steps, "# %s\n", task->label);
		trace_print(&steps, t);
		if (schedule_replay(ir_new(lab->arena), task, &lab->target, t, NULL) != NULL &&
			intern_find(lab->used, text_str(&steps)) == NULL)
			return intern(lab->used, text_str(&steps));
	}
}

/*
 * Records of the five Tasks of a region, each with a schedule that had no record, milliseconds in order of `label`;
 * 0: none; < 0: of a trace that is refused.
 */
static void know(Lab *lab, const double *ms)
{
	Err err = { 0 };
	Partition *p = compile_tasks(lab->arena, model(lab), &lab->target, &err);
	ck_assert_msg(p != NULL, "%s", err.text);
	int found = 0;
	for (int k = 0; k < p->ntask + p->nmore; k++)
		for (int i = 0; i < LEN(label); i++)
			if (strcmp(p->task[k]->label, label[i]) == 0) {
				found++;
				if (ms[i] != 0)
					put(lab, p->task[k], ms[i] > 0 ? new_schedule(lab, p->task[k]) : "unroll v9.9\n",
						(int64_t)(fabs(ms[i]) * MS));
			}
	ck_assert_int_eq(found, LEN(label));
}

static void run(const Compiled *c, float *out)
{
	DlcError why = { 0 };
	DlcModel *m;
	DlcInstance *i;
	DlcTensor in, y;
	ck_assert_msg(dlc_model_open_memory(c->bundle, c->bundle_bytes, &m, &why) == DLC_OK, "%s", why.text);
	ck_assert_msg(dlc_instance_open(m, 0, &i, &why) == DLC_OK, "%s", why.text);
	ck_assert(dlc_instance_tensor(i, DLC_INPUT, 0, &in, &why) == DLC_OK);
	ck_assert(dlc_instance_tensor(i, DLC_OUTPUT, 0, &y, &why) == DLC_OK);
	Rng r = rng_seed(9);
	for (int k = 0; k < IN; k++)
		((float *)in.data)[k] = (float)rng_below(&r, 1000) / 500 - 1;
	ck_assert_msg(dlc_instance_run(i, &why) == DLC_OK, "%s", why.text);
	memcpy(out, y.data, sizeof(float) * OUT);
	dlc_instance_close(i);
	dlc_model_close(m);
}

static const struct {
	double ms[5]; /* as know() takes them */
	int taken;
	double region_ms;
} cases[] = {
	{ { 9, 2, 8, 4, 5 }, 0, 11 },
	{ { 9, 2, 8, 1, 5 }, 1, 9 },
	{ { 9, 2, 6, 4, 0.5 }, 2, 8.5 },
	{ { 0, 2, 8, 1, 5 }, 0, 0 },   /* nothing to compare with */
	{ { 9, 2, 8, 0, 5 }, 0, 11 },  /* one is not known, one slower */
	{ { 9, 2, 8, -1, 5 }, 0, 11 }, /* known is what replays */
	{ { 0, 0, 0, 0, 0 }, 0, 0 },
};

static const char *const taken[] = { "+add+relu, conv1x1 8>8 6 (taken) | ", "conv1x1 8>8 6 +add+relu (taken) | ",
	"add 1x8x6x6 +relu, conv1x1 8>8 6 (taken)\n" };

START_TEST(the_fastest_alternative_is_compiled)
{
	float first[OUT], now[OUT], most = 0;
	Lab *lab = open_lab();
	Compiled *none = compile(lab);
	ck_assert_int_eq(none->partition->region[0].taken, 0);
	run(none, first);
	know(lab, cases[_i].ms);
	Compiled *c = compile(lab), *again = compile(lab);
	ck_assert_int_eq(c->partition->region[0].taken, cases[_i].taken);
	ck_assert(c->bundle_bytes == again->bundle_bytes && memcmp(c->bundle, again->bundle, c->bundle_bytes) == 0);
	ck_assert_msg(strstr(c->plan_text, taken[cases[_i].taken]) != NULL, "%s", c->plan_text);
	double sum = 0;
	for (int k = 0; k < c->partition->ntask; k++)
		sum += c->task[k].hit == HIT_EXACT ? c->task[k].estimated_ms * c->task[k].task->weight : 0;
	if (cases[_i].region_ms > 0)
		ck_assert_msg(fabs(sum - 2 * cases[_i].region_ms) < 1e-9, "%g", sum);
	run(c, now);
	for (int k = 0; k < OUT; k++)
		most = fmaxf(most, fabsf(first[k]));
	for (int k = 0; k < OUT; k++) /* sums in another order */
		ck_assert_msg(fabsf(first[k] - now[k]) <= 1e-5f * most, "%d: %g, not %g", k, now[k], first[k]);
	close_lab(lab);
}
END_TEST

/* A lock takes the alternative it was made with, whichever is the fastest by now. */
START_TEST(a_lock_names_its_alternatives)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	know(lab, cases[_i].ms);
	Compiled *c = compile(lab);
	ck_assert_int_eq(strstr(c->lock_text, "\nregion ") != NULL, cases[_i].taken > 0);
	Lock *lock = lock_parse(lab->arena, "t.lock", c->lock_text, strlen(c->lock_text), &err);
	ck_assert_msg(lock != NULL, "%s: %s", err.place, err.text);
	for (int k = 0; k < 3; k++) {
		static const double later[3][5] = { { .9, .2, .8, .4, .5 }, { .9, .2, .8, .1, .5 },
			{ .09, .02, .06, .04, .005 } };
		lab->o.lock = NULL;
		know(lab, later[k]);
		ck_assert_int_eq(compile(lab)->partition->region[0].taken, k);
		lab->o.lock = lock;
		Compiled *again = compile(lab);
		ck_assert(c->bundle_bytes == again->bundle_bytes && memcmp(c->bundle, again->bundle, c->bundle_bytes) == 0);
	}
	close_lab(lab);
}
END_TEST

#define ID "00112233445566778899aabbccddeeff"
static const char *const bad_locks[] = { "region " ID "\n", "region " ID " 0\n", "region " ID " 10\n",
	"region " ID " x\n", "region " ID " 1 2\n", "region zz 1\n", "region " ID " 1\nregion " ID " 2\n" };

START_TEST(bad_regions_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *text = arena_printf(a, "dlc lock 1\ntarget " ID "\n%s", bad_locks[_i]);
	ck_assert(lock_parse(a, "t.lock", text, strlen(text), &err) == NULL);
	ck_assert_int_eq(err.code, ERR_SYNTAX);
	ck_assert_msg(
		strstr(err.text, "lock") != NULL && strstr(err.place, "t.lock:") != NULL, "%s: %s", err.place, err.text);
	arena_free(a);
}
END_TEST

START_TEST(an_alternative_that_is_not_there_is_refused)
{
	Lab *lab = open_lab();
	Err err = { 0 };
	know(lab, cases[1].ms);
	char *text = arena_printf(lab->arena, "%s", compile(lab)->lock_text);
	text[strlen(text) - 2] = '3';
	lab->o.lock = lock_parse(lab->arena, "t.lock", text, strlen(text), &err);
	lab->o.lock_name = "t.lock";
	ck_assert(lab->o.lock != NULL && compile_model(lab->arena, model(lab), &lab->o, &err) == NULL);
	ck_assert_str_eq(err.place, "t.lock");
	ck_assert_msg(strstr(err.text, "alternative 3 of conv3x3 8>8 6 +add+relu") != NULL, "%s", err.text);
	close_lab(lab);
}
END_TEST

/* What others say of the Tasks of another alternative is not compared with what was measured here of the first. */
START_TEST(a_hint_chooses_no_alternative)
{
	static const DbOwner me = { { 1 } }, other = { { 2 } };
	static const double mine[] = { 9, 2, 0, 0, 0 }, theirs[] = { 0, 0, .1, .1, .1 }, measured[] = { 0, 0, 8, 1, 5 };
	Lab *lab = open_lab();
	db_own(lab->db, &me);
	know(lab, mine);
	db_own(lab->db, &other);
	know(lab, theirs);
	db_own(lab->db, &me);
	ck_assert_int_eq(compile(lab)->partition->region[0].taken, 0);
	know(lab, measured);
	ck_assert_int_eq(compile(lab)->partition->region[0].taken, 1);
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("regions");
	tcase_add_test(tc, a_hint_chooses_no_alternative);
	tcase_add_loop_test(tc, the_fastest_alternative_is_compiled, 0, LEN(cases));
	tcase_add_loop_test(tc, a_lock_names_its_alternatives, 0, 3);
	tcase_add_loop_test(tc, bad_regions_are_refused, 0, LEN(bad_locks));
	tcase_add_test(tc, an_alternative_that_is_not_there_is_refused);
	return run_code_suite("regions", tc);
}
