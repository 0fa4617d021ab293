/*
 * Reads symbol.json. All attributes are texts. Before 0.9 an operator's own stood in `param`, others in `attr`, and the
 * moving statistics of a batch norm were not among its inputs; later all are in `attr`, then in `attrs`. Numbers of
 * nodes are checked here; the walk over nodes checks that none depends on itself (frontend/node/traverse.c).
 */
#include "frontend/mxnet/symbol.h"

#include "base/json.h"
#include "op/names.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 1 << 18, OLDEST = 800, MOST_NESTED = 8 };

/* ---- names */

#define SLOTS(op, names) { op, names },
static const struct {
	const char *op, *names;
} slots[] = {
#include "frontend/mxnet/slot.def"
};
#undef SLOTS

#define ALIAS(name, is) { name, is },
static const struct {
	const char *name, *is;
} aliases[] = {
#include "frontend/mxnet/alias.def"
};
#undef ALIAS

const char *mxnet_slot(const char *op, size_t k, Arena *a)
{
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		if (strcmp(slots[i].op, op) != 0)
			continue;
		const char *s = slots[i].names;
		for (; k > 0 && *s != 0; k--) {
			s += strcspn(s, " ");
			s += *s == ' ';
		}
		return *s == 0 ? NULL : arena_printf(a, "%.*s", (int)strcspn(s, " "), s);
	}
	return NULL;
}

bool mxnet_slot_is_weight(const char *slot)
{
	static const char *const weights[] = { "weight", "bias", "gamma", "beta", "moving_mean", "moving_var",
		"parameters" };
	for (size_t k = 0; slot != NULL && k < sizeof weights / sizeof *weights; k++)
		if (strcmp(slot, weights[k]) == 0)
			return true;
	return false;
}

/* Operators have several names; rows have the first one. */
static const char *first_name(const char *op)
{
	for (size_t k = 0; k < sizeof aliases / sizeof *aliases; k++)
		if (strcmp(aliases[k].name, op) == 0)
			return aliases[k].is;
	return op;
}

/* ---- attributes */

/* Attributes that say where and how a node is trained, not what it computes. */
static bool is_hidden(const char *key)
{
	static const char *const names[] = { "ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage",
		"profiler_scope" };
	size_t n = strlen(key);
	if (n >= 4 && strncmp(key, "__", 2) == 0 && strcmp(key + n - 2, "__") == 0)
		return true;
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		size_t m = strlen(names[k]); /* weight_lr_mult, too: that of an input */
		if (n >= m && strcmp(key + n - m, names[k]) == 0)
			return true;
	}
	return false;
}

static const char *attr_text_of(Arena *a, const Json *v)
{
	switch (v->kind) {
	case JV_TEXT: return v->text;
	case JV_INT: return arena_printf(a, "%lld", (long long)v->i);
	case JV_REAL: return arena_printf(a, "%.17g", v->real);
	case JV_BOOL: return v->truth ? "True" : "False";
	default: return NULL;
	}
}

/* One object of attributes of a node. */
static bool read_attrs(Arena *a, const Json *object, bool variable, MxnetNode *out, Err *err)
{
	if (object->kind != JV_OBJECT)
		return json_fail(object, err, "must be an object");
	for (size_t k = 0; k < object->list.n; k++) {
		const Json *v = object->list.at[k];
		const char *text = attr_text_of(a, v);
		if (text == NULL)
			return json_fail(v, err, "must be a text");
		if (strcmp(v->key, "__shape__") == 0)
			out->shape = text;
		if (strcmp(v->key, "__dtype__") == 0)
			out->dtype = text;
		out->parameter |= strcmp(v->key, "__wd_mult__") == 0;
		if (variable || is_hidden(v->key))
			continue;
		NodeAttr attr = { .name = v->key, .kind = NODE_TEXT, .text = { (const unsigned char *)text, strlen(text) } };
		vec_push(a, &out->attr, attr);
	}
	return true;
}

/* ---- nodes */

/* [node, result] or [node, result, version] */
static bool read_ref(Arena *a, const Json *v, int64_t nodes, MxnetRefs *out, Err *err)
{
	bool fits = v->kind == JV_ARRAY && (v->list.n == 2 || v->list.n == 3);
	for (size_t k = 0; fits && k < v->list.n; k++)
		fits = v->list.at[k]->kind == JV_INT && v->list.at[k]->i >= 0;
	if (!fits)
		return json_fail(v, err, "must be a node's number, a result's number and a version");
	int64_t node = v->list.at[0]->i, result = v->list.at[1]->i;
	if (node >= nodes)
		return json_fail(v, err, "names node %lld, but there are %lld nodes", (long long)node, (long long)nodes);
	if (result > 1000)
		return json_fail(v, err, "names result %lld of a node", (long long)result);
	MxnetRef ref = { (int)node, (int)result };
	vec_push(a, out, ref);
	return true;
}

static bool read_refs(Arena *a, const Json *list, int64_t nodes, MxnetRefs *out, Err *err)
{
	for (size_t k = 0; k < list->list.n; k++)
		if (!read_ref(a, list->list.at[k], nodes, out, err))
			return false;
	return true;
}

static bool read_symbol(Arena *a, const Json *top, int64_t version, int depth, MxnetSymbol *out, Err *err);

