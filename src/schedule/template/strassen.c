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
 * Rows that the register tile does not divide are cut off. It takes columns and products that vectors divide.
 */
#include "schedule/template/device.h"

#include "op/algo.h"

#include <math.h>
#include <string.h>

static const char algo_name[] = "dense.strassen";

/* A dense layer, its half extents, and the loop of rows that is cut; other rows are batches. */
typedef struct Halves {
	const OpCall *c;
	int lead, row;
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
			double rate = tile_promise(&s->target->core, vectors, h->m, f, p) * (favour ? TMPL_FAVOUR : 1);
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

static void steps(Sketch *s, const Tiled *t, int64_t levels)
{
	Halves h;
	if (!find(s->task, s->target, &h))
		return;
	Tile tile = tile_new(s, t);
	Text line = { .arena = s->arena };
	sketch_group(s);
	choose_tile(s, &h, &tile);
	int64_t unroll = choose_unroll(s, h.k, tile.vectors * tile.pixels), width = tile.vectors * tile.lanes;
	bool ahead = sketch_flag(s, "strassen.ahead", true);
	sketch_group_end(s);
	sketch_step(s, "compute %s levels=%lld o=%lld", algo_name, (long long)levels, (long long)width);
	for (int i = 0; i < t->nmiddle; i++)
		sketch_step(s, "inline %s", t->middle[i]);
	if (!t->bare)
		sketch_step(s, "absorb strassen.y %s", t->last);
	sketch_step(s, "split y.n %lld", (long long)width);
	add_batches(&line, &h, 'y');
	sketch_step(s, "reorder y.n.o%s y.m y.n.i", text_str(&line));
	sketch_step(s, "compute_at strassen.m y.n.o");
	int64_t doubles = target_lanes(s->target, F64);
	if (doubles > 1) {
		sketch_step(s, "split u.n %lld", (long long)doubles);
		sketch_step(s, "reorder u.n.o u.k u.n.i");
		sketch_step(s, "vectorize u.n.i");
	}
	sketch_step(s, "split a.k %lld", (long long)h.lanes);
	sketch_step(s, "vectorize a.k.i");
	product_steps(s, &h, &tile, unroll, ahead);
	if (tile.vectors > 1)
		sketch_step(s, "split y.n.i %lld", (long long)h.lanes);
	sketch_step(s, "vectorize %s", tile.vectors > 1 ? "y.n.i.i" : "y.n.i");
	if (s->target->threads > 1) {
		sketch_step(s, "parallel a.m");
		sketch_step(s, "parallel y.n.o");
	}
	sketch_loops_but(s, t);
}

const TemplateAlgo tmpl_strassen = { .name = algo_name, .offer = offer, .steps = steps };
