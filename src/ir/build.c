/*
 * Constructors of expressions and statements. ir_node makes what it is told; the named ones decide
 * the result type and fold what a formula's author would not have written: constants, x+0, x*1.
 */
#include "ir/build.h"
#include "ir/cons.h"
#include "ir/node.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const Expr *ir_node(Ir *ir, Node op, DType type, const Expr *const *arg, int n)
{
	assert(n >= 0 && n <= UINT16_MAX);
	if (op == IR_CAST && type.lanes == 1) {
		const Expr *c = ir_fold(ir, op, type, arg, n);
		if (c != NULL)
			return c;
	}
	Expr head = { .op = op, .type = type, .nargs = (uint16_t)n };
	return ir_cons(ir, &head, arg);
}

const Expr *ir_const_int(Ir *ir, DType t, int64_t v)
{
	assert(!dtype_is_float(t));
	Expr e = { .op = IR_INT, .type = dtype_scalar(t), .i = dtype_wrap(t, v) };
	return ir_splat(ir, ir_cons(ir, &e, NULL), t.lanes);
}

const Expr *ir_const_float(Ir *ir, DType t, double v)
{
	assert(dtype_is_float(t));
	Expr e = { .op = IR_FLOAT, .type = dtype_scalar(t), .f = dtype_round(t, v) };
	return ir_splat(ir, ir_cons(ir, &e, NULL), t.lanes);
}

const Expr *ir_const(Ir *ir, DType t, double v)
{
	return dtype_is_float(t) ? ir_const_float(ir, t, v) : ir_const_int(ir, t, (int64_t)v);
}

const Expr *ir_int(Ir *ir, int64_t v)
{
	return ir_const_int(ir, I64, v);
}

const Expr *ir_bool(Ir *ir, bool v)
{
	return ir_const_int(ir, BOOL, v);
}

const Expr *ir_var(Ir *ir, const char *name, DType t)
{
	Expr e = { .op = IR_VAR, .type = t, .name = ir_name(ir, name) };
	return ir_cons(ir, &e, NULL);
}

const Expr *ir_idx(Ir *ir, const char *name)
{
	return ir_var(ir, name, I64);
}

const Expr *ir_load_named(Ir *ir, const char *buf, DType t, const Expr *const *idx, int n)
{
	assert(n >= 0 && n <= UINT16_MAX);
	t.lanes = 1;
	for (int i = 0; i < n; i++)
		if (idx[i]->type.lanes > t.lanes)
			t.lanes = idx[i]->type.lanes;
	Expr e = { .op = IR_LOAD, .type = t, .nargs = (uint16_t)n, .name = ir_name(ir, buf) };
	return ir_cons(ir, &e, idx);
}

const Expr *ir_load(Ir *ir, const Buf *b, const Expr *const *idx, int n)
{
	assert(n == b->rank);
	return ir_load_named(ir, b->name, b->type, idx, n);
}

DType ir_result_type(Node op, DType arg)
{
	return ir_node_row[op].type == TYPE_BOOL ? dtype_vector(BOOL, arg.lanes) : arg;
}

const Expr *ir_unary(Ir *ir, Node op, const Expr *a)
{
	DType t = ir_result_type(op, a->type);
	const Expr *c = ir_fold(ir, op, t, &a, 1);
	return c != NULL ? c : ir_node(ir, op, t, &a, 1);
}

/* The integer that e is in all lanes; NULL: none. */
static const Expr *integer_of(const Expr *e)
{
	if (e->op == IR_SPLAT)
		e = e->arg[0];
	return e->op == IR_INT ? e : NULL;
}

static bool is_value(const Expr *e, int64_t v)
{
	const Expr *i = integer_of(e);
	return i != NULL && i->i == v;
}

/* x+0, x-0, x*1, x*0, x/1, 0+x, ... of integers and logic; min(x,x). NULL if nothing applies. */
static const Expr *identity(Node op, const Expr *a, const Expr *b)
{
	bool logic = a->type.kind == DT_BOOL;
	if (a == b && (op == IR_MIN || op == IR_MAX || op == IR_AND || op == IR_OR))
		return a;
	const Expr *x = integer_of(a), *y = integer_of(b);
	if (x == NULL && y == NULL)
		return NULL;
	bool x0 = x != NULL && x->i == 0, x1 = x != NULL && x->i == 1, y0 = y != NULL && y->i == 0,
		 y1 = y != NULL && y->i == 1;
	switch (op) {
	case IR_ADD: return x0 ? b : y0 ? a : NULL;
	case IR_SUB: return y0 ? a : NULL;
	case IR_MUL: return x0 || y1 ? a : y0 || x1 ? b : NULL;
	case IR_DIV:
	case IR_TDIV: return y1 && dtype_is_int(a->type) ? a : NULL;
	case IR_AND: return x0 || (logic && y1) ? a : y0 || (logic && x1) ? b : NULL;
	case IR_OR: return y0 || (logic && x1) ? a : x0 || (logic && y1) ? b : NULL;
	default: return NULL;
	}
}

