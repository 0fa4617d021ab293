/*
 * libFuzzer: a file of predictor rows. It is refused, or its rows are finite numbers; written again, it reads the same.
 * Half of the inputs get the hash that such a file ends with.
 */
#include "fuzz.h"
#include "base/file.h"
#include "learn/row_cache.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void write_file(const uint8_t *data, size_t size, bool sealed)
{
	Hash sum = hash_of("dlc/predictor-rows/v1", data, size);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	must(!sealed || write(fd, &sum, sizeof sum) == (ssize_t)sizeof sum);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RowCache c, again;
	if (size == 0)
		return 0;
	if (path[0] == 0) {
		strcpy(path, "/dev/shm/fuzz_rows.XXXXXX");
		must(mkstemp(path) >= 0);
	}
	Arena *a = arena_new();
	write_file(data + 1, size - 1, data[0] & 1);
	row_cache_open(&c, a, path, 7);
	for (size_t i = 0; i < c.nold; i++) {
		const CachedRow *r = row_cache_find(&c, c.old[i].key);
		for (int k = 0; r != NULL && k < PREDICTORS; k++)
			must(isfinite(r->row[k]));
	}
	CachedRow more = { .key = row_cache_key(row_cache_task((Hash){ { 7 } }, "t"), 7), .estimate = 1 };
	row_cache_add(&c, &more);
	row_cache_save(&c);
	row_cache_open(&again, a, path, 7);
	must(again.nold == c.nold + 1 && row_cache_find(&again, more.key) != NULL);
	arena_free(a);
	return 0;
}
