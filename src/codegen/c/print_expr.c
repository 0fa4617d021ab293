/*
 * Scalars, and vectors lane by lane. A scalar expression is one expression; of a vector, a ramp, a splat, a variable
 * and a load are asked for one lane. Halves are floats that are rounded after each operation. Functions that C has
 * not stand in the dialect's text. Where the dialect's signed integers do not wrap, sums are those of unsigned ones,
 * but for indices that are proved to fit 32 bits and are computed in them.
 */
#include "codegen/c/print.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void c_refuse(Print *p, const char *what)
{
	if (p->ok)
		fail(p->job->err, ERR_UNSUPPORTED, p->fn->name, "the printer of %s does not print %s", p->d->name, what);
	p->ok = false;
}

const char *c_name(Print *p, const char *s)
{
	Text t = { .arena = p->job->arena };
	text_add(&t, "v");
	for (; *s != 0; s++)
		text_add(&t, isalnum((unsigned char)*s) ? "%c" : *s == '.' ? "_d" : "__", *s);
	return text_str(&t);
}

/* ---- types ---- */

bool c_is_half(DType t)
{
	return dtype_is_float(t) && t.bits == 16;
}

const char *c_type(Print *p, DType t)
{
	if (t.kind == DT_BOOL)
		return p->d->boolean;
	if (t.bits < 8)
		c_refuse(p, "elements of less than a byte");
	if (c_is_half(t) && !p->d->halves)
		c_refuse(p, "f16 and bf16, which the device is not known to have: use f32");
	const char *f = p->d->doubles;
	if (dtype_is_float(t) && t.bits == 64 &&
		(f == NULL || (f[0] != 0 && !target_has_named(p->job->target, f))))
		c_refuse(p, "f64, which the device is not known to have: use f32");
	if (dtype_is_float(t))
		return t.bits == 64 ? "double" : "float";
	int k = t.bits <= 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3;
	return t.kind == DT_UINT ? p->d->uints[k] : p->d->ints[k];
}

const char *c_memory_type(Print *p, DType t)
{
	return c_is_half(t) && p->d->halves ? p->d->uints[1] : c_type(p, t);
}

const char *c_suffix(const Print *p, DType t, bool narrow)
{
	if (dtype_is_float(t))
		return t.bits == 64 ? "f64" : t.bits == 32 ? "f32" : t.kind == DT_BFLOAT ? "bf16" : "f16";
	bool wide = !p->d->vectors || (t.bits == 64 && !narrow);
	if (t.kind == DT_INT)
		return wide ? "s" : "i";
	return wide ? "u" : "w";
}

bool c_is_narrow(const Print *p, const Expr *e)
{
	if (!p->d->vectors || !dtype_eq(dtype_scalar(e->type), I64) || e->op == IR_LOAD || e->op == IR_BITCAST)
		return false;
	if (e->op == IR_VAR)
		return map_find_ptr(&p->narrow, e->name) != NULL;
	Interval i = ir_interval(e, p->env);
	return i.lo >= INT32_MIN && i.hi <= INT32_MAX;
}

/* The type of an expression, alone or of a lane. */
static const char *type_of(Print *p, const Expr *e)
{
	return c_is_narrow(p, e) ? p->d->ints[2] : c_type(p, e->type);
}

/* ---- expressions ---- */

/*
 * The cast of what C computes from arguments of the node's type to that type; nothing where C gives the type itself.
 * C computes small integers as int, and comparisons, which serve as bools.
 */
static const char *cast_of(Print *p, const Expr *e)
{
	DType t = e->type;
	bool own = p->d->vectors && (t.kind == DT_BOOL || (t.kind == DT_FLOAT && t.bits >= 32));
	if (p->d->vectors && c_is_narrow(p, e)) {
		own = true;
		for (int k = 0; k < e->nargs; k++)
			own = own && (!dtype_eq(dtype_scalar(e->arg[k]->type), I64) || c_is_narrow(p, e->arg[k]));
	}
	return own ? "" : arena_printf(p->job->arena, "(%s)", type_of(p, e));
}

