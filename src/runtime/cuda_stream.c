/*
 * See cuda.h: copies, fills, launches, marks and recordings.
 *
 * Host memory that the driver has not pinned goes through a pinned piece of memory of the stream: uploads are
 * copied there at once, downloads are fetched in synchronize. So no copy waits for the work before it. A copy
 * that is larger than the piece is left to the driver, which does the same in parts and waits.
 */
#include "runtime/cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	STAGE = 4 << 20, /* bytes of pinned memory: a batch of some images, and small beside a driver's own memory */
	FETCHES = 64,
	PARAMETERS = 512, /* 4096 bytes, which every device takes */
};

typedef struct Fetch { /* what synchronize copies out of the stage */
	void *to;
	const void *from;
	size_t bytes;
} Fetch;

struct DeviceStream {
	DeviceContext *c;
	CuStream stream;
	unsigned char *stage;
	size_t staged;
	int nfetch;
	bool recording;
	const Kernel *refused; /* kernel of the last launch, if the driver refused it; NULL once that is reported */
	DeviceLaunch refused_how;
	CuEvent mark[DEVICE_MARKS];
	Fetch fetch[FETCHES];
};

DeviceStream *cuda_stream_open(DeviceContext *c)
{
	DeviceStream *s = cuda_enter(c) == CU_OK ? calloc(1, sizeof *s) : NULL;
	if (s == NULL)
		return NULL;
	s->c = c;
	if (cuda_leave(c, cu.cuStreamCreate(&s->stream, CU_STREAM_ALONE)) == CU_OK)
		return s;
	free(s);
	return NULL;
}

void cuda_stream_close(DeviceStream *s)
{
	if (cuda_enter(s->c) == CU_OK) {
		for (int k = 0; k < DEVICE_MARKS; k++)
			if (s->mark[k] != NULL)
				cu.cuEventDestroy_v2(s->mark[k]);
		cu.cuStreamDestroy_v2(s->stream);
		if (s->stage != NULL)
			cu.cuMemFreeHost(s->stage);
		cuda_leave(s->c, CU_OK);
	}
	free(s);
}

int cuda_synchronize(DeviceStream *s)
{
	int status = cuda_enter(s->c);
	if (status == CU_OK)
		status = cuda_leave(s->c, cu.cuStreamSynchronize(s->stream));
	for (int k = 0; k < s->nfetch && status == CU_OK; k++)
		memcpy(s->fetch[k].to, s->fetch[k].from, s->fetch[k].bytes);
	s->nfetch = 0;
	s->staged = 0;
	return status;
}

/* Room in the stage for a copy of host memory; NULL: the driver must do it, as it does where memory is pinned. */
static unsigned char *stage(DeviceStream *s, const void *host, size_t bytes, int *status)
{
	int type = 0;
	void *p = s->stage;
	if (bytes > STAGE || cu.cuPointerGetAttribute(&type, CU_POINTER_MEMORY_TYPE, (uintptr_t)host) == CU_OK)
		return NULL;
	if (p == NULL && cu.cuMemHostAlloc(&p, STAGE, 0) != CU_OK)
		return NULL;
	s->stage = p;
	if (s->staged + bytes > STAGE || s->nfetch == FETCHES)
		*status = cuda_synchronize(s);
	unsigned char *at = s->stage + s->staged;
	s->staged += (bytes + 63) / 64 * 64;
	return at;
}

static int copy_up(DeviceStream *s, void *to, const void *from, size_t bytes)
{
	int status = CU_OK;
	unsigned char *at = stage(s, from, bytes, &status);
	if (at != NULL)
		memcpy(at, from, bytes);
	if (status == CU_OK)
		status = cu.cuMemcpyHtoDAsync_v2((uintptr_t)to, at != NULL ? at : from, bytes, s->stream);
	return status;
}

static int copy_down(DeviceStream *s, void *to, const void *from, size_t bytes)
{
	int status = CU_OK;
	unsigned char *at = stage(s, to, bytes, &status);
	if (status == CU_OK)
		status = cu.cuMemcpyDtoHAsync_v2(at != NULL ? at : to, (uintptr_t)from, bytes, s->stream);
	if (status == CU_OK && at != NULL)
		s->fetch[s->nfetch++] = (Fetch){ to, at, bytes };
	return status;
}

int cuda_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way)
{
	if (bytes == 0)
		return CU_OK;
	if (s->recording && way != DEVICE_WITHIN)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	int status = cuda_enter(s->c);
	if (status != CU_OK)
		return status;
	switch (way) {
	case DEVICE_UP: status = copy_up(s, to, from, bytes); break;
	case DEVICE_DOWN: status = copy_down(s, to, from, bytes); break;
	default: status = cu.cuMemcpyDtoDAsync_v2((uintptr_t)to, (uintptr_t)from, bytes, s->stream);
	}
	return cuda_leave(s->c, status);
}

int cuda_fill(DeviceStream *s, void *to, unsigned char byte, size_t bytes)
{
	if (bytes == 0)
		return CU_OK;
	int status = cuda_enter(s->c);
	return status == CU_OK ? cuda_leave(s->c, cu.cuMemsetD8Async((uintptr_t)to, byte, bytes, s->stream)) : status;
}

