/*
 * Writes attention, and rnn, gru and lstm as RNN, GRU and LSTM of one direction. ONNX's operators hold the product of
 * the input with its weights. If a dense layer computes x, the node takes over that layer's operands and the layer is
 * not written; else the weights of the input are the identity.
 */
#include "frontend/onnx/export_call.h"

#include "op/element.h"
#include "op/recurrent.h"

#include <string.h>

static const Value *call_in(const Call *k, int i)
{
	return &k->o->dag->value.at[k->c->in[i]];
}

static bool is_recurrent(const OpCall *c)
{
	return c->op == OP_rnn || c->op == OP_gru || c->op == OP_lstm;
}

/* The dense layer that computes x; NULL: there is none. */
static const OpCall *input_product(const Dag *d, const OpCall *c)
{
	const Value *x = &d->value.at[c->in[0]];
	const OpCall *p = x->kind == VALUE_CALL ? &d->call.at[x->call] : NULL;
	return p != NULL && p->op == OP_dense ? p : NULL;
}

bool onnx_write_joins(const Dag *d, const OpCall *c)
{
	bool read = false;
	if (c->op != OP_dense)
		return false;
	for (size_t k = 0; k < d->output.n; k++)
		if (d->output.at[k] == c->out[0])
			return false;
	for (size_t k = 0; k < d->call.n; k++)
		for (int i = 0; i < d->call.at[k].nin; i++) {
			if (d->call.at[k].in[i] != c->out[0])
				continue;
			if (i != 0 || !is_recurrent(&d->call.at[k]))
				return false;
			read = true;
		}
	return read;
}

/* Input i with a dimension of 1, that of the directions, before the others; NULL: it is absent. */
static const char *with_direction(const Call *k, int i)
{
	if (i >= k->c->nin || k->in[i] == NULL)
		return NULL;
	Shape s = call_in(k, i)->shape;
	memmove(&s.dim[1], s.dim, sizeof *s.dim * (size_t)s.rank++);
	s.dim[0] = 1;
	return reshaped(k, k->in[i], s, out_name(k->o, k->out[0]));
}

static const char *zeros(const Call *k, int64_t n)
{
	DType t = call_in(k, 0)->type;
	return out_const(k->o, k->out[0], t, shape_of(1, &n), arena_alloc(k->o->arena, (size_t)dtype_bytes(t, n) + 1));
}

static const char *identity(const Call *k, int64_t n)
{
	DType t = call_in(k, 0)->type;
	void *data = arena_alloc(k->o->arena, (size_t)dtype_bytes(t, n * n) + 1);
	for (int64_t i = 0; i < n; i++)
		element_set(t, data, i * n + i, 1);
	return out_const(k->o, k->out[0], t, shape_of(3, (int64_t[]){ 1, n, n }), data);
}

/* Biases of the input, then those of the state: [1, 2 * gates * size]. */
static const char *biases(const Call *k, const OpCall *p, int64_t columns, int64_t size)
{
	const Dag *d = k->o->dag;
	const char *of_input = p != NULL && p->nin > 2 && p->in[2] != DAG_NONE ? d->value.at[p->in[2]].name : NULL;
	const char *of_state = k->c->op == OP_gru && k->c->nin > 3 ? k->in[3] : NULL;
	if (of_input == NULL && of_state == NULL)
		return NULL;
	const char *all = out_name(k->o, k->out[0]);
	OutNode n = out_begin(k->o, "Concat");
	out_input(&n, of_input != NULL ? of_input : zeros(k, columns));
	if (of_state != NULL) {
		out_input(&n, zeros(k, columns - size));
		out_input(&n, of_state);
	} else {
		out_input(&n, zeros(k, columns));
	}
	out_int(&n, "axis", 0);
	out_end(&n, all);
	return reshaped(k, all, shape_of(2, (int64_t[]){ 1, 2 * columns }), out_name(k->o, k->out[0]));
}

