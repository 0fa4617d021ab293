/*
 * The order that matters: whatever the time is, a schedule that is plainly better must be estimated
 * so.  Each row is a workload and two traces, the first the better one.
 */
#include "suite.h"

#include "base/rng.h"
#include "cost_model/cost_model.h"
#include "cost_model/roof.h"
#include "ir/text/ir_text.h"
#include "schedule/space.h"

#include <math.h>
#include <string.h>

static const char conv[] = "dag t\nin v0: f32[1,16,16,16]\nconst c0: f32[16,16,3,3]\n"
						   "v1: f32[1,16,16,16] = conv(v0, c0) pads=[1,1,1,1]\nout v1\n";
static const char dense[] =
	"dag t\nin v0: f32[4,256]\nconst c0: f32[256,256]\nv1: f32[4,256] = dense(v0, c0)\nout v1\n";
static const char relu[] = "dag t\nin v0: f32[64,64]\nv1: f32[64,64] = relu(v0)\nout v1\n";

static const struct {
	const char *name, *dag;
	int threads;
	const char *better, *worse;
} order[] = {
	{ "a vector beats scalars", conv, 1, "split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n", "" },
	{ "a full vector beats half of one", conv, 1, "split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n",
		"split w 4\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n" },
	{ "neighbours beat strides", conv, 1, "split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n",
		"split h 8\nreorder n o h.o w c kh kw h.i\nvectorize h.i\n" },
	{ "a tile hides the latency of a sum", conv, 1,
		"split w 8\nsplit o 4\nreorder n o.o h w.o c kh kw o.i w.i\nunroll o.i\nvectorize w.i\n",
		"split w 8\nreorder n o h w.o c kh kw w.i\nvectorize w.i\n" },
	{ "two threads beat one", conv, 2, "parallel o\n", "" },
	{ "vectors of elements", relu, 1, "split n 8\nvectorize n.i\n", "" },
	{ "unrolled loops cost no branches", dense, 1, "split k 8\nunroll k.i\n", "split k 8\n" },
};

static double estimate(Arena *a, const Task *task, const Target *target, const char *trace)
{
	Err err = { 0 };
	Trace *t = trace_parse(a, "trace", trace, strlen(trace), &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	Cost cost = cost_or_first(NULL, a, target);
	return cost_estimate_one(&cost, ks, task);
}

static Target cpu(int threads)
{
	Target t;
	Err err = { 0 };
	static const char text[] = "{\"kind\":\"cpu\",\"model\":\"x86-64-v3\",\"fma_rate\":2,\"fma_latency\":4}";
	ck_assert_msg(target_parse(&t, "t", text, sizeof text - 1, threads, &err), "%s", err.text);
	return t;
}

static const Task *task_of(Arena *a, const char *text)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	Task *t = d != NULL ? task_new(a, d, &err) : NULL;
	ck_assert_msg(t != NULL, "%s: %s", err.place, err.text);
	return t;
}

START_TEST(what_is_plainly_better_ranks_first)
{
	Arena *a = arena_new();
	Target target = cpu(order[_i].threads);
	const Task *task = task_of(a, order[_i].dag);
	double better = estimate(a, task, &target, order[_i].better), worse = estimate(a, task, &target, order[_i].worse);
	ck_assert_msg(better < worse, "%s: %g and %g ns", order[_i].name, better, worse);
	arena_free(a);
}
END_TEST

/* A line of memory is read before it is stored to in a cache. */
START_TEST(nothing_is_read_for_an_output_past_the_caches)
{
	static const char dag[] = "dag t\nin v0: f32[64,1048576]\nv1: f32[64,1048576] = relu(v0)\nout v1\n";
	Arena *a = arena_new();
	Target target = cpu(1);
	target.cache[0] = (Cache){ .bytes = 32768, .shared_by = 1 };
	double cached = estimate(a, task_of(a, dag), &target, "split n 8\nvectorize n.i\n");
	double streamed = estimate(a, task_of(a, dag), &target, "split n 8\nvectorize n.i\nstream v1\n");
	ck_assert_double_eq_tol(streamed / cached, 2.0 / 3.0, 0.02);
	arena_free(a);
}
END_TEST

