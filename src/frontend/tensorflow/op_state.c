/*
 * Rows of variables. dlc compiles networks for inference, where no variable changes: a handle of one is its value,
 * which comes from the checkpoint. Lists of tensors are sequences.
 */
#include "frontend/tensorflow/checkpoint.h"
#include "frontend/tensorflow/rows.h"

#include "op/element.h"

#include <string.h>

enum { MOST_LISTED = 1 << 16 };

static void import_variable(Visit *v)
{
	NodeTensor t;
	if (node_ok(v) && tf_variable(v->im->model->source, v->node->name, &t, &v->im->err))
		node_set_known(v, 0, t.type, t.shape, t.data);
}

static void import_read(Visit *v)
{
	node_set_alias(v, 0, node_need(v, 0));
}

/* ---- lists of tensors */

static Item *list_item(Visit *v, int n)
{
	Item *it = arena_new_of(v->im->arena, Item);
	*it = (Item){ .name = v->node->out[0],
		.kind = ITEM_SEQUENCE,
		.value = DAG_NONE,
		.n = n,
		.list = arena_array(v->im->arena, Item *, n + 1) };
	return it;
}

/* Input k, which must be a list. */
static const Item *need_list(Visit *v, int k)
{
	Item *it = node_item(v, k);
	if (it != NULL && it->kind == ITEM_SEQUENCE)
		return it;
	if (node_ok(v))
		node_fail(v, ERR_TYPE, "its input %d is no list of tensors", k + 1);
	return list_item(v, 0);
}

static int64_t list_size(Visit *v, int k)
{
	int64_t n = tf_int(v, k);
	if (node_ok(v) && (n < 0 || n > MOST_LISTED))
		node_fail(
			v, ERR_UNSUPPORTED, "its list has %lld elements; at most %d are supported", (long long)n, MOST_LISTED);
	return node_ok(v) ? n : 0;
}

/* Element `at` of a list; NULL after a refusal. */
static Item *element(Visit *v, const Item *list, int64_t at)
{
	if (node_ok(v) && (at < 0 || at >= list->n))
		node_fail(v, ERR_INPUT, "element %lld is outside of a list of %d", (long long)at, list->n);
	return node_ok(v) ? list->list[at] : NULL;
}

/* An element nobody has written: zeros, in the shape that input k or the written elements tell. */
static Item *zero_element(Visit *v, const Item *list, int k)
{
	DType type = tf_attr_type(v, "element_dtype", tf_attr_type(v, "dtype", F32));
	Shape s = { .rank = -1 };
	int n = -1;
	const int64_t *at = k >= 0 && node_ok(v) ? node_ints(v, k, &n) : NULL;
	for (int i = 0; i < n && n <= DAG_MAX_RANK; i++)
		s = at[i] < 0 || (i > 0 && s.rank < 0) ? (Shape){ .rank = -1 } : shape_of(i + 1, at);
	if (n == 0)
		s = shape_of(0, NULL);
	for (int i = 0; i < list->n && s.rank < 0; i++)
		if (list->list[i] != NULL)
			s = list->list[i]->shape;
	if (node_ok(v) && s.rank < 0)
		node_fail(v, ERR_UNSUPPORTED, "an element of its list was never written, and its shape is not known");
	return node_ok(v) ? node_new_item(v, node_expand(v, node_number(v, type, 0), s)) : NULL;
}

static void import_reserve(Visit *v, int k)
{
	int64_t n = list_size(v, k);
	for (int i = 0; i < node_nin(v); i++)
		node_item(v, i);
	node_set_alias(v, 0, list_item(v, (int)n));
}

static void import_list_reserve(Visit *v)
{
	tf_attr_type(v, "element_dtype", F32);
	import_reserve(v, 1);
}

/* One that grows. */
static void import_list_empty(Visit *v)
{
	tf_attr_type(v, "element_dtype", F32);
	for (int i = 0; i < node_nin(v); i++)
		node_item(v, i);
	node_set_alias(v, 0, list_item(v, 0));
}

/* The parts of a tensor along axis 0. */
static void import_list_from(Visit *v)
{
	const Item *x = node_need(v, 0);
	tf_attr_type(v, "element_dtype", F32);
	node_item(v, 1);
	if (node_ok(v) && (x->shape.rank == 0 || x->shape.dim[0] > MOST_LISTED))
		node_fail(v, ERR_UNSUPPORTED, "its tensor has too many parts, or none");
	if (!node_ok(v))
		return;
	Item *it = list_item(v, (int)x->shape.dim[0]);
	for (int k = 0; k < it->n && node_ok(v); k++)
		it->list[k] = node_new_item(v, node_part(v, node_value(v, 0), k));
	node_set_alias(v, 0, it);
}

