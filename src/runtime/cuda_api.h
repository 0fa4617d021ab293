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
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NO_DEVICE = 100,
	CU_NO_BINARY = 209,
	CU_INVALID_PTX = 218,
	CU_NO_JIT = 221,
	CU_PTX_VERSION = 222,
	CU_OUT_OF_RESOURCES = 701,
	CU_CAPTURE_UNSUPPORTED = 900,
	CU_L2_BYTES = 38, /* attributes of a device */
	CU_MAJOR = 75,
	CU_MINOR = 76,
	CU_SHARED_MOST = 97,
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

/* Failures after which a context does nothing any more. */
#define CUDA_LOST(status) \
	((status) == 4 || (status) == 214 || (status) == 220 || (status) == 226 || (status) == 700 || (status) == 702 || \
		(status) == 709 || (status) == 710 || ((status) >= 714 && (status) <= 719) || (status) == 999)

/* PTX(version, CUDA version whose driver takes it first), as 10 * major + minor: release notes of NVIDIA's PTX ISA. */
#define CUDA_PTX_VERSIONS \
	PTX(32, 55) PTX(40, 60) PTX(41, 65) PTX(42, 70) PTX(43, 75) PTX(50, 80) PTX(60, 90) PTX(61, 91) PTX(62, 92) \
	PTX(63, 100) PTX(64, 101) PTX(65, 102) PTX(70, 110) PTX(71, 111) PTX(72, 112) PTX(73, 113) PTX(74, 114) \
	PTX(75, 115) PTX(76, 116) PTX(77, 117) PTX(78, 118) PTX(80, 120) PTX(81, 121) PTX(82, 122) PTX(83, 123) \
	PTX(84, 124) PTX(85, 125) PTX(86, 127) PTX(87, 128) PTX(88, 129) PTX(90, 130)

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
