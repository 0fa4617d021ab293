/*
 * Turns a GraphDef, and the functions of its library, into the nodes of frontend/node. What no result needs is left
 * out: savers, training, assertions. Names of results become "node" and "node:2", also in functions, which write
 * "node:values:0". Types that follow from the inputs are dropped.
 */
#include "frontend/tensorflow/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names are made for all results up to the last one that is read; a graph counts where a node holds it. */
enum { MOST_DEPTH = 32, MOST_RESULTS = 1 << 20, MOST_NODES = 1 << 20 };

bool tf_bad(TfOps *o, ErrCode code, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail(o->err, code, NULL, "%s%s", text, o->where);
}

bool op_is(const TfOp *op, const char *kind)
{
	return strcmp(op->kind, kind) == 0;
}

/* ---- results by name: operators whose results have several names */

static const struct {
	const char *op, *results;
} several[] = {
	{ "FusedBatchNorm", "y batch_mean batch_variance reserve_space_1 reserve_space_2" },
	{ "FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2" },
	{ "FusedBatchNormV3", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3" },
	{ "TopK", "values indices" },
	{ "TopKV2", "values indices" },
	{ "Switch", "output_false output_true" },
	{ "Merge", "output value_index" },
	{ "Unique", "y idx" },
	{ "UniqueV2", "y idx" },
	{ "UniqueWithCounts", "y idx count" },
	{ "UniqueWithCountsV2", "y idx count" },
	{ "ListDiff", "out idx" },
	{ "MaxPoolWithArgmax", "output argmax" },
	{ "NonMaxSuppressionV4", "selected_indices valid_outputs" },
	{ "NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs" },
	{ "CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections" },
	{ "LSTMBlockCell", "i cs f o ci co h" },
	{ "BlockLSTM", "i cs f o ci co h" },
	{ "BlockLSTMV2", "i cs f o ci co h" },
	{ "GRUBlockCell", "r u c h" },
	{ "TensorArrayV3", "handle flow" },
	{ "TensorArrayConcatV3", "value lengths" },
	{ "TensorListPopBack", "output_handle tensor" },
	{ "TensorListConcat", "tensor lengths" },
	{ "TensorListConcatV2", "tensor lengths" },
	{ "SoftmaxCrossEntropyWithLogits", "loss backprop" },
	{ "SparseSoftmaxCrossEntropyWithLogits", "loss backprop" },
	{ "SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map" },
	{ "SparseReshape", "output_indices output_shape" },
	{ "CTCGreedyDecoder", "decoded_indices decoded_values decoded_shape log_probability" },
	{ "BroadcastGradientArgs", "r0 r1" },
	{ "LogMatrixDeterminant", "sign log_abs_determinant" },
};

const char *tf_result_names(const char *op)
{
	for (size_t k = 0; k < sizeof several / sizeof *several; k++)
		if (strcmp(several[k].op, op) == 0)
			return several[k].results;
	return NULL;
}

/* The place of a word in words that blanks part; -1: it is none of them. */
static int word_place(const char *words, const char *word, size_t n)
{
	for (int k = 0; words != NULL && *words != 0; k++) {
		size_t len = strcspn(words, " ");
		if (len == n && memcmp(words, word, n) == 0)
			return k;
		words += len + (words[len] == ' ');
	}
	return -1;
}

static const TfFunction *function_named(const TfGraphs *all, const char *name)
{
	int k = names_find(all->functions, name);
	return k < 0 ? NULL : all->body[k].from;
}

/* The first result of that name: operators list results one after the other. */
static int first_result(const TfOps *o, const TfOp *op, const char *name, size_t n)
{
	const TfFunction *f = function_named(o->all, op->kind);
	if (f == NULL || f->signature == NULL) {
		int k = word_place(tf_result_names(op->kind), name, n);
		return k < 0 ? 0 : k;
	}
	for (size_t k = 0; k < f->signature->output_arg.n; k++) {
		const char *s = tf_text(f->signature->output_arg.at[k].name);
		if (strlen(s) == n && memcmp(s, name, n) == 0)
			return (int)k;
	}
	return 0;
}

/* "node", "node:2" or, in a function, "node:values:0" as the Op and its result. */
bool tf_find_ref(TfOps *o, const char *text, const char *reader, TfRef *out)
{
	const char *colon = strchr(text, ':');
	size_t n = colon == NULL ? strlen(text) : (size_t)(colon - text);
	const char *name = arena_printf(o->all->arena, "%.*s", (int)n, text);
	*out = (TfRef){ names_find(o->names, name), 0 };
	if (out->op < 0)
		return tf_bad(o, ERR_INPUT, "node '%.100s' reads '%.100s', which is not there", reader, text);
	TfOp *op = &o->op.at[out->op];
	int64_t at = 0;
	if (colon != NULL) {
		const char *second = strchr(colon + 1, ':'), *number = second != NULL ? second + 1 : colon + 1;
		if (second != NULL)
			out->out = first_result(o, op, colon + 1, (size_t)(second - colon - 1));
		if (!text_to_int(number, 0, TF_MOST_OUTPUTS, &at))
			return tf_bad(o, ERR_INPUT, "node '%.100s' reads '%.100s', whose end is no number", reader, text);
	}
	out->out += (int)at;
	if (op->nout > out->out)
		return true;
	o->all->results += out->out + 1 - op->nout;
	op->nout = out->out + 1;
	return o->all->results <= MOST_RESULTS || tf_bad(o, ERR_INPUT, "its nodes have too many results");
}

/* ---- Ops from nodes */

static bool add_op(TfOps *o, const TfNode *from, const char *name, const char *kind)
{
	if (name[0] == 0 || kind[0] == 0)
		return tf_bad(o, ERR_INPUT, "a node has no name or no operator");
	if (names_find(o->names, name) >= 0)
		return tf_bad(o, ERR_INPUT, "two nodes have the name '%.100s'", name);
	names_bind(o->names, name, (int)o->op.n);
	TfOp op = { .from = from, .name = name, .kind = kind, .nout = 1 };
	vec_push(o->all->arena, &o->op, op);
	return true;
}

/* A node that an Op waits for. A variable that is read behind a write would have the old value here. */
static void add_before(TfOps *o, TfOp *op, const char *before)
{
	int k = names_find(o->names, before + 1);
	if (k < 0)
		return;
	vec_push(o->all->arena, &op->after, ((TfRef){ k, 0 }));
	if (op_is(op, "ReadVariableOp") && strncmp(o->op.at[k].kind, "Assign", 6) == 0)
		op->refused = "reads a variable behind a node that writes it";
}

bool tf_add_nodes(TfOps *o, const TfNode *node, size_t n)
{
	size_t first = o->op.n;
	for (size_t k = 0; k < n; k++)
		if (!add_op(o, &node[k], tf_text(node[k].name), tf_text(node[k].op)))
			return false;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < node[k].input.n; i++) {
			const char *text = node[k].input.at[i];
			TfRef r;
			if (text[0] == '^') {
				add_before(o, &o->op.at[first + k], text);
				continue;
			}
			if (!tf_find_ref(o, text, tf_text(node[k].name), &r))
				return false;
			vec_push(o->all->arena, &o->op.at[first + k].in, r);
		}
	return true;
}

