/*
 * Masks: which steps of a sequence count. Functional models of version 3 have most as arguments of calls; elsewhere a
 * value carries its mask from layer to layer, as Keras says: some layers make one, some keep it, some read it, the
 * others drop it. Here it becomes an input of the calls that read it.
 */
#include "frontend/keras/mask.h"

#include <string.h>

enum { LEN_PARTS = 64 };

static bool is_one_of(const char *const *names, const KerasLayer *l)
{
	for (; *names != NULL; names++)
		if (l->domain[0] == 0 && strcmp(*names, l->op) == 0)
			return true;
	return false;
}

static bool flag(const Json *config, const char *name)
{
	const Json *at = json_find(config, name);
	return at != NULL && at->kind == JV_BOOL && at->truth;
}

bool keras_makes_mask(const KerasLayer *l)
{
	return l->domain[0] == 0 &&
	       (strcmp(l->op, "Masking") == 0 || (strcmp(l->op, "Embedding") == 0 && flag(l->config, "mask_zero")));
}

static const char *const recurrent[] = { "LSTM", "GRU", "SimpleRNN", "RNN", "CuDNNLSTM", "CuDNNGRU", "Bidirectional",
	NULL };

bool keras_reads_mask(const KerasLayer *l)
{
	return is_one_of(recurrent, l) || (l->domain[0] == 0 && strcmp(l->op, "GlobalAveragePooling1D") == 0);
}

bool keras_scores_mask(const KerasLayer *l)
{
	static const char *const names[] = { "MultiHeadAttention", "GroupQueryAttention", "Attention", "AdditiveAttention",
		"Softmax", NULL };
	return is_one_of(names, l);
}

bool keras_keeps_mask(const KerasLayer *l)
{
	static const char *const keeps[] = { "Identity", "Activation", "LeakyReLU", "ELU", "ReLU", "PReLU",
		"ThresholdedReLU", "Dense", "Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D",
		"ActivityRegularization", "BatchNormalization", "LayerNormalization", "UnitNormalization", "GroupNormalization",
		"TimeDistributed", "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Softmax",
		"Normalization", "MultiHeadAttention", "GroupQueryAttention", "Attention", "AdditiveAttention", NULL };
	const KerasLayer *of = l->npart > 0 && strcmp(l->op, "Bidirectional") == 0 ? l->part[0] : l;
	return is_one_of(keeps, l) || (is_one_of(recurrent, l) && flag(of->config, "return_sequences"));
}

/* ---- rows */

int keras_not_equal(Visit *v, int x, double to)
{
	return node_call1(v, OP_bit_not, node_call2(v, OP_equal, x, node_number(v, node_val(v, x)->type, to)));
}

/* Some element of the step is not the number. */
static int some_differ(Visit *v, int x, double to, bool keep)
{
	int64_t last = node_val(v, x)->shape.rank - 1;
	int differs = node_cast(v, keras_not_equal(v, x, to), F32);
	return node_cast(v, node_reduce(v, OP_reduce_max, differs, &last, 1, keep), BOOL);
}

static double mask_value(Visit *v)
{
	return node_attr_float(v, "mask_value", 0);
}

/* Steps whose elements are all mask_value become 0. */
static void import_masking(Visit *v)
{
	int x = keras_value(v, 0);
	if (node_ok(v) && node_val(v, x)->shape.rank < 2)
		node_fail(v, ERR_TYPE, "its input has no steps");
	if (!node_ok(v))
		return;
	int on = some_differ(v, x, mask_value(v), true);
	node_set(v, 0, node_call2(v, OP_mul, x, node_cast(v, on, node_val(v, x)->type)));
}

/* The mask that the layer makes: bool [N,steps]. */
static void import_mask_of(Visit *v)
{
	int x = keras_value(v, 0);
	bool masking = strcmp(keras_of(v)->op, "Masking") == 0;
	if (node_ok(v) && node_val(v, x)->shape.rank < (masking ? 2 : 1))
		node_fail(v, ERR_TYPE, "its input has no steps");
	if (node_ok(v))
		node_set(v, 0, masking ? some_differ(v, x, mask_value(v), false) : keras_not_equal(v, x, 0));
}

/* What all masks leave, or any of them. */
static void import_both(Visit *v)
{
	bool either = strcmp(v->node->op, "either") == 0;
	int y = keras_value(v, 0);
	for (int k = 1; k < node_nin(v); k++)
		y = node_call2(v, either ? OP_bit_or : OP_bit_and, y, keras_value(v, k));
	node_set(v, 0, y);
}

/* The inputs of a Concatenate, then their masks, which are joined as they are; those without one count whole. */
static void import_joined(Visit *v)
{
	int values = node_nin(v), part[LEN_PARTS], rank = node_need(v, 0)->shape.rank;
	for (int k = 0; k < values; k++)
		values = keras_mask_of(v, k) >= 0 && keras_mask_of(v, k) < values ? keras_mask_of(v, k) : values;
	int axis = node_axis(v, node_attr_int(v, "axis", -1), rank);
	if (node_ok(v) && (values > LEN_PARTS || rank < 3))
		node_fail(v, ERR_UNSUPPORTED, "the mask of its %d inputs of %d dimensions is not supported", values, rank);
	for (int k = 0; k < values && node_ok(v); k++) {
		int at = keras_mask_of(v, k), m = at >= 0 ? keras_value(v, at) : node_number(v, BOOL, 1);
		Shape s = node_val(v, keras_value(v, k))->shape, steps = s;
		for (int d = 2; d < s.rank; d++)
			steps.dim[d] = 1;
		if (at >= 0 && node_ok(v) && node_val(v, m)->shape.rank == 2)
			m = node_reshape(v, m, steps);
		part[k] = node_cast(v, node_expand(v, m, s), F32);
	}
	if (!node_ok(v))
		return;
	int64_t last = rank - 1;
	int y = node_concat(v, part, values, axis);
	y = node_reduce(v, keras_file(v)->version >= 3 ? OP_reduce_max : OP_reduce_min, y, &last, 1, false);
	node_set(v, 0, node_cast(v, y, BOOL));
}

int keras_mask_of(const Visit *v, int input)
{
	const KerasCall *c = v->node->source;
	return c->mask == NULL || input < 0 ? -1 : c->mask[input];
}

int keras_mask_input(Visit *v)
{
	int own = keras_mask_of(v, 0);
	return own >= 0 ? own : keras_input(v, -1, "mask");
}

int keras_mask(Visit *v, int64_t n, int64_t steps)
{
	int at = keras_mask_input(v);
	if (at < 0 || !node_ok(v))
		return DAG_NONE;
	int m = node_cast(v, keras_value(v, at), BOOL);
	Shape s = node_val(v, m)->shape;
	if (node_ok(v) && (s.rank != 2 || s.dim[0] != n || s.dim[1] != steps)) {
		char text[160];
		node_fail(v, ERR_TYPE, "its mask has the shape %s, but its input %lld sequences of %lld steps",
			shape_str(s, text), (long long)n, (long long)steps);
	}
	return node_ok(v) ? m : DAG_NONE;
}

const NodeRow keras_mask_rows[] = {
	{ "Masking", 0, "", import_masking },
	{ "mask::of", 0, "*", import_mask_of },
	{ "mask::both", 0, "*", import_both },
	{ "mask::either", 0, "*", import_both },
	{ "mask::joined", 0, "*", import_joined },
	{ NULL, 0, NULL, NULL },
};
