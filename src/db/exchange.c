/*
 * Lines out and in.  Merging is a union of immutable records, so order and duplication do not matter.  An export
 * prints what a line names before it; an import tries lines again, of the same text, that came too early.
 *
 * An import takes batches: lines are read and checked while nothing is locked, then stored in one transaction,
 * runs in the order of their ids, so that the index of ids is filled from one end to the other.  Tuners can write
 * between two batches, and a kill costs the batch that was not committed.
 *
 * A part of a segment is taken in the transaction of the caller. The seals in it count where they are the owner's.
 */
#include "base/gzip.h"
#include "db/bound.h"
#include "db/rank.h"
#include "db/segment.h"
#include "record/log_line.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool db_export(Db *db, DbLineFn f, void *arg, Err *err)
{
	sqlite3_stmt *st = sql_get_walk(db, SQL_ALL, err);
	if (st == NULL)
		return false;
	bool row, ok;
	while ((ok = sql_next(db, st, &row, err)) && row) {
		const char *line = (const char *)sqlite3_column_text(st, 2);
		if (line == NULL)
			ok = fail(err, ERR_INPUT, db->path, "the database is damaged: a record is empty");
		if (!ok || !f(line, (size_t)sqlite3_column_bytes(st, 2), arg))
			break;
	}
	sqlite3_reset(st);
	return ok;
}

/* ---- import ---- */

/* A line that was read, or why it was refused. */
typedef struct Line {
	const char *text;
	size_t n;
	int number;
	const char *refused;   /* NULL: it is a record */
	const RunRecord *run;  /* NULL: it is ... */
	const Record *other;
	LogLine log; /* no record: the head of a log, or a seal */
	LogSeal seal;
	bool early;            /* what it names is not there yet */
	bool waits;            /* it was refused for that */
} Line;
typedef VEC(Line) Lines;

typedef struct Import {
	Db *db;
	const char *name;
	ImportCount *count;
	Err *err;
	Arena *arena;
	Lines *early; /* to be tried again; NULL: nothing will come */
	int *told;    /* the number of the line that count->first tells of; 0: of another text */
	bool segment; /* a part of one is taken, with its seals */
	VEC(LogSeal) seal;
	Text fresh; /* lines of the batch that a folder of logs lacks */
} Import;

static const char *place_of(const Import *in, const Line *l, char place[256])
{
	snprintf(place, 256, "%s:%d", in->name, l->number);
	return place;
}

static const char *sentence(Arena *a, const Err *why)
{
	char text[sizeof(Err)];
	err_format(why, text, sizeof text);
	text[strcspn(text, "\n")] = 0;
	return arena_printf(a, "%s", text);
}

static void read_line(const Import *in, Arena *a, Line *l)
{
	RunRecord run;
	if (record_read_run(a, l->text, l->n, &run)) {
		l->run = arena_copy(a, &run, sizeof run);
		return;
	}
	Err why = { 0 };
	Record *r = arena_new_of(a, Record);
	char place[256];
	l->log = log_line_read(a, place_of(in, l, place), l->text, l->n, &l->seal, &why);
	if (l->log == LOG_OTHER && record_read(a, place, l->text, l->n, r, &why))
		l->other = r;
	else if (l->log == LOG_OTHER || l->log == LOG_BAD)
		l->refused = sentence(a, &why);
}

/* The line at *at; false: it is empty. */
static bool next_line(const char *text, size_t n, size_t *at, Line *out)
{
	out->text = text + *at;
	out->n = text_line(text, n, at);
	out->n -= out->n > 0 && out->text[out->n - 1] == '\r'; /* a log that came through somebody's mail */
	return out->n != 0;
}

int exchange_line(const Bytes *lines, size_t at)
{
	int line = 1;
	for (size_t i = 0; i < at; i++)
		line += lines->at[i] == '\n';
	return line;
}

bool exchange_unpack(Arena *a, const char *name, Bytes *lines, Err *err)
{
	if (gzip_unpack(a, lines, (size_t)BOUND_UNPACKED_MIB << 20, err))
		return true;
	while (lines->n > 0 && lines->at[lines->n - 1] != '\n')
		lines->n--;
	return err_at(err, arena_printf(a, "%s:%d", name, exchange_line(lines, lines->n)));
}

