/*
 * See barriers.h. Accesses since the last barrier are pending. A barrier precedes a statement that meets a pending
 * access of another thread at an element. A loop is walked twice, so that accesses pending at its end meet its
 * beginning. A thread that reads its own elements needs no barrier (ir/threads/meet.h).
 */
#include "schedule/barriers.h"

#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"
#include "schedule/accesses.h"
#include "schedule/own.h"
#include "schedule/place.h"

#include <string.h>

enum { PENDING = 256, /* pending accesses at most; with more, a barrier is added without comparison */
	ROUNDS = 6 /* depth of loops that are walked twice; deeper ones begin with a barrier */ };

static void drop_in(Stmt **list)
{
	for (Stmt **link = list; *link != NULL;) {
		Stmt *s = *link, **below[IR_CHILDREN];
		if (s->kind == ST_BARRIER && strcmp(s->barrier, "block") == 0) {
			*link = s->next;
			continue;
		}
		for (int k = 0, n = ir_axis_of(s, NULL) != AXIS_BLOCK ? ir_children(s, below) : 0; k < n; k++)
			drop_in(below[k]);
		link = &s->next;
	}
}

void barriers_drop(KernelSet *ks)
{
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_RUN)
			drop_in(&ks->fn[k]->body);
}

static bool takes_all_threads(const Stmt *s, void *arg)
{
	(void)arg;
	return ir_axis_of(s, NULL) == AXIS_BLOCK || s->kind == ST_WAIT;
}

/* A loop bound to a block axis or a wait is below the statement: all threads of the block pass through it. */
static bool holds_threads(const Stmt *s)
{
	return ir_find_below(s, takes_all_threads, NULL) != NULL;
}

typedef struct Pending {
	const ThreadAccess *x;
	int common; /* loops around the access and the current statement, in the same iteration */
} Pending;

typedef struct Seen {
	const Stmt *stmt;
	ThreadAccesses *of;
} Seen;

typedef struct Scan {
	Sched *s;
	const char *what;
	const Fn *fn;
	Stmt *body; /* of the block */
	int depth;  /* loops around the block */
	VEC(Pending) pending;
	VEC(Seen) seen;
	bool async, stuck; /* the walk is among async copies; one of them would need a barrier, which cannot stand there */
	bool only_asks, missing; /* adds no barriers; one is missing */
	uint32_t accesses; /* numbered so far */
	ThreadMemo *memo;
	Map meet; /* of two accesses and their common loops: 1 they do not meet, 2 they do */
} Scan;

typedef struct Places {
	const Buf *b;
	const ThreadAccess *x;
	bool known;
} Places;

static const Expr *put_index(Ir *ir, const Expr *e, void *arg)
{
	Places *p = arg;
	(void)ir;
	for (int d = 0; e->op == IR_VAR && d < p->b->rank; d++)
		if (strcmp(p->b->map.var[d], e->name) == 0) {
			p->known &= !p->x->anywhere && p->x->idx[d] != NULL;
			return p->known ? p->x->idx[d] : e;
		}
	return e;
}

/* Replaces indices of elements by indices of places, if several elements share a place. */
static void to_places(Ir *ir, const Buf *b, ThreadAccess *x)
{
	const Expr **at = arena_array(ir_arena(ir), const Expr *, b->map.n);
	if (!x->anywhere && x->idx[0] != NULL && place_slots(b))
		x->slot = x->idx[0];
	else
		x->block = NULL; /* different instances may write one place */
	for (int k = 0; k < b->map.n; k++) {
		Places p = { b, x, true };
		at[k] = ir_map_expr(ir, b->map.at[k], put_index, &p);
		at[k] = p.known ? ir_simplify(ir, at[k], x->env) : NULL;
	}
	x->idx = at;
	x->n = b->map.n;
}

static const ThreadAccesses *accesses_of(Scan *c, const Stmt *s, bool shallow)
{
	for (size_t k = 0; k < c->seen.n; k++)
		if (c->seen.at[k].stmt == s)
			return c->seen.at[k].of;
	Arena *a = ir_arena(c->s->ir);
	ThreadAccesses *all = arena_new_of(a, ThreadAccesses), *of = arena_new_of(a, ThreadAccesses);
	all->arena = of->arena = a;
	ir_thread_accesses(c->s->ir, &c->s->facts, c->s->ks, c->fn, s, shallow, all);
	for (size_t k = 0; k < all->at.n; k++) {
		const Buf *b = ir_find_buf(c->fn, all->at.at[k].buf);
		all->at.at[k].number = c->accesses++;
		if (b != NULL && !own_is(c->fn, b->name) && place_folds(b))
			to_places(c->s->ir, b, &all->at.at[k]);
		if (!own_is(c->fn, all->at.at[k].buf))
			vec_push(a, &of->at, all->at.at[k]);
	}
	vec_push(a, &c->seen, ((Seen){ s, of }));
	return of;
}

