/*
 * Elementwise operators: one nest over the result's shape, one expression. f16 and bf16 are
 * computed in f32 and rounded once, when stored.
 */
#include "op/naive.h"

#include <math.h>
#include <string.h>

typedef struct Args {
	const Expr **idx;
	int rank;
	DType t; /* computed in */
} Args;

static const Expr *arg(Naive *nv, const Args *a, int k)
{
	return naive_load_broadcast(nv, k, a->idx, a->rank, a->t);
}

static const Expr *number(Naive *nv, const Args *a, double v)
{
	return ir_const(nv->ir, a->t, v);
}

static const Expr *attr(Naive *nv, const Args *a, const char *name)
{
	return number(nv, a, op_float(nv->c, name));
}

/* max(0, min(1, alpha * x + beta)) */
static const Expr *ramp_0_1(Naive *nv, const Args *a, const Expr *alpha, const Expr *beta)
{
	const Expr *line = ir_add(nv->ir, ir_mul(nv->ir, alpha, arg(nv, a, 0)), beta);
	return ir_max(nv->ir, number(nv, a, 0), ir_min(nv->ir, number(nv, a, 1), line));
}

/* x where it is not negative, else the given value. */
static const Expr *bend(Naive *nv, const Args *a, const Expr *below)
{
	const Expr *x = arg(nv, a, 0);
	return ir_select(nv->ir, ir_lt(nv->ir, x, number(nv, a, 0)), below, x);
}

static const Expr *batch_norm(Naive *nv, const Args *a)
{
	const Expr *v[5];
	v[0] = arg(nv, a, 0);
	for (int k = 1; k < 5; k++)
		v[k] = naive_load(nv, k, &a->idx[1], a->t);
	const Expr *deviation = ir_unary(nv->ir, IR_SQRT, ir_add(nv->ir, v[4], attr(nv, a, "epsilon")));
	const Expr *unit = ir_div(nv->ir, ir_sub(nv->ir, v[0], v[3]), deviation);
	return ir_add(nv->ir, ir_mul(nv->ir, unit, v[1]), v[2]);
}

/* An integer type may not have the bound: the nearest number with the same effect takes its place. */
static const Expr *bound(Naive *nv, const Args *a, double v, bool low)
{
	if (dtype_is_float(a->t))
		return number(nv, a, v);
	double top = ldexp(1, a->t.kind == DT_INT ? a->t.bits - 1 : a->t.bits);
	double bottom = a->t.kind == DT_INT ? -top : 0;
	v = low ? ceil(v) : floor(v);
	if (v >= top || isnan(v))
		return naive_extreme(nv, a->t, false);
	if (v <= bottom)
		return naive_extreme(nv, a->t, true);
	return v < 0x1p63 ? number(nv, a, v) : ir_const_int(nv->ir, a->t, (int64_t)(uint64_t)v);
}

static const Expr *clip(Naive *nv, const Args *a)
{
	const Expr *x = arg(nv, a, 0);
	double lo = op_float(nv->c, "lo"), hi = op_float(nv->c, "hi");
	if (naive_in(nv, 1) != NULL)
		x = ir_max(nv->ir, x, arg(nv, a, 1));
	if (naive_in(nv, 2) != NULL)
		x = ir_min(nv->ir, x, arg(nv, a, 2));
	if (lo != -INFINITY)
		x = ir_max(nv->ir, x, bound(nv, a, lo, true));
	if (hi != INFINITY)
		x = ir_min(nv->ir, x, bound(nv, a, hi, false));
	return x;
}

/* Computes in a's type; an integer to a floating power goes through f64 and is truncated. */
static const Expr *power(Naive *nv, const Args *a)
{
	if (dtype_is_float(a->t))
		return ir_binary(nv->ir, IR_POW, arg(nv, a, 0), arg(nv, a, 1));
	Args wide = { a->idx, a->rank, F64 };
	const Expr *p = ir_binary(nv->ir, IR_POW, arg(nv, &wide, 0), arg(nv, &wide, 1));
	return naive_cast(nv, a->t, p);
}

