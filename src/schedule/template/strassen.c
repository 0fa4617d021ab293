/*
 * Strassen's algorithm as the template of dense layers schedules it: its knobs "strassen.*", and the steps that a
 * choice of them stands for. A block of columns has all seven products of its part of B, so that they stay in the
 * cache until the result's quadrants are made of them:
 *
 *	strassen.a: for rows { for a.k vector }           (once)
 *	for y.n.o {                                       (parallel)
 *		strassen.m: for m.p { for m.m.o { for m.k { p rows, f vectors: registers }}}
 *		strassen.y: for rows { for vectors: bias and what follows }
 *	}
 *
 * Of many rows the seven matrices of A leave the second cache. Then both nests go over blocks of rows, each of which
 * reads B again:
 *
 *	for y.m.o {                                       (parallel)
 *		strassen.a: for rows of the block { for a.k vector }
 *		for y.n.o { strassen.m, strassen.y }
 *	}
 *
 * Rows that the register tile does not divide are cut off. It takes columns and products that vectors divide.
 */
#include "schedule/template/device.h"
#include "schedule/template/share.h"

#include "op/algo.h"

#include <math.h>
#include <string.h>

static const char algo_name[] = "dense.strassen";

/* A dense layer, its half extents, and the loop of rows that is cut; other rows are batches. */
typedef struct Halves {
	const OpCall *c;
	int lead, row;
	int64_t extent[DAG_MAX_RANK]; /* of those loops, the cut one's of both halves */
	int64_t batches, m, n, k; /* m, n and k are halves */
	int64_t lanes;
} Halves;

static bool find(const Task *task, const Target *target, Halves *out)
{
	AlgoChoice choice;
	const Dag *d = task->dag;
	if (!algo_choose(d, algo_name, &(AlgoArg){ "levels", 1 }, 1, &choice, NULL) ||
		&d->call.at[choice.call] != tile_anchor(d))
		return false;
	const OpCall *c = &d->call.at[choice.call];
	const Value *x = &d->value.at[c->in[0]], *w = &d->value.at[c->in[1]];
	*out = (Halves){ .c = c, .lead = x->shape.rank - 1, .batches = 1, .n = w->shape.dim[0] / 2,
		.k = w->shape.dim[1] / 2, .lanes = target_lanes(target, x->type) };
	memcpy(out->extent, x->shape.dim, sizeof *out->extent * (size_t)out->lead);
	for (int k = 0; k < out->lead; k++)
		out->row = x->shape.dim[k] >= x->shape.dim[out->row] ? k : out->row;
	for (int k = 0; k < out->lead; k++)
		out->batches *= k == out->row ? 1 : x->shape.dim[k];
	out->m = ceil_div(x->shape.dim[out->row], 2);
	return w->shape.dim[0] % (2 * out->lanes) == 0 && w->shape.dim[1] % (2 * out->lanes) == 0;
}

/*
 * Whether seven products are faster before anything is known: arithmetic at the machine's rate, what the combinations
 * move through the second cache, and the time in which cold weights come, of which there are 7/4.
 */
static bool likely_better(const Target *target, const Halves *h)
{
	const Core *core = &target->core;
	double m = (double)(h->m * h->batches), n = (double)h->n, k = (double)h->k, bytes = sizeof(float);
	double product = m * n * k / (core->fma_rate * (double)h->lanes);
	double matrix = n * k * bytes / core->level[TARGET_CACHES];
	/* Four quadrants of A are read and seven written; seven products are written and read, four quadrants written. */
	double moved = (11 * m * k + 18 * m * n) * bytes / core->level[1];
	double direct = fmax(8 * product, 4 * matrix) + TMPL_WINO_HIDDEN * fmin(8 * product, 4 * matrix);
	double seven = fmax(7 * product, 7 * matrix) + TMPL_WINO_HIDDEN * fmin(7 * product, 7 * matrix) + moved;
	return seven < direct;
}

/* The epilogue is absorbed: it stores the result in the layer's own shape. */
static bool same_shape(const Sketch *s, const Tiled *t, const Halves *h)
{
	const Value *y = &s->task->dag->value.at[h->c->out[0]];
	bool same = t->n == y->shape.rank && t->result->rank == t->n;
	for (int k = 0; same && k < t->n; k++)
		same = t->out[k].extent == y->shape.dim[k];
	return same;
}

/*
 * Nothing may stand before compute, and no nest behind the blocks that it takes up. The default has two blocks of
 * columns for each thread, at least: they are half as many as those of the whole product.
 */
