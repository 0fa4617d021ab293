/*
 * See run/option.h: the rows of run/option.def as a table for base/args.h, and the rules between options.
 */
#include "run/option.h"

#include "runtime/team.h"

static const char compiling[] = "options for a model that is no bundle, which dlc compiles in memory first";

#define OPT_LIST OPT_TEXT
#define MANY_FLAG false
#define MANY_TEXT false
#define MANY_LIST true
#define MANY_FOLDER false
#define MANY_CHOICE false
#define MANY_INT false
#define MANY_REAL false
#define MANY_SECONDS false
#define ROW(n, f, l, k, v, least, most, text) \
	{ .name = n, .field = f, .letter = l, .kind = OPT_##k, .arg = v, .lo = least, .hi = most, .many = MANY_##k, \
		.help = text },
const Option run_option[] = {
#define OPTION(n, l, k, v, least, most, text) ROW(n, NULL, l, k, v, least, most, text)
#define COMPILING(n, k, v, least, most, text)
#define COMPILING_AS(n, f, k, v, least, most, text)
#include "run/option.def"
#undef OPTION
#undef COMPILING
#undef COMPILING_AS
	{ .name = "", .kind = OPT_HEAD, .help = compiling },
#define OPTION(n, l, k, v, least, most, text)
#define COMPILING(n, k, v, least, most, text) ROW(n, NULL, 0, k, v, least, most, text)
#define COMPILING_AS(n, f, k, v, least, most, text) ROW(n, f, 0, k, v, least, most, text)
#include "run/option.def"
#undef OPTION
#undef COMPILING
#undef COMPILING_AS
	OPTION_END,
};

static RunList list_of(const Args *args, const char *option)
{
	size_t n;
	const char *const *at = args_all(args, option, &n);
	return (RunList){ at, (int)n };
}

bool run_options_read(const Args *args, RunOptions *o, Err *err)
{
	*o = (RunOptions){ .model = args_operand(args, 0),
		.input = list_of(args, "input"),
		.output = list_of(args, "output"),
		.expect = list_of(args, "expect"),
		.seed = args_int(args, "seed", 1),
		.threads = args_int(args, "threads", 0),
		.device = (int)args_int(args, "device", 0),
		.runs = args_int(args, "runs", 0),
		.seconds = args_real(args, "seconds", 0),
		.rtol = args_real(args, "rtol", 1e-3),
		.atol = args_real(args, "atol", 1e-7),
		.against = args_text(args, "against", NULL),
		.check_dir = args_text(args, "check", ""),
		.compiling = args_given_below(args, compiling),
		.random = args_given(args, "random"),
		.bench = args_given(args, "bench"),
		.profile = args_given(args, "profile"),
		.check = args_given(args, "check"),
		.json = args_given(args, "json") };
	if (o->check_dir[0] == 0)
		o->check_dir = NULL;
	const char *why = NULL;
	if (o->bench + o->profile + o->check > 1)
		why = "--bench, --profile and --check exclude each other";
	else if ((o->runs > 0 || o->seconds > 0) && !o->bench && !o->profile)
		why = "--runs and --seconds belong to --bench or --profile";
	else if (o->runs > 0 && o->seconds > 0)
		why = "--runs and --seconds exclude each other";
	else if (o->check && (o->input.n > 0 || o->output.n > 0 || o->expect.n > 0 || o->random))
		why = "--check takes its tensors from DIR: no --input, --output, --expect or --random beside it";
	else if (o->expect.n > 0 && (o->bench || o->profile))
		why = "--expect compares the outputs of one run: no --bench or --profile beside it";
	else if (o->against != NULL && (o->bench || o->profile || o->check || o->output.n > 0 || o->expect.n > 0))
		why = "--against compares the outputs of two models: no --bench, --profile, --check, --output or --expect";
	return why == NULL || fail(err, ERR_USAGE, "", "%s", why);
}
