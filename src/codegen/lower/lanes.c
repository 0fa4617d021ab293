/*
 * Vector indices to ramps. Lane i of an index is an expression of i. Where that is base + i * stride, the lanes are
 * neighbours or one place, and no gather is needed: a window of an instruction's operand, the elements of a fused
 * loop. The simplifier sees more in one lane than in a whole vector: (i / 4) * 4 + i % 4 is i.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

typedef struct Lanes {
	Lower *l;
	const Range *env;
	IrMemo *memo;
	const Expr *lane; /* the variable that is the lane's number; NULL: not needed yet */
} Lanes;

/* Lane `lane` of e; NULL where that is not an expression of the lane alone. */
static const Expr *one_lane(Lanes *x, const Expr *e)
{
	const Expr *arg[3];
	if (e->type.lanes == 1)
		return e;
	if (e->op == IR_SPLAT)
		return e->arg[0];
	if (e->op == IR_RAMP)
		return ir_add(x->l->ir, e->arg[0], ir_mul(x->l->ir, e->arg[1], ir_cast(x->l->ir, e->arg[1]->type, x->lane)));
	if (e->nargs == 0 || e->nargs > 3 || e->op == IR_LOAD || e->op == IR_BITCAST || e->op == IR_DOT4 ||
		e->op == IR_MMA || e->op == IR_LDMATRIX || e->op == IR_LDMATRIX_T)
		return NULL;
	const Expr *known = *ir_memo_at(x->memo, e);
	if (known != NULL)
		return known;
	for (int k = 0; k < e->nargs; k++) {
		arg[k] = one_lane(x, e->arg[k]);
		if (arg[k] == NULL)
			return NULL;
	}
	known = ir_node(x->l->ir, e->op, dtype_scalar(e->type), arg, e->nargs);
	*ir_memo_at(x->memo, e) = known;
	return known;
}

/* d = *stride * lane */
static bool is_multiple(const Lanes *x, const Expr *d, int64_t *stride)
{
	*stride = d == x->lane ? 1 : d->op == IR_NEG ? -1 : 0;
	if (d == x->lane || ir_is_const(d, 0))
		return true;
	if (d->op == IR_NEG)
		return d->arg[0] == x->lane;
	return d->op == IR_MUL && d->arg[0] == x->lane && ir_is_int(d->arg[1], stride);
}

static const Expr *as_ramp(Lanes *x, const Expr *e)
{
	Ir *ir = x->l->ir;
	int64_t stride;
	int n = e->type.lanes;
	if (n == 1 || e->op == IR_RAMP || e->op == IR_SPLAT || !dtype_eq(dtype_scalar(e->type), I64))
		return e;
	if (x->lane == NULL)
		x->lane = ir_idx(ir, ir_fresh_name(ir, "lane"));
	x->memo = ir_memo_begin(ir);
	const Expr *at = one_lane(x, e);
	ir_memo_end(ir, x->memo);
	if (at == NULL)
		return e;
	const Range *env = ir_range_for(ir, x->lane->name, ir_int(ir, 0), ir_int(ir, n), x->env);
	at = ir_simplify(ir, at, env);
	const Expr *base = ir_simplify(ir, ir_subst(ir, at, x->lane->name, ir_int(ir, 0)), x->env);
	if (!is_multiple(x, ir_simplify(ir, ir_sub(ir, at, base), env), &stride))
		return e;
	return stride == 0 ? ir_splat(ir, base, n) : ir_ramp(ir, base, ir_int(ir, stride), n);
}

static const Expr *ramp_load(Ir *ir, const Expr *e, void *arg)
{
	if (e->op != IR_LOAD)
		return e;
	const Expr *idx = as_ramp(arg, e->arg[0]);
	return idx == e->arg[0] ? e : ir_load_named(ir, e->name, dtype_scalar(e->type), &idx, 1);
}

/* The indices of loads, and a store's own index. */
static void ramp_indices(Lower *l, Stmt *s, const Range *env)
{
	Lanes x = { .l = l, .env = env };
	ir_map_stmt(l->ir, s, ramp_load, &x);
	if (s->kind == ST_STORE)
		s->store.dst.idx[0] = as_ramp(&x, s->store.dst.idx[0]);
}

bool pass_lanes(Lower *l)
{
	lower_each_alone(l, l->fn->body, ramp_indices, ir_range_fn(l->ir, l->fn));
	return true;
}
