/*
 * TensorFlow's messages as C structs and their field tables, both made from tensorflow/proto.def. Absent texts are
 * NULL; tf_text() makes them "".
 */
#ifndef FRONTEND_TENSORFLOW_PROTO_H
#define FRONTEND_TENSORFLOW_PROTO_H

#include "base/wire.h"
#include "frontend/node/definition.h"

/* FIXED: a fixed32 has the wire type of a float, so it is read as one and its bits are the number. */
#define MESSAGE(S, schema, rows) \
	typedef struct S { \
		uint64_t has; \
		rows \
	} S; \
	extern const WireMessage S##_message;
#define INT(S, m, k) int64_t m;
#define TYPE(S, m, k) int64_t m;
#define FLOAT(S, m, k) float m;
#define FIXED(S, m, k) float m;
#define TEXT(S, m, k) const char *m;
#define BYTES(S, m, k) Bytes m;
#define INTS(S, m, k) WireInts m;
#define TYPES(S, m, k) WireInts m;
#define FLOATS(S, m, k) WireFloats m;
#define DOUBLES(S, m, k) WireDoubles m;
#define TEXTS(S, m, k) WireTexts m;
#define BLOBS(S, m, k) WireBlobs m;
#define ONE(S, m, k, T) T *m;
#define MANY(S, m, k, T) VEC(T) m;
#include "frontend/tensorflow/proto.def"
#include "frontend/tensorflow/proto_end.def"

/* Row numbers, for `has`: S##_##member. */
#define MESSAGE(S, schema, rows) enum { rows S##_rows };
#define INT(S, m, k) S##_##m,
#define TYPE(S, m, k) S##_##m,
#define FLOAT(S, m, k) S##_##m,
#define FIXED(S, m, k) S##_##m,
#define TEXT(S, m, k) S##_##m,
#define BYTES(S, m, k) S##_##m,
#define INTS(S, m, k) S##_##m,
#define TYPES(S, m, k) S##_##m,
#define FLOATS(S, m, k) S##_##m,
#define DOUBLES(S, m, k) S##_##m,
#define TEXTS(S, m, k) S##_##m,
#define BLOBS(S, m, k) S##_##m,
#define ONE(S, m, k, T) S##_##m,
#define MANY(S, m, k, T) S##_##m,
#include "frontend/tensorflow/proto.def"
#include "frontend/tensorflow/proto_end.def"

enum { TF_STRING = 7, TF_RESOURCE = 20, TF_VARIANT = 21 };
/* DataType -> DType; false for what dlc does not have. A type of a reference counts as the type. */
bool tf_type_from(int64_t code, DType *out);
/* "DT_STRING"; "an unknown type" for an unknown code. */
const char *tf_type_name(int64_t code);

static inline const char *tf_text(const char *s)
{
	return s != NULL ? s : "";
}

/* The value of an attribute; NULL: the node has none of that name. */
const TfValue *tf_attr(const TfNode *n, const char *key);

/*
 * Type, shape and data of a constant; data are borrowed from the file if they are aligned there, else copied. `what`
 * names it in messages. A list that is shorter than the shape goes on with its last number.
 */
bool tf_tensor_read(Arena *a, const TfTensor *t, const char *what, NodeTensor *out, Err *err);
/* The dimensions of a declared shape, all known. */
bool tf_shape_read(const TfShape *s, const char *what, Shape *out, Err *err);

#endif
