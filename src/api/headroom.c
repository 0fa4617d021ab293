/* See headroom.h. */
#include "api/headroom.h"

#include "cost_model/cost.h"
#include "runtime/probe.h"
#include "target/capability.h"

Roof machine_roof(const Target *target)
{
	Target host;
	Roof r = { .bits = F32.bits /* what the probe multiplies */ };
	const Core *c = &target->core;
	int cores = target_has_blocks(target) ? target->cores : target->threads; /* at work */
	r.f16 = 2 * target_matrix_rate(target, F16, false) * c->ghz * cores;
	r.tf32 = 2 * target_matrix_rate(target, F32, true) * c->ghz * cores;
	target_host(&host, target->threads);
	if (target_runs_on(target, &host, NULL)) {
		/* The part of the rate of the host's own vectors that vectors of the target's width reach. */
		double widest = host.vector_bits * target_fma_rate(&host, host.vector_bits);
		double narrow = target->vector_bits * target_fma_rate(&host, target->vector_bits);
		bool less = target->vector_bits < host.vector_bits && narrow < widest;
		r.gflops = probe_fma_gflops(target->threads) * (less ? narrow / widest : 1);
		r.gbps = probe_read_gbps() * target->threads * COST_NEARER;
	}
	if (r.gflops <= 0)
		r.gflops = 2 * target_lanes(target, F32) * c->fma_rate * c->ghz * cores;
	if (r.gbps <= 0)
		r.gbps = c->level[1] * c->ghz * cores; /* out of L2 */
	return r;
}
