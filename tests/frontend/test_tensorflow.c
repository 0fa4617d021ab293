/* TensorFlow: graphs against the Dags that they become, refusals, real files, checkpoints, damaged files. */
#include "evaluate.h"
#include "folder.h"
#include "graph_text.h"
#include "real_files.h"

#include "base/rng.h"
#include "frontend/node/operators.h"
#include "frontend/tensorflow/import.h"
#include "tensorflow_become.inc"
#include "tensorflow_compute.inc"
#include "tensorflow_refused.inc"

static Bytes graph_bytes(Arena *a, const char *text)
{
	Text out = { .arena = a };
	wire_write(&out, &TfGraph_message, graph_text(a, text));
	return (Bytes){ (const unsigned char *)text_str(&out), out.n };
}

START_TEST(graphs_become_dags)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "graph.pb", graph_bytes(a, become[_i].graph), NULL, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", become[_i].graph, err.place, err.text, err.items);
	const char *text = dag_str(a, d);
	for (int k = 0; k < LEN(become[_i].want) && become[_i].want[k] != NULL; k++)
		ck_assert_msg(strstr(text, become[_i].want[k]) != NULL, "%s\nlacks \"%s\":\n%s", become[_i].graph,
			become[_i].want[k], text);
	ck_assert_msg(become[_i].lacks == NULL || strstr(text, become[_i].lacks) == NULL, "%s\nhas \"%s\":\n%s",
		become[_i].graph, become[_i].lacks, text);
	arena_free(a);
}
END_TEST

START_TEST(graphs_compute)
{
	enum { MOST = 64 };
	Arena *a = arena_new();
	Err err = { 0 };
	float x[MOST];
	Dag *d = frontend_load_bytes(a, "graph.pb", graph_bytes(a, compute[_i].graph), NULL, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", compute[_i].graph, err.place, err.text, err.items);
	for (int k = 0; k < MOST; k++)
		x[k] = (float)k;
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s\n%s", compute[_i].graph, err.text);
	const Value *v = &d->value.at[d->output.at[0]];
	ck_assert_int_eq(shape_elements(v->shape), compute[_i].n);
	for (int k = 0; k < compute[_i].n; k++) {
		double have = element_get(v->type, out[0], k), want = compute[_i].want[k];
		ck_assert_msg(have == want, "%s\nelement %d is %.9g, not %.9g", compute[_i].graph, k, have, want);
	}
	arena_free(a);
}
END_TEST

START_TEST(graphs_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "graph.pb", graph_bytes(a, refused[_i].graph), NULL, &err);
	ck_assert_msg(d == NULL, "%s\nbecame\n%s", refused[_i].graph, d != NULL ? dag_str(a, d) : "");
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s\nrefused: %s\nnot: %s", refused[_i].graph, err.text,
		refused[_i].why);
	arena_free(a);
}
END_TEST

