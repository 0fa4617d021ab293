/*
 * What the machine gives at this moment. The rate of independent fused multiply-adds is the roof that stands beside
 * every time measured on it. The other figures say what its cores do in a cycle.
 */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* f32 GFLOP/s of `threads` threads together at the widest vectors; takes about 10 ms.  0: the
 * system gave no threads. */
double probe_fma_gflops(int threads);

/* GB/s that one thread reads of what is too large for its own caches and mostly in the last one (8 MiB);
 * takes about 10 ms. */
double probe_read_gbps(void);

enum { PROBE_CACHES = 4 };

/* What one core does in a cycle. 0: it was not measured. */
typedef struct ProbeCore {
	double ghz;
	double fma_latency;             /* cycles */
	double fma_rate, loads, stores; /* vectors per cycle */
	double decode;                  /* instructions per cycle */
	double level[PROBE_CACHES + 1]; /* bytes per cycle from L1, L2, ...; the last: from memory */
} ProbeCore;

/*
 * The core that this thread runs on, with vectors of at most vector_bits; cache: bytes of each level's data cache, 0
 * where there is none. Takes about half a second and 16 MiB. False: there is no memory.
 */
bool probe_core(ProbeCore *out, int vector_bits, const uint64_t cache[PROBE_CACHES]);

#endif
