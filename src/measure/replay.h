/*
 * A Measure without a machine: recorded spaces answer. A candidate that was not recorded is refused, never guessed.
 */
#ifndef MEASURE_REPLAY_H
#define MEASURE_REPLAY_H

#include "measure/measure.h"
#include "measure/recorded.h"

/* A candidate is known by its task and its trace. The spaces are borrowed until measure_close. */
Measure *measure_replay(const RecordedSpace *const *space, int n);

#endif
