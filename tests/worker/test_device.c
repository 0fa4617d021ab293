/*
 * The worker's requests on a device that is not the host (tests/runtime/far.h), called as functions: buffers are
 * filled, compared and read through copies, kernels run with their launches, and guards are looked at.
 */
#include <string.h>

#include "suite.h"

#include "far.h"
#include "kernels.h"
#include "worker/worker.h"

enum { N = 100, BYTES = N * 4 };

static void load(Worker *w, DlcEntry entry[KERNEL_COUNT], DlcStatus want, const char *says)
{
	const DlcImage *code = test_image();
	unsigned char *bytes = calloc(1, code->size + 1); /* images of devices end with a 0 */
	memcpy(bytes, code->bytes, code->size);
	Msg msg = { 0 };
	MsgView v;
	char why[MSG_WHY];
	DlcError err = { 0 };
	ck_assert(msg_image(&msg, 1, 0, &(DlcImage){ bytes, code->size + 1, entry, KERNEL_COUNT, DLC_DEVICE_CUDA }));
	ck_assert(msg_parse(msg.bytes, msg.size, &v, why) == MSG_OK);
	ck_assert_int_eq(worker_image(w, &v, &err), want);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
	msg_free(&msg);
	free(bytes);
}

/* ceil(sym[0] / 8) blocks of 4 threads. */
static void entries(DlcEntry entry[KERNEL_COUNT])
{
	memcpy(entry, test_image()->entry, KERNEL_COUNT * sizeof *entry);
	for (int k = 0; k < KERNEL_COUNT; k++) {
		for (int d = 0; d < DLC_LAUNCH_DIMS; d++)
			entry[k].launch.dim[d] = (DlcDim){ { -1, -1 }, 0, d < DLC_SHARED, 1 };
		entry[k].offset = 0;
		if (entry[k].nsym > 0)
			entry[k].launch.dim[DLC_GRID] = (DlcDim){ { 0, -1 }, 1, 7, 8 };
		entry[k].launch.dim[DLC_BLOCK].add = 4;
	}
}

static void make_buffer(Worker *w, uint32_t number, MsgFill fill, const void *data, uint64_t bytes)
{
	DlcError err = { 0 };
	MsgBuffer m = { .buffer = number, .fill = (uint32_t)fill, .code = 2, .bits = 32, .holes = MSG_TABLE, .device = 1 };
	m.bytes = bytes;
	m.ndata = data != NULL ? bytes : 0;
	m.lo = -1;
	m.hi = 1;
	m.seed = number;
	ck_assert_msg(worker_buffer(w, &m, data, &err) == DLC_OK, "%s", err.text);
}

/* The bytes of a buffer. */
static void fetch(const Worker *w, uint32_t number, void *to, uint64_t bytes)
{
	View v;
	ck_assert(worker_read(w, &(MsgRead){ number, 0, bytes }, &v, NULL) == DLC_OK);
	memcpy(to, v.at, bytes);
	ck_assert(view_close(&v, NULL) == DLC_OK);
}

/* A program of one call of a kernel with buffers 0, 1, ..., the last of which is its output. */
static void program(Worker *w, uint32_t kernel, int64_t sym, uint64_t bytes)
{
	const DlcEntry *e = &test_image()->entry[kernel];
	MsgArg arg[3];
	DlcError err = { 0 };
	for (uint32_t k = 0; k < e->nbuf; k++)
		arg[k] = (MsgArg){ .buffer = k, .use = k + 1 == e->nbuf ? MSG_USE_OUTPUT : MSG_USE_INPUT, .bytes = bytes };
	MsgCall call = { 0, kernel, 0, e->nbuf, 0, e->nsym };
	MsgProgram m = { 0, 3, 1, e->nbuf, e->nsym }; /* a team of 3 is of no use there */
	ck_assert_msg(worker_program(w, &m, &call, arg, &sym, &err) == DLC_OK, "%s", err.text);
}

static Worker *opened(void)
{
	Worker *w = calloc(1, sizeof *w);
	DlcEntry entry[KERNEL_COUNT];
	w->lock = -1;
	ck_assert(worker_open(w, &device_far, 0, NULL) == DLC_OK);
	entries(entry);
	load(w, entry, DLC_OK, "");
	far_nlaunched = 0;
	return w;
}

static void closed(Worker *w)
{
	worker_close(w);
	free(w);
	ck_assert_int_eq(far_held, 0);
}

