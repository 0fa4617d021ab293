/*
 * The generated space: what can be done with any nest of loops, whatever operator it came from.
 * For each nest over one block: which spatial loop becomes the vector and how wide, which other
 * spatial loop is tiled and by how much, whether the tile lies inside or outside the reduction,
 * and what is unrolled.  It knows loops and iterator kinds, no operator.
 *
 *	for spatial.. { for reduce.. { for tile.i { for vec.i vector { block }}}}     order inside
 *	for spatial.. { for tile.i { for reduce.. { for vec.i vector { block }}}}     order outside
 */
#include "schedule/template/tile.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <stdio.h>
#include <string.h>

enum { LOOPS = 12, CODE = 1000, LANES = 64 };

typedef struct Axis {
	const char *name;
	int64_t extent;
	bool reduce;
} Axis;

/* A nest whose loops may be reordered: constant extents, one block, plain iterators. */
typedef struct Nest {
	const char *block;
	int n;
	Axis axis[LOOPS];
	int bits; /* of the widest element it stores */
	int side; /* the axis along which these lie side by side; -1: none */
} Nest;

static int widest_store(const Fn *fn, const Stmt *s)
{
	int bits = 8;
	for (; s != NULL; s = s->next) {
		const Buf *b = NULL;
		if (s->kind == ST_STORE)
			b = ir_find_buf(fn, s->store.dst.buf);
		else if (s->kind == ST_REDUCE)
			b = ir_find_buf(fn, s->reduce.dst[0].buf);
		if (b != NULL && b->type.bits > bits)
			bits = b->type.bits;
	}
	return bits;
}

static const Access *stored(const Stmt *s)
{
	for (; s != NULL; s = s->next) {
		if (s->kind == ST_STORE)
			return &s->store.dst;
		if (s->kind == ST_REDUCE)
			return &s->reduce.dst[0];
	}
	return NULL;
}

/* The axis of the nest that moves along there. */
static int side_axis(const Fn *fn, const Stmt *block, const Nest *n)
{
	const Access *dst = stored(block->block.body);
	const Buf *b = dst != NULL ? ir_find_buf(fn, dst->buf) : NULL;
	int d = b != NULL ? tile_side(b) : -1;
	for (int i = 0; d >= 0 && i < block->block.n; i++)
		for (int k = 0; k < n->n; k++)
			if (ir_uses_var(dst->idx[d], block->block.iter[i].name) &&
				ir_uses_var(block->block.iter[i].value, n->axis[k].name))
				return k;
	return -1;
}

static bool read_nest(const Fn *fn, const Stmt *s, Nest *out)
{
	*out = (Nest){ 0 };
	const Stmt *l = s;
	for (; l != NULL && l->kind == ST_FOR; l = l->loop.body) {
		int64_t lo, hi;
		if (out->n == LOOPS || (l != s && l->next != NULL) || l->loop.kind != LOOP_SERIAL ||
			!ir_is_int(l->loop.lo, &lo) || !ir_is_int(l->loop.hi, &hi) || lo != 0)
			return false;
		out->axis[out->n++] = (Axis){ l->loop.var, hi, false };
	}
	if (out->n == 0 || l == NULL || l->kind != ST_BLOCK || l->next != NULL)
		return false;
	out->block = l->block.name;
	out->side = side_axis(fn, l, out);
	out->bits = widest_store(fn, l->block.body);
	for (int i = 0; i < l->block.n; i++)
		for (int k = 0; k < out->n; k++)
			if (ir_uses_var(l->block.iter[i].value, out->axis[k].name)) {
				if (l->block.iter[i].kind == ITER_SCAN)
					return false;
				out->axis[k].reduce |= l->block.iter[i].kind == ITER_REDUCE;
			}
	return true;
}

/* An option is an axis and a number: axis * CODE + number; 0 is "none". */
static int64_t knob(Sketch *s, const Nest *n, const char *what, const int64_t *option, int count, int first)
{
	return sketch_knob(s, arena_printf(s->arena, "%s.%s", n->block, what), option, count, first);
}

/*
 * How good a vector of `part` lanes along an axis looks before anything is known: that along which
 * results lie side by side is best, then the later ones; a part that divides the extent needs no masks (whose stores are not forwarded to the
 * next load), and a full register beats a part of one.
 */
static int64_t vector_promise(const Nest *n, int k, int64_t part, int64_t lanes)
{
	const Axis *x = &n->axis[k];
	if (part > lanes || (part < 4 && part < lanes))
		return 0;
	return (k == n->side ? LOOPS + 1 : k + 1) * CODE * 2 + (x->extent % part == 0 ? CODE : 0) + part;
}

