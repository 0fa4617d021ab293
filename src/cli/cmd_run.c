/*
 * dlc run: dlc-run for models that are no bundles.  The model is compiled in memory and run from
 * there; dlc-run hands over to this where it is given a model.  With --check=DIR, inputs that fix a
 * shape or an axis are bound from the test data.
 */
#include "base/file.h"
#include "cli/model.h"
#include "cli/places.h"
#include "compile/compile.h"
#include "dlc/dlc_runtime.h"
#include "runtime/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Host {
	const Args *args;
	Err *err;
} Host;

/* What dlc-run's own parser takes; the rest is for compiling. */
static const char *const passed_on[] = {
	"input", "output", "seed", "threads", "bench", "runs", "seconds", "profile", "check", "rtol", "atol", "json",
};

static DlcStatus say(DlcError *out, const Err *err)
{
	char text[4096];
	err_format(err, text, sizeof text);
	text[strcspn(text, "\n")] = 0;
	if (out != NULL) {
		out->status = err->code == ERR_MEMORY ? DLC_NO_MEMORY : err->code == ERR_DEVICE ? DLC_SYSTEM : DLC_BAD_FILE;
		snprintf(out->text, sizeof out->text, "%.499s", text);
	}
	return out != NULL ? out->status : DLC_BAD_FILE;
}

static DlcStatus open_model(void *arg, const char *path, DlcModel **out, DlcError *why)
{
	Host *h = arg;
	Target t, host;
	Databases d;
	*out = NULL;
	target_host(&host, 1);
	if (!place_target(h->args, &t, h->err) || !target_runs_on(&t, &host, h->err) || !databases_open(h->args, false, &d, h->err))
		return say(why, h->err);
	CompileOptions o = { .target = &t, .db = d.db, .ndb = (int)d.n,
		.cache = code_cache_open(args_arena(h->args)) };
	Dag *dag = model_load(h->args, path, h->err);
	Compiled *c = dag != NULL ? compile_model(args_arena(h->args), dag, &o, h->err) : NULL;
	databases_close(&d);
	return c != NULL ? dlc_model_open_memory(c->bundle, c->bundle_bytes, out, why) : say(why, h->err);
}

/* Rebuilds the words that run_main reads; *n of them, behind them NULL. */
static char **words_of(const Args *args, int *n)
{
	Arena *a = args_arena(args);
	VEC(char *) word = { 0 };
	vec_push(a, &word, arena_printf(a, "dlc run"));
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
		size_t count = 0;
		const char *const *value = args_all(args, passed_on[i], &count);
		for (size_t k = 0; k < count; k++)
			vec_push(a, &word,
				value[k][0] != 0 ? arena_printf(a, "--%s=%s", passed_on[i], value[k])
						 : arena_printf(a, "--%s", passed_on[i]));
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
	fflush(stdout);
	if (code != 0)
		_exit(code); /* it has said why */
	return true;
}

#define TEXT(n, a, h) { .name = n, .kind = OPT_TEXT, .arg = a, .help = h }
#define FLAG(n, h) { .name = n, .kind = OPT_FLAG, .help = h }
static const Option options[] = {
	{ .name = "input", .kind = OPT_TEXT, .arg = "[NAME=]FILE", .many = true, .help = "an input from a .npy or .npz file; repeats" },
	{ .name = "output", .kind = OPT_TEXT, .arg = "[NAME=]FILE", .many = true, .help = "write an output to .npy, or all to .npz" },
	FLAG("bench", "time runs back to back"),
	FLAG("profile", "time every step of the plan"),
	TEXT("runs", "N", "with --bench or --profile: this many runs"),
	TEXT("seconds", "S", "with --bench or --profile: as many as fit (default 2)"),
	{ .name = "check", .kind = OPT_MAYBE, .arg = "DIR", .help = "compare with the ONNX test data in DIR" },
	TEXT("rtol", "X", "with --check: relative tolerance (default 1e-3)"),
	TEXT("atol", "X", "with --check: absolute tolerance (default 1e-7)"),
	OPTION_TARGET,
	OPTION_THREADS,
	OPTION_DB,
	OPTIONS_MODEL,
	OPTION_SEED,
	OPTION_JSON,
	OPTION_END,
};
#undef TEXT
#undef FLAG

const Verb cmd_run = {
	.name = "run",
	.summary = "Compile a model in memory and run it, as dlc-run runs a bundle",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = options,
	.run = run_run,
};
