/*
 * What else a partition could be: regions and their alternatives as text, choosing among them by cost,
 * and the partition that comes of it.
 */
#include "suite.h"

#include "graph/without.h"
#include "graph/pairs.h"

#include <string.h>

#define BLOCK \
	"dag\nin x: f32[1,8,6,6]\nconst w1: f32[8,8,3,3]\nconst w2: f32[8,8,3,3]\nconst wp: f32[8,8,1,1]\n" \
	"p = conv(x, wp)\na = conv(x, w1) pads=[1,1,1,1]\nb = relu(a)\nc = conv(b, w2) pads=[1,1,1,1]\n" \
	"d = add(c, p)\ny = relu(d)\n"
#define CONV "dag\nin x: f32[1,8,6,6]\nconst w: f32[8,8,1,1]\nconst k: f32[8,1,1]\na = conv(x, w)\n"

static const struct {
	const char *dag, *regions; /* a line for each, its alternatives between bars */
} cases[] = {
	/* a residual block with a projection; what another call reads, too, is no other anchor's to take */
	{ BLOCK "out y\n", "conv3x3 8>8 6 +add+relu, conv1x1 8>8 6 | conv3x3 8>8 6, conv1x1 8>8 6 +add+relu | "
					   "conv3x3 8>8 6, add 1x8x6x6 +relu, conv1x1 8>8 6\n" },
	{ BLOCK "out y, p\n", "conv3x3 8>8 6 +add+relu | conv3x3 8>8 6, add 1x8x6x6 +relu\n" },
	/* an identity shortcut; all readers of the convolution meet behind the cut */
	{ CONV "b = add(a, x)\nc = relu(b)\nout c\n", "conv1x1 8>8 6 +add+relu | conv1x1 8>8 6, add 1x8x6x6 +relu\n" },
	{ CONV "s = sigmoid(a)\nm = mul(a, s)\nout m\n",
		"conv1x1 8>8 6 +sigmoid+mul | conv1x1 8>8 6, sigmoid 1x8x6x6 +mul\n" },
	{ CONV "r = relu(a)\nt = tanh(r)\nout t\n", "conv1x1 8>8 6 +relu+tanh | conv1x1 8>8 6 +relu, tanh 1x8x6x6\n" },
	/* nothing but what is cheap and reads nothing; a gate of one number for each channel; no anchor */
	{ CONV "r = relu(a)\nt = clip(r) lo=0 hi=6\nout t\n", "" },
	{ CONV "r = add(a, k)\nout r\n", "" },
	{ "dag\nin x: f32[1,8,6,6]\nin g: f32[1,8,1,1]\nconst w: f32[8,8,1,1]\na = conv(x, w)\nb = mul(a, g)\nout b\n",
		"" },
	{ "dag\nin x: f32[4,8]\nin z: f32[4,8]\na = exp(x)\nb = add(a, z)\nc = tanh(b)\nout c\n", "" },
	/* behind the cut they still read what lies before it: the next call is cut off */
	{ CONV "r = relu(a)\nt = tanh(r)\nu = mul(t, a)\nv = exp(u)\nout v\n",
		"conv1x1 8>8 6 +relu+tanh+mul+exp | conv1x1 8>8 6 +relu+tanh+mul, exp 1x8x6x6\n" },
	/* a group is in one region: the second sum cannot go where the first one could */
	{ "dag\nin x: f32[4,8]\nconst w: f32[8,8]\nconst u: f32[8,8]\na = dense(x, w)\nb = dense(x, u)\nc = add(a, b)\n"
	  "d = dense(x, w)\ne = add(c, d)\nout e\n",
		"dense 8>8 m4 +add, dense 8>8 m4 | dense 8>8 m4, dense 8>8 m4 +add | dense 8>8 m4, add 4x8, dense 8>8 m4\n"
		"dense 8>8 m4 +add | dense 8>8 m4, add 4x8\n" },
};

/* A depthwise convolution and a pointwise one, of devices. */
#define PAIR \
	"dag\nin x: f32[1,8,6,6]\nconst d: f32[8,1,3,3]\nconst w: f32[8,8,1,1]\n" \
	"a = conv(x, d) pads=[1,1,1,1] groups=8\nb = clip(a) lo=0 hi=6\nc = conv(b, w)\n"

