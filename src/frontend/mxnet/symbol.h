/*
 * A network as MXNet's symbol.json writes it, versions 0.8 to 2.0 alike: what older versions wrote otherwise is
 * upgraded, as MXNet itself does when it loads such a file.
 */
#ifndef FRONTEND_MXNET_SYMBOL_H
#define FRONTEND_MXNET_SYMBOL_H

#include "frontend/mxnet/params.h"

typedef struct MxnetSymbol MxnetSymbol;

typedef struct MxnetRef {
	int node, out;
} MxnetRef;

typedef VEC(MxnetRef) MxnetRefs;

typedef struct MxnetNode {
	const char *op; /* its first name, where it has several; "null": a variable */
	const char *name;
	VEC(NodeAttr) attr; /* texts, without those of training and placement */
	MxnetRefs in;
	const char *shape, *dtype; /* of a variable, "(16, 3, 3, 3)" and "0"; NULL: not said */
	bool parameter;            /* a variable that says how it is trained */
	VEC(MxnetSymbol *) sub;
} MxnetNode;

struct MxnetSymbol {
	VEC(MxnetNode) node;
	VEC(int) arg; /* variables in the order of their use */
	MxnetRefs head;
	int64_t version; /* 10901: 1.9.1; older than 0.9: 800 */
};

bool mxnet_symbol_read(Arena *a, const char *path, Bytes file, MxnetSymbol *out, Err *err);

/* What input k of an operator is called: "weight", "label"; NULL: the operator's inputs have no names here. */
const char *mxnet_slot(const char *op, size_t k, Arena *a);
/* A slot that holds a parameter of the network. */
bool mxnet_slot_is_weight(const char *slot);

#endif
