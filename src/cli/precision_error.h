/*
 * The error of a precision: compares the network with itself in fp32, both by default schedules on this CPU.
 */
#ifndef CLI_PRECISION_ERROR_H
#define CLI_PRECISION_ERROR_H

#include "cli/operands.h"
#include "run/against.h"

/* Opens MODEL in precision p, compiled for this CPU without records. Close the model, then the bundle. */
bool precision_open(const Args *args, DlcSession *s, const char *model, DlcPrecision p, DlcBundle **bundle,
	DlcModel **out, Err *err);

typedef struct PrecisionError {
	Distance *output; /* noutput of them, named in the arena of args */
	int noutput, inputs;
} PrecisionError;
/* The error of MODEL in the --precision of args, fp16 or bf16, on random inputs. */
bool precision_error(const Args *args, DlcSession *s, const char *model, PrecisionError *out, Err *err);

#endif