static const Expr *binary(Naive *nv, const Args *a, Node op)
{
	return ir_binary(nv->ir, op, arg(nv, a, 0), arg(nv, a, 1));
}

static const Expr *unary(Naive *nv, const Args *a, Node op)
{
	return ir_unary(nv->ir, op, arg(nv, a, 0));
}

static const Expr *infinity(Naive *nv, const Args *a, bool negative)
{
	return ir_eq(nv->ir, arg(nv, a, 0), number(nv, a, negative ? -INFINITY : INFINITY));
}

static const Expr *is_inf(Naive *nv, const Args *a)
{
	const Expr *low = op_int(nv->c, "negative") != 0 ? infinity(nv, a, true) : ir_bool(nv->ir, false);
	const Expr *high = op_int(nv->c, "positive") != 0 ? infinity(nv, a, false) : ir_bool(nv->ir, false);
	return ir_binary(nv->ir, IR_OR, low, high);
}

/* A zero of either sign and NaN stay as they are. */
static const Expr *sign(Naive *nv, const Args *a)
{
	const Expr *x = arg(nv, a, 0), *zero = number(nv, a, 0);
	const Expr *low = x;
	if (a->t.kind != DT_UINT)
		low = ir_select(nv->ir, ir_lt(nv->ir, x, zero), number(nv, a, -1), x);
	return ir_select(nv->ir, ir_lt(nv->ir, zero, x), number(nv, a, 1), low);
}

/* A count that the type has no bits for is replaced, since the loop language does not define the shift. */
static const Expr *shift(Naive *nv, const Args *a, Node op)
{
	const Expr *by = arg(nv, a, 1), *count = ir_min(nv->ir, by, number(nv, a, a->t.bits - 1));
	const Expr *moved = ir_binary(nv->ir, op, arg(nv, a, 0), count);
	return ir_select(nv->ir, ir_eq(nv->ir, by, count), moved, number(nv, a, 0));
}

/* With floats and a divisor's sign to give: r + b where r, the remainder with a's sign, has the other one. */
static const Expr *float_remainder(Naive *nv, const Expr *x, const Expr *y, const Expr *zero, bool fmod)
{
	Ir *ir = nv->ir;
	const Expr *r = ir_binary(ir, IR_TMOD, x, y);
	const Expr *other = ir_binary(ir, IR_NE, ir_lt(ir, r, zero), ir_lt(ir, y, zero));
	other = ir_and(ir, other, ir_binary(ir, IR_NE, r, zero));
	return fmod ? r : ir_select(ir, other, ir_add(ir, r, y), r);
}

/* Integers: the remainders by 0 and by -1 are 0, as by 1, and neither traps. */
static const Expr *remainder_of(Naive *nv, const Args *a)
{
	Ir *ir = nv->ir;
	bool fmod = op_int(nv->c, "fmod") != 0;
	const Expr *x = arg(nv, a, 0), *y = arg(nv, a, 1), *trap = ir_eq(ir, y, number(nv, a, 0));
	if (dtype_is_float(a->t))
		return float_remainder(nv, x, y, number(nv, a, 0), fmod);
	if (a->t.kind == DT_INT)
		trap = ir_binary(ir, IR_OR, trap, ir_eq(ir, y, number(nv, a, -1)));
	return ir_binary(ir, fmod ? IR_TMOD : IR_MOD, x, ir_select(ir, trap, number(nv, a, 1), y));
}

static const Expr *where(Naive *nv, const Args *a)
{
	const Expr *cond = naive_load_broadcast(nv, 0, a->idx, a->rank, BOOL);
	return ir_select(nv->ir, cond, arg(nv, a, 1), arg(nv, a, 2));
}

/* v with the sign of x; v is not negative. */
static const Expr *with_sign(Naive *nv, const Args *a, const Expr *v, const Expr *x)
{
	const Expr *zero = number(nv, a, 0), *negative = ir_lt(nv->ir, x, zero);
	v = ir_select(nv->ir, negative, ir_unary(nv->ir, IR_NEG, v), v);
	return ir_select(nv->ir, ir_eq(nv->ir, x, zero), x, v);
}

