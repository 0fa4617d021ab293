/* Values of layers in their two forms, and numbers that layers give; coreml.h says what each function is. */
#include "frontend/coreml/coreml.h"

#include "frontend/node/compose.h"
#include "op/element.h"

#include <math.h>

int64_t coreml_steps(Visit *v, int64_t lead)
{
	int64_t batch = coreml_file(v)->batch;
	if (node_ok(v) && lead % batch != 0)
		node_fail(v, ERR_TYPE,
			"its input has %lld elements in sequence and batch, which a batch of %lld does not divide", (long long)lead,
			(long long)batch);
	return lead / batch;
}

/* [N,C,H,W] of a network of rank 5 as [sequence,batch,C,H,W]. */
static int spread(Visit *v, int x)
{
	Shape s = node_val(v, x)->shape;
	if (!coreml_file(v)->rank5 || !node_ok(v) || s.rank != 4)
		return x;
	return node_view(
		v, x, 5, (int64_t[]){ coreml_steps(v, s.dim[0]), coreml_file(v)->batch, s.dim[1], s.dim[2], s.dim[3] });
}

Blob coreml_blob(Visit *v, int k)
{
	const Item *it = node_need(v, k);
	Shape s = it->shape;
	if (node_ok(v) && s.rank < 3)
		node_fail(v, ERR_TYPE, "its input %d has %d dimensions, but needs 3 at least", k + 1, s.rank);
	if (!node_ok(v))
		return (Blob){ DAG_NONE, shape_of(0, NULL) };
	Blob b = { .x = node_value(v, k), .lead = s };
	b.lead.rank = s.rank - 3;
	const int64_t *last = &s.dim[s.rank - 3];
	b.x = node_view(v, b.x, 4, (int64_t[]){ shape_product(&s, 0, s.rank - 3), last[0], last[1], last[2] });
	return b;
}

void coreml_set_blob(Visit *v, int k, int y, const Blob *like)
{
	Shape s = node_val(v, y)->shape, to = like->lead;
	if (!node_ok(v))
		return;
	for (int i = 1; i < s.rank; i++)
		to.dim[to.rank++] = s.dim[i];
	node_set(v, k, node_reshape(v, y, to));
}

int coreml_value(Visit *v, int k)
{
	node_need(v, k);
	return spread(v, node_value(v, k));
}

void coreml_set(Visit *v, int k, int y)
{
	Shape s = node_val(v, y)->shape;
	if (coreml_file(v)->rank5 && node_ok(v)) {
		if (s.rank != 5)
			node_fail(
				v, ERR_UNSUPPORTED, "its result has %d dimensions in a network whose arrays are mapped to 5", s.rank);
		else if (s.dim[1] != coreml_file(v)->batch)
			node_fail(v, ERR_UNSUPPORTED, "its result has a batch of %lld, but the network one of %lld",
				(long long)s.dim[1], (long long)coreml_file(v)->batch);
		y = node_view(v, y, 4, (int64_t[]){ shape_product(&s, 0, 2), s.dim[2], s.dim[3], s.dim[4] });
	}
	node_set(v, k, y);
}

int coreml_index(Visit *v, int k)
{
	node_need(v, k);
	return node_cast(v, node_value(v, k), I64);
}

const int64_t *coreml_known(Visit *v, int k, int *count)
{
	enum { MOST = 1 << 16 };
	*count = -1;
	if (node_in(v, k) == NULL)
		return NULL;
	const Item *it = node_known(v, k);
	int64_t n = shape_elements(it->shape);
	if (node_ok(v) && (n < 0 || n > MOST))
		node_fail(v, ERR_TYPE, "its input '%s' has %lld numbers, which are too many", it->name, (long long)n);
	if (!node_ok(v))
		return NULL;
	int64_t *out = arena_array(v->im->arena, int64_t, n + 1);
	for (int64_t i = 0; i < n; i++) {
		double x = element_get(it->type, it->data, i);
		if (!(fabs(x) < 0x1p62))
			node_fail(v, ERR_INPUT, "its input '%s' holds %g, which is no size", it->name, x);
		out[i] = node_ok(v) ? (int64_t)x : 0;
	}
	*count = (int)n;
	return out;
}

int64_t coreml_size(Visit *v, const char *what, int64_t x, int64_t least)
{
	if (x >= least && x <= INT32_MAX)
		return x;
	node_fail(
		v, ERR_INPUT, "its %s is %lld, which is not between %lld and 2147483647", what, (long long)x, (long long)least);
	return least;
}

void coreml_list(
	Visit *v, const char *what, const WireInts *list, int n, int64_t least, int64_t otherwise, int64_t *out)
{
	if (list->n != 0 && list->n != (size_t)n)
		node_fail(v, ERR_INPUT, "its %s has %zu numbers, but %d are needed", what, list->n, n);
	for (int k = 0; k < n; k++)
		out[k] = list->n == 0 || !node_ok(v) ? otherwise : coreml_size(v, what, list->at[k], least);
}

Shape coreml_shape(Visit *v, const WireInts *list)
{
	Shape s = { .rank = 0 };
	if (list->n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its shape has %zu dimensions; dlc takes at most %d", list->n, DAG_MAX_RANK);
	for (size_t k = 0; k < list->n && node_ok(v); k++)
		s.dim[s.rank++] = coreml_size(v, "shape", list->at[k], 0);
	if (node_ok(v))
		import_check_size(v->im, "shape of layer", v->node->name, F32, s);
	return s;
}
