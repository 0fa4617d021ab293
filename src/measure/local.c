/*
 * Builders compile, runners check and time; each candidate is a Job that walks
 *
 *	QUEUED -> BUILDING -> BUILT -> CHECKING -> TIMING -> a result
 *
 * and leaves early with a status if the child that holds it ends.  A job waits for one child at a time, and every wait
 * has a deadline.  A runner keeps the inputs and the reference values of the Tasks it has seen; a new one gets them
 * again.  The next candidate goes to any free device. Races and networks, whose times decide, run on the first
 * device that is not lost.
 */
#include "measure/runner.h"

#include "dlc/dlc_runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- jobs ---- */

static void push(Queue *q, Job *j)
{
	j->next = NULL;
	if (q->last != NULL)
		q->last->next = j;
	else
		q->first = j;
	q->last = j;
}

static Job *pop(Queue *q)
{
	Job *j = q->first;
	if (j != NULL && (q->first = j->next) == NULL)
		q->last = NULL;
	return j;
}

void job_done(Local *m, Job *j, RunStatus status, const char *detail)
{
	if (j->kind == JOB_PROBE) { /* if it failed, records have no figures of it */
		m->probe_failed = true;
		snprintf(m->probe_why, sizeof m->probe_why, "%s", detail);
		job_free(j);
		uv_stop(&m->loop);
		return;
	}
	j->result.status = status;
	snprintf(j->result.detail, sizeof j->result.detail, "%s", detail);
	push(&m->done, j);
	uv_stop(&m->loop);
}

/* ---- builders ---- */

static const char other_version[] = "the builder is of another version than dlc";

/* The bytes are the array of a BUILT. */
static void take_built(Local *m, Job *j, const void *bytes, size_t n, int64_t ns)
{
	char why[MSG_WHY] = "it has no image, or part of one";
	const unsigned char *at = arena_copy(j->arena, bytes, n), *end = at + n;
	bool ok = at < end;
	for (MsgView v; ok && at < end; at += v.size)
		ok = j->nimage < MSG_IMAGES && msg_parse(at, (size_t)(end - at), &v, why) == MSG_OK &&
			msg_image_read(&v, &j->image[j->nimage++], why);
	if (!ok) {
		job_done(m, j, RUN_COMPILE_ERROR, arena_printf(j->arena, "the builder sent a damaged answer: %s", why));
		return;
	}
	j->result.compile_ns = ns;
	if (j->kind == JOB_PROBE) {
		m->probe = j;
		uv_stop(&m->loop);
	} else {
		push(&m->built, j);
	}
}

static void on_builder_frame(Child *c, const MsgView *msg)
{
	Builder *b = c->owner;
	Job *j = b->job;
	if (msg->kind == MSG_HELLO)
		b->other_version = ((const MsgHello *)msg->fixed)->version != MSG_VERSION;
	if (j == NULL || (msg->kind == MSG_HELLO && !b->other_version))
		return;
	child_deadline(c, -1);
	b->job = NULL;
	if (b->other_version) {
		job_done(b->m, j, RUN_DEVICE_LOST, other_version);
	} else if (msg->kind == MSG_BUILT) {
		const MsgBuilt *f = msg->fixed;
		kept_builds_add(&b->m->kept, j, msg->array[0], f->nbytes, (int64_t)f->ns);
		take_built(b->m, j, msg->array[0], f->nbytes, (int64_t)f->ns);
	} else if (msg->kind == MSG_REFUSED) {
		const MsgRefused *f = msg->fixed;
		job_done(b->m, j, f->status == DLC_NO_MEMORY ? RUN_OOM : RUN_COMPILE_ERROR,
			arena_printf(j->arena, "%.*s", (int)f->ntext, (const char *)msg->array[0]));
	} else if (msg->kind == MSG_PRUNED) {
		const MsgRefused *f = msg->fixed;
		j->result.pruned = true;
		job_done(b->m, j, RUN_CONSTRAINT,
			arena_printf(j->arena, "%.*s", (int)f->ntext, (const char *)msg->array[0]));
	} else {
		job_done(b->m, j, RUN_COMPILE_ERROR, "the builder sent a message that answers no BUILD");
	}
	local_step(b->m);
}

static void on_builder_end(Child *c, const ChildEnd *e)
{
	Builder *b = c->owner;
	Job *j = b->job;
	b->job = NULL;
	if (j == NULL)
		b->lost++;
	else
		job_done(b->m, j, e->silent ? RUN_DEVICE_LOST : e->late ? RUN_COMPILE_TIMEOUT : RUN_COMPILE_ERROR,
			arena_printf(j->arena, "the builder ended: %s", e->text));
	local_step(b->m);
}