const Expr *ir_fold_binary(Ir *ir, Node op, const Expr *a, const Expr *b)
{
	assert(dtype_eq(a->type, b->type));
	if ((a->op == IR_INT || a->op == IR_FLOAT) && a->op == b->op) {
		const Expr *arg[2] = { a, b }, *c = ir_fold(ir, op, ir_result_type(op, a->type), arg, 2);
		if (c != NULL)
			return c;
	}
	const Expr *c = identity(op, a, b);
	return c == NULL && op == IR_MOD && is_value(b, 1) ? ir_const_int(ir, a->type, 0) : c;
}

const Expr *ir_binary(Ir *ir, Node op, const Expr *a, const Expr *b)
{
	const Expr *c = ir_fold_binary(ir, op, a, b), *arg[2] = { a, b };
	return c != NULL ? c : ir_node(ir, op, ir_result_type(op, a->type), arg, 2);
}

const Expr *ir_select(Ir *ir, const Expr *c, const Expr *a, const Expr *b)
{
	assert(c->type.kind == DT_BOOL && dtype_eq(a->type, b->type));
	if (a == b || is_value(c, 1))
		return a;
	if (is_value(c, 0))
		return b;
	const Expr *arg[3] = { c, a, b };
	return ir_node(ir, IR_SELECT, a->type, arg, 3);
}

const Expr *ir_fma(Ir *ir, const Expr *a, const Expr *b, const Expr *c)
{
	assert(dtype_eq(a->type, b->type) && dtype_eq(a->type, c->type));
	const Expr *arg[3] = { a, b, c };
	const Expr *k = ir_fold(ir, IR_FMA, a->type, arg, 3);
	return k != NULL ? k : ir_node(ir, IR_FMA, a->type, arg, 3);
}

const Expr *ir_dot4(Ir *ir, const Expr *c, const Expr *a, const Expr *b)
{
	const Expr *arg[3] = { c, a, b };
	assert(a->type.lanes == 4 * c->type.lanes && b->type.lanes == a->type.lanes);
	return ir_node(ir, IR_DOT4, c->type, arg, 3);
}

const Expr *ir_cast(Ir *ir, DType t, const Expr *a)
{
	t.lanes = a->type.lanes;
	if (dtype_eq(t, a->type))
		return a;
	if (a->op == IR_SPLAT)
		return ir_splat(ir, ir_cast(ir, t, a->arg[0]), t.lanes);
	return ir_node(ir, IR_CAST, t, &a, 1);
}

const Expr *ir_bitcast(Ir *ir, DType t, const Expr *a)
{
	assert((int)t.bits * t.lanes == (int)a->type.bits * a->type.lanes);
	return dtype_eq(t, a->type) ? a : ir_node(ir, IR_BITCAST, t, &a, 1);
}

const Expr *ir_ramp(Ir *ir, const Expr *base, const Expr *stride, int lanes)
{
	assert(base->type.lanes == 1 && dtype_eq(base->type, stride->type));
	const Expr *arg[2] = { base, stride };
	return lanes == 1 ? base : ir_node(ir, IR_RAMP, dtype_vector(base->type, lanes), arg, 2);
}

const Expr *ir_splat(Ir *ir, const Expr *a, int lanes)
{
	if (lanes == 1)
		return a;
	assert(a->type.lanes == 1);
	return ir_node(ir, IR_SPLAT, dtype_vector(a->type, lanes), &a, 1);
}

const Expr *ir_lane(Ir *ir, const Expr *a, int lane)
{
	assert(lane >= 0 && lane < a->type.lanes);
	if (a->type.lanes == 1)
		return a;
	if (a->op == IR_SPLAT)
		return a->arg[0];
	const Expr *arg[2] = { a, ir_int(ir, lane) };
	return ir_node(ir, IR_LANE, dtype_scalar(a->type), arg, 2);
}

Stmt *ir_stmt(Ir *ir, StmtKind kind)
{
	Stmt *s = arena_new_of(ir_arena(ir), Stmt);
	s->kind = kind;
	return s;
}

Stmt *ir_for(Ir *ir, const char *var, const Expr *lo, const Expr *hi, LoopKind kind, Stmt *body)
{
	Stmt *s = ir_stmt(ir, ST_FOR);
	s->loop.var = ir_name(ir, var);
	s->loop.lo = lo;
	s->loop.hi = hi;
	s->loop.kind = kind;
	s->loop.stages = kind == LOOP_PIPELINED ? 2 : 0;
	s->loop.body = body;
	return s;
}

