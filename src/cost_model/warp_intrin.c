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

enum { ROWS = 8 /* that a load of a matrix takes at a time */ };

/* What one call does for its warp. */
typedef struct Tile {
	Walk *w;
	double products; /* multiply-adds */
	double near;     /* cycles of shared memory */
	int bits;        /* of the narrowest operand */
} Tile;

/* The rows are along one loop of the meaning, their elements along another, side by side. */
static double rows_cycles(Tile *t, const Access *a, const Buf *b, int from)
{
	CostNest *n = &t->w->nest;
	int64_t stride[NEST_LOOPS], byte[ROWS], at;
	int row = -1, count = 0;
	double elements = 1, cycles;
	bool known = nest_strides(n, a, b, stride);
	for (int l = from; l < n->nloop; l++) {
		elements *= (double)n->loop[l].n;
		if (!known || stride[l] != 1)
			row = l;
	}
	double all = elements * b->type.bits / 8, rows = row >= 0 ? (double)n->loop[row].n : 1;
	for (int k = 0; known && row >= 0 && k < ROWS && k < n->loop[row].n; k++) {
		nest_set_loop(n, row, k);
		if (nest_address(n, a, b, &at))
			byte[count++] = at * b->type.bits / 8;
	}
	if (row >= 0)
		nest_set_loop(n, row, 0);
	if (count == 0)
		return all / t->w->target->core.level[0];
	cycles = warp_bank_cycles(byte, count, (int)(all / rows));
	return cycles * rows / count * COST_BANKS * COST_BANK_BYTES / t->w->target->core.level[0];
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
		n->nbind = binds;
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
	x->issued += warps * bodies * copies;
	x->latency += bodies * ((t.near > 0 ? COST_SHARED_WAIT : COST_MATRIX_WAIT) + copies);
}
