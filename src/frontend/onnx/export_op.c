/*
 * One row for each operator: the ONNX node with the same meaning, and a function if it needs attributes,
 * constants or several nodes. Formulas are those of op/op.def. ONNX is opset 17, or the newer one that an
 * operator needs: 18 for bitwise operators, 19 for dilated average pooling and padding by wrapping, 22 for an
 * average that counts padding but not what rounding up adds.
 */
#include "frontend/onnx/export_call.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

/* An attribute of the same numbers, if it is given. */
static void copy_ints(const Call *k, OutNode *n, const char *ours, const char *theirs)
{
	int count;
	const int64_t *at = op_ints(k->c, ours, &count);
	if (count > 0)
		out_ints(n, theirs, at, count);
}

static void copy_float(const Call *k, OutNode *n, const char *name)
{
	out_float(n, name, op_float(k->c, name));
}

static bool conv(const Call *k)
{
	OutNode n = begin(k);
	const Shape *w = &arg(k, 1)->shape;
	out_ints(&n, "kernel_shape", &w->dim[2], w->rank - 2);
	copy_ints(k, &n, "strides", "strides");
	copy_ints(k, &n, "pads", "pads");
	copy_ints(k, &n, "dilations", "dilations");
	if (k->c->op == OP_conv_transpose)
		copy_ints(k, &n, "output_padding", "output_padding");
	out_int(&n, "group", op_int(k->c, "groups"));
	return end(k, &n);
}

/* Gemm takes matrices only. */
static bool dense(const Call *k)
{
	Shape x = arg(k, 0)->shape;
	if (x.rank == 2) {
		OutNode n = begin(k);
		out_int(&n, "transB", 1);
		return end(k, &n);
	}
	int64_t perm[] = { 1, 0 };
	bool bias = k->c->nin > 2;
	const char *turned = out_name(k->o, k->out[0]);
	OutNode t = out_begin(k->o, "Transpose");
	out_input(&t, k->in[1]);
	out_ints(&t, "perm", perm, 2);
	out_end(&t, turned);
	const char *product = bias ? out_name(k->o, k->out[0]) : k->out[0];
	OutNode m = out_begin(k->o, "MatMul");
	out_input(&m, k->in[0]);
	out_input(&m, turned);
	out_end(&m, product);
	if (bias) {
		OutNode n = out_begin(k->o, "Add");
		out_input(&n, product);
		out_input(&n, k->in[2]);
		out_end(&n, k->out[0]);
	}
	return true;
}

/* The operand, with its last two axes exchanged if it is to be. */
static const char *turned(const Call *k, int i, const char *flag)
{
	int rank = arg(k, i)->shape.rank;
	int64_t perm[DAG_MAX_RANK];
	if (op_int(k->c, flag) == 0 || rank < 2)
		return k->in[i];
	for (int r = 0; r < rank; r++)
		perm[r] = r;
	perm[rank - 2] = rank - 1;
	perm[rank - 1] = rank - 2;
	const char *name = out_name(k->o, k->out[0]);
	OutNode t = out_begin(k->o, "Transpose");
	out_input(&t, k->in[i]);
	out_ints(&t, "perm", perm, rank);
	out_end(&t, name);
	return name;
}

static bool matmul(const Call *k)
{
	const char *a = turned(k, 0, "ta"), *b = turned(k, 1, "tb");
	OutNode n = out_begin(k->o, k->type);
	out_input(&n, a);
	out_input(&n, b);
	return end(k, &n);
}

/* Writes what rounding up adds at the end as pads, because other runtimes read ceil_mode differently. */
static bool ceil_pads(const Call *k, int64_t *pads)
{
	int n = arg(k, 0)->shape.rank - 2, count;
	const int64_t *kernel = op_ints(k->c, "kernel", &count), *stride = op_ints(k->c, "strides", &count);
	const int64_t *pad = op_ints(k->c, "pads", &count), *dilation = op_ints(k->c, "dilations", &count);
	for (int i = 0; i < n; i++) {
		int64_t begin = pad != NULL ? pad[i] : 0, in = arg(k, 0)->shape.dim[2 + i] + begin;
		int64_t out = k->o->dag->value.at[k->c->out[0]].shape.dim[2 + i];
		int64_t reach = (kernel[i] - 1) * (dilation != NULL ? dilation[i] : 1) + 1;
		int64_t last = (out - 1) * (stride != NULL ? stride[i] : 1) + reach;
		pads[i] = begin;
		pads[n + i] = last > in ? last - in : 0;
		if (pads[n + i] >= kernel[i])
			return false; /* more than other runtimes accept */
	}
	return true;
}

