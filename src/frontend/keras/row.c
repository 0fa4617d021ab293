/*
 * What rows of layers read: settings, weights, arguments of a call, and functions of one number by Keras' names.
 * Weights of a configuration without a file are drawn, as many as the shapes that rows ask for.
 */
#include "frontend/keras/legacy.h"

#include "base/guard.h"
#include "base/rng.h"
#include "frontend/node/activate.h"
#include "op/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const KerasCall *call_of(const Visit *v)
{
	return v->node->source;
}

KerasFile *keras_file(const Visit *v)
{
	return (KerasFile *)(uintptr_t)v->im->model->source;
}

const KerasLayer *keras_of(const Visit *v)
{
	return call_of(v)->layer;
}

const Json *keras_settings(const Visit *v)
{
	return call_of(v)->settings;
}

int keras_value(Visit *v, int k)
{
	node_need(v, k);
	int x = node_value(v, k);
	/* Layers compute in f32: their policy is not looked at. They cast their inputs, as in Keras; functions do not. */
	bool layer = v->node->domain[0] == 0, other = node_ok(v) && dtype_is_float(node_val(v, x)->type);
	return layer && other ? node_cast(v, x, F32) : x;
}

const Json *keras_json(Visit *v, const char *name)
{
	const Json *at = json_find(keras_settings(v), name);
	node_has(v, name);
	return at == NULL || at->kind == JV_NULL ? NULL : at;
}

bool keras_last(Visit *v)
{
	const char *format = node_attr_text(v, "data_format", "channels_last");
	bool first = strcmp(format, "channels_first") == 0;
	if (!first && strcmp(format, "channels_last") != 0 && strcmp(format, "default") != 0)
		node_fail(v, ERR_INPUT, "its data_format is '%.40s', not channels_first or channels_last", format);
	return !first;
}

/* ---- weights */

/* "kernel"; "0/kernel" is a slot of the first part. */
static KerasSlot *slot_in(const KerasLayer *l, const char *name)
{
	for (size_t k = 0; k < l->nslot; k++)
		if (strcmp(l->slot[k].name, name) == 0)
			return &l->slot[k];
	char *end;
	long part = strtol(name, &end, 10);
	return end != name && *end == '/' && part >= 0 && (size_t)part < l->npart ? slot_in(l->part[part], end + 1) : NULL;
}

static KerasSlot *slot_of(const Visit *v, const char *name)
{
	return slot_in(keras_of(v), name);
}

bool keras_has_weight(Visit *v, const char *slot)
{
	return slot_of(v, slot) != NULL;
}

/* Numbers of the size that layers start with: around 1 for factors and variances, small ones for sums. */
static const float *draw(Visit *v, const char *name, Shape s)
{
	int64_t n = shape_elements(s);
	const char *last = strrchr(name, '/');
	last = last != NULL ? last + 1 : name;
	bool one = strcmp(last, "gamma") == 0 || strcmp(last, "variance") == 0 || strcmp(last, "scale") == 0;
	double spread = one || s.rank < 2 ? 0.1 : sqrt(2 / fmax(1, (double)n / (double)fmax(1, (double)s.dim[s.rank - 1])));
	float *out = arena_array(v->im->arena, float, n + 1);
	Rng rng = rng_seed((uint64_t)++keras_file(v)->drawn);
	for (int64_t k = 0; k < n; k++)
		out[k] = (float)((one ? 1 : 0) + spread * (2 * rng_real(&rng) - 1));
	return out;
}

/* A weight that is drawn has no file which would limit it. It is often turned, so there must be room for two. */
static bool can_draw(Visit *v, const char *name, Shape s)
{
	char text[160];
	if (!import_check_size(v->im, "weight", arena_printf(v->im->arena, "%s.%s", v->node->name, name), F32, s))
		return false;
	if (!guard_memory_left(2 * (size_t)dtype_bytes(F32, shape_elements(s)) + 1))
		node_fail(v, ERR_MEMORY, "its weight %s of shape %s needs more memory than there is", name, shape_str(s, text));
	return node_ok(v);
}

