/*
 * The field tables of onnx/proto.def for the wire reader and writer, and ONNX's element types.
 */
#include "frontend/onnx/proto.h"

#include <string.h>

#include "base/wire_field.def"
#include "frontend/onnx/proto.def"
#include "base/wire_end.def"

static const struct {
	const char *name;
	bool known;
	DType type;
} types[] = {
	[0] = { "UNDEFINED", false, { 0, 0, 0 } },
	[1] = { "FLOAT", true, { DT_FLOAT, 32, 1 } },
	[2] = { "UINT8", true, { DT_UINT, 8, 1 } },
	[3] = { "INT8", true, { DT_INT, 8, 1 } },
	[4] = { "UINT16", true, { DT_UINT, 16, 1 } },
	[5] = { "INT16", true, { DT_INT, 16, 1 } },
	[6] = { "INT32", true, { DT_INT, 32, 1 } },
	[7] = { "INT64", true, { DT_INT, 64, 1 } },
	[8] = { "STRING", false, { 0, 0, 0 } },
	[9] = { "BOOL", true, { DT_BOOL, 8, 1 } },
	[10] = { "FLOAT16", true, { DT_FLOAT, 16, 1 } },
	[11] = { "DOUBLE", true, { DT_FLOAT, 64, 1 } },
	[12] = { "UINT32", true, { DT_UINT, 32, 1 } },
	[13] = { "UINT64", true, { DT_UINT, 64, 1 } },
	[14] = { "COMPLEX64", false, { 0, 0, 0 } },
	[15] = { "COMPLEX128", false, { 0, 0, 0 } },
	[16] = { "BFLOAT16", true, { DT_BFLOAT, 16, 1 } },
	[17] = { "FLOAT8E4M3FN", false, { 0, 0, 0 } },
	[18] = { "FLOAT8E4M3FNUZ", false, { 0, 0, 0 } },
	[19] = { "FLOAT8E5M2", false, { 0, 0, 0 } },
	[20] = { "FLOAT8E5M2FNUZ", false, { 0, 0, 0 } },
	[21] = { "UINT4", true, { DT_UINT, 4, 1 } },
	[22] = { "INT4", true, { DT_INT, 4, 1 } },
	[23] = { "FLOAT4E2M1", false, { 0, 0, 0 } },
	[24] = { "FLOAT8E8M0", false, { 0, 0, 0 } },
	[25] = { "UINT2", true, { DT_UINT, 2, 1 } },
	[26] = { "INT2", true, { DT_INT, 2, 1 } },
};
enum { NTYPE = sizeof types / sizeof *types };

bool onnx_type_from(int64_t code, DType *out)
{
	if (code < 0 || code >= NTYPE || !types[code].known)
		return false;
	*out = types[code].type;
	return true;
}

bool onnx_type_is_float8(int64_t code)
{
	return code >= ONNX_FLOAT8 && code < ONNX_FLOAT8 + 4;
}

int onnx_type_to(DType t)
{
	for (int k = 0; k < NTYPE; k++)
		if (types[k].known && dtype_eq(types[k].type, t))
			return k;
	return 0;
}

const char *onnx_type_name(int64_t code)
{
	return code >= 0 && code < NTYPE ? types[code].name : "an unknown type";
}

int onnx_type_code(const char *name)
{
	for (int k = 1; k < NTYPE; k++)
		if (strcmp(types[k].name, name) == 0)
			return k;
	return 0;
}
