/*
 * See device.h; the row of OpenCL, any device of any vendor. Device k is the k-th of all platforms in their order.
 *
 * OpenCL has memory objects where kernels of the plan have addresses within one large piece. So an allocation is an
 * object and a range of addresses that is reserved and backs nothing. An address is found in the list of ranges; a
 * kernel gets its object and the offset in it as two arguments. Sub-buffers would do without the second, but must
 * begin at multiples of up to 4096 bytes, where buffers of a plan begin at multiples of 64. Shared virtual memory has
 * addresses, but is optional, and devices of OpenCL 1.2 have none.
 *
 * A kernel object has its arguments as state, so launches of one context set and enqueue them one at a time.
 */
#include "runtime/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/driver.h"
#include "runtime/model.h"
#include "runtime/opencl_api.h"

enum { DEVICES = 64, LOG = 4096, KERNELS = 64 };

typedef struct Area { /* an allocation */
	struct Area *next;
	unsigned char *at; /* one byte more is reserved, so that the end of a range is in no other */
	size_t bytes;
	ClMem mem;
} Area;

typedef struct Code {
	ClProgram program;
	struct Code *next;
	int n;
	ClKernel kernel[];
} Code;

struct DeviceContext {
	ClDevice device;
	ClContext context;
	ClQueue fill; /* zeroes what is allocated */
	uint64_t most;
	char *extensions;
	atomic_int lost;      /* the status after which nothing works; 0: all is well */
	pthread_mutex_t lock; /* of the list, and of the arguments of kernels */
	Area *area;
};

struct DeviceStream {
	DeviceContext *c;
	ClQueue queue;
	ClEvent mark[DEVICE_MARKS];
};

static OpenclApi cl;
static const char *cl_lacks; /* what could not be found; NULL: all is there */
static pthread_once_t cl_once = PTHREAD_ONCE_INIT;

/* How many devices there are; device id is one of them or NULL. */
static uint32_t find_device(int32_t id, ClDevice *out)
{
	ClPlatform platform[DEVICES];
	uint32_t nplatform = 0, all = 0;
	*out = NULL;
	if (cl.clGetPlatformIDs(DEVICES, platform, &nplatform) != CL_OK)
		return 0;
	for (uint32_t k = 0; k < nplatform && k < DEVICES; k++) {
		ClDevice device[DEVICES];
		uint32_t n = 0;
		if (cl.clGetDeviceIDs(platform[k], CL_DEVICE_TYPE_ALL, DEVICES, device, &n) != CL_OK)
			continue;
		n = n < DEVICES ? n : DEVICES;
		if (id >= 0 && (uint32_t)id >= all && (uint32_t)id < all + n)
			*out = device[(uint32_t)id - all];
		all += n;
	}
	return all;
}

static void find_first(void)
{
	ClDevice device;
	find_device(-1, &device);
}

static void open_library(void)
{
	static const char *const NAME[] = {
#define OPENCL(result, name, parameters) #name,
		OPENCL_FUNCTIONS
#undef OPENCL
	};
	cl_lacks = driver_open("libOpenCL.so.1", NAME, sizeof NAME / sizeof *NAME, &cl);
	if (cl_lacks == NULL)
		driver_keep_signals(find_first);
}

static char *device_text(ClDevice d, uint32_t what)
{
	size_t n = 0;
	if (cl.clGetDeviceInfo(d, what, 0, NULL, &n) != CL_OK)
		return NULL;
	char *s = calloc(n + 1, 1);
	if (s != NULL)
		cl.clGetDeviceInfo(d, what, n, s, NULL);
	return s;
}

static void opencl_close(DeviceContext *c)
{
	while (c->area != NULL) {
		Area *a = c->area;
		c->area = a->next;
		cl.clReleaseMemObject(a->mem);
		munmap(a->at, a->bytes + 1);
		free(a);
	}
	if (c->fill != NULL)
		cl.clReleaseCommandQueue(c->fill);
	if (c->context != NULL)
		cl.clReleaseContext(c->context);
	pthread_mutex_destroy(&c->lock);
	free(c->extensions);
	free(c);
}

