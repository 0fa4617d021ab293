/*
 * The current rates and the state of a device with processors of its own. The rates are rows of probe.def.
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
	int64_t mhz, celsius;     /* just after the last kernel; 0: not known */
	char slowed[160];         /* reasons for a lower clock, words of runtime/slowed.def; "": none known */
} DeviceProbe;

const char *probe_key(ProbeKind k);
const char *probe_meaning(ProbeKind k);
bool probe_often(ProbeKind k);
/*
 * A kernel set with a run Fn for each kind that the target has; its name is the key. The one symbol is the number of
 * blocks. work: floating operations or bytes of a block, 0 for kinds that the target lacks.
 */
const char *probe_text(Arena *a, const Target *target, double work[PROBE_KINDS]);

#endif
