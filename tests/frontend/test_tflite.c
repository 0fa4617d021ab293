/*
 * TensorFlow Lite: operators and codes against the same in ONNX, files of hostile offsets and sizes, what is refused
 * with which sentence, damaged files.
 */
#include "beside_onnx.h"
#include "frontend/tflite/flex.h"
#include "frontend/tflite/model.h"
#include "tflite_text.h"

#include "tflite_become.inc"
#include "tflite_refused.inc"

static Dag *load_lite(Arena *a, const char *lines, Err *err)
{
	return frontend_load_bytes(a, "m.tflite", lite_model(a, lines), NULL, err);
}

START_TEST(models_are_as_in_onnx)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_lite(a, arena_printf(a, "%s\nout y", become[_i].lite), &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", become[_i].lite, err.place, err.text, err.items);
	compare_with_onnx(a, d, arena_printf(a, "opset 20\n%sout y\n", become[_i].onnx), (uint64_t)_i);
	arena_free(a);
}
END_TEST

static void check_sentence(const char *what, const Dag *d, const Err *err, const char *want)
{
	char all[3200];
	ck_assert_msg(d == NULL, "%s is taken", what);
	err_format(err, all, sizeof all);
	ck_assert_msg(strstr(all, want) != NULL, "%s\nsays: %slacks: %s", what, all, want);
	ck_assert_int_eq(err_exit_code(err->code), 1);
}

START_TEST(models_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_lite(a, arena_printf(a, "%s\nout y", refused[_i].lite), &err);
	check_sentence(refused[_i].lite, d, &err, refused[_i].want);
	arena_free(a);
}
END_TEST

/* Names are kept, or made where a file has none or the same twice, also where it lists a result again. */
START_TEST(names_of_tensors)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b = lite_model(a, "in aa f32 2\nin bb f32 2\nADD aa,bb -> cc\nout cc");
	for (size_t k = 0; k + 2 < b.n; k++)
		if (memcmp(b.at + k, "bb\0", 3) == 0)
			memcpy((unsigned char *)(uintptr_t)b.at + k, "aa", 2);
	Dag *d = frontend_load_bytes(a, "m.tflite", b, NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_str_eq(d->value.at[d->input.at[0]].name, "aa");
	ck_assert_str_eq(d->value.at[d->input.at[1]].name, "aa_1");
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "cc");
	d = load_lite(a, "in x f32 2\nNEG x -> y\nABS x -> y_1\nout y\nout y_1\nout y\nout y", &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	static const char *const results[] = { "y", "y_1", "y_2", "y_3" };
	ck_assert_int_eq((int)d->output.n, LEN(results));
	for (size_t k = 0; k < d->output.n; k++)
		ck_assert_str_eq(d->value.at[d->output.at[k]].name, results[k]);
	arena_free(a);
}
END_TEST

/* ---- files that lie */

/* The k-th place where four bytes are `v`. */
static size_t find_number(Bytes b, uint32_t v, int k)
{
	for (size_t at = 8; at + 4 <= b.n; at += 4)
		if (b.at[at] == (v & 255) && b.at[at + 1] == (v >> 8 & 255) && b.at[at + 2] == 0 && b.at[at + 3] == 0 &&
			k-- == 0)
			return at;
	ck_abort_msg("there is no %u", v);
	return 0;
}

