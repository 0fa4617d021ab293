/*
 * Turns a TensorProto into type, shape and little-endian bytes. Its data are in raw_data, in one of the
 * typed lists, or in another file of the model's folder. Each size is compared with the dimensions before it
 * is used. External files lie in the model's folder or below it.
 */
#include "frontend/neighbour.h"
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/proto.h"

#include <stdint.h>
#include <string.h>

static bool find_file(Arena *a, OnnxFiles *files, const char *location, const char *what, Bytes *out, Err *err)
{
	for (size_t k = 0; k < files->file.n; k++)
		if (strcmp(files->file.at[k].location, location) == 0) {
			*out = files->file.at[k].map;
			return true;
		}
	Err why = { 0 };
	if (!neighbour_read_below(a, files->folder, location, out, &why))
		return fail(err, why.code, NULL, "%s: its data file '%s' %s", what, location, why.text);
	struct OnnxFile f = { location, *out };
	vec_push(a, &files->file, f);
	return true;
}

/* The bytes that external_data names; a missing length means: up to the end. */
static bool read_external(
	Arena *a, const OnnxTensor *t, OnnxFiles *files, const char *what, int64_t need, Bytes *out, Err *err)
{
	const char *location = "";
	int64_t offset = 0, length = -1;
	for (size_t k = 0; k < t->external_data.n; k++) {
		const char *key = onnx_text(t->external_data.at[k].key);
		const char *value = onnx_text(t->external_data.at[k].value);
		int64_t *number = strcmp(key, "offset") == 0 ? &offset : strcmp(key, "length") == 0 ? &length : NULL;
		if (strcmp(key, "location") == 0)
			location = value;
		else if (number != NULL && !text_to_int(value, 0, INT64_MAX, number))
			return fail(err, ERR_INPUT, NULL, "%s: the %s '%s' of its external data is not a number", what, key, value);
	}
	if (files == NULL || files->folder == NULL)
		return fail(err, ERR_INPUT, NULL,
			"%s: its data are in another file, '%s', which cannot be read "
			"from here",
			what, location);
	if (!neighbour_is_plain(location))
		return fail(err, ERR_INPUT, NULL,
			"%s: its data file '%s' is not a path inside the model's "
			"folder",
			what, location);
	Bytes file;
	if (!find_file(a, files, location, what, &file, err))
		return false;
	if (length < 0)
		length = (int64_t)file.n > offset ? (int64_t)file.n - offset : 0;
	if (offset > (int64_t)file.n || length > (int64_t)file.n - offset)
		return fail(err, ERR_INPUT, NULL,
			"%s: its data, %lld bytes from %lld on, lie outside of '%s', "
			"which has %zu",
			what, (long long)length, (long long)offset, location, file.n);
	if (length != need)
		return fail(err, ERR_INPUT, NULL,
			"%s: its external data have %lld bytes where its shape needs "
			"%lld",
			what, (long long)length, (long long)need);
	*out = (Bytes){ file.at != NULL ? file.at + offset : NULL, (size_t)length };
	return true;
}

static bool bad_count(const char *what, size_t have, int64_t need, Err *err)
{
	return fail(err, ERR_INPUT, NULL, "%s has %zu numbers where its shape needs %lld", what, have, (long long)need);
}

/* Copies `n` elements from float_data or one of its siblings into `bytes` bytes. */
static bool read_typed(
	Arena *a, const OnnxTensor *t, DType type, const char *what, int64_t n, int64_t bytes, const void **out, Err *err)
{
	if (type.kind == DT_FLOAT && type.bits >= 32) {
		const void *at = type.bits == 32 ? (const void *)t->float_data.at : t->double_data.at;
		size_t have = type.bits == 32 ? t->float_data.n : t->double_data.n;
		*out = at;
		return have == (size_t)n || bad_count(what, have, n, err);
	}
	bool i64 = type.kind == DT_INT && type.bits == 64, u64 = type.kind == DT_UINT && type.bits >= 32;
	const WireInts *list = i64 ? &t->int64_data : u64 ? &t->uint64_data : &t->int32_data;
	size_t size = type.bits < 8 ? 1 : type.bits / 8;
	size_t need = (size_t)bytes / size; /* packed nibbles come as one byte for each number */
	if (list->n != need)
		return bad_count(what, list->n, (int64_t)need, err);
	unsigned char *to = arena_alloc(a, (size_t)bytes);
	for (size_t k = 0; k < need; k++)
		memcpy(to + k * size, &list->at[k], size); /* little-endian: the low bytes */
	*out = to;
	return true;
}

