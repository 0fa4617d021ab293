/*
 * Cells of tensors, views of them, and writes to them. The Dag has no writes: a write gives the cell, and through views
 * the cell that they look at, new values; views compute theirs again when they are read.
 */
#ifndef FRONTEND_PYTORCH_TENSOR_H
#define FRONTEND_PYTORCH_TENSOR_H

#include "frontend/pytorch/value.h"

/* What the cell holds now. After a failure some scalar, never NULL. */
Item *torch_item(Visit *v, TorchTensor *t);
int torch_value(Visit *v, TorchTensor *t);
Shape torch_shape(Visit *v, TorchTensor *t); /* allowed when its elements are not known any more */
/* Elements lie in row-major order without gaps. */
bool torch_is_plain(Visit *v, TorchTensor *t);
TorchValue torch_view(Visit *v, TorchTensor *base, const TorchView *how);
TorchValue torch_view_shape(Visit *v, TorchTensor *base, Shape shape);
TorchValue torch_view_order(Visit *v, TorchTensor *base, const int64_t *perm);
TorchValue torch_view_part(Visit *v, TorchTensor *base, int axis, int64_t start, int64_t step, int64_t size);
/* The same elements in another shape: a view where PyTorch surely has one, else a copy that may share them. */
TorchValue torch_reshape(Visit *v, TorchTensor *t, Shape shape);
/*
 * A tensor with elements of its own, where PyTorch has, or may have, a view of t. After a write to one of both, reading
 * the other is refused.
 */
TorchValue torch_copy_of(Visit *v, TorchTensor *t, int value);
/* It is plain, and PyTorch's elements lie so, too. */
bool torch_is_dense(Visit *v, TorchTensor *t);
/* So are its strides, those of dimensions of 1 included, by which PyTorch chooses the order of results. */
bool torch_has_dense_strides(Visit *v, TorchTensor *t);
/* The cell holds `value` from now on, cast to its type, broadcast to its shape. */
void torch_write(Visit *v, TorchTensor *t, int value);
/* Elements start, start + step, .. along an axis replaced. */
int torch_with_part(Visit *v, int x, int axis, int64_t start, int64_t step, int64_t size, int part);

#endif
