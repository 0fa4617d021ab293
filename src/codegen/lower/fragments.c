/*
 * Tensor cores. A fragment is a matrix that the lanes of a warp share out, and its statements say nothing of lanes
 * (ir/text/intrin.def). This pass says which lane does what:
 *
 *     alloc c @fragment                          alloc c.l @local: for each tile of c, the elements of one lane
 *     for i in 0..16 { for j in 0..8 {           for lane in 0..32 bound(block.x) { for e in 0..4 vector {
 *         c[i, j] = x[i, j] } }             ->        c.l[0, 0, e] = x[row(lane, e), column(lane, e)] } }
 *     intrin mma(c, a, b)                        for lane { c.l[0, 0, ..] = mma(c.l[0, 0, ..], a.l[0, 0, ..], ..) }
 *
 * The role of a fragment in the instruction decides which elements a lane has (PTX ISA, matrix fragments for mma). Two
 * loops over a tile become the loop over the lanes and one over the lane's elements, so a nest must have loops of
 * the tile's extents with nothing else in them. matrices.c has ldmatrix. On a target without the
 * instruction nothing changes: the intrinsic is replaced by its meaning, and one thread does the warp's work.
 *
 * A statement about fragments was the first lane's and becomes that of all. So shared memory that it reads or writes
 * must be used by other lanes too, and a barrier stands between; where one lane alone does so, the set is refused.
 */
#include "codegen/lower/fragment.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/query.h"
#include "ir/text/intrin.h"
#include "ir/threads/form.h"

#include <string.h>

enum { WARP = FRAGMENT_WARP, DIMS = FRAGMENT_DIMS, LOOPS = FRAGMENT_LOOPS };

#define SUM(name) { name, 0, { 16, 8 }, 0, 2, 2, { { 1, 1 }, { 0, 8 } } }
/* Factors of f16 by 8 and by 16, and of tf32 by 8; b with a row for each k, and, called _nt, for each column. */
#define HALVES8(name) SUM(name), { name, 1, { 16, 8 }, 0, 2, 2, { { 1, 1 }, { 0, 8 } } }
#define HALVES16(name) SUM(name), { name, 1, { 16, 16 }, 0, 2, 3, { { 1, 1 }, { 0, 8 }, { 1, 8 } } }
#define SINGLES(name) SUM(name), { name, 1, { 16, 8 }, 0, 1, 2, { { 0, 8 }, { 1, 4 } } }
static const Share shares[] = {
	HALVES16("mma_m16n8k16_f16"),
	{ "mma_m16n8k16_f16", 2, { 16, 8 }, 1, 2, 2, { { 0, 1 }, { 0, 8 } } },
	HALVES16("mma_m16n8k16_f16_nt"),
	{ "mma_m16n8k16_f16_nt", 2, { 8, 16 }, 0, 2, 2, { { 1, 1 }, { 1, 8 } } },
	HALVES16("mma_m16n8k16_bf16"),
	{ "mma_m16n8k16_bf16", 2, { 16, 8 }, 1, 2, 2, { { 0, 1 }, { 0, 8 } } },
	HALVES16("mma_m16n8k16_bf16_nt"),
	{ "mma_m16n8k16_bf16_nt", 2, { 8, 16 }, 0, 2, 2, { { 1, 1 }, { 1, 8 } } },
	HALVES8("mma_m16n8k8_f16"),
	{ "mma_m16n8k8_f16", 2, { 8, 8 }, 1, 2, 1, { { 0, 1 } } },
	HALVES8("mma_m16n8k8_f16_nt"),
	{ "mma_m16n8k8_f16_nt", 2, { 8, 8 }, 0, 2, 1, { { 1, 1 } } },
	SINGLES("mma_m16n8k8_tf32"),
	{ "mma_m16n8k8_tf32", 2, { 8, 8 }, 1, 1, 1, { { 0, 4 } } },
	SINGLES("mma_m16n8k8_tf32_nt"),
	{ "mma_m16n8k8_tf32_nt", 2, { 8, 8 }, 0, 1, 1, { { 1, 4 } } },
};

static const Share *find_share(const char *intrin, int operand)
{
	for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
		if (shares[k].operand == operand && strcmp(shares[k].intrin, intrin) == 0)
			return &shares[k];
	return NULL;
}

