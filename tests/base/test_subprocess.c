/* Children that answer, crash, loop, sleep and take memory; what is left of them, and what they see of this process. */
#include "descriptors.h"
#include "suite.h"

#include "base/guard.h"
#include "base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const SubprocessLimits limits = { 256 << 20, 1, 1 };

/* ---- a child that answers */

/* Gives back what it takes, in pieces that are larger than what lies between the two. */
static void echo(void *arg)
{
	size_t n = *(size_t *)arg;
	char *at = malloc(n);
	for (;;) {
		subprocess_take(at, n);
		fputs("this goes nowhere\n", stderr);
		subprocess_give(at, n);
	}
}

START_TEST(children_answer)
{
	int before = count_descriptors();
	for (int k = 0; k < 100; k++) {
		Subprocess p;
		Err err = { 0 };
		size_t n = k == 0 ? 8 << 20 : 100;
		char *from = calloc(1, n), *to = malloc(n);
		from[n - 1] = (char)k;
		ck_assert_msg(subprocess_start(&p, &limits, echo, &n, &err), "%s", err.text);
		ck_assert(subprocess_send(&p, from, n));
		ck_assert(subprocess_receive(&p, to, n));
		ck_assert_int_eq(memcmp(from, to, n), 0);
		subprocess_end(&p, NULL);
		subprocess_end(&p, NULL);
		free(from);
		free(to);
	}
	ck_assert_int_eq(count_descriptors(), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* ---- children that fail */

static void crash(void *arg)
{
	(void)arg;
	raise(SIGSEGV);
}

static void leave(void *arg)
{
	(void)arg;
	_exit(3);
}

static void loop(void *arg)
{
	for (volatile int *at = arg;;)
		(*at)++;
}

static void sleep_long(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* Of an arena, whose guard in this process must not be found. */
static void take_memory(void *arg)
{
	(void)arg;
	arena_alloc(arena_new(), (size_t)1 << 30);
}

/* Raised for some work, the limit is as before after it. */
static void take_more_memory(void *arg)
{
	subprocess_allow_memory((int64_t)2 << 30);
	arena_free(arena_new());
	Arena *a = arena_new();
	arena_alloc(a, (size_t)1 << 30);
	arena_free(a);
	subprocess_allow_memory(-((int64_t)2 << 30));
	subprocess_give("+", 1);
	take_memory(arg);
}

static const struct {
	void (*work)(void *arg);
	const char *how, *sanitized;
} failing[] = {
	{ crash, "ended with signal 11 (Segmentation fault)", NULL },
	{ leave, "ended with exit code 3", NULL },
	{ loop, "took more than 1 s of processor time", NULL },
	{ sleep_long, "gave no answer for 1 s", NULL },
	/* An allocator of a sanitizer ends the process itself; with abort_on_error=1 by a signal. */
	{ take_memory, "took more than 256 MiB of memory", "ended with" },
};

START_TEST(failures_are_described)
{
	Subprocess p;
	Err err = { 0 };
	Guard g;
	char how[SUBPROCESS_HOW], at;
	int counter = 0;
	SubprocessLimits l = limits;
	l.wait_s = failing[_i].work == sleep_long ? 1 : 60;
	ck_assert(!GUARD_ENTER(&g));
	ck_assert_msg(subprocess_start(&p, &l, failing[_i].work, &counter, &err), "%s", err.text);
	ck_assert(!subprocess_receive(&p, &at, 1));
	subprocess_end(&p, how);
	guard_leave(&g);
	const char *want = SANITIZED && failing[_i].sanitized != NULL ? failing[_i].sanitized : failing[_i].how;
	ck_assert_msg(strcmp(how, failing[_i].how) == 0 || strncmp(how, want, strlen(want)) == 0, "%s", how);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(memory_is_allowed_for_a_while)
{
	Subprocess p;
	Err err = { 0 };
	char how[SUBPROCESS_HOW], at;
	SubprocessLimits l = limits;
	l.wait_s = l.cpu_s = 60;
	ck_assert_msg(subprocess_start(&p, &l, take_more_memory, NULL, &err), "%s", err.text);
	ck_assert(subprocess_receive(&p, &at, 1));
	ck_assert(!subprocess_receive(&p, &at, 1));
	subprocess_end(&p, how);
	ck_assert_msg(SANITIZED || strcmp(how, "took more than 256 MiB of memory") == 0, "%s", how);
}
END_TEST

/* ---- what the child sees of its parent, and the parent's settings */

static void look(void *arg)
{
	sigset_t none;
	struct sigaction now;
	int open_files = 0;
	(void)arg;
	for (int fd = 0; fd < 1024; fd++)
		open_files += fcntl(fd, F_GETFD) >= 0;
	sigprocmask(SIG_SETMASK, NULL, &none);
	sigaction(SIGUSR1, NULL, &now);
	char all[3] = { (char)(open_files == 1), (char)(open("/dev/null", O_RDONLY) < 0),
		(char)(now.sa_handler == SIG_DFL && !sigismember(&none, SIGUSR1)) };
	subprocess_give(all, sizeof all);
}

static void handle(int sig)
{
	(void)sig;
}

/* Nothing of the parent's is open or handled. The parent may have no standard streams, and may ignore its children. */
START_TEST(children_are_apart)
{
	Subprocess p;
	Err err = { 0 };
	char all[3] = { 0 }, at, how[SUBPROCESS_HOW];
	int keep = dup(0);
	signal(SIGUSR1, handle);
	signal(SIGCHLD, SIG_IGN);
	close(0);
	ck_assert_msg(subprocess_start(&p, &limits, look, NULL, &err), "%s", err.text);
	ck_assert_int_eq(p.fd, 0);
	ck_assert(subprocess_receive(&p, all, sizeof all));
	ck_assert(all[0] && all[1] && all[2]);
	ck_assert(!subprocess_receive(&p, &at, 1));
	subprocess_end(&p, how);
	ck_assert_int_eq(dup2(keep, 0), 0);
	close(keep);
	ck_assert_msg(strstr(how, "ended") != NULL, "%s", how);
	ck_assert_msg(subprocess_start(&p, &limits, sleep_long, NULL, &err), "%s", err.text);
	subprocess_end(&p, how);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

/* A child that has ended gives no SIGPIPE. */
START_TEST(sending_to_the_dead)
{
	static char much[8 << 20];
	Subprocess p;
	Err err = { 0 };
	char how[SUBPROCESS_HOW];
	ck_assert_msg(subprocess_start(&p, &limits, leave, NULL, &err), "%s", err.text);
	signal(SIGPIPE, SIG_DFL);
	ck_assert(!subprocess_send(&p, much, sizeof much));
	subprocess_end(&p, how);
	ck_assert_str_eq(how, "ended with exit code 3");
}
END_TEST

/* Its parent is killed: the child, then this process's, ends. */
START_TEST(orphans_end)
{
	int out[2], status, child = 0;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe(out), 0);
	pid_t parent = fork();
	if (parent == 0) {
		Subprocess p;
		bool ok = subprocess_start(&p, &limits, sleep_long, NULL, NULL);
		_exit(!ok || write(out[1], &p.pid, sizeof p.pid) < 0 || pause());
	}
	ck_assert_int_eq(read(out[0], &child, sizeof child), (ssize_t)sizeof child);
	kill(parent, SIGKILL);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("subprocess");
	tcase_add_test(tc, children_answer);
	tcase_add_loop_test(tc, failures_are_described, 0, LEN(failing));
	tcase_add_test(tc, memory_is_allowed_for_a_while);
	tcase_add_test(tc, children_are_apart);
	tcase_add_test(tc, sending_to_the_dead);
	tcase_add_test(tc, orphans_end);
	return run_suite("subprocess", tc);
}
