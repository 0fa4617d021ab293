/* dlc db: looks into a tuning database, takes records out and in. */
#include "base/file.h"
#include "base/json.h"
#include "cli/model.h"
#include "cli/places.h"

#include <stdio.h>
#include <string.h>

#define LOG_BYTES ((size_t)1 << 31)

/* The database named by operand i, or the default one. */
static Db *open_db(const Args *args, int i, DbMode mode, Err *err)
{
	const char *path = args_operand(args, i);
	if (path == NULL)
		path = place_tuning_db(args_arena(args), err);
	return path != NULL ? db_open(path, mode, err) : NULL;
}

static bool put_line(const char *line, size_t n, void *arg)
{
	(void)arg;
	return fwrite(line, 1, n, stdout) == n && putchar('\n') == '\n';
}

static bool run_export(const Args *args, Err *err)
{
	Db *db = open_db(args, 0, DB_READ, err);
	bool ok = db != NULL && db_export(db, put_line, NULL, err);
	db_close(db);
	return ok;
}

static bool import_file(Db *db, Arena *a, const char *path, ImportCount *count, Err *err)
{
	Bytes file;
	bool in = strcmp(path, "-") == 0;
	if (in ? !file_read_fd(a, 0, "standard input", LOG_BYTES, &file, err) : !file_read(a, path, LOG_BYTES, &file, err))
		return false;
	return db_import(db, path, (const char *)file.at, file.n, count, err);
}

static bool run_import(const Args *args, Err *err)
{
	ImportCount count = { 0 };
	Db *db = open_db(args, 0, DB_WRITE, err);
	bool ok = db != NULL;
	for (int i = 1; ok && i < args_count(args); i++)
		ok = import_file(db, args_arena(args), args_operand(args, i), &count, err);
	db_close(db);
	if (!ok)
		return false;
	printf("%lld new, %lld known, %lld skipped\n", (long long)count.taken, (long long)count.known,
		(long long)count.refused);
	if (count.refused != 0 && count.taken + count.known == 0)
		return fail(err, ERR_INPUT, "", "no line was usable; the first: %s", count.first);
	if (count.refused != 0)
		fprintf(stderr, "dlc: skipped %lld lines; the first: %s\n", (long long)count.refused, count.first);
	return true;
}

static bool run_check(const Args *args, Err *err)
{
	int64_t records = 0;
	Db *db = open_db(args, 0, DB_READ, err);
	bool ok = db != NULL && db_check(db, &records, err);
	db_close(db);
	if (ok)
		printf("%lld records, all sound\n", (long long)records);
	return ok;
}

static const Option no_options[] = { OPTION_END };

static const Verb db_export_verb = { .name = "export", .summary = "Print all records, one line each, what a line names before it",
	.operands = "[DB]", .least = 0, .most = 1, .options = no_options, .run = run_export };
static const Verb db_import_verb = { .name = "import", .summary = "Take records from logs (or - for stdin); bad lines are skipped and counted",
	.operands = "DB LOG...", .least = 2, .most = -1, .options = no_options, .run = run_import };
static const Verb db_check_verb = { .name = "check", .summary = "Check structure and the hash of every record",
	.operands = "[DB]", .least = 0, .most = 1, .options = no_options, .run = run_check };

static const Verb *const subs[] = { &db_check_verb, &db_export_verb, &db_import_verb, NULL };

const Verb cmd_db = { .name = "db", .summary = "Look into a tuning database, take records out and in", .sub = subs };
