/*
 * The table of nodes and the rules of their types: one function for what node.def's type column
 * says, one for the nodes it calls OWN.
 */
#include "ir/node.h"
#include "ir/walk.h"

const NodeRow ir_node_row[IR_NODE_COUNT] = {
#define NODE(name, text, form, type, meaning) \
	[IR_##name] = { #name, text, FORM_##form, TYPE_##type, meaning },
#include "ir/node.def"
#undef NODE
};

static int arity(const Expr *e)
{
	switch (ir_node_row[e->op].form) {
	case FORM_ATOM: return 0;
	case FORM_PREFIX:
	case FORM_CALL1: return 1;
	case FORM_CALL3: return e->op == IR_RAMP ? 2 : 3;
	case FORM_CALL2: return e->op == IR_SPLAT ? 1 : 2;
	case FORM_OTHER: return e->op == IR_LOAD ? e->nargs : 1;
	default: return 2;
	}
}

static bool same_args(const Expr *e)
{
	for (int i = 1; i < e->nargs; i++)
		if (!dtype_eq(e->arg[i]->type, e->arg[0]->type))
			return false;
	return true;
}

/* The rows whose type column is not OWN. */
static const char *uniform_error(const Expr *e)
{
	DType a = e->arg[0]->type;
	if (!same_args(e))
		return "its arguments differ in type";
	switch (ir_node_row[e->op].type) {
	case TYPE_SAME:
		if (a.kind == DT_BOOL)
			return "it takes numbers, not bool";
		break;
	case TYPE_LOGIC:
		if (dtype_is_float(a))
			return "it takes bool or integers";
		break;
	case TYPE_FLOAT:
		if (!dtype_is_float(a))
			return "it takes floating numbers";
		break;
	case TYPE_INT:
		if (!dtype_is_int(a))
			return "it takes integers";
		break;
	case TYPE_BOOL:
		if (e->op == IR_ISNAN && !dtype_is_float(a))
			return "it takes floating numbers";
		if ((e->op == IR_LT || e->op == IR_LE) && a.kind == DT_BOOL)
			return "it takes numbers, not bool";
		return dtype_eq(e->type, dtype_vector(BOOL, a.lanes)) ? NULL : "its result is bool";
	case TYPE_OWN: break;
	}
	return dtype_eq(e->type, a) ? NULL : "its result has the type of its arguments";
}

static const char *load_error(const Expr *e)
{
	for (int i = 0; i < e->nargs; i++) {
		DType t = e->arg[i]->type;
		if (t.kind != DT_INT || t.bits != 64)
			return "an index is i64";
		if (t.lanes != 1 && t.lanes != e->type.lanes)
			return "the vectors among its indices differ in lanes";
	}
	int lanes = 1;
	for (int i = 0; i < e->nargs; i++)
		if (e->arg[i]->type.lanes > lanes)
			lanes = e->arg[i]->type.lanes;
	return lanes == e->type.lanes ? NULL : "it has as many lanes as its indices";
}

static const char *vector_error(const Expr *e)
{
	DType a = e->arg[0]->type;
	if (e->op == IR_LANE) {
		const Expr *k = e->arg[1];
		if (k->op != IR_INT || k->i < 0 || k->i >= a.lanes)
			return "the lane is a constant below the number of lanes";
		return dtype_eq(e->type, dtype_scalar(a)) ? NULL : "its result is one lane";
	}
	if (e->type.lanes < 2)
		return "it makes at least two lanes";
	if (a.lanes != 1)
		return "it takes scalars";
	if (e->op == IR_RAMP && (!dtype_is_int(a) || !same_args(e)))
		return "base and stride are integers of one type";
	return dtype_eq(dtype_scalar(e->type), a) ? NULL
	                                          : "its lanes have the type of its argument";
}

static const char *dot_error(const Expr *e)
{
	DType c = e->arg[0]->type;
	if (!dtype_eq(dtype_scalar(c), I32) || !dtype_eq(e->type, c))
		return "its first argument and its result are i32";
	for (int k = 1; k < 3; k++)
		if (!dtype_is_int(e->arg[k]->type) || e->arg[k]->type.bits != 8 || e->arg[k]->type.lanes != 4 * c.lanes)
			return "it multiplies 8-bit integers, four for each lane of the sum";
	return NULL;
}

static const char *mma_error(const Expr *e)
{
	DType c = e->arg[0]->type, a = e->arg[1]->type, b = e->arg[2]->type;
	bool half = dtype_is_float(a) && a.bits == 16, whole = dtype_eq(dtype_scalar(a), F32);
	if (!dtype_eq(c, dtype_vector(F32, 4)) || !dtype_eq(e->type, c))
		return "its first argument and its result are f32x4";
	if (!dtype_eq(dtype_scalar(a), dtype_scalar(b)) || a.lanes != 2 * b.lanes)
		return "its factors are of one type, the first with twice the lanes";
	return (half && (a.lanes == 4 || a.lanes == 8)) || (whole && a.lanes == 4)
	               ? NULL
	               : "its factors have four or eight lanes of 16 bits, or four of f32";
}

static const char *ldmatrix_error(const Expr *e)
{
	DType t = e->arg[0]->type;
	int64_t n = e->arg[1]->op == IR_INT ? e->arg[1]->i : 0;
	if (e->arg[0]->op != IR_LOAD || t.lanes != 1 || (t.bits != 16 && t.bits != 32))
		return "its first argument is an element of 16 or 32 bits in memory";
	if (n != 1 && n != 2 && n != 4)
		return "it has one, two or four matrices";
	return dtype_eq(e->type, dtype_vector(t, (int)n * 32 / t.bits)) ? NULL : "a lane gets 32 bits of each matrix";
}

static const char *own_error(const Expr *e)
{
	DType t = e->type;
	switch (e->op) {
	case IR_INT:
		return dtype_is_float(t) || t.lanes != 1 ? "an integer constant is scalar" : NULL;
	case IR_FLOAT: return !dtype_is_float(t) || t.lanes != 1 ? "a constant is scalar" : NULL;
	case IR_LOAD: return load_error(e);
	case IR_SELECT:
		if (!dtype_eq(e->arg[0]->type, dtype_vector(BOOL, t.lanes)))
			return "its condition is bool with as many lanes as the values";
		if (!dtype_eq(e->arg[1]->type, t) || !dtype_eq(e->arg[2]->type, t))
			return "its two values differ in type";
		return NULL;
	case IR_CAST: return e->arg[0]->type.lanes != t.lanes ? "a cast keeps the lanes" : NULL;
	case IR_BITCAST:
		if ((int)t.bits * t.lanes != (int)e->arg[0]->type.bits * e->arg[0]->type.lanes)
			return "it keeps the number of bits";
		return NULL;
	case IR_RAMP:
	case IR_SPLAT:
	case IR_LANE: return vector_error(e);
	case IR_DOT4: return dot_error(e);
	case IR_MMA: return mma_error(e);
	case IR_LDMATRIX:
	case IR_LDMATRIX_T: return ldmatrix_error(e);
	default: return NULL;
	}
}

const char *ir_type_error(const Expr *e)
{
	if (!dtype_known(e->type))
		return "its type is none that dlc knows";
	if (e->nargs != arity(e))
		return "it has the wrong number of arguments";
	return ir_node_row[e->op].type == TYPE_OWN ? own_error(e) : uniform_error(e);
}

static bool has_type_error(const Expr *e, void *why)
{
	return (*(const char **)why = ir_type_error(e)) != NULL;
}

const Expr *ir_find_type_error(const Expr *e, const char **why)
{
	return ir_find_node(e, has_type_error, why);
}
