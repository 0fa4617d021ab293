/*
 * A workload's identity is its canonical text; its label is for people, short, and not unique:
 * "conv3x3 64>64 56 +relu", "mul+add+relu+conv1x1 64>128 56 /2", "dense 512>1000".
 */
#include "op/task.h"

#include "base/json.h"
#include "op/shape.h"

#include <stdio.h>
#include <string.h>

static void add_extents(Text *t, const int64_t *v, int n)
{
	bool square = n > 1;
	for (int k = 1; k < n; k++)
		square &= v[k] == v[0];
	for (int k = 0; k < (square ? 1 : n); k++)
		text_add(t, "%s%lld", k > 0 ? "x" : "", (long long)v[k]);
}

static void add_window(Text *t, const Dag *d, const OpCall *c)
{
	Window w;
	const Value *x = op_in(d, c, 0), *y = &d->value.at[c->out[0]];
	if (!op_window(d, c, &w, NULL))
		return;
	long long in = (long long)x->shape.dim[1], out = (long long)y->shape.dim[1];
	int64_t groups = c->op == OP_conv ? op_int(c, "groups") : 1;
	bool depthwise = groups > 1 && groups == in;
	text_add(t, "%s%s", depthwise ? "dw" : "", op_row(c->op)->name);
	bool strided = false;
	for (int k = 0; k < w.n; k++) {
		text_add(t, "%s%lld", k > 0 ? "x" : "", (long long)w.kernel[k]);
		strided |= w.stride[k] != 1;
	}
	if (in == out && (depthwise || c->op != OP_conv))
		text_add(t, " %lld ", in);
	else
		text_add(t, " %lld>%lld ", in, out);
	add_extents(t, w.out, w.n);
	if (strided) {
		text_add(t, " /");
		add_extents(t, w.stride, w.n);
	}
	if (groups > 1 && !depthwise)
		text_add(t, " g%lld", (long long)groups);
	if (x->shape.dim[0] != 1)
		text_add(t, " b%lld", (long long)x->shape.dim[0]);
}

/* The call that a Task is named after: its anchor, else its first reduction, else its first call. */
static int main_call(const Dag *d)
{
	int at = -1, best = -1;
	for (size_t i = 0; i < d->call.n; i++) {
		OpClass class = op_row(d->call.at[i].op)->class;
		int rank = class == OP_ANCHOR ? 2 : class == OP_REDUCTION ? 1 : 0;
		if (rank > best) {
			best = rank;
			at = (int)i;
		}
	}
	return at;
}

/* How many calls are the prologue of an anchor or reduction: those before it, if all are elementwise. */
static int prologue_of(const Dag *d, int at)
{
	OpClass class = at >= 0 ? op_row(d->call.at[at].op)->class : OP_ELEMENTWISE;
	for (int i = 0; i < at; i++)
		if (op_row(d->call.at[i].op)->class != OP_ELEMENTWISE)
			return 0;
	return at > 0 && class != OP_ELEMENTWISE && class != OP_MOVE ? at : 0;
}

static void add_main(Text *t, const Dag *d, const OpCall *c)
{
	char s[160];
	const Value *x = op_in(d, c, 0), *y = &d->value.at[c->out[0]];
	switch (c->op) {
	case OP_conv:
	case OP_max_pool:
	case OP_avg_pool: add_window(t, d, c); break;
	case OP_dense: {
		const Shape *w = &op_in(d, c, 1)->shape;
		double rows = (double)shape_elements(x->shape) / (double)(w->dim[1] > 0 ? w->dim[1] : 1);
		text_add(t, "dense %lld>%lld", (long long)w->dim[1], (long long)w->dim[0]);
		if (rows != 1)
			text_add(t, " m%.0f", rows);
		break;
	}
	case OP_matmul:
		text_add(t, "matmul %s by ", shape_str(x->shape, s));
		text_add(t, "%s", shape_str(op_in(d, c, 1)->shape, s));
		break;
	default:
		text_add(
			t, "%s %s", op_row(c->op)->name, shape_str(op_row(c->op)->class == OP_REDUCTION ? x->shape : y->shape, s));
	}
}

static const char *label_of(Arena *a, const Dag *d)
{
	enum { NAMED = 6 };
	Text t = { .arena = a };
	int at = main_call(d), more = 0, before = prologue_of(d, at);
	if (at < 0)
		return "nothing";
	for (int i = 0; i < before; i++)
		text_add(&t, "%s+", op_row(d->call.at[i].op)->name);
	add_main(&t, d, &d->call.at[at]);
	for (int i = before; i < (int)d->call.n; i++) {
		if (i == at)
			continue;
		if (more++ < NAMED)
			text_add(&t, "%s%s", more == 1 ? " +" : "+", op_row(d->call.at[i].op)->name);
	}
	if (more > NAMED)
		text_add(&t, "+%d", more - NAMED);
	const Value *y = &d->value.at[d->call.at[at].out[0]];
	char dt[DTYPE_TEXT];
	if (!dtype_eq(y->type, F32))
		text_add(&t, " %s", dtype_print(y->type, dt));
	if (dag_allows_tf32(d))
		text_add(&t, " tf32");
	return text_str(&t);
}

/* The record's line, with the id if it is given. A canonical text is ASCII, so this cannot fail. */
static const char *record_line(Arena *a, const char *text, const char *id)
{
	Text line = { .arena = a };
	Json *r = json_new(a, JV_OBJECT);
	json_set(a, r, "kind", json_new_text(a, "workload"));
	json_set(a, r, "dag", json_new_text(a, text));
	if (id != NULL)
		json_set(a, r, "id", json_new_text(a, id));
	json_write_canonical(&line, r, NULL);
	return text_str(&line);
}

const char *task_record(Arena *a, const Task *t)
{
	char hex[HASH_HEX];
	hash_hex(t->id, hex);
	return record_line(a, t->text, hex);
}

Task *task_new_map(Arena *a, const Dag *d, int *map, Err *err)
{
	Dag *canonical = dag_canonical(a, d, map, err);
	if (canonical == NULL)
		return NULL;
	Task *t = arena_new_of(a, Task);
	t->dag = canonical;
	t->text = dag_str(a, canonical);
	const char *line = record_line(a, t->text, NULL);
	t->id = hash_of("dlc/workload/v1", line, strlen(line));
	t->label = label_of(a, canonical);
	t->flops = dag_flops(canonical);
	t->bytes = dag_bytes(canonical);
	t->weight = 1;
	return t;
}

Task *task_new(Arena *a, const Dag *d, Err *err)
{
	return task_new_map(a, d, NULL, err);
}

Task *task_parse(Arena *a, const char *text, size_t n, Err *err)
{
	Dag *d = dag_parse(a, "workload", text, n, err);
	Task *t = d != NULL ? task_new(a, d, err) : NULL;
	if (t != NULL && (strlen(t->text) != n || memcmp(t->text, text, n) != 0)) {
		fail(err, ERR_INPUT, "workload", "the text of the workload is not in canonical form");
		return NULL;
	}
	return t;
}
