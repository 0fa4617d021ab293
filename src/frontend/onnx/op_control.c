/*
 * Rows of control flow: If, Loop and Scan. What decides must be known while importing: a condition chooses its branch,
 * and a loop is written out, an iteration behind the other. Values that go from one iteration to the next may be known
 * themselves, so conditions and slices that count iterations fold. What depends on data is refused.
 */
#include "frontend/node/compose.h"
#include "frontend/onnx/rows.h"
#include "frontend/node/traverse.h"

#include "op/element.h"

#include <string.h>

/* Iterations of all loops of a model, and calls of its Dag after them. */
enum { MOST_STEPS = 1 << 14, MOST_CALLS = 1 << 16 };

/* ---- conditions */

/* A known Item of one bool. */
static bool is_true(Visit *v, Item *it, const char *what)
{
	if (node_ok(v) && (it->kind != ITEM_TENSOR || it->type.kind != DT_BOOL || shape_elements(it->shape) != 1))
		node_fail(v, ERR_TYPE, "%s must be one bool", what);
	return node_ok(v) && node_know(v, it, what) && element_get_int(it->type, it->data, 0) != 0;
}

static void import_if(Visit *v)
{
	static const char *const branches[] = { "else_branch", "then_branch" };
	int nout = (int)v->node->nout;
	Item *cond = node_item(v, 0), **out = arena_array(v->im->arena, Item *, nout + 1);
	const NodeGraph *g[2];
	for (int k = 0; k < 2; k++)
		g[k] = node_attr_graph(v, branches[k]);
	if (cond == NULL)
		node_need(v, 0);
	if (!node_ok(v))
		return;
	bool taken = is_true(v, cond, arena_printf(v->im->arena, "its condition '%s'", cond->name));
	Frame f;
	if (node_ok(v) && node_open_graph(v, g[taken], &f) && node_run_graph(v, g[taken], &f, "", NULL, 0, out, nout))
		for (int k = 0; k < nout; k++)
			node_set_alias(v, k, out[k]);
}

/* ---- loops */

/* A loop while it is written out: values that it carries, results that it collects. */
typedef struct Loop {
	Visit *v;
	const NodeGraph *body;
	Frame open;
	int ncarried, ncollected;
	Item **carried;   /* as the next iteration reads them */
	Item ***collected; /* of each result: its part of each iteration */
	int64_t steps;
} Loop;

static bool open_loop(Loop *l, Visit *v, int ncarried)
{
	Arena *a = v->im->arena;
	*l = (Loop){ .v = v, .body = node_attr_graph(v, "body"), .ncarried = ncarried };
	l->ncollected = (int)v->node->nout - ncarried;
	if (node_ok(v) && l->ncollected < 0)
		node_fail(v, ERR_INPUT, "it has %zu results, but carries %d values", v->node->nout, ncarried);
	if (!node_ok(v) || !node_open_graph(v, l->body, &l->open))
		return false;
	l->carried = arena_array(a, Item *, ncarried + 1);
	l->collected = arena_array(a, Item **, l->ncollected + 1);
	return true;
}

/* Carried values come from the node's inputs first .. first + ncarried - 1. */
static void read_carried(Loop *l, int first)
{
	for (int k = 0; k < l->ncarried && node_ok(l->v); k++) {
		l->carried[k] = node_item(l->v, first + k);
		if (l->carried[k] == NULL)
			node_need(l->v, first + k);
	}
}

/*
 * One iteration: `in` are the body's inputs, of `ahead` results before the carried ones the first is returned.
 * The Items of `collected` grow as powers of two, so that adding one is cheap.
 */
static Item *iterate(Loop *l, Item *const *in, int nin, int ahead)
{
	Visit *v = l->v;
	Arena *a = v->im->arena;
	int nout = ahead + l->ncarried + l->ncollected;
	Item **out = arena_array(a, Item *, nout + 1);
	if (++v->im->steps > MOST_STEPS || v->im->dag->call.n > MOST_CALLS)
		node_fail(v, ERR_UNSUPPORTED, "loops are written out, but only for %d iterations and %d calls in all",
			MOST_STEPS, MOST_CALLS);
	const char *part = arena_printf(a, "%lld/", (long long)l->steps);
	if (!node_run_graph(v, l->body, &l->open, part, in, nin, out, nout))
		return NULL;
	memcpy(l->carried, out + ahead, sizeof *out * (size_t)l->ncarried);
	for (int k = 0; k < l->ncollected; k++) {
		if ((l->steps & (l->steps - 1)) == 0) {
			Item **more = arena_array(a, Item *, l->steps > 0 ? l->steps * 2 : 1);
			if (l->steps > 0)
				memcpy(more, l->collected[k], sizeof *more * (size_t)l->steps);
			l->collected[k] = more;
		}
		l->collected[k][l->steps] = out[ahead + l->ncarried + k];
	}
	l->steps++;
	return out[0];
}

