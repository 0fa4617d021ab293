/*
 * Schedules of one Task, one after another, for estimates. Traces of a space begin alike, so the sets that common
 * beginnings make are kept, and a trace is applied from the longest one on. The result is that of schedule_draft, with
 * the same ids of expressions.
 */
#ifndef SCHEDULE_DRAFTS_H
#define SCHEDULE_DRAFTS_H

#include "schedule/space.h"

typedef struct Drafts Drafts;

/* The arena, which must outlive all drafts, takes what is kept: some MiB. */
Drafts *drafts_new(Arena *a, const Task *task, const Target *target);
/* As schedule_draft. The set is made in the arena and shares expressions with what is kept. */
const KernelSet *drafts_make(Drafts *d, Arena *a, const Trace *t, Err *err);

/* A schedule of many: its trace, and that as text. */
typedef struct DraftJob {
	const Trace *trace;
	const char *text;
} DraftJob;

/*
 * All of them, in an order in which no beginning that several have in common is made twice. The set of job i is given
 * to `take` in an arena, which it frees; NULL where the schedule is refused.
 */
void drafts_each(
	Drafts *d, const DraftJob *job, int n, void (*take)(void *arg, int i, Arena *a, const KernelSet *ks), void *arg);

#endif
