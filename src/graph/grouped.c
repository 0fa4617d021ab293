/*
 * Turns 1x1 convolutions with groups into products, a matrix of weights times the pixels of each group: a group whose
 * channels fill no vectors then has lanes along its pixels. Those of one pixel, as in squeeze-and-excite, become dense,
 * which reads weights at the rate of memory. The images are row-major, and reshapes of them are views.
 * Elementwise calls behind follow the product (sink.c), so that they are in its group.
 */
#include "graph/edit.h"
#include "graph/without.h"

static int reshape(Edit *e, const char *name, int x, Shape s)
{
	Attr attr = attr_ints("shape", s.dim, s.rank);
	return x == DAG_NONE ? x : edit_call(e, OP_reshape, name, &x, 1, &attr, 1);
}

/* A constant [M,...] as one that is broadcast to [groups, M / groups, n]. */
static int rows_of(Edit *e, int old, int64_t groups, int64_t n)
{
	const Value *v = &e->from->value.at[old];
	return edit_const(e, v->name, v->type, (Shape){ 3, { groups, v->shape.dim[0] / groups, n } }, v->data);
}

static bool fills_vectors(Shape weights, int64_t groups)
{
	return weights.dim[0] / groups % GRAPH_GROUP_BLOCK == 0 && weights.dim[1] % GRAPH_GROUP_BLOCK == 0;
}

/* A convolution without groups of images of one pixel. */
static bool multiply_pixel(Edit *e, const OpCall *c)
{
	const Dag *d = e->from;
	const Value *w = &d->value.at[c->in[1]], *x = &d->value.at[c->in[0]];
	const Shape y = d->value.at[c->out[0]].shape;
	const char *name = d->value.at[c->out[0]].name;
	int in[3] = { reshape(e, x->name, edit_value(e, c->in[0]), (Shape){ 2, { x->shape.dim[0], x->shape.dim[1] } }),
		edit_const(e, w->name, w->type, (Shape){ 2, { w->shape.dim[0], w->shape.dim[1] } }, w->data), DAG_NONE };
	if (c->nin > 2 && c->in[2] != DAG_NONE)
		in[2] = edit_value(e, c->in[2]);
	Attr tf32 = attr_int("tf32", op_int(c, "tf32")), shape = attr_ints("shape", y.dim, y.rank);
	in[0] = in[0] == DAG_NONE ? DAG_NONE : edit_call(e, OP_dense, name, in, in[2] != DAG_NONE ? 3 : 2, &tf32, 1);
	return in[0] != DAG_NONE && edit_call_as(e, c, OP_reshape, in, 1, &shape, 1);
}

static bool multiply_groups(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	const Dag *d = e->from;
	if (c->op != OP_conv)
		return graph_does(d, FEATURE_OF_GRAPH_sink) && sink_call(e, c);
	const Shape w = d->value.at[c->in[1]].shape, x = d->value.at[c->in[0]].shape, y = d->value.at[c->out[0]].shape;
	int64_t groups = op_int(c, "groups"), pixels = 1;
	bool bias = c->nin > 2 && c->in[2] != DAG_NONE;
	for (int k = 2; k < x.rank; k++)
		pixels *= x.dim[k];
	if (pixels == 1 && op_is_pointwise(d, c) && shape_elements(x) > 0)
		return multiply_pixel(e, c);
	if (groups == 1 || w.dim[1] == 1 || !op_has_one_tap(d, c) || fills_vectors(w, groups) || shape_elements(x) == 0 ||
		(bias && d->value.at[c->in[2]].kind != VALUE_CONST))
		return false;
	Shape of = { 0 };
	if (x.dim[0] != 1)
		of.dim[of.rank++] = x.dim[0];
	of.dim[of.rank++] = groups;
	of.dim[of.rank++] = w.dim[1];
	of.dim[of.rank++] = pixels;
	const char *name = d->value.at[c->out[0]].name;
	int in[2] = { rows_of(e, c->in[1], groups, w.dim[1]),
		reshape(e, d->value.at[c->in[0]].name, edit_value(e, c->in[0]), of) };
	Attr tf32 = attr_int("tf32", op_int(c, "tf32"));
	in[0] = in[1] == DAG_NONE ? DAG_NONE : edit_call(e, OP_matmul, name, in, 2, &tf32, 1);
	if (bias && in[0] != DAG_NONE) {
		in[1] = rows_of(e, c->in[2], groups, 1);
		in[0] = edit_call(e, OP_add, name, in, 2, NULL, 0);
	}
	Attr shape = attr_ints("shape", y.dim, y.rank);
	return in[0] != DAG_NONE && edit_call_as(e, c, OP_reshape, in, 1, &shape, 1);
}

bool pass_grouped(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, multiply_groups, NULL, err);
}
