/*
 * Conversions: casts that saturate, f16 and bf16 in memory and in registers. f16 is converted by
 * instructions where the target has them (F16C, every AArch64), else by integer arithmetic.
 */
#include "codegen/llvm/emit_num.h"

static LLVMTypeRef ints(Emit *e, LLVMTypeRef one, LLVMValueRef like)
{
	(void)e;
	return emit_vector(one, emit_lanes(like));
}

static LLVMValueRef bit_and(Emit *e, LLVMValueRef a, int64_t k)
{
	return LLVMBuildAnd(e->b, a, emit_int(LLVMTypeOf(a), k), "");
}

static LLVMValueRef shift_left(Emit *e, LLVMValueRef a, int k)
{
	return LLVMBuildShl(e->b, a, emit_int(LLVMTypeOf(a), k), "");
}

static LLVMValueRef shift_right(Emit *e, LLVMValueRef a, int k)
{
	return LLVMBuildLShr(e->b, a, emit_int(LLVMTypeOf(a), k), "");
}

static LLVMValueRef at_least(Emit *e, LLVMValueRef a, int64_t k)
{
	return LLVMBuildICmp(e->b, LLVMIntUGE, a, emit_int(LLVMTypeOf(a), k), "");
}

/* Bits of a float to those of the nearest bf16, in the low half. */
static LLVMValueRef bf16_bits(Emit *e, LLVMValueRef a)
{
	LLVMTypeRef it = ints(e, e->i32, a);
	LLVMValueRef x = LLVMBuildBitCast(e->b, a, it, "");
	LLVMValueRef odd = bit_and(e, shift_right(e, x, 16), 1);
	LLVMValueRef up = LLVMBuildAdd(e->b, LLVMBuildAdd(e->b, x, emit_int(it, 0x7fff), ""), odd, "");
	LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
	return LLVMBuildSelect(e->b, nan, emit_int(it, 0x7fc0), shift_right(e, up, 16), "");
}

/*
 * The same for f16 (Fabian Giesen, float_to_half_fast3_rtne). Below 2^-14, adding 0.5 lets the
 * addition round at 2^-24, the unit of subnormal f16; above, the carry of rounding moves into the
 * exponent by itself.
 */
static LLVMValueRef f16_bits(Emit *e, LLVMValueRef a)
{
	LLVMTypeRef it = ints(e, e->i32, a), ft = LLVMTypeOf(a);
	LLVMValueRef x = LLVMBuildBitCast(e->b, a, it, ""), m = bit_and(e, x, 0x7fffffff);
	LLVMValueRef sign = bit_and(e, shift_right(e, x, 16), 0x8000);
	LLVMValueRef half = emit_real(ft, 0.5);
	LLVMValueRef low = LLVMBuildFAdd(e->b, LLVMBuildBitCast(e->b, m, ft, ""), half, "");
	low = LLVMBuildSub(e->b, LLVMBuildBitCast(e->b, low, it, ""), emit_int(it, 0x3f000000), "");
	LLVMValueRef odd = bit_and(e, shift_right(e, m, 13), 1);
	LLVMValueRef mid = LLVMBuildAdd(e->b, m, emit_int(it, (int32_t)0xc8000fff), "");
	mid = shift_right(e, LLVMBuildAdd(e->b, mid, odd, ""), 13);
	LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
	LLVMValueRef high = LLVMBuildSelect(e->b, nan, emit_int(it, 0x7e00), emit_int(it, 0x7c00), "");
	LLVMValueRef r = LLVMBuildSelect(e->b, at_least(e, m, 0x38800000), mid, low, "");
	r = LLVMBuildSelect(e->b, at_least(e, m, 0x47800000), high, r, "");
	return LLVMBuildOr(e->b, r, sign, "");
}

/* Multiplying by 2^112 puts the exponent right, of subnormals too. */
static LLVMValueRef f16_value(Emit *e, LLVMValueRef h)
{
	LLVMTypeRef it = ints(e, e->i32, h), ft = ints(e, e->f32, h);
	LLVMValueRef x = LLVMBuildZExt(e->b, h, it, ""), m = shift_left(e, bit_and(e, x, 0x7fff), 13);
	LLVMValueRef v = LLVMBuildFMul(e->b, LLVMBuildBitCast(e->b, m, ft, ""), emit_real(ft, 0x1p112), "");
	LLVMValueRef bits = LLVMBuildBitCast(e->b, v, it, "");
	LLVMValueRef big = LLVMBuildOr(e->b, m, emit_int(it, 0x7f800000), "");
	bits = LLVMBuildSelect(e->b, at_least(e, m, 0x7c00 << 13), big, bits, "");
	bits = LLVMBuildOr(e->b, bits, shift_left(e, bit_and(e, x, 0x8000), 16), "");
	return LLVMBuildBitCast(e->b, bits, ft, "");
}

static bool native_f16(const Emit *e)
{
	return !e->x86 || e->f16c;
}

