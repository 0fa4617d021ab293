/*
 * Winograd's algorithm as the template of convolutions schedules it: its knobs "wino.*", and the steps that a choice of
 * them stands for. Transformations and products go over blocks of tile rows, or of tiles where there is one row, so
 * that V and M stay in the cache. The product is a register tile of p tiles by f vectors of output channels. With
 * blocks of rows, the trace makes
 *
 *	for y.th.o {                                     (parallel)
 *		wino.v: for v.th, v.tw { for v.c.o { for v.c.i vector }}
 *		wino.m: for m.i, m.j { for m.o.o { for tiles.o { for m.c { p tiles, f vectors: registers }}}}
 *		wino.y: for y.th.i, y.tw { for y.o.o { for y.o.i vector: bias and what follows }}
 *	}
 *
 * and without blocks the three nests one after the other. Counts that the register tile does not
 * divide are cut off, so that no condition stands in the product.
 */
#include "schedule/template/winograd.h"
#include "schedule/template/share.h"

#include "op/shape.h"
#include "schedule/template/device.h"

#include <math.h>
#include <string.h>

const char winograd_algo[] = "conv2d.winograd";

enum { LEAST = 2, MOST = 6 /* outputs of a tile along an axis of the window */ };

/* What is picked. */
typedef struct Knobs {
	int64_t block;           /* rows of tiles in a block, or tiles where there is one row */
	int64_t vectors, pixels; /* the product's register tile: vectors of output channels, tiles */
	int64_t unroll;          /* input channels at a time */
	int64_t padded[2];       /* tiles at the start and at the end of a row that read beyond the image */
	bool edges;              /* these are code of their own */
	bool ahead;              /* the next weights are requested while these are used */
	bool tiles_stay;         /* while weights pass */
	bool inside;             /* the transformations go from vector to vector of a tile, not from tile to tile */
} Knobs;

bool winograd_find(const Task *task, const Target *target, int64_t m, WinoConv *out)
{
	AlgoChoice choice;
	const Dag *d = task->dag;
	if (!algo_choose(d, winograd_algo, &(AlgoArg){ "m", m }, 1, &choice, NULL) ||
		&d->call.at[choice.call] != tile_anchor(d))
		return false;
	const OpCall *c = &d->call.at[choice.call];
	const Value *y = &d->value.at[c->out[0]], *w = &d->value.at[c->in[1]];
	int last = y->shape.rank - 1;
	*out = (WinoConv){ .d = d, .c = c,
		.batch = y->shape.dim[0],
		.channels = w->shape.dim[1],
		.filters = w->shape.dim[0],
		.height = last == 3 ? y->shape.dim[2] : 1,
		.width = y->shape.dim[last],
		.lanes = target_lanes(target, y->type),
		.bytes = y->type.bits / 8.0 };
	for (int k = 0; k < 2; k++) {
		out->window[k] = k == 1 || last == 3 ? w->shape.dim[last - 1 + k] : 1;
		out->outputs[k] = out->window[k] > 1 ? m : 1;
		out->points[k] = out->outputs[k] + out->window[k] - 1;
		out->tiles[k] = ceil_div(k == 0 ? out->height : out->width, out->outputs[k]);
	}
	out->all_points = out->points[0] * out->points[1];
	return true;
}

/* The Task's anchor is a convolution of stride 1 of blocked channels, on a CPU, that has tiles of such m. */
static bool fits(const Task *task, const Target *target, int64_t m, WinoConv *v)
{
	if (!device_lone(target) || !winograd_find(task, target, m, v))
		return false;
	const char *layout = v->d->value.at[v->c->in[0]].layout;
	return layout != NULL && layout[strlen(layout) - 1] == 'c' && v->channels >= TMPL_WINO_CHANNELS &&
		v->filters >= TMPL_WINO_CHANNELS;
}

/*
 * Cycles of one core for the convolution, direct or by these tiles: arithmetic at the machine's rate and the time in
 * which cold weights come, which grow with the tile, the longer of both, and half of the other.
 */
