/* PyTorch: scripts and exported programs against the Dags that they become, refusals, real and damaged files. */
#include "evaluate.h"
#include "folder.h"
#include "pytorch_text.h"
#include "real_files.h"

#include "base/rng.h"
#include "frontend/pytorch/aten.h"

static Dag *load_code(Arena *a, const char *code, Err *err)
{
	return load_script(a, EMPTY, sizeof EMPTY - 1, code, err);
}

static const struct {
	const char *code;
	const char *want[4];
} scripts[] = {
	{ FORWARD("    return torch.relu(x)\n"), { "output: f32[2,6] = relu(x)" } },
	{ FORWARD("    y = torch.add(x, 2, alpha=3)\n    return y\n"), { "add(x, ", "f32[2,6]" } },
	/* shapes are numbers, branches and loops are gone */
	{ FORWARD("    n = torch.size(x, 1)\n    if torch.gt(n, 5):\n      y = torch.tanh(x)\n    else:\n"
			  "      y = torch.foo(x)\n    for i in range(2):\n      y0 = torch.exp(y)\n      y = y0\n    return y\n"),
		{ "y: f32[2,6] = tanh(x)", "y0: f32[2,6] = exp(y)", "output: f32[2,6] = exp(y0)" } },
	{ FORWARD("    i = 0\n    y = x\n    while torch.lt(i, 3):\n      y = torch.neg(y)\n      i = torch.add(i, 1)\n"
			  "    return y\n"),
		{ "neg(x)", "neg(y)", "output: f32[2,6] = neg(y_1)" } },
	/* lists, unpacking, defaults, functions */
	{ FORWARD("    l = annotate(List[Tensor], [])\n    _0 = torch.append(l, x)\n    _1 = torch.append(l, x)\n"
			  "    return torch.cat(l, -1)\n"),
		{ "concat(x, x) axis=1", "f32[2,12]" } },
	{ FORWARD("    a, b, = torch.split(x, [2, 4], 1)\n    return torch.matmul(torch.t(a), b)\n"),
		{ "slice(x)", "transpose(", "matmul(", "f32[2,4]" } },
	{ FORWARD("    _0 = __torch__.twice\n    return _0(x, )\n") "def twice(x: Tensor,\n    f: float=2.) -> Tensor:\n"
																"  return torch.mul(x, f)\n",
		{ "mul(x, " } },
	/* a write changes all that look at the cell, and nothing else */
	{ FORWARD("    y = torch.relu(x)\n    z = torch.select(y, 0, 1)\n    _0 = torch.fill_(z, 3)\n    return y\n"),
		{ "concat(", "relu(x)" } },
	{ FORWARD("    y = torch.mul(x, 2)\n    _0 = torch.relu_(y)\n    return y\n"), { "relu(", "mul(x" } },
	{ FORWARD("    return torch.view(x, [-1, torch.floordiv(torch.numel(x), 3)])\n"), { "f32[3,4]" } },
	{ FORWARD("    return {\"a\": torch.exp(x), \"b\": (torch.neg(x), None)}\n"),
		{ "a: f32[2,6] = exp(x)", "b.0: f32" } },
	{ FORWARD(
		  "    n = ops.prim.NumToTensor(torch.size(x, 0))\n    return torch.reshape(x, [int(torch.mul(n, 3)), 2])\n"),
		{ "f32[6,2]" } },
	/* a diagonal is a view */
	{ FORWARD("    y = torch.mul(x, 2)\n    _0 = torch.zero_(torch.diagonal(y, 1))\n    return y\n"),
		{ "output: f32[2,6] = reshape(_0.gather)" } },
	/* the copy that was written is read, and tensors that are themselves or views for sure are written */
	{ FORWARD("    y = torch.mul(x, 2)\n    v = torch.unfold(y, 1, 2, 2)\n    _0 = torch.zero_(v)\n    return v\n"),
		{ "f32[2,3,2]" } },
	{ FORWARD("    y = torch.mul(x, 2)\n    v = torch.flatten(y)\n    _0 = torch.neg_(v)\n    return y\n"),
		{ "output: f32[2,6] = reshape(_0)" } },
	{ FORWARD("    y = torch.mul(x, 2)\n    _0 = torch.neg_(torch.float(torch.contiguous(torch.to(y, 6))))\n"
			  "    _1 = torch.abs_(torch.type_as(torch.as_tensor(y), x))\n    return y\n"),
		{ "_0: f32[2,6] = neg(y)", "output: f32[2,6] = abs(_0)" } },
	/* what changes nothing is no write */
	{ FORWARD("    y = torch.mul(x, 2)\n    v = torch.unfold(y, 1, 2, 2)\n    _0 = torch.dropout_(y, 0.5, False)\n"
			  "    return v\n"),
		{ "f32[2,3,2]" } },
	{ FORWARD("    y = torch.reshape(torch.mul(torch.t(x), 2), [6, 1, 2])\n    _0 = torch.neg_(y)\n    return y\n"),
		{ "neg(", "f32[6,1,2]" } },
	{ FORWARD("    y, z, = torch.meshgrid([torch.select(x, 0, 0), torch.select(x, 0, 1)])\n"
			  "    _0 = torch.zero_(x)\n    return torch.add(y, z)\n"),
		{ "output.slice: f32[1,6] = slice(_0)", "f32[6,6]" } },
	{ FORWARD("    return torch.as_strided(x, [2, 2], [1, 3], 1)\n"), { "i64[2,2] = {1, 4, 2, 5}", "= gather(" } },
	{ FORWARD("    return torch.as_strided(x, [1, 2], [9223372036854775807, 3], 1)\n"), { "i64[1,2] = {1, 4}" } },
	{ FORWARD("    return torch.logcumsumexp(x, 1)\n"), { "bool[6,6]", "reduce_max(", "output: f32[2,6] = reshape(" } },
	{ FORWARD("    y = torch.view_as(torch.cat([x, x]), torch.zeros([3, 8]))\n"
			  "    return torch.reshape_as(torch.stack([x, x], 2), y)\n"),
		{ "f32[3,8]" } },
	/* a result's name is its own, whatever its parts are called */
	{ FORWARD("    return torch.add(torch.exp(torch.neg(x)), 1)\n"), { "output: f32[2,6] = add(" } },
	{ FORWARD("    return torch.equal(x, x)\n"), { "output: bool[] = cast" } },
	{ FORWARD("    return torch.float_power(x, 2)\n"), { "output: f64[2,6]" } },
	{ FORWARD("    return torch._is_all_true(torch.gt(x, 0))\n"), { "bool[] = cast(output.reduce_min)" } },
	{ FORWARD("    return torch._is_any_true(torch.gt(x, 0))\n"), { "bool[] = cast(output.reduce_max)" } },
	{ FORWARD("    return torch._weight_norm(x, torch.slice(x, 1, 0, 1), 0)\n"),
		{ "reduce_sum(", "axes=[1]", "= sqrt(", "f32[2,6] = mul(x, output.div)" } },
	{ FORWARD("    v = torch.view(x, [1, 1, 3, 4])\n    r = torch.tensor([[0., 0., 0., 3., 2.]])\n"
			  "    y, p, = ops.torchvision.roi_pool(v, r, 1., 2, 2)\n    return y\n"),
		{ "f32[1,1,2,2]" } },
	/* infinities are not close to a number, and integers have a relative distance, too */
	{ FORWARD("    return torch.isclose(x, torch.relu(x))\n"), { "f32[] = {inf}", "= less(", "bool[2,6]" } },
	{ FORWARD("    y = torch.to(x, 4)\n    return torch.isclose(y, y)\n"), { "i64[2,6]", "to=f32" } },
	{ FORWARD("    w = torch.ones([1, 1, 3])\n"
			  "    return torch._convolution_mode(torch.unsqueeze(x, 1), w, None, [1], \"same\", [1], 1)\n"),
		{ "pads=[1,1]", "f32[2,1,6]" } },
};