/* Devices there are; 0 and the reason. */
static int opencl_count(DlcError *err)
{
	ClDevice device;
	pthread_once(&cl_once, open_library);
	if (cl_lacks != NULL)
		runtime_fail(err, DLC_SYSTEM,
			"there is no OpenCL device: libOpenCL.so.1 %s%s; install an OpenCL loader and the device's driver",
			cl_lacks[0] == 0 ? "cannot be opened" : "lacks ", cl_lacks);
	int n = cl_lacks == NULL ? (int)find_device(-1, &device) : 0;
	if (n == 0 && cl_lacks == NULL)
		runtime_fail(err, DLC_SYSTEM,
			"the OpenCL loader finds no device: install a driver, and see that it is in /etc/OpenCL/vendors");
	return n;
}

/* Device id, which there is and which has the version that this file asks for. */
static DlcStatus device_get(int32_t id, ClDevice *out, DlcError *err)
{
	int n = opencl_count(err);
	if (n == 0)
		return DLC_SYSTEM;
	find_device(id, out);
	if (*out == NULL)
		return runtime_fail(
			err, DLC_SYSTEM, "there is no OpenCL device %d: this machine has %d, counted from 0", (int)id, n);
	char *version = device_text(*out, CL_DEVICE_VERSION); /* "OpenCL 1.2 ..." */
	bool old = version == NULL || strncmp(version, "OpenCL 1.0", 10) == 0 || strncmp(version, "OpenCL 1.1", 10) == 0;
	DlcStatus s = !old ? DLC_OK
	                   : runtime_fail(err, DLC_SYSTEM,
							 "OpenCL device %d has a driver for %.40s: install one for OpenCL 1.2 or later", (int)id,
							 version != NULL ? version : "an unknown version");
	free(version);
	return s;
}

/* "cl_khr_fp64", or without the prefix. */
static bool lists_extension(const char *extensions, const char *feature)
{
	size_t n = strlen(feature);
	for (const char *e = extensions; n > 0 && e != NULL && (e = strstr(e, feature)) != NULL; e += n) {
		const char *begin = e - extensions >= 7 && strncmp(e - 7, "cl_khr_", 7) == 0 ? e - 7 : e;
		if ((begin == extensions || begin[-1] == ' ') && (e[n] == ' ' || e[n] == 0))
			return true;
	}
	return false;
}

static uint64_t device_value(ClDevice d, uint32_t what)
{
	uint64_t v = 0; /* of 4 or 8 bytes */
	return cl.clGetDeviceInfo(d, what, sizeof v, &v, NULL) == CL_OK ? v : 0;
}

static void take_text(char *out, size_t size, char *text)
{
	size_t n = text != NULL ? strlen(text) : 0;
	n = n < size ? n : size - 1;
	memcpy(out, text != NULL ? text : "", n);
	out[n] = 0;
	free(text);
}

