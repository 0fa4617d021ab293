/* See nest.h.  Walks only; nothing here changes a Fn. */
#include "schedule/nest.h"

#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

/* ---- finding ---- */

/* The lists of statements that a statement holds. */
static int children(Stmt *s, Stmt ***out)
{
	switch (s->kind) {
	case ST_FOR: out[0] = &s->loop.body; return 1;
	case ST_BLOCK: out[0] = &s->block.init; out[1] = &s->block.body; return 2;
	case ST_IF: out[0] = &s->branch.then; out[1] = &s->branch.other; return 2;
	case ST_ASYNC: out[0] = &s->async; return 1;
	default: return 0;
	}
}

/* The link to the loop or block of that name, NULL if there is none; the loops that it stands in. */
static Stmt **find_in(Stmt **link, StmtKind kind, const char *name, Stmt **around, int *naround)
{
	for (; *link != NULL; link = &(*link)->next) {
		Stmt *s = *link, **list[2];
		if (s->kind == kind && strcmp(kind == ST_FOR ? s->loop.var : s->block.name, name) == 0)
			return link;
		if (s->kind == ST_FOR && *naround < IR_MAX_DEPTH)
			around[(*naround)++] = s;
		for (int i = 0, n = children(s, list); i < n; i++) {
			Stmt **found = find_in(list[i], kind, name, around, naround);
			if (found != NULL)
				return found;
		}
		*naround -= s->kind == ST_FOR;
	}
	return NULL;
}

Found nest_find(const KernelSet *ks, const char *name, Place *out)
{
	Found found = FOUND_NONE;
	for (size_t i = 0; i < ks->n && found != FOUND_SEVERAL; i++) {
		Place p;
		p.fn = ks->fn[i];
		p.naround = 0;
		p.link = find_in(&p.fn->body, ST_FOR, name, p.around, &p.naround);
		if (p.link == NULL)
			continue;
		p.loop = *p.link;
		found = found == FOUND_NONE ? FOUND_ONE : FOUND_SEVERAL;
		*out = p;
	}
	return found;
}

Found nest_find_block(const KernelSet *ks, const char *name, BlockPlace *out)
{
	Found found = FOUND_NONE;
	for (size_t i = 0; i < ks->n && found != FOUND_SEVERAL; i++) {
		BlockPlace p;
		p.fn = ks->fn[i];
		p.naround = 0;
		p.link = find_in(&p.fn->body, ST_BLOCK, name, p.around, &p.naround);
		if (p.link == NULL)
			continue;
		p.block = *p.link;
		found = found == FOUND_NONE ? FOUND_ONE : FOUND_SEVERAL;
		*out = p;
	}
	return found;
}

Stmt **nest_link_to(Stmt **list, const Stmt *block)
{
	for (; *list != NULL; list = &(*list)->next) {
		Stmt *s = *list;
		if (s == block || (s->kind == ST_FOR && nest_link_to(&s->loop.body, block) != NULL) ||
			(s->kind == ST_IF && (nest_link_to(&s->branch.then, block) != NULL ||
						     nest_link_to(&s->branch.other, block) != NULL)))
			return list;
	}
	return NULL;
}

bool nest_extent(const Stmt *loop, int64_t *n)
{
	int64_t lo, hi;
	return ir_is_int(loop->loop.lo, &lo) && ir_is_int(loop->loop.hi, &hi) &&
		!__builtin_sub_overflow(hi, lo, n);
}

/* ---- what is below ---- */

typedef struct Alloc {
	const char *buf;
	bool found;
} Alloc;

static bool is_alloc(Stmt *s, void *arg)
{
	Alloc *a = arg;
	a->found |= s->kind == ST_ALLOC && strcmp(s->alloc->name, a->buf) == 0;
	return !a->found;
}

bool nest_outlives(Stmt *body, const char *buf)
{
	Alloc a = { buf, false };
	ir_each_stmt(body, is_alloc, &a);
	return !a.found;
}

typedef struct Folding {
	const char *var;
	bool found;
} Folding;

static void look_at_fold(const Expr *e, void *arg)
{
	Folding *f = arg;
	f->found |= (e->op == IR_MIN || e->op == IR_MAX) && ir_uses_var(e, f->var);
}

bool nest_folds(const Stmt *block, const char *var)
{
	Folding f = { var, false };
	for (int k = 0; k < block->block.n; k++)
		ir_each_node(block->block.iter[k].value, look_at_fold, &f);
	return f.found;
}

typedef struct Shown {
	Stmt *within;
	bool shows;
} Shown;

static bool look_at_writes(Stmt *s, void *arg)
{
	Shown *v = arg;
	if (s->kind == ST_STORE)
		v->shows |= nest_outlives(v->within, s->store.dst.buf);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		v->shows |= nest_outlives(v->within, s->reduce.dst[k].buf);
	v->shows |= s->kind == ST_CALL || s->kind == ST_ASYNC;
	return !v->shows;
}