START_TEST(runs)
{
	Worker *w = opened();
	float a[N], b[N], out[N];
	uint64_t at[2] = { 3, 1 };
	MsgDone done;
	DlcError err = { 0 };
	for (int k = 0; k < N; k++)
		b[k] = (float)k;
	make_buffer(w, 0, MSG_FILL_RANDOM, NULL, BYTES);
	make_buffer(w, 1, MSG_FILL_DATA, b, BYTES);
	make_buffer(w, 2, MSG_FILL_NONE, NULL, BYTES);
	program(w, KERNEL_add, N, BYTES);
	ck_assert_msg(worker_run(w, &(MsgRun){ 0 }, &done, &err) == DLC_OK, "%s", err.text);
	ck_assert(far_nlaunched == 1 && far_launched[0] == (N + 7) / 8 * 4);
	fetch(w, 0, a, BYTES);
	fetch(w, 2, out, BYTES);
	for (int k = 0; k < N; k++) {
		ck_assert(a[k] >= -1 && a[k] <= 1);
		ck_assert_float_eq(out[k], a[k] + b[k]);
	}
	MsgCompared c;
	MsgCompare all = { .got = 2, .want = 1, .at = MSG_TABLE, .code = 2, .bits = 32, .count = N };
	ck_assert(worker_compare(w, &all, &c, &err) == DLC_OK && c.max_want == N - 1 && c.max_error > 0 && c.nleft == 0);
	make_buffer(w, 3, MSG_FILL_DATA, at, sizeof at);
	make_buffer(w, 4, MSG_FILL_DATA, (float[]){ out[3], out[1] }, 8);
	MsgCompare some = { .got = 2, .want = 4, .at = 3, .code = 2, .bits = 32, .count = 2 };
	ck_assert(worker_compare(w, &some, &c, &err) == DLC_OK && c.max_error == 0 && c.nbad == 0);
	MsgTime t = { .nprogram = 1, .samples = 3, .repeat = 2, .cold_bytes = 1 << 20 };
	MsgSample *sample;
	MsgTimes times;
	ck_assert_msg(worker_time(w, &t, (uint32_t[]){ 0 }, &sample, &times, &err) == DLC_OK, "%s", err.text);
	ck_assert_uint_ge(times.nsample, 3);
	ck_assert(far_nlaunched == 1 + 2 * (int)times.nsample || far_nlaunched == FAR_LAUNCHES);
	free(sample);
	closed(w);
}
END_TEST

/* An output is copied to the host once, however often it is compared or read, until something runs or is filled. */
START_TEST(outputs_are_copied_once)
{
	Worker *w = opened();
	float out[N];
	uint64_t at[2] = { 3, 1 };
	MsgDone done;
	MsgCompared c;
	DlcError err = { 0 };
	const MsgBuffer on_host[] = {
		{ .buffer = 3, .fill = MSG_FILL_DATA, .bytes = sizeof at, .ndata = sizeof at },
		{ .buffer = 4, .fill = MSG_FILL_ZERO, .bytes = BYTES },
	};
	for (uint32_t k = 0; k < 3; k++)
		make_buffer(w, k, MSG_FILL_RANDOM, NULL, BYTES);
	ck_assert(worker_buffer(w, &on_host[0], at, &err) == DLC_OK && worker_buffer(w, &on_host[1], NULL, &err) == DLC_OK);
	MsgCompare some = { .got = 2, .want = 4, .at = 3, .code = 2, .bits = 32, .count = 2 };
	MsgCompare all = { .got = 2, .want = 4, .at = MSG_TABLE, .code = 2, .bits = 32, .count = N };
	program(w, KERNEL_add, N, BYTES);
	for (int k = 0; k < 2; k++) {
		ck_assert(worker_run(w, &(MsgRun){ 0 }, &done, &err) == DLC_OK);
		far_downs = 0;
		ck_assert(worker_compare(w, &some, &c, &err) == DLC_OK && worker_compare(w, &all, &c, &err) == DLC_OK);
		fetch(w, 2, out, BYTES);
		ck_assert_int_eq(far_downs, 1);
		ck_assert(c.nleft == 0 && c.max_error > 0);
	}
	make_buffer(w, 2, MSG_FILL_POISON, NULL, BYTES);
	ck_assert(worker_compare(w, &all, &c, &err) == DLC_OK && c.nleft == N);
	ck_assert(worker_copy(w, &(MsgCopy){ 2, 4 }, &err) == DLC_OK);
	ck_assert(worker_compare(w, &all, &c, &err) == DLC_OK && c.nleft == 0 && c.max_error == 0);
	ck_assert_int_eq(far_downs, 3);
	closed(w);
}
END_TEST