/* Marks what the results need. */
void tf_mark_live(TfOps *o, const TfRefs *root)
{
	VEC(int) stack = { 0 };
	Arena *a = o->all->arena;
	for (size_t k = 0; k < o->op.n; k++)
		o->op.at[k].live = false;
	for (size_t k = 0; k < root->n; k++)
		vec_push(a, &stack, root->at[k].op);
	while (stack.n > 0) {
		TfOp *op = &o->op.at[stack.at[--stack.n]];
		if (op->live)
			continue;
		op->live = true;
		for (size_t k = 0; op->loop != NULL && k < op->loop->body_out.n; k++)
			vec_push(a, &stack, op->loop->body_out.at[k].op);
		if (op->loop != NULL)
			vec_push(a, &stack, op->loop->test.op);
		for (int k = 0; k < 2 && op->choice != NULL; k++)
			for (size_t i = 0; i < op->choice->result[k].n; i++)
				vec_push(a, &stack, op->choice->result[k].at[i].op);
		for (size_t k = 0; k < op->in.n; k++)
			if (!o->op.at[op->in.at[k].op].live)
				vec_push(a, &stack, op->in.at[k].op);
	}
}

/* ---- attributes */

/* Types that rows read; all others follow from the inputs. */
static const char *const read_types[] = { "DstT", "out_type", "output_type", "dtype", "element_dtype", "type",
	"out_idx", "Tout", "index_type" };

