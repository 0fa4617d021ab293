/*
 * The parts that random kernel sets are made of: buffers with maps, loops that visit each index
 * once, values over whatever is readable.
 */
#include "ir/random_nest.h"
#include "ir/build.h"

int rnd_below(Maker *m, int n)
{
	return (int)rng_below(m->rng, (uint64_t)n);
}

bool rnd_may(Maker *m, unsigned what, int percent)
{
	return (m->allow & what) != 0 && rnd_below(m, 100) < percent;
}

const char *rnd_fresh(Maker *m, const char *stem)
{
	return ir_name(m->ir, arena_printf(ir_arena(m->ir), "%s%d", stem, m->names++));
}

void rnd_emit(Maker *m, Stmt *s)
{
	m->body = ir_seq(m->body, s);
}

/* ---- buffers ---- */

const Expr *rnd_extent(Maker *m)
{
	if (m->fn->nsym > 0 && rnd_below(m, 4) == 0)
		return ir_idx(m->ir, m->fn->sym[0].name);
	return ir_int(m->ir, 1 + rnd_below(m, 6));
}

static const Expr *ceil_div(Ir *ir, const Expr *a, int64_t b)
{
	return ir_div(ir, ir_add(ir, a, ir_int(ir, b - 1)), ir_int(ir, b));
}

/* Blocks one dimension, pads another, and turns the order round. */
static void give_map(Maker *m, Buf *b)
{
	Arena *a = ir_arena(m->ir);
	IndexMap *map = &b->map;
	int blocked = rnd_below(m, b->rank), padded = rnd_below(m, b->rank), n = 0;
	bool turned = rnd_below(m, 2) == 0;
	int64_t c = 2 + rnd_below(m, 3), halo = rnd_below(m, 3);
	map->nvar = b->rank;
	map->var = arena_array(a, const char *, b->rank);
	map->at = arena_array(a, const Expr *, b->rank + 1);
	map->extent = arena_array(a, const Expr *, b->rank + 1);
	for (int k = 0; k < b->rank; k++)
		map->var[k] = ir_name(m->ir, arena_printf(a, "d%d", k));
	for (int i = 0; i < b->rank; i++) {
		int k = turned ? b->rank - 1 - i : i;
		const Expr *v = ir_idx(m->ir, map->var[k]), *e = b->shape[k];
		if (k == padded) {
			v = ir_add(m->ir, v, ir_int(m->ir, halo));
			e = ir_add(m->ir, e, ir_int(m->ir, 2 * halo));
		}
		map->at[n] = k == blocked ? ir_div(m->ir, v, ir_int(m->ir, c)) : v;
		map->extent[n++] = k == blocked ? ceil_div(m->ir, e, c) : e;
		if (k == blocked) {
			map->at[b->rank] = ir_mod(m->ir, v, ir_int(m->ir, c));
			map->extent[b->rank] = ir_int(m->ir, c);
		}
	}
	map->n = n + 1;
}

Buf *rnd_buf(Maker *m, const char *stem, BufRole role, DType t, const char *scope, int rank)
{
	Buf *b = ir_buf(m->ir, rnd_fresh(m, stem), role, t, scope, NULL, 0);
	b->rank = rank;
	b->shape = arena_array(ir_arena(m->ir), const Expr *, rank);
	for (int k = 0; k < rank; k++)
		b->shape[k] = rnd_extent(m);
	if (rank > 0 && rnd_may(m, RANDOM_MAPS, 40))
		give_map(m, b);
	return b;
}

void rnd_readable(Maker *m, Buf *b)
{
	vec_push(ir_arena(m->ir), &m->readable, ((Param){ b, b->name, b->type }));
}

/* What a stage computes: an out or inout of the Fn, or something local. */
Buf *rnd_target(Maker *m, bool out, DType t, int rank)
{
	if (out) {
		Buf *b = rnd_buf(m, "y", BUF_OUT, t, "global", rank);
		ir_fn_add_buf(m->ir, m->fn, b);
		return b;
	}
	Buf *b = rnd_buf(m, "t", BUF_WORK, t, rnd_below(m, 2) == 0 ? "local" : "global", rank);
	rnd_emit(m, ir_alloc(m->ir, b));
	return b;
}

