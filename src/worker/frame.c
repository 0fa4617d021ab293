/*
 * See frame.h. A row of ARRAYS says what follows the fixed part of a message: for each array the size of an element and
 * where in the fixed part its 64-bit count stands.
 */
#include "worker/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "DLCM"

typedef struct ArrayRule {
	uint32_t element; /* bytes; 0: no array */
	uint32_t count;   /* offset of its uint64_t in the fixed part */
} ArrayRule;

#define OF(type, field, bytes) { (bytes), offsetof(type, field) }
static const ArrayRule ARRAYS[MSG_KINDS][3] = {
	[MSG_HELLO] = { OF(MsgHello, nfeatures, 1), OF(MsgHello, nprogram, 1) },
	[MSG_IMAGE] = { OF(MsgImage, nentry, sizeof(DlcEntry)), OF(MsgImage, nimage, 1) },
	[MSG_BUNDLE] = { OF(MsgBundle, nfile, 1), OF(MsgBundle, npath, 1) },
	[MSG_BUFFER] = { OF(MsgBuffer, ndata, 1) },
	[MSG_PROGRAM] = { OF(MsgProgram, ncall, sizeof(MsgCall)),
		OF(MsgProgram, narg, sizeof(MsgArg)), OF(MsgProgram, nsym, sizeof(int64_t)) },
	[MSG_TIME] = { OF(MsgTime, nprogram, sizeof(uint32_t)) },
	[MSG_REFUSED] = { OF(MsgRefused, ntext, 1) },
	[MSG_PRUNED] = { OF(MsgRefused, ntext, 1) },
	[MSG_DATA] = { OF(MsgData, ndata, 1) },
	[MSG_TIMES] = { OF(MsgTimes, nsample, sizeof(MsgSample)) },
	[MSG_PROFILED] = { OF(MsgProfiled, nvalue, sizeof(uint64_t)) },
	[MSG_BUILD] = { OF(MsgBuild, ntext, 1) },
	[MSG_BUILT] = { OF(MsgBuilt, nbytes, 1) },
};

static const struct Kind {
	const char *name;
	size_t fixed;
} KIND[MSG_KINDS] = {
	[MSG_NONE] = { "NONE", 0 },
#define MSG(name, sender, type, meaning) [MSG_##name] = { #name, sizeof(type) },
#include "worker/message.def"
#undef MSG
};

/* Every fixed part is a multiple of 8, so that the array behind it is aligned. */
#define MSG(name, sender, type, meaning) _Static_assert(sizeof(type) % 8 == 0, #name);
#include "worker/message.def"
#undef MSG

static uint64_t padded(uint64_t bytes)
{
	return (bytes + 7) & ~(uint64_t)7;
}

const char *msg_name(uint32_t kind)
{
	return kind < MSG_KINDS ? KIND[kind].name : "unknown";
}

/* Adds bytes and zeros up to a multiple of 8. */
static void put(Msg *msg, const void *bytes, size_t n)
{
	size_t end = msg->size + n;
	if (msg->full || end < n || padded(end) < end) {
		msg->full = true;
		return;
	}
	end = padded(end);
	if (end > msg->cap) {
		size_t cap = msg->cap * 2 > end ? msg->cap * 2 : end + 256;
		unsigned char *more = realloc(msg->bytes, cap);
		if (more == NULL) {
			msg->full = true;
			return;
		}
		msg->bytes = more;
		msg->cap = cap;
	}
	if (n > 0)
		memcpy(msg->bytes + msg->size, bytes, n);
	memset(msg->bytes + msg->size + n, 0, end - msg->size - n);
	msg->size = end;
}

void msg_begin(Msg *msg, MsgKind kind, uint64_t serial, const void *fixed)
{
	MsgHead head = { .kind = (uint32_t)kind, .serial = serial };
	memcpy(head.magic, MAGIC, sizeof head.magic);
	msg->start = msg->size;
	put(msg, &head, sizeof head);
	put(msg, fixed, KIND[kind].fixed);
}

void msg_add(Msg *msg, const void *array, size_t bytes)
{
	put(msg, array, bytes);
}

bool msg_end(Msg *msg)
{
	if (msg->full)
		return false;
	MsgHead *head = (MsgHead *)(msg->bytes + msg->start);
	head->bytes = msg->size - msg->start - sizeof *head;
	MsgView view;
	char why[MSG_WHY];
	return msg_parse(head, msg->size - msg->start, &view, why) == MSG_OK;
}

void msg_free(Msg *msg)
{
	free(msg->bytes);
	*msg = (Msg){ 0 };
}

