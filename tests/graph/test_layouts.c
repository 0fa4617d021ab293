/*
 * Layouts: which values get blocks, on small texts; and that Tasks have the layouts of what goes in and
 * out of them. That nets with layouts compute the same is tests/compile/test_networks.c.
 */
#include "graph/layouts.h"
#include "op/layout.h"
#include "suite.h"

#include <string.h>

/* Results with their layouts, "a:NCHW16c b" for a blocked a and a row-major b. */
static const struct {
	int block;
	const char *dag, *layouts;
} cases[] = {
	/* The stem reads the plain input, all behind it is blocked, the mean and the class scores are not. */
	{ 16,
		"dag\nin x: f32[1,3,8,8]\nconst w: f32[64,3,3,3]\nconst u: f32[64,64,3,3]\nconst f: f32[10,64]\n"
		"a = conv(x, w) pads=[1,1,1,1]\nb = max_pool(a) kernel=[2,2] strides=[2,2]\nc = conv(b, u) pads=[1,1,1,1]\n"
		"d = add(c, b)\ne = relu(d)\nm = reduce_mean(e) axes=[2,3]\nn = reshape(m) shape=[1,64]\ny = dense(n, f)\nout "
	    "y\n",
		"a:NCHW16c b:NCHW16c c:NCHW16c d:NCHW16c e:NCHW16c m n y" },
	/* The block is the target's; few channels take what they fill half of, fewer stay. */
	{ 8,
		"dag\nin x: f32[1,8,4,4]\nconst w: f32[24,8,1,1]\na = conv(x, w)\nb = relu(a)\nc = neg(b)\ny = exp(c)\nout y\n",
		"a:NCHW8c b:NCHW8c c:NCHW8c y" },
	{ 16,
		"dag\nin x: f32[1,8,4,4]\nconst w: f32[9,8,1,1]\nconst v: f32[8,8,1,1]\nconst u: f32[5,8,1,1]\nconst t: "
	    "f32[4,8,1,1]\n"
		"a = conv(x, w)\nb = conv(x, v)\nc = conv(x, u)\nd = conv(x, t)\n"
		"e = neg(a)\nf = neg(b)\ng = neg(c)\nh = neg(d)\nout e, f, g, h\n",
		"a:NCHW16c b:NCHW8c c:NCHW8c d e f g h" },
	{ 1, "dag\nin x: f32[1,8,4,4]\nconst w: f32[24,8,1,1]\na = conv(x, w)\ny = neg(a)\nout y\n", "a y" },
	/* Images of one spatial dimension, too; a block is as long as a vector of its type. */
	{ 16,
		"dag\nin x: f32[1,32,4,4]\nin z: f16[1,32,4,4]\nin v: f32[1,32,9]\nconst w: f16[32,32,1,1]\nconst k: "
	    "f32[32,32,3]\n"
		"a = exp(x)\nb = softmax(a)\nc = conv(z, w)\nd = conv(v, k)\ne = neg(b)\nf = neg(c)\ng = neg(d)\nout e, f, g\n",
		"a b c:NCHW32c d:NCW16c e f g" },
	/* Images that a dense layer reads or writes stay row-major, not those of a product of two computed tensors. */
	{ 16,
		"dag\nin x: f32[1,32,24]\nconst f: f32[40,24]\nconst w: f32[32,32,3]\nconst g: f32[24,40]\n"
		"a = dense(x, f)\nb = relu(a)\nc = conv(b, w) pads=[1,1]\nd = relu(c)\ne = dense(d, g)\nout e\n",
		"a b c d e" },
	{ 16,
		"dag\nin x: f32[1,32,24]\nconst w: f32[32,32,3]\nconst g: f32[40,24]\n"
		"a = conv(x, w) pads=[1,1]\nb = relu(a)\nc = conv(b, w) pads=[1,1]\nd = dense(c, g)\nout d\n",
		"a:NCW16c b:NCW16c c d" },
	{ 16,
		"dag\nin x: f32[1,32,24]\nin z: f32[1,24,40]\nconst w: f32[32,32,3]\n"
		"a = matmul(x, z)\nb = conv(a, w) pads=[1,1]\nc = relu(b)\nout c\n",
		"a:NCW16c b:NCW16c c" },
	/* An operand of another rank has other channels. */
	{ 16,
		"dag\nin x: f32[1,32,24,8]\nin z: f32[32,24,8]\nconst w: f32[32,32,1,1]\n"
		"a = conv(x, w)\nb = exp(z)\nc = add(a, b)\nd = conv(c, w)\nout d\n",
		"a:NCHW16c b c:NCHW16c d" },
	/* Of three dimensions. */
	{ 16,
		"dag\nin x: f32[1,32,2,4,4]\nconst w: f32[32,32,1,3,3]\na = conv(x, w)\nb = relu(a)\nc = neg(b)\nout c\n",
		"a:NCDHW16c b:NCDHW16c c" },
	/* A region reaches through concat, split, slice and pad, forwards and backwards, not through transpose. */
	{ 16,
		"dag\nin x: f32[1,32,4,4]\nconst w: f32[64,32,3,3]\na = exp(x)\nb = neg(a)\nc = concat(a, b) axis=1\n"
		"d, e = split(c) axis=1 sizes=[32,32]\nf = slice(d) starts=[0,0,1,1] sizes=[1,32,3,3]\ng = pad(f) "
	    "pads=[0,0,1,0,0,0,0,0]\n"
		"h = conv(g, w) pads=[1,1,1,1]\ni = transpose(h) perm=[0,2,3,1]\nj = exp(i)\nout j, e\n",
		"a:NCHW16c b:NCHW16c c:NCHW16c d:NCHW16c e f:NCHW16c g:NCHW16c h:NCHW16c i j" },
	/* What only reshapes read, and what they write, costs nothing where it is row-major. */
	{ 16,
		"dag\nin x: f32[1,32,4,4]\nconst w: f32[32,32,1,1]\nconst u: f32[32,32,1,1]\na = conv(x, w)\nb = reshape(a) "
	    "shape=[1,512]\n"
		"c = conv(x, u)\nd = reshape(c) shape=[1,512]\ne = max_pool(c) kernel=[2,2]\nf = neg(e)\nout b, d, f\n",
		"a b c:NCHW16c d e:NCHW16c f" },
	/* Squeeze and excite: one pixel has no blocks. */
	{ 16,
		"dag\nin x: f32[1,32,4,4]\nconst w: f32[24,32,1,1]\nconst u: f32[24,24,1,1]\na = conv(x, w)\nm = "
	    "reduce_mean(a) axes=[2,3]\n"
		"s = conv(m, u)\nt = sigmoid(s)\ny = mul(a, t)\nz = max_pool(y) kernel=[2,2]\nr = neg(z)\nout r\n",
		"a:NCHW16c m s t y:NCHW16c z:NCHW16c r" },
	/* An empty image, and one that nothing asks blocks for. */
	{ 16,
		"dag\nin x: f32[0,32,4,4]\nin z: f32[1,32,16777216,16777216]\nconst w: f32[32,32,1,1]\n"
		"a = conv(x, w)\nb = neg(a)\nc = neg(z)\nd = neg(c)\nout b, d\n",
		"a b c d" },
};

