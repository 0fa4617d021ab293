/*
 * Group norm as front ends write it: an image [N,C,..] is cut into [N,G,..], the mean and the variance of each group
 * normalise its elements, and channels get a scale and a shift. The cut does not fit channels in blocks, so the image
 * would be copied to rows and back. Here the statistics of groups are computed from those of channels:
 *
 *	mean = mean(m),  variance = mean(v + (m - mean)^2)   over a group's channels of mean m and variance v
 *
 * (Chan, Golub, LeVeque 1979). What is left is y = x * a + b with one a and one b for each channel. Scales and shifts
 * behind the norm go into these. So each call works on the image as it lies. Left out: 16 bits, which would be rounded
 * more often.
 */
#include "graph/edit.h"
#include "op/element.h"

#include <string.h>

/* A normalised image: (x - mean) * scale + shift. Statistics are [N,G,K,1..], broadcast, with K channels in a group. */
typedef struct Norm {
	int image; /* new values; shift DAG_NONE: none */
	int mean, scale, shift, result; /* result: the normalised image */
	Shape channels;                 /* [N,G,K,1..] */
	int means;                      /* of channels: [N,C,1..] */
	int centred, square, variance, product; /* old values: x - mean, its square, the mean of that, the scaled one */
} Norm;

typedef struct Norms {
	VEC(Norm) norm;
	int *of; /* of each old value: its norm, if it is a variance, a scaled or a normalised one */
} Norms;

static const OpCall *writer(const Dag *d, int v)
{
	return d->value.at[v].kind == VALUE_CALL ? &d->call.at[d->value.at[v].call] : NULL;
}

/* Whether a statistic of x, [N,G,..] cut from an image, has one element for each group. */
static bool is_of_groups(Shape s, Shape x)
{
	bool is = s.rank == x.rank && s.dim[0] == x.dim[0] && s.dim[1] == x.dim[1];
	for (int k = 2; is && k < s.rank; k++)
		is = s.dim[k] == 1;
	return is;
}

static bool is_group_mean(const Dag *d, const OpCall *c)
{
	return c != NULL && c->op == OP_reduce_mean && d->value.at[c->in[0]].shape.rank > 2 &&
		is_of_groups(d->value.at[c->out[0]].shape, d->value.at[c->in[0]].shape);
}

/* The image [N,C,..] that old value x, [N,G,..], is cut from; DAG_NONE: it is not. */
static int find_image(const Dag *d, int x)
{
	const OpCall *cut = writer(d, x);
	const Shape s = d->value.at[x].shape;
	if (cut == NULL || cut->op != OP_reshape)
		return DAG_NONE;
	const Value *image = &d->value.at[cut->in[0]];
	const int64_t *dim = image->shape.dim;
	bool is = image->kind == VALUE_CALL && dtype_is_float(image->type) && image->type.bits >= 32 &&
		image->shape.rank >= 3 && image->shape.rank <= 5 && dim[1] > GRAPH_FEW_CHANNELS &&
		shape_elements(image->shape) > dim[0] * dim[1] && s.dim[0] == dim[0] && s.dim[1] > 0 && dim[1] % s.dim[1] == 0;
	return is ? cut->in[0] : DAG_NONE;
}

/* The two readers of a centred value: its square, read by a mean, and the product or quotient that scales it. */
static bool find_readers(const Edit *e, Norm *n)
{
	const Dag *d = e->from;
	int centred = n->centred;
	n->square = n->variance = n->product = DAG_NONE;
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		if (c->nin == 2 && c->op == OP_mul && c->in[0] == centred && c->in[1] == centred)
			n->square = c->out[0];
		else if (c->nin == 2 && ((c->op == OP_mul && (c->in[0] == centred || c->in[1] == centred)) ||
			(c->op == OP_div && c->in[0] == centred)))
			n->product = c->out[0];
		else if (n->square != DAG_NONE && is_group_mean(d, c) && c->in[0] == n->square)
			n->variance = c->out[0];
	}
	if (e->uses[centred] != 3 || n->product == DAG_NONE || n->variance == DAG_NONE || e->uses[n->square] != 1)
		return false;
	const OpCall *by = writer(d, n->product);
	const Value *scale = &d->value.at[by->in[by->in[0] == centred]];
	return is_of_groups(scale->shape, d->value.at[centred].shape);
}

static int call(Edit *e, int op, const char *of, const char *part, const int *in, int nin)
{
	return edit_call(e, op, arena_printf(e->to->arena, "%s.%s", of, part), in, nin, NULL, 0);
}

static int call2(Edit *e, int op, const char *of, const char *part, int x, int y)
{
	return call(e, op, of, part, (int[]){ x, y }, 2);
}

static int reshaped(Edit *e, const char *name, int x, Shape s)
{
	Attr shape = attr_ints("shape", s.dim, s.rank);
	return shape_eq(edit_at(e, x)->shape, s) ? x : edit_call(e, OP_reshape, name, &x, 1, &shape, 1);
}

