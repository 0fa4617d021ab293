/*
 * Stores of neighbouring columns, each of which would be gathered: a tile of a transpose. The rows that the columns
 * share are loaded instead, and turned in registers: m rows of m elements take m log m shuffles.
 *
 *	y[ramp(d0, 1, m)] = x[ramp(b, s, m)]                    r0 = x[b .. b + m), r1 = x[b + s .. b + s + m), ..
 *	y[ramp(d1, 1, m)] = x[ramp(b + 1, s, m)]          ->    r0 r1 .. turned
 *	..                                                      y[ramp(d0, 1, m)] = r0, y[ramp(d1, 1, m)] = r1, ..
 *
 * One turn pairs rows i and i + m/2: interleaved, they are rows 2i and 2i + 1. Of the bits of an element's row
 * and column, the top ones change places and come last, so log m of these exchange rows and columns.
 *
 * Short columns that are stored one behind the other, as the pixels of an image that depth becomes space of, are one
 * run of memory. Rows are then as long as a register, and log l turns of l rows interleave them; where l is no power of
 * two, each vector of the run takes its elements out of all rows.
 *
 *	y[ramp(d, 1, 2)] = x[ramp(b, s, 2)]                     r0 = x[b .. b + m), r1 = x[b + s .. b + s + m)
 *	y[ramp(d + 2, 1, 2)] = x[ramp(b + 1, s, 2)]       ->    y[ramp(d, 1, 2 m)] = r0 and r1 interleaved
 *
 * A tile's results whose lanes go to rows that lie apart, as filters of an image in rows, are columns of these rows.
 * Columns that are missing to a square are nothing, which a mask or shorter stores leave out of the rows. Rows of
 * lanes that a column's mask turns off are not stored.
 *
 *	y[ramp(d, s, m)] = v0                                   w0 w1 .. = v0 v1 .. turned
 *	y[ramp(d + 1, s, m)] = v1                         ->    y[ramp(d, 1, n)] = w0, y[ramp(d + s, 1, n)] = w1, ..
 */
#include "codegen/llvm/emit_mem.h"
#include "codegen/llvm/emit_num.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

enum { TURN_MOST = 16, TURN_LEAST = 4, RUN_LANES = 8 /* of columns that are one run */ };

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
		s->store.value->op != IR_LOAD || s->store.value->type.lanes < 2)
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

/* n rows of m elements, n a power of two. */
static void turn(Emit *e, LLVMValueRef *row, int n, int m)
{
	LLVMValueRef next[TURN_MOST];
	for (int left = n; left > 1; left /= 2) {
		for (int i = 0; i < n / 2; i++) {
			next[2 * i] = zip(e, row[i], row[i + n / 2], m, 0);
			next[2 * i + 1] = zip(e, row[i], row[i + n / 2], m, m / 2);
		}
		for (int i = 0; i < n; i++)
			row[i] = next[i];
	}
}

/* Interleaves n rows of m elements, n any number. */
static void mix(Emit *e, LLVMValueRef *row, int n, int m)
{
	LLVMValueRef next[RUN_LANES], at[TURN_MOST];
	for (int i = 0; i < n; i++) {
		next[i] = row[0];
		for (int r = 0; r < n; r++) {
			for (int k = 0; k < m; k++) {
				int from = (i * m + k) % n, column = (i * m + k) / n;
				at[k] = emit_int(e->i32, from == r ? m + column : r == 0 ? 0 : k);
			}
			next[i] = LLVMBuildShuffleVector(e->b, next[i], row[r], LLVMConstVector(at, (unsigned)m), "");
		}
	}
	for (int i = 0; i < n; i++)
		row[i] = next[i];
}

static LLVMValueRef load_row(Emit *e, const Column *c, int64_t k, int m)
{
	LLVMTypeRef one = emit_mem_type(e, dtype_scalar(c->from->buf->type));
	LLVMValueRef first = emit_address(e, c->from, c->base), by = emit_int(e->i64, k * c->stride);
	LLVMValueRef row = LLVMBuildLoad2(e->b, emit_vector(one, m), LLVMBuildGEP2(e->b, one, first, &by, 1, ""), "");
	LLVMSetAlignment(row, c->from->buf->type.bits / 8u);
	return row;
}

