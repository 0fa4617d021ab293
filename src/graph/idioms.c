/*
 * Forms that exporters write and that have a simpler one: powers of 2 and 3, operands expanded before a call that
 * broadcasts by itself, dimensions of one element that come for one call, gathers whose constant indices count up or
 * down.
 */
#include "graph/edit.h"
#include "op/element.h"
#include "op/shape.h"

static bool is_known(const Value *v)
{
	return v->kind == VALUE_CONST && v->data != NULL;
}

/* Calls that broadcast all operands to each other; the first one of prelu, clip and batch_norm says the shape. */
static bool broadcasts(const OpCall *c)
{
	return op_row(c->op)->class == OP_ELEMENTWISE && (c->nin == 2 || c->op == OP_where) && c->op != OP_prelu &&
		c->op != OP_clip;
}

/* pow(x, 2) is x * x, pow(x, 3) is x * x * x. Values of 16 bits are left: they would be rounded twice. */
static bool replace_power(Edit *e, const OpCall *c)
{
	const Value *x = &e->from->value.at[c->in[0]], *n = &e->from->value.at[c->in[1]];
	if (!is_known(n) || shape_elements(n->shape) != 1 || !shape_eq(x->shape, e->from->value.at[c->out[0]].shape) ||
		!dtype_is_float(x->type) || x->type.bits < 32)
		return false;
	double by = element_get(n->type, n->data, 0);
	if (by != 2 && by != 3)
		return false;
	const char *name = e->from->value.at[c->out[0]].name;
	int in[2] = { edit_value(e, c->in[0]), edit_value(e, c->in[0]) };
	if (by == 3)
		in[1] = edit_call(e, OP_mul, arena_printf(e->to->arena, "%s.square", name), in, 2, NULL, 0);
	return in[1] != DAG_NONE && edit_call_as(e, c, OP_mul, in, 2, NULL, 0);
}

/* An operand that an expand writes becomes the expand's own, where the result has the same shape without it. */
static bool drop_expands(Edit *e, const OpCall *c)
{
	int in[3];
	bool any = false;
	for (int k = 0; k < c->nin; k++)
		in[k] = edit_value(e, c->in[k]);
	for (int k = 0; k < c->nin; k++) {
		const OpCall *writer = edit_writer(e, in[k]);
		if (writer == NULL || writer->op != OP_expand)
			continue;
		Shape s = edit_at(e, writer->in[0])->shape;
		bool fits = true;
		for (int i = 0; i < c->nin; i++)
			fits = fits && (i == k || shape_broadcast(s, edit_at(e, in[i])->shape, &s));
		if (!fits || !shape_eq(s, e->from->value.at[c->out[0]].shape))
			continue;
		in[k] = writer->in[0];
		any = true;
	}
	return any && edit_call_as(e, c, c->op, in, c->nin, c->attr, c->nattr);
}

/*
 * reshape(f(reshape(x), constant)), where one reshape adds dimensions of one element and the other drops them, is
 * f(x, constant): so windows get their masks. The constant keeps the dimensions that x has.
 */
static bool drop_detour(Edit *e, const OpCall *c)
{
	Shape s = e->from->value.at[c->out[0]].shape;
	const OpCall *f = edit_writer(e, edit_value(e, c->in[0]));
	if (e->uses[c->in[0]] != 1 || f == NULL || !broadcasts(f) || f->nin != 2)
		return false;
	int t = is_known(edit_at(e, f->in[1])) ? 0 : 1, in[2];
	const OpCall *before = edit_writer(e, f->in[t]);
	Value k = *edit_at(e, f->in[!t]);
	if (before == NULL || before->op != OP_reshape || !is_known(&k))
		return false;
	Shape y = edit_at(e, f->in[t])->shape, narrow = s;
	int64_t wide[DAG_MAX_RANK];
	if (!shape_eq(edit_at(e, before->in[0])->shape, s) || !shape_eq_but_ones(s, y) || k.shape.rank > y.rank ||
		!shape_eq(y, edit_at(e, f->out[0])->shape))
		return false;
	for (int i = 0; i < y.rank; i++)
		wide[i] = i < y.rank - k.shape.rank ? 1 : k.shape.dim[i - (y.rank - k.shape.rank)];
	for (int i = 0, j = 0; i < s.rank; i++) {
		narrow.dim[i] = 1;
		while (s.dim[i] != 1 && y.dim[j] == 1)
			j++;
		if (s.dim[i] != 1)
			narrow.dim[i] = wide[j++];
	}
	OpCall old = *f;
	in[t] = before->in[0];
	in[!t] = edit_const(e, k.name, k.type, narrow, k.data);
	return edit_call_as(e, c, old.op, in, 2, old.attr, old.nattr);
}

