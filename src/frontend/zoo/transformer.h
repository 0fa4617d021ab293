/* Inside of the folder: layers that networks with attention share. Tokens are [batch, tokens, width]. */
#ifndef FRONTEND_ZOO_TRANSFORMER_H
#define FRONTEND_ZOO_TRANSFORMER_H

#include "frontend/zoo/net.h"

/* Over the last dimension. */
Act net_layer_norm(Net *net, const char *name, Act x);
Act net_gelu(Net *net, const char *name, Act x); /* by erf */

typedef struct Attention {
	int64_t heads;
	bool joined; /* the weights of queries, keys and values are one tensor */
	bool causal; /* a token attends to itself and those before it */
} Attention;

/* Attention of the tokens to each other, and the product behind it. */
Act net_attention(Net *net, const char *name, Act x, const Attention *a);
/* Two products with an activation between. */
Act net_feed_forward(
	Net *net, const char *const name[2], Act x, int64_t inner, Act (*active)(Net *net, const char *name, Act x));

#endif