static const TfBody *body_named(TfOps *o, const char *name);

static void set_shape(Arena *a, const TfShape *s, NodeAttr *out)
{
	if (s == NULL || s->unknown_rank)
		return;
	int64_t *at = arena_array(a, int64_t, s->dim.n + 1);
	for (size_t k = 0; k < s->dim.n; k++)
		at[k] = s->dim.at[k].size;
	out->kind = NODE_INTS;
	out->ints.at = at;
	out->ints.n = s->dim.n;
}

static void set_list(Arena *a, const TfList *l, NodeAttr *out)
{
	out->kind = NODE_EMPTY;
	if (l->i.n > 0 || l->b.n > 0) {
		out->kind = NODE_INTS;
		out->ints = l->i.n > 0 ? l->i : l->b;
	} else if (l->f.n > 0) {
		out->kind = NODE_FLOATS;
		out->floats = l->f;
	} else if (l->s.n > 0) {
		out->kind = NODE_TEXTS;
		out->texts = l->s;
	} else if (l->func.n > 0) {
		out->kind = NODE_TEXTS;
		for (size_t k = 0; k < l->func.n; k++) {
			const char *s = tf_text(l->func.at[k].name);
			Bytes b = { (const unsigned char *)s, strlen(s) };
			vec_push(a, &out->texts, b);
		}
	} else if (l->shape.n > 0 || l->type.n > 0) {
		out->kind = NODE_OTHER;
	}
}

static bool runs_graphs(const TfOp *op)
{
	static const char *const kinds[] = { "If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase" };
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		if (op_is(op, kinds[k]))
			return true;
	return false;
}

/* The name of a function; for operators that run it, its graph. */
static bool set_function(TfOps *o, const TfOp *op, const char *key, const char *name, NodeAttr *out)
{
	*out = (NodeAttr){ .name = key, .kind = NODE_TEXT, .text = { (const unsigned char *)name, strlen(name) } };
	const TfBody *body = body_named(o, name);
	if (body == NULL && o->err->code != ERR_NONE)
		return false;
	if (body != NULL && runs_graphs(op)) {
		out->kind = NODE_GRAPH;
		out->graph = &body->graph;
		o->nodes += body->nodes;
		if (o->nodes > MOST_NODES)
			return tf_bad(o, ERR_UNSUPPORTED, "its functions hold each other too often");
	}
	return true;
}

static bool set_attr(TfOps *o, const TfOp *op, const char *key, const TfValue *t, NodeAttr *out)
{
	Arena *a = o->all->arena;
	*out = (NodeAttr){ .name = key, .kind = NODE_OTHER };
	if (t->list != NULL) {
		set_list(a, t->list, out);
	} else if (t->has >> TfValue_s & 1) {
		out->kind = NODE_TEXT;
		out->text = t->s;
	} else if (t->has >> TfValue_f & 1) {
		out->kind = NODE_FLOAT;
		out->f = import_number(F32, &t->f);
	} else if (t->has >> TfValue_i & 1 || t->has >> TfValue_b & 1 || t->has >> TfValue_type & 1) {
		out->kind = NODE_INT;
		out->i = t->has >> TfValue_i & 1 ? t->i : t->has >> TfValue_b & 1 ? t->b : t->type;
	} else if (t->shape != NULL) {
		set_shape(a, t->shape, out);
	} else if (t->tensor != NULL) {
		NodeTensor *tensor = arena_new_of(a, NodeTensor);
		*tensor = (NodeTensor){ .name = key, .source = t->tensor };
		out->kind = NODE_TENSOR;
		out->tensor = tensor;
	} else if (t->func != NULL) {
		return set_function(o, op, key, tf_text(t->func->name), out);
	}
	return true;
}

