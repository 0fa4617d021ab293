/*
 * ResNet: He et al., "Deep Residual Learning for Image Recognition"; ResNeXt: Xie et al., "Aggregated Residual
 * Transformations for Deep Neural Networks".
 */
#include "frontend/zoo/zoo.h"

typedef struct ResNet {
	int blocks[4];
	bool bottleneck; /* 1x1, 3x3, 1x1 to four times the width; else 3x3, 3x3 */
	int64_t groups;  /* of the 3x3 */
	int64_t factor;  /* of the width of a bottleneck */
} ResNet;

/* The second branch's batch norm halves it, so that the sum of many blocks does not grow. */
static Act residual_block(Net *net, const char *name, Act x, int64_t width, int64_t stride, const ResNet *r)
{
	int64_t out = r->bottleneck ? 4 * width : width, inner = width * r->factor;
	Act y = x, skip = x;
	int last = r->bottleneck ? 3 : 2;
	for (int k = 1; k <= last; k++) {
		bool wide = r->bottleneck && k != 2; /* 1x1; torchvision puts the stride on the 3x3 */
		ConvSpec c = { .out = k == last ? out : inner,
			.kernel = wide ? 1 : 3,
			.stride = k == (r->bottleneck ? 2 : 1) ? stride : 1,
			.pad = wide ? 0 : 1,
			.groups = wide ? 1 : r->groups };
		y = zoo_conv(net, arena_printf(net->arena, "%s.conv%d", name, k), y, c);
		y = zoo_batch_norm(net, arena_printf(net->arena, "%s.bn%d", name, k), y, k == last ? 0.5 : 1);
		if (k < last)
			y = zoo_relu(net, arena_printf(net->arena, "%s.relu%d", name, k), y);
	}
	if (net_ok(net) && (stride != 1 || net_channels(net, x) != out)) {
		skip = zoo_conv(net, net_sub(net, name, "downsample.0"), x,
			(ConvSpec){ .out = out, .kernel = 1, .stride = stride, .groups = 1 });
		skip = zoo_batch_norm(net, net_sub(net, name, "downsample.1"), skip, 1);
	}
	Act sum = net_add(net, net_sub(net, name, "add"), y, skip);
	y = zoo_relu(net, net_sub(net, name, "relu"), sum);
	y.square = sum.square; /* the skip is mostly positive: little is cut off */
	return y;
}

static Act build(Net *net, Act x, const ResNet *r)
{
	x = zoo_conv(net, "conv1", x, (ConvSpec){ .out = 64, .kernel = 7, .stride = 2, .pad = 3, .groups = 1 });
	x = zoo_relu(net, "relu", zoo_batch_norm(net, "bn1", x, 1));
	x = zoo_pool(net, "maxpool", x, (PoolSpec){ .kernel = 3, .stride = 2, .pad = 1 });
	for (int stage = 0; stage < 4; stage++)
		for (int k = 0; k < r->blocks[stage]; k++)
			x = residual_block(net, arena_printf(net->arena, "layer%d.%d", stage + 1, k), x, (int64_t)64 << stage,
				stage > 0 && k == 0 ? 2 : 1, r);
	return zoo_classifier(net, "fc", net_global_pool(net, "avgpool", x, true, false));
}

#define RESNET(name, ...) \
	Act zoo_##name(Net *net, Act x) \
	{ \
		static const ResNet r = { __VA_ARGS__ }; \
		return build(net, x, &r); \
	}
RESNET(resnet18, { 2, 2, 2, 2 }, false, 1, 1)
RESNET(resnet34, { 3, 4, 6, 3 }, false, 1, 1)
RESNET(resnet50, { 3, 4, 6, 3 }, true, 1, 1)
RESNET(resnet101, { 3, 4, 23, 3 }, true, 1, 1)
RESNET(resnet152, { 3, 8, 36, 3 }, true, 1, 1)
RESNET(resnext50, { 3, 4, 6, 3 }, true, 32, 2)