static const struct {
	const char *dag, *regions;
} pairs[] = {
	{ PAIR "y = relu(c)\nout y\n",
		"conv1x1 8>8 6 +relu, dwconv3x3 8 6 +clip | dwconv3x3 8 6 +clip+conv+relu\n" },
	/* the second one is in a region: one alternative more */
	{ PAIR "y = add(c, x)\nout y\n",
		"conv1x1 8>8 6 +add, dwconv3x3 8 6 +clip | conv1x1 8>8 6, add 1x8x6x6, dwconv3x3 8 6 +clip | "
		"dwconv3x3 8 6 +clip+conv+add\n" },
	/* another call reads the result, or it leaves the model */
	{ PAIR "e = tanh(b)\nout c, e\n", "" },
	{ PAIR "out c, b\n", "" },
	/* strides that a border makes up for: the result is as large as the image */
	{ "dag\nin x: f32[1,8,3,3]\nconst d: f32[8,1,3,3]\nconst w: f32[8,8,1,1]\n"
	  "a = conv(x, d) pads=[1,1,1,1] groups=8\nc = conv(a, w) strides=[2,2] pads=[1,1,1,1]\nout c\n", "" },
	/* two pairs, one behind the other */
	{ PAIR "e = conv(c, d) pads=[1,1,1,1] groups=8\nf = conv(e, w)\nout f\n",
		"conv1x1 8>8 6, dwconv3x3 8 6 +clip | dwconv3x3 8 6 +clip+conv\n"
		"conv1x1 8>8 6, dwconv3x3 8 6 | dwconv3x3 8 6 +conv\n" },
};

/* Elementwise calls before an anchor, on a CPU. */
#define NORM \
	"dag\nin x: f32[1,8,6,6]\nconst s: f32[8,1,1]\nconst w: f32[8,8,1,1]\nconst v: f32[8,8,3,3]\n" \
	"a = mul(x, s)\nb = relu(a)\n"

static const struct {
	const char *dag, *regions;
	int groups;
} prologues[] = {
	{ NORM "c = conv(b, w)\nd = relu(c)\nout d\n",
		"mul+relu+conv1x1 8>8 6 +relu | conv1x1 8>8 6 +relu, mul 1x8x6x6 +relu\n", 1 },
	{ NORM "c = avg_pool(b) kernel=[2,2] strides=[2,2]\nout c\n",
		"mul+relu+avg_pool2x2 8 3 /2 | avg_pool2x2 8 3 /2, mul 1x8x6x6 +relu\n", 1 },
	/* in a region already: the tail stays in its first alternative */
	{ NORM "c = conv(b, w)\nd = add(c, x)\nout d\n",
		"mul+relu+conv1x1 8>8 6 +add | conv1x1 8>8 6 +add, mul 1x8x6x6 +relu | "
		"conv1x1 8>8 6, add 1x8x6x6, mul 1x8x6x6 +relu\n", 1 },
	/* windows that overlap, another reader, an output */
	{ NORM "c = conv(b, v) pads=[1,1,1,1]\nout c\n", "", 2 },
	{ NORM "c = conv(b, w)\nd = conv(b, v)\nout c, d\n", "", 3 },
	{ NORM "c = conv(b, w)\nout c, b\n", "", 2 },
	/* two convolutions of one region, each with a prologue */
	{ NORM "e = sigmoid(x)\nc = conv(b, w)\nf = conv(e, w)\ng = add(c, f)\nout g\n",
		"mul+relu+conv1x1 8>8 6, sigmoid+conv1x1 8>8 6 +add | "
		"conv1x1 8>8 6 +add, mul+relu+conv1x1 8>8 6, sigmoid 1x8x6x6 | "
		"conv1x1 8>8 6 +add, conv1x1 8>8 6, mul 1x8x6x6 +relu, sigmoid 1x8x6x6 | "
		"conv1x1 8>8 6, conv1x1 8>8 6 +add, mul 1x8x6x6 +relu, sigmoid 1x8x6x6 | "
		"conv1x1 8>8 6, add 1x8x6x6, conv1x1 8>8 6, mul 1x8x6x6 +relu, sigmoid 1x8x6x6\n", 2 },
};

