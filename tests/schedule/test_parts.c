/*
 * What convolutions are cut into beside tiles: parts of the input channels, bands of rows, tiles across rows, panels
 * whose sums wait while short parts pass (of dense layers, too). Parts are asked for where no cache holds what pixels
 * read, and are the default of 1x1 convolutions where tiles ask more of the second cache than it gives with ease. Each
 * such config has a schedule and computes what the naive Fn does; with parts its sums begin in a nest of their own.
 * And the other defaults of convolutions that sizes decide.
 */
#include "equal.h"
#include "suite.h"

#include "schedule/space.h"

#include <stdio.h>
#include <string.h>

static const char *const machines[] = { "cpu:znver5", "cpu:x86-64-v3" }; /* lanes of 16 and of 8 */

static Space *space_of(Arena *a, const char *dag, Target *target, const char *name, int threads)
{
	Err err = { 0 };
	*target = named_target(name, threads);
	Space *s = space_new(a, task_of(a, dag), target, &err);
	ck_assert_msg(s != NULL, "%s\n%s", err.text, dag);
	return s;
}

/* Which option of a knob a config has, 0: all channels, one band, tiles of a row; -1: it has no such knob. */
static int pick_of(Space *s, const Config *c, const char *name)
{
	for (int k = 0; k < c->n; k++)
		if (strcmp(space_knob(s, c, k)->name, name) == 0)
			return c->pick[k];
	return -1;
}

#define CONV(in, out, pixels, image) "dag t\nin x: f32[1," #in "," pixels "]" image "\n" \
	"const w: f32[" #out "," #in ",1,1]\ny: f32[1," #out "," pixels "]" image " = conv(x, w)\nout y\n"

static const struct {
	const char *dag;
	int options; /* of a tile of two vectors of 16, and all channels; 0: the knob is not asked */
	int threads;
} asked[] = {
	/* Divisors of 16 channels and 128 or more. */
	{ CONV(1152, 448, "14,14", ":NCHW16c"), 6, 1 },
	{ CONV(1152, 448, "14,14", ":NCHW16c"), 6, 7 },
	{ CONV(640, 640, "10,10", ":NHWC"), 4, 1 },
	/* A panel fits the first cache, and the image the second one; or the image does not. */
	{ CONV(256, 256, "14,14", ":NCHW16c"), 0, 1 },
	{ CONV(256, 256, "56,56", ":NCHW16c"), 2, 1 },
	/* One panel; one tile of pixels; rows, where each sum is stored lane by lane; filters that do not fill a vector. */
	{ CONV(1152, 32, "14,14", ":NCHW16c"), 0, 1 },
	{ CONV(1152, 448, "1,2", ":NCHW16c"), 0, 1 },
	{ "dag t\nin x: f32[1,1152,7,7]:NCHW16c\nconst w: f32[448,1152,1,1]\ny: f32[1,448,7,7] = conv(x, w)\nout y\n",
		0, 1 },
	{ CONV(1152, 440, "14,14", ":NCHW16c"), 0, 1 },
	/* Windows, whose parts are of fewer channels; padding; what is computed before. */
	{ "dag t\nin x: f32[1,512,7,7]:NCHW16c\nconst w: f32[64,512,2,2]\ny: f32[1,64,6,6]:NCHW16c = conv(x, w)\nout y\n",
		4, 1 },
	{ "dag t\nin x: f32[1,1024,7,7]:NCHW16c\nconst w: f32[64,1024,1,1]\n"
	  "y: f32[1,64,9,9]:NCHW16c = conv(x, w) pads=[1,1,1,1]\nout y\n",
		4, 1 },
	{ "dag t\nin x: f32[1,1024,7,7]:NCHW16c\nconst w: f32[64,1024,1,1]\nr: f32[1,1024,7,7]:NCHW16c = relu(x)\n"
	  "y: f32[1,64,7,7]:NCHW16c = conv(r, w)\nout y\n",
		0, 1 },
};

