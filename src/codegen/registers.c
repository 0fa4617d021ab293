/*
 * Allocs to registers. An alloc that is only ever read and written in pieces of one width, at
 * constant places, becomes an alloc for each piece: the emitter keeps such a one, accessed as a
 * whole, as a named value, never in memory. A scalar read of a piece is a lane of it. All other
 * allocs go to the thread's workspace.
 */
#include "codegen/lower.h"
#include "ir/build.h"
#include "ir/walk.h"

#include <string.h>

enum { PIECES = 512 };

typedef struct Alloc {
	const Buf *buf;
	int64_t n;     /* elements; < 0: must stay in memory */
	int width;     /* of every store, and the widest load; 0: none yet */
	bool narrow;   /* there are scalar stores */
	const char **piece;
} Alloc;

typedef struct Registers {
	Lower *l;
	size_t n, cap;
	Alloc *slot;
} Registers;

static Alloc *slot_of(const Registers *r, const char *name)
{
	size_t h = (size_t)((uintptr_t)name * 0x9e3779b97f4a7c15u >> 20);
	for (;; h++) {
		Alloc *a = &r->slot[h & (r->cap - 1)];
		if (a->buf == NULL || a->buf->name == name)
			return a;
	}
}

static Alloc *find(const Registers *r, const char *name)
{
	Alloc *a = slot_of(r, name);
	return a->buf != NULL ? a : NULL;
}

/* A constant place: *at the first element, *width how many. */
static bool constant_place(const Expr *i, int64_t *at, int *width)
{
	*width = i->type.lanes;
	if (i->op == IR_RAMP)
		return ir_is_const(i->arg[1], 1) && ir_is_int(i->arg[0], at);
	return *width == 1 && ir_is_int(i, at);
}

static void note(Registers *r, const char *buf, const Expr *idx, bool store)
{
	Alloc *a = find(r, buf);
	int64_t at;
	int width;
	if (a == NULL || a->n < 0)
		return;
	if (!constant_place(idx, &at, &width) || at < 0 || at + width > a->n || at % width != 0) {
		a->n = -1;
		return;
	}
	if (width == 1 && store)
		a->narrow = true;
	if (a->width > 1 && width > 1 && a->width != width)
		a->n = -1;
	else if (width > a->width)
		a->width = width;
}

static void note_load(const Expr *e, void *arg)
{
	if (e->op == IR_LOAD)
		note(arg, e->name, e->arg[0], false);
}

static void note_expr(const Expr *e, void *arg)
{
	ir_each_node(e, note_load, arg);
}

static bool note_stmt(Stmt *s, void *arg)
{
	Registers *r = arg;
	ir_each_expr(s, note_expr, r);
	if (s->kind == ST_STORE)
		note(r, s->store.dst.buf, s->store.dst.idx[0], true);
	for (int k = 0; s->kind == ST_REDUCE && k < s->reduce.n; k++) {
		Alloc *a = find(r, s->reduce.dst[k].buf);
		if (a != NULL)
			a->n = -1;
	}
	return true;
}

static bool count_alloc(Stmt *s, void *arg)
{
	((Registers *)arg)->n += s->kind == ST_ALLOC;
	return true;
}

static bool add_alloc(Stmt *s, void *arg)
{
	if (s->kind != ST_ALLOC)
		return true;
	Alloc *a = slot_of(arg, s->alloc->name);
	a->buf = s->alloc;
	if (!ir_is_int(s->alloc->shape[0], &a->n) || s->alloc->type.bits < 8)
		a->n = -1;
	return true;
}

static bool is_split(const Alloc *a)
{
	return a->n > 0 && a->width > 0 && !(a->narrow && a->width > 1) && a->n % a->width == 0 &&
	       a->n / a->width <= PIECES;
}

/* In the order of the text: that of the table is one of addresses. */
static bool name_pieces(Stmt *s, void *arg)
{
	Registers *r = arg;
	Alloc *a = s->kind == ST_ALLOC ? find(r, s->alloc->name) : NULL;
	if (a == NULL || !is_split(a) || a->n == 1)
		return true;
	a->piece = arena_array(r->l->arena, const char *, a->n / a->width);
	for (int64_t j = 0; j < a->n / a->width; j++)
		a->piece[j] = ir_fresh_name(r->l->ir, a->buf->name);
	return true;
}

static const Expr *whole(Ir *ir, int width)
{
	return ir_ramp(ir, ir_int(ir, 0), ir_int(ir, 1), width);
}

static const Expr *split_load(Ir *ir, const Expr *e, void *arg)
{
	const Alloc *a = e->op == IR_LOAD ? find(arg, e->name) : NULL;
	int64_t at = 0;
	int width;
	if (a == NULL || a->piece == NULL)
		return e;
	constant_place(e->arg[0], &at, &width);
	const Expr *i = whole(ir, a->width);
	const Expr *v = ir_load_named(ir, a->piece[at / a->width], a->buf->type, &i, 1);
	return width == a->width ? v : ir_lane(ir, v, (int)(at % a->width));
}

/* The pieces that stand for an alloc. */
static Stmt *pieces(Lower *l, Stmt *s, const Alloc *a)
{
	Stmt *out = NULL;
	for (int64_t k = 0; k < a->n / a->width; k++) {
		Buf *b = arena_copy(l->arena, s->alloc, sizeof *s->alloc);
		b->name = a->piece[k];
		b->shape = arena_array(l->arena, const Expr *, 1);
		b->shape[0] = ir_int(l->ir, a->width);
		out = ir_seq(out, ir_alloc(l->ir, b));
	}
	return out;
}

static void split_list(Registers *r, Stmt **list)
{
	for (Stmt *s; (s = *list) != NULL;) {
		Alloc *a = s->kind == ST_ALLOC ? find(r, s->alloc->name) : NULL;
		if (s->kind == ST_FOR)
			split_list(r, &s->loop.body);
		if (s->kind == ST_IF) {
			split_list(r, &s->branch.then);
			split_list(r, &s->branch.other);
		}
		if (s->kind == ST_STORE && (a = find(r, s->store.dst.buf)) != NULL &&
			a->piece != NULL) {
			int64_t at = 0;
			int width;
			constant_place(s->store.dst.idx[0], &at, &width);
			s->store.dst.buf = a->piece[at / a->width];
			s->store.dst.idx[0] = whole(r->l->ir, a->width);
		} else if (s->kind == ST_ALLOC && a != NULL && a->piece != NULL) {
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
	Registers r = { .l = l };
	ir_each_stmt(l->fn->body, count_alloc, &r);
	if (r.n == 0)
		return true;
	for (r.cap = 16; r.cap < 2 * r.n + 2;)
		r.cap *= 2;
	r.slot = arena_array(l->arena, Alloc, r.cap);
	ir_each_stmt(l->fn->body, add_alloc, &r);
	ir_each_stmt(l->fn->body, note_stmt, &r);
	ir_each_stmt(l->fn->body, name_pieces, &r);
	ir_map_stmt(l->ir, l->fn->body, split_load, &r);
	split_list(&r, &l->fn->body);
	return true;
}
