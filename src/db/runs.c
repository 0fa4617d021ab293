/*
 * Reads single runs, and all runs of a Task.  Statements that belong together run in one transaction: else each would
 * take and release the file's locks.
 */
#include "db/rank.h"
#include "db/sql.h"

#include <string.h>

/* ---- one moment ---- */

bool db_hold(DbSet set, Err *err)
{
	for (int i = 0; i < set.n; i++) {
		if (set.db[i]->held == 0 && !sql_run(set.db[i], SQL_HOLD, err)) {
			db_release((DbSet){ set.db, i });
			return false;
		}
		set.db[i]->held++;
	}
	return true;
}

void db_release(DbSet set)
{
	for (int i = 0; i < set.n; i++)
		if (--set.db[i]->held == 0)
			sql_run(set.db[i], SQL_COMMIT, NULL);
}

/* ---- retractions ---- */

bool db_retracted(DbSet set, Hash run, bool own, bool *is, Err *err)
{
	*is = false;
	for (int i = 0; i < set.n && !*is; i++) {
		Db *db = set.db[i];
		bool row, ok;
		sqlite3_stmt *st = sql_get(db, SQL_IS_RETRACTED, err);
		if (st == NULL)
			return false;
		sql_bind_hash(st, 1, run);
		while ((ok = sql_next(db, st, &row, err)) && row && !*is) {
			Hash id;
			*is = !own ||
				(sql_hash(st, 1, &id) && sqlite3_column_int64(st, 0) == owner_seal_retraction(db, id, run));
		}
		sqlite3_reset(st);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- runs ---- */

static bool is_own(const Db *db, const RunRecord *run, int64_t seal)
{
	RunRow row = sql_row_of(run);
	return seal != 0 && seal == owner_seal_run(db, &row);
}

/* A row of SQL_RUNS: the record, which must be what the index says it is; *gone: it is retracted. */
static bool read_run(Db *db, Arena *a, sqlite3_stmt *st, Hash workload, Hash target, RunRecord *out, bool *gone,
	Err *err)
{
	if (!sql_read_run(db, a, st, 0, 1, out, err))
		return false;
	if (memcmp(&out->workload, &workload, sizeof workload) != 0 ||
		memcmp(&out->target, &target, sizeof target) != 0)
		return fail(err, ERR_INPUT, db->path, "%s", sql_index_lies);
	out->own = is_own(db, out, sqlite3_column_int64(st, 2));
	*gone = sqlite3_column_int(st, 3) != 0;
	return !*gone || !out->own || db_retracted((DbSet){ &db, 1 }, out->id, true, gone, err);
}

bool db_each_run(Db *db, Hash workload, Hash target, int codegen_epoch, RunFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_RUNS, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	sqlite3_bind_int(st, 3, codegen_epoch);
	bool ok = true, row;
	while ((ok = sql_next(db, st, &row, err)) && row) {
		Arena *a = arena_new();
		RunRecord run;
		bool gone;
		ok = read_run(db, a, st, workload, target, &run, &gone, err);
		bool more = ok && (gone || f(&run, arg));
		arena_free(a);
		if (!more)
			break;
	}
	sqlite3_reset(st);
	return ok;
}

const RunRecord *db_best(Db *db, Hash workload, Hash target, int codegen_epoch, Arena *a, Err *err)
{
	DbKey key = { .workload = workload, .target = target, .epoch = codegen_epoch };
	DbChoice *c = arena_new_of(a, DbChoice);
	int n;
	return db_rank((DbSet){ &db, 1 }, &key, c, 1, &n, a, err) && n == 1 ? &c->run : NULL;
}

const RunRecord *db_run(DbSet set, Hash id, Arena *a, Err *err)
{
	RunRecord *found = NULL;
	for (int i = 0; i < set.n && (found == NULL || !found->own); i++) {
		bool there;
		RunRecord *run = arena_new_of(a, RunRecord);
		sqlite3_stmt *st = sql_get(set.db[i], SQL_GET_RUN, err);
		if (st == NULL)
			return NULL;
		sql_bind_hash(st, 1, id);
		if (!sql_next(set.db[i], st, &there, err))
			return NULL;
		if (!there)
			continue;
		bool ok = sql_read_run(set.db[i], a, st, 0, 1, run, err);
		if (ok)
			run->own = is_own(set.db[i], run, sqlite3_column_int64(st, 2 /* the row's seal */));
		sqlite3_reset(st);
		if (!ok)
			return NULL;
		found = run;
	}
	return found;
}
