/*
 * Dense layers and matrix products: lanes along the columns of the result, a tile of rows times
 * vectors of columns, the whole inner dimension with the tile's sums in registers. The constant
 * weights of a dense layer are packed into panels as wide as a vector.
 */
#include "schedule/template/device.h"

#include "op/op.h"

#include <math.h>

static bool applies(const Task *task, const Target *target)
{
	const OpCall *c = tile_anchor(task->dag);
	return device_lone(target) && c != NULL && (c->op == OP_dense || c->op == OP_matmul);
}

/* The axis of rows: batches of a product have factors of their own, those of a dense layer are rows as well. */
static int rows_of(const Tiled *t, const OpCall *c)
{
	int rows = t->n - 2;
	for (int k = t->n - 3; k >= 0 && c->op == OP_dense; k--)
		rows = t->axis[k].extent > t->axis[rows].extent ? k : rows;
	return rows;
}

/*
 * Columns outside, so that a panel of weights serves all rows, and where all batches have the same weights, all of
 * them; or rows.
 */
static void choose_order(Sketch *s, const Tiled *t, const OpCall *c, Tile *tile)
{
	static const char *const name[] = { "weights", "row" };
	int axis[TILE_AXES], loops = tile_outer(t, tile, axis), columns = tile->vector, others = 0;
	int first = c->op == OP_dense ? 0 : tile->pixel; /* of the axes that a panel serves */
	bool wide = false;
	for (int k = 0; k < loops; k++) {
		wide |= axis[k] == columns;
		others += axis[k] != columns && axis[k] >= first && t->out[axis[k]].extent > 1;
	}
	if (sketch_word(s, "order", name, wide && others > 0 ? 2 : 1, 0) != 0)
		return;
	for (int k = columns; k > first; k--)
		tile->outer[k] = tile->outer[k - 1];
	tile->outer[first] = columns;
}

/*
 * Weights come from memory. Where a panel serves so many rows that its arithmetic takes longer than the next panel
 * takes to come, a tile asks for that one. Else memory decides, and gives more where its order is kept.
 */
static Ahead guess_ahead(const Sketch *s, const Tiled *t)
{
	const Core *core = &s->target->core;
	double rows = 1, line = (double)s->target->line_bytes, vectors = line * 8 / fmax(s->target->vector_bits, 1);
	for (int k = 0; k + 1 < t->n; k++)
		rows *= (double)t->axis[k].extent;
	double arithmetic = rows * vectors / core->fma_rate, memory = line / core->level[TARGET_CACHES];
	return arithmetic >= TMPL_DENSE_HIDES * memory ? AHEAD_TILE : AHEAD_STREAM;
}

/* The inner dimension, some steps of it written out; the turns of its loop. */
static int64_t choose_unroll(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t option[KNOB_OPTIONS];
	int first = 0;
	int n = tile_unrolls(
		t->reduce[0].extent, tile->vectors * tile->pixels, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option);
	for (int k = 0; k < n; k++)
		first = option[k] == TMPL_DENSE_STEPS ? k : first;
	int64_t unroll = sketch_number(s, "unroll", option, n, first);
	if (unroll == 1)
		return t->reduce[0].extent;
	const char *name = t->reduce[0].name;
	text_add(&tile->splits, "split %s %lld\n", name, (long long)unroll);
	text_add(&tile->unrolls, "unroll %s.i\n", name);
	tile->reduce[0] = arena_printf(s->arena, "%s.o", name);
	tile->reduce[tile->nreduce++] = arena_printf(s->arena, "%s.i", name);
	return (t->reduce[0].extent + unroll - 1) / unroll;
}

/* The layout of a matrix, behind its batches, with vectors of rows side by side. NULL: it has too many dimensions. */
static const char *panels(Sketch *s, int rank, int64_t lanes)
{
	static const struct {
		const char *letters;
		char row; /* of the last but one */
	} by_rank[] = { [2] = { "NC", 'n' }, [3] = { "NCW", 'c' }, [4] = { "NCHW", 'h' }, [5] = { "NCDHW", 'h' } };
	if (rank < 2 || rank >= (int)(sizeof by_rank / sizeof *by_rank))
		return NULL;
	return arena_printf(s->arena, "%s%lld%c", by_rank[rank].letters, (long long)lanes, by_rank[rank].row);
}

/*
 * The rows of the second operand of a product with its transpose are columns of the result. Their elements are strided,
 * so a tile of columns first copies its rows, which pays for more rows than one tile has.
 */
static void choose_copy(Sketch *s, const Tiled *t, const OpCall *c, Tile *tile)
{
	const Value *b = &s->task->dag->value.at[c->in[1]];
	int64_t width = tile->lanes * tile->vectors, rows = t->axis[tile->pixel].extent;
	const char *layout = panels(s, b->shape.rank, tile->lanes);
	bool turned = c->op == OP_matmul && op_int(c, "tb") != 0;
	if (!turned || b->kind != VALUE_INPUT || layout == NULL || t->axis[tile->vector].extent <= width ||
		width * t->reduce[0].extent > CACHE_READ_ELEMENTS || tile->outer[tile->pixel] != tile->vector)
		return;
	if (!sketch_flag(s, "copy", rows > tile->pixels))
		return;
	tile->copy = b->name;
	tile->layout = layout;
}

static bool run(Sketch *s, Err *err)
{
	const Dag *d = s->task->dag;
	const OpCall *c = tile_anchor(d);
	const Value *w = &d->value.at[c->in[1]];
	Tiled t;
	(void)err;
	if (!tiled_read(s, c, &t) || t.n < 2 || t.nreduce != 1 || tiled_contiguous(&t) != t.n - 1)
		return sketch_loops(s);
	Tile tile = tile_new(s, &t);
	tile.vector = t.n - 1;
	tile.pixel = rows_of(&t, c);
	int64_t columns = t.axis[tile.vector].extent, rows = t.axis[tile.pixel].extent;
	tile.lanes = tile_lanes(s, &t, columns);
	sketch_group(s);
	tile_knob(s, (columns + tile.lanes - 1) / tile.lanes, rows, &tile);
	choose_order(s, &t, c, &tile);
	int64_t turns = choose_unroll(s, &t, &tile);
	if (c->op == OP_dense && w->kind == VALUE_CONST) {
		tile.pack = w->name;
		tile.layout = arena_printf(s->arena, "OI%lldo", (long long)tile.lanes);
		tile.stream = tile.reduce[0];
		tile.far = TMPL_FAR * turns > t.reduce[0].extent ? TMPL_FAR * turns / t.reduce[0].extent : 1;
		tile_ahead(s, &t, &tile, turns, guess_ahead(s, &t));
	}
	sketch_group_end(s);
	choose_copy(s, &t, c, &tile);
	tile.first = t.selects;
	tile.last = rows % tile.pixels != 0;
	tile_steps(s, &t, &tile);
	return true;
}

const Template tmpl_dense = { .name = "dense",
	.doc = "register tiles of rows and vectors of columns",
	.applies = applies,
	.run = run };
