/*
 * Other algorithms in traces: a schedule of Winograd's blocks equals the naive convolution exactly
 * modulo a prime, whatever the steps behind `compute`; absorb, as golden text; where compute refuses.
 */
#include "equal.h"
#include "golden.h"
#include "suite.h"

#include "ir/text/ir_text.h"
#include "ir/verify/verify.h"
#include "schedule/template/tile.h"

#include <string.h>

#define COLUMN "column"

/* In place of the library's templates: an algorithm alone, Strassen's of dense layers; which parameter is the best. */
static int64_t best;

static bool fits(const Task *task, const Target *target)
{
	(void)target;
	return tile_anchor(task->dag) != NULL && strcmp(task->label, COLUMN) != 0;
}

static bool run(Sketch *s, Err *err)
{
	int64_t m[TEMPLATE_PARAMS];
	Tiled t;
	if (!tiled_read(s, tile_anchor(s->task->dag), &t))
		return false;
	const TemplateAlgo *algo = tile_anchor(s->task->dag)->op == OP_dense ? &tmpl_strassen : &tmpl_winograd;
	int n = algo->offer(s, &t, m, &best);
	if (n == 0)
		return fail(err, ERR_MISSING, algo->name, "it offers nothing");
	int64_t picked = sketch_number(s, "m", m, n, n - 1);
	sketch_opens(s);
	algo->steps(s, &t, picked);
	return true;
}

static const Template winograd = { .name = "winograd", .applies = fits, .run = run };

/* For a Task with this label: a column of two rows. */
static bool is_column(const Task *task, const Target *target)
{
	(void)target;
	return strcmp(task->label, COLUMN) == 0;
}

static bool run_column(Sketch *s, Err *err)
{
	Tiled t;
	(void)err;
	if (!tiled_read(s, tile_anchor(s->task->dag), &t))
		return false;
	if (!tile_algorithm(s, &t, "own"))
		sketch_step(s, "# own");
	return true;
}

static int offer_six(Sketch *s, const Tiled *t, int64_t param[TEMPLATE_PARAMS], int64_t *likely)
{
	(void)s, (void)t;
	*likely = param[0] = 6;
	return 1;
}

static void six_steps(Sketch *s, const Tiled *t, int64_t m)
{
	(void)t;
	sketch_step(s, "compute conv2d.winograd m=%lld o=8", (long long)m);
}

static const TemplateAlgo six = { "conv2d.winograd", offer_six, six_steps };
static const TemplateAlgo *const column_algos[] = { &six, &tmpl_winograd, NULL };
static const Template column = { .name = "column", .applies = is_column, .run = run_column, .algo = column_algos };
const Template *const templates[] = { &winograd, &column, NULL };

static char *lines(Arena *a, const char *what)
{
	char *steps = arena_printf(a, "%s", what);
	for (char *p = steps; *p != 0; p++)
		if (*p == ';')
			*p = '\n';
	return steps;
}

static void apply(Arena *a, const char *before, const char *what, Text *out)
{
	Err err = { 0 };
	Target target;
	const char *steps = lines(a, what);
	target_host(&target, 1);
	KernelSet *ks = ir_parse_set(ir_new(a), "golden", before, strlen(before), &err);
	Trace *t = ks != NULL ? trace_parse(a, "trace", steps, strlen(steps), &err) : NULL;
	if (t == NULL || !ir_verify_set(ks, &err) || !trace_apply(ks, t, NULL, &target, &err) || !ir_verify_set(ks, &err))
		text_add(out, "! %s: %s\n", err.place, err.text);
	else
		ir_print_set(out, ks);
}

START_TEST(absorb_gives_the_golden_text)
{
	int cases;
	ck_assert_int_eq(golden_run("tests/golden/schedule/absorb.t", apply, &cases), 0);
	ck_assert_int_ge(cases, 12);
}
END_TEST

