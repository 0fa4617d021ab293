/*
 * libFuzzer: an ONNX model from a stranger. What becomes a Dag must check, and what the writer makes
 * of it must be read again. Seeds: the model.onnx files of libonnx-testdata.
 */
#include "fuzz.h"
#include "frontend/onnx/onnx.h"

#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *what, const Err *err)
{
	char text[sizeof *err + 100];
	err_format(err, text, sizeof text);
	fprintf(stderr, "%s: %s", what, text);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	static const ModelArgs args = { 0 };
	Err err = { 0 };
	Dag *d = onnx_import(a, "fuzz/nosuch/model.onnx", (Bytes){ data, size }, &args, &err);
	if ((d == NULL) != (err.code != ERR_NONE))
		give_up("neither a Dag nor a sentence", &err);
	if (d != NULL) {
		Text out = { .arena = a };
		if (!dag_check(d, &err))
			give_up("an illegal Dag", &err);
		Bytes file = { NULL, 0 };
		if (frontend_write("onnx", &out, d, &err))
			file = (Bytes){ (const unsigned char *)text_str(&out), out.n };
		if (file.n > 0 && onnx_import(a, "fuzz/nosuch/again.onnx", file, &args, &err) == NULL)
			give_up("what was written is not read", &err);
	}
	arena_free(a);
	return 0;
}
