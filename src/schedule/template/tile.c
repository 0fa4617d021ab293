/* See tile.h: the steps of a tile. tile_size.c chooses its sizes, reduction.c reads what is cut. */
#include "schedule/template/device.h"
#include "schedule/template/dot.h"
#include "schedule/template/ring.h"
#include "schedule/template/share.h"

#include "ir/build.h"

#include <string.h>

Tile tile_new(Sketch *s, const Tiled *t)
{
	Tile tile = { .vector = -1, .lanes = 1, .vectors = 1, .pixel = -1, .pixels = 1, .around = 1 };
	tile.splits = tile.unrolls = (Text){ .arena = s->arena };
	for (int k = 0; k < t->n; k++)
		tile.outer[k] = k;
	for (int k = 0; k < t->nreduce; k++)
		tile.reduce[tile.nreduce++] = t->reduce[k].name;
	tile.whole = t->dot != NULL;
	if (t->dot != NULL) /* both loops are one as yet */
		text_add(&tile.splits, "split %.*s %d\n", (int)strlen(t->four) - 2, t->four, DOT_STEPS);
	return tile;
}

/* Names of what splits leave: "c.o.o", "c.o.i", "c.i"; NULL where there is nothing. */
typedef struct Cut {
	const char *outer, *vectors, *lanes;
} Cut;

static const char *child(Sketch *s, const char *name, const char *part)
{
	return arena_printf(s->arena, "%s.%s", name, part);
}

static Cut cut_vector(Sketch *s, const TileAxis *x, int64_t lanes, int64_t vectors, int64_t part)
{
	Cut c = { .lanes = x->name };
	int64_t blocks = ceil_div(part, lanes);
	if (part <= lanes)
		return c;
	sketch_step(s, "split %s %lld", x->name, (long long)lanes);
	c.lanes = child(s, x->name, "i");
	c.vectors = child(s, x->name, "o");
	if (vectors >= blocks)
		return c;
	if (vectors > 1) {
		sketch_step(s, "split %s %lld", c.vectors, (long long)vectors);
		c.outer = child(s, c.vectors, "o");
		c.vectors = child(s, c.vectors, "i");
	} else {
		c.outer = c.vectors;
		c.vectors = NULL;
	}
	return c;
}

/* Names as cut_vector gives them. */
static Cut cut_overlapping(Sketch *s, const TileAxis *x, int64_t lanes, int64_t vectors)
{
	sketch_step(s, "split %s %lld overlap", x->name, (long long)(lanes * vectors));
	TileAxis tile = { child(s, x->name, "i"), lanes * vectors };
	Cut c = cut_vector(s, &tile, lanes, vectors, tile.extent);
	c.outer = child(s, x->name, "o");
	return c;
}

static void add_name(Text *line, const char *name)
{
	if (name != NULL)
		text_add(line, " %s", name);
}

static void step_if(Sketch *s, const char *what, const char *name)
{
	if (name != NULL)
		sketch_step(s, "%s %s", what, name);
}

static void paste(Sketch *s, const Text *steps)
{
	Text copy = *steps;
	text_add(&s->steps, "%s", text_str(&copy));
}

/* The entries of tile->outer. */
static int count_outer(const Tiled *t, const Tile *tile)
{
	return t->n + (tile->band > 0);
}

int tile_outer(const Tiled *t, const Tile *tile, int *axis)
{
	int n = 0;
	for (int k = 0; k < count_outer(t, tile); k++) {
		int x = tile->outer[k];
		int64_t extent = t->out[x].extent;
		if ((x == tile->vector && tile->group == 0 && extent <= tile->lanes * tile->vectors) ||
			(x == tile->pixel && extent <= tile->pixels))
			continue;
		axis[n++] = x;
	}
	return n;
}

/* The loops around the tile, outermost first. */
typedef struct Outer {
	int n;
	TileAxis loop[TILE_AXES + 2];
} Outer;

