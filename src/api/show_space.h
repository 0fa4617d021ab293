/* The stages that say what there is to tune. */
#ifndef API_SHOW_SPACE_H
#define API_SHOW_SPACE_H

#include "cost_model/roof.h"
#include "compile/compile.h"

/*
 * One line of JSON: key op weight alternative flops bytes space valid_percent best_ms default_ms
 * direct_roof_percent bound. An alternative's task is one that the network does not run. Times are recorded
 * ones, null where there are none; valid_percent is sampled.
 */
bool show_task_row(Text *out, const Task *t, bool alternative, const CompileOptions *o, const Roof *machine, Err *err);

/* The task's space: template, size, and each knob with its options, the default's marked. */
bool show_space(Text *out, const Task *t, const Target *target, bool json, Err *err);

#endif
