/*
 * Messages: frames alone, the first message of a worker, requests that it refuses, and streams that make no sense.
 * argv[1] is dlc-worker.
 */
#include "peer.h"

#include "runtime/timing.h"

START_TEST(frames)
{
	Msg msg = { 0 };
	MsgTime t = { .nprogram = 3, .samples = 5 };
	const uint32_t programs[] = { 1, 2, 3 };
	MsgRun r = { 77 };
	msg_begin(&msg, MSG_TIME, 11, &t);
	msg_add(&msg, programs, sizeof programs);
	ck_assert(msg_end(&msg));
	size_t first = msg.size;
	msg_begin(&msg, MSG_RUN, 12, &r);
	ck_assert(msg_end(&msg));
	MsgView v;
	char why[MSG_WHY];
	for (size_t n = 0; n < first; n++)
		ck_assert_int_eq(msg_parse(msg.bytes, n, &v, why), MSG_SHORT);
	ck_assert_int_eq(msg_parse(msg.bytes, msg.size, &v, why), MSG_OK);
	ck_assert_uint_eq(v.size, first);
	ck_assert_int_eq(v.kind, MSG_TIME);
	ck_assert_uint_eq(v.serial, 11);
	ck_assert_uint_eq(((const MsgTime *)v.fixed)->samples, 5);
	ck_assert_mem_eq(v.array[0], programs, sizeof programs);
	ck_assert_int_eq(msg_parse(msg.bytes + first, msg.size - first, &v, why), MSG_OK);
	ck_assert_uint_eq(((const MsgRun *)v.fixed)->program, 77);
	/* A count that the arrays do not bear out. */
	msg_begin(&msg, MSG_TIME, 13, &t);
	msg_add(&msg, programs, 4);
	ck_assert(!msg_end(&msg));
	msg_free(&msg);
}
END_TEST

/* Whatever pieces the bytes come in, the same frames come out. */
START_TEST(streams)
{
	enum { FRAMES = 40 };
	Msg msg = { 0 };
	uint32_t programs[MSG_PROGRAMS] = { 0 };
	for (uint32_t k = 0; k < FRAMES; k++) {
		MsgTime t = { .nprogram = k % MSG_PROGRAMS };
		msg_begin(&msg, MSG_TIME, k, &t);
		msg_add(&msg, programs, t.nprogram * sizeof *programs);
		ck_assert(msg_end(&msg));
	}
	for (size_t piece = 1; piece < msg.size * 2; piece = piece * 3 + 1) {
		MsgStream s = { 0 };
		MsgView v;
		MsgParse p;
		uint64_t seen = 0;
		for (size_t at = 0, n, room; at < msg.size; at += n) {
			unsigned char *to = stream_room(&s, &room);
			ck_assert(to != NULL && room > 0);
			n = msg.size - at < piece ? msg.size - at : piece;
			n = n < room ? n : room;
			memcpy(to, msg.bytes + at, n);
			stream_add(&s, n);
			while ((p = stream_next(&s, &v)) == MSG_OK)
				ck_assert(v.serial == seen++ && (uintptr_t)v.fixed % 8 == 0);
			ck_assert_int_eq(p, MSG_SHORT);
		}
		ck_assert_uint_eq(seen, FRAMES);
		stream_free(&s);
	}
	msg_free(&msg);
}
END_TEST

START_TEST(hello)
{
	Peer p = peer_open();
	ck_assert(peer_read(&p));
	const MsgHello *h = p.view.fixed;
	ck_assert_int_eq(p.view.kind, MSG_HELLO);
	ck_assert_uint_eq(h->version, MSG_VERSION);
	ck_assert_uint_ge(h->cores, 1);
	ck_assert_uint_gt(h->memory_bytes, 1 << 20);
	char here[4096];
	dlc_cpu_features(here, sizeof here);
	ck_assert_uint_eq(h->nfeatures, strlen(here));
	ck_assert_mem_eq(p.view.array[0], here, strlen(here));
	ck_assert_int_eq(peer_close(&p), 0);
}
END_TEST