START_TEST(parts_are_asked_where_caches_are_short)
{
	Arena *a = arena_new();
	Target target;
	Space *s = space_of(a, asked[_i].dag, &target, machines[0], asked[_i].threads);
	Config c = s->first;
	int tile = -1, options = 0;
	for (int k = 0; k < c.n; k++)
		if (strcmp(space_knob(s, &c, k)->name, "sums") == 0)
			c = space_move(s, &c, k, 0);
	for (int k = 0; k < c.n; k++)
		tile = strcmp(space_knob(s, &c, k)->name, "tile") == 0 ? k : tile;
	ck_assert_int_ge(tile, 0);
	const Knob *tiles = space_knob(s, &c, tile);
	for (int o = 0; o < tiles->n; o++) {
		if (tiles->option[o].tile.vectors != 2)
			continue;
		Config m = space_move(s, &c, tile, o);
		for (int k = 0; k < m.n; k++)
			if (strcmp(space_knob(s, &m, k)->name, "depth") == 0)
				options = space_knob(s, &m, k)->n;
		break;
	}
	ck_assert_int_eq(options, asked[_i].options);
	arena_free(a);
}
END_TEST

#define READ(in, out, pixels, image) "dag t\nin x: f32[1," #in "," pixels "]" image "\nconst m: f32[" #in ",1,1]\n" \
	"const w: f32[" #out "," #in ",1,1]\nr: f32[1," #in "," pixels "] = mul(x, m)\n" \
	"y: f32[1," #out "," pixels "]" image " = conv(r, w)\nout y\n"
#define WINDOW(in, out, of, to, more, w, image) "dag t\nin x: f32[1," #in "," of "]" image "\n" \
	"const w: f32[" #out "," w "]\ny: f32[1," #out "," to "]" image " = conv(x, w)" more "\nout y\n"

