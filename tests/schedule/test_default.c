/* What templates take by default, before anything is measured: steps of the trace. */
#include "equal.h"
#include "suite.h"

#include "ir/build.h"
#include "ir/text/ir_text.h"
#include "schedule/space.h"

#include <math.h>
#include <string.h>

static Target cpu(int threads)
{
	Target t = named_target("cpu:znver5", threads);
	t.vector_bits = 256;
	return t;
}

/* Which weights are prefetched: none for many pixels; those of the next tile, of the next part, or a block on. */
static const struct {
	const char *dag, *step;
} asked[] = {
	{ "dag a\nin x: f32[1,32,17,17]:NCHW8c\nconst w: f32[64,32,1,1]\ny: f32[1,64,17,17]:NCHW8c = conv(x, w)\nout y\n",
		NULL },
	{ "dag b\nin x: f32[1,32,7,7]:NCHW8c\nconst w: f32[64,32,1,1]\ny: f32[1,64,7,7]:NCHW8c = conv(x, w)\nout y\n",
		"prefetch c0.p conv o.w.o.o c.o 1\n" },
	{ "dag c\nin x: f32[1,32,7,7]:NCHW8c\nconst w: f32[64,32,3,3]\ny: f32[1,64,4,4]:NCHW8c = conv(x, w) strides=[2,2] "
	  "pads=[1,1,1,1]\nout y\n",
		"prefetch c0.p conv c.o c.i.i.o 1\nunroll c0.p.f\n" },
	{ "dag d\nin x: f32[1,3,9,9]\nconst w: f32[16,3,3,3]\ny: f32[1,16,7,7]:NCHW8c = conv(x, w)\nout y\n",
		"prefetch c0.p conv c c 16\nunroll c0.p.f\n" },
	{ "dag e\nin x: f32[1,1,9,9]\nconst w: f32[16,1,3,3]\ny: f32[1,16,7,7]:NCHW8c = conv(x, w)\nout y\n", NULL },
	{ "dag f\nin x: f32[1,512,7,7]:NCHW8c\nconst w: f32[512,512,3,3]\ny: f32[1,512,7,7]:NCHW8c = conv(x, w) "
	  "pads=[1,1,1,1]\nout y\n",
		"prefetch v1.u wino.m m.o.o m.c.o 1\n" },
	/* A recurrent network's inputs: a batch of one, whose steps are the rows. */
	{ "dag k\nin x: f32[64,1,240]\nconst w: f32[256,240]\ny: f32[64,1,256] = dense(x, w)\nout y\n",
		"prefetch c0.p dense n.w.o.o k.o 1\n" },
	/* Many rows hide the next panel behind their arithmetic; few read one panel in order. */
	{ "dag g\nin x: f32[128,240]\nconst w: f32[256,240]\ny: f32[128,256] = dense(x, w)\nout y\n",
		"prefetch c0.p dense n.w.o.o k.o 1\n" },
	{ "dag h\nin x: f32[32,2,240]\nconst w: f32[256,240]\ny: f32[32,2,256] = dense(x, w)\nout y\n",
		"prefetch c0.p dense n.w.o.o k.o 1\n" },
	{ "dag i\nin x: f32[1,256]\nconst w: f32[256,256]\ny: f32[1,256] = dense(x, w)\nout y\n", NULL },
	{ "dag j\nin x: f32[8,256]\nconst w: f32[256,256]\ny: f32[8,256] = dense(x, w)\nout y\n",
		"prefetch c0.p dense k.o k.o 4\nunroll c0.p.f\n" },
	/* Products of halves: the next of the seven matrices. */
	{ "dag m\nin x: f32[128,768]\nconst w: f32[768,768]\ny: f32[128,768] = dense(x, w)\nout y\n",
		"prefetch v1.u strassen.m m.p m.k.o 1\n" },
	/* One step of the inner dimension: nothing comes after it. */
	{ "dag l\nin x: f32[7,1]\nconst w: f32[13,1]\ny: f32[7,13] = dense(x, w)\nout y\n", NULL },
};

/* The text of a workload's default trace for a target, which replays. */
static const char *default_trace_for(Arena *a, const char *dag, Target target)
{
	Err err = { 0 };
	Task *task = task_of(a, dag);
	Text out = { .arena = a };
	Space *space = space_new(a, task, &target, &err);
	Trace *t = space != NULL ? space_trace(space, &space->first, a, &err) : NULL;
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&out, t);
	ck_assert_msg(schedule_replay(ir_new(a), task, &target, t, &err) != NULL, "%s: %s\n%s", err.place, err.text,
		text_str(&out));
	return text_str(&out);
}

static const char *default_trace(Arena *a, const char *dag)
{
	return default_trace_for(a, dag, cpu(1));
}

