/*
 * dlc-run from outside: a table of command lines with exit codes and what they print, tensors
 * through .npy and .npz, ONNX test data, timing, files that are no bundles, and outputs that
 * cannot be written. argv[1] is the program, argv[2] the example that knows only the public header
 * and the library.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#include "build.h"
#include "dlc/dlc_runtime.h"
#include "kernels.h"
#include "run/array.h"

enum { N = 100, TEXT = 65536 };

static const char *program, *example;
static char folder[] = "/tmp/dlc_run.XXXXXX";

static void write_file(const char *name, const void *bytes, size_t n)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

static size_t read_file(const char *name, char *out, size_t size)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	size_t n = f != NULL ? fread(out, 1, size - 1, f) : 0;
	out[n] = 0;
	if (f != NULL)
		fclose(f);
	return n;
}

static void write_tensor(const char *name, DlcTensor t, size_t bytes)
{
	char file[8192];
	size_t n = npy_header(&t, file);
	memcpy(file + n, t.data, bytes);
	write_file(name, file, n + bytes);
}

/* A TensorProto of [1, N] floats that has `label` as its name. */
static void write_proto(const char *name, const char *label, const float *data)
{
	unsigned char file[1024];
	size_t n = 0, len = strlen(label);
	const unsigned char head[] = { 0x08, 1, 0x08, N, 0x10, 1, 0x42, (unsigned char)len };
	memcpy(file, head, sizeof head);
	n = sizeof head;
	memcpy(file + n, label, len);
	n += len;
	file[n++] = 0x4a;
	file[n++] = (N * 4 & 127) | 128;
	file[n++] = N * 4 >> 7;
	memcpy(file + n, data, N * 4);
	write_file(name, file, n + N * 4);
}

static void write_bundle(const char *name, Build *b)
{
	size_t size;
	unsigned char *bytes = build_finish(b, &size);
	write_file(name, bytes, size);
	free(bytes);
	free(b);
}

/* out = a + b, beside which nobody reads the inputs c, d, ... */
static void write_inputs(const char *name, int n)
{
	Build *b = build_add(N);
	BundleTensor out = b->tensor[2];
	for (int i = 2; i < n; i++) {
		b->h.tensor.count = (uint32_t)i;
		char called[] = "c_is_read_by_nobody";
		called[0] = (char)('a' + i);
		build_tensor(b, called, 0, 2, out.dim);
	}
	b->tensor[b->h.tensor.count++] = out;
	write_bundle(name, b);
}

/* out = ids + ids, added as floats whatever the type of both is: zeros stay zeros. */
static void write_types(const char *name, int code, int bits)
{
	Build *b = build_new();
	uint32_t shape = build_const(b, N * 32 / bits);
	build_tensor(b, "ids", 0, 1, shape);
	build_tensor(b, "out", 1, 1, shape);
	for (int i = 0; i < 2; i++) {
		b->tensor[i].code = (uint8_t)code;
		b->tensor[i].bits = (uint8_t)bits;
	}
	uint32_t in = build_slot(b, BUNDLE_INPUT, 0, 0, N * 4);
	uint32_t out = build_slot(b, BUNDLE_OUTPUT, 0, 0, N * 4);
	build_call(b, KERNEL_twice, (uint32_t[]){ in, out }, (int64_t[]){ N });
	write_bundle(name, b);
}

/* build_add, with the sum of both inputs as a second output. */
static Build *build_two(void)
{
	Build *b = build_add(N);
	build_tensor(b, "sum", 1, 2, b->tensor[0].dim);
	uint32_t in0 = build_slot(b, BUNDLE_INPUT, 0, 0, N * 4), in1 = build_slot(b, BUNDLE_INPUT, 1, 0, N * 4);
	uint32_t out = build_slot(b, BUNDLE_OUTPUT, 1, 0, N * 4);
	build_call(b, KERNEL_add, (uint32_t[]){ in0, in1, out }, (int64_t[]){ N });
	return b;
}

