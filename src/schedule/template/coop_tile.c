/* See coop_tile.h. */
#include "schedule/template/coop_tile.h"

#include "schedule/template/block.h"

#include <string.h>

int64_t coop_axis_tile(const CoopAxis *x)
{
	return x->virtuals * x->threads * x->inner;
}

int64_t coop_threads(const CoopTile *b)
{
	int64_t n = 1;
	for (int k = 0; k < b->n; k++)
		n *= b->axis[k].threads;
	return n;
}

int64_t coop_sums(const CoopTile *b)
{
	int64_t n = 1;
	for (int k = 0; k < b->n; k++)
		n *= b->axis[k].virtuals * b->axis[k].inner;
	return n;
}

CoopJoin coop_join(const CoopTile *b)
{
	CoopJoin j = { .parts = b->parts, .results = 1, .threads = { coop_threads(b), 1, 1 }, .sum = b->type };
	for (int k = 0; k < b->n; k++)
		j.results *= coop_axis_tile(&b->axis[k]);
	return j;
}

static int64_t operand_elements(const CoopOperand *o)
{
	int64_t n = 1;
	for (int k = 0; k < o->n; k++)
		n *= o->part[k];
	return n;
}

/* ---- loops ---- */

static const char *child(Sketch *s, const char *name, const char *part)
{
	return arena_printf(s->arena, "%s.%s", name, part);
}

/* What the loop of an axis becomes: virtual threads, threads, neighbours; NULL: there is no such loop. */
typedef struct Parts {
	const char *virtuals, *threads, *inner;
} Parts;

static Parts cut_parts(Sketch *s, const CoopAxis *x, const char *loop)
{
	Parts p = { .threads = loop };
	if (x->inner > 1) {
		sketch_step(s, "split %s %lld", loop, (long long)x->inner);
		p.inner = child(s, loop, "i");
		p.threads = child(s, loop, "o");
	}
	if (x->virtuals > 1) {
		sketch_step(s, "split %s %lld", p.threads, (long long)x->threads);
		p.virtuals = child(s, p.threads, "o");
		p.threads = child(s, p.threads, "i");
	}
	return p;
}

/* Adds the loops of a thread, virtual ones first. */
static void add_thread(const CoopTile *b, const Parts *p, Text *line)
{
	for (int k = 0; k < b->n; k++)
		if (p[k].virtuals != NULL)
			text_add(line, " %s", p[k].virtuals);
	for (int k = 0; k < b->n; k++)
		if (p[k].inner != NULL)
			text_add(line, " %s", p[k].inner);
}

static void unroll_thread(Sketch *s, const CoopTile *b, const Parts *p, const char *suffix)
{
	for (int k = 0; k < b->n; k++) {
		if (p[k].virtuals != NULL)
			sketch_step(s, "unroll %s%s", p[k].virtuals, suffix);
		if (p[k].inner != NULL)
			sketch_step(s, "unroll %s%s", p[k].inner, suffix);
	}
}

/* The loops over threads become one. */
static const char *fuse_threads(Sketch *s, const CoopTile *b, const Parts *p, const char *name)
{
	const char *all = p[0].threads;
	for (int k = 1; k < b->n; k++) {
		const char *both = k == b->n - 1 ? name : arena_printf(s->arena, "%s%d", name, k);
		sketch_step(s, "fuse %s %s as %s", all, p[k].threads, both);
		all = both;
	}
	return all;
}

/* ---- the reduction ---- */

/* Loop k within a round: the whole loop, if a round takes all of it. The first loop runs over rounds. */
static const char *in_round(Sketch *s, const CoopTile *b, int k)
{
	const CoopRound *r = &b->round[k];
	return k > 0 && r->part == r->extent ? r->name : child(s, r->name, "i");
}

/* Iterations of loop k of a round that are written out: a divisor, as far as the limit goes, innermost loops first. */
static int64_t written_out(const CoopTile *b, int k)
{
	int64_t body = coop_sums(b), u = 1;
	for (int j = b->nround - 1; j >= k; j--) {
		int64_t part = b->round[j].part;
		u = part;
		while (u > 1 && (part % u != 0 || u * body > b->unroll || u > TMPL_COOP_UNROLL))
			u--;
		if (u < part && j > k)
			return 1;
		body *= u;
	}
	return u;
}

static void unroll_rounds(Sketch *s, const CoopTile *b)
{
	for (int k = b->nround - 1; k >= 0; k--) {
		int64_t u = written_out(b, k);
		if (u > 1)
			sketch_step(s, "unroll %s%s", in_round(s, b, k), u < b->round[k].part ? ".i" : "");
	}
}

