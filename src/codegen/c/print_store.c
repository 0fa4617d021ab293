/*
 * Stores and lets. A dialect without vectors writes one as an array and a loop over its lanes. One that has them writes
 * a vector where it has such a type, and else one scalar for each lane.
 */
#include "codegen/c/print.h"

#include "ir/build.h"
#include "ir/walk.h"

/* ---- stores and lets, without vectors ---- */

/* A loop over lanes, and the mask of this one. */
static void lanes(Print *p, int n, const Expr *mask)
{
	if (n > 1)
		text_add(p->out, "for (int l = 0; l < %d; l++) ", n);
	if (mask == NULL)
		return;
	text_add(p->out, "if (");
	c_whole(p, mask, n > 1 ? "l" : NULL);
	text_add(p->out, ") ");
}

/* A half in memory is 16 bits, a half in a variable is a float. */
static bool is_bits(const Print *p, const Stmt *s)
{
	return c_is_half(s->store.value->type) && !c_is_variable(p, s->store.dst.buf, s->store.dst.idx[0]);
}

/* Stores `temp` to the place of a lane, which `at` holds; NULL: the index says it. */
static void assign(Print *p, const Stmt *s, const char *lane, const char *at, const char *temp)
{
	bool half = is_bits(p, s);
	if (at != NULL)
		text_add(p->out, "%s[%s]", c_name(p, s->store.dst.buf), at);
	else
		c_access(p, s->store.dst.buf, s->store.dst.idx[0], lane);
	text_add(p->out, half ? " = bits_%s(%s);" : " = %s%s;", half ? c_suffix(p, s->store.value->type, false) : "", temp);
}

static bool loads_from(const Expr *e, void *buf)
{
	return e->op == IR_LOAD && e->name == buf;
}

/* Does an index or a mask load from the buffer that the statement stores to? */
static bool reads_own(const Stmt *s, const Expr *e)
{
	return e != NULL && ir_find_node(e, loads_from, (void *)(uintptr_t)s->store.dst.buf) != NULL;
}

/* Computes all lanes before it stores the first, and so masks and places where a store may change them. */
static void store_array(Print *p, const Stmt *s, int n)
{
	const Expr *idx = s->store.dst.idx[0], *mask = s->store.mask;
	Arena *a = p->job->arena;
	int temp = p->temps++;
	bool own = n > 1 && (reads_own(s, idx) || reads_own(s, mask));
	const char *lane = n > 1 ? "l" : NULL, *of = n > 1 ? "[l]" : "";
	text_add(p->out, "%s temp%d", c_type(p, s->store.value->type), temp);
	text_add(p->out, n > 1 ? "[%d];" : ";", n);
	if (own)
		text_add(p->out, " %s at%d[%d], on%d[%d] = {0};", p->d->ints[3], temp, n, temp, n);
	c_line(p);
	lanes(p, n, mask);
	if (own) {
		text_add(p->out, "on%d[l] = 1, at%d[l] = ", temp, temp);
		c_whole(p, idx, lane);
		text_add(p->out, ", ");
	}
	text_add(p->out, "temp%d%s = ", temp, of);
	c_whole(p, s->store.value, lane);
	text_add(p->out, ";");
	c_line(p);
	lanes(p, n, own ? NULL : mask);
	if (own)
		text_add(p->out, "if (on%d[l]) ", temp);
	assign(p, s, lane, own ? arena_printf(a, "at%d[l]", temp) : NULL, arena_printf(a, "temp%d%s", temp, of));
}

static void let_array(Print *p, const Stmt *s, int n)
{
	const Expr *v = s->let.value;
	text_add(p->out, "%s %s", c_type(p, v->type), c_name(p, s->let.var));
	text_add(p->out, n > 1 ? "[%d]; " : "; ", n);
	lanes(p, n, NULL);
	text_add(p->out, "%s%s = ", c_name(p, s->let.var), n > 1 ? "[l]" : "");
	c_whole(p, v, n > 1 ? "l" : NULL);
	text_add(p->out, ";");
}

/* ---- with them ---- */

