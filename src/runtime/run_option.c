/* See run_option.h.  Options are rows of run_option.def; --opt=v and --opt v are the same. */
#include "runtime/run_option.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/model.h"
#include "runtime/team.h"

typedef bool TakeFn(RunOptions *o, const char *value);

static bool take_input(RunOptions *o, const char *value)
{
	o->input[o->ninput++] = value;
	return value[0] != 0;
}

static bool take_output(RunOptions *o, const char *value)
{
	o->output[o->noutput++] = value;
	return value[0] != 0;
}

static bool whole(const char *value, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	errno = 0;
	if (value[0] < '0' || value[0] > '9')
		return false;
	*out = strtoull(value, &end, 10);
	return errno == 0 && *end == 0 && *out >= min && *out <= max;
}

static bool real(const char *value, double min, double *out)
{
	char *end;
	*out = strtod(value, &end);
	return end != value && *end == 0 && isfinite(*out) && *out >= min;
}

static bool take_seed(RunOptions *o, const char *value)
{
	return whole(value, 0, UINT64_MAX, &o->seed);
}

static bool take_threads(RunOptions *o, const char *value)
{
	uint64_t n = 0;
	bool ok = whole(value, 1, TEAM_MAX, &n);
	o->threads = (int)n;
	return ok;
}

static bool take_runs(RunOptions *o, const char *value)
{
	uint64_t n = 0;
	bool ok = whole(value, 1, 1000000, &n);
	o->runs = (int)n;
	return ok;
}

static bool take_seconds(RunOptions *o, const char *value)
{
	return real(value, 1e-3, &o->seconds) && o->seconds <= 1e6;
}

static bool take_rtol(RunOptions *o, const char *value)
{
	return real(value, 0, &o->rtol);
}

static bool take_atol(RunOptions *o, const char *value)
{
	return real(value, 0, &o->atol);
}

static bool take_check(RunOptions *o, const char *value)
{
	o->check = true;
	o->check_dir = value;
	return value == NULL || value[0] != 0;
}

#define FLAG(name) \
	static bool take_##name(RunOptions *o, const char *value) \
	{ \
		o->name = true; \
		return value == NULL; \
	}
FLAG(bench)
FLAG(profile)
FLAG(json)
FLAG(version)
FLAG(help)

static const struct Option {
	const char *name, *arg;
	TakeFn *take;
	const char *help;
} OPTION[] = {
#define OPTION(name, arg, take, help) { name, arg, take, help },
#include "runtime/run_option.def"
#undef OPTION
};
enum { NOPTION = sizeof OPTION / sizeof *OPTION };

static bool is_folder(const char *path)
{
	struct stat st;
	return path != NULL && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const struct Option *find_option(const char *word, size_t n)
{
	for (int i = 0; i < NOPTION; i++)
		if (strlen(OPTION[i].name) == n && memcmp(OPTION[i].name, word, n) == 0)
			return &OPTION[i];
	return NULL;
}

/* Takes argv[*at], which begins with --, and its value; leaves *at on the last word taken. */
static bool take_option(int argc, char **argv, int *at, RunOptions *o, DlcError *err)
{
	const char *word = argv[*at] + 2, *equals = strchr(word, '=');
	const char *value = equals != NULL ? equals + 1 : NULL;
	const struct Option *p = find_option(word, equals ? (size_t)(equals - word) : strlen(word));
	if (p == NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "unknown option %s", argv[*at]) ==
		       DLC_OK;
	const char *next = *at + 1 < argc ? argv[*at + 1] : NULL;
	bool optional = p->arg[0] == '[' && strchr(p->arg, '=') == NULL;
	bool wants = p->arg[0] != 0 && value == NULL && (!optional || is_folder(next));
	if (wants && next == NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "--%s wants %s", p->name, p->arg) ==
		       DLC_OK;
	if (wants) {
		value = next;
		++*at;
	}
	if (!p->take(o, value))
		return runtime_fail(err, DLC_BAD_ARGUMENT, "--%s%s%s: it takes %s", p->name,
			       value != NULL ? "=" : "", value != NULL ? value : "",
			       p->arg[0] != 0 ? p->arg : "no value") == DLC_OK;
	return true;
}

static bool consistent(const RunOptions *o, DlcError *err)
{
	const char *why = NULL;
	if (o->model == NULL || o->model[0] == 0)
		why = "no model given: name a bundle (.dlcb)";
	else if (o->bench + o->profile + o->check > 1)
		why = "--bench, --profile and --check exclude each other";
	else if ((o->runs > 0 || o->seconds > 0) && !o->bench && !o->profile)
		why = "--runs and --seconds belong to --bench or --profile";
	else if (o->runs > 0 && o->seconds > 0)
		why = "--runs and --seconds exclude each other";
	else if (o->check && (o->ninput > 0 || o->noutput > 0))
		why = "--check takes its tensors from DIR: no --input or --output beside it";
	return why == NULL || runtime_fail(err, DLC_BAD_ARGUMENT, "%s", why) == DLC_OK;
}

bool run_options_parse(int argc, char **argv, RunOptions *o, DlcError *err)
{
	*o = (RunOptions){ .seed = 1, .rtol = 1e-3, .atol = 1e-7 };
	o->input = calloc((size_t)argc + 1, sizeof *o->input);
	o->output = calloc((size_t)argc + 1, sizeof *o->output);
	if (o->input == NULL || o->output == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no memory") == DLC_OK;
	bool words = false; /* behind -- all are words */
	for (int i = 1; i < argc; i++) {
		if (!words && strcmp(argv[i], "--") == 0) {
			words = true;
		} else if (!words && strncmp(argv[i], "--", 2) == 0) {
			if (!take_option(argc, argv, &i, o, err))
				return false;
		} else if (!words && strcmp(argv[i], "-h") == 0) {
			o->help = true;
		} else if (!words && argv[i][0] == '-' && argv[i][1] != 0) {
			return runtime_fail(err, DLC_BAD_ARGUMENT, "unknown option %s", argv[i]) ==
			       DLC_OK;
		} else if (o->model != NULL) {
			return runtime_fail(err, DLC_BAD_ARGUMENT, "two models, %s and %s",
				       o->model, argv[i]) == DLC_OK;
		} else {
			o->model = argv[i];
		}
	}
	return o->help || o->version || consistent(o, err);
}

void run_options_free(RunOptions *o)
{
	free(o->input);
	free(o->output);
}

void run_options_help(const char *program)
{
	printf("usage: %s MODEL.dlcb [OPTIONS]\n\n"
	       "Runs a compiled network.  Inputs that are not given are seeded random; without "
	       "--output\n"
	       "it prints shape, range and largest values of what comes out.\n\n",
		program);
	for (int i = 0; i < NOPTION; i++) {
		char left[32];
		const char *a = OPTION[i].arg;
		snprintf(left, sizeof left, "--%s%s%s", OPTION[i].name, a[0] != 0 ? " " : "", a);
		printf("  %-22s %s\n", left, OPTION[i].help);
	}
	printf("\nexit codes: 0 done, 1 cannot be done or differs, 2 the command line is wrong,\n"
	       "5 permission, disk or device.\n");
}
