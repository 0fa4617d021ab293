/* See ref.h. Slow on purpose: every operator walks multi-indices and reads one element at a time. */
#include "ref_env.h"

#include "op/element.h"

#include <assert.h>
#include <math.h>
#include <string.h>

Tensor tensor_new(Arena *a, DType t, Shape s)
{
	Tensor x = { t, s, shape_elements(s), NULL };
	x.v = arena_array(a, double, x.n + 1);
	return x;
}

static double round_to(DType t, double v)
{
	uint64_t bytes = 0;
	if (dtype_is_int(t)) { /* integer arithmetic wraps */
		element_set_int(t, &bytes, 0, (int64_t)v);
		return (double)element_get_int(t, &bytes, 0);
	}
	element_set(t, &bytes, 0, v);
	return element_get(t, &bytes, 0);
}

Tensor tensor_random(Arena *a, DType t, Shape s, Rng *r)
{
	Tensor x = tensor_new(a, t, s);
	for (int64_t i = 0; i < x.n; i++)
		if (dtype_is_float(t))
			x.v[i] = round_to(t, rng_real(r) * 4 - 2);
		else
			x.v[i] = (double)rng_range(r, t.kind == DT_INT ? -5 : 0, t.kind == DT_BOOL ? 1 : 5);
	return x;
}

void *tensor_data(Arena *a, Tensor t)
{
	void *p = arena_alloc(a, (size_t)dtype_bytes(t.type, t.n) + 1);
	for (int64_t i = 0; i < t.n; i++)
		element_set(t.type, p, i, t.v[i]);
	return p;
}

Tensor tensor_of(Arena *a, DType t, Shape s, const void *data)
{
	Tensor x = tensor_new(a, t, s);
	for (int64_t i = 0; i < x.n; i++)
		x.v[i] = element_get(t, data, i);
	return x;
}

/* Outside of the tensor: `other`. */
static double at_or(const Tensor *t, const int64_t *idx, double other)
{
	for (int k = 0; k < t->shape.rank; k++)
		if (idx[k] < 0 || idx[k] >= t->shape.dim[k])
			return other;
	return at(t, idx);
}

double tensor_at(const Tensor *t, const int64_t *idx, int rank)
{
	int64_t own[DAG_MAX_RANK];
	for (int k = 0; k < t->shape.rank; k++)
		own[k] = t->shape.dim[k] == 1 ? 0 : idx[rank - t->shape.rank + k];
	return at(t, own);
}

static int64_t item(const OpCall *c, const char *name, int k, int64_t absent)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	return k < n ? v[k] : absent;
}

/* The window of a result's element in dimension s, from its first tap on. */
typedef struct Window {
	int64_t first, step, lo, hi;
} Window;

/* Attributes are looked up by name: once per element, not once per tap. */
static void windows(const Env *e, int sp, Window *w)
{
	for (int s = 0; s < sp; s++) {
		w[s].lo = item(e->c, "pads", s, 0);
		w[s].hi = item(e->c, "pads", sp + s, 0);
		w[s].step = item(e->c, "dilations", s, 1);
		w[s].first = e->idx[2 + s] * item(e->c, "strides", s, 1) - w[s].lo;
	}
}

static double conv(const Env *e)
{
	const Tensor *x = e->in[0], *w = e->in[1];
	int sp = x->shape.rank - 2;
	Window win[DAG_MAX_RANK];
	windows(e, sp, win);
	int64_t per = w->shape.dim[1], group = e->idx[1] / (w->shape.dim[0] / op_int(e->c, "groups"));
	double sum = e->in[2] != NULL ? e->in[2]->v[e->idx[1]] : 0;
	Shape taps = w->shape;
	taps.dim[0] = 1;
	for (int64_t i = 0, n = shape_elements(taps); i < n; i++) {
		int64_t k[DAG_MAX_RANK], p[DAG_MAX_RANK];
		unravel(taps, i, k);
		p[0] = e->idx[0];
		p[1] = group * per + k[1];
		for (int s = 0; s < sp; s++)
			p[2 + s] = win[s].first + k[2 + s] * win[s].step;
		k[0] = e->idx[1];
		sum += at_or(x, p, 0) * at(w, k);
	}
	return sum;
}

