/* Targets of devices from what drivers say, and the text of a target. */
#include "suite.h"
#include "target/capability.h"
#include "target/detect.h"
#include "target/machine_device.h"
#include "target/occupancy.h"

#include <stdio.h>
#include <string.h>

static Arena *a;
static const char *configs[1];

static void setup(void)
{
	a = arena_new();
	configs[0] = getenv("DLC_TEST_CONFIGS");
	if (configs[0] == NULL)
		configs[0] = "configs/targets";
}

static void teardown(void)
{
	arena_free(a);
}

static Target file_of(const char *name)
{
	Target t;
	Err e = { 0 };
	if (!target_resolve(&t, arena_printf(a, "%s/%s.json", configs[0], name), 1, NULL, 0, &e))
		ck_abort_msg("%s: %s", e.place, e.text);
	return t;
}

static const struct {
	const char *name, *driver, *model;
	bool is;
} names[] = {
	{ "NVIDIA H200", "CUDA 13.0", "h200", true },
	{ "NVIDIA H200", "CUDA 13.0", "h100", false },
	{ "NVIDIA GH200 480GB", "CUDA 13.0", "h200", false },
	{ "NVIDIA H200 NVL", "", "h200", true },
	{ "NVIDIA A100-SXM4-80GB", "", "a100", true },
	{ "Tesla K80", "", "k80", true },
	{ "Tesla T4", "", "t4", true },
	{ "NVIDIA T400 4GB", "", "t4", false },
	{ "NVIDIA GeForce GTX 1080 Ti", "", "gtx1080ti", true },
	{ "NVIDIA GeForce GTX 1080", "", "gtx1080ti", false },
	{ "NVIDIA GeForce RTX 4090", "", "rtx4090", true },
	{ "NVIDIA GeForce RTX 4090", "", "4090", true },
	{ "NVIDIA GeForce RTX 4090", "", "409", false },
	{ "NVIDIA GeForce RTX 4090 Laptop GPU", "", "rtx4090", false },
	{ "NVIDIA GeForce RTX 4090 D", "", "rtx4090", false },
	{ "NVIDIA GeForce GTX 1080 Ti", "", "gtx1080", false },
	{ "NVIDIA GeForce GTX 1080 with Max-Q Design", "", "gtx1080", false },
	{ "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "", "a100", false },
	{ "cpu-haswell-Intel(R) Xeon(R)", "OpenCL 3.0 PoCL HSTR: cpu", "pocl", true },
	{ "pthread", "OpenCL 3.0 MyPoCLish", "pocl", false },
	{ "", "", "pocl", false },
	{ "any", "any", "", false },
};

START_TEST(models_are_words_of_names)
{
	DeviceFacts f = { .n = 0 };
	snprintf(f.name, sizeof f.name, "%s", names[_i].name);
	snprintf(f.driver, sizeof f.driver, "%s", names[_i].driver);
	ck_assert_msg(device_is_model(&f, names[_i].model) == names[_i].is, "%s, %s", names[_i].name, names[_i].model);
}
END_TEST

static const struct {
	TargetKind kind;
	const char *name, *features, *text; /* NULL: refused */
	Feature highest;
} models[] = {
	{ TARGET_CUDA, "NVIDIA L40S", "sm_89", "cuda:l40s t1", FEATURE_SM_89 },
	{ TARGET_CUDA, "NVIDIA B300", "sm_103", "cuda:b300 t1", FEATURE_SM_100 },
	{ TARGET_CUDA, "NVIDIA GB10", "sm_121", "cuda:gb10 t1", FEATURE_SM_120 },
	{ TARGET_CUDA, "Quadro M6000", "sm_52", "cuda:quadro-m6000 t1", FEATURE_SM_37 },
	{ TARGET_CUDA, "NVIDIA GeForce RTX 3060 Laptop GPU", "sm_86", "cuda:geforce-rtx-3060-laptop-gpu t1",
		FEATURE_SM_86 },
	{ TARGET_CUDA, "Tesla K40", "sm_35", NULL, FEATURE_COUNT },
	{ TARGET_CUDA, "?", "", NULL, FEATURE_COUNT },
	{ TARGET_OPENCL, "AMD Radeon(TM) RX 6800", "fp16 fp64", "opencl:amd-radeon-rx-6800 t1", FEATURE_CL_FP64 },
	{ TARGET_OPENCL, "Intel(R) UHD Graphics 770", "fp16", "opencl:intel-uhd-graphics-770 t1", FEATURE_CL_FP16 },
	{ TARGET_OPENCL, "(R) ++", "", "opencl:unnamed t1", FEATURE_COUNT },
	{ TARGET_OPENCL, "a name that is much longer than the names of models", "",
		"opencl:a-name-that-is-much-longer-than t1", FEATURE_COUNT },
	{ TARGET_METAL, "Apple M1", "", NULL, FEATURE_COUNT },
	{ TARGET_CPU, "Xeon", "", NULL, FEATURE_COUNT },
};

START_TEST(devices_without_a_file_have_a_model)
{
	Target t;
	char text[TARGET_TEXT];
	DeviceFacts f = { .n = 0 };
	snprintf(f.name, sizeof f.name, "%s", models[_i].name);
	snprintf(f.features, sizeof f.features, "%s", models[_i].features);
	ck_assert_int_eq(target_from_device(&t, models[_i].kind, &f, NULL), models[_i].text != NULL);
	if (models[_i].text == NULL)
		return;
	ck_assert_str_eq(target_text(&t, text), models[_i].text);
	ck_assert(models[_i].highest == FEATURE_COUNT || target_has(&t, models[_i].highest));
	ck_assert(features_closed(t.features) == t.features);
	ck_assert(t.cores > 1 && t.blocks.warp > 1 && t.vector_bits >= 128 && t.vector_regs > 0 && t.line_bytes > 0);
	ck_assert_str_eq(t.brand, models[_i].name);
}
END_TEST

/* A driver's numbers stand above the file's; those that are out of bounds are left out. */
START_TEST(numbers_of_a_driver_are_taken)
{
	Target file = file_of("h200"), t;
	DeviceFacts f = { .name = "NVIDIA H200", .features = "sm_90" };
	device_number(&f, "cores", 114);
	device_number(&f, "ghz", 1.5);
	device_number(&f, "memory_bytes_per_second", 1.5e9 * 114 * 20);
	device_number(&f, "memory_bytes", 1e11);
	device_number(&f, "l2_bytes", 60e6);
	device_number(&f, "shared_bytes", 65536);
	device_number(&f, "unit_threads", 1024);
	device_number(&f, "warp", 99999);
	device_number(&f, "fma_latency", 1e6);
	device_number(&f, "nonsense", 3);
	ck_assert(target_from_device(&t, TARGET_CUDA, &f, &file));
	Hash id = target_id(&t), same = target_id(&file);
	ck_assert(memcmp(&id, &same, sizeof id) == 0);
	ck_assert(t.cores == 114 && t.cpus == 114 && t.core.ghz == 1.5 && t.core.source[CORE_GHZ] == CORE_DRIVER);
	ck_assert(t.core.level[TARGET_CACHES] > 19.9 && t.core.level[TARGET_CACHES] < 20.1);
	ck_assert(t.scope[0].bytes == 100000000000 && t.cache[1].bytes == 60000000 && t.cache[1].shared_by == 114);
	ck_assert(target_block_shared(&t) == 65536 && t.blocks.unit_threads == 1024);
	ck_assert(t.blocks.warp == 32 && t.core.fma_latency == file.core.fma_latency);
	ck_assert(t.core.level[1] == file.core.level[1] && t.core.source[CORE_L2] == CORE_FILE);
}
END_TEST

/* Threads of a CPU run one after the other; its unit is this machine's core. */
START_TEST(a_cpu_through_opencl_is_this_core)
{
	Target file = file_of("pocl"), host, t;
	DeviceFacts f = { .name = "pthread-Xeon", .features = "fp64", .is_cpu = true };
	snprintf(f.driver, sizeof f.driver, _i < 3 ? "OpenCL 3.0 PoCL HSTR" : "OpenCL 3.0");
	device_number(&f, "cores", 3);
	device_number(&f, "ghz", 0.1);
	device_number(&f, "vector_bits", _i == 0 ? 512 : _i == 1 ? 256 : 48);
	target_host(&host, 1);
	ck_assert(target_from_device(&t, TARGET_OPENCL, &f, _i < 1 ? &file : NULL));
	const char *cpu = _i < 3 ? arena_printf(a, "pocl-%s", host.model) : "pthread-xeon";
	ck_assert_str_eq(t.model, arena_printf(a, "%.26s-%d", cpu, t.vector_bits));
	Target again, any = file;
	Err e = { 0 };
	const char *form = arena_printf(a, "{\"kind\":\"opencl\",\"model\":\"%s\",\"features\":[\"fp64\"]}", t.model);
	ck_assert_msg(_i == 3 || target_resolve(&again, form, 1, NULL, 0, &e), "%s", e.text);
	ck_assert(_i == 3 || (again.blocks.warp == 1 && again.vector_bits == t.vector_bits &&
							 strcmp(again.model, t.model) == 0));
	ck_assert(target_times_hold(&any, &t, &e) == (_i < 3) && target_times_hold(&t, &t, &e));
	ck_assert(t.vector_bits == (_i == 0 ? 512 : _i == 1 ? 256 : 128) && t.blocks.warp == 1 && t.cores == 3);
	ck_assert(t.core.ghz == host.core.ghz && t.cache[0].bytes == host.cache[0].bytes);
	ck_assert(t.core.fma_rate * t.vector_bits == host.core.fma_rate * host.vector_bits);
	ck_assert(t.vector_regs * t.vector_bits == host.vector_regs * host.vector_bits);
}
END_TEST

/* What code asks of an architecture, instead of comparing its name. */
static const struct {
	const char *target, *code;
	double f16, tf32, bf16;
	bool copies;
} capabilities[] = {
	{ "cuda:k80", "sm_37", 0, 0, 0, false },
	{ "cuda:gtx1080ti", "sm_61", 0, 0, 0, false },
	{ "cuda:t4", "sm_75", 512, 0, 0, false },
	{ "cuda:a100", "sm_80", 1024, 512, 1024, true },
	{ "cuda:sm_120", "sm_90", 512, 256, 512, true },
	{ "opencl:generic", "", 0, 0, 0, false },
	{ "cpu:znver5", "", 0, 0, 0, false },
};

START_TEST(capabilities_are_columns)
{
	Target t;
	Err e = { 0 };
	ck_assert(target_resolve(&t, capabilities[_i].target, 1, configs, 1, &e));
	const Capability *c = target_capability(&t);
	ck_assert_str_eq(c->code, capabilities[_i].code);
	ck_assert(c->copies == capabilities[_i].copies && c->extremes == c->copies && (c->kept > 0) == c->copies);
	ck_assert(target_matrix_rate(&t, F16, false) == capabilities[_i].f16 && target_matrix_rate(&t, F32, false) == 0);
	ck_assert(target_matrix_rate(&t, F32, true) == capabilities[_i].tf32);
	ck_assert(target_matrix_rate(&t, DT(BFLOAT, 16), false) == capabilities[_i].bf16);
}
END_TEST

/* Times of a device are those of its model and of the classes that it is in. */
static const struct {
	const char *target, *machine;
	bool hold;
} times[] = {
	{ "cuda:h200", "cuda:h200", true },
	{ "cuda:h100", "cuda:h200", false },
	{ "cuda:sm_86", "cuda:rtx4090", true },
	{ "cuda:rtx4090", "cuda:sm_89", false },
	{ "opencl:generic", "opencl:pocl", true },
	{ "opencl:pocl", "opencl:generic", false },
};

START_TEST(times_are_of_a_model)
{
	Target t, machine;
	Err e = { 0 };
	ck_assert(target_resolve(&t, times[_i].target, 1, configs, 1, &e));
	ck_assert(target_resolve(&machine, times[_i].machine, 1, configs, 1, &e));
	snprintf(machine.brand, sizeof machine.brand, "X");
	ck_assert(target_times_hold(&t, &machine, &e) == times[_i].hold);
	ck_assert(times[_i].hold || (strstr(e.text, "this device, X, is ") != NULL && err_exit_code(e.code) == 3));
}
END_TEST

/* The text of a target reads back to the same target. */
static void same_text(const Target *t)
{
	Target back;
	Err e = { 0 };
	const char *text = target_json(a, t);
	ck_assert_ptr_null(strchr(text, '\n'));
	if (!target_resolve(&back, text, t->threads, NULL, 0, &e))
		ck_abort_msg("%s: %s", text, e.text);
	ck_assert_str_eq(target_json(a, &back), text);
	Hash id = target_id(t), same = target_id(&back);
	ck_assert(memcmp(&id, &same, sizeof id) == 0);
	ck_assert_msg(back.vector_regs == t->vector_regs && back.nscope == t->nscope, "%s", text);
	ck_assert(memcmp(&back.blocks, &t->blocks, sizeof back.blocks) == 0);
}

START_TEST(a_text_is_the_target)
{
	size_t n;
	Target host;
	const char *const *list = target_list(a, configs, 1, &n);
	for (size_t i = 0; i < n; i++) {
		Target t = file_of(list[i]);
		same_text(&t);
	}
	target_host(&host, 2);
	same_text(&host);
}
END_TEST

/* What this machine has; it may have no device. */
START_TEST(a_kind_is_this_machines_device)
{
	Target t;
	Err e = { 0 }, none = { 0 };
	int n = target_devices(TARGET_OPENCL, &none);
	bool ok = target_resolve(&t, "opencl", 1, configs, 1, &e);
	ck_assert_msg(ok == (n > 0), "%s", e.text);
	if (ok) {
		ck_assert(target_has_blocks(&t) && t.kind == TARGET_OPENCL && t.cores > 0 && t.brand[0] != 0);
		ck_assert(target_runs_on(&t, &t, &e));
		same_text(&t);
	} else
		ck_assert(e.code == ERR_DEVICE && none.code == ERR_DEVICE && strcmp(e.text, none.text) == 0);
	ck_assert(!target_device(&t, TARGET_OPENCL, 4000, configs, 1, &e));
	ck_assert_int_eq(err_exit_code(e.code), 5);
	e = (Err){ 0 };
	ck_assert_int_eq(target_devices(TARGET_WASM, &e), 0);
	ck_assert_str_eq(e.text, "this program opens no devices of this kind");
	ck_assert(!target_resolve(&t, "{\"kind\":\"cuda\"}", 1, NULL, 0, &e));
}
END_TEST

START_TEST(code_needs_the_blocks_of_its_target)
{
	Target h200 = file_of("h200"), k80 = file_of("k80"), less = k80;
	Err e = { 0 };
	ck_assert(target_runs_on(&k80, &h200, &e) && !target_runs_on(&h200, &k80, &e));
	e = (Err){ 0 };
	less.blocks.block_threads = 512;
	ck_assert(target_runs_on(&less, &k80, &e) && !target_runs_on(&k80, &less, &e));
	ck_assert_str_eq(e.text, "the target has blocks of 1024 threads, but k80 takes at most 512");
	less = k80;
	e = (Err){ 0 };
	target_set_scope(&less, "shared", 1000);
	ck_assert(!target_runs_on(&k80, &less, &e));
	ck_assert_str_eq(e.text, "the target's blocks have 49152 bytes of shared memory, those of k80 1000");
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("target_device");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, models_are_words_of_names, 0, LEN(names));
	tcase_add_loop_test(tc, devices_without_a_file_have_a_model, 0, LEN(models));
	tcase_add_test(tc, numbers_of_a_driver_are_taken);
	tcase_add_loop_test(tc, a_cpu_through_opencl_is_this_core, 0, 4);
	tcase_add_loop_test(tc, capabilities_are_columns, 0, LEN(capabilities));
	tcase_add_loop_test(tc, times_are_of_a_model, 0, LEN(times));
	tcase_add_test(tc, a_text_is_the_target);
	tcase_add_test(tc, a_kind_is_this_machines_device);
	tcase_add_test(tc, code_needs_the_blocks_of_its_target);
	return run_suite("target_device", tc);
}
