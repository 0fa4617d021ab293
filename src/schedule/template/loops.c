/*
 * The generated space: what can be done with any nest of loops, whatever operator it came from.
 * For each nest over one block: which spatial loop becomes the vector and how wide, which other
 * spatial loop is tiled and by how much, whether the tile lies inside or outside the reduction, whether the last part
 * of an axis overlaps the one before it, whether ends and pieces of an axis (loop_pieces.h) are code of their own, and
 * what is unrolled.  It knows loops and iterator kinds, no operator.  Chains
 * of elementwise nests become one nest first, so that no value between them is stored.  Spatial loops that go along one
 * run of memory in every access become one loop: rows of 56 leave half of a vector of 16 lanes empty, images of 3136 do
 * not.
 *
 *	for spatial.. { for reduce.. { for tile.i { for vec.i vector { block }}}}     order inside
 *	for spatial.. { for tile.i { for reduce.. { for vec.i vector { block }}}}     order outside
 *	for spatial.. { as inside, to registers; for tile.i { for vec.i vector { what is made of them }}}   behind
 */
#include "schedule/template/block.h"
#include "schedule/template/device.h"
#include "schedule/template/loop_behind.h"
#include "schedule/template/loop_part.h"
#include "schedule/template/loop_pieces.h"
#include "schedule/template/loop_tile.h"
#include "schedule/template/share.h"
#include "schedule/template/tile.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

/* Splits an axis of `at` unless the part is all of it; gives the name of the inner loop. */
static const char *take_part(Sketch *s, const Nest *n, const Axis *at, Part p, bool overlap)
{
	const Axis *x = &at[p.axis];
	if (p.size >= x->extent)
		return x->name;
	const char *tail = overlap && loop_part_overlaps(n, p) ? " overlap" : "";
	sketch_step(s, "split %s %lld%s", x->name, (long long)p.size, tail);
	return arena_printf(s->arena, "%s.i", x->name);
}

/*
 * A nest that makes one element has no axis for lanes. A part of its last reduction axis makes partial results side by
 * side, several vectors of them, so that several are in flight; they are reduced in the end. False: it is not such a
 * nest, or has no lanes.
 */
static bool schedule_one(Sketch *s, const Nest *n)
{
	KnobOption option[KNOB_OPTIONS] = { loop_part_option(n, (Part){ -1, 0 }) };
	int64_t lanes = target_lanes(s->target, n->type), size[KNOB_OPTIONS] = { 0 };
	int count = 1, first = 0, last = n->n - 1;
	const Axis *x = &n->axis[last];
	for (int k = 0; k < n->n; k++)
		if (!n->axis[k].reduce && n->axis[k].extent != 1)
			return false;
	if (!n->sums || !x->reduce || lanes < 2)
		return false;
	for (int64_t l = lanes; l <= TMPL_STEP_LANES && 2 * l <= x->extent; l *= 2) {
		bool whole = x->extent % l == 0;
		first = whole || first == 0 || x->extent % size[first] != 0 ? count : first;
		size[count] = l;
		option[count++] = loop_part_option(n, (Part){ last, l });
	}
	int picked = loop_part_ask(s, n, "vector", option, count, first);
	if (picked == 0)
		return false;
	sketch_step(s, "split %s %lld", x->name, (long long)size[picked]);
	sketch_step(s, "rfactor %s %s.i", n->block, x->name);
	sketch_step(s, "vectorize %s.i", x->name);
	return true;
}

/* The reduction axis of a window that is innermost, inside of which the tile is written out; NULL: none is. */
static const TileAxis *choose_window(Sketch *s, const Nest *n, Part vec, Part tile)
{
	int k = loop_part_window(n, tile);
	if (k < 0)
		return NULL;
	bool serves = loop_part_window_serves(s, n, k, tile) && vec.size <= target_lanes(s->target, n->type);
	TileAxis *innermost = arena_new_of(s->arena, TileAxis);
	*innermost = (TileAxis){ n->axis[k].name, n->axis[k].extent };
	return loop_part_flag(s, n, "window", serves) ? innermost : NULL;
}

