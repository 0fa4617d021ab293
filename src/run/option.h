/*
 * The command line of dlc-run and of `dlc run`: rows of run/option.def, which base/args.h reads.
 */
#ifndef RUN_OPTION_H
#define RUN_OPTION_H

#include "base/args.h"

extern const Option run_option[];

/* What was given to an option that repeats, as typed. */
typedef struct RunList {
	const char *const *at;
	int n;
} RunList;

typedef struct RunOptions {
	const char *model;
	RunList input, output, expect;
	int64_t seed;
	int64_t threads, runs; /* 0: not given */
	int device;
	double seconds; /* 0: not given */
	double rtol, atol;
	const char *against;   /* "fp32" or a bundle; NULL: not given */
	const char *check_dir; /* of --check; NULL: it has none */
	const char *compiling; /* an option that says how to compile, without "--"; NULL: none is given */
	bool random, bench, profile, check, json;
} RunOptions;

/* The texts belong to args. False: options exclude each other. */
bool run_options_read(const Args *args, RunOptions *o, Err *err);

#endif