/* Scatters: which taps of which elements of x meet the result's element. */
static double conv_transpose(const Env *e)
{
	const Tensor *x = e->in[0], *w = e->in[1];
	int sp = x->shape.rank - 2;
	int64_t groups = op_int(e->c, "groups"), per = w->shape.dim[1], depth = x->shape.dim[1] / groups;
	double sum = e->in[2] != NULL ? e->in[2]->v[e->idx[1]] : 0;
	for (int64_t i = 0, n = shape_elements(x->shape); i < n; i++) {
		int64_t p[DAG_MAX_RANK], k[DAG_MAX_RANK];
		unravel(x->shape, i, p);
		bool meets = p[0] == e->idx[0] && p[1] / depth == e->idx[1] / per;
		k[0] = p[1];
		k[1] = e->idx[1] % per;
		for (int s = 0; s < sp; s++) {
			int64_t off = e->idx[2 + s] + item(e->c, "pads", s, 0) - p[2 + s] * item(e->c, "strides", s, 1);
			int64_t step = item(e->c, "dilations", s, 1);
			k[2 + s] = off / step;
			meets &= off >= 0 && off % step == 0 && k[2 + s] < w->shape.dim[2 + s];
		}
		sum += meets ? x->v[i] * at(w, k) : 0;
	}
	return sum;
}

/* The elements of all windows that lie where the result's element does. */
static double fold(const Env *e)
{
	const Tensor *x = e->in[0];
	int sp = x->shape.rank / 2 - 1;
	double sum = 0;
	for (int64_t i = 0, n = shape_elements(x->shape); i < n; i++) {
		int64_t p[DAG_MAX_RANK];
		unravel(x->shape, i, p);
		bool meets = p[0] == e->idx[0] && p[1] == e->idx[1];
		for (int s = 0; s < sp; s++)
			meets &= p[2 + sp + s] * item(e->c, "strides", s, 1) + p[2 + s] * item(e->c, "dilations", s, 1) ==
				e->idx[2 + s] + item(e->c, "pads", s, 0);
		sum += meets ? x->v[i] : 0;
	}
	return sum;
}

static double pool(const Env *e)
{
	const Tensor *x = e->in[0];
	int sp = x->shape.rank - 2;
	bool max = e->c->op != OP_avg_pool, count_pad = !max && op_int(e->c, "count_pad") != 0;
	Window win[DAG_MAX_RANK];
	windows(e, sp, win);
	Shape taps = { sp, { 0 } };
	for (int s = 0; s < sp; s++)
		taps.dim[s] = item(e->c, "kernel", s, 0);
	double sum = 0, most = dtype_is_float(x->type) ? -INFINITY : x->type.kind == DT_UINT ? 0 : -128, count = 0;
	int64_t place = -1;
	for (int64_t i = 0, n = shape_elements(taps); i < n; i++) {
		int64_t k[DAG_MAX_RANK], p[DAG_MAX_RANK] = { e->idx[0], e->idx[1] };
		bool real = true, padding = true;
		unravel(taps, i, k);
		for (int s = 0; s < sp; s++) {
			int64_t size = x->shape.dim[2 + s];
			p[2 + s] = win[s].first + k[s] * win[s].step;
			real &= p[2 + s] >= 0 && p[2 + s] < size;
			padding &= p[2 + s] >= -win[s].lo && p[2 + s] < size + win[s].hi;
		}
		if (real && (place < 0 || at(x, p) > most || (isnan(at(x, p)) && !isnan(most)))) {
			most = at(x, p);
			place = ravel(x->shape, p);
		}
		if (real)
			sum += at(x, p);
		count += real || (padding && count_pad);
	}
	if (e->c->op == OP_max_pool_place)
		return (double)place;
	if (max)
		return most;
	sum = count > 0 ? sum / count : 0;
	return dtype_is_int(x->type) ? trunc(sum) : sum;
}

