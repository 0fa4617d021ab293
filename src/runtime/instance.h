/*
 * One running copy of a model: its memory, its threads, what is bound, and the values that the
 * steps of the plan read.  All of it is made when the instance opens; a run only fills it.
 */
#ifndef RUNTIME_INSTANCE_H
#define RUNTIME_INSTANCE_H

#include <stdatomic.h>

#include "runtime/model.h"
#include "runtime/recording.h"
#include "runtime/team.h"

/* Marks of steps with others inside; steps of a profile that are marked before their times are read. */
enum { PROFILE_NESTED = 2 * (BUNDLE_DEPTH + 1), PROFILE_MARKED = (DEVICE_MARKS - PROFILE_NESTED) / 2 };

/* What a tensor of the model is, in this instance. */
typedef struct Bound {
	unsigned char *own;         /* the instance's buffer, for the symbols' maxima */
	unsigned char *user;        /* the caller's, or NULL */
	bool fits;                  /* the caller's memory is aligned and on the device */
	bool direct;                /* it fits, and no input overlaps an output: kernels use it in place */
	bool away;                  /* the caller's lies on the host, the instance's own does not */
	int64_t shape[BUNDLE_RANK]; /* the caller's */
} Bound;

struct DlcInstance {
	const DlcModel *m;
	Team *team;
	DeviceStream *stream;
	uint32_t threads;
	size_t memory_bytes, work_stride;
	unsigned char *memory, *arena, *state, *work;
	Bound *bound;         /* of each tensor */
	bool stale;           /* a bind came after sym, dim and arg were set */
	int64_t *sym;         /* value of each symbol */
	int64_t *dim;         /* value of each dim: shapes, sizes, kernel arguments */
	void **arg;           /* address of each arg */
	DeviceLaunch *launch; /* of each step; NULL where a team enters the kernels */
	uint32_t untaken;     /* the first step whose launch is too large for the device, counted from 1; 0: none */
	uint64_t *ns;         /* of a profiled run, else NULL */
	uint32_t marked[PROFILE_MARKED], nmarked; /* steps whose marks are not read yet */
	Recording recording[RECORDINGS];
	int64_t *keys, *key; /* memory of their keys; the one of today's run */
	uint64_t runs;       /* that asked for a recording */
	/* A failed step (its number << 32 | its status); two, so that all threads see the same. */
	_Atomic uint64_t failed[2];
};

/* The threads that run it. */
Team *instance_team(const DlcInstance *i);
/* Sets sym, dim and arg for what is bound; fails where two inputs disagree. */
DlcStatus instance_resolve(DlcInstance *i, DlcError *err);
/* The same for the args and dims of steps [from, to) after a loop's symbol moved. */
void instance_resolve_steps(DlcInstance *i, uint32_t from, uint32_t to);
/* Runs the plan on all threads: 0, or the failed step as in `failed`. */
uint64_t plan_run(DlcInstance *i);
/* Adds the times of the steps that a profiled run marked; waits for them. */
void plan_read_marks(DlcInstance *i);

#endif
