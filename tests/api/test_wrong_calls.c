/*
 * libdlc called wrongly: numbers out of range, pointers that must not be NULL, calls in a cancelled session. Each is a
 * failure with one sentence that names the argument.
 */
#include "api/lab.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The call names the argument, and says so much of it. */
#define wrong(call, named, says)                                                                                     \
	do {                                                                                                         \
		why = (DlcFailure){ 0 };                                                                             \
		ck_assert_int_eq((call), DLC_FAULT_USAGE);                                                           \
		ck_assert_str_eq(why.place, named);                                                                  \
		ck_assert_ptr_nonnull(strstr(why.text, says));                                                       \
	} while (0)
#define usage(call, named) wrong(call, named, "must be")
#define null(call, named) wrong(call, named, "NULL")

START_TEST(a_number_out_of_range_is_refused)
{
	Lab lab = open_lab(1, NULL);
	DlcFailure why;
	DlcSession *s = lab.session;
	DlcDatabase *d;
	DlcBundle *b;
	DlcNetwork *n = lab.network, *other;
	static const int hits[] = { 99, -7, DLC_HITS };
	for (int i = 0; i < LEN(hits); i++) {
		DlcCompileOptions c = { .required = 1, .require = (DlcHit)hits[i] };
		usage(dlc_compile(n, &c, &b, &why), "require");
	}
	DlcTarget many = { .threads = DLC_THREADS + 1 };
	char target[DLC_TARGET_TEXT];
	const DlcTask *task;
	int k;
	usage(dlc_compile(n, &(DlcCompileOptions){ .target = many }, &b, &why), "threads");
	usage(dlc_network_show(n, &(DlcShowOptions){ .target = many }, put, NULL, &why), "threads");
	usage(dlc_network_tasks(n, &many, &task, &k, &why), "threads");
	usage(dlc_target_text(s, &many, 0, target, &why), "threads");
	const DlcTargetInfo *described;
	usage(dlc_target_info(s, &many, 0, &described, &why), "threads");
	ck_assert_ptr_null(described);
	ok(dlc_target_text(s, &(DlcTarget){ .threads = DLC_THREADS }, 0, target, &why), why);
	ok(dlc_compile(n, &(DlcCompileOptions){ .target.threads = DLC_THREADS }, &b, &why), why);
	DlcModel *model;
	size_t size;
	const void *bytes = dlc_bundle_bytes(b, &size);
	ck_assert_int_eq(dlc_model_open_memory(bytes, size, &model, NULL), DLC_OK);
	dlc_model_close(model);
	dlc_bundle_close(b);
	usage(dlc_compile(n, &(DlcCompileOptions){ .ndatabase = -1 }, &b, &why), "ndatabase");
	usage(dlc_database_open(s, file(lab.arena, "m.sqlite"), (DlcMode)7, &d, &why), "mode");
	const struct {
		DlcTuneRequest q;
		const char *field;
	} wrong[] = {
		{ { .limit = (DlcLimit)9 }, "limit" },
		{ { .limit = DLC_TRIALS_ALL, .trials = -1 }, "trials" },
		{ { .budget_s = -1 }, "budget_s" },
		{ { .budget_s = strtod("nan", NULL) }, "budget_s" },
		{ { .budget_s = strtod("inf", NULL) }, "budget_s" },
		{ { .ntask = -1 }, "ntask" },
		{ { .ndatabase = -1 }, "ndatabase" },
		{ { .jobs = -1 }, "jobs" },
		{ { .ndevice = -1 }, "ndevice" },
		{ { .ndevice = DLC_DEVICES + 1 }, "ndevice" },
		{ { .jobs = DLC_JOBS + 1 }, "jobs" },
		{ { .target.threads = DLC_THREADS + 1 }, "threads" },
		{ { .target.threads = -1 }, "threads" },
	};
	for (int i = 0; i < LEN(wrong); i++) {
		usage(dlc_tune(n, &wrong[i].q, NULL, &why), wrong[i].field);
		usage(dlc_tune_check(s, &wrong[i].q, &why), wrong[i].field);
	}
	usage(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .batch = -1 }, &other, &why), "batch");
	usage(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .seq = -1 }, &other, &why), "seq");
	usage(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .nshape = -1 }, &other, &why), "nshape");
	usage(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .nbind = -1 }, &other, &why), "nbind");
	usage(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .precision = DLC_PRECISIONS }, &other, &why), "precision");
	DlcShape shape = { .name = "data", .rank = DLC_RANK + 1 };
	usage(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .shape = &shape, .nshape = 1 }, &other, &why), "rank");
	ck_assert_ptr_null(other);
	ck_assert_ptr_null(dlc_hit_name((DlcHit)-1));
	close_lab(&lab);
}
END_TEST

