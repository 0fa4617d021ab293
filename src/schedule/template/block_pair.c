/*
 * A depthwise convolution and the pointwise one that reads it, as one launch on devices whose threads run in warps. The
 * depthwise result is never stored. A block has a tile of filters, rows and columns of the pointwise product. In each
 * round its threads compute the depthwise result for the round's channels at the tile's pixels, straight from the
 * image. They keep it in shared memory, and the product reads it there. Blocks of other filters compute it again.
 *
 *	for grid.. { for rounds.. { for d block.x { for taps { sums } shared }  for w block.x { copy of weights }
 *	                            for t block.x { for channels { products }}}
 *	             for s block.x { store }}
 */
#include "schedule/template/block.h"
#include "schedule/template/coop_tile.h"

#include "op/op.h"

#include <string.h>

/* The depthwise convolution below the product's image, through elementwise calls; NULL: there is none. */
static const OpCall *depthwise_below(const Dag *d, const OpCall *product)
{
	const Value *v = &d->value.at[product->in[0]];
	while (v->kind == VALUE_CALL) {
		const OpCall *c = &d->call.at[v->call];
		if (c->op == OP_conv)
			return d->value.at[c->in[1]].shape.dim[1] == 1 && op_int(c, "groups") > 1 ? c : NULL;
		if (op_row(c->op)->class != OP_ELEMENTWISE)
			return NULL;
		v = &d->value.at[c->in[0]];
	}
	return NULL;
}

/* The pointwise convolution of the Task that reads a depthwise one. NULL: there is none, or there are other ones. */
static const OpCall *product_of(const Dag *d)
{
	const OpCall *found = NULL;
	int convolutions = 0;
	for (size_t k = 0; k < d->call.n; k++) {
		const OpCall *c = &d->call.at[k];
		if (c->op != OP_conv)
			continue;
		int rank = d->value.at[c->out[0]].shape.rank;
		convolutions++;
		found = op_is_pointwise(d, c) && rank == 4 && depthwise_below(d, c) != NULL ? c : found;
	}
	return convolutions == 2 ? found : NULL;
}

static bool applies(const Task *task, const Target *target)
{
	return target->blocks.warp > 1 && product_of(task->dag) != NULL;
}

/* Whether each nest of the Fn belongs to one of the two. */
static bool covers(const Sketch *s, const Tiled *const t[2])
{
	BlockSet set;
	int own = 0;
	if (!block_read(s, &set))
		return false;
	for (int k = 0; k < 2; k++)
		own += 1 + (t[k]->last != NULL) + t[k]->nmiddle;
	return set.n == own;
}

/* The nest that makes the product's image: the call behind the depthwise convolution, or a copy of its sums. */
static const char *image_steps(Sketch *s, const Tiled *d)
{
	for (int k = 0; k < d->nmiddle; k++)
		sketch_step(s, "inline %s", d->middle[k]);
	if (!d->bare)
		return d->last;
	sketch_step(s, "cache_write %s", d->block);
	return arena_printf(s->arena, "%s.write", d->block);
}

/* Asks for "round": a divisor of the channels, since the depthwise result has no rest. */
static void ask_round(Sketch *s, CoopTile *b, const char *loop)
{
	int64_t option[KNOB_OPTIONS], part[COOP_OPERANDS];
	int n = 0, first = 0;
	coop_operands(b, part);
	for (int64_t c = 1; c <= b->channels && c <= TMPL_COOP_CHANNELS && n < KNOB_OPTIONS; c++)
		if (b->channels % c == 0 && (c == 1 || coop_fits(s, b, c * (part[0] + part[1])))) {
			first = c <= TMPL_COOP_ROUND ? n : first;
			option[n++] = c;
		}
	b->nround = 1;
	b->round[0] = (CoopRound){ loop, b->channels, sketch_number(s, "round", option, n, first) };
	sketch_opens(s);
}

static bool run(Sketch *s, Err *err)
{
	const Dag *dag = s->task->dag;
	const OpCall *c = product_of(dag), *below = depthwise_below(dag, c);
	Tiled t, d;
	(void)err;
	if (!tiled_read(s, c, &t) || !tiled_read(s, below, &d) || t.n != 4 || d.n != 4 || t.nreduce != 3 ||
		!covers(s, (const Tiled *const[]){ &t, &d }) || strcmp(d.result->name, dag->value.at[c->in[0]].name) != 0)
		return sketch_blocks(s);
	const Value *w = &dag->value.at[c->in[1]];
	int64_t taps = 1;
	for (int k = 0; k < d.nreduce; k++)
		taps *= d.reduce[k].extent;
	CoopTile b = { .n = 3, .blocks = t.out[0].extent, .type = dag->value.at[c->in[0]].type, .taps = 1,
		.channels = w->shape.dim[1] };
	for (int k = 0; k < 3; k++)
		b.axis[k] = (CoopAxis){ t.axis[k + 1].name, t.out[k + 1].name, t.axis[k + 1].extent, .widen = k == 0,
			.stride = 1, .window = 1 };
	/* Each tap: a load from L1, two conditions, a multiply-add. */
	b.make = (double)taps * (s->target->core.fma_rate / s->target->core.loads + 3);
	sketch_group(s);
	if (!coop_knobs(s, &b)) {
		sketch_group_end(s);
		return sketch_blocks(s);
	}
	ask_round(s, &b, t.reduce[0].name);
	coop_unroll_knob(s, &b);
	sketch_group_end(s);
	b.outer[b.nouter++] = t.out[0];
	b.rest[b.nrest++] = t.axis[0].name;
	for (int k = 1; k < t.nreduce; k++)
		b.rest[b.nrest++] = t.reduce[k].name;
	const char *image = image_steps(s, &d);
	int64_t tile = coop_axis_tile(&b.axis[0]);
	coop_begin(s, &t);
	bool panels = tile > 1 && tile <= TMPL_COOP_PANEL && tile < w->shape.dim[0];
	sketch_step(s, "pack %s %s", w->name, panels ? arena_printf(s->arena, "OIHW%lldo", (long long)tile) : "IHWO");
	coop_widen_steps(s, &t, &b);
	sketch_step(s, "pad %s.p %s as ws", w->name, t.block);
	bool whole = w->shape.dim[0] % tile == 0 && b.channels % b.round[0].part == 0;
	b.operand[0] = (CoopOperand){ .copy = image, .reduction = &d, .n = 4, .order = { 0, 1, 2, 3 }, .lanes = 1,
		.part = { 1, b.round[0].part, coop_axis_tile(&b.axis[1]), coop_axis_tile(&b.axis[2]) } };
	b.operand[1] = (CoopOperand){ .copy = "ws", .layout = "CHWN", .n = 4, .order = { 1, 2, 3, 0 },
		.part = { tile, b.round[0].part, 1, 1 }, .lanes = whole ? coop_lanes(s, w->type, tile) : 1 };
	coop_steps(s, &t, &b);
	return true;
}

const Template tmpl_block_pair = { .name = "block.pair",
	.doc = "a depthwise convolution and the pointwise one behind it as one launch",
	.applies = applies,
	.run = run };
