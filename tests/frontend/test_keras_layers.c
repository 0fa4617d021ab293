/*
 * Keras' layers that are several calls of the Dag: recurrences that are written out, attention with masks and scores,
 * local windows, sizes, encodings. What two ways compute is compared, by the interpreter, on weights that are drawn.
 */
#include "evaluate.h"
#include "keras_config.h"
#include "suite.h"

#include "base/rng.h"
#include "frontend/frontend.h"
#include "op/element.h"

#include <math.h>

/* ---- pairs of networks that compute the same; their layers ask for weights in the same order */

#define SAME_ELU ",\"activation\":{\"class_name\":\"ELU\",\"config\":{\"name\":\"e\",\"alpha\":1.0}}"
#define SAME_GATE ",\"recurrent_activation\":{\"class_name\":\"ReLU\",\"config\":{\"name\":\"e\"}}"
#define RECURRENT(class, more) \
	{ \
		MODEL(INPUT("[2,5,3]") \
				LAYER(class, ",\"units\":4,\"activation\":\"elu\",\"recurrent_activation\":\"relu\"" more)), \
			MODEL(INPUT("[2,5,3]") LAYER(class, ",\"units\":4" SAME_ELU SAME_GATE more)) \
	}
#define MASKED(class, more) \
	{ \
		MODEL(INPUT("[2,5,3]") LAYER("Masking", ",\"mask_value\":1") \
				NAMED(class, "z", ",\"units\":4,\"activation\":\"elu\",\"recurrent_activation\":\"relu\"" more)), \
			MODEL(INPUT("[2,5,3]") LAYER("Masking", ",\"mask_value\":1") \
					NAMED(class, "z", ",\"units\":4" SAME_ELU SAME_GATE more)) \
	}
#define X INPUT("[2,5,3]")
#define HEADS ",\"num_heads\":2,\"key_dim\":4,\"value_dim\":3"
#define FROM_X(layers) GRAPH(layers, "[[\"x\",0,0]]", "[[\"y\",0,0]]")
#define MASK_INPUT INPUT_TYPED("x", "[2,5]", "int32")
#define EMBEDDED \
	MASK_INPUT MEMBER("Embedding", "e", ",\"input_dim\":3,\"output_dim\":4,\"mask_zero\":true", "[[[\"x\",0,0,{}]]]")

