/*
 * Two runners on one device. This program, started with --runner=I, serves messages as dlc-worker does and notes on a
 * board, a file that all runners map, what it does when: candidates that are run, samples that are taken, and work that
 * goes on beside another runner's samples. argv: dlc.
 */
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/measure.h"
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNNERS = 4, CANDIDATES = 8, MORE = 100, STEP_MS = 5, STEPS = 10, SAMPLES_MS = 30, MEET_MS = 5000 };

typedef struct Board {
	atomic_int own_processors; /* what runners say of their device */
	atomic_int cores, narrow;  /* what runners say of the host; probes with other numbers of threads */
	atomic_int fails;          /* bits of the runners that end at their start */
	atomic_int together;       /* so many checks go on at once: each waits until all have begun */
	atomic_int steps[RUNNERS]; /* of a check */
	atomic_int samples_ms;
	atomic_int checking, runs[RUNNERS]; /* candidates that are being checked, that were */
	atomic_int starts[RUNNERS];
	atomic_int sampling, twice; /* runners that take samples; how often two did */
	atomic_int beside;          /* steps of a check beside another runner's samples */
	atomic_int crash;           /* bits of the runners that the next run ends */
} Board;

static Board *board;
static char *self, *dlc;

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

/* ---- the runner ---- */

static bool next_message(MsgStream *in, MsgView *v)
{
	while (stream_next(in, v) != MSG_OK) {
		size_t room;
		unsigned char *to = stream_room(in, &room);
		ssize_t n = to != NULL ? read(STDIN_FILENO, to, room) : 0;
		if (n <= 0)
			return false;
		stream_add(in, (size_t)n);
	}
	return true;
}

static int send_message(Msg *out)
{
	if (!msg_end(out) || write(STDOUT_FILENO, out->bytes, out->size) != (ssize_t)out->size)
		return 5;
	msg_free(out);
	return 0;
}

static void check(int runner)
{
	board->runs[runner]++;
	if (++board->checking == board->together)
		board->together = 0;
	for (int k = 0; k < MEET_MS && board->together > 0; k++)
		sleep_ms(1);
	for (int k = 0; k < board->steps[runner]; k++, sleep_ms(STEP_MS))
		board->beside += board->sampling > 0;
	board->checking--;
	if ((atomic_fetch_and(&board->crash, ~(1 << runner)) >> runner & 1) != 0)
		abort();
}

/* A check takes a while, as where a driver builds the code; so do samples. */
static bool serve(Worker *w, int runner, const MsgView *v, Msg *out)
{
	if (v->kind == MSG_RUN)
		check(runner);
	if (v->kind == MSG_PROBE)
		board->narrow += ((const MsgProbe *)v->fixed)->threads != (uint64_t)board->cores;
	if (v->kind != MSG_TIME)
		return worker_serve(w, v, out);
	board->twice += board->sampling++ > 0;
	bool ok = worker_serve(w, v, out);
	sleep_ms(board->samples_ms);
	board->sampling--;
	return ok;
}

static int be_runner(int runner)
{
	Worker *w = calloc(1, sizeof *w);
	MsgStream in = { 0 };
	MsgView v;
	Msg out = { 0 };
	DlcError err;
	board->starts[runner]++;
	if ((board->fails >> runner & 1) != 0)
		return 5;
	w->lock = -1;
	if (worker_open(w, &device_cpu, 0, &err) != DLC_OK)
		return 5;
	MsgHello hello = { .version = MSG_VERSION, .cores = (uint32_t)board->cores, .on_cpu = board->own_processors == 0 };
	msg_begin(&out, MSG_HELLO, 0, &hello);
	int code = send_message(&out);
	while (code == 0 && next_message(&in, &v)) {
		out = (Msg){ 0 };
		if (!serve(w, runner, &v, &out))
			return 1;
		code = send_message(&out);
	}
	worker_close(w);
	free(w);
	stream_free(&in);
	return code;
}

/* ---- the tests ---- */

static const char workload[] = "dag t\nin x: f32[4,32]\ny: f32[4,32] = relu(x)\nout y\n";
static const char right[] = "fn k(v0: in f32[4, 32], v1: out f32[4, 32]) {\n\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n"
	"\t\t\tv1[i, j] = max(v0[i, j], 0.0)\n\t\t}\n\t}\n}\n";
static const char wrong[] = "fn k(v0: in f32[4, 32], v1: out f32[4, 32]) {\n\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n"
	"\t\t\tv1[i, j] = max(v0[i, j], 0.25)\n\t\t}\n\t}\n}\n";

typedef struct Lab {
	Arena *arena;
	Measure *m;
	MeasureRef *ref;
	int lost; /* devices, as notes say */
} Lab;

static void reset(void)
{
	memset(board, 0, sizeof *board);
	board->cores = 1;
	board->samples_ms = SAMPLES_MS;
	for (int i = 0; i < RUNNERS; i++)
		board->steps[i] = STEPS;
}

static void note(const char *sentence, void *arg)
{
	Lab *lab = arg;
	lab->lost += strstr(sentence, " is lost (") != NULL;
}

