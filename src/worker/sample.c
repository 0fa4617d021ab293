/*
 * Times programs: rounds of samples, one of each program that is not set aside yet, each with the caches as in a
 * network (cold.c) and the device's lock held.
 */
#include <stdlib.h>

#include "runtime/device_state.h"
#include "runtime/model.h"
#include "runtime/timing.h"
#include "worker/lock.h"
#include "worker/sampling.h"
#include "worker/worker.h"

enum { SAMPLES = 1000000 };

/*
 * A program that is being timed: how many samples kept the CPU, how many there were, and how many tell how slow it is;
 * of these the best and the sum.
 */
typedef struct Entrant {
	LoadedProgram *p;
	uint32_t runs; /* of a sample, each with cold caches */
	uint32_t good, all, seen;
	uint64_t best_ns, sum_ns;
	bool out;
} Entrant;

/*
 * Whether the program is slower than limit_ns (0: no limit), noise allowed for: its best sample is, even after it is
 * lowered by its distance from the mean.
 */
static bool slower(const Entrant *e, uint64_t limit_ns)
{
	return limit_ns > 0 && 2 * e->best_ns > limit_ns + e->sum_ns / e->seen;
}

static void judge(Entrant *e, const MsgTime *m, MsgSample *s)
{
	uint64_t ns = s->lost ? s->cpu_ns : s->ns;
	e->all++;
	e->good += !s->lost;
	if (ns > 0) {
		e->seen++;
		e->sum_ns += ns;
		e->best_ns = e->seen == 1 || ns < e->best_ns ? ns : e->best_ns;
	}
	bool looked = e->seen > 0 && e->sum_ns >= m->look_ns;
	bool slow = looked && slower(e, m->slow_ns);
	bool poor = looked && m->few > 0 && e->seen >= m->few && slower(e, m->good_ns);
	bool all = e->good == m->samples || e->all == SAMPLING_RETAKEN * m->samples;
	s->aside = (slow || poor) && !all;
	e->out = s->aside || all;
}

static DlcStatus time_one(Worker *w, const MsgTime *m, Entrant *e, uint32_t number, MsgSample *out, DlcError *err)
{
	uint64_t ns = 0;
	DlcStatus s = DLC_OK;
	bool lost = false;
	for (uint32_t r = 0; r < e->runs && s == DLC_OK; r++) {
		if (m->cold_bytes > 0 && e->p->instance == NULL)
			s = worker_cold(w, e->p, err);
		uint64_t start = timing_wall_ns();
		bool locked = !w->lock_late && worker_lock(w->lock, SAMPLING_LOCK_MS);
		w->lock_late = !locked;
		w->waited_ns += timing_wall_ns() - start; /* not of the budget: it was others' time */
		if (s == DLC_OK)
			s = program_sample(w, e->p, number, m->repeat, out, err);
		if (locked)
			worker_unlock(w->lock, out->ns * m->repeat);
		ns += out->ns;
		lost |= out->lost != 0;
	}
	if (e->runs > 1) {
		out->ns = ns / e->runs;
		out->lost = lost;
	}
	if (s == DLC_OK)
		judge(e, m, out);
	return s;
}

static DlcStatus time_round(Worker *w, const MsgTime *m, const uint32_t *program, Entrant *entrant,
	MsgSample *sample, uint64_t *n, DlcError *err)
{
	DlcStatus s = DLC_OK;
	for (uint64_t k = 0; k < m->nprogram && s == DLC_OK; k++) {
		if (entrant[k].out)
			continue;
		/* Another program's readiness may have changed the team. */
		s = m->nprogram > 1 ? program_ready(w, program[k], &entrant[k].p, err) : DLC_OK;
		if (s == DLC_OK)
			s = time_one(w, m, &entrant[k], program[k], &sample[*n], err);
		*n += s == DLC_OK;
	}
	return s;
}

/* How many runs make a sample that is long against a tick of the device's clock, which may be microseconds. */
static uint32_t runs_of_device(uint64_t run_ns)
{
	uint64_t runs = SAMPLING_DEVICE_NS / (run_ns > 0 ? run_ns : 1) + 1;
	return (uint32_t)(runs < SAMPLING_DEVICE_RUNS ? runs : SAMPLING_DEVICE_RUNS);
}

/*
 * The first run on a device sets the number of runs in a sample: `few` samples with cold caches must fit into the
 * budget. A program whose first run is slower than slow_ns gets no more runs.
 */
