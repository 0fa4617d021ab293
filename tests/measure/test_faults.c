/*
 * Faults inside of real children: this program, started with --runner or --builder, serves messages
 * as dlc-worker and `dlc builder` do, until it meets a kernel whose name asks for a fault.  Each
 * fault must become the status of its candidate and nothing else: the next candidate is measured,
 * no child and no descriptor is left.  Some dozen of them; a thousand with DLC_TEST_ALL=1.
 */
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "measure/builder_child.h"
#include "measure/measure.h"
#include "worker/worker.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 60, PART = 100, PARTS = 10 /* with DLC_TEST_ALL */, RUN_MS = 1000, BUILD_MS = 3000 };

/* ---- the children ---- */

typedef enum { AT_RUN, AT_BUILD, AT_START } Where;

static volatile int *nowhere;

#if defined(__SANITIZE_ADDRESS__)
enum { LIMITED = 0 }; /* its shadow counts as data */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "handle_segv=0:handle_sigill=0:handle_abort=0:allocator_may_return_null=1";
}
#else
enum { LIMITED = 1 };
#endif

__attribute__((no_sanitize("undefined"))) static void fault_segv(const Msg *out)
{
	(void)out;
	*nowhere = 1;
}

static void fault_ill(const Msg *out)
{
	(void)out;
	__builtin_trap();
}

static void fault_loop(const Msg *out)
{
	(void)out;
	static volatile int for_ever = 1;
	while (for_ever)
		;
}

/* Asks for more than its limit allows, and says so by its end, as a failed assertion does. */
static void fault_memory(const Msg *out)
{
	(void)out;
	setrlimit(RLIMIT_DATA, &(struct rlimit){ 16 << 20, 16 << 20 });
	for (;;) {
		char *p = malloc(4 << 20);
		if (p == NULL)
			abort();
		memset(p, 1, 4 << 20);
	}
}

static void fault_half(const Msg *out)
{
	_exit(write(STDOUT_FILENO, out->bytes, out->size / 2) < 0);
}

static void fault_nonsense(const Msg *out)
{
	char bytes[200];
	memset(bytes, 'x', sizeof bytes);
	(void)out;
	if (write(STDOUT_FILENO, bytes, sizeof bytes) > 0)
		pause();
}

static void fault_exit(const Msg *out)
{
	(void)out;
	_exit(0);
}

static void fault_mute(const Msg *out)
{
	(void)out;
	close(STDOUT_FILENO);
	pause();
}

/* An answer to BUILD: n images of 8 bytes, without the last `cut` bytes. `out` has the serial. The builder goes on. */
static void send_built(const Msg *out, const DlcEntry *entry, int n, size_t cut)
{
	Msg images = { 0 }, msg = { 0 };
	for (int k = 0; k < n; k++)
		if (!msg_image(&images, 0, 0, &(DlcImage){ (const unsigned char *)"12345678", 8, entry, 1, DLC_DEVICE_CPU }))
			_exit(5);
	msg_begin(&msg, MSG_BUILT, ((const MsgHead *)out->bytes)->serial, &(MsgBuilt){ .nbytes = images.size - cut });
	msg_add(&msg, images.bytes, images.size - cut);
	msg_free(&images);
	if (!msg_end(&msg) || write(STDOUT_FILENO, msg.bytes, msg.size) != (ssize_t)msg.size)
		_exit(5);
	msg_free(&msg);
}

/* The kernel's name has no end. */
static void fault_damaged(const Msg *out)
{
	DlcEntry entry = { .offset = 0 };
	memset(entry.name, 'x', sizeof entry.name);
	send_built(out, &entry, 1, 0);
}

static void fault_cut(const Msg *out)
{
	send_built(out, &(DlcEntry){ .name = "k" }, 2, 8);
}

static void fault_many(const Msg *out)
{
	send_built(out, &(DlcEntry){ .name = "k" }, MSG_IMAGES + 1, 0);
}

static void fault_empty(const Msg *out)
{
	send_built(out, NULL, 0, 0);
}

