/*
 * Turns a TensorProto into type, shape and little-endian bytes. Its data are in tensor_content or in one of the typed
 * lists. A list may be shorter than the shape: its last number then fills the rest. Each size is compared with the
 * dimensions before it is used.
 */
#include "frontend/tensorflow/proto.h"

#include "op/element.h"

#include <string.h>

/* Bytes that a short list may become: these, or so many times its own. */
enum { MOST_FILLED = 1 << 16, MOST_TIMES = 1 << 10 };

bool tf_shape_read(const TfShape *s, const char *what, Shape *out, Err *err)
{
	size_t n = s != NULL ? s->dim.n : 0;
	*out = (Shape){ 0 };
	if (n > DAG_MAX_RANK)
		return fail(err, ERR_UNSUPPORTED, NULL, "%s has %zu dimensions; dlc takes at most %d", what, n, DAG_MAX_RANK);
	if (s != NULL && s->unknown_rank)
		return fail(err, ERR_INPUT, NULL, "%s has a shape of unknown rank", what);
	out->rank = (int)n;
	for (size_t k = 0; k < n; k++) {
		out->dim[k] = s->dim.at[k].size;
		if (out->dim[k] < 0)
			return fail(err, ERR_INPUT, NULL, "%s has a dimension of %lld", what, (long long)out->dim[k]);
	}
	return true;
}

/* Number k of the typed list that a type is stored in; *n: how many there are. */
static void list_number(const TfTensor *t, DType type, size_t k, size_t *n, void *to)
{
	bool wide = type.kind == DT_UINT && type.bits >= 32,
		 half = type.kind == DT_BFLOAT || (type.kind == DT_FLOAT && type.bits == 16);
	const WireInts *list = half                   ? &t->half_val
	                       : type.kind == DT_BOOL ? &t->bool_val
	                       : wide                 ? (type.bits == 32 ? &t->uint32_val : &t->uint64_val)
	                       : type.bits == 64      ? &t->int64_val
	                                              : &t->int_val;
	if (type.kind == DT_FLOAT && type.bits >= 32) {
		bool single = type.bits == 32;
		*n = single ? t->float_val.n : t->double_val.n;
		if (k < *n)
			memcpy(to, single ? (const void *)&t->float_val.at[k] : &t->double_val.at[k], single ? 4 : 8);
		return;
	}
	*n = list->n;
	if (k >= *n)
		return;
	int64_t x = type.kind == DT_BOOL ? list->at[k] != 0 : list->at[k];
	memcpy(to, &x, type.bits / 8); /* little-endian: the low bytes */
}

static bool read_list(Arena *a, const TfTensor *t, const char *what, NodeTensor *out, Err *err)
{
	int64_t many = shape_elements(out->shape), bytes = dtype_bytes(out->type, many);
	size_t size = out->type.bits / 8, n = 0;
	unsigned char last[8] = { 0 };
	list_number(t, out->type, 0, &n, last);
	if (n > (size_t)many)
		return fail(err, ERR_INPUT, NULL, "%s has %zu numbers where its shape needs %lld", what, n, (long long)many);
	if (bytes > MOST_FILLED && (size_t)bytes / MOST_TIMES > n * size)
		return fail(err, ERR_MEMORY, NULL, "%s would repeat a number %lld times", what, (long long)many);
	unsigned char *to = arena_alloc_aligned(a, (size_t)bytes + 1, 64);
	for (size_t k = 0; k < n; k++) {
		list_number(t, out->type, k, &n, last);
		memcpy(to + k * size, last, size);
	}
	for (size_t k = n; n > 0 && k < (size_t)many; k++) /* without a list, all are 0 */
		memcpy(to + k * size, last, size);
	out->data = to;
	return true;
}

bool tf_tensor_read(Arena *a, const TfTensor *t, const char *what, NodeTensor *out, Err *err)
{
	*out = (NodeTensor){ .name = "" };
	if (!tf_type_from(t->dtype, &out->type))
		return fail(err, ERR_UNSUPPORTED, NULL, "%s has element type %s, which dlc does not have", what,
			tf_type_name(t->dtype));
	if (!tf_shape_read(t->tensor_shape, what, &out->shape, err))
		return false;
	int64_t many = shape_elements(out->shape), bytes = many < 0 ? -1 : dtype_bytes(out->type, many);
	if (bytes < 0)
		return fail(err, ERR_MEMORY, NULL, "%s has a shape whose size overflows", what);
	Bytes raw = t->tensor_content;
	if (raw.n == 0)
		return read_list(a, t, what, out, err);
	if (raw.n != (size_t)bytes)
		return fail(
			err, ERR_INPUT, NULL, "%s has %zu bytes of data where its shape needs %lld", what, raw.n, (long long)bytes);
	bool copied = (uintptr_t)raw.at % (out->type.bits / 8) != 0 || out->type.kind == DT_BOOL;
	unsigned char *to = copied ? arena_alloc_aligned(a, raw.n, 64) : NULL;
	for (size_t k = 0; copied && k < raw.n; k++) /* later code expects the byte 0 or 1 for a bool */
		to[k] = out->type.kind == DT_BOOL ? raw.at[k] != 0 : raw.at[k];
	out->data = copied ? to : raw.at;
	return true;
}