/* Only where the code stores rows past the caches: not elements alone, nor columns, nor what the leaf reads. */
static const struct {
	const char *loops, *value;
	bool passes;
} stored[] = {
	{ "for m in 0..64 { for o in 0..131072 { for i in 0..8 vector { y[m, o * 8 + i] = ", "x[m, o * 8 + i] } } }",
		true },
	{ "for m in 0..64 { for n in 0..1048576 { for i in 0..1 { y[m, n] = ", "x[m, n] } } }", false },
	{ "for n in 0..1048576 { for o in 0..8 { for i in 0..8 vector { y[o * 8 + i, n] = ", "x[o * 8 + i, n] } } }",
		false },
	{ "for m in 0..64 { for o in 0..131072 { for i in 0..8 vector { y[m, o * 8 + i] = ",
		"x[m, o * 8 + i] + y[m, o * 8 + i] } } }", false },
};

START_TEST(stores_that_cannot_pass_the_caches_cost_the_same)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = cpu(1);
	double ns[2];
	target.cache[0] = (Cache){ .bytes = 32768, .shared_by = 1 };
	for (int k = 0; k < 2; k++) {
		char *text = arena_printf(a, "fn k(x: in f32[64, 1048576], y: out f32[64, 1048576]%s) { %s%s }",
			k == 1 ? " streamed" : "", stored[_i].loops, stored[_i].value);
		KernelSet *ks = ir_parse_set(ir_new(a), "t", text, strlen(text), &err);
		ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
		Cost cost = cost_or_first(NULL, a, &target);
		ns[k] = cost_estimate_one(&cost, ks, task_of(a, relu));
	}
	ck_assert_msg((ns[1] < ns[0]) == stored[_i].passes && ns[1] <= ns[0], "%g and %g ns", ns[0], ns[1]);
	arena_free(a);
}
END_TEST

/* A row at a computed place is one load of a vector; elements whose neighbours lie in other rows are one load each. */
START_TEST(rows_at_computed_places_are_vectors)
{
	static const char dag[] = "dag t\nin x: f32[90,64]%s\nin i: i64[50,4]\nin w: f32[50,4]\n"
							  "y: f32[50,64] = resample(x, i, w)\nout y\n";
	static const char trace[] = "split n 8\nreorder m n.o k n.i\nvectorize n.i\n";
	Arena *a = arena_new();
	Target target = cpu(1);
	double rows = estimate(a, task_of(a, arena_printf(a, dag, "")), &target, trace);
	double columns = estimate(a, task_of(a, arena_printf(a, dag, ":CN")), &target, trace);
	ck_assert_msg(3 * rows < 2 * columns, "%g and %g ns", rows, columns);
	arena_free(a);
}
END_TEST

/* Rows that are looked up are cold, not the rest of the table; nor does the floor count it. */
START_TEST(looked_up_rows_are_cold_alone)
{
	static const char dag[] = "dag t\nconst x: f32[%d,256]\nin i: i64[16]\ny: f32[16,256] = gather(x, i)\nout y\n";
	Arena *a = arena_new();
	Target target = cpu(1);
	const Task *small = task_of(a, arena_printf(a, dag, 1000)), *large = task_of(a, arena_printf(a, dag, 1000000));
	for (const char *const *t = (const char *const[]){ "", "split n 8\nvectorize n.i\n", NULL }; *t != NULL; t++) {
		double few = estimate(a, small, &target, *t), many = estimate(a, large, &target, *t);
		ck_assert_msg(many < 1.01 * few, "%g and %g ns", few, many);
	}
	ck_assert_int_eq(roof_floor_ns(small, &target), roof_floor_ns(large, &target));
	arena_free(a);
}
END_TEST

/* What stands in a sub Fn costs what it costs elsewhere. */
START_TEST(estimates_see_through_calls)
{
	static const char tiled[] = "split w 8\nsplit o 4\nreorder n o.o h w.o c kh kw o.i w.i\nunroll o.i\nvectorize w.i\n"
								"cut h 3\n";
	Arena *a = arena_new();
	Target target = cpu(1);
	const Task *task = task_of(a, conv);
	double plain = estimate(a, task, &target, tiled);
	double outlined = estimate(a, task, &target, arena_printf(a, "%soutline w.o w.o.2\n", tiled));
	double scalars = estimate(a, task, &target, "cut h 3\noutline w w.2\n");
	double vectors = estimate(a, task, &target, "cut h 3\noutline w w.2\nvectorize w\n");
	ck_assert_msg(fabs(outlined - plain) < 0.001 * plain, "%g and %g ns", plain, outlined);
	ck_assert_msg(vectors < scalars, "%g and %g ns", scalars, vectors);
	arena_free(a);
}
END_TEST

/* ---- register tiles, written out ---- */

