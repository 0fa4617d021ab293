/* Rows of lists and dictionaries, which are known while importing. */
#include "frontend/pytorch/aten.h"
#include "frontend/pytorch/choice.h"

#include <string.h>

enum { MOST_LISTED = 1 << 20 };

static TorchList *list_of(Aten *n, const char *name)
{
	return aten_any(n, name).list;
}

/* The same, which is changed. */
static TorchList *changed(Aten *n, const char *name)
{
	TorchList *l = list_of(n, name);
	sides_note_list(n->v, l);
	return l;
}

/* The same, where all elements are looked at: a loop over a long list is counted as elements that are made. */
static TorchList *walked(Aten *n, const char *name)
{
	TorchList *l = list_of(n, name);
	torch_spend(n->v, (int64_t)l->n);
	return l;
}

/* The place of an element, counted from the end when negative; -1: it is outside, which is refused. */
static int64_t place(Aten *n, const TorchList *l, int64_t at)
{
	int64_t many = (int64_t)l->n, i = at < 0 ? at + many : at;
	if (i >= 0 && i < many)
		return i;
	node_fail(n->v, ERR_INPUT, "element %lld is outside of a list of %lld", (long long)at, (long long)many);
	return -1;
}

static void import_len(Aten *n)
{
	TorchValue x = aten_any(n, "a");
	int64_t many = x.kind == TORCH_TEXT ? (int64_t)strlen(x.text) : (int64_t)x.list->n;
	aten_give(n, torch_int(x.kind == TORCH_DICT ? many / 2 : many));
}

static void import_get(Aten *n)
{
	TorchList *l = list_of(n, "a");
	int64_t at = place(n, l, aten_int(n, "i"));
	if (node_ok(n->v))
		aten_give(n, l->at[at]);
}

static void import_set(Aten *n)
{
	TorchList *l = changed(n, "a");
	int64_t at = place(n, l, aten_int(n, "i"));
	if (node_ok(n->v))
		l->at[at] = aten_any(n, "x");
	aten_give(n, aten_any(n, "a"));
	aten_any(n, "x");
}

static void import_append(Aten *n)
{
	TorchList *l = changed(n, "a");
	if (l->n >= MOST_LISTED)
		node_fail(n->v, ERR_UNSUPPORTED, "a list grows beyond %d elements", MOST_LISTED);
	else
		torch_push(n->v->im->arena, l, aten_any(n, "x"));
	aten_give(n, aten_any(n, "a"));
}

static TorchValue copied(Aten *n, TorchKind kind)
{
	TorchValue y = torch_list(n->v->im->arena, kind);
	TorchValue x = aten_any(n, "a");
	torch_spend(n->v, (int64_t)x.list->n);
	for (size_t k = 0; k < x.list->n && node_ok(n->v); k++)
		torch_push(n->v->im->arena, y.list, x.list->at[k]);
	return y;
}

static void import_copy(Aten *n)
{
	aten_give(n, copied(n, TORCH_LIST));
}

static void add_all(Aten *n, TorchList *to, const TorchList *from)
{
	size_t many = from->n;
	torch_spend(n->v, (int64_t)many);
	if (to->n + many > MOST_LISTED)
		node_fail(n->v, ERR_UNSUPPORTED, "a list grows beyond %d elements", MOST_LISTED);
	for (size_t k = 0; k < many && node_ok(n->v); k++)
		torch_push(n->v->im->arena, to, from->at[k]);
}

static void import_add(Aten *n)
{
	TorchValue y = copied(n, aten_any(n, "a").kind);
	add_all(n, y.list, list_of(n, "b"));
	aten_give(n, y);
}

static void import_extend(Aten *n)
{
	add_all(n, changed(n, "a"), list_of(n, "b"));
	aten_give(n, aten_any(n, "a"));
}

static void import_times(Aten *n)
{
	TorchValue y = torch_list(n->v->im->arena, TORCH_LIST);
	int64_t many = aten_int(n, "b");
	if (many > MOST_LISTED)
		node_fail(n->v, ERR_UNSUPPORTED, "a list grows beyond %d elements", MOST_LISTED);
	for (int64_t k = 0; k < many && node_ok(n->v) && list_of(n, "a")->n > 0; k++)
		add_all(n, y.list, list_of(n, "a"));
	aten_give(n, y);
}

static void import_slice(Aten *n)
{
	TorchList *l = list_of(n, "a");
	int64_t many = (int64_t)l->n, start = aten_given(n, "start") ? aten_int(n, "start") : 0;
	int64_t end = aten_given(n, "end") ? aten_int(n, "end") : many, step = aten_int(n, "step");
	start = start < 0 ? start + many : start;
	end = end < 0 ? end + many : end > many ? many : end;
	TorchValue y = torch_list(n->v->im->arena, TORCH_LIST);
	if (step < 1)
		node_fail(n->v, ERR_INPUT, "it slices a list with a step of %lld", (long long)step);
	torch_spend(n->v, many);
	for (int64_t k = start < 0 ? 0 : start; node_ok(n->v) && k<end; k += step> many ? many : step)
		torch_push(n->v->im->arena, y.list, l->at[k]);
	aten_give(n, y);
}

