/*
 * The generated space on random Tasks of many classes of operators, whatever template they have: it is large, nearly
 * each sampled config is legal, and each legal one computes what the naive Fn does. Nearly all configs of their
 * templates are legal too.
 */
#include "equal.h"
#include "suite.h"

#include "schedule/space.h"

#include <math.h>
#include <string.h>

enum { EXTENTS = 8 /* drawn for a Task */, LEAST_SIZE = 50000 };

/* Extents stand as $0 to $7, from `least` to `most` each; $0*2: twice as much. Large ones are not computed. */
static const struct {
	const char *name, *dag;
	struct {
		int least, most;
	} small[EXTENTS], large[EXTENTS];
} classes[] = {
	{ "dense", "dag t\nin x: f32[$0,$1]\nconst w: f32[$2,$1]\nconst b: f32[$2]\ny: f32[$0,$2] = dense(x, w, b)\n"
	           "z: f32[$0,$2] = relu(y)\nout z\n",
		{ { 1, 9 }, { 2, 40 }, { 2, 40 } }, { { 24, 256 }, { 128, 1024 }, { 128, 1024 } } },
	{ "matmul", "dag t\nin a: f32[$0,$1,$2]\nin b: f32[$0,$2,$3]\ny: f32[$0,$1,$3] = matmul(a, b)\n"
	            "z: f32[$0,$1,$3] = tanh(y)\nout z\n",
		{ { 1, 3 }, { 2, 14 }, { 2, 40 }, { 2, 40 } }, { { 2, 12 }, { 64, 256 }, { 64, 256 }, { 64, 256 } } },
	{ "turned", "dag t\nin a: f32[$1,$0,$2]\nin b: f32[$1,$3,$2]\nc: f32[$1,$0,$2] = relu(a)\n"
	            "y: f32[$1,$0,$3] = matmul(c, b) tb=1\nout y\n",
		{ { 2, 12 }, { 1, 3 }, { 2, 40 }, { 2, 40 } }, { { 64, 256 }, { 2, 12 }, { 64, 256 }, { 64, 256 } } },
	{ "conv", "dag t\nin x: f32[1,$0,$1,$2]\nconst w: f32[$3,$0,3,3]\nconst b: f32[$3]\n"
	          "y: f32[1,$3,$1,$2] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,$3,$1,$2] = relu(y)\nout z\n",
		{ { 1, 5 }, { 3, 8 }, { 3, 19 }, { 2, 18 } }, { { 16, 128 }, { 14, 56 }, { 14, 56 }, { 16, 128 } } },
	{ "grouped", "dag t\nin x: f32[1,$0*2,$1,$2]\nconst w: f32[$3*2,$0,3,3]\n"
	             "y: f32[1,$3*2,$1,$2] = conv(x, w) pads=[1,1,1,1] groups=2\nout y\n",
		{ { 1, 4 }, { 3, 7 }, { 3, 13 }, { 2, 9 } }, { { 8, 64 }, { 14, 56 }, { 14, 56 }, { 8, 64 } } },
	{ "depthwise", "dag t\nin x: f32[1,$0,$1,$2]\nconst w: f32[$0,1,3,3]\n"
	               "y: f32[1,$0,$1,$2] = conv(x, w) pads=[1,1,1,1] groups=$0\nz: f32[1,$0,$1,$2] = clip(y) lo=0 hi=6\n"
	               "out z\n",
		{ { 2, 20 }, { 3, 9 }, { 3, 19 } }, { { 32, 256 }, { 14, 112 }, { 14, 112 } } },
	{ "conv3d", "dag t\nin x: f32[1,$0,$1,$2,$3]\nconst w: f32[$4,$0,3,3,3]\n"
	            "y: f32[1,$4,$1,$2,$3] = conv(x, w) pads=[1,1,1,1,1,1]\nout y\n",
		{ { 1, 3 }, { 3, 4 }, { 3, 5 }, { 3, 9 }, { 2, 9 } },
		{ { 8, 32 }, { 4, 16 }, { 14, 28 }, { 14, 28 }, { 16, 64 } } },
	{ "conv_transpose", "dag t\nin x: f32[1,$0,$1,$2]\nconst w: f32[$0,$3,4,4]\n"
	                    "y: f32[1,$3,$1*2,$2*2] = conv_transpose(x, w) strides=[2,2] pads=[1,1,1,1]\nout y\n",
		{ { 1, 4 }, { 2, 4 }, { 2, 7 }, { 2, 20 } }, { { 16, 128 }, { 7, 28 }, { 7, 28 }, { 16, 128 } } },
	{ "spread", "dag t\nin x: f32[1,$0,$1,$2]\nconst w: f32[$0,$3,3,3]\nconst b: f32[$3]\n" /* rows of odd length */
	            "y = conv_transpose(x, w, b) strides=[2,2] pads=[1,1,1,1]\nout y\n",
		{ { 1, 4 }, { 2, 4 }, { 2, 10 }, { 2, 20 } }, { { 16, 128 }, { 7, 28 }, { 7, 28 }, { 16, 128 } } },
	{ "spread in blocks", "dag t\nin x: f32[1,$0,$1,$2]:NCHW8c\nconst w: f32[$0,$3,3,3]\n"
	                      "y: f32[1,$3,$1*2,$2*2]:NCHW8c = conv_transpose(x, w) strides=[2,2] pads=[1,1,0,0]\nout y\n",
		{ { 1, 9 }, { 2, 4 }, { 2, 7 }, { 2, 20 } }, { { 16, 128 }, { 7, 28 }, { 7, 28 }, { 16, 128 } } },
	{ "max_pool", "dag t\nin x: f32[$3,$0,$1,$2]\ny: f32[$3,$0,$1,$2] = max_pool(x) kernel=[3,3] pads=[1,1,1,1]\n"
	              "out y\n",
		{ { 2, 20 }, { 3, 9 }, { 3, 19 }, { 1, 2 } }, { { 32, 256 }, { 14, 112 }, { 14, 112 }, { 1, 4 } } },
	{ "variance", "dag t\nin x: f32[$0,$1,$2]\nin m: f32[$0,1,$2]\nd: f32[$0,$1,$2] = sub(x, m)\n"
	              "s: f32[$0,$1,$2] = mul(d, d)\nv: f32[$0,1,$2] = reduce_mean(s) axes=[1]\nr: f32[$0,1,$2] = sqrt(v)\n"
	              "out r\n",
		{ { 1, 9 }, { 2, 40 }, { 2, 40 } }, { { 16, 64 }, { 64, 512 }, { 64, 512 } } },
	{ "conv in blocks", "dag t\nin x: f32[1,$0,$1,$1]:NCHW8c\nconst w: f32[$2,$0,3,3]\nconst b: f32[$2]\n"
	                    "y: f32[1,$2,$1,$1] = conv(x, w, b) pads=[1,1,1,1]\nz: f32[1,$2,$1,$1]:NCHW8c = relu(y)\n"
	                    "out z\n",
		{ { 2, 18 }, { 3, 9 }, { 2, 18 } }, { { 16, 256 }, { 7, 56 }, { 16, 256 } } },
	{ "products of pixels", "dag t\nin x: f32[1,$0,$1,$1]:NCHW8c\nconst s: f32[$0,1,1]\nconst w: f32[$2,$0,1,1]\n"
	                        "a: f32[1,$0,$1,$1] = mul(x, s)\nr: f32[1,$0,$1,$1]:NCHW8c = relu(a)\n"
	                        "y: f32[1,$2,$1,$1]:NCHW8c = conv(r, w)\nout y\n",
		{ { 2, 18 }, { 3, 9 }, { 2, 18 } }, { { 32, 512 }, { 7, 56 }, { 32, 512 } } },
	{ "depthwise in blocks", "dag t\nin x: f32[1,$0,$1,$1]:NCHW8c\nconst w: f32[$0,1,3,3]\n"
	                         "y: f32[1,$0,$1,$1] = conv(x, w) pads=[1,1,1,1] groups=$0\n"
	                         "z: f32[1,$0,$1,$1]:NCHW8c = clip(y) lo=0 hi=6\nout z\n",
		{ { 2, 20 }, { 3, 9 } }, { { 32, 256 }, { 14, 112 } } },
	{ "softmax", "dag t\nin x: f32[$0,$1]\ny: f32[$0,$1] = softmax(x)\nout y\n",
		{ { 1, 9 }, { 2, 40 } }, { { 16, 512 }, { 64, 1024 } } },
	{ "attention", "dag t\nin q: f32[1,$0,$1,$2]\nin k: f32[1,$0,$1,$2]\nin v: f32[1,$0,$1,$2]\n"
	               "y: f32[1,$0,$1,$2] = attention(q, k, v) scale=0.125\nout y\n",
		{ { 1, 3 }, { 2, 9 }, { 2, 12 } }, { { 2, 12 }, { 32, 200 }, { 32, 64 } } },
};

