/*
 * How large the tiles of blocks are: which shapes a device can run, and which is likely best. Shapes of threads and of
 * sums are ranked by an estimate of the time that the busiest unit takes; knobs offer the best of them.
 */
#include "schedule/template/coop_tile.h"

#include "schedule/template/block.h"
#include "target/capability.h"
#include "target/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTHS = KNOB_OPTIONS /* of an axis of a tile */, SHAPES = 512 };

typedef struct CoopShape {
	int64_t at[COOP_AXES];
	double time;
	const char *word; /* of those that are kept: "8x4" */
} CoopShape;

/* ---- which there are ---- */

/* Powers of two and divisors, up to `most`. */
static int lengths(const CoopAxis *x, int64_t most, int64_t *out)
{
	int n = 0;
	for (int64_t k = 1; k <= most && k <= x->extent && n < LENGTHS; k++)
		if (x->extent % k == 0 || (x->widen && (k & (k - 1)) == 0))
			out[n++] = k;
	return n;
}

/* A tile above the extent would need a condition around each product. */
static bool may_have(const CoopAxis *x, int64_t tile)
{
	return x->widen ? tile <= x->extent : x->extent % tile == 0;
}

/* The part of the axis that tiles cover in vain. */
static double waste(const CoopAxis *x, int64_t tile)
{
	int64_t covered = ceil_div(x->extent, tile) * tile;
	return (double)(covered - x->extent) / (double)covered;
}

/* Calls for all shapes of `n` axes; the lengths of axis k are length[k]. */
static int shapes_of(const CoopTile *b, int64_t (*length)[LENGTHS], const int *count, int64_t least, int64_t most,
	bool (*fits)(const CoopTile *b, const int64_t *at, const void *arg), const void *arg, CoopShape *out)
{
	int at[COOP_AXES] = { 0 }, n = 0;
	for (;;) {
		CoopShape s = { .at = { 1, 1, 1 } };
		int64_t all = 1;
		for (int k = 0; k < b->n; k++)
			all *= s.at[k] = length[k][at[k]];
		if (all >= least && all <= most && n < SHAPES && fits(b, s.at, arg))
			out[n++] = s;
		int k = b->n - 1;
		while (k >= 0 && ++at[k] == count[k])
			at[k--] = 0;
		if (k < 0)
			return n;
	}
}

/* ---- what they cost ---- */

void coop_operands(const CoopTile *b, int64_t part[COOP_OPERANDS])
{
	part[0] = coop_axis_tile(&b->axis[0]) * b->taps;
	part[1] = 1;
	for (int k = 1; k < b->n; k++)
		part[1] *= (coop_axis_tile(&b->axis[k]) - 1) * b->axis[k].stride + b->axis[k].window;
}

/* Operands of one product for each sum. */
static int64_t sides_of(const CoopTile *b)
{
	int64_t side[2] = { 1, 1 };
	for (int k = 0; k < b->n; k++)
		side[k > 0] *= b->axis[k].virtuals * b->axis[k].inner;
	return side[0] + side[1];
}

static int registers(const Sketch *s, const CoopTile *b)
{
	double words = fmax(1, b->type.bits / 32.0);
	return target_kernel_regs(words * (double)coop_sums(b), words * (double)sides_of(b), device_tensors(s->task->dag));
}

int64_t coop_loads(const Sketch *s, const CoopTile *b, int64_t lanes)
{
	double words = fmax(1, b->type.bits / 32.0);
	int most = target_thread_regs(s->target, (int)coop_threads(b));
	int free = most - target_kernel_regs(words * (double)coop_sums(b), 0, device_tensors(s->task->dag));
	int64_t loads = (int64_t)(free / COOP_OPERANDS / (words * (double)lanes + TMPL_COOP_ADDRESS));
	return most == 0 || loads > TMPL_COOP_COPIES ? TMPL_COOP_COPIES : loads < 1 ? 1 : loads;
}

bool coop_fits(const Sketch *s, const CoopTile *b, int64_t elements)
{
	return dtype_bytes(b->type, elements) <= device_shared(s->target);
}

int64_t coop_lanes(const Sketch *s, DType type, int64_t side)
{
	int64_t lanes = target_lanes(s->target, type);
	while (lanes > 1 && side % lanes != 0)
		lanes /= 2;
	return lanes;
}

