/*
 * The generated space of a reduction: Ansor's sketch, as knobs. Spatial axes have two levels of tiles, the reduction
 * has two of its own:
 *
 *	for blocks.. { for tiles.. { for reduce.. { for step unrolled { for tile.. unrolled { for lane vector { sum }}}}
 *	                             store the tile }}                                         sums=tile
 *	for blocks.. { for depth.. { for tiles.. { for reduce.. { .. { sum }}}}
 *	               store the block }                                                       sums=block
 *
 * The sums of a tile are in registers. Those of a block are in a buffer of the block, from which a tile is loaded for
 * each part of the depth. What stores the result is the elementwise nest behind the reduction, or a copy of its own. An
 * operand may be packed: a constant when the model is compiled, another one for each block. A spatial axis has the
 * lanes; a part of a reduce axis may have them instead, which makes partial sums side by side. It knows loops and
 * iterators, no operator.
 */
#include "schedule/template/loop_tile.h"

#include "op/layout.h"

#include <ctype.h>
#include <string.h>

static const char *child(const LoopTile *t, const char *name, const char *part)
{
	return arena_printf(t->s->arena, "%s.%s", name, part);
}

static void add_name(Text *line, const char *name)
{
	if (name != NULL)
		text_add(line, " %s", name);
}

static void reorder(const LoopTile *t, Text *line)
{
	if (line->n > 0 && strchr(text_str(line) + 1, ' ') != NULL)
		sketch_step(t->s, "reorder%s", text_str(line));
}

static const char *split(const LoopTile *t, const char *name, int64_t size, const char **outer)
{
	sketch_step(t->s, "split %s %lld", name, (long long)size);
	*outer = child(t, name, "o");
	return child(t, name, "i");
}

/* Axes of the nest that stores, in its order; those of `axis` first or last. */
static int in_order(const LoopTile *t, int first, int last, int *order)
{
	int n = 0;
	if (first >= 0)
		order[n++] = first;
	for (int k = 0; k < t->n; k++)
		if (t->of_out[k] != first && t->of_out[k] != last)
			order[n++] = t->of_out[k];
	if (last >= 0 && last != first)
		order[n++] = last;
	return n;
}

/* The loops around the sums, outermost first; *blocks: those of blocks. */
static int outer_steps(LoopTile *t, const char **loop, int *axis, int *blocks)
{
	int order[BLOCK_AXES], n = 0, m;
	for (int k = 0; k < t->n; k++) {
		Spatial *x = &t->x[k];
		int64_t part = x->tile * x->block;
		x->inner = x->out;
		if (part < x->extent)
			x->inner = split(t, x->out, part, &x->outer);
		if (!t->in_blocks && x->block > 1)
			x->inner = split(t, x->inner, x->tile, &x->middle);
	}
	m = in_order(t, t->first, NONE, order);
	for (int k = 0; k < m; k++)
		if (t->x[order[k]].outer != NULL) {
			axis[n] = order[k];
			loop[n++] = t->x[order[k]].outer;
		}
	*blocks = n;
	m = in_order(t, NONE, t->last, order);
	for (int k = 0; k < m; k++)
		if (t->x[order[k]].middle != NULL) {
			axis[n] = order[k];
			loop[n++] = t->x[order[k]].middle;
		}
	if (n == 0) { /* a loop of one turn keeps the sums */
		int k = t->of_out[0];
		int64_t all = t->x[k].extent;
		t->x[k].inner = split(t, t->x[k].out, all, &t->x[k].outer);
		axis[n] = k;
		loop[n++] = t->x[k].outer;
		*blocks = 1;
	}
	return n;
}

/*
 * Loops of the nest that stores, below those around the sums. The axis of lanes, or the contiguous one, has vectors.
 * Gives their loop; NULL: there is one vector.
 */
static const char *store_steps(LoopTile *t, const char *const *loop, int n)
{
	Text line = { .arena = t->s->arena };
	int64_t lanes = target_lanes(t->s->target, t->nest->made->type);
	int v = t->vector >= 0 ? t->vector : t->of_out[t->n - 1], order[BLOCK_AXES];
	int64_t part = t->x[v].tile * (t->in_blocks ? t->x[v].block : 1);
	const char *vectors = NULL, *lane = t->x[v].inner;
	part = part < t->x[v].extent ? part : t->x[v].extent;
	lanes = t->vector >= 0 ? t->lanes : lanes;
	if (part > lanes)
		lane = split(t, lane, lanes, &vectors);
	for (int k = 0; k < n; k++)
		add_name(&line, loop[k]);
	in_order(t, NONE, v, order);
	for (int k = 0; k < t->n - 1; k++)
		add_name(&line, t->x[order[k]].inner);
	add_name(&line, vectors);
	add_name(&line, lane);
	reorder(t, &line);
	t->x[v].inner = lane;
	t->x[v].middle = t->in_blocks ? vectors : t->x[v].middle;
	return vectors;
}

