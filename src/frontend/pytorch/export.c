/*
 * Archives of torch.export: a list of nodes in JSON, whose targets are operators with their forms, and weights beside
 * it: raw files with a description (the layout from 2.8 on) or a pickle in an archive of its own (before).
 */
#include "frontend/pytorch/pickle.h"
#include "frontend/pytorch/pytorch.h"
#include "frontend/pytorch/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEWEST_SCHEMA = 8, /* as PyTorch 2.15 writes it */
	MOST_DEPTH = 64    /* of graphs in graphs */
};

typedef struct Export {
	const Json *graph, *signature, *ranges;
	const Json *config[2]; /* weights and constants by their names; NULL: `saved` has them */
	const char *folder[2];
	TorchList saved;   /* pairs of name and tensor */
	Map storage;       /* of torch_saved */
	const char *where; /* of JSON, in messages */
	TorchList values;  /* of names of the graph; `names` has their places */
	Names *names;
} Export;

/* ---- weights */

static bool sizes_from(const Json *list, int *rank, int64_t *out)
{
	if (list == NULL || list->kind != JV_ARRAY || list->list.n > DAG_MAX_RANK)
		return false;
	*rank = (int)list->list.n;
	for (int k = 0; k < *rank; k++)
		if (!schema_size(list->list.at[k], &out[k]))
			return false;
	return true;
}

/* A tensor that the description of the new layout names. */
static TorchTensor *described(Program *p, Export *e, const Json *entry, const char *folder, Err *err)
{
	const Json *meta = schema_find(entry, "tensor_meta"), *type = schema_find(meta, "dtype"),
			   *offset = schema_find(meta, "storage_offset");
	const Json *pickled = schema_find(entry, "use_pickle");
	const char *path = schema_text(entry, "path_name");
	TorchSaved *s = arena_new_of(p->arena, TorchSaved);
	*s = (TorchSaved){ .archive = p->archive };
	int n = 0;
	if (pickled != NULL && pickled->kind == JV_BOOL && pickled->truth) {
		fail(err, ERR_UNSUPPORTED, NULL, "its weight '%.100s' is a pickle, which dlc does not read here", entry->key);
		return NULL;
	}
	if (path == NULL || type == NULL || type->kind != JV_INT || !schema_type(type->i, &s->type) ||
		!sizes_from(schema_find(meta, "sizes"), &s->shape.rank, s->shape.dim) ||
		!sizes_from(schema_find(meta, "strides"), &n, s->stride) || n != s->shape.rank ||
		(offset != NULL && !schema_size(offset, &s->offset))) {
		fail(err, ERR_INPUT, NULL, "its weight '%.100s' has no proper description", entry->key);
		return NULL;
	}
	s->entry = arena_printf(p->arena, "%s%s%.300s", p->root, folder, path);
	return torch_saved(p->arena, &e->storage, s);
}

static TorchTensor *weight(Program *p, Export *e, const char *name, Err *err)
{
	for (int k = 0; k < 2; k++) {
		const Json *entry = e->config[k] != NULL ? schema_find(e->config[k], name) : NULL;
		if (entry != NULL)
			return described(p, e, entry, e->folder[k], err);
	}
	TorchValue *x = torch_find(&e->saved, name);
	if (x != NULL && x->kind == TORCH_TENSOR)
		return x->tensor;
	fail(err, ERR_INPUT, NULL, "its weight '%.100s' is in none of its files", name);
	return NULL;
}

/* ---- values of the graph */

static void bind(Program *p, Export *e, const char *name, TorchValue x)
{
	torch_push(p->arena, &e->values, x);
	names_bind(e->names, name, (int)e->values.n - 1);
}

static bool lookup(const Export *e, Visit *v, const char *name, TorchValue *out)
{
	int k = name != NULL ? names_find(e->names, name) : -1;
	if (k < 0) {
		import_refuse(v->im, ERR_INPUT, "the program reads '%.60s', which no node computes", name != NULL ? name : "");
		return false;
	}
	*out = e->values.at[k];
	return true;
}

