/*
 * Convolutions on devices whose threads run in warps. Two forms, beside Winograd's algorithm (coop_wino.c):
 *
 *	direct: a tile of filters, rows and columns; a round copies some channels of the tile's input, border and all,
 *		and of its weights, for all taps or those of one row or one tap. Taps share what is copied.
 *	implicit: the product of pixels and channels times taps (im2col) with the weights; a round's copy gathers them.
 *		Tiles are of pixels, whatever rows they belong to. A 1x1 convolution is one without a gather.
 *
 * Constant weights are packed so that the copies of a round are contiguous. Others are copied filter by filter, from
 * where they are. If types and target allow it, matrix units multiply (core_conv.c).
 */
#include "schedule/template/core_tile.h"

#include "op/op.h"

#include <math.h>
#include <string.h>

static int64_t taps_of(const Shape *w)
{
	int64_t n = 1;
	for (int k = 2; k < w->rank; k++)
		n *= w->dim[k];
	return n;
}

static bool applies(const Task *task, const Target *target)
{
	const Dag *d = task->dag;
	const OpCall *c = tile_anchor(d);
	if (!target_has_warps(target) || c == NULL || c->op != OP_conv)
		return false;
	const Value *w = &d->value.at[c->in[1]], *y = &d->value.at[c->out[0]];
	return w->kind != VALUE_CALL && y->shape.rank >= 3 && y->shape.rank <= 5 && w->shape.dim[1] > 1;
}

typedef struct Conv {
	const Value *x, *w;
	int rank;
	int64_t groups, filters; /* filters of a group */
	int64_t channels, taps;
	bool packs; /* the weights are constants and are packed */
	/* By dimension of x, as are the reduce loops of taps; c is that of channels. */
	int64_t size[DAG_MAX_RANK], stride[DAG_MAX_RANK], dilation[DAG_MAX_RANK];
	const char *c, *tap[DAG_MAX_RANK];
} Conv;

static int64_t attr(const OpCall *c, const char *name, int k)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	return k < n ? v[k] : 1;
}

static bool read_conv(const Sketch *s, const OpCall *c, const Tiled *t, Conv *v)
{
	const Dag *d = s->task->dag;
	*v = (Conv){ .x = &d->value.at[c->in[0]], .w = &d->value.at[c->in[1]] };
	v->rank = v->x->shape.rank;
	v->groups = op_int(c, "groups");
	v->filters = v->w->shape.dim[0] / v->groups;
	v->channels = v->w->shape.dim[1];
	v->taps = taps_of(&v->w->shape);
	v->packs = v->w->kind == VALUE_CONST;
	if (t->n != v->rank || t->nreduce != v->rank - 1)
		return false;
	v->c = t->reduce[0].name;
	for (int k = 2; k < v->rank; k++) {
		v->size[k] = v->w->shape.dim[k];
		v->stride[k] = attr(c, "strides", k - 2);
		v->dilation[k] = attr(c, "dilations", k - 2);
		v->tap[k] = t->reduce[k - 1].name;
	}
	return t->reduce[0].extent == v->channels && v->x->kind == VALUE_INPUT;
}

/*
 * Packs weights with blocks of the tile's filters outside, or filters inside. The name of the weights, packed or not.
 */
static const char *pack_weights(Sketch *s, const Conv *v, const CoopAxis *f)
{
	static const char *const window[] = { "", "W", "HW", "DHW" };
	int64_t tile = coop_axis_tile(f);
	const char *taps = window[v->rank - 2];
	if (!v->packs)
		return v->w->name;
	bool blocks = tile > 1 && tile <= TMPL_COOP_PANEL && tile < v->filters;
	sketch_step(s, "pack %s %s", v->w->name,
		blocks ? arena_printf(s->arena, "OI%s%lldo", taps, (long long)tile) : arena_printf(s->arena, "I%sO", taps));
	return arena_printf(s->arena, "%s.p", v->w->name);
}

/* Filters that are copied without conditions lie side by side. */
static int64_t weight_lanes(const Sketch *s, const Conv *v, const CoopAxis *f, bool whole_rounds)
{
	int64_t tile = coop_axis_tile(f);
	return v->filters % tile != 0 || !whole_rounds || !v->packs ? 1 : coop_lanes(s, v->w->type, tile);
}

/* The taps of a round, by dimension of the window. */
typedef struct Taps {
	int64_t part[DAG_MAX_RANK], all;
} Taps;