#define CONV(c, o, h, w)                                                                              \
	"dag t\nin x: f32[1," #c "," #h "," #w "]\nin r: f32[1," #o "," #h "," #w "]\nconst w: f32[" #o \
	"," #c ",3,3]\nconst b: f32[" #o "]\ny: f32[1," #o "," #h "," #w "] = conv(x, w, b) "         \
	"pads=[1,1,1,1]\ns: f32[1," #o "," #h "," #w "] = add(y, r)\nz: f32[1," #o "," #h "," #w      \
	"] = relu(s)\nout z\n"
#define ODD CONV(3, 5, 7, 13)
#define SQUARE CONV(16, 16, 14, 14)
#define LINE                                                                                                 \
	"dag t\nin x: f32[2,16,23]:NCW8c\nconst w: f32[8,16,5]\ny: f32[2,8,23]:NCW8c = conv(x, w) pads=[2,2]\n" \
	"z: f32[2,8,23]:NCW8c = relu(y)\nout z\n"

static const struct {
	const char *dag, *steps;
} schedules[] = {
	{ ODD, "compute conv2d.winograd m=2" },
	{ ODD, "compute conv2d.winograd m=4 o=4;absorb wino.y add;absorb wino.y relu" },
	{ ODD, "compute conv2d.winograd m=2;split y.th 3;compute_at wino.m y.th.o;compute_at wino.v y.th.o" },
	{ ODD, "compute conv2d.winograd m=4;absorb wino.y add;compute_at wino.v m.j;vectorize y.o" },
	{ ODD, "compute conv2d.winograd m=4;compute_at wino.m y.th;compute_at wino.v y.th;split v.c 2;vectorize v.c.i;"
	       "split m.o 4;split m.tw 2;reorder m.i m.j m.th m.tw.o m.o.o m.c m.tw.i m.o.i;unroll m.tw.i;"
	       "vectorize m.o.i;vectorize y.o" },
	{ SQUARE, "compute conv2d.winograd m=4;absorb wino.y add;absorb wino.y relu;split y.th 2;"
		  "compute_at wino.m y.th.o;compute_at wino.v y.th.o;reorder v.c v.th v.tw;cut v.tw 1;cut v.tw.2 2;vectorize "
		  "y.o" },
	{ SQUARE, "compute conv2d.winograd m=4;absorb wino.y add;absorb wino.y relu;split y.th 2;"
		  "compute_at wino.m y.th.o;compute_at wino.v y.th.o;vectorize v.c;unroll m.tw;vectorize y.o;parallel y.th.o" },
	{ LINE, "compute conv2d.winograd m=4;absorb wino.y relu;split y.tw 3;compute_at wino.m y.tw.o;"
		"compute_at wino.v y.tw.o;fuse m.th m.tw;unroll m.th_m.tw;vectorize m.o;parallel y.tw.o" },
	{ LINE, "compute conv2d.winograd m=2;absorb wino.y relu;compute_at wino.m y.tw;compute_at wino.v y.tw;"
		"vectorize y.o" },
	{ LINE, "compute conv2d.winograd m=4;cut v.tw 1;cut v.tw.2 4;vectorize y.o" },
};

START_TEST(schedules_of_winograd_equal_the_naive_convolution)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	const char *steps = lines(a, schedules[_i].steps);
	Task *task = task_of(a, schedules[_i].dag);
	target_host(&target, 2);
	Trace *t = trace_parse(a, "trace", steps, strlen(steps), &err);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	KernelSet *ks = t != NULL ? schedule_replay(ir_new(a), task, &target, t, &err) : NULL;
	ck_assert_msg(ks != NULL, "%s: %s", err.place, err.text);
	must_equal(naive, ks, INTERP_MODP, (uint64_t)_i + 3, steps);
	Text text = { .arena = a };
	trace_print(&text, t);
	ck_assert_int_eq(strncmp(text_str(&text), steps, strlen(steps)), 0);
	arena_free(a);
}
END_TEST

