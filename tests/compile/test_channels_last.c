/*
 * Which images are NHWC on devices with matrix units: where the estimate of the network gets lower. Networks of 16 bits
 * ask; others cost no estimate. That such networks compute the same is test_networks.c.
 */
#include "compile/compile.h"
#include "code_suite.h"

#include <string.h>

static const char *const dirs[] = { SOURCE_ROOT "/configs/targets" };

/* Pointwise, windowed and depthwise convolutions in a row, of type @. */
static const char network[] =
	"dag m\nin x: @[1,64,28,28]\nconst w: @[128,64,1,1]\nconst g: @[128,1,3,3]\nconst u: @[128,128,3,3]\n"
	"a = conv(x, w)\nb = relu(a)\nc = conv(b, g) groups=128 pads=[1,1,1,1]\nd = conv(c, u) pads=[1,1,1,1]\n"
	"e = add(d, b)\nf = conv(e, u) pads=[1,1,1,1]\nm = reduce_mean(f) axes=[2,3]\nout m\n";

/* The same of one dimension. */
static const char of_rows[] =
	"dag m\nin x: @[1,64,784]\nconst w: @[128,64,1]\nconst g: @[128,1,3]\nconst u: @[128,128,3]\n"
	"a = conv(x, w)\nb = relu(a)\nc = conv(b, g) groups=128 pads=[1,1]\nd = conv(c, u) pads=[1,1]\n"
	"e = add(d, b)\nf = conv(e, u) pads=[1,1]\nm = reduce_mean(f) axes=[2]\nout m\n";

static Dag *model(Arena *a, const char *form, const char *type)
{
	Text text = { .arena = a };
	Err err = { 0 };
	for (const char *p = form; *p != 0; p++)
		if (*p == '@')
			text_add(&text, "%s", type);
		else
			text_put(&text, p, 1);
	Dag *d = dag_parse(a, "m", text_str(&text), text.n, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	return d;
}

static int count_last(const Dag *d)
{
	int n = 0;
	for (size_t v = 0; v < d->value.n; v++)
		n += d->value.at[v].layout != NULL && strcmp(d->value.at[v].layout, "NHWC") == 0;
	return n;
}

static double estimate(Arena *a, const Partition *p, const Target *t)
{
	double ms = 0;
	CompileOptions o = { .target = t };
	for (int k = 0; k < p->ntask; k++) {
		TaskPlan plan;
		Err err = { 0 };
		ck_assert_msg(compile_task(ir_new(a), p->task[k], &o, &plan, &err) != NULL, "%s", err.text);
		ms += plan.estimated_ms * p->task[k]->weight;
	}
	return ms;
}

static const struct {
	const char *target, *type;
	bool asks;
} cases[] = { { "h200", "f16", true }, { "a100", "bf16", true }, { "t4", "f16", true }, { "h200", "f32", false },
	{ "v100", "bf16", false }, { "k80", "f16", false } };

START_TEST(estimates_decide)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	ck_assert_msg(target_resolve(&t, cases[_i].target, 1, dirs, 1, &err), "%s", err.text);
	Dag *d = model(a, network, cases[_i].type);
	Partition *p = compile_tasks(a, d, &t, &err);
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(cases[_i].asks == (count_last(d) > 0), "%d images are NHWC", count_last(d));
	Dag *same = dag_copy(a, d), *plain = dag_copy(a, d);
	Partition *again = compile_tasks(a, same, &t, &err);
	ck_assert_ptr_nonnull(again);
	ck_assert_int_eq(count_last(same), count_last(d));
	graph_layouts(plain, &t);
	ck_assert_int_eq(count_last(plain), 0);
	Partition *before = graph_partition(a, plain, &err);
	ck_assert_ptr_nonnull(before);
	double with = estimate(a, p, &t), without = estimate(a, before, &t);
	ck_assert_msg(cases[_i].asks ? with < without : with == without, "%g ms, row-major %g ms", with, without);
	arena_free(a);
}
END_TEST

/* NHWC has two spatial dimensions, so images of one have no such layout, and are compiled all the same. */
START_TEST(images_of_one_dimension_stay_row_major)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target t;
	ck_assert_msg(target_resolve(&t, cases[_i].target, 1, dirs, 1, &err), "%s", err.text);
	Dag *d = model(a, of_rows, cases[_i].type);
	Partition *p = compile_tasks(a, d, &t, &err);
	ck_assert_msg(p != NULL, "%s: %s", err.place, err.text);
	for (size_t v = 0; v < d->value.n; v++)
		ck_assert_msg(d->value.at[v].layout == NULL, "%s: %s", d->value.at[v].name, d->value.at[v].layout);
	ck_assert_double_gt(estimate(a, p, &t), 0);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("channels_last");
	tcase_add_loop_test(tc, estimates_decide, 0, LEN(cases));
	tcase_add_loop_test(tc, images_of_one_dimension_stay_row_major, 0, LEN(cases));
	return run_code_suite("channels-last", tc);
}
