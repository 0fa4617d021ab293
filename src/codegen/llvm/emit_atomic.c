/*
 * Atomic reductions. One value is changed by the target's own instruction where the device has it, else by comparing
 * and exchanging until no other thread changed it in between.
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"

#include <assert.h>
#include <string.h>

static void combine(Emit *e, const Monoid *m, LLVMValueRef const *left, LLVMValueRef const *right, LLVMValueRef *out)
{
	const char *l[16], *r[16];
	assert(m->n <= 16);
	emit_level_push(e);
	for (int k = 0; k < m->n; k++) { /* fresh: an operand's name may be one of the Fn's */
		emit_bind(e, l[k] = ir_fresh_name(e->ir, "left"), m->type[k], left[k]);
		emit_bind(e, r[k] = ir_fresh_name(e->ir, "right"), m->type[k], right[k]);
	}
	for (int j = 0; j < m->n; j++) {
		const Expr *x = m->combine[j];
		for (int k = 0; k < m->n; k++) {
			x = ir_subst(e->ir, x, m->left[k], ir_var(e->ir, l[k], m->type[k]));
			x = ir_subst(e->ir, x, m->right[k], ir_var(e->ir, r[k], m->type[k]));
		}
		out[j] = emit_expr(e, x);
	}
	emit_level_pop(e);
}

/*
 * On a device the barriers of the set order memory. An atomic operation does so only if its old value is used (fence).
 */
static LLVMAtomicOrdering ordering(const Emit *e)
{
	return e->device ? LLVMAtomicOrderingMonotonic : LLVMAtomicOrderingSequentiallyConsistent;
}

/*
 * A fence for a device: other threads that see the operation also see this thread's earlier stores, and the stores that
 * this thread has seen. An operation whose old value is not used needs no fence.
 */
static void fence(Emit *e, const Stmt *s)
{
	bool shared = emit_place(e, s->reduce.dst[0].buf)->buf->scope != NULL &&
		strcmp(emit_place(e, s->reduce.dst[0].buf)->buf->scope, "shared") == 0;
	if (e->device && s->reduce.old != NULL)
		emit_intrinsic(e, shared ? "llvm.nvvm.membar.cta" : "llvm.nvvm.membar.gl", NULL, 0, NULL, 0);
}

/* What a device does by one instruction: built-in reductions of elements of 32 and 64 bits. */
static const struct {
	const char *monoid;
	DTypeKind kind;
	LLVMAtomicRMWBinOp op;
} direct[] = {
	{ "sum", DT_FLOAT, LLVMAtomicRMWBinOpFAdd },
	{ "sum", DT_INT, LLVMAtomicRMWBinOpAdd },
	{ "sum", DT_UINT, LLVMAtomicRMWBinOpAdd },
	{ "max", DT_INT, LLVMAtomicRMWBinOpMax },
	{ "max", DT_UINT, LLVMAtomicRMWBinOpUMax },
	{ "min", DT_INT, LLVMAtomicRMWBinOpMin },
	{ "min", DT_UINT, LLVMAtomicRMWBinOpUMin },
	{ "and", DT_INT, LLVMAtomicRMWBinOpAnd },
	{ "and", DT_UINT, LLVMAtomicRMWBinOpAnd },
	{ "or", DT_INT, LLVMAtomicRMWBinOpOr },
	{ "or", DT_UINT, LLVMAtomicRMWBinOpOr },
};

/* NULL: there is no instruction. */
static LLVMValueRef one_instruction(Emit *e, const Monoid *m, LLVMValueRef ptr, LLVMValueRef value)
{
	DType t = m->type[0];
	for (size_t k = 0; e->device && t.bits >= 32 && k < sizeof direct / sizeof *direct; k++)
		if (direct[k].kind == t.kind && strcmp(direct[k].monoid, m->name) == 0)
			return LLVMBuildAtomicRMW(e->b, direct[k].op, ptr, value, LLVMAtomicOrderingMonotonic, 0);
	return NULL;
}

