/* The table of TensorFlow Lite's operators: each op_*.c has a list of rows, and tflite.c names them all. */
#ifndef FRONTEND_TFLITE_ROWS_H
#define FRONTEND_TFLITE_ROWS_H

#include "frontend/node/channels.h"
#include "frontend/node/compose.h"
#include "frontend/node/windows.h"
#include "frontend/tflite/model.h"

/* Each ends with name NULL. */
extern const NodeRow tflite_window_rows[];
extern const NodeRow tflite_math_rows[];
extern const NodeRow tflite_move_rows[];
extern const NodeRow tflite_quant_rows[];
extern const NodeRow tflite_recurrent_rows[];
extern const NodeRow tflite_detect_rows[];
extern const NodeRow tflite_control_rows[];
extern const NodeRow tflite_tensorflow_rows[];

/* Input k as a value, which must be there. */
int tflite_value(Visit *v, int k);
/* x through the function that the operator has fused, the attribute `activation`. */
int tflite_activate(Visit *v, int x);
/* Its limits; false: it is no clipping, or there is none. */
bool tflite_activation_limits(Visit *v, double *lo, double *hi);

/* The tensor of input or result k of the node, with its codes; NULL: absent, or a value that graph.c made. */
const TfliteTensor *tflite_in(const Visit *v, int k);
const TfliteTensor *tflite_out(const Visit *v, int k);
/* The real numbers of codes, x; `axis` says where the file's axis of scales is in x. */
int tflite_real(Visit *v, int x, const TfliteCodes *c, int axis);
/* Input k: its numbers, dequantised if they are codes. */
int tflite_real_input(Visit *v, int k);

/* Result 0 from a sum of products of codes, `acc` in i32, whose channels are at `axis`. */
int tflite_rescale(Visit *v, int acc, int axis);
/* Result k from real numbers: quantised if it is codes. */
void tflite_set_real(Visit *v, int k, int y);
/* Codes of result 0, in the limits of the fused function; integers that are no codes through it. */
int tflite_activate_codes(Visit *v, int x);
/* Codes of input k in i32, less their zero point. */
int tflite_centred(Visit *v, int k);
/* Inputs 0 and 1, and result 0, are codes. */
bool tflite_is_integer(Visit *v);

#endif
