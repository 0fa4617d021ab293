/*
 * libFuzzer: a folder of logs from a stranger. Its one segment is the bytes; the index is read to its end, is sound,
 * and is the same after the segment has come in two pieces, and from what gzip makes of it. What is no record is
 * counted.
 */
#include "fuzz.h"
#include "db/logs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64], segment[96];

static void write_segment(const uint8_t *data, size_t size)
{
	int fd = open(segment, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
}

static void pack_segment(const uint8_t *data, size_t size)
{
	gzFile f = gzopen(segment, "wb1");
	must(f != NULL && gzwrite(f, data, (unsigned)size) == (int)size && gzclose(f) == Z_OK);
}

static bool count(const char *line, size_t n, void *arg)
{
	must(line != NULL && n > 0);
	++*(int64_t *)arg;
	return true;
}

/* How many records there are, and how many lines are left out. */
static void read_all(const char *cache, int64_t out[2])
{
	Err err = { 0 };
	DbOwner owner = { { 1 } };
	DbLogs how = { .cache = cache, .owner = &owner };
	int64_t records = 0;
	Db *db = db_open_logs(folder, DB_READ, &how, &err);
	must(db != NULL);
	out[0] = 0;
	out[1] = db_lost(db);
	must((out[1] > 0) == (db_note(db) != NULL));
	must(db_export(db, count, &out[0], &err));
	must(out[1] > 0 || (db_check(db, &records, &err) && records == out[0]));
	db_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char cache[64];
	if (folder[0] == 0) {
		strcpy(folder, "/dev/shm/fuzz_logs.XXXXXX");
		strcpy(cache, "/dev/shm/fuzz_index.XXXXXX");
		must(mkdtemp(folder) != NULL && mkdtemp(cache) != NULL);
		snprintf(segment, sizeof segment, "%s/a.jsonl", folder);
	}
	int64_t whole[2], parts[2];
	write_segment(data, size);
	read_all(NULL, whole);
	write_segment(data, size / 2);
	read_all(cache, parts);
	write_segment(data, size);
	read_all(cache, parts);
	must(whole[0] == parts[0] && whole[1] == parts[1]);
	if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b)
		return 0; /* packed already: once is enough */
	pack_segment(data, size);
	read_all(cache, parts);
	must(whole[0] == parts[0] && whole[1] == parts[1]);
	return 0;
}
