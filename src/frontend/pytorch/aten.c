/*
 * Calls of operators: the row that their arguments fit, the arguments as rows read them, results. A result of
 * an in-place form goes into the cell of its first argument.
 */
#include "frontend/pytorch/chosen.h"
#include "frontend/pytorch/pytorch.h"
#include "frontend/pytorch/quant.h"

#include "op/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- whether arguments fit a row */

static TorchValue default_of(const char *text, size_t n, char kind)
{
	char word[64];
	n = n < sizeof word - 1 ? n : sizeof word - 1;
	memcpy(word, text, n);
	word[n] = 0;
	if (strcmp(word, "None") == 0)
		return torch_none();
	if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0)
		return torch_bool(word[0] == 'T');
	if (kind == 's')
		return torch_none(); /* texts are compared where they are read */
	if (strpbrk(word, ".e") != NULL || kind == 'f')
		return torch_float(strtod(word, NULL));
	return torch_int(strtoll(word, NULL, 10));
}

/* The arguments that a row lists. */
static void list_args(Aten *n)
{
	n->narg = 0;
	for (const char *s = n->row->args; *s != 0;) {
		AtenArg *a = &n->arg[n->narg++];
		size_t all = strcspn(s, " "), name = strcspn(s, ":");
		*a = (AtenArg){ .name = s, .len = name, .kind = s[name + 1] };
		a->optional = s[name + 2] == '?' || s[name + 2] == '=';
		if (s[name + 2] == '=')
			a->value = default_of(s + name + 3, all - name - 3, a->kind);
		if (s[name + 2] == '=' && a->kind == 's')
			a->value = torch_text("");
		s += all;
		s += *s == ' ';
	}
}

static bool is_scalar_tensor(TorchValue x)
{
	return x.kind == TORCH_TENSOR && x.tensor->item != NULL && x.tensor->item->shape.rank == 0;
}

static bool fits_list(TorchValue x, char kind)
{
	for (size_t k = 0; k < x.list->n; k++) {
		TorchValue e = x.list->at[k];
		bool ok = kind == 'L'   ? e.kind == TORCH_TENSOR || e.kind == TORCH_NONE
		          : kind == 'I' ? e.kind == TORCH_INT || is_scalar_tensor(e)
		                        : torch_is_number(e) || is_scalar_tensor(e);
		if (!ok)
			return false;
	}
	return true;
}

static bool fits(TorchValue x, char kind)
{
	bool list = x.kind == TORCH_LIST || x.kind == TORCH_TUPLE;
	switch (kind) {
	case 'T': return x.kind == TORCH_TENSOR;
	case 'n':
	case 'f': return torch_is_number(x) || is_scalar_tensor(x);
	case 'd':
	case 'i': return x.kind == TORCH_INT || x.kind == TORCH_BOOL || is_scalar_tensor(x);
	case 'b': return x.kind == TORCH_BOOL || x.kind == TORCH_INT || is_scalar_tensor(x);
	case 's': return x.kind == TORCH_TEXT;
	case 'I':
	case 'F': return list ? fits_list(x, kind) : torch_is_number(x) || is_scalar_tensor(x);
	case 'L': return list && fits_list(x, kind);
	case 'A': return list;
	case 'D': return x.kind == TORCH_DICT;
	default: return true;
	}
}

/* Fills n->arg; false: the arguments are others than the row's. */
static bool match(Aten *n, const AtenIn *in)
{
	list_args(n);
	size_t place = 0;
	for (size_t k = 0; k < in->n; k++) {
		AtenArg *a = NULL;
		if (in->name[k] == NULL && place < (size_t)n->narg)
			a = &n->arg[place++];
		if (in->name[k] == NULL && a != NULL && a->kind == 'd')
			return false;
		for (int i = 0; in->name[k] != NULL && i < n->narg; i++)
			if (strlen(in->name[k]) == n->arg[i].len && memcmp(in->name[k], n->arg[i].name, n->arg[i].len) == 0)
				a = &n->arg[i];
		/* what is the first tensor's name differs between an operator and its in-place form */
		if (a == NULL && in->name[k] != NULL && n->narg > 0 &&
			(strcmp(in->name[k], "self") == 0 || strcmp(in->name[k], "input") == 0))
			a = &n->arg[0];
		bool none = in->at[k].kind == TORCH_NONE;
		if (a == NULL || a->given ||
			(none ? !a->optional && a->kind != '*' && a->kind != '_' : !fits(in->at[k], a->kind)))
			return false;
		a->given = true;
		if (!none || a->kind == '*' || a->kind == 'T')
			a->value = in->at[k];
	}
	for (int i = 0; i < n->narg; i++)
		if (!n->arg[i].given && !n->arg[i].optional)
			return false;
	return true;
}

