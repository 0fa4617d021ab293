/*
 * Divisions by a number that many elements share are products with its reciprocal: a layer norm's deviation, the
 * divisor of a scale, the square root in a GELU. A division of a vector takes as long as ten products. Results change
 * by the rounding of the reciprocal. So a division stays where elementwise calls behind it round its quotient to an
 * integer or compare it: there the last bit may become a whole step. A constant stays whose reciprocal is not a normal
 * number; a divisor that is computed counts as 0 where its reciprocal would be infinite.
 */
#include "graph/edit.h"

#include <math.h>

/* Whether a difference in the last bit of an operand may be a large one of the result. */
static bool is_step(const Dag *d, const OpCall *c)
{
	switch (c->op) {
	case OP_floor:
	case OP_ceil:
	case OP_round:
	case OP_mod:
	case OP_bitcast: return true;
	default: return !dtype_is_float(d->value.at[c->out[0]].type);
	}
}

/* Of each value: elementwise calls and moves lead from it to a step. */
static bool *find_stepped(const Dag *d, Arena *a)
{
	bool *stepped = arena_array(a, bool, d->value.n + 1);
	for (size_t i = d->call.n; i-- > 0;) {
		const OpCall *c = &d->call.at[i];
		OpClass class = op_row(c->op)->class;
		bool steps = class == OP_ELEMENTWISE && is_step(d, c);
		for (int k = 0; k < c->nout; k++)
			steps |= stepped[c->out[k]];
		for (int k = 0; k < c->nin && steps && (class == OP_ELEMENTWISE || class == OP_MOVE); k++)
			if (c->in[k] != DAG_NONE)
				stepped[c->in[k]] = true;
	}
	return stepped;
}

/* The data of 1 / v; NULL: v has no data, is of another type, or an element has no normal reciprocal. */
static void *reciprocals(Arena *a, const Value *v)
{
	int64_t n = shape_elements(v->shape);
	if (v->data == NULL || n < 1 || !dtype_eq(v->type, F32))
		return NULL;
	const float *from = v->data;
	float *to = arena_array(a, float, n);
	for (int64_t i = 0; i < n; i++) {
		to[i] = 1 / from[i];
		if (!isnormal(to[i]))
			return NULL;
	}
	return to;
}

static bool multiply(Edit *e, const OpCall *c, void *arg)
{
	const bool *stepped = arg;
	const Value *y = &e->from->value.at[c->out[0]];
	if (c->op != OP_div || !dtype_eq(y->type, F32) || stepped[c->out[0]])
		return false;
	const Value *by = &e->from->value.at[c->in[1]];
	if (shape_elements(by->shape) * GRAPH_SHARED > shape_elements(y->shape))
		return false;
	int in[2];
	if (by->kind == VALUE_CONST) {
		void *data = reciprocals(e->to->arena, by);
		if (data == NULL)
			return false;
		in[1] = edit_const(e, by->name, F32, by->shape, data);
	} else {
		static const float one = 1;
		int of[2] = { edit_const(e, "one", F32, shape_of(0, NULL), &one), edit_value(e, c->in[1]) };
		in[1] = edit_call(e, OP_div, by->name, of, 2, NULL, 0);
	}
	in[0] = edit_value(e, c->in[0]);
	return in[1] != DAG_NONE && edit_call_as(e, c, OP_mul, in, 2, NULL, 0);
}

bool pass_reciprocal(Dag *d, EvalFn eval, Err *err)
{
	Arena *own = arena_new();
	bool ok = edit_dag(d, eval, multiply, find_stepped(d, own), err);
	arena_free(own);
	return ok;
}
