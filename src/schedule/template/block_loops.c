/*
 * The generated space of devices that run blocks of threads: what can be done with any nest of loops. All spatial
 * loops become one, which is cut into blocks and their threads; neighbouring threads make what lies side by side. A
 * thread makes a vector of elements, some pixels of another axis, or some vectors a block apart. A reduction runs in
 * the thread that stores its result, its sums in registers.
 *
 *	for f.o grid.x { for f.i block.x { for reduce.. { for tile { for vec vector { sums }}}
 *	                                   for tile { for vec vector { store }}}}
 */
#include "schedule/template/block.h"

#include "ir/walk.h"
#include "schedule/producer.h"

#include <string.h>

/* What one launch makes: a nest that stores, and maybe a reduction that it takes up element by element. */
typedef struct Root {
	const char *name;       /* of its block, for knobs */
	const BlockNest *shape; /* whose axes the stores have */
	const BlockNest *fold;  /* NULL: there is none */
	TileAxis axis[BLOCK_AXES];
	int n;
	int of_fold[BLOCK_AXES]; /* the reduction's axis of each; -1: it has none */
	bool asks;
	DType type;
} Root;

typedef struct Cut {
	int along, tile; /* axes; tile -1: none */
	int64_t digit; /* of axis `along`, which lie side by side; 0: all */
	int64_t lanes, part, each, threads, unroll;
} Cut;

static int64_t ask_number(Sketch *s, const Root *r, const char *what, const int64_t *option, int n, int first)
{
	if (!r->asks)
		return option[first];
	return sketch_number(s, arena_printf(s->arena, "%s.%s", r->name, what), option, n, first);
}

/* The axis along which threads lie. */
static int choose_along(Sketch *s, const BlockSet *set, const Root *r)
{
	KnobOption option[BLOCK_AXES];
	int axis[BLOCK_AXES], n = 0, first = 0;
	double best = -1;
	for (int k = 0; k < r->n; k++) {
		double weight = block_traffic(set, r->shape, k);
		if (r->fold != NULL && r->fold != r->shape && r->of_fold[k] >= 0)
			weight += block_traffic(set, r->fold, r->of_fold[k]);
		if (r->axis[k].extent < 2 || (weight == 0 && k != r->n - 1))
			continue;
		if (weight >= best) {
			best = weight;
			first = n;
		}
		axis[n] = k;
		option[n++] = (KnobOption){ .kind = KNOB_WORD, .word = r->axis[k].name };
	}
	if (n == 0)
		return r->n - 1;
	int picked = r->asks ? sketch_knob(s, arena_printf(s->arena, "%s.along", r->name), option, n, first) : first;
	if (r->asks)
		sketch_opens(s);
	return axis[picked];
}

/* Elements that a thread loads and stores at once: up to 16 bytes. Each lane of a padded window has conditions. */
static int64_t choose_lanes(Sketch *s, const Root *r, int64_t extent, int64_t all)
{
	int64_t option[KNOB_OPTIONS], most = target_lanes(s->target, r->type), fill = device_fill(s->target);
	int n = 0, first = 0;
	for (int64_t l = 1; l <= most; l *= 2)
		if (extent % l == 0) {
			first = all / l >= fill && !(r->fold != NULL && r->fold->selects) ? n : first;
			option[n++] = l;
		}
	return ask_number(s, r, "vector", option, n, first);
}

/* Some places of another axis for each thread, which share what the reduction loads. */
static void choose_tile(Sketch *s, const Root *r, Cut *c, int64_t all)
{
	int64_t option[KNOB_OPTIONS] = { 1 };
	int n = 1, first = 0;
	c->tile = -1;
	c->part = 1;
	for (int k = 0; k < r->n && r->fold != NULL; k++)
		c->tile = k != c->along && r->axis[k].extent > 1 && r->of_fold[k] >= 0 ? k : c->tile;
	for (int64_t p = 2; c->tile >= 0 && p * c->lanes <= TMPL_BLOCK_SUMS && p <= r->axis[c->tile].extent; p *= 2)
		if (tile_wastes_little(r->axis[c->tile].extent, p)) {
			bool divides = r->axis[c->tile].extent % p == 0;
			first = divides && all / c->lanes / p >= device_fill(s->target) && p <= TMPL_BLOCK_TILE ? n : first;
			option[n++] = p;
		}
	c->part = ask_number(s, r, "tile", option, n, first);
}

