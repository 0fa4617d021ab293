/*
 * The canonical text of a schedule, for rooms that know no primitives. Two texts with the same canonical
 * text are the same schedule: comments, blanks and the name of the task do not count.
 */
#ifndef OP_STEPS_H
#define OP_STEPS_H

#include "base/arena.h"
#include "base/hash.h"

/*
 * Each step is a line ended by '\n', its words separated by one blank. trace_print prints the same for a
 * trace that names no task.
 */
const char *steps_canonical(Arena *a, const char *text);
/* What names a schedule in indexes and lock files: the hash of its canonical text. */
Hash steps_hash(const char *canonical);

#endif
