/* Rows of matrix products. */
#include "frontend/node/channels.h"
#include "frontend/pytorch/aten.h"

#include <string.h>

static int product(Aten *n, int a, int b, bool turned)
{
	int in[] = { a, b };
	Attr attr = attr_int("tb", turned);
	return node_call(n->v, OP_matmul, in, 2, &attr, 1);
}

/* Operands in one type. */
static void pair(Aten *n, const char *first, const char *second, int *a, int *b)
{
	TorchValue in[] = { aten_any(n, first), aten_any(n, second) };
	DType t = aten_promote(n, in, 2);
	*a = aten_as(n, in[0], t);
	*b = aten_as(n, in[1], t);
}

/* x[.., K] times the transpose of w[N,K], + b[N] */
static void import_linear(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "input"), w = aten_value(n, "weight"), b = aten_value(n, "bias");
	Shape s = node_val(v, x)->shape, t = node_val(v, w)->shape;
	if (node_ok(v) && (s.rank < 1 || t.rank < 1 || t.rank > 2 || s.dim[s.rank - 1] != t.dim[t.rank - 1]))
		node_fail(v, ERR_TYPE, "its weight does not fit its input");
	if (!node_ok(v))
		return;
	int in[] = { x, t.rank == 1 ? node_view(v, w, 2, (int64_t[]){ 1, t.dim[0] }) : w, b };
	if (b != DAG_NONE && node_val(v, b)->shape.rank == 0)
		in[2] = node_view(v, b, 1, (int64_t[]){ 1 });
	int y = node_call(v, OP_dense, in, 3, NULL, 0);
	aten_set(n, t.rank == 1 ? node_view(v, y, s.rank - 1, s.dim) : y);
}

/* NumPy's rules: vectors become matrices of one row or column. */
static int matmul(Aten *n, int a, int b)
{
	Visit *v = n->v;
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape;
	if (node_ok(v) && (s.rank == 0 || t.rank == 0))
		node_fail(v, ERR_TYPE, "its inputs must not be scalars");
	if (!node_ok(v))
		return DAG_NONE;
	if (s.rank == 1)
		a = node_view(v, a, 2, (int64_t[]){ 1, s.dim[0] });
	if (t.rank == 1)
		b = node_view(v, b, 2, (int64_t[]){ t.dim[0], 1 });
	int y = product(n, a, b, false);
	Shape r = node_val(v, y)->shape;
	if (t.rank == 1)
		r.rank--;
	if (s.rank == 1 && r.rank > 0) {
		if (t.rank != 1)
			r.dim[r.rank - 2] = r.dim[r.rank - 1];
		r.rank--;
	}
	return node_reshape(v, y, r);
}

static void import_matmul(Aten *n)
{
	int a, b;
	pair(n, "self", n->row->op != 0 ? "mat2" : "other", &a, &b);
	aten_set(n, matmul(n, a, b));
}

/* Rows of x[T,K] up to offs[e] times matrix e of w[E,K,N]: all products, of which each row takes one. */
static void import_grouped(Aten *n)
{
	Visit *v = n->v;
	bool fallback = n->row->op != 0;
	int x = aten_value(n, fallback ? "input" : "self"), w = aten_value(n, fallback ? "weight" : "mat2");
	int offs = aten_value(n, "offs");
	Shape s = node_val(v, x)->shape, t = node_val(v, w)->shape, o = node_val(v, offs)->shape;
	DType type = fallback ? node_val(v, x)->type : aten_type(n, "out_dtype", node_val(v, x)->type);
	if (node_ok(v) && (s.rank != 2 || t.rank != 3 || o.rank != 1 || o.dim[0] != t.dim[0] || s.dim[1] != t.dim[1]))
		node_fail(v, ERR_UNSUPPORTED, "its operands are not [T,K] and [E,K,N], with E places where groups of rows end");
	if (!node_ok(v))
		return;
	int64_t groups = t.dim[0], one[] = { groups, 1, 1 }, axis = 0, wide[] = { groups, s.dim[0], s.dim[1] };
	x = node_expand(v, node_view(v, x, 3, (int64_t[]){ 1, s.dim[0], s.dim[1] }), shape_of(3, wide));
	int y = node_call2(v, OP_matmul, x, w), end = node_view(v, node_cast(v, offs, I64), 3, one);
	int pads[] = { node_view(v, node_number(v, I64, 0), 3, (int64_t[]){ 1, 1, 1 }), DAG_NONE };
	pads[1] = groups > 1 ? node_slice(v, end, 0, 0, groups - 1) : DAG_NONE;
	int start = groups > 1 ? node_concat(v, pads, 2, 0) : pads[0], row = node_count(v, s.dim[0], 1, 3);
	int in = node_call2(v, OP_bit_and, node_call2(v, OP_less_equal, start, row), node_call2(v, OP_less, row, end));
	y = node_where(v, in, y, node_number(v, node_val(v, y)->type, 0));
	aten_set(n, node_cast(v, node_reduce(v, OP_reduce_sum, y, &axis, 1, false), type));
}

