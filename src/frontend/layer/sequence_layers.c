/* Layers over the steps of a sequence: recurrences and attention. See layer.h. */
#include "frontend/layer/layer.h"

#include "op/recurrent.h"

#include <math.h>

/* ---- recurrences */

/* x[T,N,K] through the kernel [gates*units,K], with its bias. */
static Act gates_of(Net *net, const char *name, Act x, const RecurrentLayer *r, int64_t all)
{
	DenseLayer d = { .out = all, .weight = r->kernel, .bias = r->bias };
	return net_dense(net, net_sub(net, name, "input"), x, &d);
}

/* The weight of the state as the Dag has it, [units,gates,units]. */
static Act recurrent_of(Net *net, Visit *v, const char *name, const RecurrentLayer *r, int64_t gates)
{
	const int64_t dim[] = { r->units, gates, r->units }, turn[] = { 1, 0 };
	name = net_sub(net, name, "recurrent");
	if (r->recurrent == NULL)
		return net_tensor(net, name, shape_of(3, dim), 0, sqrt(1.0 / (double)r->units));
	net_check_shape(net, v, "recurrent weight", *r->recurrent, shape_of(2, (int64_t[]){ gates * r->units, r->units }));
	return net_reshape(net, name, net_transpose(net, net_sub(net, name, "turned"), *r->recurrent, turn), dim, 3);
}

static void check_recurrent(Net *net, Visit *v, Act x, const RecurrentLayer *r)
{
	const Shape s = net_shape(net, x);
	const int64_t batch = s.dim[r->batch_first ? 0 : 1];
	if (s.rank != 3)
		node_fail(v, ERR_TYPE, "its input has %d dimensions, but needs 3", s.rank);
	if (net_ok(net) && (r->units < 1 || r->units > 1 << 20))
		node_fail(v, ERR_USAGE, "its units are %lld, but must be from 1 to %d", (long long)r->units, 1 << 20);
	if (net_ok(net) && (r->reset_after || r->recurrent_bias != NULL) && r->op != OP_gru)
		node_fail(v, ERR_USAGE, "reset_after and recurrent_bias are for a gru alone");
	if (net_ok(net) && r->recurrent_bias != NULL && !r->reset_after)
		node_fail(v, ERR_USAGE, "its recurrent_bias needs reset_after");
	for (int k = 0; k < 2; k++)
		if (r->state[k] != NULL)
			net_check_shape(net, v, "first state", *r->state[k], shape_of(2, (int64_t[]){ batch, r->units }));
	if (net_ok(net) && r->state[1] != NULL && r->op != OP_lstm)
		node_fail(v, ERR_USAGE, "a second state is for an lstm alone");
	net_may_draw(v, x, r->kernel == NULL || r->recurrent == NULL);
}

Act net_recurrent(Net *net, const char *name, Act x, const RecurrentLayer *r, Act *state)
{
	static const int64_t turn[] = { 1, 0, 2 };
	if (!net_ok(net))
		return x;
	Visit *v = net_visit(net, name, op_row(r->op)->name);
	const int64_t gates = recurrent_gates(r->op);
	check_recurrent(net, v, x, r);
	if (!net_ok(net))
		return x;
	if (r->batch_first)
		x = net_transpose(net, net_sub(net, name, "steps"), x, turn);
	int in[] = { gates_of(net, name, x, r, gates * r->units).value, recurrent_of(net, v, name, r, gates).value,
		r->state[0] != NULL ? r->state[0]->value : DAG_NONE, DAG_NONE };
	if (r->op == OP_lstm && r->state[1] != NULL)
		in[3] = r->state[1]->value;
	if (r->op == OP_gru && r->recurrent_bias != NULL)
		in[3] = r->recurrent_bias->value;
	Attr attr[] = { attr_int("reverse", r->reverse), attr_int("linear_before_reset", r->reset_after) };
	const char *all = r->last || r->batch_first ? net_sub(net, name, "all") : name;
	Act y = net_call(net, all, r->op, in, 4, attr, r->op == OP_gru ? 2 : 1, 0.1);
	for (int k = 0; k < 2 && state != NULL && net_ok(net); k++)
		state[k] = (Act){ k == 0 || r->op == OP_lstm ? y.value + 1 + k : DAG_NONE, 0.1 };
	if (r->last)
		return (Act){ net_ok(net) ? y.value + 1 : 0, 0.1 };
	return r->batch_first ? net_transpose(net, name, y, turn) : y;
}

/* ---- attention */

/* [batch, tokens, width] as [batch, heads, tokens, width / heads]. */
static Act to_heads(Net *net, const char *name, Act x, int64_t heads)
{
	static const int64_t perm[] = { 0, 2, 1, 3 };
	if (!net_ok(net))
		return x;
	int64_t dim[] = { net_dim(net, x, 0), net_dim(net, x, 1), heads, net_dim(net, x, 2) / heads };
	return net_transpose(
		net, net_sub(net, name, "heads"), net_reshape(net, net_sub(net, name, "split"), x, dim, 4), perm);
}

