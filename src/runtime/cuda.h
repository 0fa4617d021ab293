/*
 * What the files of CUDA's row share: cuda.c has the driver, contexts, memory, code and what is said of failures,
 * cuda_stream.c has the work that is put on streams.
 */
#ifndef RUNTIME_CUDA_H
#define RUNTIME_CUDA_H

#include <stdatomic.h>

#include "runtime/cuda_api.h"
#include "runtime/device.h"

enum { CUDA_NAME = 96 };

struct DeviceContext {
	CuContext context;
	CuStream fill; /* zeroes what is allocated */
	int device, sm;
	DeviceLimits limits;
	uint64_t bytes;
	_Atomic int lost;
	char name[CUDA_NAME];
};

typedef struct Kernel { /* the handle that launch gets */
	CuFunction function;
	_Atomic uint32_t shared; /* bytes of dynamic shared memory that a launch may ask for */
	char name[DLC_SYMBOL];
} Kernel;

extern CudaApi cu;
extern CudaGraphApi cu_graph;
extern bool cu_graphs; /* whether cu_graph is complete */

/* Makes the context current. What is not 0 is the failure that lost it, or the driver's. */
int cuda_enter(const DeviceContext *c);
/* After cuda_enter returned 0: restores the thread's own context and returns status, which may lose this one. */
int cuda_leave(DeviceContext *c, int status);

DeviceStream *cuda_stream_open(DeviceContext *c);
void cuda_stream_close(DeviceStream *s);
int cuda_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way);
int cuda_fill(DeviceStream *s, void *to, unsigned char byte, size_t bytes);
int cuda_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how);
int cuda_synchronize(DeviceStream *s);
void cuda_mark(DeviceStream *s, uint32_t k);
uint64_t cuda_time(DeviceStream *s, uint32_t from, uint32_t to);
int cuda_record(DeviceStream *s);
DeviceRecording *cuda_record_end(DeviceStream *s);
int cuda_replay(DeviceStream *s, DeviceRecording *r);
void cuda_recording_release(DeviceContext *c, DeviceRecording *r);
void *cuda_stream_handle(DeviceStream *s);
/* The kernel and numbers of the last launch, if the driver refused it; NULL else, and at a second call. */
const Kernel *cuda_refused(DeviceStream *s, DeviceLaunch *how);

#endif
