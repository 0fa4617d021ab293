/* A call that is being written as ONNX, and the writers that do not stand beside their table (onnx/export_op.c). */
#ifndef FRONTEND_ONNX_EXPORT_CALL_H
#define FRONTEND_ONNX_EXPORT_CALL_H

#include "frontend/onnx/export.h"

typedef struct Call {
	OnnxOut *o;
	const OpCall *c;
	const char *type; /* of the ONNX node */
	const char *const *in;
	const char *const *out;
} Call;

/* ---- export_gather.c */

bool write_gather(const Call *k);
bool write_scatter(const Call *k);
int scatter_opset(const OpCall *c);
bool onnx_write_recurrent(const Call *k);

#endif