static bool counts_pads(const OpCall *c)
{
	return c->op == OP_avg_pool && op_int(c, "count_pad") != 0;
}

/* The places of a maximum are the second result of MaxPool. */
static bool pool(const Call *k)
{
	OutNode n = begin(k);
	if (k->c->op == OP_max_pool_place)
		vec_push(k->o->arena, &n.node.output, out_name(k->o, k->out[0]));
	int64_t pads[2 * DAG_MAX_RANK];
	bool ceil = op_int(k->c, "ceil") != 0;
	copy_ints(k, &n, "kernel", "kernel_shape");
	copy_ints(k, &n, "strides", "strides");
	copy_ints(k, &n, "dilations", "dilations");
	if (ceil && !counts_pads(k->c) && ceil_pads(k, pads)) {
		out_ints(&n, "pads", pads, 2 * (arg(k, 0)->shape.rank - 2));
	} else {
		copy_ints(k, &n, "pads", "pads");
		out_int(&n, "ceil_mode", ceil);
	}
	if (k->c->op == OP_avg_pool)
		out_int(&n, "count_include_pad", op_int(k->c, "count_pad"));
	return end(k, &n);
}

static bool batch_norm(const Call *k)
{
	OutNode n = begin(k);
	copy_float(k, &n, "epsilon");
	return end(k, &n);
}

static bool lrn(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "size", op_int(k->c, "size"));
	copy_float(k, &n, "alpha");
	copy_float(k, &n, "beta");
	copy_float(k, &n, "bias");
	return end(k, &n);
}

static bool with_alpha(const Call *k)
{
	OutNode n = begin(k);
	copy_float(k, &n, "alpha");
	return end(k, &n);
}

static bool hard_sigmoid(const Call *k)
{
	OutNode n = begin(k);
	copy_float(k, &n, "alpha");
	copy_float(k, &n, "beta");
	return end(k, &n);
}

/* Bounds that are inputs first, then those that are attributes. */
static bool clip(const Call *k)
{
	double lo = op_float(k->c, "lo"), hi = op_float(k->c, "hi");
	bool inputs = k->c->nin > 1, bounds = isfinite(lo) || isfinite(hi) || !inputs;
	const char *x = k->in[0];
	if (inputs) {
		const char *y = bounds ? out_name(k->o, k->out[0]) : k->out[0];
		OutNode n = out_begin(k->o, "Clip");
		for (int i = 0; i < k->c->nin; i++)
			out_input(&n, k->in[i]);
		out_end(&n, y);
		x = y;
	}
	if (!bounds)
		return true;
	DType type = arg(k, 0)->type;
	OutNode n = out_begin(k->o, "Clip");
	out_input(&n, x);
	out_input(&n, lo > -INFINITY ? out_const_number(k->o, k->out[0], type, lo) : NULL);
	out_input(&n, hi < INFINITY ? out_const_number(k->o, k->out[0], type, hi) : NULL);
	return end(k, &n);
}

static bool cast(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "to", onnx_type_to(k->o->dag->value.at[k->c->out[0]].type));
	return end(k, &n);
}

static bool softmax(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "axis", op_int(k->c, "axis"));
	return end(k, &n);
}

static const char *cast_to(const Call *k, const char *x, int type, const char *result)
{
	OutNode n = out_begin(k->o, "Cast");
	out_input(&n, x);
	out_int(&n, "to", type);
	out_end(&n, result);
	return result;
}

/*
 * Axes are an input of ReduceSum from opset 13 on, of its siblings from 18 on; bool goes as bytes.
 */
static bool reduce(const Call *k)
{
	OutNode n = out_begin(k->o, k->type);
	int count;
	const int64_t *axes = op_ints(k->c, "axes", &count);
	bool truth = arg(k, 0)->type.kind == DT_BOOL;
	const char *y = truth ? out_name(k->o, k->out[0]) : k->out[0];
	out_input(&n, truth ? cast_to(k, k->in[0], onnx_type_to(DT(UINT, 8)), out_name(k->o, k->out[0])) : k->in[0]);
	if (count > 0 && (k->c->op == OP_reduce_sum || k->o->opset >= 18))
		out_input(&n, out_const_ints(k->o, k->out[0], axes, count));
	else if (count > 0)
		out_ints(&n, "axes", axes, count);
	out_int(&n, "keepdims", op_int(k->c, "keep"));
	out_end(&n, y);
	if (truth)
		cast_to(k, y, onnx_type_to(BOOL), k->out[0]);
	return true;
}

