/*
 * MXNet: symbols against Dags, arrays of all versions of .params, roles of variables, files that belong together, what
 * is refused with which sentence, damaged files; networks of MXNet's own with its results (../shared/models/mxnet).
 */
#include "evaluate.h"
#include "folder.h"
#include "mxnet_text.h"
#include "real_files.h"

#include "base/rng.h"
#include "op/element.h"

#include <math.h>

#include "mxnet_become.inc"
#include "mxnet_refused.inc"

static Dag *load_symbol(Arena *a, const char *lines, const ModelArgs *args, Err *err)
{
	const char *path = in_folder(a, "m-symbol.json"), *text = symbol_text(a, lines);
	save_bytes(path, text, strlen(text));
	return frontend_load(a, path, args, err);
}

START_TEST(symbols_become_dags)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_symbol(a, become[_i].symbol, NULL, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", become[_i].symbol, err.place, err.text, err.items);
	const char *text = dag_str(a, d);
	for (int k = 0; k < LEN(become[_i].want) && become[_i].want[k] != NULL; k++)
		ck_assert_msg(strstr(text, become[_i].want[k]) != NULL, "%s\nlacks \"%s\":\n%s", become[_i].symbol,
			become[_i].want[k], text);
	ck_assert_msg(become[_i].lacks == NULL || strstr(text, become[_i].lacks) == NULL, "%s\nhas \"%s\":\n%s",
		become[_i].symbol, become[_i].lacks, text);
	arena_free(a);
}
END_TEST

static void check_sentence(const char *what, const Err *err, const char *want)
{
	char all[sizeof err->text + sizeof err->items + 300];
	err_format(err, all, sizeof all);
	ck_assert_msg(strstr(all, want) != NULL, "%s\nsays: %slacks: %s", what, all, want);
	ck_assert_int_eq(err_exit_code(err->code), 1);
}

START_TEST(symbols_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_symbol(a, refused[_i].symbol, NULL, &err);
	ck_assert_msg(d == NULL, "%s\nis taken:\n%s", refused[_i].symbol, d != NULL ? dag_str(a, d) : "");
	check_sentence(refused[_i].symbol, &err, refused[_i].want);
	arena_free(a);
}
END_TEST

/* ---- JSON that is no network */

#define NODE(op, name, in) "{\"op\": \"" op "\", \"name\": \"" name "\", \"inputs\": [" in "]}"
#define NET(nodes, heads) "{\"nodes\": [" nodes "], \"arg_nodes\": [0], \"heads\": [" heads "]}"

static const struct {
	const char *json, *want;
} texts[] = {
	{ "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}], \"arg_nodes\": [0]", "m-symbol.json:1" },
	{ "{\"nodes\": 3, \"arg_nodes\": [], \"heads\": []}", "must be an array" },
	{ NET(NODE("null", "x", ""), ""), "has no heads" },
	{ NET(NODE("null", "x", ""), "[7, 0, 0]"), "names node 7, but there are 1 nodes" },
	{ NET(NODE("null", "x", "") "," NODE("relu", "r", "[-1, 0, 0]"), "[1, 0]"), "must be a node's number" },
	{ NET(NODE("null", "x", "") "," NODE("relu", "r", "[0, 99999, 0]"), "[1, 0]"), "names result 99999 of a node" },
	{ NET(NODE("relu", "r", "[1, 0, 0]") "," NODE("relu", "s", "[0, 0, 0]"), "[1, 0]"), "depends on the node itself" },
	{ NET(NODE("relu", "r", "[0, 0, 0]"), "[0, 0]"), "depends on the node itself" },
	{ NET(NODE("null", "x", "[0, 0, 0]"), "[0, 0]"), "a variable has no inputs" },
	{ NET("{\"name\": \"x\", \"inputs\": []}", "[0, 0]"), "op" },
	{ NET("{\"op\": \"null\", \"name\": \"\", \"inputs\": []}", "[0, 0]"), "has no name" },
	{ NET("{\"op\": \"relu\", \"name\": \"x\", \"inputs\": [], \"attrs\": {\"a\": []}}", "[0, 0]"), "must be a text" },
	{ "{\"nodes\": [], \"arg_nodes\": [5], \"heads\": [[0, 0]]}", "must be the number of one of 0 nodes" },
};

