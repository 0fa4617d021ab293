/*
 * A model file or a zoo name becomes a Dag with constants. The format is recognised by content.
 * Nothing is trusted: sizes are checked before they are used, external data cannot leave the
 * model's folder, and every unsupported operator is listed at once.
 */
#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H

#include "graph/graph.h"

/* --shape NAME=1,3,224,224 */
typedef struct ShapeArg {
	const char *name;
	Shape shape;
} ShapeArg;

/* --bind NAME=file: an input that is really a constant. */
typedef struct BindArg {
	const char *name;
	DType type;
	Shape shape;
	const void *data;
} BindArg;

typedef struct ModelArgs {
	const ShapeArg *shape;
	const BindArg *bind;
	int nshape, nbind;
	int64_t batch; /* 0: as the model says, a symbolic one becomes 1 */
	EvalFn eval;
	void (*note)(const char *sentence, void *arg); /* "the symbolic batch N is taken as 1"; may be NULL */
	void *note_arg;
	/*
	 * Asked for an input that must be known while compiling and is not bound (test data); may
	 * be NULL.
	 */
	bool (*offer)(const char *input, BindArg *out, void *arg);
	void *offer_arg;
} ModelArgs;

/* `model` is a zoo name or a path. The Dag and its data live in the arena. */
Dag *frontend_load(Arena *a, const char *model, const ModelArgs *args, Err *err);

typedef struct ZooRow {
	const char *name, *doc;
} ZooRow;
const ZooRow *frontend_zoo(int *n);

/*
 * Any Dag as an ONNX file (opset 17 where possible, weights inside), so that rivals run the same.
 */
bool frontend_write_onnx(Text *out, const Dag *d, Err *err);

/* The dimensions and data of a serialized TensorProto (ONNX test data); bytes are borrowed. */
bool frontend_read_tensor_pb(Arena *a, const void *bytes, size_t n, BindArg *out, Err *err);

#endif
