/*
 * libFuzzer: records from strangers.  The bytes are a log that is imported, and, since nobody guesses
 * a hash, a record that is sealed first: then what record_read takes is stored, found, exported as it
 * was, and leaves the database sound.
 */
#include "fuzz.h"
#include "db/db.h"

#include <string.h>

/* A database in memory with one record of each kind that runs name; anew now and then. */
static Db *world(void)
{
	enum { RUNS = 2000 };
	static Db *db;
	static int runs;
	if (db != NULL && runs++ % RUNS != 0)
		return db;
	static const char target[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\"}";
	static const char workload[] = "dag t\nin x: f32[2,8]\ny: f32[2,8] = relu(x)\nout y\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	Hash id;
	SessionInfo s = { "dlc", "random", "m", 1, 1700000000, NULL, 0, 0 };
	int64_t records;
	must(db == NULL || db_check(db, &records, &err));
	db_close(db);
	db = db_open(":memory:", DB_WRITE, &err);
	must(db != NULL && target_parse(&t, "t", target, sizeof target - 1, 1, &err));
	Task *task = task_new(a, dag_parse(a, "t", workload, sizeof workload - 1, &err), &err);
	must(task != NULL && db_put_task(db, task, &err) && db_put_target(db, &t, &id, &err) &&
		 db_put_env(db, 7, "llvm", NULL, NULL, &id, &err) && db_put_session(db, &s, &id, &err));
	arena_free(a);
	return db;
}

/* A line that the export should have. */
typedef struct Sought {
	const char *line;
	bool found;
} Sought;

static bool seek(const char *line, size_t n, void *arg)
{
	Sought *s = arg;
	s->found |= n == strlen(s->line) && memcmp(line, s->line, n) == 0;
	return true;
}

static void import_sealed(Db *db, Arena *a, const uint8_t *data, size_t size)
{
	Err err = { 0 };
	Hash id;
	const char *line;
	Record r;
	Json *o = json_parse(a, "fuzz", (const char *)data, size, &err);
	if (o == NULL || o->kind != JV_OBJECT || json_find(o, "id") != NULL || !record_seal(a, o, &id, &line, &err))
		return;
	if (!record_read(a, "sealed", line, strlen(line), &r, &err)) {
		must(err.code != ERR_NONE);
		return;
	}
	ImportCount count = { 0 };
	must(memcmp(&r.id, &id, sizeof id) == 0 && db_import(db, "sealed", line, strlen(line), &count, &err));
	must(count.taken + count.known + count.refused == 1);
	Sought s = { line, false };
	must(db_export(db, seek, &s, &err) && s.found == (count.refused == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Db *db = world();
	ImportCount count = { 0 };
	must(db_import(db, "fuzz", (const char *)data, size, &count, &err));
	import_sealed(db, a, data, size);
	arena_free(a);
	return 0;
}
