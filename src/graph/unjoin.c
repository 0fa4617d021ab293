/*
 * Attention as calls of their own, for devices whose templates make products and softmaxes but no attention: a product,
 * what scale, cap and masks make of it, a softmax, a product. Causality becomes a constant mask. Heads that share keys
 * are a dimension of their own.
 */
#include "graph/edit.h"
#include "op/element.h"

#include <math.h>
#include <string.h>

typedef struct Calls {
	Edit *e;
	const OpCall *c;
	DType type;
	int64_t group; /* heads that share keys */
	const char *name;
} Calls;

static int call(Calls *k, int op, const int *in, int nin, const Attr *attr, int nattr)
{
	for (int i = 0; i < nin; i++)
		if (in[i] == DAG_NONE)
			return DAG_NONE;
	return edit_call(k->e, op, k->name, in, nin, attr, nattr);
}

static int number(Calls *k, double v)
{
	void *data = arena_alloc(k->e->to->arena, 16);
	element_set(k->type, data, 0, v);
	return edit_const(k->e, k->name, k->type, (Shape){ 0 }, data);
}

static int with_number(Calls *k, int op, int x, double v)
{
	return op == OP_mul && v == 1 ? x : call(k, op, (int[]){ x, number(k, v) }, 2, NULL, 0);
}

/* x[N,H,..] as [N,G,H/G,..]; a dimension of 1 stays one. */
static int grouped(Calls *k, int x, int64_t group)
{
	if (k->group == 1 || x == DAG_NONE)
		return x;
	Shape s = edit_at(k->e, x)->shape, t = { .rank = 5 };
	for (int i = 0; i < 5; i++) {
		int from = s.rank - 4 + (i < 2 ? i : i - 1);
		t.dim[i] = i == 2 || from < 0 ? 1 : s.dim[from];
	}
	if (t.dim[1] > 1) {
		t.dim[1] /= group;
		t.dim[2] = group;
	}
	Attr shape = attr_ints("shape", t.dim, 5);
	return call(k, OP_reshape, &x, 1, &shape, 1);
}

static int product(Calls *k, int a, int b, int64_t turn)
{
	Attr attr[] = { attr_int("tb", turn), attr_int("tf32", op_int(k->c, "tf32")) };
	return call(k, OP_matmul, (int[]){ a, b }, 2, attr, 2);
}

/* 0 where query i sees key j <= i + past, else -inf. */
static int causal(Calls *k, int64_t queries, int64_t keys)
{
	int64_t past = op_int(k->c, "past");
	void *data = arena_alloc(k->e->to->arena, (size_t)dtype_bytes(k->type, queries * keys) + 1);
	for (int64_t i = 0; i < queries; i++)
		for (int64_t j = 0; j < keys; j++)
			element_set(k->type, data, i * keys + j, j <= i + past ? 0 : -INFINITY);
	return edit_const(k->e, k->name, k->type, shape_of(2, (int64_t[]){ queries, keys }), data);
}

static int masked(Calls *k, int x, int mask)
{
	if (edit_at(k->e, mask)->type.kind != DT_BOOL)
		return call(k, OP_add, (int[]){ x, grouped(k, mask, k->group) }, 2, NULL, 0);
	return call(k, OP_where, (int[]){ grouped(k, mask, k->group), x, number(k, -INFINITY) }, 3, NULL, 0);
}

/* Where probabilities become 0: those that are NaN, or all of a query whose scores are all -inf. */
static int empty(Calls *k, int scores, int probs, int64_t zeros)
{
	if (zeros == ZEROS_NAN)
		return call(k, OP_is_nan, &probs, 1, NULL, 0);
	int64_t axis = edit_at(k->e, scores)->shape.rank - 1;
	Attr over = attr_ints("axes", &axis, 1);
	int most = call(k, OP_reduce_max, &scores, 1, &over, 1);
	return call(k, OP_equal, (int[]){ most, number(k, -INFINITY) }, 2, NULL, 0);
}

static bool write_calls(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	if (c->op != OP_attention)
		return false;
	const Value *y = &e->from->value.at[c->out[0]];
	int q = edit_value(e, c->in[0]), key = edit_value(e, c->in[1]), value = edit_value(e, c->in[2]);
	const int64_t *queries = edit_at(e, q)->shape.dim, *keys = edit_at(e, key)->shape.dim;
	int64_t rows = queries[2], columns = keys[2];
	Calls k = { e, c, y->type, queries[1] / keys[1], y->name };
	double cap = op_float(c, "cap"), scale = op_float(c, "scale");
	int x = product(&k, grouped(&k, q, k.group), grouped(&k, key, 1), 1);
	x = with_number(&k, OP_mul, x, cap > 0 ? scale / cap : scale);
	if (cap > 0)
		x = with_number(&k, OP_mul, call(&k, OP_tanh, &x, 1, NULL, 0), cap);
	if (x != DAG_NONE && c->nin > 3 && c->in[3] != DAG_NONE)
		x = masked(&k, x, edit_value(e, c->in[3]));
	if (x != DAG_NONE && op_int(c, "causal") != 0)
		x = call(&k, OP_add, (int[]){ x, causal(&k, rows, columns) }, 2, NULL, 0);
	Attr last = attr_int("axis", -1);
	int64_t zeros = op_int(c, "zeros");
	int scores = x;
	x = call(&k, OP_softmax, &x, 1, &last, 1);
	if (zeros != ZEROS_NONE && x != DAG_NONE)
		x = call(&k, OP_where, (int[]){ empty(&k, scores, x, zeros), number(&k, 0), x }, 3, NULL, 0);
	x = product(&k, x, grouped(&k, value, 1), 0);
	Attr shape = attr_ints("shape", y->shape.dim, y->shape.rank);
	return x != DAG_NONE && edit_call_as(e, c, OP_reshape, &x, 1, &shape, 1);
}

bool graph_unjoin_attention(Dag *d, Err *err)
{
	bool any = false;
	for (size_t i = 0; i < d->call.n; i++)
		any |= d->call.at[i].op == OP_attention;
	return !any || edit_dag(d, (EvalFn){ 0 }, write_calls, NULL, err);
}
