/* Rows that make tensors of numbers, fill or copy them, and change their types. Nothing here is random. */
#include "frontend/pytorch/aten.h"

#include "op/element.h"

#include <math.h>
#include <string.h>

enum { MOST_FILLED = 1 << 24 };

/* A constant of one number, expanded. */
static int filled(Aten *n, DType t, Shape s, TorchValue x)
{
	for (int k = 0; k < s.rank && node_ok(n->v); k++)
		if (s.dim[k] < 0 || (k > 0 && shape_product(&s, 0, k + 1) >= (int64_t)1 << 62))
			node_fail(n->v, ERR_INPUT, "its size holds %lld", (long long)s.dim[k]);
	int y = aten_as(n, x, t);
	return node_ok(n->v) ? node_expand(n->v, y, s) : y;
}

static Shape size_of(Aten *n, const char *name)
{
	int64_t dim[ATEN_INTS];
	int count = aten_ints(n, name, -1, dim);
	if (count > DAG_MAX_RANK)
		node_fail(n->v, ERR_UNSUPPORTED, "its size has %d dimensions; dlc takes at most %d", count, DAG_MAX_RANK);
	return node_ok(n->v) ? shape_of(count, dim) : shape_of(0, NULL);
}

static DType natural(TorchValue x)
{
	return x.kind == TORCH_BOOL ? BOOL : x.kind == TORCH_INT ? I64 : F32;
}

static void import_full(Aten *n)
{
	TorchValue x = n->row->op >= 0 ? torch_int(n->row->op) : aten_any(n, "fill_value");
	DType t = n->row->op >= 0 ? F32 : x.kind == TORCH_TENSOR ? aten_item(n, "fill_value")->type : natural(x);
	t = aten_type(n, "dtype", t);
	aten_set(n, filled(n, t, size_of(n, "size"), x));
}

/* The shape or the type of another tensor. */
static void import_full_like(Aten *n)
{
	TorchValue x = n->row->op >= 0 ? torch_int(n->row->op) : aten_any(n, "fill_value");
	const Item *self = aten_item(n, "self");
	aten_set(n, filled(n, aten_type(n, "dtype", self->type), self->shape, x));
}

static void import_new_full(Aten *n)
{
	TorchValue x = n->row->op >= 0 ? torch_int(n->row->op) : aten_any(n, "fill_value");
	const Item *self = aten_item(n, "self");
	aten_set(n, filled(n, aten_type(n, "dtype", self->type), size_of(n, "size"), x));
}

static void import_fill(Aten *n)
{
	TorchValue x = n->row->op >= 0 ? torch_int(n->row->op) : aten_any(n, "value");
	const Item *self = aten_item(n, "self");
	aten_set(n, filled(n, self->type, self->shape, x));
}

/* The elements of `src`, in self's type and shape. */
static void import_copy(Aten *n)
{
	const Item *self = aten_item(n, "self");
	int x = node_cast(n->v, aten_value(n, "src"), self->type);
	aten_set(n, node_ok(n->v) ? node_expand(n->v, x, self->shape) : x);
}

static void import_scalar_tensor(Aten *n)
{
	TorchValue x = aten_any(n, "s");
	DType t = aten_type(n, "dtype", n->row->op != 0 ? natural(x) : F32);
	void *data = arena_alloc(n->v->im->arena, 8);
	if (x.kind == TORCH_TENSOR) {
		aten_set(n, node_cast(n->v, aten_value(n, "s"), aten_type(n, "dtype", aten_item(n, "s")->type)));
		return;
	}
	if (dtype_is_float(t) || x.kind == TORCH_FLOAT)
		element_set(t, data, 0, torch_number(x));
	else
		element_set_int(t, data, 0, x.i);
	Item *it = arena_new_of(n->v->im->arena, Item); /* known, so that it can be a size again */
	*it = (Item){ .name = "number", .type = t, .data = data, .value = DAG_NONE };
	aten_give(n, torch_tensor(n->v->im->arena, it));
}

