/*
 * Expressions: pure ones at the place of their level, the others at the end of the current block. The memo has a
 * value for each expression known here. An entry ends with the level, basic block, statement, or mask that it
 * belongs to; on CPUs the arms of a branch begin with what its condition loaded. A value read from memory is good
 * until a store to memory.
 *
 * The emitter keeps the loaded values used last, as many as there are registers beside the block's accumulators.
 * The others are loaded again, which costs nothing beside an fma. A fence, which makes no instruction, hides from
 * LLVM that both loads are the same, since LLVM would then spill the value.
 */
#include "codegen/llvm/emit_device.h"
#include "codegen/llvm/emit_num.h"
#include "codegen/lower/pass.h"
#include "ir/build.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static Val *memo_at(Emit *e, const Expr *x)
{
	if (x->id >= e->nmemo) {
		size_t n = e->nmemo ? e->nmemo : 256;
		while (n <= x->id)
			n *= 2;
		Val *wide = arena_array(e->arena, Val, n);
		if (e->nmemo > 0)
			memcpy(wide, e->memo, sizeof *wide * e->nmemo);
		e->memo = wide;
		e->nmemo = n;
	}
	return &e->memo[x->id];
}

/* Bits of another type, and equal lanes of an element, take the register of what they are made of. */
static bool takes_register(const Expr *x)
{
	return x->op == IR_SPLAT || x->op == IR_BITCAST;
}

static void forget_loaded(Emit *e, size_t k)
{
	const Expr *x = e->loaded.at[k].e;
	memo_at(e, x)->v = NULL;
	for (; takes_register(x) && !memo_at(e, x->arg[0])->pure; x = x->arg[0])
		memo_at(e, x->arg[0])->v = NULL; /* else it lives on */
	e->loaded_regs -= e->loaded.at[k].regs;
	e->loaded.at[k] = e->loaded.at[--e->loaded.n];
}

static void keep(Emit *e, const Expr *x)
{
	int bits = x->type.lanes > 1 ? x->type.lanes * x->type.bits : 0;
	Loaded now = { x, ++e->clock, (bits + e->target->vector_bits - 1) / e->target->vector_bits };
	for (size_t k = 0; takes_register(x) && k < e->loaded.n; k++)
		if (e->loaded.at[k].e == x->arg[0]) {
			e->loaded_regs -= e->loaded.at[k].regs;
			e->loaded.at[k].regs = 0;
		}
	while (now.regs > 0 && e->loaded_regs > 0 && e->loaded_regs + now.regs > e->loaded_most) {
		size_t oldest = e->loaded.n;
		for (size_t k = 0; k < e->loaded.n; k++)
			if (e->loaded.at[k].regs > 0 && (oldest == e->loaded.n || e->loaded.at[k].used < e->loaded.at[oldest].used))
				oldest = k;
		forget_loaded(e, oldest);
	}
	vec_push(e->arena, &e->loaded, now);
	e->loaded_regs += now.regs;
}

/* Before a load that this block made before and whose value was dropped. */
static void fence_again(Emit *e, const Expr *x)
{
	Val *v = memo_at(e, x);
	if (v->fence == e->fence && e->mask == NULL && !e->device) {
		LLVMBuildFence(e->b, LLVMAtomicOrderingSequentiallyConsistent, 1, "");
		e->fence++;
	}
	memo_at(e, x)->fence = e->fence;
}

static void remember(Emit *e, const Expr *x, Val v)
{
	v.fence = memo_at(e, x)->fence;
	*memo_at(e, x) = v;
	if (v.pure)
		vec_push(e->arena, &e->level.at[v.level].known, x->id);
	else if (v.reg || e->mask != NULL)
		vec_push(e->arena, &e->temp, x->id);
	else
		keep(e, x);
}

void emit_forget(Emit *e, size_t mark)
{
	while (e->temp.n > mark)
		e->memo[e->temp.at[--e->temp.n]].v = NULL;
}

