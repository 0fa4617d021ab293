/*
 * The primitive that leaves out the terms of a reduction that change nothing: taps of a convolution or
 * a pooling that lie in the padding are not computed.
 */
#include "schedule/sched.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

static const Expr *and_also(Ir *ir, const Expr *a, const Expr *b)
{
	return a == NULL ? b : b == NULL ? a : ir_and(ir, a, b);
}

/*
 * e without its select whose other arm is `nothing`; *cond is where that arm is not taken. A condition that loads stays
 * in its select: the conditions around it may be those under which it may load.
 */
static const Expr *strip_select(Ir *ir, const Expr *e, const Expr *nothing, const Expr **cond)
{
	if (e->op != IR_SELECT || e->arg[0]->type.lanes != 1 || ir_has_load(e->arg[0]))
		return e;
	if (e->arg[2] == nothing) {
		*cond = and_also(ir, *cond, e->arg[0]);
		return strip_select(ir, e->arg[1], nothing, cond);
	}
	if (e->arg[1] == nothing) {
		*cond = and_also(ir, *cond, ir_unary(ir, IR_NOT, e->arg[0]));
		return strip_select(ir, e->arg[2], nothing, cond);
	}
	return e;
}

/* The same in every factor of a product, which is zero where one of them is. */
static const Expr *strip_factors(Ir *ir, const Expr *e, const Expr *zero, const Expr **cond)
{
	if (e->op != IR_MUL)
		return strip_select(ir, e, zero, cond);
	const Expr *arg[2] = { strip_factors(ir, e->arg[0], zero, cond), strip_factors(ir, e->arg[1], zero, cond) };
	return ir_with_args(ir, e, arg);
}

/* What is left of the value of a reduction, and (not NULL) where it has any effect. */
static const Expr *effective(Ir *ir, const KernelSet *ks, const Stmt *s, const Expr **cond)
{
	*cond = NULL;
	if (s->reduce.n != 1 || s->reduce.old != NULL || s->reduce.mask != NULL)
		return NULL;
	const Expr *v = s->reduce.value[0];
	const Monoid *m = ir_find_monoid(ks, s->reduce.monoid, v->type);
	if (m == NULL || m->n != 1)
		return NULL;
	return strcmp(m->name, "sum") == 0 ? strip_factors(ir, v, m->identity[0], cond)
		                           : strip_select(ir, v, m->identity[0], cond);
}

bool nest_skips(const KernelSet *ks, const Stmt *reduce)
{
	const Expr *cond;
	effective(ks->ir, ks, reduce, &cond);
	return cond != NULL;
}

typedef struct Skip {
	Sched *s;
	int reductions;
	bool plain; /* one that has an effect everywhere */
} Skip;

static bool check_skip(Stmt *s, void *arg)
{
	Skip *k = arg;
	const Expr *cond;
	if (s->kind == ST_REDUCE) {
		k->reductions++;
		effective(k->s->ir, k->s->ks, s, &cond);
		k->plain |= cond == NULL;
	}
	return true;
}

/* The statement stays where it is in the tree and becomes the if; a new one is the reduction. */
static bool do_skip(Stmt *s, void *arg)
{
	Skip *k = arg;
	const Expr *cond;
	if (s->kind != ST_REDUCE)
		return true;
	const Expr *value = effective(k->s->ir, k->s->ks, s, &cond);
	Stmt *inner = ir_stmt(k->s->ir, ST_REDUCE), *next = s->next;
	*inner = *s;
	inner->next = NULL;
	inner->reduce.value[0] = value;
	*s = *ir_if(k->s->ir, cond, inner, NULL);
	s->next = next;
	return false;
}

/* Needs: reductions of selects that combine the identity.  Breaks: nothing; a NaN or infinity times 0 is 0. */
bool prim_skip(Sched *s, const Step *st)
{
	BlockPlace p;
	Skip k = { .s = s };
	if (!sched_find_block(s, st->arg[0].word, &p))
		return false;
	ir_each_stmt(p.block->block.body, check_skip, &k);
	if (k.reductions == 0)
		return sched_refuse(s, "skip", p.block->block.name, "it reduces nothing");
	if (k.plain)
		return sched_refuse(s, "skip", p.block->block.name,
			"each value that it reduces must be a select, or a product with one, whose other arm changes nothing");
	ir_each_stmt(p.block->block.body, do_skip, &k);
	return true;
}