/* ---- the template's branch ---- */

#define WINDOW(c, o, h, w, kernel, pads, rest)                                                              \
	"dag t\nin x: f32[1," #c "," #h "," #w "]:NCHW16c\nin r: f32[1," #o "," #h "," #w                   \
	"]:NCHW16c\nconst w: f32[" #o "," #c "," kernel "]\nconst b: f32[" #o "]\ny: f32[1," #o "," #h "," #w \
	"]:NCHW16c = conv(x, w, b) pads=[" pads "]\n" rest "out z\n"
#define TEMPLATE(c, o, h, w, rest) WINDOW(c, o, h, w, "3,3", "1,1,1,1", rest)

#define LAYER(rows, k, n, rest)                                                                             \
	"dag t\nin x: f32[" rows "," #k "]\nin r: f32[" rows "," #n "]\nconst w: f32[" #n "," #k         \
	"]\nconst b: f32[" #n "]\ny: f32[" rows "," #n "] = dense(x, w, b)\n" rest "out z\n"

static const char *const shapes[] = {
	TEMPLATE(16, 16, 14, 14, "z = relu(y)\n"),
	TEMPLATE(16, 48, 7, 13, "s = add(y, r)\nz = relu(s)\n"),
	TEMPLATE(32, 48, 9, 5, "s = sigmoid(y)\nq = mul(y, s)\nz = add(q, r)\n"),
	TEMPLATE(16, 32, 28, 6, "s = add(y, r)\nz = clip(s) lo=0 hi=6\n"),
	TEMPLATE(128, 128, 2, 2, "z = relu(y)\n"), /* enough weights to be transformed in vectors */
	WINDOW(16, 48, 7, 13, "1,7", "0,3,0,3", "s = add(y, r)\nz = relu(s)\n"),
	WINDOW(16, 32, 9, 14, "5,5", "2,2,2,2", "z = relu(y)\n"),
	WINDOW(16, 16, 17, 5, "7,1", "3,0,3,0", "z = relu(y)\n"), /* one vector of filters: the next element's weights */
	WINDOW(16, 16, 6, 8, "2,4", "1,2,0,1", "s = add(y, r)\nz = relu(s)\n"),
	"dag t\nin x: f32[1,32,23]:NCW16c\nconst w: f32[16,32,5]\ny: f32[1,16,23]:NCW16c = conv(x, w) pads=[2,2]\n"
	"z: f32[1,16,23]:NCW16c = relu(y)\nout z\n",
	LAYER("32", 256, 256, "z = relu(y)\n"),
	LAYER("1,37", 256, 288, "s = add(y, r)\nz = relu(s)\n"),
	LAYER("33,2", 288, 256, "s = sigmoid(y)\nq = mul(y, s)\nz = add(q, r)\n"),
};

/* Layouts are of 16; registers of 16 and of 8 lanes, one and two threads. */
START_TEST(every_sampled_schedule_equals_the_naive_form)
{
	bool large = strstr(shapes[_i], "dense") != NULL; /* millions of products, in the interpreter */
	int samples = suite_count(large ? 2 : 4, 4, 60);
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	target_host(&target, 1 + _i % 2);
	target.vector_bits = _i % 3 == 2 ? 256 : 512;
	target.vector_regs = _i % 3 == 2 ? 16 : 32;
	Task *task = task_of(a, shapes[_i]);
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL && space_size(space) > 40, "%s", err.text);
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	Want want = want_of(a, naive, INTERP_MODP, (uint64_t)_i);
	Rng rng = rng_seed((uint64_t)_i);
	for (int k = 0; k < samples; k++) {
		Arena *own = arena_new();
		Text text = { .arena = own };
		Config c = k == 0 ? space->first : space_sample(space, &rng);
		Trace *t = space_trace(space, &c, own, &err);
		ck_assert_msg(t != NULL, "%s", err.text);
		trace_print(&text, t);
		KernelSet *ks = schedule_replay(ir_new(own), task, &target, t, &err);
		ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
		must_give(&want, ks, (uint64_t)k, text_str(&text));
		arena_free(own);
	}
	arena_free(a);
}
END_TEST

