/* DarkNet: layers against their formulas, weights in their order, what is refused, damaged files. */
#include "evaluate.h"
#include "folder.h"

#include "base/rng.h"

#include <math.h>

/* Numbers of a .weights file: the header of version 0.2.5, then v[k] = from(k). */
static const char *save_weights(Arena *a, const char *name, const float *v, size_t n)
{
	const char *path = in_folder(a, name);
	Text t = { .arena = a };
	int32_t head[] = { 0, 2, 5, 0, 0 };
	text_put(&t, (const char *)head, sizeof head);
	text_put(&t, (const char *)v, n * sizeof *v);
	save_bytes(path, text_str(&t), t.n);
	return path;
}

static Dag *load_cfg(Arena *a, const char *cfg, const ModelArgs *args, Err *err)
{
	const char *path = in_folder(a, "net.cfg");
	save_bytes(path, cfg, strlen(cfg));
	return frontend_load(a, path, args, err);
}

/* The first result of a network for x; the Dag is kept in *d. */
static const float *run_cfg(Arena *a, const char *cfg, const float *x, const ModelArgs *args, Dag **d)
{
	Err err = { 0 };
	*d = load_cfg(a, cfg, args, &err);
	ck_assert_msg(*d != NULL, "%s: %s", err.place, err.text);
	ck_assert_msg(dag_check(*d, &err), "%s", err.text);
	void **out = evaluate(a, *d, (const void *const[]){ x }, &err);
	ck_assert_msg(out != NULL, "%s", err.text);
	return out[0];
}

static float part(int k)
{
	return (float)((k * 7 % 11) - 5) / 8;
}

static const float *parts(Arena *a, int n)
{
	float *x = arena_array(a, float, n + 1);
	for (int k = 0; k < n; k++)
		x[k] = part(k);
	return x;
}

/* biases, scales, mean, variance, weights; the two kinds of epsilon differ for a small variance. */
START_TEST(convolutions_are_normalised)
{
	Arena *a = arena_new();
	Dag *d;
	bool fork = _i == 1;
	static const float w[] = { 0.5f, -1, 2, 3, 0.25f, -0.5f, 1e-4f, 4, 1, 2, -3, 0.5f };
	const float *x = parts(a, 8);
	save_weights(a, "net.weights", w, LEN(w));
	const char *cfg = arena_printf(a,
		"[net]\nheight=2\nwidth=2\nchannels=2\n%s[convolutional]\nbatch_normalize=1\nfilters=2\nsize=1\nstride = 1\n"
		"activation=leaky\n",
		fork ? "mosaic=1\n" : "");
	const float *y = run_cfg(a, cfg, x, NULL, &d);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "convolutional_0");
	for (int n = 0; n < 2; n++)
		for (int k = 0; k < 4; k++) {
			double sum = (double)w[8 + 2 * n] * x[k] + (double)w[9 + 2 * n] * x[4 + k], var = w[6 + n];
			double z = (sum - w[4 + n]) / (fork ? sqrt(var + 1e-5) : sqrt(var) + 1e-6) * w[2 + n] + w[n];
			z = z < 0 ? 0.1 * z : z;
			ck_assert_double_eq_tol(y[n * 4 + k], z, 1e-4 * (1 + fabs(z)));
		}
	arena_free(a);
}
END_TEST

/* Blanks count nowhere, lines may end as on Windows, and a comment may stand behind a number. */
START_TEST(texts_of_other_editors)
{
	Arena *a = arena_new();
	static const char cfg[] = "# a\r\n; b\r\n[net]\r\nheight = 4 # rows\r\n\twidth=2;\r\nchannels=1 0\r\n\r\n"
							  "[maxpool]\r\nsize=2\r\nstride\t=\t2";
	Dag *d;
	const float *x = parts(a, 80), *y = run_cfg(a, cfg, x, NULL, &d);
	const int64_t *dim = d->value.at[d->output.at[0]].shape.dim;
	ck_assert(dim[1] == 10 && dim[2] == 2 && dim[3] == 1);
	for (int k = 0; k < 20; k++) {
		const float *w = x + 4 * k;
		ck_assert_float_eq(y[k], fmaxf(fmaxf(w[0], w[1]), fmaxf(w[2], w[3])));
	}
	arena_free(a);
}
END_TEST

