/* dlc db verify: records are claims; this tries them, and prints what became of each. */
#include "cli/cmd_db.h"

#include <signal.h>
#include <stdio.h>

static DlcSession *running; /* cancelled by signals */

static void on_stop(int sig)
{
	(void)sig;
	dlc_session_cancel(running, 1);
}

static void print_json(const DlcVerdict *t)
{
	Arena *a = arena_new();
	Json *o = json_new(a, JV_OBJECT);
	json_set(a, o, "record", json_new_text(a, t->record));
	json_set(a, o, "workload", json_new_text(a, t->task));
	json_set(a, o, "op", json_new_text(a, t->label));
	json_set(a, o, "good", json_new_bool(a, t->good));
	json_set(a, o, "status", json_new_text(a, t->status));
	json_set(a, o, "max_err_e9", json_new_int(a, t->max_err_e9));
	json_set(a, o, "recorded_ns", json_new_int(a, t->recorded_ns));
	json_set(a, o, "median_ns", json_new_int(a, t->median_ns));
	json_set(a, o, "detail", json_new_text(a, t->detail));
	db_print_object(a, o);
	arena_free(a);
}

static int print_row(const DlcVerdict *t, void *arg)
{
	const bool *json = arg;
	if (*json) {
		print_json(t);
	} else if (t->good) {
		printf("good   %.12s  %-38.38s %9.4f ms, recorded %9.4f", t->record, t->label, (double)t->median_ns / 1e6,
			(double)t->recorded_ns / 1e6);
		if (t->against > 0)
			printf("; %d session%s saw it fail", t->against, t->against == 1 ? "" : "s");
		putchar('\n');
	} else {
		printf("WRONG  %.12s  %-38.38s %s: %s\n", t->record, t->label, t->status, t->detail);
	}
	fflush(stdout);
	return 0;
}

static bool run_verify(const Args *args, Err *err)
{
	char text[DLC_TARGET_TEXT];
	bool json = args_given(args, "json"), retract = args_given(args, "retract");
	Opened o = { 0 };
	DlcVerify v = { .target = args_text(args, "target", "host"),
		.task = args_operand(args, 1),
		.all = args_given(args, "all"),
		.retract = retract,
		.each = print_row,
		.arg = &json };
	o.session = session_open(err);
	bool ok = o.session != NULL &&
		dlc_target_text(o.session, &(DlcTarget){ .name = v.target }, 1, text, failure_of(err)) == DLC_FAULT_NONE &&
		database_open(o.session, args_operand(args, 0), retract ? DLC_WRITE : DLC_READ, &o.db, err);
	if (ok) {
		struct sigaction stop = { .sa_handler = on_stop };
		running = o.session;
		sigaction(SIGINT, &stop, NULL);
		sigaction(SIGTERM, &stop, NULL);
		ok = dlc_database_verify(o.db, &v, failure_of(err)) == DLC_FAULT_NONE;
	}
	dlc_database_close(o.db);
	if (running == NULL) /* else a signal may still come */
		dlc_session_close(o.session);
	if (!ok)
		return false;
	fprintf(json ? stderr : stdout, "%lld good, %lld wrong, %lld retracted, %lld for other targets\n",
		(long long)v.good, (long long)v.bad, (long long)v.retracted, (long long)v.elsewhere);
	return v.bad == v.retracted ||
		fail(err, ERR_INPUT, "", "%lld run%s not what the database says; --retract takes them out", (long long)v.bad,
			v.bad == 1 ? " is" : "s are");
}

static const Option options[] = {
	OPTION_TARGET,
	{ .name = "all", .kind = OPT_FLAG, .help = "every verified run, not only the best of each task" },
	{ .name = "retract", .kind = OPT_FLAG, .help = "retract the runs that are wrong" },
	OPTION_JSON,
	OPTION_END,
};

const Verb db_verify_verb = { .name = "verify",
	.summary = "Try records: replay, compile, run and compare with the oracle",
	.operands = "[DB [TASK]]", .least = 0, .most = 2, .options = options, .run = run_verify };
