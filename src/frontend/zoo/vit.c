/*
 * Vision Transformer: Dosovitskiy et al., "An Image is Worth 16x16 Words"; DeiT: Touvron et al., "Training
 * data-efficient image transformers". Names are torchvision's.
 */
#include "frontend/zoo/transformer.h"
#include "frontend/zoo/zoo.h"

enum { PATCH = 16, LAYERS = 12 };

/* The patches of an image as tokens, behind a token of the class. */
static Act embed(Net *net, Act x, int64_t width)
{
	x = zoo_conv(net, "conv_proj", x,
		(ConvSpec){ .out = width, .kernel = PATCH, .stride = PATCH, .groups = 1, .bias = true });
	if (!net_ok(net))
		return x;
	int64_t batch = net_dim(net, x, 0), patches = net_dim(net, x, 2) * net_dim(net, x, 3), perm[] = { 0, 2, 1 };
	x = net_reshape(net, "patches", x, (int64_t[]){ batch, width, patches }, 3);
	x = net_transpose(net, "tokens", x, perm);
	Act class = net_tensor(net, "class_token", (Shape){ 3, { 1, 1, width } }, 0, 1);
	Attr shape = attr_ints("shape", (int64_t[]){ batch, 1, width }, 3);
	class = net_call(net, "class", OP_expand, &class.value, 1, &shape, 1, 1);
	Act all = net_concat(net, "sequence", (const Act[]){ class, x }, 2, 1);
	Act place = net_tensor(net, "encoder.pos_embedding", (Shape){ 3, { 1, patches + 1, width } }, 0, 0.1);
	return net_add(net, "embedding", all, place);
}

static Act layer(Net *net, const char *name, Act x, int64_t heads)
{
	const AttentionLayer a = { .heads = heads, .joined = true };
	Act y = zoo_layer_norm(net, net_sub(net, name, "ln_1"), x);
	y = net_attention(net, net_sub(net, name, "self_attention"), y, &a);
	x = net_add(net, net_sub(net, name, "add_1"), x, y);
	const char *const mlp[] = { net_sub(net, name, "mlp.0"), net_sub(net, name, "mlp.3") };
	int64_t inner = net_ok(net) ? 4 * net_dim(net, x, 2) : 1;
	y = zoo_feed_forward(net, mlp, zoo_layer_norm(net, net_sub(net, name, "ln_2"), x), inner, zoo_gelu);
	return net_add(net, net_sub(net, name, "add_2"), x, y);
}

static Act build(Net *net, Act x, int64_t width, int64_t heads)
{
	if (net_dim(net, x, 2) % PATCH != 0 || net_dim(net, x, 3) % PATCH != 0) {
		fail(net->err, ERR_USAGE, "shape", "data must have a height and a width that are multiples of %d",
			PATCH);
		return x;
	}
	x = embed(net, x, width);
	for (int k = 0; k < LAYERS; k++)
		x = layer(net, net_numbered(net, "encoder.layers", k), x, heads);
	x = zoo_layer_norm(net, "encoder.ln", x);
	if (!net_ok(net))
		return x;
	int64_t batch = net_dim(net, x, 0), sizes[] = { batch, 1, width };
	Attr attr = attr_ints("sizes", sizes, 3);
	x = net_call(net, "first", OP_slice, &x.value, 1, &attr, 1, x.square);
	return zoo_classifier(net, "heads.head", net_reshape(net, "flatten", x, (int64_t[]){ batch, width }, 2));
}

Act zoo_vit_b_16(Net *net, Act x)
{
	return build(net, x, 768, 12);
}

Act zoo_deit_tiny(Net *net, Act x)
{
	return build(net, x, 192, 3);
}
