/*
 * The primitives that bring near what an iteration of a loop reads: a copy of that part of a tensor, made
 * before it is read (cache_read); a request for the part that a later iteration will read (prefetch).
 */
#include "schedule/producer.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "interp/interp.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

/* Of a copy; requests and iterations to share them; the bits of a cache line, of most machines at least. */
enum { CACHE_ELEMENTS = 1 << 16, REQUESTS = 1 << 12, ITERATIONS = 1 << 30, LINE_BITS = 512 };

/* What the block reads of T in one iteration of the loop: n[k] elements from lo[k], fewer where hi[k] is before. */
typedef struct Part {
	const char *buf; /* T */
	Buf *copy;
	int rank;
	const Expr *lo[IR_MAX_RANK], *hi[IR_MAX_RANK];
	int64_t n[IR_MAX_RANK];
} Part;

static bool find_region(Sched *s, const char *what, const Buf *t, const Fn *fn, const Stmt *c, Part *out)
{
	int n;
	const Region *r = ir_regions(s->ir, fn, s->ks, c, &n), *own = NULL;
	const Range *env = ir_range_at(s->ir, fn, c);
	for (int i = 0; i < n; i++)
		if (strcmp(r[i].buf, t->name) == 0 && r[i].n == t->rank)
			own = &r[i];
	for (int k = 0; own != NULL && k < t->rank; k++) {
		int64_t all;
		if (!ir_is_int(t->shape[k], &all))
			return sched_refuse(s, what, t->name, "its shape is not constant");
		out->n[k] = producer_most(s->ir, own->hi[k], own->lo[k], env);
		bool whole = out->n[k] < 1 || out->n[k] >= all;
		out->n[k] = whole ? all : out->n[k];
		out->lo[k] = whole ? ir_int(s->ir, 0) : own->lo[k];
		out->hi[k] = whole ? t->shape[k] : own->hi[k];
	}
	out->rank = t->rank;
	return own != NULL || sched_refuse_for(s, what, t->name, "nothing reads it in", "that loop");
}

/* for t.c.0, ..: block t.c: copy[i - lo] = t[i] where i lies in the part, and in t */
static Stmt *fill_nest(Sched *s, const Part *p, const Buf *t, const char *const *loop, const Range *env)
{
	Ir *ir = s->ir;
	Iter it[IR_MAX_RANK];
	const Expr *at[IR_MAX_RANK], *to[IR_MAX_RANK], *where = NULL;
	for (int k = 0; k < p->rank; k++) {
		const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop[k]));
		const Expr *value = ir_add(ir, p->lo[k], ir_idx(ir, loop[k]));
		it[k] = (Iter){ name, ITER_SPATIAL, ir_int(ir, 0), t->shape[k], value };
		at[k] = ir_idx(ir, name);
		to[k] = ir_sub(ir, at[k], p->lo[k]);
		const Range *in = ir_range_for(ir, loop[k], ir_int(ir, 0), ir_int(ir, p->n[k]), env);
		const Expr *inside[3] = { ir_le(ir, ir_int(ir, 0), value), ir_lt(ir, value, t->shape[k]),
			ir_lt(ir, value, p->hi[k]) };
		bool clipped = ir_always(ir_le(ir, p->hi[k], t->shape[k]), env);
		for (int i = 0; i < 3; i++)
			if (!(i == 1 && clipped) && !ir_always(inside[i], in))
				where = where == NULL ? inside[i] : ir_and(ir, where, inside[i]);
	}
	Stmt *store = ir_store(ir, p->copy, to, p->rank, ir_load(ir, t, at, p->rank));
	Stmt *nest = ir_block(ir, p->copy->name, it, p->rank, where, NULL, store);
	for (int k = p->rank - 1; k >= 0; k--)
		nest = ir_for(ir, loop[k], ir_int(ir, 0), ir_int(ir, p->n[k]), LOOP_SERIAL, nest);
	return nest;
}

