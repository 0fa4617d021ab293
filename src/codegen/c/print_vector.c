/*
 * Whole vectors, for dialects that have them. A vector of bools is one of ints, -1 where it is true, as comparisons
 * give it. Rows of memory are vload; what has no form as a vector (a gather, a quotient of integers) is put together
 * from its lanes. A select whose sides load is lazy: by one condition of all lanes, or lane by lane; where all lanes
 * agree, one side alone is computed. A part of a row of floats is loaded by a function.
 * Halves are vectors of floats, converted and rounded as a whole by functions of the dialect.
 */
#include "codegen/c/print.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

bool c_has_vector(const Print *p, int lanes)
{
	return p->d->vectors && (lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16);
}

const char *c_vector_type(Print *p, DType t, bool narrow)
{
	const char *one = t.kind == DT_BOOL || narrow ? p->d->ints[2] : c_type(p, t);
	return t.lanes == 1 ? one : arena_printf(p->job->arena, "%s%d", one, t.lanes);
}

/* All of its parts are narrow, too: there are no casts between the lanes of an operator. */
static bool narrow(const Print *p, const Expr *e)
{
	if (!c_is_narrow(p, e))
		return false;
	if (e->op == IR_CAST || e->op == IR_VAR)
		return true;
	for (int k = e->op == IR_SELECT; k < e->nargs; k++) {
		const Expr *a = e->arg[k];
		if (dtype_eq(dtype_scalar(a->type), I64) && !(a->type.lanes > 1 ? narrow(p, a) : c_is_narrow(p, a)))
			return false;
	}
	return true;
}

static void lanes_of(Print *p, const Expr *e)
{
	text_add(p->out, "((%s)(", c_vector_type(p, e->type, narrow(p, e)));
	for (int k = 0; k < e->type.lanes && p->ok; k++) {
		text_add(p->out, "%s%s", k > 0 ? ", " : "", e->type.kind == DT_BOOL ? "-(int)" : "");
		c_expr(p, e, arena_printf(p->job->arena, "%d", k));
	}
	text_add(p->out, "))");
}

/* An i64 vector as one of 32 or 64 bits. */
static void as_width(Print *p, const Expr *e, bool want)
{
	bool index = dtype_eq(dtype_scalar(e->type), I64);
	bool converts = index && narrow(p, e) != want;
	if (converts)
		text_add(p->out, "convert_%s(", c_vector_type(p, e->type, want));
	c_vector(p, e);
	if (converts)
		text_add(p->out, ")");
}

static bool is_row(const Expr *index)
{
	return index->op == IR_RAMP && ir_is_const(index->arg[1], 1);
}

static void load(Print *p, const Expr *e)
{
	const Expr *i = e->arg[0];
	if (c_is_variable(p, e->name, i)) {
		text_add(p->out, "%s", c_name(p, e->name));
	} else if (is_row(i)) {
		bool mask = e->type.kind == DT_BOOL, half = c_is_half(e->type);
		if (mask)
			text_add(p->out, "(convert_int%d(", e->type.lanes);
		else if (half)
			text_add(p->out, "from_bits_%sx%d(", c_suffix(p, e->type, false), e->type.lanes);
		text_add(p->out, "vload%d(0, %s + ", e->type.lanes, c_name(p, e->name));
		c_expr(p, i->arg[0], NULL);
		text_add(p->out, mask ? ")) != 0)" : half ? "))" : ")");
	} else {
		lanes_of(p, e);
	}
}

static void ramp(Print *p, const Expr *e)
{
	const char *t = c_vector_type(p, e->type, narrow(p, e));
	text_add(p->out, "((%s)(", t);
	c_expr(p, e->arg[0], NULL);
	text_add(p->out, ") + (%s)(", t);
	for (int k = 0; k < e->type.lanes; k++)
		text_add(p->out, "%s%d", k > 0 ? ", " : "", k);
	text_add(p->out, ") * (%s)(", t);
	c_expr(p, e->arg[1], NULL);
	text_add(p->out, "))");
}

/* The float vector v as the half type of e. */
static void rounded(Print *p, const Expr *e, const Expr *v)
{
	text_add(p->out, "round_%sx%d(", c_suffix(p, e->type, false), e->type.lanes);
	c_vector(p, v);
	text_add(p->out, ")");
}

/* Bits of a lane of the type in which e is computed. */
static int computed_bits(DType t)
{
	return t.kind == DT_BOOL || c_is_half(t) ? 32 : t.bits;
}

