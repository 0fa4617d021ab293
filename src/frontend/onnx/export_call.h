/*
 * Inside the writer: a call of the Dag that becomes nodes, and what most writers of rows do. A writer gives every
 * result of the call its name of the file.
 */
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

static inline const Value *arg(const Call *k, int i)
{
	return &k->o->dag->value.at[k->c->in[i]];
}

static inline OutNode begin(const Call *k)
{
	OutNode n = out_begin(k->o, k->type);
	for (int i = 0; i < k->c->nin; i++)
		out_input(&n, k->in[i]);
	return n;
}

static inline bool end(const Call *k, OutNode *n)
{
	out_end(n, k->out[0]);
	return true;
}

static inline bool plain(const Call *k)
{
	OutNode n = begin(k);
	return end(k, &n);
}

/* Rows of export_math.c. */
bool write_logic(const Call *k);
bool write_shift(const Call *k);
bool write_mod(const Call *k);
bool write_is_inf(const Call *k);
bool write_expm1(const Call *k);
bool write_log1p(const Call *k);

/* ---- export_gather.c */

bool write_gather(const Call *k);
bool write_resample(const Call *k);
bool write_scatter(const Call *k);
int scatter_opset(const OpCall *c);
bool onnx_write_attention(const Call *k);
bool onnx_write_linear_attention(const Call *k);
bool onnx_write_recurrent(const Call *k);

#endif
