/*
 * dlc-run's command line.
 */
#ifndef RUN_OPTION_H
#define RUN_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "run/run.h"

/* What was given to an option that repeats, as typed; an array of argc. */
typedef struct RunList {
	const char **at;
	int n;
} RunList;

typedef struct RunOptions {
	const char *model;
	RunList input, output;
	int64_t seed;
	int64_t threads, runs; /* 0: not given */
	double seconds; /* 0: not given */
	double rtol, atol;
	const char *check_dir; /* of --check; NULL: it has none */
	const char *compiling; /* an option that says how to compile, without "--"; NULL: none is given */
	bool random, bench, profile, check, json, version, help;
} RunOptions;

/*
 * False with a sentence if the line is wrong: exit code 2.  --help and --version end it.  The memory
 * is released with run_options_free in any case.
 */
bool run_options_parse(int argc, char **argv, RunOptions *o, DlcError *err);
void run_options_free(RunOptions *o);
/* The text of --help. */
void run_options_help(const char *program);

#endif
