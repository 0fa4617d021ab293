/*
 * Addresses, loads and stores. An index is a sum of terms, those of the outermost loops first, so that invariant
 * parts are computed outside and constants become displacements. Vectors of consecutive elements are one access,
 * loads of those a few elements apart are rows and shuffles (emit_stride.c), others lanes one by one (emit_lanes.c), or
 * gathers and scatters. Elements of less than a byte are packed and accessed one by one. Rows of a streamed output are
 * stored past a CPU's caches where the index shows that they are whole registers at multiples of their size; emit_fn.c
 * makes the fences.
 *
 * Where the mask of a scalar load is off (the arm of a select), the load reads the call structure instead, which is
 * there and long enough. So no branch is needed. A device has no such structure: the load stands in a branch.
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"

#include <assert.h>
#include <stdlib.h>

enum {
	TERMS = 32,
	LEAST_ROW = 16, /* bytes that an instruction stores past the caches */
};

typedef struct Term {
	const Expr *e;
	int64_t coef;
	int level;
} Term;

typedef struct Sum {
	int n;
	int64_t k;
	Term t[TERMS];
} Sum;

Place *emit_place(const Emit *e, const char *buf)
{
	return map_find_ptr(&e->place, buf)->ptr;
}

/* Sums wrap: the index of a prefetch may be any number. */
static int64_t minus(int64_t v)
{
	return (int64_t)(0 - (uint64_t)v);
}

static bool add_terms(Sum *s, const Expr *e, int64_t coef)
{
	int64_t v;
	switch (e->op) {
	case IR_ADD: return add_terms(s, e->arg[0], coef) && add_terms(s, e->arg[1], coef);
	case IR_SUB: return add_terms(s, e->arg[0], coef) && add_terms(s, e->arg[1], minus(coef));
	case IR_NEG: return add_terms(s, e->arg[0], minus(coef));
	case IR_INT: s->k += (int64_t)((uint64_t)coef * (uint64_t)e->i); return true;
	case IR_MUL:
		if (ir_is_int(e->arg[1], &v) || ir_is_int(e->arg[0], &v))
			return add_terms(s, e->arg[ir_is_int(e->arg[1], &v) ? 0 : 1], (int64_t)((uint64_t)coef * (uint64_t)v));
		break;
	default: break;
	}
	for (int k = 0; k < s->n; k++)
		if (s->t[k].e == e) {
			s->t[k].coef = (int64_t)((uint64_t)s->t[k].coef + (uint64_t)coef);
			return true;
		}
	if (s->n == TERMS)
		return false;
	s->t[s->n++] = (Term){ e, coef, 0 };
	return true;
}

/* Of the lesser of two values, or the greater: both are apart by as much. The simplifier adds constants to each. */
static bool apart_extremes(const Expr *a, const Expr *b, int64_t *by)
{
	int64_t second;
	return (a->op == IR_MIN || a->op == IR_MAX) && a->op == b->op && emit_is_apart(a->arg[0], b->arg[0], by) &&
		emit_is_apart(a->arg[1], b->arg[1], &second) && *by == second;
}

bool emit_is_apart(const Expr *a, const Expr *b, int64_t *by)
{
	Sum s = { 0 };
	if (!add_terms(&s, a, 1) || !add_terms(&s, b, -1))
		return false;
	for (int k = 0; k < s.n; k++)
		for (int j = k + 1; j < s.n && s.t[k].coef != 0; j++)
			if (s.t[j].coef == minus(s.t[k].coef) && apart_extremes(s.t[k].e, s.t[j].e, by)) {
				s.k += (int64_t)((uint64_t)s.t[k].coef * (uint64_t)*by);
				s.t[k].coef = s.t[j].coef = 0;
			}
	for (int k = 0; k < s.n; k++)
		if (s.t[k].coef != 0)
			return false;
	*by = s.k;
	return true;
}

static int outer_first(const void *a, const void *b)
{
	const Term *x = a, *y = b;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->e->id < y->e->id ? -1 : x->e->id > y->e->id;
}

