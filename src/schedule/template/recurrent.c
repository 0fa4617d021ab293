/*
 * Recurrent layers: the nests of a step, products with the state and the nests that read them, become one loop over
 * tiles of the state's elements each. A tile makes its sums of all gates in registers, then the next state:
 *
 *	for s { for tile of j { for rows { for k { for row, gate, vector unrolled { lanes { sum }}}
 *	                                   for row, vector unrolled { lanes { cell }}}}}
 *
 * Constant weights are packed so that a tile reads them from end to end. Every other step goes through the tiles
 * backwards: where the weights exceed a cache, it still holds those that the step before read last.
 */
#include "schedule/template/device.h"

#include "ir/walk.h"
#include "op/op.h"
#include "op/recurrent.h"

#include <math.h>
#include <string.h>

enum { PRODUCTS = 3, GROUPS = 2 };

/* A nest of a step: its loops n, j or n, gates, j, k. */
typedef struct StepNest {
	const char *block;
	int n;
	TileAxis axis[4];
	const Stmt *body;
	bool reduces;
} StepNest;

/* Products, and the nest that alone reads them. */
typedef struct Group {
	int n;
	StepNest product[PRODUCTS], cell;
} Group;

typedef struct Steps {
	const char *loop; /* over the steps */
	int64_t steps, batch, size;
	int ngroup;
	Group group[GROUPS];
	int64_t sums; /* gates of a group's products, at most */
	const char *weights; /* the constant that all products read; NULL: there is none */
	bool interleaved; /* one product reads all gates */
	DType type;
} Steps;

static bool applies(const Task *task, const Target *target)
{
	const OpCall *c = tile_anchor(task->dag);
	return target->kind == TARGET_CPU && c != NULL && recurrent_gates(c->op) > 0;
}

static bool read_nest(const Stmt *s, StepNest *out)
{
	*out = (StepNest){ 0 };
	for (; s != NULL && s->kind == ST_FOR; s = s->loop.body) {
		int64_t lo, hi;
		if (out->n == 4 || s->loop.kind != LOOP_SERIAL || !ir_is_int(s->loop.lo, &lo) || !ir_is_int(s->loop.hi, &hi) ||
			lo != 0 || hi < 1)
			return false;
		out->axis[out->n++] = (TileAxis){ s->loop.var, hi };
	}
	if (s == NULL || s->kind != ST_BLOCK || s->next != NULL || s->block.where != NULL || s->block.n != out->n + 1)
		return false;
	out->block = s->block.name;
	out->body = s->block.body;
	out->reduces = s->block.init != NULL && s->block.body->kind == ST_REDUCE && s->block.body->next == NULL;
	return s->block.iter[0].kind == ITER_SCAN;
}

typedef struct Weights {
	const Fn *fn;
	const char *name;
	bool several;
} Weights;

static void see_weights(const Expr *e, void *arg)
{
	Weights *w = arg;
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(w->fn, e->name) : NULL;
	if (b == NULL || b->role != BUF_CONST || b->rank != 3)
		return;
	w->several |= w->name != NULL && strcmp(w->name, e->name) != 0;
	w->name = e->name;
}

/* A loop over steps that holds groups and nothing else. */
static bool read_steps(const Fn *fn, const Stmt *loop, Steps *out)
{
	Weights w = { .fn = fn };
	Group *g = out->group;
	*out = (Steps){ .loop = loop->loop.var };
	if (!ir_is_int(loop->loop.hi, &out->steps))
		return false;
	for (const Stmt *s = loop->loop.body; s != NULL; s = s->next) {
		StepNest nest;
		if (!read_nest(s, &nest) || out->ngroup == GROUPS)
			return false;
		if (nest.reduces) {
			if (nest.n != 4 || g->n == PRODUCTS)
				return false;
			ir_each_node(nest.body->reduce.value[0], see_weights, &w);
			out->type = nest.body->reduce.value[0]->type;
			g->product[g->n++] = nest;
			continue;
		}
		if (nest.n != 2 || g->n == 0)
			return false;
		int64_t gates = 0;
		for (int k = 0; k < g->n; k++)
			gates += g->product[k].axis[1].extent;
		out->sums = gates > out->sums ? gates : out->sums;
		g->cell = nest;
		g = &out->group[++out->ngroup];
	}
	if (out->ngroup == 0 || (out->ngroup < GROUPS && g->n > 0))
		return false;
	out->batch = out->group[0].cell.axis[0].extent;
	out->size = out->group[0].cell.axis[1].extent;
	out->weights = w.several ? NULL : w.name;
	out->interleaved = out->ngroup == 1 && out->group[0].n == 1;
	return true;
}

