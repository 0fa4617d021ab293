/*
 * See subprocess.h. The two processes have a pair of sockets. Waiting is counted in turns of poll, not by a clock:
 * while both processes are stopped, only one turn passes.
 */
#include "base/subprocess.h"

#include "base/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum { TURN_MS = 100, NO_MEMORY = 86, MOST_DESCRIPTORS = 1 << 16 };

/* ---- the child */

/* Bytes of address space; -1: the system does not say. */
static int64_t address_space(void)
{
	char text[64] = { 0 };
	long long pages = -1;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
		for (const char *s = text; *s >= '0' && *s <= '9'; s++)
			pages = (pages < 0 ? 0 : pages) * 10 + (*s - '0');
	if (fd >= 0)
		close(fd);
	return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

/* The limit that the parent obeys becomes the one to which this may be raised again. */
static void set_limit(int which, int64_t most)
{
	struct rlimit l;
	if (getrlimit(which, &l) != 0)
		return;
	l.rlim_max = l.rlim_cur;
	if (l.rlim_cur == RLIM_INFINITY || (rlim_t)most < l.rlim_cur)
		l.rlim_cur = (rlim_t)most;
	setrlimit(which, &l);
}

void subprocess_allow_memory(int64_t bytes)
{
	struct rlimit l;
	if (getrlimit(RLIMIT_AS, &l) != 0 || l.rlim_cur == RLIM_INFINITY)
		return;
	rlim_t most = l.rlim_cur + (rlim_t)bytes;
	l.rlim_cur = most < l.rlim_max ? most : l.rlim_max;
	setrlimit(RLIMIT_AS, &l);
}

/* Signals to a terminal's processes are for the parent: it ends the child, or answers them in another way. */
static void take_signals(void)
{
	static const int asked[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE };
	sigset_t none;
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (size_t k = 0; k < sizeof asked / sizeof *asked; k++)
		signal(asked[k], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_all_but_first(void)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 1U, ~0U, 0U) == 0)
		return;
#endif
	struct rlimit l;
	int most = getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < MOST_DESCRIPTORS ? (int)l.rlim_cur : MOST_DESCRIPTORS;
	for (int fd = 1; fd < most; fd++)
		close(fd);
}

static void become(int fd, const SubprocessLimits *l, pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent) /* it ended before the system was asked */
		_exit(1);
	take_signals();
	int64_t space = address_space();
	if (dup2(fd, 0) < 0)
		_exit(1);
	close_all_but_first();
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_NOFILE, 0);
	set_limit(RLIMIT_CPU, l->cpu_s);
	if (space >= 0)
		set_limit(RLIMIT_AS, space + l->memory);
}

static _Noreturn void work_and_end(void (*work)(void *arg), void *arg)
{
	Guard g; /* the parent's leads to the parent's code */
	guard_fail_at(0);
	if (GUARD_ENTER(&g))
		_exit(NO_MEMORY);
	work(arg);
	_exit(0);
}

void subprocess_take(void *to, size_t n)
{
	for (size_t have = 0; have < n;) {
		ssize_t got = recv(0, (char *)to + have, n - have, 0);
		if (got == 0 || (got < 0 && errno != EINTR))
			_exit(0);
		have += got < 0 ? 0 : (size_t)got;
	}
}

void subprocess_give(const void *from, size_t n)
{
	for (size_t have = 0; have < n;) {
		ssize_t put = send(0, (const char *)from + have, n - have, MSG_NOSIGNAL);
		if (put < 0 && errno != EINTR)
			_exit(0);
		have += put < 0 ? 0 : (size_t)put;
	}
}

/* ---- the parent */

