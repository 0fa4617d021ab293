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
static bool batched_gather(const Call *k)
{
	const Dag *d = k->o->dag;
	int rank = d->value.at[k->c->in[0]].shape.rank, n = 0;
	const Shape *index = &d->value.at[k->c->in[1]].shape;
	int axis = (int)op_int(k->c, "axis"), batch = (int)op_int(k->c, "batch"), places = index->rank - batch;
	int64_t perm[DAG_MAX_RANK], last = index->rank;
	for (int i = 0; i < rank; i++)
		perm[i] = i == batch ? axis : i > batch && i <= axis ? i - 1 : i;
	const char *x = transposed(k, k->in[0], perm, rank, out_name(k->o, k->out[0]));
	OutNode u = out_begin(k->o, "Unsqueeze");
	const char *tuples = out_name(k->o, k->out[0]), *y = out_name(k->o, k->out[0]);
	out_input(&u, k->in[1]);
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
	transposed(k, y, perm, n, k->out[0]);
	return true;
}

bool write_gather(const Call *k)
{
	if (k->c->op == OP_gather && op_int(k->c, "batch") != 0)
		return batched_gather(k);
	OutNode n = begin(k);
	if (k->c->op == OP_gather_nd)
		out_int(&n, "batch_dims", op_int(k->c, "batch"));
	else
		out_int(&n, "axis", op_int(k->c, "axis"));
	out_end(&n, k->out[0]);
	return true;
}

int scatter_opset(const OpCall *c)
{
	const char *reduction = op_text(c, "reduction");
	return strcmp(reduction, "min") == 0 || strcmp(reduction, "max") == 0 ? 18 : 17;
}

bool write_scatter(const Call *k)
{
	OutNode n = begin(k);
	if (k->c->op == OP_scatter_elements)
		out_int(&n, "axis", op_int(k->c, "axis"));
	out_text(&n, "reduction", op_text(k->c, "reduction"));
	out_end(&n, k->out[0]);
	return true;
}
