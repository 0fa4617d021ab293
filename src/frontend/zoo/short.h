/* Inside of the folder: layers (frontend/layer/layer.h) in the few words that networks of the zoo need. */
#ifndef FRONTEND_ZOO_SHORT_H
#define FRONTEND_ZOO_SHORT_H

#include "frontend/layer/layer.h"

enum { ZOO_CLASSES = 1000 };

int64_t zoo_round_to_8(double v); /* a multiple of 8 near v, at least 0.9 v: numbers of channels */

/* Square windows of images. */
typedef struct ConvSpec {
	int64_t out, kernel, stride, pad, groups;
	bool bias;
	int64_t wide, wide_pad; /* of the last dimension, where it differs; wide 0: it is as the other */
} ConvSpec;

Act zoo_conv(Net *net, const char *name, Act x, ConvSpec c);
Act zoo_conv_transpose(Net *net, const char *name, Act x, ConvSpec c);
/* The result has the variance scale^2, approximately. */
Act zoo_batch_norm(Net *net, const char *name, Act x, double scale);
/* A convolution NAME.0 and its batch norm NAME.1. */
Act zoo_conv_norm(Net *net, const char *name, Act x, ConvSpec c, double scale);
Act zoo_relu(Net *net, const char *name, Act x);
Act zoo_clip(Net *net, const char *name, Act x, double lo, double hi);

typedef struct PoolSpec {
	int64_t kernel, stride, pad;
	bool ceil, mean; /* mean: padding counts */
} PoolSpec;

Act zoo_pool(Net *net, const char *name, Act x, PoolSpec p);
/* [N,C,size,size]: the mean of equal windows, or copies of one element. Other sizes are refused. */
Act zoo_adaptive_pool(Net *net, const char *name, Act x, int64_t size);
/* `gain` is the variance of a weight times the input's length. */
Act zoo_dense(Net *net, const char *name, Act x, int64_t out, double gain);
/* The layer that gives ZOO_CLASSES numbers. */
Act zoo_classifier(Net *net, const char *name, Act x);
Act zoo_layer_norm(Net *net, const char *name, Act x);

#endif
