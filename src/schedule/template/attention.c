/*
 * Attention on CPUs: a tile of queries meets all keys, while its scores stay in a cache. Lanes are queries, so that
 * maxima and sums of the softmax need no step across lanes. The tile's queries are copied so that they lie side by
 * side; keys and values are read where they are. For each tile:
 *
 *	q.c:    queries side by side
 *	masked: for keys.o { for queries.o { size.. { p keys, f vectors of queries: registers }; scale, mask }}
 *	max, exp, sum: for keys { for vectors of queries { }}
 *	y:      for queries.o { for depth.o { keys.. { p queries, f vectors of values: registers }; division }}
 *
 * All scores of a tile are there before the softmax begins: no step corrects what larger scores make wrong, as in an
 * online softmax, and a tile of 32 queries with 4096 keys takes a mebibyte. Where attention is causal, the loops over
 * keys of a tile end with the last key that one of its queries sees. Few queries
 * have lanes along keys (attention_few.c).
 */
#include "schedule/template/attention.h"
#include "schedule/template/share.h"

#include "op/op.h"

#include <string.h>

typedef struct Picked {
	int64_t rows;            /* queries of a tile */
	Tile scores, values;
} Picked;

static bool applies(const Task *task, const Target *target)
{
	const OpCall *c = tile_anchor(task->dag);
	return device_lone(target) && c != NULL && c->op == OP_attention;
}

static const Stmt *block_of(const Stmt *nest)
{
	while (nest->kind == ST_FOR)
		nest = nest->loop.body;
	return nest;
}

/* Loops stand for iterators one by one in naive nests. */
static Rows read_rows(const Stmt *nest)
{
	const Stmt *b = block_of(nest);
	return (Rows){ b->block.name, b->block.iter[QUERY].value->name, b->block.iter[FOURTH].value->name };
}

static bool read(const Sketch *s, Attention *a)
{
	const Dag *d = s->task->dag;
	const OpCall *c = tile_anchor(d);
	const Stmt *nest[NESTS];
	if (s->naive->n != 1)
		return false;
	const Stmt *next = s->naive->fn[0]->body;
	for (int k = 0; k < NESTS; k++, next = next->next) {
		if (next == NULL || block_of(next)->kind != ST_BLOCK)
			return false;
		nest[k] = next;
	}
	if (!text_ends(block_of(nest[SCORES])->block.name, ".scores") || !tiled_read_nest(s, nest[SCORES], &a->scores) ||
		!tiled_read_nest(s, nest[VALUES], &a->values) || a->scores.bare || a->values.bare || a->scores.n != AXES ||
		a->values.n != AXES || a->scores.nreduce != 1 || a->values.nreduce != 1 ||
		tiled_contiguous(&a->values) != FOURTH)
		return false;
	for (int k = MAX; k <= SUM; k++)
		a->row[k] = read_rows(nest[k]);
	a->q = d->value.at[c->in[0]].name;
	a->causal = op_int(c, "causal") != 0;
	a->past = op_int(c, "past");
	a->group = d->value.at[c->in[0]].shape.dim[1] / d->value.at[c->in[1]].shape.dim[1];
	a->masked = a->scores.result->name;
	a->exp = block_of(nest[EXP])->block.body->store.dst.buf;
	a->lanes = tile_lanes(s, &a->scores, a->scores.axis[QUERY].extent);
	return true;
}

/* ---- knobs ---- */

/* Queries of a tile: some vectors, or all. Scores before and after the exponential stay in half of the second cache. */
static int64_t choose_rows(Sketch *s, const Attention *a)
{
	int64_t option[KNOB_OPTIONS], all = a->scores.axis[QUERY].extent, keys = a->scores.axis[FOURTH].extent;
	int64_t bytes = s->target->cache[1].bytes / 2, score = 2 * keys * (a->scores.sum.bits / 8);
	int n = 0, first = 0;
	for (int64_t f = 1; f <= TMPL_ATTENTION_VECTORS; f++) {
		int64_t rows = f * a->lanes < all ? f * a->lanes : all;
		if (f > 1 && target_has_blocks(s->target) && rows * score > TMPL_LONE_LOCAL)
			break;
		if (f <= TMPL_ATTENTION_FIRST && (f == 1 || rows * score <= bytes))
			first = n;
		option[n++] = rows;
		if (rows == all)
			break;
	}
	int64_t rows = sketch_number(s, "queries", option, n, first);
	sketch_opens(s);
	return rows;
}

