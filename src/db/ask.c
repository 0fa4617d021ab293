/*
 * Asking for runs: all of a task's, or the best schedule of any number of databases.
 */
#include "db/near.h"
#include "db/sql.h"

#include <stdlib.h>
#include <string.h>

/* A row of SQL_RUNS or SQL_GET_RECORD: the record, which must be what the index says it is. */
static bool read_run(Db *db, Arena *a, sqlite3_stmt *st, Hash workload, Hash target, RunRecord *out, Err *err)
{
	if (!sql_read_run(db, a, st, 0, 1, out, err))
		return false;
	if (memcmp(&out->workload, &workload, sizeof workload) != 0 ||
		memcmp(&out->target, &target, sizeof target) != 0)
		return fail(err, ERR_INPUT, db->path, "the database is damaged: its index says other things than its runs");
	return true;
}

bool db_each_run(Db *db, Hash workload, Hash target, int codegen_epoch, DbRunFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_RUNS, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, workload);
	sql_bind_hash(st, 2, target);
	sqlite3_bind_int(st, 3, codegen_epoch);
	bool ok = true, row;
	while ((ok = sql_next(db, st, &row, err)) && row) {
		Arena *a = arena_new();
		RunRecord run;
		ok = read_run(db, a, st, workload, target, &run, err);
		bool more = ok && f(&run, arg);
		arena_free(a);
		if (!more)
			break;
	}
	sqlite3_reset(st);
	return ok;
}

/* ---- the best schedules of several databases ---- */

/* One of a schedule's runs, as the index has it. */
typedef struct Seen {
	Hash id, session;
	int64_t ns;
	Db *db; /* that has it */
} Seen;

/* A choice whose record is not read yet. */
typedef struct Ranked {
	DbChoice c;
	Db *db;
} Ranked;

static int by_id(const void *a, const void *b)
{
	return memcmp(&((const Seen *)a)->id, &((const Seen *)b)->id, sizeof(Hash));
}

static int by_session(const void *pa, const void *pb)
{
	const Seen *a = pa, *b = pb;
	int c = memcmp(&a->session, &b->session, sizeof a->session);
	return c != 0 ? c : (a->ns > b->ns) - (a->ns < b->ns);
}

static int by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t middle(int64_t lower, int64_t upper)
{
	return lower + (upper - lower) / 2;
}

static void bind_key(sqlite3_stmt *st, const DbKey *key)
{
	sql_bind_hash(st, 1, key->workload);
	sql_bind_hash(st, 2, key->target);
	sqlite3_bind_int(st, 3, key->epoch);
	sqlite3_bind_int64(st, 4, key->floor_ns);
}

bool db_retracted(DbSet set, Hash run, bool *is, Err *err)
{
	*is = false;
	for (int i = 0; i < set.n && !*is; i++) {
		sqlite3_stmt *st = sql_get(set.db[i], SQL_IS_RETRACTED, err);
		if (st == NULL)
			return false;
		sql_bind_hash(st, 1, run);
		if (!sql_next(set.db[i], st, is, err))
			return false;
		sqlite3_reset(st);
	}
	return true;
}

/* Each run once, those that a database retracts not at all. */
static bool sift(DbSet set, Seen *run, size_t *n, Err *err)
{
	size_t kept = 0;
	qsort(run, *n, sizeof *run, by_id);
	for (size_t i = 0; i < *n; i++) {
		bool gone;
		if (kept > 0 && by_id(&run[i], &run[kept - 1]) == 0)
			continue;
		if (!db_retracted(set, run[i].id, &gone, err))
			return false;
		if (!gone)
			run[kept++] = run[i];
	}
	*n = kept;
	return true;
}

