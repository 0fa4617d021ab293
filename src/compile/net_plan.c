/*
 * See net_plan.h. The order: places for inputs, outputs and constants; the steps, group by group; then all prepare
 * Fns at once, which make the constants that steps read; lifetimes from the steps; then memplan lays the values out.
 */
#include "compile/net_plan.h"

#include "base/map.h"
#include "ir/arg.h"

#include <string.h>

typedef struct Planner {
	NetPlan *plan;
	const Dag *d;
	const Partition *part;
	KernelSet *const *sets;
	PrepareFn prepare;
	const View *view; /* of each value: in whose memory it lies */
	MapIndex constant; /* the plan's constants by their bytes */
	Map prepared;      /* by the Task and its constants: the numbers of those that its prepare Fns make */
	VEC(PrepareJob) job;
	VEC(const Prepared *) made; /* by all jobs; constant k of them is -1 - k until they are done */
	Err *err;
} Planner;

/* An empty tensor in the arena still needs an address. */
static int64_t work_bytes(int64_t bytes)
{
	return bytes > 0 ? bytes : 1;
}

/* ---- places ---- */

_Static_assert(VIEW_ALIGN % PLAN_ALIGN == 0, "windows of aligned memory are aligned");

/* 16 TiB: sums of sizes up to here do not overflow. */
#define MOST_BYTES ((int64_t)1 << 44)

static bool add_work(Planner *p, const char *name, int64_t bytes, int step, Place *out)
{
	NetPlan *plan = p->plan;
	if (bytes < 0 || bytes > MOST_BYTES)
		return fail(p->err, ERR_MEMORY, name, "it is larger than the memory of any machine");
	PlanItem item = { .bytes = work_bytes(bytes), .first = step, .last = step };
	vec_push(plan->arena, &plan->item, item);
	*out = (Place){ .kind = PLACE_WORK, .index = (int)plan->item.n - 1, .bytes = bytes, .name = name };
	return true;
}

