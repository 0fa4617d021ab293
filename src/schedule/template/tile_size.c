/* Sizes of register tiles as knobs: lanes, vectors and pixels, steps that are written out, what is prefetched. */
#include "schedule/template/dot.h"
#include "schedule/template/share.h"

#include <math.h>

int64_t tile_lanes(const Sketch *s, const Tiled *t, int64_t extent)
{
	int64_t lanes = target_lanes(s->target, t->sum), block = dot_side(t->result);
	lanes = lanes > 1 ? lanes : 4;
	while (block > 1 && lanes > block && lanes % 2 == 0)
		lanes /= 2;
	while (lanes > 4 && extent <= lanes / 2)
		lanes /= 2;
	return lanes;
}

double tile_made(int64_t extent, int64_t part, int64_t lanes, bool split, double masked)
{
	int64_t n = split ? part / lanes : ceil_div(part, lanes);
	for (int64_t rest = part % lanes; split && rest > 0; rest &= rest - 1)
		n++;
	double made = (double)extent / (double)(ceil_div(extent, part) * n);
	return extent % part == 0 ? made : made * masked;
}

int64_t tile_registers(const Sketch *s)
{
	return s->target->vector_regs > 0 ? s->target->vector_regs : 16;
}

bool tile_few_registers(const Sketch *s)
{
	return tile_registers(s) < TMPL_FEW_REGISTERS;
}

double tile_hides(const Core *core)
{
	return TMPL_HIDES * core->fma_latency * core->fma_rate;
}

double tile_asks(const Sketch *s, int64_t vectors)
{
	return tile_few_registers(s) && vectors > 1 ? TMPL_FEW_HIDES : TMPL_HIDES;
}

bool tile_wastes_little(int64_t extent, int64_t width)
{
	int64_t covered = ceil_div(extent, width) * width;
	return extent <= TMPL_SHORT_AXIS || (covered - extent) * TMPL_WASTE <= covered;
}

int tile_unrolls(int64_t extent, int64_t sums, int64_t most, int64_t body, int64_t option[KNOB_OPTIONS])
{
	int n = 0;
	for (int64_t u = 1; n < KNOB_OPTIONS && (u == 1 || (u < extent && u <= most && u * sums <= body)); u *= 2)
		option[n++] = u;
	return n;
}

/*
 * Cycles of a step of the reduction in a tile. Too few sums do not hide the latency of an FMA and the overhead of the
 * loop; `hides` says how many do, for each in flight. A step loads each vector of weights once and each pixel as an
 * operand; one vector needs a load for each FMA; four leave no registers for what is loaded ahead.
 */
static double tile_cycles(const Core *core, double hides, int64_t vectors, int64_t pixels)
{
	const double rate[TMPL_MOST_VECTORS + 1] = { 0, TMPL_ONE_VECTOR, TMPL_TWO_VECTORS, TMPL_THREE_VECTORS,
		TMPL_FOUR_VECTORS };
	double want = hides * core->fma_latency * core->fma_rate, sums = (double)(vectors * pixels);
	double chains = sums < want ? sqrt(sums / want) : 1;
	double fed = fmin(1, core->loads * (double)vectors / core->fma_rate);
	return fmax(sums / (core->fma_rate * chains * fed * rate[vectors]), core->fma_latency);
}

/*
 * The tiles at the ends of both axes are code of their own: they take what their own sizes take, judged by what the
 * whole tiles ask for. More pixels read the weights less often.
 */
double tile_promise(
	const Core *core, double hides, int64_t blocks, int64_t extent, int64_t vectors, int64_t pixels)
{
	int64_t wide = blocks / vectors, rest = blocks % vectors, long_ = extent / pixels, end = extent % pixels;
	double sum = (double)(wide * long_) * tile_cycles(core, hides, vectors, pixels);
	sum += rest > 0 ? (double)long_ * tile_cycles(core, hides, rest, pixels) : 0;
	sum += end > 0 ? (double)wide * tile_cycles(core, hides, vectors, end) : 0;
	sum += rest > 0 && end > 0 ? tile_cycles(core, hides, rest, end) : 0;
	double tail = end > 0 && long_ > 0 ? TMPL_TAIL : 1;
	return (double)(blocks * extent) / core->fma_rate / sum * tail + TMPL_PIXEL_BONUS * (double)pixels;
}

/* The registers hold the sums of f vectors and p pixels, a weight for each vector and an input. */
static bool fits(const Sketch *s, int64_t f, int64_t p)
{
	return f * p + f + 1 <= tile_registers(s);
}

/* Whether tiles that fit are an option, beside what a Tile asks for. */
static bool is_option(int64_t vectors, int64_t pixels, int64_t f, int64_t p)
{
	return tile_wastes_little(pixels, p) && (f * p >= TMPL_LEAST_SUMS || pixels * vectors < TMPL_LEAST_SUMS);
}

