/*
 * A network in f32 -> the same network in another precision. tf32 marks the products, whose factors may then be
 * rounded. fp16 and bf16 give each f32 value a form in 16 bits or keep it, call by call:
 *
 *  - products (anchors) read and give 16 bits; their sums are f32;
 *  - operators of the trait WIDE, whose results may leave the range of f16, read and give f32;
 *  - every other call gives f32 if an operand that is no constant is f32, else 16 bits.
 *
 * So what precedes the first product, and a network's statistics (the variance of a layer norm), stay f32. A call that
 * reads a value in its other form gets a cast, which follows the value's writer and is shared. The cast of a reshaped
 * value comes before the reshape, since it then joins the Task of what is reshaped. Constants are converted here.
 */
#include "graph/precision.h"

#include "graph/edit.h"
#include "op/element.h"
#include "op/names.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *name;
	DType type;
	bool tf32;
} rows[PRECISIONS] = {
#define PRECISION(name, kind, bits, tf32, doc) { #name, { DT_##kind, bits, 1 }, tf32 },
#include "graph/precision.def"
#undef PRECISION
};

const char *precision_name(Precision p)
{
	return rows[p].name;
}

/* DAG_NONE: there is none yet. */
typedef struct Forms {
	DType narrow;
	VEC(int) other; /* of each value of the new Dag: its other form */
	int *constant;  /* of each constant of the old Dag: its narrow form */
} Forms;

/* The largest finite number of a type of 16 bits. */
static double largest_of(DType t)
{
	return dtype_half_value(t, t.kind == DT_BFLOAT ? 0x7f7f : 0x7bff);
}

static int converted_const(Edit *e, const Value *v, DType t)
{
	int64_t n = shape_elements(v->shape);
	double largest = largest_of(t);
	void *data = arena_alloc_aligned(e->to->arena, (size_t)dtype_bytes(t, n) + 1, 64);
	for (int64_t i = 0; i < n; i++) {
		double x = element_get(v->type, v->data, i);
		element_set(t, data, i, isfinite(x) ? fmax(-largest, fmin(largest, x)) : x);
	}
	return edit_const(e, v->name, t, v->shape, data);
}

/* Value v of the new Dag in type t: itself, or its other form. DAG_NONE: e->err is set. */
static int in_type(Edit *e, Forms *f, int v, DType t)
{
	Arena *a = e->to->arena;
	Value x = *edit_at(e, v);
	char text[DTYPE_TEXT];
	if (dtype_eq(x.type, t))
		return v;
	while (f->other.n <= (size_t)v)
		vec_push(a, &f->other, DAG_NONE);
	if (f->other.at[v] != DAG_NONE)
		return f->other.at[v];
	const char *name = arena_printf(a, "%s.%s", x.name, dtype_print(t, text));
	const OpCall *writer = edit_writer(e, v);
	int made;
	if (writer != NULL && writer->op == OP_reshape) {
		Attr shape = attr_ints("shape", x.shape.dim, x.shape.rank);
		made = in_type(e, f, writer->in[0], t);
		if (made != DAG_NONE)
			made = edit_call(e, OP_reshape, name, &made, 1, &shape, 1);
	} else {
		Attr to = attr_text("to", arena_printf(a, "%s", text));
		made = edit_call(e, OP_cast, name, &v, 1, &to, 1);
	}
	f->other.at[v] = made;
	return made;
}

/* Value `old` of the old Dag in type t. A constant is converted without a call, once for all its readers. */
static int operand(Edit *e, Forms *f, int old, DType t)
{
	const Value *v = &e->from->value.at[old];
	if (v->kind != VALUE_CONST || v->data == NULL || dtype_eq(t, F32))
		return in_type(e, f, edit_value(e, old), t);
	if (f->constant[old] == DAG_NONE)
		f->constant[old] = converted_const(e, v, t);
	return f->constant[old];
}

/* The type in which call c reads its operands of f32. */
static DType type_of_call(const Edit *e, const OpCall *c, const Forms *f)
{
	const OpRow *row = op_row(c->op);
	bool variable = false;
	if (row->class == OP_ANCHOR)
		return f->narrow;
	if (row->traits & OP_WIDE)
		return F32;
	for (int k = 0; k < c->nin; k++) {
		int v = c->in[k];
		if (v == DAG_NONE || e->from->value.at[v].kind == VALUE_CONST || !dtype_eq(e->from->value.at[v].type, F32))
			continue;
		if (dtype_eq(edit_at(e, e->map[v])->type, F32))
			return F32;
		variable = true;
	}
	return variable ? f->narrow : F32;
}

