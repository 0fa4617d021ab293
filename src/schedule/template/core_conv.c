/*
 * Convolutions in the matrix units of a GPU: pixels times filters (implicit GEMM). Rows of the product are the pixels
 * of all images, columns are filters, and the inner dimension runs over taps. If rounds divide the taps, channels are
 * their inner part. Then the taps of a round share a place of the window, and weights are packed in that order.
 * The copies to shared memory gather a pixel's taps, with the border. The taps of a 1x1 convolution are rows of the
 * image and need no gathering. In NHWC a copy takes several channels of a pixel, and the border is one condition for
 * all of them. A long reduction with few results is split. Left out: groups.
 */
#include "schedule/template/core_tile.h"

#include "op/layout.h"
#include "op/op.h"

static int64_t attr(const OpCall *c, const char *name, int k)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	return k < n ? v[k] : 1;
}

/* How many elements of an image are contiguous in the order of the product; 1: none are. */
static int64_t run_of(const OpCall *c, const Value *x, const Value *w, const Tiled *t)
{
	int64_t image = 1;
	for (int k = 2; k < t->n; k++) {
		if (w->shape.dim[k] != 1 || attr(c, "strides", k - 2) != 1 || x->shape.dim[k] != t->axis[k].extent)
			return 1;
		image *= t->axis[k].extent;
	}
	return x->layout == NULL ? image : 1;
}

/* Whether all channels of a pixel lie side by side. */
static bool is_channels_last(const Value *x)
{
	Layout l;
	return x->layout != NULL && layout_read(x->layout, x->shape, &l) && l.n == x->shape.rank && l.of[l.n - 1] == 1;
}

/* The image as a factor: copies go along channels in NHWC, along pixels otherwise. */
static CoreFactor image_of(const OpCall *c, const Value *x, const Value *w, const Tiled *t)
{
	bool last = is_channels_last(x);
	return (CoreFactor){ x->name, 2, 0, 1, true, !last, last ? x->shape.dim[1] : run_of(c, x, w, t) };
}

static bool read_conv(const Sketch *s, const OpCall *c, const Tiled *t, CoreTile *out)
{
	const Dag *d = s->task->dag;
	const Value *x = &d->value.at[c->in[0]], *w = &d->value.at[c->in[1]];
	int64_t pixels = t->axis[0].extent, taps = w->shape.dim[1];
	if (op_int(c, "groups") != 1 || t->n != x->shape.rank || t->nreduce != t->n - 1 || x->kind != VALUE_INPUT ||
		w->kind != VALUE_CONST || !dtype_eq(x->type, w->type))
		return false;
	for (int k = 2; k < t->n; k++) {
		pixels *= t->axis[k].extent;
		taps *= w->shape.dim[k];
	}
	*out = (CoreTile){ .blocks = 1, .reads = -1, .type = x->type, .sum = t->sum, .reduce = { "tap", taps },
		.axis = { { "pixel", pixels }, t->axis[1] }, .out = { "pixel.s", t->out[1].name },
		.factor = { image_of(c, x, w, t), { w->name, 2, 0, 1, true, false, taps } } };
	for (size_t k = 0; k < d->value.n; k++)
		out->reads += d->value.at[k].kind == VALUE_INPUT;
	return true;
}

void conv_merge_steps(Sketch *s, const Tiled *t, bool inside)
{
	const char *store = t->bare ? arena_printf(s->arena, "%s.write", t->block) : t->last;
	const char *in = t->axis[0].name, *out = t->out[0].name, *taps = t->reduce[inside].name;
	Text ins = { .arena = s->arena }, outs = { .arena = s->arena }, reduces = { .arena = s->arena };
	for (int k = 0; k < t->n; k++) {
		text_add(&ins, " %s", t->axis[k == 0 ? 1 : k == 1 ? 0 : k].name);
		text_add(&outs, " %s", t->out[k == 0 ? 1 : k == 1 ? 0 : k].name);
	}
	for (int k = 0; k < t->nreduce; k++)
		text_add(&reduces, " %s", t->reduce[(k + inside) % t->nreduce].name);
	sketch_step(s, "reorder%s", text_str(&ins));
	sketch_step(s, "reorder%s", text_str(&outs));
	if (inside)
		sketch_step(s, "reorder%s", text_str(&reduces));
	for (int k = 2; k < t->n; k++) {
		const char *last = k == t->n - 1 ? "" : arena_printf(s->arena, "%d", k);
		sketch_step(s, "merge %s %s %s as pixel%s", t->block, in, t->axis[k].name, last);
		in = arena_printf(s->arena, "pixel%s", last);
		sketch_step(s, "merge %s %s %s as pixel%s.s", store, out, t->out[k].name, last);
		out = arena_printf(s->arena, "pixel%s.s", last);
		const char *next = t->reduce[(k - 1 + inside) % t->nreduce].name;
		sketch_step(s, "merge %s %s %s as tap%s", t->block, taps, next, last);
		taps = arena_printf(s->arena, "tap%s", last);
	}
}

bool core_conv(Sketch *s, const OpCall *call, const Tiled *t)
{
	static const char *const packed[] = { "", "OWI", "OHWI", "ODHWI" };
	CoreTile c;
	CoreShape x;
	if (!read_conv(s, call, t, &c))
		return false;
	const CoreRow *row = core_knob(s, call, &c);
	if (row == NULL)
		return false;
	int64_t parts = core_split_knob(s, &c, row), results = c.axis[0].extent * c.axis[1].extent;
	if (!core_shape_knobs(s, &c, row, &x))
		return false;
	CoopJoin join = core_join(&c, &x);
	bool by_filters = tiled_contiguous(t) == 1;
	c.own_axes = parts > 1 && coop_join_knob(s, &join);
	coop_begin(s, t);
	bool inside = c.reduce.extent % x.inner == 0 && c.reduce.extent > t->reduce[0].extent;
	if (inside) {
		sketch_step(s, "pack %s %s", c.factor[1].name, packed[t->n - 2]);
		c.factor[1].name = arena_printf(s->arena, "%s.p", c.factor[1].name);
	}
	conv_merge_steps(s, t, inside);
	Tiled product = parts > 1 ? core_split_steps(s, t, &c, &x, by_filters) : *t;
	TileAxis side[CORE_SIDES] = { { "pixel.s", core_part(&x, 0) }, { t->out[1].name, core_part(&x, 1) } };
	core_steps(s, &product, &c, row, &x);
	if (c.own_axes)
		coop_last_steps(s, t, &join, side, by_filters, "part.w");
	else if (parts > 1)
		coop_join_steps(s, t, results);
	return true;
}