static void number(Print *p, const Expr *e)
{
	DType t = e->type;
	if (p->d->vectors && dtype_is_int(t) && t.bits == 64 && c_is_narrow(p, e))
		text_add(p->out, e->i < 0 ? "(%lld)" : "%lld", (long long)e->i);
	else if (p->d->vectors && !dtype_is_float(t))
		text_add(p->out, t.kind == DT_UINT ? "((%s)0x%llxUL)" : "((%s)0x%llxL)", c_type(p, t),
			(unsigned long long)e->i);
	else if (!dtype_is_float(t))
		text_add(p->out, t.kind == DT_UINT ? "((%s)UINT64_C(%llu))" : "((%s)(int64_t)UINT64_C(%llu))", c_type(p, t),
			(unsigned long long)e->i);
	else if (isnan(e->f))
		text_add(p->out, "((%s)%s)", c_type(p, t), p->d->nan);
	else if (isinf(e->f))
		text_add(p->out, "((%s)%s%s)", c_type(p, t), e->f < 0 ? "-" : "", p->d->inf);
	else if (p->d->vectors && t.bits <= 32)
		text_add(p->out, signbit(e->f) ? "(%a%s)" : "%a%s", e->f, p->d->float_end);
	else
		text_add(p->out, "((%s)%a)", c_type(p, t), e->f);
}

/* Operators of C that mean the same on our types, up to the cast of the result. */
const char *c_infix(Node op)
{
	static const char *const infix[IR_NODE_COUNT] = { [IR_OR] = "|",
		[IR_XOR] = "^",
		[IR_AND] = "&",
		[IR_EQ] = "==",
		[IR_NE] = "!=",
		[IR_LT] = "<",
		[IR_LE] = "<=",
		[IR_SHL] = "<<",
		[IR_SHR] = ">>",
		[IR_ADD] = "+",
		[IR_SUB] = "-",
		[IR_MUL] = "*" };
	return infix[op];
}

const char *c_function(Node op)
{
	static const char *const function[IR_NODE_COUNT] = { [IR_DIV] = "div",
		[IR_MOD] = "mod",
		[IR_TDIV] = "tdiv",
		[IR_TMOD] = "tmod",
		[IR_MIN] = "min",
		[IR_MAX] = "max",
		[IR_FMA] = "fma",
		[IR_POW] = "pow",
		[IR_ABS] = "abs",
		[IR_EXP] = "exp",
		[IR_LOG] = "log",
		[IR_SQRT] = "sqrt",
		[IR_TANH] = "tanh",
		[IR_ERF] = "erf",
		[IR_SIGMOID] = "sigmoid",
		[IR_SIN] = "sin",
		[IR_COS] = "cos",
		[IR_ATAN] = "atan",
		[IR_EXPM1] = "expm1",
		[IR_LOG1P] = "log1p",
		[IR_FLOOR] = "floor",
		[IR_CEIL] = "ceil",
		[IR_ROUND] = "round",
		[IR_TRUNC] = "trunc" };
	return function[op];
}

/* What leads from a type to a float or double that can be rounded to a half. */
static const char *exactly(const Print *p, DType from)
{
	if (!p->d->vectors)
		return "(double)";
	if (dtype_is_float(from))
		return from.bits == 64 ? "odd_f64" : "(float)";
	return from.kind == DT_UINT ? "odd_u" : from.kind == DT_INT ? "odd_s" : "(float)";
}

static void cast(Print *p, const Expr *e, const char *lane)
{
	DType to = e->type, from = e->arg[0]->type;
	bool rounds = c_is_half(to), saturates = dtype_is_float(from) && dtype_is_int(to);
	if (to.kind == DT_BOOL)
		text_add(p->out, "(0 != ");
	else if (saturates && p->d->vectors)
		text_add(p->out, "((%s)convert_%s_sat_rtz(", type_of(p, e), c_type(p, to));
	else if (saturates)
		text_add(p->out, "((%s)saturate_%s(%d, ", c_type(p, to), c_suffix(p, to, false), to.bits);
	else if (rounds)
		text_add(p->out, "round_%s(%s(", c_suffix(p, to, false), exactly(p, from));
	else
		text_add(p->out, "((%s)", type_of(p, e));
	c_expr(p, e->arg[0], lane);
	text_add(p->out, saturates || rounds ? "))" : ")");
}

/* Through an unsigned integer of the width. */
static void bitcast(Print *p, const Expr *e, const char *lane)
{
	DType to = e->type, from = e->arg[0]->type;
	if (to.bits != from.bits)
		c_refuse(p, "bits as a type of another width");
	if (p->d->vectors && !c_is_half(to) && !c_is_half(from)) {
		text_add(p->out, "as_%s((%s)", c_type(p, to), c_type(p, from));
		c_expr(p, e->arg[0], lane);
		text_add(p->out, ")");
		return;
	}
	bool floats = dtype_is_float(to);
	text_add(p->out, floats ? "from_bits_%s(" : "((%s)", floats ? c_suffix(p, to, false) : c_type(p, to));
	text_add(p->out, dtype_is_float(from) ? "bits_%s(" : "(%s)(",
		dtype_is_float(from) ? c_suffix(p, from, false) : c_type(p, (DType){ DT_UINT, from.bits, 1 }));
	c_expr(p, e->arg[0], lane);
	text_add(p->out, "))");
}

