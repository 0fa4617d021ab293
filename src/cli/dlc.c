/*
 * The process around a verb: standard streams that exist, signals, which verb argv[0] or argv[1]
 * names, and how an Err becomes text on stderr and an exit code.
 */
#include "cli/dlc.h"

#include "base/args.h"
#include "base/file.h"
#include "base/guard.h"
#include "cli/operands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERB(name) extern const Verb cmd_##name;
#include "cli/verbs.def"
#undef VERB

static const Verb *const verbs[] = {
#define VERB(name) &cmd_##name,
#include "cli/verbs.def"
#undef VERB
	NULL
};
static const Program dlc = { .name = "dlc",
	.about = "Finds the fastest way to run a trained network on a machine, and compiles the network to one\n"
		 "file that runs without dlc.",
	.verbs = verbs };

/* assert() has printed what was wrong; a failed assert and LLVM's fatal errors end here. */
static void on_abort(int sig)
{
	enum { LITTLE = 32 << 20 }; /* so little is left where LLVM, which answers that by aborting, found none */
	static const char bug[] =
		"dlc: this is a bug of dlc, not of your input; please report the command and the "
		"line above\n";
	static const char memory[] = "dlc: out of memory\n";
	(void)sig;
	bool is_short = !guard_memory_left(LITTLE);
	ssize_t n = is_short ? write(STDERR_FILENO, memory, sizeof memory - 1)
	                     : write(STDERR_FILENO, bug, sizeof bug - 1);
	(void)n;
	_exit(err_exit_code(is_short ? ERR_MEMORY : ERR_BUG));
}

/* Outputs are renamed into place when complete, so there is nothing to undo. */
static void on_interrupt(int sig)
{
	(void)sig;
	_exit(130);
}

static void catch_signals(void)
{
	struct sigaction abort_action = { .sa_handler = on_abort };
	struct sigaction stop_action = { .sa_handler = on_interrupt };
	struct sigaction old;
	sigaction(SIGABRT, &abort_action, NULL);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes fails as on a full disk */
	/* A parent that ignores Ctrl-C for us (nohup, a job in the background) means it. */
	if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &stop_action, NULL);
}

/* The library names the field that is wrong; here that is an option. */
static int report(const Args *args, Err *err, const char *called)
{
	char text[4096];
	const char *option = args != NULL ? args_option_of(args, err->place) : NULL;
	if (option != NULL)
		snprintf(err->place, sizeof err->place, "--%s", option);
	err_format(err, text, sizeof text);
	fflush(stdout);
	fprintf(stderr, "dlc: %s", text);
	if (err->code == ERR_USAGE)
		fprintf(stderr, "see %s --help\n", called);
	return err_exit_code(err->code);
}

/* "dlc-tune x" is "dlc tune x"; under any other name the verb is the first word. */
static const char *const *words_of(Arena *a, int argc, char **argv, int *n)
{
	VEC(const char *) list = { 0 };
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash != NULL ? slash + 1 : argc > 0 ? argv[0] : "dlc";
	if (strncmp(name, "dlc-", 4) == 0)
		vec_push(a, &list, name + 4);
	for (int i = 1; i < argc; i++)
		vec_push(a, &list, argv[i]);
	*n = (int)list.n;
	return list.at;
}

/* "dlc tune resnet18 --budget=60s" */
static const char *command_of(Arena *a, const char *const *words, int n)
{
	Text t = { .arena = a };
	text_add(&t, "dlc");
	for (int i = 0; i < n; i++)
		text_add(&t, " %s", words[i]);
	return text_str(&t);
}

int cli_main(int argc, char **argv)
{
	file_fill_streams();
	catch_signals();
	Arena *arena = arena_new();
	Text out = { .arena = arena };
	Err err = { 0 };
	const char *called;
	int n, status;
	const char *const *words = words_of(arena, argc, argv, &n);
	session_set_command(command_of(arena, words, n));
	Args *args = args_parse(arena, &dlc, n, words, &out, &called, &err);
	bool ok = args != NULL ? args_run(args, &err) : err.code == ERR_NONE;
	fputs(text_str(&out), stdout);
	if (fflush(stdout) != 0 || ferror(stdout))
		fail(&err, ERR_DEVICE, "standard output", "cannot be written: %s", strerror(errno));
	if (!ok && err.code == ERR_NONE)
		fail(&err, ERR_BUG, called, "failed without saying why");
	status = err.code != ERR_NONE ? report(args, &err, called) : 0;
	arena_free(arena);
	return status;
}
