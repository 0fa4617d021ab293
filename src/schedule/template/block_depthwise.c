/*
 * Depthwise convolutions on devices whose threads run in warps. Each filter reads one channel, so threads share only
 * the elements that windows have in common. A block computes some channels of a tile of rows and columns. Its threads
 * copy the inputs of the tile, with the border, to shared memory. Then each computes some rows of neighbouring columns,
 * with its sums and weights in registers.
 *
 *	for grid.. { for f block.x { copy }
 *	             for t block.x { for taps { for rows { for columns { sums }}}
 *	                             for rows { for columns vector { store }}}}
 *
 * If a tile has whole rows, loads of 16 bytes copy the inside of the image, and the border has copies of its own.
 * Blocked and channels-last images use the space of any loops, whose threads run along channels.
 */
#include "schedule/template/block.h"
#include "schedule/template/coop_tile.h"

#include "op/op.h"
#include "target/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS, COLUMNS, WINDOWS, SHAPES = 1024, LENGTHS = 24 };

/* An axis along which windows move; a missing axis has one place. */
typedef struct Window {
	const char *name, *out; /* its loops in the reduction and in the nest that stores; NULL: there is no such axis */
	int64_t extent, input;  /* places of the result and of the image */
	int64_t taps, stride, dilation, before; /* `before`: padding */
} Window;

typedef struct Depth {
	const Value *x;
	int rank;
	int64_t filters, share; /* filters that read one channel */
	int64_t others;         /* blocks for each tile: images, and planes of a volume */
	int64_t taps;           /* along all axes */
	int64_t deep;           /* planes of a volume that a window reads */
	Window at[WINDOWS];
} Depth;

/* Threads of a block, and the sums of each. */
typedef struct Share {
	int64_t filters, threads[WINDOWS], sums[WINDOWS];
	double time;
	const char *word;
} Share;

static int64_t at_most(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t attr(const OpCall *c, const char *name, int k, int64_t otherwise)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	return k < n ? v[k] : otherwise;
}

static bool applies(const Task *task, const Target *target)
{
	const Dag *d = task->dag;
	const OpCall *c = tile_anchor(d);
	if (!target_has_warps(target) || c == NULL || c->op != OP_conv)
		return false;
	const Value *x = &d->value.at[c->in[0]], *w = &d->value.at[c->in[1]], *y = &d->value.at[c->out[0]];
	return w->shape.dim[1] == 1 && op_int(c, "groups") > 1 && y->shape.rank >= 3 && y->shape.rank <= 5 &&
		x->kind == VALUE_INPUT && x->layout == NULL;
}

static bool read_depth(const Sketch *s, const OpCall *c, const Tiled *t, Depth *d)
{
	const Dag *dag = s->task->dag;
	const Shape *w = &dag->value.at[c->in[1]].shape;
	*d = (Depth){ .x = &dag->value.at[c->in[0]], .rank = w->rank, .filters = w->dim[0], .taps = 1, .deep = 1 };
	d->share = d->filters / op_int(c, "groups");
	d->others = t->axis[0].extent;
	d->at[ROWS] = (Window){ NULL, NULL, 1, 1, 1, 1, 1, 0 };
	if (t->n != d->rank || tile_side(t->result) != d->rank - 1 || block_digit(t->result) > 0)
		return false;
	for (int k = 2; k < d->rank; k++) {
		Window v = { t->axis[k].name, t->out[k].name, t->axis[k].extent, d->x->shape.dim[k], w->dim[k],
			attr(c, "strides", k - 2, 1), attr(c, "dilations", k - 2, 1), attr(c, "pads", k - 2, 0) };
		d->taps *= v.taps;
		if (k >= d->rank - 2)
			d->at[k == d->rank - 1 ? COLUMNS : ROWS] = v;
		else
			d->others *= v.extent;
		d->deep *= k < d->rank - 2 ? (v.taps - 1) * v.dilation + 1 : 1;
	}
	return true;
}

/* ---- resources of a block ---- */