static void cast(Print *p, const Expr *e)
{
	const Expr *a = e->arg[0];
	DType to = e->type;
	bool saturates = dtype_is_float(a->type) && dtype_is_int(to);
	if (c_is_half(to)) {
		if (!dtype_is_float(a->type) || a->type.bits != 32)
			lanes_of(p, e);
		else
			rounded(p, e, a);
		return;
	}
	if (to.kind == DT_BOOL) {
		if (computed_bits(a->type) != 32) {
			lanes_of(p, e);
			return;
		}
		text_add(p->out, "(");
		as_width(p, a, true);
		text_add(p->out, " != 0)");
		return;
	}
	text_add(p->out, "convert_%s%s(%s", c_vector_type(p, to, narrow(p, e)), saturates ? "_sat_rtz" : "",
		a->type.kind == DT_BOOL ? "-" : "");
	c_vector(p, a);
	text_add(p->out, ")");
}

static bool compares(Node op)
{
	return op == IR_EQ || op == IR_NE || op == IR_LT || op == IR_LE;
}

static void infix(Print *p, const Expr *e)
{
	const Expr *a = e->arg[0];
	bool cmp = compares(e->op), index = dtype_eq(dtype_scalar(a->type), I64);
	bool want = cmp ? index && narrow(p, a) && narrow(p, e->arg[1]) : narrow(p, e);
	bool masks = cmp && (index ? !want : computed_bits(a->type) != 32);
	text_add(p->out, masks ? "convert_int%d(" : "(", e->type.lanes);
	as_width(p, a, want);
	text_add(p->out, " %s ", c_infix(e->op));
	as_width(p, e->arg[1], want);
	text_add(p->out, ")");
}

/* A load that may go wrong where its lanes are not chosen: outside of its buffer. */
static bool may_miss(const Expr *e, void *arg)
{
	const Print *p = arg;
	if (e->op != IR_LOAD || c_is_variable(p, e->name, e->arg[0]))
		return false;
	const MapEntry *n = map_find_ptr(&p->elements, e->name);
	Interval i = ir_interval(e->arg[0], p->env);
	return n == NULL || i.lo < 0 || i.hi >= n->num;
}

