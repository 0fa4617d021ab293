/* See block.h: reading, and what is inlined. */
#include "schedule/template/block.h"

#include "ir/arg.h"
#include "ir/build.h"
#include "ir/query.h"
#include "schedule/limit.h"
#include "schedule/nest.h"

#include <string.h>

/* ---- reading ---- */

static void note_node(const Expr *e, void *arg)
{
	(void)e;
	((BlockNest *)arg)->nodes++;
}

/* Each dimension is an iterator of its own, or a constant; and all spatial iterators are dimensions. */
static bool read_target(BlockNest *n, const Access *dst, const Buf *b)
{
	int found = 0;
	n->whole = true;
	for (int d = 0; d < dst->n; d++) {
		int64_t c;
		n->axis_of[d] = -1;
		for (int k = 0; k < n->n && dst->idx[d]->op == IR_VAR; k++)
			if (dst->idx[d]->name == n->axis[k].iter)
				n->axis_of[d] = k;
		int at = n->axis_of[d];
		if (at < 0 && (!ir_is_int(dst->idx[d], &c) || !ir_is_const(b->shape[d], 1)))
			return false;
		for (int j = 0; j < d && at >= 0; j++)
			if (n->axis_of[j] == at)
				return false;
		if (at >= 0 && (n->axis[at].reduce || !ir_is_const(b->shape[d], n->axis[at].extent)))
			return false;
		found += at >= 0;
		n->whole &= at >= 0;
	}
	return found == n->spatial;
}

static void read_form(const KernelSet *ks, const Fn *fn, BlockNest *n)
{
	const Stmt *b = n->stmt, *s = b->block.body;
	const Access *dst = s->kind == ST_STORE ? &s->store.dst : s->kind == ST_REDUCE ? &s->reduce.dst[0] : NULL;
	ir_each_node_in((Stmt *)(uintptr_t)b->block.body, note_node, n);
	if (dst == NULL || s->next != NULL || b->block.where != NULL)
		return;
	n->made = ir_find_buf(fn, dst->buf);
	if (n->made == NULL || !read_target(n, dst, n->made))
		return;
	if (s->kind == ST_STORE) {
		n->maps = b->block.init == NULL && n->spatial == n->n && s->store.mask == NULL;
		return;
	}
	const Stmt *init = b->block.init;
	n->folds = s->reduce.n == 1 && !s->reduce.atomic && s->reduce.mask == NULL && n->spatial < n->n && init != NULL &&
		init->kind == ST_STORE && init->next == NULL;
	n->selects = nest_skips(ks, s);
}

/* A block without loops, as of a scalar: no template schedules it, but others may be inlined beside it. */
static void read_scalar(const Fn *fn, const Stmt *block, BlockNest *n)
{
	const Stmt *s = block->block.body;
	if (s->kind != ST_STORE || s->next != NULL)
		return;
	n->stmt = block;
	n->made = ir_find_buf(fn, s->store.dst.buf);
}

static void read_nest(const KernelSet *ks, const Fn *fn, const Stmt *s, BlockNest *n)
{
	*n = (BlockNest){ .block = NULL };
	const Stmt *l = s;
	for (; l->kind == ST_FOR; l = l->loop.body) {
		int64_t lo, hi;
		if (n->n == BLOCK_AXES || (l != s && l->next != NULL) || l->loop.kind != LOOP_SERIAL ||
			!ir_is_int(l->loop.lo, &lo) || !ir_is_int(l->loop.hi, &hi) || lo != 0 || hi < 1 || l->loop.body == NULL)
			return;
		n->axis[n->n++] = (BlockAxis){ .loop = l->loop.var, .extent = hi };
	}
	if (n->n == 0 && l->kind == ST_BLOCK && l->block.n == 0)
		read_scalar(fn, l, n);
	if (n->n == 0 || l->kind != ST_BLOCK || (l != s && l->next != NULL) || l->block.n != n->n)
		return;
	for (int k = 0; k < n->n; k++) { /* iterator k is loop k */
		const Iter *it = &l->block.iter[k];
		if (it->value->op != IR_VAR || it->value->name != n->axis[k].loop || it->kind == ITER_SCAN)
			return;
		n->axis[k].iter = it->name;
		n->axis[k].reduce = it->kind == ITER_REDUCE;
		if (!n->axis[k].reduce && n->spatial < k)
			return; /* spatial loops come first */
		n->spatial += !n->axis[k].reduce;
	}
	n->stmt = l;
	n->block = l->block.name;
	read_form(ks, fn, n);
}

