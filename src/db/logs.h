/*
 * A folder of logs as a database: its records are the lines of its segments, FOLDER/NAME.jsonl and
 * FOLDER/NAME/NAME.jsonl, or what gzip makes of these, FOLDER/NAME.jsonl.gz. Each session appends its
 * records to a segment of its own, so no two write one file.
 * An index of the segments lies in the user's cache; docs/records.md, "Folders of logs", has the rules.
 */
#ifndef DB_LOGS_H
#define DB_LOGS_H

#include "db/db.h"

typedef struct DbLogs {
	const char *cache;    /* a folder for indexes, which exists or the index is in memory; NULL: in memory */
	const DbOwner *owner; /* whose seals in the segments count; NULL: nobody's */
	/* What the head of a segment says of who writes it. NULL: nothing. */
	const char *program, *machine, *command;
	int64_t now_s; /* since 1970 */
} DbLogs;

/* Whether a path names a folder of logs: it is a folder, or ends with a slash. */
bool db_is_folder(const char *path);
/*
 * DB_WRITE makes the folder; its segment appears with the first run, retraction or import. Indexes what is new in the
 * folder: costs what importing that costs. db_note names what is damaged, and db_lost counts it; all else is used. An
 * index that cannot be kept is in memory.
 */
Db *db_open_logs(const char *path, DbMode mode, const DbLogs *how, Err *err);

typedef struct DbLogCount {
	int64_t segments, bytes;
} DbLogCount;
/* What lies there, unread; zeros where there is no folder. */
void db_count_logs(const char *path, DbLogCount *out);

#endif