/*
 * idx = *outer + *inner + *k, where inner is what is known last (in the innermost loop, say), so that
 * outer is the same pointer for many accesses. NULL for 0.
 */
static void take_apart(Emit *e, const Expr *idx, const Expr **outer, const Expr **inner, int64_t *k)
{
	Sum s = { 0 };
	*k = 0;
	*outer = *inner = NULL;
	if (!dtype_eq(idx->type, I64) || !add_terms(&s, idx, 1)) {
		*inner = idx;
		return;
	}
	for (int i = 0; i < s.n; i++) {
		emit_expr(e, s.t[i].e);
		const Val *v = s.t[i].e->id < e->nmemo ? &e->memo[s.t[i].e->id] : NULL;
		s.t[i].level = v != NULL && v->v != NULL && v->pure ? v->level : (int)e->level.n;
	}
	qsort(s.t, (size_t)s.n, sizeof *s.t, outer_first);
	for (int i = 0; i < s.n; i++) {
		const Expr **part = s.t[i].level < s.t[s.n - 1].level ? outer : inner;
		const Expr *x = ir_mul(e->ir, s.t[i].e, ir_int(e->ir, s.t[i].coef));
		*part = *part == NULL ? x : ir_add(e->ir, *part, x);
	}
	*k = s.k;
}

static LLVMValueRef gep(Emit *e, LLVMTypeRef t, LLVMValueRef ptr, LLVMValueRef i)
{
	return LLVMBuildGEP2(e->b, t, ptr, &i, 1, "");
}

LLVMValueRef emit_address(Emit *e, const Place *p, const Expr *idx)
{
	int64_t k;
	const Expr *outer, *inner;
	take_apart(e, idx, &outer, &inner, &k);
	LLVMValueRef ptr = emit_pointer(e, p, outer, inner);
	return k == 0 ? ptr : gep(e, emit_mem_type(e, p->buf->type), ptr, emit_int(e->i64, k));
}

/* i1: whether a lane is on. */
static LLVMValueRef any_lane(Emit *e, LLVMValueRef mask)
{
	LLVMTypeRef t = LLVMTypeOf(mask);
	return emit_lanes(mask) == 1 ? mask : emit_intrinsic(e, "llvm.vector.reduce.or", &t, 1, &mask, 1);
}

LLVMValueRef emit_mask_lanes(Emit *e, LLVMValueRef mask, int lanes)
{
	if (emit_lanes(mask) == lanes)
		return mask;
	return emit_splat(e, any_lane(e, mask), lanes);
}

bool emit_as_ramp(Emit *e, const Expr *x, const Expr **base, const Expr **stride)
{
	const Expr *b[2], *s[2];
	switch (x->op) {
	case IR_RAMP:
		*base = x->arg[0];
		*stride = x->arg[1];
		return true;
	case IR_SPLAT:
		*base = x->arg[0];
		*stride = ir_const_int(e->ir, x->arg[0]->type, 0);
		return true;
	case IR_ADD:
	case IR_SUB:
	case IR_MUL:
		for (int k = 0; k < 2; k++)
			if (!emit_as_ramp(e, x->arg[k], &b[k], &s[k]))
				return false;
		if (x->op != IR_MUL) {
			*base = ir_binary(e->ir, x->op, b[0], b[1]);
			*stride = ir_binary(e->ir, x->op, s[0], s[1]);
			return true;
		}
		*base = ir_mul(e->ir, b[0], b[1]);
		if (ir_is_const(s[0], 0))
			*stride = ir_mul(e->ir, b[0], s[1]);
		else if (ir_is_const(s[1], 0))
			*stride = ir_mul(e->ir, s[0], b[1]);
		else
			return false;
		return true;
	default: return false;
	}
}

static unsigned alignment(DType t)
{
	return t.bits < 8 ? 1 : t.bits / 8u;
}

/* Of one element: LLVM joins neighbours of a device's memory where it knows that the first is aligned. */
static unsigned place_alignment(const Emit *e, DType t, const Expr *idx)
{
	return e->device && t.bits >= 8 ? emit_access_bytes(e, t, idx) : alignment(t);
}

