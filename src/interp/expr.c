/*
 * Expressions to interpreter code, one lane of a vector at a time: so ramps, splats and masks cost nothing
 * at run time. A value that a statement has computed is not computed again, except across the arms of
 * a select, of which only one runs.
 */
#include "interp/cx.h"
#include "ir/node.h"

#include <string.h>

bool cx_emit(Cx *c, Ins i)
{
	if (c->ins.n >= CODE_LIMIT || c->pool.n >= 4 * (size_t)CODE_LIMIT)
		return cx_fail(c, ERR_MEMORY, "Fn %s has too much code to interpret", c->at.fn->name);
	vec_push(c->arena, &c->ins, i);
	vec_push(c->arena, &c->origin, c->at);
	return true;
}

uint32_t cx_slots(Cx *c, uint32_t n)
{
	uint32_t slot = c->top;
	c->top += n;
	if (c->top > c->prog->nslot)
		c->prog->nslot = c->top;
	return slot;
}

/* Recent ones are looked through: the same few constants occur over and over. */
static uint32_t constant(Cx *c, Val v)
{
	size_t n = c->constant.n;
	for (size_t k = n; k > 0 && k + 64 > n; k--)
		if (c->constant.at[k - 1].m == v.m)
			return CONSTANT | (uint32_t)(k - 1);
	vec_push(c->arena, &c->constant, v);
	return CONSTANT | (uint32_t)n;
}

uint32_t cx_int(Cx *c, int64_t v)
{
	return constant(c, (Val){ .i = v });
}

void cx_name(Cx *c, const char *name, uint32_t slot, DType t)
{
	vec_push(c->arena, &c->name, ((Named){ name, slot, t }));
}

const Bound *cx_find_buf(const Cx *c, const char *name)
{
	for (size_t k = c->buf.n; k > c->buf_base; k--)
		if (strcmp(c->buf.at[k - 1].name, name) == 0)
			return &c->buf.at[k - 1];
	return NULL;
}

static bool variable(Cx *c, const Expr *e, int lane, uint32_t *slot)
{
	for (size_t k = c->name.n; k > c->name_base; k--) {
		const Named *n = &c->name.at[k - 1];
		if (strcmp(n->name, e->name) == 0) {
			*slot = n->slot + (uint32_t)(n->type.lanes > 1 ? lane : 0);
			return lane < n->type.lanes || n->type.lanes == 1;
		}
	}
	for (int k = 0; k < c->nsym; k++)
		if (strcmp(c->sym[k].name, e->name) == 0) {
			*slot = cx_int(c, c->sym[k].value);
			return true;
		}
	return cx_fail(c, ERR_INPUT, "there is no variable %s", e->name);
}

bool cx_list(Cx *c, const Expr *const *e, int n, int lane, uint32_t *at)
{
	uint32_t slot[RANK];
	if (n > RANK)
		return cx_fail(c, ERR_UNSUPPORTED, "an access has %d indices, more than %d", n, RANK);
	for (int k = 0; k < n; k++)
		if (!cx_expr(c, e[k], lane, &slot[k]))
			return false;
	*at = (uint32_t)c->pool.n;
	for (int k = 0; k < n; k++)
		vec_push(c->arena, &c->pool, slot[k]);
	return true;
}

static bool load(Cx *c, const Expr *e, int lane, uint32_t d)
{
	const Bound *b = cx_find_buf(c, e->name);
	uint32_t list;
	if (b == NULL)
		return cx_fail(c, ERR_INPUT, "there is no buffer %s", e->name);
	if (b->rank != e->nargs)
		return cx_fail(c, ERR_INPUT, "a load of %s has %d indices, but the buffer has %d dimensions", e->name, e->nargs,
			b->rank);
	return cx_list(c, e->arg, e->nargs, lane, &list) &&
	       cx_emit(c,
		       (Ins){ OP_LOAD, 0, b->type.kind, b->type.bits, d, b->view, list, e->nargs });
}

bool cx_move(Cx *c, uint32_t d, uint32_t a)
{
	return cx_emit(c, (Ins){ .op = OP_MOVE, .d = d, .a = a });
}

/* d = cond ? a : b, of which only one is evaluated. */
static bool select_lazy(Cx *c, const Expr *e, int lane, uint32_t d)
{
	uint32_t cond, value;
	if (!cx_expr(c, e->arg[0], lane, &cond))
		return false;
	uint32_t mark = c->cached.index.n;
	size_t to_other = c->ins.n;
	if (!cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = cond }) ||
		!cx_expr(c, e->arg[1], lane, &value) || !cx_move(c, d, value))
		return false;
	map_truncate(&c->cached, mark);
	size_t to_end = c->ins.n;
	if (!cx_emit(c, (Ins){ .op = OP_JUMP }))
		return false;
	c->ins.at[to_other].c = (uint32_t)c->ins.n;
	if (!cx_expr(c, e->arg[2], lane, &value) || !cx_move(c, d, value))
		return false;
	map_truncate(&c->cached, mark);
	c->ins.at[to_end].c = (uint32_t)c->ins.n;
	return true;
}