/* Lists of numbers, nested as the result's dimensions. */
static bool flatten(Aten *n, TorchValue x, int depth, Shape *s, TorchList *out)
{
	if (x.kind != TORCH_LIST && x.kind != TORCH_TUPLE) {
		s->rank = depth > s->rank ? depth : s->rank;
		torch_push(n->v->im->arena, out, x);
		return depth == s->rank && (torch_is_number(x) || x.kind == TORCH_TENSOR);
	}
	if (depth >= DAG_MAX_RANK || x.list->n > MOST_FILLED || out->n > MOST_FILLED)
		return false;
	if (depth >= s->rank) {
		s->rank = depth + 1;
		s->dim[depth] = (int64_t)x.list->n;
	}
	if (s->dim[depth] != (int64_t)x.list->n || !torch_spend(n->v, (int64_t)x.list->n))
		return false;
	for (size_t k = 0; k < x.list->n; k++)
		if (!flatten(n, x.list->at[k], depth + 1, s, out))
			return false;
	return true;
}

static void import_list_tensor(Aten *n)
{
	TorchList all = { 0 };
	Shape s = { .rank = 0 };
	TorchValue x = aten_any(n, "data");
	if (n->row->op != 0 && x.kind == TORCH_TENSOR &&
		dtype_eq(torch_item(n->v, x.tensor)->type, aten_type(n, "dtype", torch_item(n->v, x.tensor)->type))) {
		aten_give(n, x);
		return;
	}
	if (!flatten(n, x, 0, &s, &all)) {
		node_fail(n->v, ERR_UNSUPPORTED, "its lists of numbers make no tensor");
		return;
	}
	DType t = aten_type(n, "dtype", aten_promote(n, all.at, (int)all.n));
	void *data = arena_alloc(n->v->im->arena, (size_t)dtype_bytes(t, (int64_t)all.n) + 8);
	for (size_t k = 0; k < all.n && node_ok(n->v); k++) {
		int64_t i = 0;
		if (all.at[k].kind == TORCH_FLOAT || dtype_is_float(t))
			element_set(t, data, (int64_t)k, torch_is_number(all.at[k]) ? torch_number(all.at[k]) : 0);
		else if (torch_to_int(n->v, all.at[k], &i))
			element_set_int(t, data, (int64_t)k, i);
		if (all.at[k].kind == TORCH_TENSOR && dtype_is_float(t)) {
			Item *it = torch_item(n->v, all.at[k].tensor);
			if (node_know(n->v, it, "a number of its list"))
				element_set(t, data, (int64_t)k, element_get(it->type, it->data, 0));
		}
	}
	aten_set(n, node_const(n->v, t, s, data));
}

/* ---- counting */

static void counted(Aten *n, double start, double step, int64_t count, DType t)
{
	if (node_ok(n->v) && (count < 0 || count > MOST_FILLED))
		node_fail(n->v, ERR_UNSUPPORTED, "it counts %lld numbers", (long long)count);
	if (!torch_spend(n->v, count))
		return;
	void *data = arena_alloc(n->v->im->arena, (size_t)dtype_bytes(t, count) + 8);
	for (int64_t i = 0; i < count; i++)
		element_set(t, data, i, start + step * (double)i);
	aten_set(n, node_const(n->v, t, shape_of(1, &count), data));
}

static void import_arange(Aten *n)
{
	double start = aten_given(n, "start") ? aten_float(n, "start") : 0, end = aten_float(n, "end");
	double step = aten_given(n, "step") ? aten_float(n, "step") : 1;
	bool whole = true;
	static const char *const names[] = { "start", "end", "step" };
	for (int k = 0; k < 3; k++) {
		TorchValue x = aten_any(n, names[k]);
		whole &= x.kind != TORCH_FLOAT && (x.kind != TORCH_TENSOR || !dtype_is_float(torch_item(n->v, x.tensor)->type));
	}
	double count = step != 0 ? ceil((end - start) / step) : -1;
	counted(n, start, step, count >= 0 && count < 1e15 ? (int64_t)count : -1, aten_type(n, "dtype", whole ? I64 : F32));
}

