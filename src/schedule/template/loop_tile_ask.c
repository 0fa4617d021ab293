/*
 * Tiles of a reduction (loop_tile.h): which nests have them, and their knobs. Options are such that each config is
 * legal: tiles fit the registers, blocks are whole tiles, copies have a bound.
 */
#include "schedule/template/loop_tile.h"

#include "ir/build.h"
#include "ir/query.h"
#include "schedule/producer.h"

#include <string.h>

/* ---- what fits ---- */

int loop_tile_root(const BlockSet *set, int at, int axis[IR_MAX_RANK])
{
	const BlockNest *n = &set->nest[at];
	int root = n->made->role == BUF_WORK ? block_root(set, at, axis) : NONE;
	if (root < 0)
		return NONE;
	const BlockNest *r = &set->nest[root];
	bool moved[BLOCK_AXES] = { false };
	bool fits = r->maps && !r->done && !r->inlined && root > at && r->spatial == r->n;
	for (int d = 0; fits && d < n->made->rank; d++) {
		if (n->axis_of[d] < 0)
			continue;
		fits = axis[d] >= 0 && !moved[axis[d]] && r->axis[axis[d]].extent == n->axis[n->axis_of[d]].extent;
		moved[fits ? axis[d] : 0] |= fits;
	}
	for (int k = 0; fits && k < r->n; k++)
		fits = moved[k] || r->axis[k].extent == 1;
	return fits ? root : NONE;
}

bool loop_tile_fits(const Sketch *s, const BlockSet *set, int at)
{
	const BlockNest *n = &set->nest[at];
	if (n->block == NULL || !n->folds || n->done || n->spatial == 0 || target_has_blocks(s->target))
		return false;
	const Stmt *body = n->stmt->block.body;
	if (!ir_is_builtin_monoid(body->reduce.monoid))
		return false;
	for (int k = 0; k < n->n; k++) /* compute_at names loops after iterators */
		if (strcmp(producer_stem(&n->stmt->block.iter[k]), n->axis[k].loop) != 0)
			return false;
	int axis[IR_MAX_RANK];
	if (!n->whole && loop_tile_root(set, at, axis) < 0) /* cache_write wants an iterator for each dimension */
		return false;
	return block_outputs(n) > 1 && block_folded(n) > 1 && target_lanes(s->target, body->reduce.value[0]->type) > 1;
}

typedef struct Others {
	const char *iter, *buf;
	bool depend;
} Others;

static void see_other(const Expr *e, void *arg)
{
	Others *c = arg;
	c->depend |= e->op == IR_SELECT && ir_uses_var(e->arg[0], c->iter);
	c->depend |= e->op == IR_LOAD && strcmp(e->name, c->buf) != 0 && ir_uses_var(e, c->iter);
}

/*
 * The axis of lanes for a reduction whose taps are partly zeros: one that only a constant has. Whether a tap is a zero
 * does not depend on it, so all lanes skip it together. NONE: there is none, or no tap is.
 */
static int uniform_axis(const BlockSet *set, const BlockNest *n, int64_t lanes)
{
	int axis[IR_MAX_RANK], best = NONE;
	for (int i = 0; n->selects && i < set->fn->nparam; i++) {
		const Buf *b = set->fn->param[i].buf;
		bool plain;
		if (b == NULL || b->role != BUF_CONST || b->map.n > 0 || b->rank < 2 ||
			!block_reads(n, b->name, &plain, axis) || !plain)
			continue;
		for (int d = 0; d < b->rank; d++) {
			bool spatial = axis[d] >= 0 && axis[d] < n->spatial;
			Others c = { spatial ? n->axis[axis[d]].iter : "", b->name, false };
			ir_each_node_in(n->stmt->block.body, see_other, &c);
			if (spatial && !c.depend && n->axis[axis[d]].extent >= lanes)
				best = axis[d];
		}
	}
	return best;
}

