/*
 * The runner's answers: each phase of a job is one batch of messages, and when all of them are
 * answered the next phase begins or the job is done.
 *
 *	candidate   CHECK [JUDGE] TIME		entrant   CHECK [JUDGE]		race, network   TIME
 */
#include "measure/runner.h"

#include "dlc/dlc_runtime.h"

#include "runtime/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A device failed once more. After some failures in a row it is given up, where there are others. */
static void count_failure(Runner *x, const char *why)
{
	Local *m = x->m;
	if (local_others(x) == 0 || ++x->lost < METHOD_LOST_STARTS || x->gone)
		return;
	for (int i = 0; i < m->o.runners; i++)
		m->runner[i].gone |= m->runner[i].first == x->first;
	local_tell_lost(x, why);
}

/* Bytes that a candidate needs on its device, or that any candidate of its Task needs. */
static int64_t needed(const Job *j, bool any)
{
	int64_t all = 0;
	for (size_t k = 0; k < j->ref->in.n; k++)
		all += j->ref->in.at[k].bytes;
	for (size_t i = 0; i < j->buf.n; i++) {
		const JobBuf *b = &j->buf.at[i];
		bool own = b->role == BUF_OUT || (!any && (b->role == BUF_WORK || b->role == BUF_ZERO));
		all += own && b->in_run ? b->bytes : 0;
	}
	return all;
}

/* The device could be used. Those that refused the same job before could not: the job was not to blame. */
static void carried(Runner *x, const Job *j, RunStatus status)
{
	Local *m = x->m;
	x->lost = m->runner[x->first].lost = 0;
	for (int i = 0; i < m->o.runners; i++)
		if (i != x->first && (j->refusers >> i & 1) != 0)
			count_failure(&m->runner[i], m->runner[i].refusal);
	if (status == RUN_OK && (j->kind == JOB_CANDIDATE || j->kind == JOB_ENTRANT) && needed(j, false) > m->carried)
		m->carried = needed(j, false);
}

static void finish(Runner *x, RunStatus status, const char *detail)
{
	Job *j = x->running;
	x->running = NULL;
	x->waiting = false;
	if (status != RUN_DEVICE_LOST && !j->no_room)
		carried(x, j, status);
	if (status != RUN_OK)
		prepared_forget(x);
	j->result.probe_mflops = (int64_t)(x->gflops[0] * 1000);
	j->result.device = x->device;
	j->result.clock = status == RUN_OK ? j->result.clock : "";
	j->result.stage = status == RUN_OK ? j->result.stage : "";
	j->result.screen_ns = (int64_t)(uv_hrtime() - x->started_ns);
	child_deadline(&x->child, -1);
	local_pause(x, false);
	job_done(x->m, j, status, detail);
	local_step(x->m);
}

static void send_phase(Runner *x, Msg *msg, int ms)
{
	if (msg->full) {
		msg_free(msg);
		finish(x, RUN_OOM, "there is no memory for the messages");
		return;
	}
	child_send(&x->child, msg);
	child_deadline(&x->child, ms);
}

/* ---- samples ---- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/*
 * The median of the samples in which a program's threads kept their CPUs. On a machine that is busy all the time
 * hardly any do. Then a single thread's CPU time counts, which equals the wall time of a quiet machine. Threads of a
 * team sleep while they wait, so their CPU time says little: the fastest quarter of their samples counts, which lost
 * least.
 */
static void take_samples(Job *j, uint32_t program, const MsgSample *s, size_t n)
{
	int64_t *v = arena_array(j->arena, int64_t, n + 1), all = 0, kept = 0;
	bool aside = false, alone = true;
	for (size_t i = 0; i < n; i++) {
		if (s[i].program != program)
			continue;
		all++;
		aside |= s[i].aside != 0;
		alone &= s[i].cpu_ns > 0;
		if (!s[i].lost)
			v[kept++] = (int64_t)s[i].ns;
	}
	j->result.lost = all - kept;
	j->result.clock = "wall";
	if (kept * METHOD_KEPT_PART < all) {
		kept = 0;
		for (size_t i = 0; i < n; i++)
			if (s[i].program == program)
				v[kept++] = (int64_t)(alone ? s[i].cpu_ns : s[i].ns);
		qsort(v, (size_t)kept, sizeof *v, by_value);
		kept = alone ? kept : (kept + METHOD_FASTEST_PART - 1) / METHOD_FASTEST_PART;
		j->result.clock = alone ? "cpu" : "wall";
	}
	if (kept == 0)
		return;
	qsort(v, (size_t)kept, sizeof *v, by_value);
	int64_t median = v[kept / 2];
	j->result.median_ns = median > 0 ? median : 1;
	j->result.min_ns = v[0];
	j->result.samples = kept;
	j->result.stage = aside ? "look" : j->kind == JOB_ENTRANT ? "race" : "full";
	for (int64_t i = 0; i < kept; i++)
		v[i] = llabs((long long)(v[i] - median));
	qsort(v, (size_t)kept, sizeof *v, by_value);
	j->result.mad_ns = v[kept / 2];
}

