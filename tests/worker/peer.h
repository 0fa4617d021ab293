/*
 * dlc-worker as a tuner sees it: a child on two pipes, and functions that ask it for one thing each.
 */
#ifndef TESTS_WORKER_PEER_H
#define TESTS_WORKER_PEER_H

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#include "build.h"
#include "dlc/dlc_runtime.h"
#include "kernels.h"
#include "worker/frame.h"

enum { N = 1000, BYTES = N * 4 };

static const char *worker_path;

/* The child, and the answer read last. */
typedef struct Peer {
	pid_t pid;
	int to, from;
	FILE *complaints; /* its standard error */
	uint64_t serial;
	MsgStream in;
	MsgView view;
} Peer;

static inline Peer peer_open(void)
{
	int in[2], out[2];
	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	Peer p = { .to = in[1], .from = out[0], .complaints = tmpfile() };
	ck_assert_ptr_nonnull(p.complaints);
	p.pid = fork();
	if (p.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(fileno(p.complaints), 2);
		close(in[1]);
		close(out[0]);
		execl(worker_path, worker_path, "--stdio", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	return p;
}

/* Reads one frame; false at the end of the stream. */
static inline bool peer_read(Peer *p)
{
	for (;;) {
		MsgParse got = stream_next(&p->in, &p->view);
		ck_assert_msg(got != MSG_BAD, "%s", p->in.why);
		if (got == MSG_OK)
			return true;
		size_t room;
		unsigned char *to = stream_room(&p->in, &room);
		ck_assert_ptr_nonnull(to);
		ssize_t n = read(p->from, to, room);
		if (n <= 0)
			return false;
		stream_add(&p->in, (size_t)n);
	}
}

static inline void peer_write(Peer *p, const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t done = write(p->to, (const char *)bytes + at, n - at);
		if (done <= 0)
			return; /* it has ended; the test will see */
		at += (size_t)done;
	}
}

static inline void peer_send(Peer *p, Msg *msg)
{
	ck_assert(msg_end(msg));
	peer_write(p, msg->bytes, msg->size);
	msg_free(msg);
}

/* Waits for its end: the exit code, or minus the signal.  Exit code 1 comes with one sentence. */
static inline int peer_close(Peer *p)
{
	char line[300] = "", more[300];
	int status;
	if (p->to >= 0)
		close(p->to);
	ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
	close(p->from);
	stream_free(&p->in);
	rewind(p->complaints);
	bool said = fgets(line, sizeof line, p->complaints) != NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
		ck_assert_int_eq(said, WEXITSTATUS(status));
		ck_assert_ptr_null(fgets(more, sizeof more, p->complaints));
	}
	fclose(p->complaints);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A request of at most three arrays; the answer must carry its serial. */
static inline MsgKind ask(Peer *p, MsgKind kind, const void *fixed, int n, const void *const *array,
	const size_t *bytes)
{
	Msg msg = { 0 };
	msg_begin(&msg, kind, ++p->serial, fixed);
	for (int i = 0; i < n; i++)
		msg_add(&msg, array[i], bytes[i]);
	peer_send(p, &msg);
	if (!peer_read(p))
		return MSG_NONE;
	ck_assert_uint_eq(p->view.serial, p->serial);
	return p->view.kind;
}

static inline const char *refusal(const Peer *p)
{
	static char text[600];
	const MsgRefused *r = p->view.fixed;
	ck_assert_int_eq(p->view.kind, MSG_REFUSED);
	snprintf(text, sizeof text, "%.*s", (int)r->ntext, (const char *)p->view.array[0]);
	return text;
}

static inline MsgKind ask_image(Peer *p, uint32_t module)
{
	const DlcImage *i = test_image();
	MsgImage m = { .module = module, .device = DLC_DEVICE_CPU, .nentry = i->nentry, .nimage = i->size };
	return ask(p, MSG_IMAGE, &m, 2, (const void *[]){ i->entry, i->bytes },
		(size_t[]){ i->nentry * sizeof *i->entry, i->size });
}

static inline MsgKind ask_fill(Peer *p, uint32_t buffer, uint32_t fill, uint64_t seed, uint64_t bytes)
{
	MsgBuffer m = { .buffer = buffer,
		.fill = fill,
		.code = 2,
		.bits = 32,
		.holes = MSG_TABLE,
		.bytes = bytes,
		.seed = seed,
		.lo = -1,
		.hi = 1 };
	return ask(p, MSG_BUFFER, &m, 1, (const void *[]){ NULL }, (size_t[]){ 0 });
}

static inline MsgKind ask_data(Peer *p, uint32_t buffer, const void *data, size_t bytes)
{
	MsgBuffer m = { .buffer = buffer, .fill = MSG_FILL_DATA, .bytes = bytes, .ndata = bytes };
	return ask(p, MSG_BUFFER, &m, 1, &data, &bytes);
}

/* A program of one call on module 0 with buffers 0, 1, ... the last of which is the output. */
static inline MsgKind ask_call(Peer *p, uint32_t number, uint32_t threads, int kernel, int64_t sym)
{
	const DlcEntry *e = &test_image()->entry[kernel];
	MsgArg arg[3];
	for (uint32_t i = 0; i < e->nbuf; i++)
		arg[i] = (MsgArg){ .buffer = i, .use = i + 1 == e->nbuf ? MSG_USE_OUTPUT : MSG_USE_INPUT, .bytes = BYTES };
	MsgCall call = { 0, (uint32_t)kernel, 0, e->nbuf, 0, e->nsym };
	MsgProgram m = { number, threads, 1, e->nbuf, e->nsym };
	return ask(p, MSG_PROGRAM, &m, 3, (const void *[]){ &call, arg, &sym },
		(size_t[]){ sizeof call, e->nbuf * sizeof *arg, e->nsym * sizeof sym });
}

static inline MsgKind ask_run(Peer *p, uint64_t number)
{
	MsgRun m = { number };
	return ask(p, MSG_RUN, &m, 0, NULL, NULL);
}

static inline MsgKind ask_read(Peer *p, uint64_t buffer, uint64_t offset, uint64_t bytes)
{
	MsgRead m = { buffer, offset, bytes };
	return ask(p, MSG_READ, &m, 0, NULL, NULL);
}

static inline MsgKind ask_time(Peer *p, MsgTime m, const uint32_t *programs)
{
	return ask(p, MSG_TIME, &m, 1, (const void *[]){ programs }, (size_t[]){ m.nprogram * 4 });
}

/* A worker that said hello and holds the test kernels as module 0. */
static inline Peer peer_ready(void)
{
	Peer p = peer_open();
	ck_assert(peer_read(&p));
	ck_assert_int_eq(p.view.kind, MSG_HELLO);
	ck_assert_int_eq(ask_image(&p, 0), MSG_DONE);
	return p;
}

/* Takes the program's path from the command line. False: it has none. */
static inline bool peer_path(int argc, char **argv)
{
	if (argc != 2)
		fprintf(stderr, "usage: %s DLC-WORKER\n", argv[0]);
	worker_path = argc == 2 ? argv[1] : NULL;
	signal(SIGPIPE, SIG_IGN);
	return argc == 2;
}

#endif
