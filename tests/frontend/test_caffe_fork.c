/* Layers of Caffe's forks, and of its own that only they use, beside plain loops. */
#include "caffe_made.h"

#include "base/rng.h"

#include <math.h>

#define TWO(name, shape) "input: '" name "' input_shape { dim: [" shape "] }\n"

static float *randoms(Arena *a, Rng *r, int n, float low, float high)
{
	float *x = arena_array(a, float, n + 1);
	for (int k = 0; k < n; k++)
		x[k] = low + (high - low) * (float)rng_real(r);
	return x;
}

/* All results of a network of some inputs. */
static void **run_all(Arena *a, const char *text, const void *const *in, Dag **d)
{
	Err err = { 0 };
	*d = load_net(a, text, NULL, &err);
	ck_assert_msg(*d != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(dag_check(*d, &err), "%s", err.text);
	void **out = evaluate(a, *d, in, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	return out;
}

static void check_shape(const Dag *d, const char *want)
{
	char text[160];
	ck_assert_str_eq(shape_str(d->value.at[d->output.at[0]].shape, text), want);
}

/* ---- elements in other places */

START_TEST(windows_as_columns)
{
	enum { N = 2, C = 3, H = 6, W = 5, KH = 3, KW = 2, OH = 3, OW = 7 };
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, N * C * H * W);
	const float *y = run_net(a,
		INPUT("2,3,6,5") LAYER("Im2col",
			"convolution_param { kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 2 dilation: [1, 2] }"),
		x, &d);
	check_shape(d, "2x18x3x7");
	for (int k = 0; k < N * C * KH * KW * OH * OW; k++) {
		int w = k % OW, h = k / OW % OH, tap = k / OW / OH % (KH * KW), plane = k / OW / OH / KH / KW;
		int row = h * 2 - 1 + tap / KW, column = w - 2 + tap % KW * 2;
		bool inside = row >= 0 && row < H && column >= 0 && column < W;
		ck_assert_float_eq(y[k], inside ? x[(plane * H + row) * W + column] : 0);
	}
	arena_free(a);
}
END_TEST

START_TEST(channels_are_shuffled)
{
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, 2 * 6 * 3);
	const float *y =
		run_net(a, INPUT("2,6,1,3") LAYER("ShuffleChannel", "shuffle_channel_param { group: 2 }"), x, &d);
	for (int k = 0; k < 36; k++) {
		int c = k / 3 % 6, from = c % 2 * 3 + c / 2;
		ck_assert_float_eq(y[k], x[k / 18 * 18 + from * 3 + k % 3]);
	}
	arena_free(a);
}
END_TEST

/* Element (k, j, i) of [C,H,W] is element (k % few, j * s + k / few / s, i * s + k / few % s) of [few,H*s,W*s]. */
START_TEST(pixels_become_channels)
{
	enum { C = 8, H = 4, W = 6, S = 2, FEW = C / S / S };
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, C * H * W);
	const float *y = run_net(a,
		arena_printf(a, INPUT("1,8,4,6") LAYER("Reorg", "reorg_param { stride: 2 reverse: %s }"),
			_i ? "true" : "false"),
		x, &d);
	check_shape(d, _i ? "1x2x8x12" : "1x32x2x3");
	for (int p = 0; p < C * H * W; p++) {
		int i = p % W, j = p / W % H, k = p / W / H, other = k / FEW;
		int q = i * S + other % S + W * S * (j * S + other / S + H * S * (k % FEW));
		ck_assert_float_eq(_i ? y[q] : y[p], _i ? x[p] : x[q]);
	}
	arena_free(a);
}
END_TEST

