/* inline: the value that a block stores takes the place of each load of it. See producer.h. */
#include "schedule/producer.h"

#include "ir/walk.h"

#include <string.h>

typedef struct Inlining {
	const Producer *p;
	const Expr *value;
	const Expr *const *at; /* indices of the load that is being replaced */
} Inlining;

static const Expr *put_index(Ir *ir, const Expr *e, void *arg)
{
	const Inlining *x = arg;
	(void)ir;
	for (int k = 0; e->op == IR_VAR && k < x->p->buf->rank; k++)
		if (x->p->at.block->block.iter[x->p->iter_of[k]].name == e->name)
			return x->at[k];
	return e;
}

static const Expr *put_value(Ir *ir, const Expr *e, void *arg)
{
	Inlining x = *(Inlining *)arg;
	if (e->op != IR_LOAD || strcmp(e->name, x.p->buf->name) != 0)
		return e;
	x.at = e->arg;
	return ir_map_expr(ir, x.value, put_index, &x);
}

/* Needs: a block that stores one value, alone in its loops.  Breaks: the block, its loops, its buffer. */
bool prim_inline(Sched *s, const Step *st)
{
	Producer p;
	const char *name = st->arg[0].word;
	if (!producer_find(s, "inline", name, &p))
		return false;
	Stmt *body = p.at.block->block.body;
	if (p.fixed || p.at.block->block.init != NULL || body->kind != ST_STORE || body->next != NULL ||
		body->store.mask != NULL)
		return sched_refuse(s, "inline", name, "it does more than store one value");
	if (producer_touches(body, p.buf->name).loads > 0)
		return sched_refuse(s, "inline", name, "it reads what it writes");
	if (producer_touches((*p.top)->next, p.buf->name).loads != producer_touches(p.at.fn->body, p.buf->name).loads)
		return sched_refuse_for(s, "inline", name, "%s is also read before it", p.buf->name);
	if (!producer_inputs_stay(s, "inline", name, &p))
		return false;
	if (nest_expr_depth((*p.top)->next) + body->store.value->depth > IR_MAX_DEPTH)
		return sched_refuse(s, "inline", name, "expressions would be nested too deeply");
	Inlining x = { .p = &p, .value = body->store.value };
	ir_map_stmt(s->ir, (*p.top)->next, put_value, &x);
	*p.top = (*p.top)->next;
	producer_drop_buffer(&p);
	return true;
}
