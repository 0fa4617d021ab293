/*
 * Two accesses of threads p and q meet where their indices agree in every dimension. An index is taken apart into what
 * depends on the thread alone and a rest, of which ends and a common divisor are known: A(p) - A(q) + rest = 0. Threads
 * are few, so that all pairs are tried; the loops inside are not.
 */
#include "ir/threads/meet.h"

#include "ir/analysis/affine.h"
#include "ir/arg.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

enum { THREADS = 1024 /* of a block; more are not looked at */, DIMS = 8, TRIES = 256 /* rests */, PAIRS = 1 << 17,
	WARP = 32 /* threads along block.x that share out a fragment */ };

/* The threads that do an access: of each axis a loop, or the first one alone. */
typedef struct Side {
	const ThreadAccess *x;
	int loop[THREAD_AXES]; /* in x->loop; -1: none */
	int64_t lo[THREAD_AXES], n[THREAD_AXES];
	int64_t count;
	const char *var[THREAD_AXES]; /* as the difference calls them */
} Side;

/* One dimension: first[p] + second[q] + r = 0 for an r from lo to hi, r = rest modulo step (step 0: r = rest). */
typedef struct Dim {
	int64_t *value[2];
	int64_t lo, hi, rest, step;
} Dim;

static bool find_side(Side *s, const ThreadAccess *x)
{
	*s = (Side){ .x = x, .loop = { -1, -1, -1 }, .n = { 1, 1, 1 }, .count = 1 };
	for (int k = 0; k < x->nloop; k++) {
		int axis;
		int64_t lo, hi;
		if (ir_axis_of(x->loop[k], &axis) != AXIS_BLOCK)
			continue;
		bool known = x->lo[k] != NULL && x->hi[k] != NULL && ir_is_int(x->lo[k], &lo) && ir_is_int(x->hi[k], &hi);
		if (!known || hi <= lo || hi - lo > THREADS)
			return false;
		s->loop[axis] = k;
		s->lo[axis] = lo;
		s->n[axis] = hi - lo;
		s->count *= hi - lo;
		s->var[axis] = x->loop[k]->loop.var;
	}
	if (x->warp && s->loop[0] < 0) {
		s->n[0] = WARP;
		s->count *= WARP;
	}
	return s->count <= THREADS;
}

/* Place of thread p of the side along an axis. */
static int64_t place(const Side *s, int64_t p, int axis)
{
	for (int k = 0; k < axis; k++)
		p /= s->n[k];
	return p % s->n[axis];
}

typedef struct Rename {
	const ThreadAccess *x;
	int from;
} Rename;

static const char *other_name(Ir *ir, const char *var)
{
	return ir_name(ir, arena_printf(ir_arena(ir), "%s~", var));
}

static const Expr *rename_var(Ir *ir, const Expr *e, void *arg)
{
	const Rename *r = arg;
	for (int k = r->from; e->op == IR_VAR && k < r->x->nloop; k++)
		if (strcmp(r->x->loop[k]->loop.var, e->name) == 0)
			return ir_idx(ir, other_name(ir, e->name));
	return e;
}

/* The facts of both, where loops of the second one from `common` on have other names. */
static const Range *facts_of_both(Ir *ir, const ThreadAccess *a, Rename *r)
{
	const Range *env = a->env;
	for (int k = r->from; k < r->x->nloop; k++) {
		const Expr *lo = r->x->lo[k], *hi = r->x->hi[k];
		if (lo != NULL && hi != NULL)
			env = ir_range_for(ir, other_name(ir, r->x->loop[k]->loop.var), ir_map_expr(ir, lo, rename_var, r),
				ir_map_expr(ir, hi, rename_var, r), env);
	}
	return env;
}

enum { OF_FIRST = 1, OF_SECOND = 2, OF_OTHERS = 4 };

typedef struct Vars {
	const Side *side; /* two */
	int of;
} Vars;

static void look_at_var(const Expr *e, void *arg)
{
	Vars *v = arg;
	int of = e->op == IR_VAR ? OF_OTHERS : 0;
	for (int i = 0; i < 2 && of != 0; i++)
		for (int k = 0; k < THREAD_AXES; k++)
			if (v->side[i].var[k] != NULL && strcmp(v->side[i].var[k], e->name) == 0)
				of = i == 0 ? OF_FIRST : OF_SECOND;
	v->of |= of;
}

