/* See loop_nest.h: what is read off a nest before knobs are asked for. */
#include "schedule/template/loop_nest.h"
#include "schedule/template/tile.h"

#include "ir/analysis/affine.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

static DType widest_store(const Fn *fn, const Stmt *s)
{
	DType widest = BOOL;
	for (; s != NULL; s = s->next) {
		const Buf *b = NULL;
		if (s->kind == ST_STORE)
			b = ir_find_buf(fn, s->store.dst.buf);
		else if (s->kind == ST_REDUCE)
			b = ir_find_buf(fn, s->reduce.dst[0].buf);
		if (b != NULL && b->type.bits > widest.bits)
			widest = b->type;
	}
	return widest;
}

typedef struct Count {
	Nest *n;
	const Stmt *block;
} Count;

static bool depends(const Expr *load, const Stmt *block, const char *loop)
{
	for (int i = 0; i < block->block.n; i++)
		if (ir_uses_var(load, block->block.iter[i].name) && ir_uses_var(block->block.iter[i].value, loop))
			return true;
	return false;
}

typedef struct Digits {
	const Fn *fn;
	Nest *n;
} Digits;

static void see_digits(const Digits *s, const char *buf, const Expr *const *idx)
{
	const Buf *b = ir_find_buf(s->fn, buf);
	int64_t digit;
	for (int k = 0; b != NULL && k < b->map.n; k++) {
		const Expr *at = b->map.at[k];
		if (at->op != IR_MOD || at->arg[0]->op != IR_VAR || !ir_is_int(at->arg[1], &digit))
			continue;
		for (int d = 0; d < b->rank; d++)
			for (int j = 0; j < s->n->n && b->map.var[d] == at->arg[0]->name; j++)
				if (depends(idx[d], s->n->stmt, s->n->axis[j].name))
					s->n->axis[j].digit = digit;
	}
}

static void see_load_digits(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		see_digits(arg, e->name, e->arg);
}

void loop_nest_see_series(const Expr *e, void *arg)
{
	Node op = e->op;
	*(bool *)arg |= op == IR_EXP || op == IR_LOG || op == IR_TANH || op == IR_ERF || op == IR_SIGMOID || op == IR_POW ||
	                op == IR_SIN || op == IR_COS || op == IR_ATAN || op == IR_EXPM1 || op == IR_LOG1P;
}

static void count_load(const Expr *e, void *arg)
{
	Count *c = arg;
	if (e->op != IR_LOAD)
		return;
	c->n->loads++;
	for (int k = 0; k < c->n->n; k++)
		c->n->axis[k].loads += depends(e, c->block, c->n->axis[k].name);
}

typedef struct Moves {
	const Nest *n;
	int axis, other;
	int64_t step;
} Moves;

static bool moves(const Nest *n, const Expr *e, int axis)
{
	return depends(e, n->stmt, n->axis[axis].name);
}

static void see_window(const Expr *e, void *arg)
{
	Moves *m = arg;
	Affine f;
	int both = -1, one = 0;
	for (int k = 0; e->op == IR_LOAD && k < e->nargs; k++) {
		bool a = moves(m->n, e->arg[k], m->axis), b = moves(m->n, e->arg[k], m->other);
		both = a && b ? k : both;
		one += a || b;
	}
	if (both < 0 || one != 1 || ir_has_load(e->arg[both]) || !ir_affine_of(e->arg[both], &f))
		return; /* a loaded index is no window */
	for (int i = 0; i < f.n; i++)
		if (moves(m->n, f.t[i].a, m->axis))
			m->step = f.t[i].coef < 0 ? -f.t[i].coef : f.t[i].coef;
}

static void see_guard(const Expr *e, void *arg)
{
	Moves *m = arg;
	m->step |= e->op == IR_SELECT && moves(m->n, e->arg[0], m->axis);
}

static void see_wide(const Expr *e, void *arg)
{
	Moves *m = arg;
	bool axis = false, other = false;
	for (int k = 0; e->op == IR_LOAD && k < e->nargs; k++) {
		axis |= moves(m->n, e->arg[k], m->axis);
		other |= moves(m->n, e->arg[k], m->other);
	}
	m->step |= axis && other;
}

static int64_t step_of(const Nest *n, void (*see)(const Expr *, void *), int axis, int other)
{
	Moves m = { n, axis, other, 0 };
	for (const Stmt *b = n->stmt->block.body; b != NULL; b = b->next)
		ir_each_node_of(b, see, &m);
	return m.step;
}

int64_t loop_nest_window(const Nest *n, int axis, int reduce)
{
	return step_of(n, see_window, axis, reduce);
}

bool loop_nest_reads_along(const Nest *n, int axis, int other)
{
	return step_of(n, see_wide, axis, other) != 0;
}

bool loop_nest_is_guarded(const Nest *n, int axis)
{
	return step_of(n, see_guard, axis, axis) != 0;
}

static bool stores(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_STORE || s->kind == ST_REDUCE;
}

/* The axis of the nest that moves along there; -1: none does, or a loaded index leads there. */
static int side_axis(const Fn *fn, const Stmt *block, const Nest *n)
{
	const Stmt *s = ir_find_below(block, stores, NULL);
	const Access *dst = s == NULL ? NULL : s->kind == ST_STORE ? &s->store.dst : &s->reduce.dst[0];
	const Buf *b = dst != NULL ? ir_find_buf(fn, dst->buf) : NULL;
	int d = b != NULL ? tile_side(b) : -1;
	for (int i = 0; d >= 0 && !ir_has_load(dst->idx[d]) && i < block->block.n; i++)
		for (int k = 0; k < n->n; k++)
			if (ir_uses_var(dst->idx[d], block->block.iter[i].name) &&
				ir_uses_var(block->block.iter[i].value, n->axis[k].name))
				return k;
	return -1;
}

