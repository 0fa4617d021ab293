/* See panel.h: the knobs, then the steps. */
#include "schedule/template/panel.h"
#include "schedule/template/share.h"

#include <string.h>

/*
 * Loops inside of a part, outermost first. The first n may share the requests for weights, and the knob "panel.spread"
 * has a word for each; those behind them are written out.
 */
typedef struct Nest {
	int n, all;
	Text once; /* loops of one iteration, which are around all others */
	const char *loop[2 * TILE_AXES], *word[2 * TILE_AXES];
	int64_t extent[2 * TILE_AXES];
	const char *tiles; /* the loop whose last iteration may be a shorter one; NULL: none */
} Nest;

typedef struct Panel {
	const Tile *tile;
	const PanelOf *of;
	int banded;    /* the axis that is cut into bands */
	int64_t width; /* lanes of a panel */
	int64_t part, band, unroll; /* channels; rows of a band; channels written out */
	bool taps;     /* so is the last loop of taps */
	bool inside;   /* bands are inside of panels */
	bool panels;   /* weights lie panel by panel, not vector by vector */
	int64_t ahead; /* parts on, whose weights are prefetched; 0: none */
	int spread;    /* the loop whose iterations share the requests */
} Panel;

/* ---- knobs ---- */

/* Parts of the channels: whole blocks of the image or parts of one, whose panel half of the second cache holds. */
static int part_lengths(const Sketch *s, const Tiled *t, const Panel *p, int64_t option[KNOB_OPTIONS], int *first)
{
	const TileAxis *c = &t->reduce[p->of->channels];
	int64_t far = target_cache(s->target, 2), near = target_cache(s->target, 1), step = dtype_bytes(t->sum, p->width);
	int n = 0;
	for (int k = 0; k < t->nreduce; k++)
		step *= k == p->of->channels ? 1 : t->reduce[k].extent;
	for (int64_t part = TMPL_PANEL_PART; part < c->extent && n < KNOB_OPTIONS; part++) {
		bool blocks = part % p->of->block == 0 || p->of->block % part == 0;
		if (c->extent % part != 0 || !blocks || part > TMPL_COOP_PANEL || (far > 0 && 2 * part * step > far))
			continue;
		*first = n == 0 || 2 * part * step <= near ? n : *first;
		option[n++] = part;
	}
	return n;
}

/* Rows of a band, or pixels where there are no rows: divisors, whole tiles of pixels. */
static int64_t choose_band(Sketch *s, const Tiled *t, const Panel *p)
{
	int64_t option[KNOB_OPTIONS], all = t->out[p->banded].extent, sums = dtype_bytes(t->sum, p->width);
	int64_t far = target_cache(s->target, 2), step = p->banded == p->tile->pixel ? p->tile->pixels : 1;
	int n = 0;
	for (int k = 0; k < t->n; k++)
		sums *= k == p->tile->vector || k == p->banded ? 1 : t->out[k].extent;
	option[n++] = all;
	for (int64_t parts = 2; parts <= all && n < KNOB_OPTIONS; parts++)
		if (all % parts == 0 && all / parts % step == 0)
			option[n++] = all / parts;
	int first = 0;
	while (first < n - 1 && far > 0 && sums * option[first] * 4 > far)
		first++;
	return sketch_number(s, "panel.band", option, n, first);
}

/* Channels that are written out: divisors, since sums begin before a part, not in it. */
static int64_t choose_unroll(Sketch *s, const Panel *p, int64_t channels)
{
	int64_t option[KNOB_OPTIONS], sums = p->tile->vectors * p->tile->pixels;
	int n = 0, first = 0;
	for (int64_t u = 1; u <= channels && u <= TMPL_CONV_STEPS; u++) {
		if (channels % u != 0 || (u > 1 && u * sums > TMPL_BODY))
			continue;
		first = u <= TMPL_PANEL_STEPS ? n : first;
		option[n++] = u;
	}
	return sketch_number(s, "panel.unroll", option, n, first);
}

/* The last reduce loop has several taps, few enough to be written out. */
static bool few_taps(const Tiled *t, const PanelOf *of)
{
	int last = t->nreduce - 1;
	return last != of->channels && t->reduce[last].extent > 1 && t->reduce[last].extent <= TMPL_TAPS;
}

/* Lines of a part's weights. */
static int64_t part_lines(const Sketch *s, const Tiled *t, const Panel *p)
{
	int64_t bytes = dtype_bytes(t->sum, p->width * p->part);
	for (int k = 0; k < t->nreduce; k++)
		bytes *= k == p->of->channels ? 1 : t->reduce[k].extent;
	return ceil_div(bytes, s->target->line_bytes);
}

