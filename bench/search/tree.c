/*
 * See tree.h. The words of all configs ("tile=2x14 order=row") are put into one tree: a node is a knob, its branches
 * are the options that were recorded behind the options before. A knob opens others if its branches differ.
 */
#include "tree.h"

#include "schedule/sketch.h"

#include <stdlib.h>
#include <string.h>

typedef struct KnobNode {
	const char *knob; /* NULL: the end of a config */
	int n, first;
	KnobOption option[KNOB_OPTIONS];
	const char *word[KNOB_OPTIONS];
	struct KnobNode *branch[KNOB_OPTIONS];
	uint64_t shape; /* equal for equal trees */
	bool opens;
	const RecordedRun *run;
} KnobNode;

typedef struct Tree {
	Template row; /* first: a Sketch knows its template */
	KnobNode *root;
} Tree;

/* "4", "2x14" and "w:16" have an order; other options are words. */
static KnobOption option_of(Arena *a, const char *word)
{
	char *end;
	long long first = strtoll(word, &end, 10), second;
	const char *colon = strchr(word, ':');
	if (end != word && *end == 0)
		return (KnobOption){ .kind = KNOB_NUMBER, .number = first };
	if (end != word && *end == 'x' && (second = strtoll(end + 1, &end, 10)) > 0 && *end == 0)
		return (KnobOption){ .kind = KNOB_TILE, .tile = { first, second } };
	if (colon != NULL && strchr(word, '.') == NULL && (second = strtoll(colon + 1, &end, 10)) > 0 && *end == 0)
		return (
			KnobOption){ .kind = KNOB_PART, .part = { arena_printf(a, "%.*s", (int)(colon - word), word), second } };
	return (KnobOption){ .kind = KNOB_WORD, .word = word };
}

/* Puts one config into the tree; false: it does not fit. */
static bool put(Arena *a, KnobNode *at, const RecordedRun *run, bool is_default)
{
	char *config = arena_printf(a, "%s", run->config), *rest = NULL;
	for (char *w = strtok_r(config, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(w, '=');
		int o = 0;
		if (equals == NULL || at->run != NULL)
			return false;
		*equals = 0;
		if (at->knob != NULL && strcmp(at->knob, w) != 0)
			return false;
		at->knob = w;
		while (o < at->n && strcmp(at->word[o], equals + 1) != 0)
			o++;
		if (o == KNOB_OPTIONS)
			return false;
		if (o == at->n) {
			at->word[o] = equals + 1;
			at->option[o] = option_of(a, equals + 1);
			at->branch[o] = arena_new_of(a, KnobNode);
			at->n++;
		}
		at->first = is_default ? o : at->first;
		at = at->branch[o];
	}
	bool fits = at->knob == NULL && at->run == NULL;
	at->run = run;
	return fits;
}

static void close_node(KnobNode *x)
{
	x->shape = x->knob != NULL ? map_hash_bytes(x->knob, strlen(x->knob)) : 1;
	for (int o = 0; o < x->n; o++) {
		close_node(x->branch[o]);
		x->opens |= x->branch[o]->shape != x->branch[0]->shape;
		x->shape =
			(x->shape ^ map_hash_bytes(x->word[o], strlen(x->word[o]))) * 0x9e3779b97f4a7c15u + x->branch[o]->shape;
	}
}

static bool run_tree(Sketch *s, Err *err)
{
	(void)err;
	for (const KnobNode *x = ((const Tree *)s->tmpl)->root; x->knob != NULL;) {
		int o = sketch_knob(s, x->knob, x->option, x->n, x->first);
		if (x->opens)
			sketch_opens(s);
		x = x->branch[o];
	}
	return true;
}

Space *tree_space(Arena *a, const char *name, const RecordedSpace *r, Err *err)
{
	Tree *t = arena_new_of(a, Tree);
	*t = (Tree){ { .name = "recorded", .doc = "a recorded space", .run = run_tree }, arena_new_of(a, KnobNode) };
	for (int i = 0; i < r->n; i++)
		if (!put(a, t->root, &r->run[i], i == r->first)) {
			fail(err, ERR_INPUT, name, "config \"%s\" does not fit into one tree with those before it",
				r->run[i].config);
			return NULL;
		}
	close_node(t->root);
	Space *s = arena_new_of(a, Space);
	*s =
		(Space){ .arena = a, .task = r->task, .target = &r->target, .tmpl = &t->row, .size = r->n, .known = MAP_OF(a) };
	s->first = space_begin(s);
	const KnobNode *x = t->root;
	Config c = { 0 };
	for (; x->knob != NULL; x = x->branch[x->first])
		if (x->n > 1)
			c.pick[c.n++] = (uint8_t)x->first;
	/* The path of these picks, by moves from the first config. */
	for (int at = 0; at < c.n; at++)
		s->first = space_move(s, &s->first, at, c.pick[at]);
	return s;
}

const RecordedRun *tree_run(const Space *s, const Config *c)
{
	const KnobNode *x = ((const Tree *)s->tmpl)->root;
	for (int at = 0; x->knob != NULL;)
		x = x->branch[x->n > 1 ? c->pick[at++] : 0];
	return x->run;
}
