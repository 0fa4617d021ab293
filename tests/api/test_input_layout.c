/*
 * Inputs in the program's order of dimensions: the same numbers in another order give the same results, and the
 * transposition is no step of its own. What cannot be turned is refused.
 */
#include "api/lab.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const DlcDataType f32 = { 2, 32, 1 };
enum { H = 9, W = 7, C = 3, PIXELS = H * W };

#define DIM(...) ((const int64_t[]){ __VA_ARGS__ })

/* Convolutions and a pooling behind an image; `last`: the model has its channels last, as TensorFlow's. */
static DlcFault build(DlcSession *s, const DlcLoadOptions *o, bool last, DlcNetwork **n, DlcFailure *why)
{
	DlcBuilder *b;
	ok(dlc_builder_open(s, "net", 1, o, &b, why), *why);
	const int64_t second_dim[] = { -1, C, H, W }, last_dim[] = { -1, H, W, C };
	DlcValue x = dlc_builder_input(b, "x", f32, 4, last ? last_dim : second_dim);
	DlcAttr to = { .name = "hi", .kind = DLC_FLOAT, .f = 0.5 };
	x = dlc_builder_op(b, "scaled", "clip", &x, 1, &to, 1, NULL, 0);
	if (last)
		x = dlc_builder_transpose(b, "turned", x, DIM(0, 3, 1, 2));
	x = dlc_builder_conv(b, "c", x,
		&(DlcConv){ .out = 16, .window = { .kernel = { 3, 3 }, .pad = DLC_PAD_SAME }, .activation = "relu" });
	x = dlc_builder_conv(b, "d", x, &(DlcConv){ .out = 8, .window = { .kernel = { 3, 3 }, .stride = { 2, 2 } } });
	dlc_builder_output(b, "y", dlc_builder_avg_pool(b, "p", x, &(DlcPool){ .flat = 1 }));
	DlcFault fault = dlc_builder_finish(b, n, why);
	dlc_builder_close(b);
	return fault;
}

static const char *shown(Arena *a, DlcNetwork *n, const char *stage)
{
	DlcFailure why = { 0 };
	Text t = { .arena = a };
	ok(dlc_network_show(n, &(DlcShowOptions){ .stage = stage }, put, &t, &why), why);
	return text_str(&t);
}

/* The model has its channels second or last, the program gives them second or last. */
START_TEST(the_order_changes_no_number)
{
	const bool last = _i / 2 == 1, given_last = _i % 2 == 1;
	DlcSession *s = open_session();
	DlcFailure why = { 0 };
	DlcNetwork *plain, *other;
	Arena *a = arena_new();
	DlcInputLayout layout = { "x", given_last ? "nhwc" : "nchw" };
	float second[C * PIXELS], behind[C * PIXELS];
	for (int k = 0; k < C * PIXELS; k++)
		second[k] = sinf((float)k * 1.7f);
	for (int c = 0; c < C; c++)
		for (int p = 0; p < PIXELS; p++)
			behind[p * C + c] = second[c * PIXELS + p];
	ok(build(s, NULL, last, &plain, &why), why);
	ok(build(s, &(DlcLoadOptions){ .layout = &layout, .nlayout = 1 }, last, &other, &why), why);
	const float *want = run_network(a, plain, last ? behind : second, C * PIXELS, 8);
	const float *have = run_network(a, other, given_last ? behind : second, C * PIXELS, 8);
	for (int k = 0; k < 8; k++)
		ck_assert_msg(fabsf(want[k] - have[k]) < 1e-5f, "%g, not %g", (double)have[k], (double)want[k]);
	ck_assert_ptr_nonnull(strstr(shown(a, other, "graph"), given_last ? "in x: f32[1,9,7,3]" : "in x: f32[1,3,9,7]"));
	/* One pass over the input at most: the first step reads it as it is. */
	const char *plan = shown(a, other, "plan");
	ck_assert_msg(strstr(plan, "layout moves 0 of inputs, 0 of outputs\n") != NULL ||
			strstr(plan, "layout moves 1 of inputs, 0 of outputs\n") != NULL, "%s", plan);
	ck_assert(given_last || strstr(plan, "layout moves 0 of inputs") != NULL);
	dlc_network_close(plain);
	dlc_network_close(other);
	dlc_session_close(s);
	arena_free(a);
}
END_TEST

static const struct {
	DlcInputLayout layout[2];
	int n;
	const char *says;
} wrong[] = {
	{ { { "z", "nhwc" } }, 1, "the model has no input 'z'; it has: x, v, w, r" },
	{ { { "x", "hwcn" } }, 1, "'hwcn' is no layout of an input" },
	{ { { "x", "nwc" } }, 1, "input 'x' of shape 1x4x4x4 cannot be nwc, which has 3 dimensions" },
	{ { { "v", "nhwc" } }, 1, "no convolution, pooling or batch norm reads input 'v'" },
	{ { { "r", "nhwc" } }, 1, "no convolution, pooling or batch norm reads input 'r'" },
	{ { { "w", "nhwc" } }, 1, "the model reads input 'w' in both orders" },
	{ { { "x", "nhwc" }, { "x", "nchw" } }, 2, "input 'x' is given twice" },
};

START_TEST(what_cannot_be_turned_is_refused)
{
	DlcSession *s = open_session();
	DlcFailure why = { 0 };
	DlcBuilder *b;
	DlcNetwork *n;
	const DlcPool half = { .window = { .kernel = { 2, 2 } } };
	ok(dlc_builder_open(s, "net", 1, &(DlcLoadOptions){ .layout = wrong[_i].layout, .nlayout = wrong[_i].n }, &b, &why),
		why);
	DlcValue x = dlc_builder_input(b, "x", f32, 4, DIM(1, 4, 4, 4));
	DlcValue v = dlc_builder_input(b, "v", f32, 4, DIM(1, 4, 4, 4));
	DlcValue w = dlc_builder_input(b, "w", f32, 4, DIM(1, 4, 4, 4));
	DlcValue r = dlc_builder_input(b, "r", f32, 4, DIM(1, 4, 4, 4)); /* what is pooled has other dimensions */
	x = dlc_builder_max_pool(b, NULL, x, &half);
	x = dlc_builder_op2(b, NULL, "add", x, dlc_builder_max_pool(b, NULL, w, &half));
	w = dlc_builder_max_pool(b, NULL, dlc_builder_transpose(b, NULL, w, DIM(0, 3, 1, 2)), &half);
	dlc_builder_output(b, "y", dlc_builder_op2(b, NULL, "mul", x, w));
	r = dlc_builder_max_pool(b, NULL, dlc_builder_reshape(b, NULL, r, 4, DIM(1, 16, 2, 2)), &half);
	dlc_builder_output(b, "q", r);
	dlc_builder_output(b, "u", dlc_builder_op1(b, NULL, "relu", v));
	ck_assert_int_eq(dlc_builder_finish(b, &n, &why), DLC_FAULT_USAGE);
	ck_assert_str_eq(why.place, "layout");
	ck_assert_msg(strstr(why.text, wrong[_i].says) != NULL, "%s", why.text);
	dlc_builder_close(b);
	dlc_session_close(s);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("input_layout");
	if (!suite_folder(folder, "layout"))
		return 1;
	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, the_order_changes_no_number, 0, 4);
	tcase_add_loop_test(tc, what_cannot_be_turned_is_refused, 0, LEN(wrong));
	int failed = run_suite("input_layout", tc);
	return rmdir(folder) != 0 || failed;
}
