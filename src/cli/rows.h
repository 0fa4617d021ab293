/*
 * Rows of options that several verbs share, so that an option means the same everywhere. Others are written the same
 * way, with designated fields, in the table of their verb (base/args.h).
 *
 * To add a verb:
 *  1. src/cli/cmd_NAME.c, which ends with const Verb cmd_NAME = { .name = "NAME", ... };
 *  2. src/cli/verbs.def gets VERB(NAME); src/cli/meson.build the file and, if it is to be typed dlc-NAME, the name in
 *     `links`; man/dlc-NAME.1 is its page.
 *     A row says in `field` what the library calls the option, if that is another word: errors name the field.
 *  3. run_NAME returns true, or fills err: its code is the exit code (base/err.def), its text is printed; ERR_USAGE
 *     adds "see dlc NAME --help". Results go to stdout (printf; dlc.c checks that they got there), progress to stderr.
 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "base/args.h"

#include <dlc/dlc.h>

#define OPTION_TARGET \
	{ .name = "target", \
		.kind = OPT_TEXT, \
		.arg = "TARGET", \
		.help = "host (default), opencl, cuda, a name of configs/targets, or a .json file" }
#define OPTION_DEVICE \
	{ .name = "device", \
		.kind = OPT_INT, \
		.arg = "N", \
		.lo = 0, \
		.hi = 4095, \
		.help = "which device of the target's kind, as dlc info counts them (default 0)" }
#define OPTION_THREADS \
	{ .name = "threads", \
		.kind = OPT_INT, \
		.arg = "N", \
		.lo = 1, \
		.hi = DLC_THREADS, \
		.help = "threads the code is made for (default 1)" }
#define OPTION_COST_MODEL(names) \
	{ .name = "cost-model", \
		.kind = OPT_TEXT, \
		.arg = "NAME[:FILE]", \
		.help = "what ranks schedules that were not measured: " names }
#define OPTION_DB \
	{ .name = "tuning-db", \
		.field = "database", \
		.kind = OPT_TEXT, \
		.arg = "DB", \
		.many = true, \
		.help = "database to read; repeats; none: no database" }
#define OPTION_DB_WRITTEN \
	{ .name = "tuning-db", \
		.field = "database", \
		.kind = OPT_TEXT, \
		.arg = "DB", \
		.many = true, \
		.help = "database; repeats: the first is written, the others are read" }
#define OPTION_JSON \
	{ .name = "json", \
		.kind = OPT_FLAG, \
		.help = "one JSON object on each line, the result last" }
#define OPTION_SEED \
	{ .name = "seed", \
		.kind = OPT_INT, \
		.arg = "N", \
		.lo = 0, \
		.hi = INT64_MAX, \
		.help = "seed of all random choices" }

#endif