static const char *draw(Arena *a, int class, bool large, Rng *rng)
{
	Text out = { .arena = a };
	int64_t extent[EXTENTS];
	for (int k = 0; k < EXTENTS; k++) {
		int least = large ? classes[class].large[k].least : classes[class].small[k].least;
		int most = large ? classes[class].large[k].most : classes[class].small[k].most;
		extent[k] = least + (int64_t)rng_below(rng, (uint64_t)(most - least + 1));
		extent[k] -= large && extent[k] > 32 ? extent[k] % 4 : 0; /* as layers of networks have it */
	}
	for (const char *p = classes[class].dag; *p != 0; p++) {
		if (*p != '$') {
			text_add(&out, "%c", *p);
			continue;
		}
		int64_t n = extent[*++p - '0'];
		if (p[1] == '*') {
			n *= p[2] - '0';
			p += 2;
		}
		text_add(&out, "%lld", (long long)n);
	}
	return text_str(&out);
}

static Space *space_of(Arena *a, const char *dag, Target *target)
{
	Err err = { 0 };
	*target = named_target("cpu:znver5", 1 + (int)strlen(dag) % 2);
	Space *s = space_of_any(a, task_of(a, dag), target, &err);
	ck_assert_msg(s != NULL, "%s\n%s", err.text, dag);
	return s;
}