/* Several threads divide the rows of a 1x1 convolution, or its filters. */
static const struct {
	const char *dag;
	int threads;
	bool rows;
} divided[] = {
#define CONV(n, c, hw, f, sides) \
	"dag a\nin x: f32[" n "," c "," sides "]:NCHW16c\nconst w: f32[" f "," c ",1,1]\nconst b: f32[" f "]\n" \
	"y: f32[" n "," f "," hw "] = conv(x, w, b)"
#define RELU(n, f, hw) "\nz: f32[" n "," f "," hw "]:NCHW16c = relu(y)\nout z\n"
	{ CONV("1", "64", "14,14", "64", "14,14") RELU("1", "64", "14,14"), 2, true }, /* 3.06 pixels a filter */
	{ CONV("1", "64", "14,14", "96", "14,14") RELU("1", "96", "14,14"), 2, false },
	{ CONV("1", "64", "14,14", "64", "14,14") RELU("1", "64", "14,14"), 1, false },
	{ CONV("1", "64", "14,14", "64", "14,14") RELU("1", "64", "14,14"), 12, false }, /* 14 of 24 */
	{ CONV("2", "64", "14,14", "64", "14,14") RELU("2", "64", "14,14"), 2, false }, /* each has an image */
	{ CONV("1", "4096", "20,20", "64", "20,20") RELU("1", "64", "20,20"), 2, false }, /* a megabyte of weights */
	{ CONV("1", "64", "14,14", "96", "28,28") " strides=[2,2]" RELU("1", "96", "14,14"), 2, false },
	{ "dag b\nin x: f32[1,64,14,14]:NCHW16c\nconst w: f32[128,64,1,1]\nconst b: f32[128]\n"
	  "r: f32[1,64,14,14] = relu(x)\ny: f32[1,128,14,14]:NCHW16c = conv(r, w, b)\nout y\n", 2, true },
	{ "dag c\nin x: f32[1,64,7,7]:NCHW16c\nconst w: f32[128,64,1,1]\nconst b: f32[128]\n"
	  "r: f32[1,64,7,7] = relu(x)\ny: f32[1,128,7,7]:NCHW16c = conv(r, w, b)\nout y\n", 2, false },
};

START_TEST(threads_divide_rows_of_large_images)
{
	Arena *a = arena_new();
	const char *trace = default_trace_for(a, divided[_i].dag, named_target("cpu:znver5", divided[_i].threads));
	ck_assert_msg((strstr(trace, "parallel h") != NULL) == divided[_i].rows, "%s", trace);
	arena_free(a);
}
END_TEST

START_TEST(cold_weights_are_asked_for)
{
	Arena *a = arena_new();
	const char *trace = default_trace(a, asked[_i].dag);
	const char *found = strstr(trace, asked[_i].step != NULL ? asked[_i].step : "prefetch");
	ck_assert_msg((found != NULL) == (asked[_i].step != NULL), "%s", trace);
	arena_free(a);
}
END_TEST

/* What no cache holds until it is read again; tiles of sums would store its lines in pieces. */
static const struct {
	const char *dag;
	double caches; /* of the size of the output, in the last cache's */
	bool asked, first;
} far[] = {
	{ "dag a\nin x: f32[%d,1024]\ny: f32[%d,1024] = relu(x)\nout y\n", 0.51, true, true },
	{ "dag b\nin x: f32[%d,1024]\ny: f32[%d,1024] = relu(x)\nout y\n", 0.49, false, false },
	{ "dag c\nin x: f32[%d,16]\nconst w: f32[1024,16]\ny: f32[%d,1024] = dense(x, w)\nout y\n", 0.51, true, false },
};

START_TEST(large_outputs_pass_the_caches_by)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = cpu(1);
	int rows = (int)(far[_i].caches * (double)target_last_cache(&target)->bytes / 4096);
	const char *dag = arena_printf(a, far[_i].dag, rows, rows);
	Space *space = space_new(a, task_of(a, dag), &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	bool found = false;
	for (int k = 0; k < space->first.n; k++)
		found = found || strstr(space->knob.at[space->first.knob[k]].name, ".streamed") != NULL;
	ck_assert_int_eq(found, far[_i].asked);
	ck_assert_int_eq(strstr(default_trace(a, dag), "stream v") != NULL, far[_i].first);
	arena_free(a);
}
END_TEST

/* A reduction counts in whichever Fn it stands; an output of two Fns is asked for once. */
static const struct {
	const char *set;
	bool first;
} written[] = {
	{ "fn k(x: in f32[%d, 1024], y: out f32[%d, 1024]) { y[0, 0] = x[0, 0] }\n"
	  "fn g(y: out f32[%d, 1024]) { y[0, 1] = 0.0 }\n", true },
	{ "fn k(x: in f32[%d, 1024], y: out f32[%d, 1024]) { y[0, 0] = x[0, 0] }\n"
	  "fn g(x: in f32[%d, 1024], z: inout f32[1]) { sum z[0] <- x[0, 1] }\n", false },
};

static bool no_steps(Sketch *s, Err *err)
{
	(void)s;
	(void)err;
	return true;
}