bool block_read(const Sketch *s, BlockSet *out)
{
	*out = (BlockSet){ 0 };
	if (s->naive->n != 1)
		return false;
	out->fn = s->naive->fn[0];
	for (const Stmt *top = out->fn->body; top != NULL; top = top->next) {
		if (out->n == BLOCK_NESTS)
			return false;
		read_nest(s->naive, out->fn, top, &out->nest[out->n]);
		out->n++;
	}
	return true;
}

int64_t block_outputs(const BlockNest *n)
{
	int64_t all = 1;
	for (int k = 0; k < n->spatial; k++)
		all *= n->axis[k].extent;
	return all;
}

int64_t block_folded(const BlockNest *n)
{
	int64_t all = 1;
	for (int k = n->spatial; k < n->n; k++)
		all *= n->axis[k].extent;
	return all;
}

typedef struct Reading {
	const BlockNest *n;
	const char *buf;
	int times, *axis;
	bool plain;
} Reading;

static int axis_named(const BlockNest *n, const Expr *e)
{
	for (int k = 0; e->op == IR_VAR && k < n->n; k++)
		if (n->axis[k].iter == e->name)
			return k;
	return -1;
}

static void see_load(const Expr *e, void *arg)
{
	Reading *r = arg;
	if (e->op != IR_LOAD || strcmp(e->name, r->buf) != 0)
		return;
	for (int d = 0; d < e->nargs; d++) {
		int64_t c;
		int at = axis_named(r->n, e->arg[d]);
		r->plain &= at >= 0 || ir_is_int(e->arg[d], &c);
		r->plain &= r->times == 0 || r->axis[d] == at;
		r->axis[d] = at;
	}
	r->times++;
}

bool block_reads(const BlockNest *n, const char *buf, bool *plain, int axis[IR_MAX_RANK])
{
	Reading r = { n, buf, 0, axis, true };
	Stmt one = *n->stmt;
	one.next = NULL;
	ir_each_node_in(&one, see_load, &r);
	*plain = r.times > 0 && r.plain;
	return r.times > 0;
}

int block_reader(const BlockSet *set, int k)
{
	int found = -1, axis[IR_MAX_RANK];
	bool plain;
	for (int j = 0; j < set->n; j++) {
		if (j == k)
			continue;
		if (set->nest[j].block == NULL)
			return -1;
		if (!block_reads(&set->nest[j], set->nest[k].made->name, &plain, axis))
			continue;
		if (found >= 0)
			return -1;
		found = j;
	}
	return found;
}

int block_root(const BlockSet *set, int k, int axis[IR_MAX_RANK])
{
	bool plain;
	int at = block_reader(set, k), next[IR_MAX_RANK];
	if (at < 0 || !block_reads(&set->nest[at], set->nest[k].made->name, &plain, axis) || !plain)
		return -1;
	while (set->nest[at].inlined) {
		const BlockNest *n = &set->nest[at];
		int reader = block_reader(set, at);
		if (reader < 0 || !block_reads(&set->nest[reader], n->made->name, &plain, next) || !plain)
			return -1;
		for (int d = 0; d < set->nest[k].made->rank; d++) { /* through the dimension that the axis moves */
			int to = -1;
			for (int e = 0; e < n->made->rank && axis[d] >= 0; e++)
				if (n->axis_of[e] == axis[d])
					to = next[e];
			axis[d] = to;
		}
		at = reader;
	}
	return at;
}

/* ---- traffic ---- */

typedef struct Traffic {
	const BlockSet *set;
	const BlockNest *n;
	int axis;
	bool params; /* of the Task's own tensors alone */
	double weight;
} Traffic;

/* An index moves by one with the axis: the iterator itself, or a sum with it. */
static bool moves_by_one(const Expr *e, const char *iter)
{
	if (e->op == IR_VAR)
		return e->name == iter;
	if (e->op == IR_ADD || e->op == IR_SUB)
		return (moves_by_one(e->arg[0], iter) && !ir_uses_var(e->arg[1], iter)) ||
			(e->op == IR_ADD && moves_by_one(e->arg[1], iter) && !ir_uses_var(e->arg[0], iter));
	return false;
}