/* How many of these samples have no schedule; each is named. */
static int illegal(Space *s, int samples, Rng *rng)
{
	int bad = 0;
	for (int i = 0; i < samples; i++) {
		Arena *own = arena_new();
		Err err = { 0 };
		Text config = { .arena = own };
		Config c = space_sample(s, rng);
		Trace *t = space_trace(s, &c, own, &err);
		ck_assert_msg(t != NULL, "%s", err.text);
		bool legal = schedule_replay(ir_new(own), s->task, s->target, t, &err) != NULL;
		space_print_config(&config, s, &c);
		bad += !legal;
		if (!legal)
			fprintf(stderr, "%s: %s: %s: %s\n", s->task->label, err.place, err.text, text_str(&config));
		arena_free(own);
	}
	return bad;
}

/* Of samples on large Tasks; the law is below one of a hundred. */
START_TEST(nearly_all_configs_are_legal)
{
	int samples = suite_count(30, 10, 1000), tasks = 3, bad = 0;
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int k = 0; k < tasks; k++) {
		Arena *a = arena_new();
		Target target;
		Space *s = space_of(a, draw(a, _i, true, &rng), &target);
		double size = space_size(s);
		ck_assert_msg(size >= LEAST_SIZE, "%s: %.0f configs", s->task->label, size);
		bad += illegal(s, samples, &rng);
		arena_free(a);
	}
	ck_assert_msg(bad * 100 < samples * tasks, "%d of %d configs have no schedule", bad, samples * tasks);
}
END_TEST

static const struct {
	const char *name;
	int threads;
} kinds[] = { { "cpu:znver5", 1 }, { "cpu:x86-64-v3", 2 }, { "opencl:pocl", 1 }, { "cuda:h200", 1 } };

