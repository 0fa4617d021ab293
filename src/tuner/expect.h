/*
 * What a Task's best time is worth, what more trials may save, by what its last ones saved; and which Task's trial is
 * next.
 */
#ifndef TUNER_EXPECT_H
#define TUNER_EXPECT_H

#include <stdint.h>

/*
 * The least of many noisy times is an outlier: what its schedule is expected to take when it is timed again. ns[i] > 0:
 * the times of n >= 1 schedules, single ones or the least of few; noise: the standard deviation of the logarithms of
 * single ones.
 */
double expect_again(const double *ns, int n, double noise);

/*
 * The part of the best time that `more` trials are expected to save, from 0 to 1. best[i] > 0: the best time after
 * trial i of n, in any unit; n >= 1.
 */
double expect_saved(const double *best, int n, int more);

/*
 * The order of Tasks. What all trials of a Task may save of its time, as it counts beside others: the geometric mean of
 * the time and of the part above the roof, which few schedules reach. roof 0: not known.
 */
double expect_left(double time, double roof);
/* What the next trial may save of that; in_vain: trials since the last gain, those under way too. */
double expect_next(double left, int64_t in_vain);

#endif
