/*
 * Rows of layers whose windows have other weights in each place (LocallyConnected), and of recurrences whose products
 * are convolutions (ConvLSTM).
 */
#include "frontend/keras/mask.h"
#include "frontend/keras/unroll.h"
#include "frontend/keras/window.h"

#include <string.h>

/* ---- locally connected layers: [N,P,K] windows times [P,F,K], P places, F filters, K elements of a window */

enum { MOST_INDICES = 1 << 24 };

typedef struct Local {
	Windows w;
	int64_t in[MOST_SPATIAL], out[MOST_SPATIAL], channels, filters;
	int64_t place, window; /* P, and elements of a window in one channel */
	bool last;
	int implementation;
} Local;

/* The places of an element of the window at a place: its coordinates in the input; false: in the border. */
static bool source(const Local *l, int64_t place, int64_t element, int64_t *at)
{
	bool inside = true;
	for (int k = l->w.n - 1; k >= 0; k--) {
		at[k] = place % l->out[k] * l->w.stride[k] + element % l->w.kernel[k] - l->w.pads[k];
		place /= l->out[k];
		element /= l->w.kernel[k];
		inside &= at[k] >= 0 && at[k] < l->in[k];
	}
	return inside;
}

static int64_t flat(const Local *l, const int64_t *at)
{
	int64_t out = 0;
	for (int k = 0; k < l->w.n; k++)
		out = out * l->in[k] + at[k];
	return out;
}

/*
 * Implementation 1 has a matrix for each place; 2 has weights of all inputs for all results, most of which are not
 * read; 3 has a list of those that are, by result, then by input.
 */
static Shape stored_shape(const Local *l, int64_t listed)
{
	Shape s = { 0 };
	if (l->implementation == 1)
		return shape_of(3, (int64_t[]){ l->place, l->window * l->channels, l->filters });
	if (l->implementation == 3)
		return shape_of(1, &listed);
	for (int part = 0; part < 2; part++) {
		int64_t channels = part == 0 ? l->channels : l->filters;
		if (!l->last)
			s.dim[s.rank++] = channels;
		for (int k = 0; k < l->w.n; k++)
			s.dim[s.rank++] = part == 0 ? l->in[k] : l->out[k];
		if (l->last)
			s.dim[s.rank++] = channels;
	}
	return s;
}

/* Element `e` of a window, with its channel, of the list in implementation 3: they are in the order of the input. */
static int64_t number_in(const Local *l, bool last, int64_t e, int64_t c)
{
	return last ? e * l->channels + c : c * l->window + e;
}

/* In steps, as the product may be larger than any integer. */
static bool too_many_weights(const Local *l)
{
	int64_t depth = l->window * l->channels, most = MOST_INDICES, inputs = l->channels;
	for (int k = 0; k < l->w.n; k++)
		inputs *= l->in[k];
	return depth < 1 || l->place > most / depth || l->filters > most / depth / l->place || inputs > INT32_MAX;
}

/* For each [place, filter, element, channel] where its weight is in what is stored; `none`: it has none. */
static int64_t *indices(Visit *v, const Local *l, int64_t *listed)
{
	if (too_many_weights(l)) {
		node_fail(v, ERR_UNSUPPORTED, "it has more than %d weights, so only implementation 1 is supported",
			MOST_INDICES);
		return NULL;
	}
	int64_t depth = l->window * l->channels, all = l->place * l->filters * depth, at[MOST_SPATIAL];
	int64_t *out = arena_array(v->im->arena, int64_t, all + 1), inputs = l->channels, n = 0;
	for (int k = 0; k < l->w.n; k++)
		inputs *= l->in[k];
	/* The order of implementation 3: results by place or by filter, in each the elements as the input has them. */
	for (int64_t r = 0; r < l->place * l->filters; r++) {
		int64_t place = l->last ? r / l->filters : r % l->place, f = l->last ? r % l->filters : r / l->place;
		int64_t *to = out + (place * l->filters + f) * depth;
		for (int64_t k = 0; k < depth; k++) {
			int64_t e = l->last ? k / l->channels : k % l->window, c = l->last ? k % l->channels : k / l->window;
			bool inside = source(l, place, e, at);
			int64_t input = l->last ? flat(l, at) * l->channels + c : c * (inputs / l->channels) + flat(l, at);
			int64_t own = l->implementation == 1   ? (place * depth + number_in(l, l->last, e, c)) * l->filters + f
			              : l->implementation == 2 ? input * l->place * l->filters + r
			                                       : n;
			to[number_in(l, true, e, c)] = inside ? own : -1;
			n += inside;
		}
	}
	*listed = n;
	int64_t none = l->implementation == 3 ? n : size_product(l->place * l->filters, inputs);
	none = l->implementation == 1 ? all : none;
	for (int64_t k = 0; k < all; k++)
		out[k] = out[k] < 0 ? none : out[k];
	return out;
}