/* Vectors and pixels of one of the products' tiles; pixels divide a tile of queries, vectors of queries too. */
static void choose_tile(Sketch *s, const char *name, int64_t vectors, int64_t pixels, bool keys, Tile *out)
{
	KnobOption option[KNOB_OPTIONS] = { { .kind = KNOB_TILE, .tile = { 1, 1 } } };
	int n = 0, best = 0;
	double top = -1;
	for (int64_t f = 1; f <= TMPL_MOST_VECTORS && f <= vectors; f++)
		for (int64_t p = 1; p <= pixels && f * p + f + 1 <= tile_registers(s) && n < KNOB_OPTIONS; p++) {
			bool fits = keys ? vectors % f == 0 && tile_wastes_little(pixels, p) : pixels % p == 0;
			if (!fits || (f * p < TMPL_LEAST_SUMS && pixels * vectors >= TMPL_LEAST_SUMS))
				continue;
			double part = tile_promise(&s->target->core, TMPL_HIDES, vectors, pixels, f, p);
			if (part > top) {
				top = part;
				best = n;
			}
			option[n++] = (KnobOption){ .kind = KNOB_TILE, .tile = { f, p } };
		}
	int k = sketch_knob(s, name, option, n > 0 ? n : 1, best);
	sketch_opens(s);
	out->vectors = option[k].tile.vectors;
	out->pixels = option[k].tile.pixels;
}

static int64_t choose_unroll(Sketch *s, const char *name, int64_t extent, const Tile *tile)
{
	int64_t option[KNOB_OPTIONS];
	int n = tile_unrolls(extent, tile->vectors * tile->pixels, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option), whole = 0;
	for (int k = 0; k < n; k++)
		if (extent % option[k] == 0)
			option[whole++] = option[k];
	int first = 0;
	for (int k = 0; k < whole; k++)
		first = option[k] <= TMPL_ATTENTION_STEPS ? k : first;
	return sketch_number(s, name, option, whole, first);
}

/* ---- steps ---- */

Cut attention_cut(Sketch *s, const char *loop, int64_t extent, int64_t part)
{
	if (part >= extent)
		return (Cut){ NULL, loop };
	sketch_step(s, "split %s %lld", loop, (long long)part);
	return (Cut){ arena_printf(s->arena, "%s.o", loop), arena_printf(s->arena, "%s.i", loop) };
}

void attention_reorder(Sketch *s, const char *const *loop, int n)
{
	Text line = { .arena = s->arena };
	for (int k = 0; k < n; k++)
		if (loop[k] != NULL)
			text_add(&line, " %s", loop[k]);
	sketch_step(s, "reorder%s", text_str(&line));
}

void attention_step(Sketch *s, const char *what, const char *loop)
{
	if (loop != NULL)
		sketch_step(s, "%s %s", what, loop);
}

/* The product in registers: `pixel` and vectors of `vector` in the reduction, of which `unroll` steps are written. */
static void product_steps(
	Sketch *s, const Tiled *t, int pixel, int vector, int64_t width, int64_t lanes, int64_t unroll)
{
	Cut v = attention_cut(s, t->axis[vector].name, width, lanes), r = { t->reduce[0].name, NULL };
	if (unroll > 1)
		r = attention_cut(s, t->reduce[0].name, t->reduce[0].extent, unroll);
	const char *loop[] = { t->axis[BATCH].name, t->axis[HEAD].name, r.out, r.in, t->axis[pixel].name, v.out, v.in };
	attention_reorder(s, loop, 7);
	attention_step(s, "unroll", r.in);
	sketch_step(s, "unroll %s", t->axis[pixel].name);
	attention_step(s, "unroll", v.out);
	sketch_step(s, "vectorize %s", v.in);
}

/* The loops around a tile of queries. */
typedef struct Around {
	const TileAxis *axis; /* batch, head, query, before they were cut */
	const char *tiles;    /* the loop over tiles; NULL: there is one */
	const char *at;       /* the innermost of them */
	bool rest;            /* the last vectors of values have a nest of their own */
} Around;

static Around value_steps(Sketch *s, const Attention *a, const Picked *p, int64_t unroll)
{
	const Tiled *t = &a->values;
	int64_t depth = t->out[FOURTH].extent, width = p->values.vectors * a->lanes;
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	Cut rows = attention_cut(s, t->out[QUERY].name, t->out[QUERY].extent, p->rows);
	Cut pixel = attention_cut(s, rows.in, p->rows, p->values.pixels);
	Cut lane = attention_cut(s, t->out[FOURTH].name, depth, a->lanes);
	Cut vector = { NULL, NULL };
	if (lane.out != NULL)
		vector = attention_cut(s, lane.out, (depth + a->lanes - 1) / a->lanes, p->values.vectors);
	Around around = { t->out, rows.out, rows.out != NULL ? rows.out : t->out[HEAD].name, false };
	const char *loop[] = { t->out[BATCH].name, t->out[HEAD].name, rows.out, vector.out, pixel.out, pixel.in, vector.in,
		lane.in };
	attention_reorder(s, loop, 8);
	sketch_step(s, "compute_at %s %s", t->block,
		pixel.out != NULL ? pixel.out : vector.out != NULL ? vector.out : around.at);
	product_steps(s, t, QUERY, FOURTH, width < depth ? width : depth, a->lanes, unroll);
	sketch_step(s, "unroll %s", pixel.in);
	attention_step(s, "unroll", vector.in);
	sketch_step(s, "vectorize %s", lane.in);
	around.rest = vector.out != NULL && depth % width != 0;
	if (around.rest)
		sketch_step(s, "cut %s %lld", vector.out, (long long)(depth / width));
	return around;
}

