/* PyTorch: conditions that depend on data, graphs that operators run, inputs that may be None, lists of inputs. */
#include "evaluate.h"
#include "pytorch_text.h"
#include "suite.h"

/* ---- conditions on data: x is given, and the sum of the results is compared */

static const struct {
	const char *code;
	double positive, negative; /* sums of the results for x = 1, 2 .. 12 and x = -1, -2 .. -12 */
} sides[] = {
	{ FORWARD("    if torch.gt(torch.sum(x), 1):\n      y = torch.mul(x, 2)\n    else:\n      y = torch.mul(x, 3)\n"
			  "    return y\n"),
		156, -234 },
	{ FORWARD("    return (torch.mul(x, 2) if torch.gt(torch.sum(x), 1) else torch.mul(x, 3))\n"), 156, -234 },
	/* writes to what was there before, through a view */
	{ FORWARD("    y = torch.mul(x, 2)\n    v = torch.select(y, 0, 0)\n    if bool(torch.gt(torch.sum(x), 1)):\n"
			  "      _0 = torch.zero_(v)\n    else:\n      _1 = torch.mul_(y, 10)\n    return torch.add(y, v)\n"),
		114, -2400 },
	/* a list, a dictionary and an attribute */
	{ FORWARD("    l = [x, x]\n    d = {\"a\": x}\n    self.w = x\n    if torch.gt(torch.sum(x), 1):\n"
			  "      _0 = torch._set_item(l, 0, torch.mul(x, 5))\n      self.w = torch.mul(x, 100)\n    else:\n"
			  "      _1 = torch._set_item(d, \"a\", torch.mul(x, 7))\n"
			  "    return torch.add(torch.add(torch.add(l[0], l[1]), d[\"a\"]), self.w)\n"),
		78 * 107, -78 * 10 },
	/* numbers */
	{ FORWARD("    n = int(torch.sum(x))\n    if torch.gt(n, 70):\n      k = torch.floordiv(n, 10)\n    else:\n"
			  "      k = torch.neg(n)\n    return torch.mul(x, torch.add(k, 1))\n"),
		78 * 8, -78 * 79 },
	{ FORWARD("    f = float(torch.max(x))\n    if torch.gt(f, 0.5):\n      t = torch.lt(f, 20)\n    else:\n      t = "
	          "False\n"
			  "    if t:\n      k = 2\n    else:\n      k = 3\n    return torch.mul(x, k)\n"),
		156, -234 },
	/* conditions in conditions; a side that is never set; a check is left out */
	{ FORWARD("    if torch.gt(torch.sum(x), 1):\n      y = torch.mul(x, 2)\n      _0 = torch.neg_(y)\n      t = True\n"
			  "    else:\n      if torch.lt(torch.sum(x), -70):\n        y = torch.mul(x, 3)\n      else:\n"
			  "        y = torch.mul(x, 4)\n      t = False\n    if t:\n      z = y\n    else:\n"
			  "      z = torch.mul(y, 2)\n    if torch.gt(torch.sum(x), 9000):\n"
			  "      ops.prim.RaiseException(\"large\")\n    else:\n      pass\n    return z\n"),
		-156, -468 },
	/* what is returned on both sides, and writes to one that the sides made */
	{ FORWARD("    if torch.gt(torch.sum(x), 1):\n      y = torch.mul(x, 2)\n    else:\n      y = torch.mul(x, 3)\n"
			  "    _0 = torch.neg_(y)\n    if torch.gt(torch.sum(y), 1):\n      return y\n    else:\n"
			  "      return torch.mul(y, 2)\n"),
		-312, 234 },
};