static const char *layouts(const Dag *d)
{
	Text t = { .arena = d->arena };
	for (size_t i = 0; i < d->call.n; i++)
		for (int r = 0; r < d->call.at[i].nout; r++) {
			const Value *v = &d->value.at[d->call.at[i].out[r]];
			text_add(&t, "%s%s%s%s", t.n > 0 ? " " : "", v->name, v->layout != NULL ? ":" : "",
				v->layout != NULL ? v->layout : "");
		}
	return text_str(&t);
}

/* Whose vectors hold so many elements of 32 bits; 1: no target. */
static const Target *cpu_of(Arena *a, int block)
{
	Target *t = block > 1 ? arena_new_of(a, Target) : NULL;
	if (t == NULL)
		return NULL;
	*t = (Target){ .vector_bits = 32 * block, .line_bytes = 64 };
	return t;
}

START_TEST(values_get_the_layouts_they_should)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", cases[_i].dag, strlen(cases[_i].dag), &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	graph_layouts(d, cpu_of(a, cases[_i].block));
	ck_assert_str_eq(layouts(d), cases[_i].layouts);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	Text text = { .arena = a };
	dag_print(&text, d);
	Dag *again = dag_parse(a, "t", text_str(&text), text.n, &err); /* and they are part of the text */
	ck_assert_msg(again != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(layouts(again), cases[_i].layouts);
	graph_layouts(again, cpu_of(a, cases[_i].block));
	ck_assert_str_eq(layouts(again), cases[_i].layouts);
	graph_layouts(d, NULL);
	ck_assert(strchr(layouts(d), ':') == NULL);
	arena_free(a);
}
END_TEST

/* A device's vectors are those of one thread, and neighbouring threads take neighbouring pixels. */
START_TEST(devices_of_warps_get_no_blocks)
{
	static const char net[] =
		"dag\nin x: f32[1,24,5,5]\nconst w: f32[24,24,1,1]\na = conv(x, w)\nb = relu(a)\nc = neg(b)\nout c\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", net, sizeof net - 1, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	Target device = *cpu_of(a, 16);
	device.blocks.warp = 1;
	graph_layouts(d, &device);
	ck_assert_ptr_nonnull(strstr(layouts(d), "NCHW16c"));
	device.blocks.warp = 32;
	graph_layouts(d, &device);
	ck_assert(strchr(layouts(d), ':') == NULL);
	arena_free(a);
}
END_TEST