static void activations(const Call *k, OutNode *n)
{
	static const char *const alphas[] = { "f_alpha", "g_alpha", "h_alpha" }, *const betas[] = { "f_beta", "g_beta",
		"h_beta" };
	const char *name[3];
	float alpha[3], beta[3];
	int count = recurrent_acts(k->c->op);
	for (int i = 0; i < count; i++) {
		name[i] = activation_rows[recurrent_act(k->c, i)].onnx;
		alpha[i] = (float)op_float(k->c, alphas[i]);
		beta[i] = (float)op_float(k->c, betas[i]);
	}
	out_texts(n, "activations", name, count);
	out_floats(n, "activation_alpha", alpha, count);
	out_floats(n, "activation_beta", beta, count);
}

bool onnx_write_recurrent(const Call *k)
{
	const Dag *d = k->o->dag;
	const OpCall *p = input_product(d, k->c);
	Shape x = call_in(k, 0)->shape, r = call_in(k, 1)->shape;
	int64_t steps = x.dim[0], batch = x.dim[1], columns = r.dim[1] * r.dim[2], size = r.dim[0], perm[] = { 1, 2, 0 };
	int last = k->c->op == OP_rnn ? 3 : k->c->op == OP_gru ? 4 : 5;
	const char *w, *turned = out_name(k->o, k->out[0]);
	OutNode t = out_begin(k->o, "Transpose");
	out_input(&t, k->in[1]);
	out_ints(&t, "perm", perm, 3);
	out_end(&t, turned);
	if (p != NULL) {
		const Value *v = &d->value.at[p->in[1]];
		w = reshaped(k, v->name, shape_of(3, (int64_t[]){ 1, columns, v->shape.dim[1] }), out_name(k->o, k->out[0]));
	} else {
		w = identity(k, columns);
	}
	const char *in[] = { p != NULL ? d->value.at[p->in[0]].name : k->in[0], w,
		reshaped(k, turned, shape_of(3, (int64_t[]){ 1, columns, size }), out_name(k->o, k->out[0])),
		biases(k, p, columns, size), last < k->c->nin ? k->in[last] : NULL, with_direction(k, 2), NULL, NULL };
	if (k->c->op == OP_lstm) {
		in[6] = with_direction(k, 3);
		in[7] = with_direction(k, 4);
	}
	OutNode n = out_begin(k->o, k->type);
	for (int i = 0; i < 8; i++)
		out_input(&n, in[i]);
	out_int(&n, "hidden_size", size);
	out_text(&n, "direction", op_int(k->c, "reverse") != 0 ? "reverse" : "forward");
	if (op_float(k->c, "clip") > 0)
		out_float(&n, "clip", op_float(k->c, "clip"));
	if (k->c->op == OP_gru)
		out_int(&n, "linear_before_reset", op_int(k->c, "linear_before_reset"));
	if (k->c->op == OP_lstm)
		out_int(&n, "input_forget", op_int(k->c, "input_forget"));
	activations(k, &n);
	const char *result[3];
	for (int i = 0; i < k->c->nout; i++) {
		result[i] = out_name(k->o, k->out[i]);
		if (i < k->c->nout - 1)
			vec_push(k->o->arena, &n.node.output, result[i]);
	}
	out_end(&n, result[k->c->nout - 1]);
	reshaped(k, result[0], shape_of(3, (int64_t[]){ steps, batch, size }), k->out[0]);
	for (int i = 1; i < k->c->nout; i++)
		reshaped(k, result[i], shape_of(2, (int64_t[]){ batch, size }), k->out[i]);
	return true;
}

