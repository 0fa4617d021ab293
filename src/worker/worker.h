/*
 * The requests that a worker answers. Each function does one; where it fails it changes nothing, and fills err with
 * the sentence that REFUSED carries.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "worker/frame.h"
#include "worker/store.h"

/* Readies *w, which is zeroed, to run code of the host and of a device, the id-th of its row. device_cpu: of the host
 * alone. Also where this fails, worker_close releases all. */
DlcStatus worker_open(Worker *w, const Device *device, int32_t id, DlcError *err);
void worker_close(Worker *w);

DlcStatus worker_image(Worker *w, const MsgView *in, DlcError *err);
DlcStatus worker_buffer(Worker *w, const MsgBuffer *m, const void *data, DlcError *err);
/* All bytes of one buffer to another, wherever the two lie. */
DlcStatus worker_copy(const Worker *w, const MsgCopy *m, DlcError *err);
DlcStatus worker_compare(const Worker *w, const MsgCompare *m, MsgCompared *out, DlcError *err);
/* *out, closed by the caller, has the bytes. */
DlcStatus worker_read(const Worker *w, const MsgRead *m, View *out, DlcError *err);
DlcStatus worker_bundle(Worker *w, const MsgBundle *m, const void *file, const char *path, DlcError *err);
DlcStatus worker_program(Worker *w, const MsgProgram *m, const MsgCall *call, const MsgArg *arg,
	const int64_t *sym, DlcError *err);
/* Threads of the host on which its kernels run; 0: a device with processors of its own runs them. */
int program_cpus(const Worker *w, const LoadedProgram *p);
DlcStatus worker_run(Worker *w, const MsgRun *m, MsgDone *out, DlcError *err);
/* *sample, freed by the caller, has out->nsample rows. */
DlcStatus worker_time(Worker *w, const MsgTime *m, const uint32_t *program, MsgSample **sample,
	MsgTimes *out, DlcError *err);
/* *value, freed by the caller, has out->nvalue numbers. */
DlcStatus worker_profile(Worker *w, const MsgProfile *m, uint64_t **value, MsgProfiled *out, DlcError *err);
/* The rate of a program of the device, and the device's state just after it. */
DlcStatus worker_probe(Worker *w, const MsgProbe *m, MsgProbed *out, DlcError *err);
void worker_reset(Worker *w);

/* The worker's own device: the host where it has no other. */
Site *worker_own(Worker *w);
const Buffer *worker_find(const Worker *w, uint64_t number); /* NULL: there is none */
/* A program as its RUN or TIME needs it: addresses found, team and workspaces there. */
DlcStatus program_ready(Worker *w, uint64_t number, LoadedProgram **out, DlcError *err);
/* `repeat` runs as one sample; *out is filled in either way. On a device they follow what is under way there. */
DlcStatus program_sample(
	Worker *w, LoadedProgram *p, uint32_t number, uint32_t repeat, MsgSample *out, DlcError *err);
/* Prepares for a network of so many bytes (0: nothing is made cold); then, before each run of a program of calls. */
DlcStatus worker_cold_open(Worker *w, uint64_t network, DlcError *err);
/*
 * Inside: whether to look again at what the last cache holds, where `held` of `looks` found it held in so many ns. Else
 * most of them agree, and the others of LOOKS, or LOOKS_LEAST where they take long, would not change that.
 */
bool worker_cold_asks(int held, int looks, uint64_t ns);
void worker_cold_close(Worker *w);
/* Of an input of n bytes, how many the thread writes: whole lines of a cache but for the end. *from: the first one. */
size_t worker_cold_part(size_t n, int thread, int threads, size_t *from);
DlcStatus worker_cold(Worker *w, const LoadedProgram *p, DlcError *err);

/* Answers a request, or returns false where `in` is none: then the stream makes no sense. */
bool worker_serve(Worker *w, const MsgView *in, Msg *out);
/* The HELLO of this machine and the worker's device. */
void worker_hello(Worker *w, Msg *out);

#endif