/* Defaults that follow from the sizes of caches, registers and their rates. */
static const struct {
	const char *dag;
	int machine;
	const char *config; /* a part of the default's */
} defaults[] = {
	/* The longest part whose panel half of the first cache holds, else the shortest; of fewer than three: none. */
	{ CONV(512, 512, "14,14", ":NCHW8c"), 1, "depth=128 unroll=8 ahead=tile" },
	{ CONV(576, 96, "14,14", ":NCHW8c"), 1, "depth=144 unroll=8" },
	{ CONV(256, 256, "28,28", ":NCHW8c"), 1, "depth=256 " },
	{ CONV(320, 512, "14,14", ":NCHW8c"), 1, "depth=320 " },
	{ CONV(1024, 512, "7,7", ":NCHW16c"), 0, "depth=128 unroll=1 ahead=tile" },
	{ CONV(512, 512, "14,14", ":NCHW16c"), 0, "depth=512 order=weights band=14 unroll=1 ahead=tile" },
	/* An image that many panels would read again from beyond the second cache. */
	{ CONV(64, 256, "56,56", ":NCHW8c"), 1, "order=row unroll=8 ahead=none" },
	{ CONV(32, 256, "28,28", ":NCHW8c"), 1, "order=weights band=28 unroll=8 ahead=none" },
	/* Prologues: warm weights, few pixels, an image that the second cache holds. */
	{ READ(512, 128, "14,14", ":NCHW8c"), 1, "order=pixels unroll=8 ahead=none" },
	{ READ(512, 128, "7,7", ":NCHW8c"), 1, "order=weights unroll=8 ahead=tile" },
	{ READ(512, 128, "14,14", ":NCHW16c"), 0, "order=weights unroll=1 ahead=tile" },
	/* Windows: of few pixels, whose weights few registers do not stream; a row of taps too long with all channels. */
	{ WINDOW(128, 128, "29,29", "14,14", " strides=[2,2]", "128,3,3", ":NCHW8c"), 1, "unroll=8 ahead=none" },
	{ WINDOW(128, 128, "29,29", "14,14", " strides=[2,2]", "128,3,3", ":NCHW16c"), 0, "sums=panel " },
	{ WINDOW(128, 128, "59,59", "29,29", " strides=[2,2]", "128,3,3", ":NCHW8c"), 1, "unroll=8 ahead=none" },
	{ WINDOW(128, 128, "40,52", "40,40", " dilations=[1,2]", "128,1,7", ":NCHW8c"), 1, "unroll=2 ahead=none" },
	{ WINDOW(128, 128, "40,52", "40,40", " dilations=[1,2]", "128,1,7", ":NCHW16c"), 0, "unroll=1 ahead=none" },
	/* Padding at edges that have code of their own where a tile takes all of few registers. */
	{ WINDOW(96, 96, "16,16", "16,16", " dilations=[1,2] pads=[0,2,0,2]", "96,1,3", ":NCHW8c"), 1, "tile=3x4 " },
	{ WINDOW(96, 96, "16,16", "16,16", " dilations=[1,2] pads=[0,2,0,2]", "96,1,3", ":NCHW8c"), 1,
		"edges=yes taps=yes unroll=8 " },
	{ WINDOW(64, 64, "36,36", "18,18", " pads=[1,1,1,1] strides=[2,2]", "64,3,3", ":NCHW8c"), 1, "tile=2x6 " },
	{ WINDOW(64, 64, "36,36", "18,18", " pads=[1,1,1,1] strides=[2,2]", "64,3,3", ":NCHW8c"), 1, "edges=no " },
	{ WINDOW(64, 64, "72,72", "36,36", " pads=[1,1,1,1] strides=[2,2]", "64,3,3", ":NCHW16c"), 0, "edges=no " },
	/* Tiles across rows that leave tiles of few registers short, unless few pixels wait for weights. */
	{ CONV(480, 192, "14,14", ":NCHW8c"), 1, "across=yes tile=" },
	{ CONV(480, 192, "12,12", ":NCHW8c"), 1, "across=no " },
	{ CONV(256, 512, "7,7", ":NCHW8c"), 1, "across=no " },
	{ CONV(480, 192, "14,14", ":NCHW16c"), 0, "across=no " },
	/* Panels, with few registers of weights that half of the second cache does not hold. */
	{ WINDOW(512, 512, "15,15", "7,7", " strides=[2,2]", "512,3,3", ":NCHW8c"), 1, "tile=3x4 sums=panel " },
	{ WINDOW(512, 512, "15,15", "7,7", " strides=[2,2]", "512,3,3", ":NCHW8c"), 1, "panel.ahead=0" },
	{ WINDOW(512, 512, "15,15", "7,7", " strides=[2,2]", "512,3,3", ":NCHW16c"), 0, "panel.ahead=1" },
	/* Groups: half of few registers where lanes are a part of one; one vector in steps of one channel. */
	{ WINDOW(64, 64, "56,56", "56,56", " groups=16 pads=[1,1,1,1]", "4,3,3", ":NCHW8c"), 1, "tile=1x8 " },
	{ WINDOW(64, 64, "56,56", "56,56", " groups=16 pads=[1,1,1,1]", "4,3,3", ":NCHW8c"), 1, "edges=yes " },
	{ WINDOW(64, 64, "28,28", "28,28", " groups=8 pads=[1,1,1,1]", "8,3,3", ":NCHW8c"), 1, "tile=1x14 " },
	{ WINDOW(64, 64, "28,28", "28,28", " groups=8 pads=[1,1,1,1]", "8,3,3", ":NCHW8c"), 1, "unroll=1 " },
	/* Sums of depthwise windows in step fill half of few registers. */
	{ WINDOW(64, 64, "58,58", "56,56", " groups=64", "1,3,3", ":NCHW8c"), 1, "tile=1x8 order=weights taps=yes" },
	{ WINDOW(64, 64, "58,58", "28,28", " groups=64 strides=[2,2]", "1,3,3", ":NCHW8c"), 1, "tile=1x14 " },
	{ WINDOW(64, 64, "58,58", "56,56", " groups=64", "1,3,3", ":NCHW16c"), 0, "tile=1x28 " },
	/* Rows that exceed the second cache: parts, unless a vector that is not full is a large part of the columns. */
	{ "dag t\nin x: f32[168,262]\nconst w: f32[154,262]\ny: f32[168,154] = dense(x, w)\nout y\n", 1, "depth=262 " },
	{ "dag t\nin x: f32[168,262]\nconst w: f32[152,262]\ny: f32[168,152] = dense(x, w)\nout y\n", 1, "depth=131 " },
	/* Poolings of rows that only short tiles divide. Means of images have no pixels: vectors of channels are sums. */
	{ "dag t\nin x: f32[1,16,19,19]:NCHW8c\ny: f32[1,16,17,17]:NCHW8c = avg_pool(x) kernel=[3,3]\nout y\n", 1,
		"form=pixels pixels=9" },
	{ "dag t\nin x: f32[1,120,28,28]:NCHW8c\ny: f32[1,120,1,1] = reduce_mean(x) axes=[2,3]\nout y\n", 1,
		"form=tiles reduce_mean.vector=c:8 reduce_mean.vectors=4" },
	{ "dag t\nin x: f32[1,512,7,7]:NCHW16c\ny: f32[1,512] = reduce_mean(x) axes=[2,3] keep=0\nout y\n", 0,
		"form=generated reduce_mean.form=tiles reduce_mean.vector=c:16 reduce_mean.vectors=4" },
};