/* All windows whose sides divide the window's, wide ones first; of a product, the one tap. Returns their number. */
static int taps_of_round(const Conv *v, bool rows, Taps out[KNOB_OPTIONS])
{
	Taps t = { .all = 1 };
	int n = 0;
	for (int k = 2; k < v->rank; k++)
		t.part[k] = rows ? v->size[k] : 1;
	for (;;) {
		t.all = 1;
		for (int k = 2; k < v->rank; k++)
			t.all *= t.part[k];
		if (n < KNOB_OPTIONS)
			out[n++] = t;
		int k = 2;
		for (; k < v->rank; k++) { /* the next divisor; after the last one, the first again and the next dimension */
			do
				t.part[k]--;
			while (t.part[k] > 0 && v->size[k] % t.part[k] != 0);
			if (t.part[k] > 0)
				break;
			t.part[k] = rows ? v->size[k] : 1;
		}
		if (k == v->rank)
			return n;
	}
}

/* How good a round of so many channels and taps is; 0: shared memory cannot hold it, or there is no such round. */
static double rank_round(const Sketch *s, const CoopTile *b, const Conv *v, int64_t c, int64_t taps, bool divides)
{
	int64_t part[COOP_OPERANDS];
	double products = (double)(c * taps), want = TMPL_COOP_ROUND, rounded = (double)((v->channels + c - 1) / c * c);
	bool whole = v->channels % c == 0;
	coop_operands(b, part);
	if ((!whole && (divides || (c & (c - 1)) != 0 || c > TMPL_COOP_CHANNELS)) ||
		(c > 1 && !coop_fits(s, b, c * (part[0] / v->taps * taps + part[1]))))
		return 0;
	double rank = (products < want ? products / want : want / products) * (double)v->channels / rounded;
	return rank * (double)(part[0] + part[1]) / ((double)part[0] + (double)(part[1] * v->taps) / (double)taps);
}

/* Asks for "taps" of a window, and for "round", the channels of a round, which need not divide all channels. */
static void ask_round(Sketch *s, CoopTile *b, const Conv *v, bool rows, bool divides)
{
	Taps taps[KNOB_OPTIONS];
	const char *word[KNOB_OPTIONS];
	int64_t option[KNOB_OPTIONS];
	int n = taps_of_round(v, rows, taps), first = 0, many = 0;
	double best = 0;
	for (int i = 0; i < n; i++) {
		Text text = { .arena = s->arena };
		for (int k = 2; k < v->rank; k++)
			text_add(&text, "%s%lld", k > 2 ? "x" : "", (long long)taps[i].part[k]);
		word[i] = text_str(&text);
		for (int64_t c = 1; c <= v->channels; c++) {
			double rank = rank_round(s, b, v, c, taps[i].all, divides);
			first = rank > best ? i : first;
			best = fmax(rank, best);
		}
	}
	const Taps *t = &taps[sketch_word(s, "taps", word, n, first)];
	sketch_opens(s);
	best = first = 0;
	for (int64_t c = 1; c <= v->channels && many < KNOB_OPTIONS; c++) {
		double rank = rank_round(s, b, v, c, t->all, divides);
		first = rank > best ? many : first;
		best = fmax(rank, best);
		if (rank > 0)
			option[many++] = c;
	}
	b->nround = 0;
	b->round[b->nround++] = (CoopRound){ v->c, v->channels, sketch_number(s, "round", option, many, first) };
	sketch_opens(s);
	for (int i = 2; i < v->rank && rows; i++)
		b->round[b->nround++] = (CoopRound){ v->tap[i], v->size[i], t->part[i] };
}

/* ---- direct ---- */