/* Whether a unit can run the tile at all, with the shortest round. */
static bool runs(const Sketch *s, const CoopTile *b)
{
	int64_t part[COOP_OPERANDS];
	coop_operands(b, part);
	int most = target_thread_regs(s->target, (int)coop_threads(b));
	return coop_fits(s, b, part[0] + part[1]) && (most == 0 || registers(s, b) <= most);
}

/*
 * The time of the busiest unit, in multiply-adds of a lane. A unit has as many blocks as are left where they are
 * shared out evenly. Each multiply-add takes a lane, its share of what is loaded from shared memory, and of what the
 * block copies there; and where too few sums are in flight, lanes wait. Each round waits for memory, while other blocks
 * of the unit work.
 */
static double time_of(const Sketch *s, const CoopTile *b)
{
	const Target *t = s->target;
	int64_t part[COOP_OPERANDS], tile = 1, blocks = b->blocks, sums = coop_sums(b), threads = coop_threads(b);
	int lanes = target_lanes(t, b->type), units = t->cores > 0 ? t->cores : 1;
	coop_operands(b, part);
	for (int k = 0; k < b->n; k++) {
		tile *= coop_axis_tile(&b->axis[k]);
		blocks *= ceil_div(b->axis[k].extent, coop_axis_tile(&b->axis[k]));
	}
	int64_t round = ceil_div(TMPL_COOP_ROUND, b->taps), each = ceil_div(blocks, units);
	int64_t bytes = dtype_bytes(b->type, (part[0] + part[1]) * round);
	int resident = target_resident_blocks(t, (int)threads, bytes, registers(s, b));
	int64_t at_once = resident < 1 ? 1 : resident < each ? resident : each;
	double rate = t->core.fma_rate * lanes, sides = 0, side[2] = { 1, 1 };
	for (int k = 0; k < b->n; k++)
		side[k > 0] *= (double)(b->axis[k].virtuals * b->axis[k].inner);
	sides = side[0] / fmin((double)lanes, side[0]) + side[1];
	double loads = sides / (double)sums * rate / (t->core.loads * lanes);
	double copied = (double)(part[0] + part[1]) / (double)(tile * b->taps);
	double fetched = copied * (double)dtype_bytes(b->type, 1) * rate / fmax(t->core.level[1], 1);
	double flight = (double)(at_once * threads) * fmin((double)sums, TMPL_COOP_CHAINS);
	double hidden = fmin(1, flight / (rate * t->core.fma_latency * TMPL_COOP_HIDES));
	double warps = (double)ceil_div(threads, t->blocks.warp) * t->blocks.warp / (double)threads;
	double made = b->make * (double)part[1] / (double)(tile * b->taps);
	double busy = fmax(1, loads) + fetched + TMPL_COOP_COPY * copied + made;
	double waits = rate * TMPL_COOP_LATENCY / (double)(round * b->taps * at_once);
	double joins = 0;
	if (b->parts > 1) {
		CoopJoin j = coop_join(b);
		bool last;
		joins = coop_join_cycles(t, &j, &last) * rate / (double)(b->channels * b->taps);
	}
	return (double)each * ((double)tile * busy * warps / fmax(hidden, 1e-3) + waits) + joins;
}

static int by_time(const void *x, const void *y)
{
	double a = ((const CoopShape *)x)->time, b = ((const CoopShape *)y)->time;
	return a < b ? -1 : a > b;
}

/* ---- knobs ---- */

static void set_threads(CoopTile *b, const int64_t *at)
{
	for (int k = 0; k < b->n; k++) {
		b->axis[k].threads = at[k];
		b->axis[k].virtuals = b->axis[k].inner = 1;
	}
}

static bool fits_threads(const CoopTile *b, const int64_t *at, const void *arg)
{
	double covered = 1;
	for (int k = 0; k < b->n; k++)
		covered *= 1 - waste(&b->axis[k], at[k]);
	(void)arg;
	return covered * TMPL_COOP_WASTE >= TMPL_COOP_WASTE - 1;
}

