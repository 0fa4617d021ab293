/* Rows that read elements at computed places, and one that counts numbers. */
#include "frontend/pytorch/aten.h"

#include "op/element.h"

#include <string.h>

/* Negative places count from the end of a dimension of n elements: unless they are known not to be there. */
static int placed(Visit *v, Item *it, int64_t n)
{
	int x = node_cast(v, node_item_value(v, it), I64);
	if (!node_ok(v))
		return x;
	if (it->data != NULL) {
		bool below = false;
		for (int64_t k = 0; k < shape_elements(it->shape) && !below; k++)
			below = element_get_int(it->type, it->data, k) < 0;
		if (!below)
			return x;
	}
	int wrapped = node_with_number(v, OP_add, x, (double)n);
	return node_where(v, node_with_number(v, OP_less, x, 0), wrapped, x);
}

static int gathered(Visit *v, int op, int x, int at, int axis)
{
	int in[] = { x, at };
	Attr attr = attr_int("axis", axis);
	return node_call(v, op, in, 2, &attr, 1);
}

/* An index must be integers: an input of a script whose type was not known becomes one. */
static Item *index_item(Aten *n, TorchTensor *t)
{
	Item *it = torch_item(n->v, t);
	if (node_ok(n->v) && !dtype_is_int(it->type) && it->type.kind != DT_BOOL) {
		if (t->retype != NULL)
			*t->retype = 1;
		node_fail(n->v, ERR_TYPE, "its index is of floats");
	}
	return it;
}

static void import_index_select(Aten *n)
{
	Item *at = index_item(n, aten_tensor(n, "index"));
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	int axis = aten_axis(n, "dim", s.rank);
	int i = node_cast(n->v, node_item_value(n->v, at), I64);
	if (at->shape.rank == 0)
		i = node_view(n->v, i, 1, (int64_t[]){ 1 });
	aten_set(n, gathered(n->v, OP_gather, x, i, axis));
}

static void import_embedding(Aten *n)
{
	Item *at = index_item(n, aten_tensor(n, "indices"));
	int i = node_cast(n->v, node_item_value(n->v, at), I64);
	aten_set(n, gathered(n->v, OP_gather, aten_value(n, "weight"), i, 0));
}

/* The part of x in which the Dag's gather_elements may index: PyTorch allows an index smaller than x. */
static int trimmed(Aten *n, int x, Shape index, int axis)
{
	Shape s = node_val(n->v, x)->shape;
	for (int k = 0; k < s.rank && node_ok(n->v); k++)
		if (k != axis && index.dim[k] < s.dim[k])
			x = node_slice(n->v, x, k, 0, index.dim[k]);
	return x;
}

static void import_gather(Aten *n)
{
	Item *at = index_item(n, aten_tensor(n, "index"));
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	int axis = aten_axis(n, "dim", s.rank);
	if (node_ok(n->v) && (s.rank != at->shape.rank || s.rank == 0))
		node_fail(n->v, ERR_TYPE, "its index has %d dimensions and its input %d", at->shape.rank, s.rank);
	if (node_ok(n->v))
		aten_set(n, gathered(n->v, OP_gather_elements, trimmed(n, x, at->shape, axis),
						node_cast(n->v, node_item_value(n->v, at), I64), axis));
}

static void import_take_along_dim(Aten *n)
{
	Item *at = index_item(n, aten_tensor(n, "indices"));
	int x = aten_value(n, "self"), i = placed(n->v, at, 0);
	Shape s = node_val(n->v, x)->shape;
	if (!aten_given(n, "dim")) {
		int64_t all = shape_product(&s, 0, s.rank), many = shape_product(&at->shape, 0, at->shape.rank);
		x = node_view(n->v, x, 1, &all);
		i = node_view(n->v, i, 1, &many);
		s = shape_of(1, &all);
	}
	int axis = aten_given(n, "dim") ? aten_axis(n, "dim", s.rank) : 0;
	Shape t = node_val(n->v, i)->shape, a = s, b = t;
	if (node_ok(n->v) && s.rank != t.rank)
		node_fail(n->v, ERR_TYPE, "its index has another number of dimensions than its input");
	for (int k = 0; k < s.rank && node_ok(n->v); k++)
		if (k != axis)
			a.dim[k] = b.dim[k] = s.dim[k] > t.dim[k] ? s.dim[k] : t.dim[k];
	if (node_ok(n->v))
		aten_set(n, gathered(n->v, OP_gather_elements, node_expand(n->v, x, a), node_expand(n->v, i, b), axis));
}

