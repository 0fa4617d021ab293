/* See order.h. A digit that crosses the end of a dimension is cut there; a permutation then gives each a new step. */
#include "graph/order.h"

#include "op/layout.h"
#include "op/op.h"

#include <string.h>

/* Row-major steps of the dimensions; false: there are no elements, or too many. */
static bool steps_of(Shape s, int64_t *step)
{
	int64_t n = 1;
	for (int k = s.rank - 1; k >= 0; k--) {
		step[k] = n;
		if (s.dim[k] < 1 || __builtin_mul_overflow(n, s.dim[k], &n))
			return false;
	}
	return true;
}

static bool push(Order *o, int64_t step, int64_t extent)
{
	if (extent == 1)
		return true;
	if (o->n == ORDER_DIGITS)
		return false;
	o->digit[o->n++] = (Digit){ step, extent };
	return true;
}

/* Joins neighbours that are one loop. */
static void join(Order *o)
{
	int n = 0;
	for (int i = 0; i < o->n; i++) {
		Digit *last = n > 0 ? &o->digit[n - 1] : NULL;
		if (last != NULL && last->step == o->digit[i].step * o->digit[i].extent)
			*last = (Digit){ o->digit[i].step, last->extent * o->digit[i].extent };
		else
			o->digit[n++] = o->digit[i];
	}
	o->n = n;
}

bool order_of(const char *layout, Shape s, Order *out)
{
	int64_t step[DAG_MAX_RANK], inside[DAG_MAX_RANK];
	Layout l;
	*out = (Order){ 0 };
	if (!steps_of(s, step) || !layout_read(layout, s, &l))
		return false;
	for (int k = 0; k < s.rank; k++)
		inside[k] = 1;
	for (int k = 0; k < l.n; k++) {
		inside[l.of[k]] *= l.extent[k];
		if (!push(out, step[l.of[k]] * l.step[k], l.extent[k]))
			return false;
	}
	for (int k = 0; k < s.rank; k++)
		if (inside[k] != s.dim[k])
			return false;
	join(out);
	return true;
}

bool order_eq(const Order *a, const Order *b)
{
	return a->n == b->n && memcmp(a->digit, b->digit, sizeof *a->digit * (size_t)a->n) == 0;
}

/* Cuts digits so that each lies within one dimension of s: dim[k] is that of digit k. */
static bool cut(Order *o, Shape s, int *dim)
{
	int64_t step[DAG_MAX_RANK];
	Order whole = *o;
	*o = (Order){ 0 };
	if (!steps_of(s, step))
		return false;
	for (int i = 0; i < whole.n; i++) {
		Digit rest = whole.digit[i], part[DAG_MAX_RANK];
		int of[DAG_MAX_RANK], n = 0;
		for (int k = s.rank - 1; k >= 0 && rest.extent > 1; k--) {
			int64_t end = step[k] * s.dim[k];
			if (rest.step < step[k] || rest.step >= end)
				continue;
			if (rest.step % step[k] != 0 || end % rest.step != 0)
				return false;
			int64_t room = end / rest.step, take = rest.extent < room ? rest.extent : room;
			if (room % take != 0 || rest.extent % take != 0)
				return false;
			of[n] = k;
			part[n++] = (Digit){ rest.step, take };
			rest = (Digit){ end, rest.extent / take };
		}
		if (rest.extent > 1)
			return false;
		while (--n >= 0) {
			if (o->n == ORDER_DIGITS)
				return false;
			dim[o->n] = of[n];
			o->digit[o->n++] = part[n];
		}
	}
	return true;
}

/* Digits of dimension k of `from` become digits of dimension to[k] of `by`. */
static bool turn(Order *o, Shape from, Shape by, const int *to)
{
	int64_t before[DAG_MAX_RANK], after[DAG_MAX_RANK];
	int dim[ORDER_DIGITS];
	if (!cut(o, from, dim) || !steps_of(from, before) || !steps_of(by, after))
		return false;
	for (int i = 0; i < o->n; i++)
		o->digit[i].step = o->digit[i].step / before[dim[i]] * after[to[dim[i]]];
	join(o);
	return true;
}

/* The call's move, or the one back from its result. */
static bool follow(const Dag *d, const OpCall *c, Order *o, bool back)
{
	int to[DAG_MAX_RANK], n;
	if (c->op == OP_reshape || c->op == OP_identity)
		return true;
	if (c->op != OP_transpose)
		return false;
	const int64_t *perm = op_ints(c, "perm", &n);
	for (int k = 0; k < n; k++)
		to[back ? k : (int)perm[k]] = back ? (int)perm[k] : k;
	Shape in = d->value.at[c->in[0]].shape, out = d->value.at[c->out[0]].shape;
	return turn(o, back ? out : in, back ? in : out, to);
}

bool order_forward(const Dag *d, const OpCall *c, Order *o)
{
	return follow(d, c, o, false);
}

bool order_backward(const Dag *d, const OpCall *c, Order *o)
{
	return follow(d, c, o, true);
}

/* Capitals name the outermost loops as far as each is the outermost of its dimension; the others are blocks. */
bool order_layout(Arena *a, const Order *o, Shape s, const char **out)
{
	Order cuts = *o, read;
	int dim[ORDER_DIGITS], first = 0;
	bool named[DAG_MAX_RANK] = { 0 };
	*out = NULL;
	if (o->n == 0 || (o->n == 1 && o->digit[0].step == 1))
		return true;
	if (!cut(&cuts, s, dim))
		return false;
	for (; first < cuts.n && !named[dim[first]]; first++)
		named[dim[first]] = true;
	Text t = { .arena = a };
	for (int k = 0; k < s.rank; k++)
		if (!named[k])
			text_add(&t, "%c", layout_letter(s.rank, k));
	for (int i = 0; i < first; i++)
		text_add(&t, "%c", layout_letter(s.rank, dim[i]));
	for (int i = first; i < cuts.n; i++)
		text_add(&t, "%lld%c", (long long)cuts.digit[i].extent, layout_letter(s.rank, dim[i]) - 'A' + 'a');
	const char *text = text_str(&t);
	if (!order_of(text, s, &read) || !order_eq(&read, o))
		return false;
	*out = text;
	return true;
}
