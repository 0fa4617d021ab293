/*
 * The graph of a model: a node for each call of a layer. Values are called as their layer, of a later call "dense:1",
 * of a later result "lstm#1", in a model inside of the model "encoder/dense". A model that is called becomes its nodes;
 * its inputs and results are nodes Identity. Version 2 writes the tensors of a call as ["dense", call, result, {more}],
 * version 3 as objects __keras_tensor__ anywhere in its arguments.
 */
#include "frontend/keras/mask.h"

#include "op/names.h"

#include <string.h>

enum { MOST_NODES = 1 << 18, MOST_RESULTS = 64 };

typedef struct Ref {
	int layer;
	int64_t call, result;
} Ref;

typedef struct Call {
	VEC(Ref) in;
	const Json *args, *kwargs;
	bool listed;
} Call;

/* A layer as part of a model that is being read. */
typedef struct Member {
	KerasLayer *layer;
	Call *call;
	size_t ncall;
	int64_t results; /* of a call, as far as they are read */
} Member;

typedef struct Reader {
	Arena *arena;
	const KerasLayer *model;
	Member *member;
	size_t n;
	Names *names;
	bool objects; /* calls are objects, as version 3 writes them */
	Err *err;
} Reader;

typedef struct Builder {
	Arena *arena;
	KerasFile *file;
	Err *err;
	VEC(NodeDef) node;
	Names *masked; /* values with a mask -> mask */
	VEC(const char *) mask;
	bool explicit; /* masks are arguments of calls */
} Builder;

typedef VEC(const char *) TextList;
typedef VEC(Ref) RefList;

/* ---- reading which tensors a call has */

/* ["_CONSTANT_VALUE", -1, 2.0, {more}] in the place of a tensor */
const Json *keras_constant(const Json *j)
{
	bool is = j != NULL && j->kind == JV_ARRAY && j->list.n >= 3 && j->list.at[0]->kind == JV_TEXT &&
	          strcmp(j->list.at[0]->text, "_CONSTANT_VALUE") == 0;
	return is ? j->list.at[2] : NULL;
}

static bool is_text_ref(const Json *j)
{
	return j->kind == JV_ARRAY && j->list.n >= 3 && j->list.at[0]->kind == JV_TEXT && j->list.at[1]->kind == JV_INT &&
	       j->list.at[2]->kind == JV_INT && keras_constant(j) == NULL;
}

/* What should be [name, call, result] of a tensor; NULL: it is none. */
static const Json *history_of(const Json *j)
{
	const Json *class = json_find(j, "class_name"), *config = json_find(j, "config");
	if (class == NULL || class->kind != JV_TEXT || strcmp(class->text, "__keras_tensor__") != 0)
		return NULL;
	const Json *at = config != NULL ? json_find(config, "keras_history") : NULL;
	return at != NULL ? at : j;
}

/* `list` is [name, call, result]. A model's own call is number 0 in most places, and none of a Sequential of 3. */
static bool find_ref(Reader *r, const Json *list, bool counts_own, Ref *out)
{
	if (!is_text_ref(list))
		return json_fail(list, r->err, "this tensor does not say whose result it is (keras_history)");
	const char *name = list->list.at[0]->text;
	int at = names_find(r->names, name);
	if (at < 0)
		return json_fail(
			list, r->err, "it reads layer '%.100s', which the model '%.60s' does not have", name, r->model->name);
	Member *m = &r->member[at];
	*out = (Ref){ at, list->list.at[1]->i, list->list.at[2]->i };
	bool has_own = keras_is_model(m->layer) && !(r->objects && strcmp(m->layer->op, "Sequential") == 0);
	if (has_own && counts_own && out->call > 0)
		out->call--;
	if (out->result < 0 || out->result >= MOST_RESULTS)
		return json_fail(list, r->err, "it reads result %lld of layer '%.100s'", (long long)out->result, name);
	if (out->result >= m->results)
		m->results = out->result + 1;
	return true;
}

static bool collect_objects(Reader *r, const Json *j, Call *c)
{
	const Json *history = history_of(j);
	Ref ref;
	if (history != NULL) {
		if (!find_ref(r, history, false, &ref))
			return false;
		vec_push(r->arena, &c->in, ref);
		return true;
	}
	for (size_t k = 0; (j->kind == JV_ARRAY || j->kind == JV_OBJECT) && k < j->list.n; k++)
		if (!collect_objects(r, j->list.at[k], c))
			return false;
	return true;
}