static int64_t threads_of(const Share *x)
{
	return x->filters * x->threads[ROWS] * x->threads[COLUMNS];
}

/* Places of an axis that a block computes: a multiple of a thread's places. */
static int64_t tile_of(const Depth *d, const Share *x, int k)
{
	int64_t all = ceil_div(d->at[k].extent, x->sums[k]) * x->sums[k];
	return at_most(x->threads[k] * x->sums[k], all);
}

/* Elements along an axis of the image that windows of so many places read. */
static int64_t reads(const Window *v, int64_t places)
{
	return (places - 1) * v->stride + (v->taps - 1) * v->dilation + 1;
}

static int64_t channels_of(const Depth *d, const Share *x)
{
	return ceil_div(x->filters, d->share);
}

/* Padding behind each row of the copy, so that rows are aligned for loads of 16 bytes. */
static int64_t gap_of(const Sketch *s, const Depth *d, const Share *x)
{
	int64_t row = reads(&d->at[COLUMNS], tile_of(d, x, COLUMNS)), lanes = target_lanes(s->target, d->x->type);
	return x->sums[COLUMNS] > 1 ? (lanes - row % lanes) % lanes : 0;
}

static int64_t copied(const Depth *d, const Share *x)
{
	return channels_of(d, x) * d->deep * reads(&d->at[ROWS], tile_of(d, x, ROWS)) *
		reads(&d->at[COLUMNS], tile_of(d, x, COLUMNS));
}

static int64_t shared_bytes(const Sketch *s, const Depth *d, const Share *x)
{
	int64_t row = reads(&d->at[COLUMNS], tile_of(d, x, COLUMNS));
	return dtype_bytes(d->x->type, copied(d, x) / row * (row + gap_of(s, d, x)));
}

/* Registers for the sums, the weights, and an image row of a thread's windows. */
static int registers(const Sketch *s, const Depth *d, const Share *x)
{
	int64_t row = reads(&d->at[COLUMNS], x->sums[COLUMNS]);
	return target_kernel_regs((double)(x->sums[ROWS] * x->sums[COLUMNS]),
		(double)(at_most(d->taps, TMPL_DEPTH_WEIGHTS) + row), device_tensors(s->task->dag));
}

static bool fits(const Sketch *s, const Depth *d, const Share *x)
{
	int64_t threads = threads_of(x), most = at_most(block_most_threads(s->target), TMPL_COOP_THREADS);
	int64_t shared = device_shared(s->target), outputs = d->filters;
	double covered = 1;
	for (int k = 0; k < WINDOWS; k++) {
		int64_t tile = x->threads[k] * x->sums[k], extent = d->at[k].extent;
		outputs *= extent;
		covered *= (double)extent / (double)(ceil_div(extent, tile) * tile);
	}
	covered *= (double)d->filters / (double)(ceil_div(d->filters, x->filters) * x->filters);
	int regs = target_thread_regs(s->target, (int)threads);
	return threads <= most && (threads >= s->target->blocks.warp || outputs < s->target->blocks.warp) &&
		covered * TMPL_COOP_WASTE >= TMPL_COOP_WASTE - 1 &&
		(x->filters % d->share == 0 || d->share % x->filters == 0) &&
		shared_bytes(s, d, x) <= shared && (regs == 0 || registers(s, d, x) <= regs);
}

/*
 * Elements that a thread copies at once. More than one needs whole rows, whose elements inside of the image are
 * aligned.
 */
static int64_t copy_lanes(const Sketch *s, const Depth *d, const Share *x)
{
	const Window *v = &d->at[COLUMNS];
	int64_t lanes = target_lanes(s->target, d->x->type), row = reads(v, tile_of(d, x, COLUMNS));
	int64_t inside = at_most(v->input, row - v->before);
	while (lanes > 1 && v->input % lanes != 0)
		lanes /= 2;
	return tile_of(d, x, COLUMNS) >= v->extent && inside >= lanes ? lanes : 1;
}

/*
 * How many turns a load of shared memory takes. Threads so many elements apart load up to 16 bytes each, as far as they
 * are aligned. Threads whose distance is a multiple of that by a power of two have bank conflicts.
 */
