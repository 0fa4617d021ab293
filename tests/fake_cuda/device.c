/*
 * See fake.h: options, errors, devices, contexts.
 */
#include "fake.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dlc/dlc_runtime.h"

enum { STACK = 16, CALLED = 128 };

struct CuContext {
	int device;
	_Atomic int retained;
};

FakeOptions fake;
static FakeTraffic own_traffic;
FakeTraffic *fake_traffic = &own_traffic;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool started;
static _Atomic int lost, held;
static struct {
	const char *name;
	int n;
} called[CALLED];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static struct CuContext primary[FAKE_DEVICES];
static _Thread_local struct CuContext *stack[STACK];
static _Thread_local int depth;

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);
	return text != NULL ? strtol(text, NULL, 10) : otherwise;
}

/* "90,75" */
static void read_devices(int *of, const char *text)
{
	for (int k = 0; k < FAKE_DEVICES; k++) {
		const char *next = strchr(text, ',');
		of[k] = (int)strtol(text, NULL, 10);
		text = next != NULL ? next + 1 : text;
	}
}

static bool read_fault(const char *text)
{
	fake.fail_times = INT32_MAX;
	return sscanf(text, "%63[^:]:%d:%d:%d", fake.fail_name, &fake.fail_from, &fake.fail_status, &fake.fail_times) >= 3;
}