static void set_up(void)
{
	static float a[N], b[N], sum[N];
	int64_t shape[2] = { 1, N }, other[2] = { 1, N - 1 };
	char path[200];
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = 0.5f;
		sum[i] = a[i] + b[i] + 1;
	}
	write_bundle("add.dlcb", build_add(N));
	write_bundle("two.dlcb", build_two());
	Build *fails = build_add(N);
	build_call(fails, KERNEL_refuse, NULL, (int64_t[]){ 5 });
	write_bundle("fails.dlcb", fails);
	Build *feature = build_add(N);
	feature->feature[feature->h.feature.count++] = build_text(feature, "avx9000f");
	write_bundle("feature.dlcb", feature);
	write_inputs("nine.dlcb", 9);
	write_inputs("many.dlcb", 14);
	write_types("ids.dlcb", 0, 64);
	write_types("half.dlcb", 2, 16);
	write_file("text.dlcb", "hello", 5);
	write_file("text", "hello, this is not a bundle", 27);
	DlcTensor t = { .data = a, .ndim = 2, .dtype = { 2, 32, 1 }, .shape = shape };
	write_tensor("a.npy", t, sizeof a);
	t.data = b;
	write_tensor("b.npy", t, sizeof b);
	t.shape = other;
	write_tensor("short.npy", t, sizeof b - 4);
	t.shape = shape;
	t.dtype.code = 0;
	write_tensor("int.npy", t, sizeof b);
	static const char *const set[] = { "good", "good/test_data_set_0", "good/test_data_set_1", "wrong",
		"wrong/test_data_set_0", "few", "few/test_data_set_0", "empty" };
	for (int i = 0; i < LEN(set); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, set[i]);
		ck_assert_int_eq(mkdir(path, 0777), 0);
	}
	write_proto("good/test_data_set_0/input_0.pb", "a", a);
	write_proto("good/test_data_set_0/input_1.pb", "b", b);
	write_proto("good/test_data_set_0/output_0.pb", "out", sum);
	write_proto("good/test_data_set_1/input_0.pb", "b", b); /* the name counts, not the number */
	write_proto("good/test_data_set_1/input_1.pb", "a", a);
	write_proto("good/test_data_set_1/output_0.pb", "", sum);
	sum[7] += 1;
	write_proto("wrong/test_data_set_0/input_0.pb", "", a);
	write_proto("wrong/test_data_set_0/input_1.pb", "", b);
	write_proto("wrong/test_data_set_0/output_0.pb", "", sum);
	write_proto("few/test_data_set_0/input_0.pb", "", a);
	write_proto("few/test_data_set_0/output_0.pb", "", sum);
}

