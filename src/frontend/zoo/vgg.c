/*
 * AlexNet: Krizhevsky, "One weird trick for parallelizing convolutional neural networks"; VGG: Simonyan and Zisserman,
 * "Very Deep Convolutional Networks for Large-Scale Image Recognition". Names and sizes are torchvision's.
 */
#include "frontend/zoo/zoo.h"

static Act hidden(Net *net, const char *name, Act x)
{
	return zoo_relu(net, arena_printf(net->arena, "%s_activation", name), zoo_dense(net, name, x, 4096, 2));
}

/* The maps as size x size, flattened, and three products. */
static Act top(Net *net, Act x, int64_t size, const char *const name[3])
{
	x = zoo_adaptive_pool(net, "avgpool", x, size);
	int64_t flat[] = { net_ok(net) ? net_dim(net, x, 0) : 1, net_ok(net) ? net_channels(net, x) * size * size : 1 };
	x = net_reshape(net, "flatten", x, flat, 2);
	x = hidden(net, name[1], hidden(net, name[0], x));
	return zoo_classifier(net, name[2], x);
}

Act zoo_alexnet(Net *net, Act x)
{
	static const struct {
		int number;
		ConvSpec c;
		int pool; /* number of the pooling behind it; 0: none */
	} features[] = {
		{ 0, { .out = 64, .kernel = 11, .stride = 4, .pad = 2, .groups = 1, .bias = true }, 2 },
		{ 3, { .out = 192, .kernel = 5, .stride = 1, .pad = 2, .groups = 1, .bias = true }, 5 },
		{ 6, { .out = 384, .kernel = 3, .stride = 1, .pad = 1, .groups = 1, .bias = true }, 0 },
		{ 8, { .out = 256, .kernel = 3, .stride = 1, .pad = 1, .groups = 1, .bias = true }, 0 },
		{ 10, { .out = 256, .kernel = 3, .stride = 1, .pad = 1, .groups = 1, .bias = true }, 12 },
	};
	for (size_t k = 0; k < sizeof features / sizeof *features; k++) {
		x = zoo_conv(net, net_numbered(net, "features", features[k].number), x, features[k].c);
		x = zoo_relu(net, net_numbered(net, "features", features[k].number + 1), x);
		if (features[k].pool > 0)
			x = zoo_pool(net, net_numbered(net, "features", features[k].pool), x,
				(PoolSpec){ .kernel = 3, .stride = 2 });
	}
	return top(net, x, 6, (const char *const[]){ "classifier.1", "classifier.4", "classifier.6" });
}

/* Five stages of 3x3 convolutions, with a pooling behind each. */
static Act vgg(Net *net, Act x, const int convs[5])
{
	static const int64_t out[] = { 64, 128, 256, 512, 512 };
	int number = 0;
	for (int stage = 0; stage < 5; stage++) {
		for (int k = 0; k < convs[stage]; k++) {
			x = zoo_conv(net, net_numbered(net, "features", number++), x,
				(ConvSpec){ .out = out[stage], .kernel = 3, .stride = 1, .pad = 1, .groups = 1, .bias = true });
			x = zoo_relu(net, net_numbered(net, "features", number++), x);
		}
		x = zoo_pool(net, net_numbered(net, "features", number++), x, (PoolSpec){ .kernel = 2, .stride = 2 });
	}
	return top(net, x, 7, (const char *const[]){ "classifier.0", "classifier.3", "classifier.6" });
}

Act zoo_vgg16(Net *net, Act x)
{
	return vgg(net, x, (const int[]){ 2, 2, 3, 3, 3 });
}

Act zoo_vgg19(Net *net, Act x)
{
	return vgg(net, x, (const int[]){ 2, 2, 4, 4, 4 });
}
