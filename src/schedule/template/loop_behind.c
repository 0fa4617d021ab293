/* See loop_behind.h. */
#include "schedule/template/loop_behind.h"
#include "schedule/template/loop_tile.h"
#include "schedule/template/tile.h"

#include "ir/query.h"

#include <string.h>

/* Whether the generated space reads the nest with the same loops, in an order that it may change. */
static bool may_move(const BlockSet *set, const BlockNest *own)
{
	for (const Stmt *top = set->fn->body; top != NULL; top = top->next) {
		Nest n;
		if (!loop_nest_read(set->fn, top, &n) || strcmp(n.block, own->block) != 0)
			continue;
		bool same = n.n == own->n && !n.scans;
		for (int k = 0; same && k < n.n; k++)
			same = strcmp(n.axis[k].name, own->axis[k].loop) == 0;
		return same;
	}
	return false;
}

/* The dimension of what it makes along which axis k of the nest moves. */
static int dimension_of(const BlockNest *n, int k)
{
	for (int d = 0; d < n->made->rank; d++)
		if (n->axis_of[d] == k)
			return d;
	return NONE;
}

static void count_series(const Expr *e, void *arg)
{
	bool series = false;
	loop_nest_see_series(e, &series);
	*(int *)arg += series;
}

/* Whether an inlined nest is part of the root, maybe through others; of several readers one may be. */
static bool is_inlined_in(const BlockSet *set, int k, int root)
{
	while (k >= 0 && set->nest[k].inlined)
		k = block_reader(set, k);
	return k < 0 || k == root;
}

/* It is written out for each vector of a tile, with what is inlined into it. */
static bool is_light(const BlockSet *set, int root)
{
	int series = 0;
	for (int k = 0; k < set->n; k++)
		if (k == root || (set->nest[k].inlined && is_inlined_in(set, k, root)))
			ir_each_node_in(set->nest[k].stmt->block.body, count_series, &series);
	return set->nest[root].nodes <= TMPL_BEHIND_NODES && series <= TMPL_BEHIND_SERIES;
}

/*
 * Lanes are those that suit the sums, which lie in rows. What is behind them stores in rows along the same axis, and
 * what it stores is a result: other reductions may have it inlined.
 */
static bool stores_alike(const BlockNest *own, const BlockNest *root, const int *axis)
{
	int last = own->made->rank - 1, side = root->made->rank - 1;
	return root->made->role == BUF_OUT && root->made->map.n == 0 && own->made->map.n == 0 && last >= 0 && side >= 0 &&
		own->axis_of[last] >= 0 && axis[last] == root->axis_of[side];
}

bool loop_behind_read(const Sketch *s, const BlockSet *set, int at, Behind *out)
{
	const BlockNest *own = &set->nest[at];
	int axis[IR_MAX_RANK];
	bool taken[BLOCK_AXES] = { false };
	*out = (Behind){ .nest = NONE };
	if (!loop_tile_fits(s, set, at) || !may_move(set, own))
		return false;
	out->nest = loop_tile_root(set, at, axis);
	if (out->nest < 0 || !is_light(set, out->nest))
		return false;
	const BlockNest *root = &set->nest[out->nest];
	if (!stores_alike(own, root, axis))
		return false;
	for (int k = 0; k < own->n; k++) {
		int d = own->axis[k].reduce ? NONE : dimension_of(own, k);
		out->loop[k] = d < 0 ? own->axis[k].loop : root->axis[axis[d]].loop;
		if (d >= 0)
			taken[axis[d]] = true;
		else if (!own->axis[k].reduce)
			return false;
	}
	for (int k = 0; k < root->n; k++)
		if (!taken[k])
			out->lone[out->nlone++] = root->axis[k].loop;
	return true;
}
