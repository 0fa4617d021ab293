/*
 * The segments of a folder -> an index of them.  A row of the index says how much of a segment it has, by size, time
 * and hash.  Only segments of another size or time are read; what has grown is taken from where it had ended.  A
 * segment that is gone, or whose beginning has changed, makes the whole index anew: a record may be in several.
 *
 * gzip may have packed a segment: its lines are those of what it unpacks to.  When a packed segment has changed, or a
 * damaged one, all of its lines are taken again, since the damage may be gone.
 *
 * A line may name a record of a segment that comes later, or that a colleague has not passed on yet.  Such lines wait:
 * their segments are read again when anything new has come.
 */
#include "db/segment.h"

#include "base/map.h"
#include "db/open.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char PLAIN[] = ".jsonl", PACKED[] = ".jsonl.gz";
#define SEGMENT_BYTES ((size_t)1 << 31)

/* ---- the folder ---- */

/* What a file is, and when it changed; 0: so recently that it may change again without another time. */
static void describe(const struct stat *st, int64_t now_s, Segment *s)
{
	enum { CLOCK_STEP_S = 2 /* of the coarsest file systems */ };
	s->size = (int64_t)st->st_size;
	s->stamp = now_s - (int64_t)st->st_ctim.tv_sec < CLOCK_STEP_S ? 0
		: (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;
}

/* Adds the segments of folder/below; `deep`: those of its subfolders too. False: it cannot be read, with errno. */
static bool list_in(Arena *a, const char *folder, const char *below, bool deep, int64_t now_s, Segments *out)
{
	DIR *d = opendir(arena_printf(a, "%s/%s", folder, below));
	if (d == NULL)
		return false;
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		struct stat st;
		const char *name = arena_printf(a, "%s%s", below, e->d_name);
		if (e->d_name[0] == '.' || stat(arena_printf(a, "%s/%s", folder, name), &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && deep)
			list_in(a, folder, arena_printf(a, "%s/", name), false, now_s, out);
		if (!S_ISREG(st.st_mode) || (!text_ends(e->d_name, PLAIN) && !text_ends(e->d_name, PACKED)))
			continue;
		Segment s = { .name = name, .first = "" };
		describe(&st, now_s, &s);
		vec_push(a, out, s);
	}
	closedir(d);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const Segment *)a)->name, ((const Segment *)b)->name);
}

static bool list_at(Arena *a, const char *folder, int64_t now_s, Segments *out, Err *err)
{
	if (!list_in(a, folder, "", true, now_s, out))
		return fail(err, ERR_DEVICE, folder, "the folder of logs cannot be read: %s", strerror(errno));
	if (out->n > 1)
		qsort(out->at, out->n, sizeof *out->at, by_name);
	return true;
}

void db_count_logs(const char *path, DbLogCount *out)
{
	Arena *a = arena_new();
	Segments s = { 0 };
	*out = (DbLogCount){ 0 };
	if (list_in(a, path, "", true, 0, &s))
		for (size_t i = 0; i < s.n; i++) {
			out->segments++;
			out->bytes += s.at[i].size;
		}
	arena_free(a);
}

/* ---- rows ---- */

bool segment_put_row(Db *db, const Segment *s, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_PUT_SEGMENT, err);
	if (st == NULL)
		return false;
	sqlite3_bind_text(st, 1, s->name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 2, s->size);
	sqlite3_bind_int64(st, 3, s->stamp);
	sqlite3_bind_int64(st, 4, s->read);
	sql_bind_hash(st, 5, s->hash);
	sqlite3_bind_int64(st, 6, s->damaged);
	sqlite3_bind_int64(st, 7, s->waiting);
	sqlite3_bind_text(st, 8, s->first, -1, SQLITE_TRANSIENT);
	return sql_do(db, st, err);
}

bool segment_had(Db *db, const char *name, int64_t *had, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_SEGMENT_READ, err);
	bool row;
	if (st == NULL)
		return false;
	sqlite3_bind_text(st, 1, name, -1, SQLITE_TRANSIENT);
	if (!sql_next(db, st, &row, err))
		return false;
	*had = row ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_reset(st);
	return true;
}

static bool read_rows(Db *db, Arena *a, Segments *out, Err *err)
{
	sqlite3_stmt *st = sql_get(db, SQL_SEGMENTS, err);
	bool row, ok;
	if (st == NULL)
		return false;
	while ((ok = sql_next(db, st, &row, err)) && row) {
		const char *name = (const char *)sqlite3_column_text(st, 0), *first = (const char *)sqlite3_column_text(st, 7);
		Segment s = { .name = arena_printf(a, "%s", name != NULL ? name : ""),
			.size = sqlite3_column_int64(st, 1),
			.stamp = sqlite3_column_int64(st, 2),
			.read = sqlite3_column_int64(st, 3),
			.damaged = sqlite3_column_int64(st, 5),
			.waiting = sqlite3_column_int64(st, 6),
			.first = arena_printf(a, "%s", first != NULL ? first : "") };
		sql_hash(st, 4, &s.hash);
		vec_push(a, out, s);
	}
	return ok;
}

