/*
 * Dense layers and matrix products: lanes along the columns of the result, a tile of rows times
 * vectors of columns, the whole inner dimension with the tile's sums in registers. The constant
 * weights of a dense layer are packed into panels as wide as a vector.
 */
#include "schedule/template/tile.h"

#include "op/op.h"

static bool applies(const Task *task, const Target *target)
{
	const Dag *d = task->dag;
	if (target->kind != TARGET_CPU || d->call.n == 0)
		return false;
	const OpCall *c = &d->call.at[0];
	const Value *y = &d->value.at[c->out[0]];
	return (c->op == OP_dense || c->op == OP_matmul) && y->type.kind == DT_FLOAT && y->type.bits == 32;
}

static bool run(Sketch *s, Err *err)
{
	static const int64_t unrolls[] = { 1, 2, 4, 8, 16 }, orders[] = { 0, 1 };
	const Dag *d = s->task->dag;
	const OpCall *c = &d->call.at[0];
	const Value *w = &d->value.at[c->in[1]];
	Tiled t;
	(void)err;
	if (!tiled_read(s->arena, s->naive, &t) || t.n < 2 || t.nreduce != 1 || tiled_contiguous(s, &t) != t.n - 1)
		return sketch_loops(s);
	Tile tile = tile_new(s, &t);
	int columns = t.n - 1, rows = t.n - 2, best = 0;
	int64_t option[KNOB_OPTIONS], lanes = tile_lanes(s, t.axis[columns].extent);
	int n = tile_options(s, (t.axis[columns].extent + lanes - 1) / lanes, t.axis[rows].extent, option, &best);
	int64_t shape = sketch_knob(s, "tile", option, n, best);
	int64_t order = sketch_knob(s, "order", orders, 2, 0);
	int64_t unroll = sketch_knob(s, "unroll", unrolls, 5, 2);
	tile.vector = columns;
	tile.lanes = lanes;
	tile.vectors = shape / 1000;
	tile.pixel = rows;
	tile.pixels = shape % 1000;
	if (order == 0) { /* columns outside: a panel of weights serves all rows */
		tile.outer[rows] = columns;
		tile.outer[columns] = rows;
	}
	if (c->op == OP_dense && w->kind == VALUE_CONST) {
		tile.pack = w->name;
		tile.layout = arena_printf(s->arena, "OI%lldo", (long long)lanes);
	}
	const char *k = t.reduce[0].name;
	if (unroll > 1 && t.reduce[0].extent > unroll) {
		text_add(&tile.splits, "split %s %lld\n", k, (long long)unroll);
		text_add(&tile.unrolls, "unroll %s.i\n", k);
		tile.reduce[0] = arena_printf(s->arena, "%s.o", k);
		tile.reduce[tile.nreduce++] = arena_printf(s->arena, "%s.i", k);
	}
	tile.first = t.selects;
	tile.last = t.axis[rows].extent % tile.pixels != 0;
	tile_steps(s, &t, &tile);
	return true;
}

const Template tmpl_dense = { "dense", "register tiles of rows and vectors of columns", applies, run };
