/*
 * libFuzzer: a TensorFlow Lite model from a stranger. What becomes a Dag must check. Seeds: models of
 * tests/frontend/test_tflite.c.
 */
#include "fuzz.h"
#include "frontend/frontend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "fuzz/nosuch/m.tflite", (Bytes){ data, size }, NULL, &err);
	must((d == NULL) == (err.code != ERR_NONE));
	must(d == NULL || dag_check(d, &err));
	arena_free(a);
	return 0;
}
