/*
 * The own segment of a writer: lines go to the file first and then to the index, in one transaction of the index.  A
 * kill between the two leaves lines that the next one to open the folder indexes.
 *
 * A session begins with what its runs will name.  That is kept until something was measured, so that a session that
 * finds nothing to do leaves no file; then it is written whole, so that a segment can be read without the others.
 *
 * The segment may be removed or packed meanwhile.  Then the session begins a new segment in the same way.  Lines may be
 * lost that it writes while gzip reads the old one.
 */
#include "db/segment.h"
#include "record/log_line.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the file ---- */

/* "20261123-224501-3f9a6c12d0b4.jsonl": sorted by time, and no other host draws the same. */
static const char *draw_name(Arena *a, int64_t now_s)
{
	unsigned char mark[6];
	char date[32] = "0", hex[2 * sizeof mark + 1];
	time_t when = (time_t)now_s;
	struct tm day;
	randombytes_buf(mark, sizeof mark);
	sodium_bin2hex(hex, sizeof hex, mark, sizeof mark);
	if (gmtime_r(&when, &day) != NULL)
		strftime(date, sizeof date, "%Y%m%d-%H%M%S", &day);
	return arena_printf(a, "%s-%s.jsonl", date, hex);
}

static bool make_segment(Db *db, Err *err)
{
	Logs *l = db->logs;
	for (int tries = 0; tries < 4 && l->fd < 0; tries++) {
		l->name = draw_name(db->arena, l->how.now_s);
		l->fd = open(arena_printf(db->arena, "%s/%s", l->folder, l->name),
			O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
		if (l->fd < 0 && errno != EEXIST)
			break;
	}
	hash_begin(&l->sum, "dlc/segment/v1");
	return l->fd >= 0 || fail(err, ERR_DEVICE, l->folder, "no log can be made there: %s", strerror(errno));
}

/* All of it, or nothing: what a failed write has left is cut off. */
static bool write_all(Logs *l, const char *bytes, size_t n, Err *err)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = write(l->fd, bytes + done, n - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0) {
			int why = put < 0 ? errno : EIO;
			bool full = why == ENOSPC || why == EDQUOT || why == EFBIG, cut = ftruncate(l->fd, l->size) == 0;
			const char *rest = cut ? "" : ", and its last line is a part";
			return fail(err, ERR_DEVICE, l->folder, "the log %s cannot be written: %s; what was stored is kept%s",
				l->name, full ? "the disk is full" : strerror(why), rest);
		}
		done += (size_t)put;
	}
	hash_add(&l->sum, bytes, n);
	l->size += (int64_t)n;
	return true;
}

static bool put_own_row(Db *db, Err *err)
{
	Logs *l = db->logs;
	HashState sum = l->sum;
	Segment s = { .name = l->name, .size = l->size, .read = l->size, .hash = hash_end(&sum), .first = "" };
	return l->behind || segment_put_row(db, &s, err);
}

/*
 * A program that has made the index anew may have read the folder before the last lines, or the segment, were there. A
 * segment that somebody has renamed is indexed under its new name, by the next one to open the folder.
 */
static bool catch_up(Db *db, Err *err)
{
	Logs *l = db->logs;
	int64_t had;
	if (l->fd < 0 || l->behind)
		return true;
	if (!segment_had(db, l->name, &had, err))
		return false;
	if (had != l->size && access(arena_printf(db->arena, "%s/%s", l->folder, l->name), F_OK) != 0)
		l->behind = true;
	return had == l->size || l->behind || segment_take(db, l->name, err);
}

/* Whether the segment's name leads to another file than `own`, or to none. */
static bool is_replaced(const Logs *l, const struct stat *own)
{
	struct stat st;
	Arena *a = arena_new();
	bool there = stat(arena_printf(a, "%s/%s", l->folder, l->name), &st) == 0;
	arena_free(a);
	return !there || st.st_dev != own->st_dev || st.st_ino != own->st_ino;
}