bool db_is_log(const char *text, size_t n)
{
	Import in = { .name = "", .arena = arena_new() };
	Bytes lines = { (const unsigned char *)text, n };
	bool found = false;
	exchange_unpack(in.arena, "", &lines, NULL);
	for (size_t at = 0; at < lines.n && !found;) {
		Arena *a = arena_new();
		Line l = { 0 };
		if (next_line((const char *)lines.at, lines.n, &at, &l))
			read_line(&in, a, &l);
		found = l.run != NULL || l.other != NULL;
		arena_free(a);
	}
	arena_free(in.arena);
	return found;
}

/* What a line names must be there; if it is not, the line is refused.  False: the database failed. */
static bool check_names(Import *in, Arena *a, Line *l, Err *why, Err *failed)
{
	char place[256];
	if (l->run != NULL ? db_run_names_known(in->db, l->run, "", why, failed)
			   : db_names_known(in->db, l->other, "", why, failed))
		return true;
	if (failed->code != ERR_NONE) {
		if (in->err != NULL)
			*in->err = *failed;
		return false;
	}
	l->early = in->early != NULL;
	if (l->early) {
		vec_push(in->arena, in->early, *l);
	} else {
		err_at(why, place_of(in, l, place));
		l->refused = sentence(a, why);
		l->waits = true;
	}
	*why = (Err){ 0 };
	return true;
}