/*
 * Asks for vectors of a state and rows of a tile. What limits a tile: sums in flight, and for each product of a row and
 * a vector the loads of both.
 */
static void choose_tile(Sketch *s, const Steps *st, int64_t lanes, Tile *out)
{
	KnobOption option[KNOB_OPTIONS] = { { .kind = KNOB_TILE, .tile = { 1, 1 } } };
	const Core *core = &s->target->core;
	double top = -1, want = tile_hides(core);
	int64_t blocks = (st->size + lanes - 1) / lanes;
	int n = 0, best = 0;
	for (int64_t f = 1; f <= TMPL_MOST_VECTORS && f <= blocks; f++)
		for (int64_t p = 1; p <= st->batch && n < KNOB_OPTIONS; p++) {
			int64_t sums = st->sums * f * p, vectors = st->sums * f, covered = (blocks + f - 1) / f * f;
			if (st->batch % p != 0 || sums + (p > 1 ? vectors : 1) + 1 > tile_registers(s))
				continue;
			double chains = (double)sums < want ? sqrt((double)sums / want) : 1;
			double fed = fmin(1, core->loads * (double)sums / core->fma_rate / (double)(vectors + p));
			double part = chains * fed * (double)blocks / (double)covered + TMPL_PIXEL_BONUS * (double)p;
			if (part > top) {
				top = part;
				best = n;
			}
			option[n++] = (KnobOption){ .kind = KNOB_TILE, .tile = { f, p } };
		}
	if (n == 0) /* more gates than registers: one vector, one row */
		n = 1;
	int k = sketch_knob(s, "tile", option, n, best);
	sketch_opens(s);
	out->vectors = option[k].tile.vectors;
	out->pixels = option[k].tile.pixels;
}

static const char *child(Sketch *s, const char *name, const char *part)
{
	return arena_printf(s->arena, "%s.%s", name, part);
}

/* Splits an axis unless the part is all of it, or one; the names of the inner loop and the outer one, or NULL. */
static const char *cut(Sketch *s, const char *name, int64_t extent, int64_t part, const char **outer)
{
	*outer = part == 1 && extent > 1 ? name : NULL;
	if (part >= extent || part == 1)
		return *outer == NULL ? name : NULL;
	sketch_step(s, "split %s %lld", name, (long long)part);
	*outer = child(s, name, "o");
	return child(s, name, "i");
}

static void add_names(Text *line, const char *const *name, int n)
{
	for (int k = 0; k < n; k++)
		if (name[k] != NULL)
			text_add(line, " %s", name[k]);
}

/* The loops of a nest in this order; NULL: there is none. */
static void reorder(Sketch *s, const char *const *name, int n)
{
	Text line = { .arena = s->arena };
	add_names(&line, name, n);
	if (strchr(text_str(&line) + 1, ' ') != NULL)
		sketch_step(s, "reorder%s", text_str(&line));
}

static void unroll(Sketch *s, const char *name, int64_t extent)
{
	if (name != NULL && extent > 1)
		sketch_step(s, "unroll %s", name);
}

/* The sums of a tile, in the loop of its tile. */
static void product_steps(Sketch *s, const StepNest *p, const Tile *tile, int64_t steps, const char *at)
{
	const TileAxis *row = &p->axis[0], *gate = &p->axis[1], *j = &p->axis[2], *k = &p->axis[3];
	const char *vectors, *kept;
	int64_t width = tile->lanes * tile->vectors;
	sketch_step(s, "compute_at %s %s", p->block, at);
	const char *lanes = cut(s, j->name, width < j->extent ? width : j->extent, tile->lanes, &vectors);
	const char *written = cut(s, k->name, k->extent, steps, &kept);
	reorder(s, (const char *[]){ kept, written, row->name, gate->name, vectors, lanes }, 6);
	unroll(s, written, steps);
	unroll(s, row->name, tile->pixels);
	unroll(s, gate->name, gate->extent);
	unroll(s, vectors, tile->vectors);
	sketch_step(s, "vectorize %s", lanes);
}