/* The result of no iteration: nothing, in the shape that the body declares. */
static void set_nothing(Loop *l, int k, const NodeValue *declared, int axis)
{
	Shape shape = { .rank = declared->shaped ? (int)declared->ndim + 1 : 0 };
	bool fits = declared->shaped && declared->ndim < DAG_MAX_RANK && declared->refused == NULL &&
		!declared->sequence && declared->code == 0;
	for (int i = 0, j = 0; fits && i < shape.rank; i++)
		if (i != axis) {
			fits = !declared->dim[j].open && declared->dim[j].size >= 0;
			shape.dim[i] = declared->dim[j++].size;
		}
	if (!fits)
		node_fail(l->v, ERR_UNSUPPORTED, "it has no iteration, and its graph does not say the shape of '%s'",
			declared->name);
	else
		node_set_known(l->v, l->ncarried + k, declared->type, shape, "");
}

/* The parts of one collected result, stacked along a new axis; from the last one on if `reverse`. */
static int stack(Visit *v, Item *const *part, int64_t n, int64_t axis, bool reverse)
{
	int *x = arena_array(v->im->arena, int, n + 1), at = 0;
	for (int64_t i = 0; i < n && node_ok(v); i++) {
		Item *it = part[reverse ? n - 1 - i : i];
		if (it->kind != ITEM_TENSOR || it->shape.rank == DAG_MAX_RANK)
			node_fail(v, ERR_UNSUPPORTED, "results of %s are collected, but must be tensors of at most %d dimensions",
				item_kind_name(it->kind), DAG_MAX_RANK - 1);
		if (i == 0)
			at = node_axis(v, axis, it->shape.rank + 1);
		Shape s = { .rank = it->shape.rank + 1 };
		for (int k = 0; k < s.rank && node_ok(v); k++)
			s.dim[k] = k == at ? 1 : it->shape.dim[k - (k > at)];
		x[i] = node_ok(v) ? node_reshape(v, node_item_value(v, it), s) : DAG_NONE;
	}
	return node_ok(v) ? node_concat(v, x, (int)n, at) : DAG_NONE;
}

static void set_carried(Loop *l)
{
	for (int k = 0; k < l->ncarried && node_ok(l->v); k++)
		node_set_alias(l->v, k, l->carried[k]);
}

/* ---- Loop: a count, a condition, or both */

static Item *known_scalar(Visit *v, DType type, int64_t x)
{
	Item *it = arena_new_of(v->im->arena, Item);
	void *data = arena_alloc(v->im->arena, 8);
	element_set_int(type, data, 0, x);
	*it = (Item){ .name = arena_printf(v->im->arena, "%s.at", v->node->out[0]),
		.type = type, .data = data, .value = DAG_NONE };
	return it;
}

static void import_loop(Visit *v)
{
	Arena *a = v->im->arena;
	int nin = (int)v->node->nin, n = nin > 2 ? nin - 2 : 0, count;
	Loop l;
	if (!open_loop(&l, v, n))
		return;
	read_carried(&l, 2);
	const int64_t *trips = node_ints(v, 0, &count);
	Item *go = node_item(v, 1), **in = arena_array(a, Item *, n + 2);
	if (node_ok(v) && trips != NULL && count != 1)
		node_fail(v, ERR_TYPE, "its trip count must be one number");
	while (node_ok(v) && (trips == NULL || l.steps < trips[0])) {
		const char *what = l.steps == 0 ? "its condition"
										: arena_printf(a, "its condition after %lld iterations", (long long)l.steps);
		if (go != NULL && !is_true(v, go, what))
			break;
		in[0] = known_scalar(v, I64, l.steps);
		in[1] = go != NULL ? go : known_scalar(v, BOOL, 1);
		memcpy(in + 2, l.carried, sizeof *in * (size_t)n);
		go = iterate(&l, in, n + 2, 1);
	}
	set_carried(&l);
	for (int k = 0; k < l.ncollected && node_ok(v); k++)
		if (l.steps == 0 && (size_t)(1 + n + k) < l.body->nout)
			set_nothing(&l, k, &l.body->out[1 + n + k], 0);
		else if (l.steps > 0)
			node_set(v, n + k, stack(v, l.collected[k], l.steps, 0, false));
}