/* SegNet: the greatest elements go back to their places. */
START_TEST(places_are_taken_back)
{
	static const float x[] = { 1, 5, 2, 0, 3, 4, 8, 6, 9, 7, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10 };
	Arena *a = arena_new();
	Dag *d;
	const float *y = run_net(a,
		INPUT("1,1,4,5") "layer { name: 'p' type: 'Pooling' bottom: 'data' top: 'p' top: 'm' pooling_param {"
						 " kernel_size: 2 stride: 2 } }\n"
						 "layer { name: 'u' type: 'Upsample' bottom: 'p' bottom: 'm' top: 'y' upsample_param {"
						 " scale: 2 upsample_h: 4 upsample_w: 5 } }",
		x, &d);
	check_shape(d, "1x1x4x5");
	for (int k = 0; k < 20; k++) { /* of each window of 2x2, cut at the edge, its maximum */
		int top = k / 5 / 2 * 2, left = k % 5 / 2 * 2, best = top * 5 + left;
		for (int i = 0; i < 4; i++) {
			int row = top + i / 2, column = left + i % 2;
			if (row < 4 && column < 5 && x[row * 5 + column] > x[best])
				best = row * 5 + column;
		}
		ck_assert_float_eq(y[k], k == best ? x[k] : 0);
	}
	arena_free(a);
}
END_TEST

START_TEST(elements_become_blocks)
{
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, 2 * 3 * 2);
	const float *y =
		run_net(a, INPUT("1,2,3,2") LAYER("Upsample", "upsample_param { scale_h: 2 scale_w: 3 }"), x, &d);
	check_shape(d, "1x2x6x6");
	for (int k = 0; k < 72; k++)
		ck_assert_float_eq(y[k], x[k / 36 * 6 + k / 6 % 6 / 2 * 2 + k % 6 / 3]);
	arena_free(a);
}
END_TEST

START_TEST(rows_by_their_numbers)
{
	static const float at[] = { 2, 0, 2, 1 };
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, 12);
	void **out = run_all(a,
		INPUT("3,4") TWO("at", "4") "layer { name: 'l' type: 'BatchReindex' bottom: 'data' bottom: 'at' top: 'y' }",
		(const void *const[]){ x, at }, &d);
	for (int k = 0; k < 16; k++)
		ck_assert_float_eq(((const float *)out[0])[k], x[(int)at[k / 4] * 4 + k % 4]);
	arena_free(a);
}
END_TEST

/* ---- regions */

/* A bin of R-FCN: the mean of the elements that it touches, in a channel of its own. */
static float part_mean(const float *x, int h, int w, const float *r, float scale, int n, int i, int j)
{
	int from[2], to[2], size[] = { w, h }, bin[] = { j, i };
	for (int k = 0; k < 2; k++) {
		float low = roundf(r[k]) * scale, high = (roundf(r[2 + k]) + 1) * scale;
		float each = fmaxf(high - low, 0.1f) / (float)n;
		from[k] = (int)floorf((float)bin[k] * each + low);
		to[k] = (int)ceilf((float)(bin[k] + 1) * each + low);
		from[k] = from[k] < 0 ? 0 : from[k] > size[k] ? size[k] : from[k];
		to[k] = to[k] < 0 ? 0 : to[k] > size[k] ? size[k] : to[k];
	}
	double sum = 0;
	int all = to[0] > from[0] && to[1] > from[1] ? (to[0] - from[0]) * (to[1] - from[1]) : 0;
	for (int y = from[1]; y < to[1]; y++)
		for (int k = from[0]; k < to[0]; k++)
			sum += (double)x[y * w + k];
	return all > 0 ? (float)(sum / all) : 0;
}