/* What is written to a segment that was removed would be lost. Some file systems count no links at all. */
static void leave_removed(Logs *l)
{
	struct stat st;
	if (l->fd < 0 || fstat(l->fd, &st) != 0 || st.st_nlink > 0 || !is_replaced(l, &st))
		return;
	close(l->fd);
	l->fd = -1;
	l->size = 0;
	l->behind = false;
	l->nwritten = 0;
}

bool logs_begin(Db *db, Err *err)
{
	leave_removed(db->logs);
	if (!sql_run(db, SQL_BEGIN, err))
		return false;
	sql_forget_names(db);
	if (catch_up(db, err))
		return true;
	sql_forget(db);
	return false;
}

bool logs_append(Db *db, const Text *lines, Err *err)
{
	Logs *l = db->logs;
	if (l->size == 0) {
		LogHead head = { l->how.program, l->how.machine, l->how.command, l->how.now_s };
		Arena *a = arena_new();
		const char *line = arena_printf(a, "%s\n", log_head_line(a, &head));
		bool ok = (l->fd >= 0 || make_segment(db, err)) && write_all(l, line, strlen(line), err);
		arena_free(a);
		if (!ok)
			return false;
	}
	return write_all(l, lines->at, lines->n, err) && put_own_row(db, err);
}

void logs_forget(Db *db)
{
	db->logs->behind = db->logs->fd >= 0;
}

void logs_close(Db *db)
{
	if (db->logs->fd >= 0)
		close(db->logs->fd);
	db->logs->fd = -1;
}

/* ---- records ---- */

/* Whether runs may name such a record. */
static bool is_named(const Record *r)
{
	return r->kind != RECORD_RUN && r->kind != RECORD_RETRACTION && r->kind != RECORD_CLOSING;
}

/* Into the index and, as text, to `out`. */
static bool store(Db *db, const Record *r, const char *line, Text *out, Err *err)
{
	bool fresh;
	LogSeal seal = { .of = r->id };
	if (!db_names_known(db, r, db->logs->folder, err, err) || !db_put_line(db, r, line, strlen(line), &fresh, err) ||
		!db_seal(db, r, err) || !db_seal_of(db, r, &seal.seal, err))
		return false;
	text_add(out, "%s\n", line);
	if (seal.seal != 0)
		text_add(out, "%s\n", log_seal_line(out->arena, &seal));
	return true;
}

static bool store_all(Db *db, const Record *r, const char *line, Arena *a, Err *err)
{
	Logs *l = db->logs;
	Text out = { .arena = a };
	for (size_t i = l->nwritten; i < l->named.n; i++)
		if (!store(db, &l->named.at[i].record, l->named.at[i].line, &out, err))
			return false;
	return (is_named(r) || store(db, r, line, &out, err)) && logs_append(db, &out, err);
}

bool logs_put(Db *db, const Record *r, const char *line, Err *err)
{
	Logs *l = db->logs;
	if (!l->write)
		return fail(err, ERR_USAGE, l->folder, "is open for reading");
	leave_removed(l);
	if (l->fd < 0 && r->kind == RECORD_CLOSING)
		return true; /* of a session without runs */
	if (is_named(r)) {
		LogNamed x = { { r->kind, r->id, NULL, NULL }, arena_printf(db->arena, "%s", line) };
		if (!record_read(db->arena, l->folder, x.line, strlen(x.line), &x.record, err))
			return false;
		vec_push(db->arena, &l->named, x);
		if (l->fd < 0)
			return true;
	}
	Arena *a = arena_new();
	bool begun = logs_begin(db, err), ok = begun && store_all(db, r, line, a, err) && sql_run(db, SQL_COMMIT, err);
	arena_free(a);
	if (!ok) {
		l->named.n -= is_named(r);
		if (begun)
			sql_forget(db);
		return false;
	}
	l->nwritten = l->named.n;
	return true;
}
