/*
 * What the runtime uses of OpenCL 1.2, declared here, so that neither its headers nor its library are needed to build.
 * OPENCL(result, name, parameters): a function that opencl.c finds in libOpenCL.so.1 when it is first asked for.
 * Numbers are those of the standard (<CL/cl.h>).
 */
#ifndef RUNTIME_OPENCL_API_H
#define RUNTIME_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct ClPlatform *ClPlatform; /* handles of the driver's; never followed */
typedef struct ClDevice *ClDevice;
typedef struct ClContext *ClContext;
typedef struct ClQueue *ClQueue;
typedef struct ClMem *ClMem;
typedef struct ClProgram *ClProgram;
typedef struct ClKernel *ClKernel;
typedef struct ClEvent *ClEvent;

enum {
#define OPENCL(number, name, status, meaning) CL_##name = number,
#include "runtime/driver_status.def"
	CL_OK = 0,
	CL_DEVICE_TYPE = 0x1000,
	CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
	CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
	CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005, /* three at least */
	CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT = 0x100a,
	CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100c, /* MHz */
	CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
	CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e,
	CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
	CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
	CL_DEVICE_NAME = 0x102b,
	CL_DEVICE_VERSION = 0x102f,
	CL_DEVICE_EXTENSIONS = 0x1030,
	CL_DEVICE_TYPE_CPU = 2,
	CL_MEM_READ_WRITE = 1,
	CL_MAP_READ = 1,
	CL_QUEUE_PROFILING_ENABLE = 2,
	CL_DRIVER_VERSION = 0x102d,
	CL_PROGRAM_BINARY_SIZES = 0x1165,
	CL_PROGRAM_BINARIES = 0x1166,
	CL_PROGRAM_BUILD_LOG = 0x1183,
	CL_PROFILING_COMMAND_END = 0x1283,
};
#define CL_DEVICE_TYPE_ALL UINT64_C(0xffffffff)

#define OPENCL_FUNCTIONS \
	OPENCL(int32_t, clGetPlatformIDs, (uint32_t, ClPlatform *, uint32_t *)) \
	OPENCL(int32_t, clGetDeviceIDs, (ClPlatform, uint64_t, uint32_t, ClDevice *, uint32_t *)) \
	OPENCL(int32_t, clGetDeviceInfo, (ClDevice, uint32_t, size_t, void *, size_t *)) \
	OPENCL(ClContext, clCreateContext, \
		(const intptr_t *, uint32_t, const ClDevice *, void (*)(const char *, const void *, size_t, void *), void *, \
			int32_t *)) \
	OPENCL(int32_t, clReleaseContext, (ClContext)) \
	OPENCL(ClQueue, clCreateCommandQueue, (ClContext, ClDevice, uint64_t, int32_t *)) \
	OPENCL(int32_t, clReleaseCommandQueue, (ClQueue)) \
	OPENCL(ClMem, clCreateBuffer, (ClContext, uint64_t, size_t, void *, int32_t *)) \
	OPENCL(int32_t, clReleaseMemObject, (ClMem)) \
	OPENCL(ClProgram, clCreateProgramWithSource, (ClContext, uint32_t, const char **, const size_t *, int32_t *)) \
	OPENCL(ClProgram, clCreateProgramWithBinary, \
		(ClContext, uint32_t, const ClDevice *, const size_t *, const unsigned char **, int32_t *, int32_t *)) \
	OPENCL(int32_t, clGetProgramInfo, (ClProgram, uint32_t, size_t, void *, size_t *)) \
	OPENCL(int32_t, clReleaseProgram, (ClProgram)) \
	OPENCL(int32_t, clBuildProgram, \
		(ClProgram, uint32_t, const ClDevice *, const char *, void (*)(ClProgram, void *), void *)) \
	OPENCL(int32_t, clGetProgramBuildInfo, (ClProgram, ClDevice, uint32_t, size_t, void *, size_t *)) \
	OPENCL(ClKernel, clCreateKernel, (ClProgram, const char *, int32_t *)) \
	OPENCL(int32_t, clReleaseKernel, (ClKernel)) \
	OPENCL(int32_t, clSetKernelArg, (ClKernel, uint32_t, size_t, const void *)) \
	OPENCL(int32_t, clEnqueueNDRangeKernel, \
		(ClQueue, ClKernel, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const ClEvent *, \
			ClEvent *)) \
	OPENCL(int32_t, clEnqueueReadBuffer, \
		(ClQueue, ClMem, uint32_t, size_t, size_t, void *, uint32_t, const ClEvent *, ClEvent *)) \
	OPENCL(int32_t, clEnqueueWriteBuffer, \
		(ClQueue, ClMem, uint32_t, size_t, size_t, const void *, uint32_t, const ClEvent *, ClEvent *)) \
	OPENCL(int32_t, clEnqueueCopyBuffer, \
		(ClQueue, ClMem, ClMem, size_t, size_t, size_t, uint32_t, const ClEvent *, ClEvent *)) \
	OPENCL(int32_t, clEnqueueFillBuffer, \
		(ClQueue, ClMem, const void *, size_t, size_t, size_t, uint32_t, const ClEvent *, ClEvent *)) \
	OPENCL(void *, clEnqueueMapBuffer, \
		(ClQueue, ClMem, uint32_t, uint64_t, size_t, size_t, uint32_t, const ClEvent *, ClEvent *, int32_t *)) \
	OPENCL(int32_t, clEnqueueUnmapMemObject, (ClQueue, ClMem, void *, uint32_t, const ClEvent *, ClEvent *)) \
	OPENCL(int32_t, clFinish, (ClQueue)) \
	OPENCL(int32_t, clEnqueueMarkerWithWaitList, (ClQueue, uint32_t, const ClEvent *, ClEvent *)) \
	OPENCL(int32_t, clWaitForEvents, (uint32_t, const ClEvent *)) \
	OPENCL(int32_t, clGetEventProfilingInfo, (ClEvent, uint32_t, size_t, void *, size_t *)) \
	OPENCL(int32_t, clReleaseEvent, (ClEvent))

typedef struct OpenclApi {
#define OPENCL(result, name, parameters) result(*name) parameters;
	OPENCL_FUNCTIONS
#undef OPENCL
} OpenclApi;

#endif
