/* Imports networks of MXNet. */
#ifndef FRONTEND_MXNET_MXNET_H
#define FRONTEND_MXNET_MXNET_H

#include "frontend/frontend.h"

/* `file` is a symbol or a file of arrays; the other one is looked for beside `path` or given by args->weights. */
Dag *mxnet_import(Arena *a, const char *path, Bytes file, const ModelArgs *args, Err *err);

#endif
