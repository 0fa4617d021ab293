/*
 * Floor division takes several instructions, a shift or a truncating division one or two. Laws:
 * x / 2^k = x >> k and x % 2^k = x & 2^k - 1 for all x;
 * x / y = tdiv(x, y) and x % y = tmod(x, y) where the ranges show x >= 0 and y > 0.
 * The simplifier goes the other way, because floor division has more laws. So this pass comes last.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/walk.h"

typedef struct Divide {
	Lower *l;
	const Range *env;
} Divide;

/* k if e is 2^k or a splat of it; -1 otherwise. */
static int power_of_2(const Expr *e)
{
	int64_t v;
	if (e->op == IR_SPLAT)
		e = e->arg[0];
	if (!ir_is_int(e, &v) || v <= 0 || (v & (v - 1)) != 0)
		return -1;
	int k = 0;
	while (v >> k != 1)
		k++;
	return k;
}

static const Expr *divide(Ir *ir, const Expr *e, void *arg)
{
	const Divide *d = arg;
	if ((e->op != IR_DIV && e->op != IR_MOD) || !dtype_is_int(e->type))
		return e;
	const Expr *x = e->arg[0], *y = e->arg[1];
	bool quotient = e->op == IR_DIV;
	int k = power_of_2(y);
	if (k >= 0 && quotient)
		return ir_binary(ir, IR_SHR, x, ir_const_int(ir, e->type, k));
	if (k >= 0)
		return ir_binary(ir, IR_AND, x, ir_const_int(ir, e->type, ((int64_t)1 << k) - 1));
	if (e->type.kind == DT_INT && (ir_interval(x, d->env).lo < 0 || ir_interval(y, d->env).lo <= 0))
		return e;
	const Expr *two[2] = { x, y };
	return ir_node(ir, quotient ? IR_TDIV : IR_TMOD, e->type, two, 2);
}

static void divide_in(Lower *l, Stmt *s, const Range *env)
{
	Divide d = { l, env };
	ir_map_stmt(l->ir, s, divide, &d);
}

bool pass_divide(Lower *l)
{
	lower_each_alone(l, l->fn->body, divide_in, ir_range_fn(l->ir, l->fn));
	return true;
}
