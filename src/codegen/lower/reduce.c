/*
 * Reductions to stores: dst = combine(dst, value). A floating sum of products becomes an fma where the target has
 * one (rounding once instead of twice; CodegenOptions.exact forbids it). Lanes that may meet in one element are
 * combined one after the other. Atomic reductions stay, one for each lane.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <assert.h>

typedef struct Reduce {
	Lower *l;
	const Stmt *s;
	const Monoid *m;
	int lanes;
} Reduce;

static int lanes_of(const Stmt *s)
{
	int lanes = 1;
	for (int j = 0; j < s->reduce.n; j++) {
		const Access *d = &s->reduce.dst[j];
		if (s->reduce.value[j]->type.lanes > lanes)
			lanes = s->reduce.value[j]->type.lanes;
		for (int k = 0; k < d->n; k++)
			if (d->idx[k]->type.lanes > lanes)
				lanes = d->idx[k]->type.lanes;
	}
	if (s->reduce.mask != NULL && s->reduce.mask->type.lanes > lanes)
		lanes = s->reduce.mask->type.lanes;
	return lanes;
}

/* Whether no two lanes of e are equal; false: not known. */
static bool lanes_differ(const Expr *e)
{
	int64_t v;
	switch (e->op) {
	case IR_RAMP: return ir_is_int(e->arg[1], &v) && v != 0;
	case IR_ADD:
		return (lanes_differ(e->arg[0]) && e->arg[1]->op == IR_SPLAT) ||
		       (lanes_differ(e->arg[1]) && e->arg[0]->op == IR_SPLAT);
	case IR_SUB:
		return (lanes_differ(e->arg[0]) && e->arg[1]->op == IR_SPLAT) ||
		       (lanes_differ(e->arg[1]) && e->arg[0]->op == IR_SPLAT);
	case IR_MUL:
		return lanes_differ(e->arg[0]) && e->arg[1]->op == IR_SPLAT && ir_is_int(e->arg[1]->arg[0], &v) && v != 0;
	default: return false;
	}
}

/* combine[j] of the vectors (or scalars) left and right. */
static const Expr *combined(Reduce *r, int j, const Expr *const *left, const Expr *const *right)
{
	Lower *l = r->l;
	DType t = left[j]->type;
	bool sum = r->m == ir_builtin_monoid(l->ir, "sum", r->m->type[0]);
	const Target *target = l->target;
	bool has_fma = target->kind != TARGET_CPU || target->arch == ARCH_AARCH64 || target_has(target, FEATURE_FMA);
	bool fma = has_fma && !l->options.exact;
	if (sum && fma && right[j]->op == IR_MUL && t.kind == DT_FLOAT && t.bits >= 32)
		return ir_fma(l->ir, right[j]->arg[0], right[j]->arg[1], left[j]);
	Widen w = { .l = l, .lanes = t.lanes };
	const Expr *e = r->m->combine[j];
	if (t.lanes > 1) {
		for (int k = 0; k < r->m->n; k++) {
			vec_push(l->arena, &w.var, ((struct WidenVar){ r->m->left[k], left[k] }));
			vec_push(l->arena, &w.var, ((struct WidenVar){ r->m->right[k], right[k] }));
		}
		e = lower_widen(&w, e);
		assert(e != NULL); /* a monoid is scalar */
		return ir_splat(l->ir, e, t.lanes / e->type.lanes);
	}
	/* Two steps through fresh names: right[0] may use a name that left[1] replaces. */
	const char *fresh[2];
	for (int k = 0; k < r->m->n; k++)
		for (int side = 0; side < 2; side++) {
			const char *name = side == 0 ? r->m->left[k] : r->m->right[k];
			fresh[side] = ir_fresh_name(l->ir, name);
			e = ir_subst(l->ir, e, name, ir_var(l->ir, fresh[side], r->m->type[k]));
			vec_push(l->arena, &w.var, ((struct WidenVar){ fresh[side], side == 0 ? left[k] : right[k] }));
		}
	for (size_t k = 0; k < w.var.n; k++)
		e = ir_subst(l->ir, e, w.var.at[k].name, w.var.at[k].by);
	return e;
}

static Stmt *store_to(Reduce *r, const Access *d, const Expr *value, const Expr *mask)
{
	Stmt *s = ir_stmt(r->l->ir, ST_STORE);
	s->line = r->s->line;
	s->store.dst = *d;
	s->store.value = value;
	s->store.mask = mask;
	return s;
}

static const Expr *let_value(Reduce *r, const char *stem, const Expr *value, Stmt **lets)
{
	const char *name = ir_fresh_name(r->l->ir, stem);
	*lets = ir_seq(*lets, ir_let(r->l->ir, name, value));
	return ir_var(r->l->ir, name, value->type);
}

/* All lanes at once, or a scalar: dst[j] are given with `lanes` lanes, mask too. */
static Stmt *at_once(Reduce *r, const Access *dst, const Expr *const *value, const Expr *mask)
{
	int n = r->m->n;
	Arena *a = r->l->arena;
	const Expr **left = arena_array(a, const Expr *, n), **new = arena_array(a, const Expr *, n);
	Stmt *out = NULL;
	for (int j = 0; j < n; j++)
		left[j] = ir_load_named(r->l->ir, dst[j].buf, r->m->type[j], dst[j].idx, dst[j].n);
	if (n == 1)
		return store_to(r, &dst[0], combined(r, 0, left, value), mask);
	for (int j = 0; j < n; j++) {
		const Expr *e = combined(r, j, left, value);
		if (mask != NULL) /* so that lanes that are off load nothing */
			e = ir_select(r->l->ir, mask, e, ir_const(r->l->ir, e->type, 0));
		new[j] = let_value(r, r->s->reduce.monoid, e, &out);
	}
	for (int j = 0; j < n; j++)
		out = ir_seq(out, store_to(r, &dst[j], new[j], mask));
	return out;
}

