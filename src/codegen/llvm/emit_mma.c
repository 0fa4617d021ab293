/*
 * mma: a product of matrices that the lanes of a warp compute together (mma.sync). Types and lanes of the factors say
 * which instruction it is: 16x8 sums of 8 products, or of 16 where a lane has 8 elements of the first factor. The
 * instruction takes words of 32 bits, in which two elements of 16 bits lie side by side. ldmatrix loads such words from
 * shared memory, one of each matrix.
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"

#include <stdio.h>

/* The value is exact in its type, so the upper half of the f32 is the bf16. */
static LLVMValueRef halves(Emit *e, DType t, LLVMValueRef v)
{
	if (t.kind == DT_FLOAT)
		return emit_to_memory(e, t, v);
	int n = emit_lanes(v);
	LLVMTypeRef bits = emit_vector(e->i32, n), own = emit_vector(emit_mem_type(e, dtype_scalar(t)), n);
	LLVMValueRef up = LLVMBuildLShr(e->b, LLVMBuildBitCast(e->b, v, bits, ""), emit_int(bits, 16), "");
	return LLVMBuildTrunc(e->b, up, own, "");
}

/* The words of a factor: pairs of half where the instruction is one of f16, else integers. Returns how many. */
static int words(Emit *e, DType t, LLVMValueRef v, LLVMValueRef *out)
{
	bool half = t.kind == DT_FLOAT && t.bits == 16;
	int n = emit_lanes(v) * t.bits / 32;
	LLVMTypeRef pair = half ? LLVMVectorType(LLVMHalfTypeInContext(e->cx), 2) : e->i32;
	LLVMTypeRef integers = LLVMVectorType(e->i32, (unsigned)n);
	LLVMValueRef all = t.bits == 16 ? LLVMBuildBitCast(e->b, halves(e, t, v), integers, "") : v;
	for (int k = 0; k < n; k++) {
		out[k] = LLVMBuildExtractElement(e->b, all, emit_int(e->i32, k), "");
		out[k] = t.bits == 16 ? LLVMBuildBitCast(e->b, out[k], pair, "")
		                      : emit_intrinsic(e, "llvm.nvvm.f2tf32.rna", NULL, 0, &out[k], 1);
	}
	return n;
}

LLVMValueRef emit_mma(Emit *e, DType at, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b)
{
	static const char *const of8[] = { "llvm.nvvm.mma.m16n8k8.row.col.tf32", "llvm.nvvm.mma.m16n8k8.row.col.f32.f32",
		"llvm.nvvm.mma.m16n8k8.row.col.bf16" };
	static const char *const of16[] = { NULL, "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
		"llvm.nvvm.mma.m16n8k16.row.col.bf16" };
	int kind = at.bits == 32 ? 0 : at.kind == DT_FLOAT ? 1 : 2;
	LLVMValueRef arg[16];
	int n = words(e, at, a, arg);
	n += words(e, at, b, arg + n);
	for (int k = 0; k < 4; k++)
		arg[n++] = LLVMBuildExtractElement(e->b, c, emit_int(e->i32, k), "");
	LLVMValueRef sums = emit_intrinsic(e, (at.lanes == 8 ? of16 : of8)[kind], NULL, 0, arg, n);
	for (int k = 0; k < 4; k++)
		c = LLVMBuildInsertElement(
			e->b, c, LLVMBuildExtractValue(e->b, sums, (unsigned)k, ""), emit_int(e->i32, k), "");
	return c;
}

LLVMValueRef emit_ldmatrix(Emit *e, DType t, LLVMValueRef row, int n, bool transposed)
{
	char name[64];
	snprintf(name, sizeof name, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%d%s.b16", n, transposed ? ".trans" : "");
	LLVMTypeRef pointer = LLVMTypeOf(row);
	LLVMValueRef got = emit_intrinsic(e, name, &pointer, 1, &row, 1);
	LLVMValueRef all = LLVMGetPoison(LLVMVectorType(e->i32, (unsigned)n));
	for (int k = 0; k < n; k++) {
		LLVMValueRef word = n == 1 ? got : LLVMBuildExtractValue(e->b, got, (unsigned)k, "");
		all = LLVMBuildInsertElement(e->b, all, word, emit_int(e->i32, k), "");
	}
	LLVMTypeRef own = emit_vector(emit_mem_type(e, dtype_scalar(t)), t.lanes);
	return emit_from_memory(e, t, LLVMBuildBitCast(e->b, all, own, ""));
}

/*
 * Keeps a loop that multiplies matrices from being unrolled. Assemblers would unroll a loop of few rounds and load for
 * several rounds at once, which takes all registers.
 */
void emit_keep_loop(Emit *e, LLVMValueRef branch)
{
	static const char key[] = "llvm.loop.unroll.disable";
	LLVMMetadataRef word = LLVMMDStringInContext2(e->cx, key, sizeof key - 1), own;
	LLVMMetadataRef arg[2] = { LLVMTemporaryMDNode(e->cx, NULL, 0), LLVMMDNodeInContext2(e->cx, &word, 1) };
	own = LLVMMDNodeInContext2(e->cx, arg, 2);
	LLVMMetadataReplaceAllUsesWith(arg[0], own);
	LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->cx, "llvm.loop", 9), LLVMMetadataAsValue(e->cx, own));
}
