/*
 * See cpu.h.  Each question asks the CPU again: a load asks a dozen times, and nothing is kept that
 * two threads could fill at once.
 */
#include "runtime/cpu.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlc/dlc_runtime.h"
#include "runtime/bundle.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };
enum { YMM = 0x6, ZMM = 0xe6, AMX = 0x60000 }; /* bits of XCR0 */

typedef struct Feature {
	const char *name;
	uint32_t leaf, sub, state;
	uint8_t reg, bit;
} Feature;

static const Feature FEATURE[] = {
#define X86(name, leaf, sub, reg, bit, state) { name, leaf, sub, state, reg, bit },
#include "runtime/feature.def"
#undef X86
};

static uint64_t saved_state(void)
{
	uint32_t r[4];
	if (!__get_cpuid(1, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || (r[ECX] >> 27 & 1) == 0)
		return 0; /* no OSXSAVE */
	uint32_t lo, hi;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	return (uint64_t)hi << 32 | lo;
}

static bool feature_there(const Feature *f)
{
	uint32_t r[4];
	if (!__get_cpuid_count(f->leaf, f->sub, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
		return false;
	return (r[f->reg] >> f->bit & 1) != 0 && (saved_state() & f->state) == f->state;
}

#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>

typedef struct Feature {
	const char *name;
	uint8_t word, bit;
} Feature;

static const Feature FEATURE[] = {
#if defined(__aarch64__)
#define AARCH64(name, word, bit) { name, word, bit },
#else
#define ARM(name, word, bit) { name, word, bit },
#endif
#include "runtime/feature.def"
#undef AARCH64
#undef ARM
};

static bool feature_there(const Feature *f)
{
	return (getauxval(f->word == 0 ? AT_HWCAP : AT_HWCAP2) >> f->bit & 1) != 0;
}

#else
typedef struct Feature {
	const char *name;
} Feature;

static const Feature FEATURE[] = { { "" } };

static bool feature_there(const Feature *f)
{
	return f->name == NULL;
}
#endif

enum { NFEATURE = sizeof FEATURE / sizeof *FEATURE };

uint32_t cpu_arch(void)
{
#if defined(__x86_64__)
	return BUNDLE_X86_64;
#elif defined(__aarch64__)
	return BUNDLE_AARCH64;
#elif defined(__arm__)
	return BUNDLE_ARM;
#else
	return 0;
#endif
}

const char *cpu_arch_name(uint32_t arch)
{
	switch (arch) {
	case BUNDLE_X86_64: return "x86-64";
	case BUNDLE_AARCH64: return "aarch64";
	case BUNDLE_ARM: return "arm";
	default: return NULL;
	}
}

bool cpu_has(const char *feature)
{
	for (int i = 0; i < NFEATURE; i++)
		if (strcmp(FEATURE[i].name, feature) == 0)
			return feature_there(&FEATURE[i]);
	return false;
}

const char *cpu_feature_name(int i)
{
	return i >= 0 && i < NFEATURE ? FEATURE[i].name : NULL;
}

int cpu_count(void)
{
#if defined(__linux__)
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
#endif
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 && n < INT_MAX ? (int)n : 1;
}

uint64_t cpu_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

size_t dlc_cpu_features(char *out, size_t size)
{
	const char *arch = cpu_arch_name(cpu_arch());
	size_t at = 0;
	for (int i = -1; i < NFEATURE; i++) {
		if (i >= 0 && !feature_there(&FEATURE[i]))
			continue;
		const char *word = i >= 0 ? FEATURE[i].name : arch != NULL ? arch : "unknown";
		int n = snprintf(at < size ? out + at : NULL, at < size ? size - at : 0, "%s%s",
			at > 0 ? " " : "", word);
		at += (size_t)n;
	}
	return at;
}
