/* Dag: its written form, the normal form of calls, and the shape rules of every operator. */
#include "base/rng.h"
#include "op/element.h"
#include "op/layout.h"
#include "op/op.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Dag *parse(Arena *a, const char *text, Err *err)
{
	return dag_parse(a, "t.dag", text, strlen(text), err);
}

/* One call under the shape rules: what is declared, the call, and the result's line or the error. */
static const struct {
	const char *in, *call, *gives;
} rules[] = {
#include "rules.inc"
#include "rules_gather.inc"
#include "rules_sequence.inc"
};

START_TEST(shape_rules)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *text = arena_printf(a, "dag\n%s%s\nout y\n", rules[_i].in, rules[_i].call);
	Dag *d = parse(a, text, &err);
	if (d == NULL) {
		ck_assert_str_eq(err.text, rules[_i].gives);
		ck_assert_int_eq(strncmp(err.place, "t.dag:", 6), 0);
		ck_assert_int_eq(err_exit_code(err.code), 1);
	} else {
		const char *line = strstr(dag_str(d->arena, d), "y: "), *end = strchr(line, '\n');
		ck_assert_str_eq(arena_printf(a, "%.*s", (int)(end - line), line), rules[_i].gives);
	}
	arena_free(a);
}
END_TEST

static const char *const same[] = {
	"dag\nout\n",
	"dag resnet18\nin x: f32[]\nout x\n",
	"dag \"a b\"\nin \"in\": f32[2]\nin \"_\": f32[2]\ny: f32[2] = add(\"in\", \"_\")\nout y, "
	"y\n",
	"dag\nin \"/a \\\"q\\\\ \\x0a\": u8[0,3]\nout \"/a \\\"q\\\\ \\x0a\"\n",
	"dag\nin x: f32[1,4,4,4]:NCHW4c\ny: f32[1,4,4,4]:NHWC = relu(x)\nout y\n",
	"dag\nconst c: f32[2] = {1.5, -inf}\nconst h: f16[3] = {nan, 65504, 5.9604645e-08}\n"
	"const b: bool[2] = {1, 0}\nconst u: u64[1] = {18446744073709551615}\n"
	"const i: i64[1] = {-9223372036854775808}\nconst n: i4[3] = {-8, 7, -1}\n"
	"const g: bf16[1] = {3.140625}\nconst s: f64[] = {0.1}\nconst big: f32[17]\nout c\n",
	"dag\nin x: f32[1,3,8,8]\nconst w: f32[8,3,3,3]\nconst b: f32[8]\n"
	"const b1: f32[]\ny: f32[1,8,4,4] = conv(x, w, b) pads=[1,1,1,1] strides=[2,2]\n"
	"z: f32[1,8,4,4] = clip(y, _, b1) lo=0.5\nout z\n",
};

START_TEST(text_reads_back)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *text = same[_i];
	Dag *d = parse(a, text, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	ck_assert_str_eq(dag_str(d->arena, d), text);
	arena_free(a);
}
END_TEST

START_TEST(a_copy_is_another_dag)
{
	Arena *a = arena_new(), *own = arena_new();
	Err err = { 0 };
	const char *text = same[_i];
	Dag *d = parse(a, text, &err), *c = dag_copy(own, d);
	ck_assert_str_eq(dag_str(a, c), text);
	ck_assert(dag_check(c, &err));
	for (size_t i = 0; i < c->value.n; i++) {
		ck_assert_int_eq(dag_find_value(c, c->value.at[i].name), (int)i);
		dag_rename(c, (int)i, "new");
		c->value.at[i].layout = "NHWC";
	}
	for (size_t i = 0; i < c->call.n; i++) {
		c->call.at[i].in[0] = c->call.at[i].out[0] = DAG_NONE;
		for (int k = 0; k < c->call.at[i].nattr; k++)
			c->call.at[i].attr[k].name = "x";
	}
	arena_free(own);
	ck_assert_str_eq(dag_str(a, d), text);
	arena_free(a);
}
END_TEST