static const Expr *lane_of(Lower *l, const Expr *e, int k)
{
	if (e->type.lanes == 1)
		return e;
	if (e->op == IR_SPLAT)
		return e->arg[0];
	return ir_lane(l->ir, e, k);
}

static const Expr *to_lanes(Lower *l, const Expr *e, int lanes)
{
	return e == NULL || e->type.lanes == lanes ? e : ir_splat(l->ir, e, lanes);
}

/* e where the mask holds; what loads from memory must not where it does not. */
static const Expr *guarded(Lower *l, const Expr *mask, const Expr *e)
{
	if (mask == NULL || !ir_has_load(e))
		return e;
	e = to_lanes(l, e, mask->type.lanes);
	return ir_select(l->ir, mask, e, ir_const(l->ir, e->type, 0));
}

/* Operands of all lanes first, then lane after lane; atomic ones too. */
static Stmt *one_by_one(Reduce *r)
{
	Lower *l = r->l;
	int n = r->m->n;
	Stmt *out = NULL;
	const Expr *mask = r->s->reduce.mask;
	if (mask != NULL)
		mask = let_value(r, "mask", to_lanes(l, mask, r->lanes), &out);
	Access *dst = arena_array(l->arena, Access, n), *one = arena_array(l->arena, Access, n);
	const Expr **value = arena_array(l->arena, const Expr *, n), **v = arena_array(l->arena, const Expr *, n);
	for (int j = 0; j < n; j++) {
		const Access *d = &r->s->reduce.dst[j];
		const Expr *e = r->s->reduce.value[j];
		value[j] = let_value(r, "value", guarded(l, mask, e), &out);
		dst[j] = (Access){ d->buf, d->n, arena_array(l->arena, const Expr *, d->n + 1) };
		for (int k = 0; k < d->n; k++) {
			const Expr *i = guarded(l, mask, d->idx[k]);
			dst[j].idx[k] = ir_has_load(i) ? let_value(r, "index", i, &out) : i;
		}
	}
	for (int lane = 0; lane < r->lanes; lane++) {
		Stmt *s;
		for (int j = 0; j < n; j++) {
			one[j] = (Access){ dst[j].buf, dst[j].n, arena_array(l->arena, const Expr *, dst[j].n + 1) };
			for (int k = 0; k < dst[j].n; k++)
				one[j].idx[k] = lane_of(l, dst[j].idx[k], lane);
			v[j] = lane_of(l, value[j], lane);
		}
		if (r->s->reduce.atomic) {
			s = lower_copy_node(l, r->s);
			s->reduce.mask = NULL;
			s->reduce.dst = arena_copy(l->arena, one, sizeof *one * (size_t)n);
			s->reduce.value = arena_copy(l->arena, v, sizeof *v * (size_t)n);
		} else {
			s = at_once(r, one, v, NULL);
		}
		out = ir_seq(out, mask != NULL ? ir_if(l->ir, lane_of(l, mask, lane), s, NULL) : s);
	}
	return out;
}

static bool reduce(Lower *l, Stmt *s, Stmt **out)
{
	*out = s;
	if (s->kind != ST_REDUCE)
		return true;
	const Buf *b = lower_buf(l->bufs, s->reduce.dst[0].buf);
	Reduce r = { .l = l, .s = s, .lanes = lanes_of(s) };
	r.m = b != NULL ? ir_find_monoid(l->ks, s->reduce.monoid, dtype_scalar(b->type)) : NULL;
	if (r.m == NULL || r.m->n != s->reduce.n)
		return lower_refuse(l, s, "there is no monoid %s of its buffers' types", s->reduce.monoid);
	if (s->reduce.atomic && r.lanes > 1 && s->reduce.old != NULL)
		return lower_refuse(l, s, "an atomic reduction of several lanes cannot give its old values");
	if (s->reduce.atomic && r.lanes == 1)
		return true;
	bool together = true;
	for (int j = 0; j < r.m->n; j++) {
		bool differs = false;
		for (int k = 0; k < s->reduce.dst[j].n; k++)
			differs = differs || lanes_differ(s->reduce.dst[j].idx[k]);
		together = together && differs;
	}
	if (r.lanes > 1 && (!together || s->reduce.atomic)) {
		*out = one_by_one(&r);
		return true;
	}
	const Expr **value = arena_array(l->arena, const Expr *, r.m->n);
	for (int j = 0; j < r.m->n; j++) {
		value[j] = to_lanes(l, s->reduce.value[j], r.lanes);
		for (int k = 0; k < s->reduce.dst[j].n; k++)
			s->reduce.dst[j].idx[k] = to_lanes(l, s->reduce.dst[j].idx[k], r.lanes);
	}
	*out = at_once(&r, s->reduce.dst, value, to_lanes(l, s->reduce.mask, r.lanes));
	return true;
}

bool pass_reduce(Lower *l)
{
	l->bufs = lower_bufs(l);
	return lower_rewrite(l, &l->fn->body, reduce);
}