/* All runs of one schedule. */
static bool gather(DbSet set, const DbKey *key, Hash trace, Arena *a, Seen **out, size_t *n, Err *err)
{
	VEC(Seen) all = { 0 };
	for (int i = 0; i < set.n; i++) {
		sqlite3_stmt *st = sql_get(set.db[i], SQL_OF_TRACE, err);
		if (st == NULL)
			return false;
		bind_key(st, key);
		sql_bind_hash(st, 5, trace);
		bool row;
		while (sql_next(set.db[i], st, &row, err) && row) {
			Seen x = { .ns = sqlite3_column_int64(st, 1), .db = set.db[i] };
			if (sql_hash(st, 0, &x.id) && sql_hash(st, 2, &x.session))
				vec_push(a, &all, x);
		}
		if (err->code != ERR_NONE)
			return false;
	}
	*out = all.at;
	*n = all.n;
	return set.n == 1 || all.n == 0 || sift(set, all.at, n, err);
}

/* The median over sessions of each session's median. */
static void judge(Arena *a, Seen *run, size_t n, Ranked *out)
{
	int64_t *session = arena_array(a, int64_t, n + 1);
	DbChoice *c = &out->c;
	const Seen *first = &run[0];
	size_t m = 0;
	for (size_t i = 1; i < n; i++)
		if (run[i].ns < first->ns || (run[i].ns == first->ns && by_id(&run[i], first) < 0))
			first = &run[i];
	*out = (Ranked){ .c = { .run = { .id = first->id, .median_ns = first->ns } }, .db = first->db };
	if (n > 1)
		qsort(run, n, sizeof *run, by_session);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && memcmp(&run[to].session, &run[from].session, sizeof(Hash)) == 0;)
			to++;
		size_t k = to - from;
		session[m++] = middle(run[from + (k - 1) / 2].ns, run[from + k / 2].ns);
	}
	qsort(session, m, sizeof *session, by_ns);
	c->runs = (int)n;
	c->sessions = (int)m;
	c->ns = middle(session[(m - 1) / 2], session[m / 2]);
}

/* Where a database stands in its runs, fastest first. */
typedef struct Cursor {
	Db *db;
	sqlite3_stmt *st;
	bool row;
	Hash id, trace;
	int64_t ns;
} Cursor;

static bool advance(Cursor *c, Err *err)
{
	if (!sql_next(c->db, c->st, &c->row, err))
		return false;
	c->ns = c->row ? sqlite3_column_int64(c->st, 1) : 0;
	return !c->row || (sql_hash(c->st, 0, &c->id) && sql_hash(c->st, 2, &c->trace)) ||
		fail(err, ERR_INPUT, c->db->path, "the database is damaged: its index of runs holds no names");
}

static bool open_cursors(DbSet set, const DbKey *key, Cursor *c, Err *err)
{
	for (int i = 0; i < set.n; i++) {
		c[i].db = set.db[i];
		c[i].st = sql_get(set.db[i], SQL_FASTEST, err);
		if (c[i].st == NULL)
			return false;
		bind_key(c[i].st, key);
		if (!advance(&c[i], err))
			return false;
	}
	return true;
}

static Cursor *fastest(Cursor *c, int n)
{
	Cursor *best = NULL;
	for (int i = 0; i < n; i++)
		if (c[i].row && (best == NULL || c[i].ns < best->ns ||
					(c[i].ns == best->ns && memcmp(&c[i].id, &best->id, sizeof(Hash)) < 0)))
			best = &c[i];
	return best;
}

/* Keeps list sorted by estimate, equal ones by the id of their fastest run, and at most `most`. */
static void rank_in(Ranked *list, int *n, int most, Ranked x)
{
	int at = *n;
	while (at > 0 && (x.c.ns < list[at - 1].c.ns ||
				 (x.c.ns == list[at - 1].c.ns && memcmp(&x.c.run.id, &list[at - 1].c.run.id, sizeof(Hash)) < 0)))
		at--;
	if (at == most)
		return;
	int moved = (*n < most ? *n : most - 1) - at;
	memmove(&list[at + 1], &list[at], sizeof *list * (size_t)moved);
	list[at] = x;
	*n += *n < most;
}

/*
 * A schedule's estimate is never below its fastest run: once as many as wanted are not above the next
 * run, no schedule that comes later can be better.
 */
