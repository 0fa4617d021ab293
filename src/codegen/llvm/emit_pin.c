/*
 * Registers before conditions. LLVM sinks what computes a value into the only block that uses it. Where that block is
 * a guarded store, the whole sum goes there, and all that it loads stays in registers until then: 27 taps of a
 * convolution spill. So each register that a conditional block reads is used before it, by assembly without text.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"
#include "ir/query.h"

static void use(Emit *e, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(e->cx), &e->i32, 1, 0);
	LLVMValueRef nothing = LLVMGetInlineAsm(t, "", 0, "r", 1, 1, 0, LLVMInlineAsmDialectATT, 0);
	v = LLVMBuildBitCast(e->b, v, e->i32, "");
	LLVMBuildCall2(e->b, t, nothing, &v, 1, "");
}

static void pin_load(const Expr *x, void *arg)
{
	Emit *e = arg;
	Place *p = x->op == IR_LOAD ? emit_place(e, x->name) : NULL;
	if (p == NULL || !p->reg || p->ptr == NULL || p->pinned == e->pins || x->type.bits != 32)
		return;
	p->pinned = e->pins;
	LLVMValueRef v = LLVMBuildLoad2(e->b, emit_type(e, x->type), p->ptr, "");
	for (int k = 0; k < x->type.lanes; k++)
		use(e, x->type.lanes == 1 ? v : LLVMBuildExtractElement(e->b, v, emit_int(e->i32, k), ""));
}

void emit_pin_value(Emit *e, const Expr *x)
{
	e->pins++;
	ir_each_node(x, pin_load, e);
}

static bool pin_stmt(Stmt *s, void *arg)
{
	ir_each_node_of(s, pin_load, arg);
	return true;
}

void emit_pin(Emit *e, Stmt *list)
{
	e->pins++;
	ir_each_stmt(list, pin_stmt, e);
}