static DlcStatus opencl_describe(int32_t id, DeviceFacts *out, DlcError *err)
{
	ClDevice d;
	*out = (DeviceFacts){ .n = 0 };
	DlcStatus s = device_get(id, &d, err);
	if (s != DLC_OK)
		return s;
	char *extensions = device_text(d, CL_DEVICE_EXTENSIONS);
	take_text(out->name, sizeof out->name, device_text(d, CL_DEVICE_NAME));
	take_text(out->driver, sizeof out->driver, device_text(d, CL_DEVICE_VERSION));
	strcpy(out->features, lists_extension(extensions, "fp16") ? "fp16 " : "");
	strcat(out->features, lists_extension(extensions, "fp64") ? "fp64" : "");
	free(extensions);
	out->is_cpu = (device_value(d, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
	double shared = (double)device_value(d, CL_DEVICE_LOCAL_MEM_SIZE);
	device_number(out, "cores", (double)device_value(d, CL_DEVICE_MAX_COMPUTE_UNITS));
	device_number(out, "ghz", (double)device_value(d, CL_DEVICE_MAX_CLOCK_FREQUENCY) / 1000);
	device_number(out, "block_threads", (double)device_value(d, CL_DEVICE_MAX_WORK_GROUP_SIZE));
	device_number(out, "shared_bytes", shared);
	device_number(out, "unit_shared_bytes", shared);
	device_number(out, "memory_bytes", (double)device_value(d, CL_DEVICE_GLOBAL_MEM_SIZE));
	if (out->is_cpu) /* a GPU's preferred width is that of arithmetic, not of loads */
		device_number(out, "vector_bits", 32 * (double)device_value(d, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT));
	return DLC_OK;
}

static DlcStatus opencl_open(int32_t id, DeviceContext **out, DlcError *err)
{
	ClDevice device;
	int32_t status;
	*out = NULL;
	DlcStatus s = device_get(id, &device, err);
	if (s != DLC_OK)
		return s;
	DeviceContext *c = calloc(1, sizeof *c);
	if (c == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no memory for device %d", id);
	pthread_mutex_init(&c->lock, NULL);
	c->device = device;
	c->extensions = device_text(device, CL_DEVICE_EXTENSIONS);
	cl.clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof c->most, &c->most, NULL);
	c->context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	if (c->context != NULL)
		c->fill = cl.clCreateCommandQueue(c->context, device, 0, &status);
	if (c->fill == NULL) {
		opencl_close(c);
		return runtime_fail(err, DLC_SYSTEM, "OpenCL device %d cannot be opened: its driver says %d", id, (int)status);
	}
	*out = c;
	return DLC_OK;
}

/* Of one allocation: an instance makes one. */
static uint64_t opencl_memory(const DeviceContext *c)
{
	return c->most;
}

static uint64_t opencl_cache(const DeviceContext *c)
{
	uint64_t bytes = 0;
	cl.clGetDeviceInfo(c->device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof bytes, &bytes, NULL);
	return bytes;
}

static bool opencl_on_cpu(const DeviceContext *c)
{
	uint64_t type = 0;
	cl.clGetDeviceInfo(c->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	return (type & CL_DEVICE_TYPE_CPU) != 0;
}

static bool opencl_has(const DeviceContext *c, const char *feature)
{
	return lists_extension(c->extensions, feature);
}

/* ---- memory ---- */

static void *opencl_alloc(DeviceContext *c, size_t bytes)
{
	static const unsigned char zero;
	int32_t status;
	bytes = bytes > 0 ? bytes : 1;
	Area *a = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *a) : NULL;
	if (a == NULL)
		return NULL;
	a->bytes = bytes;
	a->at = mmap(NULL, bytes + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	a->mem = a->at != MAP_FAILED ? cl.clCreateBuffer(c->context, CL_MEM_READ_WRITE, bytes, NULL, &status) : NULL;
	bool ok = a->mem != NULL && cl.clEnqueueFillBuffer(c->fill, a->mem, &zero, 1, 0, bytes, 0, NULL, NULL) == CL_OK &&
	          cl.clFinish(c->fill) == CL_OK;
	if (!ok) {
		if (a->mem != NULL)
			cl.clReleaseMemObject(a->mem);
		if (a->at != MAP_FAILED)
			munmap(a->at, bytes + 1);
		free(a);
		return NULL;
	}
	pthread_mutex_lock(&c->lock);
	a->next = c->area;
	c->area = a;
	pthread_mutex_unlock(&c->lock);
	return a->at;
}

static void opencl_release(DeviceContext *c, void *memory, size_t bytes)
{
	(void)bytes;
	pthread_mutex_lock(&c->lock);
	Area **at = &c->area;
	while (*at != NULL && (*at)->at != memory)
		at = &(*at)->next;
	Area *a = *at;
	if (a != NULL)
		*at = a->next;
	pthread_mutex_unlock(&c->lock);
	if (a == NULL)
		return;
	cl.clReleaseMemObject(a->mem);
	munmap(a->at, a->bytes + 1);
	free(a);
}

/* The object that an address lies in, and how far from its start; an address behind the last byte is still its own.
   The lock is held. */
static ClMem find_memory(const DeviceContext *c, const void *address, uint64_t *offset)
{
	for (const Area *a = c->area; a != NULL; a = a->next)
		if ((uintptr_t)address >= (uintptr_t)a->at && (uintptr_t)address - (uintptr_t)a->at <= a->bytes) {
			*offset = (uint64_t)((uintptr_t)address - (uintptr_t)a->at);
			return a->mem;
		}
	*offset = 0;
	return NULL;
}

/* ---- code ---- */

/* The log's first line that says something, for a sentence. */
static DlcStatus build_failed(const DeviceContext *c, ClProgram p, DlcError *err)
{
	char *log = calloc(LOG + 1, 1), *line = log;
	size_t n = 0;
	if (log != NULL && cl.clGetProgramBuildInfo(p, c->device, CL_PROGRAM_BUILD_LOG, LOG, log, &n) != CL_OK)
		log[0] = 0;
	char *found = log != NULL ? strstr(log, "error") : NULL;
	while (found != NULL && found > log && found[-1] != '\n')
		found--;
	line = found != NULL ? found : log;
	if (line != NULL)
		line[strcspn(line, "\r\n")] = 0;
	DlcStatus s = runtime_fail(err, DLC_BAD_TARGET, "the OpenCL driver does not build the code: %.300s",
		line != NULL && line[0] != 0 ? line : "it gives no reason");
	free(log);
	return s;
}

static void *opencl_code_load(DeviceContext *c, const void *image, size_t bytes, bool in_place, DlcError *err)
{
	int32_t status;
	const char *text = image;
	size_t n = bytes > 0 ? bytes - 1 : 0; /* without its 0 */
	(void)in_place;
	Code *code = calloc(1, sizeof *code + KERNELS * sizeof *code->kernel);
	if (code != NULL)
		code->program = cl.clCreateProgramWithSource(c->context, 1, &text, &n, &status);
	if (code == NULL || code->program == NULL) {
		runtime_fail(err, DLC_NO_MEMORY, "no memory for %zu bytes of code", bytes);
		free(code);
		return NULL;
	}
	if (cl.clBuildProgram(code->program, 1, &c->device, "-cl-std=CL1.2", NULL, NULL) == CL_OK)
		return code;
	build_failed(c, code->program, err);
	cl.clReleaseProgram(code->program);
	free(code);
	return NULL;
}

static void opencl_code_release(DeviceContext *c, const void *image, void *code, size_t bytes)
{
	Code *first = code;
	(void)c, (void)image, (void)bytes;
	for (Code *k = first, *next; k != NULL; k = next) {
		next = k->next;
		for (int i = 0; i < k->n; i++)
			cl.clReleaseKernel(k->kernel[i]);
		if (k->program != NULL)
			cl.clReleaseProgram(k->program);
		free(k);
	}
}

static void *opencl_kernel(DeviceContext *c, void *code, const char *name, uint64_t offset)
{
	int32_t status;
	char symbol[DLC_SYMBOL];
	Code *k = code;
	(void)c, (void)offset;
	kernel_symbol(name, symbol);
	while (k->n == KERNELS && k->next != NULL)
		k = k->next;
	if (k->n == KERNELS && (k->next = calloc(1, sizeof *k + KERNELS * sizeof *k->kernel)) != NULL)
		k = k->next;
	ClKernel kernel = k->n < KERNELS ? cl.clCreateKernel(((Code *)code)->program, symbol, &status) : NULL;
	if (kernel != NULL)
		k->kernel[k->n++] = kernel;
	return kernel;
}

/* ---- failures ---- */

typedef struct Failure {
	int status;
	const char *name, *meaning;
	bool lost;
} Failure;

static const Failure *find_failure(int status)
{
	static const Failure FAILURE[] = {
#define STATUS(number, name, lost, meaning) { number, name, meaning, lost },
#include "runtime/opencl_status.def"
	};
	for (size_t i = 0; i < sizeof FAILURE / sizeof *FAILURE; i++)
		if (FAILURE[i].status == status)
			return &FAILURE[i];
	return NULL;
}

/* Notes a status that is the end of the device; returns it. */
static int noted(DeviceContext *c, int status)
{
	const Failure *f = status != CL_OK ? find_failure(status) : NULL;
	if (f != NULL && f->lost)
		atomic_store(&c->lost, status);
	return status;
}

static int opencl_lost(const DeviceContext *c)
{
	return atomic_load(&c->lost);
}

static DlcStatus opencl_explain(DeviceContext *c, DeviceStream *s, int status, char *out, size_t size)
{
	const Failure *f = find_failure(status);
	(void)c, (void)s;
	if (f != NULL)
		snprintf(out, size, "%s, %s", f->name, f->meaning);
	else
		snprintf(out, size, "its driver says %d, a number of CL/cl.h", status);
	return status == CL_NO_DEVICE_MEMORY ? DLC_DEVICE_MEMORY : DLC_KERNEL;
}

/* ---- streams ---- */

static DeviceStream *opencl_stream_open(DeviceContext *c)
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

static void opencl_stream_close(DeviceStream *s)
{
	for (int k = 0; k < DEVICE_MARKS; k++)
		if (s->mark[k] != NULL)
			cl.clReleaseEvent(s->mark[k]);
	cl.clReleaseCommandQueue(s->queue);
	free(s);
}

static int opencl_copy(DeviceStream *s, void *to, const void *from, size_t bytes, DeviceWay way)
{
	uint64_t at = 0, source = 0;
	if (bytes == 0)
		return 0;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = way != DEVICE_DOWN ? find_memory(s->c, to, &at) : NULL;
	ClMem other = way != DEVICE_UP ? find_memory(s->c, from, &source) : NULL;
	pthread_mutex_unlock(&s->c->lock);
	if ((way != DEVICE_DOWN && mem == NULL) || (way != DEVICE_UP && other == NULL))
		return CL_NOT_FOUND;
	if (way == DEVICE_UP)
		return noted(s->c, cl.clEnqueueWriteBuffer(s->queue, mem, 0, at, bytes, from, 0, NULL, NULL));
	if (way == DEVICE_DOWN)
		return noted(s->c, cl.clEnqueueReadBuffer(s->queue, other, 0, source, bytes, to, 0, NULL, NULL));
	return noted(s->c, cl.clEnqueueCopyBuffer(s->queue, other, mem, source, at, bytes, 0, NULL, NULL));
}

static void *opencl_map(DeviceStream *s, void *memory, size_t bytes)
{
	uint64_t at;
	int32_t status;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = find_memory(s->c, memory, &at);
	pthread_mutex_unlock(&s->c->lock);
	if (mem == NULL || bytes == 0)
		return NULL;
	return cl.clEnqueueMapBuffer(s->queue, mem, 1, CL_MAP_READ, at, bytes, 0, NULL, NULL, &status);
}

static void opencl_unmap(DeviceStream *s, void *memory, void *mapped)
{
	uint64_t at;
	pthread_mutex_lock(&s->c->lock);
	ClMem mem = find_memory(s->c, memory, &at);
	pthread_mutex_unlock(&s->c->lock);
	cl.clEnqueueUnmapMemObject(s->queue, mem, mapped, 0, NULL, NULL);
}

/* An address as two arguments, k and k + 1. */
static int set_address(DeviceStream *s, ClKernel kernel, uint32_t k, const void *address)
{
	uint64_t offset;
	ClMem mem = find_memory(s->c, address, &offset);
	if (mem == NULL && address != NULL)
		return CL_NOT_FOUND;
	int status = cl.clSetKernelArg(kernel, k, sizeof mem, mem != NULL ? &mem : NULL);
	return status != CL_OK ? status : cl.clSetKernelArg(kernel, k + 1, sizeof offset, &offset);
}

static int opencl_launch(DeviceStream *s, void *kernel, const DlcCall *call, const DeviceLaunch *how)
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
	return noted(s->c, status);
}

static int opencl_synchronize(DeviceStream *s)
{
	return noted(s->c, cl.clFinish(s->queue));
}

static void opencl_mark(DeviceStream *s, uint32_t k)
{
	if (s->mark[k] != NULL)
		cl.clReleaseEvent(s->mark[k]);
	s->mark[k] = NULL;
	if (cl.clEnqueueMarkerWithWaitList(s->queue, 0, NULL, &s->mark[k]) != CL_OK)
		s->mark[k] = NULL;
}

static uint64_t opencl_time(DeviceStream *s, uint32_t from, uint32_t to)
{
	ClEvent event[] = { s->mark[from], s->mark[to] };
	uint64_t at[2] = { 0 };
	if (event[0] == NULL || event[1] == NULL || cl.clWaitForEvents(2, event) != CL_OK)
		return 0;
	for (int k = 0; k < 2; k++)
		if (cl.clGetEventProfilingInfo(event[k], CL_PROFILING_COMMAND_END, sizeof at[k], &at[k], NULL) != CL_OK)
			return 0;
	return at[1] > at[0] ? at[1] - at[0] : 0;
}

const Device device_opencl = {
	.name = "OpenCL device",
	.type = DLC_DEVICE_OPENCL,
	.open = opencl_open,
	.close = opencl_close,
	.memory = opencl_memory,
	.has = opencl_has,
	.cache = opencl_cache,
	.on_cpu = opencl_on_cpu,
	.alloc = opencl_alloc,
	.release = opencl_release,
	.code_load = opencl_code_load,
	.code_release = opencl_code_release,
	.kernel = opencl_kernel,
	.stream_open = opencl_stream_open,
	.stream_close = opencl_stream_close,
	.copy = opencl_copy,
	.map = opencl_map,
	.unmap = opencl_unmap,
	.launch = opencl_launch,
	.synchronize = opencl_synchronize,
	.mark = opencl_mark,
	.time = opencl_time,
	.count = opencl_count,
	.describe = opencl_describe,
	.lost = opencl_lost,
	.explain = opencl_explain,
};
