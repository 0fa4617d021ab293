/*
 * Schedules with prepare Fns, from the record to the answer: a model whose Tasks have a trace that packs
 * weights computes what the model computes unscheduled, each of the layers that are one Task with its
 * own weights. Prepare Fns that crash, hang or want too much end their own process only; a record with
 * such gives way to the default.
 */
#include "suite.h"

#include "compile/compile.h"
#include "compile/prepare.h"
#include "dlc/dlc_runtime.h"
#include "ir/text.h"
#include "ir/verify.h"

#include <string.h>
#include <unistd.h>

static const struct {
	const char *dag, *trace;
} cases[] = {
	{ "dag convs\nin x: f32[1,20,7,5]\nconst w: f32[20,20,3,3]\nconst u: f32[20,20,3,3]\n"
	  "const v: f32[20,20,3,3]\ny: f32[1,20,7,5] = conv(x, w) pads=[1,1,1,1]\n"
	  "z: f32[1,20,7,5] = conv(y, u) pads=[1,1,1,1]\nr: f32[1,20,7,5] = conv(z, v) pads=[1,1,1,1]\nout r\n",
		"skip conv\npack c0 OIHW8i16o\n" },
	{ "dag dense\nin x: f32[1,24]\nconst w: f32[13,24]\nconst b: f32[13]\n"
	  "y: f32[1,13] = dense(x, w, b)\nout y\n",
		"pack c0 IO4o\npack c1 O8o\nsplit n 4\nreorder m n.o k n.i\nvectorize n.i\n" },
};

typedef struct Lab {
	char folder[64];
	Arena *arena;
	Target target;
	Db *db;
	const char *dag;
} Lab;

static Lab *open_lab(const char *dag)
{
	Err err = { 0 };
	Arena *a = arena_new();
	Lab *lab = arena_new_of(a, Lab);
	lab->arena = a;
	lab->dag = dag;
	strcpy(lab->folder, "/tmp/dlc-test-prepare.XXXXXX");
	ck_assert(mkdtemp(lab->folder) != NULL);
	target_host(&lab->target, 1);
	lab->target.vector_bits = 128;
	lab->db = db_open(arena_printf(a, "%s/t.sqlite", lab->folder), DB_WRITE, &err);
	ck_assert_msg(lab->db != NULL, "%s", err.text);
	return lab;
}

static void close_lab(Lab *lab)
{
	db_close(lab->db);
	ck_assert_int_eq(system(arena_printf(lab->arena, "rm -rf %s", lab->folder)), 0);
	arena_free(lab->arena);
}

static void give_weights(Arena *a, Dag *d)
{
	Rng rng = rng_seed(5);
	for (size_t v = 0; v < d->value.n; v++) {
		Value *w = &d->value.at[v];
		if (w->kind != VALUE_CONST)
			continue;
		int64_t n = value_bytes(w) / (int64_t)sizeof(float);
		float *data = arena_alloc_aligned(a, (size_t)n * sizeof(float), 64);
		for (int64_t k = 0; k < n; k++)
			data[k] = (float)rng_real(&rng) - 0.5f;
		w->data = data;
	}
}

static Compiled *compile(Lab *lab, bool unscheduled)
{
	Err err = { 0 };
	CompileOptions o = { .target = &lab->target, .db = &lab->db, .ndb = 1, .unscheduled = unscheduled };
	Dag *d = dag_parse(lab->arena, "model", lab->dag, strlen(lab->dag), &err);
	if (d != NULL)
		give_weights(lab->arena, d);
	Compiled *c = d != NULL ? compile_model(lab->arena, d, &o, &err) : NULL;
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	return c;
}

static void put(Lab *lab, const Task *task, const char *trace)
{
	Err err = { 0 };
	RunRecord r = { .workload = task->id, .trace = trace, .status = RUN_OK, .median_ns = 1000000, .samples = 5, .detail = "" };
	SessionInfo s = { "test", "none", "t", 1, 1700000000, NULL, 0, 0 };
	ck_assert(db_put_task(lab->db, task, &err) && db_put_target(lab->db, &lab->target, &r.target, &err) &&
		db_put_env(lab->db, CODEGEN_EPOCH, "test", &r.env, &err) && db_put_session(lab->db, &s, &r.session, &err));
	ck_assert_msg(db_put_run(lab->db, &r, &err), "%s", err.text);
}

static int64_t elements(const DlcTensor *t)
{
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= t->shape[d];
	return n;
}

/* The first output. */
static float *run(Lab *lab, const Compiled *c, int64_t *n)
{
	DlcModel *m;
	DlcInstance *i;
	DlcTensor x, y;
	DlcError err = { 0 };
	ck_assert_msg(dlc_model_open_memory(c->bundle, c->bundle_bytes, &m, &err) == DLC_OK, "%s", err.text);
	ck_assert_msg(dlc_instance_open(m, 1, &i, &err) == DLC_OK, "%s", err.text);
	ck_assert(dlc_instance_tensor(i, DLC_INPUT, 0, &x, &err) == DLC_OK);
	for (int64_t j = 0; j < elements(&x); j++)
		((float *)x.data)[j] = (float)(j * 37 % 101) / 50 - 1;
	ck_assert_msg(dlc_instance_run(i, &err) == DLC_OK, "%s", err.text);
	ck_assert(dlc_instance_tensor(i, DLC_OUTPUT, 0, &y, &err) == DLC_OK);
	*n = elements(&y);
	float *copy = arena_copy(lab->arena, y.data, (size_t)*n * sizeof(float));
	dlc_instance_close(i);
	dlc_model_close(m);
	return copy;
}

