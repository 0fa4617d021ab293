/*
 * DarkNet: a .cfg lists layers, a .weights file has their numbers in the order of the layers. How many a layer has
 * depends on the shape of its input, so its row takes them from the file while the layers are walked.
 */
#ifndef FRONTEND_DARKNET_DARKNET_H
#define FRONTEND_DARKNET_DARKNET_H

#include "frontend/node/visit.h"

/* ---- a .cfg (cfg.c) */

typedef struct CfgOption {
	const char *name, *value; /* blanks are left out, as DarkNet does */
} CfgOption;

typedef struct CfgSection {
	const char *type; /* "convolutional" */
	int line;
	VEC(CfgOption) option;
} CfgSection;

typedef VEC(CfgSection) Cfg;

bool cfg_read(Arena *a, const char *name, Bytes text, Cfg *out, Err *err);
/* The value of an option; NULL: it is not given. */
const char *cfg_value(const CfgSection *s, const char *name);

/* ---- a tree of classes (tree.c) */

/* An option `tree`, the name of a file, becomes the sizes of the groups of siblings in it. */
bool darknet_read_tree(Arena *a, const char *path, NodeAttr *attr, Err *err);

/* ---- the numbers of a .weights file (numbers.c): NodeModel.source */

typedef struct DarknetNumbers {
	const float *at; /* NULL: there is no file, and numbers are drawn */
	int64_t n, used;
	bool transpose;      /* connected layers have their weights transposed */
	bool fork;           /* the rules of AlexeyAB's fork */
	int64_t steps;       /* of recurrent layers */
	const NodeDef *node; /* the first layer */
	int64_t *first;      /* of each layer: its first number */
	int64_t last;        /* the layer whose numbers were taken last; -1: none */
	int64_t drawn;
} DarknetNumbers;

/* The header of a .weights file; `at` is aligned for floats. */
bool darknet_open_numbers(Arena *a, const char *name, Bytes file, DarknetNumbers *out, Err *err);
/* Before the first number of a layer. With share >= 0 they are those of that layer. */
void darknet_begin(Visit *v, int64_t share);
void darknet_end(Visit *v, int64_t share);
/* The next numbers; `mean` and `spread` of those that are drawn. NULL after a refusal. */
const float *darknet_take(Visit *v, const char *what, Shape s, double mean, double spread);
/* The same as a constant. */
int darknet_constant(Visit *v, const char *what, Shape s, double mean, double spread);

/* ---- layers that others are made of (op_layer.c) */

typedef struct Filters {
	int64_t n, size, stride[2], pad, groups, dilation;
	bool normalized;
	const char *activation;
} Filters;

/* The constants of a layer; DAG_NONE for statistics that it does not have. */
typedef struct LayerWeights {
	int weight, bias, scale, mean, variance;
} LayerWeights;

/* A convolution of x[N,C,H,W], whose numbers come next. */
LayerWeights darknet_take_filters(Visit *v, int64_t channels, const Filters *f);
int darknet_convolve(Visit *v, int x, const Filters *f, const LayerWeights *w);
/* A connected layer of x[N,C], from `in` numbers to `n`. */
LayerWeights darknet_take_connected(Visit *v, int64_t in, int64_t n, bool normalized);
int darknet_connect(Visit *v, int x, const LayerWeights *w, const char *activation);
int darknet_activate(Visit *v, int x, const char *name);
int darknet_image(Visit *v, int k); /* input k as [N,C,H,W] */
int darknet_flat(Visit *v, int k);  /* input k as [N,C*H*W] */

extern const NodeRow darknet_layer_rows[];
extern const NodeRow darknet_detect_rows[];
extern const NodeRow darknet_recurrent_rows[];

#endif
