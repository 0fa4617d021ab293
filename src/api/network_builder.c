/*
 * Networks that a program builds: inputs, constants, operators and outputs (dlc/dlc_builder.h). A call adds to a Net,
 * as the zoo does; inputs go the way of a front end's (frontend/node/input.c), so options mean the same. The first
 * failure stays in the Net.
 */
#include "api/network_builder.h"

#include "compile/compile.h"
#include "frontend/input_layout.h"

#include "op/element.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)DLC_INT == (int)ATTR_INT && (int)DLC_INTS == (int)ATTR_INTS && (int)DLC_FLOAT == (int)ATTR_FLOAT &&
		(int)DLC_TEXT == (int)ATTR_TEXT,
	"a DlcAttrKind is an AttrKind");

enum { MOST_INPUTS = 1 << 16 };

/* ---- the builder */

DlcBuilder *builder_new(DlcSession *s, Arena *work, const char *name, uint64_t seed, const ModelArgs *args)
{
	DlcBuilder *b = arena_new_of(work, DlcBuilder);
	*b = (DlcBuilder){ .session = s,
		.work = work,
		.net = arena_new_of(work, Net),
		.name = arena_printf(work, "%s", name),
		.mark = (uint32_t)((uintptr_t)b >> 4) | 1,
		.args = *args,
		.names = names_new(work),
		.values = names_new(work),
		.outputs = names_new(work),
		.inputs = { .prefix = "", .names = names_new(work), .read = names_new(work) } };
	net_open(b->net, work, name, seed, &b->args);
	return b;
}

static bool open_builder(
	DlcSession *s, const char *name, uint64_t seed, const DlcLoadOptions *o, DlcBuilder **out, Err *err)
{
	static const DlcLoadOptions none;
	o = o != NULL ? o : &none;
	if (o->weights != NULL)
		return fail(err, ERR_USAGE, "weights", "must be NULL: a network that is built has no file of weights");
	if (o->frontend != NULL)
		return fail(err, ERR_USAGE, "frontend", "must be NULL: a network that is built comes from no file");
	if (o->signature != NULL || o->tags != NULL)
		return fail(err, ERR_USAGE, o->tags != NULL ? "tags" : "signature",
			"must be NULL: a network that is built has one entry point");
	Arena *a = arena_new();
	ModelArgs args;
	if (!network_read_options(s, a, o, &args, err)) {
		arena_free(a);
		return false;
	}
	Arena *own = arena_new();
	DlcBuilder *b = builder_new(s, a, name, seed, &args);
	b = arena_copy(own, b, sizeof *b);
	b->net->im.args = &b->args;
	b->arena = own;
	b->options.precision = o->precision;
	b->options.without = o->without != NULL ? arena_printf(own, "%s", o->without) : NULL;
	*out = b;
	return true;
}

DlcFault dlc_builder_open(DlcSession *s, const char *name, uint64_t seed, const DlcLoadOptions *options,
	DlcBuilder **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(s), API_GIVEN(name), API_OPTIONS(options, api_load_options));
	API_CALL(s, why, open_builder(s, name, seed, options, out, err));
}

void dlc_builder_close(DlcBuilder *b)
{
	if (b == NULL || b->arena == NULL)
		return;
	if (b->net != NULL)
		arena_free(b->work);
	arena_free(b->arena);
}

/* A failure is of the line that was the last one before it. */
static void say_line(const DlcBuilder *b, Err *err)
{
	if (b->line <= 0)
		return;
	Err inner = *err;
	snprintf(err->text, sizeof err->text, "line %d: %.600s", b->line, inner.text);
}

DlcFault dlc_builder_fault(const DlcBuilder *b, DlcFailure *why)
{
	API_CHECK(why, API_GIVEN(b));
	if (b->net == NULL || net_ok(b->net))
		return DLC_FAULT_NONE;
	if (why != NULL) {
		*err_of(why) = b->net->im.err;
		say_line(b, err_of(why));
	}
	return (DlcFault)b->net->im.err.code;
}

