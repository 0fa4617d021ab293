/* Masks of sequences: which layers make, keep and read them, and what rows read. */
#ifndef FRONTEND_KERAS_MASK_H
#define FRONTEND_KERAS_MASK_H

#include "frontend/keras/keras.h"

bool keras_makes_mask(const KerasLayer *l);
bool keras_keeps_mask(const KerasLayer *l); /* its result has the mask of its inputs */
bool keras_reads_mask(const KerasLayer *l);
bool keras_scores_mask(const KerasLayer *l); /* it reads one into its softmax, which is not supported */

/* The number of the input that is the mask; -1: the call has none. */
int keras_mask_input(Visit *v);
/* The mask, bool [n,steps]; DAG_NONE: there is none. */
int keras_mask(Visit *v, int64_t n, int64_t steps);
int keras_not_equal(Visit *v, int x, double to);

#endif
