/*
 * The program dlc-worker: loads, checks and times machine code for somebody else.  It reads
 * requests from standard input and answers on standard output (message.h); it links the runtime
 * and nothing of the compiler, statically, so that it runs on a board as it is.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include "base/args.h"
#include "runtime/cpu.h"
#include "runtime/device.h"
#include "worker/worker.h"

enum { FIRST_READ = 1 << 16 };
enum { EXIT_NONSENSE = 1, EXIT_USAGE = 2, EXIT_SYSTEM = 5 };

/* What has been read and not yet been answered. */
typedef struct Input {
	unsigned char *bytes;
	size_t have, cap;
} Input;

static int complain(int code, const char *text)
{
	fprintf(stderr, "dlc-worker: %s\n", text);
	return code;
}

static bool send_all(Msg *msg)
{
	bool good = msg_end(msg);
	for (size_t at = 0; good && at < msg->size;) {
		ssize_t n = write(STDOUT_FILENO, msg->bytes + at, msg->size - at);
		if (n < 0 && errno != EINTR)
			good = false;
		else if (n > 0)
			at += (size_t)n;
	}
	msg_free(msg);
	return good;
}

/* Reads more; room grows with what has come, not with what was announced.  1, 0 at the end, -1. */
static int read_more(Input *in)
{
	if (in->have == in->cap) {
		size_t cap = in->cap > 0 ? 2 * in->cap : FIRST_READ;
		unsigned char *more = realloc(in->bytes, cap);
		if (more == NULL)
			return -1;
		in->bytes = more;
		in->cap = cap;
	}
	for (;;) {
		ssize_t n = read(STDIN_FILENO, in->bytes + in->have, in->cap - in->have);
		if (n > 0)
			in->have += (size_t)n;
		if (n >= 0 || errno != EINTR)
			return n < 0 ? -1 : n > 0;
	}
}

/* Answers every whole frame that was read; an exit code, or 0 to go on. */
static int answer_all(Worker *w, Input *in)
{
	char why[160];
	size_t need, at = 0;
	MsgView view;
	while (in->have - at > 0) {
		MsgParse p =
			msg_parse(in->bytes + at, in->have - at, &view, &need, why, sizeof why);
		if (p == MSG_BAD)
			return complain(EXIT_NONSENSE, why);
		if (p == MSG_SHORT)
			break;
		Msg out = { 0 };
		if (!worker_serve(w, &view, &out)) {
			snprintf(why, sizeof why, "a message %s, which no parent sends",
				msg_name(view.kind));
			return complain(EXIT_NONSENSE, why);
		}
		if (!send_all(&out))
			return complain(EXIT_SYSTEM, "standard output takes no answer");
		at += view.size;
	}
	memmove(in->bytes, in->bytes + at, in->have - at);
	in->have -= at;
	return 0;
}

/*
 * A candidate that asks for more is refused (out of memory) before the machine begins to swap; one
 * that crashes is a status, whose core nobody will look at.
 */
static void limit_resources(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
#if !defined(__SANITIZE_ADDRESS__) /* whose shadow is larger than any memory */
	uint64_t bytes = cpu_memory() / 4 * 3;
	struct rlimit l;
	if (bytes == 0 || getrlimit(RLIMIT_DATA, &l) != 0)
		return;
	if (l.rlim_max == RLIM_INFINITY || bytes < l.rlim_max)
		l.rlim_cur = (rlim_t)bytes;
	setrlimit(RLIMIT_DATA, &l);
#endif
}

static int serve_stdio(Worker *w)
{
	Input in = { NULL, 0, 0 };
	Msg hello = { 0 };
	worker_hello(&hello);
	int code = send_all(&hello) ? 0 : complain(EXIT_SYSTEM, "standard output takes no answer");
	while (code == 0) {
		int got = read_more(&in);
		if (got < 0)
			code = complain(EXIT_SYSTEM, "standard input cannot be read");
		else if (got == 0 && in.have > 0)
			code = complain(EXIT_NONSENSE, "standard input ends inside a message");
		else if (got > 0)
			code = answer_all(w, &in);
		if (got == 0)
			break;
	}
	free(in.bytes);
	return code;
}

static const Option OPTION[] = { { .name = "stdio",
					 .kind = OPT_FLAG,
					 .help = "serve standard input and output until they end" },
	OPTION_END };
static const Verb WORKER = { .name = "dlc-worker",
	.summary = "Loads, checks and times machine code that a tuner sends over standard input and output;\n"
		   "started by dlc-tune, here or through ssh, and of no use by hand",
	.options = OPTION,
	.notes = "exit codes: 0 the other side ended, 1 it sent nonsense, 2 the command line is wrong,\n"
		 "5 the stream broke." };
static const Program PROGRAM = { .name = "dlc-worker", .only = &WORKER };

/* False: the program ends with *code. */
static bool read_line(int argc, char **argv, int *code)
{
	Arena *a = arena_new();
	Text out = { .arena = a };
	Err err = { 0 };
	const char *called;
	const char *const *word = (const char *const *)argv + 1;
	const Args *args = argc > 0 ? args_parse(a, &PROGRAM, argc - 1, word, &out, &called, &err) : NULL;
	bool serve = args != NULL && args_given(args, "stdio");
	if (args != NULL && !serve)
		fail(&err, ERR_USAGE, "", "--stdio is missing, the only thing it does");
	if (err.code != ERR_NONE)
		fprintf(stderr, "dlc-worker: %s%s%s\nsee dlc-worker --help\n", err.place,
			err.place[0] != 0 ? ": " : "", err.text);
	*code = err.code != ERR_NONE ? EXIT_USAGE : 0;
	if (*code == 0 && !serve && (fputs(text_str(&out), stdout) < 0 || fflush(stdout) != 0))
		*code = complain(EXIT_SYSTEM, "standard output cannot be written");
	arena_free(a);
	return serve;
}

int main(int argc, char **argv)
{
	int code;
	if (!read_line(argc, argv, &code))
		return code;
	signal(SIGPIPE, SIG_IGN);
	limit_resources();
#if defined(__linux__)
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a kernel that does not end would not see the input end */
#endif
	Worker *w = calloc(1, sizeof *w);
	if (w == NULL)
		return complain(EXIT_SYSTEM, "no memory");
	w->lock = worker_lock_open(getenv("XDG_RUNTIME_DIR"), device_cpu.name);
	code = serve_stdio(w);
	worker_reset(w);
	if (w->lock >= 0)
		close(w->lock);
	free(w);
	return code;
}