START_TEST(texts_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *path = in_folder(a, "m-symbol.json");
	save_bytes(path, texts[_i].json, strlen(texts[_i].json));
	ck_assert_msg(frontend_load(a, path, NULL, &err) == NULL, "%s", texts[_i].json);
	check_sentence(texts[_i].json, &err, texts[_i].want);
	arena_free(a);
}
END_TEST

/* 0.8: attributes in `param`, hidden ones in `attr`, moving statistics not among the inputs, axis -1 means all. */
START_TEST(old_symbols_are_upgraded)
{
	static const char old[] =
		"{\"nodes\": ["
		"{\"op\": \"null\", \"param\": {}, \"name\": \"x\", \"inputs\": [], \"attr\": {\"lr_mult\": \"0.2\"}},"
		"{\"op\": \"null\", \"param\": {}, \"name\": \"bn_gamma\", \"inputs\": []},"
		"{\"op\": \"null\", \"param\": {}, \"name\": \"bn_beta\", \"inputs\": []},"
		"{\"op\": \"BatchNorm\", \"param\": {\"eps\": \"0.01\"}, \"name\": \"bn\", \"inputs\": [[0, 0], [1, 0], [2, "
	    "0]],"
		" \"attr\": {\"ctx_group\": \"a\", \"nonsense\": \"1\"}},"
		"{\"op\": \"argmax\", \"param\": {\"axis\": \"-1\"}, \"name\": \"am\", \"inputs\": [[3, 0]]}"
		"], \"arg_nodes\": [0, 1, 2], \"heads\": [[4, 0]]}";
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shape = { "x", { 2, { 2, 3 } } };
	const char *path = in_folder(a, "m-symbol.json");
	save_bytes(path, old, sizeof old - 1);
	Dag *d = frontend_load(a, path, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	const char *text = dag_str(a, d);
	ck_assert_msg(strstr(text, "bn_beta, bn_moving_mean, bn_moving_var) epsilon=0.01") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "f32[6] = reshape(") != NULL, "%s", text);
	arena_free(a);
}
END_TEST

/* ---- arrays */

static const char two_layers[] = "in x 2,3\nvar w\nvar b\nFullyConnected f x,w,b num_hidden=2\nhead f\n";
static const float weights[] = { 1, 2, 3, 4, 5, 6 }, biases[] = { 10, 20 };

/* w and b as a version writes them, with these names; "": the array is left out. */
static Bytes arrays(Arena *a, int version, const char *w, const char *b)
{
	Text t = { .arena = a };
	bool both = w[0] != 0 && b[0] != 0;
	put_head(&t, both ? 2 : 1);
	if (w[0] != 0)
		put_array(&t, version, 2, (int64_t[]){ 2, 3 }, weights);
	if (b[0] != 0)
		put_array(&t, version, 1, (int64_t[]){ 2 }, biases);
	put_number(&t, both ? 2 : 1, 8);
	if (w[0] != 0)
		put_name(&t, w);
	if (b[0] != 0)
		put_name(&t, b);
	return (Bytes){ (const unsigned char *)text_str(&t), t.n };
}

static Dag *load_both(Arena *a, const char *symbol, Bytes params, const char *name, const ModelArgs *args, Err *err)
{
	const char *path = in_folder(a, "m-symbol.json"), *text = symbol_text(a, symbol);
	save_bytes(path, text, strlen(text));
	save_bytes(in_folder(a, name), params.at, params.n);
	return frontend_load(a, args != NULL && args->weights == NULL ? in_folder(a, name) : path, args, err);
}

