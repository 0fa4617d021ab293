/*
 * libFuzzer: what a stranger sends to dlc-worker.  If the first byte is odd the rest is a stream;
 * else it is pieces of {kind, length, bytes}, each of which gets a right head.  Every request is
 * served but those that would run the stranger's code (RUN, TIME) or only take time (PROBE, large
 * BUFFERs).
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "worker/worker.h"

static bool is_served(const MsgView *v)
{
	if (v->kind == MSG_BUFFER && ((const MsgBuffer *)v->fixed)->bytes > 1 << 16)
		return false;
	return v->kind != MSG_RUN && v->kind != MSG_TIME && v->kind != MSG_PROBE;
}

/* Frames of the pieces; at most 24 + 8 bytes more for each. */
static size_t frame_pieces(unsigned char *out, const uint8_t *data, size_t n)
{
	size_t at = 0;
	while (n >= 2) {
		size_t part = data[1] < n - 2 ? data[1] : n - 2;
		MsgHead head = { .kind = data[0] % (MSG_KINDS + 1u), .serial = 1 };
		memcpy(head.magic, "DLCM", 4);
		head.bytes = (part + 7) / 8 * 8;
		memcpy(out + at, &head, sizeof head);
		memset(out + at + sizeof head, 0, head.bytes);
		memcpy(out + at + sizeof head, data + 2, part);
		at += sizeof head + head.bytes;
		data += 2 + part;
		n -= 2 + part;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Worker *w;
	if (w == NULL) {
		w = calloc(1, sizeof *w);
		if (worker_open(w, &device_cpu, 0, NULL) != DLC_OK)
			abort();
	}
	if (size == 0)
		return 0;
	unsigned char *bytes = malloc(size * 20 + 64); /* aligned, as a stream's are */
	char why[MSG_WHY];
	size_t at = 0, n = size - 1;
	if (data[0] & 1)
		memcpy(bytes, data + 1, n);
	else
		n = frame_pieces(bytes, data + 1, n);
	for (MsgView v; msg_parse(bytes + at, n - at, &v, why) == MSG_OK; at += v.size) {
		Msg out = { 0 };
		if (is_served(&v) && worker_serve(w, &v, &out) && !msg_end(&out))
			abort();
		msg_free(&out);
	}
	worker_reset(w);
	free(bytes);
	return 0;
}
