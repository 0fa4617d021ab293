/*
 * The runner's side of a job: buffers, programs, check, timing, as messages to a dlc-worker.
 *
 * A candidate: its task's buffers (unless this runner has them), IMAGE, its own buffers, PROGRAM,
 * RUN, one COMPARE for each output; when all are answered and nothing is wrong, TIME.  A reference:
 * the same with one READ for each output.  A network: BUNDLE, TIME.
 */
#include "measure/local.h"

#include "dlc/dlc_runtime.h"

#include "ir/interp.h"
#include "ir/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_BUFFERS = 32768 /* below: of tasks; from there on: of candidates */, PROGRAM_RUN = 1, PROGRAM_PREPARE = 2, PROGRAM_NETWORK = 3 };
enum { SAMPLES = 9, NETWORK_SAMPLES = 15, NETWORK_WARMUP = 1, NETWORK_MS = 60000, SCREEN_MS = 10 };
#define LOADED_BYTES ((int64_t)2 << 30)

/* ---- what a set needs ---- */

static int find_buf(const Job *j, const char *name)
{
	for (size_t i = 0; i < j->buf.n; i++)
		if (strcmp(j->buf.at[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool add_buf(Job *j, const Fn *fn, const Buf *b, int *at, Err *err)
{
	*at = find_buf(j, b->name);
	if (*at >= 0) {
		if (b->role == BUF_OUT && j->buf.at[*at].role != BUF_OUT && fn->kind == FN_RUN)
			j->buf.at[*at].role = BUF_OUT;
		return true;
	}
	int64_t n = ir_buf_elements(b, fn, NULL, 0), bytes = n < 0 ? -1 : dtype_bytes(b->type, n);
	if (bytes < 0)
		return fail(err, ERR_MEMORY, b->name, "the buffer's size overflows");
	JobBuf row = { .name = arena_printf(j->arena, "%s", b->name),
		.role = fn->kind == FN_PREPARE && b->role == BUF_OUT ? BUF_WORK : b->role,
		.type = b->type,
		.elements = n,
		.bytes = bytes > 0 ? bytes : 1 };
	*at = (int)j->buf.n;
	vec_push(j->arena, &j->buf, row);
	return true;
}

bool job_read_set(Job *j, const KernelSet *ks, Err *err)
{
	Text t = { .arena = j->arena };
	ir_print_set(&t, ks);
	j->text = text_str(&t);
	for (int prepare = 1; prepare >= 0; prepare--)
		for (size_t i = 0; i < ks->n; i++) {
			const Fn *fn = ks->fn[i];
			if (fn->kind != (prepare ? FN_PREPARE : FN_RUN))
				continue;
			if (fn->nsym != 0)
				return fail(err, ERR_UNSUPPORTED, fn->name, "symbols must be bound to be measured");
			JobCall c = { .fn = arena_printf(j->arena, "%s", fn->name), .prepare = prepare != 0 };
			c.buf = arena_array(j->arena, int, fn->nparam);
			for (int k = 0; k < fn->nparam; k++)
				if (fn->param[k].buf != NULL && !add_buf(j, fn, fn->param[k].buf, &c.buf[c.n++], err))
					return false;
			vec_push(j->arena, &j->call, c);
		}
	return true;
}

bool ref_read_params(Local *m, LocalRef *r, const Job *j, Err *err)
{
	for (size_t i = 0; i < j->buf.n; i++) {
		JobBuf b = j->buf.at[i];
		if (b.role == BUF_WORK)
			continue;
		b.name = arena_printf(m->arena, "%s", b.name);
		bool out = b.role == BUF_OUT;
		if (r->in.n + r->out.n == OWN_BUFFERS)
			return fail(err, ERR_UNSUPPORTED, b.name, "a task has at most %d tensors", OWN_BUFFERS);
		if (out)
			vec_push(m->arena, &r->out, b);
		else
			vec_push(m->arena, &r->in, b);
	}
	r->want = arena_array(m->arena, unsigned char *, r->out.n);
	return true;
}

/* ---- writing messages ---- */

static void ask(Local *m, Job *j, Msg *msg, MsgKind kind, const void *fixed, const void *array, size_t bytes)
{
	msg_begin(msg, kind, ++m->serial, fixed);
	if (array != NULL)
		msg_add(msg, array, bytes);
	if (!msg_end(msg))
		msg->full = true;
	j->answers++;
}

static void ask_buffer(Local *m, Job *j, Msg *msg, const JobBuf *b, MsgFill fill, uint64_t seed, const void *data)
{
	bool whole = dtype_is_int(b->type) || b->type.kind == DT_BOOL;
	MsgBuffer f = { .buffer = b->id,
		.fill = (uint32_t)fill,
		.code = b->type.kind,
		.bits = b->type.bits,
		.bytes = (uint64_t)b->bytes,
		.seed = seed,
		.lo = whole ? 0 : -1,
		.hi = b->type.kind == DT_BOOL ? 1 : whole ? 7 : 1,
		.ndata = data != NULL ? (uint64_t)b->bytes : 0 };
	ask(m, j, msg, MSG_BUFFER, &f, data, (size_t)f.ndata);
}

static uint64_t seed_of(const LocalRef *r, size_t k)
{
	return r->seed * 0x9e3779b97f4a7c15u + (uint64_t)r->serial * 1000 + k;
}

/* Whether the runner has numbers for the task's buffers, or has enough of them left. */
static bool task_fits(const Local *m, const LocalRef *r)
{
	return r == NULL || r->numbered == m->generation || r->in.n + r->out.n <= OWN_BUFFERS - m->given;
}

static void number_task(Local *m, LocalRef *r)
{
	if (r->numbered == m->generation)
		return;
	for (size_t k = 0; k < r->in.n; k++)
		r->in.at[k].id = m->given++;
	for (size_t k = 0; k < r->out.n; k++)
		r->out.at[k].id = m->given++;
	r->numbered = m->generation;
}

/* The task's inputs and, once known, its expected outputs. */
static void ask_task(Local *m, Job *j, Msg *msg)
{
	LocalRef *r = j->ref;
	number_task(m, r);
	if (r->loaded == m->generation)
		return;
	for (size_t k = 0; k < r->in.n; k++) {
		ask_buffer(m, j, msg, &r->in.at[k], MSG_FILL_RANDOM, seed_of(r, k), NULL);
		m->loaded_bytes += r->in.at[k].bytes;
	}
	if (j->kind == JOB_REFERENCE)
		return; /* which computes what is expected */
	for (size_t k = 0; k < r->out.n; k++) {
		ask_buffer(m, j, msg, &r->out.at[k], MSG_FILL_DATA, 0, r->want[k]);
		m->loaded_bytes += r->out.at[k].bytes;
	}
	r->loaded = m->generation;
}

/* Numbers for the set's buffers: the task's inputs where they have its names, else its own. */
static void ask_own_buffers(Local *m, Job *j, Msg *msg)
{
	for (size_t i = 0; i < j->buf.n; i++) {
		JobBuf *b = &j->buf.at[i];
		b->id = OWN_BUFFERS + (uint32_t)i;
		bool given = false;
		for (size_t k = 0; k < j->ref->in.n && b->role != BUF_WORK && b->role != BUF_OUT; k++)
			if (strcmp(j->ref->in.at[k].name, b->name) == 0) {
				b->id = j->ref->in.at[k].id;
				given = true;
			}
		if (!given)
			ask_buffer(m, j, msg, b, MSG_FILL_ZERO, 0, NULL);
	}
}

static int entry_of(const Job *j, const char *fn)
{
	for (int i = 0; i < j->nentry; i++)
		if (strcmp(j->entry[i].name, fn) == 0)
			return i;
	return -1;
}

/* False: the set has no call of this kind. */
static bool ask_program(Local *m, Job *j, Msg *msg, bool prepare)
{
	VEC(MsgCall) call = { 0 };
	VEC(MsgArg) arg = { 0 };
	for (size_t i = 0; i < j->call.n; i++) {
		const JobCall *c = &j->call.at[i];
		int entry = entry_of(j, c->fn);
		if (c->prepare != prepare || entry < 0)
			continue;
		MsgCall row = { .module = 1, .entry = (uint32_t)entry, .arg = (uint32_t)arg.n, .narg = (uint32_t)c->n };
		vec_push(j->arena, &call, row);
		for (int k = 0; k < c->n; k++) {
			const JobBuf *b = &j->buf.at[c->buf[k]];
			MsgArg a = { .buffer = b->id, .output = b->role == BUF_OUT, .bytes = (uint64_t)b->bytes };
			vec_push(j->arena, &arg, a);
		}
	}
	if (call.n == 0)
		return false;
	MsgProgram f = { .program = prepare ? PROGRAM_PREPARE : PROGRAM_RUN,
		.threads = prepare ? 1 : (uint32_t)m->o.threads,
		.ncall = call.n,
		.narg = arg.n };
	msg_begin(msg, MSG_PROGRAM, ++m->serial, &f);
	msg_add(msg, call.at, sizeof *call.at * call.n);
	msg_add(msg, arg.at, sizeof *arg.at * arg.n);
	msg_add(msg, NULL, 0);
	if (!msg_end(msg))
		msg->full = true;
	j->answers++;
	MsgRun run = { .program = f.program };
	ask(m, j, msg, MSG_RUN, &run, NULL, 0);
	return true;
}

static void ask_check(Local *m, Job *j, Msg *msg)
{
	ask_task(m, j, msg);
	MsgImage image = { .module = 1, .nentry = (uint64_t)j->nentry, .nimage = j->nimage };
	msg_begin(msg, MSG_IMAGE, ++m->serial, &image);
	msg_add(msg, j->entry, sizeof *j->entry * (size_t)j->nentry);
	msg_add(msg, j->image, j->nimage);
	if (!msg_end(msg))
		msg->full = true;
	j->answers++;
	ask_own_buffers(m, j, msg);
	ask_program(m, j, msg, true);
	ask_program(m, j, msg, false);
	for (size_t k = 0; k < j->ref->out.n; k++) {
		const JobBuf *want = &j->ref->out.at[k];
		int own = find_buf(j, want->name);
		uint32_t got = own >= 0 ? j->buf.at[own].id : want->id;
		if (j->kind == JOB_REFERENCE) {
			MsgRead f = { .buffer = got, .bytes = (uint64_t)want->bytes };
			ask(m, j, msg, MSG_READ, &f, NULL, 0);
		} else {
			MsgCompare f = { .got = got,
				.want = want->id,
				.code = want->type.kind,
				.bits = want->type.bits,
				.count = (uint64_t)want->elements };
			ask(m, j, msg, MSG_COMPARE, &f, NULL, 0);
		}
	}
}

static void ask_times(Local *m, Job *j, Msg *msg)
{
	bool network = j->kind == JOB_NETWORK;
	uint32_t program = network ? PROGRAM_NETWORK : PROGRAM_RUN;
	MsgTime f = { .nprogram = 1,
		.samples = network ? NETWORK_SAMPLES : SAMPLES,
		.warmup = network ? NETWORK_WARMUP : 0, /* the checked run was a candidate's */
		.repeat = 1,
		.flush_bytes = network ? 0 : (uint64_t)m->o.flush_bytes,
		.budget_ns = network ? 5000000000u : SCREEN_MS * 1000000u,
		.slow_ns = (uint64_t)j->slow_ns };
	ask(m, j, msg, MSG_TIME, &f, &program, sizeof program);
}

static void ask_network(Local *m, Job *j, Msg *msg)
{
	MsgBundle f = { .program = PROGRAM_NETWORK, .threads = (uint32_t)m->o.threads, .seed = 1, .nfile = j->nimage };
	ask(m, j, msg, MSG_BUNDLE, &f, j->image, j->nimage);
	ask_times(m, j, msg);
}

/* ---- answers ---- */

static void finish(Local *m, RunStatus status, const char *detail)
{
	Job *j = m->running;
	m->running = NULL;
	child_deadline(&m->runner, -1);
	job_done(m, j, status, detail);
	local_step(m);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Median of the samples that had the processor; of all, when hardly any had. */
static void take_samples(Job *j, const MsgSample *s, size_t n)
{
	int64_t *v = arena_array(j->arena, int64_t, n + 1);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!s[i].preempted)
			v[kept++] = (int64_t)s[i].ns;
	if (kept * 3 < n)
		for (kept = 0; kept < n; kept++)
			v[kept] = (int64_t)s[kept].ns;
	if (kept == 0)
		return;
	qsort(v, kept, sizeof *v, by_value);
	int64_t median = v[kept / 2];
	j->result.median_ns = median > 0 ? median : 1;
	j->result.min_ns = v[0];
	j->result.samples = (int64_t)kept;
	for (size_t i = 0; i < kept; i++)
		v[i] = llabs((long long)(v[i] - median));
	qsort(v, kept, sizeof *v, by_value);
	j->result.mad_ns = v[kept / 2];
}

static void send_phase(Local *m, Job *j, Msg *msg, int ms)
{
	if (msg->full) {
		msg_free(msg);
		finish(m, RUN_OOM, "no memory for the messages");
		return;
	}
	child_send(&m->runner, msg);
	child_deadline(&m->runner, ms);
	(void)j;
}

/* All answers of the phase are in, none was a refusal. */
static void next_phase(Local *m, Job *j)
{
	if (j->kind == JOB_REFERENCE) {
		finish(m, RUN_OK, "");
		return;
	}
	if (j->phase == PHASE_TIME || j->kind == JOB_NETWORK) {
		finish(m, j->result.samples > 0 ? RUN_OK : RUN_RUN_TIMEOUT, j->result.samples > 0 ? "" : "no sample was taken");
		return;
	}
	double relative = j->size > 0 ? j->error / j->size : j->error;
	bool wrong = j->wrong || !(relative <= m->o.tolerance);
	j->result.max_err_e9 = relative < 1e6 ? (int64_t)ceil(relative * 1e9) : INT64_C(1000000000000000);
	if (wrong) {
		finish(m, RUN_WRONG_RESULT, arena_printf(j->arena, "error %.3g of the largest output", relative));
		return;
	}
	if (j->slow_ns > 0 && j->run_ns > j->slow_ns) { /* clearly slower: the checked run was its sample */
		j->result.median_ns = j->result.min_ns = j->run_ns;
		j->result.samples = 1;
		finish(m, RUN_OK, "");
		return;
	}
	Msg msg = { 0 };
	j->phase = PHASE_TIME;
	ask_times(m, j, &msg);
	send_phase(m, j, &msg, m->o.run_ms);
}

static void take_answer(Local *m, Job *j, const MsgView *msg)
{
	switch (msg->kind) {
	case MSG_COMPARED: {
		const MsgCompared *f = msg->fixed;
		j->wrong |= f->nbad != 0;
		if (!(f->max_error <= j->error))
			j->error = f->max_error;
		if (f->max_want > j->size)
			j->size = f->max_want;
		break;
	}
	case MSG_DATA: {
		const MsgData *f = msg->fixed;
		LocalRef *r = j->ref;
		if (j->reads < (int)r->out.n && (int64_t)f->ndata == r->out.at[j->reads].bytes) {
			r->want[j->reads] = arena_copy(m->arena, msg->array[0], (size_t)f->ndata);
			j->reads++;
		}
		break;
	}
	case MSG_TIMES: {
		const MsgTimes *f = msg->fixed;
		take_samples(j, msg->array[0], (size_t)f->nsample);
		break;
	}
	case MSG_REFUSED: {
		const MsgRefused *f = msg->fixed;
		if (j->result.detail[0] == 0) {
			snprintf(j->result.detail, sizeof j->result.detail, "%.*s", (int)f->ntext,
				(const char *)msg->array[0]);
			j->result.status = f->status == DLC_NO_MEMORY ? RUN_OOM : RUN_LAUNCH_ERROR;
		}
		break;
	}
	case MSG_DONE: j->run_ns = (int64_t)((const MsgDone *)msg->fixed)->ns; break;
	default:
		if (j->result.detail[0] == 0)
			snprintf(j->result.detail, sizeof j->result.detail, "the runner answered with %s", msg_name(msg->kind));
		j->result.status = RUN_LAUNCH_ERROR;
	}
}

static void on_frame(Child *c, const MsgView *msg)
{
	Local *m = c->owner;
	Job *j = m->running;
	if (msg->kind == MSG_HELLO || j == NULL)
		return;
	take_answer(m, j, msg);
	if (--j->answers > 0)
		return;
	if (j->result.detail[0] != 0 && j->ref != NULL)
		j->ref->loaded = 0; /* what was refused may have been one of the task's own buffers */
	if (j->result.detail[0] != 0)
		finish(m, j->result.status, arena_printf(j->arena, "%s", j->result.detail));
	else if (j->kind == JOB_REFERENCE && j->reads != (int)j->ref->out.n)
		finish(m, RUN_LAUNCH_ERROR, "the runner sent other outputs than were asked for");
	else
		next_phase(m, j);
}

static void on_end(Child *c, const ChildEnd *e)
{
	Local *m = c->owner;
	if (m->running != NULL)
		finish(m, e->late ? RUN_RUN_TIMEOUT : RUN_CRASH, e->text);
}

static const ChildHooks hooks = { on_frame, on_end };

void runner_start(Local *m, Job *j)
{
	Err err = { 0 };
	if (m->runner.io != NULL && (m->loaded_bytes > LOADED_BYTES || !task_fits(m, j->ref)))
		child_close(&m->runner);
	if (m->runner.io == NULL) {
		m->generation++;
		m->loaded_bytes = 0;
		m->given = 0;
		if (!child_open(&m->runner, &m->loop, &hooks, m, m->o.runner, &err)) {
			job_done(m, j, RUN_DEVICE_LOST, arena_printf(j->arena, "%s: %s", err.place, err.text));
			return;
		}
	}
	m->running = j;
	Msg msg = { 0 };
	if (j->kind == JOB_NETWORK)
		ask_network(m, j, &msg);
	else
		ask_check(m, j, &msg);
	send_phase(m, j, &msg, j->kind == JOB_CANDIDATE ? m->o.run_ms : NETWORK_MS * 2);
}

void runner_close(Local *m)
{
	child_close(&m->runner);
	job_free(m->running);
	m->running = NULL;
}