static void import_mv(Aten *n)
{
	int a, b;
	pair(n, "self", "vec", &a, &b);
	aten_set(n, matmul(n, a, b));
}

/* beta c + alpha a b; a sum over the batch where the row says so. */
static void import_addmm(Aten *n)
{
	static const char *const names[][2] = { { "mat1", "mat2" }, { "batch1", "batch2" }, { "mat", "vec" },
		{ "vec1", "vec2" } };
	Visit *v = n->v;
	TorchValue alpha = aten_any(n, "alpha"), beta = aten_any(n, "beta");
	int a, b, c = aten_value(n, "self"), op = n->row->op;
	pair(n, names[op % 4][0], names[op % 4][1], &a, &b);
	if (op == 3) {
		a = node_view(v, a, 2, (int64_t[]){ node_val(v, a)->shape.dim[0], 1 });
		b = node_view(v, b, 2, (int64_t[]){ 1, node_val(v, b)->shape.dim[0] });
	}
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape, bias = node_val(v, c)->shape;
	if (op == 0 && node_ok(v) && s.rank == 2 && t.rank == 2 && bias.rank == 1 && t.dim[1] == bias.dim[0] &&
		torch_is_number(alpha) && torch_number(alpha) == 1 && torch_number(beta) == 1) {
		int in[] = { a, node_transpose(v, b, (int64_t[]){ 1, 0 }), c };
		aten_set(n, node_call(v, OP_dense, in, 3, NULL, 0));
		return;
	}
	int y = matmul(n, a, b);
	if (op == 5) {
		Attr over[] = { attr_ints("axes", (int64_t[]){ 0 }, 1), attr_int("keep", 0) };
		y = node_call(v, OP_reduce_sum, &y, 1, over, 2);
	}
	DType type = node_val(v, y)->type;
	if (!torch_is_number(alpha) || torch_number(alpha) != 1)
		y = node_call2(v, OP_mul, y, aten_as(n, alpha, type));
	if (torch_is_number(beta) && torch_number(beta) == 0) {
		aten_set(n, y);
		return;
	}
	if (!torch_is_number(beta) || torch_number(beta) != 1)
		c = node_call2(v, OP_mul, c, aten_as(n, beta, type));
	aten_set(n, node_call2(v, OP_add, node_cast(v, c, type), y));
}

static void import_dot(Aten *n)
{
	int a, b;
	pair(n, "self", n->row->op != 0 ? "other" : "tensor", &a, &b);
	aten_set(n, matmul(n, a, b));
}

static void import_outer(Aten *n)
{
	int a, b;
	pair(n, "self", "vec2", &a, &b);
	Shape s = node_val(n->v, a)->shape;
	a = node_view(n->v, a, 2, (int64_t[]){ s.dim[0], 1 });
	aten_set(n, node_call2(n->v, OP_mul, a, b));
}

/* Sums of products over the last dimensions of both. */
static void import_inner(Aten *n)
{
	Visit *v = n->v;
	int a, b;
	pair(n, "self", "other", &a, &b);
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape, r = s;
	if (s.rank == 0 || t.rank == 0) {
		aten_set(n, node_call2(v, OP_mul, a, b));
		return;
	}
	r.rank = s.rank - 1;
	for (int k = 0; k + 1 < t.rank && r.rank < DAG_MAX_RANK; k++)
		r.dim[r.rank++] = t.dim[k];
	int64_t k = s.dim[s.rank - 1];
	a = node_view(v, a, 2, (int64_t[]){ shape_product(&s, 0, s.rank - 1), k });
	b = node_view(v, b, 2, (int64_t[]){ shape_product(&t, 0, t.rank - 1), k });
	aten_set(n, node_reshape(v, product(n, a, b, true), r));
}

static void import_einsum(Aten *n)
{
	int *x, count = aten_values(n, "tensors", &x);
	aten_any(n, "path");
	int y = node_einsum_of(n->v, aten_text(n, "equation"), x, count);
	if (node_ok(n->v) && count == 1) /* in another order, or a diagonal */
		aten_give(n, torch_copy_of(n->v, aten_any(n, "tensors").list->at[0].tensor, y));
	else
		aten_set(n, y);
}