START_TEST(defaults_follow_from_the_target)
{
	Arena *a = arena_new();
	Target target;
	Text text = { .arena = a };
	Space *s = space_of(a, defaults[_i].dag, &target, machines[defaults[_i].machine], 1);
	space_print_config(&text, s, &s->first);
	ck_assert_msg(strstr(text_str(&text), defaults[_i].config) != NULL, "%s for %s", text_str(&text), defaults[_i].dag);
	arena_free(a);
}
END_TEST

/* Tiles go across rows where threads share twelve panels of two vectors evenly. */
START_TEST(panels_across_rows_are_shared_evenly)
{
	static const char *const across[] = { "across=yes tile=2x6 ", "across=yes tile=2x6 ", "across=yes tile=2x6 ",
		"across=yes tile=2x6 ", "across=no " };
	Arena *a = arena_new();
	Target target;
	Text text = { .arena = a };
	Space *s = space_of(a, CONV(480, 192, "14,14", ":NCHW8c"), &target, machines[1], _i + 1);
	space_print_config(&text, s, &s->first);
	ck_assert_msg(strstr(text_str(&text), across[_i]) != NULL, "%s with %d threads", text_str(&text), _i + 1);
	arena_free(a);
}
END_TEST

/* Random layers: a rest of panels and of pixels, windows, an epilogue or none, blocks of channels or NHWC. */
static const char *draw(Arena *a, bool large, Rng *rng)
{
	static const int64_t channels[] = { 256, 384, 480, 512, 640, 960, 1152 };
	static const char *const layout[] = { ":NCHW16c", ":NCHW8c", ":NHWC" };
	long long taps = rng_below(rng, 3) == 0 ? 3 : 1;
	int64_t in = large ? channels[rng_below(rng, LEN(channels))] : taps > 1 ? 64 : 512;
	int64_t out = 16 * (large ? 5 + (int64_t)rng_below(rng, 30) : 3 + (int64_t)rng_below(rng, 3));
	int64_t step = 1 + (int64_t)rng_below(rng, 2), h = large ? 7 + (int64_t)rng_below(rng, 20) : 4, w = h + 1;
	const char *of = layout[rng_below(rng, LEN(layout))];
	const char *attr = arena_printf(a, "pads=[%lld,%lld,%lld,%lld] strides=[%lld,%lld]", taps / 2, taps / 2, taps / 2,
		taps / 2, (long long)step, (long long)step);
	Text t = { .arena = a };
	text_add(&t, "dag t\nin x: f32[1,%lld,%lld,%lld]%s\n", (long long)in, (long long)(h * step), (long long)(w * step),
		of);
	text_add(&t, "const w: f32[%lld,%lld,%lld,%lld]\nconst b: f32[%lld]\n", (long long)out, (long long)in, taps, taps,
		(long long)out);
	const char *shape = arena_printf(a, "f32[1,%lld,%lld,%lld]", (long long)out, (long long)h, (long long)w);
	if (rng_below(rng, 2) == 0)
		text_add(&t, "y: %s%s = conv(x, w, b) %s\nout y\n", shape, of, attr);
	else
		text_add(&t, "in r: %s%s\ny: %s = conv(x, w, b) %s\na: %s = add(y, r)\nz: %s%s = relu(a)\nout z\n", shape, of,
			shape, attr, shape, shape, of);
	return text_str(&t);
}