static Part *find_part(Frags *f, const char *buf)
{
	for (size_t k = 0; k < f->part.n; k++)
		if (f->part.at[k].whole->name == buf)
			return &f->part.at[k];
	return NULL;
}

/* Whether a lane has the same elements by both. */
static bool is_alike(const Share *a, const Share *b)
{
	return memcmp(a->size, b->size, sizeof a->size) == 0 && a->quads == b->quads && a->step == b->step &&
	       a->bits == b->bits && memcmp(a->bit, b->bit, sizeof a->bit) == 0;
}

static bool is_mma(const Frags *f, const Stmt *s)
{
	return s->kind == ST_CALL && s->call.intrin && find_share(s->call.fn, 0) != NULL &&
	       target_has_named(f->l->target, ir_find_intrin(s->call.fn)->feature);
}

static void fragment_refuse(Frags *f, const Stmt *s, const char *what, const char *name)
{
	if (f->ok)
		f->ok = lower_refuse(f->l, s, "fragment %s: %s", name, what);
}

/* ---- which fragments there are ---- */

/* Which dimension of a tile is dimension k of the fragment; -1: none. */
static int tile_dim(const int *dim, int k)
{
	return k == dim[0] ? 0 : k == dim[1] ? 1 : -1;
}

/* The lane's part of a fragment: the tiles of two dimensions, then a lane's elements of one. */
static Buf *own_part(Frags *f, const Buf *b, const Share *share, const int *dim)
{
	Ir *ir = f->l->ir;
	Buf *own = arena_copy(ir_arena(ir), b, sizeof *b);
	own->name = ir_fresh_name(ir, b->name);
	own->scope = ir_name(ir, "local");
	own->rank = b->rank + 1;
	own->map = (IndexMap){ .n = 0 };
	own->shape = arena_array(ir_arena(ir), const Expr *, own->rank);
	for (int k = 0; k < b->rank; k++) {
		int64_t n;
		int tile = tile_dim(dim, k) < 0 ? 1 : share->size[tile_dim(dim, k)];
		if (!ir_is_int(b->map.n > 0 ? b->map.extent[k] : b->shape[k], &n) || n % tile != 0)
			return NULL;
		own->shape[k] = ir_int(ir, n / tile);
	}
	own->shape[b->rank] = ir_int(ir, 1 << share->bits);
	return own;
}

static bool note_roles(Stmt *s, void *arg)
{
	Frags *f = arg;
	for (int k = 0; is_mma(f, s) && k < s->call.n; k++) {
		const CallArg *a = &s->call.arg[k];
		const Share *share = find_share(s->call.fn, k);
		const Buf *b = lower_buf(f->l->bufs, a->buf);
		Part *known = find_part(f, a->buf);
		int dim[DIMS] = { -1, -1 }, open = 0;
		for (int i = 0; i < a->n; i++)
			if (a->len[i] != NULL && open++ < DIMS)
				dim[open - 1] = i;
		if (known != NULL && (!is_alike(known->share, share) || memcmp(known->dim, dim, sizeof dim) != 0))
			fragment_refuse(f, s, "it has two roles in mma; copy it to another one", a->buf);
		else if (b == NULL || !lower_is_alloc(f->l, a->buf) || strcmp(b->scope, "fragment") != 0 || open != DIMS ||
			(b->map.n > 0 && b->map.n != b->rank))
			fragment_refuse(f, s, "an operand of mma is a window of two dimensions of an alloc of this scope",
				a->buf);
		if (known != NULL || !f->ok)
			continue;
		Buf *own = own_part(f, b, share, dim);
		if (own == NULL)
			fragment_refuse(f, s, "its dimensions are no multiples of the instruction's", a->buf);
		else
			vec_push(f->l->arena, &f->part, ((Part){ b, own, share, { dim[0], dim[1] } }));
	}
	return true;
}

/* ---- shared memory ---- */

typedef struct Uses {
	Frags *f;
	bool found;
	const char *buf; /* NULL: any fragment */
} Uses;

static void meet_use(const IrUse *use, void *arg)
{
	Uses *u = arg;
	u->found |= u->buf != NULL ? use->buf == u->buf : find_part(u->f, use->buf) != NULL;
}

static bool touches(Frags *f, Stmt *s, const char *buf)
{
	Uses u = { .f = f, .buf = buf };
	Stmt one = *s;
	one.next = NULL;
	ir_each_use(&one, meet_use, &u);
	return u.found;
}