/* A convolution and a depthwise one behind it, on a CPU whose second cache has 8 KiB; the image has 4 or 8 KiB. */
#define RING(height, w) \
	"dag\nin x: f32[1,4," height ",16]:NCHW8c\nconst v: f32[8,4,1,1]\nconst w: f32[8,1,3,3]\n" \
	"a: f32[1,8," height ",16]:NCHW8c = conv(x, v)\nb: f32[1,8," height ",16]:NCHW8c = relu(a)\n" \
	"c: f32[1,8," height ",16]:NCHW8c = conv(b, " w ") groups=8 pads=[1,1,1,1]\n"

static const struct {
	const char *dag;
	int threads;
	const char *without, *regions;
} rings[] = {
	{ RING("16", "w") "out c\n", 1, "",
		"conv1x1 4>8 16 +relu+conv | dwconv3x3 8 16, conv1x1 4>8 16 +relu\n" },
	{ RING("8", "w") "out c\n", 1, "", "" },       /* it stays near */
	{ RING("16", "w") "out c\n", 2, "", "" },      /* so do parts of threads */
	{ RING("16", "w") "out c\n", 1, "rings", "" }, /* left out */
	{ RING("16", "w") "out c, b\n", 1, "", "" },   /* another reader */
	/* both are in regions: their alternatives are kept */
	{ RING("16", "w") "d: f32[1,8,16,16]:NCHW8c = sigmoid(c)\ne: f32[1,8,16,16]:NCHW8c = mul(c, d)\nout e\n", 1, "",
		"conv1x1 4>8 16 +relu+conv+sigmoid+mul | dwconv3x3 8 16 +sigmoid+mul, conv1x1 4>8 16 +relu | "
		"dwconv3x3 8 16, sigmoid 1x8x16x16 +mul, conv1x1 4>8 16 +relu\n" },
	{ "dag\nin x: f32[1,4,16,16]:NCHW8c\nconst v: f32[8,4,1,1]\nconst w: f32[8,1,3,3]\n"
	  "a: f32[1,8,16,16]:NCHW8c = conv(x, v)\nb: f32[1,8,16,16]:NCHW8c = sigmoid(a)\n"
	  "c: f32[1,8,16,16]:NCHW8c = conv(b, w) groups=8 pads=[1,1,1,1]\n"
	  "d: f32[1,8,16,16]:NCHW8c = sigmoid(c)\nout d\n", 1, "",
		"conv1x1 4>8 16 +sigmoid+conv+sigmoid | dwconv3x3 8 16 +sigmoid, conv1x1 4>8 16 +sigmoid | "
		"dwconv3x3 8 16, sigmoid 1x8x16x16, conv1x1 4>8 16 +sigmoid | "
		"dwconv3x3 8 16 +sigmoid, conv1x1 4>8 16, sigmoid 1x8x16x16\n" },
};

static Partition *partition_of(Arena *a, const char *text, bool with_pairs)
{
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	Partition *p = d != NULL ? graph_partition(a, d, &err) : NULL;
	ck_assert_msg(p != NULL && (!with_pairs || graph_pairs(a, d, p, &err)), "%s: %s", err.place, err.text);
	return p;
}

static Partition *partition(Arena *a, const char *text)
{
	return partition_of(a, text, false);
}

static const char *regions_text(Arena *a, const Partition *p)
{
	Text t = { .arena = a };
	for (int r = 0; r < p->nregion; r++, text_add(&t, "\n"))
		for (int k = 0; k < p->region[r].n; k++)
			for (int i = 0; i < p->region[r].alternative[k].ngroup; i++)
				text_add(&t, "%s%s", i > 0 ? ", " : k > 0 ? " | " : "",
					p->region[r].alternative[k].group[i].task->label);
	return text_str(&t);
}

START_TEST(regions_are_the_golden_text)
{
	Arena *a = arena_new();
	Partition *p = partition(a, cases[_i].dag);
	ck_assert_str_eq(regions_text(a, p), cases[_i].regions);
	arena_free(a);
}
END_TEST

/* Pairs may be taken as other alternatives are: the least sum decides, and each call is run once. */
START_TEST(pairs_are_alternatives)
{
	Arena *a = arena_new();
	Partition *p = partition_of(a, pairs[_i].dag, true), *taken;
	int *choice = arena_array(a, int, p->nregion + 1), before = 0, behind = 0;
	ck_assert_str_eq(regions_text(a, p), pairs[_i].regions);
	for (int r = 0; r < p->nregion; r++)
		choice[r] = p->region[r].n - 1;
	taken = graph_take(a, p, choice);
	ck_assert_int_eq(taken->ngroup, p->ngroup - p->nregion);
	for (int g = 0; g < p->ngroup; g++)
		before += p->group[g].ncall;
	for (int g = 0; g < taken->ngroup; g++)
		behind += taken->group[g].ncall;
	ck_assert_int_eq(before, behind);
	arena_free(a);
}
END_TEST