static void import_take(Aten *n)
{
	Item *at = index_item(n, aten_tensor(n, "index"));
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	int64_t all = shape_product(&s, 0, s.rank);
	aten_set(n, gathered(n->v, OP_gather, node_view(n->v, x, 1, &all), placed(n->v, at, all), 0));
}

/* ---- x[i, :, j]: a list with a tensor or None for each dimension */

typedef struct Places {
	Item *at[DAG_MAX_RANK];
	int axis[DAG_MAX_RANK], count;
} Places;

/* A mask that is known becomes places: of dimension d of it, for each true element. */
static bool add_mask(Aten *n, Places *p, Item *mask, int axis)
{
	Visit *v = n->v;
	if (!node_know(v, mask, "its mask"))
		return false;
	int64_t all = shape_elements(mask->shape), many = 0;
	for (int64_t i = 0; i < all; i++)
		many += element_get_int(BOOL, mask->data, i) != 0;
	for (int d = 0; d < mask->shape.rank && p->count < DAG_MAX_RANK; d++) {
		int64_t *at = arena_array(v->im->arena, int64_t, many + 1), m = 0;
		int64_t after = shape_product(&mask->shape, d + 1, mask->shape.rank);
		for (int64_t i = 0; i < all; i++)
			if (element_get_int(BOOL, mask->data, i) != 0)
				at[m++] = i / after % mask->shape.dim[d];
		Item *it = arena_new_of(v->im->arena, Item);
		*it = (Item){ .name = "places", .type = I64, .shape = shape_of(1, &many), .data = at, .value = DAG_NONE };
		p->axis[p->count] = axis + d;
		p->at[p->count++] = it;
	}
	return true;
}

static bool read_places(Aten *n, const char *name, int rank, Places *p)
{
	TorchValue list = aten_any(n, name);
	int axis = 0;
	*p = (Places){ .count = 0 };
	for (size_t k = 0; k < list.list->n && node_ok(n->v); k++) {
		TorchValue x = list.list->at[k];
		if (axis >= rank || p->count >= DAG_MAX_RANK) {
			node_fail(n->v, ERR_TYPE, "it has more indices than its input has dimensions");
			return false;
		}
		if (x.kind == TORCH_NONE) {
			axis++;
			continue;
		}
		if (x.kind != TORCH_TENSOR) {
			node_fail(
				n->v, ERR_TYPE, "its index %zu is of the type %s; it must be a tensor", k, torch_kind_name(x.kind));
			return false;
		}
		Item *it = index_item(n, x.tensor);
		if (it->type.kind == DT_BOOL) {
			if (it->shape.rank == 0 || axis + it->shape.rank > rank || !add_mask(n, p, it, axis))
				return node_ok(n->v) && (node_fail(n->v, ERR_TYPE, "its mask does not fit its input"), false);
			axis += it->shape.rank;
			continue;
		}
		p->axis[p->count] = axis++;
		p->at[p->count++] = it;
	}
	if (node_ok(n->v) && p->count == 0)
		node_fail(n->v, ERR_UNSUPPORTED, "it has no index");
	return node_ok(n->v);
}

