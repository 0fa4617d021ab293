/*
 * The requests that a worker answers. Each function does one; where it fails it changes nothing, and fills err with
 * the sentence that REFUSED carries.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "worker/frame.h"
#include "worker/store.h"

/* Readies *w, which is zeroed, to run code of a device; also where this fails, worker_close releases all. */
DlcStatus worker_open(Worker *w, const Device *device, DlcError *err);
void worker_close(Worker *w);

DlcStatus worker_image(Worker *w, const MsgView *in, DlcError *err);
DlcStatus worker_buffer(Worker *w, const MsgBuffer *m, const void *data, DlcError *err);
DlcStatus worker_compare(const Worker *w, const MsgCompare *m, MsgCompared *out, DlcError *err);
/* *out, closed by the caller, has the bytes. */
DlcStatus worker_read(const Worker *w, const MsgRead *m, View *out, DlcError *err);
DlcStatus worker_bundle(Worker *w, const MsgBundle *m, const void *file, DlcError *err);
DlcStatus worker_program(Worker *w, const MsgProgram *m, const MsgCall *call, const MsgArg *arg,
	const int64_t *sym, DlcError *err);
DlcStatus worker_run(Worker *w, const MsgRun *m, MsgDone *out, DlcError *err);
/* *sample, freed by the caller, has out->nsample rows. */
DlcStatus worker_time(Worker *w, const MsgTime *m, const uint32_t *program, MsgSample **sample,
	MsgTimes *out, DlcError *err);
/* *value, freed by the caller, has out->nvalue numbers. */
DlcStatus worker_profile(Worker *w, const MsgProfile *m, uint64_t **value, MsgProfiled *out, DlcError *err);
void worker_reset(Worker *w);

const Buffer *worker_find(const Worker *w, uint64_t number); /* NULL: there is none */
/* A program as its RUN or TIME needs it: addresses found, team and workspaces there. */
DlcStatus program_ready(Worker *w, uint64_t number, LoadedProgram **out, DlcError *err);
/* `repeat` runs as one sample; *out is filled in either way. */
DlcStatus program_sample(
	Worker *w, LoadedProgram *p, uint32_t number, uint32_t repeat, MsgSample *out, DlcError *err);
/* Prepares for a network of so many bytes (0: nothing is made cold); then, per sample. */
DlcStatus worker_cold_open(Worker *w, uint64_t network, DlcError *err);
void worker_cold(const Worker *w, const LoadedProgram *p);

/* Answers a request, or returns false where `in` is none: then the stream makes no sense. */
bool worker_serve(Worker *w, const MsgView *in, Msg *out);
/* The HELLO of this machine. */
void worker_hello(Msg *out);

#endif