/* Iterations of the nest's loops up to one of them. */
static int64_t shares_of(const Nest *nest, int loop)
{
	int64_t shares = 1;
	for (int k = 0; k <= loop; k++)
		shares *= nest->extent[k];
	return shares;
}

/*
 * By default requests come as evenly as they can without being made twice: in the innermost loop each of whose
 * iterations has a line to ask for. With few registers there are none: addresses would spill.
 */
static void choose_ahead(Sketch *s, const Tiled *t, const Nest *nest, Panel *p)
{
	static const int64_t parts[] = { 0, 1, 2, 4 };
	int first = nest->n - 1;
	if (nest->n == 0)
		return; /* one tile, all of which is written out */
	p->ahead = sketch_number(s, "panel.ahead", parts, sizeof parts / sizeof *parts, !tile_few_registers(s));
	sketch_opens(s);
	while (first > 0 && shares_of(nest, first) > part_lines(s, t, p))
		first--;
	if (p->ahead > 0)
		p->spread = sketch_word(s, "panel.spread", nest->word, nest->n, first);
}

/* ---- steps ---- */

static const char *child(Sketch *s, const char *name, const char *part)
{
	return arena_printf(s->arena, "%s.%s", name, part);
}

static void add_loop(Nest *nest, const char *word, const char *loop, int64_t extent)
{
	if (extent == 1) {
		text_add(&nest->once, " %s", loop);
		return;
	}
	nest->word[nest->n] = word;
	nest->extent[nest->n] = extent;
	nest->loop[nest->n++] = loop;
	nest->all = nest->n;
}

static void add_written(Nest *nest, const char *loop)
{
	nest->loop[nest->all++] = loop;
}

/* Loops beside those of channels: batches, rows, tiles of pixels. *column: the pixels of a tile. */
static void cut_places(Sketch *s, const Tiled *t, const Panel *p, Text *splits, Nest *nest, const char **column)
{
	const TileAxis *x = &t->axis[p->tile->pixel], *h = &t->axis[p->banded];
	bool flat = p->banded == p->tile->pixel;
	*column = x->name;
	for (int k = 0; k < t->n; k++)
		if (k != p->tile->vector && k != p->tile->pixel && k != p->banded)
			add_loop(nest, t->axis[k].name, t->axis[k].name, t->axis[k].extent);
	if (!flat)
		add_loop(nest, "rows", h->name, p->band);
	if (p->tile->pixels < (flat ? p->band : x->extent)) {
		text_add(splits, "split %s %lld\n", x->name, (long long)p->tile->pixels);
		nest->tiles = child(s, x->name, "o");
		add_loop(nest, "tiles", nest->tiles, ceil_div(flat ? p->band : x->extent, p->tile->pixels));
		*column = child(s, x->name, "i");
	}
}

/* The loops in a part; *splits: the steps that make them. */
static Nest cut_part(Sketch *s, const Tiled *t, const Panel *p, Text *splits)
{
	const TileAxis *channels = &t->reduce[p->of->channels];
	const char *c = child(s, channels->name, "i"), *column;
	int64_t left = p->part;
	Nest nest = { .once = { .arena = s->arena } };
	cut_places(s, t, p, splits, &nest, &column);
	text_add(splits, "split %s %lld\n", channels->name, (long long)p->part);
	if (p->of->block > 1 && left > p->of->block) {
		text_add(splits, "split %s %lld\n", c, (long long)p->of->block);
		add_loop(&nest, "blocks", child(s, c, "o"), left / p->of->block);
		c = child(s, c, "i");
		left = p->of->block;
	}
	for (int k = 0; k < t->nreduce; k++)
		if (k != p->of->channels)
			add_loop(&nest, t->reduce[k].name, t->reduce[k].name, t->reduce[k].extent);
	if (p->unroll == 1)
		add_loop(&nest, "channels", c, left);
	else if (p->unroll == left)
		add_written(&nest, c);
	else {
		text_add(splits, "split %s %lld\n", c, (long long)p->unroll);
		add_loop(&nest, "channels", child(s, c, "o"), left / p->unroll);
		add_written(&nest, child(s, c, "i"));
	}
	add_written(&nest, column);
	if (p->tile->vectors > 1)
		add_written(&nest, child(s, t->axis[p->tile->vector].name, "o"));
	return nest;
}