static double likely_cycles(const Target *target, const WinoConv *v, bool direct)
{
	double fmas = target->core.fma_rate * (double)v->lanes; /* a cycle */
	double fill = v->bytes / target->core.level[TARGET_CACHES]; /* cycles for an element from memory */
	double weights = (double)(direct ? v->window[0] * v->window[1] : v->all_points);
	double products = weights * (double)(direct ? v->height * v->width : v->tiles[0] * v->tiles[1]);
	double each = fill + (v->all_points > TMPL_WINO_HELD ? TMPL_WINO_LARGE : 0);
	double pairs = (double)v->channels * (double)v->filters;
	double reckon = pairs * products / fmas + (direct ? 0 : products * (double)(v->channels + v->filters) * each);
	double fetch = pairs * weights * fill;
	return fmax(reckon, fetch) + TMPL_WINO_HIDDEN * fmin(reckon, fetch);
}

/* What is likely best before anything is known: m, or 0: direct. */
static int64_t likely_best(const Task *task, const Target *target)
{
	double best = 0;
	int64_t guess = 0;
	for (int64_t m = LEAST; m <= MOST; m++) {
		WinoConv v;
		if (!fits(task, target, m, &v))
			continue;
		double cycles = likely_cycles(target, &v, false);
		best = best == 0 ? likely_cycles(target, &v, true) : best;
		if (cycles < best) {
			best = cycles;
			guess = m;
		}
	}
	return guess;
}

/* Nothing may stand before compute, and no nest behind the blocks that it takes up. */
static int offer(Sketch *s, const Tiled *t, int64_t param[TEMPLATE_PARAMS], int64_t *best)
{
	WinoConv v;
	int n = 0;
	*best = likely_best(s->task, s->target);
	for (int64_t m = LEAST; m <= MOST && t->ends; m++)
		if (fits(s->task, s->target, m, &v))
			param[n++] = m;
	return n;
}

/* ---- knobs ---- */

/* Whether the last cache holds V of the blocks at work: the product reads it again for each tile of channels. */
static bool holds_v(const Target *t, const WinoConv *v, int64_t blocks, int64_t tiles)
{
	const Cache *last = target_last_cache(t);
	if (last == NULL)
		return true;
	int64_t sharing = last->shared_by < t->threads ? last->shared_by : t->threads;
	double bytes = (double)(v->all_points * tiles * v->channels) * v->bytes;
	return bytes * (double)(blocks < sharing ? blocks : sharing) <= (double)last->bytes;
}

/* Whether a product of so few tiles asks for weights faster than the cache that holds them gives them with ease. */
static bool starves(const Target *t, const WinoConv *v, int64_t tiles)
{
	double weights = (double)v->all_points * (double)v->channels * (double)v->filters * v->bytes;
	bool near = weights <= (double)target_cache(t, 2);
	double asked = (double)v->lanes * v->bytes * t->core.fma_rate / (double)tiles;
	return asked > TMPL_WINO_EASE * target_rate_beyond(t, near ? 1 : 2);
}

/* The axis that blocks divide: rows of tiles, or the tiles of a row where there is one row. */
static int blocks_axis(const WinoConv *v)
{
	return v->tiles[0] == 1;
}

/* Tiles that a block cannot divide. */
static int64_t tiles_together(const WinoConv *v)
{
	return blocks_axis(v) == 0 ? v->tiles[1] : 1;
}

/* How busy threads are with blocks of so many rows, or of so many tiles of one row. */
static double block_fills(const Target *t, const WinoConv *v, int64_t block)
{
	int64_t all = v->tiles[blocks_axis(v)];
	return share_filled(t, block < all ? all / block : v->all_points); /* share_nests */
}

/* Of these numbers of rows, the likely best. */
static int likely_rows(const Target *t, const WinoConv *v, const int64_t *option, int n)
{
	int64_t tw = v->tiles[1];
	double most = 0;
	int first = 0;
	for (int k = 0; k < n; k++) {
		int64_t tiles = option[k] * tw;
		double filled = block_fills(t, v, option[k]);
		bool starved = k > 0 && tiles <= 2 * TMPL_WINO_BLOCK && !target_has_blocks(t) &&
			starves(t, v, option[first] * tw);
		if ((tiles <= TMPL_WINO_BLOCK || starved) && holds_v(t, v, v->tiles[0] / option[k], tiles) &&
			filled >= most * (1 - TMPL_SHARE_IDLE)) {
			most = filled > most ? filled : most;
			first = k;
		}
	}
	return first;
}

