/*
 * A folder of logs -> an open database over its index.  The index is a database file in the user's cache, named by the
 * folder, by the schema and by the owner whose seals it has.  What cannot be used of it is made anew; where no file can
 * be kept, it is in memory.
 */
#include "db/logs.h"

#include "db/open.h"
#include "db/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool db_is_folder(const char *path)
{
	struct stat st;
	size_t n = strlen(path);
	return (n > 1 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static bool check_folder(Logs *l, Err *err)
{
	struct stat st;
	bool there = stat(l->folder, &st) == 0;
	if (!there && !l->write)
		return fail(err, ERR_INPUT, l->folder, "there is no such folder of logs");
	if (!there && mkdir(l->folder, 0777) != 0 && errno != EEXIST)
		return fail(err, ERR_DEVICE, l->folder, "the folder of logs cannot be made: %s", strerror(errno));
	if (there && !S_ISDIR(st.st_mode))
		return fail(err, ERR_INPUT, l->folder, "is no folder");
	return !l->write || access(l->folder, W_OK | X_OK) == 0 ||
		fail(err, ERR_DEVICE, l->folder, "the folder of logs cannot be written: %s", strerror(errno));
}

/* NULL: none can be kept. */
static const char *index_name(Arena *a, const Logs *l)
{
	char *real = l->how.cache != NULL ? realpath(l->folder, NULL) : NULL, hex[HASH_HEX];
	if (real == NULL)
		return NULL;
	HashState s;
	hash_begin(&s, "dlc/log-index/v1");
	hash_add(&s, real, strlen(real) + 1);
	hash_add(&s, SQL_VERSION, sizeof SQL_VERSION);
	if (l->how.owner != NULL) {
		Hash key = hash_of("dlc/log-owner/v1", l->how.owner->key, sizeof l->how.owner->key);
		hash_add(&s, &key, sizeof key);
	}
	free(real);
	hash_hex(hash_end(&s), hex);
	return arena_printf(a, "%s/%s.sqlite", l->how.cache, hex);
}

static void remove_index(Arena *a, const char *file)
{
	unlink(file);
	unlink(arena_printf(a, "%s-wal", file));
	unlink(arena_printf(a, "%s-shm", file));
	unlink(arena_printf(a, "%s-journal", file));
}

static bool index_in(Db *db, const char *file, Err *err)
{
	db->path = file != NULL ? file : db->logs->folder;
	db->note = NULL;
	bool ok = (file != NULL ? open_to_write(db, err) : open_memory(db, err)) && segment_index(db, err);
	if (!ok)
		open_disconnect(db);
	return ok;
}

/* In the file, in a new one in its place, or in memory. A folder that cannot be read is a failure. */
static bool open_index(Db *db, Err *err)
{
	const Logs *l = db->logs;
	const char *file = index_name(db->arena, l);
	Err why = { 0 };
	for (int tries = 0; file != NULL && tries < 2; tries++) {
		why = (Err){ 0 };
		if (index_in(db, file, &why))
			return true;
		if (why.code == ERR_INPUT)
			remove_index(db->arena, file);
		else
			break;
	}
	if (!index_in(db, NULL, err))
		return false;
	if (file != NULL)
		db->note = arena_printf(db->arena, "%s%s%s: the index of %s cannot be kept, so each command reads all logs: %s",
			db->note != NULL ? db->note : "", db->note != NULL ? "\n" : "", file, l->folder, why.text);
	return true;
}

Db *db_open_logs(const char *path, DbMode mode, const DbLogs *how, Err *err)
{
	Db *db = open_new(path);
	Arena *a = db->arena;
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	Logs *l = arena_new_of(a, Logs);
	*l = (Logs){ .folder = arena_printf(a, "%.*s", (int)n, path), .how = *how, .write = mode == DB_WRITE, .fd = -1 };
	l->how.cache = how->cache != NULL ? arena_printf(a, "%s", how->cache) : NULL;
	const char **text[] = { &l->how.program, &l->how.machine, &l->how.command };
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		*text[i] = *text[i] != NULL ? arena_printf(a, "%s", *text[i]) : NULL;
	db->logs = l;
	if (how->owner != NULL) {
		db->owner = *how->owner;
		l->how.owner = arena_copy(a, how->owner, sizeof *how->owner);
	}
	if (check_folder(l, err) && open_index(db, err))
		return db;
	db_close(db);
	return NULL;
}