static LLVMValueRef load_at(Emit *e, const Place *p, LLVMTypeRef t, LLVMValueRef ptr, unsigned align)
{
	LLVMValueRef v = LLVMBuildLoad2(e->b, t, ptr, "");
	LLVMSetAlignment(v, align);
	if (p->constant)
		emit_note_constant(e, v);
	return v;
}

/* On a device: in a block of its own, which the driver's compiler makes a predicate. Off: zero. */
static LLVMValueRef load_if(Emit *e, const Place *p, LLVMTypeRef t, LLVMValueRef ptr, unsigned align, LLVMValueRef on)
{
	if (on == NULL || (LLVMIsAConstantInt(on) && LLVMConstIntGetZExtValue(on) == 1))
		return load_at(e, p, t, ptr, align);
	LLVMBasicBlockRef before = e->at, yes = emit_block(e, "on"), done = emit_block(e, "off");
	LLVMBuildCondBr(e->b, on, yes, done);
	emit_move(e, yes);
	LLVMValueRef v = load_at(e, p, t, ptr, align), zero = LLVMConstNull(t), both;
	LLVMBuildBr(e->b, done);
	emit_move(e, done);
	both = LLVMBuildPhi(e->b, t, "");
	LLVMAddIncoming(both, &v, &yes, 1);
	LLVMAddIncoming(both, &zero, &before, 1);
	return both;
}

/* A scalar, where any lane is on; elsewhere it reads what there is. */
static LLVMValueRef load_one(Emit *e, const Place *p, LLVMTypeRef t, LLVMValueRef ptr, unsigned align)
{
	if (e->mask == NULL)
		return load_at(e, p, t, ptr, align);
	if (e->some == NULL)
		e->some = any_lane(e, e->mask);
	if (e->device)
		return load_if(e, p, t, ptr, align, e->some);
	return load_at(e, p, t, LLVMBuildSelect(e->b, e->some, ptr, e->call, ""), align); /* true: ptr itself */
}

/* Elements of 2 or 4 bits: the byte and the shift of element i. */
static LLVMValueRef packed(Emit *e, const Place *p, LLVMValueRef i, LLVMValueRef *shift)
{
	int bits = p->buf->type.bits, log = bits == 4 ? 1 : 2;
	LLVMValueRef in = LLVMBuildAnd(e->b, i, emit_int(e->i64, (1 << log) - 1), "");
	in = LLVMBuildMul(e->b, in, emit_int(e->i64, bits), "");
	*shift = LLVMBuildTrunc(e->b, in, e->i8, "");
	return gep(e, e->i8, p->ptr, LLVMBuildAShr(e->b, i, emit_int(e->i64, log), ""));
}

static LLVMValueRef load_packed(Emit *e, const Place *p, LLVMValueRef i, LLVMValueRef on)
{
	LLVMValueRef shift, ptr = packed(e, p, i, &shift), byte;
	if (on != NULL && !e->device)
		ptr = LLVMBuildSelect(e->b, on, ptr, e->call, "");
	byte = e->device ? load_if(e, p, e->i8, ptr, 1, on) : load_at(e, p, e->i8, ptr, 1);
	return LLVMBuildTrunc(e->b, LLVMBuildLShr(e->b, byte, shift, ""), emit_type(e, dtype_scalar(p->buf->type)), "");
}

static LLVMValueRef load_packed_lanes(Emit *e, const Place *p, const Expr *x)
{
	LLVMValueRef i = emit_expr(e, x->arg[0]), on = NULL;
	int lanes = x->type.lanes;
	if (lanes == 1)
		return load_packed(e, p, i, e->mask != NULL ? any_lane(e, e->mask) : NULL);
	LLVMValueRef r = LLVMGetPoison(emit_type(e, x->type));
	LLVMValueRef mask = e->mask != NULL ? emit_mask_lanes(e, e->mask, lanes) : NULL;
	for (int k = 0; k < lanes; k++) {
		LLVMValueRef n = emit_int(e->i32, k);
		if (mask != NULL)
			on = LLVMBuildExtractElement(e->b, mask, n, "");
		LLVMValueRef v = load_packed(e, p, LLVMBuildExtractElement(e->b, i, n, ""), on);
		r = LLVMBuildInsertElement(e->b, r, v, n, "");
	}
	return r;
}

