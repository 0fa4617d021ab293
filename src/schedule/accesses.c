/* See accesses.h. */
#include "schedule/accesses.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/region/region.h"
#include "ir/simplify/simplify.h"

#include <string.h>

/* ---- who reads and writes a buffer ---- */

static void touch(const IrUse *use, void *arg)
{
	Touch *t = arg;
	t->loads += use->kind == USE_LOAD;
	t->writes += use->kind == USE_STORE || use->kind == USE_REDUCE;
	t->hints += use->kind == USE_PREFETCH;
	t->strange |= use->kind == USE_WINDOW || (use->kind == USE_REDUCE && use->stmt->reduce.atomic);
}

Touch producer_touches(Stmt *list, const char *buf)
{
	Touch t = { .buf = buf };
	ir_each_use_of(list, buf, touch, &t);
	return t;
}

Touch producer_touches_one(Stmt *s, const char *buf)
{
	Stmt *next = s->next;
	s->next = NULL;
	Touch t = producer_touches(s, buf);
	s->next = next;
	return t;
}

/* ---- what a block writes, what statements access ---- */

/* The one buffer, and what is wrong. */
typedef struct Writes {
	const char *buf;
	const char *why;
} Writes;

static void see_buffer(Writes *w, const char *buf)
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
	case ST_STORE: see_buffer(w, s->store.dst.buf); break;
	case ST_REDUCE:
		for (int k = 0; k < s->reduce.n; k++)
			see_buffer(w, s->reduce.dst[k].buf);
		break;
	case ST_FOR:
	case ST_IF:
	case ST_LET: break;
	default: w->why = "it contains more than stores and reductions";
	}
	return true;
}

const char *producer_writes(const Stmt *block, const char **why)
{
	Writes w = { 0 };
	ir_each_below(block, find_writes, &w);
	*why = w.why != NULL || w.buf != NULL ? w.why : "it writes nothing";
	return *why == NULL ? w.buf : NULL;
}

typedef struct Places {
	const char *buf;
	bool (*see)(const Access *at, void *arg);
	void *arg;
	bool good; /* all accesses were seen, and true */
} Places;

static bool see_places(Stmt *s, void *arg)
{
	Places *w = arg;
	if (s->kind == ST_STORE && strcmp(s->store.dst.buf, w->buf) == 0)
		w->good = w->good && w->see(&s->store.dst, w->arg);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		if (strcmp(s->reduce.dst[k].buf, w->buf) == 0)
			w->good = w->good && w->see(&s->reduce.dst[k], w->arg);
	return w->good;
}

bool producer_each_write(const Stmt *block, const char *buf, bool (*f)(const Access *, void *), void *arg)
{
	Places w = { buf, f, arg, true };
	ir_each_below(block, see_places, &w);
	return w.good;
}

bool producer_hull(
	const Sched *s, const Fn *fn, const Stmt *list, const char *buf, int rank, const Expr **lo, const Expr **hi)
{
	bool any = false;
	for (const Stmt *c = list; c != NULL; c = c->next) {
		const Region *r = ir_region_of(s->ir, fn, s->ks, c, buf);
		for (int k = 0; r != NULL && k < rank; k++) {
			lo[k] = any ? ir_min(s->ir, lo[k], r->lo[k]) : r->lo[k];
			hi[k] = any ? ir_max(s->ir, hi[k], r->hi[k]) : r->hi[k];
		}
		any |= r != NULL;
	}
	return any;
}

/* A load, or a variable that is none of the loop and those around it. */
static bool is_inner(const Expr *e, void *arg)
{
	const Place *l = arg;
	if (e->op != IR_VAR)
		return e->op == IR_LOAD;
	for (int k = 0; k < l->naround; k++)
		if (strcmp(l->around[k]->loop.var, e->name) == 0)
			return false;
	return strcmp(l->loop->loop.var, e->name) != 0;
}

bool producer_is_outer(const Place *l, const Expr *e)
{
	return ir_find_node(e, is_inner, (void *)(uintptr_t)l) == NULL;
}

/* ---- accesses that never meet ---- */

static bool binds(const Stmt *s, void *var)
{
	return (s->kind == ST_FOR && strcmp(s->loop.var, var) == 0) || (s->kind == ST_LET && strcmp(s->let.var, var) == 0);
}

/* A load, or a variable of the list. */
static bool is_bound(const Expr *e, void *list)
{
	return e->op == IR_LOAD || (e->op == IR_VAR && ir_find_stmt(list, binds, (void *)(uintptr_t)e->name) != NULL);
}

/* Index k with the values of the block's iterators. */
static const Expr *index_of(Ir *ir, const AccessIn *a, int k)
{
	const Expr *e = a->idx[k];
	for (int i = 0; i < a->block->block.n; i++)
		e = ir_subst(ir, e, a->block->block.iter[i].name, a->block->block.iter[i].value);
	return e;
}

bool producer_apart(Ir *ir, const Stmt *list, AccessIn a, AccessIn b)
{
	void *within = (void *)(uintptr_t)list;
	for (int k = 0; k < a.n; k++) {
		const Expr *x = index_of(ir, &a, k), *y = index_of(ir, &b, k);
		int64_t apart;
		if (ir_find_node(x, is_bound, within) == NULL && ir_find_node(y, is_bound, within) == NULL &&
			ir_is_int(ir_simplify(ir, ir_sub(ir, x, y), NULL), &apart) && apart != 0)
			return true;
	}
	return false;
}

