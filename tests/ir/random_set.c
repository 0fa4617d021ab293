/*
 * Random kernel sets: a Fn is a list of stages, each of which computes one buffer completely from
 * those before it, in one of a dozen manners (plain loops, blocks, reductions, scans, vectors,
 * calls, threads), under loops that are split, guarded, shifted and of every kind.
 */
#include "ir/random_nest.h"
#include "ir/build.h"

/* ---- manners of computing b; false: this one does not fit it ---- */

/* An innermost loop over the last dimension may be a vector one: nothing but a store is in it. */
static void vectorize(Maker *m, Nest *nest)
{
	Stmt *last = nest->n > 0 ? nest->loop[nest->n - 1] : NULL;
	if (last != NULL && last->loop.lo->op == IR_INT && last->loop.hi->op == IR_INT &&
		rnd_below(m, 3) == 0)
		last->loop.kind = LOOP_VECTOR;
}

static bool has_fixed_rows(const Buf *b)
{
	return b->rank > 0 && b->shape[b->rank - 1]->op == IR_INT;
}

/* Stores e in the element, one way or another. */
static Stmt *some_store(Maker *m, const Buf *b, const Expr *const *idx, const Expr *e)
{
	Ir *ir = m->ir;
	int n = b->rank;
	const Expr *c = rnd_value(m, BOOL, idx, n, 2), *other = rnd_value(m, b->type, idx, n, 2);
	Stmt *s = ir_store(ir, b, idx, n, e), *let;
	switch (rnd_below(m, 4)) {
	case 0: return ir_if(ir, c, s, ir_store(ir, b, idx, n, other));
	case 1:
		s->store.mask = c;
		s->next = ir_store(ir, b, idx, n, other);
		s->next->store.mask = ir_unary(ir, IR_NOT, c);
		return s;
	case 2:
		let = ir_let(ir, rnd_fresh(m, "v"), e);
		e = ir_select(ir, c, ir_var(ir, let->let.var, e->type), other);
		return ir_seq(let, ir_store(ir, b, idx, n, e));
	default: return s;
	}
}

/* A hint of a place that need not be one of the buffer's. */
static Stmt *some_prefetch(Maker *m, const Nest *nest, const Buf *b)
{
	Ir *ir = m->ir;
	const Expr *at[IR_MAX_RANK];
	for (int k = 0; k < b->rank; k++)
		at[k] = ir_add(ir, ir_mul(ir, nest->idx[rnd_below(m, b->rank)], ir_int(ir, rnd_below(m, 5) - 1)),
			ir_int(ir, rnd_below(m, 100) - 50));
	return ir_prefetch(ir, b, at, b->rank);
}

static bool plain(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	Nest nest;
	Stmt *lets = NULL;
	rnd_open(m, &nest, b, b->rank);
	for (int k = 0; k < b->rank; k++)
		if (nest.idx[k]->op != IR_VAR && rnd_below(m, 2) == 0) {
			Stmt *let = ir_let(ir, rnd_fresh(m, "p"), nest.idx[k]);
			lets = ir_seq(lets, let);
			nest.idx[k] = ir_idx(ir, let->let.var);
		}
	Stmt *s = some_store(m, b, nest.idx, rnd_value(m, b->type, nest.idx, b->rank, 4));
	if (!rnd_shares_bytes(b->type))
		vectorize(m, &nest);
	if (rnd_below(m, 4) == 0)
		s = ir_seq(some_prefetch(m, &nest, b), s);
	rnd_emit(m, rnd_close(m, &nest, ir_seq(lets, s)));
	return true;
}

/* Spatial iterators over b, bound to the nest; their variables go to idx. */
static int iterators(Maker *m, const Buf *b, const Nest *nest, int dims, Iter *it, const Expr **idx)
{
	for (int k = 0; k < dims; k++) {
		it[k] = (Iter){ rnd_fresh(m, "v"), ITER_SPATIAL, ir_int(m->ir, 0), b->shape[k],
			nest->idx[k] };
		idx[k] = ir_idx(m->ir, it[k].name);
	}
	return dims;
}