/* Vectors of queries stay in registers while keys pass. */
static void softmax_steps(Sketch *s, const Attention *a, const Rows *r, int64_t rows)
{
	Cut lane = attention_cut(s, r->query, rows, a->lanes);
	const char *loop[] = { r->key, lane.out, lane.in };
	attention_reorder(s, loop, 3);
	attention_step(s, "unroll", lane.out);
	sketch_step(s, "vectorize %s", lane.in);
}

/* Queries of a tile as rows of its copy: in the copy their elements lie side by side. */
static void copy_steps(Sketch *s, const Attention *a, const Picked *p, const char *at)
{
	static const char *const transposed = "NCWH";
	sketch_step(s, "cache_read %s %s %s", a->q, a->scores.block, at);
	sketch_step(s, "layout %s.c %s", a->q, transposed);
	sketch_step(s, "layout %s %s", a->masked, transposed);
	sketch_step(s, "layout %s %s", a->exp, transposed);
	if (p->rows <= TMPL_ATTENTION_COPY)
		return;
	sketch_step(s, "split %s.c.2 %d", a->q, TMPL_ATTENTION_COPY);
	sketch_step(s, "reorder %s.c.2.o %s.c.3 %s.c.2.i", a->q, a->q, a->q);
	sketch_step(s, "unroll %s.c.2.i", a->q);
}

/* The loop over tiles of keys; NULL: there is one. */
static const char *score_steps(Sketch *s, const Attention *a, const Picked *p, const char *at, int64_t unroll)
{
	const Tiled *t = &a->scores;
	int64_t keys = t->out[FOURTH].extent, width = p->scores.vectors * a->lanes;
	Cut key = attention_cut(s, t->out[FOURTH].name, keys, p->scores.pixels);
	Cut lane = attention_cut(s, t->out[QUERY].name, p->rows, a->lanes), vector = { NULL, NULL };
	if (lane.out != NULL)
		vector = attention_cut(s, lane.out, (p->rows + a->lanes - 1) / a->lanes, p->scores.vectors);
	const char *loop[] = { t->out[BATCH].name, t->out[HEAD].name, vector.out, key.out, key.in, vector.in, lane.in };
	attention_reorder(s, loop, 7);
	sketch_step(s, "compute_at %s %s", t->block, key.out != NULL ? key.out : vector.out != NULL ? vector.out : at);
	copy_steps(s, a, p, at);
	product_steps(s, t, FOURTH, QUERY, width < p->rows ? width : p->rows, a->lanes, unroll);
	sketch_step(s, "unroll %s", key.in);
	attention_step(s, "unroll", vector.in);
	sketch_step(s, "vectorize %s", lane.in);
	if (key.out != NULL && keys % p->scores.pixels != 0)
		sketch_step(s, "cut %s %lld", key.out, (long long)(keys / p->scores.pixels));
	return key.out;
}


static int64_t rounded(int64_t n, int64_t by)
{
	return (n + by - 1) / by * by;
}

/*
 * Where queries see no later keys, loops over keys end there; those first that read what the others make. The first
 * tile sees the fewest keys: a loop that it needs to the end is needed by all tiles.
 */
static void trim_steps(
	Sketch *s, const Attention *a, const Picked *p, int64_t value_unroll, const char *tiles, bool rest)
{
	int64_t keys = a->scores.axis[FOURTH].extent, part = p->scores.pixels, whole = keys / part * part;
	int64_t seen = p->values.pixels + a->past, all = p->rows + a->past, read = rounded(all, value_unroll);
	const char *values = a->values.reduce[0].name, *outer = value_unroll > 1 && value_unroll < keys ? ".o" : "";
	if (!a->causal)
		return;
	if (rounded(seen, value_unroll) < rounded(keys, value_unroll)) {
		sketch_step(s, "trim %s%s", values, outer);
		if (rest)
			sketch_step(s, "trim %s%s.2", values, outer);
	}
	if (all < keys)
		sketch_step(s, "trim %s", a->row[SUM].key);
	if (read < keys)
		sketch_step(s, "trim %s", a->row[EXP].key);
	if (all < keys)
		sketch_step(s, "trim %s", a->row[MAX].key);
	if (tiles != NULL && rounded(read, part) < whole)
		sketch_step(s, "trim %s", tiles);
	if (tiles != NULL && whole < keys && read <= whole)
		sketch_step(s, "trim %s.2", tiles);
}

