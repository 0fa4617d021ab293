/* libFuzzer: JSON from a stranger; what is written must read back to the same text. */
#include "fuzz.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text once = { .arena = a }, twice = { .arena = a };
	const Json *v = json_parse(a, "fuzz", (const char *)data, size, &err);
	if (v != NULL) {
		json_write(&once, v);
		v = json_parse(a, "fuzz", once.at, once.n, &err);
		if (v == NULL)
			abort();
		json_write(&twice, v);
		if (strcmp(once.at, twice.at) != 0)
			abort();
		json_write_canonical(&twice, v, &err);
	}
	arena_free(a);
	return 0;
}