static const struct {
	const char *kernel; /* its name asks for the fault */
	Where where;
	void (*fault)(const Msg *out); /* `out` is the answer that is due */
	int one_in; /* those that wait for a deadline are rarer */
	RunStatus status;
} faults[] = {
	{ "run_segv", AT_RUN, fault_segv, 1, RUN_CRASH },
	{ "run_ill", AT_RUN, fault_ill, 1, RUN_CRASH },
	{ "run_loop", AT_RUN, fault_loop, 8, RUN_RUN_TIMEOUT },
	{ "run_memory", AT_RUN, fault_memory, 1, RUN_CRASH },
	{ "run_half", AT_RUN, fault_half, 1, RUN_CRASH },
	{ "run_nonsense", AT_RUN, fault_nonsense, 1, RUN_CRASH },
	{ "run_exit", AT_RUN, fault_exit, 1, RUN_CRASH },
	{ "run_mute", AT_RUN, fault_mute, 1, RUN_CRASH },
	{ "run_much", AT_START, NULL, 1, RUN_OOM }, /* a work buffer beyond the worker's limit: see work_of */
	{ "run_too_much", AT_START, NULL, 1, RUN_OOM }, /* beyond any memory */
	{ "build_segv", AT_BUILD, fault_segv, 2, RUN_COMPILE_ERROR },
	{ "build_ill", AT_BUILD, fault_ill, 2, RUN_COMPILE_ERROR },
	{ "build_loop", AT_BUILD, fault_loop, 8, RUN_COMPILE_TIMEOUT },
	{ "build_memory", AT_BUILD, fault_memory, 2, RUN_COMPILE_ERROR },
	{ "build_half", AT_BUILD, fault_half, 2, RUN_COMPILE_ERROR },
	{ "build_damaged", AT_BUILD, fault_damaged, 2, RUN_COMPILE_ERROR },
	{ "build_cut", AT_BUILD, fault_cut, 2, RUN_COMPILE_ERROR },
	{ "build_many", AT_BUILD, fault_many, 2, RUN_COMPILE_ERROR },
	{ "build_empty", AT_BUILD, fault_empty, 2, RUN_COMPILE_ERROR },
	{ "build_exit", AT_BUILD, fault_exit, 2, RUN_COMPILE_ERROR },
};

static int fault_of(const char *text, size_t n, Where where)
{
	for (int i = 0; i < LEN(faults); i++)
		if (faults[i].where == where && memmem(text, n, faults[i].kernel, strlen(faults[i].kernel)) != NULL)
			return i;
	return -1;
}

/* The next whole message of standard input; false: it has ended. */
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

/* As dlc-worker, but for images with a kernel that asks for a fault: that is met when it is run. */
static int be_runner(void)
{
	Worker *w = calloc(1, sizeof *w);
	MsgStream in = { 0 };
	MsgView v;
	Msg hello = { 0 };
	int code, asked = -1;
	DlcError err;
	w->lock = -1;
	if (worker_open(w, &device_cpu, 0, &err) != DLC_OK)
		return 5;
	if (LIMITED)
		setrlimit(RLIMIT_DATA, &(struct rlimit){ 512 << 20, 512 << 20 });
	worker_hello(w, &hello);
	for (code = send_message(&hello); code == 0 && next_message(&in, &v);) {
		Msg out = { 0 };
		if (v.kind == MSG_IMAGE) {
			const MsgImage *m = v.fixed;
			asked = fault_of(v.array[0], (size_t)m->nentry * sizeof(DlcEntry), AT_RUN);
		}
		if (!worker_serve(w, &v, &out))
			return 1;
		if (v.kind == MSG_RUN && asked >= 0 && msg_end(&out))
			faults[asked].fault(&out);
		code = send_message(&out);
	}
	worker_close(w);
	free(w);
	stream_free(&in);
	return code;
}

/* As `dlc builder`: one BUILD after the other goes through the real builder. */
static int be_builder(void)
{
	MsgStream in = { 0 };
	MsgView v;
	Target t;
	target_host(&t, 1);
	while (next_message(&in, &v)) {
		int pipes[2];
		Msg dummy = { 0 };
		int asked = fault_of(v.array[0], (size_t)((const MsgBuild *)v.fixed)->ntext, AT_BUILD);
		msg_begin(&dummy, MSG_RUN, v.serial, &(MsgRun){ 0 });
		if (asked >= 0 && msg_end(&dummy)) {
			faults[asked].fault(&dummy);
			msg_free(&dummy);
			continue;
		}
		const void *frame = (const MsgHead *)v.fixed - 1; /* short enough for a pipe */
		if (pipe(pipes) != 0 || write(pipes[1], frame, v.size) != (ssize_t)v.size)
			return 5;
		close(pipes[1]);
		if (measure_builder(pipes[0], STDOUT_FILENO, &t) != 0)
			return 1;
		close(pipes[0]);
		msg_free(&dummy);
	}
	stream_free(&in);
	return 0;
}

