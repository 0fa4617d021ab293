/* PyTorch: quantised tensors, packed weights, and the operators of exported programs that make codes. */
#include "evaluate.h"
#include "pytorch_text.h"
#include "suite.h"

/* A weight of ones, i8[2,6] with the scale 1/2, inside of packed weights; and a module that makes its state of it. */
#define CODES(scheme) \
	"ctorch._utils\n_rebuild_qtensor\n((X\x07\0\0\0storagectorch\nQInt8Storage\nX\x01\0\0\0" \
	"0X\x03\0\0\0cpuK\x0ctQK\0K\x02K\x06\x86K\x06K\x01\x86" scheme "\x89}tR"
#define HALF "(ctorch\nper_tensor_affine\nG\x3f\xe0\0\0\0\0\0\0K\0t"
#define PACKED(codes) \
	"X\x01\0\0\0pc__torch__.torch.classes.quantized\nLinearPackedParamsBase\n)\x81" codes "N\x86" \
	"b"
#define MODULE(codes) \
	"X\x01\0\0\0mc__torch__\nN\n)\x81K\x03" codes "\x86" \
	"b"

static Dag *load_quantised(Arena *a, const char *pickle, size_t n, const char *code, Err *err)
{
	static const char twos[] = "\2\2\2\2\2\2\2\2\2\2\2\2";
	Entry e[] = { { "m/data.pkl", pickle, 0, 0, 0, (uint32_t)n }, { "m/code/__torch__.py", code, 0, 0, 0, 0 },
		{ "m/data/0", twos, 0, 0, 0, 12 } };
	ShapeArg shape = { "x", shape_of(2, (int64_t[]){ 2, 6 }) };
	return frontend_load_bytes(a, "m.pt", make_archive(a, e, 3), &(ModelArgs){ .shape = &shape, .nshape = 1 }, err);
}

#define SETS \
	"class N(Module):\n  def __setstate__(self: __torch__.N,\n    state: Tuple[int, Tensor]) -> NoneType:\n" \
	"    self.k = (state)[0]\n    self.q = ops.quantized.linear_prepack((state)[1], None)\n    return None\n"
#define Q "    q = torch.quantize_per_tensor(x, 0.5, 3, 13)\n"
#define W "    w = torch.quantize_per_tensor(torch.ones([2, 6]), 0.25, 0, 12)\n"