/* Regions of images that matrix units read or write, of 16 bits or where tf32 is allowed; any of them may be NHWC. */
START_TEST(matrix_units_have_regions)
{
	static const struct {
		const char *type, *attr, *layouts;
		int regions;
	} net[] = { { "f16", "", "a:NHWC b:NHWC c d e m", 3 }, { "f32", "", "a b c d e m", 0 },
		{ "f32", " tf32=1", "a:NHWC b:NHWC c d e m", 3 } };
	Arena *a = arena_new();
	Err err = { 0 };
	for (int k = 0; k < LEN(net); k++) {
		const char *t = net[k].type;
		const char *text = arena_printf(a,
			"dag\nin x: %s[1,3,8,8]\nconst w: %s[16,3,1,1]\nconst u: %s[16,16,1,1]\nconst g: %s[16,1,1,1]\n"
			"a = conv(x, w)%s\nb = relu(a)\nc = conv(b, g) groups=16\nd = conv(c, u)%s\ne = max_pool(d) kernel=[2,2]\n"
			"m = reduce_mean(e) axes=[2,3]\nout m\n", t, t, t, t, net[k].attr, net[k].attr);
		Dag *d = dag_parse(a, "t", text, strlen(text), &err);
		ck_assert_msg(d != NULL, "%s", err.text);
		Target device = { .kind = TARGET_CUDA, .arch = ARCH_PTX, .features = (uint64_t)1 << FEATURE_SM_80 };
		device.blocks.warp = 32;
		int *region = arena_array(a, int, d->value.n);
		int n = graph_matrix_regions(d, &device, region);
		ck_assert_int_eq(n, net[k].regions);
		bool *last = arena_array(a, bool, n + 1);
		last[0] = true;
		graph_channels_last(d, region, last);
		ck_assert_str_eq(layouts(d), net[k].layouts);
		ck_assert_msg(dag_check(d, &err), "%s", err.text);
	}
	arena_free(a);
}
END_TEST

/* Layouts are part of a workload; how values between its calls lie is none of it. */
START_TEST(tasks_have_the_layouts_of_their_edges)
{
	static const char net[] =
		"dag\nin x: f32[1,24,5,5]\nconst w: f32[24,24,1,1]\nconst u: f32[24,24,1,1]\n"
		"a = conv(x, w)\nb = relu(a)\nc = conv(b, u)\nd = add(c, b)\ne = max_pool(d) kernel=[2,2]\n"
		"f = neg(e)\nout f\n";
	static const char *const want[] = {
		"dag\nin v0: f32[1,24,5,5]\nconst c0: f32[24,24,1,1]\nv1: f32[1,24,5,5] = conv(v0, c0)\n"
		"v2: f32[1,24,5,5]:NCHW16c = relu(v1)\nout v2\n",
		"dag\nin v0: f32[1,24,5,5]:NCHW16c\nconst c0: f32[24,24,1,1]\nv1: f32[1,24,5,5] = conv(v0, c0)\n"
		"v2: f32[1,24,5,5]:NCHW16c = add(v1, v0)\nout v2\n",
		"dag\nin v0: f32[1,24,5,5]:NCHW16c\nv1: f32[1,24,4,4] = max_pool(v0) kernel=[2,2]\n"
		"v2: f32[1,24,4,4] = neg(v1)\nout v2\n",
	};
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = dag_parse(a, "t", net, sizeof net - 1, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	graph_layouts(d, cpu_of(a, 16));
	Partition *p = graph_partition(a, d, &err);
	ck_assert_msg(p != NULL, "%s", err.text);
	ck_assert_int_eq(p->ntask, LEN(want));
	for (int k = 0; k < p->ntask; k++)
		ck_assert_str_eq(p->task[k]->text, want[k]);
	ck_assert_str_eq(p->task[1]->label, "conv1x1 24>24 5 +add"); /* layouts are no part of the label */
	ck_assert_int_eq(value_bytes(&d->value.at[p->group[0].out[0]]), 32 * 25 * 4);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("layouts");
	tcase_add_loop_test(tc, values_get_the_layouts_they_should, 0, LEN(cases));
	tcase_add_test(tc, devices_of_warps_get_no_blocks);
	tcase_add_test(tc, matrix_units_have_regions);
	tcase_add_test(tc, tasks_have_the_layouts_of_their_edges);
	return run_suite("layouts", tc);
}
