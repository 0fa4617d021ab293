/*
 * What a worker holds between requests: code, buffers and programs under the parent's numbers, and memory for them.
 */
#ifndef WORKER_STORE_H
#define WORKER_STORE_H

#include "dlc/dlc_runtime.h"
#include "runtime/device.h"
#include "runtime/team.h"
#include "worker/lost.h"
#include "worker/runner_message.h"

typedef struct Module {
	void *code;
	size_t bytes;
	DlcEntry *entry;
	void **kernel; /* of each entry */
	uint32_t nentry;
} Module;

/* Behind the bytes stand WORKER_GUARD more, of a known value, which a RUN looks at. */
enum { WORKER_GUARD = 128, WORKER_KEPT = 64 };
typedef struct Area {
	unsigned char *data; /* on the worker's device, as all that follows */
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
	DeviceLaunch *launch; /* of each call, set by program_ready; NULL: a team enters the kernels */
	uint32_t ncall, narg, nsym;
	size_t work_bytes; /* per thread; set by program_ready */
	void *file;
	size_t nfile;
	DlcModel *model;
	DlcInstance *instance;
} LoadedProgram;

typedef struct Worker {
	const Device *device; /* has the buffers and runs the code */
	DeviceContext *context;
	DeviceStream *stream;
	Module *module[MSG_TABLE];
	Buffer *buffer[MSG_TABLE];
	LoadedProgram *program[MSG_TABLE];
	uint32_t end; /* above every number in use */
	Area kept[WORKER_KEPT]; /* of buffers that are gone, the oldest first */
	int nkept;
	uint64_t kept_bytes, keep; /* keep: the most of it; 0: not asked yet */
	Team *team; /* of the last program's threads, or NULL */
	unsigned char *work; /* on the device */
	size_t work_bytes;
	unsigned char *other; /* memory to read between samples: see cold.c */
	size_t other_bytes;
	unsigned char *rights; /* pages whose rights are changed between samples; or NULL */
	size_t rights_bytes;
	uint64_t touched; /* of other, before a sample */
	bool can_flush;   /* lines to memory, one by one */
	bool flushes;     /* constants' lines before a sample */
	int lock;         /* of the device; < 0: none */
	bool lock_late;   /* it was not free in time: this TIME does without it */
	uint64_t waited_ns; /* for it, in this TIME */
	Lost lost;
} Worker;

/* Memory for a buffer, with what lay there; the caller's until it leaves it. */
DlcStatus area_take(Worker *w, size_t n, bool mapped, Area *out, DlcError *err);
void area_leave(Worker *w, Area a);
void area_forget_all(Worker *w);
/* Memory of the device, or of the host, zeroed and 64-byte aligned; refused beyond what there is. */
DlcStatus worker_alloc(const Worker *w, size_t n, unsigned char **out, DlcError *err);
DlcStatus worker_alloc_host(size_t n, unsigned char **out, DlcError *err);
void worker_release(const Worker *w, void *memory, size_t n);

/*
 * Host memory with which a worker reads or writes bytes of its device: these themselves where they lie on the host,
 * else a copy. Writing means all n bytes. view_close hands to the device what was written, and frees the copy; it
 * cannot fail where the view only reads.
 */
typedef enum { VIEW_READ, VIEW_WRITE } ViewUse;
typedef struct View {
	unsigned char *at, *memory;
	size_t bytes;
	ViewUse use;
} View;
DlcStatus view_open(const Worker *w, unsigned char *memory, size_t n, ViewUse use, View *out, DlcError *err);
DlcStatus view_close(const Worker *w, View *v, DlcError *err);
/* Before it is written: the memory gets small pages, as constants have, which a bundle maps from its file. */
void worker_as_mapped(unsigned char *p, size_t n);
/* 0xff in every byte: NaN in floats, -1 in integers. */
void worker_poison(void *bytes, size_t n);
/* Refuses a buffer behind whose end something was written. */
DlcStatus worker_check_guard(const Worker *w, uint32_t number, DlcError *err);

#endif
