/*
 * The importer by small models written as text (model_text.h): what the Dag must be, what must be
 * refused with which sentence, what a given shape, batch or constant does, and damaged files.
 */
#include "base/rng.h"
#include "folder.h"

#include "onnx_become.inc"
#include "onnx_refused.inc"

START_TEST(models_become_dags)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, become[_i].model, NULL, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", become[_i].model, err.place, err.text, err.items);
	const char *text = dag_str(a, d);
	for (int k = 0; k < LEN(become[_i].want) && become[_i].want[k] != NULL; k++)
		ck_assert_msg(strstr(text, become[_i].want[k]) != NULL, "%s\nlacks \"%s\":\n%s", become[_i].model,
			become[_i].want[k], text);
	ck_assert_msg(become[_i].lacks == NULL || strstr(text, become[_i].lacks) == NULL, "%s\nhas \"%s\":\n%s",
		become[_i].model, become[_i].lacks, text);
	arena_free(a);
}
END_TEST

/* field: the place of the refusal is what should be given; NULL: it is the model. */
static void refuse(const char *model, const char *field, const char *want)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load_text(a, model, NULL, &err);
	ck_assert_msg(d == NULL, "%s\nis taken:\n%s", model, d != NULL ? dag_str(a, d) : "");
	char all[sizeof err.text + sizeof err.items + 300];
	err_format(&err, all, sizeof all);
	ck_assert_msg(strstr(all, want) != NULL, "%s\nsays: %slacks: %s", model, all, want);
	ck_assert_str_eq(err.place, field != NULL ? field : in_folder(a, "m.onnx"));
	ck_assert_int_eq(err_exit_code(err.code), 1);
	arena_free(a);
}

START_TEST(models_are_refused)
{
	refuse(refused[_i].model, NULL, refused[_i].want);
}
END_TEST

static const struct {
	const char *model, *field, *want;
} incomplete[] = {
	{ "opset 13\nin x f32 2,3,H,4\nnode Relu x -> y\nout y\n", "shape",
		"dimension 3 of input 'x' is not known: give numbers for the names in x=2,3,H,4" },
	{ "opset 18\nin s opt.seq.f32 2\nnode SequenceLength s -> y\nout y\n", "shape",
		"input 's' of node 'y' (SequenceLength) is a sequence: give the shape of each element, as in s.0=1,3 and "
		"s.1=1,3" },
	{ "opset 13\nin x f32 2,3\nin s i64 1\nnode Reshape x,s -> y\nout y\n", NULL,
		"its input 's' must be known when the model is compiled: bind 's' to a constant if it is the same in each run, "
		"else end the model before this node" },
	{ "opset 13\nin x f32 1,2\nin k i64 2\nnode Expand x,k -> y\nout y\n", NULL,
		"its input 'k' must be known when the model is compiled: bind 'k' to a constant" },
	{ "opset 13\nin x f32 1,2\nin k i64 2\nnode Neg k -> m\nnode Expand x,m -> y\nout y\n", NULL,
		"its input 'm' must be known when the model is compiled, but depends on 'k': bind 'k' to a constant" },
};

START_TEST(incomplete_models_name_the_field)
{
	refuse(incomplete[_i].model, incomplete[_i].field, incomplete[_i].want);
}
END_TEST

/* ---- what is given: shapes, a batch, constants */

static const char symbolic[] = "opset 13\nin x f32 N,3\nin z f32 N,L\nin w f32 L,3\nnode MatMul "
							   "z,w -> a\nnode Add x,a -> y\nout y\n";

static char noted[4][256];
static int nnoted;

static void keep_note(const char *sentence, void *arg)
{
	(void)arg;
	if (nnoted < 4)
		snprintf(noted[nnoted++], sizeof noted[0], "%s", sentence);
}

START_TEST(symbols_get_numbers)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shapes[] = { { "w", { 2, { 7, 3 } } } };
	ModelArgs args = { .shape = shapes, .nshape = 1, .note = keep_note };
	nnoted = 0;
	Dag *d = load_text(a, symbolic, &args, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(dag_str(a, d), "in z: f32[1,7]") != NULL);
	ck_assert_int_eq(nnoted, 1);
	ck_assert_str_eq(noted[0], "the symbolic batch 'N' of input 'x' is taken as 1");
	args.batch = 5;
	d = load_text(a, "opset 13\nin x f32 N,3\nnode Relu x -> y\nout y\n", &(ModelArgs){ .batch = 5 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(dag_str(a, d), "y: f32[5,3] = relu(x)") != NULL);
	arena_free(a);
}
END_TEST

