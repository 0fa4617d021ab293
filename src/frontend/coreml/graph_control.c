/*
 * Branches and loops of a neural network as nodes with graphs. A blob that is written inside is a result where a layer
 * outside reads it; in a loop it is carried to the next iteration where it had a value before the loop, too.
 */
#include "frontend/coreml/walk.h"

#include <string.h>

enum { MOST_DEPTH = 16, FIELD_BRANCH = 605, FIELD_LOOP = 615 };

/* ---- what layers read and write */

CoremlUses coreml_uses(Arena *a)
{
	return (CoremlUses){ .read = names_new(a), .known = names_new(a) };
}

void coreml_count_read(Arena *a, CoremlUses *u, const char *blob)
{
	int k = names_find(u->read, blob);
	if (k < 0) {
		k = (int)u->times.n;
		vec_push(a, &u->times, 0);
		names_bind(u->read, blob, k);
	}
	u->times.at[k]++;
}

static int reads(const CoremlUses *u, const char *blob)
{
	int k = names_find(u->read, blob);
	return k < 0 ? 0 : u->times.at[k];
}

static void note_written(Arena *a, CoremlUses *u, const char *blob)
{
	if (names_taken(u->known, blob))
		return;
	names_bind(u->known, blob, 0);
	vec_push(a, &u->written, blob);
}

/* The networks inside of a layer: of a branch its sides, of a loop its condition and its body. */
static bool list_inside(Walk *w, Bytes layer, int depth, CoremlUses *u)
{
	WireItem it;
	while (wire_next(&layer, &it)) {
		const CoremlNetwork *net[2] = { NULL, NULL };
		if (it.type == 2 && it.number == FIELD_BRANCH) {
			CoremlBranch *p = arena_new_of(w->arena, CoremlBranch);
			if (!wire_read(w->arena, &CoremlBranch_message, it.bytes, p, w->err))
				return false;
			net[0] = p->ifBranch;
			net[1] = p->elseBranch;
		} else if (it.type == 2 && it.number == FIELD_LOOP) {
			CoremlLoop *p = arena_new_of(w->arena, CoremlLoop);
			if (!wire_read(w->arena, &CoremlLoop_message, it.bytes, p, w->err))
				return false;
			net[0] = p->conditionNetwork;
			net[1] = p->bodyNetwork;
			coreml_count_read(w->arena, u, coreml_text(p->conditionVar));
		}
		for (int k = 0; k < 2; k++)
			if (net[k] != NULL && !coreml_list_uses(w, net[k], depth + 1, u))
				return false;
	}
	return true;
}

bool coreml_list_uses(Walk *w, const CoremlNetwork *net, int depth, CoremlUses *u)
{
	if (depth > MOST_DEPTH)
		return fail(w->err, ERR_INPUT, NULL, "its branches and loops are nested more than %d deep", MOST_DEPTH);
	if (depth > 0 && net->preprocessing.n > 0)
		return fail(w->err, ERR_UNSUPPORTED, NULL, "a network inside of a branch or a loop preprocesses images");
	for (size_t k = 0; k < net->layers.n; k++) {
		CoremlLayer *l = arena_new_of(w->arena, CoremlLayer);
		if (!wire_read(w->arena, &CoremlLayer_message, net->layers.at[k], l, w->err))
			return false;
		for (size_t i = 0; i < l->input.n; i++)
			coreml_count_read(w->arena, u, l->input.at[i]);
		for (size_t i = 0; i < l->output.n; i++)
			note_written(w->arena, u, l->output.at[i]);
		if (!list_inside(w, net->layers.at[k], depth, u))
			return false;
	}
	return true;
}

/* ---- a network inside */

/* The values that blobs got in a network inside. */
typedef struct After {
	Names *names; /* blob -> its number in `value` */
	WireTexts value;
} After;

/* Its layers as nodes of *g, and what they change, while the values of `w` stay as they were. */
static bool walk_inside(Walk *w, const CoremlNetwork *net, NodeGraph *g, After *after)
{
	size_t first = w->change.n;
	CoremlNodes around = w->node;
	after->names = names_new(w->arena);
	w->node = (CoremlNodes){ 0 };
	w->depth++;
	if (net != NULL && !coreml_add_layers(w, net))
		return false;
	w->depth--;
	g->node = w->node.at;
	g->nnode = w->node.n;
	w->node = around;
	for (size_t k = first; k < w->change.n; k++) {
		const char *blob = w->change.at[k].blob;
		if (names_taken(after->names, blob))
			continue;
		names_bind(after->names, blob, (int)after->value.n);
		vec_push(w->arena, &after->value, coreml_value_of(w, blob));
	}
	for (; w->change.n > first; w->change.n--) {
		const CoremlChange *c = &w->change.at[w->change.n - 1];
		w->value.at[names_find(w->blobs, c->blob)] = c->before;
	}
	return true;
}

