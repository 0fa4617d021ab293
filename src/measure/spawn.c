/* See spawn.h. Between fork and exec only async-signal-safe functions are called: other threads may hold locks. */
#include "measure/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

/* Out of the way of 0, 1 and 2; -1 and errno where there are no descriptors left. */
static int above_standard(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* In the child, with all signals blocked. Returns only if the program cannot be started; errno says why. */
static void become(char *const *argv, int in, int out, int said, pid_t parent)
{
#if defined(__linux__)
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent) /* it ended before the system was asked */
		_exit(1);
	setsid();
	in = above_standard(in);
	out = above_standard(out);
	said = above_standard(said);
	if (in < 0 || out < 0 || said < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
		dup2(said, STDERR_FILENO) < 0)
		return;
	/* Signals that this process ignores or handles are nothing of the program's. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
}

bool spawn_program(char *const *argv, int in, int out, int said, pid_t *pid, Err *err)
{
	int report[2], why = 0; /* exec closes the pipe, which then has no errno in it */
	pid_t parent = getpid();
	sigset_t all, before;
	if (pipe2(report, O_CLOEXEC) != 0)
		return fail(err, ERR_DEVICE, argv[0], "cannot make a pipe to the program: %s", uv_strerror(-errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	*pid = fork();
	why = errno;
	if (*pid == 0) {
		int to = above_standard(report[1]);
		become(argv, in, out, said, parent);
		why = errno;
		_exit(write(to, &why, sizeof why) < 0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (*pid > 0) {
		ssize_t n;
		while ((n = read(report[0], &why, sizeof why)) < 0 && errno == EINTR)
			;
		if (n <= 0)
			why = 0;
		else
			while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
				;
	}
	close(report[0]);
	return why == 0 || fail(err, ERR_DEVICE, argv[0], "the program cannot be started: %s", uv_strerror(-why));
}
