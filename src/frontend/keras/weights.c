/*
 * Which weights a layer has, in the order in which Keras keeps them, and where they are in the file. A file of version
 * 2 has a group for each layer of the model, whose attribute lists its data sets: first those that are trained, then
 * the others, models and wrappers flattened. A file of version 3 has groups inside of groups, as objects are in
 * objects, and numbers for names; a layer in a model is called by its class and how many of it come before.
 */
#include "frontend/keras/legacy.h"

#include "op/names.h"

#include <string.h>

/*
 * class, slots. "a/b" is the slot b of the part a; ":flag" only if the setting is on, ":a:b" if both are, ":!x" only
 * without the setting, ":=x" as is_on says; "-" is not trained; "?" may lack.
 */
static const struct {
	const char *op, *slots;
} rows[] = {
	{ "Dense", "kernel bias:use_bias" },
	{ "EinsumDense", "kernel bias:bias_axes" },
	{ "Embedding", "embeddings" },
	{ "ReversibleEmbedding", "embeddings reverse_embeddings:=tie_weights" },
	{ "LocallyConnected1D", "kernel bias:use_bias" },
	{ "LocallyConnected2D", "kernel bias:use_bias" },
	{ "ConvLSTM1D", "cell/kernel cell/recurrent cell/bias:use_bias" },
	{ "ConvLSTM2D", "cell/kernel cell/recurrent cell/bias:use_bias" },
	{ "ConvLSTM3D", "cell/kernel cell/recurrent cell/bias:use_bias" },
	{ "SpectralNormalization", "vector_u- copy-?" }, /* the copy is of its layer's kernel */
	{ "Highway", "kernel carry bias:use_bias carry_bias:use_bias" },
	{ "MaxoutDense", "kernel bias:use_bias" },
	{ "PReLU", "alpha" },
	{ "Conv1D", "kernel bias:use_bias" },
	{ "Conv2D", "kernel bias:use_bias" },
	{ "Conv3D", "kernel bias:use_bias" },
	{ "Conv1DTranspose", "kernel bias:use_bias" },
	{ "Conv2DTranspose", "kernel bias:use_bias" },
	{ "Conv3DTranspose", "kernel bias:use_bias" },
	{ "DepthwiseConv1D", "kernel bias:use_bias" },
	{ "DepthwiseConv2D", "kernel bias:use_bias" },
	{ "SeparableConv1D", "depthwise pointwise bias:use_bias" },
	{ "SeparableConv2D", "depthwise pointwise bias:use_bias" },
	{ "BatchNormalization", "gamma:scale beta:center mean- variance-" },
	{ "SyncBatchNormalization", "gamma:scale beta:center mean- variance-" },
	{ "LayerNormalization", "gamma:scale beta:center" },
	{ "GroupNormalization", "gamma:scale beta:center" },
	{ "RMSNormalization", "scale" },
	{ "LayerScale", "gamma" },
	{ "Normalization", "mean-:!mean variance-:!mean count-?:!mean" },
	{ "SimpleRNN", "cell/kernel cell/recurrent cell/bias:use_bias" },
	{ "LSTM", "cell/kernel cell/recurrent cell/bias:use_bias" },
	{ "GRU", "cell/kernel cell/recurrent cell/bias:use_bias" },
	{ "CuDNNLSTM", "cell/kernel cell/recurrent cell/bias" },
	{ "CuDNNGRU", "cell/kernel cell/recurrent cell/bias" },
	{ "SimpleRNNCell", "kernel recurrent bias:use_bias" },
	{ "LSTMCell", "kernel recurrent bias:use_bias" },
	{ "GRUCell", "kernel recurrent bias:use_bias" },
	{ "MultiHeadAttention",
		"query_dense/kernel query_dense/bias:use_bias key_dense/kernel key_dense/bias:use_bias "
		"gate_dense/kernel:use_gate gate_dense/bias:use_gate:use_bias value_dense/kernel value_dense/bias:use_bias "
		"output_dense/kernel output_dense/bias:use_bias" },
	{ "GroupQueryAttention",
		"query_dense/kernel query_dense/bias:use_bias key_dense/kernel key_dense/bias:use_bias "
		"gate_dense/kernel:use_gate gate_dense/bias:use_gate:use_bias value_dense/kernel value_dense/bias:use_bias "
		"output_dense/kernel output_dense/bias:use_bias" },
	{ "Attention", "scale:use_scale concat:=score_mode" },
	{ "AdditiveAttention", "scale:use_scale" },
};

