/*
 * libdlc_runtime: runs a network that dlc-compile wrote to a bundle (.dlcb).  Map, check, run: no
 * parsing, nothing allocated while running; needs libc, libm and pthreads only.
 *
 *     dlc_model_open  ->  dlc_instance_open  ->  dlc_instance_write  ->  dlc_instance_run  ->  dlc_instance_read
 *
 * A model is read-only and shared by all threads.  An instance has its own memory and threads: one
 * thread at a time uses it, several instances run at once.  Close instances before their model.
 * What can fail returns a DlcStatus and, where err is not NULL, fills it with one sentence.
 */
#ifndef DLC_RUNTIME_H
#define DLC_RUNTIME_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define DLC_RUNTIME_ABI 1
#if defined(__GNUC__)
#define DLC_API __attribute__((visibility("default")))
#else
#define DLC_API
#endif
typedef enum DlcStatus {
	DLC_OK = 0,
	DLC_BAD_FILE = 1,     /* no bundle, damaged, or of another version */
	DLC_BAD_TARGET = 2,   /* compiled for another machine or for features this CPU lacks */
	DLC_BAD_ARGUMENT = 3, /* a tensor's name, shape, type or memory does not fit */
	DLC_NO_MEMORY = 4,    /* of the host */
	DLC_SYSTEM = 5,       /* permission, disk, threads; a device or its driver is not there */
	DLC_KERNEL = 6,       /* a kernel reported a failure */
	DLC_LOST = 7,         /* the device failed and is lost to this process: start the program again */
	DLC_DEVICE_MEMORY = 8 /* a device beside the host has no memory left: take a smaller batch */
} DlcStatus;
typedef struct DlcError {
	DlcStatus status;
	char text[500]; /* one sentence without a line end */
} DlcError;
/* DLPack's DLDevice, DLDataType and DLTensor: same layout and codes, so pointers may be cast. */
typedef struct DlcDevice {
	int32_t type, id; /* 1, 0: the CPU; 2, k: CUDA device k; 3: host memory pinned by CUDA; 4, k: OpenCL device k */
} DlcDevice;
typedef struct DlcDataType {
	uint8_t code, bits; /* code 0 int, 1 unsigned, 2 float, 4 bfloat, 6 bool */
	uint16_t lanes;     /* 1 */
} DlcDataType;
typedef struct DlcTensor {
	void *data;
	DlcDevice device;
	int32_t ndim;
	DlcDataType dtype;
	int64_t *shape;
	int64_t *strides; /* in elements; NULL or those of the compact row-major layout */
	uint64_t byte_offset;
} DlcTensor;
typedef enum DlcRole { DLC_INPUT = 0, DLC_OUTPUT = 1 } DlcRole;
typedef struct DlcModel DlcModel;
typedef struct DlcInstance DlcInstance;
DLC_API const char *dlc_runtime_version(void); /* "0.1.0" */
/* Architecture and features of this CPU, "x86-64 sse3 ... avx512f", as snprintf writes. */
DLC_API size_t dlc_cpu_features(char *out, size_t size);

/* Before models are opened: the folder that keeps what a driver builds of a bundle's text. NULL, as at first: none. */
DLC_API DlcStatus dlc_code_folder(const char *path);
/* Maps the file and checks everything but the constants' checksum, which dlc_model_verify does. */
DLC_API DlcStatus dlc_model_open(const char *path, DlcModel **out, DlcError *err);
/* The same for a bundle in memory, 64-byte aligned, which must outlive the model. */
DLC_API DlcStatus dlc_model_open_memory(const void *bytes, size_t size, DlcModel **out, DlcError *err);
/* Both on device `id`, counted from 0, of the kind that the bundle is for; the others take device 0. */
DLC_API DlcStatus dlc_model_open_on(int id, const char *path, DlcModel **out, DlcError *err);
DLC_API DlcStatus dlc_model_open_memory_on(int id, const void *bytes, size_t size, DlcModel **out, DlcError *err);
DLC_API DlcStatus dlc_model_verify(const DlcModel *m, DlcError *err);
DLC_API void dlc_model_close(DlcModel *m); /* NULL is allowed */

/* What the compiler noted, by key ("model", "target", "lock"), or NULL. */
DLC_API const char *dlc_model_info(const DlcModel *m, const char *key);
DLC_API int dlc_model_threads(const DlcModel *m); /* that it was compiled and tuned for */
DLC_API int dlc_model_count(const DlcModel *m, DlcRole role);
/* Index of a tensor by its name, -1 if there is none; name of a tensor by its index. */
DLC_API int dlc_model_find(const DlcModel *m, DlcRole role, const char *name);
DLC_API const char *dlc_model_name(const DlcModel *m, DlcRole role, int index);
/* Its type and shape; -1 stands for a dimension that the bound inputs decide.  data is NULL. */
DLC_API DlcStatus dlc_model_tensor(const DlcModel *m, DlcRole role, int index, DlcTensor *out);

/* threads 0: as compiled.  All memory is taken here. */
DLC_API DlcStatus dlc_instance_open(const DlcModel *m, int threads, DlcInstance **out, DlcError *err);
DLC_API void dlc_instance_close(DlcInstance *i); /* NULL is allowed */
/*
 * Lets runs read an input from, or write an output to, the caller's memory until the next bind (NULL): in place where
 * it is 64-byte aligned, in the device's memory and apart from inputs, else copied at every run. Outputs are apart.
 */
DLC_API DlcStatus dlc_instance_bind(DlcInstance *i, DlcRole role, int index, const DlcTensor *t, DlcError *err);
/*
 * Copies host memory to a tensor of the instance, or a tensor to host memory: the bound one, or the instance's own.
 * Data lies row by row without gaps; `bytes` is the tensor's size at today's shape.  Works on every device.
 */
DLC_API DlcStatus dlc_instance_write(DlcInstance *i, DlcRole role, int index, const void *data, size_t bytes,
	DlcError *err);
DLC_API DlcStatus dlc_instance_read(DlcInstance *i, DlcRole role, int index, void *data, size_t bytes, DlcError *err);
/*
 * The bound tensor, or the instance's own, at today's shape, for use without a copy.  If its device is the CPU, the
 * program may fill inputs and read outputs through `data`.  Else `data` is an address of that device alone.
 */
DLC_API DlcStatus dlc_instance_tensor(DlcInstance *i, DlcRole role, int index, DlcTensor *out, DlcError *err);
DLC_API DlcStatus dlc_instance_run(DlcInstance *i, DlcError *err);
/*
 * The same in two calls. A device may still be at work when start returns; between the two, the instance and what is
 * bound are left alone. stream: the driver's own stream (a CUstream), which runs use; NULL where there is none.
 */
DLC_API DlcStatus dlc_instance_start(DlcInstance *i, DlcError *err);
DLC_API DlcStatus dlc_instance_wait(DlcInstance *i, DlcError *err);
DLC_API void *dlc_instance_stream(const DlcInstance *i);
/* The plan's steps; a profiled run adds each one's nanoseconds to ns[dlc_model_steps()]. */
DLC_API int dlc_model_steps(const DlcModel *m);
DLC_API const char *dlc_model_step(const DlcModel *m, int step);
DLC_API DlcStatus dlc_instance_profile(DlcInstance *i, uint64_t *ns, DlcError *err);
#ifdef __cplusplus
}
#endif
#endif
