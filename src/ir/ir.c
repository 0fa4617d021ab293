/*
 * The context of a compilation: one arena, one set of names, one table of expressions in which
 * equal ones meet, and what looks things up in Fns and kernel sets. Nothing is ever freed but the
 * arena. The table is open addressing over a hash of node, type, payload and argument ids.
 */
#include "ir/ir.h"
#include "ir/build.h"
#include "ir/cons.h"
#include "ir/walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct Given {
	const char *name;
	uint32_t next; /* the number its next fresh name tries first */
} Given;

struct IrMemo {
	Arena *arena;
	IrMemo *idle; /* the next one in the pool */
	uint32_t *stamp;
	const Expr **value;
	uint32_t cap, now;
};

struct Ir {
	Arena *arena;
	Interner *names;
	Given *given; /* the names ever given, by pointer */
	size_t ngiven, given_cap;
	const Expr **table;
	uint32_t *hash; /* of the entry beside it in the table */
	uint32_t count;
	size_t cap;
	IrMemo *idle;
	VEC(const Monoid *) builtin; /* made so far */
	KernelSet *intrin;           /* meanings parsed so far */
};

Ir *ir_new(Arena *a)
{
	Ir *ir = arena_new_of(a, Ir);
	ir->arena = a;
	ir->names = interner_new(a);
	ir->given_cap = 64;
	ir->given = arena_array(a, Given, ir->given_cap);
	ir->cap = 256;
	ir->table = arena_array(a, const Expr *, ir->cap);
	ir->hash = arena_array(a, uint32_t, ir->cap);
	return ir;
}

Arena *ir_arena(const Ir *ir)
{
	return ir->arena;
}

KernelSet **ir_intrin_set(Ir *ir)
{
	return &ir->intrin;
}

static size_t spread(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15u;
	return (size_t)(x ^ (x >> 29));
}

static Given *given_slot(Given *given, size_t cap, const char *name)
{
	for (size_t i = spread((uintptr_t)name) & (cap - 1);; i = (i + 1) & (cap - 1))
		if (given[i].name == NULL || given[i].name == name)
			return &given[i];
}

/* The entry of an interned name; *fresh tells whether it was made now. */
static Given *give(Ir *ir, const char *name, bool *fresh)
{
	if (2 * ir->ngiven >= ir->given_cap) {
		size_t cap = ir->given_cap * 2;
		Given *wide = arena_array(ir->arena, Given, cap);
		for (size_t i = 0; i < ir->given_cap; i++)
			if (ir->given[i].name != NULL)
				*given_slot(wide, cap, ir->given[i].name) = ir->given[i];
		ir->given = wide;
		ir->given_cap = cap;
	}
	Given *g = given_slot(ir->given, ir->given_cap, name);
	*fresh = g->name == NULL;
	if (*fresh) {
		*g = (Given){ name, 1 };
		ir->ngiven++;
	}
	return g;
}

const char *ir_name_n(Ir *ir, const char *s, size_t n)
{
	bool fresh;
	return give(ir, intern_n(ir->names, s, n), &fresh)->name;
}

const char *ir_name(Ir *ir, const char *s)
{
	return ir_name_n(ir, s, strlen(s));
}

/* stem.1, stem.2, ...: a number that the stem ends with is replaced, not extended. */
const char *ir_fresh_name(Ir *ir, const char *stem)
{
	size_t n = strlen(stem), digits = n;
	while (digits > 0 && stem[digits - 1] >= '0' && stem[digits - 1] <= '9')
		digits--;
	if (digits > 1 && digits < n && stem[digits - 1] == '.')
		n = digits - 1;
	bool fresh;
	uint32_t next = give(ir, ir_name_n(ir, stem, n), &fresh)->next;
	for (;; next++) {
		const char *name = arena_printf(ir->arena, "%.*s.%u", (int)n, stem, next);
		name = intern(ir->names, name);
		give(ir, name, &fresh);
		if (fresh) {
			give(ir, ir_name_n(ir, stem, n), &fresh)->next = next + 1;
			return name;
		}
	}
}

/* The payload as bits: a double's, an int's, a pointer's. Floats are compared by them, too. */
static uint64_t payload(const Expr *e)
{
	uint64_t bits = 0;
	if (e->op == IR_FLOAT)
		memcpy(&bits, &e->f, sizeof bits);
	else if (e->op == IR_VAR || e->op == IR_LOAD)
		bits = (uintptr_t)e->name;
	else
		bits = (uint64_t)e->i;
	return bits;
}

static uint32_t hash_expr(const Expr *e, const Expr *const *arg)
{
	uint64_t h = payload(e) * 0xff51afd7ed558ccdu;
	h ^= (uint64_t)e->op << 32 | (uint64_t)e->type.kind << 24 | (uint64_t)e->type.bits << 16 |
	     e->type.lanes;
	for (int i = 0; i < e->nargs; i++)
		h = (h ^ (h >> 31) ^ arg[i]->id) * 0x9e3779b97f4a7c15u;
	return (uint32_t)spread(h);
}

