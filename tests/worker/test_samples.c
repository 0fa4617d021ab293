/*
 * Samples of dlc-worker: how many are taken, which of them lost their CPU, and that one process at a time takes some.
 * argv[1] is dlc-worker.
 */
#include <sched.h>

#include "peer.h"

#include "runtime/timing.h"
#include "worker/lock.h"

/* Times two programs; what each took, in the order taken. */
static void samples_of(Peer *p, MsgTime m, const uint32_t *programs, double time[2][14], int n[2])
{
	ck_assert_int_eq(ask_time(p, m, programs), MSG_TIMES);
	const MsgSample *s = p->view.array[0];
	uint64_t all = ((const MsgTimes *)p->view.fixed)->nsample;
	n[0] = n[1] = 0;
	for (uint64_t i = 0; i < all; i++) {
		int k = s[i].program == programs[0] ? 0 : 1;
		ck_assert_uint_eq(s[i].program, programs[k]);
		if (i < 2)
			ck_assert_int_eq(k, (int)i); /* in turn */
		time[k][n[k]++] = (double)s[i].ns;
	}
}

START_TEST(times)
{
	Peer p = peer_ready();
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_spin, 1000), MSG_DONE);
	ck_assert_int_eq(ask_call(&p, 1, 1, KERNEL_spin, 100000), MSG_DONE);
	const uint32_t programs[] = { 1, 0 };
	MsgTime m = { .nprogram = 2, .samples = 7, .warmup = 2, .repeat = 3, .cold_bytes = 1 << 20 };
	double time[2][2 * 7]; /* of the slow one, of the quick one; those that lost the CPU are retaken */
	int n[2];
	samples_of(&p, m, programs, time, n);
	ck_assert_int_ge(n[0], 7);
	ck_assert_int_ge(n[1], 7);
	double slow = timing_summary(time[0], n[0]).median, quick = timing_summary(time[1], n[1]).median;
	ck_assert_msg(slow / quick > 20 && slow / quick < 500, "a hundred times the work takes %g times as long",
		slow / quick);
	m.slow_ns = (uint64_t)quick * 10;
	samples_of(&p, m, programs, time, n);
	ck_assert_int_eq(n[0], 1);
	ck_assert_int_ge(n[1], 7);
	m.slow_ns = 0;
	m.good_ns = (uint64_t)quick * 10;
	m.few = 2;
	samples_of(&p, m, programs, time, n);
	ck_assert_msg(n[0] >= 2 && n[0] < n[1], "%d and %d samples", n[0], n[1]);
	ck_assert_int_ge(n[1], 7);
	m.budget_ns = 1;
	samples_of(&p, m, programs, time, n);
	ck_assert(n[0] == 1 && n[1] == 1);
	m.cold_bytes = (uint64_t)1 << 40; /* larger than any cache: lines go to memory */
	samples_of(&p, m, programs, time, n);
	ck_assert(n[0] == 1 && n[1] == 1);
	MsgProbe probe = { .threads = 1, .program = MSG_TABLE };
	ck_assert_int_eq(ask(&p, MSG_PROBE, &probe, 0, NULL, NULL), MSG_PROBED);
	ck_assert_double_gt(((const MsgProbed *)p.view.fixed)->gflops, 0.1);
	ck_assert_int_eq(peer_close(&p), 0);
}
END_TEST

/* However slow, a program of 10 us is sampled until its samples fill the look, or to the end. */
START_TEST(a_small_sample_is_no_look)
{
	Peer p = peer_ready();
	double time[2][14];
	int n[2];
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_spin, 10000), MSG_DONE);
	ck_assert_int_eq(ask_call(&p, 1, 1, KERNEL_spin, 1000000), MSG_DONE);
	MsgTime m = { .nprogram = 2, .samples = 7, .repeat = 1, .few = 3, .look_ns = 200000 };
	m.slow_ns = m.good_ns = 1;
	samples_of(&p, m, (uint32_t[]){ 1, 0 }, time, n);
	ck_assert_int_le(n[0], 2); /* the second where it lost its CPU in the first */
	ck_assert_int_ge(n[1], 7);
	ck_assert_int_eq(peer_close(&p), 0);
}
END_TEST

