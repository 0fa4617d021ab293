/* An ONNX model as the nodes of frontend/node. */
#ifndef FRONTEND_ONNX_GRAPH_H
#define FRONTEND_ONNX_GRAPH_H

#include "frontend/node/definition.h"
#include "frontend/onnx/proto.h"
#include "op/names.h"

/* What the nodes of a model come from: NodeModel.source. */
typedef struct OnnxSource {
	const OnnxModel *model;
	OnnxFiles *files;
	Names *functions; /* of the model, by domain, name and overload -> function */
	NodeFunction *function;
} OnnxSource;

/* A shallow copy: texts, lists and tensors stay where they are. */
const NodeGraph *onnx_graph(Arena *a, const OnnxGraph *g);
/* The model's functions; `version` is the model's, for those that name none. */
void onnx_functions(Arena *a, OnnxSource *s, int version);
const NodeFunction *onnx_find_function(const Import *im, const NodeDef *n);
/* The version of the default domain; `otherwise` if it is not named. */
int64_t onnx_opset_of(const OnnxOpset *at, size_t n, int64_t otherwise);

#endif
