/* Rows of layers with matrices and tables, and of normalisations. */
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"

/* ---- matrices */

/* x[rows,in] times the transpose of w[out,in]. */
static int dense(Visit *v, int x, const CoremlWeight *w, const CoremlWeight *bias, int64_t in, int64_t out)
{
	int call[] = { x, coreml_weight(v, "weights", w, shape_of(2, (int64_t[]){ out, in })),
		bias != NULL ? coreml_weight(v, "bias", bias, shape_of(1, &out)) : DAG_NONE };
	return node_call(v, OP_dense, call, 3, NULL, 0);
}

static bool check_elements(Visit *v, int64_t have, int64_t need)
{
	if (node_ok(v) && have != need)
		node_fail(v, ERR_TYPE, "its input has vectors of %lld elements, but its weights need %lld", (long long)have,
			(long long)need);
	return node_ok(v);
}

/* From 4 dimensions on the last three are one vector, and the result keeps ones in their place. */
static void import_inner_product(Visit *v)
{
	const CoremlInnerProduct *p = coreml_params(v, CoremlInnerProduct);
	Shape s = node_need(v, 0)->shape, to = s;
	int64_t in = coreml_size(v, "inputChannels", p->inputChannels, 1);
	int64_t out = coreml_size(v, "outputChannels", p->outputChannels, 1);
	int from = s.rank >= 4 ? s.rank - 3 : s.rank - 1;
	if (node_ok(v) && s.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar");
	if (!node_ok(v) || !check_elements(v, shape_product(&s, from, s.rank), in))
		return;
	int x = node_view(v, node_value(v, 0), 2, (int64_t[]){ shape_product(&s, 0, from), in });
	for (int k = from; k < s.rank; k++)
		to.dim[k] = k == from ? out : 1;
	node_set(v, 0, node_reshape(v, dense(v, x, p->weights, p->hasBias ? p->bias : NULL, in, out), to));
}

static void import_batched_matmul(Visit *v)
{
	const CoremlBatchedMatMul *p = coreml_params(v, CoremlBatchedMatMul);
	if (node_nin(v) > 1) {
		Attr attr[] = { attr_int("ta", p->transposeA != 0), attr_int("tb", p->transposeB != 0) };
		int in[] = { coreml_value(v, 0), coreml_value(v, 1) }, rank[2];
		for (int k = 0; k < 2; k++)
			rank[k] = node_val(v, in[k])->shape.rank;
		for (int k = 0; k < 2 && node_ok(v); k++)
			if (rank[k] == 1) { /* [D] is [1,D] before, [D,1] behind */
				int64_t n = node_val(v, in[k])->shape.dim[0];
				in[k] = node_view(v, in[k], 2, (int64_t[]){ k == 0 ? 1 : n, k == 0 ? n : 1 });
			}
		coreml_set(v, 0, node_call(v, OP_matmul, in, 2, attr, 2));
		return;
	}
	Shape s = node_need(v, 0)->shape;
	int64_t in = coreml_size(v, "weightMatrixFirstDimension", p->weightMatrixFirstDimension, 1);
	int64_t out = coreml_size(v, "weightMatrixSecondDimension", p->weightMatrixSecondDimension, 1);
	if (node_ok(v) && s.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar");
	if (!node_ok(v) || !check_elements(v, s.dim[s.rank - 1], in))
		return;
	int x = node_view(v, node_value(v, 0), 2, (int64_t[]){ shape_product(&s, 0, s.rank - 1), in });
	s.dim[s.rank - 1] = out;
	node_set(v, 0, node_reshape(v, dense(v, x, p->weights, p->hasBias ? p->bias : NULL, in, out), s));
}

/* Rows of a table that is stored with its columns first; the last `ones` dimensions of the input are 1. */
static void embed(
	Visit *v, const CoremlWeight *w, const CoremlWeight *bias, int64_t rows, int64_t columns, int ones, bool behind)
{
	Shape s = node_need(v, 0)->shape, to = s;
	if (node_ok(v) && (s.rank < ones || shape_product(&s, s.rank - ones, s.rank) != 1))
		node_fail(v, ERR_TYPE, "its input must end with %d dimensions of 1", ones);
	if (!node_ok(v))
		return;
	int table = coreml_weight(v, "weights", w, shape_of(2, (int64_t[]){ columns, rows }));
	int64_t count = shape_product(&s, 0, s.rank - ones);
	int in[] = { node_transpose(v, table, (int64_t[]){ 1, 0 }), node_view(v, coreml_index(v, 0), 1, &count) };
	Attr attr = attr_int("axis", 0);
	int y = node_call(v, OP_gather, in, 2, &attr, 1);
	if (bias != NULL)
		y = node_call2(v, OP_add, y, coreml_weight(v, "bias", bias, shape_of(1, &columns)));
	to.dim[behind ? s.rank - 1 : s.rank - ones] = columns;
	node_set(v, 0, node_reshape(v, y, to));
}

static void import_embedding(Visit *v)
{
	const CoremlEmbedding *p = coreml_params(v, CoremlEmbedding);
	embed(v, p->weights, p->hasBias ? p->bias : NULL, coreml_size(v, "inputDim", p->inputDim, 1),
		coreml_size(v, "outputChannels", p->outputChannels, 1), 3, false);
}

static void import_embedding_nd(Visit *v)
{
	const CoremlEmbeddingND *p = coreml_params(v, CoremlEmbeddingND);
	embed(v, p->weights, p->hasBias ? p->bias : NULL, coreml_size(v, "vocabSize", p->vocabSize, 1),
		coreml_size(v, "embeddingSize", p->embeddingSize, 1), 1, true);
}

/* ---- scales */

/* A number for all, for each channel, for each place, or for each element of [C,H,W]. */
static int operand(Visit *v, const char *what, const WireInts *shape, const CoremlWeight *w)
{
	Shape s = coreml_shape(v, shape);
	if (node_ok(v) && s.rank != 1 && s.rank != 3)
		node_fail(v, ERR_INPUT, "the shape of its %s has %d dimensions, not 1 or 3", what, s.rank);
	if (s.rank == 1)
		s = shape_of(3, (int64_t[]){ s.dim[0], 1, 1 });
	return coreml_weight(v, what, w, s);
}

static void import_scale(Visit *v)
{
	const CoremlScale *p = coreml_params(v, CoremlScale);
	Blob b = coreml_blob(v, 0);
	int y = node_call2(v, OP_mul, b.x, operand(v, "scale", &p->shapeScale, p->scale));
	if (p->hasBias)
		y = node_call2(v, OP_add, y, operand(v, "bias", &p->shapeBias, p->bias));
	coreml_set_blob(v, 0, y, &b);
}

static void import_bias(Visit *v)
{
	const CoremlBias *p = coreml_params(v, CoremlBias);
	Blob b = coreml_blob(v, 0);
	coreml_set_blob(v, 0, node_call2(v, OP_add, b.x, operand(v, "bias", &p->shape, p->bias)), &b);
}

static void load_constant(Visit *v, Shape s)
{
	const CoremlConstantData *p = coreml_params(v, CoremlConstantData);
	int64_t n = shape_elements(s);
	const float *x = node_ok(v) ? coreml_numbers(v, "data", p->data, n, 1, n) : NULL;
	if (x == NULL)
		return;
	if (coreml_file(v)->rank5) /* it has a name of its own: a call, which folds */
		node_set(v, 0, node_weight(v, "data", F32, s, x));
	else
		node_set_known(v, 0, F32, s, x);
}

static void import_load_constant(Visit *v)
{
	const CoremlConstantData *p = coreml_params(v, CoremlConstantData);
	Shape s = coreml_shape(v, &p->shape), to = { .rank = 0 };
	if (node_ok(v) && s.rank != 3)
		node_fail(v, ERR_INPUT, "its shape has %d dimensions, not 3", s.rank);
	for (int k = coreml_file(v)->rank5 ? 4 : 5; k > 3; k--)
		to.dim[to.rank++] = 1;
	for (int k = 0; k < 3; k++)
		to.dim[to.rank++] = s.dim[k];
	load_constant(v, to);
}

static void import_load_constant_nd(Visit *v)
{
	load_constant(v, coreml_shape(v, &coreml_params(v, CoremlConstantData)->shape));
}

/* ---- normalisations */

/* A mean over axes from `from` on; of all but the channels where `batch`. */
static int mean(Visit *v, int x, int from, bool batch)
{
	int64_t axes[DAG_MAX_RANK];
	int n = 0, rank = node_val(v, x)->shape.rank;
	if (batch)
		axes[n++] = 0;
	for (int k = from; k < rank; k++)
		axes[n++] = k;
	Attr attr = attr_ints("axes", axes, n);
	return node_call(v, OP_reduce_mean, &x, 1, &attr, 1);
}

/* 0 means that it is not given. */
static double epsilon_of(float x, double otherwise)
{
	return x == 0 ? otherwise : import_number(F32, &x);
}

static int root(Visit *v, int variance, double epsilon)
{
	return node_call1(v, OP_sqrt, node_with_number(v, OP_add, variance, epsilon));
}

static void import_batchnorm(Visit *v)
{
	const CoremlBatchnorm *p = coreml_params(v, CoremlBatchnorm);
	Blob b = coreml_blob(v, 0);
	if (!node_ok(v))
		return;
	int64_t c = node_val(v, b.x)->shape.dim[1];
	double epsilon = epsilon_of(p->epsilon, 1e-5);
	if (coreml_size(v, "channels", p->channels, 1) != c && node_ok(v))
		node_fail(v, ERR_TYPE, "its input has %lld channels, but its weights need %lld", (long long)c,
			(long long)p->channels);
	int gamma = coreml_weight(v, "gamma", p->gamma, shape_of(1, &c)),
		beta = coreml_weight(v, "beta", p->beta, shape_of(1, &c));
	if (!p->computeMeanVar) {
		int in[] = { b.x, gamma, beta, coreml_weight(v, "mean", p->mean, shape_of(1, &c)),
			coreml_weight(v, "variance", p->variance, shape_of(1, &c)) };
		Attr attr = attr_float("epsilon", epsilon);
		coreml_set_blob(v, 0, node_call(v, OP_batch_norm, in, 5, &attr, 1), &b);
		return;
	}
	bool batch = p->instanceNormalization == 0;
	int64_t one[] = { c, 1, 1 };
	int centred = node_call2(v, OP_sub, b.x, mean(v, b.x, 2, batch));
	int variance = mean(v, node_call2(v, OP_mul, centred, centred), 2, batch);
	int y = node_call2(v, OP_div, centred, root(v, variance, epsilon));
	y = node_call2(v, OP_mul, y, node_view(v, gamma, 3, one));
	coreml_set_blob(v, 0, node_call2(v, OP_add, y, node_view(v, beta, 3, one)), &b);
}

static void import_mvn(Visit *v)
{
	const CoremlMVN *p = coreml_params(v, CoremlMVN);
	Blob b = coreml_blob(v, 0);
	int from = p->acrossChannels ? 1 : 2;
	int y = node_ok(v) ? node_call2(v, OP_sub, b.x, mean(v, b.x, from, false)) : DAG_NONE;
	if (p->normalizeVariance && node_ok(v))
		y = node_call2(
			v, OP_div, y, root(v, mean(v, node_call2(v, OP_mul, y, y), from, false), epsilon_of(p->epsilon, 1e-6)));
	coreml_set_blob(v, 0, y, &b);
}

static void import_l2_normalize(Visit *v)
{
	const CoremlL2Normalize *p = coreml_params(v, CoremlL2Normalize);
	Blob b = coreml_blob(v, 0);
	Attr attr = attr_ints("axes", (int64_t[]){ 1, 2, 3 }, 3);
	int square = node_call2(v, OP_mul, b.x, b.x), sum = node_call(v, OP_reduce_sum, &square, 1, &attr, 1);
	coreml_set_blob(v, 0, node_call2(v, OP_div, b.x, root(v, sum, epsilon_of(p->epsilon, 1e-6))), &b);
}

static void import_lrn(Visit *v)
{
	const CoremlLRN *p = coreml_params(v, CoremlLRN);
	Blob b = coreml_blob(v, 0);
	Attr attr[] = { attr_int("size", coreml_size(v, "localSize", p->localSize, 1)),
		attr_float("alpha", import_number(F32, &p->alpha)), attr_float("beta", import_number(F32, &p->beta)),
		attr_float("bias", epsilon_of(p->k, 1)) };
	coreml_set_blob(v, 0, node_call(v, OP_lrn, &b.x, 1, attr, 4), &b);
}

static void import_layer_normalization(Visit *v)
{
	const CoremlLayerNormalization *p = coreml_params(v, CoremlLayerNormalization);
	int x = coreml_value(v, 0), rank = node_val(v, x)->shape.rank;
	Shape s = coreml_shape(v, &p->normalizedShape);
	for (int k = 0; k < s.rank && node_ok(v); k++)
		if (s.rank > rank || s.dim[k] != node_val(v, x)->shape.dim[rank - s.rank + k])
			node_fail(v, ERR_TYPE, "its normalizedShape is not that of its input's last dimensions");
	if (node_ok(v) && s.rank == 0)
		node_fail(v, ERR_INPUT, "its normalizedShape is empty");
	if (!node_ok(v))
		return;
	int centred = node_call2(v, OP_sub, x, mean(v, x, rank - s.rank, false));
	int variance = mean(v, node_call2(v, OP_mul, centred, centred), rank - s.rank, false);
	int y = node_call2(v, OP_div, centred, root(v, variance, epsilon_of(p->eps, 1e-5)));
	y = node_call2(v, OP_mul, y, coreml_weight(v, "gamma", p->gamma, s));
	coreml_set(v, 0, node_call2(v, OP_add, y, coreml_weight(v, "beta", p->beta, s)));
}

const NodeRow coreml_weight_rows[] = {
	{ "innerProduct", 0, "", import_inner_product },
	{ "batchedMatmul", 0, "", import_batched_matmul },
	{ "embedding", 0, "", import_embedding },
	{ "embeddingND", 0, "", import_embedding_nd },
	{ "scale", 0, "", import_scale },
	{ "bias", 0, "", import_bias },
	{ "loadConstant", 0, "", import_load_constant },
	{ "loadConstantND", 0, "", import_load_constant_nd },
	{ "batchnorm", 0, "", import_batchnorm },
	{ "mvn", 0, "", import_mvn },
	{ "l2normalize", 0, "", import_l2_normalize },
	{ "lrn", 0, "", import_lrn },
	{ "layerNormalization", 0, "", import_layer_normalization },
	{ NULL, 0, NULL, NULL },
};
