/*
 * What dlc-worker runs: calls, comparisons, bundles, and kernels that fail, write too far or crash. argv[1] is
 * dlc-worker.
 */
#include "peer.h"

#include "runtime/element.h"

START_TEST(runs)
{
	float a[N], want[N];
	uint32_t threads = (uint32_t)_i + 1;
	Peer p = peer_ready();
	ck_assert_int_eq(ask_fill(&p, 0, MSG_FILL_RANDOM, 42, BYTES), MSG_DONE);
	ck_assert_int_eq(ask_fill(&p, 1, MSG_FILL_ZERO, 0, BYTES), MSG_DONE);
	element_fill((DlcDataType){ 2, 32, 1 }, a, N, 42, -1, 1);
	ck_assert_int_eq(ask_read(&p, 0, 0, BYTES), MSG_DATA);
	ck_assert_mem_eq(p.view.array[0], a, BYTES);
	ck_assert_int_eq(ask_call(&p, 5, threads, KERNEL_twice, N), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 5), MSG_DONE);
	for (int i = 0; i < N; i++)
		want[i] = a[i] + a[i];
	ck_assert_int_eq(ask_read(&p, 1, 64, BYTES - 64), MSG_DATA);
	ck_assert_mem_eq(p.view.array[0], want + 16, BYTES - 64);
	want[123] += 0.5f;
	ck_assert_int_eq(ask_data(&p, 9, want, BYTES), MSG_DONE);
	MsgCompare m = { .got = 1, .want = 9, .at = MSG_TABLE, .code = 2, .bits = 32, .count = N };
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &m, 0, NULL, NULL), MSG_COMPARED);
	const MsgCompared *c = p.view.fixed;
	ck_assert_uint_eq(c->worst, 123);
	ck_assert_double_eq_tol(c->max_error, 0.5, 1e-6);
	ck_assert_uint_eq(c->nbad, 0);
	/* Half the elements stay poison: they must show. */
	ck_assert_int_eq(ask_call(&p, 5, threads, KERNEL_twice, N / 2), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 5), MSG_DONE);
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &m, 0, NULL, NULL), MSG_COMPARED);
	c = p.view.fixed;
	ck_assert_uint_eq(c->nbad, N / 2);
	ck_assert_uint_eq(c->nleft, N / 2);
	ck_assert_uint_eq(c->worst, N / 2);
	/* Listed elements: the first of the good half against a bad one, and itself. */
	const uint64_t at[] = { 3, N - 1 };
	const float few[] = { want[3], want[N - 1] };
	ck_assert_int_eq(ask_data(&p, 10, at, sizeof at), MSG_DONE);
	ck_assert_int_eq(ask_data(&p, 11, few, sizeof few), MSG_DONE);
	m = (MsgCompare){ .got = 1, .want = 11, .at = 10, .code = 2, .bits = 32, .count = 2 };
	ck_assert_int_eq(ask(&p, MSG_COMPARE, &m, 0, NULL, NULL), MSG_COMPARED);
	c = p.view.fixed;
	ck_assert(c->nbad == 1 && c->nleft == 1 && c->worst == 1 && c->max_error == 0);
	MsgReset reset = { 0 };
	ck_assert_int_eq(ask(&p, MSG_RESET, &reset, 0, NULL, NULL), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 5), MSG_REFUSED);
	ck_assert_int_eq(peer_close(&p), 0);
}
END_TEST

