/*
 * See loop_pieces.h. An index such as min(max(w - 3, 3 - w), 113 - w) is read by its values: a piece ends where the
 * next value leaves the line through those before it. So nothing here knows how an operator writes a border.
 */
#include "schedule/template/loop_pieces.h"

#include "ir/arg.h"
#include "ir/query.h"
#include "ir/walk.h"

#include <string.h>

/* Where pieces of an axis begin, besides 0, in order. */
typedef struct Cuts {
	const char *iter;
	int64_t extent;
	int n;
	int64_t at[PIECES];
	bool fails; /* more than fit, or an index without a value */
} Cuts;

static int64_t value_at(Cuts *c, const Expr *e, int64_t at)
{
	int64_t v = 0;
	c->fails |= !ir_eval_int(e, &(IrArg){ .name = c->iter, .value = at }, 1, &v);
	return v;
}

static void add_cut(Cuts *c, int64_t at)
{
	int k = 0;
	while (k < c->n && c->at[k] < at)
		k++;
	if (k < c->n && c->at[k] == at)
		return;
	c->fails |= c->n == PIECES - 1;
	if (c->fails)
		return;
	memmove(&c->at[k + 1], &c->at[k], sizeof *c->at * (size_t)(c->n - k));
	c->at[k] = at;
	c->n++;
}

/*
 * The first element behind `from` that is off the line. Steps double, then halve: a piece that returns to its line may
 * hide a short one. That one stays as slow as it is without cuts.
 */
static int64_t piece_end(Cuts *c, const Expr *e, int64_t from, int64_t first, int64_t step)
{
	int64_t in = from + 1, far = 2;
	while (from + far < c->extent && value_at(c, e, from + far) == first + step * far) {
		in = from + far;
		far *= 2;
	}
	int64_t out = from + far < c->extent ? from + far : c->extent;
	while (in + 1 < out) {
		int64_t mid = in + (out - in) / 2;
		if (value_at(c, e, mid) == first + step * (mid - from))
			in = mid;
		else
			out = mid;
	}
	return out;
}

/* An element on the lines of two pieces is the longer one's. */
static void see_line(Cuts *c, const Expr *e)
{
	for (int64_t from = 0, before = 0, end; from + 1 < c->extent && !c->fails; before = from, from = end) {
		int64_t first = value_at(c, e, from), step = value_at(c, e, from + 1) - first;
		end = piece_end(c, e, from, first, step);
		bool both = from > 0 && value_at(c, e, from - 1) == first - step;
		if (from > 0)
			add_cut(c, both && end - from > from - before ? from - 1 : from);
		if (end + 1 == c->extent)
			add_cut(c, end);
	}
}

static void see_index(Cuts *c, const Expr *e)
{
	int64_t v;
	if (!ir_uses_var(e, c->iter))
		return;
	if (ir_eval_int(e, &(IrArg){ .name = c->iter }, 1, &v))
		see_line(c, e);
	else
		for (int k = 0; k < e->nargs; k++)
			see_index(c, e->arg[k]);
}

static void see_expr(const Expr *e, void *arg)
{
	see_index(arg, e);
}

/* Each statement of a block whose iterator is that loop. */
static void see_block(Cuts *c, const Stmt *block, const char *loop)
{
	for (int i = 0; i < block->block.n; i++) {
		const Iter *it = &block->block.iter[i];
		if (it->value->op != IR_VAR || strcmp(it->value->name, loop) != 0)
			continue;
		c->iter = it->name;
		for (const Stmt *b = block->block.body; b != NULL; b = b->next)
			ir_each_expr(b, see_expr, c);
	}
}

void loop_pieces_read(const BlockSet *set, Nest *n)
{
	const Axis *last = &n->axis[n->n - 1];
	Cuts c = { .extent = last->extent };
	n->pieces = 1;
	n->piece[0] = last->extent;
	if (n->reduces || n->scans)
		return;
	see_block(&c, n->stmt, last->name);
	for (int k = 0; set != NULL && k < set->n; k++) {
		const BlockNest *b = &set->nest[k];
		if (b->inlined && b->n == n->n && b->axis[b->n - 1].extent == last->extent)
			see_block(&c, b->stmt, b->axis[b->n - 1].loop);
	}
	for (int k = 0; k < c.n && !c.fails; k++) {
		n->piece[k] = c.at[k] - (k > 0 ? c.at[k - 1] : 0);
		n->piece[k + 1] = c.extent - c.at[k];
		n->pieces = k + 2;
	}
}

bool loop_pieces_fit(const Nest *n, int axis, int64_t lanes)
{
	int64_t all = 0;
	bool full = false;
	for (int k = 0; k < n->pieces; k++) {
		all += n->piece[k];
		full |= n->piece[k] >= lanes;
	}
	bool fused = axis != n->n - 1 || n->axis[axis].extent != all;
	return n->pieces > 1 && full && !fused && axis == n->side && axis != n->shared;
}

void loop_pieces_steps(Sketch *s, const Nest *n, int64_t lanes, bool overlap)
{
	const char *name = n->axis[n->n - 1].name;
	for (int k = 0; k < n->pieces; k++) {
		int64_t size = n->piece[k];
		if (k + 1 < n->pieces)
			sketch_step(s, "cut %s %lld", name, (long long)size);
		if (size > lanes) {
			sketch_step(s, "split %s %lld%s", name, (long long)lanes, overlap && size % lanes != 0 ? " overlap" : "");
			sketch_step(s, "vectorize %s.i", name);
		} else if (size > 1) {
			sketch_step(s, "vectorize %s", name);
		}
		name = arena_printf(s->arena, "%s.2", name);
	}
}

void loop_cut_ends(Sketch *s, const Axis *x, int64_t size, bool around_cut)
{
	int64_t tiles = (x->extent + size - 1) / size;
	sketch_step(s, "cut %s.o 1", x->name);
	if (tiles > 2)
		sketch_step(s, "cut %s.o.%d %lld", x->name, around_cut ? 3 : 2, (long long)(tiles - 2));
}

void loop_cut_tail(Sketch *s, const Axis *x, int64_t size)
{
	sketch_step(s, "cut %s.o %lld", x->name, (long long)(x->extent / size));
}
