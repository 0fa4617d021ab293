/*
 * The row of CUDA over a driver without a GPU (tests/fake_cuda): copies through pinned memory, recordings, tensors on
 * the device, several instances, profiles.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "suite.h"

#include "cuda_net.h"
#include "kernels.h"
#include "runtime/device.h"
#include "runtime/instance.h"

static void fill(float *p, int n, float from)
{
	for (int k = 0; k < n; k++)
		p[k] = from + (float)k;
}

static void expect_sum(const float *out, const float *a, const float *b, int n)
{
	for (int k = 0; k < n; k++)
		ck_assert_float_eq(out[k], a[k] + b[k] + 1);
}

/* Host memory is bound; the first run is plain, the second records, the others replay. */
START_TEST(replays)
{
	static _Alignas(64) float a[N], b[N], out[N];
	int64_t shape[] = { 1, N };
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	bind(&n, DLC_INPUT, 0, tensor(a, shape));
	bind(&n, DLC_INPUT, 1, tensor(b, shape));
	bind(&n, DLC_OUTPUT, 0, tensor(out, shape));
	for (int round = 0; round < 5; round++) {
		fill(a, N, (float)round);
		fill(b, N, -3);
		memset(out, 0xff, sizeof out);
		net_run(&n);
		expect_sum(out, a, b, N);
		ck_assert_int_eq(calls("cuGraphLaunch"), round);
		ck_assert_int_eq(calls("cuLaunchKernel"), round > 0 ? 4 : 2);
	}
	ck_assert_int_eq(calls("cuGraphInstantiateWithFlags"), 1);
	closed(&n);
}
END_TEST

/* Tensors of the device are used in place. Two sets of them, in turn, have a recording each. */
START_TEST(device_tensors)
{
	float a[N], b[N], out[N];
	int64_t shape[] = { 1, N };
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	const Device *d = n.m->device;
	unsigned char *memory = d->alloc(n.m->context, 6 * 512);
	for (int round = 0; round < 8; round++) {
		unsigned char *set = memory + round % 2 * 3 * 512;
		for (int k = 0; k < 3; k++) {
			DlcTensor t = tensor(set + k * 512, shape);
			t.device = (DlcDevice){ DLC_DEVICE_CUDA, 0 };
			bind(&n, k < 2 ? DLC_INPUT : DLC_OUTPUT, k % 2, t);
		}
		fill(a, N, (float)round);
		fill(b, N, 5);
		ck_assert(dlc_instance_write(n.i, DLC_INPUT, 0, a, sizeof a, NULL) == DLC_OK);
		ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, NULL) == DLC_OK);
		net_run(&n);
		ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK);
		expect_sum(out, a, b, N);
	}
	ck_assert_int_eq(calls("cuGraphInstantiateWithFlags"), 2);
	ck_assert_int_eq(calls("cuGraphLaunch"), 6);
	d->release(n.m->context, memory, 6 * 512);
	closed(&n);
}
END_TEST

/* An output over an input, whole or shifted, is computed apart and copied, also where the plan is replayed. */
START_TEST(overlaps)
{
	float a[N], b[N], out[N], more[N];
	int64_t shape[] = { 1, N };
	Net n = opened(for_cuda(build_add_more(N), CUDA_HEAD));
	unsigned char *memory = n.m->device->alloc(n.m->context, 1024);
	fill(b, N, 5);
	for (int round = 0; round < 8; round++) {
		for (int k = 0; k < 2; k++) {
			DlcTensor t = tensor(memory + (k == 0 ? 0 : round / 4 * 64), shape);
			t.device = (DlcDevice){ DLC_DEVICE_CUDA, 0 };
			bind(&n, k == 0 ? DLC_INPUT : DLC_OUTPUT, 0, t);
		}
		fill(a, N, (float)round);
		ck_assert(dlc_instance_write(n.i, DLC_INPUT, 0, a, sizeof a, NULL) == DLC_OK);
		ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, NULL) == DLC_OK);
		net_run(&n);
		ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK);
		ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 1, more, sizeof more, NULL) == DLC_OK);
		expect_sum(out, a, b, N);
		for (int k = 0; k < N; k++)
			ck_assert_float_eq(more[k], a[k] + 1);
	}
	ck_assert_int_eq(calls("cuGraphInstantiateWithFlags"), 1);
	n.m->device->release(n.m->context, memory, 1024);
	closed(&n);
}
END_TEST