START_TEST(files_that_lie)
{
	static const unsigned char big[] = { 0xff, 0xff, 0xff, 0x7f }, minus[] = { 0xfe, 0xff, 0xff, 0xff }, none[4];
	Arena *a = arena_new();
	const char *lines = "in x f32 77,3\nconst w f32 3 = 1 2 3\nADD x,w -> y\nout y";
	Bytes whole = lite_model(a, lines);
	const struct {
		size_t at;
		const unsigned char *bytes;
		const char *want;
	} rows[] = {
		{ 0, big, "an offset points outside of the file" },
		{ 0, none, "an offset points outside of the file" },
		{ 0, (const unsigned char[]){ 9, 0, 0, 0 }, "table" },
		{ find_number(whole, 77, 0), minus, "has a dimension of -2" },
		{ find_number(whole, 77, 0), big, NULL }, /* an input may be large */
		{ find_number(whole, 77, 0) - 4, big, "a vector is longer than the file" },
	};
	for (int k = 0; k < LEN(rows); k++) {
		Err err = { 0 };
		unsigned char *bytes = arena_copy(a, whole.at, whole.n);
		memcpy(bytes + rows[k].at, rows[k].bytes, 4);
		Dag *d = frontend_load_bytes(a, "m.tflite", (Bytes){ bytes, whole.n }, NULL, &err);
		if (rows[k].want == NULL)
			ck_assert_msg(d != NULL, "change %d: %s", k, err.text);
		else
			check_sentence(arena_printf(a, "change %d", k), d, &err, rows[k].want);
	}
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "m.tflite", (Bytes){ whole.at, 8 }, NULL, &err);
	check_sentence("a head alone", d, &err, "damaged at byte");
	arena_free(a);
}
END_TEST

/* Many entries of one vector point at one table, which would be read as often: more than the file holds. */
START_TEST(tables_that_overlap)
{
	Arena *a = arena_new();
	Err err = { 0 };
	enum { MANY = 4000 };
	Lite l = { .arena = a };
	lite_put(&l, "\0\0\0\0TFL3", 8);
	size_t root = lite_table(&l, 0, 5);
	lite_set(&l, 0, root, 4);
	lite_number(&l, root, 0, 3, 4);
	size_t graphs = lite_vector(&l, lite_field(&l, root, 2), 1, 4), g = lite_table(&l, graphs, 5);
	size_t tensors = lite_vector(&l, lite_field(&l, g, 0), MANY, 4), at = lite_table(&l, tensors, 8);
	lite_vector(&l, lite_field(&l, at, 0), 8, 4);
	size_t name = lite_vector(&l, lite_field(&l, at, 3), MANY, 1);
	memset(l.out.at + name, 'n', MANY);
	for (size_t k = 1; k < MANY; k++)
		lite_set(&l, tensors + 4 * k, at - (tensors + 4 * k), 4);
	Dag *d = frontend_load_bytes(a, "m.tflite", (Bytes){ l.out.at, l.out.n }, NULL, &err);
	check_sentence("overlapping tensors", d, &err, "its tables overlap");
	arena_free(a);
}
END_TEST

