/* Rows of products of matrices, and of the parts of attention that MXNet has as operators of their own. */
#include "frontend/mxnet/rows.h"

#include <math.h>
#include <string.h>

static int product(Visit *v, int a, int b, bool ta, bool tb)
{
	Attr attr[] = { attr_int("ta", ta), attr_int("tb", tb) };
	int in[] = { a, b };
	return node_call(v, OP_matmul, in, 2, attr, 2);
}

/* The last dimension of a against the first one of b; transposed, the first of a, the last of b. */
static void import_dot(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	bool ta = node_attr_flag(v, "transpose_a", false), tb = node_attr_flag(v, "transpose_b", false);
	int ra = a->shape.rank, rb = b->shape.rank;
	if (node_ok(v) && (ra < 1 || rb < 1))
		node_fail(v, ERR_TYPE, "its inputs must not be scalars");
	if (!node_ok(v))
		return;
	int64_t ka = ta ? a->shape.dim[0] : a->shape.dim[ra - 1], kb = tb ? b->shape.dim[rb - 1] : b->shape.dim[0];
	int64_t m = shape_product(&a->shape, ta ? 1 : 0, ta ? ra : ra - 1);
	int64_t n = shape_product(&b->shape, tb ? 0 : 1, tb ? rb - 1 : rb);
	if (ka != kb) {
		node_fail(v, ERR_TYPE, "its inputs have %lld and %lld elements to be multiplied", (long long)ka, (long long)kb);
		return;
	}
	Shape out = { 0 };
	if (ra + rb - 2 > DAG_MAX_RANK) {
		node_fail(v, ERR_UNSUPPORTED, "its result has more than %d dimensions", DAG_MAX_RANK);
		return;
	}
	for (int k = ta ? 1 : 0; k < (ta ? ra : ra - 1); k++)
		out.dim[out.rank++] = a->shape.dim[k];
	for (int k = tb ? 0 : 1; k < (tb ? rb - 1 : rb); k++)
		out.dim[out.rank++] = b->shape.dim[k];
	if (out.rank == 0)
		out.dim[out.rank++] = 1;
	int x = node_view(v, node_value(v, 0), 2, ta ? (int64_t[]){ ka, m } : (int64_t[]){ m, ka });
	int y = node_view(v, node_value(v, 1), 2, tb ? (int64_t[]){ n, kb } : (int64_t[]){ kb, n });
	node_set(v, 0, node_reshape(v, product(v, x, y, ta, tb), out));
}

static void import_batch_dot(Visit *v)
{
	const Item *a = node_need(v, 0), *b = node_need(v, 1);
	bool ta = node_attr_flag(v, "transpose_a", false), tb = node_attr_flag(v, "transpose_b", false);
	if (node_ok(v) && (a->shape.rank < 3 || a->shape.rank != b->shape.rank))
		node_fail(v, ERR_TYPE, "its inputs must have 3 dimensions or more, both as many");
	node_set(v, 0, product(v, node_value(v, 0), node_value(v, 1), ta, tb));
}

static void import_matmul(Visit *v)
{
	node_need(v, 0);
	node_need(v, 1);
	node_set(v, 0, product(v, node_value(v, 0), node_value(v, 1), false, false));
}

static int times(Visit *v, int x, double factor)
{
	return factor == 1 ? x : node_with_number(v, OP_mul, x, factor);
}

/* alpha op(A) op(B) + beta C */
static void import_gemm(Visit *v)
{
	bool ta = node_attr_flag(v, "transpose_a", false), tb = node_attr_flag(v, "transpose_b", false);
	bool three = strcmp(v->node->op, "_linalg_gemm") == 0;
	double alpha = node_attr_float(v, "alpha", 1), beta = three ? node_attr_float(v, "beta", 1) : 0;
	node_need(v, 0);
	node_need(v, 1);
	if (node_ok(v) && node_attr_int(v, "axis", -2) != -2)
		node_fail(v, ERR_UNSUPPORTED, "its axis is not -2");
	int y = times(v, product(v, node_value(v, 0), node_value(v, 1), ta, tb), alpha);
	if (three) {
		node_need(v, 2);
		y = node_call2(v, OP_add, y, times(v, node_value(v, 2), beta));
	}
	node_set(v, 0, y);
}

/* alpha A A', or A' A */
static void import_syrk(Visit *v)
{
	bool turned = node_attr_flag(v, "transpose", false);
	double alpha = node_attr_float(v, "alpha", 1);
	node_need(v, 0);
	int x = node_value(v, 0);
	node_set(v, 0, times(v, product(v, x, x, turned, !turned), alpha));
}

