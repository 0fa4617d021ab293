/*
 * Writers of logic, shifts, remainders and tests, and of the functions that ONNX has no node for: expm1 and log1p
 * become hyperbolic functions, which are as exact near 0.
 */
#include "frontend/onnx/export_call.h"

/* "And" is for bools, "BitwiseAnd" for integers. */
bool write_logic(const Call *k)
{
	Call n = *k;
	if (arg(k, 0)->type.kind != DT_BOOL)
		n.type = arena_printf(k->o->arena, "Bitwise%s", k->type);
	return plain(&n);
}

bool write_shift(const Call *k)
{
	OutNode n = begin(k);
	out_text(&n, "direction", k->c->op == OP_shift_left ? "LEFT" : "RIGHT");
	return end(k, &n);
}

bool write_mod(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "fmod", op_int(k->c, "fmod"));
	return end(k, &n);
}

bool write_is_inf(const Call *k)
{
	OutNode n = begin(k);
	out_int(&n, "detect_negative", op_int(k->c, "negative"));
	out_int(&n, "detect_positive", op_int(k->c, "positive"));
	return end(k, &n);
}

/* A node of one or two inputs; `out` NULL: a new name. Returns the name of its result. */
static const char *node(const Call *k, const char *type, const char *a, const char *b, const char *out)
{
	OutNode n = out_begin(k->o, type);
	if (out == NULL)
		out = out_name(k->o, k->out[0]);
	out_input(&n, a);
	if (b != NULL)
		out_input(&n, b);
	out_end(&n, out);
	return out;
}

static const char *number(const Call *k, double v)
{
	return out_const_number(k->o, k->out[0], arg(k, 0)->type, v);
}

/* exp(x) - 1 = tanh(x / 2) (exp(x) + 1) */
bool write_expm1(const Call *k)
{
	const char *t = node(k, "Tanh", node(k, "Mul", k->in[0], number(k, 0.5), NULL), NULL, NULL);
	const char *e = node(k, "Add", node(k, "Exp", k->in[0], NULL, NULL), number(k, 1), NULL);
	return node(k, "Mul", t, e, k->out[0]) != NULL;
}

/* log(1 + x) = 2 atanh(x / (x + 2)) for small x; beyond, the logarithm itself is more exact, above all near -1. */
bool write_log1p(const Call *k)
{
	const char *x = k->in[0], *under = node(k, "Add", x, number(k, 2), NULL);
	const char *t = node(k, "Atanh", node(k, "Div", x, under, NULL), NULL, NULL);
	t = node(k, "Mul", t, number(k, 2), NULL);
	const char *log = node(k, "Log", node(k, "Add", x, number(k, 1), NULL), NULL, NULL);
	OutNode n = out_begin(k->o, "Where");
	out_input(&n, node(k, "Less", node(k, "Abs", x, NULL, NULL), number(k, 0.5), NULL));
	out_input(&n, t);
	out_input(&n, log);
	return end(k, &n);
}

enum { MOST_SUPPRESSED = 1 << 10 };

/*
 * Suppression, which ONNX does not have: all stay at first, then n times those stay whom none before them hides that
 * stays. After step t the first t are right.
 */
bool write_suppress(const Call *k)
{
	OnnxOut *o = k->o;
	Shape s = arg(k, 0)->shape, one = s;
	int64_t n = s.dim[s.rank - 1];
	if (n > MOST_SUPPRESSED)
		return fail(
			o->err, ERR_UNSUPPORTED, k->c->name, "suppress of %lld is too long to be written as ONNX", (long long)n);
	float *before = arena_array(o->arena, float, n * n + 1);
	for (int64_t i = 0; i < n * n; i++)
		before[i] = i / n < i % n;
	one.dim[s.rank - 2] = 1;
	OutNode cast = out_begin(o, "Cast"), first = out_begin(o, "Expand");
	const char *x = out_name(o, k->out[0]), *stay = out_name(o, k->out[0]);
	out_input(&cast, k->in[0]);
	out_int(&cast, "to", onnx_type_to(F32));
	out_end(&cast, x);
	x = node(k, "Mul", x, out_const(o, k->out[0], F32, shape_of(2, (int64_t[]){ n, n }), before), NULL);
	out_input(&first, out_const_number(o, k->out[0], F32, 1));
	out_input(&first, out_const_ints(o, k->out[0], one.dim, one.rank));
	out_end(&first, stay);
	const char *half = out_const_number(o, k->out[0], F32, 0.5), *is = node(k, "Less", half, stay, NULL);
	for (int64_t t = 0; t < n; t++) {
		is = node(k, "Less", node(k, "MatMul", stay, x, NULL), half, NULL);
		OutNode again = out_begin(o, "Cast");
		stay = out_name(o, k->out[0]);
		out_input(&again, is);
		out_int(&again, "to", onnx_type_to(F32));
		out_end(&again, stay);
	}
	one.dim[s.rank - 2] = n;
	one.rank--;
	return reshaped(k, is, one, k->out[0]) != NULL;
}
