/*
 * dlc-run's tensors: files to inputs, outputs to files and to the screen.
 */
#ifndef RUN_FEED_H
#define RUN_FEED_H

#include <stdio.h>

#include "run/array.h"
#include "run/option.h"

/* A status of the program, not of the runtime: the command line is wrong. */
#define RUN_USAGE ((DlcStatus)100)

/*
 * Splits NAME=FILE, where a name may itself have a '='.  *index is the tensor, -1 where no name
 * stands, -2 where it is none of the model's.  Returns the file.
 */
const char *split_name(const DlcModel *m, DlcRole role, const char *given, int *index);
/* RUN_USAGE: "GIVEN: the model's inputs are a, b". */
DlcStatus no_such(const DlcModel *m, DlcRole role, const char *given, DlcError *err);

/* Memory that is bound to an instance's inputs; one for each input. */
typedef struct Feed {
	void **owned;
	int n;
} Feed;

bool feed_init(Feed *f, const DlcModel *m);
void feed_free(Feed *f);

/*
 * The inputs that nothing is bound to, "b f32[1,100], c i64[3] and 2 more", into `out`; their number.
 */
int feed_forgotten(const Feed *f, DlcInstance *i, const DlcModel *m, char *out, size_t size);
/* Fills these with random numbers, from seed and the input's name. */
DlcStatus feed_random(
	const Feed *f, DlcInstance *i, const DlcModel *m, uint64_t seed, DlcError *err);
/* Copies a to aligned memory and binds it to input `index`. */
DlcStatus feed_array(Feed *f, DlcInstance *i, int index, const Array *a, DlcError *err);
/* Does what --input says. */
DlcStatus feed_options(
	Feed *f, DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err);

/* Looks at what --output says before anything runs; then does it. */
DlcStatus save_check(const DlcModel *m, const RunOptions *o, DlcError *err);
DlcStatus save_outputs(DlcInstance *i, const DlcModel *m, const RunOptions *o, DlcError *err);
/* An output at today's shape; out->data is host memory, which the caller frees. */
DlcStatus output_read(DlcInstance *i, int index, DlcTensor *out, DlcError *err);
/* Shape, range and largest values of every output. */
DlcStatus print_outputs(DlcInstance *i, const DlcModel *m, bool json, DlcError *err);

#endif
