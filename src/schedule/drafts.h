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

#endif
