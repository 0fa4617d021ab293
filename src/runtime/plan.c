/*
 * Runs the plan.  Every thread of the team walks the same steps and meets the others behind each one, and all take
 * the same decisions. So a step costs a call through a pointer, and with threads one barrier.
 *
 * A failure of an even step and of an odd step has a note each. All threads read the note of step n behind its
 * barrier. It is written again at step n + 2 at the earliest, which no thread reaches before all have read it.
 *
 * A profile marks the stream before and behind each step. Times are read when the marks are used up and at the end, so
 * that a device does not wait for the host between two steps.
 */
#include <string.h>

#include "runtime/instance.h"

typedef struct Walk {
	DlcInstance *i;
	uint32_t thread;
	uint32_t turn;  /* barriers passed */
	uint32_t depth; /* steps inside each other, each of which has two marks of the stream */
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

/* Notes that step o failed; step_end tells all threads. */
static void step_failed(const Walk *w, const BundleOp *o, uint32_t status)
{
	uint64_t step = (uint64_t)(o - w->i->m->op);
	atomic_store(&w->i->failed[w->turn & 1], (step << 32) | status);
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
	const DeviceLaunch *how = i->launch != NULL ? &i->launch[o - i->m->op] : NULL;
	int status = i->m->device->launch(i->stream, i->m->kernel[o->entry], &call, how);
	if (status != 0)
		step_failed(w, o, (uint32_t)status);
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
	int status = i->m->device->copy(
		i->stream, to + from, source + from, bytes - from < share ? bytes - from : share, DEVICE_WITHIN);
	if (status != 0)
		step_failed(w, o, (uint32_t)status);
}

static bool walk(Walk *w, uint32_t at, uint32_t end);

/* Whether the first byte of the step's buffer is not 0; a device's must come to the host first. */
static bool first_byte(const Walk *w, const BundleOp *o)
{
	const DlcInstance *i = w->i;
	const Device *d = i->m->device;
	unsigned char byte = 0;
	if (d->on_host)
		return *(const unsigned char *)i->arg[o->arg] != 0;
	int status = d->copy(i->stream, &byte, i->arg[o->arg], 1, DEVICE_DOWN);
	if (status == 0)
		status = d->synchronize(i->stream);
	if (status != 0)
		step_failed(w, o, (uint32_t)status);
	return status == 0 && byte != 0;
}

static bool step_loop(Walk *w, const BundleOp *o, uint32_t body)
{
	DlcInstance *i = w->i;
	int64_t end = i->dim[o->dim + 1];
	for (int64_t v = i->dim[o->dim]; v < end; v++) {
		if (o->narg == 1 && !first_byte(w, o))
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
	bool yes = first_byte(w, o);
	if (!step_end(w)) /* before a branch may change the condition */
		return false;
	uint32_t other = body + o->body;
	return yes ? walk(w, body, other) : walk(w, other, other + o->other);
}

void plan_read_marks(DlcInstance *i)
{
	for (uint32_t k = 0; k < i->nmarked; k++) {
		uint32_t mark = PROFILE_NESTED + 2 * k;
		i->ns[i->marked[k]] += i->m->device->time(i->stream, mark, mark + 1);
	}
	i->nmarked = 0;
}

/* Marks the beginning of step o; the number of its first mark. */
static uint32_t mark_step(Walk *w, const BundleOp *o)
{
	DlcInstance *i = w->i;
	uint32_t mark = 2 * (w->depth - 1);
	if (o->kind < BUNDLE_LOOP) {
		if (i->nmarked == PROFILE_MARKED)
			plan_read_marks(i);
		mark = PROFILE_NESTED + 2 * i->nmarked;
		i->marked[i->nmarked++] = (uint32_t)(o - i->m->op);
	}
	i->m->device->mark(i->stream, mark);
	return mark;
}

/* Runs steps [at, end); false once one failed. */
static bool walk(Walk *w, uint32_t at, uint32_t end)
{
	DlcInstance *i = w->i;
	while (at < end) {
		const BundleOp *o = &i->m->op[at++];
		bool clocked = i->ns != NULL && w->thread == 0, fine = true;
		w->depth++;
		uint32_t mark = clocked ? mark_step(w, o) : 0;
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
			i->m->device->mark(i->stream, mark + 1);
		if (clocked && o->kind >= BUNDLE_LOOP)
			i->ns[o - i->m->op] += i->m->device->time(i->stream, mark, mark + 1);
		w->depth--;
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
