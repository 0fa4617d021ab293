/* See transformer.h. Vaswani et al., "Attention Is All You Need". */
#include "frontend/zoo/transformer.h"

#include <math.h>

Act zoo_gelu(Net *net, const char *name, Act x)
{
	Act e = net_by_number(net, net_sub(net, name, "scaled"), OP_div, x, sqrt(2), x.square / 2);
	e = net_unary(net, net_sub(net, name, "erf"), OP_erf, e, 0.5);
	e = net_by_number(net, net_sub(net, name, "above"), OP_add, e, 1, 1.5);
	e = net_binary(net, net_sub(net, name, "twice"), OP_mul, x, e, x.square * 2);
	return net_by_number(net, name, OP_mul, e, 0.5, x.square / 2);
}

Act zoo_feed_forward(
	Net *net, const char *const name[2], Act x, int64_t inner, Act (*active)(Net *net, const char *name, Act x))
{
	int64_t width = net_ok(net) ? net_dim(net, x, 2) : 1;
	x = active(net, net_sub(net, name[0], "active"), zoo_dense(net, name[0], x, inner, 1));
	return zoo_dense(net, name[1], x, width, 0.5);
}