START_TEST(bundles)
{
	Build *b = build_add(100);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	Peer p = peer_ready();
	MsgBundle m = { .program = 3, .threads = 2, .seed = 5, .nfile = size };
	ck_assert_int_eq(ask(&p, MSG_BUNDLE, &m, 1, (const void *[]){ bytes }, &size), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 3), MSG_DONE);
	MsgTime t = { .nprogram = 1, .samples = 10, .repeat = 1 };
	ck_assert_int_eq(ask_time(&p, t, (uint32_t[]){ 3 }), MSG_TIMES);
	ck_assert_uint_ge(((const MsgTimes *)p.view.fixed)->nsample, 10);
	bytes[200] ^= 1;
	ck_assert_int_eq(ask(&p, MSG_BUNDLE, &m, 1, (const void *[]){ bytes }, &size), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "checksum"));
	ck_assert_int_eq(ask_run(&p, 3), MSG_DONE); /* the old one stands */
	ck_assert_int_eq(peer_close(&p), 0);
	free(bytes);
	free(b);
}
END_TEST

/* Writes the constants of a bundle, without the last `less` bytes, to a file; its path. */
static const char *constants_file(const unsigned char *bundle, uint64_t less)
{
	static char path[64];
	const BundleHeader *h = (const void *)bundle;
	snprintf(path, sizeof path, "/tmp/dlc-constants-XXXXXX");
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bundle + h->const_offset, h->const_bytes - less), h->const_bytes - less);
	close(fd);
	return path;
}

static MsgKind ask_parts(Peer *p, const unsigned char *bundle, uint64_t nfile, const char *path, uint64_t constants)
{
	size_t bytes[] = { nfile, strlen(path) };
	MsgBundle m = { .program = 3, .threads = 1, .seed = 5, .nfile = nfile, .npath = bytes[1], .nconstant = constants };
	return ask(p, MSG_BUNDLE, &m, 2, (const void *[]){ bundle, path }, bytes);
}

START_TEST(constants_of_a_file)
{
	Build *b = build_add(100);
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	const BundleHeader *h = (const void *)bytes;
	Peer p = peer_ready();
	char longest[300];
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = 0;
	const char *path = constants_file(bytes, 0);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, path, h->const_bytes), MSG_DONE);
	unlink(path); /* it is mapped */
	ck_assert_int_eq(ask_run(&p, 3), MSG_DONE);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, path, h->const_bytes), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "No such file"));
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, "/tmp", h->const_bytes), MSG_REFUSED);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, longest, h->const_bytes), MSG_REFUSED);
	path = constants_file(bytes, 1);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, path, h->const_bytes), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "fewer than"));
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, path, h->const_bytes - 1), MSG_REFUSED);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset - 8, path, 8), MSG_REFUSED);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, path, 0), MSG_REFUSED);
	ck_assert_int_eq(ask_parts(&p, bytes, h->const_offset, path, UINT64_MAX), MSG_REFUSED);
	ck_assert_int_eq(ask_run(&p, 3), MSG_DONE); /* the first one stands */
	unlink(path);
	ck_assert_int_eq(peer_close(&p), 0);
	free(bytes);
	free(b);
}
END_TEST

START_TEST(bad_kernels)
{
	Peer p = peer_ready();
	ck_assert_int_eq(ask_call(&p, 0, 2, KERNEL_refuse, 7), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 0), MSG_REFUSED);
	ck_assert_str_eq(refusal(&p), "kernel refuse returned status 7");
	for (uint32_t i = 0; i < 2; i++)
		ck_assert_int_eq(ask_fill(&p, i, MSG_FILL_ZERO, 0, BYTES), MSG_DONE);
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_twice, N + 1), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 0), MSG_REFUSED);
	ck_assert_ptr_nonnull(strstr(refusal(&p), "behind the end of buffer 1"));
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_crash, 0), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 0), MSG_NONE);
	int end = peer_close(&p);
	ck_assert_msg(end < 0 || end == 1, "a crash ends it: %d", end);
}
END_TEST

int main(int argc, char **argv)
{
	if (!peer_path(argc, argv))
		return 2;
	TCase *tc = tcase_create("worker");
	tcase_add_loop_test(tc, runs, 0, 3);
	tcase_add_test(tc, bundles);
	tcase_add_test(tc, constants_of_a_file);
	tcase_add_test(tc, bad_kernels);
	return run_suite("worker", tc);
}