static bool same_expr(const Expr *a, const Expr *b, const Expr *const *arg)
{
	if (a->op != b->op || a->nargs != b->nargs || !dtype_eq(a->type, b->type) ||
		payload(a) != payload(b))
		return false;
	for (int i = 0; i < a->nargs; i++)
		if (a->arg[i] != arg[i])
			return false;
	return true;
}

static size_t expr_slot(const Ir *ir, uint32_t hash, const Expr *e, const Expr *const *arg)
{
	for (size_t i = hash & (ir->cap - 1);; i = (i + 1) & (ir->cap - 1))
		if (ir->table[i] == NULL || (ir->hash[i] == hash && same_expr(ir->table[i], e, arg)))
			return i;
}

static void widen_table(Ir *ir)
{
	size_t cap = ir->cap * 2;
	const Expr **wide = arena_array(ir->arena, const Expr *, cap);
	uint32_t *hash = arena_array(ir->arena, uint32_t, cap);
	for (size_t k = 0; k < ir->cap; k++) {
		size_t i = ir->hash[k] & (cap - 1);
		if (ir->table[k] == NULL)
			continue;
		while (wide[i] != NULL)
			i = (i + 1) & (cap - 1);
		wide[i] = ir->table[k];
		hash[i] = ir->hash[k];
	}
	ir->table = wide;
	ir->hash = hash;
	ir->cap = cap;
}

const Expr *ir_cons(Ir *ir, const Expr *e, const Expr *const *arg)
{
	uint32_t hash = hash_expr(e, arg);
	size_t slot = expr_slot(ir, hash, e, arg);
	if (ir->table[slot] != NULL)
		return ir->table[slot];
	size_t n = e->nargs;
	Expr *own = arena_alloc(ir->arena, sizeof(Expr) + sizeof(Expr *) * n);
	*own = *e;
	unsigned depth = 0;
	uint64_t size = 1;
	for (size_t i = 0; i < n; i++) {
		own->arg[i] = arg[i];
		size += arg[i]->size;
		if (arg[i]->depth > depth)
			depth = arg[i]->depth;
	}
	own->depth = (uint16_t)(depth < UINT16_MAX ? depth + 1 : depth);
	own->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	own->id = ir->count++;
	assert(ir->count != UINT32_MAX);
	ir->table[slot] = own;
	ir->hash[slot] = hash;
	if (2 * (size_t)ir->count > ir->cap)
		widen_table(ir);
	return own;
}

IrMemo *ir_memo_begin(Ir *ir)
{
	IrMemo *m = ir->idle;
	if (m == NULL)
		m = arena_new_of(ir->arena, IrMemo);
	else
		ir->idle = m->idle;
	if (m->cap < ir->count || m->now == UINT32_MAX) {
		m->cap = ir->count + ir->count / 2 + 64;
		m->stamp = arena_array(ir->arena, uint32_t, m->cap);
		m->value = arena_array(ir->arena, const Expr *, m->cap);
		m->now = 0;
	}
	m->now++;
	m->idle = NULL;
	m->arena = ir->arena;
	return m;
}

const Expr **ir_memo_at(IrMemo *m, const Expr *e)
{
	if (e->id >= m->cap) { /* made after begin */
		uint32_t cap = e->id + e->id / 2 + 64;
		uint32_t *stamp = arena_array(m->arena, uint32_t, cap);
		const Expr **value = arena_array(m->arena, const Expr *, cap);
		memcpy(stamp, m->stamp, sizeof *stamp * m->cap);
		memcpy(value, m->value, sizeof *value * m->cap);
		m->stamp = stamp;
		m->value = value;
		m->cap = cap;
	}
	if (m->stamp[e->id] != m->now) {
		m->stamp[e->id] = m->now;
		m->value[e->id] = NULL;
	}
	return &m->value[e->id];
}

void ir_memo_end(Ir *ir, IrMemo *m)
{
	m->idle = ir->idle;
	ir->idle = m;
}

KernelSet *ir_set_new(Ir *ir)
{
	KernelSet *ks = arena_new_of(ir->arena, KernelSet);
	ks->ir = ir;
	return ks;
}

void ir_set_add(KernelSet *ks, Fn *fn)
{
	if (ks->n == ks->cap)
		ks->fn = arena_grow(ks->ir->arena, ks->fn, &ks->cap, sizeof *ks->fn);
	ks->fn[ks->n++] = fn;
}

KernelSet *ir_set_of_kind(Arena *a, const KernelSet *ks, FnKind kind)
{
	KernelSet *some = arena_copy(a, ks, sizeof *ks);
	some->fn = arena_array(a, Fn *, ks->n);
	some->n = 0;
	some->cap = ks->n;
	for (size_t i = 0; i < ks->n; i++)
		if (ks->fn[i]->kind == kind || ks->fn[i]->kind == FN_SUB)
			some->fn[some->n++] = ks->fn[i];
	return some;
}