/* A convolution of C to O channels, HxH pixels, KxK taps: F vectors of outputs by P pixels in registers. */
typedef struct Tile {
	int C, O, H, K, P, F;
	int split;          /* input channels unrolled */
	bool pixels_inside; /* blocks of outputs outermost, else innermost of the tiles' loops */
	bool strided;       /* weights as they come: OIHW, a vector gathers */
} Tile;

static void tile_params(Text *t, const Tile *x)
{
	text_add(t,
		"fn k(x: in f32[1,%d,%d,%d] map (n, c, h, w) -> [n : 1, c / 16 : %d, h : %d, w : %d, c %% 16 : 16],\n"
		"w: const f32[%d,%d,%d,%d]",
		x->C, x->H, x->H, x->C / 16, x->H, x->H, x->O, x->C, x->K, x->K);
	if (!x->strided)
		text_add(t, " map (o, c, y, x) -> [o / 16 : %d, c / 16 : %d, y : %d, x : %d, c %% 16 : 16, o %% 16 : 16]",
			x->O / 16, x->C / 16, x->K, x->K);
	text_add(t, ",\ny: out f32[1,%d,%d,%d] map (n, c, h, w) -> [n : 1, c / 16 : %d, h : %d, w : %d, c %% 16 : 16]) {\n",
		x->O, x->H, x->H, x->O / 16, x->H, x->H);
}

static const char *tile_text(Arena *a, const Tile *x)
{
	Text t = { .arena = a };
	int pad = x->K / 2, width = x->F * 16;
	const char *ob = arena_printf(a, "for ob in 0..%d {\n", x->O / width);
	tile_params(&t, x);
	text_add(&t, "%sfor h in 0..%d {\nfor wo in 0..%d {\n%s", x->pixels_inside ? ob : "", x->H,
		(x->H + x->P - 1) / x->P, x->pixels_inside ? "" : ob);
	text_add(&t, "alloc t: f32[1,%d,1,%d] @local\n", width, x->P);
	text_add(&t,
		"for co in 0..%d {\nfor kh in 0..%d {\nfor kw in 0..%d unrolled {\nfor ci in 0..%d {\nfor cj in 0..%d unrolled "
	    "{\n",
		x->C / 16, x->K, x->K, 16 / x->split, x->split);
	text_add(&t, "for p in 0..%d unrolled {\nfor oo in 0..%d unrolled {\nfor oi in 0..16 vector {\n", x->P, x->F);
	text_add(&t,
		"block conv(vo: spatial 0..%d = ob*%d+oo*16+oi, vh: spatial 0..%d = h, vw: spatial 0..%d = wo*%d+p, "
		"vc: reduce 0..%d = co*16+ci*%d+cj, vy: reduce 0..%d=kh, vx: reduce 0..%d=kw) {\n",
		x->O, width, x->H, x->H, x->P, x->C, x->split, x->K, x->K);
	text_add(&t,
		"init { t[0,vo-ob*%d,0,vw-wo*%d] = 0.0 }\nif 0 <= vh+vy-%d & vh+vy-%d < %d & 0 <= vw+vx-%d & vw+vx-%d < %d {\n",
		width, x->P, pad, pad, x->H, pad, pad, x->H);
	text_add(&t, "sum t[0,vo-ob*%d,0,vw-wo*%d] <- x[0,vc,vh+vy-%d,vw+vx-%d]*w[vo,vc,vy,vx]\n}}}}}}}}}}\n", width, x->P,
		pad, pad);
	text_add(&t, "for p2 in 0..%d unrolled {\nfor o2 in 0..%d unrolled {\nfor o3 in 0..16 vector {\n", x->P, x->F);
	text_add(&t,
		"block relu(vo: spatial 0..%d = ob*%d+o2*16+o3, vh: spatial 0..%d = h, vw: spatial 0..%d = wo*%d+p2) {\n", x->O,
		width, x->H, x->H, x->P);
	text_add(&t, "y[0,vo,vh,vw] = max(t[0,vo-ob*%d,0,vw-wo*%d], 0.0)\n}}}}\n}}}}\n", width, x->P);
	return text_str(&t);
}

static double tile_ns(Arena *a, const Tile *x)
{
	Err err = { 0 };
	const char *text = tile_text(a, x);
	static const char target[] =
		"{\"kind\":\"cpu\",\"model\":\"x86-64-v4\",\"ghz\":4,\"fma_rate\":2,\"fma_latency\":4,\"cache\":["
		"{\"bytes\":49152},{\"bytes\":1048576},{\"bytes\":33554432}]}";
	Target t;
	ck_assert_msg(target_parse(&t, "t", target, sizeof target - 1, 1, &err), "%s", err.text);
	KernelSet *ks = ir_parse_set(ir_new(a), "tile", text, strlen(text), &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text);
	Cost cost = cost_or_first(NULL, a, &t);
	return cost_estimate_one(&cost, ks, NULL);
}