/* Of both sides computed; the mask has as many bits as they. */
static void plain_select(Print *p, const Expr *e)
{
	static const char *const mask[] = { "char", "short", NULL, "long" };
	DType t = e->type;
	bool want = narrow(p, e);
	int bits = want ? 32 : computed_bits(t);
	const char *m = mask[bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
	text_add(p->out, "select(");
	as_width(p, e->arg[2], want);
	text_add(p->out, ", ");
	as_width(p, e->arg[1], want);
	text_add(p->out, m != NULL ? ", convert_%s%d(" : ", (", m, t.lanes);
	c_vector(p, e->arg[0]);
	text_add(p->out, "))");
}

/* A row of floats in global memory whose other lanes load nothing. */
static bool is_part(const Print *p, const Expr *e)
{
	const Expr *a = e->op == IR_SELECT ? e->arg[1] : NULL;
	return a != NULL && e->arg[0]->op != IR_SPLAT && a->op == IR_LOAD && c_has_vector(p, e->type.lanes) &&
		dtype_is_float(e->type) && !c_is_variable(p, a->name, a->arg[0]) && is_row(a->arg[0]) &&
		map_find_ptr(&p->scopes, a->name) == NULL && !ir_has_load(e->arg[2]) && may_miss(a, (void *)p);
}

static void part(Print *p, const Expr *e)
{
	const Expr *a = e->arg[1];
	int lanes = e->type.lanes;
	bool half = c_is_half(e->type);
	const char *suffix = c_suffix(p, e->type, false);
	const MapEntry *loaded = map_find_ptr(&p->parts, e);
	if (loaded != NULL) {
		text_add(p->out, "%s", (const char *)loaded->ptr);
		return;
	}
	if (half)
		text_add(p->out, "from_bits_%sx%d(", suffix, lanes);
	text_add(p->out, "part_%sx%d(%s + ", half ? "bits" : suffix, lanes, c_name(p, a->name));
	c_expr(p, a->arg[0]->arg[0], NULL);
	text_add(p->out, ", ");
	c_vector(p, e->arg[0]);
	text_add(p->out, half ? ", bits_%sx%d(" : ", ", suffix, lanes);
	c_vector(p, e->arg[2]);
	text_add(p->out, half ? ")))" : ")");
}

static bool reads_variable(const Expr *e, void *arg)
{
	return e->op == IR_LOAD && c_is_variable(arg, e->name, e->arg[0]);
}

void c_load_parts(Print *p, const Expr *e)
{
	if (!p->ok || !ir_has_load(e) || (int64_t)e->size * e->type.lanes > C_LINE ||
		map_find_ptr(&p->parts, e) != NULL)
		return;
	/* The arms of other selects are not always computed. */
	for (int k = 0; k < (e->op == IR_SELECT ? 1 : e->nargs); k++)
		c_load_parts(p, e->arg[k]);
	/* The next statement may change a variable, and so the part that it names. */
	if (!is_part(p, e) || ir_find_node(e->arg[0], reads_variable, p) != NULL ||
		ir_find_node(e->arg[1], reads_variable, p) != NULL)
		return;
	const char *name = arena_printf(p->job->arena, "part%d", p->temps++);
	text_add(p->out, "const %s %s = ", c_vector_type(p, e->type, false), name);
	part(p, e);
	text_add(p->out, ";");
	c_line(p);
	map_add_ptr(&p->parts, e)->read = name;
}

static void choice(Print *p, const Expr *e)
{
	bool want = narrow(p, e);
	if (ir_find_node(e->arg[1], may_miss, p) == NULL && ir_find_node(e->arg[2], may_miss, p) == NULL) {
		plain_select(p, e);
		return;
	}
	if (e->arg[0]->op == IR_SPLAT) {
		text_add(p->out, "(");
		c_expr(p, e->arg[0]->arg[0], NULL);
		text_add(p->out, " ? ");
		as_width(p, e->arg[1], want);
		text_add(p->out, " : ");
		as_width(p, e->arg[2], want);
		text_add(p->out, ")");
		return;
	}
	if (is_part(p, e)) {
		part(p, e);
		return;
	}
	text_add(p->out, "(all(");
	c_vector(p, e->arg[0]);
	text_add(p->out, ") ? ");
	as_width(p, e->arg[1], want);
	text_add(p->out, " : !any(");
	c_vector(p, e->arg[0]);
	text_add(p->out, ") ? ");
	as_width(p, e->arg[2], want);
	text_add(p->out, " : ");
	lanes_of(p, e);
	text_add(p->out, ")");
}

static void function(Print *p, const Expr *e)
{
	DType t = e->arg[0]->type;
	bool own = e->op == IR_MIN || e->op == IR_MAX || e->op == IR_SIGMOID;
	if (dtype_is_int(t) && (e->op == IR_MIN || e->op == IR_MAX)) {
		text_add(p->out, "%s(", c_function(e->op));
		as_width(p, e->arg[0], narrow(p, e));
		text_add(p->out, ", ");
		as_width(p, e->arg[1], narrow(p, e));
		text_add(p->out, ")");
		return;
	}
	if (!dtype_is_float(t)) {
		lanes_of(p, e);
		return;
	}
	if (e->op == IR_DIV) {
		text_add(p->out, "(");
		c_vector(p, e->arg[0]);
		text_add(p->out, " / ");
		c_vector(p, e->arg[1]);
		text_add(p->out, ")");
		return;
	}
	text_add(p->out, own ? "%s_%sx%d(" : "%s_%s(", c_function(e->op), c_is_half(t) ? "f32" : c_suffix(p, t, false),
		t.lanes);
	for (int k = 0; k < e->nargs; k++) {
		text_add(p->out, k > 0 ? ", " : "");
		c_vector(p, e->arg[k]);
	}
	text_add(p->out, ")");
}

void c_vector(Print *p, const Expr *e)
{
	if (!p->ok)
		return;
	if (e->type.lanes == 1) {
		c_expr(p, e, NULL);
		return;
	}
	bool exact = e->op == IR_MIN || e->op == IR_MAX || e->op == IR_ABS;
	bool rounds = c_is_half(e->type) && !exact && (c_infix(e->op) != NULL || c_function(e->op) != NULL);
	if (rounds)
		text_add(p->out, "round_%sx%d(", c_suffix(p, e->type, false), e->type.lanes);
	switch (e->op) {
	case IR_VAR: text_add(p->out, "%s", c_name(p, e->name)); break;
	case IR_LOAD: load(p, e); break;
	case IR_RAMP: ramp(p, e); break;
	case IR_SPLAT:
		text_add(p->out, "((%s)(%s", c_vector_type(p, e->type, narrow(p, e)), e->type.kind == DT_BOOL ? "-(int)" : "");
		c_expr(p, e->arg[0], NULL);
		text_add(p->out, "))");
		break;
	case IR_CAST: cast(p, e); break;
	case IR_BITCAST:
		if (e->type.lanes != e->arg[0]->type.lanes || e->type.bits != e->arg[0]->type.bits)
			c_refuse(p, "bits as a type of another width");
		if (c_is_half(e->arg[0]->type) || c_is_half(e->type)) {
			lanes_of(p, e);
			break;
		}
		text_add(p->out, "as_%s(", c_vector_type(p, e->type, false));
		as_width(p, e->arg[0], false);
		text_add(p->out, ")");
		break;
	case IR_SELECT: choice(p, e); break;
	case IR_NEG:
	case IR_NOT:
		text_add(p->out, "(%s", e->op == IR_NEG ? "-" : "~");
		as_width(p, e->arg[0], narrow(p, e));
		text_add(p->out, ")");
		break;
	case IR_ISNAN: lanes_of(p, e); break;
	case IR_DOT4: lanes_of(p, e); break;
	default:
		if (c_infix(e->op) == NULL)
			function(p, e);
		else if ((e->op == IR_SHL || e->op == IR_SHR) && e->type.bits < 32)
			lanes_of(p, e);
		else
			infix(p, e);
	}
	if (rounds)
		text_add(p->out, ")");
}