static const ChildHooks builder_hooks = { on_builder_frame, on_builder_end };

/* How many builders may run beside a sample: the probe knows of one core more. */
static int first_paused(const Local *m)
{
	return m->spare ? 1 : 0;
}

static void start_build(Local *m, Builder *b, Job *j)
{
	Err err = { 0 };
	if (b->child.io == NULL) {
		b->other_version = false;
		if (!child_open(&b->child, &m->loop, &builder_hooks, b, m->o.builder, &err)) {
			job_done(m, j, RUN_DEVICE_LOST, arena_printf(j->arena, "%s: %s", err.place, err.text));
			return;
		}
	}
	if (b->other_version) {
		job_done(m, j, RUN_DEVICE_LOST, other_version);
		return;
	}
	Msg msg = { 0 };
	MsgBuild f = { .ntext = strlen(j->text), .prune = j->prune, .host = j->kind == JOB_REFERENCE };
	msg_begin(&msg, MSG_BUILD, ++m->serial, &f);
	msg_add(&msg, j->text, f.ntext);
	if (!msg_end(&msg)) {
		msg_free(&msg);
		job_done(m, j, RUN_OOM, "there is no memory for the message");
		return;
	}
	b->job = j;
	if (m->paused && b - m->builder >= first_paused(m))
		child_pause(&b->child, true);
	child_send(&b->child, &msg);
	child_deadline(&b->child, j->kind == JOB_REFERENCE ? METHOD_REFERENCE_MS : m->o.build_ms);
}

/* ---- the loop ---- */

Runner *local_first(Local *m)
{
	int i = 0, last = 0;
	for (; i < m->o.runners && m->runner[last].gone; i++)
		last = m->runner[i].first;
	return &m->runner[last];
}

/* The device's first child has said that it runs on the host's processors. */
static bool is_on_host(const Runner *x)
{
	const Runner *first = &x->m->runner[x->first];
	return first->cores > 0 && !first->own_processors;
}

bool local_waits(const Runner *x)
{
	return x->m->paused && !x->sampling && is_on_host(x);
}

/* Runner i is the first of another device, which is not gone. */
static bool is_other(const Runner *x, int i)
{
	const Runner *other = &x->m->runner[i];
	return other->first == i && !other->gone && i != x->first;
}

int local_others(const Runner *x)
{
	int n = 0;
	for (int i = 0; i < x->m->o.runners; i++)
		n += is_other(x, i);
	return n;
}

/* A second runner gets no jobs before its device is known to run on the host's processors. */
static bool takes_jobs(const Runner *x)
{
	bool second = x->first != x->index;
	return !local_waits(x) && (second ? is_on_host(x) && !x->gone : !x->gone || local_others(x) == 0);
}

bool local_anywhere(const Job *j)
{
	return j->kind == JOB_CANDIDATE || j->kind == JOB_REFERENCE;
}

bool local_untried(const Runner *x, const Job *j)
{
	bool any = false;
	for (int i = 0; i < x->m->o.runners; i++)
		any |= is_other(x, i) && (j->refusers >> i & 1) == 0;
	return any;
}

void local_tell_lost(const Runner *x, const char *why)
{
	char sentence[400];
	int n = local_others(x);
	snprintf(sentence, sizeof sentence, "device %s is lost (%s); the search goes on with %d other%s",
		x->m->o.runner[x->index].name, why, n, n == 1 ? "" : "s");
	if (x->m->o.note != NULL)
		x->m->o.note(sentence, x->m->o.note_arg);
}

/* The first job that is ready for this runner; NULL: none. */
static Job *take_ready(Runner *x)
{
	Local *m = x->m;
	Job *before = NULL;
	for (Job *j = m->built.first; j != NULL; before = j, j = j->next) {
		bool refused = (j->refusers >> x->first & 1) != 0;
		if (local_anywhere(j) ? refused && local_untried(x, j) : x != local_first(m))
			continue;
		*(before != NULL ? &before->next : &m->built.first) = j->next;
		if (m->built.last == j)
			m->built.last = before;
		return j;
	}
	return NULL;
}