static const float *in_f32(Visit *v, const Hdf5Data *d)
{
	int64_t n = shape_elements(d->shape);
	if (dtype_eq(d->type, F32))
		return d->data;
	float *out = arena_array(v->im->arena, float, n + 1);
	for (int64_t k = 0; k < n; k++)
		out[k] = (float)element_get(d->type, d->data, k);
	return out;
}

/* The layer that has the slot; `*name` loses the numbers of parts. */
static const KerasLayer *owner_of(const KerasLayer *l, const char **name)
{
	char *end;
	for (long part = strtol(*name, &end, 10); end != *name && *end == '/' && (size_t)part < l->npart;
		 part = strtol(*name, &end, 10)) {
		l = l->part[part];
		*name = end + 1;
	}
	return l;
}

static bool read_slot(Visit *v, const KerasSlot *slot, const char *name, Shape s, Hdf5Data *d)
{
	const KerasFile *f = keras_file(v);
	Hdf5Data part[4];
	int n = 0;
	for (; n < 4 && slot->gate[n] != NULL; n++)
		if (!hdf5_read(f->weights, slot->gate[n], &part[n], &v->im->err))
			return false;
	if (n > 0 ? !keras_join_gates(v->im->arena, f->stored, part, n, d, &v->im->err)
			  : !hdf5_read(f->weights, slot->path, d, &v->im->err))
		return false;
	const KerasLayer *l = owner_of(keras_of(v), &name);
	if (f->written == 1)
		keras_old_layout(v->im->arena, l, name, s, d);
	return true;
}

int keras_weight(Visit *v, const char *name, Shape s)
{
	KerasSlot *slot = slot_of(v, name);
	KerasFile *f = keras_file(v);
	char have[160], need[160];
	Hdf5Data d;
	if (slot == NULL)
		node_fail(v, ERR_INPUT, "its settings leave out its weight %s", name);
	if (!node_ok(v))
		return DAG_NONE;
	if (slot->value != DAG_NONE && shape_eq(node_val(v, slot->value)->shape, s))
		return slot->value;
	if (f->weights == NULL) {
		if (!can_draw(v, name, s))
			return DAG_NONE;
		return slot->value = node_weight(v, name, F32, s, draw(v, name, s));
	}
	if (!keras_find_weights(v->im->arena, f, &v->im->err))
		return DAG_NONE;
	if (slot->path == NULL && slot->gate[0] == NULL)
		node_fail(v, ERR_INPUT, "the file has no weight %s for it", name);
	if (!node_ok(v) || !read_slot(v, slot, name, s, &d))
		return DAG_NONE;
	if (!shape_eq(d.shape, s))
		node_fail(v, ERR_TYPE, "its weight %s has the shape %s in the file, but %s is needed", name,
			shape_str(d.shape, have), shape_str(s, need));
	else
		slot->value = node_weight(v, name, F32, s, in_f32(v, &d));
	return node_ok(v) ? slot->value : DAG_NONE;
}

/* ---- functions by name */

static double number_in(const Json *config, const char *a, const char *b, double otherwise)
{
	const Json *at = json_find(config, a);
	if (at == NULL)
		at = json_find(config, b);
	return at == NULL ? otherwise : at->kind == JV_REAL ? at->real : at->kind == JV_INT ? (double)at->i : otherwise;
}

static int softmax(Visit *v, int op, int x)
{
	Attr attr = attr_int("axis", -1);
	int rank = node_val(v, x)->shape.rank;
	if (node_ok(v) && rank < 1)
		node_fail(v, ERR_TYPE, "a softmax needs a dimension");
	return rank < 3 ? node_call(v, op, &x, 1, &attr, 1) : node_axis_call(v, op, &x, 1, rank - 1, NULL, 0);
}

/* One half of an axis times the sigmoid of the other. */
static int gated(Visit *v, int x, int axis)
{
	int64_t n = node_ok(v) ? node_val(v, x)->shape.dim[axis] : 2;
	if (n % 2 != 0)
		node_fail(v, ERR_TYPE, "its activation glu halves %lld elements", (long long)n);
	if (!node_ok(v))
		return x;
	int gate = node_activate(v, node_slice(v, x, axis, n / 2, n / 2), "sigmoid");
	return node_call2(v, OP_mul, node_slice(v, x, axis, 0, n / 2), gate);
}