/* The sums of a panel, each pixel's in whole vectors. */
static void lay_sums(Sketch *s, const Tiled *t, const Tile *tile)
{
	static const char *const letters[] = { "", "", "NC", "NCW", "NCHW", "NCDHW" };
	if (tile->vector != t->n - 1 && t->n < (int)(sizeof letters / sizeof *letters))
		sketch_step(s, "layout %s %s%lld%c", t->sums, letters[t->n], (long long)tile->lanes,
			(char)(letters[t->n][tile->vector] - 'A' + 'a'));
}

/* The nest that stores, in panels and bands, whose loops are the outermost ones: outside, inside. */
static void store_nest(Sketch *s, const Tiled *t, const Panel *p, TileAxis outer[2])
{
	const TileAxis *v = &t->out[p->tile->vector], *b = &t->out[p->banded];
	const char *blocks = child(s, v->name, "o"), *vectors = "";
	Text order = { .arena = s->arena };
	sketch_step(s, "split %s %lld", v->name, (long long)p->tile->lanes);
	TileAxis *panels = &outer[!p->inside], *bands = &outer[p->inside];
	*panels = (TileAxis){ blocks, ceil_div(v->extent, p->width) };
	*bands = (TileAxis){ child(s, b->name, "o"), b->extent / p->band };
	if (p->tile->vectors > 1) {
		sketch_step(s, "split %s %lld", blocks, (long long)p->tile->vectors);
		panels->name = child(s, blocks, "o");
		vectors = child(s, blocks, "i");
	}
	sketch_step(s, "split %s %lld", b->name, (long long)p->band);
	text_add(&order, "%s %s", outer[0].name, outer[1].name);
	for (int k = 0; k < t->n; k++)
		if (k != p->tile->vector)
			text_add(&order, " %s", k == p->banded ? child(s, b->name, "i") : t->out[k].name);
	sketch_step(s, "reorder %s %s %s.i", text_str(&order), vectors, v->name);
	sketch_step(s, "vectorize %s.i", v->name);
	if (*vectors != 0)
		sketch_step(s, "unroll %s", vectors);
	sketch_step(s, "compute_at %s %s", t->block, outer[1].name);
	lay_sums(s, t, p->tile);
}

/*
 * A tile that is shorter, or whose taps lie in the padding, is code of its own, also of few taps: with conditions in
 * all tiles 3x3 128>128 28x28 took 2.36 ms, so 1.10.
 */
static void end_tiles(Sketch *s, const Tiled *t, const Panel *p, const char *loop)
{
	int64_t pixels = p->banded == p->tile->pixel ? p->band : t->axis[p->tile->pixel].extent;
	bool first = t->selects && t->reduce[t->nreduce - 1].extent > 1;
	if (first || pixels % p->tile->pixels != 0)
		tile_ends(s, &(TileAxis){ "", pixels }, p->tile->pixels, loop, first);
}

/* A few requests of one iteration are written out. */
static void ahead_steps(Sketch *s, const Tiled *t, const Panel *p, const Nest *nest, const char *parts)
{
	sketch_step(s, "prefetch %s.p %s %s %s %lld", p->of->weights, t->block, parts, nest->loop[p->spread],
		(long long)p->ahead);
	if (ceil_div(part_lines(s, t, p), shares_of(nest, p->spread)) <= TMPL_PANEL_LINES)
		sketch_step(s, "unroll %s.p.f", p->of->weights);
}

/* The reduction of a panel. */
static void sum_nest(Sketch *s, const Tiled *t, const Panel *p)
{
	const char *o = t->axis[p->tile->vector].name, *lanes = p->tile->vectors > 1 ? child(s, o, "i") : o;
	const char *parts = child(s, t->reduce[p->of->channels].name, "o");
	Text splits = { .arena = s->arena }, order = { .arena = s->arena };
	Nest nest = cut_part(s, t, p, &splits);
	if (t->selects)
		sketch_step(s, "skip %s", t->block);
	text_add(&s->steps, "%s", text_str(&splits));
	if (p->tile->vectors > 1)
		sketch_step(s, "split %s %lld", o, (long long)p->tile->lanes);
	for (int k = 0; k < nest.all; k++)
		text_add(&order, " %s", nest.loop[k]);
	sketch_step(s, "reorder%s %s%s %s", text_str(&nest.once), parts, text_str(&order), lanes);
	sketch_step(s, "decompose_init %s %s", t->block, parts);
	sketch_step(s, "vectorize %s.init", lanes);
	if (p->ahead > 0)
		ahead_steps(s, t, p, &nest, parts);
	for (int k = nest.all - 1; k >= nest.n; k--)
		sketch_step(s, "unroll %s", nest.loop[k]);
	if (p->taps)
		sketch_step(s, "unroll %s", t->reduce[t->nreduce - 1].name);
	sketch_step(s, "vectorize %s", lanes);
	if (nest.tiles != NULL)
		end_tiles(s, t, p, nest.tiles);
}

