/* See roof.h. */
#include "cli/roof.h"

#include "runtime/probe.h"

enum {
	GHZ = 3, GBPS = 100, /* of a core that is not here: out of its second cache, 32 bytes a cycle */
	NEARER = 3,          /* times as fast as the last cache is a core's own: no task reads faster */
	NARROW_RATE = 2      /* FMAs a cycle of vectors narrower than a core's widest, on every design that has such */
};

/* The part of the rate of the host's own vectors that vectors of the target's width reach. */
static double width_part(const Target *target, const Target *host)
{
	double widest = (double)host->vector_bits * host->core.fma_rate;
	double narrow = (double)target->vector_bits * NARROW_RATE;
	return target->vector_bits < host->vector_bits && narrow < widest ? narrow / widest : 1;
}

Roof roof_machine(const Target *target)
{
	Target host;
	Roof r = { 0 };
	target_host(&host, target->threads);
	if (target_runs_on(target, &host, NULL)) {
		r.gflops = probe_fma_gflops(target->threads) * width_part(target, &host);
		r.gbps = probe_read_gbps() * target->threads * NEARER;
	}
	double lanes = target->vector_bits > 32 ? target->vector_bits / 32 : 1;
	if (r.gflops <= 0)
		r.gflops = 2 * lanes * target->core.fma_rate * GHZ * target->threads;
	if (r.gbps <= 0)
		r.gbps = (double)GBPS * target->threads;
	return r;
}
