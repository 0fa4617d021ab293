/*
 * See expect.h. A search proposes the most promising configs first, so that gains get rarer: each doubling of the
 * trials brings about as much as the doubling before. So the logarithm of the best time falls with that of the trials.
 * Its slope is taken from the last two doublings, beside a number for all Tasks, which counts where trials are few.
 * A part of what single times gain is luck, which a race takes back.
 *
 * The order of Tasks does not follow that slope: the first trials of a Task with a bad default save so much that others
 * with bad defaults wait for theirs (docs/search.md, "The order of Tasks"). It goes by what is left, and by how many
 * trials were in vain.
 */
#include "tuner/expect.h"
#include "tuner/tuning.h"

#include <math.h>

/* Bayes: the schedule is one of the measured ones, each as likely as its time explains the least one. */
double expect_again(const double *ns, int n, double noise)
{
	double least = ns[0], sum = 0, all = 0;
	for (int i = 1; i < n; i++)
		least = fmin(least, ns[i]);
	for (int i = 0; i < n; i++) {
		double above = log(ns[i] / least), likely = exp(-above * above / (2 * noise * noise));
		sum += likely * above;
		all += likely;
	}
	return least * exp(sum / all);
}

double expect_saved(const double *best, int n, int more)
{
	double doublings = fmin(2, log2(n)), seen = log(best[(n - 1) / 4] / best[n - 1]);
	double slope = (seen + TUNE_USUAL_GAIN * TUNE_USUAL_WEIGHT) / (doublings + TUNE_USUAL_WEIGHT);
	return 1 - exp(-TUNE_LUCK * slope * log2((double)(n + more) / n));
}

double expect_left(double time, double roof)
{
	return sqrt(time * fmax(time - roof, time * (TUNE_AT_ROOF - 1)));
}

double expect_next(double left, int64_t in_vain)
{
	return left / (double)(TUNE_PATIENCE + in_vain);
}
