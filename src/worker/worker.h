/*
 * What a worker holds between requests, and the requests.  Each function does one, changes nothing
 * where it fails, and fills err with the sentence that REFUSED carries.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "dlc/dlc_runtime.h"
#include "runtime/team.h"
#include "worker/frame.h"
#include "worker/lost.h"

typedef struct Module {
	unsigned char *code;
	size_t bytes;
	DlcEntry *entry;
	uint32_t nentry;
} Module;

/* Behind the bytes stand WORKER_GUARD more, of a known value, which a RUN looks at. */
enum { WORKER_GUARD = 128, WORKER_KEPT = 64 };
typedef struct Area {
	unsigned char *data;
	size_t bytes;
	bool mapped; /* in small pages, as a file that is mapped */
} Area;
typedef struct Buffer {
	unsigned char *data; /* where its area begins */
	size_t bytes;
	Area area;
	uint8_t constant; /* as its message said */
} Buffer;

/* A list of calls, or a bundle with one instance. */
typedef struct LoadedProgram {
	int threads;
	MsgCall *call;
	MsgArg *arg;
	int64_t *sym;
	void **address; /* of each arg; set by program_ready */
	uint32_t ncall, narg, nsym;
	size_t work_bytes; /* per thread; set by program_ready */
	void *file;
	size_t nfile;
	DlcModel *model;
	DlcInstance *instance;
} LoadedProgram;

typedef struct Worker {
	Module *module[MSG_TABLE];
	Buffer *buffer[MSG_TABLE];
	LoadedProgram *program[MSG_TABLE];
	uint32_t end; /* above every number in use */
	Area kept[WORKER_KEPT]; /* of buffers that are gone, the oldest first */
	int nkept;
	uint64_t kept_bytes, keep; /* keep: the most of it; 0: not asked yet */
	Team *team; /* of the last program's threads, or NULL */
	unsigned char *work;
	size_t work_bytes;
	unsigned char *other; /* memory to read between samples: see cold.c */
	size_t other_bytes;
	unsigned char *rights; /* pages whose rights are changed between samples; or NULL */
	size_t rights_bytes;
	uint64_t touched; /* of other, before a sample */
	bool can_flush;   /* lines to memory, one by one */
	bool flushes;     /* constants' lines before a sample */
	int lock;         /* of the device; < 0: none */
	bool impatient;   /* did not get it in this TIME: does without */
	uint64_t waited_ns; /* for it, in this TIME */
	Lost lost;
} Worker;

DlcStatus worker_image(
	Worker *w, const MsgImage *m, const DlcEntry *entry, const void *image, DlcError *err);
DlcStatus worker_buffer(Worker *w, const MsgBuffer *m, const void *data, DlcError *err);
DlcStatus worker_compare(const Worker *w, const MsgCompare *m, MsgCompared *out, DlcError *err);
/* *out points into the buffer. */
DlcStatus worker_read(const Worker *w, const MsgRead *m, const void **out, DlcError *err);
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

/* `repeat` runs as one sample; *out is filled in either way. */
DlcStatus program_sample(
	Worker *w, LoadedProgram *p, uint32_t number, uint32_t repeat, MsgSample *out, DlcError *err);
/* Prepares for a network of so many bytes (0: nothing is made cold); then, per sample. */
DlcStatus worker_cold_open(Worker *w, uint64_t network, DlcError *err);
void worker_cold(const Worker *w, const LoadedProgram *p);
/* Bytes of the data cache of level 1 to 3; 0: not known. */
uint64_t worker_cache_bytes(int level);

/* The lock of a device of this user's; runtime_dir may be NULL; -1: there is none to be had. */
int worker_lock_open(const char *runtime_dir, const char *device);
/* False: not locked, after so much patience. */
bool worker_lock(int fd, uint64_t patience_ns);
void worker_unlock(int fd, uint64_t held_ns);

const Buffer *worker_find(const Worker *w, uint64_t number); /* NULL: there is none */
/* A program as its RUN or TIME needs it: addresses found, team and workspaces there. */
DlcStatus program_ready(Worker *w, uint64_t number, LoadedProgram **out, DlcError *err);
/* Memory for a buffer, with what lay there; the caller's until it leaves it. */
DlcStatus area_take(Worker *w, size_t n, bool mapped, Area *out, DlcError *err);
void area_leave(Worker *w, Area a);
void area_forget_all(Worker *w);
/* Memory of n bytes, zeroed and 64-byte aligned; refused beyond what the machine has. */
DlcStatus worker_alloc(size_t n, unsigned char **out, DlcError *err);
/* Before it is written: the memory gets small pages, as constants have, which a bundle maps from its file. */
void worker_as_mapped(unsigned char *p, size_t n);
/* 0xff in every byte: NaN in floats, -1 in integers. */
void worker_poison(void *bytes, size_t n);
/* Whether nothing was written behind the buffer. */
bool worker_guarded(const Buffer *b);

/* Answers a request, or returns false where `in` is none: then the stream makes no sense. */
bool worker_serve(Worker *w, const MsgView *in, Msg *out);
/* The HELLO of this machine. */
void worker_hello(Msg *out);

#endif
