/*
 * Convolutions. The lanes are output channels, a tile is some pixels of a row times some vectors of
 * channels, and the whole reduction runs with the tile's sums in registers. Weights are packed so that the
 * reduction reads them in order. An output whose rows lie side by side is stored lane by lane, once for each
 * sum; where the input's do too, lanes along rows (the generated space) are the other choice.
 */
#include "schedule/template/conv.h"
#include "schedule/template/device.h"
#include "schedule/template/dot.h"
#include "schedule/template/panel.h"
#include "schedule/template/parts.h"
#include "schedule/template/share.h"

#include "op/layout.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

/* Dimensions of a window in a layout, by how many there are. */
static const char *const spatial[] = { "", "W", "HW", "DHW" };

static bool applies(const Task *task, const Target *target)
{
	const Dag *d = task->dag;
	const OpCall *c = tile_anchor(d);
	if (!device_lone(target) || c == NULL || c->op != OP_conv)
		return false;
	const Value *w = &d->value.at[c->in[1]], *y = &d->value.at[c->out[0]];
	return w->kind == VALUE_CONST && y->shape.rank >= 3;
}

/* The reduce loop of the input channels, "c", "c_1" or "c.o"; -1: there is none in a depthwise convolution. */
static int channel_loop(const Tiled *t)
{
	for (int k = 0; k < t->nreduce; k++)
		if (t->reduce[k].name[0] == 'c' && strcspn(t->reduce[k].name, "_.") == 1)
			return k;
	return -1;
}

int64_t conv_channel_block(const Value *v)
{
	Layout l;
	bool blocked = layout_read(v->layout, v->shape, &l) && l.n == v->shape.rank + 1 && l.of[l.n - 1] == 1;
	return blocked ? l.extent[l.n - 1] : 1;
}

/* The image that a convolution reads: its operand, or what a prologue of the same shape makes it of. */
static const Value *image_of(const Dag *d, const OpCall *c)
{
	const Value *x = &d->value.at[c->in[0]];
	for (size_t k = 0; x->kind == VALUE_CALL && k < d->input.n; k++)
		if (shape_eq(d->value.at[d->input.at[k]].shape, x->shape))
			return &d->value.at[d->input.at[k]];
	return x;
}

/* It has several taps. */
static bool is_window(const Tiled *t)
{
	int c = channel_loop(t);
	bool several = false;
	for (int k = 0; k < t->nreduce; k++)
		several |= k != c && t->reduce[k].extent > 1;
	return several;
}

/* The first loop of the reduction, over parts or blocks of its channels; the loop that is left in it. */
static const char *cut_channels(Sketch *s, Tile *tile, const char *loop, int64_t length, int *n)
{
	text_add(&tile->splits, "split %s %lld\n", loop, (long long)length);
	tile->reduce[(*n)++] = arena_printf(s->arena, "%s.o", loop);
	return arena_printf(s->arena, "%s.i", loop);
}

/*
 * [c.o] kh kw c.i: channels innermost, so that a tap of the window is a loop of its own and the taps
 * of a row that lie in the padding are decided where the row's tile is known. In parts the one tap of a 1x1 convolution
 * is last.
 */
static void order_reduction(Sketch *s, const Tiled *t, Tile *tile, int64_t part, int64_t block, int64_t unroll)
{
	int c = channel_loop(t), n = 0;
	const char *inner = NULL, *innermost = NULL;
	bool last = part > 0 && !is_window(t);
	if (c >= 0) {
		int64_t extent = t->reduce[c].extent;
		inner = t->reduce[c].name;
		if (part > 0) {
			inner = cut_channels(s, tile, inner, part, &n);
			extent = part;
		}
		if (block > 1 && extent > block) {
			inner = cut_channels(s, tile, inner, block, &n);
			extent = block;
		}
		if (unroll > 1 && extent > unroll) {
			text_add(&tile->splits, "split %s %lld\n", inner, (long long)unroll);
			innermost = arena_printf(s->arena, "%s.i", inner);
			inner = arena_printf(s->arena, "%s.o", inner);
		} else if (unroll > 1 && extent > 1) {
			text_add(&tile->unrolls, "unroll %s\n", inner);
		}
	}
	for (int k = 0; k < t->nreduce && !last; k++)
		if (k != c)
			tile->reduce[n++] = t->reduce[k].name;
	if (inner != NULL)
		tile->reduce[n++] = inner;
	if (innermost != NULL) {
		tile->reduce[n++] = innermost;
		text_add(&tile->unrolls, "unroll %s\n", innermost);
	}
	for (int k = 0; k < t->nreduce && last; k++)
		if (k != c)
			tile->reduce[n++] = t->reduce[k].name;
	tile->nreduce = n;
	if (part > 0)
		return;
	if (inner != NULL && t->reduce[c].extent > 1) {
		int64_t channels = block > 1 ? block : TMPL_FAR, step = innermost != NULL ? unroll : 1;
		tile->stream = inner;
		tile->far = channels > step ? channels / step : 1;
	}
}