bool c_is_variable(const Print *p, const char *buf, const Expr *idx)
{
	int64_t at;
	const MapEntry *e = map_find_ptr(&p->lanes, buf);
	if (e == NULL)
		return false;
	if (idx->type.lanes > 1)
		return idx->op == IR_RAMP && ir_is_const(idx->arg[0], 0) && ir_is_const(idx->arg[1], 1) &&
		       idx->type.lanes == (int)e->num;
	return ir_is_int(idx, &at) && at >= 0 && at < e->num;
}

/* Lane k of a variable. */
static void variable(Print *p, const char *name, int lanes, const char *lane)
{
	const char *v = c_name(p, name);
	if (lanes == 1 || lane == NULL)
		text_add(p->out, "%s", v);
	else if (!p->d->vectors)
		text_add(p->out, "%s[%s]", v, lane);
	else if (c_has_vector(p, lanes))
		text_add(p->out, "%s.s%x", v, (unsigned)atoi(lane));
	else
		text_add(p->out, "%s_%s", v, lane);
}

void c_access(Print *p, const char *buf, const Expr *idx, const char *lane)
{
	int64_t at;
	if (c_is_variable(p, buf, idx)) {
		int lanes = (int)map_find_ptr(&p->lanes, buf)->num;
		if (idx->type.lanes == 1 && ir_is_int(idx, &at))
			lane = arena_printf(p->job->arena, "%lld", (long long)at);
		variable(p, buf, lanes, lane);
		return;
	}
	text_add(p->out, "%s[", c_name(p, buf));
	c_expr(p, idx, lane);
	text_add(p->out, "]");
}

static void load(Print *p, const Expr *e, const char *lane)
{
	bool half = c_is_half(e->type) && !c_is_variable(p, e->name, e->arg[0]); /* a variable is a float */
	if (half)
		text_add(p->out, "from_bits_%s(", c_suffix(p, e->type, false));
	c_access(p, e->name, e->arg[0], lane);
	if (half)
		text_add(p->out, ")");
}

/* The sum of four products of bytes, of lane 4 l to 4 l + 3. */
static void dot4(Print *p, const Expr *e, const char *lane)
{
	text_add(p->out, "(");
	c_expr(p, e->arg[0], lane);
	for (int k = 0; k < 4; k++) {
		const char *byte = p->d->vectors ? arena_printf(p->job->arena, "%d", 4 * (lane != NULL ? atoi(lane) : 0) + k)
		                                 : arena_printf(p->job->arena, "(4 * (%s) + %d)", lane != NULL ? lane : "0", k);
		text_add(p->out, " + (%s)", p->d->ints[2]);
		c_expr(p, e->arg[1], byte);
		text_add(p->out, " * (%s)", p->d->ints[2]);
		c_expr(p, e->arg[2], byte);
	}
	text_add(p->out, ")");
}

static bool is_sum(Node op)
{
	return op == IR_ADD || op == IR_SUB || op == IR_MUL || op == IR_SHL;
}

static void infix(Print *p, const Expr *e, const char *lane)
{
	DType t = e->type;
	bool narrow = c_is_narrow(p, e);
	/* The sum of signed integers that may not fit: of unsigned ones, cast back. */
	bool wraps = p->d->vectors && t.kind == DT_INT && t.bits >= 32 && is_sum(e->op) && !narrow;
	const char *as = wraps ? arena_printf(p->job->arena, "(%s)", p->d->uints[t.bits == 64 ? 3 : 2]) : "";
	const char *back = wraps ? arena_printf(p->job->arena, "(%s)", type_of(p, e)) : cast_of(p, e);
	text_add(p->out, back[0] != 0 ? "(%s(%s" : "%s(%s", back, as);
	c_expr(p, e->arg[0], lane);
	text_add(p->out, " %s %s", c_infix(e->op), e->op == IR_SHL ? "" : as);
	c_expr(p, e->arg[1], lane);
	text_add(p->out, back[0] != 0 ? "))" : ")");
}

/* C's own division: the divisor is neither 0 nor -1. */
static bool divides_plainly(const Print *p, const Expr *e)
{
	if (!p->d->vectors || (e->op != IR_TDIV && e->op != IR_TMOD) || !dtype_is_int(e->type))
		return false;
	Interval i = ir_interval(e->arg[1], p->env);
	return i.lo > 0 || i.hi < -1;
}