static double conflicts(const Sketch *s, const Depth *d, const Share *x)
{
	int64_t apart = x->sums[COLUMNS] * d->at[COLUMNS].stride, lanes = target_lanes(s->target, d->x->type);
	int64_t wide = apart & -apart;
	return x->threads[COLUMNS] > 1 && wide > lanes ? (double)wide / (double)lanes : 1;
}

/*
 * The time of the busiest unit, in multiply-adds of a lane as for other tiles (coop_shape.c). It is the greater of the
 * multiply-adds and their loads from shared memory, and a thread's share of the copies and stores.
 */
static double time_of(const Sketch *s, const Depth *d, const Share *x)
{
	const Target *t = s->target;
	int64_t threads = threads_of(x), sums = x->sums[ROWS] * x->sums[COLUMNS];
	int64_t blocks = d->others * ceil_div(d->filters, x->filters);
	for (int k = 0; k < WINDOWS; k++)
		blocks *= ceil_div(d->at[k].extent, tile_of(d, x, k));
	int lanes = target_lanes(t, d->x->type);
	double rate = t->core.fma_rate * lanes, load = rate / (t->core.loads * lanes);
	double work = (double)(sums * d->taps);
	double loads = load * conflicts(s, d, x) * (double)d->deep * (double)reads(&d->at[ROWS], x->sums[ROWS]) *
		(double)reads(&d->at[COLUMNS], x->sums[COLUMNS]);
	double each = (double)copied(d, x) / (double)threads, wide = (double)copy_lanes(s, d, x);
	double copies = each * (load + TMPL_COOP_COPY / wide);
	int64_t side = x->sums[COLUMNS];
	while (side % 2 == 0 && side > lanes)
		side /= 2;
	double stores = (double)sums * TMPL_COOP_COPY / (double)(d->at[COLUMNS].extent % side == 0 ? side : 1);
	double fetched = (double)dtype_bytes(d->x->type, 1) * each * rate / fmax(t->core.level[1], 1);
	int resident = target_resident_blocks(t, (int)threads, shared_bytes(s, d, x), registers(s, d, x));
	int64_t most = ceil_div(blocks, t->cores > 0 ? t->cores : 1);
	int64_t at_once = resident < 1 ? 1 : at_most(resident, most);
	double flight = (double)(at_once * threads) * fmin((double)sums, TMPL_COOP_CHAINS);
	double hidden = fmin(1, flight / (rate * t->core.fma_latency * TMPL_COOP_HIDES));
	double warps = (double)(ceil_div(threads, t->blocks.warp) * t->blocks.warp);
	double rounds = 1 + ceil(each / wide / TMPL_COOP_COPIES); /* of copies; each round waits for memory */
	double waits = rate * TMPL_COOP_LATENCY * rounds * (double)ceil_div(most, at_once);
	return (double)most * warps * (fmax(work, loads) + copies + stores + fetched) / fmax(hidden, 1e-3) + waits;
}

/*
 * The same for the default of the space of any loops: a thread for each column and some rows, whose windows share
 * elements in L1. Each tap has two conditions for the border.
 */
static double time_of_loops(const Sketch *s, const Depth *d)
{
	const Target *t = s->target;
	double rate = t->core.fma_rate * target_lanes(t, d->x->type), outputs = (double)(d->others * d->filters);
	int64_t rows = at_most(d->at[ROWS].extent, TMPL_BLOCK_TILE);
	for (int k = 0; k < WINDOWS; k++)
		outputs *= (double)d->at[k].extent;
	while (rows > 1 && outputs / (double)rows < (double)device_fill(t))
		rows /= 2;
	double load = t->core.fma_rate / t->core.loads, taps = (double)d->taps;
	double loads = load * taps / (double)d->at[ROWS].taps * (double)reads(&d->at[ROWS], rows) / (double)rows;
	double tests = d->at[ROWS].before + d->at[COLUMNS].before > 0 ? 2 * taps : 0;
	double units = t->cores > 0 ? t->cores : 1, threads = outputs / (double)rows / units;
	double most = t->blocks.unit_threads > 0 ? t->blocks.unit_threads : TMPL_BLOCK_THREADS;
	double flight = fmin(threads, most) * (double)rows;
	double hidden = fmin(1, flight / (rate * t->core.fma_latency * TMPL_COOP_HIDES));
	double waits = rate * TMPL_COOP_LATENCY * ceil(threads / most);
	return outputs / units * (fmax(taps, loads) + tests + TMPL_COOP_COPY) / fmax(hidden, 1e-3) + waits;
}

