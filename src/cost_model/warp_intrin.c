/*
 * The cost of an instruction in the threads of a block, from its meaning (ir/text/intrin.def). One on fragments is the
 * work of a whole warp: its multiply-adds are those of a matrix unit, and what it reads of shared memory comes row by
 * row, a row for each thread. Any other one costs what its meaning does in each thread. Left out: how a fragment is
 * distributed over the threads.
 */
#include "cost_model/warp.h"

#include "cost_model/cost.h"
#include "cost_model/leaf.h"
#include "ir/text/intrin.h"
#include "ir/walk.h"
#include "target/capability.h"

#include <math.h>
#include <string.h>

enum { ROWS = 8, ROW_BYTES = 16 /* of a matrix that one turn loads */ };

/* What one call does for its warp. */
typedef struct Tile {
	Walk *w;
	double products; /* multiply-adds */
	double near;     /* cycles of shared memory */
	double loads;    /* instructions for elements that are not loaded as matrices */
	int bits;        /* of the narrowest operand */
} Tile;

/*
 * One loop of the meaning runs over rows, another over the contiguous elements of a row. If no loop runs over
 * contiguous elements, lanes load element by element.
 */
static double rows_cycles(Tile *t, const Access *a, const Buf *b, int from)
{
	CostNest *n = &t->w->nest;
	int64_t stride[NEST_LOOPS], byte[ROWS], at;
	int row = -1, count = 0;
	double elements = 1, turn = COST_BANKS * COST_BANK_BYTES / t->w->target->core.level[0];
	bool along = false;
	if (!nest_strides(n, a, b, stride))
		return 0;
	for (int l = from; l < n->nloop; l++) {
		elements *= (double)n->loop[l].n;
		along = along || stride[l] == 1;
		row = stride[l] != 1 ? l : row;
	}
	if (!along || row < 0) {
		t->loads += elements / t->w->target->blocks.warp;
		return elements / t->w->target->blocks.warp * turn;
	}
	for (int k = 0; k < ROWS && k < n->loop[row].n; k++) {
		nest_set_loop(n, row, k);
		if (nest_address(n, a, b, &at))
			byte[count++] = at * b->type.bits / 8;
	}
	nest_set_loop(n, row, 0);
	return warp_bank_cycles(byte, count, ROW_BYTES) * elements * b->type.bits / 8 / (ROWS * ROW_BYTES) * turn;
}

static void read_operands(Tile *t, const Expr *e, int from)
{
	if (e->op == IR_LOAD) {
		Access a = { e->name, e->nargs, (const Expr **)(uintptr_t)e->arg };
		const NestBuf *b = nest_buf(&t->w->nest, e->name);
		if (b != NULL && b->buf->type.bits < t->bits)
			t->bits = b->buf->type.bits;
		if (b != NULL && strcmp(b->buf->scope, "shared") == 0)
			t->near += rows_cycles(t, &a, b->buf, from);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		read_operands(t, e->arg[i], from);
}

/* The meaning, with the call's windows in it; loops from `from` on are its own. */
static void read_tile(Tile *t, const Stmt *s, int from)
{
	CostNest *n = &t->w->nest;
	int binds = n->nbind;
	for (; s != NULL; s = s->next) {
		int64_t lo, hi;
		if (s->kind == ST_FOR && n->nloop < NEST_LOOPS && nest_ends(n, s, &lo, &hi) && hi > lo) {
			n->loop[n->nloop++] = (NestLoop){ .var = s->loop.var, .lo = lo, .n = hi - lo, .kind = s->loop.kind };
			nest_bind(n, s->loop.var, NULL, lo);
			read_tile(t, s->loop.body, from);
			n->nloop--;
		} else if (s->kind == ST_REDUCE) {
			double times = 1;
			for (int l = from; l < n->nloop; l++)
				times *= (double)n->loop[l].n;
			t->products += times;
			read_operands(t, s->reduce.value[0], from);
		} else if (s->kind == ST_STORE) {
			read_operands(t, s->store.value, from);
		}
		nest_unbind(n, binds);
		n->now++;
	}
}

static bool is_of_warp(const Fn *fn)
{
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL && strcmp(fn->param[k].buf->scope, "fragment") == 0)
			return true;
	return false;
}

void warp_intrin_cost(Walk *w, const Stmt *call)
{
	Launch *x = w->launch;
	const CostNest *n = &w->nest;
	const Fn *fn = ir_intrin(w->ks->ir, call->call.fn);
	if (fn == NULL)
		return;
	Stmt *body = ir_clone_stmt(w->ks->ir, fn->body);
	ir_bind_params(w->ks->ir, body, fn, call->call.arg);
	if (!is_of_warp(fn)) {
		walk_list(w, body);
		return;
	}
	Tile t = { .w = w, .bits = 32 };
	double bodies = w->share, copies = w->live, warps = warp_count(w);
	for (int l = 0; l < n->nloop; l++)
		if (n->loop[l].kind != LOOP_BOUND)
			*(leaf_is_straight(n->loop[l].kind) ? &copies : &bodies) *= (double)n->loop[l].n;
	read_tile(&t, body, n->nloop);
	double rate = fmax(target_matrix_rate(w->target, DT(FLOAT, t.bits), true), 1);
	x->multiply += warps * bodies * copies * t.products / rate;
	x->near += warps * bodies * copies * t.near;
	x->issued += warps * bodies * copies * (1 + t.loads);
	x->latency += bodies * ((t.near > 0 ? COST_SHARED_WAIT : COST_MATRIX_WAIT) + copies);
}
