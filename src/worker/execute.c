/*
 * Runs a program once, or some times in a row as a sample.  On the host all threads of the team run it together, and a
 * sample lasts from the moment all may begin until the slowest has ended, by the wall clock.  On a device one thread
 * puts the launches on the stream between two marks, which have the device's own times: so the time that the host takes
 * to wait and to be woken is not part of the sample.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "runtime/device.h"
#include "runtime/kernel.h"
#include "runtime/instance.h"
#include "runtime/model.h"
#include "runtime/timing.h"
#include "worker/worker.h"

typedef struct Execution {
	Worker *w;
	LoadedProgram *p;
	uint32_t repeat;
	_Atomic uint64_t
		failed[2]; /* call << 32 | status, of even and odd calls: see runtime/plan.c */
	int late; /* status of what showed only when the device had ended */
	uint64_t begin_ns[TEAM_MAX], end_ns[TEAM_MAX]; /* of each thread, on one clock */
} Execution;

static void call_kernel(Execution *x, uint32_t number, uint32_t turn, int thread)
{
	const LoadedProgram *p = x->p;
	const MsgCall *c = &p->call[number];
	const Module *m = x->w->module[c->module];
	const Site *at = p->site;
	const DlcCall call = {
		.buf = p->address + c->arg,
		.sym = p->sym + c->sym,
		.work = at->work + (size_t)thread * p->work_bytes,
		.thread = (uint32_t)thread,
		.threads = (uint32_t)p->threads,
		.barrier = p->threads > 1 ? team_barrier : NULL,
		.team = x->w->team,
	};
	const DeviceLaunch *how = !at->device->on_host ? &p->launch[number] : NULL;
	uint32_t status = (uint32_t)at->device->launch(at->stream, m->kernel[c->entry], &call, how);
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
	if (x->p->threads > 1)
		team_barrier(x->w->team); /* all are awake, though one may have slept until now */
	if (thread == 0)
		lost_begin(&x->w->lost, x->p->threads);
	if (x->p->threads > 1)
		team_barrier(x->w->team);
	x->begin_ns[thread] = timing_wall_ns();
	run_calls(x, thread);
	x->end_ns[thread] = timing_wall_ns();
}

/* On the stream of a device. A driver whose marks have no time leaves the host's clock. */
static void sample_stream(Execution *x)
{
	Site *at = x->p->site;
	lost_begin(&x->w->lost, program_cpus(x->w, x->p));
	x->begin_ns[0] = timing_wall_ns();
	at->device->mark(at->stream, 0);
	run_calls(x, 0);
	at->device->mark(at->stream, 1);
	x->late = at->device->synchronize(at->stream);
	x->end_ns[0] = timing_wall_ns();
	uint64_t ns = x->late == 0 ? at->device->time(at->stream, 0, 1) : 0;
	if (ns > 0)
		x->end_ns[0] = x->begin_ns[0] + ns;
	at->broken |= x->late != 0;
}

int program_cpus(const Worker *w, const LoadedProgram *p)
{
	const Site *at = &w->site[w->nsite - 1];
	if (p->site != NULL ? p->site->device->on_host : at->device->on_host)
		return p->threads;
	return at->cpus;
}

static DlcStatus sample_instance(Execution *x, DlcError *err)
{
	DlcStatus s = DLC_OK;
	team_spread(instance_team(x->p->instance));
	lost_begin(&x->w->lost, program_cpus(x->w, x->p));
	x->begin_ns[0] = timing_wall_ns();
	for (uint32_t r = 0; r < x->repeat && s == DLC_OK; r++)
		s = dlc_instance_run(x->p->instance, err);
	x->end_ns[0] = timing_wall_ns();
	worker_own(x->w)->broken |= (s == DLC_KERNEL || s == DLC_LOST) && !worker_own(x->w)->device->on_host;
	return s;
}

static DlcStatus sample_calls(Execution *x, DlcError *err)
{
	const Site *at = x->p->site;
	if (at->device->on_host) {
		team_spread(x->w->team);
		team_run(x->w->team, sample_thread, x);
	} else {
		sample_stream(x);
	}
	uint64_t failed = atomic_load(&x->failed[0]);
	if (failed == 0)
		failed = atomic_load(&x->failed[1]);
	if (failed == 0 && x->late == 0)
		return DLC_OK;
	if (failed == 0)
		return site_failed(x->p->site, x->late, true, "", err);
	const MsgCall *c = &x->p->call[failed >> 32];
	const char *kernel = x->w->module[c->module]->entry[c->entry].name;
	if (at->device->on_host)
		return runtime_fail(err, DLC_KERNEL, "kernel %s returned status %u", kernel, (unsigned)failed);
	char where[128];
	snprintf(where, sizeof where, " to start kernel %.80s", kernel);
	return site_failed(x->p->site, (int)(uint32_t)failed, false, where, err);
}

DlcStatus program_sample(
	Worker *w, LoadedProgram *p, uint32_t number, uint32_t repeat, MsgSample *out, DlcError *err)
{
	Execution x = { .w = w, .p = p, .repeat = repeat };
	w->launched = true;
	site_changed(worker_own(w));
	DlcStatus s = p->instance != NULL ? sample_instance(&x, err) : sample_calls(&x, err);
	uint64_t begin = x.begin_ns[0], end = x.end_ns[0];
	for (int t = 1; t < p->threads && p->instance == NULL; t++) {
		begin = x.begin_ns[t] < begin ? x.begin_ns[t] : begin;
		end = x.end_ns[t] > end ? x.end_ns[t] : end;
	}
	*out = (MsgSample){ .program = number, .ns = (end - begin) / repeat };
	out->lost = lost_end(&w->lost, program_cpus(w, p), end - begin, &out->cpu_ns);
	out->cpu_ns /= repeat;
	return s;
}

DlcStatus worker_run(Worker *w, const MsgRun *m, MsgDone *out, DlcError *err)
{
	LoadedProgram *p;
	MsgSample sample;
	DlcStatus s = program_ready(w, m->program, &p, err);
	if (s != DLC_OK)
		return s;
	for (uint32_t i = 0; i < p->narg && s == DLC_OK; i++)
		if (p->arg[i].use == MSG_USE_OUTPUT && p->address[i] != NULL)
			s = site_fill(p->site, p->address[i], WORKER_POISON, (size_t)p->arg[i].bytes, err);
	if (s == DLC_OK && p->site != NULL)
		s = site_wait(p->site, err);
	if (s != DLC_OK)
		return s;
	s = program_sample(w, p, 0, 1, &sample, err);
	*out = (MsgDone){ .run = 1, .lost = sample.lost, .run_ns = sample.lost ? sample.cpu_ns : sample.ns };
	return s == DLC_OK ? worker_check_guards(w, p, err) : s;
}