int dlc_builder_at_line(DlcBuilder *b, int line)
{
	if (b == NULL || b->net == NULL || !net_ok(b->net))
		return 0;
	b->line = line;
	return 1;
}

void dlc_builder_refuse(DlcBuilder *b, DlcFault code, const char *sentence)
{
	if (b == NULL || b->net == NULL)
		return;
	bool known = code > DLC_FAULT_NONE && (int)code < (int)ERR_COUNT;
	fail(b->net->err, known ? (ErrCode)code : ERR_INPUT, NULL, "%s",
		sentence != NULL ? sentence : "the program refuses without saying why");
}

/* ---- what each function does */

bool builder_begin(Making *m, DlcBuilder *b)
{
	if (b == NULL || b->net == NULL || !net_ok(b->net))
		return false;
	*m = (Making){ .b = b, .net = b->net };
	return true;
}

DlcValue builder_out_of_memory(DlcBuilder *b)
{
	fail(b->net->err, ERR_MEMORY, NULL, "out of memory");
	return (DlcValue){ 0 };
}

void builder_name(Making *m, const char *name, const char *kind)
{
	if (kind == NULL)
		kind = "op";
	m->kind = arena_printf(m->net->arena, "%.40s", kind);
	m->name = names_give(m->b->names, name != NULL && name[0] != 0 ? name : m->kind);
}

void builder_fail(Making *m, ErrCode code, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fail(m->net->err, code, NULL, "layer '%.100s' (%s): %s", m->name, m->kind, text);
}

static DlcValue id_of(const DlcBuilder *b, int value)
{
	return (DlcValue){ (uint64_t)b->mark << 32 | ((uint64_t)value + 1) };
}

DlcValue builder_public(DlcBuilder *b, Act x)
{
	if (!net_ok(b->net) || x.value == DAG_NONE)
		return (DlcValue){ 0 };
	while (b->square.n < b->net->dag->value.n)
		vec_push(b->work, &b->square, 0);
	b->square.at[x.value] = x.square;
	return id_of(b, x.value);
}

/* The value of a name, for dlc_builder_find. */
static DlcValue keep_value(Making *m, const char *name, Act made)
{
	if (net_ok(m->net) && made.value != DAG_NONE && name != NULL && names_find(m->b->values, name) < 0)
		names_bind(m->b->values, name, made.value);
	return builder_public(m->b, made);
}

DlcValue builder_end(Making *m, Act made)
{
	Err *err = m->net->err;
	if (err->code != ERR_NONE && strncmp(err->text, "layer '", 7) != 0) {
		Err inner = *err;
		*err = (Err){ 0 };
		builder_fail(m, inner.code, "%s", inner.text);
	}
	DlcValue v = keep_value(m, m->name, made);
	guard_leave(&m->guard);
	return v;
}

/* Of a constant that is not drawn: from its elements, of which a large one gives some. */
static double square_of(const Value *v)
{
	enum { LOOKED_AT = 4096 };
	int64_t n = shape_elements(v->shape), step = n > LOOKED_AT ? n / LOOKED_AT : 1, count = 0;
	double sum = 0;
	if (v->kind != VALUE_CONST || v->data == NULL || !dtype_is_float(v->type))
		return 1;
	for (int64_t i = 0; i < n; i += step, count++) {
		double x = element_get(v->type, v->data, i);
		sum += x * x;
	}
	return count > 0 && isfinite(sum) && sum > 0 ? sum / (double)count : 1;
}

/* False: it is no value of this builder. */
static bool find_value(const DlcBuilder *b, DlcValue v, Act *out)
{
	uint64_t at = v.id & UINT32_MAX;
	if (v.id >> 32 != b->mark || at < 1 || at > b->net->dag->value.n)
		return false;
	out->value = (int)(at - 1);
	out->square = at <= b->square.n && b->square.at[at - 1] > 0 ? b->square.at[at - 1]
																: square_of(&b->net->dag->value.at[at - 1]);
	return true;
}

Act builder_value(Making *m, DlcValue v, const char *what)
{
	Act x = { 0, 1 };
	if (v.id == 0)
		builder_fail(m, ERR_USAGE, "its %s is none, but must be given", what);
	else if (!find_value(m->b, v, &x))
		builder_fail(m, ERR_USAGE, "its %s is no value of this builder", what);
	return x;
}