/* The samples of all programs that were timed; without a race all are of the job's program. */
static void take_times(Job *j, const MsgTimes *t, const MsgSample *s)
{
	size_t n = (size_t)t->nsample;
	Job *first = j->kind == JOB_RACE ? j->racer[0] : j;
	first->result.waited_ms += (int64_t)(t->waited_ns / 1000000);
	if (n == 0)
		return;
	if (j->kind != JOB_RACE)
		take_samples(j, s[0].program, s, n);
	for (int i = 0; i < j->nracer; i++)
		take_samples(j->racer[i], (uint32_t)(2 * j->racer[i]->lane), s, n);
	if (j->kind == JOB_RACE)
		j->result.samples = (int64_t)n;
}

/* ---- phases ---- */

void runner_sample(Runner *x)
{
	Msg msg = { 0 };
	x->waiting = false;
	local_pause(x, true);
	ask_times(x, x->running, &msg);
	send_phase(x, &msg, x->m->o.run_ms);
}

/* Samples of two runners on the host's processors would disturb each other. */
static void begin_times(Runner *x, Job *j)
{
	j->phase = PHASE_TIME;
	x->waiting = local_waits(x);
	if (x->waiting)
		child_deadline(&x->child, -1);
	else
		runner_sample(x);
}

static void passed(Runner *x, Job *j)
{
	j->generation = x->generation;
	prepared_pass(j);
	if (j->kind == JOB_ENTRANT) {
		finish(x, RUN_OK, "");
	} else if (j->slow_ns > 0 && j->run_ns >= METHOD_FIRST_US * 1000 &&
		(double)j->run_ns > METHOD_FIRST * (double)j->slow_ns) {
		j->result.median_ns = j->result.min_ns = j->run_ns;
		j->result.samples = 1;
		j->result.lost = j->run_lost;
		j->result.clock = j->run_lost ? "cpu" : "wall";
		j->result.stage = "look";
		finish(x, RUN_OK, "");
	} else {
		begin_times(x, j);
	}
}

static void judged(Runner *x, Job *j, Verdict v)
{
	Msg msg = { 0 };
	switch (v) {
	case VERDICT_GOOD:
		verdict_adopt(x->m, j);
		passed(x, j);
		break;
	case VERDICT_DISPUTED:
		j->phase = PHASE_JUDGE;
		j->data.n = 0;
		ask_judge(x, j, &msg);
		send_phase(x, &msg, x->m->o.run_ms);
		break;
	case VERDICT_AGAIN:
		prepared_forget(x); /* a candidate that had passed may be wrong */
		j->phase = PHASE_CHECK;
		ask_check(x, j, &msg);
		send_phase(x, &msg, x->m->o.run_ms);
		break;
	case VERDICT_WRONG: finish(x, RUN_WRONG_RESULT, arena_printf(j->arena, "%s", j->result.detail)); break;
	}
}

/* ---- answers ---- */

static void take_refusal(Job *j, RunStatus status, const char *text, size_t n)
{
	if (j->refused)
		return; /* the first refusal has the reason; the others follow from it */
	j->refused = true;
	j->result.status = status;
	snprintf(j->result.detail, sizeof j->result.detail, "%.*s", (int)n, text);
}

/* Before a kernel of the job is launched, a failure of the device is not the job's fault. */
static RunStatus refused_status(const MsgRefused *f)
{
	switch (f->status) {
	case DLC_NO_MEMORY: return RUN_OOM;
	case DLC_DEVICE_MEMORY: return f->launched ? RUN_OOM : RUN_DEVICE_LOST;
	default: return !f->ends ? RUN_LAUNCH_ERROR : f->launched ? RUN_CRASH : RUN_DEVICE_LOST;
	}
}

