/*
 * What a worker holds between requests: code, buffers and programs under the parent's numbers.
 */
#ifndef WORKER_STORE_H
#define WORKER_STORE_H

#include "dlc/dlc_runtime.h"
#include "runtime/team.h"
#include "worker/lost.h"
#include "worker/memory.h"
#include "worker/runner_message.h"

typedef struct Module {
	Site *site; /* whose code it is */
	void *code;
	size_t bytes;
	DlcEntry *entry;
	void **kernel; /* of each entry */
	uint32_t nentry;
} Module;

enum { WORKER_GUARD = 128 }; /* bytes of a known value behind a buffer, which a RUN checks */
typedef struct Buffer {
	Site *site; /* where it lies */
	unsigned char *data; /* where its area begins */
	size_t bytes;
	Area area;
	uint8_t constant; /* as its message said */
} Buffer;

/* A list of calls, or a bundle with one instance. */
typedef struct LoadedProgram {
	Site *site; /* of its modules, set by program_ready; NULL: a bundle */
	int asked;  /* threads that its message wants */
	int threads; /* those that enter a kernel: 1 on a device; set by program_ready */
	MsgCall *call;
	MsgArg *arg;
	int64_t *sym;
	void **address; /* of each arg; set by program_ready */
	DeviceLaunch *launch; /* of each call, set by program_ready where the site is no host */
	uint32_t ncall, narg, nsym;
	size_t work_bytes; /* per thread; set by program_ready */
	void *file;
	size_t nfile;
	DlcModel *model;
	DlcInstance *instance;
} LoadedProgram;

typedef struct Worker {
	Site site[SITES];
	int nsite; /* 1: the host alone */
	Module *module[MSG_TABLE];
	Buffer *buffer[MSG_TABLE];
	LoadedProgram *program[MSG_TABLE];
	uint32_t end; /* above every number in use */
	Team *team; /* of the last program's threads, or NULL */
	/* See cold.c. Memory to read between samples, pages whose rights are changed; the device's, to copy to and from. */
	unsigned char *other, *rights, *scratch;
	size_t other_bytes, rights_bytes, scratch_bytes;
	uint64_t touched;        /* of other, or of scratch, before a sample */
	bool can_flush, flushes; /* lines to memory, one by one; those of constants before a sample */
	uint64_t asked;          /* the network's bytes for which the next was measured */
	bool held;               /* by the last cache, from one run of the network to the next */
	int lock;         /* of the device; < 0: none */
	bool lock_late;   /* it was not free in time: this TIME does without it */
	uint64_t waited_ns; /* for it, in this TIME */
	bool launched; /* this request has launched kernels of a program */
	Lost lost;
} Worker;

/*
 * take_bundle.c: puts the whole bundle of a message at p->file, which p owns also where that fails. `path` has m->npath
 * bytes and no 0 behind them.
 */
DlcStatus worker_take_bundle(
	Worker *w, LoadedProgram *p, const MsgBundle *m, const void *file, const char *path, DlcError *err);

enum { WORKER_POISON = 0xff }; /* in every byte: NaN in floats, -1 in integers */
/* Refuses a program that wrote behind the end of a buffer. */
DlcStatus worker_check_guards(const Worker *w, const LoadedProgram *p, DlcError *err);

#endif