/* Threads of a block: warps of them, fewer where there are too few blocks for the units. */
static int64_t choose_threads(Sketch *s, const Root *r, int64_t all)
{
	int64_t option[KNOB_OPTIONS], warp = s->target->blocks.warp, most = block_most_threads(s->target);
	int n = block_powers(warp < most ? warp : most, most, option), first = 0;
	for (int k = 1; k < n && option[k] <= TMPL_BLOCK_THREADS; k++)
		if (all / option[k] >= s->target->cores || option[k] <= 2 * warp)
			first = k;
	while (n > 1 && option[n - 2] >= all)
		n--;
	return ask_number(s, r, "threads", option, n, first < n ? first : n - 1);
}

/* Iterations of a reduction that are written out: powers of four. */
static int64_t choose_unroll(Sketch *s, const Root *r, int64_t sums)
{
	int64_t option[KNOB_OPTIONS];
	int n = 0, first = 0;
	for (int64_t u = 1; u == 1 || (u * sums <= TMPL_BODY && u <= TMPL_BLOCK_UNROLL); u *= 4) {
		first = u * sums <= TMPL_BLOCK_WRITTEN ? n : first;
		option[n++] = u;
	}
	return ask_number(s, r, "unroll", option, n, first);
}

static Cut choose(Sketch *s, const BlockSet *set, const Root *r)
{
	int64_t all = 1, each[KNOB_OPTIONS];
	for (int k = 0; k < r->n; k++)
		all *= r->axis[k].extent;
	Cut c = { .along = choose_along(s, set, r), .each = 1, .unroll = 1 };
	const Buf *made = r->shape->made;
	int64_t digit = made != NULL ? block_digit(made) : 0, extent = r->axis[c.along].extent;
	if (digit > 1 && digit < extent && extent % digit == 0 && r->shape->axis_of[tile_side(made)] == c.along)
		c.digit = digit;
	c.lanes = choose_lanes(s, r, c.digit > 0 ? c.digit : extent, all);
	if (r->asks)
		sketch_opens(s);
	choose_tile(s, r, &c, all);
	if (r->asks)
		sketch_opens(s);
	all /= c.lanes;
	if (c.tile >= 0)
		all = all / r->axis[c.tile].extent * ((r->axis[c.tile].extent + c.part - 1) / c.part);
	c.threads = choose_threads(s, r, all);
	if (r->asks)
		sketch_opens(s);
	if (r->fold != NULL) {
		c.unroll = choose_unroll(s, r, c.lanes * c.part);
	} else if (r->shape->n == r->shape->spatial) {
		int n = 0, first = 0;
		for (int64_t e = 1; e == 1 || (e <= TMPL_BLOCK_EACH && e * c.threads <= all); e *= 2) {
			first = all / (e * c.threads) >= (int64_t)TMPL_BLOCK_WAVES * s->target->cores ? n : first;
			each[n++] = e;
		}
		c.each = ask_number(s, r, "each", each, n, first);
	}
	return c;
}

/* Steps that make one loop of several, outermost first; its name. */
static const char *fuse_all(Sketch *s, const TileAxis *loop, int n)
{
	const char *name = loop[0].name;
	for (int k = 1; k < n; k++) {
		sketch_step(s, "fuse %s %s", name, loop[k].name);
		name = arena_printf(s->arena, "%s_%s", name, loop[k].name);
	}
	return name;
}

/* What the reduction needs in a thread: its taps written out, up to so many, and its vector. */
static void fold_steps(Sketch *s, const Root *r, const Cut *c)
{
	const BlockNest *f = r->fold;
	int64_t left = c->unroll;
	const char *inner[2] = { NULL, NULL };
	Text line = { .arena = s->arena }, unrolls = { .arena = s->arena };
	const char *name[BLOCK_AXES];
	for (int k = 0; k < f->n; k++)
		name[k] = producer_stem(&(Iter){ .name = f->axis[k].iter });
	for (int k = 0; k < r->n; k++)
		for (int i = 0; i < 2; i++)
			if (r->of_fold[k] >= 0 && k == (i == 0 ? c->tile : c->along) && (i == 0 ? c->part : c->lanes) > 1)
				inner[i] = name[r->of_fold[k]];
	if (f->selects)
		sketch_step(s, "skip %s", f->block);
	const char *cut = NULL; /* the reduce loop of which a part is written out */
	for (int k = f->n - 1; k >= f->spatial && left > 1 && cut == NULL; k--) {
		int64_t part = left;
		if (f->axis[k].extent <= left) {
			text_add(&unrolls, "unroll %s\n", name[k]);
			left /= f->axis[k].extent;
			continue;
		}
		while (part > 1 && f->axis[k].extent % part != 0)
			part /= 2;
		if (part > 1) {
			cut = name[k];
			sketch_step(s, "split %s %lld", cut, (long long)part);
			text_add(&unrolls, "unroll %s.i\n", cut);
		}
		break;
	}
	for (int k = 0; k < f->n; k++)
		if (k >= f->spatial || (name[k] != inner[0] && name[k] != inner[1]))
			text_add(&line, name[k] == cut ? " %s.o %s.i" : " %s", name[k], name[k]);
	for (int i = 0; i < 2; i++)
		if (inner[i] != NULL)
			text_add(&line, " %s", inner[i]);
	sketch_step(s, "reorder%s", text_str(&line));
	text_add(&s->steps, "%s", text_str(&unrolls));
	if (inner[0] != NULL)
		sketch_step(s, "unroll %s", inner[0]);
	if (inner[1] != NULL)
		sketch_step(s, "vectorize %s", inner[1]);
}