/* The first alternative of a region, which is what runs; what is apart there is the other one. */
START_TEST(prologues_are_first)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", prologues[_i].dag, strlen(prologues[_i].dag), &err);
	Partition *p = graph_partition(a, d, &err), *all = graph_near_pairs(a, d, NULL, p, &err);
	ck_assert_msg(all != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(regions_text(a, all), prologues[_i].regions);
	ck_assert_int_eq(all->ngroup, prologues[_i].groups);
	int *choice = arena_array(a, int, all->nregion + 1), before = 0, calls = 0;
	for (int r = 0; r < all->nregion; r++) {
		ck_assert_int_eq(all->region[r].taken, 0);
		choice[r] = 1;
	}
	for (int g = 0; g < all->ngroup; g++)
		before += all->group[g].ncall;
	ck_assert_int_eq(before, (int)d->call.n);
	const Partition *apart = graph_take(a, all, choice);
	for (int g = 0; g < apart->ngroup; g++)
		calls += apart->group[g].ncall;
	ck_assert_int_eq(calls, before);
	arena_free(a);
}
END_TEST

START_TEST(rings_are_of_large_images)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = { .kind = TARGET_CPU, .model = "any", .threads = rings[_i].threads, .vector_bits = 128,
		.cache = { { 1024, 1 }, { 8192, 1 } } };
	Dag *d = dag_parse(a, "t", rings[_i].dag, strlen(rings[_i].dag), &err);
	ck_assert_msg(d != NULL && graph_leave_out(d, rings[_i].without, &err), "%s: %s", err.place, err.text);
	Partition *p = graph_near_pairs(a, d, &target, graph_partition(a, d, &err), &err);
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(regions_text(a, p), rings[_i].regions);
	for (int r = 0; r < p->nregion; r++)
		for (int k = 0; k < p->region[r].n; k++) {
			int *choice = arena_array(a, int, p->nregion + 1), calls = 0;
			choice[r] = k;
			const Partition *taken = graph_take(a, p, choice);
			for (int g = 0; g < taken->ngroup; g++)
				calls += taken->group[g].ncall;
			ck_assert_int_eq(calls, (int)d->call.n);
		}
	arena_free(a);
}
END_TEST

/* What is left out, and the groups of two convolutions with a pooling, calls around them, and a norm of rows. */
static const struct {
	const char *without;
	int groups;
} features[] = {
	{ "", 4 }, { "pooled", 4 }, { "prologues", 5 }, { "epilogues", 4 }, { "cones", 10 },
	{ "cones,epilogues,prologues", 13 },
};

START_TEST(features_may_be_left_out)
{
	static const char text[] =
		"dag\nin x: f32[1,8,6,6]\nconst s: f32[8,1,1]\nconst w: f32[8,8,1,1]\na = mul(x, s)\nb = relu(a)\n"
		"c = conv(b, w)\nd = relu(c)\ne = conv(d, w)\nf = avg_pool(e) kernel=[2,2] strides=[2,2]\ng = relu(f)\n"
		"m = reduce_mean(g) axes=[3]\nh = sub(g, m)\ni = mul(h, h)\nj = reduce_mean(i) axes=[3]\nk = sqrt(j)\n"
		"l = div(h, k)\nout l\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", text, strlen(text), &err);
	ck_assert_msg(graph_leave_out(d, features[_i].without, &err) && graph_optimize(d, graph_eval_interp, &err), "%s",
		err.text);
	Dag *copy = dag_copy(a, d);
	Partition *p = graph_partition(a, copy, &err);
	p = graph_near_pairs(a, copy, NULL, p, &err);
	ck_assert_int_eq(p->ngroup, features[_i].groups);
	int conv = 0, pool = 0; /* which comes first */
	for (size_t i = 0; i < copy->call.n; i++) {
		conv = copy->call.at[i].op == OP_conv ? (int)i : conv;
		pool = copy->call.at[i].op == OP_avg_pool ? (int)i : pool;
	}
	ck_assert_int_eq(pool < conv, graph_does_named(copy, "pooled"));
	ck_assert(!graph_leave_out(d, "pooled,nothing", &err));
	ck_assert_str_eq(err.place, "without");
	arena_free(a);
}
END_TEST

