/*
 * dlc-run's command line.
 */
#ifndef RUNTIME_RUN_OPTION_H
#define RUNTIME_RUN_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/run.h"

typedef struct RunOptions {
	const char *model;
	const char **input, **output; /* as typed; arrays of argc, released by run_options_free */
	int ninput, noutput;
	uint64_t seed;
	int threads, runs;      /* 0: not given */
	double seconds;  /* 0: not given */
	double rtol, atol;
	const char *check_dir;
	bool bench, profile, check, json, version, help;
} RunOptions;

/* False with a sentence if the line is wrong: exit code 2. */
bool run_options_parse(int argc, char **argv, RunOptions *o, DlcError *err);
void run_options_free(RunOptions *o);
/* The text of --help. */
void run_options_help(const char *program);

#endif
