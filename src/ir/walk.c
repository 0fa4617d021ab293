/*
 * Walking and rebuilding. Expressions are a graph with shared parts, and each walk visits a part once; otherwise
 * sharing would cost exponential time. The visited parts are a set on the stack (NodeSet), or the Ir's memo.
 */
#include "ir/walk.h"
#include "ir/build.h"
#include "ir/cons.h"

#include <stddef.h>
#include <string.h>

/* Where the lists of statements stand that a statement holds, in the order of the text: the only place that says so. */
static const struct {
	int n;
	size_t at[IR_CHILDREN];
} children[] = {
	[ST_FOR] = { 1, { offsetof(Stmt, loop.body) } },
	[ST_BLOCK] = { 2, { offsetof(Stmt, block.init), offsetof(Stmt, block.body) } },
	[ST_IF] = { 2, { offsetof(Stmt, branch.then), offsetof(Stmt, branch.other) } },
	[ST_ASYNC] = { 1, { offsetof(Stmt, async) } },
	[ST_PREFETCH] = { 0 }, /* the last kind: the others hold none */
};

int ir_children(const Stmt *s, Stmt **list[IR_CHILDREN])
{
	for (int k = 0; k < children[s->kind].n; k++)
		list[k] = (Stmt **)((uintptr_t)s + children[s->kind].at[k]);
	return children[s->kind].n;
}

void ir_each_stmt(Stmt *s, bool (*f)(Stmt *s, void *arg), void *arg)
{
	for (; s != NULL; s = s->next)
		if (f(s, arg) && children[s->kind].n > 0)
			ir_each_below(s, f, arg);
}

void ir_each_below(const Stmt *s, bool (*f)(Stmt *s, void *arg), void *arg)
{
	Stmt **list[IR_CHILDREN];
	for (int k = 0, n = ir_children(s, list); k < n; k++)
		ir_each_stmt(*list[k], f, arg);
}

/* The places of a statement that hold an expression, in the order of the text. */
typedef void (*PlaceFn)(const Expr **e, void *arg);

static void places(const Expr **e, int n, PlaceFn f, void *arg)
{
	for (int i = 0; i < n; i++)
		if (e[i] != NULL)
			f(&e[i], arg);
}

void ir_each_place(Stmt *s, PlaceFn f, void *arg)
{
	switch (s->kind) {
	case ST_FOR:
		f(&s->loop.lo, arg);
		f(&s->loop.hi, arg);
		break;
	case ST_BLOCK:
		for (int i = 0; i < s->block.n; i++) {
			f(&s->block.iter[i].lo, arg);
			f(&s->block.iter[i].hi, arg);
			f(&s->block.iter[i].value, arg);
		}
		places(&s->block.where, 1, f, arg);
		break;
	case ST_STORE:
		places(s->store.dst.idx, s->store.dst.n, f, arg);
		f(&s->store.value, arg);
		places(&s->store.mask, 1, f, arg);
		break;
	case ST_REDUCE:
		for (int i = 0; i < s->reduce.n; i++)
			places(s->reduce.dst[i].idx, s->reduce.dst[i].n, f, arg);
		places(s->reduce.value, s->reduce.n, f, arg);
		places(&s->reduce.mask, 1, f, arg);
		break;
	case ST_LET: f(&s->let.value, arg); break;
	case ST_IF: f(&s->branch.cond, arg); break;
	case ST_CALL:
		for (int i = 0; i < s->call.n; i++) {
			CallArg *a = &s->call.arg[i];
			places(a->idx, a->n, f, arg);
			places(a->len, a->n, f, arg);
			places(&a->value, 1, f, arg);
		}
		break;
	case ST_PREFETCH: places(s->prefetch.idx, s->prefetch.n, f, arg); break;
	default: break;
	}
}

typedef struct Each {
	void (*f)(const Expr *e, void *arg);
	void *arg;
} Each;

static void each_at(const Expr **e, void *arg)
{
	const Each *each = arg;
	each->f(*e, each->arg);
}

void ir_each_expr(const Stmt *s, void (*f)(const Expr *e, void *arg), void *arg)
{
	Each each = { f, arg };
	ir_each_place((Stmt *)s, each_at, &each); /* each_at writes nothing */
}

enum { FEW = 24, SMALL = 64, LARGE = 256 };

/*
 * A set of nodes: a table on the stack that moves to a larger one there, then to an arena of its own. It is no Map
 * because most walks see fewer than 32 nodes and no arena is at hand: beginning one clears 512 bytes and allocates
 * nothing.
 */