static void import_pop(Aten *n)
{
	TorchList *l = changed(n, "a");
	int64_t at = place(n, l, aten_int(n, "i"));
	if (!node_ok(n->v))
		return;
	aten_give(n, l->at[at]);
	torch_spend(n->v, (int64_t)l->n - at);
	memmove(&l->at[at], &l->at[at + 1], sizeof *l->at * (l->n - (size_t)at - 1));
	l->n--;
}

static void import_insert(Aten *n)
{
	TorchList *l = walked(n, "a");
	sides_note_list(n->v, l);
	int64_t at = aten_int(n, "i"), many = (int64_t)l->n;
	at = at < 0 ? at + many : at;
	at = at < 0 ? 0 : at > many ? many : at;
	torch_push(n->v->im->arena, l, aten_any(n, "x"));
	memmove(&l->at[at + 1], &l->at[at], sizeof *l->at * (size_t)(many - at));
	l->at[at] = aten_any(n, "x");
	aten_give(n, aten_any(n, "a"));
}

static void import_reverse(Aten *n)
{
	TorchList *l = walked(n, "a");
	sides_note_list(n->v, l);
	for (size_t k = 0; k < l->n / 2; k++) {
		TorchValue x = l->at[k];
		l->at[k] = l->at[l->n - 1 - k];
		l->at[l->n - 1 - k] = x;
	}
	aten_give(n, aten_any(n, "a"));
}

static void import_clear(Aten *n)
{
	changed(n, "a")->n = 0;
	aten_give(n, aten_any(n, "a"));
}

static void import_contains(Aten *n)
{
	const TorchList *l = walked(n, "a");
	bool found = false, dict = aten_any(n, "a").kind == TORCH_DICT;
	for (size_t k = 0; k < l->n && !found; k += dict ? 2 : 1)
		found = torch_equal(n->v, l->at[k], aten_any(n, "x"));
	aten_any(n, "x");
	aten_give(n, torch_bool(found));
}

static void import_index(Aten *n)
{
	TorchList *l = walked(n, "a");
	for (size_t k = 0; k < l->n; k++)
		if (torch_equal(n->v, l->at[k], aten_any(n, "x"))) {
			aten_give(n, torch_int((int64_t)k));
			return;
		}
	node_fail(n->v, ERR_INPUT, "it looks for an element that a list does not have");
}

static void import_any(Aten *n)
{
	TorchList *l = walked(n, "a");
	bool all = n->row->op != 0, y = all;
	for (size_t k = 0; k < l->n; k++) {
		bool x = torch_is_number(l->at[k]) && torch_number(l->at[k]) != 0;
		y = all ? y && x : y || x;
	}
	aten_give(n, torch_bool(y));
}

/* The least or the greatest number, or the sum, of a list. */
static void import_extreme(Aten *n)
{
	TorchList *l = walked(n, "a");
	TorchValue y = torch_int(0);
	for (size_t k = 0; k < l->n; k++) {
		TorchValue x = l->at[k];
		if (!torch_is_number(x)) {
			node_fail(n->v, ERR_UNSUPPORTED, "its list holds a %s", torch_kind_name(x.kind));
			return;
		}
		if (n->row->op == 2)
			y = x.kind == TORCH_FLOAT || y.kind == TORCH_FLOAT ? torch_float(torch_number(x) + torch_number(y))
			                                                   : torch_int((int64_t)((uint64_t)x.i + (uint64_t)y.i));
		else if (k == 0 || (n->row->op == 0 ? torch_number(x) < torch_number(y) : torch_number(x) > torch_number(y)))
			y = x;
	}
	aten_give(n, y);
}

static void import_range(Aten *n)
{
	int64_t start = aten_given(n, "start") ? aten_int(n, "start") : 0, end = aten_int(n, "end");
	int64_t step = aten_given(n, "step") ? aten_int(n, "step") : 1, many = 0, far = (int64_t)1 << 61;
	bool fits = step != 0 && step > -far && start > -far && start < far && end > -far && end < far;
	if (fits)
		many = step > 0 ? (end > start ? (end - start - 1) / step + 1 : 0)
		                : (start > end ? (start - end - 1) / -step + 1 : 0);
	if (!fits || many > MOST_LISTED)
		node_fail(n->v, ERR_UNSUPPORTED, "it counts from %lld to %lld", (long long)start, (long long)end);
	TorchValue y = torch_list(n->v->im->arena, TORCH_LIST);
	torch_spend(n->v, node_ok(n->v) ? many : 0);
	for (int64_t k = 0; k < many && node_ok(n->v); k++)
		torch_push(n->v->im->arena, y.list, torch_int(start + k * step));
	aten_give(n, y);
}

/* ---- dictionaries: pairs of key and value */

