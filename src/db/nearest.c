/*
 * What a database knows beside a task's own runs of this epoch: other epochs, other targets, and the
 * workloads of its family, nearest first.
 */
#include "db/bound.h"
#include "db/rank.h"
#include "db/sql.h"

#include <math.h>
#include <string.h>

/* The newest epoch below `below` that any database has verified runs of; -1: none. */
static bool epoch_below(DbSet set, Hash workload, Hash target, int below, int *out, Err *err)
{
	*out = -1;
	for (int i = 0; i < set.n; i++) {
		sqlite3_stmt *st = sql_get(set.db[i], SQL_EPOCH_BELOW, err);
		bool row;
		if (st == NULL)
			return false;
		sql_bind_hash(st, 1, workload);
		sql_bind_hash(st, 2, target);
		sqlite3_bind_int(st, 3, below);
		if (!sql_next(set.db[i], st, &row, err))
			return false;
		if (row && sqlite3_column_int(st, 0) > *out)
			*out = sqlite3_column_int(st, 0);
		sqlite3_reset(st);
	}
	return true;
}

bool db_epochs(DbSet set, Hash workload, Hash target, int epoch, int *out, int most, int *n, Err *err)
{
	*n = 0;
	for (int below = INT32_MAX; *n < most;) {
		if (!epoch_below(set, workload, target, below, &below, err))
			return false;
		if (below < 0)
			return true;
		if (below != epoch)
			out[(*n)++] = below;
	}
	return true;
}

/* Adds what a statement of workload and target counts. */
static bool add_count(Db *db, sqlite3_stmt *st, const DbKey *key, int64_t *sum, Err *err)
{
	bool row;
	sql_bind_hash(st, 1, key->workload);
	sql_bind_hash(st, 2, key->target);
	if (!sql_next(db, st, &row, err))
		return false;
	*sum += row ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_reset(st);
	return true;
}

bool db_count_below(DbSet set, const DbKey *key, int64_t *below, Err *err)
{
	*below = 0;
	for (int i = 0; i < set.n; i++) {
		sqlite3_stmt *st = sql_get(set.db[i], SQL_COUNT_BELOW, err);
		if (st == NULL)
			return false;
		sqlite3_bind_int64(st, 3, key->floor_ns);
		if (!add_count(set.db[i], st, key, below, err))
			return false;
	}
	return true;
}

bool db_count_runs(DbSet set, const DbKey *key, int64_t *runs, Err *err)
{
	*runs = 0;
	for (int i = 0; i < set.n; i++) {
		sqlite3_stmt *st = sql_get(set.db[i], SQL_COUNT_RUNS, err);
		if (st == NULL || !add_count(set.db[i], st, key, runs, err))
			return false;
	}
	return true;
}

/* ---- the family ---- */

typedef struct List {
	DbNear *at;
	int n, most;
} List;

static int order(const DbNear *a, const DbNear *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	if (a->apart != b->apart)
		return a->apart < b->apart ? -1 : 1;
	int c = memcmp(&a->workload, &b->workload, sizeof(Hash));
	return c != 0 ? c : memcmp(&a->target, &b->target, sizeof(Hash));
}

static void insert(List *l, const DbNear *x)
{
	int at = 0;
	while (at < l->n && order(&l->at[at], x) < 0)
		at++;
	if (at == l->most || (at < l->n && order(&l->at[at], x) == 0))
		return;
	int moved = (l->n < l->most ? l->n : l->most - 1) - at;
	memmove(&l->at[at + 1], &l->at[at], sizeof *x * (size_t)moved);
	l->at[at] = *x;
	l->n += l->n < l->most;
}

static bool add_family(Db *db, const Task *task, Hash target, List *l, Arena *a, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_FAMILY, err);
	bool row, ok;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, db_family(task->text));
	sql_bind_hash(st, 2, task->id);
	sql_bind_hash(st, 3, target);
	sqlite3_bind_int(st, 4, BOUND_FAMILY);
	while ((ok = sql_next(db, st, &row, err)) && row) {
		Record r;
		const char *text;
		DbNear x = { .target = target };
		if (!sql_read_record(db, a, st, 0, 1, &r, err) || !json_str(r.json, "dag", &text, err)) {
			sqlite3_reset(st);
			return false;
		}
		x.workload = r.id;
		x.distance = db_distance(task->text, text);
		if (isfinite(x.distance))
			insert(l, &x);
	}
	return ok;
}

/* Infinite where the record of that target is damaged or missing. */
static double apart_from(Db *db, const Target *target, Hash other, Arena *a)
{
	Record r;
	bool row;
	double apart = INFINITY;
	sqlite3_stmt *st = sql_get(db, SQL_GET_RECORD, NULL);
	if (st == NULL)
		return apart;
	sql_bind_hash(st, 1, other);
	if (sql_next(db, st, &row, NULL) && row && sql_read_record(db, a, st, 0, 1, &r, NULL))
		apart = db_target_distance(target, r.json);
	sqlite3_reset(st);
	return apart;
}

static bool add_targets(Db *db, const Task *task, const Target *target, List *l, Arena *a, Err *err)
{
	DbNear x = { .workload = task->id };
	Hash own = target_id(target), at = { { 0 } };
	for (int i = 0; i < BOUND_TARGETS; i++) {
		sqlite3_stmt *st = sql_get(db, SQL_NEXT_TARGET, err);
		bool row;
		if (st == NULL)
			return false;
		sql_bind_hash(st, 1, task->id);
		sql_bind_hash(st, 2, at);
		if (!sql_next(db, st, &row, err))
			return false;
		bool more = row && sql_hash(st, 0, &at);
		sqlite3_reset(st);
		if (!more)
			return true;
		x.target = at;
		x.apart = apart_from(db, target, at, a);
		if (memcmp(&at, &own, sizeof at) != 0 && isfinite(x.apart))
			insert(l, &x);
	}
	return true;
}

bool db_elsewhere(DbSet set, const Task *task, const Target *target, DbNear *out, int most, int *n, Arena *a, Err *err)
{
	List l = { .at = out, .most = most };
	for (int i = 0; i < set.n; i++)
		if (!add_targets(set.db[i], task, target, &l, a, err))
			return false;
	*n = l.n;
	return true;
}

bool db_nearest(DbSet set, const Task *task, const Target *target, DbNear *out, int most, int *n, Arena *a, Err *err)
{
	List l = { .at = out, .most = most };
	Hash id = target_id(target);
	for (int i = 0; i < set.n; i++)
		if (!add_family(set.db[i], task, id, &l, a, err) || !add_targets(set.db[i], task, target, &l, a, err))
			return false;
	*n = l.n;
	return true;
}