/* Measured on cores with 512-bit vectors (one thread): the first of each row is the faster one. */
static const struct {
	const char *name;
	Tile better, worse;
} tiles[] = {
	{ "two vectors share a broadcast", { 64, 64, 56, 3, 14, 2, 1, true, 0 }, { 64, 64, 56, 3, 14, 1, 1, true, 0 } },
	{ "seven accumulators wait", { 64, 64, 56, 3, 7, 2, 1, true, 0 }, { 64, 64, 56, 3, 7, 1, 1, true, 0 } },
	{ "more accumulators than registers", { 64, 64, 56, 3, 14, 2, 1, true, 0 }, { 64, 64, 56, 3, 28, 2, 1, true, 0 } },
	{ "one too many", { 64, 64, 56, 3, 14, 2, 1, true, 0 }, { 64, 64, 56, 3, 7, 4, 1, true, 0 } },
	{ "few accumulators wait", { 64, 64, 56, 3, 7, 2, 1, true, 0 }, { 64, 64, 56, 3, 2, 2, 1, true, 0 } },
	{ "a tile that leaves no rest", { 256, 256, 14, 3, 7, 2, 1, true, 0 }, { 256, 256, 14, 3, 8, 2, 1, true, 0 } },
	{ "nor one of three", { 128, 128, 28, 3, 14, 2, 1, true, 0 }, { 128, 128, 28, 3, 9, 2, 1, true, 0 } },
	{ "weights stay while pixels pass", { 512, 512, 7, 3, 7, 2, 1, true, 0 }, { 512, 512, 7, 3, 7, 2, 1, false, 0 } },
	{ "packed weights", { 64, 64, 56, 3, 14, 2, 1, true, 0 }, { 64, 64, 56, 3, 14, 2, 1, true, true } },
	{ "code that a core cannot keep", { 64, 64, 56, 3, 14, 2, 1, true, 0 }, { 64, 64, 56, 3, 14, 2, 16, true, 0 } },
	{ "points are no tile", { 1024, 256, 14, 1, 7, 2, 1, true, 0 }, { 1024, 256, 14, 1, 1, 2, 1, true, 0 } },
};

START_TEST(tiles_rank_as_measured)
{
	Arena *a = arena_new();
	double better = tile_ns(a, &tiles[_i].better), worse = tile_ns(a, &tiles[_i].worse);
	ck_assert_msg(better < worse, "%s: %g and %g ns", tiles[_i].name, better, worse);
	arena_free(a);
}
END_TEST

/* No point of a space is free, endless, or no number; the default is above the middle. */
START_TEST(estimates_are_times)
{
	static const char *const dag[] = { conv, dense, relu };
	Arena *a = arena_new();
	Err err = { 0 };
	Rng rng = rng_seed(5);
	Target target = cpu(1);
	const Task *task = task_of(a, dag[_i]);
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	double first = 0;
	int slower = 0, n = 60;
	for (int i = 0; i < n; i++) {
		Text text = { .arena = a };
		Config c = i == 0 ? space->first : space_sample(space, &rng);
		trace_print(&text, space_trace(space, &c, a, &err));
		double ns = estimate(a, task, &target, text_str(&text));
		ck_assert_msg(isfinite(ns) && ns > 0 && ns < 1e12, "%g ns: %s", ns, text_str(&text));
		first = i == 0 ? ns : first;
		slower += ns >= first;
	}
	ck_assert_msg(slower * 2 >= n, "the default is slower than %d of %d", n - slower, n);
	arena_free(a);
}
END_TEST

/* Taps in the padding are no work, elementwise calls neither; what binds is the larger time. */
static const struct {
	const char *dag;
	double flops, bytes_bound;
} roofs[] = {
	{ conv, 2.0 * 16 * 16 * (16 * 3 - 2) * (16 * 3 - 2), 0 },
	{ dense, 2.0 * 4 * 256 * 256, 1 },
	{ relu, 0, 1 },
};