static int offer(Sketch *s, const Tiled *t, int64_t param[TEMPLATE_PARAMS], int64_t *best)
{
	Halves h;
	*best = 0;
	if (target_has_blocks(s->target) || !t->ends || t->nbefore > 0 || !find(s->task, s->target, &h) ||
		!same_shape(s, t, &h) || h.lanes == 1 || h.m < TMPL_STRASSEN_ROWS || h.n < TMPL_STRASSEN_SIDE ||
		h.k < TMPL_STRASSEN_SIDE)
		return 0;
	*best = h.n >= 2 * s->target->threads * h.lanes * TMPL_DENSE_VECTORS && likely_better(s->target, &h);
	param[0] = 1;
	return 1;
}

/*
 * Rows of half in a block: all of them, or a part of one batch. By default as many as leave the seven matrices of A
 * a part of the second cache, where there are many rows, and blocks for all threads: B comes again for each block, so
 * the last cache holds it.
 */
static int64_t choose_rows(Sketch *s, const Halves *h)
{
	int64_t option[KNOB_OPTIONS], all = h->m * h->batches, least = TMPL_STRASSEN_AGAIN * h->lanes;
	double row = 7.0 * sizeof(float) * (double)h->k, part = TMPL_STRASSEN_CACHE * (double)target_cache(s->target, 2);
	double wanted = fmax(part / row, (double)least), nearest = INFINITY;
	const Cache *last = target_last_cache(s->target);
	bool far = last != NULL && row * (double)h->n > (double)last->bytes;
	bool whole = far || all < TMPL_STRASSEN_MANY * least || (double)all <= wanted;
	int n = 0, first = -1;
	for (int64_t r = TMPL_STRASSEN_ROWS; r <= h->m && r < all && n < KNOB_OPTIONS - 1; r++) {
		if (h->m % r != 0)
			continue;
		double off = fabs(log((double)r / wanted));
		if (!whole && off < nearest && share_filled(s->target, all / r) >= 1 - TMPL_SHARE_IDLE) {
			nearest = off;
			first = n;
		}
		option[n++] = r;
	}
	option[n] = all;
	int64_t rows = sketch_number(s, "strassen.rows", option, n + 1, first < 0 ? n : first);
	sketch_opens(s);
	return rows;
}

/*
 * The product's tile: its vectors divide those of all columns. Those that dense layers prefer count as better where
 * they fill half of the registers: each row of tiles reads its panel from the second cache again.
 */
static void choose_tile(Sketch *s, const Halves *h, Tile *tile)
{
	int64_t vectors = h->n / h->lanes, regs = tile_registers(s);
	KnobOption option[KNOB_OPTIONS] = { { .kind = KNOB_TILE, .tile = { 1, 1 } } };
	int n = 0, first = 0;
	double best = 0;
	for (int64_t f = 1; f <= TMPL_MOST_VECTORS && f < vectors; f++)
		for (int64_t p = 1; p <= h->m && f * p + f + 1 <= regs && n < KNOB_OPTIONS; p++) {
			if (vectors % f != 0 || f * p < TMPL_LEAST_SUMS || !tile_wastes_little(h->m, p))
				continue;
			bool favour = f == TMPL_DENSE_VECTORS && 2 * f * p >= regs && f * (p + 1) + f + 1 <= regs;
			double rate = tile_promise(&s->target->core, TMPL_HIDES, vectors, h->m, f, p) * (favour ? TMPL_FAVOUR : 1);
			if (rate > best) {
				best = rate;
				first = n;
			}
			option[n++] = (KnobOption){ .kind = KNOB_TILE, .tile = { f, p } };
		}
	int picked = sketch_knob(s, "strassen.tile", option, n, first);
	sketch_opens(s);
	tile->lanes = h->lanes;
	tile->vectors = option[picked].tile.vectors;
	tile->pixels = option[picked].tile.pixels;
}

static int64_t choose_unroll(Sketch *s, int64_t depth, int64_t sums)
{
	int64_t option[KNOB_OPTIONS];
	int n = 0, first = 0, all = tile_unrolls(depth, sums, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option);
	for (int k = 0; k < all; k++)
		if (depth % option[k] == 0) {
			first = option[k] == TMPL_DENSE_STEPS ? n : first;
			option[n++] = option[k];
		}
	return sketch_number(s, "strassen.unroll", option, n, first);
}

/* The loops of rows that are not cut, " m.b0". */
static void add_batches(Text *line, const Halves *h, char block)
{
	for (int k = 0; k < h->lead; k++)
		if (k != h->row)
			text_add(line, " %c.b%d", block, k);
}