static void add_outer(Outer *o, const char *name, int64_t extent)
{
	if (name != NULL)
		o->loop[o->n++] = (TileAxis){ name, extent };
}

static Outer outer_loops(
	Sketch *s, const Tiled *t, const Tile *tile, const char *groups, const Cut *vec, const Cut *pix)
{
	Outer o = { 0 };
	bool in_band = false;
	for (int k = 0; k < count_outer(t, tile); k++) {
		int x = tile->outer[k];
		int64_t extent = t->out[x].extent, part = tile->lanes * tile->vectors;
		if (x == tile->vector || (tile->rows && x == TILE_ROWS)) {
			add_outer(&o, groups, groups != NULL ? t->out[tile->vector].extent / tile->group : 1);
			groups = NULL;
		}
		if (x == tile->vector && tile->group != 0)
			extent = tile->group;
		if (x == tile->vector)
			add_outer(&o, vec->outer, ceil_div(extent, part));
		else if (x == tile->pixel)
			add_outer(&o, pix->outer, ceil_div(extent, tile->pixels));
		else if (x == TILE_ROWS && tile->band > 0) {
			add_outer(&o, child(s, t->out[x].name, in_band ? "i" : "o"), in_band ? tile->band : extent / tile->band);
			in_band = true;
		} else
			add_outer(&o, t->out[x].name, extent);
	}
	return o;
}

static bool is_among(const Outer *o, int n, const char *name)
{
	bool found = false;
	for (int k = 0; k < n; k++)
		found |= name != NULL && o->loop[k].name == name;
	return found;
}

/*
 * The blocks of a launch share all loops. But a loop that has code of its own at its ends stays in a block, and those
 * in it, if the others are blocks enough; and so do those in `last`, in which another nest stands beside them. How many
 * are bound.
 */
static int bind_steps(Sketch *s, const Outer *o, const char *const ends[2], const char *last)
{
	int64_t blocks = 1;
	int n = 0;
	for (; n < o->n; n++) {
		const char *name = o->loop[n].name;
		if (blocks >= s->target->cores && (name == ends[0] || name == ends[1]))
			break;
		if (last != NULL && n > 0 && o->loop[n - 1].name == last)
			break;
		blocks *= o->loop[n].extent;
	}
	device_bind_grid(s, o->loop, n);
	return n;
}

static void reduction_steps(Sketch *s, const Tiled *t, const Tile *tile)
{
	const TileAxis *v = &t->axis[tile->vector];
	int64_t all = tile->group != 0 ? tile->group : v->extent;
	int64_t part = tile->lanes * tile->vectors < all ? tile->lanes * tile->vectors : all;
	if (t->selects)
		sketch_step(s, "skip %s", t->block);
	paste(s, &tile->splits);
	Cut vec = cut_vector(s, v, tile->lanes, tile->vectors, part);
	Text line = { .arena = s->arena };
	for (int k = 0; k < t->n; k++)
		if (k != tile->vector && k != tile->pixel)
			add_name(&line, t->axis[k].name);
	for (int k = 0; k < tile->nreduce; k++)
		add_name(&line, tile->reduce[k]);
	if (tile->pixel >= 0)
		add_name(&line, t->axis[tile->pixel].name);
	add_name(&line, vec.vectors);
	add_name(&line, vec.lanes);
	add_name(&line, t->four);
	sketch_step(s, "reorder%s", text_str(&line));
	if (t->dot != NULL)
		dot_steps(s, t, tile, vec.vectors, vec.lanes);
	paste(s, &tile->unrolls);
	if (tile->pixel >= 0)
		sketch_step(s, "unroll %s", t->axis[tile->pixel].name);
	step_if(s, "unroll", vec.vectors);
	if (t->dot == NULL)
		sketch_step(s, "vectorize %s", vec.lanes);
}

/*
 * Tiles at the ends of an axis are code of their own, so that those between them test nothing; a few
 * tiles are all written out.
 */
