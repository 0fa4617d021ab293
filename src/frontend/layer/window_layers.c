/* Layers with windows over images: convolutions, poolings, upsampling. See layer.h. */
#include "frontend/layer/layer.h"

#include "frontend/node/taps.h"
#include "frontend/node/windows.h"

#include <math.h>

_Static_assert((int)LAYER_SPATIAL == (int)MOST_SPATIAL, "spatial dimensions");

/* A number of a layer, within what products of sizes allow. */
static int64_t size_of(Visit *v, const char *what, int k, int64_t given, int64_t least, int64_t otherwise)
{
	if (given == 0 && otherwise != 0)
		return otherwise;
	if (given < least || given > INT32_MAX)
		node_fail(v, ERR_USAGE, "its %s[%d] is %lld, but must be from %lld to %d", what, k, (long long)given,
			(long long)least, INT32_MAX);
	return given;
}

/* Windows over x. `pool`: strides are the kernel's sizes where they are not given. */
static Windows read_sizes(Visit *v, const Sizes *s, const Shape *x, bool pool)
{
	Windows w = windows_over(v, x);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		w.kernel[k] = size_of(v, "kernel", k, s->kernel[k], 1, 0);
		w.stride[k] = size_of(v, "stride", k, s->stride[k], 1, pool ? s->kernel[k] : 1);
		w.dilation[k] = size_of(v, "dilation", k, s->dilation[k], 1, 1);
	}
	for (int k = 0; k < 2 * w.n && node_ok(v); k++)
		w.pads[k] = size_of(v, "pads", k, s->pads[k], 0, 0);
	bool more = false;
	for (int k = w.n; k < LAYER_SPATIAL; k++)
		more |= s->kernel[k] != 0 || s->stride[k] != 0 || s->dilation[k] != 0;
	for (int k = 2 * w.n; k < 2 * LAYER_SPATIAL; k++)
		more |= s->pads[k] != 0;
	if (more && node_ok(v))
		node_fail(v, ERR_USAGE, "its input has %d spatial dimensions, but it is given sizes for more", w.n);
	if (node_ok(v) && s->pad != PAD_GIVEN)
		windows_pad_same(&w, x, s->pad == PAD_SAME);
	if (!node_ok(v))
		w.n = 0;
	return w;
}

/* Channels and groups of a convolution of x. */
static bool read_channels(Visit *v, const ConvLayer *c, int64_t channels, int64_t *out, int64_t *groups)
{
	*groups = c->groups == 0 ? 1 : c->groups;
	*out = c->out == 0 ? channels : c->out;
	if (node_ok(v) && (*out < 1 || *out > INT32_MAX))
		node_fail(v, ERR_USAGE, "its channels are %lld, but must be from 1 to %d", (long long)*out, INT32_MAX);
	if (node_ok(v) && (*groups < 1 || channels % *groups != 0 || *out % *groups != 0))
		node_fail(v, ERR_USAGE, "%lld groups do not divide the %lld channels of its input and its own %lld",
			(long long)*groups, (long long)channels, (long long)*out);
	return node_ok(v);
}

/* The weight and the bias of a convolution; the result's mean square is x's times `gain`. */
static bool read_weights(Net *net, Visit *v, const char *name, Act x, const ConvLayer *c, Shape w, int64_t out,
	double taps, int in[3], double *gain)
{
	if (!net_may_draw(v, x, c->weight == NULL))
		return false;
	Act weight = c->weight != NULL ? *c->weight : net_tensor(net, net_sub(net, name, "weight"), w, 0, sqrt(2 / taps));
	net_check_shape(net, v, "weight", weight, w);
	*gain = c->weight != NULL ? weight.square * taps : 2;
	in[0] = x.value;
	in[1] = weight.value;
	in[2] = DAG_NONE;
	if (c->bias != NULL)
		in[2] = c->bias->value;
	else if (c->biased && c->weight == NULL)
		in[2] = net_tensor(net, net_sub(net, name, "bias"), shape_of(1, &out), 0, 0.1).value;
	return net_ok(net);
}

/* He: variance 2 / fan-in, so the result's is twice the input's mean square. */
Act net_conv(Net *net, const char *name, Act x, const ConvLayer *c)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, "conv");
	const Shape s = net_shape(net, x);
	Windows win = read_sizes(v, &c->sizes, &s, false);
	int64_t out, groups;
	if (!read_channels(v, c, s.rank > 1 ? s.dim[1] : 1, &out, &groups))
		return x;
	Shape w = { 2 + win.n, { out, s.dim[1] / groups } };
	double taps = (double)w.dim[1], gain;
	for (int k = 0; k < win.n; k++)
		taps *= (double)(w.dim[2 + k] = win.kernel[k]);
	int in[3];
	if (!read_weights(net, v, name, x, c, w, out, taps, in, &gain))
		return x;
	Attr attr[] = { attr_ints("strides", win.stride, win.n), attr_ints("pads", win.pads, 2 * win.n),
		attr_ints("dilations", win.dilation, win.n), attr_int("groups", groups) };
	return net_call(net, name, OP_conv, in, 3, attr, 4, gain * x.square);
}

