/*
 * libdlc as a program uses it: networks from memory and files, tasks, tuning with progress and cancelling, bundles,
 * databases, failures; several sessions in several threads; and memory that runs out at any moment.
 */
#include "api/lab.h"

#include "base/guard.h"
#include "base/text.h"

#include <dlc/dlc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if SANITIZED
#include <sanitizer/lsan_interface.h>
#endif

START_TEST(failures_are_values)
{
	DlcFailure why;
	DlcSession *s = open_session();
	DlcNetwork *n;
	DlcDatabase *d;
	DlcBundle *b;
	char text[400];
	ck_assert_int_eq(dlc_network_load(s, "no_such_net", NULL, &n, &why), DLC_FAULT_INPUT);
	ck_assert(n == NULL && why.code == DLC_FAULT_INPUT && strcmp(why.place, "no_such_net") == 0);
	dlc_failure_text(&why, text, sizeof text);
	ck_assert_ptr_nonnull(strstr(text, "no_such_net: is neither a file nor a network of the zoo"));
	ck_assert_int_eq(dlc_network_load(s, "no_such_net", NULL, &n, NULL), DLC_FAULT_INPUT);
	ck_assert_int_eq(dlc_network_load_memory(s, "junk", "junk", 4, NULL, &n, &why), DLC_FAULT_INPUT);
	ck_assert_int_eq(dlc_database_open(s, NULL, DLC_READ, &d, &why), DLC_FAULT_USAGE); /* the session has none */
	ck_assert_int_eq(dlc_database_open(s, "/nowhere/x.sqlite", DLC_READ, &d, &why), DLC_FAULT_INPUT);
	Model m = onnx_of(network[0]);
	n = load(s, &m);
	DlcCompileOptions o = { .target = { "toaster", 1 } };
	ck_assert_int_eq(dlc_compile(n, &o, &b, &why), DLC_FAULT_USAGE);
	ck_assert(b == NULL && strcmp(why.place, "toaster") == 0);
	o = (DlcCompileOptions){ .required = 1, .require = DLC_EXACT };
	ck_assert_int_ne(dlc_compile(n, &o, &b, &why), DLC_FAULT_NONE);
	DlcTuneRequest r = { .search = "frobnicate" };
	ck_assert_int_eq(dlc_tune(n, &r, NULL, &why), DLC_FAULT_USAGE);
	r = (DlcTuneRequest){ 0 };
	ck_assert_int_eq(dlc_tune(n, &r, NULL, &why), DLC_FAULT_USAGE); /* no database */
	dlc_network_close(n);
	dlc_session_close(s);
	free(m.bytes);
}
END_TEST

static Model compile(DlcSession *s, const Model *m, DlcDatabase *d)
{
	DlcFailure why = { 0 };
	DlcNetwork *n = load(s, m);
	DlcBundle *b;
	DlcCompileOptions o = { .database = &d, .ndatabase = d != NULL };
	ok(dlc_compile(n, &o, &b, &why), why);
	Model out;
	const void *bytes = dlc_bundle_bytes(b, &out.n);
	out.bytes = malloc(out.n);
	memcpy(out.bytes, bytes, out.n);
	dlc_bundle_close(b);
	dlc_network_close(n);
	return out;
}

static bool same(Model a, Model b)
{
	return a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0;
}

START_TEST(a_file_and_its_content_are_one_model)
{
	Arena *a = arena_new();
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	DlcNetwork *n;
	DlcBundle *b;
	Model m = onnx_of(network[_i]), x = compile(s, &m, NULL);
	const char *path = file(a, "n.onnx"), *out = file(a, "n.dlcb");
	FILE *f = fopen(path, "wb");
	ck_assert(f != NULL && fwrite(m.bytes, 1, m.n, f) == m.n && fclose(f) == 0);
	ok(dlc_network_load(s, path, NULL, &n, &why), why);
	const DlcTask *task;
	int count;
	ok(dlc_network_tasks(n, &(DlcTarget){ 0 }, &task, &count, &why), why);
	ck_assert(count > 0 && strlen(task[0].id) == 32 && task[0].weight == 1 && task[0].label[0] != 0);
	ok(dlc_compile(n, NULL, &b, &why), why);
	ok(dlc_bundle_write(b, out, &why), why);
	const DlcBundleInfo *info = dlc_bundle_info(b);
	ck_assert(info->ntask > 0 && info->hits[DLC_DEFAULT] == info->ntask && info->estimated_ms > 0);
	ck_assert(strncmp(dlc_bundle_lock(b), "dlc lock 1\n", 11) == 0);
	Model y = { malloc(x.n + 1), 0 };
	f = fopen(out, "rb");
	y.n = fread(y.bytes, 1, x.n + 1, f);
	fclose(f);
	dlc_bundle_close(b);
	dlc_network_close(n);
	dlc_session_close(s);
	ck_assert_uint_eq(x.n, y.n); /* the name in it differs */
	free(m.bytes);
	free(x.bytes);
	free(y.bytes);
	arena_free(a);
}
END_TEST

