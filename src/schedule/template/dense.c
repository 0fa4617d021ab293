/*
 * Dense layers and matrix products: lanes along the columns of the result, a tile of rows times
 * vectors of columns, the whole inner dimension with the tile's sums in registers. The constant
 * weights of a dense layer are packed into panels as wide as a vector.
 */
#include "schedule/template/device.h"

#include "op/op.h"

static bool applies(const Task *task, const Target *target)
{
	const OpCall *c = tile_anchor(task->dag);
	return device_lone(target) && c != NULL && (c->op == OP_dense || c->op == OP_matmul);
}

/* Columns outside, so that a panel of weights serves all rows; or rows. */
static void choose_order(Sketch *s, const Tiled *t, Tile *tile)
{
	static const char *const name[] = { "weights", "row" };
	int axis[TILE_AXES], loops = tile_outer(t, tile, axis), rows = tile->pixel, columns = tile->vector, both = 0;
	for (int k = 0; k < loops; k++)
		both += axis[k] == rows || axis[k] == columns;
	if (sketch_word(s, "order", name, both == 2 ? 2 : 1, 0) == 0) {
		tile->outer[rows] = columns;
		tile->outer[columns] = rows;
	}
}

/* The inner dimension, some steps of it written out. */
static void choose_unroll(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t option[KNOB_OPTIONS];
	int first = 0;
	int n = tile_unrolls(
		t->reduce[0].extent, tile->vectors * tile->pixels, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option);
	for (int k = 0; k < n; k++)
		first = option[k] == TMPL_DENSE_STEPS ? k : first;
	int64_t unroll = sketch_number(s, "unroll", option, n, first);
	if (unroll == 1)
		return;
	const char *name = t->reduce[0].name;
	text_add(&tile->splits, "split %s %lld\n", name, (long long)unroll);
	text_add(&tile->unrolls, "unroll %s.i\n", name);
	tile->reduce[0] = arena_printf(s->arena, "%s.o", name);
	tile->reduce[tile->nreduce++] = arena_printf(s->arena, "%s.i", name);
}

static bool run(Sketch *s, Err *err)
{
	const Dag *d = s->task->dag;
	const OpCall *c = tile_anchor(d);
	const Value *w = &d->value.at[c->in[1]];
	Tiled t;
	(void)err;
	if (!tiled_read(s, c, &t) || t.n < 2 || t.nreduce != 1 || tiled_contiguous(&t) != t.n - 1)
		return sketch_loops(s);
	Tile tile = tile_new(s, &t);
	tile.vector = t.n - 1;
	tile.pixel = t.n - 2;
	int64_t columns = t.axis[tile.vector].extent, rows = t.axis[tile.pixel].extent;
	tile.lanes = tile_lanes(s, &t, columns);
	sketch_group(s);
	tile_knob(s, (columns + tile.lanes - 1) / tile.lanes, rows, &tile);
	choose_order(s, &t, &tile);
	choose_unroll(s, &t, &tile);
	sketch_group_end(s);
	if (c->op == OP_dense && w->kind == VALUE_CONST) {
		tile.pack = w->name;
		tile.layout = arena_printf(s->arena, "OI%lldo", (long long)tile.lanes);
	}
	tile.first = t.selects;
	tile.last = rows % tile.pixels != 0;
	tile_steps(s, &t, &tile);
	return true;
}

const Template tmpl_dense = { .name = "dense",
	.doc = "register tiles of rows and vectors of columns",
	.applies = applies,
	.run = run };