/* Whether the settings have the slot: the text behind its ':'. */
static bool is_on(const KerasLayer *l, const char *flag)
{
	static const char *const usual[] = { "use_bias", "scale", "center" };
	bool without = flag[0] == '!', concat = flag[0] == '=';
	const Json *at = json_find(l->config, flag + (without || concat)), *rms = json_find(l->config, "rms_scaling");
	if (rms != NULL && rms->kind == JV_BOOL && rms->truth) /* of LayerNormalization: it scales, and does not centre */
		return strcmp(flag, "scale") == 0;
	if (without)
		return at == NULL || at->kind == JV_NULL;
	if (strcmp(flag, "=tie_weights") == 0)
		return at != NULL && at->kind == JV_BOOL && !at->truth;
	if (concat)
		return at != NULL && at->kind == JV_TEXT && strcmp(at->text, "concat") == 0;
	for (size_t k = 0; at == NULL && k < sizeof usual / sizeof *usual; k++)
		if (strcmp(flag, usual[k]) == 0)
			return true;
	return at != NULL && at->kind != JV_NULL && (at->kind != JV_BOOL || at->truth);
}

void keras_add_slots(Arena *a, KerasLayer *l)
{
	const char *s = "";
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (l->domain[0] == 0 && strcmp(rows[k].op, l->op) == 0)
			s = rows[k].slots;
	l->slot = arena_array(a, KerasSlot, 16);
	while (*s != 0) {
		const char *item = arena_printf(a, "%.*s", (int)strcspn(s, " "), s), *flag = strchr(item, ':');
		size_t n = strcspn(item, "-?:");
		s += strlen(item);
		s += *s == ' ';
		bool on = true;
		for (const char *at = flag; at != NULL && on; at = strchr(at + 1, ':'))
			on = is_on(l, arena_printf(a, "%.*s", (int)strcspn(at + 1, ":"), at + 1));
		if (!on)
			continue;
		l->slot[l->nslot++] = (KerasSlot){ .name = arena_printf(a, "%.*s", (int)n, item),
			.value = DAG_NONE,
			.fixed = item[n] == '-',
			.optional = strchr(item, '?') != NULL };
	}
}

/* ---- version 2 */

/* Where a data set belongs: to a slot, or to one gate of it. */
typedef struct Place {
	KerasSlot *slot;
	const char **path;
} Place;

typedef struct Found {
	Arena *arena;
	KerasFile *file;
	Err *err;
	VEC(Place) trained;
	VEC(Place) fixed;
} Found;

static void flatten(Found *f, KerasLayer *l, bool trainable)
{
	int order[4], gates = f->file->written == 1 ? keras_old_gates(l, order) : 1;
	trainable &= l->trainable;
	for (int fixed = 0; fixed < 2; fixed++)
		for (int gate = 0; gate < gates; gate++)
			for (size_t k = 0; k < l->nslot; k++) {
				KerasSlot *slot = &l->slot[k];
				Place at = { slot, gates > 1 ? &slot->gate[order[gate]] : &slot->path };
				if (slot->fixed != (fixed != 0))
					continue;
				if (trainable && fixed == 0)
					vec_push(f->arena, &f->trained, at);
				else
					vec_push(f->arena, &f->fixed, at);
			}
	for (size_t k = 0; k < l->npart; k++)
		flatten(f, l->part[k], trainable);
}

/* A list that is an attribute, in parts NAME0, NAME1 .. where it is long. */
static const char *const *long_list(Arena *a, Hdf5 *h, const char *group, const char *name, int *n)
{
	const char *const *all = hdf5_texts(h, group, name, n);
	VEC(const char *) list = { 0 };
	if (*n >= 0)
		return all;
	for (int part = 0; part < 1 << 12; part++) {
		int more;
		const char *const *some = hdf5_texts(h, group, arena_printf(a, "%s%d", name, part), &more);
		if (more < 0)
			break;
		for (int k = 0; k < more; k++)
			vec_push(a, &list, some[k]);
	}
	*n = list.n > 0 ? (int)list.n : -1;
	return list.at;
}

/* The data sets of one layer's group, in order, to its slots. */
static bool assign(Found *f, const char *group, const char *layer)
{
	KerasFile *file = f->file;
	int n;
	const char *const *name = long_list(f->arena, file->weights, group, "weight_names", &n);
	size_t all = f->trained.n + f->fixed.n, need = all;
	for (size_t k = 0; k < f->fixed.n; k++)
		need -= f->fixed.at[k].slot->optional;
	n = n < 0 ? 0 : n;
	if ((size_t)n < need || (size_t)n > all)
		return fail(f->err, ERR_INPUT, file->stored,
			"layer '%.100s' has %d weights in the file, but its settings need %zu: they are of another network", layer,
			n, need);
	for (size_t k = 0; k < (size_t)n; k++)
		*(k < f->trained.n ? f->trained.at[k] : f->fixed.at[k - f->trained.n]).path =
			arena_printf(f->arena, "%s/%s", group, name[k]);
	return true;
}