/* Whether an axis' first and last part may be code of their own, so that those between them test no border. */
static bool has_ends(const Sketch *s, const Nest *n, Part p)
{
	return p.axis >= 0 && n->reduces && p.size < n->axis[p.axis].extent && p.axis != n->shared &&
		!target_has_blocks(s->target) && loop_nest_is_guarded(n, p.axis);
}

/* Whether a transpose's last part that is not full may be code of its own: squares are turned without conditions. */
static bool has_tail(const Sketch *s, const Nest *n, Part p, bool overlap)
{
	int64_t extent = p.axis >= 0 ? n->axis[p.axis].extent : 0;
	return p.axis >= 0 && n->across >= 0 && p.axis != n->shared && !target_has_blocks(s->target) && p.size < extent &&
		extent % p.size != 0 && !(overlap && loop_part_overlaps(n, p));
}

/* How a nest's loops are cut, ordered and written out. */
typedef struct Plan {
	Part vec, tile;
	bool tile_outside;         /* around the reduction */
	bool unroll;               /* of the tile, and of the last short reduction */
	bool overlap, pieces;
	bool ends, edges;          /* of the tile's axis, of the vector's */
	bool vec_tail, tile_tail;  /* of a transpose */
	const TileAxis *innermost; /* a window's reduction axis, inside of which the tile is; NULL: none is */
	const char *last_reduce;   /* the reduction that may be written out; NULL: there is none */
	const Behind *behind;
	Axis at[LOOPS];            /* the axes, with the names of the loops that store */
} Plan;

static Plan choose(Sketch *s, const Nest *n, const Behind *behind)
{
	Plan p = { .behind = behind };
	int reductions = 0;
	for (int k = 0; k < n->n; k++) {
		p.at[k] = n->axis[k];
		if (behind != NULL)
			p.at[k].name = behind->loop[k];
		/* The last short reduction loop may be written out: sums stay in registers, in a loop around it or not. */
		reductions += n->axis[k].reduce && n->axis[k].extent > 1;
		if (n->axis[k].reduce && !n->axis[k].scan && n->axis[k].extent > 1 && n->axis[k].extent <= TMPL_SHORT_LOOP)
			p.last_reduce = n->axis[k].name;
	}
	p.vec = loop_part_vector(s, n);
	p.tile = loop_part_tile(s, n, p.vec);
	bool tiled_sums = p.tile.axis >= 0 && n->reduces;
	p.tile_outside = tiled_sums && behind == NULL && loop_part_flag(s, n, "outside", false);
	if (tiled_sums && n->asks && reductions > 1 && loop_part_window(n, p.tile) >= 0)
		sketch_opens(s);
	p.innermost = reductions > 1 && !p.tile_outside ? choose_window(s, n, p.vec, p.tile) : NULL;
	p.last_reduce = p.innermost != NULL ? p.innermost->name : p.last_reduce;
	p.unroll = (p.tile.axis >= 0 || p.last_reduce != NULL) && loop_part_flag(s, n, "unroll", true);
	bool laps = loop_part_overlaps(n, p.vec) || loop_part_overlaps(n, p.tile);
	p.overlap = laps && loop_part_flag(s, n, "overlap", true);
	if (laps && n->asks && n->across >= 0)
		sketch_opens(s); /* parts that overlap have no tail */
	bool bends = p.tile.axis < 0 && p.vec.axis >= 0 && behind == NULL && loop_pieces_fit(n, p.vec.axis, p.vec.size);
	p.pieces = bends && loop_part_flag(s, n, "pieces", true);
	if (bends && n->asks && has_tail(s, n, p.vec, p.overlap))
		sketch_opens(s);
	p.ends = has_ends(s, n, p.tile) && loop_part_flag(s, n, "ends", true); /* of sums; a tail is a transpose's */
	p.edges = has_ends(s, n, p.vec) && loop_part_flag(s, n, "edges", tile_few_registers(s));
	p.vec_tail = !p.pieces && has_tail(s, n, p.vec, p.overlap);
	p.tile_tail = has_tail(s, n, p.tile, p.overlap);
	bool tail = (p.vec_tail || p.tile_tail) && loop_part_flag(s, n, "ends", true);
	p.vec_tail &= tail;
	p.tile_tail &= tail;
	if (p.pieces)
		p.vec.axis = -1;
	return p;
}

