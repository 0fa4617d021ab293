/*
 * An estimate without data.  One walk over the scheduled Fn; at each store and reduction it looks at the
 * loops around.  Those inside of the innermost serial loop are straight-line code, which costs the
 * largest of
 *	its arithmetic over what starts per cycle; its loads and stores over the ports; its instructions
 *	over the decoder; the latency of its sums, each updated (copies / accumulators) times
 * and a reduction's accumulators stay in registers across the serial loops that do not move them, if
 * there are registers for them and the operands; else they are spilled.  Loads are counted once for
 * each place they go to; a vector's lanes are one access, a broadcast or a gather.  Beside the cycles
 * stands the traffic between the caches (traffic.c), most of which is hidden behind them.
 *
 * Figures are those of a current x86 core, Zen 5's where they differ; what matters is the order that
 * they put schedules in.  Left out: translation misses, store forwarding, what several statements share.
 */
#include "cost_model/cost_model.h"

#include "cost_model/address.h"
#include "cost_model/traffic.h"
#include "ir/walk.h"

#include <math.h>
#include <string.h>

#define GHZ 4.0
#define HIDDEN 0.12 /* of the lesser costs shows through */
#define SPILL 1.5   /* cycles that an accumulator too many costs in every body, beside the ports */
/* Bytes a cycle from beyond L1, L2, L3 and what may be a fourth level. */
static const double bytes_per_cycle[TARGET_CACHES] = { 48, 24, 9, 9 };
enum { LOADS = 2, STORES = 1, DECODE = 6, CALL = 40, ENTER = 3 /* a loop: set up, and leave unforeseen */ };
enum { LATENCY = 4, REGS = 16 /* where the target does not say */ };
enum { CALLS = 64 /* one within another */ };
enum { CODE = 6000 /* instructions that a core keeps decoded */ };

typedef struct Sum {
	double cycles;
	double bytes[TARGET_CACHES];
	double code; /* instructions written out */
} Sum;

typedef struct Walk {
	CostNest nest;
	const KernelSet *ks;
	int calls; /* around */
	const Target *target;
	Sum sum;
	double share; /* of the iterations around in which the statement runs */
	double live;  /* of the copies of straight-line code, those that a constant condition leaves */
	bool masked;  /* a condition depends on the lane */
	double tests; /* conditions evaluated in each iteration of the innermost loops */
} Walk;

/* ---- one statement ---- */

typedef struct Reach {
	const NestBuf *at;
	int64_t stride[NEST_LOOPS];
	bool known;      /* strides are */
	bool registers;  /* a local buffer whose elements are all named by constants */
	double lanes;    /* accesses for one vector: 1 a broadcast, `vectors` a vector, more a gather */
	double distinct; /* places in one straight-line body, vectors counted once */
} Reach;

typedef struct Leaf {
	Walk *w;
	int serial;     /* the innermost serial loop; -1: none */
	int vector;     /* the vector loop; -1: none */
	double copies;  /* of the statement in the body */
	double vectors; /* registers for the lanes of one copy */
	double bodies;  /* how often the body runs */
	int bits;
	int nload;
	Reach load[ACCESSES];
	Reach dst;
	double ops; /* on floats, of one copy; index arithmetic is free next to it */
	int nodes;  /* looked at so far */
} Leaf;

static bool straight(LoopKind k)
{
	return k == LOOP_UNROLLED || k == LOOP_VECTOR;
}

/* Places of one body: loops of one stride overlap. */
static double distinct(const Leaf *f, const int64_t *stride)
{
	const CostNest *n = &f->w->nest;
	double all = 1;
	bool moves = false;
	for (int l = f->serial + 1; l < n->nloop; l++) {
		if (n->loop[l].kind != LOOP_UNROLLED || stride[l] == 0)
			continue;
		double count = (double)n->loop[l].n;
		bool seen = false;
		for (int k = f->serial + 1; k < l; k++)
			seen |= n->loop[k].kind == LOOP_UNROLLED && stride[k] == stride[l];
		moves = true;
		if (seen)
			continue;
		for (int k = l + 1; k < n->nloop; k++)
			if (n->loop[k].kind == LOOP_UNROLLED && stride[k] == stride[l])
				count += (double)n->loop[k].n - 1;
		all *= count;
	}
	return moves ? fmax(all * f->w->live, 1) : all;
}