/* ---- what iterations hand on ---- */

typedef struct Written {
	const Stmt *block; /* NULL: none */
	const Access *at;
} Written;

typedef struct Carry {
	Ir *ir;
	const Stmt *loop;
	const Stmt *block; /* the one that is looked at */
	VEC(Written) write; /* what outlives an iteration */
	const char *found;
} Carry;

static void note_write(Carry *c, const Access *at)
{
	Written w = { c->block, at };
	if (nest_outlives(c->loop->loop.body, at->buf))
		vec_push(ir_arena(c->ir), &c->write, w);
}

static bool note_writes(Stmt *s, void *arg)
{
	Carry *c = arg;
	if (s->kind == ST_BLOCK)
		c->block = s;
	if (s->kind == ST_STORE)
		note_write(c, &s->store.dst);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		note_write(c, &s->reduce.dst[k]);
	return true;
}

/* A load of what another block writes. */
static bool is_carried(const Expr *e, void *arg)
{
	const Carry *c = arg;
	for (size_t k = 0; e->op == IR_LOAD && k < c->write.n; k++) {
		const Written *w = &c->write.at[k];
		if (w->block == c->block || strcmp(w->at->buf, e->name) != 0)
			continue;
		if (w->block == NULL || c->block == NULL ||
			!producer_apart(c->ir, c->loop, (AccessIn){ w->block, w->at->idx, w->at->n },
				(AccessIn){ c->block, e->arg, e->nargs }))
			return true;
	}
	return false;
}

static bool look_for_reads(Stmt *s, void *arg)
{
	Carry *c = arg;
	if (s->kind == ST_BLOCK)
		c->block = s;
	const Expr *load = ir_find_node_of(s, is_carried, c);
	if (load != NULL)
		c->found = load->name;
	return c->found == NULL && !nest_is_last(s); /* that one reads what all have written */
}

const char *producer_carries(Ir *ir, const Stmt *loop)
{
	Carry c = { .ir = ir, .loop = loop };
	ir_each_stmt(loop->loop.body, note_writes, &c);
	c.block = NULL;
	ir_each_stmt(loop->loop.body, look_for_reads, &c);
	return c.found;
}

static bool counts(const Stmt *s, void *arg)
{
	return s->kind == ST_REDUCE && s->reduce.atomic && ir_find_buf(arg, s->reduce.dst[0].buf)->role == BUF_ZERO;
}

bool producer_counts(const Fn *fn, const Stmt *s)
{
	return ir_find_below(s, counts, (void *)(uintptr_t)fn) != NULL;
}

/* ---- elsewhere ---- */

typedef struct Rename {
	const char *from, *to;
} Rename;

static const Expr *rename_load(Ir *ir, const Expr *e, void *arg)
{
	const Rename *r = arg;
	if (e->op != IR_LOAD || strcmp(e->name, r->from) != 0)
		return e;
	return ir_load_named(ir, r->to, dtype_scalar(e->type), e->arg, e->nargs);
}

static void rename_access(const char **buf, void *arg)
{
	const Rename *r = arg;
	if (strcmp(*buf, r->from) == 0)
		*buf = r->to;
}

static bool rename_stmt(Stmt *s, void *arg)
{
	ir_each_buf_name(s, rename_access, arg);
	return true;
}

void producer_rename(Ir *ir, Stmt *list, const char *from, const char *to)
{
	Rename r = { from, to };
	ir_map_stmt_named(ir, list, from, rename_load, &r);
	ir_each_stmt(list, rename_stmt, &r);
}

typedef struct Reindex {
	const char *buf;
	IndexFn f;
	void *arg;
} Reindex;

static const Expr **indices(Ir *ir, const Reindex *r, const Expr *const *idx, int n)
{
	const Expr **at = arena_array(ir_arena(ir), const Expr *, n + 1);
	for (int k = 0; k < n; k++)
		at[k] = r->f(ir, k, idx[k], r->arg);
	return at;
}

static const Expr *reindex_load(Ir *ir, const Expr *e, void *arg)
{
	const Reindex *r = arg;
	if (e->op != IR_LOAD || strcmp(e->name, r->buf) != 0)
		return e;
	return ir_load_named(ir, e->name, dtype_scalar(e->type), indices(ir, r, e->arg, e->nargs), e->nargs);
}

typedef struct ReindexIn {
	Ir *ir;
	const Reindex *r;
} ReindexIn;

static bool reindex_stmt(Stmt *s, void *arg)
{
	const ReindexIn *in = arg;
	if (s->kind == ST_STORE && strcmp(s->store.dst.buf, in->r->buf) == 0)
		s->store.dst.idx = indices(in->ir, in->r, s->store.dst.idx, s->store.dst.n);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		if (strcmp(s->reduce.dst[k].buf, in->r->buf) == 0)
			s->reduce.dst[k].idx = indices(in->ir, in->r, s->reduce.dst[k].idx, s->reduce.dst[k].n);
	return true;
}

void producer_reindex(Ir *ir, Stmt *list, const char *buf, IndexFn f, void *arg)
{
	Reindex r = { buf, f, arg };
	ir_each_stmt(list, reindex_stmt, &(ReindexIn){ ir, &r });
	ir_map_stmt_named(ir, list, buf, reindex_load, &r);
}
