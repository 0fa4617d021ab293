/*
 * Frames: writing the messages of message.h as bytes, and finding and checking them in bytes that come piece by piece.
 * Both sides use it; it depends on libc alone. Nothing here reads or writes a descriptor: the parent has libuv, and
 * children have worker/pipe.h.
 */
#ifndef WORKER_FRAME_H
#define WORKER_FRAME_H

#include <stdbool.h>

#include "worker/builder_message.h"
#include "worker/runner_message.h"
#include "worker/timing_message.h"

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
enum { MSG_WHY = 160 };
/* Looks at the first `have` bytes of a stream, 8-byte aligned. BAD: `why` has the sentence. */
MsgParse msg_parse(const void *bytes, size_t have, MsgView *out, char why[MSG_WHY]);

/* The bytes of a stream that have come and are not yet taken: {0} is empty, released by stream_free. */
typedef struct MsgStream {
	unsigned char *bytes;
	size_t at, have, cap; /* taken; come; the room */
	char why[MSG_WHY];
} MsgStream;

/* Room for more bytes, *n of them; it grows with the bytes that have come, not with a size that was announced. */
unsigned char *stream_room(MsgStream *s, size_t *n); /* NULL: no memory */
/* So many bytes were put into the room. */
void stream_add(MsgStream *s, size_t n);
/* The next whole frame, valid until stream_room. SHORT: more bytes are needed. BAD: s->why has the sentence. */
MsgParse stream_next(MsgStream *s, MsgView *out);
void stream_free(MsgStream *s);

const char *msg_name(uint32_t kind);
/* A whole IMAGE; as msg_end. */
bool msg_image(Msg *msg, uint64_t serial, uint32_t module, const DlcImage *image);
/*
 * What an IMAGE that came from another process carries; *out points into it. False if its parts do not fit each other:
 * `why` has the sentence.
 */
bool msg_image_read(const MsgView *v, DlcImage *out, char why[MSG_WHY]);

#endif