LLVMValueRef emit_to_memory(Emit *e, DType t, LLVMValueRef a)
{
	if (t.kind == DT_BOOL)
		return LLVMBuildZExt(e->b, a, ints(e, e->i8, a), "");
	if (!dtype_is_float(t) || t.bits != 16)
		return a;
	if (t.kind == DT_FLOAT && native_f16(e)) {
		LLVMTypeRef half = ints(e, LLVMHalfTypeInContext(e->cx), a);
		return LLVMBuildBitCast(e->b, LLVMBuildFPTrunc(e->b, a, half, ""), ints(e, e->i16, a), "");
	}
	LLVMValueRef bits = t.kind == DT_FLOAT ? f16_bits(e, a) : bf16_bits(e, a);
	return LLVMBuildTrunc(e->b, bits, ints(e, e->i16, a), "");
}

LLVMValueRef emit_from_memory(Emit *e, DType t, LLVMValueRef a)
{
	if (t.kind == DT_BOOL)
		return LLVMBuildICmp(e->b, LLVMIntNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
	if (!dtype_is_float(t) || t.bits != 16)
		return a;
	if (t.kind == DT_FLOAT && native_f16(e)) {
		LLVMValueRef half = LLVMBuildBitCast(e->b, a, ints(e, LLVMHalfTypeInContext(e->cx), a), "");
		return LLVMBuildFPExt(e->b, half, ints(e, e->f32, a), "");
	}
	if (t.kind == DT_FLOAT)
		return f16_value(e, a);
	LLVMValueRef bits = shift_left(e, LLVMBuildZExt(e->b, a, ints(e, e->i32, a), ""), 16);
	return LLVMBuildBitCast(e->b, bits, ints(e, e->f32, a), "");
}

LLVMValueRef emit_round(Emit *e, DType t, LLVMValueRef a)
{
	if (!dtype_is_float(t) || t.bits != 16)
		return a;
	return emit_from_memory(e, t, emit_to_memory(e, t, a));
}

LLVMValueRef emit_narrow(Emit *e, DType t, LLVMValueRef a)
{
	LLVMTypeRef ft = ints(e, e->f32, a), it = ints(e, e->i32, a), wide = LLVMTypeOf(a);
	LLVMValueRef f = LLVMBuildFPTrunc(e->b, a, ft, "");
	if (t.bits == 32)
		return f;
	/* To odd first: see add_odd in emit_num.c. */
	LLVMValueRef lost = LLVMBuildFSub(e->b, a, LLVMBuildFPExt(e->b, f, wide, ""), "");
	LLVMValueRef bits = LLVMBuildBitCast(e->b, f, it, ""), zero = LLVMConstNull(wide);
	LLVMValueRef even = LLVMBuildICmp(e->b, LLVMIntEQ, bit_and(e, bits, 1), LLVMConstNull(it), "");
	LLVMValueRef some = LLVMBuildFCmp(e->b, LLVMRealONE, lost, zero, "");
	LLVMValueRef negative = LLVMBuildICmp(e->b, LLVMIntSLT, bits, LLVMConstNull(it), "");
	LLVMValueRef away = LLVMBuildXor(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, lost, zero, ""), negative, "");
	LLVMValueRef step = LLVMBuildSelect(e->b, away, emit_int(it, -1), emit_int(it, 1), "");
	LLVMValueRef odd = LLVMBuildAdd(e->b, bits, step, "");
	bits = LLVMBuildSelect(e->b, LLVMBuildAnd(e->b, even, some, ""), odd, bits, "");
	return emit_round(e, t, LLVMBuildBitCast(e->b, bits, ft, ""));
}

/* Magnitudes beyond 2^53 to odd at 53 bits, so that the rounding to the type is the only one. */
static LLVMValueRef long_to_narrow(Emit *e, DType to, bool sign, LLVMValueRef a)
{
	LLVMTypeRef it = LLVMTypeOf(a), wide = ints(e, e->f64, a);
	LLVMValueRef zero = LLVMConstNull(it), negative = LLVMBuildICmp(e->b, LLVMIntSLT, a, zero, "");
	LLVMValueRef m = sign ? LLVMBuildSelect(e->b, negative, LLVMBuildNeg(e->b, a, ""), a, "") : a;
	LLVMValueRef low = LLVMBuildICmp(e->b, LLVMIntNE, bit_and(e, m, 0x7ff), zero, "");
	LLVMValueRef sticky = LLVMBuildSelect(e->b, low, emit_int(it, 0x800), zero, "");
	LLVMValueRef odd = LLVMBuildOr(e->b, bit_and(e, m, ~(int64_t)0x7ff), sticky, "");
	m = LLVMBuildSelect(e->b, at_least(e, m, (int64_t)1 << 53), odd, m, "");
	LLVMValueRef r = LLVMBuildUIToFP(e->b, m, wide, "");
	if (sign)
		r = LLVMBuildSelect(e->b, negative, LLVMBuildFNeg(e->b, r, ""), r, "");
	return emit_narrow(e, to, r);
}

