/*
 * ONNX's TensorProto in protobuf's wire format, the fields that hold dense numbers:
 *     1 dims  2 data_type  4 float_data  5 int32_data  7 int64_data  8 name  9 raw_data
 *     10 double_data  11 uint64_data
 * Unknown fields are skipped, as protobuf asks; strings and external data are refused by name.
 */
#include <stdlib.h>
#include <string.h>

#include "run/array.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"

/* TensorProto.DataType */
static const DlcDataType TYPE[] = {
	[1] = { 2, 32, 1 },
	[2] = { 1, 8, 1 },
	[3] = { 0, 8, 1 },
	[4] = { 1, 16, 1 },
	[5] = { 0, 16, 1 },
	[6] = { 0, 32, 1 },
	[7] = { 0, 64, 1 },
	[9] = { 6, 8, 1 },
	[10] = { 2, 16, 1 },
	[11] = { 2, 64, 1 },
	[12] = { 1, 32, 1 },
	[13] = { 1, 64, 1 },
	[16] = { 4, 16, 1 },
};
enum { NTYPE = sizeof TYPE / sizeof *TYPE };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
enum {
	F_DIMS = 1,
	F_TYPE = 2,
	F_FLOAT = 4,
	F_INT32 = 5,
	F_STRING = 6,
	F_INT64 = 7,
	F_NAME = 8,
	F_RAW = 9,
	F_DOUBLE = 10,
	F_UINT64 = 11,
	F_EXTERNAL = 13
};

typedef struct Wire {
	const unsigned char *at, *end;
} Wire;

typedef struct Field {
	uint32_t number, type;
	uint64_t value; /* VARINT, FIXED64, FIXED32 */
	Wire bytes;     /* BYTES */
} Field;

static bool get_varint(Wire *w, uint64_t *out)
{
	uint64_t v = 0;
	for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
		unsigned char b = *w->at++;
		v |= (uint64_t)(b & 127) << shift;
		if (b < 128) {
			*out = v;
			return true;
		}
	}
	return false;
}

static bool get_fixed(Wire *w, size_t n, uint64_t *out)
{
	if ((size_t)(w->end - w->at) < n)
		return false;
	*out = 0;
	memcpy(out, w->at, n);
	w->at += n;
	return true;
}