/* The shape to which all of some tensors broadcast. */
static Shape broadcast_of(Aten *n, Item *const *of, int count)
{
	Shape s = { .rank = 0 };
	for (int k = 0; k < count; k++) {
		Shape t = of[k]->shape;
		for (; s.rank < t.rank; s.rank++) {
			memmove(&s.dim[1], s.dim, sizeof *s.dim * (size_t)(DAG_MAX_RANK - 1));
			s.dim[0] = 1;
		}
		for (int i = 0; i < t.rank; i++) {
			int64_t *d = &s.dim[s.rank - t.rank + i];
			if (t.dim[i] != 1 && *d != 1 && *d != t.dim[i])
				node_fail(n->v, ERR_TYPE, "the shapes of its tensors do not broadcast to each other");
			*d = t.dim[i] != 1 ? t.dim[i] : *d;
		}
	}
	return s;
}

/* The indices as one of tuples, [broadcast.., count], and the order that brings the indexed dimensions to the front. */
static int tuples(Aten *n, const Places *p, Shape x, Shape to, int64_t *perm)
{
	Visit *v = n->v;
	int in[DAG_MAX_RANK], rank = 0;
	bool used[DAG_MAX_RANK] = { false };
	Shape one = to;
	if (to.rank == DAG_MAX_RANK) {
		node_fail(v, ERR_UNSUPPORTED, "its indices have too many dimensions");
		return DAG_NONE;
	}
	one.dim[one.rank++] = 1;
	for (int k = 0; k < p->count && node_ok(v); k++) {
		in[k] = node_reshape(v, node_expand(v, placed(v, p->at[k], x.dim[p->axis[k]]), to), one);
		perm[rank++] = p->axis[k];
		used[p->axis[k]] = true;
	}
	for (int k = 0; k < x.rank; k++)
		if (!used[k])
			perm[rank++] = k;
	return node_ok(v) ? node_concat(v, in, p->count, to.rank) : DAG_NONE;
}

static bool adjacent(const Places *p)
{
	for (int k = 1; k < p->count; k++)
		if (p->axis[k] != p->axis[k - 1] + 1)
			return false;
	return true;
}

static void import_index(Aten *n)
{
	Visit *v = n->v;
	Places p;
	int x = aten_value(n, "self");
	Shape s = node_val(v, x)->shape;
	if (!read_places(n, "indices", s.rank, &p))
		return;
	if (p.count == 1) {
		aten_set(n, gathered(v, OP_gather, x, placed(v, p.at[0], s.dim[p.axis[0]]), p.axis[0]));
		return;
	}
	Shape to = broadcast_of(n, p.at, p.count);
	int64_t perm[DAG_MAX_RANK], back[DAG_MAX_RANK];
	int at = tuples(n, &p, s, to, perm);
	if (!node_ok(v))
		return;
	int in[] = { node_transpose(v, x, perm), at };
	int y = node_call(v, OP_gather_nd, in, 2, NULL, 0), before = adjacent(&p) ? p.axis[0] : 0, m = 0;
	Shape r = node_val(v, y)->shape;
	for (int k = 0; k < before; k++) /* the result's dimensions are where the indexed ones were */
		back[m++] = to.rank + k;
	for (int k = 0; k < to.rank; k++)
		back[m++] = k;
	for (int k = to.rank + before; k < r.rank; k++)
		back[m++] = k;
	aten_set(n, node_ok(v) ? node_transpose(v, y, back) : y);
}

