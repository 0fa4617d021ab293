/*
 * Keras: a configuration in JSON, whose layers hold other layers, and an HDF5 file of their weights. Each layer becomes
 * a KerasLayer, once, and each call of a layer a node. Weights are slots of a layer: its row asks for them by name and
 * shape, calls of a shared layer get the same ones.
 */
#ifndef FRONTEND_KERAS_KERAS_H
#define FRONTEND_KERAS_KERAS_H

#include "base/json.h"
#include "frontend/hdf5_file.h"
#include "frontend/node/channels.h"
#include "frontend/node/compose.h"

typedef struct KerasSlot {
	const char *name;    /* "kernel", "cell/kernel" */
	bool fixed;          /* is not trained: files of version 2 have it behind those that are */
	bool optional;       /* files of some versions lack it */
	const char *path;    /* its data set; NULL: it has none */
	const char *gate[4]; /* version 1: data sets that are its parts; else path */
	int value;           /* in the Dag, from the first call on */
} KerasSlot;

typedef struct KerasLayer KerasLayer;
struct KerasLayer {
	const char *name, *op, *domain;
	const Json *json, *config; /* the layer; its settings, never NULL */
	bool trainable;
	KerasSlot *slot;
	size_t nslot;
	KerasLayer **part; /* of a model and of a wrapper: the layers in it */
	size_t npart;
};

/* A model's file: NodeModel.source. */
typedef struct KerasFile {
	const char *path;
	int version;        /* 1, 2, 3 */
	bool guessed;       /* the file does not tell the version */
	int written;        /* the version that wrote the weights; 0: the file does not tell */
	bool theano;        /* its filters are flipped */
	Hdf5 *weights;      /* NULL: weights are drawn */
	const char *stored; /* the file of the weights */
	bool found;         /* where weights are */
	int64_t drawn;
	KerasLayer *model;
} KerasFile;

/* One call: NodeDef.source. */
typedef struct KerasCall {
	KerasFile *file;
	KerasLayer *layer;
	const Json *settings;      /* the layer's, or those of a function of TensorFlow, which its call has */
	const Json *args, *kwargs; /* as the file has them; NULL: only tensors, which are the node's inputs */
	const int *mask;           /* by input: which one is its mask, that the file does not write; NULL: none has one */
	bool listed;               /* args are a list of tensors, as in version 2 */
} KerasCall;

/* ---- layers (layer.c) and their weights (weights.c) */

/* NULL and err: `json` is no layer. Depth counts how many layers it is in. */
KerasLayer *keras_layer(Arena *a, KerasFile *f, const Json *json, int depth, Err *err);
bool keras_is_model(const KerasLayer *l);
/* "conv2d" of "Conv2D" */
const char *keras_snake(Arena *a, const char *name);
/* The slots of a class, as its settings say. */
void keras_add_slots(Arena *a, KerasLayer *l);
/* Finds the data sets of all slots, once; weights that are missing or too many are refused. */
bool keras_find_weights(Arena *a, KerasFile *f, Err *err);
/* The layer calls this function of TensorFlow. */
bool keras_tf_function(const KerasLayer *l, const char **function);
/* The function of keras.ops that it is, with its arguments as settings; NULL: there is none. */
const char *keras_from_tf(Arena *a, const char *function, const Json *kwargs, Json *settings);
/* Settings as attributes of a node; a function has none that are left out. */
void keras_set_attrs(Arena *a, const Json *settings, bool function, NodeDef *n);
/* A graph of a node for each call, named as in Keras. */
bool keras_graph(Arena *a, KerasFile *f, NodeGraph *out, Err *err);

/* ---- what rows read (row.c) */

KerasFile *keras_file(const Visit *v);
const KerasLayer *keras_of(const Visit *v);
const Json *keras_settings(const Visit *v);
int keras_value(Visit *v, int k); /* input k, which must be there */
/* An attribute that is no number, text or list; NULL: absent. */
const Json *keras_json(Visit *v, const char *name);
/* Channels are last. */
bool keras_last(Visit *v);
bool keras_has_weight(Visit *v, const char *slot);
/* A weight in f32, which must have that shape. */
int keras_weight(Visit *v, const char *slot, Shape s);
/* The function of the attribute, or of a JSON value; without one: x. */
int keras_activate(Visit *v, int x, const char *attribute);
int keras_activate_as(Visit *v, int x, const Json *how);
/* An argument of the call by name, which is no tensor; NULL: absent. */
const Json *keras_argument(Visit *v, int at, const char *name);
bool keras_flag(Visit *v, const char *name);
/* The input of the node that is argument `at` or has that name; -1: there is none. */
int keras_input(Visit *v, int at, const char *name);
/* Every element of the list under one of these names is an input; else it is refused. */
bool keras_all_tensors(Visit *v, const char *const *names);
/* The type that an argument or attribute dtype names. */
DType keras_type_or(Visit *v, DType otherwise);
bool keras_is_listed(Visit *v); /* the call is in the form of before Keras 3 */
int keras_count_tensors(const Json *j, bool listed);
/* How many tensors argument `at` has, or the one of that name. */
int keras_count_at(Visit *v, int at, const char *name);
/* The number that stands for the first tensor of a call in version 2; NULL: that is a tensor. */
const Json *keras_constant(const Json *args);
double keras_number(const Json *config, const char *name, double otherwise);

extern const NodeRow *const keras_lists[]; /* all of them; ends with NULL */
extern const NodeRow keras_core_rows[], keras_merge_rows[], keras_window_rows[], keras_resize_rows[],
	keras_local_rows[], keras_norm_rows[], keras_recurrent_rows[], keras_attention_rows[], keras_math_rows[],
	keras_function_rows[], keras_mask_rows[], keras_preprocess_rows[];

#endif
