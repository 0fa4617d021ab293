/* What MODEL may be: formats by content, names and folders, the networks of the zoo. */
#include "folder.h"

/* ---- other formats, by content */

static const struct {
	const char *bytes;
	size_t n;
	const char *want;
} formats[] = {
	{ "", 0, "is empty" },
	{ "\x89HDF\r\n\x1a\n....", 12, "is a Keras or other HDF5 model; this version reads ONNX models" },
	{ "\x1c\0\0\0TFL3....", 12, "is a TensorFlow Lite model" },
	{ "PK\3\4....resnet/constants.pkl....", 33, "is a TorchScript model" },
	{ "PK\3\4....m/archive_format....", 29, "is a PyTorch program (.pt2)" },
	{ "PK\3\4....config.json..model.weights.h5", 37, "is a Keras model" },
	{ "PK\3\4....................", 24, "is a zip archive, not a model" },
	{ "\x80\x02}q\0.", 6, "is a Python pickle" },
	{ "\x93NUMPY\1\0v\0{'descr'", 19, "is a NumPy array, not a model" },
	{ "[net]\nbatch=1\n", 14, "is a Darknet configuration" },
	{ "name: \"x\"\nlayer {\n bottom: \"d\"\n}", 32, "is a Caffe prototxt" },
	{ "{\"nodes\": [{\"op\": \"null\"}], \"arg_nodes\": []}", 44, "is an MXNet symbol" },
	{ "version https://git-lfs.github.com/spec/v1\n", 43, "is a Git LFS pointer" },
	{ "hello\n", 6, "is a text, not a model" },
	{ "\x0a\x05\x0a\x03"
	  "abc\x0a\x05\x0a\x03"
	  "def",
		14, "is a TensorFlow graph or another protobuf model" },
	{ "\x08\x01\x12\x03\x0a\x01\x61", 7, "is a TensorFlow SavedModel" },
	{ "\x08\x01\x12\x00\xa2\x1f\x00", 7, "is a CoreML model" },
	{ "\x08\x08\x12\x07pyt", 7, "damaged at byte 2, in ModelProto" },
	{ "\x08\x08\x3a\x00\x42\x02\x10\x0d", 8, "the model has no results" },
	{ "\xff\xfe\xfd\xfc", 4, "is not a model that this version knows" },
};

START_TEST(formats_by_content)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *path = in_folder(a, "model.anything");
	save_bytes(path, formats[_i].bytes, formats[_i].n);
	ck_assert(frontend_load(a, path, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, formats[_i].want) != NULL, "%d: %s", _i, err.text);
	ck_assert_str_eq(err.place, path);
	arena_free(a);
}
END_TEST

START_TEST(names_and_folders)
{
	Arena *a = arena_new();
	static const struct {
		const char *model, *want;
	} rows[] = {
		{ "resnet81", "is neither a file nor a network of the zoo; did you mean resnet18" },
		{ "/nonexistent/x.onnx", "no such file" },
		{ "/", "is a folder; name a model file in it" },
		{ "/dev/null", "/dev/null" },
	};
	for (int k = 0; k < LEN(rows); k++) {
		Err err = { 0 };
		char all[3000];
		ck_assert(frontend_load(a, rows[k].model, NULL, &err) == NULL);
		err_format(&err, all, sizeof all);
		ck_assert_msg(strstr(all, rows[k].want) != NULL, "%s", all);
	}
	save_bytes(in_folder(a, "saved_model.pb"), "x", 1);
	Err err = { 0 };
	ck_assert(frontend_load(a, folder, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "is a TensorFlow SavedModel") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- the zoo: torchvision's numbers of weights, of MobileNet v1 the paper's, and of multiply-adds */

static const struct {
	const char *name;
	int64_t weights; /* with the batch norms' running statistics */
	double gflop;
} zoo[] = {
	{ "resnet18", 11699112, 3.63 },
	{ "resnet50", 25610152, 8.18 },
	{ "mobilenet_v1", 4253864, 1.14 },
	{ "mobilenet_v2", 3538984, 0.6 },
	{ "squeezenet1_1", 1235496, 0.7 },
};

START_TEST(zoo_networks)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int n;
	const NamedModel *rows = frontend_models(a, &n);
	ck_assert_int_eq(n, LEN(zoo));
	ck_assert_str_eq(rows[_i].name, zoo[_i].name);
	Dag *d = frontend_load(a, zoo[_i].name, NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	int64_t weights = 0;
	for (size_t k = 0; k < d->value.n; k++)
		if (d->value.at[k].kind == VALUE_CONST)
			weights += shape_elements(d->value.at[k].shape);
	ck_assert_int_eq(weights, zoo[_i].weights);
	ck_assert_double_eq_tol(dag_flops(d) / 1e9, zoo[_i].gflop, 0.1);
	const Value *in = &d->value.at[d->input.at[0]], *out = &d->value.at[d->output.at[0]];
	ck_assert_str_eq(in->name, "data");
	ck_assert_str_eq(out->name, "out");
	ck_assert(shape_eq(out->shape, (Shape){ 2, { 1, 1000 } }));
	if (weights > 10000000) { /* drawing them takes a while, and the shapes are the architecture's */
		arena_free(a);
		return;
	}
	ShapeArg shape = { "data", { 4, { 2, 3, 160, 192 } } };
	d = frontend_load(a, zoo[_i].name, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	d = frontend_load(a, zoo[_i].name, &(ModelArgs){ .batch = 99999999999 }, &err);
	ck_assert(d == NULL && err.code == ERR_MEMORY);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("frontend");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, formats_by_content, 0, LEN(formats));
	tcase_add_test(tc, names_and_folders);
	tcase_add_loop_test(tc, zoo_networks, 0, LEN(zoo));
	return run_suite("frontend", tc);
}
