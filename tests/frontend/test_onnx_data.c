/*
 * ONNX's own backend tests against the importer: each model whose nodes are all among the operators
 * below is imported (inputs that fix a shape are offered from the test data), its results must have
 * the declared types and shapes, and what it computes in the interpreter must be what the test
 * says. Training mode and Indices results are refused by name, and counted. Data: $DLC_TEST_DATA
 * or ../shared beside the source, and Debian's libonnx-testdata; what is not there is skipped,
 * aloud. DLC_TEST_ALL=1 also runs what is long in the interpreter.
 */
#include "evaluate.h"
#include "frontend/frontend.h"
#include "frontend/onnx/proto.h"
#include "op/element.h"
#include "suite.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ops[] = " Conv MaxPool AveragePool GlobalAveragePool GlobalMaxPool BatchNormalization Gemm MatMul "
						  "Add Sub Mul"
						  " Div Pow Max Min Abs Neg Exp Log Sqrt Erf Tanh Sigmoid Relu LeakyRelu PRelu Clip Elu "
						  "HardSigmoid"
						  " HardSwish Softmax LogSoftmax LRN ReduceMean ReduceSum ReduceMax ReduceMin Reshape "
						  "Flatten Transpose"
						  " Squeeze Unsqueeze Concat Slice Split Pad Identity Constant Shape Expand Dropout Cast ";

static const double tol_rel = 1e-3, tol_abs = 1e-7; /* the upstream runner's */
static const double most_flops = 3e6;               /* of a model in the interpreter */
enum { MOST_TENSORS = 64 };

typedef struct Count {
	int passed, refused, failed, unevaluated, skipped;
} Count;

typedef struct Case {
	Arena *arena;
	const char *dir;
	const char *input[MOST_TENSORS]; /* names; the data are loaded when they are asked for */
	BindArg data[MOST_TENSORS];
	int ninput;
} Case;

static bool read_file(Arena *a, const char *path, Bytes *out)
{
	return access(path, R_OK) == 0 && file_read(a, path, (size_t)1 << 30, out, NULL);
}

static bool is_ours(const OnnxModel *m)
{
	for (size_t k = 0; k < m->graph->node.n; k++) {
		char word[80];
		snprintf(word, sizeof word, " %.70s ", onnx_text(m->graph->node.at[k].op_type));
		if (strstr(ops, word) == NULL || onnx_text(m->graph->node.at[k].domain)[0] != 0)
			return false;
	}
	return true;
}

/* The Debian data have no index: T1's element types, on inputs and results. */
static bool is_plain(const OnnxValueInfo *v, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const OnnxTensorType *t = v[k].type != NULL ? v[k].type->tensor_type : NULL;
		if (t == NULL || t->elem_type <= 0 || t->elem_type > 9 || t->elem_type == 8 || t->elem_type == 4 ||
			t->elem_type == 5)
			return false;
	}
	return true;
}

/* The data of optionals and sequences are other messages, which tests/onnx/backend.py reads. */
static bool are_tensors(const OnnxValueInfo *v, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (v[k].type != NULL && v[k].type->tensor_type == NULL)
			return false;
	return true;
}

static OnnxModel *read_model(Arena *a, const char *dir)
{
	Bytes file;
	OnnxModel *m = arena_new_of(a, OnnxModel);
	if (!read_file(a, arena_printf(a, "%s/model.onnx", dir), &file) ||
		!wire_read(a, &OnnxModel_message, file, m, NULL) || m->graph == NULL)
		return NULL;
	return m;
}

static bool is_initializer(const OnnxGraph *g, const char *name)
{
	for (size_t k = 0; k < g->initializer.n; k++)
		if (strcmp(onnx_text(g->initializer.at[k].name), name) == 0)
			return true;
	return false;
}

static bool load_inputs(Case *c, const OnnxModel *m)
{
	for (size_t k = 0; k < m->graph->input.n; k++) {
		const char *name = onnx_text(m->graph->input.at[k].name);
		Bytes file;
		if (is_initializer(m->graph, name))
			continue;
		if (c->ninput == MOST_TENSORS ||
			!read_file(c->arena, arena_printf(c->arena, "%s/test_data_set_0/input_%d.pb", c->dir, c->ninput), &file) ||
			!frontend_read_tensor("onnx", c->arena, file, &c->data[c->ninput], NULL))
			return false;
		c->input[c->ninput++] = name;
	}
	return true;
}

