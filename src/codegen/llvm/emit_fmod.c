/*
 * The remainder of floats, exact in every type: a function of our own as LLVM IR, linked into modules that need it.
 * It takes lanes one by one.
 */
#include "codegen/llvm/emit_num.h"

#include <assert.h>

/* Long division of significands, bit by bit; musl's fmod has the same steps. */
static const char fmod_text[] = "declare i64 @llvm.ctlz.i64(i64, i1)\n"
								"define double @dlc.fmod(double %x, double %y) nounwind \"no-builtins\" {\n"
								"  %bx = bitcast double %x to i64\n"
								"  %by = bitcast double %y to i64\n"
								"  %ax = and i64 %bx, 9223372036854775807\n"
								"  %ay = and i64 %by, 9223372036854775807\n"
								"  %sign = xor i64 %bx, %ax\n"
								"  %y0 = icmp eq i64 %ay, 0\n"
								"  %ynan = icmp ugt i64 %ay, 9218868437227405312\n"
								"  %xinf = icmp uge i64 %ax, 9218868437227405312\n"
								"  %bad0 = or i1 %y0, %ynan\n"
								"  %bad = or i1 %bad0, %xinf\n"
								"  br i1 %bad, label %nan, label %good\n"
								"nan:\n"
								"  ret double 0x7FF8000000000000\n"
								"good:\n"
								"  %less = icmp ult i64 %ax, %ay\n"
								"  br i1 %less, label %same, label %start\n"
								"same:\n"
								"  ret double %x\n"
								"start:\n" /* significands at bit 52, exponents so that value = m * 2^(e - 1075) */
								"  %ex0 = lshr i64 %ax, 52\n"
								"  %ey0 = lshr i64 %ay, 52\n"
								"  %fx = and i64 %ax, 4503599627370495\n"
								"  %fy = and i64 %ay, 4503599627370495\n"
								"  %nx = or i64 %fx, 4503599627370496\n"
								"  %ny = or i64 %fy, 4503599627370496\n"
								"  %zx = call i64 @llvm.ctlz.i64(i64 %fx, i1 false)\n"
								"  %zy = call i64 @llvm.ctlz.i64(i64 %fy, i1 false)\n"
								"  %kx = add i64 %zx, -11\n"
								"  %ky = add i64 %zy, -11\n"
								"  %kx6 = and i64 %kx, 63\n"
								"  %ky6 = and i64 %ky, 63\n"
								"  %sx = shl i64 %fx, %kx6\n"
								"  %sy = shl i64 %fy, %ky6\n"
								"  %esx = sub i64 1, %kx\n"
								"  %esy = sub i64 1, %ky\n"
								"  %subx = icmp eq i64 %ex0, 0\n"
								"  %suby = icmp eq i64 %ey0, 0\n"
								"  %mx0 = select i1 %subx, i64 %sx, i64 %nx\n"
								"  %my = select i1 %suby, i64 %sy, i64 %ny\n"
								"  %ex1 = select i1 %subx, i64 %esx, i64 %ex0\n"
								"  %ey = select i1 %suby, i64 %esy, i64 %ey0\n"
								"  br label %loop\n"
								"loop:\n"
								"  %mx = phi i64 [ %mx0, %start ], [ %mx2, %next ]\n"
								"  %ex = phi i64 [ %ex1, %start ], [ %exd, %next ]\n"
								"  %d = sub i64 %mx, %my\n"
								"  %neg = icmp slt i64 %d, 0\n"
								"  %mxs = select i1 %neg, i64 %mx, i64 %d\n"
								"  %more = icmp sgt i64 %ex, %ey\n"
								"  br i1 %more, label %next, label %done\n"
								"next:\n"
								"  %mx2 = shl i64 %mxs, 1\n"
								"  %exd = add i64 %ex, -1\n"
								"  br label %loop\n"
								"done:\n"
								"  %z = call i64 @llvm.ctlz.i64(i64 %mxs, i1 false)\n"
								"  %k = add i64 %z, -11\n"
								"  %k6 = and i64 %k, 63\n"
								"  %mn = shl i64 %mxs, %k6\n"
								"  %en = sub i64 %ey, %k\n"
								"  %normal = icmp sgt i64 %en, 0\n"
								"  %mf = and i64 %mn, 4503599627370495\n"
								"  %eb = shl i64 %en, 52\n"
								"  %rn = or i64 %mf, %eb\n"
								"  %down = sub i64 1, %en\n"
								"  %down6 = and i64 %down, 63\n"
								"  %rs = lshr i64 %mn, %down6\n"
								"  %r0 = select i1 %normal, i64 %rn, i64 %rs\n"
								"  %zero = icmp eq i64 %mxs, 0\n"
								"  %r1 = select i1 %zero, i64 0, i64 %r0\n"
								"  %r = or i64 %r1, %sign\n"
								"  %f = bitcast i64 %r to double\n"
								"  ret double %f\n"
								"}\n";

static LLVMValueRef fmod_function(Emit *e)
{
	LLVMValueRef f = LLVMGetNamedFunction(e->mod, "dlc.fmod");
	if (f != NULL)
		return f;
	LLVMModuleRef m;
	char *message = NULL;
	LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(fmod_text, sizeof fmod_text - 1, "fmod");
	LLVMBool discard = LLVMContextShouldDiscardValueNames(e->cx);
	LLVMContextSetDiscardValueNames(e->cx, 0); /* or text cannot be read */
	LLVMBool failed = LLVMParseIRInContext(e->cx, text, &m, &message);
	LLVMContextSetDiscardValueNames(e->cx, discard);
	assert(!failed);
	LLVMSetDataLayout(m, LLVMGetDataLayoutStr(e->mod));
	LLVMSetTarget(m, LLVMGetTarget(e->mod));
	failed = LLVMLinkModules2(e->mod, m);
	assert(!failed);
	(void)failed;
	f = LLVMGetNamedFunction(e->mod, "dlc.fmod");
	LLVMSetLinkage(f, LLVMInternalLinkage); /* only now: an unused internal one is not linked in */
	return f;
}

/* f16, bf16 and f32 in double: the remainder is a value of their type. */
LLVMValueRef emit_fmod(Emit *e, DType t, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef f = fmod_function(e), r = LLVMGetPoison(LLVMTypeOf(a));
	LLVMTypeRef two[2] = { e->f64, e->f64 }, type = LLVMFunctionType(e->f64, two, 2, 0);
	for (int k = 0; k < t.lanes; k++) {
		LLVMValueRef i = emit_int(e->i32, k), arg[2] = { a, b }, v;
		for (int j = 0; j < 2; j++) {
			if (t.lanes > 1)
				arg[j] = LLVMBuildExtractElement(e->b, arg[j], i, "");
			if (t.bits < 64)
				arg[j] = LLVMBuildFPExt(e->b, arg[j], e->f64, "");
		}
		v = LLVMBuildCall2(e->b, type, f, arg, 2, "");
		if (t.bits < 64)
			v = LLVMBuildFPTrunc(e->b, v, e->f32, "");
		r = t.lanes > 1 ? LLVMBuildInsertElement(e->b, r, v, i, "") : v;
	}
	return r;
}