static LLVMValueRef pointers(Emit *e, const Place *p, const Expr *idx)
{
	LLVMValueRef i = emit_expr(e, idx);
	if (idx->type.bits != 64)
		i = emit_cast(e, dtype_vector(I64, idx->type.lanes), idx->type, i);
	return gep(e, emit_mem_type(e, p->buf->type), p->ptr, i);
}

/* The first `to` lanes of v; further ones than its `from` are lane `rest` of v and then w. */
static LLVMValueRef resize(Emit *e, LLVMValueRef v, LLVMValueRef w, int from, int to, int rest)
{
	LLVMValueRef lane[DTYPE_LANES];
	for (int k = 0; k < to; k++)
		lane[k] = emit_int(e->i32, k < from ? k : rest);
	return LLVMBuildShuffleVector(e->b, v, w, LLVMConstVector(lane, (unsigned)to), "");
}

/*
 * Always of a power of two of lanes: what LLVM adds to others is undefined, and it may then use one
 * register as index and result of an instruction that x86 refuses (seen with LLVM 19, AVX-512).
 */
static LLVMValueRef gather(Emit *e, const Place *p, const Expr *x)
{
	int lanes = x->type.lanes, wide = 1;
	LLVMValueRef each = emit_load_lanes(e, p, x->arg[0]);
	if (each != NULL)
		return each;
	while (wide < lanes)
		wide *= 2;
	LLVMTypeRef t = emit_vector(emit_mem_type(e, p->buf->type), wide), one = emit_vector(e->i1, lanes);
	LLVMValueRef ptr = pointers(e, p, x->arg[0]);
	LLVMValueRef on = e->mask != NULL ? emit_mask_lanes(e, e->mask, lanes) : emit_int(one, 1);
	if (wide != lanes) {
		ptr = resize(e, ptr, ptr, lanes, wide, 0);
		on = resize(e, on, emit_int(one, 0), lanes, wide, lanes);
	}
	LLVMTypeRef over[2] = { t, LLVMTypeOf(ptr) };
	LLVMValueRef arg[4] = { ptr, emit_int(e->i32, alignment(p->buf->type)), on, LLVMConstNull(t) };
	LLVMValueRef v = emit_intrinsic(e, "llvm.masked.gather", over, 2, arg, 4);
	return wide == lanes ? v : resize(e, v, v, wide, lanes, 0);
}

/* On a device, with one condition for all lanes: a load in a basic block of its own. If it is off, the value is 0. */
static LLVMValueRef load_row_if(Emit *e, const Place *p, LLVMValueRef ptr, const Expr *base, int lanes)
{
	LLVMBasicBlockRef before = e->at, yes = emit_block(e, "on"), done = emit_block(e, "off");
	LLVMBuildCondBr(e->b, e->mask, yes, done);
	emit_move(e, yes);
	LLVMValueRef v = emit_load_pieces(e, p, ptr, base, lanes), zero = LLVMConstNull(LLVMTypeOf(v)), both;
	LLVMBuildBr(e->b, done);
	emit_move(e, done);
	both = LLVMBuildPhi(e->b, LLVMTypeOf(v), "");
	LLVMAddIncoming(both, &v, &yes, 1);
	LLVMAddIncoming(both, &zero, &before, 1);
	return both;
}

/*
 * A row of 14 lanes in one load, of which two lanes are off: LLVM would make three loads of 8, 4 and 2, and put them
 * together.
 */