/* ---- Scan: an iteration for each part of its inputs along their axes */

/* Entry k of a list of integers with an entry for each of n values; 0 without the list. */
static int64_t entry(Visit *v, const char *name, int k, int n)
{
	int count;
	const int64_t *list = node_attr_ints(v, name, &count);
	if (node_ok(v) && count >= 0 && count != n)
		node_fail(v, ERR_INPUT, "its attribute %s has %d numbers, but needs %d", name, count, n);
	return node_ok(v) && count > 0 ? list[k] : 0;
}

/* The same for a direction: whether it is backward. */
static bool backward(Visit *v, const char *name, int k, int n)
{
	int64_t way = entry(v, name, k, n);
	if (way != 0 && way != 1)
		node_fail(v, ERR_INPUT, "its attribute %s holds %lld, but must hold 0 or 1", name, (long long)way);
	return way != 0;
}

/* Part `at` of a value along an axis, without the axis. */
static Item *part_of(Visit *v, int x, int axis, int64_t at)
{
	Shape s = node_val(v, x)->shape;
	int y = node_slice(v, x, axis, at, 1);
	memmove(&s.dim[axis], &s.dim[axis + 1], sizeof s.dim[0] * (size_t)(s.rank - axis - 1));
	return node_new_item(v, node_view(v, y, s.rank - 1, s.dim));
}

/* How many of the inputs behind the first `ahead` are scanned. */
static int scanned_inputs(Visit *v, int ahead)
{
	int64_t many = node_attr_int(v, "num_scan_inputs", 0), all = (int64_t)v->node->nin - ahead;
	if (node_ok(v) && (many < 1 || many > all))
		node_fail(v, ERR_INPUT, "its attribute num_scan_inputs is %lld, but it has %zu inputs", (long long)many,
			v->node->nin);
	return node_ok(v) ? (int)many : 1;
}

/* What a Scan reads: values, the axis of each, whether from the end; all have as many parts. */
typedef struct Scanned {
	int n, *value, *axis;
	bool *reverse;
	int64_t length;
} Scanned;

/* `first`: the input of the first one. Below opset 9 the batch is before the axis, and directions have another name. */
static Scanned read_scanned(Visit *v, int first, int n, bool batched)
{
	Arena *a = v->im->arena;
	Scanned s = { .n = n,
		.value = arena_array(a, int, n + 1),
		.axis = arena_array(a, int, n + 1),
		.reverse = arena_array(a, bool, n + 1) };
	for (int k = 0; k < n && node_ok(v); k++) {
		const Item *it = node_need(v, first + k);
		s.value[k] = node_value(v, first + k);
		s.axis[k] = batched ? 1 : node_axis(v, entry(v, "scan_input_axes", k, n), it->shape.rank);
		s.reverse[k] = backward(v, batched ? "directions" : "scan_input_directions", k, n);
		if (node_ok(v) && s.axis[k] >= it->shape.rank)
			node_fail(v, ERR_TYPE, "its input %d has %d dimensions, but needs a batch and an axis", first + k + 1,
				it->shape.rank);
		if (!node_ok(v))
			break;
		int64_t length = it->shape.dim[s.axis[k]];
		if (k > 0 && length != s.length)
			node_fail(v, ERR_TYPE, "its inputs have %lld and %lld parts", (long long)s.length, (long long)length);
		s.length = length;
	}
	return s;
}

/* All iterations for the carried values in l. */
static void scan(Loop *l, const Scanned *s)
{
	Visit *v = l->v;
	int n = l->ncarried + s->n;
	Item **in = arena_array(v->im->arena, Item *, n + 1);
	for (int64_t t = 0; t < s->length && node_ok(v); t++) {
		memcpy(in, l->carried, sizeof *in * (size_t)l->ncarried);
		for (int k = 0; k < s->n; k++)
			in[l->ncarried + k] = part_of(v, s->value[k], s->axis[k], s->reverse[k] ? s->length - 1 - t : t);
		if (node_ok(v))
			iterate(l, in, n, 0);
	}
}

