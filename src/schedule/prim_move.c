/*
 * The primitives that bring a producer to its consumer: inline puts the value in place of the load,
 * compute_at makes the part that one iteration of the consumer's loop needs, in that iteration.
 *
 * Both read the same facts: one block makes a whole buffer, each element at the place its spatial
 * iterators say; nobody else writes it; and nothing that the block reads changes before the last of
 * its consumers. What is read where is derived (ir_regions), never declared.
 */
#include "schedule/nest.h"
#include "schedule/sched.h"

#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/walk.h"

#include <string.h>

/* A block that makes all of one buffer, and the loops that hold nothing but it. */
typedef struct Producer {
	BlockPlace at;
	Stmt **top; /* the link to the outermost of those loops, or to the block */
	const Buf *buf;
	Stmt **alloc;   /* the link to the buffer's alloc; NULL: a parameter */
	int iter_of[IR_MAX_RANK]; /* dimension k is indexed by this iterator of the block */
} Producer;

/* ---- who reads and writes a buffer ---- */

typedef struct Touch {
	const char *buf;
	int loads, writes;
	bool strange; /* a call or an atomic sees it */
} Touch;

static void touch_load(const Expr *e, void *arg)
{
	Touch *t = arg;
	t->loads += e->op == IR_LOAD && strcmp(e->name, t->buf) == 0;
}

static void touch_expr(const Expr *e, void *arg)
{
	ir_each_node(e, touch_load, arg);
}

static bool touch_stmt(Stmt *s, void *arg)
{
	Touch *t = arg;
	ir_each_expr(s, touch_expr, t);
	if (s->kind == ST_STORE)
		t->writes += strcmp(s->store.dst.buf, t->buf) == 0;
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++) {
		bool own = strcmp(s->reduce.dst[k].buf, t->buf) == 0;
		t->writes += own;
		t->strange |= own && s->reduce.atomic;
	}
	for (int k = 0; s->kind == ST_CALL && k < s->call.n; k++)
		t->strange |= s->call.arg[k].buf != NULL && strcmp(s->call.arg[k].buf, t->buf) == 0;
	return true;
}

static Touch touches(Stmt *list, const char *buf)
{
	Touch t = { .buf = buf };
	ir_each_stmt(list, touch_stmt, &t);
	return t;
}

/* Of one statement, its siblings not included. */
static Touch touches_one(Stmt *s, const char *buf)
{
	Stmt *next = s->next;
	s->next = NULL;
	Touch t = touches(s, buf);
	s->next = next;
	return t;
}

static bool is_param(const Fn *fn, const char *buf)
{
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL && strcmp(fn->param[k].buf->name, buf) == 0)
			return true;
	return false;
}

/* ---- the producer ---- */

static Stmt **find_alloc(Stmt **list, const char *buf)
{
	for (; *list != NULL; list = &(*list)->next) {
		Stmt *s = *list, **below = NULL;
		if (s->kind == ST_ALLOC && strcmp(s->alloc->name, buf) == 0)
			return list;
		if (s->kind == ST_FOR)
			below = find_alloc(&s->loop.body, buf);
		if (s->kind == ST_IF && (below = find_alloc(&s->branch.then, buf)) == NULL)
			below = find_alloc(&s->branch.other, buf);
		if (below != NULL)
			return below;
	}
	return NULL;
}

/* The one buffer that the block writes; *why says what is wrong. */
typedef struct Writes {
	const char *buf;
	const char *why;
} Writes;

static void note_write(Writes *w, const char *buf)
{
	if (w->buf == NULL)
		w->buf = buf;
	else if (strcmp(w->buf, buf) != 0)
		w->why = "it writes more than one buffer";
}

static bool find_writes(Stmt *s, void *arg)
{
	Writes *w = arg;
	switch (s->kind) {
	case ST_STORE: note_write(w, s->store.dst.buf); break;
	case ST_REDUCE:
		for (int k = 0; k < s->reduce.n; k++)
			note_write(w, s->reduce.dst[k].buf);
		break;
	case ST_FOR:
	case ST_IF:
	case ST_LET: break;
	default: w->why = "it is not of stores and reductions alone";
	}
	return true;
}