START_TEST(arrays_of_all_versions)
{
	Arena *a = arena_new();
	Err err = { 0 };
	static const float x[] = { 1, 0, 0, 0, 1, 1 }, want[] = { 11, 24, 15, 31 };
	Bytes file = arrays(a, _i, _i == 1 ? "w" : "arg:w", "arg:b");
	Dag *d = load_both(a, two_layers, file, _i == 2 ? "m-0012.params" : "m.params", NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	float **out = (float **)evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < LEN(want); k++)
		ck_assert_float_eq(out[0][k], want[k]);
	arena_free(a);
}
END_TEST

/* The last epoch is taken; the file of arrays names the network, too; --weights names another one. */
START_TEST(files_belong_together)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file = arrays(a, 2, "arg:w", "arg:b");
	save_bytes(in_folder(a, "m-0001.params"), "damaged", 7);
	ck_assert_ptr_nonnull(load_both(a, two_layers, file, "m-0002.params", NULL, &err));
	ck_assert_ptr_nonnull(load_both(a, two_layers, file, "m-0002.params", &(ModelArgs){ 0 }, &err));
	save_bytes(in_folder(a, "other.bin"), file.at, file.n);
	ModelArgs given = { .weights = in_folder(a, "other.bin") };
	ck_assert_ptr_nonnull(
		load_both(a, two_layers, (Bytes){ (const unsigned char *)"x", 1 }, "m-0003.params", &given, &err));
	ck_assert(frontend_load(a, in_folder(a, "m-symbol.json"), NULL, &err) == NULL);
	ck_assert_str_eq(err.place, in_folder(a, "m-0003.params"));
	err = (Err){ 0 };
	ck_assert(frontend_load(a, in_folder(a, "other.bin"), NULL, &err) == NULL);
	check_sentence("arrays alone", &err, "no symbol is beside it");
	arena_free(a);
}
END_TEST

static void refuse_arrays(const char *symbol, Bytes file, const char *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_msg(load_both(a, symbol, file, "m-0000.params", NULL, &err) == NULL, "taken, though: %s", want);
	check_sentence(symbol, &err, want);
	arena_free(a);
}

START_TEST(arrays_are_refused)
{
	Arena *a = arena_new();
	static const char wide[] = "in x 2,3\nvar w\nvar b\nFullyConnected f x,w,b num_hidden=3\nhead f\n";
	Text t = { .arena = a }, huge = { .arena = a }, sparse = { .arena = a }, unnamed = { .arena = a };
	refuse_arrays(two_layers, arrays(a, 2, "arg:w", ""), "it lacks 1 of its arrays ('b')");
	refuse_arrays(two_layers, arrays(a, 2, "arg:w", "arg:c"), "it lacks 1 of its arrays ('b') and has 1 others ('c')");
	refuse_arrays(two_layers, arrays(a, 2, "arg:w", "arg:w"), "has two arrays named 'w'");
	refuse_arrays(wide, arrays(a, 2, "arg:w", "arg:b"),
		"its weight 'w' has the shape 2x3, but its attributes and its input need 3x3");
	refuse_arrays(
		"in x 2,3\nrelu r x\nhead r\n", arrays(a, 2, "w", "b"), "it has 2 arrays that the network lacks ('w', 'b')");
	put_head(&t, (uint64_t)1 << 60);
	refuse_arrays(two_layers, (Bytes){ (const unsigned char *)text_str(&t), t.n }, "too short for its arrays");
	put_head(&huge, 1);
	put_number(&huge, 0xF993FAC9u, 4);
	put_number(&huge, 0, 4);
	put_number(&huge, 2, 4);
	put_number(&huge, (uint64_t)1 << 40, 8);
	put_number(&huge, (uint64_t)1 << 40, 8);
	put_number(&huge, 0, 8);
	put_number(&huge, 0, 8);
	refuse_arrays(two_layers, (Bytes){ (const unsigned char *)text_str(&huge), huge.n },
		"array 1 of this MXNet parameter "
		"file is cut off");
	put_head(&sparse, 1);
	put_number(&sparse, 0xF993FAC9u, 4);
	put_number(&sparse, 1, 4);
	for (int k = 0; k < 5; k++)
		put_number(&sparse, 0, 8);
	refuse_arrays(two_layers, (Bytes){ (const unsigned char *)text_str(&sparse), sparse.n }, "is sparse");
	put_head(&unnamed, 1);
	put_array(&unnamed, 2, 1, (int64_t[]){ 2 }, biases);
	put_number(&unnamed, 0, 8);
	refuse_arrays("in x 2\nrelu r x\nhead r\n", (Bytes){ (const unsigned char *)text_str(&unnamed), unnamed.n },
		"arrays without names");
	arena_free(a);
}
END_TEST

