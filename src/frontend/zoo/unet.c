/*
 * Networks that make images: U-Net: Ronneberger et al., "U-Net: Convolutional Networks for Biomedical Image
 * Segmentation", with padded convolutions and batch norms; DCGAN: Radford et al., "Unsupervised Representation Learning
 * with Deep Convolutional Generative Adversarial Networks", the generator.
 */
#include "frontend/zoo/zoo.h"

static Act norm_relu(Net *net, const char *name, Act x)
{
	return zoo_relu(net, net_sub(net, name, "relu"), zoo_batch_norm(net, net_sub(net, name, "norm"), x, 1));
}

/* Two 3x3 convolutions. */
static Act double_conv(Net *net, const char *name, Act x, int64_t out)
{
	const ConvSpec c = { .out = out, .kernel = 3, .stride = 1, .pad = 1, .groups = 1 };
	const char *first = net_sub(net, name, "conv1"), *second = net_sub(net, name, "conv2");
	x = norm_relu(net, first, zoo_conv(net, first, x, c));
	return norm_relu(net, second, zoo_conv(net, second, x, c));
}

Act zoo_unet(Net *net, Act x)
{
	enum { DEPTH = 4, FIRST = 64 };
	if (net_dim(net, x, 2) % (1 << DEPTH) != 0 || net_dim(net, x, 3) % (1 << DEPTH) != 0) {
		fail(net->err, ERR_USAGE, "shape", "data must have a height and a width that are multiples of %d",
			1 << DEPTH);
		return x;
	}
	Act level[DEPTH];
	for (int k = 0; k < DEPTH; k++) {
		const char *name = net_numbered(net, "down", k);
		level[k] = double_conv(net, name, x, (int64_t)FIRST << k);
		x = zoo_pool(net, net_sub(net, name, "pool"), level[k], (PoolSpec){ .kernel = 2, .stride = 2 });
	}
	x = double_conv(net, "bottom", x, (int64_t)FIRST << DEPTH);
	for (int k = DEPTH - 1; k >= 0; k--) {
		const char *name = net_numbered(net, "up", k);
		ConvSpec c = { .out = (int64_t)FIRST << k, .kernel = 2, .stride = 2, .groups = 1, .bias = true };
		Act part[] = { level[k], zoo_conv_transpose(net, name, x, c) };
		x = double_conv(net, name, net_concat(net, net_sub(net, name, "concat"), part, 2, 1), c.out);
	}
	return zoo_conv(net, "out_conv", x, (ConvSpec){ .out = 2, .kernel = 1, .stride = 1, .groups = 1, .bias = true });
}

Act zoo_dcgan(Net *net, Act x)
{
	static const int64_t out[] = { 512, 256, 128, 64, 3 };
	for (int k = 0; k < 5; k++) {
		const char *name = net_numbered(net, "main", 3 * k);
		ConvSpec c = { .out = out[k], .kernel = 4, .stride = k == 0 ? 1 : 2, .pad = k == 0 ? 0 : 1 };
		x = zoo_conv_transpose(net, name, x, c);
		if (k < 4)
			x = norm_relu(net, name, x);
	}
	return net_unary(net, "tanh", OP_tanh, x, 0.5);
}
