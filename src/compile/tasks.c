/*
 * The Tasks of a model on a target: passes, layouts, partition, and the alternative of each region. A lock
 * names it, or else the fastest by the databases' times of its Tasks is taken; if they lack times, the first
 * one.
 */
#include "compile/choose.h"
#include "compile/lock_file.h"
#include "db/rank.h"
#include "graph/without.h"
#include "graph/pairs.h"

Partition *compile_tasks(Arena *a, Dag *dag, const Target *t, Err *err)
{
	if (t != NULL && target_has_blocks(t) && !graph_leave_out(dag, "taps", err)) /* its threads have no such lanes */
		return NULL;
	if (t != NULL && target_has_warps(t) && !graph_leave_out(dag, "group_norm", err)) /* images are in rows */
		return NULL;
	if (!graph_optimize(dag, compile_eval, err))
		return NULL;
	if (target_has_warps(t) && !graph_unjoin_attention(dag, err))
		return NULL;
	graph_layouts(dag, t);
	if (target_has_warps(t) && !compile_channels_last(dag, t, err))
		return NULL;
	if (t != NULL && !target_has_warps(t) && graph_does(dag, FEATURE_OF_GRAPH_orders) && !compile_orders(dag, t, err))
		return NULL;
	Partition *p = graph_partition(a, dag, err);
	if (p != NULL && t->blocks.warp > 1)
		return graph_pairs(a, dag, p, err) ? p : NULL;
	return p != NULL ? graph_near_pairs(a, dag, t, p, err) : NULL;
}

/* ---- the partition that is compiled ---- */

static bool as_locked(const Partition *p, const CompileOptions *o, int *choice, Err *err)
{
	for (int r = 0; r < p->nregion; r++) {
		choice[r] = lock_taken(o->lock, &p->region[r]);
		if (choice[r] >= p->region[r].n)
			return fail(err, ERR_INPUT, o->lock_name,
				"names alternative %d of %s, which has only %d; delete the file to choose anew", choice[r],
				p->region[r].alternative[0].group[0].task->label, p->region[r].n);
	}
	return true;
}

enum { UNASKED = -2 };

/* The times of the partition's Tasks, from the runs that `whose` admits; UNASKED until one is needed. */
typedef struct Costs {
	const CompileOptions *o;
	DbWhose whose;
	double *ms;
} Costs;

static Costs costs_of(Arena *a, int tasks, const CompileOptions *o, DbWhose whose)
{
	Costs c = { o, whose, arena_array(a, double, tasks + 1) };
	for (int k = 0; k < tasks; k++)
		c.ms[k] = UNASKED;
	return c;
}

static bool timed_inside(const Alternative *x, const Costs *c, bool *is, Err *err)
{
	*is = true;
	for (int i = 0; i < x->ngroup && *is; i++)
		if (!compile_timed_inside(x->group[i].task, c->o, is, err))
			return false;
	return true;
}

/*
 * A tuner that found the network slower with an alternative has stored no times inside the network for its Tasks. So
 * they are asked for where the first alternative's Tasks have them. A tuner itself tries what is fast alone.
 */
static bool admitted(const Region *x, int k, const Costs *c, bool *is, Err *err)
{
	bool first;
	*is = true;
	if (k == 0 || c->o->trace_of != NULL || c->whose != DB_OWN)
		return true;
	return timed_inside(&x->alternative[0], c, &first, err) &&
		(!first || timed_inside(&x->alternative[k], c, is, err));
}

/* *choice < 0: the first alternative has no time, so the others cannot be compared with it. */
static bool choose_region(const Region *x, const Costs *c, int *choice, Err *err)
{
	*choice = -1;
	for (int k = 0; k < x->n; k++) {
		const Alternative *asked = &x->alternative[k];
		for (int i = 0; i < asked->ngroup; i++) {
			double *at = &c->ms[asked->group[i].number];
			if (*at == UNASKED && !compile_recorded_ms(asked->group[i].task, c->o, c->whose, at, err))
				return false;
			if (*at < 0)
				break; /* one Task without a time, and the alternative has none */
		}
		if (k == 0 && graph_cost(&x->alternative[0], c->ms) < 0)
			return true;
	}
	*choice = graph_choose(x, c->ms);
	bool is;
	if (!admitted(x, *choice, c, &is, err))
		return false;
	*choice = is ? *choice : 0;
	return true;
}

/* Times of others are not compared with own ones. */
static bool by_cost(Arena *a, const Partition *p, const CompileOptions *o, int *choice, Err *err)
{
	DbSet set = { o->db, o->ndb };
	int all = p->ntask + p->nmore;
	Costs own = costs_of(a, all, o, DB_OWN), hints = costs_of(a, all, o, DB_DECIDED);
	if (!db_hold(set, err))
		return false;
	bool ok = true;
	for (int r = 0; ok && r < p->nregion; r++) {
		ok = choose_region(&p->region[r], &own, &choice[r], err) &&
			(choice[r] >= 0 || choose_region(&p->region[r], &hints, &choice[r], err));
		choice[r] = choice[r] < 0 ? 0 : choice[r];
	}
	db_release(set);
	return ok;
}

Partition *compile_partition(Arena *a, Dag *dag, const CompileOptions *o, Err *err)
{
	Partition *p = compile_tasks(a, dag, o->target, err);
	if (p == NULL || o->unscheduled || (o->ndb == 0 && o->lock == NULL))
		return p;
	int *choice = arena_array(a, int, p->nregion + 1);
	bool chosen = o->lock != NULL ? as_locked(p, o, choice, err) : by_cost(a, p, o, choice, err);
	return chosen ? graph_take(a, p, choice) : NULL;
}

void compile_print_regions(Text *out, const Partition *p)
{
	for (int r = 0; r < p->nregion; r++) {
		const Region *x = &p->region[r];
		text_add(out, "region %d", r);
		for (int k = 0; k < x->n; k++) {
			text_add(out, k == 0 ? ": " : " | ");
			for (int i = 0; i < x->alternative[k].ngroup; i++)
				text_add(out, "%s%s", i > 0 ? ", " : "", x->alternative[k].group[i].task->label);
			if (k == x->taken)
				text_add(out, " (taken)");
		}
		text_add(out, "\n");
	}
}
