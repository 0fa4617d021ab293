/*
 * Turns a model file or a zoo name into a Dag with constants. The format of a file is recognised by its
 * content; each format is a row (frontend/format.h). Files are not trusted: sizes are checked before they
 * are used, external data cannot leave the model's folder. A refusal lists all unsupported operators.
 */
#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H

#include "base/file.h"
#include "graph/graph.h"

/* The shape that an input is given. */
typedef struct ShapeArg {
	const char *name;
	Shape shape;
} ShapeArg;

/* An input that is really a constant. */
typedef struct BindArg {
	const char *name;
	DType type;
	Shape shape;
	const void *data;
} BindArg;

/* The order of an input's dimensions outside of the model: "nhwc" (frontend/input_layout.h). */
typedef struct LayoutArg {
	const char *name, *layout;
} LayoutArg;

/* A front end that is no row of format.def: that of another program. */
typedef struct ModelArgs ModelArgs;
typedef struct OutsideFormat {
	bool (*recognise)(Bytes file, void *arg);
	Dag *(*load)(Arena *a, const char *path, Bytes file, const ModelArgs *args, void *arg, Err *err);
	void *arg;
} OutsideFormat;

struct ModelArgs {
	const ShapeArg *shape;
	const BindArg *bind;
	int nshape, nbind;
	int64_t batch; /* 0: as the model says, a symbolic one becomes 1 */
	int64_t seq;   /* tokens or steps of a sequence; 0: as the model says */
	const char *weights; /* the file of the weights; NULL: in the model, or beside it by the format's habit */
	EvalFn eval;
	void (*note)(const char *sentence, void *arg); /* "the symbolic batch 'N' ... is taken as 1"; may be NULL */
	void *note_arg;
	/* Asked for an input that must be known while compiling and is not bound (test data); may be NULL. */
	bool (*offer)(const char *input, BindArg *out, void *arg);
	void *offer_arg;
	const LayoutArg *layout;
	int nlayout;
	const OutsideFormat *outside; /* is asked first about a file; may be NULL */
	const char *signature; /* which entry point of a model with several; NULL: the format's usual one */
	const char *tags;      /* which graph of a SavedModel: "serve,tpu"; NULL: the one for serving */
};

/*
 * `model` is a zoo name or a path. The Dag and its data live in the arena. A refusal is placed at the model, or at the
 * field that is to be given or mended: "batch", "seq", "shape", "bind", "layout", "weights", "signature" or "tags".
 */
Dag *frontend_load(Arena *a, const char *model, const ModelArgs *args, Err *err);
/*
 * The same from a file's content, which is borrowed for as long as the Dag lives. `name` is for messages; external
 * data lies in its folder.
 */
Dag *frontend_load_bytes(Arena *a, const char *name, Bytes file, const ModelArgs *args, Err *err);

/* A model that needs no file: a network of the zoo. */
typedef struct NamedModel {
	const char *name, *doc;
} NamedModel;
const NamedModel *frontend_models(Arena *a, int *n);

/*
 * The Dag as a file of the format, weights inside. ERR_UNSUPPORTED: dlc does not write the format, or the
 * format lacks an operator.
 */
bool frontend_write(const char *format, Text *out, const Dag *d, Err *err);
/* The dimensions and data of a file with one tensor (ONNX test data); bytes are borrowed. */
bool frontend_read_tensor(const char *format, Arena *a, Bytes file, BindArg *out, Err *err);

#endif
