/*
 * Convolutions. The lanes are output channels, a tile is some pixels of a row times some vectors of
 * channels, and the whole reduction runs with the tile's sums in registers. Weights are packed so that the
 * reduction reads them in order. An output whose rows lie side by side is stored lane by lane, once for each
 * sum; where the input's do too, lanes along rows (the generated space) are the other choice.
 */
#include "schedule/template/tile.h"
#include "schedule/template/winograd.h"

#include "op/layout.h"
#include "op/op.h"

#include <string.h>

static bool applies(const Task *task, const Target *target)
{
	const Dag *d = task->dag;
	if (target->kind != TARGET_CPU || d->call.n == 0 || d->call.at[0].op != OP_conv)
		return false;
	const OpCall *c = &d->call.at[0];
	const Value *w = &d->value.at[c->in[1]], *y = &d->value.at[c->out[0]];
	return y->type.kind == DT_FLOAT && y->type.bits == 32 && w->kind == VALUE_CONST && y->shape.rank >= 3;
}

/* Channels from which weights come where channels lie in no blocks; the pixels up to which cold weights are felt;
 * the channels up to which lanes of rows were faster. */
enum { FAR = 16, FEW_PIXELS = 256, FEW_CHANNELS = 8 };

static int reduce_named(const Tiled *t, const char *name)
{
	for (int k = 0; k < t->nreduce; k++)
		if (strcmp(t->reduce[k].name, name) == 0)
			return k;
	return -1;
}

/* How many channels lie side by side: 16 in NCHW16c; 1 where rows or all channels do. */
static int64_t channel_block(const Value *v)
{
	Layout l;
	bool blocked = layout_read(v->layout, v->shape, &l) && l.n == v->shape.rank + 1 && l.of[l.n - 1] == 1;
	return blocked ? l.extent[l.n - 1] : 1;
}

/*
 * [c.o] kh kw c.i: channels innermost, so that a tap of the window is a loop of its own and the taps
 * of a row that lie in the padding are decided where the row's tile is known.
 */
static void order_reduction(Sketch *s, const Tiled *t, Tile *tile, int64_t block, int64_t unroll)
{
	int c = reduce_named(t, "c"), n = 0;
	const char *inner = NULL, *innermost = NULL;
	if (c >= 0) {
		inner = t->reduce[c].name;
		if (block > 1 && t->reduce[c].extent > block) {
			text_add(&tile->splits, "split c %lld\n", (long long)block);
			tile->reduce[n++] = "c.o";
			inner = "c.i";
		}
		int64_t extent = block > 1 && t->reduce[c].extent > block ? block : t->reduce[c].extent;
		if (unroll > 1 && extent > unroll) {
			text_add(&tile->splits, "split %s %lld\n", inner, (long long)unroll);
			innermost = arena_printf(s->arena, "%s.i", inner);
			inner = arena_printf(s->arena, "%s.o", inner);
		} else if (unroll > 1 && extent > 1) {
			text_add(&tile->unrolls, "unroll %s\n", inner);
		}
	}
	for (int k = 0; k < t->nreduce; k++)
		if (k != c)
			tile->reduce[n++] = t->reduce[k].name;
	if (inner != NULL)
		tile->reduce[n++] = inner;
	if (innermost != NULL) {
		tile->reduce[n++] = innermost;
		text_add(&tile->unrolls, "unroll %s\n", innermost);
	}
	tile->nreduce = n;
	if (inner != NULL && t->reduce[c].extent > 1) {
		int64_t channels = block > 1 ? block : FAR, step = innermost != NULL ? unroll : 1;
		tile->stream = inner;
		tile->far = channels > step ? channels / step : 1;
	}
}

/*
 * Weights of few pixels come from memory faster than it gives them. Windows take them from behind the block of
 * channels at hand, where the hardware does not look; 1x1 convolutions from the next tile, while they
 * work on this one. What was measured: docs/benchmarks.md.
 */
static int guess_ahead(const Value *w, const Value *y)
{
	int64_t taps = 1, pixels = 1;
	for (int k = 2; k < w->shape.rank; k++)
		taps *= w->shape.dim[k];
	for (int k = 2; k < y->shape.rank; k++)
		pixels *= y->shape.dim[k];
	if (pixels > FEW_PIXELS)
		return AHEAD_NONE;
	return taps > 1 ? AHEAD_STREAM : AHEAD_TILE;
}

/* The layout of weights: blocks of input channels, then of output channels, as the loops run. */
static const char *weight_layout(Sketch *s, int rank, int64_t lanes, int64_t block)
{
	static const char *const spatial[] = { "", "W", "HW", "DHW" };
	if (block > 1)
		return arena_printf(s->arena, "OI%s%lldi%lldo", spatial[rank - 2], (long long)block, (long long)lanes);
	return arena_printf(s->arena, "O%sI%lldo", spatial[rank - 2], (long long)lanes);
}

static void order_outer(const Tiled *t, Tile *tile, int64_t order)
{
	int n = 0, last = t->n - 1;
	if (order == 0) /* n o h w: weights of one tile of channels serve the whole image */
		return;
	tile->outer[n++] = 0;
	for (int k = 2; k < last; k++)
		tile->outer[n++] = k;
	if (order == 1) /* n h o w: a row serves all channels */
		tile->outer[n++] = 1;
	tile->outer[n++] = last;
	if (order == 2) /* n h w o: so do a few pixels */
		tile->outer[n++] = 1;
}