/* Each struct of options is wrong because of its schedule; a name without one says nothing. */
START_TEST(a_schedule_is_what_excludes)
{
	DlcFailure why;
	DlcSession *s = open_session();
	Model m = onnx_of(network[1]);
	DlcNetwork *n = load(s, &m);
	Arena *a = arena_new();
	DlcTuneRequest q = { .schedule = "trace 1\n", .dry_run = 1 };
	DlcShowOptions o = { .schedule = "trace 1\n", .unscheduled = 1, .stage = "ir" };
	const DlcFault wrong[] = { dlc_tune(n, &q, NULL, &why), dlc_tune_check(s, &q, &why),
		dlc_show_check(s, &o, &why), dlc_network_show(n, &o, put, &(Text){ .arena = a }, &why) };
	for (int i = 0; i < LEN(wrong); i++)
		ck_assert_msg(wrong[i] == DLC_FAULT_USAGE, "call %d: %d", i, wrong[i]);
	ck_assert_str_eq(why.place, "schedule");
	q = (DlcTuneRequest){ .schedule_name = "x.trace", .dry_run = 1 };
	o = (DlcShowOptions){ .schedule_name = "x.trace", .unscheduled = 1, .stage = "ir" };
	ok(dlc_tune_check(s, &q, &why), why);
	ok(dlc_tune(n, &q, NULL, &why), why);
	ok(dlc_show_check(s, &o, &why), why);
	ok(dlc_network_show(n, &o, put, &(Text){ .arena = a }, &why), why);
	dlc_network_close(n);
	dlc_session_close(s);
	free(m.bytes);
	arena_free(a);
}
END_TEST

