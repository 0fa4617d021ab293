/* Rows that reduce dimensions: sums, means, extremes, norms, deviations; running sums. */
#include "frontend/pytorch/aten.h"

#include <math.h>
#include <string.h>

/* The dimensions that an argument names, sorted; none or an empty list are all of them. Returns how many. */
static int axes_of(Aten *n, const char *name, int rank, int64_t *out)
{
	int64_t at[ATEN_INTS];
	int count = aten_ints(n, name, -1, at), m = 0;
	bool used[DAG_MAX_RANK] = { false };
	for (int k = 0; k < count && rank > 0; k++)
		used[node_axis(n->v, at[k], rank)] = true;
	for (int k = 0; k < rank; k++)
		if (used[k] || count == 0)
			out[m++] = k;
	return m;
}

static int reduced(Aten *n, int op, int x, const int64_t *axes, int count, bool keep)
{
	Attr attr[] = { attr_ints("axes", axes, count), attr_int("keep", keep) };
	return count == 0 ? x : node_call(n->v, op, &x, 1, attr, 2);
}

/* A value over the arguments dim and keepdim. */
static int over_dims(Aten *n, int op, int x)
{
	int64_t axes[DAG_MAX_RANK];
	int count = axes_of(n, "dim", node_val(n->v, x)->shape.rank, axes);
	return reduced(n, op, x, axes, count, aten_flag(n, "keepdim"));
}

/* Sums of integers are i64, means are floats; `dtype` changes both. */
static int summand(Aten *n, bool floats)
{
	int x = aten_value(n, "self");
	DType t = node_val(n->v, x)->type, wide = floats && !dtype_is_float(t) ? F32 : dtype_is_float(t) ? t : I64;
	return node_cast(n->v, x, aten_type(n, "dtype", wide));
}

static void import_sum(Aten *n)
{
	aten_set(n, over_dims(n, n->row->op, summand(n, n->row->op == OP_reduce_mean)));
}

static void import_nansum(Aten *n)
{
	int x = summand(n, false);
	if (dtype_is_float(node_val(n->v, x)->type))
		x = node_where(n->v, node_call1(n->v, OP_is_nan, x), node_number(n->v, node_val(n->v, x)->type, 0), x);
	aten_set(n, over_dims(n, OP_reduce_sum, x));
}

static void import_amax(Aten *n)
{
	aten_set(n, over_dims(n, n->row->op, aten_value(n, "self")));
}

static void import_aminmax(Aten *n)
{
	int x = aten_value(n, "self");
	int both[] = { over_dims(n, OP_reduce_min, x), over_dims(n, OP_reduce_max, x) };
	aten_give_values(n, both, 2);
}

/* The place of the extreme along one axis, or of all elements taken as a row. */
static int place(Aten *n, int op, int x, bool all, bool keep)
{
	Shape s = node_val(n->v, x)->shape;
	int64_t whole = shape_product(&s, 0, s.rank);
	int axis = 0;
	if (node_val(n->v, x)->type.kind == DT_BOOL)
		x = node_cast(n->v, x, I32);
	if (all || s.rank == 0)
		x = node_view(n->v, x, 1, &whole);
	else
		axis = aten_axis(n, "dim", s.rank);
	Attr attr[] = { attr_int("axis", axis), attr_int("keep", keep && !all && s.rank > 0) };
	int y = node_call(n->v, op, &x, 1, attr, 2);
	if (all && keep) {
		for (int k = 0; k < s.rank; k++)
			s.dim[k] = 1;
		y = node_reshape(n->v, y, s);
	}
	return y;
}

/* Values and places of the extremes along an axis. */
static void import_max_dim(Aten *n)
{
	int x = aten_value(n, "self");
	bool keep = aten_flag(n, "keepdim"), most = n->row->op == OP_reduce_max;
	int both[] = { over_dims(n, n->row->op, x), place(n, most ? OP_arg_max : OP_arg_min, x, false, keep) };
	aten_give_values(n, both, 2);
}

