/*
 * A GraphDef as the nodes of frontend/node. In between it is a list of TfOps that read each other by number, on which
 * control flow of version 1 becomes loops and choices (frames.c).
 */
#ifndef FRONTEND_TENSORFLOW_GRAPH_H
#define FRONTEND_TENSORFLOW_GRAPH_H

#include "frontend/node/import.h"
#include "frontend/tensorflow/proto.h"

/* Result `out` of TfOp `op`. */
typedef struct TfRef {
	int op, out;
} TfRef;
typedef VEC(TfRef) TfRefs;

typedef struct TfOp {
	const TfNode *from; /* NULL: an argument of a function, or made here */
	const char *name, *kind;
	TfRefs in;
	int nout;               /* results that anything reads, at least 1 */
	bool live;              /* a result needs it */
	bool inner;             /* it belongs to the graph of a loop */
	const char *refused;    /* why it cannot be imported */
	TfRefs after;           /* what it waits for and does not read */
	TfRefs captured;        /* a loop: what its graphs read from outside */
	struct TfLoop *loop;    /* its graphs */
	int side;               /* the number of the choice whose graphs have it; 0: none has */
	struct TfChoice *choice;
	const TfInfo *declared; /* an input: its type and shape in a signature */
} TfOp;

typedef struct TfGraphs TfGraphs;

/* A graph, or the body of a function, while it becomes nodes. */
typedef struct TfOps {
	TfGraphs *all;
	const char *where; /* " of function f" or "" */
	VEC(TfOp) op;
	Names *names;  /* of nodes and arguments -> op */
	int64_t nodes; /* of the graphs that nodes hold */
	Err *err;
} TfOps;

/* A loop of version 1: TfOps of its condition and its body, and what they read and give. */
typedef struct TfLoop {
	VEC(int) cond, body;
	TfRefs cond_in, body_in, body_out; /* an absent input has op -1 */
	TfRef test;
	int depth; /* loops in it, one in another, and itself */
} TfLoop;

/* A choice of version 1: the Ops of its true and its false side, and what they give. */
typedef struct TfChoice {
	int number;
	VEC(int) op[2];
	TfRefs result[2];
} TfChoice;

/* The functions of a library, made when a node names them. */
typedef struct TfBody {
	const TfFunction *from;
	int state;     /* 0 not read, 1 being read, 2 done */
	int64_t nodes; /* of it, those of its graphs included, each as often as a node names it */
	NodeFunction function;
	NodeGraph graph;
} TfBody;

struct TfGraphs {
	Arena *arena;
	const TfGraph *graph;
	Names *functions; /* -> body */
	TfBody *body;
	int depth;
	int64_t results;                 /* of all Ops */
	struct TfCheckpoint *checkpoint; /* NULL: variables have no values */
	Names *variables;                /* the name of a variable's node -> key */
	WireTexts key, part;             /* part: of the tensor, as savers write it (frontend/tensorflow/slices.h) */
};

enum { TF_MOST_OUTPUTS = 1 << 16 };

TfGraphs *tf_graphs(Arena *a, const TfGraph *g);
/* The nodes that the results need; results and inputs come from the signature, NULL: from the graph itself. */
bool tf_graph_nodes(TfGraphs *all, const TfInterface *signature, NodeGraph *out, Err *err);
/* NodeFormat.function */
const NodeFunction *tf_find_function(const Import *im, const NodeDef *n);

/* Of each Op: it depends on one of the kind `first`, not through one of the kind `stop`. */
bool *tf_behind(TfOps *o, const char *first, const char *stop);
/* A product with a mask of random numbers becomes its other operand. */
void tf_leave_out_dropout(TfOps *o);
/* Loops and choices of version 1 become While, and Merge of a predicate and two values; `root` are the results. */
bool tf_rewrite_control(TfOps *o, const TfRefs *root);
/* Ops from nodes, what they read as numbers. */
bool tf_add_nodes(TfOps *o, const TfNode *node, size_t n);
/* "node", "node:2" or, in a function, "node:values:0" as the Op and its result. */
bool tf_find_ref(TfOps *o, const char *text, const char *reader, TfRef *out);
/* The names of the results of an operator that has several: "values indices"; NULL: it has one. */
const char *tf_result_names(const char *op);
/* Marks what the results need. */
void tf_mark_live(TfOps *o, const TfRefs *root);
/* Inputs or results of a graph by their names. */
NodeValue *tf_values(TfOps *o, const TfRefs *list);
/* The nodes of all Ops that are not in the graph of a loop. */
bool tf_make_nodes(TfOps *o, const NodeDef **node, size_t *count);

bool tf_bad(TfOps *o, ErrCode code, const char *fmt, ...) PRINTF_LIKE(3, 4); /* false */
bool op_is(const TfOp *op, const char *kind);

#endif