void tile_ends(Sketch *s, const TileAxis *x, int64_t part, const char *outer, bool both)
{
	int64_t n = ceil_div(x->extent, part);
	if (outer == NULL || n < 2)
		return;
	if (n <= TMPL_FEW_TILES && both) {
		sketch_step(s, "unroll %s", outer);
		return;
	}
	if (both) {
		sketch_step(s, "cut %s 1", outer);
		outer = child(s, outer, "2");
		n--;
	}
	sketch_step(s, "cut %s %lld", outer, (long long)(n - 1));
}

/* Before anything is cut: copies of loops ask for themselves. */
static void ahead_steps(Sketch *s, const Tiled *t, const Tile *tile, const char *tiles)
{
	if (tile->pack == NULL)
		return;
	if (tile->ahead == AHEAD_TILE && tiles != NULL)
		sketch_step(s, "prefetch %s.p %s %s %s 1", tile->pack, t->block, tiles, tile->reduce[0]);
	if (tile->ahead != AHEAD_STREAM || tile->stream == NULL)
		return;
	sketch_step(
		s, "prefetch %s.p %s %s %s %lld", tile->pack, t->block, tile->stream, tile->stream, (long long)tile->far);
	sketch_step(s, "unroll %s.p.f", tile->pack);
}

bool tile_algorithm(Sketch *s, const Tiled *t, const char *own)
{
	KnobOption option[KNOB_OPTIONS] = { { .kind = KNOB_WORD, .word = own } };
	const TemplateAlgo *of[KNOB_OPTIONS] = { NULL };
	int n = 1, first = 0;
	for (const TemplateAlgo *const *a = s->tmpl->algo; a != NULL && *a != NULL; a++) {
		int64_t param[TEMPLATE_PARAMS], best = 0;
		int count = (*a)->offer(s, t, param, &best);
		for (int k = 0; k < count && n < KNOB_OPTIONS; k++) {
			first = first == 0 && param[k] == best ? n : first;
			const Algo *algo = algo_find((*a)->name);
			double saves = algo->saves(s->task->dag, tile_anchor(s->task->dag), &param[k]);
			of[n] = *a;
			option[n++] = (KnobOption){ .kind = KNOB_ALGO, .algo = { algo, param[k], saves } };
		}
	}
	int picked = sketch_knob(s, "algorithm", option, n, first);
	sketch_opens(s);
	if (picked > 0)
		of[picked]->steps(s, t, option[picked].algo.param);
	return picked > 0;
}

/*
 * The loop in which the prologue is made, a part each time: that of pixels around all loops of lanes, so that each tile
 * of lanes reads it. NULL: none, as a nest of its own is as good as a copy of whole images.
 */
static const char *loop_of_prologue(const Tiled *t, const Tile *tile, const Outer *o, const char *groups,
	const char *lanes)
{
	int n = 0;
	if (t->nbefore == 0 || tile->before != BEFORE_PIXELS || tile->image == NULL)
		return NULL;
	while (n < o->n && o->loop[n].name != groups && o->loop[n].name != lanes)
		n++;
	return n > 1 ? o->loop[n - 1].name : NULL;
}

/*
 * The prologue as one nest, after the loops of the tile are made; what it makes lies in blocks of channels, so that
 * vectors of them are computed. A row-major one is left to the generated space. *rest: the nests that are left.
 */