typedef struct NodeSet {
	const Expr *small[SMALL], *large[LARGE];
	const Expr **slot;
	size_t cap, used;
	Arena *arena;
} NodeSet;

static void nodes_init(NodeSet *s)
{
	memset(s->small, 0, sizeof s->small);
	s->slot = s->small;
	s->cap = SMALL;
	s->used = 0;
	s->arena = NULL;
}

static const Expr **seen_slot(const Expr **slot, size_t cap, const Expr *e)
{
	for (size_t i = ((size_t)e->id * 0x9e3779b1u) & (cap - 1);; i = (i + 1) & (cap - 1))
		if (slot[i] == NULL || slot[i] == e)
			return &slot[i];
}

/* Adds e; false if it was there already. */
static bool nodes_add(NodeSet *s, const Expr *e)
{
	const Expr **at = seen_slot(s->slot, s->cap, e);
	if (*at == e)
		return false;
	*at = e;
	if (2 * ++s->used <= s->cap)
		return true;
	size_t cap = s->cap == SMALL ? LARGE : s->cap * 4;
	if (cap > LARGE && s->arena == NULL)
		s->arena = arena_new();
	const Expr **wide = s->arena != NULL ? arena_array(s->arena, const Expr *, cap)
	                                     : memset(s->large, 0, sizeof s->large);
	for (size_t i = 0; i < s->cap; i++)
		if (s->slot[i] != NULL)
			*seen_slot(wide, cap, s->slot[i]) = s->slot[i];
	s->slot = wide;
	s->cap = cap;
	return true;
}

/* A set of so few that they are compared one by one. */
typedef struct FewNodes {
	const Expr *at[FEW];
	int n;
} FewNodes;

static bool few_add(FewNodes *s, const Expr *e)
{
	for (int i = 0; i < s->n; i++)
		if (s->at[i] == e)
			return false;
	s->at[s->n++] = e;
	return true;
}

static void visit_few(FewNodes *seen, const Expr *e, const Each *each)
{
	if (!few_add(seen, e))
		return;
	for (int i = 0; i < e->nargs; i++)
		visit_few(seen, e->arg[i], each);
	each->f(e, each->arg);
}

static void visit(NodeSet *seen, const Expr *e, const Each *each)
{
	if (!nodes_add(seen, e))
		return;
	for (int i = 0; i < e->nargs; i++)
		visit(seen, e->arg[i], each);
	each->f(e, each->arg);
}

void ir_each_node(const Expr *e, void (*f)(const Expr *e, void *arg), void *arg)
{
	NodeSet seen;
	if (e->nargs == 0) {
		f(e, arg);
	} else if (e->size <= FEW) {
		FewNodes few;
		few.n = 0;
		visit_few(&few, e, &(Each){ f, arg });
	} else {
		nodes_init(&seen);
		visit(&seen, e, &(Each){ f, arg });
		arena_free(seen.arena);
	}
}

typedef struct Search {
	bool (*is)(const Expr *e, void *arg);
	void *arg;
	NodeSet seen;
} Search;

static const Expr *find_node(Search *x, const Expr *e)
{
	if (e->nargs != 0 && !nodes_add(&x->seen, e))
		return NULL;
	const Expr *found = NULL;
	for (int i = 0; i < e->nargs && found == NULL; i++)
		found = find_node(x, e->arg[i]);
	return found != NULL || !x->is(e, x->arg) ? found : e;
}

typedef struct FewSearch {
	bool (*is)(const Expr *e, void *arg);
	void *arg;
	FewNodes seen;
} FewSearch;

static const Expr *find_few(FewSearch *x, const Expr *e)
{
	if (e->nargs != 0 && !few_add(&x->seen, e))
		return NULL;
	const Expr *found = NULL;
	for (int i = 0; i < e->nargs && found == NULL; i++)
		found = find_few(x, e->arg[i]);
	return found != NULL || !x->is(e, x->arg) ? found : e;
}

const Expr *ir_find_node(const Expr *e, bool (*is)(const Expr *e, void *arg), void *arg)
{
	if (e->nargs == 0)
		return is(e, arg) ? e : NULL;
	if (e->size <= FEW) {
		FewSearch few;
		few.is = is;
		few.arg = arg;
		few.seen.n = 0;
		return find_few(&few, e);
	}
	Search x;
	x.is = is;
	x.arg = arg;
	nodes_init(&x.seen);
	const Expr *found = find_node(&x, e);
	arena_free(x.seen.arena);
	return found;
}

