/*
 * absorb: an elementwise consumer into the block that makes its operand, where that block stores
 * each element finished, at whatever places: Winograd's output tiles, a copy, another elementwise
 * block.  The opposite of inline, which puts a producer into its consumer and has to know where.
 */
#include "schedule/producer.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

/* Block `into` stores t; block b, a Producer of y, reads t[j] and stores y[j]. */
typedef struct Pair {
	BlockPlace into;
	Producer b;
	const Buf *t;
	const Stmt *store;          /* b's */
	int dim_of[IR_MAX_RANK];    /* iterator k of b is t's dimension dim_of[k] */
} Pair;

/* ---- the maker: plain stores to one buffer, once for each instance ---- */

typedef struct Made {
	const char *buf;
	bool plain;
} Made;

static bool see_made(Stmt *s, void *arg)
{
	Made *m = arg;
	if (s->kind == ST_STORE && m->buf == NULL)
		m->buf = s->store.dst.buf;
	m->plain &= s->kind == ST_LET || s->kind == ST_IF || (s->kind == ST_STORE && m->buf == s->store.dst.buf);
	return true;
}

static bool find_maker(Sched *s, const char *name, Pair *p)
{
	Made m = { NULL, true };
	if (!sched_find_block(s, name, &p->into))
		return false;
	const Stmt *b = p->into.block;
	for (int k = 0; k < b->block.n; k++)
		m.plain &= b->block.iter[k].kind == ITER_SPATIAL;
	ir_each_stmt(b->block.body, see_made, &m);
	if (!m.plain || m.buf == NULL || b->block.init != NULL)
		return sched_refuse(s, "absorb", name, "it contains more than stores to one buffer");
	p->t = ir_find_buf(p->into.fn, m.buf);
	if (p->t->role != BUF_WORK || !producer_is_param(p->into.fn, m.buf))
		return sched_refuse_for(s, "absorb", name, "it stores to %s, which is no work parameter", m.buf);
	for (size_t k = 0; k < s->ks->n; k++)
		if (s->ks->fn[k] != p->into.fn && producer_is_param(s->ks->fn[k], m.buf))
			return sched_refuse_for(s, "absorb", name, "another Fn has the buffer %s", m.buf);
	return true;
}

/* ---- the consumer: y[j] = f(t[j]) for all j ---- */

typedef struct Operand {
	Pair *p;
	bool plain;
} Operand;

/* Every load of t is at the same place: each of b's iterators is the index of one dimension. */
static void see_operand(const Expr *e, void *arg)
{
	Operand *o = arg;
	const Stmt *b = o->p->b.at.block;
	if (e->op != IR_LOAD || strcmp(e->name, o->p->t->name) != 0)
		return;
	for (int d = 0; d < e->nargs; d++) {
		int k = 0;
		while (k < b->block.n && (e->arg[d]->op != IR_VAR || b->block.iter[k].name != e->arg[d]->name))
			k++;
		if (k == b->block.n || (o->p->dim_of[k] >= 0 && o->p->dim_of[k] != d))
			o->plain = false;
		else
			o->p->dim_of[k] = d;
	}
}

static bool find_consumer(Sched *s, const char *name, Pair *p)
{
	if (!producer_find_maker(s, "absorb", name, &p->b))
		return false;
	const Stmt *b = p->b.at.block, *body = b->block.body;
	Operand o = { p, true };
	if (p->b.fixed || b->block.init != NULL || body->kind != ST_STORE || body->next != NULL || body->store.mask != NULL)
		return sched_refuse(s, "absorb", name, "it does more than store one value");
	if (producer_touches(p->b.at.block->block.body, p->b.buf->name).loads > 0)
		return sched_refuse_for(s, "absorb", name, "it reads %s, which it writes", p->b.buf->name);
	p->store = body;
	for (int k = 0; k < b->block.n; k++)
		p->dim_of[k] = -1;
	ir_each_node(body->store.value, see_operand, &o);
	for (int k = 0; o.plain && k < b->block.n; k++)
		o.plain = p->dim_of[k] >= 0 && b->block.iter[k].hi == p->t->shape[p->dim_of[k]];
	if (!o.plain || b->block.n != p->t->rank)
		return sched_refuse_for(s, "absorb", name, "its iterators must be the indices of %s, one each", p->t->name);
	return true;
}

/* ---- what lies between ---- */

