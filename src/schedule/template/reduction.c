/*
 * The naive loops of a reduction and of the elementwise nests that follow it -> a Tiled (reduction.h), which templates
 * cut. Which call of a Task is read, and along which axis elements lie side by side. What has another form is not read:
 * such nests get the generated space.
 */
#include "schedule/template/reduction.h"

#include "ir/walk.h"
#include "op/op.h"
#include "schedule/accesses.h"

#include <string.h>

typedef struct Loops {
	int n;
	TileAxis at[2 * TILE_AXES];
	const Stmt *block;
} Loops;

static bool read_loops(const Stmt *s, Loops *out)
{
	*out = (Loops){ 0 };
	for (; s->kind == ST_FOR; s = s->loop.body) {
		int64_t lo, hi;
		if (out->n == 2 * TILE_AXES || (out->n > 0 && s->next != NULL) || s->loop.kind != LOOP_SERIAL ||
			!ir_is_int(s->loop.lo, &lo) || !ir_is_int(s->loop.hi, &hi) || lo != 0 || hi < 1)
			return false;
		out->at[out->n++] = (TileAxis){ s->loop.var, hi };
		if (s->loop.body == NULL)
			return false;
	}
	if (out->n == 0 || s->kind != ST_BLOCK || s->next != NULL || s->block.n != out->n)
		return false;
	for (int k = 0; k < out->n; k++) /* iterator k is loop k */
		if (s->block.iter[k].value->op != IR_VAR || strcmp(s->block.iter[k].value->name, out->at[k].name) != 0)
			return false;
	out->block = s;
	return true;
}

/* The reduction's loops: spatial ones first, as many reduce ones behind them, one statement. */
static bool read_reduction(const KernelSet *ks, const Loops *l, Tiled *t)
{
	const Stmt *b = l->block, *r = b->block.body;
	if (b->block.init == NULL || b->block.where != NULL || r->kind != ST_REDUCE || r->next != NULL || r->reduce.n != 1)
		return false;
	t->block = b->block.name;
	t->sum = r->reduce.value[0]->type;
	for (int k = 0; k < l->n; k++) {
		const Iter *it = &b->block.iter[k];
		bool reduce = it->kind == ITER_REDUCE;
		if (it->kind == ITER_SCAN || (!reduce && t->nreduce > 0) || t->n == TILE_AXES || t->nreduce == TILE_AXES)
			return false;
		if (reduce)
			t->reduce[t->nreduce++] = l->at[k];
		else
			t->axis[t->n++] = l->at[k];
	}
	for (int k = 0; k < t->n; k++)
		if (r->reduce.dst[0].n != t->n || r->reduce.dst[0].idx[k]->op != IR_VAR ||
			strcmp(r->reduce.dst[0].idx[k]->name, b->block.iter[k].name) != 0)
			return false;
	t->selects = nest_skips(ks, r);
	return t->nreduce > 0;
}

static bool is_elementwise(const Loops *l, const Tiled *t)
{
	const Stmt *b = l->block;
	if (l->n != t->n || b->block.init != NULL || b->block.where != NULL || b->block.body->kind != ST_STORE ||
		b->block.body->next != NULL)
		return false;
	for (int k = 0; k < t->n; k++)
		if (l->at[k].extent != t->axis[k].extent)
			return false;
	return true;
}

static const Buf *stored_by(const Fn *fn, const Stmt *block)
{
	const Stmt *s = block->block.body;
	return ir_find_buf(fn, s->kind == ST_STORE ? s->store.dst.buf : s->reduce.dst[0].buf);
}

typedef struct Taking {
	const Fn *fn;
	const Stmt *const *block; /* those read so far */
	int n;
	const Stmt *by; /* this block */
	bool plain;
} Taking;

/* What the blocks before make is taken element by element, each iterator the index of its dimension. */
static void see_load(const Expr *e, void *arg)
{
	Taking *t = arg;
	for (int k = 0; e->op == IR_LOAD && k < t->n; k++) {
		if (strcmp(stored_by(t->fn, t->block[k])->name, e->name) != 0)
			continue;
		for (int d = 0; d < e->nargs; d++)
			t->plain &= e->arg[d]->op == IR_VAR && strcmp(e->arg[d]->name, t->by->block.iter[d].name) == 0;
	}
}

/*
 * As many of the nests behind the reduction as are elementwise and keep to themselves what they and the reduction
 * make, up to the last one's result.
 */
static void read_epilogue(Arena *a, const Fn *fn, const Stmt *nest, const Stmt *reduction, Tiled *t)
{
	const Stmt *block[TILE_BLOCKS + 1] = { reduction };
	Loops l;
	int n = 1, taken = 1;
	for (const Stmt *s = nest->next; s != NULL && n <= TILE_BLOCKS && read_loops(s, &l) && is_elementwise(&l, t);
		 s = s->next) {
		bool own = true; /* nothing behind s reads what these blocks store */
		for (int k = 0; k < n; k++) {
			const Buf *b = stored_by(fn, block[k]);
			own &= b->role == BUF_WORK && producer_touches(s->next, b->name).loads == 0;
		}
		Taking taking = { fn, block, n, l.block, true };
		ir_each_node(l.block->block.body->store.value, see_load, &taking);
		if (!taking.plain)
			break;
		block[n++] = l.block;
		if (!own)
			continue;
		taken = n;
		t->ends = s->next == NULL;
		memcpy(t->out, l.at, sizeof *l.at * (size_t)t->n);
	}
	t->bare = taken == 1;
	t->result = stored_by(fn, block[taken - 1]);
	t->last = t->bare ? NULL : block[taken - 1]->block.name;
	for (int k = 1; k < taken - 1; k++)
		t->middle[t->nmiddle++] = block[k]->block.name;
	for (int k = 0; t->bare && k < t->n; k++)
		t->out[k] = (TileAxis){ arena_printf(a, "%s.w", t->axis[k].name), t->axis[k].extent };
}