START_TEST(both_sides_are_computed)
{
	static const char attribute[] = HOLDS("X\x01\0\0\0wK\x01");
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_script(a, attribute, sizeof attribute - 1, sides[_i].code, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", sides[_i].code, err.place, err.text, err.items);
	for (int sign = 1; sign >= -1; sign -= 2) {
		float x[12];
		double sum = 0;
		for (int k = 0; k < 12; k++)
			x[k] = (float)(sign * (k + 1));
		void **out = evaluate(a, d, (const void *const[]){ x }, &err);
		ck_assert_msg(out != NULL, "%s", err.text);
		for (int k = 0; k < 12; k++)
			sum += (double)((float *)out[0])[k];
		ck_assert_msg(sum == (sign > 0 ? sides[_i].positive : sides[_i].negative), "%s\ngives %g for sign %d",
			sides[_i].code, sum, sign);
	}
	arena_free(a);
}
END_TEST

/* ---- what is known only on one side is not read, and one of two lists is not changed */

#define WHEN(yes, no) "    if torch.gt(torch.sum(x), 1):\n" yes "    else:\n" no
#define APART "    a = [x]\n    b = [torch.neg(x)]\n" WHEN("      l = a\n", "      l = b\n")

static const struct {
	const char *code, *why;
} apart[] = {
	{ FORWARD(APART "    _0 = torch.append(l, x)\n    return a[0]\n"), "one of two" },
	{ FORWARD(APART "    _0 = torch._set_item(a, 0, x)\n    return l[0]\n"), "one of two" },
	{ FORWARD("    a = [x]\n    b = a\n" WHEN("      a = [torch.neg(x)]\n", "      pass\n")
				  "    _0 = torch._set_item(b, 0, torch.mul(x, 2))\n    return a[0]\n"),
		"one of two" },
	{ FORWARD("    d = {\"a\": x}\n" WHEN("      _0 = torch._set_item(d, \"b\", x)\n",
		  "      _1 = torch._set_item(d, \"c\", x)\n") "    if torch.__contains__(d, \"b\"):\n      y = x\n"
													   "    else:\n      y = torch.neg(x)\n    return y\n"),
		"it is 'b' where the condition of line" },
	/* the sides made both lists: neither is anywhere else */
	{ FORWARD(WHEN("      l = [x]\n", "      l = [torch.neg(x)]\n") "    m = l\n    _0 = torch.append(m, x)\n"
																	"    return torch.add(l[0], l[1])\n"),
		NULL },
	{ FORWARD(WHEN("      l = [x]\n      m = l\n", "      l = [torch.neg(x)]\n      m = l\n")
				  "    _0 = torch.append(m, x)\n    return torch.add(l[0], l[1])\n"),
		NULL },
	{ FORWARD(WHEN("      l = [x]\n      m = l\n", "      l = [torch.neg(x)]\n      m = [x]\n")
				  "    _0 = torch.append(m, x)\n    return l[0]\n"),
		"one of two" },
	{ FORWARD(APART "    return l[0]\n"), NULL },
};

START_TEST(one_of_two_lists_is_not_changed)
{
	static const char attribute[] = HOLDS("X\x01\0\0\0wK\x01");
	Arena *a = arena_new();
	Err err = { 0 };
	const char *code = apart[_i].code, *why = apart[_i].why;
	Dag *d = load_script(a, attribute, sizeof attribute - 1, code, &err);
	ck_assert_msg((d == NULL) == (why != NULL), "%s\n%s: %s\n%s", code, err.place, err.text, err.items);
	ck_assert_msg(why == NULL || strstr(err.text, why) != NULL, "%s\nrefused: %s", code, err.text);
	arena_free(a);
}
END_TEST

/* ---- inputs that may be None, and lists of tensors */

START_TEST(optional_inputs_are_asked_for)
{
	static const char code[] = "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor,\n"
							   "    m: Optional[Tensor],\n    l: Optional[List[Tensor]]=None) -> Tensor:\n"
							   "    if torch.__isnot__(m, None):\n      y = torch.mul(x, unchecked_cast(Tensor, m))\n"
							   "    else:\n      y = torch.neg(x)\n    return y\n";
	static const char list[] = "class M(Module):\n  def forward(self: __torch__.M,\n    l: List[Tensor]) -> Tensor:\n"
							   "    return torch.cat(l, 1)\n";
	Entry e[] = { { "m/data.pkl", EMPTY, 0, 0, 0, sizeof EMPTY - 1 }, { "m/code/__torch__.py", code, 0, 0, 0, 0 } };
	Shape two = shape_of(2, (int64_t[]){ 2, 6 });
	ShapeArg shape[] = { { "x", two }, { "m", two } }, parts[] = { { "l.0", two }, { "l.1", two } };
	Arena *a = arena_new();
	Err err = { 0 };
	for (int n = 1; n <= 2; n++) {
		Dag *d =
			frontend_load_bytes(a, "m.pt", make_archive(a, e, 2), &(ModelArgs){ .shape = shape, .nshape = n }, &err);
		ck_assert_msg(d != NULL, "%s", err.text);
		ck_assert(strstr(dag_str(a, d), n == 2 ? "mul(x, m)" : "neg(x)") != NULL);
	}
	e[1].data = list;
	for (int n = 0; n <= 2; n++) {
		Dag *d =
			frontend_load_bytes(a, "m.pt", make_archive(a, e, 2), &(ModelArgs){ .shape = parts, .nshape = n }, &err);
		ck_assert_msg((d != NULL) == (n > 0), "%s", err.text);
		if (n == 0)
			ck_assert_msg(strstr(err.text, "give a shape for each of its elements, 'l.0' on") != NULL, "%s", err.text);
		else
			ck_assert_msg(
				strstr(dag_str(a, d), n == 2 ? "concat(l.0, l.1)" : "identity(l.0)") != NULL, "%s", dag_str(a, d));
		err = (Err){ 0 };
	}
	arena_free(a);
}
END_TEST

/* ---- loops without an end, with and without new values */

START_TEST(endless_loops_are_refused)
{
	static const char *const loops[][2] = {
		{ FORWARD("    n = 0\n    while torch.lt(n, 5):\n      n = torch.add(n, 0)\n    return x\n"),
			"__torch__:5: its loop ran 16384 times without a new value" },
		{ FORWARD("    y = x\n    while True:\n      y = torch.neg(y)\n    return y\n"),
			"the program calls more than 131072 operators" },
	};
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(load_script(a, EMPTY, sizeof EMPTY - 1, loops[_i][0], &err) == NULL);
	ck_assert_msg(strstr(err.text, loops[_i][1]) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- graphs of exported programs */

#define HIGHER(target, inputs) \
	"{\"target\":\"torch.ops.higher_order." target "\",\"inputs\":[" inputs "],\"outputs\":[{\"as_tensors\":[" \
	"{\"name\":\"y\"}]}]}"
#define GRAPH(name, op) \
	ARG("", "{\"as_graph\":{\"name\":\"" name "\",\"graph\":{\"inputs\":[" TENSOR("x") "],\"outputs\":[" TENSOR( \
				"y") "]," \
					 "\"nodes\":[" NODE(op ".default", ARG("self", TENSOR("x"))) "]}}}")
#define XS ARG("", "{\"as_tensors\":[{\"name\":\"x\"}]}")
/* p is a condition on data. */
#define COND(pred, graphs) \
	"{\"target\":\"torch.ops.aten.any.default\",\"inputs\":[" ARG("self", TENSOR("x")) "],\"outputs\":[" TENSOR( \
		"p") "]}," HIGHER("cond", ARG("", pred) "," graphs "," XS)

static const struct {
	const char *json, *want, *why; /* one of both */
} programs[] = {
	/* a choice by data, and one that is known; a graph that is run once */
	{ PROGRAM(COND(TENSOR("p"), GRAPH("a", "neg") "," GRAPH("b", "relu")), "y"), "= where(p", NULL },
	{ PROGRAM(COND("{\"as_bool\":false}", GRAPH("a", "neg") "," GRAPH("b", "relu")), "y"), "relu(x)", NULL },
	{ PROGRAM(COND(TENSOR("p"), GRAPH("a", "neg") "," GRAPH("b", "t")), "y"), NULL,
		"its graphs give different results: it is f32[2x6]" },
	{ PROGRAM(COND(TENSOR("p"), GRAPH("a", "neg") "," GRAPH("b", "foo")), "y"), NULL,
		"1 operator of this model is not supported" },
	{ PROGRAM(HIGHER("wrap_with_set_grad_enabled",
				  ARG("", "{\"as_bool\":false}") "," GRAPH("a", "neg") "," ARG("", TENSOR("x"))),
		  "y"),
		"neg(x)", NULL },
	{ PROGRAM(HIGHER("map_impl", GRAPH("a", "neg") "," XS "," ARG("", "{\"as_ints\":[]}")), "y"), "concat(", NULL },
	{ PROGRAM(HIGHER("map_impl", GRAPH("a", "neg") "," XS "," XS), "y"), NULL, "has 1 inputs, but is given 2" },
	{ PROGRAM("{\"target\":\"torch.ops.aten.new_zeros.default\",\"inputs\":[" ARG("self", TENSOR("x")) ","
			  ARG("size", "{\"as_ints\":[1099511627776,0]}") "],\"outputs\":[" TENSOR("z") "]},"
			  HIGHER("map_impl", GRAPH("a", "neg") "," ARG("", "{\"as_tensors\":[{\"name\":\"z\"}]}")), "y"),
		NULL, "its argument xs has 1099511627776 parts" },
	/* numbers that a program makes are no iterations */
	{ PROGRAM("{\"target\":\"torch.ops.aten.arange.default\",\"inputs\":[" ARG("end", "{\"as_int\":20000}")
			  "],\"outputs\":[" TENSOR("z") "]}," HIGHER("map_impl", GRAPH("a", "neg") "," XS), "y"),
		"concat(", NULL },
};

START_TEST(graphs_are_run)
{
	check_program(programs[_i].json, programs[_i].want, programs[_i].why);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pytorch_control");
	tcase_add_loop_test(tc, both_sides_are_computed, 0, LEN(sides));
	tcase_add_loop_test(tc, one_of_two_lists_is_not_changed, 0, LEN(apart));
	tcase_add_test(tc, optional_inputs_are_asked_for);
	tcase_add_loop_test(tc, endless_loops_are_refused, 0, 2);
	tcase_add_loop_test(tc, graphs_are_run, 0, LEN(programs));
	return run_suite("pytorch_control", tc);
}
