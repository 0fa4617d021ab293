/*
 * What the machine gives at this moment: the rate of independent fused multiply-adds, the roof that
 * stands beside every time measured on it.
 */
#ifndef RUNTIME_PROBE_H
#define RUNTIME_PROBE_H

/* f32 GFLOP/s of `threads` threads together at the widest vectors; takes about 10 ms.  0: the
 * system gave no threads. */
double probe_fma_gflops(int threads);

#endif
