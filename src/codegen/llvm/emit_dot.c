/*
 * dot4: sums of four products of bytes. AVX512-VNNI has an instruction for sixteen sums of products of unsigned by
 * signed bytes. Anything else is widened, multiplied and added, for which LLVM finds the target's instructions.
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

static LLVMValueRef vpdpbusd(Emit *e, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
	LLVMTypeRef t = LLVMTypeOf(c);
	LLVMValueRef arg[3] = { c, LLVMBuildBitCast(e->b, a, t, ""), LLVMBuildBitCast(e->b, b, t, "") };
	return emit_intrinsic(e, "llvm.x86.avx512.vpdpbusd.512", NULL, 0, arg, 3);
}

LLVMValueRef emit_dot4(Emit *e, LLVMValueRef c, LLVMValueRef a, DType at, LLVMValueRef b, DType bt)
{
	if (target_has(e->target, FEATURE_AVX512VNNI) && emit_lanes(c) == 16 && at.kind != bt.kind)
		return at.kind == DT_UINT ? vpdpbusd(e, c, a, b) : vpdpbusd(e, c, b, a);
	LLVMValueRef products = LLVMBuildMul(e->b, widened(e, a, at), widened(e, b, bt), "");
	for (int k = 0; k < 4; k++)
		c = LLVMBuildAdd(e->b, c, every_fourth(e, products, k), "");
	return c;
}