/* ---- knobs ---- */

/* Powers of two, and the number that covers all `n` places. */
static int lengths(int64_t n, int64_t most, int64_t out[LENGTHS])
{
	int count = 0;
	for (int64_t k = 1; k <= most && k < n && count < LENGTHS - 1; k *= 2)
		out[count++] = k;
	if (n <= most)
		out[count++] = n;
	return count;
}

static int by_time(const void *x, const void *y)
{
	double a = ((const Share *)x)->time, b = ((const Share *)y)->time;
	return a < b ? -1 : a > b;
}

/* Threads for chosen sums; out NULL: only the time of the best. */
static int threads_for(const Sketch *s, const Depth *d, const Share *sums, Share *out, double *best)
{
	int64_t length[WINDOWS][LENGTHS], most = at_most(block_most_threads(s->target), TMPL_COOP_THREADS);
	int count[WINDOWS], n = 0;
	*best = INFINITY;
	for (int k = 0; k < WINDOWS; k++)
		count[k] = lengths(ceil_div(d->at[k].extent, sums->sums[k]), most, length[k]);
	for (int64_t f = 1; f <= d->filters && f <= most; f *= 2)
		for (int i = 0; i < count[ROWS]; i++)
			for (int j = 0; j < count[COLUMNS]; j++) {
				Share x = *sums;
				x.filters = f;
				x.threads[ROWS] = length[ROWS][i];
				x.threads[COLUMNS] = length[COLUMNS][j];
				if (!fits(s, d, &x))
					continue;
				x.time = time_of(s, d, &x);
				*best = fmin(*best, x.time);
				if (out != NULL && n < SHAPES)
					out[n++] = x;
			}
	return n;
}

static int sums_for(const Sketch *s, const Depth *d, Share *out)
{
	int64_t length[WINDOWS][LENGTHS];
	int count[WINDOWS], n = 0;
	for (int k = 0; k < WINDOWS; k++)
		count[k] = lengths(d->at[k].extent, TMPL_DEPTH_SIDE, length[k]);
	for (int i = 0; i < count[ROWS]; i++)
		for (int j = 0; j < count[COLUMNS]; j++) {
			Share x = { .sums = { length[ROWS][i], length[COLUMNS][j] } };
			if (x.sums[ROWS] * x.sums[COLUMNS] > TMPL_BLOCK_SUMS)
				continue;
			threads_for(s, d, &x, NULL, &x.time);
			if (isfinite(x.time))
				out[n++] = x;
		}
	return n;
}

static int keep_best(Arena *keep, Share *shape, int n, bool sums)
{
	qsort(shape, (size_t)n, sizeof *shape, by_time);
	n = n < TMPL_COOP_SHAPES ? n : TMPL_COOP_SHAPES;
	for (int i = 0; i < n; i++)
		shape[i].word = sums
			? arena_printf(keep, "%lldx%lld", (long long)shape[i].sums[ROWS], (long long)shape[i].sums[COLUMNS])
			: arena_printf(keep, "%lldx%lldx%lld", (long long)shape[i].filters, (long long)shape[i].threads[ROWS],
				(long long)shape[i].threads[COLUMNS]);
	return n;
}

typedef struct Offer {
	int n;
	Share shape[SHAPES];
} Offer;

