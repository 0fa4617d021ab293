/*
 * Parses the text of a Dag, one line at a time. The parser knows no operator: op.def gives the kinds of
 * attributes, the shape rule the types of results. Types that the text gives are compared with them.
 */
#include "op/dag.h"
#include "op/element.h"
#include "op/layout.h"
#include "op/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_TEXT = 64 << 20, LONGEST_NAME = 4096 };

typedef struct Parser {
	const char *at, *end;
	const char *file;
	int line;
	Dag *d;
	Err *err;
} Parser;

typedef VEC(int) IntVec;
typedef VEC(int64_t) NumVec;
typedef VEC(Attr) AttrVec;
typedef VEC(Value) ValueVec;

static bool refuse(Parser *p, const char *what)
{
	char place[160];
	snprintf(place, sizeof place, "%s:%d", p->file, p->line);
	return fail(p->err, ERR_SYNTAX, place, "%s", what);
}

static bool refuse_name(Parser *p, const char *fmt, const char *name)
{
	return refuse(p, arena_printf(p->d->arena, fmt, name));
}

static char peek(Parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
	if (p->at < p->end && *p->at == '#')
		while (p->at < p->end && *p->at != '\n')
			p->at++;
	return p->at < p->end ? *p->at : '\n';
}

static bool take(Parser *p, char c)
{
	if (peek(p) != c || p->at == p->end)
		return false;
	p->at++;
	return true;
}

