/* The table of TensorFlow's operators: each op_*.c has a list of rows, and import.c names them all. */
#ifndef FRONTEND_TENSORFLOW_ROWS_H
#define FRONTEND_TENSORFLOW_ROWS_H

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"
#include "frontend/tensorflow/proto.h"

/* Each ends with name NULL. */
extern const NodeRow tf_nn_rows[];
extern const NodeRow tf_math_rows[];
extern const NodeRow tf_activation_rows[];
extern const NodeRow tf_logic_rows[];
extern const NodeRow tf_reduce_rows[];
extern const NodeRow tf_move_rows[];
extern const NodeRow tf_fill_rows[];
extern const NodeRow tf_gather_rows[];
extern const NodeRow tf_rearrange_rows[];
extern const NodeRow tf_resize_rows[];
extern const NodeRow tf_detect_rows[];
extern const NodeRow tf_state_rows[];
extern const NodeRow tf_control_rows[];

/* A row of an elementwise call, and of one with two operands. */
void tf_each1(Visit *v, int op);
void tf_each2(Visit *v, int op);
/* Input k as a value, which must be there. */
int tf_value(Visit *v, int k);
/* The type that an attribute names; `otherwise` without it. */
DType tf_attr_type(Visit *v, const char *name, DType otherwise);
/* Input k, integers that must be there. */
const int64_t *tf_ints(Visit *v, int k, int *count);
/* Input k, one integer; one number. */
int64_t tf_int(Visit *v, int k);
double tf_number(Visit *v, int k);
/* "NHWC", "NDHWC" or "NWC": channels are last; false for "NCHW" and its like. */
bool tf_channels_last(Visit *v);

#endif
