/*
 * What rows of functions of keras.ops share. An argument of such a function is a tensor, a number, or an array that the
 * file holds: {"class_name": "__numpy__", "config": {"value": [..], "dtype": "float32"}}.
 */
#ifndef FRONTEND_KERAS_FUNCTION_H
#define FRONTEND_KERAS_FUNCTION_H

#include "frontend/keras/keras.h"

/* A number, which gets the type `number`, a list of lists, or an array with its type. */
int keras_constant_of(Visit *v, const Json *j, DType number);
/* An argument by its place (-1: none) or name as a value; a number gets the type `number`. DAG_NONE: absent. */
int keras_operand(Visit *v, int at, const char *name, DType number);
/* The same, which must be there. */
int keras_given(Visit *v, int at, const char *name, DType number);
/* Arguments x1 and x2, in their own types; a number takes the type of the other one. */
bool keras_two(Visit *v, int *x);
/* All elements of a list, the first argument, whose name may be one of these; returns how many. */
int keras_listed(Visit *v, const char *const *names, int **x);
/* Values of two types in one: floats win, then the wider one. */
void keras_promote(Visit *v, int *x, int n);
int keras_float(Visit *v, int x); /* integers and bools as f32 */
/* The axes of the setting `axis`; without one: all. */
int keras_axes(Visit *v, int rank, int64_t *axes);
/* The setting `axis` as one axis. */
int keras_axis(Visit *v, int rank, int64_t otherwise);
int keras_number_like(Visit *v, int x, double n); /* in x's type */
int keras_pick(Visit *v, int cond, int a, int b); /* elementwise */
int keras_flat(Visit *v, int x);                  /* all elements in one dimension */

extern const NodeRow keras_numpy_rows[], keras_product_rows[], keras_array_rows[], keras_nn_rows[];

#endif