static void import_list_get(Visit *v)
{
	const Item *list = need_list(v, 0);
	int64_t at = tf_int(v, 1);
	Item *it = element(v, list, at);
	if (node_ok(v) && it == NULL)
		it = zero_element(v, list, 2);
	tf_attr_type(v, "element_dtype", F32);
	node_item(v, 2);
	node_set_alias(v, 0, it);
}

/* A list with one element replaced; one that grows where it may. */
static void set_replaced(Visit *v, const Item *list, int64_t at, Item *x, bool grows)
{
	int n = node_ok(v) && grows && at >= list->n && at < MOST_LISTED ? (int)at + 1 : list->n;
	Item *it = list_item(v, n);
	memcpy(it->list, list->list, sizeof(Item *) * (size_t)list->n);
	element(v, it, at);
	if (!node_ok(v))
		return;
	it->list[at] = x;
	node_set_alias(v, 0, it);
}

static void import_list_set(Visit *v)
{
	const Item *list = need_list(v, 0);
	int64_t at = tf_int(v, 1);
	bool grows = node_attr_flag(v, "resize_if_index_out_of_bounds", false);
	node_need(v, 2);
	tf_attr_type(v, "element_dtype", F32);
	set_replaced(v, list, at, node_item(v, 2), grows);
}

static void import_list_push(Visit *v)
{
	const Item *list = need_list(v, 0);
	node_need(v, 1);
	tf_attr_type(v, "element_dtype", F32);
	set_replaced(v, list, list->n, node_item(v, 1), true);
}

static void import_list_length(Visit *v)
{
	int32_t n = need_list(v, 0)->n;
	node_set_known(v, 0, I32, shape_of(0, NULL), arena_copy(v->im->arena, &n, sizeof n));
}

/* All elements, joined along a new axis 0 or along the one that they have. */
static void set_joined(Visit *v, const Item *list, Item *const *part, int n, int shape, bool stacked)
{
	int *in = arena_array(v->im->arena, int, n + 1);
	if (node_ok(v) && n == 0)
		node_fail(v, ERR_UNSUPPORTED, "its list has no elements");
	for (int k = 0; k < n && node_ok(v); k++) {
		Item *it = part[k] != NULL ? part[k] : zero_element(v, list, shape);
		if (!node_ok(v))
			return;
		Shape s = { .rank = it->shape.rank + 1, .dim = { 1 } };
		if (it->kind != ITEM_TENSOR || (stacked && it->shape.rank == DAG_MAX_RANK) ||
			(!stacked && it->shape.rank == 0)) {
			node_fail(v, ERR_UNSUPPORTED, "its elements cannot be joined");
			return;
		}
		memcpy(&s.dim[1], it->shape.dim, sizeof *s.dim * (size_t)(stacked ? it->shape.rank : 0));
		in[k] = node_item_value(v, it);
		in[k] = stacked ? node_reshape(v, in[k], s) : in[k];
	}
	if (node_ok(v))
		node_set(v, 0, node_concat(v, in, n, 0));
}

static void import_list_stack(Visit *v)
{
	const Item *list = need_list(v, 0);
	node_item(v, 1);
	node_attr_int(v, "num_elements", -1);
	tf_attr_type(v, "element_dtype", F32);
	set_joined(v, list, list->list, list->n, 1, true);
}

static void import_list_concat(Visit *v)
{
	const Item *list = need_list(v, 0);
	node_item(v, 1);
	node_item(v, 2);
	tf_attr_type(v, "element_dtype", F32);
	set_joined(v, list, list->list, list->n, -1, false);
}

/* Elements at the indices of input k. */
static void set_picked(Visit *v, const Item *list, int k, int shape)
{
	int n;
	const int64_t *at = tf_ints(v, k, &n);
	Item **part = arena_array(v->im->arena, Item *, n + 1);
	for (int i = 0; i < n && node_ok(v); i++)
		part[i] = element(v, list, at[i]);
	set_joined(v, list, part, n, shape, true);
}

static void import_list_gather(Visit *v)
{
	const Item *list = need_list(v, 0);
	node_item(v, 2);
	tf_attr_type(v, "element_dtype", F32);
	set_picked(v, list, 1, 2);
}

/* ---- TensorArray, the lists of version 1: what flows from one to the next is the list itself */

static void import_array(Visit *v)
{
	int64_t n = list_size(v, 0);
	Item *it = list_item(v, (int)n);
	tf_attr_type(v, "dtype", F32);
	node_set_alias(v, 0, it);
	node_set_alias(v, 1, it);
}

