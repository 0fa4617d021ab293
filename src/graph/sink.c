/*
 * Moves elementwise calls from behind a transpose or reshape of a product's result to before it, so that they join the
 * product's group: add(transpose(dense(x)), y) is transpose(add(dense(x), transpose'(y))). The transpose that y gets
 * meets the one that made y in most networks (residual sums between layers that want their channels last), or is a
 * view. Constants are turned here. Each element stays the same.
 */
#include "graph/edit.h"

#include <string.h>

enum { LONGEST_WALK = 24 /* calls between a product and the move behind it, with those of other operands */ };

static bool is_move(const OpCall *c)
{
	return c != NULL && (c->op == OP_transpose || c->op == OP_reshape);
}

/*
 * Whether new value v comes from a product through moves and elementwise calls of as many elements. *walk: how many
 * calls may still be looked at.
 */
static bool is_of_product(const Edit *e, int v, int *walk)
{
	const OpCall *c = edit_writer(e, v);
	int64_t n = shape_elements(edit_at(e, v)->shape);
	if (c == NULL || op_row(c->op)->class == OP_ANCHOR)
		return c != NULL;
	if ((!is_move(c) && op_row(c->op)->class != OP_ELEMENTWISE) || --*walk < 0)
		return false;
	for (int k = 0; k < c->nin; k++)
		if (c->in[k] != DAG_NONE && edit_at(e, c->in[k])->kind == VALUE_CALL &&
			shape_elements(edit_at(e, c->in[k])->shape) == n && is_of_product(e, c->in[k], walk))
			return true;
	return false;
}

static bool same_move(const OpCall *a, const OpCall *b)
{
	int n, m;
	if (!is_move(a) || !is_move(b) || a->op != b->op)
		return false;
	const int64_t *x = op_ints(a, a->op == OP_transpose ? "perm" : "shape", &n);
	const int64_t *y = op_ints(b, b->op == OP_transpose ? "perm" : "shape", &m);
	return n == m && memcmp(x, y, sizeof *x * (size_t)n) == 0;
}

/* Both shapes are read in parts of equal products; in each, `wide` has all or one. */
bool sink_split(Shape to, const int64_t *wide, Shape from, int64_t *out)
{
	for (int i = 0, j = 0; i < to.rank || j < from.rank;) {
		int64_t p = 1, q = 1, all = 1;
		int first = j;
		do {
			if (q < p || i == to.rank)
				q *= from.dim[j++];
			else {
				p *= to.dim[i];
				all *= wide[i++];
			}
		} while (p != q && (i < to.rank || j < from.rank));
		if (p != q || (all != 1 && all != p))
			return false;
		for (int k = first; k < j; k++)
			out[k] = all == 1 ? 1 : from.dim[k];
	}
	return true;
}

static int without_leading_ones(Edit *e, Value v, Shape s, const void *data)
{
	int ones = 0;
	while (ones + 1 < s.rank && s.dim[ones] == 1)
		ones++;
	return edit_const(e, v.name, v.type, shape_of(s.rank - ones, s.dim + ones), data);
}

/* A constant that is broadcast to the move's result, as it is broadcast to the move's operand; DAG_NONE: it cannot. */
static int turn_const(Edit *e, const OpCall *move, Shape to, Shape from, Value v)
{
	int64_t inverse[DAG_MAX_RANK];
	Shape wide = { to.rank, { 0 } }, turned = { from.rank, { 0 } };
	int n;
	if (v.shape.rank > to.rank || (v.data == NULL && move->op == OP_transpose))
		return DAG_NONE;
	for (int k = 0; k < to.rank; k++) {
		int at = k - (to.rank - v.shape.rank);
		wide.dim[k] = at < 0 ? 1 : v.shape.dim[at];
	}
	if (move->op == OP_reshape)
		return sink_split(to, wide.dim, from, turned.dim) ? without_leading_ones(e, v, turned, v.data) : DAG_NONE;
	const int64_t *perm = op_ints(move, "perm", &n);
	for (int k = 0; k < n; k++) {
		inverse[perm[k]] = k;
		turned.dim[perm[k]] = wide.dim[k];
	}
	v.shape = wide;
	const void *data = fold_transpose(e->to->arena, &v, inverse);
	return data == NULL ? DAG_NONE : without_leading_ones(e, v, turned, data);
}