static void import_linspace(Aten *n)
{
	double start = aten_float(n, "start"), end = aten_float(n, "end");
	int64_t steps = aten_int(n, "steps");
	counted(n, start, steps > 1 ? (end - start) / (double)(steps - 1) : 0, steps, aten_type(n, "dtype", F32));
}

/* ---- windows of signals */

enum { HANN, HAMMING, BLACKMAN, BARTLETT, KAISER };

/* The modified Bessel function of order 0, by its series. */
static double bessel(double x)
{
	double sum = 1, term = 1;
	for (int k = 1; term > sum * 1e-17 && k < 1000; k++) {
		term *= x / (2 * k) * (x / (2 * k));
		sum += term;
	}
	return sum;
}

/* Element i of a window; `last`: the place of the element that is equal to the first one. */
static double window_at(Aten *n, double i, double last, double beta)
{
	double pi = 3.14159265358979323846, turn = 2 * pi * i / last, far = 2 * i / last - 1;
	switch (n->row->op) {
	case HANN: return 0.5 - 0.5 * cos(turn);
	case HAMMING: return aten_float(n, "alpha") - beta * cos(turn);
	case BLACKMAN: return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn);
	case BARTLETT: return 1 - fabs(far);
	default: return bessel(beta * sqrt(fmax(1 - far * far, 0))) / bessel(beta);
	}
}

/* A periodic window of n elements is one of n + 1 without its end. */
static void import_signal_window(Aten *n)
{
	Visit *v = n->v;
	int64_t size = aten_int(n, "window_length");
	double last = (double)size - (aten_flag(n, "periodic") ? 0 : 1), beta = aten_float(n, "beta");
	DType t = aten_type(n, "dtype", F32);
	aten_float(n, "alpha");
	if (node_ok(v) && (size < 0 || size > MOST_FILLED || !dtype_is_float(t)))
		node_fail(v, ERR_UNSUPPORTED, "it makes a window of %lld elements, or one of integers", (long long)size);
	if (node_ok(v) && n->row->op == KAISER && !(fabs(beta) <= 700))
		node_fail(v, ERR_INPUT, "its beta of %g is out of range", beta);
	if (!node_ok(v) || !torch_spend(v, size))
		return;
	void *data = arena_alloc(v->im->arena, (size_t)dtype_bytes(t, size) + 8);
	for (int64_t i = 0; i < size; i++)
		element_set(t, data, i, size == 1 ? 1 : window_at(n, (double)i, last, beta));
	aten_set(n, node_const(v, t, shape_of(1, &size), data));
}

/* ---- matrices of zeros and ones */

/* Constant [rows,columns]: true where column - row is within low .. high. */
static int band(Aten *n, int64_t rows, int64_t columns, int64_t low, int64_t high)
{
	if (node_ok(n->v) && (rows < 0 || columns < 0 || (rows > 0 && columns > MOST_FILLED / rows)))
		node_fail(n->v, ERR_UNSUPPORTED, "a matrix of %lld x %lld is too large", (long long)rows, (long long)columns);
	if (!node_ok(n->v) || !torch_spend(n->v, rows * columns))
		return DAG_NONE;
	unsigned char *in = arena_alloc(n->v->im->arena, (size_t)(rows * columns) + 1);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			in[i * columns + j] = j - i >= low && j - i <= high;
	return node_const(n->v, BOOL, shape_of(2, (int64_t[]){ rows, columns }), in);
}

