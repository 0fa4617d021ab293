/*
 * Async copies of sm_80: 4, 8 or 16 bytes from global to shared memory, which pass no register. The copies of a thread
 * since its last commit are a group; a wait is for all but the newest groups. A copy under a condition reads nothing
 * where that is false, and writes zeros.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"

/* The first of neighbouring elements; NULL: they are none, or their place is loaded. */
static const Expr *first_of(Emit *e, const Expr *idx)
{
	const Expr *base = idx, *stride;
	if (ir_has_load(idx))
		return NULL;
	if (idx->type.lanes > 1 && (!emit_as_ramp(e, idx, &base, &stride) || !ir_is_const(stride, 1)))
		return NULL;
	return base;
}

static bool is_zero(const Expr *x)
{
	if (x->op == IR_SPLAT)
		x = x->arg[0];
	return x->op == IR_FLOAT ? x->f == 0 : ir_is_const(x, 0);
}

/* on: NULL or a condition. */
static void copy(
	Emit *e, const Place *to, const Expr *at, const Place *from, const Expr *of, int bytes, LLVMValueRef on)
{
	static const char *const name[] = { "llvm.nvvm.cp.async.ca.shared.global.4",
		"llvm.nvvm.cp.async.ca.shared.global.8", "llvm.nvvm.cp.async.cg.shared.global.16" };
	static const char *const some[] = { "llvm.nvvm.cp.async.ca.shared.global.4.s",
		"llvm.nvvm.cp.async.ca.shared.global.8.s", "llvm.nvvm.cp.async.cg.shared.global.16.s" };
	int k = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
	LLVMValueRef arg[3] = { emit_address(e, to, at), emit_address(e, from, of) };
	if (on != NULL)
		arg[2] = LLVMBuildSelect(e->b, on, emit_int(e->i32, bytes), emit_int(e->i32, 0), "");
	emit_intrinsic(e, on != NULL ? some[k] : name[k], NULL, 0, arg, on != NULL ? 3 : 2);
}

bool emit_copy(Emit *e, const Stmt *s)
{
	const Expr *v = s->store.value, *on = NULL;
	const Place *to = emit_place(e, s->store.dst.buf);
	if (v->op == IR_SELECT && is_zero(v->arg[2])) {
		on = v->arg[0]->op == IR_SPLAT ? v->arg[0]->arg[0] : v->arg[0];
		v = v->arg[1];
	}
	if (v->op != IR_LOAD || s->store.mask != NULL || (on != NULL && on->type.lanes > 1) || v->type.bits < 8)
		return false;
	const Place *from = emit_place(e, v->name);
	const Expr *at = first_of(e, s->store.dst.idx[0]), *of = first_of(e, v->arg[0]);
	if (!from->global || at == NULL || of == NULL || s->store.dst.idx[0]->type.lanes != v->arg[0]->type.lanes)
		return false;
	int lanes = v->type.lanes, n = emit_access_lanes(e, to->buf->type, at, lanes);
	int m = emit_access_lanes(e, from->buf->type, of, lanes);
	n = m < n ? m : n;
	int bytes = n * v->type.bits / 8;
	if (bytes < 4)
		return false;
	LLVMValueRef c = on != NULL ? emit_expr(e, on) : NULL;
	for (int k = 0; k < lanes; k += n)
		copy(e, to, ir_add(e->ir, at, ir_int(e->ir, k)), from, ir_add(e->ir, of, ir_int(e->ir, k)), bytes, c);
	return true;
}

void emit_commit(Emit *e)
{
	emit_intrinsic(e, "llvm.nvvm.cp.async.commit.group", NULL, 0, NULL, 0);
}

void emit_wait(Emit *e, int64_t pending)
{
	LLVMValueRef n = emit_int(e->i32, pending);
	emit_intrinsic(e, "llvm.nvvm.cp.async.wait.group", NULL, 0, &n, 1);
}
