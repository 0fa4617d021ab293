/*
 * The kernels of a device's probe as text: they multiply in threads, multiply in matrix units, and read memory. The
 * numbers are rows of method.def.
 */
#include "measure/device_probe.h"

#include "base/text.h"
#include "ir/text/intrin.h"
#include "measure/method.h"

enum { ROWS = 16, COLUMNS = 8, VECTOR = 4 /* f32, the widest load of a thread */ };

static const struct {
	const char *key;
	bool often;
	const char *meaning;
} probes[PROBE_KINDS] = {
#define PROBE(name, key, often, meaning) { key, often, meaning },
#define PROBE_MMA(probe, instruction, type, depth)
#include "measure/probe.def"
#undef PROBE
#undef PROBE_MMA
};

static const struct Product {
	ProbeKind kind;
	const char *instruction, *type;
	int depth;
} products[] = {
#define PROBE(name, key, often, meaning)
#define PROBE_MMA(probe, instruction, type, depth) { PROBE_##probe, instruction, type, depth },
#include "measure/probe.def"
#undef PROBE
#undef PROBE_MMA
};

const char *probe_key(ProbeKind k)
{
	return probes[k].key;
}

bool probe_often(ProbeKind k)
{
	return probes[k].often;
}

const char *probe_meaning(ProbeKind k)
{
	return probes[k].meaning;
}

/* ---- kernels ---- */

/* A sum of products is one instruction. Each chain has its own factor, since equal chains would be computed once. */
static void write_fma(Text *t)
{
	enum { N = METHOD_PROBE_CHAINS, THREADS = METHOD_PROBE_THREADS };
	text_add(t, "fn fma_gflops[n in 1..%d](y: out f32[%d, %d]) {\nfor g in 0..n bound(grid.x) {\n", METHOD_PROBE_BLOCKS,
		METHOD_PROBE_BLOCKS, THREADS);
	text_add(t, "for t in 0..%d bound(block.x) {\nalloc a: f32[%d] @local\nalloc b: f32[%d] @local\n", THREADS, N, N);
	text_add(t, "for i in 0..%d unrolled {\na[i] = 0.0\nb[i] = f32(t + i)\n}\n", N);
	text_add(t, "for r in 0..%d {\nfor k in 0..%d unrolled {\nsum a[k] <- b[k] * 0.999\n}\n}\ny[g, t] = a[0]",
		METHOD_PROBE_ROUNDS, N);
	for (int k = 1; k < N; k++)
		text_add(t, " + a[%d]", k);
	text_add(t, "\n}\n}\n}\n");
}

/* A warp multiplies the same fragments again and again, and adds each product to another chain's sums. */
static void write_mma(Text *t, const struct Product *p, int warps)
{
	enum { N = METHOD_PROBE_MMA_CHAINS };
	text_add(t, "fn %s[n in 1..%d](z: out f32[%d, %d, %d, %d]) {\nfor g in 0..n bound(grid.x) {\n", probes[p->kind].key,
		METHOD_PROBE_BLOCKS, METHOD_PROBE_BLOCKS, warps, ROWS, N * COLUMNS);
	text_add(t, "for w in 0..%d bound(block.y) {\nalloc c: f32[%d, %d] @fragment\n", warps, ROWS, N * COLUMNS);
	text_add(t, "alloc a: %s[%d, %d] @fragment\nalloc b: %s[%d, %d] @fragment\n", p->type, ROWS, p->depth, p->type,
		p->depth, COLUMNS);
	text_add(t, "for q in 0..%d unrolled { for i in 0..%d { for j in 0..%d { c[i, q * %d + j] = f32(q) } } }\n", N,
		ROWS, COLUMNS, COLUMNS);
	text_add(t, "for i2 in 0..%d { for k2 in 0..%d { a[i2, k2] = %s(f32(i2 + w) * 0.001) } }\n", ROWS, p->depth,
		p->type);
	text_add(t, "for k3 in 0..%d { for j3 in 0..%d { b[k3, j3] = %s(f32(k3 + g) * 0.001) } }\n", p->depth, COLUMNS,
		p->type);
	text_add(t, "for r in 0..%d {\nfor q2 in 0..%d unrolled {\n", METHOD_PROBE_MMA_ROUNDS, N);
	text_add(t, "intrin %s(c[0:%d, q2 * %d:%d], a[0:%d, 0:%d], b[0:%d, 0:%d])\n", p->instruction, ROWS, COLUMNS,
		COLUMNS, ROWS, p->depth, p->depth, COLUMNS);
	text_add(t, "}\n}\nfor q4 in 0..%d unrolled { for i4 in 0..%d { for j4 in 0..%d {\n", N, ROWS, COLUMNS);
	text_add(t, "z[g, w, i4, q4 * %d + j4] = c[i4, q4 * %d + j4]\n} } }\n}\n}\n}\n", COLUMNS, COLUMNS);
}