/* --seq sets the one symbol behind the batch that has no number. */
START_TEST(sequences_get_numbers)
{
	static const struct {
		const char *model, *field, *want; /* field NULL: `want` is in the Dag */
	} rows[] = {
		{ "opset 13\nin x f32 N,S,3\nin m f32 N,S,1\nnode Mul x,m -> y\nout y\n", NULL, "y: f32[1,9,3] = mul(x, m)" },
		{ "opset 13\nin x f32 N,S,3\nin m f32 N,T,1\nnode Mul x,m -> y\nout y\n", "shape",
			"dimension 2 of input 'm' is not known: give numbers for the names in m=1,T,1" },
		{ "opset 13\nin x f32 N,3\nnode Relu x -> y\nout y\n", "seq",
			"no input has an open dimension behind its batch that could be the sequence" },
	};
	for (int k = 0; k < LEN(rows); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Dag *d = load_text(a, rows[k].model, &(ModelArgs){ .seq = 9 }, &err);
		ck_assert((d != NULL) == (rows[k].field == NULL));
		ck_assert(strstr(d != NULL ? dag_str(a, d) : err.text, rows[k].want) != NULL);
		if (d == NULL)
			ck_assert(strstr(err.place, rows[k].field) != NULL);
		arena_free(a);
	}
}
END_TEST

