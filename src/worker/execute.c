/*
 * Running and timing programs.  A sample is taken by all threads of the team together: thread 0
 * reads the wall clock, each its own CPU time, so that a thread which did not have its CPU shows.
 * Between samples memory is read until the caches hold nothing of the program's, as much as asked.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/model.h"
#include "runtime/timing.h"
#include "worker/worker.h"

enum { SAMPLES = 1000000, LINE = 64 };
#define PREEMPTED 0.97 /* share of the wall's time that a thread must have had */

typedef struct Execution {
	Worker *w;
	Program *p;
	uint32_t repeat;
	_Atomic uint64_t
		failed[2]; /* call << 32 | status, of even and odd calls: see runtime/plan.c */
	uint64_t wall_ns;
	uint64_t cpu_ns[TEAM_MAX];
} Execution;

static void call_kernel(Execution *x, uint32_t number, uint32_t turn, int thread)
{
	const Program *p = x->p;
	const MsgCall *c = &p->call[number];
	const Module *m = x->w->module[c->module];
	const DlcCall call = {
		.buf = p->address + c->arg,
		.sym = p->sym + c->sym,
		.work = x->w->work + (size_t)thread * p->work_bytes,
		.thread = (uint32_t)thread,
		.threads = (uint32_t)p->threads,
		.barrier = p->threads > 1 ? team_barrier : NULL,
		.team = x->w->team,
	};
	union {
		unsigned char *code;
		DlcKernel kernel;
	} at = { .code = m->code + m->entry[c->entry].offset };
	uint32_t status = (uint32_t)at.kernel(&call);
	if (status != 0)
		atomic_store(&x->failed[turn & 1], (uint64_t)number << 32 | status);
}

/* All calls, `repeat` times over, with a barrier behind each. */
static void run_calls(Execution *x, int thread)
{
	uint32_t turn = 0;
	for (uint32_t r = 0; r < x->repeat; r++)
		for (uint32_t i = 0; i < x->p->ncall; i++, turn++) {
			call_kernel(x, i, turn, thread);
			if (x->p->threads > 1)
				team_barrier(x->w->team);
			if (atomic_load_explicit(&x->failed[turn & 1], memory_order_relaxed) != 0)
				return;
		}
}

static void sample_thread(void *arg, int thread)
{
	Execution *x = arg;
	uint64_t wall = 0;
	if (x->p->threads > 1)
		team_barrier(x->w->team); /* all are awake */
	uint64_t cpu = timing_thread_ns();
	if (thread == 0)
		wall = timing_wall_ns();
	run_calls(x, thread);
	if (thread == 0)
		x->wall_ns = timing_wall_ns() - wall;
	x->cpu_ns[thread] = timing_thread_ns() - cpu;
}

static DlcStatus sample_instance(Execution *x, DlcError *err)
{
	DlcStatus s = DLC_OK;
	uint64_t cpu = timing_thread_ns(), wall = timing_wall_ns();
	for (uint32_t r = 0; r < x->repeat && s == DLC_OK; r++)
		s = dlc_instance_run(x->p->instance, err);
	x->wall_ns = timing_wall_ns() - wall;
	x->cpu_ns[0] = timing_thread_ns() - cpu;
	return s;
}

static DlcStatus take_sample(Execution *x, DlcError *err)
{
	if (x->p->instance != NULL)
		return sample_instance(x, err);
	atomic_store(&x->failed[0], 0);
	atomic_store(&x->failed[1], 0);
	team_run(x->w->team, sample_thread, x);
	uint64_t failed = atomic_load(&x->failed[0]);
	if (failed == 0)
		failed = atomic_load(&x->failed[1]);
	if (failed == 0)
		return DLC_OK;
	const MsgCall *c = &x->p->call[failed >> 32];
	return runtime_fail(err, DLC_KERNEL, "kernel %s returned status %u",
		x->w->module[c->module]->entry[c->entry].name, (unsigned)failed);
}

DlcStatus worker_run(Worker *w, const MsgRun *m, DlcError *err)
{
	Program *p;
	DlcStatus s = program_ready(w, m->program, &p, err);
	if (s != DLC_OK)
		return s;
	for (uint32_t i = 0; i < p->narg; i++)
		if (p->arg[i].output == 1 && p->address[i] != NULL)
			worker_poison(p->address[i], (size_t)p->arg[i].bytes);
	Execution x = { .w = w, .p = p, .repeat = 1 };
	s = take_sample(&x, err);
	for (uint32_t i = 0; i < p->narg && s == DLC_OK; i++)
		if (p->address[i] != NULL && !worker_guarded(w->buffer[p->arg[i].buffer]))
			s = runtime_fail(err, DLC_KERNEL,
				"a kernel wrote behind the end of buffer %u", p->arg[i].buffer);
	return s;
}