static void write_memory(Text *t)
{
	enum { THREADS = METHOD_PROBE_THREADS };
	text_add(t, "fn memory_gbps[n in 1..%d](x: in f32[%d, %d, %d, %d], y: out f32[%d, %d]) {\n", METHOD_PROBE_BLOCKS,
		METHOD_PROBE_BLOCKS, METHOD_PROBE_LOADS, THREADS, VECTOR, METHOD_PROBE_BLOCKS, THREADS);
	text_add(t, "for g in 0..n bound(grid.x) {\nfor t in 0..%d bound(block.x) {\nalloc s: f32[%d] @local\n", THREADS,
		VECTOR);
	text_add(t, "for i in 0..%d vector {\ns[i] = 0.0\n}\nfor r in 0..%d unrolled {\nfor v in 0..%d vector {\n", VECTOR,
		METHOD_PROBE_LOADS, VECTOR);
	text_add(t, "s[v] = s[v] + x[g, r, t, v]\n}\n}\ny[g, t] = s[0] + s[1] + s[2] + s[3]\n}\n}\n}\n");
}

/* The floating operations or bytes of a block of the kernel. */
static double work_of(ProbeKind kind, const struct Product *p, int warps)
{
	if (kind == PROBE_FMA)
		return 2.0 * METHOD_PROBE_THREADS * METHOD_PROBE_CHAINS * METHOD_PROBE_ROUNDS;
	if (kind == PROBE_MEMORY)
		return 4.0 * VECTOR * METHOD_PROBE_THREADS * METHOD_PROBE_LOADS;
	return 2.0 * ROWS * COLUMNS * p->depth * warps * METHOD_PROBE_MMA_CHAINS * METHOD_PROBE_MMA_ROUNDS;
}

/* The first product of the kind that the target has; NULL: it has none. */
static const struct Product *product_of(ProbeKind kind, const Target *target)
{
	for (size_t k = 0; k < sizeof products / sizeof *products; k++)
		if (products[k].kind == kind && target_has_named(target, ir_find_intrin(products[k].instruction)->feature))
			return &products[k];
	return NULL;
}

const char *probe_text(Arena *a, const Target *target, double work[PROBE_KINDS])
{
	Text t = { .arena = a };
	int warps = METHOD_PROBE_THREADS / (target->blocks.warp > 0 ? target->blocks.warp : METHOD_PROBE_THREADS);
	for (int k = 0; k < PROBE_KINDS; k++) {
		const struct Product *p = product_of((ProbeKind)k, target);
		work[k] = k == PROBE_FMA || k == PROBE_MEMORY || p != NULL ? work_of((ProbeKind)k, p, warps) : 0;
		if (k == PROBE_FMA)
			write_fma(&t);
		else if (k == PROBE_MEMORY)
			write_memory(&t);
		else if (p != NULL)
			write_mma(&t, p, warps);
	}
	return text_str(&t);
}
