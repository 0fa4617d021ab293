/*
 * libFuzzer: a database file from a stranger.  It is refused, or read to its end: checked, exported,
 * asked for runs; and it is as it was afterwards.
 */
#include "db/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static bool look(const char *line, size_t n, void *arg)
{
	(void)arg;
	return line != NULL && n > 0;
}

static bool take(const RunRecord *run, void *arg)
{
	(void)arg;
	return strlen(run->trace) < SIZE_MAX;
}

static void read_all(Db *db)
{
	Arena *a = arena_new();
	Err err[4] = { { 0 } };
	Hash some = { { 1 } };
	int64_t records;
	must(db_check(db, &records, &err[0]) || err[0].code != ERR_NONE);
	must(db_export(db, look, NULL, &err[1]) || err[1].code != ERR_NONE);
	must(db_each_run(db, some, some, 7, take, NULL, &err[2]) || err[2].code != ERR_NONE);
	db_best(db, some, some, 7, a, &err[3]);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	Err err = { 0 };
	if (path[0] == 0)
		strcpy(path, "/dev/shm/fuzz_db.XXXXXX");
	int fd = access(path, F_OK) != 0 ? mkstemp(path) : open(path, O_WRONLY | O_TRUNC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
	Db *db = db_open(path, DB_READ, &err);
	must((db != NULL) == (err.code == ERR_NONE));
	if (db != NULL)
		read_all(db);
	db_close(db);
	return 0;
}