/* ---- calls */

static void put_in_place(Aten *n)
{
	TorchValue self = n->arg[0].value, y = n->result;
	if (!node_ok(n->v) || self.kind != TORCH_TENSOR || y.kind != TORCH_TENSOR || y.tensor == self.tensor)
		return;
	int value = torch_value(n->v, y.tensor);
	torch_write(n->v, self.tensor, value);
	n->result = self;
}

/* An argument that the row has not read may change the result. */
static void check_read(Aten *n)
{
	for (int i = 0; i < n->narg && node_ok(n->v); i++) {
		const AtenArg *a = &n->arg[i];
		if (a->given && !a->seen && a->kind != '_' && a->value.kind != TORCH_NONE)
			node_fail(n->v, ERR_UNSUPPORTED, "its argument %.*s does not go with its others", (int)a->len, a->name);
	}
}

/*
 * PyTorch keeps the order of elements in these rows: a new tensor lies in row-major order if all that is read does.
 * Others may give what they have computed in another order.
 */
static bool keeps_order(Aten *n, const AtenRow *list)
{
	static const AtenRow *const keeping[] = { torch_unary_rows, torch_binary_rows, torch_logic_rows, torch_fill_rows,
		torch_window_rows, torch_pool_rows, torch_norm_rows, torch_reduce_rows };
	bool yes = false;
	for (size_t k = 0; k < sizeof keeping / sizeof *keeping; k++)
		yes |= keeping[k] == list;
	for (int i = 0; i < n->narg && yes && node_ok(n->v); i++)
		if (n->arg[i].value.kind == TORCH_TENSOR)
			yes = torch_has_dense_strides(n->v, n->arg[i].value.tensor);
	return yes && !aten_reorders(n);
}

static bool run(Aten *n, const AtenRow *list, const char *name, bool inplace, TorchValue *out)
{
	bool dense = keeps_order(n, list);
	n->row->import(n);
	check_read(n);
	TorchTensor *made = n->result.kind == TORCH_TENSOR ? n->result.tensor : NULL;
	if (made != NULL && dense && made->base == NULL && made->shares == NULL)
		made->dense = true;
	if (inplace)
		put_in_place(n);
	if (node_ok(n->v) && !n->done)
		node_fail(n->v, ERR_UNSUPPORTED, "%s gives no result that dlc has", name);
	*out = n->result;
	return node_ok(n->v);
}

static void describe(Aten *n, const AtenIn *in)
{
	Text t = { .arena = n->v->im->arena };
	for (size_t k = 0; k < in->n && t.n < 200; k++) {
		text_add(
			&t, "%s%s%s", k > 0 ? ", " : "", in->name[k] != NULL ? in->name[k] : "", in->name[k] != NULL ? "=" : "");
		text_add(&t, "%s", torch_kind_name(in->at[k].kind));
	}
	node_fail(n->v, ERR_UNSUPPORTED, "its arguments (%s) are those of no form that is supported", text_str(&t));
}

bool aten_call(Visit *v, const char *name, const AtenIn *in, TorchValue *out)
{
	Aten call = { .v = v }, *n = &call;
	const AtenNamed *first = aten_named(program_of(v)->rows, name);
	const char *form = strrchr(name, '.');
	*out = torch_none();
	if (torch_call_lost(v, name, in, out))
		return node_ok(v);
	for (int exact = 1; exact >= 0 && node_ok(v); exact--) /* "max.dim" first where a program says the form */
		for (const AtenNamed *r = first; r != NULL; r = r->next) {
			const char *own = strchr(r->row->name, '.');
			n->row = r->row;
			if ((exact && (own == NULL || form == NULL || strcmp(own, form) != 0)) || !match(n, in))
				continue;
			bool quant = torch_has_quant(in), done = false;
			ChosenCall chosen;
			if (!torch_check_chosen(n, r->list, in, &chosen))
				return false;
			if (quant && (!torch_call_quant(v, r->list, name, r->inplace, in, out, &done) || done))
				return node_ok(v);
			if (!run(n, r->list, name, r->inplace, out))
				return false;
			if (quant)
				torch_keep_quant(v, r->list, in, *out);
			if (chosen.rows != NULL)
				torch_keep_chosen(n, &chosen, out);
			return node_ok(v);
		}
	if (first == NULL)
		node_fail(v, ERR_UNSUPPORTED, "the operator is not supported");
	else
		describe(n, in);
	return false;
}

/* ---- arguments */

static AtenArg *find(Aten *n, const char *name)
{
	size_t len = strlen(name);
	for (int i = 0; i < n->narg; i++)
		if (n->arg[i].len == len && memcmp(n->arg[i].name, name, len) == 0) {
			n->arg[i].seen = true;
			return &n->arg[i];
		}
	n->none = (AtenArg){ .name = "", .kind = '*' };
	return &n->none;
}

