/*
 * Networks that are built wrongly: each call is a failure of one sentence, which names the layer. The first one stays,
 * and nothing is built behind it.
 */
#include "api/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const DlcDataType f32 = { 2, 32, 1 };

#define DIM(...) ((const int64_t[]){ __VA_ARGS__ })
#define KERNEL(...) .window = { .kernel = { __VA_ARGS__ } }

/* What a case gets: an image [1,4,6,6], a sequence [2,3,4], integers [2,3], halves [1,4], a vector of 4 numbers. */
typedef struct Values {
	DlcBuilder *b;
	DlcValue image, sequence, ids, halves, four;
} Values;

typedef struct Case {
	const char *says;
	DlcFault fault;
	void (*call)(Values *v);
} Case;

#define CASES \
	CASE(no_input, USAGE, "layer 'c' (conv): its input is none, but must be given", \
		dlc_builder_conv(v->b, "c", (DlcValue){ 0 }, &(DlcConv){ KERNEL(3, 3) })) \
	CASE(foreign, USAGE, "layer 'c' (conv): its input is no value of this builder", \
		dlc_builder_conv(v->b, "c", (DlcValue){ v->image.id + 1000 }, &(DlcConv){ KERNEL(3, 3) })) \
	CASE(foreign_weight, USAGE, "its weight is no value of this builder", \
		dlc_builder_dense(v->b, "d", v->sequence, &(DlcDense){ .weight = { 12 } })) \
	CASE(no_options, USAGE, "layer 'c' (conv): its options are NULL", dlc_builder_conv(v->b, "c", v->image, NULL)) \
	CASE(no_kernel, USAGE, "layer 'conv' (conv): its kernel[0] is 0, but must be from 1", \
		dlc_builder_conv(v->b, NULL, v->image, &(DlcConv){ .out = 3 })) \
	CASE(negative_kernel, USAGE, "its kernel[1] is -3", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(3, -3) })) \
	CASE(negative_stride, USAGE, "its stride[0] is -1", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ .window = { .kernel = { 3, 3 }, .stride = { -1 } } })) \
	CASE(negative_pad, USAGE, "its pads[3] is -2", \
		dlc_builder_conv(v->b, "c", v->image, \
			&(DlcConv){ .window = { .kernel = { 3, 3 }, .pads = { 0, 0, 0, -2 } } })) \
	CASE(pads_and_rule, USAGE, "it is given pads and a rule for them", \
		dlc_builder_conv(v->b, "c", v->image, \
			&(DlcConv){ .window = { .kernel = { 3, 3 }, .pads = { 1 }, .pad = DLC_PAD_SAME } })) \
	CASE(unknown_rule, USAGE, "its pad is 9, but must be from 0 to 2", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ .window = { .kernel = { 3, 3 }, .pad = (DlcPad)9 } })) \
	CASE(third_size, USAGE, "its input has 2 spatial dimensions, but it is given sizes for more", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(3, 3, 3) })) \
	CASE(third_pad, USAGE, "its input has 2 spatial dimensions, but it is given sizes for more", \
		dlc_builder_conv(v->b, "c", v->image, \
			&(DlcConv){ .window = { .kernel = { 3, 3 }, .pads = { 1, 1, 1, 1, 1 } } })) \
	CASE(third_extend, USAGE, "its input has 2 spatial dimensions, but it is given an extend for more", \
		dlc_builder_conv_transpose(v->b, "c", v->image, \
			&(DlcConv){ KERNEL(3, 3), .extend = { 0, 0, 1 } })) \
	CASE(no_image, UNSUPPORTED, "its input has 2 dimensions; 3, 4 and 5 are supported", \
		dlc_builder_conv(v->b, "c", v->halves, &(DlcConv){ KERNEL(3) })) \
	CASE(channels, USAGE, "its channels are -1", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ .out = -1, KERNEL(3, 3) })) \
	CASE(groups, USAGE, "3 groups do not divide the 4 channels of its input and its own 6", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ .out = 6, .groups = 3, KERNEL(3, 3) })) \
	CASE(depthwise_groups, USAGE, "layer 'd' (depthwise): its groups are 2, but must be 0", \
		dlc_builder_depthwise(v->b, "d", v->image, &(DlcConv){ .groups = 2, KERNEL(3, 3) })) \
	CASE(too_large, TYPE, "layer 'c' (conv): conv: ", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(9, 9) })) \
	CASE(huge_weight, MEMORY, "layer 'c' (conv): weight 'c.weight' of shape", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ .out = INT32_MAX, KERNEL(INT32_MAX, INT32_MAX) })) \
	CASE(many_weights, MEMORY, "are more numbers than dlc draws", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ .out = 1 << 20, KERNEL(17, 17) })) \
	CASE(weight_shape, TYPE, "layer 'c' (conv): its weight has the shape 4, but needs 4x4x3x3", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(3, 3), .weight = v->four })) \
	CASE(bias_twice, USAGE, "it is given a bias and no_bias", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(3, 3), .bias = v->four, .no_bias = 1 })) \
	CASE(extend, USAGE, "extend is for a transposed convolution alone", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(3, 3), .extend = { 1 } })) \
	CASE(negative_extend, USAGE, "layer 'c' (conv_transpose): its extend[1] is -1", \
		dlc_builder_conv_transpose(v->b, "c", v->image, &(DlcConv){ KERNEL(3, 3), .extend = { 0, -1 } })) \
	CASE(halves, TYPE, "its input is f16, but weights are drawn for f32 alone: give it its weights", \
		dlc_builder_dense(v->b, "d", v->halves, &(DlcDense){ .units = 3 })) \
	CASE(activation, UNSUPPORTED, "there is no activation 'rule'", \
		dlc_builder_conv(v->b, "c", v->image, &(DlcConv){ KERNEL(3, 3), .activation = "rule" })) \
	CASE(no_activation, USAGE, "its activation is NULL", dlc_builder_activation(v->b, "a", v->image, NULL, NULL)) \
	CASE(infinite, USAGE, "its numbers nan and 0 must be finite", \
		dlc_builder_activation(v->b, "a", v->image, "elu", (const double[]){ NAN, 0 })) \
	CASE(flat, USAGE, "flat is for a pooling of all of the image", \
		dlc_builder_max_pool(v->b, "p", v->image, &(DlcPool){ KERNEL(2, 2), .flat = 1 })) \
	CASE(strides_of_all, USAGE, "a pooling of all of the image has no strides", \
		dlc_builder_max_pool(v->b, "p", v->image, &(DlcPool){ .window = { .stride = { 2, 2 } } })) \
	CASE(pads_of_all, USAGE, "a pooling of all of the image has no strides, dilations or pads", \
		dlc_builder_avg_pool(v->b, "p", v->image, &(DlcPool){ .window = { .pads = { 1, 1, 1, 1 } } })) \
	CASE(pool_of_rows, TYPE, "its input has 2 dimensions, but needs at least 3", \
		dlc_builder_avg_pool(v->b, "p", v->halves, &(DlcPool){ 0 })) \
	CASE(no_factor, USAGE, "its factor is NULL", dlc_builder_upsample(v->b, "u", v->image, NULL, 0)) \
	CASE(factor, USAGE, "layer 'u' (upsample): its factor[1] is 0", \
		dlc_builder_upsample(v->b, "u", v->image, DIM(2, 0), 0)) \
	CASE(no_units, USAGE, "layer 'd' (dense): its units are 0", \
		dlc_builder_dense(v->b, "d", v->sequence, &(DlcDense){ 0 })) \
	CASE(vector, TYPE, "its input has 1 dimensions, but needs at least 2", \
		dlc_builder_dense(v->b, "d", v->four, &(DlcDense){ .units = 2 })) \
	CASE(dense_bias, TYPE, "its bias has the shape 4, but needs 3", \
		dlc_builder_dense(v->b, "d", v->sequence, &(DlcDense){ .units = 3, .bias = v->four })) \
	CASE(epsilon, USAGE, "its epsilon is -1", \
		dlc_builder_batch_norm(v->b, "n", v->image, &(DlcNorm){ .epsilon = -1 })) \
	CASE(mean_alone, USAGE, "it is given one of mean and var, but needs both or none", \
		dlc_builder_batch_norm(v->b, "n", v->image, &(DlcNorm){ .mean = v->four })) \
	CASE(mean_of_layer, USAGE, "mean and var are for a batch norm alone", \
		dlc_builder_layer_norm(v->b, "n", v->image, &(DlcNorm){ .mean = v->four })) \
	CASE(vector_norm, TYPE, "layer 'n' (batch_norm): its input has 1 dimensions, but needs at least 2", \
		dlc_builder_batch_norm(v->b, "n", v->four, NULL)) \
	CASE(norm_shape, TYPE, "layer 'n' (batch_norm): batch_norm: ", \
		dlc_builder_batch_norm(v->b, "n", v->sequence, &(DlcNorm){ .mean = v->four, .var = v->four })) \
	CASE(table, USAGE, "its table has 0 rows of 3 numbers", \
		dlc_builder_embedding(v->b, "e", v->ids, &(DlcEmbedding){ .width = 3 })) \
	CASE(table_rank, TYPE, "its table has 1 dimensions, but needs 2", \
		dlc_builder_embedding(v->b, "e", v->ids, &(DlcEmbedding){ .weight = v->four })) \
	CASE(table_index, TYPE, "layer 'e' (embedding): gather: ", \
		dlc_builder_embedding(v->b, "e", v->sequence, &(DlcEmbedding){ .rows = 3, .width = 3 })) \
	CASE(lstm_units, USAGE, "layer 'r' (lstm): its units are 0", \
		dlc_builder_lstm(v->b, "r", v->sequence, &(DlcRecurrent){ 0 }, NULL)) \
	CASE(lstm_rank, TYPE, "its input has 4 dimensions, but needs 3", \
		dlc_builder_lstm(v->b, "r", v->image, &(DlcRecurrent){ .units = 2 }, NULL)) \
	CASE(lstm_weight, TYPE, "its recurrent weight has the shape 4, but needs 8x2", \
		dlc_builder_lstm(v->b, "r", v->sequence, &(DlcRecurrent){ .units = 2, .recurrent = v->four }, NULL)) \
	CASE(lstm_reset, USAGE, "reset_after and recurrent_bias are for a gru alone", \
		dlc_builder_lstm(v->b, "r", v->sequence, &(DlcRecurrent){ .units = 2, .reset_after = 1 }, NULL)) \
	CASE(gru_bias, USAGE, "its recurrent_bias needs reset_after", \
		dlc_builder_gru(v->b, "r", v->sequence, &(DlcRecurrent){ .units = 4, .recurrent_bias = v->four }, NULL)) \
	CASE(gru_state, TYPE, "its first state has the shape 4, but needs 2x4", \
		dlc_builder_gru(v->b, "r", v->sequence, &(DlcRecurrent){ .units = 4, .state = { v->four } }, NULL)) \
	CASE(rnn_cell, TYPE, "its first state has the shape 4", \
		dlc_builder_rnn(v->b, "r", v->sequence, &(DlcRecurrent){ .units = 4, .state = { { 0 }, v->four } }, NULL)) \
	CASE(heads, USAGE, "layer 'a' (attention): 3 heads do not divide the width 4 of its input", \
		dlc_builder_attention(v->b, "a", v->sequence, &(DlcAttention){ .heads = 3 })) \
	CASE(context, TYPE, "its input and its context have 3 and 1 dimensions, but need 3", \
		dlc_builder_attention(v->b, "a", v->sequence, &(DlcAttention){ .heads = 2, .context = v->four })) \
	CASE(attention_weight, TYPE, "layer 'a.query' (dense): its weight has the shape 4, but needs 4x4", \
		dlc_builder_attention(v->b, "a", v->sequence, &(DlcAttention){ .heads = 2, .weight = { v->four } })) \
	CASE(operator, UNSUPPORTED, "layer 'o' (frobnicate): there is no operator 'frobnicate'", \
		dlc_builder_op1(v->b, "o", "frobnicate", v->image)) \
	CASE(no_operator, UNSUPPORTED, "there is no operator ''", dlc_builder_op1(v->b, "o", NULL, v->image)) \
	CASE(inputs, TYPE, "layer 'o' (add): add: takes the inputs \"a b\", but 1 are given", \
		dlc_builder_op1(v->b, "o", "add", v->image)) \
	CASE(input_count, USAGE, "it has -1 inputs", dlc_builder_op(v->b, "o", "add", NULL, -1, NULL, 0, NULL, 0)) \
	CASE(input_list, USAGE, "it has 2 inputs, but in is NULL", \
		dlc_builder_op(v->b, "o", "add", NULL, 2, NULL, 0, NULL, 0)) \
	CASE(needed, TYPE, "layer 'o' (pow): pow: input 1 of \"a b\" is not optional", \
		dlc_builder_op2(v->b, "o", "pow", (DlcValue){ 0 }, v->image)) \
	CASE(attr_list, USAGE, "it has 1 attributes, but attr is NULL", \
		dlc_builder_op(v->b, "o", "relu", &v->image, 1, NULL, 1, NULL, 0)) \
	CASE(attr_name, USAGE, "its attribute 0 has no name", \
		dlc_builder_op(v->b, "o", "relu", &v->image, 1, &(DlcAttr){ 0 }, 1, NULL, 0)) \
	CASE(attr_kind, USAGE, "its attribute axis is of no kind", \
		dlc_builder_op(v->b, "o", "softmax", &v->image, 1, &(DlcAttr){ .name = "axis", .kind = (DlcAttrKind)7 }, 1, \
			NULL, 0)) \
	CASE(attr_ints, USAGE, "its attribute perm has 2 numbers, but ints is NULL", \
		dlc_builder_op(v->b, "o", "transpose", &v->image, 1, &(DlcAttr){ .name = "perm", .kind = DLC_INTS, .n = 2 }, \
			1, NULL, 0)) \
	CASE(attr_text, USAGE, "its attribute to has no text", \
		dlc_builder_op(v->b, "o", "cast", &v->image, 1, &(DlcAttr){ .name = "to", .kind = DLC_TEXT }, 1, NULL, 0)) \
	CASE(attr_wrong, TYPE, "attribute axis has the wrong kind", \
		dlc_builder_op(v->b, "o", "softmax", &v->image, 1, &(DlcAttr){ .name = "axis", .kind = DLC_FLOAT, .f = 1 }, 1, \
			NULL, 0)) \
	CASE(attr_unknown, TYPE, "has no attribute \"axes\"", \
		dlc_builder_op(v->b, "o", "softmax", &v->image, 1, &(DlcAttr){ .name = "axes" }, 1, NULL, 0)) \
	CASE(results, USAGE, "layer 'o' (relu): it gives 1 results, but 2 are asked for", \
		dlc_builder_op(v->b, "o", "relu", &v->image, 1, NULL, 0, (DlcValue[2]){ { 0 } }, 2)) \
	CASE(results_list, USAGE, "1 results are asked for, but out is NULL", \
		dlc_builder_op(v->b, "o", "relu", &v->image, 1, NULL, 0, NULL, 1)) \
	CASE(shape, TYPE, "layer 'o' (reshape): reshape: ", dlc_builder_reshape(v->b, "o", v->image, 2, DIM(5, 5))) \
	CASE(input_name, USAGE, "an input has no name", dlc_builder_input(v->b, NULL, f32, 0, NULL)) \
	CASE(input_twice, USAGE, "the name 'image' of an input is that of another value", \
		dlc_builder_input(v->b, "image", f32, 0, NULL)) \
	CASE(input_rank, USAGE, "input 'x' has 9 dimensions", dlc_builder_input(v->b, "x", f32, 9, DIM(1))) \
	CASE(input_dim, USAGE, "input 'x' has 2 dimensions, but dim is NULL", dlc_builder_input(v->b, "x", f32, 2, NULL)) \
	CASE(input_negative, USAGE, "input 'x' has a dimension of -4", dlc_builder_input(v->b, "x", f32, 1, DIM(-4))) \
	CASE(input_open, INPUT, "dimension 2 of input 'x' is not known", \
		dlc_builder_input(v->b, "x", f32, 2, DIM(1, -1))) \
	CASE(input_type, USAGE, "input 'x' has a type that dlc does not know: code 3 with 7 bits", \
		dlc_builder_input(v->b, "x", (DlcDataType){ 3, 7, 1 }, 0, NULL)) \
	CASE(input_size, MEMORY, "input 'x' of shape", dlc_builder_input(v->b, "x", f32, 2, DIM(1 << 30, 1 << 30))) \
	CASE(constant, USAGE, "layer 'k' (constant): its tensor is NULL", \
		dlc_builder_constant(v->b, "k", NULL, DLC_COPY)) \
	CASE(constant_keep, USAGE, "its keep is 5", \
		dlc_builder_constant(v->b, "k", &(DlcTensor){ .dtype = f32 }, (DlcKeep)5)) \
	CASE(constant_data, INPUT, "layer 'k' (constant): it has no data", \
		dlc_builder_constant(v->b, "k", &(DlcTensor){ .dtype = f32 }, DLC_COPY)) \
	CASE(weight_spread, USAGE, "its mean 0 and its spread inf must be finite", \
		dlc_builder_weight(v->b, "w", 1, DIM(3), 0, INFINITY)) \
	CASE(weight_dim, USAGE, "weight 'w' has a dimension of -1", dlc_builder_weight(v->b, "w", 1, DIM(-1), 0, 1)) \
	CASE(output_none, USAGE, "output 'y' is none", dlc_builder_output(v->b, "y", (DlcValue){ 0 })) \
	CASE(output_foreign, USAGE, "output 'y' is no value of this builder", \
		dlc_builder_output(v->b, "y", (DlcValue){ 3 })) \
	CASE(output_name, USAGE, "the name 'image' of an output is that of another value", \
		dlc_builder_output(v->b, "image", v->four)) \
	CASE(output_missing, USAGE, "no value is an output", (void)v) \
	CASE(own, SYNTAX, "line 3 is no layer", dlc_builder_refuse(v->b, DLC_FAULT_SYNTAX, "line 3 is no layer")) \
	CASE(own_code, INPUT, "line 4", dlc_builder_refuse(v->b, (DlcFault)77, "line 4"))