/*
 * Screening: a program that its first run shows to be slow gets no more; and few runs make a sample where so many,
 * with cold caches each, would not fit into the budget.
 */
static const struct {
	uint64_t slow_ns, budget_ns;
	int samples, launches; /* launches: at most */
} screens[] = {
	{ 1, 0, 1, 1 },
	{ 0, 1, 1, 2 },
	{ 0, 0, 3, 1000 },
};

START_TEST(screening)
{
	Worker *w = opened();
	MsgSample *sample;
	MsgTimes times;
	DlcError err = { 0 };
	for (uint32_t k = 0; k < 3; k++)
		make_buffer(w, k, MSG_FILL_RANDOM, NULL, BYTES);
	program(w, KERNEL_add, N, BYTES);
	MsgTime t = { .nprogram = 1, .samples = 3, .repeat = 1, .few = 3, .cold_bytes = 1 << 20 };
	t.slow_ns = screens[_i].slow_ns;
	t.budget_ns = screens[_i].budget_ns;
	ck_assert_msg(worker_time(w, &t, (uint32_t[]){ 0 }, &sample, &times, &err) == DLC_OK, "%s", err.text);
	ck_assert_int_eq((int)times.nsample, screens[_i].samples);
	ck_assert_int_eq(sample[0].aside, screens[_i].slow_ns > 0);
	ck_assert_int_le(far_nlaunched, screens[_i].launches);
	free(sample);
	closed(w);
}
END_TEST

/* Holes, poison, zeros; and buffers whose number names older data. */
START_TEST(fills)
{
	Worker *w = opened();
	uint64_t hole[3] = { 0, N - 1, N };
	float got[N];
	DlcError err = { 0 };
	make_buffer(w, 1, MSG_FILL_DATA, hole, sizeof hole);
	MsgBuffer m = { .fill = MSG_FILL_RANDOM, .code = 2, .bits = 32, .device = 1, .holes = 1, .bytes = BYTES, .lo = 1 };
	m.hi = 2;
	ck_assert(worker_buffer(w, &m, NULL, &err) == DLC_OK);
	make_buffer(w, 0, MSG_FILL_NONE, NULL, BYTES); /* costs nothing and changes nothing */
	fetch(w, 0, got, BYTES);
	for (int k = 0; k < N; k++)
		ck_assert(k == 0 || k == N - 1 ? got[k] == 0 : got[k] >= 1);
	make_buffer(w, 0, MSG_FILL_POISON, NULL, BYTES);
	fetch(w, 0, got, BYTES);
	ck_assert(got[0] != got[0] && got[N - 1] != got[N - 1]);
	make_buffer(w, 0, MSG_FILL_ZERO, NULL, BYTES);
	fetch(w, 0, got, BYTES);
	ck_assert(got[0] == 0 && got[N - 1] == 0);
	closed(w);
}
END_TEST

