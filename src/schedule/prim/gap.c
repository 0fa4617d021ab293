/*
 * gap: places without elements behind the last one of a dimension. Rows of shared memory whose length is a multiple of
 * all banks' width begin in one bank; a gap behind each row lets them begin in different ones.
 */
#include "schedule/place.h"

#include "ir/build.h"

/* Needs: an alloc.  Breaks: nothing. */
bool prim_gap(Sched *s, const Step *st)
{
	Stmt *alloc;
	int64_t dim = st->arg[1].num, more = st->arg[2].num;
	const char *name = st->arg[0].word;
	Buf *b = place_find(s, "gap", name, &alloc);
	if (b == NULL)
		return false;
	if (dim > b->map.n)
		return fail(s->err, ERR_ILLEGAL, s->place, "gap %s: it has %d dimensions in memory, not %lld", name, b->map.n,
			(long long)dim);
	int64_t n = place_extent(b, (int)dim - 1);
	if (more > n)
		return fail(s->err, ERR_ILLEGAL, s->place, "gap %s: a gap of %lld places is longer than dimension %lld, which "
			"has %lld", name, (long long)more, (long long)dim, (long long)n);
	b->map.extent[dim - 1] = ir_int(s->ir, n + more);
	return place_put(s, "gap", alloc, b);
}
