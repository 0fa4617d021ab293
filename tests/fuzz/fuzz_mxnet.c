/*
 * libFuzzer: a symbol of MXNet and its arrays from a stranger. The first two bytes are the length of the symbol, the
 * rest are the arrays. What becomes a Dag must check. Seeds: symbols and arrays of tests/frontend/test_mxnet.c.
 */
#include "frontend/mxnet/graph.h"
#include "frontend/mxnet/mxnet.h"
#include "fuzz.h"

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
	static const ShapeArg shape = { "x", { 2, { 2, 3 } } };
	static const ModelArgs args = { .shape = &shape, .nshape = 1 }, none = { 0 };
	size_t n = size < 2 ? 0 : (size_t)data[0] + 256u * data[1];
	if (size < 2 || n > size - 2)
		return 0;
	Arena *a = arena_new();
	Bytes symbol = { arena_copy(a, data + 2, n), n }, rest = { data + 2 + n, size - 2 - n };
	Err err = { 0 };
	MxnetParams params;
	MxnetSymbol s = { 0 };
	NodeGraph g;
	bool read = mxnet_params_read(a, "fuzz.params", rest, &params, &err);
	if (read != (err.code == ERR_NONE))
		give_up("neither arrays nor a sentence", &err);
	err = (Err){ 0 };
	if (read && mxnet_symbol_read(a, "fuzz-symbol.json", symbol, &s, &err))
		(void)mxnet_graph(a, "fuzz-symbol.json", &s, &params, &g, &err);
	for (int k = 0; k < 2; k++) {
		err = (Err){ 0 };
		Dag *d = mxnet_import(a, "fuzz/nosuch/net-symbol.json", symbol, k == 0 ? &none : &args, &err);
		if ((d == NULL) != (err.code != ERR_NONE))
			give_up("neither a Dag nor a sentence", &err);
		if (d != NULL && !dag_check(d, &err))
			give_up("an illegal Dag", &err);
	}
	arena_free(a);
	return 0;
}
