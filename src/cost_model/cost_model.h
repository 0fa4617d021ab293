/*
 * A scheduled kernel set becomes a score before anything is run. Cost models are rows; the analytic
 * one needs no data: arithmetic over the vector width and ports, accesses by their stride, the latency
 * of the innermost dependence, and the task's compulsory traffic.
 */
#ifndef COST_MODEL_COST_MODEL_H
#define COST_MODEL_COST_MODEL_H

#include "op/task.h"
#include "target/target.h"

typedef struct CostModel {
	const char *name, *doc;
	/* Estimated nanoseconds of one call of the set's run Fns; > 0. */
	double (*estimate)(const KernelSet *ks, const Task *task, const Target *target);
} CostModel;

extern const CostModel cost_analytic;
extern const CostModel *const cost_models[]; /* ends with NULL */

#endif
