/*
 * Offers layouts under which transposes are views (orders.h). A product that writes the heads of an attention one
 * after the other is written in that order at once; a convolution behind a transpose reads NHWC.
 *
 * An offer starts at one side of a transpose, which is row-major or keeps its layout. From there the order of the
 * elements spreads: through reshapes and transposes as order.h carries it, to the parts of splits and concats and to
 * the operands of one shape of elementwise calls as it is. It ends at calls that compute something else, and at inputs,
 * outputs and constants of the network, which are row-major. A value that no layout can say keeps its own.
 */
#include "graph/orders.h"

#include "graph/layouts.h"
#include "graph/order.h"

#include <string.h>

typedef struct Spread {
	Arena *a;
	const Dag *d;
	int *reader, *readers; /* the calls that read value v are reader[readers[v] .. readers[v + 1]) */
	bool *fixed;           /* of each value: it stays row-major */
	int *at;               /* of each value: its place in `offer`, DAG_NONE if it has none */
	VEC(int) value;
	VEC(const char *) layout;
} Spread;

static void list_readers(Spread *s)
{
	const Dag *d = s->d;
	int n = 0;
	s->readers = arena_array(s->a, int, d->value.n + 2);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE) {
				s->readers[d->call.at[i].in[k] + 2]++;
				n++;
			}
	for (size_t v = 2; v < d->value.n + 2; v++)
		s->readers[v] += s->readers[v - 1];
	s->reader = arena_array(s->a, int, n + 1);
	for (size_t i = 0; i < d->call.n; i++)
		for (int k = 0; k < d->call.at[i].nin; k++)
			if (d->call.at[i].in[k] != DAG_NONE)
				s->reader[s->readers[d->call.at[i].in[k] + 1]++] = (int)i;
}

static Spread spread_open(Arena *a, const Dag *d)
{
	Spread s = { .a = a, .d = d };
	list_readers(&s);
	s.fixed = arena_array(a, bool, d->value.n + 1);
	s.at = arena_array(a, int, d->value.n + 1);
	for (size_t v = 0; v < d->value.n; v++) {
		s.fixed[v] = d->value.at[v].kind != VALUE_CALL || d->value.at[v].type.bits % 8 != 0;
		s.at[v] = DAG_NONE;
	}
	for (size_t i = 0; i < d->output.n; i++)
		s.fixed[d->output.at[i]] = true;
	return s;
}

static void put(Spread *s, int v, const char *layout)
{
	if (s->fixed[v] || s->at[v] != DAG_NONE)
		return;
	s->at[v] = (int)s->value.n;
	vec_push(s->a, &s->value, v);
	vec_push(s->a, &s->layout, layout);
}

/* Puts the same layout on v if v fills its blocks. */
static void put_same(Spread *s, int v, const char *layout)
{
	Order o;
	if (v != DAG_NONE && order_of(layout, s->d->value.at[v].shape, &o))
		put(s, v, layout);
}

/* The layout of the other side of a reshape or transpose; false: there is none. */
static bool carried(const Spread *s, const OpCall *c, bool forward, const char *layout, const char **out)
{
	const Value *x = &s->d->value.at[c->in[0]], *y = &s->d->value.at[c->out[0]];
	Order o;
	if (!order_of(layout, forward ? x->shape : y->shape, &o))
		return false;
	return forward ? order_forward(s->d, c, &o) && order_layout(s->d->arena, &o, y->shape, out)
	               : order_backward(s->d, c, &o) && order_layout(s->d->arena, &o, x->shape, out);
}

static bool is_carrier(const OpCall *c)
{
	return c->op == OP_reshape || c->op == OP_transpose || c->op == OP_identity;
}

