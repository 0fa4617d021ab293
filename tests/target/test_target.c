/* The room target: CPUs by their facts, fake machines by their /sys, names, identities. */
#include "runtime/cpu.h"
#include "runtime/host.h"
#include "runtime/probe.h"
#include "suite.h"
#include "target/detect.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static uint64_t mask_of(const char *words, Arch arch)
{
	char copy[600], *save = NULL;
	uint64_t mask = 0;
	snprintf(copy, sizeof copy, "%s", words);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
		Feature f;
		Arch of;
		uint64_t level;
		if (level_find(w, &of, &level))
			mask |= level;
		else {
			ck_assert(feature_find(w, arch, &f));
			mask |= FEATURE_BIT(f);
		}
	}
	return mask;
}

#define ZEN4 \
	"x86-64-v4 avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq " \
	"avx512bf16"

static const struct {
	Arch arch;
	Vendor vendor;
	uint32_t family, model;
	const char *features;
	const char *text;
	int bits, regs, latency, rate;
	const char *level;
} cpus[] = {
	/* Zen 5: EPYC 9005 is family 1Ah, model 02h; what host must be called there. */
	{ ARCH_X86_64, VENDOR_AMD, 0x1a, 0x02, ZEN4 " avx512vp2intersect avxvnni", "cpu:znver5 t1", 512, 32, 4, 2,
		"x86-64-v4" },
	{ ARCH_X86_64, VENDOR_AMD, 0x1a, 0x44, ZEN4, "cpu:znver5 t1", 512, 32, 4, 2, "x86-64-v4" },
	/* A hypervisor that hides AVX-512: the same cores, other features. */
	{ ARCH_X86_64, VENDOR_AMD, 0x1a, 0x02, "x86-64-v3", "cpu:znver5 t1", 256, 16, 4, 2, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_AMD, 0x19, 0x11, ZEN4, "cpu:znver4 t1", 512, 32, 4, 1, "x86-64-v4" },
	{ ARCH_X86_64, VENDOR_AMD, 0x19, 0x11, "x86-64-v3", "cpu:znver4 t1", 256, 16, 4, 2, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_AMD, 0x19, 0x21, "x86-64-v3", "cpu:znver3 t1", 256, 16, 4, 2, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_AMD, 0x17, 0x31, "x86-64-v3", "cpu:znver2 t1", 256, 16, 5, 2, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_AMD, 0x17, 0x01, "x86-64-v3", "cpu:znver1 t1", 256, 16, 5, 1, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x55, "x86-64-v4", "cpu:skylake-avx512 t1", 512, 32, 4, 2, "x86-64-v4" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x55, "x86-64-v4 avx512vnni", "cpu:cascadelake t1", 512, 32, 4, 2, "x86-64-v4" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x55, "x86-64-v4 avx512vnni avx512bf16", "cpu:cooperlake t1", 512, 32, 4, 2,
		"x86-64-v4" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x6a, "x86-64-v4", "cpu:icelake-server t1", 512, 32, 4, 2, "x86-64-v4" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0xcf, "x86-64-v4", "cpu:sapphirerapids t1", 512, 32, 4, 2, "x86-64-v4" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x55, "x86-64-v4 amx-tile amx-int8", "cpu:sapphirerapids t1", 512, 32, 4, 2,
		"x86-64-v4" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0xb7, "x86-64-v3 avxvnni", "cpu:alderlake t1", 256, 16, 4, 2, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x3f, "x86-64-v3", "cpu:haswell t1", 256, 16, 5, 2, "x86-64-v3" },
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0x2d, "x86-64-v2 avx", "cpu:sandybridge t1", 256, 16, 0, 0, "x86-64-v2" },
	/* Designs nobody has told us of get the level of their features. */
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0xfe, "x86-64-v4 avxvnni", "cpu:x86-64-v4 t1", 512, 32, 0, 0, "x86-64-v4" },
	{ ARCH_X86_64, VENDOR_OTHER, 7, 0x3b, "x86-64-v2", "cpu:x86-64-v2 t1", 128, 16, 0, 0, "x86-64-v2" },
	{ ARCH_X86_64, VENDOR_AMD, 0x10, 0x02, "sse3 popcnt", "cpu:x86-64 t1", 128, 16, 0, 0, "x86-64" },
	/* AVX-512 whose base a hypervisor hides is none. */
	{ ARCH_X86_64, VENDOR_INTEL, 6, 0xfe, "x86-64-v2 avx512f avx512vnni", "cpu:x86-64-v2 t1", 128, 16, 0, 0,
		"x86-64-v2" },
	{ ARCH_AARCH64, VENDOR_APPLE, 0, 0x023, "neon", "cpu:apple-m1 t1", 128, 32, 4, 4, "armv8-a" },
	{ ARCH_AARCH64, VENDOR_ARM, 0, 0xd08, "neon", "cpu:cortex-a72 t1", 128, 32, 7, 1, "armv8-a" },
	{ ARCH_AARCH64, VENDOR_ARM, 0, 0xd0c, "neon lse dotprod fullfp16 rdm", "cpu:neoverse-n1 t1", 128, 32, 4, 2,
		"armv8-a" },
	{ ARCH_AARCH64, VENDOR_OTHER, 0, 0x123, "neon", "cpu:armv8-a t1", 128, 32, 0, 0, "armv8-a" },
};

