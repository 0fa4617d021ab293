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

int main(void)
{
	TCase *tc = tcase_create("pytorch_known");
	tcase_add_loop_test(tc, numbers_are_those, 0, LEN(cases));
	tcase_add_loop_test(tc, others_are_refused, 0, LEN(refused));
	return run_suite("pytorch_known", tc);
}
