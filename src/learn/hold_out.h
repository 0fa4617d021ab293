/*
 * Trains a model and judges it. The Tasks are dealt into parts; each part is ranked by trees that were trained on the
 * others. The model itself is trained on all. With n parts the time is n times that of the model alone.
 */
#ifndef LEARN_HOLD_OUT_H
#define LEARN_HOLD_OUT_H

#include "cost_model/learned_file.h"
#include "learn/gather.h"

enum { LEARN_LEAST_ROWS = 64, LEARN_LEAST_TASKS = 4, LEARN_PARTS = 3 };

/* Refuses less than LEARN_LEAST_ROWS schedules of LEARN_LEAST_TASKS Tasks. */
bool learn_train(const LearnSet *set, TargetKind kind, int64_t now_s, LearnedModel *out, Arena *a, Err *err);
/* Spearman's correlation of n values; 0 where all of one side are equal. Allocates in the arena. */
double learn_rank(const double *x, const double *y, int n, Arena *a);
/* How many times as long what is said to be the fastest of n >= 1 schedules takes as the fastest. */
double learn_pick(const double *said, const double *ns, int n);
/* m->untuned, where said[i] is the time of row i by trees that have not seen its Task. */
void learn_gains(const LearnSet *set, const double *said, LearnedModel *m, Arena *a);
/*
 * What g->margin gains on the Tasks of g's group, of a class or of all (NULL): fills the other fields. *se: the
 * standard error of g->gain.
 */
void learn_gain_at(const LearnSet *set, const double *said, const char *class, LearnedGain *g, double *se);

#endif