static bool is_leaf(const Stmt *s)
{
	return s->kind == ST_BLOCK || s->kind == ST_STORE || s->kind == ST_REDUCE || s->kind == ST_CALL;
}

/* The first statement of one lane alone that touches the buffer and no fragment; NULL: there is none. */
static Stmt *find_lone(Frags *f, Stmt *list, const char *buf)
{
	for (Stmt *s = list; s != NULL; s = s->next) {
		Stmt **below[IR_CHILDREN];
		int axis;
		if (ir_axis_of(s, &axis) == AXIS_BLOCK && axis == 0)
			continue;
		if (is_leaf(s)) {
			if (touches(f, s, buf) && !touches(f, s, NULL))
				return s;
			continue;
		}
		for (int k = 0, n = ir_children(s, below); k < n; k++) {
			Stmt *found = find_lone(f, *below[k], buf);
			if (found != NULL)
				return found;
		}
	}
	return NULL;
}

static void check_shared(const IrUse *use, void *arg)
{
	Frags *f = arg;
	const Buf *b = lower_buf(f->l->bufs, use->buf);
	if (b == NULL || strcmp(b->scope, "shared") != 0)
		return;
	const Stmt *lone = find_lone(f, f->l->fn->body, use->buf);
	if (lone != NULL)
		fragment_refuse(f, lone,
			"a warp's fragments and one lane alone use this shared buffer; bind that loop to block.x", use->buf);
}

static void check_memory(Frags *f, Stmt *list)
{
	for (Stmt *s = list; s != NULL; s = s->next) {
		Stmt one = *s, **below[IR_CHILDREN];
		one.next = NULL;
		if (is_leaf(s) && touches(f, s, NULL))
			ir_each_use(&one, check_shared, f);
		for (int k = 0, n = is_leaf(s) ? 0 : ir_children(s, below); k < n; k++)
			check_memory(f, *below[k]);
	}
}

/* ---- what each lane does ---- */

/* Row and column of element e of a lane. */
static void place(Frags *f, const Share *share, const Expr *lane, const Expr *e, const Expr *at[DIMS])
{
	Ir *ir = f->l->ir;
	at[share->quads] = ir_div(ir, lane, ir_int(ir, 4));
	at[!share->quads] = ir_mul(ir, ir_mod(ir, lane, ir_int(ir, 4)), ir_int(ir, share->step));
	for (int k = 0; k < share->bits; k++) {
		const Expr *digit = ir_mod(ir, ir_div(ir, e, ir_int(ir, 1 << k)), ir_int(ir, 2));
		int dim = share->bit[k].dim;
		at[dim] = ir_add(ir, at[dim], ir_mul(ir, digit, ir_int(ir, share->bit[k].step)));
	}
}

typedef struct Places {
	const IndexMap *map;
	const Expr *const *idx;
} Places;

static const Expr *put_index(Ir *ir, const Expr *e, void *arg)
{
	const Places *p = arg;
	(void)ir;
	for (int d = 0; e->op == IR_VAR && d < p->map->nvar; d++)
		if (strcmp(p->map->var[d], e->name) == 0)
			return p->idx[d];
	return e;
}

/* The map of a fragment leaves out the warp (schedule/own.h), so this is a place in the warp's own part. */
const Expr *fragment_index(Frags *f, const Buf *b, const Expr *const *idx, int k, const Range *env)
{
	Places p = { &b->map, idx };
	return b->map.n == 0 ? idx[k] : ir_simplify(f->l->ir, ir_map_expr(f->l->ir, b->map.at[k], put_index, &p), env);
}

const Range *fragment_facts(Frags *f)
{
	const Range *env = ir_range_fn(f->l->ir, f->l->fn);
	for (int k = 0; k < f->n; k++) {
		const Stmt *s = *f->loop[k];
		env = ir_range_for(f->l->ir, s->loop.var, s->loop.lo, s->loop.hi, env);
	}
	return env;
}

static const Expr *multiple(Frags *f, const Expr *e, int of)
{
	Ir *ir = f->l->ir;
	bool exact = ir_is_const(ir_simplify(ir, ir_mod(ir, e, ir_int(ir, of)), NULL), 0);
	return exact ? ir_simplify(ir, ir_div(ir, e, ir_int(ir, of)), NULL) : NULL;
}

