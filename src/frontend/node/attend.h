/* Attention over heads that are a dimension of their own, [batch,heads,length,size]. */
#ifndef FRONTEND_NODE_ATTEND_H
#define FRONTEND_NODE_ATTEND_H

#include "frontend/node/visit.h"

typedef struct AttentionHow {
	double scale, cap; /* cap 0: scores are not capped */
	bool causal;
	int64_t past;
	int64_t zeros; /* ZEROS_NONE ... (op/op.h) */
} AttentionHow;

/* softmax(scale q k^T + mask) v; mask: DAG_NONE, a bias, or bools that are true where a query may see a key. */
int node_attention(Visit *v, int q, int k, int value, int mask, const AttentionHow *how);
/* x[batch,length,heads*size] as [batch,heads,length,size], and back. */
int node_split_heads(Visit *v, int x, int64_t heads);
int node_join_heads(Visit *v, int x);

#endif
