/*
 * Inside the room: the segments of a folder of logs, their rows in the index, and the segment that is written.
 */
#ifndef DB_SEGMENT_H
#define DB_SEGMENT_H

#include "base/file.h"
#include "db/logs.h"
#include "db/sql.h"

/* A record that runs of the session may name. */
typedef struct LogNamed {
	Record record;
	const char *line;
} LogNamed;

struct Logs {
	const char *folder; /* as it was named, without a slash at its end */
	DbLogs how;
	bool write;
	/* The own segment. */
	int fd;           /* -1: none yet */
	const char *name; /* below the folder */
	int64_t size;
	HashState sum; /* of its bytes */
	bool behind;   /* the index lacks some of it: its row stays as it is, and the next one to open reads the rest */
	VEC(LogNamed) named;
	size_t nwritten; /* of `named`: in the segment */
};

/* A segment, and how much of it the index has. */
typedef struct Segment {
	const char *name;    /* below the folder */
	int64_t size, stamp; /* of the file; stamp: when it changed, in ns; 0: too recently to tell later changes */
	int64_t read;        /* bytes in the index: whole lines */
	Hash hash;           /* of these */
	int64_t damaged, waiting; /* lines that are left out; that name records which are not there yet */
	const char *first;   /* what is wrong with the first damaged one, behind the segment's name; "": nothing */
} Segment;
typedef VEC(Segment) Segments;

/* Brings the index up to date, in transactions of its own; tells of damage in db->note and db->lost. */
bool segment_index(Db *db, Err *err);
bool segment_put_row(Db *db, const Segment *s, Err *err);
/* How many bytes of the segment the index has; 0 where it has no row of it. */
bool segment_had(Db *db, const char *name, int64_t *had, Err *err);
/* Takes a segment from its beginning, whatever the index has of it; in the caller's transaction. */
bool segment_take(Db *db, const char *name, Err *err);

/* Puts a record into the own segment and the index. */
bool logs_put(Db *db, const Record *r, const char *line, Err *err);
/* Begins a transaction that stores records: the index has all of the own segment then. */
bool logs_begin(Db *db, Err *err);
/* Writes lines that the transaction under way has added to the index. */
bool logs_append(Db *db, const Text *lines, Err *err);
/* After a rollback: what was appended is not in the index. */
void logs_forget(Db *db);
void logs_close(Db *db);

/*
 * Unpacks lines that gzip has packed (base/gzip.h); others stay as they are. False: some are missing at the end; whole
 * ones are left, and err says where and why.
 */
bool exchange_unpack(Arena *a, const char *name, Bytes *lines, Err *err);
/* The number of the line in which byte `at` stands. */
int exchange_line(const Bytes *lines, size_t at);

/* A part of a segment, of whole lines. */
typedef struct LogPart {
	const char *name, *text;
	size_t n;
	int line; /* the number of its first */
} LogPart;
/* As db_import, in the transaction of the caller; takes the owner's seals. count->first tells of damage alone. */
bool exchange_take(Db *db, const LogPart *part, ImportCount *count, Err *err);

#endif
