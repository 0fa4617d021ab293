/*
 * Estimates of kernels on devices that run blocks of threads. Whatever the time is, physics say which of two kernels is
 * faster: neighbours in one line beat strides, free banks beat conflicts, a tile that is read again beats none.
 */
#include "suite.h"

#include "base/file.h"
#include "cost_model/cost_model.h"
#include "cost_model/roof.h"
#include "cost_model/warp.h"
#include "ir/arg.h"
#include "ir/text/ir_text.h"
#include "ir/walk.h"
#include "schedule/space.h"
#include "target/occupancy.h"

#include <math.h>
#include <string.h>

static Arena *a;

static void setup(void)
{
	a = arena_new();
}

static void teardown(void)
{
	arena_free(a);
}

/* Targets of configs/targets. */
static Target target_of(const char *name)
{
	Target t;
	Err err = { 0 };
	const char *dir = arena_printf(a, "%s/configs/targets", getenv("DLC_SOURCE_ROOT"));
	ck_assert_msg(target_resolve(&t, name, 1, &dir, 1, &err), "%s: %s", err.place, err.text);
	return t;
}

static double ns_of(const char *text, const Target *t)
{
	Err err = { 0 };
	KernelSet *ks = ir_parse_set(ir_new(a), "kernel", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	Cost cost = cost_or_first(NULL, a, t);
	double ns = cost_estimate_one(&cost, ks, NULL);
	ck_assert_msg(isfinite(ns) && ns > 0 && ns < 1e12, "%g ns:\n%s", ns, text);
	return ns;
}

/* ---- pairs ---- */

#define MOVE(statement) "fn k(x: in f32[4096,1024], y: out f32[4096,1024]) {\nfor b in 0..4096 bound(grid.x) {\n" \
	"for t in 0..256 bound(block.x) {\n" statement "\n}}}\n"
#define TURN(layout) "fn k(x: in f32[1024,1024], y: out f32[1024,1024]) {\n" \
	"for p in 0..32 bound(grid.y) {\nfor q in 0..32 bound(grid.x) {\nalloc s: f32[32,32] @shared" layout "\n" \
	"for i in 0..4 {\nfor u in 0..8 bound(block.y) {\nfor t in 0..32 bound(block.x) {\n" \
	"s[i * 8 + u, t] = x[p * 32 + i * 8 + u, q * 32 + t]\n}}}\nbarrier block\n" \
	"for j in 0..4 {\nfor v in 0..8 bound(block.y) {\nfor r in 0..32 bound(block.x) {\n" \
	"y[q * 32 + j * 8 + v, p * 32 + r] = s[r, j * 8 + v]\n}}}}}}\n"
#define ROWS(rows, row) "fn k(x: in f32[1024,32], y: out f32[1024,32]) {\nfor b in 0.." #rows " bound(grid.x) {\n" \
	"for t in 0..32 bound(block.x) {\n" row "\n}}}\n"
#define ALONE(before) "fn k(x: in f32[64,1024], y: out f32[64,1024]) {\n" before "for b in 0..64 bound(grid.x) {\n" \
	"for t in 0..256 bound(block.x) {\nfor i in 0..4 unrolled {\ny[b, i * 256 + t] = x[b, i * 256 + t]\n}}}}\n"

#define PRODUCT(layout, work) "fn k(x: in f16[8192,64], y: out f32[8192,8]) {\nfor b in 0..128 bound(grid.x) {\n" \
	"alloc s: f16[64,64] @shared" layout "\nfor i in 0..16 {\nfor u in 0..4 bound(block.y) {\n" \
	"for t in 0..32 bound(block.x) {\nfor h in 0..2 vector {\n" \
	"s[i * 4 + u, t * 2 + h] = x[b * 64 + i * 4 + u, t * 2 + h]\n}}}}\nbarrier block\n" \
	"for r in 0..64 {\nfor v in 0..4 bound(block.y) {\n" work "}}}}\n"
#define MATRIX "alloc c: f32[16,8] @fragment\nalloc p: f16[16,8] @fragment\nalloc q: f16[8,8] @fragment\n" \
	"for k in 0..8 {\nintrin ldmatrix_16x8_f16(p[0:16, 0:8], s[v * 16:16, k * 8:8])\n" \
	"intrin ldmatrix_8x8_f16(q[0:8, 0:8], s[0:8, k * 8:8])\n" \
	"intrin mma_m16n8k8_f16(c[0:16, 0:8], p[0:16, 0:8], q[0:8, 0:8])\n}\n" \
	"for i in 0..16 vector {\nfor j in 0..8 vector {\ny[b * 64 + v * 16 + i, j] = c[i, j]\n}}\n"
#define THREADS "for t in 0..32 bound(block.x) {\nalloc c: f32[4] @local\nfor i in 0..4 unrolled { c[i] = 0.0 }\n" \
	"for k in 0..64 {\nfor i in 0..4 unrolled { sum c[i] <- f32(s[v * 16 + t / 8 * 4 + i, k]) * f32(s[t % 8, k]) }}\n" \
	"for i in 0..4 unrolled { y[b * 64 + v * 16 + t / 8 * 4 + i, t % 8] = c[i] }}\n"

static const struct {
	const char *name, *target, *better, *worse;
} pairs[] = {
	{ "matrix units beat threads", "h200", PRODUCT("", MATRIX), PRODUCT("", THREADS) },
	{ "a swizzle of groups frees the banks of rows", "a100",
		PRODUCT(" map (i, j) -> [i : 64, j / 8 ^ i % 8 : 8, j % 8 : 8]", MATRIX), PRODUCT("", MATRIX) },
	{ "neighbours beat strides", "h200", MOVE("for i in 0..4 unrolled { y[b, i * 256 + t] = x[b, i * 256 + t] }"),
		MOVE("for i in 0..4 unrolled { y[b, t * 4 + i] = x[b, t * 4 + i] }") },
	{ "a few sectors beat many", "h200", MOVE("for i in 0..4 unrolled { y[b, t * 4 + i] = x[b, t * 4 + i] }"),
		MOVE("for i in 0..4 unrolled { y[b, i * 256 + t] = x[t * 16 + i, b / 4] }") },
	{ "vectors need fewer instructions", "h200", MOVE("for i in 0..4 vector { y[b, t * 4 + i] = x[b, t * 4 + i] }"),
		MOVE("for i in 0..4 unrolled { y[b, i * 256 + t] = x[b, i * 256 + t] }") },
	{ "loads in flight beat one after the other", "k80",
		MOVE("for i in 0..4 unrolled { y[b, i * 256 + t] = x[b, i * 256 + t] }"),
		MOVE("for i in 0..4 { y[b, i * 256 + t] = x[b, i * 256 + t] }") },
	{ "padding frees the banks", "v100", TURN(" map (i, j) -> [i : 32, j : 33]"), TURN("") },
	{ "a swizzle frees the banks", "v100", TURN(" map (i, j) -> [i : 32, (j ^ i) : 32]"), TURN("") },
	{ "half a swizzle frees some", "v100", TURN(" map (i, j) -> [i : 32, (j ^ i & 7) : 32]"), TURN("") },
	{ "all banks beat half of them", "v100", TURN(" map (i, j) -> [i : 32, (j ^ i) : 32]"),
		TURN(" map (i, j) -> [i : 32, (j ^ i & 15) : 32]") },
	{ "tiles in shared memory coalesce", "h200", TURN(" map (i, j) -> [i : 32, j : 33]"),
		"fn k(x: in f32[1024,1024], y: out f32[1024,1024]) {\nfor p in 0..1024 bound(grid.x) {\n"
		"for t in 0..256 bound(block.x) {\nfor i in 0..4 unrolled {\ny[i * 256 + t, p] = x[p, i * 256 + t]\n}}}}\n" },
	{ "blocks that share long sums beat few that do not", "h200",
		"fn k(x: in f32[32,65536], y: out f32[32]) {\nalloc p: f32[32,64]\nfor b in 0..32 bound(grid.x) {\n"
		"for s in 0..64 bound(grid.y) {\nfor t in 0..1 bound(block.x) {\nfor r in 0..1024 { sum p[b, s] <- "
		"x[b, s * 1024 + r] }}}}\nfor c in 0..1 bound(grid.x) {\nfor u in 0..32 bound(block.x) {\n"
		"for q in 0..64 { sum y[u] <- p[u, q] }}}}\n",
		"fn k(x: in f32[32,65536], y: out f32[32]) {\nfor b in 0..32 bound(grid.x) {\nfor t in 0..1 bound(block.x) {\n"
		"for r in 0..65536 { sum y[b] <- x[b, r] }}}}\n" },
	{ "one launch beats two", "h200", ALONE(""),
		ALONE("for c in 0..1 bound(grid.x) {\nfor u in 0..32 bound(block.x) {\ny[0, u] = 0.0\n}}\n") },
	{ "many blocks beat one", "h200", ALONE(""),
		"fn k(x: in f32[64,1024], y: out f32[64,1024]) {\nfor b in 0..64 {\nfor t in 0..256 bound(block.x) {\n"
		"for i in 0..4 unrolled {\ny[b, i * 256 + t] = x[b, i * 256 + t]\n}}}}\n" },
	{ "threads beat none", "h200", ALONE(""),
		"fn k(x: in f32[64,1024], y: out f32[64,1024]) {\nfor b in 0..64 {\nfor t in 0..1024 {\ny[b, t] = x[b, t]\n"
		"}}}\n" },
	{ "a broadcast beats a stride", "h200", ROWS(1024, "for k in 0..32 { sum y[b, t] <- x[b, k] }"),
		ROWS(1024, "for k in 0..32 { sum y[b, t] <- x[t * 32 + b % 32, k] }") },
	{ "registers beat memory", "v100",
		MOVE("alloc s: f32[4] @local\nfor i in 0..4 unrolled { s[i] = x[b, i * 256 + t] }\n"
			"for j in 0..4 unrolled { y[b, j * 256 + t] = s[j] }"),
		MOVE("alloc s: f32[4] @local\nfor i in 0..4 { s[i] = x[b, i * 256 + t] }\n"
			"for j in 0..4 { y[b, j * 256 + t] = s[j] }") },
	{ "a CPU's cores share the grid", "pocl", MOVE("y[b, t] = x[b, t]"),
		"fn k(x: in f32[4096,1024], y: out f32[4096,1024]) {\nfor b in 0..4096 {\nfor t in 0..256 bound(block.x) {\n"
		"y[b, t] = x[b, t]\n}}}\n" },
	{ "a CPU's vectors beat its threads", "pocl",
		"fn k(x: in f32[64,1024], y: out f32[64,1024]) {\nfor b in 0..64 bound(grid.x) {\nfor t in 0..64 {\n"
		"for i in 0..16 vector {\ny[b, t * 16 + i] = x[b, t * 16 + i]\n}}}}\n",
		ALONE("") },
};

START_TEST(physics_rank_kernels)
{
	Target t = target_of(pairs[_i].target);
	double better = ns_of(pairs[_i].better, &t), worse = ns_of(pairs[_i].worse, &t);
	ck_assert_msg(better < worse, "%s: %g and %g ns", pairs[_i].name, better, worse);
}
END_TEST

/* ---- tiles of a product ---- */

/* y = x w of S x S: a block has BM x BN of y, a thread TM x TN, BK of the sum in shared memory (0: none is). */
typedef struct Tile {
	int S, BM, BN, BK, TM, TN, stages;
} Tile;

static const char *tile_text(const Tile *x)
{
	Text t = { .arena = a };
	int across = x->BN / x->TN, threads = across * x->BM / x->TM, bk = x->BK > 0 ? x->BK : 8;
	const char *row = arena_printf(a, "t / %d * %d", across, x->TM);
	const char *col = arena_printf(a, "t %% %d * %d", across, x->TN);
	const char *tile = arena_printf(a, "for i in 0..%d unrolled {\nfor j in 0..%d unrolled {\n", x->TM, x->TN);
	text_add(&t, "fn k(x: in f32[%d,%d], w: in f32[%d,%d], y: out f32[%d,%d]) {\n", x->S, x->S, x->S, x->S, x->S, x->S);
	text_add(&t, "for p in 0..%d bound(grid.y) {\nfor q in 0..%d bound(grid.x) {\n", x->S / x->BM, x->S / x->BN);
	if (x->BK > 0)
		text_add(&t,
			"alloc xs: f32[%d,%d] @shared map (i, k) -> [i : %d, k : %d]\nalloc ws: f32[%d,%d] @shared\n",
			x->BM, bk, x->BM, bk + 1, bk, x->BN);
	text_add(&t, "alloc s: f32[%d,%d] @local map (i, j) -> [i %% %d : %d, j %% %d : %d]\n", x->BM, x->BN, x->TM, x->TM,
		x->TN, x->TN);
	text_add(&t, "for t in 0..%d bound(block.x) {\n%s", threads, tile);
	text_add(&t, "s[%s + i, %s + j] = 0.0\n}}}\n", row, col);
	text_add(&t, "for ko in 0..%d %s {\n", x->S / bk,
		x->stages > 1 ? arena_printf(a, "pipelined(%d)", x->stages) : "");
	if (x->BK > 0) {
		const char *in = x->stages > 1 ? "async { " : "", *end = x->stages > 1 ? " }" : "";
		text_add(&t, "for a in 0..%d {\nfor t in 0..%d bound(block.x) {\n", x->BM * bk / threads, threads);
		text_add(&t, "%sxs[(a * %d + t) / %d, (a * %d + t) %% %d] = ", in, threads, bk, threads, bk);
		text_add(&t, "x[p * %d + (a * %d + t) / %d, ko * %d + (a * %d + t) %% %d]%s\n}}\n", x->BM, threads, bk, bk,
			threads, bk, end);
		text_add(&t, "for b in 0..%d {\nfor t in 0..%d bound(block.x) {\n", x->BN * bk / threads, threads);
		text_add(&t, "%sws[(b * %d + t) / %d, (b * %d + t) %% %d] = ", in, threads, x->BN, threads, x->BN);
		text_add(&t, "w[ko * %d + (b * %d + t) / %d, q * %d + (b * %d + t) %% %d]%s\n}}\n%s", bk, threads, x->BN, x->BN,
			threads, x->BN, end, x->stages > 1 ? "commit\nwait 1\nbarrier block\n" : "barrier block\n");
	}
	text_add(&t, "for t in 0..%d bound(block.x) {\nfor k in 0..%d {\n%s", threads, bk, tile);
	if (x->BK > 0)
		text_add(&t, "sum s[%s + i, %s + j] <- xs[%s + i, k] * ws[k, %s + j]\n}}}}\nbarrier block\n}\n", row, col, row,
			col);
	else
		text_add(&t,
			"sum s[%s + i, %s + j] <- x[p * %d + %s + i, ko * %d + k] * w[ko * %d + k, q * %d + %s + j]\n}}}}}\n", row,
			col, x->BM, row, bk, bk, x->BN, col);
	text_add(&t, "for t in 0..%d bound(block.x) {\n%s", threads, tile);
	text_add(&t, "y[p * %d + %s + i, q * %d + %s + j] = s[%s + i, %s + j]\n}}}}}}\n", x->BM, row, x->BN, col, row, col);
	return text_str(&t);
}

static const struct {
	const char *name;
	Tile better, worse;
} tiles[] = {
	{ "shared tiles beat none", { 2048, 64, 64, 16, 4, 4, 1 }, { 2048, 64, 64, 0, 1, 1, 1 } },
	{ "tiles of a thread beat single sums", { 2048, 64, 64, 16, 4, 4, 1 }, { 2048, 16, 16, 16, 1, 1, 1 } },
	{ "larger tiles of a thread beat smaller", { 4096, 128, 128, 16, 8, 8, 1 }, { 4096, 64, 64, 16, 2, 2, 1 } },
	{ "larger tiles of a block read less", { 4096, 64, 64, 16, 4, 4, 1 }, { 4096, 16, 16, 16, 4, 4, 1 } },
	{ "sums that have no registers", { 4096, 128, 128, 16, 8, 8, 1 }, { 4096, 256, 256, 16, 16, 16, 1 } },
	{ "a small product needs small tiles", { 256, 16, 32, 16, 2, 2, 1 }, { 256, 128, 128, 16, 8, 8, 1 } },
	{ "copies under way hide their latency", { 512, 64, 64, 16, 4, 4, 3 }, { 512, 64, 64, 16, 4, 4, 1 } },
	{ "more of the sum between two barriers", { 1024, 64, 64, 16, 4, 4, 1 }, { 1024, 64, 64, 4, 4, 4, 1 } },
};

START_TEST(tiles_rank_by_what_they_read)
{
	static const char *const names[] = { "v100", "a100", "h200" };
	for (size_t k = 0; k < LEN(names); k++) {
		Target t = target_of(names[k]);
		double better = ns_of(tile_text(&tiles[_i].better), &t), worse = ns_of(tile_text(&tiles[_i].worse), &t);
		ck_assert_msg(better < worse, "%s, %s: %g and %g ns", tiles[_i].name, names[k], better, worse);
	}
}
END_TEST

/* ---- what rises ---- */

static const char *blocks_text(int blocks, int threads, int rounds, int shared)
{
	return arena_printf(a,
		"fn k(x: in f32[%d,%d], y: out f32[%d,%d]) {\nfor b in 0..%d bound(grid.x) {\nalloc s: f32[%d] @shared\n"
		"for r in 0..%d {\nfor t in 0..%d bound(block.x) {\ns[t] = x[b, r * %d + t]\n}\nbarrier block\n"
		"for u in 0..%d bound(block.x) {\ny[b, r * %d + u] = s[u] * 2.0\n}\nbarrier block\n}}}\n",
		blocks, threads * rounds, blocks, threads * rounds, blocks, shared, rounds, threads, threads, threads, threads);
}

/* More of the same takes longer, never less. */
START_TEST(more_work_takes_longer)
{
	static const char *const names[] = { "k80", "t4", "h200", "opencl:generic", "pocl" };
	Target t = target_of(names[_i]);
	double last = 0, ns;
	for (int blocks = 1; blocks < 20000; blocks = blocks * 5 / 4 + 1, last = ns) {
		ns = ns_of(blocks_text(blocks, 128, 4, 256), &t);
		ck_assert_msg(ns >= last * 0.99, "%d blocks: %g after %g ns", blocks, ns, last);
	}
	last = 0;
	for (int rounds = 1; rounds < 300; rounds = rounds * 5 / 4 + 1, last = ns) {
		ns = ns_of(blocks_text(2000, 128, rounds, 256), &t);
		ck_assert_msg(ns > last, "%d rounds: %g after %g ns", rounds, ns, last);
	}
	double slow = ns_of(blocks_text(4000, 128, 16, 8192), &t);
	t.core.ghz *= 2;
	ck_assert(ns_of(blocks_text(4000, 128, 16, 8192), &t) < slow);
	t.core.ghz /= 2;
	t.blocks.launch_ns += 1000;
	ck_assert(fabs(ns_of(blocks_text(4000, 128, 16, 8192), &t) - slow - 1000) < 1e-6 * slow);
}
END_TEST

/* One block more than fits at once costs a wave more; more than a sixth of a unit's shared memory leaves five
   blocks. */
START_TEST(waves_and_occupancy_have_cliffs)
{
	Target t = target_of("h200");
	int at_once = t.cores * target_resident_blocks(&t, 256, 1024, 32);
	double less = ns_of(blocks_text(at_once - 1, 256, 64, 256), &t);
	double one = ns_of(blocks_text(at_once, 256, 64, 256), &t);
	double more = ns_of(blocks_text(at_once + 1, 256, 64, 256), &t);
	ck_assert_msg(one - less < 0.01 * one && more > 1.05 * one, "%g, %g and %g ns", less, one, more);
	int part = (int)(t.blocks.unit_shared / 6 - 1024) / 4, blocks = t.cores * 6;
	double six = ns_of(blocks_text(blocks, 64, 64, part - 64), &t);
	double five = ns_of(blocks_text(blocks, 64, 64, part + 64), &t);
	ck_assert_msg(five > 1.1 * six, "%g and %g ns", six, five);
}
END_TEST

/* What the walk does not know is no reason for a time that is none. */
START_TEST(estimates_of_odd_kernels_are_times)
{
	static const char *const odd[] = {
		"fn k(x: in f32[4], y: out f32[4]) { }\n",
		"fn k[N in 1..100000](x: in f32[N,64], y: out f32[N,64]) {\nfor b in 0..N bound(grid.x) {\n"
		"for t in 0..64 bound(block.x) { y[b, t] = x[b, t] }}}\n",
		"fn k(i: in i64[64], x: in f32[4096], y: out f32[64]) {\nfor b in 0..2 bound(grid.x) {\n"
		"for t in 0..32 bound(block.x) { y[b * 32 + t] = x[i[b * 32 + t]] }}}\n",
		"fn k(x: in f16[64,64], y: out f16[64,64]) {\nfor b in 0..64 bound(grid.z) {\nfor t in 0..8 bound(block.z) {\n"
		"for u in 0..8 bound(block.y) { y[b, t * 8 + u] = exp(x[b, t * 8 + u]) }}}}\n",
		"fn k(n: in i64[1], y: out f32[64]) {\nfor b in 0..1 bound(grid.x) {\nfor t in 0..64 bound(block.x) {\n"
		"y[t] = 0.0\nfor i in 0..n[0] { sum y[t] <- 1.0 }}}}\n",
		"fn k(x: in f32[64], y: out f32[64]) {\nalloc s: f32[64]\nlet two: f32 = 2.0\n"
		"for i in 0..64 { s[i] = x[i] * two }\n"
		"for b in 0..64 bound(grid.x) { y[b] = s[b] }\nfor j in 0..64 { y[j] = y[j] + 1.0 }\n}\n",
	};
	static const char *const names[] = { "k80", "gtx1080ti", "h200", "opencl:generic", "pocl" };
	for (size_t k = 0; k < LEN(names); k++) {
		Target t = target_of(names[k]);
		ns_of(odd[_i], &t);
		t.nscope = 0; /* a target that says as little as it may */
		t.blocks = (Blocks){ .warp = t.blocks.warp };
		memset(t.cache, 0, sizeof t.cache);
		ns_of(odd[_i], &t);
	}
}
END_TEST

/* ---- what templates make ---- */

static const char *const tasks[] = {
	"dag conv\nin x: f32[1,64,28,28]\nconst w: f32[64,64,3,3]\nconst b: f32[64]\n"
	"y: f32[1,64,28,28] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,64,28,28] = relu(y)\nout z\n",
	"dag depthwise\nin x: f32[1,96,14,14]\nconst w: f32[96,1,3,3]\n"
	"y: f32[1,96,14,14] = conv(x, w) groups=96 pads=[1,1,1,1]\nout y\n",
	"dag points\nin x: f32[1,128,28,28]\nconst w: f32[256,128,1,1]\ny: f32[1,256,28,28] = conv(x, w)\nout y\n",
	"dag dense\nin x: f32[1,512]\nconst w: f32[1000,512]\ny: f32[1,1000] = dense(x, w)\nout y\n",
	"dag product\nin x: f32[256,256]\nconst w: f32[256,256]\ny: f32[256,256] = dense(x, w)\nout y\n",
	"dag softmax\nin x: f32[64,1000]\ny: f32[64,1000] = softmax(x)\nout y\n",
	"dag pool\nin x: f32[1,64,112,112]\ny: f32[1,64,56,56] = max_pool(x) kernel=[3,3] strides=[2,2] pads=[1,1,1,1]\n"
	"out y\n",
	"dag mean\nin x: f32[1,512,7,7]\ny: f32[1,512,1,1] = reduce_mean(x) axes=[2,3] keep=1\nout y\n",
	"dag add\nin a: f32[1,256,56,56]\nin b: f32[1,256,56,56]\ny: f32[1,256,56,56] = add(a, b)\nout y\n",
};

static double draft_ns(const Task *task, const Target *t, const Trace *trace)
{
	Err err = { 0 };
	Arena *own = arena_new();
	const KernelSet *ks = schedule_draft(ir_new(own), task, t, trace, &err);
	Cost cost = cost_or_first(NULL, own, t);
	double ns = ks != NULL ? cost_estimate_one(&cost, ks, task) : 0; /* no launch has some candidates */
	ck_assert_msg(ks != NULL || err.code == ERR_ILLEGAL, "%s: %s", err.place, err.text);
	ck_assert_msg(ks == NULL || (isfinite(ns) && ns >= t->blocks.launch_ns && ns < 1e12), "%s: %g ns", task->label, ns);
	arena_free(own);
	return ns;
}

/* Defaults are faster than one thread, and no time is below the floor. */
START_TEST(candidates_have_times)
{
	static const char *const names[] = { "k80", "h200", "opencl:generic", "pocl" };
	enum { DRAWN = 12 };
	for (size_t k = 0; k < LEN(names); k++) {
		Target t = target_of(names[k]);
		Err err = { 0 };
		Rng rng = rng_seed(9);
		Dag *d = dag_parse(a, "t", tasks[_i], strlen(tasks[_i]), &err);
		Task *task = d != NULL ? task_new(a, d, &err) : NULL;
		Space *space = task != NULL ? space_new(a, task, &t, &err) : NULL;
		ck_assert_msg(space != NULL, "%s: %s", err.place, err.text);
		double first = draft_ns(task, &t, space_trace(space, &space->first, a, &err));
		double floor = (double)roof_floor_ns(task, &t);
		double naive = draft_ns(task, &t, trace_parse(a, "naive", "", 0, &err));
		ck_assert_msg(first > 0 && first < naive, "%s on %s: %g and %g ns", task->label, names[k], first, naive);
		for (int i = 0; i < DRAWN; i++) {
			Config c = space_sample(space, &rng);
			double ns = draft_ns(task, &t, space_trace(space, &c, a, &err));
			ck_assert_msg(ns == 0 || ns >= floor, "%s on %s: %g ns", task->label, names[k], ns);
		}
	}
}
END_TEST

/* ---- floors ---- */

/* No time that a device reaches is below the floor, with matrix units, all its units and turbo. */
START_TEST(floors_of_devices_are_below_all_times)
{
	static const char *const dag[] = {
		"dag t\nin x: f16[4096,4096]\nconst w: f16[4096,4096]\ny: f16[4096,4096] = dense(x, w)\nout y\n",
		"dag t\nin x: f32[32,64,56,56]\nconst c: f32[64,64,3,3]\ny: f32[32,64,56,56] = conv(x, c) pads=[1,1,1,1]\n"
		"out y\n",
	};
	static const char *const names[] = { "k80", "t4", "h200", "opencl:generic", "pocl" };
	static const double tflops[] = { 4.4, 65, 990, 100, 20 }; /* the most in f16; a large GPU or CPU behind OpenCL */
	for (size_t k = 0; k < LEN(names); k++) {
		Target t = target_of(names[k]);
		for (size_t i = 0; i < LEN(dag); i++) {
			Err err = { 0 };
			Dag *d = dag_parse(a, "t", dag[i], strlen(dag[i]), &err);
			Task *task = d != NULL ? task_new(a, d, &err) : NULL;
			ck_assert_msg(task != NULL, "%s: %s", err.place, err.text);
			double floor = (double)roof_floor_ns(task, &t), least = task->flops / tflops[k] / 1000 / 5.06;
			ck_assert_msg(floor >= ROOF_LEAST_NS && floor <= least, "%s: %g above %g ns", names[k], floor, least);
		}
	}
}
END_TEST

#define DENSE "dag t\nin x: %s[256,256]\nconst w: %s[256,256]\ny: %s[256,256] = dense(x, w)%s\nout y\n"

/* The roof of narrow factors is that of the matrix units; f32 factors have it where they may be rounded to tf32. */
START_TEST(roofs_count_matrix_units)
{
	static const char *const type[] = { "f32", "f16", "f32" }, *const attr[] = { "", "", " tf32=1" };
	Roof gpu = { .gflops = 1000, .bits = 32, .f16 = 8000, .tf32 = 4000 }, cpu = { .gflops = 1000, .bits = 32 };
	double ns[3][2], flops = 2.0 * 256 * 256 * 256;
	for (int k = 0; k < 3; k++) {
		Err err = { 0 };
		const char *text = arena_printf(a, DENSE, type[k], type[k], type[k], attr[k]);
		Dag *d = dag_parse(a, "t", text, strlen(text), &err);
		Task *task = d != NULL ? task_new(a, d, &err) : NULL;
		ck_assert_msg(task != NULL, "%s: %s", err.place, err.text);
		ns[k][0] = roof_of(task, &cpu).flops_ns;
		ns[k][1] = roof_of(task, &gpu).flops_ns;
	}
	ck_assert(ns[0][0] == flops / 1000 && ns[0][1] == flops / 1000 && ns[1][0] == flops / 2000);
	ck_assert_msg(ns[1][1] == flops / 8000 && ns[2][0] == flops / 1000 && ns[2][1] == flops / 4000, "%g ns", ns[1][1]);
}
END_TEST

/* ---- tiles of matrix units ---- */

#define LAYER(type, image, filters, window) "dag conv\nin x: " type "[1,64," image "," image "]\nconst w: " type \
	"[" filters ",64," window "," window "]\ny: " type "[1," filters "," image "," image "] = conv(x, w)"
static const struct {
	const char *dag, *target;
} cores[] = {
	{ LAYER("f16", "32", "128", "1") "\nout y\n", "h200" },
	{ LAYER("f16", "14", "64", "3") " pads=[1,1,1,1]\nout y\n", "a100" },
	{ LAYER("bf16", "32", "64", "3") " pads=[1,1,1,1]\nout y\n", "h200" },
	{ LAYER("f16", "32", "64", "1") "\nout y\n", "t4" },
	{ "dag dense\nin x: f16[256,256]\nconst w: f16[256,256]\ny: f16[256,256] = dense(x, w)\nout y\n", "t4" },
	{ "dag dense\nin x: f16[512,512]\nconst w: f16[256,512]\ny: f16[512,256] = dense(x, w)\nout y\n", "a100" },
};

/* Bytes from the buffer's beginning to an element of its first slot. */
static int64_t byte_of(const Buf *b, const int64_t *at)
{
	IrArg arg[IR_MAX_RANK];
	int64_t byte = 0, extent, place;
	for (int k = 0; k < b->map.nvar; k++)
		arg[k] = (IrArg){ .name = b->map.var[k], .value = at[k] };
	for (int k = 0; k < b->map.n; k++) {
		ck_assert(ir_is_int(b->map.extent[k], &extent) && ir_eval_int(b->map.at[k], arg, b->map.nvar, &place));
		byte = byte * extent + place;
	}
	return byte * b->type.bits / 8;
}

/* Dimensions of more than one element but for the slot: two. The one of neighbours is `along`. */
static void dims_of(const Buf *b, bool slots, int *along, int *across)
{
	int dim[2], n = 0;
	int64_t extent, at[IR_MAX_RANK] = { 0 };
	for (int k = slots; k < b->rank && n < 2; k++)
		if (ir_is_int(b->shape[k], &extent) && extent > 1)
			dim[n++] = k;
	ck_assert_int_eq(n, 2);
	at[dim[0]] = 1;
	bool first = byte_of(b, at) == b->type.bits / 8;
	*along = dim[first ? 0 : 1];
	*across = dim[first ? 1 : 0];
}

static bool counts_banks(Stmt *s, void *arg)
{
	int along, across, *seen = arg;
	if (s->kind != ST_ALLOC || strcmp(s->alloc->scope, "shared") != 0 || ir_buf_elements(s->alloc, NULL, 0) == 1)
		return true; /* no tile: whether the block is the last one */
	const Buf *b = s->alloc;
	dims_of(b, strcmp(b->map.nvar > 0 ? b->map.var[0] : "", "slot") == 0, &along, &across);
	int64_t row, at[IR_MAX_RANK] = { 0 }, rows[8], copies[8], piece = 128 / b->type.bits;
	ck_assert(ir_is_int(b->shape[along], &row));
	for (int64_t col = 0; col < row; col += piece) { /* a matrix begins at each 16 bytes of a row */
		for (int k = 0; k < 8; k++) {
			at[along] = col;
			at[across] = k;
			rows[k] = byte_of(b, at);
			at[along] = (k * piece + col) % row;
			at[across] = (k * piece + col) / row;
			copies[k] = byte_of(b, at);
		}
		ck_assert_double_eq(warp_bank_cycles(rows, 8, 16), 1);
		ck_assert(col % (8 * piece) != 0 || warp_bank_cycles(copies, 8, 16) == 1);
	}
	++*seen;
	return true;
}

START_TEST(matrix_units_load_and_copy_without_conflicts)
{
	Err err = { 0 };
	int seen = 0;
	Target t = target_of(cores[_i].target);
	Dag *d = dag_parse(a, "core", cores[_i].dag, strlen(cores[_i].dag), &err);
	Task *task = d != NULL ? task_new(a, d, &err) : NULL;
	Space *s = task != NULL ? space_new(a, task, &t, &err) : NULL;
	Trace *trace = s != NULL ? space_trace(s, &s->first, a, &err) : NULL;
	KernelSet *ks = trace != NULL ? schedule_replay(ir_new(a), task, &t, trace, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	for (size_t k = 0; k < ks->n; k++)
		if (ks->fn[k]->kind == FN_RUN)
			ir_each_stmt(ks->fn[k]->body, counts_banks, &seen);
	ck_assert_int_eq(seen, 2);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("launches");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, physics_rank_kernels, 0, LEN(pairs));
	tcase_add_loop_test(tc, tiles_rank_by_what_they_read, 0, LEN(tiles));
	tcase_add_loop_test(tc, more_work_takes_longer, 0, 5);
	tcase_add_test(tc, waves_and_occupancy_have_cliffs);
	tcase_add_loop_test(tc, estimates_of_odd_kernels_are_times, 0, 6);
	tcase_add_loop_test(tc, candidates_have_times, 0, LEN(tasks));
	tcase_add_test(tc, roofs_count_matrix_units);
	tcase_add_test(tc, floors_of_devices_are_below_all_times);
	tcase_add_loop_test(tc, matrix_units_load_and_copy_without_conflicts, 0, LEN(cores));
	return run_suite("launches", tc);
}