static bool number_from(const Json *j, TorchValue *out)
{
	if (j->kind == JV_TEXT) { /* Infinity, -Infinity and NaN are texts */
		*out = torch_float(strtod(j->text, NULL));
		return true;
	}
	*out = j->kind == JV_INT ? torch_int(j->i) : j->kind == JV_BOOL ? torch_bool(j->truth) : torch_float(j->real);
	return j->kind == JV_INT || j->kind == JV_REAL || j->kind == JV_BOOL;
}

static bool argument(Program *p, const Export *e, Visit *v, const Json *arg, TorchValue *out);

/* A list whose elements are arguments in short: {"name": "x"}, {"as_name": "s0"}, {"as_int": 3}, 3. */
static bool list_from(Program *p, const Export *e, Visit *v, const Json *j, TorchValue *out)
{
	*out = torch_list(p->arena, TORCH_LIST);
	for (size_t k = 0; j->kind == JV_ARRAY && k < j->list.n; k++) {
		const Json *x = j->list.at[k];
		TorchValue y = torch_none();
		const char *name = schema_text(x, "name") != NULL ? schema_text(x, "name") : schema_text(x, "as_name");
		bool ok = name != NULL           ? lookup(e, v, name, &y)
		          : x->kind == JV_OBJECT ? argument(p, e, v, x, &y)
		          : x->kind == JV_TEXT   ? (y = torch_text(x->text), true)
		                                 : number_from(x, &y);
		if (!ok)
			return node_ok(v) ? import_refuse(v->im, ERR_INPUT, "an argument of the program is no value") : false;
		torch_push(p->arena, out->list, y);
	}
	return true;
}

/* An argument: {"as_tensor": {"name": "x"}}, {"as_ints": [1, 1]}. */
static bool argument(Program *p, const Export *e, Visit *v, const Json *arg, TorchValue *out)
{
	const Json *x = schema_variant(arg);
	const char *kind = x != NULL ? x->key : "as_none";
	*out = torch_none();
	if (arg->kind != JV_OBJECT || arg->list.n == 0)
		return false;
	if (strcmp(kind, "as_none") == 0)
		return true;
	if (strcmp(kind, "as_tensor") == 0)
		return lookup(e, v, schema_text(x, "name"), out);
	if (strcmp(kind, "as_device") == 0) {
		*out = (TorchValue){ .kind = TORCH_DEVICE, .text = "cpu" };
		return true;
	}
	if (strcmp(kind, "as_scalar_type") == 0) {
		DType t;
		bool known = x->kind == JV_INT && schema_type(x->i, &t);
		*out = torch_int(known ? torch_type_code(t) : -1);
		return true;
	}
	if (strcmp(kind, "as_string") == 0 && x->kind == JV_TEXT) {
		*out = torch_text(x->text);
		return true;
	}
	if (strncmp(kind, "as_sym", 6) == 0 && x->kind == JV_OBJECT) { /* {"as_name": "s0"} or {"as_int": 3} */
		const char *name = schema_text(x, "as_name");
		const Json *y = schema_variant(x);
		return name != NULL ? lookup(e, v, name, out) : y != NULL && number_from(y, out);
	}
	if (strcmp(kind, "as_optional_tensor") == 0)
		return argument(p, e, v, x, out);
	if (x->kind == JV_ARRAY)
		return list_from(p, e, v, x, out);
	if (strcmp(kind, "as_int") == 0 || strcmp(kind, "as_float") == 0 || strcmp(kind, "as_bool") == 0)
		return number_from(x, out);
	if (strcmp(kind, "as_memory_format") == 0) { /* a script's numbers, where the file counts: 1, channels last 2, 3 */
		*out = torch_int(x->kind == JV_INT && (x->i == 2 || x->i == 3) ? x->i : 0);
		return true;
	}
	if (strcmp(kind, "as_graph") == 0) {
		*out = (TorchValue){ .kind = TORCH_GRAPH, .graph = schema_find(x, "graph") };
		return out->graph != NULL;
	}
	if (strcmp(kind, "as_layout") == 0 || strcmp(kind, "as_expr") == 0)
		return true;
	return import_refuse(
		v->im, ERR_UNSUPPORTED, "an argument of the program is of the kind %.40s, which dlc does not have", kind);
}

/* ---- nodes */

