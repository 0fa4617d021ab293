/* See transformer.h. Vaswani et al., "Attention Is All You Need". */
#include "frontend/zoo/transformer.h"

#include <math.h>

#define EPSILON 1e-5

static Act number(Net *net, const char *name, double v)
{
	float *f = arena_new_of(net->arena, float);
	*f = (float)v;
	return (Act){ net->ok ? dag_add_const(net->dag, name, F32, (Shape){ 0 }, f) : 0, v * v };
}

Act net_by_number(Net *net, const char *name, int op, Act x, double v, double square)
{
	return net_binary(net, name, op, x, number(net, net_sub(net, name, "by"), v), square);
}

static Act last_mean(Net *net, const char *name, Act x, double square)
{
	int64_t axis = net->ok ? net->dag->value.at[x.value].shape.rank - 1 : 0;
	Attr attr[] = { attr_ints("axes", &axis, 1), attr_int("keep", 1) };
	return net_call(net, name, OP_reduce_mean, &x.value, 1, attr, 2, square);
}

Act net_layer_norm(Net *net, const char *name, Act x)
{
	if (!net->ok)
		return x;
	const Shape s = net->dag->value.at[x.value].shape;
	int64_t n = s.dim[s.rank - 1];
	Act weight = { net_around(net, net_sub(net, name, "weight"), n, 1), 1 };
	Act bias = { net_tensor(net, net_sub(net, name, "bias"), shape_of(1, &n), 0, 0.1), 0.01 };
	Act d = net_binary(net, net_sub(net, name, "centered"), OP_sub, x,
		last_mean(net, net_sub(net, name, "mean"), x, x.square), x.square);
	Act v = net_binary(net, net_sub(net, name, "square"), OP_mul, d, d, x.square * x.square);
	v = last_mean(net, net_sub(net, name, "variance"), v, x.square * x.square);
	v = net_by_number(net, net_sub(net, name, "above"), OP_add, v, EPSILON, v.square);
	v = net_unary(net, net_sub(net, name, "deviation"), OP_sqrt, v, x.square);
	d = net_binary(net, net_sub(net, name, "unit"), OP_div, d, v, 1);
	d = net_binary(net, net_sub(net, name, "scaled"), OP_mul, d, weight, 1);
	return net_binary(net, name, OP_add, d, bias, 1);
}

Act net_gelu(Net *net, const char *name, Act x)
{
	Act e = net_by_number(net, net_sub(net, name, "scaled"), OP_div, x, sqrt(2), x.square / 2);
	e = net_unary(net, net_sub(net, name, "erf"), OP_erf, e, 0.5);
	e = net_by_number(net, net_sub(net, name, "above"), OP_add, e, 1, 1.5);
	e = net_binary(net, net_sub(net, name, "twice"), OP_mul, x, e, x.square * 2);
	return net_by_number(net, name, OP_mul, e, 0.5, x.square / 2);
}

/* [batch, tokens, width] as [batch, heads, tokens, width / heads]. */
static Act to_heads(Net *net, const char *name, Act x, int64_t heads)
{
	if (!net->ok)
		return x;
	int64_t width = net_dim(net, x, 2), perm[] = { 0, 2, 1, 3 };
	int64_t dim[] = { net_dim(net, x, 0), net_dim(net, x, 1), heads, width / heads };
	Attr attr = attr_ints("perm", perm, 4);
	x = net_reshape(net, net_sub(net, name, "split"), x, dim, 4);
	return net_call(net, net_sub(net, name, "heads"), OP_transpose, &x.value, 1, &attr, 1, x.square);
}

/* 0 where a token may be attended to, else a number whose exponential is 0. */
Act net_causal_mask(Net *net, const char *name, int64_t tokens)
{
	Shape s = { 2, { tokens, tokens } };
	float *m = arena_array(net->arena, float, tokens * tokens);
	for (int64_t i = 0; i < tokens; i++)
		for (int64_t j = 0; j < tokens; j++)
			m[i * tokens + j] = j <= i ? 0 : -1e9F;
	return (Act){ net->ok ? dag_add_const(net->dag, name, F32, s, m) : 0, 0 };
}

static void projections(Net *net, const char *name, Act x, const Attention *a, Act out[3])
{
	static const char *const part[] = { "query", "key", "value" };
	int64_t width = net->ok ? net_dim(net, x, 2) : 1, sizes[] = { width, width, width };
	if (!a->joined) {
		for (int k = 0; k < 3; k++)
			out[k] = net_dense(net, net_sub(net, name, part[k]), x, width, 1);
		return;
	}
	Act all = net_dense(net, net_sub(net, name, "in_proj"), x, 3 * width, 1);
	Attr attr[] = { attr_int("axis", 2), attr_ints("sizes", sizes, 3) };
	Act first = net_call(net, net_sub(net, name, "qkv"), OP_split, &all.value, 1, attr, 2, all.square);
	for (int k = 0; k < 3; k++)
		out[k] = (Act){ first.value + k, first.square };
}

Act net_attention(Net *net, const char *name, Act x, const Attention *a)
{
	static const char *const part[] = { "query", "key", "value" };
	Act p[3];
	projections(net, name, x, a, p);
	for (int k = 0; k < 3; k++)
		p[k] = to_heads(net, net_sub(net, name, part[k]), p[k], a->heads);
	if (!net->ok)
		return x;
	int64_t tokens = net_dim(net, x, 1), width = net_dim(net, x, 2), perm[] = { 0, 2, 1, 3 };
	Attr by_rows = attr_int("tb", 1), last = attr_int("axis", -1), back = attr_ints("perm", perm, 4);
	int in[] = { p[0].value, p[1].value };
	Act s = net_call(net, net_sub(net, name, "scores"), OP_matmul, in, 2, &by_rows, 1, 1);
	s = net_by_number(net, net_sub(net, name, "scaled"), OP_div, s, sqrt((double)(width / a->heads)), 1);
	if (a->mask != NULL)
		s = net_binary(net, net_sub(net, name, "masked"), OP_add, s, *a->mask, 1);
	s = net_call(net, net_sub(net, name, "weights"), OP_softmax, &s.value, 1, &last, 1, 1);
	s = net_binary(net, net_sub(net, name, "mix"), OP_matmul, s, p[2], p[2].square / 2);
	s = net_call(net, net_sub(net, name, "back"), OP_transpose, &s.value, 1, &back, 1, s.square);
	s = net_reshape(net, net_sub(net, name, "join"), s, (int64_t[]){ net_dim(net, x, 0), tokens, width }, 3);
	return net_dense(net, net_sub(net, name, "out_proj"), s, width, 0.5);
}

Act net_feed_forward(
	Net *net, const char *const name[2], Act x, int64_t inner, Act (*active)(Net *net, const char *name, Act x))
{
	int64_t width = net->ok ? net_dim(net, x, 2) : 1;
	x = active(net, net_sub(net, name[0], "active"), net_dense(net, name[0], x, inner, 1));
	return net_dense(net, name[1], x, width, 0.5);
}
