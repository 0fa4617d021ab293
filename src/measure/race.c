/*
 * A race: the finalists of a Task are timed in turn.  Each entrant is built and checked like any candidate and stays
 * loaded in a lane of its own; then one message times them all, round after round.  If the child ends in between,
 * because an entrant or another candidate has crashed it, the entrants that had passed are loaded into the next child.
 */
#include "measure/runner.h"

#include <string.h>

typedef struct Race {
	Local *m;
	Job *entrant[MEASURE_RACERS];
	bool ours[MEASURE_RACERS]; /* not in a queue of the measure's, which cancelling empties */
	int n;
	MeasureResult last; /* of the last attempt to time them */
} Race;

/* The jobs are gone. */
static bool interrupted(Race *r, Err *err)
{
	for (int i = 0; i < r->n; i++)
		if (r->ours[i])
			job_free(r->entrant[i]);
	return fail(err, ERR_INTERRUPTED, "race", "interrupted");
}

static bool wait_entrant(Race *r, int i)
{
	r->ours[i] = local_wait_for(r->m, r->entrant[i]);
	return r->ours[i];
}

/* Loads those again that a lost child took with it. */
static bool reload_lost(Race *r, Err *err)
{
	for (int i = 0; i < r->n; i++) {
		Job *j = r->entrant[i];
		if (j->result.status != RUN_OK || j->generation == local_first(r->m)->generation)
			continue;
		r->ours[i] = false;
		local_ready(r->m, j);
		if (!wait_entrant(r, i))
			return interrupted(r, err);
	}
	return true;
}

/* Times those that are loaded. */
static bool run(Race *r, bool *done, Err *err)
{
	Job *racer[MEASURE_RACERS];
	Job *j = job_new(JOB_RACE, NULL, NULL);
	for (int i = 0; i < r->n; i++)
		if (r->entrant[i]->result.status == RUN_OK && r->entrant[i]->generation == local_first(r->m)->generation)
			racer[j->nracer++] = r->entrant[i];
	j->racer = racer;
	*done = j->nracer == 0;
	if (*done) {
		job_free(j);
		return true;
	}
	local_ready(r->m, j);
	if (!local_wait_for(r->m, j))
		return interrupted(r, err);
	r->last = j->result;
	*done = j->result.status == RUN_OK;
	job_free(j);
	return true;
}

bool local_race(Measure *base, const MeasureJob *job, int n, MeasureResult *out, Err *err)
{
	Race r = { .m = (Local *)base };
	bool ok = true, done = false;
	for (; r.n < n && ok; r.n++) {
		r.entrant[r.n] = job_new(JOB_ENTRANT, (LocalRef *)job[r.n].ref, job[r.n].user);
		r.entrant[r.n]->lane = LANE_ENTRANT + r.n;
		r.entrant[r.n]->trace = job[r.n].trace != NULL ? arena_printf(r.entrant[r.n]->arena, "%s", job[r.n].trace) : "";
		r.ours[r.n] = true;
		ok = job_read_set(r.entrant[r.n], job[r.n].ks, err);
	}
	for (int i = 0; ok && i < n; i++) {
		r.ours[i] = false;
		local_queue(r.m, r.entrant[i]);
	}
	for (int i = 0; ok && i < n; i++)
		if (!wait_entrant(&r, i))
			return interrupted(&r, err);
	for (int k = 0; ok && !done && k < METHOD_RACE_ATTEMPTS; k++)
		if (!reload_lost(&r, err) || !run(&r, &done, err))
			return false;
	for (int i = 0; i < r.n; i++) {
		Job *j = r.entrant[i];
		if (ok && j->result.status == RUN_OK && j->result.samples == 0) { /* any entrant may have ended the child */
			j->result.status = r.last.status == RUN_CRASH ? RUN_DEVICE_LOST : RUN_RUN_TIMEOUT;
			memcpy(j->result.detail, r.last.detail, sizeof j->result.detail);
		}
		if (ok)
			out[i] = j->result;
		job_free(j);
	}
	return ok;
}