void emit_forget_loads(Emit *e)
{
	while (e->loaded.n > 0)
		forget_loaded(e, e->loaded.n - 1);
	e->fence++;
}

void emit_move(Emit *e, LLVMBasicBlockRef block)
{
	e->at = block;
	LLVMPositionBuilderAtEnd(e->b, block);
}

LLVMBasicBlockRef emit_block(Emit *e, const char *name)
{
	return LLVMAppendBasicBlockInContext(e->cx, e->func, name);
}

/* The marker is an instruction of no use, removed at the end. */
void emit_level_push(Emit *e)
{
	Level l = { .marker = LLVMBuildFreeze(e->b, LLVMGetPoison(e->i1), "level") };
	vec_push(e->arena, &e->level, l);
}

void emit_level_pop(Emit *e)
{
	Level *l = &e->level.at[--e->level.n];
	for (size_t k = 0; k < l->known.n; k++)
		e->memo[l->known.at[k]].v = NULL;
	LLVMInstructionEraseFromParent(l->marker);
}

void emit_bind(Emit *e, const char *name, DType t, LLVMValueRef v)
{
	remember(e, ir_var(e->ir, name, t), (Val){ v, (int)e->level.n - 1, true, false, 0 });
}

static Val eval(Emit *e, const Expr *x);

LLVMValueRef emit_expr(Emit *e, const Expr *x)
{
	return eval(e, x).v;
}

static LLVMValueRef ramp(Emit *e, DType t, LLVMValueRef base, LLVMValueRef stride)
{
	DType one = dtype_scalar(t);
	LLVMTypeRef type = emit_type(e, one);
	LLVMValueRef *k = arena_array(e->arena, LLVMValueRef, t.lanes);
	for (int i = 0; i < t.lanes; i++)
		k[i] = dtype_is_float(t) ? emit_real(type, dtype_round(one, i)) : emit_int(type, i);
	LLVMValueRef step = emit_binary(e, IR_MUL, t, emit_splat(e, stride, t.lanes), LLVMConstVector(k, t.lanes));
	return emit_binary(e, IR_ADD, t, emit_splat(e, base, t.lanes), step);
}

/* -1 < i & i < n of one index is one comparison without sign; NULL: it is another conjunction. */
static LLVMValueRef inside(Emit *e, const Expr *x)
{
	int64_t least, most;
	for (int k = 0; x->op == IR_AND && k < 2; k++) {
		const Expr *lo = x->arg[k], *hi = x->arg[1 - k];
		if (lo->op != IR_LT || hi->op != IR_LT || lo->arg[1] != hi->arg[0] || hi->arg[0]->type.kind != DT_INT ||
			!ir_is_int(lo->arg[0], &least) || least != -1 || !ir_is_int(hi->arg[1], &most) || most < 0)
			continue;
		LLVMValueRef i = memo_at(e, hi->arg[0])->v;
		return i == NULL ? NULL : LLVMBuildICmp(e->b, LLVMIntULT, i, emit_int(LLVMTypeOf(i), most), "");
	}
	return NULL;
}

static LLVMValueRef node(Emit *e, const Expr *x, LLVMValueRef const *a)
{
	DType t = x->arg[0]->type;
	LLVMValueRef less = e->device ? emit_short_node(e, x, a) : inside(e, x);
	if (less != NULL)
		return less;
	switch (x->op) {
	case IR_SPLAT: return emit_splat(e, a[0], x->type.lanes);
	case IR_RAMP: return ramp(e, x->type, a[0], a[1]);
	case IR_LANE: return LLVMBuildExtractElement(e->b, a[0], emit_int(e->i32, x->arg[1]->i), "");
	case IR_SELECT: return LLVMBuildSelect(e->b, a[0], a[1], a[2], "");
	case IR_CAST: return emit_cast(e, x->type, t, a[0]);
	case IR_BITCAST: return emit_bitcast(e, x->type, t, a[0]);
	case IR_FMA: return emit_fma(e, t, a[0], a[1], a[2]);
	case IR_MMA: return emit_mma(e, x->arg[1]->type, a[0], a[1], a[2]);
	case IR_DOT4: return emit_dot4(e, a[0], a[1], x->arg[1]->type, a[2], x->arg[2]->type);
	default: return x->nargs == 1 ? emit_unary(e, x->op, t, a[0]) : emit_binary(e, x->op, t, a[0], a[1]);
	}
}

