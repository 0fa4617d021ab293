/* See tally.h. */
#include "cost_model/tally.h"

#include "cost_model/warp.h"
#include "ir/walk.h"
#include "target/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Iterations of loop l that a core runs for each iteration of one that it shares with others; 1: none are idle. */
static double imbalance(const Walk *w, int l)
{
	double n = (double)w->nest.loop[l].n, threads = w->target->threads > 0 ? w->target->threads : 1;
	return ceil(n / threads) * threads / n;
}

/*
 * A stream finds its memory again in the next iteration of the innermost serial loop along which it does not move.
 * Until then the loops inside of that one touch what lies between.
 */
static Reuse reuse_of(const Walk *w, int serial, const Stream *m, int count, const Stream *of)
{
	const CostNest *n = &w->nest;
	const Target *t = w->target;
	int l = serial;
	while (l >= 0 && (of->stride[l] != 0 || n->loop[l].n < 2))
		l--;
	if (l < 0)
		return REUSE_NEVER;
	double between = traffic_streams(n, m, count, l + 1, t->line_bytes);
	double l1 = (double)t->cache[0].bytes, l2 = (double)t->cache[1].bytes;
	return between <= l1 / 4 ? REUSE_L1_QUARTER
	       : between <= l1   ? REUSE_L1
	       : between <= l2 / 4 ? REUSE_L2_QUARTER
	       : between <= l2     ? REUSE_L2
				   : REUSE_BEYOND;
}

void tally_leaf(Walk *w, const LeafFacts *f, const Stream *m, int count)
{
	Tally *y = w->tally;
	const CostNest *n = &w->nest;
	const Target *t = w->target;
	double all = f->bodies * f->cycles, lanes = fmax((double)t->vector_bits / f->bits, 1), idle = 1;
	double width = f->vector >= 0 ? (double)n->loop[f->vector].n : 1;
	int depth = 0;
	bool parallel = false;
	for (int l = 0; l < n->nloop; l++) {
		depth += n->loop[l].n > 1;
		if (n->loop[l].kind == LOOP_PARALLEL) {
			parallel = true;
			idle *= imbalance(w, l);
		}
	}
	y->leaves++;
	y->cycles += all;
	y->work += f->bodies * f->work;
	y->load += f->bodies * f->load;
	y->store += f->bodies * f->store;
	y->decode += f->bodies * f->decode;
	y->wait += f->bodies * f->wait;
	y->spill += f->bodies * f->spill;
	y->bodies += f->bodies;
	y->instructions += f->bodies * f->instructions;
	y->elements += f->bodies * f->copies * width;
	y->slots += f->bodies * f->copies * f->vectors * lanes;
	y->masked += w->masked ? all : 0;
	y->gathers += f->bodies * f->gathers;
	y->vector_accesses += f->bodies * f->vector_accesses;
	y->scalars += f->bodies * f->scalars;
	y->far += f->bodies * f->far;
	y->aliased += f->bodies * f->aliased;
	double wanted = f->registers / fmax(t->vector_regs, 1);
	y->registers += all * wanted;
	y->most_registers = fmax(y->most_registers, wanted);
	y->sums += all * f->sums;
	y->copies += all * log2(fmax(f->copies, 1));
	y->trips += all * log2(f->serial >= 0 ? fmax((double)n->loop[f->serial].n, 1) : 1);
	y->instructions_each += all * log2(1 + f->instructions);
	y->depth += all * depth;
	y->streams += all * count;
	y->bits += all * f->bits;
	y->parallel += parallel ? all : 0;
	y->idle += parallel ? all * (1 - 1 / idle) : 0;
	double places = 0, pages = 0;
	for (int i = 0; i < count; i++) {
		double step = f->serial >= 0 ? (double)llabs(m[i].stride[f->serial]) * m[i].bytes : 0;
		places += traffic_runs(n, &m[i], f->serial + 1, t->line_bytes, 0);
		pages += traffic_runs(n, &m[i], f->serial + 1, t->line_bytes, TALLY_PAGE);
		y->step += all * log2(1 + step) / count;
		double bytes = traffic_stream(n, &m[i], f->serial + 1, t->line_bytes) * f->bodies;
		y->reuse[reuse_of(w, f->serial, m, count, &m[i])] += bytes;
		y->written += m[i].writes ? bytes : 0;
	}
	y->places += all * log2(1 + places);
	y->pages += all * log2(1 + pages);
}

