/* What MODEL may be: formats by content, names and folders, the networks of the zoo. */
#include "folder.h"
#include "frontend/neighbour.h"

/* ---- other formats, by content */

static const struct {
	const char *bytes;
	size_t n;
	const char *want;
} formats[] = {
	{ "", 0, "is an empty file" },
	{ "\x89HDF\r\n\x1a\n....", 12, "is not an HDF5 file that can be read" },
	{ "PK\3\4....config.json..model.weights.h5", 37, "is not a zip archive that can be read" },
	{ "PK\3\4....................", 24, "is a zip archive, not a model" },
	{ "\x80\x02}q\0.", 6, "is a Python pickle" },
	{ "\x93NUMPY\1\0v\0{'descr'", 19, "is a NumPy array, not a model" },
	{ "version https://git-lfs.github.com/spec/v1\n", 43, "is a Git LFS pointer" },
	{ "hello\n", 6, "is a text, not a model" },
	{ "\x0a\x05\x0a\x03"
	  "abc\x0a\x05\x0a\x03"
	  "def",
		14, "is a protobuf model of an unknown kind" },
	{ "\x08\x01\x12\x03\x0a\x01\x61", 7, "damaged at byte 6, in MetaGraphDef" },
	{ "\x08\x01\x12\x00\xa2\x1f\x00", 7, "it has no results" },
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
	ck_assert_msg(strstr(err.text, "damaged at byte 0, in SavedModel") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- files beside a model */

START_TEST(files_beside_a_model)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	const char *model = in_folder(a, "net-symbol.json");
	static const char *const names[] = { "net-symbol.json", "net-0001.params", "net-0010.params", "nets-0011.params",
		"net-.param", "net.weights" };
	for (int k = 0; k < LEN(names); k++)
		save_bytes(in_folder(a, names[k]), names[k], strlen(names[k]));
	mkdir(in_folder(a, "net-0020.params"), 0777); /* not a file */
	ck_assert_str_eq(neighbour_last(a, model, "net-", ".params"), in_folder(a, "net-0010.params"));
	ck_assert_ptr_null(neighbour_last(a, model, "other-", ".params"));
	ck_assert_str_eq(neighbour_ending(a, model, "-symbol.json", ".weights"), in_folder(a, "net.weights"));
	ck_assert_ptr_null(neighbour_ending(a, model, ".cfg", ".weights"));
	ck_assert_ptr_null(neighbour_ending(a, model, "-symbol.json", ".caffemodel"));
	ck_assert_str_eq(neighbour_named(a, model, "net.weights"), in_folder(a, "net.weights"));
	ck_assert_ptr_null(neighbour_named(a, "/nonexistent/x", "net.weights"));
	ck_assert(neighbour_read(a, model, &file, &err) && file.n == strlen(names[0]));
	remove(in_folder(a, "net-0020.params"));
	ModelArgs args = { .weights = model };
	ck_assert(frontend_load(a, "mlp", &args, &err) == NULL);
	ck_assert_str_eq(err.place, "weights");
	arena_free(a);
}
END_TEST

/* ---- the zoo: torchvision's numbers of weights and of multiply-adds; the papers' where it lacks the network */

static const struct {
	const char *name;
	int64_t weights; /* without the batch norms' running statistics */
	double gflop;
	bool alone; /* the only network of its functions */
} zoo[] = {
	{ "resnet18", 11689512, 3.63, true },
	{ "resnet34", 21797672, 7.33, false },
	{ "resnet50", 25557032, 8.18, false },
	{ "resnet101", 44549160, 15.60, false },
	{ "resnet152", 60192808, 23.03, false },
	{ "resnext50", 25028904, 8.46, false },
	{ "alexnet", 61100840, 1.43, false },
	{ "vgg16", 138357544, 30.94, false },
	{ "vgg19", 143667240, 39.26, false },
	{ "mobilenet_v1", 4231976, 1.14, false },
	{ "mobilenet_v2", 3504872, 0.60, false },
	{ "mobilenet_v3_small", 2542856, 0.11, false },
	{ "mobilenet_v3_large", 5483032, 0.43, false },
	{ "squeezenet1_0", 1248424, 1.64, false },
	{ "squeezenet1_1", 1235496, 0.70, false },
	{ "densenet121", 7978856, 5.67, false },
	{ "densenet169", 14149480, 6.72, false },
	{ "inception_v3", 23834568, 11.43, true },
	{ "efficientnet_b0", 5288548, 0.77, false },
	{ "efficientnet_b1", 7794184, 1.37, false },
	{ "efficientnet_b2", 9109994, 2.18, false },
	{ "efficientnet_b3", 12233232, 3.66, false },
	{ "efficientnet_b4", 19341616, 8.79, false },
	{ "convnext_tiny", 28589128, 8.91, true },
	{ "vit_b_16", 86567656, 35.13, false },
	{ "deit_tiny", 5717416, 2.51, false },
	{ "mlp", 535818, 0.001, false },
	{ "unet", 31037698, 96.5, false },
	{ "dcgan", 3576704, 0.21, false },
	{ "lstm", 4198400, 0.54, false },
	{ "yolo_v2_tiny", 15861773, 6.97, true },
	{ "bert_base", 108890880, 22.6, false },
	{ "distilbert", 66362880, 11.3, false },
	{ "gpt2", 124439808, 16.0, false },
};

/* Drawing more weights takes a while; their networks share their functions with smaller ones. */
enum { DRAWN = 10000000 };

static bool is_weight(const Value *v)
{
	return v->kind == VALUE_CONST && v->shape.rank > 0 && strstr(v->name, ".running_") == NULL &&
	       strcmp(v->name, "mask") != 0;
}

START_TEST(zoo_networks)
{
	Arena *a = arena_new();
	Err err = { 0 };
	int n;
	const NamedModel *rows = frontend_models(a, &n);
	ck_assert_int_eq(n, LEN(zoo));
	ck_assert_str_eq(rows[_i].name, zoo[_i].name);
	if (zoo[_i].weights > DRAWN && !zoo[_i].alone && getenv("DLC_TEST_ALL") == NULL) {
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(a, zoo[_i].name, NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	int64_t weights = 0;
	for (size_t k = 0; k < d->value.n; k++)
		if (is_weight(&d->value.at[k]))
			weights += shape_elements(d->value.at[k].shape);
	ck_assert_int_eq(weights, zoo[_i].weights);
	ck_assert_double_eq_tol(dag_flops(d) / 1e9, zoo[_i].gflop, 0.09 * zoo[_i].gflop + 0.03);
	const Value *in = &d->value.at[d->input.at[0]], *out = &d->value.at[d->output.at[0]];
	ck_assert_str_eq(in->name, dtype_is_float(in->type) ? "data" : "ids");
	ck_assert_str_eq(out->name, "out");
	if (out->shape.rank == 2)
		ck_assert(shape_eq(out->shape, (Shape){ 2, { 1, strcmp(zoo[_i].name, "mlp") == 0 ? 10 : 1000 } }));
	if (weights > DRAWN) {
		arena_free(a);
		return;
	}
	if (in->shape.dim[in->shape.rank == 4 ? 1 : 2] != 3 && strcmp(zoo[_i].name, "mlp") != 0) {
		arena_free(a);
		return;
	}
	ShapeArg image = { "data", { 4, { 2, 3, 160, 192 } } }, numbers = { "data", { 2, { 2, 784 } } };
	const ShapeArg *shape = in->shape.rank == 4 ? &image : &numbers;
	d = frontend_load(a, zoo[_i].name, &(ModelArgs){ .shape = shape, .nshape = 1 }, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	d = frontend_load(a, zoo[_i].name, &(ModelArgs){ .batch = 99999999999 }, &err);
	ck_assert(d == NULL && err.code == ERR_MEMORY);
	arena_free(a);
}
END_TEST

/* Sizes that the network does not take are refused. */
START_TEST(zoo_sizes)
{
	static const struct {
		const char *model;
		Shape shape;
		const char *want;
	} rows[] = {
		{ "alexnet", { 4, { 1, 3, 300, 300 } }, "maps of 8x8 before the classifier, which takes 6x6" },
		{ "deit_tiny", { 4, { 1, 3, 40, 32 } }, "multiples of 16" },
		{ "mlp", { 2, { 1, 100 } }, "data must be N,784" },
		{ "resnet18", { 2, { 1, 100 } }, "data must be N,3,H,W" },
	};
	for (int k = 0; k < LEN(rows); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		ShapeArg shape = { "data", rows[k].shape };
		ck_assert(frontend_load(a, rows[k].model, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err) == NULL);
		ck_assert_int_eq(err.code, ERR_USAGE);
		ck_assert_msg(strstr(err.text, rows[k].want) != NULL, "%s", err.text);
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("frontend");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, formats_by_content, 0, LEN(formats));
	tcase_add_test(tc, names_and_folders);
	tcase_add_test(tc, files_beside_a_model);
	tcase_add_loop_test(tc, zoo_networks, 0, LEN(zoo));
	tcase_add_test(tc, zoo_sizes);
	return run_suite("frontend", tc);
}