static bool collect_lists(Reader *r, const Json *j, Call *c)
{
	Ref ref;
	if (keras_constant(j) != NULL)
		return true;
	if (is_text_ref(j)) {
		if (!find_ref(r, j, true, &ref))
			return false;
		vec_push(r->arena, &c->in, ref);
		return true;
	}
	for (size_t k = 0; (j->kind == JV_ARRAY || j->kind == JV_OBJECT) && k < j->list.n; k++)
		if (!collect_lists(r, j->list.at[k], c))
			return false;
	return true;
}

/* The further arguments, which the first tensor of a list carries. */
static const Json *more_of(const Json *j)
{
	if (j->kind == JV_ARRAY && j->list.n > 0 && j->list.at[0]->kind == JV_TEXT)
		return j->list.n > 3 && j->list.at[3]->kind == JV_OBJECT ? j->list.at[3] : NULL;
	const Json *found = NULL;
	for (size_t k = 0; j->kind == JV_ARRAY && k < j->list.n && found == NULL; k++)
		found = more_of(j->list.at[k]);
	return found;
}

static bool read_call(Reader *r, const Json *node, Call *c)
{
	*c = (Call){ .listed = node->kind == JV_ARRAY };
	if (node->kind == JV_OBJECT) {
		c->args = json_find(node, "args");
		c->kwargs = json_find(node, "kwargs");
		return (c->args == NULL || collect_objects(r, c->args, c)) &&
		       (c->kwargs == NULL || collect_objects(r, c->kwargs, c));
	}
	if (node->kind != JV_ARRAY)
		return json_fail(node, r->err, "a call must be a list or an object");
	c->args = node;
	c->kwargs = more_of(node);
	return collect_lists(r, node, c) && (c->kwargs == NULL || collect_lists(r, c->kwargs, c));
}

static bool read_members(Reader *r)
{
	const KerasLayer *m = r->model;
	r->n = m->npart;
	r->member = arena_array(r->arena, Member, r->n + 1);
	r->names = names_new(r->arena);
	for (size_t k = 0; k < r->n; k++) {
		if (names_find(r->names, m->part[k]->name) >= 0)
			return json_fail(m->part[k]->json, r->err, "two layers have the name '%.100s'", m->part[k]->name);
		names_bind(r->names, m->part[k]->name, (int)k);
		r->member[k] = (Member){ .layer = m->part[k], .results = 1 };
	}
	for (size_t k = 0; k < r->n; k++) {
		const Json *calls = json_find(m->part[k]->json, "inbound_nodes");
		size_t n = calls != NULL && calls->kind == JV_ARRAY ? calls->list.n : 0;
		r->member[k].call = arena_array(r->arena, Call, n + 1);
		r->member[k].ncall = n;
		for (size_t i = 0; i < n; i++)
			r->objects |= calls->list.at[i]->kind == JV_OBJECT;
		for (size_t i = 0; i < n; i++)
			if (!read_call(r, calls->list.at[i], &r->member[k].call[i]))
				return false;
	}
	return true;
}

/* input_layers or output_layers: a tensor, a list, or an object of them. */
static bool read_ends(Reader *r, const Json *j, RefList *out)
{
	Ref ref;
	if (j == NULL || (j->kind != JV_ARRAY && j->kind != JV_OBJECT))
		return json_fail(r->model->json, r->err, "the model '%.60s' does not say its input_layers and output_layers",
			r->model->name);
	if (is_text_ref(j)) {
		if (!find_ref(r, j, true, &ref))
			return false;
		vec_push(r->arena, out, ref);
		return true;
	}
	for (size_t k = 0; k < j->list.n; k++)
		if (!read_ends(r, j->list.at[k], out))
			return false;
	return true;
}

/* ---- nodes */

int keras_count_tensors(const Json *j, bool listed)
{
	int n = 0;
	if (listed ? is_text_ref(j) : history_of(j) != NULL)
		return 1;
	if (listed && keras_constant(j) != NULL)
		return 0;
	for (size_t k = 0; (j->kind == JV_ARRAY || j->kind == JV_OBJECT) && k < j->list.n; k++)
		n += keras_count_tensors(j->list.at[k], listed);
	return n;
}