static LLVMValueRef load_masked_row(Emit *e, const Place *p, LLVMValueRef ptr, int lanes)
{
	int wide = 1;
	while (wide < lanes)
		wide *= 2;
	LLVMTypeRef t = emit_vector(emit_mem_type(e, p->buf->type), wide), over[2] = { t, LLVMTypeOf(ptr) };
	LLVMValueRef on = emit_int(emit_vector(e->i1, lanes), 1);
	on = resize(e, on, LLVMConstNull(LLVMTypeOf(on)), lanes, wide, lanes);
	LLVMValueRef arg[4] = { ptr, emit_int(e->i32, alignment(p->buf->type)), on, LLVMConstNull(t) };
	LLVMValueRef v = emit_intrinsic(e, "llvm.masked.load", over, 2, arg, 4);
	return resize(e, v, v, wide, lanes, 0);
}

static LLVMValueRef load_row(Emit *e, const Place *p, const Expr *base, int lanes)
{
	LLVMTypeRef t = emit_vector(emit_mem_type(e, p->buf->type), lanes);
	LLVMValueRef ptr = emit_address(e, p, base);
	if (e->device && e->mask == NULL)
		return emit_load_pieces(e, p, ptr, base, lanes);
	if (e->device && emit_lanes(e->mask) == 1)
		return load_row_if(e, p, ptr, base, lanes);
	if (e->mask == NULL && (lanes & (lanes - 1)) != 0 && target_has_masks(e->target, p->buf->type))
		return load_masked_row(e, p, ptr, lanes);
	if (e->mask == NULL)
		return load_at(e, p, t, ptr, alignment(p->buf->type));
	LLVMTypeRef over[2] = { t, LLVMTypeOf(ptr) };
	LLVMValueRef arg[4] = { ptr, emit_int(e->i32, alignment(p->buf->type)), emit_mask_lanes(e, e->mask, lanes),
		LLVMConstNull(t) };
	return emit_intrinsic(e, "llvm.masked.load", over, 2, arg, 4);
}

bool emit_loads_zeros(const Emit *e, const Expr *x)
{
	if (x->op != IR_LOAD || x->type.bits < 8 || emit_place(e, x->name)->reg)
		return false;
	return (e->device && x->type.lanes == 1) || (x->arg[0]->op == IR_RAMP && ir_is_const(x->arg[0]->arg[1], 1));
}

/* All lanes of a register, or some neighbours. */
static LLVMValueRef load_register(Emit *e, const Place *p, const Expr *idx, DType t)
{
	int64_t n = 1, first = 0;
	ir_is_int(p->buf->shape[0], &n);
	ir_is_int(idx->op == IR_RAMP ? idx->arg[0] : idx, &first);
	if (t.lanes == n)
		return LLVMBuildLoad2(e->b, emit_type(e, t), p->ptr, "");
	LLVMValueRef v = LLVMBuildLoad2(e->b, emit_type(e, dtype_vector(t, (int)n)), p->ptr, ""), lane[EMIT_PART_LANES];
	if (t.lanes == 1)
		return LLVMBuildExtractElement(e->b, v, emit_int(e->i32, first), "");
	for (int k = 0; k < t.lanes; k++)
		lane[k] = emit_int(e->i32, first + k);
	return LLVMBuildShuffleVector(e->b, v, LLVMGetUndef(LLVMTypeOf(v)), LLVMConstVector(lane, (unsigned)t.lanes), "");
}

LLVMValueRef emit_load(Emit *e, const Expr *x)
{
	const Place *p = emit_place(e, x->name);
	const Expr *idx = x->arg[0], *base, *stride;
	int64_t step;
	DType t = x->type;
	LLVMTypeRef mem = emit_mem_type(e, dtype_scalar(t));
	LLVMValueRef v;
	assert(p->buf != NULL && x->nargs == 1);
	if (p->reg)
		return load_register(e, p, idx, t);
	if (t.bits < 8)
		return load_packed_lanes(e, p, x);
	if (t.lanes == 1) {
		v = load_one(e, p, mem, emit_address(e, p, idx), place_alignment(e, t, idx));
	} else if (!emit_as_ramp(e, idx, &base, &stride)) {
		v = gather(e, p, x);
	} else if (ir_is_const(stride, 0)) {
		v = load_one(e, p, mem, emit_address(e, p, base), alignment(t));
		return emit_splat(e, emit_from_memory(e, dtype_scalar(t), v), t.lanes);
	} else if (ir_is_const(stride, 1)) {
		v = load_row(e, p, base, t.lanes);
	} else if (!e->device && emit_is_strided(stride, t.lanes, &step)) {
		v = emit_load_strided(e, p, base, step, t.lanes);
	} else {
		v = gather(e, p, x);
	}
	return emit_from_memory(e, t, v);
}

