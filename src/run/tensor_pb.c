/*
 * ONNX's TensorProto in protobuf's wire format (base/wire.h) -> an Array.  TensorProto has a list for each kind of
 * number, and raw_data, which holds the elements' bytes as they lie in memory.  A tensor uses one of them.  Strings
 * and data in another file are refused by name; fields that have no row here are skipped, as protobuf asks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "run/array.h"
#include "runtime/element.h"
#include "runtime/model.h"
#include "runtime/tensor.h"

/* TensorProto.DataType */
static const DlcDataType TYPE[] = {
	[1] = { TYPE_FLOAT, 32, 1 },
	[2] = { TYPE_UINT, 8, 1 },
	[3] = { TYPE_INT, 8, 1 },
	[4] = { TYPE_UINT, 16, 1 },
	[5] = { TYPE_INT, 16, 1 },
	[6] = { TYPE_INT, 32, 1 },
	[7] = { TYPE_INT, 64, 1 },
	[9] = { TYPE_BOOL, 8, 1 },
	[10] = { TYPE_FLOAT, 16, 1 },
	[11] = { TYPE_FLOAT, 64, 1 },
	[12] = { TYPE_UINT, 32, 1 },
	[13] = { TYPE_UINT, 64, 1 },
	[16] = { TYPE_BFLOAT, 16, 1 },
	[17] = { TYPE_UINT, 8, 1 }, /* 17 to 20: floats of 8 bits, which dlc handles by their codes */
	[18] = { TYPE_UINT, 8, 1 },
	[19] = { TYPE_UINT, 8, 1 },
	[20] = { TYPE_UINT, 8, 1 },
	[21] = { TYPE_UINT, 4, 1 },
	[22] = { TYPE_INT, 4, 1 },
	[25] = { TYPE_UINT, 2, 1 },
	[26] = { TYPE_INT, 2, 1 },
};
enum { NTYPE = sizeof TYPE / sizeof *TYPE };

typedef struct Proto {
	uint64_t has;
	WireInts dims;
	int64_t type;
	Bytes name, raw;
	WireBlobs strings, external;
	WireFloats floats;
	WireDoubles doubles;
	WireInts int32s, int64s, uint64s;
} Proto;

enum { DIMS, DATA_TYPE, NAME, RAW, STRINGS, EXTERNAL, FLOATS, DOUBLES, INT32S, INT64S, UINT64S, ROWS };
static const WireField FIELD[ROWS] = {
	[DIMS] = { "dims", 1, WIRE_INT, true, offsetof(Proto, dims), NULL },
	[DATA_TYPE] = { "data_type", 2, WIRE_INT, false, offsetof(Proto, type), NULL },
	[NAME] = { "name", 8, WIRE_BYTES, false, offsetof(Proto, name), NULL },
	[RAW] = { "raw_data", 9, WIRE_BYTES, false, offsetof(Proto, raw), NULL },
	[STRINGS] = { "string_data", 6, WIRE_BYTES, true, offsetof(Proto, strings), NULL },
	[EXTERNAL] = { "external_data", 13, WIRE_BYTES, true, offsetof(Proto, external), NULL },
	[FLOATS] = { "float_data", 4, WIRE_FLOAT, true, offsetof(Proto, floats), NULL },
	[DOUBLES] = { "double_data", 10, WIRE_DOUBLE, true, offsetof(Proto, doubles), NULL },
	[INT32S] = { "int32_data", 5, WIRE_INT, true, offsetof(Proto, int32s), NULL },
	[INT64S] = { "int64_data", 7, WIRE_INT, true, offsetof(Proto, int64s), NULL },
	[UINT64S] = { "uint64_data", 11, WIRE_INT, true, offsetof(Proto, uint64s), NULL },
};
static const WireMessage MESSAGE = { "TensorProto", sizeof(Proto), FIELD, ROWS };

static bool has(const Proto *p, int row)
{
	return p->has >> row & 1;
}