static const char *value_after(const Walk *w, const After *after, const char *blob)
{
	int k = names_find(after->names, blob);
	return k < 0 ? coreml_value_of(w, blob) : after->value.at[k];
}

static void add_result(NodeGraph *g, NodeValue *out, const char *blob, const char *value)
{
	out[g->nout++] = (NodeValue){ .name = blob, .reads = value };
	g->out = out;
}

/* The node, whose results are the blobs. */
static void add_node(Walk *w, const CoremlLayer *l, const char *op, const WireTexts *in, const WireTexts *blobs,
	NodeGraph *const *g, const CoremlControl *c)
{
	Arena *a = w->arena;
	NodeAttr *attr = arena_array(a, NodeAttr, 2);
	const char **out = arena_array(a, const char *, blobs->n + 1);
	size_t nattr = 0;
	for (int k = 0; k < 2; k++)
		if (g[k] != NULL)
			attr[nattr++] = (NodeAttr){ .name = g[k]->name, .kind = NODE_GRAPH, .graph = g[k] };
	for (size_t k = 0; k < blobs->n; k++)
		out[k] = coreml_new_value(w, blobs->at[k], coreml_text(l->name));
	NodeDef n = { .name = coreml_text(l->name),
		.op = op,
		.domain = "",
		.in = in->at,
		.nin = in->n,
		.out = out,
		.nout = blobs->n,
		.attr = attr,
		.nattr = nattr,
		.source = c };
	vec_push(a, &w->node, n);
}

/* ---- branches */

bool coreml_add_branch(Walk *w, const CoremlLayer *l, const CoremlBranch *p)
{
	const CoremlNetwork *net[] = { p->ifBranch, p->elseBranch };
	Arena *a = w->arena;
	CoremlUses uses = coreml_uses(a);
	CoremlControl *c = arena_new_of(a, CoremlControl);
	NodeGraph *g[2];
	After after[2] = { { 0 }, { 0 } };
	WireTexts blobs = { 0 }, in = { 0 };
	if (l->input.n != 1)
		return fail(w->err, ERR_INPUT, NULL, "layer '%.100s' is a branch with %zu conditions", coreml_text(l->name),
			l->input.n);
	vec_push(a, &in, coreml_value_of(w, l->input.at[0]));
	for (int k = 0; k < 2; k++) {
		g[k] = arena_new_of(a, NodeGraph);
		g[k]->name = k == 0 ? "then" : "else";
		if ((net[k] != NULL && !coreml_list_uses(w, net[k], w->depth + 1, &uses)) ||
			!walk_inside(w, net[k], g[k], &after[k]))
			return false;
	}
	for (size_t i = 0; i < uses.written.n; i++) {
		const char *blob = uses.written.at[i];
		if (reads(&w->all, blob) > reads(&uses, blob) || (w->loops > 0 && coreml_value_of(w, blob) != NULL))
			vec_push(a, &blobs, blob);
	}
	for (int k = 0; k < 2; k++) {
		NodeValue *out = arena_array(a, NodeValue, blobs.n + 1);
		c->place[k] = arena_array(a, int, blobs.n + 1);
		for (size_t i = 0; i < blobs.n; i++) {
			const char *value = value_after(w, &after[k], blobs.at[i]);
			c->place[k][i] = value != NULL ? (int)g[k]->nout : -1;
			if (value != NULL)
				add_result(g[k], out, blobs.at[i], value);
		}
	}
	if (blobs.n > 0)
		add_node(w, l, "branch", &in, &blobs, g, c);
	return true;
}

/* ---- loops */

/* A blob that the condition or the body writes, and that an iteration or a layer behind the loop may read. */
static bool is_carried(const Walk *w, const CoremlUses *uses, int by, const char *blob)
{
	int inside = reads(&uses[0], blob) + reads(&uses[1], blob);
	return coreml_value_of(w, blob) != NULL || reads(&w->all, blob) > inside || reads(&uses[!by], blob) > 0;
}