/* The names of a node's results, in lists as they come. */
static void bind_outputs(Program *p, Export *e, const Json *outputs, TorchValue y)
{
	size_t n = outputs != NULL && outputs->kind == JV_ARRAY ? outputs->list.n : 0;
	bool list = y.kind == TORCH_TUPLE || y.kind == TORCH_LIST;
	for (size_t k = 0; k < n; k++) {
		const Json *x = schema_variant(outputs->list.at[k]);
		if (x == NULL)
			continue;
		if (x->kind == JV_ARRAY) { /* as_tensors: the one result is a list */
			for (size_t i = 0; i < x->list.n; i++)
				if (schema_text(x->list.at[i], "name") != NULL)
					bind(
						p, e, schema_text(x->list.at[i], "name"), list && i < y.list->n ? y.list->at[i] : torch_none());
			continue;
		}
		const char *name = schema_text(x, "name") != NULL ? schema_text(x, "name") : schema_text(x, "as_name");
		if (name == NULL)
			name = schema_text(schema_variant(x), "name");
		if (name != NULL)
			bind(p, e, name, !list || n == 0 ? y : k < y.list->n ? y.list->at[k] : torch_none());
	}
}

static const char *first_output(const Json *outputs)
{
	const Json *x = outputs != NULL && outputs->kind == JV_ARRAY && outputs->list.n > 0
	                    ? schema_variant(outputs->list.at[0])
	                    : NULL;
	if (x != NULL && x->kind == JV_ARRAY)
		x = x->list.n > 0 ? x->list.at[0] : NULL;
	const char *name = schema_text(x, "name");
	name = name != NULL ? name : schema_text(x, "as_name");
	return name != NULL ? name : "value";
}

/* What follows the graphs of an operator, or the lists behind them, becomes one list. Returns the new number. */
static size_t gather_operands(Program *p, TorchValue *at, const char **name, size_t n)
{
	size_t from = 0;
	for (size_t k = 0; k < n; k++) {
		name[k] = NULL;
		from = at[k].kind == TORCH_GRAPH ? k + 1 : from;
	}
	if (from == n || at[from].kind == TORCH_LIST)
		return n;
	TorchValue all = torch_list(p->arena, TORCH_LIST);
	for (size_t k = from; k < n; k++)
		torch_push(p->arena, all.list, at[k]);
	at[from] = all;
	return from + 1;
}

static bool run_node(Program *p, Export *e, Visit *v, const Json *node)
{
	const char *target = schema_text(node, "target");
	const Json *inputs = schema_find(node, "inputs"), *outputs = schema_find(node, "outputs");
	if (target == NULL || inputs == NULL || inputs->kind != JV_ARRAY || inputs->list.n > ATEN_ARGS)
		return import_refuse(v->im, ERR_INPUT, "a node of the program has no target or no inputs");
	size_t n = inputs->list.n;
	TorchValue at[ATEN_ARGS], y;
	const char *name[ATEN_ARGS];
	for (size_t k = 0; k < n; k++) {
		const Json *in = inputs->list.at[k];
		name[k] = schema_text(in, "name");
		if (schema_find(in, "arg") == NULL || !argument(p, e, v, schema_find(in, "arg"), &at[k]))
			return node_ok(v) ? import_refuse(v->im, ERR_INPUT, "an argument of '%.60s' is no value", target) : false;
		if (name[k] != NULL && name[k][0] == 0)
			name[k] = NULL;
		if (strncmp(target, "torch.ops.", 10) != 0) /* Python's own functions have no names for theirs */
			name[k] = NULL;
	}
	const char *out = first_output(outputs), *op = schema_operator(p->arena, target);
	if (strncmp(op, "higher_order::", 14) == 0)
		n = gather_operands(p, at, name, n);
	if (!program_call(p, v, arena_printf(p->arena, "node '%.100s'", out), out, op, &(AtenIn){ at, name, n }, &y))
		return false;
	bind_outputs(p, e, outputs, y);
	return true;
}

