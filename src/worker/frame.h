/*
 * Frames: writing and checking the messages of message.h as bytes.  Both sides use it; it depends
 * on libc alone.  Nothing here reads or writes a descriptor: the parent has libuv, the worker
 * read().
 */
#ifndef WORKER_FRAME_H
#define WORKER_FRAME_H

#include <stdbool.h>

#include "worker/message.h"

typedef struct MsgHead {
	char magic[4]; /* "DLCM" */
	uint32_t kind;
	uint64_t serial, bytes;
} MsgHead;

/* A frame being written: caller-owned, {0} is empty, released by msg_free. */
typedef struct Msg {
	unsigned char *bytes;
	size_t size, cap;
	size_t start; /* of the frame begun last */
	bool full;    /* out of memory: nothing of it is to be sent */
} Msg;

/* Starts a frame after what msg holds: its fixed part, of the size the kind says. */
void msg_begin(Msg *msg, MsgKind kind, uint64_t serial, const void *fixed);
/* Adds the frame's next array; the caller set its count in the fixed part. */
void msg_add(Msg *msg, const void *array, size_t bytes);
/* Sets the frame's size; false if memory ran out or the frame is not what msg_parse accepts. */
bool msg_end(Msg *msg);
void msg_free(Msg *msg);

/* A checked frame, read in place. */
typedef struct MsgView {
	MsgKind kind;
	uint64_t serial;
	size_t size;          /* of the whole frame */
	const void *fixed;    /* the struct of its kind */
	const void *array[3]; /* what follows it, in order; NULL where the kind has fewer */
} MsgView;

typedef enum { MSG_OK, MSG_SHORT, MSG_BAD } MsgParse;
/*
 * Looks at the first `have` bytes of a stream, 8-byte aligned.  OK: a whole frame.  SHORT: *need
 * bytes are wanted before it is worth calling again.  BAD: `why` has the sentence.
 */
MsgParse msg_parse(
	const void *bytes, size_t have, MsgView *out, size_t *need, char *why, size_t nwhy);
const char *msg_name(uint32_t kind);

#endif
