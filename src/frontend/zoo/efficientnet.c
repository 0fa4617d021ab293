/* EfficientNet: Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks". */
#include "frontend/zoo/zoo.h"

#include <math.h>

typedef struct Stage {
	int64_t expand, kernel, stride, out;
	int layers;
} Stage;

static const Stage stages[] = { { 1, 3, 1, 16, 1 }, { 6, 3, 2, 24, 2 }, { 6, 5, 2, 40, 2 }, { 6, 3, 2, 80, 3 },
	{ 6, 5, 1, 112, 3 }, { 6, 5, 2, 192, 4 }, { 6, 3, 1, 320, 1 } };
enum { NSTAGE = sizeof stages / sizeof *stages };

/* x * sigmoid(x) */
static Act silu(Net *net, const char *name, Act x)
{
	Act s = net_unary(net, net_sub(net, name, "sigmoid"), OP_sigmoid, x, 0.3);
	return net_binary(net, name, OP_mul, x, s, x.square * 0.35);
}

static Act conv_bn_silu(Net *net, const char *name, Act x, ConvSpec c)
{
	return silu(net, net_sub(net, name, "2"), zoo_conv_norm(net, name, x, c, 1));
}

static Act excite(Net *net, const char *name, Act x, int64_t squeezed)
{
	int64_t n = net_channels(net, x);
	ConvSpec c = { .out = squeezed, .kernel = 1, .stride = 1, .groups = 1, .bias = true };
	Act s = net_global_pool(net, net_sub(net, name, "avgpool"), x, true, true);
	s = silu(net, net_sub(net, name, "activation"), zoo_conv(net, net_sub(net, name, "fc1"), s, c));
	c.out = n;
	s = zoo_conv(net, net_sub(net, name, "fc2"), s, c);
	s = net_unary(net, net_sub(net, name, "scale"), OP_sigmoid, s, 0.3);
	return net_binary(net, net_sub(net, name, "mul"), OP_mul, x, s, x.square * 0.3);
}

static Act mbconv(Net *net, const char *name, Act x, const Stage *s, int64_t out, int64_t stride)
{
	int64_t in = net_channels(net, x), inner = in * s->expand;
	int k = 0;
	Act y = x;
	name = net_sub(net, name, "block");
	if (s->expand > 1)
		y = conv_bn_silu(net, net_numbered(net, name, k++), y,
			(ConvSpec){ .out = inner, .kernel = 1, .stride = 1, .groups = 1 });
	y = conv_bn_silu(net, net_numbered(net, name, k++), y,
		(ConvSpec){ .out = inner, .kernel = s->kernel, .stride = stride, .pad = s->kernel / 2, .groups = inner });
	if (!net_ok(net))
		return y;
	y = excite(net, net_numbered(net, name, k++), y, in >= 4 ? in / 4 : 1);
	bool residual = stride == 1 && in == out;
	y = zoo_conv_norm(net, net_numbered(net, name, k), y,
		(ConvSpec){ .out = out, .kernel = 1, .stride = 1, .groups = 1 }, residual ? 0.5 : 1);
	return residual ? net_add(net, net_sub(net, name, "add"), x, y) : y;
}

static Act build(Net *net, Act x, double width, double depth)
{
	x = conv_bn_silu(net, "features.0", x,
		(ConvSpec){ .out = zoo_round_to_8(width * 32), .kernel = 3, .stride = 2, .pad = 1, .groups = 1 });
	for (int k = 0; k < NSTAGE; k++) {
		int layers = (int)ceil(stages[k].layers * depth);
		for (int i = 0; i < layers && net_ok(net); i++)
			x = mbconv(net, arena_printf(net->arena, "features.%d.%d", k + 1, i), x, &stages[k],
				zoo_round_to_8(width * stages[k].out), i == 0 ? stages[k].stride : 1);
	}
	x = conv_bn_silu(net, net_numbered(net, "features", NSTAGE + 1), x,
		(ConvSpec){ .out = 4 * zoo_round_to_8(width * 320), .kernel = 1, .stride = 1, .groups = 1 });
	return zoo_classifier(net, "classifier.1", net_global_pool(net, "avgpool", x, true, false));
}

#define EFFICIENTNET(name, width, depth) \
	Act zoo_##name(Net *net, Act x) \
	{ \
		return build(net, x, width, depth); \
	}
EFFICIENTNET(efficientnet_b0, 1.0, 1.0)
EFFICIENTNET(efficientnet_b1, 1.0, 1.1)
EFFICIENTNET(efficientnet_b2, 1.1, 1.2)
EFFICIENTNET(efficientnet_b3, 1.2, 1.4)
EFFICIENTNET(efficientnet_b4, 1.4, 1.8)
