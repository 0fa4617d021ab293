/* See look.h: counts and lines for people, read from the index. */
#include "db/look.h"

#include "base/map.h"
#include "db/sql.h"

#include <string.h>

static int64_t column(sqlite3_stmt *st, int i)
{
	return sqlite3_column_int64(st, i);
}

bool db_each_task(Db *db, DbTaskFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_EACH_TASK, err);
	bool row, ok;
	if (st == NULL)
		return false;
	while ((ok = sql_next(db, st, &row, err)) && row) {
		DbTask t = { .runs = column(st, 2),
			.ok = column(st, 3),
			.sessions = column(st, 4),
			.epoch = (int)column(st, 5) };
		if (!sql_hash(st, 0, &t.workload))
			continue;
		sql_hash(st, 1, &t.target);
		if (!f(&t, arg))
			break;
	}
	sqlite3_reset(st);
	return ok;
}

bool db_each_pair(Db *db, DbPairFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_EACH_PAIR, err);
	bool row, ok;
	Hash workload, target;
	if (st == NULL)
		return false;
	while ((ok = sql_next(db, st, &row, err)) && row)
		if (sql_hash(st, 0, &workload) && sql_hash(st, 1, &target) && !f(workload, target, arg))
			break;
	sqlite3_reset(st);
	return ok;
}

bool db_each_session(Db *db, DbSessionFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_EACH_SESSION, err);
	bool row, ok;
	if (st == NULL)
		return false;
	while ((ok = sql_next(db, st, &row, err)) && row) {
		DbSession s = { .runs = column(st, 1), .ok = column(st, 2) };
		if (sql_hash(st, 0, &s.id) && !f(&s, arg))
			break;
	}
	sqlite3_reset(st);
	return ok;
}

/* Adds the counts of rows (number, count) to the array. */
static bool count(Db *db, SqlId id, int64_t *out, int n, Err *err)
{
	sqlite3_stmt *st = sql_get(db, id, err);
	bool row, ok;
	if (st == NULL)
		return false;
	while ((ok = sql_next(db, st, &row, err)) && row)
		if (column(st, 0) >= 0 && column(st, 0) < n)
			out[column(st, 0)] += column(st, 1);
	return ok;
}

bool db_stats(Db *db, DbStats *out, Err *err)
{
	*out = (DbStats){ 0 };
	if (!count(db, SQL_COUNT_KINDS, out->records, RECORD_KINDS, err) ||
		!count(db, SQL_COUNT_STATUS, out->status, RUN_STATUS_COUNT, err))
		return false;
	sqlite3_stmt *st = sql_get(db, SQL_SIZES, err);
	bool row;
	if (st == NULL || !sql_next(db, st, &row, err))
		return false;
	if (row) {
		out->line_bytes = column(st, 0);
		out->file_bytes = column(st, 1);
	}
	sqlite3_reset(st);
	return true;
}

const Record *db_record(Db *db, Hash id, const char **line, Arena *a, Err *err)
{
	Record *r = arena_new_of(a, Record);
	sqlite3_stmt *st = sql_get(db, SQL_GET_RECORD, err);
	bool row, ok = false;
	if (st == NULL)
		return NULL;
	sql_bind_hash(st, 1, id);
	if (!sql_next(db, st, &row, err) || !row)
		return NULL;
	ok = sql_read_record(db, a, st, 0, 1, r, err);
	if (ok && line != NULL)
		*line = arena_printf(a, "%s", (const char *)sqlite3_column_text(st, 0));
	sqlite3_reset(st);
	return ok ? r : NULL;
}

