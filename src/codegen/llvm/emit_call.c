/*
 * Sub Fns as functions within the module. Arguments: the call structure, free workspace, buffers as pointers, and
 * scalars in their register form. Pointers are not `noalias`, nor are a kernel's: a plan may put one tensor where
 * another was.
 */
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"

#include <assert.h>
#include <string.h>

enum { CALL, WORK, PARAMS }; /* the arguments; the Fn's own begin at PARAMS */

LLVMValueRef emit_sub_function(Emit *e, const Fn *fn)
{
	LLVMTypeRef *t = arena_array(e->arena, LLVMTypeRef, fn->nparam + PARAMS);
	t[CALL] = t[WORK] = e->ptr;
	for (int k = 0; k < fn->nparam; k++)
		t[PARAMS + k] = fn->param[k].buf != NULL ? e->ptr : emit_type(e, fn->param[k].type);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->cx), t, (unsigned)fn->nparam + PARAMS, 0);
	LLVMValueRef f = LLVMAddFunction(e->mod, emit_symbol(e->arena, fn), type);
	LLVMSetLinkage(f, LLVMInternalLinkage);
	LLVMAttributeRef nocapture = LLVMCreateEnumAttribute(e->cx, LLVMGetEnumAttributeKindForName("nocapture", 9), 0);
	for (int k = 0; k < fn->nparam + PARAMS; k++)
		if (k < PARAMS || fn->param[k - PARAMS].buf != NULL)
			LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)(k + 1), nocapture);
	EmitSub sub = { .fn = fn, .func = f, .type = type };
	vec_push(e->arena, &e->sub, sub);
	return f;
}

void emit_sub_parameters(Emit *e)
{
	const Fn *fn = e->fn;
	e->call = LLVMGetParam(e->func, CALL);
	e->work = LLVMGetParam(e->func, WORK);
	emit_level_push(e);
	for (int k = 0; k < fn->nparam; k++) {
		LLVMValueRef v = LLVMGetParam(e->func, (unsigned)(PARAMS + k));
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
	for (int k = 0; k < s->call.n; k++) {
		const CallArg *a = &s->call.arg[k];
		arg[PARAMS + k] = a->buf != NULL ? emit_place(e, a->buf)->ptr : emit_expr(e, a->value);
	}
	arg[CALL] = e->call;
	arg[WORK] = LLVMBuildGEP2(e->b, e->i8, e->work, &at, 1, "");
	LLVMBuildCall2(e->b, sub->type, sub->func, arg, (unsigned)s->call.n + PARAMS, "");
	if (sub->caller.n == 0 || sub->caller.at[sub->caller.n - 1] != e->fn)
		vec_push(e->arena, &sub->caller, e->fn);
	if (e->work_at + sub->work_bytes > e->work_bytes)
		e->work_bytes = e->work_at + sub->work_bytes;
	if (e->depth + sub->deepest > e->deepest)
		e->deepest = e->depth + sub->deepest;
}