/* Below version 0.2 the count of images has 32 bits; a large version says that weights are transposed. */
START_TEST(headers_of_weights)
{
	Arena *a = arena_new();
	static const struct {
		int32_t head[5];
		size_t n;
		bool transposed;
	} rows[] = { { { 0, 1, 0, 7 }, 16, false }, { { 0, 2, 0, 7, 0 }, 20, false }, { { 1001, 0, 0, 7, 0 }, 20, true } };
	static const float w[] = { 0.5f, -0.25f, 1, 2, 3, 4, 5, 6 }, x[] = { 1, 10, 100 };
	Text t = { .arena = a };
	Dag *d;
	text_put(&t, (const char *)rows[_i].head, rows[_i].n);
	text_put(&t, (const char *)w, sizeof w);
	const char *path = in_folder(a, "other.bin");
	save_bytes(path, text_str(&t), t.n);
	const char *cfg = "[net]\ninputs=3\n[connected]\noutput=2\nactivation=linear\n";
	const float *y = run_cfg(a, cfg, x, &(ModelArgs){ .weights = path }, &d);
	ck_assert_float_eq(y[0], rows[_i].transposed ? 531.5f : 321.5f);
	ck_assert_float_eq(y[1], rows[_i].transposed ? 641.75f : 653.75f);
	arena_free(a);
}
END_TEST

/* reorg as DarkNet's loop has it; its input is read in another shape. */
START_TEST(pixels_become_channels)
{
	enum { C = 8, H = 4, W = 2, S = 2, FEW = C / (S * S) };
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, C * H * W);
	const float *y = run_cfg(a, "[net]\nheight=4\nwidth=2\nchannels=8\n[reorg]\nstride=2\n", x, NULL, &d);
	for (int k = 0; k < C; k++)
		for (int j = 0; j < H; j++)
			for (int i = 0; i < W; i++) {
				int c = k % FEW, offset = k / FEW, w = i * S + offset % S, h = j * S + offset / S;
				ck_assert_float_eq(y[i + W * (j + H * k)], x[w + W * S * (h + H * S * c)]);
			}
	ck_assert_int_eq(d->value.at[d->output.at[0]].shape.dim[1], C * S * S);
	arena_free(a);
}
END_TEST

/* The larger layer is read in steps; channels that only one has are copied. */
START_TEST(unequal_shapes_are_added)
{
	Arena *a = arena_new();
	Dag *d;
	static const float w[] = { 0, 0, 0, 1, 0, 0, 1, 1, 1 }; /* three filters of two channels */
	const float *x = parts(a, 32);
	save_weights(a, "net.weights", w, LEN(w));
	const float *y = run_cfg(a,
		"[net]\nheight=4\nwidth=4\nchannels=2\n[dropout]\n[convolutional]\nfilters=3\nsize=1\nstride=2\n"
		"activation=linear\n[shortcut]\nfrom=-2\nactivation=linear\n",
		x, NULL, &d);
	for (int c = 0; c < 3; c++)
		for (int k = 0; k < 4; k++) {
			int at = k / 2 * 2 * 4 + k % 2 * 2;
			float filtered = (c != 1 ? x[at] : 0) + (c != 0 ? x[16 + at] : 0);
			ck_assert_float_eq(y[c * 4 + k], filtered + (c < 2 ? x[c * 16 + at] : 0));
		}
	arena_free(a);
}
END_TEST

/* An even size pads at the end only; padding never wins. */
START_TEST(pools_pad_at_the_end)
{
	Arena *a = arena_new();
	Dag *d;
	static const float x[] = { -1, -2, -3, -4, -5, -6, -7, -8, -9 };
	const float *y = run_cfg(a, "[net]\nheight=3\nwidth=3\nchannels=1\n[maxpool]\nsize=2\nstride=2\n", x, NULL, &d);
	static const float want[] = { -1, -3, -7, -9 };
	for (int k = 0; k < 4; k++)
		ck_assert_float_eq(y[k], want[k]);
	arena_free(a);
}
END_TEST

