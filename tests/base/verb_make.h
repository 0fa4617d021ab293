/* A verb with every kind of option, for the tests and the fuzz target of the command line. */
#ifndef TESTS_BASE_VERB_MAKE_H
#define TESTS_BASE_VERB_MAKE_H

#include "cli/model_rows.h"

static bool run_ok(const Args *args, Err *err)
{
	(void)args;
	(void)err;
	return true;
}

static const Option make_options[] = {
	OPTION_TARGET,
	OPTION_THREADS,
	OPTION_DB,
	OPTION_JSON,
	OPTION_SHAPE,
	{ .name = "output", .letter = 'o', .kind = OPT_TEXT, .arg = "FILE", .help = "the file to write" },
	{ .name = "check", .kind = OPT_FOLDER, .arg = "[DIR]", .help = "compare" },
	{ .name = "trials", .kind = OPT_TRIALS, .arg = "N", .lo = 1, .hi = 1000000, .help = "how many" },
	{ .name = "budget", .kind = OPT_TIME, .arg = "TIME", .lo = 1, .hi = 86400000, .help = "how long" },
	{ .name = "stage", .kind = OPT_CHOICE, .arg = "graph|ir|asm", .help = "what to show" },
	{ .name = "offset", .kind = OPT_INT, .arg = "N", .lo = -5, .hi = 5, .help = "signed" },
	{ .name = "seed", .kind = OPT_INT, .arg = "N", .lo = 0, .hi = INT64_MAX, .help = "any" },
	OPTION_END,
};

static const Verb make = { .name = "make",
	.summary = "Make it",
	.operands = "MODEL [MORE]",
	.least = 1,
	.most = 2,
	.options = make_options,
	.notes = "A note.",
	.run = run_ok };

#endif
