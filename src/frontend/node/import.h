/*
 * The state of an import, and the import itself: operators are checked (supported.c), inputs and weights become Items
 * (input.c), nodes go through their rows in order (traverse.c), results keep their names.
 */
#ifndef FRONTEND_NODE_IMPORT_H
#define FRONTEND_NODE_IMPORT_H

#include "frontend/node/definition.h"
#include "op/names.h"

typedef struct NodeFormat NodeFormat;
typedef struct Symbols Symbols;

/*
 * An optional without an element is ITEM_NONE; one with an element is that element. ITEM_FLOAT8 are codes, whose format
 * is `code`. ITEM_OPEN is a tensor without data and shape: the row that knows what it must be makes it ITEM_TENSOR.
 * ITEM_REFUSED is an input that dlc cannot take: the first node that reads it is refused.
 */
typedef enum { ITEM_TENSOR, ITEM_FLOAT8, ITEM_SEQUENCE, ITEM_NONE, ITEM_OPEN, ITEM_REFUSED } ItemKind;

/* The meaning of a name. Known elements are added to the Dag when a call reads them. */
typedef struct Item {
	const char *name;
	ItemKind kind;
	int64_t code; /* ITEM_FLOAT8: the format's name of the element type */
	DType type;
	Shape shape;
	const void *data;   /* NULL: not known while importing */
	int value;          /* in the Dag, or DAG_NONE */
	bool input;         /* a graph input: a given constant would make it known */
	struct Item **list; /* ITEM_SEQUENCE: its n elements; NULL: never written */
	int n;
	const NodeValue *refused; /* ITEM_REFUSED: the input, with the reason */
} Item;

/* What a front end made of a file. */
typedef struct NodeModel {
	const NodeFormat *format;
	const NodeGraph *graph;
	int version;        /* of its operators */
	const void *source; /* the front end's own */
} NodeModel;

/* One import of a model. */
struct Import {
	Arena *arena;
	Dag *dag;
	const NodeModel *model;
	const ModelArgs *args;
	EvalFn eval;
	Err err;    /* the first failure, which stays */
	Names *own; /* names that the graph gives, which values in between must not take */
	VEC(Item *) item;
	Symbols *symbols;   /* dimensions' names with their numbers */
	const char *wanted; /* an input that had to be known and was not */
	int64_t nodes;      /* walked so far, inlined functions included */
	int64_t steps;      /* iterations of loops so far */
	int64_t bound;      /* inputs and results of subgraphs so far, counted in each run */
	Err missing;        /* names operators that only branches have */
	VEC(int) seen;      /* of each value of the Dag: the last search that met it */
	int search;
};

/* The graph, the body of a function for one call of it, or a subgraph for one run of it. */
typedef struct Frame {
	const struct Frame *up;     /* of the call of the function; NULL for the graph */
	const struct Frame *around; /* a subgraph: the graph whose names it reads, too */
	const NodeDef *call;
	const NodeFunction *function;
	const char *prefix; /* before the names of values: "" or "layer1/" */
	Names *names;       /* of values here -> im->item */
	Names *read;        /* names that nodes read, or that are results */
	int version, depth;
} Frame;

/*
 * The Dag of a model; a refusal is placed at `path` or at a field of args. An import that stops at an input which had
 * to be known is repeated with a constant for that input, where args->offer has one.
 */
Dag *import_model(Arena *a, const char *path, const NodeModel *m, const ModelArgs *args, Err *err);

void import_note(Import *im, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool import_refuse(Import *im, ErrCode code, const char *fmt, ...) PRINTF_LIKE(3, 4); /* false */
/* Makes `name` stand for an Item; refuses a name that is there already. */
bool import_define(Import *im, const Frame *f, const char *name, Item *it);
/* The meaning of a name in a frame or around it; NULL: it has none. */
Item *import_lookup(const Import *im, const Frame *f, const char *name);
/* Refuses a tensor whose size overflows or is beyond any machine's. */
bool import_check_size(Import *im, const char *what, const char *name, DType type, Shape s);
/* Results that a file lists again get names with a number, and read the same value. */
void import_number_results(Arena *a, NodeValue *result, size_t n);
/* The graph's inputs, and its weights, become Items. */
bool import_inputs(Import *im, const Frame *f, const NodeGraph *g);
/* The parts of it for networks whose inputs come one by one: an input, and at the end whether all of args has a use. */
bool import_input(Import *im, const Frame *f, const NodeValue *v);
bool import_check_args(Import *im, const NodeGraph *g);
bool import_weights(Import *im, const Frame *f, const NodeGraph *g);
/* The type, shape and data of a tensor, read if need be. */
bool import_tensor(Import *im, const NodeTensor *t, const char *what, NodeTensor *out);

const char *item_kind_name(ItemKind kind); /* "a sequence" */
/* A number as a person wrote it: an f32 by its shortest decimal, 1e-05 and not 9.99999974e-06. */
double import_number(DType type, const void *data);

#endif
