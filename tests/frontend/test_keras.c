/* Keras: configurations against the Dags that they become, refusals, real and damaged files. */
#include "archive_bytes.h"
#include "evaluate.h"
#include "folder.h"
#include "keras_config.h"
#include "real_files.h"

#include "base/rng.h"
#include "frontend/keras/legacy.h"

#include <sys/resource.h>

static const struct {
	const char *config;
	const char *want[4];
} become[] = {
	{ MODEL(INPUT("[1,4]") LAYER("Dense", ",\"units\":3,\"activation\":\"relu\"")), { "dense(", "relu(", "y.kernel" } },
	{ MODEL(INPUT("[1,8,8,3]") LAYER("Conv2D", ",\"filters\":4,\"kernel_size\":[3,3],\"padding\":\"same\"")),
		{ "conv(", "pads=[1,1,1,1]", "f32[1,4,8,8]" } },
	{ MODEL(INPUT("[1,8,8,3]") LAYER("Conv2D", ",\"filters\":4,\"kernel_size\":3,\"strides\":2,\"padding\":\"same\"")),
		{ "pads=[0,0,1,1]" } },
	{ MODEL(INPUT("[1,3,8,8]") LAYER("MaxPooling2D", ",\"pool_size\":2,\"data_format\":\"channels_first\"")),
		{ "max_pool(x", "strides=[2,2]" } },
	{ MODEL(INPUT("[2,5,3]") LAYER("LSTM", ",\"units\":4,\"return_sequences\":true,\"go_backwards\":true")),
		{ "lstm(", "reverse=1", "steps=[-1,1,1]" } },
	{ MODEL(INPUT("[2,5,3]") LAYER(
		  "Masking", ",\"mask_value\":2") ",{\"class_name\":\"LSTM\",\"config\":{\"name\":\"z\",\"units\":4}}"),
		{ "top_k(", "gather(y, ", "lstm(" } },
	{ MODEL(INPUT("[2,5,3]") LAYER("GRU", ",\"units\":4,\"reset_after\":true")), { "gru(", "linear_before_reset=1" } },
	{ MODEL(INPUT("[2,6]") LAYER("BatchNormalization", ",\"epsilon\":0.01")), { "batch_norm(", "epsilon=0.01" } },
	{ MODEL(INPUT("[1,4,4,2]") LAYER("Flatten", "")), { "reshape(x" } },
	{ MODEL(INPUT("[1,6]") LAYER("Reshape", ",\"target_shape\":[2,-1]")), { "f32[1,2,3]" } },
	{ MODEL(INPUT("[1,6]") LAYER("LayerScale", ",\"projection_dim\":6")), { "mul(x, y.gamma)", "y.gamma" } },
	{ MODEL(INPUT("[1,6]") LAYER("Dropout", ",\"rate\":0.5")), { "y: f32[1,6] = identity(x)" } },
	{ MODEL(INPUT("[1,6]") LAYER("Activation", ",\"activation\":\"glu\"")), { "f32[1,3]", "sigmoid(" } },
	{ MODEL(INPUT("[1,6]") LAYER("Activation", ",\"activation\":\"sparsemax\"")), { "top_k(", "scan(" } },
	{ MODEL(INPUT("[1,6]") LAYER("TFOpLambda", ",\"function\":\"nn.relu6\"")), { "clip(x) hi=6 lo=0" } },
	{ MODEL(INPUT("[1,6]") LAYER("LayerNormalization", ",\"rms_scaling\":true")), { "div(x, y.sqrt)", "y.gamma" } },
	{ MODEL(INPUT("[2,5,3]") LAYER("CuDNNGRU", ",\"units\":4")), { "linear_before_reset=1", "f32[12,3]" } },
	{ MODEL(INPUT("[2,5,3]") LAYER("CuDNNLSTM", ",\"units\":4")), { "lstm(", "\"y.cell/bias\": f32[32]" } },
	/* the words of version 1 */
	{ MODEL(INPUT("[1,8,8,3]") LAYER("Convolution2D",
		  ",\"nb_filter\":4,\"nb_row\":3,\"nb_col\":5,\"subsample\":[2,1],\"border_mode\":\"same\""
		  ",\"dim_ordering\":\"tf\",\"bias\":false,\"init\":\"x\",\"W_regularizer\":null")),
		{ "f32[4,3,3,5]", "strides=[2,1]", "f32[1,4,4,8]" } },
	{ MODEL(INPUT("[1,5,3]") LAYER("LSTM",
		  ",\"output_dim\":4,\"inner_activation\":\"hard_sigmoid\",\"inner_init\":\"x\",\"consume_less\":\"cpu\"")),
		{ "acts=hard_sigmoid.tanh.tanh", "f_alpha=0.2" } },
	{ MODEL(INPUT("[1,4,2]") LAYER("AveragePooling1D", ",\"pool_length\":2,\"stride\":1,\"border_mode\":\"valid\"")),
		{ "avg_pool(", "f32[1,2,3]", "kernel=[2]" } },
	{ MODEL(INPUT("[1,4,4,2]") LAYER("ZeroPadding2D", ",\"padding\":{\"top_pad\":1,\"right_pad\":2}")),
		{ "pads=[0,0,1,0,0,0,0,2]" } },
	{ MODEL(INPUT("[1,6]") LAYER("Merge", ",\"mode\":\"sum\"")), { "y: f32[1,6] = identity(x)" } },
};