START_TEST(parts_of_regions)
{
	enum { IMAGES = 2, C = 2, N = 3, H = 7, W = 9, COUNT = 16 };
	Arena *a = arena_new();
	Dag *d;
	Rng seed = rng_seed(53), r = rng_fork(&seed, "parts");
	const float *x = randoms(a, &r, IMAGES * C * N * N * H * W, -1, 1);
	float rois[COUNT][5];
	for (int k = 0; k < COUNT; k++) {
		rois[k][0] = (float)(k % IMAGES);
		for (int i = 0; i < 4; i++)
			rois[k][1 + i] = (float)rng_real(&r) * 24 - 4 + (float)(i / 2 * 8);
	}
	void **out = run_all(a,
		INPUT("2,18,7,9") TWO("r", "16,5") "layer { name: 'l' type: 'PSROIPooling' bottom: 'data' bottom: 'r' top: 'y'"
										   " psroi_pooling_param { spatial_scale: 0.5 output_dim: 2 group_size: 3 } }",
		(const void *const[]){ x, rois }, &d);
	check_shape(d, "16x2x3x3");
	for (int k = 0; k < COUNT * C * N * N; k++) {
		int j = k % N, i = k / N % N, c = k / N / N % C, region = k / N / N / C;
		int plane = (region % IMAGES * C + c) * N * N + i * N + j;
		float want = part_mean(x + plane * H * W, H, W, rois[region] + 1, 0.5f, N, i, j);
		ck_assert_float_eq_tol(((const float *)out[0])[k], want, 1e-6f);
	}
	arena_free(a);
}
END_TEST

enum { A = 4, HIGH = 5, WIDE = 6, BOXES = A * HIGH * WIDE, ROWS = 12, RANKED = 60 };

typedef struct Box {
	float at[4], score;
} Box;

/* The boxes of all places, as py-faster-rcnn computes them; ratios 0.5 and 2, scales 1 and 2, side 16, stride 8. */
static int propose(const float *score, const float *by, const float *info, Box *out)
{
	static const float wide[] = { 23, 23, 11, 11 }, high[] = { 12, 12, 22, 22 }, times[] = { 1, 2, 1, 2 };
	int n = 0;
	for (int p = 0; p < HIGH * WIDE; p++)
		for (int k = 0; k < A; k++) {
			float half[] = { (wide[k] * times[k] - 1) / 2, (high[k] * times[k] - 1) / 2 };
			float place[] = { (float)(p % WIDE * 8) + 7.5f, (float)(p / WIDE * 8) + 7.5f };
			Box b = { .score = score[(A + k) * HIGH * WIDE + p] };
			bool large = true;
			for (int i = 0; i < 2; i++) {
				float low = place[i] - half[i], size = place[i] + half[i] - low + 1;
				float centre = by[(k * 4 + i) * HIGH * WIDE + p] * size + low + 0.5f * size;
				float side = expf(by[(k * 4 + 2 + i) * HIGH * WIDE + p]) * size, last = info[1 - i] - 1;
				b.at[i] = fmaxf(fminf(centre - 0.5f * side, last), 0);
				b.at[2 + i] = fmaxf(fminf(centre + 0.5f * side, last), 0);
				large &= b.at[2 + i] - b.at[i] + 1 >= 6 * info[2];
			}
			if (large)
				out[n++] = b;
		}
	return n;
}

static int by_score(const void *a, const void *b)
{
	float x = ((const Box *)a)->score, y = ((const Box *)b)->score;
	return x < y ? 1 : x > y ? -1 : 0;
}

static float overlap(const Box *a, const Box *b)
{
	float common = 1, area[] = { 1, 1 };
	for (int k = 0; k < 2; k++) {
		common *= fmaxf(0, fminf(a->at[2 + k], b->at[2 + k]) - fmaxf(a->at[k], b->at[k]) + 1);
		area[0] *= a->at[2 + k] - a->at[k] + 1;
		area[1] *= b->at[2 + k] - b->at[k] + 1;
	}
	return common / (area[0] + area[1] - common);
}