bool db_find(Db *db, const char *prefix, RecordKind kind, RecordName *out, int most, int *n, Err *err)
{
	char low[HASH_HEX] = "00000000000000000000000000000000", high[HASH_HEX] = "ffffffffffffffffffffffffffffffff";
	size_t digits = strnlen(prefix, HASH_HEX);
	Hash lo, hi; /* the smallest and largest id that begins so */
	*n = 0;
	if (digits < HASH_HEX) {
		memcpy(low, prefix, digits);
		memcpy(high, prefix, digits);
	}
	if (digits == 0 || digits == HASH_HEX || !hash_parse(low, &lo) || !hash_parse(high, &hi))
		return fail(err, ERR_MISSING, prefix, "cannot begin an id: an id has 1 to 32 digits 0-9a-f");
	sqlite3_stmt *st = sql_get(db, SQL_FIND, err);
	bool row, ok;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, lo);
	sql_bind_hash(st, 2, hi);
	sqlite3_bind_int(st, 3, kind == RECORD_KINDS ? -1 : (int)kind);
	while ((ok = sql_next(db, st, &row, err)) && row && *n < most) {
		int64_t k = column(st, 1);
		if (k >= 0 && k < RECORD_KINDS && sql_hash(st, 0, &out[*n].id))
			out[(*n)++].kind = (RecordKind)k;
	}
	sqlite3_reset(st);
	return ok;
}

/* The figures that one environment record has of a CPU; false: none. */
static bool read_core(Db *db, Hash id, const char *cpu, Core *out, Err *err)
{
	Arena *a = arena_new();
	const char *whose;
	const Record *r = db_record(db, id, NULL, a, err);
	const Json *core = r != NULL ? json_find(r->json, "core") : NULL;
	bool is = core != NULL && json_str(r->json, "cpu", &whose, NULL) && strcmp(whose, cpu) == 0 &&
		core_read_record(out, core, NULL); /* another one's may be out of bounds */
	arena_free(a);
	return is;
}

bool db_core(DbSet set, const char *cpu, Core *out, bool *there, Err *err)
{
	enum { ENVIRONMENTS = 1000 };
	static const char digits[] = "0123456789abcdef";
	RecordName name[ENVIRONMENTS];
	*there = false;
	for (int i = 0; i < set.n && !*there; i++)
		for (int k = 0; k < 16 && !*there; k++) { /* all ids begin with one of them */
			int n;
			if (!db_find(set.db[i], (char[]){ digits[k], 0 }, RECORD_ENVIRONMENT, name, ENVIRONMENTS, &n, err))
				return false;
			for (int j = 0; j < n && !*there; j++)
				*there = read_core(set.db[i], name[j].id, cpu, out, err);
			if (err != NULL && err->code != ERR_NONE)
				return false;
		}
	return true;
}

bool db_each_verified(Db *db, Hash workload, Hash target, RunFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_VERIFIED, err);
	bool row, ok;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	while ((ok = sql_next(db, st, &row, err)) && row) {
		Arena *a = arena_new();
		RunRecord run;
		ok = sql_read_run(db, a, st, 0, 1, &run, err);
		bool more = ok && f(&run, arg);
		arena_free(a);
		if (!more)
			break;
	}
	sqlite3_reset(st);
	return ok;
}

/* A row of the index, and whose it is; false: no run has such numbers. */
static bool read_verified(const Db *db, sqlite3_stmt *st, DbVerified *out)
{
	int64_t seal = column(st, 7), stage = column(st, 4), epoch = column(st, 5);
	RunRow row = { .status = RUN_OK, .verified = 1, .stage = stage, .ns = column(st, 3), .samples = column(st, 6),
		.trace = column(st, 2) };
	if (!sql_hash(st, 0, &row.id) || !sql_hash(st, 1, &row.session) || row.ns < 1 || stage < 0 ||
		stage >= STAGE_COUNT || epoch < 0 || epoch > INT32_MAX)
		return false;
	*out = (DbVerified){ row.id, row.session, row.trace, row.ns, (RunStage)stage, (int)epoch,
		seal != 0 && seal == owner_seal_run(db, &row) };
	return true;
}

bool db_each_indexed(Db *db, Hash workload, Hash target, DbVerifiedFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_VERIFIED_INDEX, err);
	bool row, ok;
	DbVerified run;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	while ((ok = sql_next(db, st, &row, err)) && row) {
		ok = read_verified(db, st, &run) || fail(err, ERR_INPUT, db->path, "%s", sql_index_lies);
		if (!ok || !f(&run, arg))
			break;
	}
	sqlite3_reset(st);
	return ok;
}