/* Of these parts of one row, the likely best: all of it where none near the wanted one keeps threads busy. */
static int likely_part(const Target *t, const WinoConv *v, const int64_t *option, int n)
{
	double most = 0, nearest = INFINITY;
	int first = n - 1;
	for (int k = 0; k < n; k++) {
		double filled = block_fills(t, v, option[k]), off = fabs(log((double)option[k] / TMPL_WINO_ROW));
		bool fuller = filled * (1 - TMPL_SHARE_IDLE) > most;
		if ((off > log(TMPL_WINO_ROW_NEAR) && k < n - 1) || !holds_v(t, v, v->tiles[1] / option[k], option[k]))
			continue;
		if (fuller || (off < nearest && filled >= most * (1 - TMPL_SHARE_IDLE))) {
			most = filled > most ? filled : most;
			nearest = off;
			first = k;
		}
	}
	return first;
}

/* Blocks divide all rows, or all tiles of one row. */
static int64_t choose_block(Sketch *s, const WinoConv *v)
{
	int axis = blocks_axis(v), n = 0;
	int64_t option[KNOB_OPTIONS], all = v->tiles[axis];
	for (int64_t r = 1; r <= all; r++) {
		double own = (double)(v->all_points * r * tiles_together(v) * (v->channels + v->filters)) * v->bytes;
		if (all % r == 0 && n < KNOB_OPTIONS && (r == all || !target_has_blocks(s->target) || own <= TMPL_LONE_LOCAL))
			option[n++] = r;
	}
	int first = axis == 0 ? likely_rows(s->target, v, option, n) : likely_part(s->target, v, option, n);
	int64_t block = sketch_number(s, "wino.rows", option, n, first);
	sketch_opens(s);
	return block;
}

/* Accumulators, the weights of one step and one tile's value fit the registers. Tiles lie tw in a row. */
static void choose_product(Sketch *s, const WinoConv *v, int64_t tiles, int64_t tw, Knobs *k)
{
	int64_t vectors = (v->filters + v->lanes - 1) / v->lanes, regs = tile_registers(s);
	KnobOption option[KNOB_OPTIONS] = { { .kind = KNOB_TILE, .tile = { 1, 1 } } };
	int n = 0, first = 0;
	double best = 0;
	for (int64_t f = 1; f <= TMPL_MOST_VECTORS && f <= vectors; f++)
		for (int64_t p = 1; p <= tiles && p * f + f < regs && n < KNOB_OPTIONS; p++) {
			if (p < tiles && (p * f < TMPL_WINO_SUMS || !tile_wastes_little(tiles, p)))
				continue;
			bool rows = p % tw == 0 || tw % p == 0;
			double rate = tile_promise(&s->target->core, tile_asks(s, f), vectors, tiles, f, p);
			rate /= rows ? 1 : TMPL_WINO_PART_OF_ROW;
			bool spills = f == 1 && tile_few_registers(s) && p + f + TMPL_WINO_LOADED > regs;
			if (rate > best && !spills) {
				best = rate;
				first = n;
			}
			option[n++] = (KnobOption){ .kind = KNOB_TILE, .tile = { f, p } };
		}
	int picked = sketch_knob(s, "wino.tile", option, n, first);
	sketch_opens(s);
	k->vectors = option[picked].tile.vectors;
	k->pixels = option[picked].tile.pixels;
}

/* Few sums make a short body, in which the loop's own instructions count. */
static int64_t choose_unroll(Sketch *s, int64_t channels, int64_t sums)
{
	int64_t option[KNOB_OPTIONS];
	int n = 0, all = tile_unrolls(channels, sums, TMPL_WINO_STEPS, TMPL_WINO_BODY, option);
	for (int k = 0; k < all; k++)
		if (channels % option[k] == 0)
			option[n++] = option[k];
	return sketch_number(s, "wino.unroll", option, n, sums <= TMPL_WINO_FEW_SUMS && n > 1);
}

