/*
 * Winograd's algorithm on devices whose threads run in warps, as three launches:
 *
 *	wino.v: a thread transforms a tile of the input; neighbours have tiles side by side
 *	wino.m: (m+2)^2 products of filters and tiles, in tiles of blocks (coop_tile.h)
 *	wino.y: a thread transforms a tile of the result, and what follows in the Task
 *
 * V and M are in global memory with the tiles of all images last, so that neighbouring threads access neighbouring
 * elements in all launches. The prepare Fn transforms the weights.
 */
#include "schedule/template/coop_tile.h"
#include "schedule/template/device.h"
#include "schedule/template/winograd.h"

#include <math.h>
#include <string.h>

static int64_t tiles_of(const WinoConv *v)
{
	return v->batch * v->tiles[0] * v->tiles[1];
}

/* The products of wino.m; the names of the loops are those of op/algo_winograd.c, but for the merged m.tile. */
static CoopTile product_of(const WinoConv *v)
{
	CoopTile b = { .n = 2, .nouter = 2, .blocks = v->all_points, .type = F32, .taps = 1, .channels = v->channels,
		.outer = { { "m.i.w", v->points[0] }, { "m.j.w", v->points[1] } }, .nrest = 2, .rest = { "m.i", "m.j" } };
	b.axis[0] = (CoopAxis){ "m.o", "m.o.w", v->filters, .widen = true, .stride = 1, .window = 1 };
	b.axis[1] = (CoopAxis){ "m.tile", "m.tile.w", tiles_of(v), .widen = true, .stride = 1, .window = 1 };
	return b;
}

/* Cycles of the same convolution as a product of filters and pixels. */
static double direct_cycles(Sketch *s, const WinoConv *v)
{
	CoopTile b = product_of(v);
	b.blocks = 1;
	b.channels = v->window[0] * v->window[1] * v->channels;
	b.axis[1].extent = v->batch * v->height * v->width;
	return coop_split_cycles(s, &b);
}

/* Cycles of all launches. Infinite: no tile fits. */
static double cycles_of(Sketch *s, const WinoConv *v, int64_t m)
{
	const Target *t = s->target;
	CoopTile b = product_of(v);
	double cycles = coop_cycles(s, arena_printf(s->arena, "winograd %lld", (long long)m), &b);
	double moved = (double)(v->all_points * tiles_of(v) * (v->channels + v->filters)) * v->bytes;
	double all = moved + (double)(v->batch * v->height * v->width * (v->channels + v->filters)) * v->bytes;
	double rate = target_rate_beyond(t, moved <= (double)target_cache(t, 2) ? 1 : 2);
	return cycles + all / (fmax(rate, 1) * fmax(t->cores, 1)) + 2 * t->blocks.launch_ns * t->core.ghz;
}

/* Whether images are row-major, V and M are within the limit, and the window is 3x3: others are not measured. */
static bool fits(const Sketch *s, int64_t m, WinoConv *v)
{
	if (!target_has_warps(s->target) || !winograd_find(s->task, s->target, m, v))
		return false;
	double moved = (double)(v->all_points * tiles_of(v) * (v->channels + v->filters)) * v->bytes;
	return v->window[0] == 3 && v->window[1] == 3 && v->d->value.at[v->c->in[0]].layout == NULL &&
		v->channels >= TMPL_WINO_CHANNELS && v->filters >= TMPL_WINO_CHANNELS && moved <= TMPL_WINO_MOVED;
}

static int offer(Sketch *s, const Tiled *t, int64_t param[TEMPLATE_PARAMS], int64_t *best)
{
	enum { LEAST = 2, MOST = 4 };
	WinoConv v;
	int n = 0;
	double least = 0;
	*best = 0;
	for (int64_t m = LEAST; m <= MOST && t->ends; m += 2) {
		double cycles = fits(s, m, &v) ? cycles_of(s, &v, m) : INFINITY;
		if (!isfinite(cycles))
			continue;
		if (n == 0)
			least = direct_cycles(s, &v);
		if (cycles < least && !dag_allows_tf32(v.d)) { /* else matrix units save more */
			least = cycles;
			*best = m;
		}
		param[n++] = m;
	}
	return n;
}

/* Fuses the loops in this order, and splits the result into blocks and their threads. */
static void spread(Sketch *s, const char *const *loop, int n, int64_t extent, int64_t threads, const char *name)
{
	Text line = { .arena = s->arena };
	const char *all = loop[0];
	for (int k = 0; k < n; k++)
		text_add(&line, " %s", loop[k]);
	sketch_step(s, "reorder%s", text_str(&line));
	for (int k = 1; k < n; k++) {
		const char *both = k == n - 1 ? name : arena_printf(s->arena, "%s%d", name, k);
		sketch_step(s, "fuse %s %s as %s", all, loop[k], both);
		all = both;
	}
	sketch_step(s, "split %s %lld", all, (long long)(threads < extent ? threads : extent));
	sketch_step(s, "bind %s.o grid.x", all);
	sketch_step(s, "bind %s.i block.x", all);
}

