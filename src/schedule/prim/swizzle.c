/*
 * swizzle: in each row of a buffer, groups of neighbours trade places, in each row others. Elements of one column then
 * lie in different banks of shared memory, as with a gap, but no place is lost. A group stays together: a thread loads
 * it as a vector.
 */
#include "schedule/place.h"

#include "ir/build.h"

enum { MOST_GROUPS = 64 /* more than any memory has banks for vectors */ };

static const Expr *split_at(Ir *ir, const Expr *e, int64_t n)
{
	return n == 1 ? e : ir_div(ir, e, ir_int(ir, n));
}

/* Law: the group's number is changed by that of the row, which has a dimension of its own: places stay different.
   Needs: an alloc.  Breaks: nothing. */
bool prim_swizzle(Sched *s, const Step *st)
{
	Ir *ir = s->ir;
	Stmt *alloc;
	const char *name = st->arg[0].word;
	int64_t groups = st->arg[1].num, size = st->n > 2 ? st->arg[2].num : 1, rows = st->n > 3 ? st->arg[3].num : 1;
	Buf *b = place_find(s, "swizzle", name, &alloc);
	if (b == NULL)
		return false;
	int n = b->map.n;
	if (n < 2 || n + PLACE_MORE > IR_MAX_RANK)
		return sched_refuse(s, "swizzle", name, "it has no rows, or too many dimensions");
	int64_t row = place_extent(b, n - 1);
	if (groups < 2 || groups > MOST_GROUPS || (groups & (groups - 1)) != 0)
		return sched_refuse(s, "swizzle", name, "the number of groups must be a power of two from 2 to 64");
	if (size > row / groups)
		return fail(s->err, ERR_ILLEGAL, s->place, "swizzle %s: a row of %lld has less than %lld groups of %lld", name,
			(long long)row, (long long)groups, (long long)size);
	const Expr *i = split_at(ir, b->map.at[n - 2], rows), *j = b->map.at[n - 1];
	const Expr *group = split_at(ir, j, size), *turn = ir_mod(ir, i, ir_int(ir, groups));
	int64_t all = groups * size;
	n--;
	if (row > all) {
		group = ir_mod(ir, group, ir_int(ir, groups));
		b->map.at[n] = ir_div(ir, j, ir_int(ir, all));
		b->map.extent[n++] = ir_int(ir, (row + all - 1) / all);
	}
	b->map.at[n] = ir_binary(ir, IR_XOR, group, turn);
	b->map.extent[n++] = ir_int(ir, groups);
	if (size > 1) {
		b->map.at[n] = ir_mod(ir, j, ir_int(ir, size));
		b->map.extent[n++] = ir_int(ir, size);
	}
	b->map.n = n;
	return place_put(s, "swizzle", alloc, b);
}
