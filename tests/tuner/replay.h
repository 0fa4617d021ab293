/* A Measure that answers from records and starts nothing: tuners are tested without times of this machine. */
#ifndef TESTS_TUNER_REPLAY_H
#define TESTS_TUNER_REPLAY_H

#include "measure/measure.h"

/* Calls f for each recorded run of a workload, best first. */
typedef bool (*MeasureRunsFn)(void *from, Hash workload, RunFn f, void *arg, Err *err);
/*
 * The first run of a candidate's trace that `runs` hands over is the answer. A candidate without a record is
 * RUN_DEVICE_LOST; there are no networks. `from` is borrowed.
 */
Measure *measure_replay(MeasureRunsFn runs, void *from);

#endif
