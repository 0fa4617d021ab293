/*
 * Dense layers and matrix products: lanes along the columns of the result, a tile of rows times
 * vectors of columns, the whole inner dimension with the tile's sums in registers. The constant
 * weights of a dense layer are packed into panels as wide as a vector.
 *
 * Each panel meets all rows of the input. Where these do not fit the second cache, the inner dimension is cut into
 * parts, outermost: a part of the rows stays there while its panels pass, and sums wait in the result, or in a buffer
 * of their own for what follows.
 */
#include "schedule/template/device.h"
#include "schedule/template/dot.h"
#include "schedule/template/panel.h"
#include "schedule/template/parts.h"

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
	int picked = sketch_word(s, "order", name, wide && others > 0 ? 2 : 1, 0);
	if (s->target->threads > 1)
		sketch_opens(s); /* loops that threads may share */
	if (picked != 0)
		return;
	for (int k = columns; k > first; k--)
		tile->outer[k] = tile->outer[k - 1];
	tile->outer[first] = columns;
}

/*
 * Weights come from memory. Where a panel serves so many rows that its arithmetic takes longer than the next panel
 * takes to come, a tile asks for that one. Else memory decides, and gives more where its order is kept; one row leaves
 * that to the hardware.
 */
static Ahead guess_ahead(const Sketch *s, const Tiled *t)
{
	const Core *core = &s->target->core;
	double rows = 1, line = (double)s->target->line_bytes, vectors = line * 8 / fmax(s->target->vector_bits, 1);
	for (int k = 0; k + 1 < t->n; k++)
		rows *= (double)t->axis[k].extent;
	if (rows == 1)
		return AHEAD_NONE;
	double arithmetic = rows * vectors / core->fma_rate, memory = line / core->level[TARGET_CACHES];
	return arithmetic >= TMPL_DENSE_HIDES * memory ? AHEAD_TILE : AHEAD_STREAM;
}

/* The innermost loop, `depth` long, some steps of it written out; its turns. */
static int64_t choose_unroll(Sketch *s, Tile *tile, int64_t depth)
{
	int64_t option[KNOB_OPTIONS];
	int first = 0;
	int n = tile_unrolls(depth, tile->vectors * tile->pixels, TMPL_DENSE_MOST_STEPS, TMPL_BODY, option);
	for (int k = 0; k < n; k++)
		first = option[k] == TMPL_DENSE_STEPS ? k : first;
	int64_t unroll = sketch_number(s, "unroll", option, n, first);
	if (unroll == 1)
		return depth;
	const char *name = tile->reduce[tile->nreduce - 1];
	text_add(&tile->splits, "split %s %lld\n", name, (long long)unroll);
	text_add(&tile->unrolls, "unroll %s.i\n", name);
	tile->reduce[tile->nreduce - 1] = arena_printf(s->arena, "%s.o", name);
	tile->reduce[tile->nreduce++] = arena_printf(s->arena, "%s.i", name);
	return (depth + unroll - 1) / unroll;
}

/*
 * The layout of a matrix, behind its batches: vectors of rows side by side, or all rows (lanes 0), its transpose. NULL:
 * it has too many dimensions.
 */
static const char *side_by_side(Sketch *s, int rank, int64_t lanes)
{
	static const struct {
		const char *letters, *turned;
		char row; /* of the last but one */
	} by_rank[] = { [2] = { "NC", "CN", 'n' }, [3] = { "NCW", "NWC", 'c' }, [4] = { "NCHW", "NCWH", 'h' },
		[5] = { "NCDHW", "NCDWH", 'h' } };
	if (rank < 2 || rank >= (int)(sizeof by_rank / sizeof *by_rank))
		return NULL;
	if (lanes == 0)
		return by_rank[rank].turned;
	return arena_printf(s->arena, "%s%lld%c", by_rank[rank].letters, (long long)lanes, by_rank[rank].row);
}

/*
 * The rows of the second operand of a product with its transpose are columns of the result. Their elements are strided,
 * so a tile of columns first copies its rows, which pays for more rows than one tile has. A tile of all columns does so
 * in the loop of batches. So do all tiles together where the first operand is the same tensor: they read all of it, and
 * tiles of rows may begin anywhere in a vector.
 */
static void choose_copy(Sketch *s, const Tiled *t, const OpCall *c, Tile *tile)
{
	const Value *b = &s->task->dag->value.at[c->in[1]];
	int64_t width = tile->lanes * tile->vectors, rows = t->axis[tile->pixel].extent;
	const char *layout = side_by_side(s, b->shape.rank, tile->lanes);
	bool turned = c->op == OP_matmul && op_int(c, "tb") != 0;
	bool batches = t->n > 2 && !target_has_blocks(s->target); /* a grid has all their loops */
	bool around = t->axis[tile->vector].extent > width || (batches && rows > tile->pixels);
	if (!turned || b->kind != VALUE_INPUT || layout == NULL || !around ||
		width * t->reduce[0].extent > CACHE_READ_ELEMENTS || tile->outer[tile->pixel] != tile->vector)
		return;
	if (!sketch_flag(s, "copy", rows > tile->pixels))
		return;
	/* Threads share batches, not what one of them copied. */
	tile->copy_all = c->in[0] == c->in[1] && rows * t->reduce[0].extent <= CACHE_READ_ELEMENTS &&
		!target_has_blocks(s->target) && (s->target->threads == 1 || tile->around > 1);
	tile->copy = b->name;
	tile->copied = b->shape.rank - 2;
	tile->layout = tile->copy_all ? side_by_side(s, b->shape.rank, 0) : layout;
}

