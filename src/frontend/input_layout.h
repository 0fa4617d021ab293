/*
 * A program may give an input with channels second (nchw) where the model has them last (nhwc), or the reverse. The
 * model's own layout is that in which a convolution, a pooling or a batch norm reads the input.
 */
#ifndef FRONTEND_INPUT_LAYOUT_H
#define FRONTEND_INPUT_LAYOUT_H

#include "frontend/frontend.h"

/* Gives the inputs of args->layout the layouts that it names. A transposition follows each whose layout changes. */
bool input_layouts(Dag *d, const ModelArgs *args, Err *err);

#endif