static void operation(Print *p, const Expr *e, const char *lane)
{
	DType t = e->arg[0]->type;
	bool half = c_is_half(e->type) && e->op != IR_SELECT;
	if (half)
		text_add(p->out, "round_%s(", c_suffix(p, e->type, false));
	if (c_infix(e->op) != NULL) {
		infix(p, e, lane);
	} else if (divides_plainly(p, e)) {
		text_add(p->out, "(%s(", cast_of(p, e));
		c_expr(p, e->arg[0], lane);
		text_add(p->out, e->op == IR_TDIV ? " / " : " %% ");
		c_expr(p, e->arg[1], lane);
		text_add(p->out, "))");
	} else if (c_function(e->op) != NULL) {
		bool narrow = e->nargs > 0;
		for (int k = 0; k < e->nargs; k++)
			narrow = narrow && c_is_narrow(p, e->arg[k]);
		text_add(p->out, "(%s%s_%s(", cast_of(p, e), c_function(e->op), half ? "f32" : c_suffix(p, t, narrow));
		for (int k = 0; k < e->nargs; k++) {
			text_add(p->out, k > 0 ? ", " : "");
			c_expr(p, e->arg[k], lane);
		}
		text_add(p->out, "))");
	} else if (e->op == IR_NEG || e->op == IR_NOT) {
		bool wraps = p->d->vectors && e->op == IR_NEG && t.kind == DT_INT && t.bits >= 32;
		text_add(p->out, "(%s%s", wraps ? arena_printf(p->job->arena, "(%s)", type_of(p, e)) : cast_of(p, e),
			e->op == IR_NEG ? "-" : t.kind == DT_BOOL ? "!" : "~");
		if (wraps)
			text_add(p->out, "(%s)", p->d->uints[t.bits == 64 ? 3 : 2]);
		c_expr(p, e->arg[0], lane);
		text_add(p->out, ")");
	} else if (e->op == IR_ISNAN) {
		text_add(p->out, "is_nan(");
		c_expr(p, e->arg[0], lane);
		text_add(p->out, ")");
	} else {
		assert(e->op == IR_SELECT); /* lazy, as C's is */
		text_add(p->out, "(");
		c_expr(p, e->arg[0], lane);
		text_add(p->out, " ? ");
		c_expr(p, e->arg[1], lane);
		text_add(p->out, " : ");
		c_expr(p, e->arg[2], lane);
		text_add(p->out, ")");
	}
	if (half)
		text_add(p->out, ")");
}

/* A lane of a variable that is a vector of bools is -1 or 0. */
static void variable_of(Print *p, const Expr *e, const char *lane)
{
	bool mask = lane != NULL && p->d->vectors && e->type.kind == DT_BOOL && c_has_vector(p, e->type.lanes);
	if (mask)
		text_add(p->out, "(0 != ");
	variable(p, e->name, e->type.lanes, lane);
	if (mask)
		text_add(p->out, ")");
}

void c_expr(Print *p, const Expr *e, const char *lane)
{
	if (!p->ok)
		return;
	if (e->type.lanes == 1)
		lane = NULL;
	switch (e->op) {
	case IR_INT:
	case IR_FLOAT: number(p, e); break;
	case IR_VAR: variable_of(p, e, lane); break;
	case IR_LOAD: load(p, e, lane); break;
	case IR_RAMP: {
		bool wraps = p->d->vectors && !c_is_narrow(p, e);
		const char *as = wraps ? arena_printf(p->job->arena, "(%s)", p->d->uints[3])
		                       : p->d->vectors ? "" : arena_printf(p->job->arena, "(%s)", c_type(p, e->type));
		text_add(p->out, "((%s)(%s", type_of(p, e), p->d->vectors ? as : "");
		c_expr(p, e->arg[0], NULL);
		text_add(p->out, " + %s(%s) * %s", as, lane, p->d->vectors ? as : "");
		c_expr(p, e->arg[1], NULL);
		text_add(p->out, "))");
		break;
	}
	case IR_SPLAT: c_expr(p, e->arg[0], NULL); break;
	case IR_LANE: c_expr(p, e->arg[0], arena_printf(p->job->arena, "%lld", (long long)e->arg[1]->i)); break;
	case IR_CAST: cast(p, e, lane); break;
	case IR_BITCAST: bitcast(p, e, lane); break;
	case IR_DOT4: dot4(p, e, lane); break;
	default: operation(p, e, lane); break;
	}
}
