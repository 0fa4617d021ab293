/*
 * Tiny YOLO v2: Redmon and Farhadi, "YOLO9000: Better, Faster, Stronger". The head gives, for each cell and anchor, the
 * place and size of a box, that it holds something, and the shares of 20 classes.
 */
#include "frontend/zoo/zoo.h"

enum { ANCHORS = 5, CLASSES = 20 };

static Act leaky(Net *net, const char *name, Act x)
{
	Attr attr = attr_float("alpha", 0.1);
	return net_call(net, name, OP_leaky_relu, &x.value, 1, &attr, 1, x.square / 2);
}

static Act conv(Net *net, int number, Act x, int64_t out)
{
	const char *name = net_numbered(net, "conv", number);
	x = zoo_conv(net, name, x, (ConvSpec){ .out = out, .kernel = 3, .stride = 1, .pad = 1, .groups = 1 });
	return leaky(net, net_sub(net, name, "leaky"), zoo_batch_norm(net, net_sub(net, name, "bn"), x, 1));
}

/* Numbers from .. from + n of each anchor. */
static Act part(Net *net, const char *name, Act x, int64_t from, int64_t n)
{
	if (!net_ok(net))
		return x;
	Shape s = net_shape(net, x);
	int64_t starts[] = { 0, 0, from, 0, 0 };
	s.dim[2] = n;
	Attr attr[] = { attr_ints("starts", starts, 5), attr_ints("sizes", s.dim, 5) };
	return net_call(net, name, OP_slice, &x.value, 1, attr, 2, x.square);
}

static Act head(Net *net, Act x)
{
	if (!net_ok(net))
		return x;
	const Shape s = net_shape(net, x);
	x = net_reshape(net, "anchors", x, (int64_t[]){ s.dim[0], ANCHORS, 5 + CLASSES, s.dim[2], s.dim[3] }, 5);
	Act place = net_unary(net, "place", OP_sigmoid, part(net, "place.raw", x, 0, 2), 0.3);
	Act size = net_unary(net, "size", OP_exp, part(net, "size.raw", x, 2, 2), 2);
	Act there = net_unary(net, "there", OP_sigmoid, part(net, "there.raw", x, 4, 1), 0.3);
	Act classes = part(net, "classes.raw", x, 5, CLASSES);
	Attr axis = attr_int("axis", 2);
	classes = net_call(net, "classes", OP_softmax, &classes.value, 1, &axis, 1, 0.01);
	int in[] = { place.value, size.value, there.value, classes.value };
	return net_call(net, "boxes", OP_concat, in, 4, &axis, 1, 0.3);
}

Act zoo_yolo_v2_tiny(Net *net, Act x)
{
	static const int64_t out[] = { 16, 32, 64, 128, 256, 512 };
	for (int k = 0; k < 6; k++) {
		x = conv(net, k + 1, x, out[k]);
		if (k < 5)
			x = zoo_pool(net, net_numbered(net, "pool", k + 1), x, (PoolSpec){ .kernel = 2, .stride = 2 });
	}
	/* The last pooling keeps the size: nothing is behind the last row and column. */
	int64_t kernel[] = { 2, 2 }, pads[] = { 0, 0, 1, 1 };
	Attr attr[] = { attr_ints("kernel", kernel, 2), attr_ints("pads", pads, 4) };
	x = net_call(net, "pool.6", OP_max_pool, &x.value, 1, attr, 2, x.square);
	x = conv(net, 8, conv(net, 7, x, 1024), 1024);
	const ConvSpec last = { .out = ANCHORS * (5 + CLASSES), .kernel = 1, .stride = 1, .groups = 1, .bias = true };
	return head(net, zoo_conv(net, "conv.9", x, last));
}
