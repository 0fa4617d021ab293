/*
 * MobileNet v1 to v3: Howard et al., "MobileNets: Efficient Convolutional Neural Networks for Mobile Vision
 * Applications"; Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks"; Howard et al.,
 * "Searching for MobileNetV3". Activations of the first two are clipped at 6, as in their authors' published networks.
 */
#include "frontend/zoo/zoo.h"

static Act conv_bn_relu6(Net *net, const char *name, Act x, ConvSpec c)
{
	return zoo_clip(net, net_sub(net, name, "2"), zoo_conv_norm(net, name, x, c, 1), 0, 6);
}

/* ---- version 1 */

Act zoo_mobilenet_v1(Net *net, Act x)
{
	static const struct {
		int64_t out, stride;
	} rows[] = { { 64, 1 }, { 128, 2 }, { 128, 1 }, { 256, 2 }, { 256, 1 }, { 512, 2 }, { 512, 1 }, { 512, 1 },
		{ 512, 1 }, { 512, 1 }, { 512, 1 }, { 1024, 2 }, { 1024, 1 } };
	x = conv_bn_relu6(
		net, "features.0", x, (ConvSpec){ .out = 32, .kernel = 3, .stride = 2, .pad = 1, .groups = 1 });
	for (int row = 0; row < (int)(sizeof rows / sizeof *rows) && net_ok(net); row++) {
		const char *name = net_numbered(net, "features", row + 1);
		int64_t in = net_channels(net, x);
		x = conv_bn_relu6(net, net_sub(net, name, "depthwise"), x,
			(ConvSpec){ .out = in, .kernel = 3, .stride = rows[row].stride, .pad = 1, .groups = in });
		x = conv_bn_relu6(net, net_sub(net, name, "pointwise"), x,
			(ConvSpec){ .out = rows[row].out, .kernel = 1, .stride = 1, .groups = 1 });
	}
	return zoo_classifier(net, "classifier", net_global_pool(net, "avgpool", x, true, false));
}

/* ---- version 2 */

typedef struct Residuals {
	int64_t expand, out;
	int blocks;
	int64_t stride;
} Residuals;

static Act inverted_residual(Net *net, const char *name, Act x, const Residuals *r, int64_t stride)
{
	int64_t in = net_channels(net, x), inner = in * r->expand;
	int k = 0;
	Act y = x;
	if (r->expand > 1)
		y = conv_bn_relu6(net, arena_printf(net->arena, "%s.conv.%d", name, k++), y,
			(ConvSpec){ .out = inner, .kernel = 1, .stride = 1, .groups = 1 });
	y = conv_bn_relu6(net, arena_printf(net->arena, "%s.conv.%d", name, k++), y,
		(ConvSpec){ .out = inner, .kernel = 3, .stride = stride, .pad = 1, .groups = inner });
	y = zoo_conv(net, arena_printf(net->arena, "%s.conv.%d", name, k), y,
		(ConvSpec){ .out = r->out, .kernel = 1, .stride = 1, .groups = 1 });
	bool residual = stride == 1 && in == r->out;
	y = zoo_batch_norm(net, arena_printf(net->arena, "%s.conv.%d", name, k + 1), y, residual ? 0.5 : 1);
	return residual ? net_add(net, net_sub(net, name, "add"), x, y) : y;
}

Act zoo_mobilenet_v2(Net *net, Act x)
{
	static const Residuals rows[] = { { 1, 16, 1, 1 }, { 6, 24, 2, 2 }, { 6, 32, 3, 2 }, { 6, 64, 4, 2 },
		{ 6, 96, 3, 1 }, { 6, 160, 3, 2 }, { 6, 320, 1, 1 } };
	int n = 0;
	x = conv_bn_relu6(
		net, "features.0", x, (ConvSpec){ .out = 32, .kernel = 3, .stride = 2, .pad = 1, .groups = 1 });
	for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
		for (int k = 0; k < rows[row].blocks && net_ok(net); k++)
			x = inverted_residual(
				net, net_numbered(net, "features", ++n), x, &rows[row], k == 0 ? rows[row].stride : 1);
	x = conv_bn_relu6(net, net_numbered(net, "features", ++n), x,
		(ConvSpec){ .out = 1280, .kernel = 1, .stride = 1, .groups = 1 });
	return zoo_classifier(net, "classifier.1", net_global_pool(net, "avgpool", x, true, false));
}

/* ---- version 3 */

typedef struct Bneck {
	int64_t kernel, inner, out;
	bool squeeze, hard; /* a squeeze-and-excite; hard swish instead of relu */
	int64_t stride;
} Bneck;

static Act active(Net *net, const char *name, Act x, bool hard)
{
	return hard ? net_unary(net, name, OP_hard_swish, x, x.square / 2) : zoo_relu(net, name, x);
}

