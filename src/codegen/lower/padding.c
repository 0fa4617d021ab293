/*
 * Padding of the set's out buffers. 24 channels in blocks of 16 leave 8 lanes that no logical index reaches; they
 * must be zero when a tensor leaves the set. Where a kernel writes the last block with vectors of a whole block,
 * masked to the lanes there are, it stores zeros in the other lanes, and nothing else is done. Otherwise the
 * padding is zeroed first: the lanes alone where one dimension is blocked, the whole buffer for any other map.
 *
 * Law of the first way: every logical element is written, so the last one of the blocked dimension is written at
 * each place. If every store that may write it is such a vector, every lane behind it is written as well.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

/* An out buffer of which dimension `dim`, of n elements, lies in blocks. */
typedef struct Blocked {
	const Buf *buf;
	int dim, outer, inner; /* logical; physical ones of block and lane */
	int64_t n, block;
	bool vectors; /* every store seen so far fits the law */
	int whole;    /* stores that zero what is behind the last element */
} Blocked;

static int variable_of(const Buf *b, const Expr *e)
{
	for (int k = 0; e->op == IR_VAR && k < b->map.nvar; k++)
		if (b->map.var[k] == e->name)
			return k;
	return -1;
}

/* True if all physical dimensions are logical ones but for one that lies in constant blocks. */
static bool find_blocks(Lower *l, const Buf *b, Blocked *out)
{
	int64_t blocks, lanes;
	*out = (Blocked){ .buf = b, .dim = -1, .outer = -1, .inner = -1, .vectors = true };
	for (int k = 0; k < b->map.n; k++) {
		const Expr *e = b->map.at[k];
		int v = variable_of(b, e);
		if (v >= 0 && b->map.extent[k] == b->shape[v])
			continue;
		bool div = e->op == IR_DIV, mod = e->op == IR_MOD;
		if ((!div && !mod) || (div ? out->outer : out->inner) >= 0)
			return false;
		v = variable_of(b, e->arg[0]);
		if (v < 0 || (out->dim >= 0 && out->dim != v) || !ir_is_int(e->arg[1], &out->block))
			return false;
		out->dim = v;
		*(div ? &out->outer : &out->inner) = k;
	}
	if (out->outer < 0 || out->inner < 0 || out->block < 2 ||
		b->map.at[out->outer]->arg[1] != b->map.at[out->inner]->arg[1])
		return false;
	return ir_is_int(ir_simplify(l->ir, b->shape[out->dim], NULL), &out->n) &&
	       ir_is_int(ir_simplify(l->ir, b->map.extent[out->inner], NULL), &lanes) &&
	       ir_is_int(ir_simplify(l->ir, b->map.extent[out->outer], NULL), &blocks) && lanes == out->block &&
	       blocks == (out->n + out->block - 1) / out->block && out->n % out->block != 0;
}

/* Stores a whole block of the blocked dimension, at one place of the others, masked to the elements that are there. */
static bool zeroes_rest(Lower *l, const Blocked *b, const Stmt *s, const Range *env)
{
	const Access *d = &s->store.dst;
	const Expr *i = d->idx[b->dim];
	if (s->store.mask == NULL || i->op != IR_RAMP || i->type.lanes != b->block || !ir_is_const(i->arg[1], 1))
		return false;
	for (int k = 0; k < d->n; k++)
		if (k != b->dim && d->idx[k]->type.lanes != 1 && d->idx[k]->op != IR_SPLAT)
			return false;
	Interval at = ir_interval(i->arg[0], env);
	if (at.mod % b->block != 0 || at.rem % b->block != 0)
		return false;
	const Expr *there = ir_lt(l->ir, i, ir_splat(l->ir, ir_int(l->ir, b->n), i->type.lanes));
	return ir_simplify(l->ir, there, env) == ir_simplify(l->ir, s->store.mask, env);
}

static void check(Lower *l, Blocked *b, Stmt *s, const Range *env, bool change)
{
	bool zeroes = zeroes_rest(l, b, s, env);
	if (change && zeroes) {
		const Expr *v = s->store.value, *i = s->store.dst.idx[b->dim];
		s->store.value = ir_select(l->ir, s->store.mask, v, ir_const(l->ir, v->type, 0));
		/* Where a tile is of several blocks, the last may lie behind the buffer. */
		int64_t there = (b->n + b->block - 1) / b->block * b->block;
		const Expr *mask = ir_lt(l->ir, i, ir_splat(l->ir, ir_int(l->ir, there), i->type.lanes));
		mask = ir_simplify(l->ir, mask, env);
		s->store.mask = ir_always(mask, env) ? NULL : mask;
	} else if (zeroes) {
		b->whole++;
	} else if (ir_interval(s->store.dst.idx[b->dim], env).hi >= b->n / b->block * b->block) {
		b->vectors = false;
	}
}

