/*
 * Turns what a CPU says about itself into a Target: features, the model class by its row in model.def (else the
 * feature level), and from these the vectors and the figures of the core.  Pure, so that tests can be every CPU.
 * Reading the machine is detect.c.
 */
#include "target/detect.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	TargetKind kind;
	const char *text;
} archs[ARCH_COUNT] = {
#define ARCH(name, kind, text) [ARCH_##name] = { TARGET_##kind, text },
#include "target/arch.def"
#undef ARCH
};

#define CORE(name, arch, bits, ghz, latency, rate, loads, stores, decode, l2, l3, memory, line)
#define CPUID(name, vendor, family, first, last, needs)

static const struct Model {
	const char *name;
	Arch arch;
	int vector_bits, line_bytes;
	double figure[CORE_FIGURES]; /* 0: not known */
} models[] = {
#undef CORE
#define CORE(name, arch, bits, ghz, latency, rate, loads, stores, decode, l2, l3, memory, line) \
	{ name, ARCH_##arch, bits, line, \
		{ [CORE_GHZ] = ghz, \
			[CORE_FMA_LATENCY] = latency, \
			[CORE_FMA_RATE] = rate, \
			[CORE_LOADS] = loads, \
			[CORE_STORES] = stores, \
			[CORE_DECODE] = decode, \
			[CORE_L2] = l2, \
			[CORE_L3] = l3, \
			[CORE_MEMORY] = memory } },
#include "target/model.def"
#undef CORE
#define CORE(name, arch, bits, ghz, latency, rate, loads, stores, decode, l2, l3, memory, line)
};

/* How a CPU names its design. */
static const struct {
	const char *model;
	Vendor vendor;
	uint32_t family, first, last;
	Feature needs;
} cpuids[] = {
#undef CPUID
#define CPUID(name, vendor, family, first, last, needs) { name, vendor, family, first, last, needs },
#include "target/model.def"
#undef CPUID
#undef CORE
};

enum {
	MODELS = sizeof models / sizeof *models,
	CPUIDS = sizeof cpuids / sizeof *cpuids,
};

const char *arch_name(Arch a)
{
	return archs[a].text;
}

TargetKind arch_kind(Arch a)
{
	return archs[a].kind;
}

bool target_has_blocks(const Target *t)
{
	return t->blocks.warp > 0;
}

bool target_has_warps(const Target *t)
{
	return t->blocks.warp > 1;
}

bool target_has(const Target *t, Feature f)
{
	return (t->features & FEATURE_BIT(f)) != 0;
}

const Cache *target_last_cache(const Target *t)
{
	const Cache *last = NULL;
	for (int level = 0; level < TARGET_CACHES; level++)
		last = t->cache[level].bytes > 0 ? &t->cache[level] : last;
	return last;
}

int target_lanes(const Target *t, DType type)
{
	int lanes = type.bits > 0 ? t->vector_bits / type.bits : 1;
	return lanes > 1 ? lanes : 1;
}

bool target_has_masks(const Target *t, DType type)
{
	if (target_has(t, FEATURE_AVX512VL))
		return type.bits >= 32 || (type.bits >= 8 && target_has(t, FEATURE_AVX512BW));
	return type.bits >= 32 && target_has(t, FEATURE_AVX2);
}

bool target_has_named(const Target *t, const char *feature)
{
	Feature f;
	return feature_find(feature, t->arch, &f) && target_has(t, f);
}

double target_rate_beyond(const Target *t, int level)
{
	return t->core.level[target_cache(t, level + 1) == 0 ? TARGET_CACHES : level];
}

double target_fma_rate(const Target *t, int bits)
{
	if (target_has_warps(t)) /* a narrow operation takes a lane, a wide one several */
		return t->core.fma_rate * t->vector_bits / bits;
	/* Designs that start one for their widest vectors join two narrower units for it. */
	return bits < t->vector_bits ? fmax(t->core.fma_rate, 2) : t->core.fma_rate;
}

bool model_find(const char *name, Arch *arch)
{
	for (int i = 0; i < MODELS; i++)
		if (strcmp(models[i].name, name) == 0) {
			*arch = models[i].arch;
			return true;
		}
	return false;
}

static const struct Model *model_named(const char *name, Arch arch)
{
	for (int i = 0; i < MODELS; i++)
		if (models[i].arch == arch && strcmp(models[i].name, name) == 0)
			return &models[i];
	return NULL;
}

/* float16 is the widest type of OpenCL for 32-bit elements; the model of a CPU ends with what its driver prefers. */
static int opencl_bits(const Target *t)
{
	const char *last = strrchr(t->model, '-');
	int bits = last != NULL && unit_class(t->model, t->arch) != NULL ? atoi(last + 1) : 0;
	return bits == 128 || bits == 256 ? bits : 512;
}

int target_register_bits(const Target *t)
{
	const struct Model *m = model_named(t->model, t->arch);
	int bits = t->arch == ARCH_OPENCL           ? opencl_bits(t)
	           : t->arch != ARCH_X86_64         ? 128
	           : target_has(t, FEATURE_AVX512F) ? 512
	           : target_has(t, FEATURE_AVX)     ? 256
	                                            : 128;
	return m != NULL && m->vector_bits < bits ? m->vector_bits : bits;
}

