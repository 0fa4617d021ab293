/*
 * Caffe2: operators against the same in ONNX, pairs of files, weights of init_net, blobs that are written again, what
 * is refused, damaged files.
 */
#include "beside_onnx.h"
#include "caffe2_text.h"

#include "caffe2_become.inc"
#include "caffe2_refused.inc"

/* ---- running */

static Dag *load_net(Arena *a, const char *lines, Err *err)
{
	NetText *t = net_text(a, lines);
	const char *path = in_folder(a, "predict_net.pb");
	Bytes predict = net_bytes(a, &t->predict), init = net_bytes(a, &t->init);
	save_bytes(path, predict.at, predict.n);
	remove(in_folder(a, "init_net.pb"));
	if (t->init.op.n > 0)
		save_bytes(in_folder(a, "init_net.pb"), init.at, init.n);
	for (int k = 0; k < t->nshape; k++)
		if (t->shape[k].shape.rank == 0)
			t->nshape = k;
	return frontend_load(a, path, &(ModelArgs){ .shape = t->shape, .nshape = t->nshape }, err);
}

/* Lines of a table as lines of a net: "x 2,3|w 3" with `before` in front of each. */
static const char *lines_of(Arena *a, const char *list, const char *before, const char *type)
{
	Text t = { .arena = a };
	char *copy = arena_copy(a, list, strlen(list) + 1), *rest;
	for (char *w = strtok_r(copy, "|", &rest); w != NULL; w = strtok_r(NULL, "|", &rest)) {
		size_t n = strcspn(w, " ");
		text_add(&t, "%s%.*s%s%s\n", before, (int)n, w, type, w + n);
	}
	return text_str(&t);
}

/* "ints i 2 = 0 1|floats .." as initialisers of ONNX. */
static const char *initialisers(Arena *a, const char *list)
{
	Text t = { .arena = a };
	char *copy = arena_copy(a, list, strlen(list) + 1), *rest;
	for (char *w = strtok_r(copy, "|", &rest); w != NULL; w = strtok_r(NULL, "|", &rest)) {
		char *name = strchr(w, ' ') + 1;
		size_t n = strcspn(name, " ");
		text_add(&t, "init %.*s %s%s\n", (int)n, name, w[0] == 'i' ? "i64" : "f32", name + n);
	}
	return text_str(&t);
}

/* Replaces each '|' by a new line. */
static const char *split_lines(Arena *a, const char *list)
{
	char *copy = arena_copy(a, list, strlen(list) + 1);
	for (char *s = copy; *s != 0; s++)
		*s = *s == '|' ? '\n' : *s;
	return copy;
}

START_TEST(nets_are_as_in_onnx)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *ints = become[_i].ints;
	const char *net = arena_printf(
		a, "%s%s\n%s\nout y", lines_of(a, become[_i].in, "in ", ""), split_lines(a, ints), become[_i].caffe2);
	const char *onnx = arena_printf(a, "opset 20\n%s%s%s\nout y\n", lines_of(a, become[_i].in, "in ", " f32"),
		initialisers(a, ints), become[_i].onnx);
	Dag *d = load_net(a, net, &err);
	ck_assert_msg(d != NULL, "%s\n%s: %s\n%s", net, err.place, err.text, err.items);
	compare_with_onnx(a, d, onnx, (uint64_t)_i);
	arena_free(a);
}
END_TEST

START_TEST(nets_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	char all[3200];
	Dag *d = load_net(a, refused[_i].net, &err);
	ck_assert_msg(d == NULL, "%s\nis taken:\n%s", refused[_i].net, d != NULL ? dag_str(a, d) : "");
	err_format(&err, all, sizeof all);
	ck_assert_msg(
		strstr(all, refused[_i].want) != NULL, "%s\nsays: %slacks: %s", refused[_i].net, all, refused[_i].want);
	ck_assert_int_eq(err_exit_code(err.code), 1);
	arena_free(a);
}
END_TEST

/* ---- files */

static const char small[] = "in x 1,2\nfloats w 3,2 = 1 2 3 4 5 6\nfloats b 3 = 0.5 0 -100\nFC x,w,b -> y\nRelu y -> y";

