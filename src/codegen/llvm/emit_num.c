/*
 * Arithmetic as the language defines it, which is not as C does: floor division, min and max that keep NaN, wrapping
 * integers, f16 and bf16 rounded after each operation. Nothing here becomes a call of libc: where a target lacks
 * an instruction (fma, rounding), its effect is computed.
 */
#include "codegen/llvm/emit_num.h"

#include <assert.h>
#include <string.h>

LLVMTypeRef emit_vector(LLVMTypeRef t, int lanes)
{
	return lanes == 1 ? t : LLVMVectorType(t, (unsigned)lanes);
}

LLVMTypeRef emit_type(Emit *e, DType t)
{
	LLVMTypeRef one;
	if (dtype_is_float(t))
		one = t.bits == 64 ? e->f64 : e->f32;
	else
		one = t.kind == DT_BOOL ? e->i1 : LLVMIntTypeInContext(e->cx, t.bits);
	return emit_vector(one, t.lanes);
}

LLVMTypeRef emit_mem_type(Emit *e, DType t)
{
	if (dtype_is_float(t) && t.bits == 16)
		return e->i16;
	return t.kind == DT_BOOL ? e->i8 : emit_type(e, dtype_scalar(t));
}

int emit_lanes(LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(t) : 1;
}

static LLVMValueRef constant_splat(LLVMTypeRef t, LLVMValueRef one)
{
	if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
		return one;
	unsigned n = LLVMGetVectorSize(t);
	LLVMValueRef lane[DTYPE_LANES];
	assert(n <= DTYPE_LANES);
	for (unsigned k = 0; k < n; k++)
		lane[k] = one;
	return LLVMConstVector(lane, n);
}

static LLVMTypeRef scalar_of(LLVMTypeRef t)
{
	return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

LLVMValueRef emit_int(LLVMTypeRef t, int64_t v)
{
	return constant_splat(t, LLVMConstInt(scalar_of(t), (unsigned long long)v, 1));
}

LLVMValueRef emit_real(LLVMTypeRef t, double v)
{
	return constant_splat(t, LLVMConstReal(scalar_of(t), v));
}

LLVMValueRef emit_splat(Emit *e, LLVMValueRef v, int lanes)
{
	if (lanes == 1)
		return v;
	LLVMTypeRef t = emit_vector(LLVMTypeOf(v), lanes);
	if (LLVMIsAConstantInt(v) || LLVMIsAConstantFP(v))
		return constant_splat(t, v);
	v = LLVMBuildInsertElement(e->b, LLVMGetPoison(t), v, emit_int(e->i32, 0), "");
	return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(t), LLVMConstNull(emit_vector(e->i32, lanes)), "");
}

LLVMValueRef emit_intrinsic(Emit *e, const char *name, LLVMTypeRef *over, int nover, LLVMValueRef *arg, int narg)
{
	unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
	assert(id != 0);
	LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->mod, id, over, (size_t)nover);
	LLVMTypeRef t = LLVMIntrinsicGetType(e->cx, id, over, (size_t)nover);
	return LLVMBuildCall2(e->b, t, f, arg, (unsigned)narg, "");
}

static LLVMValueRef intrinsic1(Emit *e, const char *name, LLVMValueRef a)
{
	LLVMTypeRef t = LLVMTypeOf(a);
	return emit_intrinsic(e, name, &t, 1, &a, 1);
}

static LLVMValueRef with_sign(Emit *e, LLVMValueRef v, LLVMValueRef sign)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	LLVMValueRef two[2] = { v, sign };
	return emit_intrinsic(e, "llvm.copysign", &t, 1, two, 2);
}

/* Without SSE4.1: adding 2^52 (2^23) rounds to an integer; larger ones are integers already. */
static LLVMValueRef round_by_sum(Emit *e, LLVMValueRef a)
{
	LLVMTypeRef t = LLVMTypeOf(a);
	double big = scalar_of(t) == e->f64 ? 0x1p52 : 0x1p23;
	LLVMValueRef abs = intrinsic1(e, "llvm.fabs", a), b = emit_real(t, big);
	LLVMValueRef r = LLVMBuildFSub(e->b, LLVMBuildFAdd(e->b, abs, b, ""), b, "");
	r = with_sign(e, r, a);
	return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, abs, b, ""), r, a, "");
}

