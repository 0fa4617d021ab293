/* Part of dlc.h: a network and what databases know of it become a bundle. */
#ifndef DLC_COMPILE_H
#define DLC_COMPILE_H

#ifndef DLC_DLC_H
#error "include dlc/dlc.h"
#endif

/* How a task came by its schedule; as evidence the order is exact, stale, near, model, default. New kinds come last. */
typedef enum DlcHit { DLC_EXACT, DLC_NEAR, DLC_STALE, DLC_DEFAULT, DLC_MODEL, DLC_HITS } DlcHit;
DLC_API const char *dlc_hit_name(DlcHit h); /* "exact" */

/*
 * What a bundle has for each target of CUDA: PTX, which a driver translates when the bundle is opened, or machine code
 * (a cubin), which devices of the target's major version run. CUDA's nvJitLink makes cubins. AUTO: PTX, and a cubin
 * where nvJitLink is found and knows the target. Other targets have one form of code, and take AUTO alone.
 */
typedef enum DlcCode { DLC_CODE_AUTO, DLC_CODE_PTX, DLC_CODE_CUBIN, DLC_CODE_BOTH, DLC_CODES } DlcCode;

typedef struct DlcCompileOptions {
	DlcTarget target;
	DlcDatabase *const *database; /* their order matters for learned models alone: the first one counts */
	int ndatabase;
	/*
	 * NAME or NAME:FILE, ranks schedules that were not measured. NULL: analytic, and the learned model beside a
	 * database or among the shipped logs chooses for Tasks without records.
	 */
	const char *cost_model;
	int required;   /* 1: fails where a task has less than ... */
	DlcHit require; /* ... this */
	int unscheduled; /* the naive loops: the base line of comparisons */
	const char *lock; /* the text of a lock, which is obeyed; NULL: none */
	const char *lock_name; /* in messages; may be NULL */
	void (*progress)(int done, int all, const char *label, void *arg); /* may be NULL */
	void *arg;
	/* Names of further targets, of target's kind. The bundle has code for them too, with the schedules of `target`. */
	const char *const *also;
	int nalso;
	DlcCode code;
} DlcCompileOptions;

/* options may be NULL: for this machine, without records. */
DLC_API DlcFault dlc_compile(DlcNetwork *n, const DlcCompileOptions *options, DlcBundle **out, DlcFailure *why);
DLC_API void dlc_bundle_close(DlcBundle *b); /* NULL is allowed */

/* What dlc_model_open_memory takes; the bundle's, 64-byte aligned. size may be NULL. */
DLC_API const void *dlc_bundle_bytes(const DlcBundle *b, size_t *size);
/* A file that is complete when its name appears. */
DLC_API DlcFault dlc_bundle_write(const DlcBundle *b, const char *path, DlcFailure *why);
/* The lock that leads to this bundle again. */
DLC_API const char *dlc_bundle_lock(const DlcBundle *b);

typedef struct DlcChoice {
	DlcTask task;
	DlcHit hit;
	const char *trace; /* the schedule's text; "": the naive loops */
	const char *why;   /* "3 sessions, verified" */
	double estimated_ms;  /* of one call: recorded, or the cost model's */
	double could_save_ms; /* of the network: above what no schedule of the task can be shown to need */
} DlcChoice;

/* A part of a bundle's code; the device takes the first one that it can run. */
typedef struct DlcBundleCode {
	const char *target; /* "cuda:h200 t1" */
	const char *form;   /* "cubin" */
	int64_t bytes;
} DlcBundleCode;

typedef struct DlcBundleInfo {
	const char *target; /* "cpu:znver5 t1" */
	int hits[DLC_DEFAULT + 1]; /* how many tasks have each kind; those of DLC_MODEL are in `hits_model` */
	int ntask;
	int hits_model;
	const DlcChoice *task;
	double estimated_ms;
	int64_t workspace_bytes, live_bytes;
	int64_t implausible; /* records left out because no core is so fast; those of ... */
	const char *implausible_task; /* ... this label and others; NULL: none */
	int naive; /* tasks that have the naive loops, since their schedules are refused */
	const DlcBundleCode *code;
	int ncode;
} DlcBundleInfo;

/* The bundle's; probes the machine for 20 ms when it is asked first. NULL: out of memory. */
DLC_API const DlcBundleInfo *dlc_bundle_info(DlcBundle *b);

#endif
