/*
 * Schedules with prepare Fns, from the record to the answer: a model whose Tasks have a trace that packs
 * weights computes what the model computes unscheduled, each of the layers that are one Task with its
 * own weights. Prepare Fns that crash, hang or want too much end their own process only; a record with
 * such gives way to the default. Interrupts and a machine that lacks something end the compile instead.
 */
#include "compile/recorded.h"
#include "suite.h"

#include "compile/compile.h"
#include "compile/prepare.h"
#include "base/file.h"
#include "dlc/dlc_runtime.h"
#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"

#include <stdatomic.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
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
	char folder[SUITE_FOLDER];
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
	ck_assert(suite_folder(lab->folder, "prepare"));
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

static void put_time(Lab *lab, const Task *task, const char *trace, int64_t ns)
{
	put_recorded(lab->db, &lab->target, task, trace, ns, CODEGEN_EPOCH);
}

static void put(Lab *lab, const Task *task, const char *trace)
{
	put_time(lab, task, trace, 1000000);
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
	/* Behind the results: where the process says which call it is at. */
	{ SIGNATURE "{ for i in 0..4 { u[i] = c[i] * 2 } u[c[3] * 2] = 1000000000 }", "" },
	{ SIGNATURE "{ for i in 0..4 { u[c[i] * 1099511627776] = 1 } }", "they ended with signal 11" },
	{ SIGNATURE "{ " FOREVER " }", "they did not end within 1 s" },
	{ SIGNATURE "{ alloc t: i64[1073741824] t[c[0]] = 1 u[0] = t[c[0]] }",
		"they need 8192 MiB of work memory" },
};

/* The bundle with its constants behind it, as a runner maps them. */
static Compiled *joined(Lab *lab, const Compiled *c, const Constants *constants)
{
	Err err = { 0 };
	Bytes all;
	Compiled *whole = arena_copy(lab->arena, c, sizeof *c);
	ck_assert_msg(file_read(lab->arena, constants_path(constants), 1 << 30, &all, &err), "%s", err.text);
	ck_assert_uint_ge(all.n, c->shared_bytes);
	whole->bundle_bytes = c->bundle_bytes + c->shared_bytes;
	whole->bundle = arena_alloc_aligned(lab->arena, whole->bundle_bytes, 64);
	memcpy(whole->bundle, c->bundle, c->bundle_bytes);
	memcpy(whole->bundle + c->bundle_bytes, all.at, c->shared_bytes);
	return whole;
}

/*
 * Networks of one Dag that share their constants, compiled in turn: each computes what its whole bundle does, and of a
 * network that was compiled before nothing is made or stored again.
 */
START_TEST(networks_share_constants)
{
	Err err = { 0 };
	Lab *lab = open_lab(cases[_i].dag);
	Dag *d = dag_parse(lab->arena, "model", lab->dag, strlen(lab->dag), &err);
	ck_assert(d != NULL);
	give_weights(lab->arena, d);
	CompileOptions o = { .target = &lab->target, .constants = constants_new(lab->arena, true) };
	if (constants_path(o.constants) == NULL) { /* no such system */
		close_lab(lab);
		return;
	}
	for (int turn = 0; turn < 4; turn++) {
		o.ndb = turn % 2;
		o.db = &lab->db;
		uint64_t before = constants_bytes(o.constants);
		Compiled *c = compile_model(lab->arena, d, &o, &err);
		ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
		ck_assert_int_eq(constants_bytes(o.constants) == before, turn >= 2);
		for (int k = 0; turn == 0 && k < c->partition->ntask; k++)
			put(lab, c->task[k].task, cases[_i].trace);
		CompileOptions plain = o;
		plain.constants = NULL;
		Compiled *whole = compile_model(lab->arena, d, &plain, &err);
		ck_assert(whole != NULL && whole->shared_bytes == 0);
		ck_assert_int_eq(whole->whole_bytes, (int64_t)whole->bundle_bytes);
		ck_assert_int_gt(c->whole_bytes, (int64_t)c->bundle_bytes);
		int64_t n, same;
		float *want = run(lab, whole, &n), *got = run(lab, joined(lab, c, o.constants), &same);
		ck_assert_int_eq(n, same);
		ck_assert_mem_eq(want, got, (size_t)n * sizeof *want);
	}
	close_lab(lab);
}
END_TEST

