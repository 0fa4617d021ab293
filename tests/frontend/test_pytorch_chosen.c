/* PyTorch: torchvision::nms, whose number of results depends on data, and what may be done with them. */
#include "evaluate.h"
#include "pytorch_text.h"
#include "suite.h"

/* Four boxes of 2 x 2 at 0, 0.5, 10 and 10 along both axes; x[k,4:] is the score of a box and a number. */
static const float boxes[] = { 0, 0, 2, 2, 0.3f, 1, 0.5f, 0, 2.5f, 2, 0.9f, 2, 10, 10, 12, 12, 0.4f, 3, 10, 10, 12, 12,
	0.2f, 4 };

static Dag *load_boxes(Arena *a, const char *code, Err *err)
{
	Entry e[] = { { "m/data.pkl", EMPTY, 0, 0, 0, sizeof EMPTY - 1 }, { "m/code/__torch__.py", code, 0, 0, 0, 0 } };
	ShapeArg shape = { "x", shape_of(2, (int64_t[]){ 4, 6 }) };
	return frontend_load_bytes(a, "m.pt", make_archive(a, e, 2), &(ModelArgs){ .shape = &shape, .nshape = 1 }, err);
}

#define NMS(limit) \
	FORWARD("    b = torch.slice(x, 1, 0, 4)\n    s = torch.select(x, 1, 4)\n    f = torch.select(x, 1, 5)\n" \
			"    k = ops.torchvision.nms(b, s, " limit ")\n" MORE)

#define MORE "    return k\n"
static const char places[] = NMS("0.5"), near[] = NMS("0.9");
#undef MORE
#define MORE "    return torch.index(f, [k])\n"
static const char numbers[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.index(f, [torch.slice(k, 0, 0, 1)])\n"
static const char first[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.index(f, [torch.slice(k, 0, 1, 3)])\n"
static const char second[] = NMS("0.5");
#undef MORE
#define MORE \
	"    c = torch.index(b, [k, None])\n    w = torch.sub(torch.select(c, 1, 2), torch.select(c, 1, 0))\n" \
	"    return torch.add(torch.mul(w, 3), torch.index_select(f, 0, k))\n"
static const char widths[] = NMS("0.5");
#undef MORE
#define MORE \
	"    c = torch.index(b, [k])\n    t = torch.index(s, [k])\n" \
	"    return torch.index(torch.index(f, [k]), [ops.torchvision.nms(c, t, 0.1)])\n"
static const char twice[] = NMS("0.9");
#undef MORE
#define MORE \
	"    c = torch.cat([torch.unsqueeze(torch.index(f, [k]), 1), torch.index(x, [k])], 1)\n" \
	"    return torch.select(c, -1, 0)\n"
static const char joined[] = NMS("0.5");
#undef MORE
#define MORE \
	"    n = torch.size(k, 0)\n    _0 = torch._assert_scalar(torch.ge(n, 0), \"\")\n    return torch.index(f, [k])\n"
static const char asserted[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.sum(torch.index(f, [k]))\n"
static const char summed[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.add(torch.index(f, [k]), s)\n"
static const char others[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.cat([k, k], 0)\n"
static const char behind[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.select(k, 0, 0)\n"
static const char taken[] = NMS("0.5");
#undef MORE
#define MORE "    if torch.gt(torch.numel(k), 2):\n      f = torch.neg(f)\n    return f\n"
static const char branched[] = NMS("0.5");
#undef MORE
#define MORE "    if torch.gt(torch.sum(x), 2):\n      y = k\n    else:\n      y = torch.arange(4)\n    return y\n"
static const char either[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.permute(torch.index(x, [k]), [1, 0])\n"
static const char turned[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.slice(k, 0, 0, -1)\n"
static const char unlast[] = NMS("0.5");
#undef MORE
#define MORE "    return torch.zeros([torch.numel(k)])\n"
static const char sized[] = NMS("0.5");

static const struct {
	const char *code;
	double want[4];
	int64_t count;
	const char *why;
} cases[] = {
	{ places, { 1, 2 }, 2, NULL },
	/* equal boxes hide each other, those that share less than the limit do not */
	{ near, { 1, 2, 0 }, 3, NULL },
	{ numbers, { 2, 3 }, 2, NULL },
	{ first, { 2 }, 1, NULL },
	{ second, { 3 }, 1, NULL },
	{ widths, { 8, 9 }, 2, NULL },
	{ twice, { 2, 3 }, 2, NULL },
	{ joined, { 2, 3 }, 2, NULL },
	{ asserted, { 0 }, 0, "how many rows torchvision::nms chooses depends on data" },
	{ summed, { 0 }, 0, "it reads a tensor whose number of rows depends on data" },
	{ others, { 0 }, 0, "it reads a tensor whose number of rows depends on data" },
	{ behind, { 0 }, 0, "it reads a tensor whose number of rows depends on data" },
	{ taken, { 0 }, 0, "it reads a tensor whose number of rows depends on data" },
	{ branched, { 0 }, 0, "how many rows torchvision::nms chooses depends on data" },
	{ either, { 0 }, 0, "a tensor of one number of rows" },
	{ turned, { 0 }, 0, "it reads a tensor whose number of rows depends on data" },
	{ unlast, { 0 }, 0, "it reads a tensor whose number of rows depends on data" },
	{ sized, { 0 }, 0, "how many rows torchvision::nms chooses depends on data" },
	{ FORWARD("    return ops.torchvision.nms(x, torch.select(x, 1, 0), 0.5)\n"), { 0 }, 0,
		"are not rows of 4 numbers" },
};

/* Rows that there are, zeros behind them, and their number. */
START_TEST(rows_are_chosen)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_boxes(a, cases[_i].code, &err);
	ck_assert_msg(
		(d == NULL) == (cases[_i].why != NULL), "%s\n%s: %s\n%s", cases[_i].code, err.place, err.text, err.items);
	ck_assert_msg(d != NULL || strstr(err.text, cases[_i].why) != NULL, "%s\nrefused: %s", cases[_i].code, err.text);
	void **out = d != NULL ? evaluate(a, d, (const void *const[]){ boxes }, &err) : NULL;
	ck_assert_msg(d == NULL || out != NULL, "%s", err.text);
	if (d != NULL) {
		const Value *y = &d->value.at[d->output.at[0]], *n = &d->value.at[d->output.at[1]];
		ck_assert_int_eq(d->output.n, 2);
		ck_assert_str_eq(y->name, "output");
		ck_assert_str_eq(n->name, "output.count");
		ck_assert_msg(*(int64_t *)out[1] == cases[_i].count, "%s\n%s", cases[_i].code, dag_str(a, d));
		for (int64_t k = 0; k < shape_elements(y->shape); k++) {
			double is = dtype_is_float(y->type) ? (double)((float *)out[0])[k] : (double)((int64_t *)out[0])[k];
			ck_assert_msg(is == cases[_i].want[k], "%s\nelement %d is %g", cases[_i].code, (int)k, is);
		}
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("pytorch_chosen");
	tcase_add_loop_test(tc, rows_are_chosen, 0, LEN(cases));
	return run_suite("pytorch_chosen", tc);
}
