/*
 * The context of a compilation: one arena, one set of names, one table of expressions in which
 * equal ones meet, and what looks things up in Fns and kernel sets. Nothing is ever freed but the
 * arena. Expressions are found by a hash of node, type, payload and argument ids.
 */
#include "ir/ir.h"
#include "ir/build.h"
#include "ir/cons.h"
#include "ir/query.h"

#include "base/map.h"

#include <math.h>
#include <string.h>

/* A table of slots by hashes of ids; what another use than the one of now has left counts as free. */
typedef struct MemoSlot {
	uint32_t id, use;
	const Expr *value;
} MemoSlot;

struct IrMemo {
	Arena *arena;
	IrMemo *idle; /* the next one in the pool */
	MemoSlot *slot;
	uint32_t used, now;
	uint32_t shift; /* there are 2 to the power of 32 - shift slots */
};

struct Ir {
	Arena *arena;
	Map names; /* to the number in its last fresh name */
	MapIndex known;
	VEC(const Expr *) expr; /* by their ids, which are their numbers in the index */
	IrMemo *idle;
	VEC(const Monoid *) builtin; /* made so far */
	KernelSet *intrin;           /* meanings parsed so far */
};

Ir *ir_new(Arena *a)
{
	Ir *ir = arena_new_of(a, Ir);
	ir->arena = a;
	ir->names = MAP_OF(a);
	ir->known.arena = a;
	return ir;
}

/* The slots of an index are copied, the things behind them shared. */
static MapIndex fork_index(Arena *a, MapIndex x)
{
	x.arena = a;
	x.slot = x.cap > 0 ? arena_copy(a, x.slot, sizeof *x.slot * x.cap) : NULL;
	return x;
}

Ir *ir_fork(Arena *a, const Ir *from)
{
	Ir *ir = arena_copy(a, from, sizeof *from);
	ir->arena = a;
	ir->names.index = fork_index(a, from->names.index);
	ir->names.at = arena_copy(a, from->names.at, sizeof *from->names.at * from->names.room);
	ir->known = fork_index(a, from->known);
	ir->expr.at = arena_copy(a, from->expr.at, sizeof *from->expr.at * from->expr.cap);
	ir->builtin.at = arena_copy(a, from->builtin.at, sizeof *from->builtin.at * from->builtin.cap);
	ir->idle = NULL;
	if (from->intrin != NULL) {
		ir->intrin = arena_copy(a, from->intrin, sizeof *from->intrin);
		ir->intrin->ir = ir;
		ir->intrin->fn = arena_copy(a, from->intrin->fn, sizeof *from->intrin->fn * from->intrin->cap);
	}
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

const char *ir_name_n(Ir *ir, const char *s, size_t n)
{
	return map_add_bytes(&ir->names, s, n)->text;
}

const char *ir_name(Ir *ir, const char *s)
{
	return map_add_text(&ir->names, s)->text;
}

bool ir_has_name(const Ir *ir, const char *s)
{
	return map_find_text(&ir->names, s) != NULL;
}

/* stem.1, stem.2, ...: a number that the stem ends with is replaced, not extended. */
const char *ir_fresh_name(Ir *ir, const char *stem)
{
	size_t n = strlen(stem), digits = n;
	while (digits > 0 && stem[digits - 1] >= '0' && stem[digits - 1] <= '9')
		digits--;
	if (digits > 1 && digits < n && stem[digits - 1] == '.')
		n = digits - 1;
	for (int64_t next = map_add_bytes(&ir->names, stem, n)->num + 1;; next++) {
		uint32_t before = ir->names.index.n;
		const char *name = ir_name(ir, arena_printf(ir->arena, "%.*s.%lld", (int)n, stem, (long long)next));
		if (ir->names.index.n != before) {
			map_add_bytes(&ir->names, stem, n)->num = next;
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
	return map_hash(h);
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

const Expr *ir_cons(Ir *ir, const Expr *e, const Expr *const *arg)
{
	uint32_t hash = hash_expr(e, arg);
	for (uint32_t at = hash, k; (k = map_next(&ir->known, hash, &at)) != MAP_NONE;)
		if (same_expr(ir->expr.at[k], e, arg))
			return ir->expr.at[k];
	size_t n = e->nargs;
	Expr *own = arena_alloc(ir->arena, sizeof(Expr) + sizeof(Expr *) * n);
	*own = *e;
	unsigned depth = 0;
	uint64_t size = 1;
	own->names = e->op == IR_VAR || e->op == IR_LOAD ? ir_name_bit(e->name) : 0;
	own->names |= e->op == IR_LOAD ? IR_LOADS : 0;
	for (size_t i = 0; i < n; i++) {
		own->arg[i] = arg[i];
		size += arg[i]->size;
		own->names |= arg[i]->names;
		if (arg[i]->depth > depth)
			depth = arg[i]->depth;
	}
	own->depth = (uint16_t)(depth < UINT16_MAX ? depth + 1 : depth);
	own->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	own->id = map_index_add(&ir->known, hash);
	vec_push(ir->arena, &ir->expr, own);
	return own;
}

enum { MEMO_BITS = 6 }; /* of the first slots' number: most uses see a few dozen expressions */

static void memo_slots(IrMemo *m, uint32_t bits)
{
	m->shift = 32 - bits;
	m->slot = arena_array(m->arena, MemoSlot, (size_t)1 << bits);
}

IrMemo *ir_memo_begin(Ir *ir)
{
	IrMemo *m = ir->idle;
	if (m == NULL) {
		m = arena_new_of(ir->arena, IrMemo);
		m->arena = ir->arena;
		memo_slots(m, MEMO_BITS);
	} else {
		ir->idle = m->idle;
	}
	if (m->now == UINT32_MAX) {
		memset(m->slot, 0, sizeof *m->slot << (32 - m->shift));
		m->now = 0;
	}
	m->now++;
	m->used = 0;
	m->idle = NULL;
	return m;
}

static MemoSlot *memo_find(const IrMemo *m, uint32_t id)
{
	uint32_t mask = UINT32_MAX >> m->shift, at = (id * UINT32_C(0x9e3779b1)) >> m->shift;
	while (m->slot[at].use == m->now && m->slot[at].id != id)
		at = (at + 1) & mask;
	return &m->slot[at];
}

static void memo_widen(IrMemo *m)
{
	const MemoSlot *old = m->slot, *end = old + ((size_t)1 << (32 - m->shift));
	memo_slots(m, 33 - m->shift);
	for (; old < end; old++)
		if (old->use == m->now)
			*memo_find(m, old->id) = *old;
}

const Expr **ir_memo_at(IrMemo *m, const Expr *e)
{
	MemoSlot *s = memo_find(m, e->id);
	if (s->use != m->now) {
		if (2 * ++m->used > UINT32_MAX >> m->shift) {
			memo_widen(m);
			s = memo_find(m, e->id);
		}
		*s = (MemoSlot){ e->id, m->now, NULL };
	}
	return &s->value;
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

bool ir_set_has_kind(const KernelSet *ks, FnKind kind)
{
	for (size_t i = 0; i < ks->n; i++)
		if (ks->fn[i]->kind == kind)
			return true;
	return false;
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

Buf *ir_find_buf(const Fn *fn, const char *name)
{
	for (int i = 0; i < fn->nparam; i++)
		if (fn->param[i].buf != NULL && strcmp(fn->param[i].buf->name, name) == 0)
			return fn->param[i].buf;
	Stmt *body = fn->body, **link = ir_find_alloc(&body, name);
	return link != NULL ? (*link)->alloc : NULL;
}
