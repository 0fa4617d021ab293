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

/* A node that gives x a shape; 0 is a dimension of 0, where ONNX would keep the one that is there. */
static inline const char *reshaped(const Call *k, const char *x, Shape s, const char *result)
{
	OutNode n = out_begin(k->o, "Reshape");
	out_input(&n, x);
	out_input(&n, out_const_ints(k->o, k->out[0], s.dim, s.rank));
	for (int i = 0; i < s.rank; i++)
		if (s.dim[i] == 0) {
			out_int(&n, "allowzero", 1);
			break;
		}
	out_end(&n, result);
	return result;
}

/* Rows of export_math.c. */
bool write_logic(const Call *k);
bool write_shift(const Call *k);
bool write_mod(const Call *k);
bool write_is_inf(const Call *k);
bool write_expm1(const Call *k);
bool write_log1p(const Call *k);
bool write_suppress(const Call *k);

/* ---- export_gather.c */

bool write_gather(const Call *k);
bool write_resample(const Call *k);
bool write_fold(const Call *k);
bool write_scatter(const Call *k);
int scatter_opset(const OpCall *c);
bool onnx_write_attention(const Call *k);
bool onnx_write_linear_attention(const Call *k);
bool onnx_write_recurrent(const Call *k);

#endif