const Act *builder_optional(Making *m, DlcValue v, const char *what)
{
	if (v.id == 0)
		return NULL;
	Act x = builder_value(m, v, what);
	return arena_copy(m->net->arena, &x, sizeof x);
}

/* ---- inputs, constants, outputs */

static bool free_name(Making *m, const char *name, const char *what)
{
	if (!net_ok(m->net))
		return false;
	if (name == NULL || name[0] == 0)
		fail(m->net->err, ERR_USAGE, NULL, "an %s has no name, but must have one", what);
	else if (dag_find_value(m->net->dag, name) != DAG_NONE)
		fail(m->net->err, ERR_USAGE, NULL, "the name '%.100s' of an %s is that of another value", name, what);
	return net_ok(m->net);
}

static bool read_shape(Making *m, const char *what, const char *name, int rank, const int64_t *dim, int64_t least)
{
	name = name != NULL ? name : "";
	if (rank < 0 || rank > DLC_RANK)
		fail(m->net->err, ERR_USAGE, NULL, "%s '%.100s' has %d dimensions, but may have 0 to %d", what, name, rank,
			DLC_RANK);
	else if (rank > 0 && dim == NULL)
		fail(m->net->err, ERR_USAGE, NULL, "%s '%.100s' has %d dimensions, but dim is NULL", what, name, rank);
	for (int k = 0; k < rank && net_ok(m->net); k++)
		if (dim[k] < least)
			fail(m->net->err, ERR_USAGE, NULL, "%s '%.100s' has a dimension of %lld", what, name, (long long)dim[k]);
	return net_ok(m->net);
}

static Act add_input(Making *m, const char *name, DlcDataType dtype, int rank, const int64_t *dim)
{
	DlcBuilder *b = m->b;
	Act none = { 0, 1 };
	DType type = { dtype.code, dtype.bits, 1 };
	if (!free_name(m, name, "input") || !read_shape(m, "input", name, rank, dim, -1))
		return none;
	if (!dtype_known(type) || dtype.lanes > 1)
		fail(m->net->err, ERR_USAGE, NULL, "input '%.100s' has a type that dlc does not know: code %d with %d bits",
			name, dtype.code, dtype.bits);
	if (b->input.n >= MOST_INPUTS)
		fail(m->net->err, ERR_USAGE, NULL, "input '%.100s' is one too many: %d are there", name, MOST_INPUTS);
	if (!net_ok(m->net))
		return none;
	NodeDim *d = arena_array(b->work, NodeDim, rank + 1);
	for (int k = 0; k < rank; k++)
		d[k] = (NodeDim){ .size = dim[k], .open = dim[k] < 0, .symbol = "" };
	name = names_give(b->names, name);
	NodeValue v = { .name = name, .type = type, .shaped = true, .dim = d, .ndim = (size_t)rank };
	vec_push(b->work, &b->input, v);
	if (!import_input(&m->net->im, &b->inputs, &v))
		return none;
	Item *it = import_lookup(&m->net->im, &b->inputs, name);
	if (it->value == DAG_NONE)
		it->value = dag_add_const(m->net->dag, name, it->type, it->shape, it->data);
	return (Act){ it->value, 1 };
}

/* As BUILDER_MAKE, for what is no layer: failures name their own. */
static DlcValue end_plain(Making *m, const char *name, Act made)
{
	DlcValue v = keep_value(m, name, made);
	guard_leave(&m->guard);
	return v;
}

DlcValue dlc_builder_input(DlcBuilder *b, const char *name, DlcDataType dtype, int rank, const int64_t *dim)
{
	Making m;
	if (!builder_begin(&m, b))
		return (DlcValue){ 0 };
	if (GUARD_ENTER(&m.guard))
		return builder_out_of_memory(b);
	return end_plain(&m, name, add_input(&m, name, dtype, rank, dim));
}