/* Memory to read between samples, filled, so that it is not one page of zeros over and over. */
static DlcStatus flush_init(Worker *w, uint64_t bytes, DlcError *err)
{
	if (bytes <= w->flush_bytes)
		return DLC_OK;
	if (bytes > MSG_MAX * 64)
		return runtime_fail(err, DLC_NO_MEMORY, "no %llu bytes to flush with",
			(unsigned long long)bytes);
	unsigned char *more;
	DlcStatus s = worker_alloc((size_t)bytes, &more, err);
	if (s != DLC_OK)
		return s;
	memset(more, 1, (size_t)bytes);
	if (w->flush != NULL)
		device_cpu.release(w->flush, w->flush_bytes);
	w->flush = more;
	w->flush_bytes = (size_t)bytes;
	return DLC_OK;
}

static void flush(const Worker *w, uint64_t bytes)
{
	const volatile unsigned char *p = w->flush;
	for (uint64_t i = 0; i < bytes; i += LINE)
		(void)p[i];
}

static MsgSample sample_of(const Execution *x, uint32_t number)
{
	MsgSample s = { .program = number, .ns = x->wall_ns / x->repeat };
	int threads = x->p->instance != NULL ? 1 : x->p->threads;
	for (int t = 0; t < threads; t++) {
		s.cpu_ns += x->cpu_ns[t] / x->repeat;
		if ((double)x->cpu_ns[t] < PREEMPTED * (double)x->wall_ns)
			s.preempted = 1;
	}
	return s;
}

static DlcStatus time_check(const MsgTime *m, DlcError *err)
{
	if (m->nprogram < 1 || m->nprogram > MSG_PROGRAMS || m->repeat < 1 || m->samples < 1 ||
		m->samples > SAMPLES || m->nprogram * m->samples > SAMPLES)
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"cannot take %u samples of %u runs of %llu programs", m->samples, m->repeat,
			(unsigned long long)m->nprogram);
	return DLC_OK;
}

/* One round: a sample of each program that is still in the race. */
static DlcStatus time_round(Worker *w, const MsgTime *m, const uint32_t *program, bool *slow,
	MsgSample *sample, uint64_t *n, DlcError *err)
{
	for (uint64_t k = 0; k < m->nprogram; k++) {
		Execution x = { .w = w, .repeat = m->repeat };
		if (slow[k])
			continue;
		DlcStatus s = program_ready(w, program[k], &x.p, err);
		if (s != DLC_OK)
			return s;
		flush(w, m->flush_bytes);
		s = take_sample(&x, err);
		if (s != DLC_OK)
			return s;
		sample[*n] = sample_of(&x, program[k]);
		slow[k] = m->slow_ns > 0 && sample[*n].ns > m->slow_ns;
		++*n;
	}
	return DLC_OK;
}

static DlcStatus warm_up(Worker *w, const MsgTime *m, const uint32_t *program, DlcError *err)
{
	DlcStatus s = DLC_OK;
	for (uint64_t k = 0; k < m->nprogram && s == DLC_OK; k++) {
		Execution x = { .w = w, .repeat = 1 };
		s = program_ready(w, program[k], &x.p, err);
		for (uint32_t r = 0; r < m->warmup && s == DLC_OK; r++)
			s = take_sample(&x, err);
	}
	return s;
}

DlcStatus worker_time(Worker *w, const MsgTime *m, const uint32_t *program, MsgSample **sample,
	uint64_t *n, DlcError *err)
{
	bool slow[MSG_PROGRAMS] = { false };
	*sample = NULL;
	*n = 0;
	DlcStatus s = time_check(m, err);
	if (s == DLC_OK)
		s = flush_init(w, m->flush_bytes, err);
	if (s != DLC_OK)
		return s;
	*sample = calloc((size_t)m->nprogram * m->samples, sizeof **sample);
	if (*sample == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no memory for %u samples", m->samples);
	uint64_t start = timing_wall_ns();
	s = warm_up(w, m, program, err);
	for (uint32_t r = 0; r < m->samples && s == DLC_OK; r++) {
		if (r > 0 && m->budget_ns > 0 && timing_wall_ns() - start > m->budget_ns)
			break;
		s = time_round(w, m, program, slow, *sample, n, err);
	}
	return s;
}