/* The index of a lane's elements where the whole fragment has its tile at idx; NULL: no tile begins there. */
static const Expr **own_index(Frags *f, const Part *p, const Expr *const *idx, const Expr *element)
{
	int n = p->whole->rank;
	const Expr **out = arena_array(ir_arena(f->l->ir), const Expr *, n + 1);
	for (int k = 0; k < n; k++) {
		int d = tile_dim(p->dim, k);
		out[k] = d < 0 ? idx[k] : multiple(f, idx[k], p->share->size[d]);
		if (out[k] == NULL)
			return NULL;
	}
	out[n] = element;
	return out;
}

/* The loop of the stack that runs over a dimension of a tile by steps of one; -1: there is none. */
static int loop_of(const Frags *f, const Expr *e, int extent)
{
	Ir *ir = f->l->ir;
	for (int k = f->n - 1; k >= 0; k--) {
		const Stmt *s = *f->loop[k];
		bool plain = s->loop.kind == LOOP_SERIAL || s->loop.kind == LOOP_UNROLLED || s->loop.kind == LOOP_VECTOR;
		if (!plain || !ir_is_const(s->loop.lo, 0) || !ir_is_const(s->loop.hi, extent) || !ir_uses_var(e, s->loop.var))
			continue;
		const Expr *next = ir_subst(ir, e, s->loop.var, ir_add(ir, ir_idx(ir, s->loop.var), ir_int(ir, 1)));
		if (ir_is_const(ir_simplify(ir, ir_sub(ir, next, e), NULL), 1))
			return k;
	}
	return -1;
}

typedef struct Tiles { /* of the statement at work */
	Frags *f;
	const Stmt *stmt;
	const Part *part; /* the first one */
	int loop[DIMS];
	const Expr *element;
	const Range *env; /* what holds in the loops */
} Tiles;

static void find_loops(const IrUse *use, void *arg)
{
	Tiles *t = arg;
	const Part *p = find_part(t->f, use->buf);
	if (p == NULL || !t->f->ok)
		return;
	for (int k = 0; k < DIMS; k++) {
		const Expr *idx = fragment_index(t->f, p->whole, use->idx, p->dim[k], t->env);
		int loop = loop_of(t->f, idx, p->share->size[k]);
		if (loop < 0 || (t->part != NULL && loop != t->loop[k]))
			fragment_refuse(t->f, t->stmt,
				"two loops of the tile's extents must run over it, alone around the statement", use->buf);
		t->loop[k] = loop;
	}
	if (t->part != NULL && !is_alike(t->part->share, p->share))
		fragment_refuse(t->f, t->stmt, "a lane has other elements of it than of the statement's other fragment",
			use->buf);
	t->part = p;
}

/* An access of a whole fragment by the tile that it is in, found where both loops begin. */
static bool to_own(Tiles *t, const char **buf, int *n, const Expr *const *idx, const Expr ***out)
{
	Ir *ir = t->f->l->ir;
	const Part *p = find_part(t->f, *buf);
	const Expr *first[LOOPS];
	if (p == NULL || *n > LOOPS)
		return false;
	for (int k = 0; k < *n; k++) {
		first[k] = fragment_index(t->f, p->whole, idx, k, t->env);
		for (int d = 0; d < DIMS; d++)
			first[k] = ir_subst(ir, first[k], (*t->f->loop[t->loop[d]])->loop.var, ir_int(ir, 0));
	}
	*out = own_index(t->f, p, first, t->element);
	if (*out == NULL) {
		fragment_refuse(t->f, t->stmt, "a tile of it does not begin at a multiple of the tile's size", *buf);
		return false;
	}
	*buf = p->own->name;
	*n += 1;
	return true;
}

static const Expr *own_load(Ir *ir, const Expr *e, void *arg)
{
	const char *buf = e->name;
	int n = e->nargs;
	const Expr **idx;
	if (e->op != IR_LOAD || !to_own(arg, &buf, &n, e->arg, &idx))
		return e;
	return ir_load_named(ir, buf, e->type, idx, n);
}

static bool own_target(Stmt *s, void *arg)
{
	const Expr **idx;
	Access *a = s->kind == ST_STORE ? &s->store.dst : s->kind == ST_REDUCE ? s->reduce.dst : NULL;
	for (int k = 0; a != NULL && k < (s->kind == ST_REDUCE ? s->reduce.n : 1); k++)
		if (to_own(arg, &a[k].buf, &a[k].n, a[k].idx, &idx))
			a[k].idx = idx;
	return true;
}

