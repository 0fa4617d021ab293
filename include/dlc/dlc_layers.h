/*
 * Part of dlc.h: layers of a network that is built (dlc/dlc_builder.h). A layer makes one operator or several, and the
 * weights that it is not given. It is named after its last operator; weights are called "conv1.weight".
 *
 * Images are [N,C,spatial..] with one to three spatial dimensions, sequences [N,T,C]. Drawn weights are He-normal and
 * f32; statistics of batch norms fit the values that come. Given weights are values: constants, or computed ones. A
 * layer that is given a weight has no other than those given: no bias, and a norm no scale or shift.
 *
 * In the structs zeros are the defaults, and options may be NULL where nothing must be given. `activation` is a name
 * for dlc_builder_activation; NULL: none.
 */
#ifndef DLC_LAYERS_H
#define DLC_LAYERS_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

enum { DLC_SPATIAL = 3 };

/* GIVEN: `pads`, all begins, then all ends. SAME: ceil(size / stride) results, an odd pad at the end (LOWER: begin). */
typedef enum DlcPad { DLC_PAD_GIVEN, DLC_PAD_SAME, DLC_PAD_SAME_LOWER, DLC_PADS } DlcPad;

typedef struct DlcWindow {
	int64_t kernel[DLC_SPATIAL], stride[DLC_SPATIAL], dilation[DLC_SPATIAL]; /* stride, dilation 0: 1 */
	int64_t pads[2 * DLC_SPATIAL];
	DlcPad pad;
} DlcWindow;

typedef struct DlcConv {
	int64_t out; /* channels of the result; 0: as many as the input's */
	DlcWindow window;
	int64_t groups; /* 0: 1 */
	int64_t extend[DLC_SPATIAL]; /* transposed: elements that the result has more at the ends */
	int no_bias;
	DlcValue weight, bias; /* [out,C/groups,kernel..], transposed [C,out/groups,kernel..]; [out] */
	const char *activation;
} DlcConv;
DLC_API DlcValue dlc_builder_conv(DlcBuilder *b, const char *name, DlcValue x, const DlcConv *o);
/* A group for each channel of the input; `out` is a multiple of their number, and groups must be 0. */
DLC_API DlcValue dlc_builder_depthwise(DlcBuilder *b, const char *name, DlcValue x, const DlcConv *o);
DLC_API DlcValue dlc_builder_conv_transpose(DlcBuilder *b, const char *name, DlcValue x, const DlcConv *o);

/* Kernels of 0: all of the image, whose spatial dimensions become 1, or with `flat` none. */
typedef struct DlcPool {
	DlcWindow window; /* stride 0: the kernel's size */
	int ceil;         /* sizes are rounded up */
	int count_pad;    /* a mean counts padding as elements */
	int flat;
} DlcPool;
DLC_API DlcValue dlc_builder_max_pool(DlcBuilder *b, const char *name, DlcValue x, const DlcPool *o);
DLC_API DlcValue dlc_builder_avg_pool(DlcBuilder *b, const char *name, DlcValue x, const DlcPool *o);
/* Each spatial dimension factor[k] times as long: by copies, or linearly between the elements' centres. */
DLC_API DlcValue dlc_builder_upsample(DlcBuilder *b, const char *name, DlcValue x, const int64_t *factor, int linear);

typedef struct DlcDense {
	int64_t units; /* 0: the weight's */
	int no_bias;
	DlcValue weight, bias; /* [units,K], [units] */
	const char *activation;
} DlcDense;
/* Of x[..,K], with at least two dimensions. */
DLC_API DlcValue dlc_builder_dense(DlcBuilder *b, const char *name, DlcValue x, const DlcDense *o);

typedef struct DlcNorm {
	double epsilon; /* 0: 1e-5 */
	DlcValue scale, bias, mean, var; /* the last two: of a batch norm */
	const char *activation;
} DlcNorm;
/* Over dimension 1, by its mean and var; over the last dimension, by the values' own. options may be NULL. */
DLC_API DlcValue dlc_builder_batch_norm(DlcBuilder *b, const char *name, DlcValue x, const DlcNorm *o);
DLC_API DlcValue dlc_builder_layer_norm(DlcBuilder *b, const char *name, DlcValue x, const DlcNorm *o);

/* relu, leaky_relu, gelu, swish, softmax ... (docs/api.md). ab: the two numbers of the activation; NULL: the usual. */
DLC_API DlcValue dlc_builder_activation(
	DlcBuilder *b, const char *name, DlcValue x, const char *activation, const double *ab);

typedef struct DlcEmbedding {
	int64_t rows, width;
	DlcValue weight; /* [rows,width] */
} DlcEmbedding;
/* Rows of a table by their numbers: [..,width]. */
DLC_API DlcValue dlc_builder_embedding(DlcBuilder *b, const char *name, DlcValue ids, const DlcEmbedding *o);

/* Gates in the weights: of an lstm i, o, f, c; of a gru z, r, h; a rnn has one. */
typedef struct DlcRecurrent {
	int64_t units;
	int sequences;   /* the result is that of all steps, [N,T,units]; else of the last one, [N,units] */
	int backwards;   /* from the last step to the first; results are in the order of the input */
	int reset_after; /* gru: the reset gate is applied behind the product, and recurrent_bias [units] before it */
	DlcValue kernel, recurrent, bias; /* [gates*units,C], [gates*units,units], [gates*units] */
	DlcValue recurrent_bias;
	DlcValue state[2]; /* the first ones, [N,units]; the second is the lstm's cell; none: zeros */
} DlcRecurrent;
/* last: gets the states behind the last step, two of an lstm, else one; may be NULL. */
DLC_API DlcValue dlc_builder_rnn(DlcBuilder *b, const char *name, DlcValue x, const DlcRecurrent *o, DlcValue *last);
DLC_API DlcValue dlc_builder_gru(DlcBuilder *b, const char *name, DlcValue x, const DlcRecurrent *o, DlcValue *last);
DLC_API DlcValue dlc_builder_lstm(DlcBuilder *b, const char *name, DlcValue x, const DlcRecurrent *o, DlcValue *last);

typedef struct DlcAttention {
	int64_t heads;
	int causal;       /* a token attends to itself and those before it */
	DlcValue mask;    /* is added to the scores [N,heads,T,keys] */
	DlcValue context; /* [N,keys,C] that is attended to; none: x itself */
	DlcValue weight[4], bias[4]; /* of queries, keys, values and results: [C,C], [C] */
} DlcAttention;
/* Of x[N,T,C], between the products of queries, keys and values and that of the results. */
DLC_API DlcValue dlc_builder_attention(DlcBuilder *b, const char *name, DlcValue x, const DlcAttention *o);

#endif