static void root_steps(Sketch *s, const Root *r, const Cut *c)
{
	TileAxis outer[BLOCK_AXES + 1];
	int n = 0;
	int64_t all = 1;
	const char *vector = NULL, *tile = NULL;
	Text line = { .arena = s->arena };
	for (int pass = 0; pass < 2; pass++) /* the axis of threads last */
		for (int k = 0; k < r->n; k++) {
			TileAxis x = r->axis[k];
			int64_t part = k == c->along ? c->lanes : k == c->tile ? c->part : 1;
			if (k == c->along && c->digit > 0) {
				if (pass == 0)
					sketch_step(s, "split %s %lld", x.name, (long long)c->digit);
				x = pass == 0 ? (TileAxis){ arena_printf(s->arena, "%s.o", x.name), x.extent / c->digit }
					: (TileAxis){ arena_printf(s->arena, "%s.i", x.name), c->digit };
				part = pass == 0 ? 1 : part;
			} else if ((k == c->along) != (pass == 1)) {
				continue;
			}
			if (part > 1) {
				sketch_step(s, "split %s %lld", x.name, (long long)part);
				*(k == c->along ? &vector : &tile) = arena_printf(s->arena, "%s.i", x.name);
				x = (TileAxis){ arena_printf(s->arena, "%s.o", x.name), (x.extent + part - 1) / part };
			}
			outer[n++] = x;
			all *= x.extent;
			text_add(&line, " %s", x.name);
		}
	for (int k = r->shape->spatial; r->fold == NULL && k < r->shape->n; k++)
		text_add(&line, " %s", r->shape->axis[k].loop);
	if (tile != NULL)
		text_add(&line, " %s", tile);
	if (vector != NULL)
		text_add(&line, " %s", vector);
	if (strchr(text_str(&line) + 1, ' ') != NULL)
		sketch_step(s, "reorder%s", text_str(&line));
	const char *f = fuse_all(s, outer, n), *grid = NULL, *thread = f, *each = NULL;
	if (c->threads < all) {
		sketch_step(s, "split %s %lld", f, (long long)c->threads);
		grid = arena_printf(s->arena, "%s.o", f);
		thread = arena_printf(s->arena, "%s.i", f);
	}
	if (grid != NULL && c->each > 1) {
		sketch_step(s, "split %s %lld", grid, (long long)c->each);
		each = arena_printf(s->arena, "%s.i", grid);
		grid = arena_printf(s->arena, "%s.o", grid);
		sketch_step(s, "reorder %s %s %s", grid, thread, each);
	}
	if (r->fold != NULL) {
		sketch_step(s, "compute_at %s %s", r->fold->block, thread);
		fold_steps(s, r, c);
	}
	if (grid != NULL)
		sketch_step(s, "bind %s grid.x", grid);
	sketch_step(s, "bind %s block.x", thread);
	if (each != NULL)
		sketch_step(s, "unroll %s", each);
	if (tile != NULL)
		sketch_step(s, "unroll %s", tile);
	if (vector != NULL)
		sketch_step(s, "vectorize %s", vector);
}