static void check_small(Arena *a, const Dag *d, const Err *err)
{
	static const float x[] = { 1, 10 };
	Err why = { 0 };
	ck_assert_msg(d != NULL, "%s: %s", err->place, err->text);
	ck_assert_uint_eq(d->input.n, 1);
	ck_assert_uint_eq(d->output.n, 1);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "y");
	void **out = evaluate(a, d, (const void *const[]){ x }, &why);
	ck_assert_msg(out != NULL, "%s", why.text);
	const float *y = out[0];
	ck_assert_float_eq(y[0], 21.5f);
	ck_assert_float_eq(y[1], 43);
	ck_assert_float_eq(y[2], 0);
}

static int notes;

static void count_note(const char *sentence, void *arg)
{
	notes += strstr(sentence, arg) != NULL;
}

/* The pair by its names, by --weights, from the init_net's side; shapes of value_info.json. */
START_TEST(two_files_are_a_net)
{
	static const char *const names[][2] = { { "predict_net.pb", "init_net.pb" }, { "exec_net.pb", "init_net.pb" },
		{ "sq_predict_net.pb", "sq_init_net.pb" }, { "a.predict.pb", "a.init.pb" }, { "one.pb", "other.pb" } };
	Arena *a = arena_new();
	NetText *t = net_text(a, small);
	Bytes predict = net_bytes(a, &t->predict), init = net_bytes(a, &t->init);
	for (int k = 0; k < LEN(names); k++) {
		Err err = { 0 };
		const char *path = in_folder(a, names[k][0]), *other = in_folder(a, names[k][1]);
		ModelArgs args = { .shape = t->shape, .nshape = t->nshape };
		save_bytes(path, predict.at, predict.n);
		save_bytes(other, init.at, init.n);
		if (k == LEN(names) - 1) {
			args.weights = other;
			notes = 0;
			ModelArgs none = {
				.shape = t->shape, .nshape = 1, .note = count_note, .note_arg = "so its weights are inputs"
			};
			ck_assert(frontend_load(a, path, &none, &err) == NULL);
			ck_assert_msg(strstr(err.text, "does not say the shape of input 'w'") != NULL, "%s", err.text);
			ck_assert_int_eq(notes, 1);
			err = (Err){ 0 };
		}
		Dag *d = frontend_load(a, path, &args, &err);
		check_small(a, d, &err);
		if (args.weights == NULL) {
			d = frontend_load(a, other, &args, &err);
			check_small(a, d, &err);
			ck_assert_int_eq(remove(path), 0);
		}
	}
	Err err = { 0 };
	ck_assert(frontend_load(a, in_folder(a, "init_net.pb"), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "only fills weights: name the predict_net") != NULL, "%s", err.text);
	for (int k = 0; k < 2; k++) { /* an init_net of another net, which is given or found */
		err = (Err){ 0 };
		init = net_bytes(a, &net_text(a, "in x 1,2\nfloats q 2 = 1 2\nAdd x,q -> y")->init);
		const char *path = in_folder(a, "predict_net.pb"), *other = in_folder(a, k ? "init_net.pb" : "stray.pb");
		save_bytes(path, predict.at, predict.n);
		save_bytes(other, init.at, init.n);
		ck_assert(frontend_load(a, k ? other : path, k ? NULL : &(ModelArgs){ .weights = other }, &err) == NULL);
		ck_assert_str_eq(err.place, other);
		ck_assert_msg(strstr(err.text, "reads none of the blobs that it fills") != NULL, "%s", err.text);
	}
	arena_free(a);
}
END_TEST