/* Threads share the tiles of a step. Each goes through its own ones forwards and backwards, where all have as many. */
static void share_steps(Sketch *s, const Steps *st, const char *tiles, int64_t n, bool turns)
{
	int64_t threads = s->target->threads;
	bool alike = turns && threads > 1 && n > threads && n % threads == 0;
	if (alike)
		sketch_step(s, "split %s %lld", tiles, (long long)(n / threads));
	if (threads > 1 && n > 1)
		sketch_step(s, "parallel %s%s", tiles, alike ? ".o" : "");
	if (turns && (threads == 1 || alike))
		sketch_step(s, "zigzag %s%s %s", tiles, alike ? ".i" : "", st->loop);
}

static void group_steps(Sketch *s, const Steps *st, const Group *g, const Tile *tile, int64_t steps, bool turns)
{
	const char *rows = NULL, *tiles = NULL, *vectors = NULL, *vector = NULL, *lanes, *row;
	int64_t width = tile->lanes * tile->vectors, n = (st->size + width - 1) / width;
	lanes = cut(s, g->cell.axis[1].name, st->size, tile->lanes, &vectors);
	if (vectors != NULL)
		vector = cut(s, vectors, (st->size + tile->lanes - 1) / tile->lanes, tile->vectors, &tiles);
	row = cut(s, g->cell.axis[0].name, st->batch, tile->pixels, &rows);
	reorder(s, (const char *[]){ tiles, rows, row, vector, lanes }, 5);
	const char *at = rows != NULL ? rows : tiles;
	for (int k = 0; at != NULL && k < g->n; k++)
		product_steps(s, &g->product[k], tile, steps, at);
	unroll(s, row, tile->pixels);
	unroll(s, vector, tile->vectors);
	sketch_step(s, "vectorize %s", lanes);
	if (tiles == NULL)
		return;
	if (st->size % width != 0) /* the last tile is code of its own */
		sketch_step(s, "cut %s %lld", tiles, (long long)--n);
	share_steps(s, st, tiles, n, turns && n > 1);
}

static void add_part(Tiled *t, const char *block)
{
	if (t->nmiddle < TILE_BLOCKS)
		t->middle[t->nmiddle++] = block;
}

static bool run(Sketch *s, Err *err)
{
	Steps st = { 0 };
	const Fn *fn = s->naive->fn[0];
	const Stmt *loop = fn->body;
	(void)err;
	while (loop != NULL && (loop->kind != ST_FOR || loop->loop.body->next == NULL))
		loop = loop->next;
	if (s->naive->n != 1 || loop == NULL || !read_steps(fn, loop, &st))
		return sketch_loops(s);
	Tiled t = { .block = "", .sum = st.type };
	Tile tile = { .lanes = tile_lanes(s, &t, st.size) };
	sketch_group(s);
	choose_tile(s, &st, tile.lanes, &tile);
	if (tile.lanes * tile.vectors >= st.size && tile.pixels >= st.batch) { /* no loop is left for a tile */
		sketch_group_end(s);
		return sketch_loops(s);
	}
	int64_t option[KNOB_OPTIONS], sums = st.sums * tile.vectors * tile.pixels;
	int count = tile_unrolls(st.size, sums, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option), first = 0;
	for (int k = 0; k < count; k++)
		first = option[k] == TMPL_DENSE_STEPS ? k : first;
	int64_t steps = sketch_number(s, "unroll", option, count, first);
	bool turns = tile.lanes * tile.vectors < st.size && st.steps > 1 && sketch_flag(s, "zigzag", true);
	sketch_group_end(s);
	if (st.weights != NULL)
		sketch_step(s, "pack %s %s%lldw", st.weights, st.interleaved ? "WNC" : "CWN",
			(long long)(tile.lanes * tile.vectors));
	for (int k = 0; k < st.ngroup; k++) {
		const Group *g = &st.group[k];
		group_steps(s, &st, g, &tile, steps, turns);
		add_part(&t, g->cell.block);
		for (int i = 0; i < g->n; i++)
			add_part(&t, g->product[i].block);
	}
	return sketch_loops_but(s, &t);
}

const Template tmpl_recurrent = { .name = "recurrent",
	.doc = "tiles of a recurrent state, with the sums of all gates in registers",
	.applies = applies,
	.run = run };