static LLVMValueRef both(Emit *e, LLVMValueRef mask, LLVMValueRef c)
{
	if (mask == NULL)
		return c;
	return LLVMBuildAnd(e->b, emit_mask_lanes(e, mask, emit_lanes(c)), c, "");
}

LLVMValueRef emit_some(Emit *e, const Expr *mask)
{
	const Expr *any = mask->type.lanes > 1 ? lower_any_lane(e->ir, mask) : NULL;
	if (any == NULL)
		return NULL;
	return ir_always(any, e->env) ? emit_int(e->i1, 1) : emit_expr(e, any);
}

static bool is_zero(const Expr *x)
{
	return x->op == IR_SPLAT ? is_zero(x->arg[0])
	                         : ir_is_const(x, 0) || (x->op == IR_FLOAT && x->f == 0 && !signbit(x->f));
}

/*
 * Each arm under its mask: a lane loads only in the arm that it takes. On a device, a condition that is equal for all
 * lanes stays one bit.
 */
static LLVMValueRef lazy_select(Emit *e, const Expr *x)
{
	LLVMValueRef c = emit_expr(e, x->arg[0]), outer = e->mask, some = e->some, arm[2];
	bool shared = e->device && outer == NULL && x->arg[0]->op == IR_SPLAT;
	bool masks = memo_at(e, x->arg[1])->v == NULL; /* the condition may have loaded the arm, for all lanes */
	LLVMValueRef on = shared ? emit_expr(e, x->arg[0]->arg[0]) : c;
	for (int k = 0; k < 2; k++) {
		size_t mark = e->temp.n;
		e->mask = both(e, outer, k == 0 ? on : LLVMBuildNot(e->b, on, ""));
		e->some = k == 0 && outer == NULL ? emit_some(e, x->arg[0]) : NULL;
		arm[k] = emit_expr(e, x->arg[1 + k]);
		e->mask = outer;
		e->some = some;
		emit_forget(e, mark);
	}
	if (masks && outer == NULL && is_zero(x->arg[2]) && emit_loads_zeros(e, x->arg[1]))
		return arm[0];
	return LLVMBuildSelect(e->b, c, arm[0], arm[1], "");
}

/* Each arg is known already, or without a load below; each node is asked once per statement at most. */
static bool args_pure(Emit *e, const Expr *x)
{
	for (int k = 0; k < x->nargs; k++) {
		if (x->arg[k]->op == IR_LOAD)
			return false;
		const Val *known = memo_at(e, x->arg[k]);
		if (known->v != NULL ? !known->pure : !args_pure(e, x->arg[k]))
			return false;
	}
	return true;
}

/* Below a load's index or in an arm of a select, too. */
static bool reads_register(Emit *e, const Expr *x)
{
	if (x->op == IR_LOAD && emit_place(e, x->name)->reg)
		return true;
	for (int k = 0; k < x->nargs; k++) {
		const Val *known = memo_at(e, x->arg[k]);
		if (known->v != NULL ? known->reg : reads_register(e, x->arg[k]))
			return true;
	}
	return false;
}