static Stmt *block_of(Maker *m, const Nest *nest, const Iter *it, int n, Stmt *init, Stmt *body)
{
	return ir_block(m->ir, rnd_fresh(m, "b"), it, n, nest->guard, init, body);
}

/* The guard becomes the block's predicate. */
static Stmt *close_block(Maker *m, Nest *nest, Stmt *block)
{
	nest->guard = NULL;
	return rnd_close(m, nest, block);
}

static bool in_block(Maker *m, Buf *b)
{
	Nest nest;
	Iter it[IR_MAX_RANK];
	const Expr *idx[IR_MAX_RANK];
	rnd_open(m, &nest, b, b->rank);
	iterators(m, b, &nest, b->rank, it, idx);
	Stmt *s = ir_store(m->ir, b, idx, b->rank, rnd_value(m, b->type, idx, b->rank, 4));
	rnd_emit(m, close_block(m, &nest, block_of(m, &nest, it, b->rank, NULL, s)));
	return true;
}

static const char *monoid_for(Maker *m, DType t)
{
	static const char *const number[] = { "max", "min", "sum", "prod" };
	static const char *const logic[] = { "and", "or" };
	if (t.kind == DT_BOOL)
		return logic[rnd_below(m, 2)];
	return number[rnd_below(m, 4)];
}

/* A reduction over one or two further loops, which may lie anywhere among the spatial ones. */
static bool reduction(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	Nest nest;
	Iter it[IR_MAX_RANK + 2];
	const Expr *idx[IR_MAX_RANK + 2];
	rnd_open(m, &nest, b, b->rank);
	int n = iterators(m, b, &nest, b->rank, it, idx), spatial = nest.n;
	const Expr *length = rnd_extent(m);
	it[n] = (Iter){ rnd_fresh(m, "r"), ITER_REDUCE, ir_int(ir, 0), length,
		rnd_loops(m, &nest, length, true) };
	idx[n] = ir_idx(ir, it[n].name);
	if (spatial > 0 && nest.n == spatial + 1 && rnd_below(m, 3) == 0) { /* outermost */
		Stmt *last = nest.loop[spatial];
		for (int i = spatial; i > 0; i--)
			nest.loop[i] = nest.loop[i - 1];
		nest.loop[0] = last;
	}
	Stmt *init = ir_store(ir, b, idx, b->rank, rnd_value(m, b->type, idx, b->rank, 1));
	Stmt *s = ir_reduce(
		ir, monoid_for(m, b->type), b, idx, b->rank, rnd_value(m, b->type, idx, n + 1, 3));
	if (rnd_below(m, 4) == 0)
		s->reduce.mask = rnd_value(m, BOOL, idx, n + 1, 2);
	rnd_emit(m, close_block(m, &nest, block_of(m, &nest, it, n + 1, init, s)));
	return true;
}

/* Zeros first, then into them, without blocks; atomically from parallel loops if allowed. */
static bool accumulation(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	Nest nest;
	rnd_open(m, &nest, b, b->rank);
	rnd_emit(m,
		rnd_close(m, &nest, ir_store(ir, b, nest.idx, b->rank, ir_const(ir, b->type, 0))));
	bool atomic = rnd_may(m, RANDOM_THREADS, 60) && b->type.bits >= 32 && dtype_is_int(b->type);
	nest = (Nest){ 0 };
	const Expr *k = rnd_loops(m, &nest, ir_int(ir, 1 + rnd_below(m, 9)), true),
		   *idx[IR_MAX_RANK];
	if (atomic)
		nest.loop[0]->loop.kind = LOOP_PARALLEL;
	for (int i = 0; i < b->rank; i++)
		idx[i] = ir_mod(ir, rnd_value(m, I64, &k, 1, 1), b->shape[i]);
	Stmt *s = ir_reduce(
		ir, monoid_for(m, b->type), b, idx, b->rank, rnd_value(m, b->type, &k, 1, 3));
	s->reduce.atomic = atomic;
	rnd_emit(m, rnd_close(m, &nest, s));
	return true;
}