static DlcStatus look_at_device(
	Worker *w, const MsgTime *m, Entrant *e, uint32_t number, MsgSample *sample, uint64_t *n, DlcError *err)
{
	Entrant first = *e;
	MsgSample one;
	uint64_t start = timing_wall_ns(), waited = w->waited_ns;
	DlcStatus s = time_one(w, m, &first, number, &one, err);
	if (s != DLC_OK)
		return s;
	uint64_t cost = timing_wall_ns() - start - (w->waited_ns - waited);
	uint64_t fit = m->budget_ns / (m->nprogram * (m->few > 0 ? m->few : 1) * (cost + 1));
	e->runs = runs_of_device(one.ns);
	if (m->budget_ns > 0 && fit < e->runs)
		e->runs = fit > 0 ? (uint32_t)fit : 1;
	if (one.aside) {
		*e = first;
		sample[(*n)++] = one;
	}
	return s;
}

static DlcStatus warm_up(Worker *w, const MsgTime *m, const uint32_t *program, Entrant *entrant, MsgSample *sample,
	uint64_t *n, DlcError *err)
{
	DlcStatus s = DLC_OK;
	MsgSample last;
	for (uint64_t k = 0; k < m->nprogram && s == DLC_OK; k++) {
		Entrant *e = &entrant[k];
		s = program_ready(w, program[k], &e->p, err);
		e->runs = 1;
		for (uint32_t r = 0; r < m->warmup && s == DLC_OK; r++)
			s = program_sample(w, e->p, program[k], 1, &last, err);
		if (s == DLC_OK && e->p->site != NULL && !e->p->site->device->on_host)
			s = look_at_device(w, m, e, program[k], sample, n, err);
	}
	return s;
}

static bool all_out(const Entrant *entrant, uint64_t n)
{
	for (uint64_t k = 0; k < n; k++)
		if (!entrant[k].out)
			return false;
	return true;
}

DlcStatus worker_time(Worker *w, const MsgTime *m, const uint32_t *program, MsgSample **sample,
	MsgTimes *out, DlcError *err)
{
	Entrant entrant[MSG_PROGRAMS] = { { 0 } };
	*sample = NULL;
	*out = (MsgTimes){ 0 };
	if (m->nprogram < 1 || m->nprogram > MSG_PROGRAMS || m->repeat < 1 || m->samples < 1 ||
		m->samples > SAMPLES || m->nprogram * m->samples > SAMPLES)
		return runtime_fail(err, DLC_BAD_ARGUMENT,
			"cannot take %u samples of %u runs of %llu programs", m->samples, m->repeat,
			(unsigned long long)m->nprogram);
	DlcStatus s = worker_cold_open(w, m->cold_bytes, err);
	if (s != DLC_OK)
		return s;
	*sample = calloc(SAMPLING_RETAKEN * (size_t)m->nprogram * m->samples, sizeof **sample);
	if (*sample == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "there is no memory for %u samples", m->samples);
	w->lock_late = false;
	w->waited_ns = 0;
	uint64_t start = timing_wall_ns();
	s = warm_up(w, m, program, entrant, *sample, &out->nsample, err);
	while (s == DLC_OK && !all_out(entrant, m->nprogram)) {
		if (out->nsample > 0 && m->budget_ns > 0 && timing_wall_ns() - start - w->waited_ns > m->budget_ns)
			break;
		s = time_round(w, m, program, entrant, *sample, &out->nsample, err);
	}
	out->waited_ns = w->waited_ns;
	return s;
}

DlcStatus worker_probe(Worker *w, const MsgProbe *m, MsgProbed *out, DlcError *err)
{
	LoadedProgram *p;
	MsgSample sample;
	DlcStatus s = program_ready(w, m->program, &p, err);
	if (s == DLC_OK && (p->nsym != 1 || m->most < 1))
		s = runtime_fail(err, DLC_BAD_ARGUMENT, "program %llu is no probe", (unsigned long long)m->program);
	for (int64_t n = 1; s == DLC_OK;) {
		p->sym[0] = n;
		s = program_ready(w, m->program, &p, err); /* another launch */
		uint64_t best = 0;
		for (int k = 0; k < SAMPLING_PROBES && s == DLC_OK; k++) {
			s = program_sample(w, p, 0, 1, &sample, err);
			best = k == 0 || sample.ns < best ? sample.ns : best;
		}
		*out = (MsgProbed){ .gflops = best > 0 ? m->flops * (double)n / (double)best : 0 };
		if (best >= SAMPLING_PROBE_NS || n == m->most)
			break;
		n = n < m->most / SAMPLING_PROBE_MORE ? n * SAMPLING_PROBE_MORE : m->most;
	}
	if (s == DLC_OK) {
		const Site *own = worker_own(w);
		DeviceState state = device_state(own->device, own->id);
		out->mhz = state.mhz;
		out->celsius = state.celsius;
		out->slowed = state.slowed;
	}
	return s;
}
