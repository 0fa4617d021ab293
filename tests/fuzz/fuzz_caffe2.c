/*
 * libFuzzer: a net of Caffe2 from a stranger, as bytes or as text. What becomes a Dag must check. Seeds: nets of
 * tests/frontend/test_caffe2.c.
 */
#include "fuzz.h"
#include "frontend/frontend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "fuzz/nosuch/net.pb", (Bytes){ data, size }, NULL, &err);
	must((d == NULL) == (err.code != ERR_NONE));
	must(d == NULL || dag_check(d, &err));
	arena_free(a);
	return 0;
}
