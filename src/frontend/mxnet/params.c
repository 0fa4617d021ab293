/*
 * Reads .params: a header, records of arrays, then their names. A record is of one of four versions, which its first
 * number tells. Nothing is allocated from a size before the file has that many bytes.
 */
#include "frontend/mxnet/params.h"

#include "op/names.h"

#include <string.h>

enum { LEAST_RECORD = 4, LEAST_NAME = 8 }; /* bytes */

static const uint32_t record_v1 = 0xF993FAC8, record_v2 = 0xF993FAC9, record_v3 = 0xF993FACA;

/* The rest of the file; `bad` once it ended too early. */
typedef struct Cursor {
	const char *path;
	Bytes rest;
	bool bad;
} Cursor;

static const unsigned char *take(Cursor *c, uint64_t n)
{
	const unsigned char *at = c->rest.at;
	if (c->bad || n > c->rest.n) {
		c->bad = true;
		return NULL;
	}
	c->rest.at += n;
	c->rest.n -= n;
	return at;
}

static uint64_t take_number(Cursor *c, int bytes)
{
	const unsigned char *at = take(c, (uint64_t)bytes);
	uint64_t x = 0;
	for (int k = 0; at != NULL && k < bytes; k++)
		x |= (uint64_t)at[k] << (8 * k);
	return x;
}

DType mxnet_type(int64_t flag)
{
	static const DType types[] = { { DT_FLOAT, 32, 1 }, { DT_FLOAT, 64, 1 }, { DT_FLOAT, 16, 1 }, { DT_UINT, 8, 1 },
		{ DT_INT, 32, 1 }, { DT_INT, 8, 1 }, { DT_INT, 64, 1 }, { DT_BOOL, 8, 1 }, { DT_INT, 16, 1 },
		{ DT_UINT, 16, 1 }, { DT_UINT, 32, 1 }, { DT_UINT, 64, 1 }, { DT_BFLOAT, 16, 1 } };
	return flag >= 0 && (size_t)flag < sizeof types / sizeof *types ? types[flag] : (DType){ 0 };
}

static bool refuse(const Cursor *c, size_t k, Err *err, const char *what)
{
	return fail(err, ERR_INPUT, c->path, "array %zu of this MXNet parameter file %s", k + 1,
		c->bad ? "is cut off: the file is damaged" : what);
}

/* The dimensions of a record; *none: nothing is stored. */
static bool read_shape(Cursor *c, size_t k, NodeTensor *out, bool *none, Err *err)
{
	uint32_t version = (uint32_t)take_number(c, 4);
	bool newer = version == record_v2 || version == record_v3, oldest = !newer && version != record_v1;
	if (newer && take_number(c, 4) != 0 && !c->bad)
		return refuse(c, k, err, "is sparse; store it densely (tostype('default')) before saving");
	int32_t rank = (int32_t)(oldest ? version : (uint32_t)take_number(c, 4));
	if (c->bad)
		return refuse(c, k, err, "");
	*none = version == record_v3 ? rank == -1 : rank == 0;
	if (*none)
		return true;
	if (rank < 0 || rank > DAG_MAX_RANK)
		return refuse(
			c, k, err, "has a number of dimensions that dlc does not take: the file is damaged, or not one of MXNet");
	out->shape.rank = rank;
	for (int i = 0; i < rank; i++)
		out->shape.dim[i] = (int64_t)take_number(c, oldest ? 4 : 8);
	if (c->bad)
		return refuse(c, k, err, "");
	for (int i = 0; i < rank; i++)
		if (out->shape.dim[i] < 0)
			return refuse(c, k, err, "has a negative dimension: the file is damaged");
	return true;
}

static bool read_array(Arena *a, Cursor *c, size_t k, NodeTensor *out, Err *err)
{
	bool none = false;
	*out = (NodeTensor){ .name = "", .type = F32 };
	if (!read_shape(c, k, out, &none, err) || none)
		return none && !c->bad;
	take(c, 8); /* the device that it was on */
	out->type = mxnet_type((int64_t)take_number(c, 4));
	if (c->bad || out->type.bits == 0)
		return refuse(c, k, err, "has an element type that does not exist: the file is damaged");
	int64_t n = shape_elements(out->shape), bytes = n < 0 ? -1 : dtype_bytes(out->type, n);
	if (bytes < 0 || (uint64_t)bytes > c->rest.n) {
		c->bad = true;
		return refuse(c, k, err, "");
	}
	const unsigned char *data = take(c, (uint64_t)bytes);
	size_t size = (size_t)(out->type.bits / 8);
	out->data = bytes == 0 ? (const void *)"" : (uintptr_t)data % size == 0 ? data : arena_copy(a, data, (size_t)bytes);
	return true;
}

/* "arg:fc1_weight" -> "fc1_weight" */
static const char *plain_name(const char *name)
{
	bool prefix = strncmp(name, "arg:", 4) == 0 || strncmp(name, "aux:", 4) == 0;
	return prefix ? name + 4 : name;
}

bool mxnet_params_read(Arena *a, const char *path, Bytes file, MxnetParams *out, Err *err)
{
	Cursor c = { .path = path, .rest = file };
	uint64_t magic = take_number(&c, 8), n;
	*out = (MxnetParams){ .path = path };
	if (magic != MXNET_PARAMS_MAGIC)
		return fail(err, ERR_INPUT, path, "is not a parameter file of MXNet: it does not begin as one");
	take_number(&c, 8);
	n = take_number(&c, 8);
	if (c.bad || n > c.rest.n / LEAST_RECORD)
		return fail(err, ERR_INPUT, path, "is a damaged parameter file of MXNet: it is too short for its arrays");
	for (size_t k = 0; k < n; k++) {
		NodeTensor t;
		if (!read_array(a, &c, k, &t, err))
			return false;
		vec_push(a, &out->array, t);
	}
	uint64_t names = take_number(&c, 8);
	if (c.bad || (names != 0 && names != n) || names > c.rest.n / LEAST_NAME)
		return fail(
			err, ERR_INPUT, path, "is a damaged parameter file of MXNet: it does not name each of its arrays once");
	Names *known = names_new(a);
	for (size_t k = 0; k < names; k++) {
		uint64_t length = take_number(&c, 8);
		const unsigned char *at = take(&c, length);
		if (at == NULL || memchr(at, 0, length) != NULL)
			return fail(
				err, ERR_INPUT, path, "is a damaged parameter file of MXNet: the name of array %zu is cut off", k + 1);
		char *name = arena_alloc(a, length + 1);
		memcpy(name, at, length);
		out->array.at[k].name = plain_name(name);
		if (names_taken(known, out->array.at[k].name))
			return fail(err, ERR_INPUT, path, "has two arrays named '%.100s'", out->array.at[k].name);
		names_bind(known, out->array.at[k].name, 0);
	}
	if (c.rest.n > 0)
		return fail(err, ERR_INPUT, path, "is a damaged parameter file of MXNet: %zu bytes follow its names", c.rest.n);
	return true;
}