#define GUESS_OF(c, hw, kernel, pads)                                                                             \
	"dag t\nin x: f32[1," #c "," #hw "," #hw "]:NCHW16c\nconst w: f32[" #c "," #c "," kernel "]\ny: f32[1," #c \
	"," #hw "," #hw "]:NCHW16c = conv(x, w) pads=[" pads "]\nout y\n"
#define GUESS(c, hw) GUESS_OF(c, hw, "3,3", "1,1,1,1")
#define ROW(c, length, window, pad)                                                                            \
	"dag t\nin x: f32[1," #c "," #length "]:NCW16c\nconst w: f32[" #c "," #c "," #window "]\ny: f32[1," #c "," \
	#length "]:NCW16c = conv(x, w) pads=[" #pad "," #pad "]\nout y\n"

/* What memory gives in a cycle decides where the larger weights of m = 4 pay; m = 6 needs large maps and many sums. */
static const struct {
	const char *dag;
	double memory; /* bytes per cycle */
	int m;
} guesses[] = {
	{ GUESS(64, 56), 9, 4 },
	{ GUESS(128, 28), 9, 4 },
	{ GUESS(256, 14), 9, 4 },
	{ GUESS(512, 7), 9, 2 },
	{ GUESS(512, 2), 9, 0 },
	{ GUESS(128, 112), 9, 6 },
	{ GUESS(64, 112), 9, 4 },
	{ GUESS(64, 56), 4.5, 4 },
	{ GUESS(256, 14), 4.5, 2 },
	{ GUESS(512, 7), 4.5, 0 },
	{ GUESS_OF(192, 17, "1,7", "0,3,0,3"), 9, 4 },
	{ GUESS_OF(192, 17, "7,1", "3,0,3,0"), 9, 4 },
	{ GUESS_OF(384, 8, "1,3", "0,1,0,1"), 9, 4 },
	{ GUESS_OF(64, 35, "5,5", "2,2,2,2"), 9, 4 },
	{ GUESS_OF(512, 4, "7,7", "3,3,3,3"), 4.5, 0 },
};

/* More weights come from memory: few rows do not pay for them. */
static const struct {
	const char *dag;
	int levels;
} halves[] = {
	{ LAYER("128", 768, 3072, "z = relu(y)\n"), 1 },
	{ LAYER("1,197", 3072, 768, "z = add(y, r)\n"), 1 },
	{ LAYER("32", 768, 3072, "z = relu(y)\n"), 0 },
};

START_TEST(seven_products_are_for_many_rows)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = named_target("cpu:znver5", 1);
	target.core.level[TARGET_CACHES] = 4.5;
	ck_assert(space_new(a, task_of(a, halves[_i].dag), &target, &err) != NULL);
	ck_assert_int_eq(best, halves[_i].levels);
	arena_free(a);
}
END_TEST

/* Of strassen.rows: what is picked. */
static int64_t rows_of(Space *s, const Config *c)
{
	for (int k = 0; k < c->n; k++) {
		const Knob *knob = space_knob(s, c, k);
		if (strcmp(knob->name, "strassen.rows") == 0)
			return knob->option[c->pick[k]].number;
	}
	return 0;
}

static const struct {
	const char *dag;
	int threads;
	int64_t rows; /* of half in a block */
} many_rows[] = {
	{ LAYER("1024", 768, 768, "z = relu(y)\n"), 1, 64 },
	{ LAYER("1024", 768, 768, "z = relu(y)\n"), 3, 512 }, /* eight blocks leave one of three threads idle */
	{ LAYER("784", 256, 256, "z = relu(y)\n"), 1, 56 },
	{ LAYER("1024", 3072, 3072, "z = relu(y)\n"), 1, 512 }, /* 66 MB of weights come from memory, once */
	{ LAYER("8,197", 768, 768, "z = relu(y)\n"), 1, 99 }, /* those of one batch */
	{ LAYER("128", 768, 768, "z = relu(y)\n"), 1, 64 }, /* all */
};