static void import_arg(Aten *n)
{
	bool all = !aten_given(n, "dim");
	aten_set(n, place(n, n->row->op, aten_value(n, "self"), all, aten_flag(n, "keepdim")));
}

/* Whether any or all elements are true: the extreme of zeros and ones. */
static void import_any(Aten *n)
{
	int x = aten_value(n, "self");
	DType t = node_val(n->v, x)->type;
	if (t.kind != DT_BOOL)
		x = node_call1(n->v, OP_bit_not, node_with_number(n->v, OP_equal, x, 0));
	x = over_dims(n, n->row->op, node_cast(n->v, x, I32));
	aten_set(n, node_cast(n->v, x, BOOL));
}

static void import_count_nonzero(Aten *n)
{
	int x = aten_value(n, "self");
	if (node_val(n->v, x)->type.kind != DT_BOOL)
		x = node_call1(n->v, OP_bit_not, node_with_number(n->v, OP_equal, x, 0));
	aten_set(n, over_dims(n, OP_reduce_sum, node_cast(n->v, x, I64)));
}

/* (sum |x|^p)^(1/p) and its limits */
static int norm_of(Aten *n, int x, double p, const int64_t *axes, int count, bool keep)
{
	Visit *v = n->v;
	int size = node_call1(v, OP_abs, x);
	if (isinf(p))
		return reduced(n, p > 0 ? OP_reduce_max : OP_reduce_min, size, axes, count, keep);
	if (p == 0) {
		int some = node_call1(v, OP_bit_not, node_with_number(v, OP_equal, x, 0));
		return reduced(n, OP_reduce_sum, node_cast(v, some, node_val(v, x)->type), axes, count, keep);
	}
	if (p == 1)
		return reduced(n, OP_reduce_sum, size, axes, count, keep);
	if (p == 2)
		return node_call1(v, OP_sqrt, reduced(n, OP_reduce_sum, node_call2(v, OP_mul, x, x), axes, count, keep));
	int sum = reduced(n, OP_reduce_sum, node_with_number(v, OP_pow, size, p), axes, count, keep);
	return node_with_number(v, OP_pow, sum, 1 / p);
}

enum { VECTOR = 1, MATRIX }; /* rows whose order is called ord; MATRIX: two dimensions have a norm of their own */

static void import_norm(Aten *n)
{
	int64_t axes[DAG_MAX_RANK];
	int x = aten_floating(n, aten_value(n, "self"));
	double p = 2;
	TorchValue given = aten_any(n, n->row->op != 0 ? "ord" : "p");
	if (torch_is_number(given))
		p = torch_number(given);
	else if (given.kind == TORCH_TEXT && strcmp(given.text, "fro") != 0)
		node_fail(n->v, ERR_UNSUPPORTED, "its norm '%.20s' is not supported", given.text);
	x = node_cast(n->v, x, aten_type(n, "dtype", node_val(n->v, x)->type));
	int count = axes_of(n, "dim", node_val(n->v, x)->shape.rank, axes);
	if (n->row->op == MATRIX && count == 2 && torch_is_number(given))
		node_fail(n->v, ERR_UNSUPPORTED, "its norm %g of matrices is not supported", p);
	aten_set(n, norm_of(n, x, p, axes, count, aten_flag(n, "keepdim")));
}