static void add_access(Traffic *t, const Buf *b, const Expr *const *idx, int n, double times)
{
	int side = tile_side(b);
	int64_t elements = ir_buf_elements(b, NULL, 0), iterations = block_outputs(t->n) * block_folded(t->n);
	if (side < 0 || side >= n || (t->params && b->role == BUF_WORK) ||
		!moves_by_one(idx[side], t->n->axis[t->axis].iter))
		return;
	t->weight += times * (double)(elements > 0 && elements < iterations ? elements : iterations);
}

static void note_load(const Expr *e, void *arg)
{
	Traffic *t = arg;
	const Buf *b = e->op == IR_LOAD ? ir_find_buf(t->set->fn, e->name) : NULL;
	if (b != NULL)
		add_access(t, b, e->arg, e->nargs, 1);
}

static double traffic(const BlockSet *set, const BlockNest *n, int axis, bool params)
{
	Traffic t = { set, n, axis, params, 0 };
	const Stmt *s = n->stmt->block.body;
	ir_each_node_in((Stmt *)(uintptr_t)s, note_load, &t);
	if (s->kind == ST_STORE || s->kind == ST_REDUCE) {
		const Access *dst = s->kind == ST_STORE ? &s->store.dst : &s->reduce.dst[0];
		const Buf *b = ir_find_buf(set->fn, dst->buf);
		if (b != NULL)
			add_access(&t, b, dst->idx, dst->n, TMPL_BLOCK_STORE);
	}
	return t.weight;
}

double block_traffic(const BlockSet *set, const BlockNest *n, int axis)
{
	return traffic(set, n, axis, false);
}

double block_params_traffic(const BlockSet *set, const BlockNest *n, int axis)
{
	return traffic(set, n, axis, true);
}

int64_t block_digit(const Buf *b)
{
	int64_t n = 0;
	for (int k = b->map.n - 1; k >= 0; k--)
		if (!ir_is_const(b->map.extent[k], 1))
			return b->map.at[k]->op == IR_MOD && ir_is_int(b->map.extent[k], &n) ? n : 0;
	return 0;
}

/* ---- inlining ---- */

/* Reads of one nest: how often an element is read on average. */
static bool worth_inlining(const BlockSet *set, int k)
{
	const BlockNest *n = &set->nest[k];
	int64_t reads = 0, outputs = block_outputs(n);
	int axis[IR_MAX_RANK], readers = 0;
	bool plain;
	for (int j = 0; j < set->n; j++) {
		const BlockNest *r = &set->nest[j];
		if (j == k)
			continue;
		if (r->block == NULL || (r->made == n->made && r->made != NULL))
			return false;
		if (!block_reads(r, n->made->name, &plain, axis))
			continue;
		if (j < k || r->nodes + n->nodes > TMPL_BLOCK_NODES)
			return false;
		reads += block_outputs(r) * block_folded(r);
		readers++;
	}
	return readers > 0 && reads <= outputs * TMPL_BLOCK_AGAIN;
}

void block_inline(Sketch *s, BlockSet *set)
{
	int axis[IR_MAX_RANK];
	bool plain;
	for (int k = 0; k < set->n; k++) {
		BlockNest *n = &set->nest[k];
		if (n->block == NULL || !n->maps || !n->whole || n->made->role != BUF_WORK || n->done ||
			!worth_inlining(set, k))
			continue;
		sketch_step(s, "inline %s", n->block);
		n->inlined = n->done = true;
		for (int j = k + 1; j < set->n; j++)
			if (block_reads(&set->nest[j], n->made->name, &plain, axis))
				set->nest[j].nodes += n->nodes;
	}
}

/* ---- limits ---- */

int64_t block_most_threads(const Target *t)
{
	int64_t most = limit_row(LIMIT_threads)->most, own = t->blocks.block_threads;
	return own > 0 && own < most ? own : most;
}

int block_powers(int64_t from, int64_t to, int64_t option[KNOB_OPTIONS])
{
	int n = 0;
	for (int64_t p = from; p <= to && n < KNOB_OPTIONS; p *= 2)
		option[n++] = p;
	return n;
}