START_TEST(many_rows_are_in_blocks_by_default)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = named_target("cpu:znver5", many_rows[_i].threads);
	Space *space = space_new(a, task_of(a, many_rows[_i].dag), &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	ck_assert_int_eq(rows_of(space, &space->first), many_rows[_i].rows);
	arena_free(a);
}
END_TEST

static const char *const in_blocks[] = {
	LAYER("64", 256, 256, "z = relu(y)\n"),
	LAYER("2,33", 256, 256, "s = add(y, r)\nz = relu(s)\n"),
};

START_TEST(blocks_of_rows_equal_the_naive_form)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	target_host(&target, 1 + _i % 2);
	target.vector_bits = 512;
	target.vector_regs = 32;
	Task *task = task_of(a, in_blocks[_i]);
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	Config c = space->first;
	int at = 0;
	while (strcmp(space_knob(space, &c, at)->name, "strassen.rows") != 0)
		at++;
	ck_assert_int_eq(space_knob(space, &c, at)->n, 2);
	c = space_move(space, &c, at, 0);
	ck_assert_int_lt(rows_of(space, &c), rows_of(space, &space->first));
	Trace *t = space_trace(space, &c, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	Text text = { .arena = a };
	trace_print(&text, t);
	ck_assert_msg(strstr(text_str(&text), "compute_at strassen.a ") != NULL, "%s", text_str(&text));
	KernelSet *ks = schedule_replay(ir_new(a), task, &target, t, &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
	KernelSet *naive = op_naive(ir_new(a), task->dag, "k", NAIVE_AS_TYPED, &err);
	must_equal(naive, ks, INTERP_MODP, (uint64_t)_i, text_str(&text));
	arena_free(a);
}
END_TEST

/*
 * Where a row has few tiles, a product of one row waits for weights with vectors of 16 lanes, so more rows are a block,
 * unless threads would idle. A block of one row has about 128 tiles; all where its parts are too small or too few.
 */
static const struct {
	const char *dag, *target;
	int threads;
	const char *config; /* a part of the default's config */
} blocks[] = {
	{ GUESS_OF(192, 17, "1,7", "0,3,0,3"), "cpu:icelake-server", 1, "m=4 wino.rows=17 " },
	{ GUESS_OF(192, 17, "7,1", "3,0,3,0"), "cpu:icelake-server", 1, "m=4 wino.rows=1 " },
	{ GUESS_OF(64, 17, "1,7", "0,3,0,3"), "cpu:haswell", 1, "m=4 wino.rows=1 " },
	{ GUESS_OF(64, 16, "1,5", "0,2,0,2"), "cpu:icelake-server", 1, "wino.rows=16 " },
	{ GUESS_OF(64, 16, "1,5", "0,2,0,2"), "cpu:icelake-server", 16, "wino.rows=1 " }, /* ten parts for 16 threads */
	{ GUESS(64, 56), "cpu:icelake-server", 1, "m=6 wino.rows=5 " },
	{ ROW(64, 200, 3, 1), "cpu:icelake-server", 1, "m=6 wino.rows=34 " },
	{ ROW(64, 996, 3, 1), "cpu:icelake-server", 1, "m=6 wino.rows=166 " },
	{ ROW(64, 1320, 3, 1), "cpu:icelake-server", 1, "m=6 wino.rows=110 " },
	{ ROW(64, 1320, 3, 1), "cpu:icelake-server", 2, "m=6 wino.rows=110 " },
	{ ROW(64, 996, 3, 1), "cpu:icelake-server", 3, "m=6 wino.rows=166 " },
	{ ROW(64, 996, 3, 1), "cpu:icelake-server", 16, "m=6 wino.rows=166 " },
	{ ROW(64, 1002, 3, 1), "cpu:icelake-server", 1, "m=6 wino.rows=167 " }, /* a prime */
	{ ROW(64, 98466, 3, 1), "cpu:icelake-server", 1, "m=6 wino.rows=16411 " },
	{ ROW(512, 3124, 3, 1), "cpu:haswell", 1, "m=6 wino.rows=521 " }, /* whose V is larger than the last cache */
};

START_TEST(blocks_of_rows_hold_enough_tiles)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text text = { .arena = a };
	Target target = named_target(blocks[_i].target, blocks[_i].threads);
	Space *space = space_new(a, task_of(a, blocks[_i].dag), &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	space_print_config(&text, space, &space->first);
	ck_assert_msg(strstr(text_str(&text), blocks[_i].config) != NULL, "%s", text_str(&text));
	arena_free(a);
}
END_TEST

/* The default's tiles that read padding: code of their own where others are between and a block has whole rows. */
static const struct {
	const char *dag, *cuts; /* NULL: the knob is not asked */
} edges[] = {
	{ GUESS(64, 56), "cut v.tw 1\ncut v.tw.2 8\n" },
	{ GUESS(64, 8), NULL },
	{ GUESS_OF(64, 24, "1,7", "0,3,0,3"), "cut v.tw 1\ncut v.tw.2 4\n" },
	{ GUESS_OF(64, 25, "1,7", "0,6,0,0"), "cut v.tw 2\ncut v.tw.2 4\n" }, /* the last tile is not full */
	{ GUESS_OF(64, 24, "1,7", "0,6,0,0"), "cut v.tw 2\nfuse" },
	{ GUESS_OF(64, 24, "1,7", "0,0,0,6"), "vectorize v.c.i\ncut v.tw 4\nfuse" },
	{ GUESS_OF(64, 24, "7,1", "3,0,3,0"), NULL },
	{ ROW(64, 200, 3, 1), "cut v.tw 1\ncut v.tw.2 32\n" },
	{ ROW(64, 1320, 3, 1), NULL },
};

START_TEST(tiles_that_read_padding_are_cut_off)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Text text = { .arena = a };
	Target target = named_target("cpu:icelake-server", 1);
	Space *space = space_new(a, task_of(a, edges[_i].dag), &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	Config c = space->first;
	int at = 0;
	while (at < c.n && strcmp(space_knob(space, &c, at)->name, "wino.edges") != 0)
		at++;
	if (at < c.n)
		c = space_move(space, &c, at, 1);
	Trace *t = space_trace(space, &c, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&text, t);
	ck_assert_msg(strstr(text_str(&text), "compute conv2d.winograd") != NULL, "%s", text_str(&text));
	ck_assert_msg((at < c.n) == (edges[_i].cuts != NULL), "%s", text_str(&text));
	ck_assert_msg(edges[_i].cuts == NULL || strstr(text_str(&text), edges[_i].cuts) != NULL, "%s", text_str(&text));
	arena_free(a);
}
END_TEST

START_TEST(large_tiles_are_for_large_maps)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target = named_target("cpu:znver5", 1);
	target.core.level[TARGET_CACHES] = guesses[_i].memory;
	ck_assert(space_new(a, task_of(a, guesses[_i].dag), &target, &err) != NULL);
	ck_assert_int_eq(best, guesses[_i].m);
	arena_free(a);
}
END_TEST

