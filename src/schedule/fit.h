/*
 * A trace that was found for another shape, made to fit this one.
 */
#ifndef SCHEDULE_FIT_H
#define SCHEDULE_FIT_H

#include "schedule/space.h"

/*
 * The trace's text with its factors fitted to the task's extents, NULL where a step that matters is
 * refused. What is returned replays.
 */
const char *trace_fit(Arena *a, const Task *task, const Target *target, const char *trace);

#endif