static Act conv_bn_active(Net *net, const char *name, Act x, ConvSpec c, bool hard)
{
	return active(net, net_sub(net, name, "2"), zoo_conv_norm(net, name, x, c, 1), hard);
}

static Act excite(Net *net, const char *name, Act x)
{
	if (!net_ok(net))
		return x;
	int64_t n = net_channels(net, x);
	ConvSpec c = { .out = zoo_round_to_8((double)n / 4), .kernel = 1, .stride = 1, .groups = 1, .bias = true };
	Act s = net_global_pool(net, net_sub(net, name, "avgpool"), x, true, true);
	s = zoo_relu(net, net_sub(net, name, "activation"), zoo_conv(net, net_sub(net, name, "fc1"), s, c));
	c.out = n;
	s = zoo_conv(net, net_sub(net, name, "fc2"), s, c);
	Attr attr = attr_float("alpha", 1.0 / 6);
	s = net_call(net, net_sub(net, name, "scale"), OP_hard_sigmoid, &s.value, 1, &attr, 1, 0.3);
	return net_binary(net, net_sub(net, name, "mul"), OP_mul, x, s, x.square * 0.3);
}

static Act bneck(Net *net, const char *name, Act x, const Bneck *b)
{
	int64_t in = net_channels(net, x);
	int k = 0;
	Act y = x;
	name = net_sub(net, name, "block");
	if (b->inner != in)
		y = conv_bn_active(net, net_numbered(net, name, k++), y,
			(ConvSpec){ .out = b->inner, .kernel = 1, .stride = 1, .groups = 1 }, b->hard);
	y = conv_bn_active(net, net_numbered(net, name, k++), y,
		(ConvSpec){
			.out = b->inner, .kernel = b->kernel, .stride = b->stride, .pad = b->kernel / 2, .groups = b->inner },
		b->hard);
	if (b->squeeze)
		y = excite(net, net_numbered(net, name, k++), y);
	bool residual = b->stride == 1 && in == b->out;
	y = zoo_conv_norm(net, net_numbered(net, name, k), y,
		(ConvSpec){ .out = b->out, .kernel = 1, .stride = 1, .groups = 1 }, residual ? 0.5 : 1);
	return residual ? net_add(net, net_sub(net, name, "add"), x, y) : y;
}

static Act version3(Net *net, Act x, const Bneck *b, int n, int64_t wide)
{
	x = conv_bn_active(net, "features.0", x,
		(ConvSpec){ .out = 16, .kernel = 3, .stride = 2, .pad = 1, .groups = 1 }, true);
	for (int k = 0; k < n && net_ok(net); k++)
		x = bneck(net, net_numbered(net, "features", k + 1), x, &b[k]);
	x = conv_bn_active(net, net_numbered(net, "features", n + 1), x,
		(ConvSpec){ .out = 6 * b[n - 1].out, .kernel = 1, .stride = 1, .groups = 1 }, true);
	x = zoo_dense(net, "classifier.0", net_global_pool(net, "avgpool", x, true, false), wide, 2);
	return zoo_classifier(net, "classifier.3", active(net, "classifier.1", x, true));
}

Act zoo_mobilenet_v3_small(Net *net, Act x)
{
	static const Bneck b[] = { { 3, 16, 16, true, false, 2 }, { 3, 72, 24, false, false, 2 },
		{ 3, 88, 24, false, false, 1 }, { 5, 96, 40, true, true, 2 }, { 5, 240, 40, true, true, 1 },
		{ 5, 240, 40, true, true, 1 }, { 5, 120, 48, true, true, 1 }, { 5, 144, 48, true, true, 1 },
		{ 5, 288, 96, true, true, 2 }, { 5, 576, 96, true, true, 1 }, { 5, 576, 96, true, true, 1 } };
	return version3(net, x, b, sizeof b / sizeof *b, 1024);
}

Act zoo_mobilenet_v3_large(Net *net, Act x)
{
	static const Bneck b[] = { { 3, 16, 16, false, false, 1 }, { 3, 64, 24, false, false, 2 },
		{ 3, 72, 24, false, false, 1 }, { 5, 72, 40, true, false, 2 }, { 5, 120, 40, true, false, 1 },
		{ 5, 120, 40, true, false, 1 }, { 3, 240, 80, false, true, 2 }, { 3, 200, 80, false, true, 1 },
		{ 3, 184, 80, false, true, 1 }, { 3, 184, 80, false, true, 1 }, { 3, 480, 112, true, true, 1 },
		{ 3, 672, 112, true, true, 1 }, { 5, 672, 160, true, true, 2 }, { 5, 960, 160, true, true, 1 },
		{ 5, 960, 160, true, true, 1 } };
	return version3(net, x, b, sizeof b / sizeof *b, 1280);
}
