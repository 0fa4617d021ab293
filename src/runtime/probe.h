/*
 * What the machine gives at this moment: the rate of independent fused multiply-adds, the roof that
 * stands beside every time measured on it.
 */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

/* f32 GFLOP/s of `threads` threads together at the widest vectors; takes about 10 ms.  0: the
 * system gave no threads. */
double probe_fma_gflops(int threads);

/* GB/s that one thread reads of what is too large for its own caches and mostly in the last one (8 MiB);
 * takes about 10 ms. */
double probe_read_gbps(void);

#endif