/* Two runners on each of `devices`. */
static void open_lab(Lab *lab, int devices, int run_ms, bool device)
{
	Err err = { 0 };
	MeasureRunner runner[RUNNERS];
	*lab = (Lab){ .arena = arena_new() };
	char **builder = arena_array(lab->arena, char *, 3);
	builder[0] = dlc, builder[1] = arena_printf(lab->arena, "builder");
	for (int i = 0; i < 2 * devices; i++) {
		char **argv = arena_array(lab->arena, char *, 3);
		argv[0] = self, argv[1] = arena_printf(lab->arena, "--runner=%d", i);
		runner[i] = (MeasureRunner){ .argv = argv, .name = i < 2 ? "dev:0" : "dev:1", .second = i % 2 > 0 };
	}
	MeasureOptions o = { .builder = builder, .runner = runner, .runners = 2 * devices, .builders = 2, .threads = 1 };
	o.build_ms = 20000;
	o.run_ms = run_ms;
	o.device = device;
	o.tolerance = 1e-4;
	o.note = note;
	o.note_arg = lab;
	Dag *d = dag_parse(lab->arena, "t", workload, strlen(workload), &err);
	Task *task = d != NULL ? task_new(lab->arena, d, &err) : NULL;
	lab->m = task != NULL ? measure_open(&o, &err) : NULL;
	lab->ref = lab->m != NULL ? measure_reference(lab->m, task, 1, &err) : NULL;
	ck_assert_msg(lab->ref != NULL, "%s: %s", err.place, err.text);
	memset(board->runs, 0, sizeof board->runs);
}

static void close_lab(Lab *lab)
{
	measure_close(lab->m);
	arena_free(lab->arena);
	ck_assert_msg(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child is left");
}

static KernelSet *set_of(Lab *lab, const char *text)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(lab->arena), "k", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	return ks;
}

static void submit(Lab *lab, const char *text)
{
	Err err = { 0 };
	MeasureJob job = { .ks = set_of(lab, text), .ref = lab->ref, .trace = "", .user = (void *)(uintptr_t)text };
	ck_assert_msg(measure_submit(lab->m, &job, &err), "%s", err.text);
}

static RunStatus take(Lab *lab)
{
	MeasureResult r;
	for (int tries = 0; !measure_wait(lab->m, 100, &r); tries++)
		ck_assert_msg(tries < 300, "no result after 30 s");
	ck_assert_msg(r.status != RUN_OK || (r.user == right && r.samples > 0 && r.median_ns > 0), "%s", r.detail);
	ck_assert_msg(r.status != RUN_WRONG_RESULT || r.user == wrong, "%s", r.detail);
	return r.status;
}

/* Until all checks that go on together have begun. */
static void meet(Lab *lab)
{
	MeasureResult r;
	for (int k = 0; k < MEET_MS && board->together > 0; k++)
		ck_assert(!measure_wait(lab->m, 1, &r));
	ck_assert_int_eq(board->together, 0);
}

/* Both get candidates, whose results are as if there were one; samples and checks do not disturb samples. */
START_TEST(both_runners_work)
{
	Lab lab;
	board->cores = 1 + _i;
	open_lab(&lab, 1, 20000, _i == 1);
	int good = 0, bad = 0;
	board->together = 2;
	for (int k = 0; k < 2; k++)
		submit(&lab, right);
	meet(&lab);
	for (int k = 0; k < MEET_MS && board->checking > 0; k++)
		sleep_ms(1);
	sleep_ms(50); /* both have answered: their samples could begin at once */
	for (int k = 2; k < CANDIDATES; k++)
		submit(&lab, k % 4 == 3 ? wrong : right);
	MeasureJob one = { .ks = set_of(&lab, right), .ref = lab.ref }, racer[2] = { one, one };
	MeasureResult out[2];
	Err err = { 0 };
	ck_assert_msg(measure_race(lab.m, racer, 2, out, &err), "%s", err.text);
	for (int k = 0; k < CANDIDATES; k++) {
		RunStatus s = take(&lab);
		good += s == RUN_OK;
		bad += s == RUN_WRONG_RESULT;
	}
	ck_assert(out[0].status == RUN_OK && out[1].status == RUN_OK && out[0].median_ns > 0 && out[1].median_ns > 0);
	ck_assert_msg(good == CANDIDATES * 3 / 4 && bad == CANDIDATES / 4, "%d right, %d wrong", good, bad);
	ck_assert_msg(board->runs[0] > 1 && board->runs[1] > 1, "%d and %d candidates", board->runs[0], board->runs[1]);
	ck_assert(board->twice == 0 && board->narrow == 0);
	ck_assert_int_le(board->beside, 2); /* a signal may take a moment */
	close_lab(&lab);
}
END_TEST

START_TEST(a_device_with_its_own_processors_has_one)
{
	Lab lab;
	board->own_processors = 1;
	open_lab(&lab, 1, 20000, false);
	for (int k = 0; k < 6; k++)
		submit(&lab, right);
	for (int k = 0; k < 6; k++)
		ck_assert_int_eq(take(&lab), RUN_OK);
	ck_assert(board->runs[0] == 6 && board->starts[1] == 0);
	close_lab(&lab);
}
END_TEST