/* A dense layer of several rows, maybe in batches. */
static const char *draw_dense(Arena *a, Rng *rng)
{
	long long in = 8 * (2 + (int64_t)rng_below(rng, 6)), out = 16 * (1 + (int64_t)rng_below(rng, 5));
	long long rows = 2 + (int64_t)rng_below(rng, 14);
	const char *more = rng_below(rng, 2) == 0 ? "2," : "";
	bool last = rng_below(rng, 2) == 0;
	return arena_printf(a,
		"dag t\nin x: f32[%s%lld,%lld]\nconst w: f32[%lld,%lld]\nconst b: f32[%lld]\n"
		"y: f32[%s%lld,%lld] = dense(x, w, b)\n%sout %s\n",
		more, rows, in, out, in, out, more, rows, out,
		last ? "" : arena_printf(a, "z: f32[%s%lld,%lld] = relu(y)\n", more, rows, out), last ? "y" : "z");
}

/*
 * A config with another option of that knob than its first one, and sums in registers unless that is the knob; false:
 * none was drawn.
 */
static bool draw_config(Space *s, const char *knob, Rng *rng, Config *c)
{
	bool sums = strcmp(knob, "sums") == 0;
	for (int k = 0; k < 200; k++) {
		*c = space_sample(s, rng);
		if (pick_of(s, c, knob) > 0 && (sums || pick_of(s, c, "sums") < 1))
			return true;
	}
	return false;
}

static const char *text_of(Arena *a, Space *s, const Config *c, const Trace *t)
{
	Text text = { .arena = a };
	space_print_config(&text, s, c);
	text_add(&text, "\n");
	trace_print(&text, t);
	return text_str(&text);
}

static int parallel_loops(const char *trace)
{
	int n = 0;
	for (const char *p = trace; (p = strstr(p, "\nparallel ")) != NULL; p++)
		n++;
	return n;
}

START_TEST(each_config_with_parts_is_legal)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	int layers = suite_count(6, 2, 60), met = 0;
	for (int k = 0; k < layers; k++) {
		Arena *a = arena_new();
		Target target;
		int threads = 1 + (int)rng_below(&rng, 3) * 3;
		Space *s = space_of(a, draw(a, true, &rng), &target, machines[_i], threads);
		Config c;
		for (int i = 0; i < suite_count(20, 4, 200) && draw_config(s, "depth", &rng, &c); i++) {
			Arena *own = arena_new();
			Err err = { 0 };
			Trace *t = space_trace(s, &c, own, &err);
			ck_assert_msg(t != NULL, "%s", err.text);
			const char *text = text_of(own, s, &c, t);
			ck_assert_msg(schedule_replay(ir_new(own), s->task, &target, t, &err) != NULL, "%s: %s\n%s", err.place,
				err.text, text);
			ck_assert_msg(strstr(text, "decompose_init conv c.o\n") != NULL, "%s", text);
			/* The beginning of the sums, the parts, and what follows. */
			int nests = strstr(text, "vectorize c_") != NULL ? 3 : 2;
			ck_assert_msg(parallel_loops(text) == (threads > 1 ? nests : 0), "%s", text);
			met++;
			arena_free(own);
		}
		arena_free(a);
	}
	ck_assert_int_gt(met, 0);
}
END_TEST

