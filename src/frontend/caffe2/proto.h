/*
 * Caffe2's messages as C structs and their field tables, both made from caffe2/proto.def. Absent texts are NULL;
 * caffe2_text() makes them "".
 */
#ifndef FRONTEND_CAFFE2_PROTO_H
#define FRONTEND_CAFFE2_PROTO_H

#include "base/wire.h"

#include "base/wire_struct.def"
#include "frontend/caffe2/proto.def"
#include "base/wire_number.def"
#include "frontend/caffe2/proto.def"
#include "base/wire_end.def"

/* The bytes, or the text, are a NetDef with operators. */
bool caffe2_is_net(Bytes file);
/* Reads either form; `name` is the file's, for messages. */
bool caffe2_read(Arena *a, const char *name, Bytes file, Caffe2Net *out, Err *err);

static inline const char *caffe2_text(const char *s)
{
	return s != NULL ? s : "";
}

#endif
