/*
 * Elementwise nests that turn a tensor: neighbours of what is stored lie far apart in what is read. A block copies a
 * square of the input to shared memory row by row, and stores it column by column, so that both meet neighbours; a
 * gap behind each row of the copy lets a column lie in different banks.
 *
 *	for square grid.x {
 *		for i block.y { for j block.x { for i.o { copy[i, j] = t[i, j] } } }
 *		for j block.y { for i block.x { for j.o { y[j, i] = f(copy[i, j]) } } }
 *	}
 */
#include "schedule/template/block.h"

#include "ir/arg.h"

#include <string.h>

/* A tensor that is read along another axis than the nest stores. */
typedef struct Turned {
	const Buf *of;
	int side, other; /* dimensions of it: where its elements lie side by side, and where those that are stored do */
	int from, to;    /* the axes of the nest that move along these */
} Turned;

typedef struct Search {
	const BlockSet *set;
	const BlockNest *reader; /* the nest, or one inlined into it */
	int root;
	const int *axis_of; /* axes of the root by the reader's; NULL: it is the root */
	Turned *out;
} Search;

/* Whether the reader's loads of the buffer are the root's elements in another order. */
static bool is_turned(const Search *x, const Buf *b)
{
	const BlockNest *n = &x->set->nest[x->root];
	int axis[IR_MAX_RANK], to = n->axis_of[tile_side(n->made)];
	bool plain;
	if ((b->role != BUF_IN && b->role != BUF_CONST) || !block_reads(x->reader, b->name, &plain, axis) || !plain ||
		ir_buf_elements(b, NULL, 0) != block_outputs(n) || tile_side(b) < 0 || block_digit(b) > 0)
		return false;
	Turned t = { .of = b, .side = tile_side(b), .other = -1, .from = -1, .to = to };
	for (int d = 0; d < b->rank; d++) {
		int at = axis[d] >= 0 && x->axis_of != NULL ? x->axis_of[axis[d]] : axis[d];
		t.from = d == t.side ? at : t.from;
		t.other = at == to ? d : t.other;
	}
	*x->out = t;
	return t.from >= 0 && t.other >= 0 && t.from != to && n->axis[t.from].extent >= TMPL_TURN_LEAST &&
		n->axis[to].extent >= TMPL_TURN_LEAST;
}

static bool find_turned(const BlockSet *set, int root, Turned *out)
{
	const BlockNest *n = &set->nest[root];
	if (n->made == NULL || !n->maps || !n->whole || tile_side(n->made) < 0 || block_digit(n->made) > 0)
		return false;
	for (int j = 0; j <= root; j++) {
		int axis[IR_MAX_RANK], axis_of[BLOCK_AXES];
		const BlockNest *reader = &set->nest[j];
		if (j != root && (!reader->inlined || block_root(set, j, axis) != root))
			continue;
		for (int k = 0; j != root && k < reader->n; k++) {
			axis_of[k] = -1;
			for (int d = 0; d < reader->made->rank; d++)
				axis_of[k] = reader->axis_of[d] == k ? axis[d] : axis_of[k];
		}
		Search x = { set, reader, root, j != root ? axis_of : NULL, out };
		for (int p = 0; p < set->fn->nparam; p++)
			if (set->fn->param[p].buf != NULL && is_turned(&x, set->fn->param[p].buf))
				return true;
	}
	return false;
}

/* Sides of a square; 1: none. A block has a quarter as many rows of threads, and each thread four elements. */
static int64_t choose_square(Sketch *s, const BlockNest *n, const Turned *t)
{
	int64_t option[KNOB_OPTIONS] = { 1 }, most = block_most_threads(s->target);
	int64_t bytes = dtype_bytes(t->of->type, 1);
	int count = 1;
	for (int64_t side = TMPL_TURN_LEAST; side <= TMPL_TURN_MOST; side *= 2)
		if (side <= n->axis[t->from].extent && side <= n->axis[t->to].extent && side * side / TMPL_TURN_EACH <= most &&
			side * (side + 1) * bytes <= device_shared(s->target))
			option[count++] = side;
	return sketch_number(s, arena_printf(s->arena, "%s.square", n->block), option, count, count - 1);
}

static void turn_steps(Sketch *s, const BlockNest *n, const Turned *t, int64_t side)
{
	const char *from = n->axis[t->from].loop, *to = n->axis[t->to].loop;
	const char *copy = arena_printf(s->arena, "%s.c", t->of->name);
	int64_t rows = side / TMPL_TURN_EACH;
	Text outer = { .arena = s->arena }, line = { .arena = s->arena };
	sketch_step(s, "split %s %lld", from, (long long)side);
	sketch_step(s, "split %s %lld", to, (long long)side);
	const char *grid[BLOCK_AXES];
	int count = 0;
	for (int k = 0; k < n->n; k++)
		if (k != t->from && k != t->to)
			grid[count++] = n->axis[k].loop;
	grid[count++] = arena_printf(s->arena, "%s.o", from);
	grid[count++] = arena_printf(s->arena, "%s.o", to);
	for (int k = 0; k < count; k++)
		text_add(&outer, " %s", grid[k]);
	sketch_step(s, "reorder%s %s.i %s.i", text_str(&outer), from, to);
	sketch_step(s, "cache_read %s %s %s", t->of->name, n->block, grid[count - 1]);
	sketch_step(s, "split %s.i %lld", from, (long long)rows);
	sketch_step(s, "reorder %s.i.i %s.i %s.i.o", from, to, from);
	sketch_step(s, "split %s.%d %lld", copy, t->other, (long long)rows);
	for (int d = 0; d < t->of->rank; d++)
		if (d != t->side && d != t->other)
			text_add(&line, " %s.%d", copy, d);
	sketch_step(s, "reorder%s %s.%d.i %s.%d %s.%d.o", text_str(&line), copy, t->other, copy, t->side, copy, t->other);
	const char *block = grid[0];
	for (int k = 1; k < count; k++) {
		sketch_step(s, "fuse %s %s", block, grid[k]);
		block = arena_printf(s->arena, "%s_%s", block, grid[k]);
	}
	sketch_step(s, "bind %s grid.x", block);
	sketch_step(s, "scope %s shared", copy);
	sketch_step(s, "gap %s %d 1", copy, t->side + 1);
	sketch_step(s, "bind %s.%d.i block.y", copy, t->other);
	sketch_step(s, "bind %s.%d block.x", copy, t->side);
	sketch_step(s, "bind %s.i.i block.y", from);
	sketch_step(s, "bind %s.i block.x", to);
}

bool block_turn(Sketch *s, const BlockSet *set, int root)
{
	Turned t;
	if (sketch_room(s) < 1 || !find_turned(set, root, &t))
		return false;
	int64_t side = choose_square(s, &set->nest[root], &t);
	sketch_opens(s);
	if (side > 1)
		turn_steps(s, &set->nest[root], &t, side);
	return side > 1;
}