static const struct {
	const char *text, *place, *error;
} bad[] = {
	{ "", "t.dag:1", "the text does not begin with \"dag\"" },
	{ "dagger\nout\n", "t.dag:1", "the text does not begin with \"dag\"" },
	{ "dag\n", "t.dag:2", "the text ends without a line \"out\"" },
	{ "dag\nin x f32[1]\nout x\n", "t.dag:2", "expected ':' here" },
	{ "dag\nin x: f33[1]\nout x\n", "t.dag:2", "\"f33\" is not an element type" },
	{ "dag\nin x: f32x4[1]\nout x\n", "t.dag:2", "\"f32x4\" is not an element type" },
	{ "dag\nin x: f32[-1]\nout x\n", "t.dag:2", "a dimension is negative" },
	{ "dag\nin x: f32[1,1,1,1,1,1,1,1,1]\nout x\n", "t.dag:2", "a shape has at most 8 dimensions" },
	{ "dag\nin x: f32[4611686018427387904,4]\nout x\n", "t.dag:2", "the tensor's size overflows" },
	{ "dag\nin x: f32[99999999999999999999]\nout x\n", "t.dag:2", "\"99999999999999999999\" is not a whole number" },
	{ "dag\nin x: f32[1]\nin x: f32[1]\nout x\n", "t.dag:3", "the value x is defined twice" },
	{ "dag\nin x: f32[4]\ny, y = split(x) sizes=[2,2]\nout y\n", "t.dag:3", "the value y is defined twice" },
	{ "dag\nin x: f32[1]\ny = relo(x)\nout y\n", "t.dag:3", "there is no operator relo" },
	{ "dag\nin x: f32[1]\ny = relu(z)\nout y\n", "t.dag:3", "the value z is not defined above" },
	{ "dag\nin x: f32[1]\ny = relu(y)\nout y\n", "t.dag:3", "the value y is not defined above" },
	{ "dag\nin x: f32[1]\ny = relu(x) alpha=1\nout y\n", "t.dag:3", "relu has no attribute alpha" },
	{ "dag\nin x: f32[1]\ny = elu(x) alpha=x\nout y\n", "t.dag:3", "\"x\" is not a number" },
	{ "dag\nin x: f32[1]\ny = elu(x) alpha=1 alpha=2\nout y\n", "t.dag:3", "elu: attribute alpha is given twice" },
	{ "dag\nin x: f32[1]\ny: f32[2] = relu(x)\nout y\n", "t.dag:3",
		"y is f32 of shape 1, but the text says f32 of shape 2" },
	{ "dag\nin x: f32[1]\ny: f16[1] = relu(x)\nout y\n", "t.dag:3",
		"y is f32 of shape 1, but the text says f16 of shape 1" },
	{ "dag\nin x: f32[1]\na, b = relu(x)\nout a\n", "t.dag:3", "relu: gives 1 results, but 2 are named" },
	{ "dag\nin x: f32[1]\ny = relu(x) z\nout y\n", "t.dag:3", "relu has no attribute z" },
	{ "dag\nin x: f32[1]\nout x\nin y: f32[1]\n", "t.dag:4", "text follows the line \"out\"" },
	{ "dag\nin x: f32[1] 5\nout x\n", "t.dag:2", "the line has more text than its statement" },
	{ "dag\nconst c: f32[3] = {1, 2}\nout c\n", "t.dag:2", "the numbers do not fill the shape" },
	{ "dag\nconst c: f32[2] = {1, 2, 3}\nout c\n", "t.dag:2", "there are more numbers than the shape has" },
	{ "dag\nconst c: f32[1000000000000] = {1}\nout c\n", "t.dag:2", "the numbers do not fill the shape" },
	{ "dag\nconst c: u8[1] = {1.5}\nout c\n", "t.dag:2", "\"1.5\" is not a whole number" },
	{ "dag\nin \"x: f32[1]\nout x\n", "t.dag:2", "the quoted name has no end, or is too long" },
	{ "dag\nin \"\\q\": f32[1]\nout x\n", "t.dag:2", "a quoted name may hold \\\", \\\\ and \\xHH only" },
	{ "dag\nin \"\\x00\": f32[1]\nout x\n", "t.dag:2", "a name cannot hold a zero byte" },
	{ "dag\nin \"\": f32[1]\nout x\n", "t.dag:2", "a name is empty" },
	{ "dag\nout x\n", "t.dag:2", "the output x is not defined" },
	{ "dag\nin x: f32[1,2]:NHWC\nout x\n", "t.dag:2", "\"NHWC\" is not a layout of this shape" },
};

START_TEST(bad_text_is_refused_with_its_line)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_ptr_null(parse(a, bad[_i].text, &err));
	ck_assert_str_eq(err.text, bad[_i].error);
	ck_assert_str_eq(err.place, bad[_i].place);
	arena_free(a);
}
END_TEST