static const struct {
	const char *code;
	double sum; /* of the result for x = 1, 2 .. 12 */
	const char *why;
} cases[] = {
	{ FORWARD(Q "    return torch.dequantize(q)\n"), 78, NULL },
	{ FORWARD(Q "    return torch.mul(torch.float(torch.int_repr(q)), torch.q_scale(q))\n"), 78 + 12 * 1.5, NULL },
	/* 12 / 0.01 + 3 saturates at 255, and a relu does not change numbers above 0 */
	{ FORWARD("    q = torch.quantize_per_tensor(x, 0.01, 3, 13)\n    return torch.dequantize(torch.relu_(q))\n"),
		1 + 2 + 10 * 2.52, NULL },
	/* what is written need not be the first argument */
	{ FORWARD(Q "    return torch.dequantize(torch.clamp_(max=5., self=q))\n"), 1 + 2 + 3 + 4 + 8 * 5, NULL },
	{ FORWARD(Q "    return torch.clamp_(x, q)\n"), 0, "reads a quantised tensor, which dlc does not have" },
	/* 3 times the inverse of 0.24 in f32 is above 12.5, where the quotient of both is not */
	{ FORWARD("    return torch.dequantize(torch.quantize_per_tensor(x, 0.24, 3, 13))\n"), 78.24, NULL },
	/* sums and products as vectors of PyTorch round them: numbers by one fused step, codes times one factor */
	{ FORWARD("    q = torch.quantize_per_tensor(x, 0.7, 3, 13)\n"
			  "    return torch.dequantize(ops.quantized.add(q, q, 0.56, 0))\n"),
		155.12, NULL },
	{ FORWARD("    q = torch.quantize_per_tensor(x, 0.3, 3, 13)\n"
			  "    return torch.dequantize(ops.quantized.mul(q, q, 0.18, 0))\n"),
		366.48, NULL },
	/* views keep the scale, others round to it: the mean of 1 and 2 is 1.5, of 1.5 codes 2 */
	{ FORWARD(Q "    return torch.dequantize(torch.select(torch.view(q, [3, 4]), 0, 1))\n"), 5 + 6 + 7 + 8, NULL },
	{ FORWARD("    q = torch.quantize_per_tensor(x, 1., 0, 13)\n"
			  "    return torch.dequantize(torch.mean(q, [1]))\n"),
		4 + 10, NULL },
	/* 1 is the code 256, which is none: 255 / 256 */
	{ FORWARD(Q "    return torch.dequantize(torch.hardsigmoid(torch.add(torch.mul(q, 1), 0)))\n"), 0,
		"reads a quantised tensor, which dlc does not have for this operator" },
	{ FORWARD("    q = torch.quantize_per_tensor(torch.mul(x, 3.), 1., 3, 13)\n"
			  "    return torch.dequantize(torch.hardsigmoid(q))\n"),
		12 * 255. / 256, NULL },
	{ FORWARD(Q "    return torch.dequantize(ops.quantized.add(q, q, 1., 0))\n"), 156, NULL },
	{ FORWARD(Q "    return torch.dequantize(ops.quantized.cat([q, q], 1, 1., 2))\n"), 156, NULL },
	{ FORWARD(Q W "    p = ops.quantized.linear_prepack(w, None)\n"
				  "    return torch.dequantize(ops.quantized.linear(q, p, 1., 0))\n"),
		156, NULL },
	/* 2 and 4 in the rows, and a bias of 1; a scale of 4 rounds 42 + 1 and 114 + 1, 84 + 1 and 228 + 1 */
	{ FORWARD(Q "    s = torch.tensor([0.5, 1.])\n    z = torch.tensor([0, 1])\n"
				"    o = torch.mul(torch.ones([2, 6]), torch.tensor([[2.], [4.]]))\n"
				"    w = torch.quantize_per_channel(o, s, z, 0, 12)\n"
				"    p = ops.quantized.linear_prepack(w, torch.ones([2]))\n"
				"    return torch.dequantize(ops.quantized.linear_relu(q, p, 4., 0))\n"),
		44 + 116 + 84 + 228, NULL },
	{ FORWARD(
		  Q "    w = torch.quantize_per_tensor(torch.ones([1, 1, 1, 2]), 0.25, 0, 12)\n"
			"    p = ops.quantized.conv2d_prepack(w, None, [1, 2], [0, 1], [1, 1], 1)\n"
			"    v = torch.view(q, [1, 1, 2, 6])\n    return torch.dequantize(ops.quantized.conv2d(v, p, 1., 0))\n"),
		78, NULL },
	/* transposed: each of six is spread over two, the row of pads goes */
	{ FORWARD(
		  Q "    w = torch.quantize_per_tensor(torch.ones([1, 1, 1, 2]), 0.25, 0, 12)\n"
			"    p = ops.quantized.conv_transpose2d_prepack(w, torch.ones([1]), [2, 1], [0, 1], [1, 0], [1, 1], 1)\n"
			"    v = torch.view(q, [1, 1, 2, 6])\n"
			"    return torch.dequantize(ops.quantized.conv_transpose2d(v, p, 1., 0))\n"),
		2 * 78 - 1 - 6 - 7 - 12 + 4 * 5, NULL },
	{ FORWARD(
		  Q "    s = torch.tensor([0.5, 1.])\n"
			"    w = torch.quantize_per_channel(torch.ones([1, 2, 2]), s, torch.tensor([0, 1]), 1, 12)\n"
			"    p = ops.quantized.conv_transpose1d_prepack(w, None, [1], [0], [0], [1], 1)\n"
			"    return ops.quantized.conv_transpose1d(torch.view(q, [2, 1, 6]), p, 1., 0)\n"),
		0, "hold no quantised weight" },
	{ FORWARD(
		  Q "    w = torch.quantize_per_channel(torch.ones([1, 2, 2]), torch.tensor([0.5]), torch.tensor([0]), 0, 12)\n"
			"    p = ops.quantized.conv_transpose1d_prepack(w, None, [1], [0], [0], [1], 1)\n"
			"    return ops.quantized.conv_transpose1d(torch.view(q, [2, 1, 6]), p, 1., 0)\n"),
		0, "where a transposed convolution has one for all" },
	{ FORWARD("    w = torch.quantize_per_tensor(torch.ones([2, 6]), 0.25, 0, 12)\n"
			  "    y = ops.quantized.linear_dynamic(torch.mul(torch.ones([2, 6]), 2.), "
			  "ops.quantized.linear_prepack(w, None))\n    return torch.add(y, torch.mul(torch.sum(x), 0))\n"),
		4 * 12, NULL },
	/* of a file */
	{ FORWARD(Q "    return torch.dequantize(ops.quantized.linear(q, self.p, 1., 0))\n") SETS, 156, NULL },
	{ FORWARD(Q "    y = torch.dequantize(ops.quantized.linear(q, self.m.q, 1., 0))\n"
				"    return torch.mul(y, self.m.k)\n") SETS,
		468, NULL },
	{ FORWARD(Q "    return torch.exp(q)\n"), 0,
		"reads a quantised tensor, which dlc does not have for this operator" },
	{ FORWARD(Q "    if torch.gt(torch.sum(x), 1):\n      y = q\n    else:\n"
				"      y = torch.quantize_per_tensor(x, 0.25, 3, 13)\n    return torch.dequantize(y)\n"),
		0, "a tensor of one scale" },
	{ FORWARD(Q "    return ops.quantized.linear(q, x, 1., 0)\n"), 0, "hold no quantised weight" },
	{ FORWARD("    return torch.quantize_per_tensor(x, -1., 0, 13)\n"), 0, "its scale -1 is no positive number" },
	{ FORWARD("    return ops.quantized.add(x, x, 1., 0)\n"), 0, "its argument qa is no quantised tensor" },
	{ FORWARD("    return torch.quantize_per_tensor(x, 1., 0, 6)\n"), 0, "codes of type 6 of PyTorch" },
};