static Act add_constant(Making *m, const DlcTensor *t, DlcKeep keep)
{
	Act none = { 0, 1 };
	BindArg c;
	if (t == NULL)
		builder_fail(m, ERR_USAGE, "its tensor is NULL, but must be given");
	else if (keep != DLC_COPY && keep != DLC_BORROW)
		builder_fail(m, ERR_USAGE, "its keep is %d, but must be DLC_COPY or DLC_BORROW", (int)keep);
	if (!net_ok(m->net) || !network_read_tensor(m->net->arena, m->name, t, keep == DLC_BORROW, &c, m->net->err))
		return none;
	if (!import_check_size(&m->net->im, "constant", m->name, c.type, c.shape))
		return none;
	int v = dag_add_const(m->net->dag, m->name, c.type, c.shape, c.data);
	return (Act){ v, square_of(&m->net->dag->value.at[v]) };
}

DlcValue dlc_builder_constant(DlcBuilder *b, const char *name, const DlcTensor *tensor, DlcKeep keep)
{
	BUILDER_MAKE(b, name, "constant", add_constant(m, tensor, keep));
}

static Act add_weight(Making *m, int rank, const int64_t *dim, double mean, double spread)
{
	if (!isfinite(mean) || !isfinite(spread))
		builder_fail(m, ERR_USAGE, "its mean %g and its spread %g must be finite", mean, spread);
	if (!net_ok(m->net) || !read_shape(m, "weight", m->name, rank, dim, 0))
		return (Act){ 0, 1 };
	return net_tensor(m->net, m->name, shape_of(rank, dim), mean, spread);
}

DlcValue dlc_builder_weight(
	DlcBuilder *b, const char *name, int rank, const int64_t *dim, double mean, double spread)
{
	BUILDER_MAKE(b, name, "weight", add_weight(m, rank, dim, mean, spread));
}

/* A result keeps its name: by renaming the value, or behind a call of identity. */
static void add_output(Making *m, const char *name, DlcValue x)
{
	Dag *d = m->net->dag;
	Act y;
	if (x.id == 0 || !find_value(m->b, x, &y)) {
		fail(m->net->err, ERR_USAGE, NULL, "output '%.100s' is %s", name != NULL ? name : "",
			x.id == 0 ? "none, but must be a value" : "no value of this builder");
		return;
	}
	const char *own = d->value.at[y.value].name;
	name = name != NULL && name[0] != 0 ? name : own;
	bool again = names_find(m->b->outputs, own) >= 0;
	if ((again || strcmp(name, own) != 0) && !free_name(m, name, "output"))
		return;
	if (d->value.at[y.value].kind != VALUE_CALL || again)
		y = net_call(m->net, name, OP_identity, &y.value, 1, NULL, 0, y.square);
	if (!net_ok(m->net))
		return;
	names_bind(m->b->outputs, name, 0);
	names_give(m->b->names, name);
	keep_value(m, name, y);
	dag_rename(d, y.value, name);
	dag_add_output(d, y.value);
}

void dlc_builder_output(DlcBuilder *b, const char *name, DlcValue x)
{
	Making m;
	if (!builder_begin(&m, b))
		return;
	if (GUARD_ENTER(&m.guard)) {
		builder_out_of_memory(b);
		return;
	}
	add_output(&m, name, x);
	guard_leave(&m.guard);
}

DlcValue dlc_builder_find(DlcBuilder *b, const char *name)
{
	if (b == NULL || b->net == NULL || !net_ok(b->net))
		return (DlcValue){ 0 };
	int value = name != NULL ? names_find(b->values, name) : -1;
	if (value < 0)
		fail(b->net->err, ERR_USAGE, NULL, "there is no value '%.100s'", name != NULL ? name : "");
	return value < 0 ? (DlcValue){ 0 } : id_of(b, value);
}

int dlc_builder_describe(const DlcBuilder *b, DlcValue x, DlcValueInfo *out)
{
	Act at;
	if (out == NULL)
		return 0;
	*out = (DlcValueInfo){ 0 };
	if (b == NULL || b->net == NULL || !net_ok(b->net) || !find_value(b, x, &at))
		return 0;
	const Value *v = &b->net->dag->value.at[at.value];
	out->name = v->name;
	out->dtype = (DlcDataType){ v->type.kind, v->type.bits, 1 };
	out->rank = v->shape.rank;
	memcpy(out->dim, v->shape.dim, sizeof out->dim);
	return 1;
}

