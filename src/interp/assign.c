/*
 * Stores and reductions to interpreter code, lane by lane: all lanes' operands first, then one lane
 * after the other is written, so that a vector statement reads before it writes.
 */
#include "interp/cx.h"

#include <string.h>

static int lanes_of(const Expr *const *e, int n, int lanes)
{
	for (int k = 0; k < n; k++)
		if (e[k]->type.lanes > lanes)
			lanes = e[k]->type.lanes;
	return lanes;
}

static const Bound *target(Cx *c, const Access *a)
{
	const Bound *b = cx_find_buf(c, a->buf);
	if (b == NULL)
		cx_fail(c, ERR_INPUT, "there is no buffer %s", a->buf);
	else if (b->rank != a->n)
		cx_fail(c, ERR_INPUT, "a store to %s has %d indices, but the buffer has %d dimensions", a->buf, a->n, b->rank);
	else if (b->readonly)
		cx_fail(c, ERR_INPUT, "%s is stored to, but it is an input", a->buf);
	else
		return b;
	return NULL;
}

/*
 * Lane by lane: where the mask is false, neither index nor value is evaluated. What is computed
 * under a mask is forgotten after it. *jump is the place to patch, SIZE_MAX without a mask.
 */
static bool mask_begin(Cx *c, const Expr *mask, int lane, uint32_t *slot, size_t *jump)
{
	*jump = SIZE_MAX;
	if (mask == NULL)
		return true;
	if (!cx_expr(c, mask, lane, slot))
		return false;
	*jump = c->ins.n;
	return cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = *slot });
}

static void mask_end(Cx *c, size_t jump, size_t mark)
{
	if (jump == SIZE_MAX)
		return;
	c->ins.at[jump].c = (uint32_t)c->ins.n;
	map_truncate(&c->cached, mark);
}

/* All lanes are read before the first is written. */
bool cx_store(Cx *c, const Stmt *s)
{
	const Bound *b = target(c, &s->store.dst);
	if (b == NULL)
		return false;
	int lanes = lanes_of(s->store.dst.idx, s->store.dst.n, 1);
	uint32_t *value = arena_array(c->arena, uint32_t, lanes),
		 *list = arena_array(c->arena, uint32_t, lanes);
	uint32_t *mask = arena_array(c->arena, uint32_t, lanes);
	size_t jump;
	for (int k = 0; k < lanes; k++) {
		if (!mask_begin(c, s->store.mask, k, &mask[k], &jump))
			return false;
		uint32_t mark = c->cached.index.n;
		if (!cx_expr(c, s->store.value, k, &value[k]) ||
			!cx_list(c, s->store.dst.idx, s->store.dst.n, k, &list[k]))
			return false;
		mask_end(c, jump, mark);
	}
	for (int k = 0; k < lanes; k++) {
		size_t at = c->ins.n;
		if (s->store.mask != NULL &&
			!cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = mask[k], .c = (uint32_t)at + 2 }))
			return false;
		if (!cx_emit(c, (Ins){ OP_STORE, c->async, b->type.kind, b->type.bits, value[k],
					b->view, list[k], (uint32_t)s->store.dst.n }))
			return false;
	}
	return true;
}

/* One lane of a reduction: what its phases share. */
typedef struct Lane {
	uint32_t mask, *addr, *value;
} Lane;

static bool reduce_operands(Cx *c, const Stmt *s, int k, Lane *l)
{
	size_t jump;
	if (!mask_begin(c, s->reduce.mask, k, &l->mask, &jump))
		return false;
	uint32_t mark = c->cached.index.n;
	for (int j = 0; j < s->reduce.n; j++) {
		const Access *dst = &s->reduce.dst[j];
		const Bound *b = target(c, dst);
		uint32_t list;
		l->addr[j] = cx_slots(c, 1);
		if (b == NULL || !cx_expr(c, s->reduce.value[j], k, &l->value[j]) ||
			!cx_list(c, dst->idx, dst->n, k, &list) ||
			!cx_emit(c, (Ins){ .op = OP_ADDR,
					    .d = l->addr[j],
					    .a = b->view,
					    .b = list,
					    .c = (uint32_t)dst->n }))
			return false;
	}
	mask_end(c, jump, mark);
	return true;
}

