/*
 * See launch.h. Bound loops are checked by launch, then by block: how they nest, how many threads there are, and which
 * buffers a thread has for itself. Then the block gets its barriers (barriers.c).
 */
#include "schedule/launch.h"

#include "ir/arg.h"
#include "ir/query.h"
#include "ir/walk.h"
#include "schedule/accesses.h"
#include "schedule/barriers.h"
#include "schedule/own.h"
#include "target/occupancy.h"

#include <string.h>

static bool is_bound(const Stmt *s, void *arg)
{
	(void)arg;
	return ir_axis_of(s, NULL) != AXIS_NONE;
}

bool launch_any(const KernelSet *ks)
{
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_RUN && ir_find_stmt(ks->fn[k]->body, is_bound, NULL) != NULL)
			return true;
	return false;
}

bool launch_need_device(Sched *s, const char *what, const char *name)
{
	return s->target == NULL || s->target->kind != TARGET_CPU ||
		sched_refuse(s, what, name, "the target is a CPU, which runs no blocks of threads");
}

/* ---- how loops nest ---- */

typedef struct Nesting {
	Sched *s;
	const char *what; /* the step */
	const Fn *fn;
	int n;
	Stmt *around[IR_MAX_DEPTH]; /* loops */
} Nesting;

static bool refuse_loop(const Nesting *x, const Stmt *loop, const char *why, const char *other)
{
	return sched_refuse_for(x->s, x->what, loop->loop.var, why, other);
}

/* Of what stands around a bound loop, its axis aside, which the verifier looks at. */
static bool check_around(const Nesting *x, const Stmt *s, AxisKind kind)
{
	const Stmt *outer = x->n > 0 ? x->around[x->n - 1] : NULL;
	for (int k = 0; k < x->n; k++) {
		const Stmt *l = x->around[k];
		if (kind == AXIS_GRID && ir_axis_of(l, NULL) != AXIS_GRID)
			return refuse_loop(x, s, "a loop bound to a grid axis must not stand in loop %s", l->loop.var);
		if (l->loop.kind == LOOP_VECTOR || l->loop.kind == LOOP_PARALLEL)
			return refuse_loop(x, s, "a bound loop must not stand in vector or parallel loop %s", l->loop.var);
		int own, other;
		if (ir_axis_of(s, &own) == ir_axis_of(l, &other) && own == other)
			return refuse_loop(x, s, "loop %s around it is bound to the same axis", l->loop.var);
		if (kind == AXIS_BLOCK && ir_axis_of(l, NULL) == AXIS_BLOCK && ir_axis_of(outer, NULL) != AXIS_BLOCK)
			return refuse_loop(x, s, "loop %s stands between two loops bound to block axes", outer->loop.var);
	}
	if (outer != NULL && ir_axis_of(outer, NULL) == kind && (outer->loop.body != s || s->next != NULL))
		return refuse_loop(x, s, "loop %s contains more than it", outer->loop.var);
	return true;
}

/* Launches do not see a buffer that the Fn declares outside of them, unless it lies in global memory. */
static bool check_alloc(const Nesting *x, const Stmt *s)
{
	const char *name = s->alloc->name;
	for (int k = 0; strcmp(s->alloc->scope, "shared") == 0 && k < x->n; k++)
		if (ir_axis_of(x->around[k], NULL) == AXIS_BLOCK || x->around[k]->loop.kind == LOOP_VECTOR)
			return sched_refuse_for(x->s, x->what, name,
				"loop %s around its declaration is a vector or bound to a block axis, so that it must be local",
				x->around[k]->loop.var);
	if (x->n > 0 || strcmp(s->alloc->scope, "global") == 0)
		return true;
	for (Stmt *c = s->next; c != NULL; c = c->next) {
		Touch t = producer_touches_one(c, name);
		bool bound = is_bound(c, NULL) || ir_find_below(c, is_bound, NULL) != NULL;
		if (bound && t.loads + t.writes + t.strange > 0)
			return sched_refuse_for(x->s, x->what, name,
				"it is %s, but declared outside of the loops that are bound: apply scope first, to global",
				s->alloc->scope);
	}
	return true;
}

static bool check_nesting(Nesting *x, Stmt *list)
{
	for (Stmt *s = list; s != NULL; s = s->next) {
		AxisKind kind = ir_axis_of(s, NULL);
		Stmt **below[IR_CHILDREN];
		if (kind != AXIS_NONE) {
			Uses u = nest_uses(s);
			if (!check_around(x, s, kind) || !sched_need_spatial(x->s, x->what, s, &u))
				return false;
		}
		for (int k = 0; s->kind == ST_FOR && s->loop.kind == LOOP_PARALLEL && k < x->n; k++)
			if (ir_axis_of(x->around[k], NULL) != AXIS_NONE)
				return refuse_loop(x, s, "a parallel loop must not stand in bound loop %s", x->around[k]->loop.var);
		if (s->kind == ST_ALLOC && !check_alloc(x, s))
			return false;
		for (int k = 0, n = ir_children(s, below); k < n; k++) {
			if (s->kind == ST_FOR)
				x->around[x->n++] = s;
			bool ok = check_nesting(x, *below[k]);
			x->n -= s->kind == ST_FOR;
			if (!ok)
				return false;
		}
	}
	return true;
}