/* ---- together ---- */

static void panel_steps(Sketch *s, const Tiled *t, const Panel *p)
{
	const PanelOf *of = p->of;
	TileAxis outer[2];
	int64_t block = of->block > 1 && of->block < p->part ? of->block : p->part;
	int64_t filters = t->out[p->tile->vector].extent, panels = ceil_div(filters, p->width);
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	if (t->bare)
		sketch_step(s, "cache_write %s", t->block);
	sketch_step(s, "pack %s OI%s%lldi%lldo", of->weights, of->window, (long long)block,
		(long long)(p->panels ? p->width : p->tile->lanes));
	tiled_merge_steps(s, t, true);
	store_nest(s, t, p, outer);
	sum_nest(s, t, p);
	bool rest = filters % p->width != 0;
	if (rest && s->target->threads > 1)
		sketch_step(s, "parallel %s", outer[0].name);
	if (rest)
		sketch_step(s, "cut %s %lld", outer[!p->inside].name, (long long)(panels - 1));
	else
		share_some(s, outer, 2);
	sketch_loops_but(s, t);
}

/* Rows of images are cut into bands; else pixels. */
static int banded_axis(const Tile *tile)
{
	return tile->pixel > TILE_ROWS ? tile->pixel - 1 : tile->pixel;
}

/*
 * Windows of few pixels, for which reading weights takes long beside the arithmetic; with few registers those whose
 * tiles read a panel that half of the second cache does not hold. Not where panels would leave threads without work
 * that tiles of rows have.
 */
static bool is_default(const Sketch *s, const Tiled *t, const Panel *p)
{
	int64_t pixels = 1, taps = 1, panels = t->out[p->tile->vector].extent / p->width;
	for (int k = 0; k < t->n; k++)
		pixels *= k == p->tile->vector ? 1 : t->out[k].extent;
	for (int k = 0; k < t->nreduce; k++)
		taps *= k == p->of->channels ? 1 : t->reduce[k].extent;
	int64_t bytes = dtype_bytes(t->sum, p->width * taps * t->reduce[p->of->channels].extent);
	bool far = !tile_few_registers(s) || bytes * 2 > target_cache(s->target, 2);
	return taps > 1 && pixels <= TMPL_PANEL_PIXELS && far && panels % s->target->threads == 0;
}

bool panel_sums(Sketch *s, const Tiled *t, const Tile *tile, const PanelOf *of)
{
	static const char *const place[] = { "tile", "panel" }, *const outermost[] = { "panels", "bands" };
	static const char *const packed[] = { "vectors", "panels" };
	Panel p = { .tile = tile, .of = of, .banded = banded_axis(tile), .width = tile->lanes * tile->vectors };
	int64_t part[KNOB_OPTIONS], filters = t->out[tile->vector].extent;
	int first = 0, n = part_lengths(s, t, &p, part, &first);
	bool one = t->nbefore == 0 && t->dot == NULL && tile->group == 0 && filters % tile->lanes == 0;
	if (n == 0 || !one || target_has_blocks(s->target))
		return false;
	bool picked = sketch_word(s, "sums", place, 2, is_default(s, t, &p)) == 1;
	sketch_opens(s);
	if (!picked)
		return false;
	p.part = sketch_number(s, "panel.depth", part, n, first);
	sketch_opens(s);
	p.band = choose_band(s, t, &p);
	sketch_opens(s);
	bool several = p.band < t->out[p.banded].extent && filters > p.width;
	p.inside = !several || sketch_word(s, "panel.outermost", outermost, 2, 0) == 0;
	p.unroll = choose_unroll(s, &p, of->block > 1 && of->block < p.part ? of->block : p.part);
	sketch_opens(s);
	p.taps = few_taps(t, of) && sketch_flag(s, "panel.taps", true);
	p.panels = tile->vectors > 1 && filters % p.width == 0 && p.width <= TMPL_COOP_PANEL &&
		sketch_word(s, "panel.packed", packed, 2, 1) == 1;
	Text splits = { .arena = s->arena };
	Nest nest = cut_part(s, t, &p, &splits);
	choose_ahead(s, t, &nest, &p);
	panel_steps(s, t, &p);
	return true;
}