/* New value v, broadcast to the move's result, as an operand of what stands before the move; DAG_NONE: it cannot. */
static int turn(Edit *e, const OpCall *move, Shape from, int v)
{
	const Value x = *edit_at(e, v);
	const OpCall *writer = edit_writer(e, v);
	const Shape to = edit_at(e, move->out[0])->shape;
	int n;
	if (same_move(writer, move) && shape_eq(edit_at(e, writer->in[0])->shape, from))
		return writer->in[0];
	if (shape_elements(x.shape) == 1 && x.shape.rank <= from.rank)
		return v;
	if (x.kind == VALUE_CONST && !shape_eq(x.shape, to))
		return turn_const(e, move, to, from, x);
	if (!shape_eq(x.shape, to))
		return DAG_NONE;
	int64_t inverse[DAG_MAX_RANK];
	const char *name = arena_printf(e->to->arena, "%s.turned", x.name);
	if (move->op == OP_reshape) {
		Attr shape = attr_ints("shape", from.dim, from.rank);
		return edit_call(e, OP_reshape, name, &v, 1, &shape, 1);
	}
	const int64_t *perm = op_ints(move, "perm", &n);
	for (int k = 0; k < n; k++)
		inverse[perm[k]] = k;
	Attr attr = attr_ints("perm", inverse, n);
	return edit_call(e, OP_transpose, name, &v, 1, &attr, 1);
}

/* The operand of an elementwise call that is a move of a product's result, as large as the call's; DAG_NONE: none. */
static int moved_operand(const Edit *e, const OpCall *c, const int *in)
{
	Shape s = e->from->value.at[c->out[0]].shape;
	for (int k = 0; k < c->nin; k++) {
		const OpCall *move = in[k] != DAG_NONE ? edit_writer(e, in[k]) : NULL;
		int walk = LONGEST_WALK;
		if (is_move(move) && e->uses[c->in[k]] == 1 && shape_eq(edit_at(e, in[k])->shape, s) &&
			is_of_product(e, move->in[0], &walk))
			return in[k];
	}
	return DAG_NONE;
}

bool sink_call(Edit *e, const OpCall *c)
{
	const OpRow *row = op_row(c->op);
	OpCall move[DAG_MAX_RANK]; /* outermost first */
	int n = 0;
	if (row->class != OP_ELEMENTWISE || c->nout != 1 || c->op == OP_batch_norm) /* its axis is 1, wherever that goes */
		return false;
	int *in = arena_array(e->to->arena, int, c->nin + 1), *turned = arena_array(e->to->arena, int, c->nin + 1);
	for (int k = 0; k < c->nin; k++)
		in[k] = edit_value(e, c->in[k]);
	int v = moved_operand(e, c, in);
	while (v != DAG_NONE && n < DAG_MAX_RANK && is_move(edit_writer(e, v))) {
		move[n] = *edit_writer(e, v);
		Shape from = edit_at(e, move[n].in[0])->shape;
		bool ok = true;
		for (int k = 0; ok && k < c->nin; k++) {
			turned[k] = in[k] == DAG_NONE ? DAG_NONE : turn(e, &move[n], from, in[k]);
			ok = (turned[k] == DAG_NONE) == (in[k] == DAG_NONE);
		}
		if (!ok)
			break;
		memcpy(in, turned, sizeof *in * (size_t)c->nin);
		v = move[n++].in[0];
	}
	if (n == 0 || e->err->code != ERR_NONE)
		return false;
	Arena *a = e->to->arena;
	const char *name = e->from->value.at[c->out[0]].name;
	int y = edit_call(e, c->op, arena_printf(a, "%s.before", name), in, c->nin, c->attr, c->nattr);
	while (--n > 0 && y != DAG_NONE)
		y = edit_call(e, move[n].op, arena_printf(a, "%s.moved", name), &y, 1, move[n].attr, move[n].nattr);
	return y != DAG_NONE && edit_call_as(e, c, move[0].op, &y, 1, move[0].attr, move[0].nattr);
}

static bool sink(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	return sink_call(e, c);
}

bool pass_sink(Dag *d, EvalFn eval, Err *err)
{
	return edit_dag(d, eval, sink, NULL, err);
}
