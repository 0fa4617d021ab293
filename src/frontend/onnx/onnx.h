/* The ONNX front end: what its row (onnx.c) is made of. */
#ifndef FRONTEND_ONNX_ONNX_H
#define FRONTEND_ONNX_ONNX_H

#include "frontend/frontend.h"

struct NodeFormat;
extern const struct NodeFormat onnx_node_format;

/* The Dag of a serialized ModelProto; `path` is for messages and external data (import.c). */
Dag *onnx_import(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err);
/* A Dag as a serialized ModelProto of opset 17, or of the newer one that an operator needs (export.c). */
bool onnx_export(Text *out, const Dag *d, Err *err);
/* A serialized TensorProto; data is borrowed from `file` (tensor_proto.c). */
bool onnx_read_tensor(Arena *a, Bytes file, BindArg *out, Err *err);

#endif