START_TEST(names_are_unique)
{
	Arena *a = arena_new();
	Dag *d = dag_new(a, "n");
	int64_t two = 2;
	Shape s = shape_of(1, &two);
	int x = dag_add_input(d, "x", F32, s), x1 = dag_add_input(d, "x", F32, s);
	ck_assert_str_eq(d->value.at[x1].name, "x_1");
	dag_rename(d, x1, "x");
	ck_assert_str_eq(d->value.at[x1].name, "x_2");
	dag_rename(d, x1, "other");
	ck_assert_int_eq(dag_find_value(d, "other"), x1);
	ck_assert_int_eq(dag_find_value(d, "x_2"), DAG_NONE);
	ck_assert_int_eq(dag_find_value(d, "x"), x);
	for (int i = 0; i < 20000; i++) /* linear, or this takes minutes */
		dag_add_const(d, "w", F32, s, NULL);
	ck_assert_str_eq(d->value.at[d->value.n - 1].name, "w_19999");
	ck_assert(dag_check(d, NULL));
	arena_free(a);
}
END_TEST

static const struct {
	const char *layout;
	int64_t dim[5];
	int rank;
	int64_t elements; /* -1: no layout of that shape */
} layouts[] = {
	{ "NCHW", { 1, 6, 2, 3 }, 4, 36 },
	{ "NHWC", { 1, 6, 2, 3 }, 4, 36 },
	{ "NCHW4c", { 1, 6, 2, 3 }, 4, 48 },
	{ "NCHW2c2c", { 1, 6, 2, 3 }, 4, 48 },
	{ "OIHW4i8o", { 5, 6, 2, 3 }, 4, 8 * 8 * 6 },
	{ "NCDHW", { 1, 2, 3, 4, 5 }, 5, 120 },
	{ "NCW16c", { 1, 6, 3 }, 3, 48 },
	{ "NC", { 3, 4 }, 2, 12 },
	{ "", { 0 }, 0, 1 },
	{ "NCHW", { 1, 6, 3 }, 3, -1 },
	{ "NCH", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHH", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHW4", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHW4x", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHW1c", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHW99999999999999999999c", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHW64c64c", { 1, 6, 2, 3 }, 4, -1 },
	{ "NCHW2c2c2c2c2c2c2c2c2c2c", { 1, 6, 2, 3 }, 4, -1 },
	{ "4cNCHW", { 1, 6, 2, 3 }, 4, -1 },
	{ "nchw", { 1, 6, 2, 3 }, 4, -1 },
};

START_TEST(layouts_are_read)
{
	for (int i = 0; i < LEN(layouts); i++) {
		Layout l;
		bool ok = layout_read(layouts[i].layout, shape_of(layouts[i].rank, layouts[i].dim), &l);
		ck_assert_msg(ok == (layouts[i].elements >= 0), "%s", layouts[i].layout);
		if (ok)
			ck_assert_int_eq(layout_elements(&l), layouts[i].elements);
	}
}
END_TEST

/* A pass that goes wrong is found: each line breaks a legal Dag and says what dag_check finds. */
START_TEST(check_finds_what_is_broken)
{
	static const char *const found[] = {
		"relu: reads z before it is written",
		"two values have the name x",
		"relu: y has another type or shape than the operator computes",
		"relu: writes y, which is a value of another call",
		"output 0 of the model does not exist",
		"input 0 of the model is not an input value",
		"relu: reads value 99, which does not exist",
		"relu: writes 2 values instead of 1",
		"the shape of x is not known, overflows, or does not fit its layout",
	};
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = parse(a, "dag\nin x: f32[2]\ny = relu(x)\nz = relu(y)\nout z\n", &err);
	ck_assert(d != NULL && dag_check(d, &err));
	switch (_i) {
	case 0: d->call.at[0].in[0] = 2; break;
	case 1: d->value.at[2].name = "x"; break;
	case 2: d->value.at[1].shape.dim[0] = 3; break;
	case 3: d->call.at[1].out[0] = 1; break;
	case 4: d->output.at[0] = 3; break;
	case 5: d->input.at[0] = 1; break;
	case 6: d->call.at[0].in[0] = 99; break;
	case 7: d->call.at[0].nout = 2; break;
	default: d->value.at[0].shape.dim[0] = -1; break;
	}
	ck_assert(!dag_check(d, &err));
	ck_assert_str_eq(err.text, found[_i]);
	arena_free(a);
}
END_TEST

