/* See prepared.h. */
#include "measure/prepared.h"
#include "measure/method.h"
#include "measure/runner.h"

#include <string.h>

static bool is_of(const Prepared *p, const Runner *x, const Job *j)
{
	return p->ref == j->ref && p->generation == x->generation && memcmp(&p->by, &j->prepare, sizeof p->by) == 0;
}

static void release(Runner *x, Job *j, Msg *msg, Prepared *p)
{
	for (int k = 0; k < p->buffers; k++) {
		ask_nothing_of(x, j, msg, p->first + 2 * (uint32_t)k, false);
		if (x->m->o.device)
			ask_nothing_of(x, j, msg, p->first + 2 * (uint32_t)k + 1, true);
	}
	p->ref = NULL;
	p->buffers = 0;
	p->bytes = 0;
}

/* The set that was used last longest ago, of those that hold memory or of all; those without memory come first. */
static Prepared *oldest(Runner *x, bool holding)
{
	Prepared *found = NULL;
	for (Prepared *p = x->constants.kept; p < x->constants.kept + PREPARED_SETS; p++) {
		bool holds = p->buffers > 0, less = found != NULL && holds < (found->buffers > 0);
		bool older = found == NULL || (holds == (found->buffers > 0) && p->used < found->used);
		if ((holds || !holding) && (less || older))
			found = p;
	}
	return found;
}

/* The job's set; NULL: it is not there. Notes what another child had as gone. */
static Prepared *find(Runner *x, const Job *j)
{
	Prepared *found = NULL;
	for (int k = 0; k < PREPARED_SETS; k++) {
		Prepared *p = &x->constants.kept[k];
		if (p->generation != x->generation)
			*p = (Prepared){ .generation = x->generation, .first = FIRST_PREPARED + (uint32_t)k * PREPARED_NUMBERS };
		found = is_of(p, x, j) ? p : found;
	}
	return found;
}

/* A place for constants, and memory: a device has less than the limit where it is small. */
static Prepared *make_room(Runner *x, Job *j, Msg *msg, int buffers, int64_t bytes)
{
	int64_t held = bytes, most = (int64_t)METHOD_PREPARED_MIB << 20, part = x->device_bytes / METHOD_PREPARED_PART;
	most = part > 0 && part < most ? part : most;
	for (int k = 0; k < PREPARED_SETS; k++)
		held += x->constants.kept[k].bytes;
	for (Prepared *p; held > most && (p = oldest(x, true)) != NULL;) {
		held -= p->bytes;
		release(x, j, msg, p);
	}
	Prepared *p = oldest(x, false);
	release(x, j, msg, p);
	p->buffers = buffers;
	p->bytes = bytes;
	return p;
}

Prepared *prepared_find(Runner *x, Job *j, Msg *msg, bool *kept)
{
	Prepared *p = &x->constants.lane[j->lane];
	int64_t bytes = 0;
	int buffers = 0;
	for (size_t i = 0; i < j->buf.n; i++) {
		buffers += j->buf.at[i].prepared;
		bytes += j->buf.at[i].prepared ? j->buf.at[i].bytes : 0;
	}
	if (j->prepares && j->kind == JOB_CANDIDATE && buffers <= PREPARED_BUFFERS)
		p = find(x, j);
	*kept = j->prepares && p != NULL && is_of(p, x, j);
	if (p == NULL)
		p = make_room(x, j, msg, buffers, bytes);
	p->ref = NULL; /* until the job has passed: what fails may have written to them */
	p->generation = x->generation;
	p->used = ++x->constants.clock;
	return p;
}

void prepared_pass(Job *j)
{
	j->constants->ref = j->prepares ? j->ref : NULL;
	j->constants->by = j->prepare;
}

void prepared_forget(Runner *x)
{
	for (int k = 0; k < LANES; k++)
		x->constants.lane[k].ref = NULL;
	for (int k = 0; k < PREPARED_SETS; k++) {
		x->constants.kept[k].ref = NULL;
		x->constants.kept[k].used = 0; /* it makes room first */
	}
}
