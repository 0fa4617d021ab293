/*
 * Rows of layers in front of a network: encodings of numbers, and those that change images at random, which pass them
 * on in inference. Layers with a vocabulary or a hash read texts, which dlc does not.
 */
#include "frontend/keras/keras.h"

#include <string.h>

/* Version 2 makes floats of integers there. */
static void import_passed(Visit *v)
{
	int x = keras_value(v, 0);
	if (keras_file(v)->version >= 3 || !node_ok(v) || dtype_is_float(node_val(v, x)->type))
		node_set_alias(v, 0, node_need(v, 0));
	else
		node_set(v, 0, node_cast(v, x, F32));
}

/* Numbers below `depth` by output_mode: as they are, or a sample's as hot places or counts. */
static void encode(Visit *v, int x, int64_t depth, const char *mode)
{
	Shape s = node_val(v, x)->shape;
	int weights = keras_input(v, -1, "count_weights");
	bool sparse = node_attr_flag(v, "sparse", false);
	if (strcmp(mode, "int") == 0) {
		node_set(v, 0, x);
		return;
	}
	bool one = strcmp(mode, "one_hot") == 0, count = strcmp(mode, "count") == 0;
	if (node_ok(v) && !one && !count && strcmp(mode, "multi_hot") != 0 && strcmp(mode, "binary") != 0)
		node_fail(v, ERR_UNSUPPORTED, "its output_mode '%.20s' is not supported", mode);
	if (sparse)
		node_fail(v, ERR_UNSUPPORTED, "its result is sparse; dlc gives dense tensors");
	if (node_ok(v) && (depth < 1 || depth > NODE_COUNTED || s.rank < 1 || s.rank >= DAG_MAX_RANK))
		node_fail(v, ERR_INPUT, "it encodes %d dimensions in %lld places", s.rank, (long long)depth);
	if (!node_ok(v))
		return;
	if (one && s.rank > 1 && s.dim[s.rank - 1] == 1)
		s.rank--;
	int64_t steps = 1;
	bool each = !one && s.rank > 1;
	s.dim[s.rank++] = 1;
	x = node_reshape(v, x, s);
	int hot = node_cast(v, node_call2(v, OP_equal, x, node_count(v, depth, s.rank - 1, s.rank)), F32);
	if (weights >= 0)
		hot = node_call2(v, OP_mul, hot, node_reshape(v, node_cast(v, keras_value(v, weights), F32), s));
	node_set(v, 0, each ? node_reduce(v, count ? OP_reduce_sum : OP_reduce_max, hot, &steps, 1, false) : hot);
}

static void import_category_encoding(Visit *v)
{
	int x = keras_value(v, 0);
	if (node_ok(v) && dtype_is_float(node_val(v, x)->type))
		x = node_truncate(v, x);
	encode(v, node_cast(v, x, I64), node_attr_int(v, "num_tokens", 0), node_attr_text(v, "output_mode", "multi_hot"));
}

/* How many boundaries are not above x. */
static void import_discretization(Visit *v)
{
	int n, x = keras_value(v, 0);
	const float *bound = node_attr_floats(v, "bin_boundaries", &n);
	Shape s = node_val(v, x)->shape;
	if (node_ok(v) && n < 1)
		node_fail(v, ERR_UNSUPPORTED, "it has no bin_boundaries: save the layer after adapt, or with them");
	if (node_ok(v) && s.rank >= DAG_MAX_RANK)
		node_fail(v, ERR_TYPE, "its input has %d dimensions", s.rank);
	if (!node_ok(v))
		return;
	int64_t last = s.rank, many = n;
	Shape wide = s;
	wide.dim[wide.rank++] = 1;
	int bounds = node_const(v, F32, shape_of(1, &many), bound);
	int above = node_call2(v, OP_less_equal, bounds, node_reshape(v, node_cast(v, x, F32), wide));
	int number = node_reduce(v, OP_reduce_sum, node_cast(v, above, F32), &last, 1, false);
	encode(v, node_cast(v, number, I64), n + 1, node_attr_text(v, "output_mode", "int"));
}

const NodeRow keras_preprocess_rows[] = {
	{ "CategoryEncoding", 0, "max_tokens", import_category_encoding },
	{ "Discretization", 0, "num_bins epsilon", import_discretization },
	{ "AugMix", 0, "*", import_passed },
	{ "CutMix", 0, "*", import_passed },
	{ "Equalization", 0, "*", import_passed },
	{ "MixUp", 0, "*", import_passed },
	{ "RandAugment", 0, "*", import_passed },
	{ "RandomBrightness", 0, "*", import_passed },
	{ "RandomColorDegeneration", 0, "*", import_passed },
	{ "RandomColorJitter", 0, "*", import_passed },
	{ "RandomContrast", 0, "*", import_passed },
	{ "RandomElasticTransform", 0, "*", import_passed },
	{ "RandomErasing", 0, "*", import_passed },
	{ "RandomFlip", 0, "*", import_passed },
	{ "RandomGaussianBlur", 0, "*", import_passed },
	{ "RandomGrayscale", 0, "*", import_passed },
	{ "RandomHeight", 0, "*", import_passed },
	{ "RandomHue", 0, "*", import_passed },
	{ "RandomInvert", 0, "*", import_passed },
	{ "RandomPerspective", 0, "*", import_passed },
	{ "RandomPosterization", 0, "*", import_passed },
	{ "RandomRotation", 0, "*", import_passed },
	{ "RandomSaturation", 0, "*", import_passed },
	{ "RandomSharpness", 0, "*", import_passed },
	{ "RandomShear", 0, "*", import_passed },
	{ "RandomTranslation", 0, "*", import_passed },
	{ "RandomWidth", 0, "*", import_passed },
	{ "RandomZoom", 0, "*", import_passed },
	{ "Solarization", 0, "*", import_passed },
	{ NULL, 0, NULL, NULL },
};