int64_t conv_pixels(const Value *v)
{
	int64_t pixels = 1;
	for (int k = 2; k < v->shape.rank; k++)
		pixels *= v->shape.dim[k];
	return pixels;
}

/*
 * Weights of few pixels come from memory faster than it gives them. Windows take them from behind the block of
 * channels at hand, where the hardware does not look; 1x1 convolutions from the next tile, while they
 * work on this one, unless tiles of channels are inside of those of pixels: each then finds its weights in the second
 * cache. Where there are few registers, the arithmetic of a window takes longer, and the addresses of what is asked for
 * take registers of its sums. What was measured: docs/benchmarks-kernels.md.
 */
static Ahead guess_ahead(const Sketch *s, const Tile *tile, const Value *w, const Value *y, bool parts)
{
	int64_t taps = conv_pixels(w);
	if (conv_pixels(y) > TMPL_FEW_PIXELS)
		return AHEAD_NONE;
	if (taps > 1)
		return tile_few_registers(s) ? AHEAD_NONE : AHEAD_STREAM;
	return parts || tile->outer[1] == tile->vector ? AHEAD_TILE : AHEAD_NONE;
}

/* What stays in the caches while the rest passes: weights of a tile of channels, a row, some pixels. */
typedef enum { STAY_WEIGHTS, STAY_ROW, STAY_PIXELS, STAY_COUNT } Stay;
static const char *const stay_name[STAY_COUNT] = { "weights", "row", "pixels" };

/* n o h w, n h o w, n h w o. */
static void order_outer(const Tiled *t, Tile *tile, Stay stay)
{
	int n = 0, last = t->n - 1;
	tile->outer[n++] = 0;
	if (stay == STAY_WEIGHTS)
		tile->outer[n++] = 1;
	for (int k = 2; k < last; k++)
		tile->outer[n++] = k;
	if (stay == STAY_ROW)
		tile->outer[n++] = 1;
	tile->outer[n++] = last;
	if (stay == STAY_PIXELS)
		tile->outer[n++] = 1;
}

/*
 * Whether threads divide rows of a 1x1 convolution instead of filters. What one thread writes lies in another core's
 * cache: of the layer before, or of a prologue. By rows each reads its own pixels and all weights, which half of the
 * second cache holds.
 */
static bool threads_keep_rows(const Sketch *s, const OpCall *c, const Tiled *t)
{
	const Value *w = &s->task->dag->value.at[c->in[1]];
	int64_t batch = t->axis[0].extent, filters = t->axis[1].extent, rows = 1;
	int64_t weights = dtype_bytes(w->type, w->shape.dim[1] * filters);
	for (int k = 2; k + 1 < t->n; k++)
		rows *= t->axis[k].extent;
	int64_t pixels = rows * t->axis[t->n - 1].extent;
	bool divide = share_filled(s->target, batch) < TMPL_CONV_FILLED &&
		share_filled(s->target, batch * rows) >= TMPL_CONV_FILLED;
	return s->target->threads > 1 && conv_pixels(w) == 1 && op_int(c, "groups") == 1 && divide &&
		weights * 2 <= target_cache(s->target, 2) && pixels > TMPL_CONV_COLD &&
		(t->nbefore > 0 || (double)pixels >= TMPL_CONV_KEPT * (double)filters);
}

/*
 * The order by default of a 1x1 convolution. Where half of the second cache does not hold the image, each panel of
 * weights reads it again from farther away; in the order of rows each row reads all weights.
 */