/* A nest that only stores, or whose reduction is stored as it is: a copy of its sums then stores it. */
static void read_root(Sketch *s, const BlockSet *set, int k, const int *fold_of, Root *r)
{
	const BlockNest *n = &set->nest[k];
	*r = (Root){ .name = n->block, .shape = n, .n = n->spatial, .type = n->made != NULL ? n->made->type : F32 };
	for (int i = 0; i < n->spatial; i++) {
		r->axis[i] = (TileAxis){ n->axis[i].loop, n->axis[i].extent };
		r->of_fold[i] = -1;
	}
	if (n->folds && n->whole) {
		r->fold = n;
		sketch_step(s, "cache_write %s", n->block);
		for (int i = 0; i < n->spatial; i++) {
			r->axis[i].name = arena_printf(s->arena, "%s.w", producer_stem(&(Iter){ .name = n->axis[i].iter }));
			r->of_fold[i] = i;
		}
	}
	if (fold_of[k] >= 0) {
		int axis[IR_MAX_RANK];
		r->fold = &set->nest[fold_of[k]];
		block_root(set, fold_of[k], axis);
		for (int d = 0; d < r->fold->made->rank; d++)
			if (axis[d] >= 0)
				r->of_fold[axis[d]] = r->fold->axis_of[d];
	}
}

/* The nest that takes up reduction k in the thread that stores: all axes are the reduction's, of the same extents. */
static int taker(const BlockSet *set, int k)
{
	int axis[IR_MAX_RANK];
	const BlockNest *f = &set->nest[k];
	if (!f->folds || f->made->role != BUF_WORK || (f->spatial == 0 && block_folded(f) >= TMPL_ROWS_BLOCK))
		return -1;
	int to = block_root(set, k, axis);
	if (to <= k || !set->nest[to].maps)
		return -1;
	const BlockNest *n = &set->nest[to];
	bool taken[BLOCK_AXES] = { false };
	for (int d = 0; d < f->made->rank; d++) {
		int64_t extent = f->axis_of[d] >= 0 ? f->axis[f->axis_of[d]].extent : 1;
		if ((axis[d] < 0 && extent > 1) || (axis[d] >= 0 && n->axis[axis[d]].extent != extent))
			return -1;
		if (axis[d] >= 0)
			taken[axis[d]] = true;
	}
	for (int i = 0; i < n->n; i++)
		if (!taken[i] && n->axis[i].extent > 1)
			return -1;
	return to;
}

/*
 * A reduction to one value: threads of all units make parts, a block joins these, a thread the rest. Parts lie in
 * global memory, and each round is a launch.
 */
static void whole_steps(Sketch *s, const BlockNest *n)
{
	int64_t all = block_folded(n), warp = s->target->blocks.warp, threads = 1;
	int64_t fill = device_fill(s->target), most = block_most_threads(s->target), block = TMPL_BLOCK_THREADS;
	TileAxis loop[BLOCK_AXES];
	for (int k = 0; k < n->n; k++)
		loop[k] = (TileAxis){ n->axis[k].loop, n->axis[k].extent };
	block = block < most ? block : most;
	while (threads * 2 <= fill && threads * 2 <= TMPL_BLOCK_PARTS && threads * TMPL_ROWS_EACH <= all)
		threads *= 2;
	if (threads < warp)
		return;
	const char *r = fuse_all(s, loop, n->n), *part = arena_printf(s->arena, "%s.i", r);
	sketch_step(s, "split %s %lld", r, (long long)threads);
	sketch_step(s, "reorder %s %s.o", part, r);
	sketch_step(s, "rfactor %s %s", n->block, part);
	sketch_step(s, "scope %s.rf global", n->block);
	if (threads > block) {
		sketch_step(s, "split %s %lld", part, (long long)block);
		sketch_step(s, "bind %s.o grid.x", part);
		sketch_step(s, "bind %s.i block.x", part);
		sketch_step(s, "split %s.rf %lld", part, (long long)block);
		sketch_step(s, "reorder %s.rf.i %s.rf.o", part, part);
		sketch_step(s, "rfactor %s %s.rf.i as %s.tree", n->block, part, n->block);
		sketch_step(s, "scope %s.tree global", n->block);
		sketch_step(s, "bind %s.rf.i block.x", part);
	} else {
		sketch_step(s, "bind %s block.x", part);
	}
}

static void make_root(Sketch *s, const BlockSet *set, int k, const int *fold_of)
{
	Root r;
	read_root(s, set, k, fold_of, &r);
	r.asks = sketch_room(s) >= TMPL_BLOCK_KNOBS;
	Cut c = choose(s, set, &r);
	root_steps(s, &r, &c);
}

