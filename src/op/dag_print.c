/*
 * Prints a Dag, one line each: inputs, constants, calls in order, outputs; docs/dag.md has the grammar.
 * Names that are not plain words are quoted. Only small constants are printed with their data: the text
 * serves people, tests and identities and does not carry weights.
 */
#include "op/dag.h"
#include "op/element.h"
#include "op/op.h"

#include <string.h>

enum { WRITTEN_OUT = 16 }; /* larger constants are printed without their data */

static bool is_plain(const char *s)
{
	static const char *const words[] = { "_", "dag", "in", "const", "out" };
	for (int i = 0; i < 5; i++)
		if (strcmp(s, words[i]) == 0)
			return false;
	if (s[0] == 0 || strchr("0123456789.", s[0]) != NULL)
		return false;
	return s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] == 0;
}

static void print_name(Text *out, const char *s)
{
	if (is_plain(s)) {
		text_put(out, s, strlen(s));
		return;
	}
	text_put(out, "\"", 1);
	for (; *s != 0; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < 32 || c == 127)
			text_add(out, "\\x%02x", c);
		else if (c == '"' || c == '\\')
			text_add(out, "\\%c", c);
		else
			text_put(out, s, 1);
	}
	text_put(out, "\"", 1);
}

static void print_ints(Text *out, const int64_t *v, int n)
{
	text_put(out, "[", 1);
	for (int i = 0; i < n; i++)
		text_add(out, "%s%lld", i > 0 ? "," : "", (long long)v[i]);
	text_put(out, "]", 1);
}

static void print_value(Text *out, const Value *v)
{
	char t[DTYPE_TEXT];
	print_name(out, v->name);
	text_add(out, ": %s", dtype_print(v->type, t));
	print_ints(out, v->shape.dim, v->shape.rank);
	if (v->layout != NULL)
		text_add(out, ":%s", v->layout);
}

static void print_element(Text *out, DType t, const void *data, int64_t i)
{
	char s[32];
	if (t.kind == DT_UINT && t.bits == 64) {
		text_add(out, "%llu", (unsigned long long)element_get_int(t, data, i));
		return;
	}
	if (!dtype_is_float(t)) {
		text_add(out, "%lld", (long long)element_get_int(t, data, i));
		return;
	}
	if (t.bits == 64)
		text_double(s, sizeof s, element_get(t, data, i));
	else
		text_float(s, sizeof s, (float)element_get(t, data, i));
	text_add(out, "%s", s);
}

static void print_const(Text *out, const Value *v)
{
	text_add(out, "const ");
	print_value(out, v);
	int64_t n = shape_elements(v->shape);
	if (v->data != NULL && n > 0 && n <= WRITTEN_OUT) {
		text_add(out, " = {");
		for (int64_t i = 0; i < n; i++) {
			text_add(out, "%s", i > 0 ? ", " : "");
			print_element(out, v->type, v->data, i);
		}
		text_add(out, "}");
	}
	text_add(out, "\n");
}

static void print_call(Text *out, const Dag *d, const OpCall *c)
{
	for (int i = 0; i < c->nout; i++) {
		text_add(out, "%s", i > 0 ? ", " : "");
		print_value(out, &d->value.at[c->out[i]]);
	}
	text_add(out, " = %s(", op_row(c->op)->name);
	for (int i = 0; i < c->nin; i++) {
		text_add(out, "%s", i > 0 ? ", " : "");
		if (c->in[i] == DAG_NONE)
			text_add(out, "_");
		else
			print_name(out, d->value.at[c->in[i]].name);
	}
	text_add(out, ")");
	for (int i = 0; i < c->nattr; i++) {
		const Attr *a = &c->attr[i];
		char s[32];
		text_add(out, " %s=", a->name);
		switch (a->kind) {
		case ATTR_INT: text_add(out, "%lld", (long long)a->i); break;
		case ATTR_INTS: print_ints(out, a->ints, a->n); break;
		case ATTR_FLOAT:
			text_double(s, sizeof s, a->f);
			text_add(out, "%s", s);
			break;
		case ATTR_TEXT: print_name(out, a->text); break;
		}
	}
	text_add(out, "\n");
}

void dag_print(Text *out, const Dag *d)
{
	text_add(out, "dag");
	if (d->name[0] != 0) {
		text_add(out, " ");
		print_name(out, d->name);
	}
	text_add(out, "\n");
	for (size_t i = 0; i < d->input.n; i++) {
		text_add(out, "in ");
		print_value(out, &d->value.at[d->input.at[i]]);
		text_add(out, "\n");
	}
	for (size_t i = 0; i < d->value.n; i++)
		if (d->value.at[i].kind == VALUE_CONST)
			print_const(out, &d->value.at[i]);
	for (size_t i = 0; i < d->call.n; i++)
		print_call(out, d, &d->call.at[i]);
	text_add(out, "out");
	for (size_t i = 0; i < d->output.n; i++) {
		text_add(out, "%s", i > 0 ? ", " : " ");
		print_name(out, d->value.at[d->output.at[i]].name);
	}
	text_add(out, "\n");
}

const char *dag_str(Arena *a, const Dag *d)
{
	Text t = { .arena = a };
	dag_print(&t, d);
	return text_str(&t);
}