#define CASE(name, fault, says, call) \
	static void name##_is_wrong(Values *v) \
	{ \
		call; \
	}
CASES
#undef CASE
#define CASE(name, fault, says, call) { says, DLC_FAULT_##fault, name##_is_wrong },
static const Case cases[] = { CASES };
#undef CASE

START_TEST(each_is_one_sentence)
{
	DlcFailure why = { 0 }, found = { 0 };
	DlcSession *s = open_session();
	DlcNetwork *n;
	float four[] = { 1, 1, 1, 1 };
	int64_t length[] = { 4 };
	DlcTensor t = { .data = four, .ndim = 1, .dtype = f32, .shape = length };
	Values v;
	ok(dlc_builder_open(s, "wrong", 1, NULL, &v.b, &why), why);
	v.image = dlc_builder_input(v.b, "image", f32, 4, DIM(1, 4, 6, 6));
	v.sequence = dlc_builder_input(v.b, "sequence", f32, 3, DIM(2, 3, 4));
	v.ids = dlc_builder_input(v.b, "ids", (DlcDataType){ 0, 64, 1 }, 2, DIM(2, 3));
	v.halves = dlc_builder_input(v.b, "halves", (DlcDataType){ 2, 16, 1 }, 2, DIM(1, 4));
	v.four = dlc_builder_constant(v.b, "four", &t, DLC_BORROW);
	ok(dlc_builder_fault(v.b, &why), why);
	cases[_i].call(&v);
	/* Nothing is built behind it, and it stays. */
	if (dlc_builder_fault(v.b, &found) != DLC_FAULT_NONE) {
		ck_assert(dlc_builder_input(v.b, "more", f32, 0, NULL).id == 0);
		dlc_builder_refuse(v.b, DLC_FAULT_BUG, "another");
	}
	ck_assert_int_eq(dlc_builder_finish(v.b, &n, &why), cases[_i].fault);
	ck_assert_msg(strstr(why.text, cases[_i].says) != NULL, "%s: not \"%s\"", why.text, cases[_i].says);
	ck_assert_ptr_null(n);
	if (found.code != DLC_FAULT_NONE)
		ck_assert_str_eq(found.text, why.text);
	ck_assert_str_eq(why.place, strncmp(why.text, "dimension", 9) == 0 ? "shape" : "wrong");
	dlc_builder_close(v.b);
	dlc_session_close(s);
}
END_TEST