/* A tile is written out: a loop over its sums would keep them in memory. */
static void store_runs(const LoopTile *t, const char *vectors)
{
	int v = t->vector >= 0 ? t->vector : t->of_out[t->n - 1];
	for (int k = 0; k < t->n && !t->in_blocks; k++)
		if (k != v && t->x[k].tile > 1)
			sketch_step(t->s, "unroll %s", t->x[k].inner);
	if (!t->in_blocks && vectors != NULL)
		sketch_step(t->s, "unroll %s", vectors);
	if (t->x[v].tile > 1)
		sketch_step(t->s, "vectorize %s", t->x[v].inner);
}

/*
 * Sums in whole vectors where the last one of a tile is not full: else it would share elements with the next row, and
 * none would be in a register.
 */
static void widen_sums(const LoopTile *t)
{
	const BlockNest *n = t->nest;
	Text layout = { .arena = t->s->arena };
	int rank = n->made->rank;
	if (t->vector < 0 || rank < 2 || t->in_blocks || t->x[t->vector].tile <= t->lanes ||
		t->x[t->vector].tile % t->lanes == 0)
		return;
	for (int d = 0; d < rank; d++)
		text_add(&layout, "%c", layout_letter(rank, d));
	for (int d = 0; d < rank; d++)
		if (n->axis_of[d] == t->vector)
			text_add(&layout, "%lld%c", (long long)t->lanes, tolower(layout_letter(rank, d)));
	sketch_step(t->s, "layout %s%s %s", n->made->name, t->root == NULL ? ".c" : "", text_str(&layout));
}

/* The loops of the sums, which stand below the others now. */
static const char *sum_steps(LoopTile *t)
{
	Sketch *s = t->s;
	Text line = { .arena = s->arena };
	const char *parts = NULL, *step = NULL, *vectors = NULL, *lane = NULL, *name[BLOCK_AXES];
	int order[BLOCK_AXES], n = in_order(t, NONE, t->last, order);
	if (t->skips)
		sketch_step(s, "skip %s", t->nest->block);
	for (int k = 0; k < t->n; k++) {
		Spatial *x = &t->x[k];
		x->own_inner = x->own; /* NULL: a dimension of one element */
		if (t->in_blocks && x->block > 1)
			x->own_inner = split(t, x->own, x->tile, &x->own_tiles);
	}
	for (int k = 0; k < t->nreduce; k++)
		name[k] = t->r[k].name;
	if (t->depth < t->r[t->deep].extent)
		name[t->deep] = split(t, name[t->deep], t->depth, &parts);
	if (t->partial >= 0)
		lane = split(t, name[t->partial], t->lanes, &name[t->partial]);
	if (t->steps > 1) {
		const char *outer;
		step = split(t, name[t->inner], t->steps, &outer);
		name[t->inner] = outer;
	}
	if (t->vector >= 0) {
		lane = t->x[t->vector].own_inner;
		if (t->x[t->vector].tile > t->lanes)
			lane = split(t, lane, t->lanes, &vectors);
	}
	add_name(&line, parts);
	for (int k = 0; k < n; k++)
		add_name(&line, t->x[order[k]].own_tiles);
	for (int k = 0; k < t->nreduce; k++)
		if (k != t->inner)
			add_name(&line, name[k]);
	add_name(&line, name[t->inner]);
	add_name(&line, step);
	for (int k = 0; k < t->n; k++)
		if (k != t->vector)
			add_name(&line, t->x[k].own_inner);
	add_name(&line, vectors);
	add_name(&line, lane);
	reorder(t, &line);
	if (t->partial >= 0 && lane != NULL)
		sketch_step(s, "rfactor %s %s", t->nest->block, lane);
	if (parts != NULL) {
		sketch_step(s, "decompose_init %s %s", t->nest->block, parts);
		if (t->vector >= 0)
			sketch_step(s, "vectorize %s.init", lane);
	}
	if (t->ahead > 0) {
		sketch_step(s, "prefetch %s.p %s %s %s %lld", t->copy.buf->name, t->nest->block, name[t->inner], name[t->inner],
			(long long)t->ahead);
		sketch_step(s, "unroll %s.p.f", t->copy.buf->name);
	}
	step = t->steps > 1 ? step : NULL;
	if (step != NULL)
		sketch_step(s, "unroll %s", step);
	for (int k = t->nreduce - 1, found = 0; t->taps && k >= 0 && !found; k--)
		if (k != t->inner) {
			sketch_step(s, "unroll %s", name[k]);
			found = 1;
		}
	for (int k = 0; k < t->n; k++)
		if (k != t->vector && t->x[k].tile > 1)
			sketch_step(s, "unroll %s", t->x[k].own_inner);
	if (vectors != NULL)
		sketch_step(s, "unroll %s", vectors);
	if (lane != NULL)
		sketch_step(s, "vectorize %s", lane);
	return parts;
}

