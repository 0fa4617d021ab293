/*
 * Rows that are divided by their own length need their own accuracy. A fast product's error is small beside the largest
 * row of its result, not beside each: a row of zeros, as padding has them, becomes a little noise, and the noise over
 * its length is a unit vector. So a dense layer whose result goes to a sum of squares is marked: rows=1. Only moves may
 * stand between: behind a residual or a shift no row is that small.
 */
#include "graph/edit.h"

/* What becomes of a value: it is summed; its square is. */
enum { SUMMED = 1, SQUARED = 2 };

static unsigned char *find_lengths(const Dag *d, Arena *a)
{
	unsigned char *use = arena_array(a, unsigned char, d->value.n + 1);
	for (size_t i = d->call.n; i-- > 0;) {
		const OpCall *c = &d->call.at[i];
		bool moves = op_row(c->op)->class == OP_MOVE;
		unsigned char later = 0;
		for (int k = 0; k < c->nout; k++)
			later |= use[c->out[k]];
		if (c->op == OP_reduce_sum || c->op == OP_reduce_mean)
			use[c->in[0]] |= SUMMED;
		if (c->op == OP_mul && c->in[0] == c->in[1] && (later & SUMMED) != 0)
			use[c->in[0]] |= SQUARED;
		for (int k = 0; k < c->nin && moves; k++)
			if (c->in[k] != DAG_NONE)
				use[c->in[k]] |= later;
	}
	return use;
}

static bool mark(Edit *e, const OpCall *c, void *arg)
{
	const unsigned char *use = arg;
	if (c->op != OP_dense || (use[c->out[0]] & SQUARED) == 0 || op_int(c, "rows") != 0 ||
		!dtype_eq(e->from->value.at[c->out[0]].type, F32))
		return false;
	int in[] = { edit_value(e, c->in[0]), edit_value(e, c->in[1]), DAG_NONE };
	if (c->nin > 2 && c->in[2] != DAG_NONE)
		in[2] = edit_value(e, c->in[2]);
	Attr attr[] = { attr_int("tf32", op_int(c, "tf32")), attr_int("rows", 1) };
	return edit_call_as(e, c, OP_dense, in, in[2] != DAG_NONE ? 3 : 2, attr, 2);
}

bool pass_lengths(Dag *d, EvalFn eval, Err *err)
{
	Arena *own = arena_new();
	bool ok = edit_dag(d, eval, mark, find_lengths(d, own), err);
	arena_free(own);
	return ok;
}