static int iter_named(const Stmt *block, const Expr *e)
{
	for (int k = 0; e->op == IR_VAR && k < block->block.n; k++)
		if (block->block.iter[k].name == e->name && block->block.iter[k].kind == ITER_SPATIAL)
			return k;
	return -1;
}

typedef struct Indexing {
	Producer *p;
	bool plain, first;
} Indexing;

static void see_access(Indexing *x, const char *buf, const Expr *const *idx, int n)
{
	if (strcmp(buf, x->p->buf->name) != 0)
		return;
	for (int k = 0; k < n; k++) {
		int it = iter_named(x->p->at.block, idx[k]);
		if (it < 0 || (!x->first && it != x->p->iter_of[k]))
			x->plain = false;
		x->p->iter_of[k] = it;
	}
	x->first = false;
}

static void see_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		see_access(arg, e->name, e->arg, e->nargs);
}

static void see_loads(const Expr *e, void *arg)
{
	ir_each_node(e, see_load, arg);
}

static bool see_stmt(Stmt *s, void *arg)
{
	if (s->kind == ST_STORE)
		see_access(arg, s->store.dst.buf, s->store.dst.idx, s->store.dst.n);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		see_access(arg, s->reduce.dst[k].buf, s->reduce.dst[k].idx, s->reduce.dst[k].n);
	ir_each_expr(s, see_loads, arg);
	return true;
}

/* Element (i, j, ..) is made by the instance whose iterators are (i, j, ..), for all of the buffer. */
static bool covers(Producer *p)
{
	Stmt *b = p->at.block;
	Indexing x = { p, true, true };
	ir_each_stmt(b->block.init, see_stmt, &x);
	ir_each_stmt(b->block.body, see_stmt, &x);
	for (int k = 0, spatial = 0; x.plain && k < b->block.n; k++) {
		spatial += b->block.iter[k].kind == ITER_SPATIAL;
		x.plain = b->block.iter[k].kind != ITER_SCAN && (k + 1 < b->block.n || spatial == p->buf->rank);
	}
	for (int k = 0; x.plain && k < p->buf->rank; k++) {
		const Iter *it = &b->block.iter[p->iter_of[k]];
		x.plain = ir_is_const(it->lo, 0) && it->hi == p->buf->shape[k];
		for (int j = 0; j < k; j++)
			x.plain = x.plain && p->iter_of[j] != p->iter_of[k];
	}
	return x.plain;
}

/* The loops around the block that hold nothing else. */
static void find_top(Producer *p)
{
	BlockPlace *at = &p->at;
	Stmt *inner = at->block;
	p->top = at->link;
	for (int k = at->naround - 1; k >= 0; k--) {
		Stmt *l = at->around[k];
		if (l->loop.body != inner || inner->next != NULL)
			break;
		inner = l;
		p->top = k > 0 ? &at->around[k - 1]->loop.body : &at->fn->body;
		while (*p->top != l)
			p->top = &(*p->top)->next;
	}
}

static bool other_fn_touches(const Sched *s, const Producer *p)
{
	for (size_t k = 0; k < s->ks->n; k++)
		if (s->ks->fn[k] != p->at.fn && is_param(s->ks->fn[k], p->buf->name))
			return true;
	return false;
}

static bool find_producer(Sched *s, const char *what, const char *name, Producer *p)
{
	*p = (Producer){ 0 };
	if (!sched_find_block(s, name, &p->at))
		return false;
	Stmt *b = p->at.block;
	Writes w = { 0 };
	ir_each_stmt(b->block.init, find_writes, &w);
	ir_each_stmt(b->block.body, find_writes, &w);
	if (w.buf == NULL || w.why != NULL)
		return sched_refuse(s, what, name, w.why != NULL ? w.why : "it writes nothing");
	p->buf = ir_find_buf(p->at.fn, w.buf);
	if (p->buf->role != BUF_WORK || other_fn_touches(s, p))
		return sched_refuse_for(s, what, name, "others see the buffer that it writes,", w.buf);
	if (b->block.where != NULL)
		return sched_refuse(s, what, name, "it has a predicate: do this before its loops are split");
	if (!covers(p))
		return sched_refuse_for(s, what, name, "its iterators are not, one by one, the indices of", w.buf);
	if (touches(p->at.fn->body, w.buf).strange)
		return sched_refuse_for(s, what, name, "a call or an atomic statement uses", w.buf);
	if (touches(p->at.fn->body, w.buf).writes != touches_one(b, w.buf).writes)
		return sched_refuse_for(s, what, name, "another block writes", w.buf);
	find_top(p);
	p->alloc = is_param(p->at.fn, w.buf) ? NULL : find_alloc(&p->at.fn->body, w.buf);
	return true;
}