static const Expr *read_copy(Ir *ir, const Expr *e, void *arg)
{
	const Part *p = arg;
	const Expr *idx[IR_MAX_RANK];
	if (e->op != IR_LOAD || strcmp(e->name, p->buf) != 0)
		return e;
	for (int k = 0; k < e->nargs; k++)
		idx[k] = ir_sub(ir, e->arg[k], p->lo[k]);
	return ir_load_named(ir, p->copy->name, dtype_scalar(e->type), idx, e->nargs);
}

/* The buffer that the block reads, which all of the loop leaves as it is. */
static const Buf *find_source(Sched *s, const char *what, const char *name, const BlockPlace *b, const Place *l)
{
	const Buf *t = producer_is_param(b->fn, name) ? ir_find_buf(b->fn, name) : NULL;
	const char *why = t == NULL ? "it is not a parameter of the block's Fn"
	                  : t->role == BUF_OUT || t->role == BUF_WORK
	                          ? "it is not an input or a constant: not all of it may be there"
	                  : t->rank == 0 ? "it has one element"
	                                 : NULL;
	if (why == NULL) {
		Touch in = producer_touches(l->loop->loop.body, name);
		if (in.writes > 0 || in.strange)
			why = "in that loop it is written, or a call uses it";
		else if (producer_touches_one(b->block, name).loads == 0)
			why = "that block does not read it";
	}
	if (why != NULL)
		sched_refuse(s, what, name, why);
	return why == NULL ? t : NULL;
}

static bool may_put(Sched *s, const char *what, const char *name, const BlockPlace *b, const Place *l)
{
	bool around = false;
	for (int k = 0; k < b->naround; k++)
		around |= b->around[k] == l->loop;
	if (!around)
		return sched_refuse_for(s, what, name, "the block does not stand in loop", l->loop->loop.var);
	for (int k = 0; k <= l->naround; k++) {
		const Stmt *loop = k < l->naround ? l->around[k] : l->loop;
		if (loop->loop.kind == LOOP_VECTOR || loop->loop.kind == LOOP_BOUND)
			return sched_refuse_for(
				s, what, name, "no work is put into a vector or bound loop,", loop->loop.var);
	}
	if (nest_depth(b->fn->body) + IR_MAX_RANK > IR_MAX_DEPTH || nest_expr_depth(b->fn->body) + 16 > IR_MAX_DEPTH)
		return sched_refuse(s, what, name, "loops or indices would be nested too deeply");
	return true;
}

/*
 * What both primitives need: the statement of the loop's body that the block stands in, before which work
 * is put, and what that statement reads of the tensor. NULL, refused: there is none.
 */
static Stmt **find_part(Sched *s, const Step *st, const char *what, BlockPlace *b, Place *l, const Buf **t, Part *p)
{
	const char *name = st->arg[0].word;
	if (!sched_find_block(s, st->arg[1].word, b) || !sched_find_loop(s, st->arg[2].word, l) ||
		!may_put(s, what, name, b, l) || (*t = find_source(s, what, name, b, l)) == NULL)
		return NULL;
	*p = (Part){ .buf = (*t)->name };
	Stmt **link = nest_link_to(&l->loop->loop.body, b->block);
	if (link == NULL)
		sched_refuse_for(s, what, name, "not only loops and conditions are around block", b->block->block.name);
	return link != NULL && find_region(s, what, *t, b->fn, *link, p) ? link : NULL;
}

/* What a sub Fn may also write is whatever buffer the calls pass: the part may have elements that nobody has written. */
static bool may_be_unwritten(const Fn *fn, const Buf *t)
{
	return fn->kind == FN_SUB && t->role == BUF_INOUT;
}