/* What can be wrong in a well-formed request; afterwards the worker is as it was. */
START_TEST(refusals)
{
	Peer p = peer_ready();
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(ask_fill(&p, i, MSG_FILL_ZERO, 0, BYTES), MSG_DONE);
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_add, N), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 0), MSG_DONE);
	const DlcImage *code = test_image();
	DlcEntry entry = code->entry[0];
	MsgImage image = { .module = 3, .device = DLC_DEVICE_CUDA, .nentry = 1, .nimage = code->size };
#define IMAGE() \
	ask(&p, MSG_IMAGE, &image, 2, (const void *[]){ &entry, code->bytes }, \
		(size_t[]){ sizeof entry, (size_t)image.nimage })
	ck_assert_int_eq(IMAGE(), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "device type 2"));
	image.device = DLC_DEVICE_CPU;
	ck_assert_int_eq(IMAGE(), MSG_DONE);
	entry.offset = code->size;
	ck_assert_int_eq(IMAGE(), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "outside the image, of kernel 0"));
	entry.offset = 0;
	memset(entry.name, 'x', sizeof entry.name);
	ck_assert_int_eq(IMAGE(), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "the name has no end, of kernel 0"));
	image.nimage = 0;
	ck_assert_int_eq(IMAGE(), MSG_REFUSED);
	MsgCall call = { .module = 0, .entry = KERNEL_nop };
	MsgArg arg[3] = { { 0, 0, 0, BYTES }, { 1, 0, 0, BYTES }, { 2, 1, 0, BYTES } };
	int64_t sym = N;
#define PROGRAM(n, threads, c, a, s) \
	ask(&p, MSG_PROGRAM, &(MsgProgram){ n, threads, c, a, s }, 3, \
		(const void *[]){ &call, arg, &sym }, \
		(size_t[]){ (c) * sizeof call, (a) * sizeof *arg, (s) * sizeof sym })
	ck_assert_int_eq(PROGRAM(MSG_TABLE, 1, 1, 0, 0), MSG_REFUSED);
	ck_assert_int_eq(PROGRAM(1, 0, 1, 0, 0), MSG_REFUSED);
	ck_assert_int_eq(PROGRAM(1, 1000000, 1, 0, 0), MSG_REFUSED);
	call.narg = 2;
	ck_assert_int_eq(PROGRAM(1, 1, 1, 1, 0), MSG_REFUSED);
	call.narg = 1;
	ck_assert_int_eq(PROGRAM(1, 1, 1, 1, 0), MSG_DONE); /* nop takes none: seen when it runs */
	ck_assert_int_eq(ask_run(&p, 1), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "kernel nop wants 0 buffers"));
	call = (MsgCall){ 0, KERNEL_add, 0, 3, 0, 1 };
	arg[1].bytes = BYTES + 1;
	ck_assert_int_eq(PROGRAM(1, 1, 1, 3, 1), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 1), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "lies outside of buffer 1"));
	arg[1] = (MsgArg){ 1, 0, UINT64_MAX, 2 };
	ck_assert_int_eq(PROGRAM(1, 1, 1, 3, 1), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 1), MSG_REFUSED);
	arg[1] = (MsgArg){ 77, 0, 0, 2 };
	ck_assert_int_eq(PROGRAM(1, 1, 1, 3, 1), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 1), MSG_REFUSED);
	call.module = 9;
	ck_assert_int_eq(PROGRAM(1, 1, 1, 3, 1), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 1), MSG_REFUSED);
	ck_assert_int_eq(ask_run(&p, 1 << 20), MSG_REFUSED);
	ck_assert_int_eq(ask_read(&p, 0, BYTES, 1), MSG_REFUSED);
	ck_assert_int_eq(ask_read(&p, 0, UINT64_MAX, 2), MSG_REFUSED);
	ck_assert_int_eq(ask_read(&p, 50, 0, 1), MSG_REFUSED);
	ck_assert_int_eq(ask_fill(&p, 0, MSG_FILL_ZERO, 0, (uint64_t)1 << 60), MSG_REFUSED);
	ck_assert_int_eq(ask_fill(&p, 0, 99, 0, 64), MSG_REFUSED);
	ck_assert_int_eq(ask_fill(&p, MSG_TABLE, MSG_FILL_ZERO, 0, 64), MSG_REFUSED);
	MsgCompare c = { .got = 0, .want = 1, .at = MSG_TABLE, .code = 2, .bits = 32, .count = N + 1 };
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &c, 0, NULL, NULL), MSG_REFUSED);
	c = (MsgCompare){ .got = 0, .want = 1, .at = 55, .code = 2, .bits = 32, .count = 1 };
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &c, 0, NULL, NULL), MSG_REFUSED);
	const uint64_t outside[] = { 0, N };
	ck_assert_int_eq(ask_data(&p, 12, outside, sizeof outside), MSG_DONE);
	c = (MsgCompare){ .got = 0, .want = 1, .at = 12, .code = 2, .bits = 32, .count = 2 };
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &c, 0, NULL, NULL), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "outside of buffer 0"));
	c = (MsgCompare){ .got = 0, .want = 1, .at = MSG_TABLE, .code = 9, .bits = 32, .count = 1 };
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &c, 0, NULL, NULL), MSG_REFUSED);
	MsgTime t = { .nprogram = 1, .samples = UINT32_MAX, .repeat = 1 };
	ck_assert_int_eq(ask_time(&p, t, (uint32_t[]){ 0 }), MSG_REFUSED);
	t = (MsgTime){ .nprogram = 1, .samples = 1, .repeat = 0 };
	ck_assert_int_eq(ask_time(&p, t, (uint32_t[]){ 0 }), MSG_REFUSED);
	ck_assert_int_eq(ask_run(&p, 0), MSG_DONE);
	ck_assert_int_eq(peer_close(&p), 0);
}
END_TEST

