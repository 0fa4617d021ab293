/*
 * Builds a Dag. Each call is brought to its normal form when it is added: attributes sorted, those
 * equal to their default dropped, axes counted from the front, shapes without -1. Equal calls of
 * different front ends therefore have equal text.
 */
#include "op/dag.h"

#include "op/layout.h"
#include "op/names.h"
#include "op/rules.h"
#include "op/shape.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Shape shape_of(int rank, const int64_t *dim)
{
	assert(rank >= 0 && rank <= DAG_MAX_RANK);
	Shape s = { rank, { 0 } };
	for (int i = 0; i < rank; i++)
		s.dim[i] = dim[i];
	return s;
}

bool shape_eq(Shape a, Shape b)
{
	return a.rank == b.rank && memcmp(a.dim, b.dim, sizeof a.dim[0] * (size_t)a.rank) == 0;
}

bool shape_eq_but_ones(Shape a, Shape b)
{
	int i = 0, k = 0;
	for (;; i++, k++) {
		while (i < a.rank && a.dim[i] == 1)
			i++;
		while (k < b.rank && b.dim[k] == 1)
			k++;
		if (i == a.rank || k == b.rank || a.dim[i] != b.dim[k])
			return i == a.rank && k == b.rank;
	}
}

int64_t shape_elements(Shape s)
{
	int64_t n = 1;
	bool over = false;
	for (int i = 0; i < s.rank; i++) {
		if (s.dim[i] <= 0)
			return s.dim[i] == 0 ? 0 : -1;
		over |= n > ((int64_t)1 << 62) / s.dim[i];
		n = over ? 1 : n * s.dim[i]; /* a zero may still follow */
	}
	return over ? -1 : n;
}

bool shape_is_bounded(Shape s)
{
	for (int i = 0; i < s.rank; i++) {
		if (s.dim[i] > LARGEST_DIM)
			return false;
		s.dim[i] = s.dim[i] == 0 ? 1 : s.dim[i];
	}
	return shape_elements(s) >= 0;
}

int64_t value_bytes(const Value *v)
{
	Layout l;
	int64_t n = shape_elements(v->shape);
	if (n >= 0 && v->layout != NULL)
		n = layout_read(v->layout, v->shape, &l) ? layout_elements(&l) : -1;
	return n < 0 ? -1 : dtype_bytes(v->type, n);
}

const char *shape_str(Shape s, char out[160])
{
	int at = 0;
	out[0] = 0;
	if (s.rank == 0)
		snprintf(out, 160, "scalar");
	for (int i = 0; i < s.rank; i++) {
		const char *x = i == 0 ? "" : "x";
		if (s.dim[i] >= 0)
			at += snprintf(out + at, 160 - (size_t)at, "%s%lld", x, (long long)s.dim[i]);
		else
			at += snprintf(out + at, 160 - (size_t)at, "%s?", x);
	}
	return out;
}

Attr attr_int(const char *name, int64_t v)
{
	return (Attr){ .name = name, .kind = ATTR_INT, .i = v };
}

Attr attr_ints(const char *name, const int64_t *v, int n)
{
	return (Attr){ .name = name, .kind = ATTR_INTS, .n = n, .ints = v };
}

Attr attr_float(const char *name, double v)
{
	return (Attr){ .name = name, .kind = ATTR_FLOAT, .f = v };
}

Attr attr_text(const char *name, const char *v)
{
	return (Attr){ .name = name, .kind = ATTR_TEXT, .text = v };
}

static char *copy_str(Arena *a, const char *s)
{
	return arena_copy(a, s, strlen(s) + 1);
}

Dag *dag_new(Arena *a, const char *name)
{
	Dag *d = arena_new_of(a, Dag);
	d->arena = a;
	d->name = copy_str(a, name != NULL ? name : "");
	d->names = names_new(a);
	return d;
}