/* A net that reads nothing from outside is one file. Only the name of the file says that it is an init_net. */
START_TEST(one_file_is_a_net)
{
	Arena *a = arena_new();
	Err err = { 0 };
	NetText *t = net_text(a, "GivenTensorFill -> w shape=[2] values=[-1.0,2.0]\nRelu w -> y");
	ck_assert_uint_eq(t->predict.external_input.n, 0);
	Dag *d = frontend_load_bytes(a, "nosuch/init_nets/net.pb", net_bytes(a, &t->predict), NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	ck_assert(frontend_load_bytes(a, "nosuch/init_net.pb", net_bytes(a, &t->predict), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "only fills weights") != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

START_TEST(shapes_beside_the_net)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{ "{\"x\": [1, [1, 2]]}", NULL },
		{ "{\"x\": [1, [1, 3]]}", "dense" },
		{ "{\"x\": [4, [1, 2]]}", "has the type 4, which dlc does not have" },
		{ "{\"x\": [1, 2]}", "must be a type and a list of sizes" },
		{ "{\"x\": [1, [1, -2]]}", "must be a type and a list of sizes" },
		{ "{", "value_info.json" },
	};
	Arena *a = arena_new();
	NetText *t = net_text(a, small);
	Bytes predict = net_bytes(a, &t->predict), init = net_bytes(a, &t->init);
	save_bytes(in_folder(a, "predict_net.pb"), predict.at, predict.n);
	save_bytes(in_folder(a, "init_net.pb"), init.at, init.n);
	for (int k = 0; k < LEN(rows); k++) {
		Err err = { 0 };
		char all[3200];
		save_bytes(in_folder(a, "value_info.json"), rows[k].json, strlen(rows[k].json));
		Dag *d = frontend_load(a, in_folder(a, "predict_net.pb"), NULL, &err);
		if (rows[k].want == NULL) {
			check_small(a, d, &err);
			continue;
		}
		err_format(&err, all, sizeof all);
		ck_assert(d == NULL);
		ck_assert_msg(strstr(all, rows[k].want) != NULL, "%d: %s", k, all);
	}
	arena_free(a);
}
END_TEST

/* The text format, enumerations of arguments in it, and a text for the weights. */
START_TEST(nets_as_text)
{
	static const char predict[] =
		"# a comment with op { type\n"
		"name: \"t\"\n"
		"op {\n  input: \"x\" input: \"w\" input: \"b\" output: \"y\" name: \"\" type: \"FC\"\n"
		"  arg { name: \"axis\" i: 1 } device_option { device_type: 0 } }\n"
		"op { input: \"y\" output: \"y\" type: \"Relu\" }\n"
		"external_input: \"x\" external_input: \"w\" external_input: \"b\" external_output: \"y\"\n";
	static const char init[] =
		"op { output: \"w\" type: \"GivenTensorFill\" arg { name: \"shape\" ints: 3 ints: 2 }\n"
		"  arg { name: \"values\" floats: 1 floats: 2 floats: 3 floats: 4 floats: 5 floats: 6 } }\n"
		"op { output: \"b\" type: \"GivenTensorFill\" arg { name: \"shape\" ints: 3 }\n"
		"  arg { name: \"values\" floats: [0.5, 0, -100] } }\n"
		"op { output: \"x\" type: \"GivenTensorFill\" arg { name: \"shape\" ints: 1 ints: 1 }\n"
		"  arg { name: \"values\" floats: 0 } }\n";
	Arena *a = arena_new();
	Err err = { 0 };
	ShapeArg shape = { "x", { 2, { 1, 2 } } };
	save_bytes(in_folder(a, "predict_net.pbtxt"), predict, sizeof predict - 1);
	save_bytes(in_folder(a, "init_net.pbtxt"), init, sizeof init - 1);
	Dag *d = frontend_load(a, in_folder(a, "predict_net.pbtxt"), &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	check_small(a, d, &err);
	arena_free(a);
}
END_TEST

/* A net from before training draws its weights, the same each time, and says so. */
START_TEST(weights_are_drawn)
{
	static const char *const fills[] = { "XavierFill -> w shape=[8,64]", "MSRAFill -> w shape=[8,64]",
		"GaussianFill -> w shape=[8,64] mean=2.0 std=0.5", "UniformFill -> w shape=[8,64] min=1.0 max=2.0" };
	static const double mean[] = { 0, 0, 2, 1.5 }, deviation[] = { 0.125, 0.17677, 0.5, 0.288675 };
	Arena *a = arena_new();
	for (int k = 0; k < LEN(fills); k++) {
		const char *lines = arena_printf(a, "init %s\nin x 8,64\nAdd x,w -> y", fills[k]);
		NetText *t = net_text(a, lines);
		Bytes predict = net_bytes(a, &t->predict), init = net_bytes(a, &t->init);
		save_bytes(in_folder(a, "predict_net.pb"), predict.at, predict.n);
		save_bytes(in_folder(a, "init_net.pb"), init.at, init.n);
		const float *w[2];
		for (int i = 0; i < 2; i++) {
			Err err = { 0 };
			notes = 0;
			Dag *d = frontend_load(a, in_folder(a, "predict_net.pb"),
				&(ModelArgs){ .shape = t->shape, .nshape = 1, .note = count_note, .note_arg = "come from a seed" },
				&err);
			ck_assert_msg(d != NULL, "%s", err.text);
			ck_assert_int_eq(notes, 1);
			w[i] = NULL;
			for (size_t j = 0; j < d->value.n; j++)
				if (d->value.at[j].kind == VALUE_CONST)
					w[i] = d->value.at[j].data;
			ck_assert_ptr_nonnull(w[i]);
		}
		double sum = 0, square = 0;
		for (int i = 0; i < 512; i++) {
			ck_assert_float_eq(w[0][i], w[1][i]);
			sum += w[0][i];
			square += (w[0][i] - mean[k]) * (w[0][i] - mean[k]);
		}
		ck_assert_double_eq_tol(sum / 512, mean[k], 0.2 * deviation[k]);
		ck_assert_double_eq_tol(sqrt(square / 512), deviation[k], 0.1 * deviation[k]);
	}
	arena_free(a);
}
END_TEST

/* ---- damage */

static const char whole[] = "in x 1,4,6,6\n"
							"init XavierFill -> w shape=[4,2,3,3]\n"
							"floats b 4 = 1 2 3 4\n"
							"ints s 2 = 1 -1\n"
							"Conv x,w,b -> c kernel=3 pad=1 group=2\n"
							"Relu c -> c\n"
							"AveragePool c -> p kernel=3 stride=2 legacy_pad=3\n"
							"Split p -> u,v axis=1\n"
							"Add u,v -> e broadcast=1 axis=0\n"
							"Concat e,u -> j,i order=NCHW\n"
							"Reshape j,s -> r,o\n"
							"Softmax r -> y\n";

static bool load_damaged(Arena *a, Bytes b)
{
	Err err = { 0 };
	ShapeArg shape = { "x", { 4, { 1, 4, 6, 6 } } };
	Dag *d = frontend_load_bytes(a, "nosuch/net.pb", b, &(ModelArgs){ .shape = &shape, .nshape = 1 }, &err);
	ck_assert((d == NULL) == (err.code != ERR_NONE));
	ck_assert(d == NULL || dag_check(d, &err));
	return d != NULL;
}

START_TEST(damaged_nets)
{
	Rng r = rng_seed(9);
	Arena *a = arena_new();
	int good = 0;
	NetText *t = net_text(a, whole);
	Caffe2Net one = t->init; /* both in one file */
	for (size_t k = 0; k < t->predict.op.n; k++)
		vec_push(a, &one.op, t->predict.op.at[k]);
	vec_push(a, &one.external_input, "x");
	Bytes b = net_bytes(a, &one);
	ck_assert(load_damaged(a, b));
	for (int k = 0; k < 2000; k++) {
		Arena *tmp = arena_new();
		unsigned char *bytes = arena_copy(tmp, b.at, b.n);
		size_t n = rng_below(&r, 4) == 0 ? rng_below(&r, b.n) : b.n;
		for (uint64_t i = rng_below(&r, 4); i > 0 && n > 0; i--)
			bytes[rng_below(&r, n)] ^= (unsigned char)(1 << rng_below(&r, 8));
		good += load_damaged(tmp, (Bytes){ bytes, n });
		arena_free(tmp);
	}
	ck_assert_int_gt(good, 20);
	ck_assert_int_lt(good, 1900);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("caffe2");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, nets_are_as_in_onnx, 0, LEN(become));
	tcase_add_loop_test(tc, nets_are_refused, 0, LEN(refused));
	tcase_add_test(tc, two_files_are_a_net);
	tcase_add_test(tc, one_file_is_a_net);
	tcase_add_test(tc, shapes_beside_the_net);
	tcase_add_test(tc, nets_as_text);
	tcase_add_test(tc, weights_are_drawn);
	tcase_add_test(tc, damaged_nets);
	return run_suite("caffe2", tc);
}