bool subprocess_start(Subprocess *p, const SubprocessLimits *l, void (*work)(void *arg), void *arg, Err *err)
{
	int end[2];
	sigset_t all, before;
	pid_t parent = getpid();
	*p = (Subprocess){ .limits = *l };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) != 0)
		return fail(err, ERR_DEVICE, "", "cannot make a pair of sockets for a process: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of this process runs in the child */
	pid_t pid = fork();
	int failed = errno;
	if (pid == 0) {
		become(end[1], l, parent);
		work_and_end(work, arg);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(end[1]);
	if (pid < 0) {
		close(end[0]);
		return fail(err, ERR_DEVICE, "", "cannot start a process: %s", strerror(failed));
	}
	p->pid = pid;
	p->fd = end[0];
	return true;
}

/* True also where the reason is lost: the program ignores SIGCHLD, or has waited for the child itself. */
static bool has_ended(const Subprocess *p, siginfo_t *how)
{
	memset(how, 0, sizeof *how);
	return waitid(P_PID, (id_t)p->pid, how, WEXITED | WNOHANG | WNOWAIT) != 0 || how->si_pid != 0;
}

/* Without signals: one that comes more often than a turn would keep poll from its end. */
static bool wait_for_child(Subprocess *p, short events)
{
	const struct timespec turn = { 0, TURN_MS * 1000000 };
	sigset_t all;
	siginfo_t how;
	sigfillset(&all);
	for (int64_t left = (int64_t)p->limits.wait_s * 1000 / TURN_MS; left > 0; left--) {
		struct pollfd f = { .fd = p->fd, .events = events };
		int n = ppoll(&f, 1, &turn, &all);
		if (n > 0)
			return true;
		/* Its end of the stream may be open in a process that another thread started meanwhile. */
		if (n < 0 || has_ended(p, &how))
			return false;
	}
	p->late = true;
	return false;
}

bool subprocess_send(Subprocess *p, const void *from, size_t n)
{
	for (size_t have = 0; have < n;) {
		ssize_t put = send(p->fd, (const char *)from + have, n - have, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno != EINTR && (errno != EAGAIN || !wait_for_child(p, POLLOUT)))
			return false;
		have += put < 0 ? 0 : (size_t)put;
	}
	return true;
}

bool subprocess_receive(Subprocess *p, void *to, size_t n)
{
	for (size_t have = 0; have < n;) {
		ssize_t got = recv(p->fd, (char *)to + have, n - have, MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EINTR && (errno != EAGAIN || !wait_for_child(p, POLLIN))))
			return false;
		have += got < 0 ? 0 : (size_t)got;
	}
	return true;
}

static void say_how(const Subprocess *p, const siginfo_t *how, char out[SUBPROCESS_HOW])
{
	bool by_signal = how->si_pid != 0 && (how->si_code == CLD_KILLED || how->si_code == CLD_DUMPED);
	if (p->late)
		snprintf(out, SUBPROCESS_HOW, "gave no answer for %d s", p->limits.wait_s);
	else if (by_signal && how->si_status == SIGXCPU)
		snprintf(out, SUBPROCESS_HOW, "took more than %d s of processor time", p->limits.cpu_s);
	else if (by_signal)
		snprintf(out, SUBPROCESS_HOW, "ended with signal %d (%s)", how->si_status, strsignal(how->si_status));
	else if (how->si_pid != 0 && how->si_code == CLD_EXITED && how->si_status == NO_MEMORY)
		snprintf(out, SUBPROCESS_HOW, "took more than %lld MiB of memory", (long long)p->limits.memory >> 20);
	else if (how->si_pid != 0)
		snprintf(out, SUBPROCESS_HOW, "ended with exit code %d", how->si_status);
	else
		snprintf(out, SUBPROCESS_HOW, "gave a wrong answer or ended");
}

void subprocess_end(Subprocess *p, char how[SUBPROCESS_HOW])
{
	enum { LAST_TURNS = 500 };
	const struct timespec turn = { 0, 10 * 1000000 };
	siginfo_t end = { 0 };
	char at;
	if (p->pid == 0)
		return;
	bool ended = has_ended(p, &end);
	ssize_t got = recv(p->fd, &at, 1, MSG_PEEK | MSG_DONTWAIT);
	/* Its end of the stream is closed, at times with bytes that it did not take, just before it ends. */
	bool closed = got == 0 || (got < 0 && errno != EAGAIN);
	for (int k = 0; k < LAST_TURNS && closed && !ended; k++) {
		nanosleep(&turn, NULL);
		ended = has_ended(p, &end);
	}
	if (how != NULL)
		say_how(p, &end, how);
	if (!ended) /* so that the number is still this child's */
		kill(p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(p->fd);
	*p = (Subprocess){ 0 };
}
