/* See net_estimate.h. Records do not count: they name Tasks of one layout each. */
#include "compile/net_estimate.h"

NetEstimate net_estimate_open(Arena *a, const Target *t)
{
	return (NetEstimate){ .arena = a, .target = t, .cost = cost_or_first(NULL, a, t), .ms = MAP_OF(a) };
}

/* A Task's default by the estimate. */
static bool task_ms(NetEstimate *n, const Task *task, double *ms, Err *err)
{
	MapEntry *e = map_find_text(&n->ms, task->text);
	if (e == NULL) {
		Arena *a = arena_new();
		TaskPlan plan;
		CompileOptions o = { .target = n->target, .cost = &n->cost };
		bool ok = compile_default(ir_new(a), task, &o, &plan, "estimated", err) != NULL;
		arena_free(a);
		if (!ok)
			return false;
		double *at = arena_new_of(n->arena, double);
		*at = plan.estimated_ms;
		e = map_add_text(&n->ms, task->text);
		e->ptr = at;
	}
	*ms = *(double *)e->ptr;
	return true;
}

/* Parts of a concat that no call writes in place: read and written at the rate of the second cache. */
static double copies_ms(const NetEstimate *n, const Dag *d, const Partition *p)
{
	const Core *core = &n->target->core;
	double bytes = 0;
	for (int g = 0; g < p->ngroup; g++) {
		const OpCall *c = &d->call.at[p->group[g].call[0]];
		if (p->group[g].task != NULL || c->op != OP_concat)
			continue;
		int64_t at = p->view[c->out[0]].at;
		for (int k = 0; k < c->nin; k++) {
			const View *v = &p->view[c->in[k]];
			int64_t part = value_bytes(&d->value.at[c->in[k]]);
			bytes += v->of != p->view[c->out[0]].of || v->at != at ? 2.0 * (double)part : 0;
			at += part;
		}
	}
	return bytes / (core->level[1] * core->ghz * 1e6);
}

bool net_estimate_ms(NetEstimate *e, const Dag *d, double *ms, Err *err)
{
	Arena *a = arena_new();
	Partition *p = graph_partition(a, d, err);
	bool ok = p != NULL;
	*ms = ok ? copies_ms(e, d, p) : 0;
	for (int k = 0; ok && k < p->ntask; k++) {
		double one = 0;
		ok = task_ms(e, p->task[k], &one, err);
		*ms += one * p->task[k]->weight;
	}
	arena_free(a);
	return ok;
}
