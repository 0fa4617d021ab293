/*
 * Runs the plan.  Every thread of the team walks the same steps and meets the others behind each
 * one; none of them decides anything the others would not.  So a step costs one barrier with
 * threads, and a call through a pointer without.
 *
 * A failure is noted for steps of even or odd number apart: the note of step n is read behind its
 * barrier by all, and written again at step n + 2 at the earliest, which none reaches before all
 * have read.
 */
#include <string.h>

#include "runtime/instance.h"
#include "runtime/kernel.h"
#include "runtime/timing.h"

typedef struct Walk {
	DlcInstance *i;
	uint32_t thread;
	uint32_t turn; /* barriers passed */
} Walk;

static void meet(const Walk *w)
{
	if (w->i->threads > 1)
		team_barrier(w->i->team);
}

/* Ends a step; false if it failed on any thread. */
static bool step_end(Walk *w)
{
	meet(w);
	return atomic_load_explicit(&w->i->failed[w->turn++ & 1], memory_order_relaxed) == 0;
}

static void step_call(Walk *w, const BundleOp *o)
{
	DlcInstance *i = w->i;
	const DlcCall call = {
		.buf = i->arg + o->arg,
		.sym = i->dim + o->dim,
		.work = i->work + w->thread * i->work_stride,
		.thread = w->thread,
		.threads = i->threads,
		.barrier = i->threads > 1 ? team_barrier : NULL,
		.team = i->team,
	};
	union {
		unsigned char *code;
		DlcKernel kernel;
	} at = { .code = i->m->code + i->m->entry[o->entry].offset };
	uint32_t status = (uint32_t)at.kernel(&call);
	if (status != 0) {
		uint64_t step = (uint64_t)(o - i->m->op);
		atomic_store(&i->failed[w->turn & 1], (step << 32) | status);
	}
}

/* Each thread copies its share, in whole cache lines. */
static void step_copy(const Walk *w, const BundleOp *o)
{
	DlcInstance *i = w->i;
	size_t bytes = (size_t)i->dim[o->dim], line = BUNDLE_BUFFER;
	size_t share = (bytes / i->threads + line) / line * line, from = w->thread * share;
	if (from >= bytes)
		return;
	unsigned char *to = i->arg[o->arg];
	const unsigned char *source = i->arg[o->arg + 1];
	memmove(to + from, source + from, bytes - from < share ? bytes - from : share);
}

static bool walk(Walk *w, uint32_t at, uint32_t end);

static bool first_byte(const DlcInstance *i, const BundleOp *o)
{
	return *(const unsigned char *)i->arg[o->arg] != 0;
}

static bool step_loop(Walk *w, const BundleOp *o, uint32_t body)
{
	DlcInstance *i = w->i;
	int64_t end = i->dim[o->dim + 1];
	for (int64_t v = i->dim[o->dim]; v < end; v++) {
		if (o->narg == 1 && !first_byte(i, o))
			break;
		meet(w); /* all have read the condition and the loop's ends */
		if (w->thread == 0) {
			i->sym[o->sym] = v;
			instance_resolve_steps(i, body, body + o->body);
		}
		if (!step_end(w) || !walk(w, body, body + o->body))
			return false;
	}
	return step_end(w);
}

static bool step_if(Walk *w, const BundleOp *o, uint32_t body)
{
	bool yes = first_byte(w->i, o);
	if (!step_end(w)) /* before a branch may change the condition */
		return false;
	uint32_t other = body + o->body;
	return yes ? walk(w, body, other) : walk(w, other, other + o->other);
}

/* Runs steps [at, end); false once one failed. */
static bool walk(Walk *w, uint32_t at, uint32_t end)
{
	DlcInstance *i = w->i;
	while (at < end) {
		const BundleOp *o = &i->m->op[at++];
		bool clocked = i->ns != NULL && w->thread == 0, fine = true;
		uint64_t start = clocked ? timing_wall_ns() : 0;
		switch (o->kind) {
		case BUNDLE_CALL:
			step_call(w, o);
			fine = step_end(w);
			break;
		case BUNDLE_COPY:
			step_copy(w, o);
			fine = step_end(w);
			break;
		case BUNDLE_LOOP: fine = step_loop(w, o, at); break;
		case BUNDLE_IF: fine = step_if(w, o, at); break;
		}
		if (clocked)
			i->ns[o - i->m->op] += timing_wall_ns() - start;
		if (!fine)
			return false;
		if (o->kind >= BUNDLE_LOOP)
			at += o->body + o->other;
	}
	return true;
}

static void walk_all(void *arg, int thread)
{
	DlcInstance *i = arg;
	Walk w = { .i = i, .thread = (uint32_t)thread };
	walk(&w, 0, i->m->h->op.count);
}

uint64_t plan_run(DlcInstance *i)
{
	atomic_store(&i->failed[0], 0);
	atomic_store(&i->failed[1], 0);
	team_run(i->team, walk_all, i);
	uint64_t even = atomic_load(&i->failed[0]);
	return even != 0 ? even : atomic_load(&i->failed[1]);
}