/* Needs: an input or a constant that the block reads in the loop.  Breaks: nothing that names loops. */
bool prim_cache_read(Sched *s, const Step *st)
{
	BlockPlace b;
	Place l;
	Part p;
	const Buf *t;
	const char *made[IR_MAX_RANK + 1], *name = st->arg[0].word;
	int64_t elements = 1;
	Stmt **link = find_part(s, st, "cache_read", &b, &l, &t, &p);
	if (link == NULL)
		return false;
	if (may_be_unwritten(b.fn, t))
		return sched_refuse(s, "cache_read", name, "the sub Fn may write it, so that not all of it may be there");
	made[t->rank] = ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.c", name));
	for (int k = 0; k < t->rank; k++) {
		made[k] = ir_name(s->ir, arena_printf(ir_arena(s->ir), "%s.c.%d", name, k));
		elements *= p.n[k];
	}
	if (elements > CACHE_ELEMENTS)
		return sched_refuse(s, "cache_read", name, "what is read there has more than 65536 elements");
	if (!sched_may_name(s, b.fn, "cache_read", name, made, t->rank + 1))
		return false;
	p.copy = ir_buf(s->ir, made[t->rank], BUF_WORK, t->type, "local", p.n, t->rank);
	Stmt *alloc = ir_alloc(s->ir, p.copy), *next = b.block->next;
	b.block->next = NULL;
	ir_map_stmt(s->ir, b.block, read_copy, &p);
	b.block->next = next;
	alloc->next = fill_nest(s, &p, t, made, ir_range_at(s->ir, b.fn, *link));
	alloc->next->next = *link;
	*link = alloc;
	return true;
}

/* ---- prefetch ---- */

/* The lines of the part: n of them, line[k] along dimension k, which lie step[k] elements apart. */
typedef struct Lines {
	int64_t n, line[IR_MAX_RANK], step[IR_MAX_RANK];
} Lines;

/* How far `steps` elements along dimension k move in memory, from the first; -1: out of the tensor. */
static int64_t moved(const Buf *t, int k, int64_t steps)
{
	int64_t idx[IR_MAX_RANK] = { 0 };
	idx[k] = steps;
	return ir_buf_offset(t, idx);
}

/*
 * A line's elements are those that lie side by side along one dimension, and behind those that lie so along
 * another. The part is taken to begin with a line.
 */
static Lines find_lines(const Buf *t, const Part *p)
{
	Lines l = { .n = 1 };
	int64_t all = LINE_BITS / t->type.bits, covered = 1;
	for (int k = 0; k < t->rank; k++)
		l.step[k] = 1;
	for (bool more = true; more;) {
		more = false;
		for (int k = t->rank - 1; k >= 0 && !more; k--) {
			int64_t n = 1;
			while ((n + 1) * covered <= all && n * l.step[k] < p->n[k] && moved(t, k, n * l.step[k]) == n * covered)
				n++;
			more = n > 1;
			covered *= n;
			l.step[k] *= n;
		}
	}
	for (int k = 0; k < t->rank; k++) {
		l.line[k] = (p->n[k] + l.step[k] - 1) / l.step[k];
		l.n *= l.line[k];
	}
	return l;
}

/*
 * Where line q of the part begins, lines in the order of memory: at[k] comes in as the part's beginning.
 * What lies outermost is not bounded: behind the last line it goes on.
 */
static void find_line(Ir *ir, const Buf *t, const Lines *l, const Expr *q, const Expr **at)
{
	int order[IR_MAX_RANK], n = 0;
	for (int k = 0; k < t->rank; k++) {
		if (l->line[k] == 1)
			continue;
		int i = n++;
		for (; i > 0 && moved(t, order[i - 1], l->step[order[i - 1]]) > moved(t, k, l->step[k]); i--)
			order[i] = order[i - 1];
		order[i] = k;
	}
	for (int i = 0; i < n; i++) {
		int k = order[i];
		const Expr *lines = ir_int(ir, l->line[k]), *x = i + 1 < n ? ir_mod(ir, q, lines) : q;
		at[k] = ir_add(ir, at[k], ir_mul(ir, x, ir_int(ir, l->step[k])));
		q = ir_div(ir, q, lines);
	}
}

