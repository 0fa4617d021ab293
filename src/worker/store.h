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

typedef struct Site Site;
typedef struct Module {
	Site *site; /* whose code it is */
	void *code;
	size_t bytes;
	DlcEntry *entry;
	void **kernel; /* of each entry */
	uint32_t nentry;
} Module;

enum { WORKER_GUARD = 128 /* bytes behind a buffer's own, of a known value, which a RUN looks at */, WORKER_KEPT = 64 };
typedef struct Area {
	unsigned char *data; /* on its device, as all that follows */
	size_t bytes;
	bool mapped; /* in small pages, as a file that is mapped */
} Area;
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

/* A device that is open: the host, where prepare Fns and oracles run, or the worker's own. */
struct Site {
	const Device *device;
	int32_t id; /* which of the row's */
	DeviceContext *context;
	DeviceStream *stream;
	Area kept[WORKER_KEPT]; /* of buffers that are gone, the oldest first */
	int nkept;
	uint64_t kept_bytes, keep; /* keep: the most of it; 0: not asked yet */
	unsigned char *work; /* of kernels */
	size_t work_bytes;
	int cpus;    /* of the host, that a device such as PoCL's runs on; 0: it has processors of its own */
	bool broken; /* a driver's error that stays: the worker ends */
};
enum { SITE_HOST, SITE_DEVICE, SITES };
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
	int lock;         /* of the device; < 0: none */
	bool lock_late;   /* it was not free in time: this TIME does without it */
	uint64_t waited_ns; /* for it, in this TIME */
	Lost lost;
} Worker;

/* Memory for a buffer, with what lay there; the caller's until it leaves it. */
DlcStatus area_take(Site *at, size_t n, bool mapped, Area *out, DlcError *err);
void area_leave(Site *at, Area a);
void area_forget_all(Site *at);
/* Memory of a device, zeroed and 64-byte aligned; refused beyond what there is. */
DlcStatus site_alloc(Site *at, size_t n, unsigned char **out, DlcError *err);
void site_release(Site *at, void *memory, size_t n);
/* The sentence of a driver's status; `late`: it showed after the call that caused it, so nothing later is trusted. */
DlcStatus site_failed(Site *at, int status, bool late, const char *where, DlcError *err);

/*
 * Host memory with which a worker reads or writes bytes of a device: these themselves where they lie on the host,
 * else a copy. Writing means all n bytes. view_close hands to the device what was written, and frees the copy; it
 * cannot fail where the view only reads.
 */
typedef enum { VIEW_READ, VIEW_WRITE } ViewUse;
typedef struct View {
	Site *site;
	unsigned char *at, *memory;
	size_t bytes;
	ViewUse use;
} View;
DlcStatus view_open(Site *at, unsigned char *memory, size_t n, ViewUse use, View *out, DlcError *err);
DlcStatus view_close(View *v, DlcError *err);
/* Before it is written: the memory gets small pages, as constants have, which a bundle maps from its file. */
void worker_as_mapped(unsigned char *p, size_t n);
/* 0xff in every byte: NaN in floats, -1 in integers. */
void worker_poison(void *bytes, size_t n);
/* Refuses a buffer behind whose end something was written. */
DlcStatus worker_check_guard(const Worker *w, uint32_t number, DlcError *err);

#endif
