/*
 * Stores of neighbouring columns, each of which would be gathered: a tile of a transpose. The rows that the columns
 * share are loaded instead, and turned in registers: m rows of m elements take m log m shuffles.
 *
 *	y[ramp(d0, 1, m)] = x[ramp(b, s, m)]                    r0 = x[b .. b + m), r1 = x[b + s .. b + s + m), ..
 *	y[ramp(d1, 1, m)] = x[ramp(b + 1, s, m)]          ->    r0 r1 .. turned
 *	..                                                      y[ramp(d0, 1, m)] = r0, y[ramp(d1, 1, m)] = r1, ..
 *
 * One turn pairs rows i and i + m/2: their elements in turns are rows 2i and 2i + 1. Of the bits of an element's row
 * and column, the top ones change places and come last, so log m of these exchange rows and columns.
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"

enum { TURN_MOST = 16, TURN_LEAST = 4 };

/* A column: where it goes, and from where its lanes come. */
typedef struct Column {
	const Place *from, *to;
	const Expr *base, *put;
	int64_t stride;
	int lanes;
} Column;

static bool read_column(Emit *e, const Stmt *s, Column *c)
{
	const Expr *stride;
	if (s == NULL || s->kind != ST_STORE || s->store.mask != NULL || s->store.dst.n != 1 ||
		s->store.value->op != IR_LOAD || s->store.value->type.lanes < TURN_LEAST)
		return false;
	const Expr *idx = s->store.dst.idx[0], *x = s->store.value;
	int64_t near;
	c->from = emit_place(e, x->name);
	c->to = emit_place(e, s->store.dst.buf);
	c->lanes = x->type.lanes;
	if (c->from->reg || c->to->reg || (c->from->buf->role != BUF_IN && c->from->buf->role != BUF_CONST) ||
		!dtype_eq(c->from->buf->type, c->to->buf->type) || x->type.bits < 8 || idx->type.lanes != c->lanes)
		return false;
	return emit_as_ramp(e, idx, &c->put, &stride) && ir_is_const(stride, 1) &&
		emit_as_ramp(e, x->arg[0], &c->base, &stride) && ir_is_int(stride, &c->stride) &&
		c->stride >= c->lanes && !emit_is_strided(stride, c->lanes, &near);
}

static LLVMValueRef zip(Emit *e, LLVMValueRef a, LLVMValueRef b, int m, int from)
{
	LLVMValueRef at[TURN_MOST];
	for (int k = 0; k < m; k++)
		at[k] = emit_int(e->i32, from + k / 2 + k % 2 * m);
	return LLVMBuildShuffleVector(e->b, a, b, LLVMConstVector(at, (unsigned)m), "");
}

static void turn(Emit *e, LLVMValueRef *row, int m)
{
	LLVMValueRef next[TURN_MOST];
	for (int left = m; left > 1; left /= 2) {
		for (int i = 0; i < m / 2; i++) {
			next[2 * i] = zip(e, row[i], row[i + m / 2], m, 0);
			next[2 * i + 1] = zip(e, row[i], row[i + m / 2], m, m / 2);
		}
		for (int i = 0; i < m; i++)
			row[i] = next[i];
	}
}

/* The first m columns: lanes k m .. k m + m of all of them are a square. */
static void turn_columns(Emit *e, const Column *c, int m)
{
	LLVMTypeRef one = emit_mem_type(e, dtype_scalar(c->from->buf->type)), t = emit_vector(one, m);
	unsigned align = c->from->buf->type.bits / 8u;
	LLVMValueRef first = emit_address(e, c->from, c[0].base);
	for (int at = 0; at < c->lanes; at += m) {
		LLVMValueRef row[TURN_MOST];
		for (int k = 0; k < m; k++) {
			LLVMValueRef by = emit_int(e->i64, (at + k) * c->stride);
			row[k] = LLVMBuildLoad2(e->b, t, LLVMBuildGEP2(e->b, one, first, &by, 1, ""), "");
			LLVMSetAlignment(row[k], align);
		}
		turn(e, row, m);
		for (int k = 0; k < m; k++) {
			LLVMValueRef by = emit_int(e->i64, at), to = emit_address(e, c->to, c[k].put);
			LLVMSetAlignment(LLVMBuildStore(e->b, row[k], LLVMBuildGEP2(e->b, one, to, &by, 1, "")), align);
		}
	}
}

int emit_turned(Emit *e, const Stmt *s)
{
	Column c[TURN_MOST];
	int64_t by;
	int n = 0, m = TURN_LEAST;
	if (e->device || e->mask != NULL || e->fn->kind == FN_SUB || !read_column(e, s, &c[0]))
		return 0;
	for (n = 1, s = s->next; n < TURN_MOST && read_column(e, s, &c[n]); n++, s = s->next)
		if (c[n].from != c->from || c[n].to != c->to || c[n].lanes != c->lanes || c[n].stride != c->stride ||
			!emit_is_apart(c[n].base, c->base, &by) || by != n)
			break;
	if (n < m)
		return 0;
	while (2 * m <= n && 2 * m <= c->lanes && 2 * m * c->from->buf->type.bits <= e->target->vector_bits)
		m *= 2;
	if (c->lanes % m != 0)
		return 0;
	turn_columns(e, c, m);
	return m;
}