static bool arg_extreme(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "axis", op_int(k->c, "axis"));
	out_int(&n, "keepdims", op_int(k->c, "keep"));
	out_int(&n, "select_last_index", op_int(k->c, "last"));
	return end(k, &n);
}

static bool scans_product(const OpCall *c)
{
	return c->op == OP_scan && strcmp(op_text(c, "kind"), "prod") == 0;
}

static bool scan(const Call *k)
{
	int64_t axis = op_int(k->c, "axis");
	OutNode n = out_begin(k->o, scans_product(k->c) ? "CumProd" : "CumSum");
	out_input(&n, k->in[0]);
	out_input(&n, out_const_ints(k->o, k->out[0], &axis, 1));
	out_int(&n, "exclusive", op_int(k->c, "exclusive"));
	out_int(&n, "reverse", op_int(k->c, "reverse"));
	return end(k, &n);
}

static bool top_k(const Call *k)
{
	int64_t count = op_int(k->c, "k");
	OutNode n = begin(k);
	out_input(&n, out_const_ints(k->o, k->out[0], &count, 1));
	out_int(&n, "axis", op_int(k->c, "axis"));
	out_int(&n, "largest", op_int(k->c, "largest"));
	vec_push(k->o->arena, &n.node.output, k->out[0]);
	out_end(&n, k->out[1]);
	return true;
}

static bool reshape(const Call *k)
{
	reshaped(k, k->in[0], k->o->dag->value.at[k->c->out[0]].shape, k->out[0]);
	return true;
}

static bool expand(const Call *k)
{
	OutNode n = begin(k);
	int count;
	const int64_t *at = op_ints(k->c, "shape", &count);
	out_input(&n, out_const_ints(k->o, k->out[0], at, count));
	return end(k, &n);
}

static bool transpose(const Call *k)
{
	OutNode n = begin(k);
	copy_ints(k, &n, "perm", "perm");
	return end(k, &n);
}

static bool concat(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "axis", op_int(k->c, "axis"));
	return end(k, &n);
}

static bool split(const Call *k)
{
	OutNode n = begin(k);
	int count;
	const int64_t *sizes = op_ints(k->c, "sizes", &count);
	out_input(&n, out_const_ints(k->o, k->out[0], sizes, count));
	out_int(&n, "axis", op_int(k->c, "axis"));
	for (int i = 1; i < k->c->nout; i++)
		vec_push(k->o->arena, &n.node.output, k->out[i - 1]);
	out_end(&n, k->out[k->c->nout - 1]);
	return true;
}

/* Ends are exclusive; one before the first element is written as the smallest number. */
static bool slice(const Call *k)
{
	int rank = arg(k, 0)->shape.rank, count;
	const int64_t *start = op_ints(k->c, "starts", &count), *size = op_ints(k->c, "sizes", &count);
	const int64_t *step = op_ints(k->c, "steps", &count);
	int64_t axes[DAG_MAX_RANK], starts[DAG_MAX_RANK], ends[DAG_MAX_RANK], steps[DAG_MAX_RANK];
	for (int i = 0; i < rank; i++) {
		int64_t many = size != NULL ? size[i] : 0;
		axes[i] = i;
		starts[i] = start != NULL ? start[i] : 0;
		steps[i] = step != NULL ? step[i] : 1;
		ends[i] = starts[i] + (many > 0 ? (many - 1) * steps[i] : 0);
		ends[i] += many == 0 ? 0 : steps[i] > 0 ? 1 : -1;
		if (ends[i] < 0)
			ends[i] = INT64_MIN;
	}
	OutNode n = begin(k);
	const char *wish = k->out[0];
	out_input(&n, out_const_ints(k->o, wish, starts, rank));
	out_input(&n, out_const_ints(k->o, wish, ends, rank));
	out_input(&n, out_const_ints(k->o, wish, axes, rank));
	out_input(&n, out_const_ints(k->o, wish, steps, rank));
	return end(k, &n);
}

