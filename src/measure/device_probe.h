/*
 * What a device with processors of its own gives at this moment, and in which state it is. Rows of probe.def.
 */
#ifndef MEASURE_DEVICE_PROBE_H
#define MEASURE_DEVICE_PROBE_H

#include "base/arena.h"
#include "target/target.h"

typedef enum {
#define PROBE(name, key, often, meaning) PROBE_##name,
#define PROBE_MMA(probe, instruction, type, depth)
#include "measure/probe.def"
#undef PROBE
#undef PROBE_MMA
	PROBE_KINDS
} ProbeKind;

typedef struct DeviceProbe {
	double rate[PROBE_KINDS]; /* GFLOP/s or GB/s; 0: not measured, or the device has no such units */
	int64_t mhz, celsius;     /* just after it; 0: not known */
	char slowed[160];         /* what slowed it down: words of runtime/slowed.def; "": nothing that is known */
} DeviceProbe;

const char *probe_key(ProbeKind k);
const char *probe_meaning(ProbeKind k);
bool probe_often(ProbeKind k);
/*
 * A kernel set with a run Fn, called as its key, for each kind that the target has. Its one symbol is the number of
 * blocks; work: floating operations or bytes of a block, 0 of kinds that the target lacks.
 */
const char *probe_text(Arena *a, const Target *target, double work[PROBE_KINDS]);

#endif
