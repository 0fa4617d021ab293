/* libFuzzer: a .cfg of DarkNet from a stranger. What becomes a Dag must check. Seeds: those of the models' folder. */
#include "fuzz.h"
#include "frontend/frontend.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text t = { .arena = a };
	text_put(&t, "[net]\n", 6);
	text_put(&t, (const char *)data, size);
	Dag *d = frontend_load_bytes(
		a, "fuzz/nosuch/net.cfg", (Bytes){ (const unsigned char *)text_str(&t), t.n }, NULL, &err);
	if ((d == NULL) != (err.code != ERR_NONE) || (d != NULL && !dag_check(d, &err)))
		abort();
	arena_free(a);
	return 0;
}
