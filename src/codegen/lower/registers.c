/*
 * Allocs to registers. The pass takes allocs that are read and written at constant places only, and where any two
 * vector accesses are the same elements in the same order or share none. Each such piece becomes an alloc, whatever
 * the stride between its elements. The emitter keeps an alloc that is always accessed as a whole as a value, never
 * in memory. A scalar read of a vector piece is a lane of it. Lanes outside the alloc are off in a program that is
 * right: the piece has them, and nothing uses them. All other allocs go to the thread's workspace.
 */
#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

#include <string.h>

/* Where an element lives: the piece's number from 1 (0: nowhere yet), and the lane. */
typedef struct Home {
	int16_t piece, lane;
} Home;

typedef struct Alloc {
	const Buf *buf;
	int64_t n; /* elements; < 0: must stay in memory */
	Home *home;
	VEC(struct Piece {
		int width;
		const char *name;
	})
	piece; /* piece k is number k + 1 */
} Alloc;

typedef struct Registers {
	Lower *l;
	Map alloc;    /* by name */
	bool vectors; /* this round notes vector accesses, the other scalar ones */
} Registers;

static Alloc *find(const Registers *r, const char *name)
{
	const MapEntry *e = map_find_ptr(&r->alloc, name);
	return e == NULL ? NULL : e->ptr;
}

/* Constant places: lane k at *at + k * *stride. */
static bool constant_places(const Expr *i, int64_t *at, int64_t *stride)
{
	*stride = 1;
	if (i->op == IR_RAMP)
		return ir_is_int(i->arg[1], stride) && ir_is_int(i->arg[0], at);
	return i->type.lanes == 1 && ir_is_int(i, at);
}

static bool new_piece(Arena *arena, Alloc *a, int64_t at, int64_t stride, int width)
{
	if (a->piece.n == LOWER_PIECES)
		return false;
	vec_push(arena, &a->piece, ((struct Piece){ width, NULL }));
	for (int k = 0; k < width && at + k * stride >= 0 && at + k * stride < a->n; k++) {
		Home *h = &a->home[at + k * stride];
		if (h->piece != 0)
			return false;
		*h = (Home){ (int16_t)a->piece.n, (int16_t)k };
	}
	return true;
}

static bool is_piece(const Alloc *a, int64_t at, int64_t stride, int width)
{
	int piece = a->home[at].piece;
	for (int k = 0; k < width && at + k * stride >= 0 && at + k * stride < a->n; k++) {
		const Home *h = &a->home[at + k * stride];
		if (h->piece != piece || h->lane != k)
			return false;
	}
	return a->piece.at[piece - 1].width == width;
}

static void note(Registers *r, const char *buf, const Expr *idx, bool store)
{
	Alloc *a = find(r, buf);
	int64_t at, stride;
	int width = idx->type.lanes;
	if (a == NULL || a->n < 0 || r->vectors != (width > 1))
		return;
	bool ok = constant_places(idx, &at, &stride) && at >= 0 && at < a->n;
	if (ok && width > 1)
		ok = stride != 0 && stride > -a->n && stride < a->n;
	if (ok && a->home[at].piece == 0)
		ok = new_piece(r->l->arena, a, at, stride, width);
	else if (ok && (width > 1 || store))
		ok = is_piece(a, at, stride, width);
	if (!ok)
		a->n = -1;
}

static void note_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		note(arg, e->name, e->arg[0], false);
}

static bool note_stmt(Stmt *s, void *arg)
{
	Registers *r = arg;
	ir_each_node_of(s, note_load, r);
	if (s->kind == ST_STORE)
		note(r, s->store.dst.buf, s->store.dst.idx[0], true);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++) {
		Alloc *a = find(r, s->reduce.dst[k].buf);
		if (a != NULL)
			a->n = -1;
	}
	return true;
}