/* A row more in a template's column is an option more; the first row that expects to be best is the default. */
START_TEST(a_column_has_several_algorithms)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Text text = { .arena = a };
	Task *task = task_of(a, guesses[0].dag);
	target_host(&target, 1);
	task->label = COLUMN;
	Space *space = space_new(a, task, &target, &err);
	ck_assert_msg(space != NULL, "%s", err.text);
	const Knob *k = space_knob(space, &space->first, 0);
	for (int o = 0; o < k->n; o++) {
		text_add(&text, "%s", o > 0 ? " " : "");
		knob_print_option(&text, &k->option[o]);
	}
	ck_assert_str_eq(k->name, "algorithm");
	ck_assert_str_eq(text_str(&text), "own conv2d.winograd:6 conv2d.winograd:2 conv2d.winograd:4 conv2d.winograd:6");
	ck_assert_int_eq(k->first, 1);
	static const char *const begins[] = { "", "compute conv2d.winograd m=6 o=8\n", "compute conv2d.winograd m=2",
		"compute conv2d.winograd m=4", "compute conv2d.winograd m=6" };
	for (int o = 0; o < LEN(begins); o++) {
		Config c = space_move(space, &space->first, 0, o);
		Text steps = { .arena = a };
		Trace *t = space_trace(space, &c, a, &err);
		ck_assert_msg(t != NULL, "%s", err.text);
		trace_print(&steps, t);
		ck_assert_int_eq(strncmp(text_str(&steps), begins[o], strlen(begins[o])), 0);
		ck_assert_int_eq(c.n > 1, o > 1); /* Winograd's own knobs follow */
	}
	arena_free(a);
}
END_TEST