static bool has_slots(const KerasLayer *l)
{
	bool some = l->nslot > 0;
	for (size_t k = 0; k < l->npart && !some; k++)
		some = has_slots(l->part[k]);
	return some;
}

/* The layers of a file that have weights. */
static bool stored_layers(Arena *a, KerasFile *f, const char *root, const char ***out, size_t *n, Err *err)
{
	int many, some;
	const char *const *name = long_list(a, f->weights, root, "layer_names", &many);
	*n = 0;
	if (many < 0)
		return fail(err, ERR_INPUT, f->stored, "does not list the layers of its weights (layer_names)");
	*out = arena_array(a, const char *, many + 1);
	const char **group = arena_array(a, const char *, many + 1);
	for (int k = 0; k < many; k++)
		group[k] = arena_printf(a, "%s/%s", root, name[k]);
	hdf5_expect_texts(f->weights, group, (size_t)many, "weight_names");
	for (int k = 0; k < many; k++) {
		long_list(a, f->weights, arena_printf(a, "%s/%s", root, name[k]), "weight_names", &some);
		if (some > 0)
			(*out)[(*n)++] = name[k];
	}
	return true;
}

/* Layers are found by name; where names are of another session, by their order, as Keras does. */
static bool find_listed(Arena *a, KerasFile *f, const char *root, Err *err)
{
	const char **stored = NULL;
	size_t nstored, own = 0, known = 0;
	KerasLayer *m = f->model, **layer = arena_array(a, KerasLayer *, m->npart + 1);
	if (!stored_layers(a, f, root, &stored, &nstored, err))
		return false;
	Names *names = names_new(a), *mine = names_new(a);
	for (size_t k = 0; k < nstored; k++)
		names_bind(names, stored[k], (int)k);
	for (size_t k = 0; k < m->npart; k++)
		if (has_slots(m->part[k]))
			layer[own++] = m->part[k];
	for (size_t k = 0; k < own; k++) {
		known += names_find(names, layer[k]->name) >= 0;
		names_bind(mine, layer[k]->name, (int)k);
	}
	bool by_order = known < own && nstored == own;
	for (size_t k = 0; k < own; k++) {
		Found found = { .arena = a, .file = f, .err = err };
		const char *name = by_order ? stored[k] : layer[k]->name;
		if (names_find(names, name) < 0)
			return fail(
				err, ERR_INPUT, f->stored, "has no weights for layer '%.100s': they are of another network", name);
		flatten(&found, layer[k], true);
		if (!assign(&found, arena_printf(a, "%s/%s", root, name), name))
			return false;
	}
	for (size_t k = 0; k < nstored && !by_order; k++)
		if (names_find(mine, stored[k]) < 0)
			return fail(err, ERR_INPUT, f->stored,
				"has weights for layer '%.100s', which the network lacks or which needs none", stored[k]);
	return true;
}

/* ---- version 3 */

static bool find_nested(Arena *a, KerasFile *f, KerasLayer *l, const char *group, Err *err);

/* The group of a part, which some versions write with '_' before it. */
static const char *part_group(Arena *a, KerasFile *f, const char *group, const char *part)
{
	const char *path = arena_printf(a, "%s/%s", group, part);
	return part[0] == 0 ? group : hdf5_has(f->weights, path) ? path : arena_printf(a, "%s/_%s", group, part);
}

/* How many data sets "vars" has must be what the layer needs. */
static bool check_count(KerasFile *f, const KerasLayer *l, const char *vars, int need, int most, Err *err)
{
	int have;
	hdf5_names(f->weights, vars, &have);
	have = have < 0 ? 0 : have;
	if (have >= need && have <= most)
		return true;
	return fail(err, ERR_INPUT, f->stored,
		"layer '%.100s' has %d weights in '%.200s', but its settings need %d: they are of another network", l->name,
		have, vars, need);
}

static bool find_slots(Arena *a, KerasFile *f, KerasLayer *l, const char *group, Err *err)
{
	for (size_t k = 0; k < l->nslot;) {
		const char *slash = strchr(l->slot[k].name, '/');
		int n = slash == NULL ? 0 : (int)(slash - l->slot[k].name), most = 0, need = 0;
		const char *part = arena_printf(a, "%.*s", n, l->slot[k].name);
		const char *vars = arena_printf(a, "%s/vars", part_group(a, f, group, part));
		for (; k < l->nslot && strncmp(l->slot[k].name, part, (size_t)n) == 0 &&
			   (strchr(l->slot[k].name, '/') != NULL) == (n > 0);
			 k++) {
			const char *path = arena_printf(a, "%s/%d", vars, most++);
			need += !l->slot[k].optional;
			if (!l->slot[k].optional || hdf5_has(f->weights, path))
				l->slot[k].path = path;
		}
		if (!check_count(f, l, vars, need, most, err))
			return false;
	}
	return true;
}