LLVMValueRef emit_round_to_int(Emit *e, Node op, LLVMValueRef a)
{
	if (!e->x86 || e->sse41) {
		const char *name = op == IR_FLOOR   ? "llvm.floor"
		                   : op == IR_CEIL  ? "llvm.ceil"
		                   : op == IR_TRUNC ? "llvm.trunc"
		                                    : "llvm.roundeven";
		return intrinsic1(e, name, a);
	}
	LLVMValueRef r = round_by_sum(e, a), one = emit_real(LLVMTypeOf(a), 1), zero = emit_real(LLVMTypeOf(a), 0);
	LLVMValueRef above = LLVMBuildFCmp(e->b, LLVMRealOGT, r, a, "");
	LLVMValueRef below = LLVMBuildFCmp(e->b, LLVMRealOLT, r, a, "");
	LLVMValueRef down = LLVMBuildSelect(e->b, above, LLVMBuildFSub(e->b, r, one, ""), r, "");
	LLVMValueRef up = LLVMBuildSelect(e->b, below, LLVMBuildFAdd(e->b, r, one, ""), r, "");
	if (op == IR_FLOOR)
		r = down;
	else if (op == IR_CEIL)
		r = up;
	else if (op == IR_TRUNC)
		r = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, a, zero, ""), up, down, "");
	return with_sign(e, r, a);
}

static LLVMValueRef int_unary(Emit *e, Node op, DType t, LLVMValueRef a)
{
	LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(a)), n;
	switch (op) {
	case IR_NEG: return t.kind == DT_BOOL ? a : LLVMBuildNeg(e->b, a, "");
	case IR_NOT: return LLVMBuildNot(e->b, a, "");
	default: /* IR_ABS */
		if (t.kind != DT_INT)
			return a;
		n = LLVMBuildICmp(e->b, LLVMIntSLT, a, zero, "");
		return LLVMBuildSelect(e->b, n, LLVMBuildNeg(e->b, a, ""), a, "");
	}
}

LLVMValueRef emit_unary(Emit *e, Node op, DType t, LLVMValueRef a)
{
	if (!dtype_is_float(t))
		return int_unary(e, op, t, a);
	switch (op) {
	case IR_NEG: return LLVMBuildFNeg(e->b, a, "");
	case IR_ABS: return intrinsic1(e, "llvm.fabs", a);
	case IR_ISNAN: return LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
	case IR_FLOOR:
	case IR_CEIL:
	case IR_ROUND:
	case IR_TRUNC: return emit_round_to_int(e, op, a);
	case IR_SQRT: return emit_round(e, t, intrinsic1(e, "llvm.sqrt", a));
	default: return emit_round(e, t, emit_math(e, op, a));
	}
}

/*
 * Whether v has a lane that is not known to be a divisor as good as any: zero is none, and dividing
 * by -1 traps on x86 where the quotient overflows.
 */
static bool may_trap(LLVMValueRef v)
{
	int64_t k;
	if (LLVMIsAConstantInt(v)) {
		k = LLVMConstIntGetSExtValue(v);
		return k == 0 || k == -1;
	}
	if (!LLVMIsAConstantDataVector(v))
		return true;
	for (int i = 0; i < emit_lanes(v); i++) {
		k = LLVMConstIntGetSExtValue(LLVMGetAggregateElement(v, (unsigned)i));
		if (k == 0 || k == -1)
			return true;
	}
	return false;
}

