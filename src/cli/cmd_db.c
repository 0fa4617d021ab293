/* dlc db: looks into a tuning database. The verbs with more to them have files of their own. */
#include "cli/cmd_db.h"

#include <stdio.h>

/* ---- shared */

bool db_open_operand(const Args *args, DlcMode mode, Opened *out, Err *err)
{
	*out = (Opened){ .session = session_open(err) };
	return out->session != NULL && database_open(out->session, args_operand(args, 0), mode, &out->db, err);
}

void db_close_operand(Opened *o)
{
	dlc_database_close(o->db);
	dlc_session_close(o->session);
}

void db_print_object(Arena *a, const Json *o)
{
	Text out = { .arena = a };
	json_write(&out, o);
	puts(text_str(&out));
}

/* ---- check, retract */

static bool run_check(const Args *args, Err *err)
{
	int64_t records = 0;
	Opened o;
	bool ok = db_open_operand(args, DLC_READ, &o, err) &&
		dlc_database_check(o.db, &records, failure_of(err)) == DLC_FAULT_NONE;
	db_close_operand(&o);
	if (ok)
		printf("%lld records, all sound\n", (long long)records);
	return ok;
}

static bool run_retract(const Args *args, Err *err)
{
	char id[DLC_ID];
	Opened o;
	bool ok = db_open_operand(args, DLC_WRITE, &o, err) &&
		dlc_database_retract(o.db, args_operand(args, 1), args_text(args, "reason", "by hand"), id, failure_of(err)) ==
			DLC_FAULT_NONE;
	db_close_operand(&o);
	if (ok)
		printf("retracted %s\n", id);
	return ok;
}

static const Option no_options[] = { OPTION_END };
static const Option retract_options[] = {
	{ .name = "reason", .kind = OPT_TEXT, .arg = "TEXT", .help = "why, for those who read the record" },
	OPTION_END,
};

static const Verb db_check_verb = { .name = "check", .summary = "Check structure and the hash of every record",
	.operands = "[DB]", .least = 0, .most = 1, .options = no_options, .run = run_check };
static const Verb db_retract_verb = { .name = "retract",
	.summary = "Say that a run shall not count; it stays, with the reason",
	.operands = "DB RUN",
	.least = 2,
	.most = 2,
	.options = retract_options,
	.run = run_retract };

static const Verb *const subs[] = { &db_list_verb, &db_show_verb, &db_best_verb, &db_stats_verb, &db_log_verb,
	&db_report_verb, &db_check_verb, &db_verify_verb, &db_retract_verb, &db_export_verb, &db_import_verb,
	&db_train_verb, &db_model_verb, NULL };

const Verb cmd_db = { .name = "db", .summary = "Look into a tuning database, take records out and in", .sub = subs };