/* A graph that an operator runs: it has names of its own. */
static bool run_graph(Program *p, Visit *v, const void *graph, const TorchList *in, TorchList *out)
{
	Export *e = (Export *)(uintptr_t)p->source;
	const Json *g = graph, *inputs = schema_find(g, "inputs"), *outputs = schema_find(g, "outputs"),
			   *nodes = schema_find(g, "nodes");
	Names *outside = e->names;
	if (inputs == NULL || inputs->kind != JV_ARRAY || outputs == NULL || outputs->kind != JV_ARRAY || nodes == NULL ||
		nodes->kind != JV_ARRAY)
		return import_refuse(v->im, ERR_INPUT, "a graph of the program has no inputs, outputs or nodes");
	if (inputs->list.n != in->n)
		return import_refuse(
			v->im, ERR_INPUT, "a graph of the program has %zu inputs, but is given %zu", inputs->list.n, in->n);
	e->names = names_new(p->arena);
	for (size_t k = 0; k < in->n; k++) {
		const Json *x = schema_variant(inputs->list.at[k]);
		const char *name = schema_text(x, "name") != NULL ? schema_text(x, "name") : schema_text(x, "as_name");
		if (name != NULL)
			bind(p, e, name, in->at[k]);
	}
	bool ok = true;
	for (size_t k = 0; k < nodes->list.n && ok; k++)
		ok = run_node(p, e, v, nodes->list.at[k]);
	for (size_t k = 0; k < outputs->list.n && ok; k++) {
		TorchValue y;
		ok = argument(p, e, v, outputs->list.at[k], &y);
		torch_push(p->arena, out, ok ? y : torch_none());
	}
	e->names = outside;
	return ok && node_ok(v);
}

/* Inputs of the graph are weights or the user's, as the signature says. */
static bool bind_inputs(Program *p, Export *e, Visit *v)
{
	static const struct {
		const char *kind, *name;
	} kinds[] = { { "parameter", "parameter_name" }, { "buffer", "buffer_name" },
		{ "tensor_constant", "tensor_constant_name" }, { "constant_tensor", "tensor_constant_name" } };
	const Json *specs = schema_find(e->signature, "input_specs");
	for (size_t k = 0; k < p->input.n; k++)
		bind(p, e, p->input.at[k].name, (TorchValue){ .kind = TORCH_TENSOR, .tensor = p->input.at[k].tensor });
	for (size_t k = 0; k < specs->list.n; k++) {
		const Json *spec = schema_variant(specs->list.at[k]);
		if (spec != NULL && strcmp(spec->key, "constant_input") == 0 && schema_text(spec, "name") != NULL) {
			TorchValue x;
			if (schema_find(spec, "value") == NULL || !argument(p, e, v, schema_find(spec, "value"), &x))
				return import_refuse(v->im, ERR_INPUT, "a constant input of the program is no value");
			bind(p, e, schema_text(spec, "name"), x);
		}
		for (size_t i = 0; spec != NULL && i < sizeof kinds / sizeof *kinds; i++) {
			const char *arg = schema_text(schema_find(spec, "arg"), "name"), *name = schema_text(spec, kinds[i].name);
			if (strcmp(spec->key, kinds[i].kind) != 0)
				continue;
			if (arg == NULL || name == NULL)
				return import_refuse(v->im, ERR_INPUT, "its signature has a %s without a name", kinds[i].kind);
			TorchTensor *t = weight(p, e, name, &v->im->err);
			if (t == NULL)
				return false;
			t->name = t->name != NULL ? t->name : arena_printf(p->arena, "%s", name);
			bind(p, e, arg, (TorchValue){ .kind = TORCH_TENSOR, .tensor = t });
		}
	}
	return true;
}

typedef VEC(NodeDef) NodeList;

/* All nodes, those of graphs in their arguments included. */
static void list_nodes(Program *p, NodeList *list, const Json *nodes, int depth)
{
	for (size_t k = 0; nodes != NULL && nodes->kind == JV_ARRAY && k < nodes->list.n; k++) {
		const Json *node = nodes->list.at[k], *inputs = schema_find(node, "inputs");
		const char *target = schema_text(node, "target");
		if (target != NULL)
			vec_push(p->arena, list,
				((NodeDef){ .name = first_output(schema_find(node, "outputs")),
					.op = schema_operator(p->arena, target),
					.domain = "" }));
		for (size_t i = 0; inputs != NULL && inputs->kind == JV_ARRAY && i < inputs->list.n && depth < MOST_DEPTH; i++)
			list_nodes(p, list,
				schema_find(
					schema_find(schema_find(schema_find(inputs->list.at[i], "arg"), "as_graph"), "graph"), "nodes"),
				depth + 1);
	}
}

