/*
 * Spaces whose knobs depend on options of others: counting, enumerating, drawing and moving meet each path once
 * and agree, and a template that asks for too much fails with a sentence.
 */
#include "suite.h"

#include "schedule/sketch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef bool (*RunFn)(Sketch *s);
static RunFn asks;

static bool run(Sketch *s, Err *err)
{
	(void)err;
	return asks(s);
}

static bool applies(const Task *task, const Target *target)
{
	(void)task;
	(void)target;
	return true;
}

static const Template fake = { .name = "fake", .applies = applies, .run = run };
const Template *const templates[] = { &fake, NULL }; /* in place of the library's */

static const int64_t number[] = { 1, 2, 4, 8, 16 };

static bool product(Sketch *s)
{
	sketch_number(s, "a", number, 3, 1);
	sketch_number(s, "b", number, 4, 0);
	sketch_number(s, "one", number, 1, 0); /* no knob */
	return true;
}

/* a=1: b and c; a=2: nothing; a=4: c, which opens d. 3 * 2 + 1 + (1 + 4). */
static bool tree(Sketch *s)
{
	int64_t a = sketch_number(s, "a", number, 3, 2);
	sketch_opens(s);
	if (a == 1) {
		sketch_number(s, "b", number, 3, 0);
		sketch_number(s, "c", number, 2, 1);
	} else if (a == 4) {
		bool c = sketch_flag(s, "c", true);
		sketch_opens(s);
		if (c)
			sketch_number(s, "d", number, 4, 3);
	}
	return true;
}

/* Two groups, each with a knob that opens another, and a knob behind them: (1 + 3) * (2 + 2) * 5. */
static bool groups(Sketch *s)
{
	sketch_group(s);
	if (sketch_flag(s, "a", false) && (sketch_opens(s), true))
		sketch_number(s, "b", number, 3, 0);
	sketch_opens(s);
	sketch_group_end(s);
	sketch_group(s);
	bool c = sketch_flag(s, "c", false);
	sketch_opens(s);
	sketch_number(s, c ? "d" : "e", number, 2, 0);
	sketch_group_end(s);
	sketch_number(s, "f", number, 5, 0);
	return true;
}

static const struct {
	RunFn asks;
	double size;
	const char *first;
	size_t knobs;
} spaces[] = {
	{ product, 12, "a=2 b=1", 2 },
	{ tree, 12, "a=4 c=yes d=8", 5 },
	{ groups, 80, "a=no c=no e=1 f=1", 6 },
};

static Space *space_of(Arena *a, RunFn fn, Err *err)
{
	static const char text[] = "dag t\nin x: f32[4,8]\ny: f32[4,8] = relu(x)\nout y\n";
	Target *target = arena_new_of(a, Target);
	target_host(target, 1);
	Task *task = task_new(a, dag_parse(a, "t", text, sizeof text - 1, err), err);
	ck_assert_msg(task != NULL, "%s", err->text);
	asks = fn;
	return space_new(a, task, target, err);
}

static const char *text_of(Arena *a, const Space *s, const Config *c)
{
	Text t = { .arena = a };
	space_print_config(&t, s, c);
	return text_str(&t);
}

/* All configs in order, as text; none comes twice. */
static int all(Arena *a, Space *s, const char **out, int most)
{
	int n = 0;
	Config c = space_begin(s);
	do {
		ck_assert_int_lt(n, most);
		out[n] = text_of(a, s, &c);
		for (int k = 0; k < n; k++)
			ck_assert_str_ne(out[k], out[n]);
		n++;
	} while (space_next(s, &c));
	ck_assert_str_eq(text_of(a, s, &c), out[0]);
	return n;
}

static int find(const char *const *list, int n, const char *text)
{
	for (int k = 0; k < n; k++)
		if (strcmp(list[k], text) == 0)
			return k;
	ck_abort_msg("%s is no config", text);
	return -1;
}

enum { MOST = 100 };

START_TEST(every_path_is_counted_and_met_once)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *list[MOST];
	int drawn[MOST] = { 0 };
	Space *s = space_of(a, spaces[_i].asks, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	ck_assert_str_eq(text_of(a, s, &s->first), spaces[_i].first);
	ck_assert_double_eq(space_size(s), spaces[_i].size);
	ck_assert_uint_eq(s->knob.n, spaces[_i].knobs);
	int n = all(a, s, list, MOST);
	ck_assert_int_eq(n, (int)spaces[_i].size);
	Rng rng = rng_seed(5);
	for (int k = 0; k < 40 * n; k++) {
		Config c = space_sample(s, &rng);
		drawn[find(list, n, text_of(a, s, &c))]++;
	}
	for (int k = 0; k < n; k++)
		ck_assert_msg(drawn[k] > 0, "%s is never drawn", list[k]);
	arena_free(a);
}
END_TEST