static int mean_of(Edit *e, const char *name, int x, int64_t first, int naxes)
{
	Attr axes = attr_ints("axes", (int64_t[]){ first, first + 1, first + 2 }, naxes);
	return edit_call(e, OP_reduce_mean, name, &x, 1, &axes, 1);
}

/* Writes the means of channels and groups of a norm whose centred value the call gives. */
static void begin(Edit *e, Norms *norms, const OpCall *c)
{
	const Dag *d = e->from;
	const OpCall *mean = writer(d, c->in[1]);
	Norm n = { .shift = DAG_NONE, .result = DAG_NONE, .centred = c->out[0] };
	if (!is_group_mean(d, mean) || mean->in[0] != c->in[0] || e->uses[c->in[1]] != 1)
		return;
	int image = find_image(d, c->in[0]);
	if (image == DAG_NONE || !find_readers(e, &n))
		return;
	const char *name = d->value.at[mean->out[0]].name;
	n.image = edit_value(e, image);
	n.channels = d->value.at[mean->out[0]].shape;
	n.channels.dim[2] = d->value.at[image].shape.dim[1] / n.channels.dim[1];
	n.means = mean_of(e, name, n.image, 2, edit_at(e, n.image)->shape.rank - 2);
	n.mean = n.means == DAG_NONE ? DAG_NONE : reshaped(e, name, n.means, n.channels);
	if (n.mean != DAG_NONE && n.channels.dim[2] > 1)
		n.mean = mean_of(e, name, n.mean, 2, 1);
	if (n.mean == DAG_NONE)
		return;
	norms->of[n.variance] = norms->of[n.product] = (int)norms->norm.n;
	vec_push(e->to->arena, &norms->norm, n);
}

/* The variances of groups. */
static bool write_variance(Edit *e, const Norm *n, const OpCall *c)
{
	const char *name = e->from->value.at[c->out[0]].name;
	int x = call2(e, OP_sub, name, "centred", n->image, n->means);
	x = x == DAG_NONE ? x : call2(e, OP_mul, name, "square", x, x);
	x = x == DAG_NONE ? x : mean_of(e, name, x, 2, edit_at(e, x)->shape.rank - 2);
	x = x == DAG_NONE ? x : reshaped(e, name, x, n->channels);
	if (x == DAG_NONE || n->channels.dim[2] == 1) {
		edit_replace(e, c->out[0], x);
		return x != DAG_NONE;
	}
	int m = reshaped(e, name, n->means, n->channels);
	m = m == DAG_NONE ? m : call2(e, OP_sub, name, "apart", m, n->mean);
	m = m == DAG_NONE ? m : call2(e, OP_mul, name, "apart", m, m);
	x = m == DAG_NONE ? m : call2(e, OP_add, name, "sum", x, m);
	Attr axis = attr_ints("axes", (int64_t[]){ 2 }, 1);
	return x != DAG_NONE && edit_call_as(e, c, OP_reduce_mean, &x, 1, &axis, 1);
}

/* A statistic for each channel: [N,C,1..]. */
static int for_channels(Edit *e, const Norm *n, const char *name, int x)
{
	Shape channels = edit_at(e, n->image)->shape;
	for (int k = 2; k < channels.rank; k++)
		channels.dim[k] = 1;
	Attr wide = attr_ints("shape", n->channels.dim, n->channels.rank);
	if (!shape_eq(edit_at(e, x)->shape, n->channels))
		x = edit_call(e, OP_expand, name, &x, 1, &wide, 1);
	return x == DAG_NONE ? x : reshaped(e, name, x, channels);
}

/* Writes x * scale + (shift - mean * scale), which stands for the old value y. */
static bool write_normalised(Edit *e, Norms *norms, Norm n, int y)
{
	const Value *old = &e->from->value.at[y];
	int b = call2(e, OP_mul, old->name, "shift", n.mean, n.scale);
	if (b != DAG_NONE)
		b = n.shift == DAG_NONE ? call(e, OP_neg, old->name, "shift", &b, 1)
		                        : call2(e, OP_sub, old->name, "shift", n.shift, b);
	int a = for_channels(e, &n, old->name, n.scale);
	b = b == DAG_NONE ? b : for_channels(e, &n, old->name, b);
	int x = a == DAG_NONE || b == DAG_NONE ? DAG_NONE : call2(e, OP_mul, old->name, "scaled", n.image, a);
	n.result = x == DAG_NONE ? x : edit_call(e, OP_add, old->name, (int[]){ x, b }, 2, NULL, 0);
	x = n.result == DAG_NONE ? n.result : reshaped(e, old->name, n.result, old->shape);
	if (x == DAG_NONE)
		return false;
	edit_replace(e, y, x);
	norms->of[y] = (int)norms->norm.n;
	vec_push(e->to->arena, &norms->norm, n);
	return true;
}

