/*
 * What the tests of bounds and simplify share: variables with ranges read from a line such as
 * "n 1..99 %4, i 0..n-1, x: f32, c: boolx4, j" (without a range: any value), values drawn for them,
 * and an evaluator of expressions that shares no code with the room it tests.
 */
#ifndef TESTS_IR_VALUES_H
#define TESTS_IR_VALUES_H

#include "base/rng.h"
#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/text/ir_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 big;

enum { VARS = 12, LANES = 16 };

typedef struct Value {
	int64_t i[LANES]; /* wrapped to the type; u64 as its bits */
	double f[LANES];
} Value;

typedef struct Vars {
	Ir *ir;
	int n;
	Param param[VARS];
	const Expr *lo[VARS], *hi[VARS]; /* inclusive; NULL: any */
	int64_t mod[VARS];
	Value value[VARS];
	const Range *env;
} Vars;

static inline int64_t wrap_to(DType t, big v)
{
	if (t.kind == DT_BOOL)
		return v != 0;
	uint64_t bits = (uint64_t)v << (64 - t.bits); /* v modulo 2^64 first */
	return t.kind == DT_UINT ? (int64_t)(bits >> (64 - t.bits))
	                         : (int64_t)bits >> (64 - t.bits);
}

/* The number that an integer of the type means. */
static inline big number_of(DType t, int64_t v)
{
	return t.kind == DT_UINT && t.bits == 64 ? (big)(uint64_t)v : v;
}

static inline const Expr *read_expr(Vars *v, const char *text)
{
	Err err = { 0 };
	const Expr *e = ir_parse_expr(v->ir, text, v->param, v->n, &err);
	if (e == NULL)
		ck_abort_msg("%s: %s: %s", text, err.place, err.text);
	return e;
}

static inline void vars_fact(Vars *v, int k)
{
	const char *name = v->param[k].name;
	if (v->lo[k] == NULL)
		return;
	const Expr *end = ir_add(v->ir, v->hi[k], ir_int(v->ir, 1));
	const Range *r = ir_range_for(v->ir, name, v->lo[k], end, v->env);
	if (v->mod[k] > 1) {
		Range *m = arena_copy(ir_arena(v->ir), r, sizeof *r);
		m->mod = v->mod[k];
		r = m;
	}
	v->env = r;
}

static inline void vars_read(Vars *v, Ir *ir, const char *text)
{
	char item[128], name[32], type[32], lo[64], hi[64];
	*v = (Vars){ .ir = ir };
	while (*text != 0) {
		size_t n = 0;
		for (int open = 0; text[n] != 0 && (text[n] != ',' || open > 0); n++)
			open += (text[n] == '(') - (text[n] == ')');
		snprintf(item, sizeof item, "%.*s", (int)n, text);
		text += n + (text[n] == ',');
		int k = v->n;
		Param *p = &v->param[k];
		p->type = I64;
		v->mod[k] = 1;
		char *mod = strchr(item, '%');
		if (mod != NULL) {
			v->mod[k] = atoi(mod + 1);
			*mod = 0;
		}
		char *dots = strstr(item, "..");
		if (sscanf(item, " %31[^: ] : %31s", name, type) == 2) {
			ck_assert(dtype_parse(type, strlen(type), &p->type));
		} else if (dots != NULL) {
			*dots = 0;
			ck_assert_int_eq(sscanf(item, " %31s %63[^\n]", name, lo), 2);
			ck_assert_int_eq(sscanf(dots + 2, "%63[^\n]", hi), 1);
			v->lo[k] = read_expr(v, lo);
			v->hi[k] = read_expr(v, hi);
		} else {
			ck_assert_int_eq(sscanf(item, " %31s", name), 1);
		}
		p->name = ir_name(ir, name);
		v->n++;
		vars_fact(v, k);
	}
}

static inline bool eval(const Vars *v, const Expr *e, Value *out);

static inline int64_t eval_int(const Vars *v, const Expr *e)
{
	Value x;
	ck_assert(eval(v, e, &x));
	return x.i[0];
}

/* Any bits, but mostly near the ends and zero. */
static inline int64_t any_int(Rng *r)
{
	static const int64_t odd[] = { 0, 1, -1, 2, -2, 7, INT64_MAX, INT64_MIN, INT32_MAX, 255,
		256 };
	if (rng_below(r, 3) == 0)
		return odd[rng_below(r, LEN(odd))];
	return (int64_t)(rng_next(r) >> rng_below(r, 64));
}

static inline double any_float(Rng *r)
{
	static const double odd[] = { 0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-126,
		0x1.fp127, 0x1p-149 };
	if (rng_below(r, 2) == 0)
		return odd[rng_below(r, LEN(odd))];
	return (float)(rng_normal(r) * pow(2, (double)rng_range(r, -20, 20)));
}

