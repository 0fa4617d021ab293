/*
 * The row of CUDA over a driver without a GPU (tests/fake_cuda): copies through pinned memory, recordings, tensors on
 * the device, several instances, profiles, and what is said where the driver, the device or a kernel fails. Without
 * that driver in LD_LIBRARY_PATH it checks what is said where there is none.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

#include "kernels.h"
#include "net.h"
#include "runtime/device.h"
#include "runtime/instance.h"

enum { PTX = 16384 };

/* What kernels.c of the fake driver has, as PTX without bodies. */
static char *write_ptx(const char *head)
{
	static const struct {
		const char *name;
		int arguments;
	} ROW[] = {
#define K(name, nbuf, nsym, work) { #name, nbuf + nsym + 1 },
		TEST_KERNELS(K)
#undef K
	};
	static char text[PTX];
	int n = snprintf(text, PTX, "%s.address_size 64\n", head);
	for (int k = 0; k < LEN(ROW); k++) {
		n += snprintf(text + n, PTX - (size_t)n, ".visible .entry dlc_%s(\n", ROW[k].name);
		for (int a = 0; a < ROW[k].arguments; a++)
			n += snprintf(text + n, PTX - (size_t)n, "\t.param .u64 dlc_%s_param_%d%s\n", ROW[k].name, a,
				a + 1 < ROW[k].arguments ? "," : "");
		n += snprintf(text + n, PTX - (size_t)n, ")\n{\n\tret;\n}\n");
	}
	return text;
}

/* The bundle's kernels as PTX, in ceil(n / 32) blocks of 32 threads. */
static Build *for_cuda(Build *b, const char *head)
{
	b->source = write_ptx(head);
	b->h.device = DLC_DEVICE_CUDA;
	b->h.arch = BUNDLE_ANY;
	b->image[0].bytes = strlen(b->source) + 1;
	b->h.launch.count = b->h.entry.count;
	for (uint32_t k = 0; k < b->h.entry.count; k++) {
		bool wide = k == KERNEL_add || k == KERNEL_twice;
		if (k >= KERNEL_store && k != KERNEL_crash)
			b->entry[k] = b->entry[KERNEL_nop]; /* tests/fake_cuda/kernels.c has it not */
		for (int d = 0; d < DLC_LAUNCH_DIMS; d++)
			b->launch[k].dim[d] = (DlcDim){ { -1, -1 }, 0, d < DLC_SHARED, 1 };
		if (wide)
			b->launch[k].dim[DLC_GRID] = (DlcDim){ { 0, -1 }, 1, 31, 32 };
		b->launch[k].dim[DLC_BLOCK].add = 32;
		b->entry[k].launch = k + 1;
		b->entry[k].offset = 0;
	}
	return b;
}

static const char *const HEAD = ".version 7.8\n.target sm_75\n";

static DlcStatus open_cuda(Build *b, Net *n, DlcError *err)
{
	size_t size;
	*n = (Net){ .b = b, .bytes = build_finish(b, &size) };
	DlcStatus s = dlc_model_open_memory(n->bytes, size, &n->m, err);
	return s == DLC_OK ? dlc_instance_open(n->m, 0, &n->i, err) : s;
}

static Net opened(Build *b)
{
	Net n;
	DlcError err = { 0 };
	ck_assert_msg(open_cuda(b, &n, &err) == DLC_OK, "%s", err.text);
	return n;
}

/* A function of the fake driver. */
static int ask(const char *function, const char *about)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW), *found = dlsym(lib, function);
	int (*f)(const char *);
	ck_assert(found != NULL);
	memcpy(&f, &found, sizeof f);
	int n = f(about);
	dlclose(lib);
	return n;
}

static int calls(const char *function)
{
	return ask("fake_cuda_calls", function);
}

static void closed(Net *n)
{
	net_close(n);
	ck_assert_int_eq(ask("fake_cuda_held", NULL), 0);
}

static void fill(float *p, int n, float from)
{
	for (int k = 0; k < n; k++)
		p[k] = from + (float)k;
}