static void take_answer(Runner *x, Job *j, const MsgView *msg)
{
	switch (msg->kind) {
	case MSG_COMPARED: vec_push(j->arena, &j->compared, *(const MsgCompared *)msg->fixed); break;
	case MSG_DATA: {
		const MsgData *f = msg->fixed;
		JobData d = { arena_copy(j->arena, msg->array[0], (size_t)f->ndata), (size_t)f->ndata };
		vec_push(j->arena, &j->data, d);
		break;
	}
	case MSG_TIMES: take_times(j, msg->fixed, msg->array[0]); break;
	case MSG_PROFILED: network_take(j, msg->fixed, msg->array[0]); break;
	case MSG_PROBED: {
		if (x->m->o.target != NULL) {
			take_device_probe(x, msg->serial, msg->fixed);
			x->gflops[0] = x->device.rate[PROBE_FMA];
			break;
		}
		double threads = x->m->o.threads;
		x->gflops[x->probes++ % 2] = ((const MsgProbed *)msg->fixed)->gflops;
		x->m->spare = x->probes == 2 && x->gflops[1] * 2 >= METHOD_SPARE * x->gflops[0] * (threads + 1) / threads;
		if (x->probes == x->probes_asked) { /* the driver may take seconds to build the code of the check */
			local_pause(x, false);
			local_step(x->m);
		}
		break;
	}
	case MSG_DONE: {
		const MsgDone *f = msg->fixed;
		if (f->run && !x->m->o.device) { /* a driver may build the kernel when it runs first */
			j->run_ns = (int64_t)f->run_ns;
			j->run_lost = f->lost != 0;
		}
		break;
	}
	case MSG_REFUSED: {
		const MsgRefused *f = msg->fixed;
		if (f->ends == 0 && probe_refused(x, msg->serial))
			break;
		j->no_room |= !j->refused && f->status == DLC_DEVICE_MEMORY && !f->launched;
		take_refusal(j, refused_status(f), msg->array[0], (size_t)f->ntext);
		break;
	}
	default: {
		const char *text = arena_printf(j->arena, "the runner answered with %s", msg_name(msg->kind));
		take_refusal(j, RUN_LAUNCH_ERROR, text, strlen(text));
	}
	}
}

/* What was asked for in this phase, and has come. */
static bool complete(const Job *j)
{
	size_t compared = 0, data = 0;
	if (j->kind == JOB_NETWORK || j->kind == JOB_RACE || j->phase == PHASE_TIME)
		return true;
	if (j->phase == PHASE_JUDGE) {
		size_t element = (size_t)dtype_bytes(j->ref->out.at[j->disputed].buf.type, 1);
		return j->data.n == 2 && j->data.at[0].n == element && j->data.at[1].n == element;
	}
	for (size_t k = 0; k < j->ref->out.n; k++) {
		const RefOut *o = &j->ref->out.at[k];
		bool read = j->kind == JOB_REFERENCE || o->whole == NULL; /* as when it was asked */
		int64_t bytes = j->kind == JOB_REFERENCE && o->points > 0 ? dtype_bytes(o->buf.type, o->points) : o->buf.bytes;
		compared += j->kind == JOB_REFERENCE ? 0 : o->points > 0 ? 2 : 1;
		if (read && (data >= j->data.n || (int64_t)j->data.at[data].n != bytes))
			return false;
		data += read;
	}
	return j->compared.n == compared && j->data.n == data;
}

/* A candidate whose outputs are compared. */
static bool is_checked(const Job *j)
{
	return (j->kind == JOB_CANDIDATE || j->kind == JOB_ENTRANT) && j->phase != PHASE_TIME;
}

static const ChildHooks hooks;

static bool start_child(Runner *x, Err *err)
{
	x->generation = ++x->m->generations;
	x->loaded_bytes = 0;
	x->numbered = 0;
	return child_open(&x->child, &x->m->loop, &hooks, x, x->m->o.runner[x->index].argv, err);
}

/* The runner is free, and another takes its job, or the same one again. */
static void hand_back(Runner *x)
{
	Job *j = x->running;
	x->running = NULL;
	x->waiting = false;
	child_deadline(&x->child, -1);
	local_pause(x, false);
	local_again(x->m, j);
}