/* False if a range is empty under the values drawn before it. */
static inline bool vars_draw(Vars *v, Rng *r)
{
	for (int k = 0; k < v->n; k++) {
		DType t = v->param[k].type;
		for (int l = 0; l < t.lanes; l++) {
			v->value[k].i[l] = wrap_to(dtype_scalar(t), any_int(r));
			v->value[k].f[l] = any_float(r);
		}
		if (v->lo[k] == NULL)
			continue;
		int64_t lo = eval_int(v, v->lo[k]), hi = eval_int(v, v->hi[k]), m = v->mod[k];
		if (lo > hi)
			return false;
		int64_t x =
			rng_below(r, 4) == 0 ? (rng_below(r, 2) ? lo : hi) : rng_range(r, lo, hi);
		int64_t rem = ((x % m) + m) % m;
		x = x - rem >= lo ? x - rem : x - rem + m;
		if (x > hi)
			return false;
		v->value[k].i[0] = x;
	}
	return true;
}

static inline big floor_quotient(big a, big b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline bool eval_ints(Node op, DType t, int64_t x, int64_t y, int64_t *out)
{
	big a = number_of(t, x), b = number_of(t, y), c;
	switch (op) {
	case IR_ADD: c = a + b; break;
	case IR_SUB: c = a - b; break;
	case IR_MUL: *out = wrap_to(t, (int64_t)((uint64_t)x * (uint64_t)y)); return true;
	case IR_DIV:
	case IR_TDIV:
		if (b == 0)
			return false;
		c = op == IR_DIV ? floor_quotient(a, b) : a / b;
		break;
	case IR_MOD:
	case IR_TMOD:
		if (b == 0)
			return false;
		c = op == IR_MOD ? a - floor_quotient(a, b) * b : a % b;
		break;
	case IR_MIN: c = a < b ? a : b; break;
	case IR_MAX: c = a > b ? a : b; break;
	case IR_AND: c = x & y; break;
	case IR_OR: c = x | y; break;
	case IR_XOR: c = x ^ y; break;
	case IR_SHL:
	case IR_SHR:
		if (b < 0 || b >= t.bits)
			return false;
		c = op == IR_SHL ? (big)(int64_t)((uint64_t)x << b) : a >> b;
		break;
	case IR_EQ: *out = a == b; return true;
	case IR_NE: *out = a != b; return true;
	case IR_LT: *out = a < b; return true;
	case IR_LE: *out = a <= b; return true;
	case IR_NEG: c = -a; break;
	case IR_NOT: *out = t.kind == DT_BOOL ? !x : wrap_to(t, ~x); return true;
	case IR_ABS: c = a < 0 ? -a : a; break;
	default: return false;
	}
	*out = wrap_to(t, c);
	return true;
}

static inline double round_as(DType t, double v)
{
	return t.bits == 32 ? (double)(float)v : v;
}

static inline bool eval_floats(Node op, DType t, const double *x, double *f, int64_t *i)
{
	double a = x[0], b = x[1];
	switch (op) {
	case IR_ADD: *f = round_as(t, a + b); return true;
	case IR_SUB: *f = round_as(t, a - b); return true;
	case IR_MUL: *f = round_as(t, a * b); return true;
	case IR_DIV: *f = round_as(t, a / b); return true;
	case IR_NEG: *f = -a; return true;
	case IR_ABS: *f = fabs(a); return true;
	case IR_FLOOR: *f = floor(a); return true;
	case IR_CEIL: *f = ceil(a); return true;
	case IR_ROUND: *f = rint(a); return true;
	case IR_TRUNC: *f = trunc(a); return true;
	case IR_FMA:
		*f = t.bits == 32 ? (double)fmaf((float)a, (float)b, (float)x[2]) : fma(a, b, x[2]);
		return true;
	case IR_LT: *i = a < b; return true;
	case IR_LE: *i = a <= b; return true;
	case IR_EQ: *i = a == b; return true;
	case IR_NE: *i = a != b; return true;
	default: return false;
	}
}

/* Truncates and saturates, NaN gives 0; of bool: not 0 after that. */
static inline int64_t to_int(DType t, double v)
{
	double least = t.kind == DT_INT ? -ldexp(1, t.bits - 1) : 0;
	double end = ldexp(1, t.kind == DT_INT ? t.bits - 1 : t.bits);
	if (v != v)
		return 0;
	if (trunc(v) >= end)
		return t.kind == DT_INT ? (int64_t)(UINT64_MAX >> (65 - t.bits)) : wrap_to(t, -1);
	return trunc(v) <= least ? (int64_t)least : wrap_to(t, (big)trunc(v));
}

static inline bool eval_cast(DType to, DType from, Value *x, int l)
{
	if (dtype_is_float(to) && dtype_is_float(from))
		x->f[l] = round_as(to, x->f[l]);
	else if (dtype_is_float(to))
		x->f[l] = round_as(to, (double)number_of(from, x->i[l]));
	else if (dtype_is_float(from) && to.kind == DT_BOOL)
		return false; /* left open */
	else if (dtype_is_float(from))
		x->i[l] = to_int(to, x->f[l]);
	else
		x->i[l] = wrap_to(to, x->i[l]);
	return true;
}

static inline bool eval_lane(const Expr *e, const Value *x, int l, Value *out)
{
	DType t = e->arg[0]->type, s = dtype_scalar(t);
	switch (e->op) {
	case IR_RAMP:
		out->i[l] = wrap_to(
			s, (int64_t)((uint64_t)x[0].i[0] + (uint64_t)l * (uint64_t)x[1].i[0]));
		return true;
	case IR_SPLAT:
		out->i[l] = x[0].i[0];
		out->f[l] = x[0].f[0];
		return true;
	case IR_LANE:
		out->i[0] = x[0].i[e->arg[1]->i];
		out->f[0] = x[0].f[e->arg[1]->i];
		return true;
	case IR_CAST:
		*out = x[0];
		for (int k = 0; k < t.lanes; k++)
			if (!eval_cast(dtype_scalar(e->type), s, out, k))
				return false;
		return true;
	case IR_BITCAST: { /* of f32 and 32-bit integers */
		float f = (float)x[0].f[l];
		uint32_t bits = (uint32_t)x[0].i[l];
		if (s.bits != 32)
			return false;
		if (dtype_is_float(s))
			memcpy(&bits, &f, 4);
		if (dtype_is_float(s) && isnan(f))
			bits = 0x7fc00000;
		memcpy(&f, &bits, 4);
		out->f[l] = f;
		out->i[l] = wrap_to(dtype_is_float(e->type) ? I32 : dtype_scalar(e->type), bits);
		return true;
	}
	default: break;
	}
	if (dtype_is_float(t)) {
		double f[3] = { x[0].f[l], x[1].f[l], x[2].f[l] };
		return eval_floats(e->op, s, f, &out->f[l], &out->i[l]);
	}
	return eval_ints(e->op, s, x[0].i[l], x[1].i[l], &out->i[l]);
}

/* False where the value is an error (division by zero) or a node it does not know. */
static inline bool eval(const Vars *v, const Expr *e, Value *out)
{
	Value x[3];
	memset(x, 0, sizeof x);
	memset(out, 0, sizeof *out);
	if (e->op == IR_INT || e->op == IR_FLOAT) {
		out->i[0] = e->i;
		out->f[0] = e->f;
		return true;
	}
	if (e->op == IR_VAR) {
		for (int k = 0; k < v->n; k++)
			if (v->param[k].name == e->name) {
				*out = v->value[k];
				return true;
			}
		return false;
	}
	if (e->op == IR_SELECT) {
		bool used[2] = { false, false }, ok[2];
		if (!eval(v, e->arg[0], &x[0]))
			return false;
		for (int k = 0; k < 2; k++)
			ok[k] = eval(v, e->arg[1 + k], &x[1 + k]);
		for (int l = 0; l < e->type.lanes; l++) {
			int pick = x[0].i[e->arg[0]->type.lanes == 1 ? 0 : l] ? 0 : 1;
			used[pick] = true;
			out->i[l] = x[1 + pick].i[l];
			out->f[l] = x[1 + pick].f[l];
		}
		return (ok[0] || !used[0]) && (ok[1] || !used[1]);
	}
	if (e->nargs > 3)
		return false;
	for (int k = 0; k < e->nargs; k++)
		if (!eval(v, e->arg[k], &x[k]))
			return false;
	int lanes = e->op == IR_LANE ? 1 : e->type.lanes;
	for (int l = 0; l < lanes; l++)
		if (!eval_lane(e, x, l, out))
			return false;
	return true;
}

static inline bool same_bits(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static inline bool same_value(DType t, const Value *a, const Value *b)
{
	for (int l = 0; l < t.lanes; l++)
		if (dtype_is_float(t) ? !same_bits(a->f[l], b->f[l]) : a->i[l] != b->i[l])
			return false;
	return true;
}

/* The values as text, to be shown with a failure. */
static inline const char *vars_show(const Vars *v)
{
	Text t = { .arena = ir_arena(v->ir) };
	for (int k = 0; k < v->n; k++)
		if (dtype_is_float(v->param[k].type))
			text_add(&t, " %s=%g", v->param[k].name, v->value[k].f[0]);
		else
			text_add(&t, " %s=%lld", v->param[k].name, (long long)v->value[k].i[0]);
	return text_str(&t);
}

#endif
