/*
 * See opencl.h; the row of OpenCL, any device of any vendor. Device k is the k-th of all platforms in their order.
 *
 * OpenCL has memory objects where kernels of the plan have addresses within one large piece. So an allocation is an
 * object and a range of addresses that is reserved and backs nothing. An address is found in the list of ranges; a
 * kernel gets its object and the offset in it as two arguments. Sub-buffers would do without the second, but must
 * begin at multiples of up to 4096 bytes, where buffers of a plan begin at multiples of 64. Shared virtual memory has
 * addresses, but is optional, and devices of OpenCL 1.2 have none.
 */
#include "runtime/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/model.h"

enum { DEVICES = 64 };

struct OpenclArea {
	OpenclArea *next;
	unsigned char *at; /* one byte more is reserved, so that the end of a range is in no other */
	size_t bytes;
	ClMem mem;
};

OpenclApi cl;
static const char *cl_lacks; /* what could not be found; NULL: all is there */
static pthread_once_t cl_once = PTHREAD_ONCE_INIT;

/* ---- failures ---- */

int opencl_noted(DeviceContext *c, int status)
{
	if (status != CL_OK && driver_status(DLC_DEVICE_OPENCL, status)->status == DLC_LOST)
		atomic_store(&c->lost, status);
	return status;
}

int opencl_waited(DeviceContext *c, int status)
{
	if (status == CL_OUT_OF_RESOURCES)
		atomic_store(&c->lost, status);
	return opencl_noted(c, status);
}

int opencl_made(DeviceContext *c, int status)
{
	return opencl_noted(c, status == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : status);
}

/* "CL_OUT_OF_HOST_MEMORY, the driver has no memory left: take a smaller batch" */
static const DriverStatus *status_words(int status, char *out, size_t size)
{
	const DriverStatus *row = driver_status(DLC_DEVICE_OPENCL, status);
	if (row->name != NULL)
		snprintf(out, size, "%s, %s", row->name, row->words);
	else
		snprintf(out, size, "its driver says %d, a number of CL/cl.h", status);
	return row;
}

DlcStatus opencl_fail(DlcError *err, int status, const char *what)
{
	char words[200];
	const DriverStatus *row = status_words(status, words, sizeof words);
	return runtime_fail(err, row->status == DLC_KERNEL ? DLC_BAD_TARGET : row->status, "%s: %s", what, words);
}

static int opencl_lost(const DeviceContext *c)
{
	return atomic_load(&c->lost);
}

static DlcStatus opencl_explain(DeviceContext *c, DeviceStream *s, int status, char *out, size_t size)
{
	(void)c, (void)s;
	return status_words(status, out, size)->status;
}

/* ---- devices ---- */

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

static void give_back(OpenclArea *a)
{
	if (a->mem != NULL)
		cl.clReleaseMemObject(a->mem);
	if (a->at != MAP_FAILED)
		munmap(a->at, a->bytes + 1);
	free(a);
}

static void opencl_close(DeviceContext *c)
{
	while (c->area != NULL) {
		OpenclArea *a = c->area;
		c->area = a->next;
		give_back(a);
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

static bool is_cpu(ClDevice d)
{
	return (device_value(d, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
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
	out->is_cpu = is_cpu(d);
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

/* OpenCL does not limit the grid. A limit that the driver does not give shows at the launch. */
static void read_limits(ClDevice d, DeviceLimits *out)
{
	enum { SIZES = 16 };
	size_t size[SIZES] = { 0 };
	bool known = cl.clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof size, size, NULL) == CL_OK;
	uint64_t threads = device_value(d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
	for (int k = 0; k < 3; k++) {
		out->dim[DLC_GRID + k] = INT32_MAX;
		out->dim[DLC_BLOCK + k] = known && size[k] > 0 && size[k] < INT32_MAX ? (uint32_t)size[k] : INT32_MAX;
	}
	out->threads = threads > 0 && threads < INT32_MAX ? (uint32_t)threads : INT32_MAX;
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
	read_limits(device, &c->limits);
	c->is_cpu = is_cpu(device);
	cl.clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof c->most, &c->most, NULL);
	c->context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	if (c->context != NULL)
		c->fill = cl.clCreateCommandQueue(c->context, device, 0, &status);
	if (c->fill == NULL) {
		char words[200];
		status_words(opencl_made(c, status), words, sizeof words);
		opencl_close(c);
		return runtime_fail(err, DLC_SYSTEM, "OpenCL device %d cannot be opened: %s", (int)id, words);
	}
	*out = c;
	return DLC_OK;
}

/* Of one allocation: an instance makes one. */
static uint64_t opencl_memory(const DeviceContext *c)
{
	return c->most;
}

static const DeviceLimits *opencl_limits(const DeviceContext *c)
{
	return &c->limits;
}

static uint64_t opencl_cache(const DeviceContext *c)
{
	uint64_t bytes = 0;
	cl.clGetDeviceInfo(c->device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof bytes, &bytes, NULL);
	return bytes;
}

static bool opencl_on_cpu(const DeviceContext *c)
{
	return c->is_cpu;
}

static bool opencl_has(const DeviceContext *c, const char *feature)
{
	return lists_extension(c->extensions, feature);
}

/* ---- memory ---- */

static void *opencl_alloc(DeviceContext *c, size_t bytes)
{
	static const unsigned char zero;
	int32_t status = CL_OK;
	bytes = bytes > 0 ? bytes : 1;
	OpenclArea *a = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *a) : NULL;
	if (a == NULL)
		return NULL;
	a->bytes = bytes;
	a->at = mmap(NULL, bytes + 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->at != MAP_FAILED)
		a->mem = cl.clCreateBuffer(c->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
	if (a->mem != NULL)
		status = cl.clEnqueueFillBuffer(c->fill, a->mem, &zero, 1, 0, bytes, 0, NULL, NULL);
	if (a->mem != NULL && status == CL_OK)
		status = cl.clFinish(c->fill);
	if (opencl_made(c, status) != CL_OK || a->mem == NULL) {
		give_back(a);
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
	OpenclArea **at = &c->area;
	while (*at != NULL && (*at)->at != memory)
		at = &(*at)->next;
	OpenclArea *a = *at;
	if (a != NULL)
		*at = a->next;
	pthread_mutex_unlock(&c->lock);
	if (a != NULL)
		give_back(a);
}

ClMem opencl_memory_at(const DeviceContext *c, const void *address, uint64_t *offset)
{
	for (const OpenclArea *a = c->area; a != NULL; a = a->next)
		if ((uintptr_t)address >= (uintptr_t)a->at && (uintptr_t)address - (uintptr_t)a->at <= a->bytes) {
			*offset = (uint64_t)((uintptr_t)address - (uintptr_t)a->at);
			return a->mem;
		}
	*offset = 0;
	return NULL;
}

const Device device_opencl = {
	.name = "OpenCL device",
	.type = DLC_DEVICE_OPENCL,
	.open = opencl_open,
	.close = opencl_close,
	.memory = opencl_memory,
	.limits = opencl_limits,
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
	.fill = opencl_fill,
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