/* A row of few tiles, whose loop is the outermost one: threads share it, or it is written out, and never both. */
START_TEST(few_tiles_of_one_row_are_shared)
{
	Arena *a = arena_new();
	Target target;
	Rng rng = rng_seed(3);
	Space *s = space_of(a,
		"dag t\nin x: f32[1,12,13]:NCW8c\nconst w: f32[8,12,3]\ny: f32[1,8,13]:NCW8c = conv(x, w) pads=[1,1]\nout y\n",
		&target, machines[1], 3);
	int met = 0;
	for (int i = 0; i < 300; i++) {
		Err err = { 0 };
		Config c = space_sample(s, &rng);
		Trace *t = space_trace(s, &c, a, &err);
		ck_assert_msg(t != NULL, "%s", err.text);
		const char *text = text_of(a, s, &c, t);
		ck_assert_msg(schedule_replay(ir_new(a), s->task, &target, t, &err) != NULL, "%s: %s\n%s", err.place, err.text,
			text);
		met += strstr(text, "\nparallel w") != NULL;
	}
	ck_assert_int_gt(met, 0);
	arena_free(a);
}
END_TEST

static const char *const cuts[] = { "depth", "band", "across", "sums" };

START_TEST(cuts_compute_what_the_naive_fn_does)
{
	const char *cut = cuts[_i / 2];
	Rng rng = rng_seed((uint64_t)_i + 9);
	int met = 0;
	for (int k = 0; k < suite_count(5, 3, 30) * (1 + (strcmp(cut, "sums") == 0)); k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Target target;
		bool dense = strcmp(cut, "sums") == 0 && rng_below(&rng, 2) == 0;
		const char *layer = dense ? draw_dense(a, &rng) : draw(a, false, &rng);
		Space *s = space_of(a, layer, &target, machines[_i % 2], 1 + (int)rng_below(&rng, 2) * 2);
		Config c;
		if (!draw_config(s, cut, &rng, &c)) { /* a layer without that knob */
			arena_free(a);
			continue;
		}
		KernelSet *naive = op_naive(ir_new(a), s->task->dag, "k", NAIVE_AS_TYPED, &err);
		Want want[] = { want_of(a, naive, INTERP_EXACT, 1), want_of(a, naive, INTERP_MODP, 2) };
		for (int i = 0; i < suite_count(3, 2, 20) && draw_config(s, cut, &rng, &c); i++) {
			Arena *own = arena_new();
			Trace *t = space_trace(s, &c, own, &err);
			ck_assert_msg(t != NULL, "%s", err.text);
			KernelSet *ks = schedule_replay(ir_new(own), s->task, &target, t, &err);
			ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_of(own, s, &c, t));
			/* Taps of a window are added in another order. */
			bool window = strstr(s->task->text, ",3,3]") != NULL;
			must_give(&want[window ? 1 : i % 2], ks, (uint64_t)i, text_of(own, s, &c, t));
			met++;
			arena_free(own);
		}
		arena_free(a);
	}
	ck_assert_int_gt(met, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("parts");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, parts_are_asked_where_caches_are_short, 0, LEN(asked));
	tcase_add_loop_test(tc, defaults_follow_from_the_target, 0, LEN(defaults));
	tcase_add_loop_test(tc, panels_across_rows_are_shared_evenly, 0, 5);
	tcase_add_loop_test(tc, each_config_with_parts_is_legal, 0, LEN(machines));
	tcase_add_test(tc, few_tiles_of_one_row_are_shared);
	tcase_add_loop_test(tc, cuts_compute_what_the_naive_fn_does, 0, LEN(cuts) * LEN(machines));
	return run_suite("parts", tc);
}
