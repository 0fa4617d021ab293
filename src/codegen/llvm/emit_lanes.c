/*
 * Lanes one by one: accesses whose lanes lie apart, on a CPU. Of a gather or a scatter LLVM computes each address in a
 * vector before it takes it out, unless the target has an instruction for it; and such an instruction takes as long
 * as its lanes on many CPUs. Here a lane is at a displacement from the first, or at its lane of the index.
 *
 *	y[ramp(d, 49, 4)] = v       y[d] = v0, y[d + 49] = v1, y[d + 98] = v2, y[d + 147] = v3
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"

/* Whether a lane is on: of a mask that is known now. */
static bool is_on(LLVMValueRef mask, int lane, bool *on)
{
	bool is_constant = mask != NULL && LLVMIsConstant(mask);
	LLVMValueRef bit = is_constant ? LLVMGetAggregateElement(mask, (unsigned)lane) : NULL;
	*on = mask == NULL || (bit != NULL && LLVMIsAConstantInt(bit) && LLVMConstIntGetZExtValue(bit) == 1);
	return mask == NULL || (bit != NULL && LLVMIsAConstantInt(bit));
}

static bool is_known(LLVMValueRef mask, int lanes)
{
	bool known = true, on;
	for (int k = 0; k < lanes; k++)
		known &= is_on(mask, k, &on);
	return known;
}

/* An index of lanes as one that all have and one of each lane; either may be NULL. */
typedef struct Lanes {
	const Expr *all, *each;
} Lanes;

static const Expr *plus(Ir *ir, const Expr *a, const Expr *b)
{
	return a == NULL ? b : b == NULL ? a : ir_add(ir, a, b);
}

static Lanes split_index(Ir *ir, const Expr *x)
{
	if (x->op == IR_SPLAT)
		return (Lanes){ x->arg[0], NULL };
	if (x->op == IR_RAMP)
		return (Lanes){ x->arg[0], ir_ramp(ir, ir_const_int(ir, x->arg[0]->type, 0), x->arg[1], x->type.lanes) };
	if (x->op != IR_ADD)
		return (Lanes){ NULL, x };
	Lanes a = split_index(ir, x->arg[0]), b = split_index(ir, x->arg[1]);
	return (Lanes){ plus(ir, a.all, b.all), plus(ir, a.each, b.each) };
}

/* Rows that are gathered alike share the lanes of the index; what all lanes have is a pointer. */
LLVMValueRef emit_load_lanes(Emit *e, const Place *p, const Expr *idx)
{
	int lanes = idx->type.lanes;
	bool on;
	if (e->device || idx->type.bits != 64 || (e->mask != NULL && !LLVMIsConstant(e->mask)))
		return NULL;
	LLVMValueRef mask = e->mask != NULL ? emit_mask_lanes(e, e->mask, lanes) : NULL;
	if (!is_known(mask, lanes))
		return NULL;
	Lanes at = split_index(e->ir, idx);
	LLVMTypeRef one = emit_mem_type(e, p->buf->type);
	LLVMValueRef first = at.all != NULL ? emit_address(e, p, at.all) : p->ptr;
	LLVMValueRef v = LLVMConstNull(emit_vector(one, lanes));
	LLVMValueRef each = at.each != NULL ? emit_expr(e, at.each) : LLVMConstNull(emit_vector(e->i64, lanes));
	for (int k = 0; k < lanes; k++) {
		if (!is_on(mask, k, &on) || !on)
			continue;
		LLVMValueRef by = LLVMBuildExtractElement(e->b, each, emit_int(e->i32, k), "");
		LLVMValueRef lane = LLVMBuildLoad2(e->b, one, LLVMBuildGEP2(e->b, one, first, &by, 1, ""), "");
		LLVMSetAlignment(lane, p->buf->type.bits / 8u);
		v = LLVMBuildInsertElement(e->b, v, lane, emit_int(e->i32, k), "");
	}
	return v;
}

bool emit_store_lanes(Emit *e, const Place *p, const Expr *idx, LLVMValueRef v, LLVMValueRef mask)
{
	const Expr *base, *stride;
	int64_t step;
	bool on;
	if (e->device || !emit_as_ramp(e, idx, &base, &stride) || !ir_is_int(stride, &step) ||
		!is_known(mask, idx->type.lanes))
		return false;
	LLVMValueRef first = emit_address(e, p, base);
	LLVMTypeRef one = emit_mem_type(e, p->buf->type);
	for (int k = 0; k < idx->type.lanes; k++) {
		LLVMValueRef by = emit_int(e->i64, step * k);
		if (!is_on(mask, k, &on) || !on)
			continue;
		LLVMValueRef lane = LLVMBuildExtractElement(e->b, v, emit_int(e->i32, k), "");
		LLVMValueRef store = LLVMBuildStore(e->b, lane, LLVMBuildGEP2(e->b, one, first, &by, 1, ""));
		LLVMSetAlignment(store, p->buf->type.bits / 8u);
	}
	return true;
}

int emit_first_lanes(LLVMValueRef mask, int lanes)
{
	int n = 0;
	bool on = true, rest = false;
	while (n < lanes && is_on(mask, n, &on) && on)
		n++;
	for (int k = n; k < lanes; k++)
		rest |= !is_on(mask, k, &on) || on;
	return rest ? -1 : n;
}

void emit_store_first(Emit *e, DType t, LLVMValueRef v, LLVMValueRef to, int n)
{
	LLVMTypeRef one = emit_mem_type(e, dtype_scalar(t));
	LLVMValueRef at[EMIT_PART_LANES];
	for (int from = 0, m = EMIT_PART_LANES; from < n;) {
		if (from + m > n) {
			m /= 2;
			continue;
		}
		for (int k = 0; k < m; k++)
			at[k] = emit_int(e->i32, from + k);
		LLVMValueRef by = emit_int(e->i64, from), part = m > 1
			? LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(at, (unsigned)m), "")
			: LLVMBuildExtractElement(e->b, v, at[0], "");
		LLVMValueRef store = LLVMBuildStore(e->b, part, LLVMBuildGEP2(e->b, one, to, &by, 1, ""));
		LLVMSetAlignment(store, t.bits / 8u);
		from += m;
	}
}