START_TEST(a_null_pointer_is_refused)
{
	Lab lab = open_lab(1, "null.sqlite");
	Arena *a = lab.arena;
	Model m = lab.model;
	DlcFailure why;
	DlcSession *s = lab.session, *s2;
	DlcDatabase *d = lab.database, *none = NULL;
	DlcBundle *b;
	DlcStats stats;
	const DlcModelInfo *learned;
	DlcRecord rec;
	DlcImport count = { 0 };
	const DlcTask *task;
	const char *no_text = NULL;
	char id[DLC_ID], target[DLC_TARGET_TEXT];
	int64_t records;
	int k, named = 1;
	size_t size;
	DlcNetwork *n = lab.network, *other;
	null(dlc_session_open(NULL, NULL, &why), "out");
	null(dlc_session_open_user(NULL, NULL, &why), "out");
	null(dlc_session_open(&(DlcSessionOptions){ .ntargets = 1 }, &s2, &why), "targets");
	null(dlc_session_open(&(DlcSessionOptions){ .targets = &no_text, .ntargets = 1 }, &s2, &why), "targets");
	null(dlc_target_text(NULL, NULL, 0, target, &why), "s");
	null(dlc_session_info(NULL, &(const DlcSessionInfo *){ NULL }, &why), "s");
	null(dlc_session_info(s, NULL, &why), "out");
	null(dlc_session_devices(NULL, "opencl", &(int){ 0 }, &why), "s");
	null(dlc_session_devices(s, NULL, &(int){ 0 }, &why), "kind");
	null(dlc_session_devices(s, "opencl", NULL, &why), "count");
	usage(dlc_session_devices(s, "toaster", &(int){ 0 }, &why), "toaster");
	usage(dlc_session_devices(s, "opencl:pocl", &(int){ 0 }, &why), "opencl:pocl");
	null(dlc_target_info(NULL, NULL, 0, &(const DlcTargetInfo *){ NULL }, &why), "s");
	null(dlc_target_info(s, NULL, 0, NULL, &why), "out");
	null(dlc_network_load(NULL, "resnet18", NULL, &other, &why), "s");
	null(dlc_network_load(s, NULL, NULL, &other, &why), "model");
	null(dlc_network_load(s, "resnet18", NULL, NULL, &why), "out");
	null(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .nshape = 1 }, &other, &why), "shape");
	null(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .shape = &(DlcShape){ 0 }, .nshape = 1 }, &other, &why),
		"name");
	null(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .bind = &(DlcBinding){ 0 }, .nbind = 1 }, &other, &why),
		"name");
	DlcBinding flat = { "x", { .ndim = 2, .dtype = { 2, 32, 1 } } };
	null(dlc_network_load(s, "resnet18", &(DlcLoadOptions){ .bind = &flat, .nbind = 1 }, &other, &why), "x");
	null(dlc_network_load_memory(s, "x", NULL, 10, NULL, &other, &why), "bytes");
	null(dlc_network_load_memory(s, NULL, m.bytes, m.n, NULL, &other, &why), "name");
	null(dlc_network_tasks(NULL, NULL, &task, &k, &why), "n");
	null(dlc_network_tasks(n, NULL, NULL, &k, &why), "out");
	null(dlc_network_tasks(n, NULL, &task, NULL, &why), "count");
	null(dlc_network_show(n, NULL, put, NULL, &why), "options");
	null(dlc_network_show(n, &(DlcShowOptions){ 0 }, NULL, NULL, &why), "put");
	null(dlc_show_check(s, NULL, &why), "options");
	null(dlc_compile(NULL, NULL, &b, &why), "n");
	null(dlc_compile(n, NULL, NULL, &why), "out");
	null(dlc_compile(n, &(DlcCompileOptions){ .ndatabase = 1 }, &b, &why), "database");
	null(dlc_compile(n, &(DlcCompileOptions){ .database = &none, .ndatabase = 1 }, &b, &why), "database");
	null(dlc_tune(NULL, &(DlcTuneRequest){ 0 }, NULL, &why), "n");
	null(dlc_tune(n, NULL, NULL, &why), "request");
	null(dlc_tune(n, &(DlcTuneRequest){ .database = &none, .ndatabase = 1 }, NULL, &why), "database");
	null(dlc_tune(n, &(DlcTuneRequest){ .database = &d, .ndatabase = 1, .task = &no_text, .ntask = 1 }, NULL, &why),
		"task");
	null(dlc_tune_check(s, NULL, &why), "request");
	null(dlc_database_open(s, file(a, "null.sqlite"), DLC_READ, NULL, &why), "out");
	null(dlc_database_open(NULL, file(a, "null.sqlite"), DLC_READ, &none, &why), "s");
	null(dlc_database_tasks(NULL, NULL, take_task, NULL, &why), "d");
	null(dlc_database_tasks(d, NULL, NULL, NULL, &why), "each");
	null(dlc_database_runs(d, NULL, NULL, count_runs, &k, &why), "task");
	null(dlc_database_sessions(d, NULL, NULL, &why), "each");
	null(dlc_database_stats(d, NULL, &why), "out");
	null(dlc_database_stats(NULL, &stats, &why), "d");
	null(dlc_database_export(d, NULL, NULL, NULL, &why), "each");
	null(dlc_database_report(d, NULL, NULL, NULL, &why), "take");
	null(dlc_database_export_best(d, 1, NULL, NULL, &why), "each");
	null(dlc_database_import(d, NULL, "", 0, &count, &why), "name");
	null(dlc_database_import(d, "x", NULL, 4, &count, &why), "text");
	null(dlc_database_import(d, "x", "", 0, NULL, &why), "count");
	null(dlc_database_judge(s, NULL, "", 0, &count, &why), "name");
	null(dlc_database_check(NULL, &records, &why), "d");
	null(dlc_database_check(d, NULL, &why), "records");
	null(dlc_database_retract(d, NULL, "wrong", id, &why), "run");
	null(dlc_database_retract(d, "00", NULL, id, &why), "reason");
	null(dlc_database_record(d, NULL, &rec, &why), "id");
	null(dlc_database_record(d, "00", NULL, &why), "out");
	null(dlc_database_verify(d, NULL, &why), "v");
	null(dlc_database_train(NULL, NULL, 0, NULL, NULL, &why), "d");
	null(dlc_database_train(d, NULL, 1, NULL, NULL, &why), "more");
	usage(dlc_database_train(d, NULL, 0, "toaster", NULL, &why), "kind");
	null(dlc_database_model(NULL, NULL, &learned, &why), "d");
	null(dlc_database_model(d, NULL, NULL, &why), "out");
	usage(dlc_database_model(d, "toaster", &learned, &why), "kind");
	ck_assert(dlc_database_model(d, NULL, &learned, &why) == DLC_FAULT_MISSING && learned == NULL);
	ok(dlc_compile(n, NULL, &b, &why), why);
	null(dlc_bundle_write(b, NULL, &why), "path");
	null(dlc_bundle_write(NULL, "x", &why), "b");
	/* Where there is no fault to return, nothing happens. */
	ck_assert(dlc_bundle_bytes(b, NULL) == dlc_bundle_bytes(b, &size) && size > 0);
	ck_assert(dlc_bundle_bytes(NULL, &size) == NULL && size == 0);
	ck_assert(dlc_bundle_lock(NULL) == NULL && dlc_bundle_info(NULL) == NULL);
	ck_assert(dlc_database_path(NULL) == NULL && dlc_database_lost(NULL) == 0 && !dlc_database_is_log(NULL, 3));
	ck_assert(dlc_session_database(NULL, &named) == NULL && named == 0);
	ck_assert(dlc_failure_text(NULL, target, sizeof target) == 0 && target[0] == 0);
	ck_assert(dlc_failure_text(&why, NULL, 3) == 0 && dlc_failure_text(&why, NULL, 0) > 0);
	dlc_session_cancel(NULL, 1);
	dlc_bundle_close(b);
	close_lab(&lab);
}
END_TEST