static bool direct(Sketch *s, const Tiled *t, const Conv *v)
{
	int last = v->rank - 1;
	CoopTile b = { .type = v->x->type, .taps = v->taps, .channels = v->channels };
	CoopOperand *x = &b.operand[0], *w = &b.operand[1];
	b.n = v->rank - 1;
	b.blocks = t->out[0].extent * v->groups;
	const char *filters = v->groups > 1 ? arena_printf(s->arena, "%s.i", t->out[1].name) : t->out[1].name;
	b.axis[0] = (CoopAxis){ t->axis[1].name, filters, v->filters, .widen = v->groups == 1, .stride = 1, .window = 1 };
	for (int k = 2; k <= last; k++)
		b.axis[k - 1] = (CoopAxis){ t->axis[k].name, t->out[k].name, t->out[k].extent, .widen = true,
			.stride = v->stride[k], .window = (v->size[k] - 1) * v->dilation[k] + 1 };
	if (!coop_knobs(s, &b))
		return false;
	ask_round(s, &b, v, true, v->groups > 1);
	coop_unroll_knob(s, &b);
	coop_stages_knob(s, &b);
	b.outer[b.nouter++] = t->out[0];
	b.rest[b.nrest++] = t->axis[0].name;
	coop_begin(s, t);
	const char *packed = pack_weights(s, v, &b.axis[0]);
	if (v->groups > 1) {
		sketch_step(s, "split %s %lld", t->out[1].name, (long long)v->filters);
		b.outer[b.nouter++] = (TileAxis){ arena_printf(s->arena, "%s.o", t->out[1].name), v->groups };
	}
	coop_widen_steps(s, t, &b);
	x->copy = "xs";
	w->copy = "ws";
	sketch_step(s, "pad %s %s as %s", v->x->name, t->block, x->copy);
	sketch_step(s, "pad %s %s as %s", packed, t->block, w->copy);
	x->n = w->n = v->rank;
	x->part[0] = 1;
	x->part[1] = w->part[1] = b.round[0].part;
	w->part[0] = coop_axis_tile(&b.axis[0]);
	for (int k = 0; k <= last; k++) {
		x->order[k] = k;
		w->order[k] = !v->packs ? k : k < last ? k + 1 : 0;
		if (k < 2)
			continue;
		const CoopAxis *a = &b.axis[k - 1];
		w->part[k] = b.round[k - 1].part;
		x->part[k] = (coop_axis_tile(a) - 1) * a->stride + (w->part[k] - 1) * v->dilation[k] + 1;
	}
	static const char *const inside[] = { "", "CWN", "CHWN", "CDHWN" };
	w->layout = inside[v->rank - 2];
	x->lanes = 1;
	w->lanes = weight_lanes(s, v, &b.axis[0], v->channels % b.round[0].part == 0);
	coop_steps(s, t, &b);
	return true;
}

/* ---- implicit ---- */

/* Neighbouring pixels lie side by side, and a load of several stays in one image. */
static bool is_flat(const Conv *v, const Tiled *t)
{
	bool flat = v->taps == 1 && tile_side(t->result) == v->rank - 1 && v->x->layout == NULL;
	for (int k = 2; k < v->rank; k++)
		flat = flat && v->stride[k] == 1 && v->x->shape.dim[k] == t->axis[k].extent;
	return flat;
}

/*
 * Each part of the taps has blocks of its own, which store partial sums. A second launch adds them up and stores the
 * Task's results, or the last block of each tile does so (`last`). The tile is then one of partial sums.
 */
static void split_steps(Sketch *s, const char *store, const Tiled *t, Tiled *partial, CoopTile *b, int64_t parts)
{
	if (!b->own_axes)
		sketch_step(s, "merge %s %s pixel.s as joined", store, t->out[1].name);
	sketch_step(s, "split tap %lld as part taps", (long long)b->channels);
	sketch_step(s, "reorder part %s pixel taps", t->axis[1].name);
	sketch_step(s, "rfactor %s part as partial", t->block);
	sketch_step(s, "scope partial global");
	sketch_step(s, "cache_write partial as partial.c partial.write part.w filter.w pixel.w");
	b->as = " as pixel.p filter.p part.p tap.p";
	b->rest[b->nrest++] = "part.p";
	b->round[0].name = "tap.p";
	b->outer[b->nouter++] = (TileAxis){ "part.w", parts };
	const char *out[2] = { "filter.w", "pixel.w" };
	const char *in[2] = { "filter.p", "pixel.p" };
	for (int k = 0; k < 2; k++) {
		int64_t part = coop_axis_tile(&b->axis[k]);
		b->axis[k].name = in[k];
		b->axis[k].out = out[k];
		b->axis[k].extent = (b->axis[k].extent + part - 1) / part * part;
	}
	partial->block = "partial";
	partial->sums = "partial.c";
}