static const char *shown(Arena *a, DlcNetwork *n, DlcShowOptions o)
{
	DlcFailure why = { 0 };
	Text out = { .arena = a };
	ok(dlc_network_show(n, &o, put, &out, &why), why);
	return text_str(&out);
}

/* Two targets, whose layouts differ, and a compile leave the network as it was loaded. */
START_TEST(no_call_changes_the_network)
{
	Arena *a = arena_new();
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	DlcNetwork *n;
	DlcBundle *b;
	const DlcTask *task;
	int count;
	ok(dlc_network_load(s, "squeezenet1_1", NULL, &n, &why), why);
	DlcShowOptions imported = { .imported = 1 }, onnx = { .stage = "onnx" }, graph = { 0 };
	const char *before = shown(a, n, imported), *optimized = shown(a, n, graph);
	ck_assert(strcmp(before, optimized) != 0);
	for (int i = 0; i < 2; i++) {
		DlcTarget t = { .name =
			i == 0 ? DLC_TEST_TARGETS "/skylake-avx512.json" : DLC_TEST_TARGETS "/cortex-a72.json" };
		ok(dlc_network_tasks(n, &t, &task, &count, &why), why);
		ck_assert(count > 0);
		ck_assert(strcmp(shown(a, n, imported), before) == 0);
		ck_assert(strcmp(shown(a, n, graph), optimized) == 0);
		ck_assert_uint_gt(strlen(shown(a, n, onnx)), 0);
	}
	Model m = onnx_of(network[0]);
	DlcNetwork *small = load(s, &m);
	before = shown(a, small, imported);
	ok(dlc_compile(small, NULL, &b, &why), why);
	ck_assert(strcmp(shown(a, small, imported), before) == 0);
	ck_assert_uint_gt(strlen(shown(a, small, onnx)), 0);
	dlc_bundle_close(b);
	dlc_network_close(small);
	dlc_network_close(n);
	dlc_session_close(s);
	free(m.bytes);
	arena_free(a);
}
END_TEST

/* ---- tuning and databases ---- */

typedef struct Seen {
	DlcSession *session;
	int64_t trials, told, stop_after; /* told: of the last progress; stop_after: 0: never */
	bool by_cancel;
	int calls, events, measured, pages, stop_at; /* stop_at: measured events; 0: never */
} Seen;

static int on_progress(const DlcTuneProgress *p, void *arg)
{
	Seen *x = arg;
	x->calls++;
	__atomic_store_n(&x->told, p->trials, __ATOMIC_RELAXED);
	ck_assert(p->ntask > 0 && p->task[0].task.label != NULL);
	if (x->stop_after == 0 || p->trials < x->stop_after)
		return 0;
	if (x->by_cancel)
		dlc_session_cancel(x->session, 1);
	return !x->by_cancel;
}

static int on_trial(const char *record, void *arg)
{
	Seen *x = arg;
	ck_assert_int_eq(strlen(record), 32);
	x->trials++;
	return 0;
}

static int on_event(const char *line, size_t n, void *arg)
{
	Seen *x = arg;
	ck_assert(strlen(line) == n && line[0] == '{' && line[n - 1] == '}' && strchr(line, '\n') == NULL);
	ck_assert(x->events++ > 0 || strstr(line, "\"event\":\"session\"") != NULL);
	x->measured += strstr(line, "\"event\":\"measured\"") != NULL;
	return x->stop_at > 0 && x->measured >= x->stop_at;
}

static int on_report(const char *page, size_t n, void *arg)
{
	Seen *x = arg;
	ck_assert(strlen(page) == n && strncmp(page, "<!doctype html>", 15) == 0);
	ck_assert_ptr_nonnull(strstr(page, "\"from\":\"run\""));
	x->pages++;
	return 0;
}