/* Element 0 of the last dimension, then each from the one before it. */
static bool scan(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	Nest nest;
	if (b->rank == 0)
		return false;
	Iter it[IR_MAX_RANK];
	const Expr *idx[IR_MAX_RANK], *before[IR_MAX_RANK];
	int last = b->rank - 1;
	rnd_open(m, &nest, b, last);
	nest.idx[last] = ir_int(ir, 0);
	rnd_emit(m, rnd_close(m, &nest,
			    ir_store(ir, b, nest.idx, b->rank,
				    rnd_value(m, b->type, nest.idx, last, 2))));
	rnd_open(m, &nest, b, last);
	iterators(m, b, &nest, last, it, idx);
	const Expr *t = rnd_loop(m, &nest, ir_int(ir, 1), b->shape[last], LOOP_SERIAL);
	it[last] = (Iter){ rnd_fresh(m, "s"), ITER_SCAN, ir_int(ir, 1), b->shape[last], t };
	idx[last] = ir_idx(ir, it[last].name);
	for (int k = 0; k < last; k++)
		before[k] = idx[k];
	before[last] = ir_sub(ir, idx[last], ir_int(ir, 1));
	const Expr *old = ir_load(ir, b, before, b->rank);
	const Expr *e = ir_select(ir, rnd_value(m, BOOL, idx, b->rank, 2), old,
		rnd_value(m, b->type, idx, b->rank, 2));
	Stmt *s = ir_store(ir, b, idx, b->rank, e);
	rnd_emit(m, close_block(m, &nest, block_of(m, &nest, it, b->rank, NULL, s)));
	return true;
}

/* The last dimension as one vector value. */
static bool vectors(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	Nest nest;
	int last = b->rank - 1;
	if (!has_fixed_rows(b) || b->shape[last]->i < 2 || !rnd_may(m, RANDOM_VECTORS, 100))
		return false;
	int lanes = (int)b->shape[last]->i;
	rnd_open(m, &nest, b, last);
	nest.idx[last] = ir_ramp(ir, ir_int(ir, 0), ir_int(ir, 1), lanes);
	DType t = dtype_vector(b->type, lanes);
	Stmt *s = ir_store(ir, b, nest.idx, b->rank, rnd_value(m, t, nest.idx, last, 3));
	rnd_emit(m, rnd_close(m, &nest, s));
	return true;
}

/* (value, place) pairs; the greater value wins, of equal ones the first place. */
static const Monoid *best_monoid(Maker *m, DType t)
{
	static const char *const names[] = { "av", "ai", "bv", "bi" };
	Ir *ir = m->ir;
	Arena *a = ir_arena(ir);
	const Expr *v[4];
	Monoid *best = arena_new_of(a, Monoid);
	*best = (Monoid){ rnd_fresh(m, "best"), true, 2, arena_array(a, DType, 2),
		arena_array(a, const char *, 2), arena_array(a, const char *, 2),
		arena_array(a, const Expr *, 2), arena_array(a, const Expr *, 2) };
	for (int i = 0; i < 4; i++) {
		best->type[i % 2] = i % 2 == 0 ? t : I64;
		(i < 2 ? best->left : best->right)[i % 2] = ir_name(ir, names[i]);
		v[i] = ir_var(ir, names[i], best->type[i % 2]);
	}
	const Expr *first = ir_and(ir, ir_eq(ir, v[0], v[2]), ir_lt(ir, v[3], v[1]));
	const Expr *less = ir_binary(ir, IR_OR, ir_lt(ir, v[0], v[2]), first);
	best->identity[0] = ir_builtin_monoid(ir, "max", t)->identity[0];
	best->identity[1] = ir_int(ir, INT64_MAX);
	best->combine[0] = ir_select(ir, less, v[2], v[0]);
	best->combine[1] = ir_select(ir, less, v[3], v[1]);
	ir_set_add_monoid(m->ks, best);
	return best;
}

