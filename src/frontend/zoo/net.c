/* See net.h. */
#include "frontend/zoo/net.h"

#include "base/rng.h"

#include <math.h>

enum { SEED = 2021 };

Act net_call(Net *net, const char *name, int op, const int *in, int nin, const Attr *attr, int nattr, double square)
{
	if (!net->ok)
		return (Act){ 0, 1 };
	int c = dag_add_call(net->dag, op, name, in, nin, attr, nattr, net->err);
	net->ok = c >= 0;
	return (Act){ net->ok ? net->dag->call.at[c].out[0] : 0, square };
}

const char *net_sub(Net *net, const char *name, const char *part)
{
	return arena_printf(net->arena, "%s.%s", name, part);
}

const char *net_numbered(Net *net, const char *name, int k)
{
	return arena_printf(net->arena, "%s.%d", name, k);
}

int64_t net_dim(const Net *net, Act x, int k)
{
	return net->dag->value.at[x.value].shape.dim[k];
}

int64_t net_channels(const Net *net, Act x)
{
	return net_dim(net, x, 1);
}

int64_t net_round_to_8(double v)
{
	int64_t n = (int64_t)(v + 4) / 8 * 8;
	n = n < 8 ? 8 : n;
	return (double)n < 0.9 * v ? n + 8 : n;
}

/* ---- weights */

int net_tensor(Net *net, const char *name, Shape s, double mean, double spread)
{
	if (!net->ok)
		return 0;
	Rng seed = rng_seed(SEED), r = rng_fork(&seed, name);
	int64_t n = shape_elements(s);
	float *w = arena_array(net->arena, float, n);
	for (int64_t k = 0; k < n; k++)
		w[k] = (float)(mean + spread * rng_normal(&r));
	return dag_add_const(net->dag, name, F32, s, w);
}

int net_around(Net *net, const char *name, int64_t n, double center)
{
	if (!net->ok)
		return 0;
	Rng seed = rng_seed(SEED), r = rng_fork(&seed, name);
	float *w = arena_array(net->arena, float, n);
	for (int64_t k = 0; k < n; k++)
		w[k] = (float)(center * (0.75 + 0.5 * rng_real(&r)));
	return dag_add_const(net->dag, name, F32, shape_of(1, &n), w);
}

/* ---- layers */

/* He: variance 2 / fan-in, so the result's is twice the input's mean square. */
Act net_conv(Net *net, const char *name, Act x, ConvSpec c)
{
	int64_t in_group = net_channels(net, x) / c.groups, wide = c.wide > 0 ? c.wide : c.kernel;
	int64_t wide_pad = c.wide > 0 ? c.wide_pad : c.pad;
	Shape w = { 4, { c.out, in_group, c.kernel, wide } };
	double fan_in = (double)(in_group * c.kernel * wide);
	int in[3] = { x.value, net_tensor(net, net_sub(net, name, "weight"), w, 0, sqrt(2 / fan_in)), DAG_NONE };
	if (c.bias)
		in[2] = net_tensor(net, net_sub(net, name, "bias"), shape_of(1, &c.out), 0, 0.1);
	int64_t strides[] = { c.stride, c.stride }, pads[] = { c.pad, wide_pad, c.pad, wide_pad };
	Attr attr[] = { attr_ints("strides", strides, 2), attr_ints("pads", pads, 4), attr_int("groups", c.groups) };
	return net_call(net, name, OP_conv, in, 3, attr, 3, 2 * x.square);
}

Act net_batch_norm(Net *net, const char *name, Act x, double scale)
{
	int64_t n = net_channels(net, x);
	Shape s = shape_of(1, &n);
	int in[] = { x.value, net_around(net, net_sub(net, name, "weight"), n, scale),
		net_tensor(net, net_sub(net, name, "bias"), s, 0, 0.1),
		net_tensor(net, net_sub(net, name, "running_mean"), s, 0, 0.1 * sqrt(x.square)),
		net_around(net, net_sub(net, name, "running_var"), n, x.square) };
	return net_call(net, name, OP_batch_norm, in, 5, NULL, 0, scale * scale);
}

Act net_conv_norm(Net *net, const char *name, Act x, ConvSpec c, double scale)
{
	return net_batch_norm(net, net_sub(net, name, "1"), net_conv(net, net_sub(net, name, "0"), x, c), scale);
}

Act net_unary(Net *net, const char *name, int op, Act x, double square)
{
	return net_call(net, name, op, &x.value, 1, NULL, 0, square);
}

Act net_binary(Net *net, const char *name, int op, Act a, Act b, double square)
{
	int in[] = { a.value, b.value };
	return net_call(net, name, op, in, 2, NULL, 0, square);
}