/* Streams that are no messages: a sentence, exit code 1, never a crash. */
START_TEST(nonsense)
{
	unsigned seed = (unsigned)timing_wall_ns();
	printf("nonsense: seed %u\n", seed);
	srand(seed);
	for (int round = 0; round < 30; round++) {
		Peer p = peer_open();
		Msg msg = { 0 };
		MsgBuffer m = { .fill = MSG_FILL_ZERO, .bytes = 64 };
		msg_begin(&msg, round == 0 ? MSG_DONE : MSG_BUFFER, 1, &m);
		ck_assert(round == 0 || msg_end(&msg));
		if (round == 0)
			((MsgHead *)msg.bytes)->bytes = sizeof(MsgDone);
		else if (round == 1)
			((MsgHead *)msg.bytes)->bytes = UINT64_MAX;
		else if (round == 2)
			((MsgHead *)msg.bytes)->bytes = MSG_MAX; /* announced, never sent */
		else if (round == 3)
			msg.size -= 8;
		else
			for (size_t i = 0; i < 4; i++)
				msg.bytes[(size_t)rand() % sizeof(MsgHead)] ^=
					(unsigned char)(1 + rand() % 255);
		peer_write(&p, msg.bytes, msg.size);
		close(p.to);
		p.to = -1;
		while (peer_read(&p))
			;
		int end = peer_close(&p);
		ck_assert_msg(end == 1 || (round > 3 && end == 0), "round %d: %d", round, end);
		msg_free(&msg);
	}
}
END_TEST

int main(int argc, char **argv)
{
	if (!peer_path(argc, argv))
		return 2;
	TCase *tc = tcase_create("messages");
	tcase_add_test(tc, frames);
	tcase_add_test(tc, streams);
	tcase_add_test(tc, hello);
	tcase_add_test(tc, refusals);
	tcase_add_test(tc, nonsense);
	return run_suite("messages", tc);
}
