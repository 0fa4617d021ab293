/*
 * Devices: where buffers lie, how code gets there, how a kernel runs. One row each. The row of a driver that is
 * opened at run time fails to open where the driver is not there.
 *
 * A context is an opened device, which a model and its instances share; calls that take one may come from several
 * threads. A stream is an instance's queue of work: what is put on it happens in order, at the latest when
 * synchronize returns. Only one thread at a time uses a stream, except that on the host every thread of a team
 * enters launch and copy. A failure of what was put on a stream may show only later, at the latest in synchronize.
 *
 * A buffer's address is a pointer that only its device may follow, unless on_host. A row whose driver has handles
 * instead of addresses (OpenCL) gives addresses of a range that it reserves, and finds the handle again.
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlc/dlc_runtime.h"
#include "runtime/device_facts.h"
#include "runtime/kernel.h"

typedef struct DeviceContext DeviceContext; /* each row defines its own */
typedef struct DeviceStream DeviceStream;
typedef struct DeviceRecording DeviceRecording; /* work that a stream does again and again */

typedef enum { DEVICE_UP, DEVICE_DOWN, DEVICE_WITHIN } DeviceWay; /* host to device, device to host, device to device */

/* The values of a DlcLaunch in one call, and how many arguments the kernel has. */
typedef struct DeviceLaunch {
	uint32_t dim[DLC_LAUNCH_DIMS];
	uint32_t nbuf, nsym;
} DeviceLaunch;

/* Limits of a launch. Shared memory is checked at the launch, since a kernel may have some of its own. */
typedef struct DeviceLimits {
	uint32_t dim[DLC_SHARED]; /* blocks of a grid and threads of a block, along x, y and z */
	uint32_t threads;         /* of a block */
} DeviceLimits;

enum { DEVICE_MARKS = 1024 };

typedef struct Device {
	const char *name;
	int32_t type; /* DLPack's code */
	bool on_host; /* its memory is the host's; a team of threads enters each kernel, without a DlcLaunch */

	DlcStatus (*open)(int32_t id, DeviceContext **out, DlcError *err);
	void (*close)(DeviceContext *c);
	uint64_t (*memory)(const DeviceContext *c); /* bytes there may be at most; 0: not known */
	const DeviceLimits *(*limits)(const DeviceContext *c); /* NULL: no limits */
	bool (*has)(const DeviceContext *c, const char *feature);
	uint64_t (*cache)(const DeviceContext *c); /* bytes of the last cache before its memory; 0: not known */
	/* Its kernels run on this machine's processors, whose caches hold its memory. NULL: no. */
	bool (*on_cpu)(const DeviceContext *c);

	/* Zeroed, at least 64-byte aligned; NULL if there is none left. */
	void *(*alloc)(DeviceContext *c, size_t bytes);
	void (*release)(DeviceContext *c, void *memory, size_t bytes);
	/*
	 * Makes an image callable; returns its handle, or NULL. Then `err`, which may be NULL, has the driver's reason, or
	 * on the host errno. in_place: `image` is a private mapping of whole pages of a file, which may become the code.
	 */
	void *(*code_load)(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err);
	void (*code_release)(DeviceContext *c, const void *image, void *code, size_t bytes);
	/*
	 * The kernel `name` of loaded code, at `offset` of machine code; it lives as long as the code. NULL: there is none,
	 * or the driver has another reason, which is in `err`.
	 */
	void *(*kernel)(DeviceContext *c, void *code, const char *name, uint64_t offset, DlcError *err);

	DeviceStream *(*stream_open)(DeviceContext *c); /* NULL: no memory or no more streams */
	void (*stream_close)(DeviceStream *s);
	/* 0, or a number of the driver's. The host's memory stays as it is until synchronize. */
	int (*copy)(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way);
	int (*fill)(DeviceStream *s, void *to, unsigned char byte, size_t bytes); /* each byte of device memory */
	/* Only if on_cpu: maps device memory for the host to read, until unmap. Waits for the stream. NULL: not mapped. */
	void *(*map)(DeviceStream *s, void *memory, size_t bytes);
	void (*unmap)(DeviceStream *s, void *memory, void *mapped);
	/* 0, or what went wrong. how is NULL on the host; the arguments are read before launch returns. */
	int (*launch)(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how);
	int (*synchronize)(DeviceStream *s);
	/* Notes the time when the stream comes to mark k < DEVICE_MARKS; then nanoseconds between two, after waiting. */
	void (*mark)(DeviceStream *s, uint32_t k);
	uint64_t (*time)(DeviceStream *s, uint32_t from, uint32_t to);

	/* How many there are, ids counted from 0; 0 and the reason, such as that there is no driver. */
	int (*count)(DlcError *err);
	/* NULL: the host's row, which the program asks itself. Opens no device. */
	DlcStatus (*describe)(int32_t id, DeviceFacts *out, DlcError *err);

	/*
	 * All that follows is optional. From record, if it returns 0, to record_end, launches, marks and copies within the
	 * device are noted instead of done, with the arguments that they have then. record_end returns the recording, or
	 * NULL. What did not work is no failure of the stream: the caller does the work without a recording.
	 */
	int (*record)(DeviceStream *s);
	DeviceRecording *(*record_end)(DeviceStream *s);
	int (*replay)(DeviceStream *s, DeviceRecording *r);
	void (*recording_release)(DeviceContext *c, DeviceRecording *r);
	/* The failure after which the context does nothing any more; 0: it works. */
	int (*lost)(const DeviceContext *c);
	/* Writes the meaning of a status of this row, and the way out. s may be NULL. Returns the DlcStatus of it. */
	DlcStatus (*explain)(DeviceContext *c, DeviceStream *s, int status, char *out, size_t size);
	/* The driver's own stream, for programs that order their work with the row's. */
	void *(*stream_handle)(DeviceStream *s);
} Device;

/* Its memory, code and streams need no context: NULL will do. */
extern const Device device_cpu;
extern const Device device_opencl;
extern const Device device_cuda;
/* The row of a DLPack code, NULL if this runtime has none. */
const Device *device_find(int32_t type);
const char *device_type_name(uint32_t type); /* "CUDA"; NULL: a code that dlc never writes */

#endif
