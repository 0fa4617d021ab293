/*
 * An estimate without data.  One walk over the scheduled Fn counts cycles: each statement costs its
 * arithmetic over what the ports start per cycle, and its accesses by their stride along the vector
 * axis (same element: a broadcast, next element: one vector access, anything else: one access per
 * lane); a reduction that meets the same element again in the next iteration waits for it; loops
 * multiply.  Traffic is a roofline beside it: compulsory bytes over a memory bandwidth.
 * Figures are those of a current x86 core (2 FMAs and 2 loads a cycle, 4 cycles latency,
 * 5 more through memory); what matters is the order they put schedules in, not the time itself.
 */
#include "cost_model/cost_model.h"

#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/walk.h"

#include <math.h>
#include <string.h>

#define GHZ 3.0
#define MEMORY_BYTES_PER_NS 10.0
enum { LOADS_PER_CYCLE = 2, LATENCY = 4, THROUGH_MEMORY = 5, CALL_CYCLES = 20 };

typedef struct Cost {
	Ir *ir;
	const Fn *fn;
	const Target *target;
	const char *vector; /* variable of the vector loop around, NULL outside */
	int64_t lanes;
	const char *inner; /* variable of the innermost serial loop around */
	const Stmt *block; /* around, NULL outside */
	const struct Cost *outer; /* what stands around the block */
} Cost;

/* An index in terms of loop variables: a block's iterators stand for their values. */
static const Expr *over_loops(const Cost *c, const Expr *e)
{
	for (; c != NULL && c->block != NULL; c = c->outer)
		for (int i = 0; i < c->block->block.n; i++)
			e = ir_subst(c->ir, e, c->block->block.iter[i].name, c->block->block.iter[i].value);
	return e;
}

/* By how many elements the address moves when `var` grows by one; false: not a constant. */
static bool stride_along(const Cost *c, const Buf *b, const Expr *const *idx, int n, const char *var, int64_t *out)
{
	const Expr *next = ir_add(c->ir, ir_idx(c->ir, var), ir_int(c->ir, 1));
	int64_t stride = 0, row = 1;
	for (int k = n - 1; k >= 0; k--) {
		int64_t step, extent;
		const Expr *at = over_loops(c, idx[k]), *d = ir_sub(c->ir, ir_subst(c->ir, at, var, next), at);
		if (!ir_is_int(ir_simplify(c->ir, d, NULL), &step))
			return false;
		stride += step * row;
		if (!ir_is_int(b->shape[k], &extent))
			extent = 64;
		row *= extent;
	}
	*out = stride;
	return true;
}

/* Cycles of one access for all lanes of a vector iteration. */
static double access_cycles(const Cost *c, const char *name, const Expr *const *idx, int n)
{
	const Buf *b = ir_find_buf(c->fn, name);
	int64_t stride = 0;
	if (b == NULL || c->vector == NULL)
		return 1.0 / LOADS_PER_CYCLE;
	double vectors = ceil((double)(c->lanes * b->type.bits) / c->target->vector_bits);
	if (b->map.n != 0 || !stride_along(c, b, idx, n, c->vector, &stride))
		return (double)c->lanes / LOADS_PER_CYCLE;
	if (stride == 0)
		return 1.0 / LOADS_PER_CYCLE;
	return stride == 1 ? vectors / LOADS_PER_CYCLE : (double)c->lanes / LOADS_PER_CYCLE;
}

typedef struct ExprCost {
	const Cost *c;
	double ops, accesses;
} ExprCost;

/* Arithmetic on values; index arithmetic (i64 scalars) is free next to it. */
static double node_ops(const Expr *e)
{
	switch (e->op) {
	case IR_INT:
	case IR_FLOAT:
	case IR_VAR:
	case IR_LOAD:
	case IR_CAST:
	case IR_SPLAT:
	case IR_RAMP: return 0;
	case IR_DIV:
	case IR_SQRT: return dtype_is_float(e->type) ? 8 : 1;
	case IR_EXP:
	case IR_LOG:
	case IR_TANH:
	case IR_ERF:
	case IR_SIGMOID:
	case IR_POW:
	case IR_SIN:
	case IR_COS: return 16;
	default: return dtype_is_float(e->type) ? 1 : 0.25;
	}
}