static bool is_var(const Expr *e, void *name)
{
	return e->op == IR_VAR && strcmp(e->name, name) == 0;
}

/* Of an expression so small that parts of it may be looked at twice. */
static bool uses_var(const Expr *e, const char *name, uint32_t bit)
{
	if (e->op == IR_VAR)
		return strcmp(e->name, name) == 0;
	for (int i = 0; i < e->nargs; i++)
		if ((e->arg[i]->names & bit) != 0 && uses_var(e->arg[i], name, bit))
			return true;
	return false;
}

bool ir_uses_var(const Expr *e, const char *name)
{
	if (e->nargs == 0)
		return e->op == IR_VAR && strcmp(e->name, name) == 0;
	uint32_t bit = ir_name_bit(name);
	if ((e->names & bit) == 0)
		return false;
	if (e->size <= SMALL)
		return uses_var(e, name, bit);
	return ir_find_node(e, is_var, (void *)(uintptr_t)name) != NULL;
}

const Expr *ir_with_args(Ir *ir, const Expr *e, const Expr *const *arg)
{
	if (e->nargs == 0 || memcmp(e->arg, arg, sizeof *arg * e->nargs) == 0)
		return e;
	if (e->op == IR_LOAD)
		return ir_cons(ir, e, arg);
	return ir_node(ir, e->op, e->type, arg, e->nargs);
}

typedef struct Mapping {
	Ir *ir;
	IrMapFn f;
	void *arg;
	IrMemo *memo;
	uint32_t names; /* what has none of these stays as it is */
} Mapping;

static const Expr *rebuild(Mapping *m, const Expr *e)
{
	if ((e->names & m->names) == 0 && m->names != 0)
		return e;
	const Expr *known = *ir_memo_at(m->memo, e);
	if (known != NULL)
		return known;
	const Expr *few[4], **arg = few;
	if (e->nargs > 4)
		arg = arena_array(ir_arena(m->ir), const Expr *, e->nargs);
	for (int i = 0; i < e->nargs; i++)
		arg[i] = rebuild(m, e->arg[i]);
	const Expr *r = m->f(m->ir, ir_with_args(m->ir, e, arg), m->arg);
	*ir_memo_at(m->memo, e) = r;
	return r;
}

const Expr *ir_map_expr(Ir *ir, const Expr *e, IrMapFn f, void *arg)
{
	Mapping m = { ir, f, arg, ir_memo_begin(ir), 0 };
	const Expr *r = rebuild(&m, e);
	ir_memo_end(ir, m.memo);
	return r;
}

static void rebuild_at(const Expr **e, void *arg)
{
	*e = rebuild(arg, *e);
}

static bool rebuild_stmt(Stmt *s, void *arg)
{
	ir_each_place(s, rebuild_at, arg);
	return true;
}

const Expr *ir_map_named(Ir *ir, const Expr *e, uint32_t names, IrMapFn f, void *arg)
{
	if ((e->names & names) == 0)
		return e;
	Mapping m = { ir, f, arg, ir_memo_begin(ir), names };
	const Expr *r = rebuild(&m, e);
	ir_memo_end(ir, m.memo);
	return r;
}

static void map_stmt(Ir *ir, Stmt *s, uint32_t names, IrMapFn f, void *arg)
{
	Mapping m = { ir, f, arg, ir_memo_begin(ir), names };
	ir_each_stmt(s, rebuild_stmt, &m);
	ir_memo_end(ir, m.memo);
}

void ir_map_stmt(Ir *ir, Stmt *s, IrMapFn f, void *arg)
{
	map_stmt(ir, s, 0, f, arg);
}

void ir_map_stmt_named(Ir *ir, Stmt *s, const char *name, IrMapFn f, void *arg)
{
	map_stmt(ir, s, ir_name_bit(name), f, arg);
}

typedef struct Subst {
	const char *name;
	const Expr *by;
} Subst;

static const Expr *subst_node(Ir *ir, const Expr *e, void *arg)
{
	const Subst *s = arg;
	(void)ir;
	return e->op == IR_VAR && strcmp(e->name, s->name) == 0 ? s->by : e;
}

const Expr *ir_subst(Ir *ir, const Expr *e, const char *name, const Expr *by)
{
	return ir_map_named(ir, e, ir_name_bit(name), subst_node, &(Subst){ name, by });
}

void ir_subst_stmt(Ir *ir, Stmt *s, const char *name, const Expr *by)
{
	ir_map_stmt_named(ir, s, name, subst_node, &(Subst){ name, by });
}