/* What a list holds, and the bytes of one number in memory; of an integer its low bytes are the element. */
static const unsigned char *list_at(const Proto *p, int row, size_t *n, size_t *step)
{
	const WireInts *ints = row == INT32S ? &p->int32s : row == INT64S ? &p->int64s : &p->uint64s;
	*n = row == FLOATS ? p->floats.n : row == DOUBLES ? p->doubles.n : ints->n;
	*step = row == FLOATS ? sizeof(float) : sizeof(int64_t);
	return row == FLOATS    ? (const unsigned char *)p->floats.at
	       : row == DOUBLES ? (const unsigned char *)p->doubles.at
	                        : (const unsigned char *)ints->at;
}

static DlcStatus set_data(const Proto *p, Array *a, DlcError *err)
{
	DlcTensor t = array_tensor(a);
	char text[TENSOR_TEXT];
	size_t n, step, width = a->dtype.bits < 8 ? 1 : a->dtype.bits / 8; /* a list has packed elements in a byte */
	bool wide = a->dtype.bits == 64;
	int list = wide ? INT64S : INT32S, other = has(p, RAW); /* the list that ONNX prescribes for the type */
	if (a->dtype.code == TYPE_FLOAT && a->dtype.bits >= 32)
		list = wide ? DOUBLES : FLOATS;
	else if (a->dtype.code == TYPE_UINT && a->dtype.bits >= 32)
		list = UINT64S;
	const unsigned char *from = list_at(p, list, &n, &step);
	for (int row = FLOATS; row < ROWS; row++)
		other += row != list && has(p, row);
	a->bytes = tensor_bytes(&t);
	bool one = has(p, RAW) ? other == 1 && !has(p, list) : other == 0;
	if (!one || a->bytes < 0 || (uint64_t)a->bytes != (has(p, RAW) ? p->raw.n : n * width))
		return runtime_fail(err, DLC_BAD_FILE, "the tensor's data does not match its type and shape, %s",
			tensor_print(&t, text));
	if (has(p, RAW)) {
		a->data = p->raw.at;
		return DLC_OK;
	}
	unsigned char *to = malloc(n * width + 1);
	if (to == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for a tensor of %zu bytes", n * width);
	for (size_t i = 0; i < n; i++)
		memcpy(to + i * width, from + i * step, width);
	a->data = a->owned = to;
	return DLC_OK;
}

static DlcStatus take(const Proto *p, Array *a, DlcError *err)
{
	if (has(p, STRINGS) || has(p, EXTERNAL))
		return runtime_fail(err, DLC_BAD_FILE, "the tensor has %s, which dlc-run does not read",
			has(p, STRINGS) ? "strings" : "its data in another file");
	if (p->type < 0 || p->type >= NTYPE || TYPE[p->type].bits == 0 || !element_known(TYPE[p->type]))
		return runtime_fail(err, DLC_BAD_FILE, "the ONNX tensor has element type %lld, which dlc does not have",
			(long long)p->type);
	a->dtype = TYPE[p->type];
	size_t n = p->name.n < sizeof a->name ? p->name.n : sizeof a->name - 1;
	if (n > 0)
		memcpy(a->name, p->name.at, n);
	if (p->dims.n > ARRAY_RANK)
		return runtime_fail(err, DLC_BAD_FILE, "the ONNX tensor has %zu dimensions; dlc-run reads at most %d",
			p->dims.n, ARRAY_RANK);
	for (size_t i = 0; i < p->dims.n; i++) {
		if (p->dims.at[i] < 0)
			return runtime_fail(err, DLC_BAD_FILE, "dimension %zu of the ONNX tensor is negative", i);
		a->shape[a->ndim++] = p->dims.at[i];
	}
	return set_data(p, a, err);
}

DlcStatus tensor_pb_parse(const unsigned char *bytes, size_t size, Array *out, DlcError *err)
{
	Arena *a = arena_new();
	Err why = { 0 };
	Proto p = { 0 };
	*out = (Array){ .ndim = 0 };
	DlcStatus s = wire_read(a, &MESSAGE, (Bytes){ bytes, size }, &p, &why)
		? take(&p, out, err)
		: runtime_fail(err, why.code == ERR_MEMORY ? DLC_NO_MEMORY : DLC_BAD_FILE, "is no ONNX tensor: %s",
				why.text);
	arena_free(a);
	return s;
}
