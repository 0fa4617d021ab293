/*
 * LLVM's own pass: weighs a set before LLVM gets it. A set that would take more than some seconds or some hundred
 * megabytes to compile is refused. Weights are counts and not times, so that a set is refused everywhere or nowhere:
 * about the instructions of a node, for each register of its vector, times how much longer LLVM takes for a thousand
 * of them than for a thousand additions (256 vectors of pow take ten seconds). Schedules of templates weigh a quarter
 * of the limit at most (docs/codegen.md).
 */
#include "codegen/llvm/weigh.h"

#include "codegen/lower/pass.h"
#include "ir/build.h"
#include "ir/query.h"

/* Of one register; a node that is not here: 1. */
static const uint16_t weights[IR_NODE_COUNT] = {
	[IR_POW] = 2400,
	[IR_ERF] = 600,
	[IR_LOG] = 350,
	[IR_TANH] = 300,
	[IR_SIGMOID] = 300,
	[IR_SIN] = 500,
	[IR_COS] = 500,
	[IR_ATAN] = 300,
	[IR_EXP] = 150,
	[IR_EXPM1] = 150,
	[IR_LOG1P] = 400,
	[IR_DOT4] = 20,
	[IR_CAST] = 4,
};

/* mem2reg looks at each pair of a register and a basic block. A loop or an if makes BLOCKS of them. */
enum { CROSSINGS = 300, BLOCKS = 3 };
/* Of one lane, where instructions work on one at a time. */
enum { DIVISION = 40, REMAINDER = 400 /* of floats, a loop */, ACCESS = 20 /* gathered or scattered */, BRANCH = 30 };

typedef struct Weigh {
	Lower *l;
	int64_t sum, registers, blocks;
} Weigh;

static bool is_row(const Expr *idx)
{
	return idx->type.lanes == 1 || (idx->op == IR_RAMP && ir_is_const(idx->arg[1], 1));
}

/* emit_pow makes one instruction of these powers. */
static bool is_short_power(const Expr *e)
{
	const Expr *b = e->op == IR_POW ? e->arg[1] : NULL;
	if (b != NULL && b->op == IR_SPLAT)
		b = b->arg[0];
	return b != NULL && b->op == IR_FLOAT && (b->f == 1 || b->f == 2 || b->f == -1);
}

static void weigh_node(const Expr *e, void *arg)
{
	Weigh *w = arg;
	bool divides = e->op == IR_DIV || e->op == IR_MOD || e->op == IR_TDIV || e->op == IR_TMOD;
	bool branches = e->op == IR_SELECT && ir_has_load(e); /* it is lazy */
	int wide = w->l->target->vector_bits, bits = e->type.bits * e->type.lanes;
	int64_t each = weights[e->op] > 0 && !is_short_power(e) ? weights[e->op] : 1;
	if (divides && dtype_is_int(e->type) && (e->arg[1]->op != IR_INT || e->type.lanes > 1))
		w->sum += (int64_t)e->type.lanes * DIVISION;
	else if (e->op == IR_TMOD && dtype_is_float(e->type))
		w->sum += (int64_t)e->type.lanes * REMAINDER;
	else if (e->op == IR_LOAD && e->nargs == 1 && !is_row(e->arg[0]))
		w->sum += (int64_t)e->type.lanes * ACCESS;
	else
		w->sum += each * (e->type.lanes > 1 && wide > 0 ? (bits + wide - 1) / wide : e->type.lanes); /* registers */
	w->sum += branches ? (int64_t)e->type.lanes * BRANCH : 0;
	w->blocks += branches ? BLOCKS : 0;
}

static bool weigh_stmt(Stmt *s, void *arg)
{
	Weigh *w = arg;
	w->sum++;
	w->registers += s->kind == ST_ALLOC;
	w->blocks += s->kind == ST_FOR || s->kind == ST_IF ? BLOCKS : 0;
	ir_each_node_of(s, weigh_node, arg);
	if (s->kind == ST_STORE && s->store.dst.n == 1 && !is_row(s->store.dst.idx[0]))
		w->sum += (int64_t)s->store.dst.idx[0]->type.lanes * ACCESS;
	return true;
}

static bool weigh_set(Lower *l)
{
	for (size_t k = 0; k < l->ks->n; k++) {
		Weigh w = { .l = l };
		l->fn = l->ks->fn[k];
		ir_each_stmt(l->fn->body, weigh_stmt, &w);
		l->weight += w.sum + w.registers * w.blocks / CROSSINGS;
		if (!codegen_weighs_little(l->weight, l->fn->name, l->err))
			return false;
	}
	return true;
}

const Pass row_weigh = { "weigh", "all before it", "nothing: refuses a set that LLVM would compile for too long",
	weigh_set, PASS_WHOLE_SET };
