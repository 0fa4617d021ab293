/*
 * Turns a transposed convolution with constant weights into a convolution. Result s * q + r, before pads cut it, is
 * the sum over j of x[q - j] * w[r + s * j]: for each r < s a convolution with every s-th tap, in reverse order. All r
 * are output channels of one convolution, and a transpose puts them between each other. Those of a block of channels
 * lie together in all r: so a layout can say the transpose (orders.c), and the convolution writes where its result
 * belongs. Nothing is multiplied by a zero that a stride inserts; a kernel that the stride does not divide gets zeros
 * at its end. "fold" then turns the weights.
 * Left out: a stride together with a dilation, a stride beyond the kernel, whose channels would be mostly zeros, and
 * three spatial dimensions, since a step between would have more dimensions than a tensor may. Where zeros at the end
 * of a kernel are much of it, a transposed convolution of many filters stays: its lanes skip what is zero (feature
 * "taps").
 */
#include "graph/edit.h"
#include "graph/without.h"

#include <string.h>

/* The geometry of a call; position k of the array is a spatial dimension. */
typedef struct Spread {
	int n;
	int64_t stride[3], taps[3], dilation[3], first[3]; /* taps: of each r; first: elements cut at the begin */
	int64_t groups, in, out; /* channels of a group */
	int64_t block;           /* of output channels that lie together */
} Spread;

static int64_t item(const OpCall *c, const char *name, int k, int64_t absent)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	return v != NULL ? v[k] : absent;
}

static bool read_spread(const Dag *d, const OpCall *c, Spread *s)
{
	const Value *w = &d->value.at[c->in[1]];
	if (c->op != OP_conv_transpose || w->kind != VALUE_CONST || shape_elements(w->shape) == 0)
		return false;
	*s = (Spread){ .n = w->shape.rank - 2, .groups = op_int(c, "groups"), .out = w->shape.dim[1] };
	s->in = w->shape.dim[0] / s->groups;
	for (s->block = GRAPH_PLACED_TOGETHER; s->out % s->block != 0;)
		s->block /= 2;
	double zeros = 1; /* taps of the convolution for each of the kernel */
	for (int k = 0; k < s->n; k++) {
		int64_t kernel = w->shape.dim[2 + k];
		s->stride[k] = item(c, "strides", k, 1);
		s->dilation[k] = item(c, "dilations", k, 1);
		s->first[k] = item(c, "pads", k, 0);
		s->taps[k] = (kernel + s->stride[k] - 1) / s->stride[k];
		if (s->stride[k] > kernel || (s->stride[k] > 1 && s->dilation[k] > 1))
			return false;
		zeros *= (double)(s->taps[k] * s->stride[k]) / (double)kernel;
	}
	bool skips = graph_does(d, FEATURE_OF_GRAPH_taps) && s->groups == 1 && s->out >= GRAPH_PLACED_TOGETHER;
	return 4 + 2 * s->n <= DAG_MAX_RANK && !(skips && zeros >= GRAPH_MANY_ZEROS);
}

static int reshape(Edit *e, const char *name, int x, Shape s)
{
	Attr attr = attr_ints("shape", s.dim, s.rank);
	return x == DAG_NONE ? x : edit_call(e, OP_reshape, name, &x, 1, &attr, 1);
}

static int transpose(Edit *e, const char *name, int x, const int64_t *perm, int n)
{
	Attr attr = attr_ints("perm", perm, n);
	return x == DAG_NONE ? x : edit_call(e, OP_transpose, name, &x, 1, &attr, 1);
}

/* w[C,M,K] as weights [groups * M / block * strides * block, C / groups, taps] in reverse order. */
static int turn_weights(Edit *e, const OpCall *c, const Spread *s)
{
	const Shape w = e->from->value.at[c->in[1]].shape;
	int64_t pads[10] = { 0 }, perm[8], start[5] = { 0 }, step[5] = { 1, 1, 1, 1, 1 }, size[5];
	int n = s->n, x = edit_value(e, c->in[1]);
	Shape cut = { 4 + 2 * n, { s->groups, s->in, s->out / s->block, s->block } };
	Shape turned = { 2 + n, { s->groups * s->out, s->in } };
	perm[0] = 0;
	perm[1] = 2;
	perm[2 + n] = 3;
	perm[3 + n] = 1;
	for (int k = 0; k < n; k++) {
		pads[4 + n + k] = s->taps[k] * s->stride[k] - w.dim[2 + k];
		cut.dim[4 + 2 * k] = s->taps[k];
		cut.dim[5 + 2 * k] = s->stride[k];
		perm[2 + k] = 5 + 2 * k;
		perm[4 + n + k] = 4 + 2 * k;
		turned.dim[0] *= s->stride[k];
		turned.dim[2 + k] = s->taps[k];
	}
	memcpy(size, turned.dim, sizeof(int64_t) * (size_t)turned.rank);
	for (int k = 0; k < n; k++) {
		start[2 + k] = s->taps[k] - 1;
		step[2 + k] = -1;
	}
	Attr pad = attr_ints("pads", pads, 2 * (2 + n));
	Attr flip[] = { attr_ints("starts", start, 2 + n), attr_ints("steps", step, 2 + n),
		attr_ints("sizes", size, 2 + n) };
	x = x == DAG_NONE ? x : edit_call(e, OP_pad, "w", &x, 1, &pad, 1);
	x = reshape(e, "w", transpose(e, "w", reshape(e, "w", x, cut), perm, cut.rank), turned);
	return x == DAG_NONE ? x : edit_call(e, OP_slice, "w", &x, 1, flip, 3);
}