/* Of what a template offers, on all kinds of targets. */
START_TEST(nearly_all_configs_of_templates_are_legal)
{
	int samples = suite_count(30, 10, 1000), tasks = 2, bad = 0, all = 0;
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int t = 0; t < LEN(kinds); t++)
		for (int k = 0; k < tasks; k++) {
			Arena *a = arena_new();
			Err err = { 0 };
			Target target = named_target(kinds[t].name, kinds[t].threads);
			Space *s = space_new(a, task_of(a, draw(a, _i, true, &rng)), &target, &err);
			ck_assert_msg(s != NULL, "%s", err.text);
			bad += illegal(s, samples, &rng);
			all += samples;
			arena_free(a);
		}
	ck_assert_msg(bad * 100 < all, "%d of %d configs have no schedule", bad, all);
}
END_TEST

/*
 * The lanes of a default are filters, which skip taps in the padding together. Tiles are whole steps: a row of 14 is
 * one, a row of 25 has tiles of 8, and not such of 5, whose zeros change from tile to tile. All taps of a row are
 * written out, three as well as four.
 */
static const struct {
	const char *dag, *steps[4]; /* NULL: no more; "!": the step is not there */
} spread[] = {
	{ "dag t\nin x: f32[1,9,7,7]\nconst w: f32[9,49,4,4]\n"
	  "y: f32[1,49,14,14] = conv_transpose(x, w) strides=[2,2] pads=[1,1,1,1]\nout y\n",
		{ "vectorize o\n", "!split w.w ", "unroll kw" } },
	{ "dag t\nin x: f32[1,9,13,13]\nconst w: f32[9,49,3,3]\n"
	  "y = conv_transpose(x, w) strides=[2,2] pads=[1,1,1,1]\nout y\n",
		{ "vectorize o\n", "split w.w 8\n", "unroll kw" } },
	{ "dag t\nin x: f32[1,9,7,7]:NCHW16c\nconst w: f32[9,49,4,4]\n"
	  "y: f32[1,49,14,14]:NCHW16c = conv_transpose(x, w) strides=[2,2] pads=[1,1,1,1]\nout y\n",
		{ "vectorize o\n", "!split w.w ", "unroll kw" } },
};

START_TEST(lanes_skip_zeros_together)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Text text = { .arena = a };
	Space *s = space_of(a, spread[_i].dag, &target);
	Trace *t = space_trace(s, &s->first, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&text, t);
	ck_assert_msg(strstr(text_str(&text), "skip conv_transpose\n") != NULL, "%s", text_str(&text));
	for (int k = 0; k < 4 && spread[_i].steps[k] != NULL; k++) {
		const char *step = spread[_i].steps[k];
		bool absent = *step == '!';
		ck_assert_msg((strstr(text_str(&text), step + absent) == NULL) == absent, "%s%s", step, text_str(&text));
	}
	arena_free(a);
}
END_TEST

/* A loop over the vectors of a tile would keep its sums in memory. */
START_TEST(vectors_of_a_tile_are_stored_one_by_one)
{
	static const char dag[] = "dag t\nin x: f32[1,9,7,7]\nconst w: f32[9,49,4,4]\n"
							  "y: f32[1,49,14,14] = conv_transpose(x, w) strides=[2,2] pads=[1,1,1,1]\nout y\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Text text = { .arena = a };
	Space *s = space_of(a, dag, &target);
	Config c = s->first;
	for (int at = 0; at < c.n; at++)
		if (strcmp(space_knob(s, &c, at)->name, "conv_transpose.vectors") == 0)
			c = space_move(s, &c, at, 1);
	Trace *t = space_trace(s, &c, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&text, t);
	ck_assert_msg(strstr(text_str(&text), "unroll o.w.i.o\nvectorize o.w.i.i\n") != NULL, "%s", text_str(&text));
	arena_free(a);
}
END_TEST

static int option_of_size(const Knob *k, int64_t size)
{
	for (int o = 0; o < k->n; o++)
		if (k->option[o].kind == KNOB_PART && k->option[o].part.size == size)
			return o;
	ck_abort_msg("%s has no part of %d", k->name, (int)size);
	return 0;
}

