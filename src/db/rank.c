/*
 * Runs of several databases -> the best schedules.  docs/records.md has the rules.  For each schedule this file
 * gathers its runs, drops those that are retracted, judges the rest, and keeps the best schedules.
 *
 * Runs are walked in the order of the index, the latest stage and the fastest first.  A look-up ends as soon as no
 * later schedule can be better, since the time of a schedule is never below its fastest run of that stage.
 */
#include "db/rank.h"

#include "base/map.h"
#include "db/sql.h"

#include <stdlib.h>
#include <string.h>

/* One of a schedule's runs, as the index has it. */
typedef struct IndexedRun {
	Hash id, session;
	int64_t ns, samples, number;
	RunStatus status;
	RunStage stage;
	bool counts; /* it ran, was verified, and is not faster than its floor */
	bool own, gone;
	Db *db; /* that has it, under this number */
} IndexedRun;
typedef VEC(IndexedRun) Runs;

/* A choice whose record is not read yet. */
typedef struct Ranked {
	DbChoice c;
	Db *db;
	int64_t number;
} Ranked;

static int by_id(const void *a, const void *b)
{
	return memcmp(&((const IndexedRun *)a)->id, &((const IndexedRun *)b)->id, sizeof(Hash));
}

/* Within a session the runs that count come first: those of the latest stage, with the most samples. */
static int by_session(const void *pa, const void *pb)
{
	const IndexedRun *a = pa, *b = pb;
	int c = memcmp(&a->session, &b->session, sizeof a->session);
	if (c == 0)
		c = b->counts - a->counts;
	if (c == 0)
		c = (a->stage < b->stage) - (a->stage > b->stage);
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

/* ---- the runs of one schedule ---- */

/* The number of the key's subject in each database. */
static bool find_subjects(DbSet set, const DbKey *key, int64_t *subject, Err *err)
{
	for (int i = 0; i < set.n; i++)
		if (!sql_subject(set.db[i], key->workload, key->target, key->epoch, &subject[i], err))
			return false;
	return true;
}

static bool gather_one(Db *db, int64_t subject, const DbKey *key, int64_t trace, Arena *a, Runs *all, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_OF_TRACE, err);
	bool more, ok;
	if (st == NULL)
		return false;
	sqlite3_bind_int64(st, 1, subject);
	sqlite3_bind_int64(st, 2, trace);
	while ((ok = sql_next(db, st, &more, err)) && more) {
		RunRow row = { .status = sqlite3_column_int64(st, 5),
			.verified = sqlite3_column_int64(st, 6),
			.stage = sqlite3_column_int64(st, 7),
			.ns = sqlite3_column_int64(st, 1),
			.samples = sqlite3_column_int64(st, 4),
			.trace = trace };
		int64_t seal = sqlite3_column_int64(st, 8);
		if (!sql_hash(st, 2, &row.id) || !sql_hash(st, 3, &row.session) || row.status < 0 ||
			row.status >= RUN_STATUS_COUNT || row.stage < 0 || row.stage >= STAGE_COUNT)
			continue; /* db_check reports it */
		IndexedRun x = { .id = row.id,
			.session = row.session,
			.number = sqlite3_column_int64(st, 0),
			.ns = row.ns,
			.samples = row.samples,
			.status = (RunStatus)row.status,
			.stage = (RunStage)row.stage,
			.own = seal != 0 && seal == owner_seal_run(db, &row),
			.gone = sqlite3_column_int(st, 9) != 0,
			.db = db };
		x.counts = x.status == RUN_OK && row.verified == 1 && x.ns >= key->floor_ns &&
			!(key->alone && x.stage == STAGE_NETWORK);
		vec_push(a, all, x);
	}
	return ok;
}

/* Whether a closing's line lists the run. */
static bool lists(const char *line, Hash run)
{
	static const char key[] = "\"runs\":\"";
	char hex[HASH_HEX];
	const char *at = line != NULL ? strstr(line, key) : NULL;
	hash_hex(run, hex);
	at = at != NULL ? at + sizeof key - 1 : "";
	for (; strnlen(at, RECORD_RUN_DIGITS) == RECORD_RUN_DIGITS && *at != '"'; at += RECORD_RUN_DIGITS)
		if (memcmp(at, hex, RECORD_RUN_DIGITS) == 0)
			return true;
	return false;
}