static bool rank(DbSet set, const DbKey *key, Cursor *c, Ranked *list, int most, int *n, Arena *a, Err *err)
{
	VEC(Hash) seen = { 0 };
	for (Cursor *next; (next = fastest(c, set.n)) != NULL;) {
		if (*n == most && list[most - 1].c.ns < next->ns)
			break;
		bool known = false;
		for (size_t i = 0; i < seen.n && !known; i++)
			known = memcmp(&seen.at[i], &next->trace, sizeof(Hash)) == 0;
		if (!known) {
			Ranked x;
			Seen *run;
			size_t runs;
			vec_push(a, &seen, next->trace);
			if (!gather(set, key, next->trace, a, &run, &runs, err))
				return false;
			if (runs > 0) {
				judge(a, run, runs, &x);
				rank_in(list, n, most, x);
			}
		}
		if (!advance(next, err))
			return false;
	}
	return true;
}

static bool read_id(Db *db, Hash id, Arena *a, RunRecord *out, bool *there, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_GET_RECORD, err);
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, id);
	if (!sql_next(db, st, there, err))
		return false;
	bool ok = !*there || sql_read_run(db, a, st, 0, 1, out, err);
	sqlite3_reset(st);
	return ok;
}

/* The record is what the index says of it. */
static bool read_ranked(const DbKey *key, Ranked *r, Arena *a, DbChoice *out, Err *err)
{
	bool there;
	*out = r->c;
	if (!read_id(r->db, r->c.run.id, a, &out->run, &there, err))
		return false;
	return (there && out->run.median_ns == r->c.run.median_ns && record_verified(&out->run) &&
		       memcmp(&out->run.workload, &key->workload, sizeof(Hash)) == 0 &&
		       memcmp(&out->run.target, &key->target, sizeof(Hash)) == 0) ||
		fail(err, ERR_INPUT, r->db->path, "the database is damaged: its index says other things than its runs");
}

bool db_rank(DbSet set, const DbKey *key, DbChoice *out, int most, int *n, Arena *a, Err *err)
{
	Err why = { 0 };
	Arena *scratch = arena_new();
	Cursor *c = arena_array(scratch, Cursor, set.n + 1);
	Ranked *list = arena_array(scratch, Ranked, most + 1);
	*n = 0;
	bool ok = open_cursors(set, key, c, &why) && rank(set, key, c, list, most, n, scratch, &why);
	for (int i = 0; ok && i < *n; i++)
		ok = read_ranked(key, &list[i], a, &out[i], &why);
	for (int i = 0; i < set.n; i++) /* only now: while a cursor is open, no other statement takes locks */
		if (c[i].st != NULL)
			sqlite3_reset(c[i].st);
	arena_free(scratch);
	if (!ok && err != NULL)
		*err = why;
	return ok;
}

bool db_of_trace(DbSet set, const DbKey *key, const char *trace, DbChoice *out, bool *there, Arena *a, Err *err)
{
	Err why = { 0 };
	Arena *scratch = arena_new();
	Seen *run;
	size_t n = 0;
	Ranked r;
	bool ok = gather(set, key, sql_trace(trace), scratch, &run, &n, &why);
	*there = ok && n > 0;
	if (*there) {
		judge(scratch, run, n, &r);
		ok = read_ranked(key, &r, a, out, &why);
	}
	arena_free(scratch);
	if (!ok && err != NULL)
		*err = why;
	return ok;
}

const RunRecord *db_best(Db *db, Hash workload, Hash target, int codegen_epoch, Arena *a, Err *err)
{
	DbKey key = { workload, target, codegen_epoch, 0 };
	DbChoice *c = arena_new_of(a, DbChoice);
	int n;
	return db_rank((DbSet){ &db, 1 }, &key, c, 1, &n, a, err) && n == 1 ? &c->run : NULL;
}

const RunRecord *db_run(DbSet set, Hash id, Arena *a, Err *err)
{
	RunRecord *run = arena_new_of(a, RunRecord);
	for (int i = 0; i < set.n; i++) {
		bool there;
		if (!read_id(set.db[i], id, a, run, &there, err))
			return NULL;
		if (there)
			return run;
	}
	return NULL;
}
