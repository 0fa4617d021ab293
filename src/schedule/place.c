/* See place.h. */
#include "schedule/place.h"

#include "ir/arg.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/simplify/simplify.h"
#include "schedule/accesses.h"

/* Whether the dimensions from one on have fewer places than elements. Places that the map cannot reach do not count. */
static bool folds_from(const Buf *b, int from)
{
	int64_t shape[IR_MAX_RANK], extent[IR_MAX_RANK], logical, places;
	Range of[IR_MAX_RANK], *env = NULL;
	if (b->map.n == 0 || !ir_eval_extents(b->shape, b->rank, NULL, 0, shape, &places) ||
		!ir_eval_extents(b->map.extent, b->map.n, NULL, 0, extent, &places))
		return b->map.n > 0;
	for (int k = 0; k < b->rank; k++) {
		of[k] = (Range){ .outer = env, .name = b->map.var[k], .lo = 0, .hi = shape[k] - 1, .mod = 1 };
		env = &of[k];
	}
	logical = places = 1;
	for (int k = from; k < b->rank; k++)
		logical *= shape[k];
	for (int k = from; k < b->map.n; k++) {
		int64_t last = ir_interval(b->map.at[k], env).hi;
		places *= last < extent[k] ? last + 1 : extent[k];
	}
	return places < logical;
}

bool place_folds(const Buf *b)
{
	return folds_from(b, 0);
}

bool place_slots(const Buf *b)
{
	for (int k = 0; k < b->map.n; k++)
		for (int d = 0; d < b->rank; d++)
			if (ir_uses_var(b->map.at[k], b->map.var[d]) && (d == 0) != (k == 0))
				return false;
	return b->map.n > 0 && b->rank > 0 && !folds_from(b, 1);
}

int64_t place_extent(const Buf *b, int k)
{
	int64_t n = 0;
	ir_is_int(b->map.extent[k], &n);
	return n;
}

/* The map of b, or the identity. */
static IndexMap own_map(Sched *s, const Buf *b)
{
	Arena *a = ir_arena(s->ir);
	IndexMap m = { .nvar = b->rank, .n = b->map.n > 0 ? b->map.n : b->rank };
	m.var = arena_array(a, const char *, b->rank + 1);
	m.at = arena_array(a, const Expr *, m.n + PLACE_MORE);
	m.extent = arena_array(a, const Expr *, m.n + PLACE_MORE);
	for (int k = 0; k < b->rank; k++)
		m.var[k] = b->map.n > 0 ? b->map.var[k] : ir_name(s->ir, arena_printf(a, "i%d", k));
	for (int k = 0; k < m.n; k++) {
		m.at[k] = b->map.n > 0 ? b->map.at[k] : ir_idx(s->ir, m.var[k]);
		m.extent[k] = b->map.n > 0 ? b->map.extent[k] : b->shape[k];
	}
	return m;
}

Buf *place_find(Sched *s, const char *what, const char *name, Stmt **alloc)
{
	int64_t n;
	Stmt **link = NULL;
	for (size_t k = 0; k < s->ks->n && link == NULL; k++)
		if (s->ks->fn[k]->kind == FN_RUN)
			link = ir_find_alloc(&s->ks->fn[k]->body, name);
	const char *why = NULL;
	if (link == NULL)
		return sched_refuse(s, what, name, "no run Fn declares such a buffer"), NULL;
	Buf *b = arena_copy(ir_arena(s->ir), (*link)->alloc, sizeof *b);
	if (place_folds(b))
		why = "several of its elements lie in one place";
	else if (producer_touches((*link)->next, name).strange)
		why = "a call uses it";
	b->map = own_map(s, b);
	for (int k = 0; k < b->map.n; k++)
		why = ir_is_int(b->map.extent[k], &n) ? why : "its extents are not constant";
	if (why != NULL)
		return sched_refuse(s, what, name, why), NULL;
	*alloc = *link;
	return b;
}

bool place_put(Sched *s, const char *what, Stmt *alloc, Buf *b)
{
	int64_t shape[IR_MAX_RANK], elements, places = ir_buf_elements(b, NULL, 0);
	if (!ir_eval_extents(b->shape, b->rank, NULL, 0, shape, &elements) || places < 0 || places / 2 > elements)
		return sched_refuse(s, what, b->name, "more than half of its places would have no elements");
	alloc->alloc = b;
	return true;
}