static void store_row(Emit *e, const Column *c, LLVMValueRef row, int64_t at)
{
	LLVMTypeRef one = emit_mem_type(e, dtype_scalar(c->to->buf->type));
	LLVMValueRef to = emit_address(e, c->to, c->put), by = emit_int(e->i64, at);
	LLVMSetAlignment(LLVMBuildStore(e->b, row, LLVMBuildGEP2(e->b, one, to, &by, 1, "")), c->to->buf->type.bits / 8u);
}

/* The first m columns: lanes k m .. k m + m of all of them are a square. */
static void turn_columns(Emit *e, const Column *c, int m)
{
	LLVMValueRef row[TURN_MOST];
	for (int at = 0; at < c->lanes; at += m) {
		for (int k = 0; k < m; k++)
			row[k] = load_row(e, c, at + k, m);
		turn(e, row, m, m);
		for (int k = 0; k < m; k++)
			store_row(e, &c[k], row[k], at);
	}
}

/* The first m columns, which are one run of memory. */
static void turn_run(Emit *e, const Column *c, int m)
{
	LLVMValueRef row[RUN_LANES];
	for (int k = 0; k < c->lanes; k++)
		row[k] = load_row(e, c, k, m);
	if ((c->lanes & (c->lanes - 1)) == 0)
		turn(e, row, c->lanes, m);
	else
		mix(e, row, c->lanes, m);
	for (int k = 0; k < c->lanes; k++)
		store_row(e, c, row[k], (int64_t)k * m);
}

int emit_turned(Emit *e, const Stmt *s)
{
	Column c[TURN_MOST];
	int64_t by;
	int n = 0, m = 1;
	if (e->device || e->mask != NULL || e->fn->kind == FN_SUB || !read_column(e, s, &c[0]))
		return 0;
	bool run = c->lanes <= RUN_LANES;
	for (n = 1, s = s->next; n < TURN_MOST && read_column(e, s, &c[n]); n++, s = s->next) {
		if (c[n].from != c->from || c[n].to != c->to || c[n].lanes != c->lanes || c[n].stride != c->stride ||
			!emit_is_apart(c[n].base, c->base, &by) || by != n)
			break;
		run &= emit_is_apart(c[n].put, c->put, &by) && by == (int64_t)n * c->lanes;
	}
	while (2 * m <= n && (run || 2 * m <= c->lanes) && 2 * m * c->from->buf->type.bits <= e->target->vector_bits)
		m *= 2;
	if (m < TURN_LEAST || (!run && c->lanes % m != 0))
		return 0;
	if (run)
		turn_run(e, c, m);
	else
		turn_columns(e, c, m);
	return m;
}

/* ---- Columns of results ---- */

enum { SPREAD_STORES = 64 /* of a tile, that are looked at together */, SPREAD_LEAST = 3 /* columns */ };

/* A store whose lanes go to rows that lie apart. */
typedef struct Spread {
	const Place *to;
	const Expr *idx, *put, *value;
	int64_t stride;
	int lanes, on; /* on: the first ones, which are stored */
	LLVMValueRef mask;
	bool done;
} Spread;

static void see_place(const Expr *x, void *arg)
{
	Spread *c = arg;
	c->done |= x->op == IR_LOAD && strcmp(x->name, c->to->buf->name) == 0;
}

static bool read_spread(Emit *e, const Stmt *s, Spread *c)
{
	const Expr *stride;
	if (s == NULL || s->kind != ST_STORE || s->store.dst.n != 1)
		return false;
	const Expr *idx = s->store.dst.idx[0], *mask = s->store.mask;
	if (mask != NULL && (mask->type.lanes != s->store.value->type.lanes || ir_has_load(mask)))
		return false;
	*c = (Spread){ .to = emit_place(e, s->store.dst.buf), .idx = idx, .value = s->store.value,
		.lanes = s->store.value->type.lanes };
	DType t = c->to->buf->type;
	bool plain = t.kind == DT_INT || t.kind == DT_UINT ? t.bits >= 8 : t.kind == DT_FLOAT && t.bits >= 32;
	if (c->to->reg || c->to->buf->role != BUF_OUT || !plain ||
		idx->type.lanes != c->lanes || c->lanes < TURN_LEAST || c->lanes > EMIT_PART_LANES)
		return false;
	ir_each_node(c->value, see_place, c);
	c->mask = mask != NULL ? emit_expr(e, mask) : NULL;
	c->on = emit_first_lanes(c->mask, c->lanes);
	return !c->done && c->on > 0 && emit_as_ramp(e, idx, &c->put, &stride) && ir_is_int(stride, &c->stride) &&
		c->stride >= TURN_MOST;
}