/* All groups use the same bytes of the state, since each leaves them zero. */
static bool add_state(Planner *p, const char *name, int64_t bytes, int64_t *used, Place *out)
{
	if (bytes < 0 || bytes > MOST_BYTES)
		return fail(p->err, ERR_MEMORY, name, "it is larger than the memory of any machine");
	*out = (Place){ .kind = PLACE_STATE, .offset = *used, .bytes = bytes, .name = name };
	*used += (work_bytes(bytes) + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
	p->plan->state_bytes = *used > p->plan->state_bytes ? *used : p->plan->state_bytes;
	return true;
}

static void use_place(NetPlan *plan, const Place *at, int step)
{
	if (at->kind == PLACE_WORK && plan->item.at[at->index].last < step)
		plan->item.at[at->index].last = step;
}

/* Of a constant's size and of at most SAMPLES of its bytes, spread over all of it. */
static uint32_t const_hash(const void *data, int64_t bytes)
{
	enum { SAMPLES = 512 };
	const unsigned char *p = data;
	uint64_t h = (uint64_t)bytes;
	int64_t step = bytes / SAMPLES + 1;
	for (int64_t k = 0; k < bytes; k += step)
		h = h * 0x9e3779b97f4a7c15u + p[k] + 1;
	return map_hash(h);
}

/* Equal constants are one: passes make the same of one weight for each of the calls that read it. */
static Place const_place(Planner *p, const char *name, const void *data, int64_t bytes)
{
	enum { MOST_COMPARED = 8 }; /* of the same hash */
	NetPlan *plan = p->plan;
	uint32_t hash = const_hash(data, bytes), found = MAP_NONE;
	int compared = 0;
	for (uint32_t at = hash, k; found == MAP_NONE && compared < MOST_COMPARED; compared++) {
		if ((k = map_next(&p->constant, hash, &at)) == MAP_NONE)
			break;
		const PlanConst *c = &plan->constant.at[k];
		if (c->bytes == bytes && (c->data == data || memcmp(c->data, data, (size_t)bytes) == 0))
			found = k;
	}
	if (found == MAP_NONE) {
		PlanConst c = { data, bytes };
		found = map_index_add(&p->constant, hash);
		vec_push(plan->arena, &plan->constant, c);
	}
	return (Place){ .kind = PLACE_CONST, .index = (int)found, .bytes = bytes, .name = name };
}

/* Places a value that has memory of its own, by its kind. */
static bool place_own(Planner *p, int v, int step, Place *at)
{
	const Value *value = &p->d->value.at[v];
	int64_t bytes = value_bytes(value);
	/* The first output that covers the value's whole memory is written in place; others are copied at the end. */
	int output = -1;
	for (int k = 0; k < (int)p->d->output.n && output < 0; k++) {
		const View *o = &p->view[p->d->output.at[k]];
		if (o->of == v && o->at == 0 && value_bytes(&p->d->value.at[p->d->output.at[k]]) == bytes)
			output = k;
	}
	if (value->kind == VALUE_CONST) {
		if (value->data == NULL)
			return fail(p->err, ERR_INPUT, value->name, "the constant has no data");
		*at = const_place(p, value->name, value->data, bytes);
	} else if (value->kind == VALUE_INPUT) {
		int k = 0;
		while (p->d->input.at[k] != v)
			k++;
		*at = (Place){ .kind = PLACE_INPUT, .index = k, .bytes = bytes };
	} else if (output >= 0) {
		*at = (Place){ .kind = PLACE_OUTPUT, .index = output, .bytes = bytes };
	} else {
		return add_work(p, value->name, bytes, step, at);
	}
	return true;
}

/* Places a value at its first use. */
static bool place_value(Planner *p, int v, int step, Place *out)
{
	const Value *value = &p->d->value.at[v];
	Place *at = &p->plan->value[p->view[v].of];
	if (at->bytes < 0 && !place_own(p, p->view[v].of, step, at))
		return false;
	use_place(p->plan, at, step);
	*out = *at;
	out->offset = p->view[v].at;
	out->bytes = value_bytes(value);
	out->name = value->name;
	out->layout = value->layout;
	return true;
}

/* ---- one group ---- */

typedef struct Named {
	const char *name; /* of a buffer of the set */
	Place place;
} Named;

typedef struct Bound {
	VEC(Named) at;
} Bound;

static const Place *find_bound(const Bound *b, const char *name)
{
	for (size_t i = 0; i < b->at.n; i++)
		if (strcmp(b->at.at[i].name, name) == 0)
			return &b->at.at[i].place;
	return NULL;
}

static void bind(Planner *p, Bound *b, const char *name, Place place)
{
	Named n = { name, place };
	vec_push(p->plan->arena, &b->at, n);
}

static int nth_value(const Dag *d, ValueKind kind, int n)
{
	for (size_t v = 0; v < d->value.n; v++)
		if (d->value.at[v].kind == kind && n-- == 0)
			return (int)v;
	return -1;
}

/* Maps the names of the task's parameters to the places of the group's values. */
static bool bind_values(Planner *p, const Group *g, int step, Bound *b)
{
	const Dag *t = g->task->dag;
	for (int k = 0; k < g->nin; k++) {
		int v = k < (int)t->input.n ? t->input.at[k] : nth_value(t, VALUE_CONST, k - (int)t->input.n);
		Place place;
		if (!place_value(p, g->in[k], step, &place))
			return false;
		bind(p, b, t->value.at[v].name, place);
	}
	for (int k = 0; k < g->nout; k++) {
		Place place;
		if (!place_value(p, g->out[k], step, &place))
			return false;
		bind(p, b, t->value.at[t->output.at[k]].name, place);
	}
	return true;
}

/* -1: it overflows. */
static int64_t buf_bytes(const Buf *buf)
{
	int64_t n = ir_buf_elements(buf, NULL, 0);
	return n < 0 ? -1 : dtype_bytes(buf->type, n);
}

/*
 * The numbers of the constants that the prepare Fns of a Task make. Groups of one Task that read the same constants
 * share them: a network that is written out over its steps has hundreds of such groups.
 */
static const int *prepare_once(Planner *p, const PrepareJob *job)
{
	Arena *a = p->plan->arena;
	const void **key = arena_array(a, const void *, job->n + 1);
	key[job->n] = p->sets[job->task];
	for (int k = 0; k < job->n; k++)
		key[k] = job->given[k].data;
	MapEntry *e = map_add_bytes(&p->prepared, key, sizeof *key * (size_t)(job->n + 1));
	if (e->ptr != NULL)
		return e->ptr;
	int *number = arena_array(a, int, job->nout);
	for (int k = 0; k < job->nout; k++) {
		number[k] = -1 - (int)p->made.n;
		vec_push(a, &p->made, &job->out[k]);
	}
	vec_push(a, &p->job, *job);
	e->ptr = number;
	return number;
}

/* Constants that the prepare Fns make of the group's own weights. */
static bool bind_prepared(Planner *p, int task, Bound *b)
{
	const KernelSet *ks = p->sets[task];
	Arena *a = p->plan->arena;
	VEC(Prepared) given = { 0 }, made = { 0 };
	for (size_t i = 0; i < ks->n; i++) {
		const Fn *fn = ks->fn[i];
		for (int k = 0; fn->kind == FN_PREPARE && k < fn->nparam; k++) {
			const Buf *buf = fn->param[k].buf;
			if (buf == NULL)
				continue;
			const Place *place = find_bound(b, buf->name);
			int64_t bytes = buf_bytes(buf);
			if (bytes < 0 || bytes > MOST_BYTES)
				return fail(p->err, ERR_MEMORY, buf->name, "it is larger than the memory of any machine");
			Prepared row = { buf->name, NULL, bytes };
			if (place != NULL && place->kind == PLACE_CONST) {
				row.data = (void *)(uintptr_t)p->plan->constant.at[place->index].data;
				vec_push(a, &given, row);
			} else if (buf->role == BUF_OUT) {
				vec_push(a, &made, row);
			}
		}
	}
	if (made.n == 0)
		return true;
	const int *number = prepare_once(p, &(PrepareJob){ task, given.at, (int)given.n, made.at, (int)made.n });
	for (size_t i = 0; i < made.n; i++)
		bind(p, b, made.at[i].name,
			(Place){ PLACE_CONST, number[i], .bytes = made.at[i].bytes, .name = made.at[i].name });
	return true;
}

/* Does all jobs; their constants get the numbers that they keep. */
static bool prepare_all(Planner *p)
{
	NetPlan *plan = p->plan;
	if (p->job.n == 0)
		return true;
	if (!p->prepare.run(p->job.at, (int)p->job.n, p->prepare.arg, p->err))
		return false;
	int *number = arena_array(plan->arena, int, p->made.n);
	for (size_t k = 0; k < p->made.n; k++)
		number[k] = const_place(p, p->made.at[k]->name, p->made.at[k]->data, p->made.at[k]->bytes).index;
	for (size_t i = 0; i < plan->step.n; i++)
		for (int k = 0; k < plan->step.at[i].n; k++) {
			Place *at = &plan->step.at[i].place[k];
			if (at->kind == PLACE_CONST && at->index < 0)
				at->index = number[-1 - at->index];
		}
	return true;
}

/* Work buffers that several run Fns of the set name live from the first call to the last. */
static bool add_calls(Planner *p, const Group *g, int task, Bound *b)
{
	const KernelSet *ks = p->sets[task];
	NetPlan *plan = p->plan;
	int64_t state = 0; /* bytes of the group so far */
	for (size_t i = 0; i < ks->n; i++) {
		const Fn *fn = ks->fn[i];
		if (fn->kind != FN_RUN)
			continue;
		int step = (int)plan->step.n;
		PlanStep s = { .task = task, .fn = fn->name, .label = g->task->label };
		s.place = arena_array(plan->arena, Place, fn->nparam);
		for (int k = 0; k < fn->nparam; k++) {
			const Buf *buf = fn->param[k].buf;
			if (buf == NULL)
				continue;
			if (find_bound(b, buf->name) == NULL) {
				Place own;
				if (buf->role == BUF_ZERO ? !add_state(p, buf->name, buf_bytes(buf), &state, &own)
										  : !add_work(p, buf->name, buf_bytes(buf), step, &own))
					return false;
				bind(p, b, buf->name, own);
			}
			const Place *at = find_bound(b, buf->name);
			use_place(plan, at, step);
			s.place[s.n++] = *at;
		}
		vec_push(plan->arena, &plan->step, s);
	}
	return true;
}

static void add_copy(Planner *p, Place to, Place from)
{
	NetPlan *plan = p->plan;
	PlanStep s = { .task = -1, .fn = "copy", .label = "copy", .n = 2 };
	s.place = arena_array(plan->arena, Place, 2);
	s.place[0] = to;
	s.place[1] = from;
	vec_push(plan->arena, &plan->step, s);
}

/* Copies the parts of a concat that are not written in place. */
static bool add_parts(Planner *p, const OpCall *c)
{
	int y = c->out[0];
	int64_t at = p->view[y].at;
	for (int k = 0; k < c->nin; k++) {
		const View *v = &p->view[c->in[k]];
		int64_t bytes = value_bytes(&p->d->value.at[c->in[k]]);
		if ((v->of != p->view[y].of || v->at != at) && bytes > 0) {
			Place from, to;
			int step = (int)p->plan->step.n;
			if (!place_value(p, y, step, &to) || !place_value(p, c->in[k], step, &from))
				return false;
			to.offset = at;
			to.bytes = bytes;
			add_copy(p, to, from);
		}
		at += bytes;
	}
	return true;
}

/* Counts a group of transpositions alone at an input or an output. */
static void count_moves(Planner *p, const Group *g)
{
	for (int k = 0; k < g->ncall; k++)
		if (p->d->call.at[g->call[k]].op != OP_transpose)
			return;
	for (int k = 0; k < g->nin; k++)
		p->plan->moves_in += p->d->value.at[p->view[g->in[k]].of].kind == VALUE_INPUT;
	for (int k = 0; k < g->nout; k++)
		for (size_t i = 0; i < p->d->output.n; i++)
			p->plan->moves_out += p->view[p->d->output.at[i]].of == p->view[g->out[k]].of;
}

static bool add_group(Planner *p, const Group *g)
{
	const OpCall *first = &p->d->call.at[g->call[0]];
	if (g->task == NULL)
		return first->op != OP_concat || add_parts(p, first);
	Bound b = { 0 };
	count_moves(p, g);
	return bind_values(p, g, (int)p->plan->step.n, &b) && bind_prepared(p, g->number, &b) &&
	       add_calls(p, g, g->number, &b);
}

NetPlan *plan_network(
	Arena *a, const Dag *d, const Partition *part, KernelSet *const *sets, PrepareFn prepare, Err *err)
{
	NetPlan *plan = arena_new_of(a, NetPlan);
	plan->arena = a;
	plan->dag = d;
	plan->value = arena_array(a, Place, d->value.n);
	for (size_t v = 0; v < d->value.n; v++)
		plan->value[v].bytes = -1;
	Planner p = {
		.plan = plan, .d = d, .part = part, .view = part->view, .sets = sets, .prepare = prepare, .err = err
	};
	p.constant.arena = a;
	p.prepared = MAP_OF(a);
	for (int g = 0; g < part->ngroup; g++)
		if (!add_group(&p, &part->group[g]))
			return NULL;
	if (!prepare_all(&p))
		return NULL;
	for (size_t k = 0; k < d->output.n; k++) { /* copies the outputs that no kernel writes in place */
		Place from, to;
		if (!place_value(&p, d->output.at[k], (int)plan->step.n, &from))
			return NULL;
		if (from.kind == PLACE_OUTPUT && from.index == (int)k && from.offset == 0)
			continue;
		to = from;
		to.kind = PLACE_OUTPUT;
		to.index = (int)k;
		to.offset = 0;
		add_copy(&p, to, from);
	}
	plan->work_bytes = memplan(plan->item.at, (int)plan->item.n, a);
	plan->live_bytes = memplan_live(plan->item.at, (int)plan->item.n, a);
	return plan;
}

static void print_place(Text *out, const NetPlan *p, const Place *at)
{
	static const char *const kind[] = { "input", "output", "const", "work", "state" };
	text_add(out, "%s:%s", at->name, kind[at->kind]);
	if (at->kind == PLACE_INPUT || at->kind == PLACE_OUTPUT)
		text_add(out, "%d", at->index);
	if (at->kind == PLACE_WORK)
		text_add(out, "+%lld", (long long)(p->item.at[at->index].offset + at->offset));
	else if (at->offset != 0 || at->kind == PLACE_STATE)
		text_add(out, "+%lld", (long long)at->offset);
	text_add(
		out, "[%lld%s%s]", (long long)at->bytes, at->layout != NULL ? " " : "", at->layout != NULL ? at->layout : "");
}

void plan_print(Text *out, const NetPlan *p)
{
	text_add(out, "workspace %lld bytes, largest live set %lld\n", (long long)p->work_bytes, (long long)p->live_bytes);
	text_add(out, "layout moves %d of inputs, %d of outputs\n", p->moves_in, p->moves_out);
	for (size_t i = 0; i < p->step.n; i++) {
		const PlanStep *s = &p->step.at[i];
		text_add(out, "%zu %s", i, s->task < 0 ? "copy" : "call");
		if (s->task >= 0)
			text_add(out, " task %d %s (%s)", s->task, s->fn, s->label);
		for (int k = 0; k < s->n; k++) {
			text_add(out, " ");
			print_place(out, p, &s->place[k]);
		}
		text_add(out, "\n");
	}
}
