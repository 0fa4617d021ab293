/*
 * Rows of predictors with measured times become trees: by libxgboost, on one thread, from a fixed seed, so that equal
 * rows give equal trees. The error that the trees make small is that of differences inside a Task: of
 * ln(time / estimate).
 */
#ifndef COST_MODEL_TRAIN_H
#define COST_MODEL_TRAIN_H

#include "cost_model/forest.h"
#include "cost_model/predictor.h"

/* Rows of one Task on one target follow each other. */
typedef struct TrainSet {
	int n;
	const float *row;      /* n times PREDICTORS */
	const double *ns, *estimate;
	const double *weight;  /* by recency and trust; NULL: all 1 */
	const int *task;       /* equal for rows of one Task */
} TrainSet;

/* Whether libxgboost can be used, which the first call opens. ERR_UNSUPPORTED: this dlc was built without it. */
bool train_there(Err *err);
/*
 * Trees whose sum is ln(time / estimate); `before`: trees that are there and stay, or NULL. All of them together must
 * be a model that can be written and read (forest_check). gain[PREDICTORS]: how much
 * each predictor has made the error smaller, a share; may be NULL. Any thread may call it.
 */
bool train_forest(Arena *a, const TrainSet *set, const Forest *before, Forest *out, double *gain, Err *err);

#endif