static void tear_down(void)
{
	char command[200];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Runs the program in the folder by the shell; the exit code. */
static int run(const char *args, char *out, char *err)
{
	char command[2000];
	snprintf(command, sizeof command, "cd %s && '%s' </dev/null >stdout 2>stderr %s", folder, program, args);
	int status = system(command);
	ck_assert_msg(WIFEXITED(status), "%s: ended by a signal", args);
	read_file("stdout", out, TEXT);
	read_file("stderr", err, TEXT);
	return WEXITSTATUS(status);
}

static int lines(const char *text)
{
	int n = 0;
	for (; *text != 0; text++)
		n += *text == '\n';
	return n;
}

/* A command line, its exit code, and what stdout (0) or stderr (else) contains. */
static const struct Line {
	const char *args;
	int code;
	const char *says;
} LINE[] = {
	{ "--help", 0, "--input" },
	{ "--version", 0, "dlc-run " DLC_VERSION },
	{ "add.dlcb", 0, "out f32[1,100]  min " },
	{ "add.dlcb --input a=a.npy --input=b=b.npy", 0, "min 1.5  max 100.5  mean 51\n  100.5        [0,99]\n" },
	{ "add.dlcb --threads=3 --input a=a.npy --input b=b.npy", 0, "max 100.5" },
	{ "-- add.dlcb", 0, "out f32" },
	{ "add.dlcb --json", 0, "{\"name\":\"out\",\"dtype\":\"f32\",\"shape\":[1,100],\"min\":" },
	{ "add.dlcb --check", 0, "checksums of plan, code and constants: ok" },
	{ "add.dlcb --check=good", 0, "test_data_set_0: ok, largest error 0 of 100\ntest_data_set_1: ok" },
	{ "add.dlcb --check good/test_data_set_0", 0, "good/test_data_set_0: ok" },
	{ "add.dlcb --check=wrong --rtol 0.2", 0, "ok" },
	{ "add.dlcb --check=wrong", 1, "outputs differ from wrong at rtol 0.001" },
	{ "add.dlcb --check=few", 1, "has 0 of the model's 2 inputs" },
	{ "add.dlcb --check=empty", 1, "no test_data_set_0" },
	{ "add.dlcb --check=nosuch", 1, "nosuch: No such file" },
	{ "add.dlcb --check nosuch", 1, "nosuch: No such file" },
	{ "add.dlcb --check=", 2, "--check=: wants a value that is not empty" },
	{ "add.dlcb -o said.npy --expect out=said.npy", 0, "out: ok, largest error 0 of " },
	{ "add.dlcb -o said.npz --expect said.npz", 0, "out: ok, largest error 0 of " },
	{ "add.dlcb --expect a.npy", 1, "outputs differ from --expect at rtol 0.001" },
	{ "add.dlcb --expect a.npy --atol 1000 --json", 0, "{\"output\":\"out\",\"ok\":true,\"elements\":100," },
	{ "add.dlcb --expect other=said.npy", 2, "other=said.npy: the model's outputs are out" },
	{ "add.dlcb --expect nosuch.npy", 1, "nosuch.npy: No such file" },
	{ "add.dlcb --expect add.dlcb", 1, "add.dlcb: is not a .npy file" },
	{ "add.dlcb --expect said.npy --bench", 2, "--expect compares the outputs of one run" },
	{ "add.dlcb --bench --runs 5", 0, "threads 1  batch 1\nmedian " },
	{ "add.dlcb --profile --runs 5", 0, "    0  add " },
	{ "add.dlcb --check good", 0, "test_data_set_1: ok" },
	{ "--check good add.dlcb", 0, "test_data_set_1: ok" },
	{ "", 2, "MODEL is missing" },
	{ "''", 2, "operand 1 is empty" },
	{ "add.dlcb add.dlcb", 2, "add.dlcb: is one operand too many" },
	{ "add.dlcb --frobnicate", 2, "--frobnicate: there is no such option" },
	{ "add.dlcb -x", 2, "-x: there is no such option" },
	{ "add.dlcb --threads=0", 2, "--threads=0: wants an integer from 1 to 256" },
	{ "add.dlcb --threads", 2, "--threads: wants a value, N" },
	{ "add.dlcb --threads=many", 2, "--threads=many" },
	{ "add.dlcb --seed=-1", 2, "--seed" },
	{ "add.dlcb --bench=yes", 2, "no value" },
	{ "add.dlcb --bench --profile", 2, "exclude" },
	{ "add.dlcb --runs 5", 2, "belong to" },
	{ "add.dlcb --bench --runs 5 --seconds 1", 2, "exclude" },
	{ "add.dlcb --bench --seconds nan", 2, "--seconds" },
	{ "add.dlcb --check --input a=a.npy", 2, "no --input" },
	{ "add.dlcb --check --random", 2, "or --random beside it" },
	{ "add.dlcb --input a=a.npy", 2, "no --input gives b f32[1,100]: give it too, or --random for random numbers" },
	{ "add.dlcb --input a=a.npy -o left.npy", 2, "no --input gives b f32[1,100]" },
	{ "nine.dlcb --input a=a.npy", 2, "gives b f32[1,100], c_is_read_by_nobody f32[1,100], d_" },
	{ "nine.dlcb --input a=a.npy", 2, "give them too, or --random for random numbers" },
	{ "many.dlcb --input a=a.npy", 2, " more: give them too" },
	{ "add.dlcb --input a=a.npy --input b=b.npy --input a=b.npy", 2, "input a is given twice" },
	{ "add.dlcb --batch=2", 2, "--batch: add.dlcb is a bundle, which is compiled already" },
	{ "add.dlcb --input nosuch=/dev/null", 2, "the model's inputs are a, b" },
	{ "add.dlcb --input a.npy", 2, "say which input it is" },
	{ "add.dlcb --output nosuch=x.npy", 2, "the model's outputs are out" },
	{ "add.dlcb --input a=nosuch.npy", 1, "nosuch.npy: No such file" },
	{ "add.dlcb --input a=text", 1, "text: is not a .npy file" },
	{ "add.dlcb --input a=/dev/null", 1, "/dev/null: is not a .npy" },
	{ "add.dlcb --input a=/", 1, "/: " },
	{ "add.dlcb --input a=short.npy", 1, "short.npy: input a is f32[1,100], it cannot be f32[1,99]" },
	{ "add.dlcb --input a=int.npy", 1, "int.npy: input a is f32[1,100], it cannot be i32[1,100]" },
	{ "fails.dlcb", 1, "step 2 (refuse) failed with status 5" },
	{ "feature.dlcb", 1, "feature.dlcb: the bundle needs avx9000f, which this CPU does not have" },
	{ "text.dlcb", 1, "text.dlcb: not a bundle" },
	{ "/nonexistent", 1, "No such file" },
	{ "/", 1, "is a folder" },
	{ "/dev/zero", 1, "not a regular file" },
	{ "add.dlcb --output /nonexistent/x.npy", 5, "/nonexistent/x.npy: No such file" },
	{ "add.dlcb --output /dev/full", 5, "/dev/full: No space" },
	{ "add.dlcb --output out=/dev/full", 5, "/dev/full: No space" },
};

START_TEST(command_lines)
{
	static char out[TEXT], err[TEXT];
	const struct Line *l = &LINE[_i];
	int code = run(l->args, out, err);
	ck_assert_msg(code == l->code, "dlc-run %s: exit %d: %s", l->args, code, err);
	ck_assert_msg(strstr(code == 0 ? out : err, l->says) != NULL, "dlc-run %s: %s%s", l->args, out, err);
	int said = lines(err);
	bool random = strstr(err, "dlc-run: all inputs were random, from seed ") == err;
	ck_assert_msg(code == 0 ? said == random : code == 2 ? said == 2 : said == 1, "dlc-run %s: %s", l->args, err);
	if (code == 2)
		ck_assert_ptr_nonnull(strstr(err, "see dlc-run --help\n"));
}
END_TEST

/* Random numbers are announced, and asked for where another input is given. */
START_TEST(random_inputs)
{
	static char out[TEXT], err[TEXT], direct[TEXT], again[TEXT];
	ck_assert_int_eq(run("add.dlcb --seed 7", out, err), 0);
	ck_assert_str_eq(err, "dlc-run: all inputs were random, from seed 7\n");
	ck_assert_int_eq(run("add.dlcb --seed 7 -o s.npy", out, err), 0);
	ck_assert_str_eq(err, "dlc-run: all inputs were random, from seed 7\n");
	ck_assert_int_eq(run("add.dlcb --random --input a=a.npy -ot.npy", out, err), 0);
	ck_assert_str_eq(err, "dlc-run: random from seed 1: b f32[1,100]\n");
	ck_assert_uint_eq(read_file("s.npy", direct, TEXT), read_file("t.npy", again, TEXT));
	ck_assert_int_eq(run("add.dlcb --bench --runs=1", out, err), 0);
	ck_assert_str_eq(err, "");
	ck_assert_int_eq(run("add.dlcb --bench --runs=1 --input a=a.npy", out, err), 0);
	ck_assert_str_eq(err, "dlc-run: random from seed 1: b f32[1,100]\n");
	ck_assert_int_eq(run("add.dlcb --input a=a.npy --input b=b.npy --random", out, err), 0);
	ck_assert_str_eq(err, "");
}
END_TEST

/* Out through every door, and in again. */
START_TEST(tensors)
{
	static char out[TEXT], err[TEXT], direct[TEXT], again[TEXT];
	ck_assert_int_eq(run("add.dlcb --input a=a.npy --input b=b.npy --output o.npy", out, err), 0);
	ck_assert_str_eq(out, "");
	size_t n = read_file("o.npy", direct, TEXT);
	Array a;
	ck_assert_int_eq(npy_parse((unsigned char *)direct, n, &a, NULL), DLC_OK);
	for (int i = 0; i < N; i++) {
		float v;
		memcpy(&v, a.data + i * 4, 4);
		ck_assert_float_eq(v, (float)i + 1.5f);
	}
	ck_assert_int_eq(run("add.dlcb --input a=a.npy --input b=b.npy --output out=-", out, err), 0);
	ck_assert_uint_eq(read_file("stdout", again, TEXT), n);
	ck_assert_mem_eq(again, direct, n);
	ck_assert_int_eq(run("add.dlcb --input a=a.npy --input b=b.npy --output o.npz --output q.npy", out, err), 0);
	ck_assert_uint_eq(read_file("q.npy", again, TEXT), n);
	ck_assert_mem_eq(again, direct, n);
	size_t zip = read_file("o.npz", again, TEXT);
	ck_assert_int_eq(npz_parse((unsigned char *)again, zip, 0, &a, NULL), DLC_OK);
	ck_assert_str_eq(a.name, "out");
	ck_assert_int_eq(a.bytes, N * 4);
	/* What should be there for an output must be in the file. */
	ck_assert_int_eq(run("two.dlcb --input a=a.npy --input b=b.npy --expect o.npz", out, err), 1);
	ck_assert_msg(strstr(err, "o.npz: has no member for output sum; name the output that") != NULL, "%s", err);
	ck_assert_int_eq(run("two.dlcb --input a=a.npy --input b=b.npy --expect out=o.npz", out, err), 0);
	ck_assert_int_eq(run("two.dlcb --input a=a.npy --input b=b.npy -o p.npz --expect p.npz", out, err), 0);
	ck_assert_int_eq(lines(out), 2);
	/* An .npz whose members carry no input's name feeds one that is named. */
	ck_assert_int_eq(run("add.dlcb --input a=o.npz --input b=b.npy", out, err), 0);
	ck_assert_ptr_nonnull(strstr(out, "max 102"));
	ck_assert_int_eq(run("add.dlcb --input o.npz", out, err), 2);
	ck_assert_int_eq(run("add.dlcb --input a=- --input b=b.npy", out, err), 1); /* stdin is empty */
	ck_assert_int_eq(run("add.dlcb --input a=- --input b=b.npy <a.npy", out, err), 0);
	ck_assert_ptr_nonnull(strstr(out, "max 100.5"));
	ck_assert_int_eq(run("add.dlcb --seed 7 --output s.npy", out, err), 0);
	ck_assert_int_eq(run("add.dlcb --seed=7 --output t.npy --threads 2", out, err), 0);
	ck_assert_int_eq(run("add.dlcb --seed 8 --output u.npy", out, err), 0);
	ck_assert_uint_eq(read_file("s.npy", direct, TEXT), read_file("t.npy", again, TEXT));
	ck_assert_mem_eq(direct, again, n);
	read_file("u.npy", again, TEXT);
	ck_assert_mem_ne(direct, again, n);
}
END_TEST

static const char *const KEYS[] = { "model", "target", "device", "threads", "batch", "runs", "median_ms", "min_ms",
	"mean_ms", "p95_ms", "p99_ms", "fma_probe_gflops" };

START_TEST(bench)
{
	static char out[TEXT], err[TEXT];
	ck_assert_int_eq(run("add.dlcb --bench --seconds 0.05 --json", out, err), 0);
	ck_assert_int_eq(lines(out), 1);
	json_t *j = json_loads(out, 0, NULL);
	ck_assert_ptr_nonnull(j);
	for (int i = 0; i < LEN(KEYS); i++)
		ck_assert_msg(json_object_get(j, KEYS[i]) != NULL, "no %s in %s", KEYS[i], out);
	ck_assert_str_eq(json_string_value(json_object_get(j, "model")), "test");
	ck_assert_int_ge(json_integer_value(json_object_get(j, "runs")), 3);
	double min = json_number_value(json_object_get(j, "min_ms"));
	double median = json_number_value(json_object_get(j, "median_ms"));
	double p99 = json_number_value(json_object_get(j, "p99_ms"));
	ck_assert(0 < min && min <= median && median <= p99);
	ck_assert_double_gt(json_number_value(json_object_get(j, "fma_probe_gflops")), 0.1);
	json_decref(j);
	ck_assert_int_eq(run("add.dlcb --profile --runs 3 --json", out, err), 0);
	ck_assert_int_eq(lines(out), 3);
	char *line = strtok(out, "\n");
	for (int i = 0; i < 3; i++, line = strtok(NULL, "\n")) {
		j = json_loads(line, 0, NULL);
		ck_assert_msg(j != NULL, "%s", line);
		json_decref(j);
	}
}
END_TEST

/* What is no bundle goes to the dlc beside dlc-run; without one there is a sentence. */
START_TEST(hand_over)
{
	static char out[TEXT], err[TEXT];
	char here[400];
	const char *usual = program;
	snprintf(here, sizeof here, "cp '%s' %s/dlc-run", program, folder);
	ck_assert_int_eq(system(here), 0);
	snprintf(here, sizeof here, "%s/dlc-run", folder);
	program = here;
	ck_assert_int_eq(run("text", out, err), 1);
	ck_assert_ptr_nonnull(strstr(err, "text: not a bundle"));
	ck_assert_ptr_nonnull(strstr(err, "dlc-compile"));
	ck_assert_int_eq(run("resnet18", out, err), 1);
	write_file("dlc", "#!/bin/sh\necho \"dlc:$*\"; exit 3\n", 33);
	char path[400];
	snprintf(path, sizeof path, "%s/dlc", folder);
	ck_assert_int_eq(chmod(path, 0755), 0);
	ck_assert_int_eq(run("text --bench", out, err), 3);
	ck_assert_str_eq(out, "dlc:run text --bench\n");
	ck_assert_int_eq(run("--seed 3 resnet18", out, err), 3);
	ck_assert_str_eq(out, "dlc:run --seed 3 resnet18\n");
	ck_assert_int_eq(run("text.dlcb", out, err), 1); /* ours, by its name */
	ck_assert_int_eq(run("add.dlcb", out, err), 0);
	program = usual;
}
END_TEST

START_TEST(example_program)
{
	static char out[TEXT], err[TEXT];
	const char *usual = program;
	program = example;
	ck_assert_int_eq(run("add.dlcb", out, err), 0);
	ck_assert_str_eq(out, "out[0] = 2\n"); /* a and b are 0.5, and 1 is added */
	ck_assert_int_eq(run("ids.dlcb", out, err), 0);
	ck_assert_str_eq(out, "out[0] = 0\n");
	ck_assert_int_eq(run("half.dlcb", out, err), 1);
	ck_assert_str_eq(err, "input ids has elements of 16 bits and DLPack's type 2, which this example does not fill\n");
	ck_assert_int_eq(run("text", out, err), 1);
	ck_assert_ptr_nonnull(strstr(err, "text: not a bundle"));
	program = usual;
}
END_TEST

/* Runs a command in the folder; whether it succeeds. */
static bool succeeds(const char *command)
{
	char line[400];
	snprintf(line, sizeof line, "cd %s && %s", folder, command);
	return system(line) == 0;
}

/* A link stays a link, a file keeps its mode, and one that its owner protected is not replaced. */
START_TEST(outputs_that_are_there)
{
	static char out[TEXT], err[TEXT];
	ck_assert(succeeds("touch real.npy && chmod 640 real.npy && ln -s real.npy link.npy"));
	ck_assert_int_eq(run("add.dlcb -o link.npy", out, err), 0);
	ck_assert(succeeds("test -L link.npy && test -s real.npy && ls -l real.npy | grep -q '^-rw-r-----'"));
	ck_assert(succeeds("cp real.npy copy.npy && chmod 440 real.npy"));
	enum { NOBODY = 65534 };
	/* To root nothing is read-only; nobody must be able to run the program. */
	if (geteuid() == 0 && (!succeeds("rm -f stdout stderr") || chown(folder, NOBODY, (gid_t)-1) != 0 ||
							  setresuid(NOBODY, NOBODY, 0) != 0 || run("--version", out, err) != 0)) {
		(void)!setresuid(0, 0, (uid_t)-1);
		suite_skip("a protected output", "root cannot run dlc-run as another user");
		return;
	}
	ck_assert_int_eq(run("add.dlcb --seed 2 -o link.npy", out, err), 5);
	ck_assert_str_eq(err, "dlc-run: link.npy: Permission denied\n");
	ck_assert(succeeds("cmp -s real.npy copy.npy && test -z \"$(ls | grep tmp)\""));
	(void)!setresuid(0, 0, (uid_t)-1);
}
END_TEST

/* A refused or failed run leaves nothing behind. */
START_TEST(no_partial_files)
{
	static char out[TEXT], err[TEXT];
	ck_assert_int_eq(run("fails.dlcb --output left.npy", out, err), 1);
	ck_assert_int_eq(run("add.dlcb --output /dev/full --output left.npy", out, err), 5);
	char command[300];
	snprintf(command, sizeof command, "test -z \"$(ls %s | grep left)\"", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s DLC-RUN EXAMPLE\n", argv[0]);
		return 2;
	}
	program = realpath(argv[1], NULL); /* the tests run in a folder of their own */
	example = realpath(argv[2], NULL);
	TCase *tc = tcase_create("run");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, command_lines, 0, LEN(LINE));
	tcase_add_test(tc, random_inputs);
	tcase_add_test(tc, tensors);
	tcase_add_test(tc, bench);
	tcase_add_test(tc, hand_over);
	tcase_add_test(tc, outputs_that_are_there);
	tcase_add_test(tc, no_partial_files);
	tcase_add_test(tc, example_program);
	return run_suite("run", tc);
}