static Stay guess_order(const Sketch *s, const OpCall *c, const Tiled *t, const Tile *tile)
{
	const Value *x = image_of(s->task->dag, c), *w = &s->task->dag->value.at[c->in[1]];
	int64_t far = target_cache(s->target, 2), rows = 1, channels = w->shape.dim[1], filters = t->axis[1].extent;
	for (int k = 2; k + 1 < t->n; k++)
		rows *= t->axis[k].extent;
	int64_t image = dtype_bytes(x->type, channels * rows * x->shape.dim[x->shape.rank - 1]);
	int64_t weights = dtype_bytes(w->type, channels * filters);
	if (conv_pixels(w) > 1 || op_int(c, "groups") > 1 || far == 0 || image * 2 <= far)
		return threads_keep_rows(s, c, t) ? STAY_ROW : STAY_WEIGHTS;
	int64_t panels = ceil_div(filters, tile->lanes * tile->vectors);
	int64_t by_rows = image + weights * (weights * 2 > far ? rows : 1);
	bool farther = image * panels + weights > TMPL_CONV_FARTHER * by_rows;
	return farther || threads_keep_rows(s, c, t) ? STAY_ROW : STAY_WEIGHTS;
}

/*
 * The same where the image has a prologue, which some pixels of it meet right before all weights pass. A nest of its
 * own makes all of it in the order of weights: the better one where these are cold for few pixels, or the image stays
 * in the second cache.
 */
static Stay guess_order_before(const Sketch *s, const OpCall *c, const Tiled *t)
{
	const Dag *d = s->task->dag;
	const Value *x = image_of(d, c), *w = &d->value.at[c->in[1]], *y = &d->value.at[c->out[0]];
	int64_t far = target_cache(s->target, 2), pixels = conv_pixels(y);
	int64_t image = dtype_bytes(x->type, w->shape.dim[1] * conv_pixels(x));
	int64_t weights = dtype_bytes(w->type, w->shape.dim[1] * w->shape.dim[0]);
	bool passes = conv_pixels(w) == 1 && pixels > TMPL_CONV_COLD && weights <= 2 * far && 3 * image > 2 * far;
	if (pixels > TMPL_FEW_PIXELS)
		return STAY_PIXELS;
	return threads_keep_rows(s, c, t) ? STAY_ROW : passes ? STAY_PIXELS : STAY_WEIGHTS;
}

/*
 * While weights of a tile stay, all rows pass; or those of a band, which the second cache keeps for the next tile of
 * channels. Bands are equally high. By default there is one.
 */
static void choose_band(Sketch *s, const Tiled *t, Tile *tile, Stay stay)
{
	int64_t option[KNOB_OPTIONS], rows = t->n == 4 ? t->out[TILE_ROWS].extent : 1;
	int n = 1;
	option[0] = rows;
	for (int64_t band = 2; band < rows && n < KNOB_OPTIONS; band++)
		if (rows % band == 0)
			option[n++] = band;
	bool several = t->out[tile->vector].extent > tile->lanes * tile->vectors && tile->group == 0;
	if (stay != STAY_WEIGHTS || !several || channel_loop(t) < 0 || t->nbefore > 0 || target_has_blocks(s->target))
		return;
	int64_t band = sketch_number(s, tile_name(s, tile, "band"), option, n, 0);
	if (band == rows)
		return;
	tile->band = band;
	memmove(tile->outer + 2, tile->outer + 1, sizeof *tile->outer * (size_t)(t->n - 1));
	tile->outer[1] = TILE_ROWS; /* n h.o o h.i w */
}

/* Orders that differ: an axis that the tile covers has no loop to be put anywhere. `guess` is the first one. */
static void choose_order(Sketch *s, const Tiled *t, Tile *tile, Stay guess)
{
	int axis[STAY_COUNT][TILE_AXES + 1], n[STAY_COUNT], count = 0, first = 0;
	Stay stay[STAY_COUNT];
	const char *name[STAY_COUNT];
	for (int k = 0; k < STAY_COUNT; k++) {
		bool same = false;
		order_outer(t, tile, (Stay)k);
		n[k] = tile_outer(t, tile, axis[k]);
		for (int j = 0; j < k; j++)
			same |= n[j] == n[k] && memcmp(axis[j], axis[k], sizeof *axis[k] * (size_t)n[k]) == 0;
		if (!same) {
			first = k <= (int)guess ? count : first;
			stay[count] = (Stay)k;
			name[count++] = stay_name[k];
		}
	}
	Stay picked = stay[sketch_word(s, "order", name, count, first)];
	order_outer(t, tile, picked);
	choose_band(s, t, tile, picked);
	if (s->target->threads > 1)
		sketch_opens(s); /* loops that threads may share */
}