/* Tiles at the start and at the end of a row that read beyond the image. */
static void count_padded(const WinoConv *v, int64_t padded[2])
{
	Window w;
	int64_t tiles = v->tiles[1], outputs = v->outputs[1];
	padded[0] = padded[1] = 0;
	if (!op_window(v->d, v->c, &w, NULL))
		return;
	int64_t before = w.lo[w.n - 1], width = w.in[w.n - 1], first = ceil_div(before, outputs);
	padded[0] = first < tiles ? first : tiles;
	while (padded[0] + padded[1] < tiles && (tiles - 1 - padded[1]) * outputs - before + v->points[1] > width)
		padded[1]++;
}

static Knobs ask_knobs(Sketch *s, const WinoConv *v)
{
	static const char *const stay[] = { "weights", "tiles" };
	Knobs k = { .block = choose_block(s, v) };
	int64_t tiles = k.block * tiles_together(v), tw = tiles < v->tiles[1] ? tiles : v->tiles[1];
	choose_product(s, v, tiles, tw, &k);
	bool both = k.pixels < tiles && k.vectors * v->lanes < v->filters;
	k.tiles_stay = sketch_word(s, "wino.order", stay, both ? 2 : 1, 0) == 1;
	k.unroll = choose_unroll(s, v->channels, k.vectors * k.pixels);
	count_padded(v, k.padded);
	int64_t padded = k.padded[0] + k.padded[1];
	/* The pieces of one row are too few for threads to share. */
	bool shared = s->target->threads > 1 && v->tiles[0] == 1;
	k.edges = tw == v->tiles[1] && padded > 0 && padded < tw && !shared && sketch_flag(s, "wino.edges", false);
	k.ahead = sketch_flag(s, "wino.ahead", true);
	k.inside = (v->channels > v->lanes || v->filters > v->lanes) && !target_has_blocks(s->target) &&
		sketch_flag(s, "wino.inside", true);
	return k;
}

/* ---- the nests ---- */

/* Channels as vectors: loop L becomes L.o and L.i, or a vector as it is. The vector's name. */
static const char *split_lanes(Sketch *s, const char *loop, int64_t channels, int64_t lanes)
{
	if (channels <= lanes)
		return loop;
	sketch_step(s, "split %s %lld", loop, (long long)lanes);
	return arena_printf(s->arena, "%s.i", loop);
}

/*
 * Vectors of channels outside, loops over tiles inside: row after row of one block of channels; or tiles outside. Each
 * name in `tiles` has a blank behind it.
 */
static void transform_nest(Sketch *s, const char *c, int64_t channels, int64_t lanes, const char *tiles, bool inside)
{
	const char *vector = split_lanes(s, c, channels, lanes);
	if (vector != c && inside)
		sketch_step(s, "reorder %s%s.o %s", tiles, c, vector);
	else if (vector != c)
		sketch_step(s, "reorder %s.o %s%s", c, tiles, vector);
	sketch_step(s, "vectorize %s", vector);
}

/* Compiling vectors takes longer than transforming the weights of a small convolution in scalars. */
void winograd_weights(Sketch *s, const WinoConv *v)
{
	int64_t lanes = target_lanes(s->target, F64);
	if (lanes < 2 || v->filters % lanes != 0 || v->filters <= lanes || v->channels * v->filters < TMPL_WINO_WEIGHTS)
		return;
	sketch_step(s, "split u.o %lld", (long long)lanes);
	sketch_step(s, "reorder u.o.o u.c u.o.i");
	sketch_step(s, "vectorize u.o.i");
}

/* The tiles of V in a row that read within the image get a loop of their own, without conditions on columns. */
static void cut_edges(Sketch *s, const WinoConv *v, const Knobs *k)
{
	int64_t first = k->padded[0], whole = v->tiles[1] - first - k->padded[1];
	if (first > 0)
		sketch_step(s, "cut v.tw %lld", (long long)first);
	if (k->padded[1] > 0)
		sketch_step(s, "cut %s %lld", first > 0 ? "v.tw.2" : "v.tw", (long long)whole);
}