static TorchValue *under(Aten *n)
{
	TorchList *l = walked(n, "d");
	TorchValue key = aten_any(n, "key");
	for (size_t k = 0; k + 1 < l->n; k += 2)
		if (torch_equal(n->v, l->at[k], key))
			return &l->at[k + 1];
	return NULL;
}

static void import_dict_get(Aten *n)
{
	TorchValue *x = under(n), otherwise = aten_any(n, "default_value");
	if (x == NULL && n->row->op == 0)
		node_fail(n->v, ERR_INPUT, "it looks for '%s', which a dictionary does not have",
			torch_str(n->v->im->arena, aten_any(n, "key"), 60));
	else
		aten_give(n, x != NULL ? *x : otherwise);
}

static void import_dict_set(Aten *n)
{
	TorchList *l = changed(n, "d");
	TorchValue *x = under(n), value = aten_any(n, "value");
	if (x != NULL) {
		*x = value;
	} else {
		torch_push(n->v->im->arena, l, aten_any(n, "key"));
		torch_push(n->v->im->arena, l, value);
	}
	aten_give(n, torch_none());
}

/* Keys, values or pairs. */
static void import_dict_parts(Aten *n)
{
	TorchList *l = list_of(n, "d");
	Arena *a = n->v->im->arena;
	TorchValue y = torch_list(a, TORCH_LIST);
	torch_spend(n->v, (int64_t)l->n);
	for (size_t k = 0; k + 1 < l->n && node_ok(n->v); k += 2) {
		TorchValue pair = torch_list(a, TORCH_TUPLE);
		torch_push(a, pair.list, l->at[k]);
		torch_push(a, pair.list, l->at[k + 1]);
		torch_push(a, y.list, n->row->op == 0 ? l->at[k] : n->row->op == 1 ? l->at[k + 1] : pair);
	}
	aten_give(n, y);
}

static void import_join(Aten *n)
{
	TorchList *l = list_of(n, "values");
	Text t = { .arena = n->v->im->arena };
	for (size_t k = 0; k < l->n && t.n < 1000; k++)
		text_add(&t, "%s%.500s", k > 0 ? aten_text(n, "a") : "", l->at[k].kind == TORCH_TEXT ? l->at[k].text : "");
	aten_give(n, torch_text(text_str(&t)));
}

static void import_list_with_default(Aten *n)
{
	TorchList *l = walked(n, "list"), *d = list_of(n, "defaults");
	TorchValue y = torch_list(n->v->im->arena, TORCH_LIST);
	for (size_t k = 0; k < l->n; k++)
		torch_push(n->v->im->arena, y.list, l->at[k].kind == TORCH_NONE && k < d->n ? d->at[k] : l->at[k]);
	aten_give(n, y);
}

const AtenRow torch_list_rows[] = {
	{ "len.t", "a:A", import_len, 0 },
	{ "len.str", "a:s", import_len, 0 },
	{ "len.Dict", "a:D", import_len, 0 },
	{ "__getitem__", "a:A i:i", import_get, 0 },
	{ "__getitem__.Dict", "d:D key:*", import_dict_get, 0 },
	{ "_set_item", "a:A i:i x:*", import_set, 0 },
	{ "_set_item.Dict", "d:D key:* value:*", import_dict_set, 0 },
	{ "append", "a:A x:*", import_append, 0 },
	{ "extend", "a:A b:A", import_extend, 0 },
	{ "add.t", "a:A b:A", import_add, 0 },
	{ "add_.t", "a:A b:A", import_extend, 0 },
	{ "mul.left_t", "a:A b:i", import_times, 0 },
	{ "list", "a:A", import_copy, 0 },
	{ "copy", "a:A", import_copy, 0 },
	{ "slice.t", "a:A start:i? end:i? step:i=1", import_slice, 0 },
	{ "pop", "a:A i:i=-1", import_pop, 0 },
	{ "insert", "a:A i:i x:*", import_insert, 0 },
	{ "reverse", "a:A", import_reverse, 0 },
	{ "clear", "a:A", import_clear, 0 },
	{ "__contains__", "a:A x:*", import_contains, 0 },
	{ "__contains__.Dict", "a:D x:*", import_contains, 0 },
	{ "index.list", "a:A x:*", import_index, 0 },
	{ "any.bool", "a:A", import_any, 0 },
	{ "all.bool", "a:A", import_any, 1 },
	{ "prim::min.list", "a:A", import_extreme, 0 },
	{ "prim::max.list", "a:A", import_extreme, 1 },
	{ "sum.int", "a:A", import_extreme, 2 },
	{ "range", "end:i", import_range, 0 },
	{ "range.start", "start:i end:i step:i?", import_range, 0 },
	{ "get", "d:D key:* default_value:*?", import_dict_get, 1 },
	{ "keys", "d:D", import_dict_parts, 0 },
	{ "values", "d:D", import_dict_parts, 1 },
	{ "items", "d:D", import_dict_parts, 2 },
	{ "join", "a:s values:A", import_join, 0 },
	{ "list_with_default", "list:A defaults:A", import_list_with_default, 0 },
	{ NULL, NULL, NULL, 0 },
};