/*
 * Input channels that are written out at a time, or all; each is code of its own for each tap. By default all of few
 * sums, in whose short loop its own instructions count; or two, where registers are few or each turn also asks for
 * weights.
 */
static int64_t choose_unroll(Sketch *s, const Tiled *t, const Tile *tile, int64_t channels, bool stream)
{
	int64_t sums = tile->vectors * tile->pixels, taps = t->reduce[t->nreduce - 1].extent;
	int64_t option[KNOB_OPTIONS + 1];
	int n = tile_unrolls(channels, sums, TMPL_CONV_STEPS, TMPL_BODY, option);
	bool two = stream || (tile_few_registers(s) && tile->vectors > 1);
	int first = two && t->dot == NULL && n > 1 && channels % 2 == 0 && sums <= TMPL_CONV_FEW_SUMS;
	if (channels > 1 && channels <= TMPL_CONV_STEPS && channels * sums <= TMPL_BODY) {
		bool whole = channels * sums <= TMPL_CONV_WHOLE && channels * sums * taps <= TMPL_CONV_ROW;
		first = t->dot == NULL && whole && !stream ? n : first;
		option[n++] = channels;
	}
	return sketch_number(s, tile_name(s, tile, "unroll"), option, n, first);
}

/*
 * All lanes of a vector read the same input, so they are of one group: of a vector that divides the group's channels
 * and full ones, the last not full, those that leave fewer lanes of a register empty. 0: it has too few channels.
 */
static int64_t group_lanes(const Sketch *s, const Tiled *t, int64_t filters)
{
	int64_t full = tile_lanes(s, t, filters), lanes = full, registers = (filters + full - 1) / full;
	while (lanes > 1 && filters % lanes != 0)
		lanes /= 2;
	return filters < TMPL_GROUP_LEAST ? 0 : lanes * registers >= filters ? lanes : full;
}

/*
 * A depthwise convolution of row-major tensors. In step with the input, lanes along rows load what lies side by side;
 * in steps of two, two such vectors. In longer steps they gather as lanes of channels do, and more lanes are better.
 * In rows of four elements and less, no longer than the window, most lanes are empty: 3x3 on 3x3 took 3.7 us with lanes
 * of channels and 31 with lanes of rows (Zen 4).
 */
static bool rows_serve(const Sketch *s, const Tiled *t, const OpCall *c)
{
	int n;
	const int64_t *strides = op_ints(c, "strides", &n);
	const Value *x = image_of(s->task->dag, c);
	int64_t width = t->axis[t->n - 1].extent, lanes = target_lanes(s->target, t->sum);
	int64_t step = n == 0 ? 1 : strides[n - 1], window = t->reduce[t->nreduce - 1].extent;
	double rows = 0, channels = fmin((double)t->axis[1].extent, (double)lanes);
	if (step == 1 || (step == 2 && x->type.bits >= 32))
		return width > TMPL_PROMISING_LANES || window < width || window == 1;
	for (int64_t part = TMPL_PROMISING_LANES; part <= lanes; part *= 2)
		rows = fmax(rows, tile_made(width, part < width ? part : width, lanes, true, TMPL_MASKED_SUMS));
	return rows * 2 >= channels;
}

/* Neighbouring pixels of a row read neighbouring windows. */
static bool in_step(const OpCall *c)
{
	int n;
	const int64_t *strides = op_ints(c, "strides", &n);
	return n == 0 || strides[n - 1] == 1;
}

/*
 * A convolution whose tensors are row-major: whether lanes along rows take fewer cycles than `lanes` of a group's
 * channels, which store each lane of a sum by itself and of which few fill no register. Of one row of pixels.
 */
