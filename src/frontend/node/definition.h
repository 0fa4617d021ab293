/*
 * A network as its file writes it, whatever the format: nodes that read and write values by name. A front end fills
 * these structs from its own ones, without copying weights, and hands them to import_model (frontend/node/import.h).
 * What a node means is said by the rows of the format's operators.
 */
#ifndef FRONTEND_NODE_DEFINITION_H
#define FRONTEND_NODE_DEFINITION_H

#include "base/wire.h"
#include "frontend/frontend.h"

typedef struct Import Import;
typedef struct Visit Visit;
typedef struct NodeGraph NodeGraph;

typedef enum {
	NODE_EMPTY, /* a list without elements whose kind the file does not tell */
	NODE_INT,
	NODE_FLOAT,
	NODE_TEXT,
	NODE_INTS,
	NODE_FLOATS,
	NODE_TEXTS,
	NODE_TENSOR,
	NODE_GRAPH,
	NODE_REF,  /* an attribute of the call of the function that the node is in */
	NODE_OTHER /* a kind that no row reads */
} NodeKind;

/* Little-endian data in row-major order. With `source` the members above are read when they are needed. */
typedef struct NodeTensor {
	const char *name;
	DType type;
	Shape shape;
	const void *data;
	int64_t code; /* not 0: the elements are codes of this 8-bit float format */
	const void *source; /* not NULL: NodeFormat.read gives the rest */
} NodeTensor;

typedef struct NodeAttr {
	const char *name;
	NodeKind kind;
	union {
		int64_t i;
		double f;
		Bytes text;
		WireInts ints;
		WireFloats floats;
		WireBlobs texts;
		const NodeTensor *tensor;
		const NodeGraph *graph;
		const char *ref;
	};
} NodeAttr;

/* Texts are never NULL. An absent input or output has the name "". */
typedef struct NodeDef {
	const char *name, *op;
	const char *domain; /* of operators; "" is the format's own */
	const char *const *in, *const *out;
	size_t nin, nout;
	const NodeAttr *attr;
	size_t nattr;
	const void *source; /* for the format's own rows */
} NodeDef;

typedef struct NodeDim {
	int64_t size;
	bool open;           /* no number: any, or by the symbol's */
	const char *symbol;  /* "N"; "": it has no name */
	int64_t times, plus; /* the size is times * symbol + plus; times = 0 counts as 1 */
	int64_t least, most; /* sizes that the model takes; most = 0: all */
} NodeDim;

/* An input or a result as the file declares it. */
typedef struct NodeValue {
	const char *name;
	const char *reads; /* a result: the value that it is, where that has another name; else NULL */
	DType type;
	int64_t code; /* as of NodeTensor */
	const char *refused; /* why an input cannot be one: "is a map; dlc takes tensors only" */
	ErrCode refusal;
	bool sequence; /* of tensors of this type: they are the inputs NAME.0, NAME.1, .., or such results */
	bool shaped; /* its dimensions are declared */
	const NodeDim *dim;
	size_t ndim;
} NodeValue;

struct NodeGraph {
	const char *name;
	const NodeDef *node; /* in any order */
	size_t nnode;
	const NodeValue *in, *out;
	size_t nin, nout;
	const NodeTensor *weight; /* an input with a weight of its name is not one */
	size_t nweight;
	const char *refused; /* why its weights cannot be read */
};

/* Nodes that stand for one node where it is called. */
typedef struct NodeFunction {
	const char *name;
	const char *const *in, *const *out;
	size_t nin, nout;
	const NodeAttr *attr; /* values of attributes that a call leaves out */
	size_t nattr;
	const NodeDef *node;
	size_t nnode;
	int version;
} NodeFunction;

#endif
