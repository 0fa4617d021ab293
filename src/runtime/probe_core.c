/*
 * See probe.h: what one core does in a cycle. Short loops of known length are timed many times and the shortest time
 * counts, so that other processes on the machine do not: a round of tens of microseconds ends within a time slice.
 * The clock comes from additions that wait for each other, which take a cycle each on every CPU; all else is told in
 * these cycles. The loops are assembly where there is some, so that no compiler changes what they do; else plain C.
 */
#include "runtime/probe.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cpu.h"
#include "runtime/timing.h"

enum { UNROLL = 16 /* operations of a turn of each loop */ };
enum { SUMS = 12 /* that wait for no other: AVX2 has 16 registers */ };
enum { TURNS = 1500, ROUNDS = 150 };

/* How one kind of vectors is worked with. A block is UNROLL vectors. */
typedef struct Isa {
	int bytes;                                        /* of a vector */
	int sums;                                         /* of a turn of `fma` */
	void (*chain)(long turns);                        /* multiply-adds, each of which needs the sum before it */
	void (*fma)(long turns);                          /* independent ones */
	void (*load)(char *from, long blocks, long step); /* step: bytes from one block to the next, or 0 */
	void (*store)(char *to, long blocks, long step);
} Isa;

#if defined(__x86_64__)

#define LOOP(body) "1:\n\t" body "dec %[n]\n\tjnz 1b\n\t"
#define VECTORS \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
		"xmm13", "xmm14", "xmm15"
#define EACH12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define EACH16(X) EACH12(X) X(12) X(13) X(14) X(15)
#define EACH24(X) EACH16(X) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)

