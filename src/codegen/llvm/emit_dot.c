/*
 * dot4: sums of four products of bytes. VNNI has an instruction for the sums of a whole register, of unsigned by signed
 * bytes. Without it, the product of 16-bit integers takes the even and the odd bytes in turn, which is exact. Anything
 * else is widened, multiplied and added, for which LLVM finds the target's instructions.
 */
#include "codegen/llvm/emit_num.h"

static LLVMValueRef widened(Emit *e, LLVMValueRef v, DType t)
{
	return emit_cast(e, dtype_vector(I32, t.lanes), t, v);
}

/* Elements from, from + 4, .. of v. */
static LLVMValueRef every_fourth(Emit *e, LLVMValueRef v, int from)
{
	int lanes = emit_lanes(v) / 4;
	LLVMValueRef *k = arena_array(e->arena, LLVMValueRef, lanes);
	for (int i = 0; i < lanes; i++)
		k[i] = emit_int(e->i32, 4 * i + from);
	if (lanes == 1)
		return LLVMBuildExtractElement(e->b, v, k[0], "");
	return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(k, (unsigned)lanes), "");
}

static LLVMValueRef shifted(Emit *e, LLVMOpcode op, LLVMValueRef v)
{
	int lanes = emit_lanes(v);
	LLVMValueRef *by = arena_array(e->arena, LLVMValueRef, lanes);
	for (int i = 0; i < lanes; i++)
		by[i] = LLVMConstInt(LLVMGetElementType(LLVMTypeOf(v)), 8, false);
	return LLVMBuildBinOp(e->b, op, v, LLVMConstVector(by, (unsigned)lanes), "");
}

/* c + pmaddwd(even bytes) + pmaddwd(odd bytes), a unsigned, b signed; sums of two products of 9 bits each fit. */
static LLVMValueRef madd_twice(Emit *e, const char *madd, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
	LLVMTypeRef words = LLVMVectorType(LLVMInt16TypeInContext(LLVMGetTypeContext(e->i32)), (unsigned)emit_lanes(c) * 2);
	a = LLVMBuildBitCast(e->b, a, words, "");
	b = LLVMBuildBitCast(e->b, b, words, "");
	LLVMValueRef left[2] = { shifted(e, LLVMShl, a), shifted(e, LLVMShl, b) };
	LLVMValueRef even[2] = { shifted(e, LLVMLShr, left[0]), shifted(e, LLVMAShr, left[1]) };
	LLVMValueRef odd[2] = { shifted(e, LLVMLShr, a), shifted(e, LLVMAShr, b) };
	c = LLVMBuildAdd(e->b, c, emit_intrinsic(e, madd, NULL, 0, even, 2), "");
	return LLVMBuildAdd(e->b, c, emit_intrinsic(e, madd, NULL, 0, odd, 2), "");
}

/* Instructions for so many sums: a product of bytes, or of words. NULL: there is none. */
typedef struct DotRow {
	int lanes;
	Feature feature, also;
	const char *bytes, *words;
} DotRow;
static const DotRow rows[] = {
	{ 16, FEATURE_AVX512VNNI, FEATURE_AVX512VNNI, "llvm.x86.avx512.vpdpbusd.512", NULL },
	{ 16, FEATURE_AVX512BW, FEATURE_AVX512BW, NULL, "llvm.x86.avx512.pmaddw.d.512" },
	{ 8, FEATURE_AVX512VNNI, FEATURE_AVX512VL, "llvm.x86.avx512.vpdpbusd.256", NULL },
	{ 8, FEATURE_AVXVNNI, FEATURE_AVXVNNI, "llvm.x86.avx512.vpdpbusd.256", NULL },
	{ 8, FEATURE_AVX2, FEATURE_AVX2, NULL, "llvm.x86.avx2.pmadd.wd" },
};

static LLVMValueRef by_row(Emit *e, const DotRow *r, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
	if (r->bytes == NULL)
		return madd_twice(e, r->words, c, a, b);
	LLVMTypeRef t = LLVMTypeOf(c);
	LLVMValueRef arg[3] = { c, LLVMBuildBitCast(e->b, a, t, ""), LLVMBuildBitCast(e->b, b, t, "") };
	return emit_intrinsic(e, r->bytes, NULL, 0, arg, 3);
}

LLVMValueRef emit_dot4(Emit *e, LLVMValueRef c, LLVMValueRef a, DType at, LLVMValueRef b, DType bt)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows && at.kind != bt.kind; k++)
		if (emit_lanes(c) == rows[k].lanes && target_has(e->target, rows[k].feature) &&
			target_has(e->target, rows[k].also))
			return by_row(e, &rows[k], c, at.kind == DT_UINT ? a : b, at.kind == DT_UINT ? b : a);
	LLVMValueRef products = LLVMBuildMul(e->b, widened(e, a, at), widened(e, b, bt), "");
	for (int k = 0; k < 4; k++)
		c = LLVMBuildAdd(e->b, c, every_fourth(e, products, k), "");
	return c;
}
