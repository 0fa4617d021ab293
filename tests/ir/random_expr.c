/*
 * Random expressions, top-down by type: every node of node.def can come out, half of them through
 * ir_node (as a parser makes them), half through the folding constructors.
 */
#include "ir/random.h"
#include "ir/build.h"

#include <math.h>

typedef struct Gen {
	Rng *rng;
	Ir *ir;
	unsigned allow;
	const Param *var;
	int n;
	int loads; /* that the index at hand lies in */
} Gen;

static const Expr *gen(Gen *g, DType t, int depth);

static int below(Gen *g, int n)
{
	return (int)rng_below(g->rng, (uint64_t)n);
}

static bool may(Gen *g, unsigned what, int percent)
{
	return (g->allow & what) != 0 && below(g, 100) < percent;
}

DType random_type(Rng *rng, unsigned allow)
{
	static const DType wide[] = { { DT_FLOAT, 32, 1 }, { DT_FLOAT, 32, 1 }, { DT_INT, 64, 1 },
		{ DT_INT, 32, 1 }, { DT_FLOAT, 64, 1 }, { DT_BOOL, 8, 1 } };
	static const DType narrow[] = { { DT_UINT, 8, 1 }, { DT_INT, 8, 1 }, { DT_FLOAT, 16, 1 },
		{ DT_BFLOAT, 16, 1 }, { DT_UINT, 64, 1 }, { DT_UINT, 32, 1 }, { DT_INT, 16, 1 },
		{ DT_INT, 4, 1 }, { DT_UINT, 4, 1 }, { DT_INT, 2, 1 } };
	if ((allow & RANDOM_NARROW) != 0 && rng_below(rng, 3) == 0)
		return narrow[rng_below(rng, sizeof narrow / sizeof *narrow)];
	return wide[rng_below(rng, sizeof wide / sizeof *wide)];
}

static DType number_type(Gen *g, int lanes)
{
	DType t;
	do
		t = random_type(g->rng, g->allow);
	while (t.kind == DT_BOOL);
	return dtype_vector(t, lanes);
}

static const Expr *node(Gen *g, Node op, DType t, const Expr *a, const Expr *b)
{
	const Expr *arg[2] = { a, b };
	if (below(g, 2) == 0)
		return ir_node(g->ir, op, t, arg, b != NULL ? 2 : 1);
	return b != NULL ? ir_binary(g->ir, op, a, b) : ir_unary(g->ir, op, a);
}

static const Expr *constant(Gen *g, DType t)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY, -0.0, 0x1p-149, 1e300, 65504, 0.1 };
	if (dtype_is_float(t)) {
		if (may(g, RANDOM_SPECIAL, 20))
			return ir_const_float(g->ir, t, odd[below(g, 8)]);
		return ir_const_float(g->ir, t, (below(g, 65) - 32) / 8.0);
	}
	if (may(g, RANDOM_SPECIAL, 20))
		return ir_const_int(g->ir, t,
			below(g, 2) == 0 ? INT64_MIN >> (64 - t.bits) : INT64_MAX >> (64 - t.bits));
	return ir_const_int(g->ir, t, below(g, 17) - 8);
}

/* e brought into [0, extent) by the floor remainder. */
static const Expr *within(Gen *g, const Expr *e, const Expr *extent)
{
	const Expr *arg[2] = { e, ir_splat(g->ir, extent, e->type.lanes) };
	return ir_node(g->ir, IR_MOD, e->type, arg, 2);
}

static const Expr *load(Gen *g, const Buf *b, int lanes, int depth)
{
	const Expr *idx[IR_MAX_RANK];
	int wide = b->rank > 0 ? below(g, b->rank) : 0;
	g->loads++;
	for (int k = 0; k < b->rank; k++) {
		DType t = dtype_vector(I64, k == wide || below(g, 4) == 0 ? lanes : 1);
		idx[k] = within(g, gen(g, t, depth - 1), b->shape[k]);
	}
	g->loads--;
	return ir_load(g->ir, b, idx, b->rank);
}

