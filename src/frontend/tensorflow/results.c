/*
 * The graph of a file: its inputs and results are those of a signature, with its names. Without one, its placeholders
 * are the inputs, and the values that nothing reads are the results.
 */
#include "frontend/tensorflow/graph.h"

#include <string.h>

static int word_count(const char *words)
{
	int n = *words != 0;
	for (; *words != 0; words++)
		n += *words == ' ';
	return n;
}

/* Operators that act and give nothing that anybody wants, by the beginning of their names. */
static const char *const acting[] = { "NoOp", "Assert", "Const", "Placeholder", "Var", "TemporaryVariable", "Assign",
	"Save", "Restore", "MergeV2", "Apply", "ResourceApply", "Print", "CheckNumerics", "Scalar", "Histogram", "Image",
	"Write", "Queue", "FIFOQueue", "Reader", "ShardedFilename", "StringJoin", "HashTable", "LookupTable",
	"InitializeTable", "IsVariableInitialized", "VarIsInitialized", "ControlTrigger", "Switch", "Enter",
	"NextIteration", "LoopCond", "Destroy", "DisableCopyOnRead", "Scatter", "ResourceScatter", "Summary" };

static bool acts(const TfOp *op)
{
	for (size_t k = 0; k < sizeof acting / sizeof *acting; k++)
		if (strncmp(op->kind, acting[k], strlen(acting[k])) == 0)
			return strcmp(op->kind, "ScatterNd") != 0 && strcmp(op->kind, "PlaceholderWithDefault") != 0;
	return strstr(op->kind, "Summary") != NULL;
}

/* How many results an Op that nothing reads has. */
static int results_made(const TfOp *op)
{
	const char *words = tf_result_names(op->kind);
	const TfValue *t = op->from == NULL                            ? NULL
	                   : op_is(op, "Unpack")                       ? tf_attr(op->from, "num")
	                   : op_is(op, "Split") || op_is(op, "SplitV") ? tf_attr(op->from, "num_split")
	                                                               : NULL;
	if (t != NULL && t->i > 0 && t->i < TF_MOST_OUTPUTS)
		return (int)t->i;
	t = op_is(op, "FusedBatchNorm") || op->from == NULL ? NULL
	                                                    : tf_attr(op->from, op_is(op, "IdentityN") ? "T" : "Tout");
	if (t != NULL && t->list != NULL && t->list->type.n > 0 && t->list->type.n < TF_MOST_OUTPUTS)
		return (int)t->list->type.n;
	bool first = words == NULL || op_is(op, "Merge") || strncmp(op->kind, "FusedBatchNorm", 14) == 0;
	return first ? 1 : word_count(words);
}

/*
 * Marks nodes that only make a choice: its predicate on each side, which constants wait for (Identity of a Switch by
 * itself), and its predicate for values.
 */
static void mark_choosing(const TfOps *o, bool *read)
{
	bool *predicate = arena_array(o->all->arena, bool, o->op.n + 1);
	for (int pass = 0; pass < 2; pass++)
		for (size_t k = 0; k < o->op.n; k++) {
			const TfOp *op = &o->op.at[k];
			int from = op->in.n > 0 ? op->in.at[0].op : -1;
			if (pass == 0 && op_is(op, "Switch") && op->in.n == 2 && op->in.at[1].op == from &&
				op->in.at[1].out == op->in.at[0].out) {
				predicate[k] = predicate[from] = true;
			} else if (pass == 1 && op_is(op, "Identity") && from >= 0 && predicate[from]) {
				const char *end = strrchr(op->name, '/');
				read[k] |= op_is(&o->op.at[from], "Switch") || (end != NULL && strcmp(end, "/pred_id") == 0);
			}
		}
}

/* The results of a graph without a signature are those that nothing reads, in the file's order. */
static void find_results(TfOps *o, TfRefs *root)
{
	Arena *a = o->all->arena;
	bool *read = arena_array(a, bool, o->op.n + 1), exits = true, constant = true;
	bool *looped = tf_behind(o, "Enter", "Exit"), *fed = tf_behind(o, "Placeholder", "");
	for (size_t k = 0; k < o->op.n; k++)
		for (size_t i = 0; i < o->op.at[k].in.n; i++)
			read[o->op.at[k].in.at[i].op] = true;
	mark_choosing(o, read);
	for (size_t k = 0; k < o->op.n; k++) {
		const TfOp *op = &o->op.at[k];
		read[k] |= looped[k] || acts(op);
		constant &= read[k] || !fed[k];
		exits &= read[k] || op_is(op, "Exit");
	}
	/* What depends on no input, and the result of a loop that nothing reads, count only if there is nothing else. */
	for (size_t k = 0; k < o->op.n; k++) {
		TfOp *op = &o->op.at[k];
		if (read[k] || (!exits && op_is(op, "Exit")) || (!constant && !fed[k]))
			continue;
		int made = results_made(op);
		op->nout = made > op->nout ? made : op->nout;
		for (int i = 0; i < made; i++) {
			TfRef r = { (int)k, i };
			vec_push(a, root, r);
		}
	}
}

static void find_inputs(TfOps *o, TfRefs *inputs)
{
	for (size_t k = 0; k < o->op.n; k++) {
		TfRef r = { (int)k, 0 };
		if (o->op.at[k].live && op_is(&o->op.at[k], "Placeholder"))
			vec_push(o->all->arena, inputs, r);
	}
}

