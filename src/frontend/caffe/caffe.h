/*
 * Caffe: a .prototxt lists layers, a .caffemodel has the same network with its weights, in bytes. Layers are brought to
 * the form of 2015 (upgrade.c), become nodes (layers.c), and take their weights by their names (weights.c).
 */
#ifndef FRONTEND_CAFFE_CAFFE_H
#define FRONTEND_CAFFE_CAFFE_H

#include "frontend/caffe/proto.h"
#include "frontend/node/visit.h"

/* ---- a network (upgrade.c) */

/* A .prototxt by its text, or a .caffemodel by its bytes. Fields that no table has are added to *skipped. */
bool caffe_read(Arena *a, const char *name, Bytes file, bool text, CaffeNet *out, WireTexts *skipped, Err *err);
/* Layer `at` of before 2014; *drop: it pads, and the layers that read it do so now (upgrade_oldest.c). */
bool caffe_upgrade_oldest(Arena *a, const CaffeNet *net, size_t at, CaffeLayer *to, bool *drop, Err *err);
/* The word of a type of before 2014. */
bool caffe_is_oldest_type(Bytes word);
/* A path of a skipped field that changes nothing at inference: "layer.param.lr_mult". */
bool caffe_is_training_field(const char *path);

/* ---- its layers as nodes (layers.c) */

/* What runs at inference: phase TEST, without losses. NodeDef.source is the CaffeLayer. */
bool caffe_graph(Arena *a, const CaffeNet *net, const ModelArgs *args, NodeGraph *out, Err *err);
bool caffe_is_data(const char *type);

/* ---- weights (weights.c): NodeModel.source */

typedef struct CaffeWeights {
	const char *file;    /* NULL: there is none, and weights are drawn */
	const CaffeNet *net; /* of the file */
	Names *names;        /* of its layers with blobs */
	const NodeDef *last; /* the layer whose weights were taken last */
	int64_t drawn;
} CaffeWeights;

void caffe_index_weights(Arena *a, CaffeWeights *w);
bool caffe_blob_shape(const CaffeBlob *b, Shape *out);
/* Blob k of the current layer, `what` in messages; `mean` and `spread` of one that is drawn. NULL after a refusal. */
const float *caffe_take(Visit *v, int k, const char *what, Shape s, double mean, double spread);
/* The same as a constant. */
int caffe_constant(Visit *v, int k, const char *what, Shape s, double mean, double spread);

/* ---- rows */

extern const NodeRow caffe_window_rows[];
extern const NodeRow caffe_weight_rows[];
extern const NodeRow caffe_math_rows[];
extern const NodeRow caffe_move_rows[];
extern const NodeRow caffe_detect_rows[];
extern const NodeRow caffe_recurrent_rows[];
extern const NodeRow caffe_fork_rows[];

/* An axis of input k, `otherwise` if the attribute is not given. */
int caffe_axis(Visit *v, const char *name, int64_t otherwise, int rank);
/* A number of at least `least`. */
int64_t caffe_count(Visit *v, const char *name, int64_t otherwise, int64_t least);

#endif
