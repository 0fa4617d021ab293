/* ConvNeXt: Liu et al., "A ConvNet for the 2020s". Names are torchvision's. */
#include "frontend/zoo/transformer.h"
#include "frontend/zoo/zoo.h"

static Act permuted(Net *net, const char *name, Act x, int64_t a, int64_t b, int64_t c)
{
	return net_transpose(net, name, x, (int64_t[]){ 0, a, b, c });
}

/* A layer norm over channels. */
static Act channel_norm(Net *net, const char *name, Act x)
{
	x = zoo_layer_norm(net, name, permuted(net, net_sub(net, name, "last"), x, 2, 3, 1));
	return permuted(net, net_sub(net, name, "first"), x, 3, 1, 2);
}

static Act block(Net *net, const char *name, Act x)
{
	if (!net_ok(net))
		return x;
	int64_t n = net_channels(net, x);
	Act y = zoo_conv(net, net_sub(net, name, "block.0"), x,
		(ConvSpec){ .out = n, .kernel = 7, .stride = 1, .pad = 3, .groups = n, .bias = true });
	y = zoo_layer_norm(net, net_sub(net, name, "block.2"), permuted(net, net_sub(net, name, "block.1"), y, 2, 3, 1));
	y = zoo_gelu(net, net_sub(net, name, "block.4"), zoo_dense(net, net_sub(net, name, "block.3"), y, 4 * n, 1));
	y = permuted(net, net_sub(net, name, "block.6"), zoo_dense(net, net_sub(net, name, "block.5"), y, n, 0.5), 3, 1, 2);
	Act scale = net_tensor(net, net_sub(net, name, "layer_scale"), (Shape){ 3, { n, 1, 1 } }, 0.3, 0.05);
	y = net_binary(net, net_sub(net, name, "scaled"), OP_mul, y, scale, y.square / 10);
	return net_add(net, net_sub(net, name, "add"), x, y);
}

Act zoo_convnext_tiny(Net *net, Act x)
{
	static const struct {
		int64_t width;
		int blocks;
	} stages[] = { { 96, 3 }, { 192, 3 }, { 384, 9 }, { 768, 3 } };
	x = zoo_conv(net, "features.0.0", x, (ConvSpec){ .out = 96, .kernel = 4, .stride = 4, .groups = 1, .bias = true });
	x = channel_norm(net, "features.0.1", x);
	for (int k = 0; k < 4; k++) {
		if (k > 0) {
			const char *name = net_numbered(net, "features", 2 * k);
			x = zoo_conv(net, net_sub(net, name, "1"), channel_norm(net, net_sub(net, name, "0"), x),
				(ConvSpec){ .out = stages[k].width, .kernel = 2, .stride = 2, .groups = 1, .bias = true });
		}
		for (int i = 0; i < stages[k].blocks; i++)
			x = block(net, arena_printf(net->arena, "features.%d.%d", 2 * k + 1, i), x);
	}
	x = channel_norm(net, "classifier.0", net_global_pool(net, "avgpool", x, true, true));
	if (!net_ok(net))
		return x;
	x = net_reshape(net, "flatten", x, (int64_t[]){ net_dim(net, x, 0), net_channels(net, x) }, 2);
	return zoo_classifier(net, "classifier.2", x);
}