/* A sequence has the elements whose shapes, or constants, are given. */
START_TEST(sequences_are_given)
{
	static const char model[] = "opset 18\nin s seq.f32 N\nin k i64 \nnode SequenceAt s,k -> y\n"
								"node SequenceErase s -> t\nout y\nout t\n";
	static const float two[] = { 1, 2 };
	int64_t one = 1;
	ShapeArg shapes[] = { { "s.2", { 1, { 4 } } }, { "s.1", { 1, { 3 } } }, { "s.0", { 2, { 3, 1 } } } };
	BindArg bind[] = { { .name = "k", .type = I64, .data = &one },
		{ .name = "s.0", .type = F32, .shape = { 1, { 2 } }, .data = two } };
	Arena *a = arena_new();
	Err err = { 0 };
	ModelArgs args = { .shape = shapes, .nshape = 2, .bind = bind, .nbind = 2 };
	Dag *d = load_text(a, model, &args, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_uint_eq(d->input.n, 2);
	ck_assert(strstr(dag_str(a, d), "t.0: f32[2]") != NULL);
	ck_assert(strstr(dag_str(a, d), "t.1: f32[3] = identity(s.1)") != NULL);
	args.nbind = 1;
	ck_assert_ptr_null(load_text(a, model, &args, &err));
	ck_assert(strstr(err.text, "a sequence with an element 2, but no shape of its element 's.0' is given") != NULL);
	args.nshape = 3;
	err = (Err){ 0 };
	ck_assert_ptr_null(load_text(a, model, &args, &err));
	ck_assert(strstr(err.text, "input 's.0' is given 2 dimensions where the model has 1") != NULL);
	shapes[0].name = "s";
	err = (Err){ 0 };
	ck_assert_ptr_null(load_text(a, model, &args, &err));
	ck_assert(strstr(err.text, "the model has no input 's'; it has: s.0, k") != NULL);
	arena_free(a);
}
END_TEST

static const char bound[] = "opset 13\nin x f32 2,3\nin s i64 2\nnode Reshape x,s -> y\nout y\n";
static const int64_t three_two[] = { 3, 2 };

static bool offer_shape(const char *input, BindArg *out, void *arg)
{
	++*(int *)arg;
	*out = (BindArg){ .type = I64, .shape = { 1, { 2 } }, .data = three_two };
	return strcmp(input, "s") == 0;
}

START_TEST(inputs_are_bound)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int asked = 0;
	BindArg bind = { .name = "s", .type = I64, .shape = { 1, { 2 } }, .data = three_two };
	Dag *d = load_text(a, bound, &(ModelArgs){ .bind = &bind, .nbind = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(strstr(dag_str(a, d), "y: f32[3,2] = reshape(x)") != NULL);
	ck_assert_uint_eq(d->input.n, 1);
	d = load_text(a, bound, &(ModelArgs){ .offer = offer_shape, .offer_arg = &asked }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_uint_eq(d->input.n, 1);
	ck_assert_int_eq(asked, 1);
	arena_free(a);
}
END_TEST

static const struct {
	ShapeArg shape;
	BindArg bind;
	ErrCode code;
	const char *field, *want; /* field NULL: the place is the model */
} wrong_args[] = {
	{ { "q", { 1, { 2 } } }, { 0 }, ERR_USAGE, "shape", "the model has no input 'q'; it has: x, s" },
	{ { "x", { 1, { 2 } } }, { 0 }, ERR_USAGE, "shape", "input 'x' is given 1 dimensions where the model has 2" },
	{ { "x", { 2, { -1, 3 } } }, { 0 }, ERR_INPUT, NULL, "input 'x' has a dimension of -1" },
	{ { 0 }, { .name = "q", .data = "" }, ERR_USAGE, "bind", "the model has no input 'q'; it has: x, s" },
	{ { 0 }, { .name = "s", .type = { DT_FLOAT, 32, 1 }, .shape = { 1, { 2 } }, .data = "" }, ERR_TYPE,
		"bind", "the constant for input 's' has elements of f32 where the model has i64" },
	{ { 0 }, { .name = "s", .type = { DT_INT, 64, 1 }, .shape = { 1, { 3 } }, .data = "" }, ERR_TYPE,
		"bind", "the constant for input 's' has shape 3, which the model does not allow" },
};

START_TEST(wrong_arguments)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ModelArgs args = { .shape = &wrong_args[_i].shape,
		.nshape = wrong_args[_i].shape.name != NULL,
		.bind = &wrong_args[_i].bind,
		.nbind = wrong_args[_i].bind.name != NULL };
	ck_assert(load_text(a, bound, &args, &err) == NULL);
	ck_assert_msg(strstr(err.text, wrong_args[_i].want) != NULL, "%s", err.text);
	ck_assert_int_eq(err.code, wrong_args[_i].code);
	ck_assert_str_eq(err.place, wrong_args[_i].field != NULL ? wrong_args[_i].field : in_folder(a, "m.onnx"));
	arena_free(a);
}
END_TEST

/* A model cut anywhere or with a bit turned: a sentence or a Dag, never a crash. */
START_TEST(damaged_models)
{
	Rng r = rng_seed(5);
	for (int k = 0; k < 400; k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Text out = { .arena = a };
		wire_write(&out, &OnnxModel_message, model_text(a, become[k % LEN(become)].model));
		unsigned char *bytes = arena_copy(a, out.at, out.n);
		size_t n = k % 3 == 0 ? (size_t)rng_below(&r, out.n) : out.n;
		for (int i = 0; i < k % 5; i++)
			bytes[rng_below(&r, out.n)] ^= (unsigned char)(1u << rng_below(&r, 8));
		const char *path = in_folder(a, "damaged.onnx");
		save_bytes(path, bytes, n);
		Dag *d = frontend_load(a, path, NULL, &err);
		ck_assert((d == NULL) == (err.code != ERR_NONE));
		if (d == NULL)
			ck_assert_msg(err_exit_code(err.code) == 1, "code %d: %s", (int)err.code, err.text);
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("onnx");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, models_become_dags, 0, LEN(become));
	tcase_add_loop_test(tc, models_are_refused, 0, LEN(refused));
	tcase_add_loop_test(tc, incomplete_models_name_the_field, 0, LEN(incomplete));
	tcase_add_test(tc, symbols_get_numbers);
	tcase_add_test(tc, sequences_get_numbers);
	tcase_add_test(tc, sequences_are_given);
	tcase_add_test(tc, inputs_are_bound);
	tcase_add_loop_test(tc, wrong_arguments, 0, LEN(wrong_args));
	tcase_add_test(tc, damaged_models);
	return run_suite("onnx", tc);
}
