/*
 * The lines of a log that are no records. A segment of a folder of logs begins with its head, which says who wrote it;
 * behind a run or a retraction stands its owner's seal (docs/records.md, "Folders of logs").
 */
#ifndef RECORD_LOG_LINE_H
#define RECORD_LOG_LINE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"

enum { LOG_VERSION = 1 };

/* Texts may be NULL: not said. */
typedef struct LogHead {
	const char *program, *machine, *command;
	int64_t started_s; /* since 1970 */
} LogHead;

typedef struct LogSeal {
	Hash of; /* the record */
	int64_t seal;
} LogSeal;

typedef enum { LOG_OTHER, LOG_HEAD, LOG_SEAL, LOG_BAD } LogLine;

/* Lines without '\n', in the arena. */
const char *log_head_line(Arena *a, const LogHead *head);
const char *log_seal_line(Arena *a, const LogSeal *seal);
/*
 * What a line is. LOG_OTHER: a record, or nothing that is known. LOG_BAD: it begins as a head or a seal does, and `why`
 * says what is wrong. LOG_SEAL fills `seal`.
 */
LogLine log_line_read(Arena *a, const char *name, const char *line, size_t n, LogSeal *seal, Err *why);

#endif
