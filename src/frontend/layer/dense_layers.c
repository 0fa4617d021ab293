/* Layers of products and tables, and activations. See layer.h. */
#include "frontend/layer/layer.h"

#include "frontend/node/activate.h"

#include <math.h>
#include <string.h>

Act net_dense(Net *net, const char *name, Act x, const DenseLayer *d)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, "dense");
	const Shape s = net_shape(net, x);
	double gain = d->gain > 0 ? d->gain : 1;
	if (s.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", s.rank);
	int64_t in = s.rank > 0 ? s.dim[s.rank - 1] : 1, out = d->out;
	if (net_ok(net) && out == 0 && d->weight != NULL && net_shape(net, *d->weight).rank == 2)
		out = net_dim(net, *d->weight, 0);
	if (net_ok(net) && (out < 1 || out > INT32_MAX))
		node_fail(v, ERR_USAGE, "its units are %lld, but must be from 1 to %d", (long long)out, INT32_MAX);
	const bool biased = d->bias != NULL || (!d->unbiased && d->weight == NULL);
	if (!net_may_draw(v, x, d->weight == NULL))
		return x;
	Shape w = { 2, { out, in } };
	Act weight = d->weight != NULL
		? *d->weight
		: net_tensor(net, net_sub(net, name, "weight"), w, 0, in > 0 ? sqrt(gain / (double)in) : 0);
	Act bias = { DAG_NONE, 0.01 };
	if (biased)
		bias = d->bias != NULL ? *d->bias : net_tensor(net, net_sub(net, name, "bias"), shape_of(1, &out), 0, 0.1);
	net_check_shape(net, v, "weight", weight, w);
	if (biased)
		net_check_shape(net, v, "bias", bias, shape_of(1, &out));
	if (!net_ok(net))
		return x;
	if (d->weight != NULL)
		gain = weight.square * (double)in;
	if (s.rank == 2) {
		int arg[] = { x.value, weight.value, bias.value };
		return net_call(net, name, OP_dense, arg, 3, NULL, 0, gain * x.square);
	}
	Attr attr = attr_int("tb", 1);
	int arg[] = { x.value, weight.value };
	const char *product = biased ? net_sub(net, name, "product") : name;
	Act y = net_call(net, product, OP_matmul, arg, 2, &attr, 1, gain * x.square);
	return biased ? net_binary(net, name, OP_add, y, bias, y.square) : y;
}

Act net_embedding(Net *net, const char *name, Act ids, int64_t rows, int64_t width, double spread, const Act *table)
{
	if (!net_ok(net))
		return ids;
	Visit *v = net_visit(net, name, "embedding");
	if (table == NULL && (rows < 1 || rows > INT32_MAX || width < 1 || width > INT32_MAX))
		node_fail(v, ERR_USAGE, "its table has %lld rows of %lld numbers, but both must be from 1 to %d",
			(long long)rows, (long long)width, INT32_MAX);
	if (table != NULL && net_shape(net, *table).rank != 2)
		node_fail(v, ERR_TYPE, "its table has %d dimensions, but needs 2", net_shape(net, *table).rank);
	if (!net_ok(net))
		return ids;
	Act t = table != NULL ? *table
						  : net_tensor(net, net_sub(net, name, "weight"), (Shape){ 2, { rows, width } }, 0, spread);
	int in[] = { t.value, ids.value };
	return net_call(net, name, OP_gather, in, 2, NULL, 0, t.square);
}

/* ---- activations */

bool net_has_activation(const char *kind)
{
	return strcmp(kind, "softmax") == 0 || node_has_activation(kind);
}

/* Whether results stay near zero for any input. */
static bool is_bounded(const char *kind)
{
	static const char *const bounded[] = { "sigmoid", "hard_sigmoid", "tanh", "scaled_tanh", "softsign", "softmax" };
	for (size_t k = 0; k < sizeof bounded / sizeof *bounded; k++)
		if (strcmp(kind, bounded[k]) == 0)
			return true;
	return false;
}

double net_gain_before(const char *kind)
{
	return kind == NULL || strcmp(kind, "linear") == 0 || is_bounded(kind) ? 1 : 2;
}

Act net_activate(Net *net, const char *name, Act x, const char *kind, const double *given)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, kind);
	const size_t before = net->dag->value.n;
	const Shape s = net_shape(net, x);
	if (strcmp(kind, "softmax") == 0) {
		Attr last = attr_int("axis", -1);
		double n = s.rank > 0 ? (double)s.dim[s.rank - 1] : 1;
		return net_call(net, name, OP_softmax, &x.value, 1, &last, 1, n > 0 ? 1 / n : 1);
	}
	if (!net_has_activation(kind)) {
		node_fail(v, ERR_UNSUPPORTED, "there is no activation '%.60s'", kind);
		return x;
	}
	if (given != NULL && (!isfinite(given[0]) || !isfinite(given[1])))
		node_fail(v, ERR_USAGE, "its numbers %g and %g must be finite", given[0], given[1]);
	int y = given != NULL ? node_activate_with(v, x.value, kind, given[0], given[1]) : node_activate(v, x.value, kind);
	return net_named(net, name, y, before,
		strcmp(kind, "linear") == 0 ? x.square : is_bounded(kind) && x.square > 0.3 ? 0.3 : x.square / 2);
}