/* The only spatial axis of several elements: all sums of a tile are vectors along it. NONE: there are several axes. */
static int lone_axis(const BlockNest *n)
{
	int lone = NONE, count = 0;
	for (int k = 0; k < n->spatial; k++)
		if (n->axis[k].extent > 1) {
			lone = k;
			count++;
		}
	return count == 1 ? lone : NONE;
}

static LoopTile read_nest(Sketch *s, BlockSet *set, int at)
{
	BlockNest *n = &set->nest[at];
	LoopTile t = { .s = s, .nest = n, .vector = NONE, .partial = NONE };
	t.uniform = uniform_axis(set, n, target_lanes(s->target, n->made->type));
	int axis[IR_MAX_RANK], root = loop_tile_root(set, at, axis);
	for (int k = 0; k < n->n; k++)
		if (n->axis[k].reduce)
			t.r[t.nreduce++] = (Reduce){ n->axis[k].loop, n->axis[k].extent };
	t.n = n->spatial;
	for (int k = 0; k < t.n; k++)
		t.x[k] = (Spatial){ .own = n->axis[k].loop, .extent = n->axis[k].extent, .tile = 1, .block = 1 };
	for (int d = 0; d < n->made->rank; d++) {
		if (n->axis_of[d] < 0)
			continue;
		int k = n->axis_of[d], out = root >= 0 ? axis[d] : k;
		t.x[k].out = root >= 0 ? set->nest[root].axis[out].loop : arena_printf(s->arena, "%s.w", n->axis[k].loop);
		t.of_out[out] = k;
	}
	n->done = true;
	for (int k = 0; root >= 0 && k < set->nest[root].n; k++) { /* dimensions of one element */
		bool moved = false;
		for (int d = 0; d < n->made->rank; d++)
			moved |= n->axis_of[d] >= 0 && axis[d] == k;
		if (moved)
			continue;
		t.of_out[k] = t.n;
		t.x[t.n++] = (Spatial){ .out = set->nest[root].axis[k].loop, .extent = 1, .tile = 1, .block = 1 };
	}
	if (root >= 0) {
		t.root = &set->nest[root];
		set->nest[root].done = true;
	}
	return t;
}

static void see_remainder(const Expr *e, void *arg)
{
	int64_t *step = arg, by;
	if (e->op == IR_MOD && ir_is_int(e->arg[1], &by) && by > *step)
		*step = by;
}

static void see_step(const Expr *e, void *arg)
{
	if (e->op == IR_SELECT)
		ir_each_node(e->arg[0], see_remainder, arg);
}

/* Taps are zeros but for one place in so many, as between the elements of a transposed convolution's image; 1: none. */
static int64_t step_of(const BlockNest *n)
{
	int64_t step = 1;
	ir_each_node_in(n->stmt->block.body, see_step, &step);
	return step;
}

/* ---- knobs ---- */

static const char *knob(const LoopTile *t, const char *what, const char *axis)
{
	return arena_printf(t->s->arena, axis != NULL ? "%s.%s.%s" : "%s.%s", t->nest->block, what, axis);
}

static int64_t ask_number(
	const LoopTile *t, const char *what, const char *axis, const int64_t *option, int n, int first)
{
	int64_t got = sketch_number(t->s, knob(t, what, axis), option, n, first);
	sketch_opens(t->s);
	return got;
}

/* An axis of the nest: which of `axes`, by the names of their loops in the reduction. */
static int ask_axis(const LoopTile *t, const char *what, const int *axes, int n)
{
	const char *word[BLOCK_AXES];
	for (int k = 0; k < n; k++)
		word[k] = t->x[axes[k]].own;
	return n > 0 ? axes[sketch_word(t->s, knob(t, what, NULL), word, n, 0)] : NONE;
}

static int64_t bytes_of(DType type)
{
	return type.bits >= 8 ? type.bits / 8 : 1;
}