/* The innermost spatial loop of a step's nest, whose iterations threads may share; its extent 0: there is none. */
static TileAxis shared_loop(const Stmt *nest)
{
	TileAxis found = { NULL, 0 };
	const Stmt *b = nest;
	while (b != NULL && b->kind == ST_FOR && b->loop.kind == LOOP_SERIAL)
		b = b->loop.body;
	if (b == NULL || b->kind != ST_BLOCK || b->next != NULL)
		return found;
	for (const Stmt *l = nest; l != b; l = l->loop.body) {
		int64_t lo, hi;
		bool spatial = ir_is_int(l->loop.lo, &lo) && ir_is_int(l->loop.hi, &hi) && lo == 0 && hi > 0, used = false;
		for (int k = 0; k < b->block.n; k++)
			if (ir_uses_var(b->block.iter[k].value, l->loop.var)) {
				used = true;
				spatial &= b->block.iter[k].kind == ITER_SPATIAL;
			}
		if (spatial && used)
			found = (TileAxis){ l->loop.var, hi };
	}
	return found;
}

/*
 * A serial loop around several nests, as the steps of a scan, is one launch. What a step makes the next one reads, and
 * only threads of one block can wait for each other: so one block shares each nest.
 */
static void scan_steps(Sketch *s, const Stmt *loop)
{
	TileAxis axis[BLOCK_NESTS];
	int64_t option[KNOB_OPTIONS], most = block_most_threads(s->target), longest = 1;
	int n = 0, first = 0;
	for (const Stmt *nest = loop->loop.body; nest != NULL; nest = nest->next, n++) {
		if (n == BLOCK_NESTS || (axis[n] = shared_loop(nest)).extent == 0)
			return;
		longest = axis[n].extent > longest ? axis[n].extent : longest;
	}
	int count = block_powers(s->target->blocks.warp, most < longest ? most : longest, option);
	for (int k = 0; k < count; k++)
		first = option[k] <= TMPL_BLOCK_THREADS ? k : first;
	if (count == 0)
		return;
	const char *knob = arena_printf(s->arena, "%s.threads", loop->loop.var);
	int64_t threads = sketch_room(s) > 0 ? sketch_number(s, knob, option, count, first) : option[first];
	for (int k = 0; k < n; k++) {
		const char *name = axis[k].name;
		if (axis[k].extent > threads) {
			sketch_step(s, "split %s %lld", name, (long long)threads);
			name = arena_printf(s->arena, "%s.i", name);
		}
		sketch_step(s, "bind %s block.x", name);
	}
}

void block_nests(Sketch *s, BlockSet *set)
{
	int fold_of[BLOCK_NESTS];
	for (int k = 0; k < set->n; k++)
		fold_of[k] = -1;
	for (int k = 0; k < set->n; k++) {
		int to = set->nest[k].done ? -1 : taker(set, k);
		if (to >= 0 && fold_of[to] < 0) {
			fold_of[to] = k;
			set->nest[k].done = true;
		}
	}
	for (int k = 0; k < set->n; k++) {
		BlockNest *n = &set->nest[k];
		if (n->done || n->block == NULL)
			continue;
		if (n->spatial == 0) {
			if (n->folds)
				whole_steps(s, n);
			continue;
		}
		n->done = true;
		sketch_group(s);
		if (fold_of[k] >= 0 || !block_turn(s, set, k))
			make_root(s, set, k, fold_of);
		sketch_group_end(s);
	}
	for (const Stmt *top = set->fn->body; top != NULL; top = top->next)
		if (top->kind == ST_FOR && top->loop.kind == LOOP_SERIAL && top->loop.body->next != NULL) {
			sketch_group(s);
			scan_steps(s, top);
			sketch_group_end(s);
		}
}

bool sketch_blocks(Sketch *s)
{
	BlockSet set;
	BlockRows rows;
	if (!block_read(s, &set))
		return true;
	block_inline(s, &set);
	if (block_rows_read(s, &set, &rows) && (rows.likely || rows.length >= s->target->blocks.warp)) {
		static const char *const form[] = { "loops", "rows" };
		bool one = sketch_word(s, "form", form, 2, rows.likely) == 1;
		sketch_opens(s);
		if (one) {
			block_rows(s, &set, &rows);
			return true;
		}
	}
	block_nests(s, &set);
	return true;
}

static bool run(Sketch *s, Err *err)
{
	(void)err;
	return sketch_blocks(s);
}

static bool applies(const Task *task, const Target *target)
{
	(void)task;
	return target_has_warps(target);
}

const Template tmpl_block_loops = { .name = "block.loops",
	.doc = "blocks of threads over any loop nest",
	.applies = applies,
	.run = run };
