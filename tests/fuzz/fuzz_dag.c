/*
 * libFuzzer: a Dag's text from a stranger.  What parses prints to a text that reads back the same,
 * has a canonical form that is its own, survives every pass, is cut into Tasks, and its naive Fn
 * verifies.
 */
#include "fuzz.h"

#include <string.h>

#include "graph/graph.h"
#include "ir/verify/verify.h"

static void check_text(Arena *a, const Dag *d)
{
	Err err = { 0 };
	const char *text = dag_str(d->arena, d);
	Dag *back = dag_parse(a, "back", text, strlen(text), &err);
	must(back != NULL && strcmp(dag_str(back->arena, back), text) == 0);
}

static void check_task(Arena *a, const Dag *d)
{
	Err err = { 0 };
	Task *t = task_new(a, d, &err);
	if (t == NULL)
		return;
	Task *again = task_parse(a, t->text, strlen(t->text), &err);
	must(again != NULL && memcmp(&again->id, &t->id, sizeof(Hash)) == 0);
}

static void check_naive(const Dag *d)
{
	Arena *a = arena_new();
	Err err = { 0 };
	KernelSet *ks = d->call.n <= 64 ? op_naive(ir_new(a), d, "f", NAIVE_AS_TYPED, &err) : NULL;
	must(ks == NULL || ir_verify_set(ks, &err));
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "fuzz", (const char *)data, size, &err);
	must((d != NULL) == (err.code == ERR_NONE));
	if (d != NULL) {
		check_text(a, d);
		if (d->value.n <= 64)
			check_task(a, d);
		check_naive(d);
		if (graph_optimize(d, graph_eval_interp, &err)) {
			check_text(a, d);
			must(graph_partition(a, d, &err) != NULL); /* with whatever layouts the text has */
			graph_layouts(d, &(Target){ .vector_bits = size % 2 == 0 ? 256 : 512, .line_bytes = 64 });
			check_text(a, d);
			must(graph_partition(a, d, &err) != NULL);
		}
	}
	arena_free(a);
	return 0;
}
