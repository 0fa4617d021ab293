/*
 * ldmatrix: a warp loads matrices of 8 rows, 16 bytes each, from shared memory into a fragment. Lane 8 m + r gives the
 * address of row r of matrix m. Then lane l has 32 bits of row l / 4 of each matrix. Fragments have the same order
 * (fragments.c): matrix m holds word m of each lane's elements.
 *
 *     intrin ldmatrix(d, s)   ->   for lane in 0..32 bound(block.x) { d.l[ramp] = ldmatrix(s[i, j], n) }
 *
 * The index map of s decides the form. If the dimension of a lane's pairs is contiguous, rows are loaded as they are.
 * If the other dimension is, the instruction transposes each matrix (ldmatrix_t).
 *
 * Law: for all values of variables, the elements of a row are contiguous and begin at a multiple of 16 bytes.
 */
#include "codegen/lower/fragment.h"

#include "ir/analysis/bounds.h"
#include "ir/build.h"
#include "ir/text/intrin.h"

#include <string.h>

enum { MATRIX_ROWS = 8, ROW_BYTES = 16, WORD_BITS = 32 };

bool fragment_is_load(const Stmt *s)
{
	return s->kind == ST_CALL && s->call.intrin && strncmp(s->call.fn, "ldmatrix_", 9) == 0;
}

typedef struct Rows {
	Frags *f;
	const Buf *from;
	const CallArg *arg;
	const Share *share;
	int n;                    /* matrices */
	int open[FRAGMENT_DIMS];  /* the window's dimensions of the buffer */
	int along;                /* the one of them that runs along a row */
	const Expr *lane;
} Rows;

/* The element `in` of the lane's row. */
static void row_of(const Rows *r, const Expr *in, const Expr **at)
{
	Ir *ir = r->f->l->ir;
	int word = WORD_BITS / r->from->type.bits > 1; /* bits of an element's number within a word */
	for (int k = 0; k < r->arg->n; k++)
		at[k] = r->arg->idx[k];
	for (int k = word, m = MATRIX_ROWS; k < r->share->bits; k++, m *= 2) {
		const Expr *digit = ir_mod(ir, ir_div(ir, r->lane, ir_int(ir, m)), ir_int(ir, 2));
		int d = r->open[r->share->bit[k].dim];
		at[d] = ir_add(ir, at[d], ir_mul(ir, digit, ir_int(ir, r->share->bit[k].step)));
	}
	int side = r->open[!r->along], along = r->open[r->along];
	at[side] = ir_add(ir, at[side], ir_mod(ir, r->lane, ir_int(ir, MATRIX_ROWS)));
	at[along] = ir_add(ir, at[along], in);
}

/* The element's place in memory; NULL: extents are not constant. */
static const Expr *place_of(const Rows *r, const Expr *const *at, const Range *env)
{
	Ir *ir = r->f->l->ir;
	const Buf *b = r->from;
	const Expr *sum = ir_int(ir, 0);
	int64_t n, stride = 1;
	for (int k = (b->map.n > 0 ? b->map.n : b->rank) - 1; k >= 0; k--) {
		if (!ir_is_int(b->map.n > 0 ? b->map.extent[k] : b->shape[k], &n))
			return NULL;
		sum = ir_add(ir, sum, ir_mul(ir, fragment_index(r->f, b, at, k, env), ir_int(ir, stride)));
		stride *= n;
	}
	return sum;
}

static bool rows_lie_well(const Rows *r)
{
	Ir *ir = r->f->l->ir;
	const Expr *first[FRAGMENT_LOOPS], *next[FRAGMENT_LOOPS];
	const char *name = ir_fresh_name(ir, "in");
	int elements = ROW_BYTES * 8 / r->from->type.bits;
	const Range *env = ir_range_for(ir, r->lane->name, ir_int(ir, 0), ir_int(ir, FRAGMENT_WARP), fragment_facts(r->f));
	env = ir_range_for(ir, name, ir_int(ir, 0), ir_int(ir, elements), env);
	row_of(r, ir_int(ir, 0), first);
	row_of(r, ir_idx(ir, name), next);
	const Expr *a = place_of(r, first, env), *b = place_of(r, next, env);
	if (a == NULL || b == NULL)
		return false;
	a = ir_simplify(ir, a, env);
	const Expr *apart = ir_sub(ir, ir_simplify(ir, b, env), ir_add(ir, a, ir_idx(ir, name)));
	Interval at = ir_interval(a, env);
	bool aligned = at.mod % elements == 0 && at.rem % elements == 0; /* mod 0: the constant rem */
	return aligned && ir_is_const(ir_simplify(ir, apart, env), 0);
}

/* The two dimensions of the source's window that are open, as long as the tile. */
static bool find_open(Rows *r)
{
	int n = 0;
	for (int k = 0; k < r->arg->n; k++) {
		int64_t len;
		if (r->arg->len[k] == NULL)
			continue;
		if (n == FRAGMENT_DIMS || !ir_is_int(r->arg->len[k], &len) || len != r->share->size[n])
			return false;
		r->open[n++] = k;
	}
	return n == FRAGMENT_DIMS;
}

bool fragment_load(Frags *f, const Part *p, Stmt **link)
{
	Ir *ir = f->l->ir;
	Stmt *s = *link;
	const Buf *from = lower_buf(f->l->bufs, s->call.arg[1].buf);
	const char *lane = ir_fresh_name(ir, "lane");
	Rows r = { .f = f, .from = from, .arg = &s->call.arg[1], .share = p->share, .lane = ir_idx(ir, lane) };
	int elements = 1 << p->share->bits, pairs = p->share->bit[0].step == 1;
	const Expr **to = fragment_window(f, p, &s->call.arg[0], ir_ramp(ir, ir_int(ir, 0), ir_int(ir, 1), elements));
	if (to == NULL || from == NULL || from->scope == NULL || strcmp(from->scope, "shared") != 0 || !find_open(&r) ||
		!target_has_named(f->l->target, ir_find_intrin(s->call.fn)->feature) || r.arg->n > FRAGMENT_LOOPS)
		return false;
	r.n = elements * from->type.bits / WORD_BITS;
	r.along = !p->share->quads;
	bool turned = !rows_lie_well(&r);
	if (turned) {
		r.along = p->share->quads;
		if (!pairs || !rows_lie_well(&r))
			return false;
	}
	const Expr *at[FRAGMENT_LOOPS], *arg[2];
	row_of(&r, ir_int(ir, 0), at);
	arg[0] = ir_load_named(ir, from->name, from->type, at, r.arg->n);
	arg[1] = ir_int(ir, r.n);
	Stmt *store = ir_stmt(ir, ST_STORE);
	store->store.dst = (Access){ p->own->name, p->own->rank, to };
	store->store.value =
		ir_node(ir, turned ? IR_LDMATRIX_T : IR_LDMATRIX, dtype_vector(from->type, elements), arg, 2);
	Stmt *all = fragment_lanes(f, lane, store);
	all->next = s->next;
	*link = all;
	return true;
}