/* rounds.. threads.. reduce.. rest.. virtuals.. inner..; the innermost loop over rounds. */
static const char *reduction_steps(Sketch *s, const CoopTile *b, Parts *p)
{
	Text line = { .arena = s->arena };
	const char *last = NULL;
	for (int k = 0; k < b->n; k++)
		p[k] = cut_parts(s, &b->axis[k], b->axis[k].name);
	for (int k = 0; k < b->nround; k++) {
		if (strcmp(in_round(s, b, k), b->round[k].name) == 0)
			continue;
		sketch_step(s, "split %s %lld", b->round[k].name, (long long)b->round[k].part);
		text_add(&line, " %s", last = child(s, b->round[k].name, "o"));
	}
	for (int k = 0; k < b->n; k++)
		text_add(&line, " %s", p[k].threads);
	for (int k = 0; k < b->nround; k++) {
		const char *name = in_round(s, b, k);
		int64_t u = written_out(b, k);
		bool parts = u > 1 && u < b->round[k].part;
		if (parts)
			sketch_step(s, "split %s %lld", name, (long long)u);
		text_add(&line, parts ? " %s.o %s.i" : " %s", name, name);
	}
	for (int k = 0; k < b->nrest; k++)
		text_add(&line, " %s", b->rest[k]);
	add_thread(b, p, &line);
	sketch_step(s, "reorder%s", text_str(&line));
	return last;
}

static const char *copy_loop(Sketch *s, const CoopOperand *o, int k)
{
	return o->reduction != NULL ? o->reduction->out[k].name : arena_printf(s->arena, "%s.%d", o->copy, k);
}

/* Each element of the operand has its reduction inside, whose last loops are unrolled if all of them are short. */
static void make_steps(Sketch *s, const Tiled *t, const char *element)
{
	Text line = { .arena = s->arena };
	int64_t taps = 1;
	sketch_step(s, "compute_at %s %s", t->block, element);
	for (int k = 0; k < t->n; k++)
		text_add(&line, " %s", t->axis[k].name);
	for (int k = 0; k < t->nreduce; k++) {
		text_add(&line, " %s", t->reduce[k].name);
		taps *= t->reduce[k].extent;
	}
	sketch_step(s, "reorder%s", text_str(&line));
	if (t->selects)
		sketch_step(s, "skip %s", t->block);
	for (int k = t->nreduce - 1; k >= 0 && taps <= TMPL_BLOCK_WRITTEN; k--)
		sketch_step(s, "unroll %s", t->reduce[k].name);
}

/* The loops of a copy become one, of which each thread has every so many elements; the bound loop. */
static const char *copy_steps(Sketch *s, const CoopTile *b, const CoopOperand *o, const char *round)
{
	Text line = { .arena = s->arena };
	int64_t loads = operand_elements(o) / o->lanes, threads = coop_threads(b);
	const char *all = copy_loop(s, o, o->order[0]);
	sketch_step(s, "compute_at %s %s", o->copy, round);
	for (int k = 0; k < o->n; k++)
		text_add(&line, " %s", copy_loop(s, o, o->order[k]));
	if (o->n > 1)
		sketch_step(s, "reorder%s", text_str(&line));
	if (o->layout != NULL)
		sketch_step(s, "layout %s %s", o->copy, o->layout);
	for (int k = 1; k < o->n; k++) {
		const char *both = arena_printf(s->arena, "%s.f%d", o->copy, k);
		sketch_step(s, "fuse %s %s as %s", all, copy_loop(s, o, o->order[k]), both);
		all = both;
	}
	if (o->lanes > 1) {
		sketch_step(s, "split %s %lld", all, (long long)o->lanes);
		all = child(s, all, "o");
	}
	if (loads > threads) {
		sketch_step(s, "split %s %lld", all, (long long)threads);
		all = child(s, all, "i");
	}
	if (o->reduction != NULL)
		make_steps(s, o->reduction, all);
	return all;
}

/* The loads of a thread that are in flight at once are unrolled: all loads, or a divisor of their number. */
static void vector_steps(Sketch *s, const CoopTile *b, const CoopOperand *o)
{
	int64_t loads = operand_elements(o) / o->lanes, threads = coop_threads(b);
	int64_t each = (loads + threads - 1) / threads, most = coop_loads(s, b, o->lanes), at_once = each;
	const char *all = o->n > 1 ? arena_printf(s->arena, "%s.f%d", o->copy, o->n - 1)
		: arena_printf(s->arena, "%s.%d", o->copy, o->order[0]);
	if (o->lanes > 1)
		sketch_step(s, "vectorize %s.i", all);
	all = o->lanes > 1 ? child(s, all, "o") : all;
	while (at_once > most || each % at_once != 0)
		at_once--;
	if (at_once > 1 && at_once < each)
		sketch_step(s, "split %s.o %lld", all, (long long)at_once);
	if (at_once > 1)
		sketch_step(s, "unroll %s.o%s", all, at_once < each ? ".i" : "");
}

