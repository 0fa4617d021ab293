/*
 * See run/option.h.  Options are rows of run/option.def; --opt=v and --opt v are the same, -o v and
 * -ov too.  `dlc run` reads the same rows with cli/options.c: what a word means, and the sentence that
 * refuses it, are the same in both.
 */
#include "run/option.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/model.h"
#include "runtime/team.h"

typedef enum { KIND_FLAG, KIND_TEXT, KIND_LIST, KIND_FOLDER, KIND_INT, KIND_REAL, KIND_SECONDS } Kind;

typedef struct Option {
	const char *name;
	char letter; /* 0: has none */
	Kind kind;
	const char *arg;
	int64_t least, most; /* of an INT */
	size_t field;        /* where in RunOptions the value is stored */
	bool compiling;      /* it has no field */
	const char *help;
} Option;

static const Option OPTION[] = {
#define OPTION(name, letter, kind, arg, least, most, field, help) \
	{ #name, letter, KIND_##kind, arg, least, most, offsetof(RunOptions, field), false, help },
#define COMPILING(name, kind, arg, least, most, help) \
	{ name, 0, KIND_##kind, arg, least, most, 0, true, help },
#include "run/option.def"
#undef OPTION
#undef COMPILING
};
enum { NOPTION = sizeof OPTION / sizeof *OPTION };

static bool read_int(const char *value, const Option *p, int64_t *out)
{
	char *end;
	errno = 0;
	if (value[0] < '0' || value[0] > '9')
		return false;
	*out = strtoll(value, &end, 10);
	return errno == 0 && *end == 0 && *out >= p->least && *out <= p->most;
}

static bool read_real(const char *value, double *out)
{
	char *end;
	*out = strtod(value, &end);
	return end != value && *end == 0 && isfinite(*out) && *out >= 0;
}

static bool bad(DlcError *err, const Option *p, const char *value, const char *wants)
{
	runtime_fail(err, DLC_BAD_ARGUMENT, "--%s=%s: wants %s", p->name, value, wants);
	return false;
}

static bool bad_int(DlcError *err, const Option *p, const char *value)
{
	char wants[100];
	if (p->most == INT64_MAX)
		snprintf(wants, sizeof wants, "an integer of at least %lld", (long long)p->least);
	else
		snprintf(wants, sizeof wants, "an integer from %lld to %lld", (long long)p->least,
			(long long)p->most);
	return bad(err, p, value, wants);
}

/* Checks a value by its row and stores it; NULL is that of a flag, and of --check without a folder. */
static bool take_value(RunOptions *o, const Option *p, const char *value, DlcError *err)
{
	void *field = (char *)o + p->field;
	int64_t number = 0;
	double real = 0;
	if (p->kind == KIND_FLAG && value != NULL)
		return bad(err, p, value, "no value");
	if (value != NULL && value[0] == 0 && p->kind != KIND_INT)
		return bad(err, p, value, "a value that is not empty");
	if (p->kind == KIND_INT && !read_int(value, p, &number))
		return bad_int(err, p, value);
	if (p->kind == KIND_REAL && !read_real(value, &real))
		return bad(err, p, value, "a number of at least 0");
	if (p->kind == KIND_SECONDS && (!read_real(value, &real) || real < 1e-3 || real > 1e6))
		return bad(err, p, value, "seconds, from 0.001 to 1000000");
	if (p->compiling) {
		o->compiling = p->name;
		return true;
	}
	switch (p->kind) {
	case KIND_FLAG: *(bool *)field = true; break;
	case KIND_TEXT: *(const char **)field = value; break;
	case KIND_LIST: ((RunList *)field)->at[((RunList *)field)->n++] = value; break;
	case KIND_FOLDER:
		o->check = true;
		*(const char **)field = value;
		break;
	case KIND_INT: *(int64_t *)field = number; break;
	case KIND_REAL:
	case KIND_SECONDS: *(double *)field = real; break;
	}
	return true;
}

static bool is_folder(const char *path)
{
	struct stat st;
	return path != NULL && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The row of a word such as --threads=3 or -ox.npy, and the value in the word, else NULL. */
static const Option *find_option(const char *word, const char **value)
{
	size_t n = strcspn(word, "=");
	bool is_long = word[1] == '-';
	*value = is_long ? (word[n] != 0 ? word + n + 1 : NULL) : word[2] != 0 ? word + 2 : NULL;
	for (int i = 0; i < NOPTION; i++)
		if (is_long ? strlen(OPTION[i].name) == n - 2 && memcmp(OPTION[i].name, word + 2, n - 2) == 0
			    : OPTION[i].letter != 0 && OPTION[i].letter == word[1])
			return &OPTION[i];
	return NULL;
}

/*
 * Takes argv[*at], which begins with -, and its value; leaves *at on the last word taken.  A folder is no
 * model and a second model is too many, so that such a word behind --check is its DIR.
 */
static bool take_option(int argc, char **argv, int *at, RunOptions *o, DlcError *err)
{
	const char *value, *word = argv[*at], *next = *at + 1 < argc ? argv[*at + 1] : NULL;
	const Option *p = find_option(word, &value);
	if (p == NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%.*s: there is no such option",
			       (int)strcspn(word, "="), word) == DLC_OK;
	bool wants = value == NULL && p->kind != KIND_FLAG;
	if (p->kind == KIND_FOLDER)
		wants = wants && next != NULL && (is_folder(next) || (o->model != NULL && next[0] != '-'));
	if (wants && next == NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "--%s: wants a value, %s", p->name, p->arg) ==
		       DLC_OK;
	if (wants) {
		value = next;
		++*at;
	}
	return take_value(o, p, value, err);
}

static bool consistent(const RunOptions *o, const char *second, DlcError *err)
{
	const char *why = NULL;
	if (o->model == NULL)
		why = "MODEL is missing";
	else if (o->model[0] == 0)
		why = "operand 1 is empty; wanted: MODEL";
	else if (second != NULL && second[0] == 0)
		why = "operand 2 is empty; wanted: MODEL";
	else if (second != NULL)
		return runtime_fail(err, DLC_BAD_ARGUMENT, "%s: is one operand too many; wanted: MODEL",
			       second) == DLC_OK;
	else if (o->bench + o->profile + o->check > 1)
		why = "--bench, --profile and --check exclude each other";
	else if ((o->runs > 0 || o->seconds > 0) && !o->bench && !o->profile)
		why = "--runs and --seconds belong to --bench or --profile";
	else if (o->runs > 0 && o->seconds > 0)
		why = "--runs and --seconds exclude each other";
	else if (o->check && (o->input.n > 0 || o->output.n > 0 || o->random))
		why = "--check takes its tensors from DIR: no --input, --output or --random beside it";
	return why == NULL || runtime_fail(err, DLC_BAD_ARGUMENT, "%s", why) == DLC_OK;
}

bool run_options_parse(int argc, char **argv, RunOptions *o, DlcError *err)
{
	*o = (RunOptions){ .seed = 1, .rtol = 1e-3, .atol = 1e-7 };
	o->input.at = calloc((size_t)argc + 1, sizeof *o->input.at);
	o->output.at = calloc((size_t)argc + 1, sizeof *o->output.at);
	if (o->input.at == NULL || o->output.at == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no memory") == DLC_OK;
	const char *second = NULL;
	bool words = false; /* behind -- all are words */
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (words || word[0] != '-' || word[1] == 0) {
			if (o->model == NULL)
				o->model = word;
			else if (second == NULL)
				second = word;
		} else if (strcmp(word, "--") == 0) {
			words = true;
		} else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
			return o->help = true;
		} else if (strcmp(word, "--version") == 0) {
			return o->version = true;
		} else if (!take_option(argc, argv, &i, o, err)) {
			return false;
		}
	}
	return consistent(o, second, err);
}

void run_options_free(RunOptions *o)
{
	free(o->input.at);
	free(o->output.at);
}

static void help_rows(bool compiling)
{
	for (int i = 0; i < NOPTION; i++) {
		const Option *p = &OPTION[i];
		char left[40], letter[8] = "";
		if (p->compiling != compiling)
			continue;
		if (p->letter != 0)
			snprintf(letter, sizeof letter, "-%c, ", p->letter);
		snprintf(left, sizeof left, "%s--%s%s%s", letter, p->name, p->arg[0] != 0 ? "=" : "", p->arg);
		printf("  %-26s %s\n", left, p->help);
	}
}

void run_options_help(const char *program)
{
	printf("usage: %s MODEL.dlcb [options]\n\n"
	       "Runs a compiled network.  If no input is given, all are seeded random; without --output\n"
	       "it prints shape, range and largest values of what comes out.\n\noptions:\n",
		program);
	help_rows(false);
	printf("  %-26s %s\n  %-26s %s\n", "--help", "this text", "--version", "the version");
	printf("\noptions for a model that is no bundle, which dlc compiles in memory first:\n");
	help_rows(true);
	printf("\nexit codes: 0 done, 1 cannot be done or differs, 2 the command line is wrong,\n"
	       "5 permission, disk or device.\n");
}