/* Costs of conv3x3 +add+relu, conv1x1, conv3x3, conv1x1 +add+relu, add +relu; and what is taken. */
static const struct {
	double ms[5];
	int taken;
} choices[] = {
	{ { 9, 2, 8, 1, 1 }, 1 }, { { 9, 2, 8, 3, 1 }, 0 }, { { 9, 2, 8, 3, .5 }, 2 },
	{ { 9, 2, 8, 2.5, .25 }, 2 }, /* both are faster */
	{ { 9, 2, 8, -1, .5 }, 2 }, { { 9, 2, 8, 1, -1 }, 1 }, { { 9, 2, -1, 1, 1 }, 0 }, { { 9, -1, 1, 1, 1 }, 0 },
	{ { -1, -1, -1, -1, -1 }, 0 }, /* the first one's cost is not known */
	{ { 9, 2, 9, 2, 3 }, 0 }, { { 9, 2, 8, 2.7, 1 }, 0 }, { { 9, 2, 8, 2.6, 1 }, 1 }, /* by 2.7 and by 3.6 percent */
};

static const char *const order[] = { "conv3x3 8>8 6 +add+relu", "conv1x1 8>8 6", "conv3x3 8>8 6",
	"conv1x1 8>8 6 +add+relu", "add 1x8x6x6 +relu" };

START_TEST(the_least_sum_is_taken)
{
	Arena *a = arena_new();
	Partition *p = partition(a, BLOCK "out y\n");
	double ms[8];
	int found = 0;
	ck_assert_int_eq(p->nregion, 1);
	for (int k = 0; k < p->ntask + p->nmore; k++) {
		ms[k] = -1;
		for (int i = 0; i < LEN(order); i++)
			if (strcmp(order[i], p->task[k]->label) == 0) {
				ms[k] = choices[_i].ms[i];
				found++;
			}
	}
	ck_assert_int_eq(found, LEN(order));
	ck_assert_int_eq(graph_choose(&p->region[0], ms), choices[_i].taken);
	arena_free(a);
}
END_TEST

START_TEST(what_is_taken_is_run)
{
	static const char *const run[] = { "conv1x1 8>8 6 *1; conv3x3 8>8 6 +relu *1; conv3x3 8>8 6 +add+relu *1; ",
		"conv3x3 8>8 6 +relu *1; conv3x3 8>8 6 *1; conv1x1 8>8 6 +add+relu *1; ",
		"conv1x1 8>8 6 *1; conv3x3 8>8 6 +relu *1; conv3x3 8>8 6 *1; add 1x8x6x6 +relu *1; " };
	Arena *a = arena_new();
	Partition *p = graph_take(a, partition(a, BLOCK "out y\n"), &_i);
	Text t = { .arena = a };
	for (int g = 0; g < p->ngroup; g++) {
		ck_assert_ptr_eq(p->group[g].task, p->task[p->group[g].number]);
		text_add(&t, "%s *%d; ", p->group[g].task->label, p->group[g].task->weight);
	}
	ck_assert_str_eq(text_str(&t), run[_i]);
	ck_assert_int_eq(p->ntask + p->nmore, 6);
	for (int k = p->ntask; k < p->ntask + p->nmore; k++)
		ck_assert_int_eq(p->task[k]->weight, 1); /* of one region's alternatives */
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("alternatives");
	tcase_add_loop_test(tc, regions_are_the_golden_text, 0, LEN(cases));
	tcase_add_loop_test(tc, pairs_are_alternatives, 0, LEN(pairs));
	tcase_add_loop_test(tc, prologues_are_first, 0, LEN(prologues));
	tcase_add_loop_test(tc, rings_are_of_large_images, 0, LEN(rings));
	tcase_add_loop_test(tc, features_may_be_left_out, 0, LEN(features));
	tcase_add_loop_test(tc, the_least_sum_is_taken, 0, LEN(choices));
	tcase_add_loop_test(tc, what_is_taken_is_run, 0, 3);
	return run_suite("alternatives", tc);
}
