/* The second meaning of gathers and scatters: index by index, one update after the other. */
#include "ref_env.h"

#include <math.h>
#include <string.h>

/* The index that tensor 1 holds at `p`; false: it is outside of n elements. */
static bool index_at(const Env *e, const int64_t *p, int64_t n, int64_t *at_index)
{
	int64_t i = (int64_t)at(e->in[1], p);
	*at_index = i < 0 ? i + n : i;
	return *at_index >= 0 && *at_index < n;
}

/* How long x is along dimension k: a scatter's is expanded to `shape`. */
static int64_t size_of(const Env *e, int k)
{
	int n;
	bool scatters = e->c->op == OP_scatter_nd || e->c->op == OP_scatter_elements;
	const int64_t *to = scatters ? op_ints(e->c, "shape", &n) : NULL;
	return to != NULL ? to[k] : e->in[0]->shape.dim[k];
}

/* The place in x that tuple `p` of tensor 1 names, behind `first` dimensions. */
static bool tuple_at(const Env *e, int64_t *p, int first, int64_t *q)
{
	int last = e->in[1]->shape.rank - 1;
	bool in = true;
	for (int k = 0; k < e->in[1]->shape.dim[last]; k++) {
		p[last] = k;
		in = index_at(e, p, size_of(e, first + k), &q[first + k]) && in;
	}
	return in;
}

double ref_gather(const Env *e)
{
	const Tensor *x = e->in[0];
	int rx = x->shape.rank, ri = e->in[1]->shape.rank, op = e->c->op;
	int axis = op == OP_gather_nd ? 0 : (int)op_int(e->c, "axis");
	int batch = op == OP_gather_elements ? 0 : (int)op_int(e->c, "batch");
	int64_t p[DAG_MAX_RANK], q[DAG_MAX_RANK];
	bool in;
	memcpy(p, e->idx, sizeof p);
	memcpy(q, e->idx, sizeof q);
	if (op == OP_gather) {
		for (int k = batch; k < ri; k++)
			p[k] = e->idx[axis + k - batch];
		for (int k = axis + 1; k < rx; k++)
			q[k] = e->idx[k - 1 + ri - batch];
	}
	if (op == OP_gather_nd) {
		in = tuple_at(e, p, batch, q);
		for (int k = batch + (int)e->in[1]->shape.dim[ri - 1], from = ri - 1; k < rx; k++)
			q[k] = e->idx[from++];
	} else {
		in = index_at(e, p, x->shape.dim[axis], &q[axis]);
	}
	return in && x->n > 0 ? at(x, q) : 0;
}

/* All updates in order, those of other elements skipped. */
double ref_scatter(const Env *e)
{
	const Tensor *u = e->in[2];
	const char *how = op_text(e->c, "reduction");
	bool truth = u->type.kind == DT_BOOL, nd = e->c->op == OP_scatter_nd;
	double y = tensor_at(e->in[0], e->idx, e->rank);
	for (int64_t i = 0; i < u->n; i++) {
		int64_t p[DAG_MAX_RANK], q[DAG_MAX_RANK];
		int ri = e->in[1]->shape.rank;
		unravel(u->shape, i, p);
		memcpy(q, p, sizeof q);
		for (int k = nd ? (int)e->in[1]->shape.dim[ri - 1] : e->rank, from = ri - 1; k < e->rank; k++)
			q[k] = p[from++];
		int axis = nd ? 0 : (int)op_int(e->c, "axis");
		bool in = nd ? tuple_at(e, p, 0, q) : index_at(e, p, size_of(e, axis), &q[axis]);
		if (!in || memcmp(q, e->idx, sizeof *q * (size_t)e->rank) != 0)
			continue;
		y = strcmp(how, "none") == 0 ? u->v[i]
			: strcmp(how, "add") == 0 ? (truth ? fmax(y, u->v[i]) : y + u->v[i])
			: strcmp(how, "mul") == 0 ? y * u->v[i]
			: strcmp(how, "min") == 0 ? fmin(y, u->v[i]) : fmax(y, u->v[i]);
	}
	return y;
}

double ref_resample(const Env *e)
{
	const Tensor *x = e->in[0];
	int ri = e->in[1]->shape.rank, axis = (int)op_int(e->c, "axis"), batch = (int)op_int(e->c, "batch");
	int64_t p[DAG_MAX_RANK], q[DAG_MAX_RANK], n = x->shape.dim[axis];
	double sum = 0, most = -INFINITY;
	memcpy(p, e->idx, sizeof p);
	memcpy(q, e->idx, sizeof q);
	for (int k = batch; k < ri - 1; k++)
		p[k] = e->idx[axis + k - batch];
	for (int k = axis + 1; k < x->shape.rank; k++)
		q[k] = e->idx[k - 2 + ri - batch];
	for (p[ri - 1] = 0; p[ri - 1] < e->in[1]->shape.dim[ri - 1]; p[ri - 1]++) {
		bool in = index_at(e, p, n, &q[axis]);
		if (op_int(e->c, "edge") != 0)
			q[axis] = (int64_t)fmin(fmax(at(e->in[1], p), 0), (double)n - 1);
		double product = (in || op_int(e->c, "edge") != 0) && x->n > 0 ? at(e->in[2], p) * at(x, q) : 0;
		sum += product;
		most = fmax(most, product);
	}
	return op_int(e->c, "max") != 0 ? most : sum;
}
