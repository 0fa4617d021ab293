/*
 * See cpu.h.  Asking is slow in a virtual machine, where every cpuid leaves it, so all answers are
 * read at once; nothing is kept between calls that two threads could fill at the same time.
 */
#include "runtime/cpu.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlc/dlc_runtime.h"
#include "runtime/bundle.h"

typedef struct Feature {
	const char *name;
	uint32_t state; /* bits of XCR0 that the system must have set */
	uint8_t word, bit;
} Feature;

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };
enum { L_1_0, L_7_0, L_7_1, L_0xd_1, L_0x80000001_0, L_0x80000008_0, NLEAF };
enum { YMM = 0x6, ZMM = 0xe6, AMX = 0x60000 };

static const Feature FEATURE[] = {
#define X86(name, leaf, sub, reg, bit, state) { name, state, 4 * L_##leaf##_##sub + reg, bit },
#include "runtime/feature.def"
#undef X86
};

Cpu cpu_read(void)
{
	static const uint32_t leaf[NLEAF][2] = {
		[L_1_0] = { 1, 0 },
		[L_7_0] = { 7, 0 },
		[L_7_1] = { 7, 1 },
		[L_0xd_1] = { 0xd, 1 },
		[L_0x80000001_0] = { 0x80000001, 0 },
		[L_0x80000008_0] = { 0x80000008, 0 },
	};
	Cpu c = { { 0 }, 0 };
	for (int i = 0; i < NLEAF; i++) {
		uint32_t *r = c.word + 4 * i;
		if (!__get_cpuid_count(leaf[i][0], leaf[i][1], &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
			memset(r, 0, 4 * sizeof *r);
	}
	if ((c.word[4 * L_1_0 + ECX] >> 27 & 1) != 0) { /* OSXSAVE */
		uint32_t lo, hi;
		__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
		c.saved = lo;
	}
	return c;
}

#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>

static const Feature FEATURE[] = {
#define AARCH64(name, word, bit) { name, 0, word, bit },
#define ARM(name, word, bit) { name, 0, word, bit },
#if defined(__aarch64__)
#undef ARM
#else
#undef AARCH64
#endif
#include "runtime/feature.def"
#undef AARCH64
#undef ARM
};

Cpu cpu_read(void)
{
	return (Cpu){ { (uint32_t)getauxval(AT_HWCAP), (uint32_t)getauxval(AT_HWCAP2) }, 0 };
}

#else
static const Feature FEATURE[] = { { "", 1, 0, 0 } };

Cpu cpu_read(void)
{
	return (Cpu){ { 0 }, 0 };
}
#endif

enum { NFEATURE = sizeof FEATURE / sizeof *FEATURE };

static bool feature_there(const Cpu *c, const Feature *f)
{
	return (c->word[f->word] >> f->bit & 1) != 0 && (c->saved & f->state) == f->state;
}

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

bool cpu_lists(const Cpu *c, const char *feature)
{
	for (int i = 0; i < NFEATURE; i++)
		if (strcmp(FEATURE[i].name, feature) == 0)
			return feature_there(c, &FEATURE[i]);
	return false;
}

bool cpu_has(const char *feature)
{
	const Cpu c = cpu_read();
	return cpu_lists(&c, feature);
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

size_t dlc_cpu_features(char *out, size_t size)
{
	const char *arch = cpu_arch_name(cpu_arch());
	const Cpu c = cpu_read();
	size_t at = 0;
	for (int i = -1; i < NFEATURE; i++) {
		if (i >= 0 && !feature_there(&c, &FEATURE[i]))
			continue;
		const char *word = i >= 0 ? FEATURE[i].name : arch != NULL ? arch : "unknown";
		int n = snprintf(at < size ? out + at : NULL, at < size ? size - at : 0, "%s%s", at > 0 ? " " : "", word);
		at += (size_t)n;
	}
	return at;
}