/* ---- one segment ---- */

/* What stands in a segment. */
typedef struct Content {
	Bytes lines;
	int64_t size; /* of the file */
	bool packed;
	const char *broken; /* why lines are missing at the end, with the segment's name; NULL: none are */
} Content;

static bool read_segment(Arena *a, const Db *db, const char *name, Content *out, Err *err)
{
	Err why = { 0 };
	Bytes file;
	*out = (Content){ .size = 0 };
	if (!file_read(a, arena_printf(a, "%s/%s", db->logs->folder, name), SEGMENT_BYTES, &file, err))
		return false;
	out->lines = file;
	out->size = (int64_t)file.n;
	if (!exchange_unpack(a, name, &out->lines, &why))
		out->broken = arena_printf(a, "%s: %s", why.place, why.text);
	out->packed = out->lines.at != file.at;
	return true;
}

static Hash hash_of_bytes(const Bytes *b, int64_t n)
{
	HashState s;
	hash_begin(&s, "dlc/segment/v1");
	hash_add(&s, b->at, (size_t)n);
	return hash_end(&s);
}

static bool begins_as(const Bytes *file, const Segment *row)
{
	Hash h = (int64_t)file->n >= row->read ? hash_of_bytes(file, row->read) : (Hash){ { 0 } };
	return (int64_t)file->n >= row->read && memcmp(&h, &row->hash, sizeof h) == 0;
}

/* Whether the row has all of a segment that begins as it says. */
static bool is_all(const Content *c, const Segment *row)
{
	return c->broken == NULL && row->damaged == 0 && (int64_t)c->lines.n == row->read;
}

/* Takes what the row lacks, up to the last whole line, and brings the row up to date; in the caller's transaction. */
static bool take(Db *db, const Content *c, Segment *s, Err *err)
{
	const Bytes *b = &c->lines;
	ImportCount count = { 0 };
	int64_t end = (int64_t)b->n;
	while (end > s->read && b->at[end - 1] != '\n')
		end--;
	LogPart part = { s->name, (const char *)b->at + s->read, (size_t)(end - s->read),
		exchange_line(b, (size_t)s->read) };
	if (!exchange_take(db, &part, &count, err))
		return false;
	int64_t damaged = count.refused - count.waiting;
	if (s->damaged == 0 && damaged + (c->broken != NULL) > 0)
		s->first = arena_printf(db->arena, "%s", damaged > 0 ? count.first : c->broken);
	s->damaged += damaged + (c->broken != NULL);
	s->waiting += count.waiting;
	s->read = end;
	s->hash = hash_of_bytes(b, end);
	return segment_put_row(db, s, err);
}

bool segment_take(Db *db, const char *name, Err *err)
{
	Arena *a = arena_new();
	Segment s = { .name = name, .first = "" };
	Content c;
	bool ok = read_segment(a, db, name, &c, err);
	s.size = c.size;
	ok = ok && take(db, &c, &s, err);
	arena_free(a);
	return ok;
}

/* ---- all ---- */

/* A segment that is not as its row says, with its bytes. */
typedef struct News {
	Segment s; /* of the row where there is one, with the file's size and time */
	int64_t before; /* bytes that the row had */
	Content content;
} News;

typedef struct Index {
	Db *db;
	Arena *arena;
	Segments files, rows;
	VEC(News) news;
	bool anew;
	Text unread; /* what is wrong with files that cannot be read */
	int64_t nunread;
	Err *err;
} Index;

static const Segment *row_of(const Index *x, const char *name)
{
	Segment key = { .name = name };
	return x->rows.n > 0 ? bsearch(&key, x->rows.at, x->rows.n, sizeof key, by_name) : NULL;
}

/* Files are read while nothing is locked. */
static void look_at(Index *x, const Segment *f)
{
	const Segment *row = row_of(x, f->name);
	Err why = { 0 };
	News n = { .s = *f };
	if (row != NULL && row->size == f->size && row->stamp == f->stamp && f->stamp != 0 && !x->anew)
		return;
	if (!read_segment(x->arena, x->db, f->name, &n.content, &why)) {
		x->nunread++;
		if (x->unread.n == 0)
			text_add(&x->unread, "%s: %s", why.place, why.text);
		return;
	}
	if (row != NULL && !x->anew) {
		bool same = begins_as(&n.content.lines, row);
		x->anew |= !same;
		if (same && is_all(&n.content, row) && row->size == f->size && f->stamp == 0)
			return; /* as it was, and still too new for its time to say so */
		n.before = row->read;
		if (!n.content.packed && row->damaged == 0) {
			n.s = *row;
			n.s.size = f->size;
			n.s.stamp = f->stamp;
		}
	}
	vec_push(x->arena, &x->news, n);
}