static int notes;

static void count_note(const char *sentence, void *arg)
{
	notes += strstr(sentence, arg) != NULL;
}

/* Weights without arrays are made up, the same ones again, and the user is told. */
START_TEST(weights_are_made_up)
{
	Arena *a = arena_new();
	Err err = { 0 };
	static char word[] = "seeded random numbers";
	ModelArgs args = { .note = count_note, .note_arg = word };
	notes = 0;
	Dag *d = load_symbol(a, two_layers, &args, &err), *again = load_symbol(a, two_layers, &args, &err);
	ck_assert_ptr_nonnull(d);
	ck_assert_ptr_nonnull(again);
	ck_assert_int_eq(notes, 2);
	for (size_t k = 0; k < d->value.n; k++)
		if (d->value.at[k].kind == VALUE_CONST)
			ck_assert_mem_eq(d->value.at[k].data, again->value.at[k].data, (size_t)value_bytes(&d->value.at[k]));
	arena_free(a);
}
END_TEST

/* ---- files of MXNet's own */

static const char *data_path(Arena *a, const char *name)
{
	return real_file(a, "mxnet", name);
}

static const struct {
	const char *name;
	bool cheap; /* enough to be interpreted */
} networks[] = { { "generated/mixed_layers", true }, { "generated/rnn", true }, { "generated/mobilenet0_25", false },
	{ "generated/mobilenet_v2_0_25", false }, { "generated/squeezenet1_1", false } };

START_TEST(networks_with_results)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shape = { .name = "data" };
	const char *name = networks[_i].name, *path = data_path(a, arena_printf(a, "%s-symbol.json", name));
	if (access(path, R_OK) != 0) {
		suite_skip(name, "no such file");
		arena_free(a);
		return;
	}
	Shape s;
	const float *x = read_npy(a, data_path(a, arena_printf(a, "%s.data.npy", name)), &shape.shape);
	const float *want = read_npy(a, data_path(a, arena_printf(a, "%s.out.npy", name)), &s);
	Dag *d = frontend_load(a, path, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	ck_assert(x != NULL && want != NULL && shape_eq(d->value.at[d->output.at[0]].shape, s));
	if (networks[_i].cheap && real_file_runs(d)) {
		float **out = (float **)evaluate(a, d, (const void *const[]){ x }, &err), most = 0;
		ck_assert_msg(out != NULL, "%s", err.text);
		for (int64_t k = 0; k < shape_elements(s); k++)
			most = fmaxf(most, fabsf(want[k]));
		for (int64_t k = 0; k < shape_elements(s); k++) /* sums of f32 in another order */
			ck_assert_float_le(fabsf(out[0][k] - want[k]), 1e-4f * most);
	}
	arena_free(a);
}
END_TEST

static const struct {
	const char *file;
	int64_t size, classes;
} symbols[] = { { "web-data/cifar_resnet20_v1", 32, 10 }, { "web-data/cifar_resnet20_v2", 32, 10 },
	{ "web-data/cifar_resnet56_v1", 32, 10 }, { "web-data/cifar_resnet110_v2", 32, 10 },
	{ "web-data/cifar_wideresnet16_10", 32, 10 }, { "apache-mxnet/test_mkldnn_model_model1.json", 32, 1000 },
	{ "web-data/resnet-152", 64, 11221 }, { "apache-mxnet/save_000800.json", 0, 10 } };