/* Dimensions of both that are summed over become the inner ones of one product. */
static void import_tensordot(Aten *n)
{
	Visit *v = n->v;
	int64_t da[ATEN_INTS], db[ATEN_INTS], pa[DAG_MAX_RANK], pb[DAG_MAX_RANK];
	bool ua[DAG_MAX_RANK + 1] = { false }, ub[DAG_MAX_RANK + 1] = { false };
	int a, b, m = 0, k = 0;
	pair(n, "self", "other", &a, &b);
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape, r = { .rank = 0 }, summed = r;
	int count = aten_ints(n, "dims_self", -1, da), other = aten_ints(n, "dims_other", -1, db);
	if (node_ok(v) && count != other)
		node_fail(v, ERR_TYPE, "it sums over %d dimensions of one input and %d of the other", count, other);
	for (int i = 0; i < count && node_ok(v); i++) {
		da[i] = node_axis(v, da[i], s.rank);
		db[i] = node_axis(v, db[i], t.rank);
		ua[da[i]] = ub[db[i]] = true;
		if (i < DAG_MAX_RANK)
			summed.dim[summed.rank++] = s.dim[da[i]];
	}
	int64_t inner = shape_product(&summed, 0, summed.rank);
	for (int i = 0; i < s.rank; i++)
		if (!ua[i]) {
			pa[m++] = i;
			r.dim[r.rank++] = s.dim[i];
		}
	for (int i = 0; i < count && m < DAG_MAX_RANK; i++) {
		pa[m++] = da[i];
		pb[k++] = db[i];
	}
	for (int i = 0; i < t.rank && k < DAG_MAX_RANK; i++)
		if (!ub[i]) {
			pb[k++] = i;
			if (r.rank < DAG_MAX_RANK)
				r.dim[r.rank++] = t.dim[i];
		}
	if (node_ok(v) && (m != s.rank || k != t.rank))
		node_fail(v, ERR_TYPE, "it sums over a dimension twice");
	if (!node_ok(v) || inner == 0)
		return;
	a = node_view(v, node_transpose(v, a, pa), 2, (int64_t[]){ shape_product(&s, 0, s.rank) / inner, inner });
	b = node_view(v, node_transpose(v, b, pb), 2, (int64_t[]){ inner, shape_product(&t, 0, t.rank) / inner });
	aten_set(n, node_reshape(v, product(n, a, b, false), r));
}

/* y[.., o] = x1[.., i] w[o, i, j] x2[.., j] + b[o] */
static void import_bilinear(Aten *n)
{
	Visit *v = n->v;
	int in[] = { aten_value(n, "input1"), aten_value(n, "weight"), aten_value(n, "input2") };
	int b = aten_value(n, "bias"), y = node_einsum_of(v, "...i,oij,...j->...o", in, 3);
	aten_set(n, b != DAG_NONE ? node_call2(v, OP_add, y, b) : y);
}

const AtenRow torch_matmul_rows[] = {
	{ "linear", "input:T weight:T bias:T?", import_linear, 0 },
	{ "matmul", "self:T other:T", import_matmul, 0 },
	{ "linalg_matmul", "self:T other:T", import_matmul, 0 },
	{ "__matmul__", "self:T other:T", import_matmul, 0 },
	{ "mm", "self:T mat2:T", import_matmul, 1 },
	{ "bmm", "self:T mat2:T", import_matmul, 1 },
	{ "_grouped_mm", "self:T mat2:T offs:T bias:_? out_dtype:d?", import_grouped, 0 },
	{ "transformers::grouped_mm_fallback", "input:T weight:T offs:T", import_grouped, 1 },
	{ "mv", "self:T vec:T", import_mv, 0 },
	{ "dot", "self:T tensor:T", import_dot, 0 },
	{ "vdot", "self:T other:T", import_dot, 1 },
	{ "inner", "self:T other:T", import_inner, 0 },
	{ "outer", "self:T vec2:T", import_outer, 0 },
	{ "ger", "self:T vec2:T", import_outer, 0 },
	{ "addmm!", "self:T mat1:T mat2:T beta:n=1 alpha:n=1", import_addmm, 0 },
	{ "baddbmm!", "self:T batch1:T batch2:T beta:n=1 alpha:n=1", import_addmm, 1 },
	{ "addbmm!", "self:T batch1:T batch2:T beta:n=1 alpha:n=1", import_addmm, 5 },
	{ "addmv!", "self:T mat:T vec:T beta:n=1 alpha:n=1", import_addmm, 2 },
	{ "addr!", "self:T vec1:T vec2:T beta:n=1 alpha:n=1", import_addmm, 3 },
	{ "einsum", "equation:s tensors:L path:I?", import_einsum, 0 },
	{ "tensordot", "self:T other:T dims_self:I dims_other:I", import_tensordot, 0 },
	{ "bilinear", "input1:T input2:T weight:T bias:T?", import_bilinear, 0 },
	{ NULL, NULL, NULL, 0 },
};