START_TEST(facts_become_a_target)
{
	CpuFacts facts = { .arch = cpus[_i].arch,
		.vendor = cpus[_i].vendor,
		.family = cpus[_i].family,
		.model = cpus[_i].model,
		.features = mask_of(cpus[_i].features, cpus[_i].arch) };
	Target t;
	char text[TARGET_TEXT];
	target_from_facts(&t, &facts);
	ck_assert_str_eq(target_text(&t, text), cpus[_i].text);
	ck_assert_int_eq(t.vector_bits, cpus[_i].bits);
	ck_assert_int_eq(t.vector_regs, cpus[_i].regs);
	ck_assert_int_eq(t.line_bytes, strncmp(t.model, "apple-", 6) == 0 ? 128 : 64);
	bool known = t.core.source[CORE_FMA_RATE] == CORE_MODEL;
	ck_assert_int_eq(known ? (int)t.core.fma_latency : 0, cpus[_i].latency);
	ck_assert_int_eq(known ? (int)t.core.fma_rate : 0, cpus[_i].rate);
	for (int f = 0; f < CORE_FIGURES; f++)
		ck_assert_msg(core_get(&t.core, (CoreFigure)f) > 0, "%s", core_key((CoreFigure)f));
	uint64_t own;
	ck_assert_str_eq(level_of(t.arch, t.features, &own), cpus[_i].level);
	ck_assert_int_eq(t.threads, 1);
	ck_assert_str_eq(t.scope[0].name, "global");
}
END_TEST

/* A hypervisor shows AMX on one machine and hides it on the next: their records are each other's. */
START_TEST(what_no_code_uses_is_no_part_of_a_target)
{
	CpuFacts facts = { .arch = ARCH_X86_64,
		.vendor = VENDOR_INTEL,
		.family = 6,
		.model = 0xcf,
		.features = mask_of("x86-64-v4 avx512fp16", ARCH_X86_64) };
	Target without, with;
	target_from_facts(&without, &facts);
	facts.features |= mask_of("amx-tile amx-int8 amx-bf16", ARCH_X86_64);
	target_from_facts(&with, &facts);
	Hash own = target_id(&without), other = target_id(&with);
	ck_assert_mem_eq(&own, &other, sizeof own);

	Target from_file;
	static const char text[] = "{\"kind\":\"cpu\",\"model\":\"sapphirerapids\","
							   "\"features\":[\"x86-64-v4\",\"avx512fp16\",\"amx-tile\",\"amx-int8\"]}";
	Err err = { 0 };
	ck_assert_msg(target_parse(&from_file, "a.json", text, sizeof text - 1, 1, &err), "%s", err.text);
	other = target_id(&from_file);
	ck_assert_mem_eq(&own, &other, sizeof own);

	facts.features = mask_of("x86-64-v4", ARCH_X86_64);
	target_from_facts(&with, &facts);
	other = target_id(&with);
	ck_assert_mem_ne(&own, &other, sizeof own);
}
END_TEST

