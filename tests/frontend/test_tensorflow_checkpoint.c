/* TensorFlow's checkpoints, made here: variables in slices, parts of them, keys of slices, links out of a model. */
#include "evaluate.h"
#include "folder.h"
#include "tensorflow_checkpoint.h"

#include "base/rng.h"
#include "frontend/tensorflow/slices.h"

/* Keys as TensorFlow 2.21 wrote them. */
static const struct {
	const char *name;
	int64_t at[2][2]; /* start and length; -1: all of it */
	const char *key;
	size_t n;
} keys[] = {
	{ "w", { { 3, 3 }, { 0, 4 } }, "\0w\0\1\1\2\x83\x83\x80\x84", 10 },
	{ "a/w", { { 0, 13334 }, { 0, 2 } }, "\0a/w\0\1\1\2\x80\xe0\x34\x16\x80\x82", 14 },
	{ "a/w", { { 200, 100 }, { 0, 5 } }, "\0a/w\0\1\1\2\xc0\xc8\xc0\x64\x80\x85", 14 },
	{ "a/w", { { 1250000, 1250000 }, { 0, 1 } }, "\0a/w\0\1\1\2\xf0\x13\x12\xd0\xf0\x13\x12\xd0\x80\x81", 18 },
	{ "a/w", { { 0, 3 }, { 4500, 2250 } }, "\0a/w\0\1\1\2\x80\x83\xd1\x94\xc8\xca", 14 },
	{ "\xff", { { 63, 64 }, { 0, -1 } }, "\0\xff\0\0\1\1\2\xbf\xc0\x40\x80\x7f", 12 },
};

START_TEST(slices_have_tensorflows_keys)
{
	Arena *a = arena_new();
	TfSlice s = { 0 };
	for (int d = 0; d < 2; d++) {
		TfExtent e = { .start = keys[_i].at[d][0], .length = keys[_i].at[d][1] };
		e.has = e.length < 0 ? 0 : 1 << TfExtent_length;
		vec_push(a, &s.extent, e);
	}
	ck_assert_str_eq(tf_slice_key(a, keys[_i].name, &s), tf_key_letters(a, keys[_i].key, keys[_i].n));
	arena_free(a);
}
END_TEST

/* A graph that restores two parts of the tensor "w", as savers write it, and multiplies each by x. */
#define TEXTS(one, two) \
	"attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } } " \
	"string_val: '" one "' string_val: '" two "' } } } }\n"
#define VARIABLE(name) "node { name: '" name "' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
#define NODE(name, op, one, two) "node { name: '" name "' op: '" op "' input: '" one "' input: '" two "' }\n"
static const char graph[] =
	"node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { "
	"shape { } } } }\n" VARIABLE("p") VARIABLE("q") "node { name: 'prefix' op: 'Const' " TEXTS(
		"", "") "node { name: 'keys' op: 'Const' " TEXTS("w", "w") "node { name: 'parts' op: 'Const' " TEXTS("%s",
		"%s") "node { name: 'restore' op: 'RestoreV2' input: 'prefix' input: 'keys' input: 'parts' }\n" NODE("set_p",
		"Assign", "p", "restore") NODE("set_q", "Assign", "q", "restore:1") NODE("y", "Mul", "x", "p")
		NODE("z", "Mul", "x", "q") "versions { producer: 1882 }\n";

