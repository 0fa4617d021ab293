/*
 * Rows of the steps of optimizers, ai.onnx.preview.training: formulas of a learning rate r, a count of steps t, and for
 * each of n weights x, its gradient g and the states of the optimizer. Inputs and results are lists, all x first.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"

#include <string.h>

typedef struct Step {
	Visit *v;
	DType type; /* of the weights */
	int r, t, n; /* r, t: numbers in the type of the weights */
} Step;

static int times(const Step *s, int x, double by)
{
	return node_with_number(s->v, OP_mul, x, by);
}

static int call(const Step *s, int op, int a, int b)
{
	return node_call2(s->v, op, a, b);
}

/* Where the count of steps is not 0 `then`, else the number. */
static int unless_first(const Step *s, int then, double first)
{
	int begun = call(s, OP_less, node_number(s->v, s->type, 0), s->t);
	return node_where(s->v, begun, then, node_number(s->v, s->type, first));
}

/* Input `list` of weight i: x is list 0, g list 1, then states. */
static int operand(const Step *s, int list, int i)
{
	return node_value(s->v, 2 + list * s->n + i);
}

static int regularized(const Step *s, int i)
{
	double norm = node_attr_float(s->v, "norm_coefficient", 0);
	return call(s, OP_add, times(s, operand(s, 0, i), norm), operand(s, 1, i));
}

/* Reads r, t and the shapes of all lists; false: it failed. */
static bool open_step(Visit *v, int lists, Step *s)
{
	const Item *r = node_need(v, 0), *t = node_need(v, 1), *x = node_need(v, 2);
	int many = node_nin(v) - 2;
	*s = (Step){ .v = v, .type = x->type, .n = many / lists };
	if (node_ok(v) && (many < lists || many % lists != 0))
		node_fail(v, ERR_INPUT, "it has %d inputs behind R and T, which are no %d lists of one length", many, lists);
	if (node_ok(v) && (!dtype_is_float(x->type) || shape_elements(r->shape) != 1 || shape_elements(t->shape) != 1))
		node_fail(v, ERR_TYPE, "its weights must be floats, R and T single numbers");
	for (int k = 0; k < many && node_ok(v); k++) {
		const Item *it = node_need(v, 2 + k);
		if (!dtype_eq(it->type, x->type) || !shape_eq(it->shape, node_need(v, 2 + k % s->n)->shape))
			node_fail(v, ERR_TYPE, "its input '%s' does not fit its weight", it->name);
	}
	if (!node_ok(v))
		return false;
	s->r = node_cast(v, node_view(v, node_value(v, 0), 0, NULL), s->type);
	s->t = node_cast(v, node_view(v, node_value(v, 1), 0, NULL), s->type);
	return node_ok(v);
}

/* x - rate g / (sqrt(h) + epsilon) */
static int descend(const Step *s, int x, int rate, int g, int h)
{
	double epsilon = node_attr_float(s->v, "epsilon", 1e-6F);
	int root = node_with_number(s->v, OP_add, node_call1(s->v, OP_sqrt, h), epsilon);
	return call(s, OP_sub, x, call(s, OP_mul, rate, call(s, OP_div, g, root)));
}

static void import_adagrad(Visit *v)
{
	Step s;
	if (!open_step(v, 3, &s))
		return;
	int slow = node_with_number(v, OP_add, times(&s, s.t, node_attr_float(v, "decay_factor", 0)), 1);
	int rate = call(&s, OP_div, s.r, slow);
	for (int i = 0; i < s.n; i++) {
		int g = regularized(&s, i), h = call(&s, OP_add, operand(&s, 2, i), call(&s, OP_mul, g, g));
		node_set(v, i, descend(&s, operand(&s, 0, i), rate, g, h));
		node_set(v, s.n + i, h);
	}
}

/* 1 - by^t */
static int faded(const Step *s, double by)
{
	int power = call(s, OP_pow, node_number(s->v, s->type, by), s->t);
	return call(s, OP_sub, node_number(s->v, s->type, 1), power);
}

static void import_adam(Visit *v)
{
	Step s;
	double alpha = node_attr_float(v, "alpha", 0.9F), beta = node_attr_float(v, "beta", 0.999F);
	double post = node_attr_float(v, "norm_coefficient_post", 0);
	if (!open_step(v, 4, &s))
		return;
	int correct = call(&s, OP_div, node_call1(v, OP_sqrt, faded(&s, beta)), faded(&s, alpha));
	int rate = call(&s, OP_mul, s.r, unless_first(&s, correct, 1));
	for (int i = 0; i < s.n; i++) {
		int g = regularized(&s, i), square = call(&s, OP_mul, g, g);
		int m = call(&s, OP_add, times(&s, operand(&s, 2, i), alpha), times(&s, g, 1 - alpha));
		int h = call(&s, OP_add, times(&s, operand(&s, 3, i), beta), times(&s, square, 1 - beta));
		node_set(v, i, times(&s, descend(&s, operand(&s, 0, i), rate, m, h), 1 - post));
		node_set(v, s.n + i, m);
		node_set(v, 2 * s.n + i, h);
	}
}

static void import_momentum(Visit *v)
{
	Step s;
	const char *mode = node_attr_text(v, "mode", "standard");
	double alpha = node_attr_float(v, "alpha", 0), beta = node_attr_float(v, "beta", 0);
	bool nesterov = strcmp(mode, "nesterov") == 0;
	if (node_ok(v) && !nesterov && strcmp(mode, "standard") != 0)
		node_fail(v, ERR_INPUT, "its attribute mode is '%.60s', not standard or nesterov", mode);
	if (!open_step(v, 3, &s))
		return;
	int share = unless_first(&s, node_number(v, s.type, beta), 1);
	for (int i = 0; i < s.n; i++) {
		int g = regularized(&s, i), part = call(&s, OP_mul, share, g);
		int m = call(&s, OP_add, times(&s, operand(&s, 2, i), alpha), part);
		int way = nesterov ? call(&s, OP_add, g, times(&s, m, alpha)) : m;
		node_set(v, i, call(&s, OP_sub, operand(&s, 0, i), call(&s, OP_mul, s.r, way)));
		node_set(v, s.n + i, m);
	}
}

const NodeRow onnx_training_rows[] = {
	{ "ai.onnx.preview.training::Adagrad", 1, "", import_adagrad },
	{ "ai.onnx.preview.training::Adam", 1, "", import_adam },
	{ "ai.onnx.preview.training::Momentum", 1, "", import_momentum },
	{ NULL, 0, NULL, NULL },
};
