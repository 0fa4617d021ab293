/*
 * A libcuda.so.1 over host memory, for tests without a GPU. It has what src/runtime/cuda_api.h names, and differs from
 * a working driver where that finds mistakes of its caller:
 *
 *   memory    device memory can be touched only while a kernel or a copy runs, and is not zero; a guard page follows
 *   streams   nothing is done before someone waits; pinned memory is read and written then
 *   modules   must begin as PTX and fit the driver's version and the device; parameters are counted in the text
 *   contexts  a call without a current context fails
 *
 * Kernels come from a library (host_kernel.h). Environment, read at the first call:
 *   FAKE_CUDA_KERNELS=FILE   FAKE_CUDA_DEVICES=1  FAKE_CUDA_DRIVER=13000  FAKE_CUDA_MEMORY=BYTES
 *   FAKE_CUDA_FAIL=FUNCTION:N:STATUS   the Nth call of a function, and each later one, fails ("cuMemAlloc_v2:3:2");
 *                                      with :TIMES behind it, so many calls
 *   FAKE_CUDA_STICKY=N:STATUS          the Nth kernel that runs fails, and the context does nothing any more
 *   FAKE_CUDA_LAUNCH_NS=N              what events say of a kernel's time; else it is the real time
 *   FAKE_CUDA_THREADS=1024             threads that a kernel's registers allow
 *   FAKE_CUDA_SM=90,75                 of device 0, of device 1, and of all others the last
 *   FAKE_CUDA_UNITS=132,114            as FAKE_CUDA_SM
 *   FAKE_CUDA_GONE=ID:N:FILE           device ID fails at a process's Nth kernel (0: at its first graph) and makes
 *                                      FILE; while FILE exists, the device does not open
 *   FAKE_CUDA_SAY=1                    says on standard error what each module is that is loaded
 *   FAKE_CUDA_TRAFFIC=FILE             counts the copies and calls of each kind: traffic.h
 *   FAKE_NVML="1410:87:0x20"           states of the device: nvml.c
 *   CUDA_LAUNCH_BLOCKING=1             as in CUDA's own driver
 */
#ifndef TESTS_FAKE_CUDA_FAKE_H
#define TESTS_FAKE_CUDA_FAKE_H

#include <stdbool.h>

#include "host_kernel.h"
#include "traffic.h"
#include "runtime/cuda_api.h"

enum { FAKE_DEVICES = 8, FAKE_PARAMETERS = 512, FAKE_PCI_BUS = 65 /* of device 0 */ };

enum { /* further results of CUDA's driver */
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_CAPTURED_EVENT = 907,
};

typedef struct FakeOptions {
	int devices, driver, threads, blocking, say;
	int sm[FAKE_DEVICES], units[FAKE_DEVICES];
	size_t memory;
	long launch_ns;
	char fail_name[64];
	int fail_from, fail_status, fail_times;
	int sticky_from, sticky_status;
	int gone_device, gone_from;
	char gone_file[256]; /* "": no device goes */
	void *kernels; /* the opened library */
} FakeOptions;
extern FakeOptions fake;
extern FakeTraffic *fake_traffic;

/* The functions themselves. */
#define CUDA(name, parameters) __attribute__((visibility("default"))) int name parameters;
CUDA_FUNCTIONS
CUDA_GRAPH_FUNCTIONS
CUDA(cuMemGetInfo_v2, (size_t *, size_t *))
#undef CUDA
__attribute__((visibility("default"))) int fake_cuda_held(void); /* what the caller must give back */
__attribute__((visibility("default"))) int fake_cuda_calls(const char *function);

struct CuFunction {
	char name[128];
	FakeKernel *kernel; /* NULL: `run` does it */
	FakeRun *run;
	const char *image;
	uint32_t nparameter;
	int shared; /* bytes of dynamic shared memory that a launch may ask for */
};

/* Reads the environment once; then what the call of this name returns without doing anything, or 0. */
int fake_begin(const char *function, bool in_context);
#define FAKE_BEGIN(in_context) \
	do { \
		int fake_status = fake_begin(__func__, in_context); \
		if (fake_status != 0) \
			return fake_status; \
	} while (0)

/* From here on every call returns the status. */
void fake_lose(int status);
void fake_hold(int n);

/* Whether these bytes lie in one allocation; one byte behind an allocation still is its own. */
bool fake_is_device(CuAddress at, size_t bytes);
bool fake_is_pinned(const void *at);
/* Between the two device memory may be touched; one thread at a time. */
void fake_memory_open(void);
void fake_memory_close(void);
int fake_shared_most(int device);
int fake_device(void); /* of the current context */
/* Does all that was put on any stream. */
void fake_flush_all(void);

#endif