static bool rows_take_less(const Sketch *s, const Tiled *t, const OpCall *c, int64_t lanes)
{
	const Value *w = &s->task->dag->value.at[c->in[1]];
	bool window = conv_pixels(w) > 1, steps = !in_step(c);
	int64_t width = t->axis[t->n - 1].extent, filters = t->axis[1].extent, groups = op_int(c, "groups");
	int64_t vectors = ceil_div(width, target_lanes(s->target, t->sum));
	double sum = (double)(w->shape.dim[1] * conv_pixels(w)) / target_fma_rate(s->target, s->target->vector_bits);
	double rate = window && tile_few_registers(s) ? TMPL_ROWS_RATE_FEW : TMPL_ROWS_RATE;
	double rows = (double)(filters * vectors) * (sum / rate + 1) + (window ? (double)filters * TMPL_ROWS_EDGES : 0);
	double channels = (double)(groups * ceil_div(filters / groups, lanes) * width) * sum / TMPL_ROWS_CHANNELS;
	channels += (double)(filters * width) * TMPL_ROWS_STORE;
	bool short_window = t->reduce[t->nreduce - 1].extent <= TMPL_FEW_TAPS;
	return short_window && rows * (steps ? TMPL_ROWS_STRIDED : 1) < channels;
}

/* What is done to each sum before it is stored takes registers of its own. */
static bool any_slow(const Dag *d)
{
	bool slow = false;
	for (size_t k = 0; k < d->call.n; k++)
		slow |= (op_row(d->call.at[k].op)->traits & OP_SLOW) != 0;
	return slow;
}

static bool has_padding(const OpCall *c)
{
	int n;
	const int64_t *pads = op_ints(c, "pads", &n);
	for (int k = 0; k < n; k++)
		if (pads[k] != 0)
			return true;
	return false;
}

/* Channels side by side in the copy of an image that lies in rows: a power of two that divides them. */
static int64_t copied_block(const Value *x)
{
	int64_t block = DOT_STEPS;
	while (block < TMPL_FAR && x->shape.dim[1] % (2 * block) == 0)
		block *= 2;
	return block;
}

/* Products of bytes, if these are some: of the channels of one group, read in blocks. */
static void take_dot(Sketch *s, const OpCall *c, Tiled *t, int64_t *lanes)
{
	const Value *x = image_of(s->task->dag, c);
	bool given = s->task->dag->value.at[c->in[0]].kind == VALUE_INPUT, padded = has_padding(c);
	int64_t block = conv_channel_block(x);
	int k = channel_loop(t);
	if (k < 0 || op_int(c, "groups") != 1 || !(t->nbefore > 0 ? block > 1 && !padded : given) ||
		(block > 1 && block % DOT_STEPS != 0))
		return;
	Dot dot = dot_read(s, c, t->axis[1].extent, t->reduce[k].extent);
	if (dot.instruction == NULL)
		return;
	*lanes = dot.lanes;
	dot_cut(s, &dot, t, k);
	if (padded || block == 1)
		dot_copy(s, x, block > 1 ? block : copied_block(x), t);
	if (block == 1)
		dot_turn(s, c, t);
}

/* The first and the last tile of a row, or the last one if it is shorter, are code of their own. */
static void set_ends(const Tiled *t, Tile *tile, bool edges)
{
	tile->first = edges;
	tile->last = edges || t->axis[t->n - 1].extent % tile->pixels != 0;
}

Tile conv_tile(Sketch *s, const OpCall *c, const Tiled *t, int64_t lanes, const char *of)
{
	const Dag *d = s->task->dag;
	const Value *x = image_of(d, c), *w = &d->value.at[c->in[1]];
	int last = t->n - 1;
	bool depthwise = channel_loop(t) < 0;
	int64_t groups = depthwise ? 1 : op_int(c, "groups"), filters = t->axis[1].extent / groups;
	Tile tile = tile_new(s, t);
	tile.of = of;
	tile.vector = 1;
	tile.lanes = lanes;
	tile.group = filters % lanes != 0 && groups > 1 ? filters : 0;
	tile.pixel = last;
	tile.pack = w->name;
	for (int k = 0; k < last; k++)
		tile.around *= k == 1 ? groups : t->axis[k].extent;
	if (depthwise)
		tile.around *= ceil_div(t->axis[1].extent, lanes);
	bool half = depthwise ? in_step(c) || any_slow(d) : groups > 1 && lanes < target_lanes(s->target, t->sum);
	tile.half = half && tile_few_registers(s);
	tile_knob(s, depthwise ? 1 : (filters + lanes - 1) / lanes, t->axis[last].extent, &tile);
	set_ends(t, &tile, t->selects && t->reduce[t->nreduce - 1].extent > TMPL_FEW_TAPS);
	tile.before = BEFORE_PIXELS;
	tile.image = conv_channel_block(x) > 1 ? x->layout : NULL;
	return tile;
}

