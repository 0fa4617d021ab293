/*
 * libFuzzer: a Keras model from a stranger, an HDF5 file, an archive or a configuration. What becomes a Dag must check.
 * Seeds: the small .h5 and .keras files of a model folder.
 */
#include "fuzz.h"
#include "frontend/frontend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "fuzz/nosuch/model.json", (Bytes){ data, size }, NULL, &err);
	must((d == NULL) == (err.code != ERR_NONE));
	must(d == NULL || dag_check(d, &err));
	arena_free(a);
	return 0;
}