static void ask_vector(LoopTile *t)
{
	KnobOption option[KNOB_OPTIONS];
	int axis[KNOB_OPTIONS], count = 0, first = 0;
	int64_t size[KNOB_OPTIONS];
	DType sum = t->nest->stmt->block.body->reduce.value[0]->type;
	int64_t lanes = target_lanes(t->s->target, sum), least = lanes < 8 ? 2 : lanes / 4;
	int side = tile_side(t->nest->made);
	bool divides = false;
	for (int k = 0; k < t->nest->n; k++) {
		int fold = k - t->nest->spatial;
		bool reduce = fold >= 0;
		int64_t extent = reduce ? t->r[fold].extent : t->x[k].extent;
		const char *name = reduce ? t->r[fold].name : t->x[k].own;
		for (int64_t l = reduce ? lanes : least; l <= lanes; l *= 2) {
			int64_t part = l < extent ? l : extent;
			bool same = count > 0 && axis[count - 1] == k && size[count - 1] == part;
			if (extent < 2 || same || count == KNOB_OPTIONS || (reduce && (extent % l != 0 || extent < 2 * l)))
				continue;
			axis[count] = k;
			size[count] = part;
			int best = t->uniform >= 0 ? t->uniform : side >= 0 ? t->nest->axis_of[side] : NONE;
			bool along = !reduce && best == k;
			if (along && (!divides || extent % part == 0)) { /* the longest part that divides, else the longest */
				divides |= extent % part == 0 && part >= TMPL_PROMISING_LANES;
				first = count;
			}
			option[count++] = (KnobOption){ .kind = KNOB_PART, .part = { name, part } };
		}
	}
	int picked = count > 0 ? sketch_knob(t->s, knob(t, "vector", NULL), option, count, first) : NONE;
	sketch_opens(t->s);
	t->lanes = picked >= 0 ? size[picked] : 1;
	t->vectors = 1;
	int spatial = t->nest->spatial;
	t->vector = picked >= 0 && axis[picked] < spatial ? axis[picked] : NONE;
	t->partial = picked >= 0 && axis[picked] >= spatial ? axis[picked] - spatial : NONE;
	if (t->vector < 0)
		return;
	int64_t vectors[TMPL_MOST_VECTORS], extent = t->x[t->vector].extent;
	int n = 0;
	for (int64_t v = 1; v <= TMPL_MOST_VECTORS && (v - 1) * t->lanes < extent; v++)
		vectors[n++] = v;
	first = t->uniform < 0 && extent % (2 * t->lanes) == 0;
	for (int k = 0; k < n && lone_axis(t->nest) == t->vector; k++)
		first = tile_wastes_little(extent, vectors[k] * t->lanes) ? k : first;
	t->vectors = ask_number(t, "vectors", NULL, vectors, n, first);
	t->x[t->vector].tile = t->lanes * t->vectors;
	if (t->x[t->vector].tile > t->x[t->vector].extent)
		t->x[t->vector].tile = t->x[t->vector].extent;
}

/*
 * The default tile among `size`: the longest divisor up to TMPL_NEST_FIRST. Where lanes skip zeros together it has
 * whole steps, since which taps are zeros is the same in each tile then. If divisors of whole steps are shorter, the
 * next longer one; else whole steps that leave a shorter tile at the end.
 */
static int first_tile(const int64_t *size, int n, int64_t extent, int64_t step)
{
	int divisor = 0, any = 0;
	for (int k = 0; k < n; k++) {
		if (size[k] % step != 0)
			continue;
		bool more = size[k] <= TMPL_NEST_FIRST || (step > 1 && size[divisor] < TMPL_NEST_FIRST);
		divisor = more && extent % size[k] == 0 ? k : divisor;
		any = size[k] <= TMPL_NEST_FIRST ? k : any;
	}
	return step > 1 && size[any] > size[divisor] ? any : divisor;
}