/* The weight as [P,F,K], elements of a window with channels last. */
static int local_weight(Visit *v, const Local *l)
{
	static const int64_t turn[] = { 0, 2, 1 };
	static const float none = 0;
	int64_t listed = 0, depth = l->window * l->channels;
	if (l->implementation == 1 && l->last)
		return node_transpose(v, keras_weight(v, "kernel", stored_shape(l, 0)), turn);
	int64_t *index = indices(v, l, &listed), one = 1, all;
	if (!node_ok(v))
		return DAG_NONE;
	Shape s = stored_shape(l, listed);
	all = shape_product(&s, 0, s.rank);
	int w = node_view(v, keras_weight(v, "kernel", s), 1, &all);
	int both[] = { w, node_const(v, F32, shape_of(1, &one), &none) };
	int in[] = { node_concat(v, both, 2, 0),
		node_const(v, I64, shape_of(3, (int64_t[]){ l->place, l->filters, depth }), index) };
	Attr axis = attr_int("axis", 0);
	return node_call(v, OP_gather, in, 2, &axis, 1);
}

/* x[N,spatial..,C] as [P,N,K]. */
static int windows_of(Visit *v, const Local *l, int x)
{
	Shape s = node_val(v, x)->shape;
	int64_t pads[2 * DAG_MAX_RANK] = { 0 }, perm[] = { 1, 0, 2 };
	int *part = arena_array(v->im->arena, int, l->window + 1);
	for (int k = 0; k < l->w.n; k++) {
		pads[k + 1] = l->w.pads[k];
		pads[k + 1 + s.rank] = l->w.pads[k + l->w.n];
	}
	Attr border = attr_ints("pads", pads, 2 * s.rank);
	x = node_call(v, OP_pad, &x, 1, &border, 1);
	for (int64_t e = 0; e < l->window && node_ok(v); e++) {
		int64_t start[DAG_MAX_RANK] = { 0 }, step[DAG_MAX_RANK], rest = e;
		Shape size = s;
		for (int k = 0; k < s.rank; k++)
			step[k] = 1;
		for (int k = l->w.n - 1; k >= 0; k--) {
			start[k + 1] = rest % l->w.kernel[k];
			step[k + 1] = l->w.stride[k];
			size.dim[k + 1] = l->out[k];
			rest /= l->w.kernel[k];
		}
		Attr attr[] = { attr_ints("starts", start, s.rank), attr_ints("steps", step, s.rank),
			attr_ints("sizes", size.dim, s.rank) };
		int y = node_call(v, OP_slice, &x, 1, attr, 3);
		part[e] = node_view(v, y, 3, (int64_t[]){ s.dim[0], l->place, l->channels });
	}
	return node_ok(v) ? node_transpose(v, node_concat(v, part, (int)l->window, 2), perm) : DAG_NONE;
}

/* "same" begins half a window before each place, also where the stride is larger. */
static void pad_local(Visit *v, Windows *w, const Shape *s)
{
	keras_pad_windows(v, w, s);
	if (strcmp(node_attr_text(v, "padding", "valid"), "same") != 0)
		return;
	for (int k = 0; k < w->n; k++) {
		int64_t in = s->dim[k + 2], out = (in + w->stride[k] - 1) / w->stride[k], begin = w->kernel[k] / 2;
		int64_t end = (out - 1) * w->stride[k] + w->kernel[k] - in - begin;
		w->pads[k] = begin;
		w->pads[k + w->n] = end > 0 ? end : 0;
	}
}