static void before_steps(Sketch *s, const Tiled *t, const Tile *tile, const char *at, Tiled *rest)
{
	*rest = *t;
	bool left = tile->before != BEFORE_EACH && tile->image == NULL;
	for (int k = 0; k + left < t->nbefore; k++)
		rest->middle[rest->nmiddle++] = t->before[k];
	if (t->nbefore == 0 || tile->before == BEFORE_EACH || left)
		return;
	const TileAxis *c = &t->make[1];
	if (at != NULL)
		sketch_step(s, "compute_at %s %s", t->before[t->nbefore - 1], at);
	sketch_step(s, "layout %s %s", t->made->name, tile->image);
	Cut vec = cut_vector(s, c, tile->lanes, 1, c->extent);
	Outer o = { 0 };
	add_outer(&o, t->make[0].name, t->make[0].extent);
	add_outer(&o, vec.outer != NULL ? vec.outer : vec.vectors, ceil_div(c->extent, tile->lanes));
	for (int k = 2; k < t->nmade; k++)
		add_outer(&o, t->make[k].name, t->make[k].extent);
	Text line = { .arena = s->arena };
	for (int k = 0; k < o.n; k++)
		add_name(&line, o.loop[k].name);
	add_name(&line, vec.lanes);
	sketch_step(s, "reorder%s", text_str(&line));
	sketch_step(s, "vectorize %s", vec.lanes);
	if (at == NULL && target_has_blocks(s->target))
		bind_steps(s, &o, (const char *[2]){ NULL }, NULL);
	else if (at == NULL)
		share_some(s, o.loop, o.n);
}

/*
 * A tile that has all lanes of its axis, in several vectors of which the last is not full: its sums lie in whole
 * vectors, or a vector would share elements with the next pixel's, and none would be in a register.
 */
static void widen_sums(Sketch *s, const Tiled *t, const Tile *tile, const Cut *vec, int64_t extent)
{
	static const char *const letters[] = { "", "", "NC", "NCW", "NCHW", "NCDHW" };
	if (vec->outer != NULL || extent <= tile->lanes || extent % tile->lanes == 0 || t->n < 2 ||
		t->n >= (int)(sizeof letters / sizeof *letters))
		return;
	char inner = (char)(letters[t->n][tile->vector] - 'A' + 'a');
	sketch_step(s, "layout %s %s%lld%c", t->sums, letters[t->n], (long long)tile->lanes, inner);
}

/*
 * What a tile of lanes reads of a tensor whose rows are its lanes, turned: some rows written out, so that stores to a
 * line follow each other.
 */
static void copy_steps(Sketch *s, const Tiled *t, const Tile *tile, const char *at)
{
	const char *rows = arena_printf(s->arena, "%s.c.%d", tile->copy, tile->copied);
	sketch_step(s, "cache_read %s %s %s", tile->copy, t->block, at);
	sketch_step(s, "layout %s.c %s", tile->copy, tile->layout);
	if (t->axis[tile->vector].extent > TMPL_COPY_ROWS) {
		sketch_step(s, "split %s %d", rows, TMPL_COPY_ROWS);
		sketch_step(s, "reorder %s.o %s.c.%d %s.i", rows, tile->copy, tile->copied + 1, rows);
		rows = child(s, rows, "i");
	} else {
		sketch_step(s, "reorder %s.c.%d %s", tile->copy, tile->copied + 1, rows);
	}
	sketch_step(s, "unroll %s", rows);
}

/*
 * The loop of a tile of lanes, or where one tile has all or all are copied at once, the one around the loop of lanes or
 * pixels. NULL: there is none.
 */
static const char *loop_of_copy(const Outer *o, const char *lanes, const char *pixels, bool all)
{
	const char *inner = lanes != NULL ? lanes : pixels;
	int n = 0;
	while (n < o->n && o->loop[n].name != inner)
		n++;
	return lanes != NULL && (!all || n == 0) ? lanes : n > 0 && n < o->n ? o->loop[n - 1].name : NULL;
}

/* What is done to whole buffers: before loops are cut. */
static void begin_steps(Sketch *s, const Tiled *t, const Tile *tile)
{
	for (int k = 0; k < t->nbefore - (tile->before != BEFORE_EACH); k++)
		sketch_step(s, "inline %s", t->before[k]);
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	if (t->bare)
		sketch_step(s, "cache_write %s", t->block);
	if (tile->pack != NULL)
		sketch_step(s, "pack %s %s", tile->pack, tile->layout);
	tiled_merge_steps(s, t, true);
}