static bool is_dropped(const char *key, const TfValue *t)
{
	bool read = false;
	if (key[0] == '_' || t == NULL || t->placeholder != NULL || (t->list != NULL && t->list->type.n > 0))
		return true;
	for (size_t k = 0; k < sizeof read_types / sizeof *read_types; k++)
		read |= strcmp(key, read_types[k]) == 0;
	return t->has >> TfValue_type & 1 && !read;
}

/* A loop of version 1 has its graphs as While has, a choice as If. */
static bool loop_attrs(TfOps *o, const TfOp *op, NodeDef *out);
static bool choice_attrs(TfOps *o, const TfOp *op, NodeDef *out);

/* Functions in a list are graphs "branches:0", "branches:1" and so on. */
static size_t functions_listed(const TfOp *op, const TfValue *t)
{
	return t != NULL && t->list != NULL && runs_graphs(op) ? t->list->func.n : 0;
}

static bool set_attrs(TfOps *o, const TfOp *op, NodeDef *out)
{
	const TfNode *n = op->from;
	if (op->loop != NULL)
		return loop_attrs(o, op, out);
	if (op->choice != NULL)
		return choice_attrs(o, op, out);
	size_t many = 0;
	for (size_t k = 0; n != NULL && k < n->attr.n; k++)
		many += 1 + functions_listed(op, n->attr.at[k].value);
	NodeAttr *attr = arena_array(o->all->arena, NodeAttr, many + 1);
	out->attr = attr;
	for (size_t k = 0; n != NULL && k < n->attr.n; k++) {
		const char *key = tf_text(n->attr.at[k].key);
		const TfValue *t = n->attr.at[k].value;
		if (is_dropped(key, t))
			continue;
		size_t listed = functions_listed(op, t);
		for (size_t i = 0; i < listed; i++)
			if (!set_function(o, op, arena_printf(o->all->arena, "%s:%zu", key, i), tf_text(t->list->func.at[i].name),
					&attr[out->nattr++]))
				return false;
		if (listed > 0)
			continue;
		if (!set_attr(o, op, key, t, &attr[out->nattr++]))
			return false;
	}
	/* A kernel's name of a function call in the old style. */
	return function_named(o->all, op->kind) == NULL || body_named(o, op->kind) != NULL || o->err->code == ERR_NONE;
}

/* ---- nodes */

static const char *ref_name(const TfOps *o, TfRef r)
{
	const char *name = r.op < 0 ? "" : o->op.at[r.op].name;
	return r.out == 0 ? name : arena_printf(o->all->arena, "%s:%d", name, r.out);
}

static bool make_node(TfOps *o, const TfOp *op, NodeDef *out)
{
	Arena *a = o->all->arena;
	const char **in = arena_array(a, const char *, op->in.n + 1), **made = arena_array(a, const char *, op->nout + 1);
	for (size_t k = 0; k < op->in.n; k++)
		in[k] = ref_name(o, op->in.at[k]);
	for (int k = 0; k < op->nout; k++)
		made[k] = ref_name(o, (TfRef){ (int)(op - o->op.at), k });
	*out = (NodeDef){ .name = op->name,
		.op = op->kind,
		.domain = "",
		.in = in,
		.out = made,
		.nin = op->in.n,
		.nout = (size_t)op->nout,
		.source = op->from };
	if (op->refused != NULL)
		return tf_bad(o, ERR_UNSUPPORTED, "node '%.100s' (%.60s) %s", op->name, op->kind, op->refused);
	return set_attrs(o, op, out);
}