/* The tensors of a signature, in the order of their names. */
static bool signature_refs(TfOps *o, const TfInterface *s, bool in, TfRefs *out, const char ***names)
{
	Arena *a = o->all->arena;
	size_t n = in ? s->inputs.n : s->outputs.n;
	const TfNamedInfo **at = arena_array(a, const TfNamedInfo *, n + 1);
	*names = arena_array(a, const char *, n + 1);
	for (size_t k = 0; k < n; k++) { /* few: sorted by insertion */
		const TfNamedInfo *x = in ? &s->inputs.at[k] : &s->outputs.at[k];
		size_t to = k;
		for (; to > 0 && strcmp(tf_text(at[to - 1]->key), tf_text(x->key)) > 0; to--)
			at[to] = at[to - 1];
		at[to] = x;
	}
	for (size_t k = 0; k < n; k++) {
		TfRef r;
		(*names)[k] = tf_text(at[k]->key);
		if (at[k]->value == NULL || tf_text(at[k]->value->name)[0] == 0)
			return tf_bad(o, ERR_UNSUPPORTED, "'%.100s' of the signature is no dense tensor", (*names)[k]);
		if (!tf_find_ref(o, at[k]->value->name, (*names)[k], &r))
			return false;
		vec_push(a, out, r);
		if (in && (!op_is(&o->op.at[r.op], "Placeholder") || r.out != 0))
			return tf_bad(o, ERR_UNSUPPORTED, "the signature's input '%.100s' is not a placeholder", (*names)[k]);
		if (in)
			o->op.at[r.op].declared = at[k]->value;
	}
	return true;
}

/* An input takes the name of the signature; another node that has it gets a new one. */
static void name_inputs(TfOps *o, const TfRefs *inputs, const char *const *names)
{
	for (size_t k = 0; k < inputs->n; k++) {
		int other = names_find(o->names, names[k]);
		if (other >= 0 && other != inputs->at[k].op)
			o->op.at[other].name = names_give(o->names, names[k]);
	}
	for (size_t k = 0; k < inputs->n; k++)
		o->op.at[inputs->at[k].op].name = names[k];
}

/* Before this version a placeholder without dimensions had any shape. */
enum { SCALARS = 24 };

static int64_t graph_version(const TfGraph *g)
{
	return g->versions != NULL ? g->versions->producer : g->version;
}

static bool set_input(TfOps *o, const TfOp *op, NodeValue *out)
{
	Arena *a = o->all->arena;
	const TfValue *dtype = op->from != NULL ? tf_attr(op->from, "dtype") : NULL;
	const TfValue *shape = op->from != NULL ? tf_attr(op->from, "shape") : NULL;
	const TfShape *s = op->declared != NULL && op->declared->tensor_shape != NULL ? op->declared->tensor_shape
	                   : shape != NULL                                            ? shape->shape
	                                                                              : NULL;
	int64_t code = dtype != NULL ? dtype->type : op->declared != NULL ? op->declared->dtype : 0;
	*out = (NodeValue){ .name = op->name, .type = F32, .refusal = ERR_UNSUPPORTED };
	if (!tf_type_from(code, &out->type))
		out->refused = arena_printf(a, "has element type %s, which dlc does not have", tf_type_name(code));
	if (s == NULL || s->unknown_rank || (s->dim.n == 0 && graph_version(o->all->graph) < SCALARS))
		return true;
	NodeDim *dim = arena_array(a, NodeDim, s->dim.n + 1);
	for (size_t k = 0; k < s->dim.n; k++)
		dim[k] = (NodeDim){ .size = s->dim.at[k].size, .open = s->dim.at[k].size < 0, .symbol = "" };
	out->shaped = true;
	out->dim = dim;
	out->ndim = s->dim.n;
	return true;
}

bool tf_graph_nodes(TfGraphs *all, const TfInterface *signature, NodeGraph *out, Err *err)
{
	Arena *a = all->arena;
	TfOps o = { .all = all, .names = names_new(a), .err = err, .where = "" };
	TfRefs root = { 0 }, inputs = { 0 };
	const char **in = NULL, **names = NULL;
	if (!tf_add_nodes(&o, all->graph->node.at, all->graph->node.n))
		return false;
	if (signature == NULL)
		find_results(&o, &root);
	else if (!signature_refs(&o, signature, true, &inputs, &in) || !signature_refs(&o, signature, false, &root, &names))
		return false;
	tf_mark_live(&o, &root);
	tf_leave_out_dropout(&o);
	if (!tf_rewrite_control(&o, &root))
		return false;
	tf_mark_live(&o, &root);
	if (signature == NULL)
		find_inputs(&o, &inputs);
	for (size_t k = 0; k < o.op.n; k++) {
		bool listed = signature == NULL;
		for (size_t i = 0; i < inputs.n && !listed; i++)
			listed = inputs.at[i].op == (int)k;
		if (!listed && o.op.at[k].live && op_is(&o.op.at[k], "Placeholder"))
			return tf_bad(
				&o, ERR_INPUT, "the signature lacks the input '%.100s', which its results need", o.op.at[k].name);
	}
	if (signature != NULL)
		name_inputs(&o, &inputs, in);
	NodeValue *value = arena_array(a, NodeValue, inputs.n + 1), *result = tf_values(&o, &root);
	for (size_t k = 0; k < inputs.n; k++)
		if (!set_input(&o, &o.op.at[inputs.at[k].op], &value[k]))
			return false;
	for (size_t k = 0; k < root.n && signature != NULL; k++) {
		result[k].reads = result[k].name;
		result[k].name = names[k];
	}
	*out = (NodeGraph){ .name = "graph", .in = value, .nin = inputs.n, .out = result, .nout = root.n };
	return tf_make_nodes(&o, &out->node, &out->nnode);
}