/* Samples of the test's program 0, `all` at most, that lost a CPU; *n of them were taken. */
static int lost_of(Peer *p, uint32_t all, int *n)
{
	MsgTime m = { .nprogram = 1, .samples = all, .repeat = 1 };
	ck_assert_int_eq(ask_time(p, m, (uint32_t[]){ 0 }), MSG_TIMES);
	const MsgSample *s = p->view.array[0];
	int lost = 0;
	*n = (int)((const MsgTimes *)p->view.fixed)->nsample;
	for (int i = 0; i < *n; i++)
		lost += s[i].lost;
	return lost;
}

/* A thread with nothing to do sleeps until the other ends, a millisecond later: it did not lose its CPU. */
START_TEST(who_sleeps_has_lost_nothing)
{
	Peer p = peer_ready();
	int lost = 1, n = 1;
	ck_assert_int_eq(ask_call(&p, 0, 2, KERNEL_alone, 2000000), MSG_DONE);
	for (int tries = 0; tries < 500 && lost == n; tries++) /* 10 s of a busy machine */
		lost = lost_of(&p, 10, &n);
	ck_assert_msg(lost < n, "%d of %d samples lost their CPUs", lost, n);
	ck_assert_int_eq(peer_close(&p), 0);
}
END_TEST

#if defined(__linux__)
/* The sample and a process that never ends share one CPU. */
START_TEST(who_loses_the_cpu_says_so)
{
	cpu_set_t all, one;
	ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
	pid_t hog = fork();
	for (volatile int i = 0; hog == 0; i = !i)
		;
	Peer p = peer_ready();
	int lost = 0, n;
	ck_assert_int_eq(ask_call(&p, 0, (uint32_t)_i + 1, KERNEL_alone, 50000000), MSG_DONE);
	for (int tries = 0; tries < 20 && lost == 0; tries++)
		lost = lost_of(&p, 3, &n);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	ck_assert_int_gt(lost, 0);
	ck_assert_int_eq(peer_close(&p), 0);
	ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
END_TEST
#endif

/* Milliseconds that three samples of next to nothing take. */
static double samples_take(Peer *p)
{
	MsgTime m = { .nprogram = 1, .samples = 3, .repeat = 1 };
	uint64_t start = timing_wall_ns();
	ck_assert_int_eq(ask_time(p, m, (uint32_t[]){ 0 }), MSG_TIMES);
	ck_assert_uint_ge(((const MsgTimes *)p->view.fixed)->nsample, 3);
	return (double)(timing_wall_ns() - start) / 1e6;
}

/* Samples wait while another process takes its own; not for ever, and not for one that was killed. */
START_TEST(one_takes_samples)
{
	char dir[] = "/tmp/dlc-test-XXXXXX", file[64];
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	Peer p = peer_ready();
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_spin, 10), MSG_DONE);
	ck_assert_double_lt(samples_take(&p), 900);
	ck_assert_uint_lt(((const MsgTimes *)p.view.fixed)->waited_ns, 900000000u);
	int ready[2];
	ck_assert_int_eq(pipe(ready), 0);
	pid_t holder = fork();
	if (holder == 0) {
		int lock = worker_lock_open(dir, "cpu");
		bool locked = worker_lock(lock, 1000);
		if (write(ready[1], &locked, 1) == 1)
			pause();
		_exit(0);
	}
	bool locked = false;
	ck_assert(read(ready[0], &locked, 1) == 1 && locked);
	double waited = samples_take(&p);
	ck_assert_msg(waited > 900 && waited < 10000, "%g ms beside a holder that does not let go", waited);
	double said = (double)((const MsgTimes *)p.view.fixed)->waited_ns / 1e6;
	ck_assert_msg(said > 900 && said <= waited, "waited %g of %g ms", said, waited);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	ck_assert_double_lt(samples_take(&p), 900);
	ck_assert_int_eq(peer_close(&p), 0);
	snprintf(file, sizeof file, "%s/dlc-cpu.lock", dir);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

int main(int argc, char **argv)
{
	if (!peer_path(argc, argv))
		return 2;
	TCase *tc = tcase_create("samples");
	tcase_add_test(tc, times);
	tcase_add_test(tc, a_small_sample_is_no_look);
	tcase_add_test(tc, who_sleeps_has_lost_nothing);
#if defined(__linux__)
	tcase_add_loop_test(tc, who_loses_the_cpu_says_so, 0, 2);
#endif
	tcase_add_test(tc, one_takes_samples);
	return run_suite("samples", tc);
}
