/*
 * Indices of devices. Integers of the language have 64 bits, those of a GPU's processors have 32. So an operation is
 * done in 32 bits where the ranges of loops prove that its arguments and its value fit, and is extended behind that.
 * An extension that nothing uses makes no instruction.
 *
 * Only what loops and lets say counts, not the conditions around: the value is remembered for its whole level, which
 * may have parts outside of them.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"

static bool fits(const Emit *e, const Expr *x)
{
	Interval v = ir_interval(x, e->bound);
	return v.lo >= INT32_MIN && v.hi <= INT32_MAX;
}

static bool is_index(const Expr *x)
{
	return dtype_eq(dtype_scalar(x->type), I64);
}

LLVMValueRef emit_short(Emit *e, LLVMValueRef v)
{
	LLVMTypeRef t = emit_vector(e->i32, emit_lanes(v));
	LLVMValueRef from = LLVMIsASExtInst(v) ? LLVMGetOperand(v, 0) : NULL;
	return from != NULL && LLVMTypeOf(from) == t ? from : LLVMBuildTrunc(e->b, v, t, "");
}

bool emit_is_short(const Emit *e, const Expr *lo, const Expr *hi)
{
	return e->device && fits(e, lo) && fits(e, hi);
}

static LLVMValueRef extended(Emit *e, LLVMValueRef v)
{
	return LLVMBuildSExt(e->b, v, emit_vector(e->i64, emit_lanes(v)), "");
}

/* Of arguments and a value that fit, so that nothing wraps. */
static LLVMValueRef operate(Emit *e, Node op, DType t, LLVMValueRef const *a)
{
	switch (op) {
	case IR_ADD: return LLVMBuildNSWAdd(e->b, a[0], a[1], "");
	case IR_SUB: return LLVMBuildNSWSub(e->b, a[0], a[1], "");
	case IR_MUL: return LLVMBuildNSWMul(e->b, a[0], a[1], "");
	case IR_NEG: return LLVMBuildNSWNeg(e->b, a[0], "");
	default: return op == IR_ABS ? emit_unary(e, op, t, a[0]) : emit_binary(e, op, t, a[0], a[1]);
	}
}

LLVMValueRef emit_short_node(Emit *e, const Expr *x, LLVMValueRef const *a)
{
	LLVMValueRef s[3] = { NULL };
	bool select = x->op == IR_SELECT;
	Interval by;
	switch (x->op) {
	case IR_ADD:
	case IR_SUB:
	case IR_MUL:
	case IR_NEG:
	case IR_ABS:
	case IR_DIV:
	case IR_MOD:
	case IR_TDIV:
	case IR_TMOD:
	case IR_MIN:
	case IR_MAX:
	case IR_AND:
	case IR_OR:
	case IR_XOR:
	case IR_SELECT:
	case IR_EQ:
	case IR_NE:
	case IR_LT:
	case IR_LE: break;
	case IR_SHL:
	case IR_SHR:
		by = ir_interval(x->arg[1], e->bound);
		if (by.lo < 0 || by.hi > 31)
			return NULL;
		break;
	case IR_CAST: break;
	default: return NULL;
	}
	if (!is_index(x->arg[select]) || (is_index(x) && !fits(e, x)))
		return NULL;
	for (int k = select; k < x->nargs; k++)
		if (!fits(e, x->arg[k]))
			return NULL;
	for (int k = select; k < x->nargs; k++)
		s[k - select] = emit_short(e, a[k]);
	DType t = dtype_vector(I32, x->arg[select]->type.lanes);
	if (select)
		return extended(e, LLVMBuildSelect(e->b, a[0], s[0], s[1], ""));
	if (x->op == IR_CAST)
		return dtype_eq(dtype_scalar(x->type), I64) ? NULL : emit_cast(e, x->type, t, s[0]);
	LLVMValueRef v = operate(e, x->op, t, s);
	return is_index(x) ? extended(e, v) : v;
}