/* Each call that does work ends at its start; closing and asking for names is no work. */
START_TEST(a_cancelled_session_does_no_work)
{
	Lab lab = open_lab(1, "stop.sqlite");
	Arena *a = lab.arena;
	Model m = lab.model;
	DlcFailure why;
	DlcSession *s = lab.session;
	DlcDatabase *d = lab.database, *more;
	DlcBundle *b, *none;
	const DlcTask *task;
	int64_t records;
	int k;
	DlcStats stats;
	DlcTuneResult r;
	DlcNetwork *n = lab.network, *other;
	const DlcSessionInfo *has;
	const DlcTargetInfo *described;
	ok(dlc_compile(n, NULL, &b, &why), why);
	DlcTuneRequest q = { .database = &d, .ndatabase = 1, .limit = DLC_TRIALS_ALL, .trials = 1 };
	dlc_session_cancel(s, 1);
	const DlcFault all[] = {
		dlc_network_load(s, "resnet18", NULL, &other, &why),
		dlc_network_load_memory(s, "x", m.bytes, m.n, NULL, &other, &why),
		dlc_network_tasks(n, NULL, &task, &k, &why),
		dlc_network_show(n, &(DlcShowOptions){ 0 }, put, &(Text){ .arena = a }, &why),
		dlc_compile(n, NULL, &none, &why),
		dlc_bundle_write(b, file(a, "stop.dlcb"), &why),
		dlc_tune(n, &q, &r, &why),
		dlc_database_open(s, file(a, "stop.sqlite"), DLC_READ, &more, &why),
		dlc_database_check(d, &records, &why),
		dlc_database_stats(d, &stats, &why),
		dlc_database_verify(d, &(DlcVerify){ 0 }, &why),
		dlc_session_info(s, &has, &why),
		dlc_target_info(s, NULL, 0, &described, &why),
	};
	for (int i = 0; i < LEN(all); i++)
		ck_assert_msg(all[i] == DLC_FAULT_INTERRUPTED, "call %d: %d", i, all[i]);
	ck_assert(other == NULL && none == NULL && more == NULL && !r.interrupted && dlc_bundle_info(b) != NULL);
	dlc_session_cancel(s, 0);
	ok(dlc_database_check(d, &records, &why), why);
	dlc_bundle_close(b);
	close_lab(&lab);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("wrong_calls");
	if (!suite_folder(folder, "api"))
		return 1;
	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, a_number_out_of_range_is_refused);
	tcase_add_test(tc, a_schedule_is_what_excludes);
	tcase_add_test(tc, a_null_pointer_is_refused);
	tcase_add_test(tc, a_cancelled_session_does_no_work);
	int failed = run_suite("wrong_calls", tc);
	char line[128];
	snprintf(line, sizeof line, "rm -rf %s", folder);
	return system(line) != 0 || failed;
}
