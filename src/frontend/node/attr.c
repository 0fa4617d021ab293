/*
 * The attributes of the current node. An attribute of a node in a function may refer to one of the function's call, and
 * is followed there. A wrong kind is refused; a loose format's kinds follow what the row asks for.
 */
#include "frontend/node/visit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const NodeAttr *attr_in(const NodeDef *node, const char *name, size_t *at)
{
	for (size_t k = 0; k < node->nattr; k++)
		if (strcmp(node->attr[k].name, name) == 0) {
			*at = k;
			return &node->attr[k];
		}
	return NULL;
}

static const NodeAttr *default_in(const NodeFunction *f, const char *name)
{
	for (size_t k = 0; k < f->nattr; k++)
		if (strcmp(f->attr[k].name, name) == 0)
			return &f->attr[k];
	return NULL;
}

/* An attribute that refers to one of the function's becomes that of the call, and so on upwards. */
static const NodeAttr *follow(const Frame *frame, const NodeAttr *at)
{
	size_t ignored;
	while (at != NULL && at->kind == NODE_REF) {
		if (frame == NULL || frame->call == NULL)
			return NULL;
		const char *name = at->ref;
		at = attr_in(frame->call, name, &ignored);
		if (at == NULL)
			return default_in(frame->function, name);
		frame = frame->up;
	}
	return at;
}

/* A text that says that there is no value. */
static bool is_none(const Visit *n, const NodeAttr *a)
{
	return n->im->model->format->loose && a->kind == NODE_TEXT && a->text.n == 4 && memcmp(a->text.at, "None", 4) == 0;
}

const NodeAttr *node_attr(Visit *n, const char *name)
{
	size_t at = 0;
	const NodeAttr *a = attr_in(n->node, name, &at);
	if (a == NULL)
		return NULL;
	n->attr_seen[at] = 1;
	if (is_none(n, a))
		return NULL;
	return follow(n->frame, a);
}

bool node_has(Visit *n, const char *name)
{
	return node_attr(n, name) != NULL;
}

static const NodeAttr *attr_of_kind(Visit *n, const char *name, NodeKind kind, const char *what)
{
	const NodeAttr *a = node_attr(n, name);
	if (a == NULL || a->kind == kind)
		return a;
	if (a->kind == NODE_EMPTY && (kind == NODE_INTS || kind == NODE_FLOATS || kind == NODE_TEXTS))
		return a;
	node_fail(n, ERR_TYPE, "its attribute %s must be %s", name, what);
	return NULL;
}

/* ---- what loose formats write: "3", "True", "(3, 3)", "[0.5]", and whole numbers for others */

static bool is_loose(Visit *n, const NodeAttr *a, NodeKind kind)
{
	return a != NULL && a->kind != kind && n->im->model->format->loose;
}

/* The text of an attribute, ended by 0. */
static char *text_of(Visit *n, const NodeAttr *a)
{
	char *s = arena_alloc(n->im->arena, a->text.n + 1);
	if (a->text.n > 0)
		memcpy(s, a->text.at, a->text.n);
	return s;
}

/* One number at *s, which moves behind it; false if there is none. */
static bool take_number(const char **s, double *out)
{
	static const struct {
		const char *word;
		double is;
	} words[] = { { "True", 1 }, { "true", 1 }, { "False", 0 }, { "false", 0 } };
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (strncmp(*s, words[k].word, strlen(words[k].word)) == 0) {
			*out = words[k].is;
			*s += strlen(words[k].word);
			return true;
		}
	char *end;
	*out = strtod(*s, &end);
	bool some = end != *s;
	*s = end + (some && *end == 'L'); /* 3L, as Python 2 wrote it */
	return some;
}

/* The numbers of an attribute, whatever its kind; *count = -1 after a refusal. */
static const double *loose_numbers(Visit *n, const NodeAttr *a, const char *what, int *count)
{
	VEC(double) list = { 0 };
	double x;
	*count = -1;
	if (a->kind == NODE_INT || a->kind == NODE_FLOAT)
		vec_push(n->im->arena, &list, a->kind == NODE_INT ? (double)a->i : a->f);
	for (size_t k = 0; a->kind == NODE_INTS && k < a->ints.n; k++)
		vec_push(n->im->arena, &list, (double)a->ints.at[k]);
	for (size_t k = 0; a->kind == NODE_FLOATS && k < a->floats.n; k++)
		vec_push(n->im->arena, &list, import_number(F32, &a->floats.at[k]));
	if (a->kind == NODE_TEXT) {
		const char *s = text_of(n, a);
		s += strspn(s, " ([");
		while (*s != 0 && take_number(&s, &x)) {
			vec_push(n->im->arena, &list, x);
			s += strspn(s, " ,");
		}
		s += strspn(s, " ])");
		if (*s != 0) {
			node_fail(n, ERR_TYPE, "its attribute %s is '%.60s', but must be %s", a->name, text_of(n, a), what);
			return NULL;
		}
	} else if (a->kind > NODE_FLOATS || a->kind == NODE_EMPTY) {
		node_fail(n, ERR_TYPE, "its attribute %s must be %s", a->name, what);
		return NULL;
	}
	*count = (int)list.n;
	static const double none;
	return list.n > 0 ? list.at : &none;
}