/* The best sums by estimate, or the best threads for chosen sums. */
static const Offer *offered(Sketch *s, const Depth *d, const Share *sums)
{
	Arena *keep;
	double best;
	MapEntry *known = sketch_known(s, sums != NULL ? "threads" : "tile", &keep);
	if (known->ptr == NULL) {
		Offer *o = arena_new_of(keep, Offer);
		o->n = sums != NULL ? threads_for(s, d, sums, o->shape, &best) : sums_for(s, d, o->shape);
		o->n = keep_best(keep, o->shape, o->n, sums == NULL);
		known->ptr = o;
	}
	return known->ptr;
}

static const Share *ask(Sketch *s, const char *name, const Offer *o)
{
	KnobOption option[KNOB_OPTIONS];
	for (int i = 0; i < o->n; i++)
		option[i] = (KnobOption){ .kind = KNOB_WORD, .word = o->shape[i].word };
	const Share *x = &o->shape[sketch_knob(s, name, option, o->n, 0)];
	sketch_opens(s);
	return x;
}

/* ---- steps ---- */

typedef struct Writing {
	Sketch *s;
	const Depth *d;
	const Share *x;
	int64_t lanes;    /* of copies */
	const char *copy; /* bound loops of copies, written once loops of blocks are bound */
	Text binds, vectors;
} Writing;

/* Fuses several loops; the name of the result. */
static const char *fuse_list(Sketch *s, const char *const *loop, int n, const char *as)
{
	const char *all = loop[0];
	for (int k = 1; k < n; k++) {
		const char *both = k == n - 1 ? as : arena_printf(s->arena, "%s.m%d", as, k);
		sketch_step(s, "fuse %s %s as %s", all, loop[k], both);
		all = both;
	}
	return all;
}

/* Steps for a part of the copy: the loops with that suffix, divided among the threads. */
static void copy_part(Writing *w, const char *suffix, int64_t columns, int64_t lanes)
{
	Sketch *s = w->s;
	const char *loop[TILE_AXES];
	int64_t row = reads(&w->d->at[COLUMNS], tile_of(w->d, w->x, COLUMNS)), threads = threads_of(w->x);
	int64_t loads = copied(w->d, w->x) / row * (columns / lanes);
	Text line = { .arena = s->arena };
	for (int k = 0; k < w->d->rank; k++)
		text_add(&line, " %s", loop[k] = arena_printf(s->arena, "xs.%d%s", k, suffix));
	sketch_step(s, "reorder%s", text_str(&line));
	if (lanes > 1) {
		const char *last = loop[w->d->rank - 1];
		sketch_step(s, "split %s %lld", last, (long long)lanes);
		loop[w->d->rank - 1] = arena_printf(s->arena, "%s.o", last);
		text_add(&w->vectors, "vectorize %s.i\n", last);
	}
	const char *all = fuse_list(s, loop, w->d->rank, arena_printf(s->arena, "xs.f%s", suffix));
	if (loads > threads) {
		int64_t each = ceil_div(loads, threads), rounds = ceil_div(each, TMPL_COOP_COPIES);
		sketch_step(s, "split %s %lld", all, (long long)threads);
		if (rounds > 1)
			sketch_step(s, "split %s.o %lld", all, (long long)ceil_div(each, rounds));
		text_add(&w->vectors, "unroll %s.o%s\n", all, rounds > 1 ? ".i" : "");
		all = arena_printf(s->arena, "%s.i", all);
	}
	text_add(&w->binds, "bind %s block.x\n", all);
}

