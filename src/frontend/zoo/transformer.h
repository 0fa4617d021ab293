/* Inside of the folder: what networks with attention share. Tokens are [batch, tokens, width]. */
#ifndef FRONTEND_ZOO_TRANSFORMER_H
#define FRONTEND_ZOO_TRANSFORMER_H

#include "frontend/zoo/short.h"

Act zoo_gelu(Net *net, const char *name, Act x); /* by erf, as PyTorch exports it */
/* Two products with an activation between. */
Act zoo_feed_forward(
	Net *net, const char *const name[2], Act x, int64_t inner, Act (*active)(Net *net, const char *name, Act x));

#endif
