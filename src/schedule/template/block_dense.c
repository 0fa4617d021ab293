/*
 * Dense layers and matrix products on devices whose threads run in warps: tiles of rows and columns of the result.
 * Constant weights of a dense layer are packed in panels as wide as a tile; a matrix product has a block for each of
 * its batches. Few rows have nothing to share but the weights, each of which is read once: they have the generated
 * space. Where types and target allow it, matrix units multiply (core_tile.h), and long products of few results are
 * split.
 */
#include "schedule/template/core_tile.h"

#include "ir/query.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

static bool applies(const Task *task, const Target *target)
{
	const OpCall *c = tile_anchor(task->dag);
	return target_has_warps(target) && c != NULL && (c->op == OP_dense || c->op == OP_matmul);
}

/* A tensor that the product reads: which dimension is the rows' or columns', which is reduced; -1: none. */
typedef struct Factor {
	const Value *of;
	int side, inner;
	bool plain; /* other dimensions are the loops of batches, or have one element */
} Factor;

typedef struct Reading {
	const char *buf, *side, *inner;
	Factor *out;
} Reading;

static void see_factor(const Expr *e, void *arg)
{
	Reading *r = arg;
	if (e->op != IR_LOAD || strcmp(e->name, r->buf) != 0)
		return;
	r->out->plain = true;
	for (int k = 0; k < e->nargs; k++) {
		bool var = e->arg[k]->op == IR_VAR;
		r->out->side = var && strcmp(e->arg[k]->name + 1, r->side) == 0 ? k : r->out->side;
		r->out->inner = var && strcmp(e->arg[k]->name + 1, r->inner) == 0 ? k : r->out->inner;
	}
}

static bool is_block(const Stmt *s, void *name)
{
	return s->kind == ST_BLOCK && strcmp(s->block.name, name) == 0;
}

/* Iterators are named after loops: "vm" of "m". */
static bool read_factor(const Sketch *s, const Tiled *t, const Value *v, int side, Factor *out)
{
	const Stmt *b = ir_find_stmt(s->naive->fn[0]->body, is_block, (void *)(uintptr_t)t->block);
	*out = (Factor){ .of = v, .side = -1, .inner = -1 };
	ir_each_node_in(b->block.body, see_factor, &(Reading){ v->name, t->axis[side].name, t->reduce[0].name, out });
	return out->plain && out->side >= 0 && out->inner >= 0 && v->kind != VALUE_CALL;
}

/* "NWC": of three dimensions the last one before the one in the middle; NULL: row-major serves. */
static const char *layout_of(Sketch *s, const Factor *f)
{
	static const char *const letters[] = { "", "N", "NC", "NCW", "NCHW", "NCDHW" };
	int rank = f->of->shape.rank;
	if (f->side == rank - 1)
		return NULL;
	Text out = { .arena = s->arena };
	for (int k = 0; k < rank; k++)
		if (k != f->side)
			text_add(&out, "%c", letters[rank][k]);
	text_add(&out, "%c", letters[rank][f->side]);
	return text_str(&out);
}

/* The part that a round copies; neighbouring threads load what lies side by side. */
static void read_operand(Sketch *s, const Factor *f, int64_t side, int64_t inner, bool panels, CoopOperand *o)
{
	int rank = f->of->shape.rank, last = panels ? f->side : rank - 1, n = 0;
	o->n = rank;
	o->layout = layout_of(s, f);
	for (int k = 0; k < rank; k++) {
		o->part[k] = k == f->side ? side : k == f->inner ? inner : 1;
		if (k != last)
			o->order[n++] = k;
	}
	o->order[n] = last;
	o->lanes = 1;
}

/* The side, or else the inner dimension, is contiguous, in rows of its length. */
static CoreFactor core_factor(const Factor *f)
{
	int last = f->of->shape.rank - 1;
	return (CoreFactor){ f->of->name, last + 1, f->side, f->inner, false, f->side == last, f->of->shape.dim[last] };
}