static void import_det(Visit *v)
{
	node_need(v, 0);
	node_set(v, 0, node_call1(v, OP_det, node_value(v, 0)));
}

/* ---- attention over [steps, batch, heads * parts * size] */

/* Part `at` of `parts` that lie in turns in each head of input k, as [batch * heads, steps, size]. */
static int part_of_heads(Visit *v, int k, int64_t heads, int parts, int at)
{
	const Item *it = node_need(v, k);
	const int64_t *d = it->shape.dim;
	if (node_ok(v) && (it->shape.rank != 3 || heads < 1 || d[2] % (heads * parts) != 0))
		node_fail(v, ERR_TYPE, "its input does not hold %lld heads of %d parts", (long long)heads, parts);
	if (!node_ok(v))
		return DAG_NONE;
	int64_t size = d[2] / heads / parts;
	int x = node_view(v, node_value(v, k), 5, (int64_t[]){ d[0], d[1], heads, parts, size });
	x = node_view(v, node_slice(v, x, 3, at, 1), 4, (int64_t[]){ d[0], d[1], heads, size });
	x = node_transpose(v, x, (int64_t[]){ 1, 2, 0, 3 });
	return node_view(v, x, 3, (int64_t[]){ d[1] * heads, d[0], size });
}

static void set_scores(Visit *v, int q, int k)
{
	double size = node_ok(v) ? (double)node_val(v, q)->shape.dim[2] : 1;
	node_set(v, 0, product(v, times(v, q, 1 / sqrt(size)), k, false, true));
}

/* Weights [batch * heads, steps, keys] times values, as [steps, batch, heads * size]. */
static void set_attended(Visit *v, int weights, int x, int64_t heads)
{
	int y = product(v, weights, x, false, false);
	Shape s = node_val(v, y)->shape;
	if (!node_ok(v))
		return;
	int64_t batch = s.dim[0] / heads;
	y = node_view(v, y, 4, (int64_t[]){ batch, heads, s.dim[1], s.dim[2] });
	y = node_transpose(v, y, (int64_t[]){ 2, 0, 1, 3 });
	node_set(v, 0, node_view(v, y, 3, (int64_t[]){ s.dim[1], batch, heads * s.dim[2] }));
}

static int64_t read_heads(Visit *v)
{
	int64_t heads = node_attr_int(v, "heads", 1);
	if (node_ok(v) && (heads < 1 || heads > 1 << 16))
		node_fail(v, ERR_INPUT, "it has %lld heads", (long long)heads);
	return node_ok(v) ? heads : 1;
}

static void import_selfatt_qk(Visit *v)
{
	int64_t heads = read_heads(v);
	int q = part_of_heads(v, 0, heads, 3, 0);
	set_scores(v, q, part_of_heads(v, 0, heads, 3, 1));
}

static void import_selfatt_valatt(Visit *v)
{
	int64_t heads = read_heads(v);
	node_need(v, 1);
	int x = part_of_heads(v, 0, heads, 3, 2);
	set_attended(v, node_value(v, 1), x, heads);
}

static void import_encdec_qk(Visit *v)
{
	int64_t heads = read_heads(v);
	int q = part_of_heads(v, 0, heads, 1, 0);
	set_scores(v, q, part_of_heads(v, 1, heads, 2, 0));
}

static void import_encdec_valatt(Visit *v)
{
	int64_t heads = read_heads(v);
	node_need(v, 1);
	int x = part_of_heads(v, 0, heads, 2, 1);
	set_attended(v, node_value(v, 1), x, heads);
}

const NodeRow mxnet_matmul_rows[] = {
	{ "dot", 0, "forward_stype", import_dot },
	{ "_np_dot", 0, "", import_dot },
	{ "batch_dot", 0, "forward_stype", import_batch_dot },
	{ "_npi_matmul", 0, "", import_matmul },
	{ "_linalg_gemm", 0, "", import_gemm },
	{ "_linalg_gemm2", 0, "", import_gemm },
	{ "_linalg_syrk", 0, "", import_syrk },
	{ "_linalg_det", 0, "", import_det },
	{ "_contrib_interleaved_matmul_selfatt_qk", 0, "", import_selfatt_qk },
	{ "_contrib_interleaved_matmul_selfatt_valatt", 0, "", import_selfatt_valatt },
	{ "_contrib_interleaved_matmul_encdec_qk", 0, "", import_encdec_qk },
	{ "_contrib_interleaved_matmul_encdec_valatt", 0, "", import_encdec_valatt },
	{ NULL, 0, NULL, NULL },
};
