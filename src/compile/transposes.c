/*
 * Chooses, region by region, layouts under which transposes are views (graph/orders.h). A producer that writes in
 * another order may be slower, and so may a reader; so estimates of default schedules decide. Alike regions, such as
 * the layers of a network, take the same offer. Left out: offers that gain only together, and records, which name Tasks
 * of one layout each.
 */
#include "compile/net_estimate.h"
#include "graph/orders.h"

#include <string.h>

typedef struct Orders {
	Dag *dag;
	NetEstimate estimate;
	int n;
	OrderRegion *region;
	int trials;
	double best;
} Orders;

/* Gives all regions alike the first one the offer. */
static void take(Orders *o, int first, int offer)
{
	for (int r = first; r < o->n; r++)
		if (strcmp(o->region[r].alike, o->region[first].alike) == 0) {
			graph_take_offer(o->dag, &o->region[r].offer[0]);
			graph_take_offer(o->dag, &o->region[r].offer[offer]);
		}
}

static bool is_first_of_alike(const Orders *o, int r)
{
	for (int k = 0; k < r; k++)
		if (strcmp(o->region[k].alike, o->region[r].alike) == 0)
			return false;
	return true;
}

static bool choose(Orders *o, int r, Err *err)
{
	int best = 0;
	for (int k = 1; k < o->region[r].n && o->trials < CHOOSE_ORDER_TRIALS; k++, o->trials++) {
		double ms;
		take(o, r, k);
		if (!net_estimate_ms(&o->estimate, o->dag, &ms, err))
			return false;
		if (ms < o->best) {
			o->best = ms;
			best = k;
		}
	}
	take(o, r, best);
	return true;
}

bool compile_orders(Dag *d, const Target *t, Err *err)
{
	Arena *a = arena_new();
	Orders o = { .dag = d };
	o.n = graph_order_regions(a, d, t, &o.region);
	bool ok = true;
	if (o.n > 0) {
		o.estimate = net_estimate_open(a, t);
		ok = net_estimate_ms(&o.estimate, d, &o.best, err);
	}
	for (int r = 0; ok && r < o.n; r++)
		if (is_first_of_alike(&o, r))
			ok = choose(&o, r, err);
	arena_free(a);
	return ok;
}
