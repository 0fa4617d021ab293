/*
 * Operators: one row each in op.def (inputs, outputs, attributes, class). A row has three functions: the shape rule,
 * the naive Fn (index formula), and the count of floating operations.
 */
#ifndef OP_OP_H
#define OP_OP_H

#include "ir/build.h"
#include "op/dag.h"

typedef enum {
#define OP(name, ...) OP_##name,
#include "op/op.def"
#undef OP
	OP_COUNT
} Op;

/* What fusion may do with an operator. */
typedef enum {
	OP_ELEMENTWISE, /* out[i] depends on in[i] (broadcast) only */
	OP_REDUCTION,   /* pooling, softmax, reduce: no weights */
	OP_ANCHOR,      /* convolution, matmul, dense: the centre of a Task */
	OP_MOVE,        /* reshape, transpose, concat, slice, ...: moves elements */
} OpClass;

/* What passes ask of an operator; see op.def. */
enum { OP_COMMUTES = 1, OP_SLOW = 2, OP_BLOCKED = 4, OP_FOLLOWS = 8, OP_WIDE = 16, OP_ROWS = 32 };

/* The attribute `zeros` of attention. Results are 0 where all probabilities are NaN, or where a query sees no key. */
enum { ZEROS_NONE, ZEROS_NAN, ZEROS_UNSEEN };

typedef struct OpRow {
	const char *name;
	OpClass class;
	const char *inputs; /* "x w b?" */
	int outputs;        /* < 0: as many as the call's attributes say */
	const char *attrs;  /* "strides:ints pads:ints groups:int=1" */
	int each;           /* operations for an element, see op_flops */
	int traits;         /* OP_COMMUTES | ... */
	const char *doc;
} OpRow;

const OpRow *op_row(int op);
int op_find(const char *name); /* -1: no such operator */
/* How many inputs; *max < 0: any number. Optional ones may be DAG_NONE. */
void op_arity(int op, int *min, int *max);
/* Kind of an attribute; *dflt is its default in text, NULL if it has none. False: not known. */
bool op_find_attr(int op, const char *name, AttrKind *kind, const char **dflt);

/* Attributes of a call with op.def's defaults. Asking for one the operator lacks is a bug. */
int64_t op_int(const OpCall *c, const char *name);
double op_float(const OpCall *c, const char *name);
const int64_t *op_ints(const OpCall *c, const char *name, int *n); /* NULL, n = 0: not given */
const char *op_text(const OpCall *c, const char *name);

/* Types and shapes of the call's outputs from its inputs'; fills out[0 .. nout). */
bool op_infer(const Dag *d, const OpCall *c, Value *out, Err *err);

/* The axes along which a call with the trait ROWS reduces; bit k is axis k. */
unsigned op_row_axes(const Dag *d, const OpCall *c);

/* A convolution of one tap by a constant, without strides and borders: for each group a product of matrices. */
bool op_has_one_tap(const Dag *d, const OpCall *c);
/* One of these without groups. */
bool op_is_pointwise(const Dag *d, const OpCall *c);

/* Operations of a call; a multiply-add counts 2. op.def and flops.c say what each operator counts. */
double op_flops(const Dag *d, const OpCall *c);
double dag_flops(const Dag *d);
/* Compulsory traffic: outputs, and what they are made of of inputs and constants, once. */
double dag_bytes(const Dag *d);
/* The floating type of the fewest binary digits that a call gives; f64 if no call gives one. */
DType dag_coarsest(const Dag *d);
/* Whether the factors of a product may be rounded to 11 binary digits: the attribute tf32 of a call. */
bool dag_allows_tf32(const Dag *d);

typedef enum {
	NAIVE_AS_TYPED, /* accumulates in the operator's accumulator type */
	NAIVE_F64,      /* floating work buffers and accumulators in f64: the compiled oracle */
} NaiveKind;

/*
 * The naive kernel set of a Dag: one run Fn `name`, one loop nest and block per call in order,
 * parameters: inputs (in), constants (const), outputs (out), values in between (work), all with
 * the Dag's value names. Loops and iterators are named after the operator's axes ("n", "o", "h"),
 * blocks after the operator, so that traces can name them.
 */
KernelSet *op_naive(Ir *ir, const Dag *d, const char *name, NaiveKind kind, Err *err);

/*
 * The index map of a layout (op/layout.h) for tensors of shape s. NULL, or a layout that does not fit: the
 * identity.
 */
IndexMap naive_map(Ir *ir, const char *layout, Shape s);

#endif