/*
 * max(x - t, 0). With x in falling order and c its sums up to each element, the first k elements with x > (c - 1) / k
 * are the support; t is (the sum of c there - 1) / k, as Keras writes it.
 */
static int sparse_max(Visit *v, int x, int axis)
{
	int64_t at = axis, n = node_ok(v) ? node_val(v, x)->shape.dim[axis] : 1;
	int rank = node_val(v, x)->shape.rank;
	Attr all[] = { attr_int("axis", axis), attr_int("k", n) }, along = attr_int("axis", axis);
	int sorted = node_call(v, OP_top_k, &x, 1, all, 2), sums = node_call(v, OP_scan, &sorted, 1, &along, 1);
	int count = node_with_number(v, OP_add, node_cast(v, node_count(v, n, axis, rank), F32), 1),
		zero = node_number(v, F32, 0);
	int bound = node_call2(v, OP_div, node_with_number(v, OP_sub, sums, 1), count);
	int support = node_call2(v, OP_less, zero, node_call2(v, OP_sub, sorted, bound));
	int k = node_reduce(v, OP_reduce_sum, node_cast(v, support, F32), &at, 1, true);
	int sum = node_reduce(v, OP_reduce_sum, node_where(v, support, sums, zero), &at, 1, true);
	int least = node_call2(v, OP_div, node_with_number(v, OP_sub, sum, 1), k);
	return node_call2(v, OP_maximum, node_call2(v, OP_sub, x, least), zero);
}

static int by_name(Visit *v, int x, const char *name, const Json *config)
{
	static const struct {
		const char *name, *as;
		const char *a, *b; /* settings that are parameters */
		double at, bt;     /* without them */
	} rows[] = {
		{ "linear", "linear", "", "", 0, 0 },
		{ "relu6", "relu6", "", "", 0, 6 },
		{ "sigmoid", "sigmoid", "", "", 0, 0 },
		{ "tanh", "tanh", "", "", 0, 0 },
		{ "exponential", "exp", "", "", 0, 0 },
		{ "softplus", "softplus", "", "", 0, 0 },
		{ "softsign", "softsign", "", "", 0, 0 },
		{ "silu", "swish", "", "", 1, 0 },
		{ "swish", "swish", "", "", 1, 0 },
		{ "selu", "selu", "", "", 1.0507009873554805, 1.6732632423543772 },
		{ "mish", "mish", "", "", 0, 0 },
		{ "elu", "elu", "alpha", "alpha", 1, 0 },
		{ "celu", "celu", "alpha", "alpha", 1, 0 },
		{ "leaky_relu", "leaky_relu", "negative_slope", "alpha", 0.2, 0 },
		{ "hard_silu", "hard_swish", "", "", 0, 0 },
		{ "hard_swish", "hard_swish", "", "", 0, 0 },
		{ "hard_tanh", "clip", "", "", -1, 1 },
	};
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (strcmp(rows[k].name, name) == 0)
			return node_activate_with(
				v, x, rows[k].as, number_in(config, rows[k].a, rows[k].b, rows[k].at), rows[k].bt);
	if (strcmp(name, "relu") == 0)
		return node_activate(v, x, "relu");
	if (strcmp(name, "gelu") == 0) {
		const Json *near = json_find(config, "approximate");
		return node_activate(v, x, near != NULL && near->kind == JV_BOOL && near->truth ? "gelu_tanh" : "gelu");
	}
	if (strcmp(name, "hard_sigmoid") == 0) /* relu6(x + 3) / 6 from version 3 on */
		return node_activate_with(v, x, "hard_sigmoid", keras_file(v)->version >= 3 ? 1.0 / 6 : 0.2, 0.5);
	if (strcmp(name, "log_sigmoid") == 0)
		return node_call1(v, OP_neg, node_activate(v, node_call1(v, OP_neg, x), "softplus"));
	if (strcmp(name, "tanh_shrink") == 0)
		return node_call2(v, OP_sub, x, node_call1(v, OP_tanh, x));
	if (strcmp(name, "squareplus") == 0) { /* (x + sqrt(x^2 + b)) / 2 */
		double b = number_in(config, "b", "", 4);
		int root = node_call1(v, OP_sqrt, node_with_number(v, OP_add, node_call2(v, OP_mul, x, x), b));
		return node_with_number(v, OP_mul, node_call2(v, OP_add, x, root), 0.5);
	}
	if (strcmp(name, "sparse_plus") == 0) { /* 0, (x + 1)^2 / 4, x */
		int y = node_with_number(v, OP_add, node_activate_with(v, x, "clip", -1, 1), 1);
		int above = node_call2(v, OP_less, node_number(v, F32, 1), x);
		return node_where(v, above, x, node_with_number(v, OP_mul, node_call2(v, OP_mul, y, y), 0.25));
	}
	if (strcmp(name, "sparse_sigmoid") == 0)
		return node_activate_with(v, x, "hard_sigmoid", 0.5, 0.5);
	if (strcmp(name, "soft_shrink") == 0) { /* x - clip(x, -t, t) */
		double t = number_in(config, "threshold", "", 0.5);
		return node_call2(v, OP_sub, x, node_activate_with(v, x, "clip", -t, t));
	}
	if (strcmp(name, "hard_shrink") == 0) {
		double t = number_in(config, "threshold", "", 0.5);
		int outside = node_call2(v, OP_less, node_number(v, F32, t), node_call1(v, OP_abs, x));
		return node_where(v, outside, x, node_number(v, F32, 0));
	}
	if (strcmp(name, "threshold") == 0) { /* x, or below a number another one */
		int t = node_number(v, F32, number_in(config, "threshold", "threshold_value", 1));
		int other = node_number(v, F32, number_in(config, "default_value", "value", 0));
		return node_where(v, node_call2(v, OP_less, t, x), x, other);
	}
	node_fail(v, ERR_UNSUPPORTED, "its activation '%.60s' is not supported", name);
	return x;
}

