/*
 * A file in WAL mode -> its committed pages in memory. This is for a reader that cannot take part in the log: a user
 * without write access, or a host that does not share memory with the writers.
 *
 * While the log keeps its header (its salts), it has the newest committed form of every page that changed; a checkpoint
 * only copies pages from the log into the file. So the file with the log's pages over it is one moment of the
 * database, if the log's header is the same before the file and after the log is read. A shared lock on the file keeps
 * the last writer from removing the log meanwhile. https://sqlite.org/fileformat2.html#walformat
 */
#include "db/bound.h"
#include "db/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEAD = 32, /* bytes of the log's header, and of a frame's below */
	FRAME_HEAD = 24,
	PIECE = 1 << 20, /* bytes read at once */
	MOST = INT32_MAX - 65536, /* bytes of a copy: what SQLite gives at once */
};

typedef struct Buffer {
	unsigned char *at;
	size_t n;
} Buffer;

typedef struct Image {
	Buffer file, log;
	const char *log_name;
} Image;

static uint32_t big(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t word(const unsigned char *p, bool big_endian)
{
	return big_endian ? big(p) : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void add_sum(uint32_t sum[2], const unsigned char *p, size_t n, bool big_endian)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		sum[0] += word(p + i, big_endian) + sum[1];
		sum[1] += word(p + i + 4, big_endian) + sum[0];
	}
}

/* The size of a page; 0: the log is empty, as SQLite sees it. */
static size_t read_head(const Buffer *log, uint32_t sum[2], bool *big_endian)
{
	enum { MAGIC = 0x377f0682, VERSION = 3007000 };
	if (log->n < HEAD || (big(log->at) & ~1u) != MAGIC || big(log->at + 4) != VERSION)
		return 0;
	*big_endian = big(log->at) & 1;
	sum[0] = sum[1] = 0;
	add_sum(sum, log->at, HEAD - 8, *big_endian);
	size_t page = big(log->at + 8);
	bool sound = sum[0] == big(log->at + 24) && sum[1] == big(log->at + 28);
	return sound && page >= 512 && page <= 65536 && (page & (page - 1)) == 0 ? page : 0;
}

/* The end of the last commit in the log, and the size of the database after it in pages; 0: there is none. */
static size_t last_commit(const Buffer *log, size_t page, uint32_t sum[2], bool big_endian, uint32_t *pages)
{
	size_t end = 0;
	for (size_t at = HEAD; log->n - at >= FRAME_HEAD + page; at += FRAME_HEAD + page) {
		const unsigned char *f = log->at + at;
		if (memcmp(f + 8, log->at + 16, 8) != 0 || big(f) == 0)
			break;
		add_sum(sum, f, 8, big_endian);
		add_sum(sum, f + FRAME_HEAD, page, big_endian);
		if (sum[0] != big(f + 16) || sum[1] != big(f + 20))
			break;
		if (big(f + 4) != 0) {
			end = at + FRAME_HEAD + page;
			*pages = big(f + 4);
		}
	}
	return end;
}

/* The log's pages over the file's. */
static bool apply_log(Image *im)
{
	uint32_t sum[2], pages = 0;
	bool big_endian;
	size_t page = read_head(&im->log, sum, &big_endian);
	size_t end = page != 0 ? last_commit(&im->log, page, sum, big_endian, &pages) : 0;
	if (end == 0)
		return true;
	unsigned char *more = pages <= MOST / page ? sqlite3_realloc64(im->file.at, pages * page) : NULL;
	if (more == NULL)
		return false;
	im->file.at = more;
	if (pages * page > im->file.n)
		memset(more + im->file.n, 0, pages * page - im->file.n);
	im->file.n = pages * page;
	for (size_t at = HEAD; at < end; at += FRAME_HEAD + page) {
		uint32_t n = big(im->log.at + at);
		if (n <= pages)
			memcpy(more + (n - 1) * page, im->log.at + at + FRAME_HEAD, page);
	}
	return true;
}

/* ---- reading */

