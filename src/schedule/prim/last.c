/*
 * last: joins a launch of partial results with the next launch, which uses them. The blocks of the first launch count.
 * There is a counter for each place in the grid of the second launch. The block that counts last knows that all others
 * have stored their parts. It does the work of the second launch at that place, and sets the counter to zero for the
 * next call.
 *
 *	for l bound(grid.z) { for t bound(grid.x) {
 *		a
 *		for l.t in 0..1 bound(block.x) { block l.arrive { let l.n = atomic sum l.count[t] <- 1; l.last[0] = l.n } }
 *		if l.last[0] == n - 1 {
 *			b
 *			for l.r in 0..1 bound(block.x) { block l.clear { l.count[t] = 0 } }
 *		}}}
 *
 * launch_settle adds the barriers between these, and one before the count (launch.c).
 */
#include "schedule/launch.h"
#include "schedule/producer.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/region/region.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

/* A launch: its loops bound to grid axes, by axis, and what stands in the innermost one. */
typedef struct Grid {
	Stmt *axis[THREAD_AXES]; /* NULL: there is no such loop */
	int64_t n[THREAD_AXES];
	Stmt **body;
} Grid;

typedef struct Last {
	Sched *s;
	const char *name; /* of the loop */
	Fn *fn;
	Stmt *loop, *top; /* and the first launch */
	int at;           /* the loop's axis */
	Grid first, next;
} Last;

static bool refuse(const Last *x, const char *why, const char *other)
{
	return sched_refuse_for(x->s, "last", x->name, why, other);
}

static bool read_grid(const Last *x, Stmt **link, Grid *g)
{
	*g = (Grid){ .body = link };
	int k;
	while (*g->body != NULL && ir_axis_of(*g->body, &k) == AXIS_GRID) {
		Stmt *l = *g->body;
		if (!nest_extent(l, &g->n[k]) || !ir_is_const(l->loop.lo, 0))
			return refuse(x, "loop %s has no constant extent", l->loop.var);
		g->axis[k] = l;
		g->body = &l->loop.body;
	}
	return true;
}

/* The second launch has the blocks of the first one, the loop's axis aside. */
static bool same_places(const Last *x)
{
	for (int k = 0; k < THREAD_AXES; k++) {
		const Stmt *a = x->first.axis[k], *b = x->next.axis[k];
		bool left_out = b == NULL && (a == NULL || k == x->at || x->first.n[k] == 1);
		if (left_out || (a != NULL && b != NULL && k != x->at && x->first.n[k] == x->next.n[k]))
			continue;
		return refuse(x, "the next launch has other blocks along loop %s", (b != NULL ? b : a)->loop.var);
	}
	return true;
}

static const Region *region_of(const Region *r, int n, const char *buf)
{
	for (int k = 0; k < n; k++)
		if (strcmp(r[k].buf, buf) == 0)
			return &r[k];
	return NULL;
}

/*
 * Whether an index of the written elements is the block's place along an axis, and the read elements have the same one.
 */
static bool apart_along(const Last *x, int axis, const Region *written, const Region *read)
{
	Ir *ir = x->s->ir;
	const Stmt *a = x->first.axis[axis], *b = x->next.axis[axis];
	const Expr *i = ir_idx(ir, a->loop.var);
	const Range *env = ir_range_for(ir, a->loop.var, a->loop.lo, a->loop.hi, ir_range_fn(ir, x->fn));
	const Range *more = ir_range_for(ir, a->loop.var, a->loop.lo, ir_sub(ir, a->loop.hi, ir_int(ir, 1)),
		ir_range_fn(ir, x->fn));
	for (int d = 0; d < written->n; d++) {
		const Expr *lo = written->lo[d], *hi = written->hi[d];
		bool other = false;
		for (int k = 0; k < THREAD_AXES; k++)
			other |= k != axis && x->first.axis[k] != NULL &&
				(ir_uses_var(lo, x->first.axis[k]->loop.var) || ir_uses_var(hi, x->first.axis[k]->loop.var));
		if (other || !ir_uses_var(lo, a->loop.var))
			continue;
		const Expr *from = ir_subst(ir, read->lo[d], b->loop.var, i), *to = ir_subst(ir, read->hi[d], b->loop.var, i);
		const Expr *after = ir_subst(ir, lo, a->loop.var, ir_add(ir, i, ir_int(ir, 1)));
		if (ir_always(ir_simplify(ir, ir_le(ir, hi, after), more), more) &&
			ir_always(ir_simplify(ir, ir_le(ir, lo, from), env), env) &&
			ir_always(ir_simplify(ir, ir_le(ir, to, after), env), env))
			return true;
	}
	return false;
}

/*
 * At each place the second launch reads only elements of blocks of that place, and writes none that other blocks use.
 */
static bool check_handed_on(const Last *x)
{
	for (const Stmt *b = *x->next.body; b != NULL; b = b != x->top->next ? b->next : NULL) {
		int n;
		const Region *use = ir_regions(x->s->ir, x->fn, x->s->ks, b, &n);
		for (const Stmt *a = *x->first.body; a != NULL; a = a->next) {
			int m;
			const Region *by = ir_regions(x->s->ir, x->fn, x->s->ks, a, &m);
			for (int k = 0; k < n; k++) {
				const Region *made = region_of(by, m, use[k].buf);
				if (made == NULL || ir_find_buf(x->fn, use[k].buf) == NULL)
					continue;
				if (use[k].write)
					return refuse(x, "the next launch writes %s, which other blocks may still use", use[k].buf);
				for (int axis = 0; made->write && axis < THREAD_AXES; axis++)
					if (axis != x->at && x->first.n[axis] > 1 && !apart_along(x, axis, made, &use[k]))
						return refuse(x, "the next launch may read elements of %s that blocks of other places write",
							use[k].buf);
			}
		}
	}
	return true;
}

