/*
 * The devices that a worker has open, and memory on them.
 */
#ifndef WORKER_MEMORY_H
#define WORKER_MEMORY_H

#include "dlc/dlc_runtime.h"
#include "runtime/device.h"

enum { WORKER_KEPT = 64 };
typedef struct Area {
	unsigned char *data; /* on the device of its site */
	size_t bytes;
	bool mapped; /* in small pages, as a file that is mapped */
} Area;

/* Bytes of a device as they were last copied to the host. */
typedef struct HostCopy {
	const unsigned char *memory;
	unsigned char *at;
	size_t bytes, room; /* bytes: 0 once the device's memory may have changed */
} HostCopy;

/* A device that is open: the host, where prepare Fns and oracles run, or the worker's own. */
typedef struct Site {
	const Device *device;
	int32_t id; /* number among the row's devices */
	DeviceContext *context;
	DeviceStream *stream;
	Area kept[WORKER_KEPT]; /* memory of freed buffers, the oldest first */
	int nkept;
	uint64_t kept_bytes, keep; /* keep: the limit of kept_bytes; 0: not computed */
	HostCopy fetched;
	unsigned char *work; /* workspace of kernels */
	size_t work_bytes;
	int cpus;    /* CPUs of the host that run the device, as with PoCL; 0: it has processors of its own */
	bool broken; /* the driver reported a lasting error: the worker ends */
} Site;
enum { SITE_HOST, SITE_DEVICE, SITES };

/* Memory for a buffer, not cleared. The caller owns it until area_leave. */
DlcStatus area_take(Site *at, size_t n, bool mapped, Area *out, DlcError *err);
void area_leave(Site *at, Area a);
void area_forget_all(Site *at);
/*
 * Memory of a device, zeroed and 64-byte aligned. Frees areas of `kept` to make room. DLC_NO_MEMORY: n is more than the
 * total, or the host's memory is exhausted. DLC_DEVICE_MEMORY: the device's memory is exhausted.
 */
DlcStatus site_alloc(Site *at, size_t n, unsigned char **out, DlcError *err);
void site_release(Site *at, void *memory, size_t n);
/*
 * The sentence for a driver's status. `late`: the failure belongs to an earlier call, so later results are not trusted.
 */
DlcStatus site_failed(Site *at, int status, bool late, const char *where, DlcError *err);

/*
 * Host memory for reading or writing bytes of a device: the bytes themselves if they are on the host, else a copy. A
 * writer writes all n bytes. view_close copies written bytes to the device and frees the copy. It cannot fail if the
 * view only reads.
 */
typedef enum { VIEW_READ, VIEW_WRITE } ViewUse;
typedef struct View {
	Site *site;
	unsigned char *at, *memory;
	size_t bytes;
	ViewUse use;
	bool borrowed; /* from site_fetch */
} View;
DlcStatus view_open(Site *at, unsigned char *memory, size_t n, ViewUse use, View *out, DlcError *err);
DlcStatus view_close(View *v, DlcError *err);
/* Copies bytes to the host: views that only read them copy nothing until site_changed or another such call. */
DlcStatus site_fetch(Site *at, const unsigned char *memory, size_t n, DlcError *err);
void site_changed(Site *at);
/* Fills bytes on the stream, without a wait. */
DlcStatus site_fill(Site *at, unsigned char *memory, unsigned char byte, size_t n, DlcError *err);
/* Waits for all work on the stream, so that its failure is not blamed on later work. */
DlcStatus site_wait(Site *at, DlcError *err);
/* Gives the memory small pages, as the constants of a mapped bundle have. Called before the memory is written. */
void worker_as_mapped(unsigned char *p, size_t n);

#endif