/* The whole copy, or three parts: the border before, the inside, and the border behind. */
static void copy_steps(Writing *w)
{
	Sketch *s = w->s;
	const Window *v = &w->d->at[COLUMNS];
	int64_t row = reads(v, tile_of(w->d, w->x, COLUMNS));
	int last = w->d->rank - 1;
	const char *suffix = "";
	if (w->lanes == 1) {
		copy_part(w, suffix, row, 1);
		return;
	}
	int64_t inside = at_most(v->input, row - v->before) / w->lanes * w->lanes, behind = row - v->before - inside;
	Text line = { .arena = s->arena };
	for (int k = 0; k < last; k++)
		text_add(&line, " xs.%d", k);
	sketch_step(s, "reorder xs.%d%s", last, text_str(&line));
	const char *part[3] = { "", "", "" };
	if (v->before > 0) {
		sketch_step(s, "cut xs.%d %lld", last, (long long)v->before);
		part[1] = suffix = ".2";
	}
	if (behind > 0) {
		sketch_step(s, "cut xs.%d%s %lld", last, suffix, (long long)inside);
		part[2] = arena_printf(s->arena, "%s.2", suffix);
	}
	if (v->before > 0)
		copy_part(w, part[0], v->before, 1);
	copy_part(w, part[1], inside, w->lanes);
	if (behind > 0)
		copy_part(w, part[2], behind, 1);
}

/* The storing nest: loops of blocks, of threads, and of each thread's results. */
static const char *store_steps(Writing *w, const Tiled *t, TileAxis *grid, int *ngrid, const char *mine[WINDOWS])
{
	Sketch *s = w->s;
	const Depth *d = w->d;
	const char *threads[1 + WINDOWS];
	int n = 0;
	Text line = { .arena = s->arena }, own = { .arena = s->arena };
	grid[(*ngrid)++] = t->out[0];
	sketch_step(s, "split %s %lld", t->out[1].name, (long long)w->x->filters);
	int64_t blocks = ceil_div(d->filters, w->x->filters);
	grid[(*ngrid)++] = (TileAxis){ arena_printf(s->arena, "%s.o", t->out[1].name), blocks };
	threads[n++] = arena_printf(s->arena, "%s.i", t->out[1].name);
	for (int k = 2; k < d->rank - WINDOWS; k++)
		grid[(*ngrid)++] = t->out[k];
	for (int k = 0; k < WINDOWS; k++) {
		const Window *v = &d->at[k];
		mine[k] = NULL;
		if (v->out == NULL)
			continue;
		int64_t tile = at_most(tile_of(d, w->x, k), v->extent);
		sketch_step(s, "split %s %lld", v->out, (long long)tile);
		grid[(*ngrid)++] = (TileAxis){ arena_printf(s->arena, "%s.o", v->out), ceil_div(v->extent, tile) };
		threads[n] = arena_printf(s->arena, "%s.i", v->out);
		if (w->x->sums[k] > 1) {
			sketch_step(s, "split %s %lld", threads[n], (long long)w->x->sums[k]);
			mine[k] = arena_printf(s->arena, "%s.i", threads[n]);
			threads[n] = arena_printf(s->arena, "%s.o", threads[n]);
		}
		n++;
	}
	for (int k = 0; k < *ngrid; k++)
		text_add(&line, " %s", grid[k].name);
	for (int k = 0; k < n; k++)
		text_add(&line, " %s", threads[k]);
	for (int k = 0; k < WINDOWS; k++)
		if (mine[k] != NULL)
			text_add(&own, " %s", mine[k]);
	sketch_step(s, "reorder%s%s", text_str(&line), text_str(&own));
	return fuse_list(s, threads, n, arena_printf(s->arena, "%s.t", t->block));
}

/* The sums of a thread: the taps of a row, or all taps, are unrolled around its rows and columns. */
static void sum_steps(Writing *w, const Tiled *t, const char *thread)
{
	Sketch *s = w->s;
	int64_t body = w->x->sums[ROWS] * w->x->sums[COLUMNS];
	Text line = { .arena = s->arena };
	sketch_step(s, "compute_at %s %s", t->block, thread);
	for (int k = 0; k < t->n; k++)
		if (t->axis[k].name != w->d->at[ROWS].name && t->axis[k].name != w->d->at[COLUMNS].name)
			text_add(&line, " %s", t->axis[k].name);
	for (int k = 0; k < t->nreduce; k++)
		text_add(&line, " %s", t->reduce[k].name);
	for (int k = 0; k < WINDOWS; k++)
		if (w->d->at[k].name != NULL)
			text_add(&line, " %s", w->d->at[k].name);
	sketch_step(s, "reorder%s", text_str(&line));
	for (int k = t->nreduce - 1; k >= 0; k--) {
		body *= t->reduce[k].extent;
		if (body > TMPL_COOP_FIRST_BODY || t->reduce[k].extent > TMPL_COOP_UNROLL)
			break;
		if (t->reduce[k].extent > 1)
			text_add(&w->vectors, "unroll %s\n", t->reduce[k].name);
	}
	for (int k = 0; k < WINDOWS; k++)
		if (w->x->sums[k] > 1)
			text_add(&w->vectors, "unroll %s\nunroll %s.init\n", w->d->at[k].name, w->d->at[k].name);
}