START_TEST(every_feature_has_a_base_and_a_test_in_the_runtime)
{
	for (int f = 0; f < FEATURE_COUNT; f++) {
		uint64_t alone = FEATURE_BIT(f), needs = feature_needs((Feature)f);
		ck_assert(features_closed(alone) == (needs == 0 ? alone : 0));
		for (int g = 0; g < FEATURE_COUNT; g++)
			ck_assert((needs & FEATURE_BIT(g)) == 0 || feature_arch((Feature)g) == feature_arch((Feature)f));
		/* A bundle names features; the runtime of its architecture must know every one. */
		if (strcmp(arch_name(feature_arch((Feature)f)), cpu_arch_name(cpu_arch())) != 0)
			continue;
		bool known = false;
		for (int i = 0; cpu_feature_name(i) != NULL; i++)
			known = known || strcmp(cpu_feature_name(i), feature_name((Feature)f)) == 0;
		ck_assert_msg(known, "%s is not in runtime/feature.def", feature_name((Feature)f));
	}
}
END_TEST

static const char pi3[] = "processor\t: 0\nBogoMIPS\t: 38.40\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
						  "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd03\n"
						  "CPU revision\t: 4\n\n";
static const char little[] = "CPU implementer\t: 0x41\nCPU part\t: 0xd05\n",
				  big[] = "CPU implementer : 0x41\nCPU part : 0xd0b\n",
				  m1[] = "CPU implementer\t: 0x61\nCPU part\t: 0x023\n";

static const struct {
	const char *text[3];
	Vendor vendor;
	uint32_t part;
} cpuinfos[] = {
	{ { pi3, pi3, pi3 }, VENDOR_ARM, 0xd03 },
	{ { little, little, big }, VENDOR_ARM, 0xd05 },
	{ { little, big, "" }, VENDOR_ARM, 0xd0b },
	{ { m1, "", "" }, VENDOR_APPLE, 0x23 },
	{ { "vendor_id : GenuineIntel\n", "", "" }, VENDOR_OTHER, 0 },
	{ { "CPU part", "CPU implementer :", "CPU part : zebra" }, VENDOR_OTHER, 0 },
};

START_TEST(the_most_frequent_core_of_cpuinfo_is_taken)
{
	CpuFacts f = { .arch = ARCH_AARCH64 };
	facts_from_cpuinfo(&f, arena_printf(a, "%s%s%s", cpuinfos[_i].text[0], cpuinfos[_i].text[1], cpuinfos[_i].text[2]));
	ck_assert_int_eq(f.vendor, cpuinfos[_i].vendor);
	ck_assert_uint_eq(f.model, cpuinfos[_i].part);
}
END_TEST

/* ---- a machine in a folder */