/* Whether a hint belongs to the session that it names: a session that has ended has the runs that its closing lists. */
static bool is_of_session(DbSet set, const IndexedRun *run, bool *is, Err *err)
{
	bool closed = false, listed = false;
	for (int i = 0; i < set.n && !listed; i++) {
		bool row, ok;
		sqlite3_stmt *st = sql_get(set.db[i], SQL_CLOSINGS_OF, err);
		if (st == NULL)
			return false;
		sql_bind_hash(st, 1, run->session);
		while ((ok = sql_next(set.db[i], st, &row, err)) && row && !listed) {
			closed = true;
			listed = lists((const char *)sqlite3_column_text(st, 0), run->id);
		}
		sqlite3_reset(st);
		if (!ok)
			return false;
	}
	*is = listed || !closed;
	return true;
}

/* Keeps each run once, its own copy first. Drops runs that are retracted, or that their session does not list. */
static bool sift(DbSet set, IndexedRun *run, size_t *n, Err *err)
{
	size_t kept = 0, once = 0;
	if (*n > 1 && set.n > 1) {
		qsort(run, *n, sizeof *run, by_id);
		for (size_t i = 0; i < *n; i++)
			if (once == 0 || by_id(&run[i], &run[once - 1]) != 0)
				run[once++] = run[i];
			else if (run[i].own) /* another index may say something false about the same line */
				run[once - 1] = run[i];
		*n = once;
	}
	for (size_t i = 0; i < *n; i++) {
		bool gone = run[i].gone;
		if ((set.n > 1 || (gone && run[i].own)) && !db_retracted(set, run[i].id, run[i].own, &gone, err))
			return false;
		bool named = true;
		if (!gone && !run[i].own && !is_of_session(set, &run[i], &named, err))
			return false;
		if (!gone && named)
			run[kept++] = run[i];
	}
	*n = kept;
	return true;
}

/* All runs of one schedule. */
static bool gather(DbSet set, const int64_t *subject, const DbKey *key, int64_t trace, Arena *a, Runs *out, Err *err)
{
	*out = (Runs){ 0 };
	for (int i = 0; i < set.n; i++)
		if (subject[i] != 0 && !gather_one(set.db[i], subject[i], key, trace, a, out, err))
			return false;
	return out->n == 0 || key->whose == DB_CLAIMS || sift(set, out->at, &out->n, err);
}

/* ---- judging one schedule ---- */

/* Keeps the runs that may judge: own ones; for hints, the runs of others of a schedule that was never timed here. */
static void ask_whose(DbWhose whose, IndexedRun *run, size_t *n)
{
	bool timed = false, failed = false;
	size_t kept = 0;
	if (whose == DB_DISPUTED)
		return;
	for (size_t i = 0; i < *n; i++) {
		timed |= run[i].own && run[i].counts;
		failed |= run[i].own && run_status_against(run[i].status) > 0;
	}
	bool own = whose == DB_OWN;
	for (size_t i = 0; i < *n; i++)
		if (run[i].own == own)
			run[kept++] = run[i];
	*n = own || !(timed || failed) ? kept : 0;
}

/* The sessions for and against a schedule, and the time of each session that is for it; runs sorted by_session. */
typedef struct Votes {
	int for_it, against;
	bool wrong; /* a run had wrong results */
	RunStage stage; /* the latest of any */
	int64_t *ns;    /* of the n sessions that have reached it */
	size_t n;
} Votes;

static Votes count_votes(Arena *a, const IndexedRun *run, size_t n)
{
	Votes v = { .ns = arena_array(a, int64_t, n + 1) };
	for (size_t i = 0; i < n; i++)
		if (run[i].counts && run[i].stage > v.stage)
			v.stage = run[i].stage;
	for (size_t from = 0, to; from < n; from = to) {
		bool bad = false;
		for (to = from; to < n && memcmp(&run[to].session, &run[from].session, sizeof(Hash)) == 0; to++) {
			bad |= run_status_against(run[to].status) > 0;
			v.wrong |= run_status_against(run[to].status) > 1;
		}
		v.against += bad;
		v.for_it += !bad && run[from].counts;
		if (!run[from].counts || run[from].stage != v.stage)
			continue;
		size_t end = from + 1; /* of the runs that count: the latest stage, the most samples; their median is taken */
		while (end < to && run[end].counts && run[end].stage == v.stage && run[end].samples == run[from].samples)
			end++;
		v.ns[v.n++] = middle(run[from + (end - from - 1) / 2].ns, run[from + (end - from) / 2].ns);
	}
	qsort(v.ns, v.n, sizeof *v.ns, by_ns);
	return v;
}

