/* CoreML: real files against the results of their frameworks, layers made here, what is refused, damaged files. */
#include "coreml_made.h"
#include "evaluate.h"
#include "folder.h"
#include "real_files.h"

#include "base/rng.h"

#include <math.h>

static const void *run(Arena *a, Dag *d, const void *x)
{
	Err err = { 0 };
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	void **out = evaluate(a, d, (const void *const[]){ x, x, x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	return out[0];
}

static Dag *load(Made *m, const ModelArgs *args)
{
	Err err = { 0 };
	Dag *d = frontend_load_bytes(m->a, "m.mlmodel", made(m), args, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	return d;
}

static void check_shape(const Dag *d, const char *want)
{
	char text[160];
	ck_assert_str_eq(shape_str(d->value.at[d->output.at[0]].shape, text), want);
}

/* ---- weights in all forms */

static void make_product(Made *m, Arena *a, CoremlWeight *w)
{
	CoremlInnerProduct *p = arena_new_of(a, CoremlInnerProduct);
	make(m, a, 4);
	*p = (CoremlInnerProduct){ .inputChannels = 4, .outputChannels = 2, .weights = w };
	vec_push(a, &m->about.input, array_of(a, "x", 2, (int64_t[]){ 1, 4 }));
	vec_push(a, &m->about.output, array_of(a, "y", 0, NULL));
	add_layer(m, 140, "x", "y", p);
}

/* Codes of 3 bits, 1 2 3 4 5 6 7 0, the first in the highest bits. */
static const unsigned char codes3[] = { 0x29, 0xcb, 0xb8 };
static const unsigned char halves[] = { 0, 0x3c, 0, 0x40, 0, 0xc0, 0, 0x38, 0, 0xbc, 0, 0x3c, 0, 0x3c, 0, 0x44 };
static const unsigned char bytes8[] = { 0, 1, 2, 3, 255, 254, 10, 20 };

START_TEST(weights_in_all_forms)
{
	static const float table[] = { 0, 1, -1, 2, -2, 0.5f, -0.5f, 4 }, scale[] = { 0.5f, 2 }, bias[] = { 1, -1 };
	static const struct {
		const char *form;
		float want[2]; /* of x = 1, 2, 3, 4 */
	} rows[] = { { "half", { 1 + 4 - 6 + 2, -1 + 2 + 3 + 16 } },
		{ "linear", { 0 + 1 + 3 + 6 + 10, 2 * (255 + 2 * 254 + 30 + 80) - 10 } },
		{ "int8", { 0 + 1 + 3 + 6 + 10, 2 * (-1 - 4 + 30 + 80) - 10 } },
		{ "table", { 1 - 2 + 6 - 8, 0.5f - 1 + 12 + 0 } } };
	Arena *a = arena_new();
	const float x[] = { 1, 2, 3, 4 };
	CoremlWeight w = { 0 };
	CoremlQuantization q = { .numberOfBits = 8 };
	CoremlLinear l = { .scale = { (float *)(uintptr_t)scale, 2, 2 }, .bias = { (float *)(uintptr_t)bias, 2, 2 } };
	CoremlTable t = { .floatValue = { (float *)(uintptr_t)table, 8, 8 } };
	w.quantization = _i == 0 ? NULL : &q;
	q.linearQuantization = _i == 1 || _i == 2 ? &l : NULL;
	q.lookupTableQuantization = _i == 3 ? &t : NULL;
	q.numberOfBits = _i == 3 ? 3 : 8;
	if (_i == 0)
		w.float16Value = (Bytes){ halves, sizeof halves };
	else if (_i == 2)
		w.int8RawValue = (Bytes){ bytes8, sizeof bytes8 };
	else
		w.rawValue = _i == 3 ? (Bytes){ codes3, sizeof codes3 } : (Bytes){ bytes8, sizeof bytes8 };
	Made m;
	make_product(&m, a, &w);
	const float *y = run(a, load(&m, NULL), x);
	for (int k = 0; k < 2; k++)
		ck_assert_msg(fabsf(y[k] - rows[_i].want[k]) < 1e-4f, "%s %d: %g", rows[_i].form, k, (double)y[k]);
	arena_free(a);
}
END_TEST

/* ---- networks of five dimensions */

static void make_convolution(Made *m, Arena *a, bool image)
{
	static const float w[] = { 1, 0, 0, 0, 0, 2 };
	CoremlConvolution *p = arena_new_of(a, CoremlConvolution);
	make(m, a, 1);
	*p = (CoremlConvolution){ .outputChannels = 2, .kernelChannels = 3, .weights = floats(a, w, 6) };
	vec_push(a, &p->kernelSize, 1);
	vec_push(a, &p->kernelSize, 1);
	p->valid = arena_new_of(a, CoremlValidPadding);
	vec_push(a, &m->about.input, array_of(a, "x", 3, (int64_t[]){ 3, 2, 2 }));
	if (image) {
		CoremlType *t = m->about.input.at[0].type;
		t->multiArrayType = NULL;
		t->imageType = arena_new_of(a, CoremlImage);
		*t->imageType = (CoremlImage){ .width = 2, .height = 2, .colorSpace = 20 };
	}
	vec_push(a, &m->about.output, array_of(a, "y", 0, NULL));
	add_layer(m, 100, "x", "y", p);
}

START_TEST(arrays_of_five_dimensions)
{
	static const struct {
		int64_t batch, seq;
		int rank;
		int64_t shape[5];
		const char *want;
	} rows[] = { { 0, 0, 0, { 0 }, "2x2x2" }, { 4, 0, 0, { 0 }, "4x2x2x2" }, { 0, 5, 0, { 0 }, "5x1x2x2x2" },
		{ 3, 5, 0, { 0 }, "5x3x2x2x2" }, { 0, 0, 4, { 6, 3, 2, 2 }, "6x2x2x2" },
		{ 0, 0, 5, { 2, 6, 3, 2, 2 }, "2x6x2x2x2" } };
	Arena *a = arena_new();
	Made m;
	make_convolution(&m, a, false);
	ShapeArg shape = { "x", shape_of(rows[_i].rank, rows[_i].shape) };
	Dag *d = load(
		&m, &(ModelArgs){ .batch = rows[_i].batch, .seq = rows[_i].seq, .shape = &shape, .nshape = rows[_i].rank > 0 });
	check_shape(d, rows[_i].want);
	arena_free(a);
}
END_TEST

/* Scale and biases of an image, in the order of its channels. */
START_TEST(images_are_preprocessed)
{
	Arena *a = arena_new();
	Made m;
	float x[12];
	make_convolution(&m, a, true);
	CoremlScaler s = { .channelScale = 2, .redBias = -1, .greenBias = 5, .blueBias = 3 };
	CoremlPreprocessing p = { .featureName = "x", .scaler = &s };
	vec_push(a, &m.net.preprocessing, p);
	for (int k = 0; k < 12; k++)
		x[k] = (float)k;
	for (int bgr = 0; bgr < 2; bgr++) {
		m.about.input.at[0].type->imageType->colorSpace = bgr ? 30 : 20;
		Dag *d = load(&m, NULL);
		check_shape(d, "1x2x2x2");
		const float *y = run(a, d, x);
		for (int k = 0; k < 4; k++) {
			ck_assert_float_eq(y[k], 2 * x[k] + (bgr ? 3 : -1));
			ck_assert_float_eq(y[4 + k], 2 * (2 * x[8 + k] + (bgr ? -1 : 3)));
		}
	}
	Dag *d = load(&m, &(ModelArgs){ .batch = 3 });
	check_shape(d, "3x2x2x2");
	arena_free(a);
}
END_TEST

/* A shape of other channels: the scaler has numbers for those of the file only. */
START_TEST(images_have_their_channels)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Made m;
	CoremlScaler s = { .channelScale = 2 };
	make(&m, a, 4);
	vec_push(a, &m.about.input, array_of(a, "x", 0, NULL));
	CoremlType *t = m.about.input.at[0].type;
	t->multiArrayType = NULL;
	t->imageType = arena_new_of(a, CoremlImage);
	*t->imageType = (CoremlImage){ .width = 2, .height = 2, .colorSpace = 20 };
	vec_push(a, &m.about.output, array_of(a, "y", 0, NULL));
	vec_push(a, &m.net.preprocessing, ((CoremlPreprocessing){ .featureName = "x", .scaler = &s }));
	add_layer(&m, 670, "x", "y", NULL);
	ShapeArg shape = { "x", shape_of(4, (int64_t[]){ 1, 300, 2, 2 }) };
	ck_assert(
		frontend_load_bytes(a, "m.mlmodel", made(&m), &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err) == NULL);
	ck_assert_msg(strstr(err.text, "is an image of 3 channels") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- operators of programs */

/* The function y = op(x), whose parameters but x are there already. */
static Dag *load_operator(Arena *a, const char *opset, MilOperation *op, MilType *x)
{
	Err err = { 0 };
	MilBlock block = { .has = 0 };
	mil_add_input(a, op, "x", "x", NULL);
	vec_push(a, &op->outputs, ((MilNamed){ .name = "y", .type = x }));
	vec_push(a, &block.operations, *op);
	vec_push(a, &block.outputs, "y");
	Bytes b = mil_model(a, opset, &block, &(MilNamed){ .name = "x", .type = x }, 1);
	Dag *d = frontend_load_bytes(a, "m.mlmodel", b, NULL, &err);
	ck_assert_msg(d != NULL, "%s\n%s", err.text, err.items);
	return d;
}

/* A box from -1.5 to 0.5 of rows 2 and 4: iOS 15 reads the edge, iOS 16 pads with 0. */
START_TEST(boxes_reach_out_of_the_image)
{
	static const float x[] = { 2, 4 }, want[2][3] = { { 2, 2, 3 }, { 0, 1, 3 } };
	Arena *a = arena_new();
	MilOperation op = { .type = "crop_resize" };
	MilType *box = mil_type(a, MIL_F32, 5, (int64_t[]){ 1, 1, 4, 1, 1 });
	mil_add_input(a, &op, "roi", NULL, mil_numbers(a, box, (double[]){ -1.5, 0, 0.5, 0 }, 4));
	mil_add_input(a, &op, "target_height", NULL, mil_numbers(a, mil_type(a, MIL_I32, 0, NULL), (double[]){ 3 }, 1));
	MilValue *mode = arena_new_of(a, MilValue);
	*mode = (MilValue){ .type = mil_type(a, 2, 0, NULL), .immediateValue = arena_new_of(a, MilImmediate) };
	mode->immediateValue->tensor = arena_new_of(a, MilTensor);
	mode->immediateValue->tensor->strings = arena_new_of(a, MilStrings);
	vec_push(a, &mode->immediateValue->tensor->strings->values, "STRICT_ALIGN_CORNERS");
	mil_add_input(a, &op, "sampling_mode", NULL, mode);
	MilType *image = mil_type(a, MIL_F32, 4, (int64_t[]){ 1, 1, 2, 1 });
	const float *y = run(a, load_operator(a, _i == 0 ? "CoreML5" : "CoreML6", &op, image), x);
	for (int k = 0; k < 3; k++)
		ck_assert_msg(fabsf(y[k] - want[_i][k]) < 1e-6f, "%d %d: %g", _i, k, (double)y[k]);
	arena_free(a);
}
END_TEST

/* keep_dims is false where it is absent. */
START_TEST(places_drop_their_axis)
{
	Arena *a = arena_new();
	MilOperation op = { .type = "reduce_argmax" };
	check_shape(load_operator(a, "CoreML5", &op, mil_type(a, MIL_F32, 2, (int64_t[]){ 4, 3 })), "4");
	arena_free(a);
}
END_TEST

/* The last window reaches out of the input, where rounding up puts it: 3 and 4 stay. */
START_TEST(roots_of_windows_that_reach_out)
{
	static const float x[] = { 1, 2, 3, 4 };
	Arena *a = arena_new();
	MilOperation op = { .type = "l2_pool" };
	MilType *one = mil_type(a, MIL_I32, 1, (int64_t[]){ 1 });
	mil_add_input(a, &op, "kernel_sizes", NULL, mil_numbers(a, one, (double[]){ 3 }, 1));
	mil_add_input(a, &op, "strides", NULL, mil_numbers(a, one, (double[]){ 2 }, 1));
	mil_add_input(a, &op, "ceil_mode", NULL, mil_numbers(a, mil_type(a, MIL_BOOL, 0, NULL), (double[]){ 1 }, 1));
	const float *y = run(a, load_operator(a, "CoreML5", &op, mil_type(a, MIL_F32, 3, (int64_t[]){ 1, 1, 4 })), x);
	ck_assert_float_eq_tol(y[0], sqrtf(14), 1e-5f);
	ck_assert_float_eq_tol(y[1], 5, 1e-5f);
	arena_free(a);
}
END_TEST

/* ---- real files */

static const char *shared(Arena *a, const char *name)
{
	return real_file(a, "coreml", name);
}

static const char *const networks[] = { "mixed_layers.mlmodel", "squeezenet1_1.mlmodel", "mobilenet_v2_025.mlmodel",
	"mixed_layers.mlpackage", "squeezenet1_1.mlpackage", "mobilenet_v2_025.mlpackage" };

START_TEST(networks_give_the_results)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Shape shape, wanted;
	const char *name = networks[_i], *base = arena_printf(a, "%.*s", (int)strcspn(name, "."), name);
	const float *x = read_npy(a, shared(a, arena_printf(a, "generated/%s.data.npy", base)), &shape);
	const float *want = read_npy(a, shared(a, arena_printf(a, "generated/%s.out.npy", base)), &wanted);
	if (x == NULL || want == NULL) {
		suite_skip(name, "no models in DLC_TEST_DATA");
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(a, shared(a, arena_printf(a, "generated/%s", name)), NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	ck_assert_str_eq(d->value.at[d->input.at[0]].name, "data");
	ck_assert_int_eq(shape_elements(d->value.at[d->output.at[0]].shape), shape_elements(wanted));
	if (!real_file_runs(d)) {
		arena_free(a);
		return;
	}
	const float *y = run(a, d, x);
	float most = 0;
	int64_t many = shape_elements(wanted);
	for (int64_t k = 0; k < many; k++)
		most = fmaxf(most, fabsf(want[k]));
	for (int64_t k = 0; k < many; k++)
		ck_assert_float_eq_tol(y[k], want[k], 1e-4f * most);
	arena_free(a);
}
END_TEST

static int notes;

static void count_note(const char *sentence, void *arg)
{
	(void)arg;
	notes += strstr(sentence, "class label 'classLabel' is left out") != NULL;
}

/* The network of tests/frontend/test_keras.c in the other format: the same numbers, which the scaler divides by 255. */
START_TEST(one_network_in_two_formats)
{
	static const float want[] = { 0.0048031006f, 0.0020345347f, 0.42252874f, 0.038738187f, 0.00099638756f,
		0.0094423369f, 0.0024170815f, 0.00050867739f, 0.50708461f, 0.011446353f };
	Arena *a = arena_new();
	Err err = { 0 };
	const char *path = shared(a, "mnist-coreml/MNIST.mlmodel");
	float x[28 * 28];
	if (access(path, R_OK) != 0) {
		suite_skip("mnist", "no models in DLC_TEST_DATA");
	} else {
		for (int k = 0; k < LEN(x); k++)
			x[k] = (float)(k * 37 % 101) / 100 * 255;
		notes = 0;
		Dag *d = frontend_load(a, path, &(ModelArgs){ .note = count_note }, &err);
		ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
		ck_assert_int_eq(notes, 1);
		ck_assert_str_eq(d->value.at[d->output.at[0]].name, "output");
		check_shape(d, "1x10");
		const float *y = run(a, d, x);
		for (int k = 0; k < LEN(want); k++)
			ck_assert_float_eq_tol(y[k], want[k], 1e-5);
	}
	arena_free(a);
}
END_TEST

/* docs/coreml.md names each layer and each operator that has a row. */
START_TEST(rows_are_documented)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes page;
	ck_assert_msg(file_read(a, SOURCE_ROOT "/docs/coreml.md", 1 << 20, &page, &err), "%s", err.text);
	const NodeRow *const *lists[] = { coreml_network_format.lists + 1, mil_format.lists };
	for (int i = 0; i < 2; i++)
		for (const NodeRow *const *list = lists[i]; *list != NULL; list++)
			for (const NodeRow *r = *list; r->name != NULL; r++)
				ck_assert_msg(strstr((const char *)page.at, arena_printf(a, "`%s`", r->name)) != NULL,
					"docs/coreml.md lacks `%s`", r->name);
	arena_free(a);
}
END_TEST

/* ---- packages */

/* A folder of a package, whose model is y = x + w, with w at an offset of a file of weights. */
static Bytes program(Arena *a, const char *file, int64_t offset)
{
	MilType *type = mil_type(a, MIL_F32, 1, (int64_t[]){ 3 });
	MilBlob *blob = arena_new_of(a, MilBlob);
	*blob = (MilBlob){ .fileName = file, .offset = offset };
	MilValue *value = arena_new_of(a, MilValue);
	*value = (MilValue){ .type = type, .blobFileValue = blob };
	MilOperation w = { .type = "const" }, add = { .type = "add" };
	vec_push(a, &w.outputs, ((MilNamed){ .name = "w", .type = type }));
	vec_push(a, &w.attributes, ((MilAttribute){ .key = "val", .value = value }));
	vec_push(a, &add.outputs, ((MilNamed){ .name = "y", .type = type }));
	mil_add_input(a, &add, "x", "x", NULL);
	mil_add_input(a, &add, "y", "w", NULL);
	MilBlock block = { .has = 0 };
	vec_push(a, &block.operations, w);
	vec_push(a, &block.operations, add);
	vec_push(a, &block.outputs, "y");
	return mil_model(a, "CoreML7", &block, &(MilNamed){ .name = "x", .type = type }, 1);
}

/* 64 bytes of a header, 64 about the value, and its bytes. */
static void make_weights(unsigned char *file, uint32_t magic, uint64_t size, uint64_t from)
{
	static const float w[] = { 1, 2, 3 };
	memset(file, 0, 140);
	memcpy(file + 64, &magic, 4);
	memcpy(file + 72, &size, 8);
	memcpy(file + 80, &from, 8);
	memcpy(file + 128, w, sizeof w);
}

#define MANIFEST(id, path) "{\"itemInfoEntries\":{\"a\":{\"path\":\"" path "\"}},\"rootModelIdentifier\":\"" id "\"}"
#define USUAL MANIFEST("a", "c/m.mlmodel")

/* The package of the test's folder; `link` is made of a link to the weights instead of a file. */
static const char *make_package(
	Arena *a, const char *manifest, const char *name, int64_t offset, const unsigned char *weights, bool link)
{
	Bytes m = program(a, name, offset);
	const char *const folders[] = { "p.mlpackage", "p.mlpackage/Data", "p.mlpackage/Data/c", "p.mlpackage/Data/c/w" };
	for (int k = 0; k < LEN(folders); k++)
		mkdir(in_folder(a, folders[k]), 0777);
	save_bytes(in_folder(a, "p.mlpackage/Manifest.json"), manifest, strlen(manifest));
	save_bytes(in_folder(a, "p.mlpackage/Data/c/m.mlmodel"), m.at, m.n);
	const char *file = in_folder(a, link ? "outside.bin" : "p.mlpackage/Data/c/w/weight.bin");
	save_bytes(file, weights, 140);
	if (link)
		ck_assert_int_eq(symlink(file, in_folder(a, "p.mlpackage/Data/c/w/weight.bin")), 0);
	return in_folder(a, "p.mlpackage");
}

START_TEST(packages_have_weights_apart)
{
	static const float x[] = { 10, 20, 30 };
	Arena *a = arena_new();
	Err err = { 0 };
	unsigned char weights[140];
	make_weights(weights, 0xdeadbeef, 12, 128);
	const char *path = make_package(a, USUAL, "@model_path/w/weight.bin", 64, weights, false);
	Dag *d = frontend_load(a, path, NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	ck_assert_float_eq(((const float *)run(a, d, x))[2], 33);
	/* The model of the package alone. */
	d = frontend_load(a, in_folder(a, "p.mlpackage/Data/c/m.mlmodel"), NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	arena_free(a);
}
END_TEST

static const struct {
	const char *manifest, *name;
	int64_t offset;
	uint32_t magic;
	uint64_t size, from;
	bool link;
	const char *why;
} bad_packages[] = {
	{ "{", "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "expected" },
	{ "{}", "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "rootModelIdentifier" },
	{ MANIFEST("b", "c/m.mlmodel"), "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "has no item 'b'" },
	{ MANIFEST("a", "../m.mlmodel"), "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "leads out of the package" },
	{ MANIFEST("a", "/etc/passwd"), "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "leads out of the package" },
	{ MANIFEST("a", "c/n.mlmodel"), "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "cannot be opened: No such file" },
	{ MANIFEST("a", "c"), "w/weight.bin", 64, 0xdeadbeef, 12, 128, false, "is not a regular file" },
	{ USUAL, "../../../x", 64, 0xdeadbeef, 12, 128, false, "leads out of the model's folder" },
	{ USUAL, "@model_path//etc/passwd", 64, 0xdeadbeef, 12, 128, false, "leads out of the model's folder" },
	{ USUAL, "w/other.bin", 64, 0xdeadbeef, 12, 128, false, "'w/other.bin' cannot be opened" },
	{ USUAL, "w/weight.bin", 64, 0xdeadbeef, 12, 128, true, "it is a link" },
	{ USUAL, "w/weight.bin", 100, 0xdeadbeef, 12, 128, false, "its data begin at byte 100 of a file of 140 bytes" },
	{ USUAL, "w/weight.bin", -64, 0xdeadbeef, 12, 128, false, "its data begin at byte 18446744073709551552" },
	{ USUAL, "w/weight.bin", 64, 0xdeadbeee, 12, 128, false, "no data begin at byte 64" },
	{ USUAL, "w/weight.bin", 64, 0xdeadbeef, 13, 128, false, "its data are 13 bytes, but its shape needs 12" },
	{ USUAL, "w/weight.bin", 64, 0xdeadbeef, 12, 129, false, "lie behind the end of their file of 140 bytes" },
	{ USUAL, "w/weight.bin", 64, 0xdeadbeef, 12, UINT64_MAX - 4, false, "lie behind the end of their file" },
};

START_TEST(packages_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	unsigned char weights[140];
	make_weights(weights, bad_packages[_i].magic, bad_packages[_i].size, bad_packages[_i].from);
	const char *path = make_package(
		a, bad_packages[_i].manifest, bad_packages[_i].name, bad_packages[_i].offset, weights, bad_packages[_i].link);
	ck_assert(frontend_load(a, path, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, bad_packages[_i].why) != NULL || strstr(err.place, bad_packages[_i].why) != NULL,
		"%d: %s: %s", _i, err.place, err.text);
	arena_free(a);
}
END_TEST

/* ---- refusals */

#include "coreml_refused.inc"

START_TEST(networks_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Made m;
	make(&m, a, 4);
	vec_push(a, &m.about.input, array_of(a, "x", 2, (int64_t[]){ 1, 4 }));
	vec_push(a, &m.about.output, array_of(a, "y", 0, NULL));
	refused[_i].make(&m);
	ck_assert(frontend_load_bytes(a, "m.mlmodel", made(&m), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%d: %s", _i, err.text);
	ck_assert_str_eq(err.place, "m.mlmodel");
	arena_free(a);
}
END_TEST

/* Blocks in blocks, more than any program has. */
START_TEST(deep_blocks_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	MilBlock *block = arena_new_of(a, MilBlock);
	for (int k = 0; k < 2000; k++) {
		MilOperation op = { .type = "cond" };
		vec_push(a, &op.outputs, ((MilNamed){ .name = "y" }));
		if (k > 0)
			vec_push(a, &op.blocks, bytes_of(a, &MilBlock_message, block));
		block = arena_new_of(a, MilBlock);
		vec_push(a, &block->operations, op);
		vec_push(a, &block->outputs, "y");
	}
	Bytes b = mil_model(a, "CoreML5", block, NULL, 0);
	ck_assert(frontend_load_bytes(a, "m.mlmodel", b, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "nested more than 16 deep") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* A condition without an element, a tensor and a table that claim more memory than their numbers need. */
START_TEST(values_are_counted)
{
	static const char *const why[] = { "its condition has 0 elements, not one", "has not the 137438953472 numbers",
		"of shape 1073741824x1073741824x2 needs more memory than there is" };
	static const char *const ops[] = { "cond", "reduce_max", "constexpr_lut_to_dense" };
	static const double numbers[256];
	Arena *a = arena_new();
	Err err = { 0 };
	MilType *scalar = mil_type(a, MIL_F32, 0, NULL);
	MilType *none = mil_type(a, MIL_BOOL, 1, (int64_t[]){ 0 });
	MilType *large = mil_type(a, MIL_F32, 2, (int64_t[]){ 1 << 30, 1 << 7 });
	MilOperation op = { .type = ops[_i] };
	MilBlock part = { .has = 0 }, block = { .has = 0 };
	vec_push(a, &part.outputs, "x");
	if (_i == 0)
		mil_add_input(a, &op, "pred", NULL, mil_numbers(a, none, NULL, 0));
	if (_i == 1)
		mil_add_input(a, &op, "x", NULL, mil_numbers(a, large, (double[]){ 1 }, 1));
	if (_i == 2) { /* 2^61 codes of 8 bits are 2^64 bits */
		MilType *codes = mil_type(a, 31, 1, (int64_t[]){ 0 }), *table = mil_type(a, MIL_F32, 1, (int64_t[]){ 256 });
		MilType *shape = mil_type(a, MIL_I32, 1, (int64_t[]){ 3 });
		mil_add_input(a, &op, "indices", NULL, mil_numbers(a, codes, NULL, 0));
		mil_add_input(a, &op, "lut", NULL, mil_numbers(a, table, numbers, 256));
		mil_add_input(a, &op, "shape", NULL, mil_numbers(a, shape, (double[]){ 1 << 30, 1 << 30, 2 }, 3));
	}
	for (int k = 0; k < 2 && _i == 0; k++)
		vec_push(a, &op.blocks, bytes_of(a, &MilBlock_message, &part));
	vec_push(a, &op.outputs, ((MilNamed){ .name = "y", .type = scalar }));
	vec_push(a, &block.operations, op);
	vec_push(a, &block.outputs, "y");
	Bytes b = mil_model(a, "CoreML6", &block, &(MilNamed){ .name = "x", .type = scalar }, 1);
	ck_assert(frontend_load_bytes(a, "m.mlmodel", b, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, why[_i]) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* ---- damage */

static void load_damaged(Arena *a, Rng *rng, Bytes b)
{
	Err err = { 0 };
	unsigned char *at = arena_copy(a, b.at, b.n);
	for (int flips = (int)rng_below(rng, 8); flips >= 0; flips--)
		at[rng_below(rng, rng_below(rng, 2) ? b.n : b.n < 600 ? b.n : 600)] ^= (unsigned char)(1u << rng_below(rng, 8));
	b = (Bytes){ at, rng_below(rng, 4) != 0 ? b.n : rng_below(rng, b.n) };
	Dag *d = frontend_load_bytes(a, "m.mlmodel", b, NULL, &err);
	ck_assert((d == NULL) == (err.code != ERR_NONE));
	ck_assert(d == NULL || dag_check(d, &err));
}

START_TEST(damaged_files_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes b;
	if (file_read(a, shared(a, "generated/mixed_layers.mlmodel"), 1 << 26, &b, &err))
		load_damaged(a, &rng, b);
	else
		suite_skip("damage", "no models in DLC_TEST_DATA");
	if (file_read(
			a, shared(a, "generated/mixed_layers.mlpackage/Data/com.apple.CoreML/model.mlmodel"), 1 << 26, &b, &err))
		load_damaged(a, &rng, b);
	Made m;
	make_convolution(&m, a, _i % 2 == 0);
	load_damaged(a, &rng, made(&m));
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("coreml");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, weights_in_all_forms, 0, 4);
	tcase_add_loop_test(tc, arrays_of_five_dimensions, 0, 6);
	tcase_add_test(tc, images_are_preprocessed);
	tcase_add_test(tc, images_have_their_channels);
	tcase_add_loop_test(tc, boxes_reach_out_of_the_image, 0, 2);
	tcase_add_test(tc, places_drop_their_axis);
	tcase_add_test(tc, roots_of_windows_that_reach_out);
	tcase_add_loop_test(tc, networks_give_the_results, 0, LEN(networks));
	tcase_add_test(tc, one_network_in_two_formats);
	tcase_add_test(tc, rows_are_documented);
	tcase_add_test(tc, packages_have_weights_apart);
	tcase_add_loop_test(tc, packages_are_refused, 0, LEN(bad_packages));
	tcase_add_loop_test(tc, networks_are_refused, 0, LEN(refused));
	tcase_add_test(tc, deep_blocks_are_refused);
	tcase_add_loop_test(tc, values_are_counted, 0, 3);
	tcase_add_loop_test(tc, damaged_files_are_refused, 0, suite_count(60, 60, 2000));
	return run_suite("coreml", tc);
}