static LLVMValueRef int_to_float(Emit *e, DType to, DType from, LLVMValueRef a)
{
	bool sign = from.kind == DT_INT;
	LLVMTypeRef t = emit_type(e, to);
	if (to.bits == 16 && from.bits == 64)
		return long_to_narrow(e, to, sign, a);
	if (to.bits == 16)
		t = ints(e, e->f64, a);
	LLVMValueRef r = sign ? LLVMBuildSIToFP(e->b, a, t, "") : LLVMBuildUIToFP(e->b, a, t, "");
	return to.bits == 16 ? emit_narrow(e, to, r) : r;
}

/*
 * To an integer of less than 32 bits: its ends are floats, so what is clamped to them converts to i32. LLVM's own
 * saturating conversion does lane by lane what has no vector form for such integers. NaN gives 0.
 */
static LLVMValueRef float_to_small(Emit *e, DType to, LLVMValueRef a)
{
	LLVMTypeRef ft = LLVMTypeOf(a);
	int64_t top = ((int64_t)1 << (to.kind == DT_INT ? to.bits - 1 : to.bits)) - 1;
	LLVMValueRef hi = emit_real(ft, (double)top), lo = emit_real(ft, to.kind == DT_INT ? (double)(-top - 1) : 0);
	LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
	a = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, a, hi, ""), a, hi, "");
	a = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, a, lo, ""), a, lo, "");
	a = LLVMBuildSelect(e->b, nan, LLVMConstNull(ft), a, "");
	return LLVMBuildTrunc(e->b, LLVMBuildFPToSI(e->b, a, ints(e, e->i32, a), ""), emit_type(e, to), "");
}

/* The same for 32 and 64 bits: what is outside takes the type's end, and converts as 0. */
static LLVMValueRef float_to_lanes(Emit *e, DType to, LLVMValueRef a)
{
	LLVMTypeRef ft = LLVMTypeOf(a), it = emit_type(e, to);
	double end = to.bits == 64 ? 0x1p63 : 0x1p31;
	int64_t top = INT64_MAX >> (64 - to.bits);
	LLVMValueRef least = emit_real(ft, -end), most = emit_real(ft, end);
	LLVMValueRef inside = LLVMBuildFCmp(e->b, LLVMRealOGE, a, least, "");
	inside = LLVMBuildAnd(e->b, inside, LLVMBuildFCmp(e->b, LLVMRealOLT, a, most, ""), "");
	LLVMValueRef r = LLVMBuildFPToSI(e->b, LLVMBuildSelect(e->b, inside, a, LLVMConstNull(ft), ""), it, "");
	r = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGE, a, most, ""), emit_int(it, top), r, "");
	return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, a, least, ""), emit_int(it, -top - 1), r, "");
}

LLVMValueRef emit_cast(Emit *e, DType to, DType from, LLVMValueRef a)
{
	LLVMTypeRef t = emit_type(e, to);
	if (dtype_is_float(from) && dtype_is_float(to)) {
		if (to.bits == 64)
			return from.bits == 64 ? a : LLVMBuildFPExt(e->b, a, t, "");
		if (from.bits == 64)
			return emit_narrow(e, to, a);
		return to.bits == 16 ? emit_round(e, to, a) : a;
	}
	if (dtype_is_float(from)) {
		if (to.kind == DT_BOOL)
			return LLVMBuildFCmp(e->b, LLVMRealUNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
		if (to.bits < 32)
			return float_to_small(e, to, a);
		if (e->x86 && to.kind == DT_INT && to.lanes > 1)
			return float_to_lanes(e, to, a);
		LLVMTypeRef over[2] = { t, LLVMTypeOf(a) };
		return emit_intrinsic(e, to.kind == DT_INT ? "llvm.fptosi.sat" : "llvm.fptoui.sat", over, 2, &a, 1);
	}
	if (dtype_is_float(to))
		return int_to_float(e, to, from, a);
	if (to.kind == DT_BOOL)
		return from.kind == DT_BOOL ? a : LLVMBuildICmp(e->b, LLVMIntNE, a, LLVMConstNull(LLVMTypeOf(a)), "");
	unsigned have = from.kind == DT_BOOL ? 1 : from.bits;
	if (to.bits == have)
		return a;
	if (to.bits < have)
		return LLVMBuildTrunc(e->b, a, t, "");
	return from.kind == DT_INT ? LLVMBuildSExt(e->b, a, t, "") : LLVMBuildZExt(e->b, a, t, "");
}

/* Through the bits in memory; lanes may be regrouped. */
LLVMValueRef emit_bitcast(Emit *e, DType to, DType from, LLVMValueRef a)
{
	LLVMTypeRef t = emit_vector(emit_mem_type(e, to), to.lanes);
	if (dtype_is_float(from)) { /* the bits of the language's one NaN, whichever NaN the machine made */
		LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, a, a, "");
		a = LLVMBuildSelect(e->b, nan, emit_real(LLVMTypeOf(a), __builtin_nan("")), a, "");
	}
	return emit_from_memory(e, to, LLVMBuildBitCast(e->b, emit_to_memory(e, from, a), t, ""));
}
