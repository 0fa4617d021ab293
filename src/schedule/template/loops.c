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
 */
#include "schedule/template/block.h"
#include "schedule/template/device.h"
#include "schedule/template/loop_part.h"
#include "schedule/template/loop_pieces.h"
#include "schedule/template/loop_tile.h"
#include "schedule/template/share.h"
#include "schedule/template/tile.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

/* Splits an axis unless the part is all of it; gives the name of the inner loop. */
static const char *take_part(Sketch *s, const Nest *n, Part p, bool overlap)
{
	const Axis *x = &n->axis[p.axis];
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

static void schedule_nest(Sketch *s, const Nest *n)
{
	if (schedule_one(s, n))
		return;
	/* The last short reduction loop may be written out: sums stay in registers, in a loop around it or without one. */
	const char *last_reduce = NULL;
	int reductions = 0, last = n->n - 1;
	for (int k = 0; k < n->n; k++) {
		reductions += n->axis[k].reduce && n->axis[k].extent > 1;
		if (n->axis[k].reduce && !n->axis[k].scan && n->axis[k].extent > 1 && n->axis[k].extent <= TMPL_SHORT_LOOP)
			last_reduce = n->axis[k].name;
	}
	Part vec = loop_part_vector(s, n), tile = loop_part_tile(s, n, vec);
	bool tiled_sums = tile.axis >= 0 && n->reduces;
	bool tile_outside = tiled_sums && loop_part_flag(s, n, "outside", false);
	if (tiled_sums && n->asks && reductions > 1 && loop_part_window(n, tile) >= 0)
		sketch_opens(s);
	const TileAxis *innermost = reductions > 1 && !tile_outside ? choose_window(s, n, vec, tile) : NULL;
	last_reduce = innermost != NULL ? innermost->name : last_reduce;
	bool unroll = (tile.axis >= 0 || last_reduce != NULL) && loop_part_flag(s, n, "unroll", true);
	bool laps = loop_part_overlaps(n, vec) || loop_part_overlaps(n, tile);
	bool overlap = laps && loop_part_flag(s, n, "overlap", true);
	if (laps && n->asks && n->across >= 0)
		sketch_opens(s); /* parts that overlap have no tail */
	bool bends = tile.axis < 0 && vec.axis >= 0 && loop_pieces_fit(n, vec.axis, vec.size);
	bool pieces = bends && loop_part_flag(s, n, "pieces", true);
	if (bends && n->asks && has_tail(s, n, vec, overlap))
		sketch_opens(s);
	bool ends = has_ends(s, n, tile) && loop_part_flag(s, n, "ends", true); /* of sums; a tail is a transpose's */
	bool edges = has_ends(s, n, vec) && loop_part_flag(s, n, "edges", tile_few_registers(s));
	bool vec_tail = !pieces && has_tail(s, n, vec, overlap), tile_tail = has_tail(s, n, tile, overlap);
	bool tail = (vec_tail || tile_tail) && loop_part_flag(s, n, "ends", true);
	if (pieces)
		vec.axis = -1;
	const char *vector = vec.axis >= 0 ? take_part(s, n, vec, overlap) : NULL;
	const char *tiled = tile.axis >= 0 ? take_part(s, n, tile, overlap) : NULL;
	TileAxis order[LOOPS + 4], shared[LOOPS];
	int count = 0, outside = 0, nshared = 0;
	bool alone = false; /* the next loop is none that threads share */
	for (int pass = 0; pass < 2; pass++) {
		for (int k = 0; k < n->n; k++) {
			const Axis *x = &n->axis[k];
			int64_t part = k == vec.axis ? vec.size : k == tile.axis ? tile.size : 0;
			if (x->reduce != (pass == 1) || (part != 0 && part >= x->extent) ||
				(innermost != NULL && x->name == innermost->name))
				continue;
			order[count++] = part == 0 ? (TileAxis){ x->name, x->extent }
				: (TileAxis){ arena_printf(s->arena, "%s.o", x->name), (x->extent + part - 1) / part };
			bool twice = overlap && part != 0 && loop_part_overlaps(n, (Part){ k, part });
			bool cut = (pieces && k == last) || ((ends || (tail && tile_tail)) && k == tile.axis) ||
			           ((edges || (tail && vec_tail)) && k == vec.axis);
			bool begins = nshared == 0 && x->extent > 1 && !twice;
			if (!x->reduce && (begins || (nshared > 0 && !alone && !twice && !cut)))
				shared[nshared++] = order[count - 1];
			alone = nshared > 0 && (alone || twice || cut);
		}
		outside = pass == 0 ? count : outside;
		if (pass == 1 && innermost != NULL)
			order[count++] = *innermost;
		if (tiled != NULL && (pass == 0) == tile_outside)
			order[count++] = (TileAxis){ tiled, tile.size };
	}
	if (vector != NULL)
		order[count++] = (TileAxis){ vector, vec.size };
	if (count > 1) {
		Text line = { .arena = s->arena };
		for (int k = 0; k < count; k++)
			text_add(&line, " %s", order[k].name);
		sketch_step(s, "reorder%s", text_str(&line));
	}
	if (unroll && tiled != NULL)
		sketch_step(s, "unroll %s", tiled);
	if (unroll && last_reduce != NULL)
		sketch_step(s, "unroll %s", last_reduce);
	if (vector != NULL)
		sketch_step(s, "vectorize %s", vector);
	share_some(s, shared, nshared);
	if (pieces)
		loop_pieces_steps(s, n, vec.size, n->again);
	bool behind = ends && edges && tile.axis < vec.axis; /* the tiles' loop is around that of the vectors */
	if (ends && !behind)
		loop_cut_ends(s, &n->axis[tile.axis], tile.size, false);
	if (edges)
		loop_cut_ends(s, &n->axis[vec.axis], vec.size, ends && !behind);
	if (behind)
		loop_cut_ends(s, &n->axis[tile.axis], tile.size, true);
	if (tail && vec_tail)
		loop_cut_tail(s, &n->axis[vec.axis], vec.size);
	if (tail && tile_tail)
		loop_cut_tail(s, &n->axis[tile.axis], tile.size);
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
		schedule_nest(s, &n);
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