/* The product or quotient that normalises. */
static bool normalise(Edit *e, Norms *norms, Norm n, const OpCall *c)
{
	int by = edit_value(e, c->in[c->in[0] == n.centred]);
	n.scale = by;
	if (c->op == OP_div) {
		DType t = edit_at(e, by)->type;
		void *one = arena_array(e->to->arena, char, t.bits / 8);
		element_set(t, one, 0, 1);
		n.scale = call2(e, OP_div, e->from->value.at[c->out[0]].name, "inverse",
			edit_const(e, "one", t, shape_of(0, NULL), one), by);
	}
	return n.scale != DAG_NONE && write_normalised(e, norms, n, c->out[0]);
}

/* Whether each element of a constant is this number. */
static bool is_all(const Value *v, double number)
{
	int64_t n = v->kind == VALUE_CONST && v->data != NULL ? shape_elements(v->shape) : 0;
	for (int64_t i = 0; i < n; i++)
		if (element_get(v->type, v->data, i) != number)
			return false;
	return n > 0;
}

/* New value v, broadcast to the shape `to` of a normalised image, as a statistic of channels; DAG_NONE: it is none. */
static int as_statistic(Edit *e, const Norm *n, Shape to, int v)
{
	const Value x = *edit_at(e, v);
	const Shape *image = &edit_at(e, n->image)->shape;
	Shape from = shape_of(3, n->channels.dim), narrow = n->channels, wide = to, split = { .rank = image->rank + 1 };
	for (int k = 2; k < image->rank; k++)
		from.dim[from.rank++] = image->dim[k];
	if (x.shape.rank > to.rank)
		return DAG_NONE;
	for (int k = 0; k < to.rank; k++)
		wide.dim[k] = k < to.rank - x.shape.rank ? 1 : x.shape.dim[k - (to.rank - x.shape.rank)];
	bool fits = sink_split(to, wide.dim, from, split.dim);
	for (int k = 3; k < split.rank; k++)
		fits = fits && split.dim[k] == 1;
	if (!fits)
		return DAG_NONE;
	memcpy(narrow.dim, split.dim, 3 * sizeof *split.dim);
	return x.kind == VALUE_CONST ? edit_const(e, x.name, x.type, narrow, x.data) : reshaped(e, x.name, v, narrow);
}

/* A product or sum with one number for each channel goes into the norm before it. */
static bool join_norm(Edit *e, Norms *norms, const OpCall *c, int operand)
{
	const Value *y = &e->from->value.at[c->out[0]], *x = &e->from->value.at[c->in[operand]];
	Norm n = norms->norm.at[norms->of[c->in[operand]]];
	if (e->uses[c->in[operand]] != 1 || !shape_eq(x->shape, y->shape))
		return false;
	if (is_all(&e->from->value.at[c->in[!operand]], c->op == OP_mul)) {
		edit_replace(e, c->out[0], edit_value(e, c->in[operand]));
		norms->of[c->out[0]] = norms->of[c->in[operand]];
		return true;
	}
	int by = as_statistic(e, &n, y->shape, edit_value(e, c->in[!operand]));
	if (by == DAG_NONE)
		return false;
	if (c->op == OP_mul)
		n.scale = call2(e, OP_mul, y->name, "scale", n.scale, by);
	if (n.shift != DAG_NONE)
		n.shift = call2(e, c->op, y->name, "shift", n.shift, by);
	else if (c->op == OP_add)
		n.shift = by;
	return e->err->code == ERR_NONE && write_normalised(e, norms, n, c->out[0]);
}

static bool is_normalised(const Norms *norms, int v)
{
	return v != DAG_NONE && norms->of[v] != DAG_NONE && norms->norm.at[norms->of[v]].result != DAG_NONE;
}

static bool rewrite(Edit *e, const OpCall *c, void *arg)
{
	Norms *norms = arg;
	if (c->nout != 1)
		return false;
	int y = c->out[0], of = norms->of[y];
	if (of != DAG_NONE && y == norms->norm.at[of].variance)
		return write_variance(e, &norms->norm.at[of], c);
	if (of != DAG_NONE)
		return normalise(e, norms, norms->norm.at[of], c);
	if (c->op == OP_sub)
		begin(e, norms, c); /* the call is copied; no used one reads it */
	if (c->op == OP_reshape && is_normalised(norms, c->in[0])) {
		int x = reshaped(e, e->from->value.at[y].name, norms->norm.at[norms->of[c->in[0]]].result,
			e->from->value.at[y].shape);
		edit_replace(e, y, x);
		norms->of[y] = e->uses[c->in[0]] == 1 ? norms->of[c->in[0]] : DAG_NONE;
		return x != DAG_NONE;
	}
	for (int k = 0; k < 2 && (c->op == OP_mul || c->op == OP_add); k++)
		if (is_normalised(norms, c->in[k]))
			return join_norm(e, norms, c, k);
	return false;
}

bool pass_group_norm(Dag *d, EvalFn eval, Err *err)
{
	Norms norms = { .of = arena_array(d->arena, int, d->value.n + 1) };
	for (size_t v = 0; v < d->value.n; v++)
		norms.of[v] = DAG_NONE;
	return edit_dag(d, eval, rewrite, &norms, err);
}
