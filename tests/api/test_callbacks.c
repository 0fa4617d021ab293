/*
 * Callbacks of libdlc that call the library again: what the call under way holds is refused with one sentence, all
 * else works.
 */
#include "api/lab.h"

#include "base/guard.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct Again {
	DlcSession *session;
	DlcNetwork *network, *other;
	DlcDatabase *database;
	int calls, trials;
} Again;

/* The call is refused because the argument `named` is in use. */
#define in_use(call, named)                                                                                          \
	do {                                                                                                         \
		why = (DlcFailure){ 0 };                                                                             \
		ck_assert_int_eq((call), DLC_FAULT_USAGE);                                                           \
		ck_assert_str_eq(why.place, named);                                                                  \
		ck_assert_ptr_nonnull(strstr(why.text, "must return first"));                                        \
	} while (0)

static int call_again(const DlcTuneProgress *p, void *arg)
{
	Again *x = arg;
	DlcFailure why = { 0 };
	const DlcTask *task;
	int n;
	DlcVerify v = { 0 };
	DlcTuneRequest q = { .database = &x->database, .ndatabase = 1, .limit = DLC_TRIALS_ALL, .trials = 1 };
	const char *label = p->task[0].task.label;
	if (p->trials == 0 || x->calls++ > 0)
		return 0;
	in_use(dlc_network_tasks(x->network, NULL, &task, &n, &why), "n");
	in_use(dlc_tune(x->network, &q, NULL, &why), "n");
	in_use(dlc_tune(x->other, &q, NULL, &why), "session");
	in_use(dlc_database_verify(x->database, &v, &why), "session");
	ok(dlc_network_tasks(x->other, NULL, &task, &n, &why), why);
	DlcBundle *b;
	ok(dlc_compile(x->network, NULL, &b, &why), why);
	dlc_bundle_close(b);
	ck_assert(p->task[0].task.label == label && strlen(label) > 0);
	return 0;
}

static int look_it_up(const char *record, void *arg)
{
	Again *x = arg;
	DlcFailure why = { 0 };
	DlcRecord r;
	ok(dlc_database_record(x->database, record, &r, &why), why);
	ck_assert_str_eq(r.id, record);
	x->trials++;
	return 0;
}

static int look_at_verdict(const DlcVerdict *row, void *arg)
{
	return look_it_up(row->record, arg);
}

static int list_tasks_while_shown(const char *bytes, size_t n, void *arg)
{
	const Again *x = arg;
	DlcFailure why = { 0 };
	const DlcTask *task;
	int count;
	char first = bytes[0];
	ok(dlc_network_tasks(x->network, NULL, &task, &count, &why), why);
	ck_assert(n > 0 && bytes[0] == first);
	return 0;
}

START_TEST(a_callback_cannot_take_what_its_call_holds)
{
	Arena *a = arena_new();
	DlcFailure why = { 0 };
	Model m = onnx_of(network[0]), m2 = onnx_of(network[1]);
	Again x = { .session = open_session() };
	x.network = load(x.session, &m);
	x.other = load(x.session, &m2);
	ok(dlc_database_open(x.session, file(a, "again.sqlite"), DLC_WRITE, &x.database, &why), why);
	DlcTuneRequest q = { .database = &x.database, .ndatabase = 1, .limit = DLC_TRIALS_ALL, .trials = 3,
		.on_progress = call_again, .on_trial = look_it_up, .arg = &x };
	DlcTuneResult r;
	ok(dlc_tune(x.network, &q, &r, &why), why);
	/* A Task at its roof needs fewer trials. */
	ck_assert(x.calls > 0 && x.trials > 0 && x.trials <= 3 && r.end.trials == x.trials);
	/* When it has returned, all is free again. */
	ok(dlc_tune(x.other, &(DlcTuneRequest){ .database = &x.database, .ndatabase = 1, .limit = DLC_TRIALS_ALL,
		.trials = 1 }, NULL, &why), why);
	x.trials = 0;
	DlcVerify v = { .each = look_at_verdict, .arg = &x };
	ok(dlc_database_verify(x.database, &v, &why), why);
	ck_assert(x.trials > 0 && x.trials == v.good + v.bad);
	ok(dlc_network_show(x.network, &(DlcShowOptions){ 0 }, list_tasks_while_shown, &x, &why), why);
	dlc_database_close(x.database);
	dlc_network_close(x.other);
	dlc_network_close(x.network);
	dlc_session_close(x.session);
	free(m.bytes);
	free(m2.bytes);
	arena_free(a);
}
END_TEST