/* Variance and mean: the mean of squared distances from the mean, times n / (n - correction). */
static int variance(Aten *n, int *mean)
{
	Visit *v = n->v;
	int64_t axes[DAG_MAX_RANK];
	int x = aten_floating(n, aten_value(n, "self"));
	Shape s = node_val(v, x)->shape;
	int count = axes_of(n, "dim", s.rank, axes);
	bool keep = aten_flag(n, "keepdim");
	double less = 1, many = 1;
	TorchValue given = aten_any(n, "correction"), unbiased = aten_any(n, "unbiased");
	if (torch_is_number(given))
		less = torch_number(given);
	else if (torch_is_number(unbiased))
		less = unbiased.i != 0 ? 1 : 0;
	for (int k = 0; k < count; k++)
		many *= (double)s.dim[axes[k]];
	int middle = reduced(n, OP_reduce_mean, x, axes, count, true), far = node_call2(v, OP_sub, x, middle);
	int y = reduced(n, OP_reduce_mean, node_call2(v, OP_mul, far, far), axes, count, keep);
	*mean = reduced(n, OP_reduce_mean, x, axes, count, keep);
	return less == 0 ? y : node_with_number(v, OP_mul, y, many / fmax(many - less, 0));
}

static void import_var(Aten *n)
{
	int mean, y = variance(n, &mean);
	bool root = n->row->op % 2 != 0;
	int both[] = { root ? node_call1(n->v, OP_sqrt, y) : y, mean };
	if (n->row->op >= 2)
		aten_give_values(n, both, 2);
	else
		aten_set(n, both[0]);
}

/* log(sum(exp(x))), with the largest element taken off before; an infinite one would give NaN. */
static int log_of_sum(Aten *n, int x, const int64_t *axes, int count)
{
	Visit *v = n->v;
	int most = reduced(n, OP_reduce_max, x, axes, count, true);
	most = node_where(v, node_call1(v, OP_is_inf, most), node_number(v, node_val(v, most)->type, 0), most);
	int sum = reduced(n, OP_reduce_sum, node_call1(v, OP_exp, node_call2(v, OP_sub, x, most)), axes, count, true);
	return node_call2(v, OP_add, node_call1(v, OP_log, sum), most);
}

/*
 * Each element's sum is taken over all elements up to it: a sum that runs on would lose what is small beside the
 * largest element of the whole line.
 */
static void import_logcumsumexp(Aten *n)
{
	enum { MOST_LINE = 4096 };
	Visit *v = n->v;
	int x = aten_floating(n, aten_value(n, "self"));
	Shape s = node_val(v, x)->shape;
	int axis = aten_axis(n, "dim", s.rank);
	int64_t size = s.rank > 0 ? s.dim[axis] : 1, last = 3;
	if (node_ok(v) && size > MOST_LINE)
		node_fail(v, ERR_UNSUPPORTED, "it adds up %lld elements; dlc takes at most %d", (long long)size, MOST_LINE);
	if (!node_ok(v) || !torch_spend(v, size * size))
		return;
	bool *later = arena_array(v->im->arena, bool, size *size + 1);
	for (int64_t i = 0; i < size * size; i++)
		later[i] = i % size > i / size;
	Shape line = { 4, { shape_product(&s, 0, axis), 1, size, shape_product(&s, s.rank > 0 ? axis + 1 : 0, s.rank) } };
	x = node_transpose(v, node_reshape(v, x, line), (int64_t[]){ 0, 3, 1, 2 });
	int mask = node_const(v, BOOL, shape_of(2, (int64_t[]){ size, size }), later);
	x = node_where(v, mask, node_number(v, node_val(v, x)->type, -INFINITY), x);
	int y = node_transpose(v, log_of_sum(n, x, &last, 1), (int64_t[]){ 0, 2, 1, 3 });
	aten_set(n, node_reshape(v, y, s));
}

static void import_logsumexp(Aten *n)
{
	Visit *v = n->v;
	int64_t axes[DAG_MAX_RANK];
	int x = aten_floating(n, aten_value(n, "self")), count = axes_of(n, "dim", node_val(v, x)->shape.rank, axes);
	int y = log_of_sum(n, x, axes, count);
	if (aten_flag(n, "keepdim")) {
		aten_set(n, y);
		return;
	}
	Shape s = node_val(v, y)->shape, t = { .rank = 0 };
	for (int k = 0, i = 0; k < s.rank; k++) {
		if (i < count && axes[i] == k)
			i++;
		else
			t.dim[t.rank++] = s.dim[k];
	}
	aten_set(n, node_reshape(v, y, t));
}