/* Takes the loop out, whose body is one statement. */
static void dissolve(Stmt **link)
{
	Stmt *s = *link;
	s->loop.body->next = s->next;
	*link = s->loop.body;
}

Stmt *fragment_lanes(Frags *f, const char *lane, Stmt *body)
{
	Ir *ir = f->l->ir;
	Stmt *s = ir_for(ir, lane, ir_int(ir, 0), ir_int(ir, WARP), LOOP_BOUND, body);
	s->loop.axis = ir_name(ir, "block.x");
	return s;
}

/* Element by element: the loops over the tile become the lanes and a lane's elements. */
static void spread(Frags *f, Stmt **link)
{
	Ir *ir = f->l->ir;
	Stmt *s = *link, *behind = s->next;
	const char *lane = ir_fresh_name(ir, "lane"), *e = ir_fresh_name(ir, "element");
	Tiles t = { .f = f, .stmt = s, .element = ir_idx(ir, e), .env = fragment_facts(f) };
	s->next = NULL;
	ir_each_use(s, find_loops, &t);
	for (int k = f->n - 1; f->ok && (k >= t.loop[0] || k >= t.loop[1]); k--)
		if ((*f->loop[k])->loop.body->next != NULL || (k == f->n - 1 && behind != NULL))
			fragment_refuse(f, s, "two loops of the tile's extents must run over it, alone around the statement",
				t.part->whole->name);
	if (!f->ok)
		return;
	const Expr *at[DIMS];
	place(f, t.part->share, ir_idx(ir, lane), t.element, at);
	ir_map_stmt(ir, s, own_load, &t);
	ir_each_stmt(s, own_target, &t);
	for (int d = 0; d < DIMS; d++)
		ir_subst_stmt(ir, s, (*f->loop[t.loop[d]])->loop.var, at[d]);
	LoopKind kind = s->kind == ST_STORE && s->next == NULL ? LOOP_VECTOR : LOOP_UNROLLED;
	s = fragment_lanes(f, lane, ir_for(ir, e, ir_int(ir, 0), ir_int(ir, 1 << t.part->share->bits), kind, s));
	s->next = behind;
	*link = s;
	int inner = t.loop[0] > t.loop[1] ? 0 : 1;
	dissolve(f->loop[t.loop[inner]]);
	dissolve(f->loop[t.loop[!inner]]);
}

const Expr **fragment_window(Frags *f, const Part *p, const CallArg *a, const Expr *element)
{
	Ir *ir = f->l->ir;
	const char *name = ir_fresh_name(ir, "window");
	const Expr *in = ir_idx(ir, name), *first[LOOPS];
	const Range *env = fragment_facts(f);
	if (a->n > LOOPS)
		return NULL;
	for (int k = 0; k < a->n; k++)
		first[k] = fragment_index(f, p->whole, a->idx, k, env);
	for (int k = 0; k < a->n && p->whole->map.n > 0; k++) {
		const Expr *at[LOOPS];
		if (a->len[k] == NULL)
			continue;
		memcpy(at, a->idx, sizeof *at * (size_t)a->n);
		at[k] = ir_add(ir, at[k], in);
		const Range *inside = ir_range_for(ir, name, ir_int(ir, 0), a->len[k], env);
		const Expr *far = ir_sub(ir, fragment_index(f, p->whole, at, k, inside), ir_add(ir, first[k], in));
		if (!ir_is_const(ir_simplify(ir, far, inside), 0))
			return NULL;
	}
	return own_index(f, p, first, element);
}

