/*
 * Rules of floats, conversions and vectors. The floating ones hold bit for bit (a NaN is a NaN):
 * x + 0.0 is not x where x is -0.0.
 */
#include "ir/build.h"
#include "ir/simplify/simplify_rules.h"

#include <math.h>

static bool is_number(const Expr *e, double *v)
{
	e = e->op == IR_SPLAT ? e->arg[0] : e;
	*v = e->op == IR_FLOAT ? e->f : 0;
	return e->op == IR_FLOAT;
}

static bool is_just(const Expr *e, double v)
{
	double x;
	return is_number(e, &x) && x == v && signbit(x) == signbit(v);
}

static bool is_float(const Expr *e)
{
	return dtype_is_float(e->type);
}

const Expr *rule_float_mul(Simp *s, const Expr *e)
{
	const Expr *a = e->arg[0], *b = e->arg[1];
	double v, w;
	if (!is_float(e))
		return NULL;
	if (is_just(b, 1))
		return a;
	if (a->op == IR_NEG && b->op == IR_NEG)
		return ir_mul(s->ir, a->arg[0], b->arg[0]);
	if (is_number(a, &v) && !is_number(b, &w))
		return ir_mul(s->ir, b, a);
	if (a->op == IR_NEG && is_number(b, &w) && !isnan(w))
		return ir_mul(s->ir, a->arg[0], ir_const_float(s->ir, b->type, -w));
	return NULL;
}

const Expr *rule_float_div(Simp *s, const Expr *e)
{
	double v;
	int p;
	if (!is_float(e) || !is_number(e->arg[1], &v))
		return NULL;
	if (v == 1)
		return e->arg[0];
	/* 1/v is exact if v and 1/v are powers of 2 that are normal in the type. */
	DType t = dtype_scalar(e->type);
	int limit = t.kind == DT_BFLOAT ? 126 : t.bits == 64 ? 1022 : t.bits == 32 ? 126 : 14;
	bool wide_enough = t.kind == DT_BFLOAT || t.bits >= 16;
	if (!wide_enough || isnan(v) || isinf(v) || fabs(frexp(v, &p)) != 0.5 || p - 1 < -limit || p - 1 > limit)
		return NULL;
	return ir_mul(s->ir, e->arg[0], ir_const_float(s->ir, e->type, 1 / v));
}

const Expr *rule_float_add(Simp *s, const Expr *e)
{
	const Expr *a = e->arg[0], *b = e->arg[1];
	double v, w;
	if (!is_float(e))
		return NULL;
	if (is_just(b, -0.0))
		return a;
	if (is_number(a, &v) && !is_number(b, &w))
		return ir_add(s->ir, b, a);
	if (b->op == IR_NEG)
		return ir_sub(s->ir, a, b->arg[0]);
	return a->op == IR_NEG ? ir_sub(s->ir, b, a->arg[0]) : NULL;
}

const Expr *rule_float_sub(Simp *s, const Expr *e)
{
	if (!is_float(e))
		return NULL;
	if (is_just(e->arg[1], 0.0))
		return e->arg[0];
	return e->arg[1]->op == IR_NEG ? ir_add(s->ir, e->arg[0], e->arg[1]->arg[0]) : NULL;
}

const Expr *rule_float_sign(Simp *s, const Expr *e)
{
	const Expr *x = e->arg[0];
	if (!is_float(e))
		return NULL;
	if (e->op == IR_NEG)
		return x->op == IR_NEG ? x->arg[0] : NULL;
	return x->op == IR_NEG ? ir_unary(s->ir, IR_ABS, x->arg[0]) : x->op == IR_ABS ? x : NULL;
}

const Expr *rule_float_fma(Simp *s, const Expr *e)
{
	const Expr *a = e->arg[0], *b = e->arg[1], *c = e->arg[2];
	if (is_just(a, 1) || is_just(b, 1))
		return ir_add(s->ir, is_just(a, 1) ? b : a, c);
	if (is_just(c, -0.0))
		return ir_mul(s->ir, a, b);
	if (a->op == IR_NEG && b->op == IR_NEG)
		return ir_fma(s->ir, a->arg[0], b->arg[0], c);
	return NULL;
}

