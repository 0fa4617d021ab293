/*
 * The devices that a worker has open, and memory on them.
 */
#ifndef WORKER_MEMORY_H
#define WORKER_MEMORY_H

#include "dlc/dlc_runtime.h"
#include "runtime/device.h"

enum { WORKER_KEPT = 64 };
typedef struct Area {
	unsigned char *data; /* on its device, as all that follows */
	size_t bytes;
	bool mapped; /* in small pages, as a file that is mapped */
} Area;

/* Bytes of a device as they were last copied to the host. */
typedef struct Seen {
	const unsigned char *memory;
	unsigned char *at;
	size_t bytes, room; /* bytes: 0, something has changed on the device since */
} Seen;

/* A device that is open: the host, where prepare Fns and oracles run, or the worker's own. */
typedef struct Site {
	const Device *device;
	int32_t id; /* which of the row's */
	DeviceContext *context;
	DeviceStream *stream;
	Area kept[WORKER_KEPT]; /* of buffers that are gone, the oldest first */
	int nkept;
	uint64_t kept_bytes, keep; /* keep: the most of it; 0: not asked yet */
	Seen seen;
	unsigned char *work; /* of kernels */
	size_t work_bytes;
	int cpus;    /* of the host, that a device such as PoCL's runs on; 0: it has processors of its own */
	bool broken; /* a driver's error that stays: the worker ends */
} Site;
enum { SITE_HOST, SITE_DEVICE, SITES };

/* Memory for a buffer, with what lay there; the caller's until it leaves it. */
DlcStatus area_take(Site *at, size_t n, bool mapped, Area *out, DlcError *err);
void area_leave(Site *at, Area a);
void area_forget_all(Site *at);
/*
 * Memory of a device, zeroed and 64-byte aligned; what is kept makes room for it. DLC_NO_MEMORY is more than there is
 * in all, or on the host no more left; DLC_DEVICE_MEMORY no more left on the device.
 */
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
	bool borrowed; /* from site_see */
} View;
DlcStatus view_open(Site *at, unsigned char *memory, size_t n, ViewUse use, View *out, DlcError *err);
DlcStatus view_close(View *v, DlcError *err);
/* Until something changes on the device, or another such call, views of these bytes that only read copy nothing. */
DlcStatus site_see(Site *at, const unsigned char *memory, size_t n, DlcError *err);
void site_changed(Site *at);
/* On the stream. */
DlcStatus site_fill(Site *at, unsigned char *memory, unsigned char byte, size_t n, DlcError *err);
/* Until all is done that was put on the stream; what failed of it is no fault of what follows. */
DlcStatus site_wait(Site *at, DlcError *err);
/* Before it is written: the memory gets small pages, as constants have, which a bundle maps from its file. */
void worker_as_mapped(unsigned char *p, size_t n);

#endif
