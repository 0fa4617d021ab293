/* Rows that move elements and differ from TensorFlow's: axes and shapes are options. */
#include "frontend/tflite/rows.h"

static void import_concatenation(Visit *v)
{
	int n = node_nin(v), *in = arena_array(v->im->arena, int, n + 1);
	for (int k = 0; k < n && node_ok(v); k++)
		in[k] = tflite_value(v, k);
	if (node_ok(v) && n == 0)
		node_fail(v, ERR_INPUT, "it has no inputs");
	int axis = node_ok(v) ? node_axis(v, node_attr_int(v, "axis", 0), node_val(v, in[0])->shape.rank) : 0;
	if (!node_ok(v))
		return;
	int y = n == 1 ? in[0] : node_axis_call(v, OP_concat, in, n, axis, NULL, 0);
	node_set(v, 0, dtype_is_int(node_val(v, y)->type) ? tflite_activate_codes(v, y) : tflite_activate(v, y));
}

/* The shape is input 1, or the option where there is no such input; -1 is what is left. */
static void import_reshape(Visit *v)
{
	const Item *x = node_need(v, 0);
	int n = 0, open = -1, given;
	const int64_t *option = node_attr_ints(v, "new_shape", &given);
	const int64_t *at = node_in(v, 1) != NULL ? node_ints(v, 1, &n) : option;
	n = node_in(v, 1) != NULL ? n : given < 0 ? 0 : given;
	char from[160], to[160];
	if (node_ok(v) && n > DAG_MAX_RANK)
		node_fail(v, ERR_UNSUPPORTED, "its result has %d dimensions; dlc takes at most %d", n, DAG_MAX_RANK);
	if (!node_ok(v))
		return;
	Shape s = shape_of(n, at);
	for (int k = 0; k < n && node_ok(v); k++) {
		if (s.dim[k] < -1 || (s.dim[k] == -1 && open >= 0))
			node_fail(v, ERR_TYPE, "its shape has the size %lld as dimension %d", (long long)s.dim[k], k);
		open = s.dim[k] == -1 ? k : open;
	}
	if (open >= 0)
		s.dim[open] = 1;
	int64_t have = shape_elements(x->shape), known = shape_product(&s, 0, s.rank);
	if (open >= 0 && known > 0 && have % known == 0)
		s.dim[open] = have / known;
	else if (node_ok(v) && known != have)
		node_fail(v, ERR_TYPE, "its input of shape %s does not fit the shape %s", shape_str(x->shape, from),
			shape_str(s, to));
	if (node_ok(v) && x->data != NULL)
		node_set_known(v, 0, x->type, s, x->data);
	else if (node_ok(v))
		node_set(v, 0, node_reshape(v, node_value(v, 0), s));
}

static void import_gather(Visit *v)
{
	int in[] = { tflite_value(v, 0), tflite_value(v, 1) }, rank = node_val(v, in[1])->shape.rank;
	int64_t batch = node_attr_int(v, "batch_dims", 0);
	int axis = node_axis(v, node_attr_int(v, "axis", 0), node_val(v, in[0])->shape.rank);
	batch = batch < 0 ? batch + rank : batch;
	if (node_ok(v) && (batch < 0 || batch > rank || batch > axis))
		node_fail(v, ERR_INPUT, "its batch_dims is %lld", (long long)batch);
	Attr attr[] = { attr_int("axis", axis), attr_int("batch", batch) };
	node_set(v, 0, node_call(v, OP_gather, in, 2, attr, 2));
}

/* Rows of a table, input 1. */
static void import_embedding_lookup(Visit *v)
{
	int in[] = { tflite_value(v, 1), tflite_value(v, 0) };
	Attr attr = attr_int("axis", 0);
	node_set(v, 0, node_call(v, OP_gather, in, 2, &attr, 1));
}

/* x with `update` at a start that may be data, moved so that it lies inside. */
static void import_dynamic_update_slice(Visit *v)
{
	int x = tflite_value(v, 0), update = tflite_value(v, 1), start = node_cast(v, tflite_value(v, 2), I64);
	Shape s = node_val(v, x)->shape, part = node_val(v, update)->shape, from = node_val(v, start)->shape;
	int64_t room[DAG_MAX_RANK];
	bool fits = part.rank == s.rank && from.rank == 1 && from.dim[0] == s.rank && s.rank > 0;
	for (int k = 0; k < s.rank && fits; k++) {
		room[k] = s.dim[k] - part.dim[k];
		fits = room[k] >= 0;
	}
	if (node_ok(v) && !fits)
		node_fail(v, ERR_TYPE, "its update does not fit into its input");
	if (!node_ok(v))
		return;
	start = node_call2(v, OP_maximum, start, node_number(v, I64, 0));
	start = node_call2(
		v, OP_minimum, start, node_const(v, I64, from, arena_copy(v->im->arena, room, sizeof *room * (size_t)s.rank)));
	Shape grid = part, tuple = part;
	grid.dim[grid.rank++] = 1;
	tuple.dim[tuple.rank++] = s.rank;
	if (tuple.rank > DAG_MAX_RANK) {
		node_fail(v, ERR_UNSUPPORTED, "its input has %d dimensions", s.rank);
		return;
	}
	int index[DAG_MAX_RANK];
	for (int k = 0; k < s.rank; k++) { /* the place of each element of the update along dimension k */
		int at = node_view(v, node_slice(v, start, 0, k, 1), 0, NULL);
		at = node_call2(v, OP_add, node_count(v, part.dim[k], k, s.rank), at);
		index[k] = node_reshape(v, node_expand(v, at, part), grid);
	}
	int in[] = { x, node_concat(v, index, s.rank, s.rank), update };
	node_set(v, 0, node_call(v, OP_scatter_nd, in, 3, NULL, 0));
}

const NodeRow tflite_move_rows[] = {
	{ "CONCATENATION", 0, "", import_concatenation },
	{ "RESHAPE", 0, "", import_reshape },
	{ "GATHER", 0, "", import_gather },
	{ "EMBEDDING_LOOKUP", 0, "", import_embedding_lookup },
	{ "DYNAMIC_UPDATE_SLICE", 0, "", import_dynamic_update_slice },
	{ NULL, 0, NULL, NULL },
};
