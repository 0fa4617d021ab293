/*
 * Greedy offset assignment. Items are placed one after the other, each at the lowest gap that no placed item alive at
 * the same time reaches into. The order decides: by size, by lifetime times size, by birth. While the plan is larger
 * than the live set, its lower bound, the items that end highest move to the front and the plan is made again
 * (Pisarchyk and Lee 2020, "Efficient memory management for deep neural net inference", greedy by size; the repair
 * is ours).
 */
#include "compile/memplan.h"

#include "compile/choose.h"

#include <stdlib.h>
#include <string.h>

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

/*
 * Finds the placed items that live with another one without a walk over all: a tree over the
 * items in the order of their first step, each node with the latest last step of what is placed
 * below it.
 */
typedef struct Alive {
	int leaves;   /* a power of two */
	int *item;    /* in the order of their first step */
	int *at;      /* where an item stands in that order */
	int *last;    /* of the tree's nodes; the root is 1; -1: nothing is placed below */
	Placed *busy; /* room for what is found */
	int64_t work; /* found so far, of all searches */
} Alive;

static Alive alive_new(const PlanItem *item, int n, Arena *scratch)
{
	Order *order = arena_array(scratch, Order, n);
	Alive t = { .leaves = 1, .busy = arena_array(scratch, Placed, n) };
	while (t.leaves < n)
		t.leaves *= 2;
	t.item = arena_array(scratch, int, n);
	t.at = arena_array(scratch, int, n);
	t.last = arena_array(scratch, int, 2 * (size_t)t.leaves);
	for (int i = 0; i < n; i++)
		order[i] = (Order){ i, -item[i].first };
	qsort(order, (size_t)n, sizeof *order, by_key);
	for (int i = 0; i < n; i++) {
		t.item[i] = order[i].index;
		t.at[order[i].index] = i;
	}
	return t;
}

/* Adds what lives with x, of the `n` items from `first` on that lie below the node, to busy[m...]. */
static int alive_find(Alive *t, const PlanItem *item, int node, int first, int n, const PlanItem *x, int m)
{
	if (t->last[node] < x->first || item[t->item[first]].first > x->last)
		return m;
	if (n == 1) {
		const PlanItem *y = &item[t->item[first]];
		t->busy[m] = (Placed){ y->offset, y->offset + round_up(y->bytes) };
		return m + 1;
	}
	m = alive_find(t, item, 2 * node, first, n / 2, x, m);
	return alive_find(t, item, 2 * node + 1, first + n / 2, n / 2, x, m);
}

/* Places items in the given order; returns the arena's size. */
static int64_t place(PlanItem *item, const Order *order, int n, Alive *t)
{
	int64_t size = 0;
	memset(t->last, -1, sizeof *t->last * 2 * (size_t)t->leaves);
	for (int k = 0; k < n; k++) {
		PlanItem *x = &item[order[k].index];
		int m = alive_find(t, item, 1, 0, t->leaves, x, 0);
		qsort(t->busy, (size_t)m, sizeof *t->busy, by_from);
		int64_t at = 0, need = round_up(x->bytes);
		for (int j = 0; j < m && t->busy[j].from < at + need; j++)
			if (t->busy[j].to > at)
				at = t->busy[j].to;
		x->offset = at;
		if (at + need > size)
			size = at + need;
		for (int node = t->leaves + t->at[order[k].index]; node > 0 && t->last[node] < x->last; node /= 2)
			t->last[node] = x->last;
		t->work += m + 1;
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
static void repair(PlanItem *item, Order *order, int n, int64_t live, Alive *t, Best *best)
{
	for (int round = 0; round < CHOOSE_REPAIRS && best->size > live && t->work < CHOOSE_PLAN_WORK; round++) {
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
		keep_if_better(best, item, n, place(item, order, n, t));
	}
}

int64_t memplan(PlanItem *item, int n, Arena *scratch)
{
	if (n == 0)
		return 0;
	Order *order = arena_array(scratch, Order, n);
	Alive t = alive_new(item, n, scratch);
	Best best = { -1, arena_array(scratch, int64_t, n) };
	int64_t live = memplan_live(item, n, scratch);
	for (int way = 0; way < 3 && (way == 0 || t.work < CHOOSE_PLAN_WORK); way++) {
		for (int i = 0; i < n; i++) {
			double bytes = (double)item[i].bytes, span = item[i].last - item[i].first + 1;
			order[i] = (Order){ i, way == 0 ? bytes : way == 1 ? bytes * span : -item[i].first };
		}
		qsort(order, (size_t)n, sizeof *order, by_key);
		keep_if_better(&best, item, n, place(item, order, n, &t));
		repair(item, order, n, live, &t, &best);
	}
	for (int i = 0; i < n; i++)
		item[i].offset = best.offset[i];
	return best.size;
}