/* One lane at once. */
static void element(Print *p, const Stmt *s, const char *lane)
{
	bool half = is_bits(p, s);
	c_access(p, s->store.dst.buf, s->store.dst.idx[0], lane);
	text_add(p->out, half ? " = bits_%s(" : " = ", half ? c_suffix(p, s->store.value->type, false) : "");
	c_whole(p, s->store.value, lane);
	text_add(p->out, half ? ");" : ";");
}

/* A vector of indices may be computed with 32 bits. */
static void as_long(Print *p, const Expr *v)
{
	bool index = dtype_eq(dtype_scalar(v->type), I64);
	if (index)
		text_add(p->out, "convert_%s(", c_vector_type(p, v->type, false));
	c_whole_vector(p, v);
	if (index)
		text_add(p->out, ")");
}

/* Are the elements neighbours in memory, as many as a vector of the dialect has? */
static bool is_row(const Print *p, const Stmt *s)
{
	const Expr *idx = s->store.dst.idx[0];
	return c_has_vector(p, idx->type.lanes) && s->store.value->type.lanes == idx->type.lanes &&
		!c_is_variable(p, s->store.dst.buf, idx) && idx->op == IR_RAMP && ir_is_const(idx->arg[1], 1);
}

/* Stores a row: the vector `temp`, or the value itself; to the array `to`, or to its own place. */
static void store_row(Print *p, const Stmt *s, const char *temp, const char *to)
{
	const Expr *v = s->store.value;
	bool mask = v->type.kind == DT_BOOL, index = dtype_eq(dtype_scalar(v->type), I64), half = c_is_half(v->type);
	text_add(p->out, "vstore%d(", v->type.lanes);
	if (mask)
		text_add(p->out, "convert_%s%d(-", p->d->uints[0], v->type.lanes);
	else if (index)
		text_add(p->out, "convert_%s%d(", p->d->ints[3], v->type.lanes);
	else if (half)
		text_add(p->out, "bits_%sx%d(", c_suffix(p, v->type, false), v->type.lanes);
	if (temp != NULL)
		text_add(p->out, "%s", temp);
	else
		c_whole_vector(p, v);
	text_add(p->out, mask || index || half ? "), 0, " : ", 0, ");
	if (to != NULL) {
		text_add(p->out, "%s);", to);
		return;
	}
	text_add(p->out, "%s + ", c_name(p, s->store.dst.buf));
	c_whole(p, s->store.dst.idx[0]->arg[0], NULL);
	text_add(p->out, ");");
}

/* One statement for all lanes, if there is one. */
static bool store_vector(Print *p, const Stmt *s)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0];
	if (is_row(p, s)) {
		store_row(p, s, NULL, NULL);
		return true;
	}
	if (!c_has_vector(p, idx->type.lanes) || v->type.lanes != idx->type.lanes ||
		!c_is_variable(p, s->store.dst.buf, idx))
		return false;
	text_add(p->out, "%s = ", c_name(p, s->store.dst.buf));
	as_long(p, v); /* a variable has 64 bits */
	text_add(p->out, ";");
	return true;
}

/* Computes all masks and values before it stores the first lane, and so places where a store may change them. */
static void store_lanes(Print *p, const Stmt *s, int n)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0], *mask = s->store.mask;
	Arena *a = p->job->arena;
	int temp = p->temps++;
	bool own = n > 1 && reads_own(s, idx);
	for (int k = 0; k < n; k++) {
		const char *lane = n > 1 ? arena_printf(a, "%d", k) : NULL;
		if (mask != NULL) {
			text_add(p->out, "const %s mask%d_%d = ", p->d->boolean, temp, k);
			c_whole(p, mask, lane);
			text_add(p->out, "; ");
		}
		text_add(p->out, "const %s temp%d_%d = ", c_type(p, v->type), temp, k);
		if (mask != NULL)
			text_add(p->out, "!mask%d_%d ? 0 : ", temp, k);
		c_whole(p, v, lane);
		text_add(p->out, ";");
		if (own) {
			text_add(p->out, " const %s at%d_%d = ", p->d->ints[3], temp, k);
			text_add(p->out, mask != NULL ? "!mask%d_%d ? 0 : " : "", temp, k);
			c_whole(p, idx, lane);
			text_add(p->out, ";");
		}
		c_line(p);
	}
	for (int k = 0; k < n; k++) {
		if (mask != NULL)
			text_add(p->out, "if (mask%d_%d) ", temp, k);
		assign(p, s, n > 1 ? arena_printf(a, "%d", k) : NULL, own ? arena_printf(a, "at%d_%d", temp, k) : NULL,
			arena_printf(a, "temp%d_%d", temp, k));
		if (k + 1 < n)
			c_line(p);
	}
}

