/*
 * Constant folding: the value of one node on constant arguments, computed exactly as the type of
 * the node says (docs/ir.md). What libm may round differently from machine to machine stays a node.
 */
#include "ir/build.h"

#include <math.h>

static bool is_unsigned(DType t)
{
	return t.kind == DT_UINT;
}

static bool divide(Node op, DType t, int64_t a, int64_t b, int64_t *out)
{
	if (b == 0)
		return false;
	if (is_unsigned(t)) {
		uint64_t q = (uint64_t)a / (uint64_t)b, r = (uint64_t)a % (uint64_t)b;
		*out = (int64_t)(op == IR_DIV || op == IR_TDIV ? q : r);
		return true;
	}
	int64_t q = b == -1 ? (int64_t)-(uint64_t)a : a / b; /* INT64_MIN / -1 wraps */
	if ((op == IR_DIV || op == IR_MOD) && b != -1 && a % b != 0 && (a % b < 0) != (b < 0))
		q--;
	int64_t r = (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)b);
	*out = op == IR_DIV || op == IR_TDIV ? q : r;
	return true;
}

bool ir_fold_int(Node op, DType t, int64_t a, int64_t b, int64_t *out)
{
	bool less = is_unsigned(t) ? (uint64_t)a < (uint64_t)b : a < b, ok = true;
	uint64_t x = (uint64_t)a, y = (uint64_t)b;
	int64_t v;
	switch (op) {
	case IR_EQ: *out = a == b; return true;
	case IR_NE: *out = a != b; return true;
	case IR_LT: *out = less; return true;
	case IR_LE: *out = less || a == b; return true;
	case IR_OR: v = a | b; break;
	case IR_XOR: v = a ^ b; break;
	case IR_AND: v = a & b; break;
	case IR_ADD: v = (int64_t)(x + y); break;
	case IR_SUB: v = (int64_t)(x - y); break;
	case IR_MUL: v = (int64_t)(x * y); break;
	case IR_MIN: v = less ? a : b; break;
	case IR_MAX: v = less ? b : a; break;
	case IR_NEG: v = (int64_t)-x; break;
	case IR_NOT: v = t.kind == DT_BOOL ? !a : ~a; break;
	case IR_ABS: v = !is_unsigned(t) && a < 0 ? (int64_t)-x : a; break;
	case IR_SHL:
	case IR_SHR:
		if (b < 0 || b >= t.bits)
			return false;
		v = op == IR_SHL ? (int64_t)(x << b) : is_unsigned(t) ? (int64_t)(x >> b) : a >> b;
		break;
	case IR_DIV:
	case IR_MOD:
	case IR_TDIV:
	case IR_TMOD: ok = divide(op, t, a, b, &v); break;
	default: return false;
	}
	if (ok)
		*out = dtype_wrap(t, v);
	return ok;
}

/* Floating comparisons. */
static bool float_test(Node op, double a, double b, int64_t *out)
{
	switch (op) {
	case IR_EQ: *out = a == b; return true;
	case IR_NE: *out = a != b; return true;
	case IR_LT: *out = a < b; return true;
	case IR_LE: *out = a <= b; return true;
	case IR_ISNAN: *out = isnan(a); return true;
	default: return false;
	}
}

/* Before rounding to the type; all of these are exact or correctly rounded in double. */
static bool float_op(Node op, double a, double b, double *out)
{
	switch (op) {
	case IR_ADD: *out = a + b; return true;
	case IR_SUB: *out = a - b; return true;
	case IR_MUL: *out = a * b; return true;
	case IR_DIV: *out = a / b; return true;
	case IR_TMOD: *out = fmod(a, b); return true;
	case IR_NEG: *out = -a; return true;
	case IR_ABS: *out = fabs(a); return true;
	case IR_SQRT: *out = sqrt(a); return true;
	case IR_FLOOR: *out = floor(a); return true;
	case IR_CEIL: *out = ceil(a); return true;
	case IR_TRUNC: *out = trunc(a); return true;
	case IR_ROUND: *out = rint(a); return true;
	case IR_MIN:
	case IR_MAX:
		/* Of zeros of two signs it stays a node: which one results is the machine's choice. */
		if (a == b && signbit(a) != signbit(b))
			return false;
		*out = isnan(a) || isnan(b) ? NAN : (a < b) == (op == IR_MIN) ? a : b;
		return true;
	default: return false;
	}
}

static const Expr *fold_fma(Ir *ir, DType t, const Expr *const *arg)
{
	if (t.kind == DT_FLOAT && t.bits == 64)
		return ir_const_float(ir, t, fma(arg[0]->f, arg[1]->f, arg[2]->f));
	if (t.kind == DT_FLOAT && t.bits == 32)
		return ir_const_float(
			ir, t, fmaf((float)arg[0]->f, (float)arg[1]->f, (float)arg[2]->f));
	return NULL; /* the product of narrower types is exact, but rounding twice is not fma */
}

const Expr *ir_fold(Ir *ir, Node op, DType type, const Expr *const *arg, int n)
{
	if (type.lanes != 1 || n < 1 || n > 3)
		return NULL;
	for (int i = 0; i < n; i++)
		if ((arg[i]->op != IR_INT && arg[i]->op != IR_FLOAT) ||
			(op != IR_SELECT && arg[i]->op != arg[0]->op))
			return NULL;
	int64_t v;
	double f;
	if (op == IR_CAST && arg[0]->op == IR_FLOAT)
		return dtype_is_float(type) ? ir_const_float(ir, type, arg[0]->f)
		                            : ir_const_int(ir, type, dtype_float_to_int(type, arg[0]->f));
	if (op == IR_CAST)
		return dtype_is_float(type) ? ir_const_float(ir, type, dtype_int_to_float(type, arg[0]->type, arg[0]->i))
		                            : ir_const_int(ir, type, arg[0]->i);
	if (op == IR_SELECT)
		return arg[arg[0]->i != 0 ? 1 : 2];
	if (op == IR_FMA)
		return arg[0]->op == IR_FLOAT ? fold_fma(ir, type, arg) : NULL;
	const Expr *a = arg[0], *b = arg[n - 1];
	if (a->op == IR_INT)
		return ir_fold_int(op, a->type, a->i, b->i, &v) ? ir_const_int(ir, type, v) : NULL;
	if (type.kind == DT_BOOL)
		return float_test(op, a->f, b->f, &v) ? ir_const_int(ir, type, v) : NULL;
	return float_op(op, a->f, b->f, &f) ? ir_const_float(ir, type, f) : NULL;
}