Act net_causal_mask(Net *net, const char *name, int64_t tokens, int64_t keys)
{
	Shape s = { 2, { tokens, keys } };
	if (!net_ok(net) || !import_check_size(&net->im, "mask", name, F32, s))
		return (Act){ 0, 0 };
	float *m = arena_array(net->arena, float, tokens * keys + 1);
	for (int64_t i = 0; i < tokens; i++)
		for (int64_t j = 0; j < keys; j++)
			m[i * keys + j] = j <= i ? 0 : -1e9F;
	return (Act){ dag_add_const(net->dag, name, F32, s, m), 0 };
}

static void project(Net *net, const char *name, Act x, Act context, const AttentionLayer *a, Act out[3])
{
	static const char *const part[] = { "query", "key", "value" };
	int64_t width = net_dim(net, x, 2), sizes[] = { width, width, width };
	if (!a->joined) {
		for (int k = 0; k < 3; k++)
			out[k] = net_dense(net, net_sub(net, name, part[k]), k == 0 ? x : context,
				&(DenseLayer){ .out = width, .weight = a->weight[k], .bias = a->bias[k] });
		return;
	}
	Act all = net_dense(net, net_sub(net, name, "in_proj"), x, &(DenseLayer){ .out = 3 * width });
	Attr attr[] = { attr_int("axis", 2), attr_ints("sizes", sizes, 3) };
	Act first = net_call(net, net_sub(net, name, "qkv"), OP_split, &all.value, 1, attr, 2, all.square);
	for (int k = 0; k < 3; k++)
		out[k] = (Act){ first.value + k, first.square };
}

static void check_attention(Net *net, Act x, Act context, const char *name, const AttentionLayer *a)
{
	Visit *v = net_visit(net, name, "attention");
	const Shape s = net_shape(net, x), t = net_shape(net, context);
	if (s.rank != 3 || t.rank != 3)
		node_fail(v, ERR_TYPE, "its input and its context have %d and %d dimensions, but need 3", s.rank, t.rank);
	if (net_ok(net) && s.dim[0] != t.dim[0])
		node_fail(v, ERR_TYPE, "its input and its context have batches of %lld and %lld", (long long)s.dim[0],
			(long long)t.dim[0]);
	if (net_ok(net) && (a->heads < 1 || s.dim[2] % a->heads != 0))
		node_fail(v, ERR_USAGE, "%lld heads do not divide the width %lld of its input", (long long)a->heads,
			(long long)s.dim[2]);
	if (net_ok(net) && a->joined && a->context != NULL)
		node_fail(v, ERR_USAGE, "a context has a weight of its own, so the weights cannot be joined");
}

Act net_attention(Net *net, const char *name, Act x, const AttentionLayer *a)
{
	static const char *const part[] = { "query", "key", "value" };
	static const int64_t perm[] = { 0, 2, 1, 3 };
	Act p[3], context = a->context != NULL ? *a->context : x;
	if (!net_ok(net))
		return x;
	check_attention(net, x, context, name, a);
	if (!net_ok(net))
		return x;
	project(net, name, x, context, a, p);
	for (int k = 0; k < 3; k++)
		p[k] = to_heads(net, net_sub(net, name, part[k]), p[k], a->heads);
	if (!net_ok(net))
		return x;
	int64_t tokens = net_dim(net, x, 1), width = net_dim(net, x, 2);
	Attr by_rows = attr_int("tb", 1), last = attr_int("axis", -1);
	int in[] = { p[0].value, p[1].value };
	Act s = net_call(net, net_sub(net, name, "scores"), OP_matmul, in, 2, &by_rows, 1, 1);
	s = net_by_number(net, net_sub(net, name, "scaled"), OP_div, s, sqrt((double)(width / a->heads)), 1);
	if (a->mask != NULL)
		s = net_binary(net, net_sub(net, name, "masked"), OP_add, s, *a->mask, 1);
	if (a->causal)
		s = net_binary(net, net_sub(net, name, "causal"), OP_add, s,
			net_causal_mask(net, net_sub(net, name, "mask"), tokens, net_dim(net, context, 1)), 1);
	s = net_call(net, net_sub(net, name, "weights"), OP_softmax, &s.value, 1, &last, 1, 1);
	s = net_binary(net, net_sub(net, name, "mix"), OP_matmul, s, p[2], p[2].square / 2);
	s = net_transpose(net, net_sub(net, name, "back"), s, perm);
	if (!net_ok(net))
		return x;
	s = net_reshape(net, net_sub(net, name, "join"), s, (int64_t[]){ net_dim(net, x, 0), tokens, width }, 3);
	return net_dense(net, net_sub(net, name, "out_proj"), s,
		&(DenseLayer){ .out = width, .gain = 0.5, .weight = a->weight[3], .bias = a->bias[3] });
}