/* A runner that stands still for samples of others is not late: these alone take longer than it may. */
START_TEST(time_stands_still_with_a_runner)
{
	Lab lab;
	open_lab(&lab, 2, 1500, false);
	board->together = 4;
	board->samples_ms = 600;
	for (int i = 0; i < RUNNERS; i++)
		board->steps[i] = i < RUNNERS - 1 ? i : 6 * STEPS;
	for (int k = 0; k < 4; k++)
		submit(&lab, right);
	meet(&lab);
	for (int k = 0; k < 4; k++)
		ck_assert_int_eq(take(&lab), RUN_OK);
	ck_assert_int_eq(board->twice, 0);
	close_lab(&lab);
}
END_TEST

/* A runner that ends with a candidate costs that one alone. All can be cancelled while a runner stands still. */
START_TEST(one_of_them_crashes)
{
	Lab lab;
	open_lab(&lab, 1, 20000, _i == 1);
	int crashed = 0;
	board->crash = 1 << _i;
	for (int k = 0; k < 6; k++)
		submit(&lab, right);
	for (int k = 0; k < 6; k++)
		crashed += take(&lab) == RUN_CRASH;
	ck_assert_int_eq(crashed, 1);
	for (int k = 0; k < 6; k++)
		submit(&lab, right);
	for (int k = 0; k < 500 && board->sampling == 0; k++) {
		MeasureResult r;
		measure_wait(lab.m, 1, &r);
	}
	measure_cancel(lab.m);
	board->sampling = 0;
	submit(&lab, right);
	ck_assert_int_eq(take(&lab), RUN_OK);
	ck_assert_int_eq(measure_pending(lab.m), 0);
	close_lab(&lab);
}
END_TEST

/* A second runner that cannot be started is no lost device. */
START_TEST(the_second_does_not_start)
{
	Lab lab;
	board->fails = 1 << 1 | 1 << 3;
	open_lab(&lab, 2, 20000, true);
	for (int k = 0; k < CANDIDATES; k++)
		submit(&lab, right);
	for (int k = 0; k < CANDIDATES; k++)
		ck_assert_int_eq(take(&lab), RUN_OK);
	for (int k = 0; k < MORE && board->starts[1] < 3; k++) { /* a busy machine takes as long to start as for several */
		submit(&lab, right);
		ck_assert_int_eq(take(&lab), RUN_OK);
	}
	ck_assert_int_eq(lab.lost, 0);
	ck_assert(board->starts[1] == 3 && board->runs[0] > 0 && board->runs[2] > 0);
	close_lab(&lab);
}
END_TEST

/* A lost device takes its second runner with it; the other device takes all candidates. */
START_TEST(a_device_is_lost)
{
	Lab lab;
	open_lab(&lab, 2, 20000, true);
	for (int k = 0; k < 4; k++)
		submit(&lab, right);
	for (int k = 0; k < 4; k++)
		ck_assert_int_eq(take(&lab), RUN_OK);
	board->fails = 1 << 0 | 1 << 1;
	board->crash = board->fails;
	int failed = 0;
	for (int round = 0; round < 20 && lab.lost == 0; round++) {
		for (int k = 0; k < 4; k++)
			submit(&lab, right);
		for (int k = 0; k < 4; k++)
			failed += take(&lab) != RUN_OK;
	}
	ck_assert_msg(lab.lost == 1 && failed > 0 && failed <= 2, "%d lost, %d failed", lab.lost, failed);
	int before = board->starts[0] + board->starts[1];
	for (int k = 0; k < 4; k++)
		submit(&lab, right);
	for (int k = 0; k < 4; k++)
		ck_assert_int_eq(take(&lab), RUN_OK);
	ck_assert_int_eq(board->starts[0] + board->starts[1], before);
	close_lab(&lab);
}
END_TEST

int main(int argc, char **argv)
{
	char path[] = "/tmp/dlc-board-XXXXXX";
	const char *given = getenv("DLC_TEST_BOARD");
	int fd = given != NULL ? open(given, O_RDWR | O_CLOEXEC) : mkstemp(path);
	if (fd < 0 || (given == NULL && ftruncate(fd, sizeof *board) != 0))
		return 2;
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (board == MAP_FAILED || argc != 2)
		return 2;
	if (strncmp(argv[1], "--runner=", 9) == 0)
		return be_runner(atoi(argv[1] + 9));
	setenv("DLC_TEST_BOARD", path, 1);
	self = argv[0];
	dlc = argv[1];
	TCase *tc = tcase_create("measure_second");
	tcase_add_checked_fixture(tc, reset, NULL);
	tcase_add_loop_test(tc, both_runners_work, 0, 2);
	tcase_add_test(tc, a_device_with_its_own_processors_has_one);
	tcase_add_test(tc, time_stands_still_with_a_runner);
	tcase_add_loop_test(tc, one_of_them_crashes, 0, 2);
	tcase_add_test(tc, the_second_does_not_start);
	tcase_add_test(tc, a_device_is_lost);
	int code = run_suite("measure_second", tc);
	unlink(path);
	return code;
}
