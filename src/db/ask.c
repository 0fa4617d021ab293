/*
 * Asking for runs: all of a task's, or the best schedule of any number of databases.  A look-up is several
 * statements; they are asked in one transaction, or each would take and give back the file's locks.
 */
#include "db/near.h"
#include "db/sql.h"

#include <stdlib.h>
#include <string.h>

static const char index_lies[] = "the database is damaged: its index says other things than its runs";

/* A row of SQL_RUNS: the record, which must be what the index says it is. */
static bool read_run(Db *db, Arena *a, sqlite3_stmt *st, Hash workload, Hash target, RunRecord *out, Err *err)
{
	if (!sql_read_run(db, a, st, 0, 1, out, err))
		return false;
	if (memcmp(&out->workload, &workload, sizeof workload) != 0 ||
		memcmp(&out->target, &target, sizeof target) != 0)
		return fail(err, ERR_INPUT, db->path, "%s", index_lies);
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
	int64_t ns, samples, number;
	Db *db; /* that has it, under this number */
} Seen;
typedef VEC(Seen) Runs;

/* A choice whose record is not read yet. */
typedef struct Ranked {
	DbChoice c;
	Db *db;
	int64_t number;
} Ranked;

static int by_id(const void *a, const void *b)
{
	return memcmp(&((const Seen *)a)->id, &((const Seen *)b)->id, sizeof(Hash));
}

/* Those with the most samples first. */
static int by_session(const void *pa, const void *pb)
{
	const Seen *a = pa, *b = pb;
	int c = memcmp(&a->session, &b->session, sizeof a->session);
	if (c == 0)
		c = (a->samples < b->samples) - (a->samples > b->samples);
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

/* The number of the key's subject in each database. */
static bool find_subjects(DbSet set, const DbKey *key, int64_t *subject, Err *err)
{
	for (int i = 0; i < set.n; i++)
		if (!sql_subject(set.db[i], key->workload, key->target, key->epoch, &subject[i], err))
			return false;
	return true;
}

/* The runs of one schedule in one database. */
static bool gather_one(Db *db, int64_t subject, int64_t floor_ns, int64_t trace, Arena *a, Runs *all, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_OF_TRACE, err);
	bool row, ok;
	if (st == NULL)
		return false;
	sqlite3_bind_int64(st, 1, subject);
	sqlite3_bind_int64(st, 2, floor_ns);
	sqlite3_bind_int64(st, 3, trace);
	while ((ok = sql_next(db, st, &row, err)) && row) {
		Seen x = { .number = sqlite3_column_int64(st, 0),
			.ns = sqlite3_column_int64(st, 1),
			.samples = sqlite3_column_int64(st, 4),
			.db = db };
		if (sql_hash(st, 2, &x.id) && sql_hash(st, 3, &x.session))
			vec_push(a, all, x);
	}
	return ok;
}

/* All runs of one schedule. */
static bool gather(DbSet set, const int64_t *subject, int64_t floor_ns, int64_t trace, Arena *a, Runs *out, Err *err)
{
	*out = (Runs){ 0 };
	for (int i = 0; i < set.n; i++)
		if (subject[i] != 0 && !gather_one(set.db[i], subject[i], floor_ns, trace, a, out, err))
			return false;
	return set.n == 1 || out->n == 0 || sift(set, out->at, &out->n, err);
}