/* The nodes of some Ops; arguments and inputs are none, nor are those of a choice but the one of that number. */
static bool make_nodes(TfOps *o, const int *at, size_t n, int side, const NodeDef **node, size_t *count)
{
	NodeDef *out = arena_array(o->all->arena, NodeDef, n + 1);
	*count = 0;
	for (size_t k = 0; k < n; k++) {
		const TfOp *op = &o->op.at[at[k]];
		if (!op->live || op->side != side || op_is(op, "_Arg") || op_is(op, "Placeholder"))
			continue;
		if (!make_node(o, op, &out[(*count)++]))
			return false;
	}
	*node = out;
	return true;
}

/* All Ops that are not in the graph of a loop. */
bool tf_make_nodes(TfOps *o, const NodeDef **node, size_t *count)
{
	int *at = arena_array(o->all->arena, int, o->op.n + 1);
	size_t n = 0;
	for (size_t k = 0; k < o->op.n; k++)
		if (!o->op.at[k].inner)
			at[n++] = (int)k;
	return make_nodes(o, at, n, 0, node, count);
}

NodeValue *tf_values(TfOps *o, const TfRefs *list)
{
	NodeValue *out = arena_array(o->all->arena, NodeValue, list->n + 1);
	for (size_t k = 0; k < list->n; k++)
		out[k] = (NodeValue){ .name = list->at[k].op < 0 ? arena_printf(o->all->arena, "unread:%zu", k)
			                                             : ref_name(o, list->at[k]),
			.type = F32 };
	return out;
}

static bool make_graph(TfOps *o, const char *name, const int *at, size_t n, int side, const TfRefs *in,
	const TfRefs *results, NodeGraph *out)
{
	*out = (NodeGraph){
		.name = name, .in = tf_values(o, in), .out = tf_values(o, results), .nin = in->n, .nout = results->n
	};
	return make_nodes(o, at, n, side, &out->node, &out->nnode);
}

static bool loop_attrs(TfOps *o, const TfOp *op, NodeDef *out)
{
	Arena *a = o->all->arena;
	const TfLoop *l = op->loop;
	NodeAttr *attr = arena_array(a, NodeAttr, 2);
	NodeGraph *g = arena_array(a, NodeGraph, 2);
	TfRefs test = { 0 };
	vec_push(a, &test, l->test);
	attr[0] = (NodeAttr){ .name = "cond", .kind = NODE_GRAPH, .graph = &g[0] };
	attr[1] = (NodeAttr){ .name = "body", .kind = NODE_GRAPH, .graph = &g[1] };
	out->attr = attr;
	out->nattr = 2;
	return make_graph(o, "cond", l->cond.at, l->cond.n, 0, &l->cond_in, &test, &g[0]) &&
	       make_graph(o, "body", l->body.at, l->body.n, 0, &l->body_in, &l->body_out, &g[1]);
}

static bool choice_attrs(TfOps *o, const TfOp *op, NodeDef *out)
{
	static const char *const names[] = { "then_branch", "else_branch" };
	const TfChoice *c = op->choice;
	NodeAttr *attr = arena_array(o->all->arena, NodeAttr, 2);
	NodeGraph *g = arena_array(o->all->arena, NodeGraph, 2);
	const TfRefs none = { 0 };
	out->attr = attr;
	out->nattr = 2;
	for (int k = 0; k < 2; k++) {
		attr[k] = (NodeAttr){ .name = names[k], .kind = NODE_GRAPH, .graph = &g[k] };
		if (!make_graph(o, names[k], c->op[k].at, c->op[k].n, c->number, &none, &c->result[k], &g[k]))
			return false;
	}
	return true;
}

/* ---- functions */

