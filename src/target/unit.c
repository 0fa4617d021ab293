/*
 * What follows from the architecture and the model of a device: its row of unit.def becomes limits of blocks, scopes
 * and the figures of a unit.  Pure; unlike a CPU's features, none of this is found by asking the CPU.
 */
#include "target/detect.h"

#include <stdio.h>
#include <string.h>

static const struct Unit {
	const char *name;
	Arch arch;
	int cores;
	double lanes, issue, latency, bytes;
	int64_t l1, block_shared;
	Blocks blocks;
	int line_bytes;
} units[] = {
#define UNIT(name, arch, cores, lanes, issue, latency, bytes, l1, shared, block_shared, warp, block_threads, \
	unit_threads, unit_blocks, regs, thread_regs, launch, line) \
	{ name, ARCH_##arch, cores, lanes, issue, latency, bytes, l1, block_shared, \
		{ warp, block_threads, unit_threads, unit_blocks, shared, regs, thread_regs, launch }, line },
#include "target/unit.def"
#undef UNIT
};

enum { UNITS = sizeof units / sizeof *units };

static const struct {
	const char *key, *meaning;
} limits[] = {
#define LIMIT(field, key, low, high, meaning) { key, meaning },
#include "target/blocks.def"
#undef LIMIT
};

const char *blocks_key(int limit)
{
	return limit < (int)(sizeof limits / sizeof *limits) ? limits[limit].key : NULL;
}

const char *blocks_meaning(int limit)
{
	return limits[limit].meaning;
}

double blocks_get(const Blocks *b, int limit)
{
	const double values[] = {
#define LIMIT(field, key, low, high, meaning) (double)b->field,
#include "target/blocks.def"
#undef LIMIT
	};
	return values[limit];
}

bool blocks_parse(Blocks *b, const Json *object, Err *err)
{
	int64_t v;
#define LIMIT(field, key, low, high, meaning) \
	if (json_find(object, key) != NULL) { \
		if (!json_int(object, key, low, high, &v, err)) \
			return false; \
		b->field = (__typeof__(b->field))v; \
	}
#include "target/blocks.def"
#undef LIMIT
	return true;
}

void blocks_take(Blocks *b, const DeviceFacts *f)
{
	for (int i = 0; i < f->n; i++) {
		const char *said = f->number[i].key;
		double v = f->number[i].value;
#define LIMIT(field, key, low, high, meaning) \
	if (strcmp(said, key) == 0 && v >= low && v <= high) \
		b->field = (__typeof__(b->field))v;
#include "target/blocks.def"
#undef LIMIT
	}
}

static const struct Unit *unit_named(const char *name, Arch arch)
{
	for (int i = 0; i < UNITS; i++)
		if (units[i].arch == arch && strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

const char *unit_class(const char *model, Arch arch)
{
	for (int i = 0; i < UNITS; i++) {
		size_t n = strlen(units[i].name);
		if (units[i].arch == arch && units[i].blocks.warp == 1 && strncmp(model, units[i].name, n) == 0 &&
			model[n] == '-')
			return units[i].name;
	}
	return NULL;
}

bool unit_find(const char *name, Arch *arch)
{
	for (int i = 0; i < UNITS; i++)
		if (strcmp(units[i].name, name) == 0) {
			*arch = units[i].arch;
			return true;
		}
	return false;
}

const char *unit_of_cpu(Arch arch)
{
	for (int i = 0; i < UNITS; i++)
		if (units[i].arch == arch && units[i].blocks.warp == 1)
			return units[i].name;
	return "";
}

void unit_derive(Target *t)
{
	uint64_t own;
	const struct Unit *u = unit_named(t->model, t->arch);
	if (u == NULL && (t->blocks.warp == 1 || unit_class(t->model, t->arch) != NULL))
		u = unit_named(unit_of_cpu(t->arch), t->arch);
	if (u == NULL)
		u = unit_named(level_of(t->arch, t->features, &own), t->arch);
	double vectors = u->bytes * 8 / t->vector_bits;
	t->threads = 1;
	t->cores = t->cpus = u->cores;
	t->blocks = u->blocks;
	t->line_bytes = u->line_bytes;
	t->vector_regs = u->blocks.thread_regs * 32 / t->vector_bits;
	t->cache[0] = (Cache){ .bytes = u->l1, .shared_by = 1 };
	core_set(&t->core, CORE_FMA_RATE, u->lanes * 32 / t->vector_bits, CORE_MODEL);
	core_set(&t->core, CORE_FMA_LATENCY, u->latency, CORE_MODEL);
	core_set(&t->core, CORE_LOADS, vectors, CORE_MODEL);
	core_set(&t->core, CORE_STORES, vectors, CORE_MODEL);
	core_set(&t->core, CORE_DECODE, u->issue, CORE_MODEL);
	target_set_scope(t, "shared", u->block_shared);
}
