/*
 * Operators by name. Before anything is built, the operators of the model, of the functions that it calls and of all
 * subgraphs are looked up, so that a refusal names everything that is missing, how often and where. What only branches
 * lack is refused when a condition takes such a branch.
 */
#include "frontend/node/operators.h"

#include <string.h>

enum { NAMED = 3 }; /* nodes that a refusal names for each operator */

const NodeRow *node_find_row(const NodeFormat *f, const NodeDef *node, int64_t version)
{
	const char *op = node->op, *domain = node->domain;
	size_t n = strlen(domain), before = n > 0 ? n + 2 : 0;
	for (const NodeRow *const *list = f->lists; *list != NULL; list++)
		for (const NodeRow *r = *list; r->name != NULL; r++)
			if (r->since <= version && strncmp(r->name, domain, n) == 0 &&
				(n == 0 || strncmp(r->name + n, "::", 2) == 0) && strcmp(r->name + before, op) == 0)
				return r;
	return NULL;
}

/* ---- what is not supported, all of it */

typedef struct Missing {
	const char *op, *domain;
	int version;
	int since, times;
	const char *node[NAMED]; /* the first ones, with their places */
} Missing;

typedef struct Search {
	Import *im;
	Names *known;  /* domain, operator and version -> list */
	Names *called; /* functions that were looked through */
	bool certain; /* something is missing outside of branches */
	VEC(Missing) list;
} Search;

/* Where nodes are: the graph itself, a function, a subgraph of a node. */
typedef struct Place {
	const char *inside; /* " of function f", " in 'loop'" or "" */
	int version;
	bool branch; /* of an If, or inside one */
} Place;

static void add_missing(Search *s, const NodeDef *node, const Place *at)
{
	Arena *a = s->im->arena;
	const char *out = node->nout > 0 ? node->out[0] : "";
	const char *key = arena_printf(a, "%s\n%s\n%d", node->domain, node->op, at->version);
	int known = names_find(s->known, key);
	if (known < 0) {
		const NodeRow *row = node_find_row(s->im->model->format, node, INT64_MAX);
		Missing fresh = { .op = node->op,
			.domain = node->domain,
			.version = at->version,
			.since = row != NULL ? row->since : 0 };
		known = (int)s->list.n;
		names_bind(s->known, key, known);
		vec_push(a, &s->list, fresh);
	}
	Missing *x = &s->list.at[known];
	if (x->times < NAMED)
		x->node[x->times] = arena_printf(a, "'%.60s'%s", node->name[0] != 0 ? node->name : out, at->inside);
	x->times++;
	s->certain |= !at->branch;
}

/* Its operator is a word of the format's list. */
static bool may_not_run(const NodeFormat *f, const NodeDef *node)
{
	size_t n = strlen(node->op);
	for (const char *s = f->branch != NULL ? f->branch : ""; *s != 0; s += strcspn(s, " "), s += *s == ' ')
		if (strcspn(s, " ") == n && memcmp(s, node->op, n) == 0)
			return true;
	return false;
}

static void look_through(Search *s, const NodeDef *node, size_t n, const Place *at)
{
	Arena *a = s->im->arena;
	const NodeFormat *format = s->im->model->format;
	for (size_t k = 0; k < n; k++) {
		const NodeFunction *fn = format->function != NULL ? format->function(s->im, &node[k]) : NULL;
		const char *key = fn != NULL ? arena_printf(a, "%p", (const void *)fn) : "";
		if (fn != NULL && !names_taken(s->called, key)) {
			names_bind(s->called, key, 0);
			Place body = { arena_printf(a, " of function %.60s", fn->name), fn->version, at->branch };
			look_through(s, fn->node, fn->nnode, &body);
		} else if (fn == NULL && node_find_row(format, &node[k], at->version) == NULL) {
			add_missing(s, &node[k], at);
		}
		const char *name = node[k].name;
		if (name[0] == 0 && node[k].nout > 0)
			name = node[k].out[0];
		Place inner = { arena_printf(a, " in '%.60s'", name), at->version,
			at->branch || may_not_run(format, &node[k]) };
		for (size_t i = 0; i < node[k].nattr; i++)
			if (node[k].attr[i].kind == NODE_GRAPH && node[k].attr[i].graph != NULL)
				look_through(s, node[k].attr[i].graph->node, node[k].attr[i].graph->nnode, &inner);
	}
}

/* The sentence and a line for each operator. */
static void describe(const Search *s, Err *err)
{
	size_t n = s->list.n;
	const char *word = s->im->model->format->version;
	fail(err, ERR_UNSUPPORTED, NULL, "%zu operator%s of this model %s not supported", n, n == 1 ? "" : "s",
		n == 1 ? "is" : "are");
	for (size_t k = 0; k < n; k++) {
		const Missing *x = &s->list.at[k];
		Text t = { .arena = s->im->arena };
		text_add(&t, "%s%s%s (", x->domain, x->domain[0] != 0 ? "::" : "", x->op);
		if (word != NULL)
			text_add(&t, "%s %d, ", word, x->version);
		text_add(&t, "node%s ", x->times > 1 ? "s" : "");
		for (int i = 0; i < x->times && i < NAMED; i++)
			text_add(&t, "%s%s", i > 0 ? ", " : "", x->node[i]);
		text_add(&t, "%s", x->times > NAMED ? ", .." : "");
		if (x->times > 1)
			text_add(&t, ", %d times", x->times);
		text_add(&t, ")");
		if (x->since > 0 && word != NULL)
			text_add(&t, ", which exists from %s %d on", word, x->since);
		err_add_item(err, "%s", text_str(&t));
	}
}

bool node_check_supported(Import *im)
{
	Search s = { .im = im, .known = names_new(im->arena), .called = names_new(im->arena) };
	const NodeGraph *g = im->model->graph;
	look_through(&s, g->node, g->nnode, &(Place){ "", im->model->version, false });
	if (s.list.n > 0)
		describe(&s, &im->missing);
	if (s.certain)
		im->err = im->missing;
	return !s.certain;
}

bool node_refuse_operators(Import *im, const NodeDef *node, size_t n)
{
	Search s = { .im = im, .known = names_new(im->arena) };
	for (size_t k = 0; k < n; k++)
		add_missing(&s, &node[k], &(Place){ "", im->model->version, false });
	describe(&s, &im->err);
	return false;
}