START_TEST(all_fns_say_what_passes_the_caches_by)
{
	static const Template none = { .name = "none", .run = no_steps };
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = cpu(1);
	int rows = (int)(0.51 * (double)target_last_cache(&target)->bytes / 4096);
	Space *space = space_new(a, task_of(a, arena_printf(a, far[0].dag, rows, rows)), &target, &err);
	char *set = arena_printf(a, written[_i].set, rows, rows, rows);
	ck_assert_msg(space != NULL, "%s", err.text);
	space->tmpl = &none;
	space->naive = ir_parse_set(ir_new(a), "set", set, strlen(set), &err);
	ck_assert_msg(space->naive != NULL, "%s", err.text);
	Trace *t = space_trace(space, &(Config){ 0 }, a, &err);
	Text out = { .arena = a };
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&out, t);
	ck_assert_str_eq(text_str(&out), written[_i].first ? "stream y\n" : "");
	arena_free(a);
}
END_TEST

/* Where results lie in rows the default's lanes are channels all the same, but for what has little to sum up. */
static const struct {
	const char *dag;
	bool channels;
} sides[] = {
	{ "dag a\nin x: f32[1,32,7,9]:NCHW8c\nconst w: f32[21,32,1,1]\ny: f32[1,21,7,9] = conv(x, w)\nout y\n", true },
	{ "dag b\nin x: f32[1,32,7,9]:NCHW8c\nconst w: f32[32,1,3,3]\ny: f32[1,32,5,7] = conv(x, w) groups=32\nout y\n",
		true },
	{ "dag c\nin x: f32[1,16,7,9]\nconst w: f32[16,16,3,3]\ny: f32[1,16,5,7] = conv(x, w)\nout y\n", true },
	{ "dag h\nin x: f32[1,6,7,9]\nconst w: f32[2,6,3,3]\ny: f32[1,2,5,7] = conv(x, w)\nout y\n", false },
	{ "dag i\nin x: f32[1,8,9,16]\nconst w: f32[64,8,1,1]\ny: f32[1,64,9,16] = conv(x, w)\nout y\n", false },
	{ "dag j\nin x: f32[1,256,9,14]\nconst w: f32[64,256,1,1]\ny: f32[1,64,9,14] = conv(x, w)\nout y\n", true },
	{ "dag d\nin x: f32[1,6,7,9]\nconst w: f32[6,1,3,3]\ny: f32[1,6,5,7] = conv(x, w) groups=6\nout y\n", false },
	{ "dag f\nin x: f32[1,32,7,9]:NCHW8c\nconst w: f32[24,16,3,3]\ny: f32[1,24,5,7]:NCHW8c = conv(x, w) groups=2\n"
		"out y\n", true },
	{ "dag g\nin x: f32[1,32,7,9]:NCHW8c\nconst w: f32[24,8,3,3]\ny: f32[1,24,5,7]:NCHW8c = conv(x, w) groups=4\n"
		"out y\n", true },
	{ "dag e\nin x: f32[1,6,7,9]\nconst w: f32[2,6,1,1]\ny: f32[1,2,7,9] = conv(x, w)\nout y\n", false },
};

START_TEST(results_in_rows_come_from_lanes_of_channels)
{
	Arena *a = arena_new();
	const char *trace = default_trace(a, sides[_i].dag);
	ck_assert_msg((strstr(trace, "pack c0 ") != NULL) == sides[_i].channels, "%s", trace);
	arena_free(a);
}
END_TEST

/* Templates take every type, with as many lanes as a register holds of its sums; Winograd takes f32 only. */
static const struct {
	const char *dag;
	uint8_t bits; /* of a sum */
} typed[] = {
	{ "dag a\nin x: f64[1,32,18,18]:NCHW8c\nconst w: f64[64,32,3,3]\ny: f64[1,64,18,18]:NCHW8c = conv(x, w) "
	  "pads=[1,1,1,1]\nout y\n", 64 },
	{ "dag b\nin x: f16[1,32,18,18]:NCHW8c\nconst w: f16[64,32,3,3]\ny: f16[1,64,18,18]:NCHW8c = conv(x, w) "
	  "pads=[1,1,1,1]\nout y\n", 32 },
	{ "dag c\nin x: bf16[7,24]\nconst w: bf16[64,24]\ny: bf16[7,64] = dense(x, w)\nout y\n", 32 },
	{ "dag d\nin x: f64[7,24]\nconst w: f64[64,24]\ny: f64[7,64] = dense(x, w)\nout y\n", 64 },
};

START_TEST(every_type_has_tiles)
{
	Arena *a = arena_new();
	Target target = cpu(1);
	const char *trace = default_trace(a, typed[_i].dag);
	ck_assert_msg(strstr(trace, "pack c0 ") != NULL && strstr(trace, "wino") == NULL, "%s", trace);
	/* OI16o, or OIHW8i16o where channels lie in blocks. */
	const char *panel = arena_printf(a, "%do\n", target_lanes(&target, DT(FLOAT, typed[_i].bits)));
	const char *at = strstr(trace, panel);
	ck_assert_msg(at != NULL && strchr("Ii", at[-1]) != NULL, "%s", trace);
	arena_free(a);
}
END_TEST

