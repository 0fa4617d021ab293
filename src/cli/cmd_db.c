/* dlc db: looks into a tuning database, takes records out and in. The larger verbs have files of their own. */
#include "cli/cmd_db.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/model.h"
#include "cli/folders.h"
#include "codegen/codegen.h"
#include "cost_model/roof.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_BYTES ((size_t)1 << 31)
static const char DATABASE[] = "SQLite format 3"; /* what such a file begins with, its zero byte included */

/* ---- shared */

Db *db_operand(const Args *args, DbMode mode, Err *err)
{
	const char *path = args_operand(args, 0);
	if (path == NULL)
		path = place_tuning_db(args_arena(args), err);
	return path != NULL ? database_open(args_arena(args), path, mode, err) : NULL;
}

bool db_find_one(Db *db, const char *prefix, RecordKind kind, RecordName *out, Err *err)
{
	enum { NAMED = 20 };
	RecordName found[NAMED];
	int n;
	const char *what = kind == RECORD_KINDS ? "record" : record_kind_name(kind);
	if (!db_find(db, prefix, kind, found, NAMED, &n, err))
		return false;
	if (n == 1) {
		*out = found[0];
		return true;
	}
	if (n == 0)
		return fail(err, ERR_MISSING, prefix, "no %s has an id that begins so", what);
	fail(err, ERR_MISSING, prefix, "the ids of %s%d %ss begin so:", n == NAMED ? "at least " : "", n, what);
	for (int i = 0; i < n; i++) {
		char hex[HASH_HEX];
		hash_hex(found[i].id, hex);
		err_add_item(err, "  %.12s  %s", hex, record_kind_name(found[i].kind));
	}
	return false;
}

const char *db_printable(Arena *a, const char *text)
{
	char *copy = arena_printf(a, "%s", text);
	text_make_printable(copy, "");
	return copy;
}

const char *db_label(Db *db, Hash workload, Arena *a, Task **task)
{
	const char *dag;
	const Record *r = db_record(db, workload, NULL, a, NULL);
	Task *t = r != NULL && json_str(r->json, "dag", &dag, NULL) ? task_parse(a, dag, strlen(dag), NULL) : NULL;
	if (task != NULL)
		*task = t;
	return t != NULL ? t->label : "?";
}

int db_target_threads(Db *db, Hash target, Arena *a)
{
	int64_t threads = 0;
	const Record *r = db_record(db, target, NULL, a, NULL);
	return r != NULL && json_int(r->json, "threads", 1, TARGET_THREADS, &threads, NULL) ? (int)threads : 0;
}

const char *db_target_name(Db *db, Hash target, Arena *a)
{
	const char *type, *model;
	const Record *r = db_record(db, target, NULL, a, NULL);
	if (r == NULL || !json_str(r->json, "type", &type, NULL) || !json_str(r->json, "model", &model, NULL))
		return "-";
	return arena_printf(a, "%.16s:%.32s t%d", db_printable(a, type), db_printable(a, model),
		db_target_threads(db, target, a));
}

bool db_best_any(Db *db, const DbTask *t, DbChoice *out, int *epoch, Arena *a, Err *err)
{
	enum { EPOCHS = 8 };
	int known[EPOCHS + 1] = { CODEGEN_EPOCH }, n, found = 0;
	DbKey key = { .workload = t->workload, .target = t->target, .floor_ns = ROOF_LEAST_NS /* what the target could do is not asked here */ };
	DbSet set = { &db, 1 };
	if (!db_epochs(set, t->workload, t->target, CODEGEN_EPOCH, known + 1, EPOCHS, &n, err))
		return false;
	for (int i = 0; i <= n && found == 0; i++) {
		key.epoch = *epoch = known[i];
		if (!db_rank(set, &key, out, 1, &found, a, err))
			return false;
	}
	return found != 0;
}

/* ---- export, import, check, retract */

static bool put_line(const char *line, size_t n, void *arg)
{
	(void)arg;
	return fwrite(line, 1, n, stdout) == n && putchar('\n') == '\n';
}

static bool run_export(const Args *args, Err *err)
{
	Db *db = db_operand(args, DB_READ, err);
	const char *prefix = args_operand(args, 1);
	RecordName task;
	bool ok = db != NULL;
	if (ok && prefix == NULL)
		ok = db_export(db, put_line, NULL, err);
	else if (ok)
		ok = db_find_one(db, prefix, RECORD_WORKLOAD, &task, err) && db_export_task(db, task.id, put_line, NULL, err);
	db_close(db);
	return ok;
}

/* What an import is into; opened when there is a record to put, so that one that fails makes no file. */
typedef struct Into {
	Arena *arena; /* the process's */
	const char *path;
	Db *db;
	ImportCount count;
} Into;

/* Counts what is wrong with a text that holds no record at all. */
static bool refuse_all(Into *in, const char *name, const char *text, size_t n, Err *err)
{
	Db *nowhere = db_open_memory(err);
	bool ok = nowhere != NULL && db_import(nowhere, name, text, n, &in->count, err);
	db_close(nowhere);
	return ok;
}

static bool import_text(Into *in, const char *name, const char *text, size_t n, Err *err)
{
	if (in->db == NULL && access(in->path, F_OK) != 0 && !db_is_log(text, n))
		return refuse_all(in, name, text, n, err);
	if (in->db == NULL)
		in->db = database_open(in->arena, in->path, DB_WRITE, err);
	return in->db != NULL && db_import(in->db, name, text, n, &in->count, err);
}