Dag *dag_copy(Arena *a, const Dag *d)
{
	Dag *c = dag_new(a, d->name);
	c->names = names_copy(a, d->names);
	c->without = d->without;
	for (size_t i = 0; i < d->value.n; i++)
		vec_push(a, &c->value, d->value.at[i]);
	for (size_t i = 0; i < d->call.n; i++) {
		OpCall call = d->call.at[i];
		call.in = arena_copy(a, call.in, sizeof *call.in * (size_t)call.nin);
		call.out = arena_copy(a, call.out, sizeof *call.out * (size_t)call.nout);
		call.attr = arena_copy(a, call.attr, sizeof *call.attr * (size_t)call.nattr);
		vec_push(a, &c->call, call);
	}
	for (size_t i = 0; i < d->input.n; i++)
		vec_push(a, &c->input, d->input.at[i]);
	for (size_t i = 0; i < d->output.n; i++)
		vec_push(a, &c->output, d->output.at[i]);
	return c;
}

const char *dag_unique_name(const Dag *d, const char *wish)
{
	return names_give(d->names, wish != NULL && wish[0] != 0 ? wish : "value");
}

void dag_rename(Dag *d, int value, const char *wish)
{
	Value *v = &d->value.at[value];
	if (strcmp(v->name, wish) == 0)
		return;
	names_bind(d->names, v->name, DAG_NONE);
	v->name = dag_unique_name(d, wish);
	names_bind(d->names, v->name, value);
}

void dag_swap_names(Dag *d, int a, int b)
{
	const char *name = d->value.at[a].name;
	d->value.at[a].name = d->value.at[b].name;
	d->value.at[b].name = name;
	names_bind(d->names, d->value.at[a].name, a);
	names_bind(d->names, name, b);
}

int dag_find_value(const Dag *d, const char *name)
{
	return names_find(d->names, name);
}

static int add_value(Dag *d, const char *name, Value v)
{
	int n = (int)d->value.n;
	v.name = dag_unique_name(d, name);
	names_bind(d->names, v.name, n);
	vec_push(d->arena, &d->value, v);
	return n;
}

int dag_add_input(Dag *d, const char *name, DType type, Shape shape)
{
	int n = add_value(d, name, (Value){ .kind = VALUE_INPUT, .type = type, .shape = shape, .call = DAG_NONE });
	vec_push(d->arena, &d->input, n);
	return n;
}

int dag_add_const(Dag *d, const char *name, DType type, Shape shape, const void *data)
{
	return add_value(
		d, name, (Value){ .kind = VALUE_CONST, .type = type, .shape = shape, .data = data, .call = DAG_NONE });
}

void dag_add_output(Dag *d, int value)
{
	assert(value >= 0 && (size_t)value < d->value.n);
	vec_push(d->arena, &d->output, value);
}

bool *dag_live(Arena *a, const Dag *d)
{
	bool *live = arena_array(a, bool, d->call.n + 1), *needed = arena_array(a, bool, d->value.n + 1);
	for (size_t i = 0; i < d->output.n; i++)
		needed[d->output.at[i]] = true;
	for (size_t i = d->call.n; i-- > 0;) {
		const OpCall *c = &d->call.at[i];
		for (int r = 0; r < c->nout; r++)
			live[i] |= needed[c->out[r]];
		for (int k = 0; k < c->nin; k++)
			if (live[i] && c->in[k] != DAG_NONE)
				needed[c->in[k]] = true;
	}
	return live;
}

/*
 * Checks that each attribute is in op.def, has its kind and occurs once, and that scalars without a default
 * are given.
 */
static bool check_attrs(const OpCall *c, Err *err)
{
	const char *dflt;
	AttrKind kind;
	for (int i = 0; i < c->nattr; i++) {
		const Attr *a = &c->attr[i];
		if (!op_find_attr(c->op, a->name, &kind, &dflt))
			return op_refuse(c, err, "has no attribute \"%s\"; its attributes are: %s", a->name,
				op_row(c->op)->attrs[0] != 0 ? op_row(c->op)->attrs : "none");
		if (a->kind != kind)
			return op_refuse(
				c, err, "attribute %s has the wrong kind; the attributes are: %s", a->name, op_row(c->op)->attrs);
		if (i > 0 && strcmp(a->name, c->attr[i - 1].name) == 0)
			return op_refuse(c, err, "attribute %s is given twice", a->name);
	}
	for (const char *s = op_row(c->op)->attrs; *s != 0;) {
		char name[32];
		size_t n = strcspn(s, " "), k = strcspn(s, ":");
		snprintf(name, sizeof name, "%.*s", (int)k, s);
		s += n + (s[n] == ' ');
		op_find_attr(c->op, name, &kind, &dflt);
		if (op_attr(c, name) == NULL && dflt == NULL && kind != ATTR_INTS)
			return op_refuse(c, err, "the attribute %s must be given", name);
	}
	return true;
}

