/*
 * The kernel ABI: what codegen emits and the runtime, the worker and the tests call. Every thread of the team enters
 * a CPU's kernel at once (SPMD). Loops declared parallel divide their iterations by thread/threads. Thread 0 does
 * everything outside of them. The kernel itself calls barrier between the two. It returns 0, or a DlcStatus it could
 * not avoid. Kernels keep no state, allocate nothing and call nothing but barrier.
 */
#ifndef RUNTIME_KERNEL_H
#define RUNTIME_KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { DLC_CALL_ALIGN = 64 }; /* bytes: every buffer and every workspace of a call begins at a multiple */

typedef struct DlcCall {
	void *const *buf;   /* one for each buffer parameter of the Fn, in order */
	const int64_t *sym; /* values of the Fn's symbols, then of its scalar parameters */
	void *work;         /* this thread's workspace: DlcEntry.work_bytes */
	uint32_t thread, threads;
	void (*barrier)(void *team); /* NULL where threads == 1 */
	void *team;
} DlcCall;

typedef int (*DlcKernel)(const DlcCall *call);

/* floor((mul * sym[0] * sym[1] + add) / div), of symbols by their numbers. */
typedef struct DlcDim {
	int32_t sym[2];        /* -1: 1 instead of a symbol, so {-1, -1} with mul 0 is the constant add */
	int64_t mul, add, div; /* mul >= 0, div >= 1; the value at all minima is >= 0 */
} DlcDim;

/*
 * How a device starts a kernel: blocks of the grid and threads of a block (x, y, z), bytes of shared memory that
 * a block gets beside what its code declares. Symbols are numbers in DlcCall.sym.
 */
enum { DLC_GRID = 0, DLC_BLOCK = 3, DLC_SHARED = 6, DLC_LAUNCH_DIMS };
typedef struct DlcLaunch {
	DlcDim dim[DLC_LAUNCH_DIMS];
} DlcLaunch;

/*
 * One kernel of a module: where its code starts, and what a call needs. Several may make up one Fn, as on devices: then
 * `rest` more follow the first, which has the Fn's name. All get the same call and run one after the other.
 */
typedef struct DlcEntry {
	char name[64];       /* of the Fn; a device finds the kernel in its image by this name */
	uint64_t offset;     /* of machine code: from the start of the image; else 0 */
	uint64_t work_bytes; /* per thread */
	uint32_t nbuf, nsym;
	uint32_t rest, zero;
	DlcLaunch launch; /* all 0 where a team of threads enters the kernel, on the CPU */
} DlcEntry;

/*
 * On a device a kernel's arguments are the addresses of the buffers, the int64_t values of `sym`, and the address
 * `work`. In OpenCL an address is two arguments: a memory object and bytes from its start. The kernel's name in PTX or
 * source text is the entry's, with "dlc_" before it and '_' for each dot.
 */
enum { DLC_SYMBOL = 68 };
static inline void kernel_symbol(const char *name, char out[DLC_SYMBOL])
{
	int n = 0;
	for (const char *before = "dlc_"; *before != 0; before++)
		out[n++] = *before;
	for (; *name != 0 && n < DLC_SYMBOL - 1; name++)
		out[n++] = *name == '.' ? '_' : *name;
	out[n] = 0;
}

/*
 * Code of one target. For a CPU: machine code as one position-independent image, code and its constants together,
 * all references inside it resolved, none outside. It may be mapped read-only and executable at any
 * 64-byte aligned address (4096 for code that addresses by pages, as AArch64 does) and then called.
 * For another device: what its driver loads, PTX or source text, which ends with a 0.
 */
typedef struct DlcImage {
	const unsigned char *bytes;
	uint64_t size;
	const DlcEntry *entry;
	uint32_t nentry;
	int32_t device; /* whose code it is: DLPack's code */
} DlcImage;

/* DLPack's codes; CUDA_HOST is the host's memory, pinned by CUDA's driver. */
enum {
	DLC_DEVICE_CPU = 1,
	DLC_DEVICE_CUDA = 2,
	DLC_DEVICE_CUDA_HOST = 3,
	DLC_DEVICE_OPENCL = 4,
	DLC_DEVICE_METAL = 8
};

#endif