/* Places *from, *from + *step, ... of `count` tuples of q indices in the row-major order of dimensions dim[0 .. q). */
static bool counts(const Value *index, int q, const int64_t *dim, int64_t count, int64_t *from, int64_t *step)
{
	int64_t last = 0;
	for (int64_t i = 0; i < count; i++) {
		int64_t place = 0;
		for (int k = 0; k < q; k++) {
			int64_t at = element_get_int(index->type, index->data, i * q + k);
			at = at < 0 ? at + dim[k] : at;
			if (at < 0 || at >= dim[k])
				return false;
			place = place * dim[k] + at;
		}
		if (i == 0)
			*from = place;
		else if (i == 1)
			*step = place - last;
		else if (place - last != *step)
			return false;
		last = place;
	}
	return *step != 0;
}

/* gather and gather_nd at counting places are a slice of a reshape. */
static bool replace_gather(Edit *e, const OpCall *c)
{
	const Value *x = &e->from->value.at[c->in[0]], *index = &e->from->value.at[c->in[1]];
	bool tuples = c->op == OP_gather_nd;
	int axis = tuples ? 0 : (int)op_int(c, "axis");
	if (!is_known(index) || op_int(c, "batch") != 0)
		return false;
	int64_t q = tuples ? index->shape.dim[index->shape.rank - 1] : 1, from = 0, step = 1;
	int64_t count = q > 0 ? shape_elements(index->shape) / q : 0, places = 1;
	if (q < 1 || count < 1 || !counts(index, (int)q, &x->shape.dim[axis], count, &from, &step))
		return false;
	Shape flat = { x->shape.rank - (int)q + 1, { 0 } };
	for (int k = 0; k < (int)q; k++)
		places *= x->shape.dim[axis + k];
	for (int k = 0; k < flat.rank; k++)
		flat.dim[k] = k < axis ? x->shape.dim[k] : k == axis ? places : x->shape.dim[k + q - 1];
	const char *name = e->from->value.at[c->out[0]].name;
	int in = edit_value(e, c->in[0]);
	Attr shape = attr_ints("shape", flat.dim, flat.rank);
	if (!shape_eq(flat, x->shape))
		in = edit_call(e, OP_reshape, arena_printf(e->to->arena, "%s.flat", name), &in, 1, &shape, 1);
	if (in != DAG_NONE && !(from == 0 && step == 1 && count == places)) {
		int64_t starts[DAG_MAX_RANK] = { 0 }, steps[DAG_MAX_RANK];
		for (int k = 0; k < flat.rank; k++)
			steps[k] = k == axis ? step : 1;
		starts[axis] = from;
		flat.dim[axis] = count;
		Attr attr[] = { attr_ints("starts", starts, flat.rank), attr_ints("sizes", flat.dim, flat.rank),
			attr_ints("steps", steps, flat.rank) };
		in = edit_call(e, OP_slice, arena_printf(e->to->arena, "%s.slice", name), &in, 1, attr, 3);
	}
	const Shape *s = &e->from->value.at[c->out[0]].shape;
	Attr whole = attr_ints("shape", s->dim, s->rank);
	return in != DAG_NONE && edit_call_as(e, c, OP_reshape, &in, 1, &whole, 1);
}

static bool rewrite(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	if (c->op == OP_pow && replace_power(e, c))
		return true;
	if (c->op == OP_reshape)
		return drop_detour(e, c);
	if (c->op == OP_gather || c->op == OP_gather_nd)
		return replace_gather(e, c);
	return e->err->code == ERR_NONE && broadcasts(c) && drop_expands(e, c);
}

bool pass_idioms(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, rewrite, NULL, err);
}