static double matmul(const Env *e)
{
	const Tensor *a = e->in[0], *b = e->in[1];
	bool ta = op_int(e->c, "ta") != 0, tb = op_int(e->c, "tb") != 0;
	int ra = a->shape.rank, rb = b->shape.rank;
	int64_t n = ra == 1 ? a->shape.dim[0] : a->shape.dim[ta ? ra - 2 : ra - 1];
	int batch = e->rank - (ra > 1) - (rb > 1);
	double sum = 0;
	for (int64_t k = 0; k < n; k++) {
		int64_t i[DAG_MAX_RANK] = { k }, j[DAG_MAX_RANK] = { k };
		for (int s = 0; s < ra - 2; s++)
			i[s] = a->shape.dim[s] == 1 ? 0 : e->idx[batch - (ra - 2) + s];
		for (int s = 0; s < rb - 2; s++)
			j[s] = b->shape.dim[s] == 1 ? 0 : e->idx[batch - (rb - 2) + s];
		if (ra > 1) {
			i[ta ? ra - 2 : ra - 1] = k;
			i[ta ? ra - 1 : ra - 2] = e->idx[batch];
		}
		if (rb > 1) {
			j[tb ? rb - 1 : rb - 2] = k;
			j[tb ? rb - 2 : rb - 1] = e->idx[e->rank - 1];
		}
		sum += at(a, i) * at(b, j);
	}
	return sum;
}

static double dense(const Env *e)
{
	const Tensor *x = e->in[0], *w = e->in[1];
	int last = e->rank - 1;
	double sum = e->in[2] != NULL ? e->in[2]->v[e->idx[last]] : 0;
	int64_t p[DAG_MAX_RANK];
	memcpy(p, e->idx, sizeof p);
	for (int64_t k = 0; k < w->shape.dim[1]; k++) {
		p[last] = k;
		sum += at(x, p) * w->v[e->idx[last] * w->shape.dim[1] + k];
	}
	return sum;
}

static double lrn(const Env *e)
{
	const Tensor *x = e->in[0];
	int64_t size = op_int(e->c, "size"), p[DAG_MAX_RANK];
	double sum = 0;
	memcpy(p, e->idx, sizeof p);
	for (int64_t i = 0; i < size; i++) {
		p[1] = e->idx[1] - (int64_t)floor((double)(size - 1) / 2) + i;
		sum += pow(at_or(x, p, 0), 2);
	}
	double base = op_float(e->c, "bias") + op_float(e->c, "alpha") / (double)size * sum;
	return at(x, e->idx) / pow(base, op_float(e->c, "beta"));
}

/* Sum, greatest, ... of the elements of x at idx with the dimensions in `over` running. */
static double reduce(const Tensor *x, const int64_t *idx, const bool *over, int op, int64_t *count)
{
	Shape s = x->shape;
	bool min = op == OP_reduce_min, extreme = min || op == OP_reduce_max, prod = op == OP_reduce_prod;
	double r = prod ? 1 : !extreme ? 0 : min ? INFINITY : -INFINITY;
	for (int k = 0; k < s.rank; k++)
		s.dim[k] = over[k] ? s.dim[k] : 1;
	*count = shape_elements(s);
	for (int64_t i = 0; i < *count; i++) {
		int64_t p[DAG_MAX_RANK];
		unravel(s, i, p);
		for (int k = 0; k < s.rank; k++)
			p[k] = over[k] ? p[k] : idx[k];
		double v = at(x, p);
		r = prod ? r * v : !extreme ? r + v : min ? fmin(r, v) : fmax(r, v);
	}
	return r;
}