/*
 * The nests before the reduction, if all are elementwise and only the reduction and they read what they make: the last
 * one's result. Else there is no prologue.
 */
static void read_prologue(const Fn *fn, const Stmt *nest, Tiled *t)
{
	Loops l;
	int n = 0;
	for (const Stmt *s = fn->body; s != nest; s = s->next) {
		if (n == TILE_BLOCKS || !read_loops(s, &l) || l.n > TILE_AXES || l.block->block.init != NULL ||
			l.block->block.where != NULL || l.block->block.body->kind != ST_STORE || l.block->block.body->next != NULL)
			return;
		const Buf *b = stored_by(fn, l.block);
		bool last = s->next == nest;
		if (b->role != BUF_WORK || producer_touches(nest->next, b->name).loads > 0 ||
			(producer_touches(nest->loop.body, b->name).loads > 0) != last)
			return;
		t->before[n++] = l.block->block.name;
		t->made = b;
		t->nmade = l.n;
		memcpy(t->make, l.at, sizeof *l.at * (size_t)l.n);
	}
	t->nbefore = n;
}

bool tiled_read_nest(const Sketch *s, const Stmt *nest, Tiled *t)
{
	Loops l;
	*t = (Tiled){ .ends = nest->next == NULL };
	if (s->naive->n != 1 || !read_loops(nest, &l) || !read_reduction(s->naive, &l, t))
		return false;
	const char *buf = l.block->block.body->reduce.dst[0].buf;
	read_epilogue(s->arena, s->naive->fn[0], nest, l.block, t);
	t->sums = t->bare ? arena_printf(s->arena, "%s.c", buf) : buf;
	return true;
}

bool tiled_read(const Sketch *s, const OpCall *call, Tiled *t)
{
	const char *name = s->task->dag->value.at[call->out[0]].name;
	size_t len = strlen(name);
	if (s->naive->n != 1)
		return false;
	for (const Stmt *nest = s->naive->fn[0]->body; nest != NULL; nest = nest->next) {
		Loops l;
		*t = (Tiled){ .ends = nest->next == NULL };
		if (!read_loops(nest, &l) || !read_reduction(s->naive, &l, t))
			continue;
		/* The buffer is the call's result, v3, or a work buffer of the call, v3.acc. */
		const char *buf = l.block->block.body->reduce.dst[0].buf;
		if (strncmp(buf, name, len) != 0 || (buf[len] != 0 && buf[len] != '.'))
			continue;
		tiled_read_nest(s, nest, t);
		read_prologue(s->naive->fn[0], nest, t);
		return true;
	}
	return false;
}

const OpCall *tile_anchor(const Dag *d)
{
	const OpCall *best = NULL;
	for (size_t k = 0; k < d->call.n; k++) {
		const OpCall *c = &d->call.at[k];
		OpClass class = op_row(c->op)->class, before = best != NULL ? op_row(best->op)->class : OP_ELEMENTWISE;
		if (class != OP_ANCHOR && class != OP_REDUCTION)
			continue;
		if (best == NULL || (class == before ? op_flops(d, c) > op_flops(d, best) : class == OP_ANCHOR))
			best = c;
	}
	return best;
}

int tile_side(const Buf *b)
{
	for (int k = b->map.n - 1; k >= 0; k--)
		for (int v = 0; v < b->map.nvar; v++)
			if (!ir_is_const(b->map.extent[k], 1) && ir_uses_var(b->map.at[k], b->map.var[v]))
				return v;
	for (int k = b->rank - 1; b->map.n == 0 && k >= 0; k--)
		if (!ir_is_const(b->shape[k], 1))
			return k;
	return -1;
}

int tiled_contiguous(const Tiled *t)
{
	return t->result->rank == t->n + (t->nmerge > 0) ? tile_side(t->result) : -1;
}

void tiled_merge(const Sketch *s, Tiled *t)
{
	TileAxis *of[] = { t->axis, t->out };
	const char *block[] = { t->block, t->bare ? arena_printf(s->arena, "%s.write", t->block) : t->last };
	for (int k = 0; k < 2; k++) {
		TileAxis *h = &of[k][TILE_ROWS], *w = h + 1;
		t->merge[t->nmerge++] = (TileMerge){ block[k], h->name, w->name };
		*h = (TileAxis){ arena_printf(s->arena, "%s_%s", h->name, w->name), h->extent * w->extent };
	}
	t->n--;
}

void tiled_merge_steps(Sketch *s, const Tiled *t, bool stored)
{
	for (int k = 0; k < t->nmerge - !stored; k++)
		sketch_step(s, "merge %s %s %s", t->merge[k].block, t->merge[k].rows, t->merge[k].columns);
}