Stmt *ir_block(Ir *ir, const char *name, const Iter *iter, int n, const Expr *where, Stmt *init,
	Stmt *body)
{
	Stmt *s = ir_stmt(ir, ST_BLOCK);
	s->block.name = ir_name(ir, name);
	s->block.n = n;
	s->block.iter = arena_array(ir_arena(ir), Iter, n);
	for (int i = 0; i < n; i++) {
		s->block.iter[i] = iter[i];
		s->block.iter[i].name = ir_name(ir, iter[i].name);
	}
	s->block.where = where;
	s->block.init = init;
	s->block.body = body;
	return s;
}

static Access access_of(Ir *ir, const char *buf, const Expr *const *idx, int n)
{
	Access a = { ir_name(ir, buf), n, arena_array(ir_arena(ir), const Expr *, n) };
	for (int i = 0; i < n; i++)
		a.idx[i] = idx[i];
	return a;
}

Stmt *ir_store(Ir *ir, const Buf *b, const Expr *const *idx, int n, const Expr *value)
{
	assert(n == b->rank);
	Stmt *s = ir_stmt(ir, ST_STORE);
	s->store.dst = access_of(ir, b->name, idx, n);
	s->store.value = value;
	return s;
}

Stmt *ir_prefetch(Ir *ir, const Buf *b, const Expr *const *idx, int n)
{
	assert(n == b->rank);
	Stmt *s = ir_stmt(ir, ST_PREFETCH);
	s->prefetch = access_of(ir, b->name, idx, n);
	return s;
}

Stmt *ir_reduce(
	Ir *ir, const char *monoid, const Buf *b, const Expr *const *idx, int n, const Expr *value)
{
	assert(n == b->rank);
	Stmt *s = ir_stmt(ir, ST_REDUCE);
	s->reduce.monoid = ir_name(ir, monoid);
	s->reduce.n = 1;
	s->reduce.dst = arena_new_of(ir_arena(ir), Access);
	s->reduce.dst[0] = access_of(ir, b->name, idx, n);
	s->reduce.value = arena_array(ir_arena(ir), const Expr *, 1);
	s->reduce.value[0] = value;
	return s;
}

Stmt *ir_let(Ir *ir, const char *var, const Expr *value)
{
	Stmt *s = ir_stmt(ir, ST_LET);
	s->let.var = ir_name(ir, var);
	s->let.value = value;
	return s;
}

Stmt *ir_alloc(Ir *ir, Buf *b)
{
	Stmt *s = ir_stmt(ir, ST_ALLOC);
	s->alloc = b;
	return s;
}

Stmt *ir_if(Ir *ir, const Expr *cond, Stmt *then, Stmt *other)
{
	Stmt *s = ir_stmt(ir, ST_IF);
	s->branch.cond = cond;
	s->branch.then = then;
	s->branch.other = other;
	return s;
}

Stmt *ir_seq(Stmt *a, Stmt *b)
{
	if (a == NULL)
		return b;
	Stmt *last = a;
	while (last->next != NULL)
		last = last->next;
	last->next = b;
	return a;
}

Buf *ir_buf(Ir *ir, const char *name, BufRole role, DType t, const char *scope,
	const int64_t *shape, int rank)
{
	Buf *b = arena_new_of(ir_arena(ir), Buf);
	b->name = ir_name(ir, name);
	b->role = role;
	b->type = t;
	b->scope = ir_name(ir, scope);
	b->rank = rank;
	b->shape = arena_array(ir_arena(ir), const Expr *, rank);
	for (int i = 0; i < rank; i++)
		b->shape[i] = ir_int(ir, shape[i]);
	return b;
}

Fn *ir_fn(Ir *ir, const char *name, FnKind kind)
{
	Fn *fn = arena_new_of(ir_arena(ir), Fn);
	fn->name = ir_name(ir, name);
	fn->kind = kind;
	return fn;
}

static Param *add_param(Ir *ir, Fn *fn)
{
	Param *wide = arena_array(ir_arena(ir), Param, fn->nparam + 1);
	if (fn->nparam > 0)
		memcpy(wide, fn->param, sizeof *wide * (size_t)fn->nparam);
	fn->param = wide;
	return &wide[fn->nparam++];
}

void ir_fn_add_buf(Ir *ir, Fn *fn, Buf *b)
{
	*add_param(ir, fn) = (Param){ b, b->name, b->type };
}

void ir_fn_add_scalar(Ir *ir, Fn *fn, const char *name, DType t)
{
	*add_param(ir, fn) = (Param){ NULL, ir_name(ir, name), t };
}

void ir_fn_add_sym(Ir *ir, Fn *fn, const char *name, int64_t lo, int64_t hi, int64_t div)
{
	Sym *wide = arena_array(ir_arena(ir), Sym, fn->nsym + 1);
	if (fn->nsym > 0)
		memcpy(wide, fn->sym, sizeof *wide * (size_t)fn->nsym);
	wide[fn->nsym++] = (Sym){ ir_name(ir, name), lo, hi, div };
	fn->sym = wide;
}