static bool fits_sums(const CoopTile *b, const int64_t *at, const void *arg)
{
	CoopTile tile = *b;
	double covered = 1;
	for (int k = 0; k < b->n; k++) {
		if (at[k] > TMPL_COOP_UNROLL || !may_have(&b->axis[k], b->axis[k].threads * at[k]))
			return false; /* the loop over them must be unrolled */
		tile.axis[k].inner = at[k];
		covered *= 1 - waste(&tile.axis[k], coop_axis_tile(&tile.axis[k]));
	}
	return covered * TMPL_COOP_WASTE >= TMPL_COOP_WASTE - 1 && runs(arg, &tile);
}

static int sums_of(const Sketch *s, const CoopTile *b, CoopShape *out)
{
	int64_t length[COOP_AXES][LENGTHS];
	int count[COOP_AXES];
	CoopTile tile = *b;
	for (int k = 0; k < b->n; k++)
		count[k] = lengths(&b->axis[k], TMPL_COOP_LENGTH, length[k]);
	int n = shapes_of(b, length, count, 1, TMPL_COOP_SUMS, fits_sums, s, out);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < b->n; k++)
			tile.axis[k].inner = out[i].at[k];
		out[i].time = time_of(s, &tile);
	}
	return n;
}

/* Powers of two only: how well threads of that shape may do. */
static double best_time(const Sketch *s, const CoopTile *b)
{
	CoopTile tile = *b;
	double best = INFINITY;
	for (int64_t f = 2; f <= TMPL_COOP_LENGTH; f *= 2)
		for (int64_t p = 1; p * f <= TMPL_COOP_SUMS; p *= 2)
			for (int64_t q = 1; q <= p && (q == 1 || b->n == COOP_AXES); q *= 2) {
				int64_t at[COOP_AXES] = { f, b->n == COOP_AXES ? q : p, p / q };
				if (!fits_sums(b, at, s))
					continue;
				for (int k = 0; k < b->n; k++)
					tile.axis[k].inner = at[k];
				double time = time_of(s, &tile);
				best = time < best ? time : best;
			}
	return best;
}

static int threads_of(const Sketch *s, const CoopTile *b, CoopShape *out)
{
	int64_t length[COOP_AXES][LENGTHS], most = s->target->blocks.block_threads, outputs = 1;
	int count[COOP_AXES], kept = 0;
	CoopTile tile = *b;
	most = most > 0 && most < TMPL_COOP_THREADS ? most : TMPL_COOP_THREADS;
	for (int k = 0; k < b->n; k++) {
		count[k] = lengths(&b->axis[k], most, length[k]);
		outputs *= b->axis[k].extent;
	}
	int64_t least = outputs < s->target->blocks.warp ? 1 : s->target->blocks.warp;
	int n = shapes_of(b, length, count, least, most, fits_threads, NULL, out);
	for (int i = 0; i < n; i++) {
		set_threads(&tile, out[i].at);
		out[i].time = best_time(s, &tile);
		if (isfinite(out[i].time))
			out[kept++] = out[i];
	}
	return kept;
}

/* Any number of threads that a block may have, if registers hold a sum of each. */
static bool fits_any_threads(const CoopTile *b, const int64_t *at, const void *arg)
{
	const Sketch *s = arg;
	CoopTile tile = *b;
	set_threads(&tile, at);
	return coop_threads(&tile) <= block_most_threads(s->target) && fits_threads(b, at, NULL) && runs(s, &tile);
}

/* Asks for one of the shapes, or axis by axis for any other one that fits. */
static void ask_shape(Sketch *s, const char *name, const CoopTile *b, const CoopShape *shape, int n,
	bool (*fits)(const CoopTile *b, const int64_t *at, const void *arg), int64_t at[COOP_AXES])
{
	KnobOption option[KNOB_OPTIONS];
	int64_t length[LENGTHS];
	for (int i = 0; i < n; i++)
		option[i] = (KnobOption){ .kind = KNOB_WORD, .word = shape[i].word };
	option[n] = (KnobOption){ .kind = KNOB_WORD, .word = "other" };
	int picked = sketch_knob(s, name, option, n + 1, 0);
	sketch_opens(s);
	for (int k = 0; k < COOP_AXES; k++)
		at[k] = picked < n ? shape[picked].at[k] : 1;
	for (int k = 0; k < b->n && picked == n; k++) {
		int all = lengths(&b->axis[k], b->axis[k].extent, length), some = 0;
		for (int i = 0; i < all; i++) {
			at[k] = length[i];
			if (fits(b, at, s))
				length[some++] = at[k];
		}
		at[k] = sketch_number(s, arena_printf(s->arena, "%s.%d", name, k), length, some, 0);
		sketch_opens(s);
	}
}