static bool may_meet(Scan *c, const Pending *p, const ThreadAccess *x)
{
	uint64_t key = (uint64_t)p->x->number << 36 | (uint64_t)x->number << 8 | (uint64_t)p->common;
	MapEntry *known = map_add(&c->meet, key);
	if (known->num == 0)
		known->num = 1 + ir_threads_may_meet(c->memo, p->x, x, p->common);
	return known->num == 2;
}

static bool meets_pending(Scan *c, const ThreadAccesses *of)
{
	if (c->pending.n * of->at.n > PENDING * PENDING)
		return true;
	for (size_t i = 0; i < c->pending.n; i++)
		for (size_t k = 0; k < of->at.n; k++)
			if (may_meet(c, &c->pending.at[i], &of->at.at[k]))
				return true;
	return false;
}

/* An access is pending once, with the fewest common loops. */
static void add_pending(Scan *c, const ThreadAccess *x, int common)
{
	for (size_t k = 0; k < c->pending.n; k++)
		if (c->pending.at[k].x == x) {
			c->pending.at[k].common = common < c->pending.at[k].common ? common : c->pending.at[k].common;
			return;
		}
	vec_push(ir_arena(c->s->ir), &c->pending, ((Pending){ x, common }));
}

static Stmt **put_barrier(Scan *c, Stmt **link)
{
	if (c->only_asks) {
		c->missing = true;
		return link;
	}
	Stmt *b = ir_stmt(c->s->ir, ST_BARRIER);
	c->stuck |= c->async;
	b->barrier = ir_name(c->s->ir, "block");
	b->next = *link;
	*link = b;
	c->pending.n = 0;
	return &b->next;
}

/* A barrier before the statement where it needs one; the link to the statement. */
static Stmt **pass(Scan *c, Stmt **link, int depth, bool shallow)
{
	const ThreadAccesses *of = accesses_of(c, *link, shallow);
	if (meets_pending(c, of))
		link = put_barrier(c, link);
	for (size_t k = 0; k < of->at.n; k++)
		add_pending(c, &of->at.at[k], depth);
	return link;
}

/* Pending accesses in these loops may belong to any iteration. */
static void leave(Scan *c, int depth)
{
	for (size_t k = 0; k < c->pending.n; k++)
		if (c->pending.at[k].common > depth)
			c->pending.at[k].common = depth;
}

/* A wait completes copies: their elements count as written now, by any thread and in any iteration. */
static void land(Scan *c, const Stmt *list, bool async)
{
	for (const Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		bool inner = ir_axis_of(s, NULL) != AXIS_BLOCK && holds_threads(s);
		const ThreadAccesses *of = async && !inner ? accesses_of(c, s, false) : NULL;
		for (size_t k = 0; of != NULL && k < of->at.n; k++)
			if (of->at.at[k].write)
				add_pending(c, &of->at.at[k], c->depth);
		for (int k = 0, n = ir_axis_of(s, NULL) == AXIS_BLOCK ? 0 : ir_children(s, below); k < n; k++)
			land(c, *below[k], async || s->kind == ST_ASYNC);
	}
}

static bool is_barrier(const Stmt *s)
{
	return s != NULL && s->kind == ST_BARRIER && strcmp(s->barrier, "block") == 0;
}

/* Whether an access below the statement meets a pending one. */
static bool meets_below(Scan *c, const Stmt *s)
{
	Stmt **below[IR_CHILDREN];
	for (int k = 0, n = ir_children(s, below); k < n; k++)
		for (const Stmt *b = *below[k]; b != NULL; b = b->next) {
			bool inner = ir_axis_of(b, NULL) != AXIS_BLOCK && holds_threads(b);
			if (meets_pending(c, accesses_of(c, b, inner || b->kind == ST_LET)) || (inner && meets_below(c, b)))
				return true;
		}
	return false;
}