static bool check_nodes(Program *p, Visit *v, const Json *nodes)
{
	NodeList list = { 0 };
	list_nodes(p, &list, nodes, 0);
	return program_check(v, list.at, list.n);
}

static void run_export(Program *p, Visit *v)
{
	Export *e = (Export *)(uintptr_t)p->source;
	const Json *nodes = schema_find(e->graph, "nodes"), *specs = schema_find(e->signature, "output_specs");
	e->values.n = 0;
	e->names = names_new(p->arena);
	if (!check_nodes(p, v, nodes) || !bind_inputs(p, e, v))
		return;
	for (size_t k = 0; k < nodes->list.n; k++)
		if (!run_node(p, e, v, nodes->list.at[k]))
			return;
	for (size_t k = 0; specs != NULL && specs->kind == JV_ARRAY && k < specs->list.n; k++) {
		const Json *spec = schema_variant(specs->list.at[k]), *arg = schema_find(spec, "arg");
		const char *name = schema_text(schema_variant(arg), "name");
		TorchValue x;
		if (spec == NULL || (strcmp(spec->key, "user_output") != 0 && strcmp(spec->key, "loss_output") != 0))
			continue; /* changed buffers are no results */
		if (arg == NULL || !argument(p, e, v, arg, &x)) {
			if (node_ok(v))
				import_refuse(v->im, ERR_INPUT, "a result of the program is no value");
			return;
		}
		program_result(p, v, name != NULL ? name : arena_printf(p->arena, "output%zu", k), x);
	}
}

/* ---- opening */

/*
 * The limits of a symbol by "range_constraints"; those of expressions follow. A program takes 0 and 1 wherever no limit
 * above 2 is given, as in PyTorch.
 */
static void limit(const Json *ranges, NodeDim *d)
{
	for (size_t k = 0; ranges != NULL && ranges->kind == JV_OBJECT && k < ranges->list.n; k++) {
		const Json *range = ranges->list.at[k], *least = schema_find(range, "min_val"),
				   *most = schema_find(range, "max_val");
		if (strcmp(range->key, d->symbol) != 0 || d->times != 1 || d->plus != 0)
			continue;
		d->least = least != NULL && least->kind == JV_INT && least->i > 2 ? least->i : 0;
		d->most = most != NULL && most->kind == JV_INT ? most->i : INT64_MAX;
	}
}

/* The dimensions of an input; those that the program leaves open have its symbols' names. */
static bool declare(Program *p, const Json *graph, const Json *ranges, const char *name, Err *err)
{
	const Json *meta = schema_find(schema_find(graph, "tensor_values"), name), *type, *sizes;
	meta = schema_find(meta, "meta") != NULL ? schema_find(meta, "meta") : meta; /* of PyTorch 2.1 */
	type = schema_find(meta, "dtype");
	sizes = schema_find(meta, "sizes");
	ProgramInput in = { .name = name };
	if (meta == NULL || type == NULL || type->kind != JV_INT || sizes == NULL || sizes->kind != JV_ARRAY)
		return fail(err, ERR_INPUT, NULL, "its input '%.60s' has no shape", name);
	if (!schema_type(type->i, &in.value.type))
		return fail(err, ERR_UNSUPPORTED, NULL, "its input '%.60s' is of a type that dlc does not have", name);
	NodeDim *dim = arena_array(p->arena, NodeDim, sizes->list.n + 1);
	for (size_t k = 0; k < sizes->list.n; k++) {
		const char *symbol = schema_text(schema_find(sizes->list.at[k], "as_expr"), "expr_str");
		if (symbol == NULL)
			symbol = schema_text(schema_find(sizes->list.at[k], "as_expr"), "expr");
		dim[k] = symbol != NULL ? export_dim(p->arena, symbol) : (NodeDim){ .symbol = "" };
		if (symbol != NULL)
			limit(ranges, &dim[k]);
		else if (!schema_size(sizes->list.at[k], &dim[k].size))
			return fail(err, ERR_INPUT, NULL, "its input '%.60s' has no shape", name);
	}
	in.value.shaped = true;
	in.value.dim = dim;
	in.value.ndim = sizes->list.n;
	vec_push(p->arena, &p->input, in);
	return true;
}