/* A worker of a device has the host too: its kernels run there, and buffers are copied between the two. */
START_TEST(host_beside_it)
{
	Worker *w = opened();
	float a[N], got[N];
	DlcError err = { 0 };
	MsgDone done;
	Msg msg = { 0 };
	MsgView v;
	char why[MSG_WHY];
	ck_assert(msg_image(&msg, 1, 1, test_image()) && msg_parse(msg.bytes, msg.size, &v, why) == MSG_OK);
	ck_assert_msg(worker_image(w, &v, &err) == DLC_OK, "%s", err.text);
	msg_free(&msg);
	for (uint32_t k = 0; k < 5; k++) {
		MsgBuffer m = { .buffer = k, .fill = MSG_FILL_RANDOM, .code = 2, .bits = 32, .holes = MSG_TABLE };
		m.bytes = BYTES;
		m.device = k >= 3;
		m.lo = k + 1;
		m.hi = k + 2;
		ck_assert_msg(worker_buffer(w, &m, NULL, &err) == DLC_OK, "%s", err.text);
	}
	MsgCall call = { 1, KERNEL_add, 0, 3, 0, 1 };
	MsgArg arg[] = { { 0, MSG_USE_INPUT, 0, BYTES }, { 1, MSG_USE_INPUT, 0, BYTES }, { 2, MSG_USE_OUTPUT, 0, BYTES } };
	int64_t n = N;
	ck_assert(worker_program(w, &(MsgProgram){ 0, 2, 1, 3, 1 }, &call, arg, &n, &err) == DLC_OK);
	ck_assert_msg(worker_run(w, &(MsgRun){ 0 }, &done, &err) == DLC_OK, "%s", err.text);
	ck_assert_int_eq(far_nlaunched, 0);
	fetch(w, 2, a, BYTES);
	ck_assert(a[0] >= 3 && a[0] <= 5);
	ck_assert(worker_copy(w, &(MsgCopy){ 3, 2 }, &err) == DLC_OK); /* up, within, down */
	ck_assert(worker_copy(w, &(MsgCopy){ 4, 3 }, &err) == DLC_OK);
	ck_assert(worker_copy(w, &(MsgCopy){ 0, 4 }, &err) == DLC_OK);
	fetch(w, 0, got, BYTES);
	ck_assert_mem_eq(got, a, BYTES);
	arg[1].buffer = 4; /* the host's kernel must not follow its address */
	ck_assert(worker_program(w, &(MsgProgram){ 0, 2, 1, 3, 1 }, &call, arg, &n, &err) == DLC_OK);
	ck_assert_int_eq(worker_run(w, &(MsgRun){ 0 }, &done, &err), DLC_BAD_ARGUMENT);
	ck_assert_str_eq(err.text, "argument 1 of kernel add lies on the far: copy it to the cpu");
	MsgCall both[] = { call, call };
	both[1].module = 0;
	arg[1].buffer = 1;
	ck_assert(worker_program(w, &(MsgProgram){ 0, 2, 2, 3, 1 }, both, arg, &n, &err) == DLC_OK);
	ck_assert_int_eq(worker_run(w, &(MsgRun){ 0 }, &done, &err), DLC_BAD_ARGUMENT);
	ck_assert_str_eq(err.text, "module 0 is for another device than the program's other modules");
	ck_assert_int_eq(worker_copy(w, &(MsgCopy){ 0, 9 }, &err), DLC_BAD_ARGUMENT);
	make_buffer(w, 9, MSG_FILL_ZERO, NULL, BYTES + 64);
	ck_assert_int_eq(worker_copy(w, &(MsgCopy){ 0, 9 }, &err), DLC_BAD_ARGUMENT);
	closed(w);
}
END_TEST

/* A kernel that writes behind its buffer, one that fails, one whose symbols make no launch. */
START_TEST(failures)
{
	Worker *w = opened();
	MsgDone done;
	DlcError err = { 0 };
	for (uint32_t k = 0; k < 3; k++)
		make_buffer(w, k, MSG_FILL_ZERO, NULL, BYTES);
	program(w, KERNEL_add, N + 1, BYTES);
	ck_assert_int_eq(worker_run(w, &(MsgRun){ 0 }, &done, &err), DLC_KERNEL);
	ck_assert_str_eq(err.text, "a kernel wrote behind the end of buffer 2");
	ck_assert(!worker_own(w)->broken);
	program(w, KERNEL_refuse, 7, BYTES);
	ck_assert_int_eq(worker_run(w, &(MsgRun){ 0 }, &done, &err), DLC_KERNEL);
	ck_assert_str_eq(err.text, "the far failed with status 7");
	ck_assert(worker_own(w)->broken); /* then the worker's process ends */
	program(w, KERNEL_add, -N, BYTES);
	ck_assert_int_eq(worker_run(w, &(MsgRun){ 0 }, &done, &err), DLC_BAD_ARGUMENT);
	ck_assert_str_eq(err.text, "the symbols of kernel add make its launch impossible");
	View v;
	far_fail(w->site[SITE_DEVICE].stream, 5);
	ck_assert_int_eq(worker_read(w, &(MsgRead){ 0, 0, BYTES }, &v, &err), DLC_KERNEL);
	closed(w);
}
END_TEST

static DlcStatus take(Worker *w, uint32_t number, uint64_t bytes, DlcError *err)
{
	MsgBuffer m = { .buffer = number, .fill = MSG_FILL_NONE, .holes = MSG_TABLE, .device = 1, .bytes = bytes };
	return worker_buffer(w, &m, NULL, err);
}

