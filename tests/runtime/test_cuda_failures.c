/*
 * Messages of CUDA's row after a failure of the driver, the device, a bundle or a kernel (tests/fake_cuda). Without
 * that driver in LD_LIBRARY_PATH the test checks the message for a missing driver.
 */
#include <stdio.h>
#include <string.h>

#include "suite.h"

#include "cuda_net.h"
#include "kernels.h"
#include "runtime/device.h"

/* A block may have more shared memory than 48 KiB, if the device has it. */
START_TEST(shared_memory)
{
	DlcError err = { 0 };
	Net n;
	Build *b = for_cuda(build_add(N), CUDA_HEAD);
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

/* Too large are some sizes of the inputs, not all: the others run. */
START_TEST(large_for_some)
{
	static _Alignas(64) float a[N], b[N], out[N];
	DlcError err = { 0 };
	Net n;
	Build *build = build_new();
	uint32_t sym = build_sym(build, "n", BUNDLE_SYM_INPUT, 1, N, 0), shape = build_dim(build, (int)sym, 1, 0, 1);
	uint32_t slot[3];
	for (uint32_t k = 0; k < 3; k++) {
		build_tensor(build, (const char *[]){ "a", "b", "out" }[k], k == 2, 1, shape);
		slot[k] = build_slot(build, k < 2 ? BUNDLE_INPUT : BUNDLE_OUTPUT, k % 2, 0, sizeof a);
	}
	BundleOp *o = build_call(build, KERNEL_add, slot, (int64_t[]){ 0 });
	build->dim[o->dim] = build->dim[shape];
	for_cuda(build, CUDA_HEAD);
	build->launch[KERNEL_add].dim[DLC_GRID + 2] = (DlcDim){ { 0, -1 }, 1000, 0, 1 };
	n = opened(build);
	for (int64_t len = 66; len > 64; len--) { /* a grid has 65535 blocks along z */
		DlcTensor t = tensor(a, &len);
		t.ndim = 1;
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 0, &t, &err), DLC_OK);
		t.data = b;
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_INPUT, 1, &t, &err), DLC_OK);
		t.data = out;
		ck_assert_int_eq(dlc_instance_bind(n.i, DLC_OUTPUT, 0, &t, &err), DLC_OK);
		for (int k = 0; k < len; k++) {
			a[k] = (float)k;
			b[k] = 3;
		}
		ck_assert_int_eq(dlc_instance_run(n.i, &err), len > 65 ? DLC_BAD_TARGET : DLC_OK);
		for (int k = 0; k < len; k++)
			ck_assert_float_eq(out[k], len > 65 ? 0 : a[k] + b[k]);
	}
	ck_assert_str_eq(err.text, "kernel add has 66000 blocks along grid.z, and the CUDA device takes 65535: take "
							   "smaller inputs, or compile it for this device");
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
	DlcStatus s = open_cuda(for_cuda(build_add(N), CUDA_HEAD), &n, &err);
	if (s == DLC_OK)
		s = dlc_instance_run(n.i, &err);
	ck_assert_msg(s == f->status && strstr(err.text, f->says) != NULL, "status %d: %s", (int)s, err.text);
	net_close(&n);
}
END_TEST

/* What is said of a launch is not said again of a copy that fails later. */
START_TEST(one_after_another)
{
	DlcError err = { 0 };
	float a[N] = { 0 };
	setenv("FAKE_CUDA_THREADS", "16", 1);
	setenv("FAKE_CUDA_FAIL", "cuMemcpyHtoDAsync_v2:2:1", 1); /* the first one is that of the constants */
	Net n = opened(for_cuda(build_add(N), CUDA_HEAD));
	ck_assert_int_eq(dlc_instance_run(n.i, &err), DLC_KERNEL);
	ck_assert_msg(strstr(err.text, "has blocks of 32 threads") != NULL, "%s", err.text);
	ck_assert_int_eq(dlc_instance_write(n.i, DLC_INPUT, 0, a, sizeof a, &err), DLC_KERNEL);
	ck_assert_str_eq(err.text, "the CUDA device failed: CUDA_ERROR_INVALID_VALUE (invalid argument)");
	closed(&n);
}
END_TEST

/* Launches that no such device takes are refused when the model opens: kernel, axis, and both numbers. */
START_TEST(too_large)
{
	static const struct {
		int dim;
		DlcDim value;
		const char *says;
	} ROW[] = {
		{ DLC_GRID + 1, { { 0, -1 }, 1000, 0, 1 },
			"kernel add has 100000 blocks along grid.y, and the CUDA device takes 65535: compile it for this device" },
		{ DLC_GRID + 2, { { -1, -1 }, 0, 65536, 1 }, "kernel add has 65536 blocks along grid.z" },
		{ DLC_BLOCK, { { -1, -1 }, 0, 1025, 1 }, "kernel add has 1025 threads along block.x" },
		{ DLC_BLOCK + 2, { { -1, -1 }, 0, 65, 1 }, "kernel add has 65 threads along block.z" },
		{ DLC_BLOCK + 1, { { -1, -1 }, 0, 33, 1 },
			"kernel add has blocks of 32 x 33 x 1 threads, and the CUDA device takes 1024" },
	};
	DlcError err = { 0 };
	Net n;
	Build *b = for_cuda(build_add(N), CUDA_HEAD);
	b->launch[KERNEL_add].dim[ROW[_i].dim] = ROW[_i].value;
	ck_assert_int_eq(open_cuda(b, &n, &err), DLC_BAD_TARGET);
	ck_assert_msg(strncmp(err.text, ROW[_i].says, strlen(ROW[_i].says)) == 0, "%s", err.text);
	net_close(&n);
	ck_assert_int_eq(ask("fake_cuda_held", NULL), 0);
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
	Net n = opened(for_cuda(b, CUDA_HEAD));
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
	TCase *tc = tcase_create("cuda failures");
	if (getenv("FAKE_CUDA_KERNELS") == NULL) {
		tcase_add_test(tc, absent);
		return run_suite("cuda failures", tc);
	}
	tcase_add_loop_test(tc, shared_memory, 0, 2);
	tcase_add_loop_test(tc, failures, 0, LEN(failed));
	tcase_add_test(tc, one_after_another);
	tcase_add_loop_test(tc, too_large, 0, 5);
	tcase_add_test(tc, large_for_some);
	tcase_add_loop_test(tc, bad_images, 0, 4);
	tcase_add_test(tc, features);
	tcase_add_test(tc, described);
	tcase_add_loop_test(tc, lost, 0, 2);
	return run_suite("cuda failures", tc);
}
