/* CoreML's neural networks with branches and loops, made here: what they compute, and what is refused. */
#include "coreml_made.h"
#include "evaluate.h"
#include "suite.h"

#include "base/rng.h"

enum { MULTIPLY = 231, CUSTOM = 500, COPY = 600, BRANCH = 605, LOOP = 615, BREAK = 620, GREATER = 830, LESS = 825 };
enum { ADD_ND = 880, MULTIPLY_ND = 900, CONSTANT = 1070, TRANSPOSE = 985, SUM = 1270 };

/* A network to be held by a layer. */
static Made *inner(Made *m)
{
	Made *n = arena_new_of(m->a, Made);
	n->a = m->a;
	return n;
}

/* out = in * by */
static void scale(Made *m, const char *in, const char *out, float by)
{
	CoremlNumber p = { .alpha = by };
	add_layer(m, MULTIPLY, in, out, &p);
}

static void constant(Made *m, const char *out, float x)
{
	CoremlConstantData p = { .data = floats(m->a, arena_copy(m->a, &x, sizeof x), 1) };
	vec_push(m->a, &p.shape, 1);
	add_layer(m, CONSTANT, "", out, &p);
}

/* out = whether the sum of x is more than 0, which depends on data */
static void condition(Made *m, const char *out)
{
	CoremlReduceND all = { .reduceAll = 1 };
	CoremlCompare zero = { .alpha = 0 };
	add_layer(m, SUM, "x", "sum", &all);
	add_layer(m, GREATER, "sum", out, &zero);
}

static void branch(Made *m, const char *cond, Made *then, Made *otherwise)
{
	CoremlBranch p = { .ifBranch = &then->net, .elseBranch = otherwise != NULL ? &otherwise->net : NULL };
	add_layer(m, BRANCH, cond, "", &p);
}

/* A loop with a count, a condition, or both. */
static void loop(Made *m, const char *count, int64_t most, Made *cond, Made *body)
{
	CoremlLoop p = { .maxLoopIterations = most, .bodyNetwork = &body->net };
	if (cond != NULL) {
		p.conditionVar = "more";
		p.conditionNetwork = &cond->net;
	}
	add_layer(m, LOOP, count, "", &p);
}

/* i < most */
static Made *until(Made *m, float most)
{
	Made *n = inner(m);
	CoremlCompare p = { .alpha = most };
	add_layer(n, LESS, "i", "more", &p);
	return n;
}

/* i = i + 1 in a body */
static void count_up(Made *m)
{
	constant(m, "one", 1);
	add_layer(m, ADD_ND, "i one", "i", NULL);
}

/* ---- what they compute, for x and for -x */

static void choose(Made *m)
{
	Made *then = inner(m), *otherwise = inner(m);
	condition(m, "c");
	scale(then, "x", "t", 4); /* a blob of the same name on both sides */
	scale(then, "t", "y", 0.5f);
	scale(otherwise, "x", "t", -3);
	scale(otherwise, "t", "y", -1);
	branch(m, "c", then, otherwise);
}

static void choose_without_else(Made *m)
{
	Made *then = inner(m);
	condition(m, "c");
	add_layer(m, COPY, "x", "y", NULL);
	scale(then, "y", "y", 5);
	branch(m, "c", then, NULL);
}

static void choose_known(Made *m)
{
	Made *then = inner(m), *otherwise = inner(m);
	constant(m, "c", 0);
	add_layer(then, CUSTOM, "x", "y", NULL); /* never run */
	scale(otherwise, "x", "y", 7);
	branch(m, "c", then, otherwise);
}

static void choose_in_sides(Made *m)
{
	Made *then = inner(m), *deep = inner(m), *otherwise = inner(m);
	condition(m, "c");
	constant(m, "k", 1);
	scale(deep, "x", "y", 2);
	scale(otherwise, "x", "y", 3);
	branch(then, "k", deep, NULL);
	branch(m, "c", then, otherwise);
}

static void count(Made *m)
{
	Made *body = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	scale(body, "y", "t", 4);
	scale(body, "t", "y", 0.5f);
	loop(m, "", 3, NULL, body);
}

static void count_given(Made *m)
{
	Made *body = inner(m);
	constant(m, "n", 4);
	add_layer(m, COPY, "x", "y", NULL);
	scale(body, "y", "y", 2);
	loop(m, "n", 99, NULL, body); /* the input counts */
}

static void count_none(Made *m)
{
	Made *body = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	scale(body, "y", "y", 2);
	loop(m, "", 0, NULL, body);
}

