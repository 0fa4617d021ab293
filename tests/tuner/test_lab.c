/*
 * A recorded space as a Space: exactly what was recorded is in it, by draws, by moves and in order; knobs that only
 * some options open are met behind these; and configs that no tree of knobs has are refused.
 */
#include "suite.h"
#include "tree.h"

#include <string.h>

static RecordedRun runs[] = {
	{ .config = "algorithm=direct tile=1x4 order=row" },
	{ .config = "algorithm=direct tile=1x4 order=column" },
	{ .config = "algorithm=direct tile=2x8 order=row" },
	{ .config = "algorithm=direct tile=2x8 order=column" },
	{ .config = "algorithm=winograd:4 rows=1 order=row" },
	{ .config = "algorithm=winograd:4 rows=16 order=row" },
};

static Space *open_tree(Arena *a, RecordedSpace *r, const char *last, Err *err)
{
	*r = (RecordedSpace){ .run = runs, .n = LEN(runs), .first = 3 };
	runs[LEN(runs) - 1].config = last;
	return tree_space(a, "t.space", r, err);
}

START_TEST(a_recorded_space_can_be_searched)
{
	Err err = { 0 };
	Arena *a = arena_new();
	RecordedSpace r;
	Space *s = open_tree(a, &r, "algorithm=winograd:4 rows=16 order=row", &err);
	ck_assert_msg(s != NULL, "%s: %s", err.place, err.text);
	ck_assert(space_size(s) == LEN(runs) && tree_run(s, &s->first) == &runs[3]);
	Config c = space_begin(s);
	for (int i = 0; i < LEN(runs); i++) {
		Text text = { .arena = a };
		ck_assert(tree_run(s, &c) == &runs[i]);
		space_print_config(&text, s, &c);
		ck_assert(strncmp(runs[i].config, text_str(&text), strlen("algorithm=direct tile=1x4")) == 0);
		for (int k = 0; k < c.n; k++)
			for (int o = 0; o < space_knob(s, &c, k)->n; o++) {
				Config moved = space_move(s, &c, k, o);
				const RecordedRun *to = tree_run(s, &moved);
				ck_assert((to == &runs[i]) == (o == c.pick[k]) && to >= runs && to < runs + LEN(runs));
			}
		ck_assert(space_next(s, &c) == (i + 1 < LEN(runs)));
	}
	Rng rng = rng_seed(1);
	bool seen[LEN(runs)] = { false };
	for (int i = 0; i < 200; i++) {
		c = space_sample(s, &rng);
		seen[tree_run(s, &c) - runs] = true;
	}
	for (int i = 0; i < LEN(runs); i++)
		ck_assert(seen[i]);
	arena_free(a);
}
END_TEST

START_TEST(what_is_no_tree_is_refused)
{
	static const char *const wrong[] = {
		"algorithm=direct tile=1x4 order=row",     /* twice */
		"algorithm=direct tile=1x4",               /* ends where another one goes on */
		"algorithm=direct tile=1x4 order=row x=1", /* goes on where another one ends */
		"algorithm=direct order=row",              /* another knob at this place */
		"algorithm",                               /* no option */
	};
	Arena *a = arena_new();
	for (int i = 0; i < LEN(wrong); i++) {
		RecordedSpace r;
		Err err = { 0 };
		ck_assert_msg(open_tree(a, &r, wrong[i], &err) == NULL, "%s", wrong[i]);
		ck_assert(strcmp(err.place, "t.space") == 0 && strstr(err.text, wrong[i]) != NULL);
	}
	arena_free(a);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lab");
	tcase_add_test(tc, a_recorded_space_can_be_searched);
	tcase_add_test(tc, what_is_no_tree_is_refused);
	return run_suite("lab", tc);
}
