/* Inception v3: Szegedy et al., "Rethinking the Inception Architecture for Computer Vision". */
#include "frontend/zoo/zoo.h"

typedef struct Layer {
	const char *name; /* NULL: the end of a branch */
	int64_t out, high, wide, stride;
	int64_t pad, wide_pad;
} Layer;

#define SQUARE(name, out, k, stride, pad) { name, out, k, k, stride, pad, pad }
#define HIGH(name, out, k) { name, out, k, 1, 1, (k) / 2, 0 }
#define WIDE(name, out, k) { name, out, 1, k, 1, 0, (k) / 2 }
#define END { 0 }

static Act layer(Net *net, const char *name, Act x, const Layer *l)
{
	name = net_sub(net, name, l->name);
	ConvSpec c = { .out = l->out, .kernel = l->high, .stride = l->stride, .pad = l->pad, .groups = 1, .wide = l->wide,
		.wide_pad = l->wide_pad };
	x = zoo_conv(net, net_sub(net, name, "conv"), x, c);
	return zoo_relu(net, net_sub(net, name, "relu"), zoo_batch_norm(net, net_sub(net, name, "bn"), x, 1));
}

static Act branch(Net *net, const char *name, Act x, const Layer *l)
{
	for (; l->name != NULL; l++)
		x = layer(net, name, x, l);
	return x;
}

static Act mean_pool(Net *net, const char *name, Act x)
{
	return zoo_pool(net, net_sub(net, name, "pool"), x, (PoolSpec){ .kernel = 3, .stride = 1, .pad = 1, .mean = true });
}

static Act max_pool(Net *net, const char *name, Act x)
{
	return zoo_pool(net, name, x, (PoolSpec){ .kernel = 3, .stride = 2 });
}

static Act block_a(Net *net, const char *name, Act x, int64_t pooled)
{
	const Layer one[] = { SQUARE("branch1x1", 64, 1, 1, 0), END };
	const Layer five[] = { SQUARE("branch5x5_1", 48, 1, 1, 0), SQUARE("branch5x5_2", 64, 5, 1, 2), END };
	const Layer three[] = { SQUARE("branch3x3dbl_1", 64, 1, 1, 0), SQUARE("branch3x3dbl_2", 96, 3, 1, 1),
		SQUARE("branch3x3dbl_3", 96, 3, 1, 1), END };
	const Layer pool[] = { SQUARE("branch_pool", pooled, 1, 1, 0), END };
	Act part[] = { branch(net, name, x, one), branch(net, name, x, five), branch(net, name, x, three),
		branch(net, name, mean_pool(net, name, x), pool) };
	return net_concat(net, name, part, 4, 1);
}

static Act block_b(Net *net, const char *name, Act x)
{
	const Layer three[] = { SQUARE("branch3x3", 384, 3, 2, 0), END };
	const Layer twice[] = { SQUARE("branch3x3dbl_1", 64, 1, 1, 0), SQUARE("branch3x3dbl_2", 96, 3, 1, 1),
		SQUARE("branch3x3dbl_3", 96, 3, 2, 0), END };
	Act part[] = { branch(net, name, x, three), branch(net, name, x, twice),
		max_pool(net, net_sub(net, name, "pool"), x) };
	return net_concat(net, name, part, 3, 1);
}

static Act block_c(Net *net, const char *name, Act x, int64_t n)
{
	const Layer one[] = { SQUARE("branch1x1", 192, 1, 1, 0), END };
	const Layer seven[] = { SQUARE("branch7x7_1", n, 1, 1, 0), WIDE("branch7x7_2", n, 7), HIGH("branch7x7_3", 192, 7),
		END };
	const Layer twice[] = { SQUARE("branch7x7dbl_1", n, 1, 1, 0), HIGH("branch7x7dbl_2", n, 7),
		WIDE("branch7x7dbl_3", n, 7), HIGH("branch7x7dbl_4", n, 7), WIDE("branch7x7dbl_5", 192, 7), END };
	const Layer pool[] = { SQUARE("branch_pool", 192, 1, 1, 0), END };
	Act part[] = { branch(net, name, x, one), branch(net, name, x, seven), branch(net, name, x, twice),
		branch(net, name, mean_pool(net, name, x), pool) };
	return net_concat(net, name, part, 4, 1);
}

static Act block_d(Net *net, const char *name, Act x)
{
	const Layer three[] = { SQUARE("branch3x3_1", 192, 1, 1, 0), SQUARE("branch3x3_2", 320, 3, 2, 0), END };
	const Layer seven[] = { SQUARE("branch7x7x3_1", 192, 1, 1, 0), WIDE("branch7x7x3_2", 192, 7),
		HIGH("branch7x7x3_3", 192, 7), SQUARE("branch7x7x3_4", 192, 3, 2, 0), END };
	Act part[] = { branch(net, name, x, three), branch(net, name, x, seven),
		max_pool(net, net_sub(net, name, "pool"), x) };
	return net_concat(net, name, part, 3, 1);
}

static Act block_e(Net *net, const char *name, Act x)
{
	const Layer one[] = { SQUARE("branch1x1", 320, 1, 1, 0), END };
	const Layer three[] = { SQUARE("branch3x3_1", 384, 1, 1, 0), END };
	const Layer twice[] = { SQUARE("branch3x3dbl_1", 448, 1, 1, 0), SQUARE("branch3x3dbl_2", 384, 3, 1, 1), END };
	const Layer split[] = { WIDE("branch3x3_2a", 384, 3), HIGH("branch3x3_2b", 384, 3),
		WIDE("branch3x3dbl_3a", 384, 3), HIGH("branch3x3dbl_3b", 384, 3) };
	const Layer pool[] = { SQUARE("branch_pool", 192, 1, 1, 0), END };
	Act a = branch(net, name, x, three), b = branch(net, name, x, twice);
	Act part[] = { branch(net, name, x, one), layer(net, name, a, &split[0]), layer(net, name, a, &split[1]),
		layer(net, name, b, &split[2]), layer(net, name, b, &split[3]),
		branch(net, name, mean_pool(net, name, x), pool) };
	return net_concat(net, name, part, 6, 1);
}

Act zoo_inception_v3(Net *net, Act x)
{
	const Layer first[] = { SQUARE("1a_3x3", 32, 3, 2, 0), SQUARE("2a_3x3", 32, 3, 1, 0), SQUARE("2b_3x3", 64, 3, 1, 1),
		END };
	const Layer second[] = { SQUARE("3b_1x1", 80, 1, 1, 0), SQUARE("4a_3x3", 192, 3, 1, 0), END };
	x = max_pool(net, "maxpool1", branch(net, "Conv2d", x, first));
	x = max_pool(net, "maxpool2", branch(net, "Conv2d", x, second));
	x = block_a(net, "Mixed_5b", x, 32);
	x = block_a(net, "Mixed_5c", x, 64);
	x = block_a(net, "Mixed_5d", x, 64);
	x = block_b(net, "Mixed_6a", x);
	x = block_c(net, "Mixed_6b", x, 128);
	x = block_c(net, "Mixed_6c", x, 160);
	x = block_c(net, "Mixed_6d", x, 160);
	x = block_c(net, "Mixed_6e", x, 192);
	x = block_d(net, "Mixed_7a", x);
	x = block_e(net, "Mixed_7b", x);
	x = block_e(net, "Mixed_7c", x);
	return zoo_classifier(net, "fc", net_global_pool(net, "avgpool", x, true, false));
}