static Val eval(Emit *e, const Expr *x)
{
	if (x->op == IR_INT || x->op == IR_FLOAT) {
		LLVMTypeRef t = emit_type(e, x->type);
		return (Val){ x->op == IR_INT ? emit_int(t, x->i) : emit_real(t, x->f), 0, true, false, 0 };
	}
	Val v = *memo_at(e, x);
	if (v.v != NULL) {
		for (size_t k = 0; !v.pure && !v.reg && k < e->loaded.n; k++)
			if (e->loaded.at[k].e == x)
				e->loaded.at[k].used = ++e->clock;
		return v;
	}
	assert(x->op != IR_VAR); /* the verifier: every variable is bound */
	v = (Val){ NULL, 0, true, false, 0 };
	if (x->op == IR_LOAD) {
		v.pure = false;
		v.reg = reads_register(e, x);
		if (!v.reg)
			fence_again(e, x);
		v.v = emit_load(e, x);
	} else if (x->op == IR_LDMATRIX || x->op == IR_LDMATRIX_T) {
		const Expr *row = x->arg[0];
		v.pure = false;
		v.v = emit_ldmatrix(e, x->type, emit_address(e, emit_place(e, row->name), row->arg[0]), (int)x->arg[1]->i,
			x->op == IR_LDMATRIX_T);
	} else if (x->op == IR_SELECT && !args_pure(e, x)) {
		v.pure = false;
		v.reg = reads_register(e, x);
		v.v = lazy_select(e, x);
	} else {
		LLVMValueRef few[3] = { NULL };
		assert(x->nargs <= 3);
		for (int k = 0; k < x->nargs; k++) {
			Val a = eval(e, x->arg[k]);
			few[k] = a.v;
			v.level = a.level > v.level ? a.level : v.level;
			v.pure = v.pure && a.pure;
			v.reg = v.reg || a.reg;
		}
		if (v.pure)
			LLVMPositionBuilderBefore(e->b, e->level.at[v.level].marker);
		v.v = node(e, x, few);
		if (v.pure)
			LLVMPositionBuilderAtEnd(e->b, e->at);
	}
	if (!v.pure)
		v.level = (int)e->level.n - 1;
	remember(e, x, v);
	return v;
}

/*
 * A function of math is one chain of instructions, and each of its constants is a load. Two neighbouring stores whose
 * values have one form, as the elements of a tile have behind their sums, are interleaved: a function of one register
 * in each becomes one of twice the lanes. LLVM cuts each of its operations into two, one beside the other, which keeps
 * the units busy and loads each constant once. Four registers are no faster and spill. AVX-512's own forms are short
 * chains, and are of 16 lanes.
 */
static bool is_math(Node op)
{
	return op == IR_EXP || op == IR_ERF || op == IR_TANH || op == IR_SIGMOID;
}

static bool reads(const Expr *x, const char *buf)
{
	if (x->op == IR_LOAD && strcmp(x->name, buf) == 0)
		return true;
	for (int k = 0; k < x->nargs; k++)
		if (reads(x->arg[k], buf))
			return true;
	return false;
}

/* Loads may have any places. Counts down the nodes; false for other forms, and where there are too many. */
static bool alike(const Expr *a, const Expr *b, int *nodes)
{
	bool same = a->op == b->op && a->nargs == b->nargs && dtype_eq(a->type, b->type) && --*nodes >= 0;
	for (int k = 0; same && a->op != IR_LOAD && k < a->nargs; k++)
		same = alike(a->arg[k], b->arg[k], nodes);
	return same;
}

static LLVMValueRef lanes_of(Emit *e, LLVMValueRef a, LLVMValueRef b, int from, int n)
{
	LLVMValueRef k[2 * EMIT_PART_LANES];
	for (int i = 0; i < n; i++)
		k[i] = emit_int(e->i32, from + i);
	return LLVMBuildShuffleVector(e->b, a, b, LLVMConstVector(k, (unsigned)n), "");
}

static bool fits_register(const Emit *e, DType t)
{
	return t.lanes > 1 && t.lanes * t.bits <= e->target->vector_bits;
}