/* The oldest recording makes room. */
START_TEST(many_sets)
{
	enum { SETS = RECORDINGS + 1 };
	float zero[N] = { 0 };
	int64_t shape[] = { 1, N };
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	unsigned char *memory = n.m->device->alloc(n.m->context, SETS * 512);
	for (int round = 0; round < 3; round++)
		for (int set = 0; set < SETS; set++) {
			DlcTensor t = tensor(memory + set * 512, shape);
			t.device = (DlcDevice){ DLC_DEVICE_CUDA, 0 };
			bind(&n, DLC_OUTPUT, 0, t);
			net_run(&n);
			if (round == 1)
				net_run(&n);
			ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, zero, sizeof zero, NULL) == DLC_OK && zero[N - 1] == 1);
		}
	ck_assert_int_eq(calls("cuGraphInstantiateWithFlags"), SETS);
	ck_assert_int_eq(calls("cuGraphExecDestroy"), SETS - RECORDINGS + SETS - 1);
	n.m->device->release(n.m->context, memory, SETS * 512);
	closed(&n);
}
END_TEST

/* Copies of all sizes, from pageable memory, keep their order and their bytes. */
START_TEST(copies)
{
	static const size_t SIZE[] = { 1, 64, 1000, 1 << 20, 3 << 20, 5 << 20 };
	enum { MOST = 5 << 20, ROUNDS = 200 };
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	const Device *d = n.m->device;
	DeviceStream *s = d->stream_open(n.m->context);
	unsigned char *there = d->alloc(n.m->context, MOST), *up = malloc(MOST), *down = calloc(1, MOST);
	for (int k = 0; k < LEN(SIZE); k++) {
		memset(up, 16 + k, SIZE[k]);
		ck_assert_int_eq(d->copy(s, there, up, SIZE[k], DEVICE_UP), 0);
		ck_assert_int_eq(d->copy(s, down, there, SIZE[k], DEVICE_DOWN), 0);
		ck_assert_int_eq(d->synchronize(s), 0);
		ck_assert_mem_eq(down, up, SIZE[k]);
	}
	for (int k = 0; k < ROUNDS; k++) { /* more than the stage has room or fetches for */
		memset(up, k, 40000);
		ck_assert_int_eq(d->copy(s, there, up, 40000, DEVICE_UP), 0);
		ck_assert_int_eq(d->copy(s, there + 40000, there, 40000, DEVICE_WITHIN), 0);
		ck_assert_int_eq(d->copy(s, down + k, there + 40000, 1, DEVICE_DOWN), 0);
	}
	ck_assert_int_eq(d->synchronize(s), 0);
	for (int k = 0; k < ROUNDS; k++)
		ck_assert_int_eq(down[k], k);
	d->stream_close(s);
	d->release(n.m->context, there, MOST);
	free(up);
	free(down);
	closed(&n);
}
END_TEST

/* Pinned memory, which DLPack calls a device of its own, is copied without a stage. */
START_TEST(pinned)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *f[2] = { dlsym(lib, "cuMemHostAlloc"), dlsym(lib, "cuMemFreeHost") };
	int (*take)(void **, size_t, unsigned), (*give)(void *);
	int64_t shape[] = { 1, N };
	float b[N], out[N];
	void *a;
	memcpy(&take, &f[0], sizeof take);
	memcpy(&give, &f[1], sizeof give);
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	/* The row makes its context current for a moment only. */
	ck_assert_int_ne(take(&a, sizeof b, 0), 0);
	void *push = dlsym(lib, "cuCtxPushCurrent_v2");
	int (*enter)(void *);
	memcpy(&enter, &push, sizeof enter);
	ck_assert_int_eq(enter(*(void **)n.m->context), 0); /* its first field */
	ck_assert_int_eq(take(&a, sizeof b, 0), 0);
	DlcTensor t = tensor(a, shape);
	t.device = (DlcDevice){ DLC_DEVICE_CUDA_HOST, 0 };
	bind(&n, DLC_INPUT, 0, t);
	fill(a, N, 1);
	fill(b, N, 2);
	ck_assert(dlc_instance_write(n.i, DLC_INPUT, 1, b, sizeof b, NULL) == DLC_OK);
	net_run(&n);
	ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK);
	expect_sum(out, a, b, N);
	ck_assert_int_eq(give(a), 0);
	closed(&n);
}
END_TEST

