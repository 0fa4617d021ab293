/*
 * Shape rules of attention and of recurrent operators, and the table of their activations. The input's product lies
 * outside of recurrent operators: x holds, for each step and sequence, what the input and the biases add to each gate.
 */
#include "op/recurrent.h"
#include "op/rules.h"

#include <math.h>
#include <string.h>

const ActivationRow activation_rows[ACTIVATION_COUNT] = {
#define ACTIVATION(name, onnx, alpha, beta, doc) { #name, onnx, alpha, beta },
#include "op/activation.def"
#undef ACTIVATION
};

int recurrent_gates(int op)
{
	return op == OP_lstm ? 4 : op == OP_gru ? 3 : op == OP_rnn ? 1 : 0;
}

int recurrent_acts(int op)
{
	return op == OP_lstm ? 3 : op == OP_gru ? 2 : 1;
}

int recurrent_act(const OpCall *c, int k)
{
	const char *s = op_text(c, "acts");
	int parts = 1, found = -1;
	for (const char *p = s; *p != 0; p++)
		parts += *p == '.';
	if (parts != recurrent_acts(c->op))
		return -1;
	for (; k > 0; k--)
		s = strchr(s, '.') + 1;
	size_t n = strcspn(s, ".");
	for (int i = 0; i < ACTIVATION_COUNT; i++)
		if (strlen(activation_rows[i].name) == n && memcmp(activation_rows[i].name, s, n) == 0)
			found = i;
	return found;
}

double recurrent_bound(const Dag *d, int value)
{
	for (size_t i = 0; i < d->call.n; i++) {
		const OpCall *c = &d->call.at[i];
		if (recurrent_gates(c->op) > 0 && c->in[1] == value)
			return 1.0 / (double)d->value.at[value].shape.dim[0];
	}
	return INFINITY;
}

static bool need_shape(const OpCall *c, const Value *v, Shape want, Err *err)
{
	char s[160], t[160];
	if (!shape_eq(v->shape, want))
		return op_refuse(
			c, err, "%s has the shape %s, but %s is needed", v->name, shape_str(v->shape, s), shape_str(want, t));
	return true;
}

static bool need_flag(const OpCall *c, const char *name, Err *err)
{
	int64_t v = op_int(c, name);
	if (v != 0 && v != 1)
		return op_refuse(c, err, "%s is %lld, but must be 0 or 1", name, (long long)v);
	return true;
}

/* q[N,H,M,D], k[N,G,K,D], v[N,G,K,E]; H is a multiple of G. The mask, of q's type or bool, broadcasts to [N,H,M,K]. */
bool infer_attention(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *q = op_in(d, c, 0), *k = op_in(d, c, 1), *v = op_in(d, c, 2), *mask = op_in(d, c, 3);
	char s[160], t[160];
	if (!need_float(c, q, err) || !need_rank(c, q, 4, 4, err) || !need_same_type(c, q, k, err) ||
		!need_rank(c, k, 4, 4, err) || !need_same_type(c, q, v, err) || !need_rank(c, v, 4, 4, err) ||
		!need_flag(c, "causal", err) || !need_tf32(c, q, err))
		return false;
	int64_t zeros = op_int(c, "zeros");
	if (zeros < ZEROS_NONE || zeros > ZEROS_UNSEEN)
		return op_refuse(c, err, "zeros is %lld, but must be 0, 1 or 2", (long long)zeros);
	const int64_t *key = k->shape.dim;
	if (key[1] == 0 || q->shape.dim[1] % key[1] != 0)
		return op_refuse(c, err, "%lld heads of queries cannot share %lld heads of keys", (long long)q->shape.dim[1],
			(long long)key[1]);
	if (key[2] == 0)
		return op_refuse(c, err, "it has no keys");
	Shape keys = shape_of(4, (int64_t[]){ q->shape.dim[0], key[1], key[2], q->shape.dim[3] });
	Shape values = shape_of(4, (int64_t[]){ q->shape.dim[0], key[1], key[2], v->shape.dim[3] });
	Shape scores = shape_of(4, (int64_t[]){ q->shape.dim[0], q->shape.dim[1], q->shape.dim[2], key[2] }), all;
	if (!need_shape(c, k, keys, err) || !need_shape(c, v, values, err))
		return false;
	if (mask != NULL && mask->type.kind != DT_BOOL && !need_same_type(c, q, mask, err))
		return false;
	if (mask != NULL && (!shape_broadcast(mask->shape, scores, &all) || !shape_eq(all, scores)))
		return op_refuse(c, err, "the mask of shape %s does not broadcast to %s", shape_str(mask->shape, s),
			shape_str(scores, t));
	if (op_int(c, "past") < 0 || op_int(c, "past") > LARGEST_DIM)
		return op_refuse(c, err, "past is %lld, but must be from 0 to 2^40", (long long)op_int(c, "past"));
	if (!(op_float(c, "cap") >= 0) || !isfinite(op_float(c, "cap")) || !isfinite(op_float(c, "scale")))
		return op_refuse(c, err, "scale is %g and cap %g, but they must be finite, and cap not negative",
			op_float(c, "scale"), op_float(c, "cap"));
	set_like(out, q);
	out->shape.dim[3] = v->shape.dim[3];
	return true;
}

