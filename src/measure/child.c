/*
 * See child.h.  The handles of one process live in a ChildIo of their own, which is released when
 * the last of its handles has closed: libuv forbids to reuse a handle before, and the Child may be
 * opened again at once.
 */
#include "measure/child.h"

#include "base/text.h"
#include "measure/method.h"
#include "measure/spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct ChildIo {
	Child *child; /* NULL: closed, nobody is to be told */
	pid_t pid;
	uv_signal_t reap; /* SIGCHLD */
	uv_pipe_t to, from, err; /* its standard input, output and error */
	uv_timer_t timer;
	int open; /* handles not closed yet */
	uint64_t allowed, due; /* ms of the deadline, and when it passes */
	int asked;             /* ms that child_deadline gave before the first frame; -1: none */
	int64_t left;          /* of the deadline while the child stands still; -1: it has none */
	bool exited, eof, killed_late, nonsense;
	bool spoke, paused; /* it has sent a frame; it shall stand still */
	int64_t status;
	int signal;
	MsgStream in;
	char heard[512], line[160]; /* of its standard error: what is being read, the last line with text in it */
	size_t nline;
	bool line_ended;
};

typedef struct Write {
	uv_write_t req;
	unsigned char *bytes;
} Write;

static void on_closed(uv_handle_t *h)
{
	ChildIo *io = h->data;
	if (--io->open > 0)
		return;
	stream_free(&io->in);
	free(io);
}

static void close_handles(ChildIo *io)
{
	uv_handle_t *all[] = { (uv_handle_t *)&io->reap, (uv_handle_t *)&io->to,
		(uv_handle_t *)&io->from, (uv_handle_t *)&io->err, (uv_handle_t *)&io->timer };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!uv_is_closing(all[i]))
			uv_close(all[i], on_closed);
}

static void hear(ChildIo *io, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (io->heard[i] == '\n') {
			io->line_ended = true;
			continue;
		}
		if (io->line_ended)
			io->nline = 0;
		io->line_ended = false;
		if (io->nline < sizeof io->line - 1)
			io->line[io->nline++] = io->heard[i];
	}
}

/* What has come meanwhile; its own children may hold the stream, so that its end is not waited for. */
static const char *last_line(ChildIo *io)
{
	enum { PIECES = 4096 }; /* 2 MiB, more than the stream's buffer: only a process that goes on writing comes so far */
	uv_os_fd_t fd;
	ssize_t n = 1;
	if (uv_fileno((uv_handle_t *)&io->err, &fd) == 0)
		for (int i = 0; i < PIECES && (n = read(fd, io->heard, sizeof io->heard)) > 0; i++)
			hear(io, (size_t)n);
	io->line[io->nline] = 0;
	text_make_printable(io->line, "");
	return io->line;
}

/* The end is told when the process is gone and all it sent has been read. */
static void maybe_end(ChildIo *io)
{
	if (!io->exited || !io->eof)
		return;
	Child *c = io->child;
	ChildEnd e = { .status = io->status,
		.signal = io->signal,
		.late = io->killed_late,
		.silent = io->killed_late && !io->spoke,
		.spoke = io->spoke,
		.nonsense = io->nonsense };
	if (io->nonsense)
		snprintf(e.text, sizeof e.text, "it sent bytes that are no message: %s", io->in.why);
	else if (io->killed_late && !io->spoke)
		snprintf(e.text, sizeof e.text, "it sent no message within %d s of its start and was ended",
			METHOD_START_MS / 1000);
	else if (io->killed_late)
		snprintf(e.text, sizeof e.text, "it did not answer in time and was ended");
	else if (io->signal != 0)
		snprintf(e.text, sizeof e.text, "signal %d (%s)", io->signal, strsignal(io->signal));
	else
		snprintf(e.text, sizeof e.text, "it exited with code %lld", (long long)io->status);
	size_t n = strlen(e.text);
	if (last_line(io)[0] != 0)
		snprintf(e.text + n, sizeof e.text - n, ": %s", io->line);
	io->child = NULL;
	close_handles(io);
	if (c != NULL) {
		c->io = NULL;
		c->hooks->end(c, &e);
	}
}