/* The layer of C++ and, for the second, that of Python; large overlaps leave fewer than the rows. */
START_TEST(regions_are_proposed)
{
	static const char net[] = TWO("s", "1,8,5,6") TWO("d", "1,16,5,6") TWO("i", "1,3")
		"layer { name: 'p' type: 'Proposal' bottom: 's' bottom: 'd' bottom: 'i' top: 'rois' top: 'scores'"
		" proposal_param { feat_stride: 8 min_size: 6 ratio: [0.5, 2] scale: [1, 2] pre_nms_topn: 60 post_nms_topn: 12"
		" nms_thresh: %s } }";
	static const float info[] = { 38, 44, 1.5f };
	Arena *a = arena_new();
	Dag *d;
	Rng seed = rng_seed(61), r = rng_fork(&seed, "proposals");
	float limit = _i == 0 ? 0.5f : 0.01f;
	const float *score = randoms(a, &r, 2 * BOXES, 0, 1), *by = randoms(a, &r, 4 * BOXES, -0.5f, 0.5f);
	const char *text = arena_printf(a, net, _i == 0 ? "0.5" : "0.01");
	void **out = run_all(a, text, (const void *const[]){ score, by, info }, &d);
	Box all[BOXES], *kept[ROWS];
	int n = propose(score, by, info, all), found = 0;
	ck_assert(n > RANKED && n < BOXES);
	qsort(all, (size_t)n, sizeof *all, by_score);
	for (int k = 0; k < RANKED && found < ROWS; k++) {
		bool hidden = false;
		for (int i = 0; i < found; i++)
			hidden |= overlap(kept[i], &all[k]) > limit;
		if (!hidden)
			kept[found++] = &all[k];
	}
	ck_assert(_i == 0 ? found == ROWS : found < ROWS);
	const float *rows = out[0], *scores = out[1];
	for (int k = 0; k < ROWS; k++) {
		ck_assert_float_eq(rows[5 * k], k < found ? 0 : -1);
		ck_assert_float_eq(scores[k], k < found ? kept[k]->score : -1);
		for (int i = 0; i < 4; i++)
			ck_assert_float_eq_tol(rows[5 * k + 1 + i], k < found ? kept[k]->at[i] : -1, 1e-4f);
	}
	arena_free(a);
}
END_TEST

/* The layer of Python means the settings that its configuration has for tests. */
START_TEST(a_layer_of_python_is_known)
{
	enum { N = 2 * 3 * 9 };
	static const char python[] = TWO("s", "1,18,2,3") TWO("d", "1,36,2,3") TWO("i", "1,3")
		"layer { name: 'p' type: 'Python' bottom: 's' bottom: 'd' bottom: 'i' top: 'rois' python_param {"
		" module: 'rpn.proposal_layer' layer: 'ProposalLayer' param_str: \"'feat_stride': 16\" } }";
	static const char layer[] = TWO("s", "1,18,2,3") TWO("d", "1,36,2,3") TWO("i", "1,3")
		"layer { name: 'p' type: 'Proposal' bottom: 's' bottom: 'd' bottom: 'i' top: 'rois' proposal_param {"
		" feat_stride: 16 base_size: 16 min_size: 16 ratio: [0.5, 1, 2] scale: [8, 16, 32] pre_nms_topn: 6000"
		" post_nms_topn: 300 nms_thresh: 0.7 } }";
	static const float info[] = { 400, 600, 1 };
	Arena *a = arena_new();
	Dag *d;
	Rng seed = rng_seed(67), r = rng_fork(&seed, "python");
	const float *score = randoms(a, &r, 2 * N, 0, 1), *by = randoms(a, &r, 4 * N, -0.5f, 0.5f);
	void **one = run_all(a, python, (const void *const[]){ score, by, info }, &d);
	check_shape(d, "54x5");
	void **two = run_all(a, layer, (const void *const[]){ score, by, info }, &d);
	for (int k = 0; k < N * 5; k++)
		ck_assert_float_eq(((const float *)one[0])[k], ((const float *)two[0])[k]);
	ck_assert_float_eq(((const float *)one[0])[0], 0);
	arena_free(a);
}
END_TEST

/* ---- refusals */

#define PYTHON(text) \
	TWO("s", "1,18,2,3") TWO("d", "1,36,2,3") TWO("i", "1,3") "layer { name: 'p' type: 'Python' bottom: 's' bottom:" \
	" 'd' bottom: 'i' top: 'rois' python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' param_str: \"" \
	text "\" } }"
#define PROPOSAL(more) \
	TWO("s", "1,18,2,3") TWO("d", "1,36,2,3") TWO("i", "1,3") "layer { name: 'p' type: 'Proposal' bottom: 's' bottom:" \
	" 'd' bottom: 'i' top: 'rois' " more " }"