static const struct {
	Node node;
	DTypeKind kind;
	int bits;
	Op op;
} quick[] = {
	{ IR_ADD, DT_INT, 64, OP_IADD },
	{ IR_SUB, DT_INT, 64, OP_ISUB },
	{ IR_MUL, DT_INT, 64, OP_IMUL },
	{ IR_LT, DT_INT, 64, OP_ILT },
	{ IR_LE, DT_INT, 64, OP_ILE },
	{ IR_EQ, DT_INT, 64, OP_IEQ },
	{ IR_DIV, DT_INT, 64, OP_IFLOOR },
	{ IR_MOD, DT_INT, 64, OP_IMOD },
	{ IR_AND, DT_BOOL, 8, OP_BAND },
	{ IR_ADD, DT_FLOAT, 32, OP_FADD },
	{ IR_SUB, DT_FLOAT, 32, OP_FSUB },
	{ IR_MUL, DT_FLOAT, 32, OP_FMUL },
	{ IR_ADD, DT_FLOAT, 64, OP_DADD },
	{ IR_MUL, DT_FLOAT, 64, OP_DMUL },
};

/* d = node(a, b) of arguments of type t. */
static bool binary(Cx *c, Node op, DType t, uint32_t d, uint32_t a, uint32_t b)
{
	Ins i = { OP_GEN2, (uint8_t)op, t.kind, t.bits, d, a, b, 0 };
	if (c->domain == INTERP_MODP && dtype_is_float(t)) {
		i.op = OP_MOD2;
		return cx_emit(c, i);
	}
	for (size_t k = 0; k < sizeof quick / sizeof *quick; k++)
		if (quick[k].node == op && quick[k].kind == (DTypeKind)t.kind &&
			quick[k].bits == t.bits)
			i.op = (uint8_t)quick[k].op;
	return cx_emit(c, i);
}

/* d = a, of type `from`, as bits of type `to`; both scalar. */
static bool as_bits(Cx *c, DType to, DType from, uint32_t d, uint32_t a)
{
	return cx_emit(c, (Ins){ OP_BITCAST, IR_BITCAST, to.kind, to.bits, d, a, 0,
				  (uint32_t)from.kind << 8 | from.bits });
}

/* A lane of bits that lie in several lanes of the argument, the first one lowest. */
static bool join_lanes(Cx *c, const Expr *arg, int first, int n, uint32_t d)
{
	DType from = arg->type, piece = { DT_UINT, from.bits, 1 };
	uint32_t part = cx_slots(c, 1), lane;
	for (int k = 0; k < n; k++) {
		if (!cx_expr(c, arg, first + k, &lane) ||
			!as_bits(c, piece, from, k == 0 ? d : part, lane))
			return false;
		if (k > 0 && (!binary(c, IR_SHL, DT(UINT, 64), part, part,
				      cx_int(c, (int64_t)k * from.bits)) ||
				     !binary(c, IR_OR, DT(UINT, 64), d, d, part)))
			return false;
	}
	return true;
}

/* The same bits in lanes of any width, as in memory: little-endian, the first lane lowest. */
static bool bitcast(Cx *c, const Expr *e, int lane, uint32_t d)
{
	DType to = e->type, from = e->arg[0]->type, whole = { DT_UINT, to.bits, 1 };
	uint32_t arg;
	if (c->domain == INTERP_MODP && (dtype_is_float(from) || dtype_is_float(to)))
		return cx_fail(c, ERR_UNSUPPORTED, "floats have no bits modulo a prime: interpret in f64 instead");
	if (to.bits > from.bits) {
		int n = to.bits / from.bits;
		return join_lanes(c, e->arg[0], lane * n, n, d) && as_bits(c, to, whole, d, d);
	}
	int n = from.bits / to.bits; /* lanes made of one */
	if (!cx_expr(c, e->arg[0], lane / n, &arg))
		return false;
	if (n == 1)
		return as_bits(c, to, from, d, arg);
	return as_bits(c, (DType){ DT_UINT, from.bits, 1 }, from, d, arg) &&
	       binary(c, IR_SHR, DT(UINT, 64), d, d, cx_int(c, lane % n * to.bits)) &&
	       as_bits(c, whole, DT(UINT, 64), d, d) && as_bits(c, to, whole, d, d);
}

static bool cast_lane(Cx *c, const Expr *e, int lane, uint32_t d)
{
	uint32_t a;
	return cx_expr(c, e, lane, &a) && cx_emit(c, (Ins){ OP_CAST, IR_CAST, DT_INT, 32, d, a, 0,
							     (uint32_t)e->type.kind << 8 | e->type.bits });
}

