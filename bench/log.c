/* See log.h. */
#include "log.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
	return strcmp(((const LogLine *)a)->id, ((const LogLine *)b)->id);
}

bool log_read(Log *g, Arena *a, const char *path, Err *err)
{
	Bytes file;
	*g = (Log){ .arena = a };
	if (!file_read(a, path, (size_t)1 << 30, &file, err))
		return false;
	for (size_t at = 0, end; at < file.n; at = end + 1) {
		const char *text = (const char *)file.at + at, *stop = memchr(text, '\n', file.n - at);
		end = stop != NULL ? at + (size_t)(stop - text) : file.n;
		LogLine l = { .json = json_parse(a, "log", text, end - at, err) };
		if (l.json == NULL || !json_str(l.json, "kind", &l.kind, err) || !json_str(l.json, "id", &l.id, err))
			return false;
		vec_push(a, &g->line, l);
	}
	if (g->line.n > 0)
		qsort(g->line.at, g->line.n, sizeof *g->line.at, by_id);
	return true;
}

const Json *log_find(const Log *g, const char *id, Err *err)
{
	const LogLine key = { .id = id };
	const LogLine *l = g->line.n > 0 ? bsearch(&key, g->line.at, g->line.n, sizeof key, by_id) : NULL;
	if (l == NULL)
		fail(err, ERR_INPUT, "log", "there is no record %s", id);
	return l != NULL ? l->json : NULL;
}

bool log_ran(const LogLine *l)
{
	const char *status;
	Err err = { 0 };
	return strcmp(l->kind, "run") == 0 && json_str(l->json, "status", &status, &err) && strcmp(status, "ok") == 0;
}