static void share_traffic(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *p = fd >= 0 ? mmap(NULL, sizeof *fake_traffic, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (p != MAP_FAILED)
		fake_traffic = p;
	if (fd >= 0)
		close(fd);
}

static void read_options(void)
{
	const char *levels = getenv("FAKE_CUDA_SM"), *units = getenv("FAKE_CUDA_UNITS"), *gone = getenv("FAKE_CUDA_GONE");
	const char *fail = getenv("FAKE_CUDA_FAIL"), *sticky = getenv("FAKE_CUDA_STICKY");
	const char *kernels = getenv("FAKE_CUDA_KERNELS");
	fake = (FakeOptions){
		.devices = (int)number("FAKE_CUDA_DEVICES", 1),
		.driver = (int)number("FAKE_CUDA_DRIVER", 13000),
		.threads = (int)number("FAKE_CUDA_THREADS", 1024),
		.blocking = (int)number("CUDA_LAUNCH_BLOCKING", 0),
		.say = (int)number("FAKE_CUDA_SAY", 0),
		.memory = (size_t)number("FAKE_CUDA_MEMORY", 1l << 30),
		.launch_ns = number("FAKE_CUDA_LAUNCH_NS", -1),
	};
	if (fail != NULL && !read_fault(fail))
		fprintf(stderr, "fake CUDA: FAKE_CUDA_FAIL is not FUNCTION:N:STATUS\n");
	if (sticky != NULL && sscanf(sticky, "%d:%d", &fake.sticky_from, &fake.sticky_status) != 2)
		fprintf(stderr, "fake CUDA: FAKE_CUDA_STICKY is not N:STATUS\n");
	if (gone != NULL && sscanf(gone, "%d:%d:%255s", &fake.gone_device, &fake.gone_from, fake.gone_file) != 3)
		fprintf(stderr, "fake CUDA: FAKE_CUDA_GONE is not ID:N:FILE\n");
	if (getenv("FAKE_CUDA_TRAFFIC") != NULL)
		share_traffic(getenv("FAKE_CUDA_TRAFFIC"));
	read_devices(fake.sm, levels != NULL ? levels : "90");
	read_devices(fake.units, units != NULL ? units : "132");
	if (kernels != NULL && (fake.kernels = dlopen(kernels, RTLD_NOW | RTLD_LOCAL)) == NULL)
		fprintf(stderr, "fake CUDA: %s\n", dlerror());
}

/* Counts a call, or looks only; how many there were. */
static int count(const char *function, int more)
{
	pthread_mutex_lock(&counting);
	int k = 0;
	while (called[k].name != NULL && strcmp(called[k].name, function) != 0)
		k++;
	if (called[k].name == NULL && more > 0)
		called[k].name = function;
	int n = called[k].n += more;
	pthread_mutex_unlock(&counting);
	return n;
}

int fake_cuda_calls(const char *function)
{
	return count(function, 0);
}

static bool loses(int status)
{
	switch (status) {
#define CUDA(number, name, status, way_out) \
	case number: return DLC_##status == DLC_LOST;
#include "runtime/driver_status.def"
	default: return false;
	}
}

int fake_begin(const char *function, bool in_context)
{
	pthread_once(&once, read_options);
	int n = count(function, 1);
	if (strcmp(function, fake.fail_name) == 0 && n >= fake.fail_from && n - fake.fail_from < fake.fail_times) {
		if (loses(fake.fail_status))
			fake_lose(fake.fail_status);
		return fake.fail_status;
	}
	if (in_context && atomic_load(&lost) != 0)
		return atomic_load(&lost);
	if (in_context && depth == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	return CU_OK;
}

void fake_lose(int status)
{
	int none = 0;
	atomic_compare_exchange_strong(&lost, &none, status);
}

void fake_hold(int n)
{
	atomic_fetch_add(&held, n);
}

int fake_cuda_held(void)
{
	return atomic_load(&held);
}

/* ---- errors ---- */

#define ERRORS(E) \
	E(1, INVALID_VALUE, "invalid argument") \
	E(2, OUT_OF_MEMORY, "out of memory") \
	E(3, NOT_INITIALIZED, "initialization error") \
	E(46, DEVICE_UNAVAILABLE, "CUDA-capable device(s) is/are busy or unavailable") \
	E(100, NO_DEVICE, "no CUDA-capable device is detected") \
	E(101, INVALID_DEVICE, "invalid device ordinal") \
	E(201, INVALID_CONTEXT, "invalid device context") \
	E(209, NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device") \
	E(218, INVALID_PTX, "a PTX JIT compilation failed") \
	E(221, JIT_COMPILER_NOT_FOUND, "PTX JIT compiler library not found") \
	E(222, UNSUPPORTED_PTX_VERSION, "the provided PTX was compiled with an unsupported toolchain.") \
	E(400, INVALID_HANDLE, "invalid resource handle") \
	E(500, NOT_FOUND, "named symbol not found") \
	E(600, NOT_READY, "device not ready") \
	E(700, ILLEGAL_ADDRESS, "an illegal memory access was encountered") \
	E(701, LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch") \
	E(702, LAUNCH_TIMEOUT, "the launch timed out and was terminated") \
	E(719, LAUNCH_FAILED, "unspecified launch failure") \
	E(900, STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing") \
	E(901, STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture")

int cuGetErrorName(int status, const char **out)
{
	switch (status) {
#define E(number, name, text) \
	case number: *out = "CUDA_ERROR_" #name; return CU_OK;
		ERRORS(E)
#undef E
	default: *out = NULL; return CUDA_ERROR_INVALID_VALUE;
	}
}

int cuGetErrorString(int status, const char **out)
{
	switch (status) {
#define E(number, name, text) \
	case number: *out = text; return CU_OK;
		ERRORS(E)
#undef E
	default: *out = NULL; return CUDA_ERROR_INVALID_VALUE;
	}
}

/* ---- devices ---- */

int cuInit(uint32_t flags)
{
	FAKE_BEGIN(false);
	started = flags == 0 && fake.devices > 0;
	return flags != 0 ? CUDA_ERROR_INVALID_VALUE : started ? CU_OK : CUDA_ERROR_NO_DEVICE;
}

int cuDriverGetVersion(int *out)
{
	FAKE_BEGIN(false);
	*out = fake.driver;
	return CU_OK;
}

int cuDeviceGetCount(int *out)
{
	FAKE_BEGIN(false);
	*out = fake.devices;
	return started ? CU_OK : CUDA_ERROR_NOT_INITIALIZED;
}

int cuDeviceGet(int *out, int ordinal)
{
	FAKE_BEGIN(false);
	*out = ordinal;
	if (!started)
		return CUDA_ERROR_NOT_INITIALIZED;
	return ordinal >= 0 && ordinal < fake.devices ? CU_OK : CUDA_ERROR_INVALID_DEVICE;
}

int cuDeviceGetName(char *out, int size, int device)
{
	FAKE_BEGIN(false);
	if (device < 0 || device >= fake.devices || device >= FAKE_DEVICES)
		return CUDA_ERROR_INVALID_DEVICE;
	bool other = fake.sm[device] != fake.sm[0]; /* another model */
	snprintf(out, (size_t)size, other ? "Fake GPU %d" : "Fake GPU", fake.sm[device]);
	return CU_OK;
}

int fake_shared_most(int device)
{
	int sm = fake.sm[device >= 0 && device < FAKE_DEVICES ? device : 0];
	return sm >= 90 ? 232448 : sm >= 80 ? 166912 : sm >= 75 ? 65536 : sm >= 70 ? 98304 : 49152;
}

int fake_device(void)
{
	return depth > 0 ? stack[depth - 1]->device : 0;
}

int cuDeviceGetAttribute(int *out, int what, int device)
{
	static const int ROW[][2] = { { 1, 1024 }, { 2, 1024 }, { 3, 1024 }, { 4, 64 }, { 5, INT32_MAX }, { 6, 65535 },
		{ 7, 65535 }, { 8, 49152 }, { 10, 32 }, { 12, 65536 }, { 13, 1980000 }, { 17, 0 }, { 18, 0 },
		{ CU_PCI_SLOT, 0 }, { 36, 3201000 }, { 37, 6144 }, { 38, 60 << 20 }, { 39, 2048 },
		{ CU_PCI_DOMAIN, 0 }, { 82, 65536 }, { 106, 32 }, { 111, 1024 } };
	FAKE_BEGIN(false);
	if (device < 0 || device >= fake.devices || device >= FAKE_DEVICES)
		return CUDA_ERROR_INVALID_DEVICE;
	*out = what == CU_MAJOR ? fake.sm[device] / 10 : fake.sm[device] % 10;
	if (what == CU_MAJOR || what == CU_MINOR)
		return CU_OK;
	*out = fake_shared_most(device) + (what == 81 ? 1024 : 0); /* of one multiprocessor */
	if (what == CU_SHARED_MOST || what == 81)
		return CU_OK;
	*out = fake.units[device];
	if (what == CU_UNITS)
		return CU_OK;
	*out = FAKE_PCI_BUS + device;
	if (what == CU_PCI_BUS)
		return CU_OK;
	for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++)
		if (ROW[k][0] == what) {
			*out = ROW[k][1];
			return CU_OK;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

int cuDeviceTotalMem_v2(size_t *out, int device)
{
	FAKE_BEGIN(false);
	*out = fake.memory;
	return device >= 0 && device < fake.devices ? CU_OK : CUDA_ERROR_INVALID_DEVICE;
}

/* ---- contexts ---- */

int cuDevicePrimaryCtxRetain(CuContext *out, int device)
{
	FAKE_BEGIN(false);
	if (device < 0 || device >= fake.devices || device >= FAKE_DEVICES)
		return CUDA_ERROR_INVALID_DEVICE;
	if (fake.gone_file[0] != 0 && device == fake.gone_device && access(fake.gone_file, F_OK) == 0)
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	primary[device].device = device;
	primary[device].retained++;
	*out = &primary[device];
	fake_hold(1);
	return CU_OK;
}

int cuDevicePrimaryCtxRelease(int device)
{
	FAKE_BEGIN(false);
	if (device < 0 || device >= FAKE_DEVICES || primary[device].retained == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	primary[device].retained--;
	fake_hold(-1);
	return CU_OK;
}

int cuCtxPushCurrent_v2(CuContext c)
{
	FAKE_BEGIN(false);
	if (c == NULL || c->retained == 0 || depth == STACK)
		return CUDA_ERROR_INVALID_CONTEXT;
	stack[depth++] = c;
	return CU_OK;
}

int cuCtxPopCurrent_v2(CuContext *out)
{
	FAKE_BEGIN(false);
	if (depth == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	*out = stack[--depth];
	return CU_OK;
}
