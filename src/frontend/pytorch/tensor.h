/*
 * Cells of tensors, views of them, and writes to them. The Dag has no writes: a write gives the cell, and through views
 * the cell that they look at, new values; views compute theirs again when they are read.
 */
#ifndef FRONTEND_PYTORCH_TENSOR_H
#define FRONTEND_PYTORCH_TENSOR_H

#include "frontend/pytorch/value.h"

/* A tensor in the file: `entry` of an archive, from element `offset` on. */
typedef struct TorchSaved {
	Archive *archive;
	const char *entry;
	DType type;
	int64_t offset, stride[DAG_MAX_RANK];
	Shape shape;
} TorchSaved;

/* How a view lies in its base. */
typedef enum { VIEW_SHAPE, VIEW_ORDER, VIEW_PART, VIEW_WIDE } TorchViewKind;

typedef struct TorchView {
	TorchViewKind kind;
	Shape shape;                 /* SHAPE, WIDE: the view's */
	int64_t order[DAG_MAX_RANK]; /* ORDER */
	int axis;                    /* PART: elements start, start + step, .. */
	int64_t start, step, size;
} TorchView;

struct TorchTensor {
	Item *item; /* NULL: `saved` is not read yet */
	const TorchSaved *saved;
	const char *name;  /* of a saved one */
	TorchTensor *base; /* of a view; NULL: the cell has its own elements */
	TorchView view;
	int depth;             /* views of views, and copies of views or copies */
	unsigned writes, seen; /* in-place writes to a base; those that a view has seen */
	/* Where dlc has a copy and PyTorch a view, or perhaps one: */
	TorchTensor *shares; /* what this one is a copy of */
	unsigned shared_at;  /* writes to that tensor's base before the copy */
	TorchTensor *writer; /* a copy of this one that was written */
	bool dense;          /* PyTorch's strides are row-major, too; false: elements lie in an order that is not known */
	bool number;         /* a constant that tracing made of a number: it counts as one where types are chosen */
	int *retype;         /* an input whose type the file does not tell: set to 1 where an index is needed */
	const TorchQuant *quant; /* of quant.h: elements are codes; NULL: they are numbers */
	const TorchChosen *chosen; /* of chosen.h: data says how many of its rows there are; NULL: all */
	bool fixed;              /* one of two tensors, as a condition says: a write to it is refused */
	unsigned born;           /* of choice.h, as the next one */
	const void *noted;
};

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
TorchTensor *torch_root(TorchTensor *t); /* the cell that has the elements which t sees */
/* Elements are those of PyTorch: no write to a copy of them, or to what they are a copy of, lies between. */
bool torch_is_current(TorchTensor *t);
/* The cell holds `value` from now on, cast to its type, broadcast to its shape. */
void torch_write(Visit *v, TorchTensor *t, int value);
/* Elements start, start + step, .. along an axis replaced. */
int torch_with_part(Visit *v, int x, int axis, int64_t start, int64_t step, int64_t size, int part);

#endif
