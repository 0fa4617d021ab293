/*
 * Inside the room: the normal form of a call, and the geometry of windows (convolution, pooling). The shape rule, the
 * naive Fn and the operation count share it.
 */
#ifndef OP_SHAPE_H
#define OP_SHAPE_H

#include "op/op.h"

/*
 * Arguments and attributes fit op.def (number, kinds); shapes are not looked at.
 * op_normalise then rewrites the call's attributes to their one normal form and sets nout;
 * c->attr has room for one more attribute.
 */
bool dag_check_call(const Dag *d, const OpCall *c, Err *err);
bool op_normalise(Arena *a, const Dag *d, OpCall *c, Err *err);

Attr *op_attr(const OpCall *c, const char *name); /* as given; NULL: it is not */
void op_sort_attrs(OpCall *c);                    /* by name, the order of OpCall.attr */

enum { WINDOW_MAX = 3 };

typedef struct Window {
	int n; /* spatial dimensions, 1..3 */
	int64_t in[WINDOW_MAX], out[WINDOW_MAX], kernel[WINDOW_MAX];
	int64_t stride[WINDOW_MAX], dilation[WINDOW_MAX], lo[WINDOW_MAX], hi[WINDOW_MAX];
} Window;

/* The window of conv, conv_transpose or a pooling; fails with the refusal of the shape rule. */
bool op_window(const Dag *d, const OpCall *c, Window *w, Err *err);
/* Of fold: `in` are the places of windows, `out` is what they lie in. */
bool op_fold_window(const Dag *d, const OpCall *c, Window *w, Err *err);

/* NumPy's rule for two shapes; false if they do not fit. */
bool shape_broadcast(Shape a, Shape b, Shape *out);

/* The value a call reads, NULL for an optional input that is absent. */
const Value *op_in(const Dag *d, const OpCall *c, int i);

/* Fails with the call's name as place and the operator's name before the sentence. */
bool op_refuse(const OpCall *c, Err *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
