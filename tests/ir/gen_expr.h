/*
 * Random expressions over the variables of values.h: integers of all widths, bools, floats, vectors,
 * built without folding; constants like those of index arithmetic, and sometimes any bits.
 */
#ifndef TESTS_IR_GEN_EXPR_H
#define TESTS_IR_GEN_EXPR_H

#include "values.h"

typedef struct Gen {
	Ir *ir;
	Rng *r;
	Vars *v;
} Gen;

static const Expr *gen(Gen *g, DType t, int depth);

static const Expr *gen_atom(Gen *g, DType t)
{
	DType s = dtype_scalar(t);
	if (t.lanes > 1) {
		if (dtype_eq(s, I64) && rng_below(g->r, 2) == 0)
			return ir_ramp(g->ir, gen(g, s, 1), ir_int(g->ir, rng_range(g->r, -2, 9)),
				t.lanes);
		return ir_splat(g->ir, gen(g, s, 1), t.lanes);
	}
	const Expr *of[VARS];
	int n = 0;
	for (int k = 0; k < g->v->n; k++)
		if (dtype_eq(g->v->param[k].type, t))
			of[n++] = ir_var(g->ir, g->v->param[k].name, t);
	if (n > 0 && rng_below(g->r, 3) > 0)
		return of[rng_below(g->r, (uint64_t)n)];
	if (dtype_is_float(t)) {
		static const double some[] = { 0.0, -0.0, 1, -1, 2, 0.25, 3, 0.1 };
		return ir_const_float(g->ir, t, some[rng_below(g->r, LEN(some))]);
	}
	if (t.kind == DT_BOOL)
		return ir_bool(g->ir, rng_below(g->r, 2));
	static const int64_t some[] = { 0, 1, 2, 3, 4, 5, 7, 8, 12, 16, -1, -3, 64, 100 };
	if (rng_below(g->r, 40) == 0)
		return ir_const_int(g->ir, t, any_int(g->r));
	return ir_const_int(g->ir, t, some[rng_below(g->r, LEN(some))]);
}

static const Expr *raw_binary(Gen *g, Node op, DType t, const Expr *a, const Expr *b)
{
	const Expr *arg[2] = { a, b };
	return ir_node(g->ir, op, t, arg, 2);
}

static const Expr *gen_bool(Gen *g, DType t, int depth)
{
	static const Node compare[] = { IR_LT, IR_LE, IR_EQ, IR_NE },
			  logic[] = { IR_AND, IR_OR, IR_XOR };
	DType of = dtype_vector(rng_below(g->r, 5)   ? I64
				: rng_below(g->r, 2) ? F32
						     : DT(UINT, 8),
		t.lanes);
	switch (rng_below(g->r, 6)) {
	case 0:
	case 1:
		return raw_binary(g, logic[rng_below(g->r, 3)], t, gen(g, t, depth - 1),
			gen(g, t, depth - 1));
	case 2: {
		const Expr *a = gen(g, t, depth - 1);
		return ir_node(g->ir, IR_NOT, t, &a, 1);
	}
	default:
		return raw_binary(g, compare[rng_below(g->r, 4)], t, gen(g, of, depth - 1),
			gen(g, of, depth - 1));
	}
}

static const Expr *gen_select(Gen *g, DType t, int depth)
{
	const Expr *arg[3] = { gen(g, dtype_vector(BOOL, t.lanes), depth - 1), gen(g, t, depth - 1),
		gen(g, t, depth - 1) };
	return ir_node(g->ir, IR_SELECT, t, arg, 3);
}

static const Expr *gen_float(Gen *g, DType t, int depth)
{
	static const DType types[] = { { DT_INT, 32, 1 }, { DT_UINT, 8, 1 }, { DT_INT, 16, 1 },
		{ DT_INT, 64, 1 }, { DT_FLOAT, 64, 1 }, { DT_BOOL, 8, 1 } };
	static const Node two[] = { IR_ADD, IR_SUB, IR_MUL, IR_DIV };
	static const Node one[] = { IR_NEG, IR_ABS, IR_FLOOR, IR_CEIL, IR_ROUND, IR_TRUNC };
	switch (rng_below(g->r, 7)) {
	case 5:
		return ir_cast(g->ir, t,
			gen(g, dtype_vector(types[rng_below(g->r, LEN(types))], t.lanes),
				depth - 1));
	case 0: {
		const Expr *a = gen(g, t, depth - 1);
		return ir_node(g->ir, one[rng_below(g->r, LEN(one))], t, &a, 1);
	}
	case 1: {
		const Expr *arg[3] = { gen(g, t, depth - 1), gen(g, t, depth - 1),
			gen(g, t, depth - 1) };
		return ir_node(g->ir, IR_FMA, t, arg, 3);
	}
	default:
		return raw_binary(
			g, two[rng_below(g->r, 4)], t, gen(g, t, depth - 1), gen(g, t, depth - 1));
	}
}

