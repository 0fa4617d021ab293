/* CoreML's non-maximum suppression, of neural networks and of ML programs of both forms. */
#include "coreml_made.h"
#include "evaluate.h"
#include "suite.h"

enum { NMS = 1400, BOXES = 4, CLASSES = 2, MOST = 3 };

/* A centre and a size: the second one covers most of the first, the last most of the third. */
static const float boxes[BOXES][4] = { { 5, 5, 1, 1 }, { 0.5f, 0.5f, 1, 1 }, { 0.6f, 0.5f, 1, 1 }, { 5.2f, 5, 1, 1 } };
static const float scores[BOXES][CLASSES] = { { 0.3f, 0.1f }, { 0.9f, 0.2f }, { 0.1f, 0.8f }, { 0.05f, 0.1f } };

static const struct {
	float limit, score;
	bool by_class;
	int count, place[MOST];
} rows[] = {
	{ 0.5f, 0.2f, false, 2, { 1, 0, -1 } },
	{ 0.5f, 0.2f, true, 3, { 1, 2, 0 } },
	{ 0.9f, 0.2f, false, 3, { 1, 2, 0 } },
	{ 0.5f, 0.5f, false, 1, { 1, -1, -1 } },
	{ 0.5f, 0.5f, true, 2, { 1, 2, -1 } },
	{ 0.5f, 2, false, 1, { 1, -1, -1 } }, /* none reaches the score: the best one is given */
};

typedef enum { NETWORK, NETWORK_INPUTS, PROGRAM_OLD, PROGRAM_NEW, FORMS } Form;
static const char *const names[] = { "b", "s", "i", "n" };

static Bytes make_network(Arena *a, int row, bool inputs, int64_t most)
{
	Made m;
	CoremlNMS p = { .iouThreshold = rows[row].limit,
		.scoreThreshold = rows[row].score,
		.maxBoxes = most,
		.perClassSuppression = rows[row].by_class };
	make(&m, a, 4);
	vec_push(a, &m.about.input, array_of(a, "boxes", 3, (int64_t[]){ 1, BOXES, 4 }));
	vec_push(a, &m.about.input, array_of(a, "scores", 3, (int64_t[]){ 1, BOXES, CLASSES }));
	for (int k = 0; k < 4; k++)
		vec_push(a, &m.about.output, array_of(a, names[k], 0, NULL));
	const float number[] = { p.iouThreshold, p.scoreThreshold, (float)most };
	for (int k = 0; k < 3 && inputs; k++) { /* in place of those of the layer */
		CoremlConstantData c = { .data = floats(a, arena_copy(a, &number[k], 4), 1) };
		vec_push(a, &c.shape, 1);
		add_layer(&m, 1070, "", ((const char *[]){ "limit", "least", "most" })[k], &c);
		p.iouThreshold = p.scoreThreshold = 7;
		p.maxBoxes = 77;
	}
	add_layer(&m, NMS, inputs ? "boxes scores limit least most" : "boxes scores", "b s i n", &p);
	return made(&m);
}

static Bytes make_program(Arena *a, int row, bool old)
{
	MilOperation op = { .type = "non_maximum_suppression" };
	MilBlock block = { .has = 0 };
	MilType *one = mil_type(a, MIL_F32, 0, NULL), *whole = mil_type(a, MIL_I32, 0, NULL);
	mil_add_input(a, &op, "boxes", "boxes", NULL);
	mil_add_input(a, &op, "scores", "scores", NULL);
	mil_add_input(a, &op, "iou_threshold", NULL, mil_numbers(a, one, (double[]){ rows[row].limit }, 1));
	if (old)
		mil_add_input(a, &op, "score_threshold", NULL, mil_numbers(a, one, (double[]){ rows[row].score }, 1));
	mil_add_input(a, &op, "max_boxes", NULL, mil_numbers(a, whole, (double[]){ MOST }, 1));
	mil_add_input(a, &op, "per_class_suppression", NULL,
		mil_numbers(a, mil_type(a, MIL_BOOL, 0, NULL), (double[]){ rows[row].by_class }, 1));
	for (int k = 0; k < (old ? 4 : 3); k++) {
		vec_push(a, &op.outputs, ((MilNamed){ .name = names[k], .type = one }));
		vec_push(a, &block.outputs, names[k]);
	}
	vec_push(a, &block.operations, op);
	int64_t many = BOXES, four = 4, classes = CLASSES;
	MilNamed in[] = {
		{ .name = "boxes", .type = mil_type(a, MIL_F32, 3, (int64_t[]){ 1, old ? many : four, old ? four : many }) },
		{ .name = "scores",
			.type = mil_type(a, MIL_F32, 3, (int64_t[]){ 1, old ? many : classes, old ? classes : many }) },
	};
	return mil_model(a, old ? "CoreML5" : "CoreML7", &block, in, 2);
}

/* x[n][m] as [m][n] */
static const float *turned(Arena *a, const float *x, int n, int m)
{
	float *y = arena_array(a, float, n * m);
	for (int k = 0; k < n * m; k++)
		y[k % m * n + k / m] = x[k];
	return y;
}

START_TEST(boxes_are_chosen)
{
	int row = _i / FORMS;
	Form form = (Form)(_i % FORMS);
	Arena *a = arena_new();
	Err err = { 0 };
	bool last = form == PROGRAM_NEW, network = form <= NETWORK_INPUTS;
	Bytes b = network ? make_network(a, row, form == NETWORK_INPUTS, MOST) : make_program(a, row, !last);
	Dag *d = frontend_load_bytes(a, "m.mlmodel", b, NULL, &err);
	ck_assert_msg(d != NULL && dag_check(d, &err), "%s\n%s", err.text, err.items);
	const float *in[] = { boxes[0], scores[0] };
	if (last) {
		in[0] = turned(a, boxes[0], BOXES, 4);
		in[1] = turned(a, scores[0], BOXES, CLASSES);
	}
	void **out = evaluate(a, d, (const void *const *)in, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	const float *chosen = last ? turned(a, out[0], 4, MOST) : out[0];
	const float *score = last ? turned(a, out[1], CLASSES, MOST) : out[1];
	int found = 0;
	for (int k = 0; k < MOST; k++) {
		int at = network ? (int)((float *)out[2])[k] : ((int32_t *)out[2])[k];
		if (last && rows[row].score > 0.2f) /* it has no least score */
			continue;
		ck_assert_int_eq(at, rows[row].place[k]);
		for (int i = 0; i < 4; i++)
			ck_assert_float_eq(chosen[4 * k + i], at < 0 ? 0 : boxes[at][i]);
		for (int i = 0; i < CLASSES; i++)
			ck_assert_float_eq(score[CLASSES * k + i], at < 0 ? 0 : scores[at][i]);
		found += at >= 0;
	}
	if (!last)
		ck_assert_int_eq(network ? (int)*(float *)out[3] : *(int32_t *)out[3], rows[row].count);
	ck_assert(last || found == rows[row].count);
	arena_free(a);
}
END_TEST

START_TEST(sizes_are_checked)
{
	static const int64_t most[] = { 0, 5000 };
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(frontend_load_bytes(a, "m.mlmodel", make_network(a, 0, _i % 2, most[_i / 2]), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, arena_printf(a, "it chooses %d of 4 boxes", (int)most[_i / 2])) != NULL, "%s",
		err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("coreml_boxes");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, boxes_are_chosen, 0, LEN(rows) * FORMS);
	tcase_add_loop_test(tc, sizes_are_checked, 0, 4);
	return run_suite("coreml_boxes", tc);
}
