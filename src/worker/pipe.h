/*
 * A child's side of a pipe: requests come on one descriptor, answers go to another. Every wait blocks, since a child
 * watches no clock: its parent does.
 */
#ifndef WORKER_PIPE_H
#define WORKER_PIPE_H

#include "worker/frame.h"

/* Ends the frame in msg, writes what msg holds and frees it; false: the other side is gone, or there is no memory. */
bool pipe_send(int out, Msg *msg);

typedef enum { PIPE_END, PIPE_STOPPED, PIPE_NONSENSE, PIPE_BROKEN } PipeEnd;
/*
 * Reads frames from `in` and calls `answer` for each until `in` ends (PIPE_END), answer returns false (PIPE_STOPPED),
 * the bytes make no sense (PIPE_NONSENSE) or cannot be read (PIPE_BROKEN). The last two have a sentence in `why`.
 */
PipeEnd pipe_serve(int in, bool (*answer)(const MsgView *m, void *arg), void *arg, char why[MSG_WHY]);

#endif
