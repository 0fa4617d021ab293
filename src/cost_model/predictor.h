/*
 * Predictors: a scheduled kernel set on a machine as a row of numbers, which learned models read. (Elsewhere they are
 * called features; here a feature is one of a processor.) They are rows of cost_model/predictor.def, made by the walk
 * that the estimate does, and none depends on which operator it is.
 */
#ifndef COST_MODEL_PREDICTOR_H
#define COST_MODEL_PREDICTOR_H

#include "op/task.h"
#include "target/target.h"

enum {
#define PREDICTOR(name, value, doc) PREDICTOR_##name,
#include "cost_model/predictor.def"
#undef PREDICTOR
	PREDICTORS
};

const char *predictor_name(int predictor);
const char *predictor_doc(int predictor);
/* Of all names in their order: models with another id were trained on other ones. */
Hash predictor_id(void);
/* The row of the set's run Fns; task NULL: not known. Returns the analytic estimate in nanoseconds. All are finite. */
double predictor_row(const KernelSet *ks, const Task *task, const Target *t, float row[PREDICTORS]);

#endif
