/* The field tables of coreml/proto.def and coreml/layers.def for the reader of protobuf, and the kinds of layers. */
#include "frontend/coreml/proto.h"

#include <stddef.h>

#define ROW(S, m, k, kind, many, message) { #m, k, kind, many, offsetof(S, m), message },
#define INT(S, m, k) ROW(S, m, k, WIRE_INT, false, NULL)
#define FLOAT(S, m, k) ROW(S, m, k, WIRE_FLOAT, false, NULL)
#define TEXT(S, m, k) ROW(S, m, k, WIRE_TEXT, false, NULL)
#define BYTES(S, m, k) ROW(S, m, k, WIRE_BYTES, false, NULL)
#define INTS(S, m, k) ROW(S, m, k, WIRE_INT, true, NULL)
#define FLOATS(S, m, k) ROW(S, m, k, WIRE_FLOAT, true, NULL)
#define DOUBLES(S, m, k) ROW(S, m, k, WIRE_DOUBLE, true, NULL)
#define TEXTS(S, m, k) ROW(S, m, k, WIRE_TEXT, true, NULL)
#define BLOBS(S, m, k) ROW(S, m, k, WIRE_BYTES, true, NULL)
#define ONE(S, m, k, T) ROW(S, m, k, WIRE_MSG, false, &T##_message)
#define MANY(S, m, k, T) ROW(S, m, k, WIRE_MSG, true, &T##_message)
#define MESSAGE(S, schema, rows) \
	static const WireField S##_field[] = { rows }; \
	const WireMessage S##_message = { schema, sizeof(S), S##_field, S##_rows };
#include "frontend/coreml/proto.def"
#include "frontend/coreml/layers.def"
#include "frontend/coreml/mil.def"
#include "frontend/coreml/proto_end.def"

const CoremlKind *coreml_kind_of(uint32_t field)
{
#define LAYER(name, field, T) { #name, field, &T##_message },
	static const CoremlKind kinds[] = {
#include "frontend/coreml/kinds.def"
	};
#undef LAYER
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (kinds[k].field == field)
			return &kinds[k];
	return NULL;
}
