/* SqueezeNet: Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters". */
#include "frontend/zoo/zoo.h"

typedef struct Module {
	int number; /* torchvision's, of the layer; 0: the end */
	int64_t squeeze, expand; /* squeeze > 0: a fire module, 0: a pool */
} Module;

static Act conv_relu(Net *net, const char *name, Act x, ConvSpec c)
{
	return zoo_relu(net, arena_printf(net->arena, "%s_activation", name), zoo_conv(net, name, x, c));
}

static Act fire(Net *net, const char *name, Act x, const Module *f)
{
	ConvSpec one = { .out = f->squeeze, .kernel = 1, .stride = 1, .groups = 1, .bias = true }, three = one;
	x = conv_relu(net, net_sub(net, name, "squeeze"), x, one);
	one.out = three.out = f->expand;
	three.kernel = 3, three.pad = 1;
	Act part[] = { conv_relu(net, net_sub(net, name, "expand1x1"), x, one),
		conv_relu(net, net_sub(net, name, "expand3x3"), x, three) };
	return net_concat(net, net_sub(net, name, "concat"), part, 2, 1);
}

static Act build(Net *net, Act x, ConvSpec first, const Module *f)
{
	x = conv_relu(net, "features.0", x, first);
	for (; f->number > 0 && net_ok(net); f++) {
		const char *name = net_numbered(net, "features", f->number);
		x = f->squeeze > 0 ? fire(net, name, x, f)
		                   : zoo_pool(net, name, x, (PoolSpec){ .kernel = 3, .stride = 2, .ceil = true });
	}
	x = conv_relu(net, "classifier.1", x,
		(ConvSpec){ .out = ZOO_CLASSES, .kernel = 1, .stride = 1, .groups = 1, .bias = true });
	return net_global_pool(net, "classifier.3", x, true, false);
}

Act zoo_squeezenet1_0(Net *net, Act x)
{
	static const Module f[] = { { 2, 0, 0 }, { 3, 16, 64 }, { 4, 16, 64 }, { 5, 32, 128 }, { 6, 0, 0 },
		{ 7, 32, 128 }, { 8, 48, 192 }, { 9, 48, 192 }, { 10, 64, 256 }, { 11, 0, 0 }, { 12, 64, 256 }, { 0, 0, 0 } };
	return build(net, x, (ConvSpec){ .out = 96, .kernel = 7, .stride = 2, .groups = 1, .bias = true }, f);
}

Act zoo_squeezenet1_1(Net *net, Act x)
{
	static const Module f[] = { { 2, 0, 0 }, { 3, 16, 64 }, { 4, 16, 64 }, { 5, 0, 0 }, { 6, 32, 128 },
		{ 7, 32, 128 }, { 8, 0, 0 }, { 9, 48, 192 }, { 10, 48, 192 }, { 11, 64, 256 }, { 12, 64, 256 }, { 0, 0, 0 } };
	return build(net, x, (ConvSpec){ .out = 64, .kernel = 3, .stride = 2, .groups = 1, .bias = true }, f);
}
