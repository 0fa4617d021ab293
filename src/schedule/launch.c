/*
 * See launch.h. A block is walked in the order of its text. What threads have accessed since the last barrier is
 * pending; where the next statement meets it at an element, in another thread, a barrier stands before the statement.
 * A loop around such statements is walked twice, so that what is pending at its end meets its beginning. What a thread
 * reads that it wrote itself meets nobody (ir/threads/meet.h), and needs none.
 */
#include "schedule/launch.h"

#include "base/map.h"
#include "ir/arg.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "ir/threads/meet.h"
#include "ir/walk.h"
#include "schedule/accesses.h"
#include "schedule/own.h"
#include "target/occupancy.h"

#include <string.h>

enum { PENDING = 256, /* accesses that a statement is compared with; more need a barrier unseen */
	ROUNDS = 6 /* loops within each other that are walked twice; deeper ones begin with a barrier */ };

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

void launch_drop_barriers(KernelSet *ks)
{
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_RUN)
			drop_in(&ks->fn[k]->body);
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

/* ---- barriers ---- */

static bool is_everybodys(const Stmt *s, void *arg)
{
	(void)arg;
	return ir_axis_of(s, NULL) == AXIS_BLOCK || s->kind == ST_WAIT;
}

/* A loop bound to a block axis or a wait is below the statement: all threads of the block pass through it. */
static bool holds_threads(const Stmt *s)
{
	return ir_find_below(s, is_everybodys, NULL) != NULL;
}

typedef struct Pending {
	const ThreadAccess *x;
	int common; /* loops around both it and the place of the walk, in the same iteration */
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
	bool async, stuck; /* among copies under way, which wait for nobody; one of them would have to */
	bool only_asks, missing; /* puts none in; says that one is missing */
	uint32_t accesses; /* numbered so far */
	ThreadMemo memo;
	Map meet;          /* of two numbers and what they have in common: 1 no, 2 yes */
} Scan;

/* There are fewer places than elements; places that the map cannot reach do not count. */
bool launch_fold(const Buf *b)
{
	int64_t shape[IR_MAX_RANK], extent[IR_MAX_RANK], logical, places;
	Range of[IR_MAX_RANK], *env = NULL;
	if (b->map.n == 0 || !ir_eval_extents(b->shape, b->rank, NULL, 0, shape, &logical) ||
		!ir_eval_extents(b->map.extent, b->map.n, NULL, 0, extent, &places))
		return b->map.n > 0;
	for (int k = 0; k < b->rank; k++) {
		of[k] = (Range){ .outer = env, .name = b->map.var[k], .lo = 0, .hi = shape[k] - 1, .mod = 1 };
		env = &of[k];
	}
	places = 1;
	for (int k = 0; k < b->map.n; k++) {
		int64_t last = ir_interval(b->map.at[k], env).hi;
		places *= last < extent[k] ? last + 1 : extent[k];
	}
	return places < logical;
}

/* Threads do not meet in what each has for itself; a local buffer that they share is refused. */
static bool is_own(const Fn *fn, const char *buf)
{
	const Buf *b = ir_find_buf(fn, buf);
	return b != NULL && (strcmp(b->scope, "local") == 0 || strcmp(b->scope, "fragment") == 0);
}

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

/* Indices of places instead of elements, where several elements lie in one place. */
static void to_places(Ir *ir, const Buf *b, ThreadAccess *x)
{
	const Expr **at = arena_array(ir_arena(ir), const Expr *, b->map.n);
	for (int k = 0; k < b->map.n; k++) {
		Places p = { b, x, true };
		at[k] = ir_map_expr(ir, b->map.at[k], put_index, &p);
		at[k] = p.known ? ir_simplify(ir, at[k], x->env) : NULL;
	}
	x->idx = at;
	x->n = b->map.n;
	x->block = NULL; /* different instances may write one place */
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
		if (b != NULL && !is_own(c->fn, b->name) && launch_fold(b))
			to_places(c->s->ir, b, &all->at.at[k]);
		if (!is_own(c->fn, all->at.at[k].buf))
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
		known->num = 1 + ir_threads_may_meet(&c->memo, p->x, x, p->common);
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

/* An access is pending once, with what it has least in common. */
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

/* What is pending of these loops is of any iteration of theirs. */
static void leave(Scan *c, int depth)
{
	for (size_t k = 0; k < c->pending.n; k++)
		if (c->pending.at[k].common > depth)
			c->pending.at[k].common = depth;
}

/* What a wait ends is written now, by whom and for whichever iteration. */
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

/* Something below the statement meets what is pending. */
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

/* What was pending before may still be behind it: a loop may have no iterations, and of two branches one runs. */
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
		if (again && rounds < ROUNDS && meets_below(c, s)) { /* as any later iteration finds it */
			scan(c, below[k], depth + loop, rounds + again);
			leave(c, depth);
		}
		for (size_t i = 0; i < n && (!loop || !nest_extent(s, &extent) || extent < 1); i++)
			add_pending(c, before[i].x, before[i].common);
	}
	c->async = was_async;
}

/* A block counts itself for what all of its threads have stored, which other blocks read then. */
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
			link = put_barrier(c, link); /* once, rather than in each iteration */
		if (inner)
			scan_below(c, *link, depth, rounds);
	}
}

/* The link to barrier *k of the list, or less is left to count. */
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

/* Takes out each barrier that those behind and before it make needless. */
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

/* ---- what a thread has for itself ---- */

/* Buffers that a block declares outside of its threads. */
static bool check_allocs(Scan *c, Stmt *list)
{
	for (Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		if (s->kind == ST_ALLOC && is_own(c->fn, s->alloc->name) &&
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

static bool check_count(Scan *c, Stmt *body)
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

static bool check_parallel(Scan *c, Stmt *body)
{
	const Stmt *s = ir_find_stmt(body, is_parallel, NULL);
	return s == NULL ||
		sched_refuse(c->s, c->what, s->loop.var, "a parallel loop must not stand in a block, which has threads");
}

static bool settle_block(Stmt **body, bool one, void *arg)
{
	const Scan *of = arg;
	Arena *a = ir_arena(of->s->ir);
	Scan c = { .s = of->s, .what = of->what, .fn = of->fn, .meet = MAP_OF(a), 
		.memo = { of->s->ir, a, &of->s->facts, MAP_OF(a) } };
	Stmt *behind = one ? (*body)->next : NULL;
	int depth = depth_of(c.fn->body, *body);
	if (one)
		(*body)->next = NULL;
	bool ok = check_parallel(&c, *body) && check_count(&c, *body) && check_allocs(&c, *body);
	c.body = *body;
	c.depth = depth;
	if (ok) {
		scan(&c, body, depth, 0);
		thin(&c, body);
	}
	if (c.stuck)
		ok = sched_refuse(c.s, c.what, c.fn->name, "a barrier would have to stand among its async copies");
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
			!ir_each_block(&fn->body, settle_block, &(Scan){ .s = s, .what = what, .fn = fn }))
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