/* What an expression is for each thread of the side; NULL: it has no value. */
static const int64_t *values_of(ThreadMemo *m, const Side *s, const Expr *e)
{
	struct {
		const Expr *e;
		int64_t n[THREAD_AXES];
	} key = { e, { s->n[0], s->n[1], s->n[2] } };
	MapEntry *known = map_add_bytes(&m->value, &key, sizeof key);
	if (known->ptr != NULL)
		return known->ptr;
	int64_t *value = arena_array(m->arena, int64_t, s->count);
	for (int64_t p = 0; p < s->count; p++) {
		IrArg arg[THREAD_AXES];
		int n = 0;
		for (int k = 0; k < THREAD_AXES; k++)
			if (s->var[k] != NULL)
				arg[n++] = (IrArg){ .name = s->var[k], .value = s->lo[k] + place(s, p, k) };
		if (!ir_eval_int(e, arg, n, &value[p]))
			return NULL;
	}
	known->ptr = value;
	return value;
}

/* Adds what the term is for each thread of the side; false: it has no value. */
static bool add_values(ThreadMemo *m, const Side *s, const Term *t, int64_t *sum)
{
	const int64_t *a = values_of(m, s, t->a), *b = t->b != NULL ? values_of(m, s, t->b) : NULL;
	if (a == NULL || (t->b != NULL && b == NULL))
		return false;
	for (int64_t p = 0; p < s->count; p++) {
		int64_t x = a[p];
		if ((b != NULL && __builtin_mul_overflow(x, b[p], &x)) || __builtin_mul_overflow(x, t->coef, &x) ||
			__builtin_add_overflow(sum[p], x, &sum[p]))
			return false;
	}
	return true;
}

/* False: nothing is known of this dimension. */
static bool find_dim(ThreadMemo *m, Arena *a, const Side *side, const Affine *f, const Range *env, Dim *d)
{
	Affine rest = *f;
	*d = (Dim){ .rest = f->k };
	for (int i = 0; i < 2; i++)
		d->value[i] = arena_array(a, int64_t, side[i].count);
	for (int i = rest.n - 1; i >= 0; i--) {
		const Term *t = &rest.t[i];
		Vars v = { side, 0 };
		ir_each_node(t->a, look_at_var, &v);
		if (t->b != NULL)
			ir_each_node(t->b, look_at_var, &v);
		if (v.of != OF_FIRST && v.of != OF_SECOND) {
			d->step = ir_gcd(d->step, t->coef);
			continue;
		}
		if (!add_values(m, &side[v.of == OF_SECOND], t, d->value[v.of == OF_SECOND]))
			return false;
		ir_affine_drop(&rest, i);
	}
	Wide ends = ir_affine_bounds(&rest, env, NULL);
	const wide far = (wide)1 << 60;
	d->lo = (int64_t)(ends.lo < -far ? -far : ends.lo);
	d->hi = (int64_t)(ends.hi > far ? far : ends.hi);
	return true;
}

static bool may_agree(const Dim *d, int64_t p, int64_t q)
{
	int64_t r;
	if (__builtin_add_overflow(d->value[0][p], d->value[1][q], &r) || __builtin_sub_overflow(0, r, &r))
		return true;
	int64_t off;
	if (r < d->lo || r > d->hi || __builtin_sub_overflow(r, d->rest, &off))
		return false;
	return d->step == 0 ? off == 0 : off % d->step == 0;
}

static bool same_thread(const Side *side, int64_t p, int64_t q)
{
	for (int k = 0; k < THREAD_AXES; k++)
		if (place(&side[0], p, k) != place(&side[1], q, k))
			return false;
	return true;
}

static void find_ends(const int64_t *v, int64_t n, int64_t *lo, int64_t *hi, int64_t *step)
{
	*lo = *hi = v[0];
	for (int64_t k = 1; k < n; k++) {
		*lo = v[k] < *lo ? v[k] : *lo;
		*hi = v[k] > *hi ? v[k] : *hi;
		if (*step == 0 || (v[k] - v[0]) % *step != 0)
			*step = ir_gcd(*step, v[k] - v[0]);
	}
}

/*
 * How many rests let some threads agree in this dimension, given by the ends and the steps of their values: 0, 1 (then
 * *r) or 2 for more.
 */
