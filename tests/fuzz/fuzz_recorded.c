/*
 * libFuzzer: a recorded space from a stranger: the bytes as a file, and the same with the right hash at its end. What
 * is taken reads back to the same text.
 */
#include "fuzz.h"
#include "measure/recorded.h"

#include <string.h>

static void parse(const Text *file)
{
	Arena *a = arena_new();
	RecordedSpace s, back;
	Err err = { 0 };
	char message[4096];
	if (recorded_parse(a, "fuzz.space", file->at, file->n, &s, &err)) {
		Text once = { .arena = a }, twice = { .arena = a };
		recorded_print(&once, &s);
		must(recorded_parse(a, "fuzz.space", once.at, once.n, &back, &err));
		recorded_print(&twice, &back);
		must(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0);
	} else {
		err_format(&err, message, sizeof message);
	}
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	char hex[HASH_HEX];
	Text file = { .arena = a };
	text_put(&file, (const char *)data, size);
	parse(&file);
	hash_hex(hash_of("dlc/recorded-space/v1", data, size), hex);
	text_add(&file, "hash %s\n", hex);
	parse(&file);
	arena_free(a);
	return 0;
}
