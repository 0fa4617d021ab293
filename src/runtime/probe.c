/*
 * See probe.h.  Twelve vectors multiply and add, independent of each other: enough for two units of
 * four cycles of latency, few enough for AVX2's sixteen registers.  The round is one piece of
 * assembly, so that the figure does not depend on how this file is compiled.
 */
#include "runtime/probe.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/cpu.h"
#include "runtime/team.h"
#include "runtime/timing.h"

enum { CHAINS = 12, ROUNDS = 200000, PIECES = 15 }; /* a piece takes about 0.4 ms */

#define FOR_CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

/* Runs ROUNDS rounds of `code` on vectors of `bytes` bytes; returns the lanes of one. */
#define PROBE(name, bytes, target, code) \
	target static int name(void) \
	{ \
		typedef float Vec __attribute__((vector_size(bytes))); \
		Vec a0 = { 0 }, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0; \
		Vec a8 = a0, a9 = a0, a10 = a0, a11 = a0, m = a0 + 0.999f, add = a0 + 0.001f; \
		for (int r = 0; r < ROUNDS; r++) \
			__asm__ volatile(code \
							 : "+" REG(a0), "+" REG(a1), "+" REG(a2), "+" REG(a3), "+" REG(a4), "+" REG(a5), \
							 "+" REG(a6), "+" REG(a7), "+" REG(a8), "+" REG(a9), "+" REG(a10), "+" REG(a11) \
							 : REG(m), REG(add)); \
		return (bytes) / (int)sizeof(float); \
	}

#if defined(__x86_64__)
#define REG(v) "v"(v)
#define FMA(i) "vfmadd213ps %13, %12, %" #i "\n\t"
#define ROUND FOR_CHAINS(FMA)
PROBE(probe_avx512, 64, __attribute__((target("avx512f"))), ROUND)
PROBE(probe_avx2, 32, __attribute__((target("avx2,fma"))), ROUND)
#elif defined(__aarch64__)
#define REG(v) "w"(v)
#define FMA(i) "fmla %" #i ".4s, %12.4s, %13.4s\n\t"
#define ROUND FOR_CHAINS(FMA)
PROBE(probe_neon, 16, , ROUND)
#endif

static int probe_scalar(void)
{
	volatile float m = 0.999f, add = 0.001f;
	float a[CHAINS] = { 0 }, x = m, y = add;
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < CHAINS; i++)
			a[i] = fmaf(a[i], x, y);
	for (int i = 0; i < CHAINS; i++)
		add = a[i];
	return 1;
}

typedef struct Probe {
	int (*run)(void);
	int lanes;
} Probe;

static Probe choose(void)
{
#if defined(__x86_64__)
	if (cpu_has("avx512f"))
		return (Probe){ .run = probe_avx512 };
	if (cpu_has("avx2") && cpu_has("fma"))
		return (Probe){ .run = probe_avx2 };
#elif defined(__aarch64__)
	return (Probe){ .run = probe_neon };
#endif
	return (Probe){ .run = probe_scalar };
}

static void probe_thread(void *arg, int thread)
{
	Probe *p = arg;
	int lanes = p->run();
	if (thread == 0)
		p->lanes = lanes;
}

double probe_fma_gflops(int threads)
{
	Team *team = team_open(threads);
	if (team == NULL)
		return 0;
	Probe p = choose();
	double ns[PIECES];
	team_run(team, probe_thread, &p); /* raises the clock, wakes the wide vectors */
	for (int i = 0; i < PIECES; i++) {
		team_spread(team);
		uint64_t start = timing_wall_ns();
		team_run(team, probe_thread, &p);
		ns[i] = (double)(timing_wall_ns() - start);
	}
	team_close(team);
	return 2.0 * ROUNDS * CHAINS * p.lanes * threads / timing_summary(ns, PIECES).median;
}

double probe_read_gbps(void)
{
	enum { WORDS = (8 << 20) / sizeof(uint64_t), LINE = 8, PASSES = 9 };
	uint64_t *at = malloc(WORDS * sizeof *at);
	double ns[PASSES];
	volatile uint64_t seen = 0; /* so that the sums are needed */
	if (at == NULL)
		return 0;
	for (size_t i = 0; i < WORDS; i++)
		at[i] = i;
	for (int p = 0; p < PASSES; p++) {
		uint64_t sum[LINE] = { 0 }, start = timing_wall_ns();
		for (size_t i = 0; i < WORDS; i += LINE)
			for (int k = 0; k < LINE; k++)
				sum[k] += at[i + (size_t)k];
		for (int k = 0; k < LINE; k++)
			seen += sum[k];
		ns[p] = (double)(timing_wall_ns() - start);
	}
	free(at);
	return (double)(WORDS * sizeof *at) / timing_summary(ns, PASSES).min;
}
