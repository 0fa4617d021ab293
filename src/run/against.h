/*
 * The distance of a model's outputs from those of a reference: the same network in another precision or for another
 * target. Both run on the same inputs.
 */
#ifndef RUN_AGAINST_H
#define RUN_AGAINST_H

#include "run/feed.h"
#include "run/program.h"

enum { AGAINST_INPUTS = 4, AGAINST_SECONDS = 2 };

/* The distance of one output, over all inputs. */
typedef struct Distance {
	const char *output;
	double max_error, max_want; /* largest |got - want|, |want| */
	int64_t bad;                /* elements that are NaN or infinite in one of the two alone */
} Distance;

/* Relative to the largest element; 0 where all are 0 and equal, infinite where an element is finite in one alone. */
double distance_relative(const Distance *d);

/*
 * Runs both on AGAINST_INPUTS random inputs, or fewer after AGAINST_SECONDS; *inputs: how many. d: one for each output
 * of m. DLC_BAD_ARGUMENT: the inputs or outputs of the models differ.
 */
DlcStatus against_random(
	const DlcModel *m, const DlcModel *want, uint64_t seed, Distance *d, int *inputs, DlcError *err);

/* Runs --against on the inputs of the options, or on random ones, and prints a line for each output. */
DlcStatus against_options(const DlcModel *m, const RunOptions *o, const RunHost *host, bool hosts, DlcError *err);

#endif