/* Tensors may share one buffer; copies of it, which booleans need, may not add up to more than the file. */
START_TEST(tensors_that_share_data)
{
	Arena *a = arena_new();
	Text shared = { .arena = a }, copied = { .arena = a };
	Err err = { 0 };
	text_add(&shared, "in x f32 3000\nconst w f32 3000 = 0.5\n");
	text_add(&copied, "const w bool 3000 = 1\nin x bool 3000\n");
	for (int k = 0; k < 20; k++) {
		text_add(&shared, "value u%d f32 3000 same=w\nADD x,u%d -> y%d\nout y%d\n", k, k, k, k);
		text_add(&copied, "value u%d bool 3000 same=w\nLOGICAL_OR x,u%d -> y%d\nout y%d\n", k, k, k, k);
	}
	Dag *d = load_lite(a, text_str(&shared), &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	d = load_lite(a, text_str(&copied), &err);
	check_sentence("copies", d, &err, "give each tensor its own");
	arena_free(a);
}
END_TEST

/* n subgraphs behind the first one are one table; it has m tensors, which are one table called x. */
static Bytes shared_subgraphs(Arena *a, size_t n, size_t m)
{
	Lite l = { .arena = a };
	lite_put(&l, "\0\0\0\0TFL3", 8);
	size_t root = lite_table(&l, 0, 5);
	lite_set(&l, 0, root, 4);
	lite_number(&l, root, 0, 3, 4);
	lite_number(&l, lite_table(&l, lite_vector(&l, lite_field(&l, root, 1), 1, 4), 4), 3, lite_code("WHILE"), 4);
	size_t graphs = lite_vector(&l, lite_field(&l, root, 2), n + 1, 4), first = lite_table(&l, graphs, 5);
	size_t ops = lite_vector(&l, lite_field(&l, first, 3), n, 4);
	for (size_t k = 0; k < n; k++) {
		size_t op = lite_table(&l, ops + 4 * k, 5), options = lite_table(&l, lite_field(&l, op, 4), 2);
		lite_number(&l, options, 0, (int64_t)k + 1, 4);
		lite_number(&l, options, 1, (int64_t)k + 1, 4);
	}
	size_t inner = lite_table(&l, graphs + 4, 5);
	for (size_t k = 2; k <= n; k++)
		lite_set(&l, graphs + 4 * k, inner - (graphs + 4 * k), 4);
	size_t tensors = lite_vector(&l, lite_field(&l, inner, 0), m, 4), t = lite_table(&l, tensors, 8);
	for (size_t k = 1; k < m; k++)
		lite_set(&l, tensors + 4 * k, t - (tensors + 4 * k), 4);
	lite_text(&l, lite_field(&l, t, 3), "x");
	return (Bytes){ l.out.at, l.out.n };
}

/* Operators with one result, listed 48 times, of codes and with a long name. */
static Bytes repeated_results(Arena *a)
{
	Text all = { .arena = a };
	char name[4001];
	memset(name, 'y', 4000);
	name[4000] = 0;
	text_add(&all, "in x f32 3\nvalue %s i8 3 scale=0.5\n", name);
	for (int k = 0; k < 40; k++) {
		text_add(&all, "EXP x -> %s", name);
		for (int i = 1; i < 48; i++)
			text_add(&all, ",%s", name);
		text_add(&all, "\n");
	}
	return lite_model(a, text_str(&all));
}

/* What is read from a small file stays small, also where its tables are shared. */
START_TEST(memory_is_bounded)
{
	Arena *tmp = arena_new(), *a = arena_new();
	Err err = { 0 };
	TfliteFile f = { 0 };
	Bytes b = _i == 0   ? shared_subgraphs(tmp, 100, 5000)
	          : _i == 1 ? shared_subgraphs(tmp, 600, 4)
	                    : repeated_results(tmp);
	bool read = tflite_read(a, b, NULL, &f, &err) && tflite_graphs(a, &f, &err);
	ck_assert_int_eq(read, _i > 0);
	ck_assert_msg(arena_used(a) < 200 * b.n, "file %d: %zu bytes become %zu", _i, b.n, arena_used(a));
	arena_free(a);
	arena_free(tmp);
}
END_TEST

/* Subgraphs without nodes bind their weights at each look. */
START_TEST(looks_are_counted)
{
	enum { DEEP = 15 };
	Arena *a = arena_new();
	Text all = { .arena = a };
	Err err = { 0 };
	for (int k = 0; k < DEEP; k++)
		text_add(&all, "graph %d\nin c bool\nin x f32 3\nIF c,c,x -> y then_branch=%d else_branch=%d\nout y\n", k,
			k + 1, k + 1);
	text_add(&all, "graph %d\nin c bool\nin x f32 3\nout x\n", DEEP);
	for (int k = 0; k < 10; k++)
		text_add(&all, "const w%d f32 3 = 1\nout w%d\n", k, k);
	check_sentence("a ladder", load_lite(a, text_str(&all), &err), &err,
		"its subgraphs have more than 262144 nodes, weights, inputs and results");
	arena_free(a);
}
END_TEST

/* ---- damage */

/* Options of custom operators with flipped and cut bytes: some attributes or none. */
START_TEST(damaged_options)
{
	static const char *const option[] = { "a=3", "_hidden=7", "long_name_of_an_option=-0.5", "b=-9", "t=?" };
	Rng r = rng_seed(11);
	Arena *a = arena_new();
	size_t n;
	Bytes b = lite_flex(a, option, LEN(option));
	NodeAttr *at = flex_attrs(a, b, &n);
	ck_assert_uint_eq(n, 4);
	ck_assert(strcmp(at[0].name, "a") == 0 && at[0].kind == NODE_INT && at[0].i == 3);
	ck_assert(strcmp(at[1].name, "long_name_of_an_option") == 0 && at[1].kind == NODE_FLOAT && at[1].f == -0.5);
	ck_assert(at[2].kind == NODE_INT && at[2].i == -9);
	ck_assert(strcmp(at[3].name, "t") == 0 && at[3].kind == NODE_OTHER);
	for (int k = 0; k < 20000; k++) {
		Arena *tmp = arena_new();
		unsigned char *bytes = arena_copy(tmp, b.at, b.n);
		for (uint64_t i = rng_below(&r, 6); i > 0; i--)
			bytes[rng_below(&r, b.n)] ^= (unsigned char)(1 << rng_below(&r, 8));
		flex_attrs(tmp, (Bytes){ bytes, rng_below(&r, 2) == 0 ? b.n : rng_below(&r, b.n) }, &n);
		ck_assert_uint_le(n, 64);
		arena_free(tmp);
	}
	arena_free(a);
}
END_TEST

static const char whole[] =
	"in x i8 1,6,6,8 scale=0.05 zero=-3\n"
	"const w i8 8,3,3,8 scale=0.01,0.02,0.01,0.02,0.01,0.02,0.01,0.02 zero=0,0,0,0,0,0,0,0 = 3 -2 1 7\n"
	"const b i32 8 = 1 2 3\n"
	"value c i8 1,6,6,8 scale=0.1 zero=-128\n"
	"value p i8 1,3,3,8 scale=0.1 zero=-128\n"
	"value s i8 1,3,3,8 scale=0.2 zero=5\n"
	"const a i32 2 = 1 2\n"
	"CONV_2D x,w,b -> c stride_w=1 stride_h=1 activation=1 dilation_w=1\n"
	"MAX_POOL_2D c -> p padding=1 stride_w=2 stride_h=2 filter_w=2 filter_h=2\n"
	"ADD p,p -> s\n"
	"DEQUANTIZE s -> f\n"
	"MEAN f,a -> m keep_dims=1\n"
	"RESHAPE m -> r new_shape=2,-1\n"
	"SOFTMAX r -> t beta=1.0\n"
	"const i i32 = 0\n"
	"WHILE i,t -> j,y cond=1 body=2\n"
	"out y\n"
	"graph 1\nin i i32\nin t f32 2,4\nconst n i32 = 2\nLESS i,n -> go\nout go\n"
	"graph 2\nin i i32\nin t f32 2,4\nconst n i32 = 1\nADD i,n -> j\nADD t,t -> y\nout j\nout y";

static bool load_damaged(Arena *a, Bytes b)
{
	Err err = { 0 };
	Dag *d = frontend_load_bytes(a, "m.tflite", b, NULL, &err);
	ck_assert((d == NULL) == (err.code != ERR_NONE));
	ck_assert(d == NULL || dag_check(d, &err));
	return d != NULL;
}

START_TEST(damaged_models)
{
	Rng r = rng_seed(10);
	Arena *a = arena_new();
	int good = 0;
	Bytes b = lite_model(a, whole);
	ck_assert(load_damaged(a, b));
	for (int k = 0; k < 3000; k++) {
		Arena *tmp = arena_new();
		unsigned char *bytes = arena_copy(tmp, b.at, b.n);
		size_t n = rng_below(&r, 4) == 0 ? 8 + rng_below(&r, b.n - 8) : b.n;
		for (uint64_t i = rng_below(&r, 6); i > 0; i--)
			bytes[8 + rng_below(&r, n > 8 ? n - 8 : 1)] ^= (unsigned char)(1 << rng_below(&r, 8));
		good += load_damaged(tmp, (Bytes){ bytes, n });
		arena_free(tmp);
	}
	ck_assert_int_gt(good, 100);
	ck_assert_int_lt(good, 2900);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("tflite");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, models_are_as_in_onnx, 0, LEN(become));
	tcase_add_loop_test(tc, models_are_refused, 0, LEN(refused));
	tcase_add_test(tc, names_of_tensors);
	tcase_add_test(tc, files_that_lie);
	tcase_add_test(tc, tables_that_overlap);
	tcase_add_test(tc, tensors_that_share_data);
	tcase_add_loop_test(tc, memory_is_bounded, 0, 3);
	tcase_add_test(tc, looks_are_counted);
	tcase_add_test(tc, damaged_options);
	tcase_add_test(tc, damaged_models);
	return run_suite("tflite", tc);
}