/* Channels [M / block, strides, block] and positions [Q] become [M, Q * strides]. */
static int place_between(Edit *e, const Spread *s, int x)
{
	if (x == DAG_NONE)
		return x;
	const Shape z = edit_at(e, x)->shape;
	int n = s->n;
	int64_t perm[8] = { 0, 1, 2 + n };
	Shape cut = { 3 + 2 * n, { z.dim[0], s->groups * s->out / s->block } };
	Shape all = { 2 + n, { z.dim[0], s->groups * s->out } };
	cut.dim[2 + n] = s->block;
	for (int k = 0; k < n; k++) {
		cut.dim[2 + k] = s->stride[k];
		cut.dim[3 + n + k] = z.dim[2 + k];
		perm[3 + 2 * k] = 3 + n + k;
		perm[4 + 2 * k] = 2 + k;
		all.dim[2 + k] = z.dim[2 + k] * s->stride[k];
	}
	return reshape(e, "y", transpose(e, "y", reshape(e, "y", x, cut), perm, cut.rank), all);
}

/* The bias b[M] of the convolution's channels [M / block, strides, block]. */
static int spread_bias(Edit *e, const Spread *s, int b)
{
	int64_t strides = 1, blocks = s->groups * s->out / s->block;
	for (int k = 0; k < s->n; k++)
		strides *= s->stride[k];
	int x = reshape(e, "b", b, shape_of(3, (int64_t[]){ blocks, 1, s->block }));
	Attr all = attr_ints("shape", (int64_t[]){ blocks, strides, s->block }, 3);
	x = x == DAG_NONE ? x : edit_call(e, OP_expand, "b", &x, 1, &all, 1);
	return reshape(e, "b", x, shape_of(1, (int64_t[]){ blocks * strides * s->block }));
}

static bool write_as_conv(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	Spread s;
	if (!read_spread(e->from, c, &s))
		return false;
	const Shape y = e->from->value.at[c->out[0]].shape;
	int64_t pads[6], cut[10] = { 0 };
	for (int k = 0; k < s.n; k++)
		pads[k] = pads[s.n + k] = (s.taps[k] - 1) * s.dilation[k];
	Attr attr[] = { attr_ints("pads", pads, 2 * s.n), attr_ints("dilations", s.dilation, s.n),
		attr_int("groups", s.groups), attr_int("tf32", op_int(c, "tf32")) };
	bool bias = c->nin > 2 && c->in[2] != DAG_NONE;
	bool early = bias && e->from->value.at[c->in[2]].kind == VALUE_CONST;
	for (int k = 0; k < s.n; k++) { /* what is beyond the sums is the bias alone */
		int64_t sums = e->from->value.at[c->in[0]].shape.dim[2 + k] + pads[k];
		early &= s.first[k] >= 0 && y.dim[2 + k] + s.first[k] <= sums * s.stride[k];
	}
	int in[] = { edit_value(e, c->in[0]), turn_weights(e, c, &s),
		early ? spread_bias(e, &s, edit_value(e, c->in[2])) : DAG_NONE };
	if (in[0] == DAG_NONE || in[1] == DAG_NONE || early != (in[2] != DAG_NONE))
		return false;
	int x = place_between(e, &s, edit_call(e, OP_conv, "conv", in, early ? 3 : 2, attr, 4));
	if (x == DAG_NONE)
		return false;
	for (int k = 0; k < s.n; k++) {
		cut[2 + k] = -s.first[k];
		cut[4 + s.n + k] = y.dim[2 + k] + s.first[k] - edit_at(e, x)->shape.dim[2 + k];
	}
	Attr ends = attr_ints("pads", cut, 2 * (2 + s.n));
	if (!bias || early)
		return edit_call_as(e, c, OP_pad, &x, 1, &ends, 1);
	Shape by_channel = { 1 + s.n, { y.dim[1], 1, 1, 1 } };
	int sum[] = { edit_call(e, OP_pad, "y", &x, 1, &ends, 1), reshape(e, "b", edit_value(e, c->in[2]), by_channel) };
	return sum[0] != DAG_NONE && sum[1] != DAG_NONE && edit_call_as(e, c, OP_add, sum, 2, NULL, 0);
}

bool pass_transposed(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, write_as_conv, NULL, err);
}