/*
 * The child ended before its first message: the job is not to blame. Another device takes the job, unless the job may
 * have caused the loss and might cost the others too. A race begins again (race.c). A second runner leaves the job to
 * the first, which shows whether the device is lost.
 */
static void lose(Runner *x, const char *why)
{
	bool suspect = x->crashed;
	x->crashed = false;
	if (x->first != x->index && !suspect) {
		x->gone |= ++x->lost >= METHOD_LOST_STARTS;
		hand_back(x);
		return;
	}
	count_failure(x, why);
	if (suspect || x->running->kind == JOB_RACE || local_others(x) == 0)
		finish(x, RUN_DEVICE_LOST, why);
	else
		hand_back(x);
}

/*
 * The job needs more than its device has in all, or more than any that ran. Other programs can fill a device at any
 * time: then jobs are refused that ran before, and what is larger says nothing until one of them runs again.
 */
static bool too_large(const Runner *x, const Job *j)
{
	Local *m = x->m;
	int64_t bytes = needed(j, false);
	if (x->device_bytes > 0 && needed(j, true) >= x->device_bytes)
		return false; /* no schedule of the Task fits */
	if (x->device_bytes > 0 && bytes >= x->device_bytes)
		return true;
	if (m->carried > 0 && bytes > m->carried)
		return true;
	m->carried = 0;
	return false;
}

/* The device lacks memory for the job or has failed, before a kernel of it ran. Each other device tries it once. */
static void refuse(Runner *x, const char *why)
{
	Job *j = x->running;
	bool anywhere = local_anywhere(j);
	snprintf(x->refusal, sizeof x->refusal, "%s", why);
	j->refusers |= 1u << x->first;
	if (!anywhere && !j->no_room)
		lose(x, why);
	else if (anywhere && local_untried(x, j))
		hand_back(x);
	else
		finish(x, anywhere && j->no_room && too_large(x, j) ? RUN_OOM : RUN_DEVICE_LOST, why);
}

/* The candidate or the device made the child fail; the next child shows which. A CPU is never lost. */
static void crash(Runner *x, const char *why)
{
	Err err = { 0 };
	Job *j = x->running;
	if (!x->m->o.device) {
		finish(x, RUN_CRASH, why);
		return;
	}
	snprintf(j->result.detail, sizeof j->result.detail, "%s", why);
	x->crashed = true;
	x->waiting = false;
	local_pause(x, false);
	if (start_child(x, &err)) {
		child_deadline(&x->child, METHOD_START_MS);
		local_step(x->m);
	} else {
		lose(x, arena_printf(j->arena, "%s: %s", err.place, err.text));
	}
}

static void refused(Runner *x, const Job *j)
{
	const char *why = arena_printf(j->arena, "%s", j->result.detail);
	if (j->result.status == RUN_CRASH)
		crash(x, why);
	else if (j->result.status == RUN_DEVICE_LOST)
		refuse(x, why);
	else
		finish(x, j->result.status, why);
}

static const char other_version[] = "dlc-worker is of another version than dlc";

static void on_frame(Child *c, const MsgView *msg)
{
	Runner *x = c->owner;
	Job *j = x->running;
	if (msg->kind == MSG_HELLO) {
		const MsgHello *f = msg->fixed;
		x->cores = f->cores;
		x->device_bytes = f->device == DLC_DEVICE_CUDA ? (int64_t)f->device_bytes : 0; /* else of one allocation */
		x->own_processors = f->on_cpu == 0;
		x->other_version = f->version != MSG_VERSION;
		if (x->other_version && j != NULL)
			finish(x, RUN_DEVICE_LOST, other_version);
		else if (x->crashed)
			finish(x, RUN_CRASH, arena_printf(j->arena, "%s", j->result.detail));
		x->crashed = false;
		local_pause(x, x->sampling); /* whether samples stop others depends on what it has said */
		local_step(x->m);
	}
	if (msg->kind == MSG_HELLO || j == NULL)
		return;
	take_answer(x, j, msg);
	if (msg->kind == MSG_REFUSED && ((const MsgRefused *)msg->fixed)->ends) {
		child_close(&x->child);
		refused(x, j);
		return;
	}
	if (--j->answers > 0)
		return;
	/* Another device has sent outputs since. */
	bool outdated = is_checked(j) && j->outputs_version != j->ref->outputs_version;
	if (!j->refused && !outdated && !complete(j))
		take_refusal(j, RUN_LAUNCH_ERROR, "the runner sent other answers than were asked for", 50);
	if (j->refused && j->ref != NULL) /* a buffer of the Task may have been refused: send all again */
		j->ref->at[x->index].loaded = j->ref->at[x->index].whole_loaded = 0;
	if (!j->refused && outdated)
		judged(x, j, VERDICT_AGAIN);
	else if (j->refused)
		refused(x, j);
	else if (j->kind == JOB_REFERENCE || j->kind == JOB_NETWORK || j->kind == JOB_STATE)
		finish(x, RUN_OK, "");
	else if (j->phase == PHASE_TIME)
		finish(x, j->result.samples > 0 ? RUN_OK : RUN_RUN_TIMEOUT, j->result.samples > 0 ? "" : "no sample was taken");
	else
		judged(x, j, j->phase == PHASE_CHECK ? verdict_of_check(x->m, j) : verdict_of_judge(x->m, j));
}