static bool offer(const char *name, BindArg *out, void *arg)
{
	Case *c = arg;
	for (int k = 0; k < c->ninput; k++)
		if (strcmp(c->input[k], name) == 0) {
			*out = c->data[k];
			return true;
		}
	return false;
}

/* "" or what is wrong with the result. */
static const char *compare(Arena *a, const Value *v, const void *have, const BindArg *want)
{
	char x[160], y[160], s[DTYPE_TEXT], t[DTYPE_TEXT];
	if (!dtype_eq(v->type, want->type) || !shape_eq(v->shape, want->shape))
		return arena_printf(a, "%s is %s %s, not %s %s", v->name, dtype_print(v->type, s), shape_str(v->shape, x),
			dtype_print(want->type, t), shape_str(want->shape, y));
	for (int64_t k = 0; have != NULL && k < shape_elements(v->shape); k++) {
		double p = element_get(v->type, have, k), q = element_get(v->type, want->data, k);
		if (p == q || (isnan(p) && isnan(q)))
			continue;
		if (!(fabs(p - q) <= tol_abs + tol_rel * fabs(q)))
			return arena_printf(a, "%s[%lld] is %g, not %g", v->name, (long long)k, p, q);
	}
	return "";
}

/* Runs the Dag on the case's inputs; NULL and err on failure. */
static void **run(Case *c, const Dag *d, Err *err)
{
	const void **in = arena_array(c->arena, const void *, d->input.n + 1);
	for (size_t k = 0; k < d->input.n; k++) {
		BindArg b = { .data = NULL };
		offer(d->value.at[d->input.at[k]].name, &b, c);
		in[k] = b.data;
	}
	return evaluate(c->arena, d, in, err);
}

static const char *check_results(Case *c, const Dag *d, Count *count)
{
	Err err = { 0 };
	void **out = NULL;
	if (dag_flops(d) <= most_flops || getenv("DLC_TEST_ALL") != NULL) {
		out = run(c, d, &err);
		if (out == NULL)
			return arena_printf(c->arena, "%s: %s", err.place, err.text);
	} else {
		count->unevaluated++;
	}
	for (size_t k = 0; k < d->output.n; k++) {
		Bytes file;
		BindArg want;
		const char *path = arena_printf(c->arena, "%s/test_data_set_0/output_%zu.pb", c->dir, k);
		if (!read_file(c->arena, path, &file) || !frontend_read_tensor("onnx", c->arena, file, &want, &err))
			return arena_printf(c->arena, "%s cannot be read: %s", path, err.text);
		const char *wrong = compare(c->arena, &d->value.at[d->output.at[k]], out != NULL ? out[k] : NULL, &want);
		if (wrong[0] != 0)
			return wrong;
	}
	return "";
}

static bool is_refusal_by_name(const Err *err)
{
	return err->code == ERR_UNSUPPORTED &&
	       (strstr(err->text, "training mode") != NULL || strstr(err->text, "(Indices)") != NULL);
}

static void run_case(const char *dir, bool only_plain, Count *count)
{
	Arena *a = arena_new();
	OnnxModel *m = read_model(a, dir);
	Case c = { .arena = a, .dir = dir };
	Err err = { 0 };
	if (m == NULL || !is_ours(m) ||
		(only_plain &&
			(!is_plain(m->graph->input.at, m->graph->input.n) || !is_plain(m->graph->output.at, m->graph->output.n)))) {
		arena_free(a);
		return;
	}
	if (!load_inputs(&c, m)) {
		count->skipped++;
		suite_skip(dir, "its inputs cannot be read");
		arena_free(a);
		return;
	}
	ModelArgs args = { .offer = offer, .offer_arg = &c };
	Dag *d = frontend_load(a, arena_printf(a, "%s/model.onnx", dir), &args, &err);
	const char *wrong = d != NULL ? check_results(&c, d, count) : "";
	if (d == NULL && is_refusal_by_name(&err)) {
		count->refused++;
	} else if (d == NULL || wrong[0] != 0) {
		count->failed++;
		printf("%s: %s\n", dir, d == NULL ? err.text : wrong);
	} else {
		count->passed++;
	}
	arena_free(a);
}

static void finish(const char *what, Count n, int least)
{
	printf("%s: %d passed, %d refused by name, %d failed, %d skipped; %d too long for the "
		   "interpreter\n",
		what, n.passed, n.refused, n.failed, n.skipped, n.unevaluated);
	ck_assert_int_eq(n.failed, 0);
	ck_assert_int_ge(n.passed + n.refused, least);
}

static const char *data_root(Arena *a)
{
	const char *env = getenv("DLC_TEST_DATA");
	return arena_printf(a, "%s/onnx-backend", env != NULL ? env : SOURCE_ROOT "/../shared");
}