static bool store(Import *in, const Line *l)
{
	bool fresh = false;
	if (l->run != NULL ? !db_put_run_line(in->db, l->run, l->text, l->n, &fresh, in->err)
			   : !db_put_line(in->db, l->other, l->text, l->n, &fresh, in->err))
		return false;
	in->count->taken += fresh;
	in->count->known += !fresh;
	if (fresh && in->db->logs != NULL && !in->segment) {
		text_put(&in->fresh, l->text, l->n);
		text_put(&in->fresh, "\n", 1);
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	return memcmp(&(*(const Line *const *)a)->run->id, &(*(const Line *const *)b)->run->id, sizeof(Hash));
}

/* Runs name no runs: their order does not matter. */
static bool store_runs(Import *in, const Line **run, size_t n)
{
	if (n > 1)
		qsort(run, n, sizeof *run, by_id);
	for (size_t i = 0; i < n; i++)
		if (!store(in, run[i]))
			return false;
	return true;
}

static void count_refused(const Import *in, const Line *l)
{
	in->count->refused++;
	in->count->waiting += l->waits;
	if (l->number < *in->told && !(in->segment && l->waits)) {
		*in->told = l->number;
		snprintf(in->count->first, sizeof in->count->first, "%s", l->refused);
	}
}

/* In the order of the lines, but for runs that follow each other. */
static bool store_lines(Import *in, Arena *a, Lines *lines)
{
	const Line **run = arena_array(a, const Line *, lines->n + 1);
	size_t runs = 0;
	Err why = { 0 }, failed = { 0 };
	for (size_t i = 0; i < lines->n; i++) {
		Line *l = &lines->at[i];
		if (l->log == LOG_HEAD || l->log == LOG_SEAL) {
			if (in->segment && l->log == LOG_SEAL)
				vec_push(in->arena, &in->seal, l->seal);
			continue;
		}
		if (l->run == NULL && l->refused == NULL) {
			if (!store_runs(in, run, runs))
				return false;
			runs = 0;
		}
		if (l->refused == NULL && !check_names(in, a, l, &why, &failed))
			return false;
		if (l->refused != NULL) {
			count_refused(in, l);
		} else if (l->early) {
			continue;
		} else if (l->run != NULL) {
			run[runs++] = l;
		} else if (!store(in, l)) {
			return false;
		}
	}
	return store_runs(in, run, runs);
}

static bool store_batch(Import *in, Arena *a, Lines *lines)
{
	assert(in->db->held == 0);
	if (sqlite3_get_autocommit(in->db->sql) == 0) /* of an upgrade or of a segment, which ends as a whole */
		return store_lines(in, a, lines);
	if (!(in->db->logs != NULL ? logs_begin(in->db, in->err) : sql_run(in->db, SQL_BEGIN, in->err)))
		return false;
	in->fresh = (Text){ .arena = a };
	if (sql_in_place(in->db, in->err) && store_lines(in, a, lines) &&
		(in->fresh.n == 0 || logs_append(in->db, &in->fresh, in->err)) && sql_run(in->db, SQL_COMMIT, in->err))
		return true;
	sql_forget(in->db);
	return false;
}

/* A batch of lines that came too early, read anew. */
static bool try_again(Import *in, const Line *line, size_t n)
{
	Arena *a = arena_new();
	Lines lines = { 0 };
	for (size_t i = 0; i < n; i++) {
		Line l = { .text = line[i].text, .n = line[i].n, .number = line[i].number };
		read_line(in, a, &l);
		vec_push(a, &lines, l);
	}
	bool ok = store_batch(in, a, &lines);
	arena_free(a);
	return ok;
}

/* Again and again; when a round has brought nothing, the next one refuses what is left. */
static bool import_early(Import *in, Lines early)
{
	bool ok = true, more = true;
	while (ok && early.n > 0) {
		Lines left = { 0 };
		in->early = more ? &left : NULL;
		for (size_t i = 0; ok && i < early.n; i += BOUND_EARLY_LINES)
			ok = try_again(in, early.at + i, early.n - i < BOUND_EARLY_LINES ? early.n - i : BOUND_EARLY_LINES);
		more = left.n < early.n;
		early = left;
	}
	return ok;
}

static bool import(Import *in, const LogPart *part)
{
	Lines early = { 0 };
	int number = part->line, told = in->count->refused > 0 && !in->segment ? 0 : INT_MAX;
	bool ok = true;
	in->early = &early;
	in->told = &told;
	for (size_t at = 0; at < part->n && ok;) {
		Arena *a = arena_new();
		Lines lines = { 0 };
		for (size_t from = at; at < part->n && at - from < BOUND_BATCH_MIB << 20; number++) {
			Line l = { .number = number };
			if (!next_line(part->text, part->n, &at, &l))
				continue;
			read_line(in, a, &l);
			vec_push(a, &lines, l);
		}
		ok = lines.n == 0 || store_batch(in, a, &lines);
		arena_free(a);
	}
	return ok && import_early(in, early);
}

bool db_import(Db *db, const char *name, const char *text, size_t n, ImportCount *count, Err *err)
{
	Import in = { .db = db, .name = name, .count = count, .err = err, .arena = arena_new() };
	Bytes lines = { (const unsigned char *)text, n };
	Err why = { 0 };
	bool whole = exchange_unpack(in.arena, name, &lines, &why);
	LogPart all = { name, (const char *)lines.at, lines.n, 1 };
	bool ok = import(&in, &all);
	if (!whole && count->refused++ == 0)
		snprintf(count->first, sizeof count->first, "%s", sentence(in.arena, &why));
	arena_free(in.arena);
	return ok;
}

/* ---- segments ---- */

/* Marks the record as its owner's, if it is there and the seal is valid. */
static bool take_seal(Db *db, const LogSeal *seal, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_GET_RECORD, err);
	bool row;
	if (st == NULL)
		return false;
	sql_bind_hash(st, 1, seal->of);
	if (!sql_next(db, st, &row, err) || !row)
		return err == NULL || err->code == ERR_NONE;
	Arena *a = arena_new();
	Record r;
	int64_t right = 0;
	bool ok = sql_read_record(db, a, st, 0, 1, &r, err);
	sqlite3_reset(st);
	ok = ok && db_seal_of(db, &r, &right, err) && (right == 0 || right != seal->seal || db_seal(db, &r, err));
	arena_free(a);
	return ok;
}

bool exchange_take(Db *db, const LogPart *part, ImportCount *count, Err *err)
{
	assert(sqlite3_get_autocommit(db->sql) == 0);
	Import in = { .db = db, .name = part->name, .count = count, .err = err, .arena = arena_new(), .segment = true };
	bool ok = import(&in, part);
	for (size_t i = 0; ok && i < in.seal.n; i++)
		ok = take_seal(db, &in.seal.at[i], err);
	arena_free(in.arena);
	return ok;
}
