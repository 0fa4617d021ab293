/*
 * The rows of op.def, and the attributes of calls. A call stores only the attributes that differ from their
 * defaults, so a query looks into the call first and then into the row's text, "name:kind=default".
 */
#include "op/shape.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const OpRow rows[OP_COUNT] = {
#define OP(name, class, inputs, outputs, attrs, shape, naive, flops, each, traits, doc) \
	{ #name, OP_##class, inputs, outputs, attrs, each, traits, doc },
#include "op/op.def"
#undef OP
};

static const char *const attr_kinds[] = {
	[ATTR_INT] = "int",
	[ATTR_INTS] = "ints",
	[ATTR_FLOAT] = "float",
	[ATTR_TEXT] = "text",
};

const OpRow *op_row(int op)
{
	assert(op >= 0 && op < OP_COUNT);
	return &rows[op];
}

int op_find(const char *name)
{
	for (int i = 0; i < OP_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return i;
	return -1;
}

void op_arity(int op, int *min, int *max)
{
	*min = *max = 0;
	for (const char *s = op_row(op)->inputs; *s != 0;) {
		size_t n = strcspn(s, " ");
		*min += s[n - 1] != '?';
		*max = s[n - 1] == '*' ? -1 : *max + 1;
		s += n + (s[n] == ' ');
	}
}

bool op_find_attr(int op, const char *name, AttrKind *kind, const char **dflt)
{
	size_t len = strlen(name);
	for (const char *s = op_row(op)->attrs; *s != 0;) {
		size_t n = strcspn(s, " ");
		if (n > len && memcmp(s, name, len) == 0 && s[len] == ':') {
			const char *text = s + len + 1;
			size_t k = strcspn(text, "= ");
			*dflt = text[k] == '=' ? text + k + 1 : NULL;
			for (int i = 0; i <= ATTR_TEXT; i++)
				if (strlen(attr_kinds[i]) == k && memcmp(text, attr_kinds[i], k) == 0)
					*kind = (AttrKind)i;
			return true;
		}
		s += n + (s[n] == ' ');
	}
	return false;
}

/* The call's attribute, or NULL and the text of the default. */
static const Attr *attr_of(const OpCall *c, const char *name, AttrKind kind, const char **dflt)
{
	AttrKind known = kind;
	bool found = op_find_attr(c->op, name, &known, dflt);
	assert(found && known == kind);
	(void)found;
	return op_attr(c, name);
}

int64_t op_int(const OpCall *c, const char *name)
{
	const char *dflt;
	const Attr *a = attr_of(c, name, ATTR_INT, &dflt);
	assert(a != NULL || dflt != NULL);
	return a != NULL ? a->i : strtoll(dflt, NULL, 10);
}

double op_float(const OpCall *c, const char *name)
{
	const char *dflt;
	const Attr *a = attr_of(c, name, ATTR_FLOAT, &dflt);
	assert(a != NULL || dflt != NULL);
	return a != NULL ? a->f : strtod(dflt, NULL);
}

const int64_t *op_ints(const OpCall *c, const char *name, int *n)
{
	const char *dflt;
	const Attr *a = attr_of(c, name, ATTR_INTS, &dflt);
	*n = a != NULL ? a->n : 0;
	return a != NULL ? a->ints : NULL;
}

const char *op_text(const OpCall *c, const char *name)
{
	const char *dflt;
	const Attr *a = attr_of(c, name, ATTR_TEXT, &dflt);
	if (a != NULL)
		return a->text;
	/* A default that is a text stands last in its row (tests/op checks it), so it ends with a 0. */
	return dflt != NULL ? dflt : "";
}

/* Binary digits of a floating type: 24 of f32. */
static int digits(DType t)
{
	int n = 0;
	while (n < 53 && dtype_round(t, 1 + ldexp(1, -n)) > 1)
		n++;
	return n;
}

DType dag_coarsest(const Dag *d)
{
	DType least = F64;
	for (size_t i = 0; i < d->value.n; i++) {
		const Value *v = &d->value.at[i];
		if (v->kind == VALUE_CALL && dtype_is_float(v->type) && digits(v->type) < digits(least))
			least = v->type;
	}
	return least;
}

bool dag_allows_tf32(const Dag *d)
{
	for (size_t i = 0; i < d->call.n; i++) {
		AttrKind kind;
		const char *dflt;
		const OpCall *c = &d->call.at[i];
		if (op_find_attr(c->op, "tf32", &kind, &dflt) && op_int(c, "tf32") != 0)
			return true;
	}
	return false;
}

static bool all_are(const OpCall *c, const char *name, int64_t value)
{
	int n;
	const int64_t *v = op_ints(c, name, &n);
	for (int k = 0; k < n; k++)
		if (v[k] != value)
			return false;
	return true;
}

unsigned op_row_axes(const Dag *d, const OpCall *c)
{
	int rank = d->value.at[c->in[0]].shape.rank, n = 0;
	if (!op_find_attr(c->op, "axes", &(AttrKind){ 0 }, &(const char *){ NULL })) {
		int64_t axis = op_int(c, "axis");
		return 1u << (axis < 0 ? axis + rank : axis);
	}
	const int64_t *axes = op_ints(c, "axes", &n);
	unsigned over = n == 0 ? (1u << rank) - 1 : 0;
	for (int k = 0; k < n; k++)
		over |= 1u << axes[k];
	return over;
}

bool op_has_one_tap(const Dag *d, const OpCall *c)
{
	if (c->op != OP_conv || d->value.at[c->in[1]].kind != VALUE_CONST)
		return false;
	const Shape *w = &d->value.at[c->in[1]].shape;
	bool yes = all_are(c, "strides", 1) && all_are(c, "pads", 0);
	for (int k = 2; k < w->rank; k++)
		yes = yes && w->dim[k] == 1;
	return yes;
}

bool op_is_pointwise(const Dag *d, const OpCall *c)
{
	return op_has_one_tap(d, c) && op_int(c, "groups") == 1;
}