/* A log that is not there is an empty one. */
static int read_log(const char *name, size_t most, Buffer *out)
{
	struct stat st;
	out->n = 0;
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? SQLITE_OK : SQLITE_CANTOPEN;
	size_t n = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
	n = n < most ? n : most;
	unsigned char *at = sqlite3_realloc64(out->at, n + 1);
	if (at != NULL) {
		out->at = at;
		for (ssize_t got = 1; out->n < n && got > 0; out->n += got > 0 ? (size_t)got : 0)
			got = pread(fd, at + out->n, n - out->n, (off_t)out->n);
	}
	close(fd);
	return at != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_file(sqlite3_file *f, Buffer *out)
{
	sqlite3_int64 n = 0;
	int rc = f->pMethods->xFileSize(f, &n);
	unsigned char *at = rc == SQLITE_OK ? sqlite3_realloc64(out->at, (sqlite3_uint64)n + 1) : NULL;
	if (at == NULL)
		return rc != SQLITE_OK ? rc : SQLITE_NOMEM;
	out->at = at;
	out->n = (size_t)n;
	for (sqlite3_int64 i = 0; i < n && rc == SQLITE_OK; i += PIECE)
		rc = f->pMethods->xRead(f, at + i, (int)(n - i < PIECE ? n - i : PIECE), i);
	return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_BUSY : rc; /* somebody cut it */
}

/* SQLITE_BUSY: it changed meanwhile. */
static int read_moment(sqlite3_file *f, const char *name, Image *im)
{
	struct stat before = { 0 }, after = { 0 };
	unsigned char head[HEAD];
	uint32_t sum[2];
	bool big_endian;
	int rc = read_log(im->log_name, HEAD, &im->log);
	size_t n = im->log.n;
	if (rc != SQLITE_OK)
		return rc;
	if (n > 0)
		memcpy(head, im->log.at, n);
	stat(name, &before);
	rc = read_file(f, &im->file);
	if (rc == SQLITE_OK)
		rc = read_log(im->log_name, SIZE_MAX, &im->log);
	stat(name, &after);
	if (rc != SQLITE_OK)
		return rc;
	/* Frames of a new log are written behind its header: the header is asked for after the frames, too. */
	Buffer last = { 0 };
	rc = read_log(im->log_name, HEAD, &last);
	bool kept = n <= im->log.n && (n == 0) == (im->log.n == 0) && n == last.n &&
		(n == 0 || (memcmp(head, im->log.at, n) == 0 && memcmp(head, last.at, n) == 0));
	sqlite3_free(last.at);
	if (rc != SQLITE_OK || !kept)
		return rc != SQLITE_OK ? rc : SQLITE_BUSY;
	bool same = before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
		before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_ino == after.st_ino;
	return same || read_head(&im->log, sum, &big_endian) != 0 ? SQLITE_OK : SQLITE_BUSY;
}

static int read_image(Db *db, Image *im)
{
	sqlite3_file *f = NULL;
	int rc = sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_FILE_POINTER, &f);
	const char *name = sqlite3_db_filename(db->sql, "main");
	if (rc != SQLITE_OK || name == NULL)
		return rc != SQLITE_OK ? rc : SQLITE_CANTOPEN;
	im->log_name = sqlite3_filename_wal(name);
	rc = SQLITE_BUSY;
	for (int i = 0; i < BOUND_COPY_TRIES && rc == SQLITE_BUSY; i++) {
		if (i > 0)
			sqlite3_sleep(BOUND_RETRY_MS);
		rc = f->pMethods->xLock(f, SQLITE_LOCK_SHARED);
		if (rc == SQLITE_OK)
			rc = read_moment(f, name, im);
		f->pMethods->xUnlock(f, SQLITE_LOCK_NONE);
	}
	return rc;
}

bool copy_to_memory(Db *db, Err *err)
{
	enum { VERSIONS = 18 /* of the format, to write and to read */, ROLLBACK = 1 };
	Image im = { 0 };
	sqlite3 *memory = NULL;
	int rc = read_image(db, &im);
	if (rc == SQLITE_OK && !apply_log(&im))
		rc = SQLITE_NOMEM;
	if (rc == SQLITE_OK && im.file.n >= 100)
		memset(im.file.at + VERSIONS, ROLLBACK, 2);
	sqlite3_free(im.log.at);
	if (rc == SQLITE_OK)
		rc = open_connection(":memory:", SQLITE_OPEN_READWRITE, &memory);
	if (rc == SQLITE_OK) { /* takes the memory, whatever comes of it */
		rc = sqlite3_deserialize(memory, "main", im.file.at, (sqlite3_int64)im.file.n,
			(sqlite3_int64)im.file.n, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
		im.file.at = NULL;
	}
	sqlite3_free(im.file.at);
	sqlite3_close_v2(db->sql);
	db->sql = rc == SQLITE_OK ? memory : NULL;
	if (rc != SQLITE_OK)
		sqlite3_close_v2(memory);
	if (rc == SQLITE_NOMEM)
		return fail(err, ERR_MEMORY, db->path,
			"the database is too large for a copy in memory; export it on a host that can write to it");
	return rc == SQLITE_OK || sql_fail(db, rc, err);
}