typedef struct Lanes {
	const Print *p;
	const char *dst;
} Lanes;

/* What a lane that is a variable of C cannot name, and what a lane stored before could have changed. */
static bool needs_constant_lane(const Expr *e, void *arg)
{
	const Lanes *x = arg;
	if (e->op == IR_LOAD)
		return e->name == x->dst || c_is_variable(x->p, e->name, e->arg[0]);
	return e->op == IR_DOT4 || e->op == IR_LANE || (e->op == IR_VAR && e->type.lanes > 1);
}

/* A masked store as a loop over lanes, which is shorter than all of them; false: it cannot be one. */
static bool store_loop(Print *p, const Stmt *s, int n)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0], *mask = s->store.mask;
	Lanes x = { p, s->store.dst.buf };
	if (c_is_variable(p, s->store.dst.buf, idx) || v->type.lanes != n || idx->type.lanes != n ||
		mask->type.lanes != n || ir_find_node(v, needs_constant_lane, &x) != NULL ||
		ir_find_node(idx, needs_constant_lane, &x) != NULL || ir_find_node(mask, needs_constant_lane, &x) != NULL)
		return false;
	lanes(p, n, mask);
	element(p, s, "l");
	return true;
}

static bool reads_memory(const Expr *e, void *arg)
{
	return e->op == IR_LOAD && !c_is_variable(arg, e->name, e->arg[0]);
}

/* Lines that store the lanes of a vector to places that are no row. The value is computed as a whole. */
static bool scatter(Print *p, const Stmt *s, int n)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0];
	int temp = p->temps;
	if (s->store.mask != NULL || c_is_half(v->type) || v->type.kind == DT_BOOL || !c_has_vector(p, n) ||
		c_is_variable(p, s->store.dst.buf, idx) || v->type.lanes != n || idx->type.lanes != n || reads_own(s, idx))
		return false;
	p->temps++;
	text_add(p->out, "const %s temp%d = ", c_vector_type(p, v->type, false), temp);
	as_long(p, v);
	text_add(p->out, ";");
	for (int k = 0; k < n; k++) {
		c_line(p);
		const char *lane = arena_printf(p->job->arena, "temp%d.s%x", temp, (unsigned)k);
		assign(p, s, arena_printf(p->job->arena, "%d", k), NULL, lane);
	}
	return true;
}

/*
 * A masked vector, no row or not always a whole one, whose value can be computed in lanes that are not stored: they are
 * copied from an array. A CPU's compiler is much faster with this loop than with all lanes. A GPU would have the array
 * in memory. false: it is no such store.
 */
static bool store_from_array(Print *p, const Stmt *s, int n)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0], *mask = s->store.mask;
	Lanes x = { p, s->store.dst.buf };
	if (mask == NULL || mask->op == IR_SPLAT || target_has_warps(p->job->target) || !c_has_vector(p, n) ||
		c_is_variable(p, s->store.dst.buf, idx) || v->type.lanes != n || idx->type.lanes != n ||
		mask->type.lanes != n || ir_find_node(idx, needs_constant_lane, &x) != NULL ||
		ir_find_node(v, reads_memory, p) != NULL || ir_find_node(mask, needs_constant_lane, &x) != NULL)
		return false;
	const char *temp = arena_printf(p->job->arena, "temp%d", p->temps);
	const char *lane = arena_printf(p->job->arena, "lane%d", p->temps++);
	text_add(p->out, "const %s %s = ", c_vector_type(p, v->type, false), temp);
	as_long(p, v);
	text_add(p->out, ";");
	c_line(p);
	if (is_row(p, s)) {
		text_add(p->out, "if (all(");
		c_whole_vector(p, mask);
		text_add(p->out, ")) ");
		store_row(p, s, temp, NULL);
		c_line(p);
		text_add(p->out, "else ");
	}
	text_add(p->out, "{");
	p->depth++;
	c_line(p);
	text_add(p->out, "%s %s[%d];", c_memory_type(p, v->type), lane, n);
	c_line(p);
	store_row(p, s, temp, lane);
	c_line(p);
	lanes(p, n, mask);
	c_access(p, s->store.dst.buf, idx, "l");
	text_add(p->out, " = %s[l];", lane);
	p->depth--;
	c_line(p);
	text_add(p->out, "}");
	return true;
}

