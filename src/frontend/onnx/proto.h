/*
 * The ONNX messages as C structs and their field tables, both made from onnx/proto.def. Absent texts are
 * NULL; onnx_text() makes them "".
 */
#ifndef FRONTEND_ONNX_PROTO_H
#define FRONTEND_ONNX_PROTO_H

#include "frontend/frontend.h"
#include "base/wire.h"

typedef struct OnnxGraph OnnxGraph;   /* which the attribute of a node may hold */
typedef struct OnnxTypeOf OnnxTypeOf; /* a type within a type */

#include "base/wire_struct.def"
#include "frontend/onnx/proto.def"
#include "base/wire_number.def"
#include "frontend/onnx/proto.def"
#include "base/wire_end.def"

/* AttributeProto.AttributeType */
enum {
	ONNX_FLOAT = 1,
	ONNX_INT,
	ONNX_STRING,
	ONNX_TENSOR,
	ONNX_GRAPH,
	ONNX_FLOATS,
	ONNX_INTS,
	ONNX_STRINGS,
	ONNX_TENSORS,
	ONNX_GRAPHS
};

enum { ONNX_FLOAT8 = 17 }; /* the first of four types of 8 bits, which are codes of u8 in the Dag */
bool onnx_type_is_float8(int64_t code);
/* TensorProto.DataType -> DType; false for what dlc does not have. */
bool onnx_type_from(int64_t code, DType *out);
/* 0 if ONNX has no such type. */
int onnx_type_to(DType t);
/* "FLOAT8E4M3FN"; "an unknown type" for an unknown code. */
const char *onnx_type_name(int64_t code);
/* The code of "FLOAT", as Cast of opset 1 writes it; 0 for an unknown name. */
int onnx_type_code(const char *name);

static inline const char *onnx_text(const char *s)
{
	return s != NULL ? s : "";
}

/* The place of a model's external data: its folder, held open, and the files mapped so far. */
typedef struct OnnxFiles {
	const char *folder; /* NULL: there is none (a tensor of its own) */
	VEC(struct OnnxFile {
		const char *location;
		Bytes map;
	})
	file;
} OnnxFiles;

/*
 * Type, shape and little-endian data of a tensor: borrowed from the file if it is aligned there,
 * else copied. `what` names it in messages ("initializer 'w'").
 */
bool onnx_tensor_read(Arena *a, const OnnxTensor *t, OnnxFiles *files, const char *what, BindArg *out, Err *err);

#endif
