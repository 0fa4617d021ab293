/*
 * Reads this machine: which CPU from CPUID or /proc/cpuinfo, its features from the runtime, which
 * checks bundles by the same names; caches and cores from sysfs (sysconf reports wrong sizes on
 * some), limits of memory and CPUs from cgroups.  What cannot
 * be read stays 0 or generic: a container without /sys must still compile.
 */
#include "target/detect.h"

#include "runtime/cpu.h"

#include <ctype.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { CPUS = 1024 }; /* of a cpu_set_t */

/* The first n - 1 bytes of a small file, without its last newline; false if it cannot be read. */
static bool read_small(char *out, size_t n, const char *path)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return false;
	size_t got = fread(out, 1, n - 1, f);
	fclose(f);
	if (got > 0 && out[got - 1] == '\n')
		got--;
	out[got] = 0;
	return got > 0;
}

#if defined(__x86_64__)
static Vendor vendor_of(const char id[13])
{
	return strcmp(id, "AuthenticAMD") == 0   ? VENDOR_AMD
	       : strcmp(id, "GenuineIntel") == 0 ? VENDOR_INTEL
	       : strcmp(id, "HygonGenuine") == 0 ? VENDOR_HYGON
	                                         : VENDOR_OTHER;
}

static void read_brand(char brand[64])
{
	uint32_t word[12], *at = word;
	for (unsigned i = 0; i < 3; i++, at += 4)
		if (!__get_cpuid(0x80000002 + i, &at[0], &at[1], &at[2], &at[3]))
			return;
	char text[49] = { 0 };
	memcpy(text, word, 48);
	size_t n = strlen(text);
	while (n > 0 && text[n - 1] == ' ')
		text[--n] = 0;
	snprintf(brand, 64, "%s", text + strspn(text, " "));
}

static void read_model(CpuFacts *f)
{
	uint32_t a, b, c, d;
	char id[13] = { 0 };
	f->arch = ARCH_X86_64;
	if (__get_cpuid(0, &a, &b, &c, &d)) {
		memcpy(id, &b, 4);
		memcpy(id + 4, &d, 4);
		memcpy(id + 8, &c, 4);
	}
	f->vendor = vendor_of(id);
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		f->family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
		f->model = (a >> 4 & 15) | (a >> 12 & 0xf0);
	}
	read_brand(f->brand);
}
#elif defined(__aarch64__)
static void read_model(CpuFacts *f)
{
	char text[1 << 16];
	f->arch = ARCH_AARCH64;
	if (read_small(text, sizeof text, "/proc/cpuinfo"))
		facts_from_cpuinfo(f, text);
}
#else
#error "dlc detects x86-64 and AArch64 machines; a new one needs its read_model here"
#endif

static void read_facts(CpuFacts *f)
{
	*f = (CpuFacts){ 0 };
	read_model(f);
	for (int i = 0; i < FEATURE_COUNT; i++)
		if (feature_arch((Feature)i) == f->arch && cpu_has(feature_name((Feature)i)))
			f->features |= FEATURE_BIT(i);
}

/* "32K", "1M", "262144". */
static int64_t parse_size(const char *s)
{
	char *end;
	long long v = strtoll(s, &end, 10);
	if (v <= 0 || v > (1 << 30))
		return 0;
	return *end == 'K' ? v << 10 : *end == 'M' ? v << 20 : *end == 'G' ? v << 30 : v;
}

/* How many CPUs a list such as "0-3,8,10-11" names. */
static int count_list(const char *s)
{
	int n = 0;
	while (isdigit((unsigned char)*s)) {
		char *end;
		long a = strtol(s, &end, 10), b = a;
		if (*end == '-')
			b = strtol(end + 1, &end, 10);
		if (b < a || b - a >= CPUS)
			return 1;
		n += (int)(b - a) + 1;
		s = *end == ',' ? end + 1 : end;
	}
	return n > 0 ? n : 1;
}

void target_read_caches(Target *t, const char *sys)
{
	for (int i = 0; i < 8; i++) {
		char dir[512], path[600], type[32], level[16], size[32], shared[4096];
		snprintf(dir, sizeof dir, "%s/devices/system/cpu/cpu0/cache/index%d", sys, i);
		snprintf(path, sizeof path, "%s/type", dir);
		if (!read_small(type, sizeof type, path) || strcmp(type, "Instruction") == 0)
			continue;
		snprintf(path, sizeof path, "%s/level", dir);
		if (!read_small(level, sizeof level, path))
			continue;
		snprintf(path, sizeof path, "%s/size", dir);
		int at = atoi(level) - 1;
		if (at < 0 || at >= TARGET_CACHES || !read_small(size, sizeof size, path))
			continue;
		snprintf(path, sizeof path, "%s/shared_cpu_list", dir);
		bool known = read_small(shared, sizeof shared, path);
		t->cache[at] = (Cache){ parse_size(size), known ? count_list(shared) : 1 };
	}
}