static void store_at(Emit *e, LLVMValueRef v, LLVMValueRef ptr, unsigned align)
{
	LLVMSetAlignment(LLVMBuildStore(e->b, v, ptr), align);
}

/*
 * A row of an output past the caches. Such instructions take whole registers at multiples of their size, which the
 * index must show; else the row is stored as ever.
 */
static void store_streamed(Emit *e, LLVMValueRef v, LLVMValueRef ptr, const Expr *base, DType t)
{
	LLVMMetadataRef one = LLVMValueAsMetadata(emit_int(e->i32, 1));
	LLVMValueRef store = LLVMBuildStore(e->b, v, ptr);
	unsigned row = (unsigned)(t.lanes * t.bits) / 8, whole = (unsigned)e->target->vector_bits / 8;
	unsigned bytes = emit_proved_bytes(e, t, base, DLC_CALL_ALIGN);
	bool aligned = bytes >= LEAST_ROW && row % bytes == 0 && (bytes >= row || bytes >= whole);
	LLVMSetAlignment(store, aligned ? bytes : alignment(t));
	if (aligned)
		LLVMSetMetadata(store, LLVMGetMDKindIDInContext(e->cx, "nontemporal", 11),
			LLVMMetadataAsValue(e->cx, LLVMMDNodeInContext2(e->cx, &one, 1)));
}

/* A device's threads may store to the same word at once: the element's bits are cleared, then set. */
static void store_bits(Emit *e, const Place *p, LLVMValueRef i, LLVMValueRef v)
{
	int bits = p->buf->type.bits, log = bits == 4 ? 3 : 4; /* elements of a word: 2^log */
	LLVMValueRef in = LLVMBuildAnd(e->b, i, emit_int(e->i64, (1 << log) - 1), "");
	LLVMValueRef shift = LLVMBuildTrunc(e->b, LLVMBuildMul(e->b, in, emit_int(e->i64, bits), ""), e->i32, "");
	LLVMValueRef ptr = gep(e, e->i32, p->ptr, LLVMBuildAShr(e->b, i, emit_int(e->i64, log), ""));
	LLVMValueRef hole = LLVMBuildShl(e->b, emit_int(e->i32, (1 << bits) - 1), shift, "");
	LLVMValueRef set = LLVMBuildShl(e->b, LLVMBuildZExt(e->b, v, e->i32, ""), shift, "");
	LLVMValueRef rest = LLVMBuildNot(e->b, hole, "");
	LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpAnd, ptr, rest, LLVMAtomicOrderingMonotonic, 0);
	LLVMBuildAtomicRMW(e->b, LLVMAtomicRMWBinOpOr, ptr, set, LLVMAtomicOrderingMonotonic, 0);
}

/* Read, change, write: two threads never store to such a buffer at once (lower/threads.c). */
static void store_packed(Emit *e, const Place *p, LLVMValueRef i, LLVMValueRef v)
{
	if (e->device && !e->alone && !p->own) {
		store_bits(e, p, i, v);
		return;
	}
	LLVMValueRef shift, ptr = packed(e, p, i, &shift);
	LLVMValueRef byte = LLVMBuildZExt(e->b, v, e->i8, "");
	LLVMValueRef hole = LLVMBuildShl(e->b, emit_int(e->i8, (1 << p->buf->type.bits) - 1), shift, "");
	byte = LLVMBuildAnd(e->b, LLVMBuildShl(e->b, byte, shift, ""), hole, "");
	LLVMValueRef old = LLVMBuildAnd(e->b, load_at(e, p, e->i8, ptr, 1), LLVMBuildNot(e->b, hole, ""), "");
	store_at(e, LLVMBuildOr(e->b, old, byte, ""), ptr, 1);
}

