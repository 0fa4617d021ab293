/*
 * A trace that was found for another shape, made to fit this one.
 */
#ifndef COMPILE_NEAR_H
#define COMPILE_NEAR_H

#include "schedule/space.h"

/*
 * The trace's text with its factors fitted to the task's extents, NULL where a step that matters is
 * refused. What is returned replays.
 */
const char *near_fit(Arena *a, const Task *task, const Target *target, const char *trace);

#endif