static void import_local(Visit *v)
{
	Local l = { .last = keras_last(v) };
	int x = keras_windowed(v, l.last);
	Shape s = node_val(v, x)->shape, y_shape = { 0 }, bias = { 0 };
	if (node_ok(v) && s.rank != 3 && s.rank != 4)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3 or 4", s.rank);
	l.w = keras_windows(v, &s, "kernel_size", false);
	l.filters = keras_count(v, "filters", 0);
	l.implementation = (int)node_attr_int(v, "implementation", 1);
	pad_local(v, &l.w, &s);
	l.place = l.window = 1;
	l.channels = s.dim[1];
	for (int k = 0; k < l.w.n && node_ok(v); k++) {
		l.in[k] = s.dim[k + 2];
		l.out[k] = (l.in[k] + l.w.pads[k] + l.w.pads[k + l.w.n] - l.w.kernel[k]) / l.w.stride[k] + 1;
		if (l.in[k] + l.w.pads[k] + l.w.pads[k + l.w.n] < l.w.kernel[k])
			node_fail(v, ERR_TYPE, "its window has %lld elements, but its input %lld", (long long)l.w.kernel[k],
				(long long)l.in[k]);
		l.place *= l.out[k];
		l.window *= l.w.kernel[k];
		bias.dim[bias.rank++] = l.out[k];
	}
	if (node_ok(v) && (l.implementation < 1 || l.implementation > 3 || l.window > 1 << 12))
		node_fail(v, ERR_UNSUPPORTED, "its implementation is %d and its window has %lld elements", l.implementation,
			(long long)l.window);
	if (!node_ok(v))
		return;
	bias.dim[bias.rank++] = l.filters;
	y_shape = bias;
	memmove(&y_shape.dim[1], &y_shape.dim[0], sizeof *y_shape.dim * (size_t)y_shape.rank++);
	y_shape.dim[0] = s.dim[0];
	static const int64_t turn[] = { 1, 0, 2 };
	int64_t back[DAG_MAX_RANK] = { 0, 2, 3, 1 };
	if (l.w.n == 1)
		memcpy(back, (int64_t[]){ 0, 2, 1 }, 3 * sizeof *back);
	int in[] = { windows_of(v, &l, node_transpose(v, x, back)), local_weight(v, &l) };
	Attr turned = attr_int("tb", 1);
	int y = node_call(v, OP_matmul, in, 2, &turned, 1);
	y = node_ok(v) ? node_reshape(v, node_transpose(v, y, turn), y_shape) : y;
	int b = node_attr_flag(v, "use_bias", true) ? keras_weight(v, "bias", bias) : DAG_NONE;
	if (!l.last && node_ok(v)) { /* Keras reads the same elements as a bias of [filters,places] */
		memcpy(back, l.w.n == 1 ? (int64_t[]){ 0, 2, 1, 0 } : (int64_t[]){ 0, 3, 1, 2 }, 4 * sizeof *back);
		y = node_transpose(v, y, back);
		memmove(&bias.dim[1], &bias.dim[0], sizeof *bias.dim * (size_t)l.w.n);
		bias.dim[0] = l.filters;
		b = b != DAG_NONE ? node_reshape(v, b, bias) : b;
	}
	y = b != DAG_NONE ? node_call2(v, OP_add, y, b) : y;
	node_set(v, 0, keras_activate(v, y, "activation"));
}

/* ---- ConvLSTM */

static const Json *activation(Visit *v, const char *setting, const char *usual)
{
	const Json *at = json_find(keras_of(v)->config, setting);
	node_has(v, setting);
	return at != NULL ? at : json_new_text(v->im->arena, usual);
}

/* [N,T,C,spatial..] as [T,N,..], and back. */
static int exchanged(Visit *v, int x)
{
	int64_t perm[DAG_MAX_RANK] = { 1, 0, 2, 3, 4, 5, 6, 7 };
	return node_ok(v) ? node_transpose(v, x, perm) : x;
}

/* A value of each step in the layer's order of dimensions, with the first two as they are. */
static int in_last(Visit *v, int x, bool to_last)
{
	int rank = node_val(v, x)->shape.rank;
	int64_t perm[DAG_MAX_RANK] = { 0, 1 };
	for (int k = 2; k < rank; k++)
		perm[k] = to_last ? (k + 1 < rank ? k + 1 : 2) : (k == 2 ? rank - 1 : k - 1);
	return node_ok(v) ? node_transpose(v, x, perm) : x;
}