static void import_scan(Visit *v)
{
	int many = scanned_inputs(v, 0), n = (int)v->node->nin - many;
	Loop l;
	if (!node_ok(v) || !open_loop(&l, v, n))
		return;
	read_carried(&l, 0);
	Scanned s = read_scanned(v, n, many, false);
	scan(&l, &s);
	set_carried(&l);
	for (int k = 0; k < l.ncollected && node_ok(v); k++) {
		int64_t axis = entry(v, "scan_output_axes", k, l.ncollected);
		bool reverse = backward(v, "scan_output_directions", k, l.ncollected);
		if (l.steps == 0 && (size_t)(n + k) < l.body->nout)
			set_nothing(&l, k, &l.body->out[n + k], (int)axis);
		else if (l.steps > 0)
			node_set(v, n + k, stack(v, l.collected[k], l.steps, axis, reverse));
	}
	(void)entry(v, "scan_output_axes", 0, l.ncollected);
	(void)entry(v, "scan_output_directions", 0, l.ncollected);
}

/* Opset 8: input 0 are lengths, and all values have a batch before, whose members are scanned one by one. */
static void import_scan_batch(Visit *v)
{
	int many = scanned_inputs(v, 1), n = (int)v->node->nin - 1 - many;
	if (node_ok(v) && node_in(v, 0) != NULL)
		node_fail(v, ERR_UNSUPPORTED, "sequences of different lengths are not supported");
	if (!node_ok(v))
		return;
	Scanned all = read_scanned(v, 1 + n, many, true), s = all;
	int64_t batch = node_ok(v) ? node_val(v, all.value[0])->shape.dim[0] : 0;
	int nout = (int)v->node->nout;
	Item ***part = arena_array(v->im->arena, Item **, nout + 1);
	if (node_ok(v) && (batch < 1 || batch > MOST_STEPS || s.length < 1))
		node_fail(v, ERR_UNSUPPORTED, "it has %lld sequences of %lld steps", (long long)batch, (long long)s.length);
	for (int64_t b = 0; b < batch && node_ok(v); b++) {
		Loop l;
		if (!open_loop(&l, v, n))
			return;
		for (int k = 0; k < n && node_ok(v); k++) {
			const Item *it = node_need(v, 1 + k);
			if (node_ok(v) && (it->shape.rank == 0 || it->shape.dim[0] != batch))
				node_fail(v, ERR_TYPE, "its input %d has no batch of %lld", k + 2, (long long)batch);
			l.carried[k] = node_ok(v) ? part_of(v, node_value(v, 1 + k), 0, b) : NULL;
		}
		s.value = arena_array(v->im->arena, int, many + 1);
		s.axis = arena_array(v->im->arena, int, many + 1);
		for (int k = 0; k < many && node_ok(v); k++) {
			if (node_val(v, all.value[k])->shape.dim[0] != batch)
				node_fail(v, ERR_TYPE, "its inputs have different batches");
			else
				s.value[k] = node_item_value(v, part_of(v, all.value[k], 0, b));
		}
		l.open.prefix = arena_printf(v->im->arena, "%s%lld/", l.open.prefix, (long long)b);
		if (node_ok(v))
			scan(&l, &s);
		for (int k = 0; k < nout && node_ok(v); k++) {
			if (b == 0)
				part[k] = arena_array(v->im->arena, Item *, batch);
			part[k][b] = k < n ? l.carried[k] : node_new_item(v, stack(v, l.collected[k - n], l.steps, 0, false));
		}
	}
	for (int k = 0; k < nout && node_ok(v); k++)
		node_set(v, k, stack(v, part[k], batch, 0, false));
}

static void import_scan_any(Visit *v)
{
	if (v->frame->version < 9)
		import_scan_batch(v);
	else
		import_scan(v);
}

const NodeRow onnx_control_rows[] = {
	{ "If", 1, "", import_if },
	{ "Loop", 1, "", import_loop },
	{ "Scan", 8, "", import_scan_any },
	{ NULL, 0, NULL, NULL },
};
