/*
 * dlc-run --check=DIR: ONNX's test data, DIR/test_data_set_N/input_K.pb and output_K.pb, or the .pb
 * files in DIR itself.
 */
#ifndef RUN_TEST_DATA_H
#define RUN_TEST_DATA_H

#include "run/feed.h"

/* A line for each set to stdout; DLC_BAD_ARGUMENT if an output differs.  Without a DIR one line. */
DlcStatus check_folder(
	Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err);

#endif