static int take_page(const char *page, size_t n, void *arg)
{
	ck_assert_ptr_nonnull(strstr(page, "\"from\":\"records\""));
	*(size_t *)arg += n;
	return 0;
}

static int add_line(const char *line, size_t n, void *arg)
{
	text_put(arg, line, n);
	text_put(arg, "\n", 1);
	return 0;
}

START_TEST(tuning_fills_a_database_that_can_be_asked)
{
	Lab lab = open_lab(1, "t.sqlite");
	Arena *a = lab.arena;
	DlcFailure why = { 0 };
	DlcSession *s = lab.session;
	DlcNetwork *n = lab.network;
	DlcDatabase *d = lab.database, *copy;
	Seen seen = { .session = s };
	DlcTuneResult r;
	DlcTuneRequest q = { .database = &d,
		.ndatabase = 1,
		.limit = DLC_TRIALS_ALL,
		.trials = 6,
		.on_progress = on_progress,
		.on_trial = on_trial,
		.on_event = on_event,
		.on_report = on_report,
		.arg = &seen,
		.seed = 1 };
	ok(dlc_tune(n, &q, &r, &why), why);
	ck_assert_int_eq(r.end.trials, 6);
	ck_assert(seen.trials == 6 && seen.calls > 0 && !r.interrupted && r.end.phase == DLC_DONE && r.target[0] != 0);
	ck_assert(seen.measured == 6 && seen.events > 6 && seen.pages == 1);
	/* What it left is found again. */
	int runs = 0, all = 0;
	First first = { .n = 0 };
	DlcStats stats;
	ok(dlc_database_tasks(d, NULL, take_task, &first, &why), why);
	ck_assert(first.n >= 1 && first.row.target != NULL && first.row.runs > 0);
	ok(dlc_database_stats(d, &stats, &why), why);
	for (int i = 0; i < r.end.ntask; i++) {
		ok(dlc_database_runs(d, r.end.task[i].task.id, &q.target, count_runs, &runs, &why), why);
		all += runs;
		runs = 0;
	}
	ck_assert_int_eq(all, 6);
	ck_assert_int_eq(stats.ntarget, 1);
	ck_assert_int_eq(stats.target[0].n, 6);
	DlcRecord rec;
	ok(dlc_database_record(d, first.row.id, &rec, &why), why);
	ck_assert(strcmp(rec.kind, "workload") == 0 && rec.line[0] == '{' && rec.label[0] != 0);
	size_t page = 0;
	ok(dlc_database_report(d, NULL, take_page, &page, &why), why);
	ck_assert_uint_gt(page, 1000);
	ck_assert_int_eq(dlc_database_report(d, "ffffffffffff", take_page, &page, &why), DLC_FAULT_MISSING);
	/* Lines go into another database, once. */
	Text lines = { .arena = a };
	DlcImport count = { 0 };
	int64_t records;
	ok(dlc_database_export(d, NULL, add_line, &lines, &why), why);
	ok(dlc_database_open(s, file(a, "copy.sqlite"), DLC_WRITE, &copy, &why), why);
	ok(dlc_database_import(copy, "log", text_str(&lines), lines.n, &count, &why), why);
	ck_assert(count.added > 6 && count.skipped == 0);
	ok(dlc_database_import(copy, "log", text_str(&lines), lines.n, &count, &why), why);
	ck_assert_int_eq(count.added, count.present);
	ok(dlc_database_check(copy, &records, &why), why);
	ck_assert_int_eq(records, count.added);
	/* And is compiled with. */
	DlcBundle *b;
	DlcCompileOptions o = { .database = &d, .ndatabase = 1 };
	ok(dlc_compile(n, &o, &b, &why), why);
	ck_assert(dlc_bundle_info(b)->hits[DLC_EXACT] > 0);
	Text shown = { .arena = a };
	DlcShowOptions show = { .database = &d, .ndatabase = 1, .stage = "trace" };
	ok(dlc_network_show(n, &show, put, &shown, &why), why);
	ck_assert_ptr_nonnull(strstr(text_str(&shown), "task "));
	dlc_bundle_close(b);
	dlc_database_close(copy);
	close_lab(&lab);
}
END_TEST

/* Once the run has told of a trial. */
static void *cancel_soon(void *arg)
{
	Seen *x = arg;
	while (__atomic_load_n(&x->told, __ATOMIC_RELAXED) == 0)
		usleep(1000);
	dlc_session_cancel(x->session, 1);
	return NULL;
}

