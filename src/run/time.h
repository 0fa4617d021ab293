/*
 * dlc-run --bench and --profile.
 */
#ifndef RUN_TIME_H
#define RUN_TIME_H

#include "dlc/dlc_runtime.h"
#include "run/option.h"

/* Runs back to back, prints the statistics and the FMA probe beside them. */
DlcStatus time_bench(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err);
/* Mean time of every step of the plan. */
DlcStatus time_profile(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err);

#endif