static void pack_step(const LoopTile *t)
{
	const Buf *b = t->copy.buf;
	Text layout = { .arena = t->s->arena };
	int at = 0;
	while (t->copy.axis[at] != t->vector)
		at++;
	char lanes = layout_letter(b->rank, at);
	bool several = t->x[t->vector].tile < t->x[t->vector].extent;
	if (several)
		text_add(&layout, "%c", lanes);
	for (int d = 0; d < b->rank; d++)
		if (d != at)
			text_add(&layout, "%c", layout_letter(b->rank, d));
	if (several)
		text_add(&layout, "%lld%c", (long long)t->x[t->vector].tile, tolower(lanes));
	else /* all lanes are one tile */
		text_add(&layout, "%c", lanes);
	sketch_step(t->s, "pack %s %s", b->name, text_str(&layout));
}

/* The part of an operand that a block reads, copied there, lanes side by side. */
static void copy_steps(const LoopTile *t, const char *at)
{
	const Buf *b = t->copy.buf;
	int side = b->rank - 1;
	sketch_step(t->s, "cache_read %s %s%s %s", b->name, t->nest->block, t->partial >= 0 ? ".rf" : "", at);
	for (int d = 0; t->turns && d < b->rank; d++)
		if (t->copy.axis[d] == t->vector) {
			Text layout = { .arena = t->s->arena };
			for (int e = 0; e < b->rank; e++)
				if (e != d)
					text_add(&layout, "%c", layout_letter(b->rank, e));
			text_add(&layout, "%c", layout_letter(b->rank, d));
			sketch_step(t->s, "layout %s.c %s", b->name, text_str(&layout));
		}
	int64_t part = loop_tile_part(t, &t->copy, side), lanes = target_lanes(t->s->target, b->type);
	const char *loop = arena_printf(t->s->arena, "%s.c.%d", b->name, side), *outer;
	if (t->turns || lanes < 2 || part < 2)
		return;
	if (part > lanes && part % lanes == 0)
		loop = split(t, loop, lanes, &outer);
	else if (part > lanes)
		return;
	sketch_step(t->s, "vectorize %s", loop);
}

/* The last tile of an axis is code of its own where it is not whole, but of loops that threads share together. */
static void end_steps(const LoopTile *t, int fused, const char *const *loop, const int *axis, int n, int blocks)
{
	for (int k = fused > 1 ? fused : 0; k < n; k++) {
		const Spatial *x = &t->x[axis[k]];
		int64_t part = k < blocks ? x->tile * x->block : x->tile;
		bool rest = k < blocks ? x->outer != NULL && x->extent % part != 0
			: x->outer == NULL && x->extent % part != 0;
		int64_t many = ceil_div(x->extent, part);
		if (rest && many > 1)
			sketch_step(t->s, "cut %s %lld", loop[k], (long long)(many - 1));
	}
	for (int k = 0; k < t->n && t->in_blocks; k++)
		if (t->x[k].own_tiles != NULL && t->x[k].outer == NULL && t->x[k].extent % t->x[k].tile != 0)
			sketch_step(t->s, "cut %s %lld", t->x[k].own_tiles, (long long)(t->x[k].extent / t->x[k].tile));
}

void loop_tile(Sketch *s, BlockSet *set, int at)
{
	LoopTile t = loop_tile_ask(s, set, at);
	const char *loop[2 * BLOCK_AXES];
	int axis[2 * BLOCK_AXES], blocks;
	if (t.packs)
		pack_step(&t);
	if (t.root == NULL)
		sketch_step(s, "cache_write %s", t.nest->block);
	int n = outer_steps(&t, loop, axis, &blocks);
	const char *vectors = store_steps(&t, loop, n);
	sketch_step(s, "compute_at %s %s", t.nest->block, loop[n - 1]);
	widen_sums(&t);
	const char *parts = sum_steps(&t);
	if (t.copies)
		copy_steps(&t, parts != NULL ? parts : loop[blocks - 1]);
	store_runs(&t, vectors);
	if (t.shares > 1)
		for (int k = 1; k < t.shares; k++) {
			sketch_step(s, "fuse %s %s", loop[0], loop[k]);
			loop[0] = arena_printf(s->arena, "%s_%s", loop[0], loop[k]);
		}
	if (t.shares > 0)
		sketch_step(s, "parallel %s", loop[0]);
	end_steps(&t, t.shares, loop, axis, n, blocks);
}