typedef struct Across {
	const Fn *fn;
	const Stmt *block;
	const Nest *n;
	int axis;
} Across;

/* A load that moves with all spatial axes: a transpose, or what was inlined into one. */
static void see_across(const Expr *e, void *arg)
{
	Across *x = arg;
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(x->fn, e->name) : NULL;
	int d = b != NULL ? tile_side(b) : -1, side = -1;
	if (d < 0)
		return;
	for (int k = 0; k < x->n->n; k++) {
		bool moves = x->n->axis[k].extent < 2;
		for (int i = 0; i < x->block->block.n; i++)
			for (int j = 0; j < e->nargs; j++)
				if (ir_uses_var(x->block->block.iter[i].value, x->n->axis[k].name) &&
					ir_uses_var(e->arg[j], x->block->block.iter[i].name)) {
					moves = true;
					side = j == d && x->n->axis[k].extent > 1 ? k : side;
				}
		if (!moves)
			return;
	}
	x->axis = side >= 0 && side != x->n->side ? side : x->axis;
}

static int across_axis(const Fn *fn, const Stmt *block, const Nest *n)
{
	Across x = { fn, block, n, -1 };
	const Stmt *s = block->block.body;
	for (int k = 0; k < n->n; k++)
		if (n->axis[k].reduce)
			return -1;
	if (s->kind == ST_STORE && s->next == NULL && n->side >= 0)
		ir_each_node(s->store.value, see_across, &x);
	return x.axis;
}

/*
 * Of 14 columns 8 and 4 are turned, and 2 are gathered. A row that is loaded serves as many columns as the square has.
 * Columns as short as lanes that are a whole axis are one run of memory: their rows alone take time.
 */
double loop_nest_turns(const Nest *n, int axis, int64_t size, int lanes, int64_t part)
{
	bool run = part == n->axis[lanes].extent && part <= TMPL_NEST_TURN_RUN;
	int64_t extent = n->axis[axis].extent, left = size;
	double time = 0;
	for (int64_t square = 64; square >= TMPL_NEST_TURN_LEAST; square /= 2)
		for (; left >= square; left -= square)
			time += run ? 1 : (double)square + TMPL_NEST_TURN_ROWS;
	time += (double)left * (run ? 1 : TMPL_NEST_TURN_GATHERED);
	return time * (double)((extent + size - 1) / size) * (extent % size == 0 ? 1 : TMPL_NEST_TURN_AGAIN);
}

typedef struct Reads {
	const char *buf;
	bool any;
} Reads;

static void see_read(const Expr *e, void *arg)
{
	Reads *r = arg;
	r->any |= e->op == IR_LOAD && strcmp(e->name, r->buf) == 0;
}

/* One store or sum of each iteration, which reads nothing of its result: done again, it changes nothing. */
static bool may_repeat(const Nest *n, const Stmt *block)
{
	const Stmt *body = block->block.body;
	bool store = body->kind == ST_STORE && !n->reduces;
	if (n->scans || block->block.where != NULL || body->next != NULL || !(store || n->sums))
		return false;
	Reads r = { store ? body->store.dst.buf : body->reduce.dst[0].buf, false };
	ir_each_node_of(body, see_read, &r);
	return !r.any;
}

bool loop_nest_read(const Fn *fn, const Stmt *s, Nest *out)
{
	*out = (Nest){ 0 };
	const Stmt *l = s;
	for (; l != NULL && l->kind == ST_FOR; l = l->loop.body) {
		int64_t lo, hi;
		if (out->n == LOOPS || (l != s && l->next != NULL) || l->loop.kind != LOOP_SERIAL ||
			!ir_is_int(l->loop.lo, &lo) || !ir_is_int(l->loop.hi, &hi) || lo != 0)
			return false;
		out->axis[out->n++] = (Axis){ .name = l->loop.var, .extent = hi };
	}
	if (out->n == 0 || l == NULL || l->kind != ST_BLOCK || l->next != NULL)
		return false;
	out->block = l->block.name;
	out->stmt = l;
	out->side = side_axis(fn, l, out);
	out->type = widest_store(fn, l->block.body);
	const Stmt *body = l->block.body, *init = l->block.init;
	out->sums = init != NULL && init->next == NULL && init->kind == ST_STORE && l->block.where == NULL &&
		body->kind == ST_REDUCE && body->next == NULL && body->reduce.n == 1 &&
		ir_is_builtin_monoid(body->reduce.monoid);
	for (int i = 0; i < l->block.n; i++)
		for (int k = 0; k < out->n; k++)
			if (ir_uses_var(l->block.iter[i].value, out->axis[k].name)) {
				out->axis[k].scan |= l->block.iter[i].kind == ITER_SCAN;
				out->axis[k].reduce |= l->block.iter[i].kind != ITER_SPATIAL;
				out->scans |= out->axis[k].scan;
				out->reduces |= out->axis[k].reduce;
			}
	for (const Stmt *b = l->block.body; b != NULL; b = b->next) {
		ir_each_node_of(b, count_load, &(Count){ out, l });
		ir_each_node_of(b, see_load_digits, &(Digits){ fn, out });
		if (b->kind == ST_STORE)
			see_digits(&(Digits){ fn, out }, b->store.dst.buf, b->store.dst.idx);
		for (int k = 0; b->kind == ST_REDUCE && k < b->reduce.n; k++)
			see_digits(&(Digits){ fn, out }, b->reduce.dst[k].buf, b->reduce.dst[k].idx);
		ir_each_node_of(b, loop_nest_see_series, &out->series);
	}
	out->across = across_axis(fn, l, out);
	out->again = may_repeat(out, l);
	return true;
}