static const char *value_name(Arena *a, const char *prefix, const char *layer, int64_t call, int64_t result)
{
	const char *name = call > 0 ? arena_printf(a, "%s%s:%lld", prefix, layer, (long long)call)
	                            : arena_printf(a, "%s%s", prefix, layer);
	return result > 0 ? arena_printf(a, "%s#%lld", name, (long long)result) : name;
}

static const char *const *results_of(Arena *a, const char *base, int64_t n)
{
	const char **out = arena_array(a, const char *, n + 1);
	for (int64_t k = 0; k < n; k++)
		out[k] = value_name(a, "", base, 0, k);
	return out;
}

static bool add_node(Builder *b, const NodeDef *n)
{
	if (b->node.n >= MOST_NODES)
		return fail(b->err, ERR_INPUT, b->file->path, "has more than %d calls of layers", MOST_NODES);
	vec_push(b->arena, &b->node, *n);
	return true;
}

static const char *mask_of(const Builder *b, const char *value)
{
	int at = names_find(b->masked, value);
	return at < 0 ? NULL : b->mask.at[at];
}

static void set_mask(Builder *b, const char *value, const char *mask)
{
	if (mask == NULL)
		return;
	names_bind(b->masked, value, (int)b->mask.n);
	vec_push(b->arena, &b->mask, mask);
}

/* `to` is another name of the value `from`. */
static bool add_same(Builder *b, const char *from, const char *to)
{
	Arena *a = b->arena;
	const char **in = arena_array(a, const char *, 1), **out = arena_array(a, const char *, 1);
	in[0] = from;
	out[0] = to;
	set_mask(b, to, mask_of(b, from));
	return add_node(
		b, &(NodeDef){ .name = to, .op = "Identity", .domain = "", .in = in, .out = out, .nin = 1, .nout = 1 });
}

/* One call, whose values are called `base`, with those inputs. */
typedef struct Use {
	const char *base;
	TextList in;
	const Json *args, *kwargs;
	bool listed;
	int64_t results;
} Use;

static bool add_model(Builder *b, KerasLayer *m, const char *prefix, const TextList *in, TextList *out);
static bool add_call(Builder *b, KerasLayer *l, const Use *u);

/* fold: [N,T,..] -> [N*T,..], the layer, and back. */
static bool add_distributed(Builder *b, KerasLayer *l, const Use *u)
{
	Arena *a = b->arena;
	if (l->npart != 1 || u->in.n < 1)
		return json_fail(l->json, b->err, "the layer '%.60s' has no layer, or no input, to distribute", l->name);
	Use inner = { .base = arena_printf(a, "%s/%s", u->base, l->part[0]->name), .results = 1 };
	const char **fold = arena_array(a, const char *, 1), **unfold = arena_array(a, const char *, 2);
	fold[0] = arena_printf(a, "%s/fold", u->base);
	unfold[0] = inner.base;
	unfold[1] = u->in.at[0];
	vec_push(a, &inner.in, fold[0]);
	return add_node(b, &(NodeDef){ .name = fold[0],
						   .op = "fold",
						   .domain = "TimeDistributed",
						   .in = u->in.at,
						   .nin = 1,
						   .out = fold,
						   .nout = 1 }) &&
	       add_call(b, l->part[0], &inner) &&
	       add_node(b, &(NodeDef){ .name = u->base,
						   .op = "unfold",
						   .domain = "TimeDistributed",
						   .in = unfold,
						   .nin = 2,
						   .out = results_of(a, u->base, 1),
						   .nout = 1 });
}

/* The masks of the first `most` inputs as inputs behind all others: which one each has; NULL: none has one. */
static const int *add_masks(Builder *b, const Use *u, size_t most, NodeDef *n)
{
	const char **in = arena_array(b->arena, const char *, u->in.n + most + 1);
	int *at = arena_array(b->arena, int, u->in.n + 1);
	memcpy(in, u->in.at, sizeof *in * u->in.n);
	for (size_t k = 0; k < u->in.n; k++) {
		const char *mask = k < most ? mask_of(b, u->in.at[k]) : NULL;
		at[k] = mask != NULL ? (int)n->nin : -1;
		if (mask != NULL)
			in[n->nin++] = mask;
	}
	n->in = in;
	return n->nin > u->in.n ? at : NULL;
}

