/*
 * Rows of sequences and optionals. A sequence is a list of tensors of the Dag, and which one a node reads must be known
 * while importing; so no operator is needed for them. Of a model's inputs and results each element is one of its own.
 */
#include "frontend/node/compose.h"
#include "frontend/node/traverse.h"
#include "frontend/onnx/rows.h"

#include <string.h>

enum { MOST_PARTS = 1 << 14 };

/* Input k, which must be a sequence; an empty one after a failure. */
static const Item *need_sequence(Visit *v, int k)
{
	static const Item empty = { .name = "", .kind = ITEM_SEQUENCE };
	const Item *it = node_item(v, k);
	if (it != NULL && it->kind == ITEM_SEQUENCE)
		return it;
	node_fail(v, ERR_TYPE, "its input %d must be a sequence", k + 1);
	return &empty;
}

/* Input k, a tensor. */
static Item *need_tensor(Visit *v, int k)
{
	node_need(v, k);
	return node_ok(v) ? node_item(v, k) : NULL;
}

static void set_sequence(Visit *v, int k, Item **list, int n)
{
	Item *it = arena_new_of(v->im->arena, Item);
	const char *name = v->node->out[k];
	*it = (Item){ .name = name, .kind = ITEM_SEQUENCE, .value = DAG_NONE, .list = list, .n = n };
	node_set_alias(v, k, it);
}

/* The known position of input k among n elements, or behind them; `otherwise` without the input. */
static int place(Visit *v, int k, int n, bool behind, int otherwise)
{
	int count;
	const int64_t *at = node_ints(v, k, &count);
	if (!node_ok(v) || at == NULL)
		return otherwise;
	if (count != 1 || at[0] < -(int64_t)n || at[0] >= n + behind) {
		node_fail(v, ERR_INPUT, "its position must be one number from %d to %d", -n, n - 1 + behind);
		return 0;
	}
	return (int)(at[0] < 0 ? at[0] + n : at[0]);
}

static void import_empty(Visit *v)
{
	(void)node_attr_int(v, "dtype", 1);
	set_sequence(v, 0, NULL, 0);
}

static void import_construct(Visit *v)
{
	int n = node_nin(v);
	Item **list = arena_array(v->im->arena, Item *, n + 1);
	for (int k = 0; k < n; k++)
		list[k] = need_tensor(v, k);
	set_sequence(v, 0, list, n);
}

static void import_insert(Visit *v)
{
	const Item *s = need_sequence(v, 0);
	Item *x = need_tensor(v, 1), **list = arena_array(v->im->arena, Item *, s->n + 1);
	int at = place(v, 2, s->n, true, s->n);
	for (int k = 0; k <= s->n && node_ok(v); k++)
		list[k] = k == at ? x : s->list[k - (k > at)];
	set_sequence(v, 0, list, s->n + 1);
}

static void import_erase(Visit *v)
{
	const Item *s = need_sequence(v, 0);
	int at = place(v, 1, s->n, false, s->n - 1);
	if (node_ok(v) && s->n == 0)
		node_fail(v, ERR_INPUT, "its sequence is empty");
	if (!node_ok(v))
		return;
	Item **list = arena_array(v->im->arena, Item *, s->n);
	for (int k = 0; k < s->n - 1; k++)
		list[k] = s->list[k + (k >= at)];
	set_sequence(v, 0, list, s->n - 1);
}

static void import_at(Visit *v)
{
	const Item *s = need_sequence(v, 0);
	node_need(v, 1);
	int at = place(v, 1, s->n, false, 0);
	if (node_ok(v))
		node_set_alias(v, 0, s->list[at]);
}

static void import_length(Visit *v)
{
	const Item *s = need_sequence(v, 0);
	int64_t n = s->n;
	node_set_known(v, 0, I64, shape_of(0, NULL), arena_copy(v->im->arena, &n, sizeof n));
}

/* Joined along an axis, or along a new one. */
static void import_concat(Visit *v)
{
	const Item *s = need_sequence(v, 0);
	bool fresh = node_attr_flag(v, "new_axis", false);
	int64_t axis = node_attr_int(v, "axis", 0);
	int *x = arena_array(v->im->arena, int, s->n + 1), at = 0;
	if (node_ok(v) && s->n == 0)
		node_fail(v, ERR_INPUT, "its sequence is empty");
	for (int k = 0; k < s->n && node_ok(v); k++) {
		Shape shape = s->list[k]->shape;
		if (k == 0)
			at = node_axis(v, axis, shape.rank + fresh);
		x[k] = node_item_value(v, s->list[k]);
		if (!fresh || !node_ok(v))
			continue;
		if (shape.rank == DAG_MAX_RANK || at > shape.rank) {
			node_fail(v, ERR_UNSUPPORTED, "its elements have %d dimensions", shape.rank);
			return;
		}
		memmove(&shape.dim[at + 1], &shape.dim[at], sizeof shape.dim[0] * (size_t)(shape.rank++ - at));
		shape.dim[at] = 1;
		x[k] = node_reshape(v, x[k], shape);
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, x, s->n, at));
}