/*
 * 0: a callback says so; 1: a callback cancels the session; 2: another thread does; 3: a callback of events says so.
 * A Task may be at its roof after one trial, so there are more Tasks than trials before the end.
 */
START_TEST(a_tuning_is_cancelled_and_keeps_its_trials)
{
	Lab lab = open_lab(SEVERAL_TASKS, ((const char *[]){ "c0.sqlite", "c1.sqlite", "c2.sqlite", "c3.sqlite" })[_i]);
	DlcFailure why = { 0 };
	DlcSession *s = lab.session;
	DlcNetwork *n = lab.network;
	DlcDatabase *d = lab.database;
	pthread_t other;
	Seen seen = { .session = s, .stop_after = _i < 2 ? 3 : 0, .by_cancel = _i == 1 };
	DlcTuneResult r;
	DlcTuneRequest q = { .database = &d, .ndatabase = 1, .on_progress = on_progress, .arg = &seen, .budget_s = 120,
		.on_report = on_report };
	if (_i == 3) {
		seen.stop_at = 3;
		q.on_event = on_event;
	}
	if (_i == 2)
		ck_assert_int_eq(pthread_create(&other, NULL, cancel_soon, &seen), 0);
	ok(dlc_tune(n, &q, &r, &why), why);
	if (_i == 2)
		pthread_join(other, NULL);
	ck_assert(r.interrupted && r.end.seconds < 60 && (seen.pages == 1 || _i == 2));
	DlcStats stats;
	dlc_session_cancel(s, 0);
	ok(dlc_database_stats(d, &stats, &why), why);
	int64_t runs = 0;
	for (int i = 0; stats.status[i].name != NULL; i++)
		runs += stats.status[i].n;
	ck_assert_int_eq(runs, r.end.trials);
	/* A callback ends one run, a cancelled session stays cancelled until it is told otherwise. */
	DlcBundle *b = NULL;
	dlc_session_cancel(s, 1);
	ck_assert_int_eq(dlc_compile(n, NULL, &b, &why), DLC_FAULT_INTERRUPTED);
	dlc_session_cancel(s, 0);
	ok(dlc_compile(n, NULL, &b, &why), why);
	dlc_bundle_close(b);
	close_lab(&lab);
}
END_TEST

/* ---- children ---- */

/* Whatever the program is: a script in a folder of its own. */
static const char *programs(Arena *a, const char *name, const char *dlc, const char *worker)
{
	const char *dir = file(a, name), *text[] = { dlc, worker }, *program[] = { "dlc", "dlc-worker" };
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	for (int i = 0; i < 2; i++) {
		const char *path = arena_printf(a, "%s/%s", dir, program[i]);
		FILE *f = text[i] != NULL ? fopen(path, "w") : NULL;
		if (f != NULL)
			ck_assert(fprintf(f, "#!/bin/sh\n%s\n", text[i]) > 0 && fclose(f) == 0 && chmod(path, 0700) == 0);
	}
	return dir;
}

/* A child's program that is missing is named before anything is searched; one that hangs at its start is ended. */
START_TEST(a_child_that_does_not_begin_is_named)
{
	Arena *a = arena_new();
	DlcFailure why = { 0 };
	Model m = onnx_of(network[1]);
	const char *dir[] = { programs(a, "no_dlc", NULL, "exit 1"), programs(a, "no_worker", "exit 1", NULL),
		programs(a, "hangs", "exec sleep 1000", "exec sleep 1000") };
	for (int i = 0; i < LEN(dir); i++) {
		DlcSession *s;
		DlcDatabase *d;
		DlcTuneResult r;
		ok(dlc_session_open(&(DlcSessionOptions){ .programs = dir[i] }, &s, &why), why);
		DlcNetwork *n = load(s, &m);
		ok(dlc_database_open(s, file(a, "children.sqlite"), DLC_WRITE, &d, &why), why);
		DlcTuneRequest q = { .database = &d, .ndatabase = 1, .limit = DLC_TRIALS_ALL, .trials = 1 };
		ck_assert_int_eq(dlc_tune(n, &q, &r, &why), DLC_FAULT_DEVICE);
		if (i < 2) {
			ck_assert_str_eq(why.place, i == 0 ? "dlc" : "dlc-worker");
			ck_assert(strstr(why.text, dir[i]) != NULL && strstr(why.text, "no such program") != NULL);
			ck_assert_int_eq(dlc_tune_check(s, &q, &why), DLC_FAULT_DEVICE);
		} else {
			ck_assert_msg(strstr(why.text, "no message within") != NULL, "%s: %s", why.place, why.text);
		}
		DlcStats stats;
		ok(dlc_database_stats(d, &stats, &why), why);
		ck_assert_int_eq(stats.sessions, 0);
		dlc_database_close(d);
		dlc_network_close(n);
		dlc_session_close(s);
	}
	free(m.bytes);
	arena_free(a);
}
END_TEST