/* The greatest of some values and where it was. */
static bool pairs(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	Arena *a = ir_arena(ir);
	Nest nest = { 0 };
	const Expr *length = rnd_extent(m), *zero[IR_MAX_RANK];
	if (b->type.kind == DT_BOOL || !rnd_may(m, RANDOM_CALLS, 100))
		return false;
	const Monoid *best = best_monoid(m, b->type);
	Buf *at = rnd_target(m, false, I64, 0);
	b->map = (IndexMap){ 0 };
	for (int k = 0; k < b->rank; k++)
		zero[k] = ir_sub(ir, b->shape[k] = ir_int(ir, 1), ir_int(ir, 1)); /* one element */
	Iter it = { rnd_fresh(m, "r"), ITER_REDUCE, ir_int(ir, 0), length,
		rnd_loops(m, &nest, length, true) };
	const Expr *r = ir_idx(ir, it.name);
	Stmt *init = ir_store(ir, b, zero, b->rank, best->identity[0]);
	init->next = ir_store(ir, at, NULL, 0, best->identity[1]);
	Stmt *s = ir_stmt(ir, ST_REDUCE);
	s->reduce.monoid = best->name;
	s->reduce.n = 2;
	s->reduce.dst = arena_array(a, Access, 2);
	s->reduce.dst[0] = init->store.dst;
	s->reduce.dst[1] = init->next->store.dst;
	s->reduce.value = arena_array(a, const Expr *, 2);
	s->reduce.value[0] = rnd_value(m, b->type, &r, 1, 3);
	s->reduce.value[1] = r;
	rnd_emit(m, close_block(m, &nest, block_of(m, &nest, &it, 1, init, s)));
	rnd_readable(m, at);
	return true;
}

/* sub fn(k: i64, x: in [n], y: out [n]) with y an expression of all x, k and the index. */
static const char *row_fn(Maker *m, const Buf *x, const Buf *y, int64_t n)
{
	Ir *ir = m->ir;
	Fn *sub = ir_fn(ir, rnd_fresh(m, "sub"), FN_SUB);
	Buf *px = ir_buf(ir, rnd_fresh(m, "x"), BUF_IN, x->type, x->scope, &n, 1);
	Buf *py = ir_buf(ir, rnd_fresh(m, "y"), BUF_OUT, y->type, y->scope, &n, 1);
	const char *k = rnd_fresh(m, "k"), *var = rnd_fresh(m, "l");
	ir_fn_add_scalar(ir, sub, k, I64);
	ir_fn_add_buf(ir, sub, px);
	ir_fn_add_buf(ir, sub, py);
	Param known[3] = { { NULL, k, I64 }, { NULL, var, I64 }, { px, px->name, px->type } };
	const Expr *l = ir_idx(ir, var);
	const Expr *e = random_expr(m->rng, ir, m->allow, y->type, known, 3, 4);
	sub->body = ir_for(ir, var, ir_int(ir, 0), ir_int(ir, n),
		rnd_kind(m, rnd_shares_bytes(y->type)), ir_store(ir, py, &l, 1, e));
	ir_set_add(m->ks, sub);
	return sub->name;
}

/* Readable, with a last dimension of at least n. */
static const Buf *with_rows(Maker *m, int64_t n)
{
	const Buf *found = NULL;
	for (size_t i = 0; i < m->readable.n; i++) {
		const Buf *c = m->readable.at[i].buf;
		const Expr *last = c != NULL && c->rank > 0 ? c->shape[c->rank - 1] : NULL;
		if (last != NULL && last->op == IR_INT && last->i >= n)
			found = c;
	}
	return found;
}

