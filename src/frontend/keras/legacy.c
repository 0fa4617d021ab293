/*
 * Version 1: the words of its configurations as today's, which Keras 2 called its legacy interfaces, and the layouts of
 * its weights. Only what changes numbers is kept: how weights start and what penalises them is left out.
 */
#include "frontend/keras/legacy.h"

#include "op/element.h"

#include <string.h>

/* Old class, today's. */
static const char *const classes[][2] = {
	{ "Convolution1D", "Conv1D" },
	{ "Convolution2D", "Conv2D" },
	{ "Convolution3D", "Conv3D" },
	{ "AtrousConvolution1D", "Conv1D" },
	{ "AtrousConvolution2D", "Conv2D" },
	{ "AtrousConv1D", "Conv1D" },
	{ "AtrousConv2D", "Conv2D" },
	{ "Deconvolution2D", "Conv2DTranspose" },
	{ "Deconv2D", "Conv2DTranspose" },
	{ "SeparableConvolution2D", "SeparableConv2D" },
	{ "TimeDistributedDense", "Dense" },
};

/* Old word, today's; "": it has no meaning in inference. A class: only there; "!C": not there. */
static const struct {
	const char *old, *now, *class;
} words[] = {
	{ "nb_filter", "filters", NULL },
	{ "filter_length", "kernel_size", NULL },
	{ "subsample", "strides", NULL },
	{ "subsample_length", "strides", NULL },
	{ "atrous_rate", "dilation_rate", NULL },
	{ "border_mode", "padding", NULL },
	{ "dim_ordering", "data_format", NULL },
	{ "pool_length", "pool_size", NULL },
	{ "stride", "strides", NULL },
	{ "length", "size", "UpSampling1D" },
	{ "output_dim", "units", "!Embedding" },
	{ "bias", "use_bias", NULL },
	{ "inner_activation", "recurrent_activation", NULL },
	{ "consume_less", "implementation", NULL },
	{ "dropout_W", "dropout", NULL },
	{ "dropout_U", "recurrent_dropout", NULL },
	{ "p", "rate", NULL },
	{ "sigma", "stddev", NULL },
	{ "input_dtype", "dtype", NULL },
	{ "init", "", NULL },
	{ "inner_init", "", NULL },
	{ "forget_bias_init", "", NULL },
	{ "beta_init", "", NULL },
	{ "gamma_init", "", NULL },
	{ "input_dim", "", "!Embedding" },
	{ "input_length", "", "!Embedding" },
	{ "dropout", "", "Embedding" },
	{ "weights", "", NULL },
};

/* Old values of a setting that has its new name. */
static const struct {
	const char *setting, *old, *now;
} values[] = {
	{ "data_format", "tf", "channels_last" },
	{ "data_format", "th", "channels_first" },
	{ "data_format", "default", "channels_last" },
};

static const struct {
	const char *mode, *class;
} merges[] = { { "sum", "Add" }, { "mul", "Multiply" }, { "ave", "Average" }, { "max", "Maximum" },
	{ "concat", "Concatenate" }, { "dot", "Dot" }, { "cos", "Dot" } };

/* Numbers that were settings of their own and are a list now. */
static const struct {
	const char *part[4], *now;
} joined[] = {
	{ { "nb_row", "nb_col" }, "kernel_size" },
	{ { "kernel_dim1", "kernel_dim2", "kernel_dim3" }, "kernel_size" },
};

static Json *copy(Arena *a, const Json *j)
{
	Json *out = arena_new_of(a, Json);
	*out = *j;
	return out;
}

static const char *text_of(const Json *object, const char *key)
{
	const Json *j = json_find(object, key);
	return j != NULL && j->kind == JV_TEXT ? j->text : "";
}

/* The row of a word in a class; NULL: the word is today's. */
static const char *word_now(const char *key, const char *class)
{
	for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
		const char *only = words[k].class;
		bool fits = only == NULL || (only[0] == '!' ? strcmp(only + 1, class) != 0 : strcmp(only, class) == 0);
		if (fits && strcmp(words[k].old, key) == 0)
			return words[k].now;
	}
	return NULL;
}

static bool is_joined(const char *key)
{
	for (size_t k = 0; k < sizeof joined / sizeof *joined; k++)
		for (const char *const *p = joined[k].part; *p != NULL; p++)
			if (strcmp(*p, key) == 0)
				return true;
	return false;
}

static void join_numbers(Arena *a, const Json *config, Json *out)
{
	for (size_t k = 0; k < sizeof joined / sizeof *joined; k++) {
		Json *list = json_new(a, JV_ARRAY);
		for (const char *const *p = joined[k].part; *p != NULL; p++) {
			const Json *at = json_find(config, *p);
			if (at != NULL)
				json_push(a, list, copy(a, at));
		}
		if (list->list.n > 0)
			json_set(a, out, joined[k].now, list);
	}
}

