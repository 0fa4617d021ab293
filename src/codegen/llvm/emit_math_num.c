/*
 * The arithmetic that emit_math.c is written in: thin names over LLVM's builder, fma where the
 * target has it.
 */
#include "codegen/llvm/emit_math.h"

Math math_of(Emit *e, LLVMValueRef like)
{
	LLVMTypeRef t = LLVMTypeOf(like);
	int lanes = emit_lanes(like);
	bool wide = t == emit_vector(e->f64, lanes);
	return (Math){ e, t, emit_vector(wide ? e->i64 : e->i32, lanes), wide };
}

LLVMValueRef math_real(const Math *m, double v)
{
	return emit_real(m->t, v);
}

LLVMValueRef math_add(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildFAdd(m->e->b, a, b, "");
}

LLVMValueRef math_sub(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildFSub(m->e->b, a, b, "");
}

LLVMValueRef math_mul(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildFMul(m->e->b, a, b, "");
}

LLVMValueRef math_div(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildFDiv(m->e->b, a, b, "");
}

LLVMValueRef math_neg(const Math *m, LLVMValueRef a)
{
	return LLVMBuildFNeg(m->e->b, a, "");
}

LLVMValueRef math_abs(const Math *m, LLVMValueRef a)
{
	LLVMTypeRef t = m->t;
	return emit_intrinsic(m->e, "llvm.fabs", &t, 1, &a, 1);
}

static bool has_fma(const Math *m)
{
	return !m->e->x86 || m->e->fma;
}

LLVMValueRef math_fma(const Math *m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
	LLVMTypeRef t = m->t;
	LLVMValueRef three[3] = { a, b, c };
	if (has_fma(m))
		return emit_intrinsic(m->e, "llvm.fma", &t, 1, three, 3);
	return math_add(m, math_mul(m, a, b), c);
}

bool math_scales(const Math *m)
{
	bool whole = m->t == emit_vector(m->e->f32, 16);
	return whole && m->e->x86 && target_has(m->e->target, FEATURE_AVX512F);
}

static LLVMValueRef all_lanes(const Math *m)
{
	return LLVMConstAllOnes(LLVMIntTypeInContext(m->e->cx, 16));
}

LLVMValueRef math_scale(const Math *m, LLVMValueRef v, LLVMValueRef n)
{
	enum { AS_SET = 4 /* rounding */ };
	LLVMValueRef arg[5] = { v, n, math_real(m, 0), all_lanes(m), emit_int(m->e->i32, AS_SET) };
	return emit_intrinsic(m->e, "llvm.x86.avx512.mask.scalef.ps.512", NULL, 0, arg, 5);
}

LLVMValueRef math_pick(const Math *m, const double *table, LLVMValueRef i)
{
	LLVMValueRef of[PICKS];
	for (int k = 0; k < PICKS; k++)
		of[k] = emit_real(m->e->f32, table[k]);
	LLVMValueRef arg[2] = { LLVMConstVector(of, PICKS), i };
	return emit_intrinsic(m->e, "llvm.x86.avx512.permvar.sf.512", NULL, 0, arg, 2);
}

/* An estimate of 14 digits and one step of Newton's iteration. */
LLVMValueRef math_reciprocal(const Math *m, LLVMValueRef a)
{
	LLVMValueRef one = math_real(m, 1);
	if (!math_scales(m))
		return math_div(m, one, a);
	LLVMValueRef arg[3] = { a, math_real(m, 0), all_lanes(m) };
	LLVMValueRef r = emit_intrinsic(m->e, "llvm.x86.avx512.rcp14.ps.512", NULL, 0, arg, 3);
	return math_fma(m, r, math_fma(m, math_neg(m, a), r, one), r);
}

LLVMValueRef math_sign(const Math *m, LLVMValueRef v, LLVMValueRef sign)
{
	LLVMTypeRef t = m->t;
	LLVMValueRef two[2] = { v, sign };
	return emit_intrinsic(m->e, "llvm.copysign", &t, 1, two, 2);
}

LLVMValueRef math_less(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildFCmp(m->e->b, LLVMRealOLT, a, b, "");
}

LLVMValueRef math_equal(const Math *m, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildFCmp(m->e->b, LLVMRealOEQ, a, b, "");
}

LLVMValueRef math_select(const Math *m, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildSelect(m->e->b, c, a, b, "");
}

LLVMValueRef math_poly(const Math *m, LLVMValueRef x, const double *c, int n)
{
	LLVMValueRef r = math_real(m, c[n - 1]);
	for (int k = n - 2; k >= 0; k--)
		r = math_fma(m, r, x, math_real(m, c[k]));
	return r;
}

LLVMValueRef math_poly_split(const Math *m, LLVMValueRef x, const double *c, int n)
{
	LLVMValueRef z = math_mul(m, x, x), r[2] = { math_real(m, c[n - 1]), math_real(m, c[n - 2]) };
	for (int k = n - 3; k >= 0; k--)
		r[(n - 1 - k) % 2] = math_fma(m, r[(n - 1 - k) % 2], z, math_real(m, c[k]));
	int odd = n % 2; /* which one has the odd powers */
	return math_fma(m, r[odd], x, r[1 - odd]);
}

LLVMValueRef math_widen(const Math *m, LLVMValueRef a)
{
	return LLVMBuildFPExt(m->e->b, a, emit_vector(m->e->f64, emit_lanes(a)), "");
}

LLVMValueRef math_narrow(const Math *m, LLVMValueRef a)
{
	return LLVMBuildFPTrunc(m->e->b, a, m->t, "");
}

LLVMValueRef math_sum(const Math *m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost)
{
	return emit_two_sum(m->e, a, b, lost);
}

LLVMValueRef math_product(const Math *m, LLVMValueRef a, LLVMValueRef b, LLVMValueRef *lost)
{
	if (!has_fma(m))
		return emit_two_prod(m->e, a, b, lost);
	LLVMValueRef p = math_mul(m, a, b);
	*lost = math_fma(m, a, b, math_neg(m, p));
	return p;
}