double tile_best(const Sketch *s, int64_t vectors, int64_t pixels, int64_t *wide)
{
	const Core *core = &s->target->core;
	double best = 0, own = 0;
	for (int64_t f = 1; f <= TMPL_MOST_VECTORS && f <= vectors; f++)
		for (int64_t p = 1; p <= pixels && fits(s, f, p); p++) {
			if (!is_option(vectors, pixels, f, p))
				continue;
			double part = tile_promise(core, tile_asks(s, f), vectors, pixels, f, p);
			best = fmax(best, tile_promise(core, TMPL_HIDES, vectors, pixels, f, p));
			*wide = part > own ? f : *wide;
			own = fmax(own, part);
		}
	return best;
}

const char *tile_name(Sketch *s, const Tile *tile, const char *knob)
{
	return tile->of == NULL ? knob : arena_printf(s->arena, "%s.%s", tile->of, knob);
}

bool tile_overlaps(const Sketch *s, const Tile *t)
{
	return t->group % (t->lanes * t->vectors) != 0 && t->group > t->lanes && !target_has_blocks(s->target);
}

/* Of few tiles: how evenly threads share them. */
static double filled(const Target *t, int64_t tiles)
{
	return tiles < t->threads * TMPL_SHARE_FEW ? share_filled(t, tiles) : 1;
}

void tile_knob(Sketch *s, int64_t vectors, int64_t pixels, Tile *out)
{
	KnobOption option[KNOB_OPTIONS] = { { .kind = KNOB_TILE, .tile = { 1, 1 } } };
	int n = 0, best = 0;
	int64_t regs = tile_registers(s);
	double top = -1;
	for (int64_t f = 1; f <= TMPL_MOST_VECTORS && f <= vectors; f++)
		for (int64_t p = 1; p <= pixels && fits(s, f, p) && n < KNOB_OPTIONS; p++) {
			if (out->group > 0 && f > 1 && f * out->lanes > out->group && !target_has_blocks(s->target))
				continue;
			if (out->whole && vectors % f != 0)
				continue; /* a predicate would stand in the instruction's loops */
			if (!is_option(vectors, pixels, f, p))
				continue;
			bool favour = f == out->favour && fits(s, f, p + 1) && !tile_few_registers(s);
			double part = tile_promise(&s->target->core, tile_asks(s, f), vectors, pixels, f, p);
			part *= favour ? TMPL_FAVOUR : 1;
			if (out->half && f * p == (pixels < regs / 2 ? pixels : regs / 2))
				part = INFINITY;
			part *= filled(s->target, out->around * ceil_div(vectors, f) * ceil_div(pixels, p));
			if (part > top) {
				top = part;
				best = n;
			}
			option[n++] = (KnobOption){ .kind = KNOB_TILE, .tile = { f, p } };
		}
	int k = sketch_knob(s, tile_name(s, out, "tile"), option, n, best);
	sketch_opens(s);
	out->vectors = option[k].tile.vectors;
	out->pixels = option[k].tile.pixels;
}

/* Lines of weights that a turn of the outermost reduce loop asks for, if a tile asks for all of the next one's. */
static int64_t lines_ahead(const Sketch *s, const Tiled *t, const Tile *tile, int64_t turns)
{
	int64_t bytes = tile->lanes * tile->vectors * dtype_bytes(t->sum, 1);
	for (int k = 0; k < t->nreduce; k++)
		bytes *= t->reduce[k].extent;
	for (int k = 0; k < t->n; k++)
		if (k != tile->vector)
			turns *= k == tile->pixel ? ceil_div(t->out[k].extent, tile->pixels) : t->out[k].extent;
	return bytes / s->target->line_bytes / turns;
}

void tile_ahead(Sketch *s, const Tiled *t, Tile *tile, int64_t turns, Ahead guess)
{
	static const char *const name[] = { "none", "stream", "tile" };
	const char *word[3] = { name[AHEAD_NONE] };
	Ahead ahead[3] = { AHEAD_NONE };
	int n = 1, first = 0;
	if (tile->stream != NULL) {
		first = guess == AHEAD_STREAM ? n : first;
		word[n] = name[AHEAD_STREAM];
		ahead[n++] = AHEAD_STREAM;
	}
	if (tile->group == 0 && t->out[tile->vector].extent > tile->lanes * tile->vectors &&
		lines_ahead(s, t, tile, turns) < PREFETCH_LINES) {
		first = guess == AHEAD_TILE ? n : first;
		word[n] = name[AHEAD_TILE];
		ahead[n++] = AHEAD_TILE;
	}
	tile->ahead = ahead[sketch_word(s, tile_name(s, tile, "ahead"), word, n, first)];
}