START_TEST(a_move_changes_one_knob_and_what_it_opens)
{
	Arena *a = arena_new();
	Err err = { 0 };
	const char *list[MOST];
	Space *s = space_of(a, spaces[_i].asks, &err);
	int n = all(a, s, list, MOST);
	Config c = space_begin(s);
	do
		for (int k = 0; k < c.n; k++)
			for (int o = 0; o < space_knob(s, &c, k)->n; o++) {
				Config m = space_move(s, &c, k, o);
				find(list, n, text_of(a, s, &m));
				ck_assert_int_eq(m.pick[k], o);
				int d = space_distance(s, &c, &m);
				ck_assert_int_eq(d, space_distance(s, &m, &c));
				ck_assert((d == 0) == (o == c.pick[k]));
				ck_assert(d <= 1 || space_knob(s, &c, k)->opens);
				Config back = space_move(s, &m, k, c.pick[k]);
				ck_assert(space_distance(s, &m, &back) <= d || space_knob(s, &c, k)->opens);
			}
	while (space_next(s, &c));
	arena_free(a);
}
END_TEST

/* "c" is kept where both have it with that option; what one of them lacks has its default. */
START_TEST(knobs_of_one_name_keep_their_picks)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Space *s = space_of(a, groups, &err);
	Config c = s->first, m = space_move(s, &c, c.n - 1, 4);
	ck_assert_str_eq(text_of(a, s, &m), "a=no c=no e=1 f=16");
	m = space_move(s, &m, 0, 1);
	ck_assert_str_eq(text_of(a, s, &m), "a=yes b=1 c=no e=1 f=16");
	m = space_move(s, &m, 1, 2);
	m = space_move(s, &m, 2, 1);
	ck_assert_str_eq(text_of(a, s, &m), "a=yes b=4 c=yes d=1 f=16");
	arena_free(a);
}
END_TEST

static bool wider(Sketch *s)
{
	static const int64_t other[] = { 3, 7, 14 };
	sketch_number(s, "a", other, 3, 0);
	sketch_number(s, "b", number, 5, 0);
	return true;
}

static bool tiles(Sketch *s)
{
	static const KnobOption option[] = { { .kind = KNOB_TILE, .tile = { 1, 14 } }, { .kind = KNOB_TILE, .tile = { 2,
		7 } },
		{ .kind = KNOB_TILE, .tile = { 2, 12 } }, { .kind = KNOB_PART, .part = { "w", 16 } } };
	sketch_knob(s, "tile", option, 4, 3);
	return true;
}

START_TEST(configs_of_other_spaces_are_taken_up)
{
	Arena *a = arena_new();
	Err err = { 0 };
	Space *from = space_of(a, product, &err);
	Config c = space_move(from, &from->first, 0, 2), out;
	Space *to = space_of(a, wider, &err);
	ck_assert(space_alike(to, from, &c, &out)); /* a=4: 3 is nearer than 7 */
	ck_assert_str_eq(text_of(a, to, &out), "a=3 b=1");
	Space *other = space_of(a, tiles, &err);
	ck_assert(!space_alike(other, from, &c, &out));
	ck_assert_str_eq(text_of(a, other, &other->first), "tile=w:16");
	Config two = space_move(other, &other->first, 0, 1);
	ck_assert_str_eq(text_of(a, other, &two), "tile=2x7");
	arena_free(a);
}
END_TEST

static bool too_many_knobs(Sketch *s)
{
	for (int k = 0; k <= KNOBS; k++)
		sketch_number(s, arena_printf(s->arena, "k%d", k), number, 2, 0);
	return true;
}

static bool too_many_options(Sketch *s)
{
	int64_t option[KNOB_OPTIONS + 1] = { 0 };
	sketch_number(s, "wide", option, KNOB_OPTIONS + 1, 0);
	return true;
}

static bool twice(Sketch *s)
{
	sketch_number(s, "a", number, 2, 0);
	sketch_number(s, "a", number, 2, 0);
	return true;
}

static const struct {
	RunFn asks;
	const char *text;
} errors[] = {
	{ too_many_knobs, "knob k32: the template asks for too many knobs; a config has at most 32" },
	{ too_many_options, "knob wide: the template gives it too many options; a knob has at most 64" },
	{ twice, "knob a: the template asks for it again; it is already knob number 1" },
};

START_TEST(a_template_that_asks_too_much_is_an_error)
{
	Arena *a = arena_new();
	Err err = { 0 };
	ck_assert(space_of(a, errors[_i].asks, &err) == NULL);
	ck_assert_int_eq(err.code, ERR_BUG);
	ck_assert_str_eq(err.text, errors[_i].text);
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("space");
	tcase_add_loop_test(tc, every_path_is_counted_and_met_once, 0, LEN(spaces));
	tcase_add_loop_test(tc, a_move_changes_one_knob_and_what_it_opens, 0, LEN(spaces));
	tcase_add_test(tc, knobs_of_one_name_keep_their_picks);
	tcase_add_test(tc, configs_of_other_spaces_are_taken_up);
	tcase_add_loop_test(tc, a_template_that_asks_too_much_is_an_error, 0, LEN(errors));
	return run_suite("space", tc);
}
