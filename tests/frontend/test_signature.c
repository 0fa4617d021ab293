/*
 * Models with several entry points: the word that names one, in each format that has them, and the sentences for names
 * that they do not have.
 */
#include "archive_bytes.h"
#include "coreml_made.h"
#include "folder.h"
#include "tflite_text.h"

/* ---- a model of each format: Neg, and where it has two Exp, of x[2,6] */

/* A graph with two signatures, `more` of them, and tags. */
#define TF_NODE(name, op) "node { name: '" name "' op: '" op "' input: 'x' }\n"
#define TF_GRAPH(tags, ...) \
	"meta_graphs { meta_info_def { " tags " } graph_def { node { name: 'x' op: 'Placeholder' attr { key: 'dtype' " \
	"value { type: DT_FLOAT } } attr { key: 'shape' value { shape { dim { size: 2 } dim { size: 6 } } } } }\n" \
	TF_NODE("n", "Neg") TF_NODE("e", "Exp") "} " __VA_ARGS__ "}\n"
#define TF_SIGNATURE(key, node) \
	"signature_def { key: '" key "' value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT } } outputs { key: " \
	"'y' value { name: '" node ":0' } } } }\n"
#define TF_SAVED "saved_model_schema_version: 1\n"
#define TF_TAG(name) "tags: '" name "' "

static Bytes text_bytes(const char *text)
{
	return (Bytes){ (const unsigned char *)text, strlen(text) };
}

static Bytes tf_two(Arena *a)
{
	(void)a;
	return text_bytes(TF_SAVED TF_GRAPH(TF_TAG("serve"), TF_SIGNATURE("a", "n") TF_SIGNATURE("b", "e")));
}

static Bytes tf_default(Arena *a)
{
	(void)a;
	return text_bytes(
		TF_SAVED TF_GRAPH(TF_TAG("serve"), TF_SIGNATURE("serving_default", "n") TF_SIGNATURE("b", "e")));
}

/* Graphs with the tags serve and tpu, then serve, then none. */
static Bytes tf_tags(Arena *a)
{
	(void)a;
	return text_bytes(TF_SAVED TF_GRAPH(TF_TAG("serve") TF_TAG("tpu"), TF_SIGNATURE("b", "e"))
			TF_GRAPH(TF_TAG("serve"), TF_SIGNATURE("b", "n")) TF_GRAPH("", TF_SIGNATURE("b", "e")));
}

/* As modules of TensorFlow Hub were: one graph to train, one without tags. */
static Bytes tf_hub(Arena *a)
{
	(void)a;
	return text_bytes(
		TF_SAVED TF_GRAPH(TF_TAG("train"), TF_SIGNATURE("b", "e")) TF_GRAPH("", TF_SIGNATURE("b", "n")));
}

static Bytes tf_train(Arena *a)
{
	(void)a;
	return text_bytes(TF_SAVED TF_GRAPH(TF_TAG("train"), TF_SIGNATURE("b", "e"))
			TF_GRAPH(TF_TAG("eval"), TF_SIGNATURE("b", "n")));
}

static Bytes tf_plain(Arena *a)
{
	(void)a;
	return text_bytes("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
					  "'shape' value { shape { dim { size: 2 } dim { size: 6 } } } } }\n" TF_NODE("y", "Neg"));
}

static Bytes lite(Arena *a)
{
	return lite_model(a, "in x f32 2,6\nNEG x -> y\nout y\ngraph 1\nin x f32 2,6\nstate s f32 2,6\nEXP x -> z\n"
						 "ADD z,s -> y\nout y\nsignature a 0\nsignature b 1\nsignature far 7");
}

static Bytes lite_none(Arena *a)
{
	return lite_model(a, "in x f32 2,6\nNEG x -> y\nout y");
}