/* The loops of a tile that is cut. */
typedef struct Pieces {
	TileAxis v; /* the axis of lanes, or a group's part of it */
	bool tail;  /* its last tile is not whole */
	const char *groups;
	Cut vec, pix;
	Outer outer;
} Pieces;

static Pieces cut_steps(Sketch *s, const Tiled *t, const Tile *tile)
{
	Text line = { .arena = s->arena };
	Pieces p = { .v = t->out[tile->vector] };
	if (tile->group != 0) {
		sketch_step(s, "split %s %lld", p.v.name, (long long)tile->group);
		p.groups = child(s, p.v.name, "o");
		p.v = (TileAxis){ child(s, p.v.name, "i"), tile->group };
	}
	p.tail = p.v.extent % (tile->lanes * tile->vectors) != 0 && !tile_overlaps(s, tile);
	p.vec = tile_overlaps(s, tile) ? cut_overlapping(s, &p.v, tile->lanes, tile->vectors)
		: cut_vector(s, &p.v, tile->lanes, tile->vectors, p.v.extent);
	if (tile->pixel >= 0) {
		const TileAxis *x = &t->out[tile->pixel];
		p.pix.lanes = x->name;
		int axis[TILE_AXES + 1];
		/* Sums are made in a loop: where one tile is all there is, in one of a single iteration. */
		if (tile->pixels < x->extent || tile_outer(t, tile, axis) == 0) {
			sketch_step(s, "split %s %lld", x->name, (long long)tile->pixels);
			p.pix = (Cut){ .outer = child(s, x->name, "o"), .lanes = child(s, x->name, "i") };
		}
	}
	if (tile->band > 0)
		sketch_step(s, "split %s %lld", t->out[TILE_ROWS].name, (long long)tile->band);
	p.outer = outer_loops(s, t, tile, p.groups, &p.vec, &p.pix);
	if (p.outer.n == 0 && tile->pixel >= 0) { /* one tile is all there is: a loop of one turn keeps its sums */
		sketch_step(s, "split %s %lld", p.pix.lanes, (long long)t->out[tile->pixel].extent);
		add_outer(&p.outer, child(s, p.pix.lanes, "o"), 1);
		p.pix.lanes = child(s, p.pix.lanes, "i");
	}
	const char *last = p.outer.n > 0 ? p.outer.loop[p.outer.n - 1].name : NULL;
	for (int k = 0; k < p.outer.n; k++)
		add_name(&line, p.outer.loop[k].name);
	add_name(&line, p.pix.lanes);
	add_name(&line, p.vec.vectors);
	add_name(&line, p.vec.lanes);
	if (strchr(text_str(&line) + 1, ' ') != NULL)
		sketch_step(s, "reorder%s", text_str(&line));
	if (last != NULL) {
		sketch_step(s, "compute_at %s %s", t->block, last);
		const char *at = tile->copy != NULL ? loop_of_copy(&p.outer, p.vec.outer, p.pix.outer, tile->copy_all) : NULL;
		if (at != NULL)
			copy_steps(s, t, tile, at);
		widen_sums(s, t, tile, &p.vec, p.v.extent);
		reduction_steps(s, t, tile);
		ahead_steps(s, t, tile, p.vec.outer);
	}
	step_if(s, "unroll", p.pix.lanes);
	step_if(s, "unroll", p.vec.vectors);
	sketch_step(s, "vectorize %s", p.vec.lanes);
	return p;
}

/*
 * Cuts or writes out the ends of axes, but not of the first `bound` loops. A loop of few tiles that threads share
 * (`shared`) stays a loop, since a parallel loop cannot be written out.
 */