/* As a `dlc builder` of another version: it says so and answers nothing that this version understands. */
static int be_old_builder(void)
{
	Msg hello = { 0 };
	msg_begin(&hello, MSG_HELLO, 0, &(MsgHello){ .version = MSG_VERSION - 1 });
	int code = send_message(&hello);
	char bytes[256];
	while (code == 0 && read(STDIN_FILENO, bytes, sizeof bytes) > 0)
		;
	return code;
}

/* ---- the test ---- */

static char *self;

static int open_descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static MeasureResult measure_kernel(Measure *m, MeasureRef *ref, const char *kernel, const char *work)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *text = arena_printf(a,
		"fn %s(v0: in f32[4, 32], v1: out f32[4, 32]%s) {\n\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n"
		"\t\t\tv1[i, j] = max(v0[i, j], 0.0)\n\t\t}\n\t}\n}\n", kernel, work);
	KernelSet *ks = ir_parse_set(ir_new(a), "k", text, strlen(text), &err);
	ck_assert_msg(ks != NULL && ir_verify_set(ks, &err), "%s: %s", err.place, err.text);
	MeasureJob job = { .ks = ks, .ref = ref, .trace = "" };
	ck_assert_msg(measure_submit(m, &job, &err), "%s", err.text);
	MeasureResult r;
	for (int i = 0; !measure_wait(m, 100, &r); i++)
		ck_assert_msg(i < 200, "%s: no result after 20 s", kernel);
	arena_free(a);
	return r;
}

static const char *work_of(int fault)
{
	if (strcmp(faults[fault].kernel, "run_much") == 0 && LIMITED)
		return ", t: work f32[1000000000]";
	return faults[fault].fault == NULL ? ", t: work f32[1000000000000]" : "";
}

/* This program as the children. */
static MeasureOptions options_of(Arena *a, const char *builder, int builders)
{
	char **b = arena_array(a, char *, 3), **r = arena_array(a, char *, 3);
	b[0] = r[0] = self;
	b[1] = arena_printf(a, "%s", builder);
	r[1] = arena_printf(a, "--runner");
	MeasureRunner *runner = arena_new_of(a, MeasureRunner);
	*runner = (MeasureRunner){ .argv = r, .name = "cpu" };
	return (MeasureOptions){ .builder = b,
		.runner = runner,
		.runners = 1,
		.builders = builders,
		.threads = 1,
		.build_ms = BUILD_MS,
		.run_ms = RUN_MS,
		.tolerance = 1e-4 };
}

static Task *relu_task(Arena *a)
{
	static const char workload[] = "dag t\nin x: f32[4,32]\ny: f32[4,32] = relu(x)\nout y\n";
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", workload, strlen(workload), &err);
	Task *task = d != NULL ? task_new(a, d, &err) : NULL;
	ck_assert_msg(task != NULL, "%s: %s", err.place, err.text);
	return task;
}

static Measure *open_measured(const MeasureOptions *o, const Task *task)
{
	Err err = { 0 };
	Measure *m = measure_open(o, &err);
	ck_assert_msg(m != NULL && measure_reference(m, task, 1, &err) != NULL, "%s: %s", err.place, err.text);
	return m;
}

