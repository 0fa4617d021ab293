/*
 * A Task -> its inputs (by seed) and reference values of its outputs: of some hundred elements of each (points.h),
 * which takes milliseconds where all elements would take seconds; of all elements where that is cheap, or where the
 * naive form cannot be restricted to points.
 */
#include "measure/runner.h"

#include "op/recurrent.h"
#include "runtime/element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inputs and outputs from the parameters of the naive set. */
static bool read_params(Local *m, LocalRef *r, Ir *ir, Err *err)
{
	KernelSet *ks = op_naive(ir, r->task->dag, "k", NAIVE_F64, err);
	Job *j = job_new(JOB_REFERENCE, r, NULL);
	bool ok = ks != NULL && job_read_set(j, ks, err);
	const Dag *d = r->task->dag;
	for (size_t i = 0; ok && i < j->buf.n; i++) {
		JobBuf b = j->buf.at[i];
		b.name = arena_printf(m->arena, "%s", b.name);
		b.most = INFINITY;
		for (size_t v = 0; v < d->value.n; v++) /* a Task's values have names of the loop language */
			if (strcmp(d->value.at[v].name, b.name) == 0)
				b.most = recurrent_bound(d, (int)v);
		RefOut o = { .buf = b };
		if (b.role == BUF_OUT) {
			ok = places_of(m->arena, ir_find_buf(ks->fn[0], b.name), &o.place) ||
				fail(err, ERR_UNSUPPORTED, b.name, "symbols must be bound to be measured");
			vec_push(m->arena, &r->out, o);
		} else if (b.role != BUF_WORK) {
			Places place;
			ok = places_of(m->arena, ir_find_buf(ks->fn[0], b.name), &place) ||
				fail(err, ERR_UNSUPPORTED, b.name, "symbols must be bound to be measured");
			b.padding = ok ? places_padding(m->arena, &place, &b.npadding) : NULL;
			vec_push(m->arena, &r->in, b);
		}
		if (ok && 3 * (r->in.n + r->out.n) > FIRST_OWN)
			ok = fail(err, ERR_UNSUPPORTED, b.name, "a task has at most %d tensors", FIRST_OWN / 3);
	}
	job_free(j);
	return ok;
}

/* The elements of an output that get reference values, and behind them its padding. */
static void list_points(Local *m, RefOut *o, Rng *rng)
{
	int64_t npad = 0;
	uint64_t *pad = places_padding(m->arena, &o->place, &npad);
	o->points = POINTS;
	o->listed = POINTS + npad;
	o->index = arena_array(m->arena, int64_t, POINTS * o->place.rank + 1);
	places_draw(rng, &o->place, POINTS, o->index);
	uint64_t *at = arena_array(m->arena, uint64_t, o->listed);
	for (int i = 0; i < POINTS; i++)
		at[i] = (uint64_t)places_offset(&o->place, o->index + i * o->place.rank);
	if (npad > 0)
		memcpy(at + POINTS, pad, sizeof *at * (size_t)npad);
	o->at = at;
}

/* The calls of the oracle: each output's Fn, once for each point, symbols from 1. */
static void list_calls(Job *j, const LocalRef *r)
{
	for (size_t k = 0; k < j->call.n; k++) {
		JobCall *c = &j->call.at[k];
		const RefOut *o = &r->out.at[k];
		int64_t *sym = arena_array(j->arena, int64_t, POINTS * c->nsym);
		for (int i = 0; i < POINTS; i++) {
			sym[i * c->nsym] = i + 1;
			for (int d = 0; d < o->place.rank; d++)
				sym[i * c->nsym + 1 + d] = o->index[i * o->place.rank + d] + 1;
		}
		c->times = POINTS;
		c->sym = sym;
	}
}

/* The oracle as a job; NULL without an error: not by points. */
static Job *point_job(Local *m, LocalRef *r, Ir *ir, Err *err)
{
	bool poisoned = r->out.n > 0; /* else an element that was not written is not seen */
	for (size_t k = 0; k < r->out.n; k++)
		poisoned &= dtype_is_float(r->out.at[k].buf.type) && r->out.at[k].place.elements != 0;
	KernelSet *ks = poisoned ? points_set(ir, r->task->dag, err) : NULL;
	Job *j = ks != NULL ? job_new(JOB_REFERENCE, r, NULL) : NULL;
	if (j == NULL || !job_read_set(j, ks, err)) {
		job_free(j);
		return NULL;
	}
	Rng rng = rng_seed(r->seed + (uint64_t)r->serial);
	for (size_t k = 0; k < r->out.n; k++)
		list_points(m, &r->out.at[k], &rng);
	list_calls(j, r);
	return j;
}

/* False: interrupted. *ok: it was computed. */
static bool compute(Local *m, LocalRef *r, Job *j, bool *ok, Err *err)
{
	j->lane = LANE_ORACLE;
	local_queue(m, j);
	if (!local_wait_for(m, j))
		return fail(err, ERR_INTERRUPTED, r->task->label, "interrupted"); /* j is gone */
	*ok = j->result.status == RUN_OK;
	if (!*ok)
		fail(err, j->result.status == RUN_OOM ? ERR_MEMORY : ERR_DEVICE, r->task->label,
			"the reference could not be computed (%s): %s", run_status_text(j->result.status),
			j->result.detail);
	for (size_t k = 0; *ok && k < r->out.n; k++) {
		RefOut *o = &r->out.at[k];
		if (o->points == 0) {
			o->whole = arena_copy(m->arena, j->data.at[k].bytes, j->data.at[k].n);
			continue;
		}
		unsigned char *value = arena_alloc(m->arena, (size_t)dtype_bytes(o->buf.type, o->listed));
		memcpy(value, j->data.at[k].bytes, j->data.at[k].n);
		o->value = value;
	}
	return true;
}

static bool fill(Local *m, LocalRef *r, Arena *scratch, Err *err)
{
	bool ok = false;
	Job *j = point_job(m, r, ir_new(scratch), err);
	if (j != NULL && !compute(m, r, j, &ok, err))
		return false;
	if (ok) {
		r->oracle = j;
		vec_push(m->arena, &m->oracles, j);
		return true;
	}
	job_free(j);
	*err = (Err){ 0 }; /* where the points failed, the whole may still succeed */
	KernelSet *whole = op_naive(ir_new(scratch), r->task->dag, "k", NAIVE_F64, err);
	j = whole != NULL ? job_new(JOB_REFERENCE, r, NULL) : NULL;
	for (size_t k = 0; k < r->out.n; k++)
		r->out.at[k].points = 0;
	if (j != NULL && job_read_set(j, whole, err) && !compute(m, r, j, &ok, err))
		return false;
	job_free(j);
	return ok;
}

MeasureRef *local_reference(Measure *base, const Task *task, uint64_t seed, Err *err)
{
	Local *m = (Local *)base; /* its first member */
	if (m->o.target != NULL && !m->probe_asked)
		probe_build(m);
	LocalRef *r = arena_new_of(m->arena, LocalRef);
	r->task = task;
	r->seed = seed;
	r->serial = m->nref++;
	Arena *scratch = arena_new();
	bool ok = read_params(m, r, ir_new(m->arena), err) && fill(m, r, scratch, err);
	arena_free(scratch);
	probe_wait(m); /* so that the first candidate's record has the probe's figures */
	return ok ? (MeasureRef *)r : NULL;
}
