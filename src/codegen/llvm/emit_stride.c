/*
 * Lanes that lie a few elements apart, or backwards: the rows of memory from the first lane to the last one are loaded,
 * and shuffles take the lanes out of them. A gather asks for each lane alone; Zen 4 takes 1.5 cycles for one, and for
 * elements of 8 and 16 bits there is no instruction. No row begins before the first lane or ends behind the last one,
 * so that what is read is the buffer's.
 *
 *	x[b + 2 * lane], 4 lanes:   r = x[b .. b + 4), s = x[b + 3 .. b + 7)   ->   r0 r2 s1 s3
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"

#include <stdlib.h>

/* Farther apart, a row gives too few lanes. */
enum { STRIDE_MOST = 8 };

bool emit_is_strided(const Expr *stride, int lanes, int64_t *n)
{
	if (!ir_is_int(stride, n) || *n == 0 || llabs(*n) > STRIDE_MOST || lanes > EMIT_PART_LANES)
		return false;
	return *n == -1 || llabs(*n) * 2 <= lanes;
}

typedef struct Rows {
	Emit *e;
	const Place *place;
	LLVMTypeRef one;    /* element in memory */
	int64_t stride;
	int lanes;          /* of a row, and of the result */
	LLVMValueRef first; /* address of the lowest element */
	LLVMValueRef mask;  /* of the lanes; NULL: all are on */
} Rows;

/* Where lane k lies behind the lowest element. */
static int place_of(const Rows *r, int k)
{
	return (int)(r->stride > 0 ? r->stride * k : r->stride * (k - (r->lanes - 1)));
}

/* The elements of the row that are lanes, as a mask; the others are not read. */
static LLVMValueRef row_mask(const Rows *r, int from)
{
	LLVMValueRef at[EMIT_PART_LANES], off = LLVMConstNull(LLVMTypeOf(r->mask));
	for (int i = 0; i < r->lanes; i++) {
		int lane = r->lanes;
		for (int k = 0; k < r->lanes; k++)
			lane = place_of(r, k) == from + i ? k : lane;
		at[i] = emit_int(r->e->i32, lane);
	}
	return LLVMBuildShuffleVector(r->e->b, r->mask, off, LLVMConstVector(at, (unsigned)r->lanes), "");
}

static LLVMValueRef load_row(const Rows *r, int from)
{
	Emit *e = r->e;
	LLVMTypeRef t = emit_vector(r->one, r->lanes);
	LLVMValueRef by = emit_int(e->i64, from), ptr = LLVMBuildGEP2(e->b, r->one, r->first, &by, 1, "");
	unsigned align = r->place->buf->type.bits / 8u;
	if (r->mask == NULL) {
		LLVMValueRef v = LLVMBuildLoad2(e->b, t, ptr, "");
		LLVMSetAlignment(v, align);
		return v;
	}
	LLVMTypeRef over[2] = { t, LLVMTypeOf(ptr) };
	LLVMValueRef arg[4] = { ptr, emit_int(e->i32, align), row_mask(r, from), LLVMConstNull(t) };
	return emit_intrinsic(e, "llvm.masked.load", over, 2, arg, 4);
}

/* Lane k of the sum so far where it is known, else the row's element if that is the lane. */
static LLVMValueRef take_lanes(const Rows *r, LLVMValueRef sum, LLVMValueRef row, int from, bool *known)
{
	LLVMValueRef at[EMIT_PART_LANES];
	for (int k = 0; k < r->lanes; k++) {
		int i = place_of(r, k) - from;
		bool here = !known[k] && i >= 0 && i < r->lanes;
		at[k] = emit_int(r->e->i32, here ? r->lanes + i : k);
		known[k] |= here;
	}
	return LLVMBuildShuffleVector(r->e->b, sum, row, LLVMConstVector(at, (unsigned)r->lanes), "");
}

static LLVMValueRef load_lanes(const Rows *r)
{
	int span = (int)llabs(r->stride) * (r->lanes - 1) + 1;
	bool known[EMIT_PART_LANES] = { false };
	LLVMValueRef v = LLVMGetPoison(emit_vector(r->one, r->lanes));
	for (int from = 0;; from += r->lanes) {
		from = from + r->lanes > span ? span - r->lanes : from;
		v = take_lanes(r, v, load_row(r, from), from, known);
		if (from + r->lanes == span)
			return v;
	}
}

/* Lanes from, from + 1, .. of a vector. */
static LLVMValueRef part(Emit *e, LLVMValueRef v, int from, int lanes)
{
	LLVMValueRef at[EMIT_PART_LANES];
	for (int k = 0; k < lanes; k++)
		at[k] = emit_int(e->i32, from + k);
	return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(at, (unsigned)lanes), "");
}

/* Lanes at.. of v, of a part's lanes. */
static LLVMValueRef put_part(Emit *e, LLVMValueRef v, LLVMValueRef piece, int from)
{
	int lanes = emit_lanes(v), width = emit_lanes(piece);
	LLVMValueRef at[EMIT_PART_LANES], wide;
	for (int k = 0; k < lanes; k++)
		at[k] = k < width ? emit_int(e->i32, k) : LLVMGetPoison(e->i32);
	wide = LLVMBuildShuffleVector(e->b, piece, LLVMGetPoison(LLVMTypeOf(piece)),
		LLVMConstVector(at, (unsigned)lanes), "");
	for (int k = 0; k < lanes; k++)
		at[k] = emit_int(e->i32, k < from || k >= from + width ? k : lanes + k - from);
	return LLVMBuildShuffleVector(e->b, v, wide, LLVMConstVector(at, (unsigned)lanes), "");
}

/*
 * Shuffles stay within registers: LLVM takes those of more than two apart, lane by lane. The last part may take some
 * lanes again.
 */
LLVMValueRef emit_load_strided(Emit *e, const Place *p, const Expr *base, int64_t stride, int lanes)
{
	LLVMTypeRef one = emit_mem_type(e, dtype_scalar(p->buf->type));
	int width = e->target->vector_bits / p->buf->type.bits;
	LLVMValueRef mask = e->mask != NULL ? emit_mask_lanes(e, e->mask, lanes) : NULL, v = NULL;
	LLVMValueRef first = emit_address(e, p, base);
	width = width < 2 || width > lanes ? lanes : width;
	for (int at = 0; at < lanes; at += width) {
		at = at + width > lanes ? lanes - width : at;
		int64_t lowest = stride > 0 ? stride * at : stride * (at + width - 1);
		LLVMValueRef by = emit_int(e->i64, lowest);
		Rows r = { e, p, one, stride, width, LLVMBuildGEP2(e->b, one, first, &by, 1, ""),
			mask == NULL || width == lanes ? mask : part(e, mask, at, width) };
		LLVMValueRef piece = load_lanes(&r);
		if (width == lanes)
			return piece;
		v = put_part(e, v == NULL ? LLVMGetPoison(emit_vector(one, lanes)) : v, piece, at);
	}
	return v;
}
