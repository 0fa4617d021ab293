/*
 * Dag: a list of operator calls in topological order, over values. With the data of its constants it is a
 * model, without it a workload. It has one written form (docs/dag.md), which reads back to the same Dag.
 *
 * Values are numbered; a call lists the values that it reads and writes. Everything lives in one arena. The
 * data of constants is borrowed (from a mapped model file) or lives in the arena.
 */
#ifndef OP_DAG_H
#define OP_DAG_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "ir/dtype.h"

enum { DAG_MAX_RANK = 8, DAG_NONE = -1 };

/* A dimension: n >= 0 is the number itself, -1-k is symbol k of the Dag (none are bound yet). */
typedef int64_t Dim;

typedef struct Shape {
	int rank;
	Dim dim[DAG_MAX_RANK]; /* unused ones are 0 */
} Shape;

typedef enum { VALUE_INPUT, VALUE_CONST, VALUE_CALL } ValueKind;

typedef struct Value {
	const char *name;
	ValueKind kind;
	DType type;
	Shape shape;
	const char *layout; /* NULL: row-major; else as op/layout.h reads it, "NCHW16c" */
	const void *data;   /* VALUE_CONST of a model: dtype_bytes of it, little-endian; else NULL */
	int call;           /* VALUE_CALL: the call that writes it */
} Value;

typedef enum { ATTR_INT, ATTR_INTS, ATTR_FLOAT, ATTR_TEXT } AttrKind;

/* An attribute as written; op.def says which ones an operator has and what they default to. */
typedef struct Attr {
	const char *name;
	AttrKind kind;
	int n; /* INTS */
	union {
		int64_t i;
		const int64_t *ints;
		double f;
		const char *text;
	};
} Attr;

typedef struct OpCall {
	int op;           /* OP_..., see op/op.h */
	const char *name; /* where it comes from, for messages; not part of a workload */
	int nin, nout, nattr;
	int *in; /* value numbers; DAG_NONE for an optional input that is absent */
	int *out;
	Attr *attr; /* sorted by name; defaults are not stored */
} OpCall;

typedef struct Dag {
	Arena *arena;
	const char *name;
	VEC(Value) value;
	VEC(OpCall) call;       /* topological order */
	VEC(int) input, output; /* value numbers; a constant is not an input */
	unsigned without;       /* what graph leaves out: bits of its features */
	struct Names *names;    /* every name a value ever had, see op/names.h */
} Dag;

Dag *dag_new(Arena *a, const char *name);
/* A Dag that may be changed without a trace in d. Texts and the data of constants remain d's. */
Dag *dag_copy(Arena *a, const Dag *d);
int dag_add_input(Dag *d, const char *name, DType type, Shape shape);
int dag_add_const(Dag *d, const char *name, DType type, Shape shape, const void *data);
/*
 * Appends a call; its outputs' types and shapes come from the operator's shape rule. `attr` is
 * copied, sorted, checked against op.def; defaults are dropped. Returns the call's number or -1.
 * The first output is value dag->call.at[n].out[0].
 */
int dag_add_call(Dag *d, int op, const char *name, const int *in, int nin, const Attr *attr, int nattr, Err *err);
/* The same with names for the results, as model files have them; `nouts` must be the operator's number of results. */
int dag_add_call_as(Dag *d, int op, const char *name, const char *const *outs, int nouts, const int *in, int nin,
	const Attr *attr, int nattr, Err *err);
void dag_add_output(Dag *d, int value);
/* Of each call: whether an output of the Dag needs one of its results. */
bool *dag_live(Arena *a, const Dag *d);
/* A name for a new value: `wish`, or `wish` with a number if that is taken. */
const char *dag_unique_name(const Dag *d, const char *wish);
/* Renames a value, to `wish` or to `wish` with a number. Front ends keep the model's names of results so. */
void dag_rename(Dag *d, int value, const char *wish);
/* Values a and b of which none is a result exchange their names. */
void dag_swap_names(Dag *d, int a, int b);
int dag_find_value(const Dag *d, const char *name); /* DAG_NONE: there is none */

Attr attr_int(const char *name, int64_t v); /* attr_ints, attr_text: the array is borrowed */
Attr attr_ints(const char *name, const int64_t *v, int n);
Attr attr_float(const char *name, double v);
Attr attr_text(const char *name, const char *v);

void dag_print(Text *out, const Dag *d);
const char *dag_str(Arena *a, const Dag *d);
/* Refuses with "name:line". Constants that are not written out have data == NULL. */
Dag *dag_parse(Arena *a, const char *name, const char *text, size_t n, Err *err);
/* Checks structure, names and shapes against the operators' rules. The parser and the front ends end with it. */
bool dag_check(const Dag *d, Err *err);

Shape shape_of(int rank, const int64_t *dim);
bool shape_eq(Shape a, Shape b);
bool shape_eq_but_ones(Shape a, Shape b); /* they differ in dimensions of one element only, if at all */
/* Product of the dimensions; -1 if it overflows 2^62. */
int64_t shape_elements(Shape s);
/* No dimension is above 2^40, and their product, as if those that are 0 were 1, not above 2^62. */
bool shape_is_bounded(Shape s);
int64_t value_bytes(const Value *v);           /* with the padding of its layout; -1 on overflow */
const char *shape_str(Shape s, char out[160]); /* "1x3x224x224" */

#endif