/* The type in which call c reads operand k of f32, if it reads others in t: bits and weights of samples stay f32. */
static DType type_of_operand(const OpCall *c, int k, DType t)
{
	return c->op == OP_bitcast || (c->op == OP_resample && k == 2) ? F32 : t;
}

static bool convert_call(Edit *e, const OpCall *c, void *arg)
{
	Forms *f = arg;
	Arena *a = e->to->arena;
	DType t = type_of_call(e, c, f);
	int *in = arena_array(a, int, c->nin + 1);
	const char **name = arena_array(a, const char *, c->nout + 1);
	for (int k = 0; k < c->nin; k++) {
		in[k] = c->in[k];
		if (c->in[k] == DAG_NONE)
			continue;
		/* A cast reads what there is: its result has its own type. */
		bool as_is = c->op == OP_cast || !dtype_eq(e->from->value.at[c->in[k]].type, F32);
		in[k] = as_is ? edit_value(e, c->in[k]) : operand(e, f, c->in[k], type_of_operand(c, k, t));
		if (in[k] == DAG_NONE)
			return false;
	}
	for (int r = 0; r < c->nout; r++)
		name[r] = e->from->value.at[c->out[r]].name;
	int call = dag_add_call_as(e->to, c->op, c->name, name, c->nout, in, c->nin, c->attr, c->nattr, e->err);
	for (int r = 0; call >= 0 && r < c->nout; r++)
		e->map[c->out[r]] = e->to->call.at[call].out[r];
	return call >= 0;
}

static bool mark_product(Edit *e, const OpCall *c, void *arg)
{
	(void)arg;
	Arena *a = e->to->arena;
	if (op_row(c->op)->class != OP_ANCHOR || !dtype_eq(e->from->value.at[c->out[0]].type, F32))
		return false;
	int *in = arena_array(a, int, c->nin + 1);
	Attr *attr = arena_array(a, Attr, c->nattr + 1);
	int n = 0;
	for (int k = 0; k < c->nin; k++)
		in[k] = edit_value(e, c->in[k]);
	for (int k = 0; k < c->nattr; k++)
		if (strcmp(c->attr[k].name, "tf32") != 0)
			attr[n++] = c->attr[k];
	attr[n++] = attr_int("tf32", 1);
	return edit_call_as(e, c, c->op, in, c->nin, attr, n);
}

/* Outputs of f32 become casts to it, which the pass keeps and the identity pass drops where they change nothing. */
static bool cast_outputs(Dag *d, Err *err)
{
	for (size_t i = 0; i < d->output.n; i++) {
		int v = d->output.at[i];
		const char *name = d->value.at[v].name; /* the output keeps it */
		Attr to = attr_text("to", "f32");
		if (d->value.at[v].kind != VALUE_CALL || !dtype_eq(d->value.at[v].type, F32))
			continue;
		int call = dag_add_call(d, OP_cast, NULL, &v, 1, &to, 1, err);
		if (call < 0)
			return false;
		int out = d->call.at[call].out[0];
		d->output.at[i] = out;
		names_bind(d->names, d->value.at[out].name, DAG_NONE);
		d->value.at[out].name = name;
		names_bind(d->names, name, out);
		d->value.at[v].name = dag_unique_name(d, arena_printf(d->arena, "%s.inner", name));
		names_bind(d->names, d->value.at[v].name, v);
	}
	return true;
}

static bool convert(Dag *d, DType narrow, EvalFn eval, Err *err)
{
	if (!cast_outputs(d, err))
		return false;
	Forms f = { .narrow = narrow, .constant = arena_array(d->arena, int, d->value.n + 1) };
	for (size_t i = 0; i < d->value.n; i++)
		f.constant[i] = DAG_NONE;
	return edit_dag(d, eval, convert_call, &f, err);
}

bool graph_precision(Dag *d, Precision p, EvalFn eval, Err *err)
{
	if (p == PRECISION_fp32)
		return true;
	return graph_optimize(d, eval, err) &&
		(rows[p].tf32 ? edit_dag(d, eval, mark_product, NULL, err) : convert(d, rows[p].type, eval, err)) &&
		graph_optimize(d, eval, err);
}
