/*
 * The probe of a device with processors of its own: kernels that a builder compiles like any candidate. So the compiler
 * is the same, and the worker needs none. A device on the host's processors has the host's probe, with all cores.
 */
#include "measure/runner.h"

#include "ir/text/ir_text.h"
#include "runtime/device_state.h"

#include <stdio.h>
#include <string.h>

enum { FIRST = FIRST_OWN + LANE_PROBE * LANE_NUMBERS, ALL = (1 << PROBE_KINDS) - 1 };

void probe_build(Local *m)
{
	Arena *scratch = arena_new();
	Job *j = job_new(JOB_PROBE, NULL, NULL);
	const char *text = probe_text(scratch, m->o.target, m->probe_work);
	KernelSet *ks = ir_parse_set(ir_new(scratch), "probe", text, strlen(text), NULL);
	m->probe_asked = true;
	if (ks != NULL && job_read_set(j, ks, NULL))
		local_queue(m, j);
	else
		job_done(m, j, RUN_COMPILE_ERROR, "its kernels cannot be written");
	arena_free(scratch);
}

void probe_wait(Local *m)
{
	while (m->probe_asked && m->probe == NULL && !m->probe_failed && (m->o.stop == NULL || *m->o.stop == 0))
		local_turn(m, METHOD_LOOK_MS);
}

/* Notes which kinds need the last request: if it is refused, only these kinds are given up. */
static void note(Runner *x, unsigned kinds)
{
	if (x->nprobe_request < PROBE_REQUESTS)
		x->probe_request[x->nprobe_request++] = (ProbeRequest){ x->m->serial, kinds };
}

static ProbeKind kind_of(const JobCall *c)
{
	int k = 0;
	while (k + 1 < PROBE_KINDS && strcmp(probe_key((ProbeKind)k), c->fn) != 0)
		k++;
	return (ProbeKind)k;
}

static void ask_program(Runner *x, Job *j, Msg *msg, const JobCall *c)
{
	const Job *set = x->m->probe;
	int64_t sym = 1;
	uint32_t end;
	MsgCall call = { .narg = (uint32_t)c->n, .nsym = 1 };
	MsgArg arg[PROBE_KINDS] = { { 0 } };
	MsgProgram p = { .program = PROGRAM_PROBE + kind_of(c), .threads = 1, .ncall = 1, .nsym = 1 };
	p.narg = (uint64_t)c->n;
	if (!find_entries(set, LANE_PROBE, c->fn, &call.module, &call.entry, &end))
		return;
	for (int k = 0; k < c->n; k++) {
		const JobBuf *b = &set->buf.at[c->buf[k]];
		arg[k] = (MsgArg){ .buffer = FIRST + (uint32_t)c->buf[k],
			.use = b->role == BUF_OUT ? MSG_USE_OUTPUT : MSG_USE_INPUT,
			.bytes = (uint64_t)b->bytes };
	}
	msg_begin(msg, MSG_PROGRAM, ++x->m->serial, &p);
	msg_add(msg, &call, sizeof call);
	msg_add(msg, arg, sizeof *arg * (size_t)c->n);
	msg_add(msg, &sym, sizeof sym);
	msg->full |= !msg_end(msg);
	j->answers++;
	note(x, 1u << kind_of(c));
}

/* Sends the probe's code, buffers and programs. Several kinds may share a buffer. */
static void ask_load(Runner *x, Job *j, Msg *msg)
{
	const Job *set = x->m->probe;
	for (int k = 0; k < set->nimage; k++) {
		j->answers++;
		msg->full |= !msg_image(msg, ++x->m->serial, (uint32_t)(LANE_PROBE * MSG_IMAGES + k), &set->image[k]);
		note(x, ALL);
	}
	for (size_t i = 0; i < set->buf.n; i++) {
		unsigned users = 0;
		for (size_t k = 0; k < set->call.n; k++)
			for (int n = 0; n < set->call.at[k].n; n++)
				users |= (size_t)set->call.at[k].buf[n] == i ? 1u << kind_of(&set->call.at[k]) : 0;
		MsgBuffer b = { .buffer = FIRST + (uint32_t)i, .fill = MSG_FILL_NONE, .device = 1, .holes = MSG_TABLE };
		b.bytes = (uint64_t)set->buf.at[i].bytes;
		ask(x, j, msg, MSG_BUFFER, &b, NULL, 0);
		note(x, users);
	}
	for (size_t k = 0; k < set->call.n; k++)
		ask_program(x, j, msg, &set->call.at[k]);
}