int target_count_cores(const uint64_t *mask, int ncpu, const char *sys)
{
	int cores = 0;
	for (int cpu = 0; cpu < ncpu; cpu++) {
		if ((mask[cpu / 64] >> (cpu % 64) & 1) == 0)
			continue;
		char path[512], list[4096];
		snprintf(path, sizeof path,
			"%s/devices/system/cpu/cpu%d/topology/thread_siblings_list", sys, cpu);
		/* A core counts at its first CPU that we may use. */
		bool first = true;
		if (read_small(list, sizeof list, path))
			for (const char *s = list; isdigit((unsigned char)*s);) {
				char *end;
				long a = strtol(s, &end, 10), b = a;
				if (*end == '-')
					b = strtol(end + 1, &end, 10);
				for (long other = a; other <= b && other < cpu; other++)
					first = first &&
					        (mask[other / 64] >> (other % 64) & 1) == 0;
				s = *end == ',' ? end + 1 : end;
			}
		cores += first;
	}
	return cores > 0 ? cores : 1;
}

int target_cgroup_cpus(const char *sys)
{
	char path[512], text[64];
	long long quota = 0, period = 0;
	snprintf(path, sizeof path, "%s/fs/cgroup/cpu.max", sys);
	if (read_small(text, sizeof text, path)) {
		if (sscanf(text, "%lld %lld", &quota, &period) != 2)
			return INT_MAX; /* "max 100000" */
	} else {
		snprintf(path, sizeof path, "%s/fs/cgroup/cpu/cpu.cfs_quota_us", sys);
		if (!read_small(text, sizeof text, path) || sscanf(text, "%lld", &quota) != 1)
			return INT_MAX;
		snprintf(path, sizeof path, "%s/fs/cgroup/cpu/cpu.cfs_period_us", sys);
		if (!read_small(text, sizeof text, path) || sscanf(text, "%lld", &period) != 1)
			return INT_MAX;
	}
	if (quota <= 0 || period <= 0 || quota / period >= CPUS)
		return INT_MAX;
	return (int)((quota + period - 1) / period);
}

static int64_t machine_memory(const char *proc)
{
	char path[512], text[256];
	long long kb;
	snprintf(path, sizeof path, "%s/meminfo", proc);
	if (read_small(text, sizeof text, path) && sscanf(text, "MemTotal: %lld kB", &kb) == 1 &&
		kb > 0 && kb < INT64_MAX >> 10)
		return (int64_t)kb << 10;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	return pages > 0 && page > 0 ? (int64_t)pages * page : 0;
}

int64_t target_memory(const char *sys, const char *proc)
{
	static const char *const limits[] = { "fs/cgroup/memory.max",
		"fs/cgroup/memory/memory.limit_in_bytes" };
	int64_t bytes = machine_memory(proc);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		char path[512], text[64];
		long long limit;
		snprintf(path, sizeof path, "%s/%s", sys, limits[i]);
		if (read_small(text, sizeof text, path) && sscanf(text, "%lld", &limit) == 1 &&
			limit > 0 && (bytes == 0 || limit < bytes))
			bytes = limit;
	}
	return bytes;
}

void target_host(Target *t, int threads)
{
	CpuFacts facts;
	cpu_set_t set;
	uint64_t mask[CPUS / 64] = { 0 };
	read_facts(&facts);
	target_from_facts(t, &facts);
	t->threads = threads;
	target_read_caches(t, "/sys");
	t->cpus = 0;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		for (int cpu = 0; cpu < CPUS; cpu++)
			if (CPU_ISSET(cpu, &set)) {
				mask[cpu / 64] |= (uint64_t)1 << (cpu % 64);
				t->cpus++;
			}
	if (t->cpus == 0) /* more CPUs than a cpu_set_t has room for */
		t->cpus = t->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	else
		t->cores = target_count_cores(mask, CPUS, "/sys");
	int granted = target_cgroup_cpus("/sys");
	t->cpus = t->cpus < granted ? t->cpus : granted;
	t->cores = t->cores < granted ? t->cores : granted;
	t->scope[0].bytes = target_memory("/sys", "/proc");
}