/* ---- what a thread has for itself ---- */

typedef struct Block {
	Sched *s;
	const char *what;
	const Fn *fn;
	ThreadMemo memo;
} Block;

/* Loops around the statement. */
static int depth_of(Stmt *list, const Stmt *s)
{
	for (Stmt *c = list; c != NULL; c = c->next) {
		Stmt **below[IR_CHILDREN];
		if (c == s || !ir_is_below(c, s))
			continue;
		for (int k = 0, n = ir_children(c, below); k < n; k++)
			if (ir_link_to(below[k], s) != NULL)
				return (c->kind == ST_FOR) + depth_of(*below[k], s);
	}
	return 0;
}

/* Buffers that a block declares outside of its threads. */
static bool check_allocs(Block *c, Stmt *list)
{
	for (Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		if (s->kind == ST_ALLOC && own_is(c->fn, s->alloc->name) &&
			!own_check(c->s, c->what, c->fn, &c->memo, s, depth_of(c->fn->body, s)))
			return false;
		for (int k = 0, n = ir_axis_of(s, NULL) == AXIS_BLOCK ? 0 : ir_children(s, below); k < n; k++)
			if (!check_allocs(c, *below[k]))
				return false;
	}
	return true;
}

/* ---- how many threads ---- */

static bool find_extents(Stmt *s, void *arg)
{
	int64_t *n = arg, extent;
	int k;
	if (ir_axis_of(s, &k) == AXIS_BLOCK && nest_extent(s, &extent) && extent > n[k])
		n[k] = extent;
	return true;
}

static bool check_count(const Block *c, Stmt *body)
{
	int64_t n[THREAD_AXES] = { 1, 1, 1 }, most = limit_row(LIMIT_threads)->most;
	ir_each_stmt(body, find_extents, n);
	if (n[0] <= most && n[1] <= most / n[0] && n[2] <= most / n[0] / n[1])
		return true;
	return fail(c->s->err, ERR_ILLEGAL, c->s->place,
		"%s: a block would have %lld x %lld x %lld threads; one has at most %lld", c->what, (long long)n[0],
		(long long)n[1], (long long)n[2], (long long)most);
}

static bool is_parallel(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR && s->loop.kind == LOOP_PARALLEL;
}

static bool check_parallel(const Block *c, Stmt *body)
{
	const Stmt *s = ir_find_stmt(body, is_parallel, NULL);
	return s == NULL ||
		sched_refuse(c->s, c->what, s->loop.var, "a parallel loop must not stand in a block, which has threads");
}

static bool settle_block(Stmt **body, bool one, void *arg)
{
	Block c = *(const Block *)arg;
	Arena *a = ir_arena(c.s->ir);
	Stmt *behind = one ? (*body)->next : NULL;
	int depth = depth_of(c.fn->body, *body);
	c.memo = (ThreadMemo){ c.s->ir, a, &c.s->facts, MAP_OF(a) };
	if (one)
		(*body)->next = NULL;
	bool ok = check_parallel(&c, *body) && check_count(&c, *body) && check_allocs(&c, *body) &&
		barriers_put(c.s, c.what, c.fn, body, depth, &c.memo);
	Stmt *last = *body;
	while (last->next != NULL)
		last = last->next;
	last->next = behind;
	return ok;
}

bool launch_settle(Sched *s, const char *what)
{
	for (size_t k = 0; k < s->ks->n; k++) {
		Fn *fn = s->ks->fn[k];
		if (fn->kind != FN_RUN || ir_find_stmt(fn->body, is_bound, NULL) == NULL)
			continue;
		Nesting x = { .s = s, .what = what, .fn = fn };
		if (!check_nesting(&x, fn->body) || !own_check_fragments(s, what, fn) ||
			!ir_each_block(&fn->body, settle_block, &(Block){ .s = s, .what = what, .fn = fn }))
			return false;
	}
	return true;
}

/* Bytes of the shared buffers of a list. */
static bool add_shared(Stmt *s, void *arg)
{
	int64_t *bytes = arg, n;
	if (s->kind != ST_ALLOC || strcmp(s->alloc->scope, "shared") != 0)
		return true;
	n = ir_buf_elements(s->alloc, NULL, 0);
	n = n < 0 ? INT64_MAX : dtype_bytes(s->alloc->type, n);
	if (n < 0 || __builtin_add_overflow(*bytes, n, bytes))
		*bytes = INT64_MAX;
	return true;
}

bool launch_fit(const KernelSet *ks, const Target *target, const char *place, Err *err)
{
	int64_t most = target_block_shared(target);
	for (size_t k = 0; k < ks->n; k++)
		for (Stmt *s = ks->fn[k]->kind == FN_RUN ? ks->fn[k]->body : NULL; s != NULL && most > 0; s = s->next) {
			Stmt one = *s;
			int64_t bytes = 0;
			one.next = NULL;
			ir_each_stmt(&one, add_shared, &bytes);
			if (bytes > most)
				return fail(err, ERR_ILLEGAL, place,
					"a block would have %lld bytes of shared memory; the target has %lld", (long long)bytes,
					(long long)most);
		}
	return true;
}
