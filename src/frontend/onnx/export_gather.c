/*
 * Writes the operators that read or write elements at indices. Each has an ONNX node of the same meaning, but for
 * gather with batch dimensions: GatherND has these, so x and the result are transposed around it.
 */
#include "frontend/onnx/export_call.h"

#include <string.h>

static const char *transposed(const Call *k, const char *x, const int64_t *perm, int rank, const char *result)
{
	OutNode n = out_begin(k->o, "Transpose");
	out_input(&n, x);
	out_ints(&n, "perm", perm, rank);
	out_end(&n, result);
	return result;
}

/*
 * GatherND takes elements along the dimension behind the batch, so the axis of x is moved there. Its result is
 * batch, index, the dimensions between batch and axis, the rest; the second goes behind the third.
 */
static void batched_gather(const Call *k, const char *index, const char *result)
{
	const Dag *d = k->o->dag;
	int rank = d->value.at[k->c->in[0]].shape.rank, n = 0, index_rank = d->value.at[k->c->in[1]].shape.rank;
	int axis = (int)op_int(k->c, "axis"), batch = (int)op_int(k->c, "batch"), places = index_rank - batch;
	int64_t perm[DAG_MAX_RANK], last = index_rank;
	for (int i = 0; i < rank; i++)
		perm[i] = i == batch ? axis : i > batch && i <= axis ? i - 1 : i;
	const char *x = transposed(k, k->in[0], perm, rank, out_name(k->o, k->out[0]));
	OutNode u = out_begin(k->o, "Unsqueeze");
	const char *tuples = out_name(k->o, k->out[0]), *y = out_name(k->o, k->out[0]);
	out_input(&u, index);
	out_input(&u, out_const_ints(k->o, k->out[0], &last, 1));
	out_end(&u, tuples);
	OutNode g = out_begin(k->o, "GatherND");
	out_input(&g, x);
	out_input(&g, tuples);
	out_int(&g, "batch_dims", batch);
	out_end(&g, y);
	for (int i = 0; i < batch; i++)
		perm[n++] = i;
	for (int i = batch; i < axis; i++)
		perm[n++] = places + i;
	for (int i = 0; i < places; i++)
		perm[n++] = batch + i;
	for (int i = axis + 1; i < rank; i++)
		perm[n++] = places + i - 1;
	transposed(k, y, perm, n, result);
}

static void gather(const Call *k, const char *index, const char *result)
{
	if (op_int(k->c, "batch") != 0) {
		batched_gather(k, index, result);
		return;
	}
	OutNode n = out_begin(k->o, "Gather");
	out_input(&n, k->in[0]);
	out_input(&n, index);
	out_int(&n, "axis", op_int(k->c, "axis"));
	out_end(&n, result);
}

bool write_gather(const Call *k)
{
	if (k->c->op == OP_gather) {
		gather(k, k->in[1], k->out[0]);
		return true;
	}
	OutNode n = begin(k);
	if (k->c->op == OP_gather_nd)
		out_int(&n, "batch_dims", op_int(k->c, "batch"));
	else
		out_int(&n, "axis", op_int(k->c, "axis"));
	out_end(&n, k->out[0]);
	return true;
}

/* A node of a new name with two or three inputs. */
static const char *node(const Call *k, const char *type, const char *a, const char *b, const char *c)
{
	const char *name = out_name(k->o, k->out[0]);
	OutNode n = out_begin(k->o, type);
	out_input(&n, a);
	out_input(&n, b);
	out_input(&n, c);
	out_end(&n, name);
	return name;
}