/*
 * With all loops at 0 a body reads the beginning of a buffer, or what lies near it. So the address that is prefetched
 * then says how far ahead it is. A loop of nothing but requests is one burst.
 */
void tally_prefetch(Walk *w, const Access *a)
{
	Tally *y = w->tally;
	CostNest *n = &w->nest;
	const NestBuf *b = nest_buf(n, a->buf);
	double times = w->share * w->live, burst = w->live;
	int64_t ahead = 0;
	bool together = true;
	if (b == NULL)
		return;
	for (int l = n->nloop - 1; l >= 0; l--) {
		times *= (double)n->loop[l].n;
		together = together && (leaf_is_straight(n->loop[l].kind) || n->loop[l].requests);
		burst *= together ? (double)n->loop[l].n : 1;
	}
	for (int l = 0; l < n->nloop; l++)
		nest_set_loop(n, l, -n->loop[l].lo);
	bool known = nest_address(n, a, b->buf, &ahead);
	for (int l = 0; l < n->nloop; l++)
		nest_set_loop(n, l, 0);
	if (!known)
		return;
	y->prefetches += times;
	y->prefetch_burst += times * log2(1 + burst);
	y->prefetch_ahead += times * log2(1 + (double)llabs(ahead) * b->buf->type.bits / 8);
}

void tally_loop(Walk *w, const Stmt *s, double times)
{
	w->tally->entered += times;
	w->tally->regions += s->loop.kind == LOOP_PARALLEL ? times : 0;
}

static bool add_scratch(Stmt *s, void *arg)
{
	Walk *w = arg;
	if (s->kind == ST_ALLOC)
		w->tally->scratch += (double)nest_elements(&w->nest, s->alloc) * s->alloc->type.bits / 8;
	return true;
}

void tally_fn(Walk *w, const Fn *fn, double constants)
{
	Tally *y = w->tally;
	y->fns++;
	y->code += w->sum.code;
	y->constants += constants;
	ir_each_stmt(fn->body, add_scratch, w);
	for (int k = 0; k < TARGET_CACHES; k++)
		y->beyond[k] += w->sum.bytes[k];
}

void tally_launch(Tally *y, const Launch *x, const Target *t, const double *bytes, double ns)
{
	double units = t->cores > 0 ? t->cores : 1, resident = target_resident_blocks(t, x->threads, x->shared, x->regs);
	resident = fmax(resident, 1);
	double waves = x->blocks / (units * resident), most = fmax(t->blocks.unit_threads, x->threads);
	double together = fmin(resident, ceil(x->blocks / units)); /* blocks of a unit at once */
	double issue = x->issued * t->blocks.warp / t->core.decode * together;
	double multiply = x->multiply * together, near = x->near * together;
	double largest = fmax(fmax(issue, multiply), fmax(fmax(near, x->latency), 1));
	y->launches++;
	y->launch_ns += ns;
	y->blocks += ns * log2(fmax(x->blocks, 1));
	y->threads += ns * log2(fmax(x->threads, 1));
	y->occupancy += ns * resident * x->threads / most;
	y->waves += ns * waves;
	y->filled += ns * waves / ceil(waves);
	y->units += ns * fmin(x->blocks / units, 1);
	y->shared += ns * (double)x->shared;
	y->regs += ns * x->regs;
	y->issue += ns * issue / largest;
	y->multiply += ns * multiply / largest;
	y->near += ns * near / largest;
	y->latency += ns * x->latency / largest;
	y->asked += x->asked * x->blocks;
	y->wanted += x->wanted * x->blocks;
	for (int k = 0; k < TARGET_CACHES; k++)
		y->beyond[k] += bytes[k];
}