static int state_in(Visit *v, int at, bool last)
{
	int mask = keras_mask_input(v), k = at + (mask >= 0 && mask <= at);
	if (at >= node_nin(v) - (mask >= 0))
		return DAG_NONE;
	return last ? node_to_second(v, keras_value(v, k)) : keras_value(v, k);
}

static void import_conv_lstm(Visit *v)
{
	bool last = keras_last(v), listed = node_attr_flag(v, "return_sequences", false),
		 back = node_attr_flag(v, "go_backwards", false);
	int x = keras_value(v, 0), out[2];
	if (node_ok(v) && (node_val(v, x)->shape.rank < 4 || node_val(v, x)->shape.rank > 6))
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 4 to 6", node_val(v, x)->shape.rank);
	if (!node_ok(v))
		return;
	x = exchanged(v, last ? in_last(v, x, false) : x);
	Shape s = node_val(v, x)->shape, one = { .rank = s.rank - 1 };
	if (!node_ok(v))
		return;
	int64_t steps = s.dim[0], n = s.dim[1], filters = keras_count(v, "filters", 0);
	memcpy(one.dim, &s.dim[1], sizeof *s.dim * (size_t)one.rank);
	one.dim[0] *= steps;
	Windows w = keras_windows(v, &one, "kernel_size", false), again = w;
	keras_pad_windows(v, &w, &one);
	if (!node_ok(v))
		return;
	int64_t all = 4 * filters;
	int kernel = keras_kernel(v, "cell/kernel", &w, s.dim[2], all);
	int bias = node_attr_flag(v, "use_bias", true) ? keras_weight(v, "cell/bias", shape_of(1, &all)) : DAG_NONE;
	x = node_conv(v, node_reshape(v, x, one), kernel, bias, &w, 1);
	if (!node_ok(v))
		return;
	s = node_val(v, x)->shape;
	Shape each = s, apart = { .rank = s.rank + 1, .dim = { steps, n } };
	memcpy(&apart.dim[2], &s.dim[1], sizeof *s.dim * (size_t)(s.rank - 1));
	each.dim[0] = n;
	each.dim[1] = filters;
	for (int k = 0; k < again.n; k++)
		again.stride[k] = again.dilation[k] = 1;
	windows_pad_same(&again, &each, true);
	Unrolled r = { OP_lstm, filters, activation(v, "activation", "tanh"),
		activation(v, "recurrent_activation", keras_file(v)->version >= 3 ? "sigmoid" : "hard_sigmoid"),
		node_reshape(v, x, apart), keras_kernel(v, "cell/recurrent", &again, filters, all), &again, last, DAG_NONE,
		false, { state_in(v, 1, last), state_in(v, 2, last) }, DAG_NONE, keras_mask(v, n, steps), back };
	int y = keras_unroll(v, &r, out);
	if (listed && node_ok(v)) {
		if (back) { /* in the order of the steps */
			int64_t start[DAG_MAX_RANK] = { steps - 1 }, step[DAG_MAX_RANK] = { -1, 1, 1, 1, 1, 1, 1, 1 };
			Shape whole = node_val(v, y)->shape;
			Attr attr[] = { attr_ints("starts", start, whole.rank), attr_ints("steps", step, whole.rank),
				attr_ints("sizes", whole.dim, whole.rank) };
			y = node_call(v, OP_slice, &y, 1, attr, 3);
		}
		y = exchanged(v, y);
		node_set(v, 0, last ? in_last(v, y, true) : y);
	} else {
		node_set(v, 0, keras_in_format(v, out[0], last));
	}
	for (int k = 0; k < 2 && node_ok(v); k++)
		if (node_used(v, k + 1))
			node_set(v, k + 1, keras_in_format(v, out[k], last));
}

#define UNREAD \
	"rank dropout recurrent_dropout unit_forget_bias return_state stateful unroll time_major zero_output_for_mask"

const NodeRow keras_local_rows[] = {
	{ "LocallyConnected1D", 0, "rank dilation_rate", import_local },
	{ "LocallyConnected2D", 0, "rank dilation_rate", import_local },
	{ "ConvLSTM1D", 0, UNREAD " implementation groups", import_conv_lstm },
	{ "ConvLSTM2D", 0, UNREAD " implementation groups", import_conv_lstm },
	{ "ConvLSTM3D", 0, UNREAD " implementation groups", import_conv_lstm },
	{ NULL, 0, NULL, NULL },
};