static bool add_line(const char *line, size_t n, void *arg)
{
	text_put(arg, line, n);
	text_put(arg, "\n", 1);
	return true;
}

/* The lines of another database, which is closed before this one is written: they may be the same file. */
static bool import_database(Into *in, Arena *a, const char *path, Err *err)
{
	Text lines = { .arena = a };
	Db *from = database_open(in->arena, path, DB_READ, err);
	bool ok = from != NULL && db_export(from, add_line, &lines, err);
	in->count.refused += ok ? db_lost(from) : 0;
	db_close(from);
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

/* The logs of a folder, *.jsonl, by name. */
static bool import_folder(Into *in, Arena *a, const char *path, Err *err)
{
	VEC(const char *) log = { 0 };
	DIR *d = opendir(path);
	if (d == NULL)
		return fail(err, ERR_DEVICE, path, "the folder cannot be read: %s", strerror(errno));
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		size_t n = strlen(e->d_name);
		if (n > 6 && strcmp(e->d_name + n - 6, ".jsonl") == 0)
			vec_push(a, &log, arena_printf(a, "%s/%s", path, e->d_name));
	}
	closedir(d);
	if (log.n > 1)
		qsort(log.at, log.n, sizeof *log.at, by_name);
	for (size_t i = 0; i < log.n; i++)
		if (!import_file(in, a, log.at[i], err))
			return false;
	return log.n > 0 || fail(err, ERR_INPUT, path, "the folder holds no logs (*.jsonl)");
}

static bool import_one(Into *in, const char *path, Err *err)
{
	struct stat st;
	Arena *a = arena_new(); /* a log is large, and needed once */
	bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	bool ok = folder ? import_folder(in, a, path, err) : import_file(in, a, path, err);
	arena_free(a);
	return ok;
}

static bool run_import(const Args *args, Err *err)
{
	Into in = { .arena = args_arena(args), .path = args_operand(args, 0) };
	const ImportCount *count = &in.count;
	/* A database that is there is looked at first: if it cannot be written, that is what is wrong. */
	bool ok = access(in.path, F_OK) != 0 || (in.db = database_open(in.arena, in.path, DB_WRITE, err)) != NULL;
	for (int i = 1; ok && i < args_count(args); i++)
		ok = import_one(&in, args_operand(args, i), err);
	if (ok && in.db == NULL && count->refused == 0) /* of empty logs: that is no failure */
		ok = (in.db = database_open(in.arena, in.path, DB_WRITE, err)) != NULL;
	db_close(in.db);
	if (!ok)
		return false;
	printf("%lld new, %lld known, %lld skipped\n", (long long)count->taken, (long long)count->known,
		(long long)count->refused);
	if (count->refused != 0 && count->taken + count->known == 0)
		return fail(err, ERR_INPUT, "", "no line was usable; the first: %s", count->first);
	if (count->refused != 0)
		fprintf(stderr, "dlc: skipped %lld lines; the first: %s\n", (long long)count->refused, count->first);
	return true;
}

static bool run_check(const Args *args, Err *err)
{
	int64_t records = 0;
	Db *db = db_operand(args, DB_READ, err);
	bool ok = db != NULL && db_check(db, &records, err);
	db_close(db);
	if (ok)
		printf("%lld records, all sound\n", (long long)records);
	return ok;
}

static bool run_retract(const Args *args, Err *err)
{
	RecordName run;
	char hex[HASH_HEX];
	Db *db = db_operand(args, DB_WRITE, err);
	bool ok = db != NULL && db_find_one(db, args_operand(args, 1), RECORD_RUN, &run, err) &&
		db_put_retraction(db, run.id, args_text(args, "reason", "by hand"), err);
	db_close(db);
	if (ok) {
		hash_hex(run.id, hex);
		printf("retracted %s\n", hex);
	}
	return ok;
}

static const Option no_options[] = { OPTION_END };
static const Option retract_options[] = {
	{ .name = "reason", .kind = OPT_TEXT, .arg = "TEXT", .help = "why, for those who read the record" },
	OPTION_END,
};

static const Verb db_export_verb = { .name = "export",
	.summary = "Print all records, or those of a task, one line each, what a line names before it",
	.operands = "[DB [TASK]]", .least = 0, .most = 2, .options = no_options, .run = run_export };
static const Verb db_import_verb = { .name = "import",
	.summary = "Take records from logs, folders of logs, databases, or - for stdin; bad lines are skipped and counted",
	.operands = "DB LOG...", .least = 2, .most = -1, .options = no_options, .run = run_import };
static const Verb db_check_verb = { .name = "check", .summary = "Check structure and the hash of every record",
	.operands = "[DB]", .least = 0, .most = 1, .options = no_options, .run = run_check };
const Verb db_retract_verb = { .name = "retract", .summary = "Say that a run shall not count; it stays, with the reason",
	.operands = "DB RUN", .least = 2, .most = 2, .options = retract_options, .run = run_retract };

static const Verb *const subs[] = { &db_list_verb, &db_show_verb, &db_best_verb, &db_stats_verb, &db_log_verb, &db_check_verb,
	&db_verify_verb, &db_retract_verb, &db_export_verb, &db_import_verb, NULL };

const Verb cmd_db = { .name = "db", .summary = "Look into a tuning database, take records out and in", .sub = subs };
