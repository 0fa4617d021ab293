/*
 * The table of operators: a row turns one node into calls of the Dag (visit.h has the functions for it). Each op_*.c
 * has a list of rows, and rows.c finds them by name.
 */
#ifndef FRONTEND_ONNX_ROWS_H
#define FRONTEND_ONNX_ROWS_H

#include "frontend/onnx/visit.h"

typedef struct OnnxRow {
	const char *name;
	int since;           /* the first opset that has it */
	const char *ignored; /* attributes that change nothing here: "consumed_inputs momentum" */
	void (*import)(Visit *n);
} OnnxRow;

/* Each ends with name NULL. */
extern const OnnxRow onnx_nn_rows[];
extern const OnnxRow onnx_math_rows[];
extern const OnnxRow onnx_activation_rows[];
extern const OnnxRow onnx_logic_rows[];
extern const OnnxRow onnx_move_rows[];
extern const OnnxRow onnx_gather_rows[];
extern const OnnxRow onnx_resize_rows[];
extern const OnnxRow onnx_fill_rows[];
extern const OnnxRow onnx_sample_rows[];
extern const OnnxRow onnx_select_rows[];
extern const OnnxRow onnx_rearrange_rows[];
extern const OnnxRow onnx_reduce_rows[];
extern const OnnxRow onnx_norm_rows[];
extern const OnnxRow onnx_loss_rows[];
extern const OnnxRow onnx_einsum_rows[];
extern const OnnxRow onnx_deform_rows[];
extern const OnnxRow onnx_recurrent_rows[];
extern const OnnxRow onnx_state_rows[];
extern const OnnxRow onnx_attention_rows[];
extern const OnnxRow onnx_quant_rows[];
extern const OnnxRow onnx_signal_rows[];
extern const OnnxRow onnx_control_rows[];
extern const OnnxRow onnx_sequence_rows[];
extern const OnnxRow onnx_ml_rows[];
/*
 * The row of "Conv", or of "ai.onnx.preview::FlexAttention" where the operator has a domain of its own, if an opset has
 * it; else NULL.
 */
const OnnxRow *onnx_find_row(const OnnxNode *node, int64_t opset);

/* Lists the model's functions by name. */
void onnx_read_functions(Import *im);
const OnnxFunction *onnx_find_function(const Import *im, const OnnxNode *node);
/* Refuses with all operators that dlc does not have; those that only branches have are kept for later. */
bool onnx_check_supported(Import *im, int64_t opset);
/* The version of the default domain; `otherwise` if it is not named. */
int64_t onnx_opset_of(const OnnxOpset *at, size_t n, int64_t otherwise);

#endif