static void tile_of_threads(Sketch *s, const Tiled *t, const Depth *d, const Share *x, int64_t lanes)
{
	Writing w = { s, d, x, lanes, .binds = { .arena = s->arena }, .vectors = { .arena = s->arena } };
	TileAxis grid[TILE_AXES];
	const char *mine[WINDOWS];
	int ngrid = 0;
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	if (t->bare)
		sketch_step(s, "cache_write %s", t->block);
	if (d->filters % x->filters != 0)
		sketch_step(s, "widen %s %s %lld", t->block, t->axis[1].name, (long long)x->filters);
	for (int k = 0; k < WINDOWS; k++) {
		int64_t tile = tile_of(d, x, k), part = tile < d->at[k].extent ? tile : x->sums[k];
		if (d->at[k].extent % part != 0)
			sketch_step(s, "widen %s %s %lld", t->block, d->at[k].name, (long long)part);
	}
	sketch_step(s, "pad %s %s as xs", d->x->name, t->block);
	const char *thread = store_steps(&w, t, grid, &ngrid, mine);
	sum_steps(&w, t, thread);
	sketch_step(s, "compute_at xs %s", grid[ngrid - 1].name);
	copy_steps(&w);
	sketch_step(s, "decompose_init %s %s", t->block, t->reduce[0].name);
	device_bind_grid(s, grid, ngrid);
	sketch_step(s, "scope xs shared");
	if (gap_of(s, d, x) > 0)
		sketch_step(s, "gap xs %d %lld", d->rank, (long long)gap_of(s, d, x));
	text_add(&s->steps, "%s", text_str(&w.binds));
	sketch_step(s, "bind %s block.x", thread);
	text_add(&s->steps, "%s", text_str(&w.vectors));
	if (mine[ROWS] != NULL)
		sketch_step(s, "unroll %s", mine[ROWS]);
	if (mine[COLUMNS] != NULL)
		sketch_step(s, "vectorize %s", mine[COLUMNS]);
}

static void tiles(Sketch *s, const Tiled *t, const Depth *d, const Offer *o)
{
	int64_t option[KNOB_OPTIONS];
	const Share *sums = ask(s, "tile", o);
	const Share *x = ask(s, "threads", offered(s, d, sums));
	int n = block_powers(1, copy_lanes(s, d, x), option);
	tile_of_threads(s, t, d, x, sketch_number(s, "copy", option, n, n - 1));
}

static bool run(Sketch *s, Err *err)
{
	static const char *const form[] = { "loops", "tiles" };
	const OpCall *c = tile_anchor(s->task->dag);
	Tiled t;
	Depth d;
	(void)err;
	if (!tiled_read(s, c, &t) || !read_depth(s, c, &t, &d))
		return sketch_blocks(s);
	const Offer *sums = offered(s, &d, NULL);
	if (sums->n == 0)
		return sketch_blocks(s);
	bool tiled = sketch_word(s, "form", form, 2, sums->shape[0].time < time_of_loops(s, &d)) == 1;
	sketch_opens(s);
	if (!tiled)
		return sketch_blocks(s);
	sketch_group(s);
	tiles(s, &t, &d, sums);
	sketch_group_end(s);
	return coop_rest(s, &t);
}

const Template tmpl_block_depthwise = { .name = "block.depthwise",
	.doc = "depthwise convolutions: tiles of channels, rows and columns in shared memory",
	.applies = applies,
	.run = run };
