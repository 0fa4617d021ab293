/*
 * The messages of caffe2.proto that dlc reads, and their field tables (facts of caffe2/proto/caffe2.proto in pytorch).
 * Left out is what chooses a device or a program, and networks inside of operators. Absent texts are NULL.
 */
#ifndef FRONTEND_CAFFE2_PROTO_H
#define FRONTEND_CAFFE2_PROTO_H

#include "base/wire.h"

typedef struct Caffe2Argument {
	uint64_t has;
	const char *name;
	float f;
	int64_t i;
	Bytes s;
	WireFloats floats;
	WireInts ints;
	WireBlobs strings;
} Caffe2Argument;

typedef struct Caffe2Operator {
	uint64_t has;
	WireTexts input, output;
	const char *name, *type;
	VEC(Caffe2Argument) arg;
} Caffe2Operator;

typedef struct Caffe2Net {
	uint64_t has;
	const char *name;
	VEC(Caffe2Operator) op;
	WireTexts external_input, external_output;
} Caffe2Net;

extern const WireMessage Caffe2Argument_message;
extern const WireMessage Caffe2Operator_message;
extern const WireMessage Caffe2Net_message;

/* Bits of `has` of an argument. */
enum {
	CAFFE2_NAME = 1,
	CAFFE2_F = 1 << 1,
	CAFFE2_I = 1 << 2,
	CAFFE2_S = 1 << 3,
	CAFFE2_FLOATS = 1 << 4,
	CAFFE2_INTS = 1 << 5,
	CAFFE2_STRINGS = 1 << 6
};

/* The bytes, or the text, are a NetDef with operators. */
bool caffe2_is_net(Bytes file);
/* Reads either form; `name` is the file's, for messages. */
bool caffe2_read(Arena *a, const char *name, Bytes file, Caffe2Net *out, Err *err);

static inline const char *caffe2_text(const char *s)
{
	return s != NULL ? s : "";
}

#endif