/* Whether the block writes a buffer that lives longer than an iteration of the loop with this body. */
static bool shows_outside(const Stmt *block, Stmt *body)
{
	Shown v = { body, false };
	ir_each_stmt(block->block.init, look_at_writes, &v);
	ir_each_stmt(block->block.body, look_at_writes, &v);
	return v.shows;
}

static void look_at_block(const Stmt *s, Uses *u)
{
	bool spatial = false, used = false;
	u->blocks++;
	u->block = s;
	for (int i = 0; i < s->block.n; i++) {
		const Iter *it = &s->block.iter[i];
		u->bounds |= ir_uses_var(it->lo, u->var) || ir_uses_var(it->hi, u->var);
		if (!ir_uses_var(it->value, u->var))
			continue;
		used = true;
		spatial |= it->kind == ITER_SPATIAL;
		u->reduce |= it->kind == ITER_REDUCE;
		u->scan |= it->kind == ITER_SCAN;
	}
	u->spatial |= spatial;
	bool shows = shows_outside(s, u->body);
	u->idle |= !spatial && shows;
	u->unused |= !used && shows;
	u->folds |= shows && nest_folds(s, u->var);
}

static void look_below(const Stmt *s, Uses *u)
{
	for (; s != NULL; s = s->next) {
		if (s->kind == ST_FOR) {
			u->bounds |= ir_uses_var(s->loop.lo, u->var) || ir_uses_var(s->loop.hi, u->var);
			look_below(s->loop.body, u);
		} else if (s->kind == ST_BLOCK) {
			look_at_block(s, u);
		} else if (s->kind != ST_ALLOC && s->kind != ST_PREFETCH) { /* a buffer of its own in every iteration */
			u->bare = true;
		}
	}
}

static bool look_at_kind(Stmt *s, void *arg)
{
	Uses *u = arg;
	if (s->kind == ST_FOR) {
		u->lanes |= s->loop.kind == LOOP_VECTOR;
		u->threads |= s->loop.kind == LOOP_PARALLEL || s->loop.kind == LOOP_BOUND;
	}
	return true;
}

Uses nest_uses(const Stmt *loop)
{
	Uses u = { .var = loop->loop.var, .body = loop->loop.body };
	look_below(loop->loop.body, &u);
	ir_each_stmt(loop->loop.body, look_at_kind, &u);
	return u;
}

/* ---- what a block reads and writes ---- */

typedef struct OrderCheck {
	const KernelSet *ks;
	bool ordered;
} OrderCheck;

static bool check_order(Stmt *s, void *arg)
{
	OrderCheck *c = arg;
	if (s->kind == ST_REDUCE) {
		const Monoid *own = NULL;
		for (size_t i = 0; i < c->ks->nmonoid; i++)
			if (strcmp(c->ks->monoid[i]->name, s->reduce.monoid) == 0)
				own = c->ks->monoid[i];
		c->ordered |= own != NULL && !own->associative; /* the built-in ones are */
	} else if (s->kind != ST_FOR && s->kind != ST_LET && s->kind != ST_IF) {
		c->ordered = true;
	}
	return true;
}

bool nest_ordered(const KernelSet *ks, const Stmt *block)
{
	OrderCheck c = { ks, false };
	bool reduces = false;
	for (int i = 0; i < block->block.n; i++)
		reduces |= block->block.iter[i].kind == ITER_REDUCE;
	if (reduces)
		ir_each_stmt(block->block.body, check_order, &c);
	return c.ordered;
}

/*
 * Dimension `dim` of every access to buf is the one iterator `it`: then what differs in `it` is
 * another element.
 */
typedef struct ApartCheck {
	const char *buf, *it;
	int dim;
	bool apart;
} ApartCheck;

static void check_access(ApartCheck *c, const char *buf, const Expr *const *idx, int n)
{
	if (strcmp(buf, c->buf) == 0 &&
		(c->dim >= n || idx[c->dim]->op != IR_VAR || strcmp(idx[c->dim]->name, c->it) != 0))
		c->apart = false;
}

static void check_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		check_access(arg, e->name, e->arg, e->nargs);
}

static void check_loads(const Expr *e, void *arg)
{
	ir_each_node(e, check_load, arg);
}

static bool check_apart(Stmt *s, void *arg)
{
	ApartCheck *c = arg;
	ir_each_expr(s, check_loads, c);
	if (s->kind == ST_STORE)
		check_access(c, s->store.dst.buf, s->store.dst.idx, s->store.dst.n);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		check_access(c, s->reduce.dst[k].buf, s->reduce.dst[k].idx, s->reduce.dst[k].n);
	return c->apart;
}

/* k * var + what ignores var: it takes another value in every iteration. */
static bool steps_with(const Expr *e, const char *var)
{
	if (e->op == IR_VAR)
		return strcmp(e->name, var) == 0;
	if (e->op != IR_ADD && e->op != IR_SUB && e->op != IR_MUL)
		return false;
	bool left = ir_uses_var(e->arg[0], var), right = ir_uses_var(e->arg[1], var);
	int64_t k = 1;
	if (left == right || (e->op == IR_MUL && (!ir_is_int(e->arg[left ? 1 : 0], &k) || k == 0)))
		return false;
	return steps_with(e->arg[left ? 0 : 1], var);
}

