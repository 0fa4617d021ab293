/*
 * Layers of a network that is built (dlc/dlc_layers.h): the structs of the public header become those of
 * frontend/layer/layer.h.
 */
#include "api/network_builder.h"

#include <string.h>

_Static_assert((int)DLC_SPATIAL == (int)LAYER_SPATIAL && (int)DLC_PAD_SAME == (int)PAD_SAME &&
		(int)DLC_PAD_SAME_LOWER == (int)PAD_SAME_LOWER && (int)DLC_PADS == (int)PAD_RULES,
	"a DlcPad is a PadRule");

/* Whether options are given, where they must be. */
static bool given(Making *m, const void *o)
{
	if (o == NULL)
		builder_fail(m, ERR_USAGE, "its options are NULL, but must be given");
	return net_ok(m->net);
}

static Act activated(Making *m, Act y, const char *activation)
{
	if (activation != NULL && !net_has_activation(activation))
		builder_fail(m, ERR_UNSUPPORTED, "there is no activation '%.60s'", activation);
	if (activation == NULL || !net_ok(m->net))
		return y;
	return net_activate(m->net, net_sub(m->net, m->name, activation), y, activation, NULL);
}

static Sizes sizes_of(Making *m, const DlcWindow *w)
{
	Sizes s = { .pad = (PadRule)w->pad };
	memcpy(s.kernel, w->kernel, sizeof s.kernel);
	memcpy(s.stride, w->stride, sizeof s.stride);
	memcpy(s.dilation, w->dilation, sizeof s.dilation);
	memcpy(s.pads, w->pads, sizeof s.pads);
	if ((int)w->pad < 0 || w->pad >= DLC_PADS)
		builder_fail(m, ERR_USAGE, "its pad is %d, but must be from 0 to %d", (int)w->pad, DLC_PADS - 1);
	for (int k = 0; k < 2 * DLC_SPATIAL; k++)
		if (w->pad != DLC_PAD_GIVEN && w->pads[k] != 0)
			builder_fail(m, ERR_USAGE, "it is given pads and a rule for them: leave one out");
	return s;
}

/* ---- convolutions */

typedef enum { PLAIN, DEPTHWISE, TRANSPOSED } ConvKind;

static Act add_conv(Making *m, DlcValue x, const DlcConv *o, ConvKind kind)
{
	Act in = builder_value(m, x, "input");
	if (!given(m, o))
		return in;
	ConvLayer c = { .out = o->out,
		.groups = o->groups,
		.sizes = sizes_of(m, &o->window),
		.biased = o->no_bias == 0,
		.weight = builder_optional(m, o->weight, "weight"),
		.bias = builder_optional(m, o->bias, "bias") };
	memcpy(c.extend, o->extend, sizeof c.extend);
	for (int k = 0; k < DLC_SPATIAL; k++)
		if (kind != TRANSPOSED && o->extend[k] != 0)
			builder_fail(m, ERR_USAGE, "extend is for a transposed convolution alone");
	if (o->no_bias != 0 && c.bias != NULL)
		builder_fail(m, ERR_USAGE, "it is given a bias and no_bias");
	if (kind == DEPTHWISE && o->groups != 0)
		builder_fail(m, ERR_USAGE, "its groups are %lld, but must be 0: they are the input's channels",
			(long long)o->groups);
	if (!net_ok(m->net))
		return in;
	if (kind == DEPTHWISE && net_shape(m->net, in).rank > 1)
		c.groups = net_channels(m->net, in);
	Act y = kind == TRANSPOSED ? net_conv_transpose(m->net, m->name, in, &c) : net_conv(m->net, m->name, in, &c);
	return activated(m, y, o->activation);
}

DlcValue dlc_builder_conv(DlcBuilder *b, const char *name, DlcValue x, const DlcConv *o)
{
	BUILDER_MAKE(b, name, "conv", add_conv(m, x, o, PLAIN));
}

DlcValue dlc_builder_depthwise(DlcBuilder *b, const char *name, DlcValue x, const DlcConv *o)
{
	BUILDER_MAKE(b, name, "depthwise", add_conv(m, x, o, DEPTHWISE));
}

DlcValue dlc_builder_conv_transpose(DlcBuilder *b, const char *name, DlcValue x, const DlcConv *o)
{
	BUILDER_MAKE(b, name, "conv_transpose", add_conv(m, x, o, TRANSPOSED));
}

/* ---- poolings */