/* ---- threads ---- */

typedef struct Worker {
	pthread_t thread;
	int k;
	Model model, alone, together;
} Worker;

static void *work(void *arg)
{
	Worker *w = arg;
	DlcSession *s = open_session();
	for (int round = 0; round < 2; round++) {
		free(w->together.bytes);
		w->together = compile(s, &w->model, NULL);
	}
	if (w->k < 2) { /* two of them tune, with children of their own */
		DlcFailure why = { 0 };
		DlcDatabase *d;
		Arena *a = arena_new();
		DlcNetwork *n = load(s, &w->model);
		ok(dlc_database_open(s, file(a, arena_printf(a, "thread%d.sqlite", w->k)), DLC_WRITE, &d, &why), why);
		DlcTuneRequest q = { .database = &d, .ndatabase = 1, .limit = DLC_TRIALS_ALL, .trials = 2 };
		DlcTuneResult r;
		ok(dlc_tune(n, &q, &r, &why), why);
		ck_assert_int_eq(r.end.trials, 2);
		dlc_database_close(d);
		dlc_network_close(n);
		arena_free(a);
	}
	dlc_session_close(s);
	return NULL;
}

START_TEST(sessions_work_side_by_side)
{
	Worker w[NETWORKS] = { 0 };
	DlcSession *s = open_session();
	for (int k = 0; k < NETWORKS; k++) {
		w[k] = (Worker){ .k = k, .model = onnx_of(network[k]) };
		w[k].alone = compile(s, &w[k].model, NULL);
	}
	for (int k = 0; k < NETWORKS; k++)
		ck_assert_int_eq(pthread_create(&w[k].thread, NULL, work, &w[k]), 0);
	for (int k = 0; k < NETWORKS; k++)
		pthread_join(w[k].thread, NULL);
	for (int k = 0; k < NETWORKS; k++) {
		ck_assert_msg(same(w[k].alone, w[k].together), "network %d is another one among threads", k);
		free(w[k].model.bytes);
		free(w[k].alone.bytes);
		free(w[k].together.bytes);
	}
	dlc_session_close(s);
}
END_TEST

/* ---- memory ---- */

static int end_after_a_trial(const DlcTuneProgress *p, void *arg)
{
	(void)arg;
	return p->trials > 0;
}

/* What fails in turn, and what it came to. A database that took part is closed, as dlc.h says. */
static DlcFault work_with(DlcSession *s, DlcNetwork *n, int kind, Arena *a)
{
	DlcFailure why = { 0 };
	DlcBundle *b = NULL;
	DlcDatabase *d = NULL;
	DlcStats stats;
	DlcTuneRequest q = { .database = &d, .ndatabase = 1, .limit = DLC_TRIALS_MORE, .trials = 2, .dry_run = kind == 1,
		.on_progress = end_after_a_trial };
	DlcFault f = DLC_FAULT_NONE;
	if (kind == 0)
		f = dlc_compile(n, NULL, &b, &why);
	else
		f = dlc_database_open(s, file(a, "memory.sqlite"), DLC_WRITE, &d, &why);
	if (f == DLC_FAULT_NONE && kind > 0)
		f = dlc_tune(n, &q, NULL, &why);
	if (f == DLC_FAULT_NONE && kind > 0)
		f = dlc_database_stats(d, &stats, &why);
	dlc_bundle_close(b);
	dlc_database_close(d);
	return f;
}

