/* Normalisations as layers. See layer.h. */
#include "frontend/layer/layer.h"

#include <math.h>

static const double usual_epsilon = 1e-5;

/* The given vector of n numbers; ones where others are given; else drawn ones around the deviation. */
static Act scale_of(Net *net, const char *name, int64_t n, const Act *given, bool others, double deviation)
{
	const char *as = net_sub(net, name, "weight");
	return given != NULL ? *given
		: others         ? net_tensor(net, as, shape_of(1, &n), 1, 0)
						 : net_around(net, as, n, deviation);
}

/* The same with zeros, and a small spread. */
static Act shift_of(Net *net, const char *name, int64_t n, const Act *given, bool others)
{
	return given != NULL ? *given : net_tensor(net, net_sub(net, name, "bias"), shape_of(1, &n), 0, others ? 0 : 0.1);
}

static double epsilon_of(Visit *v, const NormLayer *n)
{
	if (node_ok(v) && !(n->epsilon >= 0 && isfinite(n->epsilon)))
		node_fail(v, ERR_USAGE, "its epsilon is %g, but must be a number, 0 or more", n->epsilon);
	return n->epsilon > 0 ? n->epsilon : usual_epsilon;
}

Act net_batch_norm(Net *net, const char *name, Act x, const NormLayer *norm)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, "batch_norm");
	const Shape all = net_shape(net, x);
	const double scale = norm->deviation > 0 ? norm->deviation : 1, epsilon = epsilon_of(v, norm);
	if (all.rank < 2)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs at least 2", all.rank);
	if (net_ok(net) && (norm->mean != NULL) != (norm->var != NULL))
		node_fail(v, ERR_USAGE, "it is given one of mean and var, but needs both or none");
	const bool given = norm->mean != NULL || norm->scale != NULL || norm->bias != NULL;
	if (!net_may_draw(v, x, norm->mean == NULL || norm->scale == NULL || norm->bias == NULL))
		return x;
	int64_t n = all.dim[1];
	Shape s = shape_of(1, &n);
	const char *mean = net_sub(net, name, "running_mean"), *var = net_sub(net, name, "running_var");
	int in[] = { x.value, scale_of(net, name, n, norm->scale, given, scale).value,
		shift_of(net, name, n, norm->bias, given).value,
		norm->mean != NULL ? norm->mean->value : net_tensor(net, mean, s, 0, 0.1 * sqrt(x.square)).value,
		norm->var != NULL ? norm->var->value : net_around(net, var, n, x.square).value };
	Attr attr = attr_float("epsilon", epsilon);
	return net_call(net, name, OP_batch_norm, in, 5, &attr, 1, scale * scale);
}

static Act last_mean(Net *net, const char *name, Act x, double square)
{
	int64_t axis = net_ok(net) ? net_shape(net, x).rank - 1 : 0;
	Attr attr[] = { attr_ints("axes", &axis, 1), attr_int("keep", 1) };
	return net_call(net, name, OP_reduce_mean, &x.value, 1, attr, 2, square);
}

Act net_layer_norm(Net *net, const char *name, Act x, const NormLayer *norm)
{
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, "layer_norm");
	const Shape s = net_shape(net, x);
	const double epsilon = epsilon_of(v, norm);
	if (s.rank < 1)
		node_fail(v, ERR_TYPE, "its input is a scalar, but needs a dimension");
	const bool given = norm->scale != NULL || norm->bias != NULL;
	if (!net_may_draw(v, x, !given))
		return x;
	int64_t n = s.dim[s.rank - 1];
	const bool scaled = norm->scale != NULL || !given, shifted = norm->bias != NULL || !given;
	Act scale = scaled ? scale_of(net, name, n, norm->scale, false, 1) : x;
	Act shift = shifted ? shift_of(net, name, n, norm->bias, false) : x;
	Act d = net_binary(net, net_sub(net, name, "centered"), OP_sub, x,
		last_mean(net, net_sub(net, name, "mean"), x, x.square), x.square);
	Act var = net_binary(net, net_sub(net, name, "square"), OP_mul, d, d, x.square * x.square);
	var = last_mean(net, net_sub(net, name, "variance"), var, x.square * x.square);
	var = net_by_number(net, net_sub(net, name, "above"), OP_add, var, epsilon, var.square);
	var = net_unary(net, net_sub(net, name, "deviation"), OP_sqrt, var, x.square);
	d = net_binary(net, net_sub(net, name, "unit"), OP_div, d, var, 1);
	if (scaled)
		d = net_binary(net, shifted ? net_sub(net, name, "scaled") : name, OP_mul, d, scale, 1);
	return shifted ? net_binary(net, name, OP_add, d, shift, 1) : d;
}