/* Field `k` of a line of tab-separated ones, "" if there is none. */
static const char *field(const char *line, int k, char out[128])
{
	while (k-- > 0 && *line != 0) {
		line += strcspn(line, "\t\n");
		line += *line == '\t';
	}
	snprintf(out, 128, "%.*s", (int)strcspn(line, "\t\n"), line);
	return out;
}

static const struct {
	const char *folder;
	int least; /* whose main operator is ours; other models of these operators add to it */
} suites[] = {
	{ "node/", 213 },
	{ "node-old/", 241 },
	{ "pytorch-converted/", 50 },
	{ "pytorch-operator/", 15 },
	{ "simple/", 1 },
};

START_TEST(backend_tests_pass)
{
	Arena *a = arena_new();
	const char *root = data_root(a);
	Bytes index;
	Count n = { 0 };
	if (!read_file(a, arena_printf(a, "%s/index.tsv", root), &index)) {
		suite_skip(suites[_i].folder, arena_printf(a, "%s is not there", root));
		arena_free(a);
		return;
	}
	for (const char *s = (const char *)index.at; *s != 0; s += strcspn(s, "\n"), s += *s == '\n') {
		char path[128], expanded[128], tier[128];
		field(s, 0, path);
		if (strncmp(path, suites[_i].folder, strlen(suites[_i].folder)) == 0 &&
			strcmp(field(s, 6, expanded), "0") == 0 && strcmp(field(s, 9, tier), "T1") == 0)
			run_case(arena_printf(a, "%s/%s", root, path), false, &n);
	}
	finish(suites[_i].folder, n, suites[_i].least);
	arena_free(a);
}
END_TEST

/* Dropout that draws: refused, never wrong. */
START_TEST(training_is_refused_by_name)
{
	static const char *const cases[] = {
		"node/test_training_dropout_default",
		"node/test_training_dropout_default_mask",
		"node-old/test_training_dropout_default__Dropout-12",
	};
	Arena *a = arena_new();
	Count n = { 0 };
	if (access(data_root(a), R_OK) != 0) {
		suite_skip("training mode", arena_printf(a, "%s is not there", data_root(a)));
		arena_free(a);
		return;
	}
	for (int k = 0; k < LEN(cases); k++)
		run_case(arena_printf(a, "%s/%s", data_root(a), cases[k]), false, &n);
	ck_assert_int_eq(n.passed + n.failed + n.skipped, 0);
	ck_assert_int_eq(n.refused, LEN(cases));
	arena_free(a);
}
END_TEST

START_TEST(debian_tests_pass)
{
	static const char *const folders[] = { "node", "simple", "pytorch-converted", "pytorch-operator" };
	const char *root = "/usr/share/libonnx-testdata/data";
	Arena *a = arena_new();
	const char *folder = arena_printf(a, "%s/%s", root, folders[_i]);
	DIR *dir = opendir(folder);
	Count n = { 0 };
	if (dir == NULL) {
		suite_skip_installable(folders[_i], arena_printf(a, "%s is missing", folder));
		arena_free(a);
		return;
	}
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (e->d_name[0] != '.' && strstr(e->d_name, "_expanded") == NULL)
			run_case(arena_printf(a, "%s/%s", folder, e->d_name), true, &n);
	closedir(dir);
	finish(folder, n, _i == 0 ? 150 : 0);
	arena_free(a);
}
END_TEST

