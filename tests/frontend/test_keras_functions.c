/* Functions of keras.ops that a model of Keras 3 calls: their numbers on a known tensor, and refusals. */
#include "evaluate.h"
#include "keras_config.h"
#include "suite.h"

#include "op/element.h"

#include <math.h>

#define TENSOR "{\"class_name\":\"__keras_tensor__\",\"config\":{\"shape\":[2,3],\"keras_history\":[\"x\",0,0]}}"
#define ARRAY(value) "{\"class_name\":\"__numpy__\",\"config\":{\"value\":" value ",\"dtype\":\"float32\"}}"
#define CALL(class, settings, args) \
	GRAPH(INPUT("[2,3]") ",{\"class_name\":\"" class "\",\"name\":\"y\",\"config\":{\"name\":\"y\"" settings \
													 "},\"inbound_nodes\":[{\"args\":[" args "],\"kwargs\":{}}]}", \
		"[[\"x\",0,0]]", "[[\"y\",0,0]]")

/* The same of an input of that shape. */
#define OVER(shape, class, settings) \
	GRAPH(INPUT(shape) ",{\"class_name\":\"" class "\",\"name\":\"y\",\"config\":{\"name\":\"y\"" settings \
												   "},\"inbound_nodes\":[{\"args\":[" TENSOR "],\"kwargs\":{}}]}", \
		"[[\"x\",0,0]]", "[[\"y\",0,0]]")

#include "keras_functions.inc"