static void end_steps(Sketch *s, const Tiled *t, const Tile *tile, const Pieces *p, int bound, const char *shared)
{
	bool ends = tile->first && tile->last;
	bool few = ends && ceil_div(t->out[tile->pixel].extent, tile->pixels) <= TMPL_FEW_TILES;
	if (tile->last && !is_among(&p->outer, bound, p->pix.outer) && !(few && shared == p->pix.outer))
		tile_ends(s, &t->out[tile->pixel], tile->pixels, p->pix.outer, tile->first);
	if (p->tail && !is_among(&p->outer, bound, p->vec.outer))
		tile_ends(s, &p->v, tile->lanes * tile->vectors, p->vec.outer, false);
}

static int bind_tiles(Sketch *s, const Tiled *t, const Tile *tile, const Pieces *p)
{
	const char *const ends[2] = { tile->last ? p->pix.outer : NULL, p->tail ? p->vec.outer : NULL };
	return bind_steps(s, &p->outer, ends, loop_of_prologue(t, tile, &p->outer, p->groups, p->vec.outer));
}

/*
 * How many loops a team's threads may share as one, from *from on, the outermost one of several iterations. A loop that
 * has code of its own at its ends is none of several; but the tile of lanes at the end of the outermost one has a nest
 * of its own. Tiles of lanes that overlap are not shared. What a prologue makes in a loop, a copy, or the rows of a
 * ring stand between that loop and those in it.
 */
static int may_share(const Tiled *t, const Tile *tile, const Pieces *p, bool overlaps, int *from)
{
	const TileAxis *loop = p->outer.loop;
	int n = p->outer.n, first = 0, count = 0;
	const char *at = loop_of_prologue(t, tile, &p->outer, p->groups, p->vec.outer);
	while (first < n && loop[first].extent <= 1)
		first++;
	*from = first;
	for (int k = first; k < n && count < TMPL_NEST_SHARED; k++) {
		bool lanes = loop[k].name == p->vec.outer, pixels = loop[k].name == p->pix.outer;
		bool ends = (pixels && tile->last) || (lanes && (overlaps || (p->tail && k > first)));
		if (count == 0 && lanes && overlaps)
			break; /* two threads would write the same elements */
		if (count > 0 && (ends || tile->rows || loop[k - 1].name == at || (tile->copies && (lanes || pixels))))
			break;
		count++;
		if (ends)
			break;
	}
	return count;
}

/* The part of a whole tile of lanes that the last one has, where the outermost shared loop is that of lanes. */
static double rest_of(const Tile *tile, const Pieces *p, int from)
{
	int64_t part = tile->lanes * tile->vectors;
	bool tail = p->tail && p->outer.loop[from].name == p->vec.outer;
	return tail ? (double)(p->v.extent % part) / (double)part : 0;
}

/* Without the last tile of lanes. */
static TileAxis outermost_of(const Tile *tile, const Pieces *p, int from)
{
	TileAxis x = p->outer.loop[from];
	x.extent -= rest_of(tile, p, from) > 0;
	return x;
}

static int guess_shares(const Sketch *s, const Tile *tile, const Pieces *p, int from, int n)
{
	TileAxis loop[TMPL_NEST_SHARED];
	memcpy(loop, p->outer.loop + from, sizeof *loop * (size_t)n);
	loop[0] = outermost_of(tile, p, from);
	return share_guess(s->target, loop, n, rest_of(tile, p, from));
}

void tile_shares(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t option[TMPL_NEST_SHARED], part = tile->lanes * tile->vectors;
	bool overlaps = tile_overlaps(s, tile);
	Pieces p = { .v = t->out[tile->vector], .groups = tile->group != 0 ? "groups" : NULL };
	int from;
	if (s->target->threads < 2 || target_has_blocks(s->target))
		return;
	p.v.extent = tile->group != 0 ? tile->group : p.v.extent;
	p.vec.outer = p.v.extent > part ? "lanes" : NULL;
	p.pix.outer = tile->pixel >= 0 && t->out[tile->pixel].extent > tile->pixels ? "pixels" : NULL;
	p.tail = p.v.extent % part != 0 && !overlaps;
	p.outer = outer_loops(s, t, tile, p.groups, &p.vec, &p.pix);
	int n = may_share(t, tile, &p, overlaps, &from);
	for (int k = 0; k < n; k++)
		option[k] = k + 1;
	if (n > 0)
		tile->shares =
			(int)sketch_number(s, tile_name(s, tile, "share"), option, n, guess_shares(s, tile, &p, from, n) - 1);
}

