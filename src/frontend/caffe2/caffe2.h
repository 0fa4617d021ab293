/*
 * Caffe2: a predict_net, which computes, and an init_net, whose operators fill the weights. Both become nodes of one
 * graph (graph.c), init_net first. Shapes of inputs are in neither; a value_info.json beside them has these.
 */
#ifndef FRONTEND_CAFFE2_CAFFE2_H
#define FRONTEND_CAFFE2_CAFFE2_H

#include "base/json.h"
#include "frontend/caffe2/proto.h"
#include "frontend/node/visit.h"

typedef struct Caffe2Model {
	const Caffe2Net *init, *predict; /* init NULL: there is none */
	const Json *info;                /* value_info.json: {"data": [1, [1, 3, 224, 224]]}; NULL: there is none */
	int64_t drawn;                   /* numbers of weights so far that init_net wants at random */
	const NodeDef *last;             /* the operator that drew last */
} Caffe2Model;

/* No operator reads a blob from outside: the net makes weights. */
bool caffe2_only_fills(const Caffe2Net *net);
bool caffe2_graph(Arena *a, const Caffe2Model *m, const ModelArgs *args, NodeGraph *out, Err *err);
/* TensorProto.DataType; false: a type that dlc does not have. */
bool caffe2_type(int64_t code, DType *out);

/* ---- rows; each list ends with name NULL */

extern const NodeRow caffe2_window_rows[];
extern const NodeRow caffe2_norm_rows[];
extern const NodeRow caffe2_dense_rows[];
extern const NodeRow caffe2_math_rows[];
extern const NodeRow caffe2_binary_rows[];
extern const NodeRow caffe2_reduce_rows[];
extern const NodeRow caffe2_move_rows[];
extern const NodeRow caffe2_gather_rows[];
extern const NodeRow caffe2_fill_rows[];

/* Input k as a value, which must be there. */
int caffe2_value(Visit *v, int k);
/* The attribute order: true for "NHWC". */
bool caffe2_last(Visit *v);
/* Input k with channels second; a result in the file's order. */
int caffe2_image(Visit *v, int k, bool last);
int caffe2_in_order(Visit *v, int y, bool last);
/* An axis that an attribute gives, of a value with `rank` dimensions. */
int caffe2_axis(Visit *v, const char *name, int64_t otherwise, int rank);
/* A number of an attribute, from `least` on. */
int64_t caffe2_count(Visit *v, const char *name, int64_t otherwise, int64_t least);
/* The element type of an attribute, by number or by word. */
DType caffe2_attr_type(Visit *v, const char *name, DType otherwise);
/* x of [d0, d1 ..] as [d0 .. d(axis-1), d(axis) ..], a matrix. */
int caffe2_matrix(Visit *v, int x, int axis);

#endif