START_TEST(scripts_become_dags)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_code(a, scripts[_i].code, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", scripts[_i].code, err.place, err.text, err.items);
	const char *text = dag_str(a, d);
	for (int k = 0; k < 4 && scripts[_i].want[k] != NULL; k++)
		ck_assert_msg(strstr(text, scripts[_i].want[k]) != NULL, "%s\nlacks \"%s\":\n%s", scripts[_i].code,
			scripts[_i].want[k], text);
	arena_free(a);
}
END_TEST

#define PICKLE(text) text, sizeof text - 1
#define TENS(text) text text text text text text text text text text
/* An attribute: a list of 100 times a list of 100 times .. the empty list, six deep. */
#define LEVEL(from, to) "]q" to "(" TENS(TENS("h" from)) "e"
#define WIDE(name) \
	"X\x01\0\0\0" name "]q\0" \
	"0" LEVEL("\0", "\1") "0" LEVEL("\1", "\2") "0" LEVEL("\2", "\3") "0" LEVEL("\3", "\4") "0" LEVEL( \
		"\4", "\5") "0" LEVEL("\5", "\6")

#include "pytorch_refused.inc"

START_TEST(scripts_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_script(a, refused[_i].pickle, refused[_i].n, refused[_i].code, &err);
	ck_assert_msg(d == NULL, "%s\nbecame\n%s", refused[_i].code, d != NULL ? dag_str(a, d) : "");
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL || strstr(err.items, refused[_i].why) != NULL,
		"%s\nrefused: %s: %s\n%s\nnot: %s", refused[_i].code, err.place, err.text, err.items, refused[_i].why);
	arena_free(a);
}
END_TEST

