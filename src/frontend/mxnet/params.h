/*
 * The file of arrays that MXNet saves beside a symbol (.params), of all its versions. Arrays are in C order and
 * little-endian. A list saved without names has arrays named "".
 */
#ifndef FRONTEND_MXNET_PARAMS_H
#define FRONTEND_MXNET_PARAMS_H

#include "frontend/node/definition.h"

enum { MXNET_PARAMS_MAGIC = 0x112 };

typedef struct MxnetParams {
	const char *path;
	VEC(NodeTensor) array; /* names without "arg:" and "aux:"; data is NULL where nothing was stored */
} MxnetParams;

/* Data is borrowed from `file`, or copied where it is not aligned there. */
bool mxnet_params_read(Arena *a, const char *path, Bytes file, MxnetParams *out, Err *err);
/* The element type of a number that MXNet gives it; bits = 0: there is none. */
DType mxnet_type(int64_t flag);

#endif