/* One number that a loose attribute gives. */
static double loose_number(Visit *n, const NodeAttr *a, const char *what)
{
	int count;
	const double *at = loose_numbers(n, a, what, &count);
	if (count == 1)
		return at[0];
	if (count >= 0)
		node_fail(n, ERR_TYPE, "its attribute %s has %d numbers, but must be %s", a->name, count, what);
	return 0;
}

static int64_t whole(Visit *n, const NodeAttr *a, double x)
{
	if (x == floor(x) && fabs(x) < 0x1p62)
		return (int64_t)x;
	node_fail(n, ERR_TYPE, "its attribute %s is %g, but must be an integer", a->name, x);
	return 0;
}

/* ---- by kind */

int64_t node_attr_int(Visit *n, const char *name, int64_t otherwise)
{
	const NodeAttr *a = node_attr(n, name);
	if (is_loose(n, a, NODE_INT))
		return whole(n, a, loose_number(n, a, "an integer"));
	a = attr_of_kind(n, name, NODE_INT, "an integer");
	return a != NULL ? a->i : otherwise;
}

bool node_attr_flag(Visit *n, const char *name, bool otherwise)
{
	int64_t v = node_attr_int(n, name, otherwise);
	if (v != 0 && v != 1)
		node_fail(n, ERR_INPUT, "its attribute %s is %lld, but must be 0 or 1", name, (long long)v);
	return v != 0;
}

double node_attr_float(Visit *n, const char *name, double otherwise)
{
	const NodeAttr *a = node_attr(n, name);
	if (is_loose(n, a, NODE_FLOAT))
		return loose_number(n, a, "a number");
	a = attr_of_kind(n, name, NODE_FLOAT, "a number");
	return a != NULL ? a->f : otherwise;
}

double node_attr_size(Visit *n, const char *name, double otherwise)
{
	double v = node_attr_float(n, name, otherwise);
	if (!(v >= 0) || isinf(v))
		node_fail(n, ERR_INPUT, "its attribute %s is %g, but must be a finite number that is not negative", name, v);
	return v;
}

const char *node_attr_text(Visit *n, const char *name, const char *otherwise)
{
	const NodeAttr *a = attr_of_kind(n, name, NODE_TEXT, "a text");
	return a == NULL ? otherwise : text_of(n, a);
}

const int64_t *node_attr_ints(Visit *n, const char *name, int *count)
{
	const NodeAttr *a = node_attr(n, name);
	if (is_loose(n, a, NODE_INTS) && a->kind != NODE_EMPTY) {
		const double *from = loose_numbers(n, a, "a list of integers", count);
		int64_t *to = arena_array(n->im->arena, int64_t, *count + 1);
		for (int k = 0; k < *count; k++)
			to[k] = whole(n, a, from[k]);
		return *count < 0 ? NULL : to;
	}
	a = attr_of_kind(n, name, NODE_INTS, "a list of integers");
	*count = a == NULL ? -1 : a->kind == NODE_EMPTY ? 0 : (int)a->ints.n;
	return a == NULL || a->kind == NODE_EMPTY ? NULL : a->ints.at;
}

const float *node_attr_floats(Visit *n, const char *name, int *count)
{
	const NodeAttr *a = node_attr(n, name);
	if (is_loose(n, a, NODE_FLOATS) && a->kind != NODE_EMPTY) {
		const double *from = loose_numbers(n, a, "a list of numbers", count);
		float *to = arena_array(n->im->arena, float, *count + 1);
		for (int k = 0; k < *count; k++)
			to[k] = (float)from[k];
		return *count < 0 ? NULL : to;
	}
	a = attr_of_kind(n, name, NODE_FLOATS, "a list of numbers");
	*count = a == NULL ? -1 : a->kind == NODE_EMPTY ? 0 : (int)a->floats.n;
	return a == NULL || a->kind == NODE_EMPTY ? NULL : a->floats.at;
}

const Bytes *node_attr_texts(Visit *n, const char *name, int *count)
{
	const NodeAttr *a = attr_of_kind(n, name, NODE_TEXTS, "a list of texts");
	*count = a == NULL ? -1 : a->kind == NODE_EMPTY ? 0 : (int)a->texts.n;
	return a == NULL || a->kind == NODE_EMPTY ? NULL : a->texts.at;
}

const NodeGraph *node_attr_graph(Visit *n, const char *name)
{
	size_t at = 0;
	const NodeAttr *a = attr_of_kind(n, name, NODE_GRAPH, "a graph"), *own = attr_in(n->node, name, &at);
	if (own != NULL && own->kind == NODE_REF)
		node_fail(n, ERR_UNSUPPORTED, "its graph %s comes from the call of a function", name);
	else if (a == NULL || a->graph == NULL)
		node_fail(n, ERR_INPUT, "its attribute %s, a graph, is missing", name);
	return node_ok(n) ? a->graph : NULL;
}

bool node_attr_tensor(Visit *n, const char *name, NodeTensor *out)
{
	const NodeAttr *a = attr_of_kind(n, name, NODE_TENSOR, "a tensor");
	if (a == NULL || a->tensor == NULL)
		return false;
	const char *what = arena_printf(n->im->arena, "%s: its attribute %s", n->name, name);
	return import_tensor(n->im, a->tensor, what, out);
}

const int64_t *node_attr_or_input(Visit *n, const char *name, int version, int k, int *count)
{
	return n->frame->version < version ? node_attr_ints(n, name, count) : node_ints(n, k, count);
}