/* Softmax and its logarithm; `softmin` negates what it reads. */
static void import_softmax(Aten *n)
{
	int x = aten_value(n, "self");
	x = node_cast(
		n->v, x, aten_type(n, "dtype", dtype_is_float(node_val(n->v, x)->type) ? node_val(n->v, x)->type : F32));
	Shape s = node_val(n->v, x)->shape;
	if (aten_flag(n, "half_to_float"))
		x = node_cast(n->v, x, F32);
	if (s.rank == 0)
		x = node_view(n->v, x, 1, (int64_t[]){ 1 });
	Attr attr = attr_int("axis", aten_axis(n, "dim", s.rank));
	aten_set(n, node_reshape(n->v, node_call(n->v, n->row->op, &x, 1, &attr, 1), s));
}

/* A softmax that is 0 where all of a line is -inf. */
static void import_safe_softmax(Aten *n)
{
	Visit *v = n->v;
	int x = aten_value(n, "self");
	DType type = aten_type(n, "dtype", node_val(v, x)->type);
	x = node_cast(v, x, type);
	Shape s = node_val(v, x)->shape;
	if (s.rank == 0)
		x = node_view(v, x, 1, (int64_t[]){ 1 });
	int64_t axis = aten_axis(n, "dim", s.rank);
	Attr at = attr_int("axis", axis), over[] = { attr_ints("axes", &axis, 1), attr_int("keep", 1) };
	int y = node_call(v, OP_softmax, &x, 1, &at, 1), most = node_call(v, OP_reduce_max, &x, 1, over, 2);
	int empty = node_call2(v, OP_equal, most, node_number(v, type, -INFINITY));
	aten_set(n, node_reshape(v, node_where(v, empty, node_number(v, type, 0), y), s));
}

static void import_cumulate(Aten *n)
{
	int x = summand(n, false);
	Shape s = node_val(n->v, x)->shape;
	Attr attr[] = { attr_int("axis", aten_axis(n, "dim", s.rank)),
		attr_text("kind", n->row->op != 0 ? "prod" : "sum") };
	aten_set(n, s.rank == 0 ? x : node_call(n->v, OP_scan, &x, 1, attr, 2));
}

/* x / max(norm(x), eps) */
static void import_normalize(Aten *n)
{
	int64_t axes[DAG_MAX_RANK];
	int x = aten_value(n, "self"), count = axes_of(n, "dim", node_val(n->v, x)->shape.rank, axes);
	int norm = norm_of(n, x, aten_float(n, "p"), axes, count, true);
	aten_set(n, node_call2(n->v, OP_div, x, node_with_number(n->v, OP_maximum, norm, aten_float(n, "eps"))));
}

/* The product of vectors over their norms. */
static void import_cosine_similarity(Aten *n)
{
	Visit *v = n->v;
	int a = aten_floating(n, aten_value(n, "x1")), b = aten_floating(n, aten_value(n, "x2"));
	double eps = aten_float(n, "eps");
	int both = node_call2(v, OP_mul, a, b);
	int64_t axis = aten_axis(n, "dim", node_val(v, both)->shape.rank);
	Shape s = node_val(v, both)->shape;
	a = node_ok(v) ? node_expand(v, a, s) : a;
	b = node_ok(v) ? node_expand(v, b, s) : b;
	int p = node_with_number(v, OP_maximum, norm_of(n, a, 2, &axis, 1, false), eps);
	int q = node_with_number(v, OP_maximum, norm_of(n, b, 2, &axis, 1, false), eps);
	aten_set(n, node_call2(v, OP_div, reduced(n, OP_reduce_sum, both, &axis, 1, false), node_call2(v, OP_mul, p, q)));
}

