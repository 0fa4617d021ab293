/* TensorFlow's graphs, saved models and checkpoints as Dags. */
#ifndef FRONTEND_TENSORFLOW_IMPORT_H
#define FRONTEND_TENSORFLOW_IMPORT_H

#include "frontend/format.h"
#include "frontend/tensorflow/graph.h"

/* A graph whose variables, if it has any, are there; the results and inputs are the signature's, or the graph's own. */
Dag *tf_import(TfGraphs *all, const char *path, const TfInterface *signature, const ModelArgs *args, Err *err);

/* The rows of all operators. */
extern const NodeFormat tf_node_format;
const NodeFormat *tf_format(void);

/* NonMaxSuppression with a place for each box; `least`: an overlap of the limit hides, as in TensorFlow Lite. */
void tf_set_suppression(Visit *v, bool least);

#endif
