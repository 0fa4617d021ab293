/*
 * TensorFlow's messages as C structs and their field tables, both made from tensorflow/proto.def. Absent texts are
 * NULL; tf_text() makes them "".
 */
#ifndef FRONTEND_TENSORFLOW_PROTO_H
#define FRONTEND_TENSORFLOW_PROTO_H

#include "base/wire.h"
#include "frontend/node/definition.h"

#include "base/wire_struct.def"
#include "frontend/tensorflow/proto.def"
#include "base/wire_number.def"
#include "frontend/tensorflow/proto.def"
#include "base/wire_end.def"

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