/* One of this process's children has ended: perhaps this one. */
static void on_sigchld(uv_signal_t *h, int sig)
{
	ChildIo *io = h->data;
	int status = 0;
	(void)sig;
	pid_t got = waitpid(io->pid, &status, WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR))
		return;
	uv_signal_stop(h);
	io->exited = true;
	/* Else the program that we are a library of has taken it, and nobody knows how it ended. */
	if (got == io->pid) {
		io->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		io->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	}
	maybe_end(io);
}

/* The child leads a group of its own: a script's children go with it, and with them its pipe. */
static void kill_group(ChildIo *io)
{
	if (!io->exited)
		uv_kill(-io->pid, SIGKILL);
}

static void stop_reading(ChildIo *io)
{
	uv_read_stop((uv_stream_t *)&io->from);
	io->eof = true;
}

static void start_deadline(ChildIo *io, uint64_t ms);

/* The time in which it stands still does not count. */
static void stop_or_go(ChildIo *io)
{
	uint64_t allowed = io->allowed, now = uv_now(io->timer.loop);
	if (!io->exited)
		uv_kill(-io->pid, io->paused ? SIGSTOP : SIGCONT);
	if (io->paused) {
		bool runs = uv_is_active((uv_handle_t *)&io->timer) != 0;
		io->left = !runs ? -1 : io->due > now ? (int64_t)(io->due - now) : 0;
		uv_timer_stop(&io->timer);
	} else if (io->left >= 0) {
		start_deadline(io, (uint64_t)io->left);
		io->allowed = allowed;
	}
}

/* ms < 0: none. */
static void set_deadline(ChildIo *io, int ms)
{
	if (ms < 0 || (io->spoke && io->paused))
		uv_timer_stop(&io->timer);
	else
		start_deadline(io, (uint64_t)ms);
	io->left = ms;
	io->allowed = ms < 0 ? 0 : (uint64_t)ms;
}

/* Hands over every whole frame; bytes that are none end the child. */
static void take_frames(ChildIo *io)
{
	MsgView m;
	MsgParse p = MSG_SHORT;
	while (io->child != NULL && (p = stream_next(&io->in, &m)) == MSG_OK) {
		if (!io->spoke) {
			io->spoke = true;
			if (io->paused)
				stop_or_go(io);
			set_deadline(io, io->asked);
		}
		io->child->hooks->frame(io->child, &m);
	}
	if (io->child == NULL || p != MSG_BAD)
		return;
	io->nonsense = true;
	stop_reading(io);
	kill_group(io);
	maybe_end(io);
}

static void on_alloc(uv_handle_t *h, size_t wish, uv_buf_t *out)
{
	ChildIo *io = h->data;
	size_t n = 0;
	(void)wish;
	unsigned char *room = stream_room(&io->in, &n); /* NULL: libuv answers UV_ENOBUFS */
	*out = uv_buf_init((char *)room, (unsigned)(n < INT32_MAX ? n : INT32_MAX));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	ChildIo *io = s->data;
	(void)buf;
	if (n > 0) {
		stream_add(&io->in, (size_t)n);
		take_frames(io);
	} else if (n < 0) {
		stop_reading(io);
		kill_group(io); /* it closed its output: nothing more can come */
		maybe_end(io);
	}
}

static void on_alloc_heard(uv_handle_t *h, size_t wish, uv_buf_t *out)
{
	ChildIo *io = h->data;
	(void)wish;
	*out = uv_buf_init(io->heard, sizeof io->heard);
}

static void on_heard(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	(void)buf;
	if (n > 0)
		hear(s->data, (size_t)n);
	else if (n < 0)
		uv_read_stop(s);
}

/*
 * A parent that was stopped itself (Ctrl-Z, a busy machine) finds all deadlines passed, and answers that it has not
 * read yet.  So a deadline that is noticed too late begins anew.
 */
static void on_late(uv_timer_t *t)
{
	ChildIo *io = t->data;
	if (uv_now(t->loop) > io->due + METHOD_AWAY_MS) {
		start_deadline(io, io->allowed);
		return;
	}
	io->killed_late = true;
	if (io->exited) /* what it started and left behind holds its pipe */
		stop_reading(io);
	kill_group(io);
	maybe_end(io);
}

static void start_deadline(ChildIo *io, uint64_t ms)
{
	uv_update_time(io->timer.loop);
	io->allowed = ms;
	io->due = uv_now(io->timer.loop) + ms;
	uv_timer_start(&io->timer, on_late, ms, 0);
}