static int count_rests(const Side *side, const Dim *d, int64_t *r)
{
	int64_t lo[2], hi[2], step = 0;
	int n = 0;
	for (int i = 0; i < 2; i++)
		find_ends(d->value[i], side[i].count, &lo[i], &hi[i], &step);
	int64_t from = d->lo > -(hi[0] + hi[1]) ? d->lo : -(hi[0] + hi[1]);
	int64_t to = d->hi < -(lo[0] + lo[1]) ? d->hi : -(lo[0] + lo[1]);
	int64_t at = -(d->value[0][0] + d->value[1][0]), by = step > 0 ? step : 1;
	if (step == 0) { /* one value on each side */
		from = from > at ? from : at;
		to = to < at ? to : at;
	}
	from = at - ir_floor_div(at - from, by) * by; /* the first one of these steps */
	for (int tries = 0; from <= to && n < 2; from += by, tries++) {
		if (tries == TRIES)
			return 2;
		if (d->step == 0 ? from == d->rest : (from - d->rest) % d->step == 0) {
			*r = from;
			n++;
		}
	}
	return n;
}

/* Whether a pair of different threads agrees in these dimensions, each of which has one rest. */
static bool some_equal(Arena *scratch, const Side *side, const Dim *const *dim, const int64_t *rest, int n)
{
	Map first = MAP_OF(scratch); /* the thread, and 1; -1: several */
	int64_t key[DIMS];
	for (int64_t p = 0; p < side[0].count; p++) {
		for (int k = 0; k < n; k++)
			key[k] = dim[k]->value[0][p];
		MapEntry *e = map_add_bytes(&first, key, sizeof *key * (size_t)n);
		e->num = e->num == 0 ? p + 1 : -1;
	}
	for (int64_t q = 0; q < side[1].count; q++) {
		for (int k = 0; k < n; k++)
			key[k] = -dim[k]->value[1][q] - rest[k];
		const MapEntry *e = map_find_bytes(&first, key, sizeof *key * (size_t)n);
		if (e != NULL && (e->num < 0 || !same_thread(side, e->num - 1, q)))
			return true;
	}
	return false;
}

/* Some pair of different threads agrees in every dimension. */
static bool some_meet(Arena *scratch, const Side *side, const Dim *dim, int n)
{
	const Dim *one[DIMS];
	int64_t rest[DIMS];
	int ones = 0;
	for (int k = 0; k < n; k++) {
		int rests = count_rests(side, &dim[k], &rest[ones]);
		if (rests == 0)
			return false;
		if (rests == 1)
			one[ones++] = &dim[k];
	}
	if (ones > 0 && !some_equal(scratch, side, one, rest, ones))
		return false;
	if (ones == n || side[0].count * side[1].count > PAIRS)
		return true;
	for (int64_t p = 0; p < side[0].count; p++)
		for (int64_t q = 0; q < side[1].count; q++) {
			int d = 0;
			while (d < n && may_agree(&dim[d], p, q))
				d++;
			if (d == n && !same_thread(side, p, q))
				return true;
		}
	return false;
}

typedef struct Inner {
	const ThreadAccess *x;
	int common;
} Inner;

static bool moves(const Expr *e, void *arg)
{
	const Inner *in = arg;
	for (int k = in->common; k < in->x->nloop; k++)
		if (ir_uses_var(e, in->x->loop[k]->loop.var))
			return true;
	return false;
}

/* The index is the iterator, and what is the same in all instances. */
static bool is_iterator(const Expr *idx, const ThreadAccess *x, const char *it, int common)
{
	const Expr *rest = NULL;
	if (idx->op == IR_ADD || idx->op == IR_SUB) {
		rest = idx->arg[1];
		idx = idx->arg[0];
	}
	if (idx->op != IR_VAR || strcmp(idx->name, it) != 0)
		return false;
	if (rest != NULL && moves(rest, &(Inner){ x, common }))
		return false;
	for (int k = 0; k < x->block->block.n && rest != NULL; k++)
		if (ir_uses_var(rest, x->block->block.iter[k].name))
			return false;
	return true;
}

/* Where tiles overlap, several instances have one value. */
static bool overlaps(const Expr *e, void *arg)
{
	return (e->op == IR_MIN || e->op == IR_MAX) && moves(e, arg);
}

/*
 * A store by a block of spatial iterators, each an index: different instances write different elements. These have
 * different places if all are in one slot.
 */
