/*
 * The cost of one store or reduction. The loops inside the innermost serial loop are straight-line code. It takes the
 * longest of
 *	its multiply-adds at the core's rate; its loads; its stores; its instructions through the decoder;
 *	the latency of its sums, each of which is updated (copies / accumulators) times.
 * The accumulators of a reduction stay in registers across serial loops that do not move them, if registers suffice
 * for them and for the operands; else they are spilled. Loads of one address count once. The lanes of a vector are one
 * access, a broadcast, rows of memory or a gather. Left out: store forwarding.
 */
#include "cost_model/leaf.h"

#include "cost_model/cost.h"
#include "cost_model/tally.h"
#include "cost_model/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reach {
	const NestBuf *at;
	int64_t stride[NEST_LOOPS];
	bool known;      /* strides are */
	bool rows;       /* not known, but contiguous along the innermost loop */
	bool registers;  /* a local buffer whose elements are all named by constants */
	double lanes;    /* accesses for one vector: 1 a broadcast, `vectors` a vector, more a gather */
	double distinct; /* addresses in one straight-line body; a vector is one */
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

bool leaf_is_straight(LoopKind k)
{
	return k == LOOP_UNROLLED || k == LOOP_VECTOR;
}

double leaf_distinct(const Walk *w, int serial, const int64_t *stride)
{
	const CostNest *n = &w->nest;
	double all = 1;
	bool moves = false;
	for (int l = serial + 1; l < n->nloop; l++) {
		if (n->loop[l].kind != LOOP_UNROLLED || stride[l] == 0)
			continue;
		double count = (double)n->loop[l].n;
		bool seen = false;
		for (int k = serial + 1; k < l; k++)
			seen |= n->loop[k].kind == LOOP_UNROLLED && stride[k] == stride[l];
		moves = true;
		if (seen)
			continue;
		for (int k = l + 1; k < n->nloop; k++)
			if (n->loop[k].kind == LOOP_UNROLLED && stride[k] == stride[l])
				count += (double)n->loop[k].n - 1;
		all *= count;
	}
	return moves ? fmax(all * w->live, 1) : all;
}

/* A local buffer lives in registers if no serial loop within its life moves along it. */
static bool in_registers(const CostNest *n, const NestBuf *b, const int64_t *stride)
{
	if (b->depth < 0 || b->buf->scope == NULL || strcmp(b->buf->scope, "local") != 0)
		return false;
	for (int l = b->depth; l < n->nloop; l++)
		if (!leaf_is_straight(n->loop[l].kind) && stride[l] != 0)
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
	if (!r.known) { /* the address depends on data */
		memset(r.stride, 0, sizeof r.stride);
		for (int l = 0; l < n->nloop; l++)
			r.stride[l] = 1;
		int64_t along = 0;
		int inner = f->vector >= 0 ? f->vector : f->serial;
		bool together = inner >= 0 && nest_stride_in_data(n, a, r.at->buf, inner, &along) && llabs(along) <= 1;
		r.rows = together && along != 0;
		r.lanes = f->vector < 0 ? 1 : !together ? (double)n->loop[f->vector].n * COST_GATHER
			: along == 0 ? 1 : f->vectors;
		return r;
	}
	r.registers = in_registers(n, r.at, r.stride);
	r.distinct = leaf_distinct(f->w, f->serial, r.stride);
	if (f->vector >= 0) {
		int64_t s = r.stride[f->vector];
		r.lanes = s == 0 ? 1 : s == 1 || r.registers ? f->vectors : (double)n->loop[f->vector].n * COST_GATHER;
	}
	return r;
}

double leaf_ops(const Expr *e)
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
	case IR_SQRT: return dtype_is_float(e->type) ? COST_DIVIDE : 0;
	case IR_EXP:
	case IR_LOG:
	case IR_TANH:
	case IR_ERF:
	case IR_SIGMOID:
	case IR_POW:
	case IR_SIN:
	case IR_COS:
	case IR_ATAN:
	case IR_EXPM1:
	case IR_LOG1P: return COST_SERIES;
	default: return dtype_is_float(e->type) ? 1 : COST_INTEGER;
	}
}

/* Loads of lanes so far apart: a row for each place of the stride, and a shuffle that takes the lanes out of it. */
static double strided(const Leaf *f, int64_t stride)
{
	return f->vectors * (llabs(stride) == 1 ? 1 : (double)llabs(stride) * COST_STRIDED);
}