/* Registers 14 and 15 (30 and 31) hold the factors; their product is small, so that sums stay what they are. */
#define ISA(name, attribute, reg, each, f, g, ...) \
	attribute static void name##_chain(long n) \
	{ \
		const float one = 1, small = 1e-6f; \
		__asm__ volatile("vbroadcastss %[a], %%" reg f "\n\tvbroadcastss %[b], %%" reg g \
						 "\n\tvxorps %%xmm0, %%xmm0, %%xmm0\n\t" LOOP(EACH16(name##_WAIT)) \
						 : [n] "+r"(n) \
						 : [a] "m"(one), [b] "m"(small) \
						 : "cc", __VA_ARGS__); \
	} \
	attribute static void name##_fma(long n) \
	{ \
		const float one = 1, small = 1e-6f; \
		__asm__ volatile("vbroadcastss %[a], %%" reg f "\n\tvbroadcastss %[b], %%" reg g "\n\t" each(name##_ZERO) \
							 LOOP(each(name##_FMA)) \
						 : [n] "+r"(n) \
						 : [a] "m"(one), [b] "m"(small) \
						 : "cc", __VA_ARGS__); \
	} \
	attribute static void name##_load(char *p, long n, long step) \
	{ \
		__asm__ volatile(LOOP(EACH16(name##_LOAD) "add %[s], %[p]\n\t") \
						 : [n] "+r"(n), [p] "+r"(p) \
						 : [s] "r"(step) \
						 : "cc", "memory", __VA_ARGS__); \
	} \
	attribute static void name##_store(char *p, long n, long step) \
	{ \
		__asm__ volatile("vxorps %%xmm0, %%xmm0, %%xmm0\n\t" LOOP(EACH16(name##_STORE) "add %[s], %[p]\n\t") \
						 : [n] "+r"(n), [p] "+r"(p) \
						 : [s] "r"(step) \
						 : "cc", "memory", __VA_ARGS__); \
	}

#define z_WAIT(i) "vfmadd231ps %%zmm31, %%zmm30, %%zmm0\n\t"
#define z_ZERO(i) "vpxord %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t"
#define z_FMA(i) "vfmadd231ps %%zmm31, %%zmm30, %%zmm" #i "\n\t"
#define z_LOAD(i) "vmovups 64*" #i "(%[p]), %%zmm" #i "\n\t"
#define z_STORE(i) "vmovups %%zmm0, 64*" #i "(%[p])\n\t"
ISA(z, __attribute__((target("avx512f"))), "zmm", EACH24, "30", "31", VECTORS, "xmm16", "xmm17", "xmm18", "xmm19",
	"xmm20", "xmm21", "xmm22", "xmm23", "xmm30", "xmm31")

#define y_WAIT(i) "vfmadd231ps %%ymm15, %%ymm14, %%ymm0\n\t"
#define y_ZERO(i) "vxorps %%ymm" #i ", %%ymm" #i ", %%ymm" #i "\n\t"
#define y_FMA(i) "vfmadd231ps %%ymm15, %%ymm14, %%ymm" #i "\n\t"
#define y_LOAD(i) "vmovups 32*" #i "(%[p]), %%ymm" #i "\n\t"
#define y_STORE(i) "vmovups %%ymm0, 32*" #i "(%[p])\n\t"
ISA(y, __attribute__((target("avx2,fma"))), "ymm", EACH12, "14", "15", VECTORS)

static void add_chain(long n)
{
	long sum = 0, one = 1; /* a register: small constants are added before they are executed on some cores */
#define ADD(i) "add %[k], %[s]\n\t"
	__asm__ volatile(LOOP(EACH16(ADD)) : [n] "+r"(n), [s] "+r"(sum) : [k] "r"(one) : "cc");
}

static void nops(long n)
{
#define NOPS(i) "nop\n\tnop\n\tnop\n\tnop\n\t"
	__asm__ volatile(LOOP(EACH16(NOPS)) : [n] "+r"(n) : : "cc");
}

static void flush(char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		__asm__ volatile("clflush (%0)" : : "r"(p + i) : "memory");
	__asm__ volatile("mfence" : : : "memory");
}

#elif defined(__aarch64__)

#define LOOP(body) "1:\n\t" body "subs %[n], %[n], #1\n\tb.ne 1b\n\t"
#define EACH8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define EACH16(X) EACH8(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define EACH24(X) EACH16(X) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define VECTORS \
	"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", \
		"v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30", "v31"
#define FACTORS "fmov v30.4s, #1.0\n\tfmov v31.4s, #0.125\n\t"
#define WAIT(i) "fmla v0.4s, v30.4s, v31.4s\n\t"
#define ZERO(i) "movi v" #i ".4s, #0\n\t"
#define FMA(i) "fmla v" #i ".4s, v30.4s, v31.4s\n\t"
#define LOAD(i) "ldr q" #i ", [%[p], #16*" #i "]\n\t"
#define STORE(i) "str q0, [%[p], #16*" #i "]\n\t"

static void q_chain(long n)
{
	__asm__ volatile(FACTORS ZERO(0) LOOP(EACH16(WAIT)) : [n] "+r"(n) : : "cc", VECTORS);
}

static void q_fma(long n)
{
	__asm__ volatile(FACTORS EACH24(ZERO) LOOP(EACH24(FMA)) : [n] "+r"(n) : : "cc", VECTORS);
}

static void q_load(char *p, long n, long step)
{
	__asm__ volatile(LOOP(EACH16(LOAD) "add %[p], %[p], %[s]\n\t")
					 : [n] "+r"(n), [p] "+r"(p)
					 : [s] "r"(step)
					 : "cc", "memory", VECTORS);
}

static void q_store(char *p, long n, long step)
{
	__asm__ volatile(ZERO(0) LOOP(EACH16(STORE) "add %[p], %[p], %[s]\n\t")
					 : [n] "+r"(n), [p] "+r"(p)
					 : [s] "r"(step)
					 : "cc", "memory", VECTORS);
}

static void add_chain(long n)
{
	long sum = 0, one = 1;
#define ADD(i) "add %[s], %[s], %[k]\n\t"
	__asm__ volatile(LOOP(EACH16(ADD)) : [n] "+r"(n), [s] "+r"(sum) : [k] "r"(one) : "cc");
}

static void nops(long n)
{
#define NOPS(i) "nop\n\tnop\n\tnop\n\tnop\n\t"
	__asm__ volatile(LOOP(EACH16(NOPS)) : [n] "+r"(n) : : "cc");
}

static void flush(char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		__asm__ volatile("dc civac, %0" : : "r"(p + i) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
}

#else

static void add_chain(long n)
{
	volatile long one = 1;
	long sum = 0, k = one;
	for (long i = 0; i < n; i++)
		for (int u = 0; u < UNROLL; u++)
			__asm__ volatile("" : "+r"(sum = sum + k));
}

static void nops(long n)
{
	for (long i = 0; i < n * 4; i++)
		__asm__ volatile("" : "+r"(i));
}

static void flush(char *p, size_t bytes)
{
	(void)p;
	(void)bytes;
}

#endif

/* ---- without assembly: vectors of 16 bytes, a multiplication and an addition for each multiply-add ---- */

typedef float Vec __attribute__((vector_size(16), may_alias));

static volatile float factor = 1, addend = 1e-6f, sink;

static void c_chain(long n)
{
	Vec m = (Vec){ 0 } + factor, b = (Vec){ 0 } + addend, sum = b;
	for (long i = 0; i < n; i++)
		for (int u = 0; u < UNROLL; u++)
			sum = sum * m + b;
	sink = sum[0];
}

static void c_fma(long n)
{
	Vec m = (Vec){ 0 } + factor, b = (Vec){ 0 } + addend, sum[SUMS];
	for (int u = 0; u < SUMS; u++)
		sum[u] = b;
	for (long i = 0; i < n; i++)
		for (int u = 0; u < SUMS; u++)
			sum[u] = sum[u] * m + b;
	for (int u = 0; u < SUMS; u++)
		sink = sum[u][0];
}

static void c_load(char *p, long n, long step)
{
	for (long i = 0; i < n; i++, p += step)
		for (int u = 0; u < UNROLL; u++)
			(void)((const volatile Vec *)p)[u];
}

static void c_store(char *p, long n, long step)
{
	for (long i = 0; i < n; i++, p += step)
		for (int u = 0; u < UNROLL; u++)
			((volatile Vec *)p)[u] = (Vec){ 0 };
}

static Isa choose(int vector_bits)
{
#if defined(__x86_64__)
	if (vector_bits >= 512 && cpu_has("avx512f"))
		return (Isa){ 64, 24, z_chain, z_fma, z_load, z_store };
	if (vector_bits >= 256 && cpu_has("avx2") && cpu_has("fma"))
		return (Isa){ 32, 12, y_chain, y_fma, y_load, y_store };
#elif defined(__aarch64__)
	if (vector_bits >= 128)
		return (Isa){ 16, 24, q_chain, q_fma, q_load, q_store };
#endif
	return (Isa){ 16, SUMS, c_chain, c_fma, c_load, c_store };
}

/* ---- timing ---- */

/* What is timed: turns of a loop, or blocks of a buffer. */
typedef struct Round {
	void (*turns)(long n);
	void (*blocks)(char *p, long n, long step);
	char *p;
} Round;

/* Nanoseconds of an operation, of which each of TURNS turns has `each`. */
static double shortest(const Round *r, double each)
{
	double best = INFINITY;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = timing_wall_ns();
		if (r->turns != NULL)
			r->turns(TURNS);
		else
			r->blocks(r->p, TURNS, 0);
		best = fmin(best, (double)(timing_wall_ns() - start));
	}
	return best / (TURNS * each);
}

/* A pass over a buffer that one level holds and the one before it does not. */
typedef struct Stream {
	char *p;
	size_t bytes, piece; /* timed at a time */
	int passes;
	bool cold; /* each pass begins with nothing of the buffer in a cache */
} Stream;

/*
 * Bytes a nanosecond. The lower quartile of the pieces counts: the shortest one may have found what an earlier pass
 * left in a nearer cache.
 */
static double stream_rate(const Isa *isa, const Stream *s)
{
	enum { MOST = 2048 };
	double ns[MOST];
	int n = 0;
	long block = (long)isa->bytes * UNROLL;
	for (int pass = 0; pass < s->passes; pass++) {
		if (s->cold)
			flush(s->p, s->bytes);
		for (size_t at = 0; at + s->piece <= s->bytes && n < MOST; at += s->piece) {
			uint64_t start = timing_wall_ns();
			isa->load(s->p + at, (long)s->piece / block, block);
			ns[n++] = (double)(timing_wall_ns() - start);
		}
	}
	timing_summary(ns, n); /* sorts */
	return ns[n / 4] > 0 ? (double)s->piece / ns[n / 4] : 0;
}

/* Bytes a nanosecond from cache k: of a buffer four times as large as the cache before it, if this one holds that. */
static double level_rate(const Isa *isa, char *buffer, size_t most, int k, const uint64_t cache[PROBE_CACHES])
{
	enum { PIECE = 128 << 10, BYTES = 32 << 20 /* read in all */ };
	uint64_t bytes = cache[k - 1] * 4, room = cache[k] / 4 * 3;
	bytes = bytes < room ? bytes : room;
	bytes = (bytes < most ? bytes : most) / PIECE * PIECE;
	if (bytes < cache[k - 1] * 5 / 4)
		return 0;
	return stream_rate(isa, &(Stream){ buffer, bytes, PIECE, (int)(BYTES / bytes) + 1, false });
}

bool probe_core(ProbeCore *out, int vector_bits, const uint64_t cache[PROBE_CACHES])
{
	enum { MEMORY = 16 << 20, PIECE = 256 << 10, COLD = 3, NOPS_EACH = 4 * UNROLL };
	Isa isa = choose(vector_bits);
	char *buffer = aligned_alloc(4096, MEMORY);
	*out = (ProbeCore){ .ghz = 0 };
	if (buffer == NULL)
		return false;
	memset(buffer, 0, MEMORY);
	shortest(&(Round){ .turns = isa.fma }, 1);                    /* raises the clock, wakes the wide vectors */
	double ns = shortest(&(Round){ .turns = add_chain }, UNROLL); /* of a cycle */
	out->ghz = 1 / ns;
	out->fma_latency = shortest(&(Round){ .turns = isa.chain }, UNROLL) / ns;
	out->fma_rate = ns / shortest(&(Round){ .turns = isa.fma }, isa.sums);
	out->loads = ns / shortest(&(Round){ .blocks = isa.load, .p = buffer }, UNROLL);
	out->stores = ns / shortest(&(Round){ .blocks = isa.store, .p = buffer }, UNROLL);
	out->decode = ns / shortest(&(Round){ .turns = nops }, NOPS_EACH);
	out->level[0] = out->loads * isa.bytes;
	for (int k = 1; k < PROBE_CACHES && cache[k] > 0; k++)
		out->level[k] = level_rate(&isa, buffer, MEMORY, k, cache) * ns;
	out->level[PROBE_CACHES] = stream_rate(&isa, &(Stream){ buffer, MEMORY, PIECE, COLD, true }) * ns;
	free(buffer);
	return true;
}
