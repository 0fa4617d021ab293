/*
 * The text of a schedule, as rooms see it that know no steps: a schedule is its canonical text. Of two texts with
 * one canonical text neither says more than the other: comments, blanks and the name of a task are not part of it.
 */
#ifndef OP_STEPS_H
#define OP_STEPS_H

#include "base/arena.h"

/*
 * One step a line, ended by '\n', its words with one blank between them: what trace_print prints of a trace that
 * names no task.
 */
const char *steps_canonical(Arena *a, const char *text);

#endif