/* The elements [from, from + size) of each dimension. */
static void write_part(const Call *k, const char *x, const int64_t *from, const int64_t *size, int rank)
{
	int64_t axes[DAG_MAX_RANK], ends[DAG_MAX_RANK];
	for (int i = 0; i < rank; i++) {
		axes[i] = i;
		ends[i] = from[i] + size[i];
	}
	OutNode n = out_begin(k->o, "Slice");
	out_input(&n, x);
	out_input(&n, out_const_ints(k->o, k->out[0], from, rank));
	out_input(&n, out_const_ints(k->o, k->out[0], ends, rank));
	out_input(&n, out_const_ints(k->o, k->out[0], axes, rank));
	out_end(&n, k->out[0]);
}

/* Negative pads cut behind the positive ones: runtimes differ in what is mirrored where a node has both. */
static bool pad(const Call *k)
{
	int count, rank = arg(k, 0)->shape.rank;
	const int64_t *pads = op_ints(k->c, "pads", &count);
	int64_t more[2 * DAG_MAX_RANK] = { 0 }, from[DAG_MAX_RANK] = { 0 };
	bool cuts = false;
	for (int i = 0; i < count; i++) {
		more[i] = pads[i] > 0 ? pads[i] : 0;
		cuts |= pads[i] < 0;
		if (i < rank)
			from[i] = more[i] - pads[i];
	}
	const char *y = cuts ? out_name(k->o, k->out[0]) : k->out[0];
	OutNode n = begin(k);
	out_input(&n, out_const_ints(k->o, k->out[0], more, 2 * rank));
	if (strcmp(op_text(k->c, "mode"), "constant") == 0)
		out_input(&n, out_const_number(k->o, k->out[0], arg(k, 0)->type, op_float(k->c, "value")));
	out_text(&n, "mode", op_text(k->c, "mode"));
	out_end(&n, y);
	if (cuts)
		write_part(k, y, from, k->o->dag->value.at[k->c->out[0]].shape.dim, rank);
	return true;
}

