/* Builds an ONNX file: the functions that the writers of single operators (onnx/export_op.c) use. */
#ifndef FRONTEND_ONNX_EXPORT_H
#define FRONTEND_ONNX_EXPORT_H

#include "frontend/onnx/proto.h"
#include "op/names.h"

typedef struct OnnxOut {
	Arena *arena;
	const Dag *dag;
	OnnxGraph *graph;
	Names *names; /* every name in the file */
	int opset;    /* 17, or newer where an operator needs it */
	Err *err;
} OnnxOut;

/* A node being written; out_end adds it to the graph. */
typedef struct OutNode {
	OnnxOut *o;
	OnnxNode node;
} OutNode;

/* True of a dense layer that only recurrent operators read: their nodes hold its operands. */
bool onnx_write_joins(const Dag *d, const OpCall *c);
/*
 * The nodes of a call of the Dag; `in` and `out` are the file's names of its values, NULL: absent.
 */
bool onnx_write_call(OnnxOut *o, const OpCall *c, const char *const *in, const char *const *out);
/* The opset that a call needs. */
int onnx_write_opset(const Dag *d, const OpCall *c);

OutNode out_begin(OnnxOut *o, const char *op_type);
void out_input(OutNode *n, const char *name); /* NULL: an optional input that is absent */
void out_int(OutNode *n, const char *name, int64_t v);
void out_float(OutNode *n, const char *name, double v);
void out_text(OutNode *n, const char *name, const char *v);
void out_ints(OutNode *n, const char *name, const int64_t *v, int count);
void out_floats(OutNode *n, const char *name, const float *v, int count);
void out_texts(OutNode *n, const char *name, const char *const *v, int count);
void out_end(OutNode *n, const char *result);

/* A new name that begins with `wish`. */
const char *out_name(OnnxOut *o, const char *wish);
/* Initialisers; all return the name. */
const char *out_const_ints(OnnxOut *o, const char *wish, const int64_t *v, int n);
const char *out_const(OnnxOut *o, const char *wish, DType type, Shape shape, const void *data); /* borrowed */
const char *out_const_number(OnnxOut *o, const char *wish, DType type, double v);

#endif