/* One value: compare and exchange until no other thread changed it in between. Gives the value before. */
static LLVMValueRef exchange(Emit *e, const Monoid *m, LLVMValueRef ptr, LLVMValueRef value)
{
	DType t = m->type[0];
	LLVMTypeRef mem = emit_mem_type(e, t), bits = LLVMIntTypeInContext(e->cx, t.bits);
	LLVMValueRef first = LLVMBuildLoad2(e->b, bits, ptr, ""), left, new = NULL;
	LLVMSetAlignment(first, t.bits / 8u);
	LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
	LLVMBasicBlockRef before = e->at, again = emit_block(e, "again"), done = emit_block(e, "done");
	LLVMBuildBr(e->b, again);
	emit_move(e, again);
	LLVMValueRef seen = LLVMBuildPhi(e->b, bits, "");
	left = emit_from_memory(e, t, LLVMBuildBitCast(e->b, seen, mem, ""));
	combine(e, m, &left, &value, &new);
	new = LLVMBuildBitCast(e->b, emit_to_memory(e, t, new), bits, "");
	LLVMAtomicOrdering order = ordering(e);
	LLVMValueRef r = LLVMBuildAtomicCmpXchg(e->b, ptr, seen, new, order, order, 0);
	LLVMValueRef now = LLVMBuildExtractValue(e->b, r, 0, "");
	LLVMBuildCondBr(e->b, LLVMBuildExtractValue(e->b, r, 1, ""), done, again);
	LLVMAddIncoming(seen, &first, &before, 1);
	LLVMAddIncoming(seen, &now, &e->at, 1);
	emit_move(e, done);
	return left;
}

/* One instance alone: several values (thread 0 runs such code, lower/threads.c), or memory of one thread. */
static LLVMValueRef tuple(Emit *e, const Stmt *s, const Monoid *m)
{
	LLVMValueRef left[16] = { NULL }, right[16] = { NULL }, new[16] = { NULL };
	assert(m->n <= 16);
	for (int k = 0; k < m->n; k++) {
		const Access *d = &s->reduce.dst[k];
		left[k] = emit_expr(e, ir_load_named(e->ir, d->buf, m->type[k], d->idx, 1));
		right[k] = emit_expr(e, s->reduce.value[k]);
	}
	combine(e, m, left, right, new);
	for (int k = 0; k < m->n; k++)
		emit_store(e, s->reduce.dst[k].buf, s->reduce.dst[k].idx[0], new[k], NULL);
	return left[0];
}

bool emit_atomic(Emit *e, const Stmt *s)
{
	const Access *d = &s->reduce.dst[0];
	const Place *p = emit_place(e, d->buf);
	const Monoid *m = ir_find_monoid(e->ks, s->reduce.monoid, dtype_scalar(p->buf->type));
	DType t = m->type[0];
	if (m->n > 16)
		return emit_refuse(e, s, ERR_UNSUPPORTED, "the atomic reduction %s has more than 16 values", m->name);
	if (m->n == 1 && t.bits < 8)
		return emit_refuse(
			e, s, ERR_UNSUPPORTED, "an atomic reduction changes %s, whose elements are less than a byte", d->buf);
	if (s->reduce.mask != NULL && s->reduce.old != NULL)
		return emit_refuse(e, s, ERR_UNSUPPORTED,
			"the atomic reduction of %s has a mask and returns the old value; leave out one of them", d->buf);
	bool own = e->device && (e->alone || p->own);
	if (m->n > 1 && e->device && !own)
		return emit_refuse(e, s, ERR_UNSUPPORTED,
			"the atomic reduction %s changes several values, and a device has many threads", m->name);
	LLVMBasicBlockRef done = emit_mask_begin(e, s->reduce.mask);
	LLVMValueRef old = NULL;
	if (m->n > 1 || own) {
		old = tuple(e, s, m);
	} else {
		LLVMValueRef ptr = emit_address(e, p, d->idx[0]), value = emit_expr(e, s->reduce.value[0]);
		fence(e, s);
		old = one_instruction(e, m, ptr, value);
		if (old == NULL)
			old = exchange(e, m, ptr, value);
		fence(e, s);
	}
	emit_mask_end(e, done);
	if (s->reduce.old != NULL) {
		emit_level_push(e);
		emit_bind(e, s->reduce.old, t, old);
	}
	return true;
}
