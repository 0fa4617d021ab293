/*
 * libFuzzer: a CoreML model from a stranger: a model alone, or "W", four bytes that say how long the file of weights
 * is, that file and an ML program that reads it. What becomes a Dag must check. Seeds: small .mlmodel files, packages.
 */
#include "frontend/frontend.h"
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/fuzz-coreml-XXXXXX";

static void remove_folder(void)
{
	char path[80];
	snprintf(path, sizeof path, "%s/weights/weight.bin", folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/weights", folder);
	rmdir(path);
	rmdir(folder);
}

/* The weights where a package has them; what follows them is the model. */
static Bytes put_weights(Bytes file)
{
	char path[80];
	uint32_t n;
	memcpy(&n, file.at + 1, sizeof n);
	file = (Bytes){ file.at + 5, file.n - 5 };
	n = n > file.n ? (uint32_t)file.n : n;
	if (folder[sizeof folder - 2] == 'X') {
		must(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
		snprintf(path, sizeof path, "%s/weights", folder);
		must(mkdir(path, 0700) == 0);
	}
	snprintf(path, sizeof path, "%s/weights/weight.bin", folder);
	FILE *f = fopen(path, "wb");
	must(f != NULL && fwrite(file.at, 1, n, f) == n && fclose(f) == 0);
	return (Bytes){ file.at + n, file.n - n };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file = { data, size };
	const char *path = "fuzz/nosuch/net.mlmodel";
	if (size > 5 && data[0] == 'W') {
		file = put_weights(file);
		path = arena_printf(a, "%s/net.mlmodel", folder);
	}
	Dag *d = frontend_load_bytes(a, path, file, NULL, &err);
	must((d == NULL) == (err.code != ERR_NONE));
	must(d == NULL || dag_check(d, &err));
	arena_free(a);
	return 0;
}
