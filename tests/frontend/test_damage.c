/*
 * Models that others wrote (DLC_TEST_DATA/models), with bits flipped or the end cut off, in each of their files: all
 * must become a Dag that checks or be refused with a sentence, soon, and in memory for a few times the files and the
 * graph. Formats without real files here are damaged by their own tests: TensorFlow Lite, Caffe2.
 */
#include "folder.h"
#include "real_files.h"

#include "base/rng.h"

#include <sys/resource.h>

enum { MOST_FILES = 3, MOST_BYTES = 1 << 22 };

/* A model and its files, the first of which is loaded unless `model` names a folder that they lie in. */
static const struct {
	const char *from, *model, *files[MOST_FILES];
	ShapeArg shape; /* no name: the files say all shapes */
} models[] = {
	{ "torch/generated", NULL, { "seq.onnx" }, { NULL, { 0 } } },
	{ "torch/generated", NULL, { "mixed_layers.dynamo.onnx" }, { NULL, { 0 } } },
	{ "torch/generated", NULL, { "seq.pt2" }, { NULL, { 0 } } },
	{ "torch/generated", NULL, { "seq.traced.pt" }, { NULL, { 0 } } },
	{ "torch/generated", NULL, { "mixed_layers.scripted.pt" }, { "x", { 4, { 1, 3, 32, 32 } } } },
	{ "darknet/pjreddie", NULL, { "cifar.cfg" }, { NULL, { 0 } } },
	{ "darknet/pjreddie", NULL, { "gru.cfg" }, { NULL, { 0 } } },
	{ "caffe/BVLC", NULL, { "lenet.prototxt" }, { NULL, { 0 } } },
	{ "caffe/SqueezeNet", NULL, { "squeezenet_v1.1.deploy.prototxt" }, { NULL, { 0 } } },
	{ "keras/generated", NULL, { "rnn.h5" }, { NULL, { 0 } } },
	{ "keras/generated", NULL, { "rnn.keras" }, { NULL, { 0 } } },
	{ "keras/generated", NULL, { "mixed_layers.h5" }, { NULL, { 0 } } },
	{ "tensorflow/generated", NULL, { "rnn.frozen.pb" }, { NULL, { 0 } } },
	{ "tensorflow/generated/mixed_layers", "",
		{ "saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001" }, { NULL, { 0 } } },
	{ "mxnet/generated", NULL, { "mixed_layers-symbol.json", "mixed_layers-0000.params" }, { "data", { 0, { 0 } } } },
	{ "mxnet/generated", NULL, { "rnn-symbol.json", "rnn-0000.params" }, { "data", { 0, { 0 } } } },
	{ "coreml/generated", NULL, { "mixed_layers.mlmodel" }, { NULL, { 0 } } },
	{ "coreml/generated", "mixed_layers.mlpackage",
		{ "mixed_layers.mlpackage/Manifest.json", "mixed_layers.mlpackage/Data/com.apple.CoreML/model.mlmodel",
			"mixed_layers.mlpackage/Data/com.apple.CoreML/weights/weight.bin" },
		{ NULL, { 0 } } },
};

static void save(Arena *a, const char *name, Bytes b)
{
	Err err = { 0 };
	char *path = arena_printf(a, "%s/%s", folder, name);
	for (char *s = strchr(path + strlen(folder) + 1, '/'); s != NULL; s = strchr(s + 1, '/')) {
		*s = 0;
		mkdir(path, 0700);
		*s = '/';
	}
	ck_assert_msg(file_write(path, b.at, b.n, &err), "%s: %s", path, err.text);
}

/* What a graph holds: the elements of its constants, and some room for each value. */
static size_t graph_bytes(const Dag *d)
{
	enum { VALUE_ROOM = 1024 };
	size_t n = 0;
	for (size_t k = 0; d != NULL && k < d->value.n; k++) {
		const Value *v = &d->value.at[k];
		n += VALUE_ROOM;
		if (v->kind == VALUE_CONST)
			n += (size_t)dtype_bytes(v->type, shape_elements(v->shape));
	}
	return n;
}

static double seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Of the process so far, with what libraries take. */
static long peak_bytes(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss * 1024;
}

static Bytes damaged(Arena *a, Rng *r, Bytes b)
{
	unsigned char *at = arena_copy(a, b.at, b.n);
	for (uint64_t flips = 1 + rng_below(r, 6); flips > 0; flips--)
		at[rng_below(r, b.n)] ^= (unsigned char)(1u << rng_below(r, 8));
	return (Bytes){ at, rng_below(r, 5) != 0 ? b.n : rng_below(r, b.n) };
}