/* ---- what the block reads stays as it is until the consumers have run ---- */

typedef struct Changes {
	Stmt *behind; /* what comes after the producer, in its list */
	const char *own;
	const char *changed;
} Changes;

static void check_read(const Expr *e, void *arg)
{
	Changes *c = arg;
	if (e->op != IR_LOAD || c->changed != NULL || strcmp(e->name, c->own) == 0)
		return;
	Touch t = touches(c->behind, e->name);
	if (t.writes > 0 || t.strange)
		c->changed = e->name;
}

static void check_reads(const Expr *e, void *arg)
{
	ir_each_node(e, check_read, arg);
}

static bool check_stmt(Stmt *s, void *arg)
{
	ir_each_expr(s, check_reads, arg);
	return true;
}

static bool inputs_stay(Sched *s, const char *what, const char *name, const Producer *p)
{
	Changes c = { .behind = (*p->top)->next, .own = p->buf->name };
	ir_each_stmt(p->at.block->block.init, check_stmt, &c);
	ir_each_stmt(p->at.block->block.body, check_stmt, &c);
	return c.changed == NULL || sched_refuse_for(s, what, name, "what it reads is written again behind it:", c.changed);
}

/* The buffer's declaration goes, as a parameter or as an alloc. */
static void remove_buffer(Producer *p)
{
	Fn *fn = p->at.fn;
	int n = 0;
	if (p->alloc != NULL) {
		Stmt **link = find_alloc(&fn->body, p->buf->name);
		*link = (*link)->next;
		return;
	}
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != p->buf)
			fn->param[n++] = fn->param[k];
	fn->nparam = n;
}

/* ---- inline ---- */

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
	if (!find_producer(s, "inline", name, &p))
		return false;
	Stmt *body = p.at.block->block.body;
	if (p.at.block->block.init != NULL || body->kind != ST_STORE || body->next != NULL || body->store.mask != NULL)
		return sched_refuse(s, "inline", name, "it does more than store one value");
	if (touches(body, p.buf->name).loads > 0)
		return sched_refuse(s, "inline", name, "it reads what it writes");
	if (touches((*p.top)->next, p.buf->name).loads != touches(p.at.fn->body, p.buf->name).loads)
		return sched_refuse_for(s, "inline", name, "not only what follows it reads", p.buf->name);
	if (!inputs_stay(s, "inline", name, &p))
		return false;
	if (nest_expr_depth((*p.top)->next) + body->store.value->depth > IR_MAX_DEPTH)
		return sched_refuse(s, "inline", name, "expressions would be nested too deeply");
	Inlining x = { .p = &p, .value = body->store.value };
	ir_map_stmt(s->ir, (*p.top)->next, put_value, &x);
	*p.top = (*p.top)->next;
	remove_buffer(&p);
	return true;
}

/* ---- compute_at ---- */

/* The part of the buffer that one iteration needs: extent[k] elements from lo[k]. */
typedef struct Part {
	const Expr *lo[IR_MAX_RANK];
	int64_t extent[IR_MAX_RANK];
} Part;

static bool stands_in(Stmt *s, const Stmt *inner)
{
	if (s == inner)
		return true;
	if (s->kind == ST_FOR)
		for (Stmt *c = s->loop.body; c != NULL; c = c->next)
			if (stands_in(c, inner))
				return true;
	return false;
}