START_TEST(codes_are_computed)
{
	static const char pickle[] = "\x80\x02"
								 "c__torch__\nM\n)\x81}(" PACKED(CODES(HALF)) MODULE(CODES(HALF)) "ub.";
	Arena *a = arena_new();
	Err err = { 0 };
	float x[12];
	double sum = 0;
	for (int k = 0; k < 12; k++)
		x[k] = (float)(k + 1);
	Dag *d = load_quantised(a, pickle, sizeof pickle - 1, cases[_i].code, &err);
	ck_assert_msg(
		(d == NULL) == (cases[_i].why != NULL), "%s\n%s: %s\n%s", cases[_i].code, err.place, err.text, err.items);
	ck_assert_msg(d != NULL || strstr(err.text, cases[_i].why) != NULL, "%s\nrefused: %s", cases[_i].code, err.text);
	void **out = d != NULL ? evaluate(a, d, (const void *const[]){ x }, &err) : NULL;
	ck_assert_msg(d == NULL || out != NULL, "%s", err.text);
	for (int64_t k = 0; d != NULL && k < shape_elements(d->value.at[d->output.at[0]].shape); k++)
		sum += (double)((float *)out[0])[k];
	ck_assert_msg(d == NULL || (sum > cases[_i].sum - 1e-3 && sum < cases[_i].sum + 1e-3), "%s\ngives %g\n%s",
		cases[_i].code, sum, d != NULL ? dag_str(a, d) : "");
	arena_free(a);
}
END_TEST

START_TEST(scales_must_fit)
{
	static const char none[] = "\x80\x02"
							   "c__torch__\nM\n)\x81}(" PACKED(CODES("N")) "ub.";
	static const char text[] = "\x80\x02"
							   "c__torch__\nM\n)\x81}(" PACKED(CODES("(ctorch\nper_channel_affine\nNNK\x00t")) "ub.";
	Arena *a = arena_new();
	for (int k = 0; k < 2; k++) {
		Err err = { 0 };
		ck_assert(load_quantised(a, k == 0 ? none : text, k == 0 ? sizeof none - 1 : sizeof text - 1,
					  FORWARD("    return x\n"), &err) == NULL);
		ck_assert_msg(strstr(err.text, "has a quantised tensor without scales that dlc reads") != NULL, "%s", err.text);
	}
	arena_free(a);
}
END_TEST

/* Codes of exported programs are plain tensors. */
#define CODED(out, target, inputs) \
	"{\"target\":\"torch.ops.quantized_decomposed." target "\",\"inputs\":[" inputs "],\"outputs\":[" TENSOR(out) "]}"
#define SCALED(x) \
	ARG("input", TENSOR(x)) \
	"," ARG("scale", "{\"as_float\":0.5}") "," ARG("zero_point", "{\"as_int\":3}") "," ARG("quant_min", \
		"{\"as_int\":0}") "," ARG("quant_max", "{\"as_int\":20}") "," ARG("dtype", "{\"as_scalar_type\":1}")

#define BY_CHANNEL(x) \
	ARG("input", TENSOR(x)) \
	"," ARG("scales", TENSOR("s")) "," ARG("zero_points", TENSOR("z")) "," ARG("axis", "{\"as_int\":0}") "," ARG( \
		"quant_min", "{\"as_int\":0}") "," ARG("quant_max", "{\"as_int\":20}") "," ARG("dtype", \
		"{\"as_scalar_type\":1}")
#define FULL(out, value) \
	"{\"target\":\"torch.ops.aten.full.default\",\"inputs\":[" ARG("size", "{\"as_ints\":[2]}") "," ARG( \
		"fill_value", "{\"as_float\":" value "}") "],\"outputs\":[" TENSOR(out) "]},"

/* For all elements, and a scale for each row. */
START_TEST(exported_codes)
{
	static const char *const json[] = { PROGRAM(CODED("q", "quantize_per_tensor.default", SCALED("x")) "," CODED(
													"y", "dequantize_per_tensor.default", SCALED("q")),
											"y"),
		PROGRAM(FULL("s", "0.5") FULL("z", "3") CODED("q", "quantize_per_channel.default", BY_CHANNEL("x")) "," CODED(
					"y", "dequantize_per_channel.default", BY_CHANNEL("q")),
			"y") };
	static const float x[12] = { 1, -9, 100, 1.3f, 1.2f, 0 }, want[12] = { 1, -1.5f, 8.5f, 1.5f, 1, 0 };
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_program(a, json[_i], &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(dag_str(a, d), "u8[2,6]") != NULL);
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < 12; k++)
		ck_assert_float_eq(((float *)out[0])[k], want[k]);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pytorch_quant");
	tcase_add_loop_test(tc, codes_are_computed, 0, LEN(cases));
	tcase_add_test(tc, scales_must_fit);
	tcase_add_loop_test(tc, exported_codes, 0, 2);
	return run_suite("pytorch_quant", tc);
}
