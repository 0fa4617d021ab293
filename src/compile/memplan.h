/*
 * The static memory plan. Values that live from one step to another get offsets in one arena. Values alive at the
 * same time do not overlap. Offline, greedy, several orders, best kept.
 */
#ifndef COMPILE_MEMPLAN_H
#define COMPILE_MEMPLAN_H

#include "base/arena.h"

#include <stdint.h>

enum { PLAN_ALIGN = 64 };

typedef struct PlanItem {
	int64_t bytes;   /* > 0 */
	int first, last; /* steps that write and last read it, first <= last, both included */
	int64_t offset;  /* filled in; a multiple of PLAN_ALIGN */
} PlanItem;

/* Fills offsets; returns the arena's size. `scratch` is used while planning. */
int64_t memplan(PlanItem *item, int n, Arena *scratch);
/* The largest sum of sizes (rounded up to PLAN_ALIGN) alive at one step: no plan is smaller. */
int64_t memplan_live(const PlanItem *item, int n, Arena *scratch);

#endif
