/*
 * The field tables of tensorflow/proto.def for the wire reader, and TensorFlow's element types.
 */
#include "frontend/tensorflow/proto.h"

#include <string.h>

/* The words of DataType in the text format. */
#define WORD(name, number) { name, number, WIRE_INT, false, 0, NULL },
static const WireField type_field[] = {
	/* clang-format off */
	WORD("DT_INVALID", 0) WORD("DT_FLOAT", 1) WORD("DT_DOUBLE", 2) WORD("DT_INT32", 3) WORD("DT_UINT8", 4)
	WORD("DT_INT16", 5) WORD("DT_INT8", 6) WORD("DT_STRING", 7) WORD("DT_COMPLEX64", 8) WORD("DT_INT64", 9)
	WORD("DT_BOOL", 10) WORD("DT_QINT8", 11) WORD("DT_QUINT8", 12) WORD("DT_QINT32", 13) WORD("DT_BFLOAT16", 14)
	WORD("DT_QINT16", 15) WORD("DT_QUINT16", 16) WORD("DT_UINT16", 17) WORD("DT_COMPLEX128", 18) WORD("DT_HALF", 19)
	WORD("DT_RESOURCE", 20) WORD("DT_VARIANT", 21) WORD("DT_UINT32", 22) WORD("DT_UINT64", 23)
	WORD("DT_FLOAT_REF", 101) WORD("DT_DOUBLE_REF", 102) WORD("DT_INT32_REF", 103) WORD("DT_UINT8_REF", 104)
	WORD("DT_INT16_REF", 105) WORD("DT_INT8_REF", 106) WORD("DT_STRING_REF", 107) WORD("DT_COMPLEX64_REF", 108)
	WORD("DT_INT64_REF", 109) WORD("DT_BOOL_REF", 110) WORD("DT_QINT8_REF", 111) WORD("DT_QUINT8_REF", 112)
	WORD("DT_QINT32_REF", 113) WORD("DT_BFLOAT16_REF", 114) WORD("DT_QINT16_REF", 115) WORD("DT_QUINT16_REF", 116)
	WORD("DT_UINT16_REF", 117) WORD("DT_COMPLEX128_REF", 118) WORD("DT_HALF_REF", 119) WORD("DT_RESOURCE_REF", 120)
	WORD("DT_VARIANT_REF", 121) WORD("DT_UINT32_REF", 122) WORD("DT_UINT64_REF", 123)
	/* clang-format on */
};
static const WireMessage type_words = { "DataType", 0, type_field, sizeof type_field / sizeof *type_field };

#include "base/wire_field.def"
#include "frontend/tensorflow/proto.def"
#include "base/wire_end.def"

static const struct {
	const char *name;
	bool known;
	DType type;
} types[] = {
	[0] = { "DT_INVALID", false, { 0, 0, 0 } },
	[1] = { "DT_FLOAT", true, { DT_FLOAT, 32, 1 } },
	[2] = { "DT_DOUBLE", true, { DT_FLOAT, 64, 1 } },
	[3] = { "DT_INT32", true, { DT_INT, 32, 1 } },
	[4] = { "DT_UINT8", true, { DT_UINT, 8, 1 } },
	[5] = { "DT_INT16", true, { DT_INT, 16, 1 } },
	[6] = { "DT_INT8", true, { DT_INT, 8, 1 } },
	[7] = { "DT_STRING", false, { 0, 0, 0 } },
	[8] = { "DT_COMPLEX64", false, { 0, 0, 0 } },
	[9] = { "DT_INT64", true, { DT_INT, 64, 1 } },
	[10] = { "DT_BOOL", true, { DT_BOOL, 8, 1 } },
	[11] = { "DT_QINT8", true, { DT_INT, 8, 1 } },
	[12] = { "DT_QUINT8", true, { DT_UINT, 8, 1 } },
	[13] = { "DT_QINT32", true, { DT_INT, 32, 1 } },
	[14] = { "DT_BFLOAT16", true, { DT_BFLOAT, 16, 1 } },
	[15] = { "DT_QINT16", true, { DT_INT, 16, 1 } },
	[16] = { "DT_QUINT16", true, { DT_UINT, 16, 1 } },
	[17] = { "DT_UINT16", true, { DT_UINT, 16, 1 } },
	[18] = { "DT_COMPLEX128", false, { 0, 0, 0 } },
	[19] = { "DT_HALF", true, { DT_FLOAT, 16, 1 } },
	[20] = { "DT_RESOURCE", false, { 0, 0, 0 } },
	[21] = { "DT_VARIANT", false, { 0, 0, 0 } },
	[22] = { "DT_UINT32", true, { DT_UINT, 32, 1 } },
	[23] = { "DT_UINT64", true, { DT_UINT, 64, 1 } },
};
enum { NTYPE = sizeof types / sizeof *types, REFERENCE = 100 };

bool tf_type_from(int64_t code, DType *out)
{
	if (code > REFERENCE)
		code -= REFERENCE;
	if (code < 0 || code >= NTYPE || !types[code].known)
		return false;
	*out = types[code].type;
	return true;
}

const char *tf_type_name(int64_t code)
{
	if (code > REFERENCE)
		code -= REFERENCE;
	return code < 0 || code >= NTYPE ? "an unknown type" : types[code].name;
}

const TfValue *tf_attr(const TfNode *n, const char *key)
{
	for (size_t k = 0; k < n->attr.n; k++)
		if (strcmp(tf_text(n->attr.at[k].key), key) == 0)
			return n->attr.at[k].value;
	return NULL;
}