/* A loop that never ends and carries many values, so that names would take memory long before its iterations do. */
START_TEST(loops_that_carry_much_are_refused)
{
	enum { CARRIED = 200 };
	Arena *a = arena_new();
	Err err = { 0 };
	const char *in = "i:i32", *out = "i=n:y:0", *read = "c";
	for (int k = 0; k < CARRIED; k++) {
		in = arena_printf(a, "%s,a%d:f32", in, k);
		out = arena_printf(a, "%s,a%d=a%d", out, k, k);
		read = arena_printf(a, "%s,x", read);
	}
	const char *graph = arena_printf(a,
		"func go %s -> r=l:z:0\nconst n i32 = 3\nnode Less i,n:output:0 -> l\nend\n"
		"func body %s -> %s\nnode Identity i -> n\nend\n"
		"in x f32 2\nconst c i32 = 0\nnode While %s -> w cond=&go body=&body\nnode Neg w:1 -> y\n",
		in, in, out, read);
	ck_assert(frontend_load_bytes(a, "graph.pb", graph_bytes(a, graph), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "only while they carry 1048576 values") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* Each predicate would be looked at behind all of them. */
START_TEST(choices_behind_many_choices_are_refused)
{
	enum { CHOICES = 3000 };
	Arena *a = arena_new();
	Err err = { 0 };
	Text t = { .arena = a };
	text_add(&t, "in x f32 2\n");
	for (int k = 0; k < CHOICES; k++) {
		const char *x = k == 0 ? "x" : arena_printf(a, "a%d", k - 1);
		text_add(&t, "in p%d bool ()\nnode Switch %s,p%d -> s%d\n", k, x, k, k);
		text_add(&t, "node Add s%d,s%d:1 -> a%d\n", k, k, k);
	}
	text_add(&t, "node Merge a%d,a%d -> m\nnode Neg m -> y\n", CHOICES - 1, CHOICES - 1);
	ck_assert(frontend_load_bytes(a, "graph.pb", graph_bytes(a, text_str(&t)), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "more choices than dlc looks through") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* Each loop would be tried once for each loop in it. The outer ones come first, or last. */
START_TEST(loops_nested_deep_are_refused)
{
	enum { DEEP = 1200 };
	Arena *a = arena_new();
	Err err = { 0 };
	Text t = { .arena = a };
	text_add(&t, "in x f32 2\nin p bool ()\n");
	for (int k = 0; k < DEEP; k++) {
		int i = _i == 0 ? k : DEEP - 1 - k;
		const char *in = i == 0 ? "x" : arena_printf(a, "s%d:1", i - 1);
		const char *next = i == DEEP - 1 ? arena_printf(a, "s%d:1", i) : arena_printf(a, "x%d", i + 1);
		text_add(&t, "node Enter %s -> e%d frame_name=f%d\nnode Merge e%d,n%d -> m%d\n", in, i, i, i, i, i);
		text_add(&t, "node LoopCond p -> c%d\nnode Switch m%d,c%d -> s%d\n", i, i, i, i);
		text_add(&t, "node NextIteration %s -> n%d\n", next, i);
		text_add(&t, "node Exit s%d -> x%d\n", i, i);
	}
	text_add(&t, "node Neg x0 -> y\n");
	ck_assert(frontend_load_bytes(a, "graph.pb", graph_bytes(a, text_str(&t)), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "its loops are nested more than 16 deep") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* Cut and flipped bytes of all graphs: a Dag that checks, or one sentence. */
START_TEST(damaged_graphs_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int k = 0; k < LEN(become); k++) {
		Arena *a = arena_new();
		Bytes b = graph_bytes(a, become[k].graph);
		unsigned char *at = arena_copy(a, b.at, b.n);
		Err err = { 0 };
		for (int flips = (int)rng_below(&rng, 4); flips >= 0; flips--)
			at[rng_below(&rng, b.n)] ^= (unsigned char)(1u << rng_below(&rng, 8));
		b = (Bytes){ at, rng_below(&rng, 2) == 0 ? b.n : rng_below(&rng, b.n) };
		Dag *d = frontend_load_bytes(a, "graph.pb", b, NULL, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "graph %d, round %d", k, _i);
		ck_assert(d == NULL || dag_check(d, &err));
		arena_free(a);
	}
}
END_TEST

/* ---- the text format */

#define NODE_X \
	"node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' " \
	"value { shape { dim { size: 2 } dim { size: -1 } } } } }\n"
#define NODE_Y "node { name: 'y' op: 'Neg' input: 'x' }\n"

static const struct {
	const char *text, *want; /* a line of the Dag, or a part of the sentence */
} texts[] = {
	{ "# a graph\n" NODE_X NODE_Y "versions { producer: 1882 }\n", "y: f32[2,5] = neg(x)" },
	{ "versions { producer: 1882 }\n" NODE_Y NODE_X, "y: f32[2,5] = neg(x)" },
	{ NODE_X
		"node { name: 'c' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: "
		"3 } } } attr { key: 'dtype' value { type: DT_INT32 } } }\nnode { name: 'f' op: 'Cast' input: 'c' attr { key: "
		"'DstT' value { type: DT_FLOAT } } }\nnode { name: 'y' op: 'Mul' input: 'x' input: 'f' }\n",
		"y: f32[2,5] = mul(x, f)" },
	{ "saved_model_schema_version: 1\nmeta_graphs { meta_info_def { tags: 'serve' } graph_def { " NODE_X NODE_Y
	  "} signature_def { key: 'serving_default' value { inputs { key: 'a' value { name: 'x:0' dtype: DT_FLOAT } } "
	  "outputs { "
	  "key: 'b' value { name: 'y:0' } } } } }\n",
		"b: f32[2,5] = neg(a)" },
	{ "meta_info_def { }\ngraph_def { " NODE_X NODE_Y "}\n", "y: f32[2,5] = neg(x)" },
	{ "saved_model_schema_version: 1\nmeta_graphs { meta_info_def { tags: 'serve' } graph_def { " NODE_X NODE_Y
	  "} signature_def { key: '__saved_model_init_op' value { } } }\n",
		"it has no signature, which says what its inputs and results are" },
	{ "saved_model_schema_version: 1\nmeta_graphs { meta_info_def { tags: 'serve' } graph_def { " NODE_X NODE_Y
	  "} signature_def { key: 'one' value { } } signature_def { key: 'two' value { } } }\n",
		"but 2 others; name one of: one, two" },
	{ "\x08\xf9\x9c\x01\x10\xd3\x01\x18\x02\x20\xa5\x01\x28\x88\x01\x32\x02\x08\x04",
		"has the sums of a SavedModel's files, and no graph: name the folder" },
	{ NODE_X "node { name: 'y' op: 'Neg' input: 'x'\n", "the text ends where" },
	{ NODE_X "node { name: 'y' op: 'Neg' input: 3 }\n", "'3' stands where a string is needed" },
	{ "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_HUGE } } }\n",
		"'DT_HUGE' is no value of the field type" },
};

START_TEST(texts_are_read)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ModelArgs args = { 0 };
	ShapeArg x = { _i == 3 ? "a" : "x", { 2, { 2, 5 } } };
	args.shape = &x;
	args.nshape = 1;
	Bytes file = { (const unsigned char *)texts[_i].text, strlen(texts[_i].text) };
	Dag *d = frontend_load_bytes(a, "graph.pbtxt", file, &args, &err);
	const char *text = d != NULL ? dag_str(a, d) : err.text;
	ck_assert_msg(strstr(text, texts[_i].want) != NULL, "%s\nlacks %s:\n%s", texts[_i].text, texts[_i].want, text);
	arena_free(a);
}
END_TEST

/* ---- real files */

static const char *shared(Arena *a, const char *name)
{
	return real_file(a, "tensorflow", name);
}

static const char *const networks[] = { "mobilenet_025", "mixed_layers", "rnn" };

/* TensorFlow's own results, from the frozen graph and from the SavedModel. */
START_TEST(networks_give_tensorflows_results)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Shape shape, ignored;
	const char *name = networks[_i / 2], *ending = _i % 2 == 0 ? ".frozen.pb" : "";
	const float *x = read_npy(a, shared(a, arena_printf(a, "generated/%s.data.npy", name)), &shape);
	const float *want = read_npy(a, shared(a, arena_printf(a, "generated/%s.out.npy", name)), &ignored);
	if (x == NULL || want == NULL) {
		suite_skip(name, "no models in DLC_TEST_DATA");
		arena_free(a);
		return;
	}
	const char *path = shared(a, arena_printf(a, "generated/%s%s", name, ending));
	Dag *d = frontend_load(a, path, &(ModelArgs){ .batch = shape.dim[0] }, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	ck_assert_int_eq(d->input.n, 1);
	if (!real_file_runs(d)) {
		arena_free(a);
		return;
	}
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	int64_t n = shape_elements(d->value.at[d->output.at[0]].shape);
	const float *y = out[0];
	for (int64_t k = 0; k < n; k++)
		ck_assert_float_eq_tol(y[k], want[k], 1e-4);
	arena_free(a);
}
END_TEST

/* ---- a checkpoint that is damaged or lacks a part */

static const char *const parts[] = { "saved_model.pb", "variables/variables.index",
	"variables/variables.data-00000-of-00001" };

static const struct {
	int part;
	int64_t cut;  /* bytes that stay; 0: the file is removed, -1: all */
	int64_t flip; /* a byte that is changed, from the end where negative; 0: none */
	const char *why;
} broken[] = {
	{ 0, 20000, 0, "it says to be longer than what is left of the file" },
	{ 1, 0, 0, "are in a checkpoint: name its .index file" },
	{ 1, 40, 0, "it does not end as one does" },
	{ 1, -1, -1, "it does not end as one does" },
	{ 1, -1, 20, "a block has another checksum than was stored" },
	{ 2, 0, 0, "cannot be opened: No such file or directory" },
	{ 2, 1000, 0, "lies outside of its data file, which has 1000 bytes" },
	{ 2, -1, 20000, "is damaged: its checksum is another one" },
};

START_TEST(broken_checkpoints_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b;
	mkdir(in_folder(a, "variables"), 0700);
	for (int k = 0; k < LEN(parts); k++) {
		if (!file_read(a, shared(a, arena_printf(a, "generated/rnn/%s", parts[k])), 1 << 26, &b, &err)) {
			suite_skip("rnn", "no models in DLC_TEST_DATA");
			arena_free(a);
			return;
		}
		unsigned char *at = arena_copy(a, b.at, b.n);
		bool here = k == broken[_i].part;
		int64_t flip = broken[_i].flip;
		if (here && flip != 0)
			at[flip < 0 ? (int64_t)b.n + flip : flip] ^= 0x55;
		if (!here || broken[_i].cut != 0)
			save_bytes(
				in_folder(a, parts[k]), (const char *)at, here && broken[_i].cut > 0 ? (size_t)broken[_i].cut : b.n);
	}
	Dag *d = frontend_load(a, folder, NULL, &err);
	ck_assert_msg(d == NULL && strstr(err.text, broken[_i].why) != NULL, "%d: %s: %s", _i, err.place, err.text);
	arena_free(a);
}
END_TEST

/* Graphs without variables, and an index alone. */
START_TEST(formats_are_told_apart)
{
	static const struct {
		const char *name, *why;
	} rows[] = { { "tensorflow-onnx/ae0/frozen.pb", NULL }, { "tensorflow-onnx/fc-layers/frozen.pb", NULL },
		{ "tensorflow-onnx/saved_model_with_redundant_inputs", NULL },
		{ "tensorflow-onnx/saved_model_with_redundant_inputs/saved_model.pb", NULL },
		{ "tensorflow-onnx/regression/graphdef/frozen.pb", "does not say the shape of input 'X'" },
		{ "web-data/placeholder.pb", "does not say the shape of input 'Placeholder'" },
		{ "tensorflow-onnx/regression/checkpoint/model.index", "is the index of a checkpoint" } };
	Arena *a = arena_new();
	struct stat st;
	for (int k = 0; k < LEN(rows); k++) {
		Err err = { 0 };
		if (stat(shared(a, rows[k].name), &st) != 0) {
			suite_skip(rows[k].name, "no models in DLC_TEST_DATA");
			continue;
		}
		Dag *d = frontend_load(a, shared(a, rows[k].name), NULL, &err);
		ck_assert_msg((d != NULL) == (rows[k].why == NULL), "%s: %s", rows[k].name, err.text);
		ck_assert_msg(d != NULL || strstr(err.text, rows[k].why) != NULL, "%s: %s", rows[k].name, err.text);
	}
	arena_free(a);
}
END_TEST

/* docs/tensorflow.md names each operator that has a row. */
START_TEST(operators_are_documented)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes page;
	const NodeFormat *f = tf_format();
	ck_assert_msg(file_read(a, SOURCE_ROOT "/docs/tensorflow.md", 1 << 20, &page, &err), "%s", err.text);
	for (const NodeRow *const *list = f->lists; *list != NULL; list++)
		for (const NodeRow *r = *list; r->name != NULL; r++)
			ck_assert_msg(strstr((const char *)page.at, arena_printf(a, "`%s`", r->name)) != NULL,
				"docs/tensorflow.md lacks `%s`", r->name);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tensorflow");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, graphs_become_dags, 0, LEN(become));
	tcase_add_loop_test(tc, graphs_compute, 0, LEN(compute));
	tcase_add_loop_test(tc, graphs_are_refused, 0, LEN(refused));
	tcase_add_test(tc, loops_that_carry_much_are_refused);
	tcase_add_test(tc, choices_behind_many_choices_are_refused);
	tcase_add_loop_test(tc, loops_nested_deep_are_refused, 0, 2);
	tcase_add_loop_test(tc, texts_are_read, 0, LEN(texts));
	tcase_add_loop_test(tc, damaged_graphs_are_refused, 0, suite_count(40, 10, 400));
	tcase_add_loop_test(tc, networks_give_tensorflows_results, 0, 2 * LEN(networks));
	tcase_add_loop_test(tc, broken_checkpoints_are_refused, 0, LEN(broken));
	tcase_add_test(tc, formats_are_told_apart);
	tcase_add_test(tc, operators_are_documented);
	return run_suite("tensorflow", tc);
}