void ask_device_probe(Runner *x, Job *j, Msg *msg)
{
	if (x->m->probe == NULL)
		return;
	x->nprobe_request = 0;
	if (x->probe_loaded != x->generation) {
		x->probe_lost = 0;
		ask_load(x, j, msg);
		x->probe_loaded = x->generation;
	}
	for (int k = 0; k < PROBE_KINDS; k++) {
		MsgProbe f = { .program = PROGRAM_PROBE + (uint64_t)k,
			.most = METHOD_PROBE_BLOCKS,
			.flops = x->m->probe_work[k] };
		if (f.flops == 0 || (x->probe_lost >> k & 1) != 0 || (j->kind != JOB_STATE && !probe_often((ProbeKind)k)))
			continue;
		ask(x, j, msg, MSG_PROBE, &f, NULL, 0);
		note(x, 1u << k);
	}
}

static unsigned kinds_of(const Runner *x, uint64_t serial)
{
	for (int i = 0; i < x->nprobe_request; i++)
		if (x->probe_request[i].serial == serial)
			return x->probe_request[i].kinds;
	return 0;
}

bool probe_refused(Runner *x, uint64_t serial)
{
	unsigned kinds = kinds_of(x, serial);
	x->probe_lost |= kinds;
	return kinds != 0;
}

/* Tells the user when something begins to slow the device down, and when that ends. */
static void tell(const Runner *x, const char *before)
{
	char sentence[400], state[64] = "";
	const DeviceProbe *p = &x->device;
	const char *name = x->m->o.runner[x->index].name;
	if (x->m->o.note == NULL || strcmp(p->slowed, before) == 0)
		return;
	if (p->mhz > 0)
		snprintf(state, sizeof state, ", at %lld MHz and %lld C", (long long)p->mhz, (long long)p->celsius);
	if (p->slowed[0] != 0)
		snprintf(sentence, sizeof sentence, "device %s is slowed down by its %s%s: times are longer until that ends",
			name, p->slowed, state);
	else
		snprintf(sentence, sizeof sentence, "device %s is no longer slowed down%s", name, state);
	x->m->o.note(sentence, x->m->o.note_arg);
}

void take_device_probe(Runner *x, uint64_t serial, const MsgProbed *p)
{
	unsigned kinds = kinds_of(x, serial);
	char before[SLOWED_TEXT];
	_Static_assert(sizeof x->device.slowed == SLOWED_TEXT, "room for all words");
	memcpy(before, x->device.slowed, sizeof before);
	for (int k = 0; k < PROBE_KINDS; k++)
		if (kinds == 1u << k)
			x->device.rate[k] = p->gflops;
	x->device.mhz = p->mhz;
	x->device.celsius = p->celsius;
	device_slowed_text(p->slowed, x->device.slowed);
	tell(x, before);
}

bool local_probe(Measure *base, DeviceProbe *out, Err *err)
{
	Local *m = (Local *)base; /* its first member */
	if (m->o.target == NULL)
		return fail(err, ERR_USAGE, "probe", "only devices have this probe");
	if (!m->probe_asked)
		probe_build(m);
	probe_wait(m);
	Job *j = job_new(JOB_STATE, NULL, NULL);
	local_ready(m, j);
	if (!local_wait_for(m, j))
		return fail(err, ERR_INTERRUPTED, "probe", "interrupted"); /* j is gone */
	bool ok = j->result.status == RUN_OK && m->probe != NULL;
	if (!ok)
		fail(err, ERR_DEVICE, "probe", "the device cannot be measured: %s",
			m->probe == NULL ? m->probe_why : j->result.detail);
	*out = j->result.device;
	job_free(j);
	return ok;
}