/* Row `at` of b, n elements from `start` on. */
static CallArg row(Maker *m, const Buf *b, const Expr *const *at, int64_t start, int64_t n)
{
	Arena *a = ir_arena(m->ir);
	int last = b->rank - 1;
	CallArg arg = { .buf = b->name, .n = b->rank };
	arg.idx = arena_array(a, const Expr *, b->rank);
	arg.len = arena_array(a, const Expr *, b->rank);
	for (int k = 0; k < last; k++)
		arg.idx[k] = at[k];
	arg.idx[last] = ir_int(m->ir, start);
	arg.len[last] = ir_int(m->ir, n);
	return arg;
}

/* A sub Fn that computes rows of b from rows of something readable. */
static bool by_call(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	int last = b->rank - 1;
	if (!has_fixed_rows(b) || !rnd_may(m, RANDOM_CALLS, 100))
		return false;
	int64_t n = b->shape[last]->i;
	const Buf *x = with_rows(m, n);
	if (x == NULL)
		return false;
	Nest nest;
	const Expr *at[IR_MAX_RANK];
	rnd_open(m, &nest, b, last);
	Stmt *s = ir_stmt(ir, ST_CALL);
	s->call.fn = row_fn(m, x, b, n);
	s->call.n = 3;
	s->call.arg = arena_array(ir_arena(ir), CallArg, 3);
	s->call.arg[0].value = rnd_value(m, I64, nest.idx, last, 2);
	for (int k = 0; k < x->rank - 1; k++)
		at[k] = ir_mod(ir, rnd_value(m, I64, nest.idx, last, 1), x->shape[k]);
	s->call.arg[1] = row(m, x, at, rnd_below(m, (int)(x->shape[x->rank - 1]->i - n) + 1), n);
	s->call.arg[2] = row(m, b, nest.idx, 0, n);
	rnd_emit(m, rnd_close(m, &nest, s));
	return true;
}

/* Threads that write a shared buffer, meet, and read what their neighbour wrote. */
static bool threads(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	if (b->rank != 1 || !has_fixed_rows(b) || rnd_shares_bytes(b->type) ||
		!rnd_may(m, RANDOM_THREADS, 100))
		return false;
	const Expr *n = b->shape[0];
	Buf *s = ir_buf(ir, rnd_fresh(m, "s"), BUF_WORK, b->type, "shared", &n->i, 1);
	rnd_emit(m, ir_alloc(ir, s));
	Nest nest = { 0 };
	const Expr *t = rnd_loop(m, &nest, ir_int(ir, 0), n, LOOP_BOUND);
	nest.loop[0]->loop.axis = ir_name(ir, "block.x");
	Stmt *barrier = ir_stmt(ir, ST_BARRIER);
	barrier->barrier = ir_name(ir, "block");
	const Expr *next = ir_mod(ir, ir_add(ir, t, ir_int(ir, 1)), n);
	Stmt *body = ir_store(ir, s, &t, 1, rnd_value(m, b->type, &t, 1, 3));
	body = ir_seq(body, barrier);
	body = ir_seq(body, ir_store(ir, b, &t, 1, ir_load(ir, s, &next, 1)));
	rnd_emit(m, rnd_close(m, &nest, body));
	return true;
}

/* A copy of something readable that is under way for a while. */
static bool copied(Maker *m, Buf *b)
{
	Ir *ir = m->ir;
	const Buf *x = NULL;
	for (size_t i = 0; i < m->readable.n; i++) {
		const Buf *c = m->readable.at[i].buf;
		if (c != NULL && c->rank == b->rank && dtype_eq(c->type, b->type))
			x = c;
	}
	if (x == NULL || !rnd_may(m, RANDOM_THREADS, 100))
		return false;
	Nest nest;
	const Expr *idx[IR_MAX_RANK];
	rnd_open(m, &nest, b, b->rank);
	for (int i = 0; i < nest.n; i++)
		nest.loop[i]->loop.kind = LOOP_SERIAL;
	for (int k = 0; k < b->rank; k++)
		idx[k] = ir_mod(ir, nest.idx[k], x->shape[k]);
	Stmt *s = ir_stmt(ir, ST_ASYNC);
	s->async = rnd_close(
		m, &nest, ir_store(ir, b, nest.idx, b->rank, ir_load(ir, x, idx, b->rank)));
	s->next = ir_stmt(ir, ST_COMMIT);
	s->next->next = ir_stmt(ir, ST_WAIT);
	rnd_emit(m, s);
	return true;
}