void coop_begin(Sketch *s, const Tiled *t)
{
	for (int k = 0; k < t->nmiddle; k++)
		sketch_step(s, "inline %s", t->middle[k]);
	if (!t->bare)
		return;
	sketch_step(s, "cache_write %s", t->block);
	static const char *const plain[] = { "", "N", "NC", "NCW", "NCHW", "NCDHW" };
	if (t->result != NULL && t->result->map.n > 0) /* merge takes no buffer that has a layout */
		sketch_step(s, "layout %s %s", t->sums, plain[t->result->rank]);
}

void coop_widen_steps(Sketch *s, const Tiled *t, const CoopTile *b)
{
	for (int k = 0; k < b->n; k++)
		if (b->axis[k].extent % coop_axis_tile(&b->axis[k]) != 0)
			sketch_step(s, "widen %s %s %lld", t->block, b->axis[k].name, (long long)coop_axis_tile(&b->axis[k]));
	for (int k = 0; k < b->nround; k++)
		if (b->round[k].extent % b->round[k].part != 0)
			sketch_step(s, "widen %s %s %lld", t->block, b->round[k].name, (long long)b->round[k].part);
}

void coop_steps(Sketch *s, const Tiled *t, const CoopTile *b)
{
	Parts in[COOP_AXES], out[COOP_AXES];
	TileAxis grid[TILE_AXES + COOP_AXES];
	const char *rest[COOP_AXES], *bound[COOP_OPERANDS];
	int ngrid = 0;
	Text line = { .arena = s->arena };
	for (int k = 0; k < b->nouter; k++)
		grid[ngrid++] = b->outer[k];
	for (int k = 0; k < b->n; k++) {
		const CoopAxis *x = &b->axis[k];
		int64_t part = coop_axis_tile(x);
		sketch_step(s, "split %s %lld", x->out, (long long)part);
		grid[ngrid++] = (TileAxis){ child(s, x->out, "o"), (x->extent + part - 1) / part };
		rest[k] = child(s, x->out, "i");
	}
	for (int k = 0; k < ngrid; k++)
		text_add(&line, " %s", grid[k].name);
	for (int k = 0; k < b->n; k++)
		text_add(&line, " %s", rest[k]);
	sketch_step(s, "reorder%s", text_str(&line));
	sketch_step(s, "compute_at %s %s%s", t->block, grid[ngrid - 1].name, b->as != NULL ? b->as : "");
	const char *round = reduction_steps(s, b, in);
	const char *threads = fuse_threads(s, b, in, arena_printf(s->arena, "%s.t", t->block));
	for (int k = 0; k < COOP_OPERANDS; k++)
		bound[k] = copy_steps(s, b, &b->operand[k], round);
	sketch_step(s, "decompose_init %s %s.o", t->block, b->round[0].name);
	for (int k = 0; k < b->n; k++)
		out[k] = cut_parts(s, &b->axis[k], rest[k]);
	Text own = { .arena = s->arena };
	for (int k = 0; k < b->n; k++)
		text_add(&own, " %s", out[k].threads);
	add_thread(b, out, &own);
	sketch_step(s, "reorder%s", text_str(&own));
	const char *store = fuse_threads(s, b, out, arena_printf(s->arena, "%s.s", t->block));
	for (int k = 0; b->own_axes && k < ngrid; k++)
		sketch_step(s, "bind %s grid.%c", grid[k].name, "xyz"[ngrid - 1 - k]);
	if (!b->own_axes)
		device_bind_grid(s, grid, ngrid);
	const char *sums = t->sums;
	sketch_step(s, "scope %s shared", sums); /* until all threads are bound */
	for (int k = 0; k < COOP_OPERANDS; k++)
		sketch_step(s, "scope %s shared",
			b->operand[k].reduction != NULL ? b->operand[k].reduction->result->name : b->operand[k].copy);
	sketch_step(s, "bind %s.init block.x", threads);
	sketch_step(s, "bind %s block.x", threads);
	sketch_step(s, "bind %s block.x", store);
	for (int k = 0; k < COOP_OPERANDS; k++)
		sketch_step(s, "bind %s block.x", bound[k]);
	sketch_step(s, "scope %s local", sums);
	for (int k = 0; k < COOP_OPERANDS; k++)
		if (b->operand[k].reduction == NULL)
			vector_steps(s, b, &b->operand[k]);
	unroll_thread(s, b, in, ".init");
	unroll_thread(s, b, in, "");
	unroll_thread(s, b, out, "");
	unroll_rounds(s, b);
	if (b->stages > 1)
		sketch_step(s, "pipeline %s %lld", round, (long long)b->stages);
}

bool coop_rest(Sketch *s, const Tiled *t)
{
	BlockSet set;
	if (!block_read(s, &set))
		return true;
	for (int k = 0; k < set.n; k++) {
		BlockNest *n = &set.nest[k];
		const char *name = n->block != NULL ? n->block : "";
		n->done |= strcmp(name, t->block) == 0 || (t->last != NULL && strcmp(name, t->last) == 0);
		for (int i = 0; i < t->nmiddle; i++)
			n->done |= strcmp(name, t->middle[i]) == 0;
	}
	block_nests(s, &set);
	return true;
}