void conv_reduction(Sketch *s, const OpCall *c, const Tiled *t, Tile *tile, int64_t part)
{
	const Dag *d = s->task->dag;
	const Value *x = image_of(d, c), *w = &d->value.at[c->in[1]];
	const TileAxis *kw = &t->reduce[t->nreduce - 1];
	bool taps = kw->extent > 1 && kw->extent <= TMPL_TAPS && sketch_flag(s, tile_name(s, tile, "taps"), true);
	int64_t block = 1;
	if (channel_loop(t) >= 0) {
		block = t->copied > 0 ? t->copied : conv_channel_block(x);
		if (w->shape.dim[1] < block || (op_int(c, "groups") > 1 && w->shape.dim[1] % block != 0))
			block = 1;
		else if (t->dot != NULL)
			block /= DOT_STEPS;
		int64_t channels = part > 0 ? part : t->reduce[channel_loop(t)].extent;
		bool stream = tile->of == NULL && guess_ahead(s, tile, w, &d->value.at[c->out[0]], part > 0) == AHEAD_STREAM;
		int64_t unroll = choose_unroll(s, t, tile, block > 1 && channels > block ? block : channels, stream);
		order_reduction(s, t, tile, part, block, unroll);
	}
	/* The layout of weights: blocks of input channels, then of output channels, as the loops run. */
	const char *window = spatial[w->shape.rank - 2];
	bool joined = channel_loop(t) >= 0 && tile->group != 0; /* a tile of lanes is a group's */
	int64_t outputs = joined ? tile->group : tile->lanes;
	tile->layout = block > 1 ? arena_printf(s->arena, "OI%s%lldi%lldo", window, (long long)block, (long long)outputs)
		: arena_printf(s->arena, "O%sI%lldo", window, (long long)outputs);
	if (part > 0 && !is_window(t))
		tile->layout = arena_printf(s->arena, "IO%s%lldi%lldo", window, (long long)part, (long long)outputs);
	if (t->dot != NULL)
		tile->layout = arena_printf(s->arena, "%s%di", tile->layout, DOT_STEPS);
	if (taps)
		text_add(&tile->unrolls, "unroll %s\n", kw->name);
}

/*
 * Whether tiles go from one row of pixels to the next: of 1x1 convolutions without padding or a prologue. They do by
 * default where rows leave tiles of few registers short, there are enough pixels not to wait for cold weights, and
 * threads share panels evenly, since tiles of pixels have an end of their own. One vector was not measured.
 */
static bool choose_across(Sketch *s, const OpCall *c, const Tiled *t, int64_t lanes)
{
	const Value *w = &s->task->dag->value.at[c->in[1]];
	if (t->n != 4 || conv_pixels(w) > 1 || op_int(c, "groups") != 1 || t->selects || t->nbefore > 0 || t->dot != NULL ||
		target_has_blocks(s->target) || t->axis[1].extent % lanes != 0 || t->axis[2].extent == 1 ||
		t->axis[3].extent == 1 || t->axis[3].extent > TMPL_ACROSS)
		return false;
	int64_t row = t->axis[3].extent, pixels = t->axis[2].extent * row, vectors = t->axis[1].extent / lanes;
	int64_t wide = 1;
	double of_row = tile_best(s, vectors, row, &wide), promise = tile_best(s, vectors, pixels, &wide);
	bool even = vectors > 1 && share_filled(s->target, ceil_div(vectors, wide)) == 1;
	bool shorter = promise > TMPL_CONV_ACROSS * of_row;
	return sketch_flag(s, "across", tile_few_registers(s) && even && pixels > TMPL_CONV_COLD && shorter);
}

