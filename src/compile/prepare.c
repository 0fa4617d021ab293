/*
 * See prepare.h. The child has a copy of this process's memory. One mapping is shared: the results, and
 * after them whether they are complete, or the error. A pipe without a writer tells the parent that the
 * child has ended, so that the wait can have a deadline.
 */
#include "compile/prepare.h"

#include "compile/choose.h"
#include "runtime/timing.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t round_up(int64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

static int64_t sum_bytes(const Prepared *p, int n)
{
	int64_t sum = 0;
	for (int k = 0; k < n; k++)
		sum += round_up(p[k].bytes);
	return sum;
}

static bool is_given(const char *name, const Prepared *p, int n)
{
	for (int k = 0; k < n; k++)
		if (strcmp(p[k].name, name) == 0)
			return true;
	return false;
}

/* Workspace, and buffers that are neither given nor asked for. */
static bool check_memory(
	const KernelSet *ks, const Module *m, const Prepared *given, int n, const Prepared *out, int nout, Err *err)
{
	double want = 0, have = (double)sum_bytes(given, n) + (double)sum_bytes(out, nout);
	double most = CHOOSE_PREPARE_WORK_TIMES * have + CHOOSE_PREPARE_WORK_MIB * 1048576.0;
	for (uint32_t k = 0; k < m->image.nentry; k++)
		want += (double)m->image.entry[k].work_bytes;
	for (size_t i = 0; i < ks->n; i++)
		for (int k = 0; k < ks->fn[i]->nparam; k++) {
			const Buf *b = ks->fn[i]->kind == FN_PREPARE ? ks->fn[i]->param[k].buf : NULL;
			if (b != NULL && !is_given(b->name, given, n) && !is_given(b->name, out, nout))
				want += (double)ir_buf_elements(b, NULL, 0) * (b->type.bits + 7) / 8;
		}
	return want <= most ||
	       fail(err, ERR_INPUT, "", "they need %.0f MiB of work memory, too much for %.0f MiB of constants",
			   want / 1048576, have / 1048576);
}

/* ---- the child ---- */

/* The child's answer. Its exit status may be lost: if SIGCHLD is ignored, nobody can ask for it. */
typedef struct Answer {
	bool done; /* the results are complete */
	Err err;
} Answer;

typedef struct Shared {
	unsigned char *at;
	size_t bytes;
	Answer *answer; /* behind the results */
} Shared;