static bool implicit(Sketch *s, const Tiled *t, const Conv *v)
{
	CoopTile b = { .n = 2, .blocks = 1, .type = v->x->type, .taps = 1, .channels = v->channels * v->taps };
	CoopOperand *x = &b.operand[0], *w = &b.operand[1];
	int64_t pixels = 1, image = 1;
	for (int k = 0; k < v->rank; k++) {
		pixels *= k != 1 ? t->axis[k].extent : 1;
		image *= k > 1 ? t->axis[k].extent : 1;
	}
	b.axis[0] = (CoopAxis){ t->axis[1].name, t->out[1].name, v->filters, .widen = true, .stride = 1, .window = 1 };
	b.axis[1] = (CoopAxis){ "pixel", "pixel.s", pixels, .widen = true, .stride = 1, .window = 1 };
	Conv product = *v;
	int64_t parts = coop_split_knob(s, &b);
	product.channels = b.channels;
	product.taps = 1;
	product.c = "tap";
	if (!coop_knobs(s, &b))
		return false;
	ask_round(s, &b, &product, false, v->taps > 1 || parts > 1);
	coop_unroll_knob(s, &b);
	CoopJoin join = coop_join(&b);
	b.own_axes = parts > 1 && coop_join_knob(s, &join);
	coop_stages_knob(s, &b);
	coop_begin(s, t);
	const char *packed = pack_weights(s, v, &b.axis[0]);
	conv_merge_steps(s, t, false);
	coop_widen_steps(s, t, &b);
	Tiled partial = *t;
	if (parts > 1)
		split_steps(s, t->bare ? arena_printf(s->arena, "%s.write", t->block) : t->last, t, &partial, &b, parts);
	x->copy = "xs";
	w->copy = "ws";
	sketch_step(s, "reindex %s %s as %s", v->x->name, partial.block, x->copy);
	sketch_step(s, "reindex %s %s as %s", packed, partial.block, w->copy);
	x->n = w->n = 2;
	for (int k = 0; k < 2; k++)
		x->order[k] = 1 - k;
	for (int k = 0; k < 2; k++)
		w->order[k] = v->packs ? 1 - k : k;
	x->part[0] = coop_axis_tile(&b.axis[1]);
	w->part[0] = coop_axis_tile(&b.axis[0]);
	x->part[1] = w->part[1] = b.round[0].part;
	x->layout = w->layout = "CN";
	bool whole = b.channels % b.round[0].part == 0;
	x->lanes = is_flat(v, t) && whole && pixels % x->part[0] == 0 && image % target_lanes(s->target, b.type) == 0
		? coop_lanes(s, v->x->type, x->part[0]) : 1;
	w->lanes = weight_lanes(s, v, &b.axis[0], whole);
	if (parts > 1)
		for (int i = 0; i < 2; i++) { /* pixels or filters, the part, taps of it */
			CoopOperand *o = &b.operand[i];
			bool across = i == 0 || v->packs;
			*o = (CoopOperand){ .copy = o->copy, .layout = "CWN", .n = 3,
				.order = { across, across ? 2 : 1, across ? 0 : 2 }, .part = { o->part[0], 1, o->part[1] },
				.lanes = o->lanes };
		}
	coop_steps(s, &partial, &b);
	TileAxis side[2] = { { t->out[1].name, w->part[0] }, { "pixel.s", x->part[0] } };
	if (b.own_axes)
		coop_last_steps(s, t, &join, side, 1, "part.w");
	else if (parts > 1)
		coop_join_steps(s, t, v->filters * pixels);
	return true;
}

/* ---- the template ---- */

static bool run(Sketch *s, Err *err)
{
	static const char *const form[] = { "direct", "implicit" };
	const OpCall *c = tile_anchor(s->task->dag);
	Tiled t;
	Conv v;
	(void)err;
	if (!tiled_read(s, c, &t) || !read_conv(s, c, &t, &v))
		return sketch_blocks(s);
	if (core_conv(s, c, &t))
		return coop_rest(s, &t);
	int64_t image = 1;
	for (int k = 2; k < v.rank; k++)
		image *= t.axis[k].extent;
	bool gathers = v.groups == 1, spreads = v.rank - 1 <= COOP_AXES && image > 1;
	const char *word[2];
	int n = 0;
	if (spreads)
		word[n++] = form[0];
	if (gathers)
		word[n++] = form[1];
	if (n == 0)
		return sketch_blocks(s);
	if (tile_algorithm(s, &t, "direct"))
		return true;
	int first = n == 2 && (v.taps == 1 || v.stride[v.rank - 1] > 1 || image <= TMPL_COOP_IMAGE);
	const char *picked = word[sketch_word(s, "tiles", word, n, first)];
	sketch_opens(s);
	sketch_group(s);
	bool tiled = strcmp(picked, form[0]) == 0 ? direct(s, &t, &v) : implicit(s, &t, &v);
	sketch_group_end(s);
	return tiled ? coop_rest(s, &t) : sketch_blocks(s);
}

static const TemplateAlgo *const algos_of_conv[] = { &tmpl_coop_winograd, NULL };

const Template tmpl_block_conv = { .name = "block.conv",
	.doc = "tiles of blocks of threads, of filters, rows and columns or of filters and pixels",
	.applies = applies,
	.run = run,
	.algo = algos_of_conv };