/* asin x = atan(x / sqrt((1 - x)(1 + x))), acos x = 2 atan(sqrt((1 - x) / (1 + x))): no difference cancels. */
static const Expr *arc(Naive *nv, const Args *a)
{
	Ir *ir = nv->ir;
	const Expr *x = arg(nv, a, 0), *one = number(nv, a, 1);
	const Expr *less = ir_sub(ir, one, x), *more = ir_add(ir, one, x);
	if (nv->c->op == OP_asin)
		return ir_unary(ir, IR_ATAN, ir_div(ir, x, ir_unary(ir, IR_SQRT, ir_mul(ir, less, more))));
	const Expr *half = ir_unary(ir, IR_ATAN, ir_unary(ir, IR_SQRT, ir_div(ir, less, more)));
	return ir_mul(ir, number(nv, a, 2), half);
}

/*
 * From t = exp(h) - 1, h = |x| / 2, which overflows later than exp(x): 2 sinh h = t + t / (t + 1) = s;
 * sinh x = s (s / 2 + 1 / (t + 1)), since cosh h = sinh h + exp(-h); cosh x = 1 + s^2 / 2. Beyond the limit both
 * are infinite in the type, but t is not.
 */
static const Expr *hyperbolic(Naive *nv, const Args *a)
{
	Ir *ir = nv->ir;
	const Expr *x = arg(nv, a, 0), *one = number(nv, a, 1), *half = number(nv, a, 0.5);
	const Expr *h = ir_mul(ir, half, ir_unary(ir, IR_ABS, x));
	const Expr *t = ir_unary(ir, IR_EXPM1, ir_min(ir, h, number(nv, a, a->t.bits == 64 ? 500 : 60)));
	const Expr *e = ir_add(ir, t, one), *s = ir_add(ir, t, ir_div(ir, t, e));
	const Expr *half_s = ir_mul(ir, s, half);
	if (nv->c->op == OP_cosh)
		return ir_add(ir, one, ir_mul(ir, s, half_s));
	return with_sign(nv, a, ir_mul(ir, s, ir_add(ir, half_s, ir_div(ir, one, e))), x);
}

/*
 * asinh x = log1p(x + x / (1 / x + sqrt(1 / x^2 + 1))) for x >= 0, acosh x = log1p(t + sqrt(t) sqrt(t + 2)), t = x - 1.
 * From 2^64 on both are log(2 x), and the second term is left out, since the sum might overflow.
 */
static const Expr *area(Naive *nv, const Args *a)
{
	Ir *ir = nv->ir;
	const Expr *x = arg(nv, a, 0), *one = number(nv, a, 1), *zero = number(nv, a, 0), *y, *more;
	if (nv->c->op == OP_asinh) {
		y = ir_unary(ir, IR_ABS, x);
		const Expr *r = ir_div(ir, one, y), *root = ir_unary(ir, IR_SQRT, ir_add(ir, ir_mul(ir, r, r), one));
		more = ir_div(ir, y, ir_add(ir, r, root));
	} else {
		y = ir_sub(ir, x, one);
		more = ir_mul(
			ir, ir_unary(ir, IR_SQRT, y), ir_unary(ir, IR_SQRT, ir_add(ir, y, number(nv, a, 2))));
	}
	const Expr *large = ir_lt(ir, number(nv, a, 0x1p64), y);
	const Expr *log = ir_unary(ir, IR_LOG1P, ir_add(ir, y, ir_select(ir, large, zero, more)));
	log = ir_add(ir, log, ir_select(ir, large, number(nv, a, 0.69314718055994531), zero));
	return nv->c->op == OP_asinh ? with_sign(nv, a, log, x) : log;
}