/* ---- a callback that ends its call ---- */

typedef struct Ender {
	DlcSession *session;
	bool cancel, no_memory; /* it cancels the session too; memory runs out then */
	int calls;
} Ender;

static int end_it(const DlcTuneProgress *p, void *arg)
{
	Ender *x = arg;
	if (p->trials == 0)
		return 0;
	if (x->calls++ == 0) {
		if (x->cancel)
			dlc_session_cancel(x->session, 1);
		if (x->no_memory)
			guard_fail_at(1);
	}
	return 1;
}

/* 0: only the call ends; 1: the session is cancelled meanwhile, and stays so; 2: memory runs out afterwards. */
START_TEST(a_callback_ends_its_call_alone)
{
	Arena *a = arena_new();
	DlcFailure why = { 0 };
	Model m = onnx_of(network[0]);
	Ender x = { .session = open_session(), .cancel = _i == 1, .no_memory = _i == 2 };
	DlcNetwork *n = load(x.session, &m);
	DlcDatabase *d;
	DlcTuneResult r;
	const DlcTask *task;
	int count;
	ok(dlc_database_open(x.session, file(a, arena_printf(a, "end%d.sqlite", _i)), DLC_WRITE, &d, &why), why);
	DlcTuneRequest q = { .database = &d, .ndatabase = 1, .limit = DLC_TRIALS_ALL, .trials = 30,
		.on_progress = end_it, .arg = &x };
	DlcFault f = dlc_tune(n, &q, &r, &why);
	guard_fail_at(0);
	ck_assert_int_eq(f, x.no_memory ? DLC_FAULT_MEMORY : DLC_FAULT_NONE);
	ck_assert(x.no_memory || (r.interrupted && r.end.trials < 30));
	if (x.cancel) {
		ck_assert_int_eq(dlc_network_tasks(n, NULL, &task, &count, &why), DLC_FAULT_INTERRUPTED);
		dlc_session_cancel(x.session, 0);
	}
	ok(dlc_network_tasks(n, NULL, &task, &count, &why), why);
	/* The next tuning ends by itself. */
	dlc_database_close(d);
	ok(dlc_database_open(x.session, file(a, "next.sqlite"), DLC_WRITE, &d, &why), why);
	q.on_progress = NULL;
	q.limit = DLC_TRIALS_MORE;
	q.trials = 1;
	ok(dlc_tune(n, &q, &r, &why), why);
	ck_assert(!r.interrupted && r.end.trials > 0);
	dlc_database_close(d);
	dlc_network_close(n);
	dlc_session_close(x.session);
	free(m.bytes);
	arena_free(a);
}
END_TEST

/* ---- walks over a database ---- */

typedef struct Walk {
	DlcDatabase *database;
	DlcNetwork *network;
	char task[DLC_ID];
	int calls;
	bool again; /* it asks the database again and goes on; else it ends the walk */
} Walk;

static int any(const void *row, void *arg)
{
	(void)row;
	++*(int *)arg;
	return 0;
}

static int any_task(const DlcTaskRow *row, void *arg)
{
	return any(row, arg);
}

static int any_session(const DlcSessionRow *row, void *arg)
{
	return any(row, arg);
}

static int any_line(const char *line, size_t n, void *arg)
{
	(void)n;
	return any(line, arg);
}

static int at_task(const DlcTaskRow *row, void *arg)
{
	Walk *x = arg;
	DlcFailure why = { 0 };
	DlcStats stats;
	int n = 0;
	x->calls++;
	memcpy(x->task, row->id, sizeof x->task);
	if (!x->again)
		return 1;
	in_use(dlc_database_tasks(x->database, NULL, any_task, &n, &why), dlc_database_path(x->database));
	in_use(dlc_database_stats(x->database, &stats, &why), dlc_database_path(x->database));
	ok(dlc_database_runs(x->database, row->id, NULL, count_runs, &n, &why), why);
	return 0;
}