static const struct {
	const char *type;
	bool (*write)(const Call *k);
	int since; /* the first opset that has the node, if 17 lacks it; 0: 17 has it */
} rows[OP_COUNT] = {
	[OP_conv] = { "Conv", conv },
	[OP_conv_transpose] = { "ConvTranspose", conv },
	[OP_fold] = { "Col2Im", write_fold, 18 },
	[OP_dense] = { "Gemm", dense },
	[OP_matmul] = { "MatMul", matmul },
	[OP_max_pool] = { "MaxPool", pool },
	[OP_max_pool_place] = { "MaxPool", pool },
	[OP_det] = { "Det", plain },
	[OP_suppress] = { "MatMul", write_suppress },
	[OP_avg_pool] = { "AveragePool", pool },
	[OP_batch_norm] = { "BatchNormalization", batch_norm },
	[OP_lrn] = { "LRN", lrn },
	[OP_add] = { "Add", plain },
	[OP_sub] = { "Sub", plain },
	[OP_mul] = { "Mul", plain },
	[OP_div] = { "Div", plain },
	[OP_pow] = { "Pow", plain },
	[OP_maximum] = { "Max", plain },
	[OP_minimum] = { "Min", plain },
	[OP_mod] = { "Mod", write_mod },
	[OP_equal] = { "Equal", plain },
	[OP_less] = { "Less", plain },
	[OP_less_equal] = { "LessOrEqual", plain },
	[OP_bit_and] = { "And", write_logic },
	[OP_bit_or] = { "Or", write_logic },
	[OP_bit_xor] = { "Xor", write_logic },
	[OP_bit_not] = { "Not", write_logic },
	[OP_shift_left] = { "BitShift", write_shift },
	[OP_shift_right] = { "BitShift", write_shift },
	[OP_where] = { "Where", plain },
	[OP_is_nan] = { "IsNaN", plain },
	[OP_is_inf] = { "IsInf", write_is_inf },
	[OP_prelu] = { "PRelu", plain },
	[OP_relu] = { "Relu", plain },
	[OP_leaky_relu] = { "LeakyRelu", with_alpha },
	[OP_elu] = { "Elu", with_alpha },
	[OP_hard_sigmoid] = { "HardSigmoid", hard_sigmoid },
	[OP_hard_swish] = { "HardSwish", plain },
	[OP_sigmoid] = { "Sigmoid", plain },
	[OP_tanh] = { "Tanh", plain },
	[OP_erf] = { "Erf", plain },
	[OP_exp] = { "Exp", plain },
	[OP_log] = { "Log", plain },
	[OP_sqrt] = { "Sqrt", plain },
	[OP_abs] = { "Abs", plain },
	[OP_neg] = { "Neg", plain },
	[OP_sign] = { "Sign", plain },
	[OP_floor] = { "Floor", plain },
	[OP_ceil] = { "Ceil", plain },
	[OP_round] = { "Round", plain },
	[OP_sin] = { "Sin", plain },
	[OP_cos] = { "Cos", plain },
	[OP_tan] = { "Tan", plain },
	[OP_asin] = { "Asin", plain },
	[OP_acos] = { "Acos", plain },
	[OP_atan] = { "Atan", plain },
	[OP_sinh] = { "Sinh", plain },
	[OP_cosh] = { "Cosh", plain },
	[OP_asinh] = { "Asinh", plain },
	[OP_acosh] = { "Acosh", plain },
	[OP_atanh] = { "Atanh", plain },
	[OP_expm1] = { "Tanh", write_expm1 },
	[OP_log1p] = { "Atanh", write_log1p },
	[OP_clip] = { "Clip", clip },
	[OP_cast] = { "Cast", cast },
	[OP_bitcast] = { "BitCast", cast, 26 },
	[OP_identity] = { "Identity", plain },
	[OP_softmax] = { "Softmax", softmax },
	[OP_log_softmax] = { "LogSoftmax", softmax },
	[OP_reduce_sum] = { "ReduceSum", reduce },
	[OP_reduce_mean] = { "ReduceMean", reduce },
	[OP_reduce_max] = { "ReduceMax", reduce },
	[OP_reduce_min] = { "ReduceMin", reduce },
	[OP_reduce_prod] = { "ReduceProd", reduce },
	[OP_arg_max] = { "ArgMax", arg_extreme },
	[OP_arg_min] = { "ArgMin", arg_extreme },
	[OP_scan] = { "CumSum", scan },
	[OP_top_k] = { "TopK", top_k },
	[OP_attention] = { "Attention", onnx_write_attention, 23 },
	[OP_linear_attention] = { "LinearAttention", onnx_write_linear_attention, 27 },
	[OP_rnn] = { "RNN", onnx_write_recurrent },
	[OP_gru] = { "GRU", onnx_write_recurrent },
	[OP_lstm] = { "LSTM", onnx_write_recurrent },
	[OP_reshape] = { "Reshape", reshape },
	[OP_transpose] = { "Transpose", transpose },
	[OP_expand] = { "Expand", expand },
	[OP_concat] = { "Concat", concat },
	[OP_split] = { "Split", split },
	[OP_slice] = { "Slice", slice },
	[OP_pad] = { "Pad", pad },
	[OP_gather] = { "Gather", write_gather },
	[OP_resample] = { "Gather", write_resample },
	[OP_gather_nd] = { "GatherND", write_gather },
	[OP_gather_elements] = { "GatherElements", write_gather },
	[OP_scatter_nd] = { "ScatterND", write_scatter },
	[OP_scatter_elements] = { "ScatterElements", write_scatter },
};

int onnx_write_opset(const Dag *d, const OpCall *c)
{
	int count;
	if (rows[c->op].write == write_logic && d->value.at[c->in[0]].type.kind != DT_BOOL)
		return 18;
	if (counts_pads(c) && op_int(c, "ceil") != 0)
		return 22;
	if (c->op == OP_avg_pool && op_ints(c, "dilations", &count) != NULL)
		return 19;
	if (c->op == OP_pad && strcmp(op_text(c, "mode"), "wrap") == 0)
		return 19;
	if (scans_product(c))
		return 26;
	if (c->op == OP_resample && op_int(c, "max") != 0)
		return 18;
	if (c->op == OP_scatter_nd || c->op == OP_scatter_elements)
		return scatter_opset(c);
	return rows[c->op].since > 17 ? rows[c->op].since : 17;
}

bool onnx_write_call(OnnxOut *o, const OpCall *c, const char *const *in, const char *const *out)
{
	if (rows[c->op].write == NULL)
		return fail(o->err, ERR_UNSUPPORTED, out[0], "the operator %s cannot be written as ONNX", op_row(c->op)->name);
	Call k = { .o = o, .c = c, .type = rows[c->op].type, .in = in, .out = out };
	return rows[c->op].write(&k);
}