static void on_end(Child *c, const ChildEnd *e)
{
	Runner *x = c->owner;
	if (x->running == NULL)
		return;
	if (x->crashed || e->silent || (!e->late && !e->spoke))
		lose(x, e->text);
	else if (e->late)
		finish(x, RUN_RUN_TIMEOUT, e->text);
	else
		crash(x, e->text);
}

static const ChildHooks hooks = { on_frame, on_end };

/* ---- beginning ---- */

static bool open_runner(Runner *x, const Job *j)
{
	Err err = { 0 };
	if (x->child.io != NULL && (x->loaded_bytes > (int64_t)METHOD_LOADED_MIB << 20 || !ask_task_fits(x, j->ref)))
		child_close(&x->child);
	if (x->child.io != NULL)
		return true;
	if (start_child(x, &err))
		return true;
	lose(x, arena_printf(j->arena, "%s: %s", err.place, err.text));
	return false;
}

void runner_start(Runner *x, Job *j)
{
	Local *m = x->m;
	x->running = j;
	x->started_ns = uv_hrtime();
	j->answers = 0; /* a lost device does not send the missing ones */
	j->refused = j->no_room = false;
	j->phase = PHASE_CHECK; /* it may have come further on another device */
	j->compared.n = j->data.n = 0;
	j->result.samples = 0;
	if (!open_runner(x, j))
		return;
	if (x->other_version) {
		finish(x, RUN_DEVICE_LOST, other_version);
		return;
	}
	Msg msg = { 0 };
	/* The speed of the machine, and whether it has a spare core, change with its other work. */
	bool old = x->probed_ns == 0 || uv_hrtime() - x->probed_ns > METHOD_PROBE_EVERY_MS * 1000000ull;
	if ((j->kind == JOB_CANDIDATE || j->kind == JOB_ENTRANT) && old) {
		x->probed_ns = uv_hrtime();
		x->probes = 0;
		m->spare = false; /* nothing runs beside the probe */
		local_pause(x, m->o.target == NULL);
		ask_probe(x, j, &msg);
	}
	switch (j->kind) {
	case JOB_NETWORK:
		j->phase = PHASE_TIME;
		local_pause(x, true);
		ask_networks(x, j, &msg);
		break;
	case JOB_STATE:
		j->phase = PHASE_TIME;
		ask_device_probe(x, j, &msg);
		break;
	case JOB_RACE: begin_times(x, j); return;
	case JOB_REFERENCE: ask_reference(x, j, &msg); break;
	default: ask_check(x, j, &msg);
	}
	if (j->answers == 0) { /* the device's probe was not built */
		msg_free(&msg);
		finish(x, RUN_COMPILE_ERROR, m->probe_why);
		return;
	}
	int network_ms = METHOD_NETWORK_MS + (m->o.device ? j->nnet * METHOD_DEVICE_NETWORK_MS : 0);
	send_phase(x, &msg, j->kind == JOB_CANDIDATE || j->kind == JOB_ENTRANT ? m->o.run_ms : network_ms);
	if (m->paused)
		local_pause(x, x->sampling);
}

void runner_close(Runner *x)
{
	child_close(&x->child);
	job_free(x->running);
	x->running = NULL;
	x->crashed = x->waiting = false;
}
