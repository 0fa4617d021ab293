/*
 * Puts padding into the convolution or pooling that reads it. Networks of Keras and TensorFlow pad before each
 * convolution with a stride; the padded copy would be a step of its own, and the convolution another Task than the same
 * one of PyTorch. Left out: padding by reflection, and of codes whose padding is not the convolution's border.
 */
#include "graph/edit.h"

#include <math.h>
#include <string.h>

/* Constant padding of spatial dimensions only, which nothing is cut off by. */
static bool pads_image(const OpCall *pad, int rank)
{
	int n;
	const int64_t *p = op_ints(pad, "pads", &n);
	if (op_text(pad, "mode")[0] != 'c' || n != 2 * rank || rank < 3)
		return false;
	for (int k = 0; k < n; k++)
		if (p[k] < 0 || (k % rank < 2 && p[k] != 0))
			return false;
	return true;
}

static bool is_never_negative(const Dag *d, int value)
{
	const Value *x = &d->value.at[value];
	const OpCall *c = x->kind == VALUE_CALL ? &d->call.at[x->call] : NULL;
	if (c == NULL)
		return false;
	switch (c->op) {
	case OP_relu:
	case OP_sigmoid:
	case OP_exp: return true;
	case OP_abs: return dtype_is_float(x->type); /* the least integer is its own */
	case OP_clip: return c->nin == 1 && op_float(c, "lo") >= 0 && op_float(c, "hi") >= 0;
	default: return false;
	}
}

/*
 * Each window has an element of the image: a maximum over it alone is the same. With pads shorter than a window it
 * reaches the image, and an image as long as a step between taps is not stepped over.
 */
static bool windows_reach(const OpCall *pool, const int64_t *image, const int64_t *pads, int spatial)
{
	int nkernel, nstep;
	const int64_t *kernel = op_ints(pool, "kernel", &nkernel), *step = op_ints(pool, "dilations", &nstep);
	for (int k = 0; k < 2 * spatial; k++) {
		int64_t between = nstep > 0 ? step[k % spatial] : 1;
		if (pads[k] >= (kernel[k % spatial] - 1) * between + 1 || image[k % spatial] < between)
			return false;
	}
	return true;
}

static bool all_zero(const OpCall *c, const char *name)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	for (int k = 0; k < n; k++)
		if (v[k] != 0)
			return false;
	return true;
}

/* Whether `c` with the padding `pads` in all gives what it gives with that of `pad` before it. */
static bool may_take(const Dag *d, const OpCall *c, const OpCall *pad, const int64_t *pads, int spatial)
{
	double value = op_float(pad, "value");
	switch (c->op) {
	case OP_conv: return value == (double)op_int(c, "border");
	case OP_max_pool:
		return windows_reach(c, d->value.at[pad->in[0]].shape.dim + 2, pads, spatial) && op_int(c, "ceil") == 0 &&
		       (value == -INFINITY || (value == 0 && is_never_negative(d, pad->in[0])));
	case OP_avg_pool:
		return value == 0 && op_int(c, "ceil") == 0 && (op_int(c, "count_pad") != 0 || all_zero(c, "pads"));
	default: return false;
	}
}

static bool take_padding(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	const Dag *d = e->from;
	const Value *x = c->op == OP_conv || c->op == OP_max_pool || c->op == OP_avg_pool ? &d->value.at[c->in[0]] : NULL;
	const OpCall *pad = x != NULL && x->kind == VALUE_CALL ? &d->call.at[x->call] : NULL;
	if (pad == NULL || pad->op != OP_pad || !pads_image(pad, x->shape.rank))
		return false;
	int nown, nmore, rank = x->shape.rank, spatial = rank - 2;
	const int64_t *own = op_ints(c, "pads", &nown), *more = op_ints(pad, "pads", &nmore);
	int64_t pads[2 * DAG_MAX_RANK];
	for (int k = 0; k < 2 * spatial; k++)
		pads[k] = (nown > 0 ? own[k] : 0) + more[k < spatial ? 2 + k : rank + 2 + k - spatial];
	if (shape_elements(d->value.at[pad->in[0]].shape) == 0 || !may_take(d, c, pad, pads, spatial))
		return false;
	Attr attr[8];
	int nattr = 0, nin = 0, in[8];
	for (int k = 0; k < c->nattr; k++)
		if (strcmp(c->attr[k].name, "pads") != 0 && strcmp(c->attr[k].name, "count_pad") != 0)
			attr[nattr++] = c->attr[k];
	attr[nattr++] = attr_ints("pads", pads, 2 * spatial);
	if (c->op == OP_avg_pool)
		attr[nattr++] = attr_int("count_pad", 1);
	in[nin++] = edit_value(e, pad->in[0]);
	for (int k = 1; k < c->nin; k++)
		in[nin++] = c->in[k] == DAG_NONE ? DAG_NONE : edit_value(e, c->in[k]);
	return edit_call_as(e, c, c->op, in, nin, attr, nattr);
}

bool pass_padded(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, take_padding, NULL, err);
}
