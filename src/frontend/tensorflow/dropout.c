/*
 * Leaves out the dropout of graphs that were trained and then frozen. There a layer is multiplied by a mask of random
 * numbers, floor(keep + random) or random >= rate, and divided by the share that is kept. For inference nothing is
 * dropped, so the product is the layer's input.
 */
#include "frontend/tensorflow/graph.h"

#include <string.h>

enum { LONGEST_MASK = 8 /* Ops between the random numbers and the product */ };

static bool is_any(const TfOp *op, const char *const *kinds)
{
	for (; *kinds != NULL; kinds++)
		if (op_is(op, *kinds))
			return true;
	return false;
}

/* Random numbers, as they are or scaled, moved, compared, rounded. */
static bool is_mask(TfOps *o, TfRef r, int steps)
{
	static const char *const random[] = { "RandomUniform", "RandomStandardNormal", "StatelessRandomUniform",
		"StatelessRandomUniformV2", NULL };
	static const char *const between[] = { "Mul", "Add", "AddV2", "Sub", "Floor", "GreaterEqual", "Cast", "Identity",
		"SelectV2", NULL };
	const TfOp *op = &o->op.at[r.op];
	if (is_any(op, random))
		return true;
	bool found = false;
	for (size_t k = 0; k < op->in.n && k < 3 && steps > 0 && !found && is_any(op, between); k++)
		found = is_mask(o, op->in.at[k], steps - 1);
	return found;
}

/* x / keep, or x * (1 / keep): what a dropout's input is divided by. */
static TfRef undivided(TfOps *o, TfRef r)
{
	const TfOp *op = &o->op.at[r.op];
	bool product = op_is(op, "Mul") && op->in.n == 2, quotient = op_is(op, "RealDiv") || op_is(op, "Div");
	if (quotient && op->in.n == 2)
		return op->in.at[0];
	for (int k = 0; k < 2 && product; k++) {
		const TfOp *by = &o->op.at[op->in.at[k].op];
		if (op_is(by, "Const") || op_is(by, "RealDiv"))
			return op->in.at[1 - k];
	}
	return r;
}

void tf_leave_out_dropout(TfOps *o)
{
	static const char *const ends[] = { "Floor", "Cast", "GreaterEqual", NULL };
	for (size_t k = 0; k < o->op.n; k++) {
		TfOp *op = &o->op.at[k];
		if (!op->live || op->in.n < 2 || !(op_is(op, "Mul") || op_is(op, "SelectV2")))
			continue;
		bool chosen = op_is(op, "SelectV2");
		for (size_t i = 0; i < (chosen ? 1 : op->in.n); i++) {
			TfRef mask = op->in.at[i], x = op->in.at[chosen ? 1 : 1 - i];
			if (!is_any(&o->op.at[mask.op], ends) || !is_mask(o, mask, LONGEST_MASK))
				continue;
			TfRefs in = { 0 };
			vec_push(o->all->arena, &in, undivided(o, x));
			op->kind = "Identity";
			op->from = NULL;
			op->in = in;
			break;
		}
	}
}