static double reduce_call(const Env *e)
{
	const Tensor *x = e->in[0];
	bool over[DAG_MAX_RANK], keep = op_int(e->c, "keep") != 0;
	int n, rank = x->shape.rank;
	const int64_t *axes = op_ints(e->c, "axes", &n);
	int64_t p[DAG_MAX_RANK] = { 0 }, count;
	for (int k = 0; k < rank; k++)
		over[k] = n == 0;
	for (int i = 0; i < n; i++)
		over[axes[i]] = true;
	for (int k = 0, j = 0; k < rank; k++)
		if (!over[k] || keep)
			p[k] = e->idx[j++];
	double r = reduce(x, p, over, e->c->op, &count);
	if (e->c->op == OP_reduce_mean)
		r = dtype_is_int(x->type) ? trunc(r / (double)count) : r / (double)count;
	if (count == 0 && e->c->op == OP_reduce_mean)
		r = dtype_is_int(x->type) ? 0 : NAN;
	return r;
}

static double softmax(const Env *e)
{
	const Tensor *x = e->in[0];
	int axis = (int)op_int(e->c, "axis");
	if (axis < 0)
		axis += e->rank;
	int64_t p[DAG_MAX_RANK], count;
	bool over[DAG_MAX_RANK] = { 0 };
	over[axis] = true;
	memcpy(p, e->idx, sizeof p);
	double max = reduce(x, p, over, OP_reduce_max, &count), sum = 0, own = at(x, e->idx) - max;
	for (p[axis] = 0; p[axis] < count; p[axis]++)
		sum += exp(at(x, p) - max);
	return e->c->op == OP_softmax ? exp(own) / sum : own - log(sum);
}

static double pad(const Env *e)
{
	const Tensor *x = e->in[0];
	const char *mode = op_text(e->c, "mode");
	int64_t p[DAG_MAX_RANK];
	bool in = true;
	for (int k = 0; k < e->rank; k++) {
		int64_t n = x->shape.dim[k], i = e->idx[k] - item(e->c, "pads", k, 0);
		in &= i >= 0 && i < n;
		if (strcmp(mode, "edge") == 0)
			i = i < 0 ? 0 : i >= n ? n - 1 : i;
		while (strcmp(mode, "wrap") == 0 && (i < 0 || i >= n))
			i += i < 0 ? n : -n;
		while (strcmp(mode, "reflect") == 0 && (i < 0 || i >= n))
			i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
		p[k] = i;
	}
	return strcmp(mode, "constant") == 0 && !in ? op_float(e->c, "value") : at(x, p);
}

static double concat(const Env *e)
{
	int64_t axis = op_int(e->c, "axis"), p[DAG_MAX_RANK];
	int k = 0;
	memcpy(p, e->idx, sizeof p);
	while (p[axis] >= e->in[k]->shape.dim[axis])
		p[axis] -= e->in[k++]->shape.dim[axis];
	return at(e->in[k], p);
}

static double move(const Env *e, Shape out, int result)
{
	const Tensor *x = e->in[0];
	int64_t p[DAG_MAX_RANK] = { 0 };
	memcpy(p, e->idx, sizeof(int64_t) * (size_t)e->rank);
	switch (e->c->op) {
	case OP_reshape: return x->v[ravel(out, e->idx)];
	case OP_transpose:
		for (int k = 0; k < e->rank; k++)
			p[item(e->c, "perm", k, -1)] = e->idx[k];
		return at(x, p);
	case OP_split:
		for (int k = 0; k < result; k++)
			p[op_int(e->c, "axis")] += item(e->c, "sizes", k, 0);
		return at(x, p);
	default: /* slice */
		for (int k = 0; k < e->rank; k++)
			p[k] = item(e->c, "starts", k, 0) + e->idx[k] * item(e->c, "steps", k, 1);
		return at(x, p);
	}
}

static double power(double a, double b, bool whole)
{
	double p = pow(a, b);
	return whole ? trunc(p) : p;
}

