/* A request -> its answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"
#include "runtime/host.h"
#include "runtime/probe.h"
#include "runtime/timing.h"
#include "worker/worker.h"

void worker_hello(Worker *w, Msg *out)
{
	char features[4096];
	const char *version = dlc_runtime_version();
	const Site *own = worker_own(w);
	MsgHello h = { .version = MSG_VERSION, .cores = (uint32_t)cpu_count(), .device = (uint32_t)own->device->type };
	h.on_cpu = own->device->on_host || own->cpus > 0;
	dlc_cpu_features(features, sizeof features);
	h.memory_bytes = host_memory(NULL, NULL);
	h.device_bytes = own->device->memory(own->context);
	for (int i = 0; i < 3; i++)
		h.cache_bytes[i] = host_cache(i + 1, NULL, NULL);
	h.nfeatures = strlen(features);
	h.nprogram = strlen(version);
	msg_begin(out, MSG_HELLO, 0, &h);
	msg_add(out, features, h.nfeatures);
	msg_add(out, version, h.nprogram);
}

static DlcStatus serve_read(Worker *w, const MsgView *in, Msg *out, DlcError *err)
{
	View data;
	const MsgRead *m = in->fixed;
	DlcStatus s = worker_read(w, m, &data, err);
	if (s == DLC_OK) {
		MsgData d = { .ndata = m->bytes };
		msg_begin(out, MSG_DATA, in->serial, &d);
		msg_add(out, data.at, (size_t)m->bytes);
		view_close(&data, err);
	}
	return s;
}

static DlcStatus serve_time(Worker *w, const MsgView *in, Msg *out, DlcError *err)
{
	MsgSample *sample;
	MsgTimes t;
	DlcStatus s = worker_time(w, in->fixed, in->array[0], &sample, &t, err);
	if (s == DLC_OK) {
		msg_begin(out, MSG_TIMES, in->serial, &t);
		msg_add(out, sample, (size_t)t.nsample * sizeof *sample);
	}
	free(sample);
	return s;
}

static DlcStatus serve_profile(Worker *w, const MsgView *in, Msg *out, DlcError *err)
{
	uint64_t *value;
	MsgProfiled p;
	DlcStatus s = worker_profile(w, in->fixed, &value, &p, err);
	if (s == DLC_OK) {
		msg_begin(out, MSG_PROFILED, in->serial, &p);
		msg_add(out, value, (size_t)p.nvalue * sizeof *value);
	}
	free(value);
	return s;
}

static DlcStatus serve_probe(Worker *w, const MsgView *in, Msg *out, DlcError *err)
{
	const MsgProbe *m = in->fixed;
	uint64_t threads = m->threads;
	if (m->program != MSG_TABLE) {
		MsgProbed device;
		DlcStatus s = worker_probe(w, m, &device, err);
		if (s == DLC_OK)
			msg_begin(out, MSG_PROBED, in->serial, &device);
		return s;
	}
	MsgProbed p = {
		.gflops = threads >= 1 && threads <= TEAM_MAX ? probe_fma_gflops((int)threads) : 0
	};
	if (p.gflops > 0) {
		msg_begin(out, MSG_PROBED, in->serial, &p);
		return DLC_OK;
	}
	snprintf(err->text, sizeof err->text,
		"the system does not start the threads that the probe needs: use fewer");
	return DLC_BAD_ARGUMENT;
}

bool worker_serve(Worker *w, const MsgView *in, Msg *out)
{
	DlcError err = { 0 };
	DlcStatus s = DLC_OK;
	uint64_t start = timing_wall_ns();
	MsgDone done = { 0 };
	MsgCompared compared;
	const void *m = in->fixed, *const *a = in->array;
	w->launched = false;
	switch (in->kind) {
	case MSG_IMAGE: s = worker_image(w, in, &err); break;
	case MSG_BUNDLE: s = worker_bundle(w, m, a[0], a[1], &err); break;
	case MSG_BUFFER: s = worker_buffer(w, m, a[0], &err); break;
	case MSG_PROGRAM: s = worker_program(w, m, a[0], a[1], a[2], &err); break;
	case MSG_RUN: s = worker_run(w, m, &done, &err); break;
	case MSG_COMPARE:
		s = worker_compare(w, m, &compared, &err);
		if (s == DLC_OK)
			msg_begin(out, MSG_COMPARED, in->serial, &compared);
		break;
	case MSG_COPY: s = worker_copy(w, m, &err); break;
	case MSG_READ: s = serve_read(w, in, out, &err); break;
	case MSG_TIME: s = serve_time(w, in, out, &err); break;
	case MSG_PROFILE: s = serve_profile(w, in, out, &err); break;
	case MSG_PROBE: s = serve_probe(w, in, out, &err); break;
	case MSG_RESET: worker_reset(w); break;
	default: return false;
	}
	done.ns = timing_wall_ns() - start;
	if (s != DLC_OK) {
		worker_own(w)->broken |= s == DLC_LOST;
		MsgRefused refused = { .status = (uint32_t)s, .ends = worker_own(w)->broken, .ntext = strlen(err.text) };
		refused.launched = w->launched && in->kind != MSG_PROBE;
		msg_begin(out, MSG_REFUSED, in->serial, &refused);
		msg_add(out, err.text, refused.ntext);
	} else if (out->size == 0) {
		msg_begin(out, MSG_DONE, in->serial, &done);
	}
	return true;
}