START_TEST(each_fault_is_a_status)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int done = 0, total = getenv("DLC_TEST_ALL") != NULL ? PART : FEW;
	MeasureOptions o = options_of(a, "--builder", 1);
	Task *task = relu_task(a);
	Measure *m = open_measured(&o, task); /* libuv keeps two descriptors from the first on */
	measure_close(m);
	int descriptors = open_descriptors();
	m = measure_open(&o, &err);
	MeasureRef *ref = m != NULL ? measure_reference(m, task, 1, &err) : NULL;
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	int waited = 0;
	for (int round = _i; done < total; round++)
		for (int k = 0; k < LEN(faults) && done < total; k++) {
			bool waits = faults[k].status == RUN_RUN_TIMEOUT || faults[k].status == RUN_COMPILE_TIMEOUT;
			if (round % faults[k].one_in != 0 || (waits && waited == 2))
				continue;
			MeasureResult r = measure_kernel(m, ref, faults[k].kernel, work_of(k));
			ck_assert_msg(r.status == faults[k].status, "fault %d, %s: %s (%s)", done, faults[k].kernel,
				run_status_text(r.status), r.detail);
			ck_assert_int_gt((int)strlen(r.detail), 5);
			waited += waits;
			done++;
			if (done % 3 == 0) {
				/* Another one each time: one that was built before needs no builder. */
				r = measure_kernel(m, ref, "k", arena_printf(a, ", t: work f32[%d]", done));
				ck_assert_msg(r.status == RUN_OK, "after %s: %s (%s)", faults[k].kernel,
					run_status_text(r.status), r.detail);
			}
		}
	ck_assert_int_eq(measure_pending(m), 0);
	measure_close(m);
	ck_assert_int_eq(open_descriptors(), descriptors);
	ck_assert_msg(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a child is left");
	arena_free(a);
}
END_TEST

/* Two faulty candidates and a good one at once: the good one waits for neither. */
START_TEST(faults_do_not_spread)
{
	static const char *const name[] = {
		"run_segv", "k", "build_exit", "k", "run_exit", "build_segv", "k", "run_ill", "k"
	};
	Arena *a = arena_new();
	Err err = { 0 };
	MeasureOptions o = options_of(a, "--builder", 2);
	Measure *m = measure_open(&o, &err);
	MeasureRef *ref = measure_reference(m, relu_task(a), 1, &err);
	ck_assert_msg(ref != NULL, "%s: %s", err.place, err.text);
	for (int i = 0; i < LEN(name); i++) {
		const char *text = arena_printf(a,
			"fn %s(v0: in f32[4, 32], v1: out f32[4, 32]) {\n\tfor i in 0..4 {\n\t\tfor j in 0..32 {\n"
			"\t\t\tv1[i, j] = max(v0[i, j], 0.0)\n\t\t}\n\t}\n}\n", name[i]);
		KernelSet *ks = ir_parse_set(ir_new(a), "k", text, strlen(text), &err);
		MeasureJob job = { .ks = ks, .ref = ref, .trace = "", .user = (void *)(uintptr_t)name[i] };
		ck_assert_msg(ks != NULL && measure_submit(m, &job, &err), "%s", err.text);
	}
	for (int i = 0; i < LEN(name); i++) {
		MeasureResult r;
		for (int tries = 0; !measure_wait(m, 100, &r); tries++)
			ck_assert_int_lt(tries, 200);
		const char *kernel = r.user;
		ck_assert_msg((r.status == RUN_OK) == (strcmp(kernel, "k") == 0), "%s: %s (%s)", kernel,
			run_status_text(r.status), r.detail);
	}
	measure_close(m);
	arena_free(a);
}
END_TEST

/* That builder is at fault, and not the kernel that it was to build: no compile_error is recorded. */
START_TEST(a_builder_of_another_version)
{
	Arena *a = arena_new();
	Err err = { 0 };
	MeasureOptions o = options_of(a, "--old-builder", 1);
	Measure *m = measure_open(&o, &err);
	Task *task = relu_task(a);
	for (int k = 0; k < 2; k++) { /* as its HELLO comes, and when it is known */
		ck_assert_ptr_null(measure_reference(m, task, 1, &err));
		ck_assert_msg(strstr(err.text, "the builder is of another version than dlc") != NULL, "%s", err.text);
		ck_assert_int_eq(err.code, ERR_DEVICE);
	}
	measure_close(m);
	arena_free(a);
}
END_TEST

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc == 2)
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (argc == 2 && strcmp(argv[1], "--runner") == 0)
		return be_runner();
	if (argc == 2 && strcmp(argv[1], "--builder") == 0)
		return be_builder();
	if (argc == 2 && strcmp(argv[1], "--old-builder") == 0)
		return be_old_builder();
	TCase *tc = tcase_create("faults");
	tcase_add_loop_test(tc, each_fault_is_a_status, 0, getenv("DLC_TEST_ALL") != NULL ? PARTS : 1);
	tcase_add_test(tc, faults_do_not_spread);
	tcase_add_test(tc, a_builder_of_another_version);
	return run_suite("faults", tc);
}
