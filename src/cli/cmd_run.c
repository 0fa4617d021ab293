/*
 * dlc run: dlc-run for models that are no bundles.  The model is compiled in memory and run from
 * there; dlc-run hands over to this where it is given a model.  With --check=DIR, inputs that fix a
 * shape or an axis are bound from the test data.
 */
#include "cli/model.h"
#include "cli/folders.h"
#include "compile/compile.h"
#include "dlc/dlc_runtime.h"
#include "run/run.h"
#include "runtime/team.h"

#include <stdio.h>
#include <unistd.h>

_Static_assert((int)OPTION_THREADS_MOST == (int)TEAM_MAX, "what is compiled must run");

typedef struct Host {
	const Args *args;
	Err *err;
} Host;

static DlcStatus open_model(void *arg, const char *path, DlcModel **out, DlcError *why)
{
	Host *h = arg;
	Target t, host;
	Databases d;
	*out = NULL;
	target_host(&host, 1);
	if (!place_target(h->args, &t, h->err) || !target_runs_on(&t, &host, h->err) ||
		!databases_open(h->args, false, &d, h->err))
		return RUN_REPORTED;
	CompileOptions o = { .target = &t, .db = d.db, .ndb = (int)d.n,
		.cache = code_cache_open(args_arena(h->args)) };
	Dag *dag = model_load(h->args, path, h->err);
	Compiled *c = dag != NULL ? compile_model(args_arena(h->args), dag, &o, h->err) : NULL;
	databases_close(&d);
	return c != NULL ? dlc_model_open_memory(c->bundle, c->bundle_bytes, out, why) : RUN_REPORTED;
}

#define OPT_LIST OPT_TEXT
#define OPT_REAL OPT_TEXT /* checked by run_main, as SECONDS are */
#define OPT_SECONDS OPT_TEXT
static const Option options[] = {
#define OPTION(n, l, k, v, least, most, field, text) ROW(#n, l, k, v, least, most, text)
#define COMPILING(n, k, v, least, most, text) ROW(n, 0, k, v, least, most, text)
#define ROW(n, l, k, v, least, most, text) \
	{ .name = n, \
		.letter = l, \
		.kind = OPT_##k, \
		.arg = OPT_##k == OPT_FLAG ? NULL : (v), \
		.lo = least, \
		.hi = most, \
		.many = true, \
		.help = text },
#include "run/option.def"
#undef OPTION
#undef COMPILING
#undef ROW
	OPTION_END,
};
#undef OPT_LIST
#undef OPT_REAL
#undef OPT_SECONDS

/* Rebuilds the words that run_main reads; *n of them, behind them NULL. */
static char **words_of(const Args *args, int *n)
{
	Arena *a = args_arena(args);
	VEC(char *) word = { 0 };
	vec_push(a, &word, arena_printf(a, "dlc run"));
	for (const Option *o = options; o->name != NULL; o++) {
		size_t count = 0;
		const char *const *value = args_all(args, o->name, &count);
		for (size_t k = 0; k < count; k++)
			vec_push(a, &word,
				value[k][0] != 0 ? arena_printf(a, "--%s=%s", o->name, value[k])
						 : arena_printf(a, "--%s", o->name));
	}
	vec_push(a, &word, arena_printf(a, "--"));
	vec_push(a, &word, arena_printf(a, "%s", args_operand(args, 0)));
	vec_push(a, &word, NULL);
	*n = (int)word.n - 1;
	return word.at;
}

static bool run_run(const Args *args, Err *err)
{
	Host h = { args, err };
	RunHost host = { "dlc run", open_model, &h };
	int argc;
	char **argv = words_of(args, &argc);
	int code = run_main(argc, argv, &host);
	if (code < 0)
		return false;
	fflush(stdout);
	if (code != 0)
		_exit(code); /* it has said why */
	return true;
}

const Verb cmd_run = {
	.name = "run",
	.summary = "Compile a model in memory and run it, as dlc-run runs a bundle",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = options,
	.run = run_run,
};