static float logistic(float x)
{
	return 1 / (1 + expf(-x));
}

/* Two boxes of a class each: x and y scaled, width and height as they are. */
START_TEST(boxes_of_yolo)
{
	Arena *a = arena_new();
	Dag *d;
	const float *x = parts(a, 12);
	const float *y = run_cfg(a,
		"[net]\nheight=1\nwidth=1\nchannels=12\n[yolo]\nmask=1,2\nanchors=1,2, 3,4, 5,6\nclasses=1\nnum=3\n"
		"scale_x_y=1.5\njitter=.3\n[route]\nlayers=-1\n",
		x, NULL, &d);
	ck_assert_uint_eq(d->output.n, 2);
	ck_assert_str_eq(d->value.at[d->output.at[0]].name, "yolo_0");
	for (int k = 0; k < 12; k++) {
		float want = k % 6 < 2 ? 1.5f * logistic(x[k]) - 0.25f : k % 6 < 4 ? x[k] : logistic(x[k]);
		ck_assert_float_eq_tol(y[k], want, 1e-6f);
	}
	arena_free(a);
}
END_TEST

/* Siblings share a softmax: groups of 2, 3, 2 and 1 classes, in a region and in a softmax layer. */
START_TEST(classes_of_a_tree)
{
	enum { CLASSES = 8, BOX = 5 + CLASSES, PLACES = 2 };
	static const int group[CLASSES] = { 0, 0, 1, 1, 1, 2, 2, 3 };
	Arena *a = arena_new();
	Dag *d;
	bool region = _i == 0;
	int n = region ? 2 * BOX : CLASSES, places = region ? PLACES : 1;
	const float *x = parts(a, n * places);
	const char *tree = "animal -1\nthing -1\ncat 0\ndog 0\nbird\t0\ncar 1\nbike 1 \nsiamese 2\n";
	save_bytes(in_folder(a, "9k.tree"), tree, strlen(tree));
	const float *y = run_cfg(a,
		region ? "[net]\nheight=1\nwidth=2\nchannels=26\n[region]\nclasses=8\nnum=2\nsoftmax=1\ntree=data/9k.tree\n"
			   : "[net]\ninputs=8\n[softmax]\ntree=9k.tree\n",
		x, NULL, &d);
	for (int k = 0; k < n; k++)
		for (int p = 0; p < places; p++) {
			int first = region ? k / BOX * BOX + 5 : 0, c = k - first;
			float want = c < -3 || c == -1 ? logistic(x[k * places + p]) : x[k * places + p], sum = 0;
			for (int i = 0; c >= 0 && i < CLASSES; i++)
				sum += group[i] == group[c] ? expf(x[(first + i) * places + p]) : 0;
			ck_assert_float_eq_tol(y[k * places + p], c < 0 ? want : expf(want) / sum, 1e-6f);
		}
	arena_free(a);
}
END_TEST

static const struct {
	const char *tree, *want;
} trees[] = {
	{ "", "it has no classes" },
	{ "a -1\nb\n", "line 2 is not a name and the number of a class above it, or -1" },
	{ "a -1\nb 1\n", "line 2 is not a name" },
	{ "a -1\n\nb 0\n", "line 2 is not a name" },
	{ "a -1\nb 0\n", "its tree has 2 classes, but the layer has 3" },
};

START_TEST(trees_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	save_bytes(in_folder(a, "t.tree"), trees[_i].tree, strlen(trees[_i].tree));
	ck_assert(load_cfg(a, "[net]\ninputs=3\n[softmax]\ntree=t.tree\n", NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, trees[_i].want) != NULL, "%d: %s", _i, err.text);
	arena_free(a);
}
END_TEST

