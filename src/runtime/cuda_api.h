/*
 * What the runtime uses of CUDA's driver, declared here, so that neither its headers nor its library are needed to
 * build. Each function returns 0 or a CUresult; numbers are those of <cuda.h>.
 *
 * CUDA(name, parameters): a function that cuda.c finds in libcuda.so.1. A name has the version whose parameters are
 * these. CUDA_FUNCTIONS are those of every driver since CUDA 9.0. CUDA_GRAPH_FUNCTIONS are there since 11.4; without
 * them nothing is recorded.
 */
#ifndef RUNTIME_CUDA_API_H
#define RUNTIME_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct CuContext *CuContext; /* handles of the driver's; never followed */
typedef struct CuStream *CuStream;
typedef struct CuEvent *CuEvent;
typedef struct CuModule *CuModule;
typedef struct CuFunction *CuFunction;
typedef struct CuGraph *CuGraph;
typedef struct DeviceRecording *CuGraphExec;
typedef uint64_t CuAddress;

enum {
#define CUDA(number, name, status, way_out) CUDA_ERROR_##name = number,
#include "runtime/driver_status.def"
	CU_OK = 0,
	CU_BLOCK_THREADS = 1, /* attributes of a device */
	CU_BLOCK_X = 2,       /* y and z follow */
	CU_GRID_X = 5,
	CU_WARP = 10,
	CU_CLOCK_KHZ = 13,
	CU_UNITS = 16,
	CU_PCI_BUS = 33,
	CU_PCI_SLOT = 34,
	CU_MEMORY_KHZ = 36,
	CU_MEMORY_BITS = 37,
	CU_L2_BYTES = 38,
	CU_UNIT_THREADS = 39,
	CU_PCI_DOMAIN = 50,
	CU_MAJOR = 75,
	CU_MINOR = 76,
	CU_UNIT_SHARED = 81,
	CU_UNIT_REGISTERS = 82,
	CU_SHARED_MOST = 97,
	CU_UNIT_BLOCKS = 106,
	CU_FUNC_THREADS = 0, /* attributes of a function */
	CU_FUNC_SHARED = 1,
	CU_FUNC_REGISTERS = 4,
	CU_FUNC_DYNAMIC_SHARED = 8,
	CU_JIT_LOG = 5,
	CU_JIT_LOG_BYTES = 6,
	CU_POINTER_MEMORY_TYPE = 2,
	CU_STREAM_ALONE = 1, /* it does not wait for the stream 0 of others */
	CU_CAPTURE_RELAXED = 2,
	CU_EVENT_EXTERNAL = 1,
};

#define CUDA_FUNCTIONS \
	CUDA(cuInit, (uint32_t)) \
	CUDA(cuDriverGetVersion, (int *)) \
	CUDA(cuGetErrorName, (int, const char **)) \
	CUDA(cuGetErrorString, (int, const char **)) \
	CUDA(cuDeviceGetCount, (int *)) \
	CUDA(cuDeviceGet, (int *, int)) \
	CUDA(cuDeviceGetName, (char *, int, int)) \
	CUDA(cuDeviceGetAttribute, (int *, int, int)) \
	CUDA(cuDeviceTotalMem_v2, (size_t *, int)) \
	CUDA(cuDevicePrimaryCtxRetain, (CuContext *, int)) \
	CUDA(cuDevicePrimaryCtxRelease, (int)) \
	CUDA(cuCtxPushCurrent_v2, (CuContext)) \
	CUDA(cuCtxPopCurrent_v2, (CuContext *)) \
	CUDA(cuMemAlloc_v2, (CuAddress *, size_t)) \
	CUDA(cuMemFree_v2, (CuAddress)) \
	CUDA(cuMemHostAlloc, (void **, size_t, uint32_t)) \
	CUDA(cuMemFreeHost, (void *)) \
	CUDA(cuPointerGetAttribute, (void *, int, CuAddress)) \
	CUDA(cuMemsetD8Async, (CuAddress, unsigned char, size_t, CuStream)) \
	CUDA(cuMemcpyHtoDAsync_v2, (CuAddress, const void *, size_t, CuStream)) \
	CUDA(cuMemcpyDtoHAsync_v2, (void *, CuAddress, size_t, CuStream)) \
	CUDA(cuMemcpyDtoDAsync_v2, (CuAddress, CuAddress, size_t, CuStream)) \
	CUDA(cuModuleLoadDataEx, (CuModule *, const void *, uint32_t, const int *, void **)) \
	CUDA(cuModuleUnload, (CuModule)) \
	CUDA(cuModuleGetFunction, (CuFunction *, CuModule, const char *)) \
	CUDA(cuFuncGetAttribute, (int *, int, CuFunction)) \
	CUDA(cuFuncSetAttribute, (CuFunction, int, int)) \
	CUDA(cuLaunchKernel, (CuFunction, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, CuStream, \
		void **, void **)) \
	CUDA(cuStreamCreate, (CuStream *, uint32_t)) \
	CUDA(cuStreamDestroy_v2, (CuStream)) \
	CUDA(cuStreamSynchronize, (CuStream)) \
	CUDA(cuEventCreate, (CuEvent *, uint32_t)) \
	CUDA(cuEventDestroy_v2, (CuEvent)) \
	CUDA(cuEventRecord, (CuEvent, CuStream)) \
	CUDA(cuEventSynchronize, (CuEvent)) \
	CUDA(cuEventElapsedTime, (float *, CuEvent, CuEvent))

#define CUDA_GRAPH_FUNCTIONS \
	CUDA(cuStreamBeginCapture_v2, (CuStream, int)) \
	CUDA(cuStreamEndCapture, (CuStream, CuGraph *)) \
	CUDA(cuGraphInstantiateWithFlags, (CuGraphExec *, CuGraph, uint64_t)) \
	CUDA(cuGraphDestroy, (CuGraph)) \
	CUDA(cuGraphLaunch, (CuGraphExec, CuStream)) \
	CUDA(cuGraphExecDestroy, (CuGraphExec)) \
	CUDA(cuEventRecordWithFlags, (CuEvent, CuStream, uint32_t))

#define CUDA(name, parameters) int(*name) parameters;
typedef struct CudaApi {
	CUDA_FUNCTIONS
} CudaApi;
typedef struct CudaGraphApi {
	CUDA_GRAPH_FUNCTIONS
} CudaGraphApi;
#undef CUDA

#endif