const Expr *rule_integral(Simp *s, const Expr *e)
{
	(void)s;
	Node op = e->arg[0]->op;
	return op == IR_FLOOR || op == IR_CEIL || op == IR_ROUND || op == IR_TRUNC ? e->arg[0]
	                                                                           : NULL;
}

/* ---- Conversions. ---- */

static int mantissa(DType t)
{
	return t.kind == DT_BFLOAT ? 8
	       : t.bits == 64      ? 53
	       : t.bits == 32      ? 24
	       : t.bits == 16      ? 11
	                           : 0;
}

/* Every value of `of` is one of t, and cast back and forth is the same. */
static bool holds_all(DType t, DType of)
{
	if (dtype_is_float(t) &&
		dtype_is_float(of)) /* f32 holds bf16 and f16, neither holds the other */
		return (t.kind == DT_FLOAT && t.bits >= 32 && t.bits >= of.bits && of.bits >= 16) ||
		       (t.kind == of.kind && t.bits == of.bits);
	if (of.kind == DT_BOOL)
		return mantissa(t) > 0 || !dtype_is_float(t);
	if (dtype_is_float(t))
		return dtype_is_int(of) && of.bits <= mantissa(t) && t.bits >= 32;
	if (!dtype_is_int(t) || !dtype_is_int(of))
		return false;
	if (of.kind == DT_UINT)
		return t.bits > of.bits || (t.kind == DT_UINT && t.bits == of.bits);
	return t.kind == DT_INT && t.bits >= of.bits;
}

const Expr *rule_cast(Simp *s, const Expr *e)
{
	DType to = e->type, from = e->arg[0]->type;
	if (dtype_eq(to, from))
		return e->arg[0];
	if (e->arg[0]->op != IR_CAST)
		return NULL;
	const Expr *x = e->arg[0]->arg[0];
	bool ints = dtype_is_int(to) && dtype_is_int(from) && dtype_is_int(x->type);
	bool logic = to.kind == DT_BOOL && dtype_is_float(from) != dtype_is_float(x->type);
	/* A float saturates where an integer wraps. */
	bool wraps = dtype_is_float(from) && dtype_is_int(to) && !dtype_is_float(x->type) &&
	             !holds_all(to, x->type);
	if ((ints && to.bits <= from.bits) || (!logic && !wraps && holds_all(from, x->type)))
		return ir_cast(s->ir, to, x);
	return NULL;
}

const Expr *rule_bitcast(Simp *s, const Expr *e)
{
	if (dtype_eq(e->type, e->arg[0]->type))
		return e->arg[0];
	/* Floats between would have made one of all NaNs, bool one of all numbers but 0. */
	if (e->arg[0]->op != IR_BITCAST || !dtype_is_int(e->arg[0]->type))
		return NULL;
	return ir_bitcast(s->ir, e->type, e->arg[0]->arg[0]);
}

/* ---- Vectors. ---- */

const Expr *rule_ramp(Simp *s, const Expr *e)
{
	return ir_is_const(e->arg[1], 0) ? ir_splat(s->ir, e->arg[0], e->type.lanes) : NULL;
}

const Expr *rule_ramp_mul(Simp *s, const Expr *e)
{
	for (int i = 0; i < 2; i++) {
		const Expr *r = e->arg[i], *x = e->arg[1 - i];
		if (r->op != IR_RAMP || x->op != IR_SPLAT || !dtype_is_int(e->type))
			continue;
		const Expr *base = ir_mul(s->ir, r->arg[0], x->arg[0]);
		return ir_ramp(s->ir, base, ir_mul(s->ir, r->arg[1], x->arg[0]), e->type.lanes);
	}
	return NULL;
}

const Expr *rule_lane(Simp *s, const Expr *e)
{
	const Expr *v = e->arg[0];
	if (v->op == IR_SPLAT)
		return v->arg[0];
	if (v->op != IR_RAMP || !dtype_is_int(e->type))
		return NULL;
	const Expr *k = ir_const_int(s->ir, e->type, e->arg[1]->i);
	return ir_add(s->ir, v->arg[0], ir_mul(s->ir, v->arg[1], k));
}