static bool add_alloc(Stmt *s, void *arg)
{
	Registers *r = arg;
	if (s->kind != ST_ALLOC)
		return true;
	Alloc *a = arena_new_of(r->l->arena, Alloc);
	a->buf = s->alloc;
	map_add_ptr(&r->alloc, s->alloc->name)->ptr = a;
	if (!ir_is_int(s->alloc->shape[0], &a->n) || s->alloc->type.bits < 8 || a->n > LOWER_ELEMENTS ||
		!lower_is_private(r->l, s->alloc))
		a->n = -1;
	else
		a->home = arena_array(r->l->arena, Home, a->n);
	return true;
}

/* An alloc that is one piece already stays as it is. */
static bool is_split(const Alloc *a)
{
	if (a == NULL || a->n <= 0 || a->piece.n == 0)
		return false;
	const Home *last = &a->home[a->n - 1];
	return a->piece.n > 1 || a->piece.at[0].width > a->n || a->piece.at[0].width != a->n || last->lane != a->n - 1;
}

/* In the order of the text: that of the table is one of addresses. */
static bool name_pieces(Stmt *s, void *arg)
{
	Registers *r = arg;
	Alloc *a = s->kind == ST_ALLOC ? find(r, s->alloc->name) : NULL;
	for (size_t k = 0; is_split(a) && k < a->piece.n; k++)
		a->piece.at[k].name = ir_fresh_name(r->l->ir, a->buf->name);
	return true;
}

static const struct Piece *piece_at(const Alloc *a, const Expr *idx, int *lane)
{
	int64_t at = 0, stride;
	constant_places(idx, &at, &stride);
	*lane = a->home[at].lane;
	return &a->piece.at[a->home[at].piece - 1];
}

static const Expr *split_load(Ir *ir, const Expr *e, void *arg)
{
	const Alloc *a = e->op == IR_LOAD ? find(arg, e->name) : NULL;
	int lane;
	if (!is_split(a))
		return e;
	const struct Piece *p = piece_at(a, e->arg[0], &lane);
	const Expr *i = lower_all_lanes(ir, p->width);
	const Expr *v = ir_load_named(ir, p->name, a->buf->type, &i, 1);
	return p->width == e->type.lanes ? v : ir_lane(ir, v, lane);
}

/* The pieces that stand for an alloc. */
static Stmt *pieces(Lower *l, Stmt *s, const Alloc *a)
{
	Stmt *out = NULL;
	for (size_t k = 0; k < a->piece.n; k++) {
		Buf *b = arena_copy(l->arena, s->alloc, sizeof *s->alloc);
		b->name = a->piece.at[k].name;
		b->shape = arena_array(l->arena, const Expr *, 1);
		b->shape[0] = ir_int(l->ir, a->piece.at[k].width);
		out = ir_seq(out, ir_alloc(l->ir, b));
	}
	return out;
}

static void split_list(Registers *r, Stmt **list)
{
	for (Stmt *s; (s = *list) != NULL;) {
		Alloc *a;
		int lane;
		Stmt **child[IR_CHILDREN];
		for (int k = 0, n = ir_children(s, child); k < n; k++)
			split_list(r, child[k]);
		if (s->kind == ST_STORE && is_split(a = find(r, s->store.dst.buf))) {
			const struct Piece *p = piece_at(a, s->store.dst.idx[0], &lane);
			s->store.dst.buf = p->name;
			s->store.dst.idx[0] = lower_all_lanes(r->l->ir, p->width);
		} else if (s->kind == ST_ALLOC && is_split(a = find(r, s->alloc->name))) {
			Stmt *next = s->next;
			*list = pieces(r->l, s, a);
			while (*list != NULL)
				list = &(*list)->next;
			*list = next;
			continue;
		}
		list = &s->next;
	}
}

bool pass_registers(Lower *l)
{
	Registers r = { .l = l, .alloc = MAP_OF(l->arena) };
	ir_each_stmt(l->fn->body, add_alloc, &r);
	if (r.alloc.index.n == 0)
		return true;
	for (int round = 0; round < 2; round++) {
		r.vectors = round == 0;
		ir_each_stmt(l->fn->body, note_stmt, &r);
	}
	ir_each_stmt(l->fn->body, name_pieces, &r);
	ir_map_stmt(l->ir, l->fn->body, split_load, &r);
	split_list(&r, &l->fn->body);
	return true;
}