/* Gather, Mul and a reduction. Indices are moved inside; those that were outside get the weight 0, if none has edge. */
bool write_resample(const Call *k)
{
	const Value *x = &k->o->dag->value.at[k->c->in[0]], *index = &k->o->dag->value.at[k->c->in[1]];
	const Value *weight = &k->o->dag->value.at[k->c->in[2]];
	int axis = (int)op_int(k->c, "axis"), batch = (int)op_int(k->c, "batch"), rank = index->shape.rank;
	bool edge = op_int(k->c, "edge") != 0;
	double n = (double)x->shape.dim[axis];
	const char *low = out_const_number(k->o, k->out[0], index->type, edge ? 0 : -n);
	const char *high = out_const_number(k->o, k->out[0], index->type, n - 1);
	const char *at = node(k, "Max", node(k, "Min", k->in[1], high, NULL), low, NULL), *w = k->in[2];
	if (!edge)
		w = node(k, "Where", node(k, "Equal", at, k->in[1], NULL), w,
			out_const_number(k->o, k->out[0], weight->type, 0));
	if (!dtype_eq(weight->type, x->type)) {
		const char *cast = out_name(k->o, k->out[0]);
		OutNode c = out_begin(k->o, "Cast");
		out_input(&c, w);
		out_int(&c, "to", onnx_type_to(x->type));
		out_end(&c, cast);
		w = cast;
	}
	int64_t taps = axis + rank - batch - 1; /* the axis of the taps, once gathered */
	Shape shape = { 0 };
	if (x->shape.rank + rank - batch - 1 > DAG_MAX_RANK)
		return fail(k->o->err, ERR_UNSUPPORTED, k->out[0],
			"a resample with taps in a dimension above %d cannot be written", DAG_MAX_RANK);
	for (int i = 0; i < x->shape.rank + rank - batch - 1; i++)
		shape.dim[shape.rank++] = i < batch                 ? index->shape.dim[i]
								  : i >= axis && i <= taps ? index->shape.dim[batch + i - axis]
														   : 1;
	w = reshaped(k, w, shape, out_name(k->o, k->out[0]));
	const char *taken = out_name(k->o, k->out[0]);
	gather(k, at, taken);
	OutNode sum = out_begin(k->o, op_int(k->c, "max") != 0 ? "ReduceMax" : "ReduceSum");
	out_input(&sum, node(k, "Mul", taken, w, NULL));
	out_input(&sum, out_const_ints(k->o, k->out[0], &taps, 1));
	out_int(&sum, "keepdims", 0);
	out_end(&sum, k->out[0]);
	return true;
}

/* Col2Im, whose input has a channel for each element of a window. */
bool write_fold(const Call *k)
{
	const Shape *x = &k->o->dag->value.at[k->c->in[0]].shape, *y = &k->o->dag->value.at[k->c->out[0]].shape;
	int n = y->rank - 2, count;
	Shape flat = { .rank = 3, .dim = { x->dim[0], x->dim[1], 1 } };
	for (int i = 0; i < n; i++) {
		flat.dim[1] *= x->dim[2 + i];
		flat.dim[2] *= x->dim[2 + n + i];
	}
	const char *in = reshaped(k, k->in[0], flat, out_name(k->o, k->out[0]));
	OutNode fold = out_begin(k->o, "Col2Im");
	out_input(&fold, in);
	out_input(&fold, out_const_ints(k->o, k->out[0], &y->dim[2], n));
	out_input(&fold, out_const_ints(k->o, k->out[0], &x->dim[2], n));
	static const char *const same[] = { "strides", "pads", "dilations" };
	for (int i = 0; i < 3; i++) {
		const int64_t *at = op_ints(k->c, same[i], &count);
		if (at != NULL)
			out_ints(&fold, same[i], at, count);
	}
	return end(k, &fold);
}

int scatter_opset(const OpCall *c)
{
	const char *reduction = op_text(c, "reduction");
	return strcmp(reduction, "min") == 0 || strcmp(reduction, "max") == 0 ? 18 : 17;
}

bool write_scatter(const Call *k)
{
	int count;
	const int64_t *to = op_ints(k->c, "shape", &count);
	const char *x = k->in[0];
	if (to != NULL) {
		OutNode wide = out_begin(k->o, "Expand");
		out_input(&wide, x);
		out_input(&wide, out_const_ints(k->o, k->out[0], to, count));
		x = out_name(k->o, k->out[0]);
		out_end(&wide, x);
	}
	OutNode n = out_begin(k->o, k->type);
	out_input(&n, x);
	out_input(&n, k->in[1]);
	out_input(&n, k->in[2]);
	if (k->c->op == OP_scatter_elements)
		out_int(&n, "axis", op_int(k->c, "axis"));
	out_text(&n, "reduction", op_text(k->c, "reduction"));
	out_end(&n, k->out[0]);
	return true;
}
