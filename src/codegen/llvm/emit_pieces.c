/*
 * Rows of a device's memory. It has accesses of 4, 8 and 16 bytes, each at a multiple of its size. What the ranges of
 * the index's variables say of its divisors decides which of them a row of elements takes. A CPU's rows that pass the
 * caches ask for these divisors, too.
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"

enum { WIDEST = 16, BASE = 16 }; /* bytes: of an access; every buffer begins at a multiple of it */

static int64_t gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

unsigned emit_proved_bytes(const Emit *e, DType t, const Expr *idx, int64_t base)
{
	Interval at = ir_interval(idx, e->env);
	int64_t step = at.mod == 0 ? at.rem : gcd(at.mod, at.rem);
	return (unsigned)gcd(step % base * (t.bits / 8), base);
}

unsigned emit_access_bytes(const Emit *e, DType t, const Expr *idx)
{
	return emit_proved_bytes(e, t, idx, BASE);
}

int emit_access_lanes(const Emit *e, DType t, const Expr *first, int lanes)
{
	int64_t size = t.bits / 8, bytes = emit_access_bytes(e, t, first);
	int n = 1;
	while (2 * n <= lanes)
		n *= 2;
	while (n > 1 && (n * size > bytes || n * size > WIDEST || lanes % n != 0))
		n /= 2;
	return n;
}

/* What an access moves: elements of less than 32 bits as words. */
static LLVMTypeRef access_type(Emit *e, DType t, int lanes)
{
	int bits = t.bits * lanes;
	if (t.bits >= 32 || bits < 32)
		return emit_vector(emit_mem_type(e, t), lanes);
	return emit_vector(e->i32, bits / 32);
}

void emit_note_constant(Emit *e, LLVMValueRef load)
{
	LLVMValueRef none = LLVMMetadataAsValue(e->cx, LLVMMDNodeInContext2(e->cx, NULL, 0));
	LLVMSetMetadata(load, LLVMGetMDKindIDInContext(e->cx, "invariant.load", 14), none);
}

static LLVMValueRef place_of(Emit *e, const Place *p, LLVMValueRef ptr, int lane)
{
	LLVMValueRef at = emit_int(e->i64, lane);
	return lane == 0 ? ptr : LLVMBuildGEP2(e->b, emit_mem_type(e, p->buf->type), ptr, &at, 1, "");
}

/* Lanes from `from` of v, n of them. */
static LLVMValueRef part(Emit *e, LLVMValueRef v, int from, int n)
{
	LLVMValueRef k[DTYPE_LANES];
	if (n == emit_lanes(v))
		return v;
	if (n == 1)
		return LLVMBuildExtractElement(e->b, v, emit_int(e->i32, from), "");
	for (int i = 0; i < n; i++)
		k[i] = emit_int(e->i32, from + i);
	return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(k, (unsigned)n), "");
}

LLVMValueRef emit_load_pieces(Emit *e, const Place *p, LLVMValueRef ptr, const Expr *first, int lanes)
{
	DType t = p->buf->type;
	int n = emit_access_lanes(e, t, first, lanes);
	LLVMTypeRef all = emit_vector(emit_mem_type(e, t), lanes), some = emit_vector(emit_mem_type(e, t), n);
	LLVMValueRef r = LLVMGetPoison(all);
	for (int k = 0; k < lanes; k += n) {
		LLVMValueRef v = LLVMBuildLoad2(e->b, access_type(e, t, n), place_of(e, p, ptr, k), "");
		LLVMSetAlignment(v, (unsigned)(n * t.bits / 8));
		if (p->constant)
			emit_note_constant(e, v);
		v = LLVMBuildBitCast(e->b, v, some, "");
		if (n == lanes)
			return v;
		for (int i = 0; i < n; i++)
			r = LLVMBuildInsertElement(e->b, r, part(e, v, i, 1), emit_int(e->i32, k + i), "");
	}
	return r;
}

void emit_store_pieces(Emit *e, const Place *p, LLVMValueRef ptr, const Expr *first, LLVMValueRef v)
{
	DType t = p->buf->type;
	int lanes = emit_lanes(v), n = emit_access_lanes(e, t, first, lanes);
	for (int k = 0; k < lanes; k += n) {
		LLVMValueRef now = LLVMBuildBitCast(e->b, part(e, v, k, n), access_type(e, t, n), "");
		LLVMSetAlignment(LLVMBuildStore(e->b, now, place_of(e, p, ptr, k)), (unsigned)(n * t.bits / 8));
	}
}