/* A variable or a load of this very type; NULL if a few draws find none. */
static const Expr *named(Gen *g, DType t, int depth)
{
	for (int tries = 0; tries < 6 && g->n > 0; tries++) {
		const Param *p = &g->var[below(g, g->n)];
		bool load_fits = p->buf != NULL && dtype_eq(p->buf->type, dtype_scalar(t)) &&
		                 (t.lanes == 1 || p->buf->rank > 0);
		if (p->buf == NULL && dtype_eq(p->type, t))
			return ir_var(g->ir, p->name, t);
		if (load_fits && depth > 0 && g->loads < 3)
			return load(g, p->buf, t.lanes, depth);
	}
	return NULL;
}

static const Expr *ramp(Gen *g, DType t)
{
	const Expr *arg[2] = { gen(g, dtype_scalar(t), 0), constant(g, dtype_scalar(t)) };
	return ir_node(g->ir, IR_RAMP, t, arg, 2);
}

static const Expr *leaf(Gen *g, DType t)
{
	const Expr *e = below(g, 3) > 0 ? named(g, t, t.lanes > 1) : NULL;
	if (e != NULL)
		return e;
	if (t.lanes == 1)
		return constant(g, t);
	if (dtype_is_int(t) && below(g, 2) == 0)
		return ramp(g, t);
	return ir_splat(g->ir, gen(g, dtype_scalar(t), 0), t.lanes);
}

static const Expr *choice(Gen *g, DType t, int depth)
{
	const Expr *arg[3] = { gen(g, dtype_vector(BOOL, t.lanes), depth), gen(g, t, depth),
		gen(g, t, depth) };
	if (below(g, 2) == 0)
		return ir_select(g->ir, arg[0], arg[1], arg[2]);
	return ir_node(g->ir, IR_SELECT, t, arg, 3);
}

static const Expr *cast(Gen *g, DType t, int depth)
{
	const Expr *e = gen(g, dtype_vector(random_type(g->rng, g->allow), t.lanes), depth);
	return below(g, 2) == 0 ? ir_cast(g->ir, t, e) : ir_node(g->ir, IR_CAST, t, &e, 1);
}

/* The bits of a number of the same width, or of another number of lanes. */
static const Expr *bits(Gen *g, DType t, int depth)
{
	DType from = t;
	if (t.kind == DT_FLOAT)
		from.kind = DT_INT;
	else if (t.bits == 64 && t.kind == DT_INT)
		from.kind = DT_FLOAT;
	else if (t.bits == 32 && t.lanes == 1 && (g->allow & RANDOM_VECTORS) != 0)
		from = (DType){ DT_UINT, 8, 4 };
	const Expr *e = gen(g, from, depth);
	return ir_node(g->ir, IR_BITCAST, t, &e, 1);
}

static const Expr *lane(Gen *g, DType t, int depth)
{
	int lanes = 2 + below(g, 4);
	const Expr *arg[2] = { gen(g, dtype_vector(t, lanes), depth),
		ir_int(g->ir, below(g, lanes)) };
	return ir_node(g->ir, IR_LANE, t, arg, 2);
}

/* A node that any type has; NULL if the draw says: one of the type's own. */
static const Expr *common(Gen *g, DType t, int depth)
{
	switch (below(g, 12)) {
	case 0: return choice(g, t, depth);
	case 1: return cast(g, t, depth);
	case 2: return t.lanes == 1 && may(g, RANDOM_VECTORS, 60) ? lane(g, t, depth) : NULL;
	case 3: return t.kind != DT_BOOL && t.kind != DT_BFLOAT ? bits(g, t, depth) : NULL;
	case 4:
	case 5: return named(g, t, depth);
	default: return NULL;
	}
}

static const Expr *logic(Gen *g, DType t, int depth)
{
	static const Node join[] = { IR_OR, IR_XOR, IR_AND, IR_EQ, IR_NE };
	static const Node compare[] = { IR_EQ, IR_NE, IR_LT, IR_LE };
	DType of = number_type(g, t.lanes);
	switch (below(g, 4)) {
	case 0: return node(g, join[below(g, 5)], t, gen(g, t, depth), gen(g, t, depth));
	case 1: return node(g, IR_NOT, t, gen(g, t, depth), NULL);
	case 2:
		if (dtype_is_float(of))
			return node(g, IR_ISNAN, t, gen(g, of, depth), NULL);
		break;
	default: break;
	}
	return node(g, compare[below(g, 4)], t, gen(g, of, depth), gen(g, of, depth));
}

