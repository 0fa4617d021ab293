/* dlc db report: the records of a session as a page, like that of dlc tune --report. */
#include "base/file.h"
#include "cli/cmd_db.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Output {
	const char *path; /* NULL: standard output */
	Err *err;
} Output;

/* Standard output is looked at when all is done. */
static int write_page(const char *page, size_t n, void *arg)
{
	const Output *o = arg;
	if (o->path == NULL)
		fwrite(page, 1, n, stdout);
	else
		file_write(o->path, page, n, o->err);
	return 0;
}

static bool run_report(const Args *args, Err *err)
{
	Output out = { .path = args_text(args, "output", NULL), .err = err };
	Err why = { 0 };
	Opened o;
	if (out.path != NULL && strcmp(out.path, "-") == 0)
		out.path = NULL;
	else if (out.path == NULL && isatty(STDOUT_FILENO))
		return fail(err, ERR_USAGE, "--output", "say where the page goes: -o FILE.html");
	bool ok = db_open_operand(args, DLC_READ, &o, err);
	if (ok && out.path != NULL && file_is_same(out.path, dlc_database_path(o.db)))
		ok = fail(err, ERR_USAGE, out.path, "is the database, which would be overwritten; name another output");
	ok = ok && (dlc_database_report(o.db, args_text(args, "session", NULL), write_page, &out, failure_of(&why)) ==
				   DLC_FAULT_NONE);
	if (why.code != ERR_NONE)
		*err = why;
	db_close_operand(&o);
	return ok && err->code == ERR_NONE;
}

static const Option options[] = {
	{ .name = "session",
		.kind = OPT_TEXT,
		.arg = "ID",
		.help = "beginning of a session's id (default: the newest one)" },
	{ .name = "output", .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .help = "the page; - or no option: stdout" },
	OPTION_END,
};

const Verb db_report_verb = { .name = "report",
	.summary = "A page about a session, as dlc tune --report writes it",
	.operands = "[DB]",
	.least = 0,
	.most = 1,
	.options = options,
	.run = run_report };