static const struct {
	const char *text, *want;
} refused[] = {
	{ INPUT("1,4,4,4") LAYER("Im2col", "convolution_param { }"), "it has no kernel_size" },
	{ INPUT("1,4,4,4") LAYER("Im2col", "convolution_param { kernel_size: 5 }"), "its window is larger than its input" },
	{ INPUT("1,4,90,90") LAYER("Im2col", "convolution_param { kernel_size: 80 }"), "more than 4096 elements" },
	{ INPUT("1,4,4,4") LAYER("ShuffleChannel", ""), "it has no shuffle_channel_param" },
	{ INPUT("1,4,4,4") LAYER("ShuffleChannel", "shuffle_channel_param { group: 3 }"), "cannot be cut into 3 groups" },
	{ INPUT("1,4,4,4") LAYER("Reorg", "reorg_param { stride: 3 }"), "a stride of 3 does not divide 4 channels" },
	{ INPUT("4,4") LAYER("Reorg", "reorg_param { stride: 2 }"), "its input has 2 dimensions" },
	{ INPUT("1,1,17179869184,1") LAYER("Upsample", "upsample_param { scale: 2000000000 }"),
		"its result has 17179869184 elements along one dimension" },
	{ INPUT("1,4,4,4") LAYER("Upsample", "upsample_param { upsample_h: 9 }"), "its upsample_h needs a second input" },
	{ INPUT("1,4,4,4") LAYER("Upsample", "upsample_param { scale: 0 }"), "its scale is 0, but must be at least 1" },
	{ INPUT("1,4,4,4") LAYER("BatchReindex", "bottom: 'data'"), "must be a list of numbers of rows" },
	{ INPUT("1,8,4,4") LAYER("PSROIPooling",
		  "bottom: 'data' psroi_pooling_param { spatial_scale: 1 output_dim: 2 group_size: 2 }"),
		"its regions are not rows of 5 numbers" },
	{ INPUT("1,8,4,4") TWO("r", "3,5") LAYER("PSROIPooling",
		  "bottom: 'r' psroi_pooling_param { spatial_scale: 1 output_dim: 3 group_size: 2 }"),
		"an image of 3 channels for each of 2x2 bins" },
	{ PROPOSAL(""), "it has no proposal_param" },
	{ PROPOSAL("proposal_param { ratio: [1, 2] }"), "for the 6 anchors A of its ratios and scales" },
	{ PROPOSAL("proposal_param { ratio: [1, 2, -1] }"), "its ratio -1 must be positive" },
	{ PROPOSAL("proposal_param { post_nms_topn: 99999 }"), "16384 boxes and 16384 rows are the most" },
	{ PYTHON("'feat_stride': 16, 'ratios': [1]"), "its param_str has 'ratios'" },
	{ PYTHON("'feat_stride': wide"), "has no number behind feat_stride" },
	{ PYTHON("'scales': [8, 16]"), "for the 6 anchors" },
	{ INPUT("1,4") LAYER("Python", "python_param { module: 'other' layer: 'ProposalLayer' }"),
		"1 operator of this model" },
};

START_TEST(layers_are_refused)
{
	check_refused(_i, refused[_i].text, refused[_i].want);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("caffe-fork");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_test(tc, windows_as_columns);
	tcase_add_test(tc, channels_are_shuffled);
	tcase_add_loop_test(tc, pixels_become_channels, 0, 2);
	tcase_add_test(tc, places_are_taken_back);
	tcase_add_test(tc, elements_become_blocks);
	tcase_add_test(tc, rows_by_their_numbers);
	tcase_add_test(tc, parts_of_regions);
	tcase_add_loop_test(tc, regions_are_proposed, 0, 2);
	tcase_add_test(tc, a_layer_of_python_is_known);
	tcase_add_loop_test(tc, layers_are_refused, 0, LEN(refused));
	return run_suite("caffe-fork", tc);
}