static int64_t choose_vector(Sketch *s, const Nest *n)
{
	int64_t option[KNOB_OPTIONS] = { 0 }, best = 0;
	int count = 1, first = 0;
	int64_t lanes = s->target->vector_bits / n->bits, least = lanes < 8 ? 2 : lanes / 4;
	for (int k = 0; k < n->n; k++) {
		const Axis *x = &n->axis[k];
		if (x->reduce || x->extent < 2)
			continue;
		for (int64_t l = least; l <= lanes * 2 && l <= LANES; l *= 2) {
			int64_t part = l < x->extent ? l : x->extent;
			if (count == KNOB_OPTIONS || option[count - 1] == k * CODE + part)
				continue;
			option[count] = k * CODE + part;
			if (vector_promise(n, k, part, lanes) > best) {
				best = vector_promise(n, k, part, lanes);
				first = count;
			}
			count++;
		}
	}
	return knob(s, n, "vector", option, count, first);
}

static int64_t choose_tile(Sketch *s, const Nest *n)
{
	static const int64_t size[] = { 2, 4, 6, 8 };
	int64_t option[KNOB_OPTIONS] = { 0 };
	int count = 1;
	for (int k = 0; k < n->n; k++)
		for (size_t i = 0; i < sizeof size / sizeof *size; i++)
			if (!n->axis[k].reduce && size[i] <= n->axis[k].extent && count < KNOB_OPTIONS)
				option[count++] = k * CODE + size[i];
	return knob(s, n, "tile", option, count, 0);
}

/* Splits an axis unless the part is all of it; gives the name of the inner loop. */
static const char *take_part(Sketch *s, const Axis *x, int64_t part)
{
	if (part >= x->extent)
		return x->name;
	sketch_step(s, "split %s %lld", x->name, (long long)part);
	return arena_printf(s->arena, "%s.i", x->name);
}

static void schedule_nest(Sketch *s, const Nest *n)
{
	static const int64_t flag[] = { 0, 1 };
	int64_t vec = choose_vector(s, n), tile = choose_tile(s, n);
	bool tile_outside = knob(s, n, "order", flag, 2, 0) != 0, unroll = knob(s, n, "unroll", flag, 2, 1) != 0;
	int v = vec != 0 ? (int)(vec / CODE) : -1, t = tile != 0 ? (int)(tile / CODE) : -1;
	if (t == v)
		t = -1;
	const char *vector = v >= 0 ? take_part(s, &n->axis[v], vec % CODE) : NULL;
	const char *tiled = t >= 0 ? take_part(s, &n->axis[t], tile % CODE) : NULL;
	const char *order[LOOPS + 4], *last_reduce = NULL, *outer = NULL;
	int count = 0, reduces = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (int k = 0; k < n->n; k++) {
			const Axis *x = &n->axis[k];
			int64_t part = k == v ? vec % CODE : k == t ? tile % CODE : 0;
			if (x->reduce != (pass == 1) || (part != 0 && part >= x->extent))
				continue;
			order[count++] = part != 0 ? arena_printf(s->arena, "%s.o", x->name) : x->name;
			if (!x->reduce && outer == NULL && x->extent > 1)
				outer = order[count - 1];
			if (x->reduce && x->extent <= 8)
				last_reduce = x->name;
			reduces += x->reduce;
		}
		if (tiled != NULL && (pass == 0) == tile_outside)
			order[count++] = tiled;
	}
	if (vector != NULL)
		order[count++] = vector;
	if (count > 1) {
		Text line = { .arena = s->arena };
		for (int k = 0; k < count; k++)
			text_add(&line, " %s", order[k]);
		sketch_step(s, "reorder%s", text_str(&line));
	}
	if (unroll && tiled != NULL)
		sketch_step(s, "unroll %s", tiled);
	if (unroll && last_reduce != NULL && reduces != 0)
		sketch_step(s, "unroll %s", last_reduce);
	if (vector != NULL)
		sketch_step(s, "vectorize %s", vector);
	if (s->target->threads > 1 && outer != NULL)
		sketch_step(s, "parallel %s", outer);
}

/* A nest that cannot be scheduled stays as it is: that is legal. */
bool sketch_loops(Sketch *s)
{
	for (size_t i = 0; i < s->naive->n; i++)
		for (const Stmt *top = s->naive->fn[i]->body; top != NULL; top = top->next) {
			Nest n;
			if (s->naive->fn[i]->kind == FN_RUN && read_nest(s->naive->fn[i], top, &n))
				schedule_nest(s, &n);
		}
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
	return target->kind == TARGET_CPU;
}

const Template tmpl_loops = { "loops", "vector, tile, order and unroll of any loop nest", applies,
	run };

