/* The records of a log (`dlc db export`), for programs that compile its schedules. */
#ifndef BENCH_LOG_H
#define BENCH_LOG_H

#include "base/json.h"

typedef struct LogLine {
	const Json *json;
	const char *kind, *id;
} LogLine;

typedef struct Log {
	Arena *arena;
	VEC(LogLine) line; /* sorted by id */
} Log;

/* Everything in the arena. */
bool log_read(Log *g, Arena *a, const char *path, Err *err);
/* NULL: the log has no such record, err says so. */
const Json *log_find(const Log *g, const char *id, Err *err);
/* Whether it is a run that was correct. */
bool log_ran(const LogLine *l);

#endif
