/*
 * Reads this machine: which CPU from CPUID or /proc/cpuinfo; its features, caches, cores and limits from the runtime,
 * which checks bundles by the same names.  What cannot be read stays 0 or generic: a container without /sys must
 * still compile.
 */
#include "target/detect.h"

#include "runtime/cpu.h"
#include "runtime/host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)
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
	f->vendor = strcmp(id, "AuthenticAMD") == 0   ? VENDOR_AMD
	            : strcmp(id, "GenuineIntel") == 0 ? VENDOR_INTEL
	            : strcmp(id, "HygonGenuine") == 0 ? VENDOR_HYGON
	                                              : VENDOR_OTHER;
	snprintf(f->maker, sizeof f->maker, "%.12s", id);
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
	if (host_read(text, sizeof text, "/proc/cpuinfo"))
		facts_from_cpuinfo(f, text);
}
#else
#error "dlc detects x86-64 and AArch64 machines; a new one needs its read_model here"
#endif

void target_read_host(Target *t, const char *sys, const char *proc)
{
	cpu_set_t set;
	uint64_t mask[HOST_CPUS / 64] = { 0 };
	for (int k = 0; k < TARGET_CACHES; k++) {
		t->cache[k] = (Cache){ .shared_by = 1 };
		t->cache[k].bytes = (int64_t)host_cache(k + 1, sys, &t->cache[k].shared_by);
	}
	t->cpus = 0;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		for (int cpu = 0; cpu < HOST_CPUS; cpu++)
			if (CPU_ISSET(cpu, &set)) {
				mask[cpu / 64] |= (uint64_t)1 << (cpu % 64);
				t->cpus++;
			}
	if (t->cpus == 0) /* more CPUs than a cpu_set_t has room for */
		t->cpus = t->cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	else
		t->cores = host_cores(mask, HOST_CPUS, sys);
	int granted = host_granted_cpus(sys);
	t->cpus = t->cpus < granted ? t->cpus : granted;
	t->cores = t->cores < granted ? t->cores : granted;
	t->scope[0].bytes = (int64_t)host_memory(sys, proc);
}

void target_host(Target *t, int threads)
{
	CpuFacts facts = { 0 };
	const Cpu cpu = cpu_read();
	read_model(&facts);
	for (int i = 0; i < FEATURE_COUNT; i++)
		if (feature_arch((Feature)i) == facts.arch && cpu_lists(&cpu, feature_name((Feature)i)))
			facts.features |= FEATURE_BIT(i);
	target_from_facts(t, &facts);
	t->threads = threads;
	target_read_host(t, NULL, NULL);
}
