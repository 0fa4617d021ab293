/*
 * dlc run: dlc-run for models that are no bundles.  The model is compiled in memory and run from
 * there; dlc-run hands over to this where it is given a model.  With --check=DIR, inputs that fix a
 * shape or an axis are bound from the test data.
 */
#include "cli/model.h"
#include "cli/folders.h"
#include "compile/compile.h"
#include "dlc/dlc_runtime.h"
#include "run/option.h"
#include "run/program.h"
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
		!databases_open_for(h->args, false, &t, &d, h->err))
		return RUN_REPORTED;
	CompileOptions o = { .target = &t, .db = d.db, .ndb = (int)d.n,
		.cache = code_cache_open(args_arena(h->args)) };
	Dag *dag = model_load(h->args, path, h->err);
	Compiled *c = dag != NULL ? compile_model(args_arena(h->args), dag, &o, h->err) : NULL;
	databases_close(&d);
	return c != NULL ? dlc_model_open_memory(c->bundle, c->bundle_bytes, out, why) : RUN_REPORTED;
}

static bool run_run(const Args *args, Err *err)
{
	Host h = { args, err };
	RunHost host = { "dlc run", open_model, &h };
	int code = run_main(args, &host);
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
	.options = run_option,
	.run = run_run,
};