static void import_tril(Aten *n)
{
	int x = aten_value(n, "self");
	Shape s = node_val(n->v, x)->shape;
	int64_t diagonal = aten_int(n, "diagonal"), far = (int64_t)1 << 40;
	if (node_ok(n->v) && s.rank < 2)
		node_fail(n->v, ERR_TYPE, "its input is no matrix");
	if (!node_ok(n->v))
		return;
	bool upper = n->row->op != 0;
	int keep = band(n, s.dim[s.rank - 2], s.dim[s.rank - 1], upper ? diagonal : -far, upper ? far : diagonal);
	DType t = node_val(n->v, x)->type;
	aten_set(n,
		t.kind == DT_BOOL ? node_call2(n->v, OP_bit_and, keep, x) : node_where(n->v, keep, x, node_number(n->v, t, 0)));
}

static void import_eye(Aten *n)
{
	int64_t rows = aten_int(n, "n"), columns = aten_given(n, "m") ? aten_int(n, "m") : rows;
	aten_set(n, node_cast(n->v, band(n, rows, columns, 0, 0), aten_type(n, "dtype", F32)));
}

static void import_indices(Aten *n)
{
	int64_t rows = aten_int(n, "row"), columns = aten_int(n, "col"), offset = aten_int(n, "offset"), count = 0;
	if (node_ok(n->v) && (rows < 0 || columns < 0 || (rows > 0 && columns > MOST_FILLED / rows)))
		node_fail(n->v, ERR_UNSUPPORTED, "a matrix of %lld x %lld is too large", (long long)rows, (long long)columns);
	if (!node_ok(n->v) || !torch_spend(n->v, rows * columns))
		return;
	int64_t *at = arena_array(n->v->im->arena, int64_t, 2 * rows * columns + 1);
	for (int pass = 0; pass < 2; pass++) {
		int64_t all = count, k = 0;
		for (int64_t i = 0; i < rows; i++)
			for (int64_t j = 0; j < columns; j++) {
				if (n->row->op != 0 ? j - i < offset : j - i > offset)
					continue;
				if (pass == 1) {
					at[k] = i;
					at[all + k] = j;
				}
				k++;
			}
		count = k;
	}
	int y = node_const(n->v, I64, shape_of(2, (int64_t[]){ 2, count }), at);
	aten_set(n, node_cast(n->v, y, aten_type(n, "dtype", I64)));
}

/* ---- types */

/* A tensor that has the type is the result itself. */
static void give_as(Aten *n, DType want)
{
	bool copy = aten_flag(n, "copy");
	int x = aten_value(n, "self");
	if (copy || !dtype_eq(node_val(n->v, x)->type, want))
		aten_set(n, node_cast(n->v, x, want));
	else if (aten_reorders(n))
		aten_give(n, torch_copy_of(n->v, aten_tensor(n, "self"), x));
	else
		aten_give(n, aten_any(n, "self"));
}

static void import_to(Aten *n)
{
	DType want = aten_type(n, "dtype", aten_item(n, "self")->type);
	if (n->row->op != 0)
		aten_set(n, node_cast(n->v, aten_value(n, "self"), want));
	else
		give_as(n, want);
}

static void import_type_as(Aten *n)
{
	give_as(n, aten_item(n, "other")->type);
}

/* float(), half() and the like: the row's number is a ScalarType. */
static void import_cast(Aten *n)
{
	DType t = F32;
	torch_type_from(n->row->op, &t);
	give_as(n, t);
}

#define MADE " dtype:i? layout:_? device:_? pin_memory:_? requires_grad:_?"
#define WINDOW "window_length:i periodic:b=True"
#define LIKE MADE " memory_format:_?"