/* A node that computes a mask, of a call's settings. */
static bool add_mask(Builder *b, const char *op, const KerasCall *call, const char *base, NodeDef n)
{
	const char **out = arena_array(b->arena, const char *, 1);
	out[0] = arena_printf(b->arena, "%s/mask", base);
	n.name = out[0];
	n.op = op;
	n.domain = "mask";
	n.out = out;
	n.nout = 1;
	n.source = call;
	keras_set_attrs(b->arena, call->settings, false, &n);
	set_mask(b, base, out[0]);
	return add_node(b, &n);
}

/*
 * The mask of a call's result. Of layers that join others, those of version 3 have one where all of their inputs have:
 * where any of these counts; those of version 2, where all count that there are.
 */
static bool pass_mask(Builder *b, const KerasLayer *l, const Use *u, const KerasCall *call)
{
	TextList masks = { 0 };
	bool same = true, later = b->file->version >= 3;
	NodeDef n = { .in = u->in.at, .nin = u->in.n };
	if (keras_makes_mask(l))
		return add_mask(b, "of", call, u->base, n);
	if (!keras_keeps_mask(l))
		return true;
	size_t most = (keras_reads_mask(l) || keras_scores_mask(l)) && u->in.n > 1 ? 1 : u->in.n;
	for (size_t k = 0; k < most; k++) {
		const char *mask = mask_of(b, u->in.at[k]);
		if (mask == NULL)
			continue;
		vec_push(b->arena, &masks, mask);
		same &= strcmp(mask, masks.at[0]) == 0;
	}
	if (masks.n > 0 && strcmp(l->op, "Concatenate") == 0) {
		KerasCall *joined = arena_copy(b->arena, call, sizeof *call);
		joined->mask = add_masks(b, u, u->in.n, &n);
		return add_mask(b, "joined", joined, u->base, n);
	}
	if (masks.n == 0 || (later && masks.n < most))
		return true;
	n.in = masks.at;
	n.nin = masks.n;
	if (!same)
		return add_mask(b, later ? "either" : "both", call, u->base, n);
	set_mask(b, u->base, masks.at[0]);
	return true;
}

static bool add_call(Builder *b, KerasLayer *l, const Use *u)
{
	Arena *a = b->arena;
	if (keras_is_model(l)) {
		TextList out = { 0 };
		if (!add_model(b, l, arena_printf(a, "%s/", u->base), &u->in, &out))
			return false;
		for (int64_t k = 0; k < u->results; k++)
			if ((size_t)k >= out.n || !add_same(b, out.at[k], value_name(a, "", u->base, 0, k)))
				return json_fail(l->json, b->err, "the model '%.60s' has %zu results, but %lld are read", l->name,
					out.n, (long long)u->results);
		return true;
	}
	if (strcmp(l->op, "TimeDistributed") == 0 && l->domain[0] == 0) {
		set_mask(b, u->base, u->in.n > 0 ? mask_of(b, u->in.at[0]) : NULL);
		return add_distributed(b, l, u);
	}
	/* It changes its layer's kernel while that is trained. */
	if (strcmp(l->op, "SpectralNormalization") == 0 && l->domain[0] == 0 && l->npart == 1)
		return add_call(b, l->part[0], u);
	KerasCall *call = arena_new_of(a, KerasCall);
	*call = (KerasCall){ b->file, l, l->config, u->args, u->kwargs, NULL, u->listed };
	NodeDef n = { .name = u->base, .op = l->op, .domain = l->domain, .in = u->in.at, .nin = u->in.n, .source = call };
	const char *function;
	if (keras_tf_function(l, &function)) {
		Json *settings = json_new(a, JV_OBJECT);
		const char *op = keras_from_tf(a, function, u->kwargs, settings);
		n.domain = op != NULL ? "ops" : "tf";
		n.op = op != NULL ? op : function;
		call->settings = settings;
	}
	/* Also version 3 writes none that attention reads. */
	if (u->in.n > 0 && (!b->explicit || keras_scores_mask(l)))
		call->mask = add_masks(b, u, keras_scores_mask(l) ? u->in.n : keras_reads_mask(l), &n);
	n.out = results_of(a, u->base, u->results);
	n.nout = (size_t)u->results;
	keras_set_attrs(a, call->settings, strcmp(n.domain, "ops") == 0, &n);
	return pass_mask(b, l, u, call) && add_node(b, &n);
}