static const struct {
	const char *one, *other;
} pairs[] = {
	RECURRENT("SimpleRNN", ""),
	RECURRENT("SimpleRNN", ",\"return_sequences\":true,\"go_backwards\":true"),
	RECURRENT("LSTM", ",\"return_sequences\":true"),
	RECURRENT("LSTM", ",\"go_backwards\":true,\"use_bias\":false"),
	RECURRENT("GRU", ",\"return_sequences\":true,\"reset_after\":true"),
	RECURRENT("GRU", ",\"reset_after\":false"),
	RECURRENT("GRU", ",\"reset_after\":true,\"use_bias\":false"),
	MASKED("LSTM", ",\"return_sequences\":true"),
	MASKED("GRU", ",\"return_sequences\":true,\"go_backwards\":true,\"reset_after\":true"),
	MASKED("SimpleRNN", ""),
	/* scores that are read are written out; others are one call */
	{ FROM_X(X MEMBER("MultiHeadAttention", "y", HEADS, "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		GRAPH(X MEMBER("MultiHeadAttention", "y", HEADS,
				  "[[[\"x\",0,0,{\"value\":[\"x\",0,0],\"return_attention_scores\":true}]]]"),
			"[[\"x\",0,0]]", "[[\"y\",0,0],[\"y\",0,1]]") },
	{ FROM_X(X MEMBER(
		  "MultiHeadAttention", "y", HEADS, "[[[\"x\",0,0,{\"value\":[\"x\",0,0],\"use_causal_mask\":true}]]]")),
		GRAPH(X MEMBER("MultiHeadAttention", "y", HEADS,
				  "[[[\"x\",0,0,{\"value\":[\"x\",0,0],\"use_causal_mask\":true,\"return_attention_scores\":true}]]]"),
			"[[\"x\",0,0]]", "[[\"y\",0,0],[\"y\",0,1]]") },
	{ FROM_X(EMBEDDED MEMBER(
		  "MultiHeadAttention", "y", HEADS, "[[[\"e\",0,0,{\"value\":[\"e\",0,0],\"use_causal_mask\":true}]]]")),
		GRAPH(EMBEDDED MEMBER("MultiHeadAttention", "y", HEADS,
				  "[[[\"e\",0,0,{\"value\":[\"e\",0,0],\"use_causal_mask\":true,\"return_attention_scores\":true}]]]"),
			"[[\"x\",0,0]]", "[[\"y\",0,0],[\"y\",0,1]]") },
	{ FROM_X(EMBEDDED MEMBER("Attention", "y", "", "[[[\"e\",0,0,{}],[\"e\",0,0,{}]]]")),
		GRAPH(
			EMBEDDED MEMBER("Attention", "y", "", "[[[\"e\",0,0,{\"return_attention_scores\":true}],[\"e\",0,0,{}]]]"),
			"[[\"x\",0,0]]", "[[\"y\",0,0],[\"y\",0,1]]") },
	/* masks of values that are joined, along the steps and along the elements */
	{ FROM_X(EMBEDDED MEMBER("Concatenate", "c", ",\"axis\":1", "[[[\"e\",0,0,{}],[\"e\",0,0,{}]]]")
			  MEMBER("GlobalAveragePooling1D", "y", "", "[[[\"c\",0,0,{}]]]")),
		FROM_X(EMBEDDED MEMBER("GlobalAveragePooling1D", "y", "", "[[[\"e\",0,0,{}]]]")) },
	{ FROM_X(EMBEDDED MEMBER("Concatenate", "c", ",\"axis\":-1", "[[[\"e\",0,0,{}],[\"e\",0,0,{}]]]")
			  MEMBER("GlobalAveragePooling1D", "y", "", "[[[\"c\",0,0,{}]]]")),
		FROM_X(EMBEDDED MEMBER("GlobalAveragePooling1D", "g", "", "[[[\"e\",0,0,{}]]]")
				MEMBER("Concatenate", "y", "", "[[[\"g\",0,0,{}],[\"g\",0,0,{}]]]")) },
	/* two dimensions that attend are one */
	{ FROM_X(INPUT("[2,2,3,4]") MEMBER("MultiHeadAttention", "y", HEADS, "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		FROM_X(INPUT("[2,2,3,4]") MEMBER("Reshape", "r", ",\"target_shape\":[6,4]", "[[[\"x\",0,0,{}]]]")
				MEMBER("MultiHeadAttention", "y", HEADS, "[[[\"r\",0,0,{\"value\":[\"r\",0,0]}]]]")) },
	/* a dimension that does not attend is part of the batch */
	{ FROM_X(INPUT("[1,2,3,4]") MEMBER(
		  "MultiHeadAttention", "y", HEADS ",\"attention_axes\":[2]", "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		FROM_X(INPUT("[2,3,4]") MEMBER("MultiHeadAttention", "y", HEADS, "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")) },
	/* a head of keys for each head of queries is the other layer */
	{ FROM_X(X MEMBER(
		  "MultiHeadAttention", "y", ",\"num_heads\":2,\"key_dim\":4", "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		FROM_X(X MEMBER("GroupQueryAttention", "y", ",\"num_query_heads\":2,\"num_key_value_heads\":2,\"head_dim\":4",
			"[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")) },
	/* a window of the whole input is a dense layer; its weights lie in the same order */
	{ MODEL(X LAYER("LocallyConnected1D", ",\"filters\":4,\"kernel_size\":5") NAMED("Flatten", "f", "")),
		MODEL(X LAYER("Reshape", ",\"target_shape\":[1,15]")
				NAMED("LocallyConnected1D", "z", ",\"filters\":4,\"kernel_size\":1") NAMED("Flatten", "f", "")) },
	{ MODEL(INPUT("[2,9,6,3]") LAYER("AdaptiveAveragePooling2D", ",\"output_size\":[3,2]")),
		MODEL(INPUT("[2,9,6,3]") LAYER("AveragePooling2D", ",\"pool_size\":[3,3]")) },
	{ MODEL(INPUT("[2,9,6,3]") LAYER("AdaptiveMaxPooling2D", ",\"output_size\":1") NAMED("Flatten", "f", "")),
		MODEL(INPUT("[2,9,6,3]") LAYER("GlobalMaxPooling2D", "")) },
	{ MODEL(INPUT("[2,4,4,3]") LAYER("Resizing", ",\"height\":4,\"width\":4,\"interpolation\":\"bicubic\"")),
		MODEL(INPUT("[2,4,4,3]") LAYER("Identity", "")) },
	{ MODEL(INPUT("[2,8,8,3]") LAYER("Resizing", ",\"height\":4,\"width\":2,\"interpolation\":\"area\"")),
		MODEL(INPUT("[2,8,8,3]") LAYER("AveragePooling2D", ",\"pool_size\":[2,4]")) },
	{ MODEL(INPUT("[2,8,8,3]") LAYER("CenterCrop", ",\"height\":4,\"width\":5")),
		MODEL(INPUT("[2,8,8,3]") LAYER("Cropping2D", ",\"cropping\":[[2,2],[1,2]]")) },
	{ MODEL(INPUT("[2,8,8,3]") LAYER("RandomFlip", ",\"mode\":\"horizontal\"")),
		MODEL(INPUT("[2,8,8,3]") LAYER("Identity", "")) },
	{ MODEL(INPUT("[2,6]") LAYER(
		  "SpectralNormalization", ",\"layer\":{\"class_name\":\"Dense\",\"config\":{\"name\":\"d\",\"units\":3}}")),
		MODEL(INPUT("[2,6]") LAYER("Dense", ",\"units\":3")) },
	{ MODEL(INPUT("[2,6]") LAYER("MaxoutDense", ",\"output_dim\":3,\"nb_feature\":1")),
		MODEL(INPUT("[2,6]") LAYER("Reshape", ",\"target_shape\":[1,6]")
				NAMED("LocallyConnected1D", "z", ",\"filters\":3,\"kernel_size\":1") NAMED("Flatten", "f", "")) },
};

static void fill(Rng *rng, const Value *in, void *to)
{
	for (int64_t k = 0; k < shape_elements(in->shape); k++)
		element_set(in->type, to, k,
			dtype_is_float(in->type) ? (rng_below(rng, 4) == 0 ? 1 : 2 * rng_real(rng) - 1)
									 : (double)rng_below(rng, 3));
}

/* Where there is a mask, some steps have elements that are all 1. */
static float *compute(Arena *a, const char *config, uint64_t seed, int64_t *n)
{
	Err err = { 0 };
	Dag *d = load_config(a, config, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", config, err.place, err.text, err.items);
	Rng rng = rng_seed(seed);
	const Value *in = &d->value.at[d->input.at[0]];
	void *x = arena_alloc_aligned(a, (size_t)value_bytes(in) + 1, 64);
	fill(&rng, in, x);
	Shape s = in->shape;
	bool steps = strstr(config, "Masking") != NULL;
	for (int64_t k = 0; steps && k < s.dim[0] * s.dim[1]; k++)
		for (int64_t i = 0, on = rng_below(&rng, 3) == 0; i < s.dim[2] && on; i++)
			element_set(in->type, x, k * s.dim[2] + i, 1);
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s\n%s", config, err.text);
	*n = shape_elements(d->value.at[d->output.at[0]].shape);
	return out[0];
}

START_TEST(pairs_are_equal)
{
	Arena *a = arena_new();
	int64_t n, m;
	const float *x = compute(a, pairs[_i].one, (uint64_t)_i + 1, &n);
	const float *y = compute(a, pairs[_i].other, (uint64_t)_i + 1, &m);
	ck_assert_msg(n == m, "%s has %lld elements, %s %lld", pairs[_i].one, (long long)n, pairs[_i].other, (long long)m);
	double sum = 0;
	for (int64_t k = 0; k < n; k++) {
		ck_assert_msg(fabsf(x[k] - y[k]) <= 1e-5f * fmaxf(1, fabsf(y[k])), "%s\n%s\nelement %lld: %g %g", pairs[_i].one,
			pairs[_i].other, (long long)k, (double)x[k], (double)y[k]);
		sum += fabs((double)x[k]);
	}
	ck_assert_msg(sum > 0, "%s computes zeros", pairs[_i].one);
	arena_free(a);
}
END_TEST

/* ---- what becomes of configurations */

static const struct {
	const char *config;
	const char *want[3];
} become[] = {
	{ MODEL(X LAYER("LSTM", ",\"units\":4,\"activation\":\"gelu\"")), { "erf(", "concat(" } },
	{ MODEL(X LAYER("GRU", ",\"units\":4,\"recurrent_activation\":\"softmax\"")), { "softmax(", "tanh(" } },
	{ MODEL(INPUT("[1,2048,2]") LAYER("LSTM", ",\"units\":1,\"activation\":\"gelu\",\"return_sequences\":true")),
		{ "erf(", "starts=[2047,0,0]", "y: f32[1,2048,1]" } },
	{ FROM_X(EMBEDDED MEMBER("MultiHeadAttention", "y", HEADS, "[[[\"e\",0,0,{\"value\":[\"e\",0,0]}]]]")),
		{ "bit_and(", "attention(", "y.bit_and" } },
	{ FROM_X(X MEMBER(
		  "MultiHeadAttention", "y", HEADS ",\"sliding_window\":2", "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		{ "abs(", "less(", "attention(" } },
	{ FROM_X(
		  X MEMBER("MultiHeadAttention", "y", HEADS ",\"use_gate\":true", "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		{ "gate_dense/kernel", "sigmoid(" } },
	{ MODEL(INPUT("[2,5]") LAYER("Softmax", ",\"axis\":-1")), { "softmax(x" } },
	{ MODEL(INPUT("[2,3,5]") LAYER("Softmax", ",\"axis\":[1,2]")), { "reduce_max(", "exp(", "reduce_sum(" } },
	{ MODEL(INPUT("[2,5,3]") LAYER("LocallyConnected1D", ",\"filters\":4,\"kernel_size\":2")),
		{ "f32[4,6,4]", "matmul(", "f32[2,4,4]" } },
	{ MODEL(INPUT("[2,5,3]") LAYER("LocallyConnected1D", ",\"filters\":4,\"kernel_size\":2,\"implementation\":2")),
		{ "f32[5,3,4,4]", "gather(", "i64[4,4,6]" } },
	{ MODEL(INPUT("[2,5,3]") LAYER(
		  "LocallyConnected1D", ",\"filters\":4,\"kernel_size\":3,\"padding\":\"same\",\"implementation\":3")),
		{ "f32[156]", "f32[1] = {0}", "f32[2,5,4]" } },
	{ MODEL(INPUT("[2,3,6,5,2]") LAYER("ConvLSTM2D", ",\"filters\":4,\"kernel_size\":3,\"return_sequences\":true")),
		{ "f32[16,2,3,3]", "f32[16,4,3,3]", "f32[2,3,4,3,4]" } },
	{ MODEL(INPUT("[2,9,6]") LAYER("AdaptiveMaxPooling1D", ",\"output_size\":4")), { "resample(", "max=1" } },
	{ MODEL(INPUT_TYPED("x", "[2,5]", "int32") LAYER("CategoryEncoding", ",\"num_tokens\":7")),
		{ "reduce_max(", "f32[2,7]" } },
	{ MODEL(
		  INPUT_TYPED("x", "[2,5]", "int32") LAYER("CategoryEncoding", ",\"num_tokens\":7,\"output_mode\":\"count\"")),
		{ "reduce_sum(", "f32[2,7]" } },
	{ MODEL(INPUT("[2,5]") LAYER("Discretization", ",\"bin_boundaries\":[0.5,1.0]")),
		{ "less_equal(", "y: i64[2,5]" } },
	{ MODEL(INPUT("[2,6]") LAYER("Highway", ",\"activation\":\"tanh\"")), { "y.carry", "sigmoid(", "tanh(" } },
	{ MODEL(INPUT("[2,4,4,3]") LAYER("UpSampling2D", ",\"size\":[2,2],\"interpolation\":\"lanczos3\"")),
		{ "resample(", "f32[8,8]" } },
};

START_TEST(configurations_become_dags)
{
	check_config(become[_i].config, become[_i].want, LEN(become[_i].want));
}
END_TEST

static const struct {
	const char *config, *why;
} refused[] = {
	{ MODEL(INPUT("[1,1,1,17179869184]")
			  LAYER("DepthwiseConv2D", ",\"kernel_size\":[1,1],\"depth_multiplier\":2000000000")),
		"2000000000 for each of 17179869184 channels" },
	{ MODEL(INPUT("[1,1,1,17179869184]")
			  LAYER("SeparableConv2D", ",\"filters\":1,\"kernel_size\":[1,1],\"depth_multiplier\":2000000000")),
		"2000000000 for each of 17179869184 channels" },
	{ MODEL(INPUT("[1,2049,2]") LAYER("LSTM", ",\"units\":1,\"activation\":\"gelu\"")),
		"has 2049 steps: dlc does that for at most 2048; the activations tanh, sigmoid" },
	{ MODEL(X LAYER("LSTM", ",\"units\":4,\"activation\":\"mine\"")), "activation 'mine' is not supported" },
	{ MODEL(X LAYER("SimpleRNN", ",\"units\":4,\"activation\":\"glu\"")), "changes the shape of its states" },
	{ FROM_X(X MEMBER(
		  "MultiHeadAttention", "y", HEADS ",\"attention_axes\":[2]", "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		"its attention_axes name the batch, the last" },
	{ FROM_X(INPUT("[1,2,3,4]") MEMBER(
		  "MultiHeadAttention", "y", HEADS, "[[[\"x\",0,0,{\"value\":[\"x\",0,0],\"use_causal_mask\":true}]]]")),
		"causal mask is along another axis" },
	{ FROM_X(X MEMBER("GroupQueryAttention", "y", ",\"num_query_heads\":3,\"num_key_value_heads\":2,\"head_dim\":4",
		  "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		"3 heads of queries cannot share 2 heads of keys" },
	{ FROM_X(X MEMBER(
		  "MultiHeadAttention", "y", HEADS, "[[[\"x\",0,0,{\"value\":[\"x\",0,0],\"attention_mask\":[\"x\",0,0]}]]]")),
		"its mask has the shape 2x5x3" },
	{ MODEL(X LAYER("LocallyConnected1D", ",\"filters\":4,\"kernel_size\":6")), "its window has 6 elements" },
	{ MODEL(X LAYER("LocallyConnected1D", ",\"filters\":4,\"kernel_size\":2,\"implementation\":4")),
		"implementation is 4" },
	{ MODEL(INPUT("[1,1052671,4]") /* 2^64 weights */
		  LAYER("LocallyConnected1D", ",\"filters\":1073741824,\"kernel_size\":4096,\"implementation\":2")),
		"only implementation 1 is supported" },
	{ MODEL(INPUT("[1,4,4,4,1]") LAYER("LocallyConnected2D", ",\"filters\":2,\"kernel_size\":2")),
		"its input has 5 dimensions" },
	{ MODEL(X LAYER("ConvLSTM1D", ",\"filters\":4,\"kernel_size\":2")), "but needs 4 to 6" },
	{ MODEL(X LAYER("AdaptiveAveragePooling1D", ",\"output_size\":0")), "output_size" },
	{ MODEL(INPUT("[1,4,4,3]") LAYER("Resizing", ",\"height\":2,\"width\":2,\"interpolation\":\"best\"")),
		"its interpolation 'best' is not supported" },
	{ MODEL(INPUT("[1,4]") LAYER("Discretization", ",\"num_bins\":3")), "it has no bin_boundaries" },
	{ MODEL(INPUT("[1,4]") LAYER("CategoryEncoding", ",\"num_tokens\":3,\"output_mode\":\"tf_idf\"")),
		"output_mode 'tf_idf'" },
	{ MODEL(INPUT("[1,4]")
			  LAYER("MaxoutDense", ",\"output_dim\":9223372036854775807,\"nb_feature\":9223372036854775807")),
		"it has 9223372036854775807 products of 9223372036854775807 units" },
	{ MODEL(INPUT("[1,4,4,2]") LAYER("Conv2DTranspose", ",\"filters\":2,\"kernel_size\":[2,2],\"strides\":[2,2],"
														"\"output_shape\":[1,9223372036854775807,8,2]")),
		"its output_shape says 9223372036854775807 elements" },
	{ MODEL(INPUT("[1,17179869184,1,1]")
			  LAYER("Resizing", ",\"height\":1,\"width\":2147483647,\"crop_to_aspect_ratio\":true")),
		"it resizes 1 elements to 2147483647" },
	{ MODEL(X LAYER("LSTM", ",\"units\":1e300")), "its units are 1e+300" },
	{ MODEL(X LAYER("LSTM", ",\"units\":NaN")), "its units are" },
	{ MODEL(X LAYER("Activation", ",\"activation\":{\"class_name\":\"Glu\",\"config\":{\"axis\":1e300}}")),
		"axis 99 is outside" },
	{ MODEL(INPUT("[1,274877906944]") LAYER("Normalization", ",\"mean\":1,\"variance\":[1,2]")),
		"its setting variance does not have 274877906944 numbers" },
	{ MODEL(INPUT("[0,1099511627776,1099511627776]")
			  LAYER("TimeDistributed", ",\"layer\":{\"class_name\":\"Softmax\",\"config\":{}}")),
		"needs more memory than there is" },
	{ FROM_X(INPUT("[1,4,0]") MEMBER(
		  "MultiHeadAttention", "y", HEADS ",\"output_shape\":3", "[[[\"x\",0,0,{\"value\":[\"x\",0,0]}]]]")),
		"no elements along its last dimension" },
	{ MODEL(X LAYER("Highway", "")), "its input has 3 dimensions, but needs 2" },
	{ MODEL(X LAYER("StringLookup", "")), "StringLookup" },
};

START_TEST(configurations_are_refused)
{
	check_refused(refused[_i].config, refused[_i].why);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("keras_layers");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, pairs_are_equal, 0, LEN(pairs));
	tcase_add_loop_test(tc, configurations_become_dags, 0, LEN(become));
	tcase_add_loop_test(tc, configurations_are_refused, 0, LEN(refused));
	return run_suite("keras_layers", tc);
}