/* Tiles of the other axes, the last ones first: all of their vectors are sums, which registers hold. */
static void ask_tiles(LoopTile *t)
{
	int64_t room = (tile_registers(t->s) - t->vectors - 1) / t->vectors;
	int64_t step = t->uniform >= 0 ? step_of(t->nest) : 1;
	int asked = 0;
	for (int k = t->n - 1; k >= 0 && asked < TMPL_NEST_TILED; k--) {
		int64_t option[KNOB_OPTIONS], extent = t->x[k].extent;
		int n = 0;
		if (k == t->vector || extent < 2)
			continue;
		for (int64_t size = 1; size <= extent && size <= room && n < KNOB_OPTIONS; size++)
			if (extent % size == 0 || tile_wastes_little(extent, size))
				option[n++] = size;
		t->x[k].tile = ask_number(
			t, "tile", t->x[k].own, option, n, asked == 0 ? first_tile(option, n, extent, step) : 0);
		room /= t->x[k].tile;
		asked++;
	}
}

static int64_t tiles_of(const Spatial *x)
{
	return ceil_div(x->extent, x->tile);
}

/* How many tiles of each axis are a block: powers of two that leave whole blocks, or all. */
static void ask_blocks(LoopTile *t)
{
	bool any = false;
	for (int k = 0; k < t->n; k++) {
		Spatial *x = &t->x[k];
		int64_t option[KNOB_OPTIONS], tiles = tiles_of(x);
		int n = 0;
		if (tiles < 2 || sketch_room(t->s) < TMPL_NEST_REST)
			continue;
		option[n++] = 1;
		for (int64_t b = 2; b < tiles && n < TMPL_NEST_BLOCKS; b *= 2)
			if (x->extent % (x->tile * b) == 0)
				option[n++] = b;
		option[n++] = tiles;
		x->block = ask_number(t, "block", x->own, option, n, 0);
		any |= x->block > 1;
	}
	int64_t bytes = bytes_of(t->nest->made->type);
	for (int k = 0; k < t->n; k++)
		bytes *= t->x[k].tile * t->x[k].block;
	static const char *const word[] = { "tile", "block" };
	if (any && t->partial < 0 && bytes <= TMPL_NEST_LOCAL)
		t->in_blocks = sketch_word(t->s, knob(t, "sums", NULL), word, 2, 0) == 1;
	sketch_opens(t->s);
}

/* Multiply-adds of a body that is written out once: each shorter tile at an axis's end is a copy of it. */
static int64_t most_body(const LoopTile *t)
{
	int copies = 1;
	for (int k = 0; k < t->n; k++)
		copies += t->x[k].extent % t->x[k].tile != 0;
	return TMPL_BODY / copies;
}

static int64_t sums_of(const LoopTile *t)
{
	int64_t sums = t->vectors;
	for (int k = 0; k < t->n; k++)
		sums *= k == t->vector ? 1 : t->x[k].tile;
	return sums;
}

static void ask_reduce(LoopTile *t)
{
	int64_t option[KNOB_OPTIONS], extent;
	const char *word[BLOCK_AXES];
	int n = 0, long_ = 0;
	for (int k = 0; k < t->nreduce; k++) {
		long_ = t->r[k].extent > t->r[long_].extent ? k : long_;
		word[k] = t->r[k].name;
	}
	t->deep = long_;
	t->depth = t->r[long_].extent;
	for (int64_t d = TMPL_NEST_DEPTH; t->in_blocks && d < t->depth && n < TMPL_NEST_BLOCKS; d *= 2)
		if (t->r[long_].extent % d == 0)
			option[n++] = d;
	option[n++] = t->r[long_].extent;
	t->depth = ask_number(t, "depth", NULL, option, n, n - 1);
	t->inner = t->partial >= 0 ? t->partial
		: sketch_word(t->s, knob(t, "inner", NULL), word, t->nreduce, t->nreduce - 1);
	sketch_opens(t->s);
	extent = t->inner == t->deep ? t->depth : t->r[t->inner].extent;
	extent = t->partial >= 0 ? extent / t->lanes : extent;
	int64_t sums = sums_of(t), body = most_body(t);
	n = 0;
	for (int64_t u = 1; u <= extent && u <= TMPL_DENSE_MOST_STEPS && (u == 1 || u * sums <= body); u *= 2)
		if (extent % u == 0)
			option[n++] = u;
	if (extent <= TMPL_SHORT_LOOP && extent * sums <= body && option[n - 1] != extent)
		option[n++] = extent;
	t->steps = ask_number(t, "steps", NULL, option, n, n > 2 ? 2 : n - 1);
}