/* Values at places; a mask that is not known takes one number for all. */
static void import_index_put(Aten *n)
{
	Visit *v = n->v;
	Places p;
	TorchValue list = aten_any(n, "indices"), values = aten_any(n, "values");
	const Item *self = aten_item(n, "self");
	bool add = aten_flag(n, "accumulate");
	int x = aten_value(n, "self"), y = aten_as(n, values, self->type);
	TorchValue first = list.list->n == 1 ? list.list->at[0] : torch_none();
	if (first.kind == TORCH_TENSOR && torch_item(v, first.tensor)->type.kind == DT_BOOL && !add &&
		shape_elements(node_val(v, y)->shape) == 1) {
		Shape m = torch_shape(v, first.tensor);
		for (; m.rank < self->shape.rank; m.rank++)
			m.dim[m.rank] = 1;
		int mask = node_reshape(v, torch_value(v, first.tensor), m);
		aten_set(n, node_where(v, mask, node_reshape(v, y, shape_of(0, NULL)), x));
		return;
	}
	if (!read_places(n, "indices", self->shape.rank, &p))
		return;
	Shape to = broadcast_of(n, p.at, p.count), wide = to;
	int64_t perm[DAG_MAX_RANK], back[DAG_MAX_RANK];
	int at = tuples(n, &p, self->shape, to, perm);
	if (node_ok(v) && !adjacent(&p) && p.axis[0] != 0)
		node_fail(v, ERR_UNSUPPORTED, "it writes at indices of dimensions that are apart");
	if (node_ok(v) && (p.axis[0] != 0 || to.rank + self->shape.rank - p.count > DAG_MAX_RANK))
		node_fail(v, ERR_UNSUPPORTED, "it writes at indices behind a whole dimension");
	if (!node_ok(v))
		return;
	for (int k = p.count; k < self->shape.rank; k++)
		wide.dim[wide.rank++] = self->shape.dim[perm[k]];
	for (int k = 0; k < self->shape.rank; k++)
		back[perm[k]] = k;
	int in[] = { node_transpose(v, x, perm), at, node_expand(v, y, wide) };
	Attr attr = attr_text("reduction", add ? "add" : "none");
	aten_set(n, node_transpose(v, node_call(v, OP_scatter_nd, in, 3, &attr, 1), back));
}

static void import_nonzero(Aten *n)
{
	Places p = { .count = 0 };
	Item *it = aten_item(n, "self");
	if (!node_know(n->v, it, "its input"))
		return;
	int64_t all = shape_elements(it->shape);
	unsigned char *in = arena_alloc(n->v->im->arena, (size_t)all + 1);
	for (int64_t k = 0; k < all; k++)
		in[k] = element_get(it->type, it->data, k) != 0;
	Item mask = { .name = "mask", .type = BOOL, .shape = it->shape, .data = in, .value = DAG_NONE };
	if (!add_mask(n, &p, &mask, 0) || p.count == 0)
		return;
	int64_t many = p.at[0]->shape.dim[0];
	int part[DAG_MAX_RANK];
	for (int k = 0; k < p.count; k++)
		part[k] = node_view(n->v, node_item_value(n->v, p.at[k]), n->row->op != 0 ? 1 : 2, (int64_t[]){ many, 1 });
	if (n->row->op != 0)
		aten_give_values(n, part, p.count);
	else
		aten_set(n, node_concat(n->v, part, p.count, 1));
}

/* The elements, in a row, at which a mask that is known is true. */
static void import_masked_select(Aten *n)
{
	Visit *v = n->v;
	Item *both[] = { aten_item(n, "self"), aten_item(n, "mask") };
	Shape s = broadcast_of(n, both, 2);
	int64_t all = shape_product(&s, 0, s.rank), many = 0;
	if (node_ok(v) && both[1]->type.kind != DT_BOOL)
		node_fail(v, ERR_TYPE, "its mask is no tensor of bools");
	if (!node_ok(v) || !torch_spend(v, all))
		return;
	Item *mask = node_new_item(v, node_expand(v, node_item_value(v, both[1]), s));
	if (!node_ok(v) || !node_know(v, mask, "its mask"))
		return;
	int64_t *at = arena_array(v->im->arena, int64_t, all + 1);
	for (int64_t i = 0; i < all; i++)
		if (element_get_int(BOOL, mask->data, i) != 0)
			at[many++] = i;
	int x = node_view(v, node_expand(v, node_item_value(v, both[0]), s), 1, &all);
	aten_set(n, gathered(v, OP_gather, x, node_const(v, I64, shape_of(1, &many), at), 0));
}

