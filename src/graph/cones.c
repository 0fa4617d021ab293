/*
 * Groups of elementwise calls and reductions of rows. A group grows from its last call towards what that reads: a call
 * joins the group that has all readers of its result. So only the last result is read outside, branches that meet
 * again are inside, and calls between two members are members.
 *
 * A group has one shape S, and a set R of axes that its reductions go over: the others say in which row an element is.
 * Its values have as many elements as S, or they are statistics of rows, with 1 where S has an axis of R:
 *
 *	mean = reduce_mean(x); d = sub(x, mean); var = reduce_mean(mul(d, d)); y = div(d, sqrt(add(var, eps)))
 *
 * A softmax goes over rows, too. A value of another shape and a reduction over other axes are in other groups.
 */
#include "graph/cones.h"

#include "graph/group.h"

typedef struct Rows {
	int n;       /* calls of the group */
	Shape full;  /* S */
	unsigned over; /* R, bit k for axis k; 0: not known yet */
} Rows;

typedef struct Cones {
	const Dag *d;
	const Readers *r;
	int *root;
	Rows *rows;      /* of each last call */
	int *reduction;  /* of each value: the call that gives it, or those of which it is made, for each row; -1: none */
} Cones;

static const Value *value_of(const Cones *c, int v)
{
	return &c->d->value.at[v];
}

static bool same_count(Shape a, Shape b)
{
	return shape_elements(a) == shape_elements(b);
}

/* Read beside elements of S, a statistic has one value for each row: its dimensions are 1 or missing along R alone. */
static bool spreads_over_rows(Shape v, Shape full, unsigned over)
{
	for (int k = 0; k < full.rank; k++) {
		int at = k + v.rank - full.rank;
		int64_t own = at >= 0 ? v.dim[at] : 1;
		if (full.dim[k] != 1 && own != ((over >> k & 1) != 0 ? 1 : full.dim[k]))
			return false;
	}
	return v.rank <= full.rank;
}

/* Which reduction's statistics a result is: its own, or that of an operand with as many elements. */
static void note_reduction(Cones *c, int i)
{
	const OpCall *call = &c->d->call.at[i];
	const OpRow *row = op_row(call->op);
	Shape out = value_of(c, call->out[0])->shape;
	for (int k = 0; k < call->nout; k++)
		c->reduction[call->out[k]] = -1;
	if ((row->traits & OP_ROWS) != 0 && !shape_eq(out, value_of(c, call->in[0])->shape))
		c->reduction[call->out[0]] = i;
	for (int k = 0; k < call->nin && row->class == OP_ELEMENTWISE && c->reduction[call->out[0]] < 0; k++)
		if (call->in[k] != DAG_NONE && same_count(out, value_of(c, call->in[k])->shape))
			c->reduction[call->out[0]] = c->reduction[call->in[k]];
}

static Rows rows_of(const Cones *c, int i)
{
	const OpCall *call = &c->d->call.at[i];
	int from = (op_row(call->op)->traits & OP_ROWS) != 0 ? i : c->reduction[call->out[0]];
	if (from < 0)
		return (Rows){ 1, value_of(c, call->out[0])->shape, 0 };
	call = &c->d->call.at[from];
	return (Rows){ 1, value_of(c, call->in[0])->shape, op_row_axes(c->d, call) };
}

/* The last call of the group that has all readers of the call's result; -1: there is none. */
static int group_of_readers(const Cones *c, int i)
{
	const OpCall *call = &c->d->call.at[i];
	int v = call->out[0], first = c->r->readers[v], end = c->r->readers[v + 1];
	if (call->nout != 1 || c->r->outputs[v] || first == end)
		return -1;
	int g = c->root[c->r->reader[first]];
	for (int k = first; k < end; k++)
		if (c->root[c->r->reader[k]] != g)
			return -1;
	return g;
}

/* Each reader's result has one value for each row, or the reader broadcasts v over the elements of a row. */
static bool is_statistic(const Cones *c, const Rows *g, int v)
{
	Shape s = value_of(c, v)->shape;
	for (int k = c->r->readers[v]; k < c->r->readers[v + 1]; k++) {
		const OpCall *reader = &c->d->call.at[c->r->reader[k]];
		if (op_row(reader->op)->class != OP_ELEMENTWISE ||
			(!same_count(s, value_of(c, reader->out[0])->shape) && !spreads_over_rows(s, g->full, g->over)))
			return false;
	}
	return true;
}

/* Whether the call may be a member; the group's axes are known then. */
static bool joins(const Cones *c, Rows *g, int i)
{
	const OpCall *call = &c->d->call.at[i];
	Shape out = value_of(c, call->out[0])->shape;
	bool reduces = (op_row(call->op)->traits & OP_ROWS) != 0;
	if (g->n >= LONGEST_GROUP)
		return false;
	if (!reduces && same_count(out, g->full) && c->reduction[call->out[0]] < 0)
		return true;
	Rows own = rows_of(c, i);
	if (!shape_eq(own.full, g->full) || (g->over != 0 && own.over != g->over))
		return false;
	Rows with = { g->n, g->full, own.over };
	if (!shape_eq(out, g->full) && !is_statistic(c, &with, call->out[0]))
		return false;
	g->over = own.over;
	return true;
}

void graph_find_cones(Arena *a, const Dag *d, const Readers *r, const bool *loose, int *root)
{
	Cones c = { .d = d, .r = r, .root = root };
	c.rows = arena_array(a, Rows, d->call.n + 1);
	c.reduction = arena_array(a, int, d->value.n + 1);
	for (size_t v = 0; v < d->value.n; v++)
		c.reduction[v] = -1;
	for (int i = 0; i < (int)d->call.n; i++) {
		root[i] = -1;
		if (loose[i])
			note_reduction(&c, i);
	}
	for (int i = (int)d->call.n - 1; i >= 0; i--) {
		if (!loose[i])
			continue;
		int g = group_of_readers(&c, i);
		if (g >= 0 && joins(&c, &c.rows[g], i)) {
			root[i] = g;
			c.rows[g].n++;
		} else {
			root[i] = i;
			c.rows[i] = rows_of(&c, i);
		}
	}
}