/* The fork's shortcut: a weight for a layer or for each of its channels, plain or made one by relu or softmax. */
START_TEST(shortcuts_have_weights)
{
	static const char *const normal[] = { "none", "relu", "softmax" };
	static const float w[] = { 0.5f, -1, 2, 0.25f };
	Arena *a = arena_new();
	Dag *d;
	int kind = _i / 2, each = _i % 2 == 0 ? 1 : 2;
	const float *x = parts(a, 4);
	save_weights(a, "net.weights", w, 2 * (size_t)each);
	const float *y = run_cfg(a,
		arena_printf(a,
			"[net]\nheight=1\nwidth=2\nchannels=2\n[dropout]\n[activation]\nactivation=relu\n[shortcut]\nfrom=-2\n"
			"weights_type=%s\nweights_normalization=%s\nactivation=linear\n",
			each == 1 ? "per_feature" : "per_channel", normal[kind]),
		x, NULL, &d);
	for (int k = 0; k < 4; k++) {
		int c = each == 1 ? 0 : k / 2;
		float u = w[c], t = w[each + c], most = u > t ? u : t;
		u = kind == 2 ? expf(u - most) : kind == 1 && u < 0 ? 0 : u;
		t = kind == 2 ? expf(t - most) : kind == 1 && t < 0 ? 0 : t;
		float sum = kind == 0 ? 1 : 1e-4f + u + t;
		ck_assert_float_eq_tol(y[k], ((x[k] > 0 ? x[k] : 0) * u + x[k] * t) / sum, 1e-6f);
	}
	arena_free(a);
}
END_TEST

/* Two steps of a gru of two states, whose gates are those of the state first. */
START_TEST(a_gru_remembers)
{
	enum { N = 2, I = 3, STEPS = 2, ALL = 3 * (N + N * N) + 3 * (N + N * I) };
	Arena *a = arena_new();
	Dag *d;
	const float *w = parts(a, ALL), *x = parts(a, STEPS * I);
	float h[N] = { 0 };
	save_weights(a, "net.weights", w, ALL);
	ModelArgs steps = { .seq = STEPS };
	const float *y = run_cfg(a, "[net]\ninputs=3\ntime_steps=9\n[gru]\noutput=2\n", x, &steps, &d);
	for (int t = 0; t < STEPS; t++) {
		float gate[3][N], next[N], from[N];
		for (int g = 0; g < 3; g++) {
			const float *ws = w + g * (N + N * N), *wi = w + 3 * (N + N * N) + g * (N + N * I);
			for (int k = 0; k < N; k++)
				from[k] = g == 2 ? h[k] * gate[1][k] : h[k];
			for (int k = 0; k < N; k++) {
				float sum = ws[k] + wi[k];
				for (int i = 0; i < N; i++)
					sum += ws[N + k * N + i] * from[i];
				for (int i = 0; i < I; i++)
					sum += wi[N + k * I + i] * x[t * I + i];
				gate[g][k] = logistic(sum);
			}
		}
		for (int k = 0; k < N; k++)
			next[k] = gate[0][k] * h[k] + (1 - gate[0][k]) * gate[2][k];
		memcpy(h, next, sizeof h);
		for (int k = 0; k < N; k++)
			ck_assert_float_eq_tol(y[t * N + k], h[k], 1e-6f);
	}
	arena_free(a);
}
END_TEST

#define CONV "[net]\nheight=4\nwidth=4\nchannels=2\n[convolutional]\nfilters=2\nsize=1\n"