/* ---- operators */

static bool read_attrs(Making *m, const DlcAttr *attr, int nattr, Attr *out)
{
	for (int k = 0; k < nattr && net_ok(m->net); k++) {
		const DlcAttr *a = &attr[k];
		out[k] = (Attr){ .name = a->name, .kind = (AttrKind)a->kind };
		if (a->name == NULL)
			builder_fail(m, ERR_USAGE, "its attribute %d has no name", k);
		else if (a->kind == DLC_INTS && (a->n < 0 || (a->n > 0 && a->ints == NULL)))
			builder_fail(m, ERR_USAGE, "its attribute %.60s has %d numbers%s", a->name, a->n,
				a->ints == NULL ? ", but ints is NULL" : "");
		else if (a->kind == DLC_TEXT && a->text == NULL)
			builder_fail(m, ERR_USAGE, "its attribute %.60s has no text", a->name);
		else if ((int)a->kind < (int)DLC_INT || a->kind > DLC_TEXT)
			builder_fail(m, ERR_USAGE, "its attribute %.60s is of no kind that dlc knows", a->name);
		else if (a->kind == DLC_INT)
			out[k].i = a->i;
		else if (a->kind == DLC_FLOAT)
			out[k].f = a->f;
		else if (a->kind == DLC_TEXT)
			out[k].text = a->text;
		else
			out[k].ints = a->ints, out[k].n = a->n;
	}
	return net_ok(m->net);
}

typedef struct OpArgs {
	const char *op;
	const DlcValue *in;
	int nin;
	const DlcAttr *attr;
	int nattr;
	DlcValue *out;
	int nout;
} OpArgs;

/* The numbers and pointers of a call. */
static bool check_args(Making *m, const OpArgs *o)
{
	if (o->op == NULL || op_find(o->op) < 0)
		builder_fail(m, ERR_UNSUPPORTED, "there is no operator '%.60s'", o->op != NULL ? o->op : "");
	else if (o->nin < 0 || o->nin > MOST_INPUTS || (o->nin > 0 && o->in == NULL))
		builder_fail(m, ERR_USAGE, "it has %d inputs%s", o->nin, o->in == NULL ? ", but in is NULL" : "");
	else if (o->nattr < 0 || o->nattr > MOST_INPUTS || (o->nattr > 0 && o->attr == NULL))
		builder_fail(m, ERR_USAGE, "it has %d attributes%s", o->nattr, o->attr == NULL ? ", but attr is NULL" : "");
	else if (o->nout < 0 || (o->nout > 0 && o->out == NULL))
		builder_fail(m, ERR_USAGE, "%d results are asked for%s", o->nout, o->out == NULL ? ", but out is NULL" : "");
	return net_ok(m->net);
}

static Act add_op(Making *m, const OpArgs *o)
{
	Act none = { 0, 1 };
	Net *net = m->net;
	if (!check_args(m, o))
		return none;
	Act *x = arena_array(net->arena, Act, o->nin + 1);
	int *in = arena_array(net->arena, int, o->nin + 1), op = op_find(o->op);
	Attr *attr = arena_array(net->arena, Attr, o->nattr + 1);
	for (int k = 0; k < o->nin && net_ok(net); k++) {
		x[k] = o->in[k].id == 0 ? (Act){ DAG_NONE, 1 }
								: builder_value(m, o->in[k], arena_printf(net->arena, "input %d", k));
		in[k] = x[k].value;
	}
	if (!read_attrs(m, o->attr, o->nattr, attr))
		return none;
	Act y = net_call(net, m->name, op, in, o->nin, attr, o->nattr, 1);
	if (!net_ok(net))
		return none;
	const Dag *d = net->dag;
	const OpCall *c = &d->call.at[d->value.at[y.value].call];
	y.square = net_square(net, op, x, o->nin);
	if (o->nout > c->nout) {
		builder_fail(m, ERR_USAGE, "it gives %d results, but %d are asked for", c->nout, o->nout);
		return none;
	}
	for (int k = 0; k < o->nout; k++)
		o->out[k] = builder_public(m->b, (Act){ c->out[k], y.square });
	return y;
}

