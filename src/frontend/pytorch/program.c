/*
 * The one node that a program is for the import, the calls in it, and its results, whose number is known when it has
 * run.
 */
#include "frontend/pytorch/chosen.h"
#include "frontend/pytorch/pytorch.h"

#include <string.h>

enum { MOST_CALLS = 1 << 17, MOST_RESULTS = 256, PART_COST = 64 };

Program *program_of(const Visit *v)
{
	return (Program *)(uintptr_t)v->im->model->source;
}

bool program_check(Visit *v, const NodeDef *node, size_t n)
{
	VEC(NodeDef) missing = { 0 };
	for (size_t k = 0; k < n; k++)
		if (aten_named(program_of(v)->rows, node[k].op) == NULL)
			vec_push(v->im->arena, &missing, node[k]);
	return missing.n == 0 || node_refuse_operators(v->im, missing.at, missing.n);
}

Visit *program_visit(Program *p, const Visit *outer, const char *where, const char *out, const char *op)
{
	NodeDef *node = arena_new_of(p->arena, NodeDef);
	const char **name = arena_array(p->arena, const char *, 1);
	Visit *v = arena_new_of(p->arena, Visit);
	name[0] = out;
	*node = (NodeDef){ .name = out, .op = op, .domain = "", .out = name, .nout = 1 };
	*v = (Visit){ .im = outer->im, .frame = outer->frame, .node = node, .name = where };
	return v;
}

bool program_call(
	Program *p, Visit *outer, const char *where, const char *out, const char *op, const AtenIn *in, TorchValue *result)
{
	Import *im = outer->im;
	const char *domain = strstr(op, "::") != NULL ? "" : "aten::";
	Visit *v = program_visit(p, outer, arena_printf(p->arena, "%.200s (%s%.60s)", where, domain, op), out, op);
	if (++im->nodes > MOST_CALLS)
		return import_refuse(im, ERR_INPUT, "the program calls more than %d operators", MOST_CALLS);
	size_t before = im->dag->value.n;
	if (!aten_call(v, op, in, result))
		return false;
	/* A value that the call made is called after the program's own. */
	if (result->kind == TORCH_TENSOR && result->tensor->item != NULL) {
		int value = result->tensor->item->value;
		if (value != DAG_NONE && (size_t)value >= before && im->dag->value.at[value].kind == VALUE_CALL &&
			!names_taken(im->own, out))
			dag_rename(im->dag, value, out);
	}
	return true;
}

/* Rows that are not there are zeros in a result, and another result says how many are. */
static Item *without_others(Program *p, Visit *v, const char *name, TorchTensor *t)
{
	Item *it = torch_item(v, t);
	const TorchChosen *c = torch_chosen(t);
	if (c == NULL || !node_ok(v))
		return it;
	int rows = torch_chosen_rows(v, c, it->shape.dim[0], it->shape.rank);
	it = node_new_item(v, node_where(v, rows, node_item_value(v, it), node_number(v, it->type, 0)));
	for (size_t k = 0; k < p->count.n; k++)
		if (p->count.at[k] == c->count)
			return it;
	vec_push(p->arena, &p->count, c->count);
	vec_push(p->arena, &p->counted, name);
	return it;
}

static void add_result(Program *p, Visit *v, const char *name, TorchTensor *t)
{
	if (p->result.n >= MOST_RESULTS)
		node_fail(v, ERR_UNSUPPORTED, "the program gives more than %d tensors", MOST_RESULTS);
	const char *as = name;
	bool again = true;
	while (again) { /* names of results are one's own */
		again = false;
		for (size_t k = 0; k < p->result.n && !again; k++)
			again = strcmp(p->result.at[k].name, as) == 0;
		for (size_t k = 0; k < p->input.n && !again; k++)
			again = strcmp(p->input.at[k].name, as) == 0;
		as = again ? arena_printf(p->arena, "%s_out", as) : as;
	}
	const char *reads = arena_printf(p->arena, "result %zu", p->result.n);
	vec_push(p->arena, &p->result, ((NodeValue){ .name = as, .reads = reads }));
	Item *it = without_others(p, v, as, t);
	if (node_ok(v))
		import_define(v->im, v->frame, reads, it);
}

static void give(Program *p, Visit *v, const char *name, TorchValue x, int depth)
{
	if (!node_ok(v))
		return;
	const char *lost = x.kind == TORCH_LIST || x.kind == TORCH_TUPLE || x.kind == TORCH_DICT ? x.list->lost
	                   : x.kind == TORCH_OBJECT                                              ? x.object->state->lost
	                   : x.kind == TORCH_LOST                                                ? x.text
	                                                                                         : NULL;
	if (lost != NULL) {
		node_fail(v, ERR_UNSUPPORTED, "its result '%.60s': %s", name, lost);
	} else if (depth > 8) {
		node_fail(v, ERR_UNSUPPORTED, "its result is nested more than 8 deep");
	} else if (x.kind == TORCH_TENSOR) {
		add_result(p, v, name, x.tensor);
	} else if (torch_is_number(x)) {
		int64_t i = x.i;
		DType t = x.kind == TORCH_FLOAT ? F64 : x.kind == TORCH_BOOL ? BOOL : I64;
		void *data = x.kind == TORCH_FLOAT ? arena_copy(p->arena, &x.f, 8) : arena_copy(p->arena, &i, 8);
		add_result(p, v, name, torch_of(v, node_const(v, t, shape_of(0, NULL), data)).tensor);
	} else if (x.kind == TORCH_LIST || x.kind == TORCH_TUPLE || x.kind == TORCH_DICT) {
		bool dict = x.kind == TORCH_DICT;
		torch_spend(v, PART_COST * (int64_t)x.list->n); /* lists that hold one list many times are small in a file */
		for (size_t k = 0; k < x.list->n && node_ok(v); k += dict ? 2 : 1) {
			const char *part = arena_printf(p->arena, "%s.%zu", name, k);
			if (dict)
				part = torch_str(p->arena, x.list->at[k], 100);
			give(p, v, part, x.list->at[dict ? k + 1 : k], depth + 1);
		}
	} else if (x.kind == TORCH_OBJECT) { /* a named tuple */
		for (size_t k = 0; k + 1 < x.object->state->n && node_ok(v); k += 2)
			give(p, v, torch_str(p->arena, x.object->state->at[k], 100), x.object->state->at[k + 1], depth + 1);
	} else if (x.kind != TORCH_NONE) {
		node_fail(
			v, ERR_UNSUPPORTED, "its result '%.60s' is a %s; dlc gives tensors only", name, torch_kind_name(x.kind));
	}
}

void program_result(Program *p, Visit *v, const char *name, TorchValue x)
{
	give(p, v, name, x, 0);
}

void program_counts(Program *p, Visit *v)
{
	for (size_t k = 0; k < p->count.n && node_ok(v); k++)
		add_result(p, v, arena_printf(p->arena, "%s.count", p->counted.at[k]), torch_of(v, p->count.at[k]).tensor);
}

bool program_read(Program *p, const char *entry, Bytes *out, Err *err)
{
	int64_t k = archive_find(p->archive, arena_printf(p->arena, "%s%s", p->root, entry));
	return k >= 0 && archive_read(p->archive, (size_t)k, out, err);
}

const char *program_entry(Program *p, const char *entry)
{
	const char *name = arena_printf(p->arena, "%s%s", p->root, entry);
	return archive_find(p->archive, name) >= 0 ? name : NULL;
}
