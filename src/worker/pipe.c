/* See pipe.h. */
#include "worker/pipe.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

bool pipe_send(int out, Msg *msg)
{
	bool good = msg_end(msg);
	for (size_t at = 0; good && at < msg->size;) {
		ssize_t n = write(out, msg->bytes + at, msg->size - at);
		good = n > 0 || (n < 0 && errno == EINTR);
		at += n > 0 ? (size_t)n : 0;
	}
	msg_free(msg);
	return good;
}

/* Reads what is there; 1, 0 at the end, -1. */
static int read_more(int in, MsgStream *s)
{
	size_t room;
	unsigned char *to = stream_room(s, &room);
	ssize_t n = -1;
	if (to != NULL)
		do
			n = read(in, to, room);
		while (n < 0 && errno == EINTR);
	stream_add(s, n > 0 ? (size_t)n : 0);
	return n < 0 ? -1 : n > 0;
}

static PipeEnd serve(int in, MsgStream *s, bool (*answer)(const MsgView *m, void *arg), void *arg)
{
	for (;;) {
		MsgView m;
		MsgParse p = stream_next(s, &m);
		if (p == MSG_BAD)
			return PIPE_NONSENSE;
		if (p == MSG_OK && !answer(&m, arg))
			return PIPE_STOPPED;
		if (p == MSG_OK)
			continue;
		int got = read_more(in, s);
		if (got < 0) {
			snprintf(s->why, sizeof s->why, "standard input cannot be read");
			return PIPE_BROKEN;
		}
		if (got == 0 && s->have > s->at) {
			snprintf(s->why, sizeof s->why, "standard input ends inside a message");
			return PIPE_NONSENSE;
		}
		if (got == 0)
			return PIPE_END;
	}
}

PipeEnd pipe_serve(int in, bool (*answer)(const MsgView *m, void *arg), void *arg, char why[MSG_WHY])
{
	MsgStream s = { 0 };
	PipeEnd end = serve(in, &s, answer, arg);
	snprintf(why, MSG_WHY, "%s", s.why);
	stream_free(&s);
	return end;
}
