/*
 * libFuzzer: a Caffe network from a stranger, as text or as bytes with weights. What becomes a Dag must check. Seeds:
 * the .prototxt files of a model folder.
 */
#include "fuzz.h"
#include "frontend/frontend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "fuzz/nosuch/net.prototxt", (Bytes){ data, size }, NULL, &err);
	must((d == NULL) == (err.code != ERR_NONE));
	must(d == NULL || dag_check(d, &err));
	arena_free(a);
	return 0;
}