/*
 * A kernel may have more than 48 KiB of shared memory if an attribute of its function allows it. Streams of several
 * threads share the function, so the attribute only grows.
 */
static int allow_shared(Kernel *k, uint32_t bytes)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int allowed = 0;
	pthread_mutex_lock(&lock);
	int status = cu.cuFuncGetAttribute(&allowed, CU_FUNC_DYNAMIC_SHARED, k->function);
	if (status == CU_OK && bytes > (uint32_t)allowed)
		status = cu.cuFuncSetAttribute(k->function, CU_FUNC_DYNAMIC_SHARED, (int)bytes);
	if (status == CU_OK)
		atomic_store(&k->shared, bytes > (uint32_t)allowed ? bytes : (uint32_t)allowed);
	pthread_mutex_unlock(&lock);
	return status;
}

int cuda_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how)
{
	Kernel *k = kernel;
	const uint32_t *dim = how->dim;
	const void *parameter[PARAMETERS];
	uint32_t n = 0;
	if ((uint64_t)how->nbuf + how->nsym >= PARAMETERS)
		return CUDA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < how->nbuf; i++)
		parameter[n++] = &call->buf[i];
	for (uint32_t i = 0; i < how->nsym; i++)
		parameter[n++] = &call->sym[i];
	parameter[n] = &call->work;
	int status = cuda_enter(s->c);
	if (status != CU_OK)
		return status;
	if (dim[DLC_SHARED] > atomic_load_explicit(&k->shared, memory_order_relaxed))
		status = allow_shared(k, dim[DLC_SHARED]);
	if (status == CU_OK)
		status = cu.cuLaunchKernel(k->function, dim[DLC_GRID], dim[DLC_GRID + 1], dim[DLC_GRID + 2], dim[DLC_BLOCK],
			dim[DLC_BLOCK + 1], dim[DLC_BLOCK + 2], dim[DLC_SHARED], s->stream, (void **)(uintptr_t)parameter, NULL);
	s->refused = status != CU_OK ? k : NULL;
	s->refused_how = *how;
	return cuda_leave(s->c, status);
}

void cuda_mark(DeviceStream *s, uint32_t k)
{
	if (cuda_enter(s->c) != CU_OK)
		return;
	int status = s->mark[k] == NULL ? cu.cuEventCreate(&s->mark[k], 0) : CU_OK;
	if (status == CU_OK && s->recording)
		status = cu_graph.cuEventRecordWithFlags(s->mark[k], s->stream, CU_EVENT_EXTERNAL);
	else if (status == CU_OK)
		status = cu.cuEventRecord(s->mark[k], s->stream);
	cuda_leave(s->c, status);
}

uint64_t cuda_time(DeviceStream *s, uint32_t from, uint32_t to)
{
	float ms = 0;
	if (s->mark[from] == NULL || s->mark[to] == NULL || cuda_enter(s->c) != CU_OK)
		return 0;
	int status = cu.cuEventSynchronize(s->mark[to]);
	if (status == CU_OK)
		status = cu.cuEventElapsedTime(&ms, s->mark[from], s->mark[to]);
	return cuda_leave(s->c, status) == CU_OK && ms > 0 ? (uint64_t)((double)ms * 1e6 + 0.5) : 0;
}

/* ---- recordings ---- */

int cuda_record(DeviceStream *s)
{
	int status = cu_graphs ? cuda_enter(s->c) : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (status == CU_OK)
		status = cuda_leave(s->c, cu_graph.cuStreamBeginCapture_v2(s->stream, CU_CAPTURE_RELAXED));
	s->recording = status == CU_OK;
	return status;
}

DeviceRecording *cuda_record_end(DeviceStream *s)
{
	CuGraph whole = NULL;
	CuGraphExec out = NULL;
	s->recording = false;
	if (cuda_enter(s->c) != CU_OK)
		return NULL;
	int status = cu_graph.cuStreamEndCapture(s->stream, &whole);
	if (status == CU_OK)
		status = cu_graph.cuGraphInstantiateWithFlags(&out, whole, 0);
	if (whole != NULL)
		cu_graph.cuGraphDestroy(whole);
	return cuda_leave(s->c, status) == CU_OK ? out : NULL;
}

int cuda_replay(DeviceStream *s, DeviceRecording *r)
{
	int status = cuda_enter(s->c);
	return status == CU_OK ? cuda_leave(s->c, cu_graph.cuGraphLaunch(r, s->stream)) : status;
}

void cuda_recording_release(DeviceContext *c, DeviceRecording *r)
{
	if (cuda_enter(c) == CU_OK)
		cuda_leave(c, cu_graph.cuGraphExecDestroy(r));
}

void *cuda_stream_handle(DeviceStream *s)
{
	return s->stream;
}

const Kernel *cuda_refused(DeviceStream *s, DeviceLaunch *how)
{
	const Kernel *k = s->refused;
	*how = s->refused_how;
	s->refused = NULL;
	return k;
}