static void list_carried(Walk *w, const CoremlUses *uses, WireTexts *out)
{
	Names *known = names_new(w->arena);
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < uses[k].written.n; i++) {
			const char *blob = uses[k].written.at[i];
			if (names_taken(known, blob) || !is_carried(w, uses, k, blob))
				continue;
			names_bind(known, blob, 0);
			vec_push(w->arena, out, blob);
		}
}

/* Graph k of a loop: `entry` are its inputs. */
static bool add_part(Walk *w, const CoremlLayer *l, const CoremlLoop *p, int k, const WireTexts *blobs,
	const WireTexts *entry, NodeGraph *g, CoremlControl *c)
{
	Arena *a = w->arena;
	After after = { 0 };
	NodeValue *in = arena_array(a, NodeValue, blobs->n + 1), *out = arena_array(a, NodeValue, blobs->n + 1);
	g->name = k == 0 ? "condition" : "body";
	if (!walk_inside(w, k == 0 ? p->conditionNetwork : p->bodyNetwork, g, &after))
		return false;
	if (k == 0) {
		const char *value = value_after(w, &after, coreml_text(p->conditionVar));
		if (value == NULL)
			return fail(w->err, ERR_INPUT, NULL, "layer '%.100s' is a loop whose condition '%.100s' no layer writes",
				coreml_text(l->name), coreml_text(p->conditionVar));
		add_result(g, out, "condition", value);
	}
	c->writes[k] = arena_array(a, bool, blobs->n + 1);
	for (size_t i = 0; i < blobs->n; i++) {
		const char *value = value_after(w, &after, blobs->at[i]);
		in[i].name = entry->at[i];
		c->writes[k][i] = strcmp(value, entry->at[i]) != 0;
		add_result(g, out, blobs->at[i], value);
	}
	g->in = in;
	g->nin = blobs->n;
	return true;
}

bool coreml_add_loop(Walk *w, const CoremlLayer *l, const CoremlLoop *p)
{
	Arena *a = w->arena;
	CoremlUses uses[] = { coreml_uses(a), coreml_uses(a) };
	CoremlControl *c = arena_new_of(a, CoremlControl);
	NodeGraph *g[] = { NULL, arena_new_of(a, NodeGraph) };
	WireTexts blobs = { 0 }, entry = { 0 }, in = { 0 };
	if (l->input.n > 1 || p->bodyNetwork == NULL)
		return fail(w->err, ERR_INPUT, NULL, "layer '%.100s' is a loop with %zu counts%s", coreml_text(l->name),
			l->input.n, p->bodyNetwork == NULL ? " and without a body" : "");
	/* coremltools gives a loop that only counts a condition without layers and without a name. */
	const CoremlNetwork *cond = p->conditionNetwork;
	bool empty = cond == NULL || (cond->layers.n == 0 && coreml_text(p->conditionVar)[0] == 0);
	*c = (CoremlControl){ .condition = !empty, .counted = l->input.n > 0 };
	c->most = p->maxLoopIterations >= 0 ? p->maxLoopIterations : INT64_MAX; /* unsigned in the file */
	if (c->condition)
		g[0] = arena_new_of(a, NodeGraph);
	if ((c->condition && !coreml_list_uses(w, p->conditionNetwork, w->depth + 1, &uses[0])) ||
		!coreml_list_uses(w, p->bodyNetwork, w->depth + 1, &uses[1]))
		return false;
	list_carried(w, uses, &blobs);
	c->n = (int)blobs.n;
	c->first = arena_array(a, int, blobs.n + 1);
	if (c->counted)
		vec_push(a, &in, coreml_value_of(w, l->input.at[0]));
	for (size_t i = 0; i < blobs.n; i++) {
		const char *before = coreml_value_of(w, blobs.at[i]);
		c->first[i] = before != NULL ? (int)in.n : -1;
		if (before != NULL)
			vec_push(a, &in, before);
		vec_push(a, &entry, coreml_new_value(w, blobs.at[i], arena_printf(a, "%s/carried", coreml_text(l->name))));
	}
	w->loops++;
	for (int k = 0; k < 2; k++)
		if (g[k] != NULL && !add_part(w, l, p, k, &blobs, &entry, g[k], c))
			return false;
	w->loops--;
	if (blobs.n > 0)
		add_node(w, l, "loop", &in, &blobs, g, c);
	return true;
}