/* Whole networks of opset 9, whose weights are ConstantOfShape nodes: every shape must come out. */
START_TEST(light_models_import)
{
	static const char *const models[] = {
		"bvlc_alexnet",
		"densenet121",
		"inception_v1",
		"inception_v2",
		"resnet50",
		"shufflenet",
		"squeezenet",
		"vgg19",
		"zfnet512",
	};
	Arena *a = arena_new();
	Err err = { 0 };
	Bytes file;
	BindArg want;
	const char *model = arena_printf(a, "%s/light/light_%s.onnx", data_root(a), models[_i]);
	const char *result = arena_printf(a, "%s/light/light_%s_output_0.pb", data_root(a), models[_i]);
	if (!read_file(a, result, &file)) {
		suite_skip(models[_i], arena_printf(a, "%s is not there", result));
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(a, model, NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s", err.place, err.text);
	ck_assert(frontend_read_tensor("onnx", a, file, &want, &err));
	const char *wrong = compare(a, &d->value.at[d->output.at[0]], NULL, &want);
	ck_assert_msg(wrong[0] == 0, "%s: %s", model, wrong);
	arena_free(a);
}
END_TEST

/* Networks that PyTorch exported, by both of its exporters, and what they lead to. */
static const struct {
	const char *path;
	int convolutions;
} exported[] = {
	{ "onnx/resnet18.onnx", 20 },
	{ "onnx/mobilenet_v2.onnx", 52 },
	{ "onnx/squeezenet1_1.onnx", 26 },
	{ "onnx/squeezenet1_1.dynamo.onnx", 26 },
	{ "torch/generated/shufflenet_v2_x0_5.onnx", 56 },
	{ "torch/generated/shufflenet_v2_x0_5.dynamo.onnx", 56 },
	{ "torch/generated/mobilenet_v3_small_05.onnx", 34 }, /* and 18 dense layers, the gates */
	{ "torch/generated/mobilenet_v3_small_05.dynamo.onnx", 34 },
};

START_TEST(exported_models_import)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *env = getenv("DLC_TEST_DATA");
	const char *model =
		arena_printf(a, "%s/models/%s", env != NULL ? env : SOURCE_ROOT "/../shared", exported[_i].path);
	if (access(model, R_OK) != 0) {
		suite_skip(exported[_i].path, arena_printf(a, "%s is not there", model));
		arena_free(a);
		return;
	}
	Dag *d = frontend_load(a, model, NULL, &err);
	ck_assert_msg(d != NULL, "%s: %s\n%s", err.place, err.text, err.items);
	ck_assert_msg(graph_optimize(d, graph_eval_interp, &err), "%s: %s", err.place, err.text);
	int n = 0;
	for (size_t k = 0; k < d->call.n; k++)
		n += d->call.at[k].op == OP_conv;
	ck_assert_int_eq(n, exported[_i].convolutions);
	ck_assert_str_eq(d->value.at[d->input.at[0]].name, "data");
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "out");
	arena_free(a);
}
END_TEST

/* What dlc lacks is refused by the operator's name, whatever else is odd about the model. What it has is right. */
START_TEST(rejected_models_name_the_operator)
{
	Arena *a = arena_new();
	const char *folder = arena_printf(a, "%s/reject", data_root(a));
	DIR *dir = opendir(folder);
	int n = 0;
	Count taken = { 0 };
	if (dir == NULL) {
		suite_skip("models to refuse", arena_printf(a, "%s is not there", folder));
		arena_free(a);
		return;
	}
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		Err err = { 0 };
		Case c = { .arena = a, .dir = arena_printf(a, "%s/%s", folder, e->d_name) };
		OnnxModel *m = read_model(a, c.dir);
		bool known = m != NULL && load_inputs(&c, m);
		ModelArgs args = { .offer = offer, .offer_arg = &c };
		Dag *d = frontend_load(a, arena_printf(a, "%s/model.onnx", c.dir), &args, &err);
		bool tensors = m != NULL && are_tensors(m->graph->input.at, m->graph->input.n) &&
			are_tensors(m->graph->output.at, m->graph->output.n);
		if (d != NULL && !tensors)
			continue;
		if (d != NULL) {
			const char *wrong = known ? check_results(&c, d, &taken) : "its inputs cannot be read";
			ck_assert_msg(wrong[0] == 0, "%s: %s", e->d_name, wrong);
			continue;
		}
		bool asks = err.code == ERR_INPUT && strcmp(err.place, "shape") == 0; /* for the elements of a sequence */
		ck_assert_msg(err.code == ERR_UNSUPPORTED || asks, "%s: %s", e->d_name, err.text);
		const char *op = m == NULL || m->graph->node.n == 0 ? "" : onnx_text(m->graph->node.at[0].op_type);
		ck_assert_msg(strstr(err.items, op) != NULL || strstr(err.text, op) != NULL, "%s: %s\n%s", e->d_name, err.text,
			err.items);
		n++;
	}
	closedir(dir);
	ck_assert_int_gt(n, 0);
	arena_free(a);
}
END_TEST

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	TCase *tc = tcase_create("onnx-data");
	tcase_add_loop_test(tc, backend_tests_pass, 0, LEN(suites));
	tcase_add_test(tc, training_is_refused_by_name);
	tcase_add_loop_test(tc, debian_tests_pass, 0, 4);
	tcase_add_loop_test(tc, light_models_import, 0, 9);
	tcase_add_loop_test(tc, exported_models_import, 0, LEN(exported));
	tcase_add_test(tc, rejected_models_name_the_operator);
	return run_suite("onnx-data", tc);
}
