/*
 * Caffe's messages as C structs and their field tables, both made from caffe/proto.def. Absent texts are NULL;
 * caffe_text() makes them "".
 */
#ifndef FRONTEND_CAFFE_PROTO_H
#define FRONTEND_CAFFE_PROTO_H

#include "base/wire.h"

#define MESSAGE(S, schema, rows) \
	typedef struct S { \
		uint64_t has; \
		rows \
	} S; \
	extern const WireMessage S##_message;
#define INT(S, m, k) int64_t m;
#define FLOAT(S, m, k) float m;
#define TEXT(S, m, k) const char *m;
#define BYTES(S, m, k) Bytes m;
#define INTS(S, m, k) WireInts m;
#define FLOATS(S, m, k) WireFloats m;
#define TEXTS(S, m, k) WireTexts m;
#define BLOBS(S, m, k) WireBlobs m;
#define ENUM(S, m, k, names) int64_t m;
#define ONE(S, m, k, T) T *m;
#define MANY(S, m, k, T) VEC(T) m;
#include "frontend/caffe/proto.def"
#include "frontend/caffe/proto_end.def"

/* Row numbers, for `has`: S##_##member. */
#define MESSAGE(S, schema, rows) enum { rows S##_rows };
#define INT(S, m, k) S##_##m,
#define FLOAT(S, m, k) S##_##m,
#define TEXT(S, m, k) S##_##m,
#define BYTES(S, m, k) S##_##m,
#define INTS(S, m, k) S##_##m,
#define FLOATS(S, m, k) S##_##m,
#define TEXTS(S, m, k) S##_##m,
#define BLOBS(S, m, k) S##_##m,
#define ENUM(S, m, k, names) S##_##m,
#define ONE(S, m, k, T) S##_##m,
#define MANY(S, m, k, T) S##_##m,
#include "frontend/caffe/proto.def"
#include "frontend/caffe/proto_end.def"

/* Values of enums. */
enum { CAFFE_TEST = 1 };                              /* Phase */
enum { CAFFE_PROD, CAFFE_SUM, CAFFE_MAX };            /* EltwiseOp */
enum { CAFFE_POOL_MAX, CAFFE_POOL_AVE };              /* PoolMethod */
enum { CAFFE_ROUND_CEIL, CAFFE_ROUND_FLOOR };         /* RoundMode */
enum { CAFFE_ACROSS_CHANNELS, CAFFE_WITHIN_CHANNEL }; /* NormRegion */
enum { CAFFE_REDUCE_SUM = 1, CAFFE_REDUCE_ASUM, CAFFE_REDUCE_SUMSQ, CAFFE_REDUCE_MEAN };

/* The type that a layer of before 2015 has today: 4 is "Convolution"; NULL: there is none of that number. */
const char *caffe_type_of(int64_t old);

static inline const char *caffe_text(const char *s)
{
	return s != NULL ? s : "";
}

#endif