START_TEST(packed_weights_give_the_same_answers)
{
	Lab *lab = open_lab(cases[_i].dag);
	int64_t n, same;
	Compiled *naive = compile(lab, true);
	for (int k = 0; k < naive->partition->ntask; k++)
		put(lab, naive->task[k].task, cases[_i].trace);
	Compiled *packed = compile(lab, false);
	for (int k = 0; k < naive->partition->ntask; k++)
		ck_assert_str_eq(packed->task[k].trace, cases[_i].trace);
	float *want = run(lab, naive, &n), *got = run(lab, packed, &same), largest = 0;
	ck_assert_int_eq(n, same);
	for (int64_t j = 0; j < n; j++)
		largest = want[j] > largest ? want[j] : -want[j] > largest ? -want[j] : largest;
	ck_assert(largest > 0);
	for (int64_t j = 0; j < n; j++) /* sums are taken in one order in both */
		ck_assert_msg(want[j] - got[j] <= 1e-6f * largest && got[j] - want[j] <= 1e-6f * largest, "%lld: %g and %g",
			(long long)j, (double)want[j], (double)got[j]);
	close_lab(lab);
}
END_TEST

/* ---- prepare Fns that nobody should run: none of these is a schedule's, whose accesses are proved ---- */

#define SIGNATURE "prepare fn p(c: const i64[4], u: out i64[4]) "
#define FOREVER "for i in 0..4611686018427387904 { for j in 0..4611686018427387904 { u[0] = c[0] + i } }"

static const struct {
	const char *text, *said; /* a part of it; "": they run */
} hostile[] = {
	{ SIGNATURE "{ for i in 0..4 { u[i] = c[i] * 2 } }", "" },
	{ SIGNATURE "{ for i in 0..4 { u[c[i] * 1099511627776] = 1 } }", "they ended with signal 11" },
	{ SIGNATURE "{ " FOREVER " }", "they did not end within 1 s" },
	{ SIGNATURE "{ alloc t: i64[1073741824] t[c[0]] = 1 u[0] = t[c[0]] }", "they want 8192 MiB beside their constants" },
};

START_TEST(prepare_fns_end_their_own_process_only)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target host;
	Module m;
	int64_t c[4] = { 1, 2, 3, 4 }, u[4] = { 0 };
	const char *text = hostile[_i].text;
	const Prepared given = { "c", c, sizeof c }, out = { "u", u, sizeof u };
	target_host(&host, 1);
	KernelSet *ks = ir_parse_set(ir_new(a), "t", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err) && codegen_compile(a, ks, &host, NULL, &m, &err), "%s: %s", err.place,
		err.text);
	bool ok = prepare_run(ks, &m, &given, 1, &out, 1, 500, &err);
	if (hostile[_i].said[0] == 0)
		for (int k = 0; k < 4; k++)
			ck_assert_int_eq(u[k], c[k] * 2);
	else
		ck_assert_int_eq(u[0], 0);
	ck_assert(ok == (hostile[_i].said[0] == 0));
	ck_assert_msg(strstr(err.text, hostile[_i].said) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* With a record that packs a constant, and no time to do so, the default is taken, which packs none. */
START_TEST(a_record_whose_prepare_fns_fail_gives_way)
{
	Lab *lab = open_lab("dag add\nin x: f32[24,262144]\nconst c: f32[24,262144]\ny: f32[24,262144] = add(x, c)\nout y\n");
	Err err = { 0 };
	CompileOptions o = { .target = &lab->target, .db = &lab->db, .ndb = 1, .prepare_ms = 1 };
	Dag *d = dag_parse(lab->arena, "model", lab->dag, strlen(lab->dag), &err);
	ck_assert(d != NULL);
	give_weights(lab->arena, d);
	Compiled *c = compile_model(lab->arena, d, &o, &err);
	ck_assert_msg(c != NULL && c->hits[HIT_DEFAULT] == 1, "%s", err.text);
	put(lab, c->task[0].task, "pack c0 NC4n\n");
	d = dag_parse(lab->arena, "model", lab->dag, strlen(lab->dag), &err);
	give_weights(lab->arena, d);
	c = compile_model(lab->arena, d, &o, &err);
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	ck_assert_int_eq(c->hits[HIT_DEFAULT], 1);
	ck_assert_msg(strstr(c->task[0].why, "its prepare Fns fail: they did not end within") != NULL, "%s", c->task[0].why);
	ck_assert(strstr(c->lock_text, "exact") == NULL);
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("prepare");
	tcase_add_loop_test(tc, prepare_fns_end_their_own_process_only, 0, LEN(hostile));
	tcase_add_test(tc, a_record_whose_prepare_fns_fail_gives_way);
	tcase_add_loop_test(tc, packed_weights_give_the_same_answers, 0, LEN(cases));
	return run_suite("prepare", tc);
}