/*
 * Several loops as one, behind the cuts of their ends: the last tile of lanes has a nest of its own. `cut` gives names
 * in .2 to that copy, or in .3 where loops of pixels were cut before (tile_ends).
 */
static void share_several(Sketch *s, const Tiled *t, const Tile *tile, const Pieces *p, int from, int n)
{
	TileAxis loop[TMPL_NEST_SHARED], last[TMPL_NEST_SHARED];
	int64_t pixels = p->pix.outer != NULL ? ceil_div(t->out[tile->pixel].extent, tile->pixels) : 1;
	const char *copy = tile->last && pixels > (tile->first ? TMPL_FEW_TILES : 1) ? "3" : "2";
	for (int k = 0; k < n; k++) {
		loop[k] = k == 0 ? outermost_of(tile, p, from) : p->outer.loop[from + k];
		last[k] = (TileAxis){ child(s, loop[k].name, copy), loop[k].extent };
	}
	bool one = loop[0].extent == 1;
	share_as_one(s, loop + one, n - one);
	if (rest_of(tile, p, from) > 0)
		share_as_one(s, last + 1, n - 1);
}

/* Threads share loops, and the ends of axes are cut. */
static void share_steps(Sketch *s, const Tiled *t, const Tile *tile, const Pieces *p)
{
	int from = 0, n = may_share(t, tile, p, tile_overlaps(s, tile), &from);
	if (target_has_blocks(s->target)) {
		end_steps(s, t, tile, p, bind_tiles(s, t, tile, p), NULL);
		return;
	}
	if (n > 0 && s->target->threads > 1)
		n = tile->shares > 0 ? tile->shares : guess_shares(s, tile, p, from, n);
	const char *one = n == 1 && s->target->threads > 1 ? p->outer.loop[from].name : NULL;
	step_if(s, "parallel", one);
	end_steps(s, t, tile, p, 0, one);
	if (n > 1 && s->target->threads > 1)
		share_several(s, t, tile, p, from, n);
}

void tile_steps(Sketch *s, const Tiled *t, const Tile *tile)
{
	Tiled rest;
	begin_steps(s, t, tile);
	Pieces p = cut_steps(s, t, tile);
	before_steps(s, t, tile, loop_of_prologue(t, tile, &p.outer, p.groups, p.vec.outer), &rest);
	share_steps(s, t, tile, &p);
	sketch_loops_but(s, &rest);
}

void tile_ring_steps(Sketch *s, const Tiled *t, const Tile *tile, const Tiled *made, const Tile *by)
{
	const char *rows = t->out[TILE_ROWS].name;
	const char *last = made->bare ? arena_printf(s->arena, "%s.write", made->block) : made->last;
	begin_steps(s, t, tile);
	begin_steps(s, made, by);
	Pieces p = cut_steps(s, t, tile);
	int from = 0, bound = 0, n = may_share(t, tile, &p, tile_overlaps(s, tile), &from);
	const char *shared = NULL;
	if (target_has_blocks(s->target))
		bound = bind_tiles(s, t, tile, &p);
	else if (n > 0 && s->target->threads > 1)
		shared = p.outer.loop[from].name;
	step_if(s, "parallel", shared);
	sketch_step(s, "compute_at %s %s", last, rows);
	sketch_step(s, "store_at %s %s", made->result->name, rows);
	sketch_step(s, "layout %s %s", made->result->name, tile->image);
	sketch_step(s, "ring %s %s", last, rows);
	Pieces own = cut_steps(s, made, by);
	end_steps(s, t, tile, &p, bound, shared);
	end_steps(s, made, by, &own, 0, NULL);
}