/*
 * What the model's row knows, for vectors of the target's width. A path that takes two cycles for a wide vector
 * takes one for half of it; every 512-bit design starts two 256-bit FMAs, joined for 512 bits or not.
 */
static void derive_model(Target *t, const struct Model *m)
{
	bool multiplies = t->arch != ARCH_X86_64 || target_has(t, FEATURE_FMA), halved = t->vector_bits < m->vector_bits;
	for (int f = 0; f < CORE_FIGURES; f++) {
		double v = m->figure[f];
		if (v == 0 || ((f == CORE_FMA_RATE || f == CORE_FMA_LATENCY) && !multiplies))
			continue;
		if (halved && (f == CORE_LOADS || f == CORE_STORES))
			v = fmax(v, 1);
		if (halved && (f == CORE_LOADS || f == CORE_FMA_RATE) && m->vector_bits == 512)
			v = fmax(v, 2);
		core_set(&t->core, (CoreFigure)f, v, CORE_MODEL);
	}
}

void target_set_scope(Target *t, const char *name, int64_t bytes)
{
	int k = 0;
	while (k < t->nscope && strcmp(t->scope[k].name, name) != 0)
		k++;
	assert(k < TARGET_SCOPES);
	t->nscope += k == t->nscope;
	snprintf(t->scope[k].name, sizeof t->scope[k].name, "%s", name);
	t->scope[k].bytes = bytes;
}

void target_derive(Target *t)
{
	uint64_t own;
	const struct Model *m = model_named(t->model, t->arch);
	if (t->model[0] == 0)
		snprintf(t->model, sizeof t->model, "%s", level_of(t->arch, t->features, &own));
	if (t->threads < 1)
		t->threads = 1;
	t->vector_bits = target_register_bits(t);
	t->vector_regs = t->arch == ARCH_X86_64 && !target_has(t, FEATURE_AVX512F) ? 16 : 32;
	/* Where no row says it: the line of all designs but Apple's. */
	t->line_bytes = m != NULL ? m->line_bytes : 64;
	t->core = (Core){ 0 };
	t->blocks = (Blocks){ 0 };
	t->nscope = 0;
	target_set_scope(t, "global", 0);
	target_set_scope(t, "local", 0);
	if (arch_kind(t->arch) != TARGET_CPU)
		unit_derive(t);
	else if (m != NULL)
		derive_model(t, m);
	core_derive(t);
}

void target_from_facts(Target *t, const CpuFacts *c)
{
	*t = (Target){ .kind = TARGET_CPU, .arch = c->arch, .features = features_closed(c->features) };
	for (int i = 0; i < CPUIDS && t->model[0] == 0; i++)
		if (model_named(cpuids[i].model, c->arch) != NULL && cpuids[i].vendor == c->vendor &&
			cpuids[i].family == c->family && cpuids[i].first <= c->model && c->model <= cpuids[i].last &&
			(cpuids[i].needs == FEATURE_COUNT || target_has(t, cpuids[i].needs)))
			snprintf(t->model, sizeof t->model, "%s", cpuids[i].model);
	t->features = features_of_code(t->features);
	snprintf(t->brand, sizeof t->brand, "%s", c->brand);
	target_derive(t);
	snprintf(t->cpu, sizeof t->cpu, "%s %.12s %u %u", arch_name(t->arch), c->maker, c->family, c->model);
}

/* The number after "KEY   : " on the line at s; cpuinfo writes it decimal or with 0x. */
static bool line_number(const char *s, const char *key, uint32_t *out)
{
	size_t n = strlen(key);
	int v;
	if (strncmp(s, key, n) != 0)
		return false;
	s += n + strspn(s + n, " \t");
	if (*s != ':' || sscanf(s + 1, " %i", &v) != 1)
		return false;
	*out = (uint32_t)v;
	return true;
}

void facts_from_cpuinfo(CpuFacts *f, const char *text)
{
	struct {
		uint32_t who, part;
		int n;
	} seen[16] = { 0 };
	uint32_t who = 0, part = 0;
	int best = -1;
	for (const char *s = text; s != NULL; s = (s = strchr(s, '\n')) != NULL ? s + 1 : NULL) {
		line_number(s, "CPU implementer", &who);
		if (!line_number(s, "CPU part", &part))
			continue;
		int i = 0;
		while (i < 15 && seen[i].n != 0 && (seen[i].who != who || seen[i].part != part))
			i++;
		seen[i].who = who;
		seen[i].part = part;
		seen[i].n++;
		/* In a tie the later cluster, which Linux numbers from little to big, wins. */
		if (best < 0 || seen[i].n >= seen[best].n)
			best = i;
	}
	if (best < 0)
		return;
	f->vendor = seen[best].who == 0x41 ? VENDOR_ARM : seen[best].who == 0x61 ? VENDOR_APPLE : VENDOR_OTHER;
	snprintf(f->maker, sizeof f->maker, "0x%x", seen[best].who);
	f->family = 0;
	f->model = seen[best].part;
}