static void import_pairwise_distance(Aten *n)
{
	int a = aten_value(n, "x1"), b = aten_value(n, "x2"), gap = node_call2(n->v, OP_sub, a, b);
	gap = node_with_number(n->v, OP_add, gap, aten_float(n, "eps"));
	int64_t last = node_val(n->v, gap)->shape.rank - 1;
	aten_set(n, norm_of(n, gap, aten_float(n, "p"), &last, 1, aten_flag(n, "keepdim")));
}

/* Distances of all pairs of rows. */
static void import_cdist(Aten *n)
{
	Visit *v = n->v;
	int a = aten_value(n, "x1"), b = aten_value(n, "x2");
	Shape s = node_val(v, a)->shape, t = node_val(v, b)->shape;
	if (node_ok(v) && (s.rank < 2 || t.rank < 2 || s.rank >= DAG_MAX_RANK || t.rank >= DAG_MAX_RANK))
		node_fail(v, ERR_TYPE, "its inputs need at least 2 dimensions");
	if (!node_ok(v))
		return;
	s.dim[s.rank] = s.dim[s.rank - 1];
	s.dim[s.rank - 1] = 1;
	s.rank++;
	t.dim[t.rank] = t.dim[t.rank - 1];
	t.dim[t.rank - 1] = t.dim[t.rank - 2];
	t.dim[t.rank - 2] = 1;
	t.rank++;
	int gap = node_call2(v, OP_sub, node_reshape(v, a, s), node_reshape(v, b, t));
	int64_t last = node_val(v, gap)->shape.rank - 1;
	aten_set(n, norm_of(n, gap, aten_float(n, "p"), &last, 1, false));
}

static void import_dist(Aten *n)
{
	int64_t axes[DAG_MAX_RANK];
	int gap = node_call2(n->v, OP_sub, aten_value(n, "self"), aten_value(n, "other"));
	int rank = node_val(n->v, gap)->shape.rank;
	for (int k = 0; k < rank; k++)
		axes[k] = k;
	aten_set(n, norm_of(n, gap, aten_float(n, "p"), axes, rank, false));
}

#define DIMS "self:T dim:I? keepdim:b=False"