void local_step(Local *m)
{
	for (int i = 0; i < m->o.builders && m->queued.first != NULL; i++)
		if (m->builder[i].job == NULL)
			start_build(m, &m->builder[i], pop(&m->queued));
	for (int i = 0; i < m->o.runners; i++)
		if (m->runner[i].waiting && !local_waits(&m->runner[i]))
			runner_sample(&m->runner[i]);
	for (int i = 0, first = m->next; i < m->o.runners; i++) {
		Runner *x = &m->runner[(first + i) % m->o.runners];
		Job *j = NULL;
		while (x->running == NULL && takes_jobs(x) && (j = take_ready(x)) != NULL) {
			m->next = (x->index + 1) % m->o.runners;
			runner_start(x, j);
		}
	}
}

void local_again(Local *m, Job *j)
{
	j->next = m->built.first;
	m->built.first = j;
	if (m->built.last == NULL)
		m->built.last = j;
	local_step(m);
}

void local_queue(Local *m, Job *j)
{
	const KeptBuild *k = kept_builds_find(&m->kept, j);
	if (k != NULL)
		take_built(m, j, k->bytes, k->n, k->ns);
	else
		push(&m->queued, j);
	local_step(m);
}

void local_ready(Local *m, Job *j)
{
	push(&m->built, j);
	local_step(m);
}

void local_pause(Runner *x, bool sampling)
{
	Local *m = x->m;
	bool pause = false;
	x->sampling = sampling;
	for (int i = 0; i < m->o.runners; i++)
		pause |= m->runner[i].sampling && !m->runner[i].own_processors;
	for (int i = pause ? first_paused(m) : 0; i < m->o.builders && pause != m->paused; i++)
		child_pause(&m->builder[i].child, pause);
	m->paused = pause;
	for (int i = 0; i < m->o.runners; i++)
		child_pause(&m->runner[i].child, local_waits(&m->runner[i]) && !m->spare);
}

static void on_timer(uv_timer_t *t)
{
	uv_stop(t->loop);
}

/* Runs the loop until a job is done or ms have passed; NULL: none is. */
static Job *wait_done(Local *m, int ms)
{
	if (m->done.first == NULL) {
		uv_timer_start(&m->timer, on_timer, (uint64_t)ms, 0);
		uv_run(&m->loop, UV_RUN_DEFAULT);
		uv_timer_stop(&m->timer);
	}
	return pop(&m->done);
}

void local_turn(Local *m, int ms)
{
	Job *j = wait_done(m, ms);
	if (j != NULL)
		push(&m->done, j);
}

static Local *local_of(Measure *base)
{
	return (Local *)base; /* its first member */
}

static void cancel(Measure *base)
{
	Local *m = local_of(base);
	for (int i = 0; i < MEASURE_BUILDERS; i++) {
		child_close(&m->builder[i].child);
		job_free(m->builder[i].job);
		m->builder[i].job = NULL;
	}
	for (int i = 0; i < m->o.runners; i++) {
		runner_close(&m->runner[i]);
		m->runner[i].sampling = false;
	}
	m->paused = false;
	for (Queue *all[] = { &m->queued, &m->built, &m->done }, **q = all; q < all + 3; q++)
		while ((*q)->first != NULL)
			job_free(pop(*q));
	m->pending = 0;
}

bool local_wait_for(Local *m, const Job *j)
{
	Queue others = { 0 };
	const Job *d = NULL;
	while (d != j && (m->o.stop == NULL || *m->o.stop == 0)) {
		Job *any = wait_done(m, METHOD_LOOK_MS);
		if (m->o.tick != NULL)
			m->o.tick(m->o.tick_arg);
		if (any != NULL && any != j)
			push(&others, any);
		d = any;
	}
	while (m->done.first != NULL)
		push(&others, pop(&m->done));
	m->done = others;
	if (d != j)
		cancel(&m->base);
	return d == j;
}

/* A write to a child that has ended fails; SIGPIPE would end this process. Ignored while any Measure is open. */
static void ignore_broken_pipes(bool on)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct sigaction before;
	static int users;
	pthread_mutex_lock(&lock);
	if (on && users++ == 0)
		sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, &before);
	else if (!on && --users == 0)
		sigaction(SIGPIPE, &before, NULL);
	pthread_mutex_unlock(&lock);
}

static void abandon(Measure *base)
{
	Local *m = local_of(base);
	for (int i = 0; i < MEASURE_BUILDERS; i++)
		child_abandon(&m->builder[i].child);
	for (int i = 0; i < m->o.runners; i++)
		child_abandon(&m->runner[i].child);
	ignore_broken_pipes(false);
}