static void reorder(Sketch *s, const TileAxis *order, int n)
{
	Text line = { .arena = s->arena };
	for (int k = 0; k < n; k++)
		text_add(&line, " %s", order[k].name);
	if (n > 1)
		sketch_step(s, "reorder%s", text_str(&line));
}

/* The loops around the tile, and those that threads may share. */
static int outer_loops(Sketch *s, const Nest *n, const Plan *p, TileAxis *order, TileAxis *shared, int *nshared)
{
	int count = 0;
	bool alone = false; /* the next loop is none that threads share */
	for (int k = 0; p->behind != NULL && k < p->behind->nlone; k++)
		order[count++] = (TileAxis){ p->behind->lone[k], 1 };
	*nshared = 0;
	for (int k = 0; k < n->n; k++) {
		const Axis *x = &p->at[k];
		int64_t part = k == p->vec.axis ? p->vec.size : k == p->tile.axis ? p->tile.size : 0;
		if (x->reduce || (part != 0 && part >= x->extent))
			continue;
		order[count++] = part == 0 ? (TileAxis){ x->name, x->extent }
			: (TileAxis){ arena_printf(s->arena, "%s.o", x->name), (x->extent + part - 1) / part };
		bool twice = p->overlap && part != 0 && loop_part_overlaps(n, (Part){ k, part });
		bool cut = (p->pieces && k == n->n - 1) || ((p->ends || p->tile_tail) && k == p->tile.axis) ||
		           ((p->edges || p->vec_tail) && k == p->vec.axis);
		bool begins = *nshared == 0 && x->extent > 1 && !twice;
		if (begins || (*nshared > 0 && !alone && !twice && !cut))
			shared[(*nshared)++] = order[count - 1];
		alone = *nshared > 0 && (alone || twice || cut);
	}
	return count;
}

/* The loops of sums, and of the tile in the order that these want. */
static int sum_loops(const Nest *n, const Plan *p, const char *tiled, const char *vector, TileAxis *order)
{
	int count = 0;
	if (tiled != NULL && p->tile_outside)
		order[count++] = (TileAxis){ tiled, p->tile.size };
	for (int k = 0; k < n->n; k++) {
		const Axis *x = &n->axis[k];
		if (x->reduce && (p->innermost == NULL || x->name != p->innermost->name))
			order[count++] = (TileAxis){ x->name, x->extent };
	}
	if (p->innermost != NULL)
		order[count++] = *p->innermost;
	if (tiled != NULL && !p->tile_outside)
		order[count++] = (TileAxis){ tiled, p->tile.size };
	if (vector != NULL)
		order[count++] = (TileAxis){ vector, p->vec.size };
	return count;
}

static void write_out(Sketch *s, const Plan *p, const char *tiled, const char *last_reduce, const char *vector)
{
	if (p->unroll && tiled != NULL)
		sketch_step(s, "unroll %s", tiled);
	if (p->unroll && last_reduce != NULL)
		sketch_step(s, "unroll %s", last_reduce);
	if (vector != NULL)
		sketch_step(s, "vectorize %s", vector);
}

/* The tile inside of the nest behind it: its own loops have the extents of the tile then. */
static void sums_behind(Sketch *s, const Nest *n, const Plan *p, const char *around)
{
	const char *tiled = p->tile.axis >= 0 ? n->axis[p->tile.axis].name : NULL;
	const char *vector = p->vec.axis >= 0 ? n->axis[p->vec.axis].name : NULL;
	TileAxis order[2 * LOOPS];
	int count = 0;
	for (int k = 0; k < n->n; k++)
		if (!n->axis[k].reduce && k != p->tile.axis && k != p->vec.axis)
			order[count++] = (TileAxis){ n->axis[k].name, 1 };
	count += sum_loops(n, p, tiled, vector, order + count);
	sketch_step(s, "compute_at %s %s", n->block, around);
	reorder(s, order, count);
	write_out(s, p, tiled, p->last_reduce, vector);
}