/* How often each number is among others that are known, or the sum of their weights. */
static void import_bincount(Aten *n)
{
	Visit *v = n->v;
	Item *it = index_item(n, aten_tensor(n, "self"));
	int64_t size = aten_int(n, "minlength"), many = shape_elements(it->shape);
	if (node_ok(v) && (it->shape.rank != 1 || size < 0))
		node_fail(v, ERR_TYPE, "its input has %d dimensions where 1 is needed, or its minlength is negative",
			it->shape.rank);
	if (!node_ok(v) || !node_know(v, it, "its input"))
		return;
	int64_t *number = arena_array(v->im->arena, int64_t, many + 1);
	for (int64_t i = 0; i < many && node_ok(v); i++) {
		number[i] = element_get_int(it->type, it->data, i);
		if (number[i] < 0 || number[i] >= NODE_COUNTED)
			node_fail(v, ERR_INPUT, "its input holds %lld, which is not between 0 and %d", (long long)number[i],
				NODE_COUNTED - 1);
		else if (number[i] >= size)
			size = number[i] + 1;
	}
	int w = aten_value(n, "weights");
	if (node_ok(v) && w != DAG_NONE && !shape_eq(node_val(v, w)->shape, it->shape))
		node_fail(v, ERR_TYPE, "its weights are not as many as the numbers of its input");
	if (!node_ok(v) || !torch_spend(v, size))
		return;
	if (w == DAG_NONE) {
		int64_t *count = arena_array(v->im->arena, int64_t, size + 1);
		memset(count, 0, sizeof *count * (size_t)size);
		for (int64_t i = 0; i < many; i++)
			count[number[i]]++;
		aten_set(n, node_const(v, I64, shape_of(1, &size), count));
		return;
	}
	DType t = dtype_eq(node_val(v, w)->type, F32) ? F32 : F64;
	int in[] = { node_expand(v, node_number(v, t, 0), shape_of(1, &size)), node_const(v, I64, it->shape, number),
		node_cast(v, w, t) };
	Attr attr[] = { attr_int("axis", 0), attr_text("reduction", "add") };
	aten_set(n, node_call(v, OP_scatter_elements, in, 3, attr, 2));
}

static void import_one_hot(Aten *n)
{
	Item *at = index_item(n, aten_tensor(n, "self"));
	int64_t classes = aten_int(n, "num_classes");
	Shape s = at->shape;
	if (node_ok(n->v) && (classes < 1 || s.rank == DAG_MAX_RANK))
		node_fail(n->v, ERR_UNSUPPORTED, "it has no number of classes, so its shape depends on data");
	s.dim[s.rank++] = 1;
	int count = node_count(n->v, classes, 0, 1);
	int x = node_reshape(n->v, node_cast(n->v, node_item_value(n->v, at), I64), s);
	aten_set(n, node_cast(n->v, node_call2(n->v, OP_equal, x, count), I64));
}

const AtenRow torch_index_rows[] = {
	{ "index_select", "self:T dim:i index:T", import_index_select, 0 },
	{ "embedding", "weight:T indices:T padding_idx:_? scale_grad_by_freq:_? sparse:_?", import_embedding, 0 },
	{ "gather", "self:T dim:i index:T sparse_grad:_?", import_gather, 0 },
	{ "take_along_dim", "self:T indices:T dim:i?", import_take_along_dim, 0 },
	{ "take", "self:T index:T", import_take, 0 },
	{ "index", "self:T indices:A", import_index, 0 },
	{ "_unsafe_index", "self:T indices:A", import_index, 0 },
	{ "index_put!", "self:T indices:A values:T accumulate:b=False", import_index_put, 0 },
	{ "_unsafe_index_put", "self:T indices:A values:T accumulate:b=False", import_index_put, 0 },
	{ "_index_put_impl!", "self:T indices:A values:T accumulate:b=False unsafe:_?", import_index_put, 0 },
	{ "nonzero", "self:T", import_nonzero, 0 },
	{ "argwhere", "self:T", import_nonzero, 0 },
	{ "nonzero_numpy", "self:T", import_nonzero, 1 },
	{ "masked_select", "self:T mask:T", import_masked_select, 0 },
	{ "bincount", "self:T weights:T? minlength:i=0", import_bincount, 0 },
	{ "one_hot", "self:T num_classes:i=-1", import_one_hot, 0 },
	{ NULL, NULL, NULL, 0 },
};