/* A masked store as a loop or as all its lanes, after a test whether all lanes are stored. */
static bool store_tested(Print *p, const Stmt *s, int n)
{
	const Expr *mask = s->store.mask;
	size_t start = p->out->n;
	if (!c_has_vector(p, mask->type.lanes))
		return false;
	text_add(p->out, mask->op == IR_SPLAT ? "if (" : "if (all(");
	if (mask->op == IR_SPLAT)
		c_whole(p, mask->arg[0], NULL);
	else
		c_whole_vector(p, mask);
	text_add(p->out, mask->op == IR_SPLAT ? ") " : ")) ");
	if (!store_vector(p, s)) {
		p->out->n = start;
		p->out->at[start] = 0;
		return false;
	}
	if (mask->op == IR_SPLAT)
		return true;
	c_line(p);
	text_add(p->out, "else ");
	if (store_loop(p, s, n))
		return true;
	text_add(p->out, "{");
	p->depth++;
	c_line(p);
	store_lanes(p, s, n);
	p->depth--;
	c_line(p);
	text_add(p->out, "}");
	return true;
}

static void store_own(Print *p, const Stmt *s, int n)
{
	const Expr *mask = s->store.mask;
	if (mask == NULL && n > 1)
		c_load_parts(p, s->store.value);
	if (n == 1 && mask == NULL)
		element(p, s, NULL);
	else if (mask != NULL ? !store_from_array(p, s, n) && !store_tested(p, s, n)
	                      : !store_vector(p, s) && !scatter(p, s, n))
		store_lanes(p, s, n);
}

static void let_own(Print *p, const Stmt *s, int n)
{
	const Expr *v = s->let.value;
	bool index = dtype_eq(dtype_scalar(v->type), I64);
	Interval i = index ? ir_interval(v, p->env) : (Interval){ 0 };
	const char *one = index ? c_index_type(p, s->let.var, i.lo, i.hi) : c_type(p, v->type);
	if (n == 1) {
		text_add(p->out, "const %s %s = ", one, c_name(p, s->let.var));
		c_whole(p, v, NULL);
		text_add(p->out, ";");
	} else if (c_has_vector(p, n)) {
		c_load_parts(p, v);
		bool fits = index && map_find_ptr(&p->narrow, s->let.var) != NULL;
		const char *t = c_vector_type(p, v->type, fits);
		text_add(p->out, index ? "const %s %s = convert_%s(" : "const %s %s = ", t, c_name(p, s->let.var), t);
		c_whole_vector(p, v);
		text_add(p->out, index ? ");" : ";");
	} else {
		for (int k = 0; k < n; k++) {
			text_add(p->out, "const %s %s_%d = ", one, c_name(p, s->let.var), k);
			c_whole(p, v, arena_printf(p->job->arena, "%d", k));
			text_add(p->out, k + 1 < n ? "; " : ";");
		}
	}
}

void c_store(Print *p, const Stmt *s)
{
	const Expr *v = s->store.value, *idx = s->store.dst.idx[0];
	int n = v->type.lanes > idx->type.lanes ? v->type.lanes : idx->type.lanes;
	if (s->store.mask != NULL && s->store.mask->type.lanes > n)
		n = s->store.mask->type.lanes;
	if (p->d->vectors)
		store_own(p, s, n);
	else
		store_array(p, s, n);
}

void c_let(Print *p, const Stmt *s)
{
	if (p->d->vectors)
		let_own(p, s, s->let.value->type.lanes);
	else
		let_array(p, s, s->let.value->type.lanes);
}