static int at_run(const DlcRunRow *row, void *arg)
{
	Walk *x = arg;
	DlcFailure why = { 0 };
	int n = 0;
	(void)row;
	x->calls++;
	if (!x->again)
		return 1;
	in_use(dlc_database_runs(x->database, x->task, NULL, count_runs, &n, &why), dlc_database_path(x->database));
	ok(dlc_database_tasks(x->database, NULL, any_task, &n, &why), why);
	return 0;
}

static int at_session(const DlcSessionRow *row, void *arg)
{
	Walk *x = arg;
	DlcFailure why = { 0 };
	DlcRecord r;
	int n = 0;
	x->calls++;
	if (!x->again)
		return 1;
	in_use(dlc_database_sessions(x->database, any_session, &n, &why), dlc_database_path(x->database));
	in_use(dlc_database_record(x->database, row->id, &r, &why), dlc_database_path(x->database));
	return 0;
}

static int at_line(const char *line, size_t n, void *arg)
{
	Walk *x = arg;
	DlcFailure why = { 0 };
	int64_t records;
	int count = 0;
	(void)line;
	(void)n;
	x->calls++;
	if (!x->again)
		return 1;
	in_use(dlc_database_export(x->database, NULL, any_line, &count, &why), dlc_database_path(x->database));
	in_use(dlc_database_check(x->database, &records, &why), dlc_database_path(x->database));
	ok(dlc_database_tasks(x->database, NULL, any_task, &count, &why), why);
	return 0;
}

static int at_verdict(const DlcVerdict *row, void *arg)
{
	(void)row;
	((Walk *)arg)->calls++;
	return 1;
}

static int at_text(const char *bytes, size_t n, void *arg)
{
	return at_line(bytes, n, arg);
}

/* Each walk over two rows or more: one call where the callback ends it, all of them where it asks again. No fault. */
START_TEST(a_walk_ends_or_is_not_disturbed)
{
	enum { WALKS = 5 };
	Arena *a = arena_new();
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	Model m = onnx_of(network[0]);
	Walk x = { .network = load(s, &m) };
	ok(dlc_database_open(s, file(a, "walk.sqlite"), DLC_WRITE, &x.database, &why), why);
	DlcTuneRequest q = { .database = &x.database, .ndatabase = 1, .limit = DLC_TRIALS_MORE, .trials = 2 };
	for (int i = 0; i < 2; i++)
		ok(dlc_tune(x.network, &q, NULL, &why), why);
	int calls[2][WALKS];
	for (int again = 0; again < 2; again++) {
		x.again = again;
		for (int k = 0; k < WALKS; k++) {
			x.calls = 0;
			DlcFault f = k == 0 ? dlc_database_tasks(x.database, NULL, at_task, &x, &why)
				: k == 1 ? dlc_database_runs(x.database, x.task, NULL, at_run, &x, &why)
				: k == 2 ? dlc_database_sessions(x.database, at_session, &x, &why)
				: k == 3 ? dlc_database_export(x.database, NULL, at_line, &x, &why)
					 : dlc_database_export(x.database, x.task, at_line, &x, &why);
			ok(f, why);
			calls[again][k] = x.calls;
		}
	}
	for (int k = 0; k < WALKS; k++) {
		ck_assert_msg(calls[0][k] == 1, "walk %d: %d calls", k, calls[0][k]);
		ck_assert_msg(calls[1][k] > (k > 0), "walk %d: %d calls", k, calls[1][k]);
	}
	x.again = false;
	x.calls = 0;
	DlcVerify v = { .all = 1, .each = at_verdict, .arg = &x };
	ok(dlc_database_verify(x.database, &v, &why), why);
	ok(dlc_network_show(x.network, &(DlcShowOptions){ 0 }, at_text, &x, &why), why);
	ck_assert_int_eq(x.calls, 2);
	dlc_database_close(x.database);
	dlc_network_close(x.network);
	dlc_session_close(s);
	free(m.bytes);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("callbacks");
	if (!suite_folder(folder, "api"))
		return 1;
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, a_callback_cannot_take_what_its_call_holds);
	tcase_add_loop_test(tc, a_callback_ends_its_call_alone, 0, 3);
	tcase_add_test(tc, a_walk_ends_or_is_not_disturbed);
	int failed = run_suite("callbacks", tc);
	char line[128];
	snprintf(line, sizeof line, "rm -rf %s", folder);
	return system(line) != 0 || failed;
}