static bool get_field(Wire *w, Field *f)
{
	uint64_t key, n;
	if (!get_varint(w, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX)
		return false;
	*f = (Field){ .number = (uint32_t)(key >> 3), .type = key & 7 };
	switch (f->type) {
	case VARINT: return get_varint(w, &f->value);
	case FIXED64: return get_fixed(w, 8, &f->value);
	case FIXED32: return get_fixed(w, 4, &f->value);
	case BYTES:
		if (!get_varint(w, &n) || n > (uint64_t)(w->end - w->at))
			return false;
		f->bytes = (Wire){ w->at, w->at + n };
		w->at += n;
		return true;
	default: return false;
	}
}

/* What the walk over the fields gathers: typed data element by element into `value`. */
typedef struct Parse {
	Array *a;
	uint64_t type;
	Wire raw;
	bool has_raw;
	uint64_t *value; /* raw bits of typed elements */
	size_t nvalue, cap;
	uint32_t typed; /* the field they came from */
} Parse;

static bool add_dim(Parse *p, uint64_t v)
{
	if (p->a->ndim == ARRAY_RANK || v > INT64_MAX)
		return false;
	p->a->shape[p->a->ndim++] = (int64_t)v;
	return true;
}

/* cap is bounded by the bytes of the field: no element takes less than one. */
static bool add_value(Parse *p, uint64_t v)
{
	if (p->nvalue == p->cap) {
		size_t cap = p->cap > 0 ? 2 * p->cap : 64;
		uint64_t *more = realloc(p->value, cap * sizeof *more);
		if (more == NULL)
			return false;
		p->value = more;
		p->cap = cap;
	}
	p->value[p->nvalue++] = v;
	return true;
}

/* A repeated number, packed or alone. */
static bool each_value(Parse *p, const Field *f, uint32_t type, bool (*add)(Parse *, uint64_t))
{
	if (f->type == type)
		return add(p, f->value);
	if (f->type != BYTES)
		return false;
	for (Wire w = f->bytes; w.at < w.end;) {
		uint64_t v;
		bool ok = type == VARINT ? get_varint(&w, &v)
		                         : get_fixed(&w, type == FIXED64 ? 8 : 4, &v);
		if (!ok || !add(p, v))
			return false;
	}
	return true;
}

static bool typed_data(Parse *p, const Field *f, uint32_t type)
{
	if (p->typed != 0 && p->typed != f->number)
		return false;
	p->typed = f->number;
	return each_value(p, f, type, add_value);
}

static bool set_name(Array *a, const Field *f)
{
	size_t n = (size_t)(f->bytes.end - f->bytes.at);
	if (f->type != BYTES)
		return false;
	n = n < sizeof a->name ? n : sizeof a->name - 1;
	memcpy(a->name, f->bytes.at, n);
	a->name[n] = 0;
	return true;
}

static bool take_field(Parse *p, const Field *f)
{
	switch (f->number) {
	case F_DIMS: return each_value(p, f, VARINT, add_dim);
	case F_TYPE: p->type = f->value; return f->type == VARINT;
	case F_FLOAT: return typed_data(p, f, FIXED32);
	case F_DOUBLE: return typed_data(p, f, FIXED64);
	case F_INT32:
	case F_INT64:
	case F_UINT64: return typed_data(p, f, VARINT);
	case F_NAME: return f->type != BYTES || set_name(p->a, f);
	case F_RAW:
		p->raw = f->bytes;
		p->has_raw = true;
		return f->type == BYTES;
	default: return true;
	}
}

/* Whether the typed field is the one that ONNX prescribes for the type. */
static bool field_suits(uint32_t field, DlcDataType t)
{
	if (t.code == 2 && t.bits >= 32)
		return field == (t.bits == 32 ? F_FLOAT : F_DOUBLE);
	if (t.code == 1 && t.bits >= 32)
		return field == F_UINT64;
	return field == (t.bits == 64 ? F_INT64 : F_INT32);
}

/* The elements' low bytes, side by side, over the values themselves: none moves to the right. */
static void pack_values(Parse *p)
{
	size_t width = p->a->dtype.bits / 8;
	unsigned char *to = (unsigned char *)p->value;
	for (size_t i = 0; i < p->nvalue; i++)
		memmove(to + i * width, &p->value[i], width);
}

static DlcStatus set_data(Parse *p, DlcError *err)
{
	Array *a = p->a;
	DlcTensor t = array_tensor(a);
	char text[TENSOR_TEXT];
	a->bytes = tensor_bytes(&t);
	size_t there =
		p->has_raw ? (size_t)(p->raw.end - p->raw.at) : p->nvalue * a->dtype.bits / 8;
	if (a->bytes < 0 || (uint64_t)a->bytes != there ||
		(p->typed != 0 && (p->has_raw || !field_suits(p->typed, a->dtype))))
		return runtime_fail(err, DLC_BAD_FILE,
			"a tensor whose data does not match its type and shape, %s",
			tensor_print(&t, text));
	if (!p->has_raw) {
		pack_values(p);
		a->owned = p->value;
	}
	a->data = p->has_raw ? p->raw.at : a->owned;
	return DLC_OK;
}

DlcStatus tensor_pb_parse(const unsigned char *bytes, size_t size, Array *out, DlcError *err)
{
	*out = (Array){ .ndim = 0 };
	Parse p = { .a = out };
	Wire w = { bytes, bytes + size };
	DlcStatus s = DLC_OK;
	while (w.at < w.end && s == DLC_OK) {
		Field f;
		if (!get_field(&w, &f) || !take_field(&p, &f))
			s = runtime_fail(err, DLC_BAD_FILE,
				"not an ONNX tensor, or damaged, at byte %zu",
				(size_t)(w.at - bytes));
		else if (f.number == F_STRING || f.number == F_EXTERNAL)
			s = runtime_fail(err, DLC_BAD_FILE,
				"a tensor of %s, which dlc-run does not read",
				f.number == F_STRING ? "strings" : "data kept in another file");
	}
	if (s == DLC_OK &&
		(p.type >= NTYPE || !element_known(TYPE[p.type]) || TYPE[p.type].bits == 0))
		s = runtime_fail(err, DLC_BAD_FILE,
			"an ONNX tensor of type %llu, which dlc does not have",
			(unsigned long long)p.type);
	if (s == DLC_OK) {
		out->dtype = TYPE[p.type];
		s = set_data(&p, err);
	}
	if (s != DLC_OK || out->owned == NULL)
		free(p.value);
	return s;
}