/* A layer as an activation: "LeakyReLU" is "leaky_relu". */
static const char *function_name(Visit *v, const char *class)
{
	static const char *const words[][2] = { { "LeakyReLU", "leaky_relu" }, { "ReLU", "relu" }, { "ELU", "elu" },
		{ "Softmax", "softmax" }, { "PReLU", "PReLU" } };
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (strcmp(words[k][0], class) == 0)
			return words[k][1];
	return keras_snake(v->im->arena, class);
}

/* "relu", {"class_name": "relu"}, {"class_name": "function", "config": "relu"}, {"class_name": "ReLU", "config": {}} */
int keras_activate_as(Visit *v, int x, const Json *how)
{
	const Json *config = NULL;
	if (how != NULL && how->kind == JV_OBJECT) {
		const Json *class = json_find(how, "class_name"), *registered = json_find(how, "registered_name");
		config = json_find(how, "config");
		if (config != NULL && config->kind == JV_TEXT && class != NULL && class->kind == JV_TEXT &&
			(strcmp(class->text, "function") == 0))
			how = config;
		else
			how = class;
		if (how == config && registered != NULL && registered->kind == JV_TEXT && strchr(registered->text, '>') != NULL)
			how = registered;
	}
	if (how == NULL || how->kind == JV_NULL)
		return x;
	if (how->kind != JV_TEXT) {
		node_fail(v, ERR_INPUT, "its activation is no name");
		return x;
	}
	const char *name = function_name(v, how->text);
	if (!node_ok(v) || strcmp(name, "linear") == 0)
		return x;
	if (strcmp(name, "softmax") == 0 || strcmp(name, "log_softmax") == 0)
		return softmax(v, name[0] == 's' ? OP_softmax : OP_log_softmax, x);
	if (strcmp(name, "glu") == 0 || strcmp(name, "sparsemax") == 0) {
		double at = fmax(-99, fmin(99, number_in(config, "axis", "", -1)));
		int axis = node_axis(v, (int64_t)at, node_val(v, x)->shape.rank);
		return name[0] == 'g' ? gated(v, x, axis) : sparse_max(v, x, axis);
	}
	if (strcmp(name, "relu") == 0 && config != NULL && config->kind == JV_OBJECT) {
		double most = number_in(config, "max_value", "", INFINITY),
			   slope = number_in(config, "negative_slope", "alpha", 0);
		if (number_in(config, "threshold", "theta", 0) != 0 || (slope != 0 && isfinite(most)))
			node_fail(v, ERR_UNSUPPORTED, "its activation ReLU has a threshold, which is not supported here");
		if (slope != 0 || isfinite(most))
			return slope != 0 ? node_activate_with(v, x, "leaky_relu", slope, 0)
			                  : node_activate_with(v, x, "clip", 0, most);
	}
	if (!node_is_last(v, x))
		return by_name(v, x, name, config);
	return node_to_last(v, by_name(v, node_to_second(v, x), name, config));
}