/* Which of a thread's sums are neighbours: of the first axis as many as a load has, of others none, by default. */
static void ask_virtuals(Sketch *s, CoopTile *b, int k, int64_t sums)
{
	static const char *const name[] = { "virtual.0", "virtual.1", "virtual.2" };
	CoopAxis *x = &b->axis[k];
	int64_t option[KNOB_OPTIONS], lanes = target_lanes(s->target, b->type);
	int n = 0, first = -1;
	for (int64_t v = 1; v <= sums && n < KNOB_OPTIONS; v++) {
		if (sums % v != 0 || (v > 1 && x->threads == 1))
			continue;
		if (k > 0 || first < 0 || sums / v >= lanes)
			first = n;
		option[n++] = v;
	}
	x->virtuals = sketch_number(s, name[k], option, n, first);
	x->inner = sums / x->virtuals;
}

static const char *shape_word(Arena *a, int n, const CoopShape *shape)
{
	Text word = { .arena = a };
	for (int k = 0; k < n; k++)
		text_add(&word, "%s%lld", k > 0 ? "x" : "", (long long)shape->at[k]);
	return text_str(&word);
}

/* The shapes that a knob offers; an end of at[0] == 0. */
static const CoopShape *offered(Sketch *s, const char *what, const CoopTile *b,
	int (*find)(const Sketch *s, const CoopTile *b, CoopShape *out), int *n)
{
	Arena *keep;
	CoopShape shape[SHAPES + 1];
	MapEntry *known = sketch_known(s, what, &keep);
	if (known->ptr == NULL) {
		*n = find(s, b, shape);
		qsort(shape, (size_t)*n, sizeof *shape, by_time);
		*n = *n < TMPL_COOP_SHAPES ? *n : TMPL_COOP_SHAPES;
		shape[*n].at[0] = 0;
		for (int i = 0; i < *n; i++)
			shape[i].word = shape_word(keep, b->n, &shape[i]);
		known->ptr = arena_copy(keep, shape, sizeof *shape * (size_t)(*n + 1));
	}
	for (*n = 0; ((const CoopShape *)known->ptr)[*n].at[0] != 0;)
		++*n;
	return known->ptr;
}

double coop_cycles(Sketch *s, const char *name, const CoopTile *b)
{
	int n;
	const CoopShape *shape = offered(s, name, b, threads_of, &n);
	double steps = (double)(b->channels * b->taps);
	return n == 0 ? INFINITY : shape[0].time * steps / (s->target->core.fma_rate * target_lanes(s->target, b->type));
}

/* In cycles, for so many parts of the channels. */
static double time_split(Sketch *s, const CoopTile *b, int64_t parts)
{
	const Target *t = s->target;
	CoopTile part = *b;
	part.blocks = b->blocks * parts;
	part.channels = b->channels / parts;
	part.parts = parts;
	double outputs = (double)b->blocks;
	double cycles = coop_cycles(s, arena_printf(s->arena, "split %lld", (long long)parts), &part);
	for (int k = 0; k < b->n; k++)
		outputs *= (double)b->axis[k].extent;
	double bytes = outputs * (double)(2 * parts + 1) * (double)dtype_bytes(b->type, 1);
	double moved = bytes / (fmax(t->core.level[1], 1) * fmax(t->cores, 1));
	return parts > 1 ? cycles + moved : cycles;
}

/* The numbers of parts of the channels, if outputs alone do not fill the device. */
static int parts_of(const Sketch *s, const CoopTile *b, int64_t option[KNOB_OPTIONS])
{
	int64_t outputs = b->blocks;
	int n = 0;
	for (int k = 0; k < b->n; k++)
		outputs *= b->axis[k].extent;
	bool fills = outputs / TMPL_COOP_FILLS >= s->target->cores;
	for (int64_t parts = 1; parts <= (fills ? 1 : TMPL_COOP_SPLITS); parts *= 2)
		if (b->channels % parts == 0 && (parts == 1 || b->channels / parts >= TMPL_COOP_PART))
			option[n++] = parts;
	return n;
}

