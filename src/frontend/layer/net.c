/* See net.h. */
#include "frontend/layer/net.h"

#include "base/spread.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

static const int64_t most_drawn = (int64_t)1 << 30;

void net_open(Net *net, Arena *a, const char *name, uint64_t seed, const ModelArgs *args)
{
	static const ModelArgs none;
	*net = (Net){ .arena = a, .dag = dag_new(a, name), .err = &net->im.err, .seed = seed };
	net->im = (Import){ .arena = a,
		.dag = net->dag,
		.args = args != NULL ? args : &none,
		.own = names_new(a),
		.eval = args != NULL && args->eval.run != NULL ? args->eval : graph_eval_interp };
}

bool net_ok(const Net *net)
{
	return net->im.err.code == ERR_NONE;
}

Visit *net_visit(Net *net, const char *name, const char *kind)
{
	Frame *f = arena_new_of(net->arena, Frame);
	NodeDef *n = arena_new_of(net->arena, NodeDef);
	Visit *v = arena_new_of(net->arena, Visit);
	const char **out = arena_array(net->arena, const char *, 1);
	out[0] = name;
	f->prefix = "";
	*n = (NodeDef){ .name = name, .op = kind, .domain = "", .out = out, .nout = 1 };
	*v = (Visit){ .im = &net->im,
		.frame = f,
		.node = n,
		.name = arena_printf(net->arena, "layer '%.100s' (%.40s)", name, kind) };
	return v;
}

Act net_named(Net *net, const char *name, int value, size_t before, double square)
{
	if (net_ok(net) && value != DAG_NONE && (size_t)value >= before)
		dag_rename(net->dag, value, name);
	return (Act){ net_ok(net) ? value : 0, square };
}

Act net_call(Net *net, const char *name, int op, const int *in, int nin, const Attr *attr, int nattr, double square)
{
	if (!net_ok(net))
		return (Act){ 0, 1 };
	int c = dag_add_call(net->dag, op, name, in, nin, attr, nattr, net->err);
	return (Act){ c >= 0 ? net->dag->call.at[c].out[0] : 0, square };
}

const char *net_sub(Net *net, const char *name, const char *part)
{
	return arena_printf(net->arena, "%s.%s", name, part);
}

const char *net_numbered(Net *net, const char *name, int k)
{
	return arena_printf(net->arena, "%s.%d", name, k);
}

Shape net_shape(const Net *net, Act x)
{
	return net->dag->value.at[x.value].shape;
}

int64_t net_dim(const Net *net, Act x, int k)
{
	return net->dag->value.at[x.value].shape.dim[k];
}

int64_t net_channels(const Net *net, Act x)
{
	return net_dim(net, x, 1);
}

/* ---- weights */

bool net_may_draw(Visit *v, Act x, bool draws)
{
	char type[DTYPE_TEXT];
	if (draws && node_ok(v) && !dtype_eq(node_val(v, x.value)->type, F32))
		node_fail(v, ERR_TYPE, "its input is %s, but weights are drawn for f32 alone: give it its weights",
			dtype_print(node_val(v, x.value)->type, type));
	return node_ok(v);
}

void net_check_shape(Net *net, Visit *v, const char *what, Act weight, Shape need)
{
	char have[160], want[160];
	if (net_ok(net) && !shape_eq(net_shape(net, weight), need))
		node_fail(v, ERR_TYPE, "its %s has the shape %s, but needs %s", what,
			shape_str(net_shape(net, weight), have), shape_str(need, want));
}

/* Room for the numbers of a constant; NULL: there are too many. */
static float *room(Net *net, const char *name, Shape s)
{
	if (!net_ok(net) || !import_check_size(&net->im, "weight", name, F32, s))
		return NULL;
	int64_t n = shape_elements(s);
	if (n > most_drawn - net->drawn) {
		import_refuse(&net->im, ERR_MEMORY,
			"weight '%.100s', and those before, are more numbers than dlc draws: give the layers their weights", name);
		return NULL;
	}
	net->drawn += n;
	return arena_array(net->arena, float, n + 1);
}

static void draw(void *arg, size_t i)
{
	Drawing *d = (Drawing *)arg + i;
	for (int64_t k = 0; k < d->n; k++)
		d->at[k] = (float)(d->mean + d->spread * rng_normal(&d->rng));
}

void net_draw(Net *net)
{
	spread(0, net->drawing.n, draw, net->drawing.at);
	net->drawing.n = 0;
}