/* ---- tensors of one storage, and a program that runs twice */

#define PLACED(name, offset, size, stride) \
	"X\x01\0\0\0" name "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0" \
	"0X\x03\0\0\0cpuK\x06tQK" offset size stride "\x89}tR"
#define STORED(name, offset, size) PLACED(name, offset, "K" size "\x85", "K\x01\x85")
#define FOUR(a, b, c, d) "(K" a "K" b "K" c "K" d "t"
/* Weights [2,1,1,2] of strides (2,2,2,1) and, last channels, (2,1,2,1); [2,2,1,1] of (2,1,2,2). */
#define WEIGHTS \
	PLACED("r", "\0", FOUR("\x02", "\x01", "\x01", "\x02"), FOUR("\x02", "\x02", "\x02", "\x01")) \
	PLACED("d", "\0", FOUR("\x02", "\x01", "\x01", "\x02"), FOUR("\x02", "\x01", "\x02", "\x01")) \
	PLACED("p", "\0", FOUR("\x02", "\x02", "\x01", "\x01"), FOUR("\x02", "\x01", "\x02", "\x02"))
/* Places 1, 3 and 5 in a row whose stride is the largest number. */
#define FAR PLACED("f", "\x01", "K\x01K\x03\x86", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x02\x86")

static Dag *load_stored(Arena *a, const char *body, Err *err)
{
	static const char pickle[] = HOLDS(STORED("a", "\0", "\x06") STORED("b", "\x02", "\x03") FAR WEIGHTS);
	static const float six[] = { 0, 1, 2, 3, 4, 5 };
	char code[600];
	snprintf(code, sizeof code, FORWARD("%s"), body);
	Entry e[] = { { "m/data.pkl", pickle, 0, 0, 0, sizeof pickle - 1 }, { "m/code/__torch__.py", code, 0, 0, 0, 0 },
		{ "m/data/0", (const char *)six, 0, 0, 0, sizeof six } };
	ShapeArg shape = { "x", shape_of(1, (int64_t[]){ 6 }) };
	return frontend_load_bytes(a, "m.pt", make_archive(a, e, 3), &(ModelArgs){ .shape = &shape, .nshape = 1 }, err);
}