int loop_tile_several(const LoopTile *t, bool tiles, int *axes)
{
	int n = 0;
	for (int k = 0; k < t->n; k++)
		if (tiles ? t->x[k].block > 1 : ceil_div(t->x[k].extent, t->x[k].tile * t->x[k].block) > 1)
			axes[n++] = k;
	return n;
}

static void ask_order(LoopTile *t)
{
	int axes[BLOCK_AXES];
	int n = loop_tile_several(t, false, axes);
	t->first = ask_axis(t, "outermost", axes, n);
	n = loop_tile_several(t, true, axes);
	for (int k = 0; k < n / 2; k++) { /* the default keeps the order */
		int x = axes[k];
		axes[k] = axes[n - 1 - k];
		axes[n - 1 - k] = x;
	}
	t->last = ask_axis(t, "innermost", axes, n);
}

int64_t loop_tile_part(const LoopTile *t, const Operand *o, int d)
{
	int k = o->axis[d];
	if (k < 0)
		return 1;
	if (k < t->nest->spatial) {
		int64_t part = t->x[k].tile * t->x[k].block;
		return part < t->x[k].extent ? part : t->x[k].extent;
	}
	k -= t->nest->spatial;
	return k == t->deep ? t->depth : t->r[k].extent;
}

static bool is_read_once(const BlockSet *set, const BlockNest *n, const char *buf)
{
	int axis[IR_MAX_RANK];
	bool plain;
	for (int j = 0; j < set->n; j++)
		if (&set->nest[j] != n && (set->nest[j].stmt == NULL || block_reads(&set->nest[j], buf, &plain, axis)))
			return false;
	return true;
}

/*
 * Which operand is packed: one that the nest reads element by element. A constant is packed in the order of tiles of
 * lanes; of others the part that a block reads is copied.
 */
static void ask_copy(LoopTile *t, const BlockSet *set)
{
	Operand o[KNOB_OPTIONS];
	const char *word[KNOB_OPTIONS] = { "none" };
	int n = 1, first = 0, outer[BLOCK_AXES];
	bool blocks = loop_tile_several(t, false, outer) > 0;
	for (int i = 0; i < set->fn->nparam && n < KNOB_OPTIONS; i++) {
		const Buf *b = set->fn->param[i].buf;
		bool plain, lanes = false;
		int64_t size = 1;
		o[n] = (Operand){ .buf = b };
		if (b == NULL || b->map.n > 0 || (b->role != BUF_IN && b->role != BUF_CONST) || b->rank < 1 ||
			!block_reads(t->nest, b->name, &plain, o[n].axis) || !plain)
			continue;
		for (int d = 0; d < b->rank; d++) {
			lanes |= t->vector >= 0 && o[n].axis[d] == t->vector;
			size *= loop_tile_part(t, &o[n], d);
		}
		if (b->role == BUF_CONST && (!lanes || b->rank < 2 || !is_read_once(set, t->nest, b->name)))
			continue;
		if (b->role == BUF_IN && (!blocks || size < 2 || size > TMPL_NEST_COPY))
			continue;
		if (lanes && first == 0 && o[n].axis[b->rank - 1] != t->vector)
			first = n; /* its lanes lie apart */
		word[n++] = b->name;
	}
	int picked = sketch_word(t->s, knob(t, "pack", NULL), word, n, first);
	sketch_opens(t->s);
	t->copy = o[picked];
	t->packs = picked > 0 && o[picked].buf->role == BUF_CONST;
	t->copies = picked > 0 && !t->packs;
	const Buf *b = t->copy.buf;
	t->turns = t->copies && t->vector >= 0 && t->copy.axis[b->rank - 1] != t->vector;
}

