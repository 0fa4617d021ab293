/*
 * See opencl.h: copies, fills, launches and marks. A kernel object holds its arguments. So launches of one context set
 * the arguments and enqueue the kernel under a lock.
 */
#include "runtime/opencl.h"

#include <stdlib.h>

struct DeviceStream {
	DeviceContext *c;
	ClQueue queue;
	ClEvent mark[DEVICE_MARKS];
};

DeviceStream *opencl_stream_open(DeviceContext *c)
{
	int32_t status;
	DeviceStream *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->c = c;
	s->queue = cl.clCreateCommandQueue(c->context, c->device, CL_QUEUE_PROFILING_ENABLE, &status);
	if (s->queue == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

void opencl_stream_close(DeviceStream *s)
{
	for (int k = 0; k < DEVICE_MARKS; k++)
		if (s->mark[k] != NULL)
			cl.clReleaseEvent(s->mark[k]);
	cl.clReleaseCommandQueue(s->queue);
	free(s);
}

int opencl_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way)
{
	uint64_t at = 0, source = 0;
	if (bytes == 0)
		return 0;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = way != DEVICE_DOWN ? opencl_memory_at(s->c, to, &at) : NULL;
	ClMem other = way != DEVICE_UP ? opencl_memory_at(s->c, from, &source) : NULL;
	pthread_mutex_unlock(&s->c->lock);
	if ((way != DEVICE_DOWN && mem == NULL) || (way != DEVICE_UP && other == NULL))
		return CL_INVALID_VALUE;
	if (way == DEVICE_UP)
		return opencl_noted(s->c, cl.clEnqueueWriteBuffer(s->queue, mem, 0, at, bytes, from, 0, NULL, NULL));
	if (way == DEVICE_DOWN)
		return opencl_noted(s->c, cl.clEnqueueReadBuffer(s->queue, other, 0, source, bytes, to, 0, NULL, NULL));
	return opencl_noted(s->c, cl.clEnqueueCopyBuffer(s->queue, other, mem, source, at, bytes, 0, NULL, NULL));
}

int opencl_fill(DeviceStream *s, void *to, unsigned char byte, size_t bytes)
{
	uint64_t at;
	if (bytes == 0)
		return 0;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = opencl_memory_at(s->c, to, &at);
	pthread_mutex_unlock(&s->c->lock);
	if (mem == NULL)
		return CL_INVALID_VALUE;
	return opencl_noted(s->c, cl.clEnqueueFillBuffer(s->queue, mem, &byte, 1, at, bytes, 0, NULL, NULL));
}

void *opencl_map(DeviceStream *s, void *memory, size_t bytes)
{
	uint64_t at;
	int32_t status;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = opencl_memory_at(s->c, memory, &at);
	pthread_mutex_unlock(&s->c->lock);
	if (mem == NULL || bytes == 0)
		return NULL;
	return cl.clEnqueueMapBuffer(s->queue, mem, 1, CL_MAP_READ, at, bytes, 0, NULL, NULL, &status);
}

void opencl_unmap(DeviceStream *s, void *memory, void *mapped)
{
	uint64_t at;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = opencl_memory_at(s->c, memory, &at);
	pthread_mutex_unlock(&s->c->lock);
	cl.clEnqueueUnmapMemObject(s->queue, mem, mapped, 0, NULL, NULL);
}

/* An address as two arguments, k and k + 1. */
static int set_address(DeviceStream *s, ClKernel kernel, uint32_t k, const void *address)
{
	uint64_t offset;
	ClMem mem = opencl_memory_at(s->c, address, &offset);
	if (mem == NULL && address != NULL)
		return CL_INVALID_VALUE;
	int status = cl.clSetKernelArg(kernel, k, sizeof mem, mem != NULL ? &mem : NULL);
	return status != CL_OK ? status : cl.clSetKernelArg(kernel, k + 1, sizeof offset, &offset);
}

int opencl_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how)
{
	size_t global[3], local[3];
	int status = CL_OK;
	for (int k = 0; k < 3; k++) {
		local[k] = how->dim[DLC_BLOCK + k];
		global[k] = how->dim[DLC_GRID + k] * local[k];
	}
	pthread_mutex_lock(&s->c->lock);
	uint32_t arg = 0;
	for (uint32_t k = 0; k < how->nbuf && status == CL_OK; k++, arg += 2)
		status = set_address(s, kernel, arg, call->buf[k]);
	for (uint32_t k = 0; k < how->nsym && status == CL_OK; k++, arg++)
		status = cl.clSetKernelArg(kernel, arg, sizeof call->sym[k], &call->sym[k]);
	if (status == CL_OK)
		status = set_address(s, kernel, arg, call->work);
	if (status == CL_OK)
		status = cl.clEnqueueNDRangeKernel(s->queue, kernel, 3, NULL, global, local, 0, NULL, NULL);
	pthread_mutex_unlock(&s->c->lock);
	return opencl_noted(s->c, status);
}

int opencl_synchronize(DeviceStream *s)
{
	return opencl_waited(s->c, cl.clFinish(s->queue));
}

void opencl_mark(DeviceStream *s, uint32_t k)
{
	if (s->mark[k] != NULL)
		cl.clReleaseEvent(s->mark[k]);
	s->mark[k] = NULL;
	if (cl.clEnqueueMarkerWithWaitList(s->queue, 0, NULL, &s->mark[k]) != CL_OK)
		s->mark[k] = NULL;
}

uint64_t opencl_time(DeviceStream *s, uint32_t from, uint32_t to)
{
	ClEvent event[] = { s->mark[from], s->mark[to] };
	uint64_t at[2] = { 0 };
	if (event[0] == NULL || event[1] == NULL || opencl_waited(s->c, cl.clWaitForEvents(2, event)) != CL_OK)
		return 0;
	for (int k = 0; k < 2; k++)
		if (cl.clGetEventProfilingInfo(event[k], CL_PROFILING_COMMAND_END, sizeof at[k], &at[k], NULL) != CL_OK)
			return 0;
	return at[1] > at[0] ? at[1] - at[0] : 0;
}
