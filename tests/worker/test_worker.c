/*
 * dlc-worker as a tuner sees it: a child on two pipes.  Frames alone first, then every request,
 * every refusal, kernels that fail, write too far or crash, and streams that make no sense.
 * argv[1] is the program.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#include "build.h"
#include "dlc/dlc_runtime.h"
#include "kernels.h"
#include "runtime/element.h"
#include "runtime/timing.h"
#include "worker/worker.h"

enum { N = 1000, BYTES = N * 4 };

static const char *program;

/* The child, and the answer read last. */
typedef struct Peer {
	pid_t pid;
	int to, from;
	FILE *complaints; /* its standard error */
	uint64_t serial;
	unsigned char *bytes;
	size_t have, cap;
	MsgView view;
} Peer;

static Peer peer_open(void)
{
	int in[2], out[2];
	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	Peer p = { .to = in[1], .from = out[0], .complaints = tmpfile() };
	ck_assert_ptr_nonnull(p.complaints);
	p.pid = fork();
	if (p.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(fileno(p.complaints), 2);
		close(in[1]);
		close(out[0]);
		execl(program, program, "--stdio", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	return p;
}

/* Reads one frame; false at the end of the stream. */
static bool peer_read(Peer *p)
{
	size_t need = sizeof(MsgHead);
	char why[160] = "";
	if (p->view.size > 0) {
		memmove(p->bytes, p->bytes + p->view.size, p->have - p->view.size);
		p->have -= p->view.size;
		p->view.size = 0;
	}
	for (;;) {
		MsgParse got = MSG_SHORT;
		if (p->have > 0)
			got = msg_parse(p->bytes, p->have, &p->view, &need, why, sizeof why);
		ck_assert_msg(got != MSG_BAD, "%s", why);
		if (got == MSG_OK)
			return true;
		if (need > p->cap) {
			p->cap = need * 2;
			p->bytes = realloc(p->bytes, p->cap);
		}
		ssize_t n = read(p->from, p->bytes + p->have, p->cap - p->have);
		if (n <= 0) {
			p->view.size = 0;
			return false;
		}
		p->have += (size_t)n;
	}
}

static void peer_write(Peer *p, const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t done = write(p->to, (const char *)bytes + at, n - at);
		if (done <= 0)
			return; /* it has ended; the test will see */
		at += (size_t)done;
	}
}

static void peer_send(Peer *p, Msg *msg)
{
	ck_assert(msg_end(msg));
	peer_write(p, msg->bytes, msg->size);
	msg_free(msg);
}

/* Waits for its end: the exit code, or minus the signal.  Exit code 1 comes with one sentence. */
static int peer_close(Peer *p)
{
	char line[300] = "", more[300];
	int status;
	if (p->to >= 0)
		close(p->to);
	ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
	close(p->from);
	free(p->bytes);
	rewind(p->complaints);
	bool said = fgets(line, sizeof line, p->complaints) != NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
		ck_assert_int_eq(said, WEXITSTATUS(status));
		ck_assert_ptr_null(fgets(more, sizeof more, p->complaints));
	}
	fclose(p->complaints);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A request of at most three arrays; the answer must carry its serial. */
static MsgKind ask(Peer *p, MsgKind kind, const void *fixed, int n, const void *const *array,
	const size_t *bytes)
{
	Msg msg = { 0 };
	msg_begin(&msg, kind, ++p->serial, fixed);
	for (int i = 0; i < n; i++)
		msg_add(&msg, array[i], bytes[i]);
	peer_send(p, &msg);
	if (!peer_read(p))
		return MSG_NONE;
	ck_assert_uint_eq(p->view.serial, p->serial);
	return p->view.kind;
}

static const char *refusal(const Peer *p)
{
	static char text[600];
	const MsgRefused *r = p->view.fixed;
	ck_assert_int_eq(p->view.kind, MSG_REFUSED);
	snprintf(text, sizeof text, "%.*s", (int)r->ntext, (const char *)p->view.array[0]);
	return text;
}

static MsgKind ask_image(Peer *p, uint32_t module)
{
	const DlcImage *i = test_image();
	MsgImage m = { .module = module, .nentry = i->nentry, .nimage = i->size };
	return ask(p, MSG_IMAGE, &m, 2, (const void *[]){ i->entry, i->bytes },
		(size_t[]){ i->nentry * sizeof *i->entry, i->size });
}

static MsgKind ask_fill(Peer *p, uint32_t buffer, uint32_t fill, uint64_t seed, uint64_t bytes)
{
	MsgBuffer m = { .buffer = buffer,
		.fill = fill,
		.code = 2,
		.bits = 32,
		.holes = MSG_TABLE,
		.bytes = bytes,
		.seed = seed,
		.lo = -1,
		.hi = 1 };
	return ask(p, MSG_BUFFER, &m, 1, (const void *[]){ NULL }, (size_t[]){ 0 });
}

static MsgKind ask_data(Peer *p, uint32_t buffer, const void *data, size_t bytes)
{
	MsgBuffer m = { .buffer = buffer, .fill = MSG_FILL_DATA, .bytes = bytes, .ndata = bytes };
	return ask(p, MSG_BUFFER, &m, 1, &data, &bytes);
}

/* A program of one call on module 0 with buffers 0, 1, ... the last of which is the output. */
static MsgKind ask_call(Peer *p, uint32_t number, uint32_t threads, int kernel, int64_t sym)
{
	const DlcEntry *e = &test_image()->entry[kernel];
	MsgArg arg[3];
	for (uint32_t i = 0; i < e->nbuf; i++)
		arg[i] = (MsgArg){ .buffer = i, .use = i + 1 == e->nbuf ? MSG_USE_OUTPUT : MSG_USE_INPUT, .bytes = BYTES };
	MsgCall call = { 0, (uint32_t)kernel, 0, e->nbuf, 0, e->nsym };
	MsgProgram m = { number, threads, 1, e->nbuf, e->nsym };
	return ask(p, MSG_PROGRAM, &m, 3, (const void *[]){ &call, arg, &sym },
		(size_t[]){ sizeof call, e->nbuf * sizeof *arg, e->nsym * sizeof sym });
}

static MsgKind ask_run(Peer *p, uint64_t number)
{
	MsgRun m = { number };
	return ask(p, MSG_RUN, &m, 0, NULL, NULL);
}

static MsgKind ask_read(Peer *p, uint64_t buffer, uint64_t offset, uint64_t bytes)
{
	MsgRead m = { buffer, offset, bytes };
	return ask(p, MSG_READ, &m, 0, NULL, NULL);
}

static MsgKind ask_time(Peer *p, MsgTime m, const uint32_t *programs)
{
	return ask(p, MSG_TIME, &m, 1, (const void *[]){ programs }, (size_t[]){ m.nprogram * 4 });
}

/* A worker that said hello and holds the test kernels as module 0. */
static Peer peer_ready(void)
{
	Peer p = peer_open();
	ck_assert(peer_read(&p));
	ck_assert_int_eq(p.view.kind, MSG_HELLO);
	ck_assert_int_eq(ask_image(&p, 0), MSG_DONE);
	return p;
}

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
	size_t need;
	char why[160];
	for (size_t n = 0; n < first; n++) {
		ck_assert_int_eq(msg_parse(msg.bytes, n, &v, &need, why, sizeof why), MSG_SHORT);
		ck_assert_uint_eq(need, n < sizeof(MsgHead) ? sizeof(MsgHead) : first);
	}
	ck_assert_int_eq(msg_parse(msg.bytes, msg.size, &v, &need, why, sizeof why), MSG_OK);
	ck_assert_uint_eq(v.size, first);
	ck_assert_int_eq(v.kind, MSG_TIME);
	ck_assert_uint_eq(v.serial, 11);
	ck_assert_uint_eq(((const MsgTime *)v.fixed)->samples, 5);
	ck_assert_mem_eq(v.array[0], programs, sizeof programs);
	ck_assert_int_eq(
		msg_parse(msg.bytes + first, msg.size - first, &v, &need, why, sizeof why), MSG_OK);
	ck_assert_uint_eq(((const MsgRun *)v.fixed)->program, 77);
	/* A count that the arrays do not bear out. */
	msg_begin(&msg, MSG_TIME, 13, &t);
	msg_add(&msg, programs, 4);
	ck_assert(!msg_end(&msg));
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
	MsgProbe probe = { 1 };
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
	for (int tries = 0; tries < 20 && lost == n; tries++) /* a busy machine */
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
		bool locked = worker_lock(lock, 1000000000u);
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

/* What can be wrong in a well-formed request; afterwards the worker is as it was. */
START_TEST(refusals)
{
	Peer p = peer_ready();
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(ask_fill(&p, i, MSG_FILL_ZERO, 0, BYTES), MSG_DONE);
	ck_assert_int_eq(ask_call(&p, 0, 1, KERNEL_add, N), MSG_DONE);
	ck_assert_int_eq(ask_run(&p, 0), MSG_DONE);
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
	if (argc != 2) {
		fprintf(stderr, "usage: %s DLC-WORKER\n", argv[0]);
		return 2;
	}
	program = argv[1];
	signal(SIGPIPE, SIG_IGN);
	TCase *tc = tcase_create("worker");
	tcase_add_test(tc, frames);
	tcase_add_test(tc, hello);
	tcase_add_loop_test(tc, runs, 0, 3);
	tcase_add_test(tc, times);
	tcase_add_test(tc, a_small_sample_is_no_look);
	tcase_add_test(tc, who_sleeps_has_lost_nothing);
#if defined(__linux__)
	tcase_add_loop_test(tc, who_loses_the_cpu_says_so, 0, 2);
#endif
	tcase_add_test(tc, one_takes_samples);
	tcase_add_test(tc, bundles);
	tcase_add_test(tc, refusals);
	tcase_add_test(tc, bad_kernels);
	tcase_add_test(tc, nonsense);
	return run_suite("worker", tc);
}