static bool add_member(Builder *b, const Reader *r, const Member *m, const char *prefix)
{
	Arena *a = b->arena;
	for (size_t k = 0; k < m->ncall; k++) {
		const Call *c = &m->call[k];
		Use u = { .base = value_name(a, prefix, m->layer->name, (int64_t)k, 0),
			.args = c->args,
			.kwargs = c->kwargs,
			.listed = c->listed,
			.results = m->results };
		for (size_t i = 0; i < c->in.n; i++) {
			const Ref *ref = &c->in.at[i];
			vec_push(a, &u.in, value_name(a, prefix, r->member[ref->layer].layer->name, ref->call, ref->result));
		}
		if (!add_call(b, m->layer, &u))
			return false;
	}
	return true;
}

static bool add_functional(Builder *b, KerasLayer *m, const char *prefix, const TextList *in, TextList *out)
{
	Arena *a = b->arena;
	b->explicit = b->file->version >= 3;
	Reader r = { .arena = a, .model = m, .err = b->err };
	RefList first = { 0 }, last = { 0 };
	if (!read_members(&r) || !read_ends(&r, json_find(m->config, "input_layers"), &first) ||
		!read_ends(&r, json_find(m->config, "output_layers"), &last))
		return false;
	if (in != NULL && in->n != first.n)
		return json_fail(
			m->json, b->err, "the model '%.60s' has %zu inputs, but is called with %zu", m->name, first.n, in->n);
	for (size_t k = 0; in != NULL && k < first.n; k++)
		if (!add_same(b, in->at[k], value_name(a, prefix, r.member[first.at[k].layer].layer->name, 0, 0)))
			return false;
	for (size_t k = 0; k < r.n; k++)
		if (strcmp(r.member[k].layer->op, "InputLayer") != 0 && !add_member(b, &r, &r.member[k], prefix))
			return false;
	for (size_t k = 0; k < last.n; k++) {
		const Ref *ref = &last.at[k];
		vec_push(a, out, value_name(a, prefix, r.member[ref->layer].layer->name, ref->call, ref->result));
	}
	return true;
}

static const char *sequential_input(Arena *a, const KerasLayer *m)
{
	if (m->npart > 0 && strcmp(m->part[0]->op, "InputLayer") == 0)
		return m->part[0]->name;
	return arena_printf(a, "%s_input", m->npart > 0 ? m->part[0]->name : m->name);
}

static bool add_model(Builder *b, KerasLayer *m, const char *prefix, const TextList *in, TextList *out)
{
	Arena *a = b->arena;
	bool explicit = b->explicit;
	if (strcmp(m->op, "Sequential") != 0) {
		bool ok = add_functional(b, m, prefix, in, out);
		b->explicit = explicit;
		return ok;
	}
	const char *last = in != NULL && in->n > 0 ? in->at[0] : sequential_input(a, m);
	if (in != NULL && in->n > 1) /* a model of version 3 gives it as an argument */
		set_mask(b, last, in->at[1]);
	b->explicit = false;
	for (size_t k = 0; k < m->npart; k++) {
		Use u = { .base = value_name(a, prefix, m->part[k]->name, 0, 0), .results = 1 };
		vec_push(a, &u.in, last);
		if (strcmp(m->part[k]->op, "InputLayer") == 0)
			continue;
		if (!add_call(b, m->part[k], &u))
			return false;
		last = u.base;
	}
	b->explicit = explicit;
	vec_push(a, out, last);
	return true;
}

/* ---- inputs of the whole */

/* The shape that the first layer of a model says; NULL: none. */
static const Json *shape_of_first(const KerasLayer *l, const KerasLayer **of)
{
	static const char *const keys[] = { "batch_shape", "batch_input_shape", "build_input_shape" };
	*of = l;
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		const Json *at = json_find(l->config, keys[k]);
		if (at != NULL && at->kind == JV_ARRAY)
			return at;
	}
	return l->npart > 0 ? shape_of_first(l->part[0], of) : NULL;
}