static LLVMValueRef udiv(Emit *e, Node op, LLVMValueRef a, LLVMValueRef b)
{
	LLVMTypeRef t = LLVMTypeOf(a);
	if (may_trap(b)) {
		LLVMValueRef zero = LLVMBuildICmp(e->b, LLVMIntEQ, b, LLVMConstNull(t), "");
		b = LLVMBuildSelect(e->b, zero, emit_int(t, 1), b, "");
	}
	return op == IR_DIV || op == IR_TDIV ? LLVMBuildUDiv(e->b, a, b, "") : LLVMBuildURem(e->b, a, b, "");
}

/* Never traps: a zero divisor, an error of the program, gives some number. */
static LLVMValueRef sdiv(Emit *e, Node op, LLVMValueRef a, LLVMValueRef b)
{
	LLVMTypeRef t = LLVMTypeOf(a);
	LLVMValueRef zero = LLVMConstNull(t), one = emit_int(t, 1), d = b, minus = NULL;
	if (may_trap(b)) {
		minus = LLVMBuildICmp(e->b, LLVMIntEQ, b, emit_int(t, -1), "");
		LLVMValueRef none = LLVMBuildICmp(e->b, LLVMIntEQ, b, zero, "");
		d = LLVMBuildSelect(e->b, LLVMBuildOr(e->b, minus, none, ""), one, b, "");
	}
	LLVMValueRef q = LLVMBuildSDiv(e->b, a, d, "");
	LLVMValueRef r = LLVMBuildSub(e->b, a, LLVMBuildMul(e->b, q, d, ""), "");
	if (op == IR_DIV || op == IR_MOD) {
		LLVMValueRef sign = LLVMBuildICmp(e->b, LLVMIntSLT, LLVMBuildXor(e->b, r, d, ""), zero, "");
		LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, r, zero, "");
		LLVMValueRef fix = LLVMBuildAnd(e->b, sign, some, "");
		q = LLVMBuildSelect(e->b, fix, LLVMBuildSub(e->b, q, one, ""), q, "");
		r = LLVMBuildSelect(e->b, fix, LLVMBuildAdd(e->b, r, d, ""), r, "");
	}
	if (minus != NULL) /* d is 1: q is a, r is 0 */
		q = LLVMBuildSelect(e->b, minus, LLVMBuildNeg(e->b, a, ""), q, "");
	return op == IR_DIV || op == IR_TDIV ? q : r;
}

static LLVMValueRef int_compare(Emit *e, Node op, bool sign, LLVMValueRef a, LLVMValueRef b)
{
	LLVMIntPredicate p = op == IR_EQ   ? LLVMIntEQ
	                     : op == IR_NE ? LLVMIntNE
	                     : op == IR_LT ? (sign ? LLVMIntSLT : LLVMIntULT)
	                                   : (sign ? LLVMIntSLE : LLVMIntULE);
	return LLVMBuildICmp(e->b, p, a, b, "");
}

static LLVMValueRef int_binary(Emit *e, Node op, DType t, LLVMValueRef a, LLVMValueRef b)
{
	bool sign = t.kind == DT_INT, logic = t.kind == DT_BOOL;
	switch (op) {
	case IR_EQ:
	case IR_NE:
	case IR_LT:
	case IR_LE: return int_compare(e, op, sign, a, b);
	case IR_OR: return LLVMBuildOr(e->b, a, b, "");
	case IR_XOR: return LLVMBuildXor(e->b, a, b, "");
	case IR_AND: return LLVMBuildAnd(e->b, a, b, "");
	case IR_ADD: return logic ? LLVMBuildOr(e->b, a, b, "") : LLVMBuildAdd(e->b, a, b, "");
	case IR_SUB: return LLVMBuildSub(e->b, a, b, "");
	case IR_MUL: return logic ? LLVMBuildAnd(e->b, a, b, "") : LLVMBuildMul(e->b, a, b, "");
	case IR_MIN: return LLVMBuildSelect(e->b, int_compare(e, IR_LT, sign, a, b), a, b, "");
	case IR_MAX: return LLVMBuildSelect(e->b, int_compare(e, IR_LT, sign, a, b), b, a, "");
	case IR_SHL:
	case IR_SHR:
		b = LLVMBuildAnd(e->b, b, emit_int(LLVMTypeOf(b), t.bits - 1), "");
		return op == IR_SHL ? LLVMBuildShl(e->b, a, b, "")
		       : sign       ? LLVMBuildAShr(e->b, a, b, "")
		                    : LLVMBuildLShr(e->b, a, b, "");
	case IR_POW:
		assert(false); /* the verifier: floating only */
		return a;
	default: return sign ? sdiv(e, op, a, b) : udiv(e, op, a, b);
	}
}