/*
 * Whether threads share the tiles of each head, and not the heads of all batches: where that leaves less time idle. The
 * tiles of causal attention take the longer the later they are, so they are shared only if there is one head; loops in
 * them are not trimmed then, since no bound may depend on a shared loop.
 */
static bool share_tiles(const Sketch *s, const Around *around, bool causal, int64_t rows)
{
	const TileAxis *x = around->axis;
	int64_t heads = x[BATCH].extent * x[HEAD].extent, whole = x[QUERY].extent / rows;
	double rest = (double)(x[QUERY].extent % rows) / (double)rows, filled = share_filled(s->target, heads);
	if (around->tiles == NULL || (causal && heads > 1))
		return false;
	double takes = (double)whole / share_filled(s->target, whole) + rest / share_filled(s->target, 1);
	return filled < 1 - TMPL_SHARE_IDLE && ((double)whole + rest) / takes > filled;
}

/* Threads share heads of batches, or tiles; blocks of a launch all of them. The last tile is code of its own. */
static void share_steps(Sketch *s, const Around *around, bool causal, int64_t rows)
{
	const TileAxis *x = around->axis;
	int64_t tiles = (x[QUERY].extent + rows - 1) / rows;
	bool bound = false;
	if (s->target->threads > 1 && share_tiles(s, around, causal, rows))
		sketch_step(s, "parallel %s", around->tiles);
	else
		share_some(s, (TileAxis[]){ x[BATCH], x[HEAD] }, 2);
	if (target_has_blocks(s->target)) {
		bound = around->tiles != NULL && x[BATCH].extent * x[HEAD].extent < s->target->cores;
		TileAxis loop[] = { x[BATCH], x[HEAD], { around->tiles, tiles } };
		device_bind_grid(s, loop, bound ? 3 : 2);
	}
	if (around->tiles != NULL && !bound && x[QUERY].extent % rows != 0)
		sketch_step(s, "cut %s %lld", around->tiles, (long long)(tiles - 1));
}

static bool run(Sketch *s, Err *err)
{
	static const char *const lanes[] = { "queries", "keys" };
	Attention a;
	(void)err;
	if (!read(s, &a) || !a.values.ends)
		return sketch_loops(s);
	bool few = attention_is_few(s, &a), many = a.scores.axis[QUERY].extent >= TMPL_ATTENTION_LEAST;
	if (!few && !many)
		return sketch_loops(s);
	if (few && (!many || sketch_word(s, "lanes", lanes, 2, a.scores.axis[QUERY].extent < TMPL_ATTENTION_FEW) == 1)) {
		attention_few(s, &a);
		return true;
	}
	sketch_opens(s);
	int64_t keys = a.scores.axis[FOURTH].extent, depth = a.values.axis[FOURTH].extent;
	Picked p = { .rows = choose_rows(s, &a) };
	choose_tile(s, "scores", (p.rows + a.lanes - 1) / a.lanes, keys, true, &p.scores);
	int64_t score_unroll = choose_unroll(s, "scores.unroll", a.scores.reduce[0].extent, &p.scores);
	choose_tile(s, "values", (depth + a.lanes - 1) / a.lanes, p.rows, false, &p.values);
	int64_t value_unroll = choose_unroll(s, "values.unroll", keys, &p.values);
	Around around = value_steps(s, &a, &p, value_unroll);
	for (int k = SUM; k >= MAX; k--)
		sketch_step(s, "compute_at %s %s", a.row[k].block, around.at);
	sketch_step(s, "compute_at %s %s", a.scores.last, around.at);
	const char *tiles = score_steps(s, &a, &p, around.at, score_unroll);
	for (int k = MAX; k <= SUM; k++)
		softmax_steps(s, &a, &a.row[k], p.rows);
	if (s->target->threads < 2 || !share_tiles(s, &around, a.causal, p.rows))
		trim_steps(s, &a, &p, value_unroll, tiles, around.rest);
	share_steps(s, &around, a.causal, p.rows);
	return true;
}

const Template tmpl_attention = { .name = "attention",
	.doc = "tiles of queries whose scores stay in a cache; lanes are queries, then values",
	.applies = applies,
	.run = run };