DlcValue dlc_builder_op(DlcBuilder *b, const char *name, const char *op, const DlcValue *in, int nin,
	const DlcAttr *attr, int nattr, DlcValue *out, int nout)
{
	const OpArgs args = { op, in, nin, attr, nattr, out, nout };
	for (int k = 0; out != NULL && k < nout; k++)
		out[k] = (DlcValue){ 0 };
	BUILDER_MAKE(b, name, op, add_op(m, &args));
}

DlcValue dlc_builder_op1(DlcBuilder *b, const char *name, const char *op, DlcValue x)
{
	return dlc_builder_op(b, name, op, &x, 1, NULL, 0, NULL, 0);
}

DlcValue dlc_builder_op2(DlcBuilder *b, const char *name, const char *op, DlcValue x, DlcValue y)
{
	DlcValue in[2];
	in[0] = x;
	in[1] = y;
	return dlc_builder_op(b, name, op, in, 2, NULL, 0, NULL, 0);
}

DlcValue dlc_builder_reshape(DlcBuilder *b, const char *name, DlcValue x, int rank, const int64_t *dim)
{
	DlcAttr shape = { .name = "shape", .kind = DLC_INTS, .n = rank, .ints = dim };
	return dlc_builder_op(b, name, "reshape", &x, 1, &shape, 1, NULL, 0);
}

DlcValue dlc_builder_transpose(DlcBuilder *b, const char *name, DlcValue x, const int64_t *perm)
{
	DlcValueInfo v;
	dlc_builder_describe(b, x, &v);
	DlcAttr attr = { .name = "perm", .kind = DLC_INTS, .n = v.rank, .ints = perm };
	return dlc_builder_op(b, name, "transpose", &x, 1, &attr, 1, NULL, 0);
}

DlcValue dlc_builder_concat(DlcBuilder *b, const char *name, const DlcValue *x, int n, int axis)
{
	DlcAttr attr = { .name = "axis", .kind = DLC_INT, .i = axis };
	return dlc_builder_op(b, name, "concat", x, n, &attr, 1, NULL, 0);
}

/* ---- the end */

Dag *builder_take(DlcBuilder *b, Err *err)
{
	Net *net = b->net;
	bool made = net_ok(net); /* else the failure that is kept is of a line */
	if (made && net->dag->output.n == 0)
		fail(net->err, ERR_USAGE, NULL, "no value is an output");
	const NodeGraph g = { .in = b->input.at, .nin = b->input.n };
	bool ok = net_ok(net) && import_check_args(&net->im, &g);
	for (size_t k = 0; k < net->dag->value.n && ok; k++) {
		const Value *v = &net->dag->value.at[k];
		ok = import_check_size(&net->im, "value", v->name, v->type, v->shape);
	}
	ok = ok && dag_check(net->dag, net->err);
	if (ok)
		return net->dag;
	err_at(net->err, b->name);
	*err = *net->err;
	if (!made)
		say_line(b, err);
	return NULL;
}

static bool finish(DlcBuilder *b, DlcNetwork **out, Err *err)
{
	if (b->arena == NULL)
		return fail(err, ERR_USAGE, b->name, "is loaded by a front end, which returns instead");
	if (b->net == NULL)
		return fail(err, ERR_USAGE, b->name, "has given its network already, and can only be closed");
	Dag *d = builder_take(b, err);
	if (d == NULL || !input_layouts(d, &b->args, err) ||
		!network_make(b->session, b->work, b->name, d, &b->options, out, err))
		return false;
	b->name = arena_printf(b->arena, "%s", b->name);
	b->net = NULL;
	return true;
}

DlcFault dlc_builder_finish(DlcBuilder *b, DlcNetwork **out, DlcFailure *why)
{
	API_CHECK(why, API_OUT(out), API_GIVEN(b));
	API_CALL(b->session, why, finish(b, out, err));
}
