/*
 * What one core does in a cycle: the figures that every estimate of time rests on.  They describe a machine and
 * are no part of a Target's identity; code generation does not read them.  Rows of core.def.
 */
#ifndef TARGET_CORE_H
#define TARGET_CORE_H

#include "base/json.h"
#include "runtime/probe.h"

enum { TARGET_CACHES = PROBE_CACHES };

typedef enum {
#define FIGURE(id, field, key, low, high, unit_high, meaning) CORE_##id,
#include "target/core.def"
#undef FIGURE
	CORE_FIGURES
} CoreFigure;

/* Where a figure comes from: core.c's defaults, a row of model.def or unit.def, a file, a measurement, a driver. */
typedef enum { CORE_DEFAULT, CORE_MODEL, CORE_FILE, CORE_PROBE, CORE_DRIVER } CoreSource;

/* All figures are positive once target_derive has run. */
typedef struct Core {
	double ghz;
	double fma_latency;                 /* cycles */
	double fma_rate, loads, stores;     /* full-width vectors per cycle */
	double decode;                      /* instructions per cycle */
	double level[TARGET_CACHES + 1];    /* bytes per cycle from L1, L2, ...; the last: from memory */
	unsigned char source[CORE_FIGURES]; /* CoreSource of each figure */
} Core;

const char *core_key(CoreFigure f);
const char *core_meaning(CoreFigure f);
const char *core_source_name(CoreSource s);
double core_get(const Core *c, CoreFigure f);
void core_set(Core *c, CoreFigure f, double value, CoreSource source);
/* What was measured; what was not stays 0. */
Core core_from_probe(const ProbeCore *p);
/* Measured figures as an object of an environment record, in thousandths, and back; the rest is 0. */
Json *core_record(Arena *a, const Core *c);
bool core_read_record(Core *c, const Json *object, Err *err);

#endif
