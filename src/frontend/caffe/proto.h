/*
 * Caffe's messages as C structs and their field tables, both made from caffe/proto.def. Absent texts are NULL;
 * caffe_text() makes them "".
 */
#ifndef FRONTEND_CAFFE_PROTO_H
#define FRONTEND_CAFFE_PROTO_H

#include "base/wire.h"

#include "base/wire_struct.def"
#include "frontend/caffe/proto.def"
#include "base/wire_number.def"
#include "frontend/caffe/proto.def"
#include "base/wire_end.def"

/* Values of enums. */
enum { CAFFE_TEST = 1 };                              /* Phase */
enum { CAFFE_PROD, CAFFE_SUM, CAFFE_MAX };            /* EltwiseOp */
enum { CAFFE_POOL_MAX, CAFFE_POOL_AVE };              /* PoolMethod */
enum { CAFFE_ROUND_CEIL, CAFFE_ROUND_FLOOR };         /* RoundMode */
enum { CAFFE_ACROSS_CHANNELS, CAFFE_WITHIN_CHANNEL }; /* NormRegion */
enum { CAFFE_REDUCE_SUM = 1, CAFFE_REDUCE_ASUM, CAFFE_REDUCE_SUMSQ, CAFFE_REDUCE_MEAN };
enum { CAFFE_BOX_CORNER = 1, CAFFE_BOX_CENTER_SIZE, CAFFE_BOX_CORNER_SIZE };

/* The type that a layer of before 2015 has today: 4 is "Convolution"; NULL: there is none of that number. */
const char *caffe_type_of(int64_t old);

static inline const char *caffe_text(const char *s)
{
	return s != NULL ? s : "";
}

#endif
