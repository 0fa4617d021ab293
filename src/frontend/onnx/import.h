/*
 * The state of an import. import.c walks the graph and functions node by node; a row of the operator table
 * turns one node into calls of the Dag (onnx/visit.h).
 */
#ifndef FRONTEND_ONNX_IMPORT_H
#define FRONTEND_ONNX_IMPORT_H

#include "frontend/onnx/proto.h"
#include "op/names.h"

enum { ONNX_NEWEST = 27 }; /* the newest opset whose operators were looked at */

/*
 * An optional without an element is ITEM_NONE; one with an element is that element. ITEM_FLOAT8 are codes, whose format
 * is `code`.
 */
typedef enum { ITEM_TENSOR, ITEM_FLOAT8, ITEM_SEQUENCE, ITEM_NONE } ItemKind;

/* The meaning of a name. Known elements are added to the Dag when a call reads them. */
typedef struct Item {
	const char *name;
	ItemKind kind;
	int64_t code; /* ITEM_FLOAT8: the element type of ONNX */
	DType type;
	Shape shape;
	const void *data; /* NULL: not known while importing */
	int value;        /* in the Dag, or DAG_NONE */
	bool input;       /* a graph input: a given constant would make it known */
	struct Item **list; /* ITEM_SEQUENCE: its n elements */
	int n;
} Item;

/* One import of a model. */
typedef struct Import {
	Arena *arena;
	Dag *dag;
	const OnnxModel *model;
	const ModelArgs *args;
	EvalFn eval;
	OnnxFiles files;
	Err err;          /* the first failure, which stays */
	Names *own;       /* names that the graph gives, which values in between must not take */
	Names *functions; /* of the model, by domain, name and overload */
	VEC(Item *) item;
	const char *wanted; /* an input that had to be known and was not */
	int64_t nodes;      /* walked so far, inlined functions included */
	int64_t steps;      /* iterations of loops so far */
	Err missing;        /* names operators that only branches have */
	VEC(int) seen;      /* of each value of the Dag: the last search that met it */
	int search;
} Import;

/* The graph, the body of a function for one call of it, or a subgraph for one run of it. */
typedef struct Frame {
	const struct Frame *up;     /* of the call of the function; NULL for the graph */
	const struct Frame *around; /* a subgraph: the graph whose names it reads, too */
	const OnnxNode *call;
	const OnnxFunction *function;
	const char *prefix; /* before the names of values: "" or "layer1/" */
	Names *names;       /* of values here -> im->item */
	Names *read;        /* names that nodes read, or that are results */
	int opset, depth;
} Frame;

void onnx_note(Import *im, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool onnx_refuse(Import *im, ErrCode code, const char *fmt, ...) PRINTF_LIKE(3, 4); /* false */
/* Makes `name` stand for an Item; refuses a name that is there already. */
bool onnx_define(Import *im, const Frame *f, const char *name, Item *it);
/* Refuses a tensor whose size overflows or is beyond any machine's. */
bool onnx_check_size(Import *im, const char *what, const char *name, DType type, Shape s);
const char *onnx_kind_name(ItemKind kind); /* "a sequence" */
const OnnxShape *onnx_declared_shape(const OnnxValueInfo *v); /* NULL: none */
bool onnx_is_symbolic(const OnnxDim *d);
/* The graph's inputs and initialisers become Items. */
bool onnx_read_inputs(Import *im, const Frame *f, const OnnxGraph *g);
bool onnx_read_initializers(Import *im, const Frame *f, const OnnxGraph *g);

/* The meaning of a name in a frame or around it; NULL: it has none. */
Item *onnx_lookup(const Import *im, const Frame *f, const char *name);

/* A number as a person wrote it: an f32 by its shortest decimal, 1e-05 and not 9.99999974e-06. */
double onnx_number(DType type, const void *data);

#endif
