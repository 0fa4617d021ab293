/*
 * Operators by name: the rows of all op_*.c, and the functions that a model brings. Before anything is built,
 * the operators of the model, of the functions that it calls and of all subgraphs are looked up, so that a
 * refusal names everything that is missing, how often and where. What only branches of an If lack is refused
 * when a condition takes such a branch.
 */
#include "frontend/onnx/rows.h"

#include <string.h>

enum { NAMED = 3 }; /* nodes that a refusal names for each operator */

static const OnnxRow *const row_lists[] = {
	onnx_nn_rows,
	onnx_math_rows,
	onnx_activation_rows,
	onnx_logic_rows,
	onnx_move_rows,
	onnx_gather_rows,
	onnx_resize_rows,
	onnx_fill_rows,
	onnx_sample_rows,
	onnx_select_rows,
	onnx_rearrange_rows,
	onnx_reduce_rows,
	onnx_norm_rows,
	onnx_loss_rows,
	onnx_einsum_rows,
	onnx_deform_rows,
	onnx_recurrent_rows,
	onnx_state_rows,
	onnx_attention_rows,
	onnx_quant_rows,
	onnx_signal_rows,
	onnx_ml_rows,
	onnx_control_rows,
	onnx_sequence_rows,
};

static bool is_default_domain(const char *s)
{
	return s == NULL || s[0] == 0 || strcmp(s, "ai.onnx") == 0;
}

const OnnxRow *onnx_find_row(const OnnxNode *node, int64_t opset)
{
	const char *op = onnx_text(node->op_type), *domain = is_default_domain(node->domain) ? "" : node->domain;
	size_t n = strlen(domain), before = n > 0 ? n + 2 : 0;
	for (size_t l = 0; l < sizeof row_lists / sizeof *row_lists; l++)
		for (const OnnxRow *r = row_lists[l]; r->name != NULL; r++)
			if (r->since <= opset && strncmp(r->name, domain, n) == 0 &&
				(n == 0 || strncmp(r->name + n, "::", 2) == 0) && strcmp(r->name + before, op) == 0)
				return r;
	return NULL;
}

/* The key of a function: its domain (the default one is ""), name and overload. */
static const char *function_key(Arena *a, const char *domain, const char *name, const char *overload)
{
	return arena_printf(a, "%s\n%s\n%s", is_default_domain(domain) ? "" : domain, onnx_text(name), onnx_text(overload));
}

void onnx_read_functions(Import *im)
{
	const OnnxModel *m = im->model;
	im->functions = names_new(im->arena);
	for (size_t k = 0; k < m->functions.n; k++) {
		const OnnxFunction *fn = &m->functions.at[k];
		names_bind(im->functions, function_key(im->arena, fn->domain, fn->name, fn->overload), (int)k);
	}
}

const OnnxFunction *onnx_find_function(const Import *im, const OnnxNode *node)
{
	if (im->model->functions.n == 0)
		return NULL;
	int k = names_find(im->functions, function_key(im->arena, node->domain, node->op_type, node->overload));
	return k < 0 ? NULL : &im->model->functions.at[k];
}

int64_t onnx_opset_of(const OnnxOpset *at, size_t n, int64_t otherwise)
{
	for (size_t k = 0; k < n; k++)
		if (is_default_domain(at[k].domain))
			return at[k].version;
	return otherwise;
}

/* ---- what is not supported, all of it */

typedef struct Missing {
	const char *op, *domain;
	int64_t opset;
	int since, times;
	const char *node[NAMED]; /* the first ones, with their places */
} Missing;

typedef struct Search {
	Import *im;
	Names *known; /* domain, operator and opset -> list */
	bool *called; /* functions that were looked through */
	bool certain; /* something is missing outside of branches */
	VEC(Missing) list;
} Search;

/* Where nodes are: the graph itself, a function, a subgraph of a node. */
typedef struct Place {
	const char *inside; /* " of function f", " in 'loop'" or "" */
	int64_t opset;
	bool branch; /* of an If, or inside one */
} Place;

