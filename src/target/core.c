/*
 * The figures of a core: by name, from a file, and what is taken for those that nobody knows.
 */
#include "target/core.h"

#include "target/detect.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
	size_t at;
	const char *key;
	double low, high, unit_high;
	const char *meaning;
} figures[CORE_FIGURES] = {
#define FIGURE(id, field, key, low, high, unit_high, meaning) \
	[CORE_##id] = { offsetof(Core, field), key, low, high, unit_high, meaning },
#include "target/core.def"
#undef FIGURE
};

const char *core_key(CoreFigure f)
{
	return figures[f].key;
}

const char *core_meaning(CoreFigure f)
{
	return figures[f].meaning;
}

const char *core_source_name(CoreSource s)
{
	static const char *const names[] = { "default", "model", "file", "measured", "driver" };
	return names[s];
}

double core_get(const Core *c, CoreFigure f)
{
	return *(const double *)((const char *)c + figures[f].at);
}

void core_set(Core *c, CoreFigure f, double value, CoreSource source)
{
	*(double *)((char *)c + figures[f].at) = value;
	c->source[f] = (unsigned char)source;
}

bool core_parse(Target *t, const Json *object, Err *err)
{
	for (int f = 0; f < CORE_FIGURES; f++) {
		const Json *v = json_find(object, figures[f].key);
		if (v == NULL)
			continue;
		double number = v->kind == JV_INT ? (double)v->i : v->kind == JV_REAL ? v->real : -1;
		double high = target_has_blocks(t) ? figures[f].unit_high : figures[f].high;
		if (number < figures[f].low || number > high)
			return json_fail(v, err, "must be a number in %g..%g", figures[f].low, high);
		core_set(&t->core, (CoreFigure)f, number, CORE_FILE);
	}
	return true;
}

void core_take(Target *t, CoreFigure f, double value)
{
	if (value >= figures[f].low && value <= figures[f].unit_high)
		core_set(&t->core, f, value, CORE_DRIVER);
}

/* ---- measured ones ---- */

Core core_from_probe(const ProbeCore *p)
{
	Core c = { .ghz = p->ghz,
		.fma_latency = p->fma_latency,
		.fma_rate = p->fma_rate,
		.loads = p->loads,
		.stores = p->stores,
		.decode = p->decode };
	for (int k = 0; k <= TARGET_CACHES; k++)
		c.level[k] = p->level[k];
	for (int f = 0; f < CORE_FIGURES; f++) {
		double v = core_get(&c, (CoreFigure)f); /* what no core does is not measured */
		core_set(&c, (CoreFigure)f, v >= figures[f].low && v <= figures[f].high ? v : 0, CORE_PROBE);
	}
	return c;
}

enum { PARTS = 1000 /* records hold integers */ };

Json *core_record(Arena *a, const Core *c)
{
	Json *o = json_new(a, JV_OBJECT);
	for (int f = 0; f < CORE_FIGURES; f++)
		if (c->source[f] == CORE_PROBE && core_get(c, (CoreFigure)f) > 0)
			json_set(a, o, figures[f].key, json_new_int(a, llround(core_get(c, (CoreFigure)f) * PARTS)));
	return o;
}

bool core_read_record(Core *c, const Json *object, Err *err)
{
	*c = (Core){ 0 };
	for (int f = 0; f < CORE_FIGURES; f++) {
		int64_t v;
		if (json_find(object, figures[f].key) == NULL)
			continue;
		if (!json_int(
				object, figures[f].key, llround(figures[f].low * PARTS), llround(figures[f].high * PARTS), &v, err))
			return false;
		core_set(c, (CoreFigure)f, (double)v / PARTS, CORE_PROBE);
	}
	return true;
}

void core_adopt(Target *t, const Core *measured)
{
	for (int f = 0; f < CORE_FIGURES; f++)
		if (t->core.source[f] == CORE_DEFAULT)
			core_set(&t->core, (CoreFigure)f, core_get(measured, (CoreFigure)f), CORE_PROBE);
	core_derive(t);
}

const char *core_owner(const Target *t, char out[TARGET_TEXT])
{
	snprintf(out, TARGET_TEXT, "%s, %d bits", t->cpu, t->vector_bits);
	return out;
}

bool core_wants_probe(const Target *t)
{
	return t->cpu[0] != 0 && t->core.source[CORE_GHZ] == CORE_DEFAULT;
}

/* ---- defaults ---- */

/*
 * The one place for figures that are not known.  Rates of caches and memory are shares of what L1 gives, because
 * a core with narrow vectors has narrow paths; the caps are what cores with 64-byte vectors sustain (Skylake-SP
 * to Zen 5).
 */
static double fallback(const Target *t, CoreFigure f)
{
	const Core *c = &t->core;
	switch (f) {
	case CORE_GHZ:
		if (target_has_blocks(t))
			return 1.5; /* data-centre GPUs since 2016 boost to between 1.3 and 2 */
		return t->arch == ARCH_AARCH64 ? 2 : 3; /* boards and phones; servers between 2.5 and 3.5 */
	case CORE_FMA_LATENCY: return 4; /* of most designs since 2015 */
	case CORE_FMA_RATE: return 1; /* without FMA: one multiplication and one addition, which every design starts */
	case CORE_LOADS: return 2;    /* of out-of-order x86-64 cores since 2011 and Arm's since Cortex-A73 */
	case CORE_STORES: return 1;
	case CORE_DECODE: return 6; /* with a cache of decoded instructions: Zen 1 to 4, Golden Cove */
	case CORE_L1: return c->loads * t->vector_bits / 8;
	case CORE_L2: /* of a GPU: a part of what all units read together (V100 20, A100 47, H100 24) */
		return target_has_warps(t) ? c->level[0] * 3 / 16 : fmin(c->level[0] * 3 / 4, 48);
	case CORE_L3:
	case CORE_L4: return fmin(c->level[0] * 3 / 8, 24);
	default: /* at most half of what the third level gives: 9 of 24 on Zen 5, 4.5 of 9.5 on Sapphire Rapids */
		return fmin(fmin(c->level[0] * 9 / 64, 9), c->source[CORE_L3] == CORE_DEFAULT ? 9 : c->level[2] / 2);
	}
}

void core_derive(Target *t)
{
	for (int f = 0; f < CORE_FIGURES; f++)
		if (core_get(&t->core, (CoreFigure)f) <= 0)
			core_set(&t->core, (CoreFigure)f, fallback(t, (CoreFigure)f), CORE_DEFAULT);
}
