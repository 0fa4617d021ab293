/*
 * The order of a value's elements in memory, and how calls that compute nothing carry it from operand to result. A
 * reshape or transpose whose result has the order of its operand runs no code: the result is a view (views.c).
 */
#ifndef GRAPH_ORDER_H
#define GRAPH_ORDER_H

#include "op/dag.h"

enum { ORDER_DIGITS = 3 * DAG_MAX_RANK };

/* One loop over memory: `extent` steps, each `step` elements further in the row-major index of the value. */
typedef struct Digit {
	int64_t step, extent;
} Digit;

/*
 * Loops over memory, outermost first. Neighbours that are one loop are joined and loops of one turn are left out, so
 * equal orders have equal digits.
 */
typedef struct Order {
	int n;
	Digit digit[ORDER_DIGITS];
} Order;

/* False: the layout pads, or does not fit. */
bool order_of(const char *layout, Shape s, Order *out);
bool order_eq(const Order *a, const Order *b);
/*
 * Turns the order of the operand of c (a reshape, transpose or identity) into the order of the same memory as its
 * result, or back. False: c is no such call, or a loop does not end where a dimension does.
 */
bool order_forward(const Dag *d, const OpCall *c, Order *o);
bool order_backward(const Dag *d, const OpCall *c, Order *o);
/* Writes the order as a layout of a value of that shape; *out NULL: row-major. False: no layout says it. */
bool order_layout(Arena *a, const Order *o, Shape s, const char **out);

#endif
