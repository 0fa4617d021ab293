/*
 * The functions in which rows of the operator table are written: the current node, its inputs and
 * attributes, calls of the Dag, results.
 *
 * A failure stays: after the first one all functions below do nothing and return zeros or DAG_NONE, and the
 * walk ends at the node. So a row needs no checks between its calls.
 */
#ifndef FRONTEND_NODE_VISIT_H
#define FRONTEND_NODE_VISIT_H

#include "frontend/node/operators.h"

/* The node that is being imported. */
struct Visit {
	Import *im;
	const Frame *frame;
	const NodeDef *node;
	const char *name;          /* "node 'x' (Conv)" */
	unsigned char *attr_seen;  /* by attribute: the row has read it */
	unsigned char *input_seen; /* by input, the same */
};

bool node_ok(const Visit *n);
/* "node 'x' (Conv): ..." */
void node_fail(Visit *n, ErrCode code, const char *fmt, ...) PRINTF_LIKE(3, 4);

int node_nin(const Visit *n); /* given inputs, trailing absent ones not counted */
int node_nout(const Visit *n);
/*
 * Input k; NULL if it is absent. node_need refuses an absent one and gives an Item to go on with.
 */
const Item *node_in(Visit *n, int k);
const Item *node_need(Visit *n, int k);
/* The same, which may be a sequence or an empty optional; node_in and node_need refuse those. */
Item *node_item(Visit *n, int k);
/* Input k as a value of the Dag; DAG_NONE if absent. */
int node_value(Visit *n, int k);
/* True if output k is used. */
bool node_used(const Visit *n, int k);

/* The elements of input k, which must be known now (through the Dag's constants if need be). */
const Item *node_known(Visit *n, int k);
bool node_is_known(Visit *n, int k); /* they are: node_known would not refuse */
bool node_item_known(Visit *n, Item *it); /* the same for any Item; cheap ones are computed */
/* Refuses an Item that is not known; `what` names it in a refusal: "its input 'x'". */
bool node_know(Visit *n, Item *it, const char *what);
/* Integers of input k, a scalar or a list; *count = -1 and NULL if the input is absent. */
const int64_t *node_ints(Visit *n, int k, int *count);
/* Refuses integers of input k outside of least .. most, if they are given already; absent: none. */
void node_check_range(Visit *n, int k, int64_t least, int64_t most);

/* ---- attributes; a wrong kind is refused */

bool node_has(Visit *n, const char *name);
int64_t node_attr_int(Visit *n, const char *name, int64_t otherwise);
bool node_attr_flag(Visit *n, const char *name, bool otherwise); /* an integer that is 0 or 1 */
double node_attr_float(Visit *n, const char *name, double otherwise);
double node_attr_size(Visit *n, const char *name, double otherwise); /* finite, not negative */
const char *node_attr_text(Visit *n, const char *name, const char *otherwise);
const int64_t *node_attr_ints(Visit *n, const char *name, int *count); /* -1, NULL: absent */
const float *node_attr_floats(Visit *n, const char *name, int *count); /* the same */
const Bytes *node_attr_texts(Visit *n, const char *name, int *count);  /* the same */
const NodeAttr *node_attr(Visit *n, const char *name);                 /* NULL: absent */
const NodeGraph *node_attr_graph(Visit *n, const char *name);          /* refused if absent */
bool node_attr_tensor(Visit *n, const char *name, NodeTensor *out);
/* An attribute, which from `version` on is input k: axes, shapes and pads changed so. */
const int64_t *node_attr_or_input(Visit *n, const char *name, int version, int k, int *count);
/* The product of two sizes; one that overflows becomes 2^62, which no shape takes. */
int64_t size_product(int64_t a, int64_t b);
/* That of dimensions lo .. hi-1. */
int64_t shape_product(const Shape *s, int lo, int hi);
/* 0 <= axis < limit, counted from the end when negative. */
int node_axis(Visit *n, int64_t axis, int limit);

/* ---- results */

/* A call; returns its first output. Absent optional inputs are DAG_NONE. */
int node_call(Visit *n, int op, const int *in, int nin, const Attr *attr, int nattr);
int node_call1(Visit *n, int op, int x);
int node_call2(Visit *n, int op, int a, int b);
int node_where(Visit *n, int cond, int a, int b);
int node_reshape(Visit *n, int x, Shape shape); /* x itself if it has that shape */
int node_cast(Visit *n, int x, DType type);
int node_const(Visit *n, DType type, Shape shape, const void *data);
/* A constant that is called so behind the node's name: "conv1.bias". */
int node_weight(Visit *n, const char *what, DType type, Shape shape, const void *data);
int node_number(Visit *n, DType type, double v); /* a scalar constant */
/*
 * Input 1 as the Dag's broadcasting wants it, for operators with the attributes `broadcast` and `axis` (ONNX below
 * opset 7, Caffe2): its dimensions are placed from `axis` on; without an axis they are the last ones, which is NumPy's
 * rule.
 */
int node_second(Visit *n);
enum { NODE_COUNTED = 1 << 24 }; /* the most numbers that an import counts */
/* The i64 constant 0, 1, .. of `count` numbers along an axis; the other dimensions are 1. */
int node_count(Visit *n, int64_t count, int axis, int rank);
const Value *node_val(Visit *n, int value);      /* its type and shape; a scalar f32 after a failure */

void node_set(Visit *n, int k, int value);
void node_set_alias(Visit *n, int k, const Item *as);
void node_set_known(Visit *n, int k, DType type, Shape shape, const void *data);
/* The value of a tensor, which becomes a constant of the Dag if it is known. */
int node_item_value(Visit *n, Item *it);
/* A tensor for an input of a subgraph or an element of a sequence. */
Item *node_new_item(Visit *n, int value);

#endif