static Act add_pool(Making *m, DlcValue x, const DlcPool *o, bool mean)
{
	Act in = builder_value(m, x, "input");
	if (!given(m, o))
		return in;
	PoolLayer p = { .sizes = sizes_of(m, &o->window),
		.mean = mean,
		.ceil = o->ceil != 0,
		.count_pad = o->count_pad != 0 };
	bool all = true;
	for (int k = 0; k < DLC_SPATIAL; k++)
		all &= o->window.kernel[k] == 0;
	if (!all && o->flat != 0)
		builder_fail(m, ERR_USAGE, "flat is for a pooling of all of the image, whose kernel is 0");
	bool sized = o->window.pad != DLC_PAD_GIVEN;
	for (int k = 0; k < DLC_SPATIAL; k++)
		sized |= o->window.stride[k] != 0 || o->window.dilation[k] != 0 || o->window.pads[k] != 0 ||
			o->window.pads[k + DLC_SPATIAL] != 0;
	if (all && sized)
		builder_fail(m, ERR_USAGE, "a pooling of all of the image has no strides, dilations or pads");
	if (!net_ok(m->net))
		return in;
	return all ? net_global_pool(m->net, m->name, in, mean, o->flat == 0) : net_pool(m->net, m->name, in, &p);
}

DlcValue dlc_builder_max_pool(DlcBuilder *b, const char *name, DlcValue x, const DlcPool *o)
{
	BUILDER_MAKE(b, name, "max_pool", add_pool(m, x, o, false));
}

DlcValue dlc_builder_avg_pool(DlcBuilder *b, const char *name, DlcValue x, const DlcPool *o)
{
	BUILDER_MAKE(b, name, "avg_pool", add_pool(m, x, o, true));
}

static Act add_upsample(Making *m, DlcValue x, const int64_t *factor, bool linear)
{
	Act in = builder_value(m, x, "input");
	if (factor == NULL)
		builder_fail(m, ERR_USAGE, "its factor is NULL, but must be given");
	return net_ok(m->net) ? net_upsample(m->net, m->name, in, factor, linear) : in;
}

DlcValue dlc_builder_upsample(DlcBuilder *b, const char *name, DlcValue x, const int64_t *factor, int linear)
{
	BUILDER_MAKE(b, name, "upsample", add_upsample(m, x, factor, linear != 0));
}

/* ---- products */

static Act add_dense(Making *m, DlcValue x, const DlcDense *o)
{
	Act in = builder_value(m, x, "input");
	if (!given(m, o))
		return in;
	DenseLayer d = { .out = o->units,
		.gain = net_gain_before(o->activation),
		.unbiased = o->no_bias != 0,
		.weight = builder_optional(m, o->weight, "weight"),
		.bias = builder_optional(m, o->bias, "bias") };
	if (o->no_bias != 0 && d.bias != NULL)
		builder_fail(m, ERR_USAGE, "it is given a bias and no_bias");
	return activated(m, net_dense(m->net, m->name, in, &d), o->activation);
}

DlcValue dlc_builder_dense(DlcBuilder *b, const char *name, DlcValue x, const DlcDense *o)
{
	BUILDER_MAKE(b, name, "dense", add_dense(m, x, o));
}

static Act add_embedding(Making *m, DlcValue ids, const DlcEmbedding *o)
{
	Act in = builder_value(m, ids, "input");
	if (!given(m, o))
		return in;
	const Act *table = builder_optional(m, o->weight, "weight");
	if (table != NULL && (o->rows != 0 || o->width != 0) && net_ok(m->net))
		net_check_shape(m->net, net_visit(m->net, m->name, m->kind), "weight", *table,
			shape_of(2, (int64_t[]){ o->rows, o->width }));
	return net_embedding(m->net, m->name, in, o->rows, o->width, 1, table);
}

DlcValue dlc_builder_embedding(DlcBuilder *b, const char *name, DlcValue ids, const DlcEmbedding *o)
{
	BUILDER_MAKE(b, name, "embedding", add_embedding(m, ids, o));
}

/* ---- normalisations and activations */

static Act add_norm(Making *m, DlcValue x, const DlcNorm *o, bool batch)
{
	static const DlcNorm none;
	Act in = builder_value(m, x, "input");
	o = o != NULL ? o : &none;
	NormLayer n = { .epsilon = o->epsilon,
		.scale = builder_optional(m, o->scale, "scale"),
		.bias = builder_optional(m, o->bias, "bias"),
		.mean = builder_optional(m, o->mean, "mean"),
		.var = builder_optional(m, o->var, "var") };
	if (!batch && (n.mean != NULL || n.var != NULL))
		builder_fail(m, ERR_USAGE, "mean and var are for a batch norm alone");
	if (!net_ok(m->net))
		return in;
	Act y = batch ? net_batch_norm(m->net, m->name, in, &n) : net_layer_norm(m->net, m->name, in, &n);
	return activated(m, y, o->activation);
}