/* What is known before the statement's loop is left to eval, and the arms of a select, which have masks. */
static bool join(Emit *e, const Expr *a, const Expr *b)
{
	bool any = false;
	if (a == b || a->op == IR_LOAD || a->op == IR_SELECT || memo_at(e, a)->v != NULL || memo_at(e, b)->v != NULL)
		return false;
	for (int k = 0; k < a->nargs; k++)
		any = join(e, a->arg[k], b->arg[k]) || any;
	if (!is_math(a->op) || !dtype_eq(dtype_scalar(a->type), F32) || !fits_register(e, a->type))
		return any;
	Val x = eval(e, a->arg[0]), y = eval(e, b->arg[0]);
	if (x.pure || y.pure)
		return any;
	int n = a->type.lanes;
	LLVMValueRef both = emit_unary(e, a->op, dtype_vector(F32, 2 * n), lanes_of(e, x.v, y.v, 0, 2 * n));
	/* As of registers: known until both stores are done. */
	Val v = { lanes_of(e, both, both, 0, n), (int)e->level.n - 1, false, true, 0 };
	remember(e, a, v);
	v.v = lanes_of(e, both, both, n, n);
	remember(e, b, v);
	return true;
}

static bool stores_register(const Emit *e, const Stmt *s)
{
	return s != NULL && s->kind == ST_STORE && s->store.mask == NULL && fits_register(e, s->store.value->type);
}

int emit_interleaved(Emit *e, const Stmt *s)
{
	enum { NODES = 64 /* epilogues have less; the form is compared as a tree */ };
	int nodes = NODES;
	if (e->device || e->async || e->mask != NULL || target_has(e->target, FEATURE_AVX512F) || !stores_register(e, s) ||
		!stores_register(e, s->next) || !alike(s->store.value, s->next->store.value, &nodes) ||
		reads(s->next->store.value, s->store.dst.buf) || !join(e, s->store.value, s->next->store.value))
		return 0;
	for (int k = 0; k < 2; k++, s = s->next) {
		emit_store(e, s->store.dst.buf, s->store.dst.idx[0], emit_expr(e, s->store.value), NULL);
		emit_forget_loads(e);
	}
	return 2;
}

/* The memo's key for a pointer: a load of a type that no element has. */
static const Expr *pointer_key(Emit *e, const Place *p, const Expr *idx)
{
	return ir_load_named(e->ir, p->buf->name, (DType){ DT_BOOL, 64, 1 }, &idx, 1);
}

static Val pointer(Emit *e, const Place *p, Val from, const Expr *key, const Expr *idx)
{
	Val v = *memo_at(e, key), i;
	if (v.v != NULL)
		return v;
	i = eval(e, idx);
	v = (Val){ NULL, i.level > from.level ? i.level : from.level, i.pure && from.pure, i.reg || from.reg, 0 };
	if (v.pure)
		LLVMPositionBuilderBefore(e->b, e->level.at[v.level].marker);
	LLVMValueRef at = emit_expr(e, idx);
	if (!dtype_eq(idx->type, I64))
		at = emit_cast(e, I64, idx->type, at);
	v.v = LLVMBuildGEP2(e->b, emit_mem_type(e, p->buf->type), from.v, &at, 1, "");
	if (v.pure)
		LLVMPositionBuilderAtEnd(e->b, e->at);
	remember(e, key, v);
	return v;
}

LLVMValueRef emit_pointer(Emit *e, const Place *p, const Expr *outer, const Expr *inner)
{
	Val v = { p->ptr, 0, true, false, 0 };
	if (outer != NULL)
		v = pointer(e, p, v, pointer_key(e, p, outer), outer);
	if (inner != NULL) {
		const Expr *both = outer == NULL ? inner : ir_add(e->ir, outer, inner);
		v = pointer(e, p, v, pointer_key(e, p, both), inner);
	}
	return v.v;
}