static bool expect(Parser *p, char c)
{
	if (take(p, c))
		return true;
	return refuse(p, arena_printf(p->d->arena, "expected '%c' here", c));
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static bool parse_quoted(Parser *p, const char **out)
{
	char name[LONGEST_NAME];
	size_t n = 0;
	for (p->at++; p->at < p->end && *p->at != '"' && *p->at != '\n' && n + 1 < sizeof name; p->at++) {
		char c = *p->at;
		if (c == '\\' && p->end - p->at >= 2 && (p->at[1] == '"' || p->at[1] == '\\')) {
			c = *++p->at;
		} else if (c == '\\') {
			if (p->end - p->at < 4 || p->at[1] != 'x' || text_hex_digit(p->at[2]) < 0 || text_hex_digit(p->at[3]) < 0)
				return refuse(p, "a quoted name may hold \\\", \\\\ and \\xHH only");
			c = (char)(text_hex_digit(p->at[2]) * 16 + text_hex_digit(p->at[3]));
			p->at += 3;
		}
		if (c == 0)
			return refuse(p, "a name cannot hold a zero byte");
		name[n++] = c;
	}
	if (p->at >= p->end || *p->at != '"')
		return refuse(p, "the quoted name has no end, or is too long");
	p->at++;
	if (n == 0)
		return refuse(p, "a name is empty");
	name[n] = 0;
	*out = arena_copy(p->d->arena, name, n + 1);
	return true;
}

static bool parse_name(Parser *p, const char **out)
{
	if (peek(p) == '"' && p->at < p->end)
		return parse_quoted(p, out);
	size_t n = 0;
	while (p->at + n < p->end && is_word(p->at[n]) && n < LONGEST_NAME)
		n++;
	if (n == 0 || n == LONGEST_NAME)
		return refuse(p, "expected a name here");
	char *s = arena_alloc(p->d->arena, n + 1);
	memcpy(s, p->at, n);
	p->at += n;
	*out = s;
	return true;
}

/* The characters of a number, as strtod reads them. */
static bool parse_token(Parser *p, char out[64])
{
	size_t n = 0;
	peek(p);
	while (p->at < p->end && n < 63 && (is_word(*p->at) || *p->at == '-' || *p->at == '+'))
		out[n++] = *p->at++;
	out[n] = 0;
	return n > 0 || refuse(p, "expected a number here");
}

static bool parse_int(Parser *p, int64_t *out)
{
	char s[64];
	if (!parse_token(p, s))
		return false;
	return text_to_int(s, INT64_MIN, INT64_MAX, out) || refuse_name(p, "\"%s\" is not a whole number", s);
}

static bool parse_float(Parser *p, double *out)
{
	char s[64], *end;
	if (!parse_token(p, s))
		return false;
	*out = strtod(s, &end);
	return *end == 0 || refuse_name(p, "\"%s\" is not a number", s);
}

static bool parse_ints(Parser *p, NumVec *out)
{
	int64_t v;
	if (!expect(p, '['))
		return false;
	if (take(p, ']'))
		return true;
	do {
		if (!parse_int(p, &v))
			return false;
		vec_push(p->d->arena, out, v);
	} while (take(p, ','));
	return expect(p, ']');
}

/* f32[1,3,224,224] or f32[1,64,56,56]:NCHW16c */
static bool parse_type(Parser *p, Value *v)
{
	const char *type;
	NumVec dim = { 0 };
	if (!parse_name(p, &type))
		return false;
	if (!dtype_parse(type, strlen(type), &v->type) || v->type.lanes != 1)
		return refuse_name(p, "\"%s\" is not an element type", type);
	if (!parse_ints(p, &dim))
		return false;
	if (dim.n > DAG_MAX_RANK)
		return refuse(p, "a shape has at most 8 dimensions");
	for (size_t i = 0; i < dim.n; i++)
		if (dim.at[i] < 0)
			return refuse(p, "a dimension is negative");
	v->shape = shape_of((int)dim.n, dim.at);
	if (value_bytes(v) < 0)
		return refuse(p, "the tensor's size overflows");
	if (!take(p, ':'))
		return true;
	if (!parse_name(p, &v->layout))
		return false;
	Layout l;
	if (!layout_read(v->layout, v->shape, &l))
		return refuse_name(p, "\"%s\" is not a layout of this shape", v->layout);
	return value_bytes(v) >= 0 || refuse(p, "the tensor's size overflows");
}

static bool parse_new_name(Parser *p, const char **out)
{
	if (!parse_name(p, out))
		return false;
	if (dag_find_value(p->d, *out) != DAG_NONE)
		return refuse_name(p, "the value %s is defined twice", *out);
	return true;
}

static bool parse_element(Parser *p, DType t, void *data, int64_t i)
{
	char s[64], *end = "";
	int64_t n;
	double f;
	if (dtype_is_float(t)) {
		if (!parse_float(p, &f))
			return false;
		element_set(t, data, i, f);
		return true;
	}
	if (!parse_token(p, s))
		return false;
	if (t.kind == DT_UINT && t.bits == 64 && s[0] != '-')
		n = (int64_t)strtoull(s, &end, 10);
	else if (!text_to_int(s, INT64_MIN, INT64_MAX, &n))
		end = s;
	if (*end != 0)
		return refuse_name(p, "\"%s\" is not a whole number", s);
	element_set_int(t, data, i, n);
	return true;
}

static bool parse_data(Parser *p, Value *v)
{
	int64_t n = shape_elements(v->shape);
	if (!expect(p, '{'))
		return false;
	if (n < 1 || n > p->end - p->at)
		return refuse(p, "the numbers do not fill the shape");
	void *data = arena_alloc(p->d->arena, (size_t)value_bytes(v));
	v->data = data;
	for (int64_t i = 0; i < n; i++) {
		if (i > 0 && !take(p, ','))
			return refuse(p, "the numbers do not fill the shape");
		if (!parse_element(p, v->type, data, i))
			return false;
	}
	return take(p, '}') || refuse(p, "there are more numbers than the shape has");
}

static bool parse_declaration(Parser *p, ValueKind kind)
{
	Value v = { 0 };
	if (!parse_new_name(p, &v.name) || !expect(p, ':') || !parse_type(p, &v))
		return false;
	if (kind == VALUE_CONST && take(p, '=') && !parse_data(p, &v))
		return false;
	int n = kind == VALUE_INPUT ? dag_add_input(p->d, v.name, v.type, v.shape)
	                            : dag_add_const(p->d, v.name, v.type, v.shape, v.data);
	p->d->value.at[n].layout = v.layout;
	return true;
}

static bool parse_arguments(Parser *p, IntVec *in)
{
	if (!expect(p, '('))
		return false;
	if (take(p, ')'))
		return true;
	do {
		const char *name;
		bool quoted = peek(p) == '"';
		if (!parse_name(p, &name))
			return false;
		bool none = !quoted && strcmp(name, "_") == 0;
		int v = none ? DAG_NONE : dag_find_value(p->d, name);
		if (v == DAG_NONE && !none)
			return refuse_name(p, "the value %s is not defined above", name);
		vec_push(p->d->arena, in, v);
	} while (take(p, ','));
	return expect(p, ')');
}

static bool parse_attr(Parser *p, int op, Attr *a)
{
	const char *dflt;
	NumVec ints = { 0 };
	if (!parse_name(p, &a->name))
		return false;
	if (!op_find_attr(op, a->name, &a->kind, &dflt))
		return refuse(p, arena_printf(p->d->arena, "%s has no attribute %s", op_row(op)->name, a->name));
	if (!expect(p, '='))
		return false;
	switch (a->kind) {
	case ATTR_INT: return parse_int(p, &a->i);
	case ATTR_FLOAT: return parse_float(p, &a->f);
	case ATTR_TEXT: return parse_name(p, &a->text);
	default:
		if (!parse_ints(p, &ints))
			return false;
		a->n = (int)ints.n;
		a->ints = ints.n > 0 ? ints.at : arena_array(p->d->arena, int64_t, 1);
		return true;
	}
}

/* Compares the types that the text gives for the results with those of the shape rule. */
static bool check_results(Parser *p, const ValueVec *out, int call)
{
	char s[160], t[160], dt[DTYPE_TEXT], du[DTYPE_TEXT];
	const OpCall *c = &p->d->call.at[call];
	for (size_t i = 0; i < out->n; i++) {
		Value *is = &p->d->value.at[c->out[i]];
		const Value *said = &out->at[i];
		if (strcmp(is->name, said->name) != 0)
			return refuse_name(p, "the value %s is defined twice", said->name);
		if (said->type.bits == 0)
			continue;
		if (!shape_eq(is->shape, said->shape) || !dtype_eq(is->type, said->type))
			return refuse(p, arena_printf(p->d->arena, "%s is %s of shape %s, but the text says %s of shape %s",
								 said->name, dtype_print(is->type, dt), shape_str(is->shape, s),
								 dtype_print(said->type, du), shape_str(said->shape, t)));
		is->layout = said->layout;
	}
	return true;
}

/* a: f32[2], b: f32[3] = split(x) sizes=[2,3] */
static bool parse_call(Parser *p)
{
	Arena *a = p->d->arena;
	ValueVec out = { 0 };
	VEC(const char *) name = { 0 };
	IntVec in = { 0 };
	AttrVec attr = { 0 };
	do {
		Value v = { 0 };
		if (!parse_new_name(p, &v.name) || (take(p, ':') && !parse_type(p, &v)))
			return false;
		vec_push(a, &out, v);
		vec_push(a, &name, v.name);
	} while (take(p, ','));
	const char *opname = NULL;
	if (!expect(p, '=') || !parse_name(p, &opname))
		return false;
	int op = op_find(opname);
	if (op < 0)
		return refuse_name(p, "there is no operator %s", opname);
	if (!parse_arguments(p, &in))
		return false;
	while (peek(p) != '\n') {
		Attr next = { 0 };
		if (!parse_attr(p, op, &next))
			return false;
		vec_push(a, &attr, next);
	}
	int call = dag_add_call_as(p->d, op, NULL, name.at, (int)name.n, in.at, (int)in.n, attr.at, (int)attr.n, p->err);
	if (call < 0) {
		char place[160];
		snprintf(place, sizeof place, "%s:%d", p->file, p->line);
		return err_at(p->err, place);
	}
	return check_results(p, &out, call);
}

static bool parse_outputs(Parser *p)
{
	const char *name = NULL;
	if (peek(p) == '\n')
		return true;
	do {
		if (!parse_name(p, &name))
			return false;
		int v = dag_find_value(p->d, name);
		if (v == DAG_NONE)
			return refuse_name(p, "the output %s is not defined", name);
		dag_add_output(p->d, v);
	} while (take(p, ','));
	return true;
}

/* Takes the keyword if the line begins with it and a blank or the line's end follows. */
static bool take_word(Parser *p, const char *word)
{
	size_t n = strlen(word);
	peek(p);
	if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n) != 0)
		return false;
	if (p->at + n < p->end && strchr(" \t\r\n#", p->at[n]) == NULL)
		return false;
	p->at += n;
	return true;
}

