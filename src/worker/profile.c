/*
 * Runs of a whole network in a row, as one that is deployed runs, each timed as a whole and step by step.  One of its
 * answer's rows is a run.
 */
#include <stdlib.h>

#include "runtime/instance.h"
#include "runtime/model.h"
#include "runtime/timing.h"
#include "worker/lock.h"
#include "worker/sampling.h"
#include "worker/worker.h"

enum { RUNS = 100000, VALUES = 1 << 22 };

static DlcStatus profile_run(Worker *w, const LoadedProgram *p, uint64_t *row, DlcError *err)
{
	uint64_t cpu_ns;
	team_spread(instance_team(p->instance));
	lost_begin(&w->lost, program_cpus(w, p));
	uint64_t start = timing_wall_ns();
	DlcStatus s = dlc_instance_profile(p->instance, row + PROFILE_STEPS, err);
	row[PROFILE_NS] = timing_wall_ns() - start;
	row[PROFILE_LOST] = lost_end(&w->lost, program_cpus(w, p), row[PROFILE_NS], &cpu_ns);
	worker_own(w)->broken |= (s == DLC_KERNEL || s == DLC_LOST) && !worker_own(w)->device->on_host;
	return s;
}

DlcStatus worker_profile(Worker *w, const MsgProfile *m, uint64_t **value, MsgProfiled *out, DlcError *err)
{
	LoadedProgram *p;
	*value = NULL;
	*out = (MsgProfiled){ 0 };
	DlcStatus s = program_ready(w, m->program, &p, err);
	if (s != DLC_OK)
		return s;
	if (p->instance == NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "program %llu is no bundle", (unsigned long long)m->program);
	uint64_t row = PROFILE_STEPS + (uint64_t)dlc_model_steps(p->model), asked = timing_wall_ns();
	if (m->runs < 1 || m->runs > RUNS || m->runs * row > VALUES)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "cannot take %u runs of %d steps", m->runs,
			dlc_model_steps(p->model));
	*value = calloc(m->runs * row, sizeof **value);
	if (*value == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for %u runs", m->runs);
	w->launched = true; /* the first run too may fail by a kernel of this network */
	bool locked = worker_lock(w->lock, SAMPLING_LOCK_MS);
	out->waited_ns = timing_wall_ns() - asked;
	for (uint32_t r = 0; r < m->warmup && s == DLC_OK; r++)
		s = dlc_instance_run(p->instance, err);
	uint64_t start = timing_wall_ns();
	for (uint32_t r = 0; r < m->runs && s == DLC_OK; r++) {
		if (r > 0 && m->budget_ns > 0 && timing_wall_ns() - start > m->budget_ns)
			break;
		s = profile_run(w, p, *value + out->nvalue, err);
		out->nvalue += row;
	}
	if (locked)
		worker_unlock(w->lock, timing_wall_ns() - start);
	out->row = row;
	return s;
}