static void close_all(Measure *base)
{
	Local *m = local_of(base);
	cancel(base);
	for (size_t i = 0; i < m->oracles.n; i++)
		job_free(m->oracles.at[i]);
	job_free(m->probe);
	kept_builds_free(&m->kept);
	uv_close((uv_handle_t *)&m->timer, NULL);
	for (uint64_t end = uv_hrtime() + METHOD_SHUT_MS * 1000000ull; uv_loop_alive(&m->loop) && uv_hrtime() < end;)
		uv_run(&m->loop, UV_RUN_ONCE);
	uv_loop_close(&m->loop);
	ignore_broken_pipes(false);
	arena_free(m->arena);
	free(m);
}

static bool submit(Measure *base, const MeasureJob *job, Err *err)
{
	Local *m = local_of(base);
	Job *j = job_new(JOB_CANDIDATE, (LocalRef *)job->ref, job->user);
	j->slow_ns = job->slow_ns;
	j->good_ns = job->good_ns;
	j->prune = !job->keep;
	j->trace = job->trace != NULL ? arena_printf(j->arena, "%s", job->trace) : "";
	if (!job_read_set(j, job->ks, err)) {
		job_free(j);
		return false;
	}
	m->pending++;
	local_queue(m, j);
	uv_run(&m->loop, UV_RUN_NOWAIT); /* a caller that was long about this candidate has others waiting */
	return true;
}

static bool wait(Measure *base, int ms, MeasureResult *out)
{
	Local *m = local_of(base);
	Job *j = wait_done(m, ms);
	if (j == NULL)
		return false;
	*out = j->result;
	m->pending--;
	job_free(j);
	return true;
}

static void turn(Measure *base)
{
	Local *m = local_of(base);
	uv_run(&m->loop, UV_RUN_NOWAIT);
	if (m->paused && m->spare)
		child_pause(&m->builder[0].child, true); /* until local_pause lets all go on */
	while (m->paused && !m->spare && (m->o.stop == NULL || *m->o.stop == 0))
		uv_run(&m->loop, UV_RUN_ONCE);
}

static int pending(const Measure *base)
{
	return ((const Local *)base)->pending;
}

static int flight(const Measure *base)
{
	const Local *m = (const Local *)base;
	return m->o.builders + 2 * m->o.runners;
}

static void cold(Measure *base, int64_t bytes)
{
	local_of(base)->cold_bytes = bytes;
}

#define WAYS local_reference, submit, wait, local_race, turn, pending, flight, cancel, local_networks, cold, \
	close_all, abandon, local_probe

static const MeasureWay way_cpu = {
	"2: wall clock of the slowest thread, of samples that kept their processors, else CPU time of one thread, fastest "
	"quarter of several; constants and code cold, inputs warm; median of calls, of finalists' in turns",
	WAYS };
static const MeasureWay way_device = {
	"device 1: from a mark before the launches to one behind them, of samples that kept their processors, else the "
	"fastest quarter; constants cold, inputs just written; median of calls, of finalists' in turns",
	WAYS };

/* libuv needs this many for its loop, and aborts if it gets none for its first pipe. */
static bool descriptors_left(void)
{
	enum { LOOP = 8 };
	int fd[LOOP], n = 0;
	while (n < LOOP && (fd[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fd[i]);
	return n == LOOP;
}

Measure *measure_open(const MeasureOptions *o, Err *err)
{
	Local *m = calloc(1, sizeof *m);
	if (m == NULL) {
		fail(err, ERR_MEMORY, "measure", "out of memory");
		return NULL;
	}
	m->base.way = o->device ? &way_device : &way_cpu;
	m->o = *o;
	m->arena = arena_new();
	m->o.runner = arena_copy(m->arena, o->runner, sizeof *o->runner * (size_t)o->runners);
	int rc = descriptors_left() ? uv_loop_init(&m->loop) : UV_EMFILE;
	if (rc != 0) {
		fail(err, ERR_DEVICE, "measure", "no event loop: %s", uv_strerror(rc));
		arena_free(m->arena);
		free(m);
		return NULL;
	}
	uv_timer_init(&m->loop, &m->timer);
	ignore_broken_pipes(true);
	for (int i = 0; i < MEASURE_BUILDERS; i++)
		m->builder[i].m = m;
	for (int i = 0, first = 0; i < MEASURE_RUNNERS; i++) {
		first = i < o->runners && o->runner[i].second ? first : i;
		m->runner[i] = (Runner){ .m = m, .index = i, .first = first };
	}
	return &m->base;
}