static Json *value_now(Arena *a, const char *key, const Json *value)
{
	static const char *const consumed[] = { "cpu", "mem", "gpu" };
	for (size_t k = 0; value->kind == JV_TEXT && k < sizeof values / sizeof *values; k++)
		if (strcmp(values[k].setting, key) == 0 && strcmp(values[k].old, value->text) == 0)
			return json_new_text(a, values[k].now);
	for (int k = 0; value->kind == JV_TEXT && strcmp(key, "implementation") == 0 && k < 3; k++)
		if (strcmp(consumed[k], value->text) == 0)
			return json_new_int(a, k);
	return copy(a, value);
}

/* {"top_pad": 1, ..} as pairs. */
static Json *pads_now(Arena *a, const Json *pads)
{
	static const char *const names[] = { "top_pad", "bottom_pad", "left_pad", "right_pad" };
	Json *out = json_new(a, JV_ARRAY), *pair = NULL;
	for (int k = 0; k < 4; k++) {
		const Json *at = json_find(pads, names[k]);
		if (k % 2 == 0)
			pair = json_push(a, out, json_new(a, JV_ARRAY));
		json_push(a, pair, at != NULL ? copy(a, at) : json_new_int(a, 0));
	}
	return out;
}

/* A Merge of values as the layer that its mode names. One that holds models, or a function, stays a Merge. */
static const char *merge_now(Arena *a, const Json *config, Json *out)
{
	const char *mode = text_of(config, "mode"), *class = "Merge";
	const Json *axis = json_find(config, "concat_axis"), *dot = json_find(config, "dot_axes"),
			   *models = json_find(config, "layers");
	for (size_t k = 0; k < sizeof merges / sizeof *merges; k++)
		if (strcmp(merges[k].mode, mode) == 0 && (models == NULL || models->kind == JV_NULL))
			class = merges[k].class;
	if (strcmp(class, "Concatenate") == 0 && axis != NULL)
		json_set(a, out, "axis", copy(a, axis));
	if (strcmp(mode, "cos") == 0)
		json_set(a, out, "cosine", json_new_int(a, 1));
	if (strcmp(class, "Dot") == 0 && dot != NULL) {
		Json *axes = dot->kind == JV_ARRAY ? json_new(a, JV_ARRAY) : copy(a, dot);
		for (size_t k = 0; dot->kind == JV_ARRAY && k < dot->list.n; k++) {
			const Json *one = dot->list.at[k];
			json_push(a, axes, copy(a, one->kind == JV_ARRAY && one->list.n == 1 ? one->list.at[0] : one));
		}
		json_set(a, out, "axes", axes);
	}
	return class;
}

static const char *class_now(const char *class)
{
	for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
		if (strcmp(classes[k][0], class) == 0)
			return classes[k][1];
	return class;
}

const Json *keras_upgrade(Arena *a, const Json *layer, bool *old, Err *err)
{
	const char *was = text_of(layer, "class_name"), *class = class_now(was);
	const Json *config = json_find(layer, "config");
	Json *out = json_new(a, JV_OBJECT), *settings = json_new(a, JV_OBJECT);
	*old = class != was;
	if (config == NULL || config->kind != JV_OBJECT)
		return layer;
	if (strcmp(class, "Merge") == 0 && (class = merge_now(a, config, settings), strcmp(class, "Merge") != 0)) {
		*old = true;
		json_set(a, settings, "name", json_new_text(a, text_of(config, "name")));
	} else {
		join_numbers(a, config, settings);
		for (size_t k = 0; k < config->list.n; k++) {
			const Json *at = config->list.at[k];
			const char *now = is_joined(at->key) ? "" : word_now(at->key, class);
			*old |= now != NULL;
			if (strcmp(at->key, "mode") == 0 && strcmp(class, "BatchNormalization") == 0) {
				if (at->kind == JV_INT && at->i != 0) {
					json_fail(at, err, "BatchNormalization of mode %lld uses the numbers of its input; 0 is supported",
						(long long)at->i);
					return NULL;
				}
				continue;
			}
			if (now != NULL && now[0] == 0)
				continue;
			const char *key = now != NULL ? now : at->key;
			bool pads = strcmp(key, "padding") == 0 && at->kind == JV_OBJECT;
			*old |= pads;
			json_set(a, settings, key, pads ? pads_now(a, at) : value_now(a, key, at));
		}
	}
	if (!*old)
		return layer;
	for (size_t k = 0; k < layer->list.n; k++)
		json_set(a, out, layer->list.at[k]->key, copy(a, layer->list.at[k]));
	out->parent = layer->parent;
	out->place = layer->place;
	json_set(a, out, "class_name", json_new_text(a, class));
	json_set(a, out, "config", settings);
	return out;
}

/* ---- weights */