/* The remainder with the sign of y, or of x as C has it. */
static double modulo(double x, double y, bool whole, bool of_x)
{
	if (whole && y == 0)
		return 0;
	double r = fmod(x, y);
	return !of_x && r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double same_bits(const Env *e, double x)
{
	DType to;
	uint64_t bytes = 0;
	const char *text = op_text(e->c, "to");
	element_set(e->in[0]->type, &bytes, 0, x);
	return dtype_parse(text, strlen(text), &to) ? element_get(to, &bytes, 0) : NAN;
}

/* x is read at the broadcast index, `y` too where there is a second input. */
static double elementwise(const Env *e, double x, double y)
{
	bool whole = dtype_is_int(e->in[0]->type);
	const OpCall *c = e->c;
	double alpha = 0;
	switch (c->op) {
	case OP_add: return x + y;
	case OP_sub: return x - y;
	case OP_mul: return x * y;
	case OP_div: return whole ? (y == 0 ? 0 : trunc(x / y)) : x / y;
	case OP_pow: return power(x, y, whole);
	case OP_maximum: return fmax(x, y);
	case OP_minimum: return fmin(x, y);
	case OP_mod: return modulo(x, y, whole, op_int(c, "fmod") != 0);
	case OP_equal: return x == y;
	case OP_less: return x < y;
	case OP_less_equal: return x <= y;
	case OP_bit_and: return (double)((int64_t)x & (int64_t)y);
	case OP_bit_or: return (double)((int64_t)x | (int64_t)y);
	case OP_bit_xor: return (double)((int64_t)x ^ (int64_t)y);
	case OP_bit_not: return e->in[0]->type.kind == DT_BOOL ? x == 0 : -1 - x;
	case OP_shift_left: return y < 0 || y >= e->in[0]->type.bits ? 0 : ldexp(x, (int)y);
	case OP_shift_right: return y < 0 || y >= e->in[0]->type.bits ? 0 : floor(ldexp(x, -(int)y));
	case OP_where: return x != 0 ? y : tensor_at(e->in[2], e->idx, e->rank);
	case OP_is_nan: return isnan(x);
	case OP_is_inf: return isinf(x) && op_int(c, x < 0 ? "negative" : "positive") != 0;
	case OP_prelu: return x < 0 ? x * y : x;
	case OP_relu: return x > 0 ? x : 0;
	case OP_leaky_relu: return x < 0 ? x * op_float(c, "alpha") : x;
	case OP_elu: return x < 0 ? op_float(c, "alpha") * expm1(x) : x;
	case OP_hard_sigmoid:
		alpha = op_float(c, "alpha") * x + op_float(c, "beta");
		return alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
	case OP_hard_swish: return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
	case OP_sigmoid: return 1 / (1 + exp(-x));
	case OP_tanh: return tanh(x);
	case OP_erf: return erf(x);
	case OP_exp: return exp(x);
	case OP_log: return log(x);
	case OP_sqrt: return sqrt(x);
	case OP_abs: return fabs(x);
	case OP_neg: return -x;
	case OP_sign: return x > 0 ? 1 : x < 0 ? -1 : x;
	case OP_floor: return floor(x);
	case OP_ceil: return ceil(x);
	case OP_round: return rint(x);
	case OP_sin: return sin(x);
	case OP_cos: return cos(x);
	case OP_tan: return tan(x);
	case OP_asin: return asin(x);
	case OP_acos: return acos(x);
	case OP_atan: return atan(x);
	case OP_sinh: return sinh(x);
	case OP_cosh: return cosh(x);
	case OP_asinh: return asinh(x);
	case OP_acosh: return acosh(x);
	case OP_atanh: return atanh(x);
	case OP_expm1: return expm1(x);
	case OP_log1p: return log1p(x);
	case OP_bitcast: return same_bits(e, x);
	case OP_clip:
		if (e->in[1] != NULL)
			x = fmax(x, e->in[1]->v[0]);
		if (e->in[2] != NULL)
			x = fmin(x, e->in[2]->v[0]);
		x = fmax(x, whole ? ceil(op_float(c, "lo")) : op_float(c, "lo"));
		return fmin(x, whole ? floor(op_float(c, "hi")) : op_float(c, "hi"));
	case OP_batch_norm:
		alpha = e->in[1]->v[e->idx[1]] / sqrt(e->in[4]->v[e->idx[1]] + op_float(c, "epsilon"));
		return (x - e->in[3]->v[e->idx[1]]) * alpha + e->in[2]->v[e->idx[1]];
	default: return x; /* identity, cast, expand */
	}
}

static double element(const Env *e, Shape out, int result)
{
	switch (e->c->op) {
	case OP_conv: return conv(e);
	case OP_dense: return dense(e);
	case OP_matmul: return matmul(e);
	case OP_conv_transpose: return conv_transpose(e);
	case OP_fold: return fold(e);
	case OP_det: return ref_det(e);
	case OP_suppress: return ref_suppress(e);
	case OP_max_pool:
	case OP_max_pool_place:
	case OP_avg_pool: return pool(e);
	case OP_lrn: return lrn(e);
	case OP_softmax:
	case OP_log_softmax: return softmax(e);
	case OP_reduce_sum:
	case OP_reduce_mean:
	case OP_reduce_max:
	case OP_reduce_min:
	case OP_reduce_prod: return reduce_call(e);
	case OP_arg_max:
	case OP_arg_min: return ref_arg(e);
	case OP_scan: return ref_scan(e);
	case OP_top_k: return ref_top_k(e, result);
	case OP_pad: return pad(e);
	case OP_concat: return concat(e);
	case OP_reshape:
	case OP_transpose:
	case OP_split:
	case OP_slice: return move(e, out, result);
	case OP_resample: return ref_resample(e);
	case OP_gather:
	case OP_gather_nd:
	case OP_gather_elements: return ref_gather(e);
	case OP_scatter_nd:
	case OP_scatter_elements: return ref_scatter(e);
	default: break;
	}
	bool two = e->in[1] != NULL && e->c->op != OP_clip && e->c->op != OP_batch_norm;
	return elementwise(e, tensor_at(e->in[0], e->idx, e->rank), two ? tensor_at(e->in[1], e->idx, e->rank) : 0);
}

static double store_as(const OpCall *c, DType t, double v)
{
	uint64_t bytes = 0;
	if (c->op != OP_cast && c->op != OP_pow)
		return t.kind == DT_BOOL ? v != 0 : round_to(t, v);
	element_set(t, &bytes, 0, v); /* truncates and saturates */
	return element_get(t, &bytes, 0);
}

void ref_eval(Arena *a, const Dag *d, Tensor *v)
{
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].data != NULL)
			v[i] = tensor_of(a, d->value.at[i].type, d->value.at[i].shape, d->value.at[i].data);
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		Env e = { .c = c };
		assert(c->nin <= 8);
		for (int k = 0; k < c->nin; k++)
			e.in[k] = c->in[k] == DAG_NONE ? NULL : &v[c->in[k]];
		if (c->op == OP_rnn || c->op == OP_gru || c->op == OP_lstm || c->op == OP_linear_attention ||
			c->op == OP_attention) {
			Tensor all[3];
			(c->op == OP_attention			 ? ref_attention
				: c->op == OP_linear_attention ? ref_linear_attention
											   : ref_recurrent)(a, d, c, e.in, all);
			for (int r = 0; r < c->nout; r++)
				v[c->out[r]] = all[r];
			continue;
		}
		for (int r = 0; r < c->nout; r++) {
			const Value *out = &d->value.at[c->out[r]];
			Tensor y = tensor_new(a, out->type, out->shape);
			for (int64_t k = 0; k < y.n; k++) {
				int64_t idx[DAG_MAX_RANK] = { 0 };
				unravel(y.shape, k, idx);
				e.idx = idx;
				e.rank = y.shape.rank;
				y.v[k] = store_as(c, y.type, element(&e, y.shape, r));
			}
			v[c->out[r]] = y;
		}
	}
}
