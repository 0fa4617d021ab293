/* See nest.h.  Walks only; nothing here changes a Fn. */
#include "schedule/nest.h"

#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

/* ---- finding ---- */

/* The link to the loop or block of that name, NULL if there is none; the loops that it stands in. */
static Stmt **find_in(Stmt **link, StmtKind kind, const char *name, Stmt **around, int *naround)
{
	for (; *link != NULL; link = &(*link)->next) {
		Stmt *s = *link, **list[IR_CHILDREN];
		if (s->kind == kind && strcmp(kind == ST_FOR ? s->loop.var : s->block.name, name) == 0)
			return link;
		if (s->kind == ST_FOR && *naround < IR_MAX_DEPTH)
			around[(*naround)++] = s;
		for (int i = 0, n = ir_children(s, list); i < n; i++) {
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

bool nest_outlives(Stmt *body, const char *buf)
{
	return ir_find_alloc(&body, buf) == NULL;
}

static bool folds(const Expr *e, void *var)
{
	return (e->op == IR_MIN || e->op == IR_MAX) && ir_uses_var(e, var);
}

bool nest_folds(const Stmt *block, const char *var)
{
	for (int k = 0; k < block->block.n; k++)
		if (ir_find_node(block->block.iter[k].value, folds, (void *)(uintptr_t)var) != NULL)
			return true;
	return false;
}

/* Whether s writes a buffer that lives longer than an iteration of the loop with this body. */
static bool shows_outside(const Stmt *s, void *body)
{
	if (s->kind == ST_STORE)
		return nest_outlives(body, s->store.dst.buf);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		if (nest_outlives(body, s->reduce.dst[k].buf))
			return true;
	if (s->kind == ST_CALL && s->call.intrin) /* it writes only its first operand */
		return nest_outlives(body, s->call.arg[0].buf);
	return s->kind == ST_CALL || s->kind == ST_ASYNC;
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
	bool shows = ir_find_below(s, shows_outside, u->body) != NULL;
	u->idle |= !spatial && shows;
	u->unused |= !used && shows;
	u->folds |= shows && nest_folds(s, u->var);
}

bool nest_is_last(const Stmt *s)
{
	return s->kind == ST_IF && s->branch.cond->op == IR_EQ && s->branch.cond->arg[0]->op == IR_LOAD;
}

static void look_below(const Stmt *s, Uses *u)
{
	for (; s != NULL; s = s->next) {
		if (s->kind == ST_FOR) {
			u->bounds |= ir_uses_var(s->loop.lo, u->var) || ir_uses_var(s->loop.hi, u->var);
			look_below(s->loop.body, u);
		} else if (s->kind == ST_BLOCK) {
			look_at_block(s, u);
		} else if (s->kind == ST_ASYNC) {
			look_below(s->async, u);
		} else if (s->kind == ST_COMMIT || s->kind == ST_WAIT) {
			u->waits = true;
		} else if (s->kind != ST_ALLOC && s->kind != ST_PREFETCH && !nest_is_last(s)) {
			u->bare = true; /* an alloc is a buffer of its own in every iteration */
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

/* Whether the order of what the statement does shows. */
static bool is_ordered(const Stmt *s, void *arg)
{
	const KernelSet *ks = arg;
	if (s->kind != ST_REDUCE)
		return s->kind != ST_FOR && s->kind != ST_LET && s->kind != ST_IF;
	const Monoid *own = NULL;
	for (size_t i = 0; i < ks->nmonoid; i++)
		if (strcmp(ks->monoid[i]->name, s->reduce.monoid) == 0)
			own = ks->monoid[i];
	return own != NULL && !own->associative; /* the built-in ones are */
}

bool nest_ordered(const KernelSet *ks, const Stmt *block)
{
	bool reduces = false;
	for (int i = 0; i < block->block.n; i++)
		reduces |= block->block.iter[i].kind == ITER_REDUCE;
	return reduces && ir_find_stmt(block->block.body, is_ordered, (void *)(uintptr_t)ks) != NULL;
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

static void check_use(const IrUse *use, void *arg)
{
	ApartCheck *c = arg;
	bool access = use->kind == USE_LOAD || use->kind == USE_STORE || use->kind == USE_REDUCE;
	if (access && strcmp(use->buf, c->buf) == 0 &&
		(c->dim >= use->n || use->idx[c->dim]->op != IR_VAR || strcmp(use->idx[c->dim]->name, c->it) != 0))
		c->apart = false;
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
			ir_each_use_below(block, check_use, &c);
			if (c.apart)
				return true;
		}
	return false;
}

typedef struct WriteCheck {
	const Stmt *block;
	const char *var;
} WriteCheck;

/* Whether instances of the block may meet in what the statement writes. */
static bool may_meet(const Stmt *s, void *arg)
{
	const WriteCheck *c = arg;
	if (s->kind == ST_STORE)
		return !buffer_apart(c->block, c->var, &s->store.dst);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++)
		if (!buffer_apart(c->block, c->var, &s->reduce.dst[k]))
			return true;
	return s->kind != ST_REDUCE && s->kind != ST_FOR && s->kind != ST_LET && s->kind != ST_IF;
}

bool nest_apart(const Stmt *block, const char *var)
{
	WriteCheck c = { block, var };
	return ir_find_below(block, may_meet, &c) == NULL;
}

/* ---- limits and names ---- */

int nest_depth(const Stmt *s)
{
	int most = 0;
	for (; s != NULL; s = s->next) {
		Stmt **list[IR_CHILDREN];
		for (int i = 0, n = ir_children(s, list); i < n; i++) {
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
		Stmt **list[IR_CHILDREN];
		int64_t copies = s->kind == ST_FOR && s->loop.kind == LOOP_UNROLLED && nest_extent(s, &n) && n > 1 ? n : 1;
		for (int i = 0, many = ir_children(s, list); i < many; i++) {
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

static void add_name(const char **name, void *out)
{
	intern(out, *name);
}

static bool add_names(Stmt *s, void *out)
{
	ir_each_declared(s, add_name, out);
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

bool nest_has_name(const Fn *fn, const char *name)
{
	bool found = false;
	for (int i = 0; i < fn->nparam; i++)
		found |= strcmp(fn->param[i].buf != NULL ? fn->param[i].buf->name : fn->param[i].name, name) == 0;
	for (int i = 0; i < fn->nsym; i++)
		found |= strcmp(fn->sym[i].name, name) == 0;
	return found || ir_declares(fn->body, name);
}