static void put(const char *root, const char *path, const char *text)
{
	char *full = arena_printf(a, "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = 0;
		mkdir(full, 0777);
		*p = '/';
	}
	FILE *f = fopen(full, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void put_cache(
	const char *root, int index, const char *level, const char *type, const char *size, const char *shared)
{
	const char *dir = arena_printf(a, "devices/system/cpu/cpu0/cache/index%d", index);
	put(root, arena_printf(a, "%s/level", dir), level);
	put(root, arena_printf(a, "%s/type", dir), type);
	put(root, arena_printf(a, "%s/size", dir), size);
	put(root, arena_printf(a, "%s/shared_cpu_list", dir), shared);
}

START_TEST(a_fake_machine_is_read)
{
	char root[] = "/tmp/dlc-sys.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(root));
	Target t = { .cpus = 0 };
	target_read_host(&t, root, root);
	ck_assert_int_eq(target_cache(&t, 1), 0);
	put_cache(root, 0, "1", "Data", "48K", "0,4");
	put_cache(root, 1, "1", "Instruction", "32K", "0,4");
	put_cache(root, 2, "2", "Unified", "1M", "0,4");
	put_cache(root, 3, "3", "Unified", "33554432", "0-7");
	put_cache(root, 4, "9", "Unified", "1K", "0");
	put_cache(root, 5, "4", "Unified", "-5", "x");
	target_read_host(&t, root, root);
	ck_assert_int_eq(target_cache(&t, 1), 48 << 10);
	ck_assert_int_eq(target_cache(&t, 2), 1 << 20);
	ck_assert_int_eq(target_cache(&t, 3), 32 << 20);
	ck_assert_int_eq(target_cache(&t, 4), 0);
	ck_assert_int_eq(target_cache(&t, 0), 0);
	ck_assert_int_eq(target_cache(&t, 5), 0);
	ck_assert_int_eq(t.cache[0].shared_by, 2);
	ck_assert_int_eq(t.cache[2].shared_by, 8);

	/* Eight CPUs, siblings i and i+4; without topology each CPU is a core. */
	uint64_t all[16] = { 0xff }, half[16] = { 0x0f }, pair[16] = { 0x11 };
	ck_assert_int_eq(host_cores(all, 64, root), 8);
	for (int i = 0; i < 8; i++)
		put(root, arena_printf(a, "devices/system/cpu/cpu%d/topology/thread_siblings_list", i),
			arena_printf(a, "%d,%d", i % 4, i % 4 + 4));
	ck_assert_int_eq(host_cores(all, 64, root), 4);
	ck_assert_int_eq(host_cores(half, 64, root), 4);
	ck_assert_int_eq(host_cores(pair, 64, root), 1);

	static const struct {
		const char *text;
		int cpus;
	} quotas[] = { { "max 100000", INT_MAX }, { "150000 100000", 2 }, { "50000 100000", 1 }, { "400000 100000", 4 },
		{ "nonsense", INT_MAX }, { "-1 100000", INT_MAX }, { "5 0", INT_MAX } };
	ck_assert_int_eq(host_granted_cpus(root), INT_MAX);
	for (int i = 0; i < LEN(quotas); i++) {
		put(root, "fs/cgroup/cpu.max", quotas[i].text);
		ck_assert_int_eq(host_granted_cpus(root), quotas[i].cpus);
	}
	put(root, "meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB");
	ck_assert_uint_eq(host_memory(root, root), 2048 << 10);
	put(root, "fs/cgroup/memory.max", "max");
	ck_assert_uint_eq(host_memory(root, root), 2048 << 10);
	put(root, "fs/cgroup/memory.max", "1048576");
	ck_assert_uint_eq(host_memory(root, root), 1 << 20);
	target_read_host(&t, root, root);
	ck_assert_int_eq(t.scope[0].bytes, 1 << 20);
	ck_assert(t.cpus >= 1 && t.cores >= 1 && t.cores <= t.cpus);
	ck_assert_int_eq(system(arena_printf(a, "rm -r %s", root)), 0);
}
END_TEST

START_TEST(the_host_is_what_the_runtime_says_it_is)
{
	Target t;
	target_host(&t, 3);
	ck_assert_int_eq(t.threads, 3);
	ck_assert_int_ge(t.cpus, 1);
	ck_assert_int_ge(t.cores, 1);
	ck_assert_int_le(t.cores, t.cpus);
	ck_assert_str_eq(arch_name(t.arch), cpu_arch_name(cpu_arch()));
	for (int f = 0; f < FEATURE_COUNT; f++)
		if (target_has(&t, (Feature)f))
			ck_assert(cpu_has(feature_name((Feature)f)));
	ck_assert(target_runs_on(&t, &t, NULL));
}
END_TEST

/* ---- identity */

static Target parsed(const char *text)
{
	Err e = { 0 };
	Target t;
	if (!target_parse(&t, "t.json", text, strlen(text), 1, &e))
		ck_abort_msg("%s: %s", e.place, e.text);
	return t;
}

START_TEST(identity_is_kind_model_features_and_threads)
{
	Target t = parsed("{\"kind\":\"cpu\",\"model\":\"haswell\",\"features\":[\"fma\",\"f16c\","
					  "\"avx2\",\"avx\",\"sse4.2\",\"sse4.1\","
					  "\"ssse3\",\"sse3\"]}");
	t.threads = 2;
	ck_assert_str_eq(target_record(a, &t),
		"{\"features\":[\"avx\",\"avx2\",\"f16c\",\"fma\",\"sse3\",\"sse4.1\",\"sse4.2\","
		"\"ssse3\"],"
		"\"kind\":\"target\",\"model\":\"haswell\",\"threads\":2,\"type\":\"cpu\"}");
	Hash id = target_id(&t);
	char hex[HASH_HEX];
	hash_hex(id, hex);
	/* Python: hashlib.blake2b(b"dlc/target/v1\0" + line, digest_size=16) */
	ck_assert_str_eq(hex, "b3672f5e9c0d39d183a0e062640285eb");

	/* What describes the machine does not change it. */
	Target u = t;
	u.cores = 99;
	u.cache[0].bytes = 1;
	u.scope[0].bytes = 7;
	u.vector_bits = 128;
	u.core.fma_rate = 9;
	snprintf(u.brand, sizeof u.brand, "other");
	ck_assert_int_eq(memcmp(id.byte, target_id(&u).byte, 16), 0);
	/* What is part of it does. */
	u = t;
	u.threads = 1;
	ck_assert_int_ne(memcmp(id.byte, target_id(&u).byte, 16), 0);
	u = t;
	u.features &= ~FEATURE_BIT(FEATURE_FMA);
	ck_assert_int_ne(memcmp(id.byte, target_id(&u).byte, 16), 0);
	u = t;
	snprintf(u.model, sizeof u.model, "broadwell");
	ck_assert_int_ne(memcmp(id.byte, target_id(&u).byte, 16), 0);
}
END_TEST

START_TEST(code_runs_where_nothing_is_lacking)
{
	Err e = { 0 };
	Target v3 = parsed("{\"kind\":\"cpu\",\"model\":\"x86-64-v3\"}"),
		   v4 = parsed("{\"kind\":\"cpu\",\"model\":\"x86-64-v4\"}"),
		   arm = parsed("{\"kind\":\"cpu\",\"model\":\"armv8-a\"}");
	ck_assert(target_runs_on(&v3, &v4, &e));
	ck_assert(!target_runs_on(&v4, &v3, &e));
	ck_assert_str_eq(e.text, "the target needs features that this machine (x86-64-v3) lacks: avx512f avx512dq "
							 "avx512cd avx512bw avx512vl");
	e = (Err){ 0 };
	ck_assert(!target_runs_on(&arm, &v4, &e));
	ck_assert_int_eq(err_exit_code(e.code), 3);
}
END_TEST

/* ---- names */

static const struct {
	const char *name, *text; /* NULL: refused */
	int exit_code;
	const char *says;
} names[] = {
	{ "x86-64-v3", "cpu:x86-64-v3 t1", 0, NULL },
	{ "cpu:x86-64-v4", "cpu:x86-64-v4 t1", 0, NULL },
	{ "cpu:znver5", "cpu:znver5 t1", 0, NULL },
	{ "cpu:rpi3b", "cpu:cortex-a53 t1", 0, NULL },
	{ "toaster", NULL, 2, "there is no such target; there are: host, cpu, " },
	{ "znver55", NULL, 2, "there is no such target (did you mean znver5?)" },
	{ "cpu:haswel", NULL, 2, "there is no such cpu target (did you mean haswell?)" },
	{ "cuda:k80", "cuda:k80 t1", 0, NULL },
	{ "rtx4090", "cuda:rtx4090 t1", 0, NULL },
	{ "opencl:pocl", "opencl:pocl t1", 0, NULL },
	{ "opencl:generic", "opencl:generic t1", 0, NULL },
	{ "cuda:sm_86", "cuda:sm_86 t1", 0, NULL },
	{ "opencl:sm_86", NULL, 2, "there is no such opencl target" },
	{ "cuda:sm_87", NULL, 2, "there is no such cuda target" },
	{ "cuda:k8", NULL, 2, "there is no such cuda target (did you mean k80?)" },
	{ "metal", NULL, 2, "there is no metal target: name a .json file" },
	{ "wasm", NULL, 2, "there is no wasm target: name a .json file" },
	{ "", NULL, 2, "there is no such target" },
	{ "cpu:", NULL, 2, "there is no such cpu target" },
	{ "cpu:../targets/znver5", NULL, 2, "there is no such cpu target" },
	{ ":", NULL, 2, "there is no such target" },
	{ "/nonexistent.json", NULL, 1, "there is no such file" },
	{ "nonexistent.json", NULL, 1, "there is no such file" },
	{ "/", NULL, 1, "it is a folder, not a file" },
	{ "/dev/null", NULL, 1, "it is a character device, not a file" },
};

START_TEST(names_are_resolved_or_refused)
{
	Target t;
	Err e = { 0 };
	char text[TARGET_TEXT];
	bool ok = target_resolve(&t, names[_i].name, 1, configs, 1, &e);
	ck_assert_int_eq(err_exit_code(e.code), names[_i].exit_code);
	ck_assert_int_eq(ok, names[_i].text != NULL);
	if (ok)
		ck_assert_str_eq(target_text(&t, text), names[_i].text);
	else if (strncmp(e.text, names[_i].says, strlen(names[_i].says)) != 0)
		ck_abort_msg("%s: %s", names[_i].name, e.text);
}
END_TEST

START_TEST(host_and_cpu_are_this_machine)
{
	static const char *const same[] = { "host", "cpu", "cpu:host" };
	Target host, t;
	Err e = { 0 };
	target_host(&host, 2);
	for (int i = 0; i < LEN(same); i++) {
		ck_assert(target_resolve(&t, same[i], 2, NULL, 0, &e));
		ck_assert_int_eq(memcmp(target_id(&t).byte, target_id(&host).byte, 16), 0);
	}
	ck_assert(!target_resolve(&t, "host", 0, NULL, 0, &e));
	ck_assert_int_eq(err_exit_code(e.code), 2);
	ck_assert(!target_resolve(&t, "host", TEAM_MAX + 1, NULL, 0, &e));
}
END_TEST

/* What a core does in a cycle is measured within what cores do, with and without assembly. */
START_TEST(a_core_is_measured)
{
	Target host;
	ProbeCore p;
	uint64_t cache[TARGET_CACHES];
	target_host(&host, 1);
	for (int k = 0; k < TARGET_CACHES; k++)
		cache[k] = (uint64_t)host.cache[k].bytes;
	ck_assert(probe_core(&p, _i == 0 ? host.vector_bits : 0, cache));
	/* Other tests run on this core meanwhile: a rate that is too low is measured again. */
	for (int again = 0; again < 5 && (p.loads <= 0.1 || p.stores <= 0.1); again++)
		ck_assert(probe_core(&p, _i == 0 ? host.vector_bits : 0, cache));
	ck_assert_msg(p.ghz > 0.1 && p.ghz < 10, "%g GHz", p.ghz);
	ck_assert_msg(p.fma_latency > 1.5 && p.fma_latency < 40, "latency %g", p.fma_latency);
	ck_assert_msg(p.fma_rate > 0.05 && p.fma_rate < 8, "%g FMAs", p.fma_rate);
	ck_assert_msg(
		p.loads > 0.1 && p.loads < 8 && p.stores > 0.1 && p.stores < 8, "%g loads, %g stores", p.loads, p.stores);
	ck_assert_msg(p.decode > 0.5 && p.decode < 20, "%g instructions", p.decode);
	ck_assert_msg(p.level[TARGET_CACHES] > 0.05 && p.level[TARGET_CACHES] < p.level[0], "%g of %g bytes",
		p.level[TARGET_CACHES], p.level[0]);
}
END_TEST

/* Measured figures replace defaults and nothing else, and come back from a record as they were. */
START_TEST(measured_figures_are_adopted)
{
	CpuFacts facts = {
		.arch = ARCH_X86_64, .maker = "Nobody", .family = 7, .model = 1, .features = mask_of("x86-64-v3", ARCH_X86_64)
	};
	Target t;
	Err err = { 0 };
	char owner[TARGET_TEXT];
	Core p = core_from_probe(&(ProbeCore){ .ghz = 2.5,
		.fma_latency = 5,
		.fma_rate = 1.25,
		.loads = 2,
		.stores = 1,
		.decode = 99 /* no core does */,
		.level = { 64, 20, 0, 0, 3 } });
	target_from_facts(&t, &facts);
	Hash before = target_id(&t);
	ck_assert(core_wants_probe(&t));
	ck_assert_str_eq(core_owner(&t, owner), "x86-64 Nobody 7 1, 256 bits");
	t.core.source[CORE_LOADS] = CORE_FILE;
	t.core.loads = 3;
	core_adopt(&t, &p);
	ck_assert(!core_wants_probe(&t));
	ck_assert(
		t.core.ghz == 2.5 && t.core.fma_rate == 1.25 && t.core.level[1] == 20 && t.core.level[TARGET_CACHES] == 3);
	ck_assert(t.core.loads == 3 && t.core.source[CORE_LOADS] == CORE_FILE);
	ck_assert(t.core.decode > 0 && t.core.source[CORE_DECODE] == CORE_DEFAULT);
	ck_assert(t.core.level[2] > 0 && t.core.source[CORE_L3] == CORE_DEFAULT);
	Hash after = target_id(&t);
	ck_assert(memcmp(&before, &after, sizeof before) == 0);

	Core back;
	ck_assert(core_read_record(&back, core_record(a, &t.core), &err));
	for (int f = 0; f < CORE_FIGURES; f++)
		ck_assert(
			core_get(&back, (CoreFigure)f) == (t.core.source[f] == CORE_PROBE ? core_get(&t.core, (CoreFigure)f) : 0));
	Json *bad = json_new(a, JV_OBJECT);
	json_set(a, bad, "ghz", json_new_int(a, 99000));
	ck_assert(!core_read_record(&back, bad, &err));

	facts.vendor = VENDOR_AMD;
	facts.family = 0x19;
	facts.model = 0x21;
	target_from_facts(&t, &facts);
	ck_assert(!core_wants_probe(&t)); /* model.def has a row */
}
END_TEST

START_TEST(every_shipped_file_is_a_target)
{
	size_t n;
	const char *const *list = target_list(a, configs, 1, &n);
	ck_assert_uint_ge(n, 5);
	for (size_t i = 0; i < n; i++) {
		Target t;
		Err e = { 0 };
		/* The name "opencl" is a kind before it is a file. */
		if (!target_resolve(&t, arena_printf(a, "%s/%s.json", configs[0], list[i]), 4, NULL, 0, &e))
			ck_abort_msg("%s: %s", e.place, e.text);
		ck_assert_int_eq(t.threads, t.kind == TARGET_CPU ? 4 : 1);
		ck_assert(target_has_blocks(&t) == (t.kind != TARGET_CPU));
		for (int f = 0; f < CORE_FIGURES; f++)
			ck_assert_msg(core_get(&t.core, (CoreFigure)f) > 0, "%s: %s", list[i], core_key((CoreFigure)f));
		for (int k = 0; blocks_key(k) != NULL && target_has_blocks(&t); k++)
			ck_assert_msg(blocks_get(&t.blocks, k) > 0, "%s: %s", list[i], blocks_key(k));
		ck_assert_int_gt(target_cache(&t, 1), 0);
		ck_assert(i == 0 || strcmp(list[i - 1], list[i]) < 0);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("target");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, facts_become_a_target, 0, LEN(cpus));
	tcase_add_test(tc, every_feature_has_a_base_and_a_test_in_the_runtime);
	tcase_add_test(tc, what_no_code_uses_is_no_part_of_a_target);
	tcase_add_loop_test(tc, the_most_frequent_core_of_cpuinfo_is_taken, 0, LEN(cpuinfos));
	tcase_add_test(tc, a_fake_machine_is_read);
	tcase_add_test(tc, the_host_is_what_the_runtime_says_it_is);
	tcase_add_test(tc, identity_is_kind_model_features_and_threads);
	tcase_add_test(tc, code_runs_where_nothing_is_lacking);
	tcase_add_loop_test(tc, names_are_resolved_or_refused, 0, LEN(names));
	tcase_add_test(tc, host_and_cpu_are_this_machine);
	tcase_add_loop_test(tc, a_core_is_measured, 0, 2);
	tcase_add_test(tc, measured_figures_are_adopted);
	tcase_add_test(tc, every_shipped_file_is_a_target);
	return run_suite("target", tc);
}