START_TEST(rows_are_well_formed)
{
	const OpRow *row = op_row(_i);
	int min, max;
	AttrKind kind;
	const char *dflt;
	op_arity(_i, &min, &max);
	ck_assert_int_ge(min, 1);
	ck_assert(max < 0 || max >= min);
	ck_assert_int_eq(op_find(row->name), _i);
	for (const char *s = row->attrs; *s != 0;) {
		size_t n = strcspn(s, " ");
		char name[32];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(s, ":"), s);
		ck_assert(op_find_attr(_i, name, &kind, &dflt));
		if (kind == ATTR_TEXT && dflt != NULL) /* op_text relies on it */
			ck_assert_int_eq(s[n], 0);
		s += n + (s[n] == ' ');
	}
}
END_TEST

/* Lines of docs/dag.md: a row for every operator, and the example, which parses. */
START_TEST(documentation_is_true)
{
	Arena *a = arena_new();
	Text doc = { .arena = a };
	char buf[4096];
	FILE *f = fopen(DOCS "/dag.md", "rb");
	ck_assert_ptr_nonnull(f);
	for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
		text_put(&doc, buf, n);
	fclose(f);
	for (int op = 0; op < OP_COUNT; op++) {
		const OpRow *r = op_row(op);
		const char *q = r->attrs[0] != 0 ? "`" : "";
		const char *row =
			arena_printf(a, "\n| `%s` | `%s` | %s%s%s | %s |\n", r->name, r->inputs, q, r->attrs, q, r->doc);
		ck_assert_msg(strstr(text_str(&doc), row) != NULL, "docs/dag.md lacks the row%s", row);
	}
	char *at = strstr(doc.at, "    dag example\n"), *end = strstr(at, "\n\n");
	const char *line = strstr(at, "    c: ");
	const char *text = arena_printf(a, "%.*sconst limit: f32[]\n%.*s", (int)(line - at), at, (int)(end - line), line);
	Err err = { 0 };
	ck_assert_msg(parse(a, text, &err) != NULL, "%s: %s", err.place, err.text);
	arena_free(a);
}
END_TEST

START_TEST(elements_round_as_ieee_says)
{
	/* Every half and every bfloat reads back; the middle of two neighbours goes to the even one. */
	for (int k = 0; k < 2; k++) {
		DType t = k == 0 ? DT(FLOAT, 16) : DT(BFLOAT, 16);
		for (int i = 0; i < 65535; i++) {
			uint16_t h = (uint16_t)i, up = (uint16_t)(i + 1), back;
			double v = element_get(t, &h, 0), w = element_get(t, &up, 0);
			if (isnan(v))
				continue;
			element_set(t, &back, 0, v);
			ck_assert_uint_eq(back, h);
			if (isfinite(v) && isfinite(w) && signbit(v) == signbit(w)) {
				element_set(t, &back, 0, (v + w) / 2);
				ck_assert_uint_eq(back, h % 2 == 0 ? h : up);
				element_set(t, &back, 0, nextafter((v + w) / 2, w));
				ck_assert_uint_eq(back, up);
			}
		}
	}
	const struct {
		DType t;
		double v, is;
	} ints[] = {
		{ DT(INT, 8), 300, 127 },
		{ DT(INT, 8), -300, -128 },
		{ DT(UINT, 8), -1, 0 },
		{ DT(UINT, 8), 256, 255 },
		{ DT(INT, 4), 9, 7 },
		{ DT(INT, 32), -1.9, -1 },
		{ DT(INT, 64), 1e30, 9223372036854775807.0 },
		{ DT(UINT, 64), 1e30, 18446744073709551615.0 },
		{ DT(INT, 32), NAN, 0 },
		{ DT(BOOL, 8), 0.5, 1 },
		{ DT(UINT, 64), 0x1p63, 0x1p63 },
	};
	for (int i = 0; i < LEN(ints); i++) {
		uint64_t bytes = 0;
		element_set(ints[i].t, &bytes, 0, ints[i].v);
		ck_assert(element_get(ints[i].t, &bytes, 0) == ints[i].is);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("dag");
	tcase_add_loop_test(tc, shape_rules, 0, LEN(rules));
	tcase_add_loop_test(tc, text_reads_back, 0, LEN(same));
	tcase_add_loop_test(tc, a_copy_is_another_dag, 0, LEN(same));
	tcase_add_loop_test(tc, bad_text_is_refused_with_its_line, 0, LEN(bad));
	tcase_add_test(tc, layouts_are_read);
	tcase_add_test(tc, names_are_unique);
	tcase_add_loop_test(tc, check_finds_what_is_broken, 0, 9);
	tcase_add_loop_test(tc, rows_are_well_formed, 0, OP_COUNT);
	tcase_add_test(tc, documentation_is_true);
	tcase_add_test(tc, elements_round_as_ieee_says);
	return run_suite("dag", tc);
}
