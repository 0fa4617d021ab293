/*
 * See prepare.h. The child has a copy of this process's memory. Of the mappings that both share it can write two: the
 * results of all calls; and which call it is at, whether all are complete, or the error. A pipe without a writer tells
 * the parent that the child has ended, so that the wait can have a deadline.
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
static bool check_memory(const PrepareCall *c, Err *err)
{
	const KernelSet *ks = c->ks;
	double want = 0, have = (double)sum_bytes(c->given, c->n) + (double)sum_bytes(c->out, c->nout);
	double most = CHOOSE_PREPARE_WORK_TIMES * have + CHOOSE_PREPARE_WORK_MIB * 1048576.0;
	for (uint32_t k = 0; k < c->m->image.nentry; k++)
		want += (double)c->m->image.entry[k].work_bytes;
	for (size_t i = 0; i < ks->n; i++)
		for (int k = 0; k < ks->fn[i]->nparam; k++) {
			const Buf *b = ks->fn[i]->kind == FN_PREPARE ? ks->fn[i]->param[k].buf : NULL;
			if (b != NULL && !is_given(b->name, c->given, c->n) && !is_given(b->name, c->out, c->nout))
				want += (double)ir_buf_elements(b, NULL, 0) * (b->type.bits + 7) / 8;
		}
	return want <= most ||
	       fail(err, ERR_INPUT, "", "they need %.0f MiB of work memory, too much for %.0f MiB of constants",
			   want / 1048576, have / 1048576);
}

static int64_t deadline_of(const PrepareCall *c, PrepareWait wait)
{
	int64_t bytes = sum_bytes(c->given, c->n) + sum_bytes(c->out, c->nout);
	return wait.deadline_ms > 0 ? wait.deadline_ms : CHOOSE_PREPARE_LEAST_MS + bytes / CHOOSE_PREPARE_BYTES_PER_MS;
}

/* ---- the child ---- */

/* The child's answer. Its exit status may be lost: if SIGCHLD is ignored, nobody can ask for it. */
typedef struct Answer {
	atomic_int at; /* the call that it does */
	bool done;     /* the results are complete */
	Err err;
} Answer;

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

/* The call that the child is at, by memory that its Fns may have written to. */
static int call_of(const Answer *answer, int ncall)
{
	int at = atomic_load(&answer->at);
	return at >= 0 && at < ncall ? at : 0;
}

/* Calls of one Task have one module. */
static bool do_calls(const PrepareCall *call, int ncall, PrepareWait wait, Answer *answer)
{
	Arena *a = arena_new();
	Mapped *mapped = NULL;
	for (int k = 0; k < ncall; k++) {
		const PrepareCall *c = &call[k];
		IrArg *arg = arena_array(a, IrArg, c->n + c->nout);
		atomic_store(&answer->at, k);
		alarm((unsigned)(deadline_of(c, wait) / 1000 + 2));
		for (int i = 0; i < c->n + c->nout; i++) {
			const Prepared *p = i < c->n ? &c->given[i] : &c->out[i - c->n];
			arg[i] = (IrArg){ .name = p->name, .data = p->data };
		}
		if ((k == 0 || c->m != call[k - 1].m) && !codegen_map(c->m, &mapped, &answer->err))
			return false;
		if (!codegen_call(c->ks, c->m, mapped, arg, c->n + c->nout, &answer->err))
			return false;
	}
	return true;
}

/* ---- the parent ---- */

typedef enum { WAIT_ENDED, WAIT_LATE, WAIT_STOPPED } WaitEnd;

/* Waits in short steps: a signal that sets `stop` may come just before poll, and each call has its own deadline. */
static WaitEnd wait_for_end(int pipe_end, const PrepareCall *call, int ncall, PrepareWait wait, const Answer *answer)
{
	uint64_t from = timing_wall_ns();
	for (int at = 0;;) {
		int now = call_of(answer, ncall);
		if (at != now) {
			at = now;
			from = timing_wall_ns();
		}
		int64_t left = deadline_of(&call[at], wait) - (int64_t)((timing_wall_ns() - from) / 1000000);
		struct pollfd p = { .fd = pipe_end, .events = POLLIN };
		if (wait.stop != NULL && *wait.stop != 0)
			return WAIT_STOPPED;
		if (poll(&p, 1, left < 0 ? 0 : left < CHOOSE_PREPARE_STEP_MS ? (int)left : CHOOSE_PREPARE_STEP_MS) > 0)
			return WAIT_ENDED;
		if (left <= 0 && at == call_of(answer, ncall))
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

static bool fork_and_wait(const PrepareCall *call, int ncall, Answer *answer, PrepareWait wait, const Constants *to,
	const void *room, Err *err)
{
	int end[2], status = 0;
	pid_t parent = getpid();
	if (pipe(end) != 0)
		return fail(err, ERR_DEVICE, "", "cannot make a pipe for the prepare Fns: %s", strerror(errno));
	pid_t child = fork();
	int failed = errno;
	if (child == 0) {
		struct rlimit none = { 0, 0 };
		take_signals();
		/* The child does not outlive its parent: on Linux the kernel ends it, elsewhere an alarm does. */
#ifdef __linux__
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
		if (getppid() != parent)
			_exit(1);
		close(end[0]);
		setrlimit(RLIMIT_CORE, &none);
		constants_guard(to, room);
		answer->done = do_calls(call, ncall, wait, answer);
		_exit(answer->done ? 0 : 1);
	}
	close(end[1]);
	WaitEnd ended = child > 0 ? wait_for_end(end[0], call, ncall, wait, answer) : WAIT_ENDED;
	close(end[0]);
	if (child < 0)
		return fail(err, ERR_DEVICE, "", "cannot start a process for the prepare Fns: %s", strerror(failed));
	if (ended != WAIT_ENDED)
		kill(child, SIGKILL);
	pid_t got;
	while ((got = waitpid(child, &status, 0)) < 0 && errno == EINTR)
		;
	return judge(got == child ? status : 0, ended, answer, deadline_of(&call[call_of(answer, ncall)], wait), err);
}

bool prepare_run(const PrepareCall *call, int ncall, PrepareWait wait, Constants *to, int *failed, Err *err)
{
	int64_t bytes = 0, at = 0;
	for (int k = 0; k < ncall; bytes += sum_bytes(call[k].out, call[k].nout), k++)
		if (!check_memory(&call[k], err)) {
			*failed = k;
			return false;
		}
	unsigned char *room = constants_room(to, (size_t)bytes);
	Answer *answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*failed = 0;
	if (room == NULL || answer == MAP_FAILED) {
		if (room != NULL)
			constants_give_back(to, room);
		if (answer != MAP_FAILED)
			munmap(answer, sizeof *answer);
		return fail(err, ERR_MEMORY, "", "cannot map %lld bytes for the results of the prepare Fns", (long long)bytes);
	}
	for (int k = 0; k < ncall; k++)
		for (int i = 0; i < call[k].nout; i++) {
			call[k].out[i].data = room + at;
			at += round_up(call[k].out[i].bytes);
		}
	bool ok = fork_and_wait(call, ncall, answer, wait, to, room, err);
	*failed = call_of(answer, ncall);
	munmap(answer, sizeof *answer);
	if (!ok)
		constants_give_back(to, room);
	return ok;
}