/* Sets the arrays of a whole frame; false if they are not exactly what its counts say. */
static bool find_arrays(MsgView *v, uint64_t bytes)
{
	const unsigned char *fixed = v->fixed;
	uint64_t at = KIND[v->kind].fixed;
	for (int i = 0; i < 3; i++) {
		const ArrayRule *r = &ARRAYS[v->kind][i];
		uint64_t count;
		if (r->element == 0)
			break;
		memcpy(&count, fixed + r->count, sizeof count);
		if (count > (bytes - at) / r->element || padded(count * r->element) > bytes - at)
			return false;
		v->array[i] = fixed + at;
		at += padded(count * r->element);
	}
	return at == bytes;
}

MsgParse msg_parse(const void *bytes, size_t have, MsgView *out, char why[MSG_WHY])
{
	const MsgHead *head = bytes;
	if (have < sizeof *head)
		return MSG_SHORT;
	*out = (MsgView){ .kind = MSG_NONE, .serial = head->serial };
	if (memcmp(head->magic, MAGIC, sizeof head->magic) != 0) {
		snprintf(why, MSG_WHY, "the stream does not carry dlc's messages");
		return MSG_BAD;
	}
	if (head->kind == MSG_NONE || head->kind >= MSG_KINDS) {
		snprintf(why, MSG_WHY, "a message of kind %u, which this version does not know",
			head->kind);
		return MSG_BAD;
	}
	out->kind = (MsgKind)head->kind;
	if (head->bytes > MSG_MAX || head->bytes > SIZE_MAX / 2 ||
		head->bytes < KIND[out->kind].fixed) {
		snprintf(why, MSG_WHY, "a message %s of %llu bytes", msg_name(head->kind),
			(unsigned long long)head->bytes);
		return MSG_BAD;
	}
	out->size = sizeof *head + (size_t)head->bytes;
	if (have < out->size)
		return MSG_SHORT;
	out->fixed = head + 1;
	if (!find_arrays(out, head->bytes)) {
		snprintf(why, MSG_WHY, "a message %s whose parts do not add up to its %llu bytes",
			msg_name(head->kind), (unsigned long long)head->bytes);
		return MSG_BAD;
	}
	return MSG_OK;
}

bool msg_image(Msg *msg, uint64_t serial, uint32_t module, const DlcImage *image)
{
	MsgImage m = { module, (uint32_t)image->device, image->nentry, image->size };
	msg_begin(msg, MSG_IMAGE, serial, &m);
	msg_add(msg, image->entry, sizeof *image->entry * image->nentry);
	msg_add(msg, image->bytes, image->size);
	return msg_end(msg);
}

bool msg_image_read(const MsgView *v, DlcImage *out, char why[MSG_WHY])
{
	const MsgImage *m = v->fixed;
	const DlcEntry *entry = v->array[0];
	const char *what = NULL;
	uint64_t number = 0;
	if (v->kind != MSG_IMAGE) {
		what = "an image was expected, not a message of kind";
		number = v->kind;
	} else if (m->nimage == 0 || m->nentry > UINT16_MAX) {
		what = "an image without code, or with too many kernels:";
		number = m->nentry;
	} else if (m->device != DLC_DEVICE_CPU && ((const char *)v->array[1])[m->nimage - 1] != 0) {
		what = "the image does not end with a 0, for device type";
		number = m->device;
	}
	for (uint64_t i = 0; what == NULL && i < m->nentry; i++) {
		number = i;
		if (entry[i].offset >= m->nimage)
			what = "the code lies outside the image, of kernel";
		else if (memchr(entry[i].name, 0, sizeof entry[i].name) == NULL)
			what = "the name has no end, of kernel";
	}
	if (what != NULL) {
		snprintf(why, MSG_WHY, "%s %llu", what, (unsigned long long)number);
		return false;
	}
	*out = (DlcImage){ v->array[1], m->nimage, entry, (uint32_t)m->nentry, (int32_t)m->device };
	return true;
}

unsigned char *stream_room(MsgStream *s, size_t *n)
{
	enum { LEAST = 64 << 10 };
	if (s->at > 0) /* frames are multiples of 8 bytes: what is left stays aligned */
		memmove(s->bytes, s->bytes + s->at, s->have - s->at);
	s->have -= s->at;
	s->at = 0;
	if (s->cap - s->have < LEAST) {
		size_t cap = s->cap * 2 + LEAST;
		unsigned char *more = realloc(s->bytes, cap); /* aligned to 8 at least */
		if (more == NULL)
			return NULL;
		s->bytes = more;
		s->cap = cap;
	}
	*n = s->cap - s->have;
	return s->bytes + s->have;
}

void stream_add(MsgStream *s, size_t n)
{
	s->have += n;
}

MsgParse stream_next(MsgStream *s, MsgView *out)
{
	if (s->have == s->at)
		return MSG_SHORT;
	MsgParse p = msg_parse(s->bytes + s->at, s->have - s->at, out, s->why);
	if (p == MSG_OK)
		s->at += out->size;
	return p;
}

void stream_free(MsgStream *s)
{
	free(s->bytes);
	*s = (MsgStream){ 0 };
}
