/* Children that know nothing of us: how any program is started, and that none outlives the one that started it. */
#include "measure/child.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ChildEnd ended;
static int ends;

static void on_frame(Child *c, const MsgView *m)
{
	(void)c, (void)m;
}

static void on_end(Child *c, const ChildEnd *e)
{
	(void)c;
	ended = *e;
	ends++;
}

static const ChildHooks hooks = { on_frame, on_end };

/* Runs `sh -c script` to its end. */
static void run_script(const char *script)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
	uv_loop_t loop;
	Child c;
	Err err = { 0 };
	ends = 0;
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	ck_assert_msg(child_open(&c, &loop, &hooks, NULL, argv, &err), "%s", err.text);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	ck_assert_int_eq(ends, 1);
}

static const struct {
	const char *script;
	int status, signal;
	const char *text;
} scripts[] = {
	{ "exit 0", 0, 0, NULL },
	{ "exit 7", 7, 0, "it exited with code 7" },
	{ "echo one >&2; echo 'no room' >&2; echo >&2; exit 7", 7, 0, "it exited with code 7: no room" },
	{ "seq 1 200000 >&2; exit 2", 2, 0, "it exited with code 2: 200000" }, /* more than fits into the pipe */
	{ "kill -9 $$", 0, SIGKILL, NULL },
	{ "exec >&-; read line; exit 3", 0, SIGKILL, NULL }, /* without its output nothing can come: it is ended */
	{ "kill -PIPE $$", 0, SIGPIPE, NULL }, /* signals that we ignore are not ignored there */
	{ "set -- $(cat /proc/$$/stat); [ $5 = $$ ] && [ $6 = $$ ]", 0, 0, NULL }, /* it leads a group and a session */
};

START_TEST(an_end_is_told_once)
{
	signal(SIGPIPE, SIG_IGN);
	run_script(scripts[_i].script);
	ck_assert_int_eq(ended.status, scripts[_i].status);
	ck_assert_int_eq(ended.signal, scripts[_i].signal);
	if (scripts[_i].text != NULL)
		ck_assert_str_eq(ended.text, scripts[_i].text);
}
END_TEST

START_TEST(a_program_that_is_none_is_refused)
{
	char *argv[] = { "/nonexistent/program", NULL };
	uv_loop_t loop;
	Child c;
	Err err = { 0 };
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	ck_assert(!child_open(&c, &loop, &hooks, NULL, argv, &err));
	ck_assert_str_eq(err.text, "the program cannot be started: no such file or directory");
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* A program that never reads its input sees nothing of the end of its parent. The pipe that it holds is closed. */
START_TEST(no_child_outlives_its_parent)
{
	int end[2];
	char byte;
	ck_assert_int_eq(pipe(end), 0);
	pid_t parent = fork();
	if (parent == 0) {
		char *argv[] = { "sh", "-c", "trap '' HUP PIPE; echo >&9; exec sleep 100", NULL };
		uv_loop_t loop;
		Child c;
		if (dup2(end[1], 9) < 0 || close(end[0]) != 0 || close(end[1]) != 0 ||
			uv_loop_init(&loop) != 0 || !child_open(&c, &loop, &hooks, NULL, argv, NULL))
			_exit(1);
		if (_i == 1)
			child_pause(&c, true);
		uv_run(&loop, UV_RUN_DEFAULT);
		_exit(0);
	}
	close(end[1]);
	ck_assert_int_eq(read(end[0], &byte, 1), 1); /* it runs */
	ck_assert(kill(parent, SIGKILL) == 0 && waitpid(parent, NULL, 0) == parent);
	struct pollfd p = { .fd = end[0], .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	ck_assert_int_eq(read(end[0], &byte, 1), 0);
	close(end[0]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("child");
	tcase_add_loop_test(tc, an_end_is_told_once, 0, LEN(scripts));
	tcase_add_test(tc, a_program_that_is_none_is_refused);
	tcase_add_loop_test(tc, no_child_outlives_its_parent, 0, 2);
	return run_suite("child", tc);
}