/*
 * The number, in an iteration of l, of an iteration of m, which is l or a loop below it around the block;
 * how many there are. NULL, refused: they cannot be counted.
 */
static const Expr *count_iterations(Sched *s, const char *name, const BlockPlace *b, const Stmt *l, const Stmt *m, int64_t *n)
{
	Ir *ir = s->ir;
	const Expr *number = ir_int(ir, 0);
	int k = 0;
	*n = 1;
	while (k < b->naround && b->around[k] != l)
		k++;
	for (; k < b->naround && b->around[k] != m; k++) {
		const Stmt *f = b->around[k + 1 < b->naround ? k + 1 : k];
		int64_t extent;
		if (!nest_extent(f, &extent) || extent < 1 || *n > ITERATIONS / extent) {
			sched_refuse_for(s, "prefetch", name, "how often it runs is not constant, or too large a number: loop", f->loop.var);
			return NULL;
		}
		*n *= extent;
		number = ir_add(ir, ir_mul(ir, number, ir_int(ir, extent)), ir_sub(ir, ir_idx(ir, f->loop.var), f->loop.lo));
	}
	if (k == b->naround)
		sched_refuse_for(s, "prefetch", name, "the block does not stand, within the first loop, in loop", m->loop.var);
	return k < b->naround ? number : NULL;
}

/*
 * Needs: what cache_read needs, of loop l; another part in each iteration.  Breaks: perfect nests around the
 * block below m, since a request is no block.
 */
bool prim_prefetch(Sched *s, const Step *st)
{
	Ir *ir = s->ir;
	BlockPlace b;
	Place l, m;
	Part p;
	const Buf *t;
	const char *name = st->arg[0].word, *loop = ir_name(ir, arena_printf(ir_arena(ir), "%s.f", name));
	const Expr *at[IR_MAX_RANK];
	bool moves = false;
	int64_t shares;
	Stmt **link = find_part(s, st, "prefetch", &b, &l, &t, &p);
	if (link == NULL || !sched_find_loop(s, st->arg[3].word, &m) || !may_put(s, "prefetch", name, &b, &m) ||
		!sched_may_name(s, b.fn, "prefetch", name, &loop, 1))
		return false;
	const Expr *q = count_iterations(s, name, &b, l.loop, m.loop, &shares);
	if (q == NULL)
		return false;
	const char *var = l.loop->loop.var;
	const Expr *later = ir_add(ir, ir_idx(ir, var), ir_int(ir, st->arg[4].num));
	for (int k = 0; k < t->rank; k++) {
		moves |= ir_uses_var(p.lo[k], var);
		at[k] = ir_subst(ir, p.lo[k], var, later);
	}
	Lines lines = find_lines(t, &p);
	int64_t each = (lines.n + shares - 1) / shares; /* from line number * lines / shares on */
	if (!moves)
		return sched_refuse_for(s, "prefetch", name, "the same is read in all iterations of", var);
	if (each > REQUESTS)
		return sched_refuse_for(s, "prefetch", name, "more than 4096 lines would be asked for in an iteration of",
			m.loop->loop.var);
	link = nest_link_to(&m.loop->loop.body, b.block);
	q = ir_div(ir, ir_mul(ir, q, ir_int(ir, lines.n)), ir_int(ir, shares));
	find_line(ir, t, &lines, ir_add(ir, q, ir_idx(ir, loop)), at);
	const Range *env = ir_range_for(ir, loop, ir_int(ir, 0), ir_int(ir, each), ir_range_at(ir, b.fn, *link));
	for (int k = 0; k < t->rank; k++)
		at[k] = ir_simplify(ir, at[k], env);
	Stmt *nest = ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, each), LOOP_SERIAL, ir_prefetch(ir, t, at, t->rank));
	nest->next = *link;
	*link = nest;
	return true;
}