static void product_steps(Sketch *s, const Halves *h, const Tile *tile, int64_t unroll, bool ahead)
{
	bool rows = tile->pixels < h->m, wide = tile->vectors > 1;
	const char *m = rows ? "m.m.i" : "m.m", *k = unroll > 1 ? "m.k.o" : "m.k";
	Text line = { .arena = s->arena };
	if (rows)
		sketch_step(s, "split m.m %lld", (long long)tile->pixels);
	if (wide)
		sketch_step(s, "split m.n %lld", (long long)tile->lanes);
	if (unroll > 1)
		sketch_step(s, "split m.k %lld", (long long)unroll);
	text_add(&line, "reorder m.p");
	add_batches(&line, h, 'm');
	text_add(&line, "%s %s%s %s %s", rows ? " m.m.o" : "", k, unroll > 1 ? " m.k.i" : "", m,
		wide ? "m.n.o m.n.i" : "m.n");
	sketch_step(s, "%s", text_str(&line));
	if (unroll > 1)
		sketch_step(s, "unroll m.k.i");
	sketch_step(s, "unroll %s", m);
	if (wide)
		sketch_step(s, "unroll m.n.o");
	sketch_step(s, "vectorize %s", wide ? "m.n.i" : "m.n");
	/* Behind a block's seventh matrix lies the first of the next block. */
	if (ahead)
		sketch_step(s, "prefetch %s.u strassen.m m.p %s 1", s->task->dag->value.at[h->c->out[0]].name, k);
	if (rows && h->m % tile->pixels != 0)
		sketch_step(s, "cut m.m.o %lld", (long long)(h->m / tile->pixels));
}

/* Blocks of columns, in which the products are made; blocks of rows around them, in which the matrices of A are. */
static void block_steps(Sketch *s, const Halves *h, int64_t rows, int64_t width, bool blocked)
{
	Text line = { .arena = s->arena };
	const char *row = "y.m";
	sketch_step(s, "split y.n %lld", (long long)width);
	if (!blocked) {
		add_batches(&line, h, 'y');
		sketch_step(s, "reorder y.n.o%s y.m y.n.i", text_str(&line));
		sketch_step(s, "compute_at strassen.m y.n.o");
		return;
	}
	TileAxis outer[DAG_MAX_RANK];
	int n = 0;
	for (int k = 0; k < h->lead; k++)
		if (k != h->row)
			outer[n++] = (TileAxis){ arena_printf(s->arena, "y.b%d", k), h->extent[k] };
	if (rows < h->m) {
		sketch_step(s, "split y.m %lld", (long long)rows);
		outer[n++] = (TileAxis){ "y.m.o", h->m / rows };
		row = "y.m.i";
	}
	for (int k = 0; k < n; k++)
		text_add(&line, " %s", outer[k].name);
	sketch_step(s, "reorder%s y.n.o %s y.n.i", text_str(&line), row);
	sketch_step(s, "compute_at strassen.m y.n.o");
	sketch_step(s, "compute_at strassen.a %s", outer[n - 1].name);
	share_some(s, outer, n);
}

static void steps(Sketch *s, const Tiled *t, int64_t levels)
{
	Halves h;
	if (!find(s->task, s->target, &h))
		return;
	Tile tile = tile_new(s, t);
	sketch_group(s);
	int64_t rows = choose_rows(s, &h);
	bool blocked = rows < h.m * h.batches;
	Halves block = h;
	block.m = blocked ? rows : h.m;
	choose_tile(s, &block, &tile);
	int64_t unroll = choose_unroll(s, h.k, tile.vectors * tile.pixels), width = tile.vectors * tile.lanes;
	bool ahead = sketch_flag(s, "strassen.ahead", true);
	sketch_group_end(s);
	sketch_step(s, "compute %s levels=%lld o=%lld", algo_name, (long long)levels, (long long)width);
	for (int i = 0; i < t->nmiddle; i++)
		sketch_step(s, "inline %s", t->middle[i]);
	if (!t->bare)
		sketch_step(s, "absorb strassen.y %s", t->last);
	block_steps(s, &h, rows, width, blocked);
	int64_t doubles = target_lanes(s->target, F64);
	if (doubles > 1) {
		sketch_step(s, "split u.n %lld", (long long)doubles);
		sketch_step(s, "reorder u.n.o u.k u.n.i");
		sketch_step(s, "vectorize u.n.i");
	}
	sketch_step(s, "split a.k %lld", (long long)h.lanes);
	sketch_step(s, "vectorize a.k.i");
	product_steps(s, &block, &tile, unroll, ahead);
	if (tile.vectors > 1)
		sketch_step(s, "split y.n.i %lld", (long long)h.lanes);
	sketch_step(s, "vectorize %s", tile.vectors > 1 ? "y.n.i.i" : "y.n.i");
	if (s->target->threads > 1 && !blocked) {
		sketch_step(s, "parallel a.m");
		sketch_step(s, "parallel y.n.o");
	}
	sketch_loops_but(s, t);
}

const TemplateAlgo tmpl_strassen = { .name = algo_name, .offer = offer, .steps = steps };
