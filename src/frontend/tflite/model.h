/*
 * A TensorFlow Lite model as its file has it: subgraphs of tensors with their quantisation, and of operators on numbers
 * of tensors (model.c); the same as nodes (graph.c).
 */
#ifndef FRONTEND_TFLITE_MODEL_H
#define FRONTEND_TFLITE_MODEL_H

#include "frontend/node/visit.h"
#include "frontend/tflite/flat.h"

/* scale[k] * (code - zero[k]); one number for all elements, or one for each along `axis`. n 0: no codes. */
typedef struct TfliteCodes {
	size_t n;
	const float *scale;
	const int64_t *zero;
	int axis;
} TfliteCodes;

typedef struct TfliteTensor {
	const char *name; /* one that no other tensor has */
	int64_t code;     /* of its type */
	DType type;       /* that of the code, where dlc has it */
	bool typed;
	Shape shape;
	const NodeDim *dim;  /* the same, with open dimensions */
	const void *data;    /* NULL: it is computed */
	bool variable;       /* keeps its value from one run to the next */
	const char *refused; /* why its data cannot be read */
	TfliteCodes codes;
} TfliteTensor;

/* What happens to tensors of codes; operators.def says what each is. */
typedef enum { TFLITE_CODES, TFLITE_FLOATS, TFLITE_OWN } TfliteQuantised;

typedef struct TfliteOperator {
	const char *name; /* "CONV_2D", or a custom operator's own */
	TfliteQuantised quantised;
	const int *in, *out; /* tensors; -1: absent */
	int nin, nout;
	const NodeAttr *attr;
	size_t nattr;
} TfliteOperator;

/* A subgraph: the model itself, or what its control flow runs. */
typedef struct TfliteModel {
	const char *name;
	bool read; /* no operator runs it otherwise */
	TfliteTensor *tensor;
	int ntensor;
	TfliteOperator *op;
	size_t nop;
	const int *in, *out;
	int nin, nout;
} TfliteModel;

typedef struct TfliteFile {
	TfliteModel *model; /* of each subgraph */
	NodeGraph *graph;   /* the same as nodes, to which operators of control flow point */
	size_t n, network;  /* network: which subgraph is it */
} TfliteFile;

/*
 * The subgraph of the signature, or the first one where that is NULL, and those that it runs; their graphs are empty
 * yet.
 */
bool tflite_read(Arena *a, Bytes file, const char *signature, TfliteFile *out, Err *err);
const char *tflite_type_name(int64_t code);

/* Its nodes; NodeDef.source is a TfliteNode. */
typedef struct TfliteNode {
	const TfliteModel *model;
	const TfliteOperator *op;
	int in, out; /* of a conversion that graph.c adds: the tensor of codes, as input or as result; else -1 */
} TfliteNode;

/* Fills the graphs. */
bool tflite_graphs(Arena *a, TfliteFile *file, Err *err);

#endif
