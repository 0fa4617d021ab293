/*
 * The table of MXNet's operators: each op_*.c has a list of rows, and mxnet.c names them all. Operators that MXNet has
 * under several names have one here (alias.def).
 */
#ifndef FRONTEND_MXNET_ROWS_H
#define FRONTEND_MXNET_ROWS_H

#include "frontend/node/compose.h"
#include "frontend/node/visit.h"

/* Each ends with name NULL. */
extern const NodeRow mxnet_variable_rows[];
extern const NodeRow mxnet_nn_rows[];
extern const NodeRow mxnet_norm_rows[];
extern const NodeRow mxnet_math_rows[];
extern const NodeRow mxnet_reduce_rows[];
extern const NodeRow mxnet_move_rows[];
extern const NodeRow mxnet_slice_rows[];
extern const NodeRow mxnet_gather_rows[];
extern const NodeRow mxnet_fill_rows[];
extern const NodeRow mxnet_matmul_rows[];
extern const NodeRow mxnet_recurrent_rows[];
extern const NodeRow mxnet_detect_rows[];
extern const NodeRow mxnet_control_rows[];
extern const NodeRow mxnet_quant_rows[];

/*
 * Input k, a parameter of that shape, which is checked; as a value. One without an array gets random numbers that suit
 * its slot (slot.def): the same for the same name.
 */
int mxnet_weight(Visit *v, int k, Shape want);
/* Input k, a first state: what has no shape yet, because its batch is open, is zeros of this one. */
int mxnet_state(Visit *v, int k, Shape want);
/* Codes x[N,C,..] with filters w of codes, as the attributes of a convolution say, without a bias. */
int mxnet_convolve(Visit *v, int x, int w);
/* The pooling that the attributes say, of a value x in the place of input 0. */
int mxnet_pool(Visit *v, int x);
/* A value of the network, one of whose dimensions is 0 and means the batch. */
Shape mxnet_batch_shape(Visit *v, Shape s);

/* An attribute that names an element type, "float16"; `otherwise` without it. */
DType mxnet_attr_type(Visit *v, const char *name, DType otherwise);

/* A list that may hold None, "(None, 3)"; at most DAG_MAX_RANK numbers. n = -1: the attribute is absent. */
typedef struct MxnetList {
	int n;
	int64_t at[DAG_MAX_RANK];
	bool none[DAG_MAX_RANK];
} MxnetList;
MxnetList mxnet_attr_list(Visit *v, const char *name);


#endif