/* More than there is in all, no more left, and a device that is gone are three things. */
START_TEST(memory)
{
	Worker *w = opened();
	DlcError err = { 0 };
	ck_assert_int_eq(take(w, 0, 1 << 30, &err), DLC_NO_MEMORY);
	ck_assert_str_eq(err.text, "1073741952 bytes are asked for, and the far has 1073741824");
	make_buffer(w, 0, MSG_FILL_ZERO, NULL, BYTES);
	make_buffer(w, 0, MSG_FILL_ZERO, NULL, 16 * BYTES); /* the smaller one is kept */
	int held = far_held;
	far_room = 0;
	ck_assert_int_eq(take(w, 1, 8 * BYTES, &err), DLC_DEVICE_MEMORY);
	ck_assert_str_eq(err.text, "the far has no 3328 bytes of memory left: end other programs on it");
	ck_assert_int_eq(far_held, held - 1); /* what was kept is given back before that is said */
	far_room = -1;
	far_lost = 9;
	ck_assert_int_eq(take(w, 1, 8 * BYTES, &err), DLC_LOST);
	ck_assert_str_eq(err.text, "the far failed while memory was taken with status 9");
	far_lost = 0;
	ck_assert_int_eq(take(w, 1, 8 * BYTES, &err), DLC_OK);
	closed(w);
}
END_TEST

/* A request says whether the device ends with it, and whether kernels of its program had begun. */
START_TEST(refusals_say_when)
{
	Worker *w = opened();
	Msg in[2] = { 0 }, out[2] = { 0 };
	char why[MSG_WHY];
	MsgDone done;
	for (uint32_t k = 0; k < 3; k++)
		make_buffer(w, k, MSG_FILL_ZERO, NULL, BYTES);
	program(w, KERNEL_add, N, BYTES);
	ck_assert(worker_run(w, &(MsgRun){ 0 }, &done, NULL) == DLC_OK); /* takes the memory that a run needs */
	program(w, KERNEL_refuse, 7, BYTES);
	far_lost = 9;
	msg_begin(&in[0], MSG_BUFFER, 1, &(MsgBuffer){ .buffer = 9, .fill = MSG_FILL_NONE, .device = 1, .bytes = BYTES });
	msg_begin(&in[1], MSG_RUN, 2, &(MsgRun){ 0 });
	for (uint32_t k = 0; k < 2; k++) {
		MsgView v, said;
		ck_assert(msg_end(&in[k]) && msg_parse(in[k].bytes, in[k].size, &v, why) == MSG_OK);
		ck_assert(worker_serve(w, &v, &out[k]) && msg_end(&out[k]));
		ck_assert(msg_parse(out[k].bytes, out[k].size, &said, why) == MSG_OK && said.kind == MSG_REFUSED);
		const MsgRefused *r = said.fixed;
		ck_assert(r->status == DLC_LOST && r->ends == 1 && r->launched == k);
		msg_free(&in[k]);
		msg_free(&out[k]);
	}
	far_lost = 0;
	closed(w);
}
END_TEST

START_TEST(refusals)
{
	Worker *w = opened();
	DlcEntry entry[KERNEL_COUNT];
	entries(entry);
	entry[KERNEL_add].launch.dim[DLC_BLOCK].sym[0] = 1; /* add has one */
	load(w, entry, DLC_BAD_ARGUMENT, "the code has no kernel add, or its launch is impossible");
	entries(entry);
	strcpy(entry[KERNEL_nop].name, "nosuch");
	load(w, entry, DLC_BAD_ARGUMENT, "the code has no kernel nosuch");
	closed(w);
	w = calloc(1, sizeof *w);
	ck_assert(worker_open(w, &device_cpu, 0, NULL) == DLC_OK);
	load(w, entry, DLC_BAD_ARGUMENT, "the image is for device type 2, this worker has type 1: the cpu");
	closed(w);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("worker_device");
	tcase_add_test(tc, runs);
	tcase_add_test(tc, outputs_are_copied_once);
	tcase_add_loop_test(tc, screening, 0, LEN(screens));
	tcase_add_test(tc, fills);
	tcase_add_test(tc, host_beside_it);
	tcase_add_test(tc, failures);
	tcase_add_test(tc, memory);
	tcase_add_test(tc, refusals_say_when);
	tcase_add_test(tc, refusals);
	return run_suite("worker_device", tc);
}