/* The child resets the signals that this process catches or blocks. Ignored ones (nohup) stay ignored. */
static void take_signals(void)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPIPE, SIGXFSZ };
	static const int asked[] = { SIGINT, SIGHUP, SIGTERM };
	sigset_t none;
	struct sigaction old;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
		if (sigaction(asked[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			signal(asked[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- the parent ---- */

typedef enum { WAIT_ENDED, WAIT_LATE, WAIT_STOPPED } WaitEnd;

/* Waits in short steps: a signal that sets `stop` may come just before poll. */
static WaitEnd wait_for_end(int pipe_end, PrepareWait wait)
{
	uint64_t from = timing_wall_ns();
	for (;;) {
		int64_t left = wait.deadline_ms - (int64_t)((timing_wall_ns() - from) / 1000000);
		struct pollfd p = { .fd = pipe_end, .events = POLLIN };
		if (wait.stop != NULL && *wait.stop != 0)
			return WAIT_STOPPED;
		if (poll(&p, 1, left < 0 ? 0 : left < CHOOSE_PREPARE_STEP_MS ? (int)left : CHOOSE_PREPARE_STEP_MS) > 0)
			return WAIT_ENDED;
		if (left <= 0)
			return WAIT_LATE;
	}
}

/* status: 0 where it is lost. */
static bool judge(int status, WaitEnd end, Answer *answer, int64_t deadline_ms, Err *err)
{
	ErrCode code = answer->err.code;
	int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	/* Generated code cannot cause these signals: a person or a program wants the work to end. */
	bool asked = by == SIGINT || by == SIGHUP || by == SIGTERM;
	if (end == WAIT_STOPPED || (end == WAIT_ENDED && asked))
		return fail(err, ERR_INTERRUPTED, "", "interrupted while prepare Fns ran");
	if (end == WAIT_LATE)
		return fail(err, ERR_INPUT, "", "they did not end within %lld s", (long long)(deadline_ms + 999) / 1000);
	if (answer->done)
		return true;
	if (by != 0)
		return fail(err, ERR_INPUT, "", "they ended with signal %d (%s)", by, strsignal(by));
	answer->err.text[sizeof answer->err.text - 1] = 0;
	return fail(err, code == ERR_MEMORY || code == ERR_DEVICE ? code : ERR_INPUT, "", "%s",
		answer->err.text[0] != 0 ? answer->err.text : "their process ended without a result");
}

static bool fork_and_wait(
	const KernelSet *ks, const Module *m, IrArg *arg, int n, Answer *answer, PrepareWait wait, Err *err)
{
	int end[2], status = 0;
	pid_t parent = getpid();
	if (pipe(end) != 0)
		return fail(err, ERR_DEVICE, "", "cannot make a pipe for the prepare Fns: %s", strerror(errno));
	pid_t child = fork();
	int failed = errno;
	if (child == 0) {
		struct rlimit none = { 0, 0 };
		Mapped *mapped = NULL;
		take_signals();
		/* The child does not outlive its parent: on Linux the kernel ends it, elsewhere an alarm does. */
#ifdef __linux__
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
		if (getppid() != parent)
			_exit(1);
		alarm((unsigned)(wait.deadline_ms / 1000 + 2));
		close(end[0]);
		setrlimit(RLIMIT_CORE, &none);
		answer->done = codegen_map(m, &mapped, &answer->err) && codegen_call(ks, m, mapped, arg, n, &answer->err);
		_exit(answer->done ? 0 : 1);
	}
	close(end[1]);
	WaitEnd ended = child > 0 ? wait_for_end(end[0], wait) : WAIT_ENDED;
	close(end[0]);
	if (child < 0)
		return fail(err, ERR_DEVICE, "", "cannot start a process for the prepare Fns: %s", strerror(failed));
	if (ended != WAIT_ENDED)
		kill(child, SIGKILL);
	pid_t got;
	while ((got = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	return judge(got == child ? status : 0, ended, answer, wait.deadline_ms, err);
}

bool prepare_run(const KernelSet *ks, const Module *m, const Prepared *given, int n, const Prepared *out, int nout,
	PrepareWait wait, Err *err)
{
	Arena *a = arena_new();
	IrArg *arg = arena_array(a, IrArg, n + nout);
	int64_t bytes = sum_bytes(out, nout), at = 0;
	Shared s = { .bytes = (size_t)bytes + sizeof(Answer) };
	if (wait.deadline_ms == 0)
		wait.deadline_ms = CHOOSE_PREPARE_LEAST_MS + (bytes + sum_bytes(given, n)) / CHOOSE_PREPARE_BYTES_PER_MS;
	bool ok = check_memory(ks, m, given, n, out, nout, err);
	if (ok) {
		s.at = mmap(NULL, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ok = s.at != MAP_FAILED ||
		     fail(err, ERR_MEMORY, "", "cannot map %lld bytes for the results of the prepare Fns", (long long)bytes);
	}
	if (ok) {
		s.answer = (Answer *)(void *)(s.at + bytes);
		for (int k = 0; k < n; k++)
			arg[k] = (IrArg){ .name = given[k].name, .data = given[k].data };
		for (int k = 0; k < nout; k++) {
			arg[n + k] = (IrArg){ .name = out[k].name, .data = s.at + at };
			at += round_up(out[k].bytes);
		}
		ok = fork_and_wait(ks, m, arg, n + nout, s.answer, wait, err);
		for (int k = 0; k < nout && ok; k++)
			memcpy(out[k].data, arg[n + k].data, (size_t)out[k].bytes);
		munmap(s.at, s.bytes);
	}
	arena_free(a);
	return ok;
}