DlcValue dlc_builder_batch_norm(DlcBuilder *b, const char *name, DlcValue x, const DlcNorm *o)
{
	BUILDER_MAKE(b, name, "batch_norm", add_norm(m, x, o, true));
}

DlcValue dlc_builder_layer_norm(DlcBuilder *b, const char *name, DlcValue x, const DlcNorm *o)
{
	BUILDER_MAKE(b, name, "layer_norm", add_norm(m, x, o, false));
}

static Act add_activation(Making *m, DlcValue x, const char *activation, const double *ab)
{
	Act in = builder_value(m, x, "input");
	if (activation == NULL)
		builder_fail(m, ERR_USAGE, "its activation is NULL, but must be given");
	return net_ok(m->net) ? net_activate(m->net, m->name, in, activation, ab) : in;
}

DlcValue dlc_builder_activation(
	DlcBuilder *b, const char *name, DlcValue x, const char *activation, const double *ab)
{
	BUILDER_MAKE(b, name, activation != NULL ? activation : "activation", add_activation(m, x, activation, ab));
}

/* ---- sequences */

static Act add_recurrent(Making *m, int op, DlcValue x, const DlcRecurrent *o, DlcValue *last)
{
	Act in = builder_value(m, x, "input"), state[2];
	if (!given(m, o))
		return in;
	RecurrentLayer r = { .op = op,
		.units = o->units,
		.batch_first = true,
		.reverse = o->backwards != 0,
		.last = o->sequences == 0,
		.reset_after = o->reset_after != 0,
		.kernel = builder_optional(m, o->kernel, "kernel"),
		.recurrent = builder_optional(m, o->recurrent, "recurrent weight"),
		.bias = builder_optional(m, o->bias, "bias"),
		.recurrent_bias = builder_optional(m, o->recurrent_bias, "recurrent bias"),
		.state = { builder_optional(m, o->state[0], "first state"), builder_optional(m, o->state[1], "first cell") } };
	if (!net_ok(m->net))
		return in;
	Act y = net_recurrent(m->net, m->name, in, &r, state);
	for (int k = 0; last != NULL && net_ok(m->net) && k < (op == OP_lstm ? 2 : 1); k++)
		last[k] = builder_public(m->b, state[k]);
	return y;
}

/* What a failure leaves in `last`. */
static void no_states(DlcValue *last, int n)
{
	for (int k = 0; last != NULL && k < n; k++)
		last[k] = (DlcValue){ 0 };
}

DlcValue dlc_builder_rnn(DlcBuilder *b, const char *name, DlcValue x, const DlcRecurrent *o, DlcValue *last)
{
	no_states(last, 1);
	BUILDER_MAKE(b, name, "rnn", add_recurrent(m, OP_rnn, x, o, last));
}

DlcValue dlc_builder_gru(DlcBuilder *b, const char *name, DlcValue x, const DlcRecurrent *o, DlcValue *last)
{
	no_states(last, 1);
	BUILDER_MAKE(b, name, "gru", add_recurrent(m, OP_gru, x, o, last));
}

DlcValue dlc_builder_lstm(DlcBuilder *b, const char *name, DlcValue x, const DlcRecurrent *o, DlcValue *last)
{
	no_states(last, 2);
	BUILDER_MAKE(b, name, "lstm", add_recurrent(m, OP_lstm, x, o, last));
}

static Act add_attention(Making *m, DlcValue x, const DlcAttention *o)
{
	Act in = builder_value(m, x, "input");
	if (!given(m, o))
		return in;
	AttentionLayer a = { .heads = o->heads,
		.causal = o->causal != 0,
		.mask = builder_optional(m, o->mask, "mask"),
		.context = builder_optional(m, o->context, "context") };
	for (int k = 0; k < 4; k++) {
		a.weight[k] = builder_optional(m, o->weight[k], "weight");
		a.bias[k] = builder_optional(m, o->bias[k], "bias");
	}
	return net_ok(m->net) ? net_attention(m->net, m->name, in, &a) : in;
}

DlcValue dlc_builder_attention(DlcBuilder *b, const char *name, DlcValue x, const DlcAttention *o)
{
	BUILDER_MAKE(b, name, "attention", add_attention(m, x, o));
}
