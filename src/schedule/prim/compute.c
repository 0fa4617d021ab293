/*
 * compute: another definition of an operator in place of the naive one (op/algo.h).  An algorithm is
 * no rewrite of loops, so nothing may have been rewritten yet; its blocks and loops have names that
 * depend on the task alone, for the steps that follow.
 */
#include "schedule/sched.h"

#include "ir/text/ir_text.h"
#include "op/algo.h"

#include <string.h>

/* Needs: the naive set of a known Dag.  Breaks: all names. */
bool prim_compute(Sched *s, const Step *st)
{
	AlgoArg arg[STEP_ARGS];
	AlgoChoice choice;
	Err err = { 0 };
	const char *name = st->arg[0].word;
	if (s->dag == NULL)
		return sched_refuse(s, "compute", name, "the operators behind the Fns are not known");
	for (int k = 1; k < st->n; k++)
		arg[k - 1] = (AlgoArg){ st->arg[k].word, st->arg[k].num };
	if (!algo_choose(s->dag, name, arg, st->n - 1, &choice, &err))
		return sched_refuse(s, "compute", name, err.text);
	KernelSet *naive = s->ks->n == 1 ? op_naive(s->ir, s->dag, s->ks->fn[0]->name, NAIVE_AS_TYPED, NULL) : NULL;
	if (naive == NULL || strcmp(ir_set_str(ir_arena(s->ir), naive), ir_set_str(ir_arena(s->ir), s->ks)) != 0)
		return sched_refuse(s, "compute", name, "it must be the first step");
	KernelSet *ks = op_compute(s->ir, s->dag, s->ks->fn[0]->name, &choice, &err);
	if (ks == NULL)
		return sched_refuse(s, "compute", name, err.text);
	*s->ks = *ks;
	return true;
}