/* A fork that is to write one room can read the others, and ends where it writes one. */
START_TEST(a_fork_writes_its_own_room)
{
	Arena *a = arena_new();
	Constants *c = constants_new(a, _i > 0);
	int *other = constants_room(c, sizeof *other), *own = constants_room(c, sizeof *own);
	int *const place[] = { own, other };
	uint64_t bytes = constants_bytes(c);
	*other = 7;
	for (int k = 0; k < 2; k++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
			signal(SIGSEGV, SIG_DFL);
			constants_guard(c, own);
			*place[k] = *other + 1;
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(WIFSIGNALED(status), k == 1);
	}
	ck_assert(*own == 8 && *other == 7);
	constants_give_back(c, own);
	ck_assert_uint_lt(constants_bytes(c), bytes);
	ck_assert_int_eq(*(int *)constants_room(c, sizeof *own), 0);
	arena_free(a);
}
END_TEST

enum { CALLS = 4 };

/* Calls the Fns of each text, with {1, 2, 3, 4}; *failed is the number of the text whose Fns failed. */
static bool call_all(const char *const *text, int n, PrepareWait wait, int64_t u[][4], int *failed, Err *err)
{
	Arena *a = arena_new();
	Target host;
	Module m[CALLS];
	PrepareCall call[CALLS];
	Prepared out[CALLS];
	int64_t c[4] = { 1, 2, 3, 4 };
	Constants *to = constants_new(a, true);
	int *known = constants_room(to, sizeof *known);
	*known = 7;
	const Prepared given = { "c", c, sizeof c };
	target_host(&host, 1);
	for (int k = 0; k < n; k++) {
		KernelSet *ks = ir_parse_set(ir_new(a), "t", text[k], strlen(text[k]), err);
		ck_assert_msg(ks != NULL && ir_verify_set(ks, err) && codegen_compile(a, ks, &host, NULL, &m[k], err),
			"%s: %s", err->place, err->text);
		out[k] = (Prepared){ "u", NULL, sizeof u[k] };
		call[k] = (PrepareCall){ ks, &m[k], &given, 1, &out[k], 1 };
	}
	bool ok = prepare_run(call, n, wait, to, failed, err);
	ck_assert_int_eq(*known, 7);
	for (int k = 0; ok && k < n; k++)
		memcpy(u[k], out[k].data, sizeof u[k]);
	arena_free(a);
	return ok;
}

static bool call(const char *text, PrepareWait wait, int64_t u[4], Err *err)
{
	int failed;
	int64_t all[1][4] = { 0 };
	bool ok = call_all(&text, 1, wait, all, &failed, err);
	ck_assert_int_eq(failed, 0);
	memcpy(u, all[0], sizeof all[0]);
	return ok;
}

START_TEST(prepare_fns_end_their_own_process_only)
{
	Err err = { 0 };
	int64_t u[4] = { 0 };
	bool good = hostile[_i].said[0] == 0;
	ck_assert(call(hostile[_i].text, (PrepareWait){ .deadline_ms = 500 }, u, &err) == good);
	for (int k = 0; k < 4; k++)
		ck_assert_int_eq(u[k], good ? 2 * (k + 1) : 0);
	ck_assert_msg(strstr(err.text, hostile[_i].said) != NULL, "%s", err.text);
	ck_assert_int_eq(err.code, good ? ERR_NONE : ERR_INPUT);
}
END_TEST

/* A process that ignores SIGCHLD, or whose parent does, gets no exit status of its children. */
START_TEST(a_crash_is_seen_without_an_exit_status)
{
	Err err = { 0 };
	int64_t u[4] = { 0 };
	bool good = hostile[_i].said[0] == 0;
	signal(SIGCHLD, SIG_IGN);
	bool ok = call(hostile[_i].text, (PrepareWait){ .deadline_ms = 500 }, u, &err);
	signal(SIGCHLD, SIG_DFL);
	ck_assert(ok == good);
	for (int k = 0; k < 4; k++)
		ck_assert_int_eq(u[k], good ? 2 * (k + 1) : 0);
	ck_assert_int_eq(err.code, good ? ERR_NONE : ERR_INPUT);
}
END_TEST