/* What the layout of v says about the other values of call c. */
static void spread_over(Spread *s, const OpCall *c, int v, const char *layout)
{
	const char *other;
	if (is_carrier(c)) {
		bool forward = c->in[0] == v;
		if (carried(s, c, forward, layout, &other))
			put(s, forward ? c->out[0] : c->in[0], other);
		return;
	}
	bool elementwise = op_row(c->op)->class == OP_ELEMENTWISE;
	if (!elementwise && c->op != OP_split && c->op != OP_slice && c->op != OP_concat)
		return;
	const Shape *shape = &s->d->value.at[v].shape;
	for (int k = 0; k < c->nin + c->nout; k++) {
		int w = k < c->nin ? c->in[k] : c->out[k - c->nin];
		if (w != DAG_NONE && (!elementwise || shape_eq(s->d->value.at[w].shape, *shape)))
			put_same(s, w, layout);
	}
}

/* All values that get a layout if v has this one. */
static Offer spread_from(Spread *s, int v, const char *layout)
{
	const Dag *d = s->d;
	s->value.n = s->layout.n = 0;
	put(s, v, layout);
	for (size_t i = 0; i < s->value.n; i++) {
		int from = s->value.at[i];
		const char *has = s->layout.at[i];
		spread_over(s, &d->call.at[d->value.at[from].call], from, has);
		for (int k = s->readers[from]; k < s->readers[from + 1]; k++)
			spread_over(s, &d->call.at[s->reader[k]], from, has);
	}
	Offer o = { (int)s->value.n, NULL, NULL };
	o.value = arena_copy(s->a, s->value.at, sizeof(int) * s->value.n);
	o.layout = arena_copy(s->a, s->layout.at, sizeof(char *) * s->layout.n);
	for (size_t i = 0; i < s->value.n; i++)
		s->at[s->value.at[i]] = DAG_NONE;
	return o;
}

/* ---- regions */

typedef struct Find {
	Spread *spread;
	int *region; /* of each value: DAG_NONE, or a region that an offer put it in */
	VEC(OrderRegion) regions;
} Find;

static bool same_layout(const char *x, const char *y)
{
	return x == NULL || y == NULL ? x == y : strcmp(x, y) == 0;
}

/* Whether the transpose has to run as the layouts are. */
static bool runs(const Dag *d, const OpCall *c)
{
	Order from, to;
	const Value *x = &d->value.at[c->in[0]], *y = &d->value.at[c->out[0]];
	return !order_of(x->layout, x->shape, &from) || !order_forward(d, c, &from) ||
		!order_of(y->layout, y->shape, &to) || !order_eq(&from, &to);
}

static bool changes_nothing(const Dag *d, const Offer *o)
{
	for (int k = 0; k < o->n; k++)
		if (!same_layout(d->value.at[o->value[k]].layout, o->layout[k]))
			return false;
	return true;
}

static const char *offered(const Offer *o, int v, const char *otherwise)
{
	for (int k = 0; k < o->n; k++)
		if (o->value[k] == v)
			return o->layout[k];
	return otherwise;
}

static bool same_offer(const Dag *d, const Offer *x, const Offer *y)
{
	for (int k = 0; k < x->n; k++)
		if (!same_layout(x->layout[k], offered(y, x->value[k], d->value.at[x->value[k]].layout)))
			return false;
	for (int k = 0; k < y->n; k++)
		if (!same_layout(y->layout[k], offered(x, y->value[k], d->value.at[y->value[k]].layout)))
			return false;
	return true;
}

/* Adds an offer to the region that has one of its values, or to a new one. */
static void add_offer(Find *f, int v, const char *layout)
{
	Arena *a = f->spread->a;
	const Dag *d = f->spread->d;
	if (f->spread->fixed[v])
		return;
	Offer o = spread_from(f->spread, v, layout);
	if (o.n == 0 || changes_nothing(d, &o))
		return;
	int r = DAG_NONE;
	for (int k = 0; k < o.n && r == DAG_NONE; k++)
		r = f->region[o.value[k]];
	if (r == DAG_NONE) {
		OrderRegion fresh = { .n = 1, .offer = arena_array(a, Offer, GRAPH_MOST_OFFERS) };
		r = (int)f->regions.n;
		vec_push(a, &f->regions, fresh);
	}
	OrderRegion *to = &f->regions.at[r];
	for (int k = 0; k < o.n; k++)
		f->region[o.value[k]] = r;
	for (int k = 1; k < to->n; k++)
		if (same_offer(d, &to->offer[k], &o))
			return;
	if (to->n < GRAPH_MOST_OFFERS)
		to->offer[to->n++] = o;
}