START_TEST(functions_compute)
{
	static const float x[] = { -2, -1, 0.5f, 1, 1.5f, 3 };
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_config(a, functions[_i].config, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", functions[_i].config, err.place, err.text, err.items);
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s\n%s", functions[_i].config, err.text);
	const Value *y = &d->value.at[d->output.at[0]];
	int64_t n = shape_elements(y->shape);
	ck_assert_int_le(n, LEN(functions[_i].want));
	for (int64_t k = 0; k < n; k++) {
		double have = element_get(y->type, out[0], k), want = (double)functions[_i].want[k];
		ck_assert_msg(fabs(have - want) <= 2e-6 * fmax(1, fabs(want)), "%s\nelement %lld: %g, not %g",
			functions[_i].config, (long long)k, have, want);
	}
	for (int64_t k = n; k < LEN(functions[_i].want); k++)
		ck_assert(functions[_i].want[k] == 0);
	arena_free(a);
}
END_TEST

static const struct {
	const char *config, *why;
} refused[] = {
	{ CALL("Multiply", "", TENSOR "," ARRAY("[[1,2],[3]]")), "something else than tensors, numbers and arrays" },
	{ CALL("Multiply", "", TENSOR ",\"text\""), "something else than tensors, numbers and arrays" },
	{ CALL("Multiply", "", TENSOR "," ARRAY("[1,2]")), "mul: " },
	{ CALL("Multiply", "", TENSOR), "does not have two arguments" },
	{ CALL("Concatenate", ",\"axis\":0", "[]"), "its list is empty" },
	{ CALL("Round", ",\"decimals\":99", TENSOR), "it rounds to 99 decimals" },
	{ CALL("Quantile", ",\"axis\":1,\"method\":\"linear\"", TENSOR ",[0.5,0.75]"), "its q is not one number" },
	{ CALL("Quantile", ",\"axis\":1,\"method\":\"best\"", TENSOR ",0.5"), "its method 'best' is not supported" },
	{ CALL("Norm", ",\"ord\":1,\"axis\":[0,1]", TENSOR), "its ord is not supported for 2 axes" },
	{ CALL("Average", ",\"axis\":1", TENSOR "," ARRAY("[1,2]")), "its weights do not fit the axis" },
	{ CALL("Tensordot", ",\"axes\":3", TENSOR "," TENSOR), "its axes do not fit inputs of 2 and 2 dimensions" },
	{ CALL("Diff", ",\"n\":3,\"axis\":1", TENSOR), "it takes 3 differences of 3 elements" },
	{ CALL("SegmentSum", ",\"num_segments\":null", TENSOR ",[0,1]"), "its num_segments is not given" },
	{ CALL("Scatter", ",\"shape\":[0]", "[[0]]," TENSOR), "its shape has the size 0" },
	{ CALL("Slice", ",\"shape\":[2,4]", TENSOR ",[0,0]"), "it takes 4 elements of 3" },
	{ CALL("SliceUpdate", "", TENSOR ",[0]," TENSOR), "its start_indices are not a known number" },
	{ CALL("Diagonal", ",\"offset\":3", TENSOR), "its diagonal 3 has no elements" },
	{ CALL("ArraySplit", ",\"indices_or_sections\":4,\"axis\":1", TENSOR), "its parts do not fit dimension 1" },
	{ CALL("ExtractSequences", ",\"sequence_length\":4,\"sequence_stride\":1", TENSOR), "it takes frames of 4" },
	{ CALL("DotProductAttention", "", TENSOR "," TENSOR "," TENSOR), "its query has 2 dimensions, but needs 4" },
	{ CALL("BatchNorm", ",\"axis\":-1", TENSOR "," ARRAY("[1,2]") "," ARRAY("[1,2,3]")), "a factor has 2 numbers" },
	{ CALL("Conv", "", TENSOR "," ARRAY("[[1.0]]")), "its input has 2 dimensions" },
	{ CALL("ExtractPatches", ",\"size\":[2,2]", TENSOR), "its input has 2 dimensions" },
	{ CALL("Round", ",\"decimals\":Infinity", TENSOR), "decimals" },
	{ CALL("Multiply", "", TENSOR ",Infinite"), "not JSON" },
	{ CALL("Multiply", "", TENSOR ",\"Infinity\""), "something else than tensors, numbers and arrays" },
	{ CALL("Multiply", "", TENSOR ",\"\x7f" "1\""), "something else than tensors, numbers and arrays" },
	{ CALL("Multiply", "", TENSOR ",\"\\u007F1\""), "something else than tensors, numbers and arrays" },
	{ CALL("FFT", "", TENSOR), "FFT" },
	{ CALL("Vstack", "", "[" ARRAY("1.0") "," ARRAY("3.0") "]"), "its inputs have no dimension" },
	{ CALL("Diagonal", ",\"offset\":-9223372036854775808", TENSOR),
		"its diagonal -9223372036854775808 has no elements" },
	{ CALL("Diag", ",\"k\":-9223372036854775808", TENSOR), "its diagonal is -9223372036854775808" },
	{ CALL("Vsplit", ",\"indices_or_sections\":[1,-9223372036854775808]", TENSOR), "its part 1 would end at" },
	{ CALL("Split", ",\"num_or_size_splits\":[2,2,-1],\"axis\":1", TENSOR), "its number 2 does not fit dimension 1" },
	{ CALL("Sum", ",\"axis\":[0,0]", TENSOR), "its axes name one twice" },
	{ CALL("Median", ",\"axis\":[0,0,0,0,0,0,0,-2],\"keepdims\":false", TENSOR), "its axes name one twice" },
	{ OVER("[2,1,1,17179869184]", "DepthToSpace", ",\"block_size\":2000000000"),
		"its blocks have 2000000000 elements a side" },
	{ OVER("[0,17179869184,2,4]", "DepthToSpace", ",\"block_size\":2"), "17179869184 along one" },
	{ OVER("[1,2,2,3]", "CropImages",
		  ",\"top_cropping\":null,\"bottom_cropping\":0,\"target_height\":-9223372036854775808"),
		"do not fit 2 elements" },
	{ OVER("[1,2,2,3]", "PadImages", ",\"top_padding\":9223372036854775807,\"target_height\":0"),
		"do not fit 2 elements" },
	{ OVER("[34359738368]", "ExtractSequences", ",\"sequence_length\":17179869184,\"sequence_stride\":1"),
		"its frames have more than 16777216 elements" },
	{ OVER("[0,1099511627776,1099511627776]", "Trace", ""), "needs more memory than there is" },
};

START_TEST(functions_are_refused)
{
	check_refused(refused[_i].config, refused[_i].why);
}
END_TEST

/* A layer casts what a function gives in another type. */
START_TEST(layers_compute_in_f32)
{
	static const char config[] =
		GRAPH(INPUT("[2,3]") ",{\"class_name\":\"Cast\",\"module\":\"keras.src.ops.core\",\"name\":\"c\",\"config\":{"
							 "\"dtype\":\"float64\"},\"inbound_nodes\":[{\"args\":[" TENSOR
							 "],\"kwargs\":{}}]}" MEMBER("Dense", "y", ",\"units\":2",
								 "[{\"args\":[{\"class_name\":\"__keras_tensor__\",\"config\":{"
								 "\"keras_history\":[\"c\",0,0]}}],\"kwargs\":{}}]"),
			"[[\"x\",0,0]]", "[[\"y\",0,0]]");
	check_config(config, (const char *const[]){ "f64[2,3] = cast(x)", "f32[2,3] = cast(c)", "y: f32[2,2]" }, 3);
}
END_TEST

#define OF(layer) "{\"class_name\":\"__keras_tensor__\",\"config\":{\"keras_history\":[\"" layer "\",0,0]}}"

/* A Sequential of version 3 has no call of its own, so its second call is number 1; a result may be listed twice. */
START_TEST(results_of_later_calls)
{
	static const char config[] =
		GRAPH(INPUT("[2,3]") ",{\"class_name\":\"Sequential\",\"name\":\"s\",\"config\":{\"name\":\"s\","
							 "\"layers\":[" INPUT("[2,3]") LAYER("Softmax", "") "]},\"inbound_nodes\":[{\"args\":[" OF(
								 "x") "],\"kwargs\":{}},"
									  "{\"args\":[" OF("s") "],\"kwargs\":{}}]}",
			"[[\"x\",0,0]]", "[[\"s\",1,0],[\"s\",0,0],[\"s\",1,0]]");
	check_config(config, (const char *const[]){ "softmax(x)", "softmax(s)", "out \"s:1\", s, \"s:1_1\"" }, 3);
}
END_TEST

/* Weights that no file limits: the sentence names the layer. */
START_TEST(weights_that_are_too_large)
{
	static const char *const settings[] = { "ConvLSTM2D", "Conv2D" };
	Arena *a = arena_new();
	for (int k = 0; k < LEN(settings); k++) {
		Err err = { 0 };
		const char *config = arena_printf(a, MODEL(INPUT("%s") LAYER("%s", ",\"filters\":200000000,\"kernel_size\":9")),
			k == 0 ? "[1,2,9,9,64]" : "[1,9,9,64]", settings[k]);
		ck_assert_ptr_null(load_config(a, config, &err));
		ck_assert_msg(strstr(err.text, "y") != NULL && strstr(err.text, "kernel") != NULL &&
						  strstr(err.text, "needs more memory than there is") != NULL,
			"%s: %s", err.place, err.text);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("keras_functions");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, functions_compute, 0, LEN(functions));
	tcase_add_loop_test(tc, functions_are_refused, 0, LEN(refused));
	tcase_add_test(tc, layers_compute_in_f32);
	tcase_add_test(tc, results_of_later_calls);
	tcase_add_test(tc, weights_that_are_too_large);
	return run_suite("keras_functions", tc);
}