Act net_conv_transpose(Net *net, const char *name, Act x, const ConvLayer *c)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, "conv_transpose");
	const Shape s = net_shape(net, x);
	Windows win = read_sizes(v, &c->sizes, &s, false);
	int64_t out, groups, extend[LAYER_SPATIAL];
	if (!read_channels(v, c, s.rank > 1 ? s.dim[1] : 1, &out, &groups))
		return x;
	Shape w = { 2 + win.n, { s.dim[1], out / groups } };
	double taps = (double)(s.dim[1] / groups), gain;
	for (int k = 0; k < win.n; k++) {
		taps *= (double)(w.dim[2 + k] = win.kernel[k]);
		extend[k] = size_of(v, "extend", k, c->extend[k], 0, 0);
	}
	for (int k = win.n; k < LAYER_SPATIAL && net_ok(net); k++)
		if (c->extend[k] != 0)
			node_fail(v, ERR_USAGE, "its input has %d spatial dimensions, but it is given an extend for more", win.n);
	for (int k = 0; k < win.n; k++)
		taps /= (double)win.stride[k];
	if (c->sizes.pad != PAD_GIVEN && net_ok(net))
		windows_pad_transposed(&win, &s, NULL, c->sizes.pad == PAD_SAME, extend);
	int in[3];
	if (!read_weights(net, v, name, x, c, w, out, taps, in, &gain))
		return x;
	Attr attr[] = { attr_ints("strides", win.stride, win.n), attr_ints("pads", win.pads, 2 * win.n),
		attr_ints("dilations", win.dilation, win.n), attr_ints("output_padding", extend, win.n),
		attr_int("groups", groups) };
	return net_call(net, name, OP_conv_transpose, in, 3, attr, 5, gain * x.square);
}

Act net_pool(Net *net, const char *name, Act x, const PoolLayer *p)
{
	if (!net_ok(net))
		return x;
	const Shape s = net_shape(net, x);
	Windows w = read_sizes(net_visit(net, name, p->mean ? "avg_pool" : "max_pool"), &p->sizes, &s, true);
	Attr attr[] = { attr_ints("kernel", w.kernel, w.n), attr_ints("strides", w.stride, w.n),
		attr_ints("pads", w.pads, 2 * w.n), attr_ints("dilations", w.dilation, w.n), attr_int("ceil", p->ceil),
		attr_int("count_pad", p->count_pad) };
	return net_call(net, name, p->mean ? OP_avg_pool : OP_max_pool, &x.value, 1, attr, p->mean ? 6 : 5, x.square);
}

Act net_global_pool(Net *net, const char *name, Act x, bool mean, bool keep)
{
	if (!net_ok(net))
		return x;
	int64_t axes[DAG_MAX_RANK];
	const int rank = net_shape(net, x).rank;
	if (rank < 3)
		node_fail(net_visit(net, name, "global_pool"), ERR_TYPE, "its input has %d dimensions, but needs at least 3",
			rank);
	for (int k = 2; k < rank; k++)
		axes[k - 2] = k;
	Attr attr[] = { attr_ints("axes", axes, rank - 2), attr_int("keep", keep) };
	return net_call(net, name, mean ? OP_reduce_mean : OP_reduce_max, &x.value, 1, attr, 2, x.square);
}

/* Result i of `factor` for each element; linear: between the centres of elements, those at the edges repeated. */
static bool fill_taps(Visit *v, int axis, int64_t in, int64_t factor, bool linear, Taps *t)
{
	if (!node_taps(v, axis, in * factor, linear ? 2 : 1, t))
		return false;
	for (int64_t i = 0; i < t->out; i++) {
		if (!linear) {
			t->index[i] = i / factor;
			t->weight[i] = 1;
			continue;
		}
		double at = ((double)i + 0.5) / (double)factor - 0.5, low = floor(at);
		for (int k = 0; k < 2; k++) {
			int64_t from = (int64_t)low + k;
			t->index[2 * i + k] = from < 0 ? 0 : from >= in ? in - 1 : from;
			t->weight[2 * i + k] = k == 0 ? 1 - (at - low) : at - low;
		}
	}
	return true;
}

Act net_upsample(Net *net, const char *name, Act x, const int64_t *factor, bool linear)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, "upsample");
	const size_t before = net->dag->value.n;
	const Shape s = net_shape(net, x);
	int y = x.value;
	Windows w = windows_over(v, &s);
	for (int k = 0; k < w.n && node_ok(v); k++) {
		Taps t;
		int64_t times = size_of(v, "factor", k, factor[k], 1, 0);
		if (times > 1 && node_ok(v) && fill_taps(v, 2 + k, s.dim[2 + k], times, linear, &t))
			y = node_resize_axis(v, y, 2 + k, &t);
	}
	return net_named(net, name, y, before, x.square);
}