static double best_split(Sketch *s, const CoopTile *b, const int64_t *option, int n, int *first)
{
	double best = INFINITY;
	*first = 0;
	for (int k = 0; k < n; k++) {
		double time = time_split(s, b, option[k]);
		*first = time < best ? k : *first;
		best = fmin(time, best);
	}
	return best;
}

double coop_split_cycles(Sketch *s, const CoopTile *b)
{
	int64_t option[KNOB_OPTIONS];
	int first, n = parts_of(s, b, option);
	return best_split(s, b, option, n, &first);
}

int64_t coop_split_knob(Sketch *s, CoopTile *b)
{
	int64_t option[KNOB_OPTIONS];
	int first, n = parts_of(s, b, option);
	best_split(s, b, option, n, &first);
	int64_t parts = sketch_number(s, "split", option, n, first);
	sketch_opens(s);
	b->blocks *= parts;
	b->channels /= parts;
	b->parts = parts;
	return parts;
}

bool coop_knobs(Sketch *s, CoopTile *b)
{
	int n;
	int64_t at[COOP_AXES];
	const CoopShape *shape = offered(s, "threads", b, threads_of, &n);
	if (n == 0)
		return false;
	ask_shape(s, "threads", b, shape, n, fits_any_threads, at);
	set_threads(b, at);
	shape = offered(s, "tile", b, sums_of, &n);
	ask_shape(s, "tile", b, shape, n, fits_sums, at);
	for (int k = 0; k < b->n; k++)
		ask_virtuals(s, b, k, at[k]);
	return true;
}

void coop_round_knob(Sketch *s, CoopTile *b, const char *loop)
{
	int64_t option[KNOB_OPTIONS], part[COOP_OPERANDS];
	int n = 0, first = 0;
	double best = 0;
	coop_operands(b, part);
	for (int64_t c = 1; c <= b->channels && n < KNOB_OPTIONS; c++) {
		bool whole = b->channels % c == 0;
		bool may = whole || ((c & (c - 1)) == 0 && c <= TMPL_COOP_CHANNELS);
		if (!may || (n > 0 && !coop_fits(s, b, c * (part[0] + part[1]))))
			continue;
		double covered = (double)(ceil_div(b->channels, c) * c), want = TMPL_COOP_ROUND;
		double rank = fmin((double)c / want, want / (double)c) * (double)b->channels / covered;
		first = rank > best ? n : first;
		best = fmax(rank, best);
		option[n++] = c;
	}
	b->nround = 1;
	b->round[0] = (CoopRound){ loop, b->channels, sketch_number(s, "round", option, n, first) };
	sketch_opens(s);
}

void coop_stages_knob(Sketch *s, CoopTile *b)
{
	const CoopRound *r = &b->round[0];
	int64_t option[KNOB_OPTIONS], part[COOP_OPERANDS], most = ceil_div(r->extent, r->part);
	int n = 0, first = 0;
	coop_operands(b, part);
	most = most < TMPL_COOP_STAGES ? most : TMPL_COOP_STAGES;
	for (int k = 1; k < b->nround; k++)
		most = b->round[k].part == b->round[k].extent ? most : 1;
	for (int64_t stages = 1; stages == 1 || (stages <= most && target_capability(s->target)->copies); stages++) {
		if (stages > 1 && !coop_fits(s, b, stages * r->part * (part[0] + part[1])))
			break;
		first = stages <= TMPL_COOP_AHEAD ? n : first;
		option[n++] = stages;
	}
	b->stages = sketch_number(s, "stages", option, n, first);
}

void coop_unroll_knob(Sketch *s, CoopTile *b)
{
	int64_t option[KNOB_OPTIONS] = { 1 }, body = coop_sums(b);
	int n = 1, first = 0;
	bool parts = true; /* of the innermost loop, parts may be written out */
	for (int k = b->nround - 1; k >= 0 && b->round[k].part <= TMPL_COOP_UNROLL; k--) {
		int64_t part = b->round[k].part;
		for (int64_t u = parts ? 2 : part; u <= part && part > 1; u++)
			if (part % u == 0 && u * body <= TMPL_COOP_BODY && n < KNOB_OPTIONS) {
				first = u * body <= TMPL_COOP_FIRST_BODY ? n : first;
				option[n++] = u * body;
			}
		body *= part;
		if (body > TMPL_COOP_BODY)
			break;
		parts = parts && part == 1;
	}
	b->unroll = sketch_number(s, "unroll", option, n, first);
}