/* False: no run counts, or at least as many sessions are against it. */
static bool judge(Arena *a, const DbKey *key, IndexedRun *run, size_t n, Ranked *out)
{
	const IndexedRun *first = NULL;
	if (n > 1)
		qsort(run, n, sizeof *run, by_session);
	Votes v = count_votes(a, run, n);
	bool barred = v.against > 0 && (v.against >= v.for_it || (v.wrong && key->whose == DB_OWN));
	if (v.n == 0 || (barred && key->whose != DB_CLAIMS && key->whose != DB_DISPUTED))
		return false;
	for (size_t i = 0; i < n; i++)
		if (run[i].counts && run[i].stage == v.stage &&
			(first == NULL || run[i].ns < first->ns || (run[i].ns == first->ns && by_id(&run[i], first) < 0)))
			first = &run[i];
	*out = (Ranked){ .c = { .run = { .id = first->id, .median_ns = first->ns },
				 .ns = key->whose == DB_CLAIMS ? v.ns[0] : middle(v.ns[(v.n - 1) / 2], v.ns[v.n / 2]),
				 .stage = v.stage,
				 .own = key->whose == DB_OWN,
				 .sessions = (int)v.n,
				 .against = v.against },
		.db = first->db,
		.number = first->number };
	for (size_t i = 0; i < n; i++)
		out->c.runs += run[i].counts;
	return true;
}

/* ---- the walk ---- */

/* Where a database stands in its runs, in the order of the index; sealed ones and others are walked apart. */
typedef struct Cursor {
	Db *db;
	sqlite3_stmt *st; /* NULL: it has none */
	bool row;
	int64_t ns, trace;
	RunStage stage;
} Cursor;

static bool advance(Cursor *c, Err *err)
{
	if (!sql_next(c->db, c->st, &c->row, err))
		return false;
	c->ns = c->row ? sqlite3_column_int64(c->st, 0) : 0;
	c->trace = c->row ? sqlite3_column_int64(c->st, 1) : 0;
	c->stage = c->row ? (RunStage)sqlite3_column_int(c->st, 2) : STAGE_LOOK;
	return true;
}

static bool open_cursor(Cursor *c, Db *db, SqlId id, int64_t subject, const DbKey *key, Err *err)
{
	c->db = db;
	c->st = sql_get(db, id, err);
	if (c->st == NULL)
		return false;
	sqlite3_bind_int64(c->st, 1, subject);
	sqlite3_bind_int64(c->st, 2, key->floor_ns);
	sqlite3_bind_int(c->st, 3, id == SQL_FASTEST_SEALED);
	sqlite3_bind_int(c->st, 4, key->alone ? STAGE_NETWORK - 1 : STAGE_COUNT - 1);
	return advance(c, err);
}

/* A sealed run may be of another owner, so hints are looked for among sealed runs too. */
static bool open_cursors(DbSet set, const int64_t *subject, const DbKey *key, Cursor *c, Err *err)
{
	for (int i = 0; i < set.n; i++)
		if (subject[i] != 0 && (!open_cursor(&c[2 * i], set.db[i], SQL_FASTEST_SEALED, subject[i], key, err) ||
					       (key->whose != DB_OWN &&
						       !open_cursor(&c[2 * i + 1], set.db[i], SQL_FASTEST, subject[i], key, err))))
			return false;
	return true;
}

static bool before(RunStage stage, int64_t ns, RunStage than, int64_t than_ns)
{
	return stage != than ? stage > than : ns < than_ns;
}

/* Keeps the list sorted, and at most `most`. */
static void rank_in(Ranked *list, int *n, int most, Ranked x)
{
	int at = *n;
	for (; at > 0; at--) {
		const DbChoice *c = &list[at - 1].c;
		bool equal = x.c.stage == c->stage && x.c.ns == c->ns;
		if (!before(x.c.stage, x.c.ns, c->stage, c->ns) &&
			!(equal && memcmp(&x.c.run.id, &c->run.id, sizeof(Hash)) < 0))
			break;
	}
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
	Cursor *cursor;   /* two for each database */
	Ranked *list;
	int most;
} Ranking;

