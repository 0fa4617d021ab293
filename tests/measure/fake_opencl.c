/*
 * An OpenCL loader with faults: libOpenCL.so.1 of a folder that a test puts into LD_LIBRARY_PATH. It hands every call
 * to the real loader, DLC_FAKE_REAL. From call N of function F on, it answers with an error: DLC_FAKE_FAULT is
 * "F N STATUS", or "F N STATUS TIMES" for so many calls. If DLC_FAKE_WHEN names a file, calls count only once it is
 * there. If DLC_FAKE_LOST names a file, the fault makes it, and where the file is there are no devices more. With
 * DLC_FAKE_GPU every device says it is a GPU.
 */
#include "runtime/opencl_api.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static OpenclApi real;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char fault[64];
static int when, status, times = INT32_MAX;
static _Atomic int calls;

static void open_real(void)
{
	const char *path = getenv("DLC_FAKE_REAL"), *asked = getenv("DLC_FAKE_FAULT");
	void *lib = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (lib == NULL)
		abort();
#define OPENCL(result, name, parameters) \
	{ \
		void *f = dlsym(lib, #name); \
		memcpy(&real.name, &f, sizeof f); \
	}
	OPENCL_FUNCTIONS
#undef OPENCL
	if (asked == NULL || sscanf(asked, "%63s %d %d %d", fault, &when, &status, &times) < 3)
		fault[0] = 0;
}

/* 0, or the status that this call of `name` fails with. */
static int fails(const char *name)
{
	pthread_once(&once, open_real);
	const char *from = getenv("DLC_FAKE_WHEN");
	int n = strcmp(name, fault) == 0 && (from == NULL || access(from, F_OK) == 0) ? ++calls : 0;
	if (n == 0 || n < when || n - when >= times)
		return 0;
	const char *lost = getenv("DLC_FAKE_LOST");
	int fd = lost != NULL ? open(lost, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;
	if (fd >= 0)
		close(fd);
	return status;
}

static bool is_lost(void)
{
	const char *lost = getenv("DLC_FAKE_LOST");
	return lost != NULL && access(lost, F_OK) == 0;
}

/* NAME: a function that returns a status. MAKES: one that returns a handle, and the status through `out`. */
#define NAME(name, parameters, arguments) \
	int32_t name parameters; \
	int32_t name parameters \
	{ \
		int failed = fails(#name); \
		return failed != 0 ? failed : real.name arguments; \
	}
#define MAKES(type, name, parameters, arguments) \
	type name parameters; \
	type name parameters \
	{ \
		int failed = fails(#name); \
		if (failed == 0) \
			return real.name arguments; \
		*out = failed; \
		return NULL; \
	}

int32_t clGetDeviceIDs(ClPlatform, uint64_t, uint32_t, ClDevice *, uint32_t *);
int32_t clGetDeviceIDs(ClPlatform p, uint64_t type, uint32_t n, ClDevice *device, uint32_t *there)
{
	int failed = fails("clGetDeviceIDs");
	if (failed == 0 && is_lost())
		failed = -1; /* CL_DEVICE_NOT_FOUND */
	return failed != 0 ? failed : real.clGetDeviceIDs(p, type, n, device, there);
}

int32_t clGetDeviceInfo(ClDevice, uint32_t, size_t, void *, size_t *);
int32_t clGetDeviceInfo(ClDevice d, uint32_t what, size_t n, void *to, size_t *size)
{
	static const uint64_t gpu = 4;
	int failed = fails("clGetDeviceInfo");
	if (failed == 0)
		failed = real.clGetDeviceInfo(d, what, n, to, size);
	if (failed == 0 && what == CL_DEVICE_TYPE && to != NULL && getenv("DLC_FAKE_GPU") != NULL)
		memcpy(to, &gpu, sizeof gpu);
	return failed;
}

typedef void ContextFn(const char *, const void *, size_t, void *);
typedef void ProgramFn(ClProgram, void *);

NAME(clGetPlatformIDs, (uint32_t n, ClPlatform *p, uint32_t *there), (n, p, there))
MAKES(ClContext, clCreateContext,
	(const intptr_t *p, uint32_t n, const ClDevice *d, ContextFn *f, void *arg, int32_t *out), (p, n, d, f, arg, out))
NAME(clReleaseContext, (ClContext c), (c))
MAKES(ClQueue, clCreateCommandQueue, (ClContext c, ClDevice d, uint64_t how, int32_t *out), (c, d, how, out))
NAME(clReleaseCommandQueue, (ClQueue q), (q))
MAKES(ClMem, clCreateBuffer, (ClContext c, uint64_t how, size_t n, void *at, int32_t *out), (c, how, n, at, out))
NAME(clReleaseMemObject, (ClMem m), (m))
MAKES(ClProgram, clCreateProgramWithSource,
	(ClContext c, uint32_t n, const char **text, const size_t *size, int32_t *out), (c, n, text, size, out))
MAKES(ClProgram, clCreateProgramWithBinary,
	(ClContext c, uint32_t n, const ClDevice *d, const size_t *size, const unsigned char **at, int32_t *each,
		int32_t *out),
	(c, n, d, size, at, each, out))
NAME(clGetProgramInfo, (ClProgram p, uint32_t what, size_t n, void *to, size_t *size), (p, what, n, to, size))
NAME(clReleaseProgram, (ClProgram p), (p))
NAME(clBuildProgram, (ClProgram p, uint32_t n, const ClDevice *d, const char *o, ProgramFn *f, void *arg),
	(p, n, d, o, f, arg))
NAME(clGetProgramBuildInfo, (ClProgram p, ClDevice d, uint32_t what, size_t n, void *to, size_t *size),
	(p, d, what, n, to, size))
MAKES(ClKernel, clCreateKernel, (ClProgram p, const char *name, int32_t *out), (p, name, out))
NAME(clReleaseKernel, (ClKernel k), (k))
NAME(clSetKernelArg, (ClKernel k, uint32_t i, size_t n, const void *at), (k, i, n, at))
NAME(clEnqueueNDRangeKernel,
	(ClQueue q, ClKernel k, uint32_t rank, const size_t *from, const size_t *all, const size_t *group, uint32_t n,
		const ClEvent *wait, ClEvent *done),
	(q, k, rank, from, all, group, n, wait, done))
NAME(clEnqueueReadBuffer,
	(ClQueue q, ClMem m, uint32_t block, size_t at, size_t size, void *to, uint32_t n, const ClEvent *wait,
		ClEvent *done),
	(q, m, block, at, size, to, n, wait, done))
NAME(clEnqueueWriteBuffer,
	(ClQueue q, ClMem m, uint32_t block, size_t at, size_t size, const void *from, uint32_t n, const ClEvent *wait,
		ClEvent *done),
	(q, m, block, at, size, from, n, wait, done))
NAME(clEnqueueCopyBuffer,
	(ClQueue q, ClMem from, ClMem to, size_t at, size_t there, size_t size, uint32_t n, const ClEvent *wait,
		ClEvent *done),
	(q, from, to, at, there, size, n, wait, done))
NAME(clEnqueueFillBuffer,
	(ClQueue q, ClMem m, const void *with, size_t step, size_t at, size_t size, uint32_t n, const ClEvent *wait,
		ClEvent *done),
	(q, m, with, step, at, size, n, wait, done))
MAKES(void *, clEnqueueMapBuffer,
	(ClQueue q, ClMem m, uint32_t block, uint64_t how, size_t at, size_t size, uint32_t n, const ClEvent *wait,
		ClEvent *done, int32_t *out),
	(q, m, block, how, at, size, n, wait, done, out))
NAME(clEnqueueUnmapMemObject, (ClQueue q, ClMem m, void *at, uint32_t n, const ClEvent *wait, ClEvent *done),
	(q, m, at, n, wait, done))
NAME(clFinish, (ClQueue q), (q))
NAME(clEnqueueMarkerWithWaitList, (ClQueue q, uint32_t n, const ClEvent *wait, ClEvent *done), (q, n, wait, done))
NAME(clWaitForEvents, (uint32_t n, const ClEvent *e), (n, e))
NAME(clGetEventProfilingInfo, (ClEvent e, uint32_t what, size_t n, void *to, size_t *size), (e, what, n, to, size))
NAME(clReleaseEvent, (ClEvent e), (e))
