/*
 * Shared by the files of OpenCL's row. opencl.c has the library, devices, contexts, memory and failures; opencl_code.c
 * has programs; opencl_stream.c has the work on streams.
 */
#ifndef RUNTIME_OPENCL_H
#define RUNTIME_OPENCL_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/opencl_api.h"

typedef struct OpenclArea OpenclArea; /* an allocation */

struct DeviceContext {
	ClDevice device;
	ClContext context;
	ClQueue fill; /* zeroes new memory */
	uint64_t most;
	DeviceLimits limits;
	bool is_cpu;
	char *extensions;
	atomic_int lost;      /* the status that lost the device; 0: none */
	pthread_mutex_t lock; /* of the list, and of the arguments of kernels */
	OpenclArea *area;
};

extern OpenclApi cl;

/* Notes a status if it means that the device is lost; returns it. */
int opencl_noted(DeviceContext *c, int status);
/*
 * The same after a call that waits: there CL_OUT_OF_RESOURCES means that a kernel failed while it ran. A launch returns
 * it for one kernel with too many registers, and the device is not lost.
 */
int opencl_waited(DeviceContext *c, int status);
/* The same after a call that makes an object: there CL_OUT_OF_RESOURCES means too little memory. */
int opencl_made(DeviceContext *c, int status);
/* Fails as runtime_fail does, with the driver's status; the sentence begins with `what`. */
DlcStatus opencl_fail(DlcError *err, int status, const char *what);
/*
 * The object of an address, and the offset in it. The address behind the last byte belongs to it, too. The lock is
 * held.
 */
ClMem opencl_memory_at(const DeviceContext *c, const void *address, uint64_t *offset);

void *opencl_code_load(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err);
void opencl_code_release(DeviceContext *c, const void *image, void *code, size_t bytes);
void *opencl_kernel(DeviceContext *c, void *code, const char *name, uint64_t offset, DlcError *err);

DeviceStream *opencl_stream_open(DeviceContext *c);
void opencl_stream_close(DeviceStream *s);
int opencl_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way);
int opencl_fill(DeviceStream *s, void *to, unsigned char byte, size_t bytes);
void *opencl_map(DeviceStream *s, void *memory, size_t bytes);
void opencl_unmap(DeviceStream *s, void *memory, void *mapped);
int opencl_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how);
int opencl_synchronize(DeviceStream *s);
void opencl_mark(DeviceStream *s, uint32_t k);
uint64_t opencl_time(DeviceStream *s, uint32_t from, uint32_t to);

#endif