/* One tile is all: a loop of one turn around it, in which the sums are made; how many such loops. */
static int one_turn(Sketch *s, const Plan *p, const char **tiled, const char **vector, TileAxis *order)
{
	const char **inner = *vector != NULL ? vector : tiled;
	sketch_step(s, "split %s %lld", *inner, (long long)(*vector != NULL ? p->vec.size : p->tile.size));
	order[0] = (TileAxis){ arena_printf(s->arena, "%s.o", *inner), 1 };
	*inner = arena_printf(s->arena, "%s.i", *inner);
	return 1;
}

static void schedule_nest(Sketch *s, const Nest *n, const Behind *behind)
{
	if (schedule_one(s, n))
		return;
	Plan p = choose(s, n, behind);
	const char *vector = p.vec.axis >= 0 ? take_part(s, n, p.at, p.vec, p.overlap) : NULL;
	const char *tiled = p.tile.axis >= 0 ? take_part(s, n, p.at, p.tile, p.overlap) : NULL;
	TileAxis order[2 * LOOPS + BLOCK_AXES], shared[LOOPS];
	int nshared, outside = outer_loops(s, n, &p, order, shared, &nshared), count = outside;
	if (behind == NULL) {
		count += sum_loops(n, &p, tiled, vector, order + count);
		reorder(s, order, count);
		write_out(s, &p, tiled, p.last_reduce, vector);
	} else {
		if (outside == 0)
			outside = count = one_turn(s, &p, &tiled, &vector, order);
		if (tiled != NULL)
			order[count++] = (TileAxis){ tiled, p.tile.size };
		if (vector != NULL)
			order[count++] = (TileAxis){ vector, p.vec.size };
		reorder(s, order, count);
		sums_behind(s, n, &p, order[outside - 1].name);
		write_out(s, &p, tiled, NULL, vector);
	}
	share_some(s, shared, nshared);
	if (p.pieces)
		loop_pieces_steps(s, n, p.vec.size, n->again);
	bool nested = p.ends && p.edges && p.tile.axis < p.vec.axis; /* the tiles' loop is around that of the vectors */
	if (p.ends && !nested)
		loop_cut_ends(s, &p.at[p.tile.axis], p.tile.size, false);
	if (p.edges)
		loop_cut_ends(s, &p.at[p.vec.axis], p.vec.size, p.ends && !nested);
	if (nested)
		loop_cut_ends(s, &p.at[p.tile.axis], p.tile.size, true);
	if (p.vec_tail)
		loop_cut_tail(s, &p.at[p.vec.axis], p.vec.size);
	if (p.tile_tail)
		loop_cut_tail(s, &p.at[p.tile.axis], p.tile.size);
	if (target_has_blocks(s->target))
		device_bind_lone(s, order, outside, count);
}

static bool is_part(const Tiled *t, const char *block)
{
	bool part = strcmp(t->block, block) == 0 || (t->last != NULL && strcmp(t->last, block) == 0);
	for (int k = 0; k < t->nmiddle; k++)
		part |= strcmp(t->middle[k], block) == 0;
	return part;
}

/* Inlined, or scheduled with its tiles. */
static bool is_done(const BlockSet *set, const char *block)
{
	for (int k = 0; k < set->n; k++)
		if ((set->nest[k].inlined || set->nest[k].done) && strcmp(set->nest[k].block, block) == 0)
			return true;
	return false;
}

static const Behind *behind_of(const BlockSet *set, const char *block)
{
	for (int k = 0; set != NULL && k < set->n; k++)
		if (set->nest[k].behind != NULL && strcmp(set->nest[k].block, block) == 0)
			return set->nest[k].behind;
	return NULL;
}

/* ---- runs ---- */

/* A nest that is inlined into this one, or into another one, has the same axes, and stores them in their order. */
static bool is_run_of_chain(const BlockSet *set, const Nest *n, int at)
{
	for (int j = 0; set != NULL && j < set->n; j++) {
		const BlockNest *b = &set->nest[j];
		if (!b->inlined)
			continue;
		if (b->n != n->n)
			return false;
		for (int k = 0; k < n->n; k++)
			if (b->axis[k].extent != n->axis[k].extent || b->axis_of[k] != k)
				return false;
		if (!block_is_run(set->fn, b->stmt, b->axis[at].loop, b->axis[at + 1].loop, at))
			return false;
	}
	return true;
}