/* Hull of what the statements of the loop's body read of the buffer. */
static bool hull_of(Sched *s, const Producer *p, const Place *l, const Expr **lo, const Expr **hi)
{
	bool any = false;
	for (Stmt *c = l->loop->loop.body; c != NULL; c = c->next) {
		int n;
		const Region *r = ir_regions(s->ir, l->fn, s->ks, c, &n);
		for (int i = 0; i < n; i++) {
			if (strcmp(r[i].buf, p->buf->name) != 0)
				continue;
			for (int k = 0; k < p->buf->rank; k++) {
				lo[k] = any ? ir_min(s->ir, lo[k], r[i].lo[k]) : r[i].lo[k];
				hi[k] = any ? ir_max(s->ir, hi[k], r[i].hi[k]) : r[i].hi[k];
			}
			any = true;
		}
	}
	return any;
}

static bool find_part(Sched *s, const Producer *p, const Place *l, Part *out)
{
	const Expr *lo[IR_MAX_RANK], *hi[IR_MAX_RANK];
	const Range *env = ir_range_at(s->ir, l->fn, l->loop->loop.body);
	if (!hull_of(s, p, l, lo, hi))
		return sched_refuse_for(s, "compute_at", p->at.block->block.name, "nothing there reads", p->buf->name);
	for (int k = 0; k < p->buf->rank; k++) {
		int64_t all;
		if (!ir_is_int(p->buf->shape[k], &all))
			return sched_refuse_for(s, "compute_at", p->at.block->block.name, "an extent is not constant of", p->buf->name);
		Interval n = ir_interval(ir_simplify(s->ir, ir_sub(s->ir, hi[k], lo[k]), env), env);
		bool whole = n.hi < 1 || n.hi >= all;
		out->lo[k] = whole ? ir_int(s->ir, 0) : ir_simplify(s->ir, lo[k], env);
		out->extent[k] = whole ? all : n.hi;
	}
	return true;
}

/* The block's own loops, made anew for the part; NULL and a refusal where a name is taken. */
static Stmt *make_nest(Sched *s, Producer *p, const Place *l, const Part *part)
{
	Ir *ir = s->ir;
	Stmt *b = p->at.block, *nest = b;
	const Expr *where = NULL;
	const char *var[IR_MAX_DEPTH];
	const Expr *lo[IR_MAX_DEPTH], *hi[IR_MAX_DEPTH];
	const Range *env = ir_range_at(ir, l->fn, l->loop->loop.body);
	if (b->block.n + nest_depth(p->at.fn->body) > IR_MAX_DEPTH) {
		sched_refuse(s, "compute_at", b->block.name, "loops would be nested too deeply");
		return NULL;
	}
	for (int k = 0; k < b->block.n; k++) {
		Iter *it = &b->block.iter[k];
		const char *stem = it->name[0] == 'v' && it->name[1] != 0 ? it->name + 1 : it->name;
		bool free = !nest_has_name(p->at.fn, stem);
		for (int j = 0; j < k; j++)
			free = free && var[j] != ir_name(ir, stem);
		for (Stmt *old = *p->top; !free && old != b; old = old->loop.body)
			free = strcmp(old->loop.var, stem) == 0; /* that loop goes */
		if (!free) {
			sched_refuse_for(s, "compute_at", b->block.name, "there is already something called", stem);
			return NULL;
		}
		var[k] = ir_name(ir, stem);
		lo[k] = it->lo;
		hi[k] = it->hi;
		for (int j = 0; j < b->block.n; j++)
			if (ir_uses_var(it->lo, b->block.iter[j].name) || ir_uses_var(it->hi, b->block.iter[j].name)) {
				sched_refuse_for(s, "compute_at", b->block.name, "a range depends on iterator", b->block.iter[j].name);
				return NULL;
			}
	}
	for (int k = 0; k < b->block.n; k++)
		b->block.iter[k].value = ir_idx(ir, var[k]);
	for (int d = 0; d < p->buf->rank; d++) {
		int k = p->iter_of[d];
		const Expr *n = ir_int(ir, part->extent[d]), *zero = ir_int(ir, 0);
		const Expr *at = ir_add(ir, part->lo[d], ir_idx(ir, var[k]));
		const Range *in = ir_range_for(ir, var[k], zero, n, env);
		lo[k] = zero;
		hi[k] = n;
		b->block.iter[k].value = at;
		const Expr *inside = ir_lt(ir, at, p->buf->shape[d]), *above = ir_le(ir, zero, at);
		if (!ir_always(above, in))
			where = where != NULL ? ir_and(ir, where, above) : above;
		if (!ir_always(inside, in))
			where = where != NULL ? ir_and(ir, where, inside) : inside;
	}
	b->block.where = where;
	b->next = NULL;
	for (int k = b->block.n - 1; k >= 0; k--)
		nest = ir_for(ir, var[k], lo[k], hi[k], LOOP_SERIAL, nest);
	return nest;
}