/* new[j] = the monoid's combination of left and right. */
static bool combine(Cx *c, const Monoid *m, uint32_t left, const uint32_t *right, uint32_t *new)
{
	size_t names = c->name.n, base = c->name_base;
	bool ok = true;
	c->name_base = names;
	for (int j = 0; j < m->n; j++) {
		cx_name(c, m->left[j], left + (uint32_t)j, m->type[j]);
		cx_name(c, m->right[j], right[j], m->type[j]);
	}
	map_truncate(&c->cached, 0); /* another lane's left and right have the same names */
	for (int j = 0; j < m->n && ok; j++)
		ok = cx_expr(c, m->combine[j], 0, &new[j]);
	map_truncate(&c->cached, 0);
	c->name.n = names;
	c->name_base = base;
	return ok;
}

static bool reduce_lane(Cx *c, const Stmt *s, const Monoid *m, const Lane *l, uint32_t old)
{
	uint32_t left = cx_slots(c, (uint32_t)m->n), new[RANK];
	uint8_t atomic = s->reduce.atomic;
	size_t skip = c->ins.n;
	if (s->reduce.mask != NULL && !cx_emit(c, (Ins){ .op = OP_JUMPZ, .a = l->mask }))
		return false;
	if (atomic && !cx_emit(c, (Ins){ .op = OP_YIELD }))
		return false;
	for (int j = 0; j < m->n; j++) {
		const Bound *b = target(c, &s->reduce.dst[j]);
		if (!cx_emit(c, (Ins){ OP_RLOAD, atomic, b->type.kind, b->type.bits,
					left + (uint32_t)j, b->view, l->addr[j], 0 }))
			return false;
	}
	if (old != NOSLOT && !cx_move(c, old, left))
		return false;
	if (!combine(c, m, left, l->value, new))
		return false;
	for (int j = 0; j < m->n; j++) {
		const Bound *b = target(c, &s->reduce.dst[j]);
		if (!cx_emit(c, (Ins){ OP_RSTORE, atomic, b->type.kind, b->type.bits, new[j],
					b->view, l->addr[j], 0 }))
			return false;
	}
	if (s->reduce.mask != NULL)
		c->ins.at[skip].c = (uint32_t)c->ins.n;
	return true;
}

static const Monoid *monoid_of(Cx *c, const Stmt *s)
{
	const Bound *b = s->reduce.n > 0 ? target(c, &s->reduce.dst[0]) : NULL;
	if (b == NULL)
		return NULL;
	const Monoid *m = ir_find_monoid(c->ks, s->reduce.monoid, b->type);
	bool fits = m != NULL && m->n == s->reduce.n && m->n <= RANK;
	for (int j = 0; fits && j < m->n; j++) {
		b = target(c, &s->reduce.dst[j]);
		fits = b != NULL && dtype_eq(b->type, m->type[j]);
	}
	if (!fits)
		cx_fail(c, ERR_INPUT, "the buffers of the reduction do not fit the monoid %s", s->reduce.monoid);
	return fits ? m : NULL;
}

/* Operands of all lanes first, then one lane after the other is combined. */
bool cx_reduce(Cx *c, const Stmt *s)
{
	const Monoid *m = monoid_of(c, s);
	if (m == NULL)
		return false;
	int lanes = lanes_of(s->reduce.value, m->n, 1);
	for (int j = 0; j < m->n; j++)
		lanes = lanes_of(s->reduce.dst[j].idx, s->reduce.dst[j].n, lanes);
	uint32_t old = NOSLOT;
	if (s->reduce.old != NULL) {
		old = cx_slots(c, (uint32_t)lanes);
		for (int k = 0; k < lanes; k++)
			if (!cx_move(c, old + (uint32_t)k, cx_int(c, 0)))
				return false;
	}
	Lane *lane = arena_array(c->arena, Lane, lanes);
	for (int k = 0; k < lanes; k++) {
		lane[k].addr = arena_array(c->arena, uint32_t, m->n);
		lane[k].value = arena_array(c->arena, uint32_t, m->n);
		if (!reduce_operands(c, s, k, &lane[k]))
			return false;
	}
	for (int k = 0; k < lanes; k++)
		if (!reduce_lane(c, s, m, &lane[k], old == NOSLOT ? old : old + (uint32_t)k))
			return false;
	if (old != NOSLOT)
		cx_name(c, s->reduce.old, old, dtype_vector(m->type[0], lanes));
	return true;
}