/* ---- the whole ---- */

static void compute(Maker *m, Buf *b)
{
	static bool (*const manner[])(Maker *, Buf *) = { plain, in_block, reduction, reduction,
		accumulation, scan, vectors, pairs, by_call, threads, copied };
	while (!manner[rnd_below(m, sizeof manner / sizeof *manner)](m, b))
		;
}

static void stage(Maker *m, bool out)
{
	Buf *b = rnd_target(m, out, random_type(m->rng, m->allow), rnd_below(m, 4));
	compute(m, b);
	rnd_readable(m, b);
}

static Buf *new_param(Maker *m, BufRole role)
{
	Buf *b = rnd_buf(m, "x", role, random_type(m->rng, m->allow), "global", rnd_below(m, 4));
	ir_fn_add_buf(m->ir, m->fn, b);
	rnd_readable(m, b);
	return b;
}

/* prepare fn: constants to a constant, which the run Fn may then read. */
static void prepared(const Maker *run, Buf **made, int *names)
{
	Maker m = {
		.rng = run->rng, .ir = run->ir, .allow = run->allow, .ks = run->ks, .names = *names
	};
	m.fn = ir_fn(m.ir, "pack", FN_PREPARE);
	new_param(&m, BUF_CONST);
	Buf *u = rnd_target(&m, true, random_type(m.rng, m.allow), rnd_below(&m, 4));
	compute(&m, u);
	m.fn->body = m.body;
	ir_set_add(m.ks, m.fn);
	*names = m.names;
	*made = arena_copy(ir_arena(m.ir), u, sizeof *u);
	(*made)->role = BUF_CONST;
}

KernelSet *random_set(Rng *rng, Ir *ir, unsigned allow, int stages)
{
	Maker m = { .rng = rng, .ir = ir, .allow = allow, .ks = ir_set_new(ir) };
	m.fn = ir_fn(ir, "f", FN_RUN);
	if (rnd_may(&m, RANDOM_CALLS, 30)) {
		Buf *u;
		prepared(&m, &u, &m.names);
		ir_fn_add_buf(ir, m.fn, u);
		rnd_readable(&m, u);
	}
	if (rnd_may(&m, RANDOM_SYMBOLS, 50)) {
		const char *name = rnd_fresh(&m, "M");
		ir_fn_add_sym(ir, m.fn, name, 1, 9, 1 + rnd_below(&m, 2));
		vec_push(ir_arena(ir), &m.readable, ((Param){ NULL, name, I64 }));
	}
	for (int n = 1 + rnd_below(&m, 3); n > 0; n--)
		new_param(&m, rnd_below(&m, 3) == 0 ? BUF_CONST : BUF_IN);
	Buf *state = rnd_below(&m, 3) == 0 ? new_param(&m, BUF_INOUT) : NULL;
	for (int i = 1; i < stages; i++)
		stage(&m, rnd_below(&m, 3) == 0);
	stage(&m, true);
	if (state != NULL) { /* written last, from everything but itself */
		for (size_t i = 0; i < m.readable.n; i++)
			if (m.readable.at[i].buf == state)
				m.readable.at[i] = m.readable.at[--m.readable.n];
		plain(&m, state);
	}
	m.fn->body = m.body;
	ir_set_add(m.ks, m.fn);
	return m.ks;
}