static void bind(Net *n, DlcRole role, int index, DlcTensor t)
{
	DlcError err = { 0 };
	ck_assert_msg(dlc_instance_bind(n->i, role, index, &t, &err) == DLC_OK, "%s", err.text);
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
	Net n = opened(for_cuda(build_add(N), HEAD));
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
	Net n = opened(for_cuda(build_add(N), HEAD));
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

/* The oldest recording makes room. */
START_TEST(many_sets)
{
	enum { SETS = RECORDINGS + 1 };
	float zero[N] = { 0 };
	int64_t shape[] = { 1, N };
	Net n = opened(for_cuda(build_add(N), HEAD));
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
	Net n = opened(for_cuda(build_add(N), HEAD));
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
	Net n = opened(for_cuda(build_add(N), HEAD));
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
	Net n = opened(for_cuda(build_add(N), HEAD)), more = n;
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

static void *run_many(void *arg)
{
	const DlcModel *m = arg;
	float a[N], b[N], out[N];
	DlcInstance *i;
	if (dlc_instance_open(m, 0, &i, NULL) != DLC_OK)
		return arg;
	bool ok = true;
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
	return ok ? NULL : arg;
}

START_TEST(threads)
{
	pthread_t t[4];
	Net n = opened(for_cuda(build_add(N), HEAD));
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
	Net n = opened(for_cuda(build_add(N), HEAD));
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
	Net n = opened(for_cuda(build_add(N), HEAD));
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

/* A block may have more shared memory than 48 KiB, if the device has it. */
START_TEST(shared_memory)
{
	DlcError err = { 0 };
	Net n;
	Build *b = for_cuda(build_add(N), HEAD);
	b->launch[KERNEL_add].dim[DLC_SHARED].add = 100000;
	setenv("FAKE_CUDA_SM", _i == 0 ? "90" : "75", 1);
	n = opened(b);
	DlcStatus s = dlc_instance_run(n.i, &err);
	ck_assert_int_eq(s, _i == 0 ? DLC_OK : DLC_KERNEL);
	ck_assert_msg(
		_i == 0 || strstr(err.text, "the CUDA device failed in step 0 (add): kernel dlc_add needs 100000 bytes of "
									"shared memory, and a block of Fake GPU has 65536") != NULL,
		"%s", err.text);
	ck_assert_int_eq(calls("cuFuncSetAttribute"), 1);
	closed(&n);
}
END_TEST

/* How the environment lets a call fail, and what is said. */
static const struct Failure {
	const char *name, *value;
	DlcStatus status;
	const char *says;
} failed[] = {
	{ "FAKE_CUDA_DEVICES", "0", DLC_SYSTEM,
		"the CUDA driver finds no device: CUDA_ERROR_NO_DEVICE (no CUDA-capable device" },
	{ "FAKE_CUDA_SM", "70", DLC_BAD_TARGET,
		"it is for another GPU than Fake GPU (sm_70): compile it for this device" },
	{ "FAKE_CUDA_DRIVER", "11040", DLC_BAD_TARGET,
		"it is PTX 7.8, and the driver is for CUDA 11.4: install a newer driver, at least one for CUDA 11.8" },
	{ "FAKE_CUDA_FAIL", "cuDevicePrimaryCtxRetain:1:46", DLC_SYSTEM,
		"CUDA device 0 (Fake GPU) cannot be opened: CUDA_ERROR_DEVICE_UNAVAILABLE" },
	{ "FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:221", DLC_BAD_TARGET, "libnvidia-ptxjitcompiler.so.1 is not there" },
	{ "FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:12345", DLC_BAD_TARGET, "CUDA error 12345" },
	{ "FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:2", DLC_DEVICE_MEMORY, "does not take the bundle's code" },
	{ "FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:719", DLC_LOST, "while it loaded the code: CUDA_ERROR_LAUNCH_FAILED" },
	{ "FAKE_CUDA_FAIL", "cuModuleGetFunction:2:719", DLC_LOST, "while it loaded the code: CUDA_ERROR_LAUNCH_FAILED" },
	{ "FAKE_CUDA_FAIL", "cuMemAlloc_v2:1:719", DLC_LOST, "while constants were copied: CUDA_ERROR_LAUNCH_FAILED" },
	{ "FAKE_CUDA_FAIL", "cuMemAlloc_v2:2:719", DLC_LOST, "while memory was taken: CUDA_ERROR_LAUNCH_FAILED" },
	{ "FAKE_CUDA_FAIL", "cuModuleGetFunction:2:2", DLC_DEVICE_MEMORY, "kernel twice: CUDA_ERROR_OUT_OF_MEMORY" },
	{ "FAKE_CUDA_FAIL", "cuModuleGetFunction:2:500", DLC_BAD_FILE, "has no kernel twice" },
	{ "FAKE_CUDA_FAIL", "cuStreamCreate:3:2", DLC_DEVICE_MEMORY, "the CUDA device has no memory for another stream" },
	{ "FAKE_CUDA_FAIL", "cuStreamCreate:3:719", DLC_LOST, "CUDA_ERROR_LAUNCH_FAILED" },
	{ "FAKE_CUDA_FAIL", "cuMemsetD8Async:2:2", DLC_DEVICE_MEMORY, "MiB of memory for an instance" },
	{ "FAKE_CUDA_MEMORY", "4100", DLC_DEVICE_MEMORY, "an instance needs 0 MiB" },
	{ "FAKE_CUDA_MEMORY", "4000", DLC_DEVICE_MEMORY, "has no memory for 4096 bytes of constants" },
	{ "FAKE_CUDA_THREADS", "16", DLC_KERNEL,
		"the CUDA device failed in step 0 (add): kernel dlc_add has blocks of 32 threads, and with its 255 registers "
	    "there "
		"may be 16" },
	{ "FAKE_CUDA_FAIL", "cuLaunchKernel:2:2", DLC_DEVICE_MEMORY,
		"the CUDA device failed in step 1 (add): CUDA_ERROR_OUT_OF_MEMORY (out of memory)" },
	{ "FAKE_CUDA_STICKY", "2:702", DLC_LOST,
		"failed in one of the steps 0 (add) to 1 (add): CUDA_ERROR_LAUNCH_TIMEOUT (the launch timed out and was "
		"terminated); device 0 (Fake GPU) is lost to this process: start the program again, with "
	    "CUDA_LAUNCH_BLOCKING" },
};

START_TEST(failures)
{
	const struct Failure *f = &failed[_i];
	DlcError err = { 0 };
	Net n;
	setenv(f->name, f->value, 1);
	DlcStatus s = open_cuda(for_cuda(build_add(N), HEAD), &n, &err);
	if (s == DLC_OK)
		s = dlc_instance_run(n.i, &err);
	ck_assert_msg(s == f->status && strstr(err.text, f->says) != NULL, "status %d: %s", (int)s, err.text);
	net_close(&n);
}
END_TEST

/* Images that the driver does not take. */
START_TEST(bad_images)
{
	static const char *const ROW[][2] = {
		{ ".target sm_75\n",
			"CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed): ptxas fatal   : Missing .version" },
		{ ".version 7.8\n.target sm_75\n.visible .entry (",
			"ptxas application ptx input, line 7; error   : Parsing error" },
		{ "\177ELF.version 7.8\n.target sm_80\n", "its machine code is damaged" },
		{ ".version 9.0\n.target sm_120\n", "it is for another GPU" },
	};
	DlcError err = { 0 };
	Net n;
	bool elf = ROW[_i][0][0] == '\177';
	ck_assert_int_eq(open_cuda(for_cuda(build_add(N), ROW[_i][0]), &n, &err), elf ? DLC_BAD_FILE : DLC_BAD_TARGET);
	ck_assert_msg(strstr(err.text, "the CUDA device does not take the bundle's code: ") == err.text &&
					  strstr(err.text, ROW[_i][1]) != NULL,
		"%s", err.text);
	net_close(&n);
	ck_assert_int_eq(ask("fake_cuda_held", NULL), 0);
}
END_TEST

/* "sm_80" is that or newer; "sm_80..sm_89" one of these; "sm_90a" one device only. */
START_TEST(features)
{
	static const struct {
		const char *name;
		bool there;
	} ROW[] = { { "sm_37", true }, { "sm_90", true }, { "sm_90a", true }, { "sm_80a", false }, { "sm_100", false },
		{ "sm_90..sm_99", true }, { "sm_80..sm_89", false }, { "sm_91..sm_99", false }, { "sm_", false },
		{ "sm_90x", false }, { "avx2", false } };
	DeviceContext *c;
	ck_assert(device_cuda.open(0, &c, NULL) == DLC_OK);
	for (int k = 0; k < LEN(ROW); k++)
		ck_assert_msg(device_cuda.has(c, ROW[k].name) == ROW[k].there, "%s", ROW[k].name);
	device_cuda.close(c);
	DlcError err = { 0 };
	ck_assert(device_cuda.open(1, &c, &err) == DLC_SYSTEM && c == NULL);
	ck_assert_str_eq(err.text, "there is no CUDA device 1: this machine has 1, counted from 0");
}
END_TEST

/* What a target is made of. */
START_TEST(described)
{
	static const struct {
		const char *key;
		double value;
	} ROW[] = { { "cores", 132 }, { "ghz", 1.98 }, { "warp", 32 }, { "shared_bytes", 232448 },
		{ "unit_registers", 65536 }, { "memory_bytes", 1 << 30 }, { "l2_bytes", 60 << 20 },
		{ "memory_bytes_per_second", 2e3 * 3201000 * 6144 / 8 } };
	DeviceFacts f;
	ck_assert_int_eq(device_cuda.count(NULL), 1);
	ck_assert(device_cuda.describe(0, &f, NULL) == DLC_OK);
	ck_assert_str_eq(f.name, "Fake GPU");
	ck_assert_str_eq(f.driver, "CUDA 13.0");
	ck_assert_str_eq(f.features, "sm_90");
	for (int k = 0; k < LEN(ROW); k++) {
		int n = 0;
		while (n < f.n && strcmp(f.number[n].key, ROW[k].key) != 0)
			n++;
		ck_assert_msg(n < f.n, "%s", ROW[k].key);
		ck_assert_double_eq_tol(f.number[n].value, ROW[k].value, 1e-9 * ROW[k].value);
	}
	ck_assert(device_cuda.describe(1, &f, NULL) == DLC_SYSTEM);
	ck_assert_int_eq(ask("fake_cuda_held", NULL), 0);
}
END_TEST

/* After an illegal address every call says that the device is lost, and all can be closed. */
START_TEST(lost)
{
	static _Alignas(64) float a[N];
	int64_t shape[] = { 1, N };
	DlcError err = { 0 };
	DlcInstance *more;
	Build *b = build_add(N);
	build_call(b, KERNEL_crash, NULL, NULL);
	if (_i == 1)
		setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	Net n = opened(for_cuda(b, HEAD));
	bind(&n, DLC_INPUT, 0, tensor(a, shape));
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_LOST);
	ck_assert_msg(strstr(err.text, _i == 0 ? "in one of the steps 0 (add) to 2 (crash): CUDA_ERROR_ILLEGAL_ADDRESS"
										   : "in step 2 (crash): CUDA_ERROR_ILLEGAL_ADDRESS") != NULL,
		"%s", err.text);
	for (int k = 0; k < 4; k++) {
		err = (DlcError){ 0 };
		DlcStatus s = k == 0   ? dlc_instance_run(n.i, &err)
		              : k == 1 ? dlc_instance_read(n.i, DLC_OUTPUT, 0, a, sizeof a, &err)
		              : k == 2 ? dlc_instance_write(n.i, DLC_INPUT, 1, a, sizeof a, &err)
		                       : dlc_instance_open(n.m, 0, &more, &err);
		ck_assert_msg(s == DLC_LOST && strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL &&
						  strstr(err.text, "is lost to this process: start the program again") != NULL,
			"call %d, status %d: %s", k, (int)s, err.text);
	}
	net_close(&n);
}
END_TEST

/* No library at all. */
START_TEST(absent)
{
	DeviceContext *c = NULL;
	DlcError err = { 0 };
	DlcStatus s = device_cuda.open(0, &c, &err);
	if (s == DLC_OK) /* a machine with a GPU */
		device_cuda.close(c);
	else
		ck_assert_msg(
			s == DLC_SYSTEM && (strstr(err.text, "there is no CUDA device: libcuda.so.1 cannot be opened; install "
												 "NVIDIA's driver") != NULL ||
								   strstr(err.text, "the CUDA driver finds no device") != NULL),
			"%s", err.text);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cuda");
	if (getenv("FAKE_CUDA_KERNELS") == NULL) {
		tcase_add_test(tc, absent);
		return run_suite("cuda", tc);
	}
	tcase_add_test(tc, replays);
	tcase_add_test(tc, device_tensors);
	tcase_add_test(tc, many_sets);
	tcase_add_test(tc, copies);
	tcase_add_test(tc, pinned);
	tcase_add_test(tc, started);
	tcase_add_test(tc, threads);
	tcase_add_test(tc, profiles);
	tcase_add_loop_test(tc, not_recorded, 0, 4);
	tcase_add_loop_test(tc, shared_memory, 0, 2);
	tcase_add_loop_test(tc, failures, 0, LEN(failed));
	tcase_add_loop_test(tc, bad_images, 0, 4);
	tcase_add_test(tc, features);
	tcase_add_test(tc, described);
	tcase_add_loop_test(tc, lost, 0, 2);
	return run_suite("cuda", tc);
}
