/*
 * What `dlc-run` does, as a function: `dlc run` calls it too, with a way to open models that are no
 * bundles.  The run_*.c files, array, npy, npz, tensor_pb, element and probe surround the runtime;
 * libdlc_runtime has none of them.  They are a program, so they print; nothing of them exits.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "dlc/dlc_runtime.h"

/* A host's status: it reports the failure itself. */
#define RUN_REPORTED ((DlcStatus)101)

typedef struct RunHost {
	const char *program; /* as users type it: "dlc-run" */
	/* Opens a model that is no bundle: a zoo name, an ONNX file.  `m` is closed by us. */
	DlcStatus (*open)(void *arg, const char *path, DlcModel **m, DlcError *err);
	void *arg;
} RunHost;

/* Results to stdout, the rest to stderr; returns the exit code (dlc-run(1)), -1 for RUN_REPORTED. */
int run_main(int argc, char **argv, const RunHost *host);

#endif
