/*
 * Poolings and reductions: lanes along what the result's layout puts side by side, some pixels at
 * once, and the reduction with their values in registers.
 */
#include "schedule/template/tile.h"

#include "op/op.h"

static bool applies(const Task *task, const Target *target)
{
	const Dag *d = task->dag;
	if (target->kind != TARGET_CPU || d->call.n == 0)
		return false;
	switch (d->call.at[0].op) {
	case OP_max_pool:
	case OP_avg_pool:
	case OP_reduce_sum:
	case OP_reduce_mean:
	case OP_reduce_max:
	case OP_reduce_min: return true;
	default: return false;
	}
}

/* Lanes along the result would read a row-major input column by column. */
static bool reduces_rows(const Dag *d)
{
	const OpCall *c = &d->call.at[0];
	const Value *x = &d->value.at[c->in[0]];
	int n = 0;
	if (c->op == OP_max_pool || c->op == OP_avg_pool || x->layout != NULL)
		return false;
	const int64_t *axis = op_ints(c, "axes", &n);
	for (int k = 0; k < n; k++)
		if (axis[k] == x->shape.rank - 1)
			return true;
	return n == 0;
}

/* The widest spatial axis but the lanes': the pixels; -1: there is none. */
static int pixel_axis(const Tiled *t, int vector)
{
	for (int k = t->n - 1; k > 0; k--)
		if (k != vector && t->axis[k].extent > 1)
			return k;
	return -1;
}

static bool run(Sketch *s, Err *err)
{
	static const int64_t pixels[] = { 1, 2, 4, 7, 8, 14 }, flag[] = { 0, 1 };
	Tiled t;
	(void)err;
	if (reduces_rows(s->task->dag) || !tiled_read(s->arena, s->naive, &t) || t.n < 2)
		return sketch_loops(s);
	int v = tiled_contiguous(s, &t);
	if (v < 1)
		return sketch_loops(s);
	Tile tile = tile_new(s, &t);
	tile.vector = v;
	tile.lanes = tile_lanes(s, t.axis[v].extent);
	tile.pixel = pixel_axis(&t, v);
	if (tile.pixel >= 0) {
		int64_t option[6];
		int n = 0, first = 0;
		for (int k = 0; k < 6; k++)
			if (pixels[k] <= t.axis[tile.pixel].extent) {
				if (t.axis[tile.pixel].extent % pixels[k] == 0)
					first = n;
				option[n++] = pixels[k];
			}
		tile.pixels = sketch_knob(s, "pixels", option, n, first);
	}
	const TileAxis *tap = &t.reduce[t.nreduce - 1];
	if (tap->extent > 1 && tap->extent <= 8 && sketch_knob(s, "taps", flag, 2, 1) != 0)
		text_add(&tile.unrolls, "unroll %s\n", tap->name);
	tile.first = t.selects;
	tile.last = tile.pixel >= 0 && (t.selects || t.axis[tile.pixel].extent % tile.pixels != 0);
	tile_steps(s, &t, &tile);
	return true;
}

const Template tmpl_pool = { "pool", "some pixels of a window or reduction in registers", applies, run };