/* One process does all calls, and says which of them failed. */
START_TEST(calls_are_done_in_turn)
{
	static const char thrice[] = SIGNATURE "{ for i in 0..4 { u[i] = c[i] * 3 } }";
	const char *text[CALLS] = { thrice, hostile[0].text, hostile[_i].text, thrice };
	Err err = { 0 };
	int64_t u[CALLS][4];
	int failed = -1;
	bool good = hostile[_i].said[0] == 0;
	bool ok = call_all(text, CALLS, (PrepareWait){ .deadline_ms = 500 }, u, &failed, &err);
	ck_assert_msg(ok == good, "%d: %s", failed, err.text);
	ck_assert_int_eq(failed, good ? CALLS - 1 : 2);
	ck_assert_msg(strstr(err.text, hostile[_i].said) != NULL, "%s", err.text);
	for (int k = 0; ok && k < CALLS; k++)
		for (int i = 0; i < 4; i++)
			ck_assert_int_eq(u[k][i], (k % 3 == 0 ? 3 : 2) * (i + 1));
}
END_TEST

/* ---- a machine without what is needed, and interrupts ---- */

static atomic_int stop;
static int sent; /* to all of the group, or 0: `stop` alone is set */

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void on_alarm(int sig)
{
	(void)sig;
	if (sent != 0)
		kill(0, sent);
	else
		stop = 1;
}

static void after_ms(int ms, int signal_sent)
{
	sent = signal_sent;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, ms * 1000 } }, NULL);
}

/* From now on no file, so no pipe either. */
static void use_up_files(void)
{
	struct rlimit most;
	int next = dup(STDERR_FILENO);
	close(next);
	ck_assert(next >= 0 && getrlimit(RLIMIT_NOFILE, &most) == 0);
	most.rlim_cur = (rlim_t)next;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &most), 0);
}

START_TEST(an_interrupt_ends_the_wait)
{
	static const int signals[] = { 0, SIGINT, SIGHUP };
	Err err = { 0 };
	int64_t u[4];
	PrepareWait wait = { .deadline_ms = 5000, .stop = signals[_i] == 0 ? &stop : NULL };
	setpgid(0, 0);
	stop = 0;
	signal(SIGINT, on_signal);
	signal(SIGHUP, on_signal);
	after_ms(200, signals[_i]);
	ck_assert(!call(SIGNATURE "{ " FOREVER " }", wait, u, &err));
	ck_assert_msg(err.code == ERR_INTERRUPTED, "%s", err.text);
}
END_TEST

