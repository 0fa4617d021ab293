/* DenseNet: Huang et al., "Densely Connected Convolutional Networks". Names are torchvision's. */
#include "frontend/zoo/zoo.h"

enum { GROWTH = 32, WIDTH = 4 * GROWTH };

static Act norm_relu_conv(Net *net, const char *name, int k, Act x, ConvSpec c)
{
	x = zoo_batch_norm(net, arena_printf(net->arena, "%s.norm%d", name, k), x, 1);
	x = zoo_relu(net, arena_printf(net->arena, "%s.relu%d", name, k), x);
	return zoo_conv(net, arena_printf(net->arena, "%s.conv%d", name, k), x, c);
}

/* Each layer's input is the concatenation of the block's input and all layers before. */
static Act dense_block(Net *net, const char *name, Act x, int layers)
{
	for (int k = 1; k <= layers && net_ok(net); k++) {
		const char *layer = arena_printf(net->arena, "%s.denselayer%d", name, k);
		Act y = norm_relu_conv(net, layer, 1, x, (ConvSpec){ .out = WIDTH, .kernel = 1, .stride = 1, .groups = 1 });
		y = norm_relu_conv(
			net, layer, 2, y, (ConvSpec){ .out = GROWTH, .kernel = 3, .stride = 1, .pad = 1, .groups = 1 });
		x = net_concat(net, net_sub(net, layer, "concat"), (const Act[]){ x, y }, 2, 1);
	}
	return x;
}

static Act build(Net *net, Act x, const int layers[4])
{
	x = zoo_conv(net, "features.conv0", x,
		(ConvSpec){ .out = 2 * GROWTH, .kernel = 7, .stride = 2, .pad = 3, .groups = 1 });
	x = zoo_relu(net, "features.relu0", zoo_batch_norm(net, "features.norm0", x, 1));
	x = zoo_pool(net, "features.pool0", x, (PoolSpec){ .kernel = 3, .stride = 2, .pad = 1 });
	for (int k = 0; k < 4 && net_ok(net); k++) {
		x = dense_block(net, arena_printf(net->arena, "features.denseblock%d", k + 1), x, layers[k]);
		if (k == 3 || !net_ok(net))
			break;
		const char *name = arena_printf(net->arena, "features.transition%d", k + 1);
		x = zoo_relu(net, net_sub(net, name, "relu"), zoo_batch_norm(net, net_sub(net, name, "norm"), x, 1));
		x = zoo_conv(net, net_sub(net, name, "conv"), x,
			(ConvSpec){ .out = net_channels(net, x) / 2, .kernel = 1, .stride = 1, .groups = 1 });
		x = zoo_pool(net, net_sub(net, name, "pool"), x, (PoolSpec){ .kernel = 2, .stride = 2, .mean = true });
	}
	x = zoo_relu(net, "relu", zoo_batch_norm(net, "features.norm5", x, 1));
	return zoo_classifier(net, "classifier", net_global_pool(net, "avgpool", x, true, false));
}

Act zoo_densenet121(Net *net, Act x)
{
	return build(net, x, (const int[]){ 6, 12, 24, 16 });
}

Act zoo_densenet169(Net *net, Act x)
{
	return build(net, x, (const int[]){ 6, 12, 32, 32 });
}