static bool list_inputs(Program *p, const Export *e, Err *err)
{
	const Json *specs = schema_find(e->signature, "input_specs");
	for (size_t k = 0; k < specs->list.n; k++) {
		const Json *spec = schema_variant(specs->list.at[k]), *arg = schema_variant(schema_find(spec, "arg"));
		if (spec == NULL || strcmp(spec->key, "user_input") != 0)
			continue;
		if (arg == NULL || strcmp(arg->key, "as_tensor") != 0 || schema_text(arg, "name") == NULL) {
			if (arg != NULL && strncmp(arg->key, "as_sym", 6) != 0)
				continue; /* None, a number: the program does not read it */
			return fail(err, ERR_UNSUPPORTED, NULL, "its input %zu is no tensor; dlc takes tensors only", k);
		}
		for (size_t i = 0; i < p->input.n; i++)
			if (strcmp(p->input.at[i].name, schema_text(arg, "name")) == 0)
				return fail(err, ERR_INPUT, NULL, "two of its inputs have the name '%.60s'", p->input.at[i].name);
		if (!declare(p, e->graph, e->ranges, schema_text(arg, "name"), err))
			return false;
	}
	return true;
}

/* The pickles of the older layout: an archive inside of the archive. */
static bool open_saved(Program *p, Export *e, const char *entry, Err *err)
{
	Bytes file, pickle;
	TorchValue x;
	if (program_entry(p, entry) == NULL)
		return true;
	if (!program_read(p, entry, &file, err))
		return false;
	if (file.n == 0)
		return true;
	Archive *z = archive_open(p->arena, entry, file, err);
	if (z == NULL)
		return false;
	for (size_t k = 0; k < archive_count(z); k++) {
		const char *name = archive_name(z, k), *slash = strrchr(name, '/');
		if (strcmp(slash != NULL ? slash + 1 : name, "data.pkl") != 0)
			continue;
		const char *folder = arena_printf(p->arena, "%.*sdata/", slash != NULL ? (int)(slash + 1 - name) : 0, name);
		if (!archive_read(z, k, &pickle, err) || !torch_unpickle(p->arena, entry, pickle, z, folder, &x, err))
			return false;
		for (size_t i = 0; x.kind == TORCH_DICT && i < x.list->n; i++)
			torch_push(p->arena, &e->saved, x.list->at[i]);
		return true;
	}
	return fail(err, ERR_INPUT, NULL, "its %s has no data.pkl", entry);
}

/* The first entry "FOLDER x ENDING". */
static const char *entry_of(Program *p, const char *folder, const char *ending)
{
	const char *begin = arena_printf(p->arena, "%s%s", p->root, folder);
	for (size_t k = 0; k < archive_count(p->archive); k++) {
		const char *name = archive_name(p->archive, k);
		size_t n = strlen(name), m = strlen(ending);
		if (strncmp(name, begin, strlen(begin)) == 0 && n > m && strcmp(name + n - m, ending) == 0)
			return name + strlen(p->root);
	}
	return NULL;
}

static const Json *read_json(Program *p, const char *entry, Err *err)
{
	Bytes text;
	if (entry == NULL)
		return NULL;
	if (!program_read(p, entry, &text, err))
		return NULL;
	return json_parse(p->arena, arena_printf(p->arena, "%s: %s", p->path, entry), (const char *)text.at, text.n, err);
}

/* The file of the program `name`, or of the only one. */
static bool open_config(
	Program *p, Export *e, int k, const char *folder, const char *name, const char *const *endings, Err *err)
{
	const Json *j = NULL;
	for (int i = 0; i < 2 && j == NULL; i++) {
		const char *entry = entry_of(p, arena_printf(p->arena, "%s%s_", folder, name), endings[i]);
		entry = entry != NULL ? entry : entry_of(p, folder, endings[i]);
		j = read_json(p, entry, err);
		if (entry != NULL && j == NULL)
			return false;
	}
	e->config[k] = schema_find(j, "config");
	e->folder[k] = folder;
	return true;
}

