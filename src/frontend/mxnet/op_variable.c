/*
 * Variables whose values are made here: weights without an array, and first states, whose batch the network leaves
 * open. Their shape is known when a node reads them. This file also has what all rows share: attributes that are types
 * or lists with holes.
 */
#include "frontend/mxnet/graph.h"
#include "frontend/mxnet/rows.h"

#include "base/rng.h"
#include "op/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 2021, MOST_MADE = 1 << 27 }; /* elements of one weight that has no array */

/* The numbers that suit a slot: around 1 for factors and variances, around 0 for what is added, He's for weights. */
static void fill_weight(Visit *v, Item *it, const char *slot)
{
	Rng seed = rng_seed(SEED), r = rng_fork(&seed, it->name);
	bool factor = strcmp(slot, "gamma") == 0 || strcmp(slot, "moving_var") == 0;
	bool weight = strcmp(slot, "weight") == 0 || strcmp(slot, "parameters") == 0;
	int64_t n = shape_elements(it->shape);
	double fan_in = (double)shape_product(&it->shape, 1, it->shape.rank);
	double spread = strcmp(slot, "parameters") == 0 ? 0.1 : sqrt(2 / fmax(fan_in, 1));
	float *to = arena_array(v->im->arena, float, n + 1);
	for (int64_t k = 0; k < n; k++)
		to[k] = (float)(factor ? 0.75 + 0.5 * rng_real(&r) : weight ? spread * rng_normal(&r) : 0.1 * rng_normal(&r));
	it->type = F32;
	it->data = to;
	it->kind = ITEM_TENSOR;
}

static bool can_make(Visit *v, const Item *it, Shape s)
{
	int64_t n = shape_elements(s);
	for (int k = 0; k < s.rank; k++)
		n = s.dim[k] < 0 ? -1 : n;
	if (n < 0 || n > MOST_MADE)
		node_fail(v, ERR_UNSUPPORTED,
			"'%.60s' has no array and too many elements to be made up: give its file of arrays", it->name);
	return node_ok(v);
}

int mxnet_weight(Visit *v, int k, Shape want)
{
	char have[160], need[160];
	Item *it = node_item(v, k);
	const char *slot = mxnet_slot(v->node->op, (size_t)k, v->im->arena);
	if (it != NULL && it->kind == ITEM_OPEN && node_ok(v)) {
		if (!can_make(v, it, want))
			return DAG_NONE;
		it->shape = want;
		fill_weight(v, it, slot != NULL ? slot : "weight");
	}
	const Item *at = node_need(v, k);
	if (node_ok(v) && !shape_eq(at->shape, want))
		node_fail(v, ERR_TYPE, "its %s '%.60s' has the shape %s, but its attributes and its input need %s",
			slot != NULL ? slot : "weight", at->name, shape_str(at->shape, have), shape_str(want, need));
	return node_value(v, k);
}

int mxnet_state(Visit *v, int k, Shape want)
{
	Item *it = node_item(v, k);
	if (it != NULL && it->kind == ITEM_OPEN && node_ok(v)) {
		if (!can_make(v, it, want))
			return DAG_NONE;
		it->shape = want;
		it->type = F32;
		it->data = arena_array(v->im->arena, float, shape_elements(want) + 1);
		it->kind = ITEM_TENSOR;
	}
	char have[160], need[160];
	const Item *at = node_need(v, k);
	if (node_ok(v) && !shape_eq(at->shape, want))
		node_fail(v, ERR_TYPE, "its state '%.60s' has the shape %s, but needs %s", at->name, shape_str(at->shape, have),
			shape_str(want, need));
	return node_value(v, k);
}

/* The batch is the first dimension of the first input. */
Shape mxnet_batch_shape(Visit *v, Shape s)
{
	const Dag *d = v->im->dag;
	for (int k = 0; k < s.rank && node_ok(v); k++) {
		if (s.dim[k] != 0)
			continue;
		if (d->input.n == 0 || d->value.at[d->input.at[0]].shape.rank == 0)
			node_fail(v, ERR_UNSUPPORTED, "its shape has an open dimension, and the network has no input with a batch");
		else
			s.dim[k] = d->value.at[d->input.at[0]].shape.dim[0];
	}
	return s;
}

/* A weight without an array. */
static void import_variable(Visit *v)
{
	const MxnetOpen *open = v->node->source;
	Item *it = arena_new_of(v->im->arena, Item);
	*it = (Item){ .name = v->node->out[0], .kind = ITEM_OPEN, .type = F32, .value = DAG_NONE };
	if (open != NULL && open->shaped && can_make(v, it, open->shape)) {
		const char *name = it->name, *last = strrchr(name, '_');
		it->shape = open->shape;
		bool statistic = last != NULL && (strcmp(last, "_gamma") == 0 || strcmp(last, "_var") == 0);
		fill_weight(v, it, statistic ? "gamma" : it->shape.rank > 1 ? "weight" : "bias");
	}
	node_set_alias(v, 0, it);
}

DType mxnet_attr_type(Visit *v, const char *name, DType otherwise)
{
	static const char *const names[] = { "float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool",
		"int16", "uint16", "uint32", "uint64", "bfloat16" };
	const char *text = node_attr_text(v, name, NULL);
	if (text == NULL)
		return otherwise;
	for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
		if (strcmp(names[k], text) == 0)
			return mxnet_type(k);
	if (text[0] != 0 && text[strspn(text, "0123456789")] == 0 && strlen(text) < 3 && mxnet_type(atoi(text)).bits != 0)
		return mxnet_type(atoi(text));
	node_fail(
		v, ERR_UNSUPPORTED, "its attribute %s is '%.60s', which is not an element type that dlc knows", name, text);
	return otherwise;
}

MxnetList mxnet_attr_list(Visit *v, const char *name)
{
	MxnetList l = { .n = -1 };
	const char *text = node_attr_text(v, name, NULL);
	if (text == NULL)
		return l;
	l.n = 0;
	for (const char *s = text + strspn(text, "([ "); *s != 0 && *s != ')' && *s != ']'; s += strspn(s, "L, ")) {
		bool none = strncmp(s, "None", 4) == 0;
		char *end = (char *)(uintptr_t)s + 4;
		long long x = none ? 0 : strtoll(s, &end, 10);
		if (end == s || l.n == DAG_MAX_RANK) {
			node_fail(
				v, ERR_TYPE, "its attribute %s is '%.60s', but must be at most %d integers", name, text, DAG_MAX_RANK);
			break;
		}
		l.none[l.n] = none;
		l.at[l.n++] = x;
		s = end;
	}
	return l;
}


const NodeRow mxnet_variable_rows[] = {
	{ "null", 0, "*", import_variable },
	{ NULL, 0, NULL, NULL },
};