/* Some dimension and spatial iterator that steps with var keep the instances of the block apart. */
static bool buffer_apart(const Stmt *block, const char *var, const Access *dst)
{
	for (int d = 0; d < dst->n; d++)
		for (int i = 0; i < block->block.n; i++) {
			const Iter *it = &block->block.iter[i];
			ApartCheck c = { dst->buf, it->name, d, true };
			if (it->kind != ITER_SPATIAL || !steps_with(it->value, var))
				continue;
			ir_each_stmt(block->block.init, check_apart, &c);
			ir_each_stmt(block->block.body, check_apart, &c);
			if (c.apart)
				return true;
		}
	return false;
}

typedef struct WriteCheck {
	const Stmt *block;
	const char *var;
	bool apart;
} WriteCheck;

static bool check_writes(Stmt *s, void *arg)
{
	WriteCheck *c = arg;
	if (s->kind == ST_STORE)
		c->apart = c->apart && buffer_apart(c->block, c->var, &s->store.dst);
	else if (s->kind == ST_REDUCE)
		for (int k = 0; k < s->reduce.n; k++)
			c->apart = c->apart && buffer_apart(c->block, c->var, &s->reduce.dst[k]);
	else if (s->kind != ST_FOR && s->kind != ST_LET && s->kind != ST_IF)
		c->apart = false; /* what it writes is not seen from here */
	return c->apart;
}

bool nest_apart(const Stmt *block, const char *var)
{
	WriteCheck c = { block, var, true };
	ir_each_stmt(block->block.init, check_writes, &c);
	ir_each_stmt(block->block.body, check_writes, &c);
	return c.apart;
}

/* ---- limits and names ---- */

int nest_depth(const Stmt *s)
{
	int most = 0;
	for (; s != NULL; s = s->next) {
		Stmt **list[2];
		for (int i = 0, n = children((Stmt *)(uintptr_t)s, list); i < n; i++) {
			int below = nest_depth(*list[i]);
			most = below > most ? below : most;
		}
	}
	return most + 1;
}

int64_t nest_copies(const Stmt *s)
{
	int64_t most = 1, n;
	for (; s != NULL; s = s->next) {
		Stmt **list[2];
		int64_t copies = s->kind == ST_FOR && s->loop.kind == LOOP_UNROLLED && nest_extent(s, &n) && n > 1 ? n : 1;
		for (int i = 0, many = children((Stmt *)(uintptr_t)s, list); i < many; i++) {
			int64_t below = copies * nest_copies(*list[i]);
			most = below > most ? below : most;
		}
	}
	return most;
}

static void deepest(const Expr *e, void *arg)
{
	int *most = arg;
	if (e->depth > *most)
		*most = e->depth;
}

static bool deepest_of(Stmt *s, void *arg)
{
	ir_each_expr(s, deepest, arg);
	return true;
}

int nest_expr_depth(Stmt *s)
{
	int most = 0;
	ir_each_stmt(s, deepest_of, &most);
	return most;
}

static const char *own_name(const Stmt *s)
{
	switch (s->kind) {
	case ST_FOR: return s->loop.var;
	case ST_LET: return s->let.var;
	case ST_ALLOC: return s->alloc->name;
	case ST_REDUCE: return s->reduce.old;
	default: return NULL;
	}
}

static bool add_names(Stmt *s, void *arg)
{
	if (own_name(s) != NULL)
		intern(arg, own_name(s));
	for (int i = 0; s->kind == ST_BLOCK && i < s->block.n; i++)
		intern(arg, s->block.iter[i].name);
	return true;
}

void nest_names(const Fn *fn, Interner *out)
{
	for (int i = 0; i < fn->nparam; i++)
		intern(out, fn->param[i].buf != NULL ? fn->param[i].buf->name : fn->param[i].name);
	for (int i = 0; i < fn->nsym; i++)
		intern(out, fn->sym[i].name);
	ir_each_stmt(fn->body, add_names, out);
}

typedef struct NameSearch {
	const char *name;
	bool found;
} NameSearch;

static bool look_for_name(Stmt *s, void *arg)
{
	NameSearch *f = arg;
	f->found |= own_name(s) != NULL && strcmp(own_name(s), f->name) == 0;
	for (int i = 0; s->kind == ST_BLOCK && i < s->block.n; i++)
		f->found |= strcmp(s->block.iter[i].name, f->name) == 0;
	return !f->found;
}

bool nest_has_name(const Fn *fn, const char *name)
{
	NameSearch f = { name, false };
	for (int i = 0; i < fn->nparam; i++)
		f.found |= strcmp(fn->param[i].buf != NULL ? fn->param[i].buf->name : fn->param[i].name, name) == 0;
	for (int i = 0; i < fn->nsym; i++)
		f.found |= strcmp(fn->sym[i].name, name) == 0;
	ir_each_stmt(fn->body, look_for_name, &f);
	return f.found;
}
