/*
 * Layers: each makes one call of the Dag or several, and the weights that it is not given. Images are [N,C,spatial..]
 * with one to three spatial dimensions. In the structs zeros are the defaults. A weight that is given (not NULL) is any
 * value of the network. A layer that is given one has no other than those given: no bias, no scale. What a layer cannot
 * be is refused with its name.
 */
#ifndef FRONTEND_LAYER_LAYER_H
#define FRONTEND_LAYER_LAYER_H

#include "frontend/layer/net.h"

enum { LAYER_SPATIAL = 3 };

/* PAD_GIVEN: `pads`. PAD_SAME: the result has ceil(size / stride) elements, an odd pad at the end (LOWER: begin). */
typedef enum { PAD_GIVEN, PAD_SAME, PAD_SAME_LOWER, PAD_RULES } PadRule;

typedef struct Sizes {
	int64_t kernel[LAYER_SPATIAL], stride[LAYER_SPATIAL], dilation[LAYER_SPATIAL]; /* stride, dilation 0: 1 */
	int64_t pads[2 * LAYER_SPATIAL]; /* all begins, then all ends */
	PadRule pad;
} Sizes;

typedef struct ConvLayer {
	int64_t out;    /* channels of the result; 0: as many as the input's */
	int64_t groups; /* 0: 1 */
	Sizes sizes;
	int64_t extend[LAYER_SPATIAL]; /* of a transposed one: elements that its result has more at the ends */
	bool biased;
	const Act *weight, *bias; /* [out,C/groups,kernel..], transposed [C,out/groups,kernel..]; [out] */
} ConvLayer;

Act net_conv(Net *net, const char *name, Act x, const ConvLayer *c);
Act net_conv_transpose(Net *net, const char *name, Act x, const ConvLayer *c);

typedef struct PoolLayer {
	Sizes sizes; /* stride 0: the kernel's size */
	bool mean, ceil, count_pad;
} PoolLayer;

Act net_pool(Net *net, const char *name, Act x, const PoolLayer *p);
/* Over all spatial dimensions: [N,C], or with `keep` [N,C,1..]. */
Act net_global_pool(Net *net, const char *name, Act x, bool mean, bool keep);
/* Each spatial dimension `factor` times as long: copies, or between the neighbours' centres. */
Act net_upsample(Net *net, const char *name, Act x, const int64_t *factor, bool linear);

typedef struct NormLayer {
	double epsilon;                       /* 0: 1e-5 */
	double deviation;                     /* of the result where the scale is drawn; 0: 1 */
	const Act *scale, *bias, *mean, *var; /* the last two: of a batch norm */
} NormLayer;

/* Over axis 1. */
Act net_batch_norm(Net *net, const char *name, Act x, const NormLayer *n);
/* Over the last dimension. */
Act net_layer_norm(Net *net, const char *name, Act x, const NormLayer *n);

typedef struct DenseLayer {
	int64_t out;  /* 0: the first dimension of the weight */
	double gain;  /* the variance of a drawn weight times the input's length; 0: 1 */
	bool unbiased;
	const Act *weight, *bias; /* [out,K], [out] */
} DenseLayer;

/* x[..,K] times the transpose of the weight, plus the bias. */
Act net_dense(Net *net, const char *name, Act x, const DenseLayer *d);
/* Rows of a table [rows,width] by numbers of them: [..,width]. */
Act net_embedding(Net *net, const char *name, Act ids, int64_t rows, int64_t width, double spread, const Act *table);

/* Gates of an lstm: i, o, f, c; of a gru: z, r, h. */
typedef struct RecurrentLayer {
	int op; /* OP_rnn, OP_gru, OP_lstm */
	int64_t units;
	bool batch_first; /* x is [N,T,K], else [T,N,K] */
	bool reverse, last; /* last: the result is that of the last step, [N,units] */
	bool reset_after;   /* gru: the reset gate is applied behind the product */
	const Act *kernel, *recurrent, *bias; /* [gates*units,K], [gates*units,units], [gates*units] */
	const Act *recurrent_bias;            /* [units], of the candidate, with reset_after */
	const Act *state[2];                  /* the first ones, [N,units] */
} RecurrentLayer;

/* state[0], and [1] of an lstm: the last ones; may be NULL. */
Act net_recurrent(Net *net, const char *name, Act x, const RecurrentLayer *r, Act *state);

typedef struct AttentionLayer {
	int64_t heads;
	bool joined;        /* the drawn weights of queries, keys and values are one tensor */
	bool causal;        /* a token attends to itself and those before it */
	const Act *mask;    /* is added before the softmax; NULL: none */
	const Act *context; /* [N,tokens,..] that is attended to; NULL: x itself */
	const Act *weight[4], *bias[4]; /* of queries, keys, values and results: [width,width], [width] */
} AttentionLayer;

/* Attention of tokens [N,tokens,width], and the product behind it. */
Act net_attention(Net *net, const char *name, Act x, const AttentionLayer *a);
/* [tokens,keys]: 0 where a token may be attended to, else a number whose exponential is 0. */
Act net_causal_mask(Net *net, const char *name, int64_t tokens, int64_t keys);

/* By the names of frontend/node/activate.h, and softmax over the last dimension. given: alpha and beta, or NULL. */
bool net_has_activation(const char *kind);
/* The gain of a dense layer before it, or before none (NULL): 2 where it halves mean squares. */
double net_gain_before(const char *kind);
Act net_activate(Net *net, const char *name, Act x, const char *kind, const double *given);

#endif