/*
 * Of few taps an edge skips one, whose condition is all that most tiles need. But where a tile leaves no register of
 * few, some of its sums are in memory around that condition (docs/benchmarks-kernels.md).
 */
static void choose_edges(Sketch *s, const Tiled *t, Tile *tile)
{
	int64_t regs = tile_registers(s), all = t->axis[tile->pixel].extent;
	bool half = tile->half && channel_loop(t) >= 0;
	bool whole = tile->vectors > 1 && tile->vectors * (tile->pixels + 1) + 1 >= regs;
	if (t->selects && !tile->first && t->reduce[t->nreduce - 1].extent > 1 && all > tile->pixels)
		set_ends(t, tile, sketch_flag(s, "edges", tile_few_registers(s) && (whole || half)));
}

static void direct(Sketch *s, const OpCall *c, const Tiled *image, int64_t lanes)
{
	const Dag *d = s->task->dag;
	const Value *w = &d->value.at[c->in[1]], *y = &d->value.at[c->out[0]];
	Tiled merged = *image;
	const Tiled *t = &merged;
	sketch_group(s);
	if (choose_across(s, c, image, lanes))
		tiled_merge(s, &merged);
	sketch_opens(s);
	Tile tile = conv_tile(s, c, t, lanes, NULL);
	PanelOf of = { channel_loop(t), conv_channel_block(image_of(d, c)), w->name, spatial[w->shape.rank - 2] };
	if (of.channels >= 0 && op_int(c, "groups") == 1 && panel_sums(s, t, &tile, &of)) {
		sketch_group_end(s);
		return;
	}
	int64_t part = parts_of_image(s, c, t, &tile, image_of(d, c), channel_loop(t));
	if (part == 0) {
		sketch_group(s);
		choose_order(s, t, &tile, t->nbefore > 0 ? guess_order_before(s, c, t) : guess_order(s, c, image, &tile));
		choose_edges(s, t, &tile);
		tile_shares(s, t, &tile);
		sketch_group_end(s);
	}
	conv_reduction(s, c, t, &tile, part);
	/* Channels are the first reduce loop; a tile asks in turns of the outermost tap loop. */
	if (channel_loop(t) >= 0 && t->dot == NULL)
		tile_ahead(s, t, &tile, t->nreduce > 1 ? t->reduce[1].extent : 1, guess_ahead(s, &tile, w, y, part > 0));
	sketch_group_end(s);
	if (part > 0)
		parts_steps(s, t, &tile, true);
	else
		tile_steps(s, t, &tile);
}

static bool run(Sketch *s, Err *err)
{
	const Dag *d = s->task->dag;
	const OpCall *c = tile_anchor(d);
	Tiled t;
	(void)err;
	if (!tiled_read(s, c, &t) || t.n < 3)
		return sketch_loops(s);
	bool depthwise = channel_loop(&t) < 0;
	int side = tiled_contiguous(&t);
	int64_t groups = depthwise ? 1 : op_int(c, "groups"), filters = t.axis[1].extent / groups;
	int64_t lanes = groups > 1 ? group_lanes(s, &t, filters) : tile_lanes(s, &t, filters);
	take_dot(s, c, &t, &lanes);
	if (side < 0 || lanes == 0)
		return sketch_loops(s);
	if (side != 1 && conv_channel_block(image_of(d, c)) == 1 && t.dot == NULL) {
		/*
		 * Rows of input and output lie side by side: whether lanes along them are the better guess. A depthwise
		 * convolution has a product or few for each store.
		 */
		bool fits = groups == 1 || !target_has_blocks(s->target); /* groups were measured on CPUs */
		bool rows = sketch_flag(s, "rows", depthwise ? rows_serve(s, &t, c) : fits && rows_take_less(s, &t, c, lanes));
		sketch_opens(s);
		if (rows)
			return sketch_loops(s);
	}
	if (!tile_algorithm(s, &t, "direct"))
		direct(s, c, &t, lanes);
	return true;
}

static const TemplateAlgo *const algos_of_conv[] = { &tmpl_winograd, NULL };

const Template tmpl_conv = { .name = "conv",
	.doc = "register tiles of pixels and vectors of channels",
	.applies = applies,
	.run = run,
	.algo = algos_of_conv };