static MilFunction *mil_function(Arena *a, const char *op)
{
	MilFunction *fn = arena_new_of(a, MilFunction);
	MilBlock *block = arena_new_of(a, MilBlock);
	MilOperation o = { .type = op };
	MilType *x = mil_type(a, MIL_F32, 2, (int64_t[]){ 2, 6 });
	mil_add_input(a, &o, "x", "x", NULL);
	vec_push(a, &o.outputs, ((MilNamed){ .name = "y", .type = x }));
	vec_push(a, &block->operations, o);
	vec_push(a, &block->outputs, "y");
	fn->opset = "CoreML8";
	vec_push(a, &fn->inputs, ((MilNamed){ .name = "x", .type = x }));
	vec_push(a, &fn->block_specializations, ((MilSpecialization){ .key = fn->opset, .value = block }));
	return fn;
}

static Bytes coreml(Arena *a)
{
	MilProgram p = { .version = 1 };
	CoremlModel m = { .specificationVersion = 9, .description = arena_new_of(a, CoremlDescription) };
	m.description->defaultFunctionName = "a";
	vec_push(a, &p.functions, ((MilFunctionEntry){ .key = "b", .value = mil_function(a, "exp") }));
	vec_push(a, &p.functions, ((MilFunctionEntry){ .key = "a", .value = mil_function(a, "abs") }));
	m.mlProgram = bytes_of(a, &MilProgram_message, &p);
	return bytes_of(a, &CoremlModel_message, &m);
}

static Bytes coreml_layers(Arena *a)
{
	Made m;
	make(&m, a, 4);
	vec_push(a, &m.about.input, array_of(a, "x", 2, (int64_t[]){ 2, 6 }));
	vec_push(a, &m.about.output, array_of(a, "y", 0, NULL));
	add_layer(&m, 670, "x", "y", NULL);
	return made(&m);
}

#define METHOD(name, op) \
	"  def " name "(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch." op "(x)\n"

static Bytes script(Arena *a)
{
	static const char pickle[] = "\x80\x02" "c__torch__\nM\n)\x81}b.";
	Entry e[] = { { "m/data.pkl", pickle, 0, 0, 0, sizeof pickle - 1 },
		{ "m/code/__torch__.py", "class M(Module):\n" METHOD("forward", "neg") METHOD("b", "exp"), 0, 0, 0, 0 } };
	return make_archive(a, e, 2);
}

#define TENSOR "{\"as_tensor\":{\"name\":\"x\"}}"
#define PROGRAM(op) \
	"{\"graph_module\":{\"graph\":{\"nodes\":[{\"target\":\"torch.ops.aten." op ".default\",\"inputs\":[{\"name\":" \
	"\"self\",\"arg\":" TENSOR ",\"kind\":1}],\"outputs\":[{\"as_tensor\":{\"name\":\"y\"}}]}],\"tensor_values\":{" \
	"\"x\":{\"dtype\":7,\"sizes\":[{\"as_int\":2},{\"as_int\":6}]}}},\"signature\":{\"input_specs\":[{\"user_input\":" \
	"{\"arg\":" TENSOR "}}],\"output_specs\":[{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"y\"}}}}]}}}"

static Bytes programs(Arena *a, const char *first)
{
	Entry e[] = { { "m/archive_format", "pt2", 0, 0, 0, 0 }, { "m/models/b.json", PROGRAM("exp"), 0, 0, 0, 0 },
		{ arena_printf(a, "m/models/%s.json", first), PROGRAM("neg"), 0, 0, 0, 0 } };
	return make_archive(a, e, 3);
}

static Bytes two_programs(Arena *a)
{
	return programs(a, "model");
}

static Bytes two_named_programs(Arena *a)
{
	return programs(a, "a");
}

static Bytes darknet(Arena *a)
{
	(void)a;
	return text_bytes("[net]\nheight=2\nwidth=2\nchannels=1\n[avgpool]\n");
}

/* ---- what is compiled, or the sentence */