typedef struct Rebase {
	Ir *ir;
	const char *buf;
	int rank;
	const Part *part;
} Rebase;

static const Expr **from_part(const Rebase *r, const Expr *const *idx)
{
	const Expr **at = arena_array(ir_arena(r->ir), const Expr *, r->rank + 1);
	for (int k = 0; k < r->rank; k++)
		at[k] = ir_is_const(r->part->lo[k], 0) ? idx[k] : ir_sub(r->ir, idx[k], r->part->lo[k]);
	return at;
}

static const Expr *rebase_load(Ir *ir, const Expr *e, void *arg)
{
	const Rebase *r = arg;
	if (e->op != IR_LOAD || strcmp(e->name, r->buf) != 0)
		return e;
	return ir_load_named(ir, e->name, dtype_scalar(e->type), from_part(r, e->arg), e->nargs);
}

static bool rebase_stmt(Stmt *s, void *arg)
{
	const Rebase *r = arg;
	if (s->kind == ST_STORE && strcmp(s->store.dst.buf, r->buf) == 0)
		s->store.dst.idx = from_part(r, s->store.dst.idx);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		if (strcmp(s->reduce.dst[k].buf, r->buf) == 0)
			s->reduce.dst[k].idx = from_part(r, s->reduce.dst[k].idx);
	return true;
}

static bool may_compute_at(Sched *s, const Producer *p, const Place *l)
{
	const char *name = p->at.block->block.name;
	Stmt *c = (*p->top)->next;
	while (c != NULL && (p->at.fn != l->fn || !stands_in(c, l->loop)))
		c = c->next;
	if (c == NULL)
		return sched_refuse_for(s, "compute_at", name, "it does not stand before, in one body with, loop",
			l->loop->loop.var);
	for (int k = 0; k <= l->naround; k++) {
		const Stmt *loop = k < l->naround ? l->around[k] : l->loop;
		if (loop->loop.kind == LOOP_VECTOR || loop->loop.kind == LOOP_BOUND)
			return sched_refuse_for(s, "compute_at", name, "no work is put into a vector or bound loop,", loop->loop.var);
	}
	int own = touches_one(*p->top, p->buf->name).loads;
	if (touches(l->loop->loop.body, p->buf->name).loads + own != touches(p->at.fn->body, p->buf->name).loads)
		return sched_refuse_for(s, "compute_at", name, "outside of that loop, too, is read", p->buf->name);
	return inputs_stay(s, "compute_at", name, p);
}

/*
 * Needs: a block that makes all of a work buffer, alone in its loops; all readers of the buffer below
 * the loop.  Breaks: the block's loops (made anew, named after its iterators) and the buffer's place
 * and size: it becomes an alloc of what one iteration needs.
 */
bool prim_compute_at(Sched *s, const Step *st)
{
	Producer p;
	Place l;
	Part part;
	if (!find_producer(s, "compute_at", st->arg[0].word, &p) || !sched_find_loop(s, st->arg[1].word, &l) ||
		!may_compute_at(s, &p, &l) || !find_part(s, &p, &l, &part))
		return false;
	Stmt *old = *p.top, *nest = make_nest(s, &p, &l, &part);
	if (nest == NULL)
		return false;
	*p.top = old->next;
	remove_buffer(&p);
	Buf *own = ir_buf(s->ir, p.buf->name, BUF_WORK, p.buf->type, "local", part.extent, p.buf->rank);
	Stmt *body = ir_seq(nest, l.loop->loop.body);
	Rebase r = { s->ir, p.buf->name, p.buf->rank, &part };
	ir_each_stmt(body, rebase_stmt, &r);
	ir_map_stmt(s->ir, body, rebase_load, &r);
	l.loop->loop.body = ir_seq(ir_alloc(s->ir, own), body);
	return true;
}