/* Later code expects the byte 0 or 1 for a bool; some writers store others. */
static const void *tidy_bools(Arena *a, const unsigned char *p, size_t n)
{
	size_t k = 0;
	while (k < n && p[k] <= 1)
		k++;
	if (k == n)
		return p;
	unsigned char *to = arena_alloc(a, n);
	for (k = 0; k < n; k++)
		to[k] = p[k] != 0;
	return to;
}

bool onnx_tensor_read(Arena *a, const OnnxTensor *t, OnnxFiles *files, const char *what, BindArg *out, Err *err)
{
	*out = (BindArg){ .name = onnx_text(t->name) };
	if (!onnx_type_from(t->data_type, &out->type))
		return fail(err, ERR_UNSUPPORTED, NULL, "%s has element type %s, which dlc does not have", what,
			onnx_type_name(t->data_type));
	if (t->dims.n > DAG_MAX_RANK)
		return fail(
			err, ERR_UNSUPPORTED, NULL, "%s has %zu dimensions; dlc takes at most %d", what, t->dims.n, DAG_MAX_RANK);
	for (size_t k = 0; k < t->dims.n; k++)
		if (t->dims.at[k] < 0)
			return fail(err, ERR_INPUT, NULL, "%s has a dimension of %lld", what, (long long)t->dims.at[k]);
	out->shape = shape_of((int)t->dims.n, t->dims.at);
	int64_t n = shape_elements(out->shape);
	int64_t bytes = n < 0 ? -1 : dtype_bytes(out->type, n);
	if (bytes < 0)
		return fail(err, ERR_MEMORY, NULL, "%s has a shape whose size overflows", what);
	bool external = t->data_location == 1;
	size_t typed =
		t->float_data.n + t->int32_data.n + t->int64_data.n + t->double_data.n + t->uint64_data.n + t->string_data.n;
	if ((external || t->raw_data.n > 0) + (typed > 0) > 1 || (external && t->raw_data.n > 0))
		return fail(err, ERR_INPUT, NULL, "%s has its data twice", what);
	Bytes raw = t->raw_data;
	if (external && !read_external(a, t, files, what, bytes, &raw, err))
		return false;
	if (typed > 0) {
		if (!read_typed(a, t, out->type, what, n, bytes, &out->data, err))
			return false;
	} else if (raw.n != (size_t)bytes) {
		return fail(
			err, ERR_INPUT, NULL, "%s has %zu bytes of data where its shape needs %lld", what, raw.n, (long long)bytes);
	} else {
		size_t size = out->type.bits < 8 ? 1 : out->type.bits / 8;
		bool aligned = (uintptr_t)raw.at % size == 0 && raw.at != NULL;
		out->data = aligned ? raw.at : arena_alloc_aligned(a, raw.n, 64);
		if (!aligned && raw.at != NULL)
			memcpy((void *)(uintptr_t)out->data, raw.at, raw.n);
	}
	if (out->type.kind == DT_BOOL)
		out->data = tidy_bools(a, out->data, (size_t)bytes);
	if (out->data == NULL)
		out->data = ""; /* no elements, but known */
	return true;
}

bool onnx_read_tensor(Arena *a, Bytes file, BindArg *out, Err *err)
{
	OnnxTensor *t = arena_new_of(a, OnnxTensor);
	return wire_read(a, &OnnxTensor_message, file, t, err) && onnx_tensor_read(a, t, NULL, "the tensor", out, err);
}