static bool read_node(Arena *a, const Json *v, int64_t nodes, int64_t version, int depth, MxnetNode *out, Err *err)
{
	static const char *const places[] = { "param", "attrs", "attr" };
	const Json *in = json_want(v, "inputs", JV_ARRAY, err), *sub = json_find(v, "subgraphs");
	if (in == NULL || !json_str(v, "op", &out->op, err) || !json_str(v, "name", &out->name, err))
		return false;
	bool variable = strcmp(out->op, "null") == 0, old = json_find(v, "param") != NULL;
	out->op = first_name(out->op);
	if (out->name[0] == 0 && variable)
		return json_fail(v, err, "has no name");
	if (out->name[0] == 0)
		out->name = out->op;
	for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
		const Json *object = json_find(v, places[k]);
		if (object != NULL && (k == 0 || !old) && !read_attrs(a, object, variable, out, err))
			return false;
	}
	if (variable && in->list.n > 0)
		return json_fail(in, err, "must be empty: a variable has no inputs");
	for (size_t k = 0; sub != NULL && sub->kind == JV_ARRAY && k < sub->list.n; k++) {
		MxnetSymbol *s = arena_new_of(a, MxnetSymbol);
		if (depth == MOST_NESTED)
			return json_fail(sub, err, "are nested more than %d deep", MOST_NESTED);
		if (!read_symbol(a, sub->list.at[k], version, depth + 1, s, err))
			return false;
		vec_push(a, &out->sub, s);
	}
	return read_refs(a, in, nodes, &out->in, err);
}

static bool read_symbol(Arena *a, const Json *top, int64_t version, int depth, MxnetSymbol *out, Err *err)
{
	const Json *nodes = json_want(top, "nodes", JV_ARRAY, err), *heads = json_want(top, "heads", JV_ARRAY, err);
	const Json *args = json_find(top, "arg_nodes");
	if (nodes == NULL || heads == NULL)
		return false;
	int64_t n = (int64_t)nodes->list.n;
	if (n > MOST_NODES)
		return json_fail(nodes, err, "are more than %d", MOST_NODES);
	out->version = version;
	for (int64_t k = 0; k < n; k++) {
		MxnetNode node = { 0 };
		if (!read_node(a, nodes->list.at[k], n, version, depth, &node, err))
			return false;
		vec_push(a, &out->node, node);
	}
	for (size_t k = 0; args != NULL && args->kind == JV_ARRAY && k < args->list.n; k++) {
		const Json *v = args->list.at[k];
		if (v->kind != JV_INT || v->i < 0 || v->i >= n)
			return json_fail(v, err, "must be the number of one of %lld nodes", (long long)n);
		vec_push(a, &out->arg, (int)v->i);
	}
	return read_refs(a, heads, n, &out->head, err);
}

/* ---- upgrades */

/* ["int", 10200] of an object `attrs` at the top; 0.8 for files without one, as MXNet counts. */
static int64_t read_version(const Json *top)
{
	const Json *attrs = json_find(top, "attrs"), *v = attrs != NULL ? json_find(attrs, "mxnet_version") : NULL;
	if (v == NULL || v->kind != JV_ARRAY || v->list.n != 2 || v->list.at[1]->kind != JV_INT)
		return OLDEST;
	return v->list.at[1]->i;
}

static NodeAttr *find_attr(MxnetNode *n, const char *name)
{
	for (size_t k = 0; k < n->attr.n; k++)
		if (strcmp(n->attr.at[k].name, name) == 0)
			return &n->attr.at[k];
	return NULL;
}

/* Moving statistics, which were not among the inputs of 0.8. */
static void add_statistics(Arena *a, MxnetSymbol *s)
{
	size_t n = s->node.n;
	for (size_t k = 0; k < n; k++) {
		if (strcmp(s->node.at[k].op, "BatchNorm") != 0)
			continue;
		for (size_t i = s->node.at[k].in.n; i >= 3 && i < 5; i++) {
			MxnetNode variable = { .op = "null",
				.name = arena_printf(a, "%s_%s", s->node.at[k].name, mxnet_slot("BatchNorm", i, a)) };
			MxnetRef ref = { (int)s->node.n, 0 };
			vec_push(a, &s->node, variable);
			vec_push(a, &s->node.at[k].in, ref);
		}
	}
}

/* Before 0.9.5 an axis of -1 meant all. */
static void upgrade_places(MxnetSymbol *s)
{
	for (size_t k = 0; k < s->node.n; k++) {
		MxnetNode *n = &s->node.at[k];
		NodeAttr *axis = find_attr(n, "axis");
		bool place = strcmp(n->op, "argmax") == 0 || strcmp(n->op, "argmin") == 0;
		if (place && axis != NULL && axis->text.n == 2 && memcmp(axis->text.at, "-1", 2) == 0)
			axis->text = (Bytes){ (const unsigned char *)"None", 4 };
	}
}

bool mxnet_symbol_read(Arena *a, const char *path, Bytes file, MxnetSymbol *out, Err *err)
{
	const Json *top = json_parse(a, path, (const char *)file.at, file.n, err);
	if (top == NULL || !read_symbol(a, top, read_version(top), 0, out, err))
		return false;
	if (out->version < 900)
		add_statistics(a, out);
	if (out->version < 905)
		upgrade_places(out);
	if (out->head.n == 0)
		return fail(err, ERR_INPUT, path, "has no heads, so the network has no results");
	return true;
}