/* c.l[.., ramp] = mma(c.l[.., ramp], a.l[.., ramp], b.l[.., ramp]) */
static void multiply(Frags *f, Stmt **link)
{
	Ir *ir = f->l->ir;
	Stmt *s = *link;
	const Expr *factor[3], **idx[3];
	const Part *part[3];
	for (int k = 0; k < 3; k++) {
		part[k] = find_part(f, s->call.arg[k].buf);
		const Expr *all = ir_ramp(ir, ir_int(ir, 0), ir_int(ir, 1), 1 << part[k]->share->bits);
		idx[k] = fragment_window(f, part[k], &s->call.arg[k], all);
		if (idx[k] == NULL) {
			fragment_refuse(f, s, "a window of it does not begin at a multiple of the tile's size",
				part[k]->whole->name);
			return;
		}
		DType t = dtype_vector(part[k]->own->type, 1 << part[k]->share->bits);
		factor[k] = ir_load_named(ir, part[k]->own->name, t, idx[k], part[k]->own->rank);
	}
	Stmt *store = ir_stmt(ir, ST_STORE);
	store->store.dst = (Access){ part[0]->own->name, part[0]->own->rank, idx[0] };
	store->store.value = ir_node(ir, IR_MMA, factor[0]->type, factor, 3);
	store = fragment_lanes(f, ir_fresh_name(ir, "lane"), store);
	store->next = s->next;
	*link = store;
}

/* An ldmatrix, or its meaning: each lane copies its elements one by one. */
static void load_matrix(Frags *f, Stmt **link)
{
	Ir *ir = f->l->ir;
	Stmt *s = *link;
	const Part *p = find_part(f, s->call.arg[0].buf);
	if (p != NULL && fragment_load(f, p, link))
		return;
	const Fn *meaning = ir_intrin(ir, s->call.fn);
	Stmt *body = ir_clone_stmt(ir, meaning->body);
	lower_rename(f->l, body);
	ir_bind_params(ir, body, meaning, s->call.arg);
	body->next = s->next;
	*link = body;
}

/* A block becomes its body: its iterators would not take the values of a lane one after the other. */
static bool open_block(Frags *f, Stmt **link)
{
	Stmt *s = *link, *body = s->block.body, *last = body;
	if (s->block.init != NULL || body == NULL) {
		fragment_refuse(f, s, "its block has an init; decompose_init takes it out", s->block.name);
		return false;
	}
	ir_map_stmt(f->l->ir, body, lower_put_iterators, s);
	if (s->block.where != NULL)
		last = body = ir_if(f->l->ir, ir_map_expr(f->l->ir, s->block.where, lower_put_iterators, s), body, NULL);
	while (last->next != NULL)
		last = last->next;
	last->next = s->next;
	*link = body;
	return true;
}

static bool is_loop(const Stmt *s, void *arg)
{
	(void)arg;
	return s->kind == ST_FOR;
}

/* Changes the first statement that has a fragment; whether there was one. */
static bool change_one(Frags *f, Stmt **list)
{
	for (Stmt **link = list; *link != NULL; link = &(*link)->next) {
		Stmt *s = *link, **below[IR_CHILDREN];
		if (is_leaf(s) || (s->kind == ST_IF && ir_find_below(s, is_loop, NULL) == NULL)) {
			if (!touches(f, s, NULL))
				continue;
			if (s->kind == ST_BLOCK)
				open_block(f, link);
			else if (is_mma(f, s))
				multiply(f, link);
			else if (fragment_is_load(s))
				load_matrix(f, link);
			else
				spread(f, link);
			return true;
		}
		if (s->kind == ST_FOR && f->n == LOOPS)
			continue;
		if (s->kind == ST_FOR)
			f->loop[f->n++] = link;
		bool changed = false;
		for (int k = 0, n = ir_children(s, below); k < n && !changed; k++)
			changed = change_one(f, below[k]);
		f->n -= s->kind == ST_FOR;
		if (changed)
			return true;
	}
	return false;
}

static bool own_alloc(Stmt *s, void *arg)
{
	Part *p = s->kind == ST_ALLOC ? find_part(arg, s->alloc->name) : NULL;
	if (p != NULL)
		s->alloc = p->own;
	return true;
}

bool pass_fragments(Lower *l)
{
	Frags f = { .l = l, .ok = true };
	l->bufs = lower_bufs(l);
	ir_each_stmt(l->fn->body, note_roles, &f);
	if (f.part.n == 0 || !f.ok)
		return f.ok;
	int warp = l->target->blocks.warp;
	if (warp != WARP)
		return lower_refuse(l, l->fn->body,
			"fragments belong to warps of %d threads; those of the target have %d", WARP, warp);
	check_memory(&f, l->fn->body);
	while (f.ok && change_one(&f, &l->fn->body))
		f.n = 0;
	ir_each_stmt(l->fn->body, own_alloc, &f);
	return f.ok;
}