START_TEST(roofs_are_below_times)
{
	Arena *a = arena_new();
	const Task *task = task_of(a, roofs[_i].dag);
	Roof machine = { .gflops = 100, .gbps = 5 };
	ck_assert_msg(fabs(roof_flops(task) - roofs[_i].flops) < 1, "%g instead of %g", roof_flops(task), roofs[_i].flops);
	RoofTime t = roof_of(task, &machine);
	ck_assert(fabs(t.flops_ns - roofs[_i].flops / 100) < 1 && t.bytes_ns == task->bytes / 5);
	ck_assert((t.bytes_ns > t.flops_ns) == (roofs[_i].bytes_bound != 0));
	ck_assert(roof_ns(task, &machine) == fmax(t.flops_ns, t.bytes_ns));
	machine.bits = 16; /* half as many of f32 fit a register */
	ck_assert(fabs(roof_of(task, &machine).flops_ns - 2 * t.flops_ns) < 1);
	machine = (Roof){ 0 };
	ck_assert(roof_ns(task, &machine) == 0);
	arena_free(a);
}
END_TEST

/* No honest time is below it, whatever the algorithm and the part; it scales with threads and vectors. */
START_TEST(floors_are_below_all_times)
{
	static const char layer[] = "dag t\nin x: f32[1,64,56,56]\nconst c: f32[64,64,3,3]\n"
								"y: f32[1,64,56,56] = conv(x, c) pads=[1,1,1,1]\nout y\n";
	Arena *a = arena_new();
	const Task *task = task_of(a, layer);
	Target one = cpu(1), four = cpu(4), narrow = one;
	narrow.vector_bits = 128;
	double peak = 2 * target_lanes(&one, F32) * one.core.fma_rate * one.core.ghz; /* flops a nanosecond */
	int64_t least = roof_floor_ns(task, &one);
	ck_assert_double_lt((double)least, task->flops / peak / 5); /* Winograd's tiles of 6 at the full rate */
	ck_assert_double_gt((double)least, task->flops / peak / 50);
	ck_assert_int_le(roof_floor_ns(task, &four), least / 4 + 1);
	ck_assert_int_ge(roof_floor_ns(task, &narrow), least * 2 - 1);
	/* A register holds half as many f64. */
	static const char wide[] = "dag t\nin x: f64[1,64,56,56]\nconst c: f64[64,64,3,3]\n"
							   "y: f64[1,64,56,56] = conv(x, c) pads=[1,1,1,1]\nout y\n";
	ck_assert_int_ge(roof_floor_ns(task_of(a, wide), &one), least * 2 - 1);
	ck_assert_int_eq(
		roof_floor_ns(task_of(a, "dag t\nin x: f32[2]\ny: f32[2] = relu(x)\nout y\n"), &one), ROOF_LEAST_NS);
	arena_free(a);
}
END_TEST

static const struct {
	const char *name, *says; /* says NULL: it is opened */
} names[] = {
	{ NULL, NULL },
	{ "analytic", NULL },
	{ "xgboost", NULL },
	{ "analyti", "there is no such cost model; there are: analytic, xgboost" },
	{ "", "there is no such cost model; there are: analytic, xgboost" },
	{ "analytic:x", "the cost model analytic reads no file" },
};

START_TEST(cost_models_are_opened_by_name)
{
	Arena *a = arena_new();
	Target target = cpu(1);
	Cost cost;
	Err err = { 0 };
	bool opened = cost_open(&cost, a, names[_i].name, NULL, &target, &err);
	ck_assert_int_eq(opened, names[_i].says == NULL);
	if (opened)
		ck_assert_str_eq(cost.row->name, names[_i].name != NULL ? names[_i].name : "analytic");
	else
		ck_assert(err.code == ERR_USAGE && strcmp(err.text, names[_i].says) == 0);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("cost_model");
	tcase_add_loop_test(tc, what_is_plainly_better_ranks_first, 0, LEN(order));
	tcase_add_test(tc, nothing_is_read_for_an_output_past_the_caches);
	tcase_add_loop_test(tc, stores_that_cannot_pass_the_caches_cost_the_same, 0, LEN(stored));
	tcase_add_test(tc, rows_at_computed_places_are_vectors);
	tcase_add_test(tc, looked_up_rows_are_cold_alone);
	tcase_add_test(tc, estimates_see_through_calls);
	tcase_add_test(tc, floors_are_below_all_times);
	tcase_add_loop_test(tc, cost_models_are_opened_by_name, 0, LEN(names));
	tcase_add_loop_test(tc, tiles_rank_as_measured, 0, LEN(tiles));
	tcase_add_loop_test(tc, estimates_are_times, 0, 3);
	tcase_add_loop_test(tc, roofs_are_below_times, 0, LEN(roofs));
	return run_suite("cost_model", tc);
}
