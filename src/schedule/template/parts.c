/* See parts.h. */
#include "schedule/template/parts.h"
#include "schedule/template/conv.h"
#include "schedule/template/dot.h"
#include "schedule/template/share.h"

int parts_lengths(int64_t depth, int64_t block, int64_t least, int64_t option[KNOB_OPTIONS])
{
	int n = 0;
	option[n++] = depth;
	for (int64_t parts = 2; parts <= TMPL_PARTS; parts++) {
		int64_t part = depth / parts;
		if (depth % parts == 0 && part % block == 0 && part >= least && part <= TMPL_COOP_PANEL)
			option[n++] = part;
	}
	return n;
}

/*
 * The default of "depth", among all channels and shorter and shorter parts. A panel and the pixels of a tile that the
 * first cache does not hold come from the second one for each tile. Where a tile asks for more of them than that gives
 * with ease, it has the longest part of which half of the first cache holds both (docs/benchmarks-kernels.md).
 */
static int likely_part(const Sketch *s, const Tiled *t, const Tile *tile, const int64_t *option, int n)
{
	const Core *core = &s->target->core;
	int64_t width = tile->lanes * tile->vectors, near = target_cache(s->target, 1);
	double step = (double)(tile->vectors * tile->pixels) / core->fma_rate; /* cycles */
	if (near == 0 || dtype_bytes(t->sum, option[0] * (width + tile->pixels)) <= near ||
		(double)dtype_bytes(t->sum, width) / step * TMPL_CONV_STREAMS < core->level[1])
		return 0;
	int k = n > 1;
	while (k < n - 1 && dtype_bytes(t->sum, option[k] * (width + tile->pixels)) * 2 > near)
		k++;
	return option[0] >= TMPL_CONV_PARTS * option[k] ? k : 0;
}

int64_t parts_of_image(Sketch *s, const OpCall *c, const Tiled *t, const Tile *tile, const Value *x, int loop)
{
	const Value *w = &s->task->dag->value.at[c->in[1]], *y = &s->task->dag->value.at[c->out[0]];
	int64_t filters = t->axis[1].extent, width = tile->lanes * tile->vectors, option[KNOB_OPTIONS];
	int64_t taps = conv_pixels(w), block = conv_channel_block(x);
	bool one = op_int(c, "groups") == 1 && t->nbefore == 0 && t->dot == NULL;
	if (loop < 0 || !one || target_has_blocks(s->target) || tiled_contiguous(t) != 1 || filters % tile->lanes != 0 ||
		filters <= width || y->shape.dim[0] * conv_pixels(y) <= tile->pixels)
		return 0;
	int64_t channels = t->reduce[loop].extent, image = dtype_bytes(x->type, channels * conv_pixels(x));
	if (dtype_bytes(w->type, channels * taps * width) <= target_cache(s->target, 1) &&
		image * 2 <= target_cache(s->target, 2))
		return 0;
	int n = parts_lengths(channels, block, taps > 1 ? ceil_div(TMPL_PART, taps) : TMPL_PART, option);
	int first = taps > 1 || t->selects ? 0 : likely_part(s, t, tile, option, n);
	int64_t part = sketch_number(s, "depth", option, n, first);
	sketch_opens(s);
	return part < channels ? part : 0;
}

/* The sums of an image in blocks of channels, where an epilogue reads them. */
static void block_sums(Sketch *s, const Tiled *t, const Tile *tile)
{
	static const char *const letters[] = { "", "", "NC", "NCW", "NCHW", "NCDHW" };
	if (!t->bare && t->n < (int)(sizeof letters / sizeof *letters))
		sketch_step(s, "layout %s %s%lldc", t->sums, letters[t->n], (long long)tile->lanes);
}

/* The name of a loop, or of its twin in the nest that begins the sums. */
static const char *twin(Sketch *s, const char *name, const char *of)
{
	return arena_printf(s->arena, "%s%s", name, of);
}

/* Threads share the panels of each part; of an image also its rows, but where the last panel has code of its own. */
static void share_panels(Sketch *s, const Tiled *t, const Tile *tile, const char *panel, bool rows)
{
	static const char *const of[] = { "", ".init" };
	for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
		TileAxis loop[TILE_AXES];
		int n = 0;
		loop[n++] = (TileAxis){ twin(s, panel, of[k]),
			ceil_div(t->axis[tile->vector].extent, tile->lanes * tile->vectors) };
		for (int j = 0; j < t->n && rows; j++)
			if (j != tile->vector && j != tile->pixel)
				loop[n++] = (TileAxis){ twin(s, t->axis[j].name, of[k]), t->axis[j].extent };
		if (rows)
			share_some(s, loop, n);
		else
			sketch_step(s, "parallel %s", loop[0].name);
	}
}