int keras_old_gates(const KerasLayer *l, int *order)
{
	static const int lstm[] = { 0, 2, 1, 3 }, gru[] = { 0, 1, 2 };
	const Json *how = json_find(l->config, "implementation");
	int n = strcmp(l->op, "LSTM") == 0 || strcmp(l->op, "ConvLSTM2D") == 0 ? 4 : strcmp(l->op, "GRU") == 0 ? 3 : 1;
	if (n == 1 || (how != NULL && how->kind == JV_INT && how->i == 2))
		return 1;
	memcpy(order, n == 4 ? lstm : gru, sizeof *order * (size_t)n);
	return n;
}

/* Dimension k of the result is dimension perm[k] of the data. */
static void permute(Arena *a, Hdf5Data *d, const int *perm)
{
	Hdf5Data out = { .type = d->type, .shape = { .rank = d->shape.rank } };
	int64_t n = shape_elements(d->shape), stride[DAG_MAX_RANK], all = 1, at[DAG_MAX_RANK] = { 0 };
	size_t size = (size_t)dtype_bytes(d->type, 1);
	char *to = arena_alloc(a, size * (size_t)n + 1);
	for (int k = d->shape.rank - 1; k >= 0; k--) {
		stride[k] = all;
		all *= d->shape.dim[k];
	}
	for (int k = 0; k < out.shape.rank; k++)
		out.shape.dim[k] = d->shape.dim[perm[k]];
	for (int64_t i = 0; i < n; i++) {
		int64_t from = 0;
		for (int k = 0; k < out.shape.rank; k++)
			from += at[k] * stride[perm[k]];
		memcpy(to + (size_t)i * size, (const char *)d->data + (size_t)from * size, size);
		for (int k = out.shape.rank - 1; k >= 0 && ++at[k] == out.shape.dim[k]; k--)
			at[k] = 0;
	}
	out.data = to;
	*d = out;
}

/*
 * Kernels of channels first were [filters,channels,spatial..], those of transposed convolutions had filters and
 * channels exchanged, and those of one dimension had a second one of 1 element.
 */
void keras_old_layout(Arena *a, const KerasLayer *l, const char *slot, Shape need, Hdf5Data *d)
{
	static const int one[] = { 2, 3, 1, 0 }, two[] = { 2, 3, 1, 0 }, three[] = { 2, 3, 4, 1, 0 };
	static const int up_last[] = { 0, 1, 3, 2 }, up_first[] = { 2, 3, 0, 1 };
	bool first = strcmp(text_of(l->config, "data_format"), "channels_first") == 0;
	int rank = d->shape.rank;
	if (strcmp(slot, "kernel") != 0 && strcmp(slot, "cell/kernel") != 0 && strcmp(slot, "cell/recurrent") != 0)
		return;
	if (strcmp(l->op, "Conv1D") == 0 && rank == 4 && need.rank == 3) {
		if (d->shape.dim[0] != need.dim[0] || d->shape.dim[1] != 1 || d->shape.dim[3] != need.dim[2])
			permute(a, d, one);
		if (d->shape.dim[1] == 1) {
			d->shape.rank = 3;
			memmove(&d->shape.dim[1], &d->shape.dim[2], 2 * sizeof d->shape.dim[0]);
		}
	} else if ((strcmp(l->op, "Conv2D") == 0 || strcmp(l->op, "ConvLSTM2D") == 0) && rank == 4 && first) {
		permute(a, d, two);
	} else if (strcmp(l->op, "Conv3D") == 0 && rank == 5 && first) {
		permute(a, d, three);
	} else if (strcmp(l->op, "Conv2DTranspose") == 0 && rank == 4) {
		permute(a, d, first ? up_first : up_last);
	}
}

/* Parts of a weight, one for each gate, joined along the last dimension. */
bool keras_join_gates(Arena *a, const char *place, Hdf5Data *part, int n, Hdf5Data *out, Err *err)
{
	Shape s = part[0].shape;
	if (s.rank < 1 || s.rank > DAG_MAX_RANK)
		return fail(err, ERR_INPUT, place, "a weight of one gate has %d dimensions", s.rank);
	for (int k = 1; k < n; k++)
		if (!shape_eq(part[k].shape, s) || !dtype_eq(part[k].type, part[0].type))
			return fail(err, ERR_INPUT, place, "weights of one layer's gates have unequal shapes or types");
	int64_t last = s.dim[s.rank - 1], rows = last > 0 ? shape_elements(s) / last : 0;
	size_t size = (size_t)dtype_bytes(part[0].type, last);
	char *to = arena_alloc(a, size * (size_t)(rows * n) + 1);
	for (int64_t r = 0; r < rows; r++)
		for (int k = 0; k < n; k++)
			memcpy(to + (size_t)(r * n + k) * size, (const char *)part[k].data + (size_t)r * size, size);
	*out = part[0];
	out->data = to;
	out->shape.dim[s.rank - 1] = n * last;
	return true;
}
