/*
 * See prepare.h. The child has a copy of this process's memory, and of what it writes only one mapping is
 * shared: the results, and behind them the error if there is one. A pipe that nobody writes to says when
 * the child has ended, so that the wait has a deadline.
 */
#include "compile/prepare.h"

#include "runtime/timing.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A minute, and a second for each MB: Winograd's weights of a large layer take 0.1 s. */
enum { LEAST_MS = 60000, BYTES_PER_MS = 1000 };
/* What prepare Fns may want beyond what they are given and make: some times as much, and at least this. */
enum { WORK_TIMES = 8, WORK_MIB = 256 };

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
static bool check_memory(const KernelSet *ks, const Module *m, const Prepared *given, int n,
	const Prepared *out, int nout, Err *err)
{
	double want = 0, have = (double)sum_bytes(given, n) + (double)sum_bytes(out, nout);
	double most = WORK_TIMES * have + WORK_MIB * 1048576.0;
	for (uint32_t k = 0; k < m->image.nentry; k++)
		want += (double)m->image.entry[k].work_bytes;
	for (size_t i = 0; i < ks->n; i++)
		for (int k = 0; k < ks->fn[i]->nparam; k++) {
			const Buf *b = ks->fn[i]->kind == FN_PREPARE ? ks->fn[i]->param[k].buf : NULL;
			if (b != NULL && !is_given(b->name, given, n) && !is_given(b->name, out, nout))
				want += (double)ir_buf_elements(b, ks->fn[i], NULL, 0) *
				        (b->type.bits + 7) / 8;
		}
	return want <= most || fail(err, ERR_MEMORY, "",
				       "they want %.0f MiB beside their constants, of which there are %.0f",
				       want / 1048576, have / 1048576);
}

/* ---- the child ---- */

typedef struct Shared {
	unsigned char *at;
	size_t bytes;
	Err *err; /* behind the results */
} Shared;

/* Does not return. What this process catches, the child does not. */
static void run_child(
	const KernelSet *ks, const Module *m, IrArg *arg, int n, const Shared *s, int64_t deadline_ms)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTERM };
	struct rlimit none = { 0, 0 };
	Mapped *mapped = NULL;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	alarm((unsigned)(deadline_ms / 1000 + 2)); /* where nobody is left to wait */
	bool ok = codegen_map(m, &mapped, s->err) && codegen_call(ks, m, mapped, arg, n, s->err);
	_exit(ok ? 0 : 1);
}

/* ---- the parent ---- */

/* False: the deadline has passed. */
static bool wait_for_end(int pipe_end, int64_t deadline_ms)
{
	uint64_t from = timing_wall_ns();
	for (;;) {
		int64_t left = deadline_ms - (int64_t)((timing_wall_ns() - from) / 1000000);
		struct pollfd p = { .fd = pipe_end, .events = POLLIN };
		int n = poll(&p, 1, left > 0 ? (int)left : 0);
		if (n > 0 || left <= 0)
			return n > 0;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

static bool judge(int status, bool ended, const Shared *s, int64_t deadline_ms, Err *err)
{
	if (!ended)
		return fail(err, ERR_INPUT, "", "they did not end within %lld s",
			(long long)(deadline_ms + 999) / 1000);
	if (WIFSIGNALED(status))
		return fail(err, ERR_INPUT, "", "they ended with signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == 0)
		return true;
	s->err->text[sizeof s->err->text - 1] = 0;
	return fail(err, ERR_INPUT, "", "%s", s->err->text[0] != 0 ? s->err->text : "their process failed");
}

static bool fork_and_wait(const KernelSet *ks, const Module *m, IrArg *arg, int n, const Shared *s,
	int64_t deadline_ms, Err *err)
{
	int end[2], status = 0;
	if (pipe(end) != 0)
		return fail(err, ERR_DEVICE, "", "no pipe: %s", strerror(errno));
	pid_t child = fork();
	if (child == 0) {
		close(end[0]);
		run_child(ks, m, arg, n, s, deadline_ms);
	}
	close(end[1]);
	bool ended = child > 0 && wait_for_end(end[0], deadline_ms);
	int failed = errno;
	close(end[0]);
	if (child < 0)
		return fail(err, ERR_DEVICE, "", "no process for the prepare Fns: %s", strerror(failed));
	if (!ended)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return judge(status, ended, s, deadline_ms, err);
}

bool prepare_run(const KernelSet *ks, const Module *m, const Prepared *given, int n, const Prepared *out,
	int nout, int64_t deadline_ms, Err *err)
{
	Arena *a = arena_new();
	IrArg *arg = arena_array(a, IrArg, n + nout);
	int64_t bytes = sum_bytes(out, nout), at = 0;
	Shared s = { .bytes = (size_t)bytes + sizeof(Err) };
	if (deadline_ms == 0)
		deadline_ms = LEAST_MS + (bytes + sum_bytes(given, n)) / BYTES_PER_MS;
	bool ok = check_memory(ks, m, given, n, out, nout, err);
	if (ok) {
		s.at = mmap(NULL, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		ok = s.at != MAP_FAILED ||
		     fail(err, ERR_MEMORY, "", "no memory for %lld bytes of results", (long long)bytes);
	}
	if (ok) {
		s.err = (Err *)(void *)(s.at + bytes);
		for (int k = 0; k < n; k++)
			arg[k] = (IrArg){ .name = given[k].name, .data = given[k].data };
		for (int k = 0; k < nout; k++) {
			arg[n + k] = (IrArg){ .name = out[k].name, .data = s.at + at };
			at += round_up(out[k].bytes);
		}
		ok = fork_and_wait(ks, m, arg, n + nout, &s, deadline_ms, err);
		for (int k = 0; k < nout && ok; k++)
			memcpy(out[k].data, arg[n + k].data, (size_t)out[k].bytes);
		munmap(s.at, s.bytes);
	}
	arena_free(a);
	return ok;
}