TorchValue aten_any(Aten *n, const char *name)
{
	return find(n, name)->value;
}

bool aten_given(Aten *n, const char *name)
{
	return find(n, name)->value.kind != TORCH_NONE;
}

TorchTensor *aten_tensor(Aten *n, const char *name)
{
	TorchValue x = aten_any(n, name);
	if (x.kind == TORCH_TENSOR)
		return x.tensor;
	node_fail(n->v, ERR_TYPE, "its argument %s is no tensor", name);
	TorchTensor *t = arena_new_of(n->v->im->arena, TorchTensor);
	t->item = torch_item(n->v, t);
	return t;
}

Item *aten_item(Aten *n, const char *name)
{
	return torch_item(n->v, aten_tensor(n, name));
}

int aten_value(Aten *n, const char *name)
{
	TorchValue x = aten_any(n, name);
	if (x.kind == TORCH_NONE)
		return DAG_NONE;
	if (torch_is_number(x))
		return aten_as(n, x, aten_promote(n, &x, 1));
	return torch_value(n->v, aten_tensor(n, name));
}

Shape aten_shape(Aten *n, const char *name)
{
	return torch_shape(n->v, aten_tensor(n, name));
}

/* 0 where no integer is that large. */
static int64_t without_fraction(double f)
{
	return fabs(f) < 9e18 ? (int64_t)f : 0;
}

bool torch_to_int(Visit *v, TorchValue x, int64_t *out)
{
	*out = 0;
	if (x.kind == TORCH_TENSOR) {
		Item *it = torch_item(v, x.tensor);
		if (node_ok(v) && shape_elements(it->shape) != 1)
			node_fail(
				v, ERR_TYPE, "a tensor of %lld elements cannot be a number", (long long)shape_elements(it->shape));
		if (!node_ok(v) || !node_know(v, it, "a number"))
			return false;
		*out = dtype_is_float(it->type) ? without_fraction(element_get(it->type, it->data, 0))
		                                : element_get_int(it->type, it->data, 0);
		return true;
	}
	if (!torch_is_number(x))
		return false;
	*out = x.kind == TORCH_FLOAT ? without_fraction(x.f) : x.i;
	return true;
}

bool torch_spend(Visit *v, int64_t elements)
{
	enum { MOST_MADE = 1 << 25 };
	if (elements < 0 || elements > MOST_MADE || (v->im->steps += elements) > MOST_MADE)
		node_fail(v, ERR_UNSUPPORTED, "the program makes more than %d elements while it is imported", MOST_MADE);
	return node_ok(v);
}

int64_t aten_int(Aten *n, const char *name)
{
	int64_t i = 0;
	if (node_ok(n->v) && !torch_to_int(n->v, aten_any(n, name), &i) && node_ok(n->v))
		node_fail(n->v, ERR_TYPE, "its argument %s is no integer", name);
	return i;
}

double aten_float(Aten *n, const char *name)
{
	TorchValue x = aten_any(n, name);
	if (torch_is_number(x) || !node_ok(n->v))
		return torch_is_number(x) ? torch_number(x) : 0;
	if (x.kind != TORCH_TENSOR)
		return 0;
	Item *it = torch_item(n->v, x.tensor);
	return node_know(n->v, it, arena_printf(n->v->im->arena, "its argument %s", name))
	           ? element_get(it->type, it->data, 0)
	           : 0;
}

bool aten_flag(Aten *n, const char *name)
{
	return aten_given(n, name) && aten_int(n, name) != 0;
}

const char *aten_text(Aten *n, const char *name)
{
	TorchValue x = aten_any(n, name);
	return x.kind == TORCH_TEXT ? x.text : "";
}

int aten_axis(Aten *n, const char *name, int rank)
{
	int64_t at = aten_int(n, name);
	return rank == 0 && (at == 0 || at == -1) ? 0 : node_axis(n->v, at, rank);
}

int aten_ints(Aten *n, const char *name, int want, int64_t *out)
{
	TorchValue x = aten_any(n, name);
	int count = 0;
	for (int k = 0; k < ATEN_INTS; k++)
		out[k] = 0;
	if (x.kind == TORCH_NONE || !node_ok(n->v))
		return 0;
	if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE) {
		if (x.list->n > ATEN_INTS)
			node_fail(
				n->v, ERR_UNSUPPORTED, "its argument %s has %zu numbers, more than %d", name, x.list->n, ATEN_INTS);
		for (; node_ok(n->v) && (size_t)count < x.list->n; count++)
			torch_to_int(n->v, x.list->at[count], &out[count]);
	} else {
		torch_to_int(n->v, x, &out[count++]);
	}
	for (; want > 0 && count == 1 && node_ok(n->v) && count < want;)
		for (; count < want; count++)
			out[count] = out[0];
	if (node_ok(n->v) && want >= 0 && count != want)
		node_fail(n->v, ERR_TYPE, "its argument %s has %d numbers where %d are needed", name, count, want);
	return node_ok(n->v) ? count : 0;
}