/* log1p(2 x / (1 - x)) / 2 of |x| */
static const Expr *atanh_of(Naive *nv, const Args *a)
{
	Ir *ir = nv->ir;
	const Expr *x = arg(nv, a, 0), *y = ir_unary(ir, IR_ABS, x);
	const Expr *q = ir_div(ir, ir_mul(ir, number(nv, a, 2), y), ir_sub(ir, number(nv, a, 1), y));
	return with_sign(nv, a, ir_mul(ir, number(nv, a, 0.5), ir_unary(ir, IR_LOG1P, q)), x);
}

/* The declared type's bits: a value between calls may lie in a wider one. A bool is a byte of 0 or 1. */
static const Expr *bitcast(Naive *nv, const Args *a)
{
	DType to = naive_out(nv, 0)->type, from = naive_in(nv, 0)->type;
	const Expr *x = naive_load_broadcast(nv, 0, a->idx, a->rank, from);
	if (to.kind == DT_BOOL || from.kind == DT_BOOL)
		return naive_cast(nv, to, from.kind == DT_BOOL ? ir_cast(nv->ir, DT(UINT, 8), x) : x);
	return ir_bitcast(nv->ir, to, x);
}

static const Expr *formula(Naive *nv, const Args *a)
{
	Ir *ir = nv->ir;
	const Expr *zero = number(nv, a, 0);
	switch (nv->c->op) {
	case OP_add: return binary(nv, a, IR_ADD);
	case OP_sub: return binary(nv, a, IR_SUB);
	case OP_mul: return binary(nv, a, IR_MUL);
	case OP_div: return naive_div(nv, arg(nv, a, 0), arg(nv, a, 1));
	case OP_pow: return power(nv, a);
	case OP_maximum: return binary(nv, a, IR_MAX);
	case OP_minimum: return binary(nv, a, IR_MIN);
	case OP_mod: return remainder_of(nv, a);
	case OP_equal: return binary(nv, a, IR_EQ);
	case OP_less: return binary(nv, a, IR_LT);
	case OP_less_equal: return binary(nv, a, IR_LE);
	case OP_bit_and: return binary(nv, a, IR_AND);
	case OP_bit_or: return binary(nv, a, IR_OR);
	case OP_bit_xor: return binary(nv, a, IR_XOR);
	case OP_bit_not: return unary(nv, a, IR_NOT);
	case OP_shift_left: return shift(nv, a, IR_SHL);
	case OP_shift_right: return shift(nv, a, IR_SHR);
	case OP_where: return where(nv, a);
	case OP_is_nan: return unary(nv, a, IR_ISNAN);
	case OP_is_inf: return is_inf(nv, a);
	case OP_prelu: return bend(nv, a, binary(nv, a, IR_MUL));
	case OP_relu: return ir_max(ir, arg(nv, a, 0), zero);
	case OP_leaky_relu: return bend(nv, a, ir_mul(ir, attr(nv, a, "alpha"), arg(nv, a, 0)));
	case OP_elu: {
		const Expr *e = ir_unary(ir, IR_EXP, arg(nv, a, 0));
		return bend(nv, a, ir_mul(ir, attr(nv, a, "alpha"), ir_sub(ir, e, number(nv, a, 1))));
	}
	case OP_hard_sigmoid: return ramp_0_1(nv, a, attr(nv, a, "alpha"), attr(nv, a, "beta"));
	case OP_hard_swish: return ir_mul(ir, arg(nv, a, 0), ramp_0_1(nv, a, number(nv, a, 1.0 / 6), number(nv, a, 0.5)));
	case OP_sigmoid: return unary(nv, a, IR_SIGMOID);
	case OP_tanh: return unary(nv, a, IR_TANH);
	case OP_erf: return unary(nv, a, IR_ERF);
	case OP_exp: return unary(nv, a, IR_EXP);
	case OP_log: return unary(nv, a, IR_LOG);
	case OP_sqrt: return unary(nv, a, IR_SQRT);
	case OP_abs: return a->t.kind == DT_UINT ? arg(nv, a, 0) : unary(nv, a, IR_ABS);
	case OP_neg: return unary(nv, a, IR_NEG);
	case OP_sign: return sign(nv, a);
	case OP_floor: return unary(nv, a, IR_FLOOR);
	case OP_ceil: return unary(nv, a, IR_CEIL);
	case OP_round: return unary(nv, a, IR_ROUND);
	case OP_sin: return unary(nv, a, IR_SIN);
	case OP_cos: return unary(nv, a, IR_COS);
	case OP_tan: return ir_div(ir, unary(nv, a, IR_SIN), unary(nv, a, IR_COS));
	case OP_asin:
	case OP_acos: return arc(nv, a);
	case OP_atan: return unary(nv, a, IR_ATAN);
	case OP_sinh:
	case OP_cosh: return hyperbolic(nv, a);
	case OP_asinh:
	case OP_acosh: return area(nv, a);
	case OP_atanh: return atanh_of(nv, a);
	case OP_expm1: return unary(nv, a, IR_EXPM1);
	case OP_log1p: return unary(nv, a, IR_LOG1P);
	case OP_bitcast: return bitcast(nv, a);
	case OP_clip: return clip(nv, a);
	case OP_batch_norm: return batch_norm(nv, a);
	default: return arg(nv, a, 0); /* identity, cast */
	}
}

