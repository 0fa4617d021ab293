/*
 * The program dlc-run: run_main with a host that hands a model over to the `dlc` program beside it, which compiles it
 * in memory.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "run/option.h"
#include "run/program.h"
#include "runtime/model.h"

typedef struct Line {
	int argc;
	char **argv;
} Line;

/* The path of `dlc` in this program's folder; false where the system does not tell. */
static bool beside(char out[FILE_PATH])
{
	char *slash = file_of_program(out) ? strrchr(out, '/') : NULL;
	if (slash == NULL || slash + sizeof "/dlc" > out + FILE_PATH)
		return false;
	strcpy(slash + 1, "dlc");
	return access(out, X_OK) == 0;
}

/* Replaces this process by `dlc run ...`; returns only if there is no such program. */
static DlcStatus hand_over(void *arg, const char *path, DlcModel **m, DlcError *err)
{
	Line *line = arg;
	char dlc[FILE_PATH];
	*m = NULL;
	char **argv = calloc((size_t)line->argc + 2, sizeof *argv);
	if (argv == NULL)
		return runtime_fail(err, DLC_NO_MEMORY, "no memory");
	argv[0] = "dlc";
	argv[1] = "run";
	for (int i = 1; i < line->argc; i++)
		argv[i + 1] = line->argv[i];
	if (beside(dlc))
		execv(dlc, argv);
	free(argv);
	return runtime_fail(err, DLC_BAD_FILE,
		"%s: not a bundle, and there is no dlc program beside dlc-run to compile it: "
		"use dlc-compile first",
		path);
}

static const Verb run = { .name = "dlc-run",
	.summary = "Runs a compiled network.  If no input is given, all are seeded random; without --output\n"
		   "it prints shape, range and largest values of what comes out",
	.operands = "MODEL",
	.least = 1,
	.most = 1,
	.options = run_option,
	.notes = "exit codes: 0 done, 1 cannot be done or differs, 2 the command line is wrong,\n"
		 "5 permission, disk or device." };
static const Program program = { .name = "dlc-run", .only = &run };

int main(int argc, char **argv)
{
	file_fill_streams();
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes fails as on a full disk */
	Line line = { argc, argv };
	RunHost host = { "dlc-run", hand_over, NULL, &line };
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err err = { 0 };
	const char *called;
	int code = 0;
	const char *const *word = (const char *const *)argv + 1;
	const Args *args = argc > 0 ? args_parse(a, &program, argc - 1, word, &out, &called, &err) : NULL;
	if (args != NULL)
		code = run_main(args, &host);
	else if (err.code == ERR_NONE)
		code = fputs(text_str(&out), stdout) >= 0 && fflush(stdout) == 0 ? 0 : 5;
	else {
		char text[sizeof err];
		err_format(&err, text, sizeof text);
		fprintf(stderr, "dlc-run: %ssee dlc-run --help\n", text);
		code = 2;
	}
	arena_free(a);
	return code;
}
