/* Inside of the folder: layers that networks with attention share. Tokens are [batch, tokens, width]. */
#ifndef FRONTEND_ZOO_TRANSFORMER_H
#define FRONTEND_ZOO_TRANSFORMER_H

#include "frontend/zoo/net.h"

/* Over the last dimension. */
Act net_layer_norm(Net *net, const char *name, Act x);
/* x op v */
Act net_by_number(Net *net, const char *name, int op, Act x, double v, double square);
Act net_gelu(Net *net, const char *name, Act x); /* by erf */

typedef struct Attention {
	int64_t heads;
	bool joined; /* the weights of queries, keys and values are one tensor */
	const Act *mask; /* [tokens, tokens], added before the softmax; NULL: none */
} Attention;

/* A mask by which a token attends to itself and those before it. */
Act net_causal_mask(Net *net, const char *name, int64_t tokens);

/* Attention of the tokens to each other, and the product behind it. */
Act net_attention(Net *net, const char *name, Act x, const Attention *a);
/* Two products with an activation between. */
Act net_feed_forward(
	Net *net, const char *const name[2], Act x, int64_t inner, Act (*active)(Net *net, const char *name, Act x));

#endif