/* What is new; x->anew: all segments, since the index has records that no segment has. */
static bool find_news(Index *x)
{
	const Logs *l = x->db->logs;
	if (!list_at(x->arena, l->folder, l->how.now_s, &x->files, x->err) ||
		!read_rows(x->db, x->arena, &x->rows, x->err))
		return false;
	for (size_t i = 0; i < x->rows.n; i++)
		x->anew |= x->files.n == 0 ||
			bsearch(&x->rows.at[i], x->files.at, x->files.n, sizeof *x->files.at, by_name) == NULL;
	for (size_t i = 0; i < x->files.n; i++) {
		bool was = x->anew;
		look_at(x, &x->files.at[i]);
		if (x->anew && !was) { /* once more, for all */
			x->news.n = 0;
			x->nunread = 0;
			i = (size_t)-1;
		}
	}
	return true;
}

/* Does nothing where another program has taken the news: the index then has another part of the segment. */
static bool take_one(Index *x, News *n)
{
	int64_t had;
	if (!sql_run(x->db, SQL_BEGIN, x->err))
		return false;
	sql_forget_names(x->db);
	if (segment_had(x->db, n->s.name, &had, x->err) &&
		(had != n->before || take(x->db, &n->content, &n->s, x->err)) && sql_run(x->db, SQL_COMMIT, x->err))
		return true;
	sql_forget(x->db);
	return false;
}

static bool take_anew(Index *x)
{
	static const char clear[] = "DELETE FROM record;DELETE FROM subject;DELETE FROM run;DELETE FROM retraction;"
		"DELETE FROM closing;DELETE FROM task;DELETE FROM segment";
	bool ok = sql_run(x->db, SQL_BEGIN, x->err);
	if (!ok)
		return false;
	sql_forget_names(x->db);
	x->db->env_epoch = -1;
	ok = open_exec(x->db, clear, x->err);
	for (size_t i = 0; ok && i < x->news.n; i++)
		ok = take(x->db, &x->news.at[i].content, &x->news.at[i].s, x->err);
	if (ok && sql_run(x->db, SQL_COMMIT, x->err))
		return true;
	sql_forget(x->db);
	return false;
}

static int64_t count_waiting(const Segments *rows)
{
	int64_t n = 0;
	for (size_t i = 0; i < rows->n; i++)
		n += rows->at[i].waiting;
	return n;
}

static bool read_rows_again(Index *x)
{
	x->rows.n = 0;
	return read_rows(x->db, x->arena, &x->rows, x->err);
}

/* Segments with lines that waited, from their beginnings, as long as that brings something. */
static bool take_waiting(Index *x)
{
	if (!read_rows_again(x))
		return false;
	for (int64_t before = count_waiting(&x->rows), now; before > 0; before = now) {
		for (size_t i = 0; i < x->rows.n; i++) {
			News n = { .s = x->rows.at[i], .before = x->rows.at[i].read };
			if (n.s.waiting == 0)
				continue;
			n.s.read = n.s.damaged = n.s.waiting = 0;
			Arena *a = arena_new();
			bool ok = !read_segment(a, x->db, n.s.name, &n.content, NULL) || take_one(x, &n);
			arena_free(a);
			if (!ok)
				return false;
		}
		if (!read_rows_again(x))
			return false;
		now = count_waiting(&x->rows);
		if (now >= before)
			break;
	}
	return true;
}

/* "team: 3 lines are damaged and left out; the first: team/a.jsonl:17: ..." */
static void tell(Index *x)
{
	Db *db = x->db;
	const char *first = "";
	db->lost = 0;
	for (size_t i = x->rows.n; i-- > 0;) {
		db->lost += x->rows.at[i].damaged;
		if (x->rows.at[i].damaged > 0)
			first = x->rows.at[i].first;
	}
	if (db->lost > 0)
		db->note = arena_printf(db->arena, "%s: %lld line%s of its logs %s damaged and left out; the first: %s/%s",
			db->logs->folder, (long long)db->lost, db->lost == 1 ? "" : "s", db->lost == 1 ? "is" : "are",
			db->logs->folder, first);
	else if (x->nunread > 0)
		db->note = arena_printf(db->arena, "%s: %lld log%s left out, for it cannot be read: %s", db->logs->folder,
			(long long)x->nunread, x->nunread == 1 ? " is" : "s are", text_str(&x->unread));
	db->lost += x->nunread;
}

bool segment_index(Db *db, Err *err)
{
	Index x = { .db = db, .arena = arena_new(), .err = err };
	x.unread.arena = x.arena;
	bool ok = find_news(&x);
	if (ok && x.anew)
		ok = take_anew(&x);
	for (size_t i = 0; ok && !x.anew && i < x.news.n; i++)
		ok = take_one(&x, &x.news.at[i]);
	ok = ok && (x.news.n > 0 ? take_waiting(&x) : true);
	if (ok)
		tell(&x);
	arena_free(x.arena);
	return ok;
}