/* Keys [first, end) of input i. */
static const char *keys_of(const Call *k, int i, int64_t first, int64_t end)
{
	const int64_t axis = 2;
	const char *result = out_name(k->o, k->out[0]);
	OutNode n = out_begin(k->o, "Slice");
	out_input(&n, k->in[i]);
	out_input(&n, out_const_ints(k->o, k->out[0], &first, 1));
	out_input(&n, out_const_ints(k->o, k->out[0], &end, 1));
	out_input(&n, out_const_ints(k->o, k->out[0], &axis, 1));
	out_end(&n, result);
	return result;
}

/* ONNX counts the keys that come before the queries by the length of a cache. */
bool onnx_write_attention(const Call *k)
{
	int64_t keys = call_in(k, 1)->shape.dim[2], past = op_int(k->c, "past");
	bool causal = op_int(k->c, "causal") != 0 && past < keys - 1, cached = causal && past > 0;
	const char *in[6] = { k->in[0], k->in[1], k->in[2], k->c->nin > 3 ? k->in[3] : NULL };
	for (int i = 1; i < 3 && cached; i++) {
		in[i] = keys_of(k, i, past, keys);
		in[3 + i] = keys_of(k, i, 0, past);
	}
	OutNode n = out_begin(k->o, k->type);
	for (int i = 0; i < 6; i++)
		out_input(&n, in[i]);
	out_float(&n, "scale", op_float(k->c, "scale"));
	out_float(&n, "softcap", op_float(k->c, "cap"));
	out_int(&n, "is_causal", causal);
	if (op_int(k->c, "zeros") != ZEROS_NAN)
		return end(k, &n);
	const char *result = out_name(k->o, k->out[0]), *lost = out_name(k->o, k->out[0]);
	out_end(&n, result);
	OutNode test = out_begin(k->o, "IsNaN"), choice = out_begin(k->o, "Where");
	out_input(&test, result);
	out_end(&test, lost);
	out_input(&choice, lost);
	out_input(&choice, out_const_number(k->o, k->out[0], call_in(k, 0)->type, 0));
	out_input(&choice, result);
	return end(k, &choice);
}

/* Input i with its heads joined, [batch, steps, heads * size]; NULL: it is absent. */
static const char *joined(const Call *k, int i, const char *x)
{
	if (i >= k->c->nin || k->in[i] == NULL)
		return NULL;
	Shape s = call_in(k, i)->shape;
	Shape flat = shape_of(3, (int64_t[]){ s.dim[0], s.dim[1], s.dim[2] * s.dim[3] });
	return reshaped(k, x, flat, out_name(k->o, k->out[0]));
}

/* ONNX takes the logarithms of the decays. */
bool onnx_write_linear_attention(const Call *k)
{
	bool decays = k->c->nin > 4 && k->in[4] != NULL, delta = k->c->nin > 5 && k->in[5] != NULL;
	const char *logs = NULL, *result = out_name(k->o, k->out[0]);
	if (decays) {
		logs = out_name(k->o, k->out[0]);
		OutNode l = out_begin(k->o, "Log");
		out_input(&l, k->in[4]);
		out_end(&l, logs);
	}
	const char *in[] = { joined(k, 0, k->in[0]), joined(k, 1, k->in[1]), joined(k, 2, k->in[2]),
		k->c->nin > 3 ? k->in[3] : NULL, decays ? joined(k, 4, logs) : NULL, delta ? k->in[5] : NULL };
	OutNode n = out_begin(k->o, k->type);
	for (int i = 0; i < 6; i++)
		out_input(&n, in[i]);
	out_int(&n, "q_num_heads", call_in(k, 0)->shape.dim[2]);
	out_int(&n, "kv_num_heads", call_in(k, 1)->shape.dim[2]);
	out_text(&n, "update_rule", delta ? (decays ? "gated_delta" : "delta") : decays ? "gated" : "linear");
	out_float(&n, "scale", 1);
	vec_push(k->o->arena, &n.node.output, result);
	out_end(&n, k->out[1]);
	reshaped(k, result, k->o->dag->value.at[k->c->out[0]].shape, k->out[0]);
	return true;
}
