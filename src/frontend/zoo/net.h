/*
 * Inside of the folder: the vocabulary in which networks are written. Weights are He-normal from a fixed seed. Each
 * tensor draws from a stream of its own name, so that none depends on the others. The builder carries the mean square
 * of every activation and gives batch norms the statistics that fit, as training would. So values stay in range from
 * the first to the last layer. After a failure all functions do nothing.
 */
#ifndef FRONTEND_ZOO_NET_H
#define FRONTEND_ZOO_NET_H

#include "op/op.h"

enum { ZOO_CLASSES = 1000 };

typedef struct Net {
	Arena *arena;
	Dag *dag;
	Err *err;
	bool ok;
} Net;

/* A value and its mean square, which sets the scale of the weights that follow. */
typedef struct Act {
	int value;
	double square;
} Act;

Act net_call(Net *net, const char *name, int op, const int *in, int nin, const Attr *attr, int nattr, double square);
const char *net_sub(Net *net, const char *name, const char *part); /* "name.part" */
const char *net_numbered(Net *net, const char *name, int k);       /* "name.k" */
int64_t net_dim(const Net *net, Act x, int k);
int64_t net_channels(const Net *net, Act x); /* dimension 1 */

int64_t net_round_to_8(double v); /* a multiple of 8 near v, at least 0.9 v: numbers of channels */

/* A constant: mean + spread * normal. */
int net_tensor(Net *net, const char *name, Shape s, double mean, double spread);
/* n values around `center`, at most a quarter of it away: variances and scales must stay positive. */
int net_around(Net *net, const char *name, int64_t n, double center);

typedef struct ConvSpec {
	int64_t out, kernel, stride, pad, groups;
	bool bias;
	int64_t wide, wide_pad; /* of the last dimension, where it differs; wide 0: it is as the other */
} ConvSpec;

Act net_conv(Net *net, const char *name, Act x, ConvSpec c);
/* Over axis 1. The result has the variance scale^2, approximately. */
Act net_batch_norm(Net *net, const char *name, Act x, double scale);
/* A convolution NAME.0 and its batch norm NAME.1. */
Act net_conv_norm(Net *net, const char *name, Act x, ConvSpec c, double scale);
Act net_relu(Net *net, const char *name, Act x);
Act net_clip(Net *net, const char *name, Act x, double lo, double hi);
Act net_unary(Net *net, const char *name, int op, Act x, double square);
Act net_binary(Net *net, const char *name, int op, Act a, Act b, double square);
Act net_add(Net *net, const char *name, Act a, Act b);
Act net_concat(Net *net, const char *name, const Act *x, int n); /* along axis 1 */

typedef struct PoolSpec {
	int64_t kernel, stride, pad;
	bool ceil, mean; /* mean: padding counts */
} PoolSpec;

Act net_pool(Net *net, const char *name, Act x, PoolSpec p);
/* Mean over height and width: [N,C], or with `keep` [N,C,1,1]. */
Act net_global_pool(Net *net, const char *name, Act x, bool keep);
/* [N,C,size,size]: the mean of equal windows, or copies of one element. Other sizes are refused. */
Act net_adaptive_pool(Net *net, const char *name, Act x, int64_t size);
Act net_reshape(Net *net, const char *name, Act x, const int64_t *dim, int rank);
/* x[..,K] times the transpose of a weight [out,K], plus a bias. `gain` is the variance of a weight times K. */
Act net_dense(Net *net, const char *name, Act x, int64_t out, double gain);
/* The layer that gives ZOO_CLASSES numbers. */
Act net_classifier(Net *net, const char *name, Act x);

#endif
