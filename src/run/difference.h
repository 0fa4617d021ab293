/*
 * How far outputs are from what they should be: for --check, which compares with test data, and --expect.
 */
#ifndef RUN_DIFFERENCE_H
#define RUN_DIFFERENCE_H

#include "run/array.h"
#include "run/option.h"

/* Of one or more outputs together. */
typedef struct Difference {
	const char *what, *name; /* "set", "test_data_set_0": how the printed line begins */
	double max_error, max_want;
	int64_t outside, n; /* elements: outside of the tolerance, compared */
	char detail[300];   /* of the first output with a difference */
} Difference;

/* Adds an output `got`, which should be `want`; `name` stands in the detail. */
void difference_add(Difference *d, const DlcTensor *got, Array *want, const char *name, const RunOptions *o);
/* A line to stdout. */
void difference_print(const Difference *d, bool json);
/* NumPy has no bfloat16: its files carry the bits as unsigned integers. */
void difference_read_as(Array *a, DlcDataType wanted);

/* Compares outputs with the files of --expect, a line each; DLC_BAD_ARGUMENT if one differs. */
DlcStatus expect_outputs(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err);

#endif