/* The nodes of a function. */
static bool read_body(TfGraphs *all, TfBody *b, Err *err)
{
	Arena *a = all->arena;
	const TfSignature *s = b->from->signature;
	TfOps o = { .all = all,
		.names = names_new(a),
		.err = err,
		.where = arena_printf(a, ", in function '%.60s'", tf_text(s->name)) };
	TfRefs root = { 0 }, args = { 0 };
	for (size_t k = 0; k < s->input_arg.n; k++) {
		TfRef r = { (int)k, 0 };
		if (!add_op(&o, NULL, tf_text(s->input_arg.at[k].name), "_Arg"))
			return false;
		vec_push(a, &args, r);
	}
	if (!tf_add_nodes(&o, b->from->node_def.at, b->from->node_def.n))
		return false;
	for (size_t k = 0; k < s->output_arg.n; k++) {
		const char *name = tf_text(s->output_arg.at[k].name), *from = NULL;
		for (size_t i = 0; i < b->from->ret.n; i++)
			if (strcmp(tf_text(b->from->ret.at[i].key), name) == 0)
				from = tf_text(b->from->ret.at[i].value);
		TfRef r;
		if (from == NULL)
			return tf_bad(&o, ERR_INPUT, "no node gives the result '%.60s'", name);
		if (!tf_find_ref(&o, from, name, &r))
			return false;
		vec_push(a, &root, r);
	}
	tf_mark_live(&o, &root);
	tf_leave_out_dropout(&o);
	if (!tf_rewrite_control(&o, &root))
		return false;
	tf_mark_live(&o, &root);
	const char **in = arena_array(a, const char *, args.n + 1), **out = arena_array(a, const char *, root.n + 1);
	for (size_t k = 0; k < args.n; k++)
		in[k] = ref_name(&o, args.at[k]);
	for (size_t k = 0; k < root.n; k++)
		out[k] = ref_name(&o, root.at[k]);
	b->function =
		(NodeFunction){ .name = tf_text(s->name), .in = in, .out = out, .nin = args.n, .nout = root.n, .version = 1 };
	b->graph = (NodeGraph){
		.name = tf_text(s->name), .in = tf_values(&o, &args), .out = tf_values(&o, &root), .nin = args.n, .nout = root.n
	};
	if (!tf_make_nodes(&o, &b->function.node, &b->function.nnode))
		return false;
	b->nodes = (int64_t)b->function.nnode + 1 + o.nodes;
	b->graph.node = b->function.node;
	b->graph.nnode = b->function.nnode;
	return true;
}

/* A function that a node names, read; NULL: there is none, or a failure. */
static const TfBody *body_named(TfOps *o, const char *name)
{
	TfGraphs *all = o->all;
	int k = names_find(all->functions, name);
	if (k < 0)
		return NULL;
	TfBody *b = &all->body[k];
	if (b->state == 2)
		return b;
	if (b->state == 1 || all->depth >= MOST_DEPTH) {
		tf_bad(o, ERR_UNSUPPORTED,
			b->state == 1 ? "function '%.60s' calls itself" : "functions are nested too deep, at '%.60s'", name);
		return NULL;
	}
	b->state = 1;
	all->depth++;
	bool ok = read_body(all, b, o->err);
	all->depth--;
	b->state = 2;
	return ok ? b : NULL;
}

const NodeFunction *tf_find_function(const Import *im, const NodeDef *n)
{
	const TfGraphs *all = im->model->source;
	const TfNode *from = n->source;
	const char *name = n->op;
	if (strcmp(name, "PartitionedCall") == 0 || strcmp(name, "StatefulPartitionedCall") == 0) {
		const TfValue *f = from != NULL ? tf_attr(from, "f") : NULL;
		name = f != NULL && f->func != NULL ? tf_text(f->func->name) : "";
	}
	int k = names_find(all->functions, name);
	return k < 0 || all->body[k].state != 2 ? NULL : &all->body[k].function;
}

TfGraphs *tf_graphs(Arena *a, const TfGraph *g)
{
	TfGraphs *all = arena_new_of(a, TfGraphs);
	size_t n = g->library != NULL ? g->library->function.n : 0;
	*all = (TfGraphs){ .arena = a,
		.graph = g,
		.functions = names_new(a),
		.variables = names_new(a),
		.body = arena_array(a, TfBody, n + 1) };
	for (size_t k = 0; k < n; k++) {
		all->body[k].from = &g->library->function.at[k];
		const TfSignature *s = all->body[k].from->signature;
		if (s != NULL)
			names_bind(all->functions, tf_text(s->name), (int)k);
	}
	return all;
}