static const struct {
	const char *cfg, *want;
} refused[] = {
	{ "[net]\nheight=4\n", "it has no layers" },
	{ "[net]\nheight=4\n[maxpool]\nsize\n", "line 4: 'size' is neither a [section] nor name=value in one" },
	{ "[net]\nheight=4\n[maxpool\n", "line 3: '[maxpool' is not a [section]" },
	{ "[net]\nheight=4\n[maxpool]\n", "[net] has neither height, width and channels nor inputs" },
	{ "[net]\nheight=-4\n[maxpool]\n", "option height of [net] is '-4'" },
	{ CONV "stride=0\n", "its option stride is 0, but must be at least 1" },
	{ CONV "activation=stair\n", "its activation 'stair' is not supported" },
	{ CONV "antialiasing=1\n", "its option antialiasing is not supported" },
	{ CONV "groups=3\n", "2 channels and 2 filters cannot be cut into 3 groups" },
	{ CONV "fancy=1\n", "its attribute 'fancy' is not known" },
	{ CONV "[route]\nlayers=-3\n", "'-3' of option layers does not name layers before it" },
	{ CONV "[route]\nlayers=x\n", "'x' of option layers does not name layers before it" },
	{ CONV "[route]\n", "section [route] has no option layers" },
	{ CONV "[conv_lstm]\n[conv_lstm]\n[Gaussian_yolo]\n", "2 operators of this model are not supported" },
	{ CONV "[yolo]\nclasses=3\nnum=2\n", "its input has 2 channels, but 2 boxes of 8 numbers are needed" },
	{ CONV "[yolo]\nclasses=9223372036854775807\n", "" },
	{ CONV "[region]\ntree=data/no.tree\n", "its tree of classes, 'data/no.tree', cannot be opened: No such file" },
	{ CONV "[region]\ntree=/etc/passwd\n",
		"its tree of classes, '/etc/passwd', must lie below the folder of the .cfg" },
	{ CONV "[shortcut]\nfrom=-1\nweights_type=per_place\n", "'per_place', not none, per_feature or per_channel" },
	{ CONV "[shortcut]\nfrom=-1\nweights_type=per_layer\nweights_normalization=max\n", "'max', not none, relu" },
	{ CONV "[shortcut]\nfrom=-1\n[upsample]\n[shortcut]\nfrom=-2\n", "which must not be larger" },
};

START_TEST(networks_are_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(load_cfg(a, refused[_i].cfg, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, refused[_i].want) != NULL, "%d: %s", _i, err.text);
	arena_free(a);
}
END_TEST

/* Weights that are cut off, too many, of another kind, without their network. */
START_TEST(weights_are_refused)
{
	Arena *a = arena_new();
	static const float w[] = { 0, 0, 1, 2, 3, 4, 5 };
	static const struct {
		size_t n;
		const char *want;
	} rows[] = { { 5, "its weights are 4 numbers, but 3 are left in the file" },
		{ 7, "needs 6 numbers, but its weights have 7: they are of another network" } };
	for (int k = 0; k < LEN(rows); k++) {
		Err err = { 0 };
		save_weights(a, "net.weights", w, rows[k].n);
		ck_assert(load_cfg(a, CONV, NULL, &err) == NULL);
		ck_assert_msg(strstr(err.text, rows[k].want) != NULL, "%s", err.text);
	}
	Err err = { 0 };
	save_bytes(in_folder(a, "net.weights"), "\x89HDF\r\n\x1a\n....", 12);
	ck_assert(load_cfg(a, CONV, NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "is not a file of DarkNet's weights") != NULL, "%s", err.text);
	err = (Err){ 0 };
	ck_assert(frontend_load(a, save_weights(a, "alone.weights", w, 6), NULL, &err) == NULL);
	ck_assert_msg(strstr(err.text, "has weights without their network") != NULL, "%s", err.text);
	err = (Err){ 0 };
	const char *path = save_weights(a, "net.weights", w, 6);
	Dag *d = frontend_load(a, path, NULL, &err); /* its .cfg lies beside it */
	ck_assert_msg(d != NULL, "%s", err.text);
	ck_assert(load_cfg(a, CONV, &(ModelArgs){ .seq = 2 }, &err) == NULL);
	ck_assert_str_eq(err.place, "seq");
	arena_free(a);
}
END_TEST

static int notes;

static void count_note(const char *sentence, void *arg)
{
	(void)arg;
	notes += strstr(sentence, "so weights are drawn") != NULL;
}

