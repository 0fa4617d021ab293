/*
 * Times whole networks in turn.  Their bundles stay loaded in the runner from one turn to the next, as long as they are
 * the same; a turn is some runs of each in a row, timed step by step.
 */
#include "measure/runner.h"

#include <stdlib.h>
#include <string.h>

/* The runner's number of a bundle; *loaded: it is there. A number that this turn needs is not reused. */
static uint32_t slot_of(const Runner *x, const MeasureNetwork *net, int n, int at, bool *loaded)
{
	Local *m = x->m;
	if (m->network_generation != x->generation)
		for (int s = 0; s < NETWORKS_LOADED; s++)
			m->network[s] = NULL;
	m->network_generation = x->generation;
	*loaded = true;
	for (int s = 0; s < NETWORKS_LOADED; s++)
		if (m->network[s] == net[at].bundle)
			return (uint32_t)s;
	*loaded = false;
	for (int s = 0; s < NETWORKS_LOADED; s++) {
		bool used = false;
		for (int i = 0; i < n; i++)
			used |= m->network[s] == net[i].bundle;
		if (!used) {
			m->network[s] = net[at].bundle;
			return (uint32_t)s;
		}
	}
	return 0; /* there are more numbers than networks in a turn */
}

static void ask_bundle(Runner *x, Job *j, Msg *msg, uint32_t program, const MeasureNetwork *net)
{
	MsgBundle f = { .program = program,
		.threads = (uint32_t)x->m->o.threads,
		.seed = 1,
		.nfile = net->bytes,
		.npath = net->constants_path != NULL ? strlen(net->constants_path) : 0,
		.nconstant = net->constants_bytes };
	msg_begin(msg, MSG_BUNDLE, ++x->m->serial, &f);
	msg_add(msg, net->bundle, net->bytes);
	msg_add(msg, net->constants_path, f.npath);
	if (!msg_end(msg))
		msg->full = true;
	j->answers++;
	x->loaded_bytes += (int64_t)net->bytes;
}

void ask_networks(Runner *x, Job *j, Msg *msg)
{
	for (int i = 0; i < j->nnet; i++) {
		bool loaded;
		uint32_t program = PROGRAM_NETWORK + slot_of(x, j->net, j->nnet, i, &loaded);
		MsgProfile p = { .program = program,
			.budget_ns = (uint64_t)j->turn_ms * 1000000u,
			.runs = METHOD_NETWORK_RUNS,
			.warmup = METHOD_NETWORK_WARMUP };
		if (!loaded)
			ask_bundle(x, j, msg, program, &j->net[i]);
		ask(x, j, msg, MSG_PROFILE, &p, NULL, 0);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The middle of one column of the rows that count. */
static int64_t median_of(Arena *a, const uint64_t *value, uint64_t row, const uint64_t *kept, size_t n, uint64_t column)
{
	uint64_t *v = arena_array(a, uint64_t, n);
	for (size_t i = 0; i < n; i++)
		v[i] = value[kept[i] * row + column];
	qsort(v, n, sizeof *v, by_value);
	return (int64_t)v[n / 2];
}

/* Medians of the runs that kept their CPUs; of all runs where too few did, as for the other networks of the turn. */
void network_take(Job *j, const MsgProfiled *p, const uint64_t *value)
{
	MeasureNetwork *net = j->profiled < j->nnet ? &j->net[j->profiled++] : NULL;
	uint64_t rows = p->row > 0 ? p->nvalue / p->row : 0, *kept = arena_array(j->arena, uint64_t, rows + 1);
	size_t n = 0;
	j->result.waited_ms += (int64_t)(p->waited_ns / 1000000);
	if (net == NULL || rows == 0 || p->row != PROFILE_STEPS + (uint64_t)net->nstep)
		return;
	for (uint64_t r = 0; r < rows; r++)
		if (value[r * p->row + PROFILE_LOST] == 0)
			kept[n++] = r;
	net->lost = (int64_t)(rows - n);
	if (n * METHOD_KEPT_PART < rows)
		for (n = 0; n < rows; n++)
			kept[n] = n;
	net->samples = (int64_t)n;
	net->median_ns = median_of(j->arena, value, p->row, kept, n, PROFILE_NS);
	for (int s = 0; s < net->nstep; s++)
		net->step_ns[s] = median_of(j->arena, value, p->row, kept, n, PROFILE_STEPS + (uint64_t)s);
}

bool local_networks(Measure *base, MeasureNetwork *net, int n, int turn_ms, Err *err)
{
	Local *m = (Local *)base; /* its first member */
	Job *j = job_new(JOB_NETWORK, NULL, NULL);
	j->net = net;
	j->nnet = n;
	j->turn_ms = turn_ms;
	for (int i = 0; i < n; i++)
		net[i].samples = 0;
	local_ready(m, j);
	if (!local_wait_for(m, j))
		return fail(err, ERR_INTERRUPTED, "network", "interrupted");
	const Runner *x = local_first(m);
	/* A child that is still there has a device, which may be full. */
	bool lost = j->result.status == RUN_DEVICE_LOST && x->child.io == NULL && local_others(x) == 0;
	bool ok = j->result.status == RUN_OK ||
		fail(err, lost ? ERR_DEVICE : ERR_UNSUPPORTED, "network", "it could not be timed (%s): %s",
			run_status_text(j->result.status), j->result.detail);
	for (int i = 0; i < n && ok; i++)
		ok = net[i].samples > 0 ||
			fail(err, ERR_UNSUPPORTED, "network", "the runner timed another number of steps than the plan has");
	job_free(j);
	return ok;
}