Act net_relu(Net *net, const char *name, Act x)
{
	return net_unary(net, name, OP_relu, x, x.square / 2);
}

Act net_clip(Net *net, const char *name, Act x, double lo, double hi)
{
	Attr attr[] = { attr_float("lo", lo), attr_float("hi", hi) };
	return net_call(net, name, OP_clip, &x.value, 1, attr, 2, x.square / 2);
}

Act net_add(Net *net, const char *name, Act a, Act b)
{
	return net_binary(net, name, OP_add, a, b, a.square + b.square);
}

Act net_concat(Net *net, const char *name, const Act *x, int n)
{
	Attr attr = attr_int("axis", 1);
	int *in = arena_array(net->arena, int, n);
	double square = 0, all = 0;
	for (int k = 0; k < n; k++) {
		in[k] = x[k].value;
		square += net->ok ? x[k].square * (double)net_channels(net, x[k]) : 0;
		all += net->ok ? (double)net_channels(net, x[k]) : 1;
	}
	return net_call(net, name, OP_concat, in, n, &attr, 1, square / all);
}

Act net_pool(Net *net, const char *name, Act x, PoolSpec p)
{
	int64_t kernel[] = { p.kernel, p.kernel }, strides[] = { p.stride, p.stride };
	int64_t pads[] = { p.pad, p.pad, p.pad, p.pad };
	Attr attr[] = { attr_ints("kernel", kernel, 2), attr_ints("strides", strides, 2), attr_ints("pads", pads, 4),
		attr_int("ceil", p.ceil), attr_int("count_pad", 1) };
	return net_call(net, name, p.mean ? OP_avg_pool : OP_max_pool, &x.value, 1, attr, p.mean ? 5 : 4, x.square);
}

Act net_global_pool(Net *net, const char *name, Act x, bool keep)
{
	int64_t axes[] = { 2, 3 };
	Attr attr[] = { attr_ints("axes", axes, 2), attr_int("keep", keep) };
	return net_call(net, name, OP_reduce_mean, &x.value, 1, attr, 2, x.square);
}

Act net_adaptive_pool(Net *net, const char *name, Act x, int64_t size)
{
	if (!net->ok)
		return x;
	const Shape s = net->dag->value.at[x.value].shape;
	int64_t h = s.dim[2], w = s.dim[3];
	if (h == size && w == size)
		return x;
	if (h == 1 && w == 1) {
		int64_t dim[] = { s.dim[0], s.dim[1], size, size };
		Attr attr = attr_ints("shape", dim, 4);
		return net_call(net, name, OP_expand, &x.value, 1, &attr, 1, x.square);
	}
	if (h % size != 0 || w % size != 0) {
		net->ok = fail(net->err, ERR_USAGE, "shape",
			"gives maps of %lldx%lld before the classifier, which takes %lldx%lld: give data a size that makes "
			"multiples of that", (long long)h, (long long)w, (long long)size, (long long)size);
		return x;
	}
	int64_t kernel[] = { h / size, w / size };
	Attr attr[] = { attr_ints("kernel", kernel, 2), attr_ints("strides", kernel, 2) };
	return net_call(net, name, OP_avg_pool, &x.value, 1, attr, 2, x.square);
}

Act net_reshape(Net *net, const char *name, Act x, const int64_t *dim, int rank)
{
	Attr attr = attr_ints("shape", dim, rank);
	return net_call(net, name, OP_reshape, &x.value, 1, &attr, 1, x.square);
}

Act net_dense(Net *net, const char *name, Act x, int64_t out, double gain)
{
	if (!net->ok)
		return x;
	const Shape s = net->dag->value.at[x.value].shape;
	int64_t in = s.dim[s.rank - 1];
	Shape w = { 2, { out, in } };
	int weight = net_tensor(net, net_sub(net, name, "weight"), w, 0, sqrt(gain / (double)in));
	int bias = net_tensor(net, net_sub(net, name, "bias"), shape_of(1, &out), 0, 0.1);
	if (s.rank == 2) {
		int arg[] = { x.value, weight, bias };
		return net_call(net, name, OP_dense, arg, 3, NULL, 0, gain * x.square);
	}
	Attr attr = attr_int("tb", 1);
	int arg[] = { x.value, weight };
	Act y = net_call(net, net_sub(net, name, "product"), OP_matmul, arg, 2, &attr, 1, gain * x.square);
	return net_binary(net, name, OP_add, y, (Act){ bias, 0.01 }, y.square);
}

Act net_classifier(Net *net, const char *name, Act x)
{
	return net_dense(net, name, x, ZOO_CLASSES, 1);
}