/* The flow is the last input. */
static const Item *need_flow(Visit *v)
{
	node_item(v, 0);
	return need_list(v, node_nin(v) - 1);
}

static void import_array_read(Visit *v)
{
	const Item *list = need_flow(v);
	int64_t at = tf_int(v, 1);
	Item *it = element(v, list, at);
	if (node_ok(v) && it == NULL)
		it = zero_element(v, list, -1);
	tf_attr_type(v, "dtype", F32);
	node_set_alias(v, 0, it);
}

static void import_array_write(Visit *v)
{
	const Item *list = need_flow(v);
	int64_t at = tf_int(v, 1);
	node_need(v, 2);
	set_replaced(v, list, at, node_item(v, 2), true);
}

static void import_array_scatter(Visit *v)
{
	const Item *list = need_flow(v);
	int n, most = list->n, x = tf_value(v, 2);
	const int64_t *at = tf_ints(v, 1, &n);
	Shape s = node_val(v, x)->shape;
	for (int k = 0; k < n && node_ok(v); k++) {
		if (at[k] < 0 || at[k] >= MOST_LISTED || s.rank == 0 || s.dim[0] != n)
			node_fail(v, ERR_INPUT, "its indices do not fit its elements");
		else
			most = at[k] >= most ? (int)at[k] + 1 : most;
	}
	Item *it = list_item(v, most);
	memcpy(it->list, list->list, sizeof(Item *) * (size_t)list->n);
	for (int k = 0; k < n && node_ok(v); k++)
		it->list[at[k]] = node_new_item(v, node_part(v, x, k));
	node_set_alias(v, 0, it);
}

static void import_array_gather(Visit *v)
{
	const Item *list = need_flow(v);
	tf_attr_type(v, "dtype", F32);
	set_picked(v, list, 1, -1);
}

static void import_array_concat(Visit *v)
{
	const Item *list = need_flow(v);
	tf_attr_type(v, "dtype", F32);
	set_joined(v, list, list->list, list->n, -1, false);
}

static void import_array_size(Visit *v)
{
	int32_t n = need_flow(v)->n;
	node_set_known(v, 0, I32, shape_of(0, NULL), arena_copy(v->im->arena, &n, sizeof n));
}

/* Parts of a tensor along axis 0, of the lengths of input 2. */
static void import_array_split(Visit *v)
{
	const Item *list = need_flow(v);
	int n, x = tf_value(v, 1);
	const int64_t *size = tf_ints(v, 2, &n);
	int64_t from = 0, have = node_val(v, x)->shape.rank > 0 ? node_val(v, x)->shape.dim[0] : 0;
	Item *it = list_item(v, n > list->n ? n : list->n);
	for (int k = 0; k < n && node_ok(v); k++) {
		if (size[k] < 0 || size[k] > have - from) {
			node_fail(v, ERR_INPUT, "its lengths do not fit its tensor of %lld", (long long)have);
			return;
		}
		it->list[k] = node_new_item(v, node_slice(v, x, 0, from, size[k]));
		from += size[k];
	}
	node_set_alias(v, 0, it);
}

const NodeRow tf_state_rows[] = {
	{ "VariableV2", 0, "*", import_variable },
	{ "Variable", 0, "*", import_variable },
	{ "VarHandleOp", 0, "*", import_variable },
	{ "ReadVariableOp", 0, "dtype", import_read },
	{ "TensorListReserve", 0, "shape_type", import_list_reserve },
	{ "EmptyTensorList", 0, "shape_type", import_list_empty },
	{ "TensorListFromTensor", 0, "shape_type", import_list_from },
	{ "TensorListGetItem", 0, "", import_list_get },
	{ "TensorListSetItem", 0, "", import_list_set },
	{ "TensorListPushBack", 0, "", import_list_push },
	{ "TensorListLength", 0, "", import_list_length },
	{ "TensorListStack", 0, "", import_list_stack },
	{ "TensorListGather", 0, "", import_list_gather },
	{ "TensorListConcatV2", 0, "shape_type", import_list_concat },
	{ "TensorArrayV3", 0, "element_shape dynamic_size clear_after_read identical_element_shapes tensor_array_name",
		import_array },
	{ "TensorArrayReadV3", 0, "", import_array_read },
	{ "TensorArrayWriteV3", 0, "", import_array_write },
	{ "TensorArrayScatterV3", 0, "", import_array_scatter },
	{ "TensorArrayGatherV3", 0, "element_shape", import_array_gather },
	{ "TensorArrayConcatV3", 0, "element_shape_except0", import_array_concat },
	{ "TensorArraySizeV3", 0, "", import_array_size },
	{ "TensorArraySplitV3", 0, "", import_array_split },
	{ NULL, 0, NULL, NULL },
};
