/*
 * CoreML's messages as C structs and their field tables, made from coreml/proto.def (models), coreml/layers.def
 * (parameters of layers) and coreml/mil.def (ML programs). Absent texts are NULL; coreml_text() makes them "".
 */
#ifndef FRONTEND_COREML_PROTO_H
#define FRONTEND_COREML_PROTO_H

#include "base/wire.h"

#define MESSAGE(S, schema, rows) \
	typedef struct S { \
		uint64_t has; \
		rows \
	} S; \
	extern const WireMessage S##_message;
#define INT(S, m, k) int64_t m;
#define FLOAT(S, m, k) float m;
#define TEXT(S, m, k) const char *m;
#define BYTES(S, m, k) Bytes m;
#define INTS(S, m, k) WireInts m;
#define FLOATS(S, m, k) WireFloats m;
#define DOUBLES(S, m, k) WireDoubles m;
#define TEXTS(S, m, k) WireTexts m;
#define BLOBS(S, m, k) WireBlobs m;
#define ONE(S, m, k, T) T *m;
#define MANY(S, m, k, T) VEC(T) m;
#include "frontend/coreml/proto.def"
#include "frontend/coreml/layers.def"
#include "frontend/coreml/mil.def"
#include "frontend/coreml/proto_end.def"

/* Row numbers, for `has`: S##_##member. */
#define MESSAGE(S, schema, rows) enum { rows S##_rows };
#define INT(S, m, k) S##_##m,
#define FLOAT(S, m, k) S##_##m,
#define TEXT(S, m, k) S##_##m,
#define BYTES(S, m, k) S##_##m,
#define INTS(S, m, k) S##_##m,
#define FLOATS(S, m, k) S##_##m,
#define DOUBLES(S, m, k) S##_##m,
#define TEXTS(S, m, k) S##_##m,
#define BLOBS(S, m, k) S##_##m,
#define ONE(S, m, k, T) S##_##m,
#define MANY(S, m, k, T) S##_##m,
#include "frontend/coreml/proto.def"
#include "frontend/coreml/layers.def"
#include "frontend/coreml/mil.def"
#include "frontend/coreml/proto_end.def"

/* A kind of layer. */
typedef struct CoremlKind {
	const char *name;
	uint32_t field; /* of NeuralNetworkLayer */
	const WireMessage *message;
} CoremlKind;

/* The kind of that field; NULL: there is none. */
const CoremlKind *coreml_kind_of(uint32_t field);

static inline const char *coreml_text(const char *s)
{
	return s != NULL ? s : "";
}

#endif