/* The anchor is tiled wherever it stands; a Task without one has the generated space. */
static const struct {
	const char *dag, *step;
} anchors[] = {
	{ "dag a\nin x: f32[1,32,9,9]:NCHW8c\nconst w: f32[32,32,3,3]\nr: f32[1,32,9,9] = relu(x)\n"
	  "y: f32[1,32,9,9]:NCHW8c = conv(r, w) pads=[1,1,1,1]\nout y\n",
		"compute_at conv " },
	{ "dag b\nin x: f32[1,8,9,9]:NCHW8c\nconst v: f32[16,8,1,1]\nconst w: f32[32,16,3,3]\n"
		"y: f32[1,16,9,9] = conv(x, v)\n"
	  "z: f32[1,32,4,4] = conv(y, w) strides=[2,2]\nout z\n",
		"pack c1 " },
	{ "dag c\nin x: f32[1,8,9,9]\nconst v: f32[32,8,3,3]\nconst w: f32[16,32,1,1]\ny: f32[1,32,7,7] = conv(x, v)\n"
	  "z: f32[1,16,4,4] = conv(y, w) strides=[2,2]\nout z\n",
		"pack c0 " },
	/* Rows that do not fit the second cache go through it in parts of their length; those of a part that do, do not. */
	{ "dag f\nin x: f32[128,8192]\nconst w: f32[248,8192]\ny: f32[128,248] = dense(x, w)\nout y\n",
		"decompose_init dense k.o\n" },
	{ "dag g\nin x: f32[128,240]\nconst w: f32[256,240]\ny: f32[128,256] = dense(x, w)\nout y\n",
		"compute_at dense " },
	/* Large halves are multiplied seven times, and what follows is stored with their quadrants. */
	{ "dag k\nin x: f32[128,768]\nconst w: f32[768,768]\ny: f32[128,768] = dense(x, w)\nz: f32[128,768] = relu(y)\n"
	  "out z\n",
		"absorb strassen.y relu\n" },
	/* one tile is all of the result */
	{ "dag i\nin x: f32[1,64]\nconst w: f32[24,64]\ny: f32[1,24] = dense(x, w)\nout y\n", "compute_at dense m.w.o\n" },
	{ "dag h\nin x: f32[1,8,9,9]:NCHW8c\nconst v: f32[32,8,1,1]\nconst w: f32[32,1,3,3]\n"
	  "y: f32[1,32,9,9] = conv(x, v)\nr: f32[1,32,9,9] = relu(y)\n"
	  "z: f32[1,32,9,9]:NCHW8c = conv(r, w) groups=32 pads=[1,1,1,1]\nout z\n",
		"ring relu " },
	{ "dag d\nin x: f32[8,64]\nin y: f32[8,64]\nconst w: f32[48,64]\ns: f32[8,64] = add(x, y)\n"
		"z: f32[8,48] = dense(s, w)\n"
	  "t: f32[8,48] = softmax(z)\nout t\n",
		"compute_at dense " },
	{ "dag e\nin x: f32[1,8,12,16]\nm: f32[1,8,1,1] = reduce_mean(x) axes=[2,3]\nd: f32[1,8,12,16] = sub(x, m)\nout d\n"
		"",
		"vectorize " },
	/* Causal, and vectors of values that tiles do not divide: both nests of values end where queries see no more. */
	{ "dag l\nin q: f32[1,2,64,65]\nin k: f32[1,2,64,65]\nin v: f32[1,2,64,65]\n"
	  "y: f32[1,2,64,65] = attention(q, k, v) causal=1\nout y\n",
		".o.2\ntrim " },
};

START_TEST(an_anchor_is_tiled_wherever_it_stands)
{
	Arena *a = arena_new();
	const char *trace = default_trace(a, anchors[_i].dag);
	ck_assert_msg(strstr(trace, anchors[_i].step) != NULL, "%s", trace);
	arena_free(a);
}
END_TEST