/* A sum like an index, divided by what its factors suggest. */
static const Expr *gen_quotient(Gen *g, DType t, int depth)
{
	static const int64_t factor[] = { 1, 1, 1, 2, 3, 4, 4, 6, 8, 12, -1, -4 },
			     by[] = { 2, 3, 4, 6, 8, 12 };
	const Expr *sum = ir_const_int(g->ir, t, rng_range(g->r, -9, 20));
	for (uint64_t k = 1 + rng_below(g->r, 3); k > 0; k--) {
		const Expr *x = gen(g, t, rng_below(g->r, 3) ? 0 : depth - 1);
		const Expr *c = ir_const_int(g->ir, t, factor[rng_below(g->r, LEN(factor))]);
		sum = raw_binary(g, IR_ADD, t, raw_binary(g, IR_MUL, t, x, c), sum);
	}
	const Expr *c = ir_const_int(g->ir, t, by[rng_below(g->r, LEN(by))]);
	return raw_binary(g, rng_below(g->r, 2) ? IR_DIV : IR_MOD, t, sum, c);
}

static const Expr *gen_int(Gen *g, DType t, int depth)
{
	static const Node two[] = { IR_ADD, IR_ADD, IR_SUB, IR_MUL, IR_MUL, IR_DIV, IR_DIV, IR_MOD,
		IR_MOD, IR_MIN, IR_MAX, IR_AND, IR_OR, IR_XOR, IR_SHL, IR_SHR, IR_TDIV, IR_TMOD };
	static const int64_t by[] = { 2, 3, 4, 8, 12, 1, -3 };
	if (rng_below(g->r, 10) == 0) {
		static const DType types[] = { { DT_INT, 32, 1 }, { DT_UINT, 8, 1 },
			{ DT_UINT, 64, 1 }, { DT_INT, 64, 1 }, { DT_INT, 16, 1 },
			{ DT_FLOAT, 32, 1 }, { DT_FLOAT, 64, 1 } };
		DType from = dtype_vector(types[rng_below(g->r, LEN(types))], t.lanes);
		const Expr *a = gen(g, from, depth - 1);
		return dtype_eq(from, t) ? a : ir_cast(g->ir, t, a);
	}
	if (rng_below(g->r, 4) == 0)
		return gen_quotient(g, t, depth);
	if (rng_below(g->r, 12) == 0) {
		const Expr *a = gen(g, t, depth - 1);
		return ir_node(g->ir, rng_below(g->r, 2) ? IR_NEG : IR_ABS, t, &a, 1);
	}
	Node op = two[rng_below(g->r, LEN(two))];
	const Expr *b = NULL;
	if ((op == IR_DIV || op == IR_MOD || op == IR_MUL) && rng_below(g->r, 4) > 0)
		b = ir_const_int(g->ir, t, by[rng_below(g->r, LEN(by))]);
	if (op == IR_SHL || op == IR_SHR)
		b = ir_const_int(g->ir, t, (int64_t)rng_below(g->r, 8));
	return raw_binary(g, op, t, gen(g, t, depth - 1), b != NULL ? b : gen(g, t, depth - 1));
}

static const Expr *gen(Gen *g, DType t, int depth)
{
	if (depth <= 0)
		return gen_atom(g, t);
	if (rng_below(g->r, 8) == 0)
		return gen_select(g, t, depth);
	if (t.kind == DT_BOOL)
		return gen_bool(g, t, depth);
	return dtype_is_float(t) ? gen_float(g, t, depth) : gen_int(g, t, depth);
}

static const struct {
	const char *vars;
	DType type;
} kinds[] = {
	{ "n 1..64 %4, i 0..n-1, j 0..3, k 2..15", { DT_INT, 64, 1 } },
	{ "n 1..1000, m 1..50, i 0..n-1, j i..n-1, k 0..min(m, i + 3)", { DT_INT, 64, 1 } },
	{ "i, j, k 0..7, b: bool", { DT_INT, 64, 1 } },
	{ "i -9..9, j -100..3, k: i32, l: u8, c: bool", { DT_INT, 64, 1 } },
	{ "i 0..9, k: i32, l: i32, c: bool", { DT_INT, 32, 1 } },
	{ "i 0..9, k: u8, l: u8", { DT_UINT, 8, 1 } },
	{ "k: u64, l: u64, i 0..5", { DT_UINT, 64, 1 } },
	{ "x: f32, y: f32, i 0..9, c: bool", { DT_FLOAT, 32, 1 } },
	{ "i 0..99, j 0..7, n 1..99", { DT_INT, 64, 8 } },
	{ "i 0..99, j 0..7, x: f32", { DT_FLOAT, 32, 4 } },
	{ "n 1..64, i 0..n-1, j 0..3, x: f32, b: bool", { DT_BOOL, 8, 1 } },
	{ "i 0..63, j, n 1..9", { DT_BOOL, 8, 4 } },
};

#endif