static void scan(Scan *c, Stmt **list, int depth, int rounds);

/* Accesses pending before stay pending: a loop may have no iterations, and one of two branches runs. */
static void scan_below(Scan *c, const Stmt *s, int depth, int rounds)
{
	Stmt **below[IR_CHILDREN];
	bool loop = s->kind == ST_FOR;
	int64_t extent;
	size_t n = c->pending.n;
	Pending *before = arena_array(ir_arena(c->s->ir), Pending, n + 1);
	if (n > 0)
		memcpy(before, c->pending.at, n * sizeof *before);
	bool again = loop && (!nest_extent(s, &extent) || extent > 1), was_async = c->async;
	c->async |= s->kind == ST_ASYNC;
	for (int k = 0, children = ir_children(s, below); k < children; k++) {
		if (again && rounds >= ROUNDS && !is_barrier(*below[k]))
			put_barrier(c, below[k]);
		scan(c, below[k], depth + loop, rounds + again);
		leave(c, depth);
		if (again && rounds < ROUNDS && meets_below(c, s)) { /* as in any later iteration */
			scan(c, below[k], depth + loop, rounds + again);
			leave(c, depth);
		}
		for (size_t i = 0; i < n && (!loop || !nest_extent(s, &extent) || extent < 1); i++)
			add_pending(c, before[i].x, before[i].common);
	}
	c->async = was_async;
}

/* The count of step `last` comes after the stores of all threads, which other blocks then read. */
static bool counts_too_early(Scan *c, const Stmt *s)
{
	bool stored = false;
	for (size_t k = 0; k < c->pending.n; k++) {
		const Buf *b = ir_find_buf(c->fn, c->pending.at[k].x->buf);
		stored |= c->pending.at[k].x->write && b != NULL && strcmp(b->scope, "global") == 0;
	}
	return stored && producer_counts(c->fn, s);
}

static void scan(Scan *c, Stmt **list, int depth, int rounds)
{
	for (Stmt **link = list; *link != NULL; link = &(*link)->next) {
		bool inner = ir_axis_of(*link, NULL) != AXIS_BLOCK && holds_threads(*link);
		if (is_barrier(*link)) { /* of the round before */
			c->pending.n = 0;
			continue;
		}
		if ((*link)->kind == ST_WAIT)
			land(c, c->body, false);
		if (counts_too_early(c, *link))
			link = put_barrier(c, link);
		link = pass(c, link, depth, inner || (*link)->kind == ST_LET);
		if (inner && !c->only_asks && meets_below(c, *link))
			link = put_barrier(c, link); /* once, instead of in each iteration */
		if (inner)
			scan_below(c, *link, depth, rounds);
	}
}

/* The link to barrier *k of the list; NULL: the list has fewer, and *k is reduced by their number. */
static Stmt **find_barrier(Stmt **list, int *k)
{
	for (Stmt **link = list; *link != NULL; link = &(*link)->next) {
		Stmt **below[IR_CHILDREN], **found = NULL;
		if (is_barrier(*link) && (*k)-- == 0)
			return link;
		int n = ir_axis_of(*link, NULL) == AXIS_BLOCK ? 0 : ir_children(*link, below);
		for (int i = 0; i < n && found == NULL; i++)
			found = find_barrier(below[i], k);
		if (found != NULL)
			return found;
	}
	return NULL;
}

/* Removes each barrier that the barriers before and behind it make redundant. */
static void thin(Scan *c, Stmt **body)
{
	c->only_asks = true;
	for (int k = 0;; k++) {
		int left = k;
		Stmt **link = find_barrier(body, &left), *b;
		if (link == NULL)
			break;
		b = *link;
		*link = b->next;
		c->pending.n = 0;
		c->missing = false;
		scan(c, body, c->depth, 0);
		if (c->missing)
			*link = b;
		else
			k--;
	}
}

bool barriers_put(Sched *s, const char *what, const Fn *fn, Stmt **body, int depth, ThreadMemo *memo)
{
	Scan c = { .s = s, .what = what, .fn = fn, .body = *body, .depth = depth, .memo = memo,
		.meet = MAP_OF(ir_arena(s->ir)) };
	scan(&c, body, depth, 0);
	thin(&c, body);
	return !c.stuck || sched_refuse(s, what, fn->name, "a barrier would have to stand among its async copies");
}