/* (a > b ? a : b) gives b where one is NaN, so only NaN in a is left to see to. */
static LLVMValueRef float_extreme(Emit *e, Node op, DType t, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef two[2] = { a, b };
	LLVMTypeRef type = LLVMTypeOf(a);
	if (e->extremes && t.bits <= 32)
		return emit_intrinsic(e, op == IR_MAX ? "llvm.maximum" : "llvm.minimum", &type, 1, two, 2);
	if (LLVMIsAConstant(b)) { /* x86: one maxps with x as its second operand, where a is no NaN */
		LLVMValueRef swap = a;
		a = b;
		b = swap;
	}
	LLVMValueRef c = LLVMBuildFCmp(e->b, op == IR_MAX ? LLVMRealOGT : LLVMRealOLT, a, b, "");
	LLVMValueRef r = LLVMBuildSelect(e->b, c, a, b, "");
	LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
	if (LLVMIsAConstant(nan) && LLVMIsNull(nan))
		return r;
	return LLVMBuildSelect(e->b, nan, a, r, "");
}

LLVMValueRef emit_binary(Emit *e, Node op, DType t, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef r;
	if (!dtype_is_float(t))
		return int_binary(e, op, t, a, b);
	switch (op) {
	case IR_EQ: return LLVMBuildFCmp(e->b, LLVMRealOEQ, a, b, "");
	case IR_NE: return LLVMBuildFCmp(e->b, LLVMRealUNE, a, b, "");
	case IR_LT: return LLVMBuildFCmp(e->b, LLVMRealOLT, a, b, "");
	case IR_LE: return LLVMBuildFCmp(e->b, LLVMRealOLE, a, b, "");
	case IR_MIN:
	case IR_MAX: return float_extreme(e, op, t, a, b);
	case IR_ADD: r = LLVMBuildFAdd(e->b, a, b, ""); break;
	case IR_SUB: r = LLVMBuildFSub(e->b, a, b, ""); break;
	case IR_MUL: r = LLVMBuildFMul(e->b, a, b, ""); break;
	case IR_DIV: r = LLVMBuildFDiv(e->b, a, b, ""); break;
	case IR_POW: r = emit_pow(e, a, b); break;
	default: return emit_fmod(e, t, a, b); /* exact in every type */
	}
	return emit_round(e, t, r);
}

/* s + lost = a + b exactly (Knuth). */
LLVMValueRef emit_two_sum(Emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost)
{
	LLVMValueRef s = LLVMBuildFAdd(e->b, a, b, ""), back = LLVMBuildFSub(e->b, s, a, "");
	LLVMValueRef da = LLVMBuildFSub(e->b, a, LLVMBuildFSub(e->b, s, back, ""), "");
	LLVMValueRef db = LLVMBuildFSub(e->b, b, back, "");
	*lost = LLVMBuildFAdd(e->b, da, db, "");
	return s;
}

/* hi + lo = a exactly, hi of 26 bits (Veltkamp); |a| < 2^996. */
static LLVMValueRef split(Emit *e, LLVMValueRef a, LLVMValueRef *lo)
{
	LLVMValueRef c = LLVMBuildFMul(e->b, a, emit_real(LLVMTypeOf(a), 0x1p27 + 1), "");
	LLVMValueRef hi = LLVMBuildFSub(e->b, c, LLVMBuildFSub(e->b, c, a, ""), "");
	*lo = LLVMBuildFSub(e->b, a, hi, "");
	return hi;
}