START_TEST(saved_tensors_share_elements)
{
	static const char *const lost[] = {
		"    _0 = torch.zero_(self.a)\n    return torch.add(self.b, 1)\n",
		"    _0 = torch.zero_(self.b)\n    return torch.add(x, self.a)\n",
		"    _0 = torch.zero_(torch.slice(self.b, 0, 1))\n    return torch.add(x, self.a)\n",
	};
	Arena *a = arena_new();
	for (int k = 0; k < LEN(lost); k++) {
		Err err = { 0 };
		ck_assert_msg(load_stored(a, lost[k], &err) == NULL, "%s", lost[k]);
		ck_assert_msg(strstr(err.text, LOST) != NULL, "%s: %s", lost[k], err.text);
	}
	Err err = { 0 };
	Dag *d = load_stored(a, "    return torch.add(torch.add(x, self.a), torch.sum(self.b))\n", &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

START_TEST(a_dimension_of_one_has_any_stride)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_stored(a, "    return torch.add(self.f, torch.slice(x, 0, 0, 3))\n", &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_msg(strstr(dag_str(a, d), "f32[1,3] = {1, 3, 5}") != NULL, "%s", dag_str(a, d));
	arena_free(a);
}
END_TEST

/* Channels last by a dimension of 1 alone: PyTorch's result is in that order, so flatten gives a copy there. */
START_TEST(dimensions_of_one_have_an_order)
{
#define CONVOLVE(x, w, groups) \
	"    y = torch.conv2d(" x ", " w ", None, [1, 1], [0, 0], [1, 1], " groups ")\n    z = torch.flatten(y, 1)\n" \
	"    _0 = torch.neg_(z)\n    return y\n"
	static const char *const lost[] = {
		CONVOLVE("torch.view(x, [1, 2, 1, 3])", "self.d", "2"),
		CONVOLVE("torch.view(x, [1, 2, 1, 3])", "self.p", "1"),
		CONVOLVE("torch.permute(torch.view(x, [1, 2, 3, 1]), [0, 3, 1, 2])", "self.r", "1"),
		CONVOLVE("torch.permute(torch.relu(torch.view(x, [1, 2, 3, 1])), [0, 3, 1, 2])", "self.r", "1"),
	};
	Arena *a = arena_new();
	for (int k = 0; k < LEN(lost); k++) {
		Err err = { 0 };
		ck_assert_msg(load_stored(a, lost[k], &err) == NULL, "%s", lost[k]);
		ck_assert_msg(strstr(err.text, LOST) != NULL, "%s: %s", lost[k], err.text);
	}
	Err err = { 0 };
	Dag *d = load_stored(a, CONVOLVE("torch.view(x, [1, 2, 1, 3])", "self.r", "2"), &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_msg(strstr(dag_str(a, d), "output: f32[1,2,1,2] = reshape(_0)") != NULL, "%s", dag_str(a, d));
	arena_free(a);
}
END_TEST

/* The type of x is a guess until it is an index; what the first run wrote must not be there in the second one. */
START_TEST(a_second_run_begins_anew)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_stored(a, "    _0 = torch.add_(self.a, 1)\n    return torch.index_select(self.a, 0, x)\n", &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	static const int64_t x[] = { 5, 0, 1, 2, 4, 3 };
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	for (int k = 0; k < 6; k++)
		ck_assert_float_eq(((float *)out[0])[k], (float)x[k] + 1);
	arena_free(a);
}
END_TEST

/* ---- exported programs: nodes in JSON */

static const struct {
	const char *json, *want, *why; /* one of both */
} programs[] = {
	{ PROGRAM(NODE("relu.default", ARG("self", TENSOR("x"))), "y"), "y: f32[2,6] = relu(x)", NULL },
	{ PROGRAM(NODE("mean.dim", ARG("self", TENSOR("x")) "," ARG("dim", "{\"as_ints\":[-1]}")), "y"),
		"reduce_mean(x) axes=[1] keep=0", NULL },
	{ PROGRAM(NODE("clamp.default", ARG("self", TENSOR("x")) "," ARG("min", "{\"as_float\":\"-Infinity\"}")), "y"),
		"clip(x)", NULL },
	/* a size that is known when the shape is */
	{ PROGRAM("{\"target\":\"torch.ops.aten.sym_size.int\",\"inputs\":[" ARG("self", TENSOR("x")) "," ARG("dim",
				  "{\"as_int\":0}") "],\"outputs\":[{\"as_sym_int\":{\"as_name\":\"s\"}}]}," NODE("view.default",
				  ARG("self", TENSOR("x")) "," ARG("size",
					  "{\"as_sym_ints\":[{\"as_int\":3},{\"as_name\":\"s\"},{\"as_int\":2}]}")), "y"),
		"y: f32[3,2,2] = reshape(x)", NULL },
	{ PROGRAM(NODE("mkldnn_rnn_layer.default", ARG("input", TENSOR("x")) "," ARG("mode", "{\"as_int\":3}")), "y"), NULL,
		"mkldnn_rnn_layer" },
	/* without its optional arguments */
	{ PROGRAM(NODE("rot90.default", ARG("self", TENSOR("x"))), "y"), "y: f32[6,2] = transpose(", NULL },
	/* queries that see no key give 0 */
	{ PROGRAM(WRITE("slice.Tensor", ARG("self", TENSOR("x")) "," ARG("dim", "{\"as_int\":1}") "," ARG("start",
				  "{\"as_int\":0}") "," ARG("end", "{\"as_int\":2}")) "," NODE("scaled_dot_product_attention.default",
				  ARG("query", TENSOR("x")) "," ARG("key", TENSOR("x")) "," ARG("value", TENSOR("x")) "," ARG(
					  "attn_mask", TENSOR("z"))), "y"),
		"zeros=2", NULL },
	{ PROGRAM(NODE("_safe_softmax.default", ARG("self", TENSOR("x")) "," ARG("dim", "{\"as_int\":-1}")), "y"),
		"= where(y.equal", NULL },
	/* channels last is another order, so it is a copy */
	{ PROGRAM(NODE("contiguous.default", ARG("self", TENSOR("x")) "," ARG(
											 "memory_format", "{\"as_memory_format\":2}")) "," WRITE("zero_.default",
				  ARG("self", TENSOR("y"))),
		  "x"),
		NULL, LOST },
	{ PROGRAM(NODE("contiguous.default", ARG("self", TENSOR("x")) "," ARG(
											 "memory_format", "{\"as_memory_format\":1}")) "," WRITE("neg_.default",
				  ARG("self", TENSOR("y"))),
		  "x"),
		"neg(x)", NULL },
	{ PROGRAM("", "x"), "x_out: f32[2,6] = identity(x)", NULL },
	{ PROGRAM(NODE("foo.default", "") "," NODE("bar.x", ""), "y"), NULL,
		"2 operators of this model are not supported" },
	{ PROGRAM(NODE("relu.default", ARG("self", TENSOR("z"))), "y"), NULL, "reads 'z', which no node computes" },
	{ PROGRAM(NODE("relu.default", ARG("self", "{\"as_custom_obj\":{}}")), "y"), NULL, "of the kind as_custom_obj" },
	{ PROGRAM(NODE("relu.default", ARG("self", TENSOR("x"))), "z"), NULL, "reads 'z', which no node computes" },
	{ PROGRAM("{}", "x"), NULL, "has no target" },
	{ PROGRAM(NODE("clamp.default", ARG("self", TENSOR("x")) "," ARG("min", "{}")), "y"), NULL,
		"an argument of 'torch.ops.aten.clamp.default' is no value" },
	{ PROGRAM(NODE("clamp.default", ARG("self", TENSOR("x")) "," ARG("min", "3")), "y"), NULL,
		"an argument of 'torch.ops.aten.clamp.default' is no value" },
	{ "{\"graph_module\":{}}", NULL, "has no graph of nodes" },
	{ "{\"graph_module\":", NULL, "" },
};

START_TEST(programs_become_dags)
{
	check_program(programs[_i].json, programs[_i].want, programs[_i].why);
}
END_TEST

/* x + y[1:], whose dimensions are expressions of s77. */
#define DIM(expression) "{\"as_expr\":{\"expr_str\":\"" expression "\"}}"
#define DIMS(x, y, ranges) \
	"{\"graph_module\":{\"graph\":{\"nodes\":[" WRITE("relu.default", ARG("self", TENSOR("y"))) "]," \
	"\"tensor_values\":{\"x\":{\"dtype\":7,\"sizes\":[{\"as_int\":1}," x "]},\"y\":{\"dtype\":7,\"sizes\":[" y "]}}}," \
	"\"signature\":{\"input_specs\":[{\"user_input\":{\"arg\":" TENSOR("x") "}},{\"user_input\":{\"arg\":" TENSOR("y") \
	"}}],\"output_specs\":[{\"user_output\":{\"arg\":" TENSOR("z") "}}]}},\"range_constraints\":{" ranges "}}"
#define S77 "Symbol('s77', positive=True, integer=True)"

static const struct {
	const char *json;
	int64_t x, y; /* the sizes that are given; 0: none is */
	const char *want, *why;
} dims[] = {
	{ DIMS(DIM(S77), DIM("Add(" S77 ", Integer(1))"), ""), 7, 0, "in y: f32[8]", NULL },
	{ DIMS(DIM("s77"), DIM("2*s77 + 1"), ""), 7, 0, "in y: f32[15]", NULL },
	{ DIMS(DIM("2*s77 - 3"), DIM("s77*4"), ""), 7, 0, "in y: f32[20]", NULL },
	{ DIMS(DIM("s77"), DIM("Mul(Integer(3), Add(" S77 ", Integer(-1)))"), ""), 0, 12, "in x: f32[1,5]", NULL },
	{ DIMS(DIM(S77), DIM("s77 + 1"), ""), 7, 9, NULL, "is 9, and by the model's expression of 's77' it is 8" },
	{ DIMS(DIM("2*s77"), DIM("s77"), ""), 7, 3, NULL, "is 7, and by the model's expression of 's77' it is 6" },
	{ DIMS(DIM("s77"), DIM("s78"), ""), 0, 0, NULL, "the names in x=1,s77" },
	{ DIMS(DIM("s77 - 9"), DIM("s77"), ""), 0, 2, NULL, "dimension 2 of input 'x' has no size" },
	{ DIMS(DIM("s77"), DIM("s77 + 9223372036854775807"), ""), 7, 0, NULL, "dimension 1 of input 'y' has no size" },
	{ DIMS(DIM("s77"), DIM("((((((((((((((((((s77))))))))))))))))))"), ""), 7, 0, "in y: f32[1]", NULL },
	{ DIMS(DIM("s77"), DIM("s77"), "\"s77\":{\"min_val\":4,\"max_val\":64}"), 65, 0, NULL,
		"dimension 2 of input 'x' is 65, and the model takes 4 to 64" },
	{ DIMS(DIM("s77"), DIM("s77"), "\"s77\":{\"min_val\":4,\"max_val\":64}"), 3, 0, NULL, "takes 4 to 64" },
	{ DIMS(DIM("s77"), DIM("s77"), "\"s77\":{\"min_val\":2,\"max_val\":64}"), 1, 0, "in y: f32[1]", NULL },
	{ DIMS(DIM("s77"), DIM("s77 + 1"), "\"s77 + 1\":{\"min_val\":3,\"max_val\":65}"), 1, 0, "in y: f32[2]", NULL },
};

START_TEST(dimensions_follow_their_expressions)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shape[2];
	ModelArgs args = { .shape = shape };
	if (dims[_i].x != 0)
		shape[args.nshape++] = (ShapeArg){ "x", shape_of(2, (int64_t[]){ 1, dims[_i].x }) };
	if (dims[_i].y != 0)
		shape[args.nshape++] = (ShapeArg){ "y", shape_of(1, &dims[_i].y) };
	Entry e[] = { { "m/archive_format", "pt2", 0, 0, 0, 0 }, { "m/models/model.json", dims[_i].json, 0, 0, 0, 0 } };
	Dag *d = frontend_load_bytes(a, "m.pt2", make_archive(a, e, 2), &args, &err);
	const char *want = dims[_i].want, *why = dims[_i].why;
	ck_assert_msg((d != NULL) == (want != NULL), "%s\n%s: %s\n%s", dims[_i].json, err.place, err.text, err.items);
	ck_assert_msg(want == NULL || strstr(dag_str(a, d), want) != NULL, "lacks \"%s\":\n%s", want,
		d != NULL ? dag_str(a, d) : "");
	ck_assert_msg(why == NULL || strstr(err.text, why) != NULL, "refused: %s\nnot: %s", err.text, why);
	arena_free(a);
}
END_TEST

/* Entries that say how the others are to be read, and the schema's version. */
START_TEST(other_orders_and_schemas_are_refused)
{
	static const struct {
		const char *entry, *text, *why;
	} cases[] = {
		{ "m/byteorder", "little", NULL },
		{ "m/byteorder", "big", "in the order 'big' (byteorder)" },
		{ "m/archive_format", "pt2\n", NULL },
		{ "m/archive_format", "[]", "of the format '[]' (archive_format)" },
	};
	static const char program[] = PROGRAM("", "x");
	for (int k = 0; k < LEN(cases); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Entry e[] = { { cases[k].entry, cases[k].text, 0, 0, 0, 0 }, { "m/models/model.json", program, 0, 0, 0, 0 },
			{ "m/archive_format", "pt2", 0, 0, 0, 0 } };
		bool two = strcmp(cases[k].entry, e[2].name) == 0;
		Dag *d = frontend_load_bytes(a, "m.pt2", make_archive(a, e, two ? 2 : 3), NULL, &err);
		ck_assert_msg((d != NULL) == (cases[k].why == NULL), "%s: %s", cases[k].text, err.text);
		ck_assert_msg(cases[k].why == NULL || strstr(err.text, cases[k].why) != NULL, "%s", err.text);
		arena_free(a);
	}
	static const char *const schemas[] = { "1", "{\"major\":8,\"minor\":2}", "{\"major\":80,\"minor\":2}", "0" };
	for (int k = 0; k < LEN(schemas); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		const char *json = arena_printf(a, "{\"schema_version\":%s,%s", schemas[k], program + 1);
		ck_assert_int_eq(load_program(a, json, &err) != NULL, k < 2);
		ck_assert_msg(k < 2 || strstr(err.text, "torch.export's schema") != NULL, "%s", err.text);
		arena_free(a);
	}
}
END_TEST

/*
 * PyTorch 2.1: dictionaries of the inputs, types and shapes in "meta", weights in an archive of their own. An LSTM of
 * one hidden value became a layer of oneDNN, backwards.
 */
START_TEST(programs_of_version_2_1)
{
	static const char state[] = "\x80\x02}X\3\0\0\0L.w" "ctorch._utils\n_rebuild_tensor_v2\n"
								"((X\7\0\0\0storage" "ctorch\nFloatStorage\n" "X\1\0\0\0" "0" "X\3\0\0\0cpu"
								"K\x18tQK\0K\4K\6\x86K\6K\1\x86\x89}tRs.";
	static const char program[] =
		"{\"graph_module\":{\"graph\":{\"nodes\":["
		"{\"target\":\"torch.ops.aten.mkldnn_rnn_layer.default\",\"inputs\":[" ARG("input", TENSOR("x")) ","
		ARG("weight0", TENSOR("w")) "," ARG("weight1", TENSOR("r")) "," ARG("weight2", TENSOR("b")) ","
		ARG("weight3", TENSOR("b")) "," ARG("hx_", TENSOR("h")) "," ARG("cx_", TENSOR("h")) ","
		ARG("reverse", "{\"as_bool\":true}") "," ARG("batch_sizes", "{\"as_ints\":[]}") ","
		ARG("mode", "{\"as_int\":2}") "," ARG("hidden_size", "{\"as_int\":1}") ","
		ARG("num_layers", "{\"as_int\":1}") "," ARG("has_biases", "{\"as_bool\":true}") ","
		ARG("bidirectional", "{\"as_bool\":false}") "," ARG("batch_first", "{\"as_bool\":false}") ","
		ARG("train", "{\"as_bool\":false}") "],\"outputs\":[" TENSOR("y") "," TENSOR("hy") "]}],"
#define SIZES(name, sizes) "\"" name "\":{\"meta\":{\"dtype\":7,\"sizes\":[" sizes "]}}"
		"\"tensor_values\":{" SIZES("x", "{\"as_int\":5},{\"as_int\":1},{\"as_int\":6}") ","
		SIZES("r", "{\"as_int\":4},{\"as_int\":1}") "," SIZES("b", "{\"as_int\":4}") ","
		SIZES("h", "{\"as_int\":1},{\"as_int\":1},{\"as_int\":1}") "}},"
		"\"signature\":{\"inputs_to_parameters\":{\"w\":\"L.w\"},\"inputs_to_buffers\":{},"
		"\"user_inputs\":[\"x\",\"r\",\"b\",\"h\"],\"user_outputs\":[\"y\"],\"buffers_to_mutate\":{}}}}";
	Arena *a = arena_new();
	Err err = { 0 };
	const char *numbers = arena_alloc(a, 24 * sizeof(float));
	Entry inner[] = { { "a/data.pkl", state, 0, 0, 0, sizeof state - 1 }, { "a/data/0", numbers, 0, 0, 0, 24 * 4 } };
	Bytes weights = make_archive(a, inner, 2);
	Entry e[] = { { "serialized_exported_program.json", program, 0, 0, 0, 0 },
		{ "serialized_state_dict.json", (const char *)weights.at, 0, 0, 0, (uint32_t)weights.n },
		{ "version", "1", 0, 0, 0, 0 } };
	Dag *d = frontend_load_bytes(a, "m.pt2", make_archive(a, e, 3), NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	ck_assert_int_eq(d->input.n, 4);
	ck_assert_msg(strstr(dag_str(a, d), "lstm(") != NULL, "%s", dag_str(a, d));
	ck_assert_msg(strstr(dag_str(a, d), "reverse") != NULL, "%s", dag_str(a, d));
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "y");
	arena_free(a);
}
END_TEST

/* Weights alone, new and old. */
START_TEST(weights_alone_are_refused)
{
	static const char legacy[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
	Arena *a = arena_new();
	Entry e[] = { { "m/data.pkl", "\x80\x02}.", 0, 0, 0, 0 }, { "m/version", "3\n", 0, 0, 0, 0 } };
	Bytes files[] = { make_archive(a, e, 2), { (const unsigned char *)legacy, sizeof legacy - 1 } };
	for (int k = 0; k < LEN(files); k++) {
		Err err = { 0 };
		ck_assert(frontend_load_bytes(a, "w.pth", files[k], NULL, &err) == NULL);
		ck_assert_msg(strstr(err.text, "torch.export.save(torch.export.export(model.eval()") != NULL, "%s", err.text);
	}
	arena_free(a);
}
END_TEST

/* ---- real files */

static const char *shared(Arena *a, const char *name)
{
	return real_file(a, "torch/generated", name);
}

static const char *const networks[] = { "mixed_layers", "seq", "mobilenet_v3_small_05", "shufflenet_v2_x0_5" };
static const char *const layouts[] = { "pt2", "traced.pt", "scripted.pt" };

START_TEST(networks_give_pytorchs_results)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *name = networks[_i / LEN(layouts)], *layout = layouts[_i % LEN(layouts)];
	ShapeArg shape = { .name = "x" };
	Shape ignored;
	const float *x = read_npy(a, shared(a, arena_printf(a, "%s.data.npy", name)), &shape.shape);
	const float *want = read_npy(a, shared(a, arena_printf(a, "%s.out.npy", name)), &ignored);
	if (x == NULL || want == NULL) {
		suite_skip(name, "no models in DLC_TEST_DATA");
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(
		a, shared(a, arena_printf(a, "%s.%s", name, layout)), &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	if (!real_file_runs(d)) {
		arena_free(a);
		return;
	}
	void **out = evaluate(a, d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	const float *y = out[0];
	float most = 0, off = 0;
	for (int64_t k = 0; k < shape_elements(d->value.at[d->output.at[0]].shape); k++) {
		most = want[k] > most ? want[k] : -want[k] > most ? -want[k] : most;
		off = y[k] - want[k] > off ? y[k] - want[k] : want[k] - y[k] > off ? want[k] - y[k] : off;
	}
	ck_assert_msg(off <= 1e-4f * most, "%s.%s: %g of %g", name, layout, (double)off, (double)most);
	arena_free(a);
}
END_TEST

/* docs/pytorch.md names each operator that has a row. */
START_TEST(operators_are_documented)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes page;
	ck_assert_msg(file_read(a, SOURCE_ROOT "/docs/pytorch.md", 1 << 20, &page, &err), "%s", err.text);
	for (const AtenRow *const *list = torch_rows; *list != NULL; list++)
		for (const AtenRow *r = *list; r->name != NULL; r++) {
			const char *name = arena_printf(a, "`%.*s`", (int)strcspn(r->name, "!."), r->name);
			ck_assert_msg(strstr((const char *)page.at, name) != NULL, "docs/pytorch.md lacks %s", name);
		}
	arena_free(a);
}
END_TEST

/* Cut files and flipped bytes: a Dag that checks, or one sentence. */
START_TEST(damaged_files_are_refused)
{
	static const char *const files[] = { "seq.pt2", "seq.traced.pt", "mixed_layers.scripted.pt" };
	Rng rng = rng_seed((uint64_t)_i + 1);
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b;
	if (!file_read(a, shared(a, files[_i % LEN(files)]), 1 << 26, &b, &err)) {
		suite_skip(files[_i % LEN(files)], "no models in DLC_TEST_DATA");
	} else {
		unsigned char *at = arena_copy(a, b.at, b.n);
		err = (Err){ 0 };
		for (int flips = (int)rng_below(&rng, 8); flips >= 0; flips--)
			at[rng_below(&rng, b.n)] ^= (unsigned char)(1u << rng_below(&rng, 8));
		b = (Bytes){ at, rng_below(&rng, 4) != 0 ? b.n : rng_below(&rng, b.n) };
		Dag *d = frontend_load_bytes(a, "m.pt", b, NULL, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "round %d", _i);
		ck_assert(d == NULL || dag_check(d, &err));
	}
	arena_free(a);
}
END_TEST

/* Archives check their entries' sums, so parts are damaged before they are packed. */
START_TEST(damaged_parts_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int k = 0; k < LEN(scripts) + LEN(refused) + LEN(programs); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		bool program = k >= LEN(scripts) + LEN(refused), pickle = !program && k >= LEN(scripts) && k % 2 == 0;
		const char *text = program            ? programs[k - LEN(scripts) - LEN(refused)].json
		                   : k < LEN(scripts) ? scripts[k].code
		                                      : refused[k - LEN(scripts)].code;
		const char *bytes = k >= LEN(scripts) && !program ? refused[k - LEN(scripts)].pickle : EMPTY;
		size_t n = k >= LEN(scripts) && !program ? refused[k - LEN(scripts)].n : sizeof EMPTY - 1, m = strlen(text);
		char *at = arena_copy(a, text, m + 1), *p = arena_copy(a, bytes, n + 1);
		for (int flips = (int)rng_below(&rng, 3); flips >= 0; flips--) {
			if (pickle)
				p[rng_below(&rng, n)] = (char)rng_below(&rng, 256);
			else
				at[rng_below(&rng, m)] = "0123456789[](),:. =xy\n\"-_t"[rng_below(&rng, 26)];
		}
		Dag *d = program ? load_program(a, at, &err) : load_script(a, p, n, at, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "%s", at);
		ck_assert(d == NULL || dag_check(d, &err));
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pytorch");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, scripts_become_dags, 0, LEN(scripts));
	tcase_add_loop_test(tc, scripts_are_refused, 0, LEN(refused));
	tcase_add_test(tc, saved_tensors_share_elements);
	tcase_add_test(tc, a_dimension_of_one_has_any_stride);
	tcase_add_test(tc, dimensions_of_one_have_an_order);
	tcase_add_test(tc, a_second_run_begins_anew);
	tcase_add_loop_test(tc, programs_become_dags, 0, LEN(programs));
	tcase_add_loop_test(tc, dimensions_follow_their_expressions, 0, LEN(dims));
	tcase_add_test(tc, other_orders_and_schemas_are_refused);
	tcase_add_test(tc, programs_of_version_2_1);
	tcase_add_test(tc, weights_alone_are_refused);
	tcase_add_loop_test(tc, networks_give_pytorchs_results, 0, LEN(networks) * LEN(layouts));
	tcase_add_test(tc, operators_are_documented);
	tcase_add_loop_test(tc, damaged_files_are_refused, 0, suite_count(60, 60, 2000));
	tcase_add_loop_test(tc, damaged_parts_are_refused, 0, suite_count(10, 10, 400));
	return run_suite("pytorch", tc);
}
