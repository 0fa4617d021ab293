/*
 * Intrinsics that the target has an instruction for. Each is one store of one vector expression, so that the later
 * passes see loads, arithmetic and a store, and sums stay in registers over a loop. Any other intrinsic is replaced
 * by its meaning.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/text/intrin.h"

#include <string.h>

/* Lane k of a window of one or two open dimensions, in their order: element k / inner, k % inner. */
static const Expr **lane_index(Lower *l, const CallArg *a, int lanes, int inner)
{
	Ir *ir = l->ir;
	const Expr **idx = arena_array(l->arena, const Expr *, a->n);
	const Expr *lane = ir_ramp(ir, ir_int(ir, 0), ir_int(ir, 1), lanes), *n = ir_splat(ir, ir_int(ir, inner), lanes);
	int open = inner == lanes ? 1 : 0;
	for (int k = 0; k < a->n; k++) {
		idx[k] = ir_splat(ir, a->idx[k], lanes);
		if (a->len[k] == NULL)
			continue;
		const Expr *at = inner == lanes ? lane : ir_binary(ir, open == 0 ? IR_DIV : IR_MOD, lane, n);
		idx[k] = inner == lanes ? ir_ramp(ir, a->idx[k], ir_int(ir, 1), lanes) : ir_add(ir, idx[k], at);
		open++;
	}
	return idx;
}

/* All elements of the window, `inner` in its last open dimension, as a vector. */
static const Expr *window(Lower *l, const CallArg *a, DType t, int lanes, int inner)
{
	return ir_load_named(l->ir, a->buf, t, lane_index(l, a, lanes, inner), a->n);
}

/* c[0:lanes] = dot4(c[0:lanes], a, b[0:lanes, 0:4]) */
static Stmt *dot(Lower *l, const CallArg *c, const Expr *a, const CallArg *b, int lanes)
{
	Stmt *s = ir_stmt(l->ir, ST_STORE);
	s->store.dst = (Access){ c->buf, c->n, lane_index(l, c, lanes, lanes) };
	s->store.value =
		ir_dot4(l->ir, window(l, c, I32, lanes, lanes), a, window(l, b, DT(INT, 8), 4 * lanes, 4));
	return s;
}

static Stmt *dpbusd(Lower *l, const CallArg *arg, int lanes)
{
	return dot(l, &arg[0], window(l, &arg[1], DT(UINT, 8), 4 * lanes, 4), &arg[2], lanes);
}

static Stmt *dpbusd_bcast(Lower *l, const CallArg *arg, int lanes)
{
	Ir *ir = l->ir;
	const Expr *four = ir_bitcast(ir, DT(UINT, 32), window(l, &arg[1], DT(UINT, 8), 4, 4));
	const Expr *a = ir_bitcast(ir, dtype_vector(DT(UINT, 8), 4 * lanes), ir_splat(ir, four, lanes));
	return dot(l, &arg[0], a, &arg[2], lanes);
}

static const struct {
	const char *name;
	int lanes;
	Stmt *(*make)(Lower *l, const CallArg *arg, int lanes);
} rows[] = {
	{ "dpbusd_i32x16", 16, dpbusd },
	{ "dpbusd_bcast_i32x16", 16, dpbusd_bcast },
	{ "dpbusd_bcast_i32x8", 8, dpbusd_bcast },
};

Stmt *lower_intrin(Lower *l, const Stmt *s)
{
	if (!target_has_named(l->target, ir_find_intrin(s->call.fn)->feature))
		return NULL;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].name, s->call.fn) == 0)
			return rows[k].make(l, s->call.arg, rows[k].lanes);
	return NULL;
}