void ir_set_add_monoid(KernelSet *ks, Monoid *m)
{
	if (ks->nmonoid == ks->monoid_cap)
		ks->monoid =
			arena_grow(ks->ir->arena, ks->monoid, &ks->monoid_cap, sizeof *ks->monoid);
	ks->monoid[ks->nmonoid++] = m;
}

Fn *ir_find_fn(const KernelSet *ks, const char *name)
{
	for (size_t i = 0; i < ks->n; i++)
		if (strcmp(ks->fn[i]->name, name) == 0)
			return ks->fn[i];
	return NULL;
}

const Monoid *ir_find_monoid(const KernelSet *ks, const char *name, DType type)
{
	for (size_t i = 0; i < ks->nmonoid; i++)
		if (strcmp(ks->monoid[i]->name, name) == 0)
			return ks->monoid[i];
	return ir_builtin_monoid(ks->ir, name, type);
}

typedef enum {
	IDENTITY_zero,
	IDENTITY_one,
	IDENTITY_least,
	IDENTITY_greatest,
	IDENTITY_ones,
} Identity;
typedef enum { TYPES_NUMBER, TYPES_LOGIC } Types;

static const struct {
	const char *name;
	Node node;
	Types types;
	Identity identity;
} builtins[] = {
#define MONOID(name, node, types, identity) \
	{ #name, IR_##node, TYPES_##types, IDENTITY_##identity },
#include "ir/monoid.def"
#undef MONOID
};

static const Expr *identity_of(Ir *ir, Identity which, DType t)
{
	bool real = dtype_is_float(t);
	int64_t top = t.kind == DT_UINT ? -1 : (int64_t)(UINT64_MAX >> (65 - t.bits));
	switch (which) {
	case IDENTITY_zero: return ir_const(ir, t, 0);
	case IDENTITY_one: return ir_const(ir, t, 1);
	case IDENTITY_ones: return ir_const_int(ir, t, -1);
	case IDENTITY_greatest:
		return real ? ir_const_float(ir, t, INFINITY) : ir_const_int(ir, t, top);
	case IDENTITY_least:
		if (real)
			return ir_const_float(ir, t, -INFINITY);
		return ir_const_int(ir, t, t.kind == DT_UINT ? 0 : -top - 1);
	}
	return NULL;
}

static const Monoid *make_builtin(Ir *ir, int row, DType t)
{
	Arena *a = ir->arena;
	Monoid *m = arena_new_of(a, Monoid);
	m->name = ir_name(ir, builtins[row].name);
	m->associative = true;
	m->n = 1;
	m->type = arena_copy(a, &t, sizeof t);
	m->left = arena_array(a, const char *, 1);
	m->right = arena_array(a, const char *, 1);
	m->identity = arena_array(a, const Expr *, 1);
	m->combine = arena_array(a, const Expr *, 1);
	m->left[0] = ir_name(ir, "a");
	m->right[0] = ir_name(ir, "b");
	m->identity[0] = identity_of(ir, builtins[row].identity, t);
	const Expr *arg[2] = { ir_var(ir, m->left[0], t), ir_var(ir, m->right[0], t) };
	m->combine[0] = ir_node(ir, builtins[row].node, t, arg, 2);
	vec_push(a, &ir->builtin, m);
	return m;
}

const Monoid *ir_builtin_monoid(Ir *ir, const char *name, DType type)
{
	for (size_t i = 0; i < ir->builtin.n; i++)
		if (strcmp(ir->builtin.at[i]->name, name) == 0 &&
			dtype_eq(ir->builtin.at[i]->type[0], type))
			return ir->builtin.at[i];
	for (int i = 0; i < (int)(sizeof builtins / sizeof *builtins); i++) {
		bool fits = builtins[i].types == TYPES_NUMBER ? type.kind != DT_BOOL
		                                              : !dtype_is_float(type);
		if (strcmp(builtins[i].name, name) == 0)
			return fits && type.lanes == 1 ? make_builtin(ir, i, type) : NULL;
	}
	return NULL;
}

bool ir_is_builtin_monoid(const char *name)
{
	for (int i = 0; i < (int)(sizeof builtins / sizeof *builtins); i++)
		if (strcmp(builtins[i].name, name) == 0)
			return true;
	return false;
}

typedef struct Search {
	const char *name;
	Buf *found;
} Search;

static bool is_alloc_of(Stmt *s, void *arg)
{
	Search *f = arg;
	if (s->kind == ST_ALLOC && f->found == NULL && strcmp(s->alloc->name, f->name) == 0)
		f->found = s->alloc;
	return f->found == NULL;
}

Buf *ir_find_buf(const Fn *fn, const char *name)
{
	for (int i = 0; i < fn->nparam; i++)
		if (fn->param[i].buf != NULL && strcmp(fn->param[i].buf->name, name) == 0)
			return fn->param[i].buf;
	Search f = { name, NULL };
	ir_each_stmt(fn->body, is_alloc_of, &f);
	return f.found;
}