/* The same from a session on. */
static DlcFault walk(int kind, const Model *m, Arena *a)
{
	DlcFailure why = { 0 };
	DlcSession *s = NULL;
	DlcNetwork *n = NULL;
	DlcSessionOptions so = { .programs = DLC_TEST_PROGRAMS };
	DlcFault f = dlc_session_open(&so, &s, &why);
	if (f == DLC_FAULT_NONE)
		f = dlc_network_load_memory(s, "n.onnx", m->bytes, m->n, NULL, &n, &why);
	if (f == DLC_FAULT_NONE)
		f = work_with(s, n, kind, a);
	dlc_network_close(n);
	dlc_session_close(s);
	return f;
}

/*
 * The n-th piece of memory is not there, n growing: each time a value, and the next walk comes through. Every second
 * test walks with one session and one network, which remain usable.
 */
START_TEST(memory_may_run_out_anywhere)
{
	static const double grow[] = { 1.12, 1.12, 1.35 }; /* the last one has children */
#if SANITIZED
	__lsan_disable(); /* what is no arena's, of LLVM and libuv, may stay behind: guard.h */
#endif
	Arena *a = arena_new();
	Model m = onnx_of(network[1]);
	int failed = 0, kind = _i / 2;
	DlcSession *s = _i % 2 ? open_session() : NULL;
	DlcNetwork *n = s != NULL ? load(s, &m) : NULL;
	ck_assert_int_eq(walk(kind, &m, a), DLC_FAULT_NONE);
	/* Instrumented, a walk takes some times as long. */
	double step = SANITIZED ? 2 : grow[kind];
	for (int64_t at = 1;; at += 1 + (int64_t)((double)at * (step - 1))) {
		guard_fail_at(at);
		DlcFault f = s != NULL ? work_with(s, n, kind, a) : walk(kind, &m, a);
		bool all = guard_fail_at(0) > 0; /* it did not come to that */
		ck_assert_msg(f == DLC_FAULT_NONE || f == DLC_FAULT_MEMORY, "at %lld: %d", (long long)at, f);
		failed += f == DLC_FAULT_MEMORY;
		if (all)
			break;
	}
	ck_assert_int_gt(failed, 5);
	ck_assert_int_eq(s != NULL ? work_with(s, n, kind, a) : walk(kind, &m, a), DLC_FAULT_NONE);
	dlc_network_close(n);
	dlc_session_close(s);
	free(m.bytes);
	arena_free(a);
}
END_TEST

#if !SANITIZED
/* A process that may have few megabytes more: a value, not its end. */
START_TEST(a_small_address_space_is_a_failure)
{
	static const int megabytes[] = { 1, 2, 4, 8, 16, 32, 64, 256, 512, 1024 };
	int failed = 0;
	Model m = onnx_of(network[0]);
	Arena *a = arena_new();
	for (int i = 0; i < LEN(megabytes); i++) {
		pid_t pid = fork();
		if (pid == 0) {
			long pages = 0;
			FILE *f = fopen("/proc/self/statm", "r");
			if (f == NULL || fscanf(f, "%ld", &pages) != 1)
				_exit(90);
			rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes[i] << 20);
			setrlimit(RLIMIT_AS, &(struct rlimit){ most, most });
			_exit(walk(0, &m, a));
		}
		int status;
		ck_assert(waitpid(pid, &status, 0) == pid);
		ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == DLC_FAULT_MEMORY),
			"with %d MB: status %x", megabytes[i], (unsigned)status);
		failed += WEXITSTATUS(status) != 0;
	}
	ck_assert(failed > 0 && failed < LEN(megabytes));
	free(m.bytes);
	arena_free(a);
}
END_TEST
#endif

int main(void)
{
	TCase *tc = tcase_create("api");
	if (!suite_folder(folder, "api"))
		return 1;
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, failures_are_values);
	tcase_add_loop_test(tc, a_file_and_its_content_are_one_model, 0, NETWORKS);
	tcase_add_test(tc, no_call_changes_the_network);
	tcase_add_test(tc, tuning_fills_a_database_that_can_be_asked);
	tcase_add_loop_test(tc, a_tuning_is_cancelled_and_keeps_its_trials, 0, 4);
	tcase_add_test(tc, a_child_that_does_not_begin_is_named);
	tcase_add_test(tc, sessions_work_side_by_side);
	tcase_add_loop_test(tc, memory_may_run_out_anywhere, 0, 6);
#if !SANITIZED
	tcase_add_test(tc, a_small_address_space_is_a_failure);
#endif
	int failed = run_suite("api", tc);
	char line[128];
	snprintf(line, sizeof line, "rm -rf %s", folder);
	return system(line) != 0 || failed;
}