/* Names of options that no input takes, and arguments of the functions that return a fault. */
START_TEST(options_without_a_use_are_refused)
{
	DlcFailure why = { 0 };
	DlcSession *s = open_session();
	DlcBuilder *b;
	DlcNetwork *n;
	DlcShape shape = { "z", 1, { 2 } };
	const struct {
		DlcLoadOptions o;
		const char *place;
	} wrong[] = { { { .shape = &shape, .nshape = 1 }, "shape" }, { { .seq = 3 }, "seq" }, { { .batch = 3 }, NULL },
		{ { .without = "nothing-known" }, "without" } };
	for (int k = 0; k < LEN(wrong); k++) {
		ok(dlc_builder_open(s, "n", 1, &wrong[k].o, &b, &why), why);
		DlcValue x = dlc_builder_input(b, "x", f32, 1, DIM(3));
		dlc_builder_output(b, "y", dlc_builder_op1(b, NULL, "relu", x));
		DlcFault fault = dlc_builder_finish(b, &n, &why);
		ck_assert(wrong[k].place == NULL ? fault == DLC_FAULT_NONE : fault != DLC_FAULT_NONE);
		if (wrong[k].place != NULL)
			ck_assert_str_eq(why.place, wrong[k].place);
		dlc_network_close(n);
		dlc_builder_close(b);
	}
	ck_assert_int_eq(dlc_builder_open(s, "n", 1, &(DlcLoadOptions){ .weights = "w" }, &b, &why), DLC_FAULT_USAGE);
	ck_assert(strcmp(why.place, "weights") == 0 && b == NULL);
	ck_assert_int_eq(dlc_builder_open(s, "n", 1, &(DlcLoadOptions){ .signature = "f" }, &b, &why), DLC_FAULT_USAGE);
	ck_assert(strcmp(why.place, "signature") == 0 && b == NULL);
	ck_assert_int_eq(dlc_builder_open(s, "n", 1, &(DlcLoadOptions){ .tags = "t" }, &b, &why), DLC_FAULT_USAGE);
	ck_assert(strcmp(why.place, "tags") == 0 && b == NULL);
	ck_assert_int_eq(dlc_builder_open(s, "n", 1, &(DlcLoadOptions){ .batch = -1 }, &b, &why), DLC_FAULT_USAGE);
	ck_assert_int_eq(dlc_builder_open(NULL, "n", 1, NULL, &b, &why), DLC_FAULT_USAGE);
	ck_assert_int_eq(dlc_builder_open(s, NULL, 1, NULL, &b, &why), DLC_FAULT_USAGE);
	ck_assert_int_eq(dlc_builder_open(s, "n", 1, NULL, NULL, &why), DLC_FAULT_USAGE);
	ck_assert_int_eq(dlc_builder_finish(NULL, &n, &why), DLC_FAULT_USAGE);
	ck_assert_int_eq(dlc_builder_fault(NULL, &why), DLC_FAULT_USAGE);
	ok(dlc_builder_open(s, "n", 1, NULL, &b, &why), why);
	ck_assert_int_eq(dlc_builder_finish(b, NULL, &why), DLC_FAULT_USAGE);
	dlc_session_cancel(s, 1);
	ck_assert_int_eq(dlc_builder_finish(b, &n, &why), DLC_FAULT_INTERRUPTED);
	dlc_builder_close(b);
	dlc_builder_close(NULL);
	dlc_builder_refuse(NULL, DLC_FAULT_INPUT, "x");
	DlcValueInfo info;
	ck_assert(!dlc_builder_describe(NULL, (DlcValue){ 1 }, &info) && info.name == NULL);
	ck_assert(!dlc_builder_describe(NULL, (DlcValue){ 1 }, NULL));
	ck_assert(dlc_builder_op1(NULL, "x", "relu", (DlcValue){ 0 }).id == 0);
	dlc_session_close(s);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("network_refused");
	if (!suite_folder(folder, "refused"))
		return 1;
	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, each_is_one_sentence, 0, LEN(cases));
	tcase_add_test(tc, options_without_a_use_are_refused);
	int failed = run_suite("network_refused", tc);
	return rmdir(folder) != 0 || failed;
}