/*
 * Loops of runs become one, the outer ones first. So do those of a reduction into one element; in others a tile of
 * another axis shares loads.
 */
static void join_runs(Sketch *s, const Fn *fn, const BlockSet *set, Nest *n)
{
	bool run[LOOPS] = { false }, one = true, reduces = false;
	for (int k = 0; k < n->n; k++) {
		reduces |= n->axis[k].reduce;
		one &= n->axis[k].scan ? false : n->axis[k].reduce || n->axis[k].extent == 1;
	}
	if (reduces && !(one && n->sums))
		return;
	for (int k = 0; k + 1 < n->n; k++)
		run[k] = n->axis[k].extent > 1 && n->axis[k + 1].extent > 1 &&
			block_is_run(fn, n->stmt, n->axis[k].name, n->axis[k + 1].name, k) && is_run_of_chain(set, n, k);
	for (int k = 0; k + 1 < n->n;) {
		if (!run[k]) {
			k++;
			continue;
		}
		Axis *a = &n->axis[k];
		sketch_step(s, "fuse %s %s", a[0].name, a[1].name);
		a->name = arena_printf(s->arena, "%s_%s", a[0].name, a[1].name);
		a->extent *= a[1].extent;
		n->side -= n->side > k;
		n->across -= n->across > k;
		n->n--;
		memmove(&a[1], &a[2], sizeof *a * (size_t)(n->n - k - 1));
		memmove(&run[k], &run[k + 1], sizeof *run * (size_t)(LOOPS - k - 1));
	}
}

/*
 * A nest that cannot be scheduled stays as it is, which is legal. Without room for knobs a nest has its default. A
 * serial loop around several nests (the steps of a scan) stays, too; its nests are scheduled.
 */
static void schedule_nests(Sketch *s, const Fn *fn, const Stmt *first, const Tiled *t, const BlockSet *set)
{
	for (const Stmt *top = first; top != NULL; top = top->next) {
		Nest n;
		if (!loop_nest_read(fn, top, &n)) {
			if (top->kind == ST_FOR && top->loop.kind == LOOP_SERIAL && top->loop.body->next != NULL)
				schedule_nests(s, fn, top->loop.body, t, set);
			continue;
		}
		if ((t != NULL && is_part(t, n.block)) || (set != NULL && is_done(set, n.block)))
			continue;
		for (int k = 0; set != NULL && k < set->n; k++)
			if (set->nest[k].inlined)
				ir_each_node_in(set->nest[k].stmt->block.body, loop_nest_see_series, &n.series);
		n.asks = sketch_room(s) >= TMPL_NEST_KNOBS;
		sketch_group(s);
		n.again &= !target_has_blocks(s->target);
		if (!target_has_blocks(s->target))
			loop_pieces_read(set, &n);
		if (!target_has_blocks(s->target))
			join_runs(s, fn, set, &n);
		n.shared = loop_part_shared(s, &n);
		schedule_nest(s, &n, behind_of(set, n.block));
		sketch_group_end(s);
	}
}

bool sketch_loops_but(Sketch *s, const Tiled *t)
{
	for (size_t i = 0; i < s->naive->n; i++)
		if (s->naive->fn[i]->kind == FN_RUN)
			schedule_nests(s, s->naive->fn[i], s->naive->fn[i]->body, t, NULL);
	return true;
}

/*
 * The nest in which all reads of what nest k makes end, element by element and maybe through nests that are inlined;
 * -1: there is none. A nest that reads it twice computes it once, since equal expressions are one.
 */
static int only_root(const BlockSet *set, const int *root, int k)
{
	const BlockNest *n = &set->nest[k];
	int axis[IR_MAX_RANK], at = -1;
	for (int j = 0; j < set->n; j++) {
		const BlockNest *r = &set->nest[j];
		bool plain;
		if (j == k)
			continue;
		if ((r->block == NULL && r->stmt == NULL) || (r->made == n->made && r->made != NULL))
			return -1;
		if (!block_reads(r, n->made->name, &plain, axis))
			continue;
		if (j < k || !plain || !r->maps || block_outputs(r) != block_outputs(n) || (at >= 0 && at != root[j]))
			return -1;
		at = root[j];
	}
	return at;
}