void naive_elementwise(Naive *nv)
{
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	Buf *out = naive_buf(nv, nv->c->out[0]);
	nest_shape(&nest, naive_out(nv, 0)->shape, idx);
	const Value *x = naive_in(nv, nv->c->op == OP_where ? 1 : 0); /* its type decides */
	Args a = { idx, naive_out(nv, 0)->shape.rank, naive_type(nv, x->type) };
	if (nv->c->op == OP_identity || nv->c->op == OP_cast) /* no conversion by way of the computing type */
		a.t = naive_buf(nv, nv->c->in[0])->type;
	const Expr *e = formula(nv, &a);
	DType y = naive_out(nv, 0)->type;
	if (nv->c->op == OP_cast && dtype_is_float(y) && y.bits == 16) /* rounds, though the work buffer is wider */
		e = ir_cast(nv->ir, y, e);
	nest_close(&nest, NULL, NULL, naive_store(nv, out, idx, e));
}

/*
 * An integer to an integer power, exact and without a loop that depends on data: a product of 65 factors, b
 * of which are `a` and the others 1. If b is larger than 64, only 1, 0 and -1 have a power that fits, so b
 * counts as 64 or 65, whichever has its parity. A negative power of any other number is 0.
 */
static void pow_int(Naive *nv)
{
	Ir *ir = nv->ir;
	Nest nest = { .nv = nv };
	const Expr *idx[DAG_MAX_RANK];
	const Value *y = naive_out(nv, 0);
	DType t = y->type;
	Buf *out = naive_buf(nv, nv->c->out[0]);
	nest_shape(&nest, y->shape, idx);
	const Expr *k = nest_axis(&nest, "k", ITER_REDUCE, 65);
	const Expr *a = naive_load_broadcast(nv, 0, idx, y->shape.rank, t);
	const Expr *b = naive_load_broadcast(nv, 1, idx, y->shape.rank, I64);
	const Expr *zero = ir_int(ir, 0), *one = ir_const(ir, t, 1), *limit = ir_int(ir, 64);
	const Expr *negative = ir_lt(ir, b, zero), *unit = ir_eq(ir, ir_mul(ir, a, a), one);
	const Expr *factor = ir_select(ir, negative, ir_select(ir, unit, a, ir_const(ir, t, 0)), a);
	const Expr *n = ir_select(ir, negative, ir_sub(ir, zero, b), b);
	n = ir_select(ir, ir_lt(ir, limit, n), ir_add(ir, limit, ir_mod(ir, n, ir_int(ir, 2))), n);
	factor = ir_select(ir, ir_lt(ir, k, n), factor, one);
	nest_close(&nest, NULL, naive_store(nv, out, idx, one), ir_reduce(ir, "prod", out, idx, out->rank, factor));
}

void naive_pow(Naive *nv)
{
	bool whole = dtype_is_int(naive_in(nv, 0)->type) && dtype_is_int(naive_in(nv, 1)->type);
	(whole ? pow_int : naive_elementwise)(nv);
}