/* The median over sessions of each session's median, of the runs with the most samples: a race outweighs a first look. */
static void judge(Arena *a, Seen *run, size_t n, Ranked *out)
{
	int64_t *session = arena_array(a, int64_t, n + 1);
	DbChoice *c = &out->c;
	const Seen *first = &run[0];
	size_t m = 0;
	for (size_t i = 1; i < n; i++)
		if (run[i].ns < first->ns || (run[i].ns == first->ns && by_id(&run[i], first) < 0))
			first = &run[i];
	*out = (Ranked){ .c = { .run = { .id = first->id, .median_ns = first->ns } },
		.db = first->db,
		.number = first->number };
	if (n > 1)
		qsort(run, n, sizeof *run, by_session);
	for (size_t from = 0, to; from < n; from = to) {
		size_t k = 1;
		for (to = from + 1; to < n && memcmp(&run[to].session, &run[from].session, sizeof(Hash)) == 0; to++)
			k += run[to].samples == run[from].samples;
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
	sqlite3_stmt *st; /* NULL: it has none */
	bool row;
	int64_t ns, trace;
} Cursor;

static bool advance(Cursor *c, Err *err)
{
	if (!sql_next(c->db, c->st, &c->row, err))
		return false;
	c->ns = c->row ? sqlite3_column_int64(c->st, 0) : 0;
	c->trace = c->row ? sqlite3_column_int64(c->st, 1) : 0;
	return true;
}

static bool open_cursors(DbSet set, const int64_t *subject, int64_t floor_ns, Cursor *c, Err *err)
{
	for (int i = 0; i < set.n; i++) {
		if (subject[i] == 0)
			continue;
		c[i].db = set.db[i];
		c[i].st = sql_get(set.db[i], SQL_FASTEST, err);
		if (c[i].st == NULL)
			return false;
		sqlite3_bind_int64(c[i].st, 1, subject[i]);
		sqlite3_bind_int64(c[i].st, 2, floor_ns);
		if (!advance(&c[i], err))
			return false;
	}
	return true;
}

/* Of equally fast ones any: the list is sorted by what is known of their schedules. */
static Cursor *fastest(Cursor *c, int n)
{
	Cursor *best = NULL;
	for (int i = 0; i < n; i++)
		if (c[i].row && (best == NULL || c[i].ns < best->ns))
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

/* A ranking under way. */
typedef struct Ranking {
	int64_t *subject; /* in each database */
	Cursor *cursor;   /* in each database */
	Ranked *list;
	int most;
} Ranking;

/*
 * A schedule's estimate is never below its fastest run: once as many as wanted are not above the next
 * run, no schedule that comes later can be better.
 */
static bool rank(DbSet set, const DbKey *key, Ranking *k, int *n, Arena *a, Err *err)
{
	VEC(int64_t) seen = { 0 };
	for (Cursor *next; (next = fastest(k->cursor, set.n)) != NULL;) {
		if (*n == k->most && k->list[k->most - 1].c.ns < next->ns)
			break;
		bool known = false;
		for (size_t i = 0; i < seen.n && !known; i++)
			known = seen.at[i] == next->trace;
		if (!known) {
			Ranked x;
			Runs run;
			vec_push(a, &seen, next->trace);
			if (!gather(set, k->subject, key->floor_ns, next->trace, a, &run, err))
				return false;
			if (run.n > 0) { /* else all are retracted */
				judge(a, run.at, run.n, &x);
				rank_in(k->list, n, k->most, x);
			}
		}
		if (!advance(next, err))
			return false;
	}
	return true;
}

/* The run in the row that a bound statement gives. */
static bool read_row(Db *db, sqlite3_stmt *st, Arena *a, RunRecord *out, bool *there, Err *err)
{
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
	sqlite3_stmt *st = sql_get(r->db, SQL_GET_NUMBER, err);
	*out = r->c;
	if (st == NULL)
		return false;
	sqlite3_bind_int64(st, 1, r->number);
	if (!read_row(r->db, st, a, &out->run, &there, err))
		return false;
	return (there && memcmp(&out->run.id, &r->c.run.id, sizeof(Hash)) == 0 &&
		       out->run.median_ns == r->c.run.median_ns && record_verified(&out->run) &&
		       memcmp(&out->run.workload, &key->workload, sizeof(Hash)) == 0 &&
		       memcmp(&out->run.target, &key->target, sizeof(Hash)) == 0) ||
		fail(err, ERR_INPUT, r->db->path, "%s", index_lies);
}

static bool rank_held(DbSet set, const DbKey *key, DbChoice *out, int most, int *n, Arena *a, Err *err)
{
	Arena *scratch = arena_new();
	Ranking k = { .subject = arena_array(scratch, int64_t, set.n + 1),
		.cursor = arena_array(scratch, Cursor, set.n + 1),
		.list = arena_array(scratch, Ranked, most + 1),
		.most = most };
	bool ok = find_subjects(set, key, k.subject, err) &&
		open_cursors(set, k.subject, key->floor_ns, k.cursor, err) && rank(set, key, &k, n, scratch, err);
	for (int i = 0; ok && i < *n; i++)
		ok = read_ranked(key, &k.list[i], a, &out[i], err);
	for (int i = 0; i < set.n; i++)
		sqlite3_reset(k.cursor[i].st);
	arena_free(scratch);
	return ok;
}

bool db_rank(DbSet set, const DbKey *key, DbChoice *out, int most, int *n, Arena *a, Err *err)
{
	*n = 0;
	if (!db_hold(set, err))
		return false;
	bool ok = rank_held(set, key, out, most, n, a, err);
	db_release(set);
	return ok;
}

static bool of_trace_held(DbSet set, const DbKey *key, int64_t trace, DbChoice *out, bool *there, Arena *a, Err *err)
{
	Arena *scratch = arena_new();
	int64_t *subject = arena_array(scratch, int64_t, set.n + 1);
	Runs run;
	bool ok = find_subjects(set, key, subject, err) && gather(set, subject, key->floor_ns, trace, scratch, &run, err);
	*there = ok && run.n > 0;
	if (*there) {
		Ranked r;
		judge(scratch, run.at, run.n, &r);
		ok = read_ranked(key, &r, a, out, err);
	}
	arena_free(scratch);
	return ok;
}

bool db_of_trace(DbSet set, const DbKey *key, const char *trace, DbChoice *out, bool *there, Arena *a, Err *err)
{
	*there = false;
	if (!db_hold(set, err))
		return false;
	bool ok = of_trace_held(set, key, sql_trace(trace), out, there, a, err);
	db_release(set);
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
		sqlite3_stmt *st = sql_get(set.db[i], SQL_GET_RECORD, err);
		if (st == NULL)
			return NULL;
		sql_bind_hash(st, 1, id);
		if (!read_row(set.db[i], st, a, run, &there, err))
			return NULL;
		if (there)
			return run;
	}
	return NULL;
}