/* Tensor w of 4 x 3: how it is stored, what the graph reads, and the numbers that these are. */
static const struct {
	Stored slice[3];
	int n;
	const char *part[2];
	float want[2][12];
	const char *why; /* instead: a part of the sentence */
} joined[] = {
	{ { { 0, 2, 0, 3 }, { 2, 2, 0, 3 } }, 2, { "4 3 0,2:-", "4 3 2,2:0,3" },
		{ { 0, 1, 2, 3, 4, 5 }, { 6, 7, 8, 9, 10, 11 } }, NULL },
	{ { { 0, 2, 0, 3 }, { 2, 2, 0, 3 } }, 2, { "", "4 3 1,2:1,2" },
		{ { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, { 4, 5, 7, 8 } }, NULL },
	{ { { 0, 4, 0, 2 }, { 0, 4, 2, 1 } }, 2, { "", "4 3 3,1:-" },
		{ { 0, 1, 8, 2, 3, 9, 4, 5, 10, 6, 7, 11 }, { 6, 7, 11 } }, NULL },
	{ { { 0, 1, 0, 3 }, { 1, 3, 0, 1 }, { 1, 3, 1, 2 } }, 3, { "4 3 -:1,2", "4 3 2,2:-" },
		{ { 1, 2, 6, 7, 8, 9, 10, 11 }, { 4, 8, 9, 5, 10, 11 } }, NULL },
	{ { { 0 } }, 0, { "4 3 1,1:0,2", "" }, { { 3, 4 }, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } }, NULL },
	{ { { 0, 3, 0, 3 }, { 2, 2, 0, 3 } }, 2, { "", "" }, { { 0 } }, "slice 1 of variable 'w'" },
	{ { { 0, 2, 0, 3 } }, 1, { "", "" }, { { 0 } }, "have 6 of the 12 elements that are read" },
	{ { { 0, 2, 0, 3 }, { 2, 3, 0, 3 } }, 2, { "", "" }, { { 0 } }, "does not lie in its shape" },
	{ { { 0 } }, 0, { "4 4 0,1:-", "" }, { { 0 } }, "has no part '4 4 0,1:-', which the graph reads" },
	{ { { 0 } }, 0, { "4 3 0,5:-", "" }, { { 0 } }, "has no part" },
	{ { { 0 } }, 0, { "4 3 1,-1:-", "" }, { { 0 } }, "has no part" },
	{ { { 0 } }, 0, { "4 3 0,1", "" }, { { 0 } }, "has no part" },
	{ { { 0 } }, 0, { "4 3 0,1:-:-", "" }, { { 0 } }, "has no part" },
	{ { { 0 } }, 0, { "4 ", "" }, { { 0 } }, "has no part" },
};

START_TEST(slices_are_joined)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Entries e = { .index = { .arena = a }, .data = { .arena = a } };
	float one = 1;
	const char *text = arena_printf(a, graph, joined[_i].part[0], joined[_i].part[1]);
	tc_tensor(a, &e, 4, 3, joined[_i].slice, joined[_i].n);
	tc_save(a, "w", &e);
	save_bytes(in_folder(a, "graph.pbtxt"), text, strlen(text));
	Dag *d = frontend_load(a, in_folder(a, "graph.pbtxt"), &(ModelArgs){ .weights = in_folder(a, "w.index") }, &err);
	if (joined[_i].why != NULL) {
		ck_assert_msg(d == NULL && strstr(err.text, joined[_i].why) != NULL, "%d: %s", _i, err.text);
		arena_free(a);
		return;
	}
	ck_assert_msg(d != NULL, "%d: %s: %s", _i, err.place, err.text);
	void **out = evaluate(a, d, (const void *const[]){ &one }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < 2; k++) {
		int64_t n = shape_elements(d->value.at[d->output.at[k]].shape);
		ck_assert_int_le(n, 12);
		ck_assert_mem_eq(out[k], joined[_i].want[k], (size_t)n * sizeof(float));
	}
	arena_free(a);
}
END_TEST