static void product_nest(Sketch *s, const WinoConv *v, Knobs k, int64_t tiles)
{
	int64_t p = k.pixels, f = k.vectors, vectors = (v->filters + v->lanes - 1) / v->lanes;
	const char *t = "m.th_m.tw", *tile_o = NULL, *tile_i = t, *o = "m.o", *o_o = NULL, *c = "m.c", *c_i = NULL;
	sketch_step(s, "fuse m.th m.tw");
	if (p < tiles) {
		sketch_step(s, "split %s %lld", t, (long long)p);
		tile_o = "m.th_m.tw.o";
		tile_i = "m.th_m.tw.i";
	}
	if (f < vectors) {
		sketch_step(s, "split m.o %lld", (long long)(f * v->lanes));
		o_o = "m.o.o";
		o = "m.o.i";
	}
	const char *vector = f > 1 ? split_lanes(s, o, f * v->lanes, v->lanes) : o;
	if (k.unroll > 1 && v->channels % k.unroll == 0 && v->channels > k.unroll) {
		sketch_step(s, "split m.c %lld", (long long)k.unroll);
		c = "m.c.o";
		c_i = "m.c.i";
	}
	const char *outer[2] = { o_o, tile_o };
	const char *order[] = { outer[k.tiles_stay], outer[!k.tiles_stay], c, c_i, tile_i,
		vector != o ? arena_printf(s->arena, "%s.o", o) : NULL, vector };
	Text line = { .arena = s->arena };
	for (size_t i = 0; i < sizeof order / sizeof *order; i++)
		if (order[i] != NULL)
			text_add(&line, " %s", order[i]);
	sketch_step(s, "reorder%s", text_str(&line));
	for (size_t i = 3; i < 6; i++)
		if (order[i] != NULL)
			sketch_step(s, "unroll %s", order[i]);
	sketch_step(s, "vectorize %s", vector);
	if (k.ahead)
		sketch_step(s, "prefetch %s.u wino.m %s %s 1", v->d->value.at[v->c->out[0]].name,
			o_o != NULL ? o_o : v->points[1] > 1 ? "m.j" : "m.i", c);
	/* The inner one first: what is copied is then without conditions already. */
	int64_t whole[2] = { v->filters / (f * v->lanes), tiles / p };
	bool tail[2] = { o_o != NULL && v->filters % (f * v->lanes) != 0, tile_o != NULL && tiles % p != 0 };
	for (int i = 1; i >= 0; i--) {
		int which = i == 0 ? k.tiles_stay : !k.tiles_stay;
		if (tail[which])
			sketch_step(s, "cut %s %lld", which == 0 ? o_o : tile_o, (long long)whole[which]);
	}
}

/* A transformation's loops around its tiles, channels outside where transform_nest put them there. */
static void bind_transform(Sketch *s, const char *which, const WinoConv *v, const char *c, int64_t channels)
{
	TileAxis loop[] = { { arena_printf(s->arena, "%s.n", which), v->batch },
		{ arena_printf(s->arena, "%s.%s.o", which, c), (channels + v->lanes - 1) / v->lanes },
		{ arena_printf(s->arena, "%s.th", which), v->tiles[0] } };
	if (channels <= v->lanes)
		loop[1] = loop[2];
	device_bind_grid(s, loop, channels <= v->lanes ? 2 : 3);
}

/* Blocks of a launch: those of tile rows; or parts of each nest. */
static void bind_nests(Sketch *s, const WinoConv *v, const char *at, int64_t blocks)
{
	if (blocks > 1) {
		TileAxis loop[] = { { "y.n", v->batch }, { "y.th", 1 }, { at, blocks } };
		if (blocks_axis(v) == 0)
			loop[1] = loop[2];
		device_bind_grid(s, loop, blocks_axis(v) == 0 ? 2 : 3);
		return;
	}
	bind_transform(s, "v", v, "c", v->channels);
	device_bind_grid(s, (TileAxis[]){ { "m.i", v->points[0] }, { "m.j", v->points[1] }, { "m.n", v->batch } }, 3);
	bind_transform(s, "y", v, "o", v->filters);
}

