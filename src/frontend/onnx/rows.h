/* The table of ONNX's operators: each op_*.c has a list of rows, and import.c names them all. */
#ifndef FRONTEND_ONNX_ROWS_H
#define FRONTEND_ONNX_ROWS_H

#include "frontend/node/visit.h"
#include "frontend/onnx/proto.h"

/* Each ends with name NULL. */
extern const NodeRow onnx_nn_rows[];
extern const NodeRow onnx_math_rows[];
extern const NodeRow onnx_activation_rows[];
extern const NodeRow onnx_logic_rows[];
extern const NodeRow onnx_move_rows[];
extern const NodeRow onnx_gather_rows[];
extern const NodeRow onnx_resize_rows[];
extern const NodeRow onnx_fill_rows[];
extern const NodeRow onnx_sample_rows[];
extern const NodeRow onnx_select_rows[];
extern const NodeRow onnx_rearrange_rows[];
extern const NodeRow onnx_reduce_rows[];
extern const NodeRow onnx_norm_rows[];
extern const NodeRow onnx_loss_rows[];
extern const NodeRow onnx_training_rows[];
extern const NodeRow onnx_deform_rows[];
extern const NodeRow onnx_recurrent_rows[];
extern const NodeRow onnx_state_rows[];
extern const NodeRow onnx_attention_rows[];
extern const NodeRow onnx_quant_rows[];
extern const NodeRow onnx_signal_rows[];
extern const NodeRow onnx_control_rows[];
extern const NodeRow onnx_sequence_rows[];
extern const NodeRow onnx_ml_rows[];

/* Input 1 as the Dag's broadcasting wants it: below opset 7 the attributes broadcast and axis place it. */
int onnx_second(Visit *v);

#endif