/* Parts of given sizes, of one size, or of one element each. */
static void import_split(Visit *v)
{
	const Item *x = node_need(v, 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), x->shape.rank), count;
	const int64_t *size = node_ints(v, 1, &count);
	bool keep = node_attr_flag(v, "keepdims", true) || size != NULL;
	if (!node_ok(v))
		return;
	bool list = size != NULL && node_in(v, 1)->shape.rank == 1;
	int64_t all = x->shape.dim[axis], one = size == NULL ? 1 : count > 0 ? size[0] : 0, from = 0;
	int64_t n = list ? count : one > 0 ? all / one + (all % one != 0) : -1;
	if (n < 0 || n > MOST_PARTS) {
		node_fail(v, ERR_INPUT, "it cannot cut %lld elements into parts of %lld", (long long)all, (long long)one);
		return;
	}
	Item **part = arena_array(v->im->arena, Item *, n + 1);
	int whole = node_value(v, 0);
	for (int64_t k = 0; k < n && node_ok(v); k++) {
		int64_t many = list ? size[k] : one < all - from ? one : all - from;
		if (many < 0 || many > all - from) {
			node_fail(v, ERR_INPUT, "the sizes of its parts do not fit %lld elements", (long long)all);
			return;
		}
		int y = node_slice(v, whole, axis, from, many);
		Shape s = node_val(v, y)->shape;
		if (!keep) {
			memmove(&s.dim[axis], &s.dim[axis + 1], sizeof s.dim[0] * (size_t)(s.rank - axis - 1));
			y = node_view(v, y, s.rank - 1, s.dim);
		}
		part[k] = node_new_item(v, y);
		from += many;
	}
	if (node_ok(v) && from != all)
		node_fail(v, ERR_INPUT, "the sizes of its parts do not fit %lld elements", (long long)all);
	set_sequence(v, 0, part, (int)n);
}

/* A graph for each element of a sequence, and of others as long; tensors are the same in each run. */
static void import_map(Visit *v)
{
	Arena *a = v->im->arena;
	const Item *s = need_sequence(v, 0);
	const NodeGraph *body = node_attr_graph(v, "body");
	int nin = (int)v->node->nin, nout = (int)v->node->nout;
	Item **of = arena_array(a, Item *, nin + 1), **in = arena_array(a, Item *, nin + 1);
	Item **out = arena_array(a, Item *, nout + 1), ***list = arena_array(a, Item **, nout + 1);
	for (int k = 0; k < nin && node_ok(v); k++) {
		of[k] = in[k] = node_item(v, k);
		if (in[k] == NULL)
			node_need(v, k);
		else if (in[k]->kind == ITEM_SEQUENCE && in[k]->n != s->n)
			node_fail(v, ERR_TYPE, "its sequences have %d and %d elements", s->n, in[k]->n);
	}
	for (int k = 0; k < nout; k++)
		list[k] = arena_array(a, Item *, s->n + 1);
	Frame open;
	if (!node_ok(v) || !node_open_graph(v, body, &open))
		return;
	for (int i = 0; i < s->n; i++) {
		for (int k = 0; k < nin; k++)
			in[k] = of[k]->kind == ITEM_SEQUENCE ? of[k]->list[i] : of[k];
		if (!node_run_graph(v, body, &open, arena_printf(a, "%d/", i), in, nin, out, nout))
			return;
		for (int k = 0; k < nout && node_ok(v); k++) {
			list[k][i] = out[k];
			if (out[k]->kind != ITEM_TENSOR && out[k]->kind != ITEM_FLOAT8)
				node_fail(v, ERR_TYPE, "its graph gives %s, but must give tensors", item_kind_name(out[k]->kind));
		}
	}
	for (int k = 0; k < nout; k++)
		set_sequence(v, k, list[k], s->n);
}

/* ---- optionals */

static void import_optional(Visit *v)
{
	Item *it = node_item(v, 0);
	(void)node_attr(v, "type");
	if (it == NULL) {
		it = arena_new_of(v->im->arena, Item);
		*it = (Item){ .name = v->node->out[0], .kind = ITEM_NONE, .value = DAG_NONE };
	}
	node_set_alias(v, 0, it);
}

static void import_get_element(Visit *v)
{
	Item *it = node_item(v, 0);
	if (it == NULL || it->kind == ITEM_NONE)
		node_fail(v, ERR_INPUT, "its optional is empty");
	else
		node_set_alias(v, 0, it);
}

static void import_has_element(Visit *v)
{
	const Item *it = node_item(v, 0);
	bool has = it != NULL && it->kind != ITEM_NONE;
	node_set_known(v, 0, BOOL, shape_of(0, NULL), has ? "\1" : "\0");
}

const NodeRow onnx_sequence_rows[] = {
	{ "SequenceEmpty", 11, "", import_empty },
	{ "SequenceConstruct", 11, "", import_construct },
	{ "SequenceInsert", 11, "", import_insert },
	{ "SequenceErase", 11, "", import_erase },
	{ "SequenceAt", 11, "", import_at },
	{ "SequenceLength", 11, "", import_length },
	{ "ConcatFromSequence", 11, "", import_concat },
	{ "SplitToSequence", 11, "", import_split },
	{ "SequenceMap", 17, "", import_map },
	{ "Optional", 15, "", import_optional },
	{ "OptionalGetElement", 15, "", import_get_element },
	{ "OptionalHasElement", 15, "", import_has_element },
	{ NULL, 0, NULL, NULL },
};
