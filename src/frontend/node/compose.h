/*
 * Calls that compositions of several operators write again and again: parts of a value along an axis, dimensions in
 * another order, a mean, a number applied to all elements. As all functions of visit.h they do nothing after a failure.
 */
#ifndef FRONTEND_NODE_COMPOSE_H
#define FRONTEND_NODE_COMPOSE_H

#include "frontend/node/visit.h"

/* Elements [from, from + size) along an axis. */
int node_slice(Visit *n, int x, int axis, int64_t from, int64_t size);
/* Element `at` along axis 0, without that axis. */
int node_part(Visit *n, int x, int64_t at);
int node_transpose(Visit *n, int x, const int64_t *perm); /* of all dimensions */
int node_concat(Visit *n, const int *x, int count, int axis);
int node_expand(Visit *n, int x, Shape shape);
/* Result k of the call that made a value. */
int node_result(Visit *n, int value, int k);
/* x op v, with the number in x's type. */
int node_with_number(Visit *n, int op, int x, double v);
/* A floating value without its fraction. */
int node_truncate(Visit *n, int x);
/* A constant of n numbers of a type, as the last of `rank` dimensions. */
int node_numbers(Visit *n, DType type, const double *x, int64_t count, int rank);
/* All elements of x in the order in which they lie, in a shape of `rank` dimensions. */
int node_view(Visit *n, int x, int rank, const int64_t *dim);
/* A sum of products, "ab,bc->ac", of n values. */
int node_einsum_of(Visit *n, const char *equation, const int *in, int nin);
/* The row of Einsum, with the attribute `equation`, in all formats. */
void node_einsum(Visit *v);

#endif