/* A local buffer lives in registers if no serial loop within its life moves along it. */
static bool in_registers(const CostNest *n, const NestBuf *b, const int64_t *stride)
{
	if (b->depth < 0 || b->buf->scope == NULL || strcmp(b->buf->scope, "local") != 0)
		return false;
	for (int l = b->depth; l < n->nloop; l++)
		if (!straight(n->loop[l].kind) && stride[l] != 0)
			return false;
	return true;
}

static Reach reach(Leaf *f, const Access *a)
{
	CostNest *n = &f->w->nest;
	Reach r = { .at = nest_buf(n, a->buf), .lanes = 1, .distinct = f->copies };
	if (r.at == NULL)
		return r;
	r.known = nest_strides(n, a, r.at->buf, r.stride);
	if (!r.known) { /* data decides where it goes */
		memset(r.stride, 0, sizeof r.stride);
		for (int l = 0; l < n->nloop; l++)
			r.stride[l] = 1;
		r.lanes = f->vector >= 0 ? (double)n->loop[f->vector].n * 1.5 : 1;
		return r;
	}
	r.registers = in_registers(n, r.at, r.stride);
	r.distinct = distinct(f, r.stride);
	if (f->vector >= 0) {
		int64_t s = r.stride[f->vector];
		r.lanes = s == 0 ? 1 : s == 1 || r.registers ? f->vectors : (double)n->loop[f->vector].n * 1.5;
	}
	return r;
}

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
	case IR_SQRT: return dtype_is_float(e->type) ? 8 : 0;
	case IR_EXP:
	case IR_LOG:
	case IR_TANH:
	case IR_ERF:
	case IR_SIGMOID:
	case IR_POW:
	case IR_SIN:
	case IR_COS: return 16;
	default: return dtype_is_float(e->type) ? 1 : 0.1;
	}
}