/*
 * Threads share a transformation: blocks of channels and rows of tiles, or rows, tiles and blocks of channels, as many
 * of these loops as give all of them work. A row of tiles with edges of their own is one piece of it.
 */
static void share_transform(Sketch *s, TileAxis c, TileAxis rows, TileAxis cols, const Knobs *k, bool edges)
{
	if (k->inside)
		share_some(s, (TileAxis[]){ rows, cols, c }, edges ? 1 : c.extent > 1 ? 3 : 2);
	else
		share_some(s, (TileAxis[]){ c, rows }, 2);
}

/* Threads share each nest: the transformations, and elements of a tile in the product. */
static void share_nests(Sketch *s, const WinoConv *v, const Knobs *k)
{
	int64_t th = v->tiles[0], tw = v->tiles[1];
	TileAxis in = { "v.c.o", ceil_div(v->channels, v->lanes) }, out = { "y.o.o", ceil_div(v->filters, v->lanes) };
	share_transform(s, in, (TileAxis){ "v.th", th }, (TileAxis){ "v.tw", tw }, k, k->edges);
	share_some(s, (TileAxis[]){ { "m.i", v->points[0] }, { "m.j", v->points[1] } }, 2);
	share_transform(s, out, (TileAxis){ "y.th", th }, (TileAxis){ "y.tw", tw }, k, false);
}

static void steps(Sketch *s, const Tiled *t, int64_t m)
{
	WinoConv v;
	if (!winograd_find(s->task, s->target, m, &v))
		return;
	sketch_group(s);
	Knobs k = ask_knobs(s, &v);
	sketch_group_end(s);
	bool of_rows = blocks_axis(&v) == 0;
	int64_t all = v.tiles[blocks_axis(&v)];
	bool blocks = k.block < all, split = blocks && k.block > 1;
	const char *divided = of_rows ? "y.th" : "y.tw", *at = split ? arena_printf(s->arena, "%s.o", divided) : divided;
	const AlgoParam *o = algo_find(winograd_algo)->param;
	while (strcmp(o->key, "o") != 0)
		o++;
	if (v.lanes == o->absent || v.lanes == 1)
		sketch_step(s, "compute %s m=%lld", winograd_algo, (long long)m);
	else
		sketch_step(s, "compute %s m=%lld o=%lld", winograd_algo, (long long)m, (long long)v.lanes);
	/* All elementwise blocks behind the convolution become one, and that goes into the output's transformation. */
	for (int i = 0; i < t->nmiddle; i++)
		sketch_step(s, "inline %s", t->middle[i]);
	if (!t->bare)
		sketch_step(s, "absorb wino.y %s", t->last);
	if (blocks) {
		if (split)
			sketch_step(s, "split %s %lld", divided, (long long)k.block);
		sketch_step(s, "compute_at wino.m %s", at);
		sketch_step(s, "compute_at wino.v %s", at);
	}
	winograd_weights(s, &v);
	transform_nest(s, "v.c", v.channels, v.lanes, "v.th v.tw ", k.inside);
	if (k.edges)
		cut_edges(s, &v, &k);
	product_nest(s, &v, k, k.block * tiles_together(&v));
	const char *inner = split ? arena_printf(s->arena, "%s.i ", divided) : "", *columns = of_rows ? "y.tw " : "";
	transform_nest(s, "y.o", v.filters, v.lanes,
		blocks ? arena_printf(s->arena, "%s%s", inner, columns) : "y.th y.tw ", k.inside);
	if (target_has_blocks(s->target)) {
		bind_nests(s, &v, at, all / k.block);
	} else if (s->target->threads > 1 && blocks) {
		sketch_step(s, "parallel %s", at);
	} else if (s->target->threads > 1) {
		share_nests(s, &v, &k);
	}
	sketch_loops_but(s, t);
}

const TemplateAlgo tmpl_winograd = { .name = winograd_algo, .offer = offer, .steps = steps };