/* Offers that begin at a value of the region's that has a layout: one for each layout. */
static void spread_layouts(Find *f, int r)
{
	const Dag *d = f->spread->d;
	const Offer first = f->regions.at[r].offer[1]; /* a region has at least one */
	const char *last = NULL;
	for (int k = 0; k < first.n; k++) {
		const char *layout = d->value.at[first.value[k]].layout;
		if (layout != NULL && !same_layout(layout, last))
			add_offer(f, first.value[k], layout);
		last = layout != NULL ? layout : last;
	}
}

/*
 * Blocks for what a reshape of a region gives to a convolution or pool. graph_layouts leaves it row-major, since it
 * does not know whether blocks make the reshape a view.
 */
static void offer_blocks(Find *f, const Target *t)
{
	const Spread *s = f->spread;
	const Dag *d = s->d;
	for (size_t i = 0; i < d->call.n; i++) {
		int v = d->call.at[i].out[0];
		bool wanted = false;
		if (d->call.at[i].op != OP_reshape || f->region[v] == DAG_NONE)
			continue;
		for (int k = s->readers[v]; k < s->readers[v + 1]; k++)
			wanted |= (op_row(d->call.at[s->reader[k]].op)->traits & OP_BLOCKED) != 0;
		const char *blocks = wanted ? graph_blocks(d, t, v) : NULL;
		if (blocks != NULL)
			add_offer(f, v, blocks);
	}
}

/* The offer that takes all others of the region back. */
static Offer as_before(Arena *a, const Dag *d, const OrderRegion *r)
{
	int n = 0, all = 0;
	for (int k = 1; k < r->n; k++)
		all += r->offer[k].n;
	Offer o = { 0, arena_array(a, int, all), arena_array(a, const char *, all) };
	for (int k = 1; k < r->n; k++)
		for (int i = 0; i < r->offer[k].n; i++) {
			o.value[n] = r->offer[k].value[i];
			o.layout[n] = d->value.at[o.value[n]].layout;
			n++;
		}
	o.n = n;
	return o;
}

static const char *text_of(Arena *a, const Dag *d, const OrderRegion *r)
{
	Text t = { .arena = a };
	char shape[160];
	for (int k = 0; k < r->n; k++)
		for (int i = 0; i < r->offer[k].n; i++) {
			const Value *v = &d->value.at[r->offer[k].value[i]];
			text_add(&t, "%d %s %s:%s\n", k, op_row(d->call.at[v->call].op)->name, shape_str(v->shape, shape),
				r->offer[k].layout[i] != NULL ? r->offer[k].layout[i] : "");
		}
	return text_str(&t);
}

int graph_order_regions(Arena *a, const Dag *d, const Target *t, OrderRegion **out)
{
	Spread s = spread_open(a, d);
	Find f = { .spread = &s, .region = arena_array(a, int, d->value.n + 1) };
	for (size_t v = 0; v < d->value.n; v++)
		f.region[v] = DAG_NONE;
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		const char *other;
		if (c->op != OP_transpose || !runs(d, c))
			continue;
		add_offer(&f, c->out[0], NULL);
		add_offer(&f, c->in[0], NULL);
		if (carried(&s, c, true, d->value.at[c->in[0]].layout, &other))
			add_offer(&f, c->out[0], other);
	}
	for (size_t r = 0; r < f.regions.n; r++)
		spread_layouts(&f, (int)r);
	offer_blocks(&f, t);
	for (size_t r = 0; r < f.regions.n; r++) {
		OrderRegion *x = &f.regions.at[r];
		x->offer[0] = as_before(a, d, x);
		x->alike = text_of(a, d, x);
	}
	*out = f.regions.at;
	return (int)f.regions.n;
}

void graph_take_offer(Dag *d, const Offer *o)
{
	for (int k = 0; k < o->n; k++)
		d->value.at[o->value[k]].layout = o->layout[k];
}