static bool writes_apart(const ThreadAccess *x, int common)
{
	if (x->block == NULL || x->stmt->kind != ST_STORE || !x->write ||
		(x->slot != NULL && moves(x->slot, &(Inner){ x, common })))
		return false;
	for (int k = 0; k < x->block->block.n; k++) {
		const Iter *it = &x->block->block.iter[k];
		Inner in = { x, common };
		bool index = !moves(it->value, &in);
		for (int d = 0; d < x->stmt->store.dst.n; d++)
			index |= is_iterator(x->stmt->store.dst.idx[d], x, it->name, common);
		if (it->kind != ITER_SPATIAL || !index || ir_find_node(it->value, overlaps, &in) != NULL)
			return false;
	}
	return true;
}

/* a = x % n, b = y % n, and n does not divide y - x. */
static bool are_other_slots(const Expr *a, const Expr *b, const Range *env)
{
	Affine f;
	int64_t n;
	return a->op == IR_MOD && b->op == IR_MOD && a->arg[1] == b->arg[1] && ir_is_int(a->arg[1], &n) && n > 1 &&
		ir_affine_difference(a->arg[0], b->arg[0], 0, env, NULL, &f) && f.n == 0 && f.k % n != 0;
}

void ir_thread_facts(ThreadFacts *f, Arena *a)
{
	*f = (ThreadFacts){ MAP_OF(a), MAP_OF(a), MAP_OF(a), MAP_OF(a) };
}

/* The number of the indices, loops and facts of an access; equal ones have one number. */
static uint64_t form_of(ThreadFacts *f, const ThreadAccess *x)
{
	uintptr_t key[4 + 2 * IR_MAX_RANK + 4 * IR_MAX_DEPTH];
	size_t n = 0;
	key[n++] = (uintptr_t)x->env;
	key[n++] = (uintptr_t)x->n;
	key[n++] = (uintptr_t)x->nloop;
	key[n++] = x->warp;
	for (int k = 0; k < x->n; k++)
		key[n++] = (uintptr_t)x->idx[k];
	for (int k = 0; k < x->nloop; k++) {
		int axis = 0;
		AxisKind kind = ir_axis_of(x->loop[k], &axis);
		key[n++] = (uintptr_t)x->loop[k]->loop.var;
		key[n++] = (uintptr_t)x->lo[k];
		key[n++] = (uintptr_t)x->hi[k];
		key[n++] = (uintptr_t)kind * THREAD_AXES + (uintptr_t)axis;
	}
	MapEntry *e = map_add_bytes(&f->form, key, n * sizeof *key);
	return (uint64_t)(e - f->form.at);
}

static bool indices_meet(ThreadMemo *memo, const Side *of, const ThreadAccess *a, const ThreadAccess *b, int common)
{
	Ir *ir = memo->ir;
	Side side[2] = { of[0], of[1] };
	Dim dim[DIMS];
	int n = 0;
	Rename r = { b, common };
	const Range *env = facts_of_both(ir, a, &r);
	for (int k = 0; k < THREAD_AXES; k++)
		if (side[1].loop[k] >= 0)
			side[1].var[k] = other_name(ir, side[1].var[k]);
	Arena *scratch = arena_new();
	bool apart = false;
	for (int k = 0; k < a->n && n < DIMS && !apart; k++) {
		Affine f;
		if (a->idx[k] == NULL || b->idx[k] == NULL)
			continue;
		const Expr *other = ir_map_expr(ir, b->idx[k], rename_var, &r);
		apart = are_other_slots(a->idx[k], other, env);
		if (ir_affine_difference(a->idx[k], other, 0, env, NULL, &f) && find_dim(memo, scratch, side, &f, env, &dim[n]))
			n++;
	}
	bool meet = !apart && some_meet(scratch, side, dim, n);
	arena_free(scratch);
	return meet;
}

bool ir_threads_may_meet(ThreadMemo *memo, const ThreadAccess *a, const ThreadAccess *b, int common)
{
	Side side[2];
	if (strcmp(a->buf, b->buf) != 0 || (!a->write && !b->write))
		return false;
	if (a->anywhere || b->anywhere || a->by_all || b->by_all || a->n != b->n || !find_side(&side[0], a) ||
		!find_side(&side[1], b))
		return true;
	if (a == b && writes_apart(a, common))
		return false;
	ThreadFacts *f = memo->facts;
	uint64_t key[] = { form_of(f, a), form_of(f, b), (uint64_t)common };
	MapEntry *known = map_add_bytes(&f->meet, key, sizeof key);
	if (known->num == 0)
		known->num = 1 + indices_meet(memo, side, a, b, common);
	return known->num == 2;
}
