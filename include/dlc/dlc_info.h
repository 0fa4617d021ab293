/* Part of dlc.h: what a session has to work with, and what a target is. Views, which the next such call replaces. */
#ifndef DLC_INFO_H
#define DLC_INFO_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

/* A part of dlc that depends on how dlc was built, or on a library that is opened when it is needed. */
typedef struct DlcComponent {
	const char *name; /* "llvm" */
	const char *use;  /* "tuning databases" */
	int there;
	const char *remedy; /* where it is missing, what to do: "install libuv1-dev and build again"; else NULL */
} DlcComponent;

/* Where files are looked for. */
typedef struct DlcPlace {
	const char *what; /* programs, targets, tuning_db, shipped, cache */
	const char *path;
	int exists;
} DlcPlace;

typedef struct DlcSessionInfo {
	const char *const *target; /* names of the target files in the session's folders, sorted; "host" needs no file */
	int ntarget;
	const char *const *zoo; /* names of the networks that need no file */
	int nzoo;
	const DlcComponent *component; /* the code generators first */
	int ncomponent;
	const DlcPlace *place; /* what the session lacks is left out; folders of targets in the order of search */
	int nplace;
	const char *const *kind; /* "opencl": kinds of devices that this dlc has a code generator for */
	int nkind;
} DlcSessionInfo;

/* The session's until the next call of this function. */
DLC_API DlcFault dlc_session_info(DlcSession *s, const DlcSessionInfo **out, DlcFailure *why);

/*
 * How many devices of a kind this machine has: DlcTarget.device is below that. Its driver is opened for it.
 * DLC_FAULT_DEVICE: it has none, and `why` says what is missing.
 */
DLC_API DlcFault dlc_session_devices(DlcSession *s, const char *kind, int *count, DlcFailure *why);

/* What one core does in a cycle, one figure of it. docs/targets.md lists them. */
typedef struct DlcCoreFigure {
	const char *key;     /* "fma_rate", as in target files */
	const char *meaning; /* "full-width multiply-adds started per cycle" */
	double value;        /* that estimates take */
	const char *source;  /* of the value: default, model, file, measured, driver */
	double measured;     /* by this call; 0: it was not */
} DlcCoreFigure;

typedef struct DlcCacheInfo {
	int64_t bytes;
	int shared_by; /* logical CPUs that share one */
} DlcCacheInfo;

/* Numbers that are not known are 0. */
typedef struct DlcTargetInfo {
	char text[DLC_TARGET_TEXT];       /* as dlc_target_text */
	char id[DLC_ID];                  /* of its record */
	const char *kind, *arch, *model;  /* "cpu", "x86-64", "znver5" */
	const char *brand;                /* "AMD EPYC 9B45"; "": not this machine, or not known */
	const char *const *feature;       /* of the instruction set, which code may use: "avx2" */
	int nfeature;
	int cores, cpus; /* physical ones and logical ones; of this machine: those a process may use; units of a device */
	int64_t memory_bytes;
	int vector_bits, vector_registers;
	const DlcCacheInfo *cache;        /* for data, from L1 on */
	int ncache;
	const DlcCoreFigure *core;        /* rates of caches that are not there are left out */
	int ncore;
	const DlcCoreFigure *blocks;      /* of a device: what blocks of threads have; without a source */
	int nblocks;
	const DlcCoreFigure *probe;       /* of a device: what this call measured; without a source */
	int nprobe;
	const char *slowed;               /* what slowed it down meanwhile: "temperature"; "": nothing that is known */
} DlcTargetInfo;

/*
 * The session's until the next call of this function. probe: measures the core that the call runs on for about half a
 * second, or a GPU for some seconds, in which its kernels are built and run in children. The target is refused unless
 * its code runs on this machine, and where it is a CPU through a driver.
 */
DLC_API DlcFault dlc_target_info(
	DlcSession *s, const DlcTarget *target, int probe, const DlcTargetInfo **out, DlcFailure *why);

#endif
