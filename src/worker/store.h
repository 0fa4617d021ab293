/*
 * What a worker holds between requests: code, buffers and programs under the parent's numbers, and memory for them.
 */
#ifndef WORKER_STORE_H
#define WORKER_STORE_H

#include "dlc/dlc_runtime.h"
#include "runtime/team.h"
#include "worker/lost.h"
#include "worker/runner_message.h"

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
	bool lock_late;   /* it was not free in time: this TIME does without it */
	uint64_t waited_ns; /* for it, in this TIME */
	Lost lost;
} Worker;

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

#endif
