/*
 * The kernel ABI: what codegen emits and the runtime, the worker and the tests call.
 * A kernel is entered by every thread of the team at once (SPMD): loops declared parallel share
 * their iterations by thread/threads, everything else outside them is done by thread 0, and the
 * kernel itself calls barrier between the two. It returns 0, or a DlcStatus it could not avoid.
 * Kernels keep no state, allocate nothing and call nothing but barrier.
 */
#ifndef RUNTIME_KERNEL_H
#define RUNTIME_KERNEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct DlcCall {
	void *const *buf;   /* one for each buffer parameter of the Fn, in order, 64-byte aligned */
	const int64_t *sym; /* values of the Fn's symbols, then of its scalar parameters */
	void *work;         /* this thread's workspace: DlcEntry.work_bytes, 64-byte aligned */
	uint32_t thread, threads;
	void (*barrier)(void *team); /* NULL where threads == 1 */
	void *team;
} DlcCall;

typedef int (*DlcKernel)(const DlcCall *call);

/* One kernel of a module: where its code starts, and what a call needs. */
typedef struct DlcEntry {
	char name[64];
	uint64_t offset;     /* from the start of the image */
	uint64_t work_bytes; /* per thread */
	uint32_t nbuf, nsym;
} DlcEntry;

/*
 * Machine code of one target as one position-independent image: code and its constants together,
 * all references inside it resolved, none outside. It may be mapped read-only and executable at any
 * 64-byte aligned address (4096 for code that addresses by pages, as AArch64 does) and then called.
 */
typedef struct DlcImage {
	const unsigned char *bytes;
	uint64_t size;
	const DlcEntry *entry;
	uint32_t nentry;
	int32_t device; /* DLPack's code */
} DlcImage;

enum { DLC_DEVICE_CPU = 1 }; /* DLPack's code */

#endif