/* Two instances at work at once, from one thread. */
START_TEST(started)
{
	static _Alignas(64) float a[2][N], b[N], out[2][N];
	int64_t shape[] = { 1, N };
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD)), more = n;
	ck_assert(dlc_instance_open(n.m, 0, &more.i, NULL) == DLC_OK);
	Net *of[] = { &n, &more };
	ck_assert(dlc_instance_stream(n.i) != NULL && dlc_instance_stream(n.i) != dlc_instance_stream(more.i));
	for (int round = 0; round < 4; round++) {
		fill(b, N, (float)round);
		for (int k = 0; k < 2; k++) {
			fill(a[k], N, (float)(10 * k));
			bind(of[k], DLC_INPUT, 0, tensor(a[k], shape));
			bind(of[k], DLC_INPUT, 1, tensor(b, shape));
			bind(of[k], DLC_OUTPUT, 0, tensor(out[k], shape));
			memset(out[k], 0xff, sizeof out[k]);
			ck_assert(dlc_instance_start(of[k]->i, NULL) == DLC_OK);
			ck_assert(out[k][0] != out[k][0]); /* nothing has come yet */
		}
		for (int k = 1; k >= 0; k--) {
			ck_assert(dlc_instance_wait(of[k]->i, NULL) == DLC_OK);
			expect_sum(out[k], a[k], b, N);
		}
	}
	ck_assert(dlc_instance_start(more.i, NULL) == DLC_OK); /* closed while it works */
	dlc_instance_close(more.i);
	closed(&n);
}
END_TEST

static bool every_thread_opens;

/* Of the model that all threads share, or of one of the thread's own. */
static void *run_many(void *arg)
{
	const DlcModel *m = arg;
	DlcModel *own = NULL;
	float a[N], b[N], out[N];
	DlcInstance *i;
	bool ok = true;
	if (every_thread_opens && dlc_model_open_memory(m->base, m->size, &own, NULL) != DLC_OK)
		return arg;
	if (dlc_instance_open(own != NULL ? own : m, 0, &i, NULL) != DLC_OK)
		return arg;
	for (int round = 0; round < 50; round++) {
		fill(a, N, (float)round);
		fill(b, N, 1);
		ok = ok && dlc_instance_write(i, DLC_INPUT, 0, a, sizeof a, NULL) == DLC_OK &&
		     dlc_instance_write(i, DLC_INPUT, 1, b, sizeof b, NULL) == DLC_OK && dlc_instance_run(i, NULL) == DLC_OK &&
		     dlc_instance_read(i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK;
		for (int k = 0; k < N; k++)
			ok = ok && out[k] == a[k] + b[k] + 1;
	}
	dlc_instance_close(i);
	dlc_model_close(own);
	return ok ? NULL : arg;
}

START_TEST(threads)
{
	pthread_t t[4];
	every_thread_opens = _i == 1;
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	for (int k = 0; k < LEN(t); k++)
		ck_assert_int_eq(pthread_create(&t[k], NULL, run_many, n.m), 0);
	for (int k = 0; k < LEN(t); k++) {
		void *failed;
		pthread_join(t[k], &failed);
		ck_assert_ptr_null(failed);
	}
	closed(&n);
}
END_TEST

/* Each step's own time, without and with a recording. */
START_TEST(profiles)
{
	setenv("FAKE_CUDA_LAUNCH_NS", "5000", 1);
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	for (int round = 1; round < 5; round++) {
		uint64_t ns[2] = { 0 };
		DlcError err = { 0 };
		ck_assert_msg(dlc_instance_profile(n.i, ns, &err) == DLC_OK, "%s", err.text);
		ck_assert_msg(
			ns[0] == 5000 && ns[1] == 5000, "%llu %llu", (unsigned long long)ns[0], (unsigned long long)ns[1]);
		net_run(&n);
	}
	ck_assert_int_eq(calls("cuGraphInstantiateWithFlags"), 2);
	closed(&n);
}
END_TEST

/* What a driver does not record runs step by step. */
START_TEST(not_recorded)
{
	static const char *const FAIL[] = { "cuStreamBeginCapture_v2:1:900", "cuStreamEndCapture:1:901",
		"cuGraphInstantiateWithFlags:1:2", "cuEventRecordWithFlags:1:1" };
	uint64_t ns[2] = { 0 };
	float out[N];
	setenv("FAKE_CUDA_FAIL", FAIL[_i], 1);
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	for (int round = 0; round < 4; round++) {
		net_run(&n);
		ck_assert(dlc_instance_profile(n.i, ns, NULL) == DLC_OK);
		ck_assert(dlc_instance_read(n.i, DLC_OUTPUT, 0, out, sizeof out, NULL) == DLC_OK);
		ck_assert_float_eq(out[N - 1], 1);
	}
	ck_assert_int_eq(calls("cuGraphLaunch"), _i == 3 ? 6 : 0);
	net_close(&n);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cuda");
	tcase_add_test(tc, replays);
	tcase_add_test(tc, device_tensors);
	tcase_add_test(tc, overlaps);
	tcase_add_test(tc, many_sets);
	tcase_add_test(tc, copies);
	tcase_add_test(tc, pinned);
	tcase_add_test(tc, started);
	tcase_add_loop_test(tc, threads, 0, 2);
	tcase_add_test(tc, profiles);
	tcase_add_loop_test(tc, not_recorded, 0, 4);
	return run_suite("cuda", tc);
}