/* q[N,T,Hq,dk], k and decay[N,T,H,dk], v[N,T,H,dv], s[N,H,dk,dv], beta[N,T,H]; Hq is a multiple of H. */
bool infer_linear_attention(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *q = op_in(d, c, 0), *k = op_in(d, c, 1), *v = op_in(d, c, 2);
	if (!need_float(c, q, err) || !need_rank(c, q, 4, 4, err) || !need_rank(c, k, 4, 4, err) ||
		!need_rank(c, v, 4, 4, err))
		return false;
	int64_t batch = q->shape.dim[0], steps = q->shape.dim[1], heads = k->shape.dim[2], size = q->shape.dim[3];
	int64_t depth = v->shape.dim[3];
	Shape keys = shape_of(4, (int64_t[]){ batch, steps, heads, size });
	Shape state = shape_of(4, (int64_t[]){ batch, heads, size, depth });
	Shape want[] = { q->shape, keys, shape_of(4, (int64_t[]){ batch, steps, heads, depth }), state, keys,
		shape_of(3, (int64_t[]){ batch, steps, heads }) };
	if (steps == 0 || size == 0)
		return op_refuse(c, err, "it has no steps or no state");
	if (heads == 0 || q->shape.dim[2] % heads != 0)
		return op_refuse(c, err, "%lld heads of queries cannot share %lld states", (long long)q->shape.dim[2],
			(long long)heads);
	for (int i = 1; i < 6; i++) {
		const Value *x = op_in(d, c, i);
		if (x != NULL && (!need_same_type(c, q, x, err) || !need_shape(c, x, want[i], err)))
			return false;
	}
	set_like(&out[0], q);
	out[0].shape.dim[3] = depth;
	out[1] = (Value){ .type = q->type, .shape = state };
	return true;
}

/* x[T,N,G*H], r[H,G,H], then states [N,H], a bias [H] or weights of the cell [3*H], lengths i32[N]. */
bool infer_recurrent(const Dag *d, const OpCall *c, Value *out, Err *err)
{
	const Value *x = op_in(d, c, 0), *r = op_in(d, c, 1);
	int gates = recurrent_gates(c->op), last = c->op == OP_rnn ? 3 : c->op == OP_gru ? 4 : 5;
	char t[DTYPE_TEXT];
	if (!need_float(c, x, err) || !need_rank(c, x, 3, 3, err) || !need_same_type(c, x, r, err) ||
		!need_rank(c, r, 3, 3, err) || !need_flag(c, "reverse", err))
		return false;
	int64_t batch = x->shape.dim[1], size = r->shape.dim[0];
	if (x->shape.dim[0] == 0 || size == 0)
		return op_refuse(c, err, "it has no steps or no state");
	if (size > LARGEST_DIM / gates)
		return op_refuse(c, err, "the state of %lld elements is too large", (long long)size);
	Shape state = shape_of(2, (int64_t[]){ batch, size }), list = shape_of(1, &size);
	if (!need_shape(c, r, shape_of(3, (int64_t[]){ size, gates, size }), err) ||
		!need_shape(c, x, shape_of(3, (int64_t[]){ x->shape.dim[0], batch, gates * size }), err))
		return false;
	for (int k = 2; k < last; k++) {
		const Value *v = op_in(d, c, k);
		Shape want = state;
		if (c->op == OP_gru && k == 3)
			want = list;
		if (c->op == OP_lstm && k == 4)
			want = shape_of(1, (int64_t[]){ 3 * size });
		if (v != NULL && (!need_same_type(c, x, v, err) || !need_shape(c, v, want, err)))
			return false;
	}
	const Value *len = op_in(d, c, last);
	if (len != NULL && !dtype_eq(len->type, I32))
		return op_refuse(c, err, "%s is %s, but lengths must be i32", len->name, dtype_print(len->type, t));
	if (len != NULL && !need_shape(c, len, shape_of(1, &batch), err))
		return false;
	if ((c->op == OP_lstm && !need_flag(c, "input_forget", err)) ||
		(c->op == OP_gru && !need_flag(c, "linear_before_reset", err)))
		return false;
	if (!(op_float(c, "clip") >= 0))
		return op_refuse(c, err, "clip is %g, but must not be negative", op_float(c, "clip"));
	for (int k = 0; k < recurrent_acts(c->op); k++)
		if (recurrent_act(c, k) < 0)
			return op_refuse(c, err, "acts is \"%s\", but must name %d activations with dots between them",
				op_text(c, "acts"), recurrent_acts(c->op));
	out[0] = (Value){ .type = x->type, .shape = shape_of(3, (int64_t[]){ x->shape.dim[0], batch, size }) };
	for (int k = 1; k < c->nout; k++)
		out[k] = (Value){ .type = x->type, .shape = state };
	return true;
}