/* The same product for matrix units, where both factors have the inner dimension and the side last. */
static bool cores(Sketch *s, const Tiled *t, const OpCall *call, const Factor *rows, const Factor *columns)
{
	int m = t->n - 2, last[2] = { rows->of->shape.rank - 1, columns->of->shape.rank - 1 };
	bool plain = rows->inner == last[0] && rows->side == last[0] - 1 &&
		columns->inner + columns->side == 2 * last[1] - 1 &&
		(columns->inner == last[1] || columns->side == last[1]);
	CoreTile c = { .blocks = 1, .type = rows->of->type, .sum = t->sum, .reduce = t->reduce[0],
		.factor = { core_factor(rows), core_factor(columns) }, .axis = { t->axis[m], t->axis[m + 1] },
		.out = { t->out[m].name, t->out[m + 1].name } };
	CoreShape x;
	for (int k = 0; k < m; k++) {
		c.blocks *= t->out[k].extent;
		c.outer[c.nouter++] = t->out[k];
	}
	const CoreRow *row = plain ? core_knob(s, call, &c) : NULL;
	if (row == NULL)
		return false;
	int64_t parts = m == 0 ? core_split_knob(s, &c, row) : 1, results = c.axis[0].extent * c.axis[1].extent;
	if (!core_shape_knobs(s, &c, row, &x))
		return false;
	CoopJoin join = core_join(&c, &x);
	TileAxis side[CORE_SIDES] = { { c.out[0], core_part(&x, 0) }, { c.out[1], core_part(&x, 1) } };
	c.own_axes = parts > 1 && coop_join_knob(s, &join);
	coop_begin(s, t);
	Tiled product = parts > 1 ? core_split_steps(s, t, &c, &x, true) : *t;
	core_steps(s, &product, &c, row, &x);
	if (c.own_axes)
		coop_last_steps(s, t, &join, side, 1, "part.w");
	else if (parts > 1)
		coop_join_steps(s, t, results);
	return true;
}

static bool tiles(Sketch *s, const Tiled *t, const Factor *rows, const Factor *columns)
{
	int m = t->n - 2, n = t->n - 1;
	CoopTile b = { .n = 2, .blocks = 1, .type = rows->of->type, .taps = 1, .channels = t->reduce[0].extent };
	bool packs = columns->of->kind == VALUE_CONST && columns->of->shape.rank == 2 && columns->side == 0;
	for (int k = 0; k < m; k++) {
		b.blocks *= t->out[k].extent;
		b.outer[b.nouter++] = t->out[k];
		b.rest[b.nrest++] = t->axis[k].name;
	}
	for (int k = 0; k < 2; k++)
		b.axis[k] = (CoopAxis){ t->axis[m + k].name, t->out[m + k].name, t->axis[m + k].extent, .widen = true,
			.stride = 1, .window = 1 };
	if (!coop_knobs(s, &b))
		return false;
	coop_round_knob(s, &b, t->reduce[0].name);
	coop_unroll_knob(s, &b);
	int64_t side[2] = { coop_axis_tile(&b.axis[0]), coop_axis_tile(&b.axis[1]) }, inner = b.round[0].part;
	bool along[2] = { rows->side == rows->of->shape.rank - 1, packs || columns->side == columns->of->shape.rank - 1 };
	coop_stages_knob(s, &b);
	coop_begin(s, t);
	bool whole = t->reduce[0].extent % inner == 0 && t->axis[n].extent % side[1] == 0;
	const char *name = columns->of->name;
	if (packs) {
		bool blocks = side[1] > 1 && side[1] <= TMPL_COOP_PANEL && side[1] < t->axis[n].extent;
		sketch_step(s, "pack %s %s", name, blocks ? arena_printf(s->arena, "OI%lldo", (long long)side[1]) : "IO");
		name = arena_printf(s->arena, "%s.p", name);
	}
	coop_widen_steps(s, t, &b);
	b.operand[0].copy = "xs";
	b.operand[1].copy = "ws";
	sketch_step(s, "pad %s %s as xs", rows->of->name, t->block);
	sketch_step(s, "pad %s %s as ws", name, t->block);
	read_operand(s, rows, side[0], inner, false, &b.operand[0]);
	read_operand(s, columns, side[1], inner, packs, &b.operand[1]);
	DType type = columns->of->type;
	int64_t lanes = coop_lanes(s, type, side[1]), all = coop_lanes(s, type, t->axis[n].extent);
	if (whole && along[1])
		b.operand[1].lanes = packs || lanes < all ? lanes : all;
	coop_steps(s, t, &b);
	return true;
}

static bool run(Sketch *s, Err *err)
{
	const Dag *d = s->task->dag;
	const OpCall *c = tile_anchor(d);
	Tiled t;
	Factor rows, columns;
	(void)err;
	if (!tiled_read(s, c, &t) || t.n < 2 || t.nreduce != 1 || t.axis[t.n - 2].extent < TMPL_COOP_ROWS ||
		!read_factor(s, &t, &d->value.at[c->in[0]], t.n - 2, &rows) ||
		!read_factor(s, &t, &d->value.at[c->in[1]], t.n - 1, &columns))
		return sketch_blocks(s);
	return cores(s, &t, c, &rows, &columns) || tiles(s, &t, &rows, &columns) ? coop_rest(s, &t) : sketch_blocks(s);
}

const Template tmpl_block_dense = { .name = "block.dense",
	.doc = "tiles of blocks of threads, of rows and columns",
	.applies = applies,
	.run = run };