/* Products of bytes, four for each lane. */
static const Expr *dot(Gen *g, DType t, int depth)
{
	const Expr *arg[3] = { gen(g, t, depth) };
	for (int k = 1; k < 3; k++)
		arg[k] = gen(g, (DType){ below(g, 2) == 0 ? DT_INT : DT_UINT, 8, 4 * t.lanes }, depth);
	return ir_node(g->ir, IR_DOT4, t, arg, 3);
}

static const Expr *integer(Gen *g, DType t, int depth)
{
	static const Node two[] = { IR_ADD, IR_ADD, IR_SUB, IR_MUL, IR_MIN, IR_MAX, IR_OR, IR_XOR,
		IR_AND };
	static const Node one[] = { IR_NEG, IR_NOT, IR_ABS };
	static const Node quotient[] = { IR_DIV, IR_MOD, IR_TDIV, IR_TMOD };
	if (t.kind == DT_INT && t.bits == 32 && t.lanes <= 16 && may(g, RANDOM_VECTORS, 15))
		return dot(g, t, depth);
	const Expr *a = gen(g, t, depth);
	switch (below(g, 6)) {
	case 0: return node(g, one[below(g, 3)], t, a, NULL);
	case 1: {
		int64_t d = dtype_wrap(t, below(g, 9) - 4);
		return node(g, quotient[below(g, 4)], t, a, ir_const_int(g->ir, t, d != 0 ? d : 1));
	}
	case 2:
		return node(g, below(g, 2) == 0 ? IR_SHL : IR_SHR, t, a,
			ir_const_int(g->ir, t, below(g, t.bits < 8 ? 2 : 8)));
	default: return node(g, two[below(g, 9)], t, a, gen(g, t, depth));
	}
}

static const Expr *real(Gen *g, DType t, int depth)
{
	static const Node two[] = { IR_ADD, IR_ADD, IR_SUB, IR_MUL, IR_MUL, IR_DIV, IR_MIN, IR_MAX,
		IR_TMOD };
	static const Node one[] = { IR_NEG, IR_ABS, IR_SQRT, IR_FLOOR, IR_CEIL, IR_ROUND,
		IR_TRUNC };
	static const Node libm[] = { IR_EXP, IR_LOG, IR_TANH, IR_ERF, IR_SIGMOID, IR_SIN, IR_COS };
	const Expr *a = gen(g, t, depth);
	if (may(g, RANDOM_LIBM, 15))
		return node(g, libm[below(g, 7)], t, a, NULL);
	if (may(g, RANDOM_LIBM, 3))
		return node(g, IR_POW, t, a, gen(g, t, depth));
	switch (below(g, 5)) {
	case 0: return node(g, one[below(g, 7)], t, a, NULL);
	case 1: {
		const Expr *arg[3] = { a, gen(g, t, depth), gen(g, t, depth) };
		return below(g, 2) == 0 ? ir_fma(g->ir, arg[0], arg[1], arg[2])
		                        : ir_node(g->ir, IR_FMA, t, arg, 3);
	}
	default: return node(g, two[below(g, 9)], t, a, gen(g, t, depth));
	}
}

static const Expr *gen(Gen *g, DType t, int depth)
{
	if (depth <= 0 || below(g, 10) == 0)
		return leaf(g, t);
	const Expr *e = common(g, t, depth - 1);
	if (e != NULL)
		return e;
	if (t.kind == DT_BOOL)
		return logic(g, t, depth - 1);
	return dtype_is_int(t) ? integer(g, t, depth - 1) : real(g, t, depth - 1);
}

const Expr *random_expr(
	Rng *rng, Ir *ir, unsigned allow, DType t, const Param *var, int n, int depth)
{
	Gen g = { rng, ir, allow, var, n, 0 };
	return gen(&g, t, depth);
}