typedef struct Times {
	const char *buf;
	double n;
} Times;

static void count_read(const Expr *e, void *arg)
{
	Times *t = arg;
	t->n += e->op == IR_LOAD && strcmp(e->name, t->buf) == 0;
}

/* How often nest k stands in its root once it is inlined: by each read of those that read it. */
static double copies_of(const BlockSet *set, const double *copies, int k)
{
	double n = 0;
	for (int j = k + 1; j < set->n; j++) {
		Times t = { set->nest[k].made->name, 0 };
		if (set->nest[j].block != NULL)
			ir_each_node_in(set->nest[j].stmt->block.body, count_read, &t);
		n += copies[j] * t.n;
	}
	return n;
}

/*
 * Marks the nests that no other than one later nest needs, last ones first, and inlines them, first ones first. Each
 * is computed once, but written out by each read: squares of squares double with each.
 */
static void inline_chains(Sketch *s, BlockSet *set)
{
	int root[BLOCK_NESTS];
	double copies[BLOCK_NESTS] = { 0 }, written[BLOCK_NESTS] = { 0 };
	for (int k = set->n - 1; k >= 0; k--) {
		BlockNest *n = &set->nest[k];
		bool maps = n->block != NULL && n->maps && n->whole && n->made->role == BUF_WORK;
		int at = maps ? only_root(set, root, k) : -1;
		double times = at >= 0 ? copies_of(set, copies, k) : 1;
		root[k] = k;
		copies[k] = 1;
		written[k] = (double)n->nodes;
		if (at < 0 || set->nest[at].nodes + n->nodes > TMPL_BLOCK_NODES ||
			written[at] + times * (double)n->nodes > TMPL_NEST_WRITTEN)
			continue;
		copies[k] = times;
		written[at] += times * (double)n->nodes;
		set->nest[at].nodes += n->nodes;
		root[k] = at;
		n->inlined = true;
	}
	for (int k = 0; k < set->n; k++)
		if (set->nest[k].inlined)
			sketch_step(s, "inline %s", set->nest[k].block);
}

/* Whether a tile of sums is stored by the nest behind them. It is done then. */
static void choose_behind(Sketch *s, BlockSet *set, int k)
{
	BlockNest *n = &set->nest[k];
	Behind *behind = arena_new_of(s->arena, Behind);
	bool several = block_outputs(n) >= 2 * target_lanes(s->target, n->made->type);
	if (n->done || !several || !loop_behind_read(s, set, k, behind))
		return;
	bool joins = sketch_flag(s, arena_printf(s->arena, "%s.behind", n->block), true);
	sketch_opens(s);
	if (!joins)
		return;
	n->behind = behind;
	set->nest[behind->nest].done = true;
}

/* Reductions that may have tiles on several levels, before the others: what they inline has no steps yet. */
static void choose_forms(Sketch *s, BlockSet *set)
{
	static const char *const form[] = { "loops", "tiles" };
	for (int k = 0; k < set->n; k++) {
		const BlockNest *n = &set->nest[k];
		if (sketch_room(s) < TMPL_NEST_TILE_KNOBS || !loop_tile_fits(s, set, k))
			continue;
		bool likely = loop_tile_likely(s, set, k);
		bool tiles = sketch_word(s, arena_printf(s->arena, "%s.form", n->block), form, 2, likely) == 1;
		sketch_opens(s);
		if (tiles)
			loop_tile(s, set, k);
		else
			choose_behind(s, set, k);
	}
}

bool sketch_loops(Sketch *s)
{
	BlockSet set;
	if (target_has_blocks(s->target) || !block_read(s, &set))
		return sketch_loops_but(s, NULL);
	inline_chains(s, &set);
	choose_forms(s, &set);
	schedule_nests(s, set.fn, set.fn->body, NULL, &set);
	return true;
}

static bool run(Sketch *s, Err *err)
{
	(void)err;
	return sketch_loops(s);
}

static bool applies(const Task *task, const Target *target)
{
	(void)task;
	return device_lone(target);
}

const Template tmpl_loops = { .name = "loops",
	.doc = "vector, tile, order and unroll of any loop nest",
	.applies = applies,
	.run = run };