const char *db_trace_of(Db *db, Hash run, int64_t number, Arena *a, Err *err)
{
	const char *trace = NULL;
	const Record *r = db_record(db, run, NULL, a, err);
	bool ok = r != NULL && json_str(r->json, "trace", &trace, NULL) && db_trace_number(trace) == number;
	if (!ok && (err == NULL || err->code == ERR_NONE))
		fail(err, ERR_INPUT, db->path, "%s", sql_index_lies);
	return ok ? trace : NULL;
}

/* ---- the lines of one task ---- */

/* The task's runs and what they name. */
static bool mark_runs(Db *db, Hash workload, Map *ids, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_OF_WORKLOAD, err);
	bool row, ok;
	if (st == NULL)
		return false;
	map_add_bytes(ids, &workload, sizeof workload);
	sql_bind_hash(st, 1, workload);
	while ((ok = sql_next(db, st, &row, err)) && row) {
		Arena *a = arena_new();
		RunRecord run;
		ok = sql_read_run(db, a, st, 0, 1, &run, err);
		const Hash named[] = { run.id, run.target, run.env, run.session };
		for (int i = 0; ok && i < 4; i++)
			map_add_bytes(ids, &named[i], sizeof named[i]);
		arena_free(a);
		if (!ok)
			break;
	}
	sqlite3_reset(st);
	return ok;
}

typedef struct Part {
	Db *db;
	const Map *ids; /* of marked records */
	DbLineFn f;
	void *arg;
} Part;

/* A line of a marked record, or a retraction of a marked run. */
static bool put_marked(const char *line, size_t n, void *arg)
{
	const Part *p = arg;
	Arena *a = arena_new();
	Record r;
	RecordName named[RECORD_NAMES];
	bool wanted = record_read(a, p->db->path, line, n, &r, NULL);
	if (wanted) {
		Hash id = r.kind == RECORD_RETRACTION && record_names(&r, named) == 1 ? named[0].id : r.id;
		wanted = map_find_bytes(p->ids, &id, sizeof id) != NULL;
	}
	arena_free(a);
	return !wanted || p->f(line, n, p->arg);
}

bool db_export_task(Db *db, Hash workload, DbLineFn f, void *arg, Err *err)
{
	Arena *a = arena_new();
	Map ids = MAP_OF(a);
	Part p = { db, &ids, f, arg };
	bool ok = mark_runs(db, workload, &ids, err) && db_export(db, put_marked, &p, err);
	arena_free(a);
	return ok;
}

/* ---- the best alone ---- */

typedef struct Best {
	Db *db;
	int most;
	int64_t floor_ns;
	Map *ids;
	Err *err;
} Best;

static bool mark_best(const DbTask *t, void *arg)
{
	const Best *b = arg;
	DbKey key = { .workload = t->workload, .target = t->target, .epoch = t->epoch, .floor_ns = b->floor_ns };
	if (t->epoch < 0)
		return true;
	Arena *a = arena_new();
	DbChoice *c = arena_array(a, DbChoice, b->most + 1);
	int n = 0;
	bool ok = db_rank((DbSet){ &b->db, 1 }, &key, c, b->most, &n, a, b->err);
	for (int i = 0; ok && i < n; i++) {
		const Hash named[] = { c[i].run.id, c[i].run.workload, c[i].run.target, c[i].run.env, c[i].run.session };
		for (size_t k = 0; k < sizeof named / sizeof *named; k++)
			map_add_bytes(b->ids, &named[k], sizeof named[k]);
	}
	arena_free(a);
	return ok;
}

bool db_export_best(Db *db, int most, int64_t floor_ns, DbLineFn f, void *arg, Err *err)
{
	Err why = { 0 };
	Arena *a = arena_new();
	Map ids = MAP_OF(a);
	Best b = { db, most, floor_ns, &ids, &why };
	Part p = { db, &ids, f, arg };
	bool ok = db_each_task(db, mark_best, &b, &why) && why.code == ERR_NONE;
	if (!ok && err != NULL)
		*err = why;
	ok = ok && db_export(db, put_marked, &p, err);
	arena_free(a);
	return ok;
}
