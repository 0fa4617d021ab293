/* See roof.h. */
#include "cli/roof.h"

#include "runtime/probe.h"

Roof roof_machine(const Target *target)
{
	enum { GHZ = 3, GBPS = 100 /* of a core out of its own second cache: 32 bytes a cycle */ };
	Target host;
	Roof r = { .gbps = (double)GBPS * target->threads };
	target_host(&host, target->threads);
	double lanes = target->vector_bits > 32 ? target->vector_bits / 32 : 1;
	double wide = host.vector_bits > 0 ? (double)target->vector_bits / host.vector_bits : 1;
	if (target_runs_on(target, &host, NULL))
		r.gflops = probe_fma_gflops(target->threads) * (wide < 1 ? wide : 1);
	if (r.gflops <= 0)
		r.gflops = 2 * lanes * (target->fma_rate > 0 ? target->fma_rate : 1) * GHZ * target->threads;
	return r;
}