/* Axes that neither lanes nor tiles divide, on a core of 32 registers of 8 lanes and two multiply-adds a cycle. */
static const struct {
	const char *dag, *step;
} odd[] = {
	/* Seven vectors of channels are three tiles of two, and one of one. */
	{ "dag a\nin x: f32[1,32,14,14]:NCHW8c\nconst w: f32[56,32,1,1]\ny: f32[1,56,14,14]:NCHW8c = conv(x, w)\nout y\n",
		"split o.w.o 2\n" },
	/* 28 pixels are two whole tiles, and not one of 15 and one of 13. */
	{ "dag b\nin x: f32[1,32,28,28]:NCHW8c\nconst w: f32[16,32,1,1]\ny: f32[1,16,28,28]:NCHW8c = conv(x, w)\nout y\n",
		"split w.w 14\n" },
	/* Sums of all 21 columns lie in three whole vectors; the other factor is copied for each batch. */
	{ "dag c\nin x: f32[7,21,18]\ny: f32[7,21,21] = matmul(x, x) tb=1\nout y\n", "layout v1.c NCW8w\n" },
	{ "dag d\nin x: f32[7,21,18]\ny: f32[7,21,21] = matmul(x, x) tb=1\nout y\n", "cache_read v0 matmul b0.w\n" },
	/* One tile is all: its sums are made in a loop all the same. */
	{ "dag j\nin x: f32[1,64]\nconst w: f32[21,64]\ny: f32[1,21] = dense(x, w)\nout y\n", "compute_at dense m.w.o\n" },
	/* The last vector overlaps the one before it, where that changes nothing; so does the last tile of rows. */
	{ "dag e\nin x: f32[5,12,28]\nin b: f32[12,1]\ns: f32[5,12,28] = add(x, b)\ny: f32[5,12,28] = tanh(s)\nout y\n",
		"split w_1 8 overlap\n" },
	{ "dag f\nin x: f32[5,12,28]\nin b: f32[12,1]\ny: f32[5,12,28] = add(x, b)\nout y\n", "split w 8 overlap\n" },
	{ "dag m\nin x: f32[1,5,23,27]\nconst w: f32[5,1,3,3]\ny: f32[1,5,23,27] = conv(x, w) groups=5 pads=[1,1,1,1]\n"
	  "out y\n",
		"split w 8 overlap\nsplit h 12 overlap\nreorder n o h.o w.o kw kh h.i w.i\n" },
	/* An elementwise nest behind them stores their tiles; but not three series, which would be too much code. */
	{ "dag r\nin x: f32[1,5,23,27]\nconst w: f32[5,1,3,3]\ny: f32[1,5,23,27] = conv(x, w) groups=5 pads=[1,1,1,1]\n"
	  "z: f32[1,5,23,27] = relu(y)\nout z\n",
		"split w_1 8 overlap\nsplit h_1 12 overlap\nreorder n_1 c h_1.o w_1.o h_1.i w_1.i\ncompute_at conv w_1.o\n"
		"reorder n o kw kh h w\n" },
	{ "dag s\nin x: f32[1,5,23,27]\nconst w: f32[5,1,3,3]\ny: f32[1,5,23,27] = conv(x, w) groups=5 pads=[1,1,1,1]\n"
	  "s = sigmoid(y)\nt = tanh(s)\nz: f32[1,5,23,27] = exp(t)\nout z\n",
		"reorder n o h.o w.o kw kh h.i w.i\n" },
	/* Nor one that stores blocks of channels, while the sums lie in rows. */
	{ "dag t\nin x: f32[1,32,12,12]:NCHW16c\ny: f32[1,32,6,6] = max_pool(x) kernel=[2,2] strides=[2,2]\n"
	  "z: f32[1,32,6,6]:NCHW16c = relu(y)\nout z\n",
		"split c_1 8\nreorder n_1 c_1.o h_1 w_1 c_1.i\n" },
	/* Few elements of rows in steps of two are read twice; the ends of an axis are code of their own. */
	{ "dag p\nin x: f32[1,5,56,64]\nconst w: f32[5,1,3,3]\ny: f32[1,5,28,32] = conv(x, w) groups=5 pads=[1,1,1,1] "
	  "strides=[2,2]\nout y\n",
		"reorder n o h.o w.o kw kh h.i w.i\nunroll h.i\nunroll kh\nvectorize w.i\ncut h.o 1\n" },
	/* Rows that a tile of fewer sums divides have no other one. */
	{ "dag n\nin x: f32[1,5,28,27]\nconst w: f32[5,1,3,3]\ny: f32[1,5,28,27] = conv(x, w) groups=5 pads=[1,1,1,1]\n"
	  "out y\n",
		"split h 14\n" },
	/* Channels that do not fill their last block: no vector goes from one block to the next, and the rest is turned. */
	{ "dag u\nin x: f32[1,40,6,14]\ny: f32[1,21,6,14]:NCHW8c = slice(x) sizes=[1,21,6,14]\nout y\n",
		"split c 8\nreorder n c.o h w c.i\nunroll w\nvectorize c.i\ncut c.o 2\n" },
	{ "dag g\nin x: f32[5,12,12]\nin b: f32[12,1]\ny: f32[5,12,12] = add(x, b)\nout y\n", "vectorize w\n" },
	/* Short rows in steps of three: lanes of channels gather no more than those of rows. Steps of two are two loads. */
	{ "dag h\nin x: f32[1,32,21,21]\nconst w: f32[32,1,3,3]\ny: f32[1,32,7,7] = conv(x, w) groups=32 strides=[3,3] "
	  "pads=[1,1,1,1]\nout y\n",
		"pack c0 " },
	{ "dag o\nin x: f32[1,32,14,14]\nconst w: f32[32,1,3,3]\ny: f32[1,32,7,7] = conv(x, w) groups=32 strides=[2,2] "
	  "pads=[1,1,1,1]\nout y\n",
		"vectorize w" },
	/* Taps of a fold read images of their own: nothing is shared. */
	{ "dag q\nin x: f32[1,64,3,3,28,28]\ny: f32[1,64,28,28] = fold(x) pads=[1,1,1,1] size=[28,28]\nout y\n",
		"kh kw c.i w.i\n" },
	/* A row is one vector; taps along the tile are innermost, so that each row is loaded once. */
	{ "dag l\nin x: f32[1,32,7,7]\nconst w: f32[32,1,7,7]\ny: f32[1,32,7,7] = conv(x, w) groups=32 pads=[3,3,3,3]\n"
	  "out y\n",
		"reorder n o kw kh h w\n" },
	{ "dag i\nin x: f32[1,32,112,112]\nconst w: f32[32,1,3,3]\ny: f32[1,32,56,56] = conv(x, w) groups=32 strides=[2,2] "
	  "pads=[1,1,1,1]\nout y\n",
		"split w 8\n" },
	/* A row in blocks: no vector of its sums goes from one block to the next. */
	{ "dag m\nin x: f32[1,3,5,256]:NWCH8w\ns: f32[1,3,5,1] = reduce_mean(x) axes=[3]\n"
	  "y: f32[1,3,5,256]:NWCH8w = sub(x, s)\nout y\n",
		"split w.i 8\nunroll w.i.o\nvectorize w.i.i\n" },
};