bool dag_check_call(const Dag *d, const OpCall *c, Err *err)
{
	int min, max;
	op_arity(c->op, &min, &max);
	if (c->nin < min || (max >= 0 && c->nin > max))
		return op_refuse(c, err, "takes the inputs \"%s\", but %d are given", op_row(c->op)->inputs, c->nin);
	for (int i = 0; i < c->nin; i++) {
		if (c->in[i] == DAG_NONE && i >= min && max >= 0)
			continue;
		if (c->in[i] == DAG_NONE)
			return op_refuse(c, err, "input %d of \"%s\" is not optional", i + 1, op_row(c->op)->inputs);
		if (c->in[i] < 0 || (size_t)c->in[i] >= d->value.n)
			return op_refuse(c, err, "reads value %d, which does not exist", c->in[i]);
	}
	return check_attrs(c, err);
}

/* Brings a call to its normal form and computes the types of its results, out[0 .. c->nout). */
static bool make_call(Dag *d, OpCall *c, const int *in, const Attr *attr, Value **out, Err *err)
{
	Arena *a = d->arena;
	while (c->nin > 0 && in[c->nin - 1] == DAG_NONE)
		c->nin--;
	c->in = arena_copy(a, in, sizeof(int) * (size_t)c->nin);
	c->attr = arena_array(a, Attr, c->nattr + 1); /* the normal form may add one */
	for (int i = 0; i < c->nattr; i++) {
		Attr *to = &c->attr[i];
		*to = attr[i];
		to->name = copy_str(a, to->name);
		if (to->kind == ATTR_INTS)
			to->ints = arena_copy(a, to->ints, sizeof(int64_t) * (size_t)to->n);
		if (to->kind == ATTR_TEXT)
			to->text = copy_str(a, to->text);
	}
	op_sort_attrs(c);
	if (!dag_check_call(d, c, err) || !op_normalise(a, d, c, err))
		return false;
	*out = arena_array(a, Value, c->nout);
	if (!op_infer(d, c, *out, err))
		return false;
	char s[160];
	for (int i = 0; i < c->nout; i++)
		if (value_bytes(&(*out)[i]) < 0 || !shape_is_bounded((*out)[i].shape)) /* or the shape is symbolic */
			return op_refuse(c, err, "a result of shape %s has too many elements", shape_str((*out)[i].shape, s));
	return true;
}

int dag_add_call_as(Dag *d, int op, const char *name, const char *const *outs, int nouts, const int *in, int nin,
	const Attr *attr, int nattr, Err *err)
{
	assert(op >= 0 && op < OP_COUNT && nin >= 0 && nattr >= 0);
	OpCall c = { .op = op, .name = copy_str(d->arena, name != NULL ? name : ""), .nin = nin, .nattr = nattr };
	Value *out;
	if (!make_call(d, &c, in, attr, &out, err))
		return -1;
	if (outs != NULL && nouts != c.nout) {
		op_refuse(&c, err, "gives %d results, but %d are named", c.nout, nouts);
		return -1;
	}
	c.out = arena_array(d->arena, int, c.nout);
	for (int i = 0; i < c.nout; i++) {
		out[i].kind = VALUE_CALL;
		out[i].call = (int)d->call.n;
		const char *wish = outs != NULL ? outs[i] : c.name[0] != 0 ? c.name : op_row(op)->name;
		c.out[i] = add_value(d, wish, out[i]);
	}
	vec_push(d->arena, &d->call, c);
	return (int)d->call.n - 1;
}

int dag_add_call(Dag *d, int op, const char *name, const int *in, int nin, const Attr *attr, int nattr, Err *err)
{
	return dag_add_call_as(d, op, name, NULL, 0, in, nin, attr, nattr, err);
}
