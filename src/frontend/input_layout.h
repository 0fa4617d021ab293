/*
 * Inputs in the layout of the program that gives them: channels second (nchw) or last (nhwc), whatever the model has.
 * The model's own layout is that in which a convolution, a pooling or a batch norm reads the input.
 */
#ifndef FRONTEND_INPUT_LAYOUT_H
#define FRONTEND_INPUT_LAYOUT_H

#include "frontend/frontend.h"

/* Gives the inputs of args->layout that order, with a transposition behind those whose own is the other one. */
bool input_layouts(Dag *d, const ModelArgs *args, Err *err);

#endif
