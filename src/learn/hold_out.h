/*
 * Trains a model and judges it. The Tasks are dealt into parts; each part is ranked by trees that were trained on the
 * others. The model itself is trained on all.
 */
#ifndef LEARN_HOLD_OUT_H
#define LEARN_HOLD_OUT_H

#include "cost_model/learned_file.h"
#include "learn/gather.h"

enum { LEARN_LEAST_ROWS = 64, LEARN_LEAST_TASKS = 4, LEARN_PARTS = 4 };

/* Refuses less than LEARN_LEAST_ROWS schedules of LEARN_LEAST_TASKS Tasks. */
bool learn_train(const LearnSet *set, TargetKind kind, int64_t now_s, LearnedModel *out, Arena *a, Err *err);

#endif