/* No loop is left around such a tile, but what is behind it needs one in which the sums are made. */
START_TEST(a_tile_of_all_sums_is_in_the_nest_behind_them)
{
	static const char dag[] = "dag t\nin a: f32[4,3]\nin b: f32[3,16]\ny: f32[4,16] = matmul(a, b)\n"
							  "z: f32[4,16] = relu(y)\nout z\n";
	Arena *a = arena_new();
	Err err = { 0 };
	Target target;
	Text text = { .arena = a };
	Space *s = space_of(a, dag, &target);
	Config c = s->first;
	for (int at = 0; at < c.n; at++) {
		const Knob *k = space_knob(s, &c, at);
		if (strcmp(k->name, "matmul.form") == 0)
			c = space_move(s, &c, at, 0);
		else if (strcmp(k->name, "matmul.behind") == 0)
			c = space_move(s, &c, at, 1);
		else if (strcmp(k->name, "matmul.vector") == 0)
			c = space_move(s, &c, at, option_of_size(k, 16));
		else if (strcmp(k->name, "matmul.tile") == 0)
			c = space_move(s, &c, at, option_of_size(k, 4));
	}
	Trace *t = space_trace(s, &c, a, &err);
	ck_assert_msg(t != NULL, "%s", err.text);
	trace_print(&text, t);
	static const char steps[] = "split n_1 16\nreorder n_1.o m_1 n_1.i\ncompute_at matmul n_1.o\n";
	ck_assert_msg(strstr(text_str(&text), steps) != NULL, "%s", text_str(&text));
	KernelSet *ks = schedule_replay(ir_new(a), s->task, &target, t, &err);
	ck_assert_msg(ks != NULL, "%s: %s\n%s", err.place, err.text, text_str(&text));
	must_equal(op_naive(ir_new(a), s->task->dag, "k", NAIVE_AS_TYPED, &err), ks, INTERP_MODP, 1, text_str(&text));
	arena_free(a);
}
END_TEST

START_TEST(each_sampled_config_computes_what_the_naive_fn_does)
{
	int samples = suite_count(6, 2, 60), tasks = 4;
	Rng rng = rng_seed((uint64_t)_i + 100);
	for (int k = 0; k < tasks; k++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Target target;
		Space *s = space_of(a, draw(a, _i, false, &rng), &target);
		KernelSet *naive = op_naive(ir_new(a), s->task->dag, "k", NAIVE_AS_TYPED, &err);
		Want want[] = { want_of(a, naive, INTERP_EXACT, 1), want_of(a, naive, INTERP_MODP, 2) };
		for (int i = 0; i < samples; i++) {
			Arena *own = arena_new();
			Text text = { .arena = own };
			Config c = space_sample(s, &rng);
			Trace *t = space_trace(s, &c, own, &err);
			ck_assert_msg(t != NULL, "%s", err.text);
			KernelSet *ks = schedule_replay(ir_new(own), s->task, &target, t, &err);
			text_add(&text, "%s: ", s->task->label);
			space_print_config(&text, s, &c);
			text_add(&text, "\n");
			trace_print(&text, t);
			if (ks != NULL)
				must_give(&want[i % 2], ks, (uint64_t)i, text_str(&text));
			arena_free(own);
		}
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("generated");
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, nearly_all_configs_are_legal, 0, LEN(classes));
	tcase_add_loop_test(tc, nearly_all_configs_of_templates_are_legal, 0, LEN(classes));
	tcase_add_loop_test(tc, lanes_skip_zeros_together, 0, sizeof spread / sizeof *spread);
	tcase_add_test(tc, vectors_of_a_tile_are_stored_one_by_one);
	tcase_add_test(tc, a_tile_of_all_sums_is_in_the_nest_behind_them);
	tcase_add_loop_test(tc, each_sampled_config_computes_what_the_naive_fn_does, 0, LEN(classes));
	return run_suite("generated", tc);
}
