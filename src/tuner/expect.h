/*
 * What more trials of a Task may save, by what its last ones saved.
 */
#ifndef TUNER_EXPECT_H
#define TUNER_EXPECT_H

/*
 * The part of the best time that `more` trials are expected to save, from 0 to 1. best[i] > 0: the best time after
 * trial i of n, in any unit; n >= 1.
 */
double expect_saved(const double *best, int n, int more);

#endif
