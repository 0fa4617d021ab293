/*
 * Greedy offset assignment: items are placed one after the other at the lowest gap that none of the
 * placed items alive at the same time reaches into. The order decides: by size, by lifetime times
 * size, by birth; then, while the plan is above the live set that bounds it from below, the items that
 * stick out highest are moved to the front and the plan is made again (Pisarchyk and Lee 2020,
 * "Efficient memory management for deep neural net inference", greedy by size; the repair is ours).
 */
#include "compile/memplan.h"

#include <stdlib.h>
#include <string.h>

enum { REPAIRS = 64 };

typedef struct Order {
	int index;
	double key;
} Order;

static int64_t round_up(int64_t n)
{
	return (n + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
}

int64_t memplan_live(const PlanItem *item, int n, Arena *scratch)
{
	int steps = 0;
	for (int i = 0; i < n; i++)
		if (item[i].last >= steps)
			steps = item[i].last + 1;
	int64_t *change = arena_array(scratch, int64_t, steps + 1), live = 0, most = 0;
	for (int i = 0; i < n; i++) {
		change[item[i].first] += round_up(item[i].bytes);
		change[item[i].last + 1] -= round_up(item[i].bytes);
	}
	for (int s = 0; s < steps; s++) {
		live += change[s];
		if (live > most)
			most = live;
	}
	return most;
}

/* Larger key first; the index decides ties, so that the plan is the same everywhere. */
static int by_key(const void *pa, const void *pb)
{
	const Order *a = pa, *b = pb;
	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return a->index - b->index;
}

typedef struct Placed {
	int64_t from, to;
} Placed;

static int by_from(const void *pa, const void *pb)
{
	const Placed *a = pa, *b = pb;
	return (a->from > b->from) - (a->from < b->from);
}

/* Places items in the given order; returns the arena's size. */
static int64_t place(PlanItem *item, const Order *order, int n, Placed *busy)
{
	int64_t size = 0;
	for (int k = 0; k < n; k++) {
		PlanItem *x = &item[order[k].index];
		int m = 0;
		for (int j = 0; j < k; j++) {
			const PlanItem *y = &item[order[j].index];
			if (y->first <= x->last && x->first <= y->last)
				busy[m++] = (Placed){ y->offset, y->offset + round_up(y->bytes) };
		}
		qsort(busy, (size_t)m, sizeof *busy, by_from);
		int64_t at = 0, need = round_up(x->bytes);
		for (int j = 0; j < m && busy[j].from < at + need; j++)
			if (busy[j].to > at)
				at = busy[j].to;
		x->offset = at;
		if (at + need > size)
			size = at + need;
	}
	return size;
}

typedef struct Best {
	int64_t size;
	int64_t *offset;
} Best;

static void keep_if_better(Best *best, const PlanItem *item, int n, int64_t size)
{
	if (best->size >= 0 && size >= best->size)
		return;
	best->size = size;
	for (int i = 0; i < n; i++)
		best->offset[i] = item[i].offset;
}

/* The item that ends highest goes first next time. */
static void repair(PlanItem *item, Order *order, int n, int64_t live, Placed *busy, Best *best)
{
	for (int round = 0; round < REPAIRS && best->size > live; round++) {
		int worst = 0;
		for (int k = 1; k < n; k++) {
			const PlanItem *x = &item[order[k].index], *w = &item[order[worst].index];
			if (x->offset + round_up(x->bytes) > w->offset + round_up(w->bytes))
				worst = k;
		}
		if (worst == 0)
			return;
		Order first = order[worst];
		memmove(order + 1, order, sizeof *order * (size_t)worst);
		order[0] = first;
		keep_if_better(best, item, n, place(item, order, n, busy));
	}
}

int64_t memplan(PlanItem *item, int n, Arena *scratch)
{
	if (n == 0)
		return 0;
	Order *order = arena_array(scratch, Order, n);
	Placed *busy = arena_array(scratch, Placed, n);
	Best best = { -1, arena_array(scratch, int64_t, n) };
	int64_t live = memplan_live(item, n, scratch);
	for (int way = 0; way < 3; way++) {
		for (int i = 0; i < n; i++) {
			double bytes = (double)item[i].bytes, span = item[i].last - item[i].first + 1;
			order[i] = (Order){ i, way == 0 ? bytes : way == 1 ? bytes * span : -item[i].first };
		}
		qsort(order, (size_t)n, sizeof *order, by_key);
		keep_if_better(&best, item, n, place(item, order, n, busy));
		repair(item, order, n, live, busy, &best);
	}
	for (int i = 0; i < n; i++)
		item[i].offset = best.offset[i];
	return best.size;
}