static void store_packed_lanes(Emit *e, const Place *p, const Expr *idx, LLVMValueRef v, LLVMValueRef mask)
{
	LLVMValueRef i = emit_expr(e, idx);
	int lanes = idx->type.lanes;
	if (lanes == 1) {
		store_packed(e, p, i, v);
		return;
	}
	for (int k = 0; k < lanes; k++) {
		LLVMValueRef n = emit_int(e->i32, k);
		LLVMBasicBlockRef done = NULL;
		if (mask != NULL) { /* the place of a lane that is off may lie outside */
			LLVMBasicBlockRef yes = emit_block(e, "lane");
			done = emit_block(e, "next");
			LLVMBuildCondBr(e->b, LLVMBuildExtractElement(e->b, mask, n, ""), yes, done);
			emit_move(e, yes);
		}
		store_packed(e, p, LLVMBuildExtractElement(e->b, i, n, ""), LLVMBuildExtractElement(e->b, v, n, ""));
		if (done != NULL) {
			LLVMBuildBr(e->b, done);
			emit_move(e, done);
		}
	}
}

static void scatter(Emit *e, const Place *p, const Expr *idx, LLVMValueRef v, LLVMValueRef mask)
{
	LLVMValueRef ptr = pointers(e, p, idx);
	int lanes = idx->type.lanes;
	LLVMTypeRef over[2] = { LLVMTypeOf(v), LLVMTypeOf(ptr) };
	LLVMValueRef arg[4] = { v, ptr, emit_int(e->i32, alignment(p->buf->type)),
		mask != NULL ? mask : emit_int(emit_vector(e->i1, lanes), 1) };
	emit_intrinsic(e, "llvm.masked.scatter", over, 2, arg, 4);
}

/* A scalar store comes without a mask; that of a vector has its lanes. */
void emit_store(Emit *e, const char *buf, const Expr *idx, LLVMValueRef value, LLVMValueRef mask)
{
	const Place *p = emit_place(e, buf);
	const Expr *base, *stride;
	DType t = dtype_vector(p->buf->type, idx->type.lanes);
	assert(p->buf != NULL);
	if (p->reg) {
		if (mask != NULL)
			value = LLVMBuildSelect(e->b, mask, value, LLVMBuildLoad2(e->b, LLVMTypeOf(value), p->ptr, ""), "");
		LLVMBuildStore(e->b, value, p->ptr);
		return;
	}
	if (t.bits < 8) {
		store_packed_lanes(e, p, idx, value, mask);
		return;
	}
	value = emit_to_memory(e, t, value);
	if (t.lanes == 1) {
		store_at(e, value, emit_address(e, p, idx), place_alignment(e, t, idx));
	} else if (!emit_as_ramp(e, idx, &base, &stride) || !ir_is_const(stride, 1)) {
		if (!emit_store_lanes(e, p, idx, value, mask))
			scatter(e, p, idx, value, mask);
	} else if (mask == NULL) {
		LLVMValueRef ptr = emit_address(e, p, base);
		if (e->device)
			emit_store_pieces(e, p, ptr, base, value);
		else if (p->streamed)
			store_streamed(e, value, ptr, base, t);
		else
			store_at(e, value, ptr, alignment(t));
	} else if (!e->device && !target_has(e->target, FEATURE_AVX512VL) && emit_first_lanes(mask, t.lanes) >= 0) {
		emit_store_first(e, p->buf->type, value, emit_address(e, p, base), emit_first_lanes(mask, t.lanes));
	} else {
		LLVMValueRef arg[4] = { value, emit_address(e, p, base), emit_int(e->i32, alignment(t)), mask };
		LLVMTypeRef over[2] = { LLVMTypeOf(value), LLVMTypeOf(arg[1]) };
		emit_intrinsic(e, "llvm.masked.store", over, 2, arg, 4);
	}
}