int keras_activate(Visit *v, int x, const char *attribute)
{
	return keras_activate_as(v, x, keras_json(v, attribute));
}

/* ---- arguments */

const Json *keras_argument(Visit *v, int at, const char *name)
{
	const KerasCall *c = call_of(v);
	const Json *found = c->kwargs != NULL ? json_find(c->kwargs, name) : NULL;
	if (found == NULL && c->listed && at == 0 && keras_constant(c->args) != NULL)
		found = keras_constant(c->args);
	if (found == NULL && !c->listed && c->args != NULL && c->args->kind == JV_ARRAY && at >= 0 &&
		(size_t)at < c->args->list.n)
		found = c->args->list.at[at];
	return found == NULL || found->kind == JV_NULL ? NULL : found;
}

bool keras_all_tensors(Visit *v, const char *const *names)
{
	const KerasCall *c = call_of(v);
	const Json *list = NULL;
	for (int k = 0; names[k] != NULL && list == NULL; k++)
		list = keras_argument(v, c->listed ? -1 : 0, names[k]);
	if (list == NULL && c->listed)
		list = c->args;
	/* A reference of the older form is a list that begins with a name. */
	bool one = list == NULL || list->kind != JV_ARRAY || list->list.n == 0 || list->list.at[0]->kind == JV_TEXT;
	bool all = one || (int)list->list.n == node_nin(v);
	if (!all)
		node_fail(v, ERR_UNSUPPORTED, "its list holds a constant, which dlc reads as an argument of its own only");
	return all;
}

bool keras_is_listed(Visit *v)
{
	return call_of(v)->listed;
}

int keras_input(Visit *v, int at, const char *name)
{
	const KerasCall *c = call_of(v);
	int n = 0;
	if (c->args == NULL && c->kwargs == NULL)
		return at == 0 ? 0 : -1;
	if (c->args != NULL && c->listed) {
		n = keras_count_tensors(c->args, true);
		if (at >= 0 && at < n)
			return at;
	}
	for (size_t k = 0; c->args != NULL && !c->listed && c->args->kind == JV_ARRAY && k < c->args->list.n; k++) {
		int some = keras_count_tensors(c->args->list.at[k], false);
		if ((int)k == at)
			return some > 0 ? n : -1;
		n += some;
	}
	for (size_t k = 0; c->kwargs != NULL && k < c->kwargs->list.n; k++) {
		int some = keras_count_tensors(c->kwargs->list.at[k], c->listed);
		if (strcmp(c->kwargs->list.at[k]->key, name) == 0)
			return some > 0 ? n : -1;
		n += some;
	}
	return -1;
}

int keras_count_at(Visit *v, int at, const char *name)
{
	const KerasCall *c = call_of(v);
	const Json *given = c->listed ? c->args : keras_argument(v, at, name);
	return given == NULL ? 0 : keras_count_tensors(given, c->listed);
}

bool keras_flag(Visit *v, const char *name)
{
	const Json *at = keras_argument(v, -1, name);
	return at != NULL && at->kind == JV_BOOL && at->truth;
}

double keras_number(const Json *config, const char *name, double otherwise)
{
	return number_in(config, name, "", otherwise);
}