typedef struct Reads {
	const Pair *p;
	Stmt *from; /* from here to b's nest, nothing that b reads is written */
} Reads;

static bool is_changed(const Expr *e, void *arg)
{
	const Reads *r = arg;
	if (e->op != IR_LOAD || strcmp(e->name, r->p->t->name) == 0)
		return false;
	for (Stmt *c = r->from; c != *r->p->b.top; c = c->next) {
		Touch t = producer_touches_one(c, e->name);
		if (t.writes > 0 || t.strange)
			return true;
	}
	return false;
}

/* b may run where `into` does: what it reads is there already, and nobody looks at y before. */
static bool may_move(Sched *s, const char *name, const Pair *p)
{
	Stmt *from = p->into.fn->body, *to = from;
	while (from != NULL && from != p->into.block && !ir_is_below(from, p->into.block))
		from = from->next;
	for (to = from; to != NULL && to != *p->b.top;)
		to = to->next;
	if (from == NULL || to == NULL || p->into.fn != p->b.at.fn || from == to)
		return sched_refuse_for(
			s, "absorb", name, "it must stand behind block %s, alone in its loops", p->into.block->block.name);
	Touch all = producer_touches(p->into.fn->body, p->t->name), own = producer_touches_one(p->into.block, p->t->name);
	if (all.strange || own.loads > 0 || all.writes != own.writes ||
		all.loads != producer_touches_one(to, p->t->name).loads)
		return sched_refuse_for(s, "absorb", name, "other blocks read or write %s", p->t->name);
	for (Stmt *c = from; c != to; c = c->next) {
		Touch t = producer_touches_one(c, p->b.buf->name);
		if (t.loads > 0 || t.writes > 0 || t.strange)
			return sched_refuse_for(s, "absorb", name, "a statement between the two blocks uses %s", p->b.buf->name);
	}
	const Expr *changed = ir_find_node(p->store->store.value, is_changed, &(Reads){ p, from });
	return changed == NULL ||
	       sched_refuse_for(s, "absorb", name, "a statement between the two blocks writes %s", changed->name);
}

/* ---- the rewriting ---- */

typedef struct Putting {
	Sched *s;
	const Pair *p;
	const Access *at;    /* where `into` stores t */
	const Expr *value;
} Putting;

static const Expr *put(Ir *ir, const Expr *e, void *arg)
{
	const Putting *x = arg;
	const Stmt *b = x->p->b.at.block;
	(void)ir;
	if (e->op == IR_LOAD && strcmp(e->name, x->p->t->name) == 0)
		return x->value;
	for (int k = 0; e->op == IR_VAR && k < b->block.n; k++)
		if (b->block.iter[k].name == e->name)
			return x->at->idx[x->p->dim_of[k]];
	return e;
}

static bool put_store(Stmt *s, void *arg)
{
	Putting x = *(Putting *)arg;
	if (s->kind != ST_STORE)
		return true;
	const Access *to = &x.p->store->store.dst;
	const Expr **idx = arena_array(ir_arena(x.s->ir), const Expr *, to->n + 1);
	Access at = s->store.dst;
	x.at = &at;
	x.value = s->store.value;
	for (int k = 0; k < to->n; k++)
		idx[k] = ir_map_expr(x.s->ir, to->idx[k], put, &x);
	s->store.value = ir_map_expr(x.s->ir, x.p->store->store.value, put, &x);
	s->store.dst = (Access){ to->buf, to->n, idx };
	return true;
}

/* Needs: a block of stores to one work buffer; an elementwise block behind it.  Breaks: the second one. */
bool prim_absorb(Sched *s, const Step *st)
{
	Pair p = { 0 };
	const char *name = st->arg[1].word;
	if (!find_maker(s, st->arg[0].word, &p) || !find_consumer(s, name, &p) || !may_move(s, name, &p))
		return false;
	if (nest_expr_depth(p.into.block->block.body) + nest_expr_depth(p.b.at.block->block.body) > IR_MAX_DEPTH)
		return sched_refuse(s, "absorb", name, "expressions would be nested too deeply");
	Putting x = { .s = s, .p = &p };
	ir_each_stmt(p.into.block->block.body, put_store, &x);
	*p.b.top = (*p.b.top)->next;
	Producer gone = { .at = p.into, .buf = p.t };
	producer_drop_buffer(&gone);
	return true;
}
