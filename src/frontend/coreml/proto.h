/*
 * CoreML's messages as C structs and their field tables, made from coreml/proto.def (models), coreml/layers.def
 * (parameters of layers) and coreml/mil.def (ML programs). Absent texts are NULL; coreml_text() makes them "".
 */
#ifndef FRONTEND_COREML_PROTO_H
#define FRONTEND_COREML_PROTO_H

#include "base/wire.h"

#include "base/wire_struct.def"
#include "frontend/coreml/proto.def"
#include "frontend/coreml/layers.def"
#include "frontend/coreml/mil.def"
#include "base/wire_number.def"
#include "frontend/coreml/proto.def"
#include "frontend/coreml/layers.def"
#include "frontend/coreml/mil.def"
#include "base/wire_end.def"

/* A kind of layer. */
typedef struct CoremlKind {
	const char *name;
	uint32_t field; /* of NeuralNetworkLayer */
	const WireMessage *message;
} CoremlKind;

/* The kind of that field; NULL: there is none. */
const CoremlKind *coreml_kind_of(uint32_t field);

static inline const char *coreml_text(const char *s)
{
	return s != NULL ? s : "";
}

#endif