#define CALL(class, settings, nodes) \
	GRAPH(INPUT("[2,4,6]") ",{\"class_name\":\"" class "\",\"name\":\"y\",\"config\":{\"name\":\"y\"" settings \
													   "},\"inbound_nodes\":" nodes "}", \
		"[[\"x\",0,0]]", "[[\"y\",0,0]]")
#define TENSOR "{\"class_name\":\"__keras_tensor__\",\"config\":{\"shape\":[2,4,6],\"keras_history\":[\"x\",0,0]}}"
#define SLICE(start, stop, step) \
	"{\"class_name\":\"__slice__\",\"config\":{\"start\":" start ",\"stop\":" stop ",\"step\":" step "}}"

/* Calls of functions: of keras.ops, and of TensorFlow, whose arguments are in the call. */
static const struct {
	const char *config, *want;
} called[] = {
	{ CALL("GetItem", "", "[{\"args\":[" TENSOR ",[" SLICE("null", "null", "null") ",-1]],\"kwargs\":{}}]"),
		"sizes=[2,1,6] starts=[0,3,0]" },
	{ CALL("GetItem", "",
		  "[{\"args\":[" TENSOR
		  ",[{\"class_name\":\"__ellipsis__\",\"config\":{}}," SLICE("null", "null", "-2") "]],\"kwargs\":{}}]"),
		"sizes=[2,4,3] starts=[0,0,5] steps=[1,1,-2]" },
	{ CALL("Discretization", ",\"bin_boundaries\":[0.5]", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"), "less_equal(" },
	{ CALL("SpatialDropout1D", ",\"rate\":0.3", "[{\"args\":[" TENSOR "],\"kwargs\":{\"training\":false}}]"),
		"y: f32[2,4,6] = identity(x)" },
	{ CALL("Greater", "", "[{\"args\":[" TENSOR ",0],\"kwargs\":{}}]"), "less(" },
	{ CALL("Cast", ",\"dtype\":\"bool\"", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"), "y: bool[2,4,6] = cast(x)" },
	{ CALL("Split", ",\"indices_or_sections\":2,\"axis\":2", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"),
		"sizes=[2,4,3]" },
	{ CALL("Cumsum", ",\"axis\":1,\"dtype\":\"int32\"", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"),
		"y: i32[2,4,6] = scan(" },
	{ CALL("Sum", ",\"axis\":1,\"keepdims\":false,\"dtype\":\"int32\"", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"),
		"y: i32[2,6] = reduce_sum(" },
	{ CALL("TFOpLambda", ",\"function\":\"gather\"", "[[\"_CONSTANT_VALUE\",-1,[0.1,0.2],{\"indices\":[\"x\",0,0]}]]"),
		"gather(y.const, y.cast)" },
	{ CALL("Take", ",\"axis\":null", "[{\"args\":[" TENSOR ",[0,4]],\"kwargs\":{}}]"), "y: f32[2] = gather(" },
	{ CALL("OnesLike", "", "[{\"args\":[" TENSOR "],\"kwargs\":{\"dtype\":\"int32\"}}]"), "i32[2,4,6]" },
	{ CALL("TFOpLambda", ",\"function\":\"math.subtract\"", "[[\"_CONSTANT_VALUE\",-1,2,{\"y\":[\"x\",0,0]}]]"),
		"sub(y.const, x)" },
	{ CALL("TFOpLambda", ",\"function\":\"compat.v1.transpose\"", "[[\"x\",0,0,{\"perm\":[0,2,1],\"name\":null}]]"),
		"y: f32[2,6,4] = transpose(x)" },
	{ CALL("SlicingOpLambda", ",\"function\":\"__operators__.getitem\"",
		  "[[\"x\",0,0,{\"slice_spec\":[{\"start\":null,\"stop\":null,\"step\":null},2]}]]"),
		"starts=[0,2,0]" },
};

START_TEST(configurations_become_dags)
{
	check_config(become[_i].config, become[_i].want, LEN(become[_i].want));
}
END_TEST

START_TEST(calls_of_functions_become_operators)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_config(a, called[_i].config, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", called[_i].config, err.place, err.text, err.items);
	ck_assert_msg(strstr(dag_str(a, d), called[_i].want) != NULL, "%s\nlacks \"%s\":\n%s", called[_i].config,
		called[_i].want, dag_str(a, d));
	arena_free(a);
}
END_TEST

#define X INPUT("[1,4]")

static const struct {
	const char *config, *why;
} refused[] = {
	{ "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"s\"}}", "has no list of layers" },
	{ "{\"class_name\":\"Mine\",\"config\":{\"name\":\"s\"},\"x\":[]}", "is a model of class 'Mine'" },
	{ "{\"class_name\":\"Sequential\",\"config\":", "m.json" },
	{ MODEL(X LAYER("Lambda", ",\"function\":[\"code\",null,null]") LAYER("Mine", "")), "2 operators of this model" },
	{ MODEL(X LAYER("Dense", ",\"units\":0")), "it has 0 units" },
	{ MODEL(X LAYER("Dense", ",\"units\":3,\"activation\":\"mine\"")), "its activation 'mine' is not supported" },
	{ MODEL(X LAYER("Dense", ",\"units\":3,\"rate_of_decay\":1")), "its attribute 'rate_of_decay' is not known" },
	{ MODEL(X LAYER("Reshape", ",\"target_shape\":[3]")), "does not have the 4 elements" },
	{ MODEL(X LAYER("Permute", ",\"dims\":[2]")), "are no order of 1..1" },
	{ MODEL(X LAYER("Conv2D", ",\"filters\":1,\"kernel_size\":1")), "its input has 2 dimensions" },
	{ MODEL(X LAYER("LSTM", ",\"units\":1")), "its input has 2 dimensions, but needs 3" },
	{ MODEL(INPUT("[1,4,4,6]") LAYER("GroupNormalization", ",\"groups\":4")), "cannot be cut into 4 groups" },
	{ MODEL(INPUT("[1,4,4,6]") LAYER("Cropping2D", ",\"cropping\":[[2,2],[0,0]]")), "it cuts off all 4 elements" },
	{ MODEL(INPUT("[1,4,4,6]") LAYER("ZeroPadding2D", ",\"padding\":[1,-1]")), "not a number or a pair" },
	{ MODEL(INPUT("[1,4,-4]") LAYER("Flatten", "")), "holds something else than sizes" },
	{ MODEL(INPUT("[1,null,4]") LAYER("Flatten", "")), "dimension 2 of input 'x' is not known" },
	{ MODEL(X LAYER("TFOpLambda", ",\"function\":\"audio.encode\"")), "tf::audio.encode (node 'y')" },
	{ MODEL(X LAYER("Custom>Mine", "")), "Custom>Mine (node 'y')" },
	{ CALL("GetItem", "", "[{\"args\":[" TENSOR ",[9]],\"kwargs\":{}}]"), "its index 9 is not in dimension 0 of 2" },
	{ CALL("Split", ",\"indices_or_sections\":4,\"axis\":2", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"),
		"do not fit dimension 2 of 6" },
	{ CALL("TFOpLambda", ",\"function\":\"concat\"", "[[[\"x\",0,0,{\"axis\":1}],[\"_CONSTANT_VALUE\",-1,[[1]],{}]]]"),
		"its list holds a constant" },
	{ CALL("Stack", "", "[{\"args\":[[" TENSOR ",[1,2]]],\"kwargs\":{}}]"), "its inputs have the shapes 2x4x6 and 2" },
	{ CALL("TFOpLambda", ",\"function\":\"nn.silu\"", "[[\"x\",0,0,{\"beta\":1.702}]]"), "its beta is not 1" },
	{ CALL("Split", ",\"indices_or_sections\":[1,-9223372036854775808],\"axis\":2",
		  "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"),
		"does not fit dimension 2 of 6" },
	{ CALL("Stack", "",
		  "[{\"args\":[[" TENSOR ",{\"class_name\":\"__keras_tensor__\",\"config\":{\"keras_history\":[0,0]}}]]}]"),
		"this tensor does not say whose result it is (keras_history)" },
	{ MODEL(X ",{\"class_name\":\"Dense\",\"name\":\"y\",\"config\":[1]}"),
		"the config of the layer of class 'Dense' is a list, not an object" },
	{ CALL("Reshape", ",\"newshape\":[-1,-1,4]", "[{\"args\":[" TENSOR "],\"kwargs\":{}}]"), "has the size -1" },
	{ CALL("GetItem", "", "[{\"args\":[" TENSOR ",[" SLICE("1", "9223372036854775807", "-1") "]],\"kwargs\":{}}]"),
		"is empty" },
	{ MODEL(X LAYER("Dense", ",\"units\":3,\"lora_rank\":2")), "has weights of LoRA" },
	{ MODEL(X LAYER("Dense", ",\"units\":3,\"dtype\":{\"class_name\":\"QuantizedDTypePolicy\"}")), "is quantised" },
	{ MODEL(X LAYER("BatchNormalization", ",\"mode\":2")), "mode 2 uses the numbers of its input" },
	{ MODEL(X LAYER("Merge", ",\"mode\":\"mine\"")), "Merge (node 'y')" },
	{ GRAPH(INPUT("[1,4,2]") MEMBER("Merge", "y", ",\"mode\":\"cos\",\"dot_axes\":-1", "[[[\"x\",0,0],[\"x\",0,0]]]"),
		  "[[\"x\",0,0]]", "[[\"y\",0,0]]"),
		"its mode cos has inputs of 3 and 3 dimensions" },
	{ GRAPH(X, "[[\"x\",0,0]]", "[[\"z\",0,0]]"), "reads layer 'z', which the model 'm' does not have" },
	{ GRAPH(X X, "[[\"x\",0,0]]", "[[\"x\",0,0]]"), "m.json" },
	{ GRAPH(X "," X, "[[\"x\",0,0]]", "[[\"x\",0,0]]"), "two layers have the name 'x'" },
	{ GRAPH(X MEMBER("Dense", "y", ",\"units\":2", "[[[\"x\",1,0,{}]]]"), "[[\"x\",0,0]]", "[[\"y\",0,0]]"),
		"reads 'x:1', which no node computes" },
	{ GRAPH(X MEMBER("Add", "y", "", "[[[\"x\",0,0,{}],[\"z\",0,0,{}]]]") MEMBER("ReLU", "z", "", "[[[\"y\",0,0,{}]]]"),
		  "[[\"x\",0,0]]", "[[\"z\",0,0]]"),
		"" },
};

START_TEST(configurations_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_config(a, refused[_i].config, &err);
	ck_assert_msg(d == NULL, "%s\nbecame\n%s", refused[_i].config, d != NULL ? dag_str(a, d) : "");
	ck_assert_msg(
		err.text[0] != 0 && (strstr(err.text, refused[_i].why) != NULL || strstr(err.place, refused[_i].why) != NULL ||
								(strstr(err.items, refused[_i].why) != NULL)),
		"%s\nrefused: %s: %s\nnot: %s", refused[_i].config, err.place, err.text, refused[_i].why);
	arena_free(a);
}
END_TEST

/* A layer that is called twice has one set of weights; a model in a model has its own names. */
START_TEST(shared_layers_share_weights)
{
	Arena *a = arena_new();
	Err err = { 0 };
	static const char config[] = GRAPH(
		X MEMBER("Dense", "d", ",\"units\":4", "[[[\"x\",0,0,{}]],[[\"d\",0,0,{}]]]"), "[\"x\",0,0]", "[\"d\",1,0]");
	Dag *d = load_config(a, config, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	int constants = 0;
	for (size_t k = 0; k < d->value.n; k++)
		constants += d->value.at[k].kind == VALUE_CONST;
	ck_assert_msg(constants == 2, "%s", dag_str(a, d));
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "d:1");
	arena_free(a);
}
END_TEST

/* Version 1 wrote kernels of channels first as [filters,channels,spatial..], and the gates of LSTM apart. */
START_TEST(old_weights_are_turned)
{
	Arena *a = arena_new();
	Err err = { 0 };
	static const char config[] = "{\"class_name\":\"Conv2D\",\"config\":{\"data_format\":\"channels_first\"}}";
	const Json *json = json_parse(a, "x", config, sizeof config - 1, &err);
	KerasLayer l = { .op = "Conv2D", .config = json_find(json, "config") };
	float x[24], gate[3][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 } };
	Hdf5Data d = { F32, shape_of(4, (int64_t[]){ 2, 3, 1, 4 }), x }, part[3], all;
	Shape need = shape_of(4, (int64_t[]){ 1, 4, 3, 2 });
	int order[4];
	for (int k = 0; k < 24; k++)
		x[k] = (float)k;
	keras_old_layout(a, &l, "kernel", need, &d);
	ck_assert(shape_eq(d.shape, need));
	for (int o = 0; o < 2; o++)
		for (int c = 0; c < 3; c++)
			for (int w = 0; w < 4; w++)
				ck_assert_int_eq((int)((const float *)d.data)[(w * 3 + c) * 2 + o], (o * 3 + c) * 4 + w);
	for (int k = 0; k < 3; k++)
		part[k] = (Hdf5Data){ F32, shape_of(2, (int64_t[]){ 2, 1 }), gate[k] };
	ck_assert(keras_join_gates(a, "x", part, 3, &all, &err));
	for (int k = 0; k < 6; k++)
		ck_assert_int_eq((int)((const float *)all.data)[k], (int)gate[k % 3][k / 3]);
	part[2].shape.dim[0] = 1;
	ck_assert(!keras_join_gates(a, "x", part, 3, &all, &err));
	ck_assert(strstr(err.text, "unequal shapes") != NULL);
	l.op = "LSTM";
	ck_assert_int_eq(keras_old_gates(&l, order), 4);
	ck_assert(order[1] == 2 && order[2] == 1);
	arena_free(a);
}
END_TEST

/* ---- files of weights */

enum { KERAS_H5 = 6320, KERNEL_AT = 4000 };
#define PART(at, bytes) { at, sizeof bytes - 1, bytes },
static const struct {
	size_t at, n;
	const char *bytes;
} parts[] = {
#include "keras_h5.inc"
};

/* A model of a dense layer; element 0 of its kernel is `first`, the others -2, 3, 4, -5, 6, the bias 0.5, -0.25. */
static const char *write_h5(Arena *a, const char *name, int first)
{
	char *at = arena_alloc(a, KERAS_H5);
	for (int k = 0; k < LEN(parts); k++)
		memcpy(at + parts[k].at, parts[k].bytes, parts[k].n);
	memcpy(at + KERNEL_AT, &first, sizeof first);
	const char *path = in_folder(a, name);
	FILE *f = fopen(path, "wb");
	ck_assert(f != NULL && fwrite(at, KERAS_H5, 1, f) == 1 && fclose(f) == 0);
	return path;
}

static const char *write_text(Arena *a, const char *name, const char *text)
{
	const char *path = in_folder(a, name);
	FILE *f = fopen(path, "wb");
	ck_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
	return path;
}

/* False: this build has no libhdf5. */
static bool loads(Arena *a, const char *path, const char *weights, Dag **d, Err *err)
{
	*err = (Err){ 0 };
	*d = frontend_load(a, path, &(ModelArgs){ .weights = weights }, err);
	if (strstr(err->text, "this build of dlc has no lib") == NULL)
		return true;
	suite_skip("HDF5", "built without libhdf5");
	return false;
}

static void check_result(Arena *a, const Dag *d, float first)
{
	static const float x[] = { 1, 2, -1 };
	Err err = { 0 };
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	const float *y = out[0];
	ck_assert_float_eq(y[0], first * x[0] + 3 * x[1] - 5 * x[2] + 0.5f);
	ck_assert_float_eq(y[1], -2 * x[0] + 4 * x[1] + 6 * x[2] - 0.25f);
}

/* Weights of other types than f32; those of another file in place of the model's own. */
START_TEST(weights_of_another_file)
{
	Arena *a = arena_new();
	Err err;
	Dag *d;
	const char *model = write_h5(a, "m.h5", 1), *other = write_h5(a, "other.h5", 7);
	if (loads(a, model, NULL, &d, &err)) {
		ck_assert_msg(d != NULL, "%s", err.text);
		check_result(a, d, 1);
		ck_assert(loads(a, model, other, &d, &err));
		ck_assert_msg(d != NULL, "%s", err.text);
		check_result(a, d, 7);
		const char *json = write_text(a, "n.json",
			MODEL("{\"class_name\":\"Dense\",\"config\":{\"name\":\"d\",\"units\":2,"
				  "\"batch_input_shape\":[1,3]}}"));
		ck_assert(loads(a, json, other, &d, &err));
		ck_assert_msg(d != NULL, "%s", err.text);
		check_result(a, d, 7);
	}
	arena_free(a);
}
END_TEST

static const struct {
	const char *model, *why;
} strangers[] = {
	{ MODEL(INPUT("[1,3]") NAMED("Dense", "d", ",\"units\":4")), "has the shape 3x2 in the file, but 3x4 is needed" },
	{ MODEL(INPUT("[1,3]") NAMED("Dense", "d", ",\"units\":2,\"use_bias\":false")), "has 2 weights in the file" },
	{ MODEL(INPUT("[1,3]") NAMED("Dense", "d", ",\"units\":2") NAMED("Dense", "e", ",\"units\":2")),
		"has no weights for layer 'e'" },
	{ MODEL(INPUT("[1,3]") NAMED("Flatten", "f", "")), "has weights for layer 'd', which the network lacks" },
};

START_TEST(weights_of_another_network_are_refused)
{
	Arena *a = arena_new();
	Err err;
	Dag *d;
	const char *json = write_text(a, "m.json", strangers[_i].model), *weights = write_h5(a, "w.h5", 1);
	if (loads(a, json, weights, &d, &err)) {
		ck_assert_ptr_null(d);
		ck_assert_msg(strstr(err.text, strangers[_i].why) != NULL, "%s: %s", err.place, err.text);
		ck_assert(loads(a, write_h5(a, "m.h5", 1), json, &d, &err));
		ck_assert_ptr_null(d);
		ck_assert_str_eq(err.text, "is no HDF5 file, as Keras writes weights");
	}
	arena_free(a);
}
END_TEST

START_TEST(archives_without_weights_are_refused)
{
	static const Entry entries[] = { { "metadata.json", "{\"keras_version\":\"3.15.1\"}", 0, 0, 0, 0 },
		{ "config.json", MODEL(X), 0, 0, 0, 0 } };
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_ptr_null(frontend_load_bytes(a, "m.keras", make_archive(a, entries, LEN(entries)), NULL, &err));
	ck_assert_msg(strstr(err.text, "is an archive without model.weights.h5") != NULL ||
					  strstr(err.text, "this build of dlc has no lib") != NULL,
		"%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- real files */

static const char *shared(Arena *a, const char *name)
{
	return real_file(a, "keras", name);
}

static const char *const networks[] = { "mixed_layers.h5", "mixed_layers.keras", "rnn.h5", "rnn.keras",
	"mobilenet_025.h5", "mobilenet_025.keras", "mobilenet_v3_small.h5" };

START_TEST(networks_give_keras_results)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Shape shape, ignored;
	const char *name = networks[_i], *base = arena_printf(a, "%.*s", (int)strcspn(name, "."), name);
	const float *x = read_npy(a, shared(a, arena_printf(a, "generated/%s.data.npy", base)), &shape);
	const float *want = read_npy(a, shared(a, arena_printf(a, "generated/%s.out.npy", base)), &ignored);
	if (x == NULL || want == NULL) {
		suite_skip(name, "no models in DLC_TEST_DATA");
		arena_free(a);
		return;
	}
	Dag *d =
		frontend_load(a, shared(a, arena_printf(a, "generated/%s", name)), &(ModelArgs){ .batch = shape.dim[0] }, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
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

/* A trained network of Keras 2.1.5, on a pattern of numbers; what Keras 3.15.1 gives with its weights. */
START_TEST(old_network_gives_keras_results)
{
	static const float want[] = { 0.0048031006f, 0.0020345347f, 0.42252874f, 0.038738187f, 0.00099638756f,
		0.0094423369f, 0.0024170815f, 0.00050867739f, 0.50708461f, 0.011446353f };
	Arena *a = arena_new();
	Err err = { 0 };
	struct stat st;
	const char *path = shared(a, "mnist-coreml/mnist.model.best.hdf5");
	if (stat(path, &st) != 0) {
		suite_skip("mnist", "no models in DLC_TEST_DATA");
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(a, path, NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	float x[28 * 28];
	for (int k = 0; k < LEN(x); k++)
		x[k] = (float)(k * 37 % 101) / 100;
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < LEN(want); k++)
		ck_assert_float_eq_tol(((const float *)out[0])[k], want[k], 1e-5);
	arena_free(a);
}
END_TEST

/* docs/keras.md names each layer that has a row. */
START_TEST(layers_are_documented)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes page;
	ck_assert_msg(file_read(a, SOURCE_ROOT "/docs/keras.md", 1 << 20, &page, &err), "%s", err.text);
	for (const NodeRow *const *list = keras_lists; *list != NULL; list++)
		for (const NodeRow *r = *list; r->name != NULL; r++)
			ck_assert_msg(strncmp(r->name, "TimeDistributed::", 17) == 0 || strncmp(r->name, "mask::", 6) == 0 ||
							  strstr((const char *)page.at, arena_printf(a, "`%s`", r->name)) != NULL,
				"docs/keras.md lacks `%s`", r->name);
	arena_free(a);
}
END_TEST

/* Cut files and flipped bytes: a Dag that checks, or one sentence. */
START_TEST(damaged_files_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b;
	const char *path = shared(a, _i % 2 == 0 ? "generated/rnn.h5" : "generated/rnn.keras");
	if (!file_read(a, path, 1 << 26, &b, &err)) {
		suite_skip("rnn", "no models in DLC_TEST_DATA");
	} else {
		unsigned char *at = arena_copy(a, b.at, b.n);
		err = (Err){ 0 };
		for (int flips = (int)rng_below(&rng, 8); flips >= 0; flips--)
			at[rng_below(&rng, b.n)] ^= (unsigned char)(1u << rng_below(&rng, 8));
		b = (Bytes){ at, rng_below(&rng, 4) != 0 ? b.n : rng_below(&rng, b.n) };
		Dag *d = frontend_load_bytes(a, "m.h5", b, NULL, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "round %d", _i);
		ck_assert(d == NULL || dag_check(d, &err));
	}
	arena_free(a);
}
END_TEST

/* Texts of attributes say that they are longer than their file, or shorter than they are. */
START_TEST(wrong_lengths_are_refused)
{
	static const unsigned char length[][4] = { { 0, 0, 0, 0xf0 }, { 1 }, { 0 } };
	enum { REFERENCE = 16, MOST_KIB = 1 << 20 };
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b;
	if (!file_read(a, shared(a, "generated/rnn.h5"), 1 << 26, &b, &err)) {
		suite_skip("rnn", "no models in DLC_TEST_DATA");
	} else {
		unsigned char *at = arena_copy(a, b.at, b.n);
		int changed = 0;
		/* A reference is the length, the address of the collection of texts, and the index in it. */
		for (size_t k = 0; k + REFERENCE <= b.n; k++) {
			uint64_t address;
			memcpy(&address, at + k + 4, sizeof address);
			if (address == 0 || address > b.n - 4 || memcmp(at + address, "GCOL", 4) != 0)
				continue;
			memcpy(at + k, length[_i], 4);
			changed++;
		}
		ck_assert_int_gt(changed, 0);
		err = (Err){ 0 };
		ck_assert_ptr_null(frontend_load_bytes(a, "m.h5", (Bytes){ at, b.n }, NULL, &err));
		ck_assert_int_ne(err.code, ERR_NONE);
		struct rusage used;
		getrusage(RUSAGE_SELF, &used);
		ck_assert_int_lt(used.ru_maxrss, MOST_KIB);
	}
	arena_free(a);
}
END_TEST

START_TEST(damaged_configurations_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int k = 0; k < LEN(become) + LEN(refused); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		const char *text = k < LEN(become) ? become[k].config : refused[k - LEN(become)].config;
		size_t n = strlen(text);
		char *at = arena_copy(a, text, n + 1);
		for (int flips = (int)rng_below(&rng, 3); flips >= 0; flips--)
			at[rng_below(&rng, n)] = "0123456789[]{},:\"-xn"[rng_below(&rng, 20)];
		Dag *d = frontend_load_bytes(a, "m.json", (Bytes){ (const unsigned char *)at, n }, NULL, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "%s", at);
		ck_assert(d == NULL || dag_check(d, &err));
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	/* Opens libhdf5, so that each test, a process of its own, has it: that takes longer than most tests. */
	Arena *a = arena_new();
	Err err = { 0 };
	frontend_load_bytes(a, "m.h5", (Bytes){ (const unsigned char *)"\x89HDF\r\n\x1a\n", 8 }, NULL, &err);
	arena_free(a);
	TCase *tc = tcase_create("keras");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, configurations_become_dags, 0, LEN(become));
	tcase_add_loop_test(tc, calls_of_functions_become_operators, 0, LEN(called));
	tcase_add_loop_test(tc, configurations_are_refused, 0, LEN(refused));
	tcase_add_test(tc, shared_layers_share_weights);
	tcase_add_test(tc, old_weights_are_turned);
	tcase_add_test(tc, weights_of_another_file);
	tcase_add_loop_test(tc, weights_of_another_network_are_refused, 0, LEN(strangers));
	tcase_add_test(tc, archives_without_weights_are_refused);
	tcase_add_loop_test(tc, networks_give_keras_results, 0, LEN(networks));
	tcase_add_test(tc, old_network_gives_keras_results);
	tcase_add_test(tc, layers_are_documented);
	tcase_add_loop_test(tc, damaged_files_are_refused, 0, suite_count(60, 60, 2000));
	tcase_add_loop_test(tc, wrong_lengths_are_refused, 0, 3);
	tcase_add_loop_test(tc, damaged_configurations_are_refused, 0, suite_count(40, 10, 400));
	return run_suite("keras", tc);
}