static LLVMValueRef lanes_from(Emit *e, LLVMValueRef v, int from, int m)
{
	LLVMValueRef at[TURN_MOST];
	for (int k = 0; k < m; k++)
		at[k] = emit_int(e->i32, from + k);
	return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(at, (unsigned)m), "");
}

/* The first n elements of a row of m. */
static void store_part(Emit *e, const Spread *c, LLVMValueRef row, int64_t at, int n, int m)
{
	LLVMValueRef by = emit_int(e->i64, at), on[TURN_MOST];
	LLVMTypeRef one = emit_mem_type(e, dtype_scalar(c->to->buf->type));
	LLVMValueRef to = LLVMBuildGEP2(e->b, one, emit_address(e, c->to, c->put), &by, 1, "");
	unsigned align = c->to->buf->type.bits / 8u;
	if (n == m) {
		LLVMSetAlignment(LLVMBuildStore(e->b, row, to), align);
		return;
	}
	if (!target_has(e->target, FEATURE_AVX512VL)) {
		emit_store_first(e, c->to->buf->type, row, to, n);
		return;
	}
	for (int k = 0; k < m; k++)
		on[k] = LLVMConstInt(e->i1, k < n, false);
	LLVMValueRef arg[4] = { row, to, emit_int(e->i32, align), LLVMConstVector(on, (unsigned)m) };
	LLVMTypeRef over[2] = { LLVMTypeOf(row), LLVMTypeOf(to) };
	emit_intrinsic(e, "llvm.masked.store", over, 2, arg, 4);
}

/* What a column stores: lanes that are off load nothing. */
static LLVMValueRef value_of(Emit *e, const Spread *c)
{
	e->mask = c->mask;
	LLVMValueRef v = emit_expr(e, c->value);
	e->mask = e->some = NULL;
	return v;
}

/* n columns, rows of which are a square of m with what is missing. */
static void spread_columns(Emit *e, Spread *const *c, int n, int m)
{
	LLVMValueRef all[TURN_MOST], row[TURN_MOST];
	for (int k = 0; k < n; k++)
		all[k] = value_of(e, c[k]);
	for (int at = 0; at < c[0]->on; at += m) {
		for (int k = 0; k < m; k++)
			row[k] = k < n ? lanes_from(e, all[k], at, m) : LLVMGetPoison(LLVMTypeOf(row[0]));
		turn(e, row, m, m);
		for (int k = 0; k < m && at + k < c[0]->on; k++)
			store_part(e, c[0], row[k], (at + k) * c[0]->stride, n, m);
	}
}

int emit_spread(Emit *e, const Stmt *s)
{
	Spread all[SPREAD_STORES], *c[TURN_MOST];
	int count = 0;
	bool any = false;
	if (e->device || e->mask != NULL || e->fn->kind == FN_SUB)
		return 0;
	for (; count < SPREAD_STORES && read_spread(e, s, &all[count]) && all[count].to == all[0].to &&
		all[count].stride == all[0].stride && all[count].lanes == all[0].lanes; count++)
		s = s->next;
	for (int done = 0, n; done < count; done += n) {
		int head = 0, m = 1;
		while (all[head].done)
			head++;
		DType t = all[head].to->buf->type;
		c[0] = &all[head];
		n = 1;
		for (int k = head + 1; k < count && n < TURN_MOST; k++) {
			int64_t by;
			if (!all[k].done && all[k].on == all[head].on && emit_is_apart(all[k].put, all[head].put, &by) && by == n)
				c[n++] = &all[k];
		}
		while (m < n && 2 * m <= all[head].lanes && 2 * m * t.bits <= e->target->vector_bits)
			m *= 2;
		n = n > m ? m : n;
		bool turns = n >= SPREAD_LEAST && m >= TURN_LEAST && all[head].lanes % m == 0;
		if (!turns && !any)
			return 0;
		n = turns ? n : 1;
		any = true;
		if (turns)
			spread_columns(e, c, n, m);
		else
			emit_store(e, all[head].to->buf->name, all[head].idx, value_of(e, &all[head]), all[head].mask);
		for (int k = 0; k < n; k++)
			c[k]->done = true;
		emit_forget(e, 0);
		emit_forget_loads(e);
	}
	return count;
}