static bool walk(DbSet set, const DbKey *key, Ranking *k, int *n, Arena *a, Err *err)
{
	Map seen = MAP_OF(a); /* schedules */
	for (;;) {
		const DbChoice *last = &k->list[k->most - 1].c;
		Cursor *next = NULL; /* of equal ones any: the list is sorted by the times of their schedules */
		for (Cursor *c = k->cursor; c < k->cursor + 2 * set.n; c++)
			if (c->row && (next == NULL || before(c->stage, c->ns, next->stage, next->ns)))
				next = c;
		if (next == NULL || (*n == k->most && before(last->stage, last->ns, next->stage, next->ns)))
			return true;
		if (map_find(&seen, (uint64_t)next->trace) == NULL) {
			Ranked x;
			Runs run;
			map_add(&seen, (uint64_t)next->trace);
			if (!gather(set, k->subject, key, next->trace, a, &run, err))
				return false;
			ask_whose(key->whose, run.at, &run.n);
			if (run.n > 0 && judge(a, key, run.at, run.n, &x))
				rank_in(k->list, n, k->most, x);
		}
		if (!advance(next, err))
			return false;
	}
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
	if (!sql_next(r->db, st, &there, err))
		return false;
	bool ok = !there || sql_read_run(r->db, a, st, 0, 1, &out->run, err);
	sqlite3_reset(st);
	if (!ok)
		return false;
	out->run.own = r->c.own;
	return (there && memcmp(&out->run.id, &r->c.run.id, sizeof(Hash)) == 0 &&
		       out->run.median_ns == r->c.run.median_ns && record_verified(&out->run) &&
		       memcmp(&out->run.workload, &key->workload, sizeof(Hash)) == 0 &&
		       memcmp(&out->run.target, &key->target, sizeof(Hash)) == 0) ||
		fail(err, ERR_INPUT, r->db->path, "%s", sql_index_lies);
}

static bool rank_held(DbSet set, const DbKey *key, DbChoice *out, int most, int *n, Arena *a, Err *err)
{
	Arena *scratch = arena_new();
	Ranking k = { .subject = arena_array(scratch, int64_t, set.n + 1),
		.cursor = arena_array(scratch, Cursor, 2 * set.n + 1),
		.list = arena_array(scratch, Ranked, most + 1),
		.most = most };
	bool ok = find_subjects(set, key, k.subject, err) && open_cursors(set, k.subject, key, k.cursor, err) &&
		walk(set, key, &k, n, scratch, err);
	for (int i = 0; ok && i < *n; i++)
		ok = read_ranked(key, &k.list[i], a, &out[i], err);
	for (int i = 0; i < 2 * set.n; i++)
		sqlite3_reset(k.cursor[i].st);
	arena_free(scratch);
	return ok;
}

/* Whom to ask one after the other, until somebody has a run; returns how many. */
static int turns_of(const DbKey *key, DbKey turn[2])
{
	bool decided = key->whose == DB_DECIDED;
	turn[0] = turn[1] = *key;
	turn[0].whose = decided ? DB_OWN : key->whose;
	turn[1].whose = DB_HINTS;
	return decided ? 2 : 1;
}

bool db_rank(DbSet set, const DbKey *key, DbChoice *out, int most, int *n, Arena *a, Err *err)
{
	DbKey turn[2];
	int turns = turns_of(key, turn);
	bool ok = true;
	*n = 0;
	if (!db_hold(set, err))
		return false;
	for (int i = 0; ok && *n == 0 && i < turns; i++)
		ok = rank_held(set, &turn[i], out, most, n, a, err);
	db_release(set);
	return ok;
}

static bool of_trace_held(DbSet set, const DbKey *key, int64_t trace, DbChoice *out, bool *there, Arena *a, Err *err)
{
	Arena *scratch = arena_new();
	int64_t *subject = arena_array(scratch, int64_t, set.n + 1);
	Runs run;
	Ranked r;
	bool ok = find_subjects(set, key, subject, err) && gather(set, subject, key, trace, scratch, &run, err);
	if (ok)
		ask_whose(key->whose, run.at, &run.n);
	*there = ok && run.n > 0 && judge(scratch, key, run.at, run.n, &r);
	if (*there)
		ok = read_ranked(key, &r, a, out, err);
	arena_free(scratch);
	return ok;
}

bool db_of_trace(DbSet set, const DbKey *key, const char *trace, DbChoice *out, bool *there, Arena *a, Err *err)
{
	DbKey turn[2];
	int turns = turns_of(key, turn);
	bool ok = true;
	*there = false;
	if (!db_hold(set, err))
		return false;
	for (int i = 0; ok && !*there && i < turns; i++)
		ok = of_trace_held(set, &turn[i], db_trace_number(trace), out, there, a, err);
	db_release(set);
	return ok;
}