/* The schema's version is {"major": 8, "minor": 2}, or 1 of PyTorch 2.1; PyTorch refuses another major one. */
static bool known_schema(const Json *program, Err *err)
{
	const Json *x = schema_find(program, "schema_version"),
			   *major = schema_find(x, "major") != NULL ? schema_find(x, "major") : x;
	if (major == NULL || major->kind != JV_INT || (major->i >= 1 && major->i <= NEWEST_SCHEMA))
		return true;
	return fail(err, ERR_UNSUPPORTED, NULL,
		"its program is of version %lld of torch.export's schema; dlc knows 1 to %d: export it with a PyTorch that "
		"writes one of these",
		(long long)major->i, NEWEST_SCHEMA);
}

/* The program that is wanted; without one `model`, PyTorch's own name, or the only one: its entry, and its name. */
static const char *find_program(Program *p, const char **name, Err *err)
{
	const char *wanted = p->args->signature != NULL ? p->args->signature : "model", *only = NULL, *given;
	const char *begin = arena_printf(p->arena, "%smodels/", p->root);
	Text names = { .arena = p->arena };
	int n = 0;
	for (size_t k = 0; k < archive_count(p->archive); k++) {
		const char *entry = archive_name(p->archive, k);
		size_t from = strlen(begin), end = strlen(entry);
		if (strncmp(entry, begin, from) != 0 || end <= from + 5 || strcmp(entry + end - 5, ".json") != 0)
			continue;
		given = arena_printf(p->arena, "%.*s", (int)(end - 5 - from), entry + from);
		text_add(&names, "%s%.60s", n++ > 0 ? ", " : "", given);
		if (n == 1 || strcmp(given, wanted) == 0) {
			only = entry + strlen(p->root);
			*name = given;
		}
	}
	if (n == 0)
		fail(err, ERR_INPUT, NULL, "has no program (models/*.json)");
	else if (strcmp(*name, wanted) != 0 && (n > 1 || p->args->signature != NULL))
		fail(err, ERR_USAGE, "signature", "the model has no program '%.100s'; name one of: %s", wanted,
			text_str(&names));
	return err->code == ERR_NONE ? only : NULL;
}

bool export_open(Program *p, Err *err)
{
	static const char *const weights[] = { "weights_config.json", "model_param_config.json" };
	static const char *const constants[] = { "constants_config.json", "constants_config.json" };
	Export *e = arena_new_of(p->arena, Export);
	e->storage = MAP_OF(p->arena);
	bool old = program_entry(p, "serialized_exported_program.json") != NULL;
	const char *name = "", *entry = old ? "serialized_exported_program.json" : find_program(p, &name, err);
	if (old && p->args->signature != NULL)
		fail(err, ERR_USAGE, "signature", "the model is one program, so there is none to choose");
	if (err->code != ERR_NONE)
		return false;
	const Json *j = read_json(p, entry, err), *module = schema_find(j, "graph_module");
	if (j == NULL || !known_schema(j, err))
		return false;
	e->ranges = schema_find(schema_find(j, "range_constraints") != NULL ? j : module, "range_constraints");
	e->graph = schema_find(module, "graph");
	e->signature = export_upgrade(p->arena, schema_find(module, "signature"));
	const Json *nodes = schema_find(e->graph, "nodes"), *specs = schema_find(e->signature, "input_specs");
	if (nodes == NULL || nodes->kind != JV_ARRAY || specs == NULL || specs->kind != JV_ARRAY)
		return fail(err, ERR_INPUT, NULL, "%s has no graph of nodes or no signature", entry);
	bool ok = old ? open_saved(p, e, "serialized_state_dict.pt", err) &&
	                    open_saved(p, e, "serialized_state_dict.json", err) &&
	                    open_saved(p, e, "serialized_constants.pt", err) &&
	                    open_saved(p, e, "serialized_constants.json", err)
	              : open_config(p, e, 0, "data/weights/", name, weights, err) &&
	                    open_config(p, e, 1, "data/constants/", name, constants, err);
	p->source = e;
	p->run = run_export;
	p->run_graph = run_graph;
	return ok && list_inputs(p, e, err);
}
