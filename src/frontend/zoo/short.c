/* See short.h. */
#include "frontend/zoo/short.h"

int64_t zoo_round_to_8(double v)
{
	int64_t n = (int64_t)(v + 4) / 8 * 8;
	n = n < 8 ? 8 : n;
	return (double)n < 0.9 * v ? n + 8 : n;
}

static ConvLayer layer_of(const ConvSpec *c)
{
	int64_t wide = c->wide > 0 ? c->wide : c->kernel, wide_pad = c->wide > 0 ? c->wide_pad : c->pad;
	return (ConvLayer){ .out = c->out,
		.groups = c->groups,
		.sizes = { .kernel = { c->kernel, wide },
			.stride = { c->stride, c->stride },
			.pads = { c->pad, wide_pad, c->pad, wide_pad } },
		.biased = c->bias };
}

Act zoo_conv(Net *net, const char *name, Act x, ConvSpec c)
{
	ConvLayer l = layer_of(&c);
	return net_conv(net, name, x, &l);
}

Act zoo_conv_transpose(Net *net, const char *name, Act x, ConvSpec c)
{
	ConvLayer l = layer_of(&c);
	return net_conv_transpose(net, name, x, &l);
}

Act zoo_batch_norm(Net *net, const char *name, Act x, double scale)
{
	return net_batch_norm(net, name, x, &(NormLayer){ .deviation = scale });
}

Act zoo_conv_norm(Net *net, const char *name, Act x, ConvSpec c, double scale)
{
	return zoo_batch_norm(net, net_sub(net, name, "1"), zoo_conv(net, net_sub(net, name, "0"), x, c), scale);
}

Act zoo_relu(Net *net, const char *name, Act x)
{
	return net_activate(net, name, x, "relu", NULL);
}

Act zoo_clip(Net *net, const char *name, Act x, double lo, double hi)
{
	return net_activate(net, name, x, "clip", (const double[]){ lo, hi });
}

Act zoo_pool(Net *net, const char *name, Act x, PoolSpec p)
{
	PoolLayer l = { .sizes = { .kernel = { p.kernel, p.kernel },
						.stride = { p.stride, p.stride },
						.pads = { p.pad, p.pad, p.pad, p.pad } },
		.mean = p.mean,
		.ceil = p.ceil,
		.count_pad = true };
	return net_pool(net, name, x, &l);
}

Act zoo_adaptive_pool(Net *net, const char *name, Act x, int64_t size)
{
	if (!net_ok(net))
		return x;
	const Shape s = net_shape(net, x);
	int64_t h = s.dim[2], w = s.dim[3];
	if (h == size && w == size)
		return x;
	if (h == 1 && w == 1) {
		int64_t dim[] = { s.dim[0], s.dim[1], size, size };
		Attr attr = attr_ints("shape", dim, 4);
		return net_call(net, name, OP_expand, &x.value, 1, &attr, 1, x.square);
	}
	if (h % size != 0 || w % size != 0) {
		fail(net->err, ERR_USAGE, "shape",
			"gives maps of %lldx%lld before the classifier, which takes %lldx%lld: give data a size that makes "
			"multiples of that", (long long)h, (long long)w, (long long)size, (long long)size);
		return x;
	}
	return net_pool(
		net, name, x, &(PoolLayer){ .sizes = { .kernel = { h / size, w / size } }, .mean = true });
}

Act zoo_dense(Net *net, const char *name, Act x, int64_t out, double gain)
{
	return net_dense(net, name, x, &(DenseLayer){ .out = out, .gain = gain });
}

Act zoo_classifier(Net *net, const char *name, Act x)
{
	return zoo_dense(net, name, x, ZOO_CLASSES, 1);
}

Act zoo_layer_norm(Net *net, const char *name, Act x)
{
	return net_layer_norm(net, name, x, &(NormLayer){ 0 });
}