START_TEST(odd_axes_have_tiles)
{
	Arena *a = arena_new();
	Target t = cpu(1);
	t.vector_regs = 32;
	t.core.fma_rate = t.core.loads = 2;
	t.core.fma_latency = 4;
	const char *trace = default_trace_for(a, odd[_i].dag, t);
	ck_assert_msg(strstr(trace, odd[_i].step) != NULL, "%s", trace);
	arena_free(a);
}
END_TEST

/* Few registers are no reason for a tile that does not divide, or for sums that wait: filters are single elements. */
static const struct {
	const char *dag, *step;
} small_files[] = {
	{ "dag a\nin x: f32[1,64,33,33]\nconst w: f32[20,64,1,1]\ny: f32[1,20,33,33] = conv(x, w)\nout y\n",
		"split o 10\n" },
	{ "dag b\nin x: f32[1,3,64,64]\nconst w: f32[24,3,3,3]\ny: f32[1,24,62,62] = conv(x, w)\nout y\n",
		"split o 12\n" },
};

START_TEST(sums_take_most_of_a_small_file)
{
	Arena *a = arena_new();
	Target t = cpu(1);
	t.vector_regs = 16;
	t.core.fma_rate = t.core.loads = 2;
	t.core.fma_latency = 4;
	Err err = { 0 };
	Text text = { .arena = a };
	Space *s = space_of_any(a, task_of(a, small_files[_i].dag), &t, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	trace_print(&text, space_trace(s, &s->first, a, &err));
	ck_assert_msg(strstr(text_str(&text), small_files[_i].step) != NULL, "%s", text_str(&text));
	arena_free(a);
}
END_TEST

/* Operators in rows, with 16 registers. */
static const struct {
	const char *dag, *step;
	int threads;
} rows[] = {
	/* The vectors at the ends of a row, then the tiles of rows around them. */
	{ "dag a\nin x: f32[1,3,24,24]\nconst w: f32[3,1,3,3]\ny: f32[1,3,24,24] = conv(x, w) groups=3 pads=[1,1,1,1]\n"
	  "out y\n",
		"cut w.o 1\ncut w.o.2 1\ncut h.o 1\ncut h.o.3 2\n", 1 },
	/* Five channels fill no register, 16 do. */
	{ "dag b\nin x: f32[1,15,48,48]\nconst w: f32[15,5,3,3]\ny: f32[1,15,48,48] = conv(x, w) groups=3 "
	  "pads=[1,1,1,1]\nout y\n",
		"vectorize w.i\n", 1 },
	{ "dag c\nin x: f32[1,48,48,48]\nconst w: f32[48,16,3,3]\ny: f32[1,48,48,48] = conv(x, w) groups=3 "
	  "pads=[1,1,1,1]\nout y\n",
		"vectorize o.i\n", 1 },
	/* The last vector of a row overlaps the one before, also where threads would share nothing else. */
	{ "dag d\nin x: f32[1,1,15,29]\ny: f32[1,1,7,14] = max_pool(x) kernel=[3,3] strides=[2,2]\nout y\n", " 8 overlap\n",
		2 },
	{ "dag e\nin x: f32[1,3,15,15]\ny: f32[1,3,7,7] = max_pool(x) kernel=[3,3] strides=[2,2]\nout y\n", " 4 overlap\n",
		1 },
	/* A product of a tensor and its own transpose copies it once; threads do so where they share batches. */
	{ "dag f\nin x: f32[5,56,21]\ny: f32[5,56,56] = matmul(x, x) tb=1\nout y\n", "cache_read v0 matmul b0.w\n", 1 },
	{ "dag g\nin x: f32[5,56,21]\ny: f32[5,56,56] = matmul(x, x) tb=1\nout y\n", "cache_read v0 matmul b0.w\n", 2 },
	{ "dag h\nin x: f32[1,56,21]\ny: f32[1,56,56] = matmul(x, x) tb=1\nout y\n", "cache_read v0 matmul n.w.o", 2 },
};

START_TEST(rows_have_vectors_without_masks)
{
	Arena *a = arena_new();
	Target t = cpu(rows[_i].threads);
	t.vector_regs = 16;
	const char *trace = default_trace_for(a, rows[_i].dag, t);
	ck_assert_msg(strstr(trace, rows[_i].step) != NULL, "%s", trace);
	arena_free(a);
}
END_TEST

/* Two threads would store the same elements of the axis that they share. */
START_TEST(shared_axes_do_not_overlap)
{
	static const char dag[] = "dag a\nin x: f32[1001]\ny: f32[1001] = exp(x)\nout y\n";
	Arena *a = arena_new();
	for (int threads = 1; threads <= 2; threads++) {
		const char *trace = default_trace_for(a, dag, cpu(threads));
		ck_assert_msg((strstr(trace, "overlap\n") != NULL) == (threads == 1), "%s", trace);
		ck_assert_msg((strstr(trace, "parallel ") != NULL) == (threads == 2), "%s", trace);
	}
	arena_free(a);
}
END_TEST

/* Blocks and stores that run, and how many would run in the time of the thread that has most. */
typedef struct Shared {
	double all, slots;
} Shared;

static Shared shared_among(const Stmt *s, int threads)
{
	Shared sum = { 0, 0 };
	for (; s != NULL; s = s->next) {
		if (s->kind != ST_FOR) {
			bool runs = s->kind == ST_BLOCK || s->kind == ST_STORE || s->kind == ST_REDUCE;
			sum.all += runs;
			sum.slots += runs ? threads : 0;
			continue;
		}
		int64_t lo, hi;
		ck_assert(ir_is_int(s->loop.lo, &lo) && ir_is_int(s->loop.hi, &hi));
		double n = (double)(hi - lo);
		Shared body = shared_among(s->loop.body, threads);
		sum.all += n * body.all;
		sum.slots += s->loop.kind == LOOP_PARALLEL ? ceil(n / threads) * threads * body.all : n * body.slots;
	}
	return sum;
}

/* Extents that no number of threads divides: several loops are shared as one. */
static const char *const shared_dags[] = {
	/* One tile of three vectors and a half one; its rows are shared. */
	"dag a\nin x: f32[1,16,28,28]:NCHW8c\nconst w: f32[28,16,1,1]\ny: f32[1,28,28,28]:NCHW8c = conv(x, w)\nout y\n",
	/* Seven rows of pixels of five vectors. */
	"dag b\nin x: f32[1,16,7,7]:NCHW8c\nconst w: f32[168,16,1,1]\ny: f32[1,168,7,7]:NCHW8c = conv(x, w)\nout y\n",
	/* Channels by themselves, three vectors of them. */
	"dag c\nin x: f32[1,24,28,28]:NCHW8c\nconst w: f32[24,1,3,3]\ny: f32[1,24,28,28]:NCHW8c = conv(x, w) groups=24 "
	"pads=[1,1,1,1]\nout y\n",
	/* Winograd's tiles, seven rows of them. */
	"dag d\nin x: f32[1,64,28,28]:NCHW8c\nconst w: f32[64,64,3,3]\ny: f32[1,64,28,28]:NCHW8c = conv(x, w) "
	"pads=[1,1,1,1]\nout y\n",
	"dag e\nin x: f32[1,24,29,29]:NCHW8c\ny: f32[1,24,14,14]:NCHW8c = max_pool(x) kernel=[3,3] strides=[2,2]\nout y\n",
	"dag f\nin x: f32[3,37,5,64]\nin z: f32[3,37,1,1]\ny: f32[3,37,5,64] = mul(x, z)\nout y\n",
	"dag g\nin x: f32[3,5,37,64]\nin w: f32[3,5,64,40]\ny: f32[3,5,37,40] = matmul(x, w)\nout y\n",
	/* A prologue in a nest of its own. */
	"dag h\nin x: f32[1,24,14,14]:NCHW8c\nin z: f32[1,24,1,1]\nconst w: f32[64,24,1,1]\n"
	"a: f32[1,24,14,14]:NCHW8c = mul(x, z)\ny: f32[1,64,14,14]:NCHW8c = conv(a, w)\nout y\n",
};

START_TEST(threads_have_equal_shares)
{
	for (int threads = 2; threads <= 16; threads *= 2) {
		Arena *a = arena_new();
		Err err = { 0 };
		Target t = cpu(threads);
		Task *task = task_of(a, shared_dags[_i]);
		Space *space = space_new(a, task, &t, &err);
		Trace *trace = space != NULL ? space_trace(space, &space->first, a, &err) : NULL;
		KernelSet *ks = trace != NULL ? schedule_replay(ir_new(a), task, &t, trace, &err) : NULL;
		ck_assert_msg(ks != NULL, "%s", err.text);
		Shared sum = { 0, 0 };
		for (size_t k = 0; k < ks->n; k++) {
			if (ks->fn[k]->kind != FN_RUN)
				continue;
			Shared of = shared_among(ks->fn[k]->body, threads);
			sum.all += of.all;
			sum.slots += of.slots;
		}
		ck_assert_msg(sum.all >= 0.75 * sum.slots, "%d threads have work for %.3f of the time: %s", threads,
			sum.all / sum.slots, default_trace_for(a, shared_dags[_i], t));
		arena_free(a);
	}
}
END_TEST

/* Three heads leave one of two threads idle for a third of its time, the tiles of their queries do not. */
START_TEST(threads_share_queries_of_few_heads)
{
	static const char *const dag[] = {
		"dag a\nin q: f32[1,3,197,64]\nin k: f32[1,3,197,64]\nin v: f32[1,3,197,64]\n"
		"y: f32[1,3,197,64] = attention(q, k, v) scale=0.125\nout y\n",
		"dag b\nin q: f32[1,4,197,64]\nin k: f32[1,4,197,64]\nin v: f32[1,4,197,64]\n"
		"y: f32[1,4,197,64] = attention(q, k, v) scale=0.125\nout y\n"
	};
	Arena *a = arena_new();
	for (int k = 0; k < 2; k++) {
		const char *trace = default_trace_for(a, dag[k], cpu(2)), *shared = strstr(trace, "parallel ");
		ck_assert_msg(shared != NULL, "%s", trace);
		const char *name = arena_printf(a, "%.*s", (int)strcspn(shared, "\n"), shared);
		ck_assert_msg((name[strlen(name) - 1] == 'o') == (k == 0), "%s", trace);
	}
	arena_free(a);
}
END_TEST

/* Bounds of trimmed loops would depend on the shared one. */
START_TEST(shared_tiles_of_one_head_are_not_trimmed)
{
	static const char dag[] = "dag a\nin q: f32[1,1,37,8]\nin k: f32[1,1,37,8]\nin v: f32[1,1,37,8]\n"
							  "y: f32[1,1,37,8] = attention(q, k, v) causal=1\nout y\n";
	Arena *a = arena_new();
	for (int threads = 1; threads <= 2; threads++) {
		const char *trace = default_trace_for(a, dag, cpu(threads));
		ck_assert_msg((strstr(trace, "trim ") != NULL) == (threads == 1), "%s", trace);
		ck_assert_msg((strstr(trace, "parallel ") != NULL) == (threads == 2), "%s", trace);
	}
	arena_free(a);
}
END_TEST

/* Channels that fill no block have one part: its rows are in a ring, and threads cannot share them. */
START_TEST(a_ring_of_one_part_is_none_of_threads)
{
	static const char dag[] = "dag a\nin x: f32[1,16,7,9]:NCHW8c\nconst v: f32[20,16,1,1]\nconst w: f32[20,1,3,3]\n"
							  "p: f32[1,20,7,9] = conv(x, v)\ns: f32[1,20,5,7]:NCHW8c = conv(p, w) groups=20\nout s\n";
	Arena *a = arena_new();
	for (int threads = 1; threads <= 2; threads++) {
		const char *trace = default_trace_for(a, dag, cpu(threads));
		ck_assert_msg((strstr(trace, "ring ") != NULL) == (threads == 1), "%s", trace);
		ck_assert_msg((strstr(trace, "parallel ") != NULL) == (threads == 2), "%s", trace);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("default");
	tcase_add_test(tc, a_ring_of_one_part_is_none_of_threads);
	tcase_add_test(tc, threads_share_queries_of_few_heads);
	tcase_add_test(tc, shared_tiles_of_one_head_are_not_trimmed);
	tcase_add_loop_test(tc, rows_have_vectors_without_masks, 0, LEN(rows));
	tcase_add_test(tc, shared_axes_do_not_overlap);
	tcase_add_loop_test(tc, threads_have_equal_shares, 0, LEN(shared_dags));
	tcase_add_loop_test(tc, results_in_rows_come_from_lanes_of_channels, 0, LEN(sides));
	tcase_add_loop_test(tc, every_type_has_tiles, 0, LEN(typed));
	tcase_add_loop_test(tc, an_anchor_is_tiled_wherever_it_stands, 0, LEN(anchors));
	tcase_add_loop_test(tc, odd_axes_have_tiles, 0, LEN(odd));
	tcase_add_loop_test(tc, sums_take_most_of_a_small_file, 0, LEN(small_files));
	tcase_add_loop_test(tc, threads_divide_rows_of_large_images, 0, LEN(divided));
	tcase_add_loop_test(tc, cold_weights_are_asked_for, 0, LEN(asked));
	tcase_add_loop_test(tc, large_outputs_pass_the_caches_by, 0, LEN(far));
	tcase_add_loop_test(tc, all_fns_say_what_passes_the_caches_by, 0, LEN(written));
	return run_suite("default", tc);
}
