/*
 * What `dlc-run` does, as a function: `dlc run` calls it too, with a way to open models that are no
 * bundles.  The files of this room are a program around the runtime, so they print; none of them exits.
 */
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include "base/args.h"
#include "dlc/dlc_runtime.h"

/* A host's status: it reports the failure itself. */
#define RUN_REPORTED ((DlcStatus)101)

typedef struct RunHost {
	const char *program; /* as users type it: "dlc-run" */
	/* Opens a model that is no bundle: a zoo name, an ONNX file.  `m` is closed by us. */
	DlcStatus (*open)(void *arg, const char *path, DlcModel **m, DlcError *err);
	/* The same model in fp32 for this CPU, which run_main closes. NULL: the program cannot make one. */
	DlcStatus (*reference)(void *arg, const char *path, DlcModel **m, DlcError *err);
	void *arg;
} RunHost;

/*
 * Does what args, which have the rows of run/option.h, ask for. Results go to stdout, the rest to stderr; returns the
 * exit code (dlc-run(1)), -1 for RUN_REPORTED.
 */
int run_main(const Args *args, const RunHost *host);

#endif