/*
 * Rows of input and output lie side by side: whether lanes along them are the better guess. A depthwise convolution
 * has a product or few for each store; a 1x1 of few channels leaves lanes of channels empty, or waits for its stores.
 */
static bool guess_rows(const Value *w, bool depthwise)
{
	int64_t taps = 1;
	for (int k = 2; k < w->shape.rank; k++)
		taps *= w->shape.dim[k];
	return depthwise || (taps == 1 && w->shape.dim[0] <= FEW_CHANNELS);
}

/* All lanes of a vector read the same input, so they are of one group; 0: it has too few channels. */
static int64_t group_lanes(const Sketch *s, int64_t filters)
{
	int64_t lanes = tile_lanes(s, filters);
	while (lanes > 1 && filters % lanes != 0)
		lanes /= 2;
	return lanes >= 4 ? lanes : 0;
}

/* 0: direct; else the outputs of one of Winograd's tiles each way, with knobs of its own. */
static int64_t choose_algorithm(Sketch *s)
{
	static const int64_t m[] = { 0, 2, 4 };
	if (!winograd_fits(s->task, s->target, 4))
		return 0;
	int64_t pick = sketch_knob(s, "winograd", m, 3, (int)winograd_guess(s->task, s->target) / 2);
	if (s->declare != NULL)
		winograd_knobs(s);
	return pick;
}

/*
 * Of so few taps in a row an edge skips one, and asking for it in all tiles costs 1 % at most, where it was
 * measured, while LLVM has a third to a half of the code. Of the stem's seven it skips more; asked for, they spill.
 */
enum { FEW_TAPS = 3 };

static bool run(Sketch *s, Err *err)
{
	static const int64_t orders[] = { 0, 1, 2 }, unrolls[] = { 1, 2, 4, 8 }, flag[] = { 0, 1 },
		aheads[] = { AHEAD_NONE, AHEAD_STREAM, AHEAD_TILE };
	const Dag *d = s->task->dag;
	const OpCall *c = &d->call.at[0];
	const Value *w = &d->value.at[c->in[1]];
	Tiled t;
	(void)err;
	if (!tiled_read(s->arena, s->naive, &t) || t.n < 3)
		return sketch_loops(s);
	int last = t.n - 1, best = 0, side = tiled_contiguous(s, &t);
	bool depthwise = reduce_named(&t, "c") < 0;
	int64_t groups = depthwise ? 1 : op_int(c, "groups"), filters = t.axis[1].extent / groups;
	int64_t lanes = groups > 1 ? group_lanes(s, filters) : tile_lanes(s, filters);
	if (side < 0 || lanes == 0)
		return sketch_loops(s);
	bool rows = side != 1 && channel_block(&d->value.at[c->in[0]]) == 1;
	if (rows && sketch_knob(s, "rows", flag, 2, guess_rows(w, depthwise)) != 0 && s->declare == NULL)
		return sketch_loops(s);
	int64_t m = choose_algorithm(s);
	if (m > 0 && s->declare == NULL) {
		winograd_steps(s, m, winograd_knobs(s));
		return true;
	}
	Tile tile = tile_new(s, &t);
	int64_t option[KNOB_OPTIONS];
	int n = tile_options(s, depthwise ? 1 : (filters + lanes - 1) / lanes, t.axis[last].extent, option, &best);
	int64_t shape = sketch_knob(s, "tile", option, n, best);
	int64_t order = sketch_knob(s, "order", orders, 3, 0);
	int64_t taps = sketch_knob(s, "taps", flag, 2, 1);
	tile.vector = 1;
	tile.lanes = lanes;
	tile.vectors = shape / 1000;
	tile.pixel = last;
	tile.pixels = shape % 1000;
	tile.pack = w->name;
	int64_t block = 1;
	if (!depthwise) {
		int64_t unroll = sketch_knob(s, "unroll", unrolls, 4, 0);
		tile.ahead = sketch_knob(s, "ahead", aheads, 3, guess_ahead(w, &d->value.at[c->out[0]]));
		block = channel_block(&d->value.at[c->in[0]]);
		if (w->shape.dim[1] < block || (groups > 1 && w->shape.dim[1] % block != 0))
			block = 1;
		order_reduction(s, &t, &tile, block, unroll);
	}
	tile.layout = weight_layout(s, w->shape.rank, lanes, block);
	order_outer(&t, &tile, order);
	const TileAxis *kw = &t.reduce[t.nreduce - 1];
	if (taps != 0 && kw->extent > 1)
		text_add(&tile.unrolls, "unroll %s\n", kw->name);
	tile.first = t.selects && kw->extent > FEW_TAPS;
	tile.last = tile.first || t.axis[last].extent % tile.pixels != 0;
	tile_steps(s, &t, &tile);
	return s->declare == NULL || !rows || sketch_loops(s); /* its knobs, behind those of the tile */
}

const Template tmpl_conv = { "conv", "register tiles of pixels and vectors of channels", applies, run };
