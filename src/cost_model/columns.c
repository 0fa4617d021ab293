/* See columns.h. */
#include "cost_model/columns.h"

#include "cost_model/cost.h"
#include "ir/dtype.h"

#include <string.h>

void columns_begin(Columns *c, const CostNest *n, int points, int64_t *room)
{
	c->n = n;
	c->points = points;
	c->loops = 0;
	c->nname = c->used = 0;
	c->room = room;
	memset(c->known, 0, sizeof c->known);
}

int64_t *columns_room(Columns *c)
{
	return c->used < COLUMNS ? c->room + (size_t)c->used++ * (size_t)c->points : NULL;
}

static int64_t at(const Column *x, int i)
{
	return x->at != NULL ? x->at[i] : x->value;
}

/* Quotients by a positive constant, towards minus infinity. Most divisors are powers of 2, most numbers small. */
static int64_t quotient(int64_t a, int64_t by, int shift)
{
	if (shift >= 0)
		return a >> shift;
	if ((uint64_t)a <= UINT32_MAX && by <= UINT32_MAX)
		return (int64_t)((uint32_t)a / (uint32_t)by);
	return a / by - (a % by < 0);
}

static bool divide(Node op, const Column *a, const Column *b, int points, int64_t *out)
{
	int shift = -1;
	if (b->at != NULL || b->value < 1)
		return false;
	if ((b->value & (b->value - 1)) == 0)
		shift = __builtin_ctzll((unsigned long long)b->value);
	for (int i = 0; i < points; i++) {
		int64_t x = at(a, i), q = quotient(x, b->value, shift);
		out[i] = op == IR_DIV ? q : x - q * b->value;
	}
	return true;
}

#define EACH(value) \
	for (int i = 0; i < points; i++) { \
		int64_t x = at(a, i), y = at(b, i); \
		out[i] = value; \
	} \
	return true
#define EACH_EXACT(function) \
	for (int i = 0; i < points; i++) \
		wraps |= function(at(a, i), at(b, i), &out[i]); \
	return !wraps

static bool apply(Node op, const Column *a, const Column *b, int points, int64_t *out)
{
	bool wraps = false;
	switch (op) {
	case IR_ADD: EACH_EXACT(__builtin_add_overflow);
	case IR_SUB: EACH_EXACT(__builtin_sub_overflow);
	case IR_MUL: EACH_EXACT(__builtin_mul_overflow);
	case IR_DIV:
	case IR_MOD: return divide(op, a, b, points, out);
	case IR_MIN: EACH(x < y ? x : y);
	case IR_MAX: EACH(x < y ? y : x);
	case IR_LT: EACH(x < y);
	case IR_LE: EACH(x <= y);
	case IR_EQ: EACH(x == y);
	case IR_NE: EACH(x != y);
	case IR_AND: EACH(x & y);
	case IR_OR: EACH(x | y);
	case IR_XOR: EACH(x ^ y);
	default: return false;
	}
}

/* An operation on two arguments. */
static bool combine(Columns *c, Node op, const Column *a, const Column *b, Column *out)
{
	*out = (Column){ 0 };
	if (a->at == NULL && b->at == NULL)
		return apply(op, a, b, 1, &out->value);
	int64_t *to = columns_room(c);
	out->at = to;
	return to != NULL && apply(op, a, b, c->points, to);
}

static bool choose(Columns *c, const Column *cond, const Column *a, const Column *b, Column *out)
{
	if (cond->at == NULL) {
		*out = cond->value != 0 ? *a : *b;
		return true;
	}
	int64_t *to = columns_room(c);
	for (int i = 0; to != NULL && i < c->points; i++)
		to[i] = cond->at[i] != 0 ? at(a, i) : at(b, i);
	*out = (Column){ to, 0 };
	return to != NULL;
}

static bool column(Columns *c, const Expr *e, int depth, Column *out);

static bool named(Columns *c, const Expr *e, int depth, Column *out)
{
	for (int k = 0; k < c->nname; k++)
		if (c->name[k] == e->name) {
			*out = c->of_name[k];
			return true;
		}
	int i = nest_find_bind(c->n, e->name);
	if (i < 0)
		return false;
	const Bind *x = &c->n->bind[i];
	if (x->value != NULL)
		return column(c, x->value, depth - 1, out);
	*out = (Column){ NULL, x->number };
	for (int l = 0; l < c->n->nloop && c->loops != 0; l++)
		if ((c->loops >> l & 1) != 0 && c->n->loop[l].var == e->name)
			out->at = c->loop[l];
	return true;
}

static bool compute(Columns *c, const Expr *e, int depth, Column *out)
{
	static const Column zero = { NULL, 0 };
	Column x[3];
	int n = e->nargs;
	if (n < 1 || n > 3 || e->op == IR_LOAD || dtype_is_float(e->type))
		return false;
	for (int k = 0; k < n; k++)
		if (!column(c, e->arg[k], depth - 1, &x[k]))
			return false;
	switch (e->op) {
	case IR_CAST: *out = x[0]; return true;
	case IR_NEG: return combine(c, IR_SUB, &zero, &x[0], out);
	case IR_NOT: return combine(c, IR_EQ, &x[0], &zero, out);
	case IR_SELECT: return choose(c, &x[0], &x[1], &x[2], out);
	default: return n == 2 && combine(c, e->op, &x[0], &x[1], out);
	}
}

static bool column(Columns *c, const Expr *e, int depth, Column *out)
{
	if (depth == 0)
		return false;
	if (e->op == IR_INT) {
		*out = (Column){ NULL, e->i };
		return true;
	}
	if (e->op == IR_VAR)
		return named(c, e, depth, out);
	size_t slot = e->id % COLUMN_MEMO;
	if (c->known[slot] == e) {
		*out = c->column[slot];
		return true;
	}
	if (!compute(c, e, depth, out))
		return false;
	c->known[slot] = e;
	c->column[slot] = *out;
	return true;
}

bool columns_of(Columns *c, const Expr *e, Column *out)
{
	return column(c, e, COST_DEPTH, out);
}