START_TEST(networks_of_files)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int64_t n = symbols[_i].size;
	ShapeArg shape = { "data", n > 0 ? (Shape){ 4, { 2, 3, n, n } } : (Shape){ 2, { 2, 50 } } };
	const char *end = strstr(symbols[_i].file, ".json") != NULL ? "" : "-symbol.json";
	const char *path = data_path(a, arena_printf(a, "%s%s", symbols[_i].file, end));
	if (access(path, R_OK) != 0) {
		suite_skip(symbols[_i].file, "no such file");
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(a, path, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	ck_assert_uint_eq(d->input.n, 1); /* no label */
	ck_assert_int_eq(d->value.at[d->output.at[0]].shape.dim[0], 2);
	ck_assert_int_eq(d->value.at[d->output.at[0]].shape.dim[1], symbols[_i].classes);
	arena_free(a);
}
END_TEST

/* MXNet's fixture of its first format: six arrays without names. */
START_TEST(arrays_of_the_first_format)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *path = data_path(a, "apache-mxnet/legacy_ndarray.v0");
	if (access(path, R_OK) == 0) {
		const char *symbol = in_folder(a, "m-symbol.json"), *text = symbol_text(a, "in x 2\nrelu r x\nhead r\n");
		save_bytes(symbol, text, strlen(text));
		ck_assert(frontend_load(a, symbol, &(ModelArgs){ .weights = path }, &err) == NULL);
		check_sentence(path, &err, "arrays without names");
	} else {
		suite_skip("legacy_ndarray.v0", "no such file");
	}
	arena_free(a);
}
END_TEST

/* ---- damage: a Dag or a sentence */

static void load_damaged(const char *symbol, size_t n, Bytes params)
{
	Arena *a = arena_new();
	Err err = { 0 };
	save_bytes(in_folder(a, "m-symbol.json"), symbol, n);
	save_bytes(in_folder(a, "m-0000.params"), params.at, params.n);
	Dag *d = frontend_load(a, in_folder(a, "m-symbol.json"), NULL, &err);
	ck_assert((d == NULL) == (err.code != ERR_NONE));
	ck_assert_msg(d != NULL || err_exit_code(err.code) == 1, "%s", err.text);
	arena_free(a);
}

START_TEST(damaged_files)
{
	Arena *a = arena_new();
	Rng r = rng_seed(14);
	const char *symbol = symbol_text(a, two_layers);
	size_t n = strlen(symbol);
	Bytes file = arrays(a, 2, "arg:w", "arg:b");
	for (int k = suite_count(60, 60, 3000); k > 0; k--) {
		unsigned char *bytes = arena_copy(a, file.at, file.n);
		char *text = arena_copy(a, symbol, n + 1);
		bytes[rng_below(&r, file.n)] ^= (unsigned char)(1 + rng_below(&r, 255));
		load_damaged(symbol, n, (Bytes){ bytes, k % 2 == 0 ? file.n : (size_t)rng_below(&r, file.n) });
		text[rng_below(&r, n)] = (char)(32 + rng_below(&r, 95));
		load_damaged(text, k % 2 == 0 ? n : (size_t)rng_below(&r, n), file);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("mxnet");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, symbols_become_dags, 0, LEN(become));
	tcase_add_loop_test(tc, symbols_are_refused, 0, LEN(refused));
	tcase_add_loop_test(tc, texts_are_refused, 0, LEN(texts));
	tcase_add_test(tc, old_symbols_are_upgraded);
	tcase_add_loop_test(tc, arrays_of_all_versions, 0, 4);
	tcase_add_test(tc, files_belong_together);
	tcase_add_test(tc, arrays_are_refused);
	tcase_add_test(tc, weights_are_made_up);
	tcase_add_loop_test(tc, networks_with_results, 0, LEN(networks));
	tcase_add_loop_test(tc, networks_of_files, 0, LEN(symbols));
	tcase_add_test(tc, arrays_of_the_first_format);
	tcase_add_test(tc, damaged_files);
	return run_suite("mxnet", tc);
}
