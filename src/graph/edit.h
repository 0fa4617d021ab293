/*
 * Passes write a Dag anew, call by call in order, into a second Dag; `map` says which new value stands for
 * an old one. Calls that a pass does not handle are copied. Unused calls are copied too, and the pass "dead"
 * drops them; constants are copied when a call reads them.
 */
#ifndef GRAPH_EDIT_H
#define GRAPH_EDIT_H

#include "graph/graph.h"

typedef struct Edit {
	const Dag *from;
	Dag *to;
	int *map;  /* old value to new one, DAG_NONE before it is made */
	int *uses; /* reads of each old value by calls that are used, 2 more for an output: 1 means that one reads it */
	EvalFn eval;
	Err *err;
} Edit;

/*
 * Writes d anew. For every call `rewrite` returns true if it handled it (with edit_replace or edit_call_as
 * for every result), and false to have it copied, or with err set. Outputs keep their names and stay
 * distinct results of calls: identity is put before those that would not be.
 */
typedef bool (*EditFn)(Edit *e, const OpCall *c, void *arg);
bool edit_dag(Dag *d, EvalFn eval, EditFn rewrite, void *arg, Err *err);

/* The new value for an old one that a call reads; copies constants at their first use. */
int edit_value(Edit *e, int old);
void edit_replace(Edit *e, int old, int by);
/* Appends a call to the new Dag; its one result is new, named after `name`. DAG_NONE: err is set. */
int edit_call(Edit *e, int op, const char *name, const int *in, int nin, const Attr *attr, int nattr);
/* The same; the result stands for the one result of the old call c and keeps its name. */
bool edit_call_as(Edit *e, const OpCall *c, int op, const int *in, int nin, const Attr *attr, int nattr);
int edit_const(Edit *e, const char *name, DType t, Shape s, const void *data);
/* Operator and attributes of a call, as a text that is the same for equal ones. */
void edit_signature(Text *out, const OpCall *c);

/* The call of the new Dag that writes new value v; NULL if v is an input or a constant. */
const OpCall *edit_writer(const Edit *e, int v);
const Value *edit_at(const Edit *e, int v);

/* Inside the room: the passes, and direct evaluation of moves. */
bool pass_transposed(Dag *d, EvalFn eval, Err *err);
bool pass_codes(Dag *d, EvalFn eval, Err *err);
bool pass_fold(Dag *d, EvalFn eval, Err *err);
bool pass_identity(Dag *d, EvalFn eval, Err *err);
bool pass_group_norm(Dag *d, EvalFn eval, Err *err);
bool pass_sink(Dag *d, EvalFn eval, Err *err);
bool pass_attention(Dag *d, EvalFn eval, Err *err);
bool pass_idioms(Dag *d, EvalFn eval, Err *err);
bool pass_moves(Dag *d, EvalFn eval, Err *err);
bool pass_swapped(Dag *d, EvalFn eval, Err *err);
bool pass_dense(Dag *d, EvalFn eval, Err *err);
bool pass_reciprocal(Dag *d, EvalFn eval, Err *err);
bool pass_affine(Dag *d, EvalFn eval, Err *err);
bool pass_padded(Dag *d, EvalFn eval, Err *err);
bool pass_pooled(Dag *d, EvalFn eval, Err *err);
bool pass_grouped(Dag *d, EvalFn eval, Err *err);
bool pass_lengths(Dag *d, EvalFn eval, Err *err);
bool pass_common(Dag *d, EvalFn eval, Err *err);
bool pass_dead(Dag *d, EvalFn eval, Err *err);

/* x with its dimensions permuted; NULL if its elements are not whole bytes. */
void *fold_transpose(Arena *a, const Value *x, const int64_t *perm);

/* Writes an elementwise call before moves of a product's result that it reads. False: it reads none, or err is set. */
bool sink_call(Edit *e, const OpCall *c);
/*
 * Dimensions `wide` that are broadcast to those of `to`, as dimensions that are broadcast to `from`, which has the same
 * elements in the same order. False: they are not.
 */
bool sink_split(Shape to, const int64_t *wide, Shape from, int64_t *out);

/* Views of all values (see graph.h); nothing[i]: call i needs no step but a concat's copies. */
View *find_views(Arena *a, const Dag *d, bool *nothing);

#endif