/* z becomes (1 + 2 + 3 + 4) x, and i is 4 behind the loop. */
static void run_while(Made *m)
{
	Made *body = inner(m);
	constant(m, "i", 0);
	constant(m, "z", 0);
	count_up(body);
	add_layer(body, MULTIPLY_ND, "x i", "t", NULL);
	add_layer(body, ADD_ND, "z t", "z", NULL);
	loop(m, "", 0, until(m, 4), body);
	add_layer(m, MULTIPLY_ND, "z i", "y", NULL);
}

static void run_while_and_count(Made *m)
{
	Made *body = inner(m);
	constant(m, "i", 0);
	add_layer(m, COPY, "x", "y", NULL);
	count_up(body);
	scale(body, "y", "y", 3);
	loop(m, "", 2, until(m, 4), body);
}

/* s is read in the branch only, but in the next iteration. */
static void choose_in_loop(Made *m)
{
	Made *body = inner(m), *then = inner(m);
	condition(m, "c");
	constant(m, "s", 1);
	scale(m, "x", "y", 0);
	add_layer(then, ADD_ND, "s s", "s", NULL);
	add_layer(then, MULTIPLY_ND, "x s", "t", NULL);
	add_layer(then, ADD_ND, "y t", "y", NULL);
	branch(body, "c", then, NULL);
	add_layer(body, ADD_ND, "y x", "y", NULL);
	loop(m, "", 3, NULL, body);
}

static void loop_in_loop(Made *m)
{
	Made *body = inner(m), *deep = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	scale(deep, "y", "y", 2);
	loop(body, "", 2, NULL, deep);
	scale(body, "y", "y", -1);
	loop(m, "", 3, NULL, body);
}

/* Only the loop writes y. */
static void write_in_loop(Made *m)
{
	Made *body = inner(m);
	constant(m, "i", 0);
	count_up(body);
	add_layer(body, MULTIPLY_ND, "x i", "y", NULL);
	loop(m, "", 3, NULL, body);
}

/* While the sum of y is more than 0, which depends on data, 9 times at most: y -= x / 4. Then y += (i + 1) x. */
static void run_while_data(Made *m)
{
	Made *body = inner(m), *cond = inner(m);
	CoremlReduceND all = { .reduceAll = 1 };
	CoremlCompare zero = { .alpha = 0 };
	add_layer(m, COPY, "x", "y", NULL);
	constant(m, "i", 0);
	constant(m, "one", 1);
	add_layer(cond, SUM, "y", "sum", &all);
	add_layer(cond, GREATER, "sum", "more", &zero);
	scale(body, "x", "t", 0.25f);
	scale(body, "t", "t", -1);
	add_layer(body, ADD_ND, "y t", "y", NULL);
	count_up(body);
	loop(m, "", 9, cond, body);
	add_layer(m, ADD_ND, "i one", "i", NULL);
	scale(m, "x", "t", 1);
	add_layer(m, MULTIPLY_ND, "t i", "t", NULL);
	add_layer(m, ADD_ND, "y t", "y", NULL);
}

/* As coremltools writes a loop that only counts: its condition has no layers and no name. */
static void count_without_condition(Made *m)
{
	Made *body = inner(m), *cond = inner(m);
	CoremlLoop p = { .maxLoopIterations = 3, .bodyNetwork = &body->net, .conditionNetwork = &cond->net };
	add_layer(m, COPY, "x", "y", NULL);
	scale(body, "y", "y", 2);
	add_layer(m, LOOP, "", "", &p);
}

/* The loop has not ended after 3 iterations. */
static void run_while_data_most(Made *m)
{
	Made *body = inner(m), *cond = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	condition(cond, "more");
	scale(body, "y", "y", 2);
	loop(m, "", 3, cond, body);
}

static const struct {
	void (*make)(Made *);
	float positive, negative; /* factors of x where its sum is positive, and where not */
} computed[] = {
	{ choose, 2, 3 },
	{ choose_without_else, 5, 1 },
	{ choose_known, 7, 7 },
	{ choose_in_sides, 2, 3 },
	{ count, 8, 8 },
	{ count_given, 16, 16 },
	{ count_none, 1, 1 },
	{ run_while, 40, 40 },
	{ run_while_and_count, 9, 9 },
	{ choose_in_loop, 2 + 4 + 8 + 3, 3 },
	{ loop_in_loop, -64, -64 },
	{ write_in_loop, 3, 3 },
	{ run_while_data, 0 + 4 + 1, 1 + 0 + 1 },
	{ run_while_data_most, 8, 1 },
	{ count_without_condition, 8, 8 },
};