/* Moves to the next line; false if this one has more text. */
static bool end_line(Parser *p)
{
	if (peek(p) != '\n')
		return refuse(p, "the line has more text than its statement");
	if (p->at < p->end) {
		p->at++;
		p->line++;
	}
	return true;
}

static bool skip_empty_lines(Parser *p)
{
	while (p->at < p->end && peek(p) == '\n' && p->at < p->end)
		if (!end_line(p))
			return false;
	return p->at < p->end;
}

static bool parse_all(Parser *p)
{
	skip_empty_lines(p);
	if (!take_word(p, "dag"))
		return refuse(p, "the text does not begin with \"dag\"");
	if (peek(p) != '\n' && !parse_name(p, &p->d->name))
		return false;
	if (!end_line(p))
		return false;
	while (skip_empty_lines(p)) {
		if (take_word(p, "out")) {
			if (!parse_outputs(p) || !end_line(p))
				return false;
			return !skip_empty_lines(p) || refuse(p, "text follows the line \"out\"");
		}
		bool ok = take_word(p, "in")      ? parse_declaration(p, VALUE_INPUT)
		          : take_word(p, "const") ? parse_declaration(p, VALUE_CONST)
		                                  : parse_call(p);
		if (!ok || !end_line(p))
			return false;
	}
	return refuse(p, "the text ends without a line \"out\"");
}

Dag *dag_parse(Arena *a, const char *name, const char *text, size_t n, Err *err)
{
	Parser p = { text, text + n, name, 1, dag_new(a, NULL), err };
	if (n > LARGEST_TEXT) {
		fail(err, ERR_SYNTAX, name, "the text is larger than 64 MiB");
		return NULL;
	}
	return parse_all(&p) && dag_check(p.d, err) ? p.d : NULL;
}