/* ---- loop nests ---- */

LoopKind rnd_kind(Maker *m, bool ordered)
{
	static const LoopKind kinds[] = { LOOP_SERIAL, LOOP_PARALLEL, LOOP_UNROLLED, LOOP_SERIAL };
	LoopKind k = kinds[rnd_below(m, 4)];
	return ordered && k == LOOP_PARALLEL ? LOOP_SERIAL : k;
}

const Expr *rnd_loop(Maker *m, Nest *nest, const Expr *lo, const Expr *hi, LoopKind kind)
{
	const char *var = rnd_fresh(m, "i");
	nest->loop[nest->n++] = ir_for(m->ir, var, lo, hi, kind, NULL);
	return ir_idx(m->ir, var);
}

/* Loops that visit 0..n once each, in order if so asked; the index as an expression. */
const Expr *rnd_loops(Maker *m, Nest *nest, const Expr *n, bool ordered)
{
	Ir *ir = m->ir;
	const Expr *zero = ir_int(ir, 0);
	int64_t f = 2 + rnd_below(m, 2);
	const Expr *factor = ir_int(ir, f);
	if (nest->n + 2 > MAX_LOOPS || rnd_below(m, 5) < 2)
		return rnd_loop(m, nest, zero, n, rnd_kind(m, ordered));
	if (rnd_below(m, 3) == 0) {
		const Expr *i =
			rnd_loop(m, nest, factor, ir_add(ir, n, factor), rnd_kind(m, ordered));
		return ir_sub(ir, i, factor);
	}
	const Expr *outer = rnd_loop(m, nest, zero, ceil_div(ir, n, f), rnd_kind(m, ordered));
	const Expr *base = ir_mul(ir, outer, factor);
	if (rnd_below(m, 2) == 0) {
		const Expr *rest = ir_min(ir, factor, ir_sub(ir, n, base));
		return ir_add(ir, base, rnd_loop(m, nest, zero, rest, rnd_kind(m, ordered)));
	}
	const Expr *i = ir_add(ir, base, rnd_loop(m, nest, zero, factor, rnd_kind(m, ordered)));
	const Expr *inside = ir_lt(ir, i, n);
	nest->guard = nest->guard != NULL ? ir_and(ir, nest->guard, inside) : inside;
	return i;
}

/* Neighbours of sub-byte types lie in one byte: writing them in parallel is a race. */
bool rnd_shares_bytes(DType t)
{
	return t.bits < 8;
}

void rnd_open(Maker *m, Nest *nest, const Buf *b, int dims)
{
	*nest = (Nest){ 0 };
	for (int k = 0; k < dims; k++)
		nest->idx[k] = rnd_loops(m, nest, b->shape[k], rnd_shares_bytes(b->type));
}

Stmt *rnd_close(Maker *m, const Nest *nest, Stmt *inside)
{
	Stmt *s = nest->guard != NULL ? ir_if(m->ir, nest->guard, inside, NULL) : inside;
	for (int i = nest->n - 1; i >= 0; i--) {
		nest->loop[i]->loop.body = s;
		s = nest->loop[i];
	}
	return s;
}

/* ---- values ---- */

/* An expression over what is readable and the n index expressions' variables. */
const Expr *rnd_value(Maker *m, DType t, const Expr *const *idx, int n, int depth)
{
	VEC(Param) var = { 0 };
	Arena *a = ir_arena(m->ir);
	for (size_t i = 0; i < m->readable.n; i++)
		vec_push(a, &var, m->readable.at[i]);
	for (int i = 0; i < n; i++)
		if (idx[i]->op == IR_VAR)
			vec_push(a, &var, ((Param){ NULL, idx[i]->name, idx[i]->type }));
	return random_expr(m->rng, m->ir, m->allow, t, var.at, (int)var.n, depth);
}