static void on_written(uv_write_t *req, int status)
{
	Write *w = (Write *)req;
	(void)status; /* a failed write is followed by the child's end */
	free(w->bytes);
	free(w);
}

/* A stream to or from the child: our end becomes a handle, the child's end *theirs. */
static int open_stream(uv_pipe_t *ours, int *theirs)
{
	uv_os_sock_t end[2];
	int rc = uv_socketpair(SOCK_STREAM, 0, end, UV_NONBLOCK_PIPE, 0);
	if (rc != 0)
		return rc;
	*theirs = end[1];
	rc = uv_pipe_open(ours, end[0]);
	if (rc != 0)
		close(end[0]);
	return rc;
}

bool child_open(Child *c, uv_loop_t *loop, const ChildHooks *hooks, void *owner, char *const *argv, Err *err)
{
	int in = -1, out = -1, said = -1, rc;
	*c = (Child){ .loop = loop, .hooks = hooks, .owner = owner };
	ChildIo *io = calloc(1, sizeof *io);
	if (io == NULL)
		return fail(err, ERR_MEMORY, argv[0], "out of memory");
	rc = uv_signal_init(loop, &io->reap);
	if (rc != 0) {
		free(io);
		return fail(err, ERR_DEVICE, argv[0], "cannot wait for the program: %s", uv_strerror(rc));
	}
	io->child = c;
	io->asked = -1;
	io->reap.data = io->to.data = io->from.data = io->err.data = io->timer.data = io;
	uv_pipe_init(loop, &io->to, 0);
	uv_pipe_init(loop, &io->from, 0);
	uv_pipe_init(loop, &io->err, 0);
	uv_timer_init(loop, &io->timer);
	io->open = 5;
	/* Before the child is there: its end may come at once. */
	bool ok = (rc = uv_signal_start(&io->reap, on_sigchld, SIGCHLD)) == 0 && (rc = open_stream(&io->to, &in)) == 0 &&
	          (rc = open_stream(&io->from, &out)) == 0 && (rc = open_stream(&io->err, &said)) == 0;
	ok = ok || fail(err, ERR_DEVICE, argv[0], "cannot make a pipe to the program: %s", uv_strerror(rc));
	ok = ok && spawn_program(argv, in, out, said, &io->pid, err);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	if (said >= 0)
		close(said);
	if (!ok) {
		close_handles(io);
		return false;
	}
	uv_read_start((uv_stream_t *)&io->from, on_alloc, on_read);
	uv_read_start((uv_stream_t *)&io->err, on_alloc_heard, on_heard);
	c->io = io;
	return true;
}

void child_send(Child *c, Msg *msg)
{
	Write *w = c->io != NULL && !msg->full ? calloc(1, sizeof *w) : NULL;
	if (w == NULL) {
		msg_free(msg);
		return;
	}
	w->bytes = msg->bytes;
	uv_buf_t buf = uv_buf_init((char *)msg->bytes, (unsigned)msg->size);
	*msg = (Msg){ 0 };
	if (uv_write(&w->req, (uv_stream_t *)&c->io->to, &buf, 1, on_written) != 0)
		on_written(&w->req, 0); /* it was not begun; the deadline ends the child */
}

void child_deadline(Child *c, int ms)
{
	if (c->io == NULL)
		return;
	c->io->asked = ms;
	set_deadline(c->io, !c->io->spoke && (ms < 0 || ms > METHOD_START_MS) ? METHOD_START_MS : ms);
}

void child_pause(Child *c, bool pause)
{
	if (c->io == NULL || c->io->paused == pause)
		return;
	c->io->paused = pause;
	if (c->io->spoke)
		stop_or_go(c->io);
}

void child_close(Child *c)
{
	ChildIo *io = c->io;
	if (io == NULL)
		return;
	c->io = NULL;
	io->child = NULL; /* its handles close once it is reaped and its pipe has ended */
	uv_timer_stop(&io->timer);
	kill_group(io);
	if (io->exited) {
		stop_reading(io);
		maybe_end(io);
	}
}

void child_abandon(Child *c)
{
	ChildIo *io = c->io;
	if (io == NULL)
		return;
	c->io = NULL;
	kill_group(io);
	if (!io->exited)
		while (waitpid(io->pid, NULL, 0) < 0 && errno == EINTR)
			;
}
