/*
 * CoreML: a .mlmodel is one protobuf message, a .mlpackage a folder with such a message and a file of weights. Two
 * kinds of models are read: neural networks, lists of layers with their weights inside (graph.c, op_*.c), and ML
 * programs, functions of MIL operators (mil.h, mil*.c).
 *
 * Networks of before 2019 know values of five dimensions only, [sequence,batch,channels,height,width]. In the Dag the
 * first two are one, so that windows need no reshapes; `batch` says how many of its elements are one step.
 */
#ifndef FRONTEND_COREML_COREML_H
#define FRONTEND_COREML_COREML_H

#include "frontend/coreml/proto.h"
#include "frontend/node/visit.h"

/* ---- a file (coreml.c): NodeModel.source */

typedef struct CoremlFile {
	const CoremlModel *model;
	/* ML programs: files of weights lie below `folder`, and names in the program are behind `below`: "Data/..../". */
	const char *folder, *below;
	const char *weights_name; /* of the file that is open; NULL: none */
	Bytes weights;
	/* Neural networks: */
	bool rank5;    /* values are [sequence * batch,C,H,W] */
	int64_t batch; /* of rank5 */
	int lead;      /* of rank5: leading dimensions that inputs and results show, 0 to 2 */
} CoremlFile;

static inline CoremlFile *coreml_file(Visit *v)
{
	return (CoremlFile *)(uintptr_t)v->im->model->source;
}

/* ---- packages (package.c) */

bool coreml_is_package(const char *path);
/* The model of a package; names *below as CoremlFile has it. */
bool coreml_open_package(Arena *a, const char *path, const char **below, Bytes *out, Err *err);

/* ---- neural networks as nodes (graph.c); *args is what the import is to be given */

bool coreml_network(Arena *a, CoremlFile *f, const CoremlNetwork *net, ModelArgs *args, NodeGraph *out, Err *err);
extern const NodeFormat coreml_network_format;
/* Channels of an image; 0: its colour space is not known. */
int64_t coreml_channels(const CoremlImage *image);

/* ---- values (blob.c) */

/* The last three dimensions of a value are an image: x is [N,C,H,W], `lead` what was before C. */
typedef struct Blob {
	int x;
	Shape lead;
} Blob;

/* Input k as an image; below 3 dimensions it is refused. */
Blob coreml_blob(Visit *v, int k);
/* Result k from [N,C,H,W]. */
void coreml_set_blob(Visit *v, int k, int y, const Blob *like);
/* Input k with all its dimensions, for layers that count them, and such a result. */
int coreml_value(Visit *v, int k);
void coreml_set(Visit *v, int k, int y);
/* Steps of a sequence in the first dimension of a blob of a network of rank 5. */
int64_t coreml_steps(Visit *v, int64_t lead);
/* Input k as integers for indices: networks compute in floats. */
int coreml_index(Visit *v, int k);
/* Numbers of input k, which must be known, as integers; *count = -1 if it is absent. */
const int64_t *coreml_known(Visit *v, int k, int *count);
/* A list of `n` sizes, `otherwise` each where it is empty; others are refused. */
void coreml_list(
	Visit *v, const char *what, const WireInts *list, int n, int64_t least, int64_t otherwise, int64_t *out);
/* A size of least .. 2^31-1. */
int64_t coreml_size(Visit *v, const char *what, int64_t x, int64_t least);
/* The numbers as a shape. */
Shape coreml_shape(Visit *v, const WireInts *list);

/* ---- weights (weights.c) */

/* `count` floats; scales of quantised ones go by `channels` of equal blocks, behind which are `inner` elements each. */
const float *coreml_numbers(
	Visit *v, const char *what, const CoremlWeight *w, int64_t count, int64_t channels, int64_t inner);
/* The same as a constant. Channels of the quantisation are dimension 0. */
int coreml_weight(Visit *v, const char *what, const CoremlWeight *w, Shape s);
/* A number for each channel of [N,C,H,W], or one for all: [C,1,1]. */
int coreml_by_channel(Visit *v, const char *what, const CoremlWeight *w, int64_t channels);

/* ---- rows */

extern const NodeRow coreml_edge_rows[];
extern const NodeRow coreml_window_rows[];
extern const NodeRow coreml_resize_rows[];
extern const NodeRow coreml_weight_rows[];
extern const NodeRow coreml_math_rows[];
extern const NodeRow coreml_reduce_rows[];
extern const NodeRow coreml_blob_rows[];
extern const NodeRow coreml_move_rows[];
extern const NodeRow coreml_gather_rows[];
extern const NodeRow coreml_recurrent_rows[];
extern const NodeRow coreml_control_rows[];

/* Parameters of the current layer: a message of coreml/layers.def. */
#define coreml_params(v, T) ((const T *)(v)->node->source)

#endif