static const struct {
	const char *steps, *why;
	ErrCode code;
} refused[] = {
	{ "split h 2;compute conv2d.winograd m=2", "it must be the first step", ERR_ILLEGAL },
	{ "compute conv2d.winograd m=2;compute conv2d.winograd m=2", "it must be the first step", ERR_ILLEGAL },
	{ "compute conv2d.winograd m=5", "no tile of such m is known", ERR_ILLEGAL },
	{ "compute conv2d.winograd o=16", "m= must be given", ERR_ILLEGAL },
	{ "compute fft m=2", "there is no algorithm", ERR_ILLEGAL },
	{ "compute conv2d.winograd", "needs more arguments", ERR_SYNTAX },
	{ "compute conv2d.winograd m", "no KEY=NUMBER", ERR_SYNTAX },
	{ "compute conv2d.winograd m=", "no KEY=NUMBER", ERR_SYNTAX },
	{ "compute conv2d.winograd =2", "no KEY=NUMBER", ERR_SYNTAX },
	{ "compute conv2d.winograd m=-2", "no KEY=NUMBER", ERR_SYNTAX },
};

START_TEST(compute_refuses)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	const char *steps = lines(a, refused[_i].steps);
	Task *task = task_of(a, ODD);
	target_host(&target, 1);
	Trace *t = trace_parse(a, "trace", steps, strlen(steps), &err);
	ck_assert(t == NULL || schedule_replay(ir_new(a), task, &target, t, &err) == NULL);
	ck_assert_int_eq(err.code, refused[_i].code);
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("compute");
	tcase_add_test(tc, absorb_gives_the_golden_text);
	tcase_add_loop_test(tc, schedules_of_winograd_equal_the_naive_convolution, 0, LEN(schedules));
	tcase_add_loop_test(tc, every_sampled_schedule_equals_the_naive_form, 0, LEN(shapes));
	tcase_add_loop_test(tc, seven_products_are_for_many_rows, 0, LEN(halves));
	tcase_add_loop_test(tc, many_rows_are_in_blocks_by_default, 0, LEN(many_rows));
	tcase_add_loop_test(tc, blocks_of_rows_equal_the_naive_form, 0, LEN(in_blocks));
	tcase_add_loop_test(tc, blocks_of_rows_hold_enough_tiles, 0, LEN(blocks));
	tcase_add_loop_test(tc, tiles_that_read_padding_are_cut_off, 0, LEN(edges));
	tcase_add_loop_test(tc, large_tiles_are_for_large_maps, 0, LEN(guesses));
	tcase_add_test(tc, a_column_has_several_algorithms);
	tcase_add_loop_test(tc, compute_refuses, 0, LEN(refused));
	return run_suite("compute", tc);
}
