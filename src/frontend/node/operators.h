/*
 * What a front end consists of: a table of its operators, of which each row turns one node into calls of the Dag
 * (frontend/node/visit.h has the functions for it), and the few things in which formats differ.
 */
#ifndef FRONTEND_NODE_OPERATORS_H
#define FRONTEND_NODE_OPERATORS_H

#include "frontend/node/import.h"

typedef struct NodeRow {
	const char *name;    /* "Conv"; of another domain: "com.microsoft::Gelu" */
	int since;           /* the first version that has it; 0: all */
	const char *ignored; /* attributes that change nothing here: "consumed_inputs momentum"; "*": all others */
	void (*import)(Visit *n);
} NodeRow;

struct NodeFormat {
	const char *name;            /* "ONNX" */
	const char *version;         /* what its versions are called: "opset"; NULL: it has none */
	const char *weight;          /* what it calls one: "initializer" */
	const NodeRow *const *lists; /* each ends with name NULL; the list of lists ends with NULL */
	const char *branch;          /* the operators whose graphs may not run: "If Case"; NULL: it has none */
	/* Attributes are read as what the row asks for: "(3, 3)", "True" and 1.0 are integers. Else kinds must be right. */
	bool loose;
	/* The function that a node calls; NULL: the format has none, or the node is an operator. */
	const NodeFunction *(*function)(const Import *im, const NodeDef *n);
	/* Reads a tensor's source; `what` names it in messages. NULL: all tensors have their data. */
	bool (*read)(Import *im, const NodeTensor *t, const char *what, NodeTensor *out);
};

/* The row of a node in a version; NULL: there is none. */
const NodeRow *node_find_row(const NodeFormat *f, const NodeDef *n, int64_t version);
/* Refuses with all operators that dlc does not have; those that only branches have are kept in im->missing. */
bool node_check_supported(Import *im);
/* Refuses with these operators, of which the caller knows that dlc does not have them; false. */
bool node_refuse_operators(Import *im, const NodeDef *node, size_t n);

#endif