START_TEST(weights_of_a_frozen_graph_are_refused)
{
	static const char frozen[] =
		"node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } } "
		"attr { key: \"shape\" value { shape { dim { size: 2 } } } } }\n"
		"node { name: \"y\" op: \"Neg\" input: \"x\" }\n";
	Arena *a = arena_new();
	Err err = { 0 };
	const char *path = in_folder(a, "graph.pbtxt");
	save_bytes(path, frozen, sizeof frozen - 1);
	ck_assert_msg(frontend_load(a, path, NULL, &err) != NULL, "%s", err.text);
	ck_assert(frontend_load(a, path, &(ModelArgs){ .weights = in_folder(a, "w.index") }, &err) == NULL);
	ck_assert_str_eq(err.place, "weights");
	ck_assert_msg(strstr(err.text, "the graph is frozen") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* Cut and flipped bytes of an index with slices: a Dag that checks, or one sentence. */
START_TEST(damaged_slices_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int k = 0; k < LEN(joined); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Entries e = { .index = { .arena = a }, .data = { .arena = a } };
		const char *text = arena_printf(a, graph, joined[k].part[0], joined[k].part[1]);
		tc_tensor(a, &e, 4, 3, joined[k].slice, joined[k].n);
		for (int flips = (int)rng_below(&rng, 3); flips >= 0; flips--)
			e.index.at[rng_below(&rng, e.index.n)] ^= (char)(1u << rng_below(&rng, 8));
		tc_save(a, "w", &e);
		save_bytes(in_folder(a, "graph.pbtxt"), text, strlen(text));
		Dag *d =
			frontend_load(a, in_folder(a, "graph.pbtxt"), &(ModelArgs){ .weights = in_folder(a, "w.index") }, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "checkpoint %d, round %d", k, _i);
		ck_assert(d == NULL || dag_check(d, &err));
		arena_free(a);
	}
}
END_TEST

/* ---- links: what is a link out of the model's folder, and the sentence */

static const struct {
	const char *link, *why;
} linked[] = {
	{ NULL, NULL },
	{ "variables", "cannot be opened: a part of its path is no folder of its own" },
	{ "variables/variables.index", "cannot be opened: it is a link, which could lead out of the model's folder" },
	{ "variables/variables.data-00000-of-00001", "cannot be opened: it is a link" },
};

START_TEST(links_out_of_a_model_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Entries e = { .index = { .arena = a }, .data = { .arena = a } };
	const char *link = linked[_i].link, *inside = in_folder(a, "model/variables");
	const char *text = arena_printf(a,
		"saved_model_schema_version: 1\nmeta_graphs { meta_info_def { tags: 'serve' } graph_def { %s } "
		"signature_def { key: 'serving_default' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } "
		"outputs { key: 'y' value { name: 'y:0' } } } } }\n",
		arena_printf(a, graph, "", ""));
	tc_tensor(a, &e, 4, 3, NULL, 0);
	mkdir(in_folder(a, "model"), 0700);
	mkdir(in_folder(a, "variables"), 0700);
	tc_save(a, "variables/variables", &e);
	save_bytes(in_folder(a, "model/saved_model.pbtxt"), text, strlen(text));
	if (link == NULL || strchr(link, '/') != NULL) {
		mkdir(inside, 0700);
		tc_save(a, "model/variables/variables", &e);
	}
	if (link != NULL) {
		const char *at = in_folder(a, arena_printf(a, "model/%s", link));
		remove(at);
		ck_assert_int_eq(symlink(in_folder(a, link), at), 0);
	}
	Dag *d = frontend_load(a, in_folder(a, "model"), NULL, &err);
	ck_assert_msg((d != NULL) == (linked[_i].why == NULL), "%d: %s: %s", _i, err.place, err.text);
	ck_assert_msg(d != NULL || strstr(err.text, linked[_i].why) != NULL, "%d: %s: %s", _i, err.place, err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tensorflow_checkpoint");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, slices_have_tensorflows_keys, 0, LEN(keys));
	tcase_add_test(tc, weights_of_a_frozen_graph_are_refused);
	tcase_add_loop_test(tc, slices_are_joined, 0, LEN(joined));
	tcase_add_loop_test(tc, damaged_slices_are_refused, 0, suite_count(40, 10, 400));
	tcase_add_loop_test(tc, links_out_of_a_model_are_refused, 0, LEN(linked));
	return run_suite("tensorflow_checkpoint", tc);
}