/* d = the sum's lane, then four products, one after the other. */
static bool dot4(Cx *c, const Expr *e, int lane, uint32_t d)
{
	uint32_t sum, a = cx_slots(c, 1), b = cx_slots(c, 1);
	if (!cx_expr(c, e->arg[0], lane, &sum) || !cx_move(c, d, sum))
		return false;
	for (int k = 4 * lane; k < 4 * lane + 4; k++)
		if (!cast_lane(c, e->arg[1], k, a) || !cast_lane(c, e->arg[2], k, b) ||
			!binary(c, IR_MUL, I32, a, a, b) || !binary(c, IR_ADD, I32, d, d, a))
			return false;
	return true;
}

/* Nodes of one to three arguments, each evaluated. */
static bool operation(Cx *c, const Expr *e, int lane, uint32_t d)
{
	uint32_t s[3] = { 0 };
	if (e->nargs < 1 || e->nargs > 3)
		return cx_fail(c, ERR_INPUT, "an operation has %d arguments, but wants 1 to 3", e->nargs);
	for (int k = 0; k < e->nargs; k++)
		if (!cx_expr(c, e->arg[k], lane, &s[k]))
			return false;
	DType t = e->arg[0]->type;
	bool modp = c->domain == INTERP_MODP && (dtype_is_float(t) || dtype_is_float(e->type));
	if (e->nargs == 2)
		return binary(c, e->op, t, d, s[0], s[1]);
	Ins i = { OP_GEN1, (uint8_t)e->op, t.kind, t.bits, d, s[0], s[1], s[2] };
	if (e->op == IR_FMA) {
		i.op = modp ? OP_MFMA : OP_FMA;
	} else if (e->op == IR_CAST) {
		i.op = modp ? OP_MCAST : OP_CAST;
		i.kind = e->type.kind;
		i.bits = e->type.bits;
		i.c = (uint32_t)t.kind << 8 | t.bits;
	} else if (modp) {
		i.op = OP_MOD1;
	}
	return cx_emit(c, i);
}

static bool ramp(Cx *c, const Expr *e, int lane, uint32_t *slot)
{
	uint32_t base, stride, step = cx_slots(c, 1);
	DType t = e->arg[0]->type;
	if (!cx_expr(c, e->arg[0], 0, &base) || !cx_expr(c, e->arg[1], 0, &stride))
		return false;
	*slot = lane == 0 ? base : cx_slots(c, 1);
	Val k = { .i = lane };
	if (dtype_is_float(t))
		k = c->domain == INTERP_MODP ? (Val){ .m = modp_of_int(lane, false) }
		                         : (Val){ .f = lane };
	return lane == 0 || (binary(c, IR_MUL, t, step, stride, constant(c, k)) &&
				    binary(c, IR_ADD, t, *slot, base, step));
}

bool cx_expr(Cx *c, const Expr *e, int lane, uint32_t *slot)
{
	if (e->depth > EXPR_DEPTH)
		return cx_fail(c, ERR_UNSUPPORTED, "an expression is nested more than %d deep", EXPR_DEPTH);
	if (e->type.lanes <= 1)
		lane = 0;
	switch (e->op) {
	case IR_INT: *slot = cx_int(c, e->i); return true;
	case IR_FLOAT:
		*slot = constant(c,
			c->domain == INTERP_MODP ? (Val){ .m = interp_modp_of(e->f) } : (Val){ .f = e->f });
		return true;
	case IR_VAR: return variable(c, e, lane, slot);
	case IR_SPLAT: return cx_expr(c, e->arg[0], 0, slot);
	case IR_LANE:
		if (e->arg[1]->i < 0 || e->arg[1]->i >= e->arg[0]->type.lanes)
			return cx_fail(c, ERR_INPUT, "lane %lld is taken of a vector that has %d", (long long)e->arg[1]->i,
				e->arg[0]->type.lanes);
		return cx_expr(c, e->arg[0], (int)e->arg[1]->i, slot);
	default: break;
	}
	uint64_t key = (uint64_t)e->id << 16 | (uint64_t)lane;
	const MapEntry *known = map_find(&c->cached, key);
	if (known != NULL) {
		*slot = (uint32_t)known->num;
		return true;
	}
	bool ok;
	if (e->op == IR_RAMP) {
		ok = ramp(c, e, lane, slot);
	} else {
		*slot = cx_slots(c, 1);
		ok = e->op == IR_LOAD      ? load(c, e, lane, *slot)
		     : e->op == IR_SELECT  ? select_lazy(c, e, lane, *slot)
		     : e->op == IR_BITCAST ? bitcast(c, e, lane, *slot)
		     : e->op == IR_DOT4    ? dot4(c, e, lane, *slot)
		     : e->op == IR_MMA || e->op == IR_LDMATRIX || e->op == IR_LDMATRIX_T
			? cx_fail(c, ERR_INPUT, "all lanes of a warp compute %s together, and here each thread runs alone: "
				"run the set with the intrinsic instead", ir_node_row[e->op].text)
		                           : operation(c, e, lane, *slot);
	}
	if (ok)
		map_add(&c->cached, key)->num = *slot;
	return ok;
}