/* One that is killed takes its child along: the pipe that both hold is closed. */
START_TEST(a_child_does_not_outlive_its_parent)
{
	int end[2];
	ck_assert_int_eq(pipe(end), 0);
	pid_t parent = fork();
	if (parent == 0) {
		Err err = { 0 };
		int64_t u[4];
		call(SIGNATURE "{ " FOREVER " }", (PrepareWait){ .deadline_ms = 20000 }, u, &err);
		_exit(0);
	}
	close(end[1]);
	usleep(500000);
	ck_assert(kill(parent, SIGKILL) == 0 && waitpid(parent, NULL, 0) == parent);
	struct pollfd p = { .fd = end[0], .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	close(end[0]);
}
END_TEST

static void without_files(int done, int all, const char *label, void *arg)
{
	(void)done;
	(void)all;
	(void)label;
	(void)arg;
	use_up_files();
}

static void at_once(int done, int all, const char *label, void *arg)
{
	(void)done;
	(void)all;
	(void)label;
	(void)arg;
	stop = 1;
}

/* Neither is the record's fault, which stays taken: the compile ends. */
START_TEST(what_the_machine_lacks_is_no_fault_of_a_record)
{
	Lab *lab = open_lab(cases[1].dag);
	Err err = { 0 };
	struct rlimit before;
	put(lab, compile(lab, true)->task[0].task, cases[1].trace);
	CompileOptions o = {
		.target = &lab->target, .db = &lab->db, .ndb = 1, .stop = &stop, .progress = _i == 0 ? without_files : at_once
	};
	Dag *d = dag_parse(lab->arena, "model", lab->dag, strlen(lab->dag), &err);
	give_weights(lab->arena, d);
	stop = 0;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	Compiled *c = compile_model(lab->arena, d, &o, &err);
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert(c == NULL);
	ck_assert_msg(err.code == (_i == 0 ? ERR_DEVICE : ERR_INTERRUPTED), "%s: %s", err.place, err.text);
	ck_assert_msg(strstr(err.text, "schedule") == NULL, "%s", err.text);
	close_lab(lab);
}
END_TEST

/* ---- records whose prepare Fns fail ---- */

/* With prepare Fns that pack constants, and no time to do so. */
static Compiled *compile_late(Lab *lab)
{
	Err err = { 0 };
	CompileOptions o = { .target = &lab->target, .db = &lab->db, .ndb = 1, .prepare_ms = 1 };
	Dag *d = dag_parse(lab->arena, "model", lab->dag, strlen(lab->dag), &err);
	ck_assert(d != NULL);
	give_weights(lab->arena, d);
	Compiled *c = compile_model(lab->arena, d, &o, &err);
	ck_assert_msg(c != NULL, "%s: %s", err.place, err.text);
	return c;
}

/* The default packs none. What is known of the task's other records stays known. */
START_TEST(a_record_whose_prepare_fns_fail_gives_way)
{
	Lab *lab =
		open_lab("dag add\nin x: f32[24,262144]\nconst c: f32[24,262144]\ny: f32[24,262144] = add(x, c)\nout y\n");
	Compiled *c = compile_late(lab);
	ck_assert_int_eq(c->hits[HIT_DEFAULT], 1);
	put(lab, c->task[0].task, "pack c0 NC4n\n");
	put_time(lab, c->task[0].task, "", 1);
	c = compile_late(lab);
	ck_assert_int_eq(c->hits[HIT_DEFAULT], 1);
	ck_assert_msg(
		strstr(c->task[0].why, "its prepare Fns fail: they did not end within") != NULL, "%s", c->task[0].why);
	ck_assert_int_eq(c->task[0].implausible, 1);
	ck_assert(strstr(c->lock_text, "exact") == NULL);
	close_lab(lab);
}
END_TEST

/* Each failure costs a deadline and all other prepared constants: two of them are enough. */
START_TEST(two_failures_end_all_prepare_fns_of_records)
{
	enum { TASKS = 4 };
	Lab *lab =
		open_lab("dag adds\nin x: f32[24,65536]\nin p: f32[24,65540]\nin q: f32[24,65544]\nin r: f32[24,65548]\n"
				 "const c: f32[24,65536]\nconst d: f32[24,65540]\nconst e: f32[24,65544]\nconst f: f32[24,65548]\n"
				 "y: f32[24,65536] = add(x, c)\nz: f32[24,65540] = add(p, d)\nv: f32[24,65544] = add(q, e)\n"
				 "w: f32[24,65548] = add(r, f)\nout y, z, v, w\n");
	Compiled *c = compile_late(lab);
	int own = 0, others = 0;
	ck_assert_int_eq(c->partition->ntask, TASKS);
	for (int k = 0; k < TASKS; k++)
		put(lab, c->task[k].task, "pack c0 NC4n\n");
	c = compile_late(lab);
	ck_assert_int_eq(c->hits[HIT_DEFAULT], TASKS);
	for (int k = 0; k < TASKS; k++) {
		own += strstr(c->task[k].why, "its prepare Fns fail: they did not end within") != NULL;
		others += strcmp(c->task[k].why, "its prepare Fns may fail: the prepare Fns of two other records failed") == 0;
	}
	ck_assert(own == 2 && others == TASKS - 2);
	close_lab(lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("prepare");
	tcase_add_loop_test(tc, prepare_fns_end_their_own_process_only, 0, LEN(hostile));
	tcase_add_loop_test(tc, a_crash_is_seen_without_an_exit_status, 0, LEN(hostile));
	tcase_add_loop_test(tc, calls_are_done_in_turn, 0, LEN(hostile));
	tcase_add_loop_test(tc, an_interrupt_ends_the_wait, 0, 3);
	tcase_add_test(tc, a_child_does_not_outlive_its_parent);
	tcase_add_loop_test(tc, what_the_machine_lacks_is_no_fault_of_a_record, 0, 2);
	tcase_add_test(tc, a_record_whose_prepare_fns_fail_gives_way);
	tcase_add_test(tc, two_failures_end_all_prepare_fns_of_records);
	tcase_add_loop_test(tc, a_fork_writes_its_own_room, 0, 2);
	tcase_add_loop_test(tc, networks_share_constants, 0, LEN(cases));
	tcase_add_loop_test(tc, packed_weights_give_the_same_answers, 0, LEN(cases));
	return run_suite("prepare", tc);
}