static Dag *load(Arena *a, void (*make_layers)(Made *), Err *err)
{
	Made m;
	make(&m, a, 4);
	vec_push(a, &m.about.input, array_of(a, "x", 2, (int64_t[]){ 1, 4 }));
	vec_push(a, &m.about.output, array_of(a, "y", 0, NULL));
	make_layers(&m);
	return frontend_load_bytes(a, "m.mlmodel", made(&m), NULL, err);
}

START_TEST(control_computes)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load(a, computed[_i].make, &err);
	ck_assert_msg(d != NULL, "%d: %s\n%s", _i, err.text, err.items);
	ck_assert_msg(dag_check(d, &err), "%s", err.text);
	for (int sign = 1; sign >= -1; sign -= 2) {
		const float x[] = { (float)sign, (float)sign * 2, (float)sign * -0.5f, (float)sign * 4 };
		void **out = evaluate(a, d, (const void *const[]){ x }, &err);
		ck_assert_msg(out != NULL, "%s", err.text);
		float by = sign > 0 ? computed[_i].positive : computed[_i].negative;
		for (int k = 0; k < 4; k++)
			ck_assert_msg(((float *)out[0])[k] == by * x[k], "%d %d: %g", _i, k, (double)((float *)out[0])[k]);
	}
	arena_free(a);
}
END_TEST

/* ---- what is refused */

static void refuse_condition(Made *m)
{
	Made *body = inner(m), *cond = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	condition(cond, "more");
	scale(body, "y", "y", 2);
	loop(m, "", 0, cond, body);
}

static void refuse_count(Made *m)
{
	Made *body = inner(m);
	CoremlReduceND all = { .reduceAll = 1 };
	add_layer(m, SUM, "x", "n", &all);
	add_layer(m, COPY, "x", "y", NULL);
	scale(body, "y", "y", 2);
	loop(m, "n", 0, NULL, body);
}

static void refuse_endless(Made *m)
{
	Made *body = inner(m), *cond = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	constant(cond, "more", 1);
	scale(body, "y", "y", 2);
	loop(m, "", 0, cond, body);
}

static void refuse_one_side(Made *m)
{
	Made *then = inner(m);
	condition(m, "c");
	scale(then, "x", "y", 2);
	branch(m, "c", then, NULL);
}

static void refuse_side_not_taken(Made *m)
{
	Made *then = inner(m);
	constant(m, "c", 0);
	scale(then, "x", "y", 2);
	branch(m, "c", then, NULL);
}

static void refuse_shapes(Made *m)
{
	Made *then = inner(m), *otherwise = inner(m);
	CoremlAxes turn = { .has = 0 };
	vec_push(m->a, &turn.axes, 1);
	vec_push(m->a, &turn.axes, 0);
	condition(m, "c");
	scale(then, "x", "y", 2);
	add_layer(otherwise, TRANSPOSE, "x", "y", &turn);
	branch(m, "c", then, otherwise);
}

static void refuse_long_condition(Made *m)
{
	Made *then = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	scale(then, "x", "y", 2);
	branch(m, "x", then, NULL);
}

static void refuse_never(Made *m)
{
	Made *body = inner(m);
	scale(body, "x", "y", 2);
	loop(m, "", 0, NULL, body);
}

static void refuse_break(Made *m)
{
	Made *body = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	scale(body, "y", "y", 2);
	add_layer(body, BREAK, "", "", NULL);
	loop(m, "", 3, NULL, body);
}

static void refuse_body(Made *m)
{
	CoremlLoop p = { .maxLoopIterations = 3 };
	add_layer(m, COPY, "x", "y", NULL);
	add_layer(m, LOOP, "", "", &p);
}

static void refuse_no_condition(Made *m)
{
	Made *body = inner(m), *cond = inner(m);
	add_layer(m, COPY, "x", "y", NULL);
	add_layer(cond, COPY, "x", "less", NULL);
	scale(body, "y", "y", 2);
	loop(m, "", 0, cond, body);
}

static void refuse_conditions(Made *m)
{
	Made *then = inner(m);
	scale(then, "x", "y", 2);
	branch(m, "", then, NULL);
}

static void refuse_reader(Made *m)
{
	Made *then = inner(m);
	condition(m, "c");
	scale(then, "nothing", "y", 2);
	branch(m, "c", then, NULL);
}

/* Branches in branches, more than any network has. */
static void refuse_depth(Made *m)
{
	Made *n = inner(m);
	scale(n, "x", "y", 2);
	add_layer(m, COPY, "x", "y", NULL);
	condition(m, "c");
	for (int k = 0; k < 500; k++) {
		Made *around = inner(m);
		branch(around, "c", n, NULL);
		n = around;
	}
	branch(m, "c", n, NULL);
}