static void count_node(const Expr *e, void *arg)
{
	ExprCost *x = arg;
	x->ops += node_ops(e);
	if (e->op == IR_LOAD)
		x->accesses += access_cycles(x->c, e->name, e->arg, e->nargs);
}

static bool meets_itself(const Cost *c, const Access *dst)
{
	if (c->inner == NULL)
		return false;
	for (int k = 0; k < dst->n; k++)
		if (ir_uses_var(over_loops(c, dst->idx[k]), c->inner))
			return false;
	return true;
}

static double assign_cycles(const Cost *c, const Access *dst, const Expr *value, bool reduces)
{
	ExprCost x = { .c = c };
	ir_each_node(value, count_node, &x);
	const Buf *b = ir_find_buf(c->fn, dst->buf);
	int bits = b != NULL ? b->type.bits : 32;
	int rate = c->target->fma_rate > 0 ? c->target->fma_rate : 1;
	double vectors = c->vector != NULL ? ceil((double)(c->lanes * bits) / c->target->vector_bits) : 1;
	double work = (x.ops + reduces) * vectors / rate;
	double moves = x.accesses + access_cycles(c, dst->buf, dst->idx, dst->n) * (reduces ? 2 : 1);
	double most = work > moves ? work : moves;
	double wait = reduces && meets_itself(c, dst) ? LATENCY + THROUGH_MEMORY : 0;
	return most > wait ? most : wait;
}

static double cycles(const Cost *c, const Stmt *s);

static double loop_cycles(const Cost *c, const Stmt *s)
{
	int64_t n, lo;
	if (!ir_is_int(s->loop.hi, &n) || !ir_is_int(s->loop.lo, &lo))
		n = 64, lo = 0;
	Cost in = *c;
	n -= lo;
	if (s->loop.kind == LOOP_VECTOR) {
		in.vector = s->loop.var;
		in.lanes = n;
		return cycles(&in, s->loop.body);
	}
	if (s->loop.kind == LOOP_UNROLLED)
		return (double)n * cycles(&in, s->loop.body);
	in.inner = s->loop.var;
	double all = (double)n * (cycles(&in, s->loop.body) + 1);
	return s->loop.kind == LOOP_PARALLEL ? all / c->target->threads : all;
}

static double cycles(const Cost *c, const Stmt *s)
{
	double sum = 0;
	for (; s != NULL; s = s->next)
		switch (s->kind) {
		case ST_FOR: sum += loop_cycles(c, s); break;
		case ST_BLOCK: {
			Cost in = *c;
			in.block = s;
			in.outer = c;
			sum += cycles(&in, s->block.body);
			break;
		}
		case ST_STORE: sum += assign_cycles(c, &s->store.dst, s->store.value, false); break;
		case ST_REDUCE:
			for (int k = 0; k < s->reduce.n; k++)
				sum += assign_cycles(c, &s->reduce.dst[k], s->reduce.value[k], true);
			break;
		case ST_IF: { /* the likelier branch is the longer one */
			double then = cycles(c, s->branch.then), other = cycles(c, s->branch.other);
			sum += 1 + (then > other ? then : other);
			break;
		}
		case ST_ASYNC: sum += cycles(c, s->async); break;
		case ST_CALL: sum += CALL_CYCLES; break;
		case ST_BARRIER: sum += CALL_CYCLES; break;
		default: break;
		}
	return sum;
}

static double estimate(const KernelSet *ks, const Task *task, const Target *target)
{
	double sum = 0;
	for (size_t i = 0; i < ks->n; i++) {
		Cost c = { .ir = ks->ir, .fn = ks->fn[i], .target = target, .lanes = 1 };
		if (ks->fn[i]->kind == FN_RUN)
			sum += CALL_CYCLES + cycles(&c, ks->fn[i]->body);
	}
	double traffic = task->bytes / MEMORY_BYTES_PER_NS, ns = (sum + 1) / GHZ;
	return fmax(ns, traffic) + ns / 16; /* so that of two that wait for memory the leaner one is ahead */
}

const CostModel cost_analytic = { "analytic", "arithmetic, accesses and latency of a scheduled Fn", estimate };

const CostModel *const cost_models[] = { &cost_analytic, NULL };
