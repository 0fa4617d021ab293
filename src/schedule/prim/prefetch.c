/* prefetch: what a later iteration of a loop will read is requested from memory now. */
#include "schedule/source.h"

#include "ir/build.h"
#include "ir/arg.h"
#include "ir/simplify/simplify.h"
#include "ir/walk.h"

#include <string.h>

/*
 * Of one iteration: 256 KiB of lines of 64 bytes, as much as a second cache has. Iterations that share them: their
 * numbers times lines fit an index.
 */
enum { ITERATIONS = 1 << 30 };

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
static Lines find_lines(const Source *p, int line_bytes)
{
	const Buf *t = p->buf;
	Lines l = { .n = 1 };
	int64_t all = line_bytes * 8 / t->type.bits, covered = 1;
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
static const Expr *count_iterations(
	Sched *s, const char *name, const BlockPlace *b, const Stmt *l, const Stmt *m, int64_t *n)
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
			sched_refuse_for(s, "prefetch", name,
				"the extent of loop %s is not constant, or there are too many iterations", f->loop.var);
			return NULL;
		}
		*n *= extent;
		number = ir_add(ir, ir_mul(ir, number, ir_int(ir, extent)), ir_sub(ir, ir_idx(ir, f->loop.var), f->loop.lo));
	}
	if (k == b->naround)
		sched_refuse_for(s, "prefetch", name, "loop %s must stand in the first loop and around the block", m->loop.var);
	return k < b->naround ? number : NULL;
}

/*
 * Needs: what cache_read needs, of loop l; another part in each iteration.  Breaks: perfect nests around the
 * block below m, since a request is no block.
 */
bool prim_prefetch(Sched *s, const Step *st)
{
	Ir *ir = s->ir;
	Source p;
	Place m;
	const char *name = st->arg[0].word, *loop = sched_name(s, st, 0, "%s.f", name);
	const Expr *at[IR_MAX_RANK];
	bool moves = false;
	int64_t shares;
	if (!source_find(s, st, "prefetch", &p) || !sched_find_loop(s, st->arg[3].word, &m) ||
		!source_may_put(s, "prefetch", name, &p.block, &m) ||
		!sched_may_name(s, p.block.fn, "prefetch", name, &loop, 1))
		return false;
	const Buf *t = p.buf;
	const Expr *q = count_iterations(s, name, &p.block, p.loop.loop, m.loop, &shares);
	if (q == NULL)
		return false;
	const char *var = p.loop.loop->loop.var;
	const Expr *later = ir_add(ir, ir_idx(ir, var), ir_int(ir, st->arg[4].num));
	for (int k = 0; k < t->rank; k++) {
		moves |= ir_uses_var(p.lo[k], var);
		at[k] = ir_subst(ir, p.lo[k], var, later);
	}
	Lines lines = find_lines(&p, s->target->line_bytes);
	int64_t each = (lines.n + shares - 1) / shares; /* from line number * lines / shares on */
	if (!moves)
		return sched_refuse_for(s, "prefetch", name, "all iterations of %s read the same elements", var);
	if (each > PREFETCH_LINES)
		return sched_refuse_for(s, "prefetch", name, "an iteration of %s would prefetch more than 4096 lines",
			m.loop->loop.var);
	_Static_assert(PREFETCH_LINES == 4096, "as the sentence says");
	Stmt **link = nest_link_to(&m.loop->loop.body, p.block.block);
	q = ir_div(ir, ir_mul(ir, q, ir_int(ir, lines.n)), ir_int(ir, shares));
	find_line(ir, t, &lines, ir_add(ir, q, ir_idx(ir, loop)), at);
	const Range *env = ir_range_for(ir, loop, ir_int(ir, 0), ir_int(ir, each), ir_range_at(ir, p.block.fn, *link));
	for (int k = 0; k < t->rank; k++)
		at[k] = ir_simplify(ir, at[k], env);
	Stmt *nest = ir_for(ir, loop, ir_int(ir, 0), ir_int(ir, each), LOOP_SERIAL, ir_prefetch(ir, t, at, t->rank));
	nest->next = *link;
	*link = nest;
	return true;
}