/* The layers of a model, called by class and number. */
static bool find_layers(Arena *a, KerasFile *f, KerasLayer *m, const char *group, Err *err)
{
	Names *classes = names_new(a), *used = names_new(a);
	VEC(int) times = { 0 };
	bool functional = strcmp(m->op, "Functional") == 0;
	const char *old = arena_printf(a, "%s/_layer_checkpoint_dependencies", group);
	const char *root = hdf5_has(f->weights, old) ? old : arena_printf(a, "%s/layers", group), **vars;
	int n;
	const char *const *stored = hdf5_names(f->weights, root, &n);
	vars = arena_array(a, const char *, n > 0 ? n : 1);
	for (int k = 0; k < n; k++)
		vars[k] = arena_printf(a, "%s/%s/vars", root, stored[k]);
	hdf5_expect_names(f->weights, vars, n > 0 ? (size_t)n : 0);
	for (size_t k = 0; k < m->npart; k++) {
		KerasLayer *l = m->part[k];
		const char *class;
		if (l->domain[0] != 0 || (!functional && strcmp(l->op, "InputLayer") == 0) ||
			!json_str(l->json, "class_name", &class, err))
			continue;
		/* Groups are called by the class's name in code. */
		class = strcmp(class, "GroupQueryAttention") == 0 ? "grouped_query_attention" : keras_snake(a, class);
		int at = names_find(classes, class);
		if (at < 0) {
			names_bind(classes, class, (int)times.n);
			vec_push(a, &times, 0);
		} else {
			class = arena_printf(a, "%s_%d", class, ++times.at[at]);
		}
		names_bind(used, class, (int)k);
		if (!find_nested(a, f, l, arena_printf(a, "%s/%s", root, class), err))
			return false;
	}
	for (int k = 0; k < n; k++) {
		int some;
		hdf5_names(f->weights, vars[k], &some);
		if (some > 0 && names_find(used, stored[k]) < 0)
			return fail(err, ERR_INPUT, f->stored, "has weights in '%.100s/%.100s', for which the network has no layer",
				root, stored[k]);
	}
	return true;
}

static bool find_nested(Arena *a, KerasFile *f, KerasLayer *l, const char *group, Err *err)
{
	if (keras_is_model(l))
		return find_layers(a, f, l, group, err);
	if (!find_slots(a, f, l, group, err))
		return false;
	bool both = strcmp(l->op, "Bidirectional") == 0, cells = strcmp(l->op, "StackedRNNCells") == 0;
	Names *classes = names_new(a);
	for (size_t k = 0; k < l->npart; k++) {
		const char *name = both                        ? k == 0 ? "forward_layer" : "backward_layer"
		                   : strcmp(l->op, "RNN") == 0 ? "cell"
		                                               : "layer";
		if (cells) {
			name = keras_snake(a, l->part[k]->op);
			int at = names_find(classes, name);
			names_bind(classes, name, at + 1);
			name = arena_printf(a, at < 0 ? "cells/%s" : "cells/%s_%d", name, at + 1);
		}
		if (!find_nested(a, f, l->part[k], arena_printf(a, "%s/%s", group, name), err))
			return false;
	}
	return true;
}

static bool find_all(Arena *a, KerasFile *f, Err *err)
{
	int n;
	Hdf5 *h = f->weights;
	const char *root = hdf5_has(h, "model_weights") ? "model_weights" : "";
	long_list(a, h, root, "layer_names", &n);
	if (n >= 0) {
		f->written = f->written == 0 ? 1 : f->written;
		return find_listed(a, f, root, err);
	}
	if (hdf5_has(h, "layers") || hdf5_has(h, "_layer_checkpoint_dependencies"))
		return find_layers(a, f, f->model, "", err);
	return fail(err, ERR_INPUT, f->stored, "holds no weights of Keras: neither layer_names nor a group 'layers'");
}

typedef VEC(const char *) PathList;

static void collect_paths(Arena *a, const KerasLayer *l, PathList *out)
{
	for (size_t k = 0; k < l->nslot; k++) {
		if (l->slot[k].path != NULL)
			vec_push(a, out, l->slot[k].path);
		for (int g = 0; g < 4 && l->slot[k].gate[g] != NULL; g++)
			vec_push(a, out, l->slot[k].gate[g]);
	}
	for (size_t k = 0; k < l->npart; k++)
		collect_paths(a, l->part[k], out);
}

bool keras_find_weights(Arena *a, KerasFile *f, Err *err)
{
	PathList all = { 0 };
	if (f->weights == NULL || f->found)
		return true;
	f->found = true;
	if (!find_all(a, f, err))
		return false;
	collect_paths(a, f->model, &all);
	hdf5_expect_data(f->weights, all.at, all.n);
	return true;
}