static void add_missing(Search *s, const OnnxNode *node, const Place *at)
{
	Arena *a = s->im->arena;
	const char *out = node->output.n > 0 ? onnx_text(node->output.at[0]) : "", *name = onnx_text(node->name);
	const char *key = arena_printf(a, "%s\n%d", function_key(a, node->domain, node->op_type, ""), (int)at->opset);
	int known = names_find(s->known, key);
	if (known < 0) {
		const OnnxRow *row = onnx_find_row(node, INT64_MAX);
		Missing fresh = { .op = onnx_text(node->op_type),
			.domain = is_default_domain(node->domain) ? "" : node->domain,
			.opset = at->opset,
			.since = row != NULL ? row->since : 0 };
		known = (int)s->list.n;
		names_bind(s->known, key, known);
		vec_push(a, &s->list, fresh);
	}
	Missing *x = &s->list.at[known];
	if (x->times < NAMED)
		x->node[x->times] = arena_printf(a, "'%.60s'%s", name[0] != 0 ? name : out, at->inside);
	x->times++;
	s->certain |= !at->branch;
}

static void look_through(Search *s, const OnnxNode *node, size_t n, const Place *at)
{
	Arena *a = s->im->arena;
	for (size_t k = 0; k < n; k++) {
		const OnnxFunction *fn = onnx_find_function(s->im, &node[k]);
		if (fn != NULL && !s->called[fn - s->im->model->functions.at]) {
			s->called[fn - s->im->model->functions.at] = true;
			Place body = { arena_printf(a, " of function %.60s", onnx_text(fn->name)),
				onnx_opset_of(fn->opset_import.at, fn->opset_import.n, at->opset), at->branch };
			look_through(s, fn->node.at, fn->node.n, &body);
		} else if (fn == NULL && onnx_find_row(&node[k], at->opset) == NULL) {
			add_missing(s, &node[k], at);
		}
		const char *name = onnx_text(node[k].name);
		if (name[0] == 0 && node[k].output.n > 0)
			name = onnx_text(node[k].output.at[0]);
		Place inner = { arena_printf(a, " in '%.60s'", name), at->opset,
			at->branch || strcmp(onnx_text(node[k].op_type), "If") == 0 };
		for (size_t i = 0; i < node[k].attribute.n; i++)
			if (node[k].attribute.at[i].g != NULL)
				look_through(s, node[k].attribute.at[i].g->node.at, node[k].attribute.at[i].g->node.n, &inner);
	}
}

/* The sentence and a line for each operator. */
static void describe(const Search *s, Err *err)
{
	size_t n = s->list.n;
	fail(err, ERR_UNSUPPORTED, NULL, "%zu operator%s of this model %s not supported", n, n == 1 ? "" : "s",
		n == 1 ? "is" : "are");
	for (size_t k = 0; k < n; k++) {
		const Missing *x = &s->list.at[k];
		Text t = { .arena = s->im->arena };
		text_add(&t, "%s%s%s (opset %lld, node%s ", x->domain, x->domain[0] != 0 ? "::" : "", x->op,
			(long long)x->opset, x->times > 1 ? "s" : "");
		for (int i = 0; i < x->times && i < NAMED; i++)
			text_add(&t, "%s%s", i > 0 ? ", " : "", x->node[i]);
		text_add(&t, "%s", x->times > NAMED ? ", .." : "");
		if (x->times > 1)
			text_add(&t, ", %d times", x->times);
		text_add(&t, ")");
		if (x->since > 0)
			text_add(&t, ", which exists from opset %d on", x->since);
		err_add_item(err, "%s", text_str(&t));
	}
}

bool onnx_check_supported(Import *im, int64_t opset)
{
	Search s = { .im = im,
		.known = names_new(im->arena),
		.called = arena_array(im->arena, bool, im->model->functions.n + 1) };
	look_through(&s, im->model->graph->node.at, im->model->graph->node.n, &(Place){ "", opset, false });
	if (s.list.n > 0)
		describe(&s, &im->missing);
	if (s.certain)
		im->err = im->missing;
	return !s.certain;
}