static const struct {
	Bytes (*model)(Arena *a);
	const char *signature, *tags, *want; /* a call of the Dag */
	const char *place, *why;             /* of a refusal */
} rows[] = {
	{ tf_two, "a", NULL, "neg(x)", NULL, NULL },
	{ tf_two, "b", NULL, "exp(x)", NULL, NULL },
	{ tf_two, NULL, NULL, NULL, "signature", "no signature serving_default, but 2 others; name one of: a, b" },
	{ tf_two, "c", NULL, NULL, "signature", "the model has no signature 'c'; it has: a, b" },
	{ tf_default, NULL, NULL, "neg(x)", NULL, NULL },
	{ tf_default, "b", "serve", "exp(x)", NULL, NULL },
	{ tf_default, NULL, "tpu", NULL, "tags", "no graph of the model has the tags tpu; there are: serve" },
	{ tf_tags, NULL, NULL, "neg(x)", NULL, NULL },
	{ tf_tags, NULL, "tpu,serve", "exp(x)", NULL, NULL },
	{ tf_tags, NULL, "tpu", NULL, "tags", "has the tags tpu; there are: serve,tpu; serve; none" },
	{ tf_tags, NULL, "tpu,tpu", NULL, "tags", "has the tags tpu,tpu; there are: serve,tpu; serve; none" },
	{ tf_hub, NULL, NULL, "neg(x)", NULL, NULL },
	{ tf_hub, "b", "train", "exp(x)", NULL, NULL },
	{ tf_train, NULL, NULL, NULL, "tags",
		"2 graphs, and none has the tag serve; name the tags of one of: train; eval" },
	{ tf_plain, NULL, NULL, "neg(x)", NULL, NULL },
	{ tf_plain, "a", NULL, NULL, "signature", "the model has no signatures" },
	{ tf_plain, NULL, "serve", NULL, "tags", "the model is one graph without tags" },
	{ lite, NULL, NULL, "neg(x)", NULL, NULL },
	{ lite, "a", NULL, "neg(x)", NULL, NULL },
	{ lite, "b", NULL, "exp(x", NULL, NULL },
	{ lite, "c", NULL, NULL, "signature", "the model has no signature 'c'; it has: a, b, far" },
	{ lite, "far", NULL, NULL, "model", "its signature 'far' is of subgraph 7, but there are 2" },
	{ lite, "a", "serve", NULL, "tags", "have no graphs with tags" },
	{ lite_none, "a", NULL, NULL, "signature", "the model has no signatures" },
	{ coreml, NULL, NULL, "abs(x)", NULL, NULL },
	{ coreml, "b", NULL, "exp(x)", NULL, NULL },
	{ coreml, "c", NULL, NULL, "signature", "the model has no function 'c'; it has: b, a" },
	{ coreml_layers, "a", NULL, NULL, "signature", "the model is one network without functions" },
	{ script, NULL, NULL, "neg(x)", NULL, NULL },
	{ script, "b", NULL, "exp(x)", NULL, NULL },
	{ script, "c", NULL, NULL, "signature", "the model has no method 'c'; its methods are: forward, b" },
	{ two_programs, NULL, NULL, "neg(x)", NULL, NULL },
	{ two_programs, "b", NULL, "exp(x)", NULL, NULL },
	{ two_named_programs, "a", NULL, "neg(x)", NULL, NULL },
	{ two_named_programs, NULL, NULL, NULL, "signature", "the model has no program 'model'; name one of: b, a" },
	{ darknet, "a", NULL, NULL, "signature",
		"DarkNet networks (.cfg) have one entry point, so there is none to choose" },
};

START_TEST(entry_points_are_chosen)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shape = { "x", shape_of(2, (int64_t[]){ 2, 6 }) };
	ModelArgs args = { .signature = rows[_i].signature, .tags = rows[_i].tags };
	if (rows[_i].model == script) {
		args.shape = &shape;
		args.nshape = 1;
	}
	Dag *d = frontend_load_bytes(a, "model", rows[_i].model(a), &args, &err);
	const char *want = rows[_i].want;
	ck_assert_msg((d != NULL) == (want != NULL), "row %d: %s: %s", _i, err.place, err.text);
	if (want != NULL) {
		ck_assert_msg(strstr(dag_str(a, d), want) != NULL, "row %d lacks %s:\n%s", _i, want, dag_str(a, d));
	} else {
		ck_assert_str_eq(err.place, rows[_i].place);
		ck_assert_msg(strstr(err.text, rows[_i].why) != NULL, "row %d: %s\nnot: %s", _i, err.text, rows[_i].why);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("signature");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, entry_points_are_chosen, 0, LEN(rows));
	return run_suite("signature", tc);
}
