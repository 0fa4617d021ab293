/* Masks of sequences: which layers make, keep and read them, and what rows read. */
#ifndef FRONTEND_KERAS_MASK_H
#define FRONTEND_KERAS_MASK_H

#include "frontend/keras/keras.h"

bool keras_makes_mask(const KerasLayer *l);
bool keras_keeps_mask(const KerasLayer *l); /* its result has the mask of its inputs */
bool keras_reads_mask(const KerasLayer *l);
bool keras_scores_mask(const KerasLayer *l); /* it reads those of all its inputs into its softmax */

/* The number of the input that is the mask of an input, which the file does not write; -1: it has none. */
int keras_mask_of(const Visit *v, int input);
/* The same of the first one, where the call may write it. */
int keras_mask_input(Visit *v);
/* The mask, bool [n,steps]; DAG_NONE: there is none. */
int keras_mask(Visit *v, int64_t n, int64_t steps);
int keras_not_equal(Visit *v, int x, double to);

#endif
