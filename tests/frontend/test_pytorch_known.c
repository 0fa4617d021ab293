/* PyTorch: operators that count, look elements up and make windows, by the numbers that they give. */
#include "evaluate.h"
#include "pytorch_text.h"
#include "suite.h"

#include "op/element.h"

enum { MOST = 12 };

static const struct {
	const char *code;
	const char *type;
	int n;
	double want[MOST]; /* for x = 1, 2 .. 12 in two rows */
} cases[] = {
	{ FORWARD("    return torch.histc(x, 4, 2, 8)\n"), "f32", 4, { 2, 1, 2, 2 } },
	{ FORWARD("    return torch.histc(x, 4)\n"), "f32", 4, { 3, 3, 3, 3 } },
	{ FORWARD("    return torch.histc(torch.zeros_like(x), 4)\n"), "f32", 4, { 0, 0, 12, 0 } },
	{ FORWARD("    return torch.isin(x, torch.tensor([[2., 9.], [0., 1.]]))\n"), "bool", 12,
		{ 1, 1, 0, 0, 0, 0, 0, 0, 1 } },
	{ FORWARD("    return torch.isin(torch.to(x, 4), torch.tensor([2.5, 9.]), invert=True)\n"), "bool", 12,
		{ 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1 } },
	{ FORWARD("    return torch.isin(x, 3)\n"), "bool", 12, { 0, 0, 1 } },
	{ FORWARD("    return torch.isin(12, x)\n"), "bool", 1, { 1 } },
	{ FORWARD("    return torch.isin(x, torch.zeros([0]), invert=True)\n"), "bool", 12,
		{ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ FORWARD("    return torch.masked_select(x, torch.tensor([True, False, False, True, False, False]))\n"), "f32", 4,
		{ 1, 4, 7, 10 } },
	{ FORWARD("    return torch.masked_select(torch.slice(x, 1, 0, 1), torch.tensor([[True, True], [False, True]]))\n"),
		"f32", 3, { 1, 1, 7 } },
	{ FORWARD("    return torch.cat([torch.masked_select(x, torch.tensor(False)), torch.select(x, 0, 1)])\n"), "f32", 6,
		{ 7, 8, 9, 10, 11, 12 } },
	{ FORWARD("    return torch.add(torch.bincount(torch.tensor([3, 1, 3]), None, 6), torch.to(torch.sum(x), 4))\n"),
		"i64", 6, { 78, 79, 78, 80, 78, 78 } },
	{ FORWARD("    return torch.bincount(torch.tensor([3, 1, 3, 0, 3, 1]), torch.select(x, 0, 0))\n"), "f32", 4,
		{ 4, 8, 0, 9 } },
	{ FORWARD("    return torch.bincount(torch.tensor([0, 0, 2, 0, 0, 0]), torch.to(torch.select(x, 0, 0), 4))\n"),
		"f64", 3, { 18, 0, 3 } },
	{ FORWARD("    return torch.mul(torch.hann_window(4), torch.slice(torch.select(x, 0, 0), 0, 0, 4))\n"), "f32", 4,
		{ 0, 1, 3, 2 } },
	{ FORWARD("    return torch.add(torch.hann_window(5, False, dtype=7), torch.sum(torch.mul(x, 0)))\n"), "f64", 5,
		{ 0, 0.5, 1, 0.5, 0 } },
	{ FORWARD("    return torch.add(torch.hamming_window(4), torch.sum(torch.mul(x, 0)))\n"), "f32", 4,
		{ 0.08, 0.54, 1, 0.54 } },
	{ FORWARD("    return torch.add(torch.hamming_window(4, True, 0.75, 0.25), torch.sum(torch.mul(x, 0)))\n"), "f32",
		4, { 0.5, 0.75, 1, 0.75 } },
	{ FORWARD("    return torch.add(torch.blackman_window(4), torch.sum(torch.mul(x, 0)))\n"), "f32", 4,
		{ 0, 0.34, 1, 0.34 } },
	{ FORWARD("    return torch.add(torch.bartlett_window(4), torch.sum(torch.mul(x, 0)))\n"), "f32", 4,
		{ 0, 0.5, 1, 0.5 } },
	{ FORWARD("    return torch.add(torch.kaiser_window(3, False, 0.), torch.sum(torch.mul(x, 0)))\n"), "f32", 3,
		{ 1, 1, 1 } },
	{ FORWARD("    return torch.add(torch.kaiser_window(3, False, 2.), torch.sum(torch.mul(x, 0)))\n"), "f32", 3,
		{ 0.43867628, 1, 0.43867628 } }, /* I0(2) = 2.2795853 */
	{ FORWARD("    a, = torch.split(x, 9223372036854775807)\n    return a\n"), "f32", 12,
		{ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
	{ FORWARD("    return torch.add(torch.kaiser_window(1), torch.sum(torch.mul(x, 0)))\n"), "f32", 1, { 1 } },
};

START_TEST(numbers_are_those)
{
	Arena *a = arena_new();
	Err err = { 0 };
	float x[MOST];
	char type[DTYPE_TEXT];
	for (int k = 0; k < MOST; k++)
		x[k] = (float)k + 1;
	Dag *d = load_script(a, EMPTY, sizeof EMPTY - 1, cases[_i].code, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", cases[_i].code, err.place, err.text, err.items);
	const Value *y = &d->value.at[d->output.at[0]];
	ck_assert_str_eq(dtype_print(y->type, type), cases[_i].type);
	ck_assert_int_eq(shape_elements(y->shape), cases[_i].n);
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < cases[_i].n; k++) {
		double have = element_get(y->type, out[0], k), want = cases[_i].want[k];
		ck_assert_msg(have > want - 1e-6 && have < want + 1e-6, "%s\nelement %d is %g", cases[_i].code, k, have);
	}
	arena_free(a);
}
END_TEST

#define FAR "1099511627776"

static const char *const refused[][2] = {
	{ FORWARD("    return torch.isin(x, torch.zeros([99999999]))\n"), "it compares 12 elements with 99999999" },
	{ FORWARD("    return torch.masked_select(x, torch.gt(x, 1))\n"), "its mask must be known" },
	{ FORWARD("    return torch.masked_select(x, torch.tensor([1, 0, 1, 0, 1, 0]))\n"), "is no tensor of bools" },
	{ FORWARD("    return torch.masked_select(x, torch.tensor([True, False]))\n"), "do not broadcast to each other" },
	{ FORWARD("    return torch.bincount(torch.to(torch.select(x, 0, 0), 4))\n"), "its input must be known" },
	{ FORWARD("    return torch.bincount(torch.tensor([1, -1]))\n"), "its input holds -1" },
	{ FORWARD("    return torch.bincount(torch.tensor([9223372036854775807]))\n"),
		"its input holds 9223372036854775807" },
	{ FORWARD("    return torch.bincount(torch.tensor([1]), None, 9223372036854775807)\n"), "makes more than" },
	{ FORWARD("    return torch.bincount(torch.tensor([1]), x)\n"), "its weights are not as many" },
	{ FORWARD("    return torch.bincount(torch.tensor([[1]]))\n"), "its input has 2 dimensions where 1 is needed" },
	{ FORWARD("    return torch.hann_window(9223372036854775807)\n"), "it makes a window of 9223372036854775807" },
	{ FORWARD("    return torch.hann_window(4, True, dtype=4)\n"), "or one of integers" },
	{ FORWARD("    return torch.kaiser_window(4, True, 1e9)\n"), "its beta of 1e+09 is out of range" },
	/* products of dimensions and numbers, in 64 bits; a tensor without elements has any dimensions */
	{ FORWARD("    w = torch.zeros([1, 1, " FAR "])\n"
			  "    return torch.conv1d(torch.unsqueeze(x, 1), w, None, [1], \"same\", [2147483647])\n"),
		"its weight has " FAR " elements in dimension 2" },
	{ FORWARD("    y = torch.view(x, [1, 1, 2, 6])\n"
			  "    return torch.im2col(y, [1, 1], [1, 1], [2147483647, 2147483647], [1, 1])\n"),
		"im2col" },
	{ FORWARD("    y = torch.view(x, [1, 1, 12])\n"
			  "    return torch.col2im(y, [2147483647, 2147483647], [1, 1], [1, 1], [0, 0], [1, 1])\n"),
		"do not fit its output_size" },
	{ FORWARD("    return torch.repeat(torch.zeros([" FAR ", 0]), [2147483647, 1])\n"),
		"2147483647 times a dimension of " FAR " is too many" },
	{ FORWARD("    return torch.repeat_interleave(torch.zeros([" FAR ", 0]), 2147483647, 0)\n"),
		"2147483647 times a dimension of " FAR " is too many" },
	{ FORWARD("    return torch.diagonal(torch.zeros([0, " FAR ", " FAR "]), 0, 1, 2)\n"),
		"has too many elements" },
	{ FORWARD("    return torch.pixel_unshuffle(torch.zeros([1, " FAR ", 0, 0]), 32768)\n"),
		"has too many elements" },
	{ FORWARD("    w = [2147483647, 2147483647, 2147483647]\n    y = torch.view(x, [1, 1, 1, 2, 6])\n"
			  "    return torch.avg_pool3d(y, w, [1, 1, 1], [0, 0, 0], False, True, 5)\n"),
		"kernel" },
	{ FORWARD("    return torch.adaptive_avg_pool1d(torch.unsqueeze(x, 1), [2147483647])\n"),
		"it has 2147483647 windows, which are too many" },
	{ FORWARD("    return torch.upsample_nearest1d(torch.unsqueeze(x, 1), [3], [1e-300])\n"),
		"it resizes dimension 2 by a factor of 1e-300" },
	{ FORWARD("    return torch.select_scatter(x, torch.select(x, 1, 0), 1, 9223372036854775807)\n"),
		"element 9223372036854775807 is outside of dimension 1" },
	{ FORWARD("    y = torch.zeros([0, " FAR ", " FAR "])\n    return torch.tensordot(y, y, [1, 2], [1, 2])\n"),
		"has too many elements" },
	{ FORWARD("    return torch._native_multi_head_attention(x, x, x, 4611686018427387904, 1, x, None, x, None)\n"),
		"its projections do not fit 4611686018427387904 elements" },
	{ FORWARD("    y = torch.zeros([1, 1, 5000, 5000])\n    o = torch.zeros([1, 2, 5000, 5000])\n"
			  "    w = torch.ones([1, 1, 1, 1])\n"
			  "    return ops.torchvision.deform_conv2d(y, w, o, y, torch.ones([1]), 1, 1, 0, 0, 1, 1, 1, 1, False)\n"),
		"its result has 25000000 places of 1 taps" },
	{ FORWARD("    w = torch.zeros([1, 1, 1, " FAR "])\n    y = torch.view(x, [1, 1, 2, 6])\n"
			  "    return ops.torchvision.deform_conv2d(y, w, y, y, torch.ones([1]), 1, 1, 0, 0, 1, 2147483647, 1, 1, "
			  "False)\n"),
		"its kernel has " FAR " elements in spatial dimension 1" },
};

START_TEST(others_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_msg(load_script(a, EMPTY, sizeof EMPTY - 1, refused[_i][0], &err) == NULL, "%s", refused[_i][0]);
	ck_assert_msg(strstr(err.text, refused[_i][1]) != NULL, "%s\nrefused: %s", refused[_i][0], err.text);
	arena_free(a);
}
END_TEST

/* An empty input has no memory, but products of its dimensions. */
START_TEST(empty_inputs_have_a_limit)
{
	Entry e[] = { { "m/data.pkl", EMPTY, 0, 0, 0, sizeof EMPTY - 1 },
		{ "m/code/__torch__.py", FORWARD("    return torch.neg(x)\n"), 0, 0, 0, 0 } };
	ShapeArg shape = { "x", shape_of(2, (int64_t[]){ INT64_MAX, 0 }) };
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file = make_archive(a, e, 2);
	ck_assert(frontend_load_bytes(a, "m.pt", file, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err) == NULL);
	ck_assert_msg(strstr(err.text, "has a dimension of 9223372036854775807") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pytorch_known");
	tcase_add_loop_test(tc, numbers_are_those, 0, LEN(cases));
	tcase_add_loop_test(tc, others_are_refused, 0, LEN(refused));
	tcase_add_test(tc, empty_inputs_have_a_limit);
	return run_suite("pytorch_known", tc);
}