static void look_at(Leaf *f, const Expr *e)
{
	enum { MOST_NODES = 2000 };
	if (f->nodes++ > MOST_NODES)
		return;
	f->ops += leaf_ops(e);
	if (e->op == IR_LOAD) {
		Access a = { e->name, e->nargs, (const Expr **)(uintptr_t)e->arg };
		bool known = false;
		for (int i = 0; i < f->nload; i++)
			known |= f->load[i].at != NULL && f->load[i].at->buf->name == e->name && f->load[i].known &&
			         f->copies == 1; /* of a body without copies: a window's taps differ otherwise */
		if (f->nload < ACCESSES && (!known || f->copies > 1)) {
			Reach *r = &f->load[f->nload++];
			*r = reach(f, &a);
			if (f->vector >= 0 && r->known && r->stride[f->vector] != 0 && !target_has_blocks(f->w->target))
				r->lanes = fmin(r->lanes, strided(f, r->stride[f->vector]));
		}
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
	while (f->serial >= 0 && leaf_is_straight(n->loop[f->serial].kind))
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

LeafSums leaf_sums(const Walk *w, int serial, double lanes, const NestBuf *at, const int64_t *stride)
{
	const CostNest *n = &w->nest;
	LeafSums s = { lanes * w->live, 1 };
	if (stride == NULL)
		return (LeafSums){ lanes, 0 };
	if (serial >= 0 && stride[serial] != 0 && n->loop[serial].n > 1)
		s.bodies = 0;
	for (int l = n->nloop - 1; l >= 0; l--) {
		bool moves = stride[l] != 0 && n->loop[l].n > 1;
		if (n->loop[l].kind == LOOP_BOUND)
			continue; /* threads */
		if (at != NULL && at->depth > l)
			break; /* the buffer does not live longer */
		if (!leaf_is_straight(n->loop[l].kind)) {
			if (moves)
				break;
			s.bodies *= (double)n->loop[l].n;
		} else if (n->loop[l].kind == LOOP_UNROLLED && moves) {
			s.count *= (double)n->loop[l].n;
		}
	}
	s.count = fmax(s.count, lanes);
	return s;
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

static LeafFacts body_facts(const Leaf *f, bool reduces)
{
	const Target *t = f->w->target;
	double rate = t->core.fma_rate, latency = t->core.fma_latency;
	double regs = t->vector_regs, sums = 0;
	double work = f->copies * f->vectors * f->ops, loads, stores = 0, wait = 0, spilled = 0;
	if (reduces) {
		LeafSums h = leaf_sums(f->w, f->serial, f->vectors, f->dst.at, f->dst.known ? f->dst.stride : NULL);
		double memory = h.bodies == 0 ? h.count : 0, need = h.count + operands(f);
		loads = count_loads(f, regs - h.count);
		if (need > regs && h.bodies != 0)
			memory = spilled = need - regs; /* written and read in every body */
		else if (h.bodies != 0 && !f->dst.registers)
			memory = h.count / h.bodies;
		loads += memory * f->dst.lanes / f->vectors;
		stores = memory * f->dst.lanes / f->vectors;
		wait = h.bodies != 0 ? latency * f->copies * f->vectors / h.count : 0;
		sums = h.bodies != 0 ? h.count : 0;
	} else {
		loads = count_loads(f, regs);
		stores = f->dst.registers ? 0 : f->copies * f->dst.lanes;
	}
	double folded = fmin(loads, work); /* a memory operand is no instruction of its own */
	double instructions = work + loads - folded / 2 + stores + f->w->tests * f->copies + COST_BODY;
	if (f->w->masked)
		instructions += f->copies * f->vectors;
	LeafFacts o = { .bodies = f->bodies, .copies = f->copies, .vectors = f->vectors, .instructions = instructions,
		.work = work / rate, .load = loads / t->core.loads, .store = stores / t->core.stores,
		.decode = instructions / t->core.decode, .wait = wait, .spill = COST_SPILL * spilled, .sums = sums,
		.registers = sums + operands(f), .serial = f->serial, .vector = f->vector, .bits = f->bits };
	double most = fmax(fmax(o.work, o.load), fmax(o.store, o.decode));
	double sum = o.work + o.load + o.store;
	o.cycles = fmax(most, wait) + o.spill + COST_HIDDEN / 2 * (sum - most > 0 ? sum - most : 0);
	return o;
}

/* Accesses of each kind in one body. */
static void count_accesses(const Leaf *f, LeafFacts *o)
{
	for (int i = 0; i <= f->nload; i++) {
		const Reach *r = i < f->nload ? &f->load[i] : &f->dst;
		if (r->at == NULL || r->registers)
			continue;
		double lanes = f->vector >= 0 && r->known ? (double)llabs(r->stride[f->vector]) : f->vector >= 0 ? 2 : 0;
		double times = r->distinct * r->lanes;
		*(lanes > 1 ? &o->gathers : lanes == 1 ? &o->vector_accesses : &o->scalars) += times;
		int64_t step = f->serial >= 0 ? llabs(r->stride[f->serial]) * r->at->buf->type.bits / 8 : 0;
		o->far += step >= TALLY_PAGE ? times : 0;
		o->aliased += step >= TALLY_PAGE && step % TALLY_PAGE == 0 ? times : 0;
	}
}

/* Stored past the caches are rows of vectors, of an output that is not read. */
static bool passes_caches(const Leaf *f)
{
	const Reach *r = &f->dst;
	bool loads = false;
	for (int i = 0; i < f->nload; i++)
		loads |= f->load[i].at == r->at;
	return r->at->buf->streamed && f->vector >= 0 && r->known && r->stride[f->vector] == 1 && !loads;
}

/* Adds what a leaf reads or writes of one buffer. */
static void add_stream(const Leaf *f, const Reach *r, Stream *m, int *count)
{
	if (r->at == NULL || r->registers || *count == ACCESSES)
		return;
	const Buf *b = r->at->buf;
	bool writes = r == &f->dst;
	Stream *x = &m[(*count)++];
	*x = (Stream){ .elements = nest_elements(&f->w->nest, b), .bytes = (b->type.bits + 7) / 8, .writes = writes,
		.once = writes && passes_caches(f) };
	memcpy(x->stride, r->stride, sizeof x->stride);
}

static void leaf_cost(Walk *w, const Access *dst, const Expr *value, bool reduces)
{
	Leaf f = { .w = w };
	double outside = 1;
	const NestBuf *b = nest_buf(&w->nest, dst->buf);
	f.bits = b != NULL ? b->buf->type.bits : 32;
	find_loops(&f);
	look_at(&f, value);
	f.dst = reach(&f, dst);
	if (reduces && value->op != IR_MUL)
		f.ops += 1; /* a product is fused with the sum */
	LeafFacts facts = body_facts(&f, reduces);
	w->sum.cycles += f.bodies * facts.cycles;
	for (int l = 0; l < f.serial; l++)
		outside *= w->nest.loop[l].kind == LOOP_UNROLLED ? (double)w->nest.loop[l].n : 1;
	w->sum.code += facts.instructions * outside;
	Stream m[ACCESSES];
	double bytes[TARGET_CACHES], lanes = f.vector >= 0 ? (double)w->nest.loop[f.vector].n : 1;
	int count = 0;
	for (int i = 0; i < f.nload; i++) {
		int each = f.load[i].rows ? f.load[i].at->buf->type.bits / 8 : w->target->line_bytes;
		walk_note_reads(w, f.load[i].at, f.load[i].known, f.bodies * f.copies * lanes * each);
		bool twice = false; /* taps of one window: the same memory */
		for (int k = 0; k < i; k++)
			twice |= f.load[k].at == f.load[i].at;
		if (!twice)
			add_stream(&f, &f.load[i], m, &count);
	}
	add_stream(&f, &f.dst, m, &count);
	traffic_of(&w->nest, m, count, w->target, bytes);
	for (int k = 0; k < TARGET_CACHES; k++)
		w->sum.bytes[k] += bytes[k] * w->share;
	if (w->tally != NULL) {
		count_accesses(&f, &facts);
		tally_leaf(w, &facts, m, count);
	}
}

static void other_cost(Walk *w, const Stmt *s)
{
	if (s->kind == ST_FOR && !leaf_is_straight(s->loop.kind)) {
		double outer = w->share;
		for (int l = 0; l < w->nest.nloop; l++)
			if (w->nest.loop[l].kind != LOOP_VECTOR)
				outer *= (double)w->nest.loop[l].n;
		w->sum.cycles += outer * COST_ENTER;
		if (w->tally != NULL)
			tally_loop(w, s, outer);
	} else if (s->kind == ST_CALL || s->kind == ST_BARRIER) {
		w->sum.cycles += COST_CALL * w->share;
	}
}

const WalkCosts leaf_costs = { leaf_cost, other_cost };
