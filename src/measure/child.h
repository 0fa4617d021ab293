/*
 * A child process that speaks frames (worker/frame.h) on its standard input and output, under libuv. One thread owns
 * it, with one loop. The owner embeds a Child in a struct of its own. A child that sends bytes that are no frame is
 * killed; the owner hears of every end exactly once.
 */
#ifndef MEASURE_CHILD_H
#define MEASURE_CHILD_H

#include "base/err.h"
#include "worker/frame.h"

#include <uv.h>

typedef struct Child Child;

typedef struct ChildEnd {
	int64_t status; /* exit code */
	int signal;     /* 0: it exited */
	bool late;      /* child_deadline passed and it was killed */
	bool silent;    /* late, and it never sent a frame: the program does not start as it should */
	bool spoke;     /* it has sent a frame */
	bool nonsense;  /* it sent bytes that are no frame and was killed */
	char text[200]; /* a sentence: what became of it */
} ChildEnd;

typedef struct ChildHooks {
	void (*frame)(Child *c, const MsgView *m);
	void (*end)(Child *c, const ChildEnd *e); /* after this the child may be opened again */
} ChildHooks;

typedef struct ChildIo ChildIo;
struct Child {
	uv_loop_t *loop;
	const ChildHooks *hooks;
	void *owner;
	ChildIo *io; /* handles and buffers of the living process; NULL: none */
};

/*
 * Starts argv[0] with argv; NULL-terminated. What it writes to its standard error is not shown:
 * the last line becomes part of ChildEnd.text. It ends together with the calling
 * thread, however that ends.
 */
bool child_open(Child *c, uv_loop_t *loop, const ChildHooks *hooks, void *owner, char *const *argv, Err *err);
/* Sends what msg holds; takes its bytes and leaves it empty. */
void child_send(Child *c, Msg *msg);
/*
 * Kills it unless cleared (ms < 0) within ms, of which only those count in which the loop runs. Before its first
 * frame it has METHOD_START_MS at most.
 */
void child_deadline(Child *c, int ms);
/*
 * Stops the child where it is, or lets it go on. Its deadline stands still, too. A child is not stopped before its
 * first frame, for which it has a deadline.
 */
void child_pause(Child *c, bool pause);
/* Ends it now; hooks are not called any more, memory is released as the loop runs. */
void child_close(Child *c);
/* Ends it now, when its loop will never run again. */
void child_abandon(Child *c);

#endif