bool aten_reorders(Aten *n)
{
	TorchValue x = aten_any(n, "memory_format");
	return x.kind == TORCH_INT && x.i > 1;
}

int aten_values(Aten *n, const char *name, int **out)
{
	TorchValue x = aten_any(n, name);
	size_t count = x.kind == TORCH_LIST || x.kind == TORCH_TUPLE ? x.list->n : 0;
	if (!torch_spend(n->v, (int64_t)count))
		count = 0;
	*out = arena_array(n->v->im->arena, int, count + 1);
	for (size_t k = 0; k < count; k++)
		(*out)[k] = x.list->at[k].kind == TORCH_TENSOR ? torch_value(n->v, x.list->at[k].tensor) : DAG_NONE;
	return (int)count;
}

DType aten_type(Aten *n, const char *name, DType otherwise)
{
	DType t = otherwise;
	if (aten_given(n, name) && !torch_type_from(aten_int(n, name), &t))
		node_fail(n->v, ERR_UNSUPPORTED, "its argument %s is type %lld of PyTorch, which dlc does not have", name,
			(long long)aten_int(n, name));
	return t;
}

/* ---- types */

static int category(DType t)
{
	return t.kind == DT_BOOL ? 0 : dtype_is_int(t) ? 1 : 2;
}

/* Of two types of one kind of operand. */
static DType wider(DType a, DType b)
{
	int p = category(a), q = category(b);
	if (p != q)
		return p > q ? a : b;
	if (p == 2 && a.bits == b.bits && a.kind != b.kind)
		return F32;
	if (p == 1 && a.kind != b.kind) {
		DType s = a.kind == DT_INT ? a : b, u = a.kind == DT_INT ? b : a;
		return s.bits > u.bits ? s : (DType){ DT_INT, u.bits < 64 ? (uint8_t)(2 * u.bits) : 64, 1 };
	}
	return a.bits >= b.bits ? a : b;
}

DType aten_promote(Aten *n, const TorchValue *in, int count)
{
	DType best[3]; /* tensors with dimensions, without, numbers */
	bool have[3] = { false, false, false };
	for (int k = 0; k < count; k++) {
		TorchValue x = in[k];
		int kind = 2;
		DType t = x.kind == TORCH_FLOAT ? F32 : x.kind == TORCH_INT ? I64 : BOOL;
		if (x.kind == TORCH_TENSOR) {
			const Item *it = torch_item(n->v, x.tensor);
			bool number = x.tensor->number;
			kind = it->shape.rank > 0 ? 0 : number ? 2 : 1;
			t = !number ? it->type : dtype_is_float(it->type) ? F32 : it->type.kind == DT_BOOL ? BOOL : I64;
		} else if (!torch_is_number(x)) {
			continue;
		}
		best[kind] = have[kind] ? wider(best[kind], t) : t;
		have[kind] = true;
	}
	DType t = F32;
	bool any = false;
	for (int k = 0; k < 3; k++)
		if (have[k] && (!any || category(best[k]) > category(t))) {
			t = best[k];
			any = true;
		}
	return t;
}

int aten_as(Aten *n, TorchValue x, DType type)
{
	if (x.kind == TORCH_TENSOR)
		return node_cast(n->v, torch_value(n->v, x.tensor), type);
	if (!torch_is_number(x)) {
		node_fail(n->v, ERR_TYPE, "an argument is neither a tensor nor a number");
		return DAG_NONE;
	}
	void *data = arena_alloc(n->v->im->arena, 8);
	if (x.kind == TORCH_FLOAT || dtype_is_float(type))
		element_set(type, data, 0, torch_number(x));
	else
		element_set_int(type, data, 0, x.i);
	return node_const(n->v, type, shape_of(0, NULL), data);
}

int aten_floating(Aten *n, int x)
{
	return dtype_is_float(node_val(n->v, x)->type) ? x : node_cast(n->v, x, F32);
}

/* ---- results */

void aten_give(Aten *n, TorchValue x)
{
	n->result = x;
	n->done = true;
}

void aten_set(Aten *n, int value)
{
	aten_give(n, torch_of(n->v, value));
}

void aten_give_values(Aten *n, const int *value, int count)
{
	TorchValue all = torch_list(n->v->im->arena, TORCH_TUPLE);
	for (int k = 0; k < count; k++)
		torch_push(n->v->im->arena, all.list, torch_of(n->v, value[k]));
	aten_give(n, all);
}