/* Looks at the stores to the buffer, or changes those that shall zero the rest of their block. */
static void walk(Lower *l, Blocked *b, Stmt *s, const Range *env, bool change)
{
	for (; s != NULL; s = s->next) {
		if (s->kind == ST_FOR) {
			walk(l, b, s->loop.body, lower_range(l, s, false, env), change);
		} else if (s->kind == ST_IF) {
			walk(l, b, s->branch.then, lower_range(l, s, false, env), change);
			walk(l, b, s->branch.other, lower_range(l, s, true, env), change);
		} else if (s->kind == ST_LET) {
			env = lower_range(l, s, false, env);
		} else if (s->kind == ST_STORE && s->store.dst.buf == b->buf->name) {
			check(l, b, s, env, change);
		} else if (s->kind == ST_REDUCE) {
			for (int k = 0; k < s->reduce.n; k++)
				if (s->reduce.dst[k].buf == b->buf->name)
					b->vectors = false;
		} else if (s->kind == ST_CALL) {
			for (int k = 0; k < s->call.n; k++)
				if (s->call.arg[k].buf == b->buf->name)
					b->vectors = false;
		}
	}
}

static Stmt *zero_at(Lower *l, const Buf *b, const Expr *at)
{
	Stmt *s = ir_stmt(l->ir, ST_STORE);
	s->store.dst = (Access){ b->name, 1, arena_copy(l->arena, &at, sizeof at) };
	s->store.value = ir_const(l->ir, dtype_vector(b->type, at->type.lanes), 0);
	return s;
}

/* Zeros behind the last element, one vector for each place. */
static Stmt *zero_lanes(Lower *l, const Blocked *b)
{
	Ir *ir = l->ir;
	const Expr *at = NULL, *lane = NULL;
	const char **var = arena_array(l->arena, const char *, b->buf->map.n);
	int lanes = (int)(b->block - b->n % b->block), outermost = -1;
	for (int k = 0; k < b->buf->map.n; k++) {
		const Expr *i;
		if (k == b->outer)
			i = ir_int(ir, b->n / b->block);
		else if (k == b->inner)
			i = ir_int(ir, b->n % b->block);
		else
			i = ir_idx(ir, var[k] = ir_fresh_name(ir, "pad"));
		const Expr *extent = b->buf->map.extent[k];
		at = at == NULL ? i : ir_add(ir, ir_mul(ir, at, extent), i);
		lane = lane == NULL || k == b->inner ? ir_int(ir, 1) : ir_mul(ir, lane, extent);
		if (outermost < 0 && var[k] != NULL && !ir_is_const(extent, 1))
			outermost = k;
	}
	Stmt *s = zero_at(l, b->buf, ir_ramp(ir, at, lane, lanes));
	for (int k = b->buf->map.n - 1; k >= 0; k--)
		if (var[k] != NULL)
			s = ir_for(
				ir, var[k], ir_int(ir, 0), b->buf->map.extent[k], k == outermost ? LOOP_PARALLEL : LOOP_SERIAL, s);
	return s;
}

static Stmt *zero_all(Lower *l, const Buf *b)
{
	const char *var = ir_fresh_name(l->ir, "pad");
	const Expr *i = ir_idx(l->ir, var), *n = ir_int(l->ir, 1);
	for (int k = 0; k < b->map.n; k++)
		n = ir_mul(l->ir, n, b->map.extent[k]);
	LoopKind kind = b->type.bits < 8 ? LOOP_SERIAL : LOOP_PARALLEL; /* neighbours share a byte */
	return ir_for(l->ir, var, ir_int(l->ir, 0), n, kind, zero_at(l, b, i));
}

Stmt *lower_padding(Lower *l, const Buf *b)
{
	const Range *env = ir_range_fn(l->ir, l->fn);
	Blocked blocked;
	if (b->type.bits < 8 || !find_blocks(l, b, &blocked))
		return zero_all(l, b);
	walk(l, &blocked, l->fn->body, env, false);
	int writers = 0;
	for (size_t k = 0; k < l->ks->n; k++)
		for (int j = 0; j < l->ks->fn[k]->nparam; j++) {
			const Buf *p = l->ks->fn[k]->param[j].buf;
			writers += p != NULL && p->name == b->name && p->role == BUF_OUT && l->ks->fn[k]->kind != FN_SUB;
		}
	if (writers != 1 || !blocked.vectors || blocked.whole == 0)
		return zero_lanes(l, &blocked);
	walk(l, &blocked, l->fn->body, env, true);
	return NULL;
}
