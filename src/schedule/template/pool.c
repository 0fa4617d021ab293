/*
 * Poolings and reductions: lanes along what the result's layout puts side by side, some pixels at
 * once, and the reduction with their values in registers.
 */
#include "schedule/template/device.h"

#include "op/op.h"

static bool applies(const Task *task, const Target *target)
{
	const OpCall *c = tile_anchor(task->dag);
	if (!device_lone(target) || c == NULL)
		return false;
	switch (c->op) {
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
static bool reduces_rows(const Dag *d, const OpCall *c)
{
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

/*
 * As many pixels as registers hold, and by default some that leave no tile over. Of a length that only short tiles
 * divide, all are as long as the last one, or a little longer.
 */
static void choose_pixels(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t option[KNOB_OPTIONS], extent = t->axis[tile->pixel].extent, even = ceil_div(extent, TMPL_POOL_PIXELS);
	int n = 0, first = 0, evenly = -1;
	for (int64_t p = 1; p <= extent && p <= tile_registers(s) - TMPL_POOL_REST && n < KNOB_OPTIONS; p++)
		if (tile_wastes_little(extent, p)) {
			if (extent % p == 0 && p <= TMPL_POOL_PIXELS)
				first = n;
			if (p == ceil_div(extent, even))
				evenly = n;
			option[n++] = p;
		}
	if (evenly >= 0 && option[first] < TMPL_LEAST_SUMS)
		first = evenly;
	tile->pixels = sketch_number(s, "pixels", option, n, first);
}

/*
 * A row that nearly fills a vector may have two of half as many lanes, which overlap: loads and stores of seven lanes
 * are several each. The last vector of a longer row may overlap the one before it, by default where registers are few:
 * there masks are not cheap.
 */
static void choose_lanes(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t extent = t->axis[tile->vector].extent, option[2] = { tile->lanes, tile->lanes / 2 };
	bool halves = tile->lanes > TMPL_PROMISING_LANES && extent > option[1] && extent < tile->lanes;
	bool full = halves && TMPL_POOL_FULL * (tile->lanes - extent) <= tile->lanes;
	if (target_has_blocks(s->target))
		return;
	tile->lanes = sketch_number(s, "lanes", option, halves ? 2 : 1, full);
	sketch_opens(s);
	int64_t rest = extent % tile->lanes;
	bool fills = rest == 1 || TMPL_WASTE * (tile->lanes - rest) <= tile->lanes;
	if (rest != 0 && extent > tile->lanes && sketch_flag(s, "overlap", full || (fills && tile_few_registers(s))))
		tile->group = extent;
}

static bool run(Sketch *s, Err *err)
{
	const Dag *d = s->task->dag;
	const OpCall *c = tile_anchor(d);
	Tiled t;
	(void)err;
	if (reduces_rows(d, c) || !tiled_read(s, c, &t) || t.n < 2)
		return sketch_loops(s);
	int v = tiled_contiguous(&t);
	static const char *const form[] = { "pixels", "generated" };
	if (v < 1)
		return sketch_loops(s);
	/* The generated space has tiles of several axes, which share what their windows read. */
	bool few = c->op == OP_max_pool && t.reduce[t.nreduce - 1].extent <= TMPL_POOL_FEW_TAPS, one = true;
	for (int k = 0; k < t.n; k++)
		one &= k == v || t.axis[k].extent == 1; /* no pixels */
	bool generated = !target_has_blocks(s->target) && sketch_word(s, "form", form, 2, few || one) == 1;
	sketch_opens(s);
	if (generated)
		return sketch_loops(s);
	Tile tile = tile_new(s, &t);
	tile.vector = v;
	tile.lanes = tile_lanes(s, &t, t.axis[v].extent);
	tile.before = BEFORE_EACH;
	if (v == t.n - 1)
		choose_lanes(s, &t, &tile);
	for (int k = 1; k < t.n; k++) /* the last spatial axis but the lanes' */
		if (k != v && t.axis[k].extent > 1)
			tile.pixel = k;
	if (tile.pixel >= 0)
		choose_pixels(s, &t, &tile);
	const TileAxis *tap = &t.reduce[t.nreduce - 1];
	if (tap->extent > 1 && tap->extent <= TMPL_POOL_TAPS && sketch_flag(s, "taps", true))
		text_add(&tile.unrolls, "unroll %s\n", tap->name);
	tile.first = t.selects;
	tile.last = tile.pixel >= 0 && (t.selects || t.axis[tile.pixel].extent % tile.pixels != 0);
	tile_steps(s, &t, &tile);
	return true;
}

const Template tmpl_pool = { .name = "pool",
	.doc = "some pixels of a window or reduction in registers",
	.applies = applies,
	.run = run };