Act net_tensor(Net *net, const char *name, Shape s, double mean, double spread)
{
	Act none = { 0, 1 };
	float *w = room(net, name, s);
	if (w == NULL)
		return none;
	Rng seed = rng_seed(net->seed);
	Drawing d = { w, shape_elements(s), mean, spread, rng_fork(&seed, name) };
	vec_push(net->arena, &net->drawing, d);
	if (!net->late)
		net_draw(net);
	return (Act){ dag_add_const(net->dag, name, F32, s, w), mean * mean + spread * spread };
}

Act net_around(Net *net, const char *name, int64_t n, double center)
{
	Act none = { 0, 1 };
	float *w = room(net, name, shape_of(1, &n));
	if (w == NULL)
		return none;
	Rng seed = rng_seed(net->seed), r = rng_fork(&seed, name);
	for (int64_t k = 0; k < n; k++)
		w[k] = (float)(center * (0.75 + 0.5 * rng_real(&r)));
	return (Act){ dag_add_const(net->dag, name, F32, shape_of(1, &n), w), center * center };
}

Act net_number(Net *net, const char *name, DType type, double v)
{
	void *data = arena_alloc(net->arena, 8);
	element_set(type, data, 0, v);
	return (Act){ net_ok(net) ? dag_add_const(net->dag, name, type, (Shape){ 0 }, data) : 0, v * v };
}

/* ---- calls */

/* Roughly: operands count as independent of each other. */
double net_square(const Net *net, int op, const Act *in, int nin)
{
	const double a = nin > 0 && in[0].value != DAG_NONE ? in[0].square : 1;
	const double b = nin > 1 && in[1].value != DAG_NONE ? in[1].square : 1;
	const Shape s = nin > 0 && in[0].value != DAG_NONE ? net_shape(net, in[0]) : (Shape){ 0 };
	const Shape w = nin > 1 && in[1].value != DAG_NONE ? net_shape(net, in[1]) : (Shape){ 0 };
	double taps = 1;
	switch (op) {
	case OP_add:
	case OP_sub: return a + b;
	case OP_mul: return a * b;
	case OP_relu:
	case OP_leaky_relu:
	case OP_elu:
	case OP_clip:
	case OP_hard_swish: return a / 2;
	case OP_sigmoid:
	case OP_tanh:
	case OP_erf:
	case OP_hard_sigmoid: return a < 0.3 ? a : 0.3;
	case OP_softmax: return 0.1;
	case OP_batch_norm: return b;
	case OP_conv:
		for (int k = 1; k < w.rank; k++)
			taps *= (double)w.dim[k];
		return taps * a * b;
	case OP_dense:
	case OP_matmul: return s.rank > 0 ? (double)s.dim[s.rank - 1] * a * b : a;
	default: return a;
	}
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

Act net_by_number(Net *net, const char *name, int op, Act x, double v, double square)
{
	if (!net_ok(net))
		return x;
	DType type = net->dag->value.at[x.value].type;
	return net_binary(net, name, op, x, net_number(net, net_sub(net, name, "by"), type, v), square);
}

Act net_add(Net *net, const char *name, Act a, Act b)
{
	return net_binary(net, name, OP_add, a, b, a.square + b.square);
}

/* The mean square is that of all parts, each by its length along the axis. */
Act net_concat(Net *net, const char *name, const Act *x, int n, int axis)
{
	Attr attr = attr_int("axis", axis);
	int *in = arena_array(net->arena, int, n + 1);
	double square = 0, all = 0;
	for (int k = 0; k < n; k++) {
		const bool counts = net_ok(net) && axis >= 0 && axis < net_shape(net, x[k]).rank;
		const double size = counts ? (double)net_dim(net, x[k], axis) : 1;
		in[k] = x[k].value;
		square += x[k].square * size;
		all += size;
	}
	return net_call(net, name, OP_concat, in, n, &attr, 1, all > 0 ? square / all : 1);
}

Act net_reshape(Net *net, const char *name, Act x, const int64_t *dim, int rank)
{
	Attr attr = attr_ints("shape", dim, rank);
	return net_call(net, name, OP_reshape, &x.value, 1, &attr, 1, x.square);
}

Act net_transpose(Net *net, const char *name, Act x, const int64_t *perm)
{
	if (!net_ok(net))
		return x;
	Attr attr = attr_ints("perm", perm, net_shape(net, x).rank);
	return net_call(net, name, OP_transpose, &x.value, 1, &attr, 1, x.square);
}