static void look_at(Leaf *f, const Expr *e)
{
	enum { MOST_NODES = 2000 };
	if (f->nodes++ > MOST_NODES)
		return;
	f->ops += node_ops(e);
	if (e->op == IR_LOAD) {
		Access a = { e->name, e->nargs, (const Expr **)(uintptr_t)e->arg };
		bool known = false;
		for (int i = 0; i < f->nload; i++)
			known |= f->load[i].at != NULL && f->load[i].at->buf->name == e->name && f->load[i].known &&
				f->copies == 1; /* of a body without copies: a window's taps differ otherwise */
		if (f->nload < ACCESSES && (!known || f->copies > 1))
			f->load[f->nload++] = reach(f, &a);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		look_at(f, e->arg[i]);
}

static void find_loops(Leaf *f)
{
	const CostNest *n = &f->w->nest;
	f->serial = n->nloop - 1;
	f->vector = -1;
	f->vectors = 1;
	f->bodies = f->w->share;
	f->copies = f->w->live;
	while (f->serial >= 0 && straight(n->loop[f->serial].kind))
		f->serial--;
	for (int l = 0; l < n->nloop; l++) {
		double times = (double)n->loop[l].n;
		if (n->loop[l].kind == LOOP_VECTOR) {
			f->vector = l;
			f->vectors = ceil(times * f->bits / f->w->target->vector_bits);
		} else if (l > f->serial) {
			f->copies *= times;
		} else {
			if (n->loop[l].kind == LOOP_PARALLEL) {
				double threads = f->w->target->threads > 0 ? f->w->target->threads : 1;
				times = ceil(times / threads);
			}
			f->bodies *= times;
		}
	}
}

/* How long the accumulators of a reduction stay in registers, and how many they are. */
typedef struct Held {
	double count;  /* registers */
	double bodies; /* for so many bodies; 0: they are in memory */
} Held;

static Held held(const Leaf *f)
{
	const CostNest *n = &f->w->nest;
	Held h = { f->vectors * f->w->live, 1 };
	if (!f->dst.known)
		return (Held){ f->vectors, 0 };
	if (f->serial >= 0 && f->dst.stride[f->serial] != 0 && n->loop[f->serial].n > 1)
		h.bodies = 0;
	for (int l = n->nloop - 1; l >= 0; l--) {
		bool moves = f->dst.stride[l] != 0 && n->loop[l].n > 1;
		if (f->dst.at != NULL && f->dst.at->depth > l)
			break; /* it does not live longer */
		if (!straight(n->loop[l].kind)) {
			if (moves)
				break;
			h.bodies *= (double)n->loop[l].n;
		} else if (n->loop[l].kind == LOOP_UNROLLED && moves) {
			h.count *= (double)n->loop[l].n;
		}
	}
	h.count = fmax(h.count, f->vectors);
	return h;
}

/* Loads of one body, with `spare` registers to keep operands in; broadcasts fold into arithmetic. */
static double count_loads(const Leaf *f, double spare)
{
	const CostNest *n = &f->w->nest;
	double sum = 0;
	for (int i = 0; i < f->nload; i++) {
		const Reach *r = &f->load[i];
		if (r->registers || r->at == NULL)
			continue;
		double once = r->distinct * r->lanes;
		bool still = f->serial >= 0 && r->stride[f->serial] == 0 && r->known && n->loop[f->serial].n > 1;
		if (still && once < spare)
			once /= (double)n->loop[f->serial].n; /* kept across the loop */
		else if (once > spare && f->nload > 1 && r->lanes > 1)
			once = fmin(f->copies * r->lanes, once * 2); /* read again where it is needed */
		sum += once;
	}
	return sum;
}

static double operands(const Leaf *f)
{
	double least = -1;
	for (int i = 0; i < f->nload; i++) {
		double n = f->load[i].distinct * (f->load[i].lanes > 1 ? f->vectors : 1);
		if (f->load[i].distinct >= f->copies)
			n = 0; /* used once: an operand in memory */
		if (!f->load[i].registers && (least < 0 || n < least))
			least = n;
	}
	return fmax(least, 0) + 1;
}

static double body_cycles(const Leaf *f, bool reduces, double *instructions)
{
	const Target *t = f->w->target;
	double rate = t->fma_rate > 0 ? t->fma_rate : 1, latency = t->fma_latency > 0 ? t->fma_latency : LATENCY;
	double regs = t->vector_regs > 0 ? t->vector_regs : REGS;
	double work = f->copies * f->vectors * f->ops, loads, stores = 0, wait = 0, spilled = 0;
	if (reduces) {
		Held h = held(f);
		double memory = h.bodies == 0 ? h.count : 0, need = h.count + operands(f);
		loads = count_loads(f, regs - h.count);
		if (need > regs && h.bodies != 0)
			memory = spilled = need - regs; /* written and read in every body */
		else if (h.bodies != 0 && !f->dst.registers)
			memory = h.count / h.bodies;
		loads += memory * f->dst.lanes / f->vectors;
		stores = memory * f->dst.lanes / f->vectors;
		wait = h.bodies != 0 ? latency * f->copies * f->vectors / h.count : 0;
	} else {
		loads = count_loads(f, regs);
		stores = f->dst.registers ? 0 : f->copies * f->dst.lanes;
	}
	double folded = fmin(loads, work); /* a memory operand is no instruction of its own */
	*instructions = work + loads - folded / 2 + stores + f->w->tests * f->copies + 2;
	if (f->w->masked)
		*instructions += f->copies * f->vectors;
	double most = fmax(fmax(work / rate, loads / LOADS), fmax(stores / STORES, *instructions / DECODE));
	double sum = work / rate + loads / LOADS + stores / STORES;
	return fmax(most, wait) + SPILL * spilled + HIDDEN / 2 * (sum - most > 0 ? sum - most : 0);
}

static int64_t elements_of(CostNest *n, const Buf *b)
{
	int64_t elements = 1, extent;
	for (int k = 0; k < (b->map.n != 0 ? b->map.n : b->rank); k++)
		if (nest_eval(n, b->map.n != 0 ? b->map.extent[k] : b->shape[k], &extent) && extent > 0)
			elements *= extent;
	return elements;
}

/* A buffer's part of a leaf's traffic. */
static void add_moved(const Reach *r, bool writes, Moved *m, int *count, CostNest *n)
{
	if (r->at == NULL || r->registers || *count == ACCESSES)
		return;
	const Buf *b = r->at->buf;
	Moved *x = &m[(*count)++];
	*x = (Moved){ .elements = elements_of(n, b), .bytes = (b->type.bits + 7) / 8, .writes = writes };
	memcpy(x->stride, r->stride, sizeof x->stride);
}

static void add_traffic(Leaf *f)
{
	Moved m[ACCESSES];
	double bytes[TARGET_CACHES];
	int count = 0;
	for (int i = 0; i < f->nload; i++) {
		bool twice = false; /* taps of one window: the same memory */
		for (int k = 0; k < i; k++)
			twice |= f->load[k].at == f->load[i].at;
		if (!twice)
			add_moved(&f->load[i], false, m, &count, &f->w->nest);
	}
	add_moved(&f->dst, true, m, &count, &f->w->nest);
	traffic_of(&f->w->nest, m, count, f->w->target, bytes);
	for (int k = 0; k < TARGET_CACHES; k++)
		f->w->sum.bytes[k] += bytes[k] * f->w->share;
}

static void assign(Walk *w, const Access *dst, const Expr *value, bool reduces)
{
	Leaf f = { .w = w };
	double instructions, outside = 1;
	const NestBuf *b = nest_buf(&w->nest, dst->buf);
	f.bits = b != NULL ? b->buf->type.bits : 32;
	find_loops(&f);
	look_at(&f, value);
	f.dst = reach(&f, dst);
	if (reduces && value->op != IR_MUL)
		f.ops += 1; /* a product is fused with the sum */
	w->sum.cycles += f.bodies * body_cycles(&f, reduces, &instructions);
	for (int l = 0; l < f.serial; l++)
		outside *= w->nest.loop[l].kind == LOOP_UNROLLED ? (double)w->nest.loop[l].n : 1;
	w->sum.code += instructions * outside;
	add_traffic(&f);
}

/* ---- the walk ---- */

static void walk(Walk *w, const Stmt *s);

static int innermost_serial(const CostNest *n)
{
	int l = n->nloop - 1;
	while (l >= 0 && straight(n->loop[l].kind))
		l--;
	return l;
}

static bool has_serial(const Stmt *s)
{
	for (; s != NULL; s = s->next)
		if ((s->kind == ST_FOR && (!straight(s->loop.kind) || has_serial(s->loop.body))) ||
			(s->kind == ST_BLOCK && has_serial(s->block.body)) ||
			(s->kind == ST_IF && (has_serial(s->branch.then) || has_serial(s->branch.other))))
			return true;
	return false;
}

static void walk_iterations(Walk *w, const Stmt *s, int64_t lo, int64_t n)
{
	CostNest *x = &w->nest;
	int binds = x->nbind;
	x->loop[x->nloop++] = (NestLoop){ s->loop.var, lo, n, s->loop.kind };
	nest_bind(x, s->loop.var, NULL, lo);
	walk(w, s->loop.body);
	x->nloop--;
	x->nbind = binds;
	x->now++;
}

static void walk_loop(Walk *w, const Stmt *s)
{
	enum { UNKNOWN = 64, APART = 8 };
	CostNest *n = &w->nest;
	int64_t lo = 0, hi = UNKNOWN;
	if (!nest_ends(n, s, &lo, &hi))
		hi = lo + UNKNOWN;
	if (hi <= lo || n->nloop == NEST_LOOPS)
		return;
	if (s->loop.kind == LOOP_UNROLLED && hi - lo <= APART && has_serial(s->loop.body)) {
		/* Each copy has loops of its own, with what is constant in it: the first and last tile of a row. */
		for (int64_t k = lo; k < hi; k++)
			walk_iterations(w, s, k, 1);
		return;
	}
	double outer = w->share;
	for (int l = 0; l < n->nloop; l++)
		if (n->loop[l].kind != LOOP_VECTOR)
			outer *= (double)n->loop[l].n;
	if (!straight(s->loop.kind))
		w->sum.cycles += outer * ENTER;
	walk_iterations(w, s, lo, hi - lo);
}

/*
 * One condition: of lanes, a mask; of the copies of straight-line code alone, some of them are not
 * there; else some iterations do not happen, and unless loops further out decide it, it is tested.
 */
static void weigh(Walk *w, const Expr *cond)
{
	CostNest *n = &w->nest;
	if (cond->op == IR_AND) {
		weigh(w, cond->arg[0]);
		weigh(w, cond->arg[1]);
		return;
	}
	Given g = { cond, nest_loops(n, cond) };
	double share = nest_share(n, &g);
	int serial = innermost_serial(n);
	bool lanes = false, outside = false, inside = false;
	for (int l = 0; l < n->nloop; l++)
		if ((g.loops >> l & 1) != 0) {
			lanes |= n->loop[l].kind == LOOP_VECTOR;
			outside |= l <= serial;
			inside |= l > serial;
		}
	if (n->ngiven < NEST_GIVEN)
		n->given[n->ngiven++] = g;
	if (share == 1)
		return;
	if (lanes)
		w->masked = true; /* all lanes take their time */
	else if (!outside)
		w->live *= share;
	else
		w->share *= share;
	if (outside && inside)
		w->tests += 1;
}

static void walk_where(Walk *w, const Expr *cond, const Stmt *s)
{
	double share = w->share, live = w->live, tests = w->tests;
	bool masked = w->masked;
	int givens = w->nest.ngiven;
	weigh(w, cond);
	if (w->share > 0 && w->live > 0)
		walk(w, s);
	w->share = share;
	w->live = live;
	w->tests = tests;
	w->masked = masked;
	w->nest.ngiven = givens;
}

/* The init runs once for each element: loops of reduce iterators do not count. */
static void walk_init(Walk *w, const Stmt *block)
{
	CostNest *n = &w->nest;
	int64_t count[NEST_LOOPS];
	for (int l = 0; l < n->nloop; l++) {
		count[l] = n->loop[l].n;
		for (int i = 0; i < block->block.n; i++)
			if (block->block.iter[i].kind == ITER_REDUCE && nest_depends(n, block->block.iter[i].value, l))
				n->loop[l].n = 1;
	}
	walk(w, block->block.init);
	for (int l = 0; l < n->nloop; l++)
		n->loop[l].n = count[l];
}

static void walk_block(Walk *w, const Stmt *s)
{
	int binds = w->nest.nbind;
	for (int i = 0; i < s->block.n; i++)
		nest_bind(&w->nest, s->block.iter[i].name, s->block.iter[i].value, 0);
	if (s->block.init != NULL)
		walk_init(w, s);
	if (s->block.where != NULL)
		walk_where(w, s->block.where, s->block.body);
	else
		walk(w, s->block.body);
	w->nest.nbind = binds;
	w->nest.now++;
}

static void add_buf(CostNest *n, const Buf *b, int depth)
{
	if (n->nbuf < NEST_BUFS)
		n->buf[n->nbuf++] = (NestBuf){ b, depth };
	else
		n->full = true;
}

/* What a sub Fn does counts where it is called. Names that both Fns declare may be taken for one another. */
static void walk_call(Walk *w, const Stmt *s)
{
	const Fn *fn = s->call.intrin ? NULL : ir_find_fn(w->ks, s->call.fn);
	if (fn == NULL || w->calls == CALLS) {
		w->sum.cycles += CALL * w->share;
		return;
	}
	Stmt *body = ir_clone_stmt(w->ks->ir, fn->body);
	ir_bind_params(w->ks->ir, body, fn, s->call.arg);
	w->calls++;
	walk(w, body);
	w->calls--;
}

static void walk(Walk *w, const Stmt *s)
{
	int binds = w->nest.nbind, bufs = w->nest.nbuf;
	for (; s != NULL; s = s->next)
		switch (s->kind) {
		case ST_FOR: walk_loop(w, s); break;
		case ST_BLOCK: walk_block(w, s); break;
		case ST_STORE: assign(w, &s->store.dst, s->store.value, false); break;
		case ST_REDUCE:
			for (int k = 0; k < s->reduce.n; k++)
				assign(w, &s->reduce.dst[k], s->reduce.value[k], true);
			break;
		case ST_IF:
			walk_where(w, s->branch.cond, s->branch.then);
			if (s->branch.other != NULL)
				walk(w, s->branch.other);
			break;
		case ST_LET: nest_bind(&w->nest, s->let.var, s->let.value, 0); break;
		case ST_ALLOC: add_buf(&w->nest, s->alloc, w->nest.nloop); break;
		case ST_ASYNC: walk(w, s->async); break;
		case ST_CALL: walk_call(w, s); break;
		case ST_BARRIER: w->sum.cycles += CALL * w->share; break;
		default: break;
		}
	w->nest.nbind = binds;
	w->nest.nbuf = bufs;
	w->nest.now++;
}

/* The largest of arithmetic and each level's traffic, and some of the rest. */
static double together(const Sum *s)
{
	double code = s->code > CODE ? s->cycles * 0.15 : 0, most = s->cycles + code, sum = most;
	for (int k = 0; k < TARGET_CACHES; k++) {
		double cycles = s->bytes[k] / bytes_per_cycle[k];
		most = fmax(most, cycles);
		sum += cycles;
	}
	return most + HIDDEN * (sum - most);
}

/* Constants come from beyond all caches in every run: the rest of the network has passed meanwhile. */
static void add_constants(Walk *w, const Fn *fn)
{
	double bytes = 0;
	for (int k = 0; k < fn->nparam; k++)
		if (fn->param[k].buf != NULL && fn->param[k].buf->role == BUF_CONST)
			bytes += (double)elements_of(&w->nest, fn->param[k].buf) * fn->param[k].buf->type.bits / 8;
	for (int level = 0; level < TARGET_CACHES && w->target->cache[level].bytes != 0; level++)
		w->sum.bytes[level] = fmax(w->sum.bytes[level], bytes);
}

static double estimate(const KernelSet *ks, const Task *task, const Target *target)
{
	double cycles = 1;
	(void)task;
	for (size_t i = 0; i < ks->n; i++) {
		const Fn *fn = ks->fn[i];
		if (fn->kind != FN_RUN)
			continue;
		Walk w = { .ks = ks, .target = target, .share = 1, .live = 1 };
		for (int k = 0; k < fn->nsym; k++)
			nest_bind(&w.nest, fn->sym[k].name, NULL, fn->sym[k].hi);
		for (int k = 0; k < fn->nparam; k++)
			if (fn->param[k].buf != NULL)
				add_buf(&w.nest, fn->param[k].buf, -1);
		walk(&w, fn->body);
		add_constants(&w, fn);
		cycles += CALL + together(&w.sum);
	}
	return cycles / GHZ;
}

const CostModel cost_analytic = { "analytic", "arithmetic, registers, accesses and traffic of a scheduled Fn",
	estimate };

const CostModel *const cost_models[] = { &cost_analytic, NULL };
