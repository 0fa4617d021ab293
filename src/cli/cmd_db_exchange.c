/* dlc db export and import: records as lines, out of a database and into one. */
#include "base/file.h"
#include "cli/cmd_db.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_BYTES ((size_t)1 << 31)
static const char DATABASE[] = "SQLite format 3"; /* what such a file begins with, its zero byte included */

/* ---- export */

static int put_line(const char *line, size_t n, void *arg)
{
	bool ok = fwrite(line, 1, n, stdout) == n && putchar('\n') == '\n';
	(void)arg;
	return !ok; /* main says why */
}

static bool run_export(const Args *args, Err *err)
{
	Opened o;
	int best = (int)args_int(args, "best", 0);
	const char *task = args_operand(args, 1);
	if (best > 0 && task != NULL)
		return fail(err, ERR_USAGE, "--best", "is for whole databases: leave the task out");
	bool ok = db_open_operand(args, DLC_READ, &o, err) &&
		(best > 0 ? dlc_database_export_best(o.db, best, put_line, NULL, failure_of(err))
			  : dlc_database_export(o.db, task, put_line, NULL, failure_of(err))) == DLC_FAULT_NONE;
	db_close_operand(&o);
	return ok;
}

/* ---- import */

/* What an import is into; opened when there is a record to put, so that one that fails makes no file. */
typedef struct Into {
	DlcSession *session;
	const char *path;
	DlcDatabase *db;
	DlcImport count;
} Into;

static bool open_into(Into *in, Err *err)
{
	return in->db != NULL || database_open(in->session, in->path, DLC_WRITE, &in->db, err);
}

static bool import_text(Into *in, const char *name, const char *text, size_t n, Err *err)
{
	if (in->db == NULL && access(in->path, F_OK) != 0 && !dlc_database_is_log(text, n)) /* no record at all */
		return dlc_database_judge(in->session, name, text, n, &in->count, failure_of(err)) == DLC_FAULT_NONE;
	return open_into(in, err) &&
		dlc_database_import(in->db, name, text, n, &in->count, failure_of(err)) == DLC_FAULT_NONE;
}

static int add_line(const char *line, size_t n, void *arg)
{
	text_put(arg, line, n);
	text_put(arg, "\n", 1);
	return 0;
}

/* The lines of another database, which is closed before this one is written: they may be the same file. */
static bool import_database(Into *in, Arena *a, const char *path, Err *err)
{
	Text lines = { .arena = a };
	DlcDatabase *from;
	bool ok = database_open(in->session, path, DLC_READ, &from, err) &&
		dlc_database_export(from, NULL, add_line, &lines, failure_of(err)) == DLC_FAULT_NONE;
	in->count.skipped += ok ? dlc_database_lost(from) : 0;
	dlc_database_close(from);
	return ok && import_text(in, path, text_str(&lines), lines.n, err);
}

static bool is_database(const Bytes *file)
{
	return file->n >= sizeof DATABASE && memcmp(file->at, DATABASE, sizeof DATABASE) == 0;
}

static bool import_file(Into *in, Arena *a, const char *path, Err *err)
{
	Bytes file;
	if (strcmp(path, "-") != 0) {
		if (file_is_same(path, in->path)) /* to read it as a file would end the locks on it */
			return import_database(in, a, path, err);
		if (!file_read(a, path, LOG_BYTES, &file, err))
			return false;
		return is_database(&file) ? import_database(in, a, path, err)
					  : import_text(in, path, (const char *)file.at, file.n, err);
	}
	if (!file_read_fd(a, 0, "standard input", LOG_BYTES, &file, err))
		return false;
	return is_database(&file) ? fail(err, ERR_INPUT, "standard input", "is a database: name its file")
				  : import_text(in, path, (const char *)file.at, file.n, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The logs of a folder, *.jsonl and *.jsonl.gz, by name. */
static bool import_folder(Into *in, Arena *a, const char *path, Err *err)
{
	VEC(const char *) log = { 0 };
	DIR *d = opendir(path);
	if (d == NULL)
		return fail(err, ERR_DEVICE, path, "the folder cannot be read: %s", strerror(errno));
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		if (e->d_name[0] != '.' && (text_ends(e->d_name, ".jsonl") || text_ends(e->d_name, ".jsonl.gz")))
			vec_push(a, &log, arena_printf(a, "%s/%s", path, e->d_name));
	closedir(d);
	if (log.n > 1)
		qsort(log.at, log.n, sizeof *log.at, by_name);
	for (size_t i = 0; i < log.n; i++)
		if (!import_file(in, a, log.at[i], err))
			return false;
	return log.n > 0 || fail(err, ERR_INPUT, path, "the folder holds no logs (*.jsonl, *.jsonl.gz)");
}

static bool run_import(const Args *args, Err *err)
{
	Into in = { .session = session_open(err), .path = args_operand(args, 0) };
	const DlcImport *count = &in.count;
	/* A database that is there is looked at first: if it cannot be written, that is what is wrong. */
	bool ok = in.session != NULL && (access(in.path, F_OK) != 0 || open_into(&in, err));
	for (int i = 1; ok && i < args_count(args); i++) {
		struct stat st;
		const char *path = args_operand(args, i);
		Arena *a = arena_new(); /* a log is large, and needed once */
		bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
		ok = folder ? import_folder(&in, a, path, err) : import_file(&in, a, path, err);
		arena_free(a);
	}
	if (ok && in.db == NULL && count->skipped == 0) /* of empty logs: that is no failure */
		ok = open_into(&in, err);
	dlc_database_close(in.db);
	dlc_session_close(in.session);
	if (!ok)
		return false;
	printf("%lld new, %lld known, %lld skipped\n", (long long)count->added, (long long)count->present,
		(long long)count->skipped);
	if (count->skipped != 0 && count->added + count->present == 0)
		return fail(err, ERR_INPUT, "", "no line was usable; the first: %s", count->first);
	if (count->skipped != 0)
		fprintf(stderr, "dlc: skipped %lld lines; the first: %s\n", (long long)count->skipped, count->first);
	return true;
}

static const Option no_options[] = { OPTION_END };
static const Option export_options[] = {
	{ .name = "best",
		.kind = OPT_INT,
		.arg = "N",
		.lo = 1,
		.hi = 1000,
		.help = "only the N best schedules of each task and target" },
	OPTION_END,
};

const Verb db_export_verb = { .name = "export",
	.summary = "Print all records, or those of a task, one line each, what a line names before it",
	.operands = "[DB [TASK]]", .least = 0, .most = 2, .options = export_options, .run = run_export };
const Verb db_import_verb = { .name = "import",
	.summary = "Take records from logs, folders of logs, databases, or - for stdin; bad lines are skipped and counted",
	.operands = "DB LOG...", .least = 2, .most = -1, .options = no_options, .run = run_import };
