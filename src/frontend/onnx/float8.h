/*
 * ONNX's four floating types of 8 bits. In the Dag they are their codes, u8, and only rows that turn them into numbers
 * read them: casts and quantisation. So a model's inputs and results of these types are u8, too.
 */
#ifndef FRONTEND_ONNX_FLOAT8_H
#define FRONTEND_ONNX_FLOAT8_H

#include "frontend/node/visit.h"
#include "frontend/onnx/proto.h"

/* The numbers of an Item of kind ITEM_FLOAT8, f32. */
int float8_decode(Visit *v, Item *it);
/* Result k: the codes of the numbers x. */
void float8_set(Visit *v, int k, int x, int64_t code, bool saturate);

#endif
