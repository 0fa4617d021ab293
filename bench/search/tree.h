/*
 * A recorded space as a Space to search: its template asks for the knobs that stand in the recorded configs. So a
 * search runs on it as on the Task's own space, whatever today's templates ask for.
 */
#ifndef BENCH_SEARCH_TREE_H
#define BENCH_SEARCH_TREE_H

#include "measure/recorded.h"
#include "schedule/space.h"

/* Refuses configs that one tree of knobs cannot have. `name` stands in messages. */
Space *tree_space(Arena *a, const char *name, const RecordedSpace *r, Err *err);
/* The recorded run of a config of such a space. */
const RecordedRun *tree_run(const Space *s, const Config *c);

#endif