/*
 * The length of a part of the inner dimension. By default all of it, where all rows fit half of the second cache; else
 * the longest that fits the cache with the sums; all of it if none does, or if a vector that is not full is a large
 * part of few columns: masks read and write its sums.
 */
static int64_t choose_depth(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t depth = t->reduce[0].extent, rows = 1, option[KNOB_OPTIONS], cache = target_cache(s->target, 2);
	const char *name = t->reduce[0].name;
	int first = 0, axis[TILE_AXES + 1];
	bool loops = tile_outer(t, tile, axis) > 1 && t->out[tile->vector].extent > tile->lanes * tile->vectors &&
	             t->out[tile->pixel].extent > tile->pixels && !target_has_blocks(s->target);
	for (int k = 0; k + 1 < t->n; k++)
		rows *= t->out[k].extent;
	int n = parts_lengths(depth, 1, TMPL_PART, option);
	int64_t columns = t->out[tile->vector].extent;
	bool whole = columns % tile->lanes == 0 || columns >= TMPL_DENSE_ODD * tile->lanes;
	for (int k = n - 1; k > 0 && whole && dtype_bytes(t->sum, rows * depth) * 2 > cache; k--) {
		int64_t bytes = dtype_bytes(t->sum, rows * (option[k] + columns));
		first = bytes * 4 <= cache * 3 ? k : first;
	}
	if (!loops)
		n = 1, first = 0;
	int64_t part = sketch_number(s, "depth", option, n, first);
	sketch_opens(s);
	if (part < depth) {
		text_add(&tile->splits, "split %s %lld\n", name, (long long)part);
		tile->reduce[0] = arena_printf(s->arena, "%s.o", name);
		tile->reduce[tile->nreduce++] = arena_printf(s->arena, "%s.i", name);
	}
	return part;
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
	int64_t columns = t.axis[t.n - 1].extent;
	Dot dot = c->op == OP_dense && t.nbefore == 0 ? dot_read(s, c, columns, t.reduce[0].extent) : (Dot){ NULL, 0 };
	bool bytes = dot.instruction != NULL;
	if (bytes)
		dot_cut(s, &dot, &t, 0);
	if (!bytes && tile_algorithm(s, &t, "direct"))
		return true;
	Tile tile = tile_new(s, &t);
	tile.vector = t.n - 1;
	tile.pixel = rows_of(&t, c);
	int64_t rows = t.axis[tile.pixel].extent;
	tile.lanes = bytes ? dot.lanes : tile_lanes(s, &t, columns);
	tile.favour = TMPL_DENSE_VECTORS;
	sketch_group(s);
	for (int k = 0; k + 1 < t.n; k++)
		tile.around *= k == tile.pixel ? 1 : t.axis[k].extent;
	tile_knob(s, (columns + tile.lanes - 1) / tile.lanes, rows, &tile);
	bool packed = c->op == OP_dense && w->kind == VALUE_CONST;
	PanelOf of = { 0, 1, w->name, "" };
	if (packed && !bytes && rows > 1 && panel_sums(s, &t, &tile, &of)) {
		sketch_group_end(s);
		return true;
	}
	int64_t depth = packed && !bytes ? choose_depth(s, &t, &tile) : t.reduce[0].extent;
	bool parts = depth < t.reduce[0].extent;
	if (!parts) {
		sketch_group(s);
		choose_order(s, &t, c, &tile);
		tile.last = rows % tile.pixels != 0;
		tile.copies = !packed;
		tile_shares(s, &t, &tile);
		sketch_group_end(s);
	}
	int64_t turns = choose_unroll(s, &tile, depth);
	if (packed) {
		tile.pack = w->name;
		tile.layout = parts ? arena_printf(s->arena, "IO%lldi%lldo", (long long)depth, (long long)tile.lanes)
		                    : arena_printf(s->arena, "OI%lldo", (long long)tile.lanes);
		tile.stream = parts || depth == 1 ? NULL : tile.reduce[0];
		tile.far = TMPL_FAR * turns > depth ? TMPL_FAR * turns / depth : 1;
		if (bytes)
			tile.layout = arena_printf(s->arena, "%s%di", tile.layout, DOT_STEPS);
		else
			tile_ahead(s, &t, &tile, turns, guess_ahead(s, &t));
	}
	sketch_group_end(s);
	if (parts) {
		parts_steps(s, &t, &tile, false);
		return true;
	}
	choose_copy(s, &t, c, &tile);
	tile.first = t.selects;
	tile.last = rows % tile.pixels != 0;
	tile_steps(s, &t, &tile);
	return true;
}

static const TemplateAlgo *const algos_of_dense[] = { &tmpl_strassen, NULL };

const Template tmpl_dense = { .name = "dense",
	.doc = "register tiles of rows and vectors of columns",
	.applies = applies,
	.run = run,
	.algo = algos_of_dense };