/* Which packed constants are prefetched: those so many iterations of the innermost reduce loop on. */
static void ask_ahead(LoopTile *t)
{
	static const int64_t far[] = { 0, 1, 2, 4, 8, 16 };
	int64_t extent = t->inner == t->deep ? t->depth : t->r[t->inner].extent;
	bool moves = false;
	int n = 0;
	for (int d = 0; t->packs && d < t->copy.buf->rank; d++)
		moves |= t->copy.axis[d] == t->nest->spatial + t->inner;
	while (moves && n < (int)(sizeof far / sizeof *far) && far[n] < extent / t->steps)
		n++;
	t->ahead = n > 1 ? ask_number(t, "ahead", NULL, far, n, 0) : 0;
}

static void ask_shares(LoopTile *t)
{
	int64_t option[BLOCK_AXES];
	int axes[BLOCK_AXES], n = loop_tile_several(t, false, axes), count = 0;
	for (int k = 1; k <= n && k <= TMPL_NEST_SHARED; k++)
		option[count++] = k;
	t->shares = t->s->target->threads > 1 && count > 0 ? (int)ask_number(t, "share", NULL, option, count, 0) : 0;
}

static void ask_taps(LoopTile *t)
{
	int k = t->nreduce - 1;
	k -= k == t->inner;
	if (k >= 0 && k != t->deep && t->r[k].extent > 1 && t->r[k].extent <= TMPL_SHORT_LOOP &&
		t->r[k].extent * t->steps * sums_of(t) <= most_body(t))
		t->taps = sketch_flag(t->s, knob(t, "taps", NULL), true);
	t->skips = t->nest->selects && sketch_flag(t->s, knob(t, "skip", NULL), t->uniform >= 0 && t->vector == t->uniform);
}

/* Elementwise nests that the reduction alone reads; *once: it reads each of their elements once. How many. */
static int read_before(const BlockSet *set, const BlockNest *nest, int *before, bool *once)
{
	int n = 0;
	*once = true;
	for (int j = 0; j < set->n && &set->nest[j] < nest; j++) {
		const BlockNest *p = &set->nest[j];
		if (p->block == NULL || !p->maps || p->done || p->inlined || p->made->role != BUF_WORK ||
			p->nodes + nest->nodes > TMPL_BLOCK_NODES)
			continue;
		int reader = block_reader(set, j);
		if (reader < 0 || &set->nest[reader] != nest)
			continue;
		before[n++] = j;
		*once &= block_outputs(p) == block_outputs(nest) * block_folded(nest);
	}
	return n;
}

static void inline_before(LoopTile *t, BlockSet *set)
{
	int before[BLOCK_NESTS];
	bool once;
	int n = read_before(set, t->nest, before, &once);
	bool inlines = n > 0 && sketch_flag(t->s, knob(t, "inline", NULL), once);
	sketch_opens(t->s); /* nests that are not inlined have knobs of their own */
	if (!inlines)
		return;
	for (int k = 0; k < n; k++) {
		sketch_step(t->s, "inline %s", set->nest[before[k]].block);
		set->nest[before[k]].done = true;
	}
}

bool loop_tile_likely(const Sketch *s, const BlockSet *set, int at)
{
	const BlockNest *n = &set->nest[at];
	int before[BLOCK_NESTS];
	bool once;
	if (step_of(n) > 1 && uniform_axis(set, n, target_lanes(s->target, n->made->type)) >= 0)
		return true;
	int lone = lone_axis(n), lanes = target_lanes(s->target, n->made->type);
	if (lone >= 0 && n->axis[lone].extent >= 2 * lanes && !target_has_blocks(s->target) &&
		block_traffic(set, n, lone) >= (double)(block_outputs(n) * block_folded(n)))
		return true;
	return read_before(set, n, before, &once) > 0 && once;
}

LoopTile loop_tile_ask(Sketch *s, BlockSet *set, int at)
{
	LoopTile t = read_nest(s, set, at);
	inline_before(&t, set);
	sketch_group(s);
	ask_vector(&t);
	ask_tiles(&t);
	ask_blocks(&t);
	ask_reduce(&t);
	ask_order(&t);
	ask_copy(&t, set);
	ask_ahead(&t);
	ask_taps(&t);
	ask_shares(&t);
	sketch_group_end(s);
	return t;
}