/* How many neighbouring filters are contiguous in the transformed weights: those of a tile, within limits. */
static int64_t filters_together(int64_t tile)
{
	const AlgoParam *o = algo_find(winograd_algo)->param;
	while (strcmp(o->key, "o") != 0)
		o++;
	int64_t n = o->least;
	while (n * 2 <= o->most && tile % (n * 2) == 0)
		n *= 2;
	return n;
}

static void set_operands(const Sketch *s, const WinoConv *v, CoopTile *b, int64_t together)
{
	int64_t filters = coop_axis_tile(&b->axis[0]), tiles = coop_axis_tile(&b->axis[1]), all = b->axis[1].extent;
	int64_t lanes[2] = { coop_lanes(s, F32, tiles), coop_lanes(s, F32, filters) }, part = b->round[0].part;
	bool whole = b->channels % part == 0;
	b->operand[0] = (CoopOperand){ .copy = "xs", .layout = "NCWH", .n = 4, .order = { 0, 1, 3, 2 },
		.part = { 1, 1, tiles, part }, .lanes = whole && all % tiles == 0 && all % lanes[0] == 0 ? lanes[0] : 1 };
	b->operand[1] = (CoopOperand){ .copy = "ws", .layout = "CHWN", .n = 4, .order = { 2, 3, 1, 0 },
		.part = { filters, part, 1, 1 },
		.lanes = whole && v->filters % filters == 0 && together % lanes[1] == 0 ? lanes[1] : 1 };
}

static void steps(Sketch *s, const Tiled *t, int64_t m)
{
	static const char *const of_v[] = { "v.c", "v.tile" }, *const of_y[] = { "y.n", "y.o", "y.th", "y.tw" };
	int64_t threads[KNOB_OPTIONS], most = s->target->blocks.block_threads;
	int n = 0, first = 0;
	WinoConv v;
	winograd_find(s->task, s->target, m, &v);
	CoopTile b = product_of(&v);
	sketch_group(s);
	coop_knobs(s, &b); /* cannot fail: offer has found a tile */
	coop_round_knob(s, &b, "m.c");
	coop_unroll_knob(s, &b);
	coop_stages_knob(s, &b);
	for (int64_t p = s->target->blocks.warp; p <= TMPL_BLOCK_THREADS && (most == 0 || p <= most); p *= 2) {
		first = p <= TMPL_WINO_THREADS ? n : first;
		threads[n++] = p;
	}
	int64_t picked = sketch_number(s, "wino.threads", threads, n, first);
	sketch_group_end(s);
	const char *result = v.d->value.at[v.c->out[0]].name;
	int64_t together = filters_together(coop_axis_tile(&b.axis[0]));
	Tiled product = { .block = "wino.m", .bare = true, .sums = arena_printf(s->arena, "%s.m.c", result) };
	sketch_step(s, "compute %s m=%lld o=%lld", winograd_algo, (long long)m, (long long)together);
	for (int i = 0; i < t->nmiddle; i++)
		sketch_step(s, "inline %s", t->middle[i]);
	if (!t->bare)
		sketch_step(s, "absorb wino.y %s", t->last);
	sketch_step(s, "merge wino.v v.n v.th as v.row");
	sketch_step(s, "merge wino.v v.row v.tw as v.tile");
	sketch_step(s, "merge wino.m m.n m.th as m.row");
	sketch_step(s, "merge wino.m m.row m.tw as m.tile");
	coop_begin(s, &product);
	coop_widen_steps(s, &product, &b);
	sketch_step(s, "pad %s.v wino.m as xs", result);
	sketch_step(s, "pad %s.u wino.m as ws", result);
	sketch_step(s, "layout %s.v NCWH", result);
	sketch_step(s, "layout %s.m NCWH", result);
	winograd_weights(s, &v);
	spread(s, of_v, 2, v.channels * b.axis[1].extent, picked, "v.all");
	spread(s, of_y, 4, v.filters * b.axis[1].extent, picked, "y.all");
	set_operands(s, &v, &b, together);
	coop_steps(s, &product, &b);
	coop_rest(s, t);
}

const TemplateAlgo tmpl_coop_winograd = { .name = winograd_algo, .offer = offer, .steps = steps };