static void refuse_image(Made *m)
{
	Made *then = inner(m);
	CoremlScaler s = { .channelScale = 2 };
	vec_push(m->a, &then->net.preprocessing, ((CoremlPreprocessing){ .featureName = "x", .scaler = &s }));
	add_layer(m, COPY, "x", "y", NULL);
	scale(then, "x", "y", 2);
	branch(m, "y", then, NULL);
}

static const struct {
	void (*make)(Made *);
	const char *why;
} refused[] = {
	{ refuse_condition, "(loop): its condition must be known when the model is compiled, but depends on the model's" },
	{ refuse_count, "must be known when the model is compiled, but depends on the model's" },
	{ refuse_endless, "loops are written out, but only for 16384 iterations" },
	{ refuse_one_side, "its result 'y/l2' is written on one side only, but its condition is not known" },
	{ refuse_side_not_taken, "its result 'y/l1' is written on one side only, which is not taken" },
	{ refuse_shapes, "its sides give results of different shapes, but its condition is not known" },
	{ refuse_long_condition, "its condition has 4 elements, not one" },
	{ refuse_never, "' is written inside, but it runs 0 times" },
	{ refuse_break, "1 operator of this model is not supported" },
	{ refuse_body, "layer 'l1' is a loop with 0 counts and without a body" },
	{ refuse_no_condition, "layer 'l1' is a loop whose condition 'more' no layer writes" },
	{ refuse_conditions, "layer 'l0' is a branch with 0 conditions" },
	{ refuse_reader, "layer 'l0' reads 'nothing', which no layer before it writes" },
	{ refuse_depth, "nested more than 16 deep" },
	{ refuse_image, "a network inside of a branch or a loop preprocesses images" },
};

START_TEST(control_is_refused)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert_msg(load(a, refused[_i].make, &err) == NULL, "%d", _i);
	ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%d: %s", _i, err.text);
	ck_assert_str_eq(err.place, "m.mlmodel");
	arena_free(a);
}
END_TEST

/* Neither takes memory that grows faster than the file. */
static void many_branches(Made *m)
{
	add_layer(m, COPY, "x", "y", NULL);
	condition(m, "c");
	for (int k = 0; k < 20000; k++) {
		Made *then = inner(m);
		add_layer(m, COPY, "x", arena_printf(m->a, "b%d", k), NULL);
		branch(m, "c", then, NULL);
	}
}

/* Layers without names that write one blob. */
static void many_in_place(Made *m)
{
	add_layer(m, COPY, "x", "y", NULL);
	for (int k = 0; k < 5000; k++) {
		CoremlLayer l = { 0 };
		Text t = { .arena = m->a };
		vec_push(m->a, &l.input, "y");
		vec_push(m->a, &l.output, "y");
		wire_write(&t, &CoremlLayer_message, &l);
		put_varint(&t, COPY << 3 | 2);
		put_varint(&t, 0);
		vec_push(m->a, &m->net.layers, ((Bytes){ (const unsigned char *)text_str(&t), t.n }));
	}
}

START_TEST(many_layers_take_little_memory)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Dag *d = load(a, _i == 0 ? many_branches : many_in_place, &err);
	ck_assert_msg(d != NULL, "%s", err.text);
	arena_free(a);
}
END_TEST

/* Flipped bytes: a Dag that checks, or one sentence. */
START_TEST(damaged_networks_are_refused)
{
	Rng rng = rng_seed((uint64_t)_i + 1);
	for (int i = 0; i < LEN(computed); i++) {
		Arena *a = arena_new();
		Err err = { 0 };
		Made m;
		make(&m, a, 4);
		vec_push(a, &m.about.input, array_of(a, "x", 2, (int64_t[]){ 1, 4 }));
		vec_push(a, &m.about.output, array_of(a, "y", 0, NULL));
		computed[i].make(&m);
		Bytes b = made(&m);
		unsigned char *at = arena_copy(a, b.at, b.n);
		for (int flips = (int)rng_below(&rng, 4); flips >= 0; flips--)
			at[rng_below(&rng, b.n)] ^= (unsigned char)(1u << rng_below(&rng, 8));
		Dag *d = frontend_load_bytes(a, "m.mlmodel", (Bytes){ at, b.n }, NULL, &err);
		ck_assert((d == NULL) == (err.code != ERR_NONE));
		ck_assert(d == NULL || dag_check(d, &err));
		arena_free(a);
	}
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("coreml_control");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, control_computes, 0, LEN(computed));
	tcase_add_loop_test(tc, control_is_refused, 0, LEN(refused));
	tcase_add_loop_test(tc, many_layers_take_little_memory, 0, 2);
	tcase_add_loop_test(tc, damaged_networks_are_refused, 0, suite_count(40, 40, 2000));
	return run_suite("coreml_control", tc);
}
