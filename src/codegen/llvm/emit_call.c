/*
 * Sub Fns as functions within the module. Arguments: the call structure, free workspace, buffers as pointers, and
 * scalars in their register form; on a device buffers and scalars alone. Pointers are not `noalias`, nor are a
 * kernel's: a plan may put one tensor where another was.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"

#include <assert.h>
#include <string.h>

enum { CALL, WORK, PARAMS }; /* the arguments; the Fn's own begin at PARAMS */

static int first_param(const Emit *e)
{
	return e->device ? 0 : PARAMS;
}

LLVMValueRef emit_sub_function(Emit *e, const Fn *fn)
{
	int first = first_param(e);
	LLVMTypeRef *t = arena_array(e->arena, LLVMTypeRef, fn->nparam + PARAMS);
	LLVMTypeRef pointer = e->device ? emit_global_pointer(e) : e->ptr;
	t[CALL] = t[WORK] = e->ptr;
	for (int k = 0; k < fn->nparam; k++)
		t[first + k] = fn->param[k].buf != NULL ? pointer : emit_type(e, fn->param[k].type);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->cx), t, (unsigned)(fn->nparam + first), 0);
	LLVMValueRef f = LLVMAddFunction(e->mod, emit_symbol(e, fn), type);
	LLVMSetLinkage(f, LLVMInternalLinkage);
	LLVMAttributeRef nocapture = LLVMCreateEnumAttribute(e->cx, LLVMGetEnumAttributeKindForName("nocapture", 9), 0);
	for (int k = 0; k < fn->nparam + first; k++)
		if (k < first || fn->param[k - first].buf != NULL)
			LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)(k + 1), nocapture);
	EmitSub sub = { .fn = fn, .func = f, .type = type };
	vec_push(e->arena, &e->sub, sub);
	return f;
}

void emit_sub_parameters(Emit *e)
{
	const Fn *fn = e->fn;
	if (!e->device) {
		e->call = LLVMGetParam(e->func, CALL);
		e->work = LLVMGetParam(e->func, WORK);
	}
	emit_level_push(e);
	for (int k = 0; k < fn->nparam; k++) {
		LLVMValueRef v = LLVMGetParam(e->func, (unsigned)(first_param(e) + k));
		if (fn->param[k].buf != NULL)
			emit_place(e, fn->param[k].name)->ptr = v;
		else
			emit_bind(e, fn->param[k].name, fn->param[k].type, v);
	}
}

void emit_call(Emit *e, const Stmt *s)
{
	size_t callee = 0;
	while (callee < e->sub.n && strcmp(e->sub.at[callee].fn->name, s->call.fn) != 0)
		callee++;
	EmitSub *sub = &e->sub.at[callee];
	assert(callee < e->sub.n && sub->fn->nparam == s->call.n); /* sub Fns are emitted first */
	LLVMValueRef *arg = arena_array(e->arena, LLVMValueRef, s->call.n + PARAMS);
	LLVMValueRef at = emit_int(e->i64, e->work_at);
	int first = first_param(e);
	for (int k = 0; k < s->call.n; k++) {
		const CallArg *a = &s->call.arg[k];
		arg[first + k] = a->buf != NULL ? emit_place(e, a->buf)->ptr : emit_expr(e, a->value);
	}
	if (!e->device) {
		arg[CALL] = e->call;
		arg[WORK] = LLVMBuildGEP2(e->b, e->i8, e->work, &at, 1, "");
	}
	LLVMBuildCall2(e->b, sub->type, sub->func, arg, (unsigned)(s->call.n + first), "");
	if (sub->caller.n == 0 || sub->caller.at[sub->caller.n - 1] != e->fn)
		vec_push(e->arena, &sub->caller, e->fn);
	if (e->work_at + sub->work_bytes > e->work_bytes)
		e->work_bytes = e->work_at + sub->work_bytes;
	if (e->depth + sub->deepest > e->deepest)
		e->deepest = e->depth + sub->deepest;
}