static DType type_of_input(const KerasLayer *l)
{
	const Json *at = json_find(l->config, "dtype");
	const Json *policy = at != NULL && at->kind == JV_OBJECT ? json_find(at, "config") : NULL;
	at = policy != NULL ? json_find(policy, "name") : at;
	const struct {
		const char *name;
		DType type;
	} types[] = { { "float64", F64 }, { "float16", F16 }, { "int64", I64 }, { "int32", I32 },
		{ "int16", { DT_INT, 16, 1 } }, { "int8", { DT_INT, 8, 1 } }, { "uint8", { DT_UINT, 8, 1 } },
		{ "bool", BOOL } };
	for (size_t k = 0; at != NULL && at->kind == JV_TEXT && k < sizeof types / sizeof *types; k++)
		if (strcmp(types[k].name, at->text) == 0)
			return types[k].type;
	return F32;
}

static bool add_input(Arena *a, const KerasLayer *l, const char *name, NodeValue *out, Err *err)
{
	const Json *shape = shape_of_first(l, &l), *sparse = json_find(l->config, "sparse");
	const Json *ragged = json_find(l->config, "ragged");
	*out = (NodeValue){ .name = name, .type = type_of_input(l), .shaped = shape != NULL };
	if ((sparse != NULL && sparse->kind == JV_BOOL && sparse->truth) ||
		(ragged != NULL && ragged->kind == JV_BOOL && ragged->truth)) {
		out->refused = "is sparse or ragged; dlc takes dense tensors";
		out->refusal = ERR_UNSUPPORTED;
	}
	if (shape == NULL)
		return true;
	NodeDim *dim = arena_array(a, NodeDim, shape->list.n + 1);
	for (size_t k = 0; k < shape->list.n; k++) {
		const Json *d = shape->list.at[k];
		if (d->kind != JV_NULL && (d->kind != JV_INT || d->i < 0))
			return json_fail(shape, err, "the shape of input '%.100s' holds something else than sizes", name);
		dim[k] = (NodeDim){ .open = d->kind == JV_NULL, .symbol = k == 0 ? "N" : "" };
		dim[k].size = d->kind == JV_INT ? d->i : 0;
	}
	out->dim = dim;
	out->ndim = shape->list.n;
	return true;
}

static bool set_inputs(Arena *a, const KerasLayer *m, NodeGraph *g, Err *err)
{
	Reader r = { .arena = a, .model = m, .err = err };
	RefList first = { 0 };
	if (strcmp(m->op, "Sequential") == 0) {
		NodeValue *in = arena_array(a, NodeValue, 1);
		g->in = in;
		g->nin = 1;
		bool own = m->npart > 0 && strcmp(m->part[0]->op, "InputLayer") == 0;
		return add_input(a, own ? m->part[0] : m, sequential_input(a, m), in, err);
	}
	if (!read_members(&r) || !read_ends(&r, json_find(m->config, "input_layers"), &first))
		return false;
	NodeValue *in = arena_array(a, NodeValue, first.n + 1);
	for (size_t k = 0; k < first.n; k++) {
		const KerasLayer *l = r.member[first.at[k].layer].layer;
		if (!add_input(a, l, l->name, &in[k], err))
			return false;
	}
	g->in = in;
	g->nin = first.n;
	return true;
}

bool keras_graph(Arena *a, KerasFile *f, NodeGraph *out, Err *err)
{
	Builder b = { .arena = a, .file = f, .err = err, .masked = names_new(a) };
	TextList last = { 0 };
	*out = (NodeGraph){ .name = f->model->name };
	if (!set_inputs(a, f->model, out, err) || !add_model(&b, f->model, "", NULL, &last))
		return false;
	NodeValue *result = arena_array(a, NodeValue, last.n + 1);
	for (size_t k = 0; k < last.n; k++)
		result[k] = (NodeValue){ .name = last.at[k] };
	import_number_results(a, result, last.n);
	out->out = result;
	out->nout = last.n;
	out->node = b.node.at;
	out->nnode = b.node.n;
	return true;
}