/* The epilogue: in the order in which its result lies in memory, if it is an image. */
static void end_nest(Sketch *s, const Tiled *t, const Tile *tile, bool image)
{
	const TileAxis *v = &t->out[tile->vector];
	TileAxis loop[TILE_AXES];
	int n = 0;
	sketch_step(s, "split %s %lld", v->name, (long long)tile->lanes);
	if (image) {
		TileAxis vectors = { arena_printf(s->arena, "%s.o", v->name), v->extent / tile->lanes };
		bool blocked = dot_side(t->result) > 0;
		Text order = { .arena = s->arena };
		for (int k = 0; k < t->n; k++)
			if (k != tile->vector)
				loop[n++] = t->out[k];
			else if (blocked)
				loop[n++] = vectors;
		if (!blocked)
			loop[n++] = vectors;
		for (int k = 0; k < n; k++)
			text_add(&order, " %s", loop[k].name);
		sketch_step(s, "reorder%s %s.i", text_str(&order), v->name);
	}
	sketch_step(s, "vectorize %s.i", v->name);
	if (image)
		share_some(s, loop, n);
	else if (s->target->threads > 1)
		sketch_step(s, "parallel %s", t->out[tile->pixel].name);
}

void parts_steps(Sketch *s, const Tiled *t, const Tile *tile, bool image)
{
	const char *n = t->axis[tile->vector].name, *m = t->axis[tile->pixel].name;
	int64_t rows = t->axis[tile->pixel].extent, columns = t->axis[tile->vector].extent;
	int64_t width = tile->lanes * tile->vectors;
	const char *panel = arena_printf(s->arena, tile->vectors > 1 ? "%s.o.o" : "%s.o", n);
	Text order = { .arena = s->arena }, splits = tile->splits, unrolls = tile->unrolls;
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	sketch_step(s, "pack %s %s", tile->pack, tile->layout);
	tiled_merge_steps(s, t, !t->bare);
	if (image)
		block_sums(s, t, tile);
	if (t->selects)
		sketch_step(s, "skip %s", t->block);
	text_add(&s->steps, "%s", text_str(&splits));
	sketch_step(s, "split %s %lld", n, (long long)tile->lanes);
	if (tile->vectors > 1)
		sketch_step(s, "split %s.o %lld", n, (long long)tile->vectors);
	sketch_step(s, "split %s %lld", m, (long long)tile->pixels);
	text_add(&order, "%s %s", tile->reduce[0], panel);
	for (int k = 0; k < t->n; k++)
		if (k != tile->vector && k != tile->pixel)
			text_add(&order, " %s", t->axis[k].name);
	text_add(&order, " %s.o", m);
	for (int k = 1; k < tile->nreduce; k++)
		text_add(&order, " %s", tile->reduce[k]);
	text_add(&order, tile->vectors > 1 ? " %s.i %s.o.i %s.i" : " %s.i %s.i", m, n, n);
	sketch_step(s, "reorder %s", text_str(&order));
	sketch_step(s, "decompose_init %s %s", t->block, tile->reduce[0]);
	if (tile->ahead == AHEAD_TILE)
		sketch_step(s, "prefetch %s.p %s %s %s 1", tile->pack, t->block, panel, tile->reduce[1]);
	text_add(&s->steps, "%s", text_str(&unrolls));
	sketch_step(s, "unroll %s.i", m);
	if (tile->vectors > 1)
		sketch_step(s, "unroll %s.o.i", n);
	sketch_step(s, "vectorize %s.i", n);
	sketch_step(s, "vectorize %s.i.init", n);
	if (s->target->threads > 1)
		share_panels(s, t, tile, panel, image && columns % width == 0);
	if (rows % tile->pixels != 0)
		sketch_step(s, "cut %s.o %lld", m, (long long)(rows / tile->pixels));
	if (columns % width != 0)
		sketch_step(s, "cut %s %lld", panel, (long long)(columns / width));
	if (!t->bare)
		end_nest(s, t, tile, image);
	sketch_loops_but(s, t);
}