/* p + lost = a * b exactly (Dekker), short of over- and underflow. */
LLVMValueRef emit_two_prod(Emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost)
{
	LLVMValueRef al, bl, ah = split(e, a, &al), bh = split(e, b, &bl);
	LLVMValueRef p = LLVMBuildFMul(e->b, a, b, "");
	LLVMValueRef r = LLVMBuildFSub(e->b, LLVMBuildFMul(e->b, ah, bh, ""), p, "");
	r = LLVMBuildFAdd(e->b, r, LLVMBuildFMul(e->b, ah, bl, ""), "");
	r = LLVMBuildFAdd(e->b, r, LLVMBuildFMul(e->b, al, bh, ""), "");
	*lost = LLVMBuildFAdd(e->b, r, LLVMBuildFMul(e->b, al, bl, ""), "");
	return p;
}

/*
 * a + b of doubles rounded to odd: if anything was lost the last bit is 1, so that a second
 * rounding to fewer bits is as good as the only one.
 */
static LLVMValueRef add_odd(Emit *e, LLVMValueRef a, LLVMValueRef b)
{
	LLVMTypeRef t = LLVMTypeOf(a), it = emit_vector(e->i64, emit_lanes(a));
	LLVMValueRef lost, s = emit_two_sum(e, a, b, &lost), zero = LLVMConstNull(t);
	LLVMValueRef bits = LLVMBuildBitCast(e->b, s, it, "");
	LLVMValueRef even =
		LLVMBuildICmp(e->b, LLVMIntEQ, LLVMBuildAnd(e->b, bits, emit_int(it, 1), ""), LLVMConstNull(it), "");
	LLVMValueRef some = LLVMBuildFCmp(e->b, LLVMRealONE, lost, zero, ""); /* no NaN: s is finite */
	LLVMValueRef away = LLVMBuildXor(
		e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, lost, zero, ""), LLVMBuildFCmp(e->b, LLVMRealOLT, s, zero, ""), "");
	LLVMValueRef step = LLVMBuildSelect(e->b, away, emit_int(it, -1), emit_int(it, 1), "");
	LLVMValueRef odd = LLVMBuildBitCast(e->b, LLVMBuildAdd(e->b, bits, step, ""), t, "");
	return LLVMBuildSelect(e->b, LLVMBuildAnd(e->b, even, some, ""), odd, s, "");
}

/* Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (2008). */
static LLVMValueRef fma_f64(Emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
	LLVMValueRef ul, tl, vl, uh = emit_two_prod(e, a, b, &ul);
	LLVMValueRef th = emit_two_sum(e, c, ul, &tl), vh = emit_two_sum(e, uh, th, &vl);
	LLVMValueRef z = LLVMBuildFAdd(e->b, vh, add_odd(e, tl, vl), "");
	/* Infinities and NaN: what the plain operations say. */
	LLVMValueRef plain = LLVMBuildFAdd(e->b, LLVMBuildFMul(e->b, a, b, ""), c, "");
	LLVMValueRef ok = LLVMBuildFCmp(e->b, LLVMRealORD, z, z, "");
	return LLVMBuildSelect(e->b, ok, z, plain, "");
}

LLVMValueRef emit_fma(Emit *e, DType t, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
	LLVMTypeRef lt = LLVMTypeOf(a), wide = emit_vector(e->f64, t.lanes);
	LLVMValueRef three[3] = { a, b, c };
	if (t.bits != 16 && (!e->x86 || e->fma))
		return emit_intrinsic(e, "llvm.fma", &lt, 1, three, 3);
	if (t.bits == 64)
		return fma_f64(e, a, b, c);
	/* The product of two floats is exact in double. */
	a = LLVMBuildFPExt(e->b, a, wide, "");
	b = LLVMBuildFPExt(e->b, b, wide, "");
	c = LLVMBuildFPExt(e->b, c, wide, "");
	LLVMValueRef s = add_odd(e, LLVMBuildFMul(e->b, a, b, ""), c);
	return emit_narrow(e, t, s);
}