/* Reads all files and puts them into the folder; false: one is not there. */
static bool copy_files(Arena *a, int m, Bytes *file, int *count)
{
	*count = 0;
	for (int k = 0; k < MOST_FILES && models[m].files[k] != NULL; k++, ++*count) {
		if (!file_read(a, real_file(a, models[m].from, models[m].files[k]), MOST_BYTES, &file[k], &(Err){ 0 }))
			return false;
		save(a, models[m].files[k], file[k]);
	}
	return true;
}

/* As read_npy has it, of the input that was saved beside the model. */
static void find_shape(Arena *a, int m, ShapeArg *shape)
{
	const char *file = models[m].files[0];
	*shape = models[m].shape;
	if (shape->name != NULL && shape->shape.rank == 0)
		read_npy(a, real_file(a, models[m].from, arena_printf(a, "%.*s.data.npy", (int)strcspn(file, "-."), file)),
			&shape->shape);
}

START_TEST(damaged_models_end)
{
	enum { TIMES = 4, ROOM = 1 << 20, HEAP_ROOM = 1 << 25, MOST_SECONDS = 20 };
	Arena *a = arena_new();
	Bytes file[MOST_FILES];
	ShapeArg shape;
	Err err = { 0 };
	int count, rounds = (suite_count(2000, 400, 20000) + LEN(models) - 1) / LEN(models);
	if (!copy_files(a, _i, file, &count)) {
		suite_skip(models[_i].files[0], "no models in DLC_TEST_DATA");
		arena_free(a);
		return;
	}
	find_shape(a, _i, &shape);
	const ModelArgs args = { .shape = &shape, .nshape = shape.name != NULL };
	const char *path = in_folder(a, models[_i].model != NULL ? models[_i].model : models[_i].files[0]);
	Arena *whole = arena_new();
	Dag *d = frontend_load(whole, path, &args, &err);
	ck_assert_msg(d != NULL, "%s: %s: %s\n%s", path, err.place, err.text, err.items);
	size_t graph = graph_bytes(d), files = 0;
	for (int k = 0; k < count; k++)
		files += file[k].n;
	arena_free(whole);
	Rng r = rng_seed((uint64_t)_i + 1);
	size_t largest = graph;
	long peak = peak_bytes();
	for (int round = 0; round < rounds; round++) {
		Arena *tmp = arena_new();
		int k = (int)rng_below(&r, (uint64_t)count);
		save(tmp, models[_i].files[k], damaged(tmp, &r, file[k]));
		size_t before = arena_used(tmp);
		double start = seconds();
		err = (Err){ 0 };
		d = frontend_load(tmp, path, &args, &err);
		ck_assert_msg((d == NULL) == (err.code != ERR_NONE), "%s, round %d", path, round);
		ck_assert_msg(d == NULL || dag_check(d, &err), "%s, round %d: %s", path, round, err.text);
		size_t larger = graph_bytes(d) > graph ? graph_bytes(d) : graph, used = arena_used(tmp) - before;
		ck_assert_msg(used <= TIMES * (files + larger) + ROOM,
			"%s, round %d: %zu bytes for files of %zu and a graph of %zu", path, round, used, files, larger);
		ck_assert_msg(seconds() - start < MOST_SECONDS, "%s, round %d took long", path, round);
		largest = larger > largest ? larger : largest;
		save(tmp, models[_i].files[k], file[k]);
		arena_free(tmp);
	}
	peak = peak_bytes() - peak;
	ck_assert_msg(SANITIZED || peak <= (long)(TIMES * (files + largest)) + HEAP_ROOM,
		"%s: the process grew by %ld bytes", path, peak);
	arena_free(a);
}
END_TEST

/* Sound, but the values of these layers of Caffe all wish for one name. */
START_TEST(many_layers_without_names)
{
	Arena *a = arena_new();
	Text t = { .arena = a };
	Err err = { 0 };
	text_add(&t, "input: \"x\" input_shape { dim: 1 dim: 4 }\n");
	text_add(&t, "layer { type: \"AbsVal\" bottom: \"x\" top: \"y\" }\n");
	for (int k = 0; k < 5000; k++)
		text_add(&t, "layer { type: \"AbsVal\" bottom: \"y\" top: \"y\" }\n");
	Bytes file = { (const unsigned char *)text_str(&t), t.n };
	Dag *d = frontend_load_bytes(a, "nosuch/net.prototxt", file, NULL, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "y");
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("damage");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_test(tc, many_layers_without_names);
	tcase_add_loop_test(tc, damaged_models_end, 0, LEN(models));
	return run_suite("damage", tc);
}