const AtenRow torch_reduce_rows[] = {
	{ "sum", "self:T dtype:d?", import_sum, OP_reduce_sum },
	{ "sum.dim_IntList", DIMS " dtype:i?", import_sum, OP_reduce_sum },
	{ "mean", "self:T dtype:d?", import_sum, OP_reduce_mean },
	{ "mean.dim", DIMS " dtype:i?", import_sum, OP_reduce_mean },
	{ "prod", "self:T dtype:d?", import_sum, OP_reduce_prod },
	{ "prod.dim_int", "self:T dim:i keepdim:b=False dtype:i?", import_sum, OP_reduce_prod },
	{ "nansum", DIMS " dtype:i?", import_nansum, 0 },
	{ "amax", DIMS, import_amax, OP_reduce_max },
	{ "amin", DIMS, import_amax, OP_reduce_min },
	{ "aminmax", DIMS, import_aminmax, 0 },
	{ "max", "self:T", import_amax, OP_reduce_max },
	{ "min", "self:T", import_amax, OP_reduce_min },
	{ "max.dim", "self:T dim:i keepdim:b=False", import_max_dim, OP_reduce_max },
	{ "min.dim", "self:T dim:i keepdim:b=False", import_max_dim, OP_reduce_min },
	{ "argmax", "self:T dim:i? keepdim:b=False", import_arg, OP_arg_max },
	{ "argmin", "self:T dim:i? keepdim:b=False", import_arg, OP_arg_min },
	{ "any", "self:T", import_any, OP_reduce_max },
	{ "any.dim", DIMS, import_any, OP_reduce_max },
	{ "_is_any_true", "self:T", import_any, OP_reduce_max },
	{ "all", "self:T", import_any, OP_reduce_min },
	{ "all.dim", DIMS, import_any, OP_reduce_min },
	{ "_is_all_true", "self:T", import_any, OP_reduce_min },
	{ "count_nonzero", "self:T dim:I?", import_count_nonzero, 0 },
	{ "norm", "self:T p:*=2 dim:I? keepdim:b=False dtype:i?", import_norm, 0 },
	{ "frobenius_norm", DIMS, import_norm, 0 },
	{ "linalg_vector_norm", "self:T ord:n=2 dim:I? keepdim:b=False dtype:i?", import_norm, VECTOR },
	{ "linalg_norm", "self:T ord:*? dim:I? keepdim:b=False dtype:i?", import_norm, MATRIX },
	{ "var", "self:T unbiased:b", import_var, 0 },
	{ "var.correction", "self:T dim:I? correction:n? keepdim:b=False", import_var, 0 },
	{ "var.dim", "self:T dim:I? unbiased:b=True keepdim:b=False", import_var, 0 },
	{ "std", "self:T unbiased:b", import_var, 1 },
	{ "std.correction", "self:T dim:I? correction:n? keepdim:b=False", import_var, 1 },
	{ "std.dim", "self:T dim:I? unbiased:b=True keepdim:b=False", import_var, 1 },
	{ "var_mean", "self:T unbiased:b", import_var, 2 },
	{ "var_mean.correction", "self:T dim:I? correction:n? keepdim:b=False", import_var, 2 },
	{ "var_mean.dim", "self:T dim:I? unbiased:b=True keepdim:b=False", import_var, 2 },
	{ "std_mean", "self:T unbiased:b", import_var, 3 },
	{ "std_mean.correction", "self:T dim:I? correction:n? keepdim:b=False", import_var, 3 },
	{ "std_mean.dim", "self:T dim:I? unbiased:b=True keepdim:b=False", import_var, 3 },
	{ "logsumexp", "self:T dim:I keepdim:b=False", import_logsumexp, 0 },
	{ "special_logsumexp", "self:T dim:I keepdim:b=False", import_logsumexp, 0 },
	{ "logcumsumexp", "self:T dim:i", import_logcumsumexp, 0 },
	{ "softmax", "self:T dim:i dtype:i?", import_softmax, OP_softmax },
	{ "special_softmax", "self:T dim:i dtype:i?", import_softmax, OP_softmax },
	{ "_softmax", "self:T dim:i half_to_float:b", import_softmax, OP_softmax },
	{ "_safe_softmax", "self:T dim:i dtype:i?", import_safe_softmax, 0 },
	{ "log_softmax", "self:T dim:i dtype:i?", import_softmax, OP_log_softmax },
	{ "special_log_softmax", "self:T dim:i dtype:i?", import_softmax, OP_log_softmax },
	{ "_log_softmax", "self:T dim:i half_to_float:b", import_softmax, OP_log_softmax },
	{ "cumsum!", "self:T dim:i dtype:i?", import_cumulate, 0 },
	{ "cumprod!", "self:T dim:i dtype:i?", import_cumulate, 1 },
	{ "normalize", "self:T p:f=2 dim:I=1 eps:f=1e-12", import_normalize, 0 },
	{ "cosine_similarity", "x1:T x2:T dim:i=1 eps:f=1e-08", import_cosine_similarity, 0 },
	{ "pairwise_distance", "x1:T x2:T p:f=2 eps:f=1e-06 keepdim:b=False", import_pairwise_distance, 0 },
	{ "cdist", "x1:T x2:T p:f=2 compute_mode:_?", import_cdist, 0 },
	{ "_cdist_forward", "x1:T x2:T p:f compute_mode:_?", import_cdist, 0 },
	{ "dist", "self:T other:T p:n=2", import_dist, 0 },
	{ NULL, NULL, NULL, 0 },
};