const AtenRow torch_fill_rows[] = {
	{ "zeros", "size:I" MADE, import_full, 0 },
	{ "ones", "size:I" MADE, import_full, 1 },
	{ "empty", "size:I" LIKE, import_full, 0 },
	{ "full", "size:I fill_value:n" MADE, import_full, -1 },
	{ "zeros_like", "self:T" LIKE, import_full_like, 0 },
	{ "ones_like", "self:T" LIKE, import_full_like, 1 },
	{ "empty_like", "self:T" LIKE, import_full_like, 0 },
	{ "full_like", "self:T fill_value:n" LIKE, import_full_like, -1 },
	{ "new_zeros", "self:T size:I" MADE, import_new_full, 0 },
	{ "new_ones", "self:T size:I" MADE, import_new_full, 1 },
	{ "new_empty", "self:T size:I" MADE, import_new_full, 0 },
	{ "new_full", "self:T size:I fill_value:n" MADE, import_new_full, -1 },
	{ "fill!", "self:T value:n", import_fill, -1 },
	{ "zero!", "self:T", import_fill, 0 },
	{ "copy!", "self:T src:T non_blocking:_?", import_copy, 0 },
	{ "scalar_tensor", "s:n" MADE, import_scalar_tensor, 0 },
	{ "prim::NumToTensor", "s:n", import_scalar_tensor, 1 },
	{ "as_tensor", "data:*" MADE, import_list_tensor, 1 },
	{ "tensor", "data:*" MADE, import_list_tensor, 0 },
	{ "arange", "end:n" MADE, import_arange, 0 },
	{ "arange.start", "start:n end:n" MADE, import_arange, 0 },
	{ "arange.start_step", "start:n end:n step:n=1" MADE, import_arange, 0 },
	{ "linspace", "start:n end:n steps:i=100" MADE, import_linspace, 0 },
	{ "hann_window", WINDOW MADE, import_signal_window, HANN },
	{ "hamming_window", WINDOW " alpha:f=0.54 beta:f=0.46" MADE, import_signal_window, HAMMING },
	{ "blackman_window", WINDOW MADE, import_signal_window, BLACKMAN },
	{ "bartlett_window", WINDOW MADE, import_signal_window, BARTLETT },
	{ "kaiser_window", WINDOW " beta:f=12" MADE, import_signal_window, KAISER },
	{ "tril!", "self:T diagonal:i=0", import_tril, 0 },
	{ "triu!", "self:T diagonal:i=0", import_tril, 1 },
	{ "eye", "n:i" MADE, import_eye, 0 },
	{ "eye.m", "n:i m:i" MADE, import_eye, 0 },
	{ "tril_indices", "row:i col:i offset:i=0" MADE, import_indices, 0 },
	{ "triu_indices", "row:i col:i offset:i=0" MADE, import_indices, 1 },
	{ "to.dtype", "self:T dtype:i non_blocking:_? copy:b=False memory_format:_?", import_to, 0 },
	{ "to.dtype_layout",
		"self:T dtype:i? layout:_? device:_? pin_memory:_? non_blocking:_? copy:b=False memory_format:_?", import_to,
		0 },
	{ "to.device", "self:T device:_ dtype:i? non_blocking:_? copy:b=False memory_format:_?", import_to, 0 },
	{ "to.other", "self:T other:T non_blocking:_? copy:b=False memory_format:_?", import_type_as, 0 },
	{ "_to_copy", "self:T dtype:i? layout:_? device:_? pin_memory:_? non_blocking:_? memory_format:_?", import_to, 1 },
	{ "type_as", "self:T other:T", import_type_as, 0 },
	{ "cpu", "self:T", import_to, 0 },
	{ "float", "self:T", import_cast, 6 },
	{ "double", "self:T", import_cast, 7 },
	{ "half", "self:T", import_cast, 5 },
	{ "bfloat16", "self:T", import_cast, 15 },
	{ "long", "self:T", import_cast, 4 },
	{ "int", "self:T", import_cast, 3 },
	{ "short", "self:T", import_cast, 2 },
	{ "char", "self:T", import_cast, 1 },
	{ "byte", "self:T", import_cast, 0 },
	{ NULL, NULL, NULL, 0 },
};