/* ---- rewriting ---- */

static Iter iter_of(Ir *ir, const Stmt *loop)
{
	const char *name = ir_name(ir, arena_printf(ir_arena(ir), "v%s", loop->loop.var));
	return (Iter){ name, ITER_SPATIAL, loop->loop.lo, loop->loop.hi, ir_idx(ir, loop->loop.var) };
}

/* A loop of one thread around a block with an iterator for it, and one for each place, maybe for the loop too. */
static Stmt *one_thread(const Last *x, const char *loop, const char *block, bool whole, Stmt *body)
{
	Ir *ir = x->s->ir;
	Iter *iter = arena_array(ir_arena(ir), Iter, THREAD_AXES + 1);
	int n = 1;
	Stmt *l = ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, 1), LOOP_BOUND, NULL);
	l->loop.axis = ir_name(ir, "block.x");
	iter[0] = iter_of(ir, l);
	for (int k = 0; k < THREAD_AXES; k++)
		if (x->first.axis[k] != NULL && (whole || k != x->at))
			iter[n++] = iter_of(ir, x->first.axis[k]);
	l->loop.body = ir_block(ir, block, iter, n, NULL, NULL, body);
	return l;
}

enum { COUNT, FLAG, OLD, ONE, RESET, ARRIVE, CLEAR, NAMES };

static void count_blocks(Last *x, const char *const name[NAMES])
{
	Ir *ir = x->s->ir;
	const Expr *place[THREAD_AXES] = { ir_int(ir, 0) }, *zero = ir_int(ir, 0);
	int64_t shape[THREAD_AXES] = { 1 };
	int rank = 0;
	for (int k = THREAD_AXES - 1; k >= 0; k--)
		if (k != x->at && x->first.axis[k] != NULL) {
			shape[rank] = x->first.n[k];
			place[rank++] = ir_idx(ir, iter_of(ir, x->first.axis[k]).name);
		}
	rank = rank > 0 ? rank : 1;
	Buf *count = ir_buf(ir, name[COUNT], BUF_ZERO, I32, "global", shape, rank);
	Buf *flag = ir_buf(ir, name[FLAG], BUF_WORK, I32, "shared", (int64_t[]){ 1 }, 1);
	ir_fn_add_buf(ir, x->fn, count);
	Stmt *add = ir_reduce(ir, "sum", count, place, rank, ir_const(ir, I32, 1));
	add->reduce.atomic = true;
	add->reduce.old = ir_name(ir, name[OLD]);
	add->next = ir_store(ir, flag, &zero, 1, ir_var(ir, add->reduce.old, I32));
	Stmt *clear = one_thread(x, name[RESET], name[CLEAR], false,
		ir_store(ir, count, place, rank, ir_const(ir, I32, 0)));
	Stmt *rest = *x->next.body, *behind = x->top->next->next;
	x->top->next->next = NULL; /* it may be the rest itself */
	for (int k = 0; k < THREAD_AXES; k++)
		if (x->next.axis[k] != NULL)
			for (Stmt *b = rest; b != NULL; b = b->next)
				ir_subst_stmt(ir, b, x->next.axis[k]->loop.var, ir_idx(ir, x->first.axis[k]->loop.var));
	const Expr *last = ir_eq(ir, ir_load(ir, flag, &zero, 1), ir_const(ir, I32, (double)(x->first.n[x->at] - 1)));
	Stmt *made = ir_alloc(ir, flag);
	made->next = one_thread(x, name[ONE], name[ARRIVE], true, add);
	made->next->next = ir_if(ir, last, ir_seq(rest, clear), NULL);
	*x->first.body = ir_seq(*x->first.body, made);
	x->top->next = behind;
}

/* Needs: a loop bound to a grid axis, and a launch behind its own.  Breaks: nothing. */
bool prim_last(Sched *s, const Step *st)
{
	static const char *const part[NAMES] = { "count", "last", "n", "t", "r", "arrive", "clear" };
	const char *made[NAMES];
	Place p;
	Last x = { .s = s, .name = st->arg[0].word };
	if (!launch_need_device(s, "last", x.name) || !sched_find_loop(s, x.name, &p))
		return false;
	if (s->target != NULL && s->target->kind != TARGET_CUDA)
		return sched_refuse(s, "last", x.name, "only CUDA targets have a fence between blocks");
	x.fn = p.fn;
	x.loop = p.loop;
	x.top = p.naround > 0 ? p.around[0] : p.loop;
	if (p.fn->kind != FN_RUN || ir_axis_of(p.loop, &x.at) != AXIS_GRID)
		return sched_refuse(s, "last", x.name, "it is not bound to a grid axis");
	if (x.top->next == NULL || x.top->next->kind == ST_ALLOC)
		return sched_refuse(s, "last", x.name, "no launch follows its launch");
	Stmt *first = x.top;
	if (!read_grid(&x, &first, &x.first) || !read_grid(&x, &x.top->next, &x.next) || !same_places(&x) ||
		!check_handed_on(&x))
		return false;
	for (int k = 0; k < NAMES; k++)
		made[k] = arena_printf(ir_arena(s->ir), "%s.%s", x.name, part[k]);
	if (!sched_may_name(s, x.fn, "last", x.name, made, NAMES))
		return false;
	count_blocks(&x, made);
	return true;
}