/* The first ones in a quick run. The one that is not here, yolo9000, needs a file of DarkNet's. */
static const char *const cfgs[] = {
	"AlexeyAB/yolov4-tiny", "AlexeyAB/efficientnet_b0", "AlexeyAB/crnn.train", "pjreddie/cifar",
	"pjreddie/resnet18", "pjreddie/yolov2-tiny", "pjreddie/rnn", "pjreddie/gru", "AlexeyAB/cd53paspp-gamma",
	"AlexeyAB/csresnext50-panet-spp", "AlexeyAB/enet-coco", "AlexeyAB/lstm.train", "AlexeyAB/resnet152_trident",
	"AlexeyAB/yolov3-tiny-prn", "AlexeyAB/yolov4-csp", "AlexeyAB/yolov4-tiny-3l", "AlexeyAB/yolov4",
	"AlexeyAB/yolov7-tiny", "pjreddie/alexnet", "pjreddie/darknet", "pjreddie/darknet19", "pjreddie/darknet53",
	"pjreddie/densenet201", "pjreddie/extraction", "pjreddie/jnet-conv", "pjreddie/resnet101", "pjreddie/resnet34",
	"pjreddie/resnet50", "pjreddie/resnext50", "pjreddie/strided", "pjreddie/tiny", "pjreddie/vgg-16",
	"pjreddie/vgg-conv", "pjreddie/yolov1-tiny", "pjreddie/yolov1", "pjreddie/yolov2-tiny-voc", "pjreddie/yolov2",
	"pjreddie/yolov3-spp", "pjreddie/yolov3-tiny", "pjreddie/yolov3",
};

/* Every network of the shared folder becomes a Dag. */
START_TEST(networks_without_weights)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *data = getenv("DLC_TEST_DATA");
	const char *path =
		arena_printf(a, "%s/models/darknet/%s.cfg", data != NULL ? data : SOURCE_ROOT "/../shared", cfgs[_i]);
	if (access(path, R_OK) != 0)
		suite_skip(cfgs[_i], "no models in DLC_TEST_DATA");
	else {
		notes = 0;
		Dag *d = frontend_load(a, path, &(ModelArgs){ .note = count_note }, &err);
		ck_assert_msg(d != NULL, "%s", err.text);
		ck_assert_msg(dag_check(d, &err), "%s", err.text);
		ck_assert_int_eq(notes, 1);
	}
	arena_free(a);
}
END_TEST

/* Bytes of a .cfg are changed and cut: a Dag that checks, or a sentence. */
START_TEST(damaged_networks)
{
	static const char cfg[] = CONV
		"batch_normalize=1\npad=1\nsize=3\n[maxpool]\nsize=2\nstride=2\n[route]\nlayers=-1,-1\n[shortcut]\nfrom=-1\n"
		"[reorg]\nstride=2\n[connected]\noutput=12\n[gru]\noutput=3\n[softmax]\n";
	Rng r = rng_seed(7);
	int good = 0;
	for (int k = 0; k < 400; k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		char *text = arena_copy(a, cfg, sizeof cfg);
		size_t n = rng_below(&r, 4) == 0 ? rng_below(&r, sizeof cfg) : sizeof cfg - 1;
		for (uint64_t i = rng_below(&r, 3); i > 0 && n > 0; i--)
			text[rng_below(&r, n)] = "=[]\n09-,;x"[rng_below(&r, 10)];
		Dag *d = frontend_load_bytes(a, "damaged.cfg", (Bytes){ (const unsigned char *)text, n }, NULL, &err);
		ck_assert((d == NULL) == (err.code != ERR_NONE));
		ck_assert(d == NULL || dag_check(d, &err));
		good += d != NULL;
		arena_free(a);
	}
	ck_assert_int_gt(good, 20);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("darknet");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, convolutions_are_normalised, 0, 2);
	tcase_add_test(tc, texts_of_other_editors);
	tcase_add_loop_test(tc, headers_of_weights, 0, 3);
	tcase_add_test(tc, pixels_become_channels);
	tcase_add_test(tc, unequal_shapes_are_added);
	tcase_add_test(tc, pools_pad_at_the_end);
	tcase_add_test(tc, boxes_of_yolo);
	tcase_add_loop_test(tc, classes_of_a_tree, 0, 2);
	tcase_add_loop_test(tc, trees_are_refused, 0, LEN(trees));
	tcase_add_loop_test(tc, shortcuts_have_weights, 0, 6);
	tcase_add_test(tc, a_gru_remembers);
	tcase_add_loop_test(tc, networks_are_refused, 0, LEN(refused));
	tcase_add_test(tc, weights_are_refused);
	tcase_add_loop_test(tc, networks_without_weights, 0, suite_count(8, 8, LEN(cfgs)));
	tcase_add_test(tc, damaged_networks);
	return run_suite("darknet", tc);
}
